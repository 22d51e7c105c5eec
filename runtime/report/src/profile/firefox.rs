//! The processed profile of the Firefox Profiler: a process for each machine, with markers over virtual time, and the instructions of the
//! program as samples.
//!
//! ```text
//! main     markers: calls, waits, turns, messages (as flows), output, faults      samples: stacks, weighted with instructions
//!          task 3: its calls and turns
//! ```
//!
//! A program computes in no virtual time, so all samples are at the start: call tree and flame graph are exact, and no sample tells when.
//!
//! Invariants: numbers in tables are those of their rows; the weights of all samples are the instructions of the run.
//! <https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md>

use super::activity::{RunActivity, WAITS_SHOWN_MAX, short};
use super::{CallTree, CodeCost};
use fozzy_trace::{Instant, NodeId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The version of the format that is written; readers upgrade older ones.
const FORMAT_VERSION: u64 = 55;
/// Between two samples, in ms. It only has to be more than nothing.
const INTERVAL_MS: f64 = 0.001;
/// A kind of markers.
struct MarkerKind {
    name: &'static str,
    /// What is shown of one.
    label: &'static str,
    /// Its fields, with their formats.
    fields: &'static [(&'static str, &'static str)],
}

const MARKERS: [MarkerKind; 6] = [
    MarkerKind {
        name: "call",
        label: "{marker.data.answer}",
        fields: &[("call", "integer"), ("asked", "string"), ("answer", "string")],
    },
    MarkerKind { name: "wait", label: "{marker.data.awaited}", fields: &[("kind", "string"), ("awaited", "string")] },
    MarkerKind { name: "turn", label: "{marker.name}", fields: &[] },
    MarkerKind {
        name: "sent",
        label: "{marker.data.peer}",
        fields: &[("peer", "string"), ("bytes", "bytes"), ("flow", "flow-id")],
    },
    MarkerKind {
        name: "read",
        label: "{marker.data.peer}",
        fields: &[("peer", "string"), ("bytes", "bytes"), ("flow", "terminating-flow-id")],
    },
    MarkerKind { name: "note", label: "{marker.data.text}", fields: &[("text", "string")] },
];

pub(super) fn write(activity: &RunActivity, tree: &CallTree) -> Vec<u8> {
    let mut threads: BTreeMap<(NodeId, Option<u64>), ThreadWriter> = BTreeMap::new();
    for node in activity.machines() {
        threads.insert((node, None), ThreadWriter::default());
    }
    add_samples(activity, tree, &mut threads);
    add_markers(activity, &mut threads);
    let threads: Vec<Value> = threads
        .into_iter()
        .enumerate()
        .map(|(number, ((node, task), thread))| thread.finish(activity, number, node, task))
        .collect();
    let document = json!({ "meta": meta(activity), "libs": [], "pages": [], "profilerOverhead": [], "counters": [], "threads": threads });
    let mut text = document.to_string();
    text.push('\n');
    text.into_bytes()
}

fn meta(activity: &RunActivity) -> Value {
    let schemas: Vec<Value> = MARKERS
        .iter()
        .map(|MarkerKind { name, label, fields }| {
            let field = |(key, format): &(&str, &str)| json!({ "key": key, "label": key, "format": format, "searchable": true });
            let fields: Vec<Value> = fields.iter().map(field).collect();
            json!({ "name": name, "display": ["marker-chart", "marker-table", "timeline-overview"], "chartLabel": label,
                "tableLabel": label, "tooltipLabel": "{marker.name}", "fields": fields })
        })
        .collect();
    json!({
        "product": format!("fozzy: {}", activity.run),
        "preprocessedProfileVersion": FORMAT_VERSION,
        // Of the format before processing; nobody reads it.
        "version": 24,
        "startTime": activity.wall_start_ns as f64 / 1e6,
        "interval": INTERVAL_MS,
        "processType": 0,
        "debug": false,
        "symbolicated": true,
        "usesOnlyOneStackType": true,
        "sourceCodeIsNotOnSearchfox": true,
        "categories": [{ "name": "Other", "color": "grey", "subcategories": ["Other"] }],
        "extensions": { "length": 0, "id": [], "name": [], "baseURL": [] },
        "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "\u{b5}s" },
        "pausedRanges": [],
        "markerSchema": schemas,
    })
}

/// The tables of one thread.
#[derive(Default)]
struct ThreadWriter {
    texts: BTreeMap<String, usize>,
    in_order: Vec<String>,
    /// Names and files of functions.
    functions: BTreeMap<(usize, Option<usize>), usize>,
    /// Function, line, depth of inlining.
    frames: BTreeMap<(usize, u32, u32), usize>,
    /// The stack of the callers, and the frame.
    stacks: BTreeMap<(Option<usize>, usize), usize>,
    samples: Vec<(usize, u64)>,
    /// When, until when, name, and the data.
    markers: Vec<(u64, u64, usize, Value)>,
}

/// The number of a row, which is added if it is not there.
fn row<K: Ord>(table: &mut BTreeMap<K, usize>, key: K) -> usize {
    let next = table.len();
    *table.entry(key).or_insert(next)
}

/// Keys in the order of their numbers.
fn in_order<K: Ord>(table: BTreeMap<K, usize>) -> Vec<K> {
    let mut rows: Vec<(K, usize)> = table.into_iter().collect();
    rows.sort_by_key(|(_, number)| *number);
    rows.into_iter().map(|(key, _)| key).collect()
}

impl ThreadWriter {
    fn text(&mut self, text: &str) -> usize {
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        self.in_order.push(text.to_owned());
        self.texts.insert(text.to_owned(), self.in_order.len() - 1);
        self.in_order.len() - 1
    }

    /// The stack of a function at a line, below that of its callers.
    fn stack(&mut self, callers: Option<usize>, (name, file): (&str, Option<&str>), line: u32, inlined: u32) -> usize {
        let (name, file) = (self.text(name), file.map(|file| self.text(file)));
        let function = row(&mut self.functions, (name, file));
        let frame = row(&mut self.frames, (function, line, inlined));
        row(&mut self.stacks, (callers, frame))
    }

    fn mark(&mut self, (since, until): (Instant, Instant), name: &str, data: Value) {
        let name = self.text(name);
        self.markers.push((since.0, until.0, name, data));
    }

    fn finish(self, activity: &RunActivity, number: usize, node: NodeId, task: Option<u64>) -> Value {
        let ms = |ns: u64| ns as f64 / 1e6;
        let line = |line: u32| (line > 0).then_some(line);
        let machine = activity.name(node);
        let mut markers = self.markers;
        markers.sort_by_key(|(since, until, ..)| (*since, *until));
        let functions = in_order(self.functions);
        let frames = in_order(self.frames);
        let stacks = in_order(self.stacks);
        let (count, all) = (functions.len(), frames.len());
        let column = |value: Value, length: usize| vec![value; length];
        let is_span = |since: u64, until: u64| until > since;
        let life = activity.machines.get(&node).and_then(|times| times.ended);
        json!({
            "name": task.map_or(machine.clone(), |task| format!("task {task}")),
            "processName": machine,
            "processType": "default",
            "isMainThread": task.is_none(),
            "pid": node.0.to_string(),
            "tid": number,
            "processStartupTime": 0,
            "processShutdownTime": life.map(|at| ms(at.0)),
            "registerTime": 0,
            "unregisterTime": null,
            "pausedRanges": [],
            "showMarkersInTimeline": true,
            "stringArray": self.in_order,
            "samples": {
                "length": self.samples.len(),
                "weightType": "samples",
                "stack": self.samples.iter().map(|(stack, _)| *stack).collect::<Vec<_>>(),
                "time": column(json!(0), self.samples.len()),
                "weight": self.samples.iter().map(|(_, weight)| *weight).collect::<Vec<_>>(),
            },
            "markers": {
                "length": markers.len(),
                "category": column(json!(0), markers.len()),
                "name": markers.iter().map(|(.., name, _)| *name).collect::<Vec<_>>(),
                "startTime": markers.iter().map(|(since, ..)| ms(*since)).collect::<Vec<_>>(),
                "endTime": markers.iter().map(|(since, until, ..)| is_span(*since, *until).then(|| ms(*until))).collect::<Vec<_>>(),
                // 0 is a moment, 1 a stretch.
                "phase": markers.iter().map(|(since, until, ..)| u8::from(is_span(*since, *until))).collect::<Vec<_>>(),
                "data": markers.iter().map(|(.., data)| data).collect::<Vec<_>>(),
            },
            "stackTable": {
                "length": stacks.len(),
                "prefix": stacks.iter().map(|(callers, _)| *callers).collect::<Vec<_>>(),
                "frame": stacks.iter().map(|(_, frame)| *frame).collect::<Vec<_>>(),
            },
            "frameTable": {
                "length": all,
                "address": column(json!(-1), all),
                "inlineDepth": frames.iter().map(|(.., inlined)| *inlined).collect::<Vec<_>>(),
                "category": column(json!(0), all),
                "subcategory": column(json!(0), all),
                "func": frames.iter().map(|(function, ..)| *function).collect::<Vec<_>>(),
                "nativeSymbol": column(Value::Null, all),
                "innerWindowID": column(json!(0), all),
                "line": frames.iter().map(|(_, at, _)| line(*at)).collect::<Vec<_>>(),
                "column": column(Value::Null, all),
            },
            "funcTable": {
                "length": count,
                "name": functions.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
                "isJS": column(json!(false), count),
                "relevantForJS": column(json!(false), count),
                "resource": column(json!(-1), count),
                "fileName": functions.iter().map(|(_, file)| *file).collect::<Vec<_>>(),
                "lineNumber": column(Value::Null, count),
                "columnNumber": column(Value::Null, count),
            },
            "nativeSymbols": { "length": 0, "address": [], "functionSize": [], "libIndex": [], "name": [] },
            "resourceTable": { "length": 0, "lib": [], "name": [], "host": [], "type": [] },
        })
    }
}

/// The instructions of each machine go to its first thread.
fn add_samples(activity: &RunActivity, tree: &CallTree, threads: &mut BTreeMap<(NodeId, Option<u64>), ThreadWriter>) {
    let by_frame: BTreeMap<String, NodeId> =
        activity.names.iter().map(|(node, name)| (format!("[{name}]"), *node)).collect();
    // For each node its machine, its depth of inlining, and the stack of its callers.
    let mut known: Vec<(NodeId, u32, Option<usize>)> = Vec::with_capacity(tree.nodes.len());
    for (position, node) in tree.nodes.iter().enumerate() {
        let name_and_file = |function: usize| {
            let function = &tree.functions[function];
            (function.name.as_str(), function.file.as_deref())
        };
        let (machine, inlined, callers) = match node.parent {
            None => (by_frame.get(tree.name(position)).copied().unwrap_or(NodeId(0)), 0, None),
            Some(parent) => {
                let (machine, inlined, callers) = known[parent];
                let thread = threads.entry((machine, None)).or_default();
                let caller = thread.stack(callers, name_and_file(tree.nodes[parent].function), node.call_line, inlined);
                (machine, if node.is_inlined { inlined + 1 } else { 0 }, Some(caller))
            }
        };
        known.push((machine, inlined, callers));
        let thread = threads.entry((machine, None)).or_default();
        for (line, CodeCost { instructions, .. }) in node.lines.iter().filter(|(_, cost)| cost.instructions > 0) {
            let stack = thread.stack(callers, name_and_file(node.function), *line, inlined);
            thread.samples.push((stack, *instructions));
        }
    }
}

fn add_markers(activity: &RunActivity, threads: &mut BTreeMap<(NodeId, Option<u64>), ThreadWriter>) {
    for call in &activity.events {
        let entry = &call.entry;
        let data = json!({ "type": "call", "call": entry.index, "asked": short(&entry.asked), "answer": short(&entry.answer) });
        threads.entry((entry.node, call.task)).or_default().mark((call.since, entry.at), &entry.call, data);
    }
    for wait in activity.spans.iter().take(WAITS_SHOWN_MAX) {
        let data = json!({ "type": "wait", "kind": wait.kind.name(), "awaited": short(&wait.what) });
        threads.entry((wait.node, None)).or_default().mark((wait.since, wait.until), "wait", data);
    }
    for turn in &activity.turns {
        threads.entry((turn.node, turn.task)).or_default().mark(
            (turn.since, turn.until),
            "turn",
            json!({ "type": "turn" }),
        );
    }
    for (number, flow) in activity.flows.iter().enumerate() {
        let ends = [
            ("sent", (flow.from, flow.tasks.0), flow.to, flow.sent),
            ("read", (flow.to, flow.tasks.1), flow.from, flow.read),
        ];
        for (kind, place, peer, at) in ends {
            let thread = threads.entry(place).or_default();
            let flow_id = thread.text(&format!("message {number}"));
            let data = json!({ "type": kind, "peer": activity.name(peer), "bytes": flow.bytes, "flow": flow_id });
            thread.mark((at, at), &format!("message {kind}"), data);
        }
    }
    for note in &activity.notes {
        let data = json!({ "type": "note", "text": short(&note.text) });
        threads.entry((note.node, None)).or_default().mark((note.at, note.at), note.kind.name(), data);
    }
}
