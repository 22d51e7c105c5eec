//! Faults of a test as stretches of its history: what the nemesis started, until it stopped it.
//!
//! ```text
//! :nemesis :start-partition … :nemesis :stop-partition      partition  ├───────────┤
//! ```
//!
//! Names and colours are those of Jepsen. An operation of a named process that begins and ends nothing is a stretch of its own, from
//! its first event to its last.

use crate::history_check::middle;
use crate::html::visible;
use fozzy_check::{OperationHistory, Process};
use serde::Serialize;

/// Stretches that a page shows; further ones are left out.
const BANDS_MAX: usize = 1000;
/// Characters of a name.
const NAME_CHARS_MAX: usize = 40;

/// A stretch: where it begins and ends, its name, its colour, and its times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct FaultBand(
    pub(super) u32,
    pub(super) i64,
    pub(super) String,
    pub(super) &'static str,
    pub(super) Option<i64>,
    pub(super) Option<i64>,
);

/// Names of what ends a fault, beside `stop-…`.
const ENDS: &[(&str, &str)] = &[
    ("start", "kill"),
    ("restart", "kill"),
    ("resume", "pause"),
    ("heal", "partition"),
    ("reset", "clock"),
    ("reset-clock", "clock"),
    ("stop", "fault"),
];
/// Names of what begins one, beside `start-…`.
const BEGINS: &[(&str, &str)] = &[
    ("kill", "kill"),
    ("pause", "pause"),
    ("partition", "partition"),
    ("bump", "clock"),
    ("bump-clock", "clock"),
    ("strobe", "clock"),
    ("strobe-clock", "clock"),
    ("start", "fault"),
];
/// Colours of faults whose name has a word.
const COLOURS: &[(&str, &str)] = &[
    ("kill", "E9A4A0"),
    ("pause", "A0B1E9"),
    ("partition", "E9DCA0"),
    ("packet", "D1E8A0"),
    ("clock", "A0E9E3"),
    ("file", "99F2E2"),
];
const OTHER_COLOUR: &str = "CCCCCC";

/// The stretches of a history; times count from `start`.
pub(super) fn fault_bands(history: &OperationHistory, start: i64) -> Vec<FaultBand> {
    /// What is under way, or ended last: its place among the bands, and what ended it.
    struct Course {
        name: String,
        band: usize,
        ended_by: Option<String>,
    }
    let mut bands: Vec<FaultBand> = Vec::new();
    let mut courses: Vec<Course> = Vec::new();
    for (at, operation) in (0u32..).zip(&history.operations) {
        if !matches!(operation.process, Process::Named(_)) {
            continue;
        }
        let function = history.function_name(operation);
        let time = operation.time.map(|time| time.saturating_sub(start));
        let is_open = |name: &str| courses.iter().any(|one| one.name == name && one.ended_by.is_none());
        let stopped = function.strip_prefix("stop-").or_else(|| function.strip_prefix("heal-"));
        let named = ENDS.iter().find(|(end, name)| *end == function && is_open(name)).map(|(_, name)| *name);
        let again = courses.iter().rev().find(|one| one.ended_by.as_deref() == Some(function));
        let ended = stopped.or(named).or(again.map(|one| one.name.as_str())).map(str::to_owned);
        if let Some(name) = ended
            && let Some(course) = courses.iter_mut().rev().find(|one| one.name == name)
        {
            // Its completion, if this was its invocation, comes later.
            let band = &mut bands[course.band];
            (band.1, band.5) = (i64::from(at), time);
            course.ended_by = Some(function.to_owned());
            continue;
        }
        let begun = function.strip_prefix("start-").map(str::to_owned);
        let begun = begun.or_else(|| BEGINS.iter().find(|(begin, _)| *begin == function).map(|row| row.1.to_owned()));
        let is_momentary = begun.is_none();
        let name = begun.unwrap_or_else(|| function.to_owned());
        if let Some(course) = courses.iter().find(|one| one.name == name && one.ended_by.is_none()) {
            if is_momentary {
                let band = &mut bands[course.band];
                (band.1, band.5) = (i64::from(at), time);
                courses.retain(|one| one.name != name);
            }
            continue;
        }
        if bands.len() == BANDS_MAX {
            break;
        }
        courses.retain(|one| one.name != name);
        let words = name.to_lowercase();
        let colour = COLOURS.iter().find(|(word, _)| words.contains(word)).map_or(OTHER_COLOUR, |(_, colour)| *colour);
        let end = if is_momentary { i64::from(at) } else { -1 };
        let shown = visible(&middle(&name, NAME_CHARS_MAX));
        bands.push(FaultBand(at, end, shown, colour, time, time.filter(|_| is_momentary)));
        courses.push(Course { name, band: bands.len() - 1, ended_by: None });
    }
    bands
}
