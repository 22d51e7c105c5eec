//! RUN_OR_TRACE: a file, a folder, an alias or a run id.
//!
//! ```text
//! run.fozzy            an existing file
//! .fozzy/runs/1f3…/    an existing folder
//! fozzy://3f2a…9b      a trace in the store of the project's fleet, by its digest, or the beginning of it
//! latest · last-pass · last-fail     by the order in which runs finished
//! last-fail            where no run has failed: what stands in that store, and was found last
//! 1f3                  a run id, or the beginning of exactly one
//! ```

use crate::error::{CampaignError, ErrorKind, at_path};
use crate::fleet::records::{FleetFailureRecord, FleetRecords};
use crate::fleet::shared_store::{SharedStoreError, open_store, shared_store_error};
pub use crate::fleet::trace_name::STORED;
use crate::fleet::trace_name::TraceName;
use crate::store::{KeptRun, RunManifest, RunStore, TRACE_NAME, manifest_of, store_error};
use fozzy_trace::file::{Recording, TraceError, store};
use fozzy_trace::{Digest, Status};
use jiff::Timestamp;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// The trace file that a selector names.
pub fn trace_path(selector: &str, runs: &RunStore) -> Result<PathBuf, CampaignError> {
    let path = Path::new(selector);
    if path.is_dir() {
        return trace_in(path, manifest_of(path).as_ref());
    }
    if path.exists() {
        return Ok(path.to_owned());
    }
    if let Some(name) = selector.strip_prefix(STORED) {
        return fetch(name, runs);
    }
    // What a killed process has found is named as any run.
    let _ = runs.adopt();
    let finished = runs.finished();
    match find(selector, &finished, runs, |_| true) {
        Ok((folder, manifest)) => trace_in(folder, Some(manifest)),
        Err(error) => shared_failure(selector, &finished, runs)?.ok_or(error),
    }
}

/// A trace of the store of a fleet, as a file beside the runs.
fn fetch(name: &str, runs: &RunStore) -> Result<PathBuf, CampaignError> {
    let Some(trace) = TraceName::parse(name) else {
        let message = format!(
            "{STORED}{name}: expected the digest of a trace, 64 hexadecimal digits, or the first 8 of them at least"
        );
        return Err(CampaignError::new(ErrorKind::Selector, message)
            .hint("fozzy fleet --collect lists failures with their commands"));
    };
    let place = runs.shared_place();
    let shared = open_store(&place, None).map_err(shared_store_error)?;
    let digest = trace.find(&*shared)?;
    let bytes = shared.get_blob(&digest).map_err(shared_store_error)?;
    let bytes = bytes.ok_or_else(|| {
        let message = format!("{STORED}{name} is not in the store {}", shared.place());
        CampaignError::new(ErrorKind::Selector, message)
            .hint("the environment variable FOZZY_STORE says which store is meant")
    })?;
    put_fetched(&digest, &bytes, runs)
}

fn put_fetched(digest: &Digest, bytes: &[u8], runs: &RunStore) -> Result<PathBuf, CampaignError> {
    let path = runs.fetched(digest);
    let failed = |error: std::io::Error| at_path(ErrorKind::Selector, "cannot write", &path, &error);
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    store::write_atomic(&path, bytes, store::Durability::Synced).map_err(failed)?;
    Ok(path)
}

/// For `last-fail` where no run here has failed: of the failures that stand in the store of the project's fleets, the one that was found last; one
/// of a target that is here goes before those whose files are gone, which no fleet of this folder searches. Whose it is, is said.
fn shared_failure(selector: &str, finished: &FinishedRuns, runs: &RunStore) -> Result<Option<PathBuf>, CampaignError> {
    // One that cannot be believed has failed all the same.
    if finished.iter().any(|(_, run)| has_failed(run)) {
        return Ok(None);
    }
    let place = runs.shared_place();
    // Who looks for a failure makes no store.
    if !selector.trim().eq_ignore_ascii_case(LAST_FAIL) || !(place.contains("://") || Path::new(&place).is_dir()) {
        return Ok(None);
    }
    let shared = open_store(&place, None).map_err(shared_store_error)?;
    let mut failures = FleetRecords { store: &*shared }.standing().map_err(shared_store_error)?;
    let found_at = |failure: &FleetFailureRecord| Reverse(failure.found_at.parse::<Timestamp>().ok());
    failures.sort_by_cached_key(|failure| (!is_here(&failure.target), found_at(failure)));
    for failure in failures {
        let bytes = match shared.get_blob(&failure.trace) {
            Ok(Some(bytes)) => bytes,
            // An older one is better than none.
            Ok(None) | Err(SharedStoreError::Damaged { .. } | SharedStoreError::NoFile { .. }) => continue,
            Err(error) => return Err(shared_store_error(error)),
        };
        let path = put_fetched(&failure.trace, &bytes, runs)?;
        let gone = if is_here(&failure.target) { "" } else { " (a target that is not here)" };
        let by = failure.news_of.as_ref().map(|(worker, _)| format!(" by {worker}")).unwrap_or_default();
        runs.tell(&format!(
            "{LAST_FAIL}: no run here has failed; this is {} in {}{gone}, found{by} at {}, in {}\n",
            failure.signature,
            failure.target,
            failure.found_at,
            shared.place()
        ));
        return Ok(Some(path));
    }
    Ok(None)
}

/// Whether the file of a target is here: its name is a path, which may have a function behind it.
fn is_here(target: &str) -> bool {
    let path = target.rsplit_once(' ').map_or(target, |(path, _)| path);
    Path::new(target).exists() || Path::new(path).exists()
}

const LAST_FAIL: &str = "last-fail";

/// What a selector names: a run with all its files, or a bare trace.
pub enum SelectedRun {
    /// A finished run.
    Run(Box<KeptRun>),
    /// A trace, which is believed alone.
    Trace(PathBuf),
}

/// The run or trace that a selector names.
pub fn named(selector: &str, runs: &RunStore) -> Result<SelectedRun, CampaignError> {
    let path = Path::new(selector);
    if path.is_dir() {
        return Ok(SelectedRun::Run(Box::new(KeptRun::read(path)?)));
    }
    if path.exists() {
        return Ok(SelectedRun::Trace(path.to_owned()));
    }
    if let Some(name) = selector.strip_prefix(STORED) {
        return fetch(name, runs).map(SelectedRun::Trace);
    }
    // What a killed process has found is named as any run.
    let _ = runs.adopt();
    let finished = runs.finished();
    // An alias passes over what cannot be believed; who names such a run hears why.
    match find(selector, &finished, runs, |folder| KeptRun::read(folder).is_ok()) {
        Ok((folder, _)) => Ok(SelectedRun::Run(Box::new(KeptRun::read(folder)?))),
        Err(error) => shared_failure(selector, &finished, runs)?.map(SelectedRun::Trace).ok_or(error),
    }
}

/// The finished run that an alias or an id names; an alias takes those only that are `believed`.
fn find<'a>(
    selector: &str,
    finished: &'a FinishedRuns,
    runs: &RunStore,
    believed: impl Fn(&Path) -> bool,
) -> Result<(&'a Path, &'a RunManifest), CampaignError> {
    let wanted = selector.trim().to_ascii_lowercase();
    let fits: fn(&RunManifest) -> bool = match wanted.as_str() {
        "latest" => |_| true,
        "last-pass" => |run| run.has_verdict() && run.status == Status::Pass,
        LAST_FAIL => has_failed,
        id => return by_id(finished, id, selector, runs),
    };
    first(finished, &wanted, runs, |folder, manifest| fits(manifest) && believed(folder))
}

fn has_failed(run: &RunManifest) -> bool {
    run.has_verdict() && run.status != Status::Pass
}

/// The selectors in a list with commas; a file whose name has commas is one.
pub fn several(list: &str) -> Vec<&str> {
    if Path::new(list).is_file() { vec![list] } else { list.split(',').collect() }
}

/// Reads the trace that a selector names, whole and verified.
pub fn recording(selector: &str, runs: &RunStore) -> Result<(PathBuf, Recording), CampaignError> {
    let path = trace_path(selector, runs)?;
    let recording = read(&path)?;
    Ok((path, recording))
}

/// The bytes of a trace, or of the one in a bundle.
pub fn bytes(path: &Path) -> Result<Vec<u8>, CampaignError> {
    let bytes = store::read_trace(path).map_err(store_error)?;
    match crate::artifacts::bundle::trace_of(&bytes) {
        Some(trace) => {
            trace.map_err(|what| CampaignError::new(ErrorKind::Bundle, format!("{}: {what}", path.display())))
        }
        None => Ok(bytes),
    }
}

/// Reads a trace, or the one in a bundle, whole and verified.
pub fn read(path: &Path) -> Result<Recording, CampaignError> {
    let bytes = bytes(path)?;
    Recording::read(&bytes).map_err(|error| {
        let command = if matches!(error, TraceError::Original { .. }) { "migrate" } else { "verify" };
        CampaignError::new(ErrorKind::Trace, format!("{}: {error}", path.display()))
            .hint(format!("fozzy trace {command} {}", fozzy_report::shell_path(path)))
    })
}

/// Folders inside of each other in which traces are looked for. A corpus has two; deeper ones are not looked into.
const CORPUS_DEPTH_MAX: usize = 8;

/// The traces that a selector names: one, or all `.fozzy` files below a folder that is not a run's own, by name.
pub fn corpus(selector: &str, runs: &RunStore) -> Result<Vec<PathBuf>, CampaignError> {
    let path = Path::new(selector);
    if !path.is_dir() || path.join(TRACE_NAME).is_file() || manifest_of(path).is_some() {
        return Ok(vec![trace_path(selector, runs)?]);
    }
    let mut found = Vec::new();
    collect(path, CORPUS_DEPTH_MAX, &mut found)?;
    found.sort();
    match found.is_empty() {
        true => Err(CampaignError::new(ErrorKind::Selector, format!("{} holds no .fozzy file", path.display()))
            .hint("record a run with --record run.fozzy")),
        false => Ok(found),
    }
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::Selector, "cannot list", folder, &error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (kind, path) = (entry.file_type().map_err(failed)?, entry.path());
        // Links are not followed, since they may lead in circles.
        if kind.is_dir() && depth > 1 {
            collect(&path, depth - 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "fozzy") {
            found.push(path);
        }
    }
    Ok(())
}

type FinishedRuns = [(PathBuf, RunManifest)];

fn first<'a>(
    finished: &'a FinishedRuns,
    alias: &str,
    runs: &RunStore,
    fits: impl Fn(&Path, &RunManifest) -> bool,
) -> Result<(&'a Path, &'a RunManifest), CampaignError> {
    let found = finished.iter().find(|(folder, manifest)| fits(folder, manifest));
    found.map(|(folder, manifest)| (folder.as_path(), manifest)).ok_or_else(|| {
        CampaignError::new(
            ErrorKind::Selector,
            format!("`{alias}` names no run: none of that kind is in {}", runs.path().display()),
        )
        .hint("fozzy run TARGET --record run.fozzy")
    })
}

fn by_id<'a>(
    finished: &'a FinishedRuns,
    id: &str,
    selector: &str,
    runs: &RunStore,
) -> Result<(&'a Path, &'a RunManifest), CampaignError> {
    let fitting: Vec<_> =
        finished.iter().filter(|(_, manifest)| !id.is_empty() && manifest.run_id.starts_with(id)).collect();
    match fitting.as_slice() {
        [(folder, manifest)] => Ok((folder, manifest)),
        [] => {
            let message = format!(
                "`{selector}` is no file, no folder, none of latest, last-pass, last-fail, and no run in {}",
                runs.path().display()
            );
            let error = CampaignError::new(ErrorKind::Selector, message);
            Err(match alike(selector, &["latest", "last-pass", "last-fail"]) {
                Some(alike) => error.hint(format!("did you mean `{alike}`?")),
                None => error,
            })
        }
        several => Err(CampaignError::new(
            ErrorKind::Selector,
            format!("`{selector}` begins {} run ids; give more of it", several.len()),
        )),
    }
}

/// What was likely meant by a word that names nothing: one of these words, or a file or folder beside it with such a name.
pub(crate) fn alike(word: &str, words: &[&str]) -> Option<String> {
    if let Some(known) = fozzy_plan::nearest(word, words.iter().copied()) {
        return Some(known.to_owned());
    }
    let path = Path::new(word);
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let mut names: Vec<String> =
        entries.take(NAMES_MAX).flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let near = fozzy_plan::nearest(name, names.iter().map(String::as_str))?;
    Some(folder.map_or_else(|| near.to_owned(), |folder| folder.join(near).display().to_string()))
}

/// A file cannot be read, in these words; if it is not there, one whose name is alike is said.
pub(crate) fn unread(told: CampaignError, path: &Path) -> CampaignError {
    match path.to_str().filter(|_| !path.exists()).and_then(|path| alike(path, &[])) {
        Some(alike) => told.hint(format!("did you mean `{alike}`?")),
        None => told,
    }
}

/// Names of a folder that are compared with a word that names nothing.
const NAMES_MAX: usize = 10_000;

fn trace_in(folder: &Path, manifest: Option<&RunManifest>) -> Result<PathBuf, CampaignError> {
    let named = manifest.and_then(|manifest| manifest.trace_path.as_ref()).map(PathBuf::from);
    let candidates = [Some(folder.join(TRACE_NAME)), named];
    candidates.into_iter().flatten().find(|path| path.is_file()).ok_or_else(|| {
        let what = match manifest {
            Some(manifest) => format!("run {} kept no trace: it passed and was not recorded", manifest.run_id),
            None => format!("{} holds no {TRACE_NAME}", folder.display()),
        };
        CampaignError::new(ErrorKind::Selector, what).hint("record a run with --record run.fozzy")
    })
}
