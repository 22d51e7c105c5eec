//! A program under a plan: compiled once, then executed as often as is wanted.
//!
//! ```text
//! LoadedTarget + RunPlan ─compile─▶ PreparedProgram ─session─▶ Session ─execute─▶ Execution ─judge, record─▶ Recording
//! ```
//!
//! Invariant: nothing else in this workspace compiles a program that is run under a plan of the user.

use super::heap_watch::{heap_observer, is_watched, watching};
use super::load::{LoadedTarget, cache_for};
use super::plan::{RunPlan, plan};
use super::record::RecordingOrigin;
use super::today::{MachinesOfToday, PlanOfToday};
use crate::error::{CampaignError, ErrorKind};
use crate::options::{RunRequest, StopFlag};
use crate::project::Project;
use crate::search_clock::{TIME_DEFAULT, reprieve};
use fozzy_engine::{Build, Cache, Interrupt, Program, Session, SessionError, Switches};
use fozzy_report::RunMode;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::{Inputs, ScenarioPlan};
use fozzy_trace::{Digest, Duration, Execution, Plan, Seed};
use std::path::Path;
use std::sync::Arc;

/// A program, the plan that it is executed under, and its code.
#[derive(Clone)]
pub struct PreparedProgram {
    /// The program.
    pub loaded: LoadedTarget,
    /// Its plan.
    pub planned: RunPlan,
    /// Its code.
    pub program: Program,
    /// Ends executions of all its sessions from outside, once it is armed.
    pub interrupt: Interrupt,
    /// Ends runs that confirm and record failures, some time later; never unless granted.
    pub(crate) reprieve: Interrupt,
    /// Its code is that of plain runs.
    pub(crate) is_plain: bool,
}

impl PreparedProgram {
    /// A compiled program under its plan; nothing ends its executions from outside.
    pub(crate) fn of(loaded: LoadedTarget, planned: RunPlan, program: Program) -> PreparedProgram {
        let (interrupt, reprieve) = (Interrupt::default(), Interrupt::default());
        PreparedProgram { loaded, planned, program, interrupt, reprieve, is_plain: true }
    }

    /// Whether an exploration makes whole runs of it: of a program without steps, and of a scenario among other machines, which cannot be
    /// called step by step from outside.
    pub(crate) fn is_explored_whole(&self) -> bool {
        let plan = &self.planned.plan;
        let is_scenario = plan.scenario.is_some() || self.program.is_scenario();
        !is_scenario || plan.nodes.iter().any(|node| !node.called)
    }

    /// Lets runs that confirm and record failures end this much later than others; not as much where `stop` asks for the end.
    pub(crate) fn grant(&mut self, grace: Duration, stop: &StopFlag) {
        self.reprieve = reprieve(&self.interrupt, grace, StopFlag::clone(stop));
    }

    /// Plans and compiles a program for plain runs.
    pub fn new(
        project: &Project,
        loaded: LoadedTarget,
        request: &RunRequest,
    ) -> Result<PreparedProgram, CampaignError> {
        PreparedProgram::new_as(project, loaded, request, &Build::default())
    }

    /// The same, with another kind of build than that of a plain run.
    pub fn new_as(
        project: &Project,
        loaded: LoadedTarget,
        request: &RunRequest,
        build: &Build,
    ) -> Result<PreparedProgram, CampaignError> {
        let planned = plan(project, &loaded, request)?;
        let mut prepared = PreparedProgram::compile_as(loaded, planned, build)?;
        prepared.bound_time();
        Ok(prepared)
    }

    /// Bounds the virtual time of a program, unless its plan does. A scenario ends after its steps.
    pub fn bound_time(&mut self) {
        if !self.program.is_scenario() && self.loaded.scenario.is_none() {
            self.planned.plan.limits.time.get_or_insert(TIME_DEFAULT);
        }
    }

    /// Compiles a program for plain runs.
    pub fn compile(loaded: LoadedTarget, planned: RunPlan) -> Result<PreparedProgram, CampaignError> {
        PreparedProgram::compile_as(loaded, planned, &Build::default())
    }

    /// Compiles a program with another kind of build than that of a plain run.
    fn compile_as(loaded: LoadedTarget, planned: RunPlan, build: &Build) -> Result<PreparedProgram, CampaignError> {
        let cache = cache_for(Some(&loaded.target.name));
        PreparedProgram::compile_in(loaded, planned, build, cache.as_ref())
    }

    /// Another component in the place of one of its programs, for plain runs; its code is kept in `cache`.
    pub(crate) fn with_program(
        &self,
        old: Digest,
        component: Vec<u8>,
        cache: &Cache,
    ) -> Result<PreparedProgram, CampaignError> {
        let (mut loaded, mut planned) = (self.loaded.clone(), self.planned.clone());
        if Digest::of(&loaded.component) == old {
            loaded.component = component.clone().into();
        }
        // Machines of the plan may run it, too.
        let new = planned.inputs.add(component);
        planned.plan.replace_program(old, new);
        let compiled = PreparedProgram::compile_in(loaded, planned, &Build::default(), Some(cache))?;
        Ok(PreparedProgram { interrupt: self.interrupt.clone(), reprieve: self.reprieve.clone(), ..compiled })
    }

    fn compile_in(
        loaded: LoadedTarget,
        planned: RunPlan,
        build: &Build,
        cache: Option<&Cache>,
    ) -> Result<PreparedProgram, CampaignError> {
        let (component, plan) = (Arc::clone(&loaded.component), &planned.plan);
        let compiled = match plan.target() {
            Some(_) => Program::judge_as(component, Switches::of(plan), build, cache),
            // What is called need not be a command.
            None if plan.call.is_some() => Program::build(component, Switches::of(plan), build, cache),
            None => Program::new_as(component, Switches::of(plan), build, cache),
        };
        let refused = |error| CampaignError::new(ErrorKind::Target, format!("{}: {error}", loaded.target.name));
        let program = compiled.map_err(refused)?;
        let is_plain = *build == Build::default();
        Ok(PreparedProgram { is_plain, ..PreparedProgram::of(loaded, planned, program) })
    }

    /// The same program and plan, with another kind of build.
    pub fn rebuilt(&self, build: &Build) -> Result<PreparedProgram, CampaignError> {
        let rebuilt = PreparedProgram::compile_as(self.loaded.clone(), self.planned.clone(), build)?;
        Ok(PreparedProgram { interrupt: self.interrupt.clone(), reprieve: self.reprieve.clone(), ..rebuilt })
    }

    /// Compiles a program to call its functions, whatever it exports.
    pub fn to_call(loaded: LoadedTarget, planned: RunPlan, build: &Build) -> Result<PreparedProgram, CampaignError> {
        let component = Arc::clone(&loaded.component);
        let cache = cache_for(Some(&loaded.target.name));
        let compiled = Program::build(component, Switches::of(&planned.plan), build, cache.as_ref());
        let refused = |error| CampaignError::new(ErrorKind::Target, format!("{}: {error}", loaded.target.name));
        let program = compiled.map_err(refused)?;
        Ok(PreparedProgram::of(loaded, planned, program))
    }

    /// The program and the plan of a recording.
    pub fn of_recording(recording: &Recording) -> Result<PreparedProgram, CampaignError> {
        PreparedProgram::built_of_recording(recording, &Build::default())
    }

    /// The same, with another kind of build than that of a plain run.
    pub fn built_of_recording(recording: &Recording, build: &Build) -> Result<PreparedProgram, CampaignError> {
        let (loaded, planned) = (LoadedTarget::of_recording(recording), RunPlan::of_recording(recording));
        PreparedProgram::compile_as(loaded, planned, build)
    }

    /// Another program under the plan of a recording, with `machines` beside it.
    pub fn against(
        recording: &Recording,
        loaded: LoadedTarget,
        machines: &MachinesOfToday,
    ) -> Result<PreparedProgram, CampaignError> {
        let today = PlanOfToday::new(recording, &loaded, None, machines)?;
        PreparedProgram::compile(loaded, today.planned)
    }

    /// Plans this many sequences and flows of a scenario, by default those of its file or of [`ScenarioPlan`]; but one sequence beside
    /// machines that run on their own: they go on where another sequence would begin anew, and their history is one. `false` for a program
    /// that is no scenario.
    pub fn drive(&mut self, sequences: Option<u32>, flows: Option<u32>) -> bool {
        let mut default = ScenarioPlan::default();
        if self.planned.plan.nodes.iter().any(|node| !node.called) {
            default.sequences = 1;
        }
        self.planned.plan.scenario = match self.planned.plan.scenario.take() {
            // A scenario file has a fixed number of steps; no more of them are run.
            Some(own) => {
                let flows = flows.map_or(own.flows, |flows| flows.min(own.flows));
                Some(ScenarioPlan::all(sequences.unwrap_or(own.sequences), flows))
            }
            None => self
                .program
                .is_scenario()
                .then(|| ScenarioPlan::all(sequences.unwrap_or(default.sequences), flows.unwrap_or(default.flows))),
        };
        self.planned.plan.scenario.is_some()
    }

    /// A session on the simulated computer.
    pub fn session(&self) -> Result<Session, CampaignError> {
        self.session_under(&self.planned.plan, &self.planned.inputs)
    }

    /// A session under another plan, which needs no other code.
    pub fn session_under(&self, plan: &Plan, inputs: &Inputs) -> Result<Session, CampaignError> {
        let mut session = session(self.program.clone(), plan, inputs)?;
        session.interrupt_by(self.interrupt.clone());
        // Most plans have no such budget, and what follows copies all of the program and its inputs.
        if self.is_plain && is_watched(plan) {
            let planned = RunPlan { plan: plan.clone(), inputs: inputs.clone(), ..self.planned.clone() };
            let program = PreparedProgram { planned, ..self.clone() };
            let planned = program.planned.clone();
            let mut watched: Option<PreparedProgram> = None;
            let sessions = move || match &mut watched {
                Some(program) => program.session(),
                none => none.insert(program.rebuilt(&watching())?).session(),
            };
            heap_observer(&planned, sessions).into_iter().for_each(|it| session.observe_heap(it));
        }
        Ok(session)
    }

    /// A session that may use the parts of the real computer that the plan allows. The run store at `store` is hidden.
    pub fn live_session(&self, store: &Path) -> Result<Session, CampaignError> {
        let mut session = self.session()?;
        self.planned.open(&mut session, store)?;
        Ok(session)
    }

    /// The same, and it reads our own standard input.
    pub fn piped_session(&self, store: &Path) -> Result<Session, CampaignError> {
        let mut session = self.live_session(store)?;
        if let Some(stdin) = &self.planned.stdin {
            session.read_from(Arc::clone(stdin));
        }
        Ok(session)
    }

    /// What traces of its runs say beside the execution.
    pub fn origin(&self, seed: Seed, mode: RunMode) -> RecordingOrigin {
        let (target, component) = (self.loaded.target.clone(), Arc::clone(&self.loaded.component));
        RecordingOrigin { target, component, seed, mode: mode.name().to_owned() }
    }

    /// An execution under its own plan, judged, as a recording.
    pub fn record(&self, execution: &Execution, seed: Seed, mode: RunMode) -> Recording {
        let RunPlan { plan, inputs, .. } = &self.planned;
        self.origin(seed, mode).record(&self.program, plan.clone(), inputs, execution)
    }
}

/// A session of the program and the plan of a recording.
pub fn session_of(recording: &Recording) -> Result<Session, CampaignError> {
    PreparedProgram::of_recording(recording)?.session()
}

/// A session of `program` under `plan`.
fn session(program: Program, plan: &Plan, inputs: &Inputs) -> Result<Session, CampaignError> {
    Session::new(program, Arc::new(plan.clone()), inputs).map_err(|error| {
        let nearest = match &error {
            SessionError::Link(error) => error.looked_for().and_then(|(word, known)| {
                let nearest = fozzy_plan::nearest(word, known.iter().map(String::as_str))?;
                Some(format!("did you mean `{nearest}`? `fozzy inspect` shows what a component imports and exports"))
            }),
            _ => None,
        };
        let refused = CampaignError::new(ErrorKind::Plan, error.to_string());
        match nearest {
            Some(hint) => refused.hint(hint),
            None => refused,
        }
    })
}
