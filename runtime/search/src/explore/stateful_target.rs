//! What is explored: a scenario that takes steps, shows what they reached, and confirms failures.

use super::decision_path::DecisionPath;
use super::run_signs::NoveltyDimension;
use fozzy_check::SearchVerdict;
use fozzy_trace::facts::Property;
use fozzy_trace::{
    CheckpointId, CmpLogEntry, DecisionSource, HarnessError, SharedStepJudge, StepId, StepOutcome, StepTarget, Verdict,
};

/// An answer by which something comes from outside beside what has happened in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputMoment {
    /// Which of the run's answers.
    pub answer: usize,
    /// What it is instead.
    pub other: u64,
    /// Between what it comes, as a number: moments of one kind are alike.
    pub kind: u64,
}

/// Some of the coverage bytes of one module: how often each of its edges was taken in a step, up to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoverageStretch<'a> {
    /// The module, by its place among all.
    pub module: usize,
    /// The number of its coverage bytes.
    pub len: usize,
    /// Where the stretch begins in them: a multiple of eight.
    pub at: usize,
    /// What it holds.
    pub bytes: &'a [u8],
}

impl CoverageStretch<'_> {
    /// All coverage bytes of a module.
    #[must_use]
    pub fn whole(module: usize, bytes: &[u8]) -> CoverageStretch<'_> {
        CoverageStretch { module, len: bytes.len(), at: 0, bytes }
    }
}

/// A scenario that can be restored, with what a search observes of it.
pub trait StatefulTarget: StepTarget {
    /// Restores a checkpoint of a whole run, but with its first answers only, counted from the start of the run: those behind them are asked for again.
    ///
    /// # Errors
    /// As for [`StepTarget::restore`]; and for a target whose runs are made step by step, which is never asked for it.
    fn restore_beginning(
        &mut self,
        checkpoint: CheckpointId,
        answers: usize,
        source: Box<dyn DecisionSource>,
    ) -> Result<(), HarnessError> {
        let _ = (checkpoint, answers, source);
        Err(HarnessError::new("only what is run whole has beginnings of runs"))
    }

    /// The verdict on a sequence whose end has returned, by what the guest reported; `None` when that is not judged.
    fn judge_end(&self) -> Option<SearchVerdict> {
        None
    }

    /// Shows the coverage bytes of the last step that are not zero, in the order of modules and of their bytes, and sets them to zero. Each
    /// module is shown, with an empty stretch if there is nothing else.
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>));

    /// The name of a module that was shown: it is the same in each process, while its number may depend on what was shown before.
    fn module_name(&self, module: usize) -> u64 {
        module as u64
    }

    /// Shows the properties as they stand on this way.
    fn properties(&self, see: &mut dyn FnMut(&str, &Property));

    /// A number of how the properties stand: as long as it is the same, on whatever way, they are. `None` when there is none such.
    fn properties_version(&self) -> Option<u64> {
        None
    }

    /// Shows how often each planned fault has struck on this way, in their order.
    fn faults(&self, see: &mut dyn FnMut(u64)) {
        let _ = see;
    }

    /// Whether [`StatefulTarget::steps`] takes more than one step at once. Such a target shows no [signs](StatefulTarget::signs).
    fn takes_several_steps(&self) -> bool {
        false
    }

    /// Takes the steps from `first` on, to `last` at most, as long as `judge` finds them dull. The answer is how the last one came out,
    /// and how many dull ones were before it. Only the last one is still to be observed: coverage bytes were set to zero before
    /// it. A target may also come back after a step that the judge was not asked about: `last`, and when the call takes long.
    /// What the judge was told of the memory after the last one, [`StatefulTarget::memory_state`] tells again, without another look.
    ///
    /// # Errors
    /// As for [`StepTarget::step`].
    fn steps(&mut self, first: u32, last: u32, judge: &SharedStepJudge) -> Result<(StepOutcome, u32), HarnessError> {
        let _ = (last, judge);
        Ok((self.step(StepId::Step(first))?, 0))
    }

    /// Shows what else can be new of the last step: a number for each thing, in its dimension.
    fn signs(&self, see: &mut dyn FnMut(NoveltyDimension, u64)) {
        let _ = see;
    }

    /// What the scenario says its state is, as a number; `None` when it says nothing.
    fn state(&self) -> Option<u64>;

    /// What its memory says its state is, for a scenario that says nothing; `None` when that is not known. It is asked after
    /// steps only.
    fn memory_state(&mut self) -> Option<u64> {
        None
    }

    /// Shows moments of the last run at which something may come from outside, if any of that varies.
    fn input_moments(&self, see: &mut dyn FnMut(InputMoment)) {
        let _ = see;
    }

    /// Runs that are made before any logs what it compares: what is found early needs no second build.
    fn plain_runs(&self) -> u64 {
        0
    }

    /// Has each step from here on log what it compares, or none.
    ///
    /// # Errors
    /// When the machine fails.
    fn log_comparisons(&mut self, on: bool) -> Result<(), HarnessError> {
        let _ = on;
        Ok(())
    }

    /// Adds what the last step compared to `log`, in order; nothing where comparisons are not logged.
    fn comparisons(&mut self, log: &mut Vec<CmpLogEntry>) {
        let _ = log;
    }

    /// Executes a path as a run that can be recorded. Its verdict is the one that counts.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails, or the run is interrupted.
    fn confirm(&mut self, path: &DecisionPath, reason: ConfirmReason) -> Result<Verdict, HarnessError>;
}

/// Why a path is executed as a run that can be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmReason {
    /// Its execution failed: the run is worth some time beyond the end of the search.
    Failure,
    /// Its execution was cut, as it may never end.
    Cut,
}
