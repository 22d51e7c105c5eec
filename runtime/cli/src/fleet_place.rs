//! The store that a fleet's command means: what was said, or that of the project.

use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use fozzy_campaign::fleet::discovery::FleetCollection;
use fozzy_campaign::fleet::dispatch::store_error;
use fozzy_campaign::fleet::shared_store::DirectoryStore;
use fozzy_dashboard::DashboardSource;
use std::path::{Path, PathBuf};

/// Which store, of which project.
pub(crate) struct FleetPlace<'a> {
    pub(crate) store: Option<&'a Path>,
    pub(crate) project: Option<&'a str>,
}

impl FleetPlace<'_> {
    fn folder(&self, context: &Context) -> PathBuf {
        self.store.map_or_else(|| context.project.config.base_dir.join("fleet"), Path::to_owned)
    }

    /// Opens it, and makes it where there is none.
    pub(crate) fn open(&self, context: &Context) -> Result<DirectoryStore, CliError> {
        DirectoryStore::open(&self.folder(context), &self.name(context)).map_err(store_error)
    }

    /// Refuses a folder that is not there: who looks at a store makes none.
    pub(crate) fn existing(&self, context: &Context) -> Result<(), CliError> {
        let folder = self.folder(context);
        if folder.is_dir() {
            return Ok(());
        }
        let message = format!("{} is not there: no fleet has worked here", folder.display());
        Err(CliError::new(ErrorKind::Store, message).hint("fozzy fleet --time 1m, or name its store: --store DIR"))
    }

    /// What pages are made of.
    pub(crate) fn source(&self, context: &Context, collection: FleetCollection) -> Result<DashboardSource, CliError> {
        let program = std::env::current_exe()
            .map_err(|error| CliError::new(ErrorKind::Harness, format!("cannot find fozzy's own binary: {error}")))?;
        Ok(DashboardSource {
            store: Box::new(self.open(context)?),
            collection,
            runs: context.runs.clone(),
            base_dir: context.project.config.base_dir.clone(),
            program,
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
