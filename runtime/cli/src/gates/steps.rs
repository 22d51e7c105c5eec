//! The steps of a gate, noted and told as they are done.
//!
//! Invariant: every step has a row, in the order in which it was asked for.

use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use fozzy_report::document::{GateStep, PROGRESS_SCHEMA, ProgressDocument, StepStatus};
use std::collections::BTreeSet;

/// How a step went, and what was seen.
pub(crate) type Outcome = (StepStatus, String);

pub(crate) fn passed(detail: impl Into<String>) -> Outcome {
    (StepStatus::Passed, detail.into())
}

pub(crate) fn failed(detail: impl Into<String>) -> Outcome {
    (StepStatus::Failed, detail.into())
}

pub(crate) fn skipped(detail: impl Into<String>) -> Outcome {
    (StepStatus::Skipped, detail.into())
}

pub(crate) fn advisory(detail: impl Into<String>) -> Outcome {
    (StepStatus::Advisory, detail.into())
}

/// Notes steps.
pub(crate) struct Steps<'a> {
    context: &'a Context,
    /// What is told of each: the format of lines under `--json`; nothing when there is none.
    as_lines: bool,
    skip: BTreeSet<String>,
    required: BTreeSet<String>,
    pub(crate) rows: Vec<GateStep>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(context: &'a Context, as_lines: bool) -> Steps<'a> {
        Steps { context, as_lines, skip: BTreeSet::new(), required: BTreeSet::new(), rows: Vec::new() }
    }

    /// The same, with steps that are left out, and steps that must not be; all of them are among `known`.
    pub(crate) fn choosing(self, skip: &[String], required: &[String], known: &[&str]) -> Result<Steps<'a>, CliError> {
        let strange = skip.iter().chain(required).find(|step| !known.contains(&step.as_str()));
        if let Some(step) = strange {
            let message = format!("there is no step `{step}`; there are {}", known.join(", "));
            return Err(CliError::new(ErrorKind::Usage, message));
        }
        let set = |steps: &[String]| steps.iter().cloned().collect();
        Ok(Steps { skip: set(skip), required: set(required), ..self })
    }

    /// Does a step, unless it is left out. `true` when it passed.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<Outcome, CliError>) -> bool {
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
    pub(crate) fn phase(&self, name: &str) {
        self.tell("phase_started", name, None);
    }

    /// Whether one failed.
    pub(crate) fn any_failed(&self) -> bool {
        self.rows.iter().any(|row| row.status == StepStatus::Failed)
    }

    fn tell(&self, event: &str, step: &str, row: Option<&GateStep>) {
        let printer = self.context.printer;
        if !printer.json {
            if let Some(GateStep { name, status, detail }) = row {
                printer.remark(&format!("{:<8}  {name}  {detail}\n", status.name()));
            }
        } else if self.as_lines {
            let document = ProgressDocument {
                schema_version: PROGRESS_SCHEMA.to_owned(),
                event: event.to_owned(),
                step: step.to_owned(),
                status: row.map(|row| row.status),
                detail: row.map(|row| row.detail.clone()),
            };
            printer.remark(&format!("{}\n", serde_json::to_string(&document).unwrap_or_default()));
        }
    }
}
