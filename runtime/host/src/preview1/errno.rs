//! The error numbers of preview 1, and which of them an error of the disk or of the network is.

use fozzy_trace::{Errno, Record, RunningDigest};
use fozzy_world::network::SocketErrorCode;

/// `errno` of `wasi_snapshot_preview1`, never that of success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WasiErrno(u16);

macro_rules! numbers {
    ($($name:ident = $number:literal $word:literal,)*) => {
        impl WasiErrno {
            $(pub(super) const $name: WasiErrno = WasiErrno($number);)*

            /// Its name in WASI.
            fn word(self) -> &'static str {
                match self.0 {
                    $($number => $word,)*
                    _ => unreachable!("only the constants are made"),
                }
            }
        }
    };
}
numbers! {
    ACCES = 2 "acces",
    ADDRINUSE = 3 "addrinuse",
    ADDRNOTAVAIL = 4 "addrnotavail",
    AFNOSUPPORT = 5 "afnosupport",
    AGAIN = 6 "again",
    ALREADY = 7 "already",
    BADF = 8 "badf",
    BUSY = 10 "busy",
    CONNREFUSED = 14 "connrefused",
    CONNRESET = 15 "connreset",
    DEADLK = 16 "deadlk",
    DESTADDRREQ = 17 "destaddrreq",
    DQUOT = 19 "dquot",
    EXIST = 20 "exist",
    FBIG = 22 "fbig",
    HOSTUNREACH = 23 "hostunreach",
    ILSEQ = 25 "ilseq",
    INPROGRESS = 26 "inprogress",
    INTR = 27 "intr",
    INVAL = 28 "inval",
    IO = 29 "io",
    ISCONN = 30 "isconn",
    ISDIR = 31 "isdir",
    LOOP = 32 "loop",
    MFILE = 33 "mfile",
    MLINK = 34 "mlink",
    MSGSIZE = 35 "msgsize",
    NAMETOOLONG = 37 "nametoolong",
    NODEV = 43 "nodev",
    NOENT = 44 "noent",
    NOLCK = 46 "nolck",
    NOMEM = 48 "nomem",
    NOPROTOOPT = 50 "noprotoopt",
    NOSPC = 51 "nospc",
    NOTCONN = 53 "notconn",
    NOTDIR = 54 "notdir",
    NOTEMPTY = 55 "notempty",
    NOTRECOVERABLE = 56 "notrecoverable",
    NOTSOCK = 57 "notsock",
    NOTSUP = 58 "notsup",
    NOTTY = 59 "notty",
    NXIO = 60 "nxio",
    OVERFLOW = 61 "overflow",
    PERM = 63 "perm",
    PIPE = 64 "pipe",
    PROTONOSUPPORT = 66 "protonosupport",
    ROFS = 69 "rofs",
    SPIPE = 70 "spipe",
    TIMEDOUT = 73 "timedout",
    TXTBSY = 74 "txtbsy",
    XDEV = 75 "xdev",
    // Of the sockets extension of WasmEdge, for the lookup of names.
    AIFAMILY = 81 "aifamily",
    AIMEMORY = 82 "aimemory",
    AINONAME = 84 "ainoname",
    AISERVICE = 85 "aiservice",
}

impl WasiErrno {
    /// As the guest gets it.
    pub(super) fn number(self) -> u32 {
        self.0.into()
    }
}

impl From<Errno> for WasiErrno {
    fn from(errno: Errno) -> WasiErrno {
        match errno {
            Errno::Access => WasiErrno::ACCES,
            Errno::WouldBlock => WasiErrno::AGAIN,
            Errno::Already => WasiErrno::ALREADY,
            Errno::BadDescriptor => WasiErrno::BADF,
            Errno::Busy => WasiErrno::BUSY,
            Errno::Deadlock => WasiErrno::DEADLK,
            Errno::Quota => WasiErrno::DQUOT,
            Errno::Exist => WasiErrno::EXIST,
            Errno::FileTooLarge => WasiErrno::FBIG,
            Errno::IllegalByteSequence => WasiErrno::ILSEQ,
            Errno::InProgress => WasiErrno::INPROGRESS,
            Errno::Interrupted => WasiErrno::INTR,
            Errno::Invalid => WasiErrno::INVAL,
            Errno::Io => WasiErrno::IO,
            Errno::IsDirectory => WasiErrno::ISDIR,
            Errno::Loop => WasiErrno::LOOP,
            Errno::TooManyLinks => WasiErrno::MLINK,
            Errno::MessageSize => WasiErrno::MSGSIZE,
            Errno::NameTooLong => WasiErrno::NAMETOOLONG,
            Errno::NoDevice => WasiErrno::NODEV,
            Errno::NoEntry => WasiErrno::NOENT,
            Errno::NoLock => WasiErrno::NOLCK,
            Errno::InsufficientMemory => WasiErrno::NOMEM,
            Errno::InsufficientSpace => WasiErrno::NOSPC,
            Errno::NotDirectory => WasiErrno::NOTDIR,
            Errno::NotEmpty => WasiErrno::NOTEMPTY,
            Errno::NotRecoverable => WasiErrno::NOTRECOVERABLE,
            Errno::Unsupported => WasiErrno::NOTSUP,
            Errno::NoTty => WasiErrno::NOTTY,
            Errno::NoSuchDevice => WasiErrno::NXIO,
            Errno::Overflow => WasiErrno::OVERFLOW,
            Errno::NotPermitted => WasiErrno::PERM,
            Errno::Pipe => WasiErrno::PIPE,
            Errno::ReadOnly => WasiErrno::ROFS,
            Errno::InvalidSeek => WasiErrno::SPIPE,
            Errno::TextFileBusy => WasiErrno::TXTBSY,
            Errno::CrossDevice => WasiErrno::XDEV,
        }
    }
}

impl From<SocketErrorCode> for WasiErrno {
    fn from(error: SocketErrorCode) -> WasiErrno {
        match error {
            SocketErrorCode::Unknown => WasiErrno::IO,
            SocketErrorCode::AccessDenied => WasiErrno::ACCES,
            SocketErrorCode::InvalidArgument | SocketErrorCode::InvalidState | SocketErrorCode::NotInProgress => {
                WasiErrno::INVAL
            }
            SocketErrorCode::Timeout => WasiErrno::TIMEDOUT,
            SocketErrorCode::ConcurrencyConflict => WasiErrno::ALREADY,
            SocketErrorCode::WouldBlock => WasiErrno::AGAIN,
            SocketErrorCode::NewSocketLimit => WasiErrno::MFILE,
            SocketErrorCode::AddressNotBindable => WasiErrno::ADDRNOTAVAIL,
            SocketErrorCode::AddressInUse => WasiErrno::ADDRINUSE,
            SocketErrorCode::RemoteUnreachable => WasiErrno::HOSTUNREACH,
            SocketErrorCode::ConnectionRefused => WasiErrno::CONNREFUSED,
            SocketErrorCode::ConnectionReset => WasiErrno::CONNRESET,
            SocketErrorCode::DatagramTooLarge => WasiErrno::MSGSIZE,
            SocketErrorCode::NameUnresolvable => WasiErrno::AINONAME,
        }
    }
}

impl Record for WasiErrno {
    fn fold(&self, fold: &mut RunningDigest) {
        fold.word(self.0.into());
    }
    fn show(&self, out: &mut String) {
        out.push_str(self.word());
    }
}
