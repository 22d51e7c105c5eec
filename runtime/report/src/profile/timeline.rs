//! A run over its virtual time: calls, waits and messages of each machine, as a page, as JSON, and for trace viewers.
//!
//! ```text
//! main    ▏▏░░░░░░░░▏▏ ▏     calls are marks, waits are bars
//! server     ▏ ░░░░ ▏╱       messages are lines from who sent to who read
//! ```
//!
//! Invariants: the page stands alone and says nothing that it was not given; equal runs give equal bytes.

use super::activity::{RunActivity, WAITS_SHOWN_MAX, short};
use super::chrome;
use super::critical_path::PathPart;
use crate::Layout;
use crate::html::escape;
use crate::pretty::Style;
use fozzy_trace::{Duration, NodeId, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Calls that a page shows; a trace viewer gets all that are kept.
const PAGE_CALLS_MAX: usize = 20_000;
/// The page's own style and script, behind the style that all pages have.
const STYLE: &str = concat!(include_str!("../suite/page.css"), include_str!("timeline/page.css"));
const SCRIPT: &str = include_str!("timeline/page.js");

/// Formats of `fozzy profile timeline`.
pub const TIMELINE_FORMATS: [&str; 3] = ["json", "html", "chrome"];

/// `fozzy.profile_timeline.v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileTimeline {
    /// Always `fozzy.profile_timeline.v1`.
    pub schema_version: String,
    /// The trace.
    pub run: String,
    /// json, html, chrome.
    pub format: String,
    /// Clocks of the events: virtual time alone.
    pub time_domains: Vec<String>,
    /// The events, for `json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<TimelineEvent>>,
    /// The page, or the trace of a viewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Calls and messages that are not shown, as there are too many.
    pub left_out: u64,
    /// What a reader has to know.
    pub warnings: Vec<String>,
}

/// A call, a wait or a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEvent {
    /// call, wait, message.
    pub kind: String,
    /// The machine; of a message, who sent it.
    pub machine: String,
    /// From when, in virtual ns.
    pub since_ns: u64,
    /// Until when.
    pub until_ns: u64,
    /// The import, or what was waited for.
    pub name: String,
    /// The number of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u64>,
    /// Arguments and answer; of a message its bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Who read the message, or was waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
}

impl ProfileTimeline {
    /// The timeline of a run in one of [`TIMELINE_FORMATS`].
    #[must_use]
    pub fn of(activity: &RunActivity, format: &str) -> ProfileTimeline {
        let content = match format {
            "html" => Some(page(activity)),
            "chrome" => Some(chrome::text(activity)),
            _ => None,
        };
        let events = content.is_none().then(|| events(activity));
        let waits = activity.spans.len().saturating_sub(WAITS_SHOWN_MAX) as u64;
        let calls = if format == "html" { activity.events.len().saturating_sub(PAGE_CALLS_MAX) as u64 } else { 0 };
        ProfileTimeline {
            schema_version: "fozzy.profile_timeline.v1".to_owned(),
            run: activity.run.clone(),
            format: format.to_owned(),
            time_domains: vec!["virtual".to_owned()],
            events,
            content,
            left_out: activity.left_out + waits + calls,
            warnings: activity.remarks.clone(),
        }
    }

    /// The same with its text, as it goes to a file.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.content {
            Some(content) => content.clone(),
            None => serde_json::to_string_pretty(self).expect("plain data") + "\n",
        }
    }
}

impl Layout for ProfileTimeline {
    fn lay_out(&self, _style: Style) -> String {
        self.text()
    }
}

fn events(activity: &RunActivity) -> Vec<TimelineEvent> {
    let calls = activity.events.iter().map(|call| TimelineEvent {
        kind: "call".to_owned(),
        machine: activity.name(call.entry.node),
        since_ns: call.since.0,
        until_ns: call.entry.at.0,
        name: call.entry.call.clone(),
        call: Some(call.entry.index),
        detail: format!("({}) -> {}", short(&call.entry.asked), short(&call.entry.answer)),
        peer: None,
    });
    let waits = activity.spans.iter().take(WAITS_SHOWN_MAX).map(|wait| TimelineEvent {
        kind: "wait".to_owned(),
        machine: activity.name(wait.node),
        since_ns: wait.since.0,
        until_ns: wait.until.0,
        name: wait.what.clone(),
        call: None,
        detail: wait.kind.name().to_owned(),
        peer: wait.of.map(|of| activity.name(of)),
    });
    let flows = activity.flows.iter().map(|flow| TimelineEvent {
        kind: "message".to_owned(),
        machine: activity.name(flow.from),
        since_ns: flow.sent.0,
        until_ns: flow.read.0,
        name: "message".to_owned(),
        call: None,
        detail: counted(flow.bytes, "byte"),
        peer: Some(activity.name(flow.to)),
    });
    let mut all: Vec<TimelineEvent> = calls.chain(waits).chain(flows).collect();
    all.sort_by_key(|event| (event.since_ns, event.until_ns));
    all
}

/// What the script of the page draws. Numbers of machines are places in `machines`.
fn data(activity: &RunActivity) -> Value {
    let machines = activity.machines();
    let place = |node: NodeId| machines.iter().position(|other| *other == node).unwrap_or(0);
    let calls: Vec<Value> = activity
        .events
        .iter()
        .take(PAGE_CALLS_MAX)
        .map(|call| {
            let entry = &call.entry;
            let detail = format!("({}) → {}", short(&entry.asked), short(&entry.answer));
            json!([place(entry.node), call.since.0, entry.at.0, entry.call, detail, entry.index])
        })
        .collect();
    let waits = activity.spans.iter().take(WAITS_SHOWN_MAX);
    let waits: Vec<Value> =
        waits.map(|wait| json!([place(wait.node), wait.since.0, wait.until.0, wait.kind.name(), wait.what])).collect();
    let flows: Vec<Value> = activity
        .flows
        .iter()
        .take(PAGE_CALLS_MAX)
        .map(|flow| json!([place(flow.from), flow.sent.0, place(flow.to), flow.read.0, flow.bytes]))
        .collect();
    let parts = activity.path.iter().flat_map(|path| &path.parts);
    let path: Vec<Value> = parts
        .map(|(since, until, part)| {
            let (node, doing, what) = match part {
                PathPart::Runs(node) => (*node, "runs", String::new()),
                PathPart::Waits(node, kind, what) => (*node, kind.name(), what.clone()),
                PathPart::Travels(from, to) => (*to, "travels", activity.name(*from)),
            };
            json!([place(node), since.0, until.0, doing, what])
        })
        .collect();
    let names: Vec<String> = machines.iter().map(|node| activity.name(*node)).collect();
    json!({ "end": activity.end.0, "machines": names, "calls": calls, "waits": waits, "flows": flows, "path": path })
}

fn page(activity: &RunActivity) -> String {
    // A text of the program cannot end the script.
    let data = data(activity).to_string().replace('<', "\\u003c");
    let (latency, io, sched) = (activity.latency(8), activity.io(8), activity.sched(usize::MAX));
    let card = |value: String, what: &str| {
        format!("<div class=\"card\"><strong>{}</strong><span>{}</span></div>", escape(&value), escape(what))
    };
    let calls: u64 = activity.calls.values().map(|times| times.durations.count).sum();
    let cards = [
        card(Duration(activity.end.0).to_string(), "virtual time"),
        card(crate::pretty::grouped(calls), "calls of the host"),
        card(crate::pretty::grouped(sched.machines.iter().map(|row| row.waits).sum()), "waits"),
        card(crate::pretty::grouped(io.read_bytes + io.written_bytes), "bytes moved"),
        card(crate::pretty::grouped(activity.flows.len() as u64), "messages"),
    ];
    let cell = |text: &str| format!("<td>{}</td>", escape(text));
    let rows: String = latency
        .critical_path
        .iter()
        .map(|part| {
            let what = match part.doing.as_str() {
                "runs" => format!("{} runs", part.machine),
                "waits" => format!("{} waits for {}", part.machine, part.what),
                _ => format!("on the way from {} to {}", part.what, part.machine),
            };
            let share = format!("{:.1} %", 100.0 * part.total_ns as f64 / activity.end.0.max(1) as f64);
            format!(
                "<tr>{}{}{}{}</tr>",
                cell(&Duration(part.total_ns).to_string()),
                cell(&share),
                cell(&part.count.to_string()),
                cell(&what)
            )
        })
        .collect();
    let waits: String = latency
        .waits
        .iter()
        .map(|wait| {
            let cells =
                [Duration(wait.total_ns).to_string(), Duration(wait.p99_ns).to_string(), wait.count.to_string()];
            let cells: String = cells.iter().map(|text| cell(text)).collect();
            format!("<tr>{cells}{}</tr>", cell(&format!("{} for {}", wait.machine, wait.awaited)))
        })
        .collect();
    let notes: String =
        activity.remarks.iter().map(|remark| format!("<p class=\"faint\">{}</p>", escape(remark))).collect();
    let run = escape(&activity.run);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Timeline of {run}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header><h1>Timeline</h1><p class=\"faint\">{run}</p></header>\n\
         <main>\n<div class=\"cards\">{}</div>\n\
         <div class=\"tools\"><button id=\"all\" type=\"button\">Show all</button><button id=\"in\" type=\"button\" aria-label=\"Zoom in\">+</button>\
         <button id=\"out\" type=\"button\" aria-label=\"Zoom out\">−</button><label><input id=\"messages\" type=\"checkbox\" checked> messages</label>\
         <label><input id=\"path\" type=\"checkbox\" checked> critical path</label><span id=\"legend\"></span></div>\n\
         <div id=\"stage\"><canvas id=\"view\" tabindex=\"0\" role=\"img\" aria-label=\"Calls, waits and messages of each machine over virtual time\"></canvas><div id=\"tip\" hidden></div></div>\n\
         <p class=\"faint\">Drag to move, turn the wheel to zoom, point at a mark for its call. The tables below say the same in numbers.</p>\n\
         <h2>Critical path</h2>\n<table><thead><tr><th>time</th><th>share</th><th>times</th><th>what</th></tr></thead><tbody>{rows}</tbody></table>\n\
         <h2>Waiting</h2>\n<table><thead><tr><th>total</th><th>p99</th><th>waits</th><th>who, for what</th></tr></thead><tbody>{waits}</tbody></table>\n\
         {notes}</main>\n<script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        cards.concat()
    )
}
