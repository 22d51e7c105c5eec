//! The functions and lines that cost most, as a document and as text.

use super::domains::{ProfileTopIo, ProfileTopLatency, ProfileTopSched, io_lines, latency_lines, sched_lines};
use super::heap::heap_lines;
use super::ranking::{LineCount, ProfileTopFunction, by_function, by_line};
use super::{CallTree, CodeCost, HeapTree, ProfileTopHeap};
use crate::Layout;
use crate::pretty::{Style, fit, grouped};
use crate::show::folded;
use fozzy_trace::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `fozzy.profile_top.v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileTop {
    /// Always `fozzy.profile_top.v1`.
    pub schema_version: String,
    /// The trace.
    pub run: String,
    /// Rows of each list, at most.
    pub limit: u64,
    /// Instructions by function and line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<ProfileTopCpu>,
    /// What the program's allocator did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap: Option<ProfileTopHeap>,
    /// Where the virtual time went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<ProfileTopLatency>,
    /// Which bytes were moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io: Option<ProfileTopIo>,
    /// Whose turn it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sched: Option<ProfileTopSched>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Where the instructions of a run went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileTopCpu {
    /// All instructions of the run: WebAssembly instructions of the original program.
    pub instructions: u64,
    /// What the run used of its budget, as its summary says (`used N instructions`): the program of the first machine, and `sandbox`.
    pub used: u64,
    /// Of that, what the sandbox has put in: checks of the depth of calls, one for each call, one for each byte of a bulk operation and of
    /// the data that it starts with.
    pub sandbox: u64,
    /// All calls of functions.
    pub calls: u64,
    /// Bytes that bulk operations have moved, each of them one instruction.
    pub bulk_bytes: u64,
    /// Functions that were called.
    pub functions_total: u64,
    /// The functions that cost most by themselves.
    pub functions: Vec<ProfileTopFunction>,
    /// The lines that cost most.
    pub lines: Vec<LineCount>,
    /// Instructions for which the debug information names no line: those of functions without any, and code that the compiler made.
    #[serde(default)]
    pub without_line: u64,
}

impl ProfileTop {
    /// Nothing of a run yet.
    #[must_use]
    pub fn new(run: String, limit: u64) -> ProfileTop {
        let schema_version = "fozzy.profile_top.v1".to_owned();
        ProfileTop {
            schema_version,
            run,
            limit,
            cpu: None,
            heap: None,
            latency: None,
            io: None,
            sched: None,
            warnings: Vec::new(),
        }
    }

    /// Adds what the program's allocator did.
    pub fn add_heap(&mut self, heap: &HeapTree) {
        let rows = usize::try_from(self.limit).unwrap_or(usize::MAX);
        self.heap = Some(ProfileTopHeap::of(heap, rows));
        let more = heap.tree.remarks.iter().chain(&heap.doubt).filter(|remark| !self.warnings.contains(remark));
        let more: Vec<String> = more.cloned().collect();
        self.warnings.extend(more);
    }

    /// Adds the functions and lines that cost most.
    pub fn add_cpu(&mut self, tree: &CallTree) {
        let rows = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let (mut functions, mut lines) = (by_function(tree), by_line(tree));
        let functions_total = functions.len() as u64;
        let CodeCost { instructions, bulk_bytes } = tree.total();
        let without_line = instructions.saturating_sub(lines.iter().map(|line| line.instructions).sum());
        functions.truncate(rows);
        lines.truncate(rows);
        let calls = tree.nodes.iter().map(|node| node.calls).sum();
        let (used, of_main) = (tree.used, tree.of_main());
        self.cpu = Some(ProfileTopCpu {
            instructions,
            used,
            sandbox: used.saturating_sub(of_main),
            calls,
            bulk_bytes,
            functions_total,
            functions,
            lines,
            without_line,
        });
        self.warnings.extend(tree.remarks.iter().cloned());
    }
}

impl Layout for ProfileTop {
    fn lay_out(&self, style: Style) -> String {
        let parts = [
            self.cpu.as_ref().map(|cpu| cpu_lines(cpu, style)),
            self.heap.as_ref().map(|heap| heap_lines(heap, style)),
            self.latency.as_ref().map(|latency| latency_lines(latency, style)),
            self.io.as_ref().map(|io| io_lines(io, style)),
            self.sched.as_ref().map(|sched| sched_lines(sched, style)),
        ];
        let notes = self.warnings.iter().map(|warning| folded(&format!("note: {warning}"), style));
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n") + &notes.collect::<String>()
    }
}

fn cpu_lines(cpu: &ProfileTopCpu, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let mut text = format!(
        "cpu  {} instructions, {}, {}{}\n",
        grouped(cpu.instructions),
        counted(cpu.calls, "call"),
        counted(cpu.functions_total, "function"),
        match cpu.bulk_bytes {
            0 => String::new(),
            moved => format!(", {} bytes moved in bulk", grouped(moved)),
        }
    );
    if cpu.sandbox > 0 {
        // Of several machines, the budget of the first one is shown everywhere.
        let who = if cpu.used - cpu.sandbox < cpu.instructions { "`main` alone" } else { "the run" };
        let what =
            "put in by the sandbox: checks of depth, one a call, one a byte that it starts with or moves in bulk";
        let line = format!("{who} used {}, {} of them {what}", grouped(cpu.used), grouped(cpu.sandbox));
        text.push_str(&format!("{faint}{}{end}\n", folded(&line, style).trim_end()));
    }
    let share = |part: u64| format!("{:.1} %", 100.0 * part as f64 / cpu.instructions.max(1) as f64);
    let widest = grouped(cpu.instructions).len().max(9);
    text.push_str(&format!(
        "{faint}{:>widest$}  {:>7}  {:>7}  {:>9}  function{end}\n",
        "self", "self", "with", "calls"
    ));
    for row in &cpu.functions {
        let start = format!(
            "{:>widest$}  {:>7}  {:>7}  {:>9}  ",
            grouped(row.own),
            share(row.own),
            share(row.inclusive),
            grouped(row.calls)
        );
        let room = style.room(start.len());
        text.push_str(&format!("{start}{}\n", fit(&row.function, room)));
    }
    if !cpu.lines.is_empty() {
        text.push_str(&format!("{faint}{:>widest$}  {:>7}  line{end}\n", "self", "self"));
    }
    for row in &cpu.lines {
        let start = format!("{:>widest$}  {:>7}  ", grouped(row.instructions), share(row.instructions));
        let place = format!("{}:{}", row.file, row.line);
        let room = style.room(start.len());
        let place = match place.chars().count().checked_sub(room) {
            // The end of a path says more than its beginning.
            Some(more) if more > 0 => format!("…{}", place.chars().skip(more + 1).collect::<String>()),
            _ => place,
        };
        text.push_str(&format!("{start}{place}\n"));
    }
    if !cpu.lines.is_empty() && cpu.without_line > 0 {
        let start = format!("{:>widest$}  {:>7}  ", grouped(cpu.without_line), share(cpu.without_line));
        text.push_str(&format!("{start}{}\n", fit("no line: compilers name none for it", style.room(start.len()))));
    }
    text
}
