//! `fozzy check`: a history from a file or a folder, judged.
//!
//! ```text
//! history.edn · store/test/latest/ ─▶ bytes ─┬▶ OperationHistory ─ model ─▶ verdict ─▶ HistoryCheck
//! run.fozzy ─▶ the same execution once more ─┘
//! ```
//!
//! Its page gets the calls beside the verdict, since documents have only those that show what is wrong.
//! Not here: how a history is judged (`fozzy-check`); what is printed (`fozzy-report`).

use crate::error::{CampaignError, ErrorKind, at_path};
use crate::inputs::is_trace;
use crate::model_component::model_component;
use crate::pipeline::PreparedProgram;
use crate::remarks::Remarks;
use crate::selector;
use crate::store::write_output;
use fozzy_check::{
    CHECKERS, CheckLimits, CheckerOptions, ClientCall, HistoryAnomaly, HistoryError, HistoryFormat, HistoryNotation,
    HistoryOperation, HistoryOrder, ISOLATION_LEVELS, IsolationAnomaly, IsolationLevel, LinearizabilityVerdict, MODELS,
    ModelRow, NOTATIONS, OperationHistory, OperationType, PartitionVerdict, Process, ProgramModel, UndecidedReason,
    Validity, WrittenHistory, check_isolation_level, check_linearizability, check_property_with,
    check_sequential_consistency, checker, guess_checker, guess_model, has_transactions, isolation_level, judge,
    minimize_sequential_violation, minimize_violation, model, notation, notation_of_extension, pair_calls, read_cobra,
};
use fozzy_report::{
    CheckerAnomaly, CheckerCount, DependencyReport, HistoryCall, HistoryCheck, HistoryPage, HistoryTimeline,
    HistoryViolation, IsolationReport, TimelinePart, TransactionAnomalyReport, UndecidedPartition,
};
use fozzy_search::source_of;
use fozzy_trace::Executor;
use fozzy_trace::file::RecordedOutcome;
use fozzy_trace::plan::criteria::is_model_path;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Names under which Jepsen keeps the history of a test in its folder; the first that is there counts.
const HISTORY_NAMES: [&str; 3] = ["history.edn", "history.json", "history.jsonl"];
/// Links of a store to the last test that ended, and to the last one that began.
const LATEST: &str = "latest";
const CURRENT: &str = "current";
/// The file extension of Cobra's logs; a folder has one log for each session.
const COBRA_ENDING: &str = "log";
/// Bytes of a history that are read.
const HISTORY_BYTES_MAX: u64 = 2 << 30;
/// The consistency model when real time does not count.
const SEQUENTIAL: &str = "sequential";
/// Most parts of a history whose violations the document explains.
const PARTS_MAX: usize = 16;

/// What a history is judged by.
pub struct HistoryCheckRequest<'a> {
    /// The name of a checker that judges instead of a model.
    pub checker: Option<&'a str>,
    /// What that checker is told of the test.
    pub options: CheckerOptions,
    /// The name of the model; guessed from the history if there is none.
    pub model: Option<&'a str>,
    /// Whether only the order within each process counts, not that in time.
    pub is_sequential: bool,
    /// Bytes that the search of one part may use.
    pub memory_bytes_max: usize,
    /// Whether time is over.
    pub is_over: &'a dyn Fn() -> bool,
    /// Whether a page of the history is made.
    pub has_page: bool,
    /// Where the history is written before it is judged.
    pub write_to: Option<&'a HistoryDestination<'a>>,
    /// Who hears of a model that is built first.
    pub remarks: &'a Remarks,
}

/// Where a history is written, and in which notation.
pub struct HistoryDestination<'a> {
    path: &'a Path,
    notation: &'static HistoryNotation,
}

impl<'a> HistoryDestination<'a> {
    /// A file, or a folder where the notation has several; the notation is that of the file's ending if none is named.
    ///
    /// # Errors
    /// When there is no such notation, or the ending means none.
    pub fn new(path: &'a Path, name: Option<&str>) -> Result<HistoryDestination<'a>, CampaignError> {
        let known = || NOTATIONS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
        let ending = path.extension().and_then(|ending| ending.to_str());
        let notation = match name {
            Some(name) => notation(name).ok_or_else(|| format!("there is no notation `{}`", name.escape_debug())),
            None => ending
                .and_then(notation_of_extension)
                .ok_or_else(|| format!("the ending of {} means no notation", path.display())),
        };
        let notation = notation
            .map_err(|why| CampaignError::new(ErrorKind::Usage, format!("{why}; --notation is one of {}", known())))?;
        Ok(HistoryDestination { path, notation })
    }

    fn write(&self, from: &Path, history: &OperationHistory) -> Result<(), CampaignError> {
        let written = self.notation.write(history).map_err(|error| {
            let message = format!("{}: {error}", from.display());
            CampaignError::new(ErrorKind::History, message)
        })?;
        match written {
            WrittenHistory::File(bytes) => write_output(self.path, &bytes),
            WrittenHistory::Folder(files) => {
                let failed = |error: std::io::Error| at_path(ErrorKind::History, "cannot create", self.path, &error);
                fs::create_dir_all(self.path).map_err(failed)?;
                files.iter().try_for_each(|(name, bytes)| write_output(&self.path.join(name), bytes))
            }
        }
    }
}

/// A history that was judged.
pub struct JudgedHistory {
    /// The verdict.
    pub validity: Validity,
    /// What is said of it, and its calls if a page was asked for.
    pub page: HistoryPage,
}

/// Judges the history at a path.
///
/// # Errors
/// When there is none, or it is not one, or does not fit the model.
pub fn check_history(path: &Path, request: &HistoryCheckRequest<'_>) -> Result<JudgedHistory, CampaignError> {
    let (path, history) = read_history(path)?;
    if let Some(destination) = request.write_to {
        destination.write(&path, &history)?;
        request.remarks.text(&format!("wrote {}\n", destination.path.display()));
    }
    check_read_history(&path, history, request)
}

/// Judges a history that was read or recorded; `path` names it.
///
/// # Errors
/// When it is no history, or does not fit the model.
pub fn check_read_history(
    path: &Path,
    mut history: OperationHistory,
    request: &HistoryCheckRequest<'_>,
) -> Result<JudgedHistory, CampaignError> {
    let wrong =
        |error: &dyn std::fmt::Display| CampaignError::new(ErrorKind::History, format!("{}: {error}", path.display()));
    let calls = pair_calls(&history).map_err(|error| wrong(&error))?;
    let clients = history.client_operations().map(|one| one.process);
    let processes: BTreeSet<Process> = clients.filter(|process| matches!(process, Process::Client(_))).collect();
    let mut check = HistoryCheck {
        file: path.display().to_string(),
        validity: validity_name(Validity::Valid).to_owned(),
        format: history.format.name().to_owned(),
        calls: calls.len() as u64,
        processes: processes.len() as u64,
        remarks: times_back(&history).into_iter().collect(),
        ..HistoryCheck::default()
    };
    if calls.is_empty() {
        return Ok(JudgedHistory { validity: Validity::Valid, page: HistoryPage { check, ..HistoryPage::default() } });
    }
    let limits = CheckLimits { memory_bytes_max: request.memory_bytes_max, is_over: request.is_over };
    let (validity, parts) = if let Some(name) = request.checker {
        judge_property(&history, name, (&request.options, &limits), &mut check).map_err(|error| wrong(&error))?
    } else if let Some(level) = chosen_level(&history, request.model).filter(|_| !request.is_sequential) {
        check.model_guessed = request.model.is_none();
        judge_isolation(&history, level, &limits, &mut check).map_err(|error| wrong(&error))?
    } else if let Some(name) = request.model.filter(|name| is_model_path(name)) {
        if request.is_sequential {
            check.consistency = Some(SEQUENTIAL.to_owned());
        }
        judge_by_component(&mut history, &calls, Path::new(name), request, &mut check)?
    } else {
        let row = chosen_model(&history, request.model).map_err(|error| wrong(&error))?;
        check.model_guessed = request.model.is_none();
        if request.is_sequential {
            check.consistency = Some(SEQUENTIAL.to_owned());
        }
        judge_calls(&history, &calls, row, &limits, &mut check).map_err(|error| wrong(&error))?
    };
    check.validity = validity_name(validity).to_owned();
    let timeline = match request.has_page {
        true => HistoryTimeline::new(&history, &calls, &parts),
        false => HistoryTimeline::default(),
    };
    Ok(JudgedHistory { validity, page: HistoryPage { check, timeline } })
}

/// That times go back, which the order of a history does not.
fn times_back(history: &OperationHistory) -> Option<String> {
    let mut last: Option<&HistoryOperation> = None;
    for operation in history.operations.iter().filter(|one| one.time.is_some()) {
        if let Some(before) = last.replace(operation)
            && operation.time < before.time
        {
            let place = match operation.line {
                0 => format!("operation {}", operation.index),
                line => format!("line {line}"),
            };
            let [from, to] = [before.time, operation.time].map(Option::unwrap_or_default);
            return Some(format!("time goes back from {from} to {to} ns ({place}); the order of the file counts"));
        }
    }
    None
}

/// What is said of a history that could not be judged, among others.
#[must_use]
pub fn unjudged_history(path: &Path, error: &CampaignError) -> JudgedHistory {
    let check = HistoryCheck {
        file: path.display().to_string(),
        validity: "error".to_owned(),
        error: Some(error.to_string()),
        ..HistoryCheck::default()
    };
    JudgedHistory { validity: Validity::Unknown, page: HistoryPage { check, ..HistoryPage::default() } }
}

/// Judges whether calls are linearizable.
fn judge_calls(
    history: &OperationHistory,
    calls: &[ClientCall],
    row: &ModelRow<'_>,
    limits: &CheckLimits<'_>,
    check: &mut HistoryCheck,
) -> Result<(Validity, Vec<TimelinePart>), HistoryError> {
    let is_sequential = check.consistency.is_some();
    let verdict = match is_sequential {
        true => check_sequential_consistency(history, row, limits)?,
        false => check_linearizability(history, row, limits)?,
    };
    check.model = Some(row.name.to_owned());
    // The one for all keys together is none of them.
    let keys = verdict.partitions.iter().filter(|part| part.key.is_some()).count();
    check.partitions = keys.max(verdict.partitions.len().min(1)) as u64;
    check.parted_by = (check.partitions > 1).then(|| {
        let name = match (verdict.by_element, is_model_path(row.name)) {
            (true, true) => "part",
            (true, false) => "element",
            (false, _) => "key",
        };
        name.to_owned()
    });
    check.undecided = undecided(history, &verdict);
    let by_invocation: BTreeMap<u32, ClientCall> = calls.iter().map(|call| (call.invocation, *call)).collect();
    let mut parts = Vec::new();
    for part in verdict.partitions {
        let is_wrong = part.validity == Validity::Invalid && check.violations.len() < PARTS_MAX;
        let mut minimal = Vec::new();
        if is_wrong {
            let found = match is_sequential {
                true => minimize_sequential_violation(history, row, &part, limits)?,
                false => minimize_violation(history, row, &part, limits)?,
            };
            minimal = found.map(|minimal| minimal.calls).unwrap_or_default();
            check.violations.push(violation(history, &by_invocation, &part, &minimal));
        }
        let PartitionVerdict { key, validity, calls, order, stuck, .. } = part;
        parts.push(TimelinePart { key, validity, calls, order, minimal, stuck });
    }
    if keys > 0 && parts.last().is_some_and(|part| part.key.is_none()) {
        // It has the calls of all others.
        parts.drain(..keys);
    }
    Ok((verdict.validity, parts))
}

/// Judges calls by a model of the user's own.
fn judge_by_component(
    history: &mut OperationHistory,
    calls: &[ClientCall],
    path: &Path,
    request: &HistoryCheckRequest<'_>,
    check: &mut HistoryCheck,
) -> Result<(Validity, Vec<TimelinePart>), CampaignError> {
    let wrong = |why: String| CampaignError::new(ErrorKind::Target, format!("{}: {why}", path.display()));
    let mut component = model_component(path, request.remarks)?;
    let model = ProgramModel::new(history, &mut component).map_err(wrong)?;
    let name = path.display().to_string();
    let row = ModelRow { name: &name, summary: "", functions: &[], model: &model };
    let is_over = || model.failure().is_some() || (request.is_over)();
    let limits = CheckLimits { memory_bytes_max: request.memory_bytes_max, is_over: &is_over };
    let judged = judge_calls(history, calls, &row, &limits, check).map_err(|error| wrong(error.to_string()))?;
    // What was said while it failed means nothing.
    model.failure().map_or(Ok(judged), |why| Err(wrong(why)))
}

/// All calls as one part, in which some are marked.
fn whole_part(
    history: &OperationHistory,
    validity: Validity,
    marked: BTreeSet<u32>,
) -> Result<TimelinePart, HistoryError> {
    let calls: Vec<u32> = pair_calls(history)?.iter().map(|call| call.invocation).collect();
    let minimal = marked.into_iter().collect();
    Ok(TimelinePart { key: None, validity, calls, order: Vec::new(), minimal, stuck: None })
}

/// Judges a history by a checker.
fn judge_property(
    history: &OperationHistory,
    name: &str,
    (options, limits): (&CheckerOptions, &CheckLimits<'_>),
    check: &mut HistoryCheck,
) -> Result<(Validity, Vec<TimelinePart>), String> {
    let row = checker(name).ok_or_else(|| {
        let known = CHECKERS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
        format!("there is no checker `{}`; there are {known}", name.escape_debug())
    })?;
    let verdict = check_property_with(history, row, options, limits).map_err(|error| error.to_string())?;
    check.checker = Some(row.name.to_owned());
    check.counts = verdict.counts.into_iter().map(|(name, number)| CheckerCount { name, number }).collect();
    let index = |position: &u32| history.operations[*position as usize].index;
    let describe = |one: HistoryAnomaly| CheckerAnomaly {
        kind: one.kind.to_owned(),
        message: one.message,
        operations: one.operations.iter().map(index).collect(),
    };
    let marked = verdict.anomalies.iter().flat_map(|one| one.operations.iter().copied()).collect();
    let part = whole_part(history, verdict.validity, marked).map_err(|error| error.to_string())?;
    check.anomalies = verdict.anomalies.into_iter().map(describe).collect();
    Ok((verdict.validity, vec![part]))
}

/// The name of a verdict in documents.
#[must_use]
pub fn validity_name(validity: Validity) -> &'static str {
    match validity {
        Validity::Valid => "valid",
        Validity::Unknown => "unknown",
        Validity::Invalid => "invalid",
    }
}

/// The isolation level that is asked for; for a history of transactions, the strongest that its order can show.
fn chosen_level(history: &OperationHistory, name: Option<&str>) -> Option<&'static IsolationLevel> {
    match name {
        Some(name) => isolation_level(name),
        None if !has_transactions(history) => None,
        None if history.order == HistoryOrder::Sessions => isolation_level("strong-session-serializable"),
        None => isolation_level("strict-serializable"),
    }
}

/// Judges the isolation of transactions.
fn judge_isolation(
    history: &OperationHistory,
    level: &IsolationLevel,
    limits: &CheckLimits<'_>,
    check: &mut HistoryCheck,
) -> Result<(Validity, Vec<TimelinePart>), HistoryError> {
    let verdict = check_isolation_level(history, level, limits)?;
    let validity = verdict.validity(level);
    let calls: BTreeMap<u32, ClientCall> = pair_calls(history)?.iter().map(|call| (call.invocation, *call)).collect();
    let describe = |one: &IsolationAnomaly| TransactionAnomalyReport {
        kind: one.kind.clone(),
        message: one.message.clone(),
        transactions: one
            .transactions
            .iter()
            .filter_map(|position| calls.get(position).map(|call| describe(history, call)))
            .collect(),
        steps: one
            .steps
            .iter()
            .map(|step| DependencyReport { relation: step.relation.to_owned(), because: step.because.clone() })
            .collect(),
        shortest: one.is_shortest,
    };
    // What shows most stands first.
    let marked = verdict.anomalies.first().map(|one| one.transactions.iter().copied().collect());
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
    let [committed, failed, unknown] = verdict.transactions;
    check.model = Some(level.name.to_owned());
    check.isolation = Some(IsolationReport {
        workload: verdict.workload.to_owned(),
        committed,
        failed,
        unknown,
        keys: verdict.keys,
        proof: match validity {
            Validity::Valid => Some("proved".to_owned()),
            Validity::Unknown => Some("nothing-found".to_owned()),
            Validity::Invalid => None,
        },
        counts: verdict.counts.iter().map(|(name, n)| CheckerCount { name: name.clone(), number: *n as i64 }).collect(),
        anomalies: verdict.anomalies.iter().map(describe).collect(),
        impossible: names(&verdict.levels.impossible),
        also_impossible: names(&verdict.levels.also_impossible),
        possible: names(&verdict.levels.possible),
        undecided: verdict.undecided,
    });
    Ok((validity, vec![whole_part(history, validity, marked.unwrap_or_default())?]))
}

/// The model that is asked for, or the one that the history plainly has.
fn chosen_model(history: &OperationHistory, name: Option<&str>) -> Result<&'static ModelRow<'static>, String> {
    let known = || MODELS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    if has_transactions(history) {
        // Asked for by a name that is none, or without time.
        let levels = ISOLATION_LEVELS.iter().map(|level| level.name).collect::<Vec<_>>().join(", ");
        match name {
            Some(name) if model(name).is_none() => {
                let name = name.escape_debug();
                return Err(format!("there is no level of isolation and no model `{name}`; levels are {levels}"));
            }
            None => {
                return Err(
                    "it has transactions; without time they are strong-session-serializable, which --model names, \
                            and registers have --model multi-register"
                        .to_owned(),
                );
            }
            Some(_) => {}
        }
    }
    match name {
        Some(name) => model(name).ok_or_else(|| {
            format!(
                "there is no model `{}`; there are {}, and components (`./model.wasm`)",
                name.escape_debug(),
                known()
            )
        }),
        None => guess_model(history).map_err(|why| {
            let checker = guess_checker(history).map(|name| format!("--checker {name} judges such a history; "));
            format!("{why}\n{}--model is one of {}", checker.unwrap_or_default(), known())
        }),
    }
}

/// The history at a path, and where it was found.
fn read_history(path: &Path) -> Result<(PathBuf, OperationHistory), CampaignError> {
    if is_trace(path) {
        return Ok((path.to_owned(), history_of_run(path)?));
    }
    if path.is_dir() {
        if let Some(file) = history_file(path) {
            return read_history(&file);
        }
        return read_cobra_folder(path);
    }
    let bytes = read_bytes(path)?;
    let history = OperationHistory::read(&bytes);
    let history =
        history.map_err(|error| CampaignError::new(ErrorKind::History, format!("{}: {error}", path.display())))?;
    Ok((path.to_owned(), history))
}

/// The history in a folder of Jepsen's: of a test, of the last run of a test, or of the last test of a store.
fn history_file(folder: &Path) -> Option<PathBuf> {
    let folders = [folder.to_owned(), folder.join(LATEST), folder.join(CURRENT)];
    folders.iter().find_map(|folder| HISTORY_NAMES.iter().map(|name| folder.join(name)).find(|file| file.is_file()))
}

/// The operations of a recorded run, which is executed once more: a trace has what they follow from.
fn history_of_run(path: &Path) -> Result<OperationHistory, CampaignError> {
    let recording = selector::read(path)?;
    let execution = PreparedProgram::of_recording(&recording)?.session()?.execute(source_of(&recording), 0..0)?;
    let outcome = RecordedOutcome::of(&execution, judge(&execution));
    if let Some(difference) = fozzy_search::compare(&recording.outcome, &outcome) {
        let message = format!("{}: the run was not reproduced: {}", path.display(), difference.what);
        return Err(CampaignError::new(ErrorKind::Divergence, message)
            .hint(format!("fozzy replay {}", fozzy_report::shell_path(path))));
    }
    Ok(OperationHistory::of_run(&execution.facts.operations))
}

/// The logs of a folder, in the order of their names.
fn read_cobra_folder(path: &Path) -> Result<(PathBuf, OperationHistory), CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::History, "cannot read", path, &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|ending| ending == COBRA_ENDING) {
            files.push(file);
        }
    }
    if files.is_empty() {
        let names = HISTORY_NAMES.join(", ");
        let message =
            format!("{} has none of {names}, nor has its folder `{LATEST}`, and there are no logs", path.display());
        return Err(CampaignError::new(ErrorKind::History, message));
    }
    files.sort();
    let logs: Vec<Vec<u8>> = files.iter().map(|file| read_bytes(file)).collect::<Result<_, _>>()?;
    // A Jepsen log is text too, but one file is a whole history.
    if let [log] = logs.as_slice()
        && HistoryFormat::recognise(log) == HistoryFormat::JepsenLog
    {
        return read_history(&files[0]);
    }
    let logs: Vec<&[u8]> = logs.iter().map(Vec::as_slice).collect();
    let history = read_cobra(&logs);
    let history =
        history.map_err(|error| CampaignError::new(ErrorKind::History, format!("{}: {error}", path.display())))?;
    Ok((path.to_owned(), history))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::History, "cannot read", path, &error);
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(failed)?.take(HISTORY_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > HISTORY_BYTES_MAX {
        let message = format!("{} has more than the {HISTORY_BYTES_MAX} bytes that a history may have", path.display());
        return Err(CampaignError::new(ErrorKind::History, message));
    }
    Ok(bytes)
}

fn undecided(history: &OperationHistory, verdict: &LinearizabilityVerdict) -> Vec<UndecidedPartition> {
    let parts = verdict.partitions.iter().filter(|one| one.validity == Validity::Unknown);
    let describe = |part: &PartitionVerdict| UndecidedPartition {
        key: part.key.map(|key| history.pool.edn(key)),
        calls: part.calls.len() as u64,
        reason: match part.reason {
            Some(UndecidedReason::Memory) => "memory",
            Some(UndecidedReason::Time) => "time",
            Some(UndecidedReason::Width) => "width",
            Some(UndecidedReason::Unneeded) | None => "not-needed",
        }
        .to_owned(),
        returns: part.returns.0 as u64,
        of_returns: part.returns.1 as u64,
    };
    parts.take(PARTS_MAX).map(describe).collect()
}

fn violation(
    history: &OperationHistory,
    calls: &BTreeMap<u32, ClientCall>,
    part: &PartitionVerdict,
    minimal: &[u32],
) -> HistoryViolation {
    let index = |position: &u32| history.operations[*position as usize].index;
    let describe = |position: &u32| calls.get(position).map(|call| describe(history, call));
    HistoryViolation {
        key: part.key.map(|key| history.pool.edn(key)),
        calls: part.calls.len() as u64,
        minimal: minimal.iter().filter_map(describe).collect(),
        longest: part.order.iter().map(index).collect(),
        is_longest: part.is_longest,
        state: part.state.clone(),
        stuck: part.stuck.as_ref().and_then(describe),
    }
}

fn describe(history: &OperationHistory, call: &ClientCall) -> HistoryCall {
    let invoked = &history.operations[call.invocation as usize];
    let completed = call.completion.map(|at| &history.operations[at as usize]);
    let edn = |id: fozzy_check::DatumId| (!id.is_nil()).then(|| history.pool.edn(id));
    let answered = completed.filter(|one| one.kind == OperationType::Ok && one.value != invoked.value);
    HistoryCall {
        index: invoked.index,
        completion: completed.filter(|one| one.kind != OperationType::Info).map(|one| one.index),
        line: (invoked.line > 0).then_some(u64::from(invoked.line)),
        process: match invoked.process {
            Process::Client(number) => number.to_string(),
            Process::Named(name) => history.pool.edn(name),
            Process::Unknown => "-".to_owned(),
        },
        function: history.function_name(invoked).to_owned(),
        argument: edn(invoked.value),
        result: answered.map(|one| history.pool.edn(one.value)),
        outcome: call.outcome.name().to_owned(),
    }
}
