//! A target of a campaign whose time is measured.
//!
//! ```text
//! execute   1 of 64: clock │ start state │ clock │ execution │ clock        those of whole runs: all
//! compare   clock │ execution that logs │ … what is made of the log … │ the next call: clock
//! ```
//!
//! Invariant: what it measures influences nothing but the report.
//! Not here: the time of files and findings (`campaign_sink`).

use super::target::CampaignTarget;
use crate::search_clock::SearchClock;
use fozzy_report::TimeSpent;
use fozzy_search::fuzz::{FuzzOutcome, FuzzTarget};
use fozzy_trace::{CmpLogEntry, CmpLogSites, HarnessError, Verdict};
use std::sync::Arc;

/// One in this many executions is measured, and stands for all of them: two looks at a clock take a twentieth of the quickest.
const SAMPLED: u64 = 64;

/// See the module.
pub struct TimedTarget {
    target: Box<dyn CampaignTarget>,
    clock: Arc<SearchClock>,
    /// Executions up to the next one that is measured, itself among them.
    until_measured: u64,
    /// Executions that one measured execution stands for.
    stands_for: u64,
    spent: TimeSpent,
    /// When the last log was read, if nothing was called since.
    compared_at: Option<u64>,
}

impl TimedTarget {
    /// Measures `target` by `clock`.
    #[must_use]
    pub fn new(target: Box<dyn CampaignTarget>, clock: Arc<SearchClock>) -> TimedTarget {
        let stands_for = if target.is_slow() { 1 } else { SAMPLED };
        let (until_measured, spent) = (stands_for, TimeSpent::default());
        TimedTarget { target, clock, until_measured, stands_for, spent, compared_at: None }
    }

    /// What is measured.
    #[must_use]
    pub fn target(&self) -> &dyn CampaignTarget {
        &*self.target
    }

    /// What was spent in it.
    #[must_use]
    pub fn spent(&self) -> TimeSpent {
        self.spent
    }

    fn end_of_proposals(&mut self) {
        if let Some(since) = self.compared_at.take() {
            self.spent.comparisons_ns += self.clock.elapsed_ns() - since;
        }
    }
}

impl FuzzTarget for TimedTarget {
    fn execute(&mut self, input: &[u8]) -> Result<FuzzOutcome, HarnessError> {
        self.end_of_proposals();
        self.until_measured -= 1;
        if self.until_measured > 0 {
            return self.target.execute(input);
        }
        self.until_measured = self.stands_for;
        let begin = self.clock.elapsed_ns();
        self.target.restore()?;
        let restored = self.clock.elapsed_ns();
        let outcome = self.target.execute(input);
        let end = self.clock.elapsed_ns();
        self.spent.restore_ns += (restored - begin) * self.stands_for;
        self.spent.program_ns += (end - restored) * self.stands_for;
        outcome
    }

    fn coverage(&self, see: &mut dyn FnMut(&[u8])) {
        self.target.coverage(see);
    }

    fn is_slow(&self) -> bool {
        self.target.is_slow()
    }

    fn compare(
        &mut self,
        input: &[u8],
        sites: CmpLogSites<'_>,
        log: &mut Vec<CmpLogEntry>,
    ) -> Result<u64, HarnessError> {
        self.end_of_proposals();
        let begin = self.clock.elapsed_ns();
        let cost = self.target.compare(input, sites, log);
        let end = self.clock.elapsed_ns();
        self.spent.comparisons_ns += end - begin;
        self.compared_at = Some(end);
        cost
    }

    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError> {
        let begin = self.clock.elapsed_ns();
        let verdict = self.target.confirm(input);
        self.spent.findings_ns += self.clock.elapsed_ns() - begin;
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_search::fuzz::MemoryUse;
    use fozzy_trace::facts::PropertyTable;
    use std::sync::{Mutex, PoisonError};

    /// Notes how many executions were made when its state was asked for.
    struct NotingTarget {
        is_slow: bool,
        executions: u64,
        restored: Arc<Mutex<Vec<u64>>>,
    }

    impl FuzzTarget for NotingTarget {
        fn execute(&mut self, _: &[u8]) -> Result<FuzzOutcome, HarnessError> {
            self.executions += 1;
            Ok(FuzzOutcome { failed: None, memory: MemoryUse::default() })
        }

        fn coverage(&self, _: &mut dyn FnMut(&[u8])) {}

        fn is_slow(&self) -> bool {
            self.is_slow
        }

        fn compare(&mut self, _: &[u8], _: CmpLogSites<'_>, _: &mut Vec<CmpLogEntry>) -> Result<u64, HarnessError> {
            Ok(0)
        }

        fn confirm(&mut self, _: &[u8]) -> Result<Verdict, HarnessError> {
            Err(HarnessError::new("it never fails"))
        }
    }

    impl CampaignTarget for NotingTarget {
        fn restore(&mut self) -> Result<(), HarnessError> {
            self.restored.lock().unwrap_or_else(PoisonError::into_inner).push(self.executions);
            Ok(())
        }

        fn edges_total(&self) -> u64 {
            0
        }

        fn properties(&self) -> PropertyTable {
            PropertyTable::default()
        }
    }

    #[test]
    fn one_of_64_quick_executions_is_measured_and_each_slow_one() {
        let measured = |is_slow: bool, executions: u64| {
            let restored = Arc::new(Mutex::new(Vec::new()));
            let target = NotingTarget { is_slow, executions: 0, restored: Arc::clone(&restored) };
            let mut timed = TimedTarget::new(Box::new(target), SearchClock::start(None, Arc::new(|| false)));
            for _ in 0..executions {
                timed.execute(&[]).map(drop).expect("it returns");
            }
            restored.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        assert!(measured(false, 63).is_empty());
        assert_eq!(measured(false, 3 * 64), [63_u64, 127, 191]);
        assert_eq!(measured(true, 3), [0_u64, 1, 2]);
    }
}
