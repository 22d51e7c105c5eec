//! The heap of a run: who allocated, what was in use at the peak and at the end, what leaked.
//!
//! ```text
//! HeapTree  tree of calls, down to the caller of the allocator
//!           counts of blocks by node and line of it            ─▶ ProfileTopHeap, massif, DHAT, `fozzy memory`
//!           how much was in use over time
//! ```
//!
//! In the tree, what a line costs are the bytes that it has allocated, and calls are blocks: so the formats of instructions show bytes.
//!
//! Invariants: sums over all places are the totals; equal runs give equal bytes.
//! Not here: who counts (`fozzy-engine`), who names (`fozzy-campaign`).

use super::ranking::{LineCount, ProfileTopFunction};
use super::{CallTree, DEEPER_FRAME, PATH_BYTES_MAX};
use crate::pretty::{Style, bytes, fit, grouped};
use fozzy_trace::{FlowHeap, HeapCounts, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A node of the tree, and a line in it; 0 when that is not known.
pub type HeapPlace = (usize, u32);

/// How much was in use at a moment of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapMoment {
    /// Bytes allocated and freed before.
    pub at: u64,
    /// Bytes in use.
    pub bytes: u64,
    /// Blocks in use.
    pub blocks: u64,
    /// Bytes in use by place, where that was noted.
    pub by_place: Option<BTreeMap<HeapPlace, u64>>,
    /// Never was more in use.
    pub is_peak: bool,
}

/// The heap of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapTree {
    /// Who called whom, down to the callers of the allocator. Costs are bytes.
    pub tree: CallTree,
    /// Blocks by place.
    pub counts: BTreeMap<HeapPlace, HeapCounts>,
    /// The first frame of the program's own code at each place: function, file, line.
    pub sites: BTreeMap<HeapPlace, HeapSite>,
    /// Who freed, by the places of the allocation and of the free: blocks and bytes.
    pub freed_by: BTreeMap<(HeapPlace, HeapPlace), (u64, u64)>,
    /// Functions that are watched.
    pub allocators: Vec<String>,
    /// Blocks that were freed.
    pub frees: u64,
    /// Allocations that could not be had.
    pub failures: u64,
    /// Frees of what was not known to be in use.
    pub unknown_frees: u64,
    /// Bytes of memory from the first block that was ever handed out, and those of them that ever were in a block.
    pub area: (u64, u64),
    /// How much was in use over time, of the machine that had most.
    pub moments: Vec<HeapMoment>,
    /// The end of that time.
    pub ended_at: u64,
    /// What was allocated and freed while flows of a scenario ran, in their order; in none of them, under no name. Empty without flows.
    pub by_flow: Vec<(Option<String>, FlowHeap)>,
    /// Why it is not certain that what nothing points to has leaked.
    pub doubt: Option<String>,
    /// Blocks are collected, and so do not leak.
    pub is_collected: bool,
}

/// Where blocks come from, as people know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeapSite {
    /// The function.
    pub function: String,
    /// The source file.
    pub file: Option<String>,
    /// The line; 0 when that is not known.
    pub line: u32,
}

impl std::fmt::Display for HeapSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.file, self.line) {
            (Some(file), line) if line > 0 => write!(f, "{} ({file}:{line})", self.function),
            (Some(file), _) => write!(f, "{} ({file})", self.function),
            (None, _) => write!(f, "{}", self.function),
        }
    }
}

impl HeapTree {
    /// All blocks.
    #[must_use]
    pub fn total(&self) -> HeapCounts {
        let mut sum = HeapCounts::default();
        self.counts.values().for_each(|counts| sum.add(counts));
        sum
    }

    /// Blocks that have leaked for certain.
    #[must_use]
    pub fn leaked(&self) -> (u64, u64) {
        let total = self.total();
        if self.is_collected { (0, 0) } else { (total.lost_blocks, total.lost_bytes) }
    }

    /// Blocks by site, the one with most bytes by `key` first.
    #[must_use]
    pub fn by_site(&self, key: impl Fn(&HeapCounts) -> u64) -> Vec<(HeapSite, HeapCounts)> {
        let mut sums: BTreeMap<HeapSite, HeapCounts> = BTreeMap::new();
        for (place, counts) in &self.counts {
            sums.entry(self.site(*place)).or_default().add(counts);
        }
        let mut rows: Vec<(HeapSite, HeapCounts)> = sums.into_iter().filter(|(_, counts)| key(counts) > 0).collect();
        rows.sort_by_key(|(_, counts)| std::cmp::Reverse(key(counts)));
        rows
    }

    /// The functions of the program that allocate, the one that allocates most first. A block is the first function's of the program's own
    /// code that stands above the allocator, as in [`Self::by_site`]: `own` are bytes of its blocks, `inclusive` those below it, too.
    #[must_use]
    pub fn by_function(&self) -> Vec<ProfileTopFunction> {
        let tree = &self.tree;
        // Blocks and bytes at the nodes of those whose they are: what stands below is a library's, through which all allocate.
        let mut owned: Vec<(u64, u64)> = vec![(0, 0); tree.nodes.len()];
        for (place, counts) in &self.counts {
            let site = self.sites.get(place);
            let is_site = |node: &usize| {
                let called = &tree.functions[tree.nodes[*node].function];
                site.is_none_or(|site| called.name == site.function && called.file == site.file)
            };
            let owner = std::iter::successors(Some(place.0), |node| tree.nodes[*node].parent).find(is_site);
            let (blocks, bytes) = &mut owned[owner.unwrap_or(place.0)];
            (*blocks, *bytes) = (blocks.saturating_add(counts.blocks), bytes.saturating_add(counts.bytes));
        }
        let mut below: Vec<u64> = owned.iter().map(|(_, bytes)| *bytes).collect();
        // A caller stands before all that it calls.
        for position in (0..tree.nodes.len()).rev() {
            if let Some(parent) = tree.nodes[position].parent {
                below[parent] = below[parent].saturating_add(below[position]);
            }
        }
        let mut rows: BTreeMap<usize, ProfileTopFunction> = BTreeMap::new();
        for (position, node) in tree.nodes.iter().enumerate().filter(|(position, _)| below[*position] > 0) {
            let called = &tree.functions[node.function];
            let (blocks, bytes) = owned[position];
            // Machines, and callers that are not known, are no functions.
            if called.module.is_empty() && blocks == 0 {
                continue;
            }
            let row = rows.entry(node.function).or_insert_with(|| ProfileTopFunction {
                function: called.name.clone(),
                module: called.module.clone(),
                file: called.file.clone(),
                own: 0,
                inclusive: 0,
                calls: 0,
                bulk_bytes: 0,
            });
            (row.own, row.calls) = (row.own.saturating_add(bytes), row.calls.saturating_add(blocks));
            if tree.is_first_of_function(position) {
                row.inclusive = row.inclusive.saturating_add(below[position]);
            }
        }
        let mut rows: Vec<ProfileTopFunction> = rows.into_values().collect();
        // Functions are in the order of their names, which decides between equals.
        rows.sort_by_key(|row| std::cmp::Reverse((row.own, row.inclusive)));
        rows
    }

    /// The lines at which the program's own functions allocate, the one that allocates most first.
    #[must_use]
    pub fn by_line(&self) -> Vec<LineCount> {
        let sites = self.by_site(|counts| counts.bytes).into_iter().filter(|(site, _)| site.line > 0);
        let row = |(site, counts): (HeapSite, HeapCounts)| {
            let HeapSite { function, file, line } = site;
            Some(LineCount { file: file?, line, function, instructions: counts.bytes })
        };
        sites.filter_map(row).collect()
    }

    /// The site of a place.
    #[must_use]
    pub fn site(&self, place: HeapPlace) -> HeapSite {
        self.sites.get(&place).cloned().unwrap_or_else(|| {
            let function = &self.tree.functions[self.tree.nodes[place.0].function];
            HeapSite { function: function.name.clone(), file: function.file.clone(), line: place.1 }
        })
    }

    /// The heap as a format has it that writes each path with all its callers: see [`CallTree::shallow`]. It knows no sites.
    pub(super) fn shallow(&self) -> Cow<'_, HeapTree> {
        let Some((tree, places)) = self.tree.cut_within(PATH_BYTES_MAX) else { return Cow::Borrowed(self) };
        let mut counts: BTreeMap<HeapPlace, HeapCounts> = BTreeMap::new();
        for ((node, line), own) in &self.counts {
            let place = places[*node];
            let line = if tree.name(place) == DEEPER_FRAME { 0 } else { *line };
            counts.entry((place, line)).or_default().add(own);
        }
        let HeapTree { moments, ended_at, .. } = self.clone();
        Cow::Owned(HeapTree { tree, counts, moments, ended_at, ..HeapTree::default() })
    }

    /// The frames of a place, innermost first: name, file, line.
    pub fn frames(&self, place: HeapPlace) -> impl Iterator<Item = (&str, Option<&str>, u32)> {
        let nodes = &self.tree.nodes;
        let above = |(node, _): &HeapPlace| nodes[*node].parent.map(|parent| (parent, nodes[*node].call_line));
        std::iter::successors(Some(place), above).map(move |(node, line)| {
            let function = &self.tree.functions[nodes[node].function];
            (function.name.as_str(), function.file.as_deref(), line)
        })
    }
}

/// What the program's allocator did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileTopHeap {
    /// The functions of the allocator that were watched.
    pub allocators: Vec<String>,
    /// Blocks that were allocated; a block that was moved or resized is another one.
    pub alloc_count: u64,
    /// Bytes of them.
    pub alloc_bytes: u64,
    /// Blocks that were freed.
    pub free_count: u64,
    /// Allocations that could not be had.
    pub failed_alloc_count: u64,
    /// Blocks in use at the end.
    pub in_use_allocs: u64,
    /// Bytes of them.
    pub in_use_bytes: u64,
    /// Blocks in use when most bytes were; of several machines, the sum of their own peaks.
    pub peak_allocs: u64,
    /// Bytes of them.
    pub peak_bytes: u64,
    /// Blocks in use at the end that nothing pointed to.
    pub leaked_allocs: u64,
    /// Bytes of them.
    pub leaked_bytes: u64,
    /// The same, where it is not certain: a run that ended inside of calls may have had pointers to them where they are not seen.
    pub possibly_leaked_allocs: u64,
    /// Bytes of them.
    pub possibly_leaked_bytes: u64,
    /// Blocks are collected unseen: what is in use at the end is not known.
    pub collected: bool,
    /// Bytes of memory from the first block to the end of memory.
    pub heap_bytes: u64,
    /// Those of them that ever were in a block that was seen.
    pub attributed_bytes: u64,
    /// Functions of the program that have called the allocator, themselves or through others.
    pub functions_total: u64,
    /// The functions of the program that allocated most bytes; `own` and `inclusive` are bytes, `calls` are blocks.
    pub functions: Vec<ProfileTopFunction>,
    /// The lines that allocated most bytes; `instructions` are bytes.
    pub lines: Vec<LineCount>,
}

impl ProfileTopHeap {
    /// `rows` rows of each list.
    #[must_use]
    pub fn of(heap: &HeapTree, rows: usize) -> ProfileTopHeap {
        let total = heap.total();
        let (mut functions, mut lines) = (heap.by_function(), heap.by_line());
        let functions_total = functions.len() as u64;
        functions.truncate(rows);
        lines.truncate(rows);
        let (leaked_allocs, leaked_bytes) = heap.leaked();
        ProfileTopHeap {
            allocators: heap.allocators.clone(),
            alloc_count: total.blocks,
            alloc_bytes: total.bytes,
            free_count: heap.frees,
            failed_alloc_count: heap.failures,
            in_use_allocs: total.live_blocks,
            in_use_bytes: total.live_bytes,
            peak_allocs: total.peak_blocks,
            peak_bytes: total.peak_bytes,
            leaked_allocs,
            leaked_bytes,
            possibly_leaked_allocs: if heap.is_collected { 0 } else { total.doubtful_blocks },
            possibly_leaked_bytes: if heap.is_collected { 0 } else { total.doubtful_bytes },
            collected: heap.is_collected,
            heap_bytes: heap.area.0,
            attributed_bytes: heap.area.1,
            functions_total,
            functions,
            lines,
        }
    }

    /// How much of the heap was seen, in %.
    #[must_use]
    pub fn attributed_pct(&self) -> f64 {
        100.0 * self.attributed_bytes as f64 / self.heap_bytes.max(1) as f64
    }
}

/// The heap as text.
pub(super) fn heap_lines(heap: &ProfileTopHeap, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let mut text = format!(
        "heap  {} in {}, {} freed\n",
        bytes(heap.alloc_bytes),
        counted(heap.alloc_count, "allocation"),
        grouped(heap.free_count)
    );
    if heap.collected {
        text.push_str("      blocks are collected: what is in use is not known\n");
    } else {
        text.push_str(&format!(
            "      at the peak {} in {}; at the end {} in {}\n",
            bytes(heap.peak_bytes),
            counted(heap.peak_allocs, "block"),
            bytes(heap.in_use_bytes),
            counted(heap.in_use_allocs, "block")
        ));
        let leaks = [
            ("leaked", heap.leaked_bytes, heap.leaked_allocs),
            ("possibly leaked", heap.possibly_leaked_bytes, heap.possibly_leaked_allocs),
        ];
        for (word, size, blocks) in leaks.iter().filter(|(_, _, blocks)| *blocks > 0) {
            text.push_str(&format!("      {word}: {} in {}\n", bytes(*size), counted(*blocks, "block")));
        }
        text.push_str(&format!(
            "{faint}      {:.1} % of {} from the first block to the end of memory was in blocks that were seen{end}\n",
            heap.attributed_pct(),
            bytes(heap.heap_bytes)
        ));
    }
    let share = |part: u64| format!("{:.1} %", 100.0 * part as f64 / heap.alloc_bytes.max(1) as f64);
    let widest = grouped(heap.alloc_bytes).len().max(9);
    if !heap.functions.is_empty() {
        text.push_str(&format!(
            "{faint}{:>widest$}  {:>7}  {:>7}  {:>9}  function{end}\n",
            "bytes", "self", "with", "blocks"
        ));
    }
    for row in &heap.functions {
        let (own, with) = (share(row.own), share(row.inclusive));
        let start = format!("{:>widest$}  {own:>7}  {with:>7}  {:>9}  ", grouped(row.own), grouped(row.calls));
        text.push_str(&format!("{start}{}\n", fit(&row.function, style.room(start.len()))));
    }
    text
}
