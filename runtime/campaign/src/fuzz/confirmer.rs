//! Runs an input as a run that can be recorded.
//!
//! ```text
//! input ─▶ Confirmer (Session, under the plan of the input) ─▶ Execution ─▶ verdict, Recording
//! ```
//!
//! Invariant: what a finding is, such a run says.

use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::PreparedProgram;
use fozzy_check::judge;
use fozzy_engine::{EntryPoint, InputUse, Interrupt, Session, written};
use fozzy_search::fuzz::StructuredInput;
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::{Override, RecordedSource, SeededSource};
use fozzy_trace::{DecisionSource, Execution, Executor, HarnessError, HistoryWindow, Plan, Seed, Status, digest};
use std::sync::Arc;

/// Runs one input as a run that can be recorded.
pub struct FindingConfirmer {
    session: Session,
    /// End its runs from outside: those of the search, and those that confirm or record a failure.
    interrupt: Interrupt,
    reprieve: Interrupt,
    searched: EntryPoint,
    plan: Plan,
    inputs: Inputs,
    seed: Seed,
}

/// A run that can be recorded.
pub struct ConfirmedRun {
    /// What happened.
    pub execution: Execution,
    /// The plan with the input.
    pub plan: Plan,
    /// What the plan names by digest.
    pub inputs: Inputs,
}

impl FindingConfirmer {
    /// An input is added to the plan of `prepared`. A fuzz target is warmed up if it can be.
    pub fn new(
        prepared: &PreparedProgram,
        searched: &EntryPoint,
        seed: Seed,
    ) -> Result<FindingConfirmer, CampaignError> {
        let plan = &prepared.planned.plan;
        let warm = Plan { warm_up: searched.input_use() == InputUse::Argument, ..plan.clone() };
        let mut confirmer = FindingConfirmer::under(warm, prepared, searched, seed)?;
        if confirmer.plan.warm_up && judge(&confirmer.execute(&[], 0..0)?.execution).status != Status::Pass {
            confirmer = FindingConfirmer::under(plan.clone(), prepared, searched, seed)?;
        }
        Ok(confirmer)
    }

    fn under(
        plan: Plan,
        prepared: &PreparedProgram,
        searched: &EntryPoint,
        seed: Seed,
    ) -> Result<FindingConfirmer, CampaignError> {
        let inputs = prepared.planned.inputs.clone();
        let (first, its) = searched.planned(&plan, &inputs, &[]);
        let session = prepared.session_under(&first, &its)?;
        let (interrupt, reprieve) = (prepared.interrupt.clone(), prepared.reprieve.clone());
        Ok(FindingConfirmer { session, interrupt, reprieve, searched: searched.clone(), plan, inputs, seed })
    }

    /// Runs that confirm and record failures have the time that `prepared` grants.
    pub(super) fn confirm_within(&mut self, prepared: &PreparedProgram) {
        self.reprieve = prepared.reprieve.clone();
    }

    /// What is called.
    pub fn entry(&self) -> &EntryPoint {
        &self.searched
    }

    /// Whose answers a run has that no input gives.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The plan to which an input is added.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether a program is run from beginning to end, whose exit code is its answer.
    pub fn is_program(&self) -> bool {
        matches!(self.searched, EntryPoint::Program(_))
    }

    /// Instructions that a run may take.
    #[must_use]
    pub fn fuel(&self) -> u64 {
        self.plan.limits.fuel
    }

    /// What runs are made with.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The same, to change it.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Has runs end at the host call after this number of them, once the session is under the plan that is returned.
    pub(crate) fn end_after_calls(&mut self, calls: u64) -> (Plan, Inputs) {
        // Not of the runs before.
        self.plan.limits.calls = None;
        self.plan.limits.end_after_calls(calls);
        self.searched.planned(&self.plan, &self.inputs, &[])
    }

    /// Runs one input from the start, within the time of the search.
    pub fn execute(&mut self, input: &[u8], keep: HistoryWindow) -> Result<ConfirmedRun, HarnessError> {
        self.execute_through(input, keep, |source| source)
    }

    /// The same with what `through` makes of the source of its decisions.
    pub(crate) fn execute_through(
        &mut self,
        input: &[u8],
        keep: HistoryWindow,
        through: impl FnOnce(Box<dyn DecisionSource>) -> Box<dyn DecisionSource>,
    ) -> Result<ConfirmedRun, HarnessError> {
        self.session.interrupt_by(self.interrupt.clone());
        self.repeat(input, keep, through)
    }

    /// The same for an input that has failed: it may take some time beyond the end of the search.
    pub fn confirm(&mut self, input: &[u8], keep: HistoryWindow) -> Result<ConfirmedRun, HarnessError> {
        self.session.interrupt_by(self.reprieve.clone());
        self.repeat(input, keep, |source| source)
    }

    fn repeat(
        &mut self,
        input: &[u8],
        keep: HistoryWindow,
        through: impl FnOnce(Box<dyn DecisionSource>) -> Box<dyn DecisionSource>,
    ) -> Result<ConfirmedRun, HarnessError> {
        let (plan, inputs) = self.searched.planned(&self.plan, &self.inputs, input);
        if let EntryPoint::Program(_) = self.searched {
            let replanned = self.session.replan(Arc::new(plan.clone()), &inputs);
            replanned.map_err(|error| HarnessError::new(error.to_string()))?;
        }
        let execution = self.session.execute(through(self.source(input)), keep)?;
        Ok(ConfirmedRun { execution, plan, inputs })
    }

    /// Who answers in the run of an input.
    fn source(&self, input: &[u8]) -> Box<dyn DecisionSource> {
        match self.searched.input_use() {
            InputUse::Argument => {
                // The length and the bytes are the first two questions of the run.
                let length = Override::Number(input.len() as u64);
                let answers = [(0, length), (1, Override::Bytes(digest::hex(input)))];
                Box::new(RecordedSource::new(self.seed, answers.into_iter().collect()))
            }
            InputUse::World => Box::new(SeededSource::new(self.seed)),
            InputUse::Draws => Box::new(StructuredInput::new(self.seed, input)),
        }
    }

    /// What is called with an input that is drawn from it, for people.
    pub fn written(&self, input: &[u8]) -> Option<String> {
        written(self.session.program(), &self.searched, &mut StructuredInput::new(self.seed, input))
    }
}

/// A component that cannot be called, as an error of the command.
pub fn caller_error(name: &str, error: &fozzy_engine::ExecutorError) -> CampaignError {
    CampaignError::new(ErrorKind::Target, format!("{name}: {error}"))
}
