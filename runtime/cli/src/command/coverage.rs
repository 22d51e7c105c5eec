//! `fozzy coverage`: recorded runs, or the inputs of a corpus, executed in a build that notes which edges are taken.
//!
//! ```text
//! RUN, or a folder of traces ─▶ each executed with coverage, and compared with what was recorded ─┬─▶ union ─▶ a format
//! a folder of inputs, --target P ─▶ P executed with each of them ─────────────────────────────────┘
//! ```
//!
//! Code that notes its edges uses more fuel, so it is given [`FUEL_TIMES`] as much, and what it used is not compared. A run
//! that ended because its fuel was used up gets no more than it had: what is shown of it is a part of what it has reached.
//!
//! Invariant: what is shown was reached in the recorded run itself: an execution that is another one is refused.

use super::Context;
use crate::args::{CoverageArgs, CoverageFormatArg};
use crate::error::CliError;
use fozzy_campaign::coverage;
use fozzy_campaign::inputs::{self, InputRunner};
use fozzy_campaign::options::{LimitOptions, WorldOptions};
use fozzy_campaign::plan;
use fozzy_campaign::selector;
use fozzy_campaign::sources::Sources;
use fozzy_campaign::store::store_error;
use fozzy_campaign::target;
use fozzy_check::judge;
use fozzy_engine::{Build, Program, ProgramCoverage, Session, Switches};
use fozzy_instrument::{CoverageMode, ModuleChoice};
use fozzy_report::coverage::{COVERAGE_FORMATS, COVERAGE_SCHEMA, CoverageDocument, CoverageFormat, CoverageView};
use fozzy_trace::file::store::{Durability, StoreError, write_atomic};
use fozzy_trace::file::{RecordedOutcome, Recording};
use fozzy_trace::{Digest, ExecutionEnd, Executor, Plan, Status};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Fuel of a run with coverage, in budgets of the recorded run. Setting a byte takes three instructions for each edge and
/// counting eight; no code has an edge for each instruction of its own.
const FUEL_TIMES: u64 = 16;

/// Everything of one component over all traces.
struct Entry {
    name: String,
    program: Program,
    covered: ProgramCoverage,
}

pub(crate) fn coverage(context: &Context, args: &CoverageArgs) -> Result<ExitCode, CliError> {
    let name = if context.printer.json { "json" } else { format_name(args.format) };
    let format = COVERAGE_FORMATS.iter().find(|format| format.name == name).expect("each argument is a row");
    let mut union = Union::new(args);
    let (traces, files) = match &args.target {
        None => (selector::corpus(&args.run, &context.runs)?, Vec::new()),
        Some(_) => inputs::files(Path::new(&args.run))?.into_iter().partition(|path| inputs::is_trace(path)),
    };
    if let Some(target) = &args.target {
        union.give(context, args, target, &files)?;
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
            write_atomic(path, text.as_bytes(), Durability::Cached)
                .map_err(|error| store_error(StoreError::io("write", path, error)))?;
            context.printer.remark(&format!("wrote {}\n", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What all traces together have covered.
struct Union {
    build: Build,
    entries: BTreeMap<Digest, Entry>,
    /// Components in the order in which they were first executed, targets before what their plans name.
    order: Vec<Digest>,
    traces: Vec<String>,
    remarks: Vec<String>,
    /// The program of the last trace, which is most often that of the next, too.
    last: Option<(Digest, Switches, Program)>,
}

impl Union {
    fn new(args: &CoverageArgs) -> Union {
        let modules = match args.instrument.as_slice() {
            [] => ModuleChoice::Own,
            names if names.iter().any(|name| name == "*") => ModuleChoice::All,
            names => ModuleChoice::Named(names.to_vec()),
        };
        let coverage = if args.counters { CoverageMode::Counters } else { CoverageMode::SetOnce };
        let build = Build { coverage, modules, ..Build::default() };
        let (traces, remarks) = (Vec::new(), Vec::new());
        Union { build, entries: BTreeMap::new(), order: Vec::new(), traces, remarks, last: None }
    }

    fn execute(&mut self, trace: &str, recording: &Recording, strict: bool) -> Result<(), CliError> {
        let program = self.program(recording)?;
        let mut session = target::session(program, &recording.plan, &recording.inputs)?;
        let starved = matches!(recording.outcome.end, ExecutionEnd::FuelExhausted { .. });
        session.fuel_times(if starved { 1 } else { FUEL_TIMES });
        let mut execution = session.execute(fozzy_search::source_of(recording), 0..0)?;
        execution.fuel_used = recording.outcome.fuel_used;
        let verdict = judge(&execution);
        if starved {
            self.remarks.push(format!(
                "{trace} ended when its fuel was used up; code that notes its edges uses more, so that less of the run is shown"
            ));
        } else if let Some(difference) =
            fozzy_search::compare(&recording.outcome, &RecordedOutcome::of(&execution, verdict))
        {
            let (left, right) = (difference.left, difference.right);
            let what =
                format!("{trace}: this is not the recorded run: {}: recorded {left}, found {right}", difference.what);
            if strict {
                return Err(CliError::new("replay", what).hint(format!("fozzy replay {trace}")));
            }
            self.remarks.push(what);
        }
        self.add(&session, recording);
        self.traces.push(trace.to_owned());
        Ok(())
    }

    /// Gives the files to the program at `target`, one after the other.
    fn give(
        &mut self,
        context: &Context,
        args: &CoverageArgs,
        target: &Path,
        files: &[PathBuf],
    ) -> Result<(), CliError> {
        let loaded = target::load(target)?;
        let name = loaded.target.name.clone();
        let world = WorldOptions { plan: args.given.plan.clone(), ..WorldOptions::default() };
        let planned = plan::plan(&context.project, &loaded, &args.args, &LimitOptions::default(), &world)?;
        if planned.is_live() {
            let message = "inputs are executed on the simulated computer, and the plan asks for the real one";
            return Err(CliError::new("plan", message));
        }
        let program = target::compile_called(loaded.component, &planned.plan, &name, &self.build)?;
        let own = Digest::of(program.component());
        let mut runner = InputRunner::of(&args.given.options(), &program, &planned, &name, FUEL_TIMES)?;
        let mut failed = Vec::new();
        for path in files {
            let reached = runner.execute(path)?;
            if reached.status != Status::Pass {
                failed.push(path.display().to_string());
            }
            for (digest, (program, covered)) in reached.covered {
                let name = || if digest == own { name.clone() } else { name_of(&planned.plan, digest) };
                self.add_one(digest, name, &program, &covered);
            }
            self.traces.push(path.display().to_string());
        }
        if let Some(first) = failed.first() {
            let (number, all) = (failed.len(), files.len());
            self.remarks.push(format!("{number} of {all} inputs did not pass, the first is {first}"));
        }
        Ok(())
    }

    fn program(&mut self, recording: &Recording) -> Result<Program, CliError> {
        let (digest, switches) = (Digest::of(&recording.component), Switches::of(&recording.plan));
        if let Some((known, under, program)) = &self.last
            && (*known, *under) == (digest, switches)
        {
            return Ok(program.clone());
        }
        let component = recording.component.clone();
        let program = target::compile_as(component, &recording.plan, &recording.target.name, &self.build)?;
        self.last = Some((digest, switches, program.clone()));
        Ok(program)
    }

    fn add(&mut self, session: &Session, recording: &Recording) {
        let target = Digest::of(&recording.component);
        let mut found: Vec<(&Digest, &ProgramCoverage)> = session.coverage().iter().collect();
        found.sort_by_key(|(digest, _)| (**digest != target, **digest));
        for (&digest, covered) in found {
            let Some(program) = session.program_named(digest) else { continue };
            let name = || match digest == target {
                true => recording.target.name.clone(),
                false => name_of(&recording.plan, digest),
            };
            self.add_one(digest, name, program, covered);
        }
    }

    fn add_one(&mut self, digest: Digest, name: impl FnOnce() -> String, program: &Program, covered: &ProgramCoverage) {
        let entry = self.entries.entry(digest).or_insert_with(|| {
            self.order.push(digest);
            Entry { name: name(), program: program.clone(), covered: ProgramCoverage::default() }
        });
        entry.covered.merge(covered, self.build.coverage);
    }

    fn document(self) -> Result<CoverageDocument, CliError> {
        let entries: Vec<&Entry> = self.order.iter().filter_map(|digest| self.entries.get(digest)).collect();
        if let ModuleChoice::Named(names) = &self.build.modules
            && entries.iter().all(|entry| entry.program.sites().is_empty())
        {
            return Err(no_such_module(names, &entries));
        }
        let components = entries.iter().map(|entry| coverage::component(&entry.program, &entry.name, &entry.covered));
        let mut document = CoverageDocument {
            schema_version: COVERAGE_SCHEMA.to_owned(),
            counting: if self.build.coverage == CoverageMode::Counters { "counts" } else { "hits" }.to_owned(),
            components: components.collect(),
            traces: self.traces,
            remarks: self.remarks,
            ..CoverageDocument::default()
        };
        document.settle();
        Ok(document)
    }
}

/// What the plan calls a further component: the machine that it runs on.
fn name_of(plan: &Plan, component: Digest) -> String {
    let nodes = plan.nodes.iter();
    let node = nodes.into_iter().find(|node| node.program.component == component);
    node.map_or_else(|| format!("component {}", &component.to_string()[..12]), |node| node.name.clone())
}

fn no_such_module(names: &[String], entries: &[&Entry]) -> CliError {
    let modules = entries.iter().flat_map(|entry| entry.program.maps().modules());
    let there: Vec<String> = modules.flat_map(|module| module.names()).map(|name| format!("`{name}`")).collect();
    let message =
        format!("--instrument: no core module is called {}; there are {}", names.join(" or "), there.join(", "));
    CliError::new("usage", message).hint("--instrument '*' takes all of them")
}
