//! `fozzy map`: the code of a project by what ran of it.
//!
//! ```text
//! evidence ─▶ programs (call graph, branches, host calls) × runs (edges, blocks) ─┐
//! git ─▶ churn by file, changed lines ────────────────────────────────────────────┼─▶ CodeMap ─▶ hotspots · services · suites
//! risk ─▶ one number a function ──────────────────────────────────────────────────┘
//! ```
//!
//! Invariants: nothing is covered by its name; a map of the same files, runs and history is the same, byte for byte.
//! Not here: the documents and their text (`fozzy_report::map`).

mod change;
mod evidence;
mod frontier;
mod git;
mod host_calls;
mod hotspots;
mod program;
mod risk;
mod services;
mod suites;

pub use evidence::{CorpusOptions, EvidenceOptions};
pub use suites::{MapProfile, ShrinkPolicy, SuitesOptions};

use crate::error::{CampaignError, at_path};
use crate::project::Project;
use crate::store::RunStore;
use evidence::{MapEvidence, ReachedCode, RunEvidence};
use fozzy_trace::Digest;
use git::{FileChurn, Repository};
use program::{ProgramMap, SourceFunction};
use risk::{Risk, RiskFactors};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Programs, what ran of them, and what their history says.
pub struct CodeMap {
    /// The folder that paths count from.
    root: PathBuf,
    /// As the user named it.
    shown_root: String,
    evidence: MapEvidence,
    /// What all runs together have reached, by position of the program.
    reached: Vec<ReachedCode>,
    repository: Result<Repository, String>,
    /// Own functions.
    functions: Vec<MappedFunction>,
    remarks: Vec<String>,
}

/// Where a program's own code is.
pub(crate) struct OwnPlaces {
    /// Files and lines, as the debug information has them.
    pub(crate) lines: BTreeSet<(String, u32)>,
    /// Blocks of functions without a source.
    pub(crate) blocks: BTreeSet<u32>,
}

impl OwnPlaces {
    /// Of a program that was compiled with coverage: what fits one of the patterns, by default what is neither a toolchain's nor a dependency's.
    pub(crate) fn of(
        name: &str,
        program: &fozzy_engine::Program,
        patterns: &[String],
    ) -> Result<OwnPlaces, CampaignError> {
        let here = std::env::current_dir().unwrap_or_default();
        let map = ProgramMap::of(name, program, &program::OwnCode::of(patterns, &here)?)?;
        let mut places = OwnPlaces { lines: BTreeSet::new(), blocks: BTreeSet::new() };
        // What an attribute expands to stands at its line.
        let is_export =
            |function: &&SourceFunction| function.has_source && function.name.starts_with("fozzy:scenario/");
        let exports = map.functions.iter().filter(is_export);
        let attributes: BTreeSet<(&str, u32)> =
            exports.flat_map(|function| function.lines.keys().map(|line| (function.file.as_str(), *line))).collect();
        for (_, function) in map.own() {
            match function.has_source {
                true => {
                    let lines =
                        function.lines.keys().filter(|line| !attributes.contains(&(function.file.as_str(), **line)));
                    places.lines.extend(lines.map(|line| (function.file.clone(), *line)));
                }
                false => places.blocks.extend(&function.blocks),
            }
        }
        Ok(places)
    }
}

/// An own function, with what is known of it.
struct MappedFunction {
    /// Positions of its program, and of itself there.
    at: (usize, usize),
    /// The same in further programs that were built of the same source.
    copies: Vec<(usize, usize)>,
    /// The same as long as program, file and function keep their names.
    id: String,
    /// Its file as people see it.
    path: String,
    /// Its file in the repository.
    tracked: Option<String>,
    /// Runs that reached it, by position.
    executed_by: Vec<usize>,
    /// Ways out of its branches that ran, and that there are.
    ran: u64,
    ways: u64,
    churn: Option<FileChurn>,
    /// Runs that failed in it, by position.
    failures: Vec<usize>,
    risk: Risk,
}

impl CodeMap {
    /// The map of a project: executes its scenarios, replays what is recorded, and asks git.
    pub fn of(
        project: &Project,
        runs: &RunStore,
        root: &Path,
        options: &EvidenceOptions,
    ) -> Result<CodeMap, CampaignError> {
        let real = root.canonicalize();
        let real = real.map_err(|error| at_path(crate::ErrorKind::Usage, "--root: cannot find", root, &error))?;
        let evidence = evidence::collect(project, runs, &real, options)?;
        let reached = evidence.programs.iter().map(|program| together(&evidence.runs, program.digest)).collect();
        let repository = Repository::at(&real);
        let churn = repository.as_ref().map_err(String::clone).and_then(Repository::churn);
        let mut remarks = evidence.remarks.clone();
        if let Err(why) = &churn {
            remarks.push(format!("changes do not count: {why}"));
        }
        let (shown_root, functions) = (root.display().to_string(), Vec::new());
        let mut map = CodeMap { root: real, shown_root, evidence, reached, repository, functions, remarks };
        map.functions = map.mapped(churn.ok().as_ref());
        Ok(map)
    }

    fn mapped(&self, churn: Option<&BTreeMap<String, FileChurn>>) -> Vec<MappedFunction> {
        let mut files: BTreeMap<&str, (String, Option<String>)> = BTreeMap::new();
        // A function is what the source calls one, in however many programs it is.
        let mut sources: BTreeMap<(&str, &str, u32), usize> = BTreeMap::new();
        let mut places: Vec<Vec<(usize, usize)>> = Vec::new();
        for (position, program) in self.evidence.programs.iter().enumerate() {
            for (at, function) in program.own() {
                let line = function.line().filter(|_| function.has_source);
                let known =
                    line.map(|line| *sources.entry((&function.file, &function.name, line)).or_insert(places.len()));
                match known.and_then(|known| places.get_mut(known)) {
                    Some(copies) => copies.push((position, at)),
                    None => places.push(vec![(position, at)]),
                }
            }
        }
        let mut mapped = Vec::with_capacity(places.len());
        for copies in places {
            let function = self.source_at(copies[0]);
            let known = files.entry(&function.file).or_insert_with(|| self.file(function));
            let (path, tracked) = known.clone();
            let of_file = |churn: &BTreeMap<String, FileChurn>| churn.get(tracked.as_ref()?).copied();
            let churn = churn.and_then(of_file);
            mapped.push(self.function(&copies, path, tracked.clone(), churn));
        }
        mapped
    }

    /// The path of a function's file: as people see it, and in the repository.
    fn file(&self, function: &SourceFunction) -> (String, Option<String>) {
        if !function.has_source {
            return (function.file.clone(), None);
        }
        let shown = self.shown_path(&function.file);
        let tracked = self.repository.as_ref().ok().and_then(|repository| repository.path_of(&function.file));
        (shown, tracked)
    }

    fn function(
        &self,
        copies: &[(usize, usize)],
        path: String,
        tracked: Option<String>,
        churn: Option<FileChurn>,
    ) -> MappedFunction {
        let at = copies[0];
        let (program, function) = (&self.evidence.programs[at.0], self.source_at(at));
        let runs = self.evidence.runs.iter().enumerate();
        let executes = |run: &RunEvidence| {
            copies.iter().any(|copy| ran(run, self.evidence.programs[copy.0].digest, self.source_at(*copy)))
        };
        let executed_by = runs.clone().filter(|(_, run)| executes(run)).map(|(run, _)| run).collect();
        let fails = |run: &RunEvidence| {
            run.failed_in.as_ref().is_some_and(|(name, file)| {
                *name == function.name && file.as_ref().is_none_or(|file| *file == function.file)
            }) && copies.iter().any(|copy| run.reached.contains_key(&self.evidence.programs[copy.0].digest))
        };
        let failures: Vec<usize> = runs.filter(|(_, run)| fails(run)).map(|(run, _)| run).collect();
        let has_branches = !function.edges.is_empty();
        let (ran, ways) = self.ways_of(copies);
        let complexity = function.complexity();
        let factors = RiskFactors { complexity, has_branches, ran, ways, churn, failures: failures.len() as u64 };
        let name = format!("{}\n{path}\n{}", program.name, function.name);
        // Without a source, functions of one name differ in where they are.
        let place = if function.has_source { None } else { function.blocks.first() };
        let id = Digest::of(format!("{name}\n{place:?}").as_bytes()).to_string()[..12].to_owned();
        let (copies, risk) = (copies[1..].to_vec(), factors.risk());
        MappedFunction { at, copies, id, path, tracked, executed_by, ran, ways, churn, failures, risk }
    }

    /// A source's path from the root, if it lies below it.
    fn shown_path(&self, file: &str) -> String {
        let path = Path::new(file);
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    fn program(&self, mapped: &MappedFunction) -> &ProgramMap {
        &self.evidence.programs[mapped.at.0]
    }

    fn source(&self, mapped: &MappedFunction) -> &SourceFunction {
        self.source_at(mapped.at)
    }

    fn source_at(&self, (program, function): (usize, usize)) -> &SourceFunction {
        &self.evidence.programs[program].functions[function]
    }

    /// The places of a function: programs, and its positions there.
    fn places<'m>(&self, mapped: &'m MappedFunction) -> impl Iterator<Item = (usize, usize)> + use<'m> {
        std::iter::once(mapped.at).chain(mapped.copies.iter().copied())
    }

    /// The names of further programs that a function is in.
    fn also_in(&self, mapped: &MappedFunction) -> Vec<String> {
        mapped.copies.iter().map(|(program, _)| self.evidence.programs[*program].name.clone()).collect()
    }

    /// The ways of a function that ran in any of its copies, and that there are. Where a compiler has made copies of another shape, those of
    /// the copy of which most ran.
    fn ways_of(&self, copies: &[(usize, usize)]) -> (u64, u64) {
        let ways: Vec<Vec<bool>> =
            copies.iter().map(|copy| ways(self.source_at(*copy), &self.reached[copy.0])).collect();
        let first = self.source_at(copies[0]);
        let is_alike = |copy: &(usize, usize)| {
            let other = self.source_at(*copy);
            other.edges.len() == first.edges.len() && other.lines.keys().eq(first.lines.keys())
        };
        let count = |ran: &[bool]| (ran.iter().filter(|ran| **ran).count() as u64, ran.len() as u64);
        if copies.iter().all(is_alike) {
            let any = (0..ways[0].len()).map(|way| ways.iter().any(|ran| ran[way]));
            return count(&any.collect::<Vec<bool>>());
        }
        let counts = ways.iter().map(|ran| count(ran));
        // Of equal shares, the first copy's.
        counts.reduce(|best, next| if next.0 * best.1 > best.0 * next.1 { next } else { best }).unwrap_or_default()
    }

    fn scanned_files(&self) -> u64 {
        let files = self.functions.iter().filter(|mapped| self.source(mapped).has_source).map(|mapped| &mapped.path);
        files.collect::<BTreeSet<_>>().len() as u64
    }

    fn names(&self, runs: &[usize]) -> Vec<String> {
        runs.iter().map(|run| self.evidence.runs[*run].name.clone()).collect()
    }

    /// Functions by risk, the highest first.
    fn by_risk(&self) -> Vec<&MappedFunction> {
        let mut sorted: Vec<&MappedFunction> = self.functions.iter().collect();
        sorted.sort_by_key(|mapped| {
            let function = self.source(mapped);
            (
                std::cmp::Reverse((mapped.risk.score, mapped.risk.crap_tenths)),
                &mapped.path,
                function.line(),
                &function.name,
                mapped.at,
            )
        });
        sorted
    }
}

/// Which of the ways out of a function's branches were taken: of its lines where it has no branch, of its code where it has no line.
fn ways(function: &SourceFunction, reached: &ReachedCode) -> Vec<bool> {
    let blocks = |blocks: &BTreeSet<u32>| blocks.iter().any(|block| reached.block(*block));
    match (function.edges.is_empty(), function.lines.is_empty()) {
        (false, _) => function.edges.iter().map(|edge| reached.edge(*edge)).collect(),
        (true, false) => function.lines.values().map(blocks).collect(),
        (true, true) => vec![blocks(&function.blocks)],
    }
}

/// Whether a run executed code of a function.
fn ran(run: &RunEvidence, program: Digest, function: &SourceFunction) -> bool {
    let reached = run.reached.get(&program);
    reached.is_some_and(|reached| function.blocks.iter().any(|block| reached.block(*block)))
}

/// What all runs together have reached of a program.
fn together(runs: &[RunEvidence], program: Digest) -> ReachedCode {
    let mut all = ReachedCode::default();
    runs.iter().filter_map(|run| run.reached.get(&program)).for_each(|reached| all.merge(reached));
    all
}
