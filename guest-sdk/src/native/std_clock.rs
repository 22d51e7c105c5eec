//! Time of `std` in a native run: virtual, as in the sandbox.
//!
//! ```text
//! std::thread::sleep ─ clock_nanosleep, nanosleep ─┐               ┌─ within a run:  the time of the run moves on; nobody waits
//! Instant::now, SystemTime::now ── clock_gettime ──┴─ defined here ┴─ anywhere else: the C library's function
//! ```
//!
//! What a program defines is linked before the C library, so these definitions are what `std` calls. Only the thread of a run has
//! virtual time: threads that it starts, and all others, have the real one.
//!
//! Invariants: within a run a sleep takes no real time, and a clock shows at least what was slept; outside of it nothing differs.
//! Not here: waits with a limit for another thread or a socket (`recv_timeout`, `wait_timeout`, `set_read_timeout`), which are the
//! kernel's; systems other than Linux with glibc, where the time of `std` stays real.

use crate::host;
use libc::{c_int, clockid_t, timespec};
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::OnceLock;
use std::time::Duration;

/// When the wall clock of a run begins, in seconds since 1970: as in the sandbox.
const WALL_START: Duration = Duration::from_secs(fozzy_trace::plan::WALL_START_DEFAULT);

thread_local! {
    /// The real monotonic time at which the run of this thread began, while there is one. Moments of before the run then are earlier.
    static RUN: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// While it lives, the time of `std` on this thread is that of the run.
pub(super) struct StdClockGuard(Option<Duration>);

impl StdClockGuard {
    pub(super) fn new() -> StdClockGuard {
        let mut start = timespec { tv_sec: 0, tv_nsec: 0 };
        let outer = RUN.take();
        real_gettime(libc::CLOCK_MONOTONIC, &mut start);
        RUN.set(Some(duration(&start)));
        StdClockGuard(outer)
    }
}

impl Drop for StdClockGuard {
    fn drop(&mut self) {
        RUN.set(self.0);
    }
}

/// What a clock of the run shows, if there is a run and it has that clock. Reading it moves it, as in the sandbox.
fn shown(clock: clockid_t) -> Option<Duration> {
    let start = RUN.try_with(Cell::get).ok().flatten()?;
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE => Some(WALL_START + host::try_now()?),
        libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_BOOTTIME => {
            Some(start + host::try_now()?)
        }
        // Processor time is nothing that a program waits for.
        _ => None,
    }
}

/// Lets the run sleep, if there is one.
fn slept(time: Duration) -> bool {
    RUN.try_with(Cell::get).ok().flatten().is_some() && host::try_advance(time)
}

fn duration(time: &timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0).min(999_999_999))
}

type GetTime = extern "C" fn(clockid_t, *mut timespec) -> c_int;
type ClockSleep = extern "C" fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int;

/// The definition that ours hides.
fn hidden(name: &CStr) -> *mut libc::c_void {
    // SAFETY: a lookup by a name that ends with a zero; nothing is called.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

fn real_gettime(clock: clockid_t, out: *mut timespec) -> c_int {
    static REAL: OnceLock<Option<GetTime>> = OnceLock::new();
    let real = *REAL.get_or_init(|| {
        let found = hidden(c"clock_gettime");
        // SAFETY: it is the C library's `clock_gettime`, or null, which is `None`.
        unsafe { std::mem::transmute::<*mut libc::c_void, Option<GetTime>>(found) }
    });
    match real {
        Some(real) => real(clock, out),
        // In a program that is linked statically there is nothing to look up.
        // SAFETY: the arguments are those of the system call, and the caller's own.
        None => unsafe { libc::syscall(libc::SYS_clock_gettime, clock, out) as c_int },
    }
}

fn real_nanosleep(clock: clockid_t, flags: c_int, wanted: *const timespec, rest: *mut timespec) -> c_int {
    static REAL: OnceLock<Option<ClockSleep>> = OnceLock::new();
    let real = *REAL.get_or_init(|| {
        let found = hidden(c"clock_nanosleep");
        // SAFETY: it is the C library's `clock_nanosleep`, or null, which is `None`.
        unsafe { std::mem::transmute::<*mut libc::c_void, Option<ClockSleep>>(found) }
    });
    if let Some(real) = real {
        return real(clock, flags, wanted, rest);
    }
    // SAFETY: the arguments are those of the system call, and the caller's own.
    let failed = unsafe { libc::syscall(libc::SYS_clock_nanosleep, clock, flags, wanted, rest) } != 0;
    // The function returns the error that the system call puts into `errno`.
    if failed { std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL) } else { 0 }
}

/// As in `time.h`.
///
/// # Safety
///
/// `out` is null or can be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, out: *mut timespec) -> c_int {
    let shown = if out.is_null() { None } else { shown(clock) };
    let Some(shown) = shown else { return real_gettime(clock, out) };
    // SAFETY: the caller's, and it is not null.
    unsafe { *out = timespec { tv_sec: shown.as_secs() as _, tv_nsec: shown.subsec_nanos().into() } };
    0
}

/// As in `time.h`.
///
/// # Safety
///
/// `wanted` can be read; `rest` is null or can be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    wanted: *const timespec,
    rest: *mut timespec,
) -> c_int {
    let time = if wanted.is_null() {
        None
    } else {
        // SAFETY: the caller's, and it is not null.
        let wanted = duration(unsafe { &*wanted });
        // Until a moment of a clock, which asking for it does not move.
        let until = |now: Duration| wanted.saturating_sub(now);
        if flags & libc::TIMER_ABSTIME == 0 {
            Some(wanted)
        } else {
            host::try_peek().and_then(|now| Some(until(base(clock)? + now)))
        }
    };
    match time {
        Some(time) if slept(time) => 0,
        _ => real_nanosleep(clock, flags, wanted, rest),
    }
}

/// What a clock of the run shows at its beginning.
fn base(clock: clockid_t) -> Option<Duration> {
    let start = RUN.try_with(Cell::get).ok().flatten()?;
    Some(if clock == libc::CLOCK_REALTIME { WALL_START } else { start })
}

/// As in `time.h`.
///
/// # Safety
///
/// `wanted` can be read; `rest` is null or can be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn nanosleep(wanted: *const timespec, rest: *mut timespec) -> c_int {
    // SAFETY: the caller's; without flags the two mean the same, except for how an error is returned.
    let error = unsafe { clock_nanosleep(libc::CLOCK_REALTIME, 0, wanted, rest) };
    if error == 0 {
        return 0;
    }
    // SAFETY: the address is this thread's own.
    unsafe { *libc::__errno_location() = error };
    -1
}
