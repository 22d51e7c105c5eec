//! A point in the real computer's time, after which the real computer is no longer waited for; and how long it took.
//!
//! Example: `Deadline::after(Duration::from_secs(60)).left()` is a minute, then less, then `None`.
//!
//! Invariant: what is measured here decides only when waiting ends, and is recorded beside an answer, if that is wanted; no
//! answer holds a time of it.
//! Not here: virtual time (`fozzy-world`).

use rustix::event::Timespec;
use std::time::{Duration, Instant};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// So long from now.
    pub(crate) fn after(time: Duration) -> Deadline {
        Deadline(now() + time)
    }

    /// The earlier of two.
    pub(crate) fn or_earlier(self, other: Deadline) -> Deadline {
        Deadline(self.0.min(other.0))
    }

    /// What is left of it; `None` when it is over.
    pub(crate) fn left(self) -> Option<Duration> {
        self.0.checked_duration_since(now()).filter(|left| !left.is_zero())
    }
}

/// How long something takes, from its creation on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerTimer(Instant);

impl AnswerTimer {
    /// Begins.
    pub(crate) fn start() -> AnswerTimer {
        AnswerTimer(now())
    }

    /// So far.
    pub(crate) fn elapsed(self) -> fozzy_trace::Duration {
        let ns = now().saturating_duration_since(self.0).as_nanos();
        fozzy_trace::Duration(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

#[allow(clippy::disallowed_methods, reason = "how long the real computer is waited for is real time")]
fn now() -> Instant {
    Instant::now()
}

/// A time as `poll` takes it.
pub(crate) fn timespec(time: Duration) -> Timespec {
    // Every time here comes from a named bound or is capped by one, so that its seconds fit.
    Timespec { tv_sec: time.as_secs().min(i64::MAX as u64) as i64, tv_nsec: time.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_passes_and_the_earlier_one_counts() {
        let (over, later) = (Deadline::after(Duration::ZERO), Deadline::after(Duration::from_secs(1000)));
        assert_eq!(over.left(), None);
        assert!(later.left().expect("a quarter of an hour is left") > Duration::from_secs(900));
        assert_eq!(later.or_earlier(over).left(), None);
    }
}
