//! What goes wrong in a run, as stretches: from the event that begins a fault until the one that ends it.
//!
//! ```text
//! event "partition", "n0 does not hear n1" … event "heal"      partition ├──────────┤
//! ```
//!
//! Events that begin nothing are moments.

use super::{NOTE_ORDER, TEXT_BYTES_MAX};
use crate::html::visible;
use crate::profile::RunActivity;
use fozzy_trace::cut;
use serde::Serialize;
use std::collections::BTreeSet;

/// The call by which a program tells an event.
const EVENT: &str = "fozzy:events/journal.event";
/// What begins a fault and what ends it, where that is not called `end of` it.
const ENDS: [(&str, &str); 5] = [
    ("partition", "heal"),
    ("kill", "start"),
    ("power-loss", "power is back"),
    ("pause", "resume"),
    ("clock", "reset clocks"),
];
/// Colours of faults, by the beginnings of their names, as Jepsen has them.
const COLOURS: [(&str, &str); 7] = [
    ("kill", "E9A4A0"),
    ("power", "E9A4A0"),
    ("pause", "A0B1E9"),
    ("partition", "E9DCA0"),
    ("one-way", "E9DCA0"),
    ("clock", "A0E9E3"),
    ("drift", "A0E9E3"),
];
/// Those of messages.
const OTHER_COLOUR: &str = "D1E8A0";

/// A stretch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct FaultStretch {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) colour: &'static str,
    pub(super) begun: (u64, u64),
    /// Nothing when it lasts until the end.
    pub(super) ended: Option<(u64, u64)>,
}

/// The stretches of a run, in the order of their beginnings.
pub(super) fn fault_stretches(activity: &RunActivity) -> Vec<FaultStretch> {
    let mut stretches: Vec<FaultStretch> = Vec::new();
    let told: Vec<(u64, String, String)> = activity
        .events
        .iter()
        .filter(|event| event.entry.call == EVENT)
        .map(|event| {
            // Two texts in quotes, the second of which may be cut.
            let asked = event.entry.asked.trim_start_matches('"');
            let (name, text) = asked.split_once("\", \"").unwrap_or((asked.trim_end_matches('"'), ""));
            let (name, text) = (name.to_owned(), text.trim_end_matches('"').to_owned());
            (event.entry.at.0, name, text)
        })
        .collect();
    let names: BTreeSet<&str> = told.iter().map(|(_, name, _)| name.as_str()).collect();
    for (at, name, text) in &told {
        // After what was written in the moment before.
        let notes = activity.notes.partition_point(|note| note.at.0 < *at) as u64;
        let moment = (*at, notes * NOTE_ORDER);
        let of =
            ENDS.iter().find(|(_, end)| *end == name).map(|(begin, _)| *begin).or_else(|| name.strip_prefix("end of "));
        if let Some(of) = of {
            if let Some(open) = stretches.iter_mut().rev().find(|one| one.name == of && one.ended.is_none()) {
                open.ended = Some(moment);
            }
            continue;
        }
        let lasts = ENDS.iter().any(|(begin, _)| begin == name) || names.contains(format!("end of {name}").as_str());
        let colour =
            COLOURS.iter().find(|(word, _)| name.starts_with(word)).map_or(OTHER_COLOUR, |(_, colour)| *colour);
        stretches.push(FaultStretch {
            name: visible(&cut(name, TEXT_BYTES_MAX)),
            text: visible(&cut(text, TEXT_BYTES_MAX)),
            colour,
            begun: moment,
            ended: (!lasts && !is_fault(name)).then_some(moment),
        });
    }
    stretches
}

/// Whether a name is that of a fault which may last until the end of the run.
fn is_fault(name: &str) -> bool {
    ["one-way", "delay", "loss", "duplicate", "reorder", "slow", "jam", "drift", "swizzle", "slow-node", "disk"]
        .contains(&name)
}
