//! Linearizability: whether calls that overlap can have taken effect one after the other, each between its invocation and its
//! return.
//!
//! ```text
//! history ─ calls ─ partitions by key ─┬─ distinct values: polynomial (`unique`)
//!                                      └─ else exact search (`search`), budgets growing for all in turn
//! ```
//!
//! Linearizability is local: a history is linearizable if the calls of each key are. All unfinished partitions are searched with the
//! same small budget, then with a larger one, so that a hard partition does not hide an easy violation of another.
//!
//! Invariant: `Valid` and `Invalid` are exact; what was not decided is `Unknown`, with the reason and how far it came.
//! Not here: the smallest part of a violation (`minimize`).

mod contradiction;
mod minimize;
mod partition;
mod search;
mod sequential;
#[cfg(test)]
mod tests;
mod timeline;
mod unique;
mod violation;

use crate::history::error::quoted;
use crate::history::{DatumId, HistoryError, OperationHistory};
use crate::model::{ModelRow, SequentialModel};
pub use minimize::{MinimalViolation, minimize_sequential_violation, minimize_violation};
use partition::CallPartition;
pub(crate) use partition::fills_in_pair;
use search::{SearchBudget, SearchEnd, SearchResult, search};
use sequential::{SequentialResult, search_sequential};

/// Configurations of the first round, and how much larger each next one is.
const FIRST_ROUND: usize = 256;
const ROUND_FACTOR: usize = 8;
/// Configurations of the first search of one key where only the order of each process counts.
const KEY_CONFIGURATIONS: usize = 1 << 16;
/// Parts of which it is found where they are wrong.
const LOCATED_MAX: usize = 16;

/// The bounds of a check. The crate reads no clock: the caller says when time is over.
pub struct CheckLimits<'a> {
    /// Bytes of the configurations and states of one partition.
    pub memory_bytes_max: usize,
    /// Whether the check should end.
    pub is_over: &'a dyn Fn() -> bool,
}

impl Default for CheckLimits<'_> {
    /// 1 GiB, and no end.
    fn default() -> Self {
        CheckLimits { memory_bytes_max: 1 << 30, is_over: &|| false }
    }
}

/// Whether a history is what it should be. The larger one of two is the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    /// It is.
    Valid,
    /// That could not be decided.
    Unknown,
    /// It is not.
    Invalid,
}

/// Why a partition was not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndecidedReason {
    /// Its memory was used up.
    Memory,
    /// Time was over.
    Time,
    /// More calls were pending at once than the search can tell apart.
    Width,
    /// Another partition is not linearizable, and its verdict is enough.
    Unneeded,
}

/// The verdict on a history.
#[derive(Clone, Debug)]
pub struct LinearizabilityVerdict {
    /// The worst of its partitions.
    pub validity: Validity,
    /// Its partitions, in the order of their first calls.
    pub partitions: Vec<PartitionVerdict>,
    /// Whether their keys are elements of one collection, or parts that the model makes: the history has no keys.
    pub by_element: bool,
}

/// The verdict on the calls of one key.
#[derive(Clone, Debug)]
pub struct PartitionVerdict {
    /// The key; none if the history is not parted.
    pub key: Option<DatumId>,
    /// Whether they are linearizable.
    pub validity: Validity,
    /// Why that is not known.
    pub reason: Option<UndecidedReason>,
    /// Positions of the invocations of its calls in the history.
    pub calls: Vec<u32>,
    /// The longest legal sequence that was found, as positions of invocations; empty where no search was needed.
    pub order: Vec<u32>,
    /// Whether it is known that no legal sequence has more returns behind it.
    pub is_longest: bool,
    /// The state after it.
    pub state: String,
    /// The call by whose return no sequence is legal, or, where that was not decided, beyond whose return the search did not come.
    pub stuck: Option<u32>,
    /// Returns that the sequence has behind it, and how many there are.
    pub returns: (usize, usize),
    /// Configurations that were visited.
    pub configurations: usize,
}

/// Judges whether a history is linearizable with respect to a model.
///
/// # Errors
/// When its calls do not pair, or do not fit the model.
///
/// ```
/// use fozzy_check::{CheckLimits, OperationHistory, Validity, check_linearizability, model};
/// let text = "{:type :invoke, :process 0, :f :write, :value 1} {:type :ok, :process 0, :f :write, :value 1}
///             {:type :invoke, :process 1, :f :read, :value nil} {:type :ok, :process 1, :f :read, :value 2}";
/// let history = OperationHistory::read(text.as_bytes()).unwrap();
/// let verdict = check_linearizability(&history, model("register").unwrap(), &CheckLimits::default()).unwrap();
/// assert_eq!(verdict.validity, Validity::Invalid);
/// ```
pub fn check_linearizability(
    history: &OperationHistory,
    row: &ModelRow<'_>,
    limits: &CheckLimits<'_>,
) -> Result<LinearizabilityVerdict, HistoryError> {
    let (partitions, by_element) = partition::partitions(history, row.model)?;
    let verdict = judge(history, row, &partitions, limits);
    if verdict.validity == Validity::Valid {
        check_answers(history, row.model, &partitions)?;
    }
    Ok(LinearizabilityVerdict { by_element, ..verdict })
}

/// Refuses to call a history valid that has none of the answers that the model is about.
fn check_answers(
    history: &OperationHistory,
    model: &dyn SequentialModel,
    partitions: &[CallPartition],
) -> Result<(), HistoryError> {
    let completed = partitions.iter().flat_map(|part| &part.calls).filter(|one| one.completion.is_some());
    let mut answered = completed.filter_map(|one| Some((one, model.answers(&one.call)?)));
    let Some((first, expected)) = answered.next() else { return Ok(()) };
    if first.call.result.is_some() || answered.any(|(one, _)| one.call.result.is_some()) {
        return Ok(());
    }
    let operation = |at: u32| &history.operations[at as usize];
    let shown = operation(first.completion.unwrap_or(first.invocation));
    let function = quoted(history.function_name(operation(first.invocation)));
    let found = format!("{function} with value {} and no other", quoted(&history.pool.edn(shown.value)));
    Err(HistoryError::at_line(shown.line, found, expected))
}

/// Judges whether a history is sequentially consistent with respect to a model: as linearizability, but only the order within each
/// process counts. The partitions are the keys, each judged alone; if none is wrong and there are several, one without a key for all
/// of them together follows.
///
/// # Errors
/// When its calls do not pair, or do not fit the model.
///
/// ```
/// use fozzy_check::{CheckLimits, OperationHistory, Validity, check_sequential_consistency, model};
/// let text = "{:type :invoke, :process 0, :f :write, :value 1} {:type :ok, :process 0, :f :write, :value 1}
///             {:type :invoke, :process 1, :f :read, :value nil} {:type :ok, :process 1, :f :read, :value 0}
///             {:type :invoke, :process 0, :f :write, :value 0} {:type :ok, :process 0, :f :write, :value 0}";
/// let history = OperationHistory::read(text.as_bytes()).unwrap();
/// let (row, limits) = (model("register").unwrap(), CheckLimits::default());
/// let verdict = check_sequential_consistency(&history, row, &limits).unwrap();
/// assert_eq!(verdict.validity, Validity::Valid); // 0 was read before it was written, by the clock
/// ```
pub fn check_sequential_consistency(
    history: &OperationHistory,
    row: &ModelRow<'_>,
    limits: &CheckLimits<'_>,
) -> Result<LinearizabilityVerdict, HistoryError> {
    let partitions = partition::program_partitions(history, row.model)?;
    let is_wrong = |all: &[PartitionVerdict]| all.iter().any(|one| one.validity == Validity::Invalid);
    let budget = |configurations_max: usize| SearchBudget {
        configurations_max,
        bytes_max: limits.memory_bytes_max,
        is_over: limits.is_over,
        looks_ahead: true,
    };
    let mut verdicts: Vec<PartitionVerdict> = Vec::new();
    for partition in &partitions {
        // One that is hard does not keep the others from being judged; all together have the whole budget.
        let configurations = if partitions.len() > 1 { KEY_CONFIGURATIONS } else { usize::MAX };
        let found = search_sequential(&history.pool, row.model, &[partition], &budget(configurations));
        verdicts.push(conclude_sequential(history, row.model, &[partition], found));
    }
    if partitions.len() > 1 && !is_wrong(&verdicts) {
        let all: Vec<&CallPartition> = partitions.iter().collect();
        let found = search_sequential(&history.pool, row.model, &all, &budget(usize::MAX));
        let whole = conclude_sequential(history, row.model, &all, found);
        if whole.validity == Validity::Valid {
            // An order of all is one of each.
            verdicts.iter_mut().for_each(|one| (one.validity, one.reason) = (Validity::Valid, None));
        }
        verdicts.push(whole);
    }
    let validity = verdicts.iter().map(|one| one.validity).max().unwrap_or(Validity::Valid);
    if validity == Validity::Valid {
        check_answers(history, row.model, &partitions)?;
    }
    Ok(LinearizabilityVerdict { validity, partitions: verdicts, by_element: false })
}

fn conclude_sequential(
    history: &OperationHistory,
    model: &dyn SequentialModel,
    partitions: &[&CallPartition],
    found: SequentialResult,
) -> PartitionVerdict {
    let (validity, reason) = verdict_of(&found.end);
    let required = |order: &[u32]| {
        let all: std::collections::BTreeSet<u32> = order.iter().copied().collect();
        let calls = partitions.iter().flat_map(|one| &one.calls).filter(|one| one.completion.is_some());
        calls.filter(|one| order.is_empty() || all.contains(&one.invocation)).count()
    };
    let mut calls: Vec<u32> = partitions.iter().flat_map(|one| one.calls.iter().map(|one| one.invocation)).collect();
    calls.sort_unstable();
    let states = partitions.iter().zip(&found.states).map(|(one, state)| {
        let state = model.describe(&history.pool, state);
        one.key
            .filter(|_| partitions.len() > 1)
            .map_or(state.clone(), |key| format!("{}: {state}", history.pool.edn(key)))
    });
    PartitionVerdict {
        key: if let [one] = partitions { one.key } else { None },
        validity,
        reason,
        calls,
        state: states.collect::<Vec<_>>().join(", "),
        stuck: found.stuck.filter(|_| validity != Validity::Valid),
        returns: (if found.order.is_empty() { 0 } else { required(&found.order) }, required(&[])),
        order: found.order,
        is_longest: found.end == SearchEnd::Invalid,
        configurations: found.configurations,
    }
}

/// Judges partitions in rounds.
fn judge(
    history: &OperationHistory,
    row: &ModelRow<'_>,
    partitions: &[CallPartition],
    limits: &CheckLimits<'_>,
) -> LinearizabilityVerdict {
    let mut verdicts: Vec<Option<PartitionVerdict>> =
        partitions.iter().map(|partition| judge_at_once(history, row, partition)).collect();
    let mut configurations_max = FIRST_ROUND;
    let is_invalid = |one: &Option<PartitionVerdict>| one.as_ref().is_some_and(|one| one.validity == Validity::Invalid);
    while verdicts.iter().any(Option::is_none) && !verdicts.iter().any(is_invalid) {
        for (partition, verdict) in partitions.iter().zip(&mut verdicts).filter(|(_, verdict)| verdict.is_none()) {
            let bytes_max = limits.memory_bytes_max;
            let budget = SearchBudget { configurations_max, bytes_max, is_over: limits.is_over, looks_ahead: true };
            let found = search(&history.pool, row.model, &partition.calls, &budget);
            if found.end != SearchEnd::Configurations {
                *verdict = Some(conclude(history, row.model, partition, &found));
            }
        }
        configurations_max = configurations_max.saturating_mul(ROUND_FACTOR);
    }
    let mut verdicts: Vec<PartitionVerdict> = verdicts
        .into_iter()
        .zip(partitions)
        .map(|(verdict, partition)| verdict.unwrap_or_else(|| unneeded(partition)))
        .collect();
    let wrong = verdicts.iter_mut().zip(partitions).filter(|(one, _)| one.validity == Validity::Invalid);
    for (verdict, partition) in wrong.take(LOCATED_MAX) {
        show_place(history, row, partition, limits, verdict);
    }
    let validity = verdicts.iter().map(|one| one.validity).max().unwrap_or(Validity::Valid);
    LinearizabilityVerdict { validity, partitions: verdicts, by_element: false }
}

/// The verdict without a search: a value was returned that nobody had brought, or there is a polynomial algorithm for the model, and the
/// values are distinct.
fn judge_at_once(
    history: &OperationHistory,
    row: &ModelRow<'_>,
    partition: &CallPartition,
) -> Option<PartitionVerdict> {
    let is_valid = match violation::unbrought(row.model, &partition.calls) {
        Some(_) => false,
        None => unique::is_linearizable(&history.pool, row.name, &partition.calls)?,
    };
    let validity = if is_valid { Validity::Valid } else { Validity::Invalid };
    Some(PartitionVerdict { validity, reason: None, ..unneeded(partition) })
}

/// Adds to the verdict on a part that is wrong where it is so.
fn show_place(
    history: &OperationHistory,
    row: &ModelRow<'_>,
    partition: &CallPartition,
    limits: &CheckLimits<'_>,
    verdict: &mut PartitionVerdict,
) {
    let place = violation::locate(&history.pool, row, &partition.calls, limits);
    let position = |call: &u32| partition.calls[*call as usize].invocation;
    verdict.order = place.order.iter().map(position).collect();
    verdict.is_longest = place.is_longest;
    verdict.state = row.model.describe(&history.pool, &place.state);
    verdict.stuck = place.stuck.as_ref().map(position);
    verdict.returns = place.returns;
}

fn unneeded(partition: &CallPartition) -> PartitionVerdict {
    PartitionVerdict {
        key: partition.key,
        validity: Validity::Unknown,
        reason: Some(UndecidedReason::Unneeded),
        calls: partition.calls.iter().map(|one| one.invocation).collect(),
        order: Vec::new(),
        is_longest: false,
        state: String::new(),
        stuck: None,
        returns: (0, 0),
        configurations: 0,
    }
}

fn conclude(
    history: &OperationHistory,
    model: &dyn SequentialModel,
    partition: &CallPartition,
    found: &SearchResult,
) -> PartitionVerdict {
    let position = |call: &u32| partition.calls[*call as usize].invocation;
    let (validity, reason) = verdict_of(&found.end);
    PartitionVerdict {
        validity,
        reason,
        order: found.order.iter().map(position).collect(),
        state: model.describe(&history.pool, &found.state),
        stuck: found.stuck.as_ref().map(position),
        returns: found.returns,
        configurations: found.configurations,
        ..unneeded(partition)
    }
}

/// What the end of a search says.
fn verdict_of(end: &SearchEnd) -> (Validity, Option<UndecidedReason>) {
    match end {
        SearchEnd::Valid => (Validity::Valid, None),
        SearchEnd::Invalid => (Validity::Invalid, None),
        SearchEnd::Memory | SearchEnd::Configurations => (Validity::Unknown, Some(UndecidedReason::Memory)),
        SearchEnd::Time => (Validity::Unknown, Some(UndecidedReason::Time)),
        SearchEnd::Width => (Validity::Unknown, Some(UndecidedReason::Width)),
    }
}
