//! What every command is given: the project, the run store, and how it prints.

use crate::args::Globals;
use crate::output::Printer;
use fozzy_campaign::options::Project;
use fozzy_campaign::store::RunStore;
use fozzy_trace::Status;
use std::process::ExitCode;

/// What every command is given.
pub(crate) struct Context {
    pub(crate) printer: Printer,
    pub(crate) runs: RunStore,
    pub(crate) globals: Globals,
    /// The project as this invocation sees it.
    pub(crate) project: Project,
    /// Whether warnings about integrity are errors.
    pub(crate) strict: bool,
}

/// The exit code of a status.
pub(crate) fn exit(status: Status) -> ExitCode {
    ExitCode::from(status.exit_code())
}
