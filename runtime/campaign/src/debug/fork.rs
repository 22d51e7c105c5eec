//! Copies of a process: what the standard library has no safe words for.
//!
//! Invariant: only a process of one thread is copied.

#![allow(unsafe_code, reason = "fork and the signal of a child's end; each block carries its argument")]

use std::io;

/// Has the kernel reap children of this process, which are waited for by nobody.
pub(super) fn reap_children() {
    // SAFETY: `SIG_IGN` is no handler of ours, so that no code runs in a signal.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
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
