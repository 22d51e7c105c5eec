//! Where a run spent its instructions: a tree of calls, and what is read from it.
//!
//! ```text
//! CallTree   main ─┬─ parse ── number (inlined)      self: instructions and bytes by line
//!                  └─ print                          calls: how often it was called so
//!    │
//!    ├─▶ ProfileTop: functions and lines, largest first
//!    └─▶ formats: folded stacks, speedscope, pprof, callgrind, SVG (rows of PROFILE_FORMATS)
//! RunActivity  calls, waits, turns, messages ─▶ Chrome, Firefox, OTLP (rows of SPAN_FORMATS)
//! ```
//!
//! Invariants: each instruction has one owner, so that self counts sum up to the total in every format; nodes are in the order of names
//! and lines, callers before those that they call, so that equal runs give equal bytes.
//! Not here: who counts (`fozzy-instrument`), and names of code (`fozzy-campaign`).

mod activity;
mod callgrind;
mod chrome;
mod critical_path;
mod diff;
mod doctor;
mod domains;
mod explain;
mod export;
mod firefox;
mod folded;
mod heap;
mod massif;
mod otlp;
mod pprof;
mod protobuf;
mod ranking;
mod shrink;
mod speedscope;
mod svg;
mod timeline;
mod top;

#[cfg(test)]
mod tests;

pub use activity::{
    ActivityCollector, CallSpan, CallTimes, DatagramFlow, DurationCounts, IoCost, MachineTimes, MessageFlow, NoteKind,
    RunActivity, RunNote, TurnSpan, WaitKey,
};
pub use critical_path::{CriticalPath, PathPart, Sender, WaitSpan};
pub(crate) use diff::different_programs;
pub use diff::{
    ConfidenceMeta, DiffSummary, DifferenceTest, MetricDiff, ProfileDiff, ProfileMetrics, TestedDifference,
};
pub use doctor::{ProfileCheck, ProfileDoctor, ProfileEnv};
pub use domains::{
    CallLatency, ChannelIo, CriticalShare, MachineSched, ProfileTopIo, ProfileTopLatency, ProfileTopSched, TaskTurns,
    WaitLatency,
};
pub use explain::{FirstDivergence, ProfileExplain, grown_path};
pub use export::{ProfileExport, ProfileFlame};
pub use heap::{HeapMoment, HeapPlace, HeapSite, HeapTree, ProfileTopHeap};
pub(crate) use ranking::by_function;
pub use ranking::{LineCount, ProfileTopFunction};
pub use shrink::{CostDirection, ProfileShrink, ProfileShrinkContract, ProfileShrinkSize};
pub use timeline::{ProfileTimeline, TIMELINE_FORMATS, TimelineEvent};
pub use top::{ProfileTop, ProfileTopCpu};

use std::borrow::Cow;
use std::collections::BTreeMap;

/// One format of `fozzy profile flame` and `export`.
pub struct ProfileFormat {
    /// By which it is asked for.
    pub name: &'static str,
    /// It is text, and what people call a flame graph is made of it.
    pub is_graph: bool,
    /// It writes each path with all its callers, so that deep paths have to be cut.
    repeats_callers: bool,
    write: fn(&CallTree) -> Vec<u8>,
}

impl ProfileFormat {
    /// The calls of a run in this format, and what a reader has to know.
    #[must_use]
    pub fn export(&self, tree: &CallTree) -> (Vec<u8>, Vec<String>) {
        let tree = if self.repeats_callers { tree.shallow() } else { Cow::Borrowed(tree) };
        ((self.write)(&tree), tree.remarks.clone())
    }
}

/// All of them.
pub const PROFILE_FORMATS: &[ProfileFormat] = &[
    ProfileFormat { name: "folded", is_graph: true, repeats_callers: true, write: folded::write },
    ProfileFormat { name: "svg", is_graph: true, repeats_callers: false, write: svg::write },
    ProfileFormat { name: "speedscope", is_graph: true, repeats_callers: true, write: speedscope::write },
    ProfileFormat { name: "pprof", is_graph: false, repeats_callers: true, write: pprof::write },
    ProfileFormat { name: "callgrind", is_graph: false, repeats_callers: false, write: callgrind::write },
];

/// The format of this name.
///
/// # Panics
/// When there is none: arguments are the names of rows.
#[must_use]
pub fn profile_format(name: &str) -> &'static ProfileFormat {
    PROFILE_FORMATS.iter().find(|format| format.name == name).expect("each argument is a row")
}

/// One format of `fozzy profile export --heap`.
pub struct HeapFormat {
    /// By which it is asked for.
    pub name: &'static str,
    /// It writes each path with all its callers, so that deep paths have to be cut.
    repeats_callers: bool,
    write: fn(&HeapTree) -> Vec<u8>,
}

impl HeapFormat {
    /// The heap of a run in this format, and what a reader has to know.
    #[must_use]
    pub fn export(&self, heap: &HeapTree) -> (Vec<u8>, Vec<String>) {
        let heap = if self.repeats_callers { heap.shallow() } else { Cow::Borrowed(heap) };
        ((self.write)(&heap), heap.tree.remarks.clone())
    }
}

/// All of them. Graphs are of bytes allocated.
pub const HEAP_FORMATS: &[HeapFormat] = &[
    HeapFormat { name: "folded", repeats_callers: true, write: |heap| folded::write(&heap.tree) },
    HeapFormat { name: "svg", repeats_callers: false, write: |heap| svg::write(&heap.tree) },
    HeapFormat { name: "speedscope", repeats_callers: true, write: |heap| speedscope::write(&heap.tree) },
    HeapFormat { name: "pprof", repeats_callers: true, write: pprof::write_heap },
    HeapFormat { name: "massif", repeats_callers: false, write: massif::write },
    HeapFormat { name: "dhat", repeats_callers: true, write: massif::write_dhat },
];

/// The format of this name, of heaps.
#[must_use]
pub fn heap_format(name: &str) -> Option<&'static HeapFormat> {
    HEAP_FORMATS.iter().find(|format| format.name == name)
}

/// One format of `fozzy profile export` that shows a run over its virtual time.
pub struct SpanFormat {
    /// By which it is asked for.
    pub name: &'static str,
    /// Writes it.
    pub write: SpanWriter,
}

/// What a [`SpanFormat`] is written from.
#[derive(Clone, Copy)]
pub enum SpanWriter {
    /// What happened.
    Activity(fn(&RunActivity) -> Vec<u8>),
    /// What happened, and the instructions of the program.
    WithCalls(fn(&RunActivity, &CallTree) -> Vec<u8>),
}

/// All of them.
pub const SPAN_FORMATS: &[SpanFormat] = &[
    SpanFormat { name: "chrome", write: SpanWriter::Activity(chrome::write) },
    SpanFormat { name: "firefox", write: SpanWriter::WithCalls(firefox::write) },
    SpanFormat { name: "otlp", write: SpanWriter::Activity(otlp::write_json) },
    SpanFormat { name: "otlp-protobuf", write: SpanWriter::Activity(otlp::write_protobuf) },
];

/// The format of this name, of spans.
#[must_use]
pub fn span_format(name: &str) -> Option<&'static SpanFormat> {
    SPAN_FORMATS.iter().find(|format| format.name == name)
}

/// A function, as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CalledFunction {
    /// Its name, readable.
    pub name: String,
    /// The source file that it is written in.
    pub file: Option<String>,
    /// The core module that it is in; empty for a machine.
    pub module: String,
}

/// What the costs of a tree of calls are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CostUnit {
    /// Instructions; calls are calls.
    #[default]
    Instructions,
    /// Bytes that were allocated; calls are blocks.
    Bytes,
}

impl CostUnit {
    /// What people read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CostUnit::Instructions => "instructions",
            CostUnit::Bytes => "bytes",
        }
    }

    /// What is measured so.
    #[must_use]
    pub fn domain(self) -> &'static str {
        match self {
            CostUnit::Instructions => "cpu",
            CostUnit::Bytes => "heap",
        }
    }
}

/// What code costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeCost {
    /// Instructions of the original program; in the tree of a heap, bytes that were allocated.
    pub instructions: u64,
    /// Bytes that bulk operations have moved, each of them one instruction.
    pub bulk_bytes: u64,
}

impl CodeCost {
    /// Adds another one.
    pub fn add(&mut self, other: CodeCost) {
        self.instructions += other.instructions;
        self.bulk_bytes += other.bulk_bytes;
    }
}

/// A function, called by one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallNode {
    /// Its caller, as a position in [`CallTree::nodes`].
    pub parent: Option<usize>,
    /// Its function, as a position in [`CallTree::functions`].
    pub function: usize,
    /// The line of the caller that calls it; 0 when that is not known.
    pub call_line: u32,
    /// It has no code of its own but stands in that of its caller.
    pub is_inlined: bool,
    /// How often it was called so; 0 of an inlined one.
    pub calls: u64,
    /// What it costs itself, by line; 0 for code without a line.
    pub lines: BTreeMap<u32, CodeCost>,
}

impl CallNode {
    /// What it costs without those that it calls.
    #[must_use]
    pub fn own(&self) -> CodeCost {
        let mut sum = CodeCost::default();
        self.lines.values().for_each(|cost| sum.add(*cost));
        sum
    }
}

/// All calls of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTree {
    /// What the run is called.
    pub run: String,
    /// What costs are.
    pub unit: CostUnit,
    /// All functions, by name.
    pub functions: Vec<CalledFunction>,
    /// Callers stand before those that they call, these behind each other, by name and line.
    pub nodes: Vec<CallNode>,
    /// What the run used of its budget.
    pub used: u64,
    /// Calls whose path is not known, as memory for paths was used up.
    pub merged_calls: u64,
    /// What a reader has to know.
    pub remarks: Vec<String>,
}

/// The frame below which calls stand whose path is not known.
pub const MERGED_FRAME: &str = "[path not kept]";

/// The frame of the first machine, where there are several.
pub const MAIN_FRAME: &str = "[main]";

/// The frame that stands for all calls that are too deep to be written with their paths.
pub const DEEPER_FRAME: &str = "[deeper calls]";

/// Bytes of all paths that a format writes which repeats the callers of each path, about.
const PATH_BYTES_MAX: u64 = 64 << 20;

/// Bytes of the shortest frame of a path, as it is held.
const FRAME_BYTES_MIN: u64 = 8;

impl CallTree {
    /// What all of it costs.
    #[must_use]
    pub fn total(&self) -> CodeCost {
        let mut sum = CodeCost::default();
        self.nodes.iter().for_each(|node| sum.add(node.own()));
        sum
    }

    /// Instructions of the first machine: all of them, where machines have no roots of their own.
    #[must_use]
    pub fn of_main(&self) -> u64 {
        let roots: Vec<usize> = (0..self.nodes.len()).filter(|at| self.nodes[*at].parent.is_none()).collect();
        let inclusive = self.inclusive();
        let is_machine =
            |at: &usize| self.functions[self.nodes[*at].function].module.is_empty() && self.name(*at) != MERGED_FRAME;
        match roots.iter().any(is_machine) {
            true => roots.iter().filter(|at| self.name(**at) == MAIN_FRAME).map(|at| inclusive[*at].instructions).sum(),
            false => self.total().instructions,
        }
    }

    /// What each node costs together with those that it calls.
    #[must_use]
    pub fn inclusive(&self) -> Vec<CodeCost> {
        let mut sums: Vec<CodeCost> = self.nodes.iter().map(CallNode::own).collect();
        for position in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[position].parent {
                let sum = sums[position];
                sums[parent].add(sum);
            }
        }
        sums
    }

    /// The calls as a format has them that writes each path with all its callers: cut at a depth where that is bounded. What is
    /// deeper is counted as [`DEEPER_FRAME`], so that sums stay.
    fn shallow(&self) -> Cow<'_, CallTree> {
        self.cut_within(PATH_BYTES_MAX).map_or(Cow::Borrowed(self), |(cut, _)| Cow::Owned(cut))
    }

    /// The same, and where each node went; `None` when nothing is to be cut.
    fn cut_within(&self, bytes_max: u64) -> Option<(CallTree, Vec<usize>)> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.nodes.len());
        let mut lengths: Vec<u64> = Vec::with_capacity(self.nodes.len());
        // By depth: the bytes of paths that end there, and of those that would be cut there.
        let (mut whole, mut cut): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        let mut has_callees = vec![false; self.nodes.len()];
        self.nodes.iter().filter_map(|node| node.parent).for_each(|parent| has_callees[parent] = true);
        for (position, node) in self.nodes.iter().enumerate() {
            let (depth, above) = node.parent.map_or((0, 0), |parent| (depths[parent] + 1, lengths[parent]));
            let length = above.saturating_add((self.name(position).len() as u64 + 1).max(FRAME_BYTES_MIN));
            if depth == whole.len() {
                whole.push(0);
                cut.push(0);
            }
            whole[depth] = whole[depth].saturating_add(length);
            if has_callees[position] {
                cut[depth] = cut[depth].saturating_add(length).saturating_add(DEEPER_FRAME.len() as u64);
            }
            depths.push(depth);
            lengths.push(length);
        }
        let (mut sum, mut deepest) = (0_u64, 0);
        for (depth, bytes) in whole.iter().enumerate() {
            sum = sum.saturating_add(*bytes);
            if sum.saturating_add(cut[depth]) <= bytes_max {
                deepest = depth;
            }
        }
        if sum <= bytes_max || deepest + 1 >= whole.len() {
            return None;
        }
        let mut found = CallTree { nodes: Vec::new(), ..self.clone() };
        let deeper = found.functions.len();
        found.functions.push(CalledFunction { name: DEEPER_FRAME.to_owned(), ..CalledFunction::default() });
        let mut places: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for (node, depth) in self.nodes.iter().zip(&depths) {
            let parent = node.parent.map(|parent| places[parent]);
            let next = found.nodes.len();
            let known = parent.filter(|parent| found.nodes[*parent].function == deeper);
            let place = match known {
                Some(known) => known,
                None if *depth <= deepest => {
                    found.nodes.push(CallNode { parent, ..node.clone() });
                    next
                }
                None => {
                    found.nodes.push(CallNode { parent, function: deeper, ..CallNode::default() });
                    next
                }
            };
            if *depth > deepest {
                let into = &mut found.nodes[place];
                into.calls += node.calls;
                into.lines.entry(0).or_default().add(node.own());
            }
            places.push(place);
        }
        let remark = "frames are counted as";
        found.remarks.push(format!("calls below {} {remark} {DEEPER_FRAME}: their paths are too long", deepest + 1));
        Some((found, places))
    }

    /// The path of a node, from the root.
    #[must_use]
    pub fn path(&self, node: usize) -> Vec<usize> {
        let mut path: Vec<usize> = std::iter::successors(Some(node), |at| self.nodes[*at].parent).collect();
        path.reverse();
        path
    }

    /// Whether a node is the first of its function on its path: sums over functions count no instruction twice.
    #[must_use]
    pub fn is_first_of_function(&self, node: usize) -> bool {
        let function = self.nodes[node].function;
        let mut callers = std::iter::successors(self.nodes[node].parent, |at| self.nodes[*at].parent);
        callers.all(|caller| self.nodes[caller].function != function)
    }

    /// The name of a node's function.
    #[must_use]
    pub fn name(&self, node: usize) -> &str {
        &self.functions[self.nodes[node].function].name
    }
}
