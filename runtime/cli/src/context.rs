//! What every command is given: the project, the run store, and how it prints.

use crate::args::{Globals, ReportFormatArg};
use crate::interrupt;
use crate::output::Printer;
use fozzy_campaign::config::ReporterWord;
use fozzy_campaign::project::Project;
use fozzy_campaign::store::RunStore;
use fozzy_report::{RunMode, keeping_command};
use fozzy_trace::{Seed, Status};
use std::path::Path;
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

impl Context {
    /// Whether the traces of a campaign outlive it: in the store, or where `record` says.
    pub(crate) fn keeps(&self, record: Option<&Path>) -> bool {
        !self.globals.no_store || record.is_some()
    }

    /// Says the command that makes a failure again and keeps its trace, which was not kept.
    pub(crate) fn say_how_to_keep(&self, mode: RunMode, seed: Seed) {
        let own: Vec<String> = std::env::args().skip(1).collect();
        let why = if self.globals.no_store { " (--no-store)" } else { "" };
        if let Some(again) = keeping_command(&own, mode.name(), seed) {
            self.printer.remark(&format!("not kept{why}; to have its trace: {again}\n"));
        }
    }

    /// The format of a report: `--json`, the flag of the command, the project's.
    pub(crate) fn format(&self, asked: Option<ReportFormatArg>) -> ReportFormatArg {
        let of_project = self.project.config.reporter.map_or(ReportFormatArg::Pretty, Into::into);
        if self.printer.json { ReportFormatArg::Json } else { asked.unwrap_or(of_project) }
    }
}

impl From<ReporterWord> for ReportFormatArg {
    fn from(word: ReporterWord) -> ReportFormatArg {
        match word {
            ReporterWord::Pretty => ReportFormatArg::Pretty,
            ReporterWord::Json => ReportFormatArg::Json,
            ReporterWord::Junit => ReportFormatArg::Junit,
            ReporterWord::Html => ReportFormatArg::Html,
        }
    }
}

/// The exit code of a status. What a signal ended before it had failed has not passed either.
pub(crate) fn exit(status: Status) -> ExitCode {
    if status == Status::Pass && interrupt::is_asked_to_stop() {
        return ExitCode::from(interrupt::EXIT_INTERRUPTED);
    }
    ExitCode::from(status.exit_code())
}

/// The exit code of a status whose document says whether a signal ended it: both say the same, whenever the signal came.
pub(crate) fn exit_as_told(status: Status, is_interrupted: bool) -> ExitCode {
    match is_interrupted && status == Status::Pass {
        true => ExitCode::from(interrupt::EXIT_INTERRUPTED),
        false => ExitCode::from(status.exit_code()),
    }
}
