//! Findings of the operations that clients recorded in a run, by the checkers that its plan or the program itself names.
//!
//! ```text
//! operations ─▶ OperationHistory ─┬─ linearizable kv         Fail: not-linearizable of key x
//!                                 ├─ isolation serializable  Fail: G-single-item
//!                                 └─ set-full                Error: it does not tell
//! ```
//!
//! Invariants: a verdict is a function of the operations: limits are counted, not timed. What could not be decided is no pass. The site
//! of a finding is the checker, the anomaly and the class of the key, never a value.
//! Not here: anomalies that end a run while it continues (`fozzy_trace::facts::Operations`).

use crate::checker::{CHECKERS, CheckerOptions, LatencyBound, MISFIT, NO_SUCCESS, check_property_with, checker};
use crate::history::{ClientCall, DatumId, HistoryOrder, OperationHistory, OperationType, Process, pair_calls};
use crate::isolation::{ISOLATION_LEVELS, check_isolation_level, has_transactions, isolation_level};
use crate::judge::{JudgedFinding, JudgedRun};
use crate::linearizability::{
    CheckLimits, LinearizabilityVerdict, UndecidedReason, Validity, check_linearizability,
    check_sequential_consistency, minimize_sequential_violation, minimize_violation,
};
use crate::model::{MODELS, ModelRow, ProgramModel, guess_model, model};
use crate::unmatched::one_line;
use fozzy_trace::facts::Operations;
use fozzy_trace::plan::HistoryCriterion;
use fozzy_trace::plan::criteria::is_model_path;
use fozzy_trace::{Finding, FindingKind, ModelProgram, ModelPrograms, Status};
use std::cell::Cell;
use std::sync::PoisonError;

/// Memory of a search for an order of the calls of one key, in bytes, and how often it looks whether it is to end: a search campaign
/// judges each of its runs, so that one must not take long. What is not decided by then is an error that says so.
const MEMORY_BYTES_MAX: usize = 256 << 20;
const LOOKS_MAX: u64 = 4096;
/// Calls of a violation that are shown.
const SHOWN_CALLS: usize = 16;

/// Checkers beside those of [`CHECKERS`].
const LINEARIZABLE: &str = "linearizable";
const SEQUENTIAL: &str = "sequential";
const ISOLATION: &str = "isolation";
/// The checker of [`CHECKERS`] that is told of a test.
const BANK: &str = "bank";
/// The one whose latencies can have bounds.
const SET_FULL: &str = "set-full";

/// What is wrong by one criterion.
struct Violation {
    status: Status,
    anomaly: String,
    key: Option<String>,
    message: String,
    /// Whether the operations are too few for a verdict.
    is_open: bool,
    /// Whether all that is wrong is that no operation of a kind has succeeded.
    lacks_success: bool,
}

/// What is judged by its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JudgedExtent {
    /// A run of which nothing else was found.
    Run,
    /// A run of which something else was found: that its operations are too few for a verdict follows from it.
    FailedRun,
    /// One of the many runs of a search, which may be short, or hit by faults from beginning to end.
    SearchedRun,
}

impl JudgedExtent {
    /// Whether a violation is a finding of it.
    const fn tells(self, violation: &Violation) -> bool {
        match self {
            JudgedExtent::Run => true,
            JudgedExtent::FailedRun => !violation.is_open,
            JudgedExtent::SearchedRun => !violation.is_open && !violation.lacks_success,
        }
    }
}

impl Violation {
    fn wrong(anomaly: &str, key: Option<String>, message: String) -> Violation {
        let anomaly = anomaly.to_owned();
        Violation { status: Status::Fail, anomaly, key, message, is_open: false, lacks_success: false }
    }

    /// It cannot be judged.
    fn unjudged(anomaly: &str, message: String) -> Violation {
        Violation { status: Status::Error, ..Violation::wrong(anomaly, None, message) }
    }

    /// The bounds of a run are too narrow for a verdict; of a search for an order it is known which one.
    fn undecided(limits: &CheckLimits<'_>, reason: Option<UndecidedReason>) -> Violation {
        let memory = format!("{} MiB of memory", MEMORY_BYTES_MAX >> 20);
        let bound = match reason {
            Some(UndecidedReason::Width) => "more calls are open at once than the search can tell apart".to_owned(),
            Some(UndecidedReason::Memory) => format!("the search would need more than its {memory}"),
            None if !(limits.is_over)() => format!("the search would need more than its {memory}, or than its steps"),
            _ => "the search has used up its steps".to_owned(),
        };
        let message = format!(
            "no verdict within the bounds of a run: {bound}; `fozzy check` of the written history has --time and --mem"
        );
        Violation { status: Status::Timeout, ..Violation::wrong("undecided", None, message) }
    }
}

/// What stands between a name and a checker: nothing, or why there is none, in a sentence.
///
/// # Errors
/// The sentence.
///
/// ```
/// use fozzy_check::check_criterion;
/// use fozzy_trace::plan::HistoryCriterion;
/// assert!(check_criterion(&HistoryCriterion::named("linearizable", "kv")).is_ok());
/// assert!(check_criterion(&HistoryCriterion::named("linearisable", "kv")).is_err());
/// ```
pub fn check_criterion(criterion: &HistoryCriterion) -> Result<(), String> {
    let name = criterion.model.as_str();
    let unknown = |what: &str, name: &str, known: Vec<&str>| {
        Err(format!("there is no {what} `{}`; there are {}", one_line(name), known.join(", ")))
    };
    let says_of_bank = !criterion.accounts.is_empty() || criterion.total.is_some();
    if says_of_bank && criterion.checker != BANK {
        return Err(format!("the checker {} has no accounts and no total: bank has", one_line(&criterion.checker)));
    }
    match criterion.checker.as_str() {
        LINEARIZABLE | SEQUENTIAL if criterion.component.is_some() => Ok(()),
        LINEARIZABLE | SEQUENTIAL if is_model_path(name) => {
            Err(format!("the model `{}` is a component: a plan names those, in `expect.history`", one_line(name)))
        }
        LINEARIZABLE | SEQUENTIAL if name.is_empty() || model(name).is_some() => Ok(()),
        LINEARIZABLE | SEQUENTIAL => unknown("model", name, MODELS.iter().map(|row| row.name).collect()),
        ISOLATION if name.is_empty() || isolation_level(name).is_some() => Ok(()),
        ISOLATION => unknown("isolation level", name, ISOLATION_LEVELS.iter().map(|level| level.name).collect()),
        other if checker(other).is_none() => {
            let known = [LINEARIZABLE, SEQUENTIAL, ISOLATION].into_iter().chain(CHECKERS.iter().map(|row| row.name));
            unknown("checker", other, known.collect())
        }
        _ if name.is_empty() => Ok(()),
        SET_FULL => LatencyBound::all(name).map(drop),
        other => Err(format!("the checker {other} has no models, and `{}` is given", one_line(name))),
    }
}

/// The findings of a run's operations; those of a run say, too, what could not be decided for want of operations.
pub(crate) fn found(operations: &Operations, extent: JudgedExtent) -> JudgedRun {
    found_by(operations, extent, true)
}

/// The same, where an operation that never ends is given up when its client begins another one, or is not, and the operations do not fit.
pub(crate) fn found_by(operations: &Operations, extent: JudgedExtent, gives_up: bool) -> JudgedRun {
    let (mut found, mut is_undecided) = (Vec::new(), false);
    if operations.criteria.is_empty() {
        return JudgedRun { found, is_undecided };
    }
    let history = OperationHistory::of_run_by(operations, gives_up);
    for criterion in &operations.criteria {
        match violation(&history, criterion, &operations.models) {
            Some(violation) if !extent.tells(&violation) => is_undecided = true,
            violation => found.extend(violation.map(|violation| finding(criterion, violation))),
        }
    }
    // What is wrong by one criterion is wrong, whatever could not be judged by another.
    if found.iter().any(|one: &JudgedFinding| one.status == Status::Fail) {
        found.retain(|one| one.status == Status::Fail);
    }
    JudgedRun { found, is_undecided }
}

fn finding(criterion: &HistoryCriterion, violation: Violation) -> JudgedFinding {
    let Violation { status, anomaly, key, message, .. } = violation;
    let site = criterion.site(&anomaly, key.as_deref());
    let name = one_line(&criterion.name());
    let title = format!("{name}: {}", message.lines().next().unwrap_or_default());
    let message = format!("{name}: {message}");
    let kind = FindingKind::Checker;
    let finding =
        Finding { kind, title, message, location: None, backtrace: Vec::new(), peers: Vec::new(), related: Vec::new() };
    JudgedFinding { status, finding, site: one_line(&site), words: String::new() }
}

fn violation(history: &OperationHistory, criterion: &HistoryCriterion, models: &ModelPrograms) -> Option<Violation> {
    if let Err(why) = check_criterion(criterion) {
        return Some(Violation::unjudged("no such checker", why));
    }
    if history.operations.is_empty() {
        return None;
    }
    let looks = Cell::new(0);
    let is_over = || {
        looks.set(looks.get() + 1);
        looks.get() > LOOKS_MAX
    };
    let limits = CheckLimits { memory_bytes_max: MEMORY_BYTES_MAX, is_over: &is_over };
    let judged = match (criterion.checker.as_str(), criterion.component) {
        (checker @ (LINEARIZABLE | SEQUENTIAL), Some(component)) => match models.get(&component) {
            Some(program) => {
                let mut program = program.lock().unwrap_or_else(PoisonError::into_inner);
                return order_of_program(history, criterion, &mut *program, checker == SEQUENTIAL, &limits);
            }
            None => Err("the component of the model is not there".to_owned()),
        },
        (LINEARIZABLE, None) => order(history, &criterion.model, false, &limits),
        (SEQUENTIAL, None) => order(history, &criterion.model, true, &limits),
        (ISOLATION, _) => isolation(history, &criterion.model, &limits),
        _ => property(history, criterion),
    };
    judged.unwrap_or_else(|why| Some(Violation::unjudged(MISFIT, format!("the operations do not fit: {why}"))))
}

/// Whether calls have an order that a model allows.
fn order(
    history: &OperationHistory,
    name: &str,
    is_sequential: bool,
    limits: &CheckLimits<'_>,
) -> Result<Option<Violation>, String> {
    let row = match name {
        "" => guess_model(history)?,
        name => model(name).ok_or("the model")?,
    };
    order_of_model(history, row, is_sequential, limits)
}

/// Whether calls have an order that a model of the user's own allows. What it says while it fails is no verdict.
fn order_of_program(
    history: &OperationHistory,
    criterion: &HistoryCriterion,
    program: &mut dyn ModelProgram,
    is_sequential: bool,
    limits: &CheckLimits<'_>,
) -> Option<Violation> {
    let failed =
        |why: String| Some(Violation::unjudged("failed model", format!("the model came to no verdict: {why}")));
    let mut history = history.clone();
    let model = match ProgramModel::new(&mut history, program) {
        Ok(model) => model,
        Err(why) => return failed(why),
    };
    let row = ModelRow { name: &criterion.model, summary: "", functions: &[], model: &model };
    let is_over = || model.failure().is_some() || (limits.is_over)();
    let limits = CheckLimits { memory_bytes_max: limits.memory_bytes_max, is_over: &is_over };
    let judged = order_of_model(&history, &row, is_sequential, &limits);
    match (model.failure(), judged) {
        (Some(why), _) => failed(why),
        (None, Ok(violation)) => violation,
        (None, Err(why)) => Some(Violation::unjudged(MISFIT, format!("the operations do not fit: {why}"))),
    }
}

fn order_of_model(
    history: &OperationHistory,
    row: &ModelRow<'_>,
    is_sequential: bool,
    limits: &CheckLimits<'_>,
) -> Result<Option<Violation>, String> {
    let verdict = match is_sequential {
        true => check_sequential_consistency(history, row, limits),
        false => check_linearizability(history, row, limits),
    };
    let verdict = verdict.map_err(|error| error.to_string())?;
    Ok(match verdict.validity {
        Validity::Valid => None,
        Validity::Unknown => {
            let reason = verdict.partitions.iter().find(|part| part.validity == Validity::Unknown);
            Some(Violation::undecided(limits, reason.and_then(|part| part.reason)))
        }
        Validity::Invalid => Some(of_order(history, row, &verdict, is_sequential, limits)),
    })
}

fn of_order(
    history: &OperationHistory,
    row: &ModelRow<'_>,
    verdict: &LinearizabilityVerdict,
    is_sequential: bool,
    limits: &CheckLimits<'_>,
) -> Violation {
    let (anomaly, what) = match is_sequential {
        true => ("not-sequential", "no order of its operations that keeps that of each client is one of the model"),
        false => ("not-linearizable", "its operations cannot have taken effect one after the other"),
    };
    let Some(part) = verdict.partitions.iter().find(|part| part.validity == Validity::Invalid) else {
        return Violation::wrong(anomaly, None, what.to_owned());
    };
    let key = part.key.map(|key| key_name(history, key));
    let mut message = match &key {
        Some(key) => format!("key {key}: {what}"),
        None => what.to_owned(),
    };
    let minimal = match is_sequential {
        true => minimize_sequential_violation(history, row, part, limits),
        false => minimize_violation(history, row, part, limits),
    };
    if let Ok(Some(minimal)) = minimal {
        message.push_str("\nthese contradict each other, whichever of the others took effect:");
        let calls = pair_calls(history).unwrap_or_default();
        let shown = calls.iter().filter(|call| minimal.calls.contains(&call.invocation));
        shown.take(SHOWN_CALLS).for_each(|call| message.push_str(&format!("\n  {}", describe(history, call))));
    }
    Violation::wrong(anomaly, key, message)
}

/// Whether transactions have an isolation level.
fn isolation(history: &OperationHistory, name: &str, limits: &CheckLimits<'_>) -> Result<Option<Violation>, String> {
    if !has_transactions(history) {
        return Err("expected transactions, lists of reads, writes or appends".to_owned());
    }
    let level = isolation_level(match (name, history.order) {
        ("", HistoryOrder::Realtime) => "strict-serializable",
        ("", HistoryOrder::Sessions) => "strong-session-serializable",
        (name, _) => name,
    });
    let level = level.ok_or("the level")?;
    let verdict = check_isolation_level(history, level, limits).map_err(|error| error.to_string())?;
    match verdict.validity(level) {
        Validity::Valid => Ok(None),
        Validity::Unknown if verdict.undecided.is_empty() => {
            let why = format!("nothing was found against {}, and nothing proves it", level.name);
            Ok(Some(Violation::unjudged("undecided", why)))
        }
        Validity::Unknown => Ok(Some(Violation::undecided(limits, None))),
        Validity::Invalid => Ok(Some(match verdict.forbidden_by(level) {
            Some(anomaly) => Violation::wrong(&anomaly.kind, None, format!("{}: {}", anomaly.kind, anomaly.message)),
            None => Violation::wrong("forbidden", None, format!("it is not {}", level.name)),
        })),
    }
}

/// Whether operations have a property.
fn property(history: &OperationHistory, criterion: &HistoryCriterion) -> Result<Option<Violation>, String> {
    let name = criterion.checker.as_str();
    let row = checker(name).ok_or("the checker")?;
    let accounts = (!criterion.accounts.is_empty()).then(|| criterion.accounts.iter().cloned().collect());
    let options = CheckerOptions { accounts, total: criterion.total };
    // Bounds are counted: a run has at most `OPERATIONS_MAX` operations, and a checker whose time is not linear in them has one of its own.
    let limits = CheckLimits::default();
    let verdict = check_property_with(history, row, &options, &limits).map_err(|error| error.to_string())?;
    let first = |is_fault: bool| verdict.anomalies.iter().find(|one| one.is_fault == is_fault);
    Ok(match verdict.validity {
        Validity::Valid if criterion.checker == SET_FULL && !criterion.model.is_empty() => {
            let bounds = LatencyBound::all(&criterion.model)?;
            let missed = bounds.iter().find_map(|bound| Some((bound.anomaly(), bound.missed(&verdict)?)));
            missed.map(|(anomaly, message)| Violation::wrong(&anomaly, None, message))
        }
        Validity::Valid => None,
        Validity::Unknown => {
            let (kind, why) = first(false).map_or(("", "no verdict"), |one| (one.kind, one.message.as_str()));
            let anomaly = if kind == MISFIT { MISFIT } else { "undecided" };
            Some(Violation { is_open: true, ..Violation::unjudged(anomaly, why.to_owned()) })
        }
        Validity::Invalid => {
            let (kind, message) = first(true).map_or(("invalid", name), |one| (one.kind, one.message.as_str()));
            let lacks_success = kind == NO_SUCCESS;
            Some(Violation { lacks_success, ..Violation::wrong(kind, None, message.to_owned()) })
        }
    })
}

fn key_name(history: &OperationHistory, key: DatumId) -> String {
    let words = history.pool.edn(key);
    one_line(words.trim_matches('"'))
}

/// One call in a line.
fn describe(history: &OperationHistory, call: &ClientCall) -> String {
    let invoked = &history.operations[call.invocation as usize];
    let process = match invoked.process {
        Process::Client(number) => number.to_string(),
        Process::Named(_) | Process::Unknown => "?".to_owned(),
    };
    let mut line = format!("client {process}: {}", history.function_name(invoked));
    let key = history.pool.entry(invoked.extra, "key").map(|key| key_name(history, key));
    line.extend(key.map(|key| format!(" {key}")));
    if !invoked.value.is_nil() {
        line.push_str(&format!(" {}", history.pool.edn(invoked.value)));
    }
    let completed = call.completion.map(|at| &history.operations[at as usize]);
    match (call.outcome, completed) {
        (OperationType::Ok, Some(one)) if one.value != invoked.value => {
            line.push_str(&format!(" -> {}", history.pool.edn(one.value)));
        }
        (OperationType::Ok, _) => {}
        (outcome, _) => line.push_str(&format!(" ({})", outcome.name())),
    }
    let time = |operation: &crate::history::HistoryOperation| match operation.time {
        Some(time) => fozzy_trace::Instant(u64::try_from(time).unwrap_or(0)).to_string(),
        None => "?".to_owned(),
    };
    let (from, until) = (time(invoked), completed.filter(|_| call.outcome == OperationType::Ok).map(time));
    one_line(&match until {
        Some(until) if until == from => format!("{line}, at {from}"),
        Some(until) => format!("{line}, from {from} to {until}"),
        None => format!("{line}, from {from} on"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Instant;
    use fozzy_trace::facts::OperationEnd;

    /// Operations one after the other, and what is found of them.
    fn check(checker: &str, model: &str, calls: &[(&str, &str, &str)], expected: &str) {
        let mut operations = Operations::default();
        for (at, (name, input, output)) in calls.iter().enumerate() {
            let time = |more: u64| Instant(10 * at as u64 + more);
            let number = operations.invoke(at as u32, name, input, time(0)).expect("room");
            operations.end(number, OperationEnd::Ok((*output).to_owned()), time(5)).expect("it runs");
        }
        operations.criteria = vec![HistoryCriterion::named(checker, model)];
        let found = found(&operations, JudgedExtent::Run).found;
        let shown = found.iter().map(|one| format!("{:?} {}", one.status, one.site)).collect::<Vec<_>>().join("; ");
        assert_eq!(shown, expected, "{checker} {model}: {calls:?}");
    }

    #[test]
    fn what_is_not_decided_names_the_bound() {
        let check = |reason, is_over: &dyn Fn() -> bool, expected: &str| {
            let one = Violation::undecided(&CheckLimits { memory_bytes_max: 1, is_over }, reason);
            assert_eq!(one.status, Status::Timeout);
            assert!(one.message.contains(expected), "{}", one.message);
        };
        check(Some(UndecidedReason::Memory), &|| false, "more than its 256 MiB of memory;");
        check(Some(UndecidedReason::Time), &|| true, "has used up its steps;");
        check(Some(UndecidedReason::Width), &|| false, "more calls are open at once");
        check(None, &|| true, "has used up its steps;");
        check(None, &|| false, "256 MiB of memory, or than its steps;");
    }

    #[test]
    fn operations_are_held_to_what_is_named() {
        let stale = [("put x12", "7", ""), ("put x12", "8", ""), ("get x12", "", "7")];
        check("linearizable", "kv", &stale, "Fail linearizable kv: not-linearizable of key x#");
        check("linearizable", "", &stale, "Fail linearizable: not-linearizable of key x#");
        check("linearizable", "kv", &stale[1..2], "");
        check("sequential", "kv", &stale, "");
        let lost = [("add", "1", ""), ("add", "2", ""), ("read", "", "[2]")];
        check("set-full", "", &lost, "Fail set-full: lost");
        check("set-full", "", &lost[..2], "Error set-full: undecided");
        check("set-full", "", &[], "");
        let added = [("add", "1", ""), ("read", "", "[1]")];
        check("set-full", "max<1ms,median<1ms", &added, "");
        check("set-full", "max<1ms,median>1ms", &added, "Fail set-full max<1ms,median>1ms: median below its bound");
        check("set-full", "max<1ms", &lost, "Fail set-full max<1ms: lost");
        check("set-full", "max<1", &added, "Error set-full max<1: no such checker");
        let skew = [
            ("txn", "[[:r 1 nil] [:append 1 1]]", "[[:r 1 []] [:append 1 1]]"),
            ("txn", "[[:r 1 nil]]", "[[:r 1 []]]"),
        ];
        check("isolation", "", &skew, "Fail isolation: G-single-item-realtime");
        check("isolation", "serializable", &skew, "");
        check("isolation", "prefix", &skew, "");
        let fractured = [
            ("txn", "[[:append 0 1] [:append 1 2]]", "[[:append 0 1] [:append 1 2]]"),
            ("txn", "[[:append 1 3]]", "[[:append 1 3]]"),
            ("txn", "[[:r 0 nil] [:r 1 nil]]", "[[:r 0 [1]] [:r 1 [3]]]"),
        ];
        check("isolation", "read-atomic", &fractured, "Fail isolation read-atomic: non-monotonic-read");
        // A lost update, which no proof of this level is at hand for.
        let open = [
            ("txn", "[[:r 0 nil] [:append 0 1]]", "[[:r 0 []] [:append 0 1]]"),
            ("txn", "[[:append 0 2]]", "[[:append 0 2]]"),
            ("txn", "[[:r 0 nil] [:r 1 nil]]", "[[:r 0 [2 1]] [:r 1 []]]"),
        ];
        check("isolation", "prefix", &open, "");
        check("isolation", "monotonic-snapshot-read", &open, "Error isolation monotonic-snapshot-read: undecided");
        // A single-item cycle is found first, and read committed forbids another one.
        let intermediate = [
            ("txn", "[[:append 1 1] [:append 1 2]]", "[[:append 1 1] [:append 1 2]]"),
            ("txn", "[[:r 1 nil]]", "[[:r 1 []]]"),
            ("txn", "[[:r 1 nil]]", "[[:r 1 [1]]]"),
        ];
        check("isolation", "", &intermediate, "Fail isolation: G-single-item");
        check("isolation", "read-committed", &intermediate, "Fail isolation read-committed: G1b");
        check("isolation", "", &stale, "Error isolation: misfit");
        check("linearizable", "mutex", &stale, "Error linearizable mutex: misfit");
        check("linearisable", "", &stale, "Error linearisable: no such checker");
        check("linearizable", "kw", &stale, "Error linearizable kw: no such checker");
        check("set", "kv", &lost, "Error set kv: no such checker");
    }

    #[test]
    fn operations_that_no_checker_reads_are_no_pass() {
        let others = [("next-id", "", "7"), ("next-id", "", "7")];
        for row in CHECKERS.iter().filter(|row| !row.functions.is_empty()) {
            check(row.name, "", &others, &format!("Error {}: misfit", row.name));
        }
        check("unique-ids", "", &[("next-id", "", "7"), ("generate", "", "7")], "");
        let lock = ("acquire", "", "");
        check("linearizable", "fenced-mutex", &[lock], "Error linearizable fenced-mutex: misfit");
        check("sequential", "fenced-mutex", &[lock], "Error sequential fenced-mutex: misfit");
        check("linearizable", "fenced-mutex", &[("acquire", "", "3")], "");
        check("linearizable", "owner-mutex", &[lock], "");
        // Two hold it, whatever their tokens are.
        let both = "Fail linearizable fenced-mutex: not-linearizable";
        check("linearizable", "fenced-mutex", &[lock, lock], both);
    }

    #[test]
    fn a_violation_is_told_by_the_calls_that_contradict_each_other() {
        let mut operations = Operations::default();
        for (at, (name, input, output)) in
            [("put x", "7", ""), ("put x", "8", ""), ("get x", "", "8"), ("get x", "", "7")].into_iter().enumerate()
        {
            let number = operations.invoke(at as u32, name, input, Instant(10 * at as u64)).expect("room");
            let end = OperationEnd::Ok(output.to_owned());
            operations.end(number, end, Instant(10 * at as u64 + 5)).expect("it runs");
        }
        operations.criteria = vec![HistoryCriterion::named("linearizable", "kv")];
        let found = found(&operations, JudgedExtent::Run).found;
        let message = &found[0].finding.message;
        assert!(message.starts_with("linearizable kv: key x: its operations cannot have taken effect"), "{message}");
        assert!(
            message.contains("\n  client 2: get x -> 8, from ") && message.contains("\n  client 3: get x -> 7"),
            "{message}"
        );
        assert!(!message.contains("client 0"), "{message}");
    }
}
