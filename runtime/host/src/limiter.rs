//! Bounds memories and tables at the same size on every machine.
//!
//! Invariant: whether `memory.grow` succeeds depends on the plan and the guest only. When the real
//! machine has no memory although the plan allows it, that is an error of the harness, never a -1.

use wasmtime::ResourceLimiter;

/// Elements that one table may have; beyond it `table.grow` answers -1.
const TABLE_ELEMENTS_MAX: usize = 1 << 20;

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
    refused: bool,
}

impl MemoryLimiter {
    /// A limiter for `cap` bytes over all memories together.
    #[must_use]
    pub fn new(cap: u64) -> MemoryLimiter {
        MemoryLimiter { cap, used: 0, refused: false }
    }

    /// The memories that were counted are gone with their instance: another one begins with the whole cap.
    pub fn begin_again(&mut self) {
        (self.used, self.refused) = (0, false);
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

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let used = self.used - current as u64 + desired as u64;
        let fits = used <= self.cap && maximum.is_none_or(|maximum| desired <= maximum);
        if fits {
            self.used = used;
        } else {
            self.refused = true;
        }
        Ok(fits)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        // wasmtime also comes here with growth beyond the memory's own type, which is a -1 everywhere. What
        // the machine could not give says so by its type.
        if error.downcast_ref::<MachineOutOfMemory>().is_some() { Err(error) } else { Ok(()) }
    }

    fn table_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS_MAX && maximum.is_none_or(|maximum| desired <= maximum))
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
