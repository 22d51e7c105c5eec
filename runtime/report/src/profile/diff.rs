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

    fn add(&mut self, domain: &str, metric: String, value: u64) {
        *self.values.entry((domain.to_owned(), metric)).or_default() += value as f64;
    }

    /// Instructions, by function too.
    pub fn add_cpu(&mut self, tree: &CallTree) {
        self.add("cpu", "instructions".to_owned(), tree.total().instructions);
        self.add("cpu", "bulk bytes".to_owned(), tree.total().bulk_bytes);
        for ProfileTopFunction { function, own, .. } in super::top::by_function(tree) {
            self.functions.insert(function.clone());
            self.add("cpu", format!("function {function}"), own);
        }
    }

    /// Bytes and blocks of the program's own heap, by the function that allocates too.
    pub fn add_heap(&mut self, heap: &HeapTree) {
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
        for ProfileTopFunction { function, own, .. } in super::top::by_function(&heap.tree) {
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
    /// What differs from the runs of `left` to those of `right`, `limit` rows.
    #[must_use]
    pub fn of(
        (left, left_runs): (String, &[ProfileMetrics]),
        (right, right_runs): (String, &[ProfileMetrics]),
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
            let confidence = Comparison::of(&values(left_runs, key), &values(right_runs, key), is_paired)?;
            Some(confidence.row(key, metrics))
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
        let verdict = match (rows.is_empty(), surely(true), surely(false)) {
            (true, ..) => "equal",
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
            warnings: other_programs(left_runs, right_runs).into_iter().collect(),
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
    let (left, right) = (all(left), all(right));
    let (both, least) = (left.intersection(&right).count(), left.len().min(right.len()));
    let differ = least > 0 && (both as f64) < SAME_PROGRAM * least as f64;
    differ.then(|| {
        format!(
            "these are runs of different programs: {} of {} functions have the same names",
            both,
            left.len().max(right.len())
        )
    })
}

/// One metric on both sides.
struct Comparison {
    left: f64,
    right: f64,
    /// The chance of as large a difference, if there were none.
    by_chance: f64,
    meta: ConfidenceMeta,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn variance(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle) * (value - middle)).sum();
    if values.len() < 2 { 0.0 } else { squares / (values.len() - 1) as f64 }
}

impl Comparison {
    /// `None` when there is no difference.
    fn of(left: &[f64], right: &[f64], is_paired: bool) -> Option<Comparison> {
        let (before, after) = (mean(left), mean(right));
        if left == right || before == after {
            return None;
        }
        let (left_variance, right_variance) = (variance(left), variance(right));
        let (n, m) = (left.len() as f64, right.len() as f64);
        let deltas: Vec<f64> = left.iter().zip(right).map(|(left, right)| right - left).collect();
        let (method, error, freedom) = if is_paired && left.len() > 1 {
            ("paired", (variance(&deltas) / n).sqrt(), n - 1.0)
        } else if left.len() == 1 && right.len() == 1 {
            ("exact", 0.0, 1.0)
        } else {
            let (a, b) = (left_variance / n, right_variance / m);
            let parts = a * a / (n - 1.0).max(1.0) + b * b / (m - 1.0).max(1.0);
            ("welch", (a + b).sqrt(), if parts > 0.0 { (a + b) * (a + b) / parts } else { 1.0 })
        };
        // What does not vary at all differs for a reason.
        let by_chance = if error > 0.0 { two_sided((after - before).abs() / error, freedom) } else { 0.0 };
        let method = if error > 0.0 { method } else { "exact" };
        let meta = ConfidenceMeta {
            method: method.to_owned(),
            left_sample_count: left.len() as u64,
            right_sample_count: right.len() as u64,
            left_std_dev: left_variance.sqrt(),
            right_std_dev: right_variance.sqrt(),
            pooled_std_err: error,
        };
        Some(Comparison { left: before, right: after, by_chance, meta })
    }

    fn row(self, (domain, metric): &(String, String), metrics: usize) -> MetricDiff {
        let Comparison { left, right, by_chance, meta } = self;
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

/// The chance that Student's t is at least as far from 0 as `t`, with `freedom` degrees.
fn two_sided(t: f64, freedom: f64) -> f64 {
    beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The regularised incomplete beta function, by its continued fraction (Lentz). <https://dlmf.nist.gov/8.17#v>
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let front = (gamma_ln(a + b) - gamma_ln(a) - gamma_ln(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..200 {
        let n = f64::from(step);
        let even = n * (b - n) * x / ((a + 2.0 * n - 1.0) * (a + 2.0 * n));
        let odd = -(a + n) * (a + b + n) * x / ((a + 2.0 * n) * (a + 2.0 * n + 1.0));
        for part in [even, odd] {
            d = 1.0 / away(1.0 + part * d);
            c = away(1.0 + part / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-12 {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

/// The logarithm of the gamma function (Lanczos).
fn gamma_ln(x: f64) -> f64 {
    const PARTS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        1.208_650_973_866_179e-3,
        -5.395_239_384_953e-6,
    ];
    let near = x + 5.5;
    let series: f64 = PARTS.iter().zip(1..).map(|(part, n)| part / (x + f64::from(n))).sum();
    (x + 0.5) * near.ln() - near + (2.506_628_274_631_000_5 * (1.000_000_000_190_015 + series) / x).ln()
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
        if !self.regressions.is_empty() {
            text.push_str(&format!(
                "{faint}{:>16}  {:>16}  {:>26}  {:<8}  metric{end}\n",
                "before", "after", "change", "domain"
            ));
        }
        for row in &self.regressions {
            let start = format!(
                "{:>16}  {:>16}  {:>26}  {:<8}  ",
                value(&row.domain, row.left),
                value(&row.domain, row.right),
                row.analysis,
                row.domain
            );
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

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(values: &[&[u64]]) -> Vec<ProfileMetrics> {
        let run = |(seed, values): (usize, &&[u64])| {
            let mut run = ProfileMetrics::of_seed(seed as u64);
            values.iter().enumerate().for_each(|(n, value)| run.add("cpu", format!("function f{n}"), *value));
            run
        };
        values.iter().enumerate().map(run).collect()
    }

    fn diff(left: &[ProfileMetrics], right: &[ProfileMetrics]) -> ProfileDiff {
        ProfileDiff::of(("a".to_owned(), left), ("b".to_owned(), right), 10)
    }

    #[test]
    fn one_run_a_side_is_compared_exactly() {
        let same = diff(&runs(&[&[10, 20]]), &runs(&[&[10, 20]]));
        assert_eq!((same.summary.verdict.as_str(), same.regressions.len()), ("equal", 0));
        let grown = diff(&runs(&[&[10, 20, 500]]), &runs(&[&[11, 20, 400]]));
        assert_eq!(grown.summary.top_regression_metric.as_deref(), Some("cpu: function f0"));
        assert_eq!(grown.summary.verdict, "changed", "one grew and one shrank");
        assert_eq!(grown.regressions[0].confidence, 1.0);
    }

    #[test]
    fn seeds_vary_and_a_growth_of_every_pair_is_seen() {
        let before: Vec<Vec<u64>> = (0..10).map(|n| vec![1_000 + 313 * (n * 7 % 10), 50]).collect();
        let after: Vec<Vec<u64>> = before.iter().zip(0..).map(|(run, n)| vec![run[0] + 40 + n % 3, 50]).collect();
        let [before, after] = [&before, &after].map(|all| runs(&all.iter().map(Vec::as_slice).collect::<Vec<_>>()));
        let paired = diff(&before, &after);
        assert_eq!(paired.summary.verdict, "regression");
        assert_eq!(paired.regressions[0].confidence_meta.method, "paired");
        // With other seeds on the right, the same growth drowns in the variation.
        let others: Vec<ProfileMetrics> =
            after.into_iter().map(|run| ProfileMetrics { seed: run.seed + 100, ..run }).collect();
        let apart = diff(&before, &others);
        assert_eq!((apart.summary.verdict.as_str(), apart.regressions[0].is_significant), ("changed", false));
    }

    #[test]
    fn the_test_is_students() {
        // Tables: t = 2.262 with 9 degrees, and 12.706 with 1, have 5 %.
        for (t, freedom) in [(2.262, 9.0), (12.706, 1.0), (1.960, 1e6)] {
            assert!((two_sided(t, freedom) - 0.05).abs() < 2e-4, "{t}: {}", two_sided(t, freedom));
        }
    }
}
