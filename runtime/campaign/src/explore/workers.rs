//! Several processes that explore one scenario, and tell each other what is worth going on from.
//!
//! ```text
//! fozzy explore -w 2 ─┬─ worker 0 ─▶ <run>/workers/stories/0-17.json ◀─ read now and then ─ worker 1
//!                     │              <run>/workers/edges/0.json, the same for edges
//!                     │              <run>/workers/0/assertion-….fozzy, at once
//!                     │              <run>/workers/0/numbers.json, now and then; explored.json, at the end
//!                     └─ sums, unions, each failure once
//! ```
//!
//! A story is a list of answers from time zero: who reads one goes its way, and keeps where it leads if that is new there. An
//! edge that another one has taken is not new any more.
//!
//! Invariants: a worker that is killed loses nothing that it has found; each has a chance of its own, from the same seed. What
//! several find together depends on who was quicker, and each finding replays alone all the same.

use super::campaign_sink::Where;
use super::settings::ExploreSettings;
use crate::error::{CampaignError, at_path};
use crate::notice::notice;
use crate::options::StopFlag;
use crate::selector;
use crate::wall_clock::Stopwatch;
use fozzy_report::UnreachedBranch;
use fozzy_search::explore::{DecisionPath, EdgeClasses, PeerDiscoveries, Reward, Stats};
use fozzy_trace::Seed;
use fozzy_trace::file::store::{Durability, write_atomic};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Stories that one worker tells the others.
const STORIES_GIVEN_MAX: u32 = 4096;
/// Stories that are taken at one look.
const STORIES_TAKEN_MAX: usize = 64;
/// Between two looks at what the others have told.
const LOOK_EVERY_NS: u64 = 1_000_000_000;
/// Between two looks at whether the workers are done.
const WAIT: Duration = Duration::from_millis(50);
/// Between two lines that say how it goes.
const SAY_EVERY_NS: u64 = 2_000_000_000;

const NUMBERS: &str = "numbers.json";
/// Says that the failure which was looked for is found.
const OVER: &str = "over.json";
const EXPLORED: &str = "explored.json";

/// What an exploration came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExplorationResult {
    pub stats: Stats,
    /// Whether any flow did anything.
    pub has_run: bool,
    pub edges_total: u64,
    /// For each module, whether each of its edges was taken.
    pub taken: Vec<Vec<u8>>,
    pub traces: Vec<Trace>,
    pub stories: Vec<DecisionPath>,
    /// What each way to search has earned, by dial and name.
    pub earned: Vec<(String, String, Reward)>,
    #[serde(skip)]
    pub not_reached: Vec<UnreachedBranch>,
    pub ended: String,
}

/// The trace of a failure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    pub path: PathBuf,
    /// The run that found it, of its worker.
    pub found_at: u64,
    pub times: u64,
}

/// What one worker shares with the others.
pub struct Share {
    folder: PathBuf,
    worker: u32,
    /// Whether it tells the others of edges, and of places.
    edges: bool,
    places: bool,
    given: u32,
    /// Stories that were taken, or are its own.
    known: BTreeSet<PathBuf>,
    looked_ns: u64,
    /// Whether another one has ended it for all.
    over: bool,
}

fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), CampaignError> {
    let bytes = serde_json::to_vec(value).map_err(|error| CampaignError::new("internal", error.to_string()))?;
    write_atomic(path, &bytes, Durability::Cached).map_err(|error| at_path("store", "cannot write", path, &error))
}

/// `None` when it is not there, or not whole: its writer was killed.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// The files that workers have written whole.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "json"))
}

fn make(folder: &Path) -> Result<(), CampaignError> {
    std::fs::create_dir_all(folder).map_err(|error| at_path("store", "cannot make", folder, &error))
}

impl Share {
    pub fn open(folder: &Path, worker: u32, settings: &ExploreSettings) -> Result<Share, CampaignError> {
        let (folder, known) = (folder.to_owned(), BTreeSet::new());
        let (edges, places) = (settings.share_edges, settings.share_checkpoints);
        let share = Share { folder, worker, edges, places, given: 0, known, looked_ns: 0, over: false };
        [share.own(), share.stories(), share.edges()].iter().try_for_each(|folder| make(folder))?;
        Ok(share)
    }

    /// Where its own findings go.
    pub fn own(&self) -> PathBuf {
        self.folder.join(self.worker.to_string())
    }

    fn stories(&self) -> PathBuf {
        self.folder.join("stories")
    }

    fn edges(&self) -> PathBuf {
        self.folder.join("edges")
    }

    /// Tells the others of a place.
    pub fn give(&mut self, story: &DecisionPath) -> Result<(), CampaignError> {
        if !self.places || self.given == STORIES_GIVEN_MAX {
            return Ok(());
        }
        let path = self.stories().join(format!("{}-{}.json", self.worker, self.given));
        self.given += 1;
        write(&path, story)?;
        self.known.insert(path);
        Ok(())
    }

    /// What the others have told since the last look, some of it.
    pub fn take(&mut self, now_ns: u64, edges: &dyn Fn() -> EdgeClasses) -> PeerDiscoveries {
        if now_ns - self.looked_ns < LOOK_EVERY_NS {
            return PeerDiscoveries::default();
        }
        self.looked_ns = now_ns;
        self.over = self.folder.join(OVER).exists();
        let mut taken = PeerDiscoveries::default();
        if self.edges {
            let own = self.edges().join(format!("{}.json", self.worker));
            // What cannot be told is found by the others themselves.
            let _ = write(&own, &edges());
            taken.edges = files(&self.edges()).filter(|path| *path != own).filter_map(|path| read(&path)).collect();
        }
        let new: Vec<PathBuf> = files(&self.stories()).filter(|path| !self.known.contains(path)).collect();
        for path in new.into_iter().take(STORIES_TAKEN_MAX) {
            taken.stories.extend(read(&path));
            self.known.insert(path);
        }
        taken
    }

    /// Tells how it goes.
    pub fn tell(&self, stats: &Stats) -> Result<(), CampaignError> {
        write(&self.own().join(NUMBERS), stats)
    }

    /// Whether one of the others has found what all were looking for.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Tells what it came to.
    pub fn conclude(&self, explored: &ExplorationResult) -> Result<(), CampaignError> {
        if explored.ended == "finding" {
            write(&self.folder.join(OVER), &self.worker)?;
        }
        write(&self.own().join(EXPLORED), explored)
    }
}

/// Starts the workers, waits for them, and puts together what they have found.
pub fn run(
    place: &Where,
    (workers, seed): (u32, Seed),
    verbose: bool,
    stop: &StopFlag,
) -> Result<ExplorationResult, CampaignError> {
    let folder = place.folder.join("workers");
    make(&folder)?;
    let watch = Stopwatch::start();
    let mut running: Vec<Child> = (0..workers).map(|worker| start(&folder, worker, seed)).collect::<Result<_, _>>()?;
    let (mut said_ns, mut said_runs, mut lost) = (0, 0, 0);
    while !running.is_empty() {
        let mut still = Vec::new();
        for mut child in running {
            match child.try_wait() {
                Ok(None) => still.push(child),
                Ok(Some(status)) if status.success() => {}
                Ok(Some(_)) | Err(_) => lost += 1,
            }
        }
        running = still;
        let now = watch.elapsed_ns();
        if verbose && now - said_ns >= SAY_EVERY_NS {
            let stats = sum((0..workers).filter_map(|worker| read(&folder.join(worker.to_string()).join(NUMBERS))));
            let rate = stats.runs.saturating_sub(said_runs) as f64 * 1e9 / (now - said_ns) as f64;
            (said_ns, said_runs) = (now, stats.runs);
            let Stats { runs, steps, edges, checkpoints, failures, .. } = stats;
            let line = format!(
                "[{}s] runs={runs} steps={steps} edges={edges} cps={checkpoints} fails={failures} {rate:.0} runs/s\n",
                now / 1_000_000_000
            );
            notice(line.as_bytes());
        }
        if !running.is_empty() {
            crate::wall_clock::pause(WAIT);
        }
    }
    if lost == workers {
        let message = "every worker ended before its time; what they have said stands above".to_owned();
        return Err(CampaignError::new("harness", message).hint("fozzy explore -w 1 says more"));
    }
    merged(&folder, place, workers, stop)
}

/// The same command once more, as one of the workers.
#[allow(clippy::disallowed_methods, reason = "the tool starts itself; no guest sees it")]
fn start(folder: &Path, worker: u32, seed: Seed) -> Result<Child, CampaignError> {
    let failed = |error: std::io::Error| CampaignError::new("harness", format!("cannot start a worker: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut args: Vec<OsString> = std::env::args_os().skip(1).collect();
    // What follows `--` is the program's.
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    // A seed that was drawn was drawn once.
    for at in 0..end {
        if args[at] == "--seed=random" {
            args[at] = format!("--seed={seed}").into();
        } else if at > 0 && args[at - 1] == "--seed" {
            args[at] = seed.to_string().into();
        }
    }
    let own = ["--worker".into(), worker.to_string().into(), "--share".into(), folder.as_os_str().to_owned()];
    args.splice(end..end, own);
    let child = Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    child.map_err(failed)
}

fn sum(all: impl Iterator<Item = Stats>) -> Stats {
    all.fold(Stats::default(), |sum, stats| Stats {
        runs: sum.runs + stats.runs,
        steps: sum.steps + stats.steps,
        // What several have seen is not counted twice, as far as that is known here.
        edges: sum.edges.max(stats.edges),
        features: sum.features.max(stats.features),
        states: sum.states.max(stats.states),
        checkpoints: sum.checkpoints + stats.checkpoints,
        failures: sum.failures + stats.failures,
        findings: sum.findings.max(stats.findings),
        lost: sum.lost + stats.lost,
        cut: sum.cut + stats.cut,
        last_new: sum.last_new.max(stats.last_new),
        edges_once: sum.edges_once.max(stats.edges_once),
        edges_twice: sum.edges_twice.max(stats.edges_twice),
    })
}

/// What all of them have found, each failure once.
fn merged(folder: &Path, place: &Where, workers: u32, stop: &StopFlag) -> Result<ExplorationResult, CampaignError> {
    let mut all = ExplorationResult::default();
    let mut numbers = Vec::new();
    let mut seen = BTreeSet::new();
    for worker in 0..workers {
        let own = folder.join(worker.to_string());
        let explored: ExplorationResult = read(&own.join(EXPLORED)).unwrap_or_else(|| ExplorationResult {
            // It was killed: its numbers are those that it told last.
            stats: read(&own.join(NUMBERS)).unwrap_or_default(),
            ..ExplorationResult::default()
        });
        numbers.push(explored.stats);
        all.edges_total = all.edges_total.max(explored.edges_total);
        all.taken.resize(all.taken.len().max(explored.taken.len()), Vec::new());
        for (into, from) in all.taken.iter_mut().zip(&explored.taken) {
            into.resize(into.len().max(from.len()), 0);
            into.iter_mut().zip(from).for_each(|(into, from)| *into |= from);
        }
        all.has_run |= explored.has_run;
        all.stories.extend(explored.stories);
        for (dial, name, earned) in explored.earned {
            match all.earned.iter_mut().find(|known| (&known.0, &known.1) == (&dial, &name)) {
                Some((_, _, sum)) => *sum = sum.and(earned),
                None => all.earned.push((dial, name, earned)),
            }
        }
        if all.ended.is_empty() || explored.ended == "finding" {
            all.ended = explored.ended;
        }
        let traces = std::fs::read_dir(&own).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut traces: Vec<PathBuf> = traces.filter(|path| path.extension().is_some_and(|e| e == "fozzy")).collect();
        traces.sort();
        for path in traces {
            let signature = selector::read(&path)?.outcome.verdict.signature.map(|signature| signature.to_string());
            let known = explored.traces.iter().find(|trace| trace.path.file_name() == path.file_name());
            if seen.insert(signature) {
                let (found_at, times) = known.map_or((0, 1), |known| (known.found_at, known.times));
                all.traces.push(Trace { path: placed(&path, place, all.traces.len())?, found_at, times });
            }
        }
    }
    all.stats = sum(numbers.into_iter());
    all.stats.edges = all.taken.iter().flatten().map(|taken| u64::from(*taken)).sum::<u64>().max(all.stats.edges);
    all.stats.findings = all.traces.len() as u64;
    if stop() {
        all.ended = "interrupted".to_owned();
    }
    Ok(all)
}

/// A worker's trace, where traces of the run are.
fn placed(path: &Path, place: &Where, number: usize) -> Result<PathBuf, CampaignError> {
    let bytes = std::fs::read(path).map_err(|error| at_path("store", "cannot read", path, &error))?;
    let name = path.file_name().map(PathBuf::from).unwrap_or_default();
    let (to, collision) = place.of(number, &name);
    crate::store::write_trace(&to, &bytes, collision)
}
