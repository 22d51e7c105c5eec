//! Results of a test, with the names that Maelstrom gives them.

use fozzy_check::{CheckerVerdict, OperationHistory, Validity, check_property, checker};
use fozzy_report::maelstrom::{CheckerResult, MaelstromNet, MaelstromResults};
use fozzy_trace::{Execution, Status};
use serde::Deserialize;
use std::collections::BTreeMap;

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

impl MaelstromOutput {
    /// Of an execution, and its verdict.
    #[must_use]
    pub fn of(workload: &str, execution: &Execution, status: Status) -> MaelstromOutput {
        let operations = &execution.facts.operations;
        let history = OperationHistory::of_run(operations);
        let names = operations.criteria.iter().map(|criterion| criterion.checker.as_str());
        let judged = |name: &str| Some(result(name, check_property(&history, checker(name)?).ok()?));
        let checkers: BTreeMap<String, CheckerResult> =
            names.chain(["availability"]).filter_map(|name| Some((name.to_owned(), judged(name)?))).collect();
        let said = String::from_utf8_lossy(execution.stderr.kept());
        let report = said.lines().rev().find_map(|line| serde_json::from_str::<DriverReport>(line).ok());
        let results = MaelstromResults {
            workload: workload.to_owned(),
            valid: match status {
                Status::Pass => "true",
                Status::Error => "unknown",
                Status::Fail | Status::Timeout | Status::Crash => "false",
            }
            .to_owned(),
            virtual_seconds: execution.ended_at.0 as f64 / 1e9,
            net: report.map(|report| report.net),
            checkers,
        };
        MaelstromOutput { results, history }
    }
}

fn result(name: &str, verdict: CheckerVerdict) -> CheckerResult {
    let valid = match verdict.validity {
        Validity::Valid => "true",
        Validity::Unknown => "unknown",
        Validity::Invalid => "false",
    };
    let mut result = CheckerResult { valid: valid.to_owned(), ..CheckerResult::default() };
    for (key, number) in verdict.counts {
        match key.split_once(' ') {
            Some(("stable-latency-ms", quantile)) => _ = result.stable_latencies.insert(quantile.to_owned(), number),
            // `read ok-count` of the checker `stats`.
            Some((function, count)) if name == "stats" => {
                result.by_f.entry(function.to_owned()).or_default().insert(count.to_owned(), number);
            }
            _ => _ = result.counts.insert(key, number),
        }
    }
    result.anomalies = verdict.anomalies.into_iter().map(|one| format!("{}: {}", one.kind, one.message)).collect();
    result
}
