//! A component as a target of a campaign: called in the fast build, and judged.
//!
//! ```text
//! input ─▶ FuzzExecutor (checkpoint, call) ─▶ returned │ ended: judged by how it ended
//! ```
//!
//! Invariant: the fast build only says where to look; a run decides what a finding is (`confirmer`).

use super::confirmer::{ConfirmedRun, FindingConfirmer, caller_error};
use super::target::CampaignTarget;
use crate::error::CampaignError;
use crate::pipeline::{PreparedProgram, cache};
use fozzy_check::{judge, judge_end, judge_facts};
use fozzy_engine::{CallOutcome, EntryPoint, FuzzExecutor, InputUse};
use fozzy_report::HEALTH_SUFFIX;
use fozzy_search::fuzz::{FuzzOutcome, FuzzTarget, MemoryUse, StructuredInput};
use fozzy_trace::facts::{PropertyStatuses, PropertyTable};
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::PlannedCall;
use fozzy_trace::{
    CmpLogEntry, CmpLogSites, DecisionSource, Digest, ExecutionEnd, HarnessError, Seed, Status, Verdict,
};
use std::sync::Arc;

/// A component.
pub struct ComponentTarget {
    caller: FuzzExecutor,
    confirmer: FindingConfirmer,
    /// Whether a program fails that exits with another code than 0.
    exits_fail: bool,
    /// The input of the last run, and its verdict: what a call leaves undecided is asked for once.
    last_run: Option<(Digest, Verdict)>,
    /// Executions in which a property skipped its values.
    skipped: u64,
    /// How properties stand over all executions.
    properties: PropertyStatuses,
}

impl ComponentTarget {
    /// The functions of a program that was compiled to be called. Whether a fuzz target is warmed up, its confirmer has decided.
    pub fn open(
        prepared: &PreparedProgram,
        entry: &EntryPoint,
        seed: Seed,
        exits_fail: bool,
    ) -> Result<ComponentTarget, CampaignError> {
        let PreparedProgram { loaded, planned, .. } = prepared;
        let confirmer = FindingConfirmer::new(prepared, entry, seed)?;
        // The plan of an input names what is called; a program's begins without one.
        let called = match entry {
            EntryPoint::Program(_) => planned.plan.clone(),
            _ => entry.planned(confirmer.plan(), &planned.inputs, &[]).0,
        };
        let (component, cache) = (Arc::clone(&loaded.component), cache());
        let caller = FuzzExecutor::new(component, &called, &planned.inputs, entry, seed, cache.as_ref());
        let caller = caller.map_err(|error| caller_error(&loaded.target.name, &error))?;
        Ok(ComponentTarget {
            caller,
            confirmer,
            exits_fail,
            last_run: None,
            skipped: 0,
            properties: PropertyStatuses::default(),
        })
    }

    /// The executor of its calls, for measurements.
    pub fn caller_mut(&mut self) -> &mut FuzzExecutor {
        &mut self.caller
    }

    /// Who makes the calls.
    pub fn caller(&self) -> &FuzzExecutor {
        &self.caller
    }

    /// The source of drawn values; unused by targets that take bytes.
    fn source(&self, input: &[u8]) -> Option<Box<dyn DecisionSource>> {
        match self.confirmer.entry().input_use() {
            InputUse::Argument | InputUse::World => None,
            InputUse::Draws => Some(Box::new(StructuredInput::new(self.confirmer.seed(), input))),
        }
    }

    /// The verdict of a run, which `repeat` makes unless it is the last one.
    fn run(
        &mut self,
        input: &[u8],
        repeat: impl FnOnce(&mut FindingConfirmer) -> Result<ConfirmedRun, HarnessError>,
    ) -> Result<Verdict, HarnessError> {
        let digest = Digest::of(input);
        if let Some((last, verdict)) = &self.last_run
            && *last == digest
        {
            return Ok(verdict.clone());
        }
        let verdict = judge(&repeat(&mut self.confirmer)?.execution);
        self.last_run = Some((digest, verdict.clone()));
        Ok(verdict)
    }

    /// The verdict on a call that ended the program. Leaving is no failure of a program, which tells an error so, unless that was
    /// asked for or it left by a panic; elsewhere, leaving with success is none, as it is none of a run.
    fn failure(&self, end: &ExecutionEnd, stderr: &[u8], backtrace: &[StackFrame]) -> Option<Verdict> {
        let verdict = match end {
            ExecutionEnd::Exited { code: 0 } => return None,
            end => judge_end(end, stderr, backtrace),
        };
        let is_answer = matches!(end, ExecutionEnd::Exited { .. }) && verdict.status != Status::Crash;
        (!is_answer || self.exits_fail || !self.confirmer.is_program()).then_some(verdict)
    }
}

impl FuzzTarget for ComponentTarget {
    fn execute(&mut self, input: &[u8]) -> Result<FuzzOutcome, HarnessError> {
        let source = self.source(input);
        let again = source.as_ref().map(|source| source.fork());
        let mut outcome = self.caller.call(input, source)?;
        let mut failed = None;
        if let CallOutcome::Undecided = outcome {
            let verdict = self.run(input, |confirmer| confirmer.execute(input, 0..0))?;
            // What ends within the budget of a run ends in a call too, and is judged like any other.
            match verdict.status {
                Status::Timeout => failed = Some(verdict),
                _ => outcome = self.caller.call_to_end(input, again)?,
            }
        }
        let failed = match outcome {
            CallOutcome::Undecided => failed.map(Box::new),
            CallOutcome::Ended { end, backtrace, stderr } => self
                .failure(&end, &stderr, &backtrace)
                .or_else(|| judge_facts(self.caller.facts()).failure())
                .map(Box::new),
            CallOutcome::Returned => judge_facts(self.caller.facts()).failure().map(Box::new),
        };
        if let EntryPoint::Call(PlannedCall::Property(_)) = self.confirmer.entry() {
            let mut properties = self.caller.facts().properties.iter();
            self.skipped += u64::from(properties.any(|(name, told)| told.held == 0 && name.ends_with(HEALTH_SUFFIX)));
        }
        self.properties.observe_all(&self.caller.facts().properties);
        let memory = MemoryUse {
            stack_slots: self.caller.deepest_call(),
            ..MemoryUse::of(self.caller.memory_bytes(), self.caller.written_pages(), input.len())
        };
        Ok(FuzzOutcome { failed, memory })
    }

    fn coverage(&self, see: &mut dyn FnMut(&[u8])) {
        self.caller.coverage().for_each(|(_, bytes)| see(bytes));
    }

    fn compare(
        &mut self,
        input: &[u8],
        sites: CmpLogSites<'_>,
        log: &mut Vec<CmpLogEntry>,
    ) -> Result<u64, HarnessError> {
        let source = self.source(input);
        self.caller.compare(input, source, sites, log)
    }

    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError> {
        self.run(input, |confirmer| confirmer.confirm(input, 0..0))
    }
}

impl CampaignTarget for ComponentTarget {
    fn obstacles(&self) -> &[String] {
        self.caller.obstacles()
    }

    fn restore(&mut self) -> Result<(), HarnessError> {
        self.caller.ready()
    }

    fn edges_total(&self) -> u64 {
        self.caller.coverage().map(|(_, bytes)| bytes.len() as u64).sum()
    }

    fn repeated(&self) -> u64 {
        self.caller.repeated()
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn properties(&self) -> PropertyTable {
        self.properties.table()
    }
}
