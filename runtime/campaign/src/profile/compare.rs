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
use fozzy_report::profile::{FirstDivergence, ProfileDiff, ProfileExplain, ProfileMetrics};
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
    Ok(ProfileDiff::of((named(left), &before), (named(right), &after), rows))
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
    let diff = ProfileDiff::of(left, right, usize::MAX);
    Ok(ProfileExplain::between(&then, &tree, &diff, parting(&before.1, &after.1)?))
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
