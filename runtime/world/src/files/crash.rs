//! A crash: the machine loses power, and what was not synced may be gone.
//!
//! ```text
//! write tmp, rename tmp over conf, crash
//!   names   question: how many of the last changes are lost?   0: the rename is durable
//!   data    question: what of conf's writes is there?          1: none of them, so conf is empty
//! ```
//!
//! Names are decided first (a prefix of the journal stays), then each file that still exists, in the order of
//! their indices: all of its changes are kept; none; a prefix, whose next write may be torn; or each change for
//! itself. A torn write keeps its beginning or its end up to a border of sectors, because disks write sectors whole.
//! The two extremes have questions of their own, so that they are as likely in long logs as in short ones.
//!
//! The simplest answer to everything is zero, and then nothing is lost: the mildest crash.
//!
//! Where a plan has faults of the kinds `lost-write` or `torn-write`, only these decide about data. Names are lost as they are
//! without them, but under plans before [`Edition::FIFTH`], which kept all names then.
//!
//! Invariants: what was synced is there; what is there was written, or is a hole of zeros between what was
//! written. Not here: handles and the guest, which end with the machine (`World::power_loss`).

use super::Disk;
use super::content::FileContent;
use super::durable::{FileChange, PendingFile};
use super::node::{InodeBody, InodeIndex};
use crate::OpContext;
use crate::fault::{LOST_WRITE, TORN_WRITE};
use fozzy_trace::Purpose;
use fozzy_trace::facts::LOST_KEPT_MAX;
use fozzy_trace::plan::Edition;

/// What a disk writes wholly or not at all, in bytes.
pub const SECTOR_BYTES: u64 = 512;
/// Changes of one file that are decided each for itself; those before are kept then. More questions would not make
/// another kind of loss, only one that is harder to shrink.
const CHANGES_DECIDED_MAX: usize = 64;

/// Where the questions are asked.
const NAMES: &str = "crash.names";
const DATA: &str = "crash.data";
const TEAR: &str = "crash.tear";

/// What becomes of one change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Lost,
    /// Unless it lies within one unit of this size.
    Torn(u64),
}

impl Disk {
    /// The machine loses power, and starts again with what is on the disk. All descriptors are gone. Without
    /// [`Disk::track_durability`] nothing is lost.
    pub fn crash(&mut self, edition: Edition, context: &mut OpContext<'_>) {
        let restricted = context.faults.plans(&LOST_WRITE) || context.faults.plans(&TORN_WRITE);
        let mut losses = DiskLosses::default();
        let pending = self.names_pending();
        let keeps_names = restricted && edition < Edition::FIFTH;
        if pending > 0 && !keeps_names {
            for _ in 0..context.below(Purpose::Fault, NAMES, pending + 1) {
                losses.add(|| self.last_change());
                self.undo_names();
            }
        }
        self.commit_names();
        for (file, pending) in self.take_pending() {
            let mut tally = WriteLosses { failed: pending.failed, ..WriteLosses::default() };
            let content = if restricted {
                let path = self.path_of(file);
                let fate = |_, context: &mut OpContext<'_>| match context.injects(&LOST_WRITE, &path) {
                    Some(_) => Fate::Lost,
                    None => context.injects(&TORN_WRITE, &path).map_or(Fate::Kept, Fate::Torn),
                };
                survivor(&pending, context, &mut tally, fate)
            } else {
                let fates = fates(pending.changes.len(), context);
                survivor(&pending, context, &mut tally, |change, _| fates[change])
            };
            tally.tell(&mut losses, || self.path_of(file));
            self.replace(file, content);
        }
        losses.finish(context);
    }

    fn replace(&mut self, file: InodeIndex, content: FileContent) {
        let after = content.usage();
        let InodeBody::File(at) = &mut self.node_mut(file).body else { unreachable!("only files have changes") };
        let before = std::mem::replace(at, content).usage();
        self.usage.bytes = self.usage.bytes - before.bytes + after.bytes;
        self.usage.chunks = self.usage.chunks - before.chunks + after.chunks;
    }
}

/// What becomes of each of `changes` changes of a file.
fn fates(changes: usize, context: &mut OpContext<'_>) -> Vec<Fate> {
    let mut all = vec![Fate::Kept; changes];
    if changes == 0 {
        return all;
    }
    match context.below(Purpose::Fault, DATA, 4) {
        0 => {}
        1 => all.fill(Fate::Lost),
        2 => {
            let kept = context.below(Purpose::Fault, DATA, changes as u64) as usize;
            all[kept..].fill(Fate::Lost);
            all[kept] = fate(context);
        }
        _ => {
            for one in &mut all[changes.saturating_sub(CHANGES_DECIDED_MAX)..] {
                *one = fate(context);
            }
        }
    }
    all
}

fn fate(context: &mut OpContext<'_>) -> Fate {
    match context.below(Purpose::Fault, DATA, 3) {
        0 => Fate::Kept,
        1 => Fate::Lost,
        _ => Fate::Torn(SECTOR_BYTES),
    }
}

/// The content of a file after the crash.
fn survivor(
    pending: &PendingFile,
    context: &mut OpContext<'_>,
    losses: &mut WriteLosses,
    mut fate: impl FnMut(usize, &mut OpContext<'_>) -> Fate,
) -> FileContent {
    let mut content = pending.durable.clone();
    for (number, change) in pending.changes.iter().enumerate() {
        losses.changes += 1;
        match (fate(number, context), change) {
            (Fate::Kept, _) => change.apply(&mut content),
            (Fate::Torn(unit), FileChange::Write { offset, bytes }) => {
                let part = torn(*offset, bytes, unit.max(1), context);
                losses.torn += u64::from(part.is_some());
                part.as_ref().unwrap_or(change).apply(&mut content);
            }
            // A change of size is one number: it has no parts.
            (Fate::Lost, _) | (Fate::Torn(_), FileChange::Size(_)) => losses.lost += 1,
        }
    }
    content
}

/// The part of a write that is there; none when it has no border of `unit` bytes inside.
fn torn(offset: u64, bytes: &[u8], unit: u64, context: &mut OpContext<'_>) -> Option<FileChange> {
    let first = (offset / unit + 1) * unit;
    let last = (offset + bytes.len() as u64 - 1) / unit * unit;
    let borders = (last + unit).checked_sub(first)? / unit;
    if borders == 0 {
        return None;
    }
    let border = first + context.below(Purpose::Fault, TEAR, borders) * unit;
    let (beginning, end) = bytes.split_at((border - offset) as usize);
    Some(match context.below(Purpose::Fault, TEAR, 2) {
        0 => FileChange::Write { offset, bytes: beginning.into() },
        _ => FileChange::Write { offset: border, bytes: end.into() },
    })
}

/// What a crash takes, in words; further sentences are counted.
#[derive(Default)]
struct DiskLosses {
    lost: Vec<String>,
    more: u64,
}

impl DiskLosses {
    fn add(&mut self, sentence: impl FnOnce() -> String) {
        if self.lost.len() < LOST_KEPT_MAX {
            self.lost.push(sentence());
        } else {
            self.more += 1;
        }
    }

    fn finish(mut self, context: &mut OpContext<'_>) {
        if self.more > 0 {
            self.lost.push(format!("and {} more", self.more));
        }
        context.faults.power_lost(context.now, context.node, self.lost);
    }
}

/// What a crash takes of one file's unsynced changes.
#[derive(Default)]
struct WriteLosses {
    changes: u64,
    lost: u64,
    torn: u64,
    /// An earlier sync failed, and what it was to write is gone.
    failed: bool,
}

impl WriteLosses {
    fn tell(&self, losses: &mut DiskLosses, path: impl Fn() -> String) {
        let WriteLosses { changes, lost, torn, failed } = *self;
        let writes = |n: u64| if n == 1 { "1 unsynced write".to_owned() } else { format!("{n} unsynced writes") };
        if failed {
            losses.add(|| format!("what a failed sync left unwritten of {}", path()));
        }
        match lost {
            0 => {}
            all if all == changes => losses.add(|| format!("{} to {}", writes(all), path())),
            some => losses.add(|| format!("{some} of {} to {}", writes(changes), path())),
        }
        if torn > 0 {
            losses.add(|| format!("parts of {} to {}: torn", writes(torn), path()));
        }
    }
}

#[cfg(test)]
mod tests;
