//! Histories: what clients asked of a system, and what they were answered.
//!
//! ```text
//! 0  invoke  process 1  :write 5
//! 1  invoke  process 2  :read  nil
//! 2  ok      process 1  :write 5
//! 3  ok      process 2  :read  5
//! ```
//!
//! An operation of a client is invoked and then completes as `ok` (it happened), `fail` (it did not) or `info` (it may happen
//! at any later time). Operations of processes that are no numbers, such as the nemesis, stand apart.
//!
//! Invariants: operations stand in the order of the file; values are interned (`datum`), so an operation has a fixed size.
//! Not here: files and folders (the command reads them); verdicts.

mod cobra;
pub(crate) mod datum;
mod dbcop;
pub(crate) mod error;
mod notation;
mod pairs;
mod plume;
mod porcupine_kv;
mod porcupine_log;
mod reader;
mod recorded;
mod sessions;
mod syntax;
#[cfg(test)]
mod tests;
pub(crate) mod writer;

pub use cobra::read_cobra;
pub use datum::{Datum, DatumId, DatumPool};
pub use error::HistoryError;
pub use notation::{HistoryNotation, NOTATIONS, WrittenHistory, notation, notation_of_extension};
pub use pairs::{ClientCall, pair_calls};
pub use reader::HistoryFormat;

/// A history, with the values of its operations.
#[derive(Clone, Debug, Default)]
pub struct OperationHistory {
    /// The values.
    pub pool: DatumPool,
    /// The operations, in the order of the file.
    pub operations: Vec<HistoryOperation>,
    /// What the order of operations of different processes means.
    pub order: HistoryOrder,
    /// The notation that it was read from.
    pub format: HistoryFormat,
}

/// What the order of a history says of operations of different processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HistoryOrder {
    /// It is the order in time.
    #[default]
    Realtime,
    /// Nothing: the file has one session after the other.
    Sessions,
}

/// One event of a history: an invocation or a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryOperation {
    /// Its number, which may leave gaps; its position where the file has none.
    pub index: u64,
    /// When it happened, in nanoseconds since the start, if that is known.
    pub time: Option<i64>,
    /// Who did it.
    pub process: Process,
    /// Whether it is an invocation, or how the operation completed.
    pub kind: OperationType,
    /// The name of the operation, a keyword or a text; `nil` where the file has none.
    pub function: DatumId,
    /// Its argument, or its result.
    pub value: DatumId,
    /// What went wrong; `nil` if nothing.
    pub error: DatumId,
    /// All other keys, as a map; `nil` where there are none.
    pub extra: DatumId,
    /// The line that it stands in, from 1; 0 where it was not read from lines.
    pub line: u32,
}

/// Who does an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Process {
    /// A client, which does one operation at a time.
    Client(i64),
    /// Something else with a name, such as the nemesis: no operation of the system.
    Named(DatumId),
    /// The file does not say. Each such operation stands alone.
    Unknown,
}

/// What an event of a history is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationType {
    /// The operation begins.
    Invoke,
    /// It happened.
    Ok,
    /// It did not happen, and will not.
    Fail,
    /// It may have happened, or may happen later.
    Info,
}

impl OperationType {
    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            OperationType::Invoke => "invoke",
            OperationType::Ok => "ok",
            OperationType::Fail => "fail",
            OperationType::Info => "info",
        }
    }

    /// The type that has a name.
    #[must_use]
    pub fn named(name: &str) -> Option<OperationType> {
        use OperationType::{Fail, Info, Invoke, Ok};
        [Invoke, Ok, Fail, Info].into_iter().find(|kind| kind.name() == name)
    }
}

impl OperationHistory {
    /// Operations of clients, in order.
    pub fn client_operations(&self) -> impl Iterator<Item = &HistoryOperation> {
        self.operations.iter().filter(|operation| !matches!(operation.process, Process::Named(_)))
    }

    /// The name of an operation's function; empty if it has none.
    #[must_use]
    pub fn function_name(&self, operation: &HistoryOperation) -> &str {
        self.pool.name(operation.function).unwrap_or_default()
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.operations.capacity() * size_of::<HistoryOperation>() + self.pool.bytes()
    }

    /// Adds an operation, for readers of other notations and for tests; its index is its position.
    pub fn push(&mut self, process: i64, kind: OperationType, function: &str, value: DatumId) {
        let function = self.pool.keyword(function);
        self.operations.push(HistoryOperation {
            index: self.operations.len() as u64,
            time: None,
            process: Process::Client(process),
            kind,
            function,
            value,
            error: DatumId::NIL,
            extra: DatumId::NIL,
            line: 0,
        });
    }
}
