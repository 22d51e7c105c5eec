//! Profiles of a recorded run: the run once more, watched.
//!
//! ```text
//! trace ─┬─▶ in the build that counts ─▶ cpu: instructions by function, line and path
//!        └─▶ as it was recorded, told ─▶ latency, io, sched, timeline
//! ```
//!
//! Invariant: a profile is of the recorded run, or there is none.
//! Not here: documents and formats (`fozzy-report`).

mod activity;
mod compare;
mod cpu;
mod doctor;

pub use activity::run_activity;
pub use compare::{NamedRecording, profile_diff, profile_explain};
pub use cpu::cpu_profile;
pub use doctor::profile_doctor;

use crate::error::CampaignError;
use fozzy_report::profile::ProfileTop;
use fozzy_trace::file::Recording;
use std::path::Path;

/// Which domains a profile is to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileDomains {
    /// Instructions.
    pub cpu: bool,
    /// Virtual time.
    pub latency: bool,
    /// Bytes.
    pub io: bool,
    /// Turns.
    pub sched: bool,
}

impl ProfileDomains {
    fn is_any(self) -> bool {
        self.cpu || self.latency || self.io || self.sched
    }
}

/// What costs most in a recorded run, `limit` rows of each list: the domains that are asked for, or all that have something.
///
/// # Errors
/// When what is executed is not the recorded run, or a domain that was asked for cannot be had.
pub fn profile_top(
    path: &Path,
    recording: &Recording,
    asked: ProfileDomains,
    limit: u64,
) -> Result<ProfileTop, CampaignError> {
    let all = !asked.is_any();
    let rows = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut top = ProfileTop::new(path.display().to_string(), limit);
    if all || asked.cpu {
        match cpu_profile(path, recording) {
            Ok(tree) => top.add_cpu(&tree),
            Err(error) if asked.cpu => return Err(error),
            Err(error) => top.warnings.push(format!("no cpu: {error}")),
        }
    }
    if all || asked.latency || asked.io || asked.sched {
        let activity = run_activity(path, recording)?;
        top.latency = (all || asked.latency).then(|| activity.latency(rows)).filter(|_| !all || activity.end.0 > 0);
        top.io = (all || asked.io).then(|| activity.io(rows)).filter(|io| !all || io.channels_total > 0);
        let has_turns = |sched: &fozzy_report::profile::ProfileTopSched| {
            sched.machines_total > 1 || sched.machines.iter().any(|machine| !machine.tasks.is_empty())
        };
        top.sched = (all || asked.sched).then(|| activity.sched(rows)).filter(|sched| !all || has_turns(sched));
        top.warnings.extend(activity.remarks);
    }
    Ok(top)
}
