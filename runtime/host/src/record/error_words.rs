//! Fixed words of errors that are enumerations of WASI.
//!
//! ```text
//! ErrorCode { code: 20, name: "no-entry", message: "No such file or directory, similar to `ENOENT` in POSIX." }
//! ```
//!
//! The first traces were written with what the generated bindings print: number, name, and what the WIT of that time says of the case,
//! with the indentation of the generated source where that has several lines. All of it is in digests, so all of it stays, whatever
//! WIT and generator say today.

use super::words::{ValueNotation, Words};
use crate::bindings::wasi::filesystem::types as fs;
use crate::bindings::wasi::sockets::network;
use std::fmt::Write;

/// Spaces before each line after the first one, in texts of `wasi:sockets/network`.
const NETWORK_INDENT: usize = 426;

/// Number, name, and lines.
type ErrorText = (u32, &'static str, &'static [&'static str]);

fn write((code, name, lines): ErrorText, indent: usize, out: &mut String) {
    let message = lines.join(&format!("\n{:indent$}", ""));
    let _ = write!(out, "ErrorCode {{ code: {code}, name: {name:?}, message: {message:?} }}");
}

macro_rules! error_words {
    ($($indent:expr => $kind:ty { $($case:ident $code:literal $name:literal $lines:expr),* $(,)? })*) => {$(
        impl Words for $kind {
            fn words(&self, to: ValueNotation, out: &mut String) {
                let text: ErrorText = match self { $(<$kind>::$case => ($code, $name, &$lines),)* };
                match to {
                    ValueNotation::Folded => write(text, $indent, out),
                    ValueNotation::Shown => out.push_str(text.1),
                }
            }
        }

        #[cfg(test)]
        impl AllCases for $kind {
            const ALL: &'static [$kind] = &[$(<$kind>::$case),*];
        }
    )*};
}

/// All cases, for tests.
#[cfg(test)]
trait AllCases: Sized + 'static {
    const ALL: &'static [Self];
}

error_words! {
    0 => fs::ErrorCode {
        Access 0 "access" ["Permission denied, similar to `EACCES` in POSIX."],
        WouldBlock 1 "would-block" ["Resource unavailable, or operation would block, similar to `EAGAIN` and `EWOULDBLOCK` in POSIX."],
        Already 2 "already" ["Connection already in progress, similar to `EALREADY` in POSIX."],
        BadDescriptor 3 "bad-descriptor" ["Bad descriptor, similar to `EBADF` in POSIX."],
        Busy 4 "busy" ["Device or resource busy, similar to `EBUSY` in POSIX."],
        Deadlock 5 "deadlock" ["Resource deadlock would occur, similar to `EDEADLK` in POSIX."],
        Quota 6 "quota" ["Storage quota exceeded, similar to `EDQUOT` in POSIX."],
        Exist 7 "exist" ["File exists, similar to `EEXIST` in POSIX."],
        FileTooLarge 8 "file-too-large" ["File too large, similar to `EFBIG` in POSIX."],
        IllegalByteSequence 9 "illegal-byte-sequence" ["Illegal byte sequence, similar to `EILSEQ` in POSIX."],
        InProgress 10 "in-progress" ["Operation in progress, similar to `EINPROGRESS` in POSIX."],
        Interrupted 11 "interrupted" ["Interrupted function, similar to `EINTR` in POSIX."],
        Invalid 12 "invalid" ["Invalid argument, similar to `EINVAL` in POSIX."],
        Io 13 "io" ["I/O error, similar to `EIO` in POSIX."],
        IsDirectory 14 "is-directory" ["Is a directory, similar to `EISDIR` in POSIX."],
        Loop 15 "loop" ["Too many levels of symbolic links, similar to `ELOOP` in POSIX."],
        TooManyLinks 16 "too-many-links" ["Too many links, similar to `EMLINK` in POSIX."],
        MessageSize 17 "message-size" ["Message too large, similar to `EMSGSIZE` in POSIX."],
        NameTooLong 18 "name-too-long" ["Filename too long, similar to `ENAMETOOLONG` in POSIX."],
        NoDevice 19 "no-device" ["No such device, similar to `ENODEV` in POSIX."],
        NoEntry 20 "no-entry" ["No such file or directory, similar to `ENOENT` in POSIX."],
        NoLock 21 "no-lock" ["No locks available, similar to `ENOLCK` in POSIX."],
        InsufficientMemory 22 "insufficient-memory" ["Not enough space, similar to `ENOMEM` in POSIX."],
        InsufficientSpace 23 "insufficient-space" ["No space left on device, similar to `ENOSPC` in POSIX."],
        NotDirectory 24 "not-directory" ["Not a directory or a symbolic link to a directory, similar to `ENOTDIR` in POSIX."],
        NotEmpty 25 "not-empty" ["Directory not empty, similar to `ENOTEMPTY` in POSIX."],
        NotRecoverable 26 "not-recoverable" ["State not recoverable, similar to `ENOTRECOVERABLE` in POSIX."],
        Unsupported 27 "unsupported" ["Not supported, similar to `ENOTSUP` and `ENOSYS` in POSIX."],
        NoTty 28 "no-tty" ["Inappropriate I/O control operation, similar to `ENOTTY` in POSIX."],
        NoSuchDevice 29 "no-such-device" ["No such device or address, similar to `ENXIO` in POSIX."],
        Overflow 30 "overflow" ["Value too large to be stored in data type, similar to `EOVERFLOW` in POSIX."],
        NotPermitted 31 "not-permitted" ["Operation not permitted, similar to `EPERM` in POSIX."],
        Pipe 32 "pipe" ["Broken pipe, similar to `EPIPE` in POSIX."],
        ReadOnly 33 "read-only" ["Read-only file system, similar to `EROFS` in POSIX."],
        InvalidSeek 34 "invalid-seek" ["Invalid seek, similar to `ESPIPE` in POSIX."],
        TextFileBusy 35 "text-file-busy" ["Text file busy, similar to `ETXTBSY` in POSIX."],
        CrossDevice 36 "cross-device" ["Cross-device link, similar to `EXDEV` in POSIX."],
    }
    NETWORK_INDENT => network::ErrorCode {
        Unknown 0 "unknown" ["Unknown error"],
        AccessDenied 1 "access-denied" ["Access denied.", "", "POSIX equivalent: EACCES, EPERM"],
        NotSupported 2 "not-supported" ["The operation is not supported.", "", "POSIX equivalent: EOPNOTSUPP"],
        InvalidArgument 3 "invalid-argument" ["One of the arguments is invalid.", "", "POSIX equivalent: EINVAL"],
        OutOfMemory 4 "out-of-memory" ["Not enough memory to complete the operation.", "", "POSIX equivalent: ENOMEM, ENOBUFS, EAI_MEMORY"],
        Timeout 5 "timeout" ["The operation timed out before it could finish completely."],
        ConcurrencyConflict 6 "concurrency-conflict" ["This operation is incompatible with another asynchronous operation that is already in progress.", "", "POSIX equivalent: EALREADY"],
        NotInProgress 7 "not-in-progress" ["Trying to finish an asynchronous operation that:", "- has not been started yet, or:", "- was already finished by a previous `finish-*` call.", "", "Note: this is scheduled to be removed when `future`s are natively supported."],
        WouldBlock 8 "would-block" ["The operation has been aborted because it could not be completed immediately.", "", "Note: this is scheduled to be removed when `future`s are natively supported."],
        InvalidState 9 "invalid-state" ["The operation is not valid in the socket's current state."],
        NewSocketLimit 10 "new-socket-limit" ["A new socket resource could not be created because of a system limit."],
        AddressNotBindable 11 "address-not-bindable" ["A bind operation failed because the provided address is not an address that the `network` can bind to."],
        AddressInUse 12 "address-in-use" ["A bind operation failed because the provided address is already in use or because there are no ephemeral ports available."],
        RemoteUnreachable 13 "remote-unreachable" ["The remote address is not reachable"],
        ConnectionRefused 14 "connection-refused" ["The TCP connection was forcefully rejected"],
        ConnectionReset 15 "connection-reset" ["The TCP connection was reset."],
        ConnectionAborted 16 "connection-aborted" ["A TCP connection was aborted."],
        DatagramTooLarge 17 "datagram-too-large" ["The size of a datagram sent to a UDP socket exceeded the maximum", "supported size."],
        NameUnresolvable 18 "name-unresolvable" ["Name does not exist or has no suitable associated IP addresses."],
        TemporaryResolverFailure 19 "temporary-resolver-failure" ["A temporary failure in name resolution occurred."],
        PermanentResolverFailure 20 "permanent-resolver-failure" ["A permanent failure in name resolution occurred."],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    /// The words are those of the bindings, but for the indentation, which changes with whatever else is generated.
    fn pinned<T: Words + AllCases + Debug>(indent: usize) {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for error in T::ALL {
            let mut words = String::new();
            error.words(ValueNotation::Folded, &mut words);
            assert_eq!(squeezed(&words), squeezed(&format!("{error:?}")), "this is what old traces have");
            let indents = words.split("\\n").skip(1).map(|line| line.len() - line.trim_start().len());
            assert!(indents.into_iter().all(|found| found == indent), "this is what old traces have: {words}");
        }
    }

    #[test]
    fn words_of_errors_are_those_of_old_traces() {
        pinned::<fs::ErrorCode>(0);
        pinned::<network::ErrorCode>(426);
    }
}
