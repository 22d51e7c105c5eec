//! Histories of transactions as Plume and PolySI write them: one read or write a line.
//!
//! ```text
//! w(1,7,0,0)      key 1, value 7, session 0, transaction 0
//! r(1,7,1,1)      transaction -1: aborted; value 0: the initial one
//! ```
//!
//! Lines of one transaction stand together within their session. The order of lines says nothing between sessions.

use super::OperationHistory;
use super::datum::DatumId;
use super::error::{HistoryError, quoted};
use super::reader::{HistoryFormat, SessionBuilder};
use super::sessions::Sessions;
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

/// The transactions of a history, line by line.
pub(super) fn write(history: &OperationHistory) -> Result<String, HistoryError> {
    let all = Sessions::new(history, "plume")?;
    let (mut text, mut next) = (String::new(), 0);
    for (session, transactions) in &all.sessions {
        for one in transactions {
            let number = if one.is_committed { next } else { -1 };
            next += i64::from(one.is_committed);
            for (is_write, key, value) in &one.steps {
                let (name, key, value) = (if *is_write { 'w' } else { 'r' }, all.key(*key), all.value(*value));
                // Writing to a text does not fail.
                let _ = writeln!(text, "{name}({key},{value},{session},{number})");
            }
        }
    }
    Ok(text)
}
