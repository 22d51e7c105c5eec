//! Digests of programs in files, kept from start to start: hashing a program of some megabytes takes longer than all else of a start
//! whose code is in the cache.
//!
//! ```text
//! <cache>/<key of device and inode>   "<device.inode.size.mtime.ctime> <moment> <SHA-256> <BLAKE3> <xxh3 of all before>\n"
//!
//! look_at(file) ─▶ read it ─▶ digest(bytes)     the same file before and after, and settled then: as recorded
//!                                               anything else: hashed, and recorded if it was settled
//! ```
//!
//! A file is settled at a moment that is later than its last change by more than the resolution of any file system's times, as for git's
//! index. It is looked at before the file is read, so that each later change has another time: `ctime` is set by the kernel at each write,
//! rename and change of attributes, and no user can set it. So a record is of the content on any local file system that has such a time.
//! Whole seconds are no such time: images of file systems (squashfs, erofs, ISO 9660) have one for all their files, which a build that can
//! be reproduced sets to the same in each version, and FAT has what the user has set. It is not of the content where another machine, whose
//! clock is seconds behind, changes the file; nor of who changes the clock of this one, or writes for seconds through one mapping.
//!
//! A digest is the same whether it was recorded or not, so that no execution depends on records; and they stand in the directory of the
//! cache, which this user alone can write, and from which compiled code is executed.
//!
//! Invariant: a record that is damaged, or of another moment, is not used.
//! Not here: what the digests are for.

use super::{Cache, SETTLED_SECONDS, content_digest, key};
use fozzy_trace::Digest;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// A look at a file before it is read.
#[derive(Debug)]
pub struct FileLook<'a> {
    cache: &'a Cache,
    file: &'a File,
    /// As it was; `None` when it is no plain file.
    before: Option<FileIdentity>,
    /// What was recorded of it.
    known: Option<ContentDigests>,
    /// The time of the file system of the cache, if the file was settled then.
    settled_at: Option<i64>,
}

/// By what a file is known again.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ContentDigests {
    source: Digest,
    content: blake3::Hash,
}

impl FileIdentity {
    fn of(file: &File) -> Option<FileIdentity> {
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(FileIdentity {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// Where the record of the file is.
    fn record(&self) -> String {
        key("file", &[&self.device.to_le_bytes(), &self.inode.to_le_bytes()])
    }

    fn text(&self) -> String {
        let FileIdentity { device, inode, bytes, modified, changed } = self;
        format!("{device}.{inode}.{bytes}.{}.{}.{}.{}", modified.0, modified.1, changed.0, changed.1)
    }

    /// Whether each change after the moment `at` gives it another time, which the kernel of this machine has made.
    fn is_settled(&self, at: i64) -> bool {
        self.changed.1 != 0 && self.changed.0.saturating_add(SETTLED_SECONDS) <= at
    }
}

impl Cache {
    /// Looks at a file that is about to be read.
    #[must_use]
    pub fn look_at<'a>(&'a self, file: &'a File) -> FileLook<'a> {
        let before = FileIdentity::of(file);
        let known = before.as_ref().and_then(|identity| self.recorded(identity));
        let now = if before.is_some() && known.is_none() { self.now() } else { None };
        let settled_at = now.filter(|now| before.as_ref().is_some_and(|identity| identity.is_settled(*now)));
        FileLook { cache: self, file, before, known, settled_at }
    }

    /// What is recorded of a file that is as it was then.
    fn recorded(&self, identity: &FileIdentity) -> Option<ContentDigests> {
        let text = fs::read_to_string(self.directory.join(identity.record())).ok()?;
        let (recorded, checksum) = text.trim_end().rsplit_once(' ')?;
        let mut words = recorded.split(' ');
        let of = words.next()?;
        let at: i64 = words.next()?.parse().ok()?;
        let source = Digest::parse(words.next()?)?;
        let content = blake3::Hash::from_hex(words.next()?).ok()?;
        let is_it = checksum == checksum_of(recorded) && of == identity.text() && identity.is_settled(at);
        is_it.then_some(ContentDigests { source, content })
    }

    fn record(&self, identity: &FileIdentity, at: i64, digests: &ContentDigests) {
        let ContentDigests { source, content } = digests;
        let recorded = format!("{} {at} {source} {}", identity.text(), content.to_hex());
        let line = format!("{recorded} {}\n", checksum_of(&recorded));
        // A failure costs another look.
        let _ = self.write(&identity.record(), line.as_bytes());
    }

    /// The time of the file system of the cache, in seconds.
    fn now(&self) -> Option<i64> {
        let file = tempfile::Builder::new().prefix(".tmp").tempfile_in(&self.directory).ok()?;
        Some(file.as_file().metadata().ok()?.mtime())
    }
}

impl FileLook<'_> {
    /// The SHA-256 of the file's content, which is `bytes`: it was read since the look.
    #[must_use]
    pub fn digest(&self, bytes: &Arc<[u8]>) -> Digest {
        let FileLook { cache, file, before, known, settled_at } = self;
        // What changed while it was read is not what was looked at.
        let same = before.as_ref().filter(|before| FileIdentity::of(file).as_ref() == Some(*before));
        let same = same.filter(|before| before.bytes == bytes.len() as u64);
        if let (Some(_), Some(known)) = (same, known) {
            content_digest::note(bytes, known.content);
            return known.source;
        }
        let source = Digest::of(bytes);
        if let (Some(identity), Some(at)) = (same, settled_at) {
            let content = content_digest::content_digest(bytes);
            cache.record(identity, *at, &ContentDigests { source, content });
        }
        source
    }
}

fn checksum_of(text: &str) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A cache, a file with this content, and the folder of both.
    fn folder(content: &[u8]) -> (tempfile::TempDir, Cache, File) {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::open(&folder.path().join("cache")).expect("private");
        fs::write(folder.path().join("program"), content).expect("our own folder");
        let file = File::open(folder.path().join("program")).expect("it is there");
        (folder, cache, file)
    }

    fn of(cache: &Cache, file: &File, content: &[u8]) -> Digest {
        cache.look_at(file).digest(&Arc::from(content))
    }

    /// Records of this file a digest that is wrong, to see whether it is used; it was settled for so many seconds.
    fn record_wrong(cache: &Cache, file: &File, settled: i64) -> Digest {
        let identity = FileIdentity::of(file).expect("a file");
        let digests = ContentDigests { source: Digest::of(b"wrong"), content: blake3::hash(b"wrong") };
        cache.record(&identity, identity.changed.0 + settled, &digests);
        digests.source
    }

    #[test]
    fn a_file_that_is_as_it_was_is_not_hashed_again() {
        let (folder, cache, file) = folder(b"some program");
        let wrong = record_wrong(&cache, &file, 60);
        assert_eq!(of(&cache, &file, b"some program"), wrong, "as recorded");
        assert_eq!(of(&cache, &file, b"some prog"), Digest::of(b"some prog"), "read in part only");
        // Of other lengths, as the times of these changes may be the same.
        fs::write(folder.path().join("program"), b"another program").expect("our own file");
        assert_eq!(of(&cache, &file, b"another program"), Digest::of(b"another program"), "changed");
        fs::remove_file(folder.path().join("program")).expect("our own file");
        fs::write(folder.path().join("program"), b"a third program of all").expect("our own folder");
        let other = File::open(folder.path().join("program")).expect("it is there");
        assert_eq!(
            of(&cache, &other, b"a third program of all"),
            Digest::of(b"a third program of all"),
            "another file"
        );
    }

    #[test]
    fn what_changes_while_it_is_read_is_hashed() {
        let (folder, cache, file) = folder(b"some program");
        let wrong = record_wrong(&cache, &file, 60);
        let look = cache.look_at(&file);
        let mut writer = File::options().append(true).open(folder.path().join("program")).expect("it is there");
        writer.write_all(b"!").expect("our own file");
        let found = look.digest(&Arc::from(&b"some program"[..]));
        assert!(found == Digest::of(b"some program") && found != wrong);
    }

    #[test]
    fn a_record_of_a_file_that_was_just_changed_or_a_damaged_one_is_not_used() {
        let (_folder, cache, file) = folder(b"some program");
        let right = Digest::of(b"some program");
        record_wrong(&cache, &file, SETTLED_SECONDS - 1);
        assert_eq!(of(&cache, &file, b"some program"), right, "not settled");
        let place = cache.directory.join(FileIdentity::of(&file).expect("a file").record());
        assert_eq!(fs::read_to_string(&place).expect("the record").split(' ').count(), 5, "it is not replaced so soon");
        let wrong = record_wrong(&cache, &file, 60);
        let text = fs::read_to_string(&place).expect("the record");
        for damaged in [text.replacen(&wrong.to_string()[..8], "00000000", 1), text[..40].to_owned(), String::new()] {
            fs::write(&place, damaged).expect("our own file");
            assert_eq!(of(&cache, &file, b"some program"), right);
        }
    }

    #[test]
    fn times_in_whole_seconds_settle_nothing() {
        let (_folder, cache, file) = folder(b"some program");
        let identity = FileIdentity::of(&file).expect("a file");
        let at = identity.changed.0 + 60;
        let digests = ContentDigests { source: Digest::of(b"wrong"), content: blake3::hash(b"wrong") };
        for (nanoseconds, known) in [(1, Some(digests)), (0, None)] {
            let identity = FileIdentity { changed: (identity.changed.0, nanoseconds), ..identity.clone() };
            cache.record(&identity, at, &digests);
            assert_eq!(cache.recorded(&identity), known, "{nanoseconds}");
        }
    }

    #[test]
    fn a_settled_file_is_recorded() {
        let (_folder, cache, file) = folder(b"some program");
        let bytes: Arc<[u8]> = Arc::from(&b"some program"[..]);
        let look = cache.look_at(&file);
        let settled = FileLook { settled_at: Some(look.before.as_ref().expect("a file").changed.0 + 60), ..look };
        let digest = settled.digest(&bytes);
        let known = cache.look_at(&file).known.expect("it was recorded");
        assert_eq!(known, ContentDigests { source: digest, content: blake3::hash(b"some program") });
        assert_eq!(digest, Digest::of(b"some program"));
    }
}
