//! What a corpus and a list of findings are named by: the program, told apart from another one of its file name.
//!
//! ```text
//! .fozzy/programs/app                  `a/app.wasm`: who was fuzzed first under this name, and has it alone
//! .fozzy/corpora/app.parse/            the corpus of its function `parse`
//! .fozzy/corpora/app-5e1f0c22.parse/   that of `b/app.wasm`
//! .fozzy/findings/app.wasm-5e1f0c22.parse.json
//! ```
//!
//! Invariants: a corpus of an older version, whose program is not written down, belongs to the program that is fuzzed first; a file that cannot
//! be written costs no campaign.

use crate::pipeline::LoadedTarget;
use crate::program_place::ProgramPlace;
use fozzy_trace::file::store::{Durability, write_atomic};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that the path of a program may have.
const PLACE_BYTES_MAX: u64 = 1 << 16;

/// The names of what campaigns of one program keep.
pub struct KeptName {
    base_dir: PathBuf,
    /// The program's file name, and the same without its extension: each told from others.
    name: String,
    stem: String,
    /// The file that names the owner of the name, and its content, if it has no owner yet.
    unowned: Option<(PathBuf, String)>,
}

impl KeptName {
    /// Those of a program that was loaded.
    pub fn of(base_dir: &Path, loaded: &LoadedTarget) -> KeptName {
        KeptName::new(base_dir, &loaded.target.name, loaded.file.as_deref())
    }

    /// Those of a program's file.
    pub fn of_file(base_dir: &Path, file: &Path) -> KeptName {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        KeptName::new(base_dir, &name, Some(file))
    }

    fn new(base_dir: &Path, name: &str, file: Option<&Path>) -> KeptName {
        let stem = Path::new(name).file_stem().map_or_else(|| name.into(), |stem| stem.to_string_lossy());
        let place = ProgramPlace::of(base_dir, file.unwrap_or(Path::new(name)));
        let file = base_dir.join("programs").join(plain(&stem));
        let is_small = fs::metadata(&file).is_ok_and(|file| file.len() <= PLACE_BYTES_MAX);
        let owner = is_small.then(|| fs::read_to_string(&file).ok()).flatten();
        let unowned = owner.is_none().then(|| (file, format!("{}\n", place.as_str())));
        let owner = owner.as_deref().map(str::trim_end);
        let (name, stem) = (place.key(name, owner), place.key(&stem, owner));
        KeptName { base_dir: base_dir.to_owned(), name, stem, unowned }
    }

    /// The program owns its file name from here on, unless it has an owner.
    pub(super) fn claim(&self) {
        let Some((file, place)) = &self.unowned else { return };
        let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
        let written = folder.and_then(|()| write_atomic(file, place.as_bytes(), Durability::Cached));
        if let Err(error) = written {
            tracing::debug!(%error, "nobody owns the name");
        }
    }

    /// The corpus of one function, for who names no other. The name is owned with it.
    pub fn corpus(&self, function: &str) -> PathBuf {
        self.claim();
        self.corpus_path(function)
    }

    /// Where that corpus is, if there is one.
    pub fn corpus_path(&self, function: &str) -> PathBuf {
        self.base_dir.join("corpora").join([&self.stem, function].map(plain).join("."))
    }

    /// The list of what was found in a function.
    pub(super) fn findings(&self, function: &str) -> PathBuf {
        // Names of exports have signs that are none of a file's name.
        let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let name: String = format!("{}.{function}.json", self.name).chars().map(plain).collect();
        self.base_dir.join("findings").join(name)
    }
}

/// A word as it may stand in the name of a folder.
fn plain(word: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    word.chars().map(plain).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_programs_of_one_file_name_have_a_corpus_and_a_list_each() {
        let project = tempfile::tempdir().expect("a folder");
        let base_dir = project.path().join(".fozzy");
        let of = |file: &str| KeptName::new(&base_dir, "app.wasm", Some(&project.path().join(file)));
        // One that was there before places were told apart goes to who comes first.
        fs::create_dir_all(base_dir.join("corpora/app.parse")).expect("a folder");
        assert_eq!(of("a/app.wasm").corpus("parse"), base_dir.join("corpora/app.parse"));
        let second = of("b/app.wasm").corpus("parse");
        let name = second.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name.starts_with("app-") && name.ends_with(".parse"), "{name}");
        assert_eq!(of("a/app.wasm").corpus("parse"), base_dir.join("corpora/app.parse"), "it is still its own");
        assert_eq!(of("a/app.wasm").findings("parse"), base_dir.join("findings/app.wasm.parse.json"));
        assert_ne!(of("b/app.wasm").findings("parse"), of("a/app.wasm").findings("parse"));
        // Both builds of one program are one.
        assert_eq!(
            of("b/target/wasm32-wasip2/debug/app.wasm").corpus("f"),
            of("b/target/wasm32-wasip2/release/app.wasm").corpus("f")
        );
    }
}
