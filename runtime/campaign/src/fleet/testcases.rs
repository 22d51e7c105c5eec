//! The testcases of a target, for people: those of its folder on this machine; where it has none here, those that workers share in the store.
//!
//! ```text
//! .fozzy/corpora/app.parse/e3b0…, seed.txt   the latest first      here
//! corpus/<target>/<sha-256>                  by name               a machine that only looks
//! ```
//!
//! Invariants: nothing is written; a name leads to no other folder, and links are not followed; of the store, what stands in this target's corpus
//! is given, and no other blob; what is damaged or gone is no testcase.
//! Not here: how they come from one place to the other (`exchange`).

use super::discovery::{FleetTarget, FleetTargetKind};
use super::exchange::{TESTCASE_BYTES_MAX, corpus_key};
use super::shared_store::{SharedStore, SharedStoreError};
use crate::inputs::INPUT_BYTES_MAX;
use crate::suite::entry::shown;
use fozzy_report::fleet::FleetTestcaseRow;
use fozzy_report::shell_word;
use fozzy_trace::Digest;
use fozzy_trace::file::store::is_temporary;
use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// Testcases of a corpus that are shown at a time.
const SHOWN_MAX: usize = 200;
/// Files of a corpus that are looked at for these.
const FILES_MAX: usize = 100_000;
/// Bytes of a testcase that are shown in its row.
const BEGINS_BYTES: usize = 96;
/// Testcases that are read from the store at a time: as large as they can be, they have some megabytes.
const BLOBS_AT_ONCE: usize = 8;

/// A testcase that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestcaseBytes {
    /// All of it.
    Whole(Vec<u8>),
    /// It has more bytes than an input can have.
    TooLarge {
        /// Those that it has.
        size: u64,
        /// Those that an input can have.
        max: u64,
    },
}

/// Some of the testcases of a target.
pub(super) struct TestcasePage {
    pub(super) rows: Vec<FleetTestcaseRow>,
    /// All that there are.
    pub(super) total: u64,
    /// The folder that has them; `None` where the store does.
    pub(super) folder: Option<PathBuf>,
}

/// The testcases of one target.
pub(super) struct TargetTestcases<'a> {
    pub(super) store: &'a dyn SharedStore,
    pub(super) target: &'a FleetTarget,
    pub(super) base_dir: &'a Path,
}

impl TargetTestcases<'_> {
    /// Those from this place on.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) fn page(&self, from: usize) -> Result<TestcasePage, SharedStoreError> {
        let folder = self.folder();
        let files = folder.as_deref().map(files).unwrap_or_default();
        if !files.is_empty() {
            let shown = files.iter().skip(from).take(SHOWN_MAX);
            let rows = shown.filter_map(|file| self.row_of_file(file)).collect();
            return Ok(TestcasePage { rows, total: files.len() as u64, folder });
        }
        let names = self.names()?;
        let shown: Vec<Digest> = names.iter().skip(from).take(SHOWN_MAX).copied().collect();
        let mut rows = Vec::new();
        for names in shown.chunks(BLOBS_AT_ONCE) {
            let blobs = self.store.get_blobs(names)?;
            let fits = |bytes: &Vec<u8>| bytes.len() <= TESTCASE_BYTES_MAX;
            let found = names.iter().zip(blobs).filter_map(|(name, bytes)| Some((name, bytes.filter(fits)?)));
            rows.extend(found.map(|(name, bytes)| {
                let path = self.store.blob_path(name).unwrap_or_else(|| name.to_string().into());
                let begins = &bytes[..bytes.len().min(BEGINS_BYTES)];
                self.row(name.to_string(), bytes.len() as u64, begins, Some(&path))
            }));
        }
        let folder = folder.filter(|_| names.is_empty());
        Ok(TestcasePage { rows, total: names.len() as u64, folder })
    }

    /// The bytes of one of them; `None` when none has this name.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) fn bytes(&self, name: &str) -> Result<Option<TestcaseBytes>, SharedStoreError> {
        if let Some(found) = self.bytes_of_file(name) {
            return Ok(Some(found));
        }
        let Some(digest) = Digest::parse(name).filter(|digest| digest.to_string() == name) else { return Ok(None) };
        if self.store.get(&corpus_key(self.target).join(name))?.is_none() {
            return Ok(None);
        }
        let bytes = self.store.get_blobs(&[digest])?.pop().flatten();
        Ok(bytes.filter(|bytes| bytes.len() <= TESTCASE_BYTES_MAX).map(TestcaseBytes::Whole))
    }

    fn folder(&self) -> Option<PathBuf> {
        self.target.corpus_path(self.base_dir).filter(|folder| folder.is_dir())
    }

    /// The names in the store.
    fn names(&self) -> Result<Vec<Digest>, SharedStoreError> {
        if self.target.kind == FleetTargetKind::Explore {
            return Ok(Vec::new());
        }
        let names = self.store.list(&corpus_key(self.target))?;
        Ok(names.iter().filter_map(|name| Digest::parse(name)).collect())
    }

    /// One that goes meanwhile is none.
    fn row_of_file(&self, file: &TestcaseFile) -> Option<FleetTestcaseRow> {
        let mut begins = Vec::new();
        File::open(&file.path).ok()?.take(BEGINS_BYTES as u64).read_to_end(&mut begins).ok()?;
        // One whose name is no text has no address.
        let path = file.name.to_str().map(|_| &*file.path);
        Some(self.row(file.name.to_string_lossy().into_owned(), file.size, &begins, path))
    }

    fn row(&self, name: String, size: u64, begins: &[u8], path: Option<&Path>) -> FleetTestcaseRow {
        let command = path.map(|path| self.command(path));
        FleetTestcaseRow { name, size, begins: begins.escape_ascii().to_string(), command }
    }

    /// What to type to execute it.
    fn command(&self, path: &Path) -> String {
        let words = ["fozzy".to_owned()].into_iter().chain(self.target.words()).chain([shown(path)]);
        words.map(|word| shell_word(&word)).collect::<Vec<_>>().join(" ")
    }

    fn bytes_of_file(&self, name: &str) -> Option<TestcaseBytes> {
        let path = self.folder().filter(|_| is_file_name(name))?.join(name);
        let metadata = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let mut bytes = Vec::new();
        File::open(&path).ok()?.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
        let max = INPUT_BYTES_MAX;
        Some(match bytes.len() as u64 > max {
            true => TestcaseBytes::TooLarge { size: metadata.len(), max },
            false => TestcaseBytes::Whole(bytes),
        })
    }
}

/// A file of a corpus.
struct TestcaseFile {
    written: SystemTime,
    name: OsString,
    size: u64,
    path: PathBuf,
}

/// The files of a corpus, the latest first. One that goes meanwhile is none; links are not followed.
fn files(folder: &Path) -> Vec<TestcaseFile> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(FILES_MAX);
    let files = entries.filter(|entry| !is_temporary(&entry.file_name())).filter_map(|entry| {
        let metadata = fs::symlink_metadata(entry.path()).ok().filter(fs::Metadata::is_file)?;
        let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(TestcaseFile { written, name: entry.file_name(), size: metadata.len(), path: entry.path() })
    });
    let mut files: Vec<_> = files.collect();
    files.sort_by(|left, right| (Reverse(left.written), &left.name).cmp(&(Reverse(right.written), &right.name)));
    files
}

/// Whether a name is that of a file in a folder, and leads nowhere else.
fn is_file_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let is_one =
        matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == OsStr::new(name));
    is_one && !is_temporary(OsStr::new(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::shared_store::DirectoryStore;

    const NAMES: [&str; 4] = ["seed.txt", "<b> 1", "../store.json", "a/b"];

    fn target() -> FleetTarget {
        FleetTarget::app(FleetTargetKind::Fuzz("parse".into()))
    }

    #[test]
    fn files_of_the_folder_are_given_by_their_names_and_nothing_outside_of_it() {
        let place = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(&place.path().join("store"), "shop").expect("a store");
        let target = target();
        let all = TargetTestcases { store: &store, target: &target, base_dir: place.path() };
        let folder = target.corpus_path(place.path()).expect("it is fuzzed");
        fs::create_dir_all(folder.join("a")).expect("a folder");
        fs::write(folder.join("a/b"), "deeper").expect("written");
        NAMES[..2].iter().for_each(|name| fs::write(folder.join(name), name).expect("written"));
        fs::write(folder.join(".fozzy-1.tmp"), "half").expect("written");
        let large = File::create(folder.join("large")).expect("a file");
        large.set_len(INPUT_BYTES_MAX + 1).expect("it can be sparse");
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/hostname", folder.join("link")).expect("a link");
        let bytes = |name: &str| all.bytes(name).expect("the store answers");
        for name in &NAMES[..2] {
            assert_eq!(bytes(name), Some(TestcaseBytes::Whole(name.as_bytes().to_vec())));
        }
        let outside = ["", ".", "..", "./seed.txt", "seed.txt/", "/etc/hostname", "a", "link", ".fozzy-1.tmp", "a\0"];
        for name in NAMES[2..].iter().chain(&outside) {
            assert_eq!(bytes(name), None, "{name}");
        }
        let (size, max) = (INPUT_BYTES_MAX + 1, INPUT_BYTES_MAX);
        assert_eq!(bytes("large"), Some(TestcaseBytes::TooLarge { size, max }));
        let page = all.page(0).expect("listed");
        assert_eq!((page.total, page.rows.len(), page.folder.as_ref()), (3, 3, Some(&folder)));
        let odd = page.rows.iter().find(|row| row.name == "<b> 1").expect("it is listed");
        let path = folder.join("<b> 1");
        let command = format!("fozzy fuzz app.wasm parse --mode coverage '{}'", path.display());
        assert_eq!((&*odd.begins, odd.command.as_ref()), ("<b> 1", Some(&command)));
        // From a place on, and beyond the end.
        let from = |from| all.page(from).expect("listed").rows.len();
        assert_eq!([from(2), from(3), from(usize::MAX)], [1, 0, 0]);
    }

    #[test]
    fn a_machine_without_the_folder_has_what_the_store_has_of_this_target_and_no_other_blob() {
        let place = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(&place.path().join("store"), "shop").expect("a store");
        let target = target();
        let all = TargetTestcases { store: &store, target: &target, base_dir: place.path() };
        let inputs: Vec<Vec<u8>> = (0..=SHOWN_MAX).map(|number| number.to_string().into_bytes()).collect();
        store.put_named_blobs(&corpus_key(&target), &inputs).expect("kept");
        let trace = store.put_blob(b"a trace").expect("kept");
        store.put(&corpus_key(&target).join("../up"), b"1\n").expect("kept");
        let of_another = FleetTarget { id: "app-2".into(), ..target.clone() };
        store.put_named_blobs(&corpus_key(&of_another), &[b"of another".to_vec()]).expect("kept");
        let bytes = |name: &str| all.bytes(name).expect("the store answers");
        let name = Digest::of(b"7").to_string();
        assert_eq!(bytes(&name), Some(TestcaseBytes::Whole(b"7".to_vec())));
        let others = [trace.to_string(), Digest::of(b"of another").to_string(), name.to_uppercase(), "../up".into()];
        for name in &others {
            assert_eq!(bytes(name), None, "{name}");
        }
        let page = |from| all.page(from).expect("listed");
        let (first, second) = (page(0), page(SHOWN_MAX));
        assert_eq!((first.total, first.rows.len(), second.rows.len()), (201, SHOWN_MAX, 1));
        assert_eq!((first.folder, first.rows.iter().any(|row| row.name == second.rows[0].name)), (None, false));
        let path = store.blob_path(&Digest::of(b"7")).expect("a file");
        let row = first.rows.iter().chain(&second.rows).find(|row| row.name == name).expect("it is listed");
        assert!(row.command.as_ref().is_some_and(|command| command.ends_with(&*path.to_string_lossy())), "{row:?}");
        // What was changed in place is none.
        fs::write(&path, b"8").expect("changed");
        assert_eq!(bytes(&name), None);
        // An exploration has none.
        let explored = FleetTarget { kind: FleetTargetKind::Explore, ..target.clone() };
        let none = TargetTestcases { target: &explored, ..all };
        assert_eq!(none.page(0).expect("listed").total, 0);
    }
}
