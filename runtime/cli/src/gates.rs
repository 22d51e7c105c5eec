//! How the steps of gates are told, and what they have of our own flags.

use crate::args::Globals;
use crate::context::Context;
use clap::ValueEnum;
use fozzy_campaign::gates::steps::StepNews;
use fozzy_report::document::{GateStep, PROGRESS_SCHEMA, ProgressDocument};
use std::ffi::OsString;
use std::path::Path;

/// Tells each step to a person, or as a line under `--json` if that is asked for.
pub(crate) fn teller(context: &Context, as_lines: bool) -> impl Fn(StepNews<'_>) {
    let printer = context.printer;
    move |StepNews { event, step, row }: StepNews<'_>| {
        if !printer.json {
            if let Some(GateStep { name, status, detail }) = row {
                printer.remark(&format!("{:<8}  {name}  {detail}\n", status.name()));
            }
        } else if as_lines {
            let document = ProgressDocument {
                schema_version: PROGRESS_SCHEMA.to_owned(),
                event: event.to_owned(),
                step: step.to_owned(),
                status: row.map(|row| row.status),
                detail: row.map(|row| row.detail.clone()),
            };
            printer.remark(&format!("{}\n", serde_json::to_string(&document).unwrap_or_default()));
        }
    }
}

/// Flags of every command that a step has from us.
pub(crate) fn passed_on(globals: &Globals) -> Vec<OsString> {
    let config = Path::new(&globals.config);
    // A step may work in another folder.
    let config = std::path::absolute(config).ok().filter(|path| path.exists()).unwrap_or_else(|| config.to_owned());
    let mut words: Vec<OsString> = vec!["--config".into(), config.into(), "--log".into(), globals.log.clone().into()];
    if globals.unsafe_ {
        words.push("--unsafe".into());
    }
    let mut backend = |flag: &str, word: Option<String>| words.extend(word.map(|word| format!("{flag}={word}").into()));
    let name = |value: Option<clap::builder::PossibleValue>| value.map(|value| value.get_name().to_owned());
    backend("--fs-backend", name(globals.fs_backend.as_ref().and_then(ValueEnum::to_possible_value)));
    backend("--http-backend", name(globals.http_backend.as_ref().and_then(ValueEnum::to_possible_value)));
    backend("--proc-backend", name(globals.proc_backend.as_ref().and_then(ValueEnum::to_possible_value)));
    backend("--live-durations", name(globals.live_durations.as_ref().and_then(ValueEnum::to_possible_value)));
    globals.allow_host.iter().for_each(|host| backend("--allow-host", Some(host.clone())));
    globals.allow_command.iter().for_each(|command| backend("--allow-command", Some(command.clone())));
    words
}
