//! A corpus as a folder of files, each named by the SHA-256 of its bytes.
//!
//! ```text
//! .fozzy/corpora/parser.parse_anything/
//!     e3b0c44298fc1c149afbf4c8996fb924…        what was found here
//!     seed.txt                                 any other name: the user's own
//! ```
//!
//! Invariants: a file is whole or absent, whatever ends the process; nothing that is there is changed or removed; the
//! order in which files are read does not depend on the machine. So any number of processes can share a folder.

use crate::error::{CampaignError, ErrorKind, at_path};
use crate::store::half_written;
use fozzy_trace::Digest;
use fozzy_trace::file::store::{Durability, is_temporary, write_atomic};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder with a corpus.
pub struct CorpusFolder {
    path: PathBuf,
    /// The names of what was read or written here.
    known: BTreeSet<OsString>,
}

/// Inputs to begin with, in their order.
pub struct SeedInputs {
    files: std::vec::IntoIter<PathBuf>,
    /// Files that are longer than an input can be.
    pub too_long: usize,
    /// Links, which are not followed: a corpus from somebody else must not read other files of its user.
    pub links: usize,
    /// All others.
    pub number: usize,
    /// The first file that could not be read after all.
    pub failed: Option<CampaignError>,
}

impl CorpusFolder {
    /// Opens a folder, which is made if need be.
    pub fn open(path: &Path) -> Result<CorpusFolder, CampaignError> {
        fs::create_dir_all(path)
            .map_err(|error| at_path(ErrorKind::Corpus, "cannot make the corpus folder", path, &error))?;
        remove_leftovers(path);
        Ok(CorpusFolder { path: path.to_owned(), known: BTreeSet::new() })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files in it, small ones first. One that cannot be read is an error: a campaign without it would be another.
    pub fn seeds(&mut self, bytes_max: usize) -> Result<SeedInputs, CampaignError> {
        let failed = |error: io::Error| at_path(ErrorKind::Corpus, "cannot read", &self.path, &error);
        let (mut files, mut too_long, mut links) = (Vec::new(), 0, 0);
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            self.known.insert(entry.file_name());
            // What is being written is no input yet.
            if is_temporary(&entry.file_name()) {
                continue;
            }
            let metadata = fs::symlink_metadata(&path).map_err(|error| unreadable(&path, &error))?;
            links += usize::from(metadata.is_symlink());
            if !metadata.is_file() {
                continue;
            }
            fs::File::open(&path).map_err(|error| unreadable(&path, &error))?;
            if metadata.len() > bytes_max as u64 {
                too_long += 1;
            } else {
                files.push((metadata.len(), entry.file_name(), path));
            }
        }
        files.sort();
        let number = files.len();
        let files: Vec<PathBuf> = files.into_iter().map(|(_, _, path)| path).collect();
        Ok(SeedInputs { files: files.into_iter(), too_long, links, number, failed: None })
    }

    /// Inputs that others have added since the last call: only files that are named by their content. Unreadable files
    /// are left out, since the process that added one has its input.
    pub fn added_by_others(&mut self, bytes_max: usize) -> Result<Vec<Vec<u8>>, CampaignError> {
        let failed = |error: io::Error| at_path(ErrorKind::Corpus, "cannot read", &self.path, &error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if !self.known.contains(&name) {
                names.push(name);
            }
        }
        names.sort();
        let mut inputs = Vec::new();
        for name in names {
            let path = self.path.join(&name);
            let fits = || fs::symlink_metadata(&path).is_ok_and(|it| it.is_file() && it.len() <= bytes_max as u64);
            let is_one = name.to_str().is_some_and(is_digest);
            if is_one
                && fits()
                && let Ok(bytes) = fs::read(&path)
            {
                inputs.push(bytes);
            }
            if is_one {
                self.known.insert(name);
            }
        }
        Ok(inputs)
    }

    /// Keeps an input.
    pub fn add(&mut self, input: &[u8], digest: &Digest) -> Result<(), CampaignError> {
        let name = digest.to_string();
        let path = self.path.join(&name);
        self.known.insert(name.into());
        // Who sees the name sees these bytes, so that writing them again changes nothing.
        if path.exists() {
            return Ok(());
        }
        write_atomic(&path, input, Durability::Cached)
            .map_err(|error| at_path(ErrorKind::Corpus, "cannot write", &path, &error))
    }
}

/// Removes what killed processes were writing. Where it cannot be, it stays, and is no input.
fn remove_leftovers(folder: &Path) {
    half_written(folder, 1).iter().for_each(|file| drop(fs::remove_file(file)));
}

/// Whether a file of that name was written by [`CorpusFolder::add`].
pub fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn unreadable(path: &Path, error: &io::Error) -> CampaignError {
    at_path(ErrorKind::Corpus, "cannot read", path, error)
        .hint("every file of the corpus is an input; make it readable or move it away")
}

impl Iterator for SeedInputs {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let path = self.files.next()?;
            match fs::read(&path) {
                Ok(bytes) => return Some(bytes),
                // Another process has removed it since, and maybe all others.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    self.failed = Some(unreadable(&path, &error));
                    return None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn what_killed_processes_were_writing_goes_and_is_no_input() {
        let place = tempfile::tempdir().expect("a folder");
        let write = |name: &str| fs::write(place.path().join(name), name).expect("it is written");
        ["mine.txt", ".fozzy-new.tmp", ".fozzy-old.tmp", ".fozzy.tmp"].iter().for_each(|name| write(name));
        let old = fs::File::options().append(true).open(place.path().join(".fozzy-old.tmp")).expect("it is there");
        old.set_modified(SystemTime::UNIX_EPOCH).expect("it can be older");
        let mut corpus = CorpusFolder::open(place.path()).expect("it opens");
        assert!(!place.path().join(".fozzy-old.tmp").exists() && place.path().join(".fozzy-new.tmp").exists());
        let inputs: Vec<Vec<u8>> = corpus.seeds(100).expect("they are read").collect();
        assert_eq!(inputs, [b"mine.txt".to_vec(), b".fozzy.tmp".to_vec()]);
    }
}
