//! What ran: the scenarios of a project, executed once each, and what the run store and saved failures have recorded of the same programs.
//!
//! ```text
//! scenarios ─▶ built, executed with the seeds of `fozzy test` ─┐
//! corpora ─▶ each input given to its program ──────────────────┼─▶ RunEvidence: edges and blocks of each program
//! run store, saved failures, named traces ─▶ replayed ─────────┘
//! ```
//!
//! Invariants: a function was reached when code of it ran, never by names of files; a recorded run counts when its program is one of
//! today's, or one that no scenario has; nothing asks the real computer.

use super::program::{OwnCode, ProgramMap};
use crate::coverage::{CoverageUnion, FUEL_TIMES, name_of};
use crate::embedded::is_embedded;
use crate::error::{CampaignError, ErrorKind};
use crate::explore::saved_failures::SavedFailures;
use crate::inputs::{self, InputOptions, InputRunResult, InputRunner};
use crate::options::RunRequest;
use crate::pipeline::{PreparedProgram, RunPlan, load, plan};
use crate::project::Project;
use crate::selector;
use crate::store::RunStore;
use crate::suite::case::{Case, Suite, SuiteOptions};
use crate::suite::entry::SuiteEntry;
use crate::suite::project::ProjectScenarios;
use fozzy_check::{is_own, judge};
use fozzy_engine::{Program, ProgramCoverage, Session};
use fozzy_report::RunMode;
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, Executor, Plan, Seed, Status, Verdict, counted};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Recorded runs of the store that are replayed, the newest first.
const STORED_RUNS_MAX: usize = 32;

/// Where evidence is looked for.
#[derive(Clone, Debug, Default)]
pub struct EvidenceOptions {
    /// The folder with the scenarios; by default what `fozzy test` takes, and all below `tests`.
    pub scenario_root: Option<PathBuf>,
    /// Folders of inputs, each with the program that reads them.
    pub corpora: Vec<CorpusOptions>,
    /// Traces, folders of traces, runs: beside what the store has.
    pub runs: Vec<String>,
    /// Which code is the project's own, if it is said.
    pub own: Vec<String>,
}

/// A folder of inputs and who reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusOptions {
    /// The folder.
    pub folder: PathBuf,
    /// Any target of `run`.
    pub target: PathBuf,
    /// The fuzz target, property or function that gets them; all fuzz targets, or standard input, unless it is named.
    pub function: Option<String>,
}

/// What kind of run it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvidenceKind {
    /// A scenario of the project, executed for this map.
    Scenario,
    /// All inputs of a corpus, executed for this map.
    Corpus,
    /// A recorded run.
    Run(RunMode),
    /// A recorded run that used the real computer.
    LiveRun,
    /// A failure that was saved.
    SavedFailure,
}

impl EvidenceKind {
    /// Whether whoever has the project can execute it again: it is no record of one run.
    pub(super) fn is_repeatable(self) -> bool {
        matches!(self, EvidenceKind::Scenario | EvidenceKind::Corpus)
    }

    /// Its name in documents.
    pub(super) fn name(self) -> &'static str {
        match self {
            EvidenceKind::Scenario => "scenario",
            EvidenceKind::Corpus => "corpus",
            EvidenceKind::Run(_) | EvidenceKind::LiveRun => "run",
            EvidenceKind::SavedFailure => "saved-failure",
        }
    }
}

/// What one run has reached of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct ReachedCode {
    /// By edge.
    pub edges: Vec<bool>,
    /// By block.
    pub blocks: Vec<bool>,
}

impl ReachedCode {
    fn of(covered: &ProgramCoverage) -> ReachedCode {
        let hit = |counts: &[u64]| counts.iter().map(|count| *count > 0).collect();
        ReachedCode { edges: hit(&covered.edges), blocks: hit(&covered.blocks) }
    }

    /// Adds what another run has reached of the same program.
    pub(super) fn merge(&mut self, other: &ReachedCode) {
        for (into, from) in [(&mut self.edges, &other.edges), (&mut self.blocks, &other.blocks)] {
            into.resize(into.len().max(from.len()), false);
            into.iter_mut().zip(from).for_each(|(known, more)| *known |= *more);
        }
    }

    /// Whether an edge was taken.
    pub(super) fn edge(&self, edge: u32) -> bool {
        self.edges.get(edge as usize).copied().unwrap_or(false)
    }

    /// Whether a block ran.
    pub(super) fn block(&self, block: u32) -> bool {
        self.blocks.get(block as usize).copied().unwrap_or(false)
    }
}

/// One run.
pub(super) struct RunEvidence {
    /// A scenario's name, or the trace.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What kind of run it was.
    pub kind: EvidenceKind,
    /// How it ended.
    pub status: Status,
    /// The function of the project in which it failed, and its file.
    pub failed_in: Option<(String, Option<String>)>,
    /// By program.
    pub reached: BTreeMap<Digest, ReachedCode>,
    /// Machines, with the programs that they run.
    pub machines: Vec<(String, Digest)>,
}

/// All of it.
pub(super) struct MapEvidence {
    /// Programs, in the order in which they first ran.
    pub programs: Vec<ProgramMap>,
    /// Runs: scenarios first, then corpora.
    pub runs: Vec<RunEvidence>,
    /// Where scenarios were looked for.
    pub scenario_root: String,
    /// Scenarios that could not be executed, and why.
    pub unreadable: Vec<(String, String)>,
    /// What a reader has to know.
    pub remarks: Vec<String>,
}

struct Collector<'p> {
    project: &'p Project,
    union: CoverageUnion,
    own: OwnCode,
    found: MapEvidence,
    known: BTreeSet<Digest>,
    /// Names of the programs of scenarios.
    names: BTreeSet<String>,
    /// Recordings that were replayed: program, history and seed. A trace may have several names.
    replayed: BTreeSet<(Digest, u64, Seed)>,
    stale: u64,
}

/// Executes and replays what there is.
pub(super) fn collect(
    project: &Project,
    runs: &RunStore,
    root: &Path,
    options: &EvidenceOptions,
) -> Result<MapEvidence, CampaignError> {
    let (programs, unreadable) = (Vec::new(), Vec::new());
    let found =
        MapEvidence { programs, runs: Vec::new(), scenario_root: ".".to_owned(), unreadable, remarks: Vec::new() };
    let (union, own) = (CoverageUnion::new(&[], false), OwnCode::of(&options.own, root)?);
    let (known, names, replayed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut collector = Collector { project, union, own, found, known, names, replayed, stale: 0 };
    let scenarios = ProjectScenarios::discover(options.scenario_root.as_deref(), &[]);
    let none = match scenarios {
        Ok(scenarios) => {
            collector.found.scenario_root.clone_from(&scenarios.root);
            collector.scenarios(runs, scenarios.all)?;
            None
        }
        // A folder that was named is there to be read.
        Err(error) if options.scenario_root.is_some() => return Err(error),
        Err(error) => Some(error),
    };
    for corpus in &options.corpora {
        collector.corpus(corpus)?;
    }
    for run in &options.runs {
        for path in selector::corpus(run, runs)? {
            let recording = selector::read(&path)?;
            collector.replay(&path, &recording, true, false)?;
        }
    }
    collector.stored(runs);
    collector.finish(none)
}

impl Collector<'_> {
    fn scenarios(&mut self, runs: &RunStore, entries: Vec<SuiteEntry>) -> Result<(), CampaignError> {
        let folder = runs.begin()?;
        let (options, seed) = (SuiteOptions::default(), Seed(0));
        let collision = CollisionPolicy::Overwrite;
        let suite = Suite { project: self.project, options: &options, seed, folder: &folder, collision };
        let all = entries.len();
        for (done, entry) in entries.into_iter().enumerate() {
            self.project.remarks.live(&format!("{done}/{all}  {}", entry.path.display()));
            let case = Case::prepare(entry, None, String::new(), &self.project.remarks);
            if let Err(error) = self.scenario(&suite, &case) {
                let why = error.message.lines().next().unwrap_or_default().to_owned();
                self.found.unreadable.push((case.shown(), why));
            }
        }
        self.project.remarks.live("");
        folder.discard();
        Ok(())
    }

    fn scenario(&mut self, suite: &Suite<'_>, case: &Case) -> Result<(), CampaignError> {
        let prepared = case.prepared(suite, self.union.build())?;
        if prepared.planned.is_live() {
            let message = "its plan asks the real computer, which a map does not: record a run of it, and name its trace by --run";
            return Err(CampaignError::new(ErrorKind::Plan, message));
        }
        let mut session = prepared.session()?;
        session.fuel_times(FUEL_TIMES);
        let execution = session.execute(Box::new(SeededSource::new(case.seed(suite.seed))), 0..0)?;
        let (verdict, plan) = (judge(&execution), &prepared.planned.plan);
        self.names.insert(prepared.loaded.target.name.clone());
        let target = (prepared.loaded.target.name.clone(), Digest::of(&prepared.loaded.component));
        let reached = self.reached(&session, plan, &target)?;
        let machines = machines(&target, plan);
        self.found.runs.push(RunEvidence {
            name: case.name.clone(),
            path: case.path.clone(),
            kind: EvidenceKind::Scenario,
            status: verdict.status,
            failed_in: failed_in(&verdict),
            reached,
            machines,
        });
        Ok(())
    }

    /// Gives all inputs of a folder to their program: together they are one run. Traces among them count each.
    fn corpus(&mut self, corpus: &CorpusOptions) -> Result<(), CampaignError> {
        let shown = corpus.folder.display().to_string();
        let (traces, files): (Vec<PathBuf>, Vec<PathBuf>) =
            inputs::files(&corpus.folder)?.into_iter().partition(|path| inputs::is_trace(path));
        let loaded = load(&corpus.target, &self.project.remarks)?;
        let target = (loaded.target.name.clone(), Digest::of(&loaded.component));
        let planned = plan(self.project, &loaded, &RunRequest::default())?;
        if planned.is_live() {
            let message = "inputs are executed on the simulated computer, and the plan asks for the real one";
            return Err(CampaignError::new(ErrorKind::Plan, message));
        }
        let prepared = PreparedProgram::to_call(loaded, planned, self.union.build())?;
        let given = InputOptions { function: corpus.function.clone(), ..InputOptions::default() };
        let mut runner = InputRunner::of(&given, &prepared, FUEL_TIMES)?;
        let plan = &prepared.planned.plan;
        let mut reached: BTreeMap<Digest, ReachedCode> = BTreeMap::new();
        let mut failed: Option<(Verdict, &Path)> = None;
        let (all, mut failures) = (files.len(), 0);
        for (done, path) in files.iter().enumerate() {
            self.project.remarks.live(&format!("{done}/{all}  {shown}"));
            let InputRunResult { covered, verdict, .. } = runner.execute(path)?;
            if verdict.status != Status::Pass {
                failures += 1;
                failed.get_or_insert((verdict, path));
            }
            for (digest, (program, covered)) in covered.iter().filter(|(digest, _)| !is_embedded(**digest)) {
                let name = if *digest == target.1 { target.0.clone() } else { name_of(plan, *digest) };
                self.program(&name, *digest, program)?;
                reached.entry(*digest).or_default().merge(&ReachedCode::of(covered));
            }
        }
        self.project.remarks.live("");
        if let Some((_, first)) = &failed {
            let (inputs, first) = (counted(all as u64, "input"), first.display());
            self.found.remarks.push(format!("{shown}: {failures} of {inputs} did not pass, the first is {first}"));
        }
        self.names.insert(target.0.clone());
        let machines = machines(&target, plan);
        let verdict = failed.map(|(verdict, _)| verdict);
        self.found.runs.push(RunEvidence {
            name: shown,
            path: corpus.folder.clone(),
            kind: EvidenceKind::Corpus,
            status: verdict.as_ref().map_or(Status::Pass, |verdict| verdict.status),
            failed_in: verdict.as_ref().and_then(failed_in),
            reached,
            machines,
        });
        for path in traces {
            self.replay(&path, &selector::read(&path)?, true, false)?;
        }
        Ok(())
    }

    /// What the store and explorations have kept. What cannot be read is said, and the rest counts.
    fn stored(&mut self, runs: &RunStore) {
        let base_dir = &self.project.config.base_dir;
        let mut traces: Vec<(PathBuf, bool)> = Vec::new();
        for (folder, manifest) in runs.finished() {
            let of_folder = selector::corpus(&folder.display().to_string(), runs).unwrap_or_default();
            let named = manifest.trace_path.map(PathBuf::from).filter(|path| path.is_file());
            let of_folder = of_folder.into_iter().filter(|path| path.is_file());
            traces.extend(of_folder.chain(named).map(|path| (path, false)));
        }
        let mut seen = BTreeSet::new();
        traces.retain(|(path, _)| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
        if traces.len() > STORED_RUNS_MAX {
            let more = counted((traces.len() - STORED_RUNS_MAX) as u64, "older run");
            self.found.remarks.push(format!("{more} of the store were not replayed: --run names those that count"));
            traces.truncate(STORED_RUNS_MAX);
        }
        let saved = SavedFailures::all(base_dir);
        traces.extend(saved.iter().flat_map(SavedFailures::traces).map(|path| (path, true)));
        for (path, is_saved) in traces {
            let replayed = selector::read(&path).and_then(|recording| self.replay(&path, &recording, false, is_saved));
            if let Err(error) = replayed {
                let why = error.message.lines().next().unwrap_or_default();
                self.found.remarks.push(format!("left out: {why}"));
            }
        }
    }

    /// Replays a recorded run, if it is of a program of today.
    fn replay(&mut self, path: &Path, recording: &Recording, named: bool, saved: bool) -> Result<(), CampaignError> {
        let target = (recording.target.name.clone(), Digest::of(&recording.component));
        if !named && !self.known.contains(&target.1) && self.names.contains(&target.0) {
            self.stale += 1;
            return Ok(());
        }
        if !self.replayed.insert((target.1, recording.outcome.history, recording.seed)) {
            return Ok(());
        }
        let shown = path.display().to_string();
        let session = self.union.observe(&shown, recording, named)?;
        let reached = self.reached(&session, &recording.plan, &target)?;
        // The newest recorded build of a program that is no scenario is today's.
        self.names.insert(target.0.clone());
        let machines = machines(&target, &recording.plan);
        let mode = RunMode::of(&recording.mode).unwrap_or(RunMode::Run);
        self.found.runs.push(RunEvidence {
            name: shown,
            path: path.to_owned(),
            kind: match saved {
                true => EvidenceKind::SavedFailure,
                false if RunPlan::of_recording(recording).is_live() => EvidenceKind::LiveRun,
                false => EvidenceKind::Run(mode),
            },
            status: recording.outcome.verdict.status,
            failed_in: failed_in(&recording.outcome.verdict),
            reached,
            machines,
        });
        Ok(())
    }

    /// What a session has reached, with the programs noted.
    fn reached(
        &mut self,
        session: &Session,
        plan: &Plan,
        target: &(String, Digest),
    ) -> Result<BTreeMap<Digest, ReachedCode>, CampaignError> {
        let mut reached = BTreeMap::new();
        for (digest, covered) in session.coverage() {
            let Some(program) = session.program_named(*digest) else { continue };
            // A player of steps is ours, and no program of the project.
            if is_embedded(*digest) {
                continue;
            }
            let name = if *digest == target.1 { target.0.clone() } else { name_of(plan, *digest) };
            self.program(&name, *digest, program)?;
            reached.insert(*digest, ReachedCode::of(covered));
        }
        Ok(reached)
    }

    fn program(&mut self, name: &str, digest: Digest, program: &Program) -> Result<(), CampaignError> {
        if self.known.insert(digest) {
            let map = ProgramMap::of(name, program, &self.own)?;
            self.found.remarks.extend(map.remarks.iter().cloned());
            self.found.programs.push(map);
        }
        Ok(())
    }

    fn finish(mut self, none: Option<CampaignError>) -> Result<MapEvidence, CampaignError> {
        if self.found.runs.is_empty() {
            let why = self.found.unreadable.first().map(|(path, why)| format!("; {path}: {why}")).unwrap_or_default();
            let what = match &none {
                Some(error) => format!("nothing ran: {}, and no run is recorded", error.message),
                None => format!("nothing ran: no scenario could be executed, and no run is recorded{why}"),
            };
            let left_out = self.found.remarks.first().map(|remark| format!("; {remark}")).unwrap_or_default();
            return Err(CampaignError::new(ErrorKind::Selector, format!("{what}{left_out}"))
                .hint("fozzy run app.wasm --record run.fozzy, then fozzy map hotspots --run run.fozzy; or begin with scenarios: fozzy init app"));
        }
        if self.stale > 0 {
            let runs = counted(self.stale, "recorded run");
            self.found.remarks.push(format!("{runs} of other builds of the same programs were left out"));
        }
        for (path, why) in &self.found.unreadable {
            self.found.remarks.push(format!("not executed: {path}: {why}"));
        }
        if self.found.programs.is_empty() {
            let what = "steps of scenario files are played by fozzy's own player: no program of the project ran; \
                        a scenario with a target has one (`fozzy run steps.fozzy.json --target app.wasm`)";
            self.found.remarks.push(what.to_owned());
        }
        let remarks = self.union.remarks().to_vec();
        self.found.remarks.extend(remarks);
        Ok(self.found)
    }
}

/// Which machine runs what, the main one first.
fn machines(target: &(String, Digest), plan: &Plan) -> Vec<(String, Digest)> {
    let others = plan.nodes.iter().map(|node| (node.name.clone(), node.program.component));
    let all = std::iter::once(("main".to_owned(), target.1)).chain(others);
    all.filter(|(_, component)| !is_embedded(*component)).collect()
}

/// The project's own function in which a run failed.
fn failed_in(verdict: &Verdict) -> Option<(String, Option<String>)> {
    let finding = verdict.findings.first()?;
    let frame = finding.backtrace.iter().find(|frame| is_own(frame))?;
    Some((frame.function.clone(), frame.source.file.as_deref().map(crate::coverage::plain)))
}
