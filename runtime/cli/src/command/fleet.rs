//! `fozzy fleet`: every test of a project, searched for as long as there is time.

use super::dashboard::{refused, serve_until_stopped};
use super::run::seed;
use super::worker::stop_flag;
use crate::args::{FleetArgs, StoreCopyArgs, StoreDismissArgs};
use crate::context::{Context, exit_as_told};
use crate::error::{CliError, ErrorKind};
use crate::fleet_place::FleetPlace;
use crate::gates::passed_on;
use crate::interrupt;
use fozzy_campaign::fleet::collector::FleetCollector;
use fozzy_campaign::fleet::discovery::FleetScope;
use fozzy_campaign::fleet::dismissal;
use fozzy_campaign::fleet::dispatch::FleetRun;
use fozzy_campaign::fleet::shared_store::{open_store, shared_store_error};
use fozzy_campaign::fleet::store_copy::{copy_store, store_copy_error};
use fozzy_campaign::fleet::view::FleetView;
use fozzy_dashboard::{DashboardServer, DashboardSource};
use fozzy_report::fleet::{StoreCopyDocument, StoreDismissDocument};
use fozzy_trace::{Status, counted};
use std::process::ExitCode;
use std::time::Duration;

pub(crate) fn fleet(context: &Context, args: &FleetArgs) -> Result<ExitCode, CliError> {
    if context.globals.no_store {
        return Err(CliError::new(ErrorKind::Usage, "--no-store: a fleet keeps what it finds")
            .hint("leave it out; --store DIR says where"));
    }
    interrupt::end_as_a_fleet();
    let seed = seed(context, args.seed);
    let place = FleetPlace { store: args.store.as_deref(), project: args.project.as_deref() };
    let store = if args.collect { place.open(context)? } else { place.join(context)? };
    let scope = FleetScope { root: args.dir.clone(), only: args.only.clone(), exclude: args.exclude.clone() };
    let collector = FleetCollector::new(scope, &context.project)?;
    let current = collector.current();
    context.project.remarks.live("");
    if args.collect {
        let collection = current.get();
        let view = FleetView { store: &*store, collection: &collection, named: place.named(context) };
        let document = view.document().map_err(shared_store_error)?;
        context.printer.document(&document)?;
        return Ok(exit_as_told(document.exit_status(), document.interrupted));
    }
    let time = args.time.map(|time| Duration::from_nanos(time.0));
    if args.dashboard_only {
        let source = place.source(context, current.clone())?;
        return serve_until_stopped(context, source, args.dashboard_port, time);
    }
    let _server = match args.no_dashboard || current.get().targets.is_empty() {
        true => None,
        false => Some(serve(context, args, place.source(context, current.clone())?)?),
    };
    let run = FleetRun {
        project: &context.project,
        store: &*store,
        collector: &collector,
        named: place.named(context),
        jobs: args.jobs,
        time,
        until: args.until_risk,
        seed,
        globals: passed_on(&context.globals),
        stop: stop_flag(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let document = run.run()?;
    context.printer.document(&document)?;
    Ok(exit_as_told(document.exit_status(), document.interrupted))
}

/// The pages, for as long as the fleet works.
fn serve(context: &Context, args: &FleetArgs, source: DashboardSource) -> Result<DashboardServer, CliError> {
    let server = DashboardServer::start(source, args.dashboard_port.unwrap_or(0)).map_err(|error| {
        let hint = "leave out --dashboard-port, and a free one is taken; or --no-dashboard";
        refused(error).hint(hint)
    })?;
    context.project.remarks.text(&format!("dashboard: {}\n", server.url()));
    Ok(server)
}

/// `fozzy store copy`.
pub(crate) fn copy(context: &Context, args: &StoreCopyArgs) -> Result<ExitCode, CliError> {
    let from = open_store(&args.from, None).map_err(shared_store_error)?;
    let to = open_store(&args.to, Some(from.project())).map_err(shared_store_error)?;
    if !args.merge && !to.folders().map_err(shared_store_error)?.is_empty() {
        let message = format!("{} is not empty", to.place());
        return Err(CliError::new(ErrorKind::Usage, message)
            .hint("--merge adds what is not there yet; of counts that cannot be added, the larger one stays, and a note names their target"));
    }
    let copied = copy_store(&*from, &*to).map_err(store_copy_error)?;
    let (counts, lost) = ((copied.blobs, copied.bytes), copied.lost_total());
    let mut document = StoreCopyDocument::new(from.place(), to.place(), counts, copied.kinds);
    document.warnings.extend(copied.larger.into_iter().map(|target| {
        format!("{target}: which of its slices are in both stores is not known; its counts are the larger ones, not their sum")
    }));
    let unsaid = lost - copied.lost.len() as u64;
    document.warnings.extend(copied.lost);
    document.warnings.extend((unsaid > 0).then(|| format!("{} more not copied", counted(unsaid, "record"))));
    context.printer.document(&document)?;
    Ok(match lost {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(Status::Error.exit_code()),
    })
}

/// `fozzy store dismiss`.
pub(crate) fn dismiss(context: &Context, args: &StoreDismissArgs) -> Result<ExitCode, CliError> {
    let place = FleetPlace { store: args.store.as_deref(), project: None };
    let store = place.of_anybody(context)?;
    let dismissed = dismissal::dismiss(&*store, &args.failures)?;
    context.printer.document(&StoreDismissDocument::new(store.place(), dismissed))?;
    Ok(ExitCode::SUCCESS)
}
