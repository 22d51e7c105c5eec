//! What the user asks for, without the words of a command line.

use fozzy_plan::{FilesBackend, LiveDurations, MemoryFile, ScriptBackend};
use fozzy_trace::Duration;
use fozzy_trace::plan::AllocatorChoice;
use std::path::PathBuf;
use std::sync::Arc;

/// Whether a campaign is to come to its end before its time.
pub type StopFlag = Arc<dyn Fn() -> bool + Send + Sync>;

/// Whether a run is to come to its end.
pub type StopSwitch = fn() -> bool;

/// Bounds of an execution.
#[derive(Clone, Debug, Default)]
pub struct LimitOptions {
    /// Virtual time.
    pub timeout: Option<Duration>,
    /// Instructions.
    pub fuel: Option<u64>,
    /// Linear memory, or what the steps of a scenario file may have allocated at once, in MiB.
    pub linear_memory: Option<fozzy_plan::ByteSize>,
    /// What a program writes to its standard streams.
    pub output: Option<fozzy_plan::ByteSize>,
    /// What allocations are held to.
    pub memory: MemoryFile,
}

/// What the simulated computer has.
#[derive(Clone, Debug, Default)]
pub struct WorldOptions {
    /// A plan file; everything else here goes before what it says.
    pub plan: Option<PathBuf>,
    /// Directories that are copied to the virtual disk: `HOST::GUEST`, or `HOST::GUEST::ro`.
    pub dirs: Vec<String>,
    /// Directories of the virtual disk that the program is given, if not all of it.
    pub preopens: Option<Vec<String>>,
    /// The directory in which the program begins.
    pub workdir: Option<String>,
    /// Environment variables: `NAME=VALUE`.
    pub env: Vec<String>,
    /// A file with the standard input.
    pub stdin: Option<PathBuf>,
    /// Whether standard input stays open at its end.
    pub stdin_stays_open: bool,
    /// Standard input is our own, as it comes, until this says that the run is to stop.
    pub interactive: Option<StopSwitch>,
    /// Faults, as words of a plan.
    pub faults: Vec<String>,
    /// Whether an exit with an error after a fault has struck is no failure.
    pub allow_error_exit: bool,
    /// The component that a scenario judges.
    pub judged: Option<PathBuf>,
    /// Instances of that component.
    pub target_instances: Option<u32>,
    /// Whether NaNs keep the bits that the machine gives them.
    pub no_canonical_nans: bool,
    /// Whether programs check their accesses to memory.
    pub memcheck: bool,
    /// Functions by which programs allocate, beside those that are recognised.
    pub allocators: Vec<AllocatorChoice>,
    /// The virtual wall clock at the start, in seconds since 1970.
    pub wall_start: Option<u64>,
}

/// What a run must come to, beside what every run must.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriteriaOptions {
    /// Regular expressions that no output matches.
    pub fail_on: Vec<String>,
    /// Standard output: a text, or `@FILE`.
    pub output: Option<String>,
    /// Codes with which the program may exit.
    pub exit_codes: Vec<u32>,
    /// The program that judges the run.
    pub checker: Option<PathBuf>,
}

/// Which operations the real computer answers, and for whom.
#[derive(Clone, Debug, Default)]
pub struct BackendOptions {
    /// Operations on files.
    pub files: Option<FilesBackend>,
    /// Outgoing HTTP.
    pub http: Option<ScriptBackend>,
    /// Processes.
    pub processes: Option<ScriptBackend>,
    /// Hosts that may be asked, if not all.
    pub allow_hosts: Option<Vec<String>>,
    /// Commands that may be run, if not all.
    pub allow_commands: Option<Vec<String>>,
    /// How long answers take.
    pub durations: Option<LiveDurations>,
}

/// How a program is run.
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Bounds of each execution.
    pub limits: LimitOptions,
    /// What the simulated computer has.
    pub world: WorldOptions,
    /// What a run must come to.
    pub criteria: CriteriaOptions,
    /// Instructions of an execution that neither flags nor files bound; `None` for those of a run.
    pub fuel_default: Option<u64>,
}

/// A seed in decimal digits, or in hexadecimal ones: after `0x`, or with a letter among them.
///
/// # Errors
/// A sentence that says what was expected.
pub fn seed_number(text: &str) -> Result<u64, String> {
    let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok();
    let number = match text.strip_prefix("0x") {
        Some(digits) => hexadecimal(digits),
        None => text.parse().ok().or_else(|| hexadecimal(text)),
    };
    number.ok_or_else(|| format!("expected a number below 2^64, found `{text}`"))
}
