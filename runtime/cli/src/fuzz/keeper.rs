//! Keeps what a campaign finds, at once, and says how it goes.
//!
//! ```text
//! testcase ─▶ corpus folder
//! failure  ─▶ <run>/panic-5e1f0c22a9d4.fozzy   replays alone
//!             <run>/panic-5e1f0c22a9d4.input   the bytes
//!             <run>/panic-5e1f0c22a9d4.min.*   the same, made smaller
//! ```
//!
//! Invariant: nothing here has an influence on the campaign but that it ends when its time is over.

use super::cargo::CargoFuzz;
use super::corpus::CorpusFolder;
use super::target::Confirmer;
use crate::command::run::engine_id;
use crate::error::CliError;
use crate::output::Printer;
use crate::store;
use crate::wall::Stopwatch;
use fozzy_check::judge;
use fozzy_report::Mode;
use fozzy_search::fuzz::{Found, Observer, Stats, Testcase};
use fozzy_trace::file::store::{Collision, Durability, write_atomic};
use fozzy_trace::file::{Recording, Target};
use fozzy_trace::plan::Inputs;
use fozzy_trace::{Digest, Duration, HarnessError, Plan, Seed, Status, Verdict};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Between two lines that say how it goes.
const STATUS_EVERY_NS: u64 = 2_000_000_000;
/// Executions between two looks at the clock.
const LOOK_EVERY: u64 = 16;
/// Calls at the beginning of a run that stand in its trace in full.
const ENTRIES_KEPT: u64 = 1_000;

/// Everything that a trace has beside the execution.
pub(crate) struct Told {
    pub(crate) target: Target,
    pub(crate) component: Arc<[u8]>,
    pub(crate) plan: Plan,
    pub(crate) inputs: Inputs,
    pub(crate) seed: Seed,
}

/// Where findings go.
pub(crate) struct Place {
    /// The folder of the run.
    pub(crate) folder: PathBuf,
    /// The file that was asked for.
    pub(crate) record: Option<PathBuf>,
    pub(crate) collision: Collision,
    /// The cargo-fuzz target whose artifacts they are, and their folder.
    pub(crate) artifacts: Option<(CargoFuzz, PathBuf)>,
}

/// What was kept of one failure.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) trace: PathBuf,
    pub(crate) input: PathBuf,
    pub(crate) smaller: Option<Smaller>,
}

/// The same failure by a smaller input.
#[derive(Clone, Debug)]
pub(crate) struct Smaller {
    pub(crate) trace: PathBuf,
    pub(crate) input: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) verdict: Verdict,
}

/// Keeps, and says.
pub(crate) struct Keeper {
    pub(crate) printer: Printer,
    pub(crate) corpus: CorpusFolder,
    pub(crate) confirmer: Confirmer,
    pub(crate) told: Told,
    pub(crate) place: Place,
    pub(crate) watch: Stopwatch,
    pub(crate) time: Option<Duration>,
    /// In the order of findings.
    pub(crate) kept: Vec<Kept>,
    said_at: u64,
    said_executions: u64,
    calls: u64,
}

impl Keeper {
    pub(crate) fn new(
        printer: Printer,
        corpus: CorpusFolder,
        confirmer: Confirmer,
        told: Told,
        place: Place,
        time: Option<Duration>,
    ) -> Keeper {
        let watch = Stopwatch::start();
        let (kept, said_at, said_executions, calls) = (Vec::new(), 0, 0, 0);
        Keeper { printer, corpus, confirmer, told, place, watch, time, kept, said_at, said_executions, calls }
    }

    /// One line: what libFuzzer and others say, in their order.
    fn say(&mut self, stats: &Stats, now: u64) {
        let since = (now - self.said_at).max(1);
        let rate = (stats.executions - self.said_executions) as f64 * 1e9 / since as f64;
        self.printer.remark(&format!(
            "#{}  {} exec/s  edges {}  features {}  corpus {}/{}  finds {}  since last new {}\n",
            stats.executions,
            short(rate),
            stats.edges,
            stats.features,
            stats.corpus,
            bytes(stats.corpus_bytes),
            stats.findings,
            stats.executions - stats.last_new,
        ));
        (self.said_at, self.said_executions) = (now, stats.executions);
    }

    /// Records the run of `input`, and writes it and the input side by side.
    fn keep(&mut self, input: &[u8], path: &Path, collision: Collision) -> Result<(PathBuf, PathBuf), CliError> {
        let execution = self.confirmer.execute(input, 0..ENTRIES_KEPT)?;
        let verdict = judge(&execution);
        let Told { target, component, plan, inputs, seed } = &self.told;
        let engine = engine_id(self.confirmer.session().program());
        let (target, component, plan) = (target.clone(), Arc::clone(component), plan.clone());
        let recording =
            Recording::of(target, component, plan, inputs, engine, &execution, verdict, *seed, Mode::Fuzz.name());
        let bytes = recording.to_bytes().map_err(|error| CliError::new("trace", error.to_string()))?;
        let trace = store::write_trace(path, &bytes, collision)?;
        // libFuzzer's artifacts have no ending.
        let beside = trace.with_extension(if self.place.artifacts.is_some() { "" } else { "input" });
        write_atomic(&beside, input, Durability::Synced)
            .map_err(|error| crate::error::at_path("store", "cannot write", &beside, &error))?;
        Ok((trace, beside))
    }

    /// The file of a finding's trace.
    fn path(&self, found: &Found) -> PathBuf {
        let digest = Digest::of(&found.input);
        match &self.place.artifacts {
            None => {
                let kind = found.verdict.signature.as_ref().map_or("failure", |signature| signature.kind.name());
                self.place.folder.join(format!("{kind}-{}.fozzy", digest.short()))
            }
            Some((_, folder)) => {
                let memory = found.verdict.findings.first().is_some_and(|finding| finding.title == "out of memory");
                let kind = match found.verdict.status {
                    Status::Timeout => "timeout",
                    _ if memory => "oom",
                    _ => "crash",
                };
                // As long as libFuzzer's, which are of another hash.
                folder.join(format!("{kind}-{:.40}.fozzy", digest.to_string()))
            }
        }
    }
}

impl Observer for Keeper {
    fn executed(&mut self, stats: &Stats) -> bool {
        self.calls += 1;
        if !self.calls.is_multiple_of(LOOK_EVERY) {
            return true;
        }
        let now = self.watch.elapsed_ns();
        if now - self.said_at >= STATUS_EVERY_NS {
            self.say(stats, now);
        }
        self.time.is_none_or(|time| now < time.0)
    }

    fn added(&mut self, testcase: &Testcase) -> Result<(), HarnessError> {
        self.corpus.add(&testcase.input, &testcase.digest).map_err(harness)
    }

    fn found(&mut self, found: &Found) -> Result<(), HarnessError> {
        let (path, collision) = match &self.place.record {
            // Those after the first stand beside it.
            Some(path) if self.kept.is_empty() => (path.clone(), self.place.collision),
            Some(path) => (path.clone(), Collision::Append),
            None => (self.path(found), Collision::Overwrite),
        };
        let (trace, input) = self.keep(&found.input, &path, collision).map_err(harness)?;
        let title = found.verdict.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        let confirmed = if found.confirmed { "" } else { " (a run by itself does not fail so)" };
        self.printer.remark(&format!(
            "found {title}{confirmed}\n  execution {}, {} bytes, {}\n",
            found.found_at,
            found.input.len(),
            trace.display()
        ));
        if let Some((target, _)) = &self.place.artifacts {
            self.printer.remark(&target.lines(&input));
        }
        self.kept.push(Kept { trace, input, smaller: None });
        Ok(())
    }

    fn minimized(&mut self, smaller: &[u8], verdict: &Verdict) -> Result<(), HarnessError> {
        let Some(kept) = self.kept.last() else { return Ok(()) };
        let path = kept.trace.with_extension("min.fozzy");
        let (trace, input) = self.keep(smaller, &path, Collision::Overwrite).map_err(harness)?;
        self.printer.remark(&format!("  made smaller: {} bytes, {}\n", smaller.len(), trace.display()));
        if let Some(kept) = self.kept.last_mut() {
            kept.smaller = Some(Smaller { trace, input, bytes: smaller.len() as u64, verdict: verdict.clone() });
        }
        Ok(())
    }
}

/// What cannot be written ends the campaign with these words; all that was found before is on the disk.
fn harness(error: CliError) -> HarnessError {
    HarnessError { what: error.to_string() }
}

/// `812`, `12.3k`, `1.2M`.
fn short(number: f64) -> String {
    match number {
        n if n >= 1e6 => format!("{:.1}M", n / 1e6),
        n if n >= 1e4 => format!("{:.1}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

/// `120B`, `4.1KiB`.
fn bytes(number: u64) -> String {
    match number {
        n if n >= 10 << 20 => format!("{:.1}MiB", n as f64 / f64::from(1 << 20)),
        n if n >= 10 << 10 => format!("{:.1}KiB", n as f64 / 1024.0),
        n => format!("{n}B"),
    }
}
