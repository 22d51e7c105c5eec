//! A kept failure on the program of today: its decisions once more, and where these lead elsewhere, runs of both programs.
//!
//! ```text
//! recorded   open · write · write · rename · power lost            the failure
//! today      open · write · write · sync · rename …                passes, and decides otherwise from the sync on
//!
//! from there, by seeds 1, 2, 3 …      recorded   fails so ×3 · passes · fails so …      until it has failed so 6 times
//!                                     today      passes  in each of these runs          fixed
//! ```
//!
//! A repair that adds a call which may fail shifts all later decisions. What was recorded for a later call then strikes another one, and
//! that the program passes says nothing. So both programs are run from the place where they part, under the same plan and by the same
//! seeds: the recorded one shows how likely the failure is there.
//!
//! Where the program of today passes and decides more than was recorded, it may have drawn something new before what led to the failure: what was
//! recorded is tried behind other decisions, too.
//!
//! A run of today that fails by the recorded decisions is never a repair: with the same words at another place, it is the same failure, which
//! has moved; with others, it is a failure of its own.
//!
//! Invariants: the same traces and programs give the same answer; its budget is instructions and runs, never time. A scenario is not
//! run by seeds: what it draws stays when its calls change. Neither is a run that the real computer answered.
//! Not here: what the answer means for a suite, or for an exploration.

use super::regression_status::RegressionStatus;
use crate::error::CampaignError;
use crate::pipeline::{LoadedTarget, PlanOfToday, PreparedProgram};
use fozzy_check::{FailureIdentity, identify, judge};
use fozzy_engine::{Interrupt, Session};
use fozzy_search::{Branch, QuestionCount, source_of};
use fozzy_trace::file::Recording;
use fozzy_trace::{
    Execution, ExecutionEnd, Executor, FailureSignature, HistoryEntry, Plan, RunningDigest, Seed, Status, Verdict,
    counted,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Runs in which the recorded program has to fail, while the one of today passes. A program that is not mended passes in all runs by
/// chance alone once in four hundred times.
const FAILURES_ASKED: u64 = 6;
/// Runs of each program at the most for each of these failures: what is rarer is not waited for.
const RUNS_MAX: u64 = 500;
/// Runs of the program of today where it decides all that was recorded, and more.
const RUNS_AFTER: u64 = 100;
/// Runs of it in which some decisions come before those that were recorded, at the most.
const RUNS_SHIFTED: usize = 100;
/// Instructions of all these runs at the most: some seconds.
const FUEL_MAX: u64 = 8_000_000_000;

/// What came of it.
pub struct Retrial {
    /// The run of today by the recorded decisions.
    pub execution: Execution,
    /// Its verdict.
    pub verdict: Verdict,
    /// How the failure stands.
    pub state: RegressionStatus,
    /// Why that is so, where the run by the recorded decisions does not say it.
    pub note: Option<String>,
}

impl Retrial {
    /// Tries `recording` on `loaded`, whose current plan is `plan`.
    pub fn new(recording: &Recording, loaded: &LoadedTarget, plan: &PlanOfToday) -> Result<Retrial, CampaignError> {
        Retrial::until(recording, loaded, plan, &Interrupt::default())
    }

    /// The same. Once `interrupt` is due, it is an error of the kind `interrupted`.
    pub fn until(
        recording: &Recording,
        loaded: &LoadedTarget,
        plan: &PlanOfToday,
        interrupt: &Interrupt,
    ) -> Result<Retrial, CampaignError> {
        let session = |mut prepared: PreparedProgram| {
            prepared.interrupt = interrupt.clone();
            prepared.session()
        };
        let signature = recording.outcome.verdict.signature.as_ref().map(|signature| plan.signature(signature));
        let is_same_program = loaded.component == recording.component && plan.planned.plan == recording.plan;
        let mut today = session(PreparedProgram::compile(loaded.clone(), plan.planned.clone())?)?;
        let (execution, now) = decided(recording, &mut today, &plan.planned.plan)?;
        let verdict = judge(&execution);
        let of = |state, note| Ok(Retrial { execution: execution.clone(), verdict: verdict.clone(), state, note });
        if verdict.signature == signature {
            let passes = signature.is_none();
            return of(if passes { RegressionStatus::Fixed } else { RegressionStatus::StillThere }, None);
        }
        if matches!(execution.end, ExecutionEnd::Diverged { .. }) {
            let why = "the current program asks the real computer for something that was not recorded";
            return of(RegressionStatus::Stale, Some(why.to_owned()));
        }
        let otherwise = verdict.signature.as_ref().map(ToString::to_string);
        if let (None, true) = (&otherwise, is_same_program) {
            let why = "the same program passes now: it was recorded by another version of the engine";
            return of(RegressionStatus::Stale, Some(why.to_owned()));
        }
        let mut recorded = session(PreparedProgram::of_recording(recording)?)?;
        let (was, then) = decided(recording, &mut recorded, &recording.plan)?;
        let was = signature.as_ref().and_then(|_| identify(&was));
        let is = identify(&execution);
        if let (Some(is), Some(was)) = (&is, &was)
            && is.is_moved(was)
        {
            return of(RegressionStatus::StillThere, Some(format!("it fails so at another place: {}", is.signature)));
        }
        // All that was decided must be asked for again; what comes after the failure is new.
        let parted = then.iter().zip(&now).position(|(then, now)| then.digest != now.digest);
        let parted = parted.or((now.len() < then.len()).then_some(now.len()));
        let is_sampled =
            !today.program().is_scenario() && loaded.scenario.is_none() && recording.observations.is_empty();
        let sampled = signature.as_ref().filter(|_| is_sampled && !is_same_program);
        let before = |at: usize| at.checked_sub(1).and_then(|last| then.get(last)).map_or(0, |entry| entry.questions);
        let Some(at) = parted.or(otherwise.is_some().then_some(then.len())) else {
            // What came after the failure is decided anew, and what led to it may be asked for there.
            let from = before(then.len().saturating_sub(1));
            let Some(signature) = sampled.filter(|_| now.len() > then.len()) else {
                return of(RegressionStatus::Fixed, None);
            };
            let compared = Comparison { recording, signature, was: was.as_ref(), from };
            let failed_by = compared.fails_again(&mut today)?;
            let all = |entries: &[DecidedEntry]| entries.last().map_or(0, |entry| entry.questions);
            let words = match failed_by {
                Some(_) => Some(ComparedRuns { failed_by, ..ComparedRuns::default() }.words(from)),
                None => compared.fails_shifted(&mut today, all(&then), all(&now))?,
            };
            let Some(words) = words else { return of(RegressionStatus::Fixed, None) };
            return of(
                RegressionStatus::StillThere,
                Some(format!("it passes, and decides more than was recorded; {words}")),
            );
        };
        let from = before(at);
        let what = match (plan.note(), &otherwise) {
            (Some(missing), Some(otherwise)) => {
                format!("{missing}, and the file of today fails otherwise: {otherwise}")
            }
            (Some(missing), None) => missing,
            (None, Some(otherwise)) => format!("the program fails otherwise: {otherwise}"),
            (None, None) => {
                let all = then.last().map_or(0, |entry| entry.questions);
                format!("it passes, but from decision {from} of {all} on it decides otherwise than was recorded")
            }
        };
        // What cannot be judged is no failure of the program, and other steps are other decisions.
        let is_failure = otherwise.is_some() && plan.note().is_none() && verdict.status != Status::Error;
        if is_failure {
            return of(RegressionStatus::FailsOtherwise, Some(what));
        }
        let Some(signature) = sampled else { return of(RegressionStatus::Stale, Some(what)) };
        let sampled = Comparison { recording, signature, was: was.as_ref(), from }.run(&mut recorded, &mut today)?;
        of(sampled.state(), Some(format!("{what}; {}", sampled.words(from))))
    }
}

/// Runs of both programs from one decision on.
struct Comparison<'a> {
    recording: &'a Recording,
    signature: &'a FailureSignature,
    /// The failure of the recorded program.
    was: Option<&'a FailureIdentity>,
    from: u64,
}

/// How they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ComparedRuns {
    /// Runs of each program.
    runs: u64,
    /// Runs in which the recorded program failed as it did, and the one of today passed.
    mended: u64,
    /// The seed by which the program of today failed so.
    failed_by: Option<Seed>,
}

impl Comparison<'_> {
    /// Whether a run fails so, be it at another place.
    fn is_failure(&self, execution: &Execution) -> bool {
        let Some(found) = identify(execution) else { return false };
        found.signature == *self.signature || self.was.is_some_and(|was| found.is_moved(was))
    }

    /// The seed by which the program of today fails so, if one of some does.
    fn fails_again(&self, today: &mut Session) -> Result<Option<Seed>, CampaignError> {
        let (mut fuel, mut seeds) = (0, (1..=RUNS_AFTER).map(Seed));
        while let (true, Some(seed)) = (fuel < FUEL_MAX, seeds.next()) {
            let execution = today.execute(Box::new(Branch::new(self.recording, self.from, seed)), 0..0)?;
            fuel += execution.fuel_used;
            if self.is_failure(&execution) {
                return Ok(Some(seed));
            }
        }
        Ok(None)
    }

    /// Before which recorded decision the program of today takes others, and fails so by those behind them, in words; `None` where it does not.
    /// `recorded` and `decided` are the numbers of all decisions of both.
    fn fails_shifted(&self, today: &mut Session, recorded: u64, decided: u64) -> Result<Option<String>, CampaignError> {
        let more = 1..=decided.saturating_sub(recorded);
        // What has led to the failure is most often what was decided last.
        let places = more.flat_map(|others| (0..recorded).rev().map(move |at| (at, others)));
        let mut fuel = 0;
        for (at, others) in places.take(RUNS_SHIFTED) {
            if fuel >= FUEL_MAX {
                break;
            }
            let source = Branch::inserting(self.recording, at, others, Seed(1));
            let execution = today.execute(Box::new(source), 0..0)?;
            fuel += execution.fuel_used;
            if self.is_failure(&execution) {
                let others = counted(others, "other decision");
                return Ok(Some(format!("with {others} before decision {at}, it fails so again")));
            }
        }
        Ok(None)
    }

    fn run(&self, recorded: &mut Session, today: &mut Session) -> Result<ComparedRuns, CampaignError> {
        let (mut compared, mut fuel) = (ComparedRuns::default(), 0);
        while compared.is_worth_more() && fuel < FUEL_MAX {
            compared.runs += 1;
            let seed = Seed(compared.runs);
            let mut run = |session: &mut Session| {
                let execution = session.execute(Box::new(Branch::new(self.recording, self.from, seed)), 0..0)?;
                fuel += execution.fuel_used;
                Ok::<_, CampaignError>(execution)
            };
            let now = run(today)?;
            if self.is_failure(&now) {
                return Ok(ComparedRuns { failed_by: Some(seed), ..compared });
            }
            let then = judge(&run(recorded)?).signature;
            let is_mended = judge(&now).status == Status::Pass && then == self.recording.outcome.verdict.signature;
            compared.mended += u64::from(is_mended);
        }
        Ok(compared)
    }
}

impl ComparedRuns {
    fn is_worth_more(self) -> bool {
        self.mended < FAILURES_ASKED && self.runs < RUNS_MAX * (self.mended + 1)
    }

    fn state(self) -> RegressionStatus {
        match self {
            ComparedRuns { failed_by: Some(_), .. } => RegressionStatus::StillThere,
            ComparedRuns { mended: FAILURES_ASKED.., .. } => RegressionStatus::Fixed,
            _ => RegressionStatus::Stale,
        }
    }

    fn words(self, from: u64) -> String {
        let ComparedRuns { runs, mended, failed_by } = self;
        let whence = if from == 0 { "run from the start" } else { "run from there" };
        match failed_by {
            Some(seed) => format!("{whence} by other seeds, it fails so again, first by seed {seed}"),
            None if mended >= FAILURES_ASKED => format!(
                "{whence} by {runs} other seeds, the recorded program fails so by {mended} of them, and this one passes by these"
            ),
            None => format!(
                "not comparable: {whence} by {runs} other seeds, the recorded program fails so by {mended} of those by which this one \
                 passes, and {FAILURES_ASKED} are asked"
            ),
        }
    }
}

/// What was decided by a call, and how many questions had been answered by then.
struct DecidedEntry {
    digest: u64,
    questions: u64,
}

/// Executes a recording's decisions under a plan, and digests those that identify its way: of a scenario, what it draws; of a plain program, all.
fn decided(
    recording: &Recording,
    session: &mut Session,
    plan: &Plan,
) -> Result<(Execution, Vec<DecidedEntry>), CampaignError> {
    let drawn_only = session.program().is_scenario();
    // Steps of a file have other numbers when the file is changed.
    let has_steps = recording.target.kind != crate::scenario::KIND;
    let entries = Arc::new(Mutex::new(Vec::new()));
    let source = QuestionCount::new(source_of(recording));
    let (noted, asked) = (Arc::clone(&entries), source.count());
    session.follow(Box::new(move |entry| {
        let is_step = has_steps && entry.call.starts_with("fozzy:scenario/");
        let drawn = entry.call.starts_with("fozzy:choices/") || is_step;
        if if drawn_only { drawn } else { entry.decision } {
            let decided = DecidedEntry { digest: digest(&entry), questions: asked.get() };
            noted.lock().unwrap_or_else(PoisonError::into_inner).push(decided);
        }
    }));
    let mut execution = session.execute(Box::new(source), 0..u64::MAX)?;
    if plan.criteria.checker.is_some() {
        // An execution whose calls are handed on keeps none of them for the checker, which is not asked then.
        execution = session.execute(source_of(recording), 0..0)?;
    }
    let entries = std::mem::take(&mut *entries.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((execution, entries))
}

/// What was decided, whenever that was.
fn digest(entry: &HistoryEntry) -> u64 {
    let mut fold = RunningDigest::default();
    fold.word(entry.node.0.into());
    for text in [&entry.call, &entry.asked, &entry.answer] {
        fold.bytes(text.as_bytes());
    }
    fold.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_enough_failures_of_the_recorded_program_make_a_repair() {
        let none = ComparedRuns { runs: RUNS_MAX, ..ComparedRuns::default() };
        let some = |mended| ComparedRuns { mended, ..none };
        assert_eq!(none.state(), RegressionStatus::Stale);
        assert_eq!(some(FAILURES_ASKED - 1).state(), RegressionStatus::Stale);
        assert_eq!(some(FAILURES_ASKED).state(), RegressionStatus::Fixed);
        let failed = ComparedRuns { failed_by: Some(Seed(3)), ..some(FAILURES_ASKED - 1) };
        assert_eq!(failed.state(), RegressionStatus::StillThere);
        assert_eq!(failed.words(0), "run from the start by other seeds, it fails so again, first by seed 3");
        assert!(none.words(7).starts_with("not comparable: run from there by 500 other seeds"), "{}", none.words(7));
    }
}
