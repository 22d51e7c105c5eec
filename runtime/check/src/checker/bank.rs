//! Accounts between which money is moved: each read shows the same accounts with the same sum, and none below zero.
//!
//! ```text
//! read {0 60, 1 40} · transfer {:from 0, :to 1, :amount 5} · read {0 55, 1 40}      5 are missing
//! ```
//!
//! The accounts and the sum are those that the options say, and where they say nothing those of the first read.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{Datum, HistoryError};
use std::collections::BTreeSet;

pub(super) const BANK: CheckerRow = CheckerRow {
    name: "bank",
    summary: "each read has the same accounts and the same sum",
    functions: &["transfer", "read"],
    by_key: false,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let pool = &calls.history.pool;
    let options = calls.options;
    let mut expected: Option<(i64, BTreeSet<String>)> = None;
    let mut reads = 0;
    for call in calls.ok("read") {
        reads += 1;
        let operation = calls.completed(call);
        let Datum::Map(entries) = pool.get(operation.value) else {
            return Err(calls.unfit(operation, "a map of accounts"));
        };
        let shown = [call.invocation];
        let (mut total, mut accounts) = (0i64, BTreeSet::new());
        for [account, balance] in entries.as_chunks::<2>().0 {
            let name = calls.edn(*account);
            accounts.insert(name.clone());
            match pool.get(*balance) {
                Datum::Integer(balance) => {
                    total = total.saturating_add(balance);
                    if balance < 0 {
                        verdict.wrong("negative-value", format!("account {name} has {balance}"), &shown);
                    }
                }
                Datum::Nil => verdict.wrong("nil-balance", format!("account {name} has no balance"), &shown),
                _ => return Err(calls.unfit(operation, "a map of accounts to integers")),
            }
        }
        let (sum, known) = expected.get_or_insert_with(|| {
            let known = options.accounts.clone().unwrap_or_else(|| accounts.clone());
            (options.total.unwrap_or(total), known)
        });
        for account in accounts.difference(known) {
            verdict.wrong("unexpected-key", format!("there is no account {account}"), &shown);
        }
        if total != *sum {
            let message = match options.total {
                Some(sum) => format!("the accounts have {total} together, and {sum} is their total"),
                None => format!("the accounts have {total} together, and had {sum} when they were read first"),
            };
            verdict.wrong("wrong-total", message, &shown);
        }
    }
    verdict.count("read-count", reads);
    if reads == 0 {
        verdict.unknown("never-read", "the accounts were never read");
    }
    Ok(())
}
