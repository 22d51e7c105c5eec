//! The smallest part of a violation: calls that contradict each other, whichever of the others took effect.
//!
//! ```text
//! write 1 · write 2 · read 2 · write 3 · read 2     ──▶     write 3 · read 2     the write of 2 had returned before
//! ```
//!
//! Leaving out a write would make each read of its value wrong, which explains nothing. So a call that is not kept becomes
//! optional: it took effect between its invocation and its return, or never; a read is left out. That only allows more,
//! so the parts that are still wrong are found by halving (QuickXplain: Junker, 2004), each judged again by the search.
//!
//! Invariants: the calls that are kept are not linearizable; if no bound was reached, without any one of them the rest is.
//! Not here: what is shown of it (`fozzy-report`).

use super::contradiction::contradiction;
use super::partition::{CallPartition, partitions, program_partitions};
use super::search::{SearchBudget, SearchEnd, search};
use super::sequential::search_sequential;
use super::timeline::TimedCall;
use super::violation::{unbrought, until};
use super::{CheckLimits, PartitionVerdict};
use crate::history::{HistoryError, OperationHistory};
use crate::model::{ModelRow, SequentialModel};
use std::collections::BTreeSet;

/// Configurations of one search, at least and at most: a part that needs more than these, and than some times what the whole needed, is
/// not known to be wrong.
const CONFIGURATIONS: std::ops::RangeInclusive<usize> = 1 << 14..=1 << 18;
const CONFIGURATIONS_FACTOR: usize = 4;
/// Searches for one violation; and configurations of all of them.
const SEARCHES_MAX: usize = 2000;
const ALL_CONFIGURATIONS_MAX: usize = 1 << 25;

/// Calls that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimalViolation {
    /// Positions of their invocations in the history, in order.
    pub calls: Vec<u32>,
    /// How many other calls there were until the contradiction: it is one whichever of them took effect.
    pub others: usize,
}

/// The smallest part of a partition that is not linearizable; `None` where bounds were too narrow to find any.
///
/// # Errors
/// As [`super::check_linearizability`].
///
/// ```
/// use fozzy_check::{CheckLimits, OperationHistory, check_linearizability, minimize_violation, model};
/// let mut text = String::new();
/// for (function, value, result) in [("write", "1", "1"), ("write", "2", "2"), ("read", "nil", "2"), ("read", "nil", "1")] {
///     text += &format!("{{:type :invoke, :process 0, :f :{function}, :value {value}}}");
///     text += &format!("{{:type :ok, :process 0, :f :{function}, :value {result}}}");
/// }
/// let history = OperationHistory::read(text.as_bytes()).unwrap();
/// let (row, limits) = (model("register").unwrap(), CheckLimits::default());
/// let verdict = check_linearizability(&history, row, &limits).unwrap();
/// let minimal = minimize_violation(&history, row, &verdict.partitions[0], &limits).unwrap().unwrap();
/// assert_eq!(minimal.calls, [2, 6]); // 2 was written, and 1 was read after that
/// ```
pub fn minimize_violation(
    history: &OperationHistory,
    row: &ModelRow<'_>,
    verdict: &PartitionVerdict,
    limits: &CheckLimits<'_>,
) -> Result<Option<MinimalViolation>, HistoryError> {
    let all = partitions(history, row.model)?.0;
    let Some(partition) = all.iter().find(|one| one.key == verdict.key) else { return Ok(None) };
    let calls = until_contradiction(row.model, partition, verdict);
    if let Some(at) = unbrought(row.model, &calls) {
        return Ok(Some(violation_of(&calls, &[at as u32])));
    }
    let alone = contradiction(&history.pool, row.name, &calls, limits.is_over);
    let configurations_max = configurations_of(verdict);
    let search = |candidates: Vec<(u32, TimedCall)>| {
        let calls: Vec<TimedCall> = candidates.into_iter().map(|(_, call)| call).collect();
        search(&history.pool, row.model, &calls, &budget(configurations_max, limits)).end
    };
    let Some(alone) = alone else { return Ok(minimal_calls(row.model, &calls, configurations_max, &search)) };
    // Whatever becomes of their writes, fewer of these calls may do.
    let kept: Vec<TimedCall> = alone.iter().map(|at| calls[*at as usize]).collect();
    let fewer = minimal_calls(row.model, &kept, configurations_max, &search);
    let others = calls.len() - kept.len();
    Ok(Some(match fewer {
        Some(MinimalViolation { calls, others: optional }) => MinimalViolation { calls, others: others + optional },
        None => violation_of(&calls, &alone),
    }))
}

/// Calls of all, by their places.
fn violation_of(calls: &[TimedCall], kept: &[u32]) -> MinimalViolation {
    let positions = kept.iter().map(|at| calls[*at as usize].invocation).collect();
    MinimalViolation { calls: positions, others: calls.len() - kept.len() }
}

/// Configurations of one search for the smallest part of what took some itself.
fn configurations_of(verdict: &PartitionVerdict) -> usize {
    (verdict.configurations * CONFIGURATIONS_FACTOR).clamp(*CONFIGURATIONS.start(), *CONFIGURATIONS.end())
}

/// The smallest part of calls that are not sequentially consistent, as [`minimize_violation`]; of all keys if the verdict is of all.
///
/// # Errors
/// As [`super::check_sequential_consistency`].
///
/// ```
/// use fozzy_check::{CheckLimits, OperationHistory, check_sequential_consistency, minimize_sequential_violation, model};
/// let mut text = String::new();
/// for (process, function, value, result) in [(0, "write", "1", "1"), (0, "write", "2", "2"), (1, "read", "nil", "2"), (1, "read", "nil", "1")] {
///     text += &format!("{{:type :invoke, :process {process}, :f :{function}, :value {value}}}");
///     text += &format!("{{:type :ok, :process {process}, :f :{function}, :value {result}}}");
/// }
/// let history = OperationHistory::read(text.as_bytes()).unwrap();
/// let (row, limits) = (model("register").unwrap(), CheckLimits::default());
/// let verdict = check_sequential_consistency(&history, row, &limits).unwrap();
/// let minimal = minimize_sequential_violation(&history, row, &verdict.partitions[0], &limits).unwrap().unwrap();
/// assert_eq!(minimal.calls, [4, 6]); // one client read 2 and then 1, which was written before
/// ```
pub fn minimize_sequential_violation(
    history: &OperationHistory,
    row: &ModelRow<'_>,
    verdict: &PartitionVerdict,
    limits: &CheckLimits<'_>,
) -> Result<Option<MinimalViolation>, HistoryError> {
    let all = program_partitions(history, row.model)?;
    let chosen: Vec<&CallPartition> =
        all.iter().filter(|one| verdict.key.is_none() || one.key == verdict.key).collect();
    let with_part =
        |(part, one): (usize, &&CallPartition)| one.calls.iter().map(|call| (part, *call)).collect::<Vec<_>>();
    let mut calls: Vec<(usize, TimedCall)> = chosen.iter().enumerate().flat_map(with_part).collect();
    calls.sort_by_key(|(_, call)| call.invocation);
    let (parts, calls): (Vec<usize>, Vec<TimedCall>) = calls.into_iter().unzip();
    let configurations_max = configurations_of(verdict);
    let search = |candidates: Vec<(u32, TimedCall)>| {
        let empty = |one: &&CallPartition| CallPartition { key: one.key, calls: Vec::new() };
        let mut left: Vec<CallPartition> = chosen.iter().map(empty).collect();
        for (at, call) in candidates {
            // What need not have taken effect is a call whose end is not known.
            let completion = call.completion.filter(|_| !call.is_optional);
            // It keeps its place among those of its process, unless its end was never known.
            let is_optional = call.is_optional && call.completion.is_some();
            left[parts[at as usize]].calls.push(TimedCall { completion, is_optional, ..call });
        }
        let budget = budget(configurations_max, limits);
        search_sequential(&history.pool, row.model, &left.iter().collect::<Vec<_>>(), &budget).end
    };
    Ok(minimal_calls(row.model, &calls, configurations_max, &search))
}

fn budget<'a>(configurations_max: usize, limits: &CheckLimits<'a>) -> SearchBudget<'a> {
    SearchBudget { configurations_max, bytes_max: limits.memory_bytes_max, is_over: limits.is_over, looks_ahead: true }
}

/// The smallest part of calls that `search` finds to be wrong.
fn minimal_calls(
    model: &dyn SequentialModel,
    calls: &[TimedCall],
    configurations_max: usize,
    search: &dyn Fn(Vec<(u32, TimedCall)>) -> SearchEnd,
) -> Option<MinimalViolation> {
    let searches_max = SEARCHES_MAX.min(ALL_CONFIGURATIONS_MAX / configurations_max);
    let mut minimizer = Minimizer { model, calls, search, searches_max, searches: 0 };
    // Of several contradictions, the one that is nearest to the end.
    let everything: Vec<u32> = (0..calls.len() as u32).rev().collect();
    if !minimizer.is_wrong(&everything) {
        return None;
    }
    let mut kept = minimizer.explain(&[], false, &everything);
    kept.sort_unstable();
    minimizer.searches = 0;
    minimizer.is_wrong(&kept).then(|| violation_of(calls, &kept))
}

/// The calls up to the return that the search could not pass; what had not returned by then is open.
fn until_contradiction(
    model: &dyn SequentialModel,
    partition: &CallPartition,
    verdict: &PartitionVerdict,
) -> Vec<TimedCall> {
    let stuck = partition.calls.iter().find(|one| Some(one.invocation) == verdict.stuck);
    let end = stuck.and_then(|one| one.completion).unwrap_or(u32::MAX);
    until(model, &partition.calls, end).0
}

struct Minimizer<'a> {
    model: &'a dyn SequentialModel,
    calls: &'a [TimedCall],
    /// Judges calls, each with its place.
    search: &'a dyn Fn(Vec<(u32, TimedCall)>) -> SearchEnd,
    searches_max: usize,
    searches: usize,
}

impl Minimizer<'_> {
    /// Of `candidates`, those that a contradiction needs beside what is `certain`; `has_grown` says whether that is more than when it
    /// was judged last.
    fn explain(&mut self, certain: &[u32], has_grown: bool, candidates: &[u32]) -> Vec<u32> {
        if has_grown && self.is_wrong(certain) {
            return Vec::new();
        }
        if candidates.len() <= 1 {
            return candidates.to_vec();
        }
        let (first, second) = candidates.split_at(candidates.len() / 2);
        let with_first = [certain, first].concat();
        let of_second = self.explain(&with_first, true, second);
        let with_second = [certain, &of_second].concat();
        let of_first = self.explain(&with_second, !of_second.is_empty(), first);
        [of_first, of_second].concat()
    }

    /// Whether the calls that are kept contradict each other when all others are free.
    fn is_wrong(&mut self, kept: &[u32]) -> bool {
        self.searches += 1;
        if self.searches > self.searches_max {
            return false;
        }
        let kept: BTreeSet<u32> = kept.iter().copied().collect();
        let is_left =
            |(at, one): &(usize, &TimedCall)| kept.contains(&(*at as u32)) || !self.model.is_readonly(&one.call);
        let left = self.calls.iter().enumerate().filter(is_left);
        let is_optional = |at: u32| !kept.contains(&at);
        let calls = left.map(|(at, one)| (at as u32, TimedCall { is_optional: is_optional(at as u32), ..*one }));
        (self.search)(calls.collect()) == SearchEnd::Invalid
    }
}
