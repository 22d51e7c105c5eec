//! Programs, and single runs of them.

use crate::{Error, Plan, Trace};
use fozzy_campaign::Remarks;
use fozzy_campaign::pipeline::{self, ENTRIES_KEPT, LoadedTarget, PreparedProgram};
use fozzy_campaign::project::Project;
use fozzy_check::OperationHistory;
use fozzy_report::RunMode;
use fozzy_trace::file::Recording;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Executor, FailureSignature, Seed, Verdict};
use std::fmt;
use std::path::Path;

/// A program: a component, a core module, the text of either, a crate's folder, or a scenario file `*.fozzy.json`.
#[derive(Clone)]
pub struct Program {
    loaded: LoadedTarget,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Program {
    /// Reads what stands at `path`, by content; a folder is built first.
    ///
    /// # Errors
    /// When it cannot be read or built, or is no program.
    ///
    /// ```
    /// use fozzy::Program;
    ///
    /// # let folder = tempfile::tempdir().expect("a folder");
    /// # let path = folder.path().join("nothing.wat");
    /// # std::fs::write(&path, br#"(module (memory (export "memory") 1) (func (export "_start")))"#).expect("it is written");
    /// let program = Program::load(&path)?;
    /// assert!(program.name().ends_with("nothing.wat"));
    /// # Ok::<(), fozzy::Error>(())
    /// ```
    pub fn load(path: &Path) -> Result<Program, Error> {
        Ok(Program { loaded: pipeline::load(path, &Remarks::none()).map_err(Error::of_campaign)? })
    }

    /// A program from bytes, under a name for reports.
    ///
    /// # Errors
    /// When the bytes are no program.
    ///
    /// ```
    /// let refused = fozzy::Program::from_bytes("text", b"no program");
    /// assert!(matches!(refused, Err(fozzy::Error::Program(_))));
    /// ```
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Program, Error> {
        Ok(Program { loaded: LoadedTarget::of_bytes(name, bytes).map_err(Error::of_campaign)? })
    }

    /// Its name in reports.
    pub fn name(&self) -> &str {
        &self.loaded.target.name
    }

    /// Runs it once. All that the plan leaves open is answered from `seed`.
    ///
    /// # Errors
    /// When the plan does not fit, or this machine fails. A program that fails is no error.
    pub fn run(&self, plan: &Plan, seed: u64) -> Result<Run, Error> {
        let project = project();
        let mut prepared = PreparedProgram::new(&project, self.loaded(), &plan.request).map_err(Error::of_campaign)?;
        if !plan.asks_real_computer {
            // A library runs programs of others.
            prepared.planned.check_simulated().map_err(Error::of_campaign)?;
        }
        prepared.drive(plan.sequences, plan.flows);
        let mut session = prepared.live_session(&project.config.base_dir).map_err(Error::of_campaign)?;
        let execution =
            session.execute(Box::new(SeededSource::new(Seed(seed))), 0..ENTRIES_KEPT).map_err(Error::of_harness)?;
        let (stdout, stderr) = pipeline::kept(&execution).target;
        let (stdout, stderr) = (stdout.to_vec(), stderr.to_vec());
        let history = OperationHistory::of_run(&execution.facts.operations);
        Ok(Run { stdout, stderr, history, recording: prepared.record(&execution, Seed(seed), RunMode::Run) })
    }

    pub(crate) fn loaded(&self) -> LoadedTarget {
        self.loaded.clone()
    }
}

/// The project of a library: no settings, nothing kept.
pub(crate) fn project() -> Project {
    let config = fozzy_campaign::config::Config::default();
    Project { config, backends: Default::default(), keep_passing: false, remarks: Remarks::none() }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Nothing failed.
    Pass,
    /// The program says that it failed: by its exit code, an assertion, a property.
    Fail,
    /// It trapped or panicked.
    Crash,
    /// It used up its fuel or its virtual time, or waits for ever.
    Timeout,
    /// No verdict: the run could not be made.
    Error,
}

impl Status {
    pub(crate) fn of(status: fozzy_trace::Status) -> Status {
        match status {
            fozzy_trace::Status::Pass => Status::Pass,
            fozzy_trace::Status::Fail => Status::Fail,
            fozzy_trace::Status::Crash => Status::Crash,
            fozzy_trace::Status::Timeout => Status::Timeout,
            fozzy_trace::Status::Error => Status::Error,
        }
    }
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    title: String,
    message: String,
    signature: String,
}

impl Failure {
    /// In a few words.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// In full; empty when the title says it all.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The identity of the failure: runs that fail in the same way have equal ones.
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// The first failure of a verdict.
    pub(crate) fn of(verdict: &Verdict) -> Option<Failure> {
        let finding = verdict.findings.first()?;
        let signature = verdict.signature.as_ref().map(FailureSignature::to_string).unwrap_or_default();
        Some(Failure { title: finding.title.clone(), message: finding.message.clone(), signature })
    }
}

/// One run, and all that is known of it.
#[derive(Clone, Debug)]
pub struct Run {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    history: OperationHistory,
    recording: Recording,
}

impl Run {
    /// How it ended.
    pub fn status(&self) -> Status {
        Status::of(self.recording.outcome.verdict.status)
    }

    /// What failed; `None` of a run that passed.
    pub fn failure(&self) -> Option<Failure> {
        Failure::of(&self.recording.outcome.verdict)
    }

    /// The beginning of what it wrote to its standard output: four megabytes at the most.
    pub fn stdout(&self) -> &[u8] {
        &self.stdout
    }

    /// The beginning of what it wrote to its standard error.
    pub fn stderr(&self) -> &[u8] {
        &self.stderr
    }

    /// The operations that its clients recorded (`tools::invoke` of the SDK), which [`crate::history`] judges.
    pub fn history(&self) -> &OperationHistory {
        &self.history
    }

    /// The run as a trace, which can be replayed from itself alone.
    pub fn trace(&self) -> Trace {
        Trace::of(self.recording.clone())
    }
}
