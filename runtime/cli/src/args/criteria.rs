//! What a run must come to.

use clap::Args;
use std::path::PathBuf;

/// What a run must come to; all of it is a part of traces, so that replays and searches judge as the run did.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Failures")]
pub(crate) struct CriteriaArgs {
    /// A run fails in which any machine writes what this regular expression matches; `^` and `$` are those of lines. Repeatable.
    #[arg(long, value_name = "REGEX")]
    pub(crate) fail_on: Vec<String>,
    /// Standard output of the program: a text, or the content of @FILE. A line end at its end makes no difference.
    #[arg(long, value_name = "TEXT|@FILE")]
    pub(crate) expect_output: Option<String>,
    /// Codes with which the program may exit [default: 0]
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub(crate) expect_exit: Vec<u32>,
    /// A program that judges the run: a component or a core module. It finds outputs, files, ends and history of all machines on its disk
    /// and, as JSON, on standard input; with another exit code than 0, the run has failed.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) check: Option<PathBuf>,
}
