//! Suspects: what goes with a failure, over many runs of a program that pass and that fail.
//!
//! ```text
//! seeds ──────────────┬─▶ executed with coverage ─▶ things of each run: own lines and branches, faults, flows, properties, calls, output
//! inputs of a corpus ─┤                                  │ in failing and in passing runs, counted
//! recorded runs ──────┘                                  └─▶ ranked by Ochiai; equal in all runs that count: one suspect
//! ```
//!
//! Invariants: what is found does not depend on the number of jobs; a run counts once, as passing or by the signature of its failure. Each signature is a question
//! of its own: runs that fail otherwise change nothing in its answer. What stands at the top goes with the failure in these runs, which is no claim about its cause.
//! Bounds are said: things and failures beyond them, runs that print more lines than count.
//! Not here: the document and its text (`fozzy_report::suspects`).

mod score;
mod table;
mod things;

use crate::coverage::FUEL_TIMES;
use crate::error::{CampaignError, ErrorKind};
use crate::fuzz::confirmer::FindingConfirmer;
use crate::inputs::{self, InputOptions, InputRunner};
use crate::pipeline::{PreparedProgram, plan};
use crate::progress::{CampaignLine, LIVE_EVERY_NS};
use crate::seed_runs::{SeedRuns, reading_session};
use crate::selector;
use crate::suite::jobs::{Event, in_order};
use crate::wall_clock::Stopwatch;
use fozzy_check::judge;
use fozzy_engine::{Build, Session};
use fozzy_instrument::{CoverageMode, ModuleChoice};
use fozzy_report::suspects::{OtherFailure, Suspect, SuspectThing, SuspectsDocument};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Execution, Executor, Seed, Status};
use score::Contingency;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use table::{SpectrumTable, ThingRuns};
use things::RunThings;

/// Runs at the most.
pub const RUNS_MAX: u64 = 10_000;
/// Suspects that a document has.
const SUSPECTS_MAX: usize = 100;
/// Things of one suspect that a document has.
const THINGS_MAX: usize = 50;
/// Other failures that a document names.
const OTHERS_MAX: usize = 20;
/// Fewer runs of a kind than this, and a reader is told that they say little.
const RUNS_FEW: u64 = 5;
/// Calls of a run that are looked at.
const CALLS_MAX: u64 = 20_000;
/// Digits of numbers in documents that machines agree upon.
const DIGITS: f64 = 1e6;

/// Where to look for suspects.
pub struct SuspectSearch<'a> {
    /// The program and its runs.
    pub runs: SeedRuns<'a>,
    /// What is executed instead of the seeds.
    pub corpus: Option<SuspectCorpus>,
    /// Which failure: a part of its signature. By default the most frequent one.
    pub failure: Option<String>,
    /// Paths or functions of its own code.
    pub own: Vec<String>,
    /// Runs at a time.
    pub jobs: usize,
}

/// Inputs and recorded runs that a project has.
pub struct SuspectCorpus {
    /// Their folders.
    pub folders: Vec<PathBuf>,
    /// Where an input goes.
    pub options: InputOptions,
}

/// One run that is to be made.
enum PlannedRun {
    Seed(Seed),
    Input(PathBuf),
    Recorded(PathBuf),
}

/// What counts of one run.
struct RunSpectrum {
    /// The signature of its failure; `None` if it passes.
    failure: Option<String>,
    things: RunThings,
}

/// What makes runs: sessions and callers that are free.
struct SpectrumMaker<'a> {
    prepared: &'a PreparedProgram,
    options: Option<&'a InputOptions>,
    sessions: Mutex<Vec<Session>>,
    callers: Mutex<Vec<FindingConfirmer>>,
}

impl SuspectSearch<'_> {
    /// Executes the runs and ranks what is in them; `tell` has a line for a terminal now and then.
    ///
    /// # Errors
    /// When the program cannot be run so, no run fails or none passes, or the machine fails.
    pub fn run(&self, mut tell: impl FnMut(&str)) -> Result<SuspectsDocument, CampaignError> {
        let build = Build { coverage: CoverageMode::SetOnce, modules: ModuleChoice::Own, ..Build::default() };
        let (prepared, planned, mut warnings) = match &self.corpus {
            None => {
                let seeds = self.runs.seeds.seeds().iter().copied().map(PlannedRun::Seed).collect();
                (self.runs.prepare(&build, RUNS_MAX)?, seeds, Vec::new())
            }
            Some(corpus) => self.of_corpus(corpus, &build)?,
        };
        let options = self.corpus.as_ref().map(|corpus| &corpus.options);
        let (sessions, callers) = (Mutex::default(), Mutex::default());
        let maker = SpectrumMaker { prepared: &prepared, options, sessions, callers };
        let work = |run: &PlannedRun| {
            let run = (!(self.runs.stop)()).then(|| maker.execute(run));
            let run = run.filter(|run| !run.as_ref().is_err_and(|error| error.kind == ErrorKind::Interrupted));
            // It is taken when it is counted: what a run has covered is large.
            run.map(|run| run.map(|spectrum| Mutex::new(Some(spectrum))))
        };
        let is_end = |run: &Option<Result<Mutex<Option<RunSpectrum>>, CampaignError>>| !matches!(run, Some(Ok(_)));
        let (watch, mut told) = (Stopwatch::start(), (0, 0));
        let (mut table, mut failed, mut refused) = (SpectrumTable::default(), 0, None);
        let mut is_interrupted = false;
        let results = in_order(&planned, self.jobs, is_end, work, |event| match event {
            // Later runs do not count when one before them does not.
            Event::Next(_) if is_interrupted || refused.is_some() => {}
            Event::Next(None) => is_interrupted = true,
            Event::Next(Some(Err(error))) => {
                refused = Some(error.clone());
            }
            Event::Next(Some(Ok(run))) => {
                let run = run.lock().expect("nobody panics with it").take();
                failed += u64::from(run.as_ref().is_some_and(|run| run.failure.is_some()));
                refused = run.and_then(|run| table.add(run.failure.as_deref(), &run.things, &self.own).err());
            }
            Event::Working { done, .. } => {
                let (elapsed_ns, done) = (watch.elapsed_ns(), done as u64);
                if elapsed_ns - told.1 >= LIVE_EVERY_NS {
                    let (since, budget) = ((done - told.0, elapsed_ns - told.1), Some(planned.len() as u64));
                    let found = (failed, "failure");
                    let line = CampaignLine {
                        elapsed_ns,
                        time_ns: None,
                        unit: "run",
                        done,
                        budget,
                        since,
                        edges: None,
                        found,
                    };
                    tell(&line.text());
                    told = (done, elapsed_ns);
                }
            }
        });
        results.map_err(|error| {
            let message = format!("cannot start a thread for {} at a time: {error}", self.jobs);
            CampaignError::new(ErrorKind::Harness, message)
        })?;
        if let Some(error) = refused {
            return Err(error);
        }
        warnings.extend(table.warnings());
        self.document(table, is_interrupted, warnings)
    }

    /// The runs that a project has: inputs for the program, and recordings of it.
    fn of_corpus(
        &self,
        corpus: &SuspectCorpus,
        build: &Build,
    ) -> Result<(PreparedProgram, Vec<PlannedRun>, Vec<String>), CampaignError> {
        let SeedRuns { project, loaded, request, .. } = &self.runs;
        let mut planned = plan(project, loaded, request)?;
        planned.stdin = None;
        let mut prepared = PreparedProgram::to_call(loaded.clone(), planned, build)?;
        prepared.bound_time();
        let prepared = self.runs.armed(prepared)?;
        let (mut runs, mut others) = (Vec::new(), 0_u64);
        for folder in &corpus.folders {
            for file in inputs::files(folder)? {
                if !inputs::is_trace(&file) {
                    runs.push(PlannedRun::Input(file));
                    continue;
                }
                let recording = selector::read(&file)?;
                match recording.component == loaded.component {
                    true => runs.push(PlannedRun::Recorded(file)),
                    false => others += 1,
                }
            }
        }
        let found = runs.len() as u64;
        if found > RUNS_MAX {
            let message = format!("--corpus: expected {RUNS_MAX} inputs and traces at the most, found {found}");
            return Err(CampaignError::new(ErrorKind::Usage, message));
        }
        let traces = fozzy_trace::counted(others, "trace");
        let warning = (others > 0).then(|| format!("{traces} left out: of another build of the program"));
        Ok((prepared, runs, warning.into_iter().collect()))
    }

    fn document(
        &self,
        table: SpectrumTable,
        interrupted: bool,
        mut warnings: Vec<String>,
    ) -> Result<SuspectsDocument, CampaignError> {
        let name = self.runs.name();
        let none = |message: String| {
            let hint = match self.corpus {
                None if table.passing() == 0 => {
                    "fewer --sequences and --flows make runs that pass; --seeds takes more runs"
                }
                None => "--seeds takes more runs; a plan with faults, or more --sequences, makes others",
                Some(_) => "--corpus takes further folders, of inputs or traces",
            };
            match interrupted {
                true => self.runs.interrupted(table.count()),
                false => CampaignError::new(ErrorKind::Target, message).hint(hint),
            }
        };
        let (passing, mut failures) = (table.passing(), table.failures());
        let is_wanted = |failure: &str| self.failure.as_ref().is_none_or(|part| failure.contains(part.as_str()));
        let wanted = failures.iter().filter(|(failure, _)| is_wanted(failure)).count();
        let Some(place) = failures.iter().position(|(failure, _)| is_wanted(failure)) else {
            let runs = fozzy_trace::counted(table.count(), "run");
            return Err(none(match &self.failure {
                Some(part) => format!("{name}: none of {runs} fails with `{part}`"),
                None => format!("{name}: none of {runs} fails, so that nothing goes with a failure"),
            }));
        };
        let (failure, failing) = failures.remove(place);
        if passing == 0 {
            return Err(none(format!(
                "{name}: none of {} passes: there is nothing to compare the failures with",
                fozzy_trace::counted(table.count(), "run")
            )));
        }
        if let (Some(part), 2..) = (&self.failure, wanted) {
            warnings.push(format!("`{part}` is in {wanted} signatures; the most frequent one of them is looked into"));
        }
        let failing_otherwise: u64 = failures.iter().map(|(_, runs)| runs).sum();
        let others: Vec<OtherFailure> =
            failures.into_iter().take(OTHERS_MAX).map(|(failure, runs)| OtherFailure { failure, runs }).collect();
        // What is in the same runs of those that count is one suspect: whether it is there or not.
        let mut groups: BTreeMap<([u64; 2], bool), (Contingency, Vec<SuspectThing>)> = BTreeMap::new();
        for (thing, with) in table.things_with(&failure) {
            let ThingRuns { failing: failing_with, passing: passing_with, digests } = with;
            let there = Contingency {
                failing_with,
                failing_without: failing - failing_with,
                passing_with,
                passing_without: passing - passing_with,
            };
            // In all of them, or in none.
            if (failing_with, passing_with) == (failing, passing) || (failing_with, passing_with) == (0, 0) {
                continue;
            }
            let absent = there.absent().ochiai() > there.ochiai();
            let counted = if absent { there.absent() } else { there };
            let group = groups.entry((digests, absent)).or_insert_with(|| (counted, Vec::new()));
            group.1.push(thing);
        }
        let compared = groups.len() as u64;
        let rounded = |number: f64| (number * DIGITS).round() / DIGITS;
        let suspect = |((_, absent), (counted, things)): (([u64; 2], bool), (Contingency, Vec<SuspectThing>))| {
            let more = things.len().saturating_sub(THINGS_MAX) as u64;
            Suspect {
                things: things.into_iter().take(THINGS_MAX).collect(),
                more,
                absent,
                score: rounded(counted.ochiai()),
                failing_with: counted.failing_with,
                failing_without: counted.failing_without,
                passing_with: counted.passing_with,
                passing_without: counted.passing_without,
                by_chance: rounded((counted.by_chance() * compared as f64).min(1.0)),
            }
        };
        let mut suspects: Vec<Suspect> = groups.into_iter().map(suspect).collect();
        suspects.sort_by(|a, b| {
            let order = b.score.total_cmp(&a.score).then(a.absent.cmp(&b.absent));
            order.then_with(|| a.things.cmp(&b.things))
        });
        suspects.truncate(SUSPECTS_MAX);
        let more = if self.corpus.is_some() { "--corpus takes further folders" } else { "--seeds takes more" };
        for (runs, verbs) in [(failing, ["fails", "fail"]), (passing, ["passes", "pass"])] {
            if runs < RUNS_FEW {
                let (verb, runs) = (verbs[usize::from(runs != 1)], fozzy_trace::counted(runs, "run"));
                warnings.push(format!("only {runs} {verb}: what goes with that may be chance; {more}"));
            }
        }
        if suspects.iter().all(|suspect| suspect.by_chance > 0.05) {
            warnings.push("nothing goes with the failure more than chance would have it".to_owned());
        }
        Ok(SuspectsDocument {
            schema_version: "fozzy.suspects.v1".to_owned(),
            target: self.runs.loaded.summary(),
            failure,
            failing,
            passing,
            failing_otherwise,
            others,
            interrupted,
            suspects,
            compared,
            warnings,
        })
    }
}

impl SpectrumMaker<'_> {
    fn execute(&self, run: &PlannedRun) -> Result<RunSpectrum, CampaignError> {
        match run {
            PlannedRun::Seed(seed) => {
                let mut session = match take(&self.sessions) {
                    Some(session) => session,
                    None => {
                        let mut session = reading_session(self.prepared)?;
                        session.fuel_times(FUEL_TIMES);
                        session
                    }
                };
                let execution = session.execute(Box::new(SeededSource::new(*seed)), 0..CALLS_MAX)?;
                let spectrum = RunSpectrum::of(&session, &execution, self.prepared);
                give(&self.sessions, session);
                Ok(spectrum)
            }
            PlannedRun::Input(file) => {
                let mut caller = match take(&self.callers) {
                    Some(caller) => caller,
                    None => self.caller()?,
                };
                let execution = caller.execute(&inputs::read(file)?, 0..CALLS_MAX)?.execution;
                let spectrum = RunSpectrum::of(caller.session(), &execution, self.prepared);
                give(&self.callers, caller);
                Ok(spectrum)
            }
            PlannedRun::Recorded(file) => {
                let recording = selector::read(file)?;
                let recorded = PreparedProgram::built_of_recording(&recording, self.prepared.program.how())?;
                let mut session = recorded.session()?;
                session.interrupt_by(self.prepared.interrupt.clone());
                session.fuel_times(FUEL_TIMES);
                let execution = session.execute(fozzy_search::source_of(&recording), 0..CALLS_MAX)?;
                Ok(RunSpectrum::of(&session, &execution, &recorded))
            }
        }
    }

    /// What gives an input to the program: in one way, since lines of another one go with no failure of this.
    fn caller(&self) -> Result<FindingConfirmer, CampaignError> {
        let options = self.options.expect("inputs are of a corpus");
        let mut callers = InputRunner::of(options, self.prepared, FUEL_TIMES)?.into_confirmers();
        if callers.len() > 1 {
            let titles = callers.iter().map(|it| it.entry().title()).collect::<Vec<_>>().join(", ");
            let message = format!("--corpus: expected one function that gets the inputs, found {titles}");
            return Err(CampaignError::new(ErrorKind::Usage, message).hint("name it: --function NAME"));
        }
        Ok(callers.remove(0))
    }
}

impl RunSpectrum {
    fn of(session: &Session, execution: &Execution, prepared: &PreparedProgram) -> RunSpectrum {
        let verdict = judge(execution);
        let failure = match verdict.status {
            Status::Pass => None,
            status => Some(verdict.signature.map_or_else(|| status.name().to_owned(), |it| it.to_string())),
        };
        RunSpectrum { failure, things: RunThings::of(session, execution, prepared) }
    }
}

fn take<T>(idle: &Mutex<Vec<T>>) -> Option<T> {
    idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

fn give<T>(idle: &Mutex<Vec<T>>, it: T) {
    idle.lock().unwrap_or_else(PoisonError::into_inner).push(it);
}
