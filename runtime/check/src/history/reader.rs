//! Histories of Jepsen, in EDN or JSON: one map an operation, in a row or in one list.
//!
//! ```text
//! {:type :invoke, :f :read, :process 0, :time 12, :index 0}        history.edn
//! [{"type": "invoke", "f": "read", "process": 0}, …]               one array, or a line each
//! ```
//!
//! The notation is recognised from the first bytes. Invariants: time is linear in the input; an error gives line and column.
//! Not here: notations of other tools, which have files of their own.

use super::datum::{Datum, DatumId, ItemKind};
use super::error::{HistoryError, quoted};
use super::syntax::{SyntaxDialect, SyntaxReader};
use super::{HistoryOperation, HistoryOrder, OperationHistory, OperationType, Process};
use super::{dbcop, plume, porcupine_log};

/// Bytes of the largest input: positions in a pool of values have 32 bits.
const INPUT_BYTES_MAX: usize = 2 << 30;

/// The notation of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HistoryFormat {
    /// Maps in EDN, as Jepsen writes `history.edn`.
    #[default]
    Edn,
    /// The same maps in JSON: one array, or one object a line.
    Json,
    /// Lines of Jepsen's log, as Porcupine's test data has them.
    JepsenLog,
    /// `r(key,value,session,transaction)` a line, as Plume and PolySI read it.
    Plume,
    /// Sessions of transactions in JSON, as dbcop writes them.
    Dbcop,
    /// Binary logs of Cobra, one a session.
    Cobra,
    /// What a program of ours recorded: no notation.
    Run,
}

impl HistoryFormat {
    /// Its name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            HistoryFormat::Edn => "EDN",
            HistoryFormat::Json => "JSON",
            HistoryFormat::JepsenLog => "Jepsen log",
            HistoryFormat::Plume => "Plume text",
            HistoryFormat::Dbcop => "dbcop JSON",
            HistoryFormat::Cobra => "Cobra log",
            HistoryFormat::Run => "recorded run",
        }
    }

    /// The notation of some bytes, from how they begin.
    #[must_use]
    pub fn recognise(bytes: &[u8]) -> HistoryFormat {
        let start = bytes.trim_ascii_start();
        let inner = start.strip_prefix(b"[").unwrap_or(start).trim_ascii_start();
        let key = inner.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        if start.starts_with(b"INFO") {
            return HistoryFormat::JepsenLog;
        }
        if start.starts_with(b"r(") || start.starts_with(b"w(") {
            return HistoryFormat::Plume;
        }
        let is_object = key.is_some_and(|key| key.starts_with(b"\"") && has_colon_after_text(key));
        if (is_object && !start.starts_with(b"[") || inner.starts_with(b"[")) && is_dbcop(start) {
            return HistoryFormat::Dbcop;
        }
        if is_object { HistoryFormat::Json } else { HistoryFormat::Edn }
    }
}

/// Whether a text in quotes is followed by JSON's colon.
fn has_colon_after_text(bytes: &[u8]) -> bool {
    let end = bytes.iter().skip(1).position(|byte| *byte == b'"');
    end.is_some_and(|end| bytes[end + 2..].trim_ascii_start().starts_with(b":"))
}

/// Whether it looks like sessions of transactions: their keys stand near the beginning.
fn is_dbcop(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    has(b"\"events\"") || has(b"\"sessions\"") || has(b"\"data\"") && has(b"\"params\"")
}

impl OperationHistory {
    /// Reads a history in whatever notation it is.
    ///
    /// # Errors
    /// When it is none: where, what was found, and what was expected.
    ///
    /// ```
    /// use fozzy_check::OperationHistory;
    /// let history = OperationHistory::read(b"{:type :invoke, :f :read, :process 0}").unwrap();
    /// assert_eq!(history.operations.len(), 1);
    /// let error = OperationHistory::read(b"{:type :okay}").unwrap_err();
    /// assert_eq!(error.to_string(), "line 1, column 8: found `:okay`, expected one of :invoke, :ok, :fail, :info");
    /// ```
    pub fn read(bytes: &[u8]) -> Result<OperationHistory, HistoryError> {
        if bytes.len() > INPUT_BYTES_MAX {
            let found = format!("{} bytes", bytes.len());
            return Err(HistoryError::at_byte(0, found, format!("at most {INPUT_BYTES_MAX} bytes")));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            HistoryError::at(bytes, error.valid_up_to(), "bytes that are no UTF-8", "a text in UTF-8")
        })?;
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        match HistoryFormat::recognise(text.as_bytes()) {
            HistoryFormat::JepsenLog => porcupine_log::read(text),
            HistoryFormat::Plume => plume::read(text),
            HistoryFormat::Dbcop => dbcop::read(text),
            HistoryFormat::Json => MapReader::new(text, SyntaxDialect::Json).history(),
            HistoryFormat::Edn | HistoryFormat::Cobra | HistoryFormat::Run => {
                MapReader::new(text, SyntaxDialect::Edn).history()
            }
        }
    }
}

/// Ids of the keys of an operation that have a field.
struct FieldIds {
    index: DatumId,
    time: DatumId,
    process: DatumId,
    kind: DatumId,
    function: DatumId,
    value: DatumId,
    error: DatumId,
}

struct MapReader<'a> {
    syntax: SyntaxReader<'a>,
    history: OperationHistory,
    fields: FieldIds,
    kinds: [DatumId; 4],
    /// Where lines have been counted to, and how many there are before it.
    counted: (usize, u32),
    /// The index of the last operation that has one.
    last_index: Option<u64>,
    text: &'a str,
}

/// Numbers of fields whose values are integers.
const PROCESS: u8 = 3;
const TIME: u8 = 4;
const INDEX: u8 = 5;

/// The index of an operation that has none yet. No file has it: indices are signed.
const NO_INDEX: u64 = u64::MAX;

const KINDS: [OperationType; 4] = [OperationType::Invoke, OperationType::Ok, OperationType::Fail, OperationType::Info];

impl<'a> MapReader<'a> {
    fn new(text: &'a str, notation: SyntaxDialect) -> MapReader<'a> {
        let format = if notation == SyntaxDialect::Json { HistoryFormat::Json } else { HistoryFormat::Edn };
        let mut history = OperationHistory { format, ..OperationHistory::default() };
        let pool = &mut history.pool;
        let mut key = |name: &str| if notation == SyntaxDialect::Json { pool.text(name) } else { pool.keyword(name) };
        let fields = FieldIds {
            index: key("index"),
            time: key("time"),
            process: key("process"),
            kind: key("type"),
            function: key("f"),
            value: key("value"),
            error: key("error"),
        };
        let kinds = KINDS.map(|kind| key(kind.name()));
        let syntax = SyntaxReader::new(text, notation);
        MapReader { syntax, history, fields, kinds, counted: (0, 1), last_index: None, text }
    }

    fn history(mut self) -> Result<OperationHistory, HistoryError> {
        let close = match self.syntax.peek(&mut self.history.pool)? {
            Some(b'[') => Some(b']'),
            Some(b'(') => Some(b')'),
            _ => None,
        };
        if close.is_some() {
            self.syntax.take();
        }
        loop {
            let is_first = self.history.operations.is_empty();
            if let Some(close) = close {
                self.syntax.separator(&mut self.history.pool, close, is_first)?;
            }
            match (self.syntax.peek(&mut self.history.pool)?, close) {
                (None, None) => break,
                (Some(byte), Some(close)) if byte == close => {
                    self.syntax.take();
                    if !self.syntax.is_at_end(&mut self.history.pool)? {
                        return Err(self.syntax.unexpected("the end of the input after the list of operations"));
                    }
                    break;
                }
                (None, Some(close)) => {
                    return Err(self.syntax.unexpected(format!("an operation or `{}`", close as char)));
                }
                _ => self.operation()?,
            }
        }
        self.history.operations.shrink_to_fit();
        self.check_clients()?;
        Ok(self.history)
    }

    /// Refuses a history whose clients all have names that are no numbers: it would be one without clients.
    fn check_clients(&self) -> Result<(), HistoryError> {
        let OperationHistory { pool, operations, .. } = &self.history;
        let is_nemesis = |name: DatumId| pool.name(name) == Some("nemesis");
        let mut client = None;
        for operation in operations {
            match operation.process {
                Process::Named(_) if operation.kind == OperationType::Info => {}
                Process::Named(name) if is_nemesis(name) => {}
                Process::Named(name) => client = client.or(Some((operation.line, name))),
                Process::Client(_) | Process::Unknown => return Ok(()),
            }
        }
        let Some((line, name)) = client else { return Ok(()) };
        let found = format!("process {}", quoted(&pool.edn(name)));
        Err(HistoryError::at_line(line, found, "an integer, as clients have; a name is no client, such as :nemesis"))
    }

    /// The line of a position; positions are asked for in order.
    fn line(&mut self, at: usize) -> u32 {
        let between = &self.text.as_bytes()[self.counted.0..at];
        self.counted = (at, self.counted.1 + between.iter().filter(|byte| **byte == b'\n').count() as u32);
        self.counted.1
    }

    fn operation(&mut self) -> Result<(), HistoryError> {
        let syntax = &mut self.syntax;
        syntax.skip_tag(&mut self.history.pool)?;
        if syntax.peek(&mut self.history.pool)? != Some(b'{') {
            return Err(syntax.unexpected("a map, which is an operation"));
        }
        let start = syntax.position();
        syntax.take();
        let line = self.line(start);
        let mut operation = HistoryOperation {
            index: NO_INDEX,
            time: None,
            process: Process::Unknown,
            kind: OperationType::Info,
            function: DatumId::NIL,
            value: DatumId::NIL,
            error: DatumId::NIL,
            extra: DatumId::NIL,
            line,
        };
        let mut seen = 0u8;
        let mut extra = Vec::new();
        let mut is_first = true;
        loop {
            let (syntax, pool) = (&mut self.syntax, &mut self.history.pool);
            syntax.separator(pool, b'}', is_first)?;
            is_first = false;
            match syntax.peek(pool)? {
                Some(b'}') => break,
                None => return Err(syntax.error(start, "the end of the input", "`}`, which closes the operation")),
                Some(_) => {}
            }
            let key_at = syntax.position();
            let key = syntax.value(pool)?;
            syntax.colon(pool)?;
            syntax.peek(pool)?;
            let field = self.field(key);
            let value_at = self.syntax.position();
            if let Some(bit @ (PROCESS | TIME | INDEX)) = field.filter(|bit| seen & (1 << bit) == 0)
                && let Some(number) = self.syntax.plain_integer()
            {
                seen |= 1 << bit;
                match bit {
                    PROCESS => operation.process = Process::Client(number),
                    TIME => operation.time = Some(number),
                    _ => operation.index = number as u64,
                }
                continue;
            }
            let value = self.syntax.value(&mut self.history.pool)?;
            match field {
                Some(bit) if seen & (1 << bit) != 0 => {
                    let found = format!("{} twice", self.history.pool.edn(key));
                    return Err(self.syntax.error(key_at, found, "keys that differ"));
                }
                Some(bit) => {
                    seen |= 1 << bit;
                    self.set(&mut operation, bit, value, value_at)?;
                }
                None => extra.push([key, value]),
            }
        }
        self.syntax.take();
        if seen & 1 == 0 {
            let found = "an operation without `type`";
            return Err(self.syntax.error(start, found, "a key `type` with :invoke, :ok, :fail or :info"));
        }
        if !extra.is_empty() {
            extra.sort_unstable();
            operation.extra = self.history.pool.sequence(ItemKind::Map, extra.as_flattened());
        }
        if operation.index == NO_INDEX {
            operation.index = self.history.operations.len() as u64;
        } else if let Some(before) = self.last_index.replace(operation.index)
            && operation.index <= before
        {
            let found = format!("index {} after {before}", operation.index);
            return Err(self.syntax.error(start, found, "operations in the order of their indices, which differ"));
        }
        self.history.operations.push(operation);
        Ok(())
    }

    /// Which field a key has.
    fn field(&self, key: DatumId) -> Option<u8> {
        let fields = &self.fields;
        let all = [fields.kind, fields.function, fields.value, fields.process, fields.time, fields.index, fields.error];
        all.iter().position(|field| *field == key).map(|at| at as u8)
    }

    fn set(
        &mut self,
        operation: &mut HistoryOperation,
        field: u8,
        value: DatumId,
        at: usize,
    ) -> Result<(), HistoryError> {
        let pool = &self.history.pool;
        let wrong = |expected: &str| Err(self.syntax.error(at, quoted(&pool.edn(value)), expected));
        match field {
            0 => {
                let position = self.kinds.iter().position(|kind| *kind == value);
                let kind = position.map(|at| KINDS[at]).or_else(|| pool.name(value).and_then(OperationType::named));
                match kind {
                    Some(kind) => operation.kind = kind,
                    None => return wrong("one of :invoke, :ok, :fail, :info"),
                }
            }
            1 => match pool.name(value) {
                Some(_) => operation.function = value,
                None if value.is_nil() => {}
                None => return wrong("the name of a function, as a keyword or a text"),
            },
            2 => operation.value = value,
            PROCESS => match pool.get(value) {
                Datum::Integer(number) => operation.process = Process::Client(number),
                Datum::Keyword(_) | Datum::Text(_) | Datum::Symbol(_) => operation.process = Process::Named(value),
                Datum::Nil => {}
                _ => return wrong("a process: an integer, or a name such as :nemesis"),
            },
            TIME => match pool.get(value) {
                Datum::Integer(time) => operation.time = Some(time),
                // JSON of other tools has times in floating point; whole ones are exact.
                Datum::Float(time) if time.fract() == 0.0 && time.abs() < 9e15 => operation.time = Some(time as i64),
                Datum::Nil => {}
                _ => return wrong("a time in nanoseconds, as an integer"),
            },
            INDEX => match pool.get(value) {
                Datum::Integer(index @ 0..) => operation.index = index as u64,
                Datum::Nil => {}
                _ => return wrong("an index, as an integer from 0"),
            },
            _ => operation.error = value,
        }
        Ok(())
    }
}

/// Builds a history of transactions from sessions: each transaction is invoked and completes at once, and the order of the
/// file says nothing between sessions.
pub(super) struct SessionBuilder {
    pub(super) history: OperationHistory,
}

impl SessionBuilder {
    pub(super) fn new(format: HistoryFormat) -> SessionBuilder {
        let history = OperationHistory { format, order: HistoryOrder::Sessions, ..OperationHistory::default() };
        SessionBuilder { history }
    }

    /// A read or a write of a transaction.
    pub(super) fn micro_operation(&mut self, is_write: bool, key: DatumId, value: DatumId) -> DatumId {
        let pool = &mut self.history.pool;
        let name = pool.keyword(if is_write { "w" } else { "r" });
        pool.vector(&[name, key, value])
    }

    /// A transaction of a session.
    pub(super) fn transaction(&mut self, session: i64, micro_operations: &[DatumId], is_committed: bool, line: u32) {
        let asked: Vec<DatumId> = micro_operations.iter().map(|one| self.without_result(*one)).collect();
        let asked = self.history.pool.vector(&asked);
        let answered = self.history.pool.vector(micro_operations);
        let outcome = if is_committed { OperationType::Ok } else { OperationType::Fail };
        for (kind, value) in [(OperationType::Invoke, asked), (outcome, answered)] {
            self.history.push(session, kind, "txn", value);
            if let Some(last) = self.history.operations.last_mut() {
                last.line = line;
            }
        }
    }

    /// A read as it was asked, without what it returned.
    fn without_result(&mut self, micro_operation: DatumId) -> DatumId {
        let pool = &mut self.history.pool;
        match pool.get(micro_operation) {
            Datum::Vector(&[name, key, _]) if pool.name(name) == Some("r") => pool.vector(&[name, key, DatumId::NIL]),
            _ => micro_operation,
        }
    }
}
