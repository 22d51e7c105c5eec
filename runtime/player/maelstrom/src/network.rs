//! The network of the nodes: what is on its way, for how long, and what does not arrive.
//!
//! ```text
//! sent ─▶ counted ─▶ lost? ─▶ on its way for its latency ─▶ cut off? ─▶ counted ─▶ arrives
//! ```
//!
//! As in Maelstrom, messages of clients take no time and are never lost, and a partition is looked at when a message is received: what was
//! on its way when one begins is lost, and what is sent during it and due after it arrives.
//!
//! Invariants: which of several due messages arrives first is a choice; without losses, latencies and partitions nothing else is asked.

use crate::packet_faults::PacketFaults;
use crate::partition::{Partition, Swizzle};
use crate::protocol::write_json;
use fozzy_scenario_file::{LatencyDistribution, MaelstromOptions, PartitionMoment};
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;
/// How long a slow node takes for a message.
const SLOW_NODE: u64 = 100 * MS;
/// Of those that are due together, so many are chosen from.
const CHOICE_MAX: usize = 16;

/// A message.
#[derive(Clone)]
pub struct NodeMessage {
    /// Its number, in the order in which they were sent.
    pub id: u64,
    /// Who sent it.
    pub src: String,
    /// For whom it is.
    pub dest: String,
    /// What it says, in JSON.
    pub body: String,
    /// When a slow node takes it.
    pub waited_for: Option<u64>,
}

impl NodeMessage {
    /// As a node reads it.
    pub fn line(&self) -> String {
        let mut line = Vec::new();
        self.write(&mut line);
        String::from_utf8(line).expect("names and bodies are text")
    }

    /// The same, behind what is there.
    pub fn write(&self, line: &mut Vec<u8>) {
        let NodeMessage { id, src, dest, body, .. } = self;
        line.extend_from_slice(b"{\"id\":");
        write_json(line, id);
        line.extend_from_slice(b",\"src\":");
        write_json(line, src);
        line.extend_from_slice(b",\"dest\":");
        write_json(line, dest);
        line.extend_from_slice(b",\"body\":");
        line.extend_from_slice(body.as_bytes());
        line.push(b'}');
    }

    fn is_of_client(&self) -> bool {
        is_client(&self.src) || is_client(&self.dest)
    }
}

/// Whether a name is that of a client.
pub fn is_client(name: &str) -> bool {
    name.starts_with('c')
}

/// What was sent and received.
#[derive(Default)]
struct Traffic {
    sent: u64,
    received: u64,
}

pub struct MessageNetwork {
    /// By when they arrive, and by the order in which they were put there.
    queue: BTreeMap<(u64, u64), NodeMessage>,
    queued: u64,
    /// What arrives when nodes hear again.
    held: Vec<NodeMessage>,
    next_id: u64,
    latency: u64,
    distribution: LatencyDistribution,
    p_loss: f64,
    /// Whether what becomes of each message is printed.
    is_journaled: bool,
    partition_at: PartitionMoment,
    pub partition: Partition,
    /// The same, in one direction.
    pub one_way: Partition,
    pub faults: PacketFaults,
    /// Nodes that are cut off one after the other.
    pub swizzle: Swizzle,
    /// Nodes that take long for each message, and from when on they can take another one.
    pub slow_nodes: BTreeMap<String, u64>,
    /// Nodes whose programs are gone: nobody gets what is for them.
    pub down: BTreeSet<String>,
    clients: Traffic,
    servers: Traffic,
}

impl MessageNetwork {
    pub fn new(options: &MaelstromOptions) -> MessageNetwork {
        MessageNetwork {
            queue: BTreeMap::new(),
            queued: 0,
            held: Vec::new(),
            next_id: 0,
            latency: options.latency,
            distribution: options.latency_dist,
            p_loss: options.p_loss,
            is_journaled: options.journal,
            partition_at: options.partition_at,
            partition: Partition::default(),
            one_way: Partition::default(),
            faults: PacketFaults::new(&options.nemesis_targets),
            swizzle: Swizzle::default(),
            slow_nodes: BTreeMap::new(),
            down: BTreeSet::new(),
            clients: Traffic::default(),
            servers: Traffic::default(),
        }
    }

    /// Sends a message now; the answer is its number.
    pub fn send(&mut self, now: u64, src: &str, dest: &str, body: String) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let message = NodeMessage { id, src: src.to_owned(), dest: dest.to_owned(), body, waited_for: None };
        self.note(now, "send", &message);
        if message.is_of_client() {
            self.clients.sent += 1;
            self.put(now, message);
            return id;
        }
        self.servers.sent += 1;
        if self.p_loss > 0.0 && draws::bool("loss", self.p_loss) || self.faults.loses(src, dest) {
            self.note(now, "lost", &message);
            return id;
        }
        if self.partition_at == PartitionMoment::Send && self.cuts(&message) {
            self.note(now, "lost", &message);
            return id;
        }
        if self.faults.doubles(src, dest) {
            let due = self.draw_due(now, &message);
            self.put(due, message.clone());
        }
        let due = self.draw_due(now, &message);
        self.put(due, message);
        id
    }

    /// A message to a node whose program has just started again, which is there at once. What was on its way to the program before it is lost,
    /// as in Maelstrom.
    pub fn hand_over(&mut self, now: u64, src: &str, dest: &str, body: String) -> NodeMessage {
        let waiting = self.queue.iter().filter(|(_, message)| message.dest == dest);
        for key in waiting.map(|(key, _)| *key).collect::<Vec<_>>() {
            let message = self.queue.remove(&key).expect("it was there");
            self.note(now, "lost", &message);
        }
        let (lost, held) = std::mem::take(&mut self.held).into_iter().partition(|message| message.dest == dest);
        self.held = held;
        let lost: Vec<NodeMessage> = lost;
        lost.iter().for_each(|message| self.note(now, "lost", message));
        let message =
            NodeMessage { id: self.next_id, src: src.to_owned(), dest: dest.to_owned(), body, waited_for: None };
        self.next_id += 1;
        (self.clients.sent, self.clients.received) = (self.clients.sent + 1, self.clients.received + 1);
        self.note(now, "send", &message);
        self.note(now, "receive", &message);
        message
    }

    /// Prints what becomes of a message, if that is wanted.
    fn note(&self, now: u64, event: &str, message: &NodeMessage) {
        if self.is_journaled {
            eprintln!("{{\"at\":{now},\"event\":\"{event}\",{}", &message.line()[1..]);
        }
    }

    fn put(&mut self, due: u64, message: NodeMessage) {
        self.queue.insert((due, self.queued), message);
        self.queued += 1;
    }

    /// Nodes hear again, and get what they have not heard.
    pub fn release(&mut self, now: u64) {
        self.faults.jammed.clear();
        for message in std::mem::take(&mut self.held) {
            self.put(now, message);
        }
    }

    fn cuts(&self, message: &NodeMessage) -> bool {
        let NodeMessage { src, dest, .. } = message;
        self.partition.cuts(src, dest) || self.one_way.cuts(src, dest) || self.swizzle.cuts(src, dest)
    }

    fn draw_due(&self, now: u64, message: &NodeMessage) -> u64 {
        let late = self.faults.lateness(&message.src, &message.dest);
        now.saturating_add(self.draw_latency().saturating_add(late).saturating_mul(MS))
    }

    /// Milliseconds.
    fn draw_latency(&self) -> u64 {
        /// Steps between 0 and 1.
        const STEPS: i64 = 1 << 30;
        match self.distribution {
            _ if self.latency == 0 => 0,
            LatencyDistribution::Constant => self.latency,
            LatencyDistribution::Uniform => {
                let most = i64::try_from(self.latency.saturating_mul(2)).unwrap_or(i64::MAX);
                draws::int("latency", 0, most).unsigned_abs()
            }
            LatencyDistribution::Exponential => {
                let share = draws::int("latency", 0, STEPS - 1) as f64 / STEPS as f64;
                (-(1.0 - share).ln() * self.latency as f64) as u64
            }
        }
    }

    /// It is this moment now.
    pub fn advance(&mut self, now: u64) {
        self.swizzle.now = now;
    }

    /// When the next message arrives.
    pub fn next_due(&self) -> Option<u64> {
        self.queue.keys().next().map(|(due, _)| *due)
    }

    /// Takes a message that is due and not cut off.
    pub fn receive(&mut self, now: u64) -> Option<NodeMessage> {
        loop {
            let due = || self.queue.keys().take_while(|(due, _)| *due <= now).copied().take(CHOICE_MAX);
            let chosen = match due().count() {
                0 => return None,
                1 => 0,
                several => draws::choose("next message", several as u64) as usize,
            };
            let key = due().nth(chosen)?;
            let message = self.queue.remove(&key).expect("it was there");
            if self.down.contains(&message.dest) {
                self.note(now, "lost", &message);
                continue;
            }
            if let Some(free) = self.slow_nodes.get_mut(&message.dest)
                && message.waited_for != Some(now)
            {
                let due = now.max(*free).saturating_add(SLOW_NODE);
                *free = due;
                self.put(due, NodeMessage { waited_for: Some(due), ..message });
                continue;
            }
            if message.is_of_client() {
                self.clients.received += 1;
                self.note(now, "receive", &message);
                return Some(message);
            }
            if self.faults.jammed.contains(&message.dest) {
                self.held.push(message);
                continue;
            }
            if self.partition_at == PartitionMoment::Send || !self.cuts(&message) {
                self.servers.received += 1;
                self.note(now, "receive", &message);
                return Some(message);
            }
            self.note(now, "lost", &message);
        }
    }

    /// What was sent and received; and by operation, of which there were so many.
    pub fn report(&self, operations: u64) -> Value {
        let of = |sent: u64, received: u64| {
            let by_operation = if operations == 0 { 0.0 } else { sent as f64 / operations as f64 };
            json!({"send-count": sent, "recv-count": received, "msg-count": sent, "msgs-per-op": by_operation})
        };
        let (clients, servers) = (&self.clients, &self.servers);
        json!({
            "all": of(clients.sent + servers.sent, clients.received + servers.received),
            "clients": of(clients.sent, clients.received),
            "servers": of(servers.sent, servers.received),
        })
    }
}
