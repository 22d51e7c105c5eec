//! What tells, at little cost, that a target may have changed: names, sizes and times of all that it is made of.
//!
//! ```text
//! target ─┬─ its file or folder
//!         ├─ its plan ─ programs, folders and files that this names
//!         └─ of each of these folders that is a crate: path dependencies, theirs, …; Cargo.toml and Cargo.lock of the workspace
//! ```
//!
//! Invariants: nothing is started, nothing is executed; what cannot be read is as if it were not there; links inside of folders are not followed.
//! Not noticed: sources outside of the folder that a recipe, a Makefile or Go names; files beyond [`ENTRIES_MAX`].

use crate::suite::find::{manifest, sources};
use fozzy_plan::{PlanFile, read_text};
use fozzy_trace::Digest;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Files and folders that are looked at; of a target with more, a change may need a restart.
const ENTRIES_MAX: usize = 20_000;
/// Folders that are looked at for being crates, whose path dependencies are followed: some ten times a large workspace.
const CRATES_MAX: usize = 1024;
/// Folders of a cargo-fuzz folder that its own campaigns fill.
const FOUND: [&str; 3] = ["corpus", "artifacts", "coverage"];

/// The digest of what a file or folder and the paths in its flags are made of.
pub(super) fn source_stamp(source: &Path, flags: &[String]) -> Digest {
    let mut stamp = SourceStamp::default();
    stamp.add(source);
    for flag in flags.chunks(2) {
        let [name, path] = flag else { continue };
        stamp.add(Path::new(path));
        if name == "--plan" {
            planned(Path::new(path)).iter().for_each(|path| stamp.add(path));
        }
    }
    Digest::of(stamp.lines.into_iter().collect::<String>().as_bytes())
}

/// What a plan names. One that cannot be read is a file like others.
fn planned(path: &Path) -> Vec<PathBuf> {
    let plan = read_text(path).and_then(|text| PlanFile::parse(&text, path));
    plan.map(|plan| plan.host_paths()).unwrap_or_default()
}

#[derive(Default)]
struct SourceStamp {
    lines: BTreeSet<String>,
    entries: usize,
    /// Folders that were named as crates.
    crates: BTreeSet<PathBuf>,
}

impl SourceStamp {
    /// A file, or a folder with what it needs of others.
    fn add(&mut self, path: &Path) {
        let Ok(path) = path.canonicalize() else { return };
        self.walk(&path);
        if path.is_dir() {
            self.follow(path);
        }
    }

    /// A file, or all files of a folder but those that tools and campaigns put there.
    fn walk(&mut self, path: &Path) {
        let mut rest = vec![path.to_owned()];
        while let Some(path) = rest.pop() {
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return;
            }
            if !path.is_dir() {
                self.file(&path);
                continue;
            }
            let mut inside: Vec<PathBuf> =
                sources(&path).unwrap_or_default().into_iter().map(|(path, _)| path).collect();
            inside.retain(|inside| !is_found(inside, &path));
            // With too many, they are the same ones at each look.
            inside.sort();
            rest.extend(inside);
        }
    }

    fn file(&mut self, path: &Path) {
        if let Ok(metadata) = fs::metadata(path) {
            self.lines.insert(format!("{}\0{}\0{:?}\n", path.display(), metadata.len(), metadata.modified().ok()));
        }
    }

    /// The crates that a crate is built with, as far as they are folders of this machine.
    fn follow(&mut self, folder: PathBuf) {
        self.crates.insert(folder.clone());
        let mut rest = vec![folder];
        while let Some(folder) = rest.pop() {
            let Some(manifest) = manifest(&folder) else { continue };
            let root = workspace_root(&folder, &manifest);
            if let Some((root, _)) = &root {
                ["Cargo.toml", "Cargo.lock"].iter().for_each(|name| self.file(&root.join(name)));
            }
            for named in named_folders(&folder, &manifest, root.as_ref()) {
                let Ok(named) = named.canonicalize() else { continue };
                // Each once, before it is read: manifests may name one place in thousands of ways.
                if self.crates.len() >= CRATES_MAX || !self.crates.insert(named.clone()) {
                    continue;
                }
                // A path that leads to no crate leads anywhere.
                if self::manifest(&named).is_some_and(|it| it.contains_key("package")) {
                    self.walk(&named);
                    rest.push(named);
                }
            }
        }
    }
}

fn is_found(path: &Path, folder: &Path) -> bool {
    path.file_name().is_some_and(|name| FOUND.iter().any(|found| *found == name))
        && manifest(folder).is_some_and(|manifest| is_cargo_fuzz(&manifest))
}

/// Whether it is that of a cargo-fuzz folder.
pub(super) fn is_cargo_fuzz(manifest: &Table) -> bool {
    let metadata = manifest.get("package").and_then(|package| package.get("metadata"));
    metadata.and_then(|metadata| metadata.get("cargo-fuzz")).and_then(Value::as_bool) == Some(true)
}

/// The workspace of a crate, which may be the crate itself: its folder and its manifest.
fn workspace_root(folder: &Path, own: &Table) -> Option<(PathBuf, Table)> {
    if own.contains_key("workspace") {
        return Some((folder.to_owned(), own.clone()));
    }
    if let Some(root) = own.get("package").and_then(|package| package.get("workspace")).and_then(Value::as_str) {
        let root = folder.join(root);
        return manifest(&root).map(|found| (root, found));
    }
    let mut above = folder.ancestors().skip(1).filter_map(|root| Some((root.to_owned(), manifest(root)?)));
    above.find(|(_, found)| found.contains_key("workspace"))
}

/// The folders that a manifest names for its dependencies, itself or by those of its workspace, and those that take the places of others.
fn named_folders(folder: &Path, own: &Table, root: Option<&(PathBuf, Table)>) -> Vec<PathBuf> {
    let table = |value: &Value, key: &str| value.get(key).and_then(Value::as_table).cloned();
    let path = |folder: &Path, value: &Value| Some(folder.join(value.get("path")?.as_str()?));
    let mut found = Vec::new();
    let whole = Value::Table(own.clone());
    let of_systems = table(&whole, "target").unwrap_or_default().into_iter().map(|(_, system)| system);
    for place in std::iter::once(whole.clone()).chain(of_systems) {
        let dependencies = ["dependencies", "build-dependencies"].into_iter().filter_map(|kind| table(&place, kind));
        for (name, value) in dependencies.flatten() {
            found.extend(path(folder, &value));
            if value.get("workspace").and_then(Value::as_bool) == Some(true) {
                found.extend(root.and_then(|(root, manifest)| {
                    path(root.as_path(), manifest.get("workspace")?.get("dependencies")?.get(name.as_str())?)
                }));
            }
        }
    }
    let patched = root.map(|(root, manifest)| (root.as_path(), Value::Table(manifest.clone())));
    let (root, manifest) = patched.unwrap_or((folder, whole));
    let registries = table(&manifest, "patch").unwrap_or_default().into_iter().map(|(_, registry)| registry);
    let patches = registries.chain(manifest.get("replace").cloned());
    for value in patches.filter_map(|all| all.as_table().cloned()).flatten().map(|(_, value)| value) {
        found.extend(path(root, &value));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_crate_and_a_plan_need_elsewhere_is_noticed_and_nothing_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        let package = |name: &str, dependencies: &str| {
            write(&format!("{name}/Cargo.toml"), &format!("[package]\nname = \"p\"\n{dependencies}\n"));
        };
        let shared = "[workspace.dependencies]\ninherited = { path = \"inherited\" }";
        write("Cargo.toml", &format!("[workspace]\n{shared}\n[patch.crates-io]\nserde = {{ path = \"serde\" }}\n"));
        write("Cargo.lock", "");
        package("app", "[dependencies]\ndirect.path = \"../direct\"\n[dev-dependencies]\nother.path = \"../other\"");
        package("app/fuzz", "[workspace]\n[package.metadata]\ncargo-fuzz = true\n[dependencies]\napp.path = \"..\"");
        package("direct", "[dependencies]\ndeep.path = \"../deep\"\ninherited.workspace = true");
        // A circle, and a path that leads to no crate.
        package("deep", "[target.'cfg(unix)'.build-dependencies]\napp.path = \"../app\"\nall.path = \"/\"");
        package("server", "[dependencies]\ndeep.path = \"../deep\"");
        ["inherited", "serde", "other"].iter().for_each(|name| package(name, ""));
        write(
            "plan.toml",
            "[[node]]\nname = \"server\"\ncomponent = \"server\"\n[files]\n\"/list\" = { file = \"list.txt\" }\n",
        );
        let text = |path: PathBuf| path.display().to_string();
        let [app, fuzz, plan] = ["app", "app/fuzz", "plan.toml"].map(|name| folder.path().join(name));
        let flags = ["--plan".to_owned(), text(plan)];
        let stamps =
            || [source_stamp(&app, &[]), source_stamp(&fuzz, &[]), source_stamp(Path::new("none.wasm"), &flags)];
        for (file, expected) in [
            ("direct/src/lib.rs", [true, true, true]),
            ("deep/src/coverage/mod.rs", [true, true, true]),
            ("app/src/lib.rs", [true, true, true]),
            ("inherited/src/lib.rs", [true, true, true]),
            ("serde/src/lib.rs", [true, true, true]),
            ("Cargo.lock", [true, true, true]),
            ("server/src/main.rs", [false, false, true]),
            ("list.txt", [false, false, true]),
            ("other/src/lib.rs", [false; 3]),
            ("app/fuzz/corpus/parse/1", [false; 3]),
            ("app/target/debug/app", [false; 3]),
        ] {
            let before = stamps();
            assert_eq!(before, stamps(), "nothing has changed");
            write(file, "pub fn new() {}");
            let now = stamps();
            let changed = [0, 1, 2].map(|at| before[at] != now[at]);
            assert_eq!(changed, expected, "{file}");
        }
    }
}
