//! `fozzy check`: histories, judged.

use crate::args::CheckArgs;
use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use fozzy_campaign::history_check::{
    HistoryCheckRequest, HistoryDestination, check_history, unjudged_history, validity_name,
};
use fozzy_campaign::store::write_output;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::{CheckerOptions, Validity};
use fozzy_report::{HistoryCheckDocument, cycles_dot, cycles_svg, history_page};
use std::path::Path;
use std::process::ExitCode;

/// Exit codes of a history that is not what it should be, of one that could not be judged, and of one that was not decided.
const EXIT_INVALID: u8 = 1;
const EXIT_ERROR: u8 = 2;
const EXIT_UNKNOWN: u8 = 3;

pub(super) fn check(context: &Context, args: &CheckArgs) -> Result<ExitCode, CliError> {
    let write_to = match &args.write {
        Some(_) if args.histories.len() > 1 => {
            let message = format!("--write writes one history, and {} are given", args.histories.len());
            return Err(CliError::new(ErrorKind::Usage, message));
        }
        Some(path) => Some(HistoryDestination::new(path, args.notation.as_deref())?),
        None => None,
    };
    let is_bank = args.checker.as_deref() == Some("bank");
    if let Some(flag) = [("--accounts", args.accounts.is_some()), ("--total", args.total.is_some())]
        .into_iter()
        .find_map(|(flag, is_given)| (is_given && !is_bank).then_some(flag))
    {
        return Err(CliError::new(ErrorKind::Usage, format!("{flag} is what --checker bank holds its reads to")));
    }
    let accounts = args.accounts.as_ref().map(|all| all.iter().map(|name| name.trim().to_owned()).collect());
    let options = CheckerOptions { accounts, total: args.total };
    let mut worst = Validity::Valid;
    let mut has_error = false;
    let mut pages = Vec::new();
    for path in &args.histories {
        let watch = Stopwatch::start();
        let request = HistoryCheckRequest {
            checker: args.checker.as_deref(),
            options: options.clone(),
            model: args.model.as_deref(),
            is_sequential: args.sequential,
            memory_bytes_max: usize::try_from(args.mem.0).unwrap_or(usize::MAX),
            is_over: &|| watch.elapsed_ns() >= args.time.0,
            has_page: args.html.is_some(),
            write_to: write_to.as_ref(),
            remarks: &context.project.remarks,
        };
        let judged = match check_history(path, &request) {
            // The others have a verdict all the same.
            Err(error) if args.histories.len() > 1 => {
                has_error = true;
                unjudged_history(path, &error)
            }
            judged => judged?,
        };
        worst = worst.max(judged.validity);
        pages.push(judged.page);
    }
    if let Some(path) = &args.html {
        write(context, path, &history_page(&pages))?;
    }
    if let Some(path) = &args.dot {
        write(context, path, &cycles_dot(pages.iter().map(|page| &page.check)))?;
    }
    if let Some(path) = &args.svg {
        write(context, path, &cycles_svg(pages.iter().map(|page| &page.check)))?;
    }
    let histories = pages.into_iter().map(|page| page.check).collect();
    let schema_version = "fozzy.history_check.v1".to_owned();
    let validity = if has_error { "error" } else { validity_name(worst) }.to_owned();
    context.printer.document(&HistoryCheckDocument { schema_version, validity, histories })?;
    Ok(match worst {
        _ if has_error => ExitCode::from(EXIT_ERROR),
        Validity::Valid => ExitCode::SUCCESS,
        Validity::Unknown => ExitCode::from(EXIT_UNKNOWN),
        Validity::Invalid => ExitCode::from(EXIT_INVALID),
    })
}

fn write(context: &Context, path: &Path, text: &str) -> Result<(), CliError> {
    write_output(path, text.as_bytes())?;
    context.printer.remark(&format!("wrote {}\n", path.display()));
    Ok(())
}
