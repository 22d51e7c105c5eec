//! A program that is run with many seeds to learn from its runs: how `suspects`, `mutants` and `mine` begin.
//!
//! ```text
//! program, plan, size, seeds ─▶ planned ─ real backends? too many? refused ─▶ compiled, driven, ended by a stop
//! ```
//!
//! Not here: what is learned, and how `fozzy run --seeds` counts failures (`suite::seeds`).

use crate::error::{CampaignError, ErrorKind};
use crate::options::{RunRequest, StopFlag};
use crate::pipeline::{LoadedTarget, PreparedProgram};
use crate::project::Project;
use crate::suite::seeds::SeedList;
use fozzy_engine::{Build, Session};
use fozzy_report::{shell_path, shell_word};
use fozzy_trace::counted;
use std::path::Path;
use std::sync::Arc;

/// How often a scenario is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScenarioSize {
    /// Sequences.
    pub sequences: Option<u32>,
    /// Flows of each.
    pub flows: Option<u32>,
}

/// A program and the seeds that it is run with.
pub struct SeedRuns<'a> {
    /// The project.
    pub project: &'a Project,
    /// The program as it was named, for commands that are advised.
    pub path: &'a Path,
    /// The program.
    pub loaded: LoadedTarget,
    /// Its plan and arguments.
    pub request: &'a RunRequest,
    /// How often a scenario is run.
    pub size: ScenarioSize,
    /// The seeds of its runs.
    pub seeds: SeedList,
    /// Whether it is to end before its time.
    pub stop: StopFlag,
}

impl SeedRuns<'_> {
    /// Compiles the program, for runs that end when a stop is requested.
    ///
    /// # Errors
    /// When there are more seeds than `seeds_max`, the plan asks the real computer, or the program cannot be run so.
    pub(crate) fn prepare(&self, build: &Build, seeds_max: u64) -> Result<PreparedProgram, CampaignError> {
        if self.seeds.count() > seeds_max {
            let message = format!("--seeds: expected {seeds_max} seeds at the most, found {}", self.seeds.count());
            return Err(CampaignError::new(ErrorKind::Usage, message));
        }
        let mut prepared = PreparedProgram::new_as(self.project, self.loaded.clone(), self.request, build)?;
        prepared.drive(self.size.sequences, self.size.flows);
        self.armed(prepared)
    }

    /// The same of a program that is ready: its runs are on the simulated computer, and end when a stop is requested.
    pub(crate) fn armed(&self, prepared: PreparedProgram) -> Result<PreparedProgram, CampaignError> {
        if prepared.planned.is_live() {
            let message = "many runs are executed on the simulated computer, and the plan asks the real one";
            return Err(CampaignError::new(ErrorKind::Usage, message)
                .hint("leave out the backend `host` of files, HTTP or processes"));
        }
        prepared.interrupt.arm(StopFlag::clone(&self.stop));
        Ok(prepared)
    }

    /// A stop was requested before there was anything to say.
    pub(crate) fn interrupted(&self, runs: u64) -> CampaignError {
        let message = format!("{}: interrupted after {}: too few to say anything", self.name(), counted(runs, "run"));
        CampaignError::new(ErrorKind::Interrupted, message)
    }

    /// The command that shows how a run ends, with the first of the seeds.
    pub(crate) fn first_run(&self) -> String {
        let RunRequest { args, world, .. } = self.request;
        let ScenarioSize { sequences, flows } = self.size;
        let files = [("--plan", &world.plan), ("--target", &world.judged)].map(|(flag, file)| (flag, file.as_deref()));
        let files = files.into_iter().filter_map(|(flag, file)| Some((flag, shell_path(file?))));
        let sizes = [("--sequences", sequences), ("--flows", flows)].into_iter();
        let sizes = sizes.filter_map(|(flag, size)| Some((flag, size?.to_string())));
        let faults = world.faults.iter().map(|fault| ("--faults", shell_word(fault)));
        let flags: String = files.chain(sizes).chain(faults).map(|(flag, word)| format!(" {flag} {word}")).collect();
        let args: String = args.iter().map(|arg| format!(" {}", shell_word(arg))).collect();
        let args = if args.is_empty() { args } else { format!(" --{args}") };
        format!("fozzy run {}{flags} --seed {}{args}", shell_path(self.path), self.seeds.first())
    }

    /// The name of the program.
    pub(crate) fn name(&self) -> &str {
        &self.loaded.target.name
    }
}

/// A session that reads what the plan gives the program.
pub(crate) fn reading_session(prepared: &PreparedProgram) -> Result<Session, CampaignError> {
    let mut session = prepared.session()?;
    if let Some(stdin) = &prepared.planned.stdin {
        session.read_from(Arc::clone(stdin));
    }
    Ok(session)
}
