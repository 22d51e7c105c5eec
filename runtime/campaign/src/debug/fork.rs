//! Copies of a process: what the standard library has no safe words for.
//!
//! Invariants: only a process of one thread is copied; a process that executes does so for a session that is there.

#![allow(
    unsafe_code,
    reason = "fork, the signal of a closed connection, and that of a child's end; each block carries its argument"
)]

use crate::wall_clock::Stopwatch;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// The connection of [`end_with`].
static CONNECTION: AtomicI32 = AtomicI32::new(-1);

/// Has the kernel reap children of this process, which are waited for by nobody.
pub(super) fn reap_children() {
    // SAFETY: `SIG_IGN` is no handler of ours, so that no code runs in a signal.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// From now on, the signal that [`end_with`] asks for is looked into. The kernel sends it also for a message that was read already: it wakes the
/// reader first, which can then be here before the signal is.
pub(super) fn look_into_signals() -> io::Result<()> {
    // SAFETY: an action of zeros is a valid one, without flags and with an empty set of signals.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = end_if_closed as *const () as libc::sighandler_t;
    // A guest has a small stack of its own, and no call of the host is to fail.
    action.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the action is ours and complete; its handler calls nothing that a signal may not interrupt.
    let done = unsafe { libc::sigaction(libc::SIGIO, &raw const action, std::ptr::null_mut()) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

extern "C" fn end_if_closed(_: libc::c_int) {
    let mut state = libc::pollfd { fd: CONNECTION.load(Ordering::Relaxed), events: libc::POLLIN, revents: 0 };
    // SAFETY: `poll` and `_exit` may be called in a signal, and an atomic may be read there; it does not wait, and so leaves `errno` alone.
    unsafe {
        // A poll that fails says nothing of the connection.
        if libc::poll(&raw mut state, 1, 0) > 0 {
            libc::_exit(0);
        }
    }
}

/// Whether somebody connects within that time.
pub(super) fn connects_within(listener: &UnixListener, limit: Duration) -> io::Result<bool> {
    let watch = Stopwatch::start();
    loop {
        let left = limit.saturating_sub(watch.elapsed()).as_millis();
        let mut state = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the one structure is ours, and the time is bounded.
        match unsafe { libc::poll(&raw mut state, 1, i32::try_from(left).unwrap_or(i32::MAX)) } {
            0 => return Ok(false),
            found if found > 0 => return Ok(true),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// Copies this process: `true` in the copy.
pub(super) fn fork() -> io::Result<bool> {
    // SAFETY: a debuggee has one thread that does anything: it reads its programs from the cache, and starts no thread of its own. So nothing
    // is locked by another thread that the copy would not have, and every function may be called in it.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(true),
        _ => Ok(false),
    }
}

/// From now on, this process ends when its session closes the connection, or sends something: what executes hears of neither by itself.
/// `false` when it is closed already.
pub(super) fn end_with(stream: &UnixStream) -> io::Result<bool> {
    let connection = stream.as_raw_fd();
    CONNECTION.store(connection, Ordering::Relaxed);
    // SAFETY: it asks for no memory.
    let own = unsafe { libc::getpid() };
    set(connection, libc::F_SETOWN, own)?;
    set(connection, libc::F_SETFL, flags(connection)? | libc::O_ASYNC)?;
    // What was closed before that is no event any more.
    let mut state = libc::pollfd { fd: connection, events: libc::POLLIN, revents: 0 };
    // SAFETY: the one structure is ours, and it does not wait.
    let events = unsafe { libc::poll(&raw mut state, 1, 0) };
    if events < 0 { Err(io::Error::last_os_error()) } else { Ok(events == 0) }
}

/// The opposite: what comes is read.
pub(super) fn outlast(stream: &UnixStream) -> io::Result<()> {
    let connection = stream.as_raw_fd();
    set(connection, libc::F_SETFL, flags(connection)? & !libc::O_ASYNC)
}

fn flags(connection: RawFd) -> io::Result<i32> {
    // SAFETY: it asks a descriptor that is open for a number.
    let flags = unsafe { libc::fcntl(connection, libc::F_GETFL) };
    if flags < 0 { Err(io::Error::last_os_error()) } else { Ok(flags) }
}

fn set(connection: RawFd, what: i32, value: i32) -> io::Result<()> {
    // SAFETY: both commands take a number. The signal that they ask for has the handler of `look_into_signals`.
    let done = unsafe { libc::fcntl(connection, what, value) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
