//! The line of a terminal that says how a campaign goes, and how to end it.
//!
//! Not here: who shows it ([`Remarks`](crate::Remarks)).

use fozzy_trace::counted;

/// Between two states of the line.
pub const LIVE_EVERY_NS: u64 = 250_000_000;

/// Between two lines where there is no terminal, and none were asked for: nothing is silent for a minute.
pub const QUIET_EVERY_NS: u64 = 30_000_000_000;

/// `12s  34,567 runs, 2,880/s  412 edges  1 failure  48s left, Ctrl-C stops`
pub struct CampaignLine<'a> {
    /// Wall time since the campaign began.
    pub elapsed_ns: u64,
    /// The wall time that it has.
    pub time_ns: Option<u64>,
    /// What is counted: `run`.
    pub unit: &'a str,
    /// How many were done.
    pub done: u64,
    /// How many may be done.
    pub budget: Option<u64>,
    /// How many were done since the last line, and in which time.
    pub since: (u64, u64),
    /// Edges that were taken, if they are looked at.
    pub edges: Option<u64>,
    /// Failures, and what one is called: `failure`, `finding`.
    pub found: (u64, &'a str),
}

impl CampaignLine<'_> {
    /// The line.
    pub fn text(&self) -> String {
        let CampaignLine { elapsed_ns, time_ns, unit, done, budget, since, edges, found } = *self;
        let seconds = elapsed_ns / 1_000_000_000;
        let rate = since.0 as f64 * 1e9 / since.1.max(1) as f64;
        let of = budget.map_or_else(|| counted(done, unit), |budget| format!("{done} of {}", counted(budget, unit)));
        let left = match (time_ns, budget) {
            (Some(time), _) => format!("{}s left, ", time.saturating_sub(elapsed_ns) / 1_000_000_000),
            (None, Some(budget)) if rate > 0.0 => {
                format!("some {}s left, ", (budget.saturating_sub(done) as f64 / rate).ceil() as u64)
            }
            (None, _) => String::new(),
        };
        let edges = edges.map(|edges| format!("{}  ", counted(edges, "edge"))).unwrap_or_default();
        let found = counted(found.0, found.1);
        format!("{seconds}s  {of}, {rate:.0}/s  {edges}{found}  {left}Ctrl-C stops")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is_and_how_to_end_it() {
        let line = CampaignLine {
            elapsed_ns: 12_400_000_000,
            time_ns: Some(60_000_000_000),
            unit: "run",
            done: 3456,
            budget: None,
            since: (720, 250_000_000),
            edges: Some(412),
            found: (1, "failure"),
        };
        assert_eq!(line.text(), "12s  3,456 runs, 2880/s  412 edges  1 failure  47s left, Ctrl-C stops");
        let bounded = CampaignLine { time_ns: None, budget: Some(9216), found: (0, "failure"), ..line };
        assert_eq!(
            bounded.text(),
            "12s  3456 of 9,216 runs, 2880/s  412 edges  0 failures  some 2s left, Ctrl-C stops"
        );
    }
}
