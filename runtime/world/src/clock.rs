//! Virtual time: the clocks of one machine, and what moves them.
//!
//! ```text
//! read   now += 1us      so that a loop which polls the clock comes to an end
//! block  now  = earliest deadline
//! ```
//!
//! Invariants: time never goes back; the wall clock is the monotonic one plus a constant of the plan.
//! Not here: skew and drift between nodes, steps of the wall clock (faults).

use fozzy_trace::{Duration, Instant};

/// What one reading of a clock costs in virtual time. Real readings take some tens of nanoseconds; a
/// longer tick ends polling loops sooner, and a microsecond is still below what programs wait for.
pub const CLOCK_TICK: Duration = Duration(1_000);

/// The clocks of one machine.
#[derive(Clone, Debug)]
pub struct Clock {
    now: Instant,
    wall_start_ns: u64,
}

impl Clock {
    /// Clocks at time zero whose wall time starts at `wall_start_s` seconds after 1970.
    #[must_use]
    pub fn new(wall_start_s: u64) -> Clock {
        Clock { now: Instant::START, wall_start_ns: wall_start_s.saturating_mul(1_000_000_000) }
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

    /// A guest reads the time: it moves by one tick.
    pub fn tick(&mut self) {
        self.now = self.now.after(CLOCK_TICK);
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
