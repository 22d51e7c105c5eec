//! One run of several machines, played: what each machine, client and service did, step by step, with the messages between them.
//!
//! ```text
//! RunActivity ─┬▶ lanes (clients, machines, services), states of machines       ┌▶ a section of a page, drawn by page.js
//!              ├▶ messages: of connections and datagrams, or routed lines ──────┤
//!              └▶ operations with their messages, faults, lines of logs         └▶ lines (`trace show --messages`)
//! ```
//!
//! Invariants: equal runs give equal bytes; what is shown is bounded and what is left out is said; whatever a program calls its things, the
//! page stays the page that we wrote: the script sets text only.
//! Not here: who executes the run (`fozzy-campaign`), what routed lines say (`routed_lines`).

mod faults;
mod routed_lines;
#[cfg(test)]
mod tests;

use crate::html::visible;
use crate::profile::{DatagramFlow, NoteKind, RunActivity};
use faults::{FaultStretch, fault_stretches};
use fozzy_trace::facts::{Operation, OperationEnd};
use fozzy_trace::{Duration, Instant, NodeId, counted, cut, grouped};
use routed_lines::RoutedLines;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

const STYLE: &str = include_str!("playback/page.css");
const SCRIPT: &str = include_str!("playback/page.js");

/// Messages, operations, marks and waits, each, that a page has: a browser draws so many at once. The last ones are kept, since a run is
/// looked at for its end.
const SHOWN_MAX: usize = 10_000;
/// Bytes of a text in the page.
const TEXT_BYTES_MAX: usize = 240;
/// Places in the order of events between one note of the run and the next.
const NOTE_ORDER: u64 = 8;
/// The order of what comes last in its moment; a script reads such numbers exactly.
const LATE_ORDER: u64 = 1 << 50;

/// Who has a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum LaneKind {
    Client,
    Machine,
    Service,
}

/// A lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct PlaybackLane {
    name: String,
    kind: LaneKind,
}

/// A moment with its place in the order of events: several have one moment.
type OrderedMoment = (u64, u64);

/// A message: from which lane to which, when it was sent and received, what it is called, and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct PlaybackMessage {
    id: Option<u64>,
    from: usize,
    to: usize,
    sent: OrderedMoment,
    /// Nothing when it has not arrived.
    received: Option<OrderedMoment>,
    label: String,
    text: String,
}

/// An operation of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct PlaybackOperation {
    lane: usize,
    process: u32,
    name: String,
    asked: String,
    answered: String,
    /// `ok`, `fail`, `info`, or `open` when it has not ended.
    outcome: &'static str,
    begun: OrderedMoment,
    ended: Option<OrderedMoment>,
    /// Places of its request and its reply among the messages.
    request: Option<usize>,
    reply: Option<usize>,
}

/// Something that was said or happened on a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct PlaybackMark {
    lane: usize,
    at: OrderedMoment,
    kind: &'static str,
    text: String,
}

/// From when on a machine is in a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct LaneState {
    lane: usize,
    at: OrderedMoment,
    state: &'static str,
}

/// A machine has waited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct LaneWait {
    lane: usize,
    from: u64,
    to: u64,
    what: String,
}

/// What is played.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunPlayback {
    end: u64,
    lanes: Vec<PlaybackLane>,
    messages: Vec<PlaybackMessage>,
    operations: Vec<PlaybackOperation>,
    marks: Vec<PlaybackMark>,
    faults: Vec<FaultStretch>,
    states: Vec<LaneState>,
    waits: Vec<LaneWait>,
    /// Whether messages to services are placed between request and reply, as their own moments are not known.
    has_services: bool,
    #[serde(skip)]
    left_out: u64,
}

impl RunPlayback {
    /// Of a run that was executed again.
    #[must_use]
    pub fn of(activity: &RunActivity) -> RunPlayback {
        let mut playback = RunPlayback { end: activity.end.0, left_out: activity.left_out, ..RunPlayback::default() };
        let lines = activity.is_routed.then(|| RoutedLines::read(activity));
        let machines = activity.machines().into_iter().filter(|node| !activity.is_routed || *node != NodeId(0));
        let machines: Vec<NodeId> = machines.collect();
        let (clients, services) = lines.as_ref().map(RoutedLines::others).unwrap_or_default();
        let lane = |name: String, kind| PlaybackLane { name: visible(&cut(&name, TEXT_BYTES_MAX)), kind };
        let all = clients.iter().map(|name| lane(name.clone(), LaneKind::Client));
        let all = all.chain(machines.iter().map(|node| lane(activity.name(*node), LaneKind::Machine)));
        playback.lanes = all.chain(services.iter().map(|name| lane(name.clone(), LaneKind::Service))).collect();
        let machine_lane: BTreeMap<NodeId, usize> =
            machines.iter().enumerate().map(|(at, node)| (*node, clients.len() + at)).collect();
        let mut numbers: BTreeMap<String, usize> =
            clients.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
        numbers.extend(machine_lane.iter().map(|(node, at)| (activity.name(*node), *at)));
        let before = clients.len() + machines.len();
        numbers.extend(services.iter().enumerate().map(|(at, name)| (name.clone(), before + at)));
        playback.has_services = !services.is_empty();
        playback.faults = fault_stretches(activity);
        match lines {
            Some(lines) => playback.take_lines(lines, &numbers, activity),
            None => playback.take_flows(activity, &machine_lane),
        }
        playback.take_notes(activity, &machine_lane);
        playback.take_waits(activity, &machine_lane);
        playback.bound();
        playback
    }

    /// Whether there is nothing to be played: one machine alone, without operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lanes.len() < 2 || self.messages.is_empty() && self.operations.is_empty()
    }

    fn take_lines(&mut self, lines: RoutedLines, numbers: &BTreeMap<String, usize>, activity: &RunActivity) {
        let lane = |name: &str| numbers.get(name).copied().unwrap_or(0);
        let mut unused: BTreeMap<usize, (usize, String)> = BTreeMap::new();
        for message in &lines.messages {
            let at = self.messages.len();
            if message.is_request_of_client {
                unused.insert(at, (lane(&message.src), message.label.clone()));
            }
            self.messages.push(PlaybackMessage {
                id: message.id,
                from: lane(&message.src),
                to: lane(&message.dest),
                sent: message.sent,
                received: message.received,
                label: visible(&cut(&message.label, TEXT_BYTES_MAX)),
                text: visible(&cut(&message.text, TEXT_BYTES_MAX)),
            });
        }
        for (node, at, state) in lines.states {
            self.states.push(LaneState { lane: lane(&node), at, state });
        }
        let mut lanes_of_processes: BTreeMap<u32, usize> = BTreeMap::new();
        for operation in &activity.operations {
            let (name, begun) = (operation.operation.split(' ').next().unwrap_or_default(), operation.invoked.1.0);
            let asks = |label: &str| label == name || name == "assign" && label == "list_committed_offsets";
            // Requests of clients take no time: that of an operation is the first one of its type from then on.
            let found = unused.iter().find(|(at, (_, label))| {
                let sent = self.messages[**at].sent.0;
                asks(label) && sent >= begun && sent - begun <= REQUEST_WITHIN_NS
            });
            let request = found.map(|(at, _)| *at);
            let lane = match request {
                Some(at) => unused.remove(&at).map_or(0, |(lane, _)| lane),
                None => lanes_of_processes.get(&operation.client).copied().unwrap_or(0),
            };
            lanes_of_processes.insert(operation.client, lane);
            let reply = request.and_then(|at| lines.replies.get(&at).copied());
            let order = |at: Option<usize>, otherwise: u64| at.map_or(otherwise, |at| self.messages[at].sent.1);
            let begun_order = order(request, 0).saturating_sub(1);
            let ended_order = order(reply, LATE_ORDER) + 4;
            self.operations.push(played(operation, lane, (begun_order, ended_order), (request, reply)));
        }
    }

    fn take_flows(&mut self, activity: &RunActivity, lanes: &BTreeMap<NodeId, usize>) {
        let streams = activity.flows.iter().filter(|flow| flow.from != flow.to).map(|flow| {
            let label = counted(flow.bytes, "byte");
            ((flow.from, flow.to), flow.sent, Some(flow.read), label)
        });
        let mut all: Vec<_> = streams.chain(activity.datagrams.iter().flat_map(trips)).collect();
        all.sort_by_key(|(_, sent, ..)| *sent);
        for (number, ((from, to), sent, received, label)) in (0..).zip(all) {
            let (Some(from), Some(to)) = (lanes.get(&from), lanes.get(&to)) else { continue };
            let order = LATE_ORDER + 2 * number;
            self.messages.push(PlaybackMessage {
                id: None,
                from: *from,
                to: *to,
                sent: (sent.0, order),
                received: received.map(|at| (at.0, order + 1)),
                label,
                text: String::new(),
            });
        }
        for operation in &activity.operations {
            let lane = lanes.get(&NodeId(0)).copied().unwrap_or(0);
            self.operations.push(played(operation, lane, (0, LATE_ORDER), (None, None)));
        }
    }

    fn take_notes(&mut self, activity: &RunActivity, lanes: &BTreeMap<NodeId, usize>) {
        for (number, note) in (0..).zip(&activity.notes) {
            // Routed lines are messages.
            let is_routed = activity.is_routed && note.kind == NoteKind::Output;
            let lane = lanes.get(&note.node).copied();
            let lane = if note.kind == NoteKind::Finding { Some(lane.unwrap_or(0)) } else { lane };
            let Some(lane) = lane.filter(|_| !is_routed) else { continue };
            let text = visible(&cut(&note.text, TEXT_BYTES_MAX));
            let at = (note.at.0, number * NOTE_ORDER + 5);
            self.marks.push(PlaybackMark { lane, at, kind: note.kind.name(), text });
        }
        for (node, times) in &activity.machines {
            let Some(lane) = lanes.get(node).copied() else { continue };
            if let Some(at) = times.started {
                self.states.push(LaneState { lane, at: (at.0, 0), state: "up" });
            }
            if let Some(at) = times.ended {
                self.states.push(LaneState { lane, at: (at.0, LATE_ORDER), state: "ended" });
            }
        }
        self.states.sort_by_key(|state| (state.at, state.lane));
    }

    fn take_waits(&mut self, activity: &RunActivity, lanes: &BTreeMap<NodeId, usize>) {
        for span in &activity.spans {
            let Some(lane) = lanes.get(&span.node).copied() else { continue };
            let what = visible(&cut(&format!("{}: {}", span.kind.name(), span.what), TEXT_BYTES_MAX));
            self.waits.push(LaneWait { lane, from: span.since.0, to: span.until.0, what });
        }
    }

    /// Leaves out the first ones of what is too much.
    fn bound(&mut self) {
        let surplus = |length: usize| length.saturating_sub(SHOWN_MAX);
        let gone = surplus(self.messages.len());
        self.messages.drain(..gone);
        let kept = |at: Option<usize>| at.and_then(|at| at.checked_sub(gone));
        for operation in &mut self.operations {
            (operation.request, operation.reply) = (kept(operation.request), kept(operation.reply));
        }
        let [operations, marks, waits] = [self.operations.len(), self.marks.len(), self.waits.len()].map(surplus);
        self.operations.drain(..operations);
        self.marks.drain(..marks);
        self.waits.drain(..waits);
        self.left_out += (gone + operations + marks + waits) as u64;
    }

    /// As a part of a page, with what it needs.
    #[must_use]
    pub fn html(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        // In characters that end no element and start no comment.
        let json = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
        let mut remarks = String::new();
        if self.has_services {
            remarks.push_str(
                "When a message reaches a service is not recorded: it is drawn halfway between the request and the reply. ",
            );
        }
        if self.left_out > 0 {
            let _ = write!(remarks, "{} events are left out, the first ones. ", grouped(self.left_out));
        }
        format!(
            "<style>\n{STYLE}</style>\n<section class=\"playback\" data-playback>\n\
             <noscript><p>The run is played by a script, which is switched off.</p></noscript>\n\
             <div class=\"stage\"></div>\n<p class=\"faint\">{remarks}</p>\n\
             <script type=\"application/json\">{json}</script>\n</section>\n<script>\n{SCRIPT}</script>\n"
        )
    }

    /// Messages, operations, faults and lines of logs, one line each in their order.
    #[must_use]
    pub fn lines(&self) -> String {
        let mut rows: Vec<(OrderedMoment, String)> = Vec::new();
        let name = |lane: usize| self.lanes.get(lane).map_or("", |lane| lane.name.as_str());
        let width = self.lanes.iter().map(|lane| lane.name.chars().count()).max().unwrap_or(0).min(16);
        for message in &self.messages {
            let (from, to) = (name(message.from), name(message.to));
            let id = message.id.map_or_else(String::new, |id| format!("#{id} "));
            let (label, text) = (&message.label, &message.text);
            let ended = match message.received {
                Some((at, _)) if at == message.sent.0 => String::new(),
                Some((at, _)) => format!(", received after {}", Duration(at - message.sent.0)),
                None => ", not received".to_owned(),
            };
            let text = if text.is_empty() { String::new() } else { format!("  {text}") };
            rows.push((message.sent, format!("{from:>width$} -> {to:<width$}  {id}{label}{ended}{text}")));
        }
        for operation in &self.operations {
            let PlaybackOperation { lane, process, name: function, asked, answered, outcome, .. } = operation;
            let lane = name(*lane);
            rows.push((operation.begun, format!("{lane:>width$}    process {process} begins {function} {asked}")));
            if let Some(ended) = operation.ended {
                let words = format!("process {process} ends {function}: {outcome} {answered}");
                rows.push((ended, format!("{lane:>width$}    {words}")));
            }
        }
        for mark in &self.marks {
            let lane = name(mark.lane);
            rows.push((mark.at, format!("{lane:>width$}    {}: {}", mark.kind, mark.text)));
        }
        for fault in &self.faults {
            rows.push((fault.begun, format!("{:>width$}  ! {} {}", "", fault.name, fault.text)));
            if let Some(ended) = fault.ended.filter(|ended| *ended != fault.begun) {
                rows.push((ended, format!("{:>width$}  ! end of {}", "", fault.name)));
            }
        }
        rows.sort_by_key(|(at, _)| *at);
        let line = |(at, words): &(OrderedMoment, String)| {
            let moment = Duration(at.0).to_string();
            format!("{moment:>16}  {}\n", words.trim_end())
        };
        let mut text: String = rows.iter().map(line).collect();
        if self.left_out > 0 {
            let _ = writeln!(text, "{} events are left out, the first ones", grouped(self.left_out));
        }
        text
    }
}

/// A message between two machines: when it was sent and received, and what it is called.
type Trip = ((NodeId, NodeId), Instant, Option<Instant>, String);

/// The ways that a datagram has gone: one, or as many as it had copies.
fn trips(datagram: &DatagramFlow) -> impl Iterator<Item = Trip> {
    let DatagramFlow { from, sent, to, bytes, copies, is_late, received } = datagram;
    let fate = match (copies, is_late) {
        (0, _) => ", lost",
        (_, true) => ", held back",
        (_, false) => "",
    };
    (0..(*copies).max(1)).map(move |copy| {
        let again = if copy > 0 { ", once more" } else { "" };
        let label = format!("datagram of {}{again}{fate}", counted(*bytes, "byte"));
        ((*from, *to), *sent, received.get(copy as usize).copied(), label)
    })
}

/// How long after its beginning an operation's request can be read by a node that is up: none but that of readings of clocks.
const REQUEST_WITHIN_NS: u64 = 1_000_000;

fn played(
    operation: &Operation,
    lane: usize,
    (begun, ended): (u64, u64),
    (request, reply): (Option<usize>, Option<usize>),
) -> PlaybackOperation {
    let (outcome, answered) = match &operation.end {
        Some((OperationEnd::Ok(words), ..)) => ("ok", words.as_str()),
        Some((OperationEnd::Fail(words), ..)) => ("fail", words.as_str()),
        Some((OperationEnd::Info(words), ..)) => ("info", words.as_str()),
        None => ("open", ""),
    };
    PlaybackOperation {
        lane,
        process: operation.client,
        name: visible(&cut(&operation.operation, TEXT_BYTES_MAX)),
        asked: visible(&cut(&operation.input, TEXT_BYTES_MAX)),
        answered: visible(&cut(answered, TEXT_BYTES_MAX)),
        outcome,
        begun: (operation.invoked.1.0, begun),
        ended: operation.end.as_ref().map(|(_, _, at)| (at.0, ended)),
        request,
        reply,
    }
}
