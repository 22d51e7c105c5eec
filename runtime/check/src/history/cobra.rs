//! Histories of transactions as Cobra logs them: one binary file a session, numbers of eight bytes, high byte first.
//!
//! ```text
//! S transaction                            begins
//! W write key value                        writes; `write` is unique
//! R transaction write key value            reads what `write` of `transaction` wrote
//! C transaction                            commits
//! ```
//!
//! Values of the history are the numbers of writes, which are unique where values need not be.

use super::OperationHistory;
use super::datum::DatumId;
use super::error::{HistoryError, quoted};
use super::reader::{HistoryFormat, SessionBuilder};
use super::sessions::{SessionStep, Sessions};
use std::collections::BTreeMap;

/// Numbers that stand for the state before the run, and for no value.
const INITIAL: [i64; 2] = [0xBEBE_EBEE, 0xDEAD_BEEF];

/// Reads the logs of all sessions.
///
/// # Errors
/// When a record is none, or is cut off.
///
/// ```
/// let mut log = Vec::new();
/// for (tag, numbers) in [(b'S', vec![1]), (b'W', vec![9, 5, 77]), (b'C', vec![1])] {
///     log.push(tag);
///     numbers.iter().for_each(|number: &u64| log.extend(number.to_be_bytes()));
/// }
/// let history = fozzy_check::read_cobra(&[&log]).unwrap();
/// assert_eq!(history.operations.len(), 2);
/// ```
pub fn read_cobra(sessions: &[&[u8]]) -> Result<OperationHistory, HistoryError> {
    let mut builder = SessionBuilder::new(HistoryFormat::Cobra);
    for (session, bytes) in sessions.iter().enumerate() {
        read_session(&mut builder, session as i64, bytes)?;
    }
    Ok(builder.history)
}

fn read_session(builder: &mut SessionBuilder, session: i64, bytes: &[u8]) -> Result<(), HistoryError> {
    let mut open: Option<Vec<DatumId>> = None;
    let mut at = 0;
    while let Some(tag) = bytes.get(at) {
        let start = at;
        at += 1;
        let wrong = |expected: &str| {
            let found = format!("a record `{}` in session {session}", tag.escape_ascii());
            Err(HistoryError::at_byte(start, found, expected))
        };
        match (tag, &mut open) {
            (b'S', None) => {
                numbers::<1>(bytes, &mut at)?;
                open = Some(Vec::new());
            }
            (b'C', Some(micro_operations)) => {
                numbers::<1>(bytes, &mut at)?;
                builder.transaction(session, micro_operations, true, 0);
                open = None;
            }
            (b'W', Some(micro_operations)) => {
                let [write, key, _] = numbers(bytes, &mut at)?;
                let (key, value) = (builder.history.pool.integer(key), builder.history.pool.integer(write));
                micro_operations.push(builder.micro_operation(true, key, value));
            }
            (b'R', Some(micro_operations)) => {
                let [_, write, key, _] = numbers(bytes, &mut at)?;
                let key = builder.history.pool.integer(key);
                let initial = INITIAL.contains(&write);
                let value = if initial { DatumId::NIL } else { builder.history.pool.integer(write) };
                micro_operations.push(builder.micro_operation(false, key, value));
            }
            (b'S' | b'C' | b'W' | b'R', _) => return wrong("S first, and one transaction at a time"),
            _ => return wrong("a record S, C, W or R"),
        }
    }
    // What did not commit before the log ended is aborted.
    if let Some(micro_operations) = open {
        builder.transaction(session, &micro_operations, false, 0);
    }
    Ok(())
}

fn numbers<const N: usize>(bytes: &[u8], at: &mut usize) -> Result<[i64; N], HistoryError> {
    let mut all = [0; N];
    for number in &mut all {
        let Some(eight) = bytes.get(*at..*at + 8).and_then(|eight| eight.as_array::<8>().copied()) else {
            return Err(HistoryError::at_byte(*at, "the end of the log", format!("{N} numbers of eight bytes")));
        };
        *number = i64::from_be_bytes(eight);
        *at += 8;
    }
    Ok(all)
}

/// The logs of the sessions of a history, with their names. Numbers of writes are made anew; what failed is left out, since there is
/// no record of it.
pub(super) fn write(history: &OperationHistory) -> Result<Vec<(String, Vec<u8>)>, HistoryError> {
    let all = Sessions::new(history, "cobra")?;
    // Which transaction wrote a value, and the number of that write.
    let mut writes: BTreeMap<(DatumId, DatumId), [i64; 2]> = BTreeMap::new();
    let committed = all.sessions.values().flatten().filter(|one| one.is_committed);
    for (transaction, one) in committed.enumerate() {
        for (_, key, value) in one.steps.iter().filter(|step| step.0) {
            let next = writes.len() as i64 + 1;
            writes.entry((*key, *value)).or_insert([transaction as i64, next]);
        }
    }
    let (mut files, mut number) = (Vec::new(), 0);
    for (session, transactions) in &all.sessions {
        let mut bytes = Vec::new();
        for one in transactions {
            let is_seen = |(is_write, key, value): &SessionStep| *is_write && all.seen.contains(&(*key, *value));
            match one.steps.iter().find(|step| is_seen(step)).filter(|_| !one.is_committed) {
                None if one.is_committed => {}
                // Nobody can tell whether it was there.
                None => continue,
                Some((_, _, value)) => {
                    let found = format!("a failed transaction whose {} was read", quoted(&history.pool.edn(*value)));
                    return Err(HistoryError::at_line(one.line, found, "transactions that commit, as cobra has"));
                }
            }
            record(&mut bytes, b'S', &[number]);
            for (is_write, key, value) in &one.steps {
                let [writer, write] = match writes.get(&(*key, *value)) {
                    Some(written) => *written,
                    None if value.is_nil() => [INITIAL[0]; 2],
                    // Nobody wrote it: the number of no write.
                    None => [0, 0],
                };
                let (key, value) = (all.key(*key), all.value(*value));
                match is_write {
                    true => record(&mut bytes, b'W', &[write, key, value]),
                    false => record(&mut bytes, b'R', &[writer, write, key, value]),
                }
            }
            record(&mut bytes, b'C', &[number]);
            number += 1;
        }
        files.push((format!("T{session}.log"), bytes));
    }
    Ok(files)
}

fn record(bytes: &mut Vec<u8>, tag: u8, numbers: &[i64]) {
    bytes.push(tag);
    numbers.iter().for_each(|number| bytes.extend(number.to_be_bytes()));
}
