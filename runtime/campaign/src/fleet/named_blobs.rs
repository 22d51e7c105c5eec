//! Which blobs the records of a store name, of whatever targets: a blob is kept by its content, so several records may name the same one.
//!
//! ```text
//! failures/<state>/<target>/<name>    its trace
//! explored/<target>/<build>           its state
//! corpus/<target>/<sha-256>           the testcase of that name
//! ```
//!
//! Invariant: a blob that one of them names is not deleted here. A record that comes to name it in the same moment loses it: who reads that record
//! says so, and the next slice that meets the same brings it again.
//! To ask takes few requests, however many targets there are: after most slices of an exploration its state of before is asked for.
//! Not here: records that name a blob which is not there (`store_copy`, `view`).

use super::shared_store::{SharedStore, SharedStoreError, StoreKey};
use fozzy_trace::Digest;

/// Deletes a blob that a record has named and names no more, unless another one does; whether it was there, and is not any more.
pub(super) fn delete_unnamed(store: &dyn SharedStore, blob: &Digest) -> Result<bool, SharedStoreError> {
    if is_named(store, blob)? { Ok(false) } else { store.delete_blob(blob) }
}

fn is_named(store: &dyn SharedStore, blob: &Digest) -> Result<bool, SharedStoreError> {
    let name = blob.to_string();
    let folders = store.folders_at(&[("failures", 3), ("explored", 2), ("corpus", 2)])?;
    let (corpora, records): (Vec<StoreKey>, Vec<StoreKey>) =
        folders.into_iter().partition(|folder| folder.parts().first().is_some_and(|kind| kind == "corpus"));
    // Also a record that cannot be read as one of ours: its digits are those of no other blob.
    Ok(store.has_name(&corpora, &name)? || store.has_text(&records, &name)?)
}
