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
//! Not here: what is kept in it (`records`), and which home it has (`directory`, `redis`).

mod directory;
mod overflow;
#[cfg(feature = "redis")]
mod redis;
mod watched;

pub use directory::DirectoryStore;
pub(crate) use overflow::OverflowStore;
#[cfg(feature = "redis")]
pub use redis::RedisStore;
pub use watched::WatchedStore;

use crate::error::{CampaignError, ErrorKind};
use fozzy_trace::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of one value: some hundred times what a record of ours has.
pub const VALUE_BYTES_MAX: usize = 1 << 20;
/// Bytes of one blob: a trace with the largest program that can be run.
pub const BLOB_BYTES_MAX: u64 = 1 << 30;
/// Names in one folder that are listed. A store with more is no fleet's.
pub const NAMES_MAX: usize = 100_000;
/// Characters of one part of a key, once its home has written it.
pub const PART_CHARS_MAX: usize = 200;
/// By which a store is known.
const FORMAT: &str = "fozzy-store";
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

    /// The folders with values, in their order.
    fn folders(&self) -> Result<Vec<StoreKey>, SharedStoreError>;

    /// The folders with so many parts of which the first is that; whether there are values in each is not sure.
    fn folders_at(&self, shapes: &[(&str, usize)]) -> Result<Vec<StoreKey>, SharedStoreError> {
        let is_at = |folder: &StoreKey| {
            let (kind, parts) = (folder.parts().first(), folder.parts().len());
            kind.is_some_and(|kind| shapes.contains(&(kind.as_str(), parts)))
        };
        Ok(self.folders()?.into_iter().filter(is_at).collect())
    }

    /// Whether a value directly in one of these folders has this text in it.
    fn has_text(&self, folders: &[StoreKey], text: &str) -> Result<bool, SharedStoreError> {
        for folder in folders {
            for name in self.list(folder)? {
                let value = match self.get(&folder.join(&name)) {
                    // It says nothing.
                    Err(SharedStoreError::NoFile { .. }) => None,
                    found => found?,
                };
                if value.is_some_and(|value| String::from_utf8_lossy(&value).contains(text)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether one of these folders has a value of this name.
    fn has_name(&self, folders: &[StoreKey], name: &str) -> Result<bool, SharedStoreError> {
        for folder in folders {
            if self.get(&folder.join(name))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives a value another key, at once; whether there was one. What has that key is replaced.
    fn rename(&self, from: &StoreKey, to: &StoreKey) -> Result<bool, SharedStoreError>;

    /// Keeps bytes by their content; twice is once.
    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, SharedStoreError>;

    /// The bytes of that content; `None` when they are not kept.
    fn get_blob(&self, name: &Digest) -> Result<Option<Vec<u8>>, SharedStoreError>;

    /// Several at once; `None` for what is not kept or is not what its name says.
    fn get_blobs(&self, names: &[Digest]) -> Result<Vec<Option<Vec<u8>>>, SharedStoreError> {
        let get = |name: &Digest| match self.get_blob(name) {
            Err(SharedStoreError::Damaged { .. } | SharedStoreError::NoFile { .. }) => Ok(None),
            found => found,
        };
        names.iter().map(get).collect()
    }

    /// Whether blobs of these names are kept: whether each is what its name says is known when it is read.
    fn has_blobs(&self, names: &[Digest]) -> Result<Vec<bool>, SharedStoreError>;

    /// All values directly in a folder, with the last parts of their keys, in their order.
    fn values(&self, folder: &StoreKey) -> Result<Vec<(String, Vec<u8>)>, SharedStoreError> {
        let mut values = Vec::new();
        for name in self.list(folder)? {
            // It may be gone since it was listed.
            values.extend(self.get(&folder.join(&name))?.map(|value| (name, value)));
        }
        Ok(values)
    }

    /// Keeps several blobs, each with its name in a folder, whose value is its size: the blob first. They may be lost with the power of the machine, and
    /// with nothing else.
    fn put_named_blobs(&self, folder: &StoreKey, blobs: &[Vec<u8>]) -> Result<(), SharedStoreError>;

    /// Removes them; whether they were there.
    fn delete_blob(&self, name: &Digest) -> Result<bool, SharedStoreError>;

    /// The names of all blobs, in their order.
    fn blobs(&self) -> Result<Vec<Digest>, SharedStoreError>;

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

    /// Who took that right last, for people who asked in vain; `None` where it was never taken, and on a server also where it has ended. A folder
    /// names a holder that has gone, too.
    fn holder(&self, key: &StoreKey) -> Result<Option<String>, SharedStoreError>;

    /// From here on, a request that is not answered is repeated for at most this time.
    fn wait_at_most(&self, _time: Duration) {}

    /// Whether it answers now.
    fn answers(&self) -> bool {
        true
    }

    /// Refuses a folder that was moved or removed since it was opened: read as one in which nothing is kept, it would say that nothing was
    /// ever found. A server that is away says so at each request.
    ///
    /// # Errors
    /// When it is gone.
    fn present(&self) -> Result<(), SharedStoreError> {
        Ok(())
    }

    /// The project whose it is.
    fn project(&self) -> &str;

    /// Where it is, for people, without a password.
    fn place(&self) -> String;
}

/// Opens the store at an address (`redis://…`) or in a folder, and makes it where there is none. Without a project it is to be there, whose ever
/// it is.
///
/// # Errors
/// When it is another project's or a newer version's, no server answers there, or something else is there.
pub fn open_store(place: &str, project: Option<&str>) -> Result<Box<dyn SharedStore>, SharedStoreError> {
    #[cfg(feature = "redis")]
    if RedisStore::is_address(place) {
        return Ok(Box::new(RedisStore::open(place, project)?));
    }
    if place.contains("://") {
        let why = "it is no address that is known: redis://HOST, rediss://HOST with TLS, redis+unix:///PATH".to_owned();
        return Err(SharedStoreError::Foreign { place: without_password(place), why });
    }
    Ok(Box::new(DirectoryStore::open(Path::new(place), project)?))
}

/// The same for a fleet, which begins without its server when that is away, and joins it later.
///
/// # Errors
/// Those of [`open_store`], except that no server answers there.
pub fn open_store_or_later(place: &str, project: &str) -> Result<Box<dyn SharedStore>, SharedStoreError> {
    #[cfg(feature = "redis")]
    if RedisStore::is_address(place) {
        return Ok(Box::new(RedisStore::open_or_later(place, project)?));
    }
    open_store(place, Some(project))
}

/// Whether it is on a server: a lease there outlives a holder that was killed, and in a folder it does not.
pub(super) fn is_on_server(store: &dyn SharedStore) -> bool {
    store.place().contains("://")
}

/// An address as it may be shown.
pub(super) fn without_password(address: &str) -> String {
    match (address.split_once("://"), address.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => address.to_owned(),
    }
}

/// An address as a person types it, with `PASSWORD` in place of its password.
pub(super) fn with_masked_password(address: &str) -> String {
    let masked = || {
        let (scheme, rest) = address.split_once("://")?;
        let (named, place) = rest.rsplit_once('@')?;
        let (user, _) = named.split_once(':')?;
        Some(format!("{scheme}://{user}:PASSWORD@{place}"))
    };
    masked().unwrap_or_else(|| address.to_owned())
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
    /// The home does not answer, or takes nothing at the moment: later it may.
    #[error("cannot {what} {path}: {why}")]
    Away {
        /// What was tried.
        what: &'static str,
        /// With what.
        path: String,
        /// Why not.
        why: String,
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
    /// Something else is where a file was kept.
    #[error("{path} is {what}, and no file: delete it")]
    NoFile {
        /// Where.
        path: String,
        /// What is there.
        what: &'static str,
    },
}

impl SharedStoreError {
    /// What the file system says. A disk that is full takes more later.
    fn io(what: &'static str, path: &Path, error: io::Error) -> SharedStoreError {
        let path = path.display().to_string();
        match is_full_disk(&error) {
            true => SharedStoreError::Away { what, path, why: error.to_string() },
            false => SharedStoreError::Io { what, path, error },
        }
    }
}

/// Whether it is only the room that is missing.
fn is_full_disk(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// What to do about a folder that takes nothing.
const FREE_DISK: &str = "what was kept before is whole; free the disk or the folder, and run it again";

/// An error of the store, for people.
pub fn shared_store_error(error: SharedStoreError) -> CampaignError {
    let hint = match &error {
        SharedStoreError::Newer { .. } => Some(
            "use the fozzy that wrote it, or name another one: --store DIR or FOZZY_STORE=DIR, or ?prefix=NAME behind an address",
        ),
        SharedStoreError::OtherProject { .. } => Some(
            "name another one (--store DIR or FOZZY_STORE=DIR, or ?prefix=NAME behind an address); or say that it is the same project under another name: --project NAME",
        ),
        SharedStoreError::Foreign { .. } => {
            Some("name another one: --store DIR or FOZZY_STORE=DIR, or ?prefix=NAME behind an address")
        }
        SharedStoreError::Away { path, .. } if !path.contains("://") => Some(FREE_DISK),
        SharedStoreError::Away { .. } => Some(
            "what was kept before is whole; see to the server, and run it again; or --store DIR or FOZZY_STORE=DIR, and fozzy store copy later",
        ),
        SharedStoreError::Io { path, .. } if path.contains("://") => None,
        SharedStoreError::Io { .. } => Some(FREE_DISK),
        SharedStoreError::Size { .. } | SharedStoreError::Damaged { .. } | SharedStoreError::NoFile { .. } => None,
    };
    let told = CampaignError::new(ErrorKind::Store, error.to_string());
    match hint {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

/// What a store says of itself.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct StoreHead {
    format: String,
    version: u64,
    project: String,
}

impl StoreHead {
    /// What the store of a project says that this version makes.
    fn of(project: &str) -> StoreHead {
        StoreHead { format: FORMAT.to_owned(), version: STORE_VERSION, project: project.to_owned() }
    }

    /// The project of a store; refuses what is none, a newer one, and that of another project than this one.
    fn check(text: &[u8], project: Option<&str>, place: &str) -> Result<String, SharedStoreError> {
        let foreign = |why: String| SharedStoreError::Foreign { place: place.to_owned(), why };
        let found: StoreHead = serde_json::from_slice(text)
            .map_err(|error| foreign(format!("what it says of itself is not understood: {error}")))?;
        if found.format != FORMAT {
            return Err(foreign(format!("its format is `{}`", found.format)));
        }
        let place = place.to_owned();
        if found.version > STORE_VERSION {
            return Err(SharedStoreError::Newer { place, found: found.version });
        }
        match project {
            Some(project) if found.project != project => {
                Err(SharedStoreError::OtherProject { place, found: found.project, expected: project.to_owned() })
            }
            _ => Ok(found.project),
        }
    }
}

/// One part of a key as homes write it. A dot would end it, and letters of both cases are one on some systems.
fn written(part: &str) -> Result<String, SharedStoreError> {
    let mut name = String::new();
    for byte in part.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            _ => name.push_str(&format!("%{byte:02x}")),
        }
    }
    // An empty name is none.
    let name = if name.is_empty() { "%".to_owned() } else { name };
    bounded("a part of a key has a length", name.len() as u64, PART_CHARS_MAX as u64)?;
    Ok(name)
}

/// The part that is written so; `None` where no store of ours writes that.
fn read_part(name: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
        } else if let [high, low, tail @ ..] = rest {
            let hex = [*high, *low];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?);
            rest = tail;
        } else if name != "%" {
            return None;
        }
    }
    let part = String::from_utf8(bytes).ok()?;
    (written(&part).ok()? == name).then_some(part)
}

/// The value beside the name of a blob.
fn size_of(bytes: &[u8]) -> String {
    format!("{}\n", bytes.len())
}

/// Refuses what is beyond a bound; its name is written out only then.
fn bounded(what: impl fmt::Display, found: u64, limit: u64) -> Result<(), SharedStoreError> {
    if found <= limit { Ok(()) } else { Err(SharedStoreError::Size { what: what.to_string(), found, limit }) }
}

#[cfg(test)]
mod tests;
