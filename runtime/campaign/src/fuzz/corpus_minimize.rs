//! A corpus made small: equal files once, and of the rest few that reach as much as all.
//!
//! ```text
//! files ─▶ each content once ─▶ executed ─▶ features, ways to fail ─▶ set cover ─▶ what stays, what goes
//! ```
//!
//! A feature is what it is for a campaign: an edge with about how often it was taken, and a power of two of memory. An input whose loop
//! goes round more often has stayed in the corpus for that, and stays.
//!
//! Invariants: nothing is removed or written before all that could be wrong was looked at; what stays has every feature that
//! was reached before, and fails in every way.
//! Not here: set cover (`fozzy-search`), how inputs are found (`campaign_sink`); depths of recursion and written pages, which are known of
//! calls in a campaign alone.

use super::corpus::is_digest;
use super::corpus_files::{CorpusFile, copy, read};
use crate::coverage::FUEL_TIMES;
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::inputs::{InputOptions, InputRunResult, InputRunner};
use crate::options::RunRequest;
use crate::pipeline::{PreparedProgram, load, plan};
use crate::project::Project;
use crate::wall_clock::Stopwatch;
use fozzy_engine::Build;
use fozzy_instrument::{CoverageMode, hit_class};
use fozzy_report::document::CorpusMinimizeDocument;
use fozzy_search::fuzz::{InputCoverage, minimize_corpus};
use fozzy_trace::{Digest, Duration, FailureSignature};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// By whose features inputs are compared.
pub struct CorpusExecution<'a> {
    /// The program.
    pub target: &'a Path,
    /// How it is run.
    pub request: RunRequest,
    /// How inputs get into it.
    pub given: InputOptions,
    /// Real time for all of them; those that are not executed stay.
    pub budget: Option<Duration>,
}

/// Makes the corpus in `folder` small: in place, or as a copy in `out`. Without a program, only equal files go.
///
/// # Errors
/// When `out` is not empty, a file cannot be read, or the program cannot be run.
pub fn minimize(
    project: &Project,
    folder: &Path,
    out: Option<&Path>,
    executed: Option<&CorpusExecution<'_>>,
) -> Result<CorpusMinimizeDocument, CampaignError> {
    if let Some(out) = out {
        let is_new = fs::read_dir(out).map_or(!out.exists(), |mut entries| entries.next().is_none());
        if !is_new {
            return Err(CampaignError::new(
                ErrorKind::Corpus,
                format!("{} is there, and not an empty folder", out.display()),
            ));
        }
    }
    let all = read(folder)?;
    let size = |inputs: &[CorpusFile]| inputs.iter().map(|input| input.bytes.len() as u64).sum::<u64>();
    let mut document = CorpusMinimizeDocument {
        ok: true,
        dir: folder.display().to_string(),
        files_before: all.len() as u64,
        bytes_before: size(&all),
        out: out.map(|out| out.display().to_string()),
        ..CorpusMinimizeDocument::default()
    };
    let (mut stay, mut go) = distinct(all);
    document.duplicates_removed = go.len() as u64;
    if let Some(executed) = executed {
        let found = enough(project, executed, &stay)?;
        let before = stay.len();
        let mut place = 0;
        let (kept, spare) = stay.into_iter().partition(|_| {
            place += 1;
            found.stay.binary_search(&(place - 1)).is_ok()
        });
        (stay, document.edges) = (kept, Some(found.edges));
        document.not_executed = Some(found.not_executed).filter(|number| *number > 0);
        document.redundant_removed = Some((before - stay.len()) as u64);
        go.extend::<Vec<CorpusFile>>(spare);
    }
    document.files_after = stay.len() as u64;
    document.bytes_after = size(&stay);
    document.bytes_removed = document.bytes_before - document.bytes_after;
    match out {
        Some(out) => copy(out, &stay)?,
        None => {
            for input in &go {
                let removed = fs::remove_file(&input.path);
                removed.map_err(|error| at_path(ErrorKind::Corpus, "cannot remove", &input.path, &error))?;
            }
        }
    }
    Ok(document)
}

/// Each content once, and the others. Of equal files the one with a user's name stays.
fn distinct(mut all: Vec<CorpusFile>) -> (Vec<CorpusFile>, Vec<CorpusFile>) {
    let is_named =
        |input: &CorpusFile| input.path.file_name().and_then(|name| name.to_str()).is_none_or(|it| !is_digest(it));
    all.sort_by_cached_key(|input| (!is_named(input), input.path.clone()));
    let mut known = BTreeSet::new();
    let (mut stay, go): (Vec<CorpusFile>, Vec<CorpusFile>) =
        all.into_iter().partition(|input| known.insert(Digest::of(&input.bytes)));
    stay.sort_by(|left, right| left.path.cmp(&right.path));
    (stay, go)
}

/// Which inputs are enough.
struct MinimalSet {
    /// Their places, in order.
    stay: Vec<usize>,
    edges: u64,
    not_executed: u64,
}

/// Counts of an edge that are told apart.
const CLASSES: u32 = 8;

/// Numbers of what inputs reach, as it is met: edges, component by component, with a class of counts each; and what is no edge.
#[derive(Default)]
struct FeatureNumbers {
    /// The first edge of a component.
    first: BTreeMap<Digest, u32>,
    failures: BTreeMap<FailureSignature, u32>,
    /// By the power of two of the bytes.
    memories: BTreeMap<u32, u32>,
    /// Edges and others that have a number.
    count: u32,
}

impl FeatureNumbers {
    fn of(&mut self, found: InputRunResult) -> Vec<u32> {
        let FeatureNumbers { first, failures, memories, count } = self;
        let mut next = |more: u32| {
            *count += more;
            *count - more
        };
        let mut reached = Vec::new();
        for (digest, (_, covered)) in &found.covered {
            let first = *first.entry(*digest).or_insert_with(|| next(covered.edges.len() as u32));
            let class = |hits: &u64| u32::from(hit_class(u8::try_from(*hits).unwrap_or(u8::MAX)));
            let taken = covered.edges.iter().map(class).zip(first..).filter(|(class, _)| *class > 0);
            reached.extend(taken.map(|(class, edge)| edge * CLASSES + class - 1));
        }
        if let Some(power) = found.memory_bytes.checked_ilog2() {
            reached.push(*memories.entry(power).or_insert_with(|| next(1)) * CLASSES);
        }
        if let Some(failure) = found.verdict.signature {
            reached.push(*failures.entry(failure).or_insert_with(|| next(1)) * CLASSES);
        }
        reached
    }

    /// How many edges are among these features.
    fn edges(&self, features: impl Iterator<Item = u32>) -> u64 {
        let reached: BTreeSet<u32> = features.map(|feature| feature / CLASSES).collect();
        (reached.len() - self.failures.len() - self.memories.len()) as u64
    }
}

/// Executes each input, and finds few that reach as much as all.
fn enough(
    project: &Project,
    executed: &CorpusExecution<'_>,
    corpus: &[CorpusFile],
) -> Result<MinimalSet, CampaignError> {
    let watch = Stopwatch::start();
    let loaded = load(executed.target, &project.remarks)?;
    let planned = plan(project, &loaded, &executed.request)?;
    if planned.is_live() {
        let message = "inputs are executed on the simulated computer, and the plan asks for the real one";
        return Err(CampaignError::new(ErrorKind::Plan, message));
    }
    let build = Build { coverage: CoverageMode::Counters, ..Build::default() };
    let prepared = PreparedProgram::to_call(loaded, planned, &build)?;
    let mut runner = InputRunner::of(&executed.given, &prepared, FUEL_TIMES)?;
    let (mut numbers, mut reaches) = (FeatureNumbers::default(), Vec::with_capacity(corpus.len()));
    for input in corpus {
        if executed.budget.is_some_and(|budget| watch.elapsed_ns() >= budget.0) {
            break;
        }
        let reached = numbers.of(runner.execute_bytes(&input.bytes)?);
        reaches.push(InputCoverage { bytes: input.bytes.len() as u64, reached });
    }
    let edges = numbers.edges(reaches.iter().flat_map(|reach| reach.reached.iter().copied()));
    let executed = reaches.len();
    let mut stay = minimize_corpus(&reaches);
    stay.extend(executed..corpus.len());
    Ok(MinimalSet { stay, edges, not_executed: (corpus.len() - executed) as u64 })
}
