//! A run as it is at a moment: who waits for what, what stands on the disks, what was called last, what is in memory.
//!
//! ```text
//! sort.fozzy at 1.5s: after 12 calls and 3 decisions
//!   task      main      waits for the moment 2s
//!   timer     2s        main: the moment 2s
//!   file      main:/tmp/a.txt        12 bytes
//!   event           11         1.5s n0   …
//!   memory    main      1114112 bytes, 9c41…
//! ```
//!
//! Invariant: the text says nothing that the document does not.

use crate::pretty::Style;
use crate::pretty::{counted, fit, place_from};
use crate::show::{MachineNames, entry_line, folded};
use fozzy_check::is_own;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::{Digest, HistoryEntry, Instant, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `fozzy.state.v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateDocument {
    /// Always `fozzy.state.v1`.
    pub schema_version: String,
    /// Whose run it is.
    pub trace: String,
    /// Its seed.
    pub seed: Seed,
    /// Virtual time, in nanoseconds.
    pub virtual_time_ns: u64,
    /// Calls that were answered.
    pub calls: u64,
    /// Decisions that were taken.
    pub decisions: u64,
    /// Where a scenario is, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// Guests, by machine.
    pub tasks: Vec<TaskState>,
    /// Pending timers and deliveries, in order.
    pub timers: Vec<TimerState>,
    /// What stands on the disks.
    pub files: Vec<FileState>,
    /// Whether there are more files than these.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files_more: bool,
    /// The last calls.
    pub events: Vec<HistoryEntry>,
    /// What is in memory.
    pub memory: Vec<MemoryState>,
}

/// One guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskState {
    /// Its machine.
    pub node: String,
    /// `runs`, `waits`, `ended`.
    pub state: String,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// Its stack, innermost first, if it came to the moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<StackFrame>,
}

/// A pending timer or delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimerState {
    /// When, in nanoseconds of virtual time.
    pub virtual_time_ns: u64,
    /// The machine whose guest waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What.
    pub what: String,
}

/// A name on a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileState {
    /// The machine.
    pub node: String,
    /// The absolute path.
    pub path: String,
    /// `file`, `directory`, `link`.
    pub kind: String,
    /// Bytes of a file, or of the text of a link.
    pub size_bytes: u64,
}

/// The memory of one guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryState {
    /// Its machine.
    pub node: String,
    /// Bytes of all its memories.
    pub size_bytes: u64,
    /// What stands in them.
    pub digest: Digest,
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<SymbolState>,
}

/// A stretch of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SymbolState {
    /// Its name, or its address.
    pub name: String,
    /// Where it begins.
    pub address: u64,
    /// The bytes, as hexadecimal digits.
    pub hex: String,
    /// The number that they are, when they could be one of 1, 2, 4 or 8 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
}

impl SymbolState {
    /// What stands at an address.
    #[must_use]
    pub fn new(name: &str, address: u64, bytes: &[u8]) -> SymbolState {
        let mut word = [0; 8];
        let number = matches!(bytes.len(), 1 | 2 | 4 | 8).then(|| {
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        SymbolState { name: name.to_owned(), address, hex: fozzy_trace::digest::hex(bytes), number }
    }
}

/// Characters of a frame's line beside its function and its place.
const FRAME_MARGIN: usize = 16;
/// Frames of a stack that are shown.
const FRAMES_SHOWN: usize = 8;
/// Characters of bytes in one line.
const HEX_SHOWN: usize = 64;

/// The state for people.
#[must_use]
pub fn state_lines(state: &StateDocument, names: &MachineNames, style: Style) -> String {
    let mut text = format!(
        "{} at {}: after {} and {}",
        state.trace,
        Instant(state.virtual_time_ns),
        counted(state.calls, "call"),
        counted(state.decisions, "decision")
    );
    text.extend(state.position.iter().flat_map(|position| [", in ", position]));
    let mut text = folded(&text, style);
    let mut row = |key: &str, value: &str| text.push_str(&folded(&format!("  {key:<9} {value}"), style));
    for task in &state.tasks {
        let waits = task.waits_for.join(", or ");
        let waits = if waits.is_empty() { waits } else { format!(" for {waits}") };
        row("task", &format!("{:<9} {}{waits}", task.node, task.state));
        // The program's own frames, where they are known: the function that waits is one of a library.
        let own = |frame: &&StackFrame| is_own(frame);
        let any_own = task.stack.iter().any(is_own);
        let shown: Vec<&StackFrame> =
            task.stack.iter().filter(|frame| !any_own || own(frame)).take(FRAMES_SHOWN).collect();
        for frame in &shown {
            let place = place_from(frame, style);
            let function = fit(&frame.function, style.room(FRAME_MARGIN + place.chars().count()));
            row("", &format!("  {function}  {place}"));
        }
        if shown.len() < task.stack.len() {
            row("", &format!("  … {} in libraries", task.stack.len() - shown.len()));
        }
    }
    for TimerState { virtual_time_ns, node, what } in &state.timers {
        let at = Instant(*virtual_time_ns).to_string();
        row("timer", &format!("{at:<9} {}{what}", node.as_ref().map(|node| format!("{node}: ")).unwrap_or_default()));
    }
    for FileState { node, path, kind, size_bytes } in &state.files {
        let size = if kind == "directory" { String::new() } else { format!("  {}", counted(*size_bytes, "byte")) };
        row("file", &format!("{node}:{path}  {kind}{size}"));
    }
    if state.files_more {
        row("", "and more");
    }
    for entry in &state.events {
        row("event", &entry_line(entry, names));
    }
    for MemoryState { node, size_bytes, digest, symbols } in &state.memory {
        row("memory", &format!("{node:<9} {}, SHA-256 {}", counted(*size_bytes, "byte"), digest.short()));
        for SymbolState { name, address, hex, number } in symbols {
            let number = number.map(|number| format!("  {number}")).unwrap_or_default();
            let cut = if hex.len() > HEX_SHOWN { "…" } else { "" };
            let hex = hex.get(..HEX_SHOWN).unwrap_or(hex);
            row("", &format!("{name} at {address:#x}: {hex}{cut}{number}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_of_memory_is_a_number_when_it_can_be() {
        assert_eq!(SymbolState::new("x", 16, &[1, 2, 0, 0]).number, Some(513));
        let odd = SymbolState::new("x", 16, &[1, 2, 3]);
        assert_eq!((odd.number, odd.hex.as_str()), (None, "010203"));
    }
}
