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
use fozzy_instrument::{CoverageMode, ModuleOrdinal, OriginalOffset};
use std::collections::BTreeMap;

/// How often each edge and each block of a component was reached, by position in [`fozzy_instrument::Sites`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramCoverage {
    /// For each edge: with set-once bytes 0 or 1, with counters how often, where 255 of one guest is "255 or more".
    pub edges: Vec<u64>,
    /// The same for the blocks of code between edges.
    pub blocks: Vec<u64>,
}

impl ProgramCoverage {
    /// What a guest has covered whose memories are `told`; `cut` is where it was cut off inside of its own code.
    pub(crate) fn of(program: &Program, told: &InstanceMemories, cut: Option<OriginalOffset>) -> ProgramCoverage {
        let mut bytes: BTreeMap<ModuleOrdinal, Vec<u8>> = BTreeMap::new();
        for (module, found) in told.coverage() {
            let sum = bytes.entry(module).or_insert_with(|| vec![0; found.len()]);
            for (sum, found) in sum.iter_mut().zip(found) {
                *sum = sum.saturating_add(*found);
            }
        }
        ProgramCoverage::by(program, &bytes, cut)
    }

    /// What these coverage bytes stand for.
    pub(crate) fn by(
        program: &Program,
        bytes: &BTreeMap<ModuleOrdinal, Vec<u8>>,
        cut: Option<OriginalOffset>,
    ) -> ProgramCoverage {
        let sites = program.sites();
        let edges = sites.counts(|module| bytes.get(&module).map_or(&[], Vec::as_slice), cut);
        let blocks = sites.block_counts(&edges, cut);
        let mut covered = ProgramCoverage { edges, blocks };
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
