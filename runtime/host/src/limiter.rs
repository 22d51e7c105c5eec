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
use fozzy_trace::MemoryRequest;
use fozzy_trace::facts::{HeldPart, Refusal};
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
    /// What was refused last.
    refused: Option<Refusal>,
}

impl MemoryLimiter {
    /// A limiter for `cap` bytes over all memories together.
    #[must_use]
    pub fn new(cap: u64) -> MemoryLimiter {
        MemoryLimiter { cap, used: 0, tables: 0, refused: None }
    }

    /// The memories that were counted are gone with their instance: another one begins with the whole cap.
    pub fn begin_again(&mut self) {
        (self.used, self.tables, self.refused) = (0, 0, None);
    }

    /// Bytes in use. Memories never shrink, so this is the peak too.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// What it was refused last, if anything: tells an `unreachable` of an allocator from another one.
    #[must_use]
    pub fn refused(&self) -> Option<Refusal> {
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
    /// Bytes of the disk and the output.
    beside: u64,
    /// Bytes of memories that the rewriter has added, which no message counts.
    added: u64,
}

impl Room {
    /// Under these limits, when the disk and the output take `beside` bytes. The limits do not count the memories that
    /// the rewriter adds, of `added` bytes.
    fn of(limits: &Limits, beside: u64, added: u64) -> Option<Room> {
        let host = limits.host?;
        let tables = limits.memory_bytes.min(TABLE_BYTES_MAX);
        let total = host.total_bytes.saturating_add(added).saturating_sub(beside);
        Some(Room { tables, total, beside, added })
    }
}

impl Room {
    /// A refusal of memories and tables of `bytes`: the sum with everything else, and its bound.
    fn refusal(&self, bytes: u64) -> Refusal {
        let all = |bytes: u64| (bytes + self.beside).saturating_sub(self.added);
        Refusal { part: HeldPart::Total, asked: all(bytes), bound: all(self.total) }
    }
}

impl MemoryLimiter {
    fn memory_grows(&mut self, current: u64, desired: u64, room: Option<Room>) -> Result<(), Refusal> {
        let used = self.used - current + desired;
        if used > self.cap {
            let added = room.map_or(0, |room| room.added);
            let [asked, bound] = [used, self.cap].map(|bytes| bytes.saturating_sub(added));
            return Err(Refusal { part: HeldPart::Memories, asked, bound });
        }
        match room.filter(|room| used + self.tables > room.total) {
            Some(room) => Err(room.refusal(used + self.tables)),
            None => {
                self.used = used;
                Ok(())
            }
        }
    }

    fn table_grows(&mut self, current: u64, desired: u64, room: Option<Room>) -> Result<(), Refusal> {
        let tables = self.tables - current * ELEMENT_BYTES + desired * ELEMENT_BYTES;
        match room {
            Some(room) if tables > room.tables => {
                Err(Refusal { part: HeldPart::Tables, asked: tables, bound: room.tables })
            }
            Some(room) if self.used + tables > room.total => Err(room.refusal(self.used + tables)),
            _ => {
                self.tables = tables;
                Ok(())
            }
        }
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

    /// Whether it may grow; what is refused is a fact of the run.
    fn grows(&mut self, outcome: Result<(), Refusal>) -> bool {
        let Err(refusal) = outcome else { return true };
        self.limiter.refused = Some(refusal);
        self.run.world.facts.refusals.note(refusal);
        false
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
        if let Some(request) = MemoryRequest::of(current as u64, desired as u64, maximum.map(|bytes| bytes as u64)) {
            // The memory by which programs ask is made with nothing in it.
            return if desired == current { Ok(true) } else { self.grants(request) };
        }
        if let Some(maximum) = maximum.filter(|maximum| desired > *maximum) {
            // Its own bound, in its own type: no fact of the run.
            let (asked, bound) = (desired as u64, maximum as u64);
            self.limiter.refused = Some(Refusal { part: HeldPart::Memories, asked, bound });
            return Ok(false);
        }
        let room = self.room();
        let outcome = self.limiter.memory_grows(current as u64, desired as u64, room);
        let fits = self.grows(outcome);
        self.bound_disk();
        Ok(fits)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        // wasmtime also comes here with growth beyond the memory's own type, which is a -1 everywhere. What
        // the machine could not give says so by its type.
        if error.downcast_ref::<MachineOutOfMemory>().is_some() { Err(error) } else { Ok(()) }
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let room = self.room();
        let outcome = match desired > TABLE_ELEMENTS_MAX {
            true => {
                let (asked, bound) = (desired as u64, TABLE_ELEMENTS_MAX as u64);
                Err(Refusal { part: HeldPart::TableElements, asked, bound })
            }
            false => self.limiter.table_grows(current as u64, desired as u64, room),
        };
        let fits = self.grows(outcome);
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
