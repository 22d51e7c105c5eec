//! `fozzy map`: which code of a project is risky, what of its programs ran, and which scenario covers what.

use crate::args::{EvidenceArgs, MapCommand};
use crate::context::Context;
use crate::error::CliError;
use fozzy_campaign::map::CodeMap;
use std::process::ExitCode;

pub(crate) fn map(context: &Context, command: &MapCommand) -> Result<ExitCode, CliError> {
    let printer = &context.printer;
    let of =
        |evidence: &EvidenceArgs| CodeMap::of(&context.project, &context.runs, &evidence.root, &evidence.options());
    match command {
        MapCommand::Hotspots(args) => {
            printer.document(&of(&args.evidence)?.hotspots(args.min_risk, args.limit))?;
        }
        MapCommand::Services(args) => printer.document(&of(&args.evidence)?.services())?,
        MapCommand::Suites(args) => printer.document(&of(&args.evidence)?.suites(&args.options())?)?,
    }
    Ok(ExitCode::SUCCESS)
}
