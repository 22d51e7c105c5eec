//! What the pages are made of.

use crate::subject::ExecutedSubject;
use fozzy_campaign::fleet::collector::CurrentCollection;
use fozzy_campaign::fleet::discovery::{FleetCollection, FleetTarget};
use fozzy_campaign::fleet::page_command::{FailureMeasure, TargetMeasure};
use fozzy_campaign::fleet::patches::{FailurePatch, has_seed_patch, input_of, seed_patch};
use fozzy_campaign::fleet::shared_store::{SharedStore, SharedStoreError};
use fozzy_campaign::fleet::testcases::TestcaseBytes;
use fozzy_campaign::fleet::view::FleetView;
use fozzy_campaign::selector::STORED;
use fozzy_campaign::store::{RunManifest, RunStore};
use fozzy_report::fleet::{FleetDocument, FleetFailureRow, FleetTargetDocument};
use fozzy_trace::Digest;
use std::collections::BTreeMap;
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
    /// What is searched, which the fleet may change.
    pub collection: CurrentCollection,
    /// The runs of the project.
    pub runs: RunStore,
    /// Traces from elsewhere, which are listed beside them.
    pub traces: Vec<RunManifest>,
    /// The folder of the project's artifacts, with its corpora.
    pub base_dir: PathBuf,
    /// The binary of fozzy, which executes programs.
    pub program: PathBuf,
    /// Flags that each of its commands has.
    pub globals: Vec<OsString>,
}

impl DashboardSource {
    /// The store, unless it is gone.
    fn present_store(&self) -> Result<&dyn SharedStore, SharedStoreError> {
        self.store.present()?;
        Ok(&*self.store)
    }

    fn view<'v>(&'v self, collection: &'v FleetCollection) -> Result<FleetView<'v>, SharedStoreError> {
        let is_found = self.address == self.runs.shared_place();
        let named = (!is_found).then_some(&*self.address);
        Ok(FleetView { store: self.present_store()?, collection, named })
    }

    /// The whole fleet.
    pub(crate) fn fleet(&self) -> Result<FleetDocument, SharedStoreError> {
        let collection = self.collection.get();
        let mut document = self.view(&collection)?.document()?;
        self.keep_made(&collection, &mut document.failures);
        Ok(document)
    }

    /// One target by its id, with its testcases from this place on.
    pub(crate) fn target(&self, id: &str, from: usize) -> Result<Option<FleetTargetDocument>, SharedStoreError> {
        let collection = self.collection.get();
        let mut document = self.view(&collection)?.target(id, &self.base_dir, from)?;
        document.iter_mut().for_each(|document| self.keep_made(&collection, &mut document.failures));
        Ok(document)
    }

    /// Keeps of the patches of failures those that are made here.
    fn keep_made(&self, collection: &FleetCollection, failures: &mut [FleetFailureRow]) {
        let mut known = BTreeMap::new();
        for FleetFailureRow { target, patches, .. } in failures {
            let has_seed = *known.entry(target.clone()).or_insert_with(|| {
                let found = collection.targets.iter().find(|row| row.name == *target);
                found.is_some_and(|target| has_seed_patch(target, &self.base_dir))
            });
            patches.retain(|word| has_seed || word != FailurePatch::Seed.word());
        }
    }

    /// A testcase of a target.
    pub(crate) fn testcase(&self, id: &str, name: &str) -> Result<Option<TestcaseBytes>, SharedStoreError> {
        self.view(&self.collection.get())?.testcase(id, &self.base_dir, name)
    }

    /// A testcase of a target as a patch for git; `None` also where its corpus is no folder of the project.
    pub(crate) fn testcase_patch(&self, id: &str, name: &str) -> Result<Option<String>, SharedStoreError> {
        let Some(TestcaseBytes::Whole(input)) = self.testcase(id, name)? else { return Ok(None) };
        Ok(self.collected(id).and_then(|target| seed_patch(&target, &self.base_dir, &input)))
    }

    /// A failure's input as a testcase of its target, as a patch for git; `None` also where its trace has no input, or its corpus is no folder of the
    /// project.
    pub(crate) fn failure_seed_patch(&self, trace: &str) -> Result<Option<String>, SharedStoreError> {
        let Some(bytes) = self.trace(trace)? else { return Ok(None) };
        let failures = self.fleet()?.failures;
        let failure = failures.iter().find(|failure| failure.trace == trace);
        Ok(failure.and_then(|failure| self.seed_patch_of(&failure.target, &bytes)))
    }

    /// The same for the trace of a failure of the target of that name.
    pub(crate) fn seed_patch_of(&self, target: &str, trace: &[u8]) -> Option<String> {
        let collection = self.collection.get();
        let target = collection.targets.iter().find(|row| row.name == target)?;
        seed_patch(target, &self.base_dir, &input_of(trace)?)
    }

    /// Traces from elsewhere, and the latest runs of the project.
    pub(crate) fn runs(&self) -> Vec<RunManifest> {
        let kept = self.runs.finished().into_iter().take(RUNS_MAX).map(|(_, manifest)| manifest);
        self.traces.iter().cloned().chain(kept).collect()
    }

    /// The bytes of a failure's trace, which are what its name says, or an error: everything that is made of a trace asks here.
    pub(crate) fn trace(&self, name: &str) -> Result<Option<Vec<u8>>, SharedStoreError> {
        match Digest::parse(name).filter(|digest| digest.to_string() == name) {
            Some(digest) => self.present_store()?.get_blob(&digest),
            None => Ok(None),
        }
    }

    /// The words of the command that makes a page or a document; `None` where there is nothing of that kind.
    pub(crate) fn command(&self, subject: &ExecutedSubject) -> Result<Option<Vec<String>>, SharedStoreError> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let page = |selector: &str| words(&["report", "show", selector, "--format", "html"]);
        Ok(match subject {
            ExecutedSubject::Run(id) => match self.traces.iter().find(|run| run.run_id == *id) {
                Some(run) => run.trace_path.as_deref().map(page),
                None => self.runs().iter().any(|run| run.run_id == *id).then(|| page(id)),
            },
            ExecutedSubject::Failure(trace) => self.trace_name(trace)?.map(|trace| page(&trace)),
            ExecutedSubject::Measured(trace, measure) => self.measured(trace, *measure)?,
            ExecutedSubject::TargetPage(id) => {
                let words =
                    self.collected(id).and_then(|target| TargetMeasure::Coverage.words(&target, &self.base_dir));
                words.map(|words| [words, vec!["--format".into(), "html".into()]].concat())
            }
            ExecutedSubject::Target(id, measure) => {
                let words = self.collected(id).and_then(|target| measure.words(&target, &self.base_dir));
                words.map(|words| [words, vec!["--json".into()]].concat())
            }
        })
    }

    fn collected(&self, id: &str) -> Option<FleetTarget> {
        self.collection.get().targets.iter().find(|target| target.id == id).cloned()
    }

    fn measured(&self, trace: &str, measure: FailureMeasure) -> Result<Option<Vec<String>>, SharedStoreError> {
        let Some(name) = self.trace_name(trace)? else { return Ok(None) };
        let failures = self.fleet()?.failures;
        let failure = failures.iter().find(|failure| failure.trace == trace);
        let collection = self.collection.get();
        let target = |row: &str| collection.targets.iter().find(|target| target.name == row);
        let words = failure.and_then(|row| measure.words(target(&row.target)?, &self.base_dir, &name, &row.signature));
        Ok(words.map(|words| [words, vec!["--json".into()]].concat()))
    }

    /// By what a command finds the trace of that name: its file, or its name in the store. It is read here, too, so that what is damaged is
    /// refused: the command takes any trace that is in the file for the one that was asked for.
    fn trace_name(&self, name: &str) -> Result<Option<String>, SharedStoreError> {
        if self.trace(name)?.is_none() {
            return Ok(None);
        }
        let path = Digest::parse(name).and_then(|digest| self.store.blob_path(&digest));
        Ok(Some(path.map_or_else(|| format!("{STORED}{name}"), |path| path.display().to_string())))
    }
}
