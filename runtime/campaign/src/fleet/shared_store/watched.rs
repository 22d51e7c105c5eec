//! A store whose absence is remembered: what asks it meanwhile is refused at once, instead of waiting once more.
//!
//! Invariants: it is away from the first request that it did not answer until a [`WatchedStore::is_back`] that it did; a refused request has
//! changed nothing that was not asked for.

use super::{SharedStore, SharedStoreError, StoreKey, StoreLease};
use fozzy_trace::Digest;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a store that does not answer is waited for, before all goes on without it: what a server takes to start again.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// A store, and whether it is away.
pub struct WatchedStore<'a> {
    store: &'a dyn SharedStore,
    is_away: AtomicBool,
    #[cfg(test)]
    requests_left: std::sync::atomic::AtomicU64,
}

impl<'a> WatchedStore<'a> {
    /// One that answers, as far as is known.
    #[must_use]
    pub fn new(store: &'a dyn SharedStore) -> WatchedStore<'a> {
        store.wait_at_most(WAIT_MAX);
        #[cfg(test)]
        let requests_left = std::sync::atomic::AtomicU64::new(u64::MAX);
        WatchedStore {
            store,
            is_away: AtomicBool::new(false),
            #[cfg(test)]
            requests_left,
        }
    }

    /// One that goes away after some requests: the last of them is done, and its answer is lost.
    #[cfg(test)]
    pub(crate) fn leaving(store: &'a dyn SharedStore, requests: u64) -> WatchedStore<'a> {
        let watched = WatchedStore::new(store);
        watched.requests_left.store(requests, Ordering::SeqCst);
        watched
    }

    /// Whether the last request was not answered.
    #[must_use]
    pub fn is_away(&self) -> bool {
        self.is_away.load(Ordering::SeqCst)
    }

    /// Asks it once whether it is there; whether it is, and was not.
    pub fn is_back(&self) -> bool {
        let is_back = self.is_away() && self.store.answers();
        if is_back {
            self.is_away.store(false, Ordering::SeqCst);
        }
        is_back
    }

    fn ask<T>(
        &self,
        request: impl FnOnce(&dyn SharedStore) -> Result<T, SharedStoreError>,
    ) -> Result<T, SharedStoreError> {
        if self.is_away() {
            return Err(SharedStoreError::Away {
                what: "reach",
                path: self.store.place(),
                why: "it is away".to_owned(),
            });
        }
        let answer = request(self.store);
        #[cfg(test)]
        if self.requests_left.fetch_sub(1, Ordering::SeqCst) == 0 {
            self.is_away.store(true, Ordering::SeqCst);
            return Err(SharedStoreError::Away { what: "reach", path: self.store.place(), why: "a test".to_owned() });
        }
        if matches!(answer, Err(SharedStoreError::Away { .. })) {
            self.is_away.store(true, Ordering::SeqCst);
        }
        answer
    }
}

impl SharedStore for WatchedStore<'_> {
    fn get(&self, key: &StoreKey) -> Result<Option<Vec<u8>>, SharedStoreError> {
        self.ask(|store| store.get(key))
    }

    fn put(&self, key: &StoreKey, value: &[u8]) -> Result<(), SharedStoreError> {
        self.ask(|store| store.put(key, value))
    }

    fn delete(&self, key: &StoreKey) -> Result<bool, SharedStoreError> {
        self.ask(|store| store.delete(key))
    }

    fn list(&self, folder: &StoreKey) -> Result<Vec<String>, SharedStoreError> {
        self.ask(|store| store.list(folder))
    }

    fn folders(&self) -> Result<Vec<StoreKey>, SharedStoreError> {
        self.ask(|store| store.folders())
    }

    fn folders_at(&self, shapes: &[(&str, usize)]) -> Result<Vec<StoreKey>, SharedStoreError> {
        self.ask(|store| store.folders_at(shapes))
    }

    fn has_text(&self, folders: &[StoreKey], text: &str) -> Result<bool, SharedStoreError> {
        self.ask(|store| store.has_text(folders, text))
    }

    fn has_name(&self, folders: &[StoreKey], name: &str) -> Result<bool, SharedStoreError> {
        self.ask(|store| store.has_name(folders, name))
    }

    fn rename(&self, from: &StoreKey, to: &StoreKey) -> Result<bool, SharedStoreError> {
        self.ask(|store| store.rename(from, to))
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, SharedStoreError> {
        self.ask(|store| store.put_blob(bytes))
    }

    fn get_blob(&self, name: &Digest) -> Result<Option<Vec<u8>>, SharedStoreError> {
        self.ask(|store| store.get_blob(name))
    }

    fn get_blobs(&self, names: &[Digest]) -> Result<Vec<Option<Vec<u8>>>, SharedStoreError> {
        self.ask(|store| store.get_blobs(names))
    }

    fn has_blobs(&self, names: &[Digest]) -> Result<Vec<bool>, SharedStoreError> {
        self.ask(|store| store.has_blobs(names))
    }

    fn values(&self, folder: &StoreKey) -> Result<Vec<(String, Vec<u8>)>, SharedStoreError> {
        self.ask(|store| store.values(folder))
    }

    fn put_named_blobs(&self, folder: &StoreKey, blobs: &[Vec<u8>]) -> Result<(), SharedStoreError> {
        self.ask(|store| store.put_named_blobs(folder, blobs))
    }

    fn delete_blob(&self, name: &Digest) -> Result<bool, SharedStoreError> {
        self.ask(|store| store.delete_blob(name))
    }

    fn blobs(&self) -> Result<Vec<Digest>, SharedStoreError> {
        self.ask(|store| store.blobs())
    }

    fn blob_path(&self, name: &Digest) -> Option<PathBuf> {
        self.store.blob_path(name)
    }

    fn insert(&self, set: &StoreKey, member: &str) -> Result<bool, SharedStoreError> {
        self.ask(|store| store.insert(set, member))
    }

    fn remove(&self, set: &StoreKey, member: &str) -> Result<bool, SharedStoreError> {
        self.ask(|store| store.remove(set, member))
    }

    fn members(&self, set: &StoreKey) -> Result<Vec<String>, SharedStoreError> {
        self.ask(|store| store.members(set))
    }

    fn acquire(&self, key: &StoreKey, holder: &str) -> Result<Option<Box<dyn StoreLease>>, SharedStoreError> {
        self.ask(|store| store.acquire(key, holder))
    }

    fn holder(&self, key: &StoreKey) -> Result<Option<String>, SharedStoreError> {
        self.ask(|store| store.holder(key))
    }

    fn answers(&self) -> bool {
        self.store.answers()
    }

    fn present(&self) -> Result<(), SharedStoreError> {
        self.ask(|store| store.present())
    }

    fn project(&self) -> &str {
        self.store.project()
    }

    fn place(&self) -> String {
        self.store.place()
    }
}
