//! Several workers on one corpus.
//!
//! ```text
//!            ┌─ worker 0 ─┐  finds, by content    ┌──────────────┐
//! main ──────┤            ├◀────────────────────▶│ corpus folder │
//!   ▲        └─ worker 1 ─┘  atomically written   └──────────────┘
//!   └── lines: numbers, findings ──┘
//! ```
//!
//! Each worker is a process, so that one that is killed takes nothing with it: what it had found is on the disk, and another
//! goes on in its place. Workers look into the corpus for what others have added.
//!
//! Invariants: a failure that several workers find is reported once; the main process writes nothing but what it is told.
//! Not here: the campaign of one worker (`fozzy-search`).

use super::cargo::CargoFuzz;
use super::summary::CampaignReport;
use super::worker::{Message, VARIABLE, Worker};
use crate::error::CampaignError;
use crate::notice::remark;
use crate::store;
use crate::wall_clock::Stopwatch;
use fozzy_report::{FuzzCoverage, FuzzFinding};
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::{FailureSignature, Finding, Status};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Between two lines that say how it goes.
const STATUS_EVERY: Duration = Duration::from_secs(2);
/// Workers that are started in the place of others. Beyond, something is wrong with the machine.
const RESTARTS_MAX: u32 = 16;

/// Several workers.
pub struct Jobs<'a> {
    pub number: u32,
    /// Executions of all together.
    pub runs: Option<u64>,
    pub first_only: bool,
    /// The run's folder.
    pub folder: &'a Path,
    /// The file that was asked for.
    pub record: Option<(&'a Path, CollisionPolicy)>,
    /// The cargo-fuzz target that is searched.
    pub cargo: Option<&'a CargoFuzz>,
}

/// What a worker's process says.
enum Said {
    Line(String),
    /// Its standard output is closed.
    Over,
}

struct Slot {
    child: Child,
    stream: u32,
    latest: Option<Message>,
    runs: Option<u64>,
    /// Executions and failures of those that were killed here.
    past: (u64, u64),
    is_over: bool,
}

/// All findings, each once.
#[derive(Default)]
struct Findings {
    all: Vec<(FuzzFinding, Finding, Status)>,
    by_signature: BTreeMap<Option<FailureSignature>, usize>,
}

impl Jobs<'_> {
    /// Runs them to their end.
    pub fn run(&self) -> Result<CampaignReport, CampaignError> {
        let (tell, listen) = mpsc::channel();
        let mut slots = Vec::new();
        for number in 0..self.number {
            let runs = self.runs.map(|runs| share(runs, self.number, number));
            match self.start(number, runs, slots.len(), &tell) {
                Ok(slot) => slots.push(slot),
                Err(error) => {
                    end_all(&mut slots);
                    return Err(error);
                }
            }
        }
        let outcome = self.follow(&mut slots, &tell, &listen);
        end_all(&mut slots);
        outcome
    }

    #[allow(clippy::disallowed_methods, reason = "reads lines of our own processes; no execution depends on it")]
    fn start(
        &self,
        stream: u32,
        runs: Option<u64>,
        place: usize,
        tell: &mpsc::Sender<(usize, Said)>,
    ) -> Result<Slot, CampaignError> {
        let failed = |error: std::io::Error| CampaignError::new("jobs", format!("cannot start a worker: {error}"));
        let worker = Worker { stream, runs, folder: self.folder.to_owned() };
        let told = serde_json::to_string(&worker).map_err(|error| CampaignError::new("internal", error.to_string()))?;
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .args(std::env::args_os().skip(1))
            .env(VARIABLE, told)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let lines = BufReader::new(child.stdout.take().expect("it is piped"));
        let tell = tell.clone();
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                if tell.send((place, Said::Line(line))).is_err() {
                    return;
                }
            }
            let _ = tell.send((place, Said::Over));
        });
        Ok(Slot { child, stream, latest: None, runs, past: (0, 0), is_over: false })
    }

    #[allow(clippy::disallowed_methods, reason = "waits for processes; what they find does not depend on it")]
    fn follow(
        &self,
        slots: &mut [Slot],
        tell: &mpsc::Sender<(usize, Said)>,
        listen: &mpsc::Receiver<(usize, Said)>,
    ) -> Result<CampaignReport, CampaignError> {
        let mut findings = Findings::default();
        let (watch, mut said_at, mut said_executions, mut restarts) = (Stopwatch::start(), 0, 0, 0);
        while slots.iter().any(|slot| !slot.is_over) {
            if let Ok((place, said)) = listen.recv_timeout(STATUS_EVERY) {
                match said {
                    Said::Line(line) => match serde_json::from_str::<Message>(&line) {
                        Ok(message) => {
                            self.hear(&message, place, &mut findings)?;
                            slots[place].latest = Some(message);
                        }
                        // An error of the worker, in the form that was asked for.
                        Err(_) => remark(&format!("worker {place}: {line}\n")),
                    },
                    Said::Over => self.over(slots, place, tell, &mut restarts)?,
                }
            }
            if self.first_only && !findings.all.is_empty() {
                return Ok(sum(slots, findings, "finding"));
            }
            let now = watch.elapsed_ns();
            if now - said_at >= STATUS_EVERY.as_nanos() as u64 {
                let executions = executions(slots);
                self.say(slots, &findings, (executions - said_executions) as f64 * 1e9 / (now - said_at) as f64);
                (said_at, said_executions) = (now, executions);
            }
        }
        let by_runs = slots.iter().all(|slot| slot.latest.as_ref().is_some_and(|it| it.report.fuzz.ended == "runs"));
        Ok(sum(slots, findings, if by_runs { "runs" } else { "time" }))
    }

    /// A worker tells how it goes: what is new is kept where it was asked for, and said.
    fn hear(&self, message: &Message, place: usize, findings: &mut Findings) -> Result<(), CampaignError> {
        let CampaignReport { fuzz, findings: shown } = &message.report;
        for (told, (finding, status)) in fuzz.findings.iter().zip(shown) {
            match findings.by_signature.get(&told.signature) {
                Some(known) => {
                    let known = &mut findings.all[*known];
                    let is_same = Path::new(&told.input_path).file_name() == Path::new(&known.0.input_path).file_name();
                    if is_same {
                        let (trace_path, input_path) = (known.0.trace_path.clone(), known.0.input_path.clone());
                        *known = (FuzzFinding { trace_path, input_path, ..told.clone() }, finding.clone(), *status);
                    } else {
                        forget(told);
                    }
                }
                None => {
                    let mut told = told.clone();
                    if let Some((path, collision)) = self.record {
                        let collision = if findings.all.is_empty() { collision } else { CollisionPolicy::Append };
                        record(&mut told, path, collision)?;
                    }
                    let title = told.signature.as_ref().map(ToString::to_string).unwrap_or_default();
                    let confirmed = if told.confirmed { "" } else { " (not reproduced by a separate run)" };
                    let (at, bytes, trace) = (told.found_at, told.input_bytes, &told.trace_path);
                    remark(&format!(
                        "found {title}{confirmed}\n  execution {at} of worker {place}, {bytes} bytes, {trace}\n"
                    ));
                    if let Some(cargo) = self.cargo {
                        remark(&cargo.lines(Path::new(&told.input_path)));
                    }
                    findings.by_signature.insert(told.signature.clone(), findings.all.len());
                    findings.all.push((told, finding.clone(), *status));
                }
            }
        }
        Ok(())
    }

    /// A worker's process has come to its end.
    fn over(
        &self,
        slots: &mut [Slot],
        place: usize,
        tell: &mpsc::Sender<(usize, Said)>,
        restarts: &mut u32,
    ) -> Result<(), CampaignError> {
        let slot = &mut slots[place];
        let ended =
            slot.child.wait().map_err(|error| CampaignError::new("jobs", format!("worker {place}: {error}")))?;
        if slot.latest.as_ref().is_some_and(|message| message.done) {
            slot.is_over = true;
            return Ok(());
        }
        if !was_killed(ended) || *restarts == RESTARTS_MAX {
            let message = format!("worker {place} ended by itself ({ended}); all that it had found is kept");
            return Err(CampaignError::new("jobs", message).hint("its messages are above"));
        }
        *restarts += 1;
        remark(&format!("worker {place} was killed ({ended}); another one goes on in its place\n"));
        let (executions, failures) =
            slot.latest.as_ref().map_or((0, 0), |it| (it.report.fuzz.executions, it.report.fuzz.failures));
        let runs = slot.runs.map(|runs| runs.saturating_sub(executions).max(1));
        let (past, stream) = ((slot.past.0 + executions, slot.past.1 + failures), slot.stream + self.number);
        slots[place] = Slot { past, ..self.start(stream, runs, place, tell)? };
        Ok(())
    }

    /// One line, as of a single worker.
    fn say(&self, slots: &[Slot], findings: &Findings, rate: f64) {
        let latest = || slots.iter().filter_map(|slot| slot.latest.as_ref()).map(|message| &message.report.fuzz);
        let most = |of: fn(&FuzzCoverage) -> u64| latest().map(|fuzz| of(&fuzz.coverage)).max().unwrap_or(0);
        let corpus = latest().map(|fuzz| fuzz.corpus).max().unwrap_or(0);
        let since = latest().map(|fuzz| fuzz.executions - fuzz.last_new).min().unwrap_or(0);
        remark(&format!(
            "#{}  {rate:.0} exec/s of {} workers  edges {}  features {}  corpus {corpus}  finds {}  since last new {since}\n",
            executions(slots),
            slots.len(),
            most(|coverage| coverage.unique_edges),
            most(|coverage| coverage.features),
            findings.all.len(),
        ));
    }
}

/// The part of `runs` of one worker of several; together they are all.
fn share(runs: u64, workers: u32, number: u32) -> u64 {
    runs / u64::from(workers) + u64::from(u64::from(number) < runs % u64::from(workers))
}

fn executions(slots: &[Slot]) -> u64 {
    let latest = |slot: &Slot| slot.latest.as_ref().map_or(0, |message| message.report.fuzz.executions);
    slots.iter().map(|slot| slot.past.0 + latest(slot)).sum()
}

/// The report of all. Coverage is that of the worker that reached most: they share what they find.
fn sum(slots: &[Slot], findings: Findings, ended: &str) -> CampaignReport {
    let latest = || slots.iter().filter_map(|slot| slot.latest.as_ref()).map(|message| &message.report.fuzz);
    let mut fuzz = latest().max_by_key(|fuzz| fuzz.coverage.features).cloned().unwrap_or_default();
    fuzz.jobs = slots.len() as u64;
    fuzz.executions = executions(slots);
    fuzz.failures = slots.iter().map(|slot| slot.past.1).sum::<u64>() + latest().map(|fuzz| fuzz.failures).sum::<u64>();
    fuzz.last_new = latest().map(|fuzz| fuzz.last_new).max().unwrap_or(0);
    fuzz.ended = ended.to_owned();
    fuzz.findings = findings.all.iter().map(|(told, ..)| told.clone()).collect();
    let shown = findings.all.into_iter().map(|(_, finding, status)| (finding, status));
    CampaignReport { fuzz, findings: shown.collect() }
}

/// A failure that another worker has found too: its files are not needed.
fn forget(told: &FuzzFinding) {
    let smaller = told.minimized_trace_path.iter().chain(&told.minimized_input_path);
    for path in [&told.trace_path, &told.input_path].into_iter().chain(smaller) {
        // What is not there is gone already.
        let _ = std::fs::remove_file(path);
    }
}

/// Keeps the trace where it was asked for, and the input beside it.
fn record(told: &mut FuzzFinding, path: &Path, collision: CollisionPolicy) -> Result<(), CampaignError> {
    let read = |path: &str| {
        std::fs::read(path).map_err(|error| crate::error::at_path("jobs", "cannot read", Path::new(path), &error))
    };
    let (trace, input) = (read(&told.trace_path)?, read(&told.input_path)?);
    let trace: PathBuf = store::write_trace(path, &trace, collision)?;
    let beside = trace.with_extension("input");
    fozzy_trace::file::store::write_atomic(&beside, &input, fozzy_trace::file::store::Durability::Synced)
        .map_err(|error| crate::error::at_path("store", "cannot write", &beside, &error))?;
    (told.trace_path, told.input_path) = (trace.display().to_string(), beside.display().to_string());
    Ok(())
}

/// Whether somebody else ended it.
#[cfg(unix)]
fn was_killed(status: ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status).is_some()
}

#[cfg(not(unix))]
fn was_killed(_: ExitStatus) -> bool {
    false
}

/// Whoever still runs has written all that it found.
fn end_all(slots: &mut [Slot]) {
    for slot in slots.iter_mut().filter(|slot| !slot.is_over) {
        let _ = slot.child.kill();
        let _ = slot.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_together_all() {
        let of = |runs, workers| (0..workers).map(|number| share(runs, workers, number)).collect::<Vec<u64>>();
        assert_eq!(of(10, 4), [3, 3, 2, 2]);
        assert_eq!(of(9, 3), [3, 3, 3]);
        assert_eq!(of(1, 2), [1, 0]);
    }
}
