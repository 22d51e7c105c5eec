//! What `fozzy memory` prints: leaks and what is in use, who allocates and who frees, and how two runs differ.
//!
//! ```text
//! HeapTree ─▶ blocks by site ─▶ top: leaks first
//!                            ─▶ graph: site ─allocates─▶ blocks ─freed_by─▶ site
//! two of them ─▶ diff: sums of leaks, and the peaks
//! ```
//!
//! Invariant: a site has the same name in every run of the same program, so that leaks of runs are compared by it.
//! Not here: who counts (`fozzy-engine`).

use crate::html::{escape, visible};
use crate::pretty::{Style, bytes, fit};
use crate::profile::{HeapPlace, HeapSite, HeapTree, by_function, different_programs};
use crate::show::folded;
use crate::{Layout, MemorySummary};
use fozzy_trace::{FlowHeap, HeapCounts, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What a run says of its memory.
#[derive(Clone, Debug)]
pub enum MemoryFacts {
    /// The program's own heap.
    Heap(Box<HeapTree>),
    /// What a scenario file declared, or a program reported by itself.
    Declared {
        /// The run.
        run: String,
        /// The sums.
        summary: MemorySummary,
        /// Bytes of what was never freed, by number.
        live: Vec<(u64, u64)>,
    },
}

/// `fozzy memory top`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryTop {
    /// The run.
    pub run: String,
    /// Rows, at most.
    pub limit: u64,
    /// Rows without a limit.
    pub total: u64,
    /// Leaks first, the largest of each kind first.
    pub entries: Vec<MemoryEntry>,
    /// Bytes that have leaked.
    pub leaked_bytes: u64,
    /// Blocks that have leaked.
    pub leaked_allocs: u64,
    /// Of a scenario: the heap by flow, the one by which it has grown most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<MemoryFlow>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What was allocated and freed while a flow ran, over all times that it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryFlow {
    /// The flow; none is what happened outside of flows.
    pub flow: Option<String>,
    /// Blocks that were allocated.
    pub alloc_count: u64,
    /// Bytes of them.
    pub alloc_bytes: u64,
    /// Blocks that were freed, whichever flow allocated them.
    pub free_count: u64,
    /// Bytes of them.
    pub free_bytes: u64,
    /// Bytes allocated less bytes freed.
    pub growth_bytes: i64,
    /// Bytes that this flow allocated and that were in use at the end.
    pub in_use_bytes: u64,
    /// Those of them that have leaked, or possibly have.
    pub leaked_bytes: u64,
}

/// Blocks of one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryEntry {
    /// `leak`, `possible_leak` or `in_use`.
    pub kind: String,
    /// Where they come from.
    pub label: String,
    /// Bytes.
    pub bytes: u64,
    /// More about them.
    pub fields: MemoryEntryFields,
}

/// More about blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryEntryFields {
    /// Blocks.
    pub blocks: u64,
    /// By which leaks of several runs are told to be the same.
    pub signature: String,
}

/// `fozzy memory diff`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryDiff {
    /// The run before.
    pub left: String,
    /// The run after.
    pub right: String,
    /// Bytes that have leaked before.
    pub left_leaked_bytes: u64,
    /// And after.
    pub right_leaked_bytes: u64,
    /// Blocks that have leaked before.
    pub left_leaked_allocs: u64,
    /// And after.
    pub right_leaked_allocs: u64,
    /// The most bytes in use before.
    pub left_peak_bytes: u64,
    /// And after.
    pub right_peak_bytes: u64,
    /// How many bytes more have leaked.
    pub delta_leaked_bytes: i64,
    /// How many blocks more have leaked.
    pub delta_leaked_allocs: i64,
    /// How much higher the peak is.
    pub delta_peak_bytes: i64,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// `fozzy memory graph`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryGraph {
    /// The run.
    pub run: String,
    /// Who allocates what, and who frees it.
    pub graph: MemoryGraphBody,
    /// The same in the format that was asked for, other than JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// Nodes and edges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryGraphBody {
    /// Sites, and blocks of each.
    pub nodes: Vec<MemoryNode>,
    /// Between them.
    pub edges: Vec<MemoryEdge>,
}

/// A site, or blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryNode {
    /// Its name in edges.
    pub id: String,
    /// `callsite`, `alloc` or `free`.
    pub kind: String,
    /// What people read.
    pub label: String,
}

/// From one to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryEdge {
    /// A node.
    pub from: String,
    /// A node.
    pub to: String,
    /// `allocates` or `freed_by`.
    pub kind: String,
}

/// The formats of the graph.
pub const MEMORY_GRAPH_FORMATS: [&str; 3] = ["json", "dot", "html"];

impl MemoryFacts {
    /// The run.
    #[must_use]
    pub fn run(&self) -> &str {
        match self {
            MemoryFacts::Heap(heap) => &heap.tree.run,
            MemoryFacts::Declared { run, .. } => run,
        }
    }

    /// Whether it is known what was allocated.
    #[must_use]
    pub fn is_known(&self) -> bool {
        match self {
            MemoryFacts::Heap(heap) => !heap.allocators.is_empty(),
            MemoryFacts::Declared { .. } => true,
        }
    }

    /// Blocks and bytes that have leaked.
    #[must_use]
    pub fn leaked(&self) -> (u64, u64) {
        match self {
            MemoryFacts::Heap(heap) => heap.leaked(),
            MemoryFacts::Declared { summary, .. } => (summary.leaked_allocs, summary.leaked_bytes),
        }
    }

    /// The most bytes in use.
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        match self {
            MemoryFacts::Heap(heap) => heap.total().peak_bytes,
            MemoryFacts::Declared { summary, .. } => summary.peak_bytes,
        }
    }
}

impl MemoryTop {
    /// The first `limit` rows.
    #[must_use]
    pub fn of(facts: &MemoryFacts, limit: u64) -> MemoryTop {
        let (mut entries, warnings) = match facts {
            MemoryFacts::Heap(heap) => (heap_entries(heap), heap_warnings(heap)),
            MemoryFacts::Declared { live, .. } => (declared_entries(live), Vec::new()),
        };
        let total = entries.len() as u64;
        entries.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let (leaked_allocs, leaked_bytes) = facts.leaked();
        let flows = match facts {
            MemoryFacts::Heap(heap) => heap_flows(heap),
            MemoryFacts::Declared { .. } => Vec::new(),
        };
        MemoryTop { run: facts.run().to_owned(), limit, total, entries, leaked_bytes, leaked_allocs, flows, warnings }
    }
}

fn heap_flows(heap: &HeapTree) -> Vec<MemoryFlow> {
    let row = |(flow, found): &(Option<String>, FlowHeap)| MemoryFlow {
        flow: flow.clone(),
        alloc_count: found.blocks,
        alloc_bytes: found.bytes,
        free_count: found.freed_blocks,
        free_bytes: found.freed_bytes,
        growth_bytes: found.growth(),
        in_use_bytes: found.live_bytes,
        leaked_bytes: if heap.is_collected { 0 } else { found.lost_bytes },
    };
    let mut rows: Vec<MemoryFlow> = heap.by_flow.iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.growth_bytes));
    rows
}

fn heap_warnings(heap: &HeapTree) -> Vec<String> {
    let doubt = heap.doubt.iter().cloned();
    let collected = heap.is_collected.then(|| "blocks are collected: what is in use is not known".to_owned());
    heap.tree.remarks.iter().cloned().chain(doubt).chain(collected).collect()
}

fn heap_entries(heap: &HeapTree) -> Vec<MemoryEntry> {
    let entry = |kind: &str, site: &HeapSite, blocks: u64, bytes: u64| MemoryEntry {
        kind: kind.to_owned(),
        label: site.to_string(),
        bytes,
        fields: MemoryEntryFields { blocks, signature: format!("{kind} {}", site.function) },
    };
    // Blocks and bytes of each kind. What is collected does not leak.
    let lost = |counts: &HeapCounts| (counts.lost_blocks, counts.lost_bytes);
    let doubtful = |counts: &HeapCounts| (counts.doubtful_blocks, counts.doubtful_bytes);
    let used = |counts: &HeapCounts| {
        let (blocks, bytes) = (counts.lost_blocks + counts.doubtful_blocks, counts.lost_bytes + counts.doubtful_bytes);
        (counts.live_blocks - blocks, counts.live_bytes - bytes)
    };
    let rows = |kind: &str, part: &dyn Fn(&HeapCounts) -> (u64, u64)| {
        let sites = heap.by_site(|counts| part(counts).0).into_iter();
        let rows = sites.map(|(site, counts)| entry(kind, &site, part(&counts).0, part(&counts).1));
        let mut rows: Vec<MemoryEntry> = rows.collect();
        rows.sort_by_key(|entry| std::cmp::Reverse(entry.bytes));
        rows
    };
    let mut entries = Vec::new();
    if !heap.is_collected {
        entries.extend(rows("leak", &lost));
        entries.extend(rows("possible_leak", &doubtful));
    }
    entries.extend(rows("in_use", &used));
    entries
}

fn declared_entries(live: &[(u64, u64)]) -> Vec<MemoryEntry> {
    let entry = |(number, bytes): &(u64, u64)| MemoryEntry {
        kind: "leak".to_owned(),
        label: format!("allocation {number}"),
        bytes: *bytes,
        fields: MemoryEntryFields { blocks: 1, signature: format!("leak allocation {number}") },
    };
    let mut entries: Vec<MemoryEntry> = live.iter().map(entry).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.bytes));
    entries
}

impl MemoryDiff {
    /// What differs from one run to another.
    #[must_use]
    pub fn of(left: &MemoryFacts, right: &MemoryFacts) -> MemoryDiff {
        let ((left_leaked_allocs, left_leaked_bytes), (right_leaked_allocs, right_leaked_bytes)) =
            (left.leaked(), right.leaked());
        let (left_peak_bytes, right_peak_bytes) = (left.peak_bytes(), right.peak_bytes());
        let delta = |before: u64, after: u64| after.cast_signed().wrapping_sub(before.cast_signed());
        MemoryDiff {
            left: left.run().to_owned(),
            right: right.run().to_owned(),
            left_leaked_bytes,
            right_leaked_bytes,
            left_leaked_allocs,
            right_leaked_allocs,
            left_peak_bytes,
            right_peak_bytes,
            delta_leaked_bytes: delta(left_leaked_bytes, right_leaked_bytes),
            delta_leaked_allocs: delta(left_leaked_allocs, right_leaked_allocs),
            delta_peak_bytes: delta(left_peak_bytes, right_peak_bytes),
            warnings: MemoryDiff::warnings(left, right),
        }
    }

    fn warnings(left: &MemoryFacts, right: &MemoryFacts) -> Vec<String> {
        let (MemoryFacts::Heap(left), MemoryFacts::Heap(right)) = (left, right) else { return Vec::new() };
        let functions = |heap: &HeapTree| by_function(&heap.tree).into_iter().map(|row| row.function).collect();
        let remarks = [left, right].into_iter().flat_map(|heap| heap.tree.remarks.iter().chain(&heap.doubt).cloned());
        let remarks: BTreeSet<String> = remarks.collect();
        different_programs(&functions(left), &functions(right)).into_iter().chain(remarks).collect()
    }
}

impl MemoryGraph {
    /// Who allocates what, and who frees it, in one of [`MEMORY_GRAPH_FORMATS`].
    #[must_use]
    pub fn of(facts: &MemoryFacts, format: &str) -> MemoryGraph {
        let graph = match facts {
            MemoryFacts::Heap(heap) => heap_graph(heap),
            MemoryFacts::Declared { live, .. } => declared_graph(live),
        };
        let run = facts.run().to_owned();
        let content = match format {
            "dot" => Some(dot(&graph)),
            "html" => Some(page(&run, facts, &graph)),
            _ => None,
        };
        MemoryGraph { run, graph, content }
    }

    /// What is written to a file.
    #[must_use]
    pub fn text(&self) -> String {
        self.content.clone().unwrap_or_else(|| serde_json::to_string_pretty(self).expect("plain data") + "\n")
    }
}

fn heap_graph(heap: &HeapTree) -> MemoryGraphBody {
    let mut sites: BTreeMap<HeapSite, HeapCounts> = BTreeMap::new();
    for (place, counts) in &heap.counts {
        sites.entry(heap.site(*place)).or_default().add(counts);
    }
    let mut freed: BTreeMap<(HeapSite, HeapSite), (u64, u64)> = BTreeMap::new();
    let site = |place: &HeapPlace| heap.site(*place);
    for ((allocation, free), (blocks, bytes)) in &heap.freed_by {
        let sum = freed.entry((site(allocation), site(free))).or_default();
        *sum = (sum.0 + blocks, sum.1 + bytes);
    }
    let mut numbers: BTreeMap<HeapSite, usize> = sites.keys().cloned().zip(0..).collect();
    for (_, free) in freed.keys() {
        let next = numbers.len();
        numbers.entry(free.clone()).or_insert(next);
    }
    let mut graph = MemoryGraphBody::default();
    let mut node = |id: String, kind: &str, label: String| {
        graph.nodes.push(MemoryNode { id, kind: kind.to_owned(), label });
    };
    let mut edges = Vec::new();
    let mut edge = |from: String, to: String, kind: &str| {
        edges.push(MemoryEdge { from, to, kind: kind.to_owned() });
    };
    for (site, number) in &numbers {
        node(format!("site{number}"), "callsite", site.to_string());
        let Some(counts) = sites.get(site) else { continue };
        let used = match counts.live_blocks {
            0 => String::new(),
            blocks => format!(", {} in {} in use at the end", bytes(counts.live_bytes), counted(blocks, "block")),
        };
        let label = format!("{} in {}{used}", bytes(counts.bytes), counted(counts.blocks, "block"));
        node(format!("alloc{number}"), "alloc", label);
        edge(format!("site{number}"), format!("alloc{number}"), "allocates");
    }
    for ((allocation, free), (blocks, size)) in &freed {
        let (from, by) = (numbers[allocation], numbers[free]);
        let id = format!("free{from}by{by}");
        node(id.clone(), "free", format!("{} in {} by {free}", bytes(*size), counted(*blocks, "block")));
        edge(format!("alloc{from}"), id, "freed_by");
    }
    graph.edges = edges;
    graph
}

fn declared_graph(live: &[(u64, u64)]) -> MemoryGraphBody {
    let mut graph = MemoryGraphBody::default();
    for (number, size) in live {
        let label = format!("allocation {number}");
        graph.nodes.push(MemoryNode { id: format!("site{number}"), kind: "callsite".to_owned(), label });
        let label = bytes(*size);
        graph.nodes.push(MemoryNode { id: format!("alloc{number}"), kind: "alloc".to_owned(), label });
        let (from, to) = (format!("site{number}"), format!("alloc{number}"));
        graph.edges.push(MemoryEdge { from, to, kind: "allocates".to_owned() });
    }
    graph
}

fn dot(graph: &MemoryGraphBody) -> String {
    let mut text = "digraph memory {\n  rankdir=LR;\n  node [fontname=\"monospace\"];\n".to_owned();
    for node in &graph.nodes {
        let shape = if node.kind == "callsite" { "box" } else { "ellipse" };
        let label = node.label.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "  {} [shape={shape}, label=\"{label}\"];", node.id);
    }
    for edge in &graph.edges {
        let _ = writeln!(text, "  {} -> {} [label=\"{}\"];", edge.from, edge.to, edge.kind);
    }
    text + "}\n"
}

/// A page that stands alone.
fn page(run: &str, facts: &MemoryFacts, graph: &MemoryGraphBody) -> String {
    let labels: BTreeMap<&str, &str> = graph.nodes.iter().map(|node| (node.id.as_str(), node.label.as_str())).collect();
    let mut rows = String::new();
    for edge in graph.edges.iter().filter(|edge| edge.kind == "allocates") {
        let freed = graph.edges.iter().filter(|freed| freed.kind == "freed_by" && freed.from == edge.to);
        let freed: Vec<String> = freed.map(|freed| escape(labels[freed.to.as_str()])).collect();
        let (site, blocks) = (escape(labels[edge.from.as_str()]), escape(labels[edge.to.as_str()]));
        let _ = writeln!(rows, "<tr><td>{site}</td><td>{blocks}</td><td>{}</td></tr>", freed.join("<br>"));
    }
    let ((blocks, leaked), run) = (facts.leaked(), escape(run));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Memory of {run}</title>\n\
         <style>body{{font:14px sans-serif;margin:2em}}table{{border-collapse:collapse}}td,th{{border:1px solid #ccc;padding:.3em .6em;\
         text-align:left;vertical-align:top}}td{{font-family:monospace}}</style></head>\n<body><h1>Memory of {run}</h1>\n\
         <p>At the peak {}; leaked: {} in {}.</p>\n<table><thead><tr><th>site</th><th>allocates</th><th>freed by</th></tr></thead>\n\
         <tbody>\n{rows}</tbody></table></body></html>\n",
        bytes(facts.peak_bytes()),
        bytes(leaked),
        counted(blocks, "block"),
    )
}

impl Layout for MemoryTop {
    fn lay_out(&self, style: Style) -> String {
        let Style { faint, end, .. } = style;
        let leaked = (bytes(self.leaked_bytes), counted(self.leaked_allocs, "block"));
        let mut text = format!("fozzy memory top  {}\nleaked: {} in {}\n", self.run, leaked.0, leaked.1);
        if !self.entries.is_empty() {
            text.push_str(&format!("{faint}{:>12}  {:>8}  {:<13}  site{end}\n", "bytes", "blocks", "kind"));
        }
        for entry in &self.entries {
            let blocks = entry.fields.blocks;
            text.push_str(&format!("{:>12}  {blocks:>8}  {:<13}  {}\n", entry.bytes, entry.kind, entry.label));
        }
        if !self.flows.is_empty() {
            text.push_str(&format!(
                "by flow\n{faint}{:>12}  {:>12}  {:>12}  {:>12}  flow{end}\n",
                "growth", "allocated", "freed", "leaked"
            ));
        }
        for row in &self.flows {
            let name = row.flow.as_deref().unwrap_or("(outside of flows)");
            let start = format!(
                "{:>12}  {:>12}  {:>12}  {:>12}  ",
                row.growth_bytes, row.alloc_bytes, row.free_bytes, row.leaked_bytes
            );
            text.push_str(&format!("{start}{}\n", fit(name, style.room(start.len()))));
        }
        let notes = self.warnings.iter().map(|warning| format!("note: {warning}\n"));
        text + &notes.collect::<String>()
    }
}

impl Layout for MemoryDiff {
    fn lay_out(&self, style: Style) -> String {
        let Style { faint, end, .. } = style;
        let blocks = |number: u64| counted(number, "block");
        let more = |delta: i64, amount: &dyn Fn(u64) -> String| match delta {
            0 => "the same".to_owned(),
            delta if delta > 0 => format!("{} more", amount(delta.unsigned_abs())),
            delta => format!("{} less", amount(delta.unsigned_abs())),
        };
        let rows = [
            ["", "before", "after", "difference"].map(str::to_owned),
            [
                "leaked".to_owned(),
                bytes(self.left_leaked_bytes),
                bytes(self.right_leaked_bytes),
                more(self.delta_leaked_bytes, &bytes),
            ],
            [
                String::new(),
                blocks(self.left_leaked_allocs),
                blocks(self.right_leaked_allocs),
                more(self.delta_leaked_allocs, &blocks),
            ],
            [
                "in use at the peak".to_owned(),
                bytes(self.left_peak_bytes),
                bytes(self.right_peak_bytes),
                more(self.delta_peak_bytes, &bytes),
            ],
        ];
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (name, before, after) = (width(0), width(1), width(2));
        let line = |row: &[String; 4]| {
            let [what, left, right, difference] = row;
            let line = format!("  {what:<name$}  {left:>before$}  {right:>after$}  {difference}");
            line.trim_end().to_owned()
        };
        let mut text = format!(
            "fozzy memory diff\n{}{}",
            folded(&format!("before: {}", visible(&self.left)), style),
            folded(&format!("after: {}", visible(&self.right)), style)
        );
        text.push_str(&format!("{faint}{}{end}\n", line(&rows[0])));
        rows[1..].iter().for_each(|row| text.push_str(&format!("{}\n", line(row))));
        let notes = self.warnings.iter().map(|warning| folded(&format!("note: {}", visible(warning)), style));
        text + &notes.collect::<String>()
    }
}

impl Layout for MemoryGraph {
    fn lay_out(&self, _style: Style) -> String {
        self.text()
    }
}
