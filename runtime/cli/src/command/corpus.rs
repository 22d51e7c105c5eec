//! `fozzy corpus`: the folders that campaigns begin with and add to.
//!
//! ```text
//! list · add                    files, each named by its content when it is ours
//! minimize   copies ─▶ away; executed ─▶ edges ─▶ set cover ─▶ the rest away
//! export ─▶ one zip ─▶ import
//! ```
//!
//! Not here: how inputs are found (`fozzy fuzz`), how a corpus is made small (`fozzy-campaign`).

use crate::args::{CorpusAddArgs, CorpusExportArgs, CorpusImportArgs, CorpusListArgs, CorpusMinimizeArgs};
use crate::context::Context;
use crate::error::CliError;
use fozzy_campaign::fuzz::corpus::CorpusFolder;
use fozzy_campaign::fuzz::corpus_files;
use fozzy_campaign::fuzz::corpus_minimize::{self, CorpusExecution};
use fozzy_campaign::inputs;
use fozzy_campaign::options::{RunRequest, WorldOptions};
use fozzy_report::document::{CorpusAddDocument, CorpusExportDocument, CorpusImportDocument};
use fozzy_trace::Digest;
use std::process::ExitCode;

pub(crate) fn list(context: &Context, args: &CorpusListArgs) -> Result<ExitCode, CliError> {
    let files = corpus_files::files(&args.dir)?;
    let files: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
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

pub(crate) fn minimize(context: &Context, args: &CorpusMinimizeArgs) -> Result<ExitCode, CliError> {
    let world = WorldOptions { plan: args.given.plan.clone(), ..WorldOptions::default() };
    let request = RunRequest { args: args.args.clone(), world, ..RunRequest::default() };
    let given = args.given.options();
    let executed = args.target.as_deref().map(|target| CorpusExecution { target, request, given, budget: args.budget });
    let (project, out) = (&context.project, args.out.as_deref());
    context.printer.document(&corpus_minimize::minimize(project, &args.dir, out, executed.as_ref())?)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn export(context: &Context, args: &CorpusExportArgs) -> Result<ExitCode, CliError> {
    corpus_files::export(&args.dir, &args.out)?;
    context.printer.document(&CorpusExportDocument { ok: true, zip: args.out.display().to_string() })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn import(context: &Context, args: &CorpusImportArgs) -> Result<ExitCode, CliError> {
    corpus_files::import(&args.zip, &args.out)?;
    context.printer.document(&CorpusImportDocument { ok: true, dir: args.out.display().to_string() })?;
    Ok(ExitCode::SUCCESS)
}
