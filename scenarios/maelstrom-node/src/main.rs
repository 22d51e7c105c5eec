//! A node of the Maelstrom protocol: echo, unique ids, broadcast, a set that grows, counters, registers, transactions and logs.
//!
//! ```text
//! client ── add 3 ──▶ n0 ── gossip {"n0":[…]} ──▶ n1, n2        what a node knows goes to all others
//! client ── cas ────▶ n0 ── cas ──▶ lin-kv                      registers are those of a service
//! client ── txn ────▶ n0 ── read, cas of all keys ──▶ lin-kv    and so are all keys of transactions, as one value
//! ```
//!
//! The planted faults: identifiers that do not say which node made them, gossip that is sent once, registers of a service that may
//! answer with older values, and transactions that are written without looking whether another one was faster.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use wasip2::cli::stdin::get_stdin;
use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::io::poll::poll;
use wasip2::random::random::get_random_u64;

/// How often a node repeats what it knows.
const GOSSIP_NS: u64 = 200_000_000;
/// Whether the planted faults are mended.
const IS_FIXED: bool = cfg!(feature = "fixed");

/// The key under which all keys of transactions are.
const ROOT: &str = "root";

/// What waits for the answer of a service.
enum Waiting {
    /// The message of a client, which gets that answer.
    Forwarded(Value),
    /// A request that needs what is there.
    Reading(Value),
    /// A request whose change was written, and its reply.
    Writing(Value, Value),
}

#[derive(Default)]
struct Node {
    /// By the number of the request.
    waiting: BTreeMap<u64, Waiting>,
    requests: u64,
    name: String,
    others: Vec<String>,
    generated: u64,
    /// What no other start of this node has.
    incarnation: u64,
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
        if let Some(waiting) = body["in_reply_to"].as_u64().and_then(|id| self.waiting.remove(&id)) {
            return self.served(waiting, body);
        }
        match body["type"].as_str().unwrap_or_default() {
            "init" => {
                self.incarnation = get_random_u64();
                self.name = body["node_id"].as_str().unwrap_or_default().to_owned();
                let all = body["node_ids"].as_array().into_iter().flatten().filter_map(Value::as_str);
                self.others = all.filter(|node| *node != self.name).map(str::to_owned).collect();
                self.reply(message, json!({"type": "init_ok"}));
            }
            "echo" => self.reply(message, json!({"type": "echo_ok", "echo": body["echo"]})),
            "generate" => {
                self.generated += 1;
                let id = match IS_FIXED {
                    true => json!(format!("{}-{:x}-{}", self.name, self.incarnation, self.generated)),
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
            "read" | "write" | "cas" if body.get("key").is_some() => {
                let service = if IS_FIXED { "lin-kv" } else { "seq-kv" };
                self.ask(service, body.clone(), Waiting::Forwarded(message.clone()));
            }
            "txn" | "send" | "poll" | "commit_offsets" | "list_committed_offsets" => {
                self.ask("lin-kv", json!({"type": "read", "key": ROOT}), Waiting::Reading(message.clone()))
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

    /// Asks a service.
    fn ask(&mut self, service: &str, mut body: Value, waiting: Waiting) {
        self.requests += 1;
        body["msg_id"] = self.requests.into();
        self.waiting.insert(self.requests, waiting);
        self.send(service, body);
    }

    /// A service has answered.
    fn served(&mut self, waiting: Waiting, answer: &Value) {
        match waiting {
            Waiting::Forwarded(message) => self.reply(&message, answer.clone()),
            Waiting::Reading(message) => {
                let before = answer.get("value").cloned().unwrap_or_else(|| json!({}));
                let mut after = before.clone();
                let reply = apply(&message["body"], &mut after);
                if after == before {
                    return self.reply(&message, reply);
                }
                let write = match IS_FIXED {
                    true => {
                        json!({"type": "cas", "key": ROOT, "from": before, "to": after, "create_if_not_exists": true})
                    }
                    false => json!({"type": "write", "key": ROOT, "value": after}),
                };
                self.ask("lin-kv", write, Waiting::Writing(message, reply));
            }
            Waiting::Writing(message, _) if answer["type"] == "error" => {
                self.reply(&message, json!({"type": "error", "code": 30, "text": "another transaction was faster"}));
            }
            Waiting::Writing(message, reply) => self.reply(&message, reply),
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

/// Does what a request says to all that is stored; the reply.
fn apply(body: &Value, stored: &mut Value) -> Value {
    match body["type"].as_str().unwrap_or_default() {
        "txn" => json!({"type": "txn_ok", "txn": execute(&body["txn"], stored)}),
        "send" => {
            let log = &mut stored[body["key"].as_str().unwrap_or_default()];
            let mut messages = log.as_array().cloned().unwrap_or_default();
            messages.push(body["msg"].clone());
            *log = messages.into();
            json!({"type": "send_ok", "offset": log.as_array().map_or(0, Vec::len) - 1})
        }
        "poll" => {
            let from = |(key, offset): (&String, &Value)| {
                let log = stored[key].as_array().cloned().unwrap_or_default();
                let numbered = log.into_iter().enumerate().skip(offset.as_u64().unwrap_or_default() as usize);
                (key.clone(), numbered.map(|(offset, message)| json!([offset, message])).collect())
            };
            let logs: Map<String, Value> = body["offsets"].as_object().into_iter().flatten().map(from).collect();
            json!({"type": "poll_ok", "msgs": logs})
        }
        "commit_offsets" => {
            for (key, offset) in body["offsets"].as_object().into_iter().flatten() {
                let committed = &mut stored[format!("committed {key}")];
                *committed = json!(committed.as_u64().max(offset.as_u64()));
            }
            json!({"type": "commit_offsets_ok"})
        }
        _ => {
            let committed = |key: &str| Some((key.to_owned(), stored.get(format!("committed {key}"))?.clone()));
            let keys = body["keys"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let offsets: Map<String, Value> = keys.filter_map(committed).collect();
            json!({"type": "list_committed_offsets_ok", "offsets": offsets})
        }
    }
}

/// Does what a transaction says to all keys; its result.
fn execute(transaction: &Value, keys: &mut Value) -> Value {
    let each = |operation: &Value| {
        let (key, value) = (operation[1].to_string(), &operation[2]);
        match operation[0].as_str() {
            Some("append") => {
                let mut list = keys[&key].as_array().cloned().unwrap_or_default();
                list.push(value.clone());
                keys[&key] = list.into();
            }
            Some("w") => keys[&key] = value.clone(),
            _ => return json!(["r", operation[1], keys.get(&key).cloned().unwrap_or_default()]),
        }
        operation.clone()
    };
    transaction.as_array().into_iter().flatten().map(each).collect()
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
