//! What differs between runs, or sets of runs: by function, call of the host, channel.
//!
//! ```text
//! one run a side      exact: every difference is one
//! the same seeds      the differences of pairs, and how sure it is that they are not chance
//! other sets          the means, by Welch's test
//! ```
//!
//! With many metrics, some differ by chance: a difference counts if it would be rare among as many metrics (Bonferroni).
//!
//! Invariants: two equal runs differ in nothing; the largest growth stands first.
//! Not here: the statistics (`fozzy-search`), which the caller passes as a [`DifferenceTest`].

use super::activity::RunActivity;
use super::{CallTree, HeapTree, ProfileTopFunction};
use crate::Layout;
use crate::pretty::{Style, counted, fit, grouped};
use fozzy_trace::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How sure it must be that a difference of sets is not chance, over all metrics together.
const CONFIDENCE: f64 = 0.95;
/// Share of functions that both sides must have to be called the same program.
const SAME_PROGRAM: f64 = 0.5;

/// What is measured of a run, by domain and metric. Each is such that more of it is worse.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileMetrics {
    values: BTreeMap<(String, String), f64>,
    functions: BTreeSet<String>,
    /// What a reader of them has to know.
    remarks: BTreeSet<String>,
    /// The seed of the run.
    pub seed: u64,
}

/// `fozzy.profile_diff.v2`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileDiff {
    /// Always `fozzy.profile_diff.v2`.
    pub schema_version: String,
    /// The runs before.
    pub left: String,
    /// The runs after.
    pub right: String,
    /// How many runs are before.
    pub left_samples: u64,
    /// How many are after.
    pub right_samples: u64,
    /// cpu, latency, io, sched.
    pub domains: Vec<String>,
    /// What it comes to.
    pub summary: DiffSummary,
    /// What differs, the largest share of growth first; rows of improvements are among them.
    pub regressions: Vec<MetricDiff>,
    /// Rows that are left out.
    pub left_out: u64,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What a comparison comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffSummary {
    /// equal (the means of all metrics), regression, improvement, changed (some of each, or none that is sure).
    pub verdict: String,
    /// Metrics that grew.
    pub regression_count: u64,
    /// Metrics that shrank.
    pub improvement_count: u64,
    /// Metrics that surely grew.
    pub significant_regression_count: u64,
    /// The one that grew most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_regression_metric: Option<String>,
}

/// One metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricDiff {
    /// cpu, latency, io, sched.
    pub domain: String,
    /// What is measured: `instructions`, `function NAME`, `call NAME`, `wait …`, `read NAME`.
    pub metric: String,
    /// Before, the mean of all runs.
    pub left: f64,
    /// After.
    pub right: f64,
    /// The difference.
    pub delta: f64,
    /// The same in percent of what was before; null when that was nothing.
    pub delta_pct: Option<f64>,
    /// regression, improvement.
    pub classification: String,
    /// Whether it grew.
    pub is_regression: bool,
    /// Whether it is surely no chance.
    pub is_significant: bool,
    /// none, low, medium, high: from 5, 15 and 30 percent.
    pub severity: String,
    /// In words.
    pub analysis: String,
    /// Always `virtual`: nothing is measured in real time.
    pub time_domain: String,
    /// How sure it is, from 0 to 1, taken alone.
    pub confidence: f64,
    /// How that was found.
    pub confidence_meta: ConfidenceMeta,
}

/// How sure a difference is, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfidenceMeta {
    /// exact, paired, welch.
    pub method: String,
    /// Runs before.
    pub left_sample_count: u64,
    /// Runs after.
    pub right_sample_count: u64,
    /// How much they vary.
    pub left_std_dev: f64,
    /// How much they vary.
    pub right_std_dev: f64,
    /// The standard error of the difference.
    pub pooled_std_err: f64,
}

impl ProfileMetrics {
    /// Nothing of a run yet.
    #[must_use]
    pub fn of_seed(seed: u64) -> ProfileMetrics {
        ProfileMetrics { seed, ..ProfileMetrics::default() }
    }

    /// Adds to a metric of a domain.
    pub fn add(&mut self, domain: &str, metric: String, value: u64) {
        *self.values.entry((domain.to_owned(), metric)).or_default() += value as f64;
    }

    /// Instructions, by function too.
    pub fn add_cpu(&mut self, tree: &CallTree) {
        self.remarks.extend(tree.remarks.iter().cloned());
        self.add("cpu", "instructions".to_owned(), tree.total().instructions);
        self.add("cpu", "bulk bytes".to_owned(), tree.total().bulk_bytes);
        for ProfileTopFunction { function, own, .. } in super::ranking::by_function(tree) {
            self.functions.insert(function.clone());
            self.add("cpu", format!("function {function}"), own);
        }
    }

    /// Bytes and blocks of the program's own heap, by the function that allocates too.
    pub fn add_heap(&mut self, heap: &HeapTree) {
        self.remarks.extend(heap.tree.remarks.iter().chain(&heap.doubt).cloned());
        let total = heap.total();
        for (name, value) in [
            ("allocations", total.blocks),
            ("bytes allocated", total.bytes),
            ("bytes in use at the peak", total.peak_bytes),
            ("bytes in use at the end", total.live_bytes),
            ("bytes leaked", heap.leaked().1),
        ] {
            self.add("heap", name.to_owned(), value);
        }
        for ProfileTopFunction { function, own, .. } in heap.by_function() {
            self.functions.insert(function.clone());
            self.add("heap", format!("bytes allocated by {function}"), own);
        }
    }

    /// Virtual time, by call and by wait.
    pub fn add_latency(&mut self, activity: &RunActivity) {
        self.add("latency", "virtual time".to_owned(), activity.end.0);
        for (call, times) in &activity.calls {
            self.add("latency", format!("call {call}"), times.durations.total_ns);
        }
        for (key, durations) in &activity.waits {
            self.add("latency", format!("wait {} for {}", activity.name(key.node), key.what), durations.total_ns);
        }
    }

    /// Bytes and calls, by channel.
    pub fn add_io(&mut self, activity: &RunActivity) {
        for ((node, _, name), cost) in &activity.io {
            let (machine, calls) = (activity.name(*node), cost.reads + cost.writes);
            self.add("io", format!("bytes read from {name} by {machine}"), cost.read_bytes);
            self.add("io", format!("bytes written to {name} by {machine}"), cost.written_bytes);
            self.add("io", format!("calls for {name} by {machine}"), calls);
        }
    }

    /// Turns, by machine.
    pub fn add_sched(&mut self, activity: &RunActivity) {
        for (node, times) in &activity.machines {
            self.add("sched", format!("turns of {}", activity.name(*node)), times.turns);
            self.add("sched", format!("waits of {}", activity.name(*node)), times.waits);
        }
    }
}

impl ProfileDiff {
    /// What differs from the runs of `left` to those of `right` by `test`, `limit` rows.
    #[must_use]
    pub fn of(
        (left, left_runs): (String, &[ProfileMetrics]),
        (right, right_runs): (String, &[ProfileMetrics]),
        test: &DifferenceTest,
        limit: usize,
    ) -> ProfileDiff {
        let keys: BTreeSet<&(String, String)> =
            left_runs.iter().chain(right_runs).flat_map(|run| run.values.keys()).collect();
        let domains: BTreeSet<String> = keys.iter().map(|(domain, _)| domain.clone()).collect();
        let metrics = keys.len();
        let values = |runs: &[ProfileMetrics], key: &(String, String)| -> Vec<f64> {
            runs.iter().map(|run| run.values.get(key).copied().unwrap_or(0.0)).collect()
        };
        let seeds = |runs: &[ProfileMetrics]| runs.iter().map(|run| run.seed).collect::<Vec<u64>>();
        let is_paired = seeds(left_runs) == seeds(right_runs);
        let compared = keys.into_iter().filter_map(|key| {
            let difference = test(&values(left_runs, key), &values(right_runs, key), is_paired)?;
            Some(difference.row(key, metrics))
        });
        let mut rows: Vec<MetricDiff> = compared.collect();
        // A total says less than what it is made of.
        let is_total = |row: &MetricDiff| !row.metric.contains(' ') || row.metric == "virtual time";
        rows.sort_by(|a, b| {
            let key = |row: &MetricDiff| (!row.is_regression, !row.is_significant, is_total(row));
            key(a).cmp(&key(b)).then(weight(b).total_cmp(&weight(a))).then(a.metric.cmp(&b.metric))
        });
        let of = |is_regression| rows.iter().filter(|row| row.is_regression == is_regression).count() as u64;
        let surely = |is_regression| {
            rows.iter().filter(|row| row.is_regression == is_regression && row.is_significant).count() as u64
        };
        let others = other_programs(left_runs, right_runs);
        let verdict = match (rows.is_empty(), surely(true), surely(false)) {
            (true, ..) => "equal",
            // What is less in another program is no improvement.
            _ if others.is_some() => "changed",
            (_, 1.., 0) => "regression",
            (_, 0, 1..) => "improvement",
            _ => "changed",
        };
        let top = rows.first().filter(|row| row.is_regression && row.is_significant);
        let summary = DiffSummary {
            verdict: verdict.to_owned(),
            regression_count: of(true),
            improvement_count: of(false),
            significant_regression_count: surely(true),
            top_regression_metric: top.map(|row| format!("{}: {}", row.domain, row.metric)),
        };
        // What is missing in equal runs misleads nobody.
        let differing = left_runs.iter().chain(right_runs).filter(|_| !rows.is_empty());
        let remarks: BTreeSet<String> = differing.flat_map(|run| run.remarks.clone()).collect();
        let left_out = rows.len().saturating_sub(limit) as u64;
        rows.truncate(limit);
        ProfileDiff {
            schema_version: "fozzy.profile_diff.v2".to_owned(),
            left,
            right,
            left_samples: left_runs.len() as u64,
            right_samples: right_runs.len() as u64,
            domains: domains.into_iter().collect(),
            summary,
            regressions: rows,
            left_out,
            warnings: others.into_iter().chain(remarks).collect(),
        }
    }
}

/// How much a row says among those of its kind: time and instructions by how much they differ.
fn weight(row: &MetricDiff) -> f64 {
    let of_domain = match row.domain.as_str() {
        "cpu" => 1.0,
        // A microsecond of virtual time is about as long as a thousand instructions.
        "latency" => 1.0,
        _ => 0.1,
    };
    row.delta.abs() * of_domain
}

/// Why two sides should not be compared.
fn other_programs(left: &[ProfileMetrics], right: &[ProfileMetrics]) -> Option<String> {
    let all = |runs: &[ProfileMetrics]| runs.iter().flat_map(|run| run.functions.clone()).collect::<BTreeSet<String>>();
    different_programs(&all(left), &all(right))
}

/// The same of two sets of functions.
pub(crate) fn different_programs(left: &BTreeSet<String>, right: &BTreeSet<String>) -> Option<String> {
    let (both, least) = (left.intersection(right).count(), left.len().min(right.len()));
    let differ = least > 0 && (both as f64) < SAME_PROGRAM * least as f64;
    differ.then(|| {
        format!(
            "these are runs of different programs: {} of {} functions have the same names",
            both,
            left.len().max(right.len())
        )
    })
}

/// How one metric differs between two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct TestedDifference {
    /// The mean before.
    pub left: f64,
    /// The mean after.
    pub right: f64,
    /// The chance of as large a difference, if there were none.
    pub by_chance: f64,
    /// How that was found.
    pub meta: ConfidenceMeta,
}

/// Tests whether two samples differ, `None` when they do not. The last argument says whether they are pairs.
pub type DifferenceTest = dyn Fn(&[f64], &[f64], bool) -> Option<TestedDifference>;

impl TestedDifference {
    fn row(self, (domain, metric): &(String, String), metrics: usize) -> MetricDiff {
        let TestedDifference { left, right, by_chance, meta } = self;
        let delta = right - left;
        let delta_pct = (left != 0.0).then(|| 100.0 * delta / left);
        let is_regression = delta > 0.0;
        let is_significant = by_chance * metrics as f64 <= 1.0 - CONFIDENCE;
        let severity = match delta_pct.map_or(f64::INFINITY, f64::abs) {
            pct if pct >= 30.0 => "high",
            pct if pct >= 15.0 => "medium",
            pct if pct >= 5.0 => "low",
            _ => "none",
        };
        let percent = delta_pct.map_or_else(|| "from nothing".to_owned(), |pct| format!("{pct:+.1} %"));
        let sure = match (meta.method.as_str(), is_significant) {
            ("exact", _) => "exact",
            (_, true) => "no chance",
            (_, false) => "may be chance",
        };
        MetricDiff {
            domain: domain.clone(),
            metric: metric.clone(),
            left,
            right,
            delta,
            delta_pct,
            classification: if is_regression { "regression" } else { "improvement" }.to_owned(),
            is_regression,
            is_significant,
            severity: severity.to_owned(),
            analysis: format!("{} ({sure})", percent),
            time_domain: "virtual".to_owned(),
            confidence: 1.0 - by_chance,
            confidence_meta: meta,
        }
    }
}

/// A value of a metric for people.
fn value(domain: &str, value: f64) -> String {
    match domain {
        "latency" => Duration(value.round() as u64).to_string(),
        _ => grouped(value.round() as u64),
    }
}

impl Layout for ProfileDiff {
    fn lay_out(&self, style: Style) -> String {
        let Style { good, bad, faint, end, .. } = style;
        let runs = |n: u64| counted(n, "run");
        let mut text = format!(
            "{}: {}, against {} of {}\n",
            self.right,
            match self.summary.verdict.as_str() {
                "equal" => format!("{good}equal{end}"),
                "regression" => format!("{bad}regression{end}"),
                "improvement" => format!("{good}improvement{end}"),
                other => other.to_owned(),
            },
            runs(self.left_samples),
            self.left
        );
        let rows: Vec<[String; 4]> = self
            .regressions
            .iter()
            .map(|row| {
                let (left, right) = (value(&row.domain, row.left), value(&row.domain, row.right));
                [left, right, row.analysis.clone(), row.domain.clone()]
            })
            .collect();
        // On a terminal, columns are as wide as what stands in them, so that names have room.
        let width = |column: usize, head: &str, usual: usize| match style.width {
            0 => usual,
            _ => rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(head.len()),
        };
        let heads = ["before", "after", "change", "domain"];
        let [before, after, change, domain] =
            [(0, 16), (1, 16), (2, 26), (3, 8)].map(|(column, usual)| width(column, heads[column], usual));
        let start = |[left, right, analysis, of]: [&str; 4]| {
            format!("{left:>before$}  {right:>after$}  {analysis:>change$}  {of:<domain$}  ")
        };
        if !rows.is_empty() {
            text.push_str(&format!("{faint}{}metric{end}\n", start(heads)));
        }
        for (row, cells) in self.regressions.iter().zip(&rows) {
            let start = start(cells.each_ref().map(String::as_str));
            let room = style.room(start.chars().count());
            text.push_str(&format!("{start}{}\n", fit(&row.metric, room)));
        }
        if self.left_out > 0 {
            text.push_str(&format!("{} more: --limit shows them\n", counted(self.left_out, "row")));
        }
        let notes = self.warnings.iter().map(|warning| format!("note: {warning}\n"));
        text + &notes.collect::<String>()
    }
}
