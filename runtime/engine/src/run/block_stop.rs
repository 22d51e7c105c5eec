//! Stops a program at one allocation or free, to have the stack at that moment.
//!
//! ```text
//! a run found an error in the block that event 17 has made
//! the same run, with 17 in the shadow of its memory from the start ─▶ the program traps there ─▶ stack
//! ```
//!
//! Invariant: nothing else differs: the word is the guest's to read only for its checks.
//! Not here: what counts as an event (`fozzy-instrument`).

use crate::compile::build::CompiledMetadata;
use crate::memory;
use crate::run::memory_roles::InstanceMemories;
use fozzy_host::InstanceObserver;
use fozzy_instrument::MemoryCheck;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a program is to stop, and how many instances were made so far.
#[derive(Debug)]
pub(crate) struct BlockStop {
    event: u32,
    /// Which of the instances of the run, counted from one.
    instance: u32,
    made: AtomicU32,
}

struct BlockStopObserver {
    stop: Arc<BlockStop>,
    facts: CompiledMetadata,
}

impl BlockStop {
    pub(crate) fn new(event: u32, instance: u32) -> Arc<BlockStop> {
        Arc::new(BlockStop { event, instance, made: AtomicU32::new(0) })
    }

    /// How many instances were made.
    pub(crate) fn made(&self) -> u32 {
        self.made.load(Ordering::Relaxed)
    }

    pub(crate) fn observer(self: &Arc<Self>, facts: &CompiledMetadata) -> Box<dyn InstanceObserver> {
        Box::new(BlockStopObserver { stop: Arc::clone(self), facts: facts.clone() })
    }
}

impl InstanceObserver for BlockStopObserver {
    fn instance_made(&self) {
        let number = self.stop.made.fetch_add(1, Ordering::Relaxed) + 1;
        let told = InstanceMemories::apart(memory::created(), &self.facts);
        if let Some((shadow, _)) = told.shadow(&self.facts).filter(|_| number == self.stop.instance) {
            shadow.write(MemoryCheck::STOP_AT, &self.stop.event.to_le_bytes());
        }
    }
}
