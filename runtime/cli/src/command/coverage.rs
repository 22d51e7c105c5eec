//! `fozzy coverage`: recorded runs, or the inputs of a corpus, executed in a build that notes which edges are taken.
//!
//! ```text
//! RUN, or a folder of traces ─▶ each executed with coverage, and compared with what was recorded ─┬─▶ union ─▶ a format
//! a folder of inputs, --target P ─▶ P executed with each of them ─────────────────────────────────┤
//! the saved state of an exploration of P, --target P ─▶ the runs of its paths ─────────────────────┘
//! ```
//!
//! Code that notes its edges uses more fuel, so it is given some times as much, and what it used is not compared. A run
//! that ended because its fuel was used up gets no more than it had: what is shown of it is a part of what it has reached.
//!
//! Invariant: what is shown was reached in the recorded run itself: an execution that is another one is refused.

use crate::args::{CoverageArgs, CoverageFormatArg};
use crate::context::Context;
use crate::error::CliError;
use fozzy_campaign::coverage::CoverageUnion;
use fozzy_campaign::explore::state::is_state;
use fozzy_campaign::inputs;
use fozzy_campaign::options::{RunRequest, WorldOptions};
use fozzy_campaign::selector;
use fozzy_campaign::sources::Sources;
use fozzy_campaign::store::write_output;
use fozzy_report::coverage::{COVERAGE_FORMATS, CoverageDocument, CoverageFormat, CoverageView};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn coverage(context: &Context, args: &CoverageArgs) -> Result<ExitCode, CliError> {
    let name = if context.printer.json { "json" } else { format_name(args.format) };
    let format = COVERAGE_FORMATS.iter().find(|format| format.name == name).expect("each argument is a row");
    let mut union = CoverageUnion::new(&args.instrument, args.counters);
    let explored = Path::new(&args.run);
    let is_explored = args.target.is_some() && explored.is_file() && is_state(explored);
    let (traces, files) = match &args.target {
        Some(_) if is_explored => (Vec::new(), Vec::new()),
        None => (selector::corpus(&args.run, &context.runs)?, Vec::new()),
        Some(_) => inputs::files(Path::new(&args.run))?.into_iter().partition(|path| inputs::is_trace(path)),
    };
    if let Some(target) = &args.target {
        let (plan, judged) = (args.given.plan.clone(), args.judged.clone());
        let world = WorldOptions { plan, judged, ..WorldOptions::default() };
        let request = RunRequest { args: args.args.clone(), world, ..RunRequest::default() };
        match is_explored {
            true => union.explored(&context.project, target, &request, explored)?,
            false => union.give(&context.project, target, &request, &args.given.options(), &files)?,
        }
    }
    for path in &traces {
        let recording = selector::read(path)?;
        union.execute(&path.display().to_string(), &recording, context.strict)?;
    }
    write(context, args, format, &union.document()?)
}

fn format_name(format: CoverageFormatArg) -> &'static str {
    match format {
        CoverageFormatArg::Summary => "summary",
        CoverageFormatArg::Lcov => "lcov",
        CoverageFormatArg::Html => "html",
        CoverageFormatArg::Json => "json",
    }
}

fn write(
    context: &Context,
    args: &CoverageArgs,
    format: &CoverageFormat,
    document: &CoverageDocument,
) -> Result<ExitCode, CliError> {
    let mut view = CoverageView {
        all: args.all,
        uncovered: args.uncovered,
        style: if args.out.is_some() { fozzy_report::Style::PLAIN } else { context.printer.stdout_style() },
        sources: BTreeMap::new(),
    };
    if format.shows_sources {
        view.sources = Sources::below(&args.sources)?.of(document, args.all);
    }
    let text = (format.write)(document, &view);
    match &args.out {
        None => context.printer.data(&text),
        Some(path) => {
            write_output(path, text.as_bytes())?;
            context.printer.remark(&format!("wrote {}\n", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}
