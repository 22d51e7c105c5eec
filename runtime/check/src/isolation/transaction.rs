//! Transactions of a history: lists of reads, writes and appends.
//!
//! ```text
//! :value [[:r 1 [4]] [:append 2 7]]   ──▶   Transaction { outcome: Ok, operations: Read(key 0, [4]), Append(key 1, 7) }
//! ```
//!
//! Invariants: keys are numbered from 0 in the order of their first use; transactions stand in the order of their invocations; of
//! what did not complete as `ok`, only writes count until one of them was seen.
//! Not here: what depends on what (`list_append`, `rw_register`).

use crate::hash_index::{HashIndex, fold};
use crate::history::{
    ClientCall, Datum, DatumId, DatumPool, HistoryError, HistoryOrder, OperationHistory, OperationType, Process,
    pair_calls,
};
use std::num::NonZeroU32;

/// Transactions that can be told apart by 32 bits, with room for what stands between them in the graph.
const TRANSACTIONS_MAX: usize = 1 << 29;
/// What a transaction looks like, for messages.
const EXPECTED: &str = "a list of [:r key value], and of [:append key value] or [:w key value]";

/// What a transaction does to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MicroAction {
    Read,
    Append,
    Write,
}

/// One step of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MicroOperation {
    pub(super) action: MicroAction,
    pub(super) key: u32,
    pub(super) value: DatumId,
}

/// A transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transaction {
    pub(super) call: ClientCall,
    /// Who asked for it, by a number from 1; none where the file does not say.
    process: Option<NonZeroU32>,
    /// Where its steps begin in the table of all; they end where those of the next one begin.
    first: u32,
}

impl Transaction {
    /// Who asked for it, by a number; none where the file does not say.
    pub(super) fn process(&self) -> Option<u32> {
        self.process.map(|number| number.get() - 1)
    }
}

/// All transactions of a history.
pub(super) struct TransactionSet {
    pub(super) transactions: Vec<Transaction>,
    operations: Vec<MicroOperation>,
    pub(super) keys: Vec<DatumId>,
    /// What transactions do to keys.
    pub(super) writes_by: MicroAction,
    /// Whether the order of events is that in time.
    pub(super) is_timed: bool,
}

/// A write of a transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteRecord {
    pub(super) key: u32,
    pub(super) value: DatumId,
    pub(super) transaction: u32,
    /// Its place among the steps of the transaction.
    pub(super) step: u32,
}

impl TransactionSet {
    /// The transactions of a history.
    pub(super) fn new(history: &OperationHistory) -> Result<TransactionSet, HistoryError> {
        let pool = &history.pool;
        let calls = pair_calls(history)?;
        if calls.len() > TRANSACTIONS_MAX {
            let found = format!("{} transactions", calls.len());
            return Err(HistoryError::at_line(0, found, format!("at most {TRANSACTIONS_MAX}")));
        }
        let mut set = TransactionSet {
            transactions: Vec::with_capacity(calls.len()),
            operations: Vec::with_capacity(calls.len() * 2),
            keys: Vec::new(),
            writes_by: MicroAction::Read,
            is_timed: history.order == HistoryOrder::Realtime,
        };
        let mut numbers = vec![u32::MAX; pool.len()];
        let mut processes = ProcessNumbers::default();
        let mut parser = StepParser { pool, names: Vec::new() };
        for call in calls {
            let invoked = &history.operations[call.invocation as usize];
            let completed = call.completion.map_or(invoked, |at| &history.operations[at as usize]);
            let is_told = call.outcome == OperationType::Ok || pool.elements(completed.value).is_some();
            let operation = if is_told { completed } else { invoked };
            let first = set.operations.len() as u32;
            let wrong = |value: DatumId| {
                let found = format!("`{}` of `{}`", short(&pool.edn(value)), history.function_name(operation));
                HistoryError::at_line(operation.line, found, EXPECTED)
            };
            let steps = pool.elements(operation.value).ok_or_else(|| wrong(operation.value))?;
            let asked = pool.elements(invoked.value);
            if let Some(asked) = asked.filter(|asked| call.outcome == OperationType::Ok && asked.len() != steps.len()) {
                let found = format!("a transaction of {} steps", steps.len());
                let expected = format!("{}, as was asked", asked.len());
                return Err(HistoryError::at_line(operation.line, found, expected));
            }
            let asked = asked.filter(|asked| asked.len() == steps.len());
            for (at, step) in steps.iter().enumerate() {
                let (action, key, value) = parser.parse(*step).ok_or_else(|| wrong(*step))?;
                let mut is_other = |asked: DatumId| match action {
                    // What was asked has no result yet.
                    MicroAction::Read => {
                        let head = parser.parse(asked).map(|(action, key, _)| (action, key));
                        call.outcome == OperationType::Ok && head != Some((action, key))
                    }
                    _ => true,
                };
                if asked.map(|asked| asked[at]).filter(|asked| asked != step).is_some_and(&mut is_other) {
                    let asked = asked.map_or_else(String::new, |asked| pool.edn(asked[at]));
                    let found = format!("`{}` of `{}`", short(&pool.edn(*step)), history.function_name(operation));
                    return Err(HistoryError::at_line(
                        operation.line,
                        found,
                        format!("`{}`, as it was asked", short(&asked)),
                    ));
                }
                let number = &mut numbers[key.0 as usize];
                if *number == u32::MAX {
                    *number = set.keys.len() as u32;
                    set.keys.push(key);
                }
                // The reads of a transaction whose end is unknown were never returned to a client.
                if action == MicroAction::Read && value.is_nil() && call.outcome != OperationType::Ok {
                    continue;
                }
                if action != MicroAction::Read && set.writes_by != action {
                    if set.writes_by != MicroAction::Read {
                        let found = format!("`{}` beside writes of another kind", short(&pool.edn(*step)));
                        return Err(HistoryError::at_line(operation.line, found, "appends only, or writes only"));
                    }
                    set.writes_by = action;
                }
                set.operations.push(MicroOperation { action, key: *number, value });
            }
            let process = if let Process::Client(name) = invoked.process { processes.number(name) } else { None };
            set.transactions.push(Transaction { call, process, first });
        }
        set.operations.shrink_to_fit();
        if set.writes_by == MicroAction::Read {
            // Nothing is written: reads of lists are reads of lists.
            let is_list = |one: &MicroOperation| pool.elements(one.value).is_some();
            set.writes_by = if set.operations.iter().any(is_list) { MicroAction::Append } else { MicroAction::Write };
        }
        Ok(set)
    }

    /// The steps of a transaction.
    pub(super) fn steps(&self, transaction: u32) -> &[MicroOperation] {
        &self.operations[self.places(transaction)]
    }

    /// Where they stand among the steps of all transactions, in their order.
    pub(super) fn places(&self, transaction: u32) -> std::ops::Range<usize> {
        let begin = |at: usize| self.transactions.get(at).map_or(self.operations.len(), |one| one.first as usize);
        begin(transaction as usize)..begin(transaction as usize + 1)
    }

    pub(super) fn outcome(&self, transaction: u32) -> OperationType {
        self.transactions[transaction as usize].call.outcome
    }

    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        0..self.transactions.len() as u32
    }

    /// How many processes there are.
    pub(super) fn processes(&self) -> u32 {
        self.transactions.iter().filter_map(Transaction::process).max().map_or(0, |last| last + 1)
    }

    /// The last transaction of each process.
    pub(super) fn last_of_processes(&self) -> Vec<u32> {
        let mut last = vec![0; self.processes() as usize];
        for id in self.ids() {
            if let Some(process) = self.transactions[id as usize].process() {
                last[process as usize] = id;
            }
        }
        last
    }

    /// Whether a transaction writes.
    pub(super) fn is_update(&self, transaction: u32) -> bool {
        self.steps(transaction).iter().any(|one| one.action != MicroAction::Read)
    }

    /// Whether events of a transaction have a place in time.
    pub(super) fn is_timed(&self, transaction: u32) -> bool {
        let one = &self.transactions[transaction as usize];
        self.is_timed && one.process().is_some()
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.transactions.capacity() * size_of::<Transaction>()
            + self.operations.capacity() * size_of::<MicroOperation>()
            + self.keys.capacity() * size_of::<DatumId>()
    }
}

/// Reads steps of transactions.
struct StepParser<'a> {
    pool: &'a DatumPool,
    /// Names that were met, which are few.
    names: Vec<(DatumId, MicroAction)>,
}

impl StepParser<'_> {
    /// A step of a transaction: what it does, to which key, with which value.
    fn parse(&mut self, step: DatumId) -> Option<(MicroAction, DatumId, DatumId)> {
        let (Datum::Vector(&[name, key, value]) | Datum::List(&[name, key, value])) = self.pool.get(step) else {
            return None;
        };
        if let Some((_, action)) = self.names.iter().find(|known| known.0 == name) {
            return Some((*action, key, value));
        }
        let action = match self.pool.name(name)? {
            "r" | "read" => MicroAction::Read,
            "append" => MicroAction::Append,
            "w" | "write" => MicroAction::Write,
            _ => return None,
        };
        self.names.push((name, action));
        Some((action, key, value))
    }
}

/// Processes, numbered from 1 in the order in which they are met.
#[derive(Default)]
struct ProcessNumbers {
    names: Vec<i64>,
    index: HashIndex,
}

impl ProcessNumbers {
    fn number(&mut self, name: i64) -> Option<NonZeroU32> {
        let (names, next) = (&self.names, self.names.len() as u32);
        let known = self.index.find_or_insert(fold(0, name as u64), next, |at| names[at as usize] == name);
        if known.is_none() {
            self.names.push(name);
        }
        NonZeroU32::new(known.unwrap_or(next) + 1)
    }
}

/// A value in a message.
fn short(text: &str) -> String {
    let cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

/// All writes, each found by its key and value.
#[derive(Clone)]
pub(super) struct WriteTable {
    pub(super) writes: Vec<WriteRecord>,
    index: HashIndex,
}

impl WriteTable {
    /// The writes of all transactions.
    ///
    /// # Errors
    /// When a value is written to a key twice: reads of it then say nothing.
    pub(super) fn new(history: &OperationHistory, set: &TransactionSet) -> Result<WriteTable, HistoryError> {
        let count = set.operations.iter().filter(|one| one.action != MicroAction::Read).count();
        let mut table = WriteTable { writes: Vec::with_capacity(count), index: HashIndex::with_capacity(count) };
        for transaction in set.ids() {
            for (step, one) in set.steps(transaction).iter().enumerate() {
                if one.action == MicroAction::Read {
                    continue;
                }
                let record = WriteRecord { key: one.key, value: one.value, transaction, step: step as u32 };
                let new = table.writes.len() as u32;
                let WriteTable { writes, index } = &mut table;
                let is_equal = |at: u32| (writes[at as usize].key, writes[at as usize].value) == (one.key, one.value);
                if let Some(at) = index.find_or_insert(hash(one.key, one.value), new, is_equal) {
                    return Err(table.duplicate(history, set, at, transaction));
                }
                table.writes.push(record);
            }
        }
        Ok(table)
    }

    /// The write of a value to a key.
    pub(super) fn find(&self, key: u32, value: DatumId) -> Option<u32> {
        let is_equal = |at: u32| (self.writes[at as usize].key, self.writes[at as usize].value) == (key, value);
        self.index.find(hash(key, value), is_equal)
    }

    /// The transaction of a write.
    pub(super) fn writer(&self, write: u32) -> u32 {
        self.writes[write as usize].transaction
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.writes.capacity() * size_of::<WriteRecord>() + self.index.bytes()
    }

    fn duplicate(
        &self,
        history: &OperationHistory,
        set: &TransactionSet,
        write: u32,
        transaction: u32,
    ) -> HistoryError {
        let WriteRecord { key, value, transaction: first, .. } = self.writes[write as usize];
        let line =
            |transaction: u32| history.operations[set.transactions[transaction as usize].call.invocation as usize].line;
        let what = format!("{} to key {}", history.pool.edn(value), history.pool.edn(set.keys[key as usize]));
        let found = format!("a second write of {}", short(&what));
        let before = match line(first) {
            0 => String::new(),
            line => format!(" (line {line} has the first)"),
        };
        HistoryError::at_line(line(transaction), found, format!("each value written to a key once{before}"))
    }
}

fn hash(key: u32, value: DatumId) -> u64 {
    fold(u64::from(key), u64::from(value.0))
}
