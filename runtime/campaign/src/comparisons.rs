//! What all machines of a run compare: the program of a plan in the build that logs it, made when it is asked for first.
//!
//! ```text
//! execution in the ordinary build ──▶ verdict, edges
//! the same answers, or input, in this one ──▶ what is compared on every machine: input-to-state
//! ```
//!
//! What a program does is the same in both builds, so that only what is looked for differs. Logging costs much more than edges,
//! and compiling once more does too: neither is paid by an execution that is not asked what it compares.
//!
//! Not here: what is made of it (`fozzy-search`).

use crate::error::CampaignError;
use crate::pipeline::PreparedProgram;
use fozzy_engine::{Build, LazyInput, Session};
use fozzy_trace::plan::Inputs;
use fozzy_trace::{CmpLogEntry, DecisionSource, Execution, Executor, HarnessError, Plan};
use std::sync::Arc;

/// Budgets of instructions of an execution that logs comparisons: logging costs instructions too.
const FUEL_TIMES: u64 = 8;

/// A program and the machines of its plan, built so that they log what they compare.
pub struct ComparisonSession {
    prepared: PreparedProgram,
    stdin: Option<Arc<LazyInput>>,
    session: Option<Session>,
}

impl ComparisonSession {
    /// Of the program and the plan of `prepared`, which reads standard input from `stdin`, if the plan has none; nothing is
    /// compiled yet.
    #[must_use]
    pub fn new(prepared: &PreparedProgram, stdin: Option<Arc<LazyInput>>) -> ComparisonSession {
        ComparisonSession { prepared: prepared.clone(), stdin, session: None }
    }

    fn open(&self) -> Result<Session, CampaignError> {
        let build = Build { comparisons: true, ..Build::default() };
        let mut session = self.prepared.rebuilt(&build)?.session()?;
        session.fuel_times(FUEL_TIMES);
        session.log_comparisons();
        if let Some(stdin) = &self.stdin {
            session.read_from(Arc::clone(stdin));
        }
        Ok(session)
    }

    fn session(&mut self) -> Result<&mut Session, HarnessError> {
        if self.session.is_none() {
            self.session = Some(self.open()?);
        }
        Ok(self.session.as_mut().expect("just made"))
    }

    /// Executes the plan, or another one, by `source`.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn execute(
        &mut self,
        replanned: Option<(Plan, &Inputs)>,
        source: Box<dyn DecisionSource>,
    ) -> Result<Execution, HarnessError> {
        let session = self.session()?;
        if let Some((plan, inputs)) = replanned {
            let replanned = session.replan(Arc::new(plan), inputs);
            replanned.map_err(|error| HarnessError::new(error.to_string()))?;
        }
        session.execute(source, 0..0)
    }

    /// What the last execution has compared, one machine after the other.
    #[must_use]
    pub fn log(&self) -> &[CmpLogEntry] {
        self.session.as_ref().map_or(&[], Session::comparisons)
    }
}
