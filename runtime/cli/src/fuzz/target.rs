//! A component as a target of a campaign: called in the fast lane, judged, and confirmed by a run of its own.
//!
//! ```text
//! input ─▶ Caller (checkpoint, call) ─▶ returned │ ended: judged by how it ended
//! input ─▶ Confirmer (Session, the plan has the call) ─▶ Execution ─▶ verdict, Recording
//! ```
//!
//! Invariant: what a finding is, a run says that can be recorded; the fast lane only says where to look.

use crate::error::CliError;
use fozzy_check::{judge, judge_end};
use fozzy_engine::{CallOutcome, Caller, ComparisonKind, Session};
use fozzy_search::fuzz::{Compared, ComparedKind, Drawn, Outcome, Target};
use fozzy_trace::plan::Call;
use fozzy_trace::source::{Explicit, Recorded};
use fozzy_trace::{DecisionSource, End, Execution, Executor, HarnessError, Keep, Seed, Verdict, digest};

/// Runs one input as a run that can be recorded.
pub(crate) struct Confirmer {
    session: Session,
    call: Call,
    seed: Seed,
}

impl Confirmer {
    pub(crate) fn new(session: Session, call: Call, seed: Seed) -> Confirmer {
        Confirmer { session, call, seed }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn execute(&mut self, input: &[u8], keep: Keep) -> Result<Execution, HarnessError> {
        let source: Box<dyn DecisionSource> = match self.call {
            Call::Fuzz(_) => {
                // The length and the bytes are the first two questions of the run.
                let length = Explicit::Number(input.len() as u64);
                let answers = [(0, length), (1, Explicit::Bytes(digest::hex(input)))];
                Box::new(Recorded::new(self.seed, answers.into_iter().collect()))
            }
            Call::Property(_) => Box::new(Drawn::new(self.seed, input)),
        };
        self.session.execute(source, keep)
    }
}

/// A function of a component.
pub(crate) struct CallTarget {
    caller: Caller,
    confirmer: Confirmer,
}

impl CallTarget {
    pub(crate) fn new(caller: Caller, confirmer: Confirmer) -> CallTarget {
        CallTarget { caller, confirmer }
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Who answers what the function draws; nobody is asked by one that is given bytes.
    fn source(&self, input: &[u8]) -> Option<Box<dyn DecisionSource>> {
        match self.confirmer.call {
            Call::Fuzz(_) => None,
            Call::Property(_) => Some(Box::new(Drawn::new(self.confirmer.seed, input))),
        }
    }
}

impl Target for CallTarget {
    fn execute(&mut self, input: &[u8]) -> Result<Outcome, HarnessError> {
        let source = self.source(input);
        let failed = match self.caller.call(input, source)? {
            // Leaving with success is no failure, as it is none of a run.
            CallOutcome::Returned | CallOutcome::Ended { end: End::Exited { code: 0 }, .. } => None,
            CallOutcome::Ended { end, backtrace, stderr } => Some(Box::new(judge_end(&end, &stderr, &backtrace))),
        };
        Ok(Outcome { failed, memory_bytes: self.caller.memory_bytes() })
    }

    fn coverage(&self, see: &mut dyn FnMut(&[u8])) {
        self.caller.coverage().for_each(|(_, bytes)| see(bytes));
    }

    fn compare(&mut self, input: &[u8], log: &mut Vec<Compared>) -> Result<(), HarnessError> {
        let source = self.source(input);
        self.caller.compare(input, source, &mut |module, kind, comparison| {
            let kind = match kind {
                ComparisonKind::Equal { bits } => ComparedKind::Equal(bits / 8),
                ComparisonKind::Order { bits, .. } => ComparedKind::Order(bits / 8),
                ComparisonKind::Mixed { bits } => ComparedKind::Mixed(bits / 8),
                ComparisonKind::Switch => ComparedKind::Switch,
                ComparisonKind::Bytes => ComparedKind::Bytes,
                ComparisonKind::Search => ComparedKind::Search,
            };
            let site = u64::from(module.0) << 32 | u64::from(comparison.site);
            let (left, right, at, bytes) = (comparison.left, comparison.right, comparison.at, comparison.bytes);
            log.push(Compared { site, kind, left, right, at, bytes });
        })
    }

    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError> {
        Ok(judge(&self.confirmer.execute(input, 0..0)?))
    }
}

/// A component that cannot be called, as an error of the command.
pub(crate) fn caller_error(name: &str, error: &fozzy_engine::CallerError) -> CliError {
    CliError::new("target", format!("{name}: {error}"))
}
