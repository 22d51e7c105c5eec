//! What a history of transactions shows of their isolation, as part of a document and as lines.
//!
//! ```text
//!   G-single-item: a cycle of 2 transactions, none shorter
//!     T1  line 5  process 0  [[:r 1 [1]] [:append 2 3]]
//!     T2  line 7  process 2  [[:append 1 2] [:r 2 [3]]]
//!     T1 < T2  rw  T1 read [1] of key 1, without T2's append of 2
//!     …
//! ```
//!
//! Invariant: nothing stands in the lines that the document does not say.

use super::{CheckerCount, HistoryCall, LINE_CHARS, middle};
use crate::pretty::{Style, counted, wrapped};
use schemars::JsonSchema;
use serde::Serialize;

/// Transactions of an anomaly that are shown in lines.
const SHOWN_TRANSACTIONS: usize = 12;
/// Anomalies of a kind that are shown in lines.
const SHOWN_ANOMALIES: usize = 3;

/// What a history of transactions shows of their isolation.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IsolationReport {
    /// `list-append` or `rw-register`.
    pub workload: String,
    /// Transactions that completed.
    pub committed: u64,
    /// Transactions that failed.
    pub failed: u64,
    /// Transactions with an unknown end.
    pub unknown: u64,
    /// Keys that they used.
    pub keys: u64,
    /// Why it is said that the history has the level: `proved`, or `nothing-found`; absent if it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// How often each kind of anomaly was found; of cycles, how many are shown.
    pub counts: Vec<CheckerCount>,
    /// Anomalies; the first of each kind.
    pub anomalies: Vec<TransactionAnomalyReport>,
    /// The weakest levels that the history cannot have.
    pub impossible: Vec<String>,
    /// Levels that it cannot have either, because they are stronger than those.
    pub also_impossible: Vec<String>,
    /// The strongest levels that nothing was found against.
    pub possible: Vec<String>,
    /// Kinds of cycles of which it is not known whether there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
}

/// An anomaly of transactions.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionAnomalyReport {
    /// Its kind, such as `G1a` or `G-single-item`.
    pub kind: String,
    /// What it is, in a sentence.
    pub message: String,
    /// Its transactions: T1, T2, and so on. Those of a cycle stand in its order.
    pub transactions: Vec<HistoryCall>,
    /// The steps of a cycle: from each transaction to the next, and from the last to the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<DependencyReport>,
    /// Whether no cycle of the kind is shorter, where these transactions are.
    pub shortest: bool,
}

/// Why one transaction comes before another.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DependencyReport {
    /// `ww`, `wr`, `rw`, `process` or `realtime`.
    pub relation: String,
    /// The reason, in a sentence.
    pub because: String,
}

/// The lines of a report.
pub(super) fn isolation_lines(report: &IsolationReport, style: Style) -> String {
    let mut text = String::new();
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for anomaly in &report.anomalies {
        let shown = match kinds.iter_mut().find(|(kind, _)| *kind == anomaly.kind) {
            Some((_, shown)) => shown,
            None => {
                kinds.push((&anomaly.kind, 0));
                &mut kinds.last_mut().expect("it was pushed").1
            }
        };
        *shown += 1;
        if *shown <= SHOWN_ANOMALIES {
            text.push_str(&anomaly_lines(anomaly, style));
        }
    }
    for (kind, _) in kinds {
        let all = report.counts.iter().find(|count| count.name == kind).map_or(0, |count| count.number);
        if all > SHOWN_ANOMALIES as i64 {
            text.push_str(&format!("\n  {kind}: {} in all\n", all));
        }
    }
    let mut row = |name: &str, words: &str| {
        for (at, line) in wrapped(words, LINE_CHARS - 15).into_iter().enumerate() {
            let head = if at == 0 { name } else { "" };
            text.push_str(&format!("  {}{head:<11}{}  {line}\n", style.faint, style.end));
        }
    };
    let stronger = match report.also_impossible.len() {
        0 => String::new(),
        count => format!(", and {count} stronger"),
    };
    if !report.impossible.is_empty() || !report.possible.is_empty() {
        row("", "");
    }
    if !report.impossible.is_empty() {
        row("ruled out", &format!("{}{stronger}", report.impossible.join(", ")));
    }
    if !report.possible.is_empty() {
        let left = report.possible.join(", ");
        row(if report.impossible.is_empty() { "possible" } else { "still open" }, &left);
    }
    if !report.undecided.is_empty() {
        row("not decided", &report.undecided.join(", "));
    }
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// That a cycle is the shortest. Its steps lead from one version to the next; where versions between are passed over, fewer may do.
pub(crate) fn cycle_words(count: u64) -> String {
    let steps = if count > 2 { " by steps to the next version" } else { "" };
    format!("a cycle of {}, none shorter{steps}", counted(count, "transaction"))
}

fn anomaly_lines(anomaly: &TransactionAnomalyReport, style: Style) -> String {
    let Style { bad, faint, end, .. } = style;
    let mut text = String::from("\n");
    let message = match anomaly.steps.len() {
        0 => anomaly.message.clone(),
        count if anomaly.shortest => cycle_words(count as u64),
        count => format!("a cycle of {}", counted(count as u64, "transaction")),
    };
    let lines = wrapped(&format!("{}: {message}", anomaly.kind), LINE_CHARS - 2);
    for (at, line) in lines.iter().enumerate() {
        match line.strip_prefix(anomaly.kind.as_str()).filter(|_| at == 0) {
            Some(rest) => text.push_str(&format!("  {bad}{}{end}{rest}\n", anomaly.kind)),
            None => text.push_str(&format!("  {line}\n")),
        }
    }
    let shown = &anomaly.transactions[..anomaly.transactions.len().min(SHOWN_TRANSACTIONS)];
    let places: Vec<String> = shown.iter().map(HistoryCall::place).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or(0);
    let names = format!("T{}", shown.len()).len();
    for ((at, call), place) in shown.iter().enumerate().zip(&places) {
        let name = format!("T{}", at + 1);
        let room = LINE_CHARS - 4 - names - 2 - width - 2;
        let value = call.result.as_ref().or(call.argument.as_ref()).map_or("", String::as_str);
        let failed = if call.outcome == "fail" { "failed " } else { "" };
        let value = middle(&format!("{failed}{value}"), room);
        text.push_str(&format!("    {name:<names$}  {faint}{place:<width$}{end}  {value}\n"));
    }
    if shown.len() < anomaly.transactions.len() {
        text.push_str(&format!("    and {} more\n", anomaly.transactions.len() - shown.len()));
    }
    let count = anomaly.steps.len();
    let heads: Vec<String> = (0..count).map(|at| format!("T{} < T{}", at + 1, (at + 1) % count + 1)).collect();
    let width = heads.iter().map(String::len).max().unwrap_or(0);
    for (step, head) in anomaly.steps.iter().zip(&heads) {
        for (at, line) in wrapped(&step.because, LINE_CHARS - 4 - width - 2 - 10).iter().enumerate() {
            let (head, relation) = if at == 0 { (head.as_str(), step.relation.as_str()) } else { ("", "") };
            text.push_str(&format!("    {head:<width$}  {faint}{relation:<8}{end}  {line}\n"));
        }
    }
    text
}
