//! Suspects: what goes with a failure, over many runs of a program that pass and that fail.
//!
//! ```text
//! seeds ────────┬─▶ executed with coverage ─▶ things of each run: own lines and branches, faults, flows, properties, calls, output
//! recorded runs ┘                                  │ in failing and in passing runs, counted
//!                                                  └─▶ ranked by Ochiai; equal in all runs: one suspect
//! ```
//!
//! Invariants: what is found does not depend on the number of jobs; a run counts once, as passing or by the signature of its failure; what
//! stands at the top goes with the failure in these runs, which is no claim about its cause.
//! Not here: the document and its text (`fozzy_report::suspects`).

mod score;
mod things;

use crate::coverage::FUEL_TIMES;
use crate::diff::ScenarioSize;
use crate::error::{CampaignError, ErrorKind};
use crate::options::{RunRequest, StopFlag};
use crate::pipeline::{LoadedTarget, PreparedProgram};
use crate::progress::{CampaignLine, LIVE_EVERY_NS};
use crate::project::Project;
use crate::suite::jobs::{Event, in_order};
use crate::suite::seeds::SeedList;
use crate::wall_clock::Stopwatch;
use fozzy_check::judge;
use fozzy_engine::{Build, Session};
use fozzy_instrument::{CoverageMode, ModuleChoice};
use fozzy_report::suspects::{OtherFailure, Suspect, SuspectThing, SuspectsDocument};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionSource, Digest, Executor, HarnessError, RunningDigest, Seed};
use score::Contingency;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use things::{ProgramThings, RunThings};

/// Runs at the most.
pub const RUNS_MAX: u64 = 10_000;
/// Suspects that a document has.
const SUSPECTS_MAX: usize = 100;
/// Things of one suspect that a document has.
const THINGS_MAX: usize = 50;
/// Fewer runs of a kind than this, and a reader is told that they say little.
const RUNS_FEW: u64 = 5;
/// Calls of a run that are looked at.
const CALLS_MAX: u64 = 20_000;
/// Digits of numbers in documents that machines agree upon.
const DIGITS: f64 = 1e6;

/// Where to look for suspects.
pub struct SuspectSearch<'a> {
    /// The project.
    pub project: &'a Project,
    /// The program.
    pub loaded: LoadedTarget,
    /// Its plan and arguments.
    pub request: &'a RunRequest,
    /// How often a scenario is run.
    pub size: ScenarioSize,
    /// The seeds of its runs.
    pub seeds: SeedList,
    /// Which failure: a part of its signature. By default the most frequent one.
    pub failure: Option<String>,
    /// Paths or functions of its own code.
    pub own: Vec<String>,
    /// Runs at a time.
    pub jobs: usize,
    /// Whether it is to end before its time.
    pub stop: StopFlag,
}

/// What counts of one run.
struct RunSpectrum {
    /// The signature of its failure; `None` if it passes.
    failure: Option<String>,
    things: RunThings,
}

/// In which runs a thing is.
#[derive(Default)]
struct ThingTally {
    /// By failure.
    runs: BTreeMap<Option<String>, u64>,
    /// Of all of these runs.
    digest: RunningDigest,
}

/// All things so far.
#[derive(Default)]
struct SpectrumTable {
    runs: BTreeMap<Option<String>, u64>,
    count: u64,
    programs: BTreeMap<Digest, ProgramThings>,
    things: BTreeMap<SuspectThing, ThingTally>,
}

impl SuspectSearch<'_> {
    /// Executes the runs and ranks what is in them; `tell` has a line for a terminal now and then.
    ///
    /// # Errors
    /// When the program cannot be run so, no run fails or none passes, or the machine fails.
    pub fn run(&self, mut tell: impl FnMut(&str)) -> Result<SuspectsDocument, CampaignError> {
        let build = Build { coverage: CoverageMode::SetOnce, modules: ModuleChoice::Own, ..Build::default() };
        let mut prepared = PreparedProgram::new_as(self.project, self.loaded.clone(), self.request, &build)?;
        prepared.drive(self.size.sequences, self.size.flows);
        if prepared.planned.is_live() {
            let message = "runs are compared on the simulated computer, and the plan asks the real one";
            return Err(CampaignError::new(ErrorKind::Usage, message)
                .hint("leave out the backend `host` of files, HTTP or processes"));
        }
        if self.seeds.count() > RUNS_MAX {
            let message = format!("--seeds: expected {RUNS_MAX} seeds at the most, found {}", self.seeds.count());
            return Err(CampaignError::new(ErrorKind::Usage, message));
        }
        prepared.interrupt.arm(StopFlag::clone(&self.stop));
        let seeds: Vec<Seed> = self.seeds.seeds().to_vec();
        let idle: Mutex<Vec<Session>> = Mutex::default();
        let work = |seed: &Seed| {
            let run = (!(self.stop)()).then(|| execute(&prepared, &idle, Box::new(SeededSource::new(*seed))));
            let run = run.filter(|run| !run.as_ref().is_err_and(HarnessError::is_interruption));
            // It is taken when it is counted: what a run has covered is large.
            run.map(|run| run.map(|spectrum| Mutex::new(Some(spectrum))))
        };
        let is_end = |run: &Option<Result<Mutex<Option<RunSpectrum>>, HarnessError>>| !matches!(run, Some(Ok(_)));
        let (watch, mut told) = (Stopwatch::start(), (0, 0));
        let (mut table, mut failed, mut refused) = (SpectrumTable::default(), 0, None);
        let mut is_interrupted = false;
        let results = in_order(&seeds, self.jobs, is_end, work, |event| match event {
            // Later runs do not count when one before them does not.
            Event::Next(_) if is_interrupted || refused.is_some() => {}
            Event::Next(None) => is_interrupted = true,
            Event::Next(Some(Err(error))) => {
                refused = Some(CampaignError::new(ErrorKind::Harness, error.what.clone()));
            }
            Event::Next(Some(Ok(run))) => {
                let run = run.lock().expect("nobody panics with it").take();
                failed += u64::from(run.as_ref().is_some_and(|run| run.failure.is_some()));
                refused = run.and_then(|run| table.add(&run, &self.own).err());
            }
            Event::Working { done, .. } => {
                let (elapsed_ns, done) = (watch.elapsed_ns(), done as u64);
                if elapsed_ns - told.1 >= LIVE_EVERY_NS {
                    let (since, budget) = ((done - told.0, elapsed_ns - told.1), Some(seeds.len() as u64));
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
            None => self.document(table, is_interrupted),
        }
    }

    fn document(&self, table: SpectrumTable, interrupted: bool) -> Result<SuspectsDocument, CampaignError> {
        let name = &self.loaded.target.name;
        let none = |message: String| {
            let hint = "--seeds takes more runs; a plan with faults, or more --sequences, makes others";
            CampaignError::new(ErrorKind::Target, message).hint(hint)
        };
        let passing = table.runs.get(&None).copied().unwrap_or(0);
        let failures = table.runs.iter().filter_map(|(failure, runs)| Some((failure.as_ref()?, *runs)));
        let wanted = failures
            .clone()
            .filter(|(failure, _)| self.failure.as_ref().is_none_or(|part| failure.contains(part.as_str())));
        // The first of those that are equally frequent.
        let chosen = wanted.fold(None, |best: Option<(&String, u64)>, it| match best {
            Some(known) if known.1 >= it.1 => Some(known),
            _ => Some(it),
        });
        let Some((failure, failing)) = chosen else {
            let runs = fozzy_trace::counted(table.count, "run");
            return Err(none(match &self.failure {
                Some(part) => format!("{name}: none of {runs} fails with `{part}`"),
                None => format!("{name}: none of {runs} fails, so that nothing goes with a failure"),
            }));
        };
        if passing == 0 {
            return Err(none(format!(
                "{name}: none of {} passes: there is nothing to compare the failures with",
                fozzy_trace::counted(table.count, "run")
            )));
        }
        let others: Vec<OtherFailure> = failures
            .filter(|(other, _)| *other != failure)
            .map(|(other, runs)| OtherFailure { failure: other.clone(), runs })
            .collect();
        let key = Some(failure.clone());
        // What is in the same runs is one suspect: by the runs that count, and whether it is there or not.
        let mut groups: BTreeMap<(u64, bool), (Contingency, Vec<SuspectThing>)> = BTreeMap::new();
        for (thing, tally) in table.things {
            let of = |class: &Option<String>| tally.runs.get(class).copied().unwrap_or(0);
            let (with, passing_with) = (of(&key), of(&None));
            let there = Contingency {
                failing_with: with,
                failing_without: failing - with,
                passing_with,
                passing_without: passing - passing_with,
            };
            // In all of them, or in none.
            if (with, passing_with) == (failing, passing) || (with, passing_with) == (0, 0) {
                continue;
            }
            let absent = there.absent().ochiai() > there.ochiai();
            let counted = if absent { there.absent() } else { there };
            let group = groups.entry((tally.digest.value(), absent)).or_insert_with(|| (counted, Vec::new()));
            group.1.push(thing);
        }
        let compared = groups.len() as u64;
        let rounded = |number: f64| (number * DIGITS).round() / DIGITS;
        let suspect = |((_, absent), (counted, things)): ((u64, bool), (Contingency, Vec<SuspectThing>))| {
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
        let mut warnings = Vec::new();
        for (runs, verbs) in [(failing, ["fails", "fail"]), (passing, ["passes", "pass"])] {
            if runs < RUNS_FEW {
                let (verb, runs) = (verbs[usize::from(runs != 1)], fozzy_trace::counted(runs, "run"));
                warnings.push(format!("only {runs} {verb}: what goes with that may be chance; --seeds takes more"));
            }
        }
        if suspects.iter().all(|suspect| suspect.by_chance > 0.05) {
            warnings.push("nothing goes with the failure more than chance would have it".to_owned());
        }
        Ok(SuspectsDocument {
            schema_version: "fozzy.suspects.v1".to_owned(),
            target: self.loaded.summary(),
            failure: failure.clone(),
            failing,
            passing,
            others,
            interrupted,
            suspects,
            compared,
            warnings,
        })
    }
}

impl SpectrumTable {
    fn add(&mut self, run: &RunSpectrum, own: &[String]) -> Result<(), CampaignError> {
        let number = self.count;
        self.count += 1;
        *self.runs.entry(run.failure.clone()).or_default() += 1;
        for thing in run.things.all(&mut self.programs, own)? {
            let tally = self.things.entry(thing).or_default();
            *tally.runs.entry(run.failure.clone()).or_default() += 1;
            tally.digest.word(number);
        }
        Ok(())
    }
}

fn execute(
    prepared: &PreparedProgram,
    idle: &Mutex<Vec<Session>>,
    source: Box<dyn DecisionSource>,
) -> Result<RunSpectrum, HarnessError> {
    let taken = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut session = match taken {
        Some(session) => session,
        None => {
            let mut session = prepared.session()?;
            session.fuel_times(FUEL_TIMES);
            if let Some(stdin) = &prepared.planned.stdin {
                session.read_from(Arc::clone(stdin));
            }
            session
        }
    };
    let execution = session.execute(source, 0..CALLS_MAX)?;
    let verdict = judge(&execution);
    let things = RunThings::of(&session, &execution, prepared);
    idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
    let failure = match verdict.status {
        fozzy_trace::Status::Pass => None,
        status => Some(verdict.signature.map_or_else(|| status.name().to_owned(), |it| it.to_string())),
    };
    Ok(RunSpectrum { failure, things })
}
