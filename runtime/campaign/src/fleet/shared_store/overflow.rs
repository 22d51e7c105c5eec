//! A folder of this machine whose new files wait in memory while its disk is full.
//!
//! ```text
//! put ─▶ folder ──full──▶ memory, up to a bound ──write_again, when there is room──▶ folder
//! get, list ─▶ memory, then folder
//! ```
//!
//! Invariants: what was put is there for who asks this process, wherever it is; what is in the folder was put before what still waits under the
//! same name; beyond [`OverflowStore::new`]'s bound nothing more is taken, and who puts it is told that the store is away. What waits is lost with
//! the process.
//! Not here: sets and leases, which are only in the folder.

use super::{DirectoryStore, SharedStore, SharedStoreError, StoreKey, StoreLease};
use fozzy_trace::Digest;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A folder, and what its disk has no room for.
pub(crate) struct OverflowStore {
    folder: DirectoryStore,
    bytes_max: usize,
    waiting: Mutex<WaitingWrites>,
}

/// What is to be written.
#[derive(Default)]
struct WaitingWrites {
    values: BTreeMap<StoreKey, Vec<u8>>,
    blobs: BTreeMap<Digest, Vec<u8>>,
}

impl WaitingWrites {
    fn is_empty(&self) -> bool {
        self.values.is_empty() && self.blobs.is_empty()
    }

    fn bytes(&self) -> usize {
        self.values.values().chain(self.blobs.values()).map(Vec::len).sum()
    }
}

impl OverflowStore {
    /// A folder with so many bytes of memory.
    pub(crate) fn new(folder: DirectoryStore, bytes_max: usize) -> OverflowStore {
        OverflowStore { folder, bytes_max, waiting: Mutex::default() }
    }

    /// The folder.
    #[cfg(test)]
    pub(crate) fn folder(&self) -> &DirectoryStore {
        &self.folder
    }

    /// Whether something waits for room.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Whether this value waits for room.
    pub(crate) fn has_waiting(&self, key: &StoreKey) -> bool {
        self.lock().values.contains_key(key)
    }

    /// Whether this blob waits for room.
    pub(crate) fn has_waiting_blob(&self, name: &Digest) -> bool {
        self.lock().blobs.contains_key(name)
    }

    /// Writes what waits, if there is room; blobs go before the values that name them.
    ///
    /// # Errors
    /// When the disk is still full, or does not work; the rest waits on.
    pub(crate) fn write_again(&self) -> Result<(), SharedStoreError> {
        let mut waiting = self.lock();
        while let Some((name, bytes)) = waiting.blobs.first_key_value() {
            let name = *name;
            self.folder.put_blob(bytes)?;
            waiting.blobs.remove(&name);
        }
        while let Some((key, value)) = waiting.values.first_key_value() {
            let key = key.clone();
            self.folder.put(&key, value)?;
            waiting.values.remove(&key);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, WaitingWrites> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has something wait for which the disk had no room, which `refused` says.
    fn overflow(
        &self,
        waiting: &mut WaitingWrites,
        bytes: &[u8],
        refused: SharedStoreError,
        keep: impl FnOnce(&mut WaitingWrites, Vec<u8>),
    ) -> Result<(), SharedStoreError> {
        if !matches!(refused, SharedStoreError::Away { .. }) || waiting.bytes() + bytes.len() > self.bytes_max {
            return Err(refused);
        }
        keep(waiting, bytes.to_vec());
        Ok(())
    }
}

impl SharedStore for OverflowStore {
    fn get(&self, key: &StoreKey) -> Result<Option<Vec<u8>>, SharedStoreError> {
        let waiting = self.lock().values.get(key).cloned();
        waiting.map_or_else(|| self.folder.get(key), |value| Ok(Some(value)))
    }

    fn put(&self, key: &StoreKey, value: &[u8]) -> Result<(), SharedStoreError> {
        let mut waiting = self.lock();
        // An older one does not take its place later.
        waiting.values.remove(key);
        match self.folder.put(key, value) {
            Ok(()) => Ok(()),
            Err(refused) => self.overflow(&mut waiting, value, refused, |waiting, value| {
                waiting.values.insert(key.clone(), value);
            }),
        }
    }

    fn delete(&self, key: &StoreKey) -> Result<bool, SharedStoreError> {
        let mut waiting = self.lock();
        let was_waiting = waiting.values.remove(key).is_some();
        Ok(self.folder.delete(key)? || was_waiting)
    }

    fn list(&self, folder: &StoreKey) -> Result<Vec<String>, SharedStoreError> {
        let waiting = self.lock();
        let mut names = self.folder.list(folder)?;
        let inside = waiting.values.keys().filter_map(|key| {
            let (name, parts) = key.parts().split_last()?;
            (parts == folder.parts()).then(|| name.clone())
        });
        names.extend(inside);
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn folders(&self) -> Result<Vec<StoreKey>, SharedStoreError> {
        let waiting = self.lock();
        let mut folders = self.folder.folders()?;
        let of_waiting = waiting.values.keys().filter_map(|key| Some(StoreKey(key.parts().split_last()?.1.to_vec())));
        folders.extend(of_waiting);
        folders.sort();
        folders.dedup();
        Ok(folders)
    }

    fn rename(&self, from: &StoreKey, to: &StoreKey) -> Result<bool, SharedStoreError> {
        let mut waiting = self.lock();
        match waiting.values.remove(from) {
            Some(value) => {
                waiting.values.insert(to.clone(), value);
                self.folder.delete(from).map(|_| true)
            }
            None => {
                waiting.values.remove(to);
                self.folder.rename(from, to)
            }
        }
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, SharedStoreError> {
        let mut waiting = self.lock();
        match self.folder.put_blob(bytes) {
            Ok(name) => Ok(name),
            Err(refused) => {
                let name = Digest::of(bytes);
                self.overflow(&mut waiting, bytes, refused, |waiting, bytes| {
                    waiting.blobs.insert(name, bytes);
                })?;
                Ok(name)
            }
        }
    }

    fn get_blob(&self, name: &Digest) -> Result<Option<Vec<u8>>, SharedStoreError> {
        let waiting = self.lock().blobs.get(name).cloned();
        waiting.map_or_else(|| self.folder.get_blob(name), |bytes| Ok(Some(bytes)))
    }

    fn has_blobs(&self, names: &[Digest]) -> Result<Vec<bool>, SharedStoreError> {
        let waiting = self.lock();
        let there = self.folder.has_blobs(names)?;
        Ok(names.iter().zip(there).map(|(name, is_there)| is_there || waiting.blobs.contains_key(name)).collect())
    }

    fn put_named_blobs(&self, folder: &StoreKey, blobs: &[Vec<u8>]) -> Result<(), SharedStoreError> {
        self.folder.put_named_blobs(folder, blobs)
    }

    fn delete_blob(&self, name: &Digest) -> Result<bool, SharedStoreError> {
        let mut waiting = self.lock();
        let was_waiting = waiting.blobs.remove(name).is_some();
        Ok(self.folder.delete_blob(name)? || was_waiting)
    }

    fn blobs(&self) -> Result<Vec<Digest>, SharedStoreError> {
        let waiting = self.lock();
        let mut names = self.folder.blobs()?;
        names.extend(waiting.blobs.keys());
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn blob_path(&self, name: &Digest) -> Option<PathBuf> {
        self.folder.blob_path(name)
    }

    fn insert(&self, set: &StoreKey, member: &str) -> Result<bool, SharedStoreError> {
        self.folder.insert(set, member)
    }

    fn remove(&self, set: &StoreKey, member: &str) -> Result<bool, SharedStoreError> {
        self.folder.remove(set, member)
    }

    fn members(&self, set: &StoreKey) -> Result<Vec<String>, SharedStoreError> {
        self.folder.members(set)
    }

    fn acquire(&self, key: &StoreKey, holder: &str) -> Result<Option<Box<dyn StoreLease>>, SharedStoreError> {
        self.folder.acquire(key, holder)
    }

    fn holder(&self, key: &StoreKey) -> Result<Option<String>, SharedStoreError> {
        self.folder.holder(key)
    }

    fn answers(&self) -> bool {
        self.folder.answers()
    }

    fn present(&self) -> Result<(), SharedStoreError> {
        self.folder.present()
    }

    fn project(&self) -> &str {
        self.folder.project()
    }

    fn place(&self) -> String {
        self.folder.place()
    }
}
