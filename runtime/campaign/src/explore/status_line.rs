//! How an exploration goes, in one line: of one process or of all workers.

use crate::progress::CampaignLine;
use fozzy_search::explore::Stats;
use fozzy_trace::Duration;

/// The line of the contract: numbers, and runs in a second since the last line, which was at this time and of this many runs.
pub(super) fn status_line(stats: &Stats, now_ns: u64, (shown_ns, shown_runs): (u64, u64)) -> String {
    let rate = stats.runs.saturating_sub(shown_runs) as f64 * 1e9 / (now_ns - shown_ns).max(1) as f64;
    let Stats { runs, steps, edges, checkpoints, failures, .. } = stats;
    let seconds = now_ns / 1_000_000_000;
    format!(
        "[{seconds}s] runs={runs} steps={steps} edges={edges} cps={checkpoints} failures={failures} {rate:.0} runs/s\n"
    )
}

/// How an exploration goes, for the line of a terminal.
pub(super) fn live_line(
    stats: &Stats,
    elapsed_ns: u64,
    since: (u64, u64),
    time: Option<Duration>,
    runs: Option<u64>,
) -> String {
    let Stats { runs: done, edges, failures, .. } = *stats;
    let (time_ns, edges, found) = (time.map(|time| time.0), Some(edges), (failures, "failed run"));
    CampaignLine { elapsed_ns, time_ns, unit: "run", done, budget: runs, since, edges, found }.text()
}
