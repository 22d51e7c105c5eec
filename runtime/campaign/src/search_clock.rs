//! When a search is over: its time, and a person who ends it; also in the middle of an execution.
//!
//! ```text
//! search ── execution ── execution ── execution ── … computes for ever
//!                                          ▲ time is over, or Ctrl-C: it is thrown away, and the search ends with what it has
//! ```
//!
//! Invariant: a clock ends a search, and says how much of it goes to what was kept before; it has no other influence on it.

use crate::error::{CampaignError, ErrorKind};
use crate::options::StopFlag;
use crate::wall_clock::Stopwatch;
use fozzy_engine::Interrupt;
use fozzy_report::fleet::FIRST_RUN_WITHOUT_END;
use fozzy_trace::plan::Limits;
use fozzy_trace::{Duration, counted};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A run that was at work for less than this part of its search is cut off at the end as any other may be.
const LONG_RUN_SHARE: u64 = 10;

/// Virtual time of a program unless its plan bounds it: a year. Who tries again and again, and waits in between, takes no time of ours and would
/// otherwise come to the end of all virtual time.
pub(crate) const TIME_DEFAULT: Duration = Duration(365 * 24 * 3600 * 1_000_000_000);

/// The clock of one search.
pub struct SearchClock {
    watch: Stopwatch,
    stop: StopFlag,
    /// Nanoseconds after which it is over.
    end_ns: AtomicU64,
    /// Nanoseconds that are not counted.
    excluded_ns: AtomicU64,
    /// Nanoseconds after which the search itself has begun.
    begun_ns: OnceLock<u64>,
}

/// Real time that the runs which confirm and record failures have beyond the end of a search: what was found by then is not to be
/// lost, and a command is not to be held for ever.
pub(crate) const CONFIRM_GRACE: Duration = Duration::from_millis(60_000);
/// The same in a worker: its supervisor kills it [`STOP_GRACE`](crate::workers::STOP_GRACE) after the end. So it is where somebody asks for the
/// end, too: a fleet kills a slice that does not come to it.
pub(crate) const WORKER_CONFIRM_GRACE: Duration = Duration::from_millis(7_000);

impl SearchClock {
    /// A clock that starts now, for a search that takes so long at the most, and ends when `stop` says so.
    pub fn start(time: Option<Duration>, stop: StopFlag) -> Arc<SearchClock> {
        let end_ns = AtomicU64::new(time.map_or(u64::MAX, |time| time.0));
        let (excluded_ns, begun_ns) = (AtomicU64::new(0), OnceLock::new());
        Arc::new(SearchClock { watch: Stopwatch::start(), stop, end_ns, excluded_ns, begun_ns })
    }

    /// Does work that is none of the search, such as compiling: its time is not counted.
    pub fn excluding<T>(&self, work: impl FnOnce() -> T) -> T {
        let begin = self.watch.elapsed_ns();
        let done = work();
        self.excluded_ns.fetch_add(self.watch.elapsed_ns() - begin, Ordering::Relaxed);
        done
    }

    /// Has it end executions that `interrupt` reaches, too.
    pub fn bound(self: &Arc<Self>, interrupt: &Interrupt) {
        let clock = Arc::clone(self);
        interrupt.arm(Arc::new(move || clock.is_over()));
    }

    /// Moves the end.
    pub fn end_after(&self, time: Duration) {
        self.end_ns.store(time.0, Ordering::Relaxed);
    }

    /// Real time of the search since the start.
    pub fn elapsed_ns(&self) -> u64 {
        self.watch.elapsed_ns() - self.excluded_ns.load(Ordering::Relaxed)
    }

    /// What was there before, such as a corpus, has been executed: from here on it searches.
    pub fn begin_search(&self) {
        let _ = self.begun_ns.set(self.elapsed_ns());
    }

    /// Real time since then; `None` before. A risk is of that: while a corpus is replayed, nothing says what is left.
    pub fn searched_ns(&self) -> Option<u64> {
        self.begun_ns.get().map(|begun_ns| self.elapsed_ns().saturating_sub(*begun_ns))
    }

    /// Runs that the end of the search has cut off and that may never end: none if it was at work for a short while only. `before_ns` is
    /// when a run was last known to have ended.
    pub(crate) fn given_up(&self, interrupt: &Interrupt, before_ns: u64) -> u64 {
        let elapsed_ns = self.elapsed_ns();
        u64::from(interrupt.has_struck() && is_long(elapsed_ns.saturating_sub(before_ns), elapsed_ns))
    }

    /// Whether the search is over.
    pub fn is_over(&self) -> bool {
        self.elapsed_ns() >= self.end_ns.load(Ordering::Relaxed) || (self.stop)()
    }
}

/// The interrupt of runs that confirm and record failures: due `grace` after that of the search, or sooner once `stop` asks for the end, and never
/// without one of them.
pub(crate) fn reprieve(search: &Interrupt, grace: Duration, stop: StopFlag) -> Interrupt {
    let (search, since, reprieve) = (search.clone(), Mutex::new((None, None)), Interrupt::default());
    reprieve.arm(Arc::new(move || {
        let mut since = since.lock().unwrap_or_else(PoisonError::into_inner);
        let (over_since, asked_since) = &mut *since;
        has_lasted(over_since, search.is_due(), grace)
            || has_lasted(asked_since, stop(), grace.min(WORKER_CONFIRM_GRACE))
    }));
    reprieve
}

/// Whether something has been so for this time, at each look.
fn has_lasted(since: &mut Option<Stopwatch>, is_so: bool, time: Duration) -> bool {
    if !is_so {
        *since = None;
        return false;
    }
    since.get_or_insert_with(Stopwatch::start).elapsed_ns() >= time.0
}

/// Why a failure has no trace: the run that confirms or records it was not at its end when its grace was over.
pub(crate) fn unconfirmed_error() -> CampaignError {
    let message = "the search was over, and the run that repeats the failure was not at its end in its time of grace, so that there is \
                   no trace of it";
    CampaignError::new(ErrorKind::Interrupted, message).hint("a longer --time leaves time for it")
}

/// Whether a run that has been at work for so long is one of those that may never end.
fn is_long(at_work_ns: u64, searched_ns: u64) -> bool {
    at_work_ns >= searched_ns / LONG_RUN_SHARE
}

/// The warning of a search that has given up this number of runs at its end, under these limits: what is found in no other run may be in
/// these. Without a flag or a plan that says otherwise, a run of it has `fuel_default`.
pub fn given_up_warning(runs: u64, limits: &Limits, fuel_default: u64) -> Option<String> {
    let is_limited = limits.time.is_some_and(|time| time != TIME_DEFAULT) || limits.fuel != fuel_default;
    let flags = "--timeout (virtual time) or --fuel (instructions)";
    let words = match is_limited {
        true => format!("given up before the limits that are given: a smaller {flags} makes a run of more a failure"),
        false => format!("given up, and may never end: with {flags}, a run of more is a failure"),
    };
    (runs > 0).then(|| format!("{} still at work at the end, {words}", counted(runs, "run")))
}

/// What it means that the first execution of a search failed to come to its end in time: nothing was searched.
pub(crate) fn first_run_error(name: &str, error: CampaignError) -> CampaignError {
    if error.kind != ErrorKind::Interrupted {
        return error;
    }
    nothing_tried(name)
}

/// What it means that the first execution of a search has used up its instructions before what is searched began: it never will.
pub(crate) fn unbegun_error(name: &str, fuel: u64) -> CampaignError {
    let message = format!("{name} has used up its {} before its first step", counted(fuel, "instruction"));
    CampaignError::new(ErrorKind::Target, message)
        .hint("--fuel N gives it more; a start that never ends is a timeout of `fozzy run`")
}

/// A search without a single run: it has no verdict.
pub fn nothing_tried(name: &str) -> CampaignError {
    let message = format!("{name}: nothing was tried: {FIRST_RUN_WITHOUT_END}");
    CampaignError::new(ErrorKind::Target, message)
        .hint("--fuel N bounds the instructions of a run, which is a timeout then; a longer --time waits for it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::open::FUEL_OF_A_CALL;
    use fozzy_trace::plan::FUEL_DEFAULT;

    #[test]
    fn the_time_a_moved_end_and_a_person_end_it() {
        let never = || -> StopFlag { Arc::new(|| false) };
        assert!(!SearchClock::start(None, never()).is_over());
        let clock = SearchClock::start(Some(Duration(0)), never());
        assert!(clock.is_over());
        clock.end_after(Duration(u64::MAX));
        let interrupt = Interrupt::default();
        assert!(!interrupt.is_armed() && !interrupt.strikes());
        clock.bound(&interrupt);
        assert!(interrupt.is_armed() && !interrupt.strikes());
        clock.end_after(Duration(0));
        assert!(!interrupt.has_struck() && interrupt.strikes() && interrupt.has_struck());
        interrupt.disarm();
        assert!(!interrupt.strikes());
        assert!(SearchClock::start(None, Arc::new(|| true)).is_over());
    }

    #[test]
    fn a_run_that_is_given_up_is_warned_of_as_its_limits_and_its_time_say() {
        let second = 1_000_000_000;
        assert!(!is_long(second / 3, 8 * second) && is_long(second, 8 * second) && is_long(0, 0));
        let clock = SearchClock::start(None, Arc::new(|| false));
        let interrupt = Interrupt::default();
        assert_eq!(clock.given_up(&interrupt, 0), 0, "nothing was cut off");
        interrupt.arm(Arc::new(|| true));
        assert!(interrupt.strikes());
        assert_eq!(clock.given_up(&interrupt, 0), 1);
        let warning = |runs: u64, limits: Limits| given_up_warning(runs, &limits, FUEL_DEFAULT).unwrap_or_default();
        assert_eq!(warning(0, Limits::default()), "");
        let endless = "1 run still at work at the end, given up, and may never end: with --timeout (virtual time) or --fuel \
                       (instructions), a run of more is a failure";
        assert_eq!(warning(1, Limits::default()), endless);
        assert_eq!(warning(1, Limits { time: Some(TIME_DEFAULT), ..Limits::default() }), endless);
        let limited = "2 runs still at work at the end, given up before the limits that are given: a smaller --timeout (virtual \
                       time) or --fuel (instructions) makes a run of more a failure";
        assert_eq!(warning(2, Limits { time: Some(Duration(1)), ..Limits::default() }), limited);
        assert_eq!(warning(2, Limits { fuel: 1, ..Limits::default() }), limited);
        // A campaign has another default.
        let of_campaign = Limits { fuel: FUEL_OF_A_CALL, ..Limits::default() };
        assert_eq!(given_up_warning(1, &of_campaign, FUEL_OF_A_CALL).as_deref(), Some(endless));
    }

    #[test]
    fn a_confirming_run_has_its_grace_and_no_more() {
        let search = Interrupt::default();
        let never = || -> StopFlag { Arc::new(|| false) };
        let (long, none) = (reprieve(&search, Duration(u64::MAX), never()), reprieve(&search, Duration(0), never()));
        assert!(!long.strikes() && !none.strikes(), "a search that nothing ends");
        search.arm(Arc::new(|| true));
        assert!(!long.strikes() && none.strikes() && !search.has_struck());
        search.disarm();
        assert!(!none.strikes());
        // Whoever asks for the end does not wait as long as a clock does.
        let (mut since, long) = (None, Duration(u64::MAX));
        assert!(!has_lasted(&mut since, false, Duration(0)) && has_lasted(&mut since, true, Duration(0)));
        assert!(!has_lasted(&mut since, true, long) && !has_lasted(&mut since, false, long) && since.is_none());
        assert!(reprieve(&search, Duration(0), Arc::new(|| true)).strikes());
        let asked = reprieve(&search, CONFIRM_GRACE, Arc::new(|| true));
        assert!(!asked.strikes() && WORKER_CONFIRM_GRACE < CONFIRM_GRACE);
    }

    #[test]
    fn the_time_before_the_search_is_none_of_it() {
        let clock = SearchClock::start(None, Arc::new(|| false));
        let begin = Stopwatch::start();
        while begin.elapsed_ns() < 1_000_000 {}
        assert_eq!(clock.searched_ns(), None);
        clock.begin_search();
        let begun_ns = *clock.begun_ns.get().expect("it has begun");
        assert!(begun_ns >= 1_000_000);
        clock.begin_search();
        assert_eq!(clock.begun_ns.get(), Some(&begun_ns), "once");
        let searched_ns = clock.searched_ns().expect("it has begun");
        assert!(searched_ns + begun_ns <= clock.elapsed_ns());
    }

    #[test]
    fn work_that_is_none_of_the_search_takes_none_of_its_time() {
        let clock = SearchClock::start(None, Arc::new(|| false));
        let took = clock.excluding(|| {
            let watch = Stopwatch::start();
            while watch.elapsed_ns() < 1_000_000 {}
            watch.elapsed_ns()
        });
        let own = clock.elapsed_ns();
        assert!(own + took <= clock.watch.elapsed_ns(), "{own}, without {took}");
    }
}
