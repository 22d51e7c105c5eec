//! How the time of an exploration is divided between the search and making what it has found smaller.
//!
//! ```text
//! nothing is found    ├────────────── search ───────────────┤ what it has reached is kept · report
//! something is found  ├────────── search ─────────┤ what it has reached is kept · ├─ smaller ─┤ report
//!                                                 three quarters
//! ```
//!
//! Invariant: what is neither of them, such as starting workers, or writing a large state, takes nothing of either, so that a short
//! exploration has time for it, too; with a failure an exploration takes no longer than without one.
//! Not here: what is made smaller (`crate::shrink`), and when a search looks at its clock (`campaign_sink`).

use fozzy_trace::Duration;

/// One part in this many of the time is for making failures smaller, once there is one.
const SHRINK_SHARE: u64 = 4;
/// Real time that is spent on making one failure smaller, at the most.
const SHRINK_TIME_MAX: Duration = Duration::from_millis(30_000);
/// With less it is not begun.
const SHRINK_TIME_MIN: Duration = Duration::from_millis(20);

/// The part of a time that is for making failures smaller.
pub(super) const fn reserved(time: Duration) -> Duration {
    Duration(time.0 / SHRINK_SHARE)
}

/// Real time that is left for making failures smaller.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShrinkTime {
    /// `None` where the time of the exploration is not bounded.
    left: Option<Duration>,
}

impl ShrinkTime {
    /// What is left of the time of an exploration, if it has one, that has searched for so long.
    pub(super) fn after(time: Option<Duration>, searched: Duration) -> ShrinkTime {
        ShrinkTime { left: time.map(|time| Duration(time.0.saturating_sub(searched.0))) }
    }

    /// The time for the next of so many failures: an equal share of what is left; none if that is too little to begin.
    pub fn share(self, failures: usize) -> Option<Duration> {
        let Some(left) = self.left else { return Some(SHRINK_TIME_MAX) };
        let share = Duration(left.0 / failures.max(1) as u64);
        (share >= SHRINK_TIME_MIN).then(|| share.min(SHRINK_TIME_MAX))
    }

    /// What is left after so long at one failure.
    #[must_use]
    pub fn without(self, took_ns: u64) -> ShrinkTime {
        ShrinkTime { left: self.left.map(|left| Duration(left.0.saturating_sub(took_ns))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_quarter_of_the_time_is_for_failures_however_long_it_takes_to_keep_what_was_reached() {
        let time = Duration(2 * SECOND);
        let searched = Duration(time.0 - reserved(time).0);
        let left = ShrinkTime::after(Some(time), searched);
        assert_eq!([left.share(1), left.share(2)], [Some(Duration(SECOND / 2)), Some(Duration(SECOND / 4))]);
        // Of what one of them leaves the others have more.
        let left = left.without(SECOND / 10);
        assert_eq!(left.share(1), Some(Duration(SECOND / 10 * 4)));
        assert_eq!(left.without(SECOND).share(1), None);
    }

    #[test]
    fn what_is_found_at_the_end_is_left_to_the_next_exploration_and_no_failure_takes_all_of_a_long_one() {
        let time = Duration(1000 * SECOND);
        let after = |searched_ns| ShrinkTime::after(Some(time), Duration(searched_ns));
        assert_eq!(after(time.0 - SHRINK_TIME_MIN.0 + 1).share(1), None);
        assert_eq!(after(time.0 - SHRINK_TIME_MIN.0).share(1), Some(SHRINK_TIME_MIN));
        assert_eq!(after(time.0 + SECOND).share(1), None, "a last run was a long one");
        assert_eq!(after(time.0 - reserved(time).0).share(1), Some(SHRINK_TIME_MAX));
        let unbounded = ShrinkTime::after(None, time);
        assert_eq!(unbounded.without(time.0).share(7), Some(SHRINK_TIME_MAX));
    }
}
