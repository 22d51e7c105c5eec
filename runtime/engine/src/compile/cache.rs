//! Compiled programs and componentized modules, kept by content.
//!
//! ```text
//! <cache>/<key>           "<xxh3-128 of the content> <length> <the file when that was seen last>\n"
//! <cache>/<xxh3-128>.bin  the content: wasmtime's serialised code, or a component
//! <cache>/making-<nn>     locked while an entry whose key begins so is made
//!
//! key of code       BLAKE3(BLAKE3(component), settings, wasmtime, processor)
//! key of component  BLAKE3(core module, version of componentizing)
//! ```
//!
//! Compiled code is native code: loading it is running it. So the directory must belong to this user and
//! be writable by no other user, code is never taken from a trace, and what is read is first compared with
//! the checksum under which it was written. That takes longer than everything else of a warm start, so that it is done again
//! only when the file is another one, or was touched: when its inode or its time of change is not what it was.
//!
//! Invariants: an entry is whole or absent (written to a temporary file, then renamed); two processes
//! that race write the same key, the last one wins, and both names stay valid; a damaged entry is
//! dropped and compiled again, never run. An entry that several need at once is made by one of them, and the others
//! wait for it; a process that cannot lock makes it too.
//! Not here: where the directory is (the command line decides).

#![allow(unsafe_code, reason = "deserialises code that this user wrote; the block carries its argument")]

mod content_digest;
mod file_digests;

pub use file_digests::FileLook;

use crate::compile::build::Build;
use crate::compile::compiler::{CompileFailure, CompileJob, IsolatedCompiler};
use crate::compile::settings::Switches;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasmtime::Engine;
use wasmtime::component::Component;
use xxhash_rust::xxh3::Xxh3;

/// Bytes of compiled code that are kept; the longest unused go first.
const CACHE_BYTES_MAX: u64 = 2 << 30;
/// Digits of a key that name its lock: few files, and seldom one for two programs.
const LOCK_DIGITS: usize = 2;
/// Changes when the layout of the directory does.
const LAYOUT: &str = "fozzy compile cache 1";
/// Seconds between a change of a file and a look at it, so that a change after the look has another time on every file system.
const SETTLED_SECONDS: i64 = 2;

/// A directory of compiled programs, private to the user.
#[derive(Clone, Debug)]
pub struct Cache {
    directory: PathBuf,
    /// Who compiles what is not here; `None` for this process itself.
    compiler: Option<Arc<dyn IsolatedCompiler>>,
}

/// The right to make an entry; it ends with the process that has it, however that ends.
#[derive(Debug)]
pub(crate) struct MakingLock {
    /// `None` where the file system has no locks.
    _file: Option<File>,
}

/// The directory cannot be used. Everything works without it, only slower.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// It cannot be made or read.
    #[error("compile cache {path}: {error}")]
    Io {
        /// The directory.
        path: String,
        /// The operating system's words.
        error: io::Error,
    },
    /// Others could put code into it.
    #[error(
        "compile cache {path}: expected a directory that only this user can write, found {found}; remove it or name another with FOZZY_CACHE_DIR"
    )]
    NotPrivate {
        /// The directory.
        path: String,
        /// Owner and mode.
        found: String,
    },
}

impl Cache {
    /// Opens the cache in `directory`, which is made when it is missing.
    ///
    /// # Errors
    /// When it cannot be made, or is not private to this user.
    pub fn open(directory: &Path) -> Result<Cache, CacheError> {
        let path = || directory.display().to_string();
        let io = |error| CacheError::Io { path: path(), error };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(io)?;
        let metadata = fs::symlink_metadata(directory).map_err(io)?;
        let mode = metadata.permissions().mode() & 0o777;
        // SAFETY: `geteuid` reads an id of the process; it has no preconditions and cannot fail.
        let me = unsafe { libc::geteuid() };
        if !metadata.is_dir() || metadata.uid() != me || mode & 0o022 != 0 {
            let found = format!("owner {} and mode {mode:o} (this user is {me})", metadata.uid());
            return Err(CacheError::NotPrivate { path: path(), found });
        }
        Ok(Cache { directory: directory.to_owned(), compiler: None })
    }

    /// The same cache, for which `compiler` compiles what is missing.
    #[must_use]
    pub fn compiled_by(self, compiler: Arc<dyn IsolatedCompiler>) -> Cache {
        Cache { compiler: Some(compiler), ..self }
    }

    /// Has `component` compiled by another process, when there is one for that.
    pub(crate) fn compile(
        &self,
        engine: &Engine,
        key: &str,
        (switches, build): (&Switches, &Build),
        component: &[u8],
    ) -> Result<Option<Component>, CompileFailure> {
        let Some(compiler) = &self.compiler else { return Ok(None) };
        let Switches { canonical_nans, memory_faults, .. } = *switches;
        let (fuel, positions) = (build.fuel, build.positions);
        let (cache, key_of_job) = (self.directory.clone(), key.to_owned());
        let job = CompileJob { canonical_nans, memory_faults, fuel, positions, cache, key: key_of_job };
        compiler.compile(&job, component)?;
        Ok(self.code(engine, key))
    }

    /// The key of a component's code under an engine: everything that decides its compiled form.
    pub(crate) fn code_key(component: &Arc<[u8]>, configuration: &[u8], engine: &Engine) -> String {
        let component = content_digest::content_digest(component);
        let mut compatibility = CompatibilityHasher(blake3::Hasher::new());
        std::hash::Hash::hash(&engine.precompile_compatibility_hash(), &mut compatibility);
        key("code of digest", &[component.as_bytes(), configuration, compatibility.0.finalize().as_bytes()])
    }

    /// The key of a componentized module: everything that decides the component.
    pub(crate) fn component_key(module: &[u8], version: &[u8]) -> String {
        key("component", &[module, version, env!("CARGO_PKG_VERSION").as_bytes()])
    }

    /// The compiled form under `key`; `None` when there is none that is whole.
    pub(crate) fn code(&self, engine: &Engine, key: &str) -> Option<Component> {
        let path = self.checked(key)?;
        // SAFETY: `deserialize_file` trusts the file to be what `Component::serialize` wrote. The directory
        // is writable by this user alone (checked in `open`), the file was just compared with the checksum
        // under which it was written, and files of that name are replaced by equal ones or removed, never
        // written in place. The engine's version and settings are in the key, and wasmtime checks them again.
        unsafe { Component::deserialize_file(engine, &path) }.ok()
    }

    /// Waits until no other thread, of this process or another one, is making the entry of `key`. It may exist then.
    pub(crate) fn making(&self, key: &str) -> MakingLock {
        let path = self.directory.join(format!("making-{}", key.get(..LOCK_DIGITS).unwrap_or(key)));
        let locked = File::options().create(true).append(true).open(path).and_then(|file| file.lock().map(|()| file));
        if let Err(error) = &locked {
            tracing::debug!(%error, "the compile cache has no locks");
        }
        MakingLock { _file: locked.ok() }
    }

    /// Keeps a compiled form. A failure costs only the next start; it is logged.
    pub(crate) fn keep_code(&self, key: &str, component: &Component) {
        match component.serialize() {
            Ok(code) => self.keep(key, &code),
            Err(error) => tracing::warn!(%error, "a compiled program could not be serialised"),
        }
    }

    /// The bytes under `key`; `None` when there are none that are whole.
    pub(crate) fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        fs::read(self.checked(key)?).ok()
    }

    /// Keeps bytes. A failure costs only the next start; it is logged.
    pub(crate) fn keep(&self, key: &str, content: &[u8]) {
        if let Err(error) = self.try_keep(key, content) {
            tracing::warn!(%error, directory = %self.directory.display(), "the compile cache could not be written");
        }
    }

    /// The file under `key`, after its checksum was found right. A damaged entry is dropped.
    fn checked(&self, key: &str) -> Option<PathBuf> {
        let index = self.directory.join(key);
        let mut line = String::new();
        let file = File::open(&index).ok()?;
        let looked_at = file.metadata().ok()?.mtime();
        file.take(256).read_to_string(&mut line).ok()?;
        let found = self.whole(key, line.trim_end(), looked_at);
        if found.is_none() {
            tracing::debug!(key, "dropping a damaged entry of the compile cache");
            let _ = fs::remove_file(&index);
        }
        found
    }

    fn whole(&self, key: &str, line: &str, looked_at: i64) -> Option<PathBuf> {
        let mut words = line.split(' ');
        let (checksum, len, seen) = (words.next()?, words.next()?, words.next());
        let plain = checksum.len() == 32 && checksum.bytes().all(|b| b.is_ascii_hexdigit());
        let len: u64 = len.parse().ok().filter(|_| plain)?;
        let path = self.directory.join(format!("{checksum}.bin"));
        let content = File::open(&path).ok()?;
        let metadata = content.metadata().ok()?;
        let found = seen_as(&metadata);
        if seen == Some(found.as_str()) && metadata.ctime() + SETTLED_SECONDS <= looked_at && metadata.len() == len {
            return Some(path);
        }
        if metadata.len() != len || checksum_of(&content)? != checksum {
            let _ = fs::remove_file(&path);
            return None;
        }
        // A failure costs another look.
        let _ = self.write(key, format!("{checksum} {len} {found}\n").as_bytes());
        Some(path)
    }

    fn try_keep(&self, key: &str, content: &[u8]) -> io::Result<()> {
        let checksum = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(content));
        self.write(&format!("{checksum}.bin"), content)?;
        self.write(key, format!("{checksum} {}\n", content.len()).as_bytes())?;
        self.prune()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".tmp").tempfile_in(&self.directory)?;
        file.write_all(bytes)?;
        file.persist(self.directory.join(name)).map_err(|error| error.error)?;
        Ok(())
    }

    /// Removes the oldest files beyond the bound. Another process may rename or remove any of them meanwhile.
    fn prune(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)?.flatten() {
            if let Some(metadata) = unless_gone(entry.metadata())? {
                files.push((metadata.accessed()?, metadata.len(), entry.path()));
            }
        }
        let mut total: u64 = files.iter().map(|(_, len, _)| len).sum();
        files.sort();
        for (_, len, path) in files {
            if total <= CACHE_BYTES_MAX {
                break;
            }
            unless_gone(fs::remove_file(path))?;
            total -= len;
        }
        Ok(())
    }
}

/// Identifies the contents of a file: a write or a replacement changes it.
fn seen_as(metadata: &fs::Metadata) -> String {
    format!("{}.{}.{}.{}", metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

/// What was done to a file; `None` when another process took it away first.
fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// A digest of fields, each with its length, so that no two lists of fields meet.
fn key(kind: &str, fields: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for field in [LAYOUT.as_bytes(), kind.as_bytes()].iter().chain(fields) {
        hasher.update(&(field.len() as u64).to_le_bytes());
        hasher.update(field);
    }
    hasher.finalize().to_hex().to_string()
}

/// Feeds wasmtime's own compatibility hash into BLAKE3, as the standard hasher is not stable.
struct CompatibilityHasher(blake3::Hasher);

impl std::hash::Hasher for CompatibilityHasher {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

fn checksum_of(mut file: &File) -> Option<String> {
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(format!("{:032x}", hasher.digest128())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

#[cfg(test)]
mod tests;
