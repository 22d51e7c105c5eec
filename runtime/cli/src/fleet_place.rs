//! The store that a fleet's command means: what was said, or that of the project.

use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use crate::gates::passed_on;
use fozzy_campaign::fleet::collector::CurrentCollection;
use fozzy_campaign::fleet::shared_store::{SharedStore, open_store, open_store_or_later, shared_store_error};
use fozzy_dashboard::DashboardSource;
use std::path::Path;
use std::time::Duration;

/// How long a page waits for a store that does not answer.
const PAGE_WAIT_MAX: Duration = Duration::from_secs(2);

/// Which store, of which project.
pub(crate) struct FleetPlace<'a> {
    pub(crate) store: Option<&'a str>,
    pub(crate) project: Option<&'a str>,
}

impl FleetPlace<'_> {
    fn place(&self, context: &Context) -> String {
        self.store.map_or_else(|| context.runs.shared_place(), str::to_owned)
    }

    /// What names it in the environment of another command; `None` where that finds it without.
    pub(crate) fn named(&self, context: &Context) -> Option<&str> {
        self.store.filter(|store| *store != context.runs.shared_place())
    }

    /// Opens it, and makes it where there is none.
    pub(crate) fn open(&self, context: &Context) -> Result<Box<dyn SharedStore>, CliError> {
        open_store(&self.place(context), Some(&self.name(context))).map_err(shared_store_error)
    }

    /// The same, whose project's ever it is; it is to be there.
    pub(crate) fn of_anybody(&self, context: &Context) -> Result<Box<dyn SharedStore>, CliError> {
        self.existing(context)?;
        open_store(&self.place(context), None).map_err(shared_store_error)
    }

    /// The same for a fleet: a server that is away now is joined when it answers.
    pub(crate) fn join(&self, context: &Context) -> Result<Box<dyn SharedStore>, CliError> {
        open_store_or_later(&self.place(context), &self.name(context)).map_err(shared_store_error)
    }

    /// Refuses a store that is not there: who looks at one makes none.
    pub(crate) fn existing(&self, context: &Context) -> Result<(), CliError> {
        let place = self.place(context);
        if place.contains("://") {
            return open_store(&place, None).map(drop).map_err(shared_store_error);
        }
        if Path::new(&place).is_dir() {
            return Ok(());
        }
        let message = format!("{place} is not there: no fleet has worked here");
        Err(CliError::new(ErrorKind::Store, message).hint("fozzy fleet --time 1m, or name its store: --store DIR"))
    }

    /// What pages are made of.
    pub(crate) fn source(&self, context: &Context, collection: CurrentCollection) -> Result<DashboardSource, CliError> {
        let program = std::env::current_exe()
            .map_err(|error| CliError::new(ErrorKind::Harness, format!("cannot find fozzy's own binary: {error}")))?;
        let store = self.join(context)?;
        // Who looks at a page does not wait until a server is back.
        store.wait_at_most(PAGE_WAIT_MAX);
        Ok(DashboardSource {
            store,
            address: self.place(context),
            collection,
            runs: context.runs.clone(),
            traces: Vec::new(),
            base_dir: context.project.config.base_dir.clone(),
            program,
            globals: passed_on(&context.globals),
        })
    }

    /// The name of the project: what was said, or that of the folder in which its settings are.
    fn name(&self, context: &Context) -> String {
        let root = context.globals.config.parent().filter(|folder| !folder.as_os_str().is_empty());
        let root = root.unwrap_or(Path::new(".")).canonicalize().ok();
        let of_folder = || Some(root?.file_name()?.to_string_lossy().into_owned());
        self.project.map(str::to_owned).or_else(of_folder).unwrap_or_else(|| "project".to_owned())
    }
}
