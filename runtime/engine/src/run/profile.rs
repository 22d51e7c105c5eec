//! Counts by call path of one guest, over all instances that it had.
//!
//! ```text
//! side memory of an instance ─ nodes ─┐
//! where a trap has cut it off ────────┼─▶ ProgramProfile: one tree of calls over all modules and instances
//! instances before it ────────────────┘
//! ```
//!
//! Invariants: merging loses no count; an operator that was not begun is not counted. The same execution gives the same tree.
//! Not here: how the program counts (`fozzy-instrument`), names and lines (`fozzy-campaign`).

use crate::compile::program::Program;
use crate::run::heap::HeapProfile;
use crate::run::memory_roles::InstanceMemories;
use fozzy_instrument::{HeapLog, ModuleOrdinal, OriginalOffset, ProfileSites};
use std::collections::BTreeMap;

/// What distinguishes the call paths below one caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathStep {
    /// Position of the caller among the nodes; `None` for what was called from outside of its module.
    pub parent: Option<usize>,
    /// The call in the caller, by position among its calls.
    pub call: Option<usize>,
    /// The module of the function.
    pub module: ModuleOrdinal,
    /// The function, by index in its module.
    pub function: u32,
    /// The path is not known, as memory for paths was used up.
    pub is_merged: bool,
}

/// Calls of one function by one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathCounts {
    /// The path.
    pub step: PathStep,
    /// Values of the counters of the function.
    pub counters: Vec<u64>,
    /// How often the last operators of a segment were not begun: by counter and number of operators.
    pub cuts: BTreeMap<(usize, usize), u64>,
}

/// The counts of a guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramProfile {
    /// Callers stand before those that they call.
    paths: Vec<PathCounts>,
    positions: BTreeMap<PathStep, usize>,
    merged: u64,
    heap: HeapProfile,
}

impl ProgramProfile {
    /// What an instance has counted whose memories are `told`; `cut` is where it was cut off inside of its own code.
    pub(crate) fn of(program: &Program, told: &InstanceMemories, cut: Option<OriginalOffset>) -> ProgramProfile {
        let mut profile = ProgramProfile::default();
        for (module, bytes) in told.profiles() {
            profile.add(program.profile_sites(), module, bytes, cut, told.largest());
        }
        profile
    }

    fn add(
        &mut self,
        sites: &ProfileSites,
        module: ModuleOrdinal,
        bytes: &[u8],
        cut: Option<OriginalOffset>,
        memory: &[u8],
    ) {
        let mut found = sites.read(module, bytes);
        self.merged += found.merged;
        let mut places = Vec::with_capacity(found.nodes.len());
        for (position, node) in std::mem::take(&mut found.nodes).into_iter().enumerate() {
            let parent = node.parent.map(|parent| places[parent]);
            let (function, call, is_merged) = (node.function, node.call, node.is_merged);
            let cut = cut.filter(|_| found.current == Some(position));
            let cut = cut.and_then(|cut| sites.cut(module, function, cut)).filter(|(_, operators)| *operators > 0);
            let cuts = cut.map(|cut| (cut, 1)).into_iter().collect();
            let step = PathStep { parent, call, module, function, is_merged };
            places.push(self.put(PathCounts { step, counters: node.counters, cuts }));
        }
        if let Some(log) = HeapLog::of(bytes) {
            let mut heap = HeapProfile::of(log, &found, &places, memory);
            let ended_in = found.current.map(|node| places[node]);
            if let Some(call) = ended_in.filter(|path| self.paths[*path].step.parent.is_some()) {
                heap.ended_in(call);
            }
            self.heap.merge(&heap, |path| path);
        }
    }

    fn put(&mut self, counts: PathCounts) -> usize {
        let position = *self.positions.entry(counts.step).or_insert(self.paths.len());
        let Some(known) = self.paths.get_mut(position) else {
            self.paths.push(counts);
            return position;
        };
        for (sum, found) in known.counters.iter_mut().zip(&counts.counters) {
            *sum = sum.saturating_add(*found);
        }
        for (cut, times) in counts.cuts {
            *known.cuts.entry(cut).or_default() += times;
        }
        position
    }

    /// Adds the counts of other instances of the same program.
    pub(crate) fn merge(&mut self, other: &ProgramProfile) {
        self.merged += other.merged;
        let mut places = Vec::with_capacity(other.paths.len());
        for counts in &other.paths {
            let mut counts = counts.clone();
            counts.step.parent = counts.step.parent.map(|parent| places[parent]);
            places.push(self.put(counts));
        }
        self.heap.merge(&other.heap, |path| places[path]);
    }

    /// Its memory is gone, with all blocks in it.
    pub(crate) fn forget_blocks(&mut self) {
        self.heap.forget_blocks();
    }

    /// What its allocators did, in a build that logs that. Paths are positions among [`ProgramProfile::paths`].
    #[must_use]
    pub fn heap(&self) -> &HeapProfile {
        &self.heap
    }

    /// All paths; callers stand before those that they call.
    #[must_use]
    pub fn paths(&self) -> &[PathCounts] {
        &self.paths
    }

    /// How many calls are in nodes whose path is not known.
    #[must_use]
    pub fn merged(&self) -> u64 {
        self.merged
    }
}
