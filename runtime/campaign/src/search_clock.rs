//! When a search is over: its time, and a person who ends it; also in the middle of an execution.
//!
//! ```text
//! search ── execution ── execution ── execution ── … computes for ever
//!                                          ▲ time is over, or Ctrl-C: it is thrown away, and the search ends with what it has
//! ```
//!
//! Invariant: a clock ends a search, and has no other influence on it.

use crate::error::{CampaignError, ErrorKind};
use crate::options::StopFlag;
use crate::wall_clock::Stopwatch;
use fozzy_engine::Interrupt;
use fozzy_trace::{Duration, HarnessError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The clock of one search.
pub struct SearchClock {
    watch: Stopwatch,
    stop: StopFlag,
    /// Nanoseconds after which it is over.
    end_ns: AtomicU64,
}

impl SearchClock {
    /// A clock that starts now, for a search that takes so long at the most, and ends when `stop` says so.
    pub fn start(time: Option<Duration>, stop: StopFlag) -> Arc<SearchClock> {
        let end_ns = AtomicU64::new(time.map_or(u64::MAX, |time| time.0));
        Arc::new(SearchClock { watch: Stopwatch::start(), stop, end_ns })
    }

    /// Has it end executions that `interrupt` reaches, too.
    pub fn bound(self: &Arc<Self>, interrupt: &Interrupt) {
        let clock = Arc::clone(self);
        interrupt.arm(Arc::new(move || clock.is_over()));
    }

    /// Moves the end.
    pub fn end_after(&self, time: Duration) {
        self.end_ns.store(time.0, Ordering::Relaxed);
    }

    /// Real time since the start.
    pub fn elapsed_ns(&self) -> u64 {
        self.watch.elapsed_ns()
    }

    /// Whether the search is over.
    pub fn is_over(&self) -> bool {
        self.watch.elapsed_ns() >= self.end_ns.load(Ordering::Relaxed) || (self.stop)()
    }
}

/// Says that an execution was given up, if one was.
pub fn say_given_up(interrupt: &Interrupt, say: impl FnOnce(&str)) {
    if interrupt.has_struck() {
        say("one run was still at work at the end, and was given up: --fuel N bounds the instructions of a run\n");
    }
}

/// What it means that the first execution of a search failed to come to its end in time: nothing was searched.
pub(crate) fn first_run_error(name: &str, error: HarnessError) -> CampaignError {
    if !error.is_interruption() {
        return error.into();
    }
    nothing_tried(name)
}

/// A search without a single run: it has no verdict.
pub fn nothing_tried(name: &str) -> CampaignError {
    let message = format!("{name}: nothing was tried: its first run was not at its end when the time was over");
    CampaignError::new(ErrorKind::Target, message)
        .hint("--fuel N bounds the instructions of a run, which is a timeout then; a longer --time waits for it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_a_moved_end_and_a_person_end_it() {
        let never = || -> StopFlag { Arc::new(|| false) };
        assert!(!SearchClock::start(None, never()).is_over());
        let clock = SearchClock::start(Some(Duration(0)), never());
        assert!(clock.is_over());
        clock.end_after(Duration(u64::MAX));
        let interrupt = Interrupt::default();
        assert!(!interrupt.is_armed() && !interrupt.strikes());
        clock.bound(&interrupt);
        assert!(interrupt.is_armed() && !interrupt.strikes());
        clock.end_after(Duration(0));
        assert!(!interrupt.has_struck() && interrupt.strikes() && interrupt.has_struck());
        interrupt.disarm();
        assert!(!interrupt.strikes());
        assert!(SearchClock::start(None, Arc::new(|| true)).is_over());
    }
}
