//! Wall facts: when a run happened and how long it took. They go into reports, never into traces.

#![allow(clippy::disallowed_methods, reason = "the one place that reads real clocks")]

use fozzy_report::WallFacts;
use jiff::Timestamp;
use std::time::{Duration, Instant, SystemTime};

/// Waits for something of the real machine.
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Whether a file was last written more than `age` ago, if its file system's clock and ours agree.
pub fn is_older_than(file: &std::fs::Metadata, age: Duration) -> bool {
    let modified = file.modified().ok();
    modified.and_then(|at| SystemTime::now().duration_since(at).ok()).is_some_and(|found| found > age)
}

/// Seconds since 1970.
pub fn unix_seconds() -> f64 {
    Timestamp::now().as_millisecond() as f64 / 1000.0
}

/// Whether a moment (RFC 3339) was less than `age` ago. One that is still to come was told by a clock that is ahead of ours.
pub fn is_recent(moment: &str, age: Duration) -> bool {
    let since = moment.parse::<Timestamp>().map(|at| Timestamp::now().as_millisecond() - at.as_millisecond());
    since.is_ok_and(|since| u128::try_from(since).map_or(true, |since| since < age.as_millis()))
}

/// A run in progress.
pub struct Stopwatch {
    started_at: Timestamp,
    started: Instant,
}

impl Stopwatch {
    /// A run that begins now.
    pub fn start() -> Stopwatch {
        Stopwatch { started_at: Timestamp::now(), started: Instant::now() }
    }

    /// Real time since the start, for budgets and lines of progress.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Nanoseconds since the start.
    pub fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// When it began and how long it has taken.
    pub fn facts(&self) -> WallFacts {
        let took = self.started.elapsed();
        WallFacts {
            started_at: self.started_at.to_string(),
            finished_at: Timestamp::now().to_string(),
            duration_ns: u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_recent_for_a_while() {
        let minute = Duration::from_secs(60);
        let now = Stopwatch::start().facts().finished_at;
        assert!(is_recent(&now, minute) && is_recent("9000-01-01T00:00:00Z", minute));
        assert!(!is_recent("2020-01-01T00:00:00Z", minute) && !is_recent("yesterday", minute));
    }
}
