//! What recorded runs, or the inputs of a corpus, have covered together.
//!
//! ```text
//! traces ─▶ each executed with coverage, and compared with what was recorded ─┬─▶ union ─▶ CoverageDocument
//! inputs ─▶ a program executed with each of them ─────────────────────────────┤
//! the saved state of an exploration ─▶ the runs of its paths, as traces ───────┘
//! ```
//!
//! Code that notes its edges uses more fuel, so it is given [`FUEL_TIMES`] as much, and what it used is not compared. A run
//! that ended because its fuel was used up gets no more than it had: what is shown of it is a part of what it has reached.
//!
//! Invariant: what is shown was reached in the recorded run itself: an execution that is another one is refused.

use super::component;
use crate::error::{CampaignError, ErrorKind};
use crate::explore::setup::ExplorationSetup;
use crate::inputs::{InputOptions, InputRunner};
use crate::options::RunRequest;
use crate::other_build::other_build_difference;
use crate::pipeline::{LoadedTarget, PreparedProgram, RunPlan, load, plan};
use crate::project::Project;
use fozzy_check::judge;
use fozzy_engine::{Build, Program, ProgramCoverage, Session, Switches};
use fozzy_instrument::{CoverageMode, ModuleChoice};
use fozzy_report::coverage::{COVERAGE_SCHEMA, CoverageDocument};
use fozzy_trace::file::Recording;
use fozzy_trace::{Digest, ExecutionEnd, Executor, Plan, Status, counted};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Fuel of an execution with coverage, in budgets of the recorded run. Setting a byte takes three instructions for each edge and
/// counting eight; no code has an edge for each instruction of its own.
pub const FUEL_TIMES: u64 = 16;

/// Everything of one component over all traces.
struct Entry {
    name: String,
    program: Program,
    covered: ProgramCoverage,
}

/// What all traces together have covered.
pub struct CoverageUnion {
    build: Build,
    entries: BTreeMap<Digest, Entry>,
    /// Components in the order in which they were first executed, targets before what their plans name.
    order: Vec<Digest>,
    traces: Vec<String>,
    remarks: Vec<String>,
    /// The program of the last trace, which is most often that of the next, too.
    last: Option<(Digest, Switches, Program)>,
}

impl CoverageUnion {
    /// Of these core modules, those that are meant by no name being the project's own; with counts, or with hits only.
    pub fn new(modules: &[String], counters: bool) -> CoverageUnion {
        let modules = match modules {
            [] => ModuleChoice::Own,
            names if names.iter().any(|name| name == "*") => ModuleChoice::All,
            names => ModuleChoice::Named(names.to_vec()),
        };
        let coverage = if counters { CoverageMode::Counters } else { CoverageMode::SetOnce };
        let build = Build { coverage, modules, ..Build::default() };
        let (traces, remarks) = (Vec::new(), Vec::new());
        CoverageUnion { build, entries: BTreeMap::new(), order: Vec::new(), traces, remarks, last: None }
    }

    /// Executes a recorded run once more. Under `strict` one that comes out otherwise is an error.
    pub fn execute(&mut self, trace: &str, recording: &Recording, strict: bool) -> Result<(), CampaignError> {
        let session = self.observe(trace, recording, strict)?;
        self.add(&session, recording);
        self.traces.push(trace.to_owned());
        Ok(())
    }

    /// The same, and what it has covered is left in the session.
    pub(crate) fn observe(
        &mut self,
        trace: &str,
        recording: &Recording,
        strict: bool,
    ) -> Result<Session, CampaignError> {
        let mut session = self.prepared(recording)?.session()?;
        let starved = matches!(recording.outcome.end, ExecutionEnd::FuelExhausted { .. });
        session.fuel_times(if starved { 1 } else { FUEL_TIMES });
        let execution = session.execute(fozzy_search::source_of(recording), 0..0)?;
        let verdict = judge(&execution);
        if starved {
            self.remarks.push(format!(
                "{trace} ended when its fuel was used up; code that notes its edges uses more, so that less of the run is shown"
            ));
        } else if let Some(difference) = other_build_difference(recording, execution, verdict) {
            let (left, right) = (difference.left, difference.right);
            let what =
                format!("{trace}: this is not the recorded run: {}: recorded {left}, found {right}", difference.what);
            if strict {
                return Err(CampaignError::new(ErrorKind::Replay, what)
                    .hint(format!("fozzy replay {}", fozzy_report::shell_word(trace))));
            }
            self.remarks.push(what);
        }
        Ok(session)
    }

    /// What is worth knowing of the runs so far.
    pub(crate) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// How programs are compiled for it.
    pub(crate) fn build(&self) -> &Build {
        &self.build
    }

    /// Gives the files to the program at `target`, one after the other.
    pub fn give(
        &mut self,
        project: &Project,
        target: &Path,
        request: &RunRequest,
        given: &InputOptions,
        files: &[PathBuf],
    ) -> Result<(), CampaignError> {
        let loaded = load(target, &project.remarks)?;
        let name = loaded.target.name.clone();
        let planned = plan(project, &loaded, request)?;
        if planned.is_live() {
            let message = "inputs are executed on the simulated computer, and the plan asks for the real one";
            return Err(CampaignError::new(ErrorKind::Plan, message));
        }
        let prepared = PreparedProgram::to_call(loaded, planned, &self.build)?;
        let own = Digest::of(prepared.program.component());
        let mut runner = InputRunner::of(given, &prepared, FUEL_TIMES)?;
        let mut failed = Vec::new();
        for path in files {
            let reached = runner.execute(path)?;
            if reached.verdict.status != Status::Pass {
                failed.push(path.display().to_string());
            }
            for (digest, (program, covered)) in reached.covered {
                let name = || if digest == own { name.clone() } else { name_of(&prepared.planned.plan, digest) };
                self.add_one(digest, name, &program, &covered);
            }
            self.traces.push(path.display().to_string());
        }
        if let Some(first) = failed.first() {
            let (number, all) = (failed.len(), counted(files.len() as u64, "input"));
            self.remarks.push(format!("{number} of {all} did not pass, the first is {first}"));
        }
        Ok(())
    }

    /// Executes what an exploration of the program at `target` has kept in the file `state`: the runs of its paths.
    pub fn explored(
        &mut self,
        project: &Project,
        target: &Path,
        request: &RunRequest,
        state: &Path,
    ) -> Result<(), CampaignError> {
        let loaded = load(target, &project.remarks)?;
        let mut setup = ExplorationSetup::of_state(project, loaded, request, state, Arc::new(|| false))?;
        for (recording, number) in setup.kept_runs().zip(1..) {
            self.execute(&format!("{} run {number}", state.display()), &recording?, false)?;
        }
        Ok(())
    }

    fn prepared(&mut self, recording: &Recording) -> Result<PreparedProgram, CampaignError> {
        let (digest, switches) = (Digest::of(&recording.component), Switches::of(&recording.plan));
        if let Some((known, under, program)) = &self.last
            && (known, under) == (&digest, &switches)
        {
            let (loaded, planned) = (LoadedTarget::of_recording(recording), RunPlan::of_recording(recording));
            return Ok(PreparedProgram::of(loaded, planned, program.clone()));
        }
        let prepared = PreparedProgram::built_of_recording(recording, &self.build)?;
        self.last = Some((digest, switches, prepared.program.clone()));
        Ok(prepared)
    }

    fn add(&mut self, session: &Session, recording: &Recording) {
        let target = Digest::of(&recording.component);
        let mut found: Vec<(&Digest, &ProgramCoverage)> = session.coverage().iter().collect();
        found.sort_by_key(|(digest, _)| (**digest != target, **digest));
        for (&digest, covered) in found {
            let Some(program) = session.program_named(digest) else { continue };
            let name = || match digest == target {
                true => recording.target.name.clone(),
                false => name_of(&recording.plan, digest),
            };
            self.add_one(digest, name, program, covered);
        }
    }

    fn add_one(&mut self, digest: Digest, name: impl FnOnce() -> String, program: &Program, covered: &ProgramCoverage) {
        let entry = self.entries.entry(digest).or_insert_with(|| {
            self.order.push(digest);
            Entry { name: name(), program: program.clone(), covered: ProgramCoverage::default() }
        });
        entry.covered.merge(covered, self.build.coverage);
    }

    /// All of it as a document.
    pub fn document(self) -> Result<CoverageDocument, CampaignError> {
        let entries: Vec<&Entry> = self.order.iter().filter_map(|digest| self.entries.get(digest)).collect();
        if let ModuleChoice::Named(names) = &self.build.modules
            && entries.iter().all(|entry| entry.program.sites().is_empty())
        {
            return Err(no_such_module(names, &entries));
        }
        let components = entries.iter().map(|entry| component(&entry.program, &entry.name, &entry.covered));
        let (components, inlines): (Vec<_>, Vec<bool>) = components.unzip();
        let mut remarks = self.remarks;
        remarks.extend(inlines.contains(&true).then(|| OPTIMISED.to_owned()));
        let mut document = CoverageDocument {
            schema_version: COVERAGE_SCHEMA.to_owned(),
            counting: if self.build.coverage == CoverageMode::Counters { "counts" } else { "hits" }.to_owned(),
            components,
            traces: self.traces,
            remarks,
            ..CoverageDocument::default()
        };
        document.settle();
        Ok(document)
    }
}

/// What a reader has to know of counts of lines in such a build.
const OPTIMISED: &str = "the build is optimised: functions are inlined, lines merged or removed, so that a line may have the count of its neighbour or \
                         none; without optimisation (in Rust `opt-level = 0` in [profile.release], in C `-O0`) each line has its own";

/// What the plan calls a further component: the machine that it runs on.
pub(crate) fn name_of(plan: &Plan, component: Digest) -> String {
    let nodes = plan.nodes.iter();
    let node = nodes.into_iter().find(|node| node.program.component == component);
    node.map_or_else(|| format!("component {}", &component.to_string()[..12]), |node| node.name.clone())
}

fn no_such_module(names: &[String], entries: &[&Entry]) -> CampaignError {
    let modules = entries.iter().flat_map(|entry| entry.program.maps().modules());
    let there: Vec<String> = modules.flat_map(|module| module.names()).map(|name| format!("`{name}`")).collect();
    let message =
        format!("--instrument: no core module is called {}; there are {}", names.join(" or "), there.join(", "));
    CampaignError::new(ErrorKind::Usage, message).hint("--instrument '*' takes all of them")
}
