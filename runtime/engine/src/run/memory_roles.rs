//! The memories of an instance by their roles: the guest's own, and those that the rewriter has added.
//!
//! ```text
//! created   [guest's memory │ side memory of module 0 │ … │ accessor's]
//!                             "tag, ordinal, version"
//! ```
//!
//! Invariant: a guest cannot pass one of its own memories for one of ours: each of ours begins with the digest of
//! the original component, which no component contains.
//! Not here: what is in a side memory (`fozzy-instrument`).

use crate::compile::build::CompiledMetadata;
use crate::memory::{BLOCKS_BYTES, Region, set_blocks};
use fozzy_instrument::{
    ACCESSOR, COMPARISONS_PER_SITE, ComparisonSites, HEADER_DEEPEST_AT, HEADER_ENTRIES_AT, HEADER_LOST_AT,
    HEADER_SWITCH_AT, LoggedComparison, MemoryCheck, MemoryCheckReport, ModuleOrdinal, SideMemory,
};
use fozzy_trace::StretchLook;
use std::ops::Range;
use std::sync::Arc;

/// The memories of one instance.
#[derive(Clone, Default)]
pub(crate) struct InstanceMemories {
    /// The guest's own, in the order of instantiation.
    pub(crate) guest: Vec<Arc<Region>>,
    /// Those beside the memories of a module, with what is in them.
    pub(crate) sides: Vec<(SideMemory, Arc<Region>)>,
    /// The accessor's.
    pub(crate) accessor: Option<Arc<Region>>,
}

impl InstanceMemories {
    /// Tells the memories of an instance of a program apart.
    pub(crate) fn apart(regions: Vec<Arc<Region>>, facts: &CompiledMetadata) -> InstanceMemories {
        let mut told = InstanceMemories::default();
        for region in regions {
            match facts.tag.and_then(|tag| tag.recognise(region.bytes())) {
                None => told.guest.push(region),
                Some(ACCESSOR) => told.accessor = Some(region),
                Some(module) => {
                    let side = facts.side_memories.iter().find(|side| side.module == module);
                    told.sides.extend(side.map(|side| (side.clone(), region)));
                }
            }
        }
        told
    }

    /// The coverage bytes of each module, as they are now. Call it while no guest runs.
    pub(crate) fn coverage(&self) -> impl Iterator<Item = (ModuleOrdinal, &[u8])> {
        self.sides.iter().map(|(side, region)| (side.module, &region.bytes()[bytes(&side.coverage)]))
    }

    /// The memories with counts by call path of each module. Call it while no guest runs.
    pub(crate) fn profiles(&self) -> impl Iterator<Item = (ModuleOrdinal, &[u8])> {
        self.sides.iter().map(|(side, region)| (side.module, region.bytes()))
    }

    /// The largest of the guest's own memories, as it is now: what its allocators hand out of. Call it while no guest runs.
    pub(crate) fn largest(&self) -> &[u8] {
        self.guest.iter().map(|region| region.bytes()).max_by_key(|bytes| bytes.len()).unwrap_or_default()
    }

    /// The marks of written pages of each module; they are all for the one memory that there is.
    pub(crate) fn marks(&self) -> impl Iterator<Item = (&Arc<Region>, Range<usize>)> {
        let marked = self.sides.iter().filter(|(side, _)| !side.marks.is_empty());
        marked.map(|(side, region)| (region, bytes(&side.marks)))
    }

    /// The shadow of a memory of the guest, and that memory, where accesses are checked. Call it while no guest runs.
    pub(crate) fn shadow(&self, facts: &CompiledMetadata) -> Option<(&Arc<Region>, &Arc<Region>)> {
        let tag = facts.shadow?;
        let is_shadow = |region: &&Arc<Region>| tag.recognise(region.bytes()).is_some();
        let shadow = self.guest.iter().find(is_shadow)?;
        // A module's shadow is made right after its memory.
        let place = self.guest.iter().position(|region| Arc::ptr_eq(region, shadow))?;
        Some((shadow, self.guest.get(place.checked_sub(1)?)?))
    }

    /// What checks of memory have found, if they have ended the guest. Call it while no guest runs.
    pub(crate) fn memory_check(&self, facts: &CompiledMetadata) -> Option<MemoryCheckReport> {
        let (shadow, memory) = self.shadow(facts)?;
        MemoryCheck::of(shadow.bytes(), memory.bytes())?.report()
    }

    /// Switches the comparison log on or off, and empties it. Call it while no guest runs.
    pub(crate) fn log_comparisons(&self, on: bool) {
        for (side, region) in self.sides.iter().filter(|(side, _)| !side.comparisons.is_empty()) {
            region.write(HEADER_SWITCH_AT as usize, &u32::from(on).to_le_bytes());
            region.write(HEADER_ENTRIES_AT as usize, &0_u32.to_le_bytes());
            region.write(HEADER_LOST_AT as usize, &0_u32.to_le_bytes());
            region.clear(bytes(&side.comparison_counts));
        }
    }

    /// Switches the comparison log on and empties it, for these places only: all others count as logged often enough. Call it while no
    /// guest runs.
    pub(crate) fn log_comparisons_of(&self, sites: &[u64]) {
        self.log_comparisons(true);
        for (side, region) in self.sides.iter().filter(|(side, _)| !side.comparisons.is_empty()) {
            let range = bytes(&side.comparison_counts);
            let mut counts = vec![COMPARISONS_PER_SITE as u8; range.len()];
            for site in sites.iter().filter(|site| **site >> 32 == u64::from(side.module.0)) {
                if let Some(count) = counts.get_mut(*site as u32 as usize) {
                    *count = 0;
                }
            }
            region.write(range.start, &counts);
        }
    }

    /// What was compared since the log was switched on, module by module. Call it while no guest runs.
    pub(crate) fn comparisons(&self) -> impl Iterator<Item = (ModuleOrdinal, LoggedComparison)> {
        self.sides.iter().flat_map(|(side, region)| {
            let module = side.module;
            ComparisonSites::read(side, region.bytes()).map(move |comparison| (module, comparison))
        })
    }

    /// Slots of the stack that were in use at the deepest call of a function that may call itself, in any module; 0 when there was
    /// none, or when that is not noted. Call it while no guest runs.
    pub(crate) fn deepest_call(&self) -> u32 {
        let deepest = self.covered().filter_map(|(_, region)| {
            let slots = region.bytes()[HEADER_DEEPEST_AT as usize..].first_chunk()?;
            Some(u32::from_le_bytes(*slots))
        });
        deepest.max().unwrap_or(0)
    }

    /// Calls `see` with the number of each module, with its number of coverage bytes, and with each stretch of these that is not all
    /// zero: where it begins, a multiple of eight, and what it holds. Modules and stretches come in order, and a module comes with an
    /// empty stretch first. All coverage bytes are zero then, and the deepest call. Call it while no guest runs.
    pub(crate) fn take_coverage(&self, see: &mut StretchLook<'_>) {
        for (number, (side, region)) in self.sides.iter().enumerate() {
            let all = bytes(&side.coverage);
            see(number, all.len(), 0, &[]);
            if all.is_empty() {
                continue;
            }
            for start in (0..all.len()).step_by(BLOCKS_BYTES) {
                for block in set_blocks(&region.bytes()[all.clone()], start) {
                    let taken = all.start + block.start..all.start + block.end;
                    see(number, all.len(), block.start, &region.bytes()[taken.clone()]);
                    region.clear(taken);
                }
            }
            region.write(HEADER_DEEPEST_AT as usize, &0_u32.to_le_bytes());
        }
    }

    /// Shows the same stretches, in the same order, and leaves all bytes as they are. Call it while no guest runs.
    pub(crate) fn show_coverage(&self, see: &mut StretchLook<'_>) {
        for (number, (side, region)) in self.sides.iter().enumerate() {
            let all = &region.bytes()[bytes(&side.coverage)];
            see(number, all.len(), 0, &[]);
            for start in (0..all.len()).step_by(BLOCKS_BYTES) {
                for block in set_blocks(all, start) {
                    see(number, all.len(), block.start, &all[block]);
                }
            }
        }
    }

    /// Sets to zero the stretches of these modules that were [shown](InstanceMemories::show_coverage), each by where it begins and ends,
    /// and the deepest call. Call it while no guest runs.
    pub(crate) fn clear_shown(&self, shown: &[(usize, Range<usize>)]) {
        for (module, stretch) in shown {
            let (side, region) = &self.sides[*module];
            let start = side.coverage.start as usize;
            region.clear(start + stretch.start..start + stretch.end);
        }
        self.covered().for_each(|(_, region)| region.write(HEADER_DEEPEST_AT as usize, &0_u32.to_le_bytes()));
    }

    /// Sets all coverage bytes to zero, and the deepest call. Call it while no guest runs.
    pub(crate) fn clear_coverage(&self) {
        for (side, region) in self.covered() {
            region.clear(bytes(&side.coverage));
            region.write(HEADER_DEEPEST_AT as usize, &0_u32.to_le_bytes());
        }
    }

    /// The memories beside modules whose edges are counted.
    fn covered(&self) -> impl Iterator<Item = &(SideMemory, Arc<Region>)> {
        self.sides.iter().filter(|(side, _)| !side.coverage.is_empty())
    }
}

/// A range of a side memory.
pub(crate) fn bytes(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}
