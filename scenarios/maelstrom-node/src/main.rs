//! A node of the Maelstrom protocol: echo, unique ids, broadcast, a set that grows, and counters.
//!
//! ```text
//! client ── add 3 ──▶ n0 ── gossip {"n0":[…]} ──▶ n1, n2        what a node knows goes to all others
//! ```
//!
//! The planted faults: identifiers that do not say which node made them, and gossip that is sent once.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use wasip2::cli::stdin::get_stdin;
use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::io::poll::poll;

/// How often a node repeats what it knows.
const GOSSIP_NS: u64 = 200_000_000;
/// Whether the planted faults are mended.
const IS_FIXED: bool = cfg!(feature = "fixed");

#[derive(Default)]
struct Node {
    name: String,
    others: Vec<String>,
    generated: u64,
    /// Whether clients call what they read messages.
    is_broadcast: bool,
    /// Whether what they read is a sum, as the program's argument says.
    is_counter: bool,
    /// Messages of a broadcast, or elements of a set, in the order in which they came.
    elements: Vec<Value>,
    /// By node, what was added there: what grew, and what shrank.
    added: BTreeMap<String, (i64, i64)>,
}

impl Node {
    fn handle(&mut self, message: &Value) {
        let body = &message["body"];
        match body["type"].as_str().unwrap_or_default() {
            "init" => {
                self.name = body["node_id"].as_str().unwrap_or_default().to_owned();
                let all = body["node_ids"].as_array().into_iter().flatten().filter_map(Value::as_str);
                self.others = all.filter(|node| *node != self.name).map(str::to_owned).collect();
                self.reply(message, json!({"type": "init_ok"}));
            }
            "echo" => self.reply(message, json!({"type": "echo_ok", "echo": body["echo"]})),
            "generate" => {
                self.generated += 1;
                let id = match IS_FIXED {
                    true => json!(format!("{}-{}", self.name, self.generated)),
                    false => json!(self.generated),
                };
                self.reply(message, json!({"type": "generate_ok", "id": id}));
            }
            "topology" => {
                self.is_broadcast = true;
                self.reply(message, json!({"type": "topology_ok"}));
            }
            "broadcast" => {
                self.learn(&[body["message"].clone()]);
                self.reply(message, json!({"type": "broadcast_ok"}));
            }
            "add" if body.get("element").is_some() => {
                self.learn(&[body["element"].clone()]);
                self.reply(message, json!({"type": "add_ok"}));
            }
            "add" => {
                let delta = body["delta"].as_i64().unwrap_or_default();
                let (grown, shrunk) = self.added.entry(self.name.clone()).or_default();
                (*grown, *shrunk) = (*grown + delta.max(0), *shrunk + (-delta).max(0));
                self.reply(message, json!({"type": "add_ok"}));
                self.tell(&[]);
            }
            "read" if self.is_broadcast => self.reply(message, json!({"type": "read_ok", "messages": self.elements})),
            "read" if self.is_counter => {
                let sum: i64 = self.added.values().map(|(grown, shrunk)| grown - shrunk).sum();
                self.reply(message, json!({"type": "read_ok", "value": sum}));
            }
            "read" => self.reply(message, json!({"type": "read_ok", "value": self.elements})),
            "gossip" => {
                let known = body["elements"].as_array().cloned().unwrap_or_default();
                self.learn(&known);
                for (node, pair) in body["added"].as_object().into_iter().flatten() {
                    let number = |at: usize| pair[at].as_i64().unwrap_or_default();
                    let (grown, shrunk) = self.added.entry(node.clone()).or_default();
                    (*grown, *shrunk) = ((*grown).max(number(0)), (*shrunk).max(number(1)));
                }
            }
            _ => {}
        }
    }

    /// Adds what is new, and passes it on once.
    fn learn(&mut self, elements: &[Value]) {
        let new: Vec<Value> = elements.iter().filter(|element| !self.elements.contains(element)).cloned().collect();
        if !new.is_empty() {
            self.tell(&new);
            self.elements.extend(new);
        }
    }

    /// Tells the others some elements, and what was added.
    fn tell(&self, elements: &[Value]) {
        if elements.is_empty() && self.added.is_empty() {
            return;
        }
        let added: Map<String, Value> =
            self.added.iter().map(|(node, (grown, shrunk))| (node.clone(), json!([grown, shrunk]))).collect();
        for other in &self.others {
            self.send(other, json!({"type": "gossip", "elements": elements, "added": added}));
        }
    }

    fn reply(&self, message: &Value, mut body: Value) {
        body["in_reply_to"] = message["body"]["msg_id"].clone();
        self.send(message["src"].as_str().unwrap_or_default(), body);
    }

    fn send(&self, dest: &str, body: Value) {
        println!("{}", json!({"src": self.name, "dest": dest, "body": body}));
    }
}

fn main() {
    let input = get_stdin();
    let readable = input.subscribe();
    let is_counter = std::env::args().nth(1).as_deref() == Some("counter");
    let mut node = Node { is_counter, ..Node::default() };
    let mut read: Vec<u8> = Vec::new();
    let mut timer = subscribe_duration(GOSSIP_NS);
    loop {
        let ready = if IS_FIXED { poll(&[&readable, &timer]) } else { poll(&[&readable]) };
        if ready.contains(&1) {
            timer = subscribe_duration(GOSSIP_NS);
            node.tell(&node.elements);
        }
        if !ready.contains(&0) {
            continue;
        }
        let Ok(bytes) = input.read(1 << 16) else { return };
        read.extend(bytes);
        while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = read.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(message) => node.handle(&message),
                Err(why) => eprintln!("not a message: {why}"),
            }
        }
        let _ = std::io::stdout().flush();
    }
}
