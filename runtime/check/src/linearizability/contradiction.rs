//! Of calls whose values are distinct, a smallest part that contradicts itself.
//!
//! ```text
//! enqueue 1 · enqueue 2 · enqueue 3 · dequeue 2 · dequeue 3 · dequeue 1     ──▶     1 and 2, whatever becomes of 3
//! ```
//!
//! Without all calls of a value, what was legal is legal: the others never met it. The same is so without a call that changes nothing.
//! So values are left out, half of them first (QuickXplain: Junker, 2004), each part judged again by the polynomial algorithm. Not so
//! beside takes of which nothing is known: these may take what is left out.
//!
//! Invariant: the part is wrong alone, and so with whatever else happened; without any value of it, it is not.

use super::timeline::TimedCall;
use super::unique::is_linearizable;
use crate::history::{DatumId, DatumPool};
use crate::model::ModelAction;
use std::collections::BTreeMap;

/// Places of the calls of a smallest part that is wrong; `None` if there is no such algorithm, or the calls are not wrong by it.
pub(super) fn contradiction(
    pool: &DatumPool,
    model: &str,
    calls: &[TimedCall],
    is_over: &dyn Fn() -> bool,
) -> Option<Vec<u32>> {
    let mut values: BTreeMap<DatumId, Vec<u32>> = BTreeMap::new();
    // Calls that change nothing stand alone.
    let mut units: Vec<Vec<u32>> = Vec::new();
    for (one, at) in calls.iter().zip(0..) {
        let value = match one.call.action {
            ModelAction::Write | ModelAction::Insert => Some(one.call.argument),
            _ => one.call.result,
        };
        match value {
            // One that is left out may be what this took: only the search can tell.
            None => return None,
            Some(DatumId::NIL) => units.push(vec![at]),
            Some(value) => values.entry(value).or_default().push(at),
        }
    }
    units.extend(values.into_values());
    // Of several contradictions, the one that is nearest to the end.
    units.sort_unstable_by_key(|unit| std::cmp::Reverse(unit.first().copied()));
    let parts = UnitSearch { pool, model, calls, is_over };
    if !parts.is_wrong(&units) {
        return None;
    }
    let kept = parts.explain(&[], false, &units);
    // Reads of a value do not need each other.
    let is_read = |at: &u32| calls[*at as usize].call.action == ModelAction::Read;
    let (reads, others): (Vec<u32>, Vec<u32>) = kept.into_iter().flatten().partition(is_read);
    let reads: Vec<Vec<u32>> = reads.into_iter().map(|at| vec![at]).collect();
    let mut kept = others.clone();
    if !reads.is_empty() {
        kept.extend(parts.explain(&[others], true, &reads).into_iter().flatten());
    }
    kept.sort_unstable();
    (!is_over() && parts.is_wrong(std::slice::from_ref(&kept))).then_some(kept)
}

struct UnitSearch<'a> {
    pool: &'a DatumPool,
    model: &'a str,
    calls: &'a [TimedCall],
    is_over: &'a dyn Fn() -> bool,
}

impl UnitSearch<'_> {
    /// Of some units, those that a contradiction needs beside what is kept; `has_grown` says whether that is more than when it was judged
    /// last.
    fn explain(&self, kept: &[Vec<u32>], has_grown: bool, units: &[Vec<u32>]) -> Vec<Vec<u32>> {
        if (self.is_over)() || has_grown && self.is_wrong(kept) {
            return Vec::new();
        }
        if units.len() <= 1 {
            return units.to_vec();
        }
        let (first, second) = units.split_at(units.len() / 2);
        let of_second = self.explain(&[kept, first].concat(), true, second);
        let of_first = self.explain(&[kept, &of_second].concat(), !of_second.is_empty(), first);
        [of_first, of_second].concat()
    }

    fn is_wrong(&self, units: &[Vec<u32>]) -> bool {
        let mut places: Vec<u32> = units.iter().flatten().copied().collect();
        places.sort_unstable();
        let calls: Vec<TimedCall> = places.iter().map(|at| self.calls[*at as usize]).collect();
        is_linearizable(self.pool, self.model, &calls) == Some(false)
    }
}
