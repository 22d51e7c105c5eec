//! Planned faults at operations on the virtual disk.
//!
//! ```text
//! descriptor.write ─▶ strike_file(Act::Write, …) ─▶ Strike ─▶ what is left of the operation
//!                          └ power-loss: the call ends the guest with Stop::PowerLoss
//! ```
//!
//! A slow disk lets virtual time pass at once: the guest keeps its turn, and others see afterwards how late it is.
//!
//! Invariant: without planned faults an operation costs one look at an empty list more.
//! Not here: what the kinds do (`fozzy-world`), the real disk: faults strike the virtual one only.

use crate::call::{Host, Stop};
use fozzy_trace::Duration;
use fozzy_world::files::{DiskFault, DiskOperation, Errno, FileDescriptor};
use fozzy_world::table::{Handle, StreamSink as Output, StreamSource as Input};

impl Host {
    /// Asks what goes wrong with `act` on an open file, or on what stands at `path` below an open directory.
    #[inline]
    pub(crate) fn strike_file(
        &mut self,
        on: &FileDescriptor,
        act: DiskOperation,
        path: Option<&str>,
    ) -> Result<DiskFault, Stop> {
        if self.run.world.faults.is_empty() { Ok(DiskFault::default()) } else { self.ask_strike(on, act, path) }
    }

    /// The same for a stream; one that is not of a file is never struck.
    #[inline]
    pub(crate) fn strike_stream(&mut self, rep: u32, act: DiskOperation) -> Result<DiskFault, Stop> {
        if self.run.world.faults.is_empty() {
            return Ok(DiskFault::default());
        }
        match self.node().table.get(rep) {
            Ok(Handle::InputStream(Input::File { file, .. }) | Handle::OutputStream(Output::File { file, .. })) => {
                let file = *file;
                self.ask_strike(&file, act, None)
            }
            _ => Ok(DiskFault::default()),
        }
    }

    fn ask_strike(&mut self, on: &FileDescriptor, act: DiskOperation, path: Option<&str>) -> Result<DiskFault, Stop> {
        let disk = &self.node().disk;
        let path = match path {
            Some(path) => disk.path_at(on.node, path),
            None => disk.path_of(on.node),
        };
        let strike = self.moment(|world, moment| world.strike_file(act, &path, moment));
        if let Some(up_after) = strike.power_loss {
            return Err(Stop::PowerLoss { up_after });
        }
        if strike.delay > Duration(0) {
            let clock = &mut self.world().clock;
            clock.advance_to(clock.now().after(strike.delay));
        }
        if act == DiskOperation::Sync && strike.error.is_some() {
            self.node_mut().disk.fail_sync(on);
        }
        Ok(strike)
    }
}

/// What is left of an operation that has no parts.
pub(crate) fn whole(strike: &DiskFault) -> Result<(), Errno> {
    match strike.error {
        Some(errno) => Err(errno),
        None => Ok(()),
    }
}

/// How many of `length` bytes are left.
pub(crate) fn part(strike: &DiskFault, length: u64) -> u64 {
    strike.bytes_max.map_or(length, |most| length.min(most))
}
