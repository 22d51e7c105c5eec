//! A set that is read again and again: once an element is known to be there, it stays.
//!
//! ```text
//! add 1 ok        read #{1}        read #{}                known, seen, missed after: lost
//!      ╰ known         ╰ last present   ╰ last absent      (reads count by when they were invoked)
//! ```
//!
//! A read that is marked `:final? true` stands for what its node has in the end: each of them must have what was known before it, however
//! late another one saw it. The reference holds only the last read of all to that.
//!
//! Stable latency: from when an element is known until the last read that missed it. Elements that a read has twice are
//! reported: the reference promises that, and its code cannot find any.

use super::{CallHistory, CheckerRow, CheckerVerdict, LATENCY};
use crate::history::{ClientCall, DatumId, HistoryError};
use crate::unmatched::one_line;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const SET_FULL: CheckerRow = CheckerRow {
    name: "set-full",
    summary: "an element that is known to be in the set stays there",
    functions: &["add", "broadcast", "read"],
    by_key: true,
    check,
};

/// Quantiles of stable latencies that can have bounds, by their words.
const BOUNDED: [(&str, &str); 4] = [("median", "0.5"), ("p95", "0.95"), ("p99", "0.99"), ("max", "1")];

/// A bound of a stable latency.
pub(crate) struct LatencyBound<'a> {
    words: &'a str,
    quantile: &'static str,
    is_below: bool,
    milliseconds: f64,
}

impl LatencyBound<'_> {
    /// Bounds of stable latencies, such as `median<400ms,max<600ms`.
    ///
    /// # Errors
    /// What is wrong with one, in a sentence.
    pub(crate) fn all(words: &str) -> Result<Vec<LatencyBound<'_>>, String> {
        let bound = |words| LatencyBound::of(words).ok_or(words);
        words.split(',').map(|words| bound(words.trim())).collect::<Result<_, _>>().map_err(|wrong| {
            let names = BOUNDED.map(|(name, _)| name).join(", ");
            format!("expected bounds of the stable latencies {names}, such as max<600ms, found `{}`", one_line(wrong))
        })
    }

    fn of(words: &str) -> Option<LatencyBound<'_>> {
        let at = words.find(['<', '>'])?;
        let (_, quantile) = *BOUNDED.iter().find(|(name, _)| *name == &words[..at])?;
        let milliseconds: f64 = words[at + 1..].strip_suffix("ms")?.parse().ok()?;
        let is_below = words.as_bytes()[at] == b'<';
        milliseconds.is_finite().then_some(LatencyBound { words, quantile, is_below, milliseconds })
    }

    /// The kind of anomaly that it is to be missed.
    pub(crate) fn anomaly(&self) -> String {
        let (name, _) = self.words.split_once(['<', '>']).unwrap_or((self.words, ""));
        format!("{name} {}", if self.is_below { "above its bound" } else { "below its bound" })
    }

    /// What is wrong with what was measured, in a sentence.
    pub(crate) fn missed(&self, verdict: &CheckerVerdict) -> Option<String> {
        let name = format!("{LATENCY} {}", self.quantile);
        let Some((_, measured)) = verdict.counts.iter().find(|(known, _)| *known == name) else {
            return Some(format!("{} is missed: no element has a stable latency", self.words));
        };
        let is_met = match self.is_below {
            true => (*measured as f64) < self.milliseconds,
            false => (*measured as f64) > self.milliseconds,
        };
        (!is_met).then(|| format!("{} is missed: the stable latency is {measured} ms", self.words))
    }
}

/// What is known of an element. Reads are named by the position of their invocation.
#[derive(Clone, Copy, Default)]
struct ElementState {
    added: u32,
    /// Where it was first known: the completion of its addition, or of a read that saw it.
    known: Option<u32>,
    last_present: Option<u32>,
    last_absent: Option<u32>,
}

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let mut elements: BTreeMap<DatumId, ElementState> = BTreeMap::new();
    // A broadcast adds to the set of messages that every node has.
    for call in calls.of("add").chain(calls.of("broadcast")) {
        let state = elements
            .entry(calls.invoked(call).value)
            .or_insert(ElementState { added: call.invocation, ..ElementState::default() });
        let known = call.completion.filter(|_| call.outcome == crate::history::OperationType::Ok);
        state.known = [state.known, known].into_iter().flatten().min();
    }
    let mut reads: Vec<&ClientCall> = calls.ok("read").collect();
    reads.sort_by_key(|call| call.completion);
    for read in reads.iter().filter(|_| calls.has_time()) {
        let seen = calls.elements(read)?;
        let mut once = BTreeSet::new();
        for element in seen {
            if !once.insert(*element) {
                let message = format!("{} is in one read twice", calls.edn(*element));
                verdict.wrong("duplicated", message, &[read.invocation]);
            }
            let Some(state) = elements.get_mut(element) else {
                let message = format!("{} was read and never added", calls.edn(*element));
                verdict.wrong("unexpected", message, &[read.invocation]);
                continue;
            };
            if read.completion < Some(state.added) {
                let message = format!("{} was read before it was added", calls.edn(*element));
                verdict.wrong("unexpected", message, &[read.invocation, state.added]);
                continue;
            }
            // An addition may be acknowledged after a read has seen it.
            state.known = [state.known, read.completion].into_iter().flatten().min();
            state.last_present = state.last_present.max(Some(read.invocation));
        }
    }
    find_absences(calls, &mut reads, &mut elements)?;
    conclude(calls, &elements, verdict);
    Ok(())
}

/// For each element the last read that missed it. Of the elements that are looked at for a read, it has some, and the others are not looked
/// at again: so all reads together cost as much as they are long.
fn find_absences(
    calls: &CallHistory<'_>,
    reads: &mut [&ClientCall],
    elements: &mut BTreeMap<DatumId, ElementState>,
) -> Result<(), HistoryError> {
    reads.sort_by_key(|call| std::cmp::Reverse(call.invocation));
    let mut open: BTreeSet<(u32, DatumId)> = elements.iter().map(|(element, state)| (state.added, *element)).collect();
    for read in reads.iter().filter(|_| calls.has_time()) {
        let seen: BTreeSet<DatumId> = calls.elements(read)?.iter().copied().collect();
        // A read that was over before an element was added says nothing of it.
        let until = (read.completion.unwrap_or(0), DatumId::NIL);
        let missing: Vec<(u32, DatumId)> =
            open.range(..until).filter(|(_, element)| !seen.contains(element)).copied().collect();
        for one in missing {
            open.remove(&one);
            if let Some(state) = elements.get_mut(&one.1) {
                state.last_absent = Some(read.invocation);
            }
        }
    }
    Ok(())
}

fn conclude(calls: &CallHistory<'_>, elements: &BTreeMap<DatumId, ElementState>, verdict: &mut CheckerVerdict) {
    let time = |position: u32| calls.history.operations[position as usize].time;
    let (mut stable, mut lost, mut never_read, mut latencies) = (0, 0, 0, Vec::new());
    for (element, state) in elements {
        let (known, absent) = (state.known, state.last_absent);
        let is_missed_finally =
            matches!((known, absent), (Some(known), Some(absent)) if known < absent && calls.is_final(absent));
        if state.last_present.is_some() && absent < state.last_present && !is_missed_finally {
            stable += 1;
            let stable_time = absent.map_or(Some(0), |at| time(at).map(|time| time.saturating_add(1)));
            if let (Some(from), Some(to)) = (known.and_then(time), stable_time) {
                latencies.push(to.saturating_sub(from).max(0) / 1_000_000);
            }
        } else if let (Some(known), Some(absent)) = (known, absent.filter(|absent| known < Some(*absent))) {
            lost += 1;
            let read = if calls.is_final(absent) { "final" } else { "later" };
            let message = format!("{} was known to be in the set, and a {read} read misses it", calls.edn(*element));
            verdict.wrong("lost", message, &[known, absent]);
        } else {
            never_read += 1;
        }
    }
    verdict.count("attempt-count", elements.len());
    verdict.count("stable-count", stable);
    verdict.count("lost-count", lost);
    verdict.count("never-read-count", never_read);
    latencies.sort_unstable();
    if let Some(last) = latencies.len().checked_sub(1) {
        for (name, percent) in [("0", 0), ("0.5", 50), ("0.95", 95), ("0.99", 99), ("1", 100)] {
            let at = (latencies.len() * percent / 100).min(last);
            verdict.counts.push((format!("{LATENCY} {name}"), latencies[at]));
        }
    }
    if stable == 0 {
        verdict.unknown("none-stable", "no element is known to have stayed");
    }
}
