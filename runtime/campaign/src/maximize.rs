//! Searches for the run of a program that costs most, and records it.
//!
//! ```text
//! explore --maximize ─▶ answers ─┐                                                ┌─▶ worst run, recorded: replays, shrinks, has a profile
//! fuzz --maximize ────▶ bytes ───┴─▶ whole runs in the build that counts ─▶ cost ─┴─▶ failures met on the way, recorded
//! ```
//!
//! Costs are those that `fozzy profile` shows for the recorded run: the same build, the same counters.
//!
//! Invariants: a cost is a function of program, plan and input; what is reported was recorded by a run in the exact build.
//! Not here: which input is tried next (`fozzy-search`), flags.

mod cost;
mod metric;

pub(crate) use cost::{CostMeter, FUEL_TIMES};
pub use metric::CostMetric;

use crate::error::{CampaignError, ErrorKind};
use crate::explore::setup::{ExplorationSetup, ExploreRun};
use crate::explore::stateful_target::PathConfirmer;
use crate::fuzz::confirmer::{ConfirmedRun, FindingConfirmer};
use crate::fuzz::setup::{CampaignSetup, FuzzRun};
use crate::options::StopFlag;
use crate::pipeline::{ENTRIES_KEPT, PreparedProgram, RecordingOrigin};
use crate::progress::{CampaignLine, LIVE_EVERY_NS, QUIET_EVERY_NS};
use crate::remarks::Remarks;
use crate::search_clock::{SearchClock, nothing_tried};
use crate::store::write_trace_as;
use crate::trace_destination::TraceDestination;
use fozzy_check::judge;
use fozzy_engine::Session;
use fozzy_report::{MaximizeFailure, MaximizePoint, MaximizeSummary, RunMode};
use fozzy_search::explore::AnswerLog;
use fozzy_search::maximize::{
    AnswerSequence, AnswerSpace, ByteSpace, InputSpace, MaximizeEnd, MaximizeOptions, MaximizeStats, Maximizer,
    MeasuredRun, MeasuredTarget,
};
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::Durability;
use fozzy_trace::{Digest, Duration, Executor, FailureSignature, HarnessError, Seed, Verdict};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Failures that are recorded, each of another signature.
const FAILURES_MAX: usize = 16;

/// What a search for costs came to.
pub struct Maximization {
    /// Its numbers.
    pub summary: MaximizeSummary,
    /// The run that costs most.
    pub worst: Recording,
    /// The failures that were met, in the order of the summary.
    pub failures: Vec<Recording>,
}

/// When a search ends, and who hears how it goes.
struct SearchBounds {
    options: MaximizeOptions,
    clock: Arc<SearchClock>,
    time: Option<Duration>,
    stop: StopFlag,
    remarks: Remarks,
    destination: TraceDestination,
}

impl ExplorationSetup {
    /// Searches, instead of exploring, for the story that costs most.
    ///
    /// # Errors
    /// When the machine, not the program, fails, nothing is measured, or a trace cannot be written.
    pub fn maximize(self, metric: &CostMetric, run: ExploreRun) -> Result<Maximization, CampaignError> {
        let (options, prepared, mut confirmer) = (self.options, self.prepared, self.confirmer);
        let steps = prepared.planned.plan.scenario.as_ref().map_or(1, |own| own.flows);
        let (seed, toggle) = (options.seed, options.fault_toggle_prob);
        let mut target = self.clock.excluding(|| StoryTarget::new(&prepared, metric, seed, toggle))?;
        let bounds = SearchBounds {
            options: MaximizeOptions { seed, runs_max: options.runs_max },
            clock: self.clock,
            time: self.time,
            stop: self.stop,
            remarks: run.remarks,
            destination: run.destination,
        };
        let found = search(AnswerSpace, &mut target, &mut std::iter::empty(), &bounds, metric)?;
        prepared.interrupt.disarm();
        let record = |confirmer: &mut PathConfirmer, story: &AnswerSequence| confirmer.record(&story.path(steps));
        conclude(found, target.meter, metric, &bounds, &mut |story| record(&mut confirmer, story))
    }
}

impl CampaignSetup<'_> {
    /// Searches, instead of fuzzing, for the input that costs most.
    ///
    /// # Errors
    /// As for [`ExplorationSetup::maximize`].
    pub fn maximize(self, metric: &CostMetric, run: FuzzRun) -> Result<Maximization, CampaignError> {
        let origin = self.prepared.origin(self.seed, RunMode::Fuzz);
        let mut target = self.clock.excluding(|| InputTarget::new(&self.prepared, &self.entry, self.seed, metric))?;
        let FuzzRun { mut seeds, dictionary, search: options, destination, remarks, .. } = run;
        let bounds = SearchBounds {
            options: MaximizeOptions { seed: self.seed, runs_max: options.executions_max },
            clock: self.clock,
            time: self.time,
            stop: self.stop,
            remarks,
            destination,
        };
        let space = ByteSpace::new(options.input_bytes_max, dictionary, options.only);
        let found = search(space, &mut target, &mut seeds, &bounds, metric)?;
        self.prepared.interrupt.disarm();
        let mut confirmer = self.confirmer;
        conclude(found, target.meter, metric, &bounds, &mut |input| record_input(&mut confirmer, &origin, input))
    }
}

fn record_input(
    confirmer: &mut FindingConfirmer,
    origin: &RecordingOrigin,
    input: &[u8],
) -> Result<Recording, CampaignError> {
    let ConfirmedRun { execution, plan, inputs } = confirmer.confirm(input, 0..ENTRIES_KEPT)?;
    Ok(origin.record(confirmer.session().program(), plan, &inputs, &execution))
}

/// A failure that was met in the build that counts; its recording says what it is.
struct MetFailure<I> {
    signature: FailureSignature,
    input: I,
}

/// What is told of a run beside its cost.
struct Sightings<I> {
    failures: Vec<MetFailure<I>>,
    failed: u64,
}

impl<I: Clone> Sightings<I> {
    fn see(&mut self, verdict: &Verdict, input: &I) {
        let Some(signature) = &verdict.signature else { return };
        self.failed += 1;
        let is_known = self.failures.iter().any(|met| met.signature == *signature);
        if !is_known && self.failures.len() < FAILURES_MAX {
            self.failures.push(MetFailure { signature: signature.clone(), input: input.clone() });
        }
    }
}

/// Whole runs whose answers are searched.
struct StoryTarget {
    session: Session,
    meter: CostMeter,
    seed: Seed,
    toggle: f64,
    seen: Sightings<AnswerSequence>,
}

impl StoryTarget {
    fn new(
        prepared: &PreparedProgram,
        metric: &CostMetric,
        seed: Seed,
        toggle: f64,
    ) -> Result<StoryTarget, CampaignError> {
        let mut session = prepared.rebuilt(&metric.build())?.session()?;
        session.fuel_times(cost::FUEL_TIMES);
        if let Some(stdin) = &prepared.planned.stdin {
            session.read_from(Arc::clone(stdin));
        }
        let toggle = if prepared.planned.plan.faults.is_empty() { 0.0 } else { toggle };
        let seen = Sightings { failures: Vec::new(), failed: 0 };
        Ok(StoryTarget { session, meter: CostMeter::new(metric), seed, toggle, seen })
    }
}

impl MeasuredTarget<AnswerSequence> for StoryTarget {
    fn measure(
        &mut self,
        input: &AnswerSequence,
        run: u64,
    ) -> Result<Option<MeasuredRun<AnswerSequence>>, HarnessError> {
        let log = AnswerLog::default();
        self.meter.begin(&mut self.session);
        let execution = self.session.execute(Box::new(input.source(self.seed, run, self.toggle, &log)), 0..u64::MAX)?;
        let Some(input) = AnswerSequence::of(&log) else { return Ok(None) };
        self.seen.see(&judge(&execution), &input);
        Ok(Some(self.meter.measured(&self.session, &execution, input)))
    }
}

/// Runs of inputs that are bytes.
struct InputTarget {
    runs: FindingConfirmer,
    meter: CostMeter,
    seen: Sightings<Vec<u8>>,
}

impl InputTarget {
    fn new(
        prepared: &PreparedProgram,
        entry: &fozzy_engine::EntryPoint,
        seed: Seed,
        metric: &CostMetric,
    ) -> Result<InputTarget, CampaignError> {
        let built = PreparedProgram::to_call(prepared.loaded.clone(), prepared.planned.clone(), &metric.build())?;
        let built = PreparedProgram { interrupt: prepared.interrupt.clone(), ..built };
        let mut runs = FindingConfirmer::new(&built, entry, seed)?;
        runs.session_mut().fuel_times(cost::FUEL_TIMES);
        let seen = Sightings { failures: Vec::new(), failed: 0 };
        Ok(InputTarget { runs, meter: CostMeter::new(metric), seen })
    }
}

impl MeasuredTarget<Vec<u8>> for InputTarget {
    fn measure(&mut self, input: &Vec<u8>, _: u64) -> Result<Option<MeasuredRun<Vec<u8>>>, HarnessError> {
        self.meter.begin(self.runs.session_mut());
        let ConfirmedRun { execution, .. } = self.runs.execute(input, 0..u64::MAX)?;
        self.seen.see(&judge(&execution), input);
        Ok(Some(self.meter.measured(self.runs.session(), &execution, input.clone())))
    }
}

/// Hands out what was seen beside costs.
trait FailureLog<I> {
    fn take(&mut self) -> Sightings<I>;
}

impl FailureLog<AnswerSequence> for StoryTarget {
    fn take(&mut self) -> Sightings<AnswerSequence> {
        std::mem::replace(&mut self.seen, Sightings { failures: Vec::new(), failed: 0 })
    }
}

impl FailureLog<Vec<u8>> for InputTarget {
    fn take(&mut self) -> Sightings<Vec<u8>> {
        std::mem::replace(&mut self.seen, Sightings { failures: Vec::new(), failed: 0 })
    }
}

/// A search that has ended.
struct EndedSearch<I> {
    summary: MaximizeSummary,
    best: I,
    seen: Sightings<I>,
}

fn search<S, T>(
    space: S,
    target: &mut T,
    first: &mut dyn Iterator<Item = S::Input>,
    bounds: &SearchBounds,
    metric: &CostMetric,
) -> Result<EndedSearch<S::Input>, CampaignError>
where
    S: InputSpace,
    T: MeasuredTarget<S::Input> + FailureLog<S::Input>,
{
    let mut search = Maximizer::new(space, bounds.options);
    let mut said = (0, 0);
    let ended = search.run(target, first, &mut |stats| {
        let now = bounds.clock.elapsed_ns();
        let every = if bounds.remarks.is_live() { LIVE_EVERY_NS } else { QUIET_EVERY_NS };
        if now - said.0 >= every {
            say(bounds, metric, stats, now, said);
            said = (now, stats.runs);
        }
        !(bounds.stop)() && bounds.time.is_none_or(|time| now < time.0)
    })?;
    bounds.remarks.live("");
    let Some((best, size)) = search.best() else { return Err(nothing_tried("the program")) };
    let (stats, growth, seen) = (search.stats(), search.growth(), target.take());
    let median = search.usual();
    let summary = MaximizeSummary {
        metric: metric.to_string(),
        unit: metric.unit().to_owned(),
        runs: stats.runs,
        best: stats.best,
        best_at: stats.best_at,
        size,
        median,
        ratio: median.filter(|median| *median > 0).map(|median| stats.best as f64 / median as f64),
        improvements: stats.improvements,
        growth: growth.points.iter().map(|point| MaximizePoint { size: point.size, cost: point.cost }).collect(),
        exponent: growth.exponent,
        trace_path: String::new(),
        failed: seen.failed,
        failures: Vec::new(),
        ended: word(ended, bounds).to_owned(),
        warnings: Vec::new(),
    };
    Ok(EndedSearch { summary, best: best.clone(), seen })
}

fn say(bounds: &SearchBounds, metric: &CostMetric, stats: &MaximizeStats, now: u64, said: (u64, u64)) {
    let line = CampaignLine {
        elapsed_ns: now,
        time_ns: bounds.time.map(|time| time.0),
        unit: "run",
        done: stats.runs,
        budget: Some(bounds.options.runs_max).filter(|runs| *runs < u64::MAX),
        since: (stats.runs.saturating_sub(said.1), now - said.0),
        edges: None,
        found: (stats.improvements, "improvement"),
    };
    let text = format!("{}, most {}", line.text(), metric.written(stats.best));
    if bounds.remarks.is_live() {
        bounds.remarks.live(&text);
    } else {
        bounds.remarks.text(&format!("{text}\n"));
    }
}

fn word(ended: MaximizeEnd, bounds: &SearchBounds) -> &'static str {
    match ended {
        MaximizeEnd::Runs => "runs",
        MaximizeEnd::Stopped if (bounds.stop)() => "interrupted",
        MaximizeEnd::Stopped => "time",
        MaximizeEnd::Limit => "limit",
    }
}

/// Records the worst run and the failures, and writes their traces.
fn conclude<I>(
    found: EndedSearch<I>,
    meter: CostMeter,
    metric: &CostMetric,
    bounds: &SearchBounds,
    record: &mut dyn FnMut(&I) -> Result<Recording, CampaignError>,
) -> Result<Maximization, CampaignError> {
    let EndedSearch { mut summary, best, seen } = found;
    if summary.best == 0 {
        return Err(metric.nothing_measured(summary.runs));
    }
    let write = |number: usize, recording: &Recording, kind: &str| -> Result<PathBuf, CampaignError> {
        let bytes = recording.to_bytes().map_err(|error| CampaignError::new(ErrorKind::Trace, error.to_string()))?;
        let name = format!("{kind}-{}.fozzy", Digest::of(&bytes).short());
        let (path, collision) = bounds.destination.of(number, Path::new(&name));
        write_trace_as(&path, &bytes, collision, Durability::Synced)
    };
    let worst = record(&best)?;
    summary.trace_path = write(0, &worst, "worst")?.display().to_string();
    let mut failures: Vec<Recording> = Vec::new();
    for met in &seen.failures {
        let recording = record(&met.input)?;
        // What the exact build says is what it is: with counters in it, a budget ends a run elsewhere.
        let Some(signature) = recording.outcome.verdict.signature.clone() else { continue };
        let is_known = |known: &Recording| known.outcome.verdict.signature.as_ref() == Some(&signature);
        if failures.iter().any(is_known) {
            continue;
        }
        let path = write(failures.len() + 1, &recording, signature.kind.name())?;
        summary.failures.push(MaximizeFailure { signature, trace_path: path.display().to_string() });
        failures.push(recording);
    }
    summary.warnings = meter.warnings();
    if !crate::profile::starved(&worst).is_empty() {
        summary.warnings.push(format!(
            "the worst run was counted under a larger budget of instructions; the recorded one used its own up, and costs less than is \
             said: `fozzy profile top {}` has its costs, and a higher --fuel lets it end",
            fozzy_report::shell_word(&summary.trace_path)
        ));
    }
    Ok(Maximization { summary, worst, failures })
}
