//! The time that one machine's oscillator counts: it runs at a speed, which a fault may change.
//!
//! ```text
//! speed 0.9   virtual 0 ─────────── 10 s
//!             own     0 ────────── 9 s        a wait for 9 s of its own ends at 10 s
//! ```
//!
//! Invariants: own time never goes back and never stands still; at the moment that [`OwnTime::moment_of`] gives for a point of own
//! time, own time has come to that point. So who waits for a second by its own clock reads a second more afterwards.

use fozzy_trace::Instant;

/// The speed of a right clock, in millionths.
const RIGHT: u64 = 1_000_000;
/// The slowest clock, in millionths: one that stood still would never end a wait.
const SLOWEST: u64 = 1_000;

/// A function from virtual time to own time, which is continued each time the speed changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnTime {
    /// Where the function was continued last.
    since: Instant,
    /// Own time then, in nanoseconds, and in millionths of one.
    ns: u64,
    rest: u64,
    /// In millionths.
    speed: u64,
    /// Until when it has this speed; a right clock follows.
    until: Instant,
}

impl OwnTime {
    pub(super) const START: OwnTime =
        OwnTime { since: Instant::START, ns: 0, rest: 0, speed: RIGHT, until: Instant::NEVER };

    /// Own time at `now`, in nanoseconds, and in millionths of one.
    fn at(&self, now: Instant) -> (u64, u64) {
        let struck = now.min(self.until).since(self.since).0;
        let right = now.since(self.until.max(self.since)).0;
        let span = u128::from(struck) * u128::from(self.speed) + u128::from(right) * u128::from(RIGHT);
        let span = span.saturating_add(u128::from(self.rest));
        let whole = u64::try_from(span / u128::from(RIGHT)).unwrap_or(u64::MAX);
        (self.ns.saturating_add(whole), (span % u128::from(RIGHT)) as u64)
    }

    /// Own time at `now`, in nanoseconds.
    pub(super) fn ns(&self, now: Instant) -> u64 {
        self.at(now).0
    }

    /// By how much own time is ahead of virtual time at `now`.
    pub(super) fn ahead_ns(&self, now: Instant) -> i64 {
        let ahead = i128::from(self.ns(now)) - i128::from(now.0);
        i64::try_from(ahead).unwrap_or(if ahead < 0 { i64::MIN } else { i64::MAX })
    }

    /// From `now` on the clock gains or loses `ppm` millionths, until a moment.
    pub(super) fn drift(&mut self, now: Instant, ppm: u64, gains: bool, until: Instant) {
        self.settle(now);
        self.speed = if gains { RIGHT.saturating_add(ppm) } else { RIGHT.saturating_sub(ppm).max(SLOWEST) };
        self.until = until;
    }

    /// From `now` on the clock is right.
    pub(super) fn run_right(&mut self, now: Instant) {
        self.settle(now);
        (self.speed, self.until) = (RIGHT, Instant::NEVER);
    }

    fn settle(&mut self, now: Instant) {
        (self.ns, self.rest) = self.at(now);
        self.since = now;
    }

    /// When own time comes to `ns`; at once when it has.
    pub(super) fn moment_of(&self, ns: u64) -> Instant {
        if ns == Instant::NEVER.0 {
            return Instant::NEVER;
        }
        let before = |from: u64, speed: u64, rest: u64| -> u64 {
            let wanted = u128::from(ns.saturating_sub(from)) * u128::from(RIGHT);
            u64::try_from(wanted.saturating_sub(u128::from(rest)).div_ceil(u128::from(speed))).unwrap_or(u64::MAX)
        };
        let struck = Instant(self.since.0.saturating_add(before(self.ns, self.speed, self.rest)));
        if struck <= self.until {
            return struck;
        }
        let turn = self.until.max(self.since);
        let (at_turn, rest) = self.at(turn);
        Instant(turn.0.saturating_add(before(at_turn, RIGHT, rest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Lcg;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_slow_clock_waits_longer_and_a_fast_one_shorter() {
        let mut own = OwnTime::START;
        own.drift(Instant(0), 100_000, false, Instant::NEVER);
        assert_eq!(own.ns(Instant(10 * SECOND)), 9 * SECOND);
        assert_eq!(own.moment_of(9 * SECOND), Instant(10 * SECOND));
        own.drift(Instant(10 * SECOND), 1_000_000, true, Instant(11 * SECOND));
        assert_eq!(own.moment_of(10 * SECOND), Instant(10 * SECOND + SECOND / 2));
        assert_eq!(own.moment_of(12 * SECOND), Instant(12 * SECOND), "right again after a second");
        assert_eq!(own.moment_of(0), Instant(10 * SECOND), "long over");
        assert_eq!(own.moment_of(u64::MAX), Instant::NEVER);
    }

    #[test]
    fn what_is_waited_for_has_come_at_every_speed() {
        for seed in 0..2_000 {
            let (mut random, mut own, mut now, mut last) = (Lcg(seed), OwnTime::START, Instant(0), 0);
            for _ in 0..50 {
                let until = Instant(now.0 + random.below(1 << 34));
                let ppm = 1 << random.below(40);
                match random.below(3) {
                    0 => own.run_right(now),
                    way => own.drift(now, ppm, way == 1, until),
                }
                let before = own.ns(now);
                assert!(before >= last, "seed {seed}");
                let wanted = before.saturating_add(random.below(1 << 34));
                let end = own.moment_of(wanted);
                assert!(end >= now && own.ns(end) >= wanted, "seed {seed}: {own:?} {wanted}");
                assert!(end == now || own.ns(Instant(end.0 - 1)) < wanted, "seed {seed}: no later than it must");
                (now, last) = (Instant(end.0.saturating_add(random.below(1 << 20))), own.ns(end));
            }
        }
    }
}
