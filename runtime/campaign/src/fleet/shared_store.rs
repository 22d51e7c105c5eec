//! The store of a fleet: what workers know in common, wherever it is kept.
//!
//! ```text
//! values   targets/parser-3f2a  {"estimate": …}         put, get, delete, list, rename
//! blobs    sha-256 of the bytes  a trace                 put_blob, get_blob: verified when they are read
//! sets     collected             "parser", "bank"        insert says who was first
//! leases   targets/parser-3f2a   one holder at a time    acquire, renew, released when dropped or when the holder's process ends
//! poll     what has changed below a folder since the last look
//! ```
//!
//! Invariants: a value is the old one or the new one, never a part of it; a blob is what its name says, or an error; of two workers that
//! insert the same member, one is told that it was first; a lease has one holder; each bound is refused by its name.
//! Not here: what is kept in it (`records`), and which home it has (`directory`).

mod directory;

pub use directory::DirectoryStore;

use fozzy_trace::Digest;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of one value: some hundred times what a record of ours has.
pub const VALUE_BYTES_MAX: usize = 1 << 20;
/// Bytes of one blob: a trace with the largest program that can be run.
pub const BLOB_BYTES_MAX: u64 = 1 << 30;
/// Names in one folder that are listed. A store with more is no fleet's.
pub const NAMES_MAX: usize = 100_000;
/// Characters of one part of a key, once its home has written it.
pub const PART_CHARS_MAX: usize = 200;
/// The version of what is kept: a store that a newer one has written is refused.
pub const STORE_VERSION: u64 = 1;

/// The name of a value, of a set or of a lease: parts of any text. A home writes each so that no text leads elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreKey(Vec<String>);

impl StoreKey {
    /// A key of these parts, the outermost first.
    #[must_use]
    pub fn new(parts: &[&str]) -> StoreKey {
        StoreKey(parts.iter().map(|part| (*part).to_owned()).collect())
    }

    /// What is called so in this folder.
    #[must_use]
    pub fn join(&self, part: &str) -> StoreKey {
        StoreKey(self.0.iter().cloned().chain([part.to_owned()]).collect())
    }

    /// Its parts.
    #[must_use]
    pub fn parts(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

/// What was seen of a folder at the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreView(BTreeMap<String, Digest>);

/// The right to work on something alone. It ends when it is dropped, or with the process.
pub trait StoreLease: Send {
    /// Whether it is still held; asked at least every [`LEASE_RENEWAL`](crate::fleet::LEASE_RENEWAL).
    ///
    /// # Errors
    /// When the store does not answer.
    fn renew(&mut self) -> Result<bool, SharedStoreError>;

    /// How often it was taken before: a result of an older holder has a smaller number.
    fn attempt(&self) -> u64;
}

/// What workers know in common.
pub trait SharedStore: Send + Sync {
    /// The value; `None` when there is none.
    fn get(&self, key: &StoreKey) -> Result<Option<Vec<u8>>, SharedStoreError>;

    /// Keeps a value in the place of the one before.
    fn put(&self, key: &StoreKey, value: &[u8]) -> Result<(), SharedStoreError>;

    /// Removes a value; whether there was one.
    fn delete(&self, key: &StoreKey) -> Result<bool, SharedStoreError>;

    /// The last parts of all values directly in a folder, in their order.
    fn list(&self, folder: &StoreKey) -> Result<Vec<String>, SharedStoreError>;

    /// Gives a value another key, at once; whether there was one. What has that key is replaced.
    fn rename(&self, from: &StoreKey, to: &StoreKey) -> Result<bool, SharedStoreError>;

    /// Keeps bytes by their content; twice is once.
    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, SharedStoreError>;

    /// The bytes of that content; `None` when they are not kept.
    fn get_blob(&self, name: &Digest) -> Result<Option<Vec<u8>>, SharedStoreError>;

    /// Removes them; whether they were there.
    fn delete_blob(&self, name: &Digest) -> Result<bool, SharedStoreError>;

    /// Where a person finds them, if that is a file.
    fn blob_path(&self, name: &Digest) -> Option<PathBuf>;

    /// Adds a member to a set; whether it is new. Of several who add it, one is told so.
    fn insert(&self, set: &StoreKey, member: &str) -> Result<bool, SharedStoreError>;

    /// Removes a member; whether it was there.
    fn remove(&self, set: &StoreKey, member: &str) -> Result<bool, SharedStoreError>;

    /// All members, in their order.
    fn members(&self, set: &StoreKey) -> Result<Vec<String>, SharedStoreError>;

    /// The names of the values in a folder that were added, changed or removed since the last look.
    fn poll(&self, folder: &StoreKey, view: &mut StoreView) -> Result<Vec<String>, SharedStoreError> {
        let mut now = StoreView::default();
        for name in self.list(folder)? {
            // It may be gone since it was listed.
            if let Some(value) = self.get(&folder.join(&name))? {
                now.0.insert(name, Digest::of(&value));
            }
        }
        let names = view.0.keys().chain(now.0.keys());
        let mut changed: Vec<String> = names.filter(|name| view.0.get(*name) != now.0.get(*name)).cloned().collect();
        changed.sort();
        changed.dedup();
        *view = now;
        Ok(changed)
    }

    /// The right to work on something alone, for a holder of that name; `None` while another one has it.
    fn acquire(&self, key: &StoreKey, holder: &str) -> Result<Option<Box<dyn StoreLease>>, SharedStoreError>;

    /// Where it is, for people.
    fn place(&self) -> String;
}

/// What a store refuses, or its home does.
#[derive(Debug, thiserror::Error)]
pub enum SharedStoreError {
    /// The home does not work.
    #[error("cannot {what} {path}: {error}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// With what.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// A newer fozzy has written it.
    #[error("{place} is a store of version {found}, and this fozzy knows {STORE_VERSION}")]
    Newer {
        /// The store.
        place: String,
        /// Its version.
        found: u64,
    },
    /// It belongs to something else.
    #[error("{place} is the store of the project `{found}`, and this is `{expected}`")]
    OtherProject {
        /// The store.
        place: String,
        /// Whose it is.
        found: String,
        /// Who asked.
        expected: String,
    },
    /// It is no store.
    #[error("{place} is no store of a fleet: {why}")]
    Foreign {
        /// What was named.
        place: String,
        /// What is there.
        why: String,
    },
    /// A bound.
    #[error("{what} of {found}; a store takes at most {limit}")]
    Size {
        /// Of what.
        what: String,
        /// What was given or found.
        found: u64,
        /// The bound.
        limit: u64,
    },
    /// Something was changed in place.
    #[error("{path} is damaged: its content is not what its name says; delete it, and it is found again")]
    Damaged {
        /// What.
        path: String,
    },
}

impl SharedStoreError {
    fn io(what: &'static str, path: &Path, error: io::Error) -> SharedStoreError {
        SharedStoreError::Io { what, path: path.display().to_string(), error }
    }
}

#[cfg(test)]
mod tests;
