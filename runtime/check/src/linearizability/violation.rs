//! Where a violation lies: the first return by which no order is legal, and an order of all that came before it.
//!
//! ```text
//! write 1 ├─┤   write 2 ├─┤   read → 1 ├──┤   read → 2 ├──┤
//!                                         ▲ an order until here     ▲ none until here, so this one is to blame
//! ```
//!
//! What has an order has one up to each of its returns. So the first return without one is found by halving, and each beginning is
//! judged by whatever judges it fastest. Of calls that had not returned by then, it is still known what they returned later.
//!
//! Invariant: what is called the longest order is one of all calls that had returned before the first return without any.
//! Not here: the smallest part of a violation (`minimize`).

use super::search::{SearchBudget, SearchEnd, search};
use super::timeline::TimedCall;
use super::{CheckLimits, unique};
use crate::history::{DatumId, DatumPool};
use crate::model::{ModelRow, SequentialModel};
use std::collections::BTreeMap;

/// Configurations of one search, beside some for each call.
const CONFIGURATIONS: usize = 1 << 16;
/// Bytes of one search.
const BYTES_MAX: usize = 1 << 28;

/// Where a violation lies.
pub(super) struct ViolationPlace {
    /// A legal order of calls, by their places.
    pub(super) order: Vec<u32>,
    /// The state after it.
    pub(super) state: Vec<u8>,
    /// The call by whose return no order is legal; none if that was not found.
    pub(super) stuck: Option<u32>,
    /// Returns that the order has behind it, and how many there are.
    pub(super) returns: (usize, usize),
    /// Whether no order gets further.
    pub(super) is_longest: bool,
}

/// A call that returned what nobody had brought by then, if there is one.
pub(super) fn unbrought(model: &dyn SequentialModel, calls: &[TimedCall]) -> Option<usize> {
    let first = first_brought(model, calls);
    let is_wrong = |one: &TimedCall| {
        let shown = model.shows(&one.call).zip(one.completion);
        shown.is_some_and(|(value, end)| first.get(&value).is_none_or(|begin| *begin > end))
    };
    let wrong = calls.iter().enumerate().filter(|(_, one)| !one.is_optional && is_wrong(one));
    wrong.min_by_key(|(_, one)| one.completion).map(|(at, _)| at)
}

/// When a call first brings each value, which it may as soon as it is invoked.
fn first_brought(model: &dyn SequentialModel, calls: &[TimedCall]) -> BTreeMap<DatumId, u32> {
    let mut first = BTreeMap::new();
    if calls.iter().all(|one| model.shows(&one.call).is_none()) {
        return first;
    }
    for (one, value) in calls.iter().filter_map(|one| Some((one, model.brings(&one.call)?))) {
        let begin = first.entry(value).or_insert(one.invocation);
        *begin = one.invocation.min(*begin);
    }
    first
}

/// The calls up to an event, with their places: what had not returned by then is open, and what cannot have changed anything is left out.
pub(super) fn until(model: &dyn SequentialModel, calls: &[TimedCall], end: u32) -> (Vec<TimedCall>, Vec<u32>) {
    let before: Vec<(TimedCall, u32)> = calls
        .iter()
        .zip(0..)
        .filter(|(one, _)| one.invocation <= end)
        .map(|(one, at)| (TimedCall { completion: one.completion.filter(|at| *at <= end), ..*one }, at))
        .filter(|(one, _)| one.completion.is_some() || !model.is_readonly(&one.call))
        .collect();
    let is_shown_by_open = |one: &TimedCall| one.completion.is_none() && model.shows(&one.call).is_some();
    if !before.iter().any(|(one, _)| is_shown_by_open(one)) {
        return before.into_iter().unzip();
    }
    let brought = first_brought(model, &before.iter().map(|(one, _)| *one).collect::<Vec<_>>());
    let is_possible = |one: &TimedCall| {
        !is_shown_by_open(one) || model.shows(&one.call).is_none_or(|value| brought.contains_key(&value))
    };
    before.into_iter().filter(|(one, _)| is_possible(one)).unzip()
}

/// Finds where calls that are not linearizable violate the model.
pub(super) fn locate(
    pool: &DatumPool,
    row: &ModelRow<'_>,
    calls: &[TimedCall],
    limits: &CheckLimits<'_>,
) -> ViolationPlace {
    let mut ends: Vec<(u32, u32)> = calls.iter().zip(0..).filter_map(|(one, at)| Some((one.completion?, at))).collect();
    ends.sort_unstable();
    // There is an order until `good` returns, and none until `bad`.
    let (mut good, mut bad) = (0, ends.len());
    let mut is_known = true;
    while bad - good > 1 && is_known {
        let middle = good.midpoint(bad);
        match is_legal(pool, row, &until(row.model, calls, ends[middle - 1].0).0, limits) {
            Some(true) => good = middle,
            Some(false) => bad = middle,
            None => is_known = false,
        }
    }
    let until_good = good.checked_sub(1).map_or(0, |at| ends[at].0);
    let (before, places) = if good == 0 { (Vec::new(), Vec::new()) } else { until(row.model, calls, until_good) };
    let found = search(pool, row.model, &before, &budget(before.len(), limits));
    ViolationPlace {
        order: found.order.iter().map(|at| places[*at as usize]).collect(),
        state: found.state,
        stuck: ends.get(bad - 1).map(|end| end.1).filter(|_| is_known),
        returns: (found.returns.0, ends.len()),
        is_longest: is_known && found.end == SearchEnd::Valid,
    }
}

fn budget<'a>(calls: usize, limits: &CheckLimits<'a>) -> SearchBudget<'a> {
    SearchBudget {
        configurations_max: CONFIGURATIONS + 4 * calls,
        bytes_max: limits.memory_bytes_max.min(BYTES_MAX),
        is_over: limits.is_over,
        looks_ahead: true,
    }
}

/// Whether calls have a legal order; `None` if that takes too long.
fn is_legal(pool: &DatumPool, row: &ModelRow<'_>, calls: &[TimedCall], limits: &CheckLimits<'_>) -> Option<bool> {
    if (limits.is_over)() {
        return None;
    }
    if unbrought(row.model, calls).is_some() {
        return Some(false);
    }
    if let Some(is_legal) = unique::is_linearizable(pool, row.name, calls) {
        return Some(is_legal);
    }
    match search(pool, row.model, calls, &budget(calls.len(), limits)).end {
        SearchEnd::Valid => Some(true),
        SearchEnd::Invalid => Some(false),
        SearchEnd::Configurations | SearchEnd::Memory | SearchEnd::Time | SearchEnd::Width => None,
    }
}
