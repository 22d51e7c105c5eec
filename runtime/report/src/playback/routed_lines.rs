//! Messages of nodes whose lines go by way of the main machine, put together from what machines print.
//!
//! ```text
//! n0 prints    {"src":"n0","dest":"n1","body":…}         n0 sends
//! main prints  n1 {"id":7,"src":"n0","dest":"n1",…}      n1 receives it: the first that was sent so and not received
//!              n1 {"id":8,"src":"c3",…}                  a client's takes no time
//!              !kill n1                                  what becomes of n1
//! ```
//!
//! Invariant: no journal of the run is needed, so each trace can be played.

use super::{NOTE_ORDER, OrderedMoment};
use crate::profile::{NoteKind, RunActivity};
use fozzy_trace::NodeId;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes of a body by which a message is known again: of long lines only the beginning is kept.
const BODY_BYTES: usize = 400;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RoutedMessage {
    pub(super) id: Option<u64>,
    pub(super) src: String,
    pub(super) dest: String,
    pub(super) sent: OrderedMoment,
    pub(super) received: Option<OrderedMoment>,
    pub(super) label: String,
    pub(super) text: String,
    /// Whether a client asks for something that is an operation.
    pub(super) is_request_of_client: bool,
}

/// All messages of a run.
#[derive(Debug, Default)]
pub(super) struct RoutedLines {
    pub(super) messages: Vec<RoutedMessage>,
    /// By the place of a client's request, that of its reply.
    pub(super) replies: BTreeMap<usize, usize>,
    /// States of machines.
    pub(super) states: Vec<(String, OrderedMoment, &'static str)>,
    machines: BTreeSet<String>,
    names: Vec<String>,
    /// Sent and not received, by sender, receiver and the beginning of the body.
    pending: BTreeMap<(String, String, String), VecDeque<usize>>,
    /// Requests, by who asked whom, and the number.
    requests: BTreeMap<(String, u64), usize>,
}

/// What a line says, as far as it is needed.
struct LineParts<'a> {
    id: Option<u64>,
    src: String,
    dest: String,
    body: Cow<'a, str>,
    label: String,
    msg_id: Option<u64>,
    in_reply_to: Option<u64>,
}

impl RoutedLines {
    pub(super) fn read(activity: &RunActivity) -> RoutedLines {
        let machines = activity.machines().into_iter().filter(|node| *node != NodeId(0));
        let mut lines =
            RoutedLines { machines: machines.map(|node| activity.name(node)).collect(), ..RoutedLines::default() };
        for (number, note) in (0..).zip(&activity.notes) {
            if note.kind != NoteKind::Output {
                continue;
            }
            let at = (note.at.0, number * NOTE_ORDER + 1);
            match note.node {
                NodeId(0) => lines.routed(&note.text, at),
                node => lines.printed(&activity.name(node), &note.text, at),
            }
        }
        lines
    }

    /// Names that are those of no machine: clients, and services with whoever else is asked.
    pub(super) fn others(&self) -> (Vec<String>, Vec<String>) {
        let others = self.names.iter().filter(|name| !self.machines.contains(*name)).cloned();
        let (mut clients, services): (Vec<String>, Vec<String>) = others.partition(|name| is_client(name));
        // `c3` before `c10`.
        clients.sort_by_key(|name| (name.len(), name.clone()));
        (clients, services)
    }

    fn know(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    /// A machine has printed a line.
    fn printed(&mut self, node: &str, line: &str, at: OrderedMoment) {
        let Some(parts) = LineParts::read(line) else { return };
        self.know(&parts.dest);
        let received = is_client(&parts.dest).then_some((at.0, at.1 + 1));
        let place = self.push(&parts, node.to_owned(), at, received);
        match (parts.in_reply_to, received) {
            (Some(answered), Some(_)) => {
                if let Some(request) = self.requests.get(&(parts.dest.clone(), answered)) {
                    self.replies.entry(*request).or_insert(place);
                }
            }
            _ => {
                if let Some(number) = parts.msg_id {
                    self.requests.insert((node.to_owned(), number), place);
                }
                let key = (node.to_owned(), parts.dest.clone(), beginning(&parts.body));
                self.pending.entry(key).or_default().push_back(place);
            }
        }
    }

    /// The router has printed a line.
    fn routed(&mut self, line: &str, at: OrderedMoment) {
        if let Some(order) = line.strip_prefix('!') {
            let mut words = order.split(' ');
            let (order, node) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let state = match order {
                "kill" => "killed",
                "power-loss" => "without power",
                "pause" => "paused",
                "start" | "resume" => "up",
                _ => return,
            };
            return self.states.push((node.to_owned(), at, state));
        }
        let Some((node, line)) = line.split_once(' ') else { return };
        let Some(parts) = LineParts::read(line) else { return };
        self.know(&parts.src);
        let key = (parts.src.clone(), node.to_owned(), beginning(&parts.body));
        let pending = self.pending.get_mut(&key).and_then(VecDeque::pop_front);
        let received = Some((at.0, at.1 + 1));
        if let Some(place) = pending {
            (self.messages[place].received, self.messages[place].id) = (received, parts.id);
            return;
        }
        // Of a client, of a service, or one that comes twice.
        let request = parts.in_reply_to.and_then(|answered| self.requests.get(&(node.to_owned(), answered)).copied());
        let request = request.filter(|at| !self.machines.contains(&parts.src) && self.messages[*at].received.is_none());
        let sent = match request {
            Some(request) => {
                let sent = self.messages[request].sent;
                let middle = (u64::midpoint(sent.0, at.0), at.1);
                self.messages[request].received = Some(middle);
                (middle.0, middle.1 + 1)
            }
            None => at,
        };
        let place = self.push(&parts, parts.src.clone(), sent, received);
        if let Some(number) = parts.msg_id.filter(|_| is_client(&parts.src)) {
            self.requests.insert((parts.src.clone(), number), place);
        }
    }

    fn push(
        &mut self,
        parts: &LineParts<'_>,
        src: String,
        sent: OrderedMoment,
        received: Option<OrderedMoment>,
    ) -> usize {
        let sets_up = ["init", "topology", "commit_offsets"].contains(&parts.label.as_str());
        let is_request_of_client = is_client(&src) && !sets_up;
        self.messages.push(RoutedMessage {
            id: parts.id,
            src,
            dest: parts.dest.clone(),
            sent,
            received,
            label: parts.label.clone(),
            text: parts.body.clone().into_owned(),
            is_request_of_client,
        });
        self.messages.len() - 1
    }
}

fn is_client(name: &str) -> bool {
    name.starts_with('c')
}

fn beginning(body: &str) -> String {
    body.chars().take(BODY_BYTES).collect()
}

impl<'a> LineParts<'a> {
    /// Reads a line, which may be cut.
    fn read(line: &'a str) -> Option<LineParts<'a>> {
        let at = line.find("\"body\":")? + "\"body\":".len();
        let body = line[at..].trim_start();
        let (head, whole) = (serde_json::from_str::<Value>(line).ok(), &line[..at]);
        // Keys before the body, and of what is whole all of them.
        let text = |of: &str, key: &str| -> Option<String> {
            let from = of.find(&format!("\"{key}\":"))? + key.len() + 3;
            let quoted = of[from..].trim_start().strip_prefix('"')?;
            Some(quoted.split('"').next()?.to_owned())
        };
        let number = |of: &str, key: &str| -> Option<u64> {
            let from = of.find(&format!("\"{key}\":"))? + key.len() + 3;
            let rest = of[from..].trim_start();
            rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
        };
        let parts = match &head {
            Some(message) => {
                let text = |key: &str| message[key].as_str().map(str::to_owned);
                let inside = &message["body"];
                LineParts {
                    id: message["id"].as_u64(),
                    src: text("src").unwrap_or_default(),
                    dest: text("dest")?,
                    body: inside.to_string().into(),
                    label: inside["type"].as_str().unwrap_or_default().to_owned(),
                    msg_id: inside["msg_id"].as_u64(),
                    in_reply_to: inside["in_reply_to"].as_u64(),
                }
            }
            None => LineParts {
                id: number(whole, "id"),
                src: text(line, "src").unwrap_or_default(),
                dest: text(line, "dest")?,
                body: body.into(),
                label: text(body, "type").unwrap_or_default(),
                msg_id: number(body, "msg_id"),
                in_reply_to: number(body, "in_reply_to"),
            },
        };
        Some(parts)
    }
}
