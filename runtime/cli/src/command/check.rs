//! `fozzy check`: histories, judged.

use crate::args::CheckArgs;
use crate::context::Context;
use crate::error::CliError;
use fozzy_campaign::history_check::{HistoryCheckRequest, check_history, validity_name};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::Validity;
use fozzy_report::HistoryCheckDocument;
use std::process::ExitCode;

/// Exit codes of a history that is not what it should be, and of one that was not decided.
const EXIT_INVALID: u8 = 1;
const EXIT_UNKNOWN: u8 = 3;

pub(super) fn check(context: &Context, args: &CheckArgs) -> Result<ExitCode, CliError> {
    let mut worst = Validity::Valid;
    let mut histories = Vec::new();
    for path in &args.histories {
        let watch = Stopwatch::start();
        let request = HistoryCheckRequest {
            checker: args.checker.as_deref(),
            model: args.model.as_deref(),
            memory_bytes_max: usize::try_from(args.mem.0).unwrap_or(usize::MAX),
            is_over: &|| watch.elapsed_ns() >= args.time.0,
        };
        let (validity, check) = check_history(path, &request)?;
        worst = worst.max(validity);
        histories.push(check);
    }
    let schema_version = "fozzy.history_check.v1".to_owned();
    let validity = validity_name(worst).to_owned();
    context.printer.document(&HistoryCheckDocument { schema_version, validity, histories })?;
    Ok(match worst {
        Validity::Valid => ExitCode::SUCCESS,
        Validity::Unknown => ExitCode::from(EXIT_UNKNOWN),
        Validity::Invalid => ExitCode::from(EXIT_INVALID),
    })
}
