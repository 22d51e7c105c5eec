//! `fozzy fleet`: every test of a project, searched for as long as there is time.

use super::run::seed;
use super::worker::stop_flag;
use crate::args::FleetArgs;
use crate::context::{Context, exit_as_told};
use crate::error::{CliError, ErrorKind};
use crate::gates::passed_on;
use fozzy_campaign::fleet::discovery::FleetScope;
use fozzy_campaign::fleet::dispatch::{FleetRun, store_error};
use fozzy_campaign::fleet::shared_store::DirectoryStore;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) fn fleet(context: &Context, args: &FleetArgs) -> Result<ExitCode, CliError> {
    if context.globals.no_store {
        return Err(CliError::new(ErrorKind::Usage, "--no-store: a fleet keeps what it finds")
            .hint("leave it out; --store DIR says where"));
    }
    let seed = seed(context, args.seed);
    let folder = args.store.clone().unwrap_or_else(|| context.project.config.base_dir.join("fleet"));
    let store = DirectoryStore::open(&folder, &project(context, args)).map_err(store_error)?;
    let scope = FleetScope { root: args.dir.clone(), only: args.only.clone(), exclude: args.exclude.clone() };
    let run = FleetRun {
        project: &context.project,
        store: &store,
        scope: &scope,
        jobs: args.jobs,
        time: args.time.map(|time| Duration::from_nanos(time.0)),
        seed,
        globals: passed_on(&context.globals),
        stop: stop_flag(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let document = if args.collect { run.survey()? } else { run.run()? };
    context.printer.document(&document)?;
    Ok(exit_as_told(document.status, document.interrupted))
}

/// The name of the project: what was said, or that of the folder in which its settings are.
fn project(context: &Context, args: &FleetArgs) -> String {
    let root = context.globals.config.parent().filter(|folder| !folder.as_os_str().is_empty());
    let root = root.unwrap_or(Path::new(".")).canonicalize().ok();
    let of_folder = || Some(root?.file_name()?.to_string_lossy().into_owned());
    args.project.clone().or_else(of_folder).unwrap_or_else(|| "project".to_owned())
}
