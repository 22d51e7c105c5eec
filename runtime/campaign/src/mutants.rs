//! Mutants of a program: small changes of its own code, each executed under the runs that the program passes.
//!
//! ```text
//! seeds ─▶ runs that pass ─▶ covered own code ─▶ mutations, one a line and operator ─limit─▶ mutants
//!             │ instructions, time: ten times that                                             │ jobs
//!             └────────────────────────────────────────────────────────────────────────────────┴─▶ noticed, or not by any run
//! ```
//!
//! Invariants: the same program, plan, seeds and limit make the same mutants with the same results, however many jobs there are; a mutant has
//! the seeds and decisions of the runs that it is held against; what is noticed is a verdict that is no pass, and nothing else.
//! Not here: how code is changed (`fozzy-instrument`), the document and its text (`fozzy_report::mutants`).

mod candidates;

use crate::diff::DiffRules;
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::pipeline::{LoadedTarget, PreparedProgram};
use crate::progress::{CampaignLine, LIVE_EVERY_NS};
use crate::seed_runs::{SeedRuns, reading_session};
use crate::sources::Sources;
use crate::suite::jobs::{Event, in_order};
use crate::wall_clock::Stopwatch;
use candidates::{MutantCandidate, MutantCandidates, covered_programs};
use fozzy_check::judge;
use fozzy_engine::{Build, Cache};
use fozzy_instrument::MutationKind;
use fozzy_report::mutants::{LeftOutMutations, MutantDocument, MutantKindCount, MutantResult, MutantsDocument};
use fozzy_trace::history::first_difference;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Duration, Execution, Executor, HarnessError, Seed, Status, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How much longer than the passing run a mutant may run.
const LONGER_TIMES: u64 = 10;
/// Instructions beyond that: a run of nearly none has some room too.
const FUEL_MORE: u64 = 1_000_000;
/// Virtual time beyond that.
const TIME_MORE: Duration = Duration(10_000_000_000);
/// Host calls beyond that.
const CALLS_MORE: u64 = 10_000;
/// Seeds of a run that passes which mutants are executed with, at the most: each mutant is executed with all of them, until one notices it.
pub const SEEDS_MAX: u64 = 1_000;
/// Characters of a line of source that are shown.
const SOURCE_CHARS_MAX: usize = 200;

/// A program whose tests are to be tested.
pub struct MutationTest<'a> {
    /// The program and its runs.
    pub runs: SeedRuns<'a>,
    /// Mutants at the most; `None` for all.
    pub limit: Option<u64>,
    /// Which of them, where there are more.
    pub choice: Seed,
    /// Paths or functions of its own code; without any, what is neither a toolchain's nor a dependency's.
    pub own: Vec<String>,
    /// Mutants at a time.
    pub jobs: usize,
}

/// A run that the program passes.
struct PassingRun {
    seed: Seed,
    execution: Execution,
}

/// What became of a mutant.
enum MutantOutcome {
    Noticed {
        seed: Seed,
        verdict: Verdict,
    },
    Missed {
        differs: Vec<String>,
    },
    /// It cannot be compiled, or the machine failed.
    Failed(String),
    Interrupted,
}

impl MutationTest<'_> {
    /// Makes the mutants and executes them; `tell` has a line for a terminal now and then.
    ///
    /// # Errors
    /// When the program cannot be run so, passes no run, has no own code that ran, or the machine fails.
    pub fn run(&self, mut tell: impl FnMut(&str)) -> Result<MutantsDocument, CampaignError> {
        let watch = Stopwatch::start();
        let prepared = self.runs.prepare(&Build::default(), SEEDS_MAX)?;
        let (passing, failing) = self.passing(&prepared)?;
        let Some(PassingRun { seed, .. }) = passing.first() else {
            let (name, seeds) = (self.runs.name(), &self.runs.seeds);
            let message =
                format!("{name} passes with none of the seeds {seeds}: there is no run to hold mutants against");
            return Err(CampaignError::new(ErrorKind::Target, message).hint(self.runs.first_run()));
        };
        tell(&format!("{} pass, the first with seed {seed}; looking for the code that they cover", passing.len()));
        let seeds: Vec<Seed> = passing.iter().map(|run| run.seed).collect();
        let programs = covered_programs(&prepared, &seeds)?;
        let MutantCandidates { mut all, left_out } = MutantCandidates::of(&programs, &self.own)?;
        let made = all.len() as u64;
        if all.is_empty() {
            let message = "the runs cover no code of the program's own that could be changed";
            return Err(CampaignError::new(ErrorKind::Target, message).hint(
                "--own names it, by paths of sources or functions; a function without a name and a source counts as none of its own, and \
                 --own '*' takes all",
            ));
        }
        if let Some(limit) = self.limit.and_then(|limit| usize::try_from(limit).ok())
            && all.len() > limit
        {
            all = chosen(all, limit, self.choice);
        }
        let folder = tempfile::Builder::new().prefix("fozzy-mutants").tempdir();
        let folder = folder
            .map_err(|error| at_path(ErrorKind::Harness, "cannot create a folder in", &std::env::temp_dir(), &error))?;
        let cache =
            Cache::open(folder.path()).map_err(|error| CampaignError::new(ErrorKind::Harness, error.to_string()))?;
        let bounded = bounded(prepared, &passing);
        let work = |candidate: &MutantCandidate| match (self.runs.stop)() {
            true => MutantOutcome::Interrupted,
            false => execute(&bounded, candidate, &programs, &passing, &cache),
        };
        let is_end = |outcome: &MutantOutcome| matches!(outcome, MutantOutcome::Interrupted);
        let (mut told_at, mut told_done, mut missed) = (watch.elapsed_ns(), 0, 0);
        let started_ns = told_at;
        let results = in_order(&all, self.jobs, is_end, work, |event| match event {
            Event::Next(outcome) => missed += u64::from(matches!(outcome, MutantOutcome::Missed { .. })),
            Event::Working { done, .. } => {
                let (elapsed_ns, done) = (watch.elapsed_ns(), done as u64);
                if elapsed_ns - told_at >= LIVE_EVERY_NS {
                    let line = CampaignLine {
                        elapsed_ns: elapsed_ns - started_ns,
                        time_ns: None,
                        unit: "mutant",
                        done,
                        budget: Some(all.len() as u64),
                        since: (done - told_done, elapsed_ns - told_at),
                        edges: None,
                        found: (missed, "not noticed"),
                    };
                    tell(&line.text().replace("not noticeds", "not noticed"));
                    (told_at, told_done) = (elapsed_ns, done);
                }
            }
        });
        let results = results.map_err(|error| {
            let message = format!("cannot start a thread for {} at a time: {error}", self.jobs);
            CampaignError::new(ErrorKind::Harness, message)
        })?;
        tell("");
        let document = self.document(&all, results, made, &seeds, failing)?;
        Ok(MutantsDocument { left_out: left_out_document(&left_out), ..document })
    }

    /// The runs that the program passes, and how many it does not.
    fn passing(&self, prepared: &PreparedProgram) -> Result<(Vec<PassingRun>, u64), CampaignError> {
        let mut session = reading_session(prepared)?;
        let (mut passing, mut failing) = (Vec::new(), 0);
        for seed in self.runs.seeds.seeds().iter().copied() {
            let execution = session.execute(Box::new(SeededSource::new(seed)), 0..0)?;
            match judge(&execution).status {
                Status::Pass => passing.push(PassingRun { seed, execution }),
                _ => failing += 1,
            }
        }
        Ok((passing, failing))
    }

    fn document(
        &self,
        candidates: &[MutantCandidate],
        results: Vec<Option<MutantOutcome>>,
        made: u64,
        seeds: &[Seed],
        failing: u64,
    ) -> Result<MutantsDocument, CampaignError> {
        let mut texts = SourceTexts::of(&self.runs.loaded);
        let (mut mutants, mut interrupted) = (Vec::new(), false);
        let mut kinds: BTreeMap<&str, MutantKindCount> = BTreeMap::new();
        for (candidate, outcome) in candidates.iter().zip(results) {
            let (result, seed, how, differs) = match outcome {
                None | Some(MutantOutcome::Interrupted) => {
                    interrupted = true;
                    continue;
                }
                // A score without it would be another one.
                Some(MutantOutcome::Failed(why)) => {
                    let message = format!("a mutant of {} was not executed: {why}", shown_path(&candidate.file));
                    return Err(CampaignError::new(ErrorKind::Harness, message));
                }
                Some(MutantOutcome::Noticed { seed, verdict }) => {
                    let signature = verdict.signature.map(|signature| signature.to_string());
                    let how = signature.unwrap_or_else(|| verdict.status.name().to_owned());
                    (MutantResult::Noticed, Some(seed), Some(how), Vec::new())
                }
                Some(MutantOutcome::Missed { differs }) => (MutantResult::Missed, None, None, differs),
            };
            let kind = candidate.kind.name();
            let count =
                kinds.entry(kind).or_insert_with(|| MutantKindCount { kind: kind.to_owned(), mutants: 0, noticed: 0 });
            count.mutants += 1;
            count.noticed += u64::from(result == MutantResult::Noticed);
            let source = match (result, candidate.line) {
                (MutantResult::Missed, Some(line)) => texts.line(&candidate.file, line),
                _ => None,
            };
            mutants.push(MutantDocument {
                file: shown_path(&candidate.file),
                line: candidate.line,
                column: candidate.column,
                function: candidate.function.clone(),
                offset: candidate.line.is_none().then_some(candidate.offset),
                kind: kind.to_owned(),
                change: candidate.change.clone(),
                places: candidate.edits.len() as u64,
                result,
                seed,
                how,
                differs,
                source,
            });
        }
        let noticed = mutants.iter().filter(|it| it.result == MutantResult::Noticed).count() as u64;
        let run = mutants.len() as u64;
        Ok(MutantsDocument {
            schema_version: "fozzy.mutants.v1".to_owned(),
            target: self.runs.loaded.summary(),
            seeds: seeds.to_vec(),
            failing_seeds: failing,
            made,
            left_out: Vec::new(),
            mutants: run,
            noticed,
            score: if run == 0 { 0.0 } else { noticed as f64 / run as f64 },
            min_score: None,
            passed: true,
            interrupted,
            choice: (made > candidates.len() as u64).then_some(self.choice),
            kinds: kinds.into_values().collect(),
            all: mutants,
            warnings: Vec::new(),
        })
    }
}

/// Changes of code that were not looked at, by what is changed.
fn left_out_document(left_out: &BTreeMap<MutationKind, u64>) -> Vec<LeftOutMutations> {
    let row =
        |(kind, changes): (&MutationKind, &u64)| LeftOutMutations { kind: kind.name().to_owned(), changes: *changes };
    left_out.iter().map(row).collect()
}

/// As many as this, which ones the seed says; a candidate more or less leaves most of the others.
fn chosen(mut all: Vec<MutantCandidate>, limit: usize, seed: Seed) -> Vec<MutantCandidate> {
    all.sort_by_cached_key(|candidate| candidate.rank(seed));
    all.truncate(limit);
    all.sort();
    all
}

/// The program with bounds of what a mutant of it may take.
fn bounded(mut prepared: PreparedProgram, passing: &[PassingRun]) -> PreparedProgram {
    let largest = |of: fn(&Execution) -> u64| passing.iter().map(|run| of(&run.execution)).max().unwrap_or(0);
    let longer = |most: u64, more: u64| most.saturating_mul(LONGER_TIMES).saturating_add(more);
    let limits = &mut prepared.planned.plan.limits;
    // Of further machines it is not known what each has used.
    if prepared.planned.plan.nodes.is_empty() {
        limits.fuel = limits.fuel.min(longer(largest(|it| it.fuel_used), FUEL_MORE));
    }
    let time = Duration(longer(largest(|it| it.ended_at.0), TIME_MORE.0));
    limits.time = Some(limits.time.map_or(time, |planned| planned.min(time)));
    limits.end_after_calls(longer(largest(|it| it.history.calls), CALLS_MORE));
    prepared
}

fn execute(
    prepared: &PreparedProgram,
    candidate: &MutantCandidate,
    programs: &[candidates::CoveredProgram],
    passing: &[PassingRun],
    cache: &Cache,
) -> MutantOutcome {
    let component = candidate.component(programs);
    let mutant = prepared.with_program(candidate.program, component, cache);
    let mut session = match mutant.and_then(|mutant| reading_session(&mutant)) {
        Ok(session) => session,
        Err(error) => return MutantOutcome::Failed(error.message),
    };
    let rules = DiffRules::default();
    let mut differs: Vec<String> = Vec::new();
    for run in passing {
        let execution = match session.execute(Box::new(SeededSource::new(run.seed)), 0..0) {
            Ok(execution) => execution,
            Err(error) if HarnessError::is_interruption(&error) => return MutantOutcome::Interrupted,
            Err(error) => return MutantOutcome::Failed(error.what),
        };
        let verdict = judge(&execution);
        if verdict.status != Status::Pass {
            return MutantOutcome::Noticed { seed: run.seed, verdict };
        }
        let found = rules.differences(&run.execution, &execution);
        differs.extend(found.iter().map(|difference| difference.what.name().to_owned()));
        if first_difference(&run.execution.history, &execution.history).is_some() {
            differs.push("calls".to_owned());
        }
        differs.sort();
        differs.dedup();
    }
    MutantOutcome::Missed { differs }
}

/// A path as people see it: from the present folder, if it is below.
pub(crate) fn shown_path(file: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    Path::new(file).strip_prefix(here).map_or_else(|_| file.to_owned(), |path| path.display().to_string())
}

/// Lines of the program's own sources.
struct SourceTexts {
    sources: Option<Sources>,
    texts: BTreeMap<String, Option<String>>,
}

impl SourceTexts {
    /// Below the present folder, and below that of the program.
    fn of(loaded: &LoadedTarget) -> SourceTexts {
        let of_program = loaded.file.as_deref().and_then(Path::parent).filter(|folder| folder.is_dir());
        let folders: Vec<PathBuf> =
            [Some(Path::new(".")), of_program].into_iter().flatten().map(Path::to_owned).collect();
        SourceTexts { sources: Sources::below(&folders).ok(), texts: BTreeMap::new() }
    }

    fn line(&mut self, file: &str, line: u32) -> Option<String> {
        let sources = self.sources.as_ref()?;
        let text = self.texts.entry(file.to_owned()).or_insert_with(|| sources.text(file)).as_ref()?;
        let line = text.lines().nth((line as usize).checked_sub(1)?)?.trim();
        Some(line.chars().take(SOURCE_CHARS_MAX).collect())
    }
}
