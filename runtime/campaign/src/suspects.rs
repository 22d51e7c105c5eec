//! Suspects: what goes with a failure, over many runs of a program that pass and that fail.
//!
//! ```text
//! seeds ──────────────┬─▶ executed with coverage ─▶ things of each run: own lines and branches, faults, flows, properties, calls, output, decisions, messages
//! inputs of a corpus ─┤                                  │ in failing and in passing runs, counted
//! recorded runs ──────┘                                  └─▶ ranked by Ochiai; equal in all runs that count: one suspect
//! passing runs once more, each cut off where a failing one has failed ─▶ what is there by then: with that, absences are compared
//! ```
//!
//! A failing run has nothing of what comes after its failure. That goes with the failure perfectly, and says nothing about its cause. So
//! that a thing is absent is compared with what passing runs have by then: matched controls, as where cases occur at different times.
//!
//! Invariants: what is found does not depend on the number of jobs; a run counts once, as passing or by the signature of its failure, also
//! one of the seeds that was recorded as well. Each signature is a question of its own: runs that fail otherwise change nothing in its answer. What stands at the top goes with the failure in these runs, which is no claim about its cause.
//! After a stop, no absence counts. Bounds are said: things and failures beyond them, runs that print more lines than count.
//! Not here: the document and its text (`fozzy_report::suspects`).

mod decisions;
mod messages;
mod notes;
mod score;
mod table;
mod things;
mod words;

use crate::coverage::FUEL_TIMES;
use crate::error::{CampaignError, ErrorKind};
use crate::fuzz::confirmer::FindingConfirmer;
use crate::inputs::{self, InputOptions, InputRunner};
use crate::options::RunRequest;
use crate::pipeline::{LoadedTarget, PreparedProgram, plan};
use crate::progress::{CampaignLine, LIVE_EVERY_NS};
use crate::project::Project;
use crate::seed_runs::{ScenarioSize, SeedRuns, reading_session};
use crate::selector;
use crate::suite::jobs::{Event, in_order};
use crate::suite::seeds::SeedList;
use crate::wall_clock::Stopwatch;
use fozzy_check::judge;
use fozzy_engine::{Build, Session};
use fozzy_instrument::{CoverageMode, ModuleChoice};
use fozzy_report::suspects::{OtherFailure, Suspect, SuspectThing, SuspectsDocument};
use fozzy_trace::file::Recording;
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, Execution, Executor, NodeId, Plan, Seed, Status};
use notes::RunNotes;
use score::Contingency;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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
/// Seeds beside a recorded run.
const RECORDED_SEEDS: &str = "100";
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
    /// Further recorded runs.
    pub traces: Vec<PathBuf>,
    /// The run whose plan the seeds have in place of that of `runs`.
    pub planned_as: Option<&'a Recording>,
    /// Which failure: its signature, or a part of it. By default the most frequent one.
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

/// How long a run is: calls of all machines, and instructions of the program. The message of a failure takes both, so that a run that is
/// cut off there has come at least as far. Scenarios make calls at each step; a function that computes makes none.
#[derive(Clone, Copy)]
struct RunLength {
    calls: u64,
    fuel: u64,
}

/// One of the runs, and where it is cut off; `None` for a whole one.
struct RunTask<'r> {
    run: &'r PlannedRun,
    cut: Option<RunLength>,
}

/// What counts of one run.
struct RunSpectrum {
    /// The signature of its failure; `None` if it passes, or was cut off.
    failure: Option<String>,
    length: RunLength,
    /// Its seed, unless its input is what decides about it, and the digest of its history.
    identity: (Option<Seed>, u64),
    things: RunThings,
}

/// The failure that is looked into, and the others.
struct ChosenFailure {
    failure: String,
    failing: u64,
    others: Vec<(String, u64)>,
}

/// What makes runs: sessions and callers that are free.
struct SpectrumMaker<'a> {
    prepared: &'a PreparedProgram,
    options: Option<&'a InputOptions>,
    sessions: Mutex<Vec<Session>>,
    callers: Mutex<Vec<FindingConfirmer>>,
}

/// What goes with the failure of a recorded run, over it and seeds of its plan.
///
/// # Errors
/// Those of [`SuspectSearch::run`], and when the run has not failed.
pub fn suspects_of(project: &Project, path: &Path, recording: &Recording) -> Result<SuspectsDocument, CampaignError> {
    let Some(failure) = &recording.outcome.verdict.signature else {
        return Err(CampaignError::new(ErrorKind::Usage, "there is no failure to look for"));
    };
    let seeds = SeedList::parse(RECORDED_SEEDS, 0).map_err(|what| CampaignError::new(ErrorKind::Internal, what))?;
    let (loaded, request) = (LoadedTarget::of_recording(recording), RunRequest::default());
    let size = ScenarioSize::default();
    let search = SuspectSearch {
        runs: SeedRuns {
            project,
            path: Path::new(&recording.target.name),
            loaded,
            request: &request,
            size,
            seeds,
            stop: Arc::new(|| false),
        },
        corpus: None,
        traces: vec![path.to_owned()],
        planned_as: Some(recording),
        failure: Some(failure.to_string()),
        own: Vec::new(),
        jobs: 1,
    };
    search.run(|_| {})
}

impl SuspectSearch<'_> {
    /// Executes the runs and ranks what is in them; `tell` has a line for a terminal now and then.
    ///
    /// # Errors
    /// When the program cannot be run so, no run fails or none passes, or the machine fails.
    pub fn run(&self, mut tell: impl FnMut(&str)) -> Result<SuspectsDocument, CampaignError> {
        let build = Build { coverage: CoverageMode::SetOnce, modules: ModuleChoice::Own, ..Build::default() };
        let seeds = self.runs.seeds.seeds().iter().copied().map(PlannedRun::Seed);
        let (prepared, mut planned, further) = match (&self.corpus, self.planned_as) {
            (Some(corpus), _) => self.of_corpus(corpus, &build)?,
            (None, None) => (self.runs.prepare(&build, RUNS_MAX)?, seeds.collect(), Vec::new()),
            (None, Some(recording)) => {
                let prepared = self.runs.armed(PreparedProgram::built_of_recording(recording, &build)?)?;
                (prepared, seeds.collect(), Vec::new())
            }
        };
        let mut warnings = Vec::new();
        planned.extend(self.recorded(&further, &mut warnings)?);
        if self.corpus.is_some() && planned.len() as u64 > RUNS_MAX {
            let found = planned.len();
            let message = format!("--corpus: expected {RUNS_MAX} inputs and traces at the most, found {found}");
            return Err(CampaignError::new(ErrorKind::Usage, message));
        }
        let options = self.corpus.as_ref().map(|corpus| &corpus.options);
        let (sessions, callers) = (Mutex::default(), Mutex::default());
        let maker = SpectrumMaker { prepared: &prepared, options, sessions, callers };
        let (mut table, mut ends, mut of_seeds) = (SpectrumTable::default(), Vec::new(), BTreeSet::new());
        let tasks: Vec<RunTask<'_>> = planned.iter().map(|run| RunTask { run, cut: None }).collect();
        let mut is_interrupted = self.execute(&maker, &tasks, &mut tell, |run| {
            let is_counted = match &planned[ends.len()] {
                PlannedRun::Seed(_) => of_seeds.insert(run.identity),
                // The recorded run of one of the seeds is that run.
                PlannedRun::Recorded(_) => !of_seeds.contains(&run.identity),
                PlannedRun::Input(_) => true,
            };
            if is_counted {
                table.add(run.failure.as_deref(), &run.things, &self.own)?;
            }
            ends.push(is_counted.then_some((run.failure, run.length)));
            Ok(())
        })?;
        warnings.extend(table.warnings());
        let is_scenario = prepared.planned.plan.scenario.is_some();
        let chosen = self.choose(&table, is_interrupted, is_scenario, &mut warnings)?;
        // By turns, so that as many are cut off at each of these places.
        let failing = ends.iter().flatten().filter(|(failure, _)| failure.as_ref() == Some(&chosen.failure));
        let cuts = failing.map(|(_, length)| *length).cycle();
        let passing = planned.iter().zip(&ends).filter(|(_, end)| matches!(end, Some((None, _))));
        let tasks: Vec<RunTask<'_>> =
            passing.zip(cuts).map(|((run, _), cut)| RunTask { run, cut: Some(cut) }).collect();
        let mut cut_off = table.of_controls();
        is_interrupted = is_interrupted
            || self.execute(&maker, &tasks, &mut tell, |run| cut_off.add(None, &run.things, &self.own))?;
        Ok(self.document(chosen, table, (!is_interrupted).then_some(&cut_off), warnings))
    }

    /// Executes runs and counts each in its turn; whether a stop has ended it.
    fn execute(
        &self,
        maker: &SpectrumMaker<'_>,
        tasks: &[RunTask<'_>],
        tell: &mut impl FnMut(&str),
        mut count: impl FnMut(RunSpectrum) -> Result<(), CampaignError>,
    ) -> Result<bool, CampaignError> {
        let work = |task: &RunTask<'_>| {
            let run = (!(self.runs.stop)()).then(|| maker.execute(task));
            let run = run.filter(|run| !run.as_ref().is_err_and(|error| error.kind == ErrorKind::Interrupted));
            // It is taken when it is counted: what a run has covered is large.
            run.map(|run| run.map(|spectrum| Mutex::new(Some(spectrum))))
        };
        let is_end = |run: &Option<Result<Mutex<Option<RunSpectrum>>, CampaignError>>| !matches!(run, Some(Ok(_)));
        let (watch, mut told) = (Stopwatch::start(), (0, 0));
        let (mut failed, mut refused, mut is_interrupted) = (0, None, false);
        let results = in_order(tasks, self.jobs, is_end, work, |event| match event {
            // Later runs do not count when one before them does not.
            Event::Next(_) if is_interrupted || refused.is_some() => {}
            Event::Next(None) => is_interrupted = true,
            Event::Next(Some(Err(error))) => {
                refused = Some(error.clone());
            }
            Event::Next(Some(Ok(run))) => {
                let run = run.lock().expect("nobody panics with it").take();
                failed += u64::from(run.as_ref().is_some_and(|run| run.failure.is_some()));
                refused = run.and_then(|run| count(run).err());
            }
            Event::Working { done, .. } => {
                let (elapsed_ns, done) = (watch.elapsed_ns(), done as u64);
                if elapsed_ns - told.1 >= LIVE_EVERY_NS {
                    let (since, budget) = ((done - told.0, elapsed_ns - told.1), Some(tasks.len() as u64));
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
        match refused {
            Some(error) => Err(error),
            None => Ok(is_interrupted),
        }
    }

    /// The inputs that a project has for the program, and the traces beside them.
    fn of_corpus(
        &self,
        corpus: &SuspectCorpus,
        build: &Build,
    ) -> Result<(PreparedProgram, Vec<PlannedRun>, Vec<PathBuf>), CampaignError> {
        let SeedRuns { project, loaded, request, .. } = &self.runs;
        let mut planned = plan(project, loaded, request)?;
        planned.stdin = None;
        let mut prepared = PreparedProgram::to_call(loaded.clone(), planned, build)?;
        prepared.bound_time();
        let prepared = self.runs.armed(prepared)?;
        let (mut runs, mut traces, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
        for folder in &corpus.folders {
            for file in inputs::files(folder)? {
                if inputs::is_trace(&file) {
                    traces.push(file);
                } else if known.insert(Digest::of(&inputs::read(&file)?)) {
                    runs.push(PlannedRun::Input(file));
                }
            }
        }
        Ok((prepared, runs, traces))
    }

    /// Recorded runs of the program: those that are named, and of `further` ones; each once, however many copies there are.
    fn recorded(&self, further: &[PathBuf], warnings: &mut Vec<String>) -> Result<Vec<PlannedRun>, CampaignError> {
        let (mut runs, mut known, mut others) = (Vec::new(), BTreeSet::new(), 0_u64);
        for file in self.traces.iter().chain(further) {
            if !known.insert(Digest::of(&selector::bytes(file)?)) {
                continue;
            }
            match selector::read(file)?.component == self.runs.loaded.component {
                true => runs.push(PlannedRun::Recorded(file.clone())),
                false => others += 1,
            }
        }
        if others > 0 {
            let traces = fozzy_trace::counted(others, "trace");
            warnings.push(format!("{traces} left out: of another build of the program"));
        }
        Ok(runs)
    }

    /// What has further runs, and which these were.
    fn more_runs(&self) -> String {
        let SeedRuns { seeds, .. } = &self.runs;
        match (&self.corpus, self.planned_as) {
            (Some(_), _) => "--corpus takes further folders, of inputs or traces".to_owned(),
            (None, Some(_)) => format!("these are of the seeds {seeds}: fozzy suspects --run takes --seeds of more"),
            (None, None) if seeds.count() < RUNS_MAX => {
                let most = fozzy_trace::counted(RUNS_MAX, "run");
                format!("these are of the seeds {seeds}: --seeds takes up to {most}")
            }
            (None, None) => format!("these are of the seeds {seeds}, as many as --seeds takes: other ones may differ"),
        }
    }

    /// The failure that is looked into.
    fn choose(
        &self,
        table: &SpectrumTable,
        interrupted: bool,
        is_scenario: bool,
        warnings: &mut Vec<String>,
    ) -> Result<ChosenFailure, CampaignError> {
        let name = self.runs.name();
        let none = |message: String| {
            let way = match self.corpus {
                None if table.passing() == 0 && is_scenario => "fewer --sequences and --flows make runs that pass; ",
                None if table.passing() == 0 => "some have to pass: ",
                None if is_scenario => "a plan with faults, or more --sequences, makes other runs; ",
                None => "a plan with faults makes other runs; ",
                Some(_) => "",
            };
            let hint = format!("{way}{}", self.more_runs());
            match interrupted {
                true => self.runs.interrupted(table.count()),
                false => CampaignError::new(ErrorKind::Target, message).hint(hint),
            }
        };
        let mut failures = table.failures();
        let is_wanted = |failure: &str| self.failure.as_ref().is_none_or(|part| failure.contains(part.as_str()));
        let wanted = failures.iter().filter(|(failure, _)| is_wanted(failure)).count();
        // A whole signature may be the beginning of another one, as those of the exit codes 1 and 12 are.
        let whole = failures.iter().position(|(failure, _)| self.failure.as_ref() == Some(failure));
        let Some(place) = whole.or_else(|| failures.iter().position(|(failure, _)| is_wanted(failure))) else {
            let runs = fozzy_trace::counted(table.count(), "run");
            return Err(none(match &self.failure {
                Some(part) => format!("{name}: none of {runs} fails with `{part}`"),
                None => format!("{name}: none of {runs} fails, so that nothing goes with a failure"),
            }));
        };
        let (failure, failing) = failures.remove(place);
        if table.passing() == 0 {
            return Err(none(format!(
                "{name}: none of {} passes: there is nothing to compare the failures with",
                fozzy_trace::counted(table.count(), "run")
            )));
        }
        if let (Some(part), None, 2..) = (&self.failure, whole, wanted) {
            warnings.push(format!("`{part}` is in {wanted} signatures; the most frequent one of them is looked into"));
        }
        Ok(ChosenFailure { failure, failing, others: failures })
    }

    /// What goes with the failure; `cut_off` has the passing runs up to where failing ones have failed, `None` if a stop came before.
    fn document(
        &self,
        chosen: ChosenFailure,
        table: SpectrumTable,
        cut_off: Option<&SpectrumTable>,
        mut warnings: Vec<String>,
    ) -> SuspectsDocument {
        let ChosenFailure { failure, failing, others } = chosen;
        let passing = table.passing();
        let failing_otherwise: u64 = others.iter().map(|(_, runs)| runs).sum();
        let others: Vec<OtherFailure> =
            others.into_iter().take(OTHERS_MAX).map(|(failure, runs)| OtherFailure { failure, runs }).collect();
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
            let by_then = cut_off.map(|cut_off| cut_off.passing_with(&thing));
            let absent = by_then.map(|(passing_with, digest)| {
                let by_then = Contingency { passing_with, passing_without: passing - passing_with, ..there };
                (by_then.absent(), [digests[0], digest])
            });
            let (key, counted) = match absent {
                Some((absent, digests)) if absent.goes_with_failing() => ((digests, true), absent),
                _ => ((digests, false), there),
            };
            groups.entry(key).or_insert_with(|| (counted, Vec::new())).1.push(thing);
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
        // The others were compared, too.
        let groups = groups.into_iter().filter(|(_, (counted, _))| counted.goes_with_failing());
        let mut suspects: Vec<Suspect> = groups.map(suspect).collect();
        suspects.sort_by(|a, b| {
            let order = b.score.total_cmp(&a.score).then(a.absent.cmp(&b.absent));
            order.then_with(|| a.things.cmp(&b.things))
        });
        suspects.truncate(SUSPECTS_MAX);
        let more = self.more_runs();
        for (runs, verbs) in [(failing, ["fails", "fail"]), (passing, ["passes", "pass"])] {
            if runs < RUNS_FEW {
                let (verb, runs) = (verbs[usize::from(runs != 1)], fozzy_trace::counted(runs, "run"));
                warnings.push(format!("only {runs} {verb}: what goes with that may be chance; {more}"));
            }
        }
        if suspects.iter().all(|suspect| suspect.by_chance > 0.05) {
            warnings.push("nothing goes with the failure more than chance would have it".to_owned());
        }
        SuspectsDocument {
            schema_version: "fozzy.suspects.v1".to_owned(),
            target: self.runs.loaded.summary(),
            failure,
            failing,
            passing,
            failing_otherwise,
            others,
            interrupted: cut_off.is_none(),
            suspects,
            compared,
            warnings,
        }
    }
}

impl SpectrumMaker<'_> {
    fn execute(&self, task: &RunTask<'_>) -> Result<RunSpectrum, CampaignError> {
        let is_judged = task.cut.is_none();
        Ok(match task.run {
            PlannedRun::Seed(seed) => {
                let mut session = match take(&self.sessions) {
                    Some(session) => session,
                    None => {
                        let mut session = reading_session(self.prepared)?;
                        session.fuel_times(FUEL_TIMES);
                        session
                    }
                };
                if let Some(length) = task.cut {
                    length.cut_off(&mut session, &self.prepared.planned.plan, &self.prepared.planned.inputs)?;
                }
                let notes = RunNotes::of(&mut session, &self.prepared.planned.plan);
                let source = notes.source(Box::new(SeededSource::new(*seed)));
                let execution = session.execute(source, 0..CALLS_MAX)?;
                let spectrum = RunSpectrum::of(&session, &execution, self.prepared, is_judged, &notes, Some(*seed));
                give(&self.sessions, session);
                spectrum
            }
            PlannedRun::Input(file) => {
                let mut caller = match take(&self.callers) {
                    Some(caller) => caller,
                    None => self.caller()?,
                };
                if let Some(length) = task.cut {
                    let (plan, inputs) = caller.end_after_calls(length.calls);
                    length.cut_off(caller.session_mut(), &plan, &inputs)?;
                }
                let bytes = inputs::read(file)?;
                let notes = RunNotes::of(caller.session_mut(), &self.prepared.planned.plan);
                let through = |source| notes.source(source);
                let execution = caller.execute_through(&bytes, 0..CALLS_MAX, through)?.execution;
                let spectrum = RunSpectrum::of(caller.session(), &execution, self.prepared, is_judged, &notes, None);
                give(&self.callers, caller);
                spectrum
            }
            PlannedRun::Recorded(file) => {
                let recording = selector::read(file)?;
                let recorded = PreparedProgram::built_of_recording(&recording, self.prepared.program.how())?;
                let mut session = recorded.session()?;
                session.interrupt_by(self.prepared.interrupt.clone());
                session.fuel_times(FUEL_TIMES);
                if let Some(length) = task.cut {
                    length.cut_off(&mut session, &recorded.planned.plan, &recorded.planned.inputs)?;
                }
                let notes = RunNotes::of(&mut session, &recorded.planned.plan);
                let source = notes.source(fozzy_search::source_of(&recording));
                let execution = session.execute(source, 0..CALLS_MAX)?;
                RunSpectrum::of(&session, &execution, &recorded, is_judged, &notes, Some(recording.seed))
            }
        })
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

impl RunLength {
    /// Has the runs of `session` under this plan end there.
    fn cut_off(self, session: &mut Session, plan: &Plan, inputs: &Inputs) -> Result<(), CampaignError> {
        let mut plan = plan.clone();
        plan.limits.end_after_calls(self.calls);
        let others =
            (1..).zip(&plan.nodes).map(|(node, _)| (NodeId(node), plan.limits.fuel.saturating_mul(FUEL_TIMES)));
        session.give_fuel(std::iter::once((NodeId(0), self.fuel)).chain(others).collect());
        let replanned = session.replan(Arc::new(plan), inputs);
        replanned.map_err(|error| CampaignError::new(ErrorKind::Harness, error.to_string()))
    }
}

impl RunSpectrum {
    /// Of a run that is cut off it is known that it passes; checkers would look for long at operations without their end.
    fn of(
        session: &Session,
        execution: &Execution,
        prepared: &PreparedProgram,
        is_judged: bool,
        notes: &RunNotes,
        seed: Option<Seed>,
    ) -> RunSpectrum {
        let failure = is_judged.then(|| judge(execution)).and_then(|verdict| match verdict.status {
            Status::Pass => None,
            status => Some(verdict.signature.map_or_else(|| status.name().to_owned(), |it| it.to_string())),
        });
        let length = RunLength { calls: execution.history.calls, fuel: execution.fuel_used };
        let (identity, things) = ((seed, execution.history.digest), RunThings::of(session, execution, prepared, notes));
        RunSpectrum { failure, length, identity, things }
    }
}

fn take<T>(idle: &Mutex<Vec<T>>) -> Option<T> {
    idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

fn give<T>(idle: &Mutex<Vec<T>>, it: T) {
    idle.lock().unwrap_or_else(PoisonError::into_inner).push(it);
}
