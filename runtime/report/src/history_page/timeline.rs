//! Calls of a history with their places, as the script of the page reads them.
//!
//! ```text
//! {"functions": ["read"], "calls": [[part, from, to, outcome, process, function, asked, answered, index, line, begun, ended], …],
//!  "parts": [{"key": "3", "validity": "invalid", "order": [0, 2], "minimal": [1], "stuck": 1}], "faults": […]}
//! ```
//!
//! Invariants: what is shown is bounded, parts that are wrong first, and what was left out is said; the JSON has no character that ends
//! the element it stands in. Not here: where something is drawn (`page.js`).

use super::fault_bands::{FaultBand, fault_bands};
use crate::history_check::middle;
use crate::html::visible;
use fozzy_check::{ClientCall, DatumId, OperationHistory, OperationType, Process, Validity};
use fozzy_trace::grouped;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Most calls of one history that a page shows. A browser draws this many in a few milliseconds.
const CALLS_MAX: usize = 20_000;
/// Characters of a value in the page.
const VALUE_CHARS_MAX: usize = 160;

/// Calls of a history that were judged together, as positions of their invocations.
#[derive(Clone, Debug)]
pub struct TimelinePart {
    /// Their key, if the history is parted.
    pub key: Option<DatumId>,
    /// The verdict.
    pub validity: Validity,
    /// All calls.
    pub calls: Vec<u32>,
    /// The longest legal order.
    pub order: Vec<u32>,
    /// Calls that contradict each other, or show an anomaly.
    pub minimal: Vec<u32>,
    /// The call that cannot take effect after the order.
    pub stuck: Option<u32>,
}

/// What a page shows of the calls of a history.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HistoryTimeline {
    functions: Vec<String>,
    processes: Vec<String>,
    calls: Vec<TimelineCall>,
    parts: Vec<ShownPart>,
    faults: Vec<FaultBand>,
    /// The part that is shown first; -1 for all.
    first: i64,
    /// Calls of the history.
    #[serde(skip)]
    all: usize,
}

/// A call: its part, where it begins and ends, its outcome, who, which function, what was asked and answered, its index, its line, and
/// its times.
#[derive(Clone, Debug, Serialize)]
struct TimelineCall(
    usize,
    u32,
    i64,
    u8,
    usize,
    usize,
    Option<String>,
    Option<String>,
    u64,
    u32,
    Option<i64>,
    Option<i64>,
);

/// A part, whose calls are numbers of those that are shown.
#[derive(Clone, Debug, Serialize)]
struct ShownPart {
    key: Option<String>,
    validity: &'static str,
    /// How many calls it has, shown or not.
    calls: usize,
    order: Vec<usize>,
    minimal: Vec<usize>,
    stuck: Option<usize>,
}

impl HistoryTimeline {
    /// The timeline of a history's calls, by parts.
    #[must_use]
    pub fn new(history: &OperationHistory, calls: &[ClientCall], parts: &[TimelinePart]) -> HistoryTimeline {
        let start = history.operations.iter().filter_map(|one| one.time).min().unwrap_or(0);
        let mut processes: Vec<Process> =
            calls.iter().map(|call| history.operations[call.invocation as usize].process).collect();
        processes.sort_unstable();
        processes.dedup();
        let name = |process: &Process| match process {
            Process::Client(number) => number.to_string(),
            Process::Named(name) => shown_value(history, *name),
            Process::Unknown => "-".to_owned(),
        };
        let mut timeline = HistoryTimeline {
            processes: processes.iter().map(name).collect(),
            faults: fault_bands(history, start),
            all: calls.len(),
            ..HistoryTimeline::default()
        };
        let mut functions: BTreeMap<DatumId, usize> = BTreeMap::new();
        let parts = with_unjudged(history, calls, parts);
        let mut order: Vec<&TimelinePart> = parts.iter().collect();
        order.sort_by_key(|part| match part.validity {
            Validity::Invalid => 0,
            Validity::Unknown => 1,
            Validity::Valid => 2,
        });
        for part in order {
            let room = CALLS_MAX - timeline.calls.len();
            if room == 0 {
                break;
            }
            let number = timeline.parts.len();
            let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
            for position in shown_calls(part, room) {
                let Ok(at) = calls.binary_search_by_key(&position, |call| call.invocation) else { continue };
                let function = history.operations[position as usize].function;
                let functions_next = functions.len();
                let function = *functions.entry(function).or_insert_with(|| {
                    let name = history.function_name(&history.operations[position as usize]);
                    timeline.functions.push(visible(&middle(name, VALUE_CHARS_MAX)));
                    functions_next
                });
                let process = history.operations[position as usize].process;
                let process = processes.binary_search(&process).unwrap_or_default();
                numbers.insert(position, timeline.calls.len());
                timeline.calls.push(shown_call(history, &calls[at], part.key, [number, process, function], start));
            }
            let known = |positions: &[u32]| positions.iter().filter_map(|one| numbers.get(one).copied()).collect();
            timeline.parts.push(ShownPart {
                key: part.key.map(|key| shown_value(history, key)),
                validity: match part.validity {
                    Validity::Valid => "valid",
                    Validity::Unknown => "unknown",
                    Validity::Invalid => "invalid",
                },
                calls: part.calls.len(),
                order: known(&part.order),
                minimal: known(&part.minimal),
                stuck: part.stuck.and_then(|one| numbers.get(&one).copied()),
            });
        }
        timeline
    }

    /// Whether there is nothing to be drawn.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether some calls are marked.
    pub(super) fn has_marks(&self) -> bool {
        self.parts.iter().any(|part| !part.minimal.is_empty())
    }

    /// Whether a legal order is shown, and the call that ends it.
    pub(super) fn has_order(&self) -> bool {
        self.parts.iter().any(|part| part.stuck.is_some())
    }

    /// Names of faults with their colours.
    pub(super) fn fault_kinds(&self) -> BTreeSet<(&str, &str)> {
        self.faults.iter().map(|band| (band.2.as_str(), band.3)).collect()
    }

    /// What was left out, if something was.
    pub(super) fn cut_words(&self) -> Option<String> {
        let (shown, all) = (self.calls.len(), self.all);
        (shown < all).then(|| {
            let [shown, all] = [shown, all].map(|count| grouped(count as u64));
            format!("{shown} of {all} calls are shown: those of parts that are wrong first, nearest to what is wrong.")
        })
    }

    /// The JSON, in characters that end no element and start no comment.
    pub(super) fn json(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '<' | '>' | '&' => out.push_str(&format!("\\u{:04x}", c as u32)),
                c => out.push(c),
            }
        }
        out
    }
}

/// The calls of a part that are shown, at most `room`: the marked ones, and those nearest to them.
fn shown_calls(part: &TimelinePart, room: usize) -> Vec<u32> {
    if part.calls.len() <= room {
        return part.calls.clone();
    }
    let centre = part.stuck.or(part.minimal.last().copied()).unwrap_or(0);
    let marked: BTreeSet<u32> = part.minimal.iter().copied().chain(part.stuck).take(room / 2).collect();
    let rest: Vec<u32> = part.calls.iter().copied().filter(|call| !marked.contains(call)).collect();
    let left = (room - marked.len()).min(rest.len());
    let after = rest.partition_point(|call| *call < centre);
    let from = after.saturating_sub(left / 2).min(rest.len() - left);
    let mut shown: BTreeSet<u32> = rest[from..from + left].iter().copied().collect();
    shown.extend(marked);
    shown.into_iter().collect()
}

/// The parts with calls of their keys that say nothing, such as writes that failed: they were not judged, and are shown.
fn with_unjudged(history: &OperationHistory, calls: &[ClientCall], parts: &[TimelinePart]) -> Vec<TimelinePart> {
    let mut parts = parts.to_vec();
    let judged: BTreeSet<u32> = parts.iter().flat_map(|part| part.calls.iter().copied()).collect();
    let places: BTreeMap<Option<DatumId>, usize> = parts.iter().enumerate().map(|(at, part)| (part.key, at)).collect();
    for call in calls.iter().filter(|call| !judged.contains(&call.invocation)) {
        let invoked = &history.operations[call.invocation as usize];
        let field = history.pool.entry(invoked.extra, "key");
        let pair = history.pool.pair(invoked.value).map(|(key, _)| key);
        if let Some(at) = [None, field, pair].iter().find_map(|key| places.get(key)) {
            parts[*at].calls.push(call.invocation);
        }
    }
    parts.iter_mut().for_each(|part| part.calls.sort_unstable());
    parts
}

fn shown_call(
    history: &OperationHistory,
    call: &ClientCall,
    key: Option<DatumId>,
    [part, process, function]: [usize; 3],
    start: i64,
) -> TimelineCall {
    let invoked = &history.operations[call.invocation as usize];
    let completed = call.completion.map(|at| &history.operations[at as usize]);
    // The key of a part stands in its name.
    let bare = |id: DatumId| match history.pool.pair(id) {
        Some((found, value)) if Some(found) == key => value,
        _ => id,
    };
    let argument = bare(invoked.value);
    let answered = completed.filter(|one| one.kind == OperationType::Ok && one.value != invoked.value);
    let outcome = match call.outcome {
        OperationType::Ok => 0,
        OperationType::Fail => 1,
        OperationType::Info | OperationType::Invoke => 2,
    };
    TimelineCall(
        part,
        call.invocation,
        call.completion.map_or(-1, i64::from),
        outcome,
        process,
        function,
        (!argument.is_nil()).then(|| shown_value(history, argument)),
        answered.map(|one| shown_value(history, bare(one.value))),
        invoked.index,
        invoked.line,
        invoked.time.map(|time| time.saturating_sub(start)),
        completed.and_then(|one| one.time).map(|time| time.saturating_sub(start)),
    )
}

fn shown_value(history: &OperationHistory, value: DatumId) -> String {
    visible(&middle(&history.pool.edn(value), VALUE_CHARS_MAX))
}
