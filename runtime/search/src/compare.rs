//! Where two executions first differ.
//!
//! ```text
//! marks        = = = ≠           cheap: which stretch of calls
//! entries            = = ≠       both executed again, that stretch kept in full: which call
//! ```

use fozzy_trace::file::{NodeOutcome, RecordedOutcome, StreamDigest};
use fozzy_trace::history::first_difference;
use fozzy_trace::{
    DecisionSource, Execution, ExecutionEnd, Executor, HarnessError, HistoryEntry, HistoryWindow, Instant,
};

/// Calls that are looked at in full at once, while a difference is located: some ten megabytes.
const LOCATE_CALLS_MAX: u64 = 65_536;

/// The first thing in which two outcomes differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeDifference {
    /// What differs: `calls`, `standard output`, `end`, `memory`, `another machine` and so on.
    pub what: &'static str,
    /// On the left side.
    pub left: String,
    /// On the right side.
    pub right: String,
}

/// The first call in which a replay asked or was answered otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallDivergence {
    /// Position in the history.
    pub index: u64,
    /// Virtual time there.
    pub at: Instant,
    /// The call that was recorded; `None` when the recording had ended.
    pub recorded: Option<HistoryEntry>,
    /// The call that was made instead; `None` when the replay had ended.
    pub asked: Option<HistoryEntry>,
}

/// The first difference of two outcomes, in the order in which people want to know it: first how a replay
/// left the recording by asking the real computer for something else. Verdicts follow from the rest; a comparison with
/// a file, which may claim another one, includes them too (`replay`).
#[must_use]
pub fn compare(left: &RecordedOutcome, right: &RecordedOutcome) -> Option<OutcomeDifference> {
    if left.end != right.end
        && let ExecutionEnd::Diverged { recorded, asked } = &right.end
    {
        let (left, right) = (recorded.clone(), asked.clone());
        return Some(OutcomeDifference { what: "request to the real computer", left, right });
    }
    let calls = |of: &RecordedOutcome| format!("{} calls with digest {:016x}", of.calls, of.history);
    let stream = |of: &StreamDigest| format!("{} bytes with SHA-256 {}", of.bytes, of.sha256);
    let memory = |of: &RecordedOutcome| format!("{} bytes with digest {}", of.memory_bytes, of.memory);
    let rows = [
        ("calls", calls(left), calls(right)),
        ("decisions", left.decisions.to_string(), right.decisions.to_string()),
        ("standard output", stream(&left.stdout), stream(&right.stdout)),
        ("standard error", stream(&left.stderr), stream(&right.stderr)),
        ("end", format!("{:?}", left.end), format!("{:?}", right.end)),
        ("virtual time", left.ended_at.to_string(), right.ended_at.to_string()),
        ("memory", memory(left), memory(right)),
        ("fuel", left.fuel_used.to_string(), right.fuel_used.to_string()),
    ];
    let differing = rows.into_iter().find(|(_, left, right)| left != right).map(|row| match row.0 {
        "end" => ("end", end_words(&left.end), end_words(&right.end)),
        _ => row,
    });
    let differing = differing.or_else(|| first_differing_node(&left.nodes, &right.nodes));
    differing.map(|(what, left, right)| OutcomeDifference { what, left, right })
}

/// All that an end says.
#[must_use]
pub fn end_words(end: &ExecutionEnd) -> String {
    let words = end.words();
    match end {
        ExecutionEnd::FuelExhausted { fuel } => format!("{words} ({fuel})"),
        ExecutionEnd::TimeExhausted { limit } => format!("{words} ({limit})"),
        ExecutionEnd::Hang { waiting } => format!("{words}: waits for {}", waiting.join(", ")),
        ExecutionEnd::Failed { failure } => format!("{words}: {}", failure.message.escape_debug()),
        ExecutionEnd::Diverged { recorded, asked } => format!("{words}: {asked} instead of {recorded}"),
        _ => words,
    }
}

fn first_differing_node(left: &[NodeOutcome], right: &[NodeOutcome]) -> Option<(&'static str, String, String)> {
    let at = (0..left.len().max(right.len())).find(|n| left.get(*n) != right.get(*n))?;
    let side = |nodes: &[NodeOutcome]| {
        nodes.get(at).map_or_else(
            || "no such machine".to_owned(),
            |NodeOutcome { name, end, stdout, stderr, memory, restarts, is_down }| {
                let unended = if *is_down { "down" } else { "still running" };
                let end = end.as_ref().map_or_else(|| unended.to_owned(), end_words);
                format!(
                    "`{name}`: {end}, {} bytes out ({}), {} bytes err ({}), memory {memory}, {restarts} restarts",
                    stdout.bytes, stdout.sha256, stderr.bytes, stderr.sha256
                )
            },
        )
    };
    Some(("another machine", side(left), side(right)))
}

/// One side of a comparison: who executes it, and a fresh source for each time.
pub struct ReplaySide<'a> {
    /// Executes it.
    pub executor: &'a mut dyn Executor,
    /// Makes its source anew.
    pub source: &'a dyn Fn() -> Box<dyn DecisionSource>,
}

impl ReplaySide<'_> {
    /// Executes once.
    pub(crate) fn run(&mut self, keep: HistoryWindow) -> Result<Execution, HarnessError> {
        self.executor.execute((self.source)(), keep)
    }
}

/// Executes both sides and names the first call in which they differ; `None` when all calls are equal.
///
/// # Errors
/// When an execution fails for reasons of the machine.
pub fn locate(
    recorded: &mut ReplaySide<'_>,
    asked: &mut ReplaySide<'_>,
) -> Result<Option<CallDivergence>, HarnessError> {
    let (left, right) = (recorded.run(0..0)?, asked.run(0..0)?);
    let Some(stretch) = first_difference(&left.history, &right.history) else { return Ok(None) };
    locate_within(&mut |keep| recorded.run(keep), &mut |keep| asked.run(keep), stretch, &|one, other| one == other)
}

/// Executes one side again, and keeps the calls of a window.
pub type Repeat<'a> = dyn FnMut(HistoryWindow) -> Result<Execution, HarnessError> + 'a;

/// Executes both sides and names the first of `calls` that is not the `same` on both; `None` when all are.
///
/// # Errors
/// When an execution fails for reasons of the machine.
pub fn locate_within(
    left: &mut Repeat<'_>,
    right: &mut Repeat<'_>,
    calls: HistoryWindow,
    same: &dyn Fn(&HistoryEntry, &HistoryEntry) -> bool,
) -> Result<Option<CallDivergence>, HarnessError> {
    let mut from = calls.start;
    while from < calls.end {
        let window = from..calls.end.min(from.saturating_add(LOCATE_CALLS_MAX));
        let (one, other) = (left(window.clone())?, right(window.clone())?);
        if let Some(divergence) = first_entry_but(&one.history.entries, &other.history.entries, same) {
            return Ok(Some(divergence));
        }
        from = window.end;
    }
    Ok(None)
}

pub(crate) fn first_differing_entry(recorded: &[HistoryEntry], asked: &[HistoryEntry]) -> Option<CallDivergence> {
    first_entry_but(recorded, asked, &|one, other| one == other)
}

/// The first entry that is not the `same` on both sides.
fn first_entry_but(
    recorded: &[HistoryEntry],
    asked: &[HistoryEntry],
    same: &dyn Fn(&HistoryEntry, &HistoryEntry) -> bool,
) -> Option<CallDivergence> {
    let longer = recorded.len().max(asked.len());
    let at = (0..longer).find(|n| match (recorded.get(*n), asked.get(*n)) {
        (Some(one), Some(other)) => !same(one, other),
        _ => true,
    })?;
    let (recorded, asked) = (recorded.get(at).cloned(), asked.get(at).cloned());
    let either = recorded.as_ref().or(asked.as_ref())?;
    Some(CallDivergence { index: either.index, at: either.at, recorded, asked })
}
