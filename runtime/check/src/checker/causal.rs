//! Causal order of a register whose operations say which one they follow.
//!
//! ```text
//! read-init 0 (position 6, link :init) · write 1 (position 7, link 6) · read 1 (position 8, link 7)
//! ```
//!
//! Each key has one client, which links each operation to the one before: values are written in the order 1, 2, …, and a read sees
//! the last one. Operations have the keys `position` and `link`; `[key value]` parts by key.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{DatumId, HistoryError};
use std::collections::BTreeMap;

pub(super) const CAUSAL: CheckerRow = CheckerRow {
    name: "causal",
    summary: "linked operations on a register see each other in order",
    functions: &["read-init", "write", "read"],
    by_key: false,
    check,
};

/// The register after the operations so far.
#[derive(Default)]
struct CausalRegister {
    value: i64,
    position: Option<DatumId>,
    last: Option<u32>,
}

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let pool = &calls.history.pool;
    let is_keyed =
        !calls.calls.is_empty() && calls.calls.iter().all(|call| pool.pair(calls.invoked(call).value).is_some());
    let mut registers: BTreeMap<DatumId, CausalRegister> = BTreeMap::new();
    let mut order: Vec<_> = calls.all().filter(|call| call.outcome == crate::history::OperationType::Ok).collect();
    order.sort_by_key(|call| call.completion);
    verdict.count("ok-count", order.len());
    for call in order {
        let operation = calls.completed(call);
        let (key, value) = match pool.pair(operation.value) {
            Some((key, value)) if is_keyed => (key, value),
            _ => (DatumId::NIL, operation.value),
        };
        let [position, link] = ["position", "link"].map(|name| pool.entry(operation.extra, name));
        let register = registers.entry(key).or_default();
        let shown = || format!("{} of key {}", calls.edn(value), calls.edn(key));
        let operations: Vec<u32> = register.last.into_iter().chain([call.invocation]).collect();
        let is_first = link.is_none_or(|link| pool.name(link) == Some("init"));
        if !is_first && link != register.position {
            let [link, before] =
                [link, register.position].map(|one| one.map_or("nothing".to_owned(), |one| calls.edn(one)));
            let message = format!("{} is linked to {link}, and the operation before stands at {before}", shown());
            verdict.wrong("broken-link", message, &operations);
        }
        let number = pool.as_integer(value);
        match calls.history.function_name(operation) {
            "write" => {
                let expected = register.value.saturating_add(1);
                if number != Some(expected) {
                    verdict.wrong(
                        "out-of-order-write",
                        format!("{} was written, not {expected}", shown()),
                        &operations,
                    );
                }
                register.value = number.unwrap_or(expected);
            }
            "read-init" | "read" => {
                // Nil says nothing but in the first read, where it is the initial value.
                if number.is_some_and(|number| number != register.value) {
                    let message = format!("{} was read, and {} was written last", shown(), register.value);
                    verdict.wrong("stale-read", message, &operations);
                }
            }
            _ => return Err(calls.unfit(operation, "a function of the checker: read-init, read, write")),
        }
        register.position = position.or(register.position);
        register.last = Some(call.invocation);
    }
    verdict.count("key-count", registers.len());
    Ok(())
}
