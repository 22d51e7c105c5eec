//! Traces of OpenTelemetry: a resource for each machine, with a span for its life, below it one for each call, wait, turn and message.
//! <https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto>
//!
//! ```text
//! service main     main ─┬─ wasi:io/poll.poll          lines of output, faults and findings are events of the machine's span
//!                        ├─ message (producer) ╌╌╌╌╮
//! service server   server ─ message (consumer) ◀╌╌╌╯   a link
//! ```
//!
//! Invariants: the ids follow from the run and the order of its spans, so that equal runs give equal bytes; times are those of the run's own
//! wall clock.

use super::activity::{NoteKind, RunActivity, WAITS_SHOWN_MAX, short};
use super::protobuf::Message;
use fozzy_trace::{Instant, NodeId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `SpanKind` of the format.
#[derive(Clone, Copy)]
enum SpanKind {
    Internal = 1,
    Client = 3,
    Producer = 4,
    Consumer = 5,
}

/// `STATUS_CODE_ERROR`.
const STATUS_ERROR: u64 = 2;

enum AttributeValue {
    Text(String),
    Number(u64),
}

type Attributes = Vec<(&'static str, AttributeValue)>;

struct Span {
    id: u64,
    /// 0 for the span of a machine.
    parent: u64,
    name: String,
    kind: SpanKind,
    since: Instant,
    until: Instant,
    attributes: Attributes,
    /// What is told at a moment.
    events: Vec<(Instant, &'static str, String)>,
    /// The span that caused it.
    link: Option<u64>,
    /// Why it failed.
    error: Option<String>,
}

fn text(value: &str) -> AttributeValue {
    AttributeValue::Text(short(value))
}

/// Spans of each machine.
fn spans(activity: &RunActivity) -> Vec<(String, Vec<Span>)> {
    let nodes = activity.machines();
    let root = |node: NodeId| nodes.iter().position(|other| *other == node).unwrap_or(0) as u64 + 1;
    let mut all: BTreeMap<NodeId, Vec<Span>> =
        nodes.iter().map(|node| (*node, vec![life(activity, *node, root(*node))])).collect();
    let mut last = nodes.len() as u64;
    let mut add = |node: NodeId, name: &str, kind, (since, until): (Instant, Instant), attributes, link| {
        last += 1;
        let span = Span {
            id: last,
            parent: root(node),
            name: name.to_owned(),
            kind,
            since,
            until,
            attributes,
            events: Vec::new(),
            link,
            error: None,
        };
        all.entry(node).or_default().push(span);
        last
    };
    let of_task = |task: Option<u64>| task.map(|task| ("fozzy.task", AttributeValue::Number(task)));
    for call in &activity.events {
        let entry = &call.entry;
        let mut attributes = vec![
            ("fozzy.call", AttributeValue::Number(entry.index)),
            ("fozzy.asked", text(&entry.asked)),
            ("fozzy.answer", text(&entry.answer)),
        ];
        attributes.extend(of_task(call.task));
        add(entry.node, &entry.call, SpanKind::Client, (call.since, entry.at), attributes, None);
    }
    for wait in activity.spans.iter().take(WAITS_SHOWN_MAX) {
        let mut attributes = vec![("fozzy.wait", text(wait.kind.name()))];
        attributes.extend(wait.of.map(|of| ("fozzy.awaited", text(&activity.name(of)))));
        add(
            wait.node,
            &format!("wait for {}", wait.what),
            SpanKind::Internal,
            (wait.since, wait.until),
            attributes,
            None,
        );
    }
    for turn in &activity.turns {
        let name = turn.task.map_or("turn".to_owned(), |task| format!("task {task}"));
        add(
            turn.node,
            &name,
            SpanKind::Internal,
            (turn.since, turn.until),
            of_task(turn.task).into_iter().collect(),
            None,
        );
    }
    for flow in &activity.flows {
        let bytes = || vec![("messaging.message.body.size", AttributeValue::Number(flow.bytes))];
        let sent = add(flow.from, "message sent", SpanKind::Producer, (flow.sent, flow.sent), bytes(), None);
        add(flow.to, "message read", SpanKind::Consumer, (flow.read, flow.read), bytes(), Some(sent));
    }
    all.into_iter().map(|(node, spans)| (activity.name(node), spans)).collect()
}

/// The span of a machine from its start to its end.
fn life(activity: &RunActivity, node: NodeId, id: u64) -> Span {
    let times = activity.machines.get(&node);
    let since = times.and_then(|times| times.started).unwrap_or(Instant::START);
    let until = times.and_then(|times| times.ended).unwrap_or(activity.end);
    let notes = || activity.notes.iter().filter(|note| note.node == node);
    Span {
        id,
        parent: 0,
        name: activity.name(node),
        kind: SpanKind::Internal,
        since,
        until: until.max(since),
        attributes: vec![("fozzy.run", text(&activity.run))],
        events: notes().map(|note| (note.at, note.kind.name(), short(&note.text))).collect(),
        link: None,
        error: notes().find(|note| note.kind == NoteKind::Finding).map(|note| short(&note.text)),
    }
}

/// `TracesData` in the JSON encoding of Protocol Buffers, with the exceptions of OTLP: ids are hexadecimal digits.
pub(super) fn write_json(activity: &RunActivity) -> Vec<u8> {
    let resources: Vec<Value> = spans(activity)
        .into_iter()
        .map(|(machine, spans)| {
            let spans: Vec<Value> = spans.iter().map(|span| span_json(activity, span)).collect();
            let resource = attributes_json(&vec![("service.name", AttributeValue::Text(machine))]);
            json!({ "resource": { "attributes": resource }, "scopeSpans": [{ "scope": { "name": "fozzy" }, "spans": spans }] })
        })
        .collect();
    let mut text = json!({ "resourceSpans": resources }).to_string();
    text.push('\n');
    text.into_bytes()
}

fn attributes_json(attributes: &Attributes) -> Value {
    let value = |value: &AttributeValue| match value {
        AttributeValue::Text(text) => json!({ "stringValue": text }),
        AttributeValue::Number(number) => json!({ "intValue": int64(*number).to_string() }),
    };
    attributes.iter().map(|(key, it)| json!({ "key": key, "value": value(it) })).collect()
}

/// Numbers of the format have a sign.
fn int64(number: u64) -> u64 {
    number.min(i64::MAX as u64)
}

fn unix_ns(activity: &RunActivity, at: Instant) -> u64 {
    activity.wall_start_ns.saturating_add(at.0)
}

fn span_json(activity: &RunActivity, span: &Span) -> Value {
    let id = |id: u64| format!("{id:016x}");
    let time = |at: Instant| unix_ns(activity, at).to_string();
    let trace = format!("{:032x}", activity.identity);
    let mut written = json!({
        "traceId": trace, "spanId": id(span.id), "name": span.name, "kind": span.kind as u64,
        "startTimeUnixNano": time(span.since), "endTimeUnixNano": time(span.until), "attributes": attributes_json(&span.attributes),
    });
    if span.parent != 0 {
        written["parentSpanId"] = json!(id(span.parent));
    }
    if !span.events.is_empty() {
        let event = |(at, name, said): &(Instant, &str, String)| json!({ "timeUnixNano": time(*at), "name": name, "attributes": [{ "key": "message", "value": { "stringValue": said } }] });
        written["events"] = span.events.iter().map(event).collect();
    }
    if let Some(link) = span.link {
        written["links"] = json!([{ "traceId": trace, "spanId": id(link) }]);
    }
    if let Some(error) = &span.error {
        written["status"] = json!({ "code": STATUS_ERROR, "message": error });
    }
    written
}

/// The message `TracesData`.
pub(super) fn write_protobuf(activity: &RunActivity) -> Vec<u8> {
    let mut traces = Message::default();
    for (machine, spans) in spans(activity) {
        let mut scope = Message::default();
        scope.bytes(1, b"fozzy");
        let mut scope_spans = Message::default();
        scope_spans.bytes(1, &scope.0);
        spans.iter().for_each(|span| scope_spans.bytes(2, &span_message(activity, span).0));
        let mut resource = Message::default();
        write_attributes(&mut resource, 1, &[("service.name", AttributeValue::Text(machine))]);
        let mut written = Message::default();
        written.bytes(1, &resource.0);
        written.bytes(2, &scope_spans.0);
        traces.bytes(1, &written.0);
    }
    traces.0
}

fn write_attributes(to: &mut Message, field: u64, attributes: &[(&'static str, AttributeValue)]) {
    for (key, it) in attributes {
        let mut value = Message::default();
        match it {
            AttributeValue::Text(text) => value.bytes(1, text.as_bytes()),
            AttributeValue::Number(number) => value.chosen(3, int64(*number)),
        }
        let mut pair = Message::default();
        pair.bytes(1, key.as_bytes());
        pair.bytes(2, &value.0);
        to.bytes(field, &pair.0);
    }
}

fn span_message(activity: &RunActivity, span: &Span) -> Message {
    let trace = activity.identity.to_be_bytes();
    let mut written = Message::default();
    written.bytes(1, &trace);
    written.bytes(2, &span.id.to_be_bytes());
    if span.parent != 0 {
        written.bytes(4, &span.parent.to_be_bytes());
    }
    written.bytes(5, span.name.as_bytes());
    written.number(6, span.kind as u64);
    written.fixed(7, unix_ns(activity, span.since));
    written.fixed(8, unix_ns(activity, span.until));
    write_attributes(&mut written, 9, &span.attributes);
    for (at, name, said) in &span.events {
        let mut event = Message::default();
        event.fixed(1, unix_ns(activity, *at));
        event.bytes(2, name.as_bytes());
        write_attributes(&mut event, 3, &[("message", AttributeValue::Text(said.clone()))]);
        written.bytes(11, &event.0);
    }
    if let Some(id) = span.link {
        let mut link = Message::default();
        link.bytes(1, &trace);
        link.bytes(2, &id.to_be_bytes());
        written.bytes(13, &link.0);
    }
    if let Some(error) = &span.error {
        let mut status = Message::default();
        status.bytes(2, error.as_bytes());
        status.number(3, STATUS_ERROR);
        written.bytes(15, &status.0);
    }
    written
}
