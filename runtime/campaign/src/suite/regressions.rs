//! Failures that were kept, tried on the program of today.
//!
//! ```text
//! regressions/*.fozzy, scenarios/bank/regressions/*.fozzy, .fozzy/seeds/bank/*.fozzy (what explorations have kept)
//!    │ its decisions, replayed against the scenario of the same name, and the component that it judges
//!    ├─ fails                               REGRESSION
//!    ├─ passes, by the same decisions       fixed
//!    └─ passes, by others; no such program  stale: the trace says nothing any more
//! ```
//!
//! Invariant: a file that is no sound trace is a failed case.
//! Not here: when a failure counts as fixed (`explore/retrial`).

use super::case::{Case, Suite, identity};
use super::entry::{Kind, shown};
use super::expect::own_plan;
use crate::cluster_plan::{clients, is_same, names_clients};
use crate::error::CampaignError;
use crate::explore::conditions::FailureConditions;
use crate::explore::regression_status::RegressionStatus;
use crate::explore::retrial::Retrial;
use crate::explore::saved_failures::{self, SavedFailures};
use crate::pipeline::{LoadedTarget, MachinesOfToday, PlanOfToday, kept, load, plan};
use crate::selector;
use crate::wall_clock::Stopwatch;
use fozzy_report::suite::{CaseResult, CaseSummary, RegressionState};
use fozzy_report::{RunMode, RunSummary, shell_path};
use fozzy_trace::file::{RecordedOutcome, Recording};
use fozzy_trace::{ExecutionEnd, FailureSignature, Status};
use std::path::{Path, PathBuf};

/// The folder in which failures are kept, beside the suite and in each crate.
const FOLDER: &str = "regressions";

/// A failure that was kept.
pub struct Regression {
    name: String,
    /// Its trace.
    pub path: PathBuf,
    /// The place of its program among the cases.
    case: Option<usize>,
    /// Whether an exploration has saved it; otherwise a user put it there.
    is_saved: bool,
}

/// All kept failures that concern these cases, by path. When the suite was `narrowed`, those of other programs are left out;
/// else they are stale.
pub fn find(cases: &[Case], narrowed: bool, base_dir: &Path) -> Vec<Regression> {
    let mut found: Vec<Regression> = Vec::new();
    for path in traces(Path::new(FOLDER)) {
        // It is read again when it is tried: a hundred of them hold a hundred programs.
        let target = selector::read(&path).map(|recording| recording.target.name);
        let case = target.as_ref().ok().and_then(|name| of_name(cases, name));
        if case.is_some() || !narrowed || target.is_err() {
            found.push(Regression { name: stem(&path), path, case, is_saved: false });
        }
    }
    for (place, case) in cases.iter().enumerate() {
        if let Ok(file) = &case.file {
            let kept = SavedFailures::of(base_dir, file).traces().into_iter();
            let kept = kept.filter(|path| !is_of_other(cases, narrowed, case, base_dir, path));
            found.extend(kept.map(|path| Regression { name: stem(&path), path, case: Some(place), is_saved: true }));
        }
        // That of the crate or the cluster in this very folder is the suite's.
        let folder = own_folder(case);
        if case.path != Path::new(".") && folder != Path::new(FOLDER) {
            let own = traces(&folder).into_iter();
            found.extend(own.map(|path| Regression { name: stem(&path), path, case: Some(place), is_saved: false }));
        }
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found
}

/// Whether a saved failure was found under the plan of another case with the same program: clients may have several clusters. In a
/// suite that was `narrowed` to one of them, those of the others are not asked for.
fn is_of_other(cases: &[Case], narrowed: bool, case: &Case, base_dir: &Path, trace: &Path) -> bool {
    let Some(plan) = saved_failures::plan_below(base_dir, trace) else { return false };
    let file = |case: &Case| case.file.as_ref().ok().cloned();
    let has_plan = |case: &Case| own_plan(&case.path, case.kind).is_some_and(|own| is_same(&own, &plan));
    let is_left_out = narrowed && case.kind == Kind::Cluster && names_clients(&plan);
    !has_plan(case) && (is_left_out || cases.iter().any(|other| file(other) == file(case) && has_plan(other)))
}

/// The folder of the failures that are kept of one case.
fn own_folder(case: &Case) -> PathBuf {
    match case.kind {
        Kind::Cluster if case.path.ends_with("plan.toml") => case.path.with_file_name(FOLDER),
        _ => case.path.join(FOLDER),
    }
}

/// The traces in a folder; none in one that is not there.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_trace = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "fozzy") && path.is_file();
    entries.filter(is_trace).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The case whose program has this file name; cargo writes `_` for `-`. One of that name goes before clusters with the same clients.
fn of_name(cases: &[Case], file: &str) -> Option<usize> {
    let plain = |name: &str| name.replace('-', "_");
    let wanted = plain(file.rsplit_once('.').map_or(file, |(stem, _)| stem));
    let built = |case: &Case| case.file.as_ref().ok().map(|file| plain(&stem(file)));
    let of_name = cases.iter().position(|case| plain(&case.name) == wanted);
    of_name.or_else(|| cases.iter().position(|case| built(case).as_ref() == Some(&wanted)))
}

impl Regression {
    /// Tries it.
    pub fn run(&self, suite: &Suite<'_>, cases: &[Case]) -> CaseSummary {
        let watch = Stopwatch::start();
        let path = shown(&self.path);
        let against = self.case.and_then(|place| cases.get(place)).map(|case| shown(&case.path));
        let case = self.attempt(suite, cases, &watch);
        let case = case.unwrap_or_else(|error| CaseSummary::failed_to_run(&self.name, &path, error.document()));
        let duration_ns = watch.facts().duration_ns;
        CaseSummary { against, duration_ms: duration_ns / 1_000_000, duration_ns, ..case }
    }

    fn attempt(&self, suite: &Suite<'_>, cases: &[Case], watch: &Stopwatch) -> Result<CaseSummary, CampaignError> {
        let recording = &selector::read(&self.path)?;
        let Some(case) = self.case.and_then(|place| cases.get(place)) else {
            return Ok(self.stale(format!("no scenario of the suite is called `{}`", recording.target.name)));
        };
        let file = case.file.as_ref().map_err(|error| {
            CampaignError::new(error.kind, format!("{} cannot be tried: {}", shown(&case.path), error.message))
        })?;
        let loaded = load(file, &suite.project.remarks)?;
        let judged = case.judged(suite).map(|path| load(&path, &suite.project.remarks)).transpose()?;
        let judged = judged.map(|judged| judged.component);
        let machines = self.machines(recording, case, suite, &loaded)?;
        let plan = PlanOfToday::new(recording, &loaded, judged, &machines)?;
        let Retrial { execution, verdict, state, note } = Retrial::new(recording, &loaded, &plan)?;
        let diverged = matches!(execution.end, ExecutionEnd::Diverged { .. });
        if state == RegressionStatus::Stale && (diverged || verdict.status == Status::Pass) {
            let why = note.unwrap_or_default();
            return Ok(self.stale(format!("{}: {why}: record the failure anew, or delete the file", shown(&case.path))));
        }
        let outcome = RecordedOutcome::of(&execution, verdict);
        let mut identity = identity(suite.folder, recording.seed, None);
        identity.trace_path = Some(shown(&self.path));
        let run = RunSummary::of(RunMode::Test, identity, loaded.summary(), &outcome, kept(&execution), watch.facts());
        let ran = CaseSummary::ran(&self.name, &shown(&self.path), run.telling(&execution.facts));
        if state == RegressionStatus::Fixed {
            let note = note.map(|note| format!("{} is mended: {note}", shown(&case.path)));
            let note = note.or_else(|| Some(format!("{} passes, by the same decisions", shown(&case.path))));
            let (regression, result) = (Some(RegressionState::Fixed), CaseResult::Passed);
            return Ok(CaseSummary { regression, result, command: None, note, ..ran });
        }
        let then = recording.outcome.verdict.signature.as_ref().map(|signature| plan.signature(signature));
        let otherwise = otherwise(then.as_ref(), outcome.verdict.signature.as_ref());
        if let (Some(missing), Some(otherwise)) = (plan.note(), &otherwise) {
            return Ok(self.stale(format!("{missing}, and the file of today fails otherwise: {otherwise}")));
        }
        // That it fails so by other decisions is all that there is to say.
        let note = note.filter(|_| state == RegressionStatus::StillThere).or(otherwise);
        let plan_file = self.plan_file(recording, case, suite, &loaded)?;
        let today = shell_path(&replayed_beside(case, plan_file.as_deref()));
        let plan_file = plan_file.map(|file| format!(" --plan {}", shell_path(&file))).unwrap_or_default();
        let command = ran.command.as_ref().map(|command| format!("{command} --against {today}{plan_file}"));
        let (regression, result) = (Some(RegressionState::Regression), CaseResult::Failed);
        let ran = CaseSummary { regression, result, command, note, ..ran };
        Ok(match self.other_conditions(recording, case, suite, &loaded)? {
            Some(conditions) => CaseSummary {
                result: CaseResult::Skipped,
                note: Some(format!("still fails, {conditions}, which this suite does not have")),
                ..ran
            },
            None => ran,
        })
    }

    /// The plan file that these machines are of, for who replays it beside them.
    fn plan_file(
        &self,
        recording: &Recording,
        case: &Case,
        suite: &Suite<'_>,
        loaded: &LoadedTarget,
    ) -> Result<Option<PathBuf>, CampaignError> {
        if recording.plan.nodes.is_empty() || loaded.scenario.is_some() {
            return Ok(None);
        }
        let own = saved_failures::plan_of(suite.project, &self.path).filter(|_| self.is_saved);
        Ok(own.or(case.request(suite)?.world.plan))
    }

    /// The machines of its plan, with their programs of today.
    fn machines(
        &self,
        recording: &Recording,
        case: &Case,
        suite: &Suite<'_>,
        loaded: &LoadedTarget,
    ) -> Result<MachinesOfToday, CampaignError> {
        if recording.plan.nodes.is_empty() || loaded.scenario.is_some() {
            return Ok(MachinesOfToday::default());
        }
        match saved_failures::plan_of(suite.project, &self.path).filter(|_| self.is_saved) {
            Some(file) => MachinesOfToday::planned(suite.project, loaded, Some(&file)),
            None => Ok(MachinesOfToday::of(&plan(suite.project, loaded, &case.request(suite)?)?)),
        }
    }

    /// Under what an exploration has found it, where the suite does not have that.
    fn other_conditions(
        &self,
        recording: &Recording,
        case: &Case,
        suite: &Suite<'_>,
        loaded: &LoadedTarget,
    ) -> Result<Option<String>, CampaignError> {
        if !self.is_saved {
            return Ok(None);
        }
        let planned = plan(suite.project, loaded, &case.request(suite)?)?;
        let today = FailureConditions::of_plan(&planned.plan);
        Ok(FailureConditions::of_plan(&recording.plan).other_than(&today))
    }

    fn stale(&self, why: String) -> CaseSummary {
        let case = CaseSummary::skipped(&self.name, &shown(&self.path), &why);
        CaseSummary { result: CaseResult::Skipped, regression: Some(RegressionState::Stale), ..case }
    }
}

/// What a failure is replayed against: what the case is of, or the clients of a cluster whose plan is not this one, as a plan file takes no
/// other beside it.
fn replayed_beside(case: &Case, plan: Option<&Path>) -> PathBuf {
    let has_other = case.kind == Kind::Cluster && plan.is_some_and(|plan| !is_same(plan, &case.path));
    let clients = if has_other { clients(&case.path).ok() } else { None };
    clients.unwrap_or_else(|| case.path.clone())
}

/// What is to be said when the failure of today is not the one that was recorded.
fn otherwise(recorded: Option<&FailureSignature>, now: Option<&FailureSignature>) -> Option<String> {
    let recorded = recorded.map_or_else(|| "a run that passes".to_owned(), ToString::to_string);
    let now = now?.to_string();
    (recorded != now).then(|| format!("{now}; recorded was {recorded}"))
}
