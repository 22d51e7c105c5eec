//! Which scenarios a name means.
//!
//! ```text
//! nothing named    tests/**/*.fozzy.json, everything below scenarios/, and this folder, if it is one of a scenario;
//!                  when that is nothing but JSON, the programs in this folder too
//! a file           itself
//! a crate          itself: a folder whose Cargo.toml has a package
//! a made one       itself: a folder whose expect.toml says how its program is made, in C, Go, JavaScript, …
//! a cluster        itself: a plan file that names its clients; a folder whose own plan does is that cluster, unless it is the clients
//! another folder   everything below it
//! *, ?, [ab], **   all files and crates that fit
//! ```
//!
//! Invariants: what is named and is not there is an error; the order is that of the paths; of folders that tools fill (`target`,
//! `node_modules`, `vendor`, hidden ones) nothing is taken but what is named; links are not followed.

use super::entry::{CaseOverrides, Kind, SuiteEntry};
use super::expect::{own_plan, recipe};
use crate::cluster_plan::{clients, is_plan, is_same, names_clients};
use crate::error::{CampaignError, ErrorKind, at_path};
use fozzy_report::shell_word;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Folders inside of each other in which scenarios are looked for.
const DEPTH_MAX: usize = 16;

/// What is written with the steps of the first Fozzy.
const JSON_ENDING: &str = ".fozzy.json";

/// Bytes of a manifest that is read.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;

/// Folders that tools fill.
const FILLED: [&str; 3] = ["target", "node_modules", "vendor"];

/// What a suite has found, each path once.
pub(super) type SuiteEntries = BTreeMap<PathBuf, SuiteEntry>;

/// What is meant when nothing is named.
pub(super) fn everything(found: &mut SuiteEntries) -> Result<(), CampaignError> {
    let (tests, scenarios) = (Path::new("tests"), Path::new("scenarios"));
    if tests.is_dir() {
        below(tests, DEPTH_MAX, &|kind| kind == Kind::Json, found)?;
    }
    if scenarios.is_dir() {
        below(scenarios, DEPTH_MAX, &|_| true, found)?;
    }
    let here = Path::new(".");
    match kind_of(here) {
        Some(Kind::Crate) if !is_scenario_crate(here) && own_cluster(here, Kind::Crate).is_none() => {}
        Some(kind) => add(here, kind, found),
        None if found.values().all(|one| one.kind == Kind::Json) => {
            below(here, 1, &|kind| matches!(kind, Kind::Program | Kind::Json | Kind::Cluster), found)?;
        }
        None => {}
    }
    Ok(())
}

/// The programs in this folder, whether `everything` takes them or not: beside scenarios they may be parts of these. None of a folder that
/// cannot be listed, and none of one that is a scenario or a crate itself: what is in it are its parts.
pub(crate) fn programs_here() -> Vec<PathBuf> {
    let (here, mut found) = (Path::new("."), SuiteEntries::new());
    if kind_of(here).is_some() {
        return Vec::new();
    }
    match below(here, 1, &|kind| kind == Kind::Program, &mut found) {
        Ok(()) => found.into_keys().collect(),
        Err(_) => Vec::new(),
    }
}

/// What one word of the command line names.
pub(super) fn named(word: &str, found: &mut SuiteEntries) -> Result<(), CampaignError> {
    let path = Path::new(word);
    if !path.exists() {
        let is_pattern = word.contains(['*', '?', '[']);
        return if is_pattern { fitting(word, found) } else { Err(missing(word)) };
    }
    match kind_of(path) {
        Some(kind) => add(path, kind, found),
        None if path.is_dir() => {
            let before = found.len();
            below(path, DEPTH_MAX, &|_| true, found)?;
            if found.len() == before {
                return Err(CampaignError::new(ErrorKind::Suite, format!("no scenario is below {word}")).hint(
                    "a scenario is a .wasm, .wat or .fozzy.json file, a folder with a Cargo.toml or an expect.toml, or a plan \
                     file that names its clients",
                ));
            }
        }
        None if path.extension().is_some_and(|ending| ending == "fozzy") => {
            return Err(CampaignError::new(ErrorKind::Suite, format!("{word} is a trace of one run, not a scenario"))
                .hint(format!(
                    "fozzy replay {}; kept in regressions/, it is tried at each `fozzy test`",
                    shell_word(word)
                )));
        }
        // Without clients, that is what is wrong with it.
        None if is_plan(path) => add(path, Kind::Cluster, found),
        // Its content says what kind of program it is.
        None => add(path, Kind::Program, found),
    }
    Ok(())
}

fn missing(word: &str) -> CampaignError {
    CampaignError::new(ErrorKind::Suite, format!("{word} is neither a file nor a folder"))
        .hint("fozzy test 'scenarios/*'")
}

fn fitting(pattern: &str, found: &mut SuiteEntries) -> Result<(), CampaignError> {
    let refused = |why: String| CampaignError::new(ErrorKind::Suite, format!("{pattern}: {why}"));
    let paths = glob::glob(pattern).map_err(|error| refused(error.to_string()))?;
    let mut any = false;
    for path in paths {
        let path = path.map_err(|error| refused(error.to_string()))?;
        let is_filled = |part: Component<'_>| {
            let name = part.as_os_str().to_string_lossy();
            (name.starts_with('.') || FILLED.contains(&&*name)) && !pattern.contains(&*name)
        };
        let Some(kind) = kind_of(&path).filter(|_| !path.components().any(is_filled)) else { continue };
        add(&path, kind, found);
        any = true;
    }
    if any { Ok(()) } else { Err(refused("no scenario fits".to_owned())) }
}

/// Everything below a folder that is wanted.
fn below(
    folder: &Path,
    depth: usize,
    wanted: &dyn Fn(Kind) -> bool,
    found: &mut SuiteEntries,
) -> Result<(), CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::Suite, "cannot list", folder, &error);
    for (path, of) in sources(folder).map_err(failed)? {
        match kind_of(&path) {
            Some(kind) if wanted(kind) => add(&path, kind, found),
            // Inside of a crate are its parts; but where only JSON is looked for, crates are folders like others.
            Some(Kind::Crate | Kind::Folder) if depth > 1 => below(&path, depth - 1, wanted, found)?,
            None if of.is_dir() && depth > 1 => below(&path, depth - 1, wanted, found)?,
            _ => {}
        }
    }
    Ok(())
}

/// What is in a folder, but for what tools fill, what is hidden, and links.
pub(crate) fn sources(folder: &Path) -> std::io::Result<Vec<(PathBuf, fs::FileType)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (name, of) = (entry.file_name(), entry.file_type()?);
        let name = name.to_string_lossy();
        if !of.is_symlink() && !name.starts_with('.') && !FILLED.contains(&&*name) {
            found.push((entry.path(), of));
        }
    }
    Ok(found)
}

pub(super) fn kind_of(path: &Path) -> Option<Kind> {
    if path.is_dir() {
        // A recipe that cannot be read, or names nothing, is reported when it is used.
        let is_made = recipe(path).is_ok_and(|recipe| recipe.is_some());
        return match (is_made, path.join("expect.toml").is_file()) {
            (true, _) => Some(Kind::Folder),
            _ if has_package(path) => Some(Kind::Crate),
            (false, true) => Some(Kind::Folder),
            (false, false) => None,
        };
    }
    let name = path.file_name()?.to_string_lossy();
    if name.ends_with(JSON_ENDING) {
        return Some(Kind::Json);
    }
    if names_clients(path) {
        return Some(Kind::Cluster);
    }
    let ending = path.extension()?;
    (ending == "wasm" || ending == "wat").then_some(Kind::Program)
}

/// The manifest of a crate or a workspace.
pub(crate) fn manifest(folder: &Path) -> Option<toml::Table> {
    let path = folder.join("Cargo.toml");
    let is_small = fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= MANIFEST_BYTES_MAX);
    is_small.then(|| fs::read_to_string(path).ok()?.parse().ok())?
}

/// Whether the folder is one of a crate. One that cannot be read is: building it says what is wrong.
fn has_package(folder: &Path) -> bool {
    let is_there = folder.join("Cargo.toml").is_file();
    is_there && manifest(folder).is_none_or(|manifest| manifest.contains_key("package"))
}

/// Whether the folder is one of a crate that is written with the guest SDK.
fn is_scenario_crate(folder: &Path) -> bool {
    let uses = |manifest: toml::Table| {
        manifest.get("dependencies").and_then(|all| all.get("fozzy-sdk")).is_some() && manifest.contains_key("package")
    };
    manifest(folder).is_some_and(uses)
}

/// The same file or folder is one scenario, however often it is named.
fn add(path: &Path, kind: Kind, found: &mut SuiteEntries) {
    let (path, kind) = match own_cluster(path, kind) {
        Some(plan) => (tidy(&plan), Kind::Cluster),
        None => (tidy(path), kind),
    };
    let name = if kind == Kind::Cluster { name_of_cluster(&path) } else { name_of(&path) };
    found.insert(path.clone(), SuiteEntry { name, path, kind, given: CaseOverrides::default() });
}

/// The plan of a folder whose program is a part of a cluster, as this plan names other clients.
fn own_cluster(folder: &Path, kind: Kind) -> Option<PathBuf> {
    let is_folder = matches!(kind, Kind::Crate | Kind::Folder);
    let plan = own_plan(folder, kind).filter(|plan| is_folder && names_clients(plan))?;
    // What is wrong with its clients is reported when it is run.
    let is_itself = clients(&plan).is_ok_and(|clients| is_same(&clients, folder));
    (!is_itself).then_some(plan)
}

/// Without `.` in between, and without a slash at the end.
fn tidy(path: &Path) -> PathBuf {
    let parts: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    if parts.as_os_str().is_empty() { PathBuf::from(".") } else { parts }
}

fn name_of(path: &Path) -> String {
    let real = if path.file_name().is_some() { None } else { path.canonicalize().ok() };
    let name = real.as_deref().unwrap_or(path).file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    let endings = [JSON_ENDING, ".wasm", ".wat"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name).to_owned()
}

/// A plan file has the name of what it is the plan of: of its folder, or of a file beside it.
fn name_of_cluster(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    match (&*name, path.parent()) {
        ("plan.toml", Some(folder)) => name_of(&tidy(folder)),
        _ => [".plan.toml", ".toml"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::shown;
    use super::*;

    #[test]
    fn a_name_has_neither_folders_nor_endings() {
        for (path, name) in [
            ("scenarios/bank", "bank"),
            ("a/bank.wasm", "bank"),
            ("./bank.wat", "bank"),
            ("tests/kv.put.fozzy.json", "kv.put"),
            ("program", "program"),
        ] {
            assert_eq!(name_of(&tidy(Path::new(path))), name);
        }
        let here = std::env::current_dir().expect("a folder");
        assert_eq!(Some(name_of(Path::new("."))), here.file_name().map(|name| name.to_string_lossy().into_owned()));
        assert_eq!(tidy(Path::new("./a/./b/")), Path::new("a/b"));
        assert_eq!(tidy(Path::new("./")), Path::new("."));
    }

    #[test]
    fn a_manifest_that_is_too_large_is_not_read_and_its_folder_is_a_crate_all_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = |comment: usize| format!("[package]\nname = \"p\"\n# {}\n", "x".repeat(comment));
        for (comment, is_read) in [(10, true), (1 << 20, false)] {
            fs::write(folder.path().join("Cargo.toml"), text(comment)).expect("written");
            assert_eq!(manifest(folder.path()).is_some(), is_read);
            assert!(matches!(kind_of(folder.path()), Some(Kind::Crate)), "building it says what is wrong");
        }
    }

    #[test]
    fn what_tools_have_filled_is_left_out_and_a_workspace_is_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("Cargo.toml", "[workspace]\nmembers = [\"*\"]");
        write("b/Cargo.toml", "[package]\nname = \"b\"");
        write("b/inside.wat", "");
        write("target/x.wasm", "");
        write(".hidden/x.wasm", "");
        write("ring/expect.toml", "program = \"ring.wasm\"");
        write("ring/ring.wasm", "");
        write("unsound/expect.toml", "flow = 3");
        write("b/expect.toml", "flows = 3");
        write("deep/er/a.fozzy.json", "");
        write("deep/er/notes.md", "");
        write("c.wat", "");
        let mut found = SuiteEntries::new();
        named(&shown(folder.path()), &mut found).expect("some");
        let names = |found: &SuiteEntries| found.values().map(|one| (one.name.clone(), one.kind)).collect::<Vec<_>>();
        let all = [
            ("b", Kind::Crate),
            ("c", Kind::Program),
            ("a", Kind::Json),
            ("ring", Kind::Folder),
            ("unsound", Kind::Folder),
        ]
        .map(|(name, kind)| (name.to_owned(), kind));
        assert_eq!(names(&found), all);
        let mut found = SuiteEntries::new();
        fitting(&format!("{}/**/*", folder.path().display()), &mut found).expect("some");
        assert!(!names(&found).iter().any(|(name, _)| name == "x"), "{found:?}");
        let mut found = SuiteEntries::new();
        fitting(&format!("{}/target/*.wasm", folder.path().display()), &mut found).expect("it is named");
        assert_eq!(names(&found), [("x".to_owned(), Kind::Program)]);
        // Clusters: beside others, of a folder that is a part of it, and of one that has the clients.
        let clients = |path: &str| format!("[cluster]\nclients = \"{path}\"\n");
        write("b/plan.toml", &clients("../c.wat"));
        write("ring/plan.toml", &clients("."));
        write("deep/more.plan.toml", &clients("../c.wat"));
        write("deep/other.toml", "[cluster]\nfaults-until = \"1s\"\n");
        let mut found = SuiteEntries::new();
        named(&shown(folder.path()), &mut found).expect("some");
        let cluster = |name: &str| (name.to_owned(), Kind::Cluster);
        assert_eq!(names(&found)[..3], [cluster("b"), all[1].clone(), all[2].clone()]);
        assert_eq!(names(&found)[3..], [cluster("more"), all[3].clone(), all[4].clone()]);
        let mut found = SuiteEntries::new();
        named(&shown(&folder.path().join("deep/other.toml")), &mut found).expect("it says itself what is wrong");
        assert_eq!(names(&found), [cluster("other")]);
        let said = named(&shown(&folder.path().join("deep/none")), &mut found).expect_err("missing").message;
        assert!(said.ends_with("is neither a file nor a folder"), "{said}");
    }
}
