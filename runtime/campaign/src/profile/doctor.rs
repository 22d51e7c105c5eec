//! Whether the profiles of a recorded run can be had, and balance.

use super::{cpu_profile, run_activity};
use crate::error::CampaignError;
use fozzy_report::profile::{ProfileDoctor, ProfileTimeline, profile_format};
use fozzy_trace::file::Recording;
use fozzy_trace::{Duration, grouped};
use std::path::Path;

/// Makes the profiles of a recording and checks them; twice if `deep`.
///
/// # Errors
/// None but those of this machine: what cannot be had is a check that fails.
pub fn profile_doctor(path: &Path, recording: &Recording, deep: bool) -> Result<ProfileDoctor, CampaignError> {
    let mut doctor = ProfileDoctor::new(path.display().to_string());
    let cpu = cpu_profile(path, recording);
    let said = |error: &CampaignError| error.to_string();
    doctor.check(
        "cpu",
        cpu.as_ref().map(|tree| format!("{} instructions counted", grouped(tree.total().instructions))).map_err(said),
    );
    if let Ok(tree) = &cpu {
        let pprof = |tree| (profile_format("pprof").write)(tree);
        let roots = tree.nodes.iter().zip(tree.inclusive()).filter(|(node, _)| node.parent.is_none());
        let (own, with) = (tree.total().instructions, roots.map(|(_, cost)| cost.instructions).sum::<u64>());
        doctor.check("cpu_balance", balance(own, with, |sum| format!("{} instructions", grouped(sum))));
        if deep {
            let again = cpu_profile(path, recording)?;
            doctor.check("cpu_again", equal(pprof(tree) == pprof(&again)));
        }
        tree.remarks.iter().for_each(|remark| doctor.warn("names", remark.clone()));
    }
    let activity = run_activity(path, recording);
    let length = |ns| format!("{} of virtual time", Duration(ns));
    doctor.check("activity", activity.as_ref().map(|activity| length(activity.end.0)).map_err(said));
    if let Ok(activity) = &activity {
        if let Some(path) = &activity.path {
            doctor.check("critical_path", balance(activity.end.0, path.start.0 + path.total_ns(), length));
        }
        if deep {
            let again = run_activity(path, recording)?;
            let text = |activity| ProfileTimeline::of(activity, "chrome").text();
            doctor.check("activity_again", equal(text(activity) == text(&again)));
        }
        activity.remarks.iter().for_each(|remark| doctor.warn("activity", remark.clone()));
    }
    Ok(doctor)
}

fn balance(whole: u64, parts: u64, words: impl Fn(u64) -> String) -> Result<String, String> {
    match whole == parts {
        true => Ok(format!("the parts sum up to {}", words(whole))),
        false => Err(format!("the parts sum up to {}, the whole is {}", words(parts), words(whole))),
    }
}

fn equal(is_equal: bool) -> Result<String, String> {
    if is_equal { Ok("equal bytes, a second time".to_owned()) } else { Err("other bytes, a second time".to_owned()) }
}
