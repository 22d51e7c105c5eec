//! What names a trace in a store: its digest, or the beginning of it, as git takes those of commits.
//!
//! ```text
//! fozzy://3f2a…9b     the digest, 64 digits
//! fozzy://3f2a81c0    its beginning, 8 digits at least: that of one failure's trace, or else of one blob
//! ```
//!
//! Not here: who reads the trace (`selector`), and who takes its failure away (`dismissal`).

use super::records::{FleetRecords, StoredFailure};
use super::shared_store::{SharedStore, shared_store_error};
use crate::error::{CampaignError, ErrorKind};
use fozzy_report::printable_line;
use fozzy_trace::Digest;
use std::collections::BTreeMap;

/// Before the digest of a trace in the store of a fleet.
pub const STORED: &str = "fozzy://";

/// Digits of a digest.
const DIGITS: usize = 64;
/// Those of a beginning, at least.
const DIGITS_MIN: usize = 8;
/// Traces with the same beginning that are listed.
const CANDIDATES_MAX: usize = 8;

/// What names a trace.
pub(crate) enum TraceName {
    /// Its digest.
    Whole(Digest),
    /// The first digits of that.
    Beginning(String),
}

impl TraceName {
    /// Reads 64 lower-case hexadecimal digits, or the first 8 of them at least; anything else is `None`.
    pub(crate) fn parse(text: &str) -> Option<TraceName> {
        if let Some(trace) = Digest::parse(text) {
            return Some(TraceName::Whole(trace));
        }
        let is_beginning = (DIGITS_MIN..DIGITS).contains(&text.len())
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_beginning.then(|| TraceName::Beginning(text.to_owned()))
    }

    /// The digest that is meant in a store; a whole one, whether it is there or not.
    ///
    /// # Errors
    /// When none or several begin so, or the store does not answer.
    pub(crate) fn find(self, store: &dyn SharedStore) -> Result<Digest, CampaignError> {
        let beginning = match self {
            TraceName::Whole(trace) => return Ok(trace),
            TraceName::Beginning(beginning) => beginning,
        };
        let failures = FleetRecords { store }.stored_failures().map_err(shared_store_error)?;
        let mut found: BTreeMap<String, (Digest, String)> = BTreeMap::new();
        for StoredFailure { record, .. } in failures {
            let Some(failure) = record else { continue };
            let name = failure.trace.to_string();
            if name.starts_with(&beginning) {
                let signature = failure.signature.to_string();
                let what = format!(" ({} in {})", printable_line(&signature), printable_line(&failure.target));
                found.entry(name).or_insert((failure.trace, what));
            }
        }
        // A trace that no failure has any more, say.
        if found.is_empty() {
            for blob in store.blobs().map_err(shared_store_error)? {
                let name = blob.to_string();
                if name.starts_with(&beginning) {
                    found.insert(name, (blob, String::new()));
                }
            }
        }
        let mut candidates = found.iter();
        match (candidates.next(), candidates.next()) {
            (Some((_, (trace, _))), None) => Ok(*trace),
            (None, _) => {
                let message = format!("no trace in the store {} begins with {beginning}", store.place());
                Err(CampaignError::new(ErrorKind::Selector, message)
                    .hint("the environment variable FOZZY_STORE, or --store, says which store is meant"))
            }
            _ => {
                let listed = found.iter().take(CANDIDATES_MAX).map(|(name, (_, what))| format!("{STORED}{name}{what}"));
                let listed = listed.collect::<Vec<String>>().join(", ");
                let total = found.len();
                let more = if total > CANDIDATES_MAX { ", and more" } else { "" };
                let message =
                    format!("{beginning} begins {total} traces in the store {}: {listed}{more}", store.place());
                Err(CampaignError::new(ErrorKind::Selector, message).hint("give more of its digits"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::{FailureState, FleetFailureRecord};
    use super::super::shared_store::DirectoryStore;
    use super::*;

    #[test]
    fn a_beginning_is_taken_where_one_trace_has_it_and_several_are_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let mut other = [0x3f; 32];
        other[31] = 0;
        // Twice the same trace is one.
        for (site, trace) in [("a", [0x3f; 32]), ("b", [0x3f; 32]), ("c", other), ("d", [0x4a; 32])] {
            let failure = FleetFailureRecord::app(site, Digest(trace));
            FleetRecords { store: &store }.put_failure("app-1", FailureState::Shrunk, &failure).expect("kept");
        }
        let blob = store.put_blob(b"what no failure has").expect("kept");
        let find = |name: &str| TraceName::parse(name).expect("a name").find(&store).map_err(|error| error.message);
        assert_eq!(find("4a4a4a4a"), Ok(Digest([0x4a; 32])));
        assert_eq!(find(&"3f".repeat(32)), Ok(Digest([0x3f; 32])));
        assert_eq!(find(&blob.to_string()[..8]), Ok(blob));
        assert_eq!(find(&"5b".repeat(32)), Ok(Digest([0x5b; 32])), "a whole one is not looked for");
        let several = find("3f3f3f3f3").expect_err("two");
        assert!(several.starts_with("3f3f3f3f3 begins 2 traces"), "{several}");
        for name in ["3f".repeat(32), format!("{}00", "3f".repeat(31))] {
            assert!(several.contains(&format!("{STORED}{name} (panic at ")), "{several}");
        }
        assert!(find("5b5b5b5b").expect_err("none").starts_with("no trace in the store"));
        for text in ["", "4a4a4a4", "4A4A4A4A", "4a4a4a4g", &"4a".repeat(33)] {
            assert!(TraceName::parse(text).is_none(), "{text}");
        }
    }
}
