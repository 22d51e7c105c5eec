//! Transactions of registers as notations without time have them: sessions, one after the other.
//!
//! ```text
//! process 3  ok [[:w 1 7]] · info [[:w 2 5]] · fail [[:w 1 9]]     ──▶     session 3: committed, (committed if 5 was read), aborted
//! ```
//!
//! A transaction whose end is unknown is committed if what it wrote was read, without its reads; otherwise it is left out: nobody can
//! tell whether it was there. Invariant: the isolation that is judged without time is that of the history.
//! Not here: how a notation writes it.

use super::datum::{Datum, DatumId, DatumPool};
use super::error::{HistoryError, quoted};
use super::{ClientCall, OperationHistory, OperationType, Process, pair_calls};
use std::collections::{BTreeMap, BTreeSet};

/// A read or a write: whether it writes, the key, the value; `nil` is what was there before all writes.
pub(super) type SessionStep = (bool, DatumId, DatumId);

/// A transaction of a session.
pub(super) struct SessionTransaction {
    pub(super) is_committed: bool,
    pub(super) steps: Vec<SessionStep>,
    /// The line of its invocation.
    pub(super) line: u32,
}

/// Transactions by session; each session has those of one client, in their order.
pub(super) struct Sessions {
    pub(super) sessions: BTreeMap<i64, Vec<SessionTransaction>>,
    /// What committed transactions read: keys and values.
    pub(super) seen: BTreeSet<(DatumId, DatumId)>,
    keys: BTreeMap<DatumId, i64>,
    values: BTreeMap<DatumId, i64>,
}

impl Sessions {
    /// The sessions of a history, for a notation.
    pub(super) fn new(history: &OperationHistory, notation: &str) -> Result<Sessions, HistoryError> {
        let calls = pair_calls(history)?;
        let mut all: Vec<(i64, OperationType, SessionTransaction)> = Vec::with_capacity(calls.len());
        let mut alone = -1;
        for call in &calls {
            let asked = &history.operations[call.invocation as usize];
            let session = match asked.process {
                Process::Client(process) => process,
                Process::Named(_) | Process::Unknown => {
                    alone -= 1;
                    alone
                }
            };
            let (steps, is_committed) = (steps(history, call, notation)?, call.outcome != OperationType::Fail);
            all.push((session, call.outcome, SessionTransaction { is_committed, steps, line: asked.line }));
        }
        let committed = all.iter().filter(|(_, outcome, _)| *outcome == OperationType::Ok);
        let seen: BTreeSet<(DatumId, DatumId)> = committed
            .flat_map(|(.., one)| &one.steps)
            .filter(|(is_write, ..)| !is_write)
            .map(|(_, key, value)| (*key, *value))
            .collect();
        let mut sessions: BTreeMap<i64, Vec<SessionTransaction>> = BTreeMap::new();
        for (session, outcome, mut one) in all {
            if outcome == OperationType::Info {
                one.steps.retain(|(is_write, ..)| *is_write);
                if !one.steps.iter().any(|(_, key, value)| seen.contains(&(*key, *value))) {
                    continue;
                }
            }
            sessions.entry(session).or_default().push(one);
        }
        let all_steps = || sessions.values().flatten().flat_map(|one| &one.steps);
        let keys = numbers(&history.pool, all_steps().map(|step| step.1), 0);
        let values = numbers(&history.pool, all_steps().map(|step| step.2).filter(|value| !value.is_nil()), 1);
        Ok(Sessions { sessions, seen, keys, values })
    }

    /// The number of a key: itself, if all keys are integers from 0.
    pub(super) fn key(&self, key: DatumId) -> i64 {
        self.keys.get(&key).copied().unwrap_or(0)
    }

    /// The number of a value: itself, if all values are integers from 1; 0 for none.
    pub(super) fn value(&self, value: DatumId) -> i64 {
        self.values.get(&value).copied().unwrap_or(0)
    }
}

/// Numbers for values: themselves if all are integers from `first`, else `first` and so on in the order in which they come.
fn numbers(pool: &DatumPool, all: impl Iterator<Item = DatumId> + Clone, first: i64) -> BTreeMap<DatumId, i64> {
    let plain: Option<BTreeMap<DatumId, i64>> = all
        .clone()
        .map(|one| pool.as_integer(one).filter(|number| *number >= first).map(|number| (one, number)))
        .collect();
    plain.unwrap_or_else(|| {
        let mut numbers = BTreeMap::new();
        for one in all {
            let next = first + numbers.len() as i64;
            numbers.entry(one).or_insert(next);
        }
        numbers
    })
}

/// The steps of a call that is a transaction of reads and writes; reads of which nothing is known are left out.
fn steps(history: &OperationHistory, call: &ClientCall, notation: &str) -> Result<Vec<SessionStep>, HistoryError> {
    let (pool, asked) = (&history.pool, &history.operations[call.invocation as usize]);
    let answered = call.completion.map(|at| &history.operations[at as usize]);
    let is_ok = call.outcome == OperationType::Ok;
    // What failed may tell why instead of what.
    let told = answered.filter(|one| is_ok || pool.elements(one.value).is_some()).unwrap_or(asked);
    let refused = |found: DatumId| {
        let found = format!("{} of `{}`", quoted(&pool.edn(found)), history.function_name(asked));
        let expected = format!("transactions of reads and writes, [[:r key value] [:w key value]], as {notation} has");
        HistoryError::at_line(told.line, found, expected)
    };
    let mut steps = Vec::new();
    for step in pool.elements(told.value).ok_or_else(|| refused(told.value))? {
        let (Datum::Vector(&[name, key, value]) | Datum::List(&[name, key, value])) = pool.get(*step) else {
            return Err(refused(*step));
        };
        match pool.name(name) {
            Some("r") if is_ok || !value.is_nil() => steps.push((false, key, value)),
            Some("r") => {}
            Some("w") if !value.is_nil() => steps.push((true, key, value)),
            _ => return Err(refused(*step)),
        }
    }
    Ok(steps)
}
