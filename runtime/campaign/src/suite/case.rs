//! One scenario of a suite: built, then run like `fozzy run` runs it, and judged.
//!
//! ```text
//! Selected ─prepare─▶ Case { file, expect } ─▶ load ─▶ plan ─▶ execute (seed of its name) ─▶ judge ─▶ CaseSummary
//! ```
//!
//! Invariant: a case that did not pass leaves a trace that replays alone.

use super::expect::{Expect, own_plan};
use super::select::{CaseOverrides, Kind, SuiteEntry, shown};
use crate::error::CampaignError;
use crate::options::{LimitOptions, Project, WorldOptions};
use crate::pipeline::{ENTRIES_KEPT, driven as of_file, kept, recorded};
use crate::plan::plan;
use crate::store::{self, RunFolder};
use crate::target;
use crate::wall_clock::Stopwatch;
use fozzy_engine::Program;
use fozzy_report::suite::CaseSummary;
use fozzy_report::{RunIdentity, RunMode, RunSummary};
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::plan::ScenarioPlan;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, Executor, Seed, Status};
use std::path::{Path, PathBuf};

/// How the cases of a suite are run.
#[derive(Clone, Debug, Default)]
pub struct SuiteOptions {
    /// Whether each is held to what its `expect.toml` says.
    pub expect: bool,
    /// Sequences of each scenario.
    pub sequences: Option<u32>,
    /// Flows of each sequence.
    pub flows: Option<u32>,
    /// Arguments of each program.
    pub args: Vec<String>,
    /// Bounds of each execution.
    pub limits: LimitOptions,
    /// What the simulated computer has.
    pub world: WorldOptions,
}

/// What all cases of a suite share.
pub struct Suite<'a> {
    pub project: &'a Project,
    pub options: &'a SuiteOptions,
    pub seed: Seed,
    pub folder: &'a RunFolder,
    pub collision: CollisionPolicy,
}

/// A scenario that is ready to be run, as far as that can be said without loading it.
pub struct Case {
    pub name: String,
    pub path: PathBuf,
    pub kind: Kind,
    /// The program's file. A crate is built by now.
    pub file: Result<PathBuf, CampaignError>,
    expect: Result<Expect, CampaignError>,
    given: CaseOverrides,
    /// Where its trace is written when it was asked for.
    record: Option<PathBuf>,
    /// The name of its trace in the folder of the run.
    trace_name: String,
}

/// Seeds stay below this, so that readers of JSON that know only floating-point numbers have them exactly.
const SEED_BITS: u32 = 53;

/// The seed of a scenario: it depends on that of the suite and on its own name only.
pub fn seed_of(suite: Seed, name: &str) -> Seed {
    let digest = Digest::of(format!("fozzy test 1\n{suite}\n{name}").as_bytes()).to_string();
    let number = u64::from_str_radix(&digest[..16], 16).unwrap_or_default();
    Seed(number >> (u64::BITS - SEED_BITS))
}

impl Case {
    /// Builds what is to be built.
    pub fn prepare(selected: SuiteEntry, record: Option<PathBuf>, trace_name: String) -> Case {
        let SuiteEntry { name, path, kind, given } = selected;
        let file = match kind {
            Kind::Crate | Kind::Folder => crate::build::build(&path),
            Kind::Program | Kind::Json => Ok(path.clone()),
        };
        let expect = Expect::of(&path, kind);
        Case { name, path, kind, file, expect, given, record, trace_name }
    }

    /// Its path, and which of several cases of one file it is.
    pub fn shown(&self) -> String {
        match &self.given.which {
            Some(which) => format!("{} [{which}]", shown(&self.path)),
            None => shown(&self.path),
        }
    }

    /// Runs it.
    pub fn run(&self, suite: &Suite<'_>) -> CaseSummary {
        let watch = Stopwatch::start();
        let path = self.shown();
        let case = match self.attempt(suite, &watch) {
            Ok(run) => CaseSummary::ran(&self.name, &path, run),
            Err(error) => CaseSummary::failed_to_run(&self.name, &path, error.document()),
        };
        let case = match &self.expect {
            Ok(expect) if suite.options.expect && case.run.is_some() => case.expecting(expect.expectation()),
            _ => case,
        };
        let duration_ns = watch.facts().duration_ns;
        CaseSummary { duration_ms: duration_ns / 1_000_000, duration_ns, ..case }
    }

    /// The component that it judges, if it judges one.
    pub fn judged(&self, suite: &Suite<'_>) -> Option<PathBuf> {
        let own = || self.expect.as_ref().ok().and_then(|expect| expect.judged(&self.path));
        suite.options.world.judged.clone().or_else(own)
    }

    fn attempt(&self, suite: &Suite<'_>, watch: &Stopwatch) -> Result<RunSummary, CampaignError> {
        let Suite { project, options, folder, .. } = suite;
        let expect = self.expect.as_ref().map_err(CampaignError::clone)?;
        let file = self.file.as_ref().map_err(CampaignError::clone)?;
        let loaded = target::load(file)?;
        let name = &loaded.target.name;
        let own = self.given.plan.clone().or_else(|| own_plan(&self.path, self.kind));
        let world = WorldOptions {
            plan: options.world.plan.clone().or(own),
            judged: self.judged(suite),
            ..options.world.clone()
        };
        let mut planned = plan(project, &loaded, &options.args, &options.limits, &world)?;
        let program = target::compile(loaded.component.clone(), &planned.plan, name)?;
        planned.plan.scenario = match planned.plan.scenario {
            Some(own) => Some(of_file(own, options.sequences, options.flows)),
            None => driven(&program, options, expect),
        };
        let mut session = target::session(program, &planned.plan, &planned.inputs)?;
        planned.open(&mut session, &project.config.base_dir)?;
        let seed = self.given.seed.unwrap_or_else(|| seed_of(suite.seed, &self.name));
        let execution = session.execute(Box::new(SeededSource::new(seed)), 0..ENTRIES_KEPT)?;
        let target = loaded.summary();
        let recording = recorded(loaded, planned, session.program(), &execution, seed, RunMode::Test);
        let trace = match &self.record {
            Some(path) => Some((path.clone(), suite.collision)),
            None if recording.outcome.verdict.status == Status::Pass && !project.keep_passing => None,
            None => Some((folder.path.join(&self.trace_name), CollisionPolicy::Error)),
        };
        let trace = trace.map(|(path, collision)| write(&recording, &path, collision)).transpose()?;
        let identity = identity(folder, seed, trace.as_deref());
        let summary =
            RunSummary::of(RunMode::Test, identity, target, &recording.outcome, kept(&execution), watch.facts());
        Ok(summary.telling(&execution.facts))
    }
}

/// Writes a trace and says where it is.
pub fn write(recording: &Recording, path: &Path, collision: CollisionPolicy) -> Result<PathBuf, CampaignError> {
    let bytes = recording.to_bytes().map_err(|error| CampaignError::new("trace", error.to_string()))?;
    store::write_trace(path, &bytes, collision)
}

/// A run inside of a suite's.
pub fn identity(folder: &RunFolder, seed: Seed, trace: Option<&Path>) -> RunIdentity {
    let trace_path = trace.map(|path| path.display().to_string());
    RunIdentity { run_id: folder.id.clone(), seed, trace_path, report_path: None, artifacts_dir: None }
}

/// How far a scenario is driven: as flags say, else as its own files say. A plain program is not driven.
fn driven(program: &Program, options: &SuiteOptions, expect: &Expect) -> Option<ScenarioPlan> {
    let default = ScenarioPlan::default();
    let sequences = options.sequences.or(expect.sequences).unwrap_or(default.sequences);
    let flows = options.flows.or(expect.flows).unwrap_or(default.flows);
    program.is_scenario().then(|| ScenarioPlan::all(sequences, flows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_follows_from_the_suites_and_the_name_and_from_nothing_else() {
        let seed = |suite, name| seed_of(Seed(suite), name).0;
        // Promised: another number would make every suite another one.
        assert_eq!((seed(0, "bank"), seed(0, "cache")), (8_666_468_494_877_097, 7_477_650_406_164_298));
        assert_ne!(seed(0, "bank"), seed(1, "bank"));
        assert!((0..100).all(|suite| seed(suite, "bank") < 1 << SEED_BITS));
    }
}
