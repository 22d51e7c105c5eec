//! One scenario of a suite: built, then run like `fozzy run` runs it, and judged.
//!
//! ```text
//! Selected ─prepare─▶ Case { file, expect } ─▶ load ─▶ plan ─▶ execute (seed of its name) ─▶ judge ─▶ CaseSummary
//! ```
//!
//! Invariant: a case that did not pass leaves a trace that replays alone.

use super::entry::{CaseOverrides, Kind, SuiteEntry, shown};
use super::expect::{Expect, own_plan};
use crate::block_stacks::{origins_of, related_stacks};
use crate::cluster_plan::{built_clients, clients_of_target};
use crate::error::CampaignError;
use crate::options::{RunRequest, WorldOptions};
use crate::pipeline::{ENTRIES_KEPT, PreparedProgram, RecordPolicy, kept, load};
use crate::profile::unchecked_heap;
use crate::project::Project;
use crate::remarks::Remarks;
use crate::sequence::failing_sequence;
use crate::store::RunFolder;
use crate::wall_clock::Stopwatch;
use fozzy_engine::Build;
use fozzy_report::suite::CaseSummary;
use fozzy_report::{RunIdentity, RunMode, RunSummary};
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, Executor, Seed};
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
    /// How each program is run.
    pub request: RunRequest,
}

/// What all cases of a suite share.
pub struct Suite<'a> {
    /// The project.
    pub project: &'a Project,
    /// How each case is run.
    pub options: &'a SuiteOptions,
    /// Where the seeds of cases come from.
    pub seed: Seed,
    /// The folder of the run.
    pub folder: &'a RunFolder,
    /// What to do when a trace is there.
    pub collision: CollisionPolicy,
}

/// A scenario to run, with what is known of it before it is loaded.
pub struct Case {
    /// Its name in reports.
    pub name: String,
    /// The file or the folder.
    pub path: PathBuf,
    /// What that is.
    pub kind: Kind,
    /// The program's file. A crate is built by now; of a cluster, it is that of the clients.
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
    pub fn prepare(selected: SuiteEntry, record: Option<PathBuf>, trace_name: String, remarks: &Remarks) -> Case {
        let SuiteEntry { name, path, kind, given } = selected;
        let file = match kind {
            Kind::Crate | Kind::Folder => crate::build::build(&path, remarks),
            Kind::Program | Kind::Json => Ok(path.clone()),
            Kind::Cluster => built_clients(&path, remarks),
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
        suite.options.request.world.judged.clone().or_else(own)
    }

    /// How it is run: by its own plan, unless the suite has one for all.
    pub(super) fn request(&self, suite: &Suite<'_>) -> Result<RunRequest, CampaignError> {
        self.expect.as_ref().map_err(CampaignError::clone)?;
        let request = &suite.options.request;
        let given = request.world.plan.clone().or_else(|| self.given.plan.clone());
        if self.kind == Kind::Cluster {
            clients_of_target(&self.path, given.as_deref())?;
        }
        let world = WorldOptions {
            plan: given.or_else(|| own_plan(&self.path, self.kind)),
            judged: self.judged(suite),
            ..request.world.clone()
        };
        Ok(RunRequest { world, ..request.clone() })
    }

    /// Its program under its plan, with this kind of build.
    pub(crate) fn prepared(&self, suite: &Suite<'_>, build: &Build) -> Result<PreparedProgram, CampaignError> {
        let project = suite.project;
        let expect = self.expect.as_ref().map_err(CampaignError::clone)?;
        let file = self.file.as_ref().map_err(CampaignError::clone)?;
        let request = self.request(suite)?;
        let SuiteOptions { sequences, flows, .. } = suite.options;
        let loaded = load(file, &project.remarks)?;
        let mut prepared = PreparedProgram::new_as(project, loaded, &request, build)?;
        match prepared.planned.plan.scenario {
            Some(_) => prepared.drive(*sequences, *flows),
            None => prepared.drive(sequences.or(expect.sequences), flows.or(expect.flows)),
        };
        Ok(prepared)
    }

    /// Its seed in a suite of that seed.
    pub(crate) fn seed(&self, suite: Seed) -> Seed {
        self.given.seed.unwrap_or_else(|| seed_of(suite, &self.name))
    }

    fn attempt(&self, suite: &Suite<'_>, watch: &Stopwatch) -> Result<RunSummary, CampaignError> {
        let Suite { project, folder, .. } = suite;
        let prepared = self.prepared(suite, &Build::default())?;
        let mut session = prepared.live_session(&project.config.base_dir)?;
        let seed = self.seed(suite.seed);
        let execution = session.execute(Box::new(SeededSource::new(seed)), 0..ENTRIES_KEPT)?;
        let target = prepared.loaded.summary();
        let recording = prepared.record(&execution, seed, RunMode::Test);
        let policy = RecordPolicy {
            path: self.record.as_deref(),
            collision: suite.collision,
            keep_passing: project.keep_passing,
        };
        let trace = policy.write_named(&recording, folder, &self.trace_name)?;
        let identity = identity(folder, seed, trace.as_deref());
        let summary =
            RunSummary::of(RunMode::Test, identity, target, &recording.outcome, kept(&execution), watch.facts());
        let mut summary = summary
            .telling(&execution.facts)
            .with_steps(failing_sequence(&recording))
            .with_related(related_stacks(&recording));
        summary.warnings.extend(origins_of(&recording, &execution.facts.undefined));
        summary.warnings.extend(unchecked_heap(&prepared.program));
        Ok(summary)
    }
}

/// A run inside of a suite's.
pub fn identity(folder: &RunFolder, seed: Seed, trace: Option<&Path>) -> RunIdentity {
    let trace_path = trace.map(|path| path.display().to_string());
    RunIdentity { run_id: folder.id.clone(), seed, trace_path, report_path: None, artifacts_dir: None }
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
