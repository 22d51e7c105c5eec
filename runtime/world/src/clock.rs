//! Virtual time: one line for all machines, what moves it, and how a machine's clocks may differ from it.
//!
//! ```text
//! read   now += 1us      so that a loop which polls the clock comes to an end
//! block  now  = earliest deadline
//! frozen: a reading leaves time as it is
//! ```
//!
//! Invariants: time never goes back; a machine's clocks are functions of virtual time and its [`ClockDrift`]; its
//! monotonic clock never goes back; deadlines are moments of virtual time.
//! Not here: the kinds of faults that make clocks err (`fault/clock_*.rs`).

use crate::fault::{CLOCK_DRIFT, CLOCK_FREEZE, CLOCK_STEP};
use crate::{OpContext, World};
use fozzy_trace::{Duration, Instant, Purpose};

/// What one reading of a clock costs in virtual time. Real readings take some tens of nanoseconds; a
/// longer tick ends polling loops sooner, and a microsecond is still below what programs wait for.
pub const CLOCK_TICK: Duration = Duration(1_000);

/// Virtual time, and the wall clock that goes with it.
#[derive(Clone, Debug)]
pub struct Clock {
    now: Instant,
    /// Whether readings leave time as it is.
    frozen: bool,
    wall_start_ns: u64,
}

impl Clock {
    /// Time zero, at `wall_start_s` seconds after 1970.
    #[must_use]
    pub fn new(wall_start_s: u64) -> Clock {
        Clock { now: Instant::START, frozen: false, wall_start_ns: wall_start_s.saturating_mul(1_000_000_000) }
    }

    /// The current moment. For our own use: it does not move time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The current wall time, in nanoseconds since 1970. Does not move time.
    #[must_use]
    pub fn wall_ns(&self) -> u64 {
        self.wall_start_ns.saturating_add(self.now.0)
    }

    /// A guest reads the time: it moves by one tick, unless it is frozen.
    pub fn tick(&mut self) {
        if !self.frozen {
            self.now = self.now.after(CLOCK_TICK);
        }
    }

    /// From now on readings leave time as it is, or move it again.
    pub fn freeze(&mut self, frozen: bool) {
        self.frozen = frozen;
    }

    /// Lets time pass until `moment`; earlier moments change nothing.
    pub fn advance_to(&mut self, moment: Instant) {
        self.now = self.now.max(moment);
    }

    /// The execution ends at `moment`, although the last step went past it.
    pub fn cut_at(&mut self, moment: Instant) {
        self.now = self.now.min(moment);
    }
}

/// How the clocks of one machine differ from virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockDrift {
    /// Nanoseconds by which the wall clock is ahead, without drift.
    pub wall_offset_ns: i64,
    /// Nanoseconds that both clocks have gained.
    gained_ns: i64,
    /// Whether drift gains or loses; asked once.
    gains: Option<bool>,
    /// When the clocks were last read, and what they showed.
    read: Instant,
    shown: Option<ClockReading>,
}

/// What the clocks of a machine show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The monotonic clock, in nanoseconds since the execution began; never less than before.
    pub monotonic_ns: u64,
    /// The wall clock, in nanoseconds since 1970.
    pub wall_ns: u64,
}

/// Which clock is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockKind {
    /// The monotonic clock.
    Monotonic,
    /// The wall clock.
    Wall,
}

impl ClockDrift {
    /// What the machine's wall clock shows when the true one shows `wall_ns`. Asks nothing: the times of files come
    /// from it.
    #[must_use]
    pub fn wall_ns(&self, wall_ns: u64) -> u64 {
        wall_ns.saturating_add_signed(self.gained_ns).saturating_add_signed(self.wall_offset_ns)
    }

    fn monotonic_ns(&self, now: Instant) -> u64 {
        let shown = self.shown.map_or(0, |shown| shown.monotonic_ns);
        now.0.saturating_add_signed(self.gained_ns).max(shown)
    }

    /// The guest of `machine` reads a clock: planned faults may strike.
    pub fn read(&mut self, dial: ClockKind, clock: &Clock, machine: &str, context: &mut OpContext<'_>) -> ClockReading {
        if !context.faults.is_empty() {
            self.err(dial, clock, machine, context);
            if context.injects(&CLOCK_FREEZE, machine).is_some()
                && let Some(shown) = self.shown
            {
                return shown;
            }
        }
        let reading =
            ClockReading { monotonic_ns: self.monotonic_ns(clock.now()), wall_ns: self.wall_ns(clock.wall_ns()) };
        self.shown = Some(reading);
        reading
    }

    /// Drift since the last reading, and a step.
    fn err(&mut self, dial: ClockKind, clock: &Clock, machine: &str, context: &mut OpContext<'_>) {
        let elapsed = clock.now().since(self.read).0;
        self.read = clock.now();
        if let Some(ppm) = context.injects(&CLOCK_DRIFT, machine) {
            let gains =
                *self.gains.get_or_insert_with(|| context.below(Purpose::Fault, "clock-drift.direction", 2) == 0);
            let span = u128::from(elapsed) * u128::from(ppm) / 1_000_000;
            let span = i64::try_from(span).unwrap_or(i64::MAX);
            // A clock that loses stands still at the worst.
            let lost = span.min(i64::try_from(elapsed).unwrap_or(i64::MAX));
            self.gained_ns =
                if gains { self.gained_ns.saturating_add(span) } else { self.gained_ns.saturating_sub(lost) };
        }
        if dial == ClockKind::Wall
            && let Some(ns) = context.injects(&CLOCK_STEP, machine)
        {
            let ns = i64::try_from(ns).unwrap_or(i64::MAX);
            let forward = context.below(Purpose::Fault, "clock-step.direction", 2) == 0;
            self.wall_offset_ns = self.wall_offset_ns.saturating_add(if forward { ns } else { -ns });
        }
    }

    /// When a deadline of the monotonic clock comes in virtual time, for a guest that reads this clock.
    #[must_use]
    pub fn deadline(&self, monotonic_ns: u64, now: Instant) -> Instant {
        if self.gained_ns == 0 || monotonic_ns == Instant::NEVER.0 {
            return Instant(monotonic_ns);
        }
        now.after(Duration(monotonic_ns.saturating_sub(self.monotonic_ns(now))))
    }
}

impl World {
    /// The guest of the moment's node reads a clock, which moves time by a tick.
    pub fn read_clock(&mut self, dial: ClockKind, context: &mut OpContext<'_>) -> ClockReading {
        self.clock.tick();
        context.now = self.clock.now();
        let machine: &mut crate::Node =
            self.nodes[context.node.0 as usize].as_mut().expect("its guest reads the clock");
        machine.drift.read(dial, &self.clock, &machine.name, context)
    }
}

#[cfg(test)]
mod tests;
