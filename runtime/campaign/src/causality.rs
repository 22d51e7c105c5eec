//! When a recorded failure became likely, and how often it comes at all.
//!
//! ```text
//! trace ─▶ plan, cut after the failing step ─▶ moments × continuations, in jobs ─▶ points ─▶ turn ─▶ the call that took it
//! trace ─▶ plan, whole ──────────────────────▶ fresh runs, in jobs ───────────────▶ findability
//!                                            └─ explorations by fresh seeds ───────▶ guided steps
//! ```
//!
//! Invariant: the results depend on the trace, the numbers and the seed; not on the jobs.

use crate::error::{CampaignError, ErrorKind};
use crate::explore::guided_rate::{GuidedCase, GuidedRequest};
use crate::pipeline::{PreparedProgram, session_of};
use crate::suite::jobs::in_order;
use fozzy_check::judge;
use fozzy_engine::Session;
use fozzy_report::{CausalityDocument, CausalityPoint, CausalityTurn, Findability, Probability};
use fozzy_search::causality::{CausalitySample, causality, continuation};
use fozzy_search::stats::{Proportion, clean_runs};
use fozzy_search::{Branch, source_of};
use fozzy_trace::file::Recording;
use fozzy_trace::plan::{KeptSequence, ScenarioKind, ScenarioPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Aside, DecisionSource, Executor, FailureSignature, HistoryEntry, Plan, Seed, StopPoint};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The moment of fresh runs, which no recording has: their seeds are those of no continuation.
const FRESH: u64 = u64::MAX;

fn chance(rate: Proportion) -> Probability {
    let (low, high) = rate.interval();
    Probability { failed: rate.times, runs: rate.of, chance: rate.share(), low, high }
}

/// A recorded failure that is executed many times.
pub struct FailingRun<'a> {
    recording: &'a Recording,
    /// Its failure.
    pub signature: FailureSignature,
    prepared: PreparedProgram,
    jobs: usize,
}

impl<'a> FailingRun<'a> {
    /// The failure of the trace at `path`, which must come again.
    pub fn of(path: &Path, recording: &'a Recording, jobs: u32) -> Result<FailingRun<'a>, CampaignError> {
        let refused = |what: &str| CampaignError::new(ErrorKind::Target, format!("{}: {what}", path.display()));
        let Some(signature) = recording.outcome.verdict.signature.clone() else {
            return Err(
                refused("the recorded run passed: there is no failure to look for").hint("fozzy causality last-fail")
            );
        };
        if !recording.observations.is_empty() {
            let what = "it was recorded with the real computer, which cannot answer a continuation";
            return Err(refused(what).hint("record it with the virtual and scripted backends"));
        }
        let prepared = PreparedProgram::of_recording(recording)?;
        let case = FailingRun { recording, signature, prepared, jobs: jobs as usize };
        if !case.fails(&mut case.session(&recording.plan)?, source_of(recording))? {
            let again = refused("the recorded failure is not reproduced");
            return Err(again.hint(format!("fozzy replay {}", fozzy_report::shell_path(path))));
        }
        Ok(case)
    }

    /// When it became likely: `moments` moments, `runs` continuations from each.
    pub fn causality(
        &self,
        path: &Path,
        seed: Seed,
        moments: u64,
        runs: u32,
    ) -> Result<CausalityDocument, CampaignError> {
        let plan = self.as_far_as_it_went()?;
        let count = |moments: &[u64]| -> Result<Vec<CausalitySample>, CampaignError> {
            let numbers = 0..u64::from(runs);
            let items: Vec<(u64, u64)> =
                moments.iter().flat_map(|at| numbers.clone().map(move |number| (*at, number))).collect();
            let failed = self.count(&plan, &items, |(at, number)| {
                Box::new(Branch::new(self.recording, *at, continuation(seed, *at, *number)))
            })?;
            let of_moment = |(at, failed): (&u64, &[bool])| {
                let times = failed.iter().filter(|failed| **failed).count() as u64;
                CausalitySample { at: *at, failed: Proportion { times, of: failed.len() as u64 } }
            };
            Ok(moments.iter().zip(failed.chunks(runs as usize)).map(of_moment).collect())
        };
        let (points, turn) = causality(self.recording.outcome.decisions, moments, count)?;
        let turn = match turn {
            None => None,
            Some(turn) => {
                let DecisionPlace { call, fault, position, .. } = self.taken(turn.decision)?;
                let (decision, clear) = (turn.decision, turn.is_clear());
                Some(CausalityTurn {
                    decision,
                    clear,
                    before: chance(turn.before),
                    after: chance(turn.after),
                    call,
                    fault,
                    position,
                })
            }
        };
        Ok(CausalityDocument {
            schema_version: "fozzy.causality.v1".to_owned(),
            trace: path.display().to_string(),
            signature: self.signature.clone(),
            decisions: self.recording.outcome.decisions,
            machines: fozzy_report::MachineNames::of(&self.recording.plan).list(),
            points: points
                .into_iter()
                .map(|point| CausalityPoint { decision: point.at, failed: chance(point.failed) })
                .collect(),
            turn,
            findability: self.findability(seed, runs, None)?,
            svg: None,
        })
    }

    fn session(&self, plan: &Plan) -> Result<Session, CampaignError> {
        self.prepared.session_under(plan, &self.recording.inputs)
    }

    fn fails(&self, session: &mut Session, source: Box<dyn DecisionSource>) -> Result<bool, CampaignError> {
        let execution = session.execute(source, 0..0)?;
        Ok(judge(&execution).signature.as_ref() == Some(&self.signature))
    }

    /// The plan cut after the failing step: a continuation that fails later is another failure.
    fn as_far_as_it_went(&self) -> Result<Plan, CampaignError> {
        let mut plan = self.recording.plan.clone();
        let execution = self.session(&plan)?.execute(source_of(self.recording), 0..0)?;
        let position = execution.facts.scenario.as_ref().map(|scenario| scenario.position);
        let (Some(position), Some(scenario)) = (position, &plan.scenario) else { return Ok(plan) };
        let (Some(last), true) = (position.sequence, scenario.only.is_empty()) else { return Ok(plan) };
        let flows = scenario.flows;
        let to = |sequence| if sequence == last { position.step.map_or(flows, |step| step + 1) } else { flows };
        let kept = |sequence| KeptSequence { kind: ScenarioKind::Stateful, sequence, steps: vec![(0, to(sequence))] };
        plan.scenario = Some(ScenarioPlan { only: (0..=last).map(kept).collect(), ..scenario.clone() });
        // A scenario with sequences of another kind does not fail under this plan; it keeps its whole plan.
        let same = self.fails(&mut self.session(&plan)?, source_of(self.recording))?;
        Ok(if same { plan } else { self.recording.plan.clone() })
    }

    /// Which of the items fail so.
    fn count<T: Sync>(
        &self,
        plan: &Plan,
        items: &[T],
        source: impl Fn(&T) -> Box<dyn DecisionSource> + Sync,
    ) -> Result<Vec<bool>, CampaignError> {
        // One session serves a whole stretch of them.
        let stretches: Vec<&[T]> = items.chunks(items.len().div_ceil(self.jobs * 4).max(1)).collect();
        let work = |stretch: &&[T]| -> Result<Vec<bool>, CampaignError> {
            let mut session = self.session(plan)?;
            stretch.iter().map(|item| self.fails(&mut session, source(item))).collect()
        };
        let done = in_order(&stretches, self.jobs, Result::is_err, work, |_| {});
        let done =
            done.map_err(|error| CampaignError::new(ErrorKind::Harness, format!("cannot start a job: {error}")))?;
        let mut failed = Vec::new();
        for stretch in done.into_iter().flatten() {
            failed.extend(stretch?);
        }
        Ok(failed)
    }

    /// How often fresh runs fail so, and how many steps explorations take until they do; those are made if `guided` says so of the
    /// number of fresh runs that fail.
    pub fn findability(
        &self,
        seed: Seed,
        runs: u32,
        guided: Option<&dyn Fn(u64) -> Option<GuidedRequest>>,
    ) -> Result<Findability, CampaignError> {
        let numbers: Vec<u64> = (0..u64::from(runs)).collect();
        let fresh =
            |number: &u64| Box::new(SeededSource::new(continuation(seed, FRESH, *number))) as Box<dyn DecisionSource>;
        let failed = self.count(&self.recording.plan, &numbers, fresh)?;
        let rate =
            Proportion { times: failed.iter().filter(|failed| **failed).count() as u64, of: failed.len() as u64 };
        let guided = match guided.and_then(|guided| guided(rate.times)) {
            None => None,
            Some(request) => {
                let case = GuidedCase { prepared: &self.prepared, signature: &self.signature, jobs: self.jobs };
                Some(case.search(seed, &request)?)
            }
        };
        Ok(Findability {
            guided,
            failed: chance(rate),
            at_least: rate.at_least(),
            at_most: rate.at_most(),
            clean_runs: clean_runs(rate.share()),
            clean_runs_cautious: clean_runs(rate.at_least()),
        })
    }

    /// The call that took a decision, the fault that struck it, and where the scenario was.
    fn taken(&self, decision: u64) -> Result<DecisionPlace, CampaignError> {
        let mut session = session_of(self.recording)?;
        let seen: Arc<Mutex<DecisionPlace>> = Arc::default();
        let kept = Arc::clone(&seen);
        session.follow(Box::new(move |entry| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).see(entry);
        }));
        let look = session.look(source_of(self.recording), StopPoint::Decision(decision), 0..u64::MAX)?;
        let position = look.world.facts.scenario.as_ref().and_then(|scenario| scenario.place());
        let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(DecisionPlace { position, ..seen })
    }
}

/// What is known of where a decision was taken.
#[derive(Debug, Default)]
struct DecisionPlace {
    call: Option<HistoryEntry>,
    fault: Option<String>,
    position: Option<String>,
    /// The last strike of a fault, and the number of the call that it struck.
    struck: Option<(u64, String)>,
}

impl DecisionPlace {
    /// A strike comes before the call that it strikes.
    fn see(&mut self, entry: HistoryEntry) {
        if Aside::of(&entry) == Some(Aside::Fault) {
            self.struck = Some((entry.index, entry.asked));
        } else if entry.decision {
            let struck = self.struck.take().filter(|(call, _)| *call == entry.index);
            self.fault = struck.map(|(_, fault)| fault);
            self.call = Some(entry);
        }
    }
}
