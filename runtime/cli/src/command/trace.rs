//! `fozzy trace verify` and `fozzy trace show`.

use crate::args::{TraceShowArgs, TraceVerifyArgs};
use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use crate::output::{self, EXIT_ERROR};
use fozzy_campaign::pipeline::session_of;
use fozzy_campaign::profile::run_activity;
use fozzy_campaign::selector;
use fozzy_report::document::{FormattedDocument, ShowDocument, ShownStrike, VerifyDocument};
use fozzy_report::{MachineNames, RunPlayback, Style, entry_lines};
use fozzy_trace::file;
use fozzy_trace::{Aside, Duration, HistoryEntry, HistoryWindow, Instant};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) fn verify(context: &Context, args: &TraceVerifyArgs) -> Result<ExitCode, CliError> {
    let path = selector::trace_path(&args.trace, &context.runs)?;
    let bytes = selector::bytes(&path)?;
    let found = file::verify(&bytes);
    let ok = found.ok && (found.warnings.is_empty() || !context.strict);
    let document = VerifyDocument {
        ok,
        path: path.display().to_string(),
        version: found.version,
        checksum_present: found.checksum_present,
        checksum_valid: found.checksum_valid,
        warnings: found.warnings,
        error: found.error.map(|error| error.to_string()),
    };
    context.printer.document(&document)?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(EXIT_ERROR) })
}

/// Calls that one JSON document holds at the most: some hundred megabytes. Lines of text have no bound.
const DOCUMENT_CALLS_MAX: usize = 1 << 19;

/// Which calls to show.
enum Range {
    Calls(HistoryWindow),
    Time(std::ops::Range<Instant>),
}

impl Range {
    fn contains(&self, entry: &HistoryEntry) -> bool {
        match self {
            Range::Calls(calls) => calls.contains(&entry.index),
            Range::Time(span) => span.contains(&entry.at),
        }
    }
}

pub(crate) fn show(context: &Context, args: &TraceShowArgs) -> Result<ExitCode, CliError> {
    let range = match &args.at {
        None => Range::Calls(0..u64::MAX),
        Some(text) => parse_range(text)?,
    };
    let (path, recording) = selector::recording(&args.trace, &context.runs)?;
    if args.messages {
        let content = RunPlayback::of(&run_activity(&path, &recording)?).lines();
        match context.printer.json {
            true => context.printer.document(&FormattedDocument { format: "messages".to_owned(), content })?,
            false => context.printer.data(&content),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut session = session_of(&recording)?;
    let keep = match &range {
        Range::Calls(keep) => keep.clone(),
        Range::Time(_) => 0..u64::MAX,
    };
    if !context.printer.json {
        let names = MachineNames::of(&recording.plan);
        let style = context.printer.stdout_style();
        session.follow(Box::new(move |entry| show_entry(&range, &entry, &names, style)));
        let replayed = fozzy_search::replay(&recording, &mut session, keep)?;
        same_run(&path, replayed.difference)?;
        return Ok(ExitCode::SUCCESS);
    }
    let entries = Arc::new(Mutex::new(Vec::new()));
    let gathered = Arc::clone(&entries);
    session.follow(Box::new(move |entry| {
        let mut entries = gathered.lock().unwrap_or_else(PoisonError::into_inner);
        if range.contains(&entry) && entries.len() <= DOCUMENT_CALLS_MAX {
            entries.push(entry);
        }
    }));
    let replayed = fozzy_search::replay(&recording, &mut session, keep)?;
    same_run(&path, replayed.difference)?;
    let entries = std::mem::take(&mut *entries.lock().unwrap_or_else(PoisonError::into_inner));
    let (strikes, entries): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| Aside::of(entry).is_some());
    let names = MachineNames::of(&recording.plan);
    if entries.len() > DOCUMENT_CALLS_MAX {
        let message = format!("{}: more than {DOCUMENT_CALLS_MAX} calls for one JSON document", path.display());
        return Err(
            CliError::new(ErrorKind::Usage, message).hint("name a stretch of them with --at, or leave out --json")
        );
    }
    let document = ShowDocument {
        path: path.display().to_string(),
        seed: recording.seed,
        calls: recording.outcome.calls,
        decisions: recording.outcome.decisions,
        machines: names.all(),
        strikes: strikes.into_iter().map(|strike| ShownStrike::of(&strike, &names)).collect(),
        entries,
    };
    context.printer.document(&document)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints one call, if it was asked for. Who closes our stdout has seen enough, and the rest of a long
/// execution would be wasted.
fn show_entry(range: &Range, entry: &HistoryEntry, names: &MachineNames, style: Style) {
    if range.contains(entry) && !output::show(&entry_lines(entry, names, style)) {
        std::process::exit(0);
    }
}

/// What is shown is proven to be the recorded run, or it is an error.
fn same_run(path: &Path, difference: Option<fozzy_search::OutcomeDifference>) -> Result<(), CliError> {
    let Some(difference) = difference else { return Ok(()) };
    let message = format!(
        "{}: what is shown is not the recorded run; {} recorded {}, found {}",
        path.display(),
        difference.what,
        difference.left,
        difference.right
    );
    Err(CliError::new(ErrorKind::Divergence, message).hint(format!("fozzy replay {}", fozzy_report::shell_path(path))))
}

/// `100..200`, `..50`, `900..`, `1s..2.5s`.
fn parse_range(text: &str) -> Result<Range, CliError> {
    let refuse = || {
        CliError::new(
            ErrorKind::Usage,
            format!("--at: expected FROM..TO by call (`100..200`) or time (`1s..2.5s`), found `{text}`"),
        )
    };
    let (from, to) = text.split_once("..").ok_or_else(refuse)?;
    let is_time = [from, to].iter().any(|side| side.ends_with(|c: char| c.is_ascii_alphabetic()));
    let side = |side: &str, absent: u64| match side {
        "" => Ok(absent),
        time if is_time => Duration::parse(time).map(|span| span.0).map_err(|_| refuse()),
        number => number.parse().map_err(|_| refuse()),
    };
    let (from, to) = (side(from, 0)?, side(to, u64::MAX)?);
    if from > to {
        return Err(CliError::new(ErrorKind::Usage, format!("--at {text}: the end comes before the beginning")));
    }
    Ok(if is_time { Range::Time(Instant(from)..Instant(to)) } else { Range::Calls(from..to) })
}
