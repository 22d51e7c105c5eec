//! What a page about a run has beside its report: the run is executed again for it.
//!
//! Invariant: what cannot be had is a remark, and the page is made all the same.

use crate::causality::FailingRun;
use crate::error::CampaignError;
use crate::memory::memory_facts;
use crate::profile::{ProfileDomains, profile_top, run_activity};
use crate::project::Project;
use crate::suspects::suspects_of;
use fozzy_report::RunPlayback;
use fozzy_report::memory::MemoryTop;
use fozzy_report::profile::ProfileTimeline;
use fozzy_report::suite::RunDetails;
use fozzy_trace::Seed;
use fozzy_trace::file::Recording;
use std::path::Path;

/// Rows of each list.
const ROWS: u64 = 10;
/// Moments from which a failure is continued, continuations of each, and their seed: those of `fozzy causality` unless it is told otherwise.
const MOMENTS: u64 = 12;
const CONTINUATIONS: u32 = 32;
const SEED: Seed = Seed(1);

/// Suspects that a page has.
const SUSPECTS: usize = 15;

/// What of a failure is measured for a page, since it takes many runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredDetails {
    /// When it became likely.
    pub causality: bool,
    /// What goes with it.
    pub suspects: bool,
}

/// Profile, memory and, of several machines, the run played and the timeline of a recorded run; and what of its failure is `measured`.
pub fn run_details(project: &Project, path: &Path, recording: &Recording, measured: MeasuredDetails) -> RunDetails {
    let mut details = RunDetails::default();
    let mut note = |what: &str, error: CampaignError| {
        let why = error.message.lines().next().unwrap_or_default().to_owned();
        details.remarks.push(format!("no {what}: {why}"));
    };
    let domains = ProfileDomains { cpu: true, heap: false, latency: true, io: true, sched: false };
    let profile = profile_top(path, recording, domains, &[], ROWS).map_err(|error| note("profile", error)).ok();
    let memory = memory_facts(path, recording, &[]).map_err(|error| note("memory", error)).ok();
    let activity = match recording.plan.nodes.is_empty() {
        true => None,
        false => run_activity(path, recording).map_err(|error| note("timeline", error)).ok(),
    };
    let likely = || FailingRun::of(path, recording, 1)?.causality(path, SEED, MOMENTS, CONTINUATIONS);
    let causality = measured.causality.then(|| likely().map_err(|error| note("causality", error)).ok()).flatten();
    let found = measured.suspects.then(|| suspects_of(project, path, recording));
    let suspects = found.and_then(|found| found.map_err(|error| note("suspects", error)).ok());
    details.causality = causality;
    details.suspects = suspects.map(|mut found| {
        found.suspects.truncate(SUSPECTS);
        found
    });
    details.profile = profile;
    details.memory = memory.map(|facts| MemoryTop::of(&facts, ROWS));
    details.playback = activity.as_ref().map(RunPlayback::of).filter(|playback| !playback.is_empty());
    details.timeline = activity.map(|activity| ProfileTimeline::of(&activity, "html"));
    details
}
