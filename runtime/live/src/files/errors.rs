//! From the error numbers of Linux to the error codes of `wasi:filesystem`.
//!
//! Example: `ENOENT` is `no-entry`; an error without a number, as cap-std's refusal of an escape, goes by its kind.
//!
//! Invariant: every number that wasmtime-wasi translates has its translation; the numbers that it calls `io` but
//! for which the interface has a case of its own (a full quota, a read-only disk, …) get that case.

use fozzy_trace::Errno;
use rustix::io::Errno as Number;
use std::io;

/// The highest number that Linux means an error by (`MAX_ERRNO`).
const NUMBER_MAX: i32 = 4095;

/// The code of what the operating system said.
pub(super) fn errno(error: &io::Error) -> Errno {
    let Some(number) = error.raw_os_error() else { return by_kind(error.kind()) };
    // A file system in user space may answer any number; the kernel passes on those that are error numbers.
    if !(1..=NUMBER_MAX).contains(&number) {
        return Errno::Io;
    }
    match Number::from_raw_os_error(number) {
        Number::ACCESS => Errno::Access,
        Number::AGAIN => Errno::WouldBlock,
        Number::ALREADY => Errno::Already,
        Number::BADF => Errno::BadDescriptor,
        Number::BUSY => Errno::Busy,
        Number::DEADLK => Errno::Deadlock,
        Number::DQUOT => Errno::Quota,
        Number::EXIST => Errno::Exist,
        Number::FBIG => Errno::FileTooLarge,
        Number::ILSEQ => Errno::IllegalByteSequence,
        Number::INPROGRESS => Errno::InProgress,
        Number::INTR => Errno::Interrupted,
        Number::INVAL => Errno::Invalid,
        Number::ISDIR => Errno::IsDirectory,
        Number::LOOP => Errno::Loop,
        Number::MLINK => Errno::TooManyLinks,
        Number::MSGSIZE => Errno::MessageSize,
        Number::NAMETOOLONG => Errno::NameTooLong,
        Number::NODEV => Errno::NoDevice,
        Number::NOENT => Errno::NoEntry,
        Number::NOLCK => Errno::NoLock,
        // Too many open files has no case; it is want of memory for one more.
        Number::NOMEM | Number::MFILE | Number::NFILE => Errno::InsufficientMemory,
        Number::NOSPC => Errno::InsufficientSpace,
        Number::NOTDIR => Errno::NotDirectory,
        Number::NOTEMPTY => Errno::NotEmpty,
        Number::NOTRECOVERABLE => Errno::NotRecoverable,
        Number::NOTSUP | Number::NOSYS => Errno::Unsupported,
        Number::NOTTY => Errno::NoTty,
        Number::NXIO => Errno::NoSuchDevice,
        Number::OVERFLOW => Errno::Overflow,
        Number::PERM => Errno::NotPermitted,
        Number::PIPE => Errno::Pipe,
        Number::ROFS => Errno::ReadOnly,
        Number::SPIPE => Errno::InvalidSeek,
        Number::TXTBSY => Errno::TextFileBusy,
        Number::XDEV => Errno::CrossDevice,
        _ => Errno::Io,
    }
}

fn by_kind(kind: io::ErrorKind) -> Errno {
    match kind {
        io::ErrorKind::NotFound => Errno::NoEntry,
        io::ErrorKind::PermissionDenied => Errno::NotPermitted,
        io::ErrorKind::AlreadyExists => Errno::Exist,
        io::ErrorKind::InvalidInput => Errno::Invalid,
        _ => Errno::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_kinds_have_their_codes() {
        for (number, expected) in [(1, "not-permitted"), (2, "no-entry"), (28, "insufficient-space"), (5, "io")] {
            assert_eq!(errno(&io::Error::from_raw_os_error(number)).name(), expected, "{number}");
        }
        for strange in [9999, 4095, 0, -1] {
            assert_eq!(errno(&io::Error::from_raw_os_error(strange)), Errno::Io, "{strange}");
        }
        assert_eq!(errno(&io::Error::new(io::ErrorKind::PermissionDenied, "an escape")), Errno::NotPermitted);
        assert_eq!(errno(&io::Error::other("anything")), Errno::Io);
    }
}
