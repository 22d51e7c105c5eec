//! Histories of transactions as dbcop writes them: sessions of transactions of events, in JSON.
//!
//! ```text
//! [[{"events": [{"Write": {"variable": 0, "version": 1}}, ["r", 1, null]], "committed": true}]]
//! {"params": …, "data": [[{"events": [{"write": true, "variable": 0, "value": 1, "success": true}], "success": true}]]}
//! ```
//!
//! The three notations of an event that its versions have had are read, and the first is written; sessions stand alone, or under `data`
//! or `sessions`.

use super::OperationHistory;
use super::datum::{Datum, DatumId, DatumPool};
use super::error::{HistoryError, quoted};
use super::reader::{HistoryFormat, SessionBuilder};
use super::sessions::Sessions;
use super::syntax::{SyntaxDialect, SyntaxReader};
use std::fmt::Write;

pub(super) fn read(text: &str) -> Result<OperationHistory, HistoryError> {
    let mut builder = SessionBuilder::new(HistoryFormat::Dbcop);
    let pool = &mut builder.history.pool;
    let mut syntax = SyntaxReader::new(text, SyntaxDialect::Json);
    let document = syntax.value(pool)?;
    if !syntax.is_at_end(pool)? {
        return Err(syntax.unexpected("the end of the input after the document"));
    }
    let sessions = ["data", "sessions"].iter().find_map(|key| pool.entry(document, key)).unwrap_or(document);
    let sessions = list(pool, sessions, "", "a list of sessions")?;
    for (session, transactions) in sessions.into_iter().enumerate() {
        let place = format!(" as session {session}");
        let expected = "a session, which is a list of transactions";
        let transactions = list(&builder.history.pool, transactions, &place, expected)?;
        for (at, transaction) in transactions.into_iter().enumerate() {
            add(&mut builder, session as i64, at, transaction)?;
        }
    }
    Ok(builder.history)
}

fn list(pool: &DatumPool, id: DatumId, place: &str, expected: &str) -> Result<Vec<DatumId>, HistoryError> {
    pool.elements(id).map(<[DatumId]>::to_vec).ok_or_else(|| wrong(pool, id, place, expected))
}

/// What is wrong with a value, which has a place in the document instead of a line.
fn wrong(pool: &DatumPool, id: DatumId, place: &str, expected: &str) -> HistoryError {
    HistoryError::at_byte(0, format!("{}{place}", quoted(&pool.json(id))), expected)
}

fn add(builder: &mut SessionBuilder, session: i64, at: usize, transaction: DatumId) -> Result<(), HistoryError> {
    let pool = &builder.history.pool;
    let place = format!(" as transaction {at} of session {session}, both counted from 0");
    let flag = ["committed", "success"].iter().find_map(|key| pool.entry(transaction, key));
    let is_committed = flag.is_none_or(|flag| flag == DatumId::TRUE);
    let events = pool.entry(transaction, "events");
    let events = events.ok_or_else(|| wrong(pool, transaction, &place, "a transaction with `events`"))?;
    let mut micro_operations = Vec::new();
    for (number, event) in list(pool, events, &place, "a list of events")?.into_iter().enumerate() {
        let parsed = parse(&builder.history.pool, event);
        let expected = "an event such as {\"Write\": {\"variable\": 0, \"version\": 1}} or [\"r\", 0, 1]";
        let place = || format!(" as event {number}{}", place.replacen(" as", " of", 1));
        let parsed = parsed.ok_or_else(|| wrong(&builder.history.pool, event, &place(), expected));
        let (is_write, key, value) = parsed?;
        micro_operations.push(builder.micro_operation(is_write, key, value));
    }
    builder.transaction(session, &micro_operations, is_committed, 0);
    Ok(())
}

/// Whether an event is a write, its key, and its value.
fn parse(pool: &DatumPool, event: DatumId) -> Option<(bool, DatumId, DatumId)> {
    if let Datum::Vector(&[name, key, value]) = pool.get(event) {
        return match pool.name(name)? {
            "r" => Some((false, key, value)),
            "w" if !value.is_nil() => Some((true, key, value)),
            _ => None,
        };
    }
    let version = |fields: DatumId| pool.entry(fields, "version").or_else(|| pool.entry(fields, "value"));
    if let Some(fields) = pool.entry(event, "Read") {
        return Some((false, pool.entry(fields, "variable")?, version(fields).unwrap_or(DatumId::NIL)));
    }
    if let Some(fields) = pool.entry(event, "Write") {
        return Some((true, pool.entry(fields, "variable")?, version(fields)?));
    }
    let is_write = pool.entry(event, "write")? == DatumId::TRUE;
    let value = version(event)?;
    // Version 0 of the old notation is the initial one.
    let is_initial = !is_write && pool.as_integer(value) == Some(0);
    Some((is_write, pool.entry(event, "variable")?, if is_initial { DatumId::NIL } else { value }))
}

/// The transactions of a history as sessions, without times and names of clients.
pub(super) fn write(history: &OperationHistory) -> Result<String, HistoryError> {
    let all = Sessions::new(history, "dbcop")?;
    let mut text = String::from("[");
    for (session, transactions) in all.sessions.values().enumerate() {
        text.push_str(if session > 0 { ",\n[" } else { "[" });
        for (at, one) in transactions.iter().enumerate() {
            text.push_str(if at > 0 { ",\n{\"events\":[" } else { "{\"events\":[" });
            for (at, (is_write, key, value)) in one.steps.iter().enumerate() {
                let comma = if at > 0 { "," } else { "" };
                let (name, key) = (if *is_write { "Write" } else { "Read" }, all.key(*key));
                let version = if value.is_nil() { "null".to_owned() } else { all.value(*value).to_string() };
                // Writing to a text does not fail.
                let _ = write!(text, "{comma}{{\"{name}\":{{\"variable\":{key},\"version\":{version}}}}}");
            }
            let _ = write!(text, "],\"committed\":{}}}", one.is_committed);
        }
        text.push(']');
    }
    text.push_str("]\n");
    Ok(text)
}
