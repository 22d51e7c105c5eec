//! Ends executions from outside: a campaign whose time is over waits for no program that computes for ever.
//!
//! ```text
//! guest   ── INTERRUPT_FUEL ── INTERRUPT_FUEL ── … ──▶ poll ─▶ not due: the execution continues unchanged
//!                                                       └───▶ due: the whole execution is thrown away
//! ```
//!
//! Invariant: an interruption has no influence on what is recorded: an interrupted execution has no end, no verdict and no trace, and
//! every other execution is the same as without polls.
//! Not here: ends that a program can have (`GuestStop`), and the end of a run with a person (`input`).

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Instructions of a guest between two polls: some tens of milliseconds.
pub const INTERRUPT_FUEL: u64 = 20_000_000;
/// The same, of what host calls use of the budget: some ten thousand calls, as one can take much longer than its instructions say.
pub(crate) const INTERRUPT_WORK: u64 = 1_000_000;

/// Whether executions are to end now.
pub type InterruptFlag = Arc<dyn Fn() -> bool + Send + Sync>;

/// Shared by the executor and by what may end its executions.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<InterruptState>);

#[derive(Default)]
struct InterruptState {
    flag: Mutex<Option<InterruptFlag>>,
    has_struck: AtomicBool,
}

impl Interrupt {
    /// From here on executions end when `flag` says so.
    pub fn arm(&self, flag: InterruptFlag) {
        *self.flag() = Some(flag);
    }

    /// From here on executions come to their own ends.
    pub fn disarm(&self) {
        *self.flag() = None;
    }

    /// Whether an execution that begins now may be interrupted.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.flag().is_some()
    }

    /// Whether executions are to end now. It ends none.
    #[must_use]
    pub fn is_due(&self) -> bool {
        let flag = self.flag().clone();
        flag.is_some_and(|flag| flag())
    }

    /// Whether the execution that asks ends here.
    #[must_use]
    pub fn strikes(&self) -> bool {
        let strikes = self.is_due();
        self.0.has_struck.fetch_or(strikes, Ordering::Relaxed);
        strikes
    }

    /// Whether it has ended an execution.
    #[must_use]
    pub fn has_struck(&self) -> bool {
        self.0.has_struck.load(Ordering::Relaxed)
    }

    fn flag(&self) -> MutexGuard<'_, Option<InterruptFlag>> {
        self.0.flag.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Interrupt").field(&self.is_armed()).finish()
    }
}
