//! Makes what a campaign writes durable, beside the search: at most one round of syncs in a second.
//!
//! ```text
//! search      write a ── write b ── write c ──────────────── …      each whole at once, in the cache of the machine
//! this        sync a ········ a second ········ sync b, c ········· …
//! ```
//!
//! A process that is killed loses nothing of what was written; a machine that loses its power loses a second.
//!
//! Invariant: when it is dropped, all that was announced is durable.

use crate::wall_clock::Stopwatch;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two rounds of syncs: each takes tens of milliseconds where a disk is slow.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Syncs files in a thread of its own.
#[derive(Debug, Default)]
pub struct DiskSync {
    /// `None` where no thread could be had: files are synced at once then.
    thread: Option<(Sender<PathBuf>, JoinHandle<()>)>,
}

impl DiskSync {
    /// Begins when the first file is written.
    #[must_use]
    pub fn new() -> DiskSync {
        DiskSync::default()
    }

    /// A file was written.
    pub fn written(&mut self, path: PathBuf) {
        if self.thread.is_none() {
            let (sender, receiver) = channel();
            let thread = std::thread::Builder::new().name("disk-sync".to_owned()).spawn(move || sync_all(&receiver));
            self.thread = thread.ok().map(|thread| (sender, thread));
        }
        let unsent = match &self.thread {
            Some((sender, _)) => sender.send(path).err().map(|unsent| unsent.0),
            None => Some(path),
        };
        sync(unsent.into_iter().collect());
    }
}

impl Drop for DiskSync {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            // A thread that panicked has synced nothing more, which is no more than a machine without power does.
            let _ = thread.join();
        }
    }
}

fn sync_all(paths: &Receiver<PathBuf>) {
    while let Ok(first) = paths.recv() {
        sync(paths.try_iter().chain([first]).collect());
        let (round, mut waiting) = (Stopwatch::start(), BTreeSet::new());
        while let Some(left) = SYNC_EVERY.checked_sub(round.elapsed()) {
            match paths.recv_timeout(left) {
                Ok(path) => {
                    waiting.insert(path);
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return sync(waiting),
            }
        }
        sync(waiting);
    }
}

/// Syncs files, and the folders that name them. What cannot be synced was moved or removed, or is on a file system without.
fn sync(paths: BTreeSet<PathBuf>) {
    let folders: BTreeSet<PathBuf> = paths.iter().filter_map(|path| path.parent().map(PathBuf::from)).collect();
    for path in paths.iter().chain(&folders) {
        let _ = File::open(path).and_then(|file| file.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_synced_and_those_that_are_gone_are_passed_over() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut sync = DiskSync::new();
        for number in 0..100 {
            let path = folder.path().join(format!("{number}"));
            std::fs::write(&path, b"x").expect("it can be written");
            sync.written(path.clone());
            if number % 2 == 0 {
                std::fs::remove_file(&path).expect("it is there");
            }
        }
        drop(sync);
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 50);
    }
}
