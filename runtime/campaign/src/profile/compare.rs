//! Profiles of two runs, or two sets of runs, beside each other.
//!
//! ```text
//! traces before ─▶ metrics of each ─┐
//! traces after  ─▶ metrics of each ─┴─▶ ProfileDiff
//! one of each   ─▶ trees, and where their calls part ─▶ ProfileExplain
//! ```

use super::{ProfileDomains, cpu_profile, heap_profile, run_activity};
use crate::error::CampaignError;
use crate::pipeline::session_of;
use fozzy_report::profile::{
    ConfidenceMeta, FirstDivergence, ProfileDiff, ProfileExplain, ProfileMetrics, TestedDifference,
};
use fozzy_search::stats::{DifferenceMethod, MeanDifference};
use fozzy_search::{ReplaySide, locate, source_of};
use fozzy_trace::HistoryEntry;
use fozzy_trace::file::Recording;
use std::path::PathBuf;

/// A recording, and where it lies.
pub type NamedRecording = (PathBuf, Recording);

/// What differs from the runs of `left` to those of `right`: the domains that are asked for, or all of them; `limit` rows.
///
/// # Errors
/// When one of them is not the recorded run any more.
pub fn profile_diff(
    left: &[NamedRecording],
    right: &[NamedRecording],
    asked: ProfileDomains,
    limit: u64,
) -> Result<ProfileDiff, CampaignError> {
    let (before, after) = (metrics(left, asked)?, metrics(right, asked)?);
    let rows = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(ProfileDiff::of((named(left), &before), (named(right), &after), &tested, rows))
}

/// What grew from one run to another, by which path, and since which decision; without another run, where it spends most.
///
/// # Errors
/// When one of them is not the recorded run any more.
pub fn profile_explain(
    after: &NamedRecording,
    before: Option<&NamedRecording>,
) -> Result<ProfileExplain, CampaignError> {
    let tree = cpu_profile(&after.0, &after.1)?;
    let Some(before) = before else { return Ok(ProfileExplain::of(&tree)) };
    let then = cpu_profile(&before.0, &before.1)?;
    let one = |run: &NamedRecording| metrics(std::slice::from_ref(run), ProfileDomains::default());
    let sides = [(before, one(before)?), (after, one(after)?)];
    let [left, right] = sides.each_ref().map(|(run, found)| (run.0.display().to_string(), found.as_slice()));
    let diff = ProfileDiff::of(left, right, &tested, usize::MAX);
    Ok(ProfileExplain::between(&then, &tree, &diff, parting(&before.1, &after.1)?))
}

/// How a metric differs, for a document.
fn tested(left: &[f64], right: &[f64], is_paired: bool) -> Option<TestedDifference> {
    let MeanDifference { means, deviations, error, by_chance, method } = MeanDifference::of(left, right, is_paired)?;
    let method = match method {
        DifferenceMethod::Exact => "exact",
        DifferenceMethod::Paired => "paired",
        DifferenceMethod::Welch => "welch",
    };
    let meta = ConfidenceMeta {
        method: method.to_owned(),
        left_sample_count: left.len() as u64,
        right_sample_count: right.len() as u64,
        left_std_dev: deviations[0],
        right_std_dev: deviations[1],
        pooled_std_err: error,
    };
    Some(TestedDifference { left: means[0], right: means[1], by_chance, meta })
}

fn named(runs: &[NamedRecording]) -> String {
    runs.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>().join(",")
}

fn metrics(runs: &[NamedRecording], asked: ProfileDomains) -> Result<Vec<ProfileMetrics>, CampaignError> {
    let all = !asked.is_any();
    let of = |(path, recording): &NamedRecording| {
        let mut found = ProfileMetrics::of_seed(recording.seed.0);
        if all || asked.cpu {
            found.add_cpu(&cpu_profile(path, recording)?);
        }
        if all || asked.heap {
            found.add_heap(&heap_profile(path, recording, &[])?);
        }
        if all || asked.latency || asked.io || asked.sched {
            let activity = run_activity(path, recording)?;
            if all || asked.latency {
                found.add_latency(&activity);
            }
            if all || asked.io {
                found.add_io(&activity);
            }
            if all || asked.sched {
                found.add_sched(&activity);
            }
        }
        Ok(found)
    };
    runs.iter().map(of).collect()
}

/// The first call in which two runs differ, and the decisions before it.
fn parting(before: &Recording, after: &Recording) -> Result<Option<FirstDivergence>, CampaignError> {
    let (mut left, mut right) = (session_of(before)?, session_of(after)?);
    let mut recorded = ReplaySide { executor: &mut left, source: &|| source_of(before) };
    let mut asked = ReplaySide { executor: &mut right, source: &|| source_of(after) };
    let Some(found) = locate(&mut recorded, &mut asked)? else { return Ok(None) };
    let decision = decisions_before(after, found.index)?;
    let line = |entry: HistoryEntry| format!("{}({}) -> {}", entry.call, entry.asked, entry.answer);
    Ok(Some(FirstDivergence {
        call: found.index,
        at_ns: found.at.0,
        decision,
        before: found.recorded.map(line),
        after: found.asked.map(line),
    }))
}

fn decisions_before(recording: &Recording, call: u64) -> Result<u64, CampaignError> {
    let until = fozzy_trace::StopPoint::Call(call);
    let view = session_of(recording)?.look(source_of(recording), until, 0..0)?;
    Ok(view.history.decisions)
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
        ProfileDiff::of(("a".to_owned(), left), ("b".to_owned(), right), &tested, 10)
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
        let others: Vec<ProfileMetrics> = after
            .into_iter()
            .map(|mut run| {
                run.seed += 100;
                run
            })
            .collect();
        let apart = diff(&before, &others);
        assert_eq!((apart.summary.verdict.as_str(), apart.regressions[0].is_significant), ("changed", false));
    }
}
