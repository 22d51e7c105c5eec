//! Virtual time: one line for all machines, what moves it, and how a machine's clocks may differ from it.
//!
//! ```text
//! read   now += 1us      so that a loop which polls the clock comes to an end
//! block  now  = earliest deadline
//! frozen: a reading leaves time as it is
//! ```
//!
//! Invariants: time never goes back; a machine's clocks are functions of virtual time and its [`ClockDrift`]; its
//! monotonic clock never goes back, and shows after a wait what was waited for, whatever fault strikes.
//! Not here: the kinds of faults that make clocks err (`fault/clock_*.rs`).

mod own_time;

use crate::fault::{CLOCK_DRIFT, CLOCK_FREEZE, CLOCK_STEP};
use crate::{OpContext, Wait, World};
use fozzy_trace::plan::Edition;
use fozzy_trace::{Duration, Instant, NodeId, Purpose};
use own_time::OwnTime;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockDrift {
    /// Nanoseconds by which the wall clock is ahead, without drift.
    pub wall_offset_ns: i64,
    /// What both clocks have gained.
    gain: ClockGain,
    /// The furthest point of own time that the guest has waited for.
    met_ns: u64,
    /// Whether drift gains or loses; asked once.
    gains: Option<bool>,
    /// Whether their speed was ordered, and is not drawn.
    is_ordered: bool,
    /// When the clocks were last read, and what they showed.
    read: Instant,
    shown: Option<ClockReading>,
}

/// How drift adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClockGain {
    /// In nanoseconds, counted back at each reading. So the time between two readings drifts, and what was waited for in it
    /// does not; traces of [`Edition::FIRST`] replay with it.
    Counted(i64),
    /// The speed is drawn at each reading and at each wait, and holds from there on.
    Running(OwnTime),
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
    /// Clocks that are right so far, under a plan of this edition.
    #[must_use]
    pub fn new(edition: Edition) -> ClockDrift {
        let gain = match edition {
            Edition::FIRST => ClockGain::Counted(0),
            _ => ClockGain::Running(OwnTime::START),
        };
        ClockDrift {
            wall_offset_ns: 0,
            gain,
            met_ns: 0,
            gains: None,
            is_ordered: false,
            read: Instant::START,
            shown: None,
        }
    }

    /// What the machine's wall clock shows. Asks nothing: the times of files come from it.
    #[must_use]
    pub fn wall_ns(&self, clock: &Clock) -> u64 {
        clock.wall_ns().saturating_add_signed(self.gained_ns(clock.now())).saturating_add_signed(self.wall_offset_ns)
    }

    fn gained_ns(&self, now: Instant) -> i64 {
        match &self.gain {
            ClockGain::Counted(ns) => *ns,
            ClockGain::Running(own) => own.ahead_ns(now),
        }
    }

    fn monotonic_ns(&self, now: Instant) -> u64 {
        let shown = self.shown.map_or(0, |shown| shown.monotonic_ns);
        now.0.saturating_add_signed(self.gained_ns(now)).max(shown)
    }

    /// Whether their speed was ever ordered.
    #[must_use]
    #[inline]
    pub const fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// From `now` on both clocks run fast or slow by so many millionths, whatever is planned.
    pub fn order_speed(&mut self, ppm: i64, now: Instant) {
        self.is_ordered = true;
        if let ClockGain::Running(own) = &mut self.gain {
            own.drift(now, ppm.unsigned_abs(), ppm > 0, Instant::NEVER);
        }
    }

    /// The guest of `machine` reads a clock: planned faults may strike.
    pub fn read(&mut self, dial: ClockKind, clock: &Clock, machine: &str, context: &mut OpContext<'_>) -> ClockReading {
        if !context.faults.is_empty() {
            self.err(dial, clock, machine, context);
            if context.injects(&CLOCK_FREEZE, machine).is_some()
                && let Some(shown) = self.shown
            {
                // Its waits have ended all the same, and no clock is behind its own alarm.
                let rung = self.met_ns.saturating_sub(shown.monotonic_ns);
                let (monotonic_ns, wall_ns) =
                    (shown.monotonic_ns.saturating_add(rung), shown.wall_ns.saturating_add(rung));
                return *self.shown.insert(ClockReading { monotonic_ns, wall_ns });
            }
        }
        let reading = ClockReading { monotonic_ns: self.monotonic_ns(clock.now()), wall_ns: self.wall_ns(clock) };
        self.shown = Some(reading);
        reading
    }

    /// Drift since the last reading or from now on, and a step.
    fn err(&mut self, dial: ClockKind, clock: &Clock, machine: &str, context: &mut OpContext<'_>) {
        self.ask_drift(clock.now(), machine, context);
        if dial == ClockKind::Wall
            && let Some(ns) = context.injects(&CLOCK_STEP, machine)
        {
            let ns = i64::try_from(ns).unwrap_or(i64::MAX);
            let forward = context.below(Purpose::Fault, "clock-step.direction", 2) == 0;
            self.wall_offset_ns = self.wall_offset_ns.saturating_add(if forward { ns } else { -ns });
        }
    }

    fn ask_drift(&mut self, now: Instant, machine: &str, context: &mut OpContext<'_>) {
        let elapsed = now.since(self.read).0;
        self.read = now;
        if self.is_ordered {
            return;
        }
        let until = context.faults.open_until(&CLOCK_DRIFT, machine, now);
        let Some(ppm) = context.injects(&CLOCK_DRIFT, machine) else {
            if let ClockGain::Running(own) = &mut self.gain {
                own.run_right(now);
            }
            return;
        };
        let gains = *self.gains.get_or_insert_with(|| context.below(Purpose::Fault, "clock-drift.direction", 2) == 0);
        match &mut self.gain {
            ClockGain::Running(own) => own.drift(now, ppm, gains, until),
            ClockGain::Counted(gained_ns) => {
                let span = u128::from(elapsed) * u128::from(ppm) / 1_000_000;
                let span = i64::try_from(span).unwrap_or(i64::MAX);
                // A clock that loses stands still at the worst.
                let lost = span.min(i64::try_from(elapsed).unwrap_or(i64::MAX));
                *gained_ns = if gains { gained_ns.saturating_add(span) } else { gained_ns.saturating_sub(lost) };
            }
        }
    }

    fn wait(&self, node: NodeId, monotonic_ns: u64) -> Wait {
        match monotonic_ns == Instant::NEVER.0 {
            true => Wait::Until(Instant::NEVER),
            false => Wait::OwnClock { node, monotonic_ns },
        }
    }

    /// A wait of the guest for this moment of its clock is over.
    pub fn rings(&mut self, monotonic_ns: u64) {
        self.met_ns = self.met_ns.max(monotonic_ns);
    }

    /// When a deadline of the monotonic clock comes in virtual time, for a guest that reads this clock.
    #[must_use]
    pub fn deadline(&self, monotonic_ns: u64, now: Instant) -> Instant {
        match &self.gain {
            _ if monotonic_ns == Instant::NEVER.0 => Instant::NEVER,
            ClockGain::Counted(0) => Instant(monotonic_ns),
            ClockGain::Counted(_) => now.after(Duration(monotonic_ns.saturating_sub(self.monotonic_ns(now)))),
            ClockGain::Running(own) => own.moment_of(monotonic_ns),
        }
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

    /// What the guest of the moment's node waits for that wants to continue after `span`.
    pub fn wait_for(&mut self, span: Duration, context: &mut OpContext<'_>) -> Wait {
        context.faults.note_timer(context.node, span);
        match self.own_clock(context) {
            Some(drift) => drift.wait(context.node, drift.monotonic_ns(context.now).saturating_add(span.0)),
            None => Wait::Until(context.now.after(span)),
        }
    }

    /// What it waits for that wants to continue when its monotonic clock shows this.
    pub fn wait_until(&mut self, monotonic_ns: u64, context: &mut OpContext<'_>) -> Wait {
        if context.faults.has_nemeses() {
            let span = monotonic_ns.saturating_sub(self.node(context.node).drift.monotonic_ns(context.now));
            context.faults.note_timer(context.node, Duration(span));
        }
        match self.own_clock(context) {
            Some(drift) => drift.wait(context.node, monotonic_ns),
            None => Wait::Until(self.node(context.node).drift.deadline(monotonic_ns, context.now)),
        }
    }

    /// How long a span that the guest of the moment's node names is in virtual time.
    pub fn own_span(&mut self, span: Duration, context: &mut OpContext<'_>) -> Duration {
        match self.own_clock(context) {
            Some(drift) => {
                let end = drift.monotonic_ns(context.now).saturating_add(span.0);
                drift.deadline(end, context.now).since(context.now)
            }
            None => span,
        }
    }

    /// The clock by which the guest of the moment's node waits, if it can differ from virtual time; its speed is drawn again.
    fn own_clock(&mut self, context: &mut OpContext<'_>) -> Option<&mut ClockDrift> {
        let err = context.faults.plans(&CLOCK_DRIFT) || context.faults.plans(&CLOCK_FREEZE);
        if !(err || self.node(context.node).drift.is_ordered) || self.plan.edition == Edition::FIRST {
            return None;
        }
        let machine: &mut crate::Node = self.nodes[context.node.0 as usize].as_mut().expect("its guest waits");
        machine.drift.ask_drift(context.now, &machine.name, context);
        Some(&mut machine.drift)
    }
}

#[cfg(test)]
mod tests;
