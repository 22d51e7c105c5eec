//! `fozzy causality` and `fozzy findability`: when a failure became likely, and how often it comes at all.
//!
//! ```text
//! trace ─▶ plan, cut after the failing step ─▶ moments × continuations, in jobs ─▶ points ─▶ turn ─▶ the call that took it
//! trace ─▶ plan, whole ──────────────────────▶ fresh runs, in jobs ───────────────▶ findability
//! ```
//!
//! Invariant: the results depend on the trace, the numbers and the seed; not on the jobs.

use super::Context;
use super::run::seed;
use crate::args::{CausalityArgs, FindabilityArgs};
use crate::error::{CliError, at_path};
use fozzy_campaign::pipeline::session_of;
use fozzy_campaign::selector;
use fozzy_campaign::suite::jobs::in_order;
use fozzy_campaign::target;
use fozzy_check::judge;
use fozzy_engine::{Program, Session};
use fozzy_report::{
    CausalityDocument, CausalityPoint, CausalityTurn, Findability, FindabilityDocument, Probability, causality_lines,
    causality_svg, findability_lines,
};
use fozzy_search::causality::{CausalitySample, causality as search, continuation};
use fozzy_search::stats::{Proportion, clean_runs};
use fozzy_search::{Branch, source_of};
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::{Durability, write_atomic};
use fozzy_trace::plan::{KeptSequence, ScenarioKind, ScenarioPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionSource, Executor, FailureSignature, HistoryEntry, Plan, Seed, StopPoint};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

/// The moment of fresh runs, which no recording has: their seeds are those of no continuation.
const FRESH: u64 = u64::MAX;

pub(crate) fn causality(context: &Context, args: &CausalityArgs) -> Result<ExitCode, CliError> {
    let (path, recording) = selector::recording(&args.trace, &context.runs)?;
    let case = RecordedFailure::of(&path, &recording, args.jobs)?;
    let seed = seed(context, args.seed);
    let plan = case.as_far_as_it_went()?;
    let count = |moments: &[u64]| -> Result<Vec<CausalitySample>, CliError> {
        let numbers = 0..u64::from(args.runs);
        let items: Vec<(u64, u64)> =
            moments.iter().flat_map(|at| numbers.clone().map(move |number| (*at, number))).collect();
        let failed = case.count(&plan, &items, |(at, number)| {
            Box::new(Branch::new(&recording, *at, continuation(seed, *at, *number)))
        })?;
        let of_moment = |(at, failed): (&u64, &[bool])| {
            let times = failed.iter().filter(|failed| **failed).count() as u64;
            CausalitySample { at: *at, failed: Proportion { times, of: failed.len() as u64 } }
        };
        Ok(moments.iter().zip(failed.chunks(args.runs as usize)).map(of_moment).collect())
    };
    let (points, turn) = search(recording.outcome.decisions, args.moments.into(), count)?;
    let turn = match turn {
        None => None,
        Some(turn) => {
            let (call, position) = case.taken(turn.decision)?;
            let (decision, clear) = (turn.decision, turn.is_clear());
            Some(CausalityTurn {
                decision,
                clear,
                before: chance(turn.before),
                after: chance(turn.after),
                call,
                position,
            })
        }
    };
    let mut document = CausalityDocument {
        schema_version: "fozzy.causality.v1".to_owned(),
        trace: path.display().to_string(),
        signature: case.signature.clone(),
        decisions: recording.outcome.decisions,
        points: points
            .into_iter()
            .map(|point| CausalityPoint { decision: point.at, failed: chance(point.failed) })
            .collect(),
        turn,
        findability: case.findability(seed, args.runs)?,
        svg: None,
    };
    if let Some(file) = &args.svg {
        let svg = causality_svg(&document);
        write_atomic(file, svg.as_bytes(), Durability::Synced)
            .map_err(|error| at_path("store", "cannot write", file, &error))?;
        document.svg = Some(file.display().to_string());
    }
    match context.printer.json {
        true => context.printer.document(&document)?,
        false => context.printer.data(&causality_lines(&document)),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn findability(context: &Context, args: &FindabilityArgs) -> Result<ExitCode, CliError> {
    let (path, recording) = selector::recording(&args.trace, &context.runs)?;
    let case = RecordedFailure::of(&path, &recording, args.jobs)?;
    let findability = case.findability(seed(context, args.seed), args.runs)?;
    if !context.printer.json {
        context.printer.data(&findability_lines(&findability));
        return Ok(ExitCode::SUCCESS);
    }
    context.printer.document(&FindabilityDocument {
        schema_version: "fozzy.findability.v1".to_owned(),
        trace: path.display().to_string(),
        signature: case.signature,
        findability,
    })?;
    Ok(ExitCode::SUCCESS)
}

fn chance(rate: Proportion) -> Probability {
    let (low, high) = rate.interval();
    Probability { failed: rate.times, runs: rate.of, chance: rate.share(), low, high }
}

/// A recorded failure that is executed many times.
struct RecordedFailure<'a> {
    recording: &'a Recording,
    signature: FailureSignature,
    program: Program,
    jobs: usize,
}

impl<'a> RecordedFailure<'a> {
    fn of(path: &Path, recording: &'a Recording, jobs: u32) -> Result<RecordedFailure<'a>, CliError> {
        let refused = |what: &str| CliError::new("target", format!("{}: {what}", path.display()));
        let Some(signature) = recording.outcome.verdict.signature.clone() else {
            return Err(
                refused("the recorded run passed: there is no failure to look for").hint("fozzy causality last-fail")
            );
        };
        if !recording.observations.is_empty() {
            let what = "it was recorded with the real computer, which cannot answer a continuation";
            return Err(refused(what).hint("record it with the virtual and scripted backends"));
        }
        let program = target::compile(Arc::clone(&recording.component), &recording.plan, &recording.target.name)?;
        let case = RecordedFailure { recording, signature, program, jobs: jobs as usize };
        if !case.fails(&mut case.session(&recording.plan)?, source_of(recording))? {
            let again = refused("the recorded failure is not reproduced");
            return Err(again.hint(format!("fozzy replay {}", path.display())));
        }
        Ok(case)
    }

    fn session(&self, plan: &Plan) -> Result<Session, CliError> {
        target::session(self.program.clone(), plan, &self.recording.inputs)
    }

    fn fails(&self, session: &mut Session, source: Box<dyn DecisionSource>) -> Result<bool, CliError> {
        let execution = session.execute(source, 0..0)?;
        Ok(judge(&execution).signature.as_ref() == Some(&self.signature))
    }

    /// The plan without what comes after the failing step: a continuation that fails later has not failed so.
    fn as_far_as_it_went(&self) -> Result<Plan, CliError> {
        let mut plan = self.recording.plan.clone();
        let execution = self.session(&plan)?.execute(source_of(self.recording), 0..0)?;
        let position = execution.facts.scenario.as_ref().map(|scenario| scenario.position);
        let (Some(position), Some(scenario)) = (position, &plan.scenario) else { return Ok(plan) };
        let (Some(last), true) = (position.sequence, scenario.only.is_empty()) else { return Ok(plan) };
        let flows = scenario.flows;
        let to = |sequence| if sequence == last { position.step.map_or(flows, |step| step + 1) } else { flows };
        let kept = |sequence| KeptSequence { kind: ScenarioKind::Stateful, sequence, steps: vec![(0, to(sequence))] };
        plan.scenario = Some(ScenarioPlan { only: (0..=last).map(kept).collect(), ..scenario.clone() });
        // What is no sequence of steps has other sequences too, and goes as far as it is planned.
        let same = self.fails(&mut self.session(&plan)?, source_of(self.recording))?;
        Ok(if same { plan } else { self.recording.plan.clone() })
    }

    /// Which of the items fail so.
    fn count<T: Sync>(
        &self,
        plan: &Plan,
        items: &[T],
        source: impl Fn(&T) -> Box<dyn DecisionSource> + Sync,
    ) -> Result<Vec<bool>, CliError> {
        // One session serves a whole stretch of them.
        let stretches: Vec<&[T]> = items.chunks(items.len().div_ceil(self.jobs * 4).max(1)).collect();
        let work = |stretch: &&[T]| -> Result<Vec<bool>, CliError> {
            let mut session = self.session(plan)?;
            stretch.iter().map(|item| self.fails(&mut session, source(item))).collect()
        };
        let done = in_order(&stretches, self.jobs, Result::is_err, work, |_| {});
        let done = done.map_err(|error| CliError::new("harness", format!("cannot start a job: {error}")))?;
        let mut failed = Vec::new();
        for stretch in done.into_iter().flatten() {
            failed.extend(stretch?);
        }
        Ok(failed)
    }

    fn findability(&self, seed: Seed, runs: u32) -> Result<Findability, CliError> {
        let numbers: Vec<u64> = (0..u64::from(runs)).collect();
        let fresh =
            |number: &u64| Box::new(SeededSource::new(continuation(seed, FRESH, *number))) as Box<dyn DecisionSource>;
        let failed = self.count(&self.recording.plan, &numbers, fresh)?;
        let rate =
            Proportion { times: failed.iter().filter(|failed| **failed).count() as u64, of: failed.len() as u64 };
        Ok(Findability {
            failed: chance(rate),
            at_least: rate.at_least(),
            at_most: rate.at_most(),
            clean_runs: clean_runs(rate.share()),
            clean_runs_cautious: clean_runs(rate.at_least()),
        })
    }

    /// The call that took a decision, and where the scenario was.
    fn taken(&self, decision: u64) -> Result<(Option<HistoryEntry>, Option<String>), CliError> {
        let mut session = session_of(self.recording)?;
        let last: Arc<Mutex<Option<HistoryEntry>>> = Arc::default();
        let kept = Arc::clone(&last);
        session.follow(Box::new(move |entry| {
            if entry.decision {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(entry);
            }
        }));
        let look = session.look(source_of(self.recording), StopPoint::Decision(decision), 0..u64::MAX)?;
        let position = look.world.facts.scenario.as_ref().and_then(|scenario| scenario.place());
        let call = last.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok((call, position))
    }
}
