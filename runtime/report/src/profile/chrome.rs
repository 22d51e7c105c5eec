//! The JSON format of trace viewers: a process for each machine; tracks of its calls, waits, turns and messages to people, and one for each
//! of its tasks.
//!
//! ```text
//! main     calls   ▏▏  ▏▏ ▏      what no task made
//!          waits   ░░░░   ░░
//!          turns   ██   ███
//!          log       ╵   ╵       lines of output, faults, findings
//!          task 3   [▏▏] [▏]     what was called while it was on
//! ```
//!
//! Invariants: slices of a track nest; times are virtual, in µs; equal runs give equal bytes.
//! <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>

use super::activity::{RunActivity, WAITS_SHOWN_MAX, short};
use fozzy_trace::NodeId;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Tracks that each machine has, by their numbers.
const TRACKS: [&str; 4] = ["calls", "waits", "turns", "log"];
/// The number of the first task's track.
const FIRST_TASK: usize = 16;

/// Tasks of all machines, each with the number of its track.
struct TaskTracks(BTreeMap<(NodeId, u64), usize>);

impl TaskTracks {
    fn of(activity: &RunActivity) -> TaskTracks {
        let of_turns = activity.turns.iter().filter_map(|turn| Some((turn.node, turn.task?)));
        let of_calls = activity.events.iter().filter_map(|call| Some((call.entry.node, call.task?)));
        let mut tracks: BTreeMap<(NodeId, u64), usize> = of_turns.chain(of_calls).map(|task| (task, 0)).collect();
        tracks.values_mut().enumerate().for_each(|(place, track)| *track = FIRST_TASK + place);
        TaskTracks(tracks)
    }

    /// Where the calls of a machine are, or those of its task.
    fn of_calls(&self, node: NodeId, task: Option<u64>) -> usize {
        task.and_then(|task| self.0.get(&(node, task))).copied().unwrap_or(0)
    }
}

pub(super) fn write(activity: &RunActivity) -> Vec<u8> {
    text(activity).into_bytes()
}

pub(super) fn text(activity: &RunActivity) -> String {
    let tasks = TaskTracks::of(activity);
    let mut all = names(activity, &tasks);
    all.extend(slices(activity, &tasks));
    all.extend(activity.notes.iter().map(|note| {
        json!({ "name": short(&note.text), "cat": note.kind.name(), "ph": "i", "s": "t", "ts": us(note.at.0),
            "pid": note.node.0, "tid": 3, "args": { "kind": note.kind.name() } })
    }));
    for (number, flow) in activity.flows.iter().enumerate() {
        let end = |phase: &str, (node, task): (NodeId, Option<u64>), ns: u64| {
            let mut end = json!({ "name": "message", "cat": "message", "ph": phase, "id": number, "ts": us(ns),
                "pid": node.0, "tid": tasks.of_calls(node, task), "args": { "bytes": flow.bytes } });
            if phase == "f" {
                end["bp"] = json!("e");
            }
            end
        };
        all.push(end("s", (flow.from, flow.tasks.0), flow.sent.0));
        all.push(end("f", (flow.to, flow.tasks.1), flow.read.0));
    }
    let lines: Vec<String> = all.iter().map(Value::to_string).collect();
    let about = json!({ "run": activity.run, "clock": "virtual", "creator": "fozzy" });
    format!("{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[\n{}\n]}}\n", lines.join(",\n"))
}

fn us(ns: u64) -> Value {
    json!(ns as f64 / 1000.0)
}

fn names(activity: &RunActivity, tasks: &TaskTracks) -> Vec<Value> {
    let mut all = Vec::new();
    let meta = |what: &str, node: NodeId, track: usize, args: Value| json!({ "name": what, "ph": "M", "pid": node.0, "tid": track, "args": args });
    for node in activity.machines() {
        all.push(meta("process_name", node, 0, json!({ "name": activity.name(node) })));
        all.push(meta("process_sort_index", node, 0, json!({ "sort_index": node.0 })));
        let named = |(track, name): (usize, &&str)| meta("thread_name", node, track, json!({ "name": name }));
        all.extend(TRACKS.iter().enumerate().map(named));
    }
    let tasks = tasks.0.iter();
    all.extend(
        tasks
            .map(|((node, task), track)| meta("thread_name", *node, *track, json!({ "name": format!("task {task}") }))),
    );
    all
}

fn slices(activity: &RunActivity, tasks: &TaskTracks) -> Vec<Value> {
    let slice = |name: &str, category: &str, node: NodeId, track: usize, (since, until): (u64, u64), args: Value| {
        json!({ "name": name, "cat": category, "ph": "X", "ts": us(since), "dur": us(until.saturating_sub(since)),
            "pid": node.0, "tid": track, "args": args })
    };
    let turns = activity.turns.iter().map(|turn| {
        let (name, track) = match turn.task {
            None => ("turn".to_owned(), 2),
            Some(task) => (format!("task {task}"), tasks.of_calls(turn.node, turn.task)),
        };
        slice(&name, "turn", turn.node, track, (turn.since.0, turn.until.0), json!({}))
    });
    let calls = activity.events.iter().map(|call| {
        let entry = &call.entry;
        let args = json!({ "call": entry.index, "asked": short(&entry.asked), "answer": short(&entry.answer) });
        let track = tasks.of_calls(entry.node, call.task);
        slice(&entry.call, "call", entry.node, track, (call.since.0, entry.at.0), args)
    });
    let waits = activity.spans.iter().take(WAITS_SHOWN_MAX).map(|wait| {
        let args = json!({ "kind": wait.kind.name(), "of": wait.of.map(|of| activity.name(of)) });
        slice(&wait.what, "wait", wait.node, 1, (wait.since.0, wait.until.0), args)
    });
    turns.chain(calls).chain(waits).collect()
}
