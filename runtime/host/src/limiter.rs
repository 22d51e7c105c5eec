//! Bounds memories and tables at the same size on every machine, alone and together with what else a guest makes the host hold.
//!
//! ```text
//! memories ≤ memory      tables ≤ memory, 64 MiB      disk ≤ disk      kept output ≤ 8 MiB
//! memories + tables + disk + kept output ≤ total
//! ```
//!
//! What is refused is refused as it is elsewhere: growth answers -1, a write finds the disk full.
//!
//! Invariant: whether `memory.grow` succeeds depends on the plan and the guest only. When the real
//! machine has no memory although the plan allows it, that is an error of the harness, never a -1.

use crate::call::Host;
use fozzy_trace::plan::{Limits, TABLE_BYTES_MAX};
use wasmtime::ResourceLimiter;

/// Elements that one table may have; beyond it `table.grow` answers -1.
const TABLE_ELEMENTS_MAX: usize = 1 << 20;
/// Bytes of the host that an element takes.
const ELEMENT_BYTES: u64 = 8;

/// The real machine has no memory although the plan allows it: a failure of the harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineOutOfMemory {
    why: String,
}

impl MachineOutOfMemory {
    /// In the operating system's words.
    #[must_use]
    pub fn new(why: String) -> MachineOutOfMemory {
        MachineOutOfMemory { why }
    }
}

impl std::fmt::Display for MachineOutOfMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "this machine has no memory for what the plan allows; lower --mem-limit-mb ({})", self.why)
    }
}

impl std::error::Error for MachineOutOfMemory {}

/// Counts the bytes of all memories of one instance against a cap.
#[derive(Clone, Debug)]
pub struct MemoryLimiter {
    cap: u64,
    used: u64,
    /// Bytes of all tables.
    tables: u64,
    refused: bool,
}

impl MemoryLimiter {
    /// A limiter for `cap` bytes over all memories together.
    #[must_use]
    pub fn new(cap: u64) -> MemoryLimiter {
        MemoryLimiter { cap, used: 0, tables: 0, refused: false }
    }

    /// The memories that were counted are gone with their instance: another one begins with the whole cap.
    pub fn begin_again(&mut self) {
        (self.used, self.tables, self.refused) = (0, 0, false);
    }

    /// Bytes in use. Memories never shrink, so this is the peak too.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Whether a memory was ever refused: tells an `unreachable` of an allocator from another one.
    #[must_use]
    pub fn refused(&self) -> bool {
        self.refused
    }
}

/// What a guest may make the host hold.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// Bytes of all tables.
    tables: u64,
    /// Bytes of memories and tables, beside what the disk and the output take.
    total: u64,
}

impl Room {
    /// Under these limits, when the disk and the output take so many bytes. Memories that the rewriter adds are no part of them.
    fn of(limits: &Limits, beside: u64, added: u64) -> Option<Room> {
        let host = limits.host?;
        let tables = limits.memory_bytes.min(TABLE_BYTES_MAX);
        Some(Room { tables, total: host.total_bytes.saturating_add(added).saturating_sub(beside) })
    }
}

impl MemoryLimiter {
    fn memory_grows(&mut self, current: u64, desired: u64, room: Option<Room>) -> bool {
        let used = self.used - current + desired;
        let fits = used <= self.cap && room.is_none_or(|room| used + self.tables <= room.total);
        if fits {
            self.used = used;
        } else {
            self.refused = true;
        }
        fits
    }

    fn table_grows(&mut self, current: u64, desired: u64, room: Option<Room>) -> bool {
        let tables = self.tables - current * ELEMENT_BYTES + desired * ELEMENT_BYTES;
        let fits = room.is_none_or(|room| tables <= room.tables && self.used + tables <= room.total);
        if fits {
            self.tables = tables;
        } else {
            self.refused = true;
        }
        fits
    }
}

impl Host {
    /// What its memories and tables may take now.
    fn room(&self) -> Option<Room> {
        let node = self.node();
        let output = node.stdout.kept().len() + node.stderr.kept().len();
        Room::of(&self.run.world.plan.limits, node.disk.usage().bytes + output as u64, self.added())
    }

    /// Bytes of memories that the rewriter has added: they come on top of what the plan allows.
    fn added(&self) -> u64 {
        self.limiter.cap.saturating_sub(self.run.world.plan.limits.memory_bytes)
    }

    /// Leaves the disk what memories and tables have not taken.
    fn bound_disk(&mut self) {
        let limits = &self.run.world.plan.limits;
        let Some(host) = limits.host else { return };
        let taken = (self.limiter.used + self.limiter.tables).saturating_sub(self.added());
        let bytes = limits.disk_bytes.min(host.total_bytes.saturating_sub(taken));
        self.node_mut().disk.bound(bytes);
    }
}

impl ResourceLimiter for Host {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            self.limiter.refused = true;
            return Ok(false);
        }
        let room = self.room();
        let fits = self.limiter.memory_grows(current as u64, desired as u64, room);
        self.bound_disk();
        Ok(fits)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        // wasmtime also comes here with growth beyond the memory's own type, which is a -1 everywhere. What
        // the machine could not give says so by its type.
        if error.downcast_ref::<MachineOutOfMemory>().is_some() { Err(error) } else { Ok(()) }
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > TABLE_ELEMENTS_MAX || maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let room = self.room();
        let fits = self.limiter.table_grows(current as u64, desired as u64, room);
        self.bound_disk();
        Ok(fits)
    }

    fn table_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        Ok(())
    }

    fn memories(&self) -> usize {
        1_000
    }

    fn instances(&self) -> usize {
        1_000
    }

    fn tables(&self) -> usize {
        1_000
    }
}
