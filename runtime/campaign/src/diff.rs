//! Two programs under equal decisions, and the first difference of what they do.
//!
//! ```text
//! seeds │ inputs of a corpus │ recorded runs │ runs that an exploration has kept ─▶ old, new ─▶ ends, streams, properties, calls ─rules─▶ first difference
//!                                                                                        └─▶ both runs, to be recorded
//! ```
//!
//! Answers belong to questions, not to their order, so that a program that asks something new has the other answers as before.
//! Invariants: both programs have the same plan, inputs and answers; nothing that depends on their code alone (instructions, memory) is compared.
//! Not here: the document and its text (`fozzy_report::diff`), where recordings go (the command).

mod rules;

pub use rules::DiffRules;

use crate::error::{CampaignError, ErrorKind};
use crate::explore::setup::ExplorationSetup;
use crate::fuzz::confirmer::{ConfirmedRun, FindingConfirmer};
use crate::inputs::{self, InputOptions, InputRunner};
use crate::options::{RunRequest, StopFlag};
use crate::pipeline::{ENTRIES_KEPT, LoadedTarget, MachinesOfToday, PlanOfToday, PreparedProgram, plan};
use crate::project::Project;
use crate::seed_runs::ScenarioSize;
use crate::suite::seeds::SeedList;
use crate::trace_check::STEP_CALL;
use fozzy_engine::Build;
use fozzy_report::diff::{AspectCount, AspectDifference, CaseDifference, DiffDocument, RunAspect};
use fozzy_report::document::DivergenceDocument;
use fozzy_report::{MachineNames, RunMode};
use fozzy_search::{CallDivergence, locate_within, source_of};
use fozzy_trace::file::Recording;
use fozzy_trace::history::first_difference;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionSource, Execution, Executor, HarnessError, HistoryWindow, Seed};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names of cases that a document has.
const CASES_NAMED_MAX: usize = 100;
/// Calls before the parting among which the step of a scenario is looked for.
const STEP_WINDOW_CALLS: u64 = 1 << 14;

/// The programs, and what they may differ in.
pub struct ProgramComparison<'a> {
    /// The project.
    pub project: &'a Project,
    /// The program before.
    pub old: LoadedTarget,
    /// The program after.
    pub new: LoadedTarget,
    /// What they may differ in.
    pub rules: DiffRules,
    /// Whether the first case that differs ends it.
    pub until_difference: bool,
    /// Whether it is to end before its time.
    pub stop: StopFlag,
}

/// What came of it.
pub struct ComparisonResult {
    /// The document, without the places of recordings.
    pub document: DiffDocument,
    /// The runs of the first case that differs: before and after.
    pub runs: Option<[DiffRun; 2]>,
}

/// A run of one of the programs.
pub struct DiffRun {
    /// What happened.
    pub execution: Execution,
    /// The same, as a recording.
    pub recording: Recording,
}

/// One program, and what executes each of its cases.
struct DiffSide<'a> {
    prepared: PreparedProgram,
    run: Box<dyn FnMut(u64, HistoryWindow) -> Result<ConfirmedRun, HarnessError> + 'a>,
}

/// Cases that the same two sessions execute.
struct CaseGroup<'a> {
    sides: [DiffSide<'a>; 2],
    cases: u64,
    name: Box<dyn Fn(u64) -> String + 'a>,
    seed: Box<dyn Fn(u64) -> Seed + 'a>,
    mode: RunMode,
}

/// What was found so far.
#[derive(Default)]
struct DiffTally {
    cases: u64,
    different: u64,
    aspects: BTreeMap<RunAspect, u64>,
    names: Vec<String>,
    warnings: Vec<String>,
    first: Option<CaseDifference>,
    runs: Option<[DiffRun; 2]>,
    is_interrupted: bool,
}

impl ProgramComparison<'_> {
    /// Compares runs of both programs under the same plan, with each seed.
    ///
    /// # Errors
    /// When a program cannot be run so, or the machine fails.
    pub fn of_seeds(
        &self,
        request: &RunRequest,
        size: ScenarioSize,
        seeds: &SeedList,
    ) -> Result<ComparisonResult, CampaignError> {
        let [mut old, mut new] = self.prepared(|loaded| PreparedProgram::new(self.project, loaded, request))?;
        let ScenarioSize { sequences, flows } = size;
        let scenarios = [&mut old, &mut new].map(|prepared| prepared.drive(sequences, flows));
        match scenarios {
            [true, true] => {}
            [false, false] if sequences.is_none() && flows.is_none() => {}
            [false, false] => {
                let message =
                    "the programs are commands: they export `wasi:cli/run`, and no interface of `fozzy:scenario`";
                return Err(CampaignError::new(ErrorKind::Target, message).hint("leave out --sequences and --flows"));
            }
            [old, new] => {
                let kind = |is_scenario| if is_scenario { "is a scenario" } else { "is a command" };
                return Err(self.unlike(kind(old), kind(new)));
            }
        }
        // Both read the same standard input, which can be read once only.
        new.planned.stdin.clone_from(&old.planned.stdin);
        let seeds: Arc<[Seed]> = seeds.seeds().into();
        let of = Arc::clone(&seeds);
        let source = move |case: u64| -> Box<dyn DecisionSource> { Box::new(SeededSource::new(of[case as usize])) };
        let of = Arc::clone(&seeds);
        let group = CaseGroup {
            sides: [session_side(old, source.clone())?, session_side(new, source)?],
            cases: seeds.len() as u64,
            name: Box::new(move |case| format!("seed {}", of[case as usize])),
            seed: Box::new(move |case| seeds[case as usize]),
            mode: RunMode::Run,
        };
        let mut tally = DiffTally::default();
        self.compare(group, &mut tally)?;
        Ok(self.result(tally))
    }

    /// Compares calls, or runs, of both programs with each input of a folder.
    ///
    /// # Errors
    /// When a program cannot be given inputs so, an input cannot be read, or the machine fails.
    pub fn of_corpus(
        &self,
        request: &RunRequest,
        folder: &Path,
        given: &InputOptions,
    ) -> Result<ComparisonResult, CampaignError> {
        let files: Vec<PathBuf> = inputs::files(folder)?.into_iter().filter(|file| !inputs::is_trace(file)).collect();
        if files.is_empty() {
            let message = format!("{} holds traces, and no input", folder.display());
            return Err(CampaignError::new(ErrorKind::Selector, message).hint("name traces with --run"));
        }
        let [old, new] = self.prepared(|loaded| {
            let mut planned = plan(self.project, &loaded, request)?;
            planned.stdin = None;
            let mut prepared = PreparedProgram::to_call(loaded, planned, &Build::default())?;
            prepared.bound_time();
            Ok(prepared)
        })?;
        let confirmers = |prepared| Ok::<_, CampaignError>(InputRunner::of(given, prepared, 1)?.into_confirmers());
        let (left, right) = (confirmers(&old)?, confirmers(&new)?);
        let titles =
            |confirmers: &[FindingConfirmer]| confirmers.iter().map(|it| it.entry().title()).collect::<Vec<_>>();
        let entries = titles(&left);
        if entries != titles(&right) {
            let gets = |titles: &[String]| format!("gives inputs to {}", titles.join(", "));
            let unlike = self.unlike(&gets(&entries), &gets(&titles(&right)));
            return Err(unlike.hint("name what both have, with --function"));
        }
        let count = entries.len() as u64;
        let files = Arc::new(files);
        let side = |prepared: PreparedProgram, mut confirmers: Vec<FindingConfirmer>| {
            let files = Arc::clone(&files);
            let run = move |case: u64, keep: HistoryWindow| {
                let bytes = inputs::read(&files[(case / count) as usize]);
                let bytes = bytes.map_err(|error| HarnessError::new(error.message))?;
                confirmers[(case % count) as usize].execute(&bytes, keep)
            };
            DiffSide { prepared, run: Box::new(run) }
        };
        let (cases, shown) = (files.len() as u64 * count, Arc::clone(&files));
        let name = move |case: u64| match count {
            1 => shown[case as usize].display().to_string(),
            _ => format!("{} to {}", shown[(case / count) as usize].display(), entries[(case % count) as usize]),
        };
        let group = CaseGroup {
            sides: [side(old, left), side(new, right)],
            cases,
            name: Box::new(name),
            seed: Box::new(|_| inputs::SEED),
            mode: RunMode::Fuzz,
        };
        let mut tally = DiffTally::default();
        self.compare(group, &mut tally)?;
        Ok(self.result(tally))
    }

    /// Compares both programs under the plans and the decisions of recorded runs.
    ///
    /// # Errors
    /// When a program cannot be run so, or the machine fails.
    pub fn of_recordings(&self, recordings: &[(PathBuf, Recording)]) -> Result<ComparisonResult, CampaignError> {
        let mut tally = DiffTally::default();
        for (path, recording) in recordings {
            if self.is_over(&tally) {
                break;
            }
            self.compare_recorded(&path.display().to_string(), recording, self.against(recording)?, &mut tally)?;
        }
        Ok(self.result(tally))
    }

    /// Compares both programs under the plan and the decisions of each run that an exploration of the program before has kept in the file `state`.
    ///
    /// # Errors
    /// When the state is of another program or plan, or holds no run; when a program cannot be run so, or the machine fails.
    pub fn of_exploration(&self, request: &RunRequest, state: &Path) -> Result<ComparisonResult, CampaignError> {
        let (old, stop) = (self.old.clone(), StopFlag::clone(&self.stop));
        let mut setup = ExplorationSetup::of_state(self.project, old, request, state, stop)?;
        let mut tally = DiffTally::default();
        let mut known: Option<[PreparedProgram; 2]> = None;
        for (recording, number) in setup.kept_runs().zip(1_u64..) {
            if self.is_over(&tally) {
                break;
            }
            let recording = match recording {
                Err(error) if error.kind == ErrorKind::Interrupted => {
                    tally.is_interrupted = true;
                    break;
                }
                recording => recording?,
            };
            // All are of one plan, but for the length of runs: the code stays.
            let sides = match &known {
                None => known.insert(self.against(&recording)?).clone(),
                Some([old, new]) => [replanned(old, &recording)?, replanned(new, &recording)?],
            };
            self.compare_recorded(&format!("{} run {number}", state.display()), &recording, sides, &mut tally)?;
        }
        if tally.cases == 0 && !tally.is_interrupted {
            let message = format!("{} holds no run that was kept", state.display());
            return Err(CampaignError::new(ErrorKind::State, message).hint("fozzy explore with more --runs keeps some"));
        }
        Ok(self.result(tally))
    }

    /// Both programs under the plan of a recording.
    fn against(&self, recording: &Recording) -> Result<[PreparedProgram; 2], CampaignError> {
        self.prepared(|loaded| PreparedProgram::against(recording, loaded, &MachinesOfToday::default()))
    }

    fn compare_recorded(
        &self,
        name: &str,
        recording: &Recording,
        sides: [PreparedProgram; 2],
        tally: &mut DiffTally,
    ) -> Result<(), CampaignError> {
        let [old, new] = sides.map(|prepared| session_side(prepared, |_| source_of(recording)));
        let group = CaseGroup {
            sides: [old?, new?],
            cases: 1,
            name: Box::new(|_| name.to_owned()),
            seed: Box::new(|_| recording.seed),
            mode: RunMode::of(&recording.mode).unwrap_or(RunMode::Run),
        };
        self.compare(group, tally)
    }

    /// Both programs, ready to be executed.
    fn prepared(
        &self,
        prepare: impl Fn(LoadedTarget) -> Result<PreparedProgram, CampaignError>,
    ) -> Result<[PreparedProgram; 2], CampaignError> {
        let both = [prepare(self.old.clone())?, prepare(self.new.clone())?];
        if both.iter().any(|prepared| prepared.planned.is_live()) {
            let message = "two programs are compared on the simulated computer, and the plan asks the real one";
            return Err(CampaignError::new(ErrorKind::Usage, message).hint(
                "leave out the backend `host` of files, HTTP or processes, or record a run and name it with --run",
            ));
        }
        both.iter().for_each(|prepared| prepared.interrupt.arm(StopFlag::clone(&self.stop)));
        Ok(both)
    }

    fn unlike(&self, old: &str, new: &str) -> CampaignError {
        let (before, after) = (&self.old.target.name, &self.new.target.name);
        let message = format!("expected two programs that are run in the same way: `{before}` {old}, `{after}` {new}");
        CampaignError::new(ErrorKind::Target, message)
            .hint(format!("fozzy inspect {} says what a program exports", fozzy_report::shell_word(after)))
    }

    fn is_over(&self, tally: &DiffTally) -> bool {
        tally.is_interrupted || (self.until_difference && tally.different > 0)
    }

    fn compare(&self, mut group: CaseGroup<'_>, tally: &mut DiffTally) -> Result<(), CampaignError> {
        for case in 0..group.cases {
            if (self.stop)() {
                tally.is_interrupted = true;
            }
            if self.is_over(tally) {
                break;
            }
            match self.case(&mut group, case, tally) {
                Ok(()) => tally.cases += 1,
                Err(error) if error.is_interruption() => tally.is_interrupted = true,
                Err(error) => {
                    let message = format!("{}: {}", (group.name)(case), error.what);
                    return Err(CampaignError::new(ErrorKind::Harness, message));
                }
            }
        }
        Ok(())
    }

    fn case(&self, group: &mut CaseGroup<'_>, case: u64, tally: &mut DiffTally) -> Result<(), HarnessError> {
        let [left, right] = &mut group.sides;
        let (old, new) = ((left.run)(case, 0..0)?, (right.run)(case, 0..0)?);
        let (before, after) = (&old.execution, &new.execution);
        let mut found = self.rules.differences(before, after);
        let counts_calls = self.rules.counts(RunAspect::Calls);
        let (is_cut, has_masks) = (rules::are_cut(before, after), self.rules.has_masks());
        let stretch = first_difference(&before.history, &after.history);
        let is_shown = tally.first.is_none() && (counts_calls || !found.is_empty());
        let decides = counts_calls && (is_cut || has_masks);
        let mut divergence = None;
        let mut parts = stretch.is_some();
        if let Some(stretch) = stretch.filter(|_| is_shown || decides) {
            let end = if has_masks { before.history.calls.max(after.history.calls) } else { stretch.end };
            let mut repeat = [left, right].map(|side| move |keep| Ok((side.run)(case, keep)?.execution));
            let [one, other] = &mut repeat;
            divergence = locate_within(one, other, stretch.start..end, &|one, other| self.rules.same_call(one, other))?;
            if is_cut {
                divergence = divergence.filter(|it| it.recorded.is_some() && it.asked.is_some());
            }
            // Calls can differ in more than is shown of them.
            parts = divergence.is_some() || !(is_cut || has_masks);
        }
        if counts_calls && parts {
            let calls = |of: &Execution| {
                let (calls, decisions) = (of.history.calls, of.history.decisions);
                Some(format!(
                    "{}, {}",
                    fozzy_trace::counted(calls, "call"),
                    fozzy_trace::counted(decisions, "decision")
                ))
            };
            found.push(AspectDifference {
                what: RunAspect::Calls,
                machine: None,
                property: None,
                line: None,
                column: None,
                old: calls(before),
                new: calls(after),
            });
        }
        for warning in self.rules.warnings(before, after) {
            if !tally.warnings.iter().any(|known| known == warning) {
                tally.warnings.push(warning.to_owned());
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        tally.different += 1;
        let mut whats: Vec<RunAspect> = found.iter().map(|it| it.what).collect();
        whats.dedup();
        whats.sort_unstable();
        whats.dedup();
        whats.into_iter().for_each(|what| *tally.aspects.entry(what).or_default() += 1);
        let name = (group.name)(case);
        if tally.names.len() < CASES_NAMED_MAX {
            tally.names.push(name.clone());
        }
        if tally.first.is_none() {
            let step = divergence.as_ref().map(|it| step(&mut group.sides, case, it)).transpose()?.flatten();
            let names = MachineNames::of(&old.plan);
            tally.first = Some(CaseDifference {
                case: name,
                seed: (group.seed)(case),
                differences: found,
                divergence: divergence.map(|it| DivergenceDocument {
                    index: it.index,
                    virtual_time_ns: it.at.0,
                    machines: names.list(),
                    recorded: it.recorded,
                    asked: it.asked,
                }),
                step,
                old_trace: None,
                new_trace: None,
            });
            let (seed, mode) = ((group.seed)(case), group.mode);
            let [left, right] = &mut group.sides;
            tally.runs = Some([left.recorded(case, seed, mode)?, right.recorded(case, seed, mode)?]);
        }
        Ok(())
    }

    fn result(&self, tally: DiffTally) -> ComparisonResult {
        let DiffTally { cases, different, aspects, names, mut warnings, first, runs, is_interrupted } = tally;
        if different > 0 && aspects.keys().all(|what| *what == RunAspect::Calls) {
            warnings.push("only calls differ; --ignore calls declares that they may".to_owned());
        }
        let document = DiffDocument {
            schema_version: "fozzy.diff.v1".to_owned(),
            old: self.old.summary(),
            new: self.new.summary(),
            equal: different == 0,
            interrupted: is_interrupted,
            cases,
            different,
            aspects: aspects.into_iter().map(|(what, cases)| AspectCount { what, cases }).collect(),
            ignored: self.rules.ignored.clone(),
            masks: self.rules.masks(),
            first,
            different_cases: names,
            warnings,
            next: Vec::new(),
        };
        ComparisonResult { document, runs }
    }
}

impl DiffSide<'_> {
    /// The run of a case once more, with what a recording needs.
    fn recorded(&mut self, case: u64, seed: Seed, mode: RunMode) -> Result<DiffRun, HarnessError> {
        let ConfirmedRun { execution, plan, inputs } = (self.run)(case, 0..ENTRIES_KEPT)?;
        let mut prepared = self.prepared.clone();
        (prepared.planned.plan, prepared.planned.inputs) = (plan, inputs);
        prepared.planned.add_stdin();
        let recording = prepared.record(&execution, seed, mode);
        Ok(DiffRun { execution, recording })
    }
}

/// A program that is ready, under the plan of a recording.
fn replanned(known: &PreparedProgram, recording: &Recording) -> Result<PreparedProgram, CampaignError> {
    let today = PlanOfToday::new(recording, &known.loaded, None, &MachinesOfToday::default())?;
    let mut prepared = known.clone();
    prepared.planned = today.planned;
    Ok(prepared)
}

/// A program that is run from its beginning to its end, with the answers of each case.
fn session_side<'a>(
    prepared: PreparedProgram,
    source: impl Fn(u64) -> Box<dyn DecisionSource> + 'a,
) -> Result<DiffSide<'a>, CampaignError> {
    let mut session = prepared.session()?;
    if let Some(stdin) = &prepared.planned.stdin {
        session.read_from(Arc::clone(stdin));
    }
    let (plan, inputs) = (prepared.planned.plan.clone(), prepared.planned.inputs.clone());
    let run = move |case, keep| {
        let execution = session.execute(source(case), keep)?;
        Ok(ConfirmedRun { execution, plan: plan.clone(), inputs: inputs.clone() })
    };
    Ok(DiffSide { prepared, run: Box::new(run) })
}

/// The step of a scenario that was being made when the programs parted.
fn step(sides: &mut [DiffSide<'_>; 2], case: u64, at: &CallDivergence) -> Result<Option<String>, HarnessError> {
    let window = at.index.saturating_sub(STEP_WINDOW_CALLS)..at.index.saturating_add(1);
    let run = (sides[0].run)(case, window)?;
    let mut calls = run.execution.history.entries.iter().rev();
    Ok(calls.find(|entry| entry.call == STEP_CALL).map(|entry| format!("step {}", entry.asked)))
}
