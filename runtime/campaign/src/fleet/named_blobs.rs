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
//! Not here: records that name a blob which is not there (`store_copy`, `view`).

use super::shared_store::{SharedStore, SharedStoreError};
use fozzy_trace::Digest;

/// Deletes a blob that a record has named and names no more, unless another one does; whether it was there, and is not any more.
pub(super) fn delete_unnamed(store: &dyn SharedStore, blob: &Digest) -> Result<bool, SharedStoreError> {
    if is_named(store, blob)? { Ok(false) } else { store.delete_blob(blob) }
}

fn is_named(store: &dyn SharedStore, blob: &Digest) -> Result<bool, SharedStoreError> {
    let name = blob.to_string();
    for folder in store.folders()? {
        let kind = folder.parts().first().map_or("", String::as_str);
        let is_named = match kind {
            "corpus" => store.get(&folder.join(&name))?.is_some(),
            // Also one that cannot be read as a record of ours: its digits are those of no other blob.
            "failures" | "explored" => {
                let values = store.values(&folder)?;
                values.iter().any(|(_, value)| String::from_utf8_lossy(value).contains(&name))
            }
            _ => false,
        };
        if is_named {
            return Ok(true);
        }
    }
    Ok(false)
}
