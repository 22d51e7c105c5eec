//! Blocks of the heap, counted.
//!
//! Invariant: blocks in use, at the end or at a peak, are among those that were allocated.
//! Not here: who counts (`fozzy-engine`), allocations that a program itself reports (`facts`).

/// Blocks of one call path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapCounts {
    /// Blocks that were allocated.
    pub blocks: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Those of them that were in use at the end.
    pub live_blocks: u64,
    /// Bytes of them.
    pub live_bytes: u64,
    /// Those that were in use when the guest had most bytes in use.
    pub peak_blocks: u64,
    /// Bytes of them.
    pub peak_bytes: u64,
    /// The most blocks of this path in use at one moment of its own.
    pub most_blocks: u64,
    /// The same of bytes.
    pub most_bytes: u64,
    /// Those in use at the end that nothing points to.
    pub lost_blocks: u64,
    /// Bytes of them.
    pub lost_bytes: u64,
    /// Those in use at the end that nothing points to but perhaps the calls in which the guest ended.
    pub doubtful_blocks: u64,
    /// Bytes of them.
    pub doubtful_bytes: u64,
    /// The lives of all blocks, in time.
    pub lifetimes: u64,
}

impl HeapCounts {
    /// Adds blocks of another part of a program, or of another machine.
    pub fn add(&mut self, other: &HeapCounts) {
        let HeapCounts { blocks, bytes, live_blocks, live_bytes, peak_blocks, peak_bytes, .. } = *other;
        let HeapCounts { most_blocks, most_bytes, lost_blocks, lost_bytes, lifetimes, .. } = *other;
        let HeapCounts { doubtful_blocks, doubtful_bytes, .. } = *other;
        for (sum, more) in [
            (&mut self.blocks, blocks),
            (&mut self.bytes, bytes),
            (&mut self.live_blocks, live_blocks),
            (&mut self.live_bytes, live_bytes),
            (&mut self.peak_blocks, peak_blocks),
            (&mut self.peak_bytes, peak_bytes),
            (&mut self.most_blocks, most_blocks),
            (&mut self.most_bytes, most_bytes),
            (&mut self.lost_blocks, lost_blocks),
            (&mut self.lost_bytes, lost_bytes),
            (&mut self.doubtful_blocks, doubtful_blocks),
            (&mut self.doubtful_bytes, doubtful_bytes),
            (&mut self.lifetimes, lifetimes),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// What happened to the heap while a flow of a scenario ran, over all times that it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowHeap {
    /// Blocks that were allocated then.
    pub blocks: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Blocks that were freed then, whichever flow allocated them.
    pub freed_blocks: u64,
    /// Bytes of them.
    pub freed_bytes: u64,
    /// Bytes that were allocated then and in use at the end.
    pub live_bytes: u64,
    /// Those of them that nothing points to, but perhaps calls in which the guest ended.
    pub lost_bytes: u64,
}

impl FlowHeap {
    /// Adds what happened elsewhere while the same flow ran.
    pub fn add(&mut self, other: &FlowHeap) {
        let FlowHeap { blocks, bytes, freed_blocks, freed_bytes, live_bytes, lost_bytes } = *other;
        for (sum, more) in [
            (&mut self.blocks, blocks),
            (&mut self.bytes, bytes),
            (&mut self.freed_blocks, freed_blocks),
            (&mut self.freed_bytes, freed_bytes),
            (&mut self.live_bytes, live_bytes),
            (&mut self.lost_bytes, lost_bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// By how many bytes more was in use afterwards than before.
    #[must_use]
    pub fn growth(&self) -> i64 {
        let growth = i128::from(self.bytes) - i128::from(self.freed_bytes);
        i64::try_from(growth).unwrap_or(if growth < 0 { i64::MIN } else { i64::MAX })
    }
}
