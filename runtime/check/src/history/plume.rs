//! Histories of transactions as Plume and PolySI write them: one read or write a line.
//!
//! ```text
//! w(1,7,0,0)      key 1, value 7, session 0, transaction 0
//! r(1,7,1,1)      transaction -1: aborted; value 0: the initial one
//! ```
//!
//! Lines of one transaction stand together within their session. The order of lines says nothing between sessions.

use super::datum::DatumId;
use super::error::{HistoryError, quoted};
use super::reader::{HistoryFormat, SessionBuilder};
use super::{Datum, OperationHistory, OperationType};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a line should be.
const EXPECTED: &str = "r(key,value,session,transaction) or w(…), with integers";

/// A transaction that is not complete: its number, its line, its reads and writes.
type OpenTransaction = (i64, u32, Vec<DatumId>);

pub(super) fn read(text: &str) -> Result<OperationHistory, HistoryError> {
    let mut builder = SessionBuilder::new(HistoryFormat::Plume);
    let mut open: BTreeMap<i64, OpenTransaction> = BTreeMap::new();
    let mut start = 0;
    for (number, line) in text.split('\n').enumerate() {
        let at = start;
        start += line.len() + 1;
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let Some((is_write, [key, value, session, transaction])) = parse(line) else {
            return Err(HistoryError::at(text.as_bytes(), at, quoted(line), EXPECTED));
        };
        let key = builder.history.pool.integer(key);
        let value = match value {
            0 if !is_write => DatumId::NIL,
            value => builder.history.pool.integer(value),
        };
        let micro_operation = builder.micro_operation(is_write, key, value);
        let current = open.entry(session).or_insert_with(|| (transaction, number as u32 + 1, Vec::new()));
        if current.0 != transaction {
            let (before, line, micro_operations) =
                std::mem::replace(current, (transaction, number as u32 + 1, Vec::new()));
            builder.transaction(session, &micro_operations, before != -1, line);
        }
        open.entry(session).and_modify(|current| current.2.push(micro_operation));
    }
    for (session, (transaction, line, micro_operations)) in open {
        builder.transaction(session, &micro_operations, transaction != -1, line);
    }
    Ok(builder.history)
}

/// A line: whether it is a write, and its four numbers.
fn parse(line: &str) -> Option<(bool, [i64; 4])> {
    let (is_write, rest) = match line.as_bytes().first()? {
        b'r' => (false, &line[1..]),
        b'w' => (true, &line[1..]),
        _ => return None,
    };
    let inner = rest.strip_prefix('(')?.strip_suffix(')')?;
    let mut numbers = inner.split(',').map(|number| number.trim().parse::<i64>().ok());
    let all = [numbers.next()??, numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some((is_write, all))
}

impl OperationHistory {
    /// The transactions of reads and writes of integers in Plume's notation; `None` if the history has others.
    #[must_use]
    pub fn to_plume(&self) -> Option<String> {
        let mut text = String::new();
        let pool = &self.pool;
        for (number, operation) in self.client_operations().filter(|one| one.kind != OperationType::Invoke).enumerate()
        {
            let super::Process::Client(session) = operation.process else { return None };
            let transaction = if operation.kind == OperationType::Ok { number as i64 } else { -1 };
            for micro_operation in pool.elements(operation.value)? {
                let Datum::Vector(&[name, key, value]) = pool.get(*micro_operation) else { return None };
                let value = if value.is_nil() { 0 } else { pool.as_integer(value)? };
                let name = pool.name(name).filter(|name| ["r", "w"].contains(name))?;
                let _ = writeln!(text, "{name}({},{value},{session},{transaction})", pool.as_integer(key)?);
            }
        }
        Some(text)
    }
}
