//! Numbers that stand for flags and cases, checked as wasmtime checks them: one without a meaning ends the program.

use super::errno::WasiErrno;
use crate::call::{GuestStop, Import};
use fozzy_world::files::{FileTimeChange, PathFlags};

pub(super) const FDFLAGS_APPEND: u16 = 1;
pub(super) const FDFLAGS_DSYNC: u16 = 2;
pub(super) const FDFLAGS_NONBLOCK: u16 = 4;
pub(super) const FDFLAGS_RSYNC: u16 = 8;
pub(super) const FDFLAGS_SYNC: u16 = 16;
/// All of `fdflags`.
pub(super) const FDFLAGS: u16 = 31;
/// All of `oflags`.
pub(super) const OFLAGS: u16 = 15;
/// All of `rights`.
pub(super) const RIGHTS: u64 = (1 << 30) - 1;
/// All that `wasi_unstable` has of them.
pub(super) const UNSTABLE_RIGHTS: u64 = (1 << 29) - 1;
pub(super) const RIGHT_FD_READ: u64 = 1 << 1;
pub(super) const RIGHT_FD_WRITE: u64 = 1 << 6;

/// A number that its type does not have.
fn meaningless(import: Import, value: u64, of: &str) -> GuestStop {
    GuestStop::Misuse { import: import.name, what: format!("{value:#x} is no {of}") }
}

/// A case of `count`, of a type of that name.
pub(super) fn case(import: Import, value: u32, count: u32, of: &str) -> Result<u32, GuestStop> {
    if value < count { Ok(value) } else { Err(meaningless(import, value.into(), of)) }
}

/// Flags of `all`, of a type of that name.
pub(super) fn flags(import: Import, value: u32, all: u16, of: &str) -> Result<u16, GuestStop> {
    match u16::try_from(value) {
        Ok(value) if value & !all == 0 => Ok(value),
        _ => Err(meaningless(import, value.into(), of)),
    }
}

/// `rights`.
pub(super) fn rights(import: Import, value: u64) -> Result<u64, GuestStop> {
    if value & !RIGHTS == 0 { Ok(value) } else { Err(meaningless(import, value, "rights")) }
}

/// `lookupflags`.
pub(super) fn lookup(import: Import, value: u32) -> Result<PathFlags, GuestStop> {
    match value {
        0 | 1 => Ok(PathFlags { symlink_follow: value == 1 }),
        _ => Err(meaningless(import, value.into(), "lookupflags")),
    }
}

/// `clockid`: whether it is the wall clock, or `None` for the CPU times of processes, which do not exist here.
pub(super) fn clock(value: u32) -> Option<Option<bool>> {
    match value {
        0 => Some(Some(true)),
        1 => Some(Some(false)),
        2 | 3 => Some(None),
        _ => None,
    }
}

/// The clock that a call names.
pub(super) fn clock_of(import: Import, value: u32) -> Result<Option<bool>, GuestStop> {
    clock(value).ok_or_else(|| meaningless(import, value.into(), "clockid"))
}

/// The times of access and modification, by `fstflags`.
pub(super) fn times(accessed: u64, modified: u64, fstflags: u16) -> Result<[FileTimeChange; 2], WasiErrno> {
    let change = |at: u64, flags: u16| match flags & 3 {
        0 => Ok(FileTimeChange::NoChange),
        1 => Ok(FileTimeChange::At(at)),
        2 => Ok(FileTimeChange::Now),
        _ => Err(WasiErrno::INVAL),
    };
    Ok([change(accessed, fstflags)?, change(modified, fstflags >> 2)?])
}
