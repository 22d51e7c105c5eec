//! `fozzy dashboard`: what a fleet's store says, as pages.

use super::worker::stop_flag;
use crate::args::DashboardArgs;
use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use crate::fleet_place::FleetPlace;
use crate::output::EXIT_ERROR;
use fozzy_campaign::fleet::collector::CurrentCollection;
use fozzy_campaign::fleet::discovery::FleetScope;
use fozzy_campaign::inputs::is_trace;
use fozzy_campaign::selector;
use fozzy_campaign::store::RunManifest;
use fozzy_campaign::wall_clock::{Stopwatch, pause};
use fozzy_dashboard::{DashboardError, DashboardServer, DashboardSource, export};
use fozzy_report::fleet::DashboardDocument;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Between two looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(crate) fn dashboard(context: &Context, args: &DashboardArgs) -> Result<ExitCode, CliError> {
    let place = FleetPlace { store: args.store.as_deref(), project: args.project.as_deref() };
    place.existing(context)?;
    let (traces, roots): (Vec<&PathBuf>, Vec<&PathBuf>) = args.words.iter().partition(|word| is_trace(word));
    if let [_, second, ..] = &roots[..] {
        let message = format!("{}: a fleet has one folder or file; traces end with .fozzy", second.display());
        return Err(CliError::new(ErrorKind::Usage, message));
    }
    let listed = |path: &PathBuf| -> Result<RunManifest, CliError> {
        let recording = selector::read(path)?;
        Ok(RunManifest::of_trace(path, &recording))
    };
    let traces = traces.into_iter().map(listed).collect::<Result<Vec<RunManifest>, CliError>>()?;
    let root = roots.first().copied().cloned();
    let scope = FleetScope { root, only: args.only.clone(), exclude: args.exclude.clone() };
    let collection = CurrentCollection::new(scope.collect(&context.project)?);
    context.project.remarks.live("");
    let source = DashboardSource { traces, ..place.source(context, collection)? };
    if let Some(folder) = &args.export {
        let site = export(&source, folder, args.execute).map_err(refused)?;
        let path = folder.join("index.html").display().to_string();
        context.printer.document(&DashboardDocument::written(path, (site.files, site.bytes), site.warnings))?;
        return Ok(if site.is_whole { ExitCode::SUCCESS } else { ExitCode::from(EXIT_ERROR) });
    }
    serve_until_stopped(context, source, args.port, None)
}

/// The pages and nothing else, until a signal comes or the time is over.
pub(super) fn serve_until_stopped(
    context: &Context,
    source: DashboardSource,
    port: Option<u16>,
    time: Option<Duration>,
) -> Result<ExitCode, CliError> {
    let (stop, watch) = (stop_flag(), Stopwatch::start());
    let server = DashboardServer::start(source, port.unwrap_or(0)).map_err(refused)?;
    context.printer.document(&DashboardDocument::served(server.url()))?;
    while !stop() && time.is_none_or(|time| watch.elapsed() < time) {
        pause(LOOK_EVERY);
    }
    Ok(ExitCode::SUCCESS)
}

/// Why there are no pages, and what to do.
pub(crate) fn refused(error: DashboardError) -> CliError {
    let (kind, hint) = match error {
        DashboardError::Store(error) => return fozzy_campaign::fleet::shared_store::shared_store_error(error),
        DashboardError::Listen { .. } => (ErrorKind::Harness, "leave out --port, and a free one is taken"),
        DashboardError::Start(_) => (ErrorKind::Harness, "`fozzy fleet --no-dashboard` works without one"),
        DashboardError::Write { .. } => (ErrorKind::Report, "name a folder that can be written: --export DIR"),
    };
    CliError::new(kind, error.to_string()).hint(hint)
}
