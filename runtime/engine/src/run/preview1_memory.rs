//! The memory of a core module, as functions of preview 1 reach it while the guest waits in a call.
//!
//! ```text
//! component ─ first core module that imports fozzy:preview1 ─ export "memory" ─▶ the nth memory of an instance
//! ```
//!
//! Which region it is, is known as soon as the memories of the instance were made, so also while its start function runs.
//!
//! Invariant: a memory that the rewriter has added is never taken for it.
//! Not here: what is read and written (`fozzy-host`).

use crate::compile::build::CompiledMetadata;
use crate::compile::program::Program;
use crate::memory::{self, Region};
use crate::run::memory_roles::InstanceMemories;
use fozzy_host::GuestMemory;
use fozzy_instrument::MemoryCheck;
use std::sync::{Arc, OnceLock};

/// The memory of the instance that begins, or has begun.
struct Preview1Memory {
    program: Program,
    /// Which of the guest's own memories it is.
    place: u32,
    region: OnceLock<Arc<Region>>,
    /// Its shadow, if it has one.
    shadow: OnceLock<Option<Arc<Region>>>,
}

/// The memory for the next instance of `program`, if it needs one.
pub(crate) fn preview1_memory(program: &Program) -> Option<Box<dyn GuestMemory>> {
    let place = program.facts().preview1_memory?;
    Some(Box::new(Preview1Memory { program: program.clone(), place, region: OnceLock::new(), shadow: OnceLock::new() }))
}

impl Preview1Memory {
    #[inline]
    fn region(&self) -> Option<&Arc<Region>> {
        self.region.get().or_else(|| self.find())
    }

    #[cold]
    fn find(&self) -> Option<&Arc<Region>> {
        let facts: &CompiledMetadata = self.program.facts();
        let own = InstanceMemories::apart(memory::created(), facts).guest;
        let region = own.into_iter().nth(self.place as usize)?;
        // An instance runs on one thread, so this is the first value.
        Some(self.region.get_or_init(|| region))
    }

    #[cold]
    fn find_shadow(&self) -> Option<Arc<Region>> {
        let facts: &CompiledMetadata = self.program.facts();
        let told = InstanceMemories::apart(memory::created(), facts);
        told.shadow(facts).map(|(shadow, _)| Arc::clone(shadow))
    }

    fn there(&self) -> &Region {
        self.region().expect("its size was asked for before")
    }
}

impl GuestMemory for Preview1Memory {
    fn size(&self) -> Option<u64> {
        Some(self.region()?.len() as u64)
    }

    fn read(&self, at: u32, out: &mut [u8]) {
        let at = at as usize;
        out.copy_from_slice(&self.there().bytes()[at..at + out.len()]);
    }

    fn write(&self, at: u32, bytes: &[u8]) {
        self.there().write_for_guest(at as usize, bytes);
    }

    fn allows(&self, at: u32, length: u32, writes: bool) -> bool {
        if length == 0 || self.program.facts().shadow.is_none() {
            return true;
        }
        let Some(shadow) = self.shadow.get_or_init(|| self.find_shadow()) else { return true };
        let Some(check) = MemoryCheck::of(shadow.bytes(), self.there().bytes()) else { return true };
        if check.allows(at, length) {
            return true;
        }
        let (place, report) = MemoryCheck::report_of_host(at, length, writes);
        shadow.write_for_guest(place, &report);
        false
    }

    fn settle(&self) {
        let _ = self.region();
        if self.program.facts().shadow.is_some() {
            self.shadow.get_or_init(|| self.find_shadow());
        }
    }
}
