//! The targets of a project: everything that `fozzy test`, `fozzy fuzz` and `fozzy explore` take, found and built.
//!
//! ```text
//! what `fozzy test` selects ─ build, load ─┬─ steps, flows          explore      what does not build or load: not collected, an error
//!                                          ├─ fuzz targets, properties    fuzz, one target each
//!                                          ├─ a handler of requests       fuzz --http
//!                                          ├─ a program                   explore: schedules, messages, faults, random bytes
//!                                          └─ none of these               not collected: why, and no error
//! a plan that names its clients ─ these, under the plan, are the program
//! Cargo.toml with `cargo-fuzz = true` ───── each [[bin]]                  fuzz --cargo-fuzz
//! ```
//!
//! Invariants: what was found and cannot be searched is listed, with the reason; a program is executed only where nothing else says what can be
//! searched in it, and within a bound; the same project gives the same targets in the same order; the id of a target follows from what it is
//! called by, so that its records are found again.

use super::source_stamp::{is_cargo_fuzz, source_stamp};
use crate::build;
use crate::cluster_plan::{built_clients, clients, is_plan};
use crate::error::{CampaignError, ErrorKind};
use crate::explore::state::FLEET_NAME;
use crate::fuzz::cargo::CargoFuzz;
use crate::fuzz::kept_name::KeptName;
use crate::fuzz::open::{FUEL_OF_A_CALL, functions_at_rest};
use crate::inspection;
use crate::options::{RunRequest, WorldOptions};
use crate::pipeline::{LoadedTarget, PreparedProgram, RunPlan, load, plan};
use crate::project::Project;
use crate::remarks::Remarks;
use crate::selector::alike;
use crate::suite::entry::{Kind, SuiteEntry, shown};
use crate::suite::expect::flags;
use crate::suite::find::{manifest, programs_here, sources};
use crate::suite::select::{files, select};
use fozzy_engine::{Build, ExportedFunctions, PROGRAM_BYTES_MAX, Ports};
use fozzy_instrument::REWRITER_VERSION;
use fozzy_report::fleet::{NO_ENTRY, NOT_BUILT, NOT_UTF8, UNREADABLE};
use fozzy_report::shell_word;
use fozzy_trace::plan::HANDLER;
use fozzy_trace::{Digest, Seed};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Folders inside of each other in which cargo-fuzz folders are looked for.
const DEPTH_MAX: usize = 8;
/// Characters of a name that are in an id.
const ID_NAME_CHARS: usize = 60;

/// What is searched in a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetTargetKind {
    /// Its decisions: `fozzy explore`.
    Explore,
    /// A fuzz target.
    Fuzz(String),
    /// A property.
    Property(String),
    /// Its handler of requests.
    Http,
    /// A target of a cargo-fuzz folder.
    CargoFuzz(String),
}

/// One target.
#[derive(Clone, Debug)]
pub struct FleetTarget {
    /// What its records are kept by.
    pub id: String,
    /// Its name, for people and patterns: the path, and the function.
    pub name: String,
    /// What is searched.
    pub kind: FleetTargetKind,
    /// The file or the folder that was found.
    pub source: PathBuf,
    /// Whether the program is made from that, and not that itself.
    pub is_built: bool,
    /// The program's file.
    pub file: PathBuf,
    /// Its plan and what it judges, as flags.
    pub flags: Vec<String>,
    /// What was built when it was looked at last; what its sources looked like, where they could not be searched then; `None` where neither is
    /// known.
    pub build: Option<Digest>,
}

/// What was found, and is not searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncollectedTarget {
    /// The path.
    pub name: String,
    /// A word for why: `not-built`, `unreadable`, `no-entry`, `not-named`, `not-utf8`.
    pub reason: &'static str,
    /// The same for people.
    pub why: String,
}

/// All that was found.
#[derive(Clone, Debug, Default)]
pub struct FleetCollection {
    /// What is searched, by name.
    pub targets: Vec<FleetTarget>,
    /// What is not.
    pub uncollected: Vec<UncollectedTarget>,
    /// What the fleet that searches it has to say at the moment: that a disk is full, say.
    pub notes: Vec<String>,
}

/// What is looked for, and where.
#[derive(Clone, Debug, Default)]
pub struct FleetScope {
    /// The folder, or file; everything that `fozzy test` finds without one.
    pub root: Option<PathBuf>,
    /// Patterns of names, of which one must fit.
    pub only: Vec<String>,
    /// Patterns of names, of which none may fit.
    pub exclude: Vec<String>,
}

impl FleetScope {
    /// Finds, builds and looks at everything.
    ///
    /// # Errors
    /// When nothing is there, or no name fits.
    pub fn collect(&self, project: &Project) -> Result<FleetCollection, CampaignError> {
        self.collect_again(project, &mut KnownSources::default())
    }

    /// The same where something is known of an earlier look: what has not changed since is not built and looked at again.
    pub(super) fn collect_again(
        &self,
        project: &Project,
        known: &mut KnownSources,
    ) -> Result<FleetCollection, CampaignError> {
        let patterns = |texts: &[String]| texts.iter().map(|text| Pattern::new(text)).collect::<Result<Vec<_>, _>>();
        let (only, exclude) = (patterns(&self.only)?, patterns(&self.exclude)?);
        let mut found = FleetCollection::default();
        let root = self.root.as_deref().map(from_here);
        if let Some(unnamed) = root.as_deref().filter(|root| root.to_str().is_none()) {
            let UncollectedTarget { name, why, .. } = UncollectedTarget::without_text(unnamed);
            return Err(CampaignError::new(ErrorKind::Suite, format!("{name}: {why}")));
        }
        let folders = cargo_fuzz_folders(root.as_deref().unwrap_or(Path::new(".")));
        let words: Vec<String> = root.iter().map(|root| shown(root)).collect();
        let entries = match select(&words, None) {
            Ok(entries) => entries,
            // What was found before and is there still is not gone since something else cannot be listed at the moment. And only that
            // nothing is found has a hint: a folder that cannot be listed, or a broken file of suites, is no such thing.
            Err(error) if folders.is_empty() || known.is_there() || error.hint.is_none() => {
                return Err(self.hinted(error));
            }
            Err(_) => Vec::new(),
        };
        let mut paths: BTreeMap<PathBuf, SuiteEntry> = BTreeMap::new();
        for entry in entries.into_iter().filter(|entry| !folders.contains(&entry.path)) {
            paths.entry(entry.path.clone()).or_insert(entry);
        }
        let used: BTreeSet<PathBuf> = paths.values().flat_map(files).collect();
        let fits = |name: &str| {
            (only.is_empty() || only.iter().any(|pattern| pattern.fits(name)))
                && !exclude.iter().any(|pattern| pattern.fits(name))
        };
        // What can be told by the path alone is not built; of programs it may be the name of a function that fits, and of scenario files not.
        let could_fit = |path: &Path| {
            let name = shown(path);
            !exclude.iter().any(|pattern| pattern.fits(&name))
                && (only.is_empty() || only.iter().any(|pattern| pattern.could_fit(&name)))
        };
        let (mut skipped, mut seen) = (0, KnownSources::default());
        for (path, entry) in paths {
            if path.to_str().is_none() {
                found.uncollected.push(UncollectedTarget::without_text(&path));
                continue;
            }
            let is_wanted = match entry.kind {
                Kind::Json => fits(&shown(&path)),
                Kind::Crate | Kind::Folder | Kind::Cluster | Kind::Program => could_fit(&path),
            };
            if is_wanted {
                let flags = flags_of(&entry);
                let stamp = source_stamp(&path, flags.as_deref().unwrap_or_default());
                let said = flags.as_ref().map_or_else(CampaignError::to_string, |flags| flags.join("\0"));
                let stamp = Digest::of(format!("{stamp}\0{said}").as_bytes());
                let known = known.0.remove(&shown(&path));
                found.add(seen.keep(shown(&path), known, stamp, || entry_targets(project, &entry, flags)));
            } else {
                skipped += 1;
            }
        }
        for folder in &folders {
            if folder.to_str().is_none() {
                found.uncollected.push(UncollectedTarget::without_text(folder));
                continue;
            }
            let stamp = source_stamp(folder, &[]);
            for name in binaries(folder) {
                let key = format!("{} {name}", shown(folder));
                // So its target is called.
                if !fits(&key) {
                    skipped += 1;
                    continue;
                }
                let known = known.0.remove(&key);
                found.add(seen.keep(key, known, stamp, || cargo_fuzz_target(folder, name, &project.remarks)));
            }
        }
        *known = seen;
        if root.is_none() {
            found.add_unnamed(used);
        }
        let all = found.targets.len() + found.uncollected.len() + skipped;
        found.targets.retain(|target| fits(&target.name));
        found.uncollected.retain(|row| fits(&row.name));
        found.targets.sort_by(|left, right| left.name.cmp(&right.name));
        found.uncollected.sort_by(|left, right| left.name.cmp(&right.name));
        if found.targets.is_empty() && found.uncollected.is_empty() {
            let flag = if self.only.is_empty() { "--exclude" } else { "--only" };
            let words = if self.only.is_empty() { &self.exclude } else { &self.only };
            let message = format!("{flag} {}: of what was found ({all}), nothing is left", words.join(", "));
            return Err(CampaignError::new(ErrorKind::Suite, message).hint(
                "`fozzy fleet --collect` lists the names; a pattern fits a part of one, or all of it with * and ?",
            ));
        }
        Ok(found)
    }

    /// The error of who found nothing, which `fozzy test` has, too, with what to do about it here.
    fn hinted(&self, error: CampaignError) -> CampaignError {
        match &self.root {
            _ if error.hint.is_none() => error,
            Some(root) if root.exists() => error,
            Some(root) => error.hint(match alike(&shown(root), &[]) {
                Some(alike) => format!("did you mean `fozzy fleet {}`?", shell_word(&alike)),
                None => "name a folder or a file with tests: fozzy fleet scenarios".to_owned(),
            }),
            None => error.hint(
                "name a folder or a file with tests: fozzy fleet scenarios; or begin with one: fozzy init app --template rust",
            ),
        }
    }
}

impl UncollectedTarget {
    /// One whose path is no text. It is known, to the store and to commands, by a text.
    fn without_text(path: &Path) -> UncollectedTarget {
        let why = "its name is not UTF-8, so that no command can name it: rename it, or its folder";
        UncollectedTarget { name: shown(path), reason: NOT_UTF8, why: why.to_owned() }
    }
}

/// A pattern of names: a part of one, or with `*`, `?` and `[…]` all of it.
struct Pattern {
    part: String,
    whole: Option<glob::Pattern>,
}

impl Pattern {
    fn new(text: &str) -> Result<Pattern, CampaignError> {
        let is_glob = text.contains(['*', '?', '[']);
        let refused = |error| CampaignError::new(ErrorKind::Usage, format!("the pattern {text}: {error}"));
        let whole = is_glob.then(|| glob::Pattern::new(text).map_err(refused)).transpose()?;
        Ok(Pattern { part: text.to_owned(), whole })
    }

    fn fits(&self, name: &str) -> bool {
        self.whole.as_ref().map_or_else(|| name.contains(&self.part), |whole| whole.matches(name))
    }

    /// Whether something of this path may fit, which has functions behind its name.
    fn could_fit(&self, path: &str) -> bool {
        self.fits(path)
            || self.whole.is_some()
            || self.part.contains([' ', ':'])
            || !path.contains(['/', '.'])
            || self.part.chars().all(|c| c.is_alphanumeric() || c == '_')
    }
}

impl FleetCollection {
    fn add(&mut self, found: SourceTargets) {
        match found {
            Ok(targets) => self.targets.extend(targets),
            Err(row) => self.uncollected.push(row),
        }
    }

    /// Programs in this folder that are no tests, since scenarios are: they would be left out without anybody's knowing. Those that are part of
    /// a scenario are `used`.
    fn add_unnamed(&mut self, mut used: BTreeSet<PathBuf>) {
        let named = |target: &FleetTarget| {
            let files = target.flags.iter().map(PathBuf::from).chain([target.file.clone()]);
            files.filter_map(|path| path.canonicalize().ok()).collect::<Vec<PathBuf>>()
        };
        used.extend(self.targets.iter().flat_map(named));
        for path in programs_here() {
            if path.canonicalize().is_ok_and(|path| used.contains(&path)) {
                continue;
            }
            let name = shown(&tidy(&path));
            let why =
                format!("beside scenarios, a program is a test if it is named: fozzy fleet {}", shell_word(&name));
            self.uncollected.push(UncollectedTarget { name, reason: "not-named", why });
        }
    }
}

/// What is at one path: its targets, or why it has none.
type SourceTargets = Result<Vec<FleetTarget>, UncollectedTarget>;

/// What is at each path, and what it looked like then; by the path, and of a cargo-fuzz folder by that and the name.
#[derive(Debug, Default)]
pub(super) struct KnownSources(BTreeMap<String, (Digest, SourceTargets)>);

impl KnownSources {
    /// Whether something of it is there; targets of cargo-fuzz folders, whose keys are no paths, do not count.
    fn is_there(&self) -> bool {
        self.0.keys().any(|path| Path::new(path).exists())
    }

    /// What is there now: the same as at the last look, if it looks the same. Targets whose code of today cannot be searched stay: the next slice
    /// says why, and their failures are not forgotten over a half-written file.
    fn keep(
        &mut self,
        key: String,
        known: Option<(Digest, SourceTargets)>,
        stamp: Digest,
        look: impl FnOnce() -> SourceTargets,
    ) -> SourceTargets {
        let found = match known {
            Some((then, known)) if then == stamp => known,
            Some((_, Ok(targets))) => Ok(look().unwrap_or_else(|_| {
                // Nothing has been run of what is there now.
                let unbuilt = |target| FleetTarget { build: Some(stamp), ..target };
                targets.into_iter().map(unbuilt).collect()
            })),
            _ => look(),
        };
        self.0.insert(key, (stamp, found.clone()));
        found
    }
}

/// What `fozzy test` would run it with.
fn flags_of(entry: &SuiteEntry) -> Result<Vec<String>, CampaignError> {
    let flags = flags(entry)?;
    let Some(plan) = &entry.given.plan else { return Ok(flags) };
    let others = flags.chunks(2).filter(|flag| flag[0] != "--plan").flatten().cloned();
    Ok(["--plan".to_owned(), shown(plan)].into_iter().chain(others).collect())
}

/// Why what was found is not searched: the word, and the error.
struct EntryRefusal {
    reason: &'static str,
    error: CampaignError,
}

impl EntryRefusal {
    /// What is refused with this word.
    fn of(reason: &'static str) -> impl Fn(CampaignError) -> EntryRefusal {
        move |error| EntryRefusal { reason, error }
    }
}

impl From<CampaignError> for EntryRefusal {
    /// Where nothing else is said, something cannot be read.
    fn from(error: CampaignError) -> EntryRefusal {
        EntryRefusal { reason: UNREADABLE, error }
    }
}

/// The targets of what `fozzy test` would run.
fn entry_targets(project: &Project, entry: &SuiteEntry, flags: Result<Vec<String>, CampaignError>) -> SourceTargets {
    let path = &entry.path;
    project.remarks.live(&format!("looking at {}", shown(path)));
    searched_in(project, entry, flags).map_err(|EntryRefusal { reason, error }| UncollectedTarget {
        name: shown(path),
        reason,
        why: error.to_string(),
    })
}

/// The same, or why it has none.
fn searched_in(
    project: &Project,
    entry: &SuiteEntry,
    flags: Result<Vec<String>, CampaignError>,
) -> Result<Vec<FleetTarget>, EntryRefusal> {
    let SuiteEntry { path, kind, .. } = entry;
    let is_built = matches!(kind, Kind::Crate | Kind::Folder | Kind::Cluster);
    let file = match kind {
        Kind::Crate => build::build(path, &project.remarks).map_err(|error| {
            // Nothing is wrong with it: it is a library.
            let reason = if error.kind == ErrorKind::Target { NO_ENTRY } else { NOT_BUILT };
            EntryRefusal { reason, error }
        })?,
        Kind::Folder => build::build(path, &project.remarks).map_err(EntryRefusal::of(NOT_BUILT))?,
        Kind::Cluster => {
            clients(path)?;
            built_clients(path, &project.remarks).map_err(EntryRefusal::of(NOT_BUILT))?
        }
        Kind::Program | Kind::Json => {
            check_file(path)?;
            path.clone()
        }
    };
    let loaded = load(&file, &project.remarks).map_err(|error| {
        let reason = if is_core_library(&file) { NO_ENTRY } else { UNREADABLE };
        EntryRefusal { reason, error }
    })?;
    let flags = flags?;
    let (kinds, build) = kinds(project, &loaded, &flags)?;
    let target = |kind| FleetTarget {
        build: Some(build),
        ..FleetTarget::new(kind, (path.clone(), is_built), file.clone(), flags.clone())
    };
    Ok(kinds.into_iter().map(target).collect())
}

/// A target of a cargo-fuzz folder.
fn cargo_fuzz_target(folder: &Path, name: String, remarks: &Remarks) -> SourceTargets {
    match CargoFuzz::new(folder, Path::new(&name)).and_then(|target| target.build(remarks)) {
        Ok(file) => {
            let kind = FleetTargetKind::CargoFuzz(name);
            // What cannot be loaded has its first slice say why.
            let build = load(&file, remarks).ok().map(|loaded| build_of(&loaded, &[], None));
            Ok(vec![FleetTarget { build, ..FleetTarget::new(kind, (folder.to_owned(), true), file, Vec::new()) }])
        }
        Err(error) => {
            let name = format!("{} {name}", shown(folder));
            Err(UncollectedTarget { name, reason: NOT_BUILT, why: error.to_string() })
        }
    }
}

/// Whether what is to be read as a program or a scenario is a file: opening a pipe waits for somebody who writes.
fn check_file(path: &Path) -> Result<(), CampaignError> {
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            let message = format!("{}: expected a file, found a pipe, a socket or a device", shown(path));
            Err(CampaignError::new(ErrorKind::Target, message))
        }
        // Who reads it says what is wrong.
        _ => Ok(()),
    }
}

/// What can be searched in a program, and its build.
fn kinds(
    project: &Project,
    loaded: &LoadedTarget,
    flags: &[String],
) -> Result<(Vec<FleetTargetKind>, Digest), EntryRefusal> {
    if loaded.scenario.is_some() {
        return Ok((vec![FleetTargetKind::Explore], build_of(loaded, flags, None)));
    }
    // Where it has to be asked, it has what a call of a campaign has for that.
    let planned = planned(project, loaded, flags, Some(FUEL_OF_A_CALL))?;
    let build = build_of(loaded, flags, Some(&planned));
    // A search has no real computer: a test of that is one of `fozzy test` only.
    planned.check_simulated().map_err(EntryRefusal::of(NO_ENTRY))?;
    if planned.plan.target().is_some() {
        return Ok((vec![FleetTargetKind::Explore], build));
    }
    let prepared = PreparedProgram::to_call(loaded.clone(), planned, &Build::default()).map_err(|error| {
        let reason = if is_library(&loaded.component) { NO_ENTRY } else { UNREADABLE };
        EntryRefusal { reason, error }
    })?;
    let functions = functions_at_rest(&prepared, Seed(0))?;
    let ExportedFunctions { fuzz, properties, runs, handles, is_stateful, .. } = &functions;
    let mut kinds: Vec<FleetTargetKind> = fuzz.iter().cloned().map(FleetTargetKind::Fuzz).collect();
    kinds.extend(properties.iter().cloned().map(FleetTargetKind::Property));
    kinds.extend(is_stateful.then_some(FleetTargetKind::Explore));
    if kinds.is_empty() {
        kinds.extend(handles.then_some(FleetTargetKind::Http));
        kinds.extend(runs.then_some(FleetTargetKind::Explore));
    }
    if kinds.is_empty() {
        let exports = match functions.exports.as_slice() {
            [] => "no exports".to_owned(),
            exports => exports.join(", "),
        };
        let what = "has neither flows, fuzz targets, properties, a handler of requests nor `wasi:cli/run`";
        let message = format!("{} {what}: found {exports}", loaded.target.name);
        return Err(EntryRefusal { reason: NO_ENTRY, error: CampaignError::new(ErrorKind::Target, message) });
    }
    Ok((kinds, build))
}

/// Whether a file that cannot be loaded is a sound core module without an entry.
fn is_core_library(file: &Path) -> bool {
    let is_small = |file: &std::fs::Metadata| file.is_file() && file.len() <= PROGRAM_BYTES_MAX as u64;
    let bytes = std::fs::metadata(file).ok().filter(is_small).and_then(|_| std::fs::read(file).ok());
    bytes.is_some_and(|bytes| fozzy_engine::load(&bytes, None).is_err_and(|error| error.is_of_library()))
}

/// Whether a component exports nothing that is searched: what it imports may come from others that are linked with it.
fn is_library(component: &[u8]) -> bool {
    Ports::of(component).is_ok_and(|ports| inspection::fits(&ports).iter().all(|role| role == inspection::REACTOR))
}

/// The build of a program under its plan: of it, of what its flags name, and of the plan's other machines. What one version of the rewriter
/// counts as covered is nothing to another.
pub(super) fn build_of(loaded: &LoadedTarget, flags: &[String], planned: Option<&RunPlan>) -> Digest {
    let mut parts = loaded.target.source.to_string();
    for file in flags.chunks(2).filter_map(|flag| std::fs::read(flag.get(1)?).ok()) {
        parts.push_str(&Digest::of(&file).to_string());
    }
    for machine in planned.iter().flat_map(|planned| &planned.plan.nodes) {
        parts.push_str(&machine.program.component.to_string());
    }
    parts.push_str(&format!("rewriter {REWRITER_VERSION}"));
    Digest::of(parts.as_bytes())
}

/// The plan of a program under these flags; other programs that it names are built.
fn planned(
    project: &Project,
    loaded: &LoadedTarget,
    flags: &[String],
    fuel_default: Option<u64>,
) -> Result<RunPlan, CampaignError> {
    let value = |name: &str| flags.chunks(2).find(|flag| flag[0] == name).map(|flag| PathBuf::from(&flag[1]));
    let world = WorldOptions { plan: value("--plan"), judged: value("--target"), ..WorldOptions::default() };
    plan(project, loaded, &RunRequest { world, fuel_default, ..RunRequest::default() })
}

impl FleetTarget {
    fn new(
        kind: FleetTargetKind,
        (source, is_built): (PathBuf, bool),
        file: PathBuf,
        flags: Vec<String>,
    ) -> FleetTarget {
        let path = shown(&source);
        let name = match &kind {
            FleetTargetKind::Explore => path,
            FleetTargetKind::Fuzz(function) | FleetTargetKind::CargoFuzz(function) => format!("{path} {function}"),
            FleetTargetKind::Property(function) => format!("{path} {function}()"),
            FleetTargetKind::Http => format!("{path} http"),
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let last: String = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let short: String = last.chars().map(plain).take(ID_NAME_CHARS).collect();
        let id = format!("{}-{}", short.trim_matches('-'), &Digest::of(name.as_bytes()).short()[..8]);
        FleetTarget { id, name, kind, source, is_built, file, flags, build: None }
    }

    /// The words of the command that searches it.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let file = shown(&self.file);
        let words: Vec<&str> = match &self.kind {
            FleetTargetKind::Explore => vec!["explore", &file],
            FleetTargetKind::Fuzz(function) => vec!["fuzz", &file, function, "--mode", "coverage"],
            FleetTargetKind::Property(function) => vec!["fuzz", &file, function, "--mode", "property"],
            FleetTargetKind::Http => vec!["fuzz", &file, "--http"],
            FleetTargetKind::CargoFuzz(name) => {
                return ["fuzz".into(), name.clone(), "--cargo-fuzz".into(), shown(&self.source)].into();
            }
        };
        words.into_iter().map(str::to_owned).chain(self.flags.iter().cloned()).collect()
    }

    /// Where its campaigns keep their corpus, of a project that keeps its things in `base_dir`; `None` of explorations. It has the name from here
    /// on.
    #[must_use]
    pub fn corpus(&self, base_dir: &Path) -> Option<PathBuf> {
        self.named_corpus(base_dir, KeptName::corpus)
    }

    /// The same, for who only looks.
    #[must_use]
    pub fn corpus_path(&self, base_dir: &Path) -> Option<PathBuf> {
        self.named_corpus(base_dir, KeptName::corpus_path)
    }

    /// Where the state of its exploration is kept from one slice to the next.
    #[must_use]
    pub fn state_path(&self, base_dir: &Path) -> PathBuf {
        base_dir.join("explore").join("fleet").join(format!("{}.{FLEET_NAME}.json", self.id))
    }

    /// Where the standard error of its last slice is kept.
    #[must_use]
    pub fn log_path(&self, base_dir: &Path) -> PathBuf {
        base_dir.join("fleet-logs").join(format!("{}.log", self.id))
    }

    fn named_corpus(&self, base_dir: &Path, path: fn(&KeptName, &str) -> PathBuf) -> Option<PathBuf> {
        let of = |function: &str| path(&KeptName::of_file(base_dir, &self.file), function);
        match &self.kind {
            FleetTargetKind::Fuzz(function) | FleetTargetKind::Property(function) => Some(of(function)),
            FleetTargetKind::Http => Some(of(HANDLER)),
            FleetTargetKind::CargoFuzz(name) => Some(CargoFuzz::new(&self.source, Path::new(name)).ok()?.corpus()),
            FleetTargetKind::Explore => None,
        }
    }

    /// Builds it anew, where it is built.
    ///
    /// # Errors
    /// Those of the build.
    pub fn rebuild(&self, remarks: &Remarks) -> Result<PathBuf, CampaignError> {
        match &self.kind {
            FleetTargetKind::CargoFuzz(name) => CargoFuzz::new(&self.source, Path::new(name))?.build(remarks),
            _ if self.is_built && is_plan(&self.source) => built_clients(&self.source, remarks),
            _ if self.is_built => build::build(&self.source, remarks),
            _ => Ok(self.file.clone()),
        }
    }

    /// Its plan of today, as the command that searches it makes it; `None` of a scenario file, which says itself what it expects, and of a target
    /// of a cargo-fuzz folder, which has none.
    ///
    /// # Errors
    /// Those of the plan.
    pub(super) fn plan_of_today(
        &self,
        project: &Project,
        loaded: &LoadedTarget,
    ) -> Result<Option<RunPlan>, CampaignError> {
        if loaded.scenario.is_some() || matches!(self.kind, FleetTargetKind::CargoFuzz(_)) {
            return Ok(None);
        }
        let is_fuzzed = !matches!(self.kind, FleetTargetKind::Explore);
        planned(project, loaded, &self.flags, is_fuzzed.then_some(FUEL_OF_A_CALL)).map(Some)
    }

    /// What tells, at little cost, that it may have changed.
    #[must_use]
    pub fn source_stamp(&self) -> Digest {
        source_stamp(&self.source, &self.flags)
    }
}

#[cfg(test)]
impl FleetTarget {
    /// The target of tests: `app.wasm`, searched in this way, without flags.
    pub(super) fn app(kind: FleetTargetKind) -> FleetTarget {
        FleetTarget {
            id: "app-1".to_owned(),
            name: "app.wasm".to_owned(),
            kind,
            source: "app.wasm".into(),
            is_built: false,
            file: "app.wasm".into(),
            flags: Vec::new(),
            build: None,
        }
    }
}

/// The cargo-fuzz folders at and below a folder, by path.
fn cargo_fuzz_folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = rest.pop() {
        if manifest(&folder).is_some_and(|manifest| is_cargo_fuzz(&manifest)) {
            found.push(tidy(&folder));
            continue;
        }
        let inside =
            sources(&folder).unwrap_or_default().into_iter().filter(|(_, of)| of.is_dir() && depth < DEPTH_MAX);
        rest.extend(inside.map(|(path, _)| (path, depth + 1)));
    }
    found.sort();
    found
}

/// A path below this folder, from here, however it was said: a target is known by its path.
fn from_here(path: &Path) -> PathBuf {
    let whole = |path: &Path| path.canonicalize().ok();
    let below = match path.is_absolute() {
        true => whole(path)
            .zip(whole(Path::new(".")))
            .and_then(|(path, here)| Some(path.strip_prefix(here).ok()?.to_owned())),
        false => None,
    };
    below.map_or_else(|| path.to_owned(), |below| tidy(&below))
}

fn tidy(path: &Path) -> PathBuf {
    let parts: PathBuf = path.components().filter(|part| *part != std::path::Component::CurDir).collect();
    if parts.as_os_str().is_empty() { PathBuf::from(".") } else { parts }
}

/// The names of the targets of a cargo-fuzz folder.
fn binaries(folder: &Path) -> Vec<String> {
    let manifest = manifest(folder).unwrap_or_default();
    let all = manifest.get("bin").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let mut names: Vec<String> = all.iter().filter_map(|bin| Some(bin.get("name")?.as_str()?.to_owned())).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn ids_are_plain_told_apart_and_stay() {
        let target = |path: &str, kind| FleetTarget::new(kind, (path.into(), false), path.into(), Vec::new());
        let bank = target("scenarios/Bank of <b>.wasm", FleetTargetKind::Explore);
        assert_eq!((bank.name.as_str(), &bank.id[..17]), ("scenarios/Bank of <b>.wasm", "bank-of--b-f7392f"));
        let ids = [
            target("a/x.wasm", FleetTargetKind::Fuzz("f".into())).id,
            target("b/x.wasm", FleetTargetKind::Fuzz("f".into())).id,
            target("a/x.wasm", FleetTargetKind::Property("f".into())).id,
            target("a/x.wasm", FleetTargetKind::Explore).id,
        ];
        assert!((1..4).all(|at| !ids[..at].contains(&ids[at])), "{ids:?}");
        let words = target("a/x.wasm", FleetTargetKind::Property("f".into())).words();
        assert_eq!(words, ["fuzz", "a/x.wasm", "f", "--mode", "property"]);
    }

    #[test]
    fn what_looks_the_same_is_as_it_was_and_code_that_does_not_build_takes_no_target_away() {
        let found = || -> SourceTargets {
            let (kind, file) = (FleetTargetKind::Explore, PathBuf::from("a.wasm"));
            Ok(vec![FleetTarget::new(kind, (file.clone(), false), file, Vec::new())])
        };
        let refused = || -> SourceTargets {
            Err(UncollectedTarget { name: "a.wasm".to_owned(), reason: "not-built", why: "torn".to_owned() })
        };
        let counts = |found: SourceTargets| found.map(|targets| targets.len()).map_err(|row| row.reason);
        let (then, now) = (Digest::of(b"then"), Digest::of(b"now"));
        let mut seen = KnownSources::default();
        assert_eq!(counts(seen.keep("a".to_owned(), None, then, refused)), Err("not-built"));
        let known = seen.0.remove("a");
        assert_eq!(counts(seen.keep("a".to_owned(), known, then, found)), Err("not-built"), "nothing has changed");
        let known = seen.0.remove("a");
        assert_eq!(counts(seen.keep("a".to_owned(), known, now, found)), Ok(1));
        let known = seen.0.remove("a");
        let kept = seen.keep("a".to_owned(), known, then, refused);
        assert_eq!(counts(kept.clone()), Ok(1), "it is to say why itself");
        let builds: Vec<_> = kept.into_iter().flatten().map(|target| target.build).collect();
        assert_eq!(builds, [Some(then)], "no run is of what is there now");
        assert!(!seen.is_there());
        let here = tempfile::tempdir().expect("a folder");
        seen.0.insert(shown(here.path()), (now, refused()));
        assert!(seen.is_there());
    }

    /// As a file system of Linux has it.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_has_no_text_for_a_name_is_not_collected_and_says_so() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfebad.wat"));
        fs::write(&path, "(module)").expect("written");
        let project = Project {
            config: crate::config::Config::default(),
            backends: crate::options::BackendOptions::default(),
            keep_passing: false,
            remarks: Remarks::to(|_| ()),
        };
        let of = |root: &Path| FleetScope { root: Some(root.to_owned()), ..FleetScope::default() }.collect(&project);
        let found = of(folder.path()).expect("it is listed");
        let [row] = &found.uncollected[..] else { panic!("{found:?}") };
        assert!(found.targets.is_empty() && row.reason == NOT_UTF8 && row.why.contains("is not UTF-8"), "{row:?}");
        assert!(of(&path).is_err_and(|error| error.message.contains("is not UTF-8")));
    }

    #[test]
    fn a_file_of_suites_that_names_what_is_not_there_is_an_error_also_beside_a_cargo_fuzz_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Project {
            config: crate::config::Config::default(),
            backends: crate::options::BackendOptions::default(),
            keep_passing: false,
            remarks: Remarks::none(),
        };
        fs::create_dir(folder.path().join("fuzz")).expect("made");
        let manifest = "[package]\nname = \"f\"\n[package.metadata]\ncargo-fuzz = true\n";
        fs::write(folder.path().join("fuzz/Cargo.toml"), manifest).expect("written");
        let suites = r#"{"version": 1, "name": "all", "suites": [{"name": "kv", "scenarios": ["gone.fozzy.json"]}]}"#;
        fs::write(folder.path().join("all.fozzy.json"), suites).expect("written");
        let scope = FleetScope { root: Some(folder.path().to_owned()), ..FleetScope::default() };
        let error = scope.collect(&project).expect_err("it is not there");
        assert!(error.message.contains("suite `kv`"), "{error}");
    }

    #[test]
    fn a_pattern_is_a_part_of_a_name_or_with_stars_all_of_it() {
        let fits = |pattern: &str, name: &str| Pattern::new(pattern).expect("sound").fits(name);
        assert!(fits("bank", "scenarios/bank/x f") && !fits("till", "scenarios/bank"));
        assert!(fits("*/bank*", "scenarios/bank/x f") && !fits("bank*", "scenarios/bank"));
        assert!(Pattern::new("[").is_err_and(|error| error.message.contains("the pattern [")));
    }

    #[test]
    fn cargo_fuzz_folders_are_found_by_what_their_manifest_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        let manifest = "[package]\nname = \"f\"\n[package.metadata]\ncargo-fuzz = true\n[[bin]]\nname = \"z\"\n[[bin]]\nname = \"a\"\n";
        write("lib/fuzz/Cargo.toml", manifest);
        write("target/fuzz/Cargo.toml", manifest);
        write("lib/Cargo.toml", "[package]\nname = \"lib\"");
        write("torn/Cargo.toml", "[package");
        let found = cargo_fuzz_folders(folder.path());
        assert_eq!(found, [folder.path().join("lib/fuzz")]);
        assert_eq!(binaries(&found[0]), ["a", "z"]);
    }
}
