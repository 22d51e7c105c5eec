//! How many guided steps a recorded failure takes: explorations by fresh seeds, in memory, each until it meets the failure.
//!
//! ```text
//! recording ─▶ program and plan ─┬─ seed 1: coverage_guided ─▶ the same signature after 812 steps
//!                                ├─ seed 2: ─────────────────▶ after 1,204 steps
//!                                └─ seed 3: ─────────────────▶ not within 20,000 steps
//! ```
//!
//! Invariant: the result depends on the recording, the seeds and the bound; not on the clock, nor on the jobs.

use super::setup::{ExploredProgram, explored};
use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::PreparedProgram;
use crate::suite::jobs::in_order;
use fozzy_report::GuidedFindability;
use fozzy_search::FailureRecord;
use fozzy_search::causality::continuation;
use fozzy_search::explore::{
    AnswerLog, DecisionPath, Exploration, ExplorationEnd, ExplorationObserver, FirstPaths, Options, Stats,
    StopCondition, strategy,
};
use fozzy_trace::plan::ScenarioPlan;
use fozzy_trace::{FailureSignature, HarnessError, Seed};

/// The number from which the seeds of explorations are derived, which no continuation of a recording has.
const GUIDED: u64 = u64::MAX - 1;
/// The strategy that guides.
const STRATEGY: &str = "coverage_guided";

/// Steps of an exploration, and runs of one of a program, unless the request says it.
const STEPS_MAX: u64 = 20_000;
const RUNS_MAX: u64 = 1_000;

/// How far explorations go.
#[derive(Clone, Debug)]
pub struct GuidedRequest {
    /// Explorations, each with a seed of its own.
    pub seeds: u32,
    /// Steps of each, at the most; of a program that has no steps, runs. Without it, what takes some seconds each.
    pub steps_max: Option<u64>,
    /// Probabilities and the length of runs, as the project has them.
    pub options: Options,
}

/// A failure that is searched for again.
pub(crate) struct GuidedCase<'a> {
    pub(crate) prepared: &'a PreparedProgram,
    pub(crate) signature: &'a FailureSignature,
    pub(crate) jobs: usize,
}

/// Ends an exploration at its budget of steps.
struct StepBound(u64);

impl ExplorationObserver for StepBound {
    fn on_step(&mut self, stats: &Stats) -> bool {
        stats.steps < self.0
    }

    fn on_failure(&mut self, _: &FailureRecord<DecisionPath>) {}
}

impl GuidedCase<'_> {
    /// Searches once for each seed.
    pub(crate) fn search(&self, seed: Seed, request: &GuidedRequest) -> Result<GuidedFindability, CampaignError> {
        let mut prepared = self.prepared.clone();
        let mut options = Options { stop: StopCondition::FirstFinding, ..request.options.clone() };
        let is_program = prepared.is_explored_whole();
        if is_program {
            (options.is_whole_run, options.steps_per_run, options.steps_max) = (true, 1, 2);
        } else {
            let recorded = prepared.planned.plan.scenario.take().unwrap_or_default();
            match prepared.loaded.scenario {
                // A scenario file ends after its last step.
                Some(_) => (options.steps_per_run, options.steps_max) = (recorded.flows, recorded.flows),
                None => options.steps_per_run = options.steps_per_run.max(recorded.flows),
            }
            prepared.planned.plan.scenario = Some(ScenarioPlan::all(1, options.steps_per_run));
        }
        let steps_max = request.steps_max.unwrap_or(if is_program { RUNS_MAX } else { STEPS_MAX });
        let numbers: Vec<u64> = (0..u64::from(request.seeds)).collect();
        let work = |number: &u64| {
            let options = Options { seed: continuation(seed, GUIDED, *number), ..options.clone() };
            self.steps(&prepared, options, steps_max)
        };
        let done = in_order(&numbers, self.jobs, Result::is_err, work, |_| {});
        let done =
            done.map_err(|error| CampaignError::new(ErrorKind::Harness, format!("cannot start a job: {error}")))?;
        let steps: Vec<Option<u64>> = done.into_iter().flatten().collect::<Result<_, _>>()?;
        let mut found: Vec<u64> = steps.iter().flatten().copied().collect();
        found.sort_unstable();
        // Those that did not meet it took more than any that did.
        let all: Vec<Option<u64>> =
            found.iter().copied().map(Some).chain(steps.iter().copied().filter(Option::is_none)).collect();
        Ok(GuidedFindability {
            strategy: STRATEGY.to_owned(),
            unit: if is_program { "runs" } else { "steps" }.to_owned(),
            steps_max,
            seeds: steps.len() as u64,
            found: found.len() as u64,
            median: all.get(all.len().saturating_sub(1) / 2).copied().flatten(),
            least: found.first().copied(),
            most: found.last().copied(),
            steps,
        })
    }

    /// Steps until the failure is met; `None` when it is not.
    fn steps(&self, prepared: &PreparedProgram, options: Options, most: u64) -> Result<Option<u64>, CampaignError> {
        let row = strategy(STRATEGY).ok_or_else(|| HarnessError::new(format!("there is no `{STRATEGY}`")))?;
        let start = AnswerLog::default();
        let ExploredProgram { mut target, .. } = explored(prepared, &options, &start)?;
        let mut exploration = Exploration::new(options, row, &start);
        loop {
            let ended =
                exploration.run(&mut *target, FirstPaths::Found(&mut std::iter::empty()), &mut StepBound(most))?;
            let is_met = |found: &FailureRecord<DecisionPath>| found.verdict.signature.as_ref() == Some(self.signature);
            let steps = exploration.stats().steps;
            if exploration.findings().all().iter().any(is_met) {
                return Ok((steps <= most).then_some(steps));
            }
            // Another failure is not the one that is looked for.
            if ended != ExplorationEnd::FirstFailure || steps >= most {
                return Ok(None);
            }
        }
    }
}
