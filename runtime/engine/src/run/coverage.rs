//! Coverage of one component, over executions.
//!
//! ```text
//! guest of the run ── its coverage bytes, and where it was cut off ──┐
//! its handler, the same component ───────────────────────────────────┼─▶ Covered: a count for each edge and block
//! the same program in another execution ─────────────────────────────┘
//! ```
//!
//! Invariants: the same execution covers the same, bit for bit; merging is commutative, and never takes away.
//! Not here: where an edge is in the source (`fozzy_instrument::source`), and how it is shown (`fozzy-report`).

use crate::compile::program::Program;
use crate::run::memory_roles::InstanceMemories;
use crate::run::profile::ProgramProfile;
use fozzy_instrument::{CoverageMode, ModuleOrdinal, OriginalOffset};
use fozzy_trace::{CmpLogEntry, Digest, NodeId};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// How often each edge and each block of a component was reached, by position in [`fozzy_instrument::Sites`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramCoverage {
    /// For each edge: with set-once bytes 0 or 1, with counters how often, where 255 of one guest is "255 or more".
    pub edges: Vec<u64>,
    /// The same for the blocks of code between edges.
    pub blocks: Vec<u64>,
    /// Counts by call path, in a build for profiles.
    pub(crate) profile: ProgramProfile,
}

/// The coverage bytes of a component, by module.
pub type ModuleBytes = BTreeMap<ModuleOrdinal, Vec<u8>>;

/// What the guests of a run have covered, by component, as it is collected; the target's is `None`.
#[derive(Default)]
pub(crate) struct CoverageCollector {
    pub(crate) programs: BTreeMap<Option<Digest>, ProgramCoverage>,
    /// Coverage bytes instead: what a search looks at after each of many runs.
    pub(crate) bytes: Option<BTreeMap<Option<Digest>, ModuleBytes>>,
    /// Counts by call path, by machine too.
    pub(crate) profiles: BTreeMap<(NodeId, Option<Digest>), ProgramProfile>,
    /// What they have compared, one guest after the other, if that is logged.
    pub(crate) compared: Vec<CmpLogEntry>,
}

impl CoverageCollector {
    /// Adds what an instance has covered; `cut` is where it was cut off inside of its own code, and `is_gone` that its machine starts
    /// again without its memory.
    pub(crate) fn add(
        &mut self,
        node: NodeId,
        component: Option<Digest>,
        program: &Program,
        told: &InstanceMemories,
        cut: Option<OriginalOffset>,
        is_gone: bool,
    ) {
        match &mut self.bytes {
            Some(bytes) => add_bytes(bytes.entry(component).or_default(), told),
            None => {
                let mut found = ProgramCoverage::of(program, told, cut);
                if is_gone {
                    found.profile.forget_blocks();
                }
                self.merge(node, component, found, program.how().coverage);
            }
        }
    }

    /// Adds what was put together elsewhere.
    pub(crate) fn merge(
        &mut self,
        node: NodeId,
        component: Option<Digest>,
        mut found: ProgramCoverage,
        coverage: CoverageMode,
    ) {
        let profile = std::mem::take(&mut found.profile);
        if !profile.paths().is_empty() {
            self.profiles.entry((node, component)).or_default().merge(&profile);
        }
        self.programs.entry(component).or_default().merge(&found, coverage);
    }
}

/// Adds the coverage bytes of an instance to those of others of the same component.
fn add_bytes(bytes: &mut ModuleBytes, told: &InstanceMemories) {
    told.coverage().for_each(|(module, found)| add_module(bytes, module, found));
}

/// Adds what was collected of some machines to what was of others with the same component.
pub(crate) fn add_modules(bytes: &mut ModuleBytes, found: ModuleBytes) {
    for (module, found) in found {
        match bytes.entry(module) {
            Entry::Vacant(place) => drop(place.insert(found)),
            Entry::Occupied(_) => add_module(bytes, module, &found),
        }
    }
}

fn add_module(bytes: &mut ModuleBytes, module: ModuleOrdinal, found: &[u8]) {
    let sum = bytes.entry(module).or_insert_with(|| vec![0; found.len()]);
    for (sum, found) in sum.iter_mut().zip(found) {
        *sum = sum.saturating_add(*found);
    }
}

impl ProgramCoverage {
    /// What a guest has covered whose memories are `told`; `cut` is where it was cut off inside of its own code.
    pub(crate) fn of(program: &Program, told: &InstanceMemories, cut: Option<OriginalOffset>) -> ProgramCoverage {
        if program.how().profile {
            let profile = ProgramProfile::of(program, told, cut);
            return ProgramCoverage { profile, ..ProgramCoverage::default() };
        }
        let mut bytes = ModuleBytes::new();
        add_bytes(&mut bytes, told);
        ProgramCoverage::by(program, &bytes, cut)
    }

    /// What these coverage bytes stand for; `cut` is where the guest was cut off inside of its own code.
    #[must_use]
    pub fn by(program: &Program, bytes: &ModuleBytes, cut: Option<OriginalOffset>) -> ProgramCoverage {
        let sites = program.sites();
        let edges = sites.counts(|module| bytes.get(&module).map_or(&[], Vec::as_slice), cut);
        let blocks = sites.block_counts(&edges, cut);
        let mut covered = ProgramCoverage { edges, blocks, profile: ProgramProfile::default() };
        if program.how().coverage != CoverageMode::Counters {
            for count in covered.edges.iter_mut().chain(&mut covered.blocks) {
                *count = (*count).min(1);
            }
        }
        covered
    }

    /// Adds what another execution of the same component, built in the same way, has covered. `coverage` says what the
    /// numbers are.
    pub fn merge(&mut self, other: &ProgramCoverage, coverage: CoverageMode) {
        self.profile.merge(&other.profile);
        let sides = [(&mut self.edges, &other.edges), (&mut self.blocks, &other.blocks)];
        for (into, from) in sides {
            into.resize(into.len().max(from.len()), 0);
            for (into, from) in into.iter_mut().zip(from) {
                *into = match coverage {
                    CoverageMode::Counters => into.saturating_add(*from),
                    CoverageMode::None | CoverageMode::SetOnce | CoverageMode::Every => (*into).max(*from),
                };
            }
        }
    }
}
