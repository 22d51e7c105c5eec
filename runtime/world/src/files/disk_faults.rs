//! What planned faults do to one operation on a file.
//!
//! ```text
//! read /data/log ─▶ power-loss? slow-disk? io-error? read-error? short-read? bit-flip? ─▶ Strike
//! ```
//!
//! The host asks before it performs the operation, and performs what is left of it: nothing after a loss of power
//! or an error, fewer bytes after `bytes_max`. A delay comes with everything.
//!
//! Invariants: the order of the questions is the one above, and after an error nothing more is asked; without
//! planned faults nothing is asked. Not here: when a fault strikes ([`Faults`](crate::Faults)).

use super::Errno;
use crate::OpContext;
use crate::fault::{
    BIT_FLIP, DISK_FULL, FaultKind, IO_ERROR, POWER_LOSS, READ_ERROR, SHORT_READ, SHORT_WRITE, SLOW_DISK, SYNC_ERROR,
    WRITE_ERROR,
};
use fozzy_trace::{Duration, Purpose};

/// The operations on files and directories that faults tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskOperation {
    /// Reading data.
    Read,
    /// Writing data that may be taken in part.
    Write,
    /// Writing data that is taken as a whole or not: of streams, whose room is asked for before.
    WriteWhole,
    /// Making something new: a file, a directory, a name.
    Create,
    /// Any other change: a size, a time, a rename, a removal.
    Change,
    /// Making something durable.
    Sync,
    /// Opening what exists, listing, asking for attributes.
    Look,
}

/// What goes wrong with an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskFault {
    /// The machine loses power before the operation, and is up again after so long.
    pub power_loss: Option<Duration>,
    /// Virtual time that the operation takes.
    pub delay: Duration,
    /// It fails with this. A failed sync of a file is [`Disk::fail_sync`](super::Disk::fail_sync).
    pub error: Option<Errno>,
    /// The number of bytes that it reads or writes at most; at least one.
    pub bytes_max: Option<u64>,
    /// One bit of what is read is wrong: see [`flip_bit`].
    pub flips: bool,
}

/// Kinds that make an act fail, and with what, in the order in which they are asked.
const ERRORS: [(&FaultKind, &[DiskOperation], Errno); 5] = [
    (
        &IO_ERROR,
        &[
            DiskOperation::Read,
            DiskOperation::Write,
            DiskOperation::WriteWhole,
            DiskOperation::Create,
            DiskOperation::Change,
            DiskOperation::Sync,
            DiskOperation::Look,
        ],
        Errno::Io,
    ),
    (&READ_ERROR, &[DiskOperation::Read], Errno::Io),
    (&WRITE_ERROR, &[DiskOperation::Write, DiskOperation::WriteWhole], Errno::Io),
    (&DISK_FULL, &[DiskOperation::Write, DiskOperation::WriteWhole, DiskOperation::Create], Errno::InsufficientSpace),
    (&SYNC_ERROR, &[DiskOperation::Sync], Errno::Io),
];

/// Asks what goes wrong with `act` on `path`, an absolute path of the disk of `machine`.
pub fn inject(act: DiskOperation, machine: &str, path: &str, context: &mut OpContext<'_>) -> DiskFault {
    let mut fault = DiskFault::default();
    if context.faults.is_empty() {
        return fault;
    }
    fault.power_loss = context.injects(&POWER_LOSS, machine).map(Duration);
    if fault.power_loss.is_some() {
        return fault;
    }
    fault.delay = Duration(context.injects(&SLOW_DISK, path).unwrap_or(0));
    for (kind, acts, errno) in ERRORS {
        if acts.contains(&act) && context.injects(kind, path).is_some() {
            fault.error = Some(errno);
            return fault;
        }
    }
    match act {
        DiskOperation::Read => {
            fault.bytes_max = context.injects(&SHORT_READ, path).map(|bytes| bytes.max(1));
            fault.flips = context.injects(&BIT_FLIP, path).is_some();
        }
        DiskOperation::Write => fault.bytes_max = room(path, context),
        DiskOperation::WriteWhole
        | DiskOperation::Create
        | DiskOperation::Change
        | DiskOperation::Sync
        | DiskOperation::Look => {}
    }
    fault
}

/// Asks how much the next write to `path` takes at the most; `None` is all.
pub fn room(path: &str, context: &mut OpContext<'_>) -> Option<u64> {
    context.injects(&SHORT_WRITE, path).map(|bytes| bytes.max(1))
}

/// Turns one bit of what was read; which, is a question.
pub fn flip_bit(bytes: &mut [u8], context: &mut OpContext<'_>) {
    if bytes.is_empty() {
        return;
    }
    let bit = context.below(Purpose::Fault, "bit-flip.bit", bytes.len() as u64 * 8);
    bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
}

#[cfg(test)]
mod tests;
