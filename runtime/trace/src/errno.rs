//! Why an operation on files was refused: the error codes of `wasi:filesystem`, case for case.
//!
//! Example: `Errno::NoEntry.name() == "no-entry"`.
//!
//! Invariant: the cases and their order are those of `wit/deps/filesystem.wit`, so that the host crate
//! translates by a plain table. Not here: which operation gives which (see the operation).

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! errno {
    ($($(#[$doc:meta])* $case:ident = $name:literal,)*) => {
        /// An error code of `wasi:filesystem/types`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Errno {
            $($(#[$doc])* $case,)*
        }

        impl Errno {
            /// Every case, in the order of the WIT.
            pub const ALL: &[Errno] = &[$(Errno::$case,)*];

            /// The name in the WIT.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Errno::$case => $name,)*
                }
            }
        }
    };
}

errno! {
    /// Permission denied (`EACCES`).
    Access = "access",
    /// The operation would block (`EAGAIN`).
    WouldBlock = "would-block",
    /// Connection already in progress (`EALREADY`).
    Already = "already",
    /// The descriptor does not allow it (`EBADF`).
    BadDescriptor = "bad-descriptor",
    /// Device or resource busy (`EBUSY`).
    Busy = "busy",
    /// A deadlock would occur (`EDEADLK`).
    Deadlock = "deadlock",
    /// Storage quota exceeded (`EDQUOT`).
    Quota = "quota",
    /// It exists already (`EEXIST`).
    Exist = "exist",
    /// Beyond the largest file (`EFBIG`).
    FileTooLarge = "file-too-large",
    /// Not a character sequence (`EILSEQ`).
    IllegalByteSequence = "illegal-byte-sequence",
    /// Operation in progress (`EINPROGRESS`).
    InProgress = "in-progress",
    /// Interrupted (`EINTR`).
    Interrupted = "interrupted",
    /// Invalid argument (`EINVAL`).
    Invalid = "invalid",
    /// Input or output error (`EIO`).
    Io = "io",
    /// It is a directory (`EISDIR`).
    IsDirectory = "is-directory",
    /// Too many symbolic links on the way (`ELOOP`).
    Loop = "loop",
    /// Too many hard links (`EMLINK`).
    TooManyLinks = "too-many-links",
    /// Message too large (`EMSGSIZE`).
    MessageSize = "message-size",
    /// A name or a path is too long (`ENAMETOOLONG`).
    NameTooLong = "name-too-long",
    /// No such device (`ENODEV`).
    NoDevice = "no-device",
    /// Nothing is there (`ENOENT`).
    NoEntry = "no-entry",
    /// No locks available (`ENOLCK`).
    NoLock = "no-lock",
    /// Out of memory (`ENOMEM`).
    InsufficientMemory = "insufficient-memory",
    /// The disk is full (`ENOSPC`).
    InsufficientSpace = "insufficient-space",
    /// It is not a directory (`ENOTDIR`).
    NotDirectory = "not-directory",
    /// The directory is not empty (`ENOTEMPTY`).
    NotEmpty = "not-empty",
    /// State not recoverable (`ENOTRECOVERABLE`).
    NotRecoverable = "not-recoverable",
    /// Not supported (`ENOTSUP`).
    Unsupported = "unsupported",
    /// Not a terminal (`ENOTTY`).
    NoTty = "no-tty",
    /// No such device or address (`ENXIO`).
    NoSuchDevice = "no-such-device",
    /// The value does not fit (`EOVERFLOW`).
    Overflow = "overflow",
    /// Outside the sandbox, or not allowed (`EPERM`).
    NotPermitted = "not-permitted",
    /// Broken pipe (`EPIPE`).
    Pipe = "pipe",
    /// Read-only file system (`EROFS`).
    ReadOnly = "read-only",
    /// Not seekable (`ESPIPE`).
    InvalidSeek = "invalid-seek",
    /// The program is running (`ETXTBSY`).
    TextFileBusy = "text-file-busy",
    /// Across devices (`EXDEV`).
    CrossDevice = "cross-device",
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::error::Error for Errno {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_are_those_of_the_wit() {
        let wit = include_str!("../../../wit/deps/filesystem.wit");
        let body = wit.split("enum error-code {").nth(1).expect("the WIT declares error-code");
        let body = body.split('}').next().expect("an enum ends");
        let expected: Vec<&str> = body
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("///"))
            .map(|line| line.trim_end_matches(','))
            .collect();
        let ours: Vec<&str> = Errno::ALL.iter().map(|e| e.name()).collect();
        assert_eq!(ours, expected);
    }
}
