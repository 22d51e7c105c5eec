//! What a machine can hold the tree to, so that review is about meaning.
//!
//! The crate table of `runtime/ARCHITECTURE.md` against `cargo metadata`; headers; paths that Markdown names;
//! no ignored test; no registry's host; `unsafe` only where the architecture says; a purpose for every
//! dependency; names of types (`names`); modules without rings (`rings`). That `CLI.md` is what clap generates is tested in `runtime/cli/src/cli_md.rs`.

mod examples;
mod names;
mod rings;

use crate::wait;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The only files that may contain `unsafe` code, besides guests and benches.
const UNSAFE_FILES: &[&str] = &[
    "runtime/engine/src/memory.rs",
    "runtime/engine/src/reactor/tracker/kernel.rs",
    "runtime/engine/src/compile/cache.rs",
    "runtime/engine/src/memory/clear.rs",
    "runtime/engine/src/memory/copy.rs",
    "runtime/engine/src/memory/differences.rs",
    "runtime/engine/src/memory/recycled.rs",
    "runtime/engine/src/memory/touched.rs",
    "runtime/campaign/src/fuzz/driver.rs",
    "runtime/campaign/src/debug/fork.rs",
    "runtime/cli/src/interrupt.rs",
    "guest-sdk/antithesis/libloading/src/voidstar.rs",
    "guest-sdk/src/local.rs",
    "guest-sdk/src/native/std_clock.rs",
    "guest-sdk/wasi-net/src/fcntl.rs",
    "tests/purity/cage.rs",
    "tests/reactors/kernel.rs",
    "tests/purity.rs",
    "tests/terminal.rs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

/// Files that git tracks or would track, by their ending.
fn files(ending: &str) -> Vec<PathBuf> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let listed = wait::run(&mut git);
    assert!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).expect("names are UTF-8");
    let found: Vec<PathBuf> = names.lines().filter(|name| name.ends_with(ending)).map(PathBuf::from).collect();
    found.into_iter().filter(|path| root().join(path).is_file()).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One row of the crate table.
struct Row {
    may_use: BTreeSet<String>,
    never: BTreeSet<String>,
}

fn table() -> BTreeMap<String, Row> {
    let text = read(Path::new("runtime/ARCHITECTURE.md"));
    let start = text.find("| crate | one sentence |").expect("the crate table");
    let rows = text[start..].lines().skip(2).take_while(|line| line.starts_with('|'));
    let list = |cell: &str| cell.split(',').map(str::trim).filter(|w| *w != "-").map(str::to_owned).collect();
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        (cells[0].trim_matches('`').to_owned(), Row { may_use: list(cells[2]), never: list(cells[3]) })
    })
    .collect()
}

/// What rustc calls this machine.
fn host() -> String {
    let output = wait::run(Command::new("rustc").arg("-vV").current_dir(root()));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

/// Normal dependencies of each package on this machine, by name. Those of other platforms are not asked for: nothing has ever fetched
/// their sources, which cargo would need.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &host()]).current_dir(root());
    let output = wait::run(&mut cargo);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut names = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        names.insert(package["id"].as_str().expect("id"), package["name"].as_str().expect("name"));
    }
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for node in metadata["resolve"]["nodes"].as_array().expect("nodes") {
        let of = found.entry(names[node["id"].as_str().expect("id")].to_owned()).or_default();
        for dependency in node["deps"].as_array().expect("deps") {
            let kinds = dependency["dep_kinds"].as_array().expect("kinds");
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                of.insert(names[dependency["pkg"].as_str().expect("pkg")].to_owned());
            }
        }
    }
    found
}

#[test]
fn crates_use_only_what_stands_before_them() {
    let (table, dependencies) = (table(), dependencies());
    let folders: BTreeSet<String> = fs::read_dir(root().join("runtime"))
        .expect("runtime/")
        .flatten()
        .filter(|entry| entry.path().is_dir() && entry.file_name() != "player")
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(table.keys().cloned().collect::<BTreeSet<_>>(), folders, "the crate table names other crates");
    for (name, row) in &table {
        let package = if name == "fozzy" { name.clone() } else { format!("fozzy-{name}") };
        let ours = dependencies[&package].iter().filter_map(|used| used.strip_prefix("fozzy-"));
        for used in ours {
            assert!(row.may_use.contains(used), "fozzy-{name} uses fozzy-{used}, which its row does not allow");
        }
        let mut reached = BTreeSet::new();
        let mut open = vec![package.clone()];
        while let Some(next) = open.pop() {
            for used in dependencies.get(&next).into_iter().flatten() {
                if reached.insert(used.clone()) {
                    open.push(used.clone());
                }
            }
        }
        for never in &row.never {
            assert!(!reached.contains(never), "fozzy-{name} reaches {never}, which it must never");
        }
    }
}

/// All that a package is made of on this machine, by name.
fn made_of(package: &str, features: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--package", package])
        .args(features.iter().flat_map(|feature| ["--features", feature]))
        .current_dir(root());
    let output = wait::run(&mut cargo);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn the_library_has_the_real_computer_only_as_a_feature() {
    let network = ["rustls", "ring", "webpki-roots", "httparse"];
    let plain = made_of("fozzy", &[]);
    for package in network {
        assert!(!plain.contains(package), "the library `fozzy` is made of {package} without its feature `live`");
    }
    let live = made_of("fozzy", &["live"]);
    for package in network {
        assert!(live.contains(package), "the library `fozzy` lacks {package} with its feature `live`");
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    // Bindings are generated, and one of them is included.
    for path in files(".rs").into_iter().filter(|path| !path.ends_with("bindings.rs")) {
        let text = read(&path);
        let header: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let first = header.first().map_or("", |line| line.trim_start_matches("//!").trim());
        assert!(first.len() >= 15, "{}: expected a header that gives the purpose, found `{first}`", path.display());
    }
}

#[test]
fn no_test_is_ignored_and_nothing_is_left_to_do() {
    // Written so that this file does not name what it forbids.
    let forbidden = ["#[ignore", "should_panic", "todo!(", "unimplemented!("].map(str::to_owned);
    for path in files(".rs").into_iter().filter(|path| !path.ends_with("tests/tidy.rs")) {
        let text = read(&path);
        for word in &forbidden {
            let code = text.lines().find(|line| line.contains(word) && !line.trim_start().starts_with("//"));
            assert!(code.is_none(), "{}: {}", path.display(), code.unwrap_or_default());
        }
    }
}

/// A path that is shown as it is breaks a command that is pasted, or is one itself: `fozzy_report::shell_path` quotes it.
#[test]
fn paths_in_printed_commands_are_quoted() {
    for path in files(".rs").into_iter().filter(|path| path.starts_with("runtime")) {
        let text = read(&path);
        for command in text.split("format!(\"fozzy ").skip(1).filter_map(|rest| rest.split("))").next()) {
            let is_quoted = !command.contains(".display(") || command.contains("'{}'");
            assert!(is_quoted, "{}: fozzy {command}", path.display());
        }
    }
}

#[test]
fn tests_wait_in_one_way() {
    // A helper with a deadline has each of these; what a caged child does of its own accord is no waiting.
    let waits =
        [".output()", ".status()", ".wait()", ".wait_with_output()", ".recv()", ".read_exact(", "thread::sleep"];
    let apart = ["tests/wait.rs", "tests/tidy.rs", "tests/purity.rs", "tests/guests/", "tests/programs/"];
    for path in files(".rs") {
        let name = path.to_string_lossy().into_owned();
        if !name.starts_with("tests/") || apart.iter().any(|apart| name.starts_with(apart)) {
            continue;
        }
        let text = read(&path);
        let found = text.lines().find(|line| waits.iter().any(|word| line.contains(word)));
        assert_eq!(found, None, "{name}: `tests/wait.rs` waits, with a deadline");
    }
}

#[test]
fn unsafe_code_is_where_the_architecture_says() {
    for path in files(".rs") {
        let name = path.to_string_lossy().into_owned();
        // Bindings are generated.
        let apart = name.starts_with("guest-sdk/src/bindings/") || name.ends_with("/bindings.rs");
        let apart = apart || name.starts_with("tests/guests/") || name.starts_with("bench/") || name == "tests/tidy.rs";
        if apart || UNSAFE_FILES.contains(&name.as_str()) {
            continue;
        }
        let is_unsafe = |line: &&str| ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|word| line.contains(word));
        let found = read(&path).lines().find(is_unsafe).map(str::to_owned);
        assert_eq!(found, None, "{name}");
    }
}

/// Beginnings of words with a slash that documents name, and that are no paths of this repository: folders of a project, of the
/// SDK's unpacked sources and of a simulated disk, a program's own, a package of Go.
const OTHER_PATHS: [&str; 6] = [".fozzy/", "regressions/", "vendor/fozzy", "work/x", "./tool", "container/heap"];

/// Words in backticks and targets of links that are paths of this repository, as far as can be seen: a word with a slash, or a
/// document or source.
fn named_paths(markdown: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut fenced = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let quoted = line.split('`').skip(1).step_by(2);
        let linked = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for word in quoted.chain(linked) {
            let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
            // Absolute paths are of a simulated disk; numbers are rates.
            let is_other = word.starts_with(|c: char| c == '/' || c.is_ascii_digit())
                || OTHER_PATHS.iter().any(|other| word.starts_with(other));
            let named = word.contains('/') || word.ends_with(".md") || word.ends_with(".rs");
            if plain && named && !is_other {
                found.insert(word.to_owned());
            }
        }
    }
    found
}

#[test]
fn paths_named_in_markdown_exist() {
    for path in files(".md") {
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        for named in named_paths(&read(&path)) {
            let bases = [root(), root().join(&folder), root().join("runtime")];
            let exists = bases.iter().any(|base| base.join(&named).exists());
            assert!(exists, "{} names `{named}`, which does not exist", path.display());
        }
    }
}

#[test]
fn paths_that_the_linter_advises_exist() {
    let text = read(Path::new("clippy.toml"));
    let words = text.split(|c: char| c.is_whitespace() || "\";,".contains(c));
    for named in words.filter(|word| word.ends_with(".rs")) {
        assert!(root().join("runtime").join(named).exists(), "clippy.toml names `{named}`, which does not exist");
    }
}

#[test]
fn every_dependency_says_what_it_is_for() {
    let manifest = read(Path::new("Cargo.toml"));
    let start = manifest.find("[workspace.dependencies]").expect("the table of dependencies");
    let mut explained = false;
    for line in manifest[start..].lines().skip(1).take_while(|line| !line.starts_with('[')) {
        match line {
            line if line.starts_with('#') => explained = true,
            "" => explained = false,
            line if line.starts_with("fozzy-") || line.starts_with("fozzy =") => {}
            line => assert!(explained, "Cargo.toml: `{line}` does not say what it is for"),
        }
    }
}

#[test]
fn versions_named_in_code_are_those_of_the_manifest() {
    let manifest = read(Path::new("Cargo.toml"));
    let wasmtime = fozzy_engine::WASMTIME_VERSION;
    let pinned = format!("wasmtime = {{ version = \"={wasmtime}\"");
    assert!(manifest.contains(&pinned), "Cargo.toml does not pin `{pinned}`, which traces and cache keys name");
    let componentize = read(Path::new("runtime/engine/src/compile/componentize.rs"));
    let encoder = manifest.split("wit-component = \"=").nth(1).and_then(|rest| rest.split('"').next());
    let named = format!("encoder {}", encoder.expect("wit-component is pinned"));
    assert!(componentize.contains(&named), "componentize.rs does not name `{named}` in its cache key");
}

#[test]
fn no_registry_is_named_by_its_host() {
    let hosts = [["crates", "io"], ["pypi", "org"], ["npmjs", "com"], ["debian", "org"]].map(|parts| parts.join("."));
    for ending in [".rs", ".toml", ".md", "run", ".sh", ".py"] {
        for path in files(ending) {
            let text = read(&path);
            let found = hosts.iter().find(|host| text.contains(host.as_str()));
            assert_eq!(found, None, "{}", path.display());
        }
    }
}
