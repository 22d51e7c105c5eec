//! `fozzy completions` and `fozzy man`: the command line for shells and for `man`, from the source of `--help`.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::context::Context;
use crate::error::{CliError, ErrorKind, at_path};
use clap::{Command, CommandFactory};
use fozzy_report::document::{FormattedDocument, ManDocument};
use fozzy_trace::file::store::{Durability, write_atomic};
use std::process::ExitCode;

pub(crate) fn completions(context: &Context, args: &CompletionsArgs) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "fozzy", &mut script);
    let content = String::from_utf8_lossy(&script).into_owned();
    if context.printer.json {
        context.printer.document(&FormattedDocument { format: args.shell.to_string(), content })?;
    } else {
        context.printer.data(&content);
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(context: &Context, args: &ManArgs) -> Result<ExitCode, CliError> {
    let failed = |path: &std::path::Path, error: std::io::Error| at_path(ErrorKind::Man, "cannot write", path, &error);
    std::fs::create_dir_all(&args.folder).map_err(|error| failed(&args.folder, error))?;
    let mut root = Cli::command();
    root.build();
    let mut pages = Vec::new();
    render(&root, "fozzy", &mut pages).map_err(|error| CliError::new(ErrorKind::Internal, error.to_string()))?;
    for (name, page) in &pages {
        let path = args.folder.join(name);
        write_atomic(&path, page, Durability::Cached).map_err(|error| failed(&path, error))?;
    }
    let files = pages.into_iter().map(|(name, _)| name).collect();
    context.printer.document(&ManDocument { folder: args.folder.display().to_string(), files })?;
    Ok(ExitCode::SUCCESS)
}

/// A page for the command and for each below it.
fn render(command: &Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name).render(&mut page)?;
    pages.push((format!("{name}.1"), page));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        render(below, &format!("{name}-{}", below.get_name()), pages)?;
    }
    Ok(())
}
