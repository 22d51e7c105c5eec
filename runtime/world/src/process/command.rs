//! What a guest wants to run, how it went, and why it did not.

use fozzy_trace::Duration;
use fozzy_trace::observation::ProcessFailure;
use fozzy_trace::plan::ProcessExit;
use std::fmt;

/// Bytes of arguments and environment together; more is refused, as by Linux (`execve(2)`: a quarter of a stack
/// of 8 MiB).
pub const ARGUMENT_BYTES_MAX: usize = 2 << 20;

/// What is to be run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessCommand {
    /// Name or path.
    pub command: String,
    /// Without its own name.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Its working directory, which has a meaning on the real computer only.
    pub cwd: Option<String>,
    /// What stands on its standard input.
    pub stdin: Vec<u8>,
    /// After so long it is ended by [`SIGNAL_KILL`](super::SIGNAL_KILL).
    pub deadline: Option<Duration>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEnd {
    /// Code or signal.
    pub exit: ProcessExit,
    /// Whether its deadline ended it.
    pub deadline_passed: bool,
}

/// How a process ended, and all that it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessOutput {
    /// How it ended.
    pub ending: ProcessEnd,
    /// To standard output.
    pub stdout: Vec<u8>,
    /// To standard error.
    pub stderr: Vec<u8>,
}

/// Why a command did not run, or why its result cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessError {
    /// There is no such command.
    NotFound,
    /// It may not be run.
    NotPermitted,
    /// It wrote more than can be kept.
    OutputTooLarge,
    /// There are as many processes as there can be.
    TooMany,
    /// Anything else, in one sentence.
    Other(String),
}

impl From<ProcessFailure> for ProcessError {
    fn from(failure: ProcessFailure) -> ProcessError {
        match failure {
            ProcessFailure::NotFound => ProcessError::NotFound,
            ProcessFailure::NotPermitted => ProcessError::NotPermitted,
            ProcessFailure::OutputTooLarge => ProcessError::OutputTooLarge,
            ProcessFailure::Other => ProcessError::Other("the real computer could not run it".to_owned()),
        }
    }
}

impl fmt::Display for ProcessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessError::NotFound => f.write_str("not found"),
            ProcessError::NotPermitted => f.write_str("not permitted"),
            ProcessError::OutputTooLarge => f.write_str("output too large"),
            ProcessError::TooMany => f.write_str("too many processes"),
            ProcessError::Other(why) => f.write_str(why),
        }
    }
}

impl ProcessCommand {
    /// Command and arguments with spaces between: what the target of a fault may match, beside the bare name.
    #[must_use]
    pub fn line(&self) -> String {
        std::iter::once(&self.command).chain(&self.args).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// What counts for [`ARGUMENT_BYTES_MAX`]: each string has a terminating byte.
    pub(super) fn argument_bytes(&self) -> usize {
        let args = self.args.iter().map(|arg| arg.len() + 1).sum::<usize>();
        let env = self.env.iter().map(|(name, value)| name.len() + value.len() + 2).sum::<usize>();
        self.command.len() + 1 + args + env + self.cwd.as_ref().map_or(0, String::len)
    }
}
