//! `fozzy replay --until TIME | --step N | --call N`: a run as it is at a moment.

use crate::args::{ReplayArgs, ReportFormatArg};
use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use crate::output;
use fozzy_campaign::selector;
use fozzy_campaign::time_travel::{MomentRequest, state_at};
use fozzy_report::{MachineNames, entry_line, state_lines};
use fozzy_trace::StopPoint;
use std::process::ExitCode;

pub(super) fn inspect_at(context: &Context, args: &ReplayArgs, until: StopPoint) -> Result<ExitCode, CliError> {
    let (path, recording) = selector::recording(args.trace(), &context.runs)?;
    let format = context.format(args.reporter);
    let dump = args.dump_events;
    let request = MomentRequest { until, events_max: args.events, memory: &args.memory };
    let names = MachineNames::of(&recording.plan);
    let machines = names.clone();
    let state = state_at(&path, &recording, &request, move |entry| {
        if dump {
            output::say(&format!("{}\n", entry_line(entry, &machines)));
        }
    })?;
    if format == ReportFormatArg::Json {
        let text = serde_json::to_string_pretty(&state)
            .map_err(|error| CliError::new(ErrorKind::Internal, error.to_string()))?;
        context.printer.data(&format!("{text}\n"));
    } else {
        context.printer.data(&state_lines(&state, &names, context.printer.stdout_style()));
    }
    Ok(ExitCode::SUCCESS)
}
