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
use super::error::HistoryError;
use super::reader::{HistoryFormat, SessionBuilder};

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
