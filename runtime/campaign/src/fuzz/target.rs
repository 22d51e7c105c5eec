//! A component as a target of a campaign: called in the fast lane, judged, and confirmed by a run of its own.
//!
//! ```text
//! input ─▶ Caller (checkpoint, call) ─▶ returned │ ended: judged by how it ended
//! input ─▶ Confirmer (Session, under the plan of the input) ─▶ Execution ─▶ verdict, Recording
//! ```
//!
//! Invariant: what a finding is, a run says that can be recorded; the fast lane only says where to look.

use super::machines_target::MachinesTarget;
use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::{self, PreparedProgram, cache};
use fozzy_check::{judge, judge_end, judge_facts};
use fozzy_engine::{
    CallOutcome, EntryPoint, ExportedFunctions, FirstInputs, FuzzExecutor, InputUse, Program, Session, written,
};
use fozzy_report::HEALTH_SUFFIX;
use fozzy_search::fuzz::{FuzzOutcome, FuzzTarget, MemoryUse, StructuredInput};
use fozzy_trace::plan::{FUEL_DEFAULT, Inputs, PlannedCall};
use fozzy_trace::source::{Override, RecordedSource, SeededSource};
use fozzy_trace::{
    CmpLogEntry, DecisionSource, Digest, Execution, ExecutionEnd, Executor, HarnessError, HistoryWindow, NodeId, Plan,
    Purpose, Question, Seed, Status, Verdict, digest,
};
use std::sync::Arc;

/// Instructions that one execution of a campaign may use unless a flag or a file says otherwise: a tenth of a run's, as there are
/// many, and those that do not end cost them all.
pub const FUEL_OF_A_CALL: u64 = FUEL_DEFAULT / 10;

/// Runs one input as a run that can be recorded.
pub struct FindingConfirmer {
    session: Session,
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
    /// `plan` and `inputs` are those to which an input is added. A fuzz target is warmed up if it can be.
    pub fn new(
        program: Program,
        searched: &EntryPoint,
        plan: &Plan,
        inputs: &Inputs,
        seed: Seed,
    ) -> Result<FindingConfirmer, CampaignError> {
        let warm = Plan { warm_up: searched.input_use() == InputUse::Argument, ..plan.clone() };
        let mut confirmer = FindingConfirmer::under(warm, program.clone(), searched, inputs, seed)?;
        if confirmer.plan.warm_up && judge(&confirmer.execute(&[], 0..0)?.execution).status != Status::Pass {
            confirmer = FindingConfirmer::under(plan.clone(), program, searched, inputs, seed)?;
        }
        Ok(confirmer)
    }

    fn under(
        plan: Plan,
        program: Program,
        searched: &EntryPoint,
        inputs: &Inputs,
        seed: Seed,
    ) -> Result<FindingConfirmer, CampaignError> {
        let (first, its) = searched.planned(&plan, inputs, &[]);
        let session = pipeline::session(program, &first, &its)?;
        Ok(FindingConfirmer { session, searched: searched.clone(), plan, inputs: inputs.clone(), seed })
    }

    /// The plan to which an input is added.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether a program is run from beginning to end, whose exit code is its answer.
    pub fn is_program(&self) -> bool {
        matches!(self.searched, EntryPoint::Program(_))
    }

    /// What runs are made with.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The same, to change it.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Runs one input from the start.
    pub fn execute(&mut self, input: &[u8], keep: HistoryWindow) -> Result<ConfirmedRun, HarnessError> {
        let (plan, inputs) = self.searched.planned(&self.plan, &self.inputs, input);
        if let EntryPoint::Program(_) = self.searched {
            let replanned = self.session.replan(Arc::new(plan.clone()), &inputs);
            replanned.map_err(|error| HarnessError { what: error.to_string() })?;
        }
        let execution = self.session.execute(self.source(input), keep)?;
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

/// A target with what a campaign reports of it.
pub trait CampaignTarget: FuzzTarget {
    /// Why each execution begins with a new instance, one sentence each.
    fn obstacles(&self) -> &[String] {
        &[]
    }

    /// Edges that are told apart.
    fn edges_total(&self) -> u64;

    /// Calls that were repeated with fuel.
    fn repeated(&self) -> u64 {
        0
    }

    /// Executions in which a property skipped its values.
    fn skipped(&self) -> u64 {
        0
    }
}

/// The target of a campaign: with other machines in its plan, whole runs; else calls from a checkpoint.
///
/// # Errors
/// When it cannot be compiled or started.
pub fn campaign_target(
    prepared: &PreparedProgram,
    entry: &EntryPoint,
    seed: Seed,
    exits_fail: bool,
) -> Result<Box<dyn CampaignTarget>, CampaignError> {
    Ok(match MachinesTarget::is_for(&prepared.planned.plan) {
        true => Box::new(MachinesTarget::open(prepared, entry, seed, exits_fail)?),
        false => Box::new(ComponentTarget::open(prepared, entry, seed, exits_fail)?),
    })
}

/// The functions by which a program can be searched under its plan. With other machines, it is run as a whole.
///
/// # Errors
/// When it cannot be started.
pub fn functions_of(prepared: &PreparedProgram, seed: Seed) -> Result<ExportedFunctions, CampaignError> {
    let PreparedProgram { loaded, planned, program } = prepared;
    if MachinesTarget::is_for(&planned.plan) {
        return match program.is_command() {
            true => Ok(ExportedFunctions { runs: true, ..ExportedFunctions::default() }),
            false => {
                let message = format!(
                    "{} is no program that is run as a whole, and with other machines or [expect] in its plan an execution is a whole run",
                    loaded.target.name
                );
                Err(CampaignError::new(ErrorKind::Target, message))
            }
        };
    }
    let functions = fozzy_engine::functions(program, &planned.plan, &planned.inputs, seed);
    functions.map_err(|error| caller_error(&loaded.target.name, &error))
}

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
}

impl ComponentTarget {
    /// The functions of a program that was compiled to be called. Whether a fuzz target is warmed up, its confirmer has decided.
    pub fn open(
        prepared: &PreparedProgram,
        entry: &EntryPoint,
        seed: Seed,
        exits_fail: bool,
    ) -> Result<ComponentTarget, CampaignError> {
        let PreparedProgram { loaded, planned, program } = prepared;
        let confirmer = FindingConfirmer::new(program.clone(), entry, &planned.plan, &planned.inputs, seed)?;
        // The plan of an input names what is called; a program's begins without one.
        let called = match entry {
            EntryPoint::Program(_) => planned.plan.clone(),
            _ => entry.planned(confirmer.plan(), &planned.inputs, &[]).0,
        };
        let (component, cache) = (Arc::clone(&loaded.component), cache());
        let caller = FuzzExecutor::new(component, &called, &planned.inputs, entry, seed, cache.as_ref());
        let caller = caller.map_err(|error| caller_error(&loaded.target.name, &error))?;
        Ok(ComponentTarget { caller, confirmer, exits_fail, last_run: None, skipped: 0 })
    }

    /// Runs an input as a run that can be recorded.
    pub fn confirmer_mut(&mut self) -> &mut FindingConfirmer {
        &mut self.confirmer
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
        match self.confirmer.searched.input_use() {
            InputUse::Argument | InputUse::World => None,
            InputUse::Draws => Some(Box::new(StructuredInput::new(self.confirmer.seed, input))),
        }
    }

    /// The verdict of a run.
    fn run(&mut self, input: &[u8]) -> Result<Verdict, HarnessError> {
        let digest = Digest::of(input);
        if let Some((last, verdict)) = &self.last_run
            && *last == digest
        {
            return Ok(verdict.clone());
        }
        let verdict = judge(&self.confirmer.execute(input, 0..0)?.execution);
        self.last_run = Some((digest, verdict.clone()));
        Ok(verdict)
    }

    /// Leaving is no failure of a program, which tells an error so, unless that was asked for; elsewhere, leaving with success
    /// is none, as it is none of a run.
    fn is_failure(&self, end: &ExecutionEnd) -> bool {
        match end {
            ExecutionEnd::Exited { code: 0 } => false,
            ExecutionEnd::Exited { .. } => {
                self.exits_fail || !matches!(self.confirmer.searched, EntryPoint::Program(_))
            }
            _ => true,
        }
    }
}

impl FuzzTarget for ComponentTarget {
    fn execute(&mut self, input: &[u8]) -> Result<FuzzOutcome, HarnessError> {
        let source = self.source(input);
        let again = source.as_ref().map(|source| source.fork());
        let mut outcome = self.caller.call(input, source)?;
        let mut failed = None;
        if let CallOutcome::Undecided = outcome {
            let verdict = self.run(input)?;
            // What ends within the budget of a run ends in a call too, and is judged like any other.
            match verdict.status {
                Status::Timeout => failed = Some(verdict),
                _ => outcome = self.caller.call_to_end(input, again)?,
            }
        }
        let failed = match outcome {
            CallOutcome::Undecided => failed.map(Box::new),
            CallOutcome::Ended { end, backtrace, stderr } if self.is_failure(&end) => {
                Some(Box::new(judge_end(&end, &stderr, &backtrace)))
            }
            CallOutcome::Returned | CallOutcome::Ended { .. } => judge_facts(self.caller.facts()).map(Box::new),
        };
        if let EntryPoint::Call(PlannedCall::Property(_)) = self.confirmer.searched {
            let mut properties = self.caller.facts().properties.iter();
            self.skipped += u64::from(properties.any(|(name, told)| told.held == 0 && name.ends_with(HEALTH_SUFFIX)));
        }
        let memory = MemoryUse::of(self.caller.memory_bytes(), self.caller.written_pages(), input.len());
        Ok(FuzzOutcome { failed, memory })
    }

    fn coverage(&self, see: &mut dyn FnMut(&[u8])) {
        self.caller.coverage().for_each(|(_, bytes)| see(bytes));
    }

    fn compare(&mut self, input: &[u8], log: &mut Vec<CmpLogEntry>) -> Result<(), HarnessError> {
        let source = self.source(input);
        self.caller.compare(input, source, log)
    }

    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError> {
        self.run(input)
    }
}

impl CampaignTarget for ComponentTarget {
    fn obstacles(&self) -> &[String] {
        self.caller.obstacles()
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
}

/// Inputs to begin with where there is no corpus.
pub fn made_up(searched: &EntryPoint, seed: Seed, bytes_max: usize) -> Vec<Vec<u8>> {
    let lengths = match searched.first_inputs() {
        FirstInputs::None => return Vec::new(),
        FirstInputs::Texts(texts) => return texts.iter().map(|text| text.as_bytes().to_vec()).collect(),
        FirstInputs::Random(lengths) => lengths,
    };
    let mut source = SeededSource::new(seed);
    let question = Question { node: NodeId(0), purpose: Purpose::Random, site: "made up" };
    let mut random = |length: &usize| {
        let mut input = vec![0; (*length).min(bytes_max)];
        source.fill(question, &mut input);
        input
    };
    lengths.iter().map(&mut random).collect()
}

/// A component that cannot be called, as an error of the command.
pub fn caller_error(name: &str, error: &fozzy_engine::ExecutorError) -> CampaignError {
    CampaignError::new(ErrorKind::Target, format!("{name}: {error}"))
}
