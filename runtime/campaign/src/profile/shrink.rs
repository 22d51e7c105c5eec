//! The smallest story that still costs what a recorded run costs.
//!
//! ```text
//! trace ─▶ measured: the baseline ─▶ passes of shrinking, each candidate measured ─▶ still as much? ─▶ smaller trace
//! ```
//!
//! Shrinking is that of failures (`fozzy-search`): a cost that holds takes the place of the failure.
//!
//! Invariants: the smallest run is recorded in the exact build, and measured by its own recording; a run that is not smaller is not written.

use crate::error::{CampaignError, ErrorKind};
use crate::maximize::{CostMeter, CostMetric};
use crate::pipeline::{self, PreparedProgram};
use crate::search_clock::SearchClock;
use crate::shrink::{self as campaign, ProgramReplayTarget, keeps_stdin};
use fozzy_check::FailureIdentity;
use fozzy_engine::{Interrupt, Session};
use fozzy_report::profile::{CostDirection, ProfileShrink, ProfileShrinkContract, ProfileShrinkSize};
use fozzy_search::shrink::{
    self, CandidateSize, Dimension, Options, ReplayTarget, ShrinkError, ShrinkProgress, ShrinkResult,
};
use fozzy_search::source_of;
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::plan::Inputs;
use fozzy_trace::{
    DecisionSource, Execution, Executor, FailureSignature, FindingKind, HarnessError, HistoryWindow, Plan, Verdict,
};
use std::path::Path;
use std::sync::Arc;

/// What is asked of a shrinking by a cost.
#[derive(Clone, Debug)]
pub struct CostShrinkRequest {
    /// What is measured.
    pub metric: CostMetric,
    /// Whether the cost is to stay as high, or as low.
    pub direction: CostDirection,
    /// How much of the cost is to stay, in percent.
    pub keep_pct: u64,
    /// Only this dimension.
    pub only: Option<Dimension>,
}

impl CostShrinkRequest {
    /// The bound that a smaller run has to keep.
    fn bound(&self, baseline: u64) -> u64 {
        let share = |pct: u64| (u128::from(baseline) * u128::from(pct)).div_ceil(100);
        let bound = match self.direction {
            CostDirection::Increase => share(self.keep_pct),
            CostDirection::Decrease => share(200 - self.keep_pct.min(100)),
        };
        u64::try_from(bound).unwrap_or(u64::MAX)
    }
}

/// Executes candidates in the build that counts; what they show is whether their cost holds.
struct CostTarget {
    session: Session,
    meter: CostMeter,
    interrupt: Interrupt,
    direction: CostDirection,
    bound: u64,
}

impl CostTarget {
    fn new(recording: &Recording, metric: &CostMetric, direction: CostDirection) -> Result<CostTarget, CampaignError> {
        let prepared = PreparedProgram::built_of_recording(recording, &metric.build())?;
        let mut session = prepared.session()?;
        session.fuel_times(crate::maximize::FUEL_TIMES);
        Ok(CostTarget { session, meter: CostMeter::new(metric), interrupt: prepared.interrupt, direction, bound: 0 })
    }

    /// The cost of a recorded run.
    fn measure(&mut self, recording: &Recording) -> Result<u64, HarnessError> {
        let source = source_of(recording);
        let execution = self.execute(&recording.plan, &recording.inputs, source, 0..0)?;
        Ok(self.meter.cost(&self.session, &execution))
    }
}

impl ReplayTarget for CostTarget {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        _: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let replanned = self.session.replan(Arc::new(plan.clone()), inputs);
        replanned.map_err(|error| HarnessError::new(error.to_string()))?;
        self.meter.begin(&mut self.session);
        self.session.execute(source, 0..u64::MAX)
    }

    fn allow_interruption(&mut self, allowed: bool) {
        self.session.interrupt_by(if allowed { self.interrupt.clone() } else { Interrupt::default() });
    }

    fn identify(&mut self, execution: &Execution) -> Option<FailureIdentity> {
        let cost = self.meter.cost(&self.session, execution);
        let holds = match self.direction {
            CostDirection::Increase => cost >= self.bound,
            CostDirection::Decrease => cost <= self.bound,
        };
        holds.then(|| FailureIdentity::of(held()))
    }
}

/// What stands for a cost that holds, where shrinking has the signature of a failure.
fn held() -> FailureSignature {
    FailureSignature { kind: FindingKind::Checker, site: "the cost holds".to_owned() }
}

/// Searches for the smallest run that keeps the cost of the recorded one, and writes its trace to `out`.
///
/// # Errors
/// When the recorded run cannot be measured or is not repeated, or its trace cannot be written.
pub fn profile_shrink(
    (path, recording): (&Path, &Recording),
    request: &CostShrinkRequest,
    (out, clock): (&Path, &Arc<SearchClock>),
    go_on: &mut dyn FnMut(&ShrinkProgress) -> bool,
) -> Result<ProfileShrink, CampaignError> {
    let mut target = CostTarget::new(recording, &request.metric, request.direction)?;
    let baseline = target.measure(recording)?;
    if baseline == 0 {
        return Err(request.metric.nothing_measured(1));
    }
    target.bound = request.bound(baseline);
    clock.bound(&target.interrupt);
    let shrunk = shrink_cost(recording, &mut target, request, go_on);
    target.interrupt.disarm();
    let shrunk = shrunk.map_err(|error| campaign::shrink_error("profile shrink", path, &error))?;
    let (expected, direction) = (target.bound, request.direction);
    let mut document = ProfileShrink {
        schema_version: ProfileShrink::SCHEMA.to_owned(),
        status: ProfileShrink::NOTHING_SMALLER.to_owned(),
        run: path.display().to_string(),
        trace: path.display().to_string(),
        out_trace: None,
        artifacts_dir: None,
        metric: request.metric.profile_word(),
        unit: request.metric.unit().to_owned(),
        direction,
        minimize: request.only.map_or("all", dimension_word).to_owned(),
        baseline,
        after: None,
        preserved: None,
        contract: ProfileShrinkContract { expected, direction },
        reason: None,
        before_size: size(shrunk.before),
        after_size: size(shrunk.after),
        executions: shrunk.tries,
        minimal: shrunk.is_minimal,
    };
    if shrunk.before == shrunk.after {
        let why = if shrunk.is_minimal {
            "no part of the run can be left out"
        } else {
            "the time was over before anything smaller was found"
        };
        let bound = format!(
            "{} of {} {}",
            request.metric.written(expected),
            request.metric.written(baseline),
            match direction {
                CostDirection::Increase => "at least are kept",
                CostDirection::Decrease => "at most are allowed",
            }
        );
        document.reason = Some(format!("{why}, as long as {bound}"));
        return Ok(document);
    }
    let mut whole = ProgramReplayTarget::whole(recording, &PreparedProgram::of_recording(recording)?)?;
    let (smallest, _) = whole.record(recording, &shrunk.smallest)?;
    let after = target.measure(&smallest)?;
    let holds = match direction {
        CostDirection::Increase => after >= expected,
        CostDirection::Decrease => after <= expected,
    };
    if !holds {
        let message = format!("{}: the smaller run costs {after} when it is recorded, not {expected}", path.display());
        return Err(CampaignError::new(ErrorKind::Replay, message));
    }
    let written = pipeline::write(&smallest, out, CollisionPolicy::Overwrite)?;
    "ok".clone_into(&mut document.status);
    document.artifacts_dir = written.parent().map(|folder| folder.display().to_string());
    document.out_trace = Some(written.display().to_string());
    (document.after, document.preserved) = (Some(after), Some(true));
    Ok(document)
}

fn shrink_cost(
    recording: &Recording,
    target: &mut CostTarget,
    request: &CostShrinkRequest,
    go_on: &mut dyn FnMut(&ShrinkProgress) -> bool,
) -> Result<ShrinkResult, ShrinkError> {
    let mut wanted = recording.clone();
    let Verdict { signature, .. } = &mut wanted.outcome.verdict;
    *signature = Some(held());
    let keeps_stdin = keeps_stdin(recording);
    let options = Options { only: request.only, aggressive: false, keeps_stdin, shortest: false };
    shrink::shrink(&wanted, &mut [target], options, go_on)
}

const fn dimension_word(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Input => "input",
        Dimension::Schedule => "schedule",
        Dimension::Faults => "faults",
    }
}

const fn size(size: CandidateSize) -> ProfileShrinkSize {
    let CandidateSize { steps, faults, strikes, decisions, input_bytes, machines: _ } = size;
    ProfileShrinkSize { steps, faults, strikes, decisions, input_bytes }
}
