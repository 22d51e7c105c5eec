//! Keeps what a campaign finds, at once, and says how it goes.
//!
//! ```text
//! testcase ─▶ corpus folder
//! failure  ─▶ <run>/panic-5e1f0c22a9d4.fozzy   replays alone
//!             <run>/panic-5e1f0c22a9d4.input   the bytes
//!             <run>/panic-5e1f0c22a9d4.min.*   the same, made smaller
//! its end  ─▶ <run>/slow-unit-0c41d9e7aa52     an input that takes long
//! ```
//!
//! Invariants: nothing here influences the campaign, except that it ends when its time is over; a finding that cannot
//! be written is reported all the same.

use super::cargo::CargoFuzz;
use super::confirmer::{ConfirmedRun, FindingConfirmer};
use super::corpus::CorpusFolder;
use super::protocol::FuzzProtocol;
use super::summary::{CampaignReport, FindingReport, SavedFinding, Smaller, Subject};
use crate::error::{CampaignError, DeferredError, ErrorKind};
use crate::options::StopFlag;
use crate::pipeline::{self, ENTRIES_KEPT, RecordingOrigin};
use crate::progress::{CampaignLine, LIVE_EVERY_NS};
use crate::remarks::Remarks;
use crate::risk_bound::RiskBound;
use crate::search_clock::{SearchClock, unconfirmed_error};
use crate::trace_destination::TraceDestination;
use crate::workers::{WorkerChannel, WorkerEvent};
use fozzy_report::{LiteralLanguage, ShownInput, SlowestInput, TimeSpent};
use fozzy_search::FailureRecord;
use fozzy_search::fuzz::{FuzzObserver, Stats, Testcase};
use fozzy_trace::file::store::{CollisionPolicy, Durability, write_atomic};
use fozzy_trace::{Digest, Duration, FindingKind, HarnessError, Status, Verdict, counted, grouped};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Between two lines that say how it goes.
const STATUS_EVERY_NS: u64 = 2_000_000_000;
/// Between two reports of a worker to its supervisor.
const REPORT_EVERY_NS: u64 = 200_000_000;
/// Between two looks of a worker at what others have found.
const LOOK_EVERY_NS: u64 = 1_000_000_000;
/// The divisor of a worker's time that looking for others' inputs may take.
const LOOKS_SHARE: u64 = 20;
/// Executions between two looks at the clock, where that number takes less than [`QUICK_NS`].
const LOOK_EVERY: u64 = 16;
const QUICK_NS: u64 = 10_000_000;
/// Characters of arguments that are said while it runs.
const ARGUMENTS_SAID: usize = 400;
/// Timeouts of one signature after which it is said how they cost less, and the divisor of the budget that is proposed.
const TIMEOUTS_REMARKED: u64 = 20;
const FUEL_DIVISOR: u64 = 20;
/// The divisor of a campaign's time in which its corpus is replayed before anything else.
const REPLAY_SHARE: u64 = 4;
/// Keeps findings, and reports progress.
pub struct CampaignSink {
    config: SinkConfig,
    /// The language in which inputs are written down.
    language: Option<LiteralLanguage>,
    /// In the order of findings.
    pub kept: Vec<SavedFinding>,
    /// What could not be written of them.
    pub unkept: DeferredError,
    /// What ended the campaign: its corpus cannot be written.
    pub blocked: Option<CampaignError>,
    /// What they are of.
    found: Vec<FailureRecord>,
    /// When the corpus was looked at last, and how long that took.
    looked: (u64, u64),
    said_at: u64,
    /// When the clock was looked at last, between two executions.
    pub looked_at: u64,
    said_executions: u64,
    /// Executions until the next look.
    unlooked: u64,
    /// Whether the risk is low enough, so that it ends.
    pub is_settled: bool,
    /// Nanoseconds that went to files of the corpus, and to findings.
    files_ns: u64,
    findings_ns: u64,
}

/// What a sink is made of.
pub struct SinkConfig {
    /// Where inputs are kept that reached something new.
    pub corpus: CorpusFolder,
    /// Repeats a finding as a run, to record it.
    pub confirmer: FindingConfirmer,
    /// What traces say beside the execution.
    pub origin: RecordingOrigin,
    /// Where findings go.
    pub destination: TraceDestination,
    /// The cargo-fuzz target whose artifacts they are, and their folder.
    pub artifacts: Option<(CargoFuzz, PathBuf)>,
    /// What is executed.
    pub subject: Subject,
    /// Real time after which it ends.
    pub time: Option<Duration>,
    /// The risk at which it ends.
    pub until: Option<RiskBound>,
    /// The budget of executions, if there is one.
    pub runs: Option<u64>,
    /// Whether a stop was requested.
    pub stop: StopFlag,
    /// Real time since the start, and when it is over.
    pub clock: Arc<SearchClock>,
    /// The supervisor, if it is one worker of several.
    pub supervisor: Option<WorkerChannel<FuzzProtocol>>,
    /// The person, if it is alone.
    pub remarks: Remarks,
    /// Bytes that an input can have.
    pub input_bytes_max: usize,
}

impl CampaignSink {
    /// A sink that has kept nothing yet; its time begins now.
    pub fn new(config: SinkConfig) -> CampaignSink {
        CampaignSink {
            language: LiteralLanguage::of(&fozzy_instrument::languages(&config.origin.component)),
            config,
            kept: Vec::new(),
            unkept: DeferredError::default(),
            blocked: None,
            found: Vec::new(),
            looked: (0, 0),
            said_at: 0,
            looked_at: 0,
            said_executions: 0,
            unlooked: 0,
            is_settled: false,
            files_ns: 0,
            findings_ns: 0,
        }
    }

    /// Where the time of a campaign went that took `elapsed_ns`, of which the target knows a part.
    #[must_use]
    pub fn spent(&self, target: TimeSpent, elapsed_ns: u64) -> TimeSpent {
        let findings_ns = target.findings_ns + self.findings_ns;
        let spent = TimeSpent { files_ns: self.files_ns, findings_ns, ..target };
        TimeSpent { search_ns: elapsed_ns.saturating_sub(spent.total_ns()), ..spent }
    }

    /// Says it to a person, if one is there.
    fn remark(&self, text: &str) {
        if self.config.supervisor.is_none() {
            self.config.remarks.text(text);
        }
    }

    /// Reports the last finding, as it is now.
    fn report_finding(&self) {
        if let (Some(supervisor), Some(found), Some(kept)) =
            (&self.config.supervisor, self.found.last(), self.kept.last())
        {
            let unkept = self.unkept.first().filter(|_| kept.trace.as_os_str().is_empty()).map(ToString::to_string);
            supervisor.send(&WorkerEvent::Found { finding: FindingReport::of(found, kept, unkept) });
        }
    }

    /// One line: what libFuzzer and others say, in their order.
    fn say(&mut self, stats: &Stats, now: u64) {
        let since = (now - self.said_at).max(1);
        if self.config.remarks.is_live() {
            let done = stats.executions;
            let since = (done - self.said_executions, since);
            let (time_ns, found) = (self.config.time.map(|time| time.0), (stats.findings, "finding"));
            let (unit, edges) = ("execution", Some(stats.edges));
            self.config.remarks.live(
                &CampaignLine { elapsed_ns: now, time_ns, unit, done, budget: self.config.runs, since, edges, found }
                    .text(),
            );
            (self.said_at, self.said_executions) = (now, done);
            return;
        }
        let rate = (stats.executions - self.said_executions) as f64 * 1e9 / since as f64;
        self.remark(&format!(
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
    fn keep(
        &mut self,
        input: &[u8],
        path: &Path,
        collision: CollisionPolicy,
    ) -> Result<(PathBuf, PathBuf), CampaignError> {
        let ConfirmedRun { execution, plan, inputs } = self.config.confirmer.confirm(input, 0..ENTRIES_KEPT)?;
        let recording = self.config.origin.record(self.config.confirmer.session().program(), plan, &inputs, &execution);
        let trace = pipeline::write(&recording, path, collision)?;
        // libFuzzer's artifacts have no ending.
        let beside = trace.with_extension(if self.config.artifacts.is_some() { "" } else { "input" });
        self.keep_input(input, &beside)?;
        Ok((trace, beside))
    }

    fn keep_input(&self, input: &[u8], path: &Path) -> Result<(), CampaignError> {
        write_atomic(path, input, Durability::Synced)
            .map_err(|error| crate::error::at_path(ErrorKind::Store, "cannot write", path, &error))
    }

    /// Writes the inputs that are slow beside the findings.
    pub fn keep_slow(&mut self, slowest: &[(SlowestInput, Arc<[u8]>)]) -> Vec<SlowestInput> {
        let slow = slowest.iter().filter(|(told, _)| told.is_slow());
        let kept = slow.map(|(told, input)| {
            // As long as the names of findings beside it.
            let path = match &self.config.artifacts {
                None => self.config.destination.folder.join(format!("slow-unit-{:.12}", told.name)),
                Some((_, folder)) => folder.join(format!("slow-unit-{:.40}", told.name)),
            };
            let written = self.keep_input(input, &path);
            let path = self.unkept.note(written).map(|()| path.display().to_string());
            SlowestInput { path, ..told.clone() }
        });
        kept.collect()
    }

    /// What was called with `input`, which is said too.
    fn say_arguments(&self, input: &[u8]) -> Option<String> {
        let arguments = self.config.confirmer.written(input)?;
        let short: String = arguments.chars().take(ARGUMENTS_SAID).collect();
        let more = if short.len() < arguments.len() { "…" } else { "" };
        self.remark(&format!("  called with {short}{more}\n"));
        Some(arguments)
    }

    /// The file of a finding's trace: in the folder of the run, or among the artifacts of cargo-fuzz.
    fn path(&self, found: &FailureRecord) -> PathBuf {
        let digest = Digest::of(&found.input);
        match &self.config.artifacts {
            None => {
                let kind = found.verdict.signature.as_ref().map_or("failure", |signature| signature.kind.name());
                self.config.destination.folder.join(format!("{kind}-{}.fozzy", digest.short()))
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

impl FuzzObserver for CampaignSink {
    fn on_execution(&mut self, stats: &Stats) -> bool {
        if (self.config.stop)() {
            return false;
        }
        if self.unlooked > 0 {
            self.unlooked -= 1;
            return true;
        }
        let now = self.config.clock.elapsed_ns();
        // An execution can be a whole run of some seconds.
        self.unlooked = if now - self.looked_at < QUICK_NS { LOOK_EVERY - 1 } else { 0 };
        self.looked_at = now;
        if let Some(supervisor) = &self.config.supervisor {
            if now - self.said_at >= REPORT_EVERY_NS {
                self.said_at = now;
                let progress = CampaignReport::of(&self.config.subject, stats, &[], &[], "running").fuzz;
                supervisor.send(&WorkerEvent::Progress { progress });
            }
        } else if now - self.said_at >= if self.config.remarks.is_live() { LIVE_EVERY_NS } else { STATUS_EVERY_NS } {
            self.say(stats, now);
        }
        // The clock is looked at once more where that is asked for only.
        let is_met = |until: RiskBound| {
            self.config.clock.searched_ns().is_some_and(|searched| until.is_met(stats.outlook(), searched))
        };
        self.is_settled = self.config.until.is_some_and(is_met);
        !self.is_settled && self.config.time.is_none_or(|time| now < time.0)
    }

    fn defers_replay(&mut self) -> bool {
        self.config.time.is_some_and(|time| self.config.clock.elapsed_ns() > time.0 / REPLAY_SHARE)
    }

    fn on_search(&mut self) {
        self.config.clock.begin_search();
        if let Some(supervisor) = &self.config.supervisor {
            supervisor.send(&WorkerEvent::Searching);
        }
    }

    fn on_testcase(&mut self, testcase: &Testcase) -> Result<(), HarnessError> {
        let begin = self.config.clock.elapsed_ns();
        let added = self.config.corpus.add(&testcase.input, &testcase.digest);
        self.files_ns += self.config.clock.elapsed_ns() - begin;
        added.map_err(|error| {
            self.blocked = Some(error.clone());
            harness(error)
        })
    }

    /// Not for each round: with many files, a look takes long.
    fn peer_inputs(&mut self) -> Result<Vec<Vec<u8>>, HarnessError> {
        // Who is alone has no peers.
        if self.config.supervisor.is_none() {
            return Ok(Vec::new());
        }
        let now = self.config.clock.elapsed_ns();
        let (at, took) = self.looked;
        if now - at < LOOK_EVERY_NS.max(took.saturating_mul(LOOKS_SHARE)) {
            return Ok(Vec::new());
        }
        let inputs = self.config.corpus.added_by_others(self.config.input_bytes_max).map_err(harness)?;
        let done = self.config.clock.elapsed_ns();
        self.looked = (done, done - now);
        self.files_ns += done - now;
        Ok(inputs)
    }

    fn on_failure(&mut self, found: &FailureRecord) -> Result<(), HarnessError> {
        let begin = self.config.clock.elapsed_ns();
        let (path, collision) = self.config.destination.requested_or(self.kept.len(), || self.path(found));
        let title = found.verdict.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        let written = if found.is_confirmed {
            self.keep(&found.input, &path, collision)
        } else {
            Err(HarnessError::interruption().into())
        };
        let (written, unconfirmed) = match written {
            Err(error) if error.kind == ErrorKind::Interrupted => {
                let beside = path.with_extension(if self.config.artifacts.is_some() { "" } else { "input" });
                let input = self.keep_input(&found.input, &beside).map(|()| beside);
                (Err(unconfirmed_error()), input.ok())
            }
            written => (written, None),
        };
        let place = match &written {
            Ok((trace, _)) => trace.display().to_string(),
            Err(error) => format!("its trace is not kept: {}", error.message),
        };
        let unkept = || (PathBuf::new(), unconfirmed.unwrap_or_default());
        let (trace, input) = self.unkept.note(written).unwrap_or_else(unkept);
        self.remark(&format!(
            "found {title}\n  execution {}, {}, {place}\n",
            found.found_at,
            counted(found.input.len() as u64, "byte"),
        ));
        let arguments = self.say_arguments(&found.input);
        if let Some((target, _)) = &self.config.artifacts
            && !self.unkept.is_set()
        {
            self.remark(&target.lines(&input));
        }
        let shown = ShownInput::of(&found.input, self.language);
        self.kept.push(SavedFinding { trace, input, shown, arguments, smaller: None, is_minimal: false });
        self.found.push(found.clone());
        self.report_finding();
        self.findings_ns += self.config.clock.elapsed_ns() - begin;
        Ok(())
    }

    fn on_repeat(&mut self, found: &FailureRecord) {
        let Some(signature) = &found.verdict.signature else { return };
        let used_its_budget = signature.kind == FindingKind::Timeout && signature.site.starts_with("instructions");
        if found.times != TIMEOUTS_REMARKED || !used_its_budget {
            return;
        }
        let (fuel, title) = (self.config.confirmer.fuel(), signature.to_string());
        self.remark(&format!(
            "{title} was met {}, after {} instructions each: with --fuel {} the campaign gives such inputs up earlier\n",
            counted(found.times, "time"),
            grouped(fuel),
            (fuel / FUEL_DIVISOR).max(1),
        ));
    }

    fn on_unconfirmed(&mut self, input: &[u8], verdict: &Verdict) -> Result<(), HarnessError> {
        let title = verdict.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        let bytes = counted(input.len() as u64, "byte");
        self.remark(&format!("not a finding: {title} with an input of {bytes}, which a run of it does not have\n"));
        Ok(())
    }

    fn on_minimized(&mut self, smaller: &[u8], verdict: &Verdict) -> Result<(), HarnessError> {
        let begin = self.config.clock.elapsed_ns();
        let Some(kept) = self.kept.last() else { return Ok(()) };
        let path = kept.trace.with_extension("min.fozzy");
        let written = (!self.unkept.is_set()).then(|| self.keep(smaller, &path, CollisionPolicy::Overwrite));
        // Its bytes are in the report all the same.
        let (trace, input) = written.and_then(|written| self.unkept.note(written)).unwrap_or_default();
        let bytes = counted(smaller.len() as u64, "byte");
        self.remark(&format!("  minimized: {bytes}, {}\n", trace.display()));
        let (arguments, shown) = (self.say_arguments(smaller), ShownInput::of(smaller, self.language));
        if let Some(kept) = self.kept.last_mut() {
            let bytes = smaller.len() as u64;
            kept.smaller = Some(Smaller { trace, input, bytes, shown, arguments, verdict: verdict.clone() });
        }
        self.report_finding();
        self.findings_ns += self.config.clock.elapsed_ns() - begin;
        Ok(())
    }

    fn on_minimal(&mut self) {
        let Some(kept) = self.kept.last_mut().filter(|kept| !kept.trace.as_os_str().is_empty()) else { return };
        kept.is_minimal = true;
        self.report_finding();
    }
}

/// What of a corpus cannot be written ends the campaign with these words; all that was found before is on the disk.
fn harness(error: CampaignError) -> HarnessError {
    HarnessError::new(error.to_string())
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
