//! What the allocators of one guest did: blocks by call path, in use over time, and what was lost.
//!
//! ```text
//! log of events ─▶ blocks in use ─▶ sums by path, at the end, at the peak, at moments between
//! memory at the end ─ globals, stack, data ─▶ blocks that are reachable ─▶ all others are lost
//! ```
//!
//! Time is what allocators did: bytes allocated and freed so far. A reallocation ends one block and begins another.
//!
//! A block is reachable when a word of four bytes that the program may still read points into it: in globals, in the part of the stack that is in
//! use, in data, in memory that no allocator has handed out, or in another reachable block. What an allocator has stored in data, or
//! beside a block (its size may look like an address), is its own and does not count. So a number that looks like an address
//! hides a loss, and nothing that is in use is called lost; but values that only locals of WebAssembly hold are not seen, where a
//! run ends inside of calls ([`HeapProfile::open_calls`]).
//!
//! Invariants: bytes allocated are bytes freed and bytes in use; sums over paths are the totals. Of what a collector frees unseen, only
//! allocations are known.
//! Not here: who logs (`fozzy-instrument`), names and lines (`fozzy-campaign`).

use crate::memory;
use fozzy_instrument::{HeapEventKind, HeapLog, ModuleProfile, SideTag};
use fozzy_trace::{FlowHeap, HeapCounts};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Moments of a run at which it is noted how much is in use.
const SNAPSHOTS: u64 = 40;
/// Every how many of them it is noted by path, too.
const DETAILED_EVERY: usize = 8;

/// Where an allocator has what belongs to a block: so many bytes in front of it, and behind it up to where the next one can begin.
const HEADER_BYTES: u32 = 8;
const BLOCK_ALIGN: u32 = 16;

/// How much was in use at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapSnapshot {
    /// The moment.
    pub at: u64,
    /// Blocks in use.
    pub blocks: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes by call path, if that was noted.
    pub by_path: Option<BTreeMap<usize, u64>>,
    /// Never was more in use.
    pub is_peak: bool,
}

/// What the allocators of a guest did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapProfile {
    /// By position among the paths of the profile. Events whose call is not known are at `None`.
    pub counts: BTreeMap<Option<usize>, HeapCounts>,
    /// Who freed, by the paths of the allocation and of the free: blocks and bytes.
    pub freed_by: BTreeMap<(Option<usize>, Option<usize>), (u64, u64)>,
    /// Blocks that were freed, or whose memory went with a machine that started again.
    pub frees: u64,
    /// Allocations that could not be had.
    pub failures: u64,
    /// Frees of what was not known to be in use.
    pub unknown_frees: u64,
    /// Events that were not kept, as memory for them was used up.
    pub lost_events: u64,
    /// Bytes of memory from the first block that was ever handed out to its end, and those of them that ever were in a block.
    pub area: (u64, u64),
    /// When most bytes were in use, and the end.
    pub peak_at: u64,
    /// The end of time.
    pub ended_at: u64,
    /// How much was in use over time, of the instance that had most.
    pub snapshots: Vec<HeapSnapshot>,
    /// Calls, by path, in which instances ended without returning from the first one.
    pub open_calls: BTreeSet<usize>,
    /// The same by flow of the scenario; `None` is what happened in none.
    pub by_flow: BTreeMap<Option<u32>, FlowHeap>,
    /// Bytes that nothing points to, but perhaps calls in which the guest ended, by the flow and the path of their allocation.
    pub lost_by_flow: BTreeMap<(Option<u32>, Option<usize>), u64>,
}

thread_local! {
    static MARKED: RefCell<Option<MarkedLogs>> = const { RefCell::new(None) };
}

/// The logs of this thread in which it is marked which flow runs.
struct MarkedLogs {
    /// Of the components whose logs they are.
    tags: Vec<SideTag>,
    flow: Option<u32>,
}

/// Has the logs of the guests of this thread say which flow runs: those of components with these tags, for as long as what is returned lives.
pub(crate) fn mark_flows(tags: Vec<SideTag>) -> FlowMarks {
    memory::follow(Some(HeapLog::BYTES));
    MARKED.set(Some(MarkedLogs { tags, flow: None }));
    FlowMarks
}

/// Logs are marked as long as it lives.
pub(crate) struct FlowMarks;

impl Drop for FlowMarks {
    fn drop(&mut self) {
        memory::follow(None);
        MARKED.set(None);
    }
}

/// A flow begins, or is over. No guest runs: it calls the host, or has not been called yet.
pub(crate) fn mark_flow(flow: Option<u32>) {
    MARKED.with_borrow_mut(|marked| {
        let Some(marked) = marked.as_mut().filter(|marked| marked.flow != flow) else { return };
        marked.flow = flow;
        for region in memory::followed() {
            // A program may have a memory of that size itself.
            let is_log = marked.tags.iter().any(|tag| tag.recognise(region.bytes()).is_some());
            let log = HeapLog::of(region.bytes()).filter(|_| is_log);
            for (at, bytes) in log.and_then(|log| log.mark(flow)).into_iter().flatten() {
                region.write(at, &bytes);
            }
        }
    });
}

impl HeapProfile {
    /// All blocks.
    #[must_use]
    pub fn total(&self) -> HeapCounts {
        let mut sum = HeapCounts::default();
        self.counts.values().for_each(|counts| sum.add(counts));
        sum
    }

    /// What an instance did. `places` are the paths of the nodes of `calls`, and `memory` is what its allocators hand out of.
    pub(crate) fn of(log: HeapLog<'_>, calls: &ModuleProfile, places: &[usize], memory: &[u8]) -> HeapProfile {
        let events = || {
            let events = log.events(|number| calls.position(number));
            events.map(|event| (event.node.map(|node| places[node]), event.kind))
        };
        let mut blocks = BlockTable::default();
        for (path, kind) in events() {
            blocks.apply(path, kind);
        }
        if blocks.time == 0 && blocks.profile.failures == 0 {
            return HeapProfile::default();
        }
        let mut profile = std::mem::take(&mut blocks.profile);
        profile.ended_at = blocks.time;
        profile.lost_events = log.lost();
        for block in blocks.live.values() {
            profile.by_flow.entry(block.flow).or_default().live_bytes += u64::from(block.bytes);
            let counts = profile.counts.entry(block.path).or_default();
            counts.lifetimes = counts.lifetimes.saturating_add(blocks.time - block.born);
        }
        profile.note_moments(&blocks, events());
        let lowest = blocks.covered.keys().next().copied().unwrap_or(u32::MAX);
        let covered = merged(&blocks.covered);
        let end = memory.len() as u64;
        let inside: u64 = covered.iter().map(|range| u64::from(range.end - range.start)).sum();
        profile.area = (end.saturating_sub(u64::from(lowest)), inside);
        for block in lost(&blocks.live, &covered, log, memory) {
            let counts = profile.counts.entry(block.path).or_default();
            counts.lost_blocks += 1;
            counts.lost_bytes += u64::from(block.bytes);
            *profile.lost_by_flow.entry((block.flow, block.path)).or_default() += u64::from(block.bytes);
        }
        profile
    }

    /// The instance ended inside of this call: what is lost is so only if the call does not know it.
    pub(crate) fn ended_in(&mut self, call: usize) {
        self.open_calls.insert(call);
        for counts in self.counts.values_mut() {
            counts.doubtful_blocks += std::mem::take(&mut counts.lost_blocks);
            counts.doubtful_bytes += std::mem::take(&mut counts.lost_bytes);
        }
    }

    /// The memory is gone, with all blocks in it: none of them is in use, or lost.
    pub(crate) fn forget_blocks(&mut self) {
        for counts in self.counts.values_mut() {
            self.frees += std::mem::take(&mut counts.live_blocks);
            counts.live_bytes = 0;
            (counts.lost_blocks, counts.lost_bytes) = (0, 0);
            (counts.doubtful_blocks, counts.doubtful_bytes) = (0, 0);
        }
        self.by_flow.values_mut().for_each(|flow| flow.live_bytes = 0);
        self.lost_by_flow.clear();
        self.open_calls.clear();
    }

    /// Goes through the events once more, for what was in use at the peak and at moments between.
    fn note_moments(&mut self, ended: &BlockTable, events: impl Iterator<Item = (Option<usize>, HeapEventKind)>) {
        let step = (ended.time / SNAPSHOTS).max(1);
        let mut again = BlockTable::default();
        let mut next = 0;
        for (path, kind) in events {
            let was_peak = again.time == ended.peak_at && ended.peak_bytes > 0 && again.bytes == ended.peak_bytes;
            if again.time >= next || was_peak {
                let is_detailed = self.snapshots.len() % DETAILED_EVERY == DETAILED_EVERY - 1;
                self.note(&again, was_peak, is_detailed);
                next = (again.time / step + 1).saturating_mul(step);
            }
            again.apply(path, kind);
        }
        self.note(&again, again.bytes == ended.peak_bytes && again.time == ended.peak_at, true);
        self.peak_at = ended.peak_at;
    }

    fn note(&mut self, now: &BlockTable, is_peak: bool, is_detailed: bool) {
        let is_peak = is_peak && !self.snapshots.iter().any(|snapshot| snapshot.is_peak);
        let by_path = now.profile.counts.iter().filter(|(_, counts)| counts.live_bytes > 0);
        let by_path = || by_path.clone().filter_map(|(path, counts)| Some(((*path)?, counts.live_bytes))).collect();
        let by_path = (is_detailed || is_peak).then(by_path);
        if is_peak {
            for (path, counts) in &now.profile.counts {
                let sum = self.counts.entry(*path).or_default();
                (sum.peak_blocks, sum.peak_bytes) = (counts.live_blocks, counts.live_bytes);
            }
        }
        let (at, blocks, bytes) = (now.time, now.blocks, now.bytes);
        self.snapshots.push(HeapSnapshot { at, blocks, bytes, by_path, is_peak });
    }

    /// Adds what another module or a later instance did, whose paths are at `places` here. The peak is that of the one that had most.
    pub(crate) fn merge(&mut self, other: &HeapProfile, places: impl Fn(usize) -> usize) {
        let has_more = other.total().peak_bytes > self.total().peak_bytes;
        for (path, counts) in &other.counts {
            let sum = self.counts.entry(path.map(&places)).or_default();
            sum.add(&HeapCounts { peak_blocks: 0, peak_bytes: 0, ..*counts });
        }
        if has_more {
            self.counts.values_mut().for_each(|sum| (sum.peak_blocks, sum.peak_bytes) = (0, 0));
            for (path, counts) in &other.counts {
                let sum = self.counts.entry(path.map(&places)).or_default();
                (sum.peak_blocks, sum.peak_bytes) = (counts.peak_blocks, counts.peak_bytes);
            }
            self.snapshots.clone_from(&other.snapshots);
            for by_path in self.snapshots.iter_mut().filter_map(|snapshot| snapshot.by_path.as_mut()) {
                *by_path = by_path.iter().map(|(path, bytes)| (places(*path), *bytes)).collect();
            }
            (self.peak_at, self.ended_at) = (other.peak_at, other.ended_at);
        }
        for ((path, by), (blocks, bytes)) in &other.freed_by {
            let sum = self.freed_by.entry((path.map(&places), by.map(&places))).or_default();
            *sum = (sum.0 + blocks, sum.1 + bytes);
        }
        for (flow, found) in &other.by_flow {
            self.by_flow.entry(*flow).or_default().add(found);
        }
        for ((flow, path), bytes) in &other.lost_by_flow {
            *self.lost_by_flow.entry((*flow, path.map(&places))).or_default() += bytes;
        }
        self.frees += other.frees;
        self.failures += other.failures;
        self.unknown_frees += other.unknown_frees;
        self.lost_events += other.lost_events;
        self.area = (self.area.0 + other.area.0, self.area.1 + other.area.1);
        self.open_calls.extend(other.open_calls.iter().map(|path| places(*path)));
    }
}

#[derive(Clone, Copy, Debug)]
struct Block {
    bytes: u32,
    path: Option<usize>,
    flow: Option<u32>,
    born: u64,
}

/// Blocks in use, as events come.
#[derive(Default)]
struct BlockTable {
    live: BTreeMap<u32, Block>,
    /// The longest block that was ever at an address.
    covered: BTreeMap<u32, u32>,
    time: u64,
    blocks: u64,
    bytes: u64,
    peak_bytes: u64,
    peak_at: u64,
    /// The flow that runs.
    flow: Option<u32>,
    profile: HeapProfile,
}

impl BlockTable {
    fn apply(&mut self, path: Option<usize>, kind: HeapEventKind) {
        match kind {
            HeapEventKind::Allocated { address: 0, .. } => self.profile.failures += 1,
            HeapEventKind::Allocated { address, bytes } => self.begin(path, address, bytes),
            HeapEventKind::Flow(flow) => self.flow = flow,
            HeapEventKind::Collected { bytes } => {
                self.time += u64::from(bytes);
                self.note_allocation(path, bytes);
            }
            HeapEventKind::Freed { address: 0 } => {}
            HeapEventKind::Freed { address } => self.end(path, address),
            HeapEventKind::Reallocated { before, address, bytes, is_nothing_at_zero } => {
                let is_gone = bytes == 0 && (is_nothing_at_zero || address == 0);
                if address == 0 && bytes > 0 {
                    self.profile.failures += 1;
                    return;
                }
                if before != 0 && (self.live.contains_key(&before) || !is_nothing_at_zero) {
                    self.end(path, before);
                }
                if !is_gone {
                    self.begin(path, address, bytes);
                }
            }
        }
    }

    fn note_allocation(&mut self, path: Option<usize>, bytes: u32) -> &mut HeapCounts {
        let bytes = u64::from(bytes);
        let flow = self.profile.by_flow.entry(self.flow).or_default();
        (flow.blocks, flow.bytes) = (flow.blocks + 1, flow.bytes + bytes);
        let counts = self.profile.counts.entry(path).or_default();
        (counts.blocks, counts.bytes) = (counts.blocks + 1, counts.bytes + bytes);
        counts
    }

    fn begin(&mut self, path: Option<usize>, address: u32, bytes: u32) {
        if self.live.contains_key(&address) {
            self.end(None, address);
        }
        self.time += u64::from(bytes);
        self.blocks += 1;
        self.bytes += u64::from(bytes);
        if self.bytes > self.peak_bytes {
            (self.peak_bytes, self.peak_at) = (self.bytes, self.time);
        }
        let longest = self.covered.entry(address).or_default();
        *longest = (*longest).max(bytes);
        let counts = self.note_allocation(path, bytes);
        counts.live_blocks += 1;
        counts.live_bytes += u64::from(bytes);
        counts.most_blocks = counts.most_blocks.max(counts.live_blocks);
        counts.most_bytes = counts.most_bytes.max(counts.live_bytes);
        self.live.insert(address, Block { bytes, path, flow: self.flow, born: self.time });
    }

    fn end(&mut self, by: Option<usize>, address: u32) {
        let Some(block) = self.live.remove(&address) else {
            self.profile.unknown_frees += 1;
            return;
        };
        self.profile.frees += 1;
        let flow = self.profile.by_flow.entry(self.flow).or_default();
        flow.freed_blocks += 1;
        flow.freed_bytes += u64::from(block.bytes);
        let freed = self.profile.freed_by.entry((block.path, by)).or_default();
        *freed = (freed.0 + 1, freed.1 + u64::from(block.bytes));
        self.blocks -= 1;
        self.bytes -= u64::from(block.bytes);
        let counts = self.profile.counts.entry(block.path).or_default();
        counts.live_blocks -= 1;
        counts.live_bytes -= u64::from(block.bytes);
        counts.lifetimes = counts.lifetimes.saturating_add(self.time - block.born);
        self.time += u64::from(block.bytes);
    }
}

/// Ranges that do not touch each other.
fn merged(covered: &BTreeMap<u32, u32>) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for (start, bytes) in covered {
        let end = start.saturating_add(*bytes);
        match ranges.last_mut() {
            Some(last) if last.end >= *start => last.end = last.end.max(end),
            _ => ranges.push(*start..end),
        }
    }
    ranges
}

/// Blocks that nothing points to.
fn lost(live: &BTreeMap<u32, Block>, covered: &[Range<u32>], log: HeapLog<'_>, memory: &[u8]) -> Vec<Block> {
    let blocks: Vec<(Range<u32>, &Block)> =
        live.iter().map(|(start, block)| (*start..start.saturating_add(block.bytes.max(1)), block)).collect();
    let mut is_reached = vec![false; blocks.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut reach = |word: u32, open: &mut Vec<usize>| {
        let Some(block) = blocks.partition_point(|(range, _)| range.start <= word).checked_sub(1) else { return };
        if blocks[block].0.contains(&word) && !std::mem::replace(&mut is_reached[block], true) {
            open.push(block);
        }
    };
    log.globals().for_each(|word| reach(word, &mut open));
    let unused = log.unused_stack();
    let heap_start = covered.first().map_or(0, |range| range.start);
    let mut handed_out = covered.iter().peekable();
    let mut end = 0;
    for (word, at) in memory.chunks_exact(4).zip((0_u32..).step_by(4)) {
        while let Some(before) = handed_out.next_if(|range| range.end <= at) {
            end = before.end;
        }
        let next = handed_out.peek().map(|range| range.start);
        let is_block = next.is_some_and(|start| start <= at);
        let behind = end.checked_next_multiple_of(BLOCK_ALIGN).unwrap_or(u32::MAX);
        let is_beside = at < behind || next.is_some_and(|start| start.saturating_sub(at) <= HEADER_BYTES);
        let is_own = (at < heap_start || is_beside) && log.is_allocators(at);
        if !is_block && !is_own && !unused.contains(&at) {
            reach(u32::from_le_bytes(word.try_into().expect("four bytes")), &mut open);
        }
    }
    while let Some(block) = open.pop() {
        let range = &blocks[block].0;
        let start = range.start.next_multiple_of(4) as usize;
        let inside = memory.get(start..(range.end as usize).min(memory.len())).unwrap_or_default();
        for word in inside.chunks_exact(4) {
            reach(u32::from_le_bytes(word.try_into().expect("four bytes")), &mut open);
        }
    }
    let lost = blocks.iter().zip(is_reached).filter(|(_, reached)| !reached);
    lost.map(|((_, block), _)| **block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(events: &[HeapEventKind], expected: (u64, u64, u64, u64, u64)) -> BlockTable {
        let mut table = BlockTable::default();
        events.iter().for_each(|event| table.apply(Some(0), *event));
        let total = table.profile.total();
        assert_eq!((total.blocks, total.bytes, total.live_blocks, total.live_bytes, table.peak_bytes), expected);
        let freed = total.bytes - total.live_bytes;
        assert_eq!(table.time, total.bytes + freed, "time is what was allocated and freed");
        table
    }

    #[test]
    fn blocks_that_are_moved_are_freed_and_begun() {
        let allocated = |address, bytes| HeapEventKind::Allocated { address, bytes };
        let moved =
            |before, address, bytes| HeapEventKind::Reallocated { before, address, bytes, is_nothing_at_zero: false };
        check(&[allocated(16, 10), allocated(32, 5), HeapEventKind::Freed { address: 16 }], (2, 15, 1, 5, 15));
        check(&[allocated(16, 10), moved(16, 16, 30), moved(16, 64, 20)], (3, 60, 1, 20, 30));
        let table = check(&[allocated(0, 10), moved(0, 16, 7), moved(16, 0, 9)], (1, 7, 1, 7, 7));
        assert_eq!(table.profile.failures, 2);
        let table = check(&[HeapEventKind::Freed { address: 8 }, HeapEventKind::Freed { address: 0 }], (0, 0, 0, 0, 0));
        assert_eq!(table.profile.unknown_frees, 1);
        let nothing = HeapEventKind::Reallocated { before: 1, address: 1, bytes: 0, is_nothing_at_zero: true };
        assert_eq!(check(&[nothing], (0, 0, 0, 0, 0)).profile.unknown_frees, 0);
        let mut table = BlockTable::default();
        table.apply(None, HeapEventKind::Collected { bytes: 3 });
        let total = table.profile.total();
        assert_eq!((total.blocks, total.bytes, total.live_blocks, table.time), (1, 3, 0, 3));
    }

    #[test]
    fn what_a_flow_allocates_and_frees_is_its_own() {
        let mut table = BlockTable::default();
        let allocated = |address, bytes| HeapEventKind::Allocated { address, bytes };
        let (flow, freed) = (HeapEventKind::Flow, |address| HeapEventKind::Freed { address });
        let events = [allocated(16, 5), flow(Some(1)), allocated(32, 10), freed(16), flow(None), freed(32)];
        events.into_iter().for_each(|event| table.apply(Some(0), event));
        let by_flow = &table.profile.by_flow;
        let of = |flow| (by_flow[&flow].bytes, by_flow[&flow].freed_bytes, by_flow[&flow].growth());
        assert_eq!((of(None), of(Some(1))), ((5, 10, -5), (10, 5, 5)));
        let heap = table.profile.total();
        assert_eq!(heap.bytes, by_flow.values().map(|flow| flow.bytes).sum::<u64>());
    }

    #[test]
    fn ranges_are_joined() {
        let covered = BTreeMap::from([(8, 4), (12, 4), (32, 16), (40, 4), (64, 0)]);
        assert_eq!(merged(&covered), [8..16, 32..48, 64..64]);
    }
}
