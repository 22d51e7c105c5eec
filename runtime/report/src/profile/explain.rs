//! What grew between two runs, by which path of calls, and since which decision.
//!
//! ```text
//! CallTree before ─┐                                   main +900 ─ parse +890 ─ skip_spaces +880 (own +880)
//! CallTree after  ─┴─▶ the child that grew most, again and again ─▶ topShiftedPath
//! ```
//!
//! Invariant: the path ends where the growth is a function's own, or comes from several that it calls.

use super::{CallTree, ProfileDiff};
use crate::Layout;
use crate::pretty::{Style, grouped, shell_word};
use crate::show::folded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path continues in a callee that has at least this share of its caller's growth.
const SHARE: f64 = 0.5;
/// Frames of a path.
const FRAMES_MAX: usize = 64;

/// `fozzy.profile_explain.v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileExplain {
    /// Always `fozzy.profile_explain.v1`.
    pub schema_version: String,
    /// The trace.
    pub run: String,
    /// What grew, in one sentence.
    pub regression_statement: String,
    /// The path of calls that grew most, from the root; without another run, the most expensive one.
    pub top_shifted_path: Vec<String>,
    /// cpu, latency, io, sched; absent when nothing grew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likely_cause_domain: Option<String>,
    /// Where the two runs part for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<FirstDivergence>,
    /// Commands that show it.
    pub evidence_pointers: Vec<String>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The first call in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FirstDivergence {
    /// Its number.
    pub call: u64,
    /// Its virtual time.
    pub at_ns: u64,
    /// Decisions before it.
    pub decision: u64,
    /// What was called before; absent when that run had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What was called after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A path of names and what it costs.
type Paths<'t> = BTreeMap<Vec<&'t str>, u64>;

/// Inclusive instructions by path of names. Paths are cut where they are deep.
fn by_path(tree: &CallTree) -> Paths<'_> {
    let mut names: Vec<Vec<&str>> = Vec::with_capacity(tree.nodes.len());
    let mut sums = Paths::new();
    for ((position, node), cost) in tree.nodes.iter().enumerate().zip(tree.inclusive()) {
        let mut path = node.parent.map(|parent| names[parent].clone()).unwrap_or_default();
        if path.len() < FRAMES_MAX {
            path.push(tree.name(position));
            *sums.entry(path.clone()).or_default() += cost.instructions;
        }
        names.push(path);
    }
    sums
}

/// The path along which `after` has most instructions more than `before`, and how many more it has.
#[must_use]
pub fn grown_path(before: Option<&CallTree>, after: &CallTree) -> (Vec<String>, i64) {
    let (then, now) = (before.map(by_path).unwrap_or_default(), by_path(after));
    let growth = |path: &[&str]| {
        let of = |sums: &Paths<'_>| sums.get(path).copied().unwrap_or(0);
        i64::try_from(of(&now)).unwrap_or(i64::MAX) - i64::try_from(of(&then)).unwrap_or(i64::MAX)
    };
    let mut path: Vec<&str> = Vec::new();
    let mut grown = 0;
    loop {
        let inside = |candidate: &&Vec<&str>| candidate.len() == path.len() + 1 && candidate.starts_with(&path);
        // Paths with the same beginning stand behind each other.
        let from = now.range(path.clone()..).map(|(path, _)| path).take_while(|candidate| candidate.starts_with(&path));
        let Some(next) = from.filter(inside).max_by_key(|candidate| growth(candidate)) else { break };
        let more = growth(next);
        if more <= 0 || (!path.is_empty() && (more as f64) < SHARE * grown as f64) {
            break;
        }
        (path, grown) = (next.clone(), more);
    }
    (path.into_iter().map(str::to_owned).collect(), grown)
}

/// The path to a function along which it has most instructions more than before; a path that is new counts whole.
fn path_to(before: &CallTree, after: &CallTree, function: &str) -> Vec<String> {
    let (then, now) = (by_path(before), by_path(after));
    let ends = now.iter().filter(|(path, _)| path.last() == Some(&function));
    let growth =
        |(path, cost): &(&Vec<&str>, &u64)| i128::from(**cost) - i128::from(then.get(*path).copied().unwrap_or(0));
    // Of equal ones the shortest: others go through it again.
    let most = ends.max_by_key(|found| (growth(found), std::cmp::Reverse(found.0.len())));
    most.map(|(path, _)| path.iter().map(|name| (*name).to_owned()).collect()).unwrap_or_default()
}

impl ProfileExplain {
    /// Explains a run on its own, without another one to compare with.
    #[must_use]
    pub fn of(after: &CallTree) -> ProfileExplain {
        let (path, instructions) = grown_path(None, after);
        let total = after.total().instructions;
        let share = 100.0 * instructions as f64 / total.max(1) as f64;
        let last = path.last().cloned().unwrap_or_default();
        ProfileExplain {
            schema_version: "fozzy.profile_explain.v1".to_owned(),
            run: after.run.clone(),
            regression_statement: format!(
                "most of the {} instructions are spent in `{last}` and what it calls by this path: {share:.1} %",
                grouped(total)
            ),
            top_shifted_path: path,
            likely_cause_domain: None,
            since: None,
            evidence_pointers: vec![format!("fozzy profile top {} --cpu", shell_word(&after.run))],
            warnings: after.remarks.clone(),
        }
    }

    /// What grew from one run to another.
    #[must_use]
    pub fn between(
        before: &CallTree,
        after: &CallTree,
        diff: &ProfileDiff,
        since: Option<FirstDivergence>,
    ) -> ProfileExplain {
        let top = diff.regressions.iter().find(|row| row.is_regression && row.is_significant);
        let (path, grown) = grown_path(Some(before), after);
        let named = top.filter(|row| row.domain == "cpu").and_then(|row| row.metric.strip_prefix("function "));
        // The sentence and the path are about the same function.
        let path = match named {
            Some(function) if !path.iter().any(|name| name == function) => path_to(before, after, function),
            _ if grown > 0 => path,
            _ => Vec::new(),
        };
        let statement = match top {
            None => "nothing grew".to_owned(),
            Some(row) if row.domain == "cpu" => {
                let (then, now) = (before.total().instructions, after.total().instructions);
                let own =
                    format!("`{}` has {} more", row.metric.trim_start_matches("function "), grouped(row.delta as u64));
                format!("instructions went from {} to {}; {own} ({})", grouped(then), grouped(now), row.analysis)
            }
            Some(row) => format!("{}: {} ({})", row.domain, row.metric, row.analysis),
        };
        let (old, new) = (shell_word(&before.run), shell_word(&after.run));
        let mut evidence = vec![
            format!("fozzy profile diff {old} {new}"),
            format!("fozzy profile flame {new} --format svg --out flame.svg"),
        ];
        if let Some(since) = &since {
            evidence.push(format!("fozzy replay {new} --call {}", since.call));
        }
        ProfileExplain {
            schema_version: "fozzy.profile_explain.v1".to_owned(),
            run: after.run.clone(),
            regression_statement: statement,
            top_shifted_path: path,
            likely_cause_domain: top.map(|row| row.domain.clone()),
            since,
            evidence_pointers: evidence,
            warnings: diff.warnings.clone(),
        }
    }
}

impl Layout for ProfileExplain {
    fn lay_out(&self, style: Style) -> String {
        let Style { faint, end, .. } = style;
        let mut text = folded(&self.regression_statement, style);
        for (depth, frame) in self.top_shifted_path.iter().enumerate() {
            text.push_str(&format!("  {}{frame}\n", "  ".repeat(depth.min(20))));
        }
        if let Some(since) = &self.since {
            let side = |call: &Option<String>| call.clone().unwrap_or_else(|| "the end of the run".to_owned());
            text.push_str(&format!(
                "the runs part at call {}, after decision {}: {} before, {} after\n",
                since.call,
                since.decision,
                side(&since.before),
                side(&since.after)
            ));
        }
        self.evidence_pointers.iter().for_each(|command| text.push_str(&format!("  {faint}{command}{end}\n")));
        let notes = self.warnings.iter().map(|warning| format!("note: {warning}\n"));
        text + &notes.collect::<String>()
    }
}
