//! Checkers: properties of histories beside linearizability, one file and one row each.
//!
//! ```text
//! CHECKERS: name ─▶ fn(history, calls) ─▶ CheckerVerdict { validity, counts, anomalies }
//! ```
//!
//! They are those that tests with Jepsen and Maelstrom use, with the same names and the same rules; where the reference is wrong, the
//! file says so. Invariants: time is linear in the history, up to a logarithm, and once it is over there is no verdict; an anomaly names
//! the operations that show it.
//! Not here: linearizability, which needs a model (`linearizability`).

mod adya_g2;
mod availability;
mod bank;
mod causal;
mod causal_reverse;
mod counter;
mod kafka;
mod long_fork;
mod monotonic;
mod pn_counter;
mod queue;
mod set;
mod set_full;
mod stats;
#[cfg(test)]
mod tests;
mod total_queue;
mod unhandled_exceptions;
mod unique_ids;

pub(crate) use set_full::LatencyBound;

use crate::history::error::quoted;
use crate::history::{
    ClientCall, DatumId, HistoryError, HistoryOperation, OperationHistory, OperationType, pair_calls,
};
use crate::linearizability::{CheckLimits, Validity, fills_in_pair};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// A checker by its name.
pub struct CheckerRow {
    /// Its name, as `--checker` has it.
    pub name: &'static str,
    /// What it holds a history to.
    pub summary: &'static str,
    /// The operations that it reads; none if it reads those of any name.
    pub functions: &'static [&'static str],
    /// Whether each key of a history with values `[key value]` is judged by itself.
    by_key: bool,
    check: fn(&CallHistory<'_>, &mut CheckerVerdict) -> Result<(), HistoryError>,
}

/// All checkers.
pub const CHECKERS: &[CheckerRow] = &[
    stats::STATS,
    availability::AVAILABILITY,
    unhandled_exceptions::UNHANDLED_EXCEPTIONS,
    set::SET,
    set_full::SET_FULL,
    queue::QUEUE,
    total_queue::TOTAL_QUEUE,
    unique_ids::UNIQUE_IDS,
    counter::COUNTER,
    pn_counter::G_COUNTER,
    pn_counter::PN_COUNTER,
    bank::BANK,
    long_fork::LONG_FORK,
    causal::CAUSAL,
    causal_reverse::CAUSAL_REVERSE,
    adya_g2::ADYA_G2,
    monotonic::MONOTONIC,
    kafka::KAFKA,
];

/// The checker that has a name.
#[must_use]
pub fn checker(name: &str) -> Option<&'static CheckerRow> {
    CHECKERS.iter().find(|row| row.name == name)
}

impl CheckerRow {
    /// Why a history that has calls tells it nothing, in a sentence: none of them is an operation that it reads.
    fn misfit(&self, calls: &CallHistory<'_>) -> Option<String> {
        let name = |call: &ClientCall| calls.history.function_name(calls.invoked(call));
        let first = calls.calls.first().filter(|_| !self.functions.is_empty())?;
        if calls.calls.iter().any(|call| self.functions.contains(&name(call))) {
            return None;
        }
        let (found, expected) = (quoted(name(first)), self.functions.join(", "));
        Some(format!("the operations do not fit: found {found}, expected {expected}"))
    }
}

/// What a test knows, and its history does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckerOptions {
    /// The names of a bank's accounts, in EDN; those of the first read where they are not given.
    pub accounts: Option<BTreeSet<String>>,
    /// What they have together; that of the first read where it is not given.
    pub total: Option<i64>,
}

/// Anomalies of one kind that are described; further ones are counted.
const ANOMALIES_MAX: usize = 48;

/// The kind of what is said of a history none of whose operations the checker reads.
pub(crate) const MISFIT: &str = "misfit";

/// The kind of what is said of a history in which no operation of a function has succeeded.
pub(crate) const NO_SUCCESS: &str = "no-success";

/// How the names of latencies begin among what is counted.
const LATENCY: &str = "stable-latency-ms";

/// What a checker found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckerVerdict {
    /// Whether the history is what it should be.
    pub validity: Validity,
    /// What was counted, by name.
    pub counts: Vec<(String, i64)>,
    /// What is wrong, or worth knowing; the first of each kind.
    pub anomalies: Vec<HistoryAnomaly>,
}

/// Something in a history that should not be there, or is worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryAnomaly {
    /// Its kind, such as `lost`.
    pub kind: &'static str,
    /// What it is, in a sentence.
    pub message: String,
    /// Whether it makes the history invalid.
    pub is_fault: bool,
    /// Positions of operations that show it.
    pub operations: Vec<u32>,
}

impl Default for CheckerVerdict {
    /// Nothing is wrong.
    fn default() -> CheckerVerdict {
        CheckerVerdict { validity: Validity::Valid, counts: Vec::new(), anomalies: Vec::new() }
    }
}

impl CheckerVerdict {
    /// Adds the verdict on the calls of one key.
    fn absorb(&mut self, key: &str, other: CheckerVerdict) {
        self.validity = self.validity.max(other.validity);
        for (name, number) in other.counts {
            match self.counts.iter_mut().find(|(known, _)| *known == name) {
                // The worst latency of all keys is that of one of them; all else adds up.
                Some((_, sum)) if name.starts_with(LATENCY) => *sum = (*sum).max(number),
                Some((_, sum)) => *sum = sum.saturating_add(number),
                None => self.counts.push((name, number)),
            }
        }
        for one in other.anomalies {
            self.add(one.kind, format!("key {key}: {}", one.message), &one.operations, one.is_fault);
        }
    }

    fn count(&mut self, name: &str, number: usize) {
        self.counts.push((name.to_owned(), i64::try_from(number).unwrap_or(i64::MAX)));
    }

    /// Notes an anomaly that makes the history invalid.
    fn wrong(&mut self, kind: &'static str, message: String, operations: &[u32]) {
        self.validity = Validity::Invalid;
        self.add(kind, message, operations, true);
    }

    /// Notes what is worth knowing.
    fn note(&mut self, kind: &'static str, message: String, operations: &[u32]) {
        self.add(kind, message, operations, false);
    }

    fn add(&mut self, kind: &'static str, message: String, operations: &[u32], is_fault: bool) {
        if self.anomalies.iter().filter(|one| one.kind == kind).count() < ANOMALIES_MAX {
            self.anomalies.push(HistoryAnomaly { kind, message, is_fault, operations: operations.to_vec() });
        }
    }

    /// Says that the history does not tell.
    fn unknown(&mut self, kind: &'static str, message: &str) {
        self.validity = self.validity.max(Validity::Unknown);
        self.note(kind, message.to_owned(), &[]);
    }
}

/// A history with its calls.
struct CallHistory<'a> {
    history: &'a OperationHistory,
    calls: Vec<ClientCall>,
    options: &'a CheckerOptions,
    is_over: &'a dyn Fn() -> bool,
    /// Whether time was over at some look.
    is_cut: &'a Cell<bool>,
}

impl CallHistory<'_> {
    /// Whether there is time for more. Where there was none, whatever is found counts for nothing.
    fn has_time(&self) -> bool {
        let is_cut = self.is_cut.get() || (self.is_over)();
        self.is_cut.set(is_cut);
        !is_cut
    }

    /// All calls, as long as there is time.
    fn all(&self) -> impl DoubleEndedIterator<Item = &ClientCall> {
        self.calls.iter().filter(move |_| self.has_time())
    }

    /// Calls of a function.
    fn of<'b>(&'b self, function: &'b str) -> impl DoubleEndedIterator<Item = &'b ClientCall> {
        self.all().filter(move |call| self.history.function_name(self.invoked(call)) == function)
    }

    /// Calls of a function that happened.
    fn ok<'b>(&'b self, function: &'b str) -> impl DoubleEndedIterator<Item = &'b ClientCall> {
        self.of(function).filter(|call| call.outcome == OperationType::Ok)
    }

    fn invoked(&self, call: &ClientCall) -> &HistoryOperation {
        &self.history.operations[call.invocation as usize]
    }

    fn completed(&self, call: &ClientCall) -> &HistoryOperation {
        &self.history.operations[call.completion.unwrap_or(call.invocation) as usize]
    }

    /// Whether the operation at a position is marked `:final? true`.
    fn is_final(&self, position: u32) -> bool {
        let operation = &self.history.operations[position as usize];
        self.history.pool.entry(operation.extra, "final?") == Some(DatumId::TRUE)
    }

    fn edn(&self, value: DatumId) -> String {
        self.history.pool.edn(value)
    }

    /// The elements that a call returned.
    fn elements(&self, call: &ClientCall) -> Result<&[DatumId], HistoryError> {
        let operation = self.completed(call);
        self.history.pool.elements(operation.value).ok_or_else(|| self.unfit(operation, "a collection"))
    }

    /// The number that an operation has.
    fn number(&self, operation: &HistoryOperation) -> Result<i64, HistoryError> {
        self.history.pool.as_integer(operation.value).ok_or_else(|| self.unfit(operation, "an integer"))
    }

    /// An operation whose value is not what the checker needs.
    fn unfit(&self, operation: &HistoryOperation, expected: &str) -> HistoryError {
        let found = format!("`{}` of `{}`", self.edn(operation.value), self.history.function_name(operation));
        HistoryError::at_line(operation.line, found, format!("{expected} as its value"))
    }
}

/// Judges a history by a checker. One that has calls, none of which the checker reads, is unknown: it would have every property.
///
/// # Errors
/// When its calls do not pair, or have values that the checker cannot read.
///
/// ```
/// use fozzy_check::{OperationHistory, Validity, check_property, checker};
/// let text = "{:type :invoke, :process 0, :f :generate} {:type :ok, :process 0, :f :generate, :value 7}
///             {:type :invoke, :process 1, :f :generate} {:type :ok, :process 1, :f :generate, :value 7}";
/// let history = OperationHistory::read(text.as_bytes()).unwrap();
/// let verdict = check_property(&history, checker("unique-ids").unwrap()).unwrap();
/// assert_eq!(verdict.validity, Validity::Invalid);
/// assert_eq!(verdict.anomalies[0].message, "7 was generated 2 times");
/// ```
pub fn check_property(history: &OperationHistory, row: &CheckerRow) -> Result<CheckerVerdict, HistoryError> {
    check_property_with(history, row, &CheckerOptions::default(), &CheckLimits::default())
}

/// The same with what the test knows, as long as there is time; its memory is that of the history.
///
/// # Errors
/// As [`check_property`].
///
/// ```
/// use fozzy_check::{CheckLimits, CheckerOptions, OperationHistory, Validity, check_property_with, checker};
/// let text = "{:type :invoke, :process 0, :f :read} {:type :ok, :process 0, :f :read, :value {0 4, 1 5}}";
/// let history = OperationHistory::read(text.as_bytes()).unwrap();
/// let options = CheckerOptions { total: Some(10), ..CheckerOptions::default() };
/// let bank = checker("bank").unwrap();
/// let verdict = check_property_with(&history, bank, &options, &CheckLimits::default()).unwrap();
/// assert_eq!(verdict.anomalies[0].message, "the accounts have 9 together, and 10 is their total");
/// let no_time = CheckLimits { is_over: &|| true, ..CheckLimits::default() };
/// assert_eq!(check_property_with(&history, bank, &options, &no_time).unwrap().validity, Validity::Unknown);
/// ```
pub fn check_property_with(
    history: &OperationHistory,
    row: &CheckerRow,
    options: &CheckerOptions,
    limits: &CheckLimits<'_>,
) -> Result<CheckerVerdict, HistoryError> {
    let is_cut = Cell::new(false);
    let calls = CallHistory { history, calls: pair_calls(history)?, options, is_over: limits.is_over, is_cut: &is_cut };
    let mut verdict = CheckerVerdict::default();
    let judged = match row.by_key && is_keyed(&calls) {
        true => check_keys(&calls, row, &mut verdict),
        false => (row.check)(&calls, &mut verdict),
    };
    if is_cut.get() {
        // Neither an anomaly nor an error need be one of the whole history.
        verdict = CheckerVerdict::default();
        verdict.unknown("undecided", "time was used up; --time gives more");
        return Ok(verdict);
    }
    judged?;
    if let Some(why) = row.misfit(&calls) {
        // That nothing was read, say, follows from it.
        verdict.anomalies.clear();
        verdict.unknown(MISFIT, &why);
    }
    Ok(verdict)
}

/// Whether the value of each call is a pair, and one shows that its first part is a key: it asked `[key nil]`.
fn is_keyed(calls: &CallHistory<'_>) -> bool {
    let is_pair = |call: &ClientCall| calls.history.pool.pair(calls.invoked(call).value).is_some();
    calls.calls.iter().all(is_pair) && calls.calls.iter().any(|call| fills_in_pair(calls.history, call))
}

/// Judges the calls of each key by themselves: the worst verdict, the sum of what was counted.
fn check_keys(calls: &CallHistory<'_>, row: &CheckerRow, whole: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let CallHistory { options, is_over, is_cut, .. } = *calls;
    let pool = &calls.history.pool;
    let mut keys: BTreeMap<DatumId, Vec<ClientCall>> = BTreeMap::new();
    let mut history = calls.history.clone();
    for call in &calls.calls {
        let Some((key, asked)) = pool.pair(calls.invoked(call).value) else { continue };
        keys.entry(key).or_default().push(*call);
        history.operations[call.invocation as usize].value = asked;
        let Some(at) = call.completion else { continue };
        match pool.pair(calls.completed(call).value) {
            Some((same, answer)) if same == key => history.operations[at as usize].value = answer,
            // What did not happen may have any value, such as why.
            _ if call.outcome != OperationType::Ok || calls.completed(call).value.is_nil() => {}
            _ => return Err(calls.unfit(calls.completed(call), "the key that was asked, with what it has,")),
        }
    }
    for (key, calls) in keys {
        let mut verdict = CheckerVerdict::default();
        (row.check)(&CallHistory { history: &history, calls, options, is_over, is_cut }, &mut verdict)?;
        whole.absorb(&history.pool.edn(key), verdict);
    }
    Ok(())
}
