//! Virtual time: one line for all machines, what moves it, and how a machine's clocks may differ from it.
//!
//! ```text
//! read   now += 1us      so that a loop which polls the clock comes to an end
//! block  now  = earliest deadline
//! ```
//!
//! Invariants: time never goes back; a machine's clocks are functions of virtual time and its [`Drift`].
//! Not here: when a clock begins to err (faults).

use fozzy_trace::{Duration, Instant};

/// What one reading of a clock costs in virtual time. Real readings take some tens of nanoseconds; a
/// longer tick ends polling loops sooner, and a microsecond is still below what programs wait for.
pub const CLOCK_TICK: Duration = Duration(1_000);

/// Virtual time, and the wall clock that goes with it.
#[derive(Clone, Debug)]
pub struct Clock {
    now: Instant,
    wall_start_ns: u64,
}

impl Clock {
    /// Time zero, at `wall_start_s` seconds after 1970.
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

/// How the clocks of one machine differ from virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// The wall clock is ahead by so many nanoseconds.
    pub wall_offset_ns: i64,
}

impl Drift {
    /// What the machine's wall clock shows when the true one shows `wall_ns`.
    #[must_use]
    pub fn wall_ns(&self, wall_ns: u64) -> u64 {
        wall_ns.saturating_add_signed(self.wall_offset_ns)
    }
}
