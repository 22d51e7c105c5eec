//! The steps of a gate, noted and told as they are done.
//!
//! Invariant: every step has a row, in the order in which it was asked for.

use crate::error::{CampaignError, ErrorKind};
use fozzy_report::document::{GateStep, StepStatus};
use std::collections::BTreeSet;

/// How a step went, and what was seen.
pub type Outcome = (StepStatus, String);

/// It is as it should be.
pub fn passed(detail: impl Into<String>) -> Outcome {
    (StepStatus::Passed, detail.into())
}

/// It is not.
pub fn failed(detail: impl Into<String>) -> Outcome {
    (StepStatus::Failed, detail.into())
}

/// It was not done, and why.
pub fn skipped(detail: impl Into<String>) -> Outcome {
    (StepStatus::Skipped, detail.into())
}

/// Worth knowing, and no failure.
pub fn advisory(detail: impl Into<String>) -> Outcome {
    (StepStatus::Advisory, detail.into())
}

/// An event of a step: it or a phase begins, or it is over.
pub struct StepNews<'s> {
    /// `step_started`, `step_finished` or `phase_started`.
    pub event: &'static str,
    /// The step, or the phase.
    pub step: &'s str,
    /// How it went.
    pub row: Option<&'s GateStep>,
}

/// Notes steps.
pub struct Steps<'a> {
    /// Who hears of each.
    told: Box<dyn Fn(StepNews<'_>) + 'a>,
    skip: BTreeSet<String>,
    required: BTreeSet<String>,
    /// All steps so far.
    pub rows: Vec<GateStep>,
}

impl<'a> Steps<'a> {
    /// No steps yet; `told` hears of each.
    pub fn new(told: impl Fn(StepNews<'_>) + 'a) -> Steps<'a> {
        Steps { told: Box::new(told), skip: BTreeSet::new(), required: BTreeSet::new(), rows: Vec::new() }
    }

    /// The same, with steps that are left out, and steps that must not be; all of them are among `known`.
    pub fn choosing(self, skip: &[String], required: &[String], known: &[&str]) -> Result<Steps<'a>, CampaignError> {
        let strange = skip.iter().chain(required).find(|step| !known.contains(&step.as_str()));
        if let Some(step) = strange {
            let message = format!("there is no step `{step}`; there are {}", known.join(", "));
            return Err(CampaignError::new(ErrorKind::Usage, message));
        }
        let set = |steps: &[String]| steps.iter().cloned().collect();
        Ok(Steps { skip: set(skip), required: set(required), ..self })
    }

    /// Does a step, unless it is left out. `true` when it passed.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> Result<Outcome, CampaignError>) -> bool {
        self.tell("step_started", name, None);
        let (status, detail) = if self.skip.contains(name) {
            skipped("left out by --skip-steps")
        } else {
            // A step that cannot be done is a failed one, not the end of the others.
            work().unwrap_or_else(|error| failed(error.message.lines().next().unwrap_or_default()))
        };
        let (status, detail) = match status {
            StepStatus::Skipped if self.required.contains(name) => failed(format!("required, and skipped: {detail}")),
            status => (status, detail),
        };
        let row = GateStep { name: name.to_owned(), status, detail };
        self.tell("step_finished", name, Some(&row));
        self.rows.push(row);
        status == StepStatus::Passed
    }

    /// A phase begins.
    pub fn phase(&self, name: &str) {
        self.tell("phase_started", name, None);
    }

    /// Whether one failed.
    pub fn any_failed(&self) -> bool {
        self.rows.iter().any(|row| row.status == StepStatus::Failed)
    }

    fn tell(&self, event: &'static str, step: &str, row: Option<&GateStep>) {
        (self.told)(StepNews { event, step, row });
    }
}
