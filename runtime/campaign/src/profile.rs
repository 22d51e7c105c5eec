//! Profiles of a recorded run: the run once more, watched.
//!
//! ```text
//! trace ─┬─▶ in the build that counts ─▶ cpu: instructions by function, line and path
//!        ├─▶ in the build that logs allocations ─▶ heap: blocks by function, line and path
//!        └─▶ as it was recorded, told ─▶ latency, io, sched, timeline
//! ```
//!
//! Invariant: a profile is of the recorded run, or there is none.
//! Not here: documents and formats (`fozzy-report`).

mod activity;
mod call_tree;
mod compare;
mod counted;
mod cpu;
mod doctor;
mod heap;
mod heap_tree;
mod shrink;

pub use activity::run_activity;
pub use compare::{NamedRecording, profile_diff, profile_explain};
pub(crate) use counted::starved;
pub use cpu::cpu_profile;
pub use doctor::profile_doctor;
pub use heap::heap_profile;
pub use heap_tree::unchecked_heap;
pub(crate) use heap_tree::{UNRECOGNISED, heap_of};
pub use shrink::{CostShrinkRequest, profile_shrink};

use crate::error::{CampaignError, ErrorKind};
use fozzy_report::profile::{
    HEAP_FORMATS, HeapFormat, PROFILE_FORMATS, ProfileFlame, ProfileTop, SPAN_FORMATS, SpanWriter, heap_format,
    profile_format, span_format,
};
use fozzy_trace::file::Recording;
use fozzy_trace::plan::AllocatorChoice;
use fozzy_trace::{Instant, grouped};
use std::path::Path;

/// Which domains a profile is to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileDomains {
    /// Instructions.
    pub cpu: bool,
    /// The program's own heap.
    pub heap: bool,
    /// Virtual time.
    pub latency: bool,
    /// Bytes.
    pub io: bool,
    /// Turns.
    pub sched: bool,
}

impl ProfileDomains {
    fn is_any(self) -> bool {
        self.cpu || self.heap || self.latency || self.io || self.sched
    }
}

/// What costs most in a recorded run, `limit` rows of each list: the domains that are asked for, or all that have something. Functions that
/// are `chosen` allocate, too.
///
/// # Errors
/// When what is executed is not the recorded run, or a domain that was asked for cannot be had.
pub fn profile_top(
    path: &Path,
    recording: &Recording,
    asked: ProfileDomains,
    chosen: &[AllocatorChoice],
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
    if all || asked.heap {
        match heap_profile(path, recording, chosen) {
            Ok(heap) if asked.heap || heap.total().blocks > 0 => top.add_heap(&heap),
            Ok(_) => {}
            Err(error) if asked.heap => return Err(error),
            Err(error) => top.warnings.push(format!("no heap: {error}")),
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

/// The names of all formats that a profile can be exported in.
pub fn export_formats() -> impl Iterator<Item = &'static str> {
    let of_heaps =
        HEAP_FORMATS.iter().map(|row| row.name).filter(|name| PROFILE_FORMATS.iter().all(|row| row.name != *name));
    let of_spans = SPAN_FORMATS.iter().map(|row| row.name);
    PROFILE_FORMATS.iter().map(|row| row.name).chain(of_heaps).chain(of_spans)
}

/// A graph of the paths of calls of a recorded run, in a format that is text: of its instructions, or of its heap, where functions that are
/// chosen allocate too.
///
/// # Errors
/// When what is executed is not the recorded run.
pub fn profile_flame(
    path: &Path,
    recording: &Recording,
    heap: Option<&[AllocatorChoice]>,
    format: &str,
) -> Result<ProfileFlame, CampaignError> {
    Ok(match heap {
        None => ProfileFlame::of(&cpu_profile(path, recording)?, profile_format(format)),
        Some(chosen) => ProfileFlame::of_heap(&heap_profile(path, recording, chosen)?, format_of_heaps(format)?),
    })
}

/// The profile of a recorded run in a format, and what a reader has to know. Formats that are of heaps alone ask for the heap.
///
/// # Errors
/// When what is executed is not the recorded run, or the format is not one of heaps.
pub fn profile_export(
    path: &Path,
    recording: &Recording,
    heap: Option<&[AllocatorChoice]>,
    format: &str,
) -> Result<(Vec<u8>, Vec<String>), CampaignError> {
    if let (Some(format), None) = (span_format(format), heap) {
        return spans(path, recording, format.write);
    }
    let is_of_heaps = PROFILE_FORMATS.iter().all(|row| row.name != format);
    let Some(chosen) = heap.or(is_of_heaps.then_some(&[])) else {
        let tree = cpu_profile(path, recording)?;
        return Ok(profile_format(format).export(&tree));
    };
    let format = format_of_heaps(format)?;
    let found = heap_profile(path, recording, chosen)?;
    Ok(format.export(&found))
}

/// A run over its virtual time.
fn spans(path: &Path, recording: &Recording, write: SpanWriter) -> Result<(Vec<u8>, Vec<String>), CampaignError> {
    let activity = run_activity(path, recording)?;
    let mut remarks = activity.remarks.clone();
    if activity.end == Instant::START {
        remarks.push("the run took no virtual time: all that happens in it is at the moment 0".to_owned());
    }
    if activity.left_out > 0 {
        let left_out = "is left out: a file has at most 65,536 each of calls, messages, turns and notes";
        remarks.push(format!("{} {left_out}", grouped(activity.left_out)));
    }
    let written = match write {
        SpanWriter::Activity(write) => write(&activity),
        SpanWriter::WithCalls(write) => {
            let tree = cpu_profile(path, recording)?;
            remarks.extend(tree.remarks.iter().cloned());
            write(&activity, &tree)
        }
    };
    Ok((written, remarks))
}

fn format_of_heaps(name: &str) -> Result<&'static HeapFormat, CampaignError> {
    heap_format(name).ok_or_else(|| {
        let formats: Vec<&str> = HEAP_FORMATS.iter().map(|row| row.name).collect();
        let message = format!("--format {name} shows no heap; a heap is written as one of {}", formats.join(", "));
        CampaignError::new(ErrorKind::Usage, message)
    })
}
