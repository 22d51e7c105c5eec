//! The history, one line a call.
//!
//! ```text
//!    3      2us main ? wasi:random/insecure-seed.insecure-seed() -> 8123…, 991…
//!    4      2us main   wasi:io/streams.output-stream.write(1, "hi\n" (3 bytes)) -> ok
//!    5      2us main ! write-error on /data/log
//! ```
//!
//! A question mark marks a decision; everything else followed from the state of the computer. An exclamation mark is a fault that
//! strikes the call whose number stands there.

use crate::document::DivergenceDocument;
use fozzy_trace::{Aside, Duration, HistoryEntry, NodeId, Plan};

/// The names of the machines of a run, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct MachineNames(Vec<String>);

impl MachineNames {
    /// The machines of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> MachineNames {
        MachineNames::after_main(plan.nodes.iter().map(|node| node.name.clone()))
    }

    /// The main machine, and these.
    pub(crate) fn after_main(others: impl IntoIterator<Item = String>) -> MachineNames {
        MachineNames(others.into_iter().collect())
    }

    /// All of them, in the order of their numbers.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        std::iter::once(MAIN.to_owned()).chain(self.0.iter().cloned()).collect()
    }

    /// The name of a machine; of one that was started during the run, its number.
    #[must_use]
    pub fn name(&self, node: NodeId) -> String {
        match node.0 {
            0 => MAIN.to_owned(),
            number => self.0.get(number as usize - 1).cloned().unwrap_or_else(|| node.to_string()),
        }
    }

    /// Characters of the longest one that is no longer than others commonly are.
    fn width(&self) -> usize {
        self.0.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(MAIN.len(), NAME_WIDTH_MAX)
    }
}

/// The name of the machine that runs the target.
const MAIN: &str = "main";
/// Column of names; longer ones push their own line aside.
const NAME_WIDTH_MAX: usize = 12;

/// One call, or a strike of a fault, in one line.
#[must_use]
pub fn entry_line(entry: &HistoryEntry, names: &MachineNames) -> String {
    let at = entry.at.to_string();
    let (name, width) = (names.name(entry.node), names.width());
    let start = format!("{:>8} {at:>14} {name:<width$}", entry.index);
    if Aside::of(entry) == Some(Aside::Fault) {
        let how = if entry.answer.is_empty() { String::new() } else { format!(" ({})", entry.answer) };
        return format!("{start} ! {}{how}", entry.asked);
    }
    let mark = if entry.decision { '?' } else { ' ' };
    let call = entry.call.strip_prefix("wasi:").unwrap_or(&entry.call);
    let mut line = format!("{start} {mark} {call}({})", entry.asked);
    if !entry.answer.is_empty() {
        line.push_str(" -> ");
        line.push_str(&entry.answer);
    }
    line
}

/// A divergence, recorded and asked under each other.
#[must_use]
pub fn divergence_lines(divergence: &DivergenceDocument, names: &MachineNames) -> String {
    let side = |entry: &Option<HistoryEntry>, ended: &str| {
        entry.as_ref().map_or_else(|| ended.to_owned(), |entry| entry_line(entry, names))
    };
    format!(
        "first divergence at call {}, virtual time {}\n  recorded {}\n  asked    {}\n",
        divergence.index,
        Duration(divergence.virtual_time_ns),
        side(&divergence.recorded, "nothing: the recording had ended"),
        side(&divergence.asked, "nothing: the program had ended"),
    )
}
