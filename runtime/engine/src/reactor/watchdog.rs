//! Stops a guest that runs away in a build without fuel.
//!
//! ```text
//! guest's thread     ──call 7──┐ … … … … … … … … … … … ✂ a store of a coverage byte faults
//! watchdog's thread       tick   tick   tick: still call 7, for too long ─▶ side memories made inaccessible
//! ```
//!
//! Each way around a loop and each entry of a function sets a coverage byte, so that taking those bytes away ends
//! the guest soon, with a trap of its own. When that happens depends on the machine, so it is never a verdict:
//! the calls are repeated in a build with fuel, which gives one.
//!
//! Invariants: side memories are accessible whenever the guest's thread is not in a call. A call costs two atomic
//! operations.
//! Not here: the repetition (`mod`).

use crate::memory::Region;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two looks of the watchdog.
const TICK: Duration = Duration::from_millis(10);

/// Ticks after which a call goes on with nothing that could be a call of its own: half a second, so that who waits for it is asked whether
/// the time is over.
const LONG_TICKS: u64 = 50;

/// Fuel for which any processor takes longer than a second: five instructions a cycle at 5 GHz, each of them two of the
/// guest's. Were it less, a quick machine would let pass what uses up its budget, and a slow one would not.
const FUEL_PER_SECOND_MAX: u64 = 50_000_000_000;

/// A time so short that whatever would use up `fuel` is cut before.
pub(crate) fn time_of(fuel: u64) -> Duration {
    let nanoseconds = u128::from(fuel) * 1_000_000_000 / u128::from(FUEL_PER_SECOND_MAX);
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

/// The guest is not in a call.
const IDLE: u64 = 0;
/// The watchdog is taking the memories away.
const STRIKING: u64 = u64::MAX - 1;
/// It has taken them away.
const STRUCK: u64 = u64::MAX;

struct WatchdogState {
    /// The number of the call that is going on, or one of the words above.
    call: AtomicU64,
    /// How often a call has gone on to something for which it has the whole time again.
    renewals: AtomicU64,
    /// How often the watchdog has looked: about once a tick.
    looks: AtomicU64,
    ends: AtomicBool,
    sides: Vec<Arc<Region>>,
}

/// Watches the calls of one instance.
pub(super) struct Watchdog {
    shared: Arc<WatchdogState>,
    thread: Option<JoinHandle<()>>,
    calls: u64,
}

impl Watchdog {
    /// Watches calls that touch `sides` again and again; one may take about as long as `limit`, in real time.
    pub(super) fn new(sides: Vec<Arc<Region>>, limit: Duration) -> Result<Watchdog, String> {
        let shared = Arc::new(WatchdogState {
            call: AtomicU64::new(IDLE),
            renewals: AtomicU64::new(0),
            looks: AtomicU64::new(0),
            ends: AtomicBool::new(false),
            sides,
        });
        let ticks = limit.as_nanos().div_ceil(TICK.as_nanos()).max(1);
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("fozzy watchdog".to_owned()).spawn(move || watched.watch(ticks));
        let thread = thread.map_err(|error| format!("the watchdog's thread: {error}"))?;
        Ok(Watchdog { shared, thread: Some(thread), calls: IDLE })
    }

    /// By whom the call that comes next is given its whole time again.
    pub(super) fn renewal(&self) -> TimeRenewal {
        TimeRenewal { begun: self.shared.looks.load(Ordering::Relaxed), shared: Arc::clone(&self.shared) }
    }

    /// A call begins.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.calls += 1;
        self.shared.call.store(self.calls, Ordering::Release);
    }

    /// The call is over; `true` when it was cut.
    #[inline]
    pub(super) fn end(&mut self) -> bool {
        let idle = self.shared.call.compare_exchange(self.calls, IDLE, Ordering::AcqRel, Ordering::Acquire);
        idle.is_err() && self.release()
    }

    #[cold]
    fn release(&self) -> bool {
        while self.shared.call.load(Ordering::Acquire) != STRUCK {
            std::thread::yield_now();
        }
        self.shared.sides.iter().for_each(|side| side.forbid(false));
        self.shared.call.store(IDLE, Ordering::Release);
        true
    }
}

/// Gives the call in progress its whole time again: it goes on with what could be a call of its own.
pub(super) struct TimeRenewal {
    shared: Arc<WatchdogState>,
    /// The number of the look at which the call began.
    begun: u64,
}

impl TimeRenewal {
    #[inline]
    pub(super) fn renew(&self) {
        self.shared.renewals.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the call as a whole takes long. That is of this machine: it may say when a call comes back, and nothing of what it does.
    #[inline]
    pub(super) fn is_long(&self) -> bool {
        self.shared.looks.load(Ordering::Relaxed) - self.begun >= LONG_TICKS
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It ends at its next look; a panic of it was shown already.
            let _ = thread.join();
        }
    }
}

impl WatchdogState {
    fn watch(&self, ticks: u128) {
        let (mut seen, mut since) = ((IDLE, 0), 0);
        while !self.ends.load(Ordering::Acquire) {
            std::thread::park_timeout(TICK);
            self.looks.fetch_add(1, Ordering::Relaxed);
            let call = self.call.load(Ordering::Acquire);
            let now = (call, self.renewals.load(Ordering::Relaxed));
            since = if now == seen { since + 1 } else { 0 };
            seen = now;
            if call != IDLE && call < STRIKING && since >= ticks {
                self.strike(call);
            }
        }
    }

    fn strike(&self, call: u64) {
        if self.call.compare_exchange(call, STRIKING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.sides.iter().for_each(|side| side.forbid(true));
            self.call.store(STRUCK, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_goes_on_and_on_takes_long_however_often_its_time_is_renewed() {
        let mut watchdog = Watchdog::new(Vec::new(), Duration::from_secs(3_600)).expect("a thread");
        let renewal = watchdog.renewal();
        watchdog.begin();
        assert!(!renewal.is_long());
        while !renewal.is_long() {
            renewal.renew();
            std::thread::park_timeout(TICK);
        }
        assert!(!watchdog.renewal().is_long(), "the next call has its time");
        assert!(!watchdog.end(), "nothing was cut");
    }
}
