//! A folder as the home of a store: safe for many processes, readable by people and by git.
//!
//! ```text
//! .fozzy/fleet/store.json                       {"format": "fozzy-store", "version": 1, "project": "shop"}
//! .fozzy/fleet/values/targets/parser-3f2a.json  a value; each sign but a-z, 0-9, - and _ of a part is written %xx
//! .fozzy/fleet/blobs/3f/3f2a…9b.fozzy           a blob, by its content
//! .fozzy/fleet/sets/collected/8c41….txt         a member
//! .fozzy/fleet/leases/targets/parser-3f2a.lock  locked by its holder for as long as it works
//! ```
//!
//! A lease is a lock of the kernel's: it ends with its process, whatever that dies of, and needs no clock.
//!
//! Invariants: files are whole, since each is written under another name and renamed; nothing outside of the folder is written, whatever
//! keys say; a store whose disk is full is away, as a server that is full is, until there is room again.

use super::{
    BLOB_BYTES_MAX, NAMES_MAX, PART_CHARS_MAX, SharedStore, SharedStoreError, StoreHead, StoreKey, StoreLease,
    VALUE_BYTES_MAX, bounded, is_full_disk, read_part, size_of, written,
};
use fozzy_trace::Digest;
use fozzy_trace::file::store::{Durability, write_atomic};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

const VALUE_ENDING: &str = "json";
const BLOB_ENDING: &str = "fozzy";
const MEMBER_ENDING: &str = "txt";
const LEASE_ENDING: &str = "lock";
/// Bytes of the file that says what the folder is.
const HEAD_BYTES_MAX: u64 = 1 << 16;
/// Bytes for which there is to be room on a disk that was full: those of some slices.
const PROBE_BYTES: usize = 1 << 18;

/// A folder as the home of a store.
#[derive(Clone, Debug)]
pub struct DirectoryStore {
    root: PathBuf,
    project: String,
    /// Whether its disk is as if it were full.
    #[cfg(test)]
    is_full: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl DirectoryStore {
    /// Opens the store of a project, and makes it where there is none.
    ///
    /// # Errors
    /// When it is another project's or a newer version's, or the folder holds something else.
    pub fn open<'p>(root: &Path, project: impl Into<Option<&'p str>>) -> Result<DirectoryStore, SharedStoreError> {
        let project: Option<&str> = project.into();
        let (place, head) = (root.display().to_string(), root.join("store.json"));
        let foreign = |why: String| SharedStoreError::Foreign { place: place.clone(), why };
        if root.exists() && !root.is_dir() {
            return Err(foreign("it is no folder".to_owned()));
        }
        let Some(text) = read_bounded(&head, HEAD_BYTES_MAX)? else {
            let mut entries = fs::read_dir(root).into_iter().flatten().flatten();
            if let Some(entry) = entries.find(|entry| !entry.file_name().to_string_lossy().starts_with('.')) {
                let name = entry.file_name().to_string_lossy().into_owned();
                return Err(foreign(format!("it has no store.json, and is not empty (`{name}`)")));
            }
            let Some(project) = project else { return Err(foreign("no store is there".to_owned())) };
            let own = StoreHead::of(project);
            make(root)?;
            let text = serde_json::to_vec_pretty(&own).unwrap_or_default();
            write_new(&head, &text)?;
            // Another process may have been first, and for another project.
            return if head.is_file() {
                DirectoryStore::open(root, project)
            } else {
                Err(foreign("it vanished".into()))
            };
        };
        let project = StoreHead::check(&text, project, &place)?;
        Ok(DirectoryStore {
            root: root.to_owned(),
            project,
            #[cfg(test)]
            is_full: std::sync::Arc::default(),
        })
    }

    /// From here on, its disk is full, or is not any more; also for copies of it.
    #[cfg(test)]
    pub(crate) fn set_full(&self, is_full: bool) {
        self.is_full.store(is_full, std::sync::atomic::Ordering::SeqCst);
    }

    /// Refuses what would be written to a disk that a test has filled.
    #[cfg(test)]
    fn room(&self, path: &Path) -> Result<(), SharedStoreError> {
        match self.is_full.load(std::sync::atomic::Ordering::SeqCst) {
            true => Err(SharedStoreError::io("write", path, io::Error::from(ErrorKind::StorageFull))),
            false => Ok(()),
        }
    }

    /// A disk says itself that it is full.
    #[cfg(not(test))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "that of tests has both")]
    fn room(&self, _path: &Path) -> Result<(), SharedStoreError> {
        Ok(())
    }

    fn write(&self, path: &Path, bytes: &[u8], durability: Durability) -> Result<(), SharedStoreError> {
        self.room(path)?;
        path.parent().map_or(Ok(()), make)?;
        write_atomic(path, bytes, durability).map_err(|error| SharedStoreError::io("write", path, error))
    }

    fn folder(&self, kind: &str, parts: &[String]) -> Result<PathBuf, SharedStoreError> {
        let mut path = self.root.join(kind);
        for part in parts {
            path.push(written(part)?);
        }
        Ok(path)
    }

    fn file(&self, kind: &str, key: &StoreKey, ending: &str) -> Result<PathBuf, SharedStoreError> {
        Ok(self.folder(kind, key.parts())?.with_extension(ending))
    }

    fn blob(&self, name: &Digest) -> PathBuf {
        let name = name.to_string();
        self.root.join("blobs").join(&name[..2]).join(format!("{name}.{BLOB_ENDING}"))
    }

    fn member(&self, set: &StoreKey, member: &str) -> Result<PathBuf, SharedStoreError> {
        let name = format!("{}.{MEMBER_ENDING}", Digest::of(member.as_bytes()));
        Ok(self.folder("sets", set.parts())?.join(name))
    }
}

impl SharedStore for DirectoryStore {
    fn get(&self, key: &StoreKey) -> Result<Option<Vec<u8>>, SharedStoreError> {
        read_bounded(&self.file("values", key, VALUE_ENDING)?, VALUE_BYTES_MAX as u64)
    }

    fn put(&self, key: &StoreKey, value: &[u8]) -> Result<(), SharedStoreError> {
        bounded(format_args!("the value {key} has a size"), value.len() as u64, VALUE_BYTES_MAX as u64)?;
        let path = self.file("values", key, VALUE_ENDING)?;
        clear_place(&path)?;
        self.write(&path, value, Durability::Synced)
    }

    fn delete(&self, key: &StoreKey) -> Result<bool, SharedStoreError> {
        delete(&self.file("values", key, VALUE_ENDING)?)
    }

    fn list(&self, folder: &StoreKey) -> Result<Vec<String>, SharedStoreError> {
        let stems = stems(&self.folder("values", folder.parts())?, VALUE_ENDING)?;
        let mut names: Vec<String> = stems.iter().filter_map(|stem| read_part(stem)).collect();
        names.sort();
        Ok(names)
    }

    fn folders(&self) -> Result<Vec<StoreKey>, SharedStoreError> {
        let mut folders = Vec::new();
        let mut open = vec![(self.root.join("values"), StoreKey::new(&[]))];
        while let Some((path, key)) = open.pop() {
            if !stems(&path, VALUE_ENDING)?.is_empty() {
                folders.push(key.clone());
            }
            open.extend(subfolders(&path)?.into_iter().map(|(part, path)| (path, key.join(&part))));
            bounded(format_args!("{} has a number of folders", self.place()), open.len() as u64, NAMES_MAX as u64)?;
        }
        folders.sort();
        Ok(folders)
    }

    fn folders_at(&self, shapes: &[(&str, usize)]) -> Result<Vec<StoreKey>, SharedStoreError> {
        let mut found = Vec::new();
        for (kind, parts) in shapes {
            let top = StoreKey::new(&[kind]);
            let mut level = vec![(self.folder("values", top.parts())?, top)];
            // Those of the last level may have very many values, and are not read.
            for _ in 1..*parts {
                let mut next = Vec::new();
                for (path, key) in &level {
                    next.extend(subfolders(path)?.into_iter().map(|(part, path)| (path, key.join(&part))));
                }
                level = next;
            }
            found.extend(level.into_iter().map(|(_, key)| key));
        }
        Ok(found)
    }

    fn rename(&self, from: &StoreKey, to: &StoreKey) -> Result<bool, SharedStoreError> {
        let (from, to) = (self.file("values", from, VALUE_ENDING)?, self.file("values", to, VALUE_ENDING)?);
        to.parent().map_or(Ok(()), make)?;
        match clear_place(&from) {
            // It stays where it is: who reads it says so.
            Err(SharedStoreError::NoFile { .. }) => return Ok(false),
            cleared => cleared?,
        }
        match fs::rename(&from, &to) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(SharedStoreError::io("rename", &from, error)),
        }
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, SharedStoreError> {
        bounded("a blob has a size", bytes.len() as u64, BLOB_BYTES_MAX)?;
        let name = Digest::of(bytes);
        let path = self.blob(&name);
        // One that was changed in place is replaced.
        if !matches!(self.get_blob(&name), Ok(Some(_))) {
            self.write(&path, bytes, Durability::Synced)?;
        }
        Ok(name)
    }

    fn get_blob(&self, name: &Digest) -> Result<Option<Vec<u8>>, SharedStoreError> {
        let path = self.blob(name);
        let Some(bytes) = read_bounded(&path, BLOB_BYTES_MAX)? else { return Ok(None) };
        match Digest::of(&bytes) == *name {
            true => Ok(Some(bytes)),
            false => Err(SharedStoreError::Damaged { path: path.display().to_string() }),
        }
    }

    fn has_blobs(&self, names: &[Digest]) -> Result<Vec<bool>, SharedStoreError> {
        Ok(names.iter().map(|name| self.blob(name).is_file()).collect())
    }

    fn put_named_blobs(&self, folder: &StoreKey, blobs: &[Vec<u8>]) -> Result<(), SharedStoreError> {
        for bytes in blobs {
            bounded("a blob has a size", bytes.len() as u64, BLOB_BYTES_MAX)?;
            let name = Digest::of(bytes);
            let value = self.file("values", &folder.join(&name.to_string()), VALUE_ENDING)?;
            self.write(&self.blob(&name), bytes, Durability::Cached)?;
            self.write(&value, size_of(bytes).as_bytes(), Durability::Cached)?;
        }
        Ok(())
    }

    fn delete_blob(&self, name: &Digest) -> Result<bool, SharedStoreError> {
        delete(&self.blob(name))
    }

    fn blobs(&self) -> Result<Vec<Digest>, SharedStoreError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.root.join("blobs")).into_iter().flatten().flatten() {
            names.extend(stems(&entry.path(), BLOB_ENDING)?.iter().filter_map(|name| Digest::parse(name)));
        }
        names.sort();
        Ok(names)
    }

    fn blob_path(&self, name: &Digest) -> Option<PathBuf> {
        Some(self.blob(name))
    }

    fn insert(&self, set: &StoreKey, member: &str) -> Result<bool, SharedStoreError> {
        bounded(format_args!("a member of {set} has a size"), member.len() as u64, VALUE_BYTES_MAX as u64)?;
        let path = self.member(set, member)?;
        path.parent().map_or(Ok(()), make)?;
        write_new(&path, member.as_bytes())
    }

    fn remove(&self, set: &StoreKey, member: &str) -> Result<bool, SharedStoreError> {
        delete(&self.member(set, member)?)
    }

    fn members(&self, set: &StoreKey) -> Result<Vec<String>, SharedStoreError> {
        let folder = self.folder("sets", set.parts())?;
        let mut members = Vec::new();
        for stem in stems(&folder, MEMBER_ENDING)? {
            let path = folder.join(format!("{stem}.{MEMBER_ENDING}"));
            // It may be gone since it was listed.
            let Some(bytes) = read_bounded(&path, VALUE_BYTES_MAX as u64)? else { continue };
            match String::from_utf8(bytes) {
                Ok(member) if Digest::of(member.as_bytes()).to_string() == stem => members.push(member),
                _ => return Err(SharedStoreError::Damaged { path: path.display().to_string() }),
            }
        }
        members.sort();
        Ok(members)
    }

    fn acquire(&self, key: &StoreKey, holder: &str) -> Result<Option<Box<dyn StoreLease>>, SharedStoreError> {
        let path = self.file("leases", key, LEASE_ENDING)?;
        if !path.exists() {
            self.room(&path)?;
        }
        path.parent().map_or(Ok(()), make)?;
        let failed = |error| SharedStoreError::io("lock", &path, error);
        check_kind(&path)?;
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut text = String::new();
        // Who held it last may have been killed while it wrote.
        let _ = (&mut file).take(HEAD_BYTES_MAX).read_to_string(&mut text);
        let attempt = text.lines().next().and_then(|line| line.parse::<u64>().ok()).unwrap_or(0).saturating_add(1);
        let holder: String = holder.chars().filter(|c| !c.is_control()).take(PART_CHARS_MAX).collect();
        let note = format!("{attempt}\n{holder}\n");
        // Over the note of the last one, whose place a full disk has for it.
        let noted = file.rewind().and_then(|()| file.write_all(note.as_bytes()));
        let noted = noted.and_then(|()| file.set_len(note.len() as u64));
        let noted = noted.map_err(|error| SharedStoreError::io("write", &path, error)).and_then(|()| self.room(&path));
        match noted {
            // It is locked, though a disk which writes nothing in place has no room for who holds it.
            Ok(()) | Err(SharedStoreError::Away { .. }) => Ok(Some(Box::new(FileLease { _file: file, attempt }))),
            Err(error) => Err(error),
        }
    }

    fn holder(&self, key: &StoreKey) -> Result<Option<String>, SharedStoreError> {
        let note = read_bounded(&self.file("leases", key, LEASE_ENDING)?, HEAD_BYTES_MAX)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&note).lines().nth(1).map(str::to_owned))
    }

    fn answers(&self) -> bool {
        let fill = || -> io::Result<()> {
            let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.root)?;
            file.write_all(&vec![1; PROBE_BYTES])?;
            file.as_file().sync_all()
        };
        // One that is refused otherwise is there; the next request says why.
        self.room(&self.root).is_ok() && !fill().is_err_and(|error| is_full_disk(&error))
    }

    fn present(&self) -> Result<(), SharedStoreError> {
        if self.root.join("store.json").is_file() {
            return Ok(());
        }
        let why = "its store.json is gone: it was moved or removed".to_owned();
        Err(SharedStoreError::Away { what: "read", path: self.place(), why })
    }

    fn project(&self) -> &str {
        &self.project
    }

    fn place(&self) -> String {
        self.root.display().to_string()
    }
}

/// A file that is locked for as long as it is open.
struct FileLease {
    _file: File,
    attempt: u64,
}

impl StoreLease for FileLease {
    fn renew(&mut self) -> Result<bool, SharedStoreError> {
        Ok(true)
    }

    fn attempt(&self) -> u64 {
        self.attempt
    }
}

/// The names of the files in a folder that end so; none in one that is not there.
fn stems(folder: &Path, ending: &str) -> Result<Vec<String>, SharedStoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(SharedStoreError::io("list", folder, error)),
    };
    let mut stems = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| SharedStoreError::io("list", folder, error))?.file_name();
        // What is being written has a hidden name.
        let stem = name.to_str().and_then(|name| name.strip_suffix(ending)?.strip_suffix('.'));
        stems.extend(stem.filter(|stem| !stem.starts_with('.')).map(str::to_owned));
        bounded(format_args!("{} has a number of names", folder.display()), stems.len() as u64, NAMES_MAX as u64)?;
    }
    Ok(stems)
}

/// The parts of keys that the folders in a folder are, with these; none in one that is not there.
fn subfolders(folder: &Path) -> Result<Vec<(String, PathBuf)>, SharedStoreError> {
    let failed = |error| SharedStoreError::io("list", folder, error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let part = entry.file_name().to_str().and_then(read_part);
            found.extend(part.map(|part| (part, entry.path())));
        }
    }
    Ok(found)
}

fn make(folder: &Path) -> Result<(), SharedStoreError> {
    fs::create_dir_all(folder).map_err(|error| SharedStoreError::io("make the folder", folder, error))
}

/// Writes a file that is not there yet; whether this process was first.
fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, SharedStoreError> {
    let failed = |error: io::Error| SharedStoreError::io("write", path, error);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error.error)),
    }
}

fn delete(path: &Path) -> Result<bool, SharedStoreError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(_) if path.is_dir() => Err(SharedStoreError::NoFile { path: path.display().to_string(), what: "a folder" }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(SharedStoreError::io("delete", path, error)),
    }
}

/// What is at a path and is no file, whose reading fails or, of a pipe, has no end.
fn no_file(path: &Path) -> Result<Option<&'static str>, SharedStoreError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(None),
        Ok(found) if found.is_dir() => Ok(Some("a folder")),
        Ok(_) => Ok(Some("a pipe, a socket or a device")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(path.is_symlink().then_some("a link to what is not there"))
        }
        Err(error) => Err(SharedStoreError::io("read", path, error)),
    }
}

/// Takes away a link to nothing, or a pipe, where a file is to be kept. A folder stays, as it may hold anything.
fn clear_place(path: &Path) -> Result<(), SharedStoreError> {
    match no_file(path)? {
        Some(_) if !path.is_dir() => delete(path).map(drop),
        Some(what) => Err(SharedStoreError::NoFile { path: path.display().to_string(), what }),
        None => Ok(()),
    }
}

/// Refuses what is no file, before it is opened: opening a pipe waits for somebody at its other end.
fn check_kind(path: &Path) -> Result<(), SharedStoreError> {
    match no_file(path)? {
        Some(what) => Err(SharedStoreError::NoFile { path: path.display().to_string(), what }),
        None => Ok(()),
    }
}

/// A file of bounded size; `None` when there is none.
fn read_bounded(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, SharedStoreError> {
    check_kind(path)?;
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SharedStoreError::io("read", path, error)),
    };
    // Its size says how much room is taken at once; what is there is what is read.
    let size = file.metadata().map_or(0, |file| file.len()).min(limit);
    let mut bytes = Vec::with_capacity(size as usize + 1);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| SharedStoreError::io("read", path, error))?;
    bounded(format_args!("{} has a size", path.display()), bytes.len() as u64, limit)?;
    Ok(Some(bytes))
}
