//! What the pages are made of.

use crate::subject::ExecutedSubject;
use fozzy_campaign::fleet::discovery::{FleetCollection, FleetTarget};
use fozzy_campaign::fleet::page_command::{FailureMeasure, TargetMeasure};
use fozzy_campaign::fleet::shared_store::{SharedStore, SharedStoreError};
use fozzy_campaign::fleet::view::FleetView;
use fozzy_campaign::selector::STORED;
use fozzy_campaign::store::{RunManifest, RunStore};
use fozzy_report::fleet::{FleetDocument, FleetTargetDocument};
use fozzy_trace::Digest;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs that are listed: the latest.
const RUNS_MAX: usize = 200;

/// What the pages are made of: a store, what it is about, and the runs of the project.
pub struct DashboardSource {
    /// Where the fleet keeps everything.
    pub store: Box<dyn SharedStore>,
    /// How that is named in the environment of a command.
    pub address: String,
    /// What is searched.
    pub collection: FleetCollection,
    /// The runs of the project.
    pub runs: RunStore,
    /// The folder of the project's artifacts, with its corpora.
    pub base_dir: PathBuf,
    /// The binary of fozzy, which executes programs.
    pub program: PathBuf,
    /// Flags that each of its commands has.
    pub globals: Vec<OsString>,
}

impl DashboardSource {
    fn view(&self) -> FleetView<'_> {
        let is_found = self.address == self.runs.shared_place();
        let named = (!is_found).then_some(&*self.address);
        FleetView { store: &*self.store, collection: &self.collection, named }
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

    /// The words of the command that makes a page or a document; `None` where there is nothing of that kind.
    pub(crate) fn command(&self, subject: &ExecutedSubject) -> Result<Option<Vec<String>>, SharedStoreError> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let page = |selector: &str| words(&["report", "show", selector, "--format", "html"]);
        Ok(match subject {
            ExecutedSubject::Run(id) => self.runs().iter().any(|run| run.run_id == *id).then(|| page(id)),
            ExecutedSubject::Failure(trace) => self.trace_name(trace)?.map(|trace| page(&trace)),
            ExecutedSubject::Measured(trace, measure) => self.measured(trace, *measure)?,
            ExecutedSubject::TargetPage(id) => {
                let words = self.collected(id).and_then(|target| TargetMeasure::Coverage.words(target, &self.base_dir));
                words.map(|words| [words, vec!["--format".into(), "html".into()]].concat())
            }
            ExecutedSubject::Target(id, measure) => {
                let words = self.collected(id).and_then(|target| measure.words(target, &self.base_dir));
                words.map(|words| [words, vec!["--json".into()]].concat())
            }
        })
    }

    fn collected(&self, id: &str) -> Option<&FleetTarget> {
        self.collection.targets.iter().find(|target| target.id == id)
    }

    fn measured(&self, trace: &str, measure: FailureMeasure) -> Result<Option<Vec<String>>, SharedStoreError> {
        let Some(name) = self.trace_name(trace)? else { return Ok(None) };
        let failures = self.fleet()?.failures;
        let failure = failures.iter().find(|failure| failure.trace == trace);
        let target = |row: &str| self.collection.targets.iter().find(|target| target.name == row);
        let words = failure.and_then(|row| measure.words(target(&row.target)?, &self.base_dir, &name, &row.signature));
        Ok(words.map(|words| [words, vec!["--json".into()]].concat()))
    }

    /// By what a command finds the trace of that name: its file, or its name in the store.
    fn trace_name(&self, name: &str) -> Result<Option<String>, SharedStoreError> {
        let Some(digest) = Digest::parse(name).filter(|digest| digest.to_string() == name) else { return Ok(None) };
        if let Some(path) = self.store.blob_path(&digest) {
            return Ok(path.is_file().then(|| path.display().to_string()));
        }
        Ok(self.store.get_blob(&digest)?.map(|_| format!("{STORED}{name}")))
    }
}
