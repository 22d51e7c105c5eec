//! Planned faults at operations on the virtual disk.
//!
//! ```text
//! descriptor.write ─▶ inject_file(DiskOperation::Write, …) ─▶ DiskFault ─▶ what is left of the operation
//!                          ├ power-loss: the call ends the guest with GuestStop::PowerLoss
//!                          └ slow-disk: the machine waits, while others have turns
//! ```
//!
//! A slow disk holds up its own machine, between what is asked about the operation and the operation: others go on meanwhile, and may kill
//! the one that waits, as they may any that waits. A machine that is alone lets time pass itself. Before [`Edition::TENTH`] time passed for
//! all machines at once, while the guest kept its turn.
//!
//! Invariant: without planned faults an operation costs one look at an empty list more.
//! Not here: what the kinds do (`fozzy-world`), the real disk: faults strike the virtual one only.

use crate::call::{GuestStop, Host};
use fozzy_trace::Duration;
use fozzy_trace::plan::Edition;
use fozzy_world::Disk;
use fozzy_world::files::{DiskFault, DiskOperation, Errno, FileDescriptor, room};
use fozzy_world::table::{Handle, StreamSink as Output, StreamSource as Input};

impl Host {
    /// Asks what goes wrong with `act` on an open file, or on what stands at `path` below an open directory.
    #[inline]
    pub(crate) async fn inject_file(
        &mut self,
        on: &FileDescriptor,
        act: DiskOperation,
        path: Option<&str>,
    ) -> Result<DiskFault, GuestStop> {
        if self.run.world.faults.is_empty() {
            return Ok(DiskFault::default());
        }
        self.inject_kill()?;
        self.ask_strike(on, act, path).await
    }

    /// The same for a stream; one that is not of a file is never struck.
    #[inline]
    pub(crate) async fn inject_stream(&mut self, rep: u32, act: DiskOperation) -> Result<DiskFault, GuestStop> {
        if self.run.world.faults.is_empty() {
            return Ok(DiskFault::default());
        }
        let file = match self.node().table.get(rep) {
            Ok(Handle::InputStream(Input::File { file, .. }) | Handle::OutputStream(Output::File { file, .. })) => {
                *file
            }
            _ => return Ok(DiskFault::default()),
        };
        self.ask_strike(&file, act, None).await
    }

    /// Does something to the machine's disk. What symbolic links make of paths is work that neither arguments nor answer show.
    pub(crate) fn with_disk<T>(&mut self, body: impl FnOnce(&mut Disk) -> T) -> T {
        let disk = &mut self.node_mut().disk;
        let answer = body(disk);
        let followed = disk.take_followed();
        self.moved(followed);
        answer
    }

    /// How many bytes the stream of a file takes at once, if a fault makes it less than it could.
    pub(crate) fn inject_room(&mut self, rep: u32) -> Option<u64> {
        let world = &self.run.world;
        if world.faults.is_empty() || world.plan.edition == Edition::FIRST {
            return None;
        }
        let Ok(Handle::OutputStream(Output::File { file, .. })) = self.node().table.get(rep) else { return None };
        let path = self.node().disk.path_of(file.node);
        self.with_context(|_, context| room(&path, context))
    }

    /// What a write to a stream is, as faults tell operations apart.
    pub(crate) fn stream_write(&self) -> DiskOperation {
        match self.run.world.plan.edition {
            Edition::FIRST => DiskOperation::Write,
            _ => DiskOperation::WriteWhole,
        }
    }

    async fn ask_strike(
        &mut self,
        on: &FileDescriptor,
        act: DiskOperation,
        path: Option<&str>,
    ) -> Result<DiskFault, GuestStop> {
        let fault = self.ask_disk(on, act, path);
        if let Some(up_after) = fault.power_loss {
            return Err(GuestStop::PowerLoss { up_after });
        }
        if fault.delay > Duration(0) {
            // On the heap, as it is rare: no call has to have room for it.
            Box::pin(self.wait_for_disk(fault.delay)).await?;
        }
        if act == DiskOperation::Sync && fault.error.is_some() {
            self.node_mut().disk.fail_sync(on);
        }
        Ok(fault)
    }

    fn ask_disk(&mut self, on: &FileDescriptor, act: DiskOperation, path: Option<&str>) -> DiskFault {
        let disk = &self.node().disk;
        let path = match path {
            Some(path) => disk.path_at(on.node, path),
            None => disk.path_of(on.node),
        };
        self.with_context(|world, context| world.inject_file(act, &path, context))
    }

    /// An operation takes so long. Before [`Edition::TENTH`] no other machine went on meanwhile.
    async fn wait_for_disk(&mut self, delay: Duration) -> Result<(), GuestStop> {
        if self.run.world.plan.edition >= Edition::TENTH {
            return self.stand_still(self.run.world.held_up_for(delay)).await;
        }
        let clock = &mut self.world().clock;
        clock.advance_to(clock.now().after(delay));
        Ok(())
    }
}

/// What is left of an operation that has no parts.
pub(crate) fn whole(fault: &DiskFault) -> Result<(), Errno> {
    match fault.error {
        Some(errno) => Err(errno),
        None => Ok(()),
    }
}

/// How many of `length` bytes are left.
pub(crate) fn part(fault: &DiskFault, length: u64) -> u64 {
    fault.bytes_max.map_or(length, |most| length.min(most))
}
