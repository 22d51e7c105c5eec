//! Which mutants are made: of the program's own code that the passing runs cover, one for each line and change.
//!
//! ```text
//! covered blocks ∩ own lines ─▶ mutations there ─┬─ in copies of one line (inlined, generic): one mutant of all of them
//!                                                └─ the same change twice on a line: the first one
//! ```
//!
//! Invariant: the order is that of files and lines, and does not depend on anything else.

use crate::coverage::{FUEL_TIMES, module_name, name_of, plain};
use crate::embedded::is_embedded;
use crate::error::{CampaignError, ErrorKind};
use crate::map::OwnPlaces;
use crate::pipeline::PreparedProgram;
use crate::seed_runs::reading_session;
use fozzy_engine::{Build, Program, ProgramCoverage};
use fozzy_instrument::source::{DebugSymbols, SourceFrame};
use fozzy_instrument::{
    CallGraph, CodeEdit, CodeMutation, CodeMutations, CoverageMode, ModuleChoice, ModuleOrdinal, MutationKind,
    OriginalOffset, SiteKind, mutated, mutations,
};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, Executor, Seed};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Beginnings of names of functions that compilers call where a check of theirs fails.
const CHECKS: &[&str] = &[
    "core::panicking::panic_bounds_check",
    "core::panicking::panic_const",
    "core::panicking::panic_nounwind",
    "core::panicking::panic_misaligned",
    "core::panicking::panic_null",
    "core::slice::index::slice_",
    "runtime.lookupPanic",
    "runtime.slicePanic",
    "runtime.nilPanic",
    "runtime.panicIndex",
    "runtime.panicSlice",
    "runtime.panicdivide",
];
/// Beginnings of names of functions whose calls nobody is expected to miss: what frees memory, and what a test says itself.
const UNMISSED: &[&str] =
    &["core::ptr::drop_in_place", "__rust_dealloc", "__rustc::__rust_dealloc", "free", "dlfree", "fozzy", "<fozzy"];

/// A file, a line and a column.
type CodePlace = (String, Option<u32>, Option<u32>);

/// A program of the run, and what the passing runs cover of it.
pub(super) struct CoveredProgram {
    name: String,
    digest: Digest,
    program: Program,
    covered: ProgramCoverage,
}

/// A mutant that can be made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MutantCandidate {
    /// The source, or the core module.
    pub(super) file: String,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
    pub(super) function: String,
    /// Of the first place, from the beginning of the component.
    pub(super) offset: u32,
    pub(super) kind: MutationKind,
    pub(super) change: String,
    /// The program.
    pub(super) program: Digest,
    /// The places, with what stands there instead.
    pub(super) edits: Vec<(u32, Vec<u8>)>,
}

impl MutantCandidate {
    /// Its place among those of which some are chosen.
    pub(super) fn rank(&self, seed: Seed) -> Digest {
        let MutantCandidate { file, line, function, kind, change, .. } = self;
        let offset = if line.is_none() { self.offset } else { 0 };
        let text =
            format!("fozzy mutants 1\n{seed}\n{file}\n{line:?}\n{function}\n{offset}\n{}\n{change}", kind.name());
        Digest::of(text.as_bytes())
    }

    /// The component of the mutant.
    pub(super) fn component(&self, programs: &[CoveredProgram]) -> Vec<u8> {
        let original = programs.iter().find(|program| program.digest == self.program);
        let original = original.expect("candidates are made of these programs").program.component();
        let edits: Vec<CodeEdit> = self
            .edits
            .iter()
            .map(|(offset, bytes)| CodeEdit { offset: OriginalOffset(*offset), bytes: bytes.clone() })
            .collect();
        mutated(original, &edits)
    }
}

/// The programs of the plan with what runs of these seeds cover, apart from those that travel in Fozzy.
pub(super) fn covered_programs(
    prepared: &PreparedProgram,
    seeds: &[Seed],
) -> Result<Vec<CoveredProgram>, CampaignError> {
    let build = Build { coverage: CoverageMode::SetOnce, modules: ModuleChoice::Own, ..Build::default() };
    let counting = prepared.rebuilt(&build)?;
    let mut session = reading_session(&counting)?;
    session.fuel_times(FUEL_TIMES);
    let target = Digest::of(&counting.loaded.component);
    let mut found: BTreeMap<Digest, CoveredProgram> = BTreeMap::new();
    for seed in seeds {
        let executed = session.execute(Box::new(SeededSource::new(*seed)), 0..0);
        executed?;
        for (digest, covered) in session.coverage().iter().filter(|(digest, _)| !is_embedded(**digest)) {
            let Some(program) = session.program_named(*digest) else { continue };
            let entry = found.entry(*digest).or_insert_with(|| CoveredProgram {
                name: match *digest == target {
                    true => counting.loaded.target.name.clone(),
                    false => name_of(&counting.planned.plan, *digest),
                },
                digest: *digest,
                program: program.clone(),
                covered: ProgramCoverage::default(),
            });
            entry.covered.merge(covered, CoverageMode::SetOnce);
        }
    }
    Ok(found.into_values().collect())
}

/// The mutants of all programs.
#[derive(Default)]
pub(super) struct MutantCandidates {
    pub(super) all: Vec<MutantCandidate>,
    /// Changes of covered functions that were not looked at, since a program has too many.
    pub(super) left_out: BTreeMap<MutationKind, u64>,
}

impl MutantCandidates {
    pub(super) fn of(programs: &[CoveredProgram], own: &[String]) -> Result<MutantCandidates, CampaignError> {
        let mut found = MutantCandidates::default();
        for program in programs {
            program.candidates(own, &mut found)?;
        }
        found.all.sort();
        Ok(found)
    }
}

/// Where a mutation stands, in the words of the source.
struct SourcePlace {
    file: String,
    line: Option<u32>,
    column: Option<u32>,
    function: String,
}

impl CoveredProgram {
    fn candidates(&self, own: &[String], all: &mut MutantCandidates) -> Result<(), CampaignError> {
        let refused = |error| CampaignError::new(ErrorKind::Target, format!("{}: {error}", self.name));
        let places = OwnPlaces::of(&self.name, &self.program, own)?;
        let component = self.program.component();
        let symbols = DebugSymbols::new(component);
        let stretches = self.stretches();
        let covered = |offset: OriginalOffset| {
            let after = stretches.partition_point(|(range, _)| range.start <= offset);
            let (range, block) = stretches.get(after.checked_sub(1)?)?;
            (offset < range.end).then_some(*block)
        };
        let is_wanted = |_: ModuleOrdinal, body: Range<OriginalOffset>| {
            let after = stretches.partition_point(|(range, _)| range.end <= body.start);
            stretches.get(after).is_some_and(|(range, _)| range.start < body.end)
        };
        let CodeMutations { all: found, left_out } = mutations(component, &is_wanted).map_err(refused)?;
        left_out.into_iter().for_each(|(kind, more)| *all.left_out.entry(kind).or_default() += more);
        let checks = self.checks(&symbols).map_err(refused)?;
        // By what the source calls the same: the first column of a line, and all copies of it.
        type Key = (String, Option<u32>, String, u32, MutationKind, String);
        let mut by_key: BTreeMap<Key, BTreeMap<Option<u32>, MutantCandidate>> = BTreeMap::new();
        for mutation in found {
            let Some(block) = covered(mutation.offset) else { continue };
            let Some(place) = self.place(&symbols, &places, &mutation, block) else { continue };
            let at = (place.file.clone(), place.line, place.column);
            let is_check = mutation.looks_like_a_check && place.line.is_some() && checks.contains(&at);
            if is_check || self.is_unmissed(&symbols, &mutation) {
                continue;
            }
            let SourcePlace { file, line, column, function } = place;
            // Without lines each place is one of its own; of a function the name says which it is.
            let apart = if line.is_none() { mutation.offset.0 } else { 0 };
            let named =
                if line.is_none() || mutation.kind == MutationKind::Body { function.clone() } else { String::new() };
            let key = (file.clone(), line, named, apart, mutation.kind, mutation.change.clone());
            let CodeMutation { offset, kind, change, edit, .. } = mutation;
            let columns = by_key.entry(key).or_default();
            let candidate = columns.entry(column).or_insert_with(|| MutantCandidate {
                file,
                line,
                column,
                function,
                offset: offset.0,
                kind,
                change,
                program: self.digest,
                edits: Vec::new(),
            });
            let overlaps =
                candidate.edits.last().is_some_and(|(at, bytes)| *at as usize + bytes.len() > edit.offset.0 as usize);
            if !overlaps {
                candidate.edits.push((edit.offset.0, edit.bytes));
            }
        }
        all.all.extend(by_key.into_values().filter_map(|columns| columns.into_values().next()));
        Ok(())
    }

    /// Code that ran, with its blocks, in the order of the bytes.
    fn stretches(&self) -> Vec<(Range<OriginalOffset>, u32)> {
        let hit = |block: u32| self.covered.blocks.get(block as usize).is_some_and(|hits| *hits > 0);
        let stretches = self.program.sites().stretches();
        let stretches = stretches.filter_map(|it| Some((it.range, it.block.filter(|block| hit(*block))?)));
        let mut stretches: Vec<_> = stretches.collect();
        stretches.sort_by_key(|(range, _)| range.start);
        stretches
    }

    /// Where a mutation stands, if that is own code.
    fn place(
        &self,
        symbols: &DebugSymbols,
        own: &OwnPlaces,
        mutation: &CodeMutation,
        block: u32,
    ) -> Option<SourcePlace> {
        let frames = symbols.frames(mutation.module, mutation.offset);
        // A body is the function's own, whatever is inlined at its beginning.
        let frame: &SourceFrame = match mutation.kind {
            MutationKind::Body => frames.last()?,
            _ => frames.first()?,
        };
        let function = frame.function.clone();
        match (&frame.file, frame.line.filter(|line| *line > 0)) {
            (Some(file), Some(line)) => {
                let file = plain(file);
                let is_own = own.lines.contains(&(file.clone(), line));
                is_own.then(|| SourcePlace {
                    file,
                    line: Some(line),
                    column: frame.column.filter(|it| *it > 0),
                    function,
                })
            }
            // Code that the compiler made.
            (Some(_), None) => None,
            (None, _) => own.blocks.contains(&block).then(|| SourcePlace {
                file: module_name(&self.program, mutation.module),
                line: None,
                column: None,
                function,
            }),
        }
    }

    /// Where compilers check something by themselves: the places of what they call when that fails.
    fn checks(&self, symbols: &DebugSymbols) -> Result<BTreeSet<CodePlace>, fozzy_instrument::Error> {
        let graph = CallGraph::of(self.program.component())?;
        let is_check = |function: &fozzy_instrument::CodeFunction| {
            let name = symbols.function_name(function.module, function.index);
            name.is_some_and(|name| CHECKS.iter().any(|start| name.starts_with(start)))
        };
        let checks: BTreeSet<usize> = (0..graph.functions.len()).filter(|at| is_check(&graph.functions[*at])).collect();
        let mut found = BTreeSet::new();
        for function in &graph.functions {
            for site in &function.sites {
                if !matches!(site.kind, SiteKind::Call(callee) if checks.contains(&callee)) {
                    continue;
                }
                let frames = symbols.frames(function.module, site.offset);
                let Some(SourceFrame { file: Some(file), line, column, .. }) = frames.first() else { continue };
                found.insert((plain(file), *line, column.filter(|column| *column > 0)));
            }
        }
        Ok(found)
    }

    fn is_unmissed(&self, symbols: &DebugSymbols, mutation: &CodeMutation) -> bool {
        let name = mutation.callee.and_then(|callee| symbols.function_name(mutation.module, callee));
        name.is_some_and(|name| UNMISSED.iter().chain(CHECKS).any(|start| name.starts_with(start)))
    }
}
