//! Results of a test, with the names that Maelstrom gives them.

use fozzy_check::{
    CheckerVerdict, ClientCall, DatumId, HistoryOperation, OperationHistory, OperationType, Process, Validity,
    check_property, checker, pair_calls,
};
use fozzy_report::maelstrom::{
    CheckerResult, ExceptionClass, GoalResult, JOURNAL_EVENTS_MAX, MaelstromAvailability, MaelstromExceptions,
    MaelstromNet, MaelstromPerf, MaelstromResults, MaelstromTimeline, MaelstromValidity, MessageEvent,
};
use fozzy_report::shell_word;
use fozzy_scenario_file::{MaelstromGoal, MaelstromOptions, MaelstromWorkload};
use fozzy_trace::facts::{Operation, OperationEnd};
use fozzy_trace::plan::HistoryCriterion;
use fozzy_trace::{Execution, Status, counted};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The checker that counts completions.
const STATS: &str = "stats";
/// Error 20 of the protocol.
const NO_SUCH_KEY: &str = "key-does-not-exist";

/// What a test came to, beside its verdict.
pub struct MaelstromOutput {
    /// Results.
    pub results: MaelstromResults,
    /// The operations of its clients.
    pub history: OperationHistory,
}

/// What the driver says at the end, in a line.
#[derive(Deserialize)]
struct DriverReport {
    net: MaelstromNet,
}

/// What the driver prints: the events of messages, if they are asked for, and a report at the end.
#[derive(Default)]
pub struct DriverOutput {
    line: Vec<u8>,
    /// Events of messages, the first ones.
    pub events: Vec<MessageEvent>,
    /// How many more there were.
    pub left_out: u64,
    report: Option<DriverReport>,
}

impl DriverOutput {
    /// It has printed something.
    pub fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.last() == Some(&b'\n') {
                let line = std::mem::take(&mut self.line);
                self.read(&String::from_utf8_lossy(&line));
            }
        }
    }

    fn read(&mut self, line: &str) {
        match MessageEvent::read(line) {
            Some(event) if self.events.len() < JOURNAL_EVENTS_MAX => self.events.push(event),
            Some(_) => self.left_out += 1,
            None => self.report = serde_json::from_str(line).ok().or(self.report.take()),
        }
    }
}

impl MaelstromOutput {
    /// Of an execution, and its verdict: the status, and what was found.
    #[must_use]
    pub fn of(
        options: &MaelstromOptions,
        execution: &Execution,
        driver: &DriverOutput,
        (status, found): (Status, &[String]),
    ) -> MaelstromOutput {
        let operations = &execution.facts.operations;
        let history = OperationHistory::of_run(operations);
        let judged = |name: &str| Some(result(name, check_property(&history, checker(name)?).ok()?));
        let own = operations.criteria.iter().filter(|criterion| criterion.checker != STATS);
        let by_property = own.clone().find_map(|criterion| judged(&criterion.checker));
        let workload = by_property.or_else(|| by_model(own, status, found));
        let mut results = MaelstromResults {
            name: options.workload.word().to_owned(),
            valid: match (status, workload.as_ref().map(|one| one.valid)) {
                (Status::Pass, _) => MaelstromValidity::VALID,
                (Status::Error, _) | (Status::Timeout, Some(MaelstromValidity::UNKNOWN)) => MaelstromValidity::UNKNOWN,
                _ => MaelstromValidity::INVALID,
            },
            findings: found.to_vec(),
            virtual_seconds: execution.ended_at.0 as f64 / 1e9,
            net: driver.report.as_ref().map(|report| report.net.clone()),
            stats: judged(STATS),
            availability: judged("availability").map(|result| availability(&result, options.availability)),
            workload,
            perf: Some(perf(operations.all(), execution.ended_at.0)),
            exceptions: Some(exceptions(operations.all())),
            timeline: Some(MaelstromTimeline { valid: true }),
            goals: Vec::new(),
        };
        let goals = options.goals.iter().filter_map(|words| MaelstromGoal::parse(words).ok());
        results.goals = goals.map(|goal| goal_result(&goal, results.measured(goal.name))).collect();
        MaelstromOutput { results, history }
    }

    /// What a reader of a valid result has to know.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let is_store = self.results.name == MaelstromWorkload::LinKv.word();
        let denials = if is_store { denials(&self.history) } else { 0 };
        let what = format!(
            "began after a write of their key was acknowledged, and were answered {NO_SUCH_KEY}: no failure of the test, since \
             Maelstrom demands nothing of what fails, and yet the store has lost that key"
        );
        (denials > 0).then(|| format!("{} {what}", counted(denials, "operation"))).into_iter().collect()
    }

    /// The history in columns: process, type, function, value.
    #[must_use]
    pub fn history_text(&self) -> String {
        let history = &self.history;
        let line = |operation: &HistoryOperation| {
            let process = match operation.process {
                Process::Client(number) => number.to_string(),
                _ => "nemesis".to_owned(),
            };
            let value = history.pool.edn(operation.value);
            format!("{process}\t:{}\t:{}\t{value}\n", operation.kind.name(), history.function_name(operation))
        };
        history.operations.iter().map(line).collect()
    }
}

/// Operations that found no key which an acknowledged write had made before they began. Nothing removes keys.
fn denials(history: &OperationHistory) -> u64 {
    let calls = pair_calls(history).unwrap_or_default();
    let operation = |at: u32| &history.operations[at as usize];
    let key = |call: &ClientCall| history.pool.pair(operation(call.invocation).value).map(|(key, _)| key);
    let mut written: BTreeMap<DatumId, u32> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.outcome == OperationType::Ok) {
        let is_write = ["write", "cas"].contains(&history.function_name(operation(call.invocation)));
        if let (true, Some(key), Some(at)) = (is_write, key(call), call.completion) {
            let first = written.entry(key).or_insert(at);
            *first = at.min(*first);
        }
    }
    let is_denial = |call: &&ClientCall| {
        let error = call.completion.and_then(|at| history.pool.name(operation(at).error));
        let since = key(call).and_then(|key| written.get(&key));
        call.outcome == OperationType::Fail
            && error.is_some_and(|error| error.starts_with(NO_SUCH_KEY))
            && since.is_some_and(|since| *since < call.invocation)
    };
    calls.iter().filter(is_denial).count() as u64
}

/// How to see the transactions of a violation, which a finding only names: the command, with the folder of the results if there is one.
#[must_use]
pub fn check_command(options: &MaelstromOptions, found: &[String], out: Option<&Path>) -> Option<String> {
    let is_violated = |level: &&String| found.iter().any(|title| title.starts_with(&format!("isolation {level}: ")));
    let level = options.consistency_models.iter().find(is_violated)?;
    Some(match out {
        Some(out) => format!(
            "its transactions: fozzy check --model {level} {}",
            shell_word(&out.join("history.edn").to_string_lossy())
        ),
        None => format!("its transactions: test with --out DIR, and fozzy check --model {level} DIR/history.edn"),
    })
}

/// What is held to models is judged by the run, whose findings begin with checker and model.
fn by_model<'a>(
    criteria: impl Iterator<Item = &'a HistoryCriterion>,
    status: Status,
    found: &[String],
) -> Option<CheckerResult> {
    let names: Vec<String> = criteria.map(|one| format!("{} {}", one.checker, one.model)).collect();
    let is_own = |title: &&String| names.iter().any(|name| title.starts_with(name));
    let anomalies: Vec<String> = found.iter().filter(is_own).cloned().collect();
    let valid = match (anomalies.is_empty(), status) {
        // What could not be judged, or not decided, is a finding, too.
        (_, Status::Error) | (false, Status::Timeout) => MaelstromValidity::UNKNOWN,
        (is_empty, _) => MaelstromValidity::Known(is_empty),
    };
    (!names.is_empty()).then(|| CheckerResult { valid, anomalies, ..CheckerResult::default() })
}

/// Quantiles that are told, with their words.
const QUANTILES: [(&str, f64); 4] = [("0.5", 0.5), ("0.95", 0.95), ("0.99", 0.99), ("1", 1.0)];
/// Kinds of errors that are told apart; the most frequent ones are.
const CLASSES_MAX: usize = 50;

/// Latencies and rates of what succeeded.
fn perf(operations: &[Operation], ended_at_ns: u64) -> MaelstromPerf {
    let mut latencies: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for operation in operations {
        if let Some((OperationEnd::Ok(_), _, ended)) = &operation.end {
            let name = operation.operation.split(' ').next().unwrap_or_default();
            latencies.entry(name.to_owned()).or_default().push(ended.since(operation.invoked.1).0);
        }
    }
    let seconds = ended_at_ns.max(1) as f64 / 1e9;
    let rates = latencies.iter().map(|(name, all)| (name.clone(), all.len() as f64 / seconds)).collect();
    let quantiles = |(name, mut all): (String, Vec<u64>)| {
        all.sort_unstable();
        let at = |share: f64| all[((share * all.len() as f64).ceil() as usize).clamp(1, all.len()) - 1] as f64 / 1e6;
        (name, QUANTILES.iter().map(|(word, share)| ((*word).to_owned(), at(*share))).collect())
    };
    MaelstromPerf { valid: true, latencies: latencies.into_iter().map(quantiles).collect(), rates }
}

/// What operations ended with that did not succeed, the most frequent first.
fn exceptions(operations: &[Operation]) -> MaelstromExceptions {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for operation in operations {
        if let Some((OperationEnd::Fail(why) | OperationEnd::Info(why), ..)) = &operation.end {
            let function = operation.operation.split(' ').next().unwrap_or_default();
            let why = why.split(';').next().unwrap_or_default();
            *counts.entry(format!("{function}: {}", why.trim())).or_default() += 1;
        }
    }
    let mut classes: Vec<ExceptionClass> =
        counts.into_iter().map(|(class, count)| ExceptionClass { class, count }).collect();
    classes.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.class.cmp(&other.class)));
    classes.truncate(CLASSES_MAX);
    MaelstromExceptions { valid: true, classes }
}

fn goal_result(goal: &MaelstromGoal, measured: Option<f64>) -> GoalResult {
    GoalResult { goal: goal.words.clone(), measured, is_met: measured.is_some_and(|number| goal.is_met(number)) }
}

fn availability(result: &CheckerResult, least: Option<f64>) -> MaelstromAvailability {
    let count = |name: &str| result.counts.get(name).copied().unwrap_or_default() as f64;
    let ok_fraction = if count("invoked") > 0.0 { count("ok") / count("invoked") } else { 1.0 };
    let is_enough = least.is_none_or(|least| ok_fraction >= least);
    MaelstromAvailability { valid: is_enough, ok_fraction }
}

fn result(name: &str, verdict: CheckerVerdict) -> CheckerResult {
    let valid = match verdict.validity {
        Validity::Valid => MaelstromValidity::VALID,
        Validity::Unknown => MaelstromValidity::UNKNOWN,
        Validity::Invalid => MaelstromValidity::INVALID,
    };
    let mut result = CheckerResult { valid, ..CheckerResult::default() };
    for (key, number) in verdict.counts {
        match key.split_once(' ') {
            Some(("stable-latency-ms", quantile)) => _ = result.stable_latencies.insert(quantile.to_owned(), number),
            // `read ok-count` of the checker `stats`.
            Some((function, count)) if name == STATS => {
                result.by_f.entry(function.to_owned()).or_default().insert(count.to_owned(), number);
            }
            _ => _ = result.counts.insert(key, number),
        }
    }
    result.anomalies = verdict.anomalies.into_iter().map(|one| format!("{}: {}", one.kind, one.message)).collect();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_denies_what_it_has_acknowledged_is_counted() {
        let of = |calls: &[(&str, &str, &str)]| {
            let line = |(function, value, end): &(&str, &str, &str)| {
                format!(
                    "{{:type :invoke :process 0 :f :{function} :value {value}}} {{{end} :process 0 :f :{function} :value {value}}}\n"
                )
            };
            let text: String = calls.iter().map(line).collect();
            denials(&OperationHistory::read(text.as_bytes()).expect("a history"))
        };
        let none = ":type :fail :error \"key-does-not-exist none\"";
        let read = ("read", "[1 nil]", none);
        assert_eq!(of(&[read, ("write", "[2 5]", ":type :ok"), read]), 0, "another key");
        assert_eq!(of(&[("write", "[1 5]", ":type :fail"), read]), 0, "nothing was acknowledged");
        let write = ("write", "[1 5]", ":type :ok");
        assert_eq!(of(&[read, write, ("read", "[1 5]", ":type :ok"), read, ("cas", "[1 [5 6]]", none)]), 2);
        assert_eq!(of(&[write, ("cas", "[1 [4 6]]", ":type :fail :error \"precondition-failed\"")]), 0);
    }
}
