//! Where a program stands, as what is kept of it is named: two programs of one file name are two programs.
//!
//! ```text
//! a/app.wasm                                        app              it came first
//! b/app.wasm                                        app-5e1f0c22     a digest of `b/app.wasm`
//! target/wasm32-wasip2/{debug,release}/client.wasm  client           both builds are one program
//! ```
//!
//! Invariants: a program below the project's folder is named by its path there, so the folder can be moved; the first of a name has the
//! name alone, as programs had before places were told apart.
//! Not here: who came first, which is written where something is kept (`explore/saved_failures`, `explore/state`).

use fozzy_trace::Digest;
use std::path::{Component, Path, PathBuf};

/// Digits that tell a name's second owner from its first.
const DIGITS: usize = 8;

/// Where a program stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramPlace(String);

impl ProgramPlace {
    /// That of the program in `file`, for the project that keeps its things in `base_dir`.
    pub fn of(base_dir: &Path, file: &Path) -> ProgramPlace {
        let file = without_profile(&whole(file));
        let file =
            project_root(base_dir).and_then(|root| file.strip_prefix(root).ok().map(Path::to_owned)).unwrap_or(file);
        ProgramPlace(file.to_string_lossy().into_owned())
    }

    /// As it is written down.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of what is kept of it: `name`, unless that has another `owner`.
    pub fn key(&self, name: &str, owner: Option<&str>) -> String {
        match owner {
            Some(owner) if owner != self.0 => {
                format!("{name}-{}", &Digest::of(self.0.as_bytes()).to_string()[..DIGITS])
            }
            _ => name.to_owned(),
        }
    }
}

/// The folder of the project that keeps its things in `base_dir`.
pub fn project_root(base_dir: &Path) -> Option<PathBuf> {
    let base_dir = std::path::absolute(base_dir).ok()?;
    base_dir.parent().map(whole)
}

/// `path` with its links resolved if it exists, otherwise only made absolute.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// Cargo's folders of a target and a profile are no part of a program's place.
fn without_profile(file: &Path) -> PathBuf {
    let words: Vec<Component<'_>> = file.components().collect();
    let is_target = |word: &Component<'_>| word.as_os_str().to_string_lossy().starts_with("wasm32-");
    match words.iter().rposition(is_target) {
        // …/wasm32-wasip2/release/app.wasm, or …/release/deps/app.wasm
        Some(at) if (3..=4).contains(&(words.len() - at)) => words[..at].iter().chain(words.last()).collect(),
        _ => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str) -> String {
        ProgramPlace::of(Path::new("/nowhere/project/.fozzy"), Path::new(file)).0
    }

    #[test]
    fn a_place_is_below_the_project_and_has_no_profile() {
        assert_eq!(place("/nowhere/project/a/app.wasm"), "a/app.wasm");
        assert_eq!(place("/nowhere/other/app.wasm"), "/nowhere/other/app.wasm");
        let builds = ["debug/app.wasm", "release/app.wasm", "release/deps/app.wasm"]
            .map(|build| place(&format!("/nowhere/project/target/wasm32-wasip2/{build}")));
        assert_eq!(builds, ["target/app.wasm"; 3]);
        assert_eq!(place("/nowhere/project/wasm32-wasip2/app.wasm"), "wasm32-wasip2/app.wasm");
    }

    #[test]
    fn the_second_program_of_a_name_has_a_name_of_its_own() {
        let [a, b] = ["a/app.wasm", "b/app.wasm"].map(|file| ProgramPlace(file.to_owned()));
        assert_eq!(a.key("app", None), "app");
        assert_eq!(a.key("app", Some(a.as_str())), "app");
        let other = b.key("app", Some(a.as_str()));
        assert!(other.starts_with("app-") && other.len() == "app-".len() + DIGITS, "{other}");
    }
}
