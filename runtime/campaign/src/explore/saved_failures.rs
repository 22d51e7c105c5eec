//! Failures that explorations have found, kept in the project, and how they stand today.
//!
//! ```text
//! .fozzy/seeds/bank/seed-5e1f0c22a9d4.fozzy     named by its content, one a failure signature
//!                   seed-5e1f0c22a9d4.plan      the plan file that it was found under, if there was one
//!                   seed-77ab3c0912de.min.fozzy the same, made as small as it gets; without `.min` it may become smaller
//!                   target                      what was explored, for `fozzy seeds`
//!                   program                     the place of the program that this folder is of (`program_place`)
//! ```
//!
//! Invariants: a kept failure is an ordinary trace; it is only deleted when that was asked for, and only one that is fixed, or when a
//! smaller one of the same failure takes its place; two programs of one file name have a folder each. A folder of an older version has no
//! `program`: it belongs to what its `target` is.
//! Not here: `regressions/`, which belong to a suite (`suite`); when a failure counts as fixed (`retrial`).

use super::other_program::other_program;
use super::regression_status::RegressionStatus;
use super::retrial::Retrial;
use crate::build;
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::explore::conditions::FailureConditions;
use crate::pipeline::{LoadedTarget, MachinesOfToday, PlanOfToday, RunPlan};
use crate::program_place::{ProgramPlace, project_root};
use crate::project::Project;
use crate::selector;
use fozzy_report::{SeedState, shell_path};
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::{Durability, write_atomic};
use fozzy_trace::{Digest, FailureSignature, Finding, Status};
use std::path::{Path, PathBuf};

/// The file that names what was explored.
const TARGET_FILE: &str = "target";
/// The file that says which program of this name a folder is of.
const PROGRAM_FILE: &str = "program";
/// What ends the name of a trace that is as small as it gets, and of one of which that is not known.
const MINIMAL_ENDING: &str = "min.fozzy";
const TRACE_ENDING: &str = "fozzy";
/// What ends the name of a file with the plan beside a trace.
const PLAN_ENDING: &str = "plan";
/// Bytes that a path in such a file may have.
const PATH_BYTES_MAX: u64 = 1 << 16;

/// The kept failures of one program.
pub struct SavedFailures {
    /// Where they are.
    pub folder: PathBuf,
    /// The project's folder, which paths in the files are below.
    root: Option<PathBuf>,
    /// The program; `None` where it is not needed.
    place: Option<ProgramPlace>,
}

/// A run of today that saved failures are tried beside.
pub struct RunOfToday<'a> {
    /// Its plan.
    pub planned: &'a RunPlan,
    /// The file that it was read from.
    pub plan_file: Option<&'a Path>,
}

/// A failure that an exploration has found, to be kept.
pub struct FoundFailure<'a> {
    /// Its smallest trace.
    pub trace: &'a Path,
    /// Whether that is as small as it gets.
    pub is_minimal: bool,
    /// What fails.
    pub signature: Option<&'a FailureSignature>,
    /// The trace of the kept failure of which it was made; none where it is of a run of this exploration.
    pub begun: Option<&'a Path>,
}

/// A kept failure, and how it stands.
pub struct SavedFailure {
    /// Its trace.
    pub path: PathBuf,
    /// What failed when it was kept.
    pub signature: Option<FailureSignature>,
    /// The same, as the file of today numbers its steps.
    signature_today: Option<FailureSignature>,
    /// What fails today, if that is another failure.
    otherwise: Option<FailureSignature>,
    /// The plan that its machines of today are of.
    plan_file: Option<PathBuf>,
    /// Whether that is still so.
    pub state: RegressionStatus,
    /// What it comes to today.
    pub status: Status,
    /// Under what it was found, where that is not what a run of today has: it is then no verdict on such a run.
    pub other_conditions: Option<String>,
    /// Why it says nothing any more, or what it was found under.
    pub note: Option<String>,
}

/// The failures of a program, and the files among them that are none.
#[derive(Default)]
pub struct SavedFailureList {
    /// Those that could be judged.
    pub failures: Vec<SavedFailure>,
    /// Those that are no sound traces.
    pub damaged: Vec<SeedState>,
}

impl SavedFailure {
    /// The failure as documents list it.
    pub fn document(&self) -> SeedState {
        let (path, signature) = (self.path.display().to_string(), self.signature.clone());
        let (shrunk, note) = (self.is_minimal(), self.note.clone());
        SeedState { path, signature, state: self.state.word().to_owned(), shrunk, note }
    }

    /// Whether it was made as small as it gets.
    pub fn is_minimal(&self) -> bool {
        self.path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&format!(".{MINIMAL_ENDING}")))
    }

    /// Whether it may become smaller, and is the failure of `found`, recorded of the same program.
    pub fn is_begun_of(&self, found: &Recording) -> bool {
        let is_alike = self.signature.is_some() && self.signature == found.outcome.verdict.signature;
        is_alike && self.other_conditions.is_none() && self.may_become_smaller() && self.has_program_of(found)
    }

    /// Whether it is still there, and not known to be as small as it gets.
    fn may_become_smaller(&self) -> bool {
        self.state == RegressionStatus::StillThere && !self.is_minimal()
    }

    /// Whether it was recorded of the program of `found`, by the same version of Fozzy.
    fn has_program_of(&self, found: &Recording) -> bool {
        let is_same = |kept: Recording| {
            kept.component == found.component
                && kept.target.source == found.target.source
                && kept.engine == found.engine
        };
        selector::read(&self.path).is_ok_and(is_same)
    }

    /// Whether it decides how a run of today ends.
    pub fn decides(&self) -> bool {
        self.state.is_failure() && self.other_conditions.is_none()
    }

    /// What fails today, or was kept.
    pub fn failure(&self) -> Option<&FailureSignature> {
        self.otherwise.as_ref().or(self.signature.as_ref())
    }

    /// It, as a finding of a run of `target`.
    pub fn finding(&self, target: &Path) -> Option<Finding> {
        let signature = self.failure()?;
        let title = match self.otherwise {
            None => format!("a saved failure is still there: {signature}"),
            Some(_) => format!("by the decisions of a saved failure, the program fails otherwise: {signature}"),
        };
        let (path, target) = (shell_path(&self.path), shell_path(target));
        let plan = self.plan_file.as_ref().map(|plan| format!(" --plan {}", shell_path(plan))).unwrap_or_default();
        let message = format!("{title}\n{}\nfozzy replay {path} --against {target}{plan}", self.path.display());
        Some(Finding {
            kind: signature.kind,
            title,
            message,
            location: None,
            backtrace: Vec::new(),
            peers: Vec::new(),
            related: Vec::new(),
        })
    }
}

impl SavedFailures {
    /// Those of the program in `file`.
    pub fn of(base_dir: &Path, file: &Path) -> SavedFailures {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let (folder, place) = (base_dir.join("seeds"), ProgramPlace::of(base_dir, file));
        let first = SavedFailures { folder: folder.join(&stem), root: project_root(base_dir), place: None };
        let folder = folder.join(place.key(&stem, first.owner(base_dir).as_deref()));
        SavedFailures { folder, place: Some(place), ..first }
    }

    /// Those of a program that was loaded; none can be kept of one that is no file.
    pub fn of_loaded(base_dir: &Path, loaded: &LoadedTarget) -> SavedFailures {
        SavedFailures::of(base_dir, loaded.file.as_deref().unwrap_or(Path::new(&loaded.target.name)))
    }

    /// All programs that have some.
    pub fn all(base_dir: &Path) -> Vec<SavedFailures> {
        let entries = std::fs::read_dir(base_dir.join("seeds")).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        let root = project_root(base_dir);
        folders.into_iter().map(|folder| SavedFailures { folder, root: root.clone(), place: None }).collect()
    }

    /// The place of the program that the folder is of, if it has one.
    fn owner(&self, base_dir: &Path) -> Option<String> {
        if let Ok(place) = std::fs::read_to_string(self.folder.join(PROGRAM_FILE)) {
            return Some(place.trim_end().to_owned());
        }
        let target = self.target().ok()?;
        let file = if target.is_dir() { build::built(&target).ok()? } else { target };
        file.is_file().then(|| ProgramPlace::of(base_dir, &file).as_str().to_owned())
    }

    /// The traces, by name.
    pub fn traces(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_trace = |path: &PathBuf| path.extension().is_some_and(|e| e == TRACE_ENDING) && path.is_file();
        let mut traces: Vec<PathBuf> = entries.filter(is_trace).collect();
        traces.sort();
        traces
    }

    /// What was explored when the last of them was kept.
    pub fn target(&self) -> Result<PathBuf, CampaignError> {
        let path = self.folder.join(TARGET_FILE);
        let text = std::fs::read_to_string(&path).map_err(|error| {
            at_path(ErrorKind::Seeds, "cannot read what was explored from", &path, &error).hint("fozzy seeds TARGET")
        })?;
        Ok(below(self.root.as_deref(), &text))
    }

    /// Tries all of them on the program of today and on the machines beside it, and beside a run of today, if there is one. One that is
    /// no sound trace is an error that names it.
    pub fn standings(
        &self,
        project: &Project,
        today: &LoadedTarget,
        run: Option<&RunOfToday<'_>>,
    ) -> Result<Vec<SavedFailure>, CampaignError> {
        let standings =
            self.traces().into_iter().filter_map(|path| match standing(project, path.clone(), today, run) {
                // Another exploration has kept a smaller one instead.
                Err(_) if !path.exists() => None,
                standing => Some(standing),
            });
        standings.collect()
    }

    /// How each of them stands with the program of today, or without it, and why it cannot be had. One that is no sound trace is listed as
    /// damaged, after the others.
    pub fn listed(&self, project: &Project, today: Result<&LoadedTarget, &CampaignError>) -> SavedFailureList {
        let mut list = SavedFailureList::default();
        for path in self.traces() {
            let judged = match today {
                Ok(today) => standing(project, path.clone(), today, None),
                Err(why) => SavedFailures::of_lost_program(path.clone(), why),
            };
            match judged {
                Ok(failure) => list.failures.push(failure),
                Err(_) if !path.exists() => {}
                Err(error) => list.damaged.push(SeedState {
                    path: path.display().to_string(),
                    signature: None,
                    state: "damaged".to_owned(),
                    shrunk: false,
                    note: Some(error.message),
                }),
            }
        }
        list
    }

    /// One of them, when the program that they were found in cannot be had any more, and why.
    fn of_lost_program(path: PathBuf, why: &CampaignError) -> Result<SavedFailure, CampaignError> {
        let signature = selector::read(&path)?.outcome.verdict.signature;
        Ok(SavedFailure {
            path,
            signature_today: signature.clone(),
            signature,
            otherwise: None,
            plan_file: None,
            state: RegressionStatus::Stale,
            status: Status::Pass,
            other_conditions: None,
            note: Some(why.message.clone()),
        })
    }

    /// Keeps a failure that was found in `target` under a plan file, unless one of its signature is there. Of one that is still there and
    /// may become smaller it takes the place, in `known` too, if it is as small as it gets, or was made of that one, or that one is of
    /// another program.
    pub fn keep(
        &self,
        found: &FoundFailure<'_>,
        known: &mut [SavedFailure],
        (target, plan): (&Path, Option<&Path>),
    ) -> Result<(), CampaignError> {
        let FoundFailure { trace, is_minimal, signature, begun } = *found;
        let is_known = |standing: &SavedFailure| {
            let is_of_today = standing.state != RegressionStatus::Stale && standing.other_conditions.is_none();
            is_of_today && standing.signature_today.as_ref() == signature
        };
        let path = |path: &Path| format!("{}\n", self.written(path)).into_bytes();
        let may_replace = |standing: &SavedFailure| {
            let is_made_of_it = begun == Some(standing.path.as_path());
            let is_outdated = || selector::read(trace).is_ok_and(|found| !standing.has_program_of(&found));
            standing.may_become_smaller() && (is_minimal || is_made_of_it || is_outdated())
        };
        let (mut files, mut kept_at) = (Vec::new(), None);
        let (known, replaced) = match known.iter_mut().find(|standing| is_known(standing)) {
            Some(standing) if may_replace(standing) => (None, Some(standing)),
            known => (known, None),
        };
        if let Some(known) = known {
            // One of an older version does not know its plan.
            let file = known.path.with_extension(PLAN_ENDING);
            files.extend(plan.filter(|_| !file.exists()).map(|plan| (file, path(plan))));
        } else {
            let bytes =
                std::fs::read(trace).map_err(|error| at_path(ErrorKind::Seeds, "cannot read", trace, &error))?;
            let (ending, digest) = (if is_minimal { MINIMAL_ENDING } else { TRACE_ENDING }, Digest::of(&bytes).short());
            let trace = self.folder.join(format!("seed-{digest}.{ending}"));
            if replaced.as_ref().is_some_and(|replaced| replaced.path == trace) {
                return Ok(());
            }
            kept_at = Some(trace.clone());
            files.extend(plan.map(|plan| (trace.with_extension(PLAN_ENDING), path(plan))));
            files.push((trace, bytes));
            files.push((self.folder.join(TARGET_FILE), path(target)));
            let place = self.place.as_ref().map(|place| format!("{}\n", place.as_str()).into_bytes());
            files.extend(place.map(|place| (self.folder.join(PROGRAM_FILE), place)));
            std::fs::create_dir_all(&self.folder)
                .map_err(|error| at_path(ErrorKind::Seeds, "cannot make", &self.folder, &error))?;
        }
        for (path, bytes) in files {
            write_atomic(&path, &bytes, Durability::Synced)
                .map_err(|error| at_path(ErrorKind::Seeds, "cannot write", &path, &error))?;
        }
        if let (Some(replaced), Some(path)) = (replaced, kept_at) {
            replaced.remove()?;
            replaced.path = path;
        }
        Ok(())
    }

    /// A path as the files have it: below the project where it is there, so that the project can be moved.
    fn written(&self, path: &Path) -> String {
        let whole = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned());
        let root = self.root.as_deref();
        match root.and_then(|root| whole.strip_prefix(root).ok()).filter(|rest| !rest.as_os_str().is_empty()) {
            Some(rest) => rest.display().to_string(),
            None => whole.display().to_string(),
        }
    }
}

impl SavedFailure {
    /// Removes it, and what stands beside it. What is gone already, as another exploration has replaced it, is no error.
    pub fn remove(&self) -> Result<(), CampaignError> {
        for path in [&self.path, &self.path.with_extension(PLAN_ENDING)] {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(at_path(ErrorKind::Seeds, "cannot remove", path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The path in a file: as it stands there, or below the project.
fn below(root: Option<&Path>, text: &str) -> PathBuf {
    let path = Path::new(text.trim_end());
    root.map_or_else(|| path.to_owned(), |root| root.join(path))
}

/// The plan file under which a saved failure was found, if one is remembered and still there.
pub fn plan_of(project: &Project, trace: &Path) -> Option<PathBuf> {
    plan_below(&project.config.base_dir, trace)
}

/// The same, of the project that keeps its things in `base_dir`.
pub(crate) fn plan_below(base_dir: &Path, trace: &Path) -> Option<PathBuf> {
    // Beside any other trace it is a file of the user.
    let seeds = base_dir.join("seeds").canonicalize().ok()?;
    let file = trace.with_extension(PLAN_ENDING).canonicalize().ok()?;
    let is_path = std::fs::metadata(&file).is_ok_and(|file| file.len() <= PATH_BYTES_MAX);
    let text = std::fs::read_to_string(&file).ok().filter(|_| file.starts_with(seeds) && is_path)?;
    Some(below(project_root(base_dir).as_deref(), &text)).filter(|path| path.is_file())
}

/// The machines of a saved failure, with their programs of today: those of the plan that it was found under, or of the run beside which it is
/// tried.
fn machines(
    project: &Project,
    recording: &Recording,
    (today, plan): (&LoadedTarget, Option<&Path>),
    run: Option<&RunOfToday<'_>>,
) -> Result<MachinesOfToday, CampaignError> {
    match (run, plan) {
        _ if recording.plan.nodes.is_empty() || today.scenario.is_some() => Ok(MachinesOfToday::default()),
        (Some(run), None) => Ok(MachinesOfToday::of(run.planned)),
        (Some(run), Some(plan)) if run.is_under(plan) => Ok(MachinesOfToday::of(run.planned)),
        (_, plan) => MachinesOfToday::planned(project, today, plan),
    }
}

impl RunOfToday<'_> {
    fn is_under(&self, plan: &Path) -> bool {
        let whole = |path: &Path| path.canonicalize().ok();
        self.plan_file.is_some_and(|own| whole(own).is_some() && whole(own) == whole(plan))
    }

    /// Under what a failure was found that this run does not have.
    fn other_conditions(&self, recording: &Recording, plan: Option<&Path>) -> Option<String> {
        let other =
            FailureConditions::of_plan(&recording.plan).other_than(&FailureConditions::of_plan(&self.planned.plan));
        // The faults of another file were never asked for by a flag.
        let other_plan = plan.filter(|plan| !self.is_under(plan));
        other_plan.map(|plan| format!("found under another plan ({})", plan.display())).or(other)
    }
}

/// Tries one.
fn standing(
    project: &Project,
    path: PathBuf,
    today: &LoadedTarget,
    run: Option<&RunOfToday<'_>>,
) -> Result<SavedFailure, CampaignError> {
    let recording = selector::read(&path)?;
    let plan_file = plan_of(project, &path);
    let other_conditions = run.and_then(|run| run.other_conditions(&recording, plan_file.as_deref()));
    let machines = machines(project, &recording, (today, plan_file.as_deref()), run)?;
    let plan = PlanOfToday::new(&recording, today, None, &machines)?;
    let Retrial { state, note, verdict, .. } = Retrial::new(&recording, today, &plan)?;
    let is_fixed = state == RegressionStatus::Fixed && today.scenario.is_none();
    let (state, note) = match other_program(&recording, &today.component).filter(|_| is_fixed) {
        Some(other) => (RegressionStatus::Stale, Some(other)),
        None => (state, note),
    };
    let signature = recording.outcome.verdict.signature.clone();
    let signature_today = signature.as_ref().map(|signature| plan.signature(signature));
    let status = match state {
        RegressionStatus::StillThere => recording.outcome.verdict.status,
        RegressionStatus::FailsOtherwise => verdict.status,
        _ => Status::Pass,
    };
    let note = note.or_else(|| other_conditions.clone());
    let otherwise = verdict.signature.filter(|_| state == RegressionStatus::FailsOtherwise);
    let has_machines = !recording.plan.nodes.is_empty() && today.scenario.is_none();
    let plan_file =
        plan_file.or_else(|| run.and_then(|run| run.plan_file).map(Path::to_owned)).filter(|_| has_machines);
    Ok(SavedFailure { path, signature, signature_today, otherwise, plan_file, state, status, other_conditions, note })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::FindingKind;

    #[test]
    fn a_kept_failure_is_replaced_by_what_was_made_of_it_or_cannot_be_smaller_and_its_name_says_which() {
        let place = tempfile::tempdir().expect("a folder");
        let seeds = SavedFailures { folder: place.path().join("seeds"), root: None, place: None };
        let signature = FailureSignature { kind: FindingKind::Trap, site: "unreachable".to_owned() };
        let standing = |path: &Path, state| SavedFailure {
            path: path.to_owned(),
            signature: Some(signature.clone()),
            signature_today: Some(signature.clone()),
            otherwise: None,
            plan_file: None,
            state,
            status: Status::Crash,
            other_conditions: None,
            note: None,
        };
        let there = RegressionStatus::StillThere;
        let keep = |bytes: &str, is_minimal, begun: Option<&Path>, known: &mut [SavedFailure]| {
            let trace = place.path().join("found.fozzy");
            std::fs::write(&trace, bytes).expect("written");
            let found = FoundFailure { trace: &trace, is_minimal, signature: Some(&signature), begun };
            seeds.keep(&found, known, (Path::new("app.wat"), None)).expect("kept");
            let mut traces = seeds.traces();
            assert_eq!(traces.len(), 1, "{traces:?}");
            let trace = traces.remove(0);
            let is_named_minimal = trace.display().to_string().ends_with(".min.fozzy");
            (std::fs::read_to_string(&trace).expect("it is there"), is_named_minimal, trace)
        };
        let (_, is_minimal, first) = keep("as it was found", false, None, &mut []);
        assert!(!is_minimal);
        // One that is as large says no more.
        let mut known = [standing(&first, there)];
        assert_eq!(keep("found again", false, None, &mut known).0, "as it was found");
        let (text, is_minimal, second) = keep("smaller", false, Some(&*first), &mut known);
        assert_eq!((&*text, is_minimal, &known[0].path), ("smaller", false, &second));
        assert!(!known[0].is_minimal());
        let mut fixed = [standing(&second, RegressionStatus::Fixed)];
        assert_eq!(keep("another", true, None, &mut fixed).0, "smaller");
        let (text, is_minimal, third) = keep("the smallest", true, None, &mut known);
        assert_eq!((&*text, is_minimal, &known[0].path), ("the smallest", true, &third));
        assert!(known[0].is_minimal());
        assert_eq!(keep("another", true, Some(&*third), &mut known).0, "the smallest");
    }
}
