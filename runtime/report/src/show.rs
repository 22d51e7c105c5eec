//! The history, one line a call.
//!
//! ```text
//!    3      2us n0 ? wasi:random/insecure-seed.insecure-seed() -> 8123…, 991…
//!    4      2us n0   wasi:io/streams.output-stream.write(1, "hi\n" (3 bytes)) -> ok
//! ```
//!
//! A question mark marks a decision; everything else followed from the state of the computer.

use crate::document::DivergenceDocument;
use fozzy_trace::{Duration, HistoryEntry};

/// One call in one line.
#[must_use]
pub fn entry_line(entry: &HistoryEntry) -> String {
    let mark = if entry.decision { '?' } else { ' ' };
    let call = entry.call.strip_prefix("wasi:").unwrap_or(&entry.call);
    let at = entry.at.to_string();
    let mut line = format!("{:>8} {:>14} {} {mark} {call}({})", entry.index, at, entry.node, entry.asked);
    if !entry.answer.is_empty() {
        line.push_str(" -> ");
        line.push_str(&entry.answer);
    }
    line
}

/// A divergence, recorded and asked under each other.
#[must_use]
pub fn divergence_lines(divergence: &DivergenceDocument) -> String {
    let side = |entry: &Option<HistoryEntry>, ended: &str| entry.as_ref().map_or_else(|| ended.to_owned(), entry_line);
    format!(
        "first divergence at call {}, virtual time {}\n  recorded {}\n  asked    {}\n",
        divergence.index,
        Duration(divergence.virtual_time_ns),
        side(&divergence.recorded, "nothing: the recording had ended"),
        side(&divergence.asked, "nothing: the program had ended"),
    )
}
