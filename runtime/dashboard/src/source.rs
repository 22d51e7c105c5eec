//! What the pages are made of.

use fozzy_campaign::fleet::discovery::FleetCollection;
use fozzy_campaign::fleet::shared_store::{SharedStore, SharedStoreError};
use fozzy_campaign::fleet::view::FleetView;
use fozzy_campaign::store::{RunManifest, RunStore};
use fozzy_report::fleet::{FleetDocument, FleetTargetDocument};
use fozzy_trace::Digest;
use std::path::PathBuf;

/// Runs that are listed: the latest.
const RUNS_MAX: usize = 200;

/// What the pages are made of: a store, what it is about, and the runs of the project.
pub struct DashboardSource {
    /// Where the fleet keeps everything.
    pub store: Box<dyn SharedStore>,
    /// What is searched.
    pub collection: FleetCollection,
    /// The runs of the project.
    pub runs: RunStore,
    /// The folder of the project's artifacts, with its corpora.
    pub base_dir: PathBuf,
    /// The binary of fozzy, which makes pages of runs.
    pub program: PathBuf,
}

impl DashboardSource {
    fn view(&self) -> FleetView<'_> {
        FleetView { store: &*self.store, collection: &self.collection }
    }

    /// The whole fleet.
    pub(crate) fn fleet(&self) -> Result<FleetDocument, SharedStoreError> {
        self.view().document()
    }

    /// One target by its id.
    pub(crate) fn target(&self, id: &str) -> Result<Option<FleetTargetDocument>, SharedStoreError> {
        self.view().target(id, &self.base_dir)
    }

    /// The latest runs of the project.
    pub(crate) fn runs(&self) -> Vec<RunManifest> {
        self.runs.finished().into_iter().take(RUNS_MAX).map(|(_, manifest)| manifest).collect()
    }

    /// The bytes of a failure's trace. Only those that the fleet lists: the store may hold others.
    pub(crate) fn trace(&self, name: &str) -> Result<Option<Vec<u8>>, SharedStoreError> {
        match Digest::parse(name).filter(|digest| digest.to_string() == name) {
            Some(digest) => self.store.get_blob(&digest),
            None => Ok(None),
        }
    }

    /// Where the trace of that name is a file.
    pub(crate) fn trace_path(&self, name: &str) -> Option<PathBuf> {
        let path = self.store.blob_path(&Digest::parse(name)?)?;
        path.is_file().then_some(path)
    }
}
