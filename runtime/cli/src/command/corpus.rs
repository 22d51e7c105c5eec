//! `fozzy corpus`: the folders that campaigns begin with and add to.
//!
//! ```text
//! list · add                    files, each named by its content when it is ours
//! minimize   copies ─▶ away; executed ─▶ edges ─▶ set cover ─▶ the rest away
//! export ─▶ one zip ─▶ import
//! ```
//!
//! Invariants: nothing is removed or written before all that could be wrong was looked at; what stays reaches every edge that
//! was reached before, and fails in every way; files that begin with a dot, and traces, are not inputs.
//! Not here: how inputs are found (`fozzy fuzz`), set cover (`fozzy-search`).

use super::Context;
use crate::args::{CorpusAddArgs, CorpusExportArgs, CorpusImportArgs, CorpusListArgs, CorpusMinimizeArgs};
use crate::error::{CliError, at_path};
use fozzy_campaign::artifacts::pack::{self, Content};
use fozzy_campaign::fuzz::corpus::{CorpusFolder, is_digest};
use fozzy_campaign::fuzz::portable;
use fozzy_campaign::inputs::{self, InputRunner};
use fozzy_campaign::options::{RunRequest, WorldOptions};
use fozzy_campaign::pipeline::{PreparedProgram, load, plan};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_engine::Build;
use fozzy_instrument::CoverageMode;
use fozzy_report::document::{CorpusAddDocument, CorpusExportDocument, CorpusImportDocument, CorpusMinimizeDocument};
use fozzy_search::fuzz::{InputCoverage, minimize_corpus};
use fozzy_trace::Digest;
use fozzy_trace::file::store::{Durability, write_atomic};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Budgets of fuel in one execution, as of `fozzy coverage`: code that notes its edges uses more.
const FUEL_TIMES: u64 = 16;

pub(crate) fn list(context: &Context, args: &CorpusListArgs) -> Result<ExitCode, CliError> {
    let files: Vec<String> = files(&args.dir)?.iter().map(|path| path.display().to_string()).collect();
    if context.printer.json {
        context.printer.document(&files)?;
    } else {
        context.printer.data(&files.iter().map(|path| format!("{path}\n")).collect::<String>());
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn add(context: &Context, args: &CorpusAddArgs) -> Result<ExitCode, CliError> {
    let input = inputs::read(&args.file)?;
    let digest = Digest::of(&input);
    CorpusFolder::open(&args.dir)?.add(&input, &digest)?;
    context.printer.document(&CorpusAddDocument { added: args.dir.join(digest.to_string()).display().to_string() })?;
    Ok(ExitCode::SUCCESS)
}

/// An input of a corpus, and its bytes.
struct Input {
    path: PathBuf,
    bytes: Vec<u8>,
}

pub(crate) fn minimize(context: &Context, args: &CorpusMinimizeArgs) -> Result<ExitCode, CliError> {
    if let Some(out) = &args.out {
        let is_new = fs::read_dir(out).map_or(!out.exists(), |mut entries| entries.next().is_none());
        if !is_new {
            return Err(CliError::new("corpus", format!("{} is there, and not an empty folder", out.display())));
        }
    }
    let all = read(&args.dir)?;
    let size = |inputs: &[Input]| inputs.iter().map(|input| input.bytes.len() as u64).sum::<u64>();
    let mut document = CorpusMinimizeDocument {
        ok: true,
        dir: args.dir.display().to_string(),
        files_before: all.len() as u64,
        bytes_before: size(&all),
        out: args.out.as_ref().map(|out| out.display().to_string()),
        ..CorpusMinimizeDocument::default()
    };
    let (mut stay, mut go) = distinct(all);
    document.duplicates_removed = go.len() as u64;
    if let Some(target) = &args.target {
        let found = enough(context, args, target, &stay)?;
        let before = stay.len();
        let mut place = 0;
        let (kept, spare) = stay.into_iter().partition(|_| {
            place += 1;
            found.stay.binary_search(&(place - 1)).is_ok()
        });
        (stay, document.edges) = (kept, Some(found.edges));
        document.not_executed = Some(found.not_executed).filter(|number| *number > 0);
        document.redundant_removed = Some((before - stay.len()) as u64);
        go.extend::<Vec<Input>>(spare);
    }
    document.files_after = stay.len() as u64;
    document.bytes_after = size(&stay);
    document.bytes_removed = document.bytes_before - document.bytes_after;
    match &args.out {
        Some(out) => copy(out, &stay)?,
        None => {
            for input in &go {
                let removed = fs::remove_file(&input.path);
                removed.map_err(|error| at_path("corpus", "cannot remove", &input.path, &error))?;
            }
        }
    }
    context.printer.document(&document)?;
    Ok(ExitCode::SUCCESS)
}

/// Each content once, and the others. Of equal files the one with a user's name stays.
fn distinct(mut all: Vec<Input>) -> (Vec<Input>, Vec<Input>) {
    let is_named =
        |input: &Input| input.path.file_name().and_then(|name| name.to_str()).is_none_or(|it| !is_digest(it));
    all.sort_by_cached_key(|input| (!is_named(input), input.path.clone()));
    let mut known = std::collections::BTreeSet::new();
    let (mut stay, go): (Vec<Input>, Vec<Input>) =
        all.into_iter().partition(|input| known.insert(Digest::of(&input.bytes)));
    stay.sort_by(|left, right| left.path.cmp(&right.path));
    (stay, go)
}

/// Which inputs are enough.
struct MinimalSet {
    /// Their places, in order.
    stay: Vec<usize>,
    edges: u64,
    not_executed: u64,
}

/// Executes each input, and finds few that reach as much as all.
fn enough(
    context: &Context,
    args: &CorpusMinimizeArgs,
    target: &Path,
    corpus: &[Input],
) -> Result<MinimalSet, CliError> {
    let watch = Stopwatch::start();
    let loaded = load(target)?;
    let world = WorldOptions { plan: args.given.plan.clone(), ..WorldOptions::default() };
    let request = RunRequest { args: args.args.clone(), world, ..RunRequest::default() };
    let planned = plan(&context.project, &loaded, &request)?;
    if planned.is_live() {
        let message = "inputs are executed on the simulated computer, and the plan asks for the real one";
        return Err(CliError::new("plan", message));
    }
    let build = Build { coverage: CoverageMode::SetOnce, ..Build::default() };
    let prepared = PreparedProgram::to_call(loaded, planned, &build)?;
    let mut runner = InputRunner::of(&args.given.options(), &prepared, FUEL_TIMES)?;
    // Numbers of edges, component by component, and of ways to fail, as they are met.
    let (mut first, mut failures, mut next) = (BTreeMap::<Digest, u32>::new(), BTreeMap::new(), 0u32);
    let mut reaches = Vec::with_capacity(corpus.len());
    for input in corpus {
        if args.budget.is_some_and(|budget| watch.elapsed_ns() >= budget.0) {
            break;
        }
        let found = runner.execute_bytes(&input.bytes)?;
        let mut reached = Vec::new();
        for (digest, (_, covered)) in &found.covered {
            let first = *first.entry(*digest).or_insert_with(|| {
                let first = next;
                next += covered.edges.len() as u32;
                first
            });
            let taken = covered.edges.iter().zip(first..).filter(|(hits, _)| **hits > 0);
            reached.extend(taken.map(|(_, number)| number));
        }
        if let Some(failure) = found.failure {
            reached.push(*failures.entry(failure).or_insert_with(|| {
                next += 1;
                next - 1
            }));
        }
        reaches.push(InputCoverage { bytes: input.bytes.len() as u64, reached });
    }
    let mut all: Vec<u32> = reaches.iter().flat_map(|reach| reach.reached.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let edges = (all.len() - failures.len()) as u64;
    let executed = reaches.len();
    let mut stay = minimize_corpus(&reaches);
    stay.extend(executed..corpus.len());
    Ok(MinimalSet { stay, edges, not_executed: (corpus.len() - executed) as u64 })
}

pub(crate) fn export(context: &Context, args: &CorpusExportArgs) -> Result<ExitCode, CliError> {
    let inputs = read(&args.dir)?;
    let contents: Vec<Content> = inputs.into_iter().map(|input| (name_of(&input.path), input.bytes)).collect();
    if contents.is_empty() {
        return Err(CliError::new("corpus", format!("{} holds no input", args.dir.display())));
    }
    portable::check(contents.iter().map(|(name, _)| name.as_str())).map_err(|why| {
        CliError::new("corpus", format!("{}: {why}", args.dir.display())).hint("rename it, or move it away")
    })?;
    pack::write_zip(&args.out, &contents)?;
    context.printer.document(&CorpusExportDocument { ok: true, zip: args.out.display().to_string() })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn import(context: &Context, args: &CorpusImportArgs) -> Result<ExitCode, CliError> {
    let failed = |error: std::io::Error| at_path("corpus", "cannot read", &args.zip, &error);
    let mut bytes = Vec::new();
    let file = fs::File::open(&args.zip).map_err(failed)?;
    file.take(portable::ZIP_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    let refused =
        |why: String| CliError::new("corpus", format!("{}: {why}", args.zip.display())).hint("nothing was written");
    if bytes.len() as u64 > portable::ZIP_BYTES_MAX {
        return Err(refused(format!("it has more than {} bytes", portable::ZIP_BYTES_MAX)));
    }
    let contents = portable::unzip(&bytes).map_err(refused)?;
    let mut new = Vec::new();
    for (name, input) in contents {
        let path = args.out.join(name);
        match path.symlink_metadata() {
            Err(_) => new.push(Input { path, bytes: input }),
            // What is there already need not be written.
            Ok(it) if it.is_file() && fs::read(&path).is_ok_and(|there| there == input) => {}
            Ok(_) => {
                let message = format!("{} is there already, and is something else", path.display());
                return Err(CliError::new("corpus", message).hint("nothing was written; name another folder"));
            }
        }
    }
    write_all(&args.out, &new)?;
    context.printer.document(&CorpusImportDocument { ok: true, dir: args.out.display().to_string() })?;
    Ok(ExitCode::SUCCESS)
}

/// Copies inputs to a folder.
fn copy(out: &Path, inputs: &[Input]) -> Result<(), CliError> {
    let copies: Vec<Input> = inputs
        .iter()
        .map(|input| Input { path: out.join(input.path.file_name().unwrap_or_default()), bytes: input.bytes.clone() })
        .collect();
    write_all(out, &copies)
}

/// Writes all of them, or none.
fn write_all(folder: &Path, inputs: &[Input]) -> Result<(), CliError> {
    fs::create_dir_all(folder).map_err(|error| at_path("corpus", "cannot make the corpus folder", folder, &error))?;
    for (place, input) in inputs.iter().enumerate() {
        if let Err(error) = write_atomic(&input.path, &input.bytes, Durability::Cached) {
            for written in &inputs[..place] {
                let _ = fs::remove_file(&written.path);
            }
            let error = at_path("corpus", "cannot write", &input.path, &error);
            return Err(error.hint("what was written before it was removed again"));
        }
    }
    Ok(())
}

/// The inputs of a corpus, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let failed = |error: std::io::Error| at_path("corpus", "cannot list", folder, &error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let path = entry.path();
        // A link is a file for whoever made it, as for `fozzy fuzz`.
        if !hidden && !inputs::is_trace(&path) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read(folder: &Path) -> Result<Vec<Input>, CliError> {
    let input = |path: PathBuf| Ok(Input { bytes: inputs::read(&path)?, path });
    files(folder)?.into_iter().map(input).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
