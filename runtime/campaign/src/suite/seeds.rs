//! One program under one plan, with many seeds.
//!
//! ```text
//! seeds 1 to 1000 ─▶ jobs, each with a session of its own ─▶ verdicts in the order of the seeds
//!                                      first seed of each signature ─▶ executed again ─▶ trace, steps, report
//! ```
//!
//! Invariants: what is found does not depend on the number of jobs, also where the first failure ends it: a seed counts when all
//! before it have been executed. Of a passing seed a line stays; what a failure needs is made when it is met, so that nothing is lost with the
//! process.
//! Not here: several programs (`select`, `case`), and searches that learn from what they see (`explore`).

use super::jobs::{Event, in_order};
use crate::block_stacks::related_stacks;
use crate::error::{CampaignError, DeferredError, ErrorKind, at_path};
use crate::options::StopFlag;
use crate::pipeline::{ENTRIES_KEPT, PreparedProgram, RecordPolicy, identity, kept};
use crate::progress::{CampaignLine, LIVE_EVERY_NS};
use crate::sequence::failing_sequence;
use crate::store::RunFolder;
use crate::wall_clock::Stopwatch;
use fozzy_check::judge;
use fozzy_engine::{Interrupt, OutputTee, Session};
use fozzy_report::suite::CaseSummary;
use fozzy_report::{FaultOverlap, FaultPair, FaultTotal, FaultTotals, RunMode, RunSummary};
use fozzy_trace::facts::InjectedFaults;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Execution, Executor, FailureSignature, HarnessError, Seed, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Seeds of one sweep at the most: each has its line in the report.
pub const SEEDS_MAX: u64 = 100_000;
/// Seeds that were named one by one and are shown so.
const SEEDS_SHOWN: usize = 8;
/// Most failures whose traces are kept: nobody reads a longer list to its end.
const TRACES_MAX: usize = 64;

/// Seeds in their order, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedList {
    seeds: Vec<Seed>,
    /// Whether they were named one by one.
    is_listed: bool,
}

impl SeedList {
    /// The seeds that `text` names: `FROM..TO`, both included; `A,B,C`; or how many there are from `first` on. Those that are named may be
    /// hexadecimal, `0x2a`.
    ///
    /// # Errors
    /// What was expected and what was found, in one sentence.
    pub fn parse(text: &str, first: u64) -> Result<SeedList, String> {
        let number = |text: &str| {
            let hexadecimal = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
            hexadecimal
                .unwrap_or_else(|| text.parse::<u64>())
                .map_err(|_| format!("expected a number of seeds, FROM..TO, such as 1..1000, or A,B,C, found `{text}`"))
        };
        let is_listed = text.contains(',');
        if first != 0 && (is_listed || text.contains("..")) {
            return Err(format!("{text} names its seeds, so that --seed {first} says nothing; leave it out"));
        }
        if is_listed {
            let seeds = text.split(',').map(|seed| number(seed.trim()).map(Seed)).collect::<Result<Vec<_>, _>>()?;
            let mut known = BTreeSet::new();
            if let Some(twice) = seeds.iter().find(|seed| !known.insert(seed.0)) {
                return Err(format!("the seed {twice} is named twice"));
            }
            return Ok(SeedList { seeds, is_listed });
        }
        let (first, last) = match text.split_once("..") {
            Some((first, last)) => (number(first)?, number(last.trim_start_matches('='))?),
            None => match number(text)?.checked_sub(1).map(|more| first.checked_add(more)) {
                Some(Some(last)) => (first, last),
                Some(None) => return Err(format!("there are no {text} seeds from {first} on")),
                None => return Err("expected one seed at least, found 0".to_owned()),
            },
        };
        if last < first {
            return Err(format!(
                "the last seed, {last}, is before the first, {first}: expected FROM..TO, as in {last}..{first}"
            ));
        }
        match last - first {
            0..SEEDS_MAX => Ok(SeedList { seeds: (first..=last).map(Seed).collect(), is_listed }),
            more => Err(format!("expected {SEEDS_MAX} seeds at the most, found {}", u128::from(more) + 1)),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.seeds.len() as u64
    }

    /// All of them.
    pub fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    /// The first one.
    pub fn first(&self) -> Seed {
        self.seeds[0]
    }
}

impl fmt::Display for SeedList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.seeds[..] {
            [first, .., last] if !self.is_listed => write!(f, "{first} to {last}"),
            [first] if !self.is_listed => write!(f, "{first} to {first}"),
            seeds => {
                let names: Vec<String> = seeds.iter().take(SEEDS_SHOWN).map(Seed::to_string).collect();
                let more = if seeds.len() > SEEDS_SHOWN { ", …" } else { "" };
                write!(f, "{}{more}", names.join(", "))
            }
        }
    }
}

/// How a program is executed with many seeds.
pub struct SeedSweep<'a> {
    /// The program.
    pub prepared: &'a PreparedProgram,
    /// Its seeds.
    pub seeds: SeedList,
    /// Executions at a time.
    pub jobs: usize,
    /// Whether the first failure ends it.
    pub until_failure: bool,
    /// Whether it is to end before its time.
    pub stop: StopFlag,
    /// The folder of the run.
    pub folder: &'a RunFolder,
    /// Where traces of failures go.
    pub record: RecordPolicy<'a>,
    /// The folder for what the programs of each seed write.
    pub logs: Option<&'a Path>,
    /// Sees what the programs of the first seed write, as they do.
    pub first_output: Mutex<Option<OutputTee>>,
}

/// What is reported during a sweep.
pub enum SweepEvent<'a> {
    /// How it goes, in a line.
    Progress(String),
    /// A failure that no seed before had.
    Found(&'a CaseSummary),
}

/// What came of it.
pub struct SweepResult {
    /// One case a seed, in their order.
    pub cases: Vec<CaseSummary>,
    /// Whether any execution asked for what a seed decides.
    pub asks_seed: bool,
    /// Whether it was ended before its time.
    pub is_interrupted: bool,
    /// What became of the planned faults.
    pub faults: Vec<FaultTotal>,
    /// Which nemeses were at work together, and with which operations.
    pub overlaps: Vec<FaultOverlap>,
    /// Which of those that struck did so in the same runs.
    pub together: Vec<FaultPair>,
    /// Traces that could not be written.
    pub lost: DeferredError,
}

/// What stays of one execution.
struct SeedOutcome {
    seed: Seed,
    status: Status,
    signature: Option<FailureSignature>,
    decisions: u64,
    faults: InjectedFaults,
    duration_ns: u64,
}

type Outcome = Result<SeedOutcome, HarnessError>;

impl SeedSweep<'_> {
    /// Executes the program with each seed.
    ///
    /// # Errors
    /// When the real computer is to answer, or the machine fails.
    pub fn run(&self, mut tell: impl FnMut(SweepEvent<'_>)) -> Result<SweepResult, CampaignError> {
        if self.prepared.planned.is_live() {
            let message = "many seeds are executed on the simulated computer, and the plan asks the real one";
            return Err(CampaignError::new(ErrorKind::Usage, message)
                .hint("leave out --seeds, or the backend `host` of files, HTTP or processes"));
        }
        let idle: Mutex<Vec<Session>> = Mutex::default();
        self.prepared.interrupt.arm(StopFlag::clone(&self.stop));
        let work = |seed: &Seed| {
            let outcome = (!(self.stop)()).then(|| self.execute(&idle, *seed));
            outcome.filter(|outcome| !outcome.as_ref().is_err_and(HarnessError::is_interruption))
        };
        let is_end = |outcome: &Option<Outcome>| match outcome {
            None | Some(Err(_)) => true,
            Some(Ok(outcome)) => self.until_failure && outcome.status != Status::Pass,
        };
        let (mut report, mut progress, watch) = (SweepReport::new(self), SweepProgress::default(), Stopwatch::start());
        let told = |event: Event<'_, Option<Outcome>>| match event {
            Event::Next(Some(outcome)) => report.add(outcome, &mut tell),
            Event::Next(None) => report.is_interrupted = true,
            Event::Working { done, .. } => {
                let line = progress.line(&watch, done as u64, self.seeds.count(), report.failed);
                line.into_iter().for_each(|line| tell(SweepEvent::Progress(line)));
            }
        };
        let results = in_order(self.seeds.seeds(), self.jobs, is_end, work, told);
        results.map_err(|error| {
            let message = format!("cannot start a thread for {} at a time: {error}", self.jobs);
            CampaignError::new(ErrorKind::Harness, message)
        })?;
        report.finish()
    }

    fn execute(&self, idle: &Mutex<Vec<Session>>, seed: Seed) -> Outcome {
        let taken = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut session = match taken {
            Some(session) => session,
            None => self.session()?,
        };
        if seed == self.seeds.first() {
            let output = self.first_output.lock().unwrap_or_else(PoisonError::into_inner).take();
            output.into_iter().for_each(|output| session.watch(output));
        }
        let watch = Stopwatch::start();
        let execution = session.execute(Box::new(SeededSource::new(seed)), 0..0)?;
        if let Some(folder) = self.logs {
            write_logs(folder, seed, &execution)?;
        }
        let verdict = judge(&execution);
        idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        let (status, signature, decisions) = (verdict.status, verdict.signature, execution.history.decisions);
        let faults = (*execution.facts.injected).clone();
        Ok(SeedOutcome { seed, status, signature, decisions, faults, duration_ns: watch.elapsed_ns() })
    }

    fn session(&self) -> Result<Session, CampaignError> {
        let mut session = self.prepared.session()?;
        if let Some(stdin) = &self.prepared.planned.stdin {
            session.read_from(std::sync::Arc::clone(stdin));
        }
        Ok(session)
    }

    /// The run of a seed as `fozzy run` has it, with its trace; one that cannot be written is lost, and the verdict is not.
    fn report(&self, seed: Seed, lost: &mut DeferredError) -> Result<RunSummary, CampaignError> {
        let watch = Stopwatch::start();
        let mut prepared = self.prepared.clone();
        let mut session = self.session()?;
        // What has failed is kept, also of a sweep that was ended.
        session.interrupt_by(Interrupt::default());
        let execution = session.execute(Box::new(SeededSource::new(seed)), 0..ENTRIES_KEPT)?;
        prepared.planned.add_stdin();
        let recording = prepared.record(&execution, seed, RunMode::Run);
        let written = self.record.write_named(&recording, self.folder, &format!("seed-{seed}.fozzy"));
        let trace = lost.note(written).flatten();
        let identity = identity(self.folder, seed, trace.as_deref());
        let target = prepared.loaded.summary();
        let summary =
            RunSummary::of(RunMode::Run, identity, target, &recording.outcome, kept(&execution), watch.facts());
        Ok(summary
            .telling(&execution.facts)
            .with_steps(failing_sequence(&recording))
            .with_related(related_stacks(&recording)))
    }
}

/// Writes what the programs of a seed have written, a file for each stream that has anything.
fn write_logs(folder: &Path, seed: Seed, execution: &Execution) -> Result<(), CampaignError> {
    let others = execution.nodes.iter().map(|node| (format!("{}.", file_name(&node.name)), &node.stdout, &node.stderr));
    for (machine, stdout, stderr) in [(String::new(), &execution.stdout, &execution.stderr)].into_iter().chain(others) {
        for (stream, output) in [("stdout", stdout), ("stderr", stderr)] {
            let path = folder.join(format!("seed-{seed}.{machine}{stream}"));
            if output.total() > 0 {
                std::fs::write(&path, output.kept())
                    .map_err(|error| at_path(ErrorKind::Store, "cannot write", &path, &error))?;
            }
        }
    }
    Ok(())
}

/// A machine's name as a part of a file's name.
fn file_name(machine: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    machine.chars().take(64).map(|letter| if is_plain(&letter) { letter } else { '_' }).collect()
}

/// When it was said last how it goes, and of how many seeds.
#[derive(Default)]
struct SweepProgress {
    at_ns: u64,
    done: u64,
}

impl SweepProgress {
    /// How it goes, if the last line is old enough.
    fn line(&mut self, watch: &Stopwatch, done: u64, all: u64, failed: u64) -> Option<String> {
        let elapsed_ns = watch.elapsed_ns();
        if elapsed_ns - self.at_ns < LIVE_EVERY_NS {
            return None;
        }
        let since = (done - self.done, elapsed_ns - self.at_ns);
        (self.at_ns, self.done) = (elapsed_ns, done);
        let (budget, found) = (Some(all), (failed, "failure"));
        let line = CampaignLine { elapsed_ns, time_ns: None, unit: "seed", done, budget, since, edges: None, found };
        Some(line.text())
    }
}

/// The cases of a sweep so far.
struct SweepReport<'a> {
    sweep: &'a SeedSweep<'a>,
    cases: Vec<CaseSummary>,
    /// The first case of each failure.
    first: BTreeMap<Option<FailureSignature>, usize>,
    failed: u64,
    asks_seed: bool,
    faults: FaultTotals,
    is_interrupted: bool,
    /// Nothing counts after the first failure, if that ends it.
    is_over: bool,
    error: Option<CampaignError>,
    lost: DeferredError,
}

impl<'a> SweepReport<'a> {
    fn new(sweep: &'a SeedSweep<'a>) -> SweepReport<'a> {
        let (cases, first) = (Vec::new(), BTreeMap::new());
        let (asks_seed, is_interrupted, is_over) = (false, false, false);
        let (error, lost) = (None, DeferredError::default());
        let faults = FaultTotals::default();
        SweepReport { sweep, cases, first, failed: 0, asks_seed, faults, is_interrupted, is_over, error, lost }
    }

    fn add(&mut self, outcome: &Outcome, tell: &mut impl FnMut(SweepEvent<'_>)) {
        if self.is_over || self.error.is_some() {
            return;
        }
        let added = match outcome {
            Ok(outcome) => self.case(outcome),
            Err(error) => Err(CampaignError::new(ErrorKind::Harness, error.what.clone())),
        };
        match added {
            Ok(true) => self.cases.last().into_iter().for_each(|case| tell(SweepEvent::Found(case))),
            Ok(false) => {}
            Err(error) => self.error = Some(error),
        }
    }

    /// Adds a case, and says whether it is a failure that no seed before had.
    fn case(&mut self, outcome: &SeedOutcome) -> Result<bool, CampaignError> {
        let SeedOutcome { seed, status, signature, decisions, faults, duration_ns } = outcome;
        self.faults.add(faults);
        self.asks_seed |= *decisions > 0;
        let (name, path) = (format!("seed {seed}"), self.sweep.prepared.loaded.target.name.clone());
        let is_failure = *status != Status::Pass;
        self.failed += u64::from(is_failure);
        self.is_over = is_failure && self.sweep.until_failure;
        let (case, is_new) = match self.first.get(signature) {
            _ if !is_failure => (CaseSummary::of_seed(&name, &path, *status, None), false),
            Some(first) => (CaseSummary::of_seed(&name, &path, *status, Some(&self.cases[*first])), false),
            None if self.first.len() >= TRACES_MAX => (CaseSummary::of_seed(&name, &path, *status, None), false),
            None => {
                self.first.insert(signature.clone(), self.cases.len());
                (CaseSummary::ran(&name, &path, self.sweep.report(*seed, &mut self.lost)?), true)
            }
        };
        self.cases.push(CaseSummary { duration_ms: duration_ns / 1_000_000, duration_ns: *duration_ns, ..case });
        Ok(is_new)
    }

    fn finish(self) -> Result<SweepResult, CampaignError> {
        let SweepReport { cases, asks_seed, faults, is_interrupted, error, lost, .. } = self;
        error.map_or(
            {
                let (faults, overlaps, together) = (faults.totals(), faults.overlaps(), faults.together());
                Ok(SweepResult { cases, asks_seed, is_interrupted, faults, overlaps, together, lost })
            },
            Err,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_named_by_both_ends_or_by_their_number() {
        let from = |text, first| {
            SeedList::parse(text, first).map(|list| (list.first().0, list.seeds[list.seeds.len() - 1].0, list.count()))
        };
        let range = |text| from(text, 0);
        assert_eq!(range("1..1000"), Ok((1, 1000, 1000)));
        assert_eq!(range("1..=3"), Ok((1, 3, 3)));
        assert_eq!(from("3", 7), Ok((7, 9, 3)));
        assert!(from("1..3", 7).is_err_and(|why| why.contains("--seed 7 says nothing")));
        assert_eq!(range("18446744073709551615..18446744073709551615").map(|range| range.2), Ok(1));
        for (text, said) in [
            ("5..1", "the last seed, 1, is before the first, 5: expected FROM..TO, as in 1..5"),
            ("0", "expected one seed at least, found 0"),
            ("a..5", "expected a number of seeds, FROM..TO, such as 1..1000, or A,B,C, found `a`"),
            ("", "expected a number of seeds, FROM..TO, such as 1..1000, or A,B,C, found ``"),
            ("-1", "expected a number of seeds, FROM..TO, such as 1..1000, or A,B,C, found `-1`"),
            ("0..100000", "expected 100000 seeds at the most, found 100001"),
            ("0..18446744073709551615", "expected 100000 seeds at the most, found 18446744073709551616"),
        ] {
            assert_eq!(range(text), Err(said.to_owned()));
        }
        let listed = SeedList::parse("7, 0x2a,3", 0).expect("three");
        assert_eq!((listed.to_string().as_str(), listed.seeds()), ("7, 42, 3", &[Seed(7), Seed(42), Seed(3)][..]));
        assert_eq!(SeedList::parse("7,0x7", 0), Err("the seed 7 is named twice".to_owned()));
        assert!(SeedList::parse("7,,3", 0).is_err() && SeedList::parse("7,3", 5).is_err());
        let beyond = SeedList::parse("3", u64::MAX - 1);
        assert_eq!(beyond, Err("there are no 3 seeds from 18446744073709551614 on".to_owned()));
    }
}
