//! Takes failures out of a store, for who knows that they are mended although nothing can show it: their trace is lost, or stale.
//!
//! ```text
//! fozzy://3f2a… ─┐
//! …/3f2a….fozzy ─┼─▶ records of failures ─▶ each target's lease ─▶ the records go, and the traces that no other record names
//! failures/shrunk/app-1/3f2a ─┘
//! ```
//!
//! Invariants: nothing goes unless every failure that was named is there; no worker changes the records of a target meanwhile; what is met
//! again is found anew.
//! Not here: failures that explorations keep beside the project (`explore/saved_failures`).

use super::named_blobs::delete_unnamed;
use super::records::{FailureState, FleetRecords, StoredFailure};
use super::shared_store::{SharedStore, SharedStoreError, StoreKey, StoreLease, is_on_server, shared_store_error};
use super::trace_name::{STORED, TraceName};
use crate::error::{CampaignError, ErrorKind};
use fozzy_report::fleet::DismissedFailureRow;
use fozzy_trace::Digest;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Who holds records meanwhile.
const HOLDER: &str = "fozzy store dismiss";
/// Real time for which records are waited for that a worker changes.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// What names a failure.
enum FailureName {
    /// Its trace.
    Trace(Digest),
    /// Its record, which may be one that cannot be read.
    Record(StoreKey),
}

impl FailureName {
    /// Reads `fozzy://DIGEST`, the digest alone, the beginning of one in this store, the file of a trace in a folder's store, or the key of a
    /// record.
    fn parse(text: &str, store: &dyn SharedStore) -> Result<FailureName, CampaignError> {
        let digest = text.strip_prefix(STORED).unwrap_or(text);
        let stem = Path::new(text).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if let Some(trace) = TraceName::parse(digest).or_else(|| Digest::parse(stem).map(TraceName::Whole)) {
            return trace.find(store).map(FailureName::Trace);
        }
        let parts: Vec<&str> = text.split('/').collect();
        if let ["failures", state, _, _] = parts[..]
            && FailureState::ALL.iter().any(|known| known.word() == state)
        {
            return Ok(FailureName::Record(StoreKey::new(&parts)));
        }
        let message = format!(
            "`{text}` names no failure: expected its trace, {STORED}DIGEST, or its record, failures/STATE/TARGET/NAME"
        );
        Err(CampaignError::new(ErrorKind::Usage, message)
            .hint("fozzy fleet --collect lists failures with their traces"))
    }

    fn is_of(&self, failure: &StoredFailure) -> bool {
        match self {
            FailureName::Trace(trace) => failure.trace() == Some(*trace),
            // Whatever its state is by now.
            FailureName::Record(key) => failure.key.parts()[2..] == key.parts()[2..],
        }
    }
}

/// Takes the failures that are named so out of a store.
///
/// # Errors
/// When one of them is not there, a worker holds the records of a target, or the store does not answer.
pub fn dismiss(store: &dyn SharedStore, named: &[String]) -> Result<Vec<DismissedFailureRow>, CampaignError> {
    let names = named.iter().map(|text| FailureName::parse(text, store)).collect::<Result<Vec<_>, _>>()?;
    let records = FleetRecords { store };
    let stored = || records.stored_failures().map_err(shared_store_error);
    let known = stored()?;
    for (name, text) in names.iter().zip(named) {
        if !known.iter().any(|failure| name.is_of(failure)) {
            let message = format!("{text} is no failure of {}", store.place());
            return Err(CampaignError::new(ErrorKind::Selector, message)
                .hint("fozzy fleet --collect lists failures with their traces; --store says which store is meant"));
        }
    }
    let is_named = |failure: &StoredFailure| names.iter().any(|name| name.is_of(failure));
    let ids: BTreeSet<String> =
        known.iter().filter(|failure| is_named(failure)).map(|failure| failure.target.clone()).collect();
    let leases = ids.iter().map(|id| lock(store, id)).collect::<Result<Vec<_>, _>>().map_err(shared_store_error)?;
    // A worker may have moved one to another state meanwhile, or have brought one of another target, which is not held.
    let is_held = |failure: &StoredFailure| ids.contains(&failure.target) && is_named(failure);
    let dismissed: Vec<StoredFailure> = stored()?.into_iter().filter(is_held).collect();
    for failure in &dismissed {
        store.delete(&failure.key).map_err(shared_store_error)?;
    }
    let traces: BTreeSet<Digest> = dismissed.iter().filter_map(StoredFailure::trace).collect();
    for trace in &traces {
        delete_unnamed(store, trace).map_err(shared_store_error)?;
    }
    drop(leases);
    Ok(dismissed.into_iter().map(row).collect())
}

fn row(failure: StoredFailure) -> DismissedFailureRow {
    let (key, record) = (failure.key.to_string(), failure.record);
    DismissedFailureRow {
        key,
        trace: record.as_ref().map(|record| record.trace.to_string()),
        signature: record.as_ref().map(|record| record.signature.to_string()),
        target: record.map(|record| record.target),
    }
}

/// The right to change the records of a target.
fn lock(store: &dyn SharedStore, id: &str) -> Result<Box<dyn StoreLease>, SharedStoreError> {
    let records = FleetRecords { store };
    if let Some(lease) = records.lock(id, HOLDER, LOCK_WAIT)? {
        return Ok(lease);
    }
    let (what, path) = ("change", format!("the records of {id} in {}", store.place()));
    let after_kill =
        if is_on_server(store) { "; of one that was killed they are free after half a minute" } else { "" };
    let why = format!("{} holds them{after_kill}", records.lock_holder(id)?);
    Err(SharedStoreError::Away { what, path, why })
}

#[cfg(test)]
mod tests {
    use super::super::records::FleetFailureRecord;
    use super::super::shared_store::DirectoryStore;
    use super::*;

    fn keep(store: &DirectoryStore, id: &str, site: &str, trace: &[u8]) -> Digest {
        let trace = store.put_blob(trace).expect("kept");
        let failure = FleetFailureRecord {
            target: format!("{id}.wasm"),
            is_minimal: true,
            ..FleetFailureRecord::app(site, trace)
        };
        FleetRecords { store }.put_failure(id, FailureState::Shrunk, &failure).expect("kept");
        trace
    }

    #[test]
    fn a_failure_goes_with_its_trace_unless_another_one_has_that_and_all_are_there_or_none_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let (one, two) = (keep(&store, "app-1", "a", b"one"), keep(&store, "app-1", "b", b"two"));
        assert_eq!(keep(&store, "app-2", "c", b"two"), two);
        let broken = StoreKey::new(&["failures", "unshrunk", "app-1", "3f2a"]);
        store.put(&broken, b"{").expect("kept");
        let dismiss = |named: &[String]| dismiss(&store, named);
        let left = || FleetRecords { store: &store }.stored_failures().expect("read").len();
        let refused = |named: &[String]| dismiss(named).expect_err("refused").message;
        let absent = format!("{STORED}{}", Digest::of(b"another"));
        assert!(refused(&[one.to_string(), absent.clone()]).starts_with(&format!("{absent} is no failure of")));
        for text in ["", "3f2a", "failures/gone/app-1/3f2a", "targets/app-1", "../failures/fixed/a/b"] {
            assert!(refused(&[text.to_owned()]).contains("names no failure"), "{text}");
        }
        assert_eq!(left(), 4);
        // By its file, and one that cannot be read by its record.
        let path = store.blob_path(&one).expect("a file").display().to_string();
        let rows = dismiss(&[path, broken.to_string()]).expect("they go");
        let signatures: Vec<Option<&str>> = rows.iter().map(|row| row.signature.as_deref()).collect();
        assert!(signatures.contains(&Some("panic at a")) && signatures.contains(&None), "{rows:?}");
        assert_eq!((left(), store.get_blob(&one).expect("read")), (2, None));
        // A trace of two failures names both; a record names one.
        let first = FleetRecords { store: &store }.stored_failures().expect("read").remove(0);
        // A note may be older than its state.
        let key = first.key.to_string();
        assert!(key.starts_with("failures/shrunk/app-1/"), "{key}");
        dismiss(&[key.replace("/shrunk/", "/unshrunk/")]).expect("it goes");
        assert!(left() == 1 && store.get_blob(&two).expect("read").is_some(), "the other one has it still");
        let held = store.acquire(&StoreKey::new(&["records", "app-2"]), "a worker").expect("asked").expect("free");
        assert!(refused(&[format!("{STORED}{two}")]).contains("a worker holds them"));
        drop(held);
        // The beginning of it is enough.
        dismiss(&[format!("{STORED}{}", two.short())]).expect("it goes");
        assert!(left() == 0 && store.blobs().expect("listed").is_empty());
    }
}
