//! Whether the profiles of a recorded run can be had, and balance.

use super::{cpu_profile, heap_profile, run_activity};
use crate::error::CampaignError;
use fozzy_report::profile::{HeapTree, ProfileDoctor, ProfileTimeline, RunActivity, profile_format};
use fozzy_trace::file::Recording;
use fozzy_trace::{Duration, Instant, counted, grouped};
use std::path::Path;

/// Makes the profiles of a recording and checks them; twice if `deep`.
///
/// # Errors
/// With `deep`, when the run is another one the second time.
pub fn profile_doctor(path: &Path, recording: &Recording, deep: bool) -> Result<ProfileDoctor, CampaignError> {
    let mut doctor = ProfileDoctor::new(path.display().to_string());
    let cpu = cpu_profile(path, recording);
    let said = |error: &CampaignError| error.to_string();
    doctor.check(
        "cpu",
        cpu.as_ref().map(|tree| format!("{} instructions counted", grouped(tree.total().instructions))).map_err(said),
    );
    if let Ok(tree) = &cpu {
        let pprof = |tree| profile_format("pprof").export(tree).0;
        doctor.check("cpu_balance", within_use(tree.of_main(), recording.outcome.fuel_used));
        if deep {
            let again = cpu_profile(path, recording)?;
            doctor.check("cpu_again", equal(pprof(tree) == pprof(&again)));
        }
        tree.remarks.iter().for_each(|remark| doctor.warn("names", remark.clone()));
    }
    let heap = heap_profile(path, recording, &[]);
    let blocks = |heap: &HeapTree| counted(heap.total().blocks, "allocation");
    doctor.check("heap", heap.as_ref().map(blocks).map_err(said));
    if let Ok(heap) = &heap {
        doctor.check("heap_balance", balance(heap));
        if deep {
            doctor.check("heap_again", equal(*heap == heap_profile(path, recording, &[])?));
        }
        let more =
            heap.tree.remarks.iter().filter(|remark| cpu.as_ref().is_ok_and(|cpu| !cpu.remarks.contains(remark)));
        more.for_each(|remark| doctor.warn("heap", remark.clone()));
    }
    let activity = run_activity(path, recording);
    let length = |ns| format!("{} of virtual time", Duration(ns));
    doctor.check("activity", activity.as_ref().map(|activity| length(activity.end.0)).map_err(said));
    if let Ok(activity) = &activity {
        doctor.check("times", times(activity));
        if deep {
            let again = run_activity(path, recording)?;
            let text = |activity| ProfileTimeline::of(activity, "chrome").text();
            doctor.check("activity_again", equal(text(activity) == text(&again)));
        }
        activity.remarks.iter().for_each(|remark| doctor.warn("activity", remark.clone()));
    }
    Ok(doctor)
}

/// Whether the program has executed no more instructions than the run is recorded to have used, checks of the sandbox included.
fn within_use(counted: u64, used: u64) -> Result<String, String> {
    let said = format!("{} instructions of the program, {} used by the run", grouped(counted), grouped(used));
    if counted <= used { Ok(said) } else { Err(said) }
}

/// Whether blocks that were allocated are blocks that were freed and blocks in use.
fn balance(heap: &HeapTree) -> Result<String, String> {
    let (total, freed) = (heap.total(), heap.frees);
    let said = format!("{} allocated, {} freed, {} in use", total.blocks, freed, total.live_blocks);
    let is_right = heap.is_collected || total.blocks == freed + total.live_blocks;
    if is_right { Ok(said) } else { Err(said) }
}

/// Whether each machine has waited no longer than its calls took, and its calls no longer than it was there.
fn times(activity: &RunActivity) -> Result<String, String> {
    for (node, times) in &activity.machines {
        let life = times.ended.unwrap_or(activity.end).since(times.started.unwrap_or(Instant::START)).0;
        if times.waited_ns > times.calls_ns || times.calls_ns > life {
            return Err(format!(
                "{} waited for {}, in calls of {}, within {}",
                activity.name(*node),
                Duration(times.waited_ns),
                Duration(times.calls_ns),
                Duration(life)
            ));
        }
    }
    Ok(format!("those of {} are within each other", counted(activity.machines.len() as u64, "machine")))
}

fn equal(is_equal: bool) -> Result<String, String> {
    if is_equal { Ok("equal bytes, a second time".to_owned()) } else { Err("other bytes, a second time".to_owned()) }
}
