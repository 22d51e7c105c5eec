//! `THIRD-PARTY-LICENSES` has the licence of everything that the binary contains.
//!
//! ```text
//! cargo metadata ─▶ what fozzy-cli links, and what the embedded guests link ─▶ the licence files in their sources
//!                                                                         └─▶ THIRD-PARTY-LICENSES, which `fozzy version --licenses` prints
//! ```
//!
//! Invariants: no crate is without a text; a text that several crates share stands once; the file changes only with the crates.
//! `BLESS=1 cargo test -p fozzy-tests -- licences` writes it anew. Not here: whether a licence suits anybody.

use crate::wait;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE: &str = "THIRD-PARTY-LICENSES";

/// Where code of others comes from: the manifest, the package that is looked at, and the platform.
const ROOTS: [(&str, &str, Option<&str>); 2] =
    [("Cargo.toml", "fozzy-cli", None), ("runtime/player/Cargo.toml", "cluster-player", Some("wasm32-wasip2"))];

/// How a file with a licence begins its name.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// What our own crates carry along: its title, its licence, and where that is.
const CARRIED: [(&str, &str, &str); 1] = [("uPlot 1.6.32", "MIT", "runtime/dashboard/LICENSE-uPlot")];

/// How deep in a package code of others may lie that the package carries along.
const DEPTH_MAX: usize = 3;

const HEAD: &str = "\
Fozzy is under the licence in the file LICENSE. Its binary contains code of others: the crates below, the standard library of Rust,
and in the players of scenario files, which are programs in WebAssembly, a C library for WASI. Who hands on the binary hands on these
texts. Where a crate may be had under MIT or another licence, it is had under MIT.
";

/// What stands in no crate. The toolchain has these texts where its documentation is installed, which is not everywhere.
const TOOLCHAIN: &str = "\
The standard library of Rust, copyright the Rust Project contributors, is under MIT or Apache-2.0; wasi-libc, which is part of the
standard library for WebAssembly, under Apache-2.0 with the exception of LLVM or MIT, and what it has of musl, copyright Rich Felker
and others, under MIT. The terms of MIT, the same for all of them, are:
";

const MIT: &str = "\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the \"Software\"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do
so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
";

#[test]
fn the_licence_of_everything_in_the_binary_is_shipped() {
    let path = repository().join(FILE);
    let made = document();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &made).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let found = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let next = "BLESS=1 cargo test -p fozzy-tests -- licences";
    assert!(found == made, "{FILE} is not of the crates in Cargo.lock; next: {next}");
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository")
}

/// A crate that is linked into the binary.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct LinkedPackage {
    name: String,
    version: String,
    licence: String,
    /// Who wrote it, as its manifest says.
    authors: String,
    folder: PathBuf,
}

fn document() -> String {
    let mut linked = BTreeSet::new();
    for (manifest, package, platform) in ROOTS {
        linked.extend(linked_into(manifest, package, platform));
    }
    let shipped: BTreeMap<&LinkedPackage, Vec<String>> = linked.iter().map(|each| (each, texts_of(each))).collect();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for (each, own) in &shipped {
        let title = format!("{} {}", each.name, each.version);
        list += &format!("{title}: {}\n", each.licence);
        let own = if own.is_empty() { vec![standard_text(each, &shipped)] } else { own.clone() };
        for text in own {
            let users = texts.entry(text).or_default();
            if users.last() != Some(&title) {
                users.push(title.clone());
            }
        }
    }
    for (title, licence, path) in CARRIED {
        let text = fs::read_to_string(repository().join(path)).expect("a licence is there");
        list += &format!("{title}: {licence}\n");
        texts.entry(text).or_default().push(title.to_owned());
    }
    let mut texts: Vec<(Vec<String>, String)> = texts.into_iter().map(|(text, users)| (users, text)).collect();
    texts.sort();
    let mut made = format!("{HEAD}\n{list}\n{}\n{TOOLCHAIN}\n{MIT}", "=".repeat(100));
    for (users, text) in texts {
        made += &format!("\n{}\n{}\n\n{text}", "=".repeat(100), users.join(", "));
    }
    made
}

/// The crates of others that are linked into a package.
fn linked_into(manifest: &str, package: &str, platform: Option<&str>) -> BTreeSet<LinkedPackage> {
    let metadata = metadata(manifest, platform);
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages: BTreeMap<String, Value> =
        array(&metadata["packages"]).into_iter().map(|package| (text(&package["id"]), package)).collect();
    let nodes: BTreeMap<String, Value> =
        array(&metadata["resolve"]["nodes"]).into_iter().map(|node| (text(&node["id"]), node)).collect();
    let is_macro = |id: &str| {
        let targets = array(&packages[id]["targets"]);
        targets.iter().any(|target| array(&target["kind"]).iter().any(|kind| kind == "proc-macro"))
    };

    let root = packages.values().find(|each| each["name"] == package).expect("the package is there");
    let (mut open, mut seen) = (vec![text(&root["id"])], BTreeSet::new());
    while let Some(id) = open.pop() {
        if is_macro(&id) || !seen.insert(id.clone()) {
            continue;
        }
        for dependency in array(&nodes[&id]["deps"]) {
            // Of kind "normal": what builds or tests it is not in it.
            if array(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                open.push(text(&dependency["pkg"]));
            }
        }
    }
    // Ours have no source but the repository.
    let of_others = seen.iter().map(|id| &packages[id]).filter(|package| !package["source"].is_null());
    of_others
        .map(|package| LinkedPackage {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]),
            authors: array(&package["authors"]).iter().map(text).collect::<Vec<_>>().join(", "),
            folder: PathBuf::from(text(&package["manifest_path"])).parent().expect("a folder").to_owned(),
        })
        .collect()
}

fn metadata(manifest: &str, platform: Option<&str>) -> Value {
    let platform = platform.map_or_else(host, str::to_owned);
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", &platform])
        .arg("--manifest-path")
        .arg(repository().join(manifest))
        .current_dir(repository());
    let asked = wait::run(&mut cargo);
    assert!(asked.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&asked.stderr));
    serde_json::from_slice(&asked.stdout).expect("JSON")
}

/// What rustc calls this machine.
fn host() -> String {
    let output = wait::run(Command::new("rustc").arg("-vV").current_dir(repository()));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

/// The texts under which a crate is had.
fn texts_of(linked: &LinkedPackage) -> Vec<String> {
    let mut paths = Vec::new();
    licence_files(&linked.folder, DEPTH_MAX, &mut paths);
    paths.sort();
    let is_mit = |path: &PathBuf| path.parent() == Some(&linked.folder) && path.to_string_lossy().ends_with("-MIT");
    let may_choose = linked.licence.contains("MIT") && linked.licence.contains(" OR ");
    if may_choose && paths.iter().any(is_mit) {
        // Of the crate itself; what it carries along has terms of its own.
        let is_alternative =
            |path: &PathBuf| path.parent() == Some(&linked.folder) && is_licence(path) && !is_mit(path);
        paths.retain(|path| !is_alternative(path));
    }
    paths.iter().filter_map(|path| fs::read_to_string(path).ok()).map(|text| even(&text)).collect()
}

/// The text for a crate that names its licence and ships none: that of MIT, or what another crate ships under the same name.
fn standard_text(linked: &LinkedPackage, shipped: &BTreeMap<&LinkedPackage, Vec<String>>) -> String {
    let LinkedPackage { name, licence, authors, .. } = linked;
    let authors = if authors.is_empty() { format!("the authors of {name}") } else { authors.clone() };
    if licence.contains("MIT") {
        return format!("Copyright {authors}\n\n{MIT}");
    }
    let same = shipped.iter().find(|(other, texts)| other.licence == *licence && texts.len() == 1);
    let (_, texts) = same.unwrap_or_else(|| panic!("{name} ships no text of its licence, which is {licence}"));
    texts[0].clone()
}

/// Whether a file is a licence, one of several perhaps; a notice goes with each of them.
fn is_licence(path: &Path) -> bool {
    !name_of(path).starts_with("NOTICE") && !name_of(path).starts_with("COPYRIGHT")
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default()
}

fn licence_files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("readable").path()) {
        let name = name_of(&path);
        let is_source = [".RS", ".C", ".H", ".PY", ".TOML"].iter().any(|ending| name.ends_with(ending));
        if path.is_dir() && depth > 1 {
            licence_files(&path, depth - 1, found);
        } else if path.is_file() && !is_source && NAMES.iter().any(|start| name.starts_with(start)) {
            found.push(path);
        }
    }
}

/// The text with plain line ends, so that equal texts are equal.
fn even(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("{}\n", lines.join("\n").trim_matches('\n'))
}
