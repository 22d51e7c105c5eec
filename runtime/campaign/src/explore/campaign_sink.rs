//! Keeps what an exploration finds, at once, and says how it goes.
//!
//! ```text
//! failure ─▶ <run>/assertion-5e1f0c22a9d4.fozzy        replays alone
//!            <run>/assertion-5e1f0c22a9d4.min.fozzy    the same, made smaller, at the end
//! ```
//!
//! Invariant: nothing here has an influence on the exploration but that it ends when its time is over.

use super::stateful_target::PathConfirmer;
use super::workers::Share;
use crate::error::CampaignError;
use crate::notice::notice;
use crate::options::StopFlag;
use crate::store;
use crate::wall_clock::Stopwatch;
use fozzy_search::FailureRecord;
use fozzy_search::explore::{DecisionPath, EdgeClasses, ExplorationObserver, PeerDiscoveries, Stats};
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::file::{RecordedTarget, Recording};
use fozzy_trace::{Digest, Duration, HarnessError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Between two lines that say how it goes.
const STATUS_EVERY_NS: u64 = 2_000_000_000;
/// Steps between two looks at the clock.
const LOOK_EVERY: u64 = 16;

/// Where findings go.
pub struct Where {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The file that was asked for.
    pub record: Option<PathBuf>,
    pub collision: CollisionPolicy,
}

/// Keeps, and says.
pub struct ExplorationSink {
    /// Whether a stop was requested.
    pub stop: StopFlag,
    pub confirmer: PathConfirmer,
    pub target: RecordedTarget,
    pub component: Arc<[u8]>,
    pub place: Where,
    pub watch: Stopwatch,
    /// `None` when its runs are bounded instead.
    pub time: Option<Duration>,
    pub verbose: bool,
    /// In the order of findings.
    pub kept: Vec<PathBuf>,
    pub said: ProgressMark,
    /// `None` when it is alone.
    pub share: Option<Share>,
}

/// When something was said last, and of how many runs.
#[derive(Debug, Default)]
pub struct ProgressMark {
    at_ns: u64,
    runs: u64,
    calls: u64,
}

impl Where {
    /// The place of the finding of this number, which is called so in the folder.
    pub fn of(&self, number: usize, name: &Path) -> (PathBuf, CollisionPolicy) {
        match &self.record {
            // Those after the first stand beside it.
            Some(path) if number == 0 => (path.clone(), self.collision),
            Some(path) => (path.clone(), CollisionPolicy::Append),
            None => (self.folder.join(name), CollisionPolicy::Overwrite),
        }
    }
}

impl ExplorationSink {
    /// The line of the contract.
    fn say(&mut self, stats: &Stats, now: u64) {
        let since = (now - self.said.at_ns).max(1);
        let rate = (stats.runs - self.said.runs) as f64 * 1e9 / since as f64;
        (self.said.at_ns, self.said.runs) = (now, stats.runs);
        let Stats { runs, steps, edges, checkpoints, failures, .. } = stats;
        let line = format!(
            "[{}s] runs={runs} steps={steps} edges={edges} cps={checkpoints} fails={failures} {rate:.0} runs/s\n",
            now / 1_000_000_000
        );
        notice(line.as_bytes());
    }

    /// Records the run of `story`.
    pub fn record(&mut self, story: &DecisionPath) -> Result<Recording, CampaignError> {
        self.confirmer.record(story, &self.target, &self.component)
    }

    fn write(&mut self, story: &DecisionPath) -> Result<PathBuf, CampaignError> {
        let recording = self.record(story)?;
        let bytes = recording.to_bytes().map_err(|error| CampaignError::new("trace", error.to_string()))?;
        let kind = recording.outcome.verdict.signature.as_ref().map_or("failure", |signature| signature.kind.name());
        let name = format!("{kind}-{}.fozzy", Digest::of(&bytes).short());
        let (path, collision) = self.place.of(self.kept.len(), Path::new(&name));
        store::write_trace(&path, &bytes, collision)
    }
}

impl ExplorationObserver for ExplorationSink {
    fn stepped(&mut self, stats: &Stats) -> bool {
        self.said.calls += 1;
        if !self.said.calls.is_multiple_of(LOOK_EVERY) {
            return true;
        }
        if (self.stop)() {
            return false;
        }
        let now = self.watch.elapsed_ns();
        if now - self.said.at_ns >= STATUS_EVERY_NS {
            match &self.share {
                Some(share) => {
                    // What cannot be told is not lost: the findings are on the disk, and so is the end.
                    let _ = share.tell(stats);
                    self.said.at_ns = now;
                }
                None if self.verbose => self.say(stats, now),
                None => {}
            }
        }
        self.time.is_none_or(|time| now < time.0) && !self.share.as_ref().is_some_and(Share::is_over)
    }

    fn kept(&mut self, story: &dyn Fn() -> DecisionPath) -> Result<(), HarnessError> {
        let Some(share) = &mut self.share else { return Ok(()) };
        share.give(&story()).map_err(|error| HarnessError { what: error.to_string() })
    }

    fn others(&mut self, edges: &dyn Fn() -> EdgeClasses) -> PeerDiscoveries {
        let now = self.watch.elapsed_ns();
        self.share.as_mut().map(|share| share.take(now, edges)).unwrap_or_default()
    }

    fn found(&mut self, found: &FailureRecord<DecisionPath>) -> Result<(), HarnessError> {
        let path = self.write(&found.input).map_err(|error| HarnessError { what: error.to_string() })?;
        let title = found.verdict.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        let (run, steps) = (found.found_at, found.input.steps);
        notice(format!("found {title}\n  run {run}, step {steps}, {}\n", path.display()).as_bytes());
        self.kept.push(path);
        Ok(())
    }
}
