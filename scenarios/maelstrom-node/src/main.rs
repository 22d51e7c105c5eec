//! A node of the Maelstrom protocol: echo, unique ids, broadcast, a set that grows, counters, registers, transactions and logs.
//!
//! ```text
//! client ── add 3 ──▶ n0 ── gossip {"n0":[…]} ──▶ n1, n2        what a node knows goes to all others
//! client ── cas ────▶ n0 ── cas ──▶ lin-kv                      registers are those of a service
//! client ── txn ────▶ n0 ── read, cas of all keys ──▶ lin-kv    and so are all keys of transactions, as one value
//! ```
//!
//! The planted faults: identifiers that do not say which node made them, gossip that is sent once, registers of a service that may
//! answer with older values, and transactions that are written without looking whether another one was faster; with the argument
//! `keywise`, transactions that change one key after the other.

mod transaction;

use fozzy_maelstrom::{MaelstromNode, NodeContext, ProtocolError, ProtocolMessage, Value, error_code, json};
use serde_json::Map;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How often a node repeats what it knows.
const GOSSIP: Duration = Duration::from_millis(200);
/// How long a service may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Whether the planted faults are mended.
const IS_FIXED: bool = cfg!(feature = "fixed");

/// The key under which all keys of transactions are.
const ROOT: &str = "root";

/// What a node knows.
#[derive(Default)]
struct Store {
    generated: u64,
    /// What no other start of this node has.
    incarnation: u64,
    /// Whether clients call what they read messages.
    is_broadcast: bool,
    /// Whether what they read is a sum, as the program's argument says.
    is_counter: bool,
    /// Messages of a broadcast, or elements of a set, in the order in which they came.
    elements: Vec<Value>,
    /// Those of them that are integers, as nearly all are: whether one is known is asked for each that is heard.
    integers: BTreeSet<i64>,
    /// By node, what was added there: what grew, and what shrank.
    added: BTreeMap<String, (i64, i64)>,
}

type Context = NodeContext<Store>;

impl Store {
    /// Adds what is new, and passes it on once.
    fn learn(&mut self, context: &mut Context, elements: &[Value]) {
        let new: Vec<Value> = elements.iter().filter(|element| !self.knows(element)).cloned().collect();
        if !new.is_empty() {
            self.tell(context, &new);
            self.integers.extend(new.iter().filter_map(Value::as_i64));
            self.elements.extend(new);
        }
    }

    fn knows(&self, element: &Value) -> bool {
        element.as_i64().map_or_else(|| self.elements.contains(element), |integer| self.integers.contains(&integer))
    }

    /// Tells the others some elements, and what was added.
    fn tell(&self, context: &mut Context, elements: &[Value]) {
        if elements.is_empty() && self.added.is_empty() {
            return;
        }
        let added: Map<String, Value> =
            self.added.iter().map(|(node, (grown, shrunk))| (node.clone(), json!([grown, shrunk]))).collect();
        let gossip = json!({"type": "gossip", "elements": elements, "added": added});
        for other in context.others() {
            context.send(&other, &gossip);
        }
    }

    fn add(&mut self, context: &mut Context, message: &ProtocolMessage) {
        let body = &message.body;
        if let Some(element) = body.get("element") {
            self.learn(context, std::slice::from_ref(element));
            return context.reply(message, json!({"type": "add_ok"}));
        }
        let delta = body["delta"].as_i64().unwrap_or_default();
        let (grown, shrunk) = self.added.entry(context.id().to_owned()).or_default();
        (*grown, *shrunk) = (*grown + delta.max(0), *shrunk + (-delta).max(0));
        context.reply(message, json!({"type": "add_ok"}));
        self.tell(context, &[]);
    }

    fn read(&self, context: &mut Context, message: &ProtocolMessage) {
        let sum: i64 = self.added.values().map(|(grown, shrunk)| grown - shrunk).sum();
        let reply = match self {
            Store { is_broadcast: true, elements, .. } => json!({"type": "read_ok", "messages": elements}),
            Store { is_counter: true, .. } => json!({"type": "read_ok", "value": sum}),
            Store { elements, .. } => json!({"type": "read_ok", "value": elements}),
        };
        context.reply(message, reply);
    }

    fn hear_gossip(&mut self, context: &mut Context, body: &Value) {
        self.learn(context, body["elements"].as_array().map_or(&[], Vec::as_slice));
        for (node, pair) in body["added"].as_object().into_iter().flatten() {
            let number = |at: usize| pair[at].as_i64().unwrap_or_default();
            let (grown, shrunk) = self.added.entry(node.clone()).or_default();
            (*grown, *shrunk) = ((*grown).max(number(0)), (*shrunk).max(number(1)));
        }
    }
}

/// Has a service answer a request of a client.
fn forward(context: &mut Context, message: &ProtocolMessage) {
    let service = if IS_FIXED { "lin-kv" } else { "seq-kv" };
    let client = message.clone();
    context.request(service, message.body.clone(), PATIENCE, move |context, _, answer| match answer {
        Ok(body) => context.reply(&client, body),
        Err(error) => context.fail(&client, &error),
    });
}

/// Does what a request says to all that is stored: reads it, and writes it back.
fn change(context: &mut Context, message: &ProtocolMessage) {
    let client = message.clone();
    context.request("lin-kv", json!({"type": "read", "key": ROOT}), PATIENCE, move |context, _, answer| {
        let before = match answer {
            Ok(body) => body["value"].clone(),
            Err(error) if error.code == error_code::KEY_DOES_NOT_EXIST => json!({}),
            Err(error) => return context.fail(&client, &error),
        };
        let mut after = before.clone();
        let reply = transaction::apply(&client.body, &mut after);
        if after == before {
            return context.reply(&client, reply);
        }
        let write = match IS_FIXED {
            true => json!({"type": "cas", "key": ROOT, "from": before, "to": after, "create_if_not_exists": true}),
            false => json!({"type": "write", "key": ROOT, "value": after}),
        };
        context.request("lin-kv", write, PATIENCE, move |context, _, answer| match answer {
            Ok(_) => context.reply(&client, reply),
            // Whether a swap that has no answer was made is not known.
            Err(error) if error.code == error_code::TIMEOUT => context.fail(&client, &error),
            Err(_) => {
                let error = ProtocolError::new(error_code::TXN_CONFLICT, "another transaction was faster");
                context.fail(&client, &error);
            }
        });
    });
}

#[cfg(target_os = "wasi")]
fn incarnation() -> u64 {
    wasip2::random::random::get_random_u64()
}

/// Natively no two starts have the same moment.
#[cfg(not(target_os = "wasi"))]
fn incarnation() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn main() -> std::io::Result<()> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let is_keywise = argument == "keywise" && !IS_FIXED;
    let mut node = MaelstromNode::new();
    node.on_init(|context, store: &mut Store| {
        store.incarnation = incarnation();
        if IS_FIXED {
            context.every(GOSSIP, |context, store| store.tell(context, &store.elements));
        }
    });
    node.on("echo", |context, _, message| {
        context.reply(message, json!({"type": "echo_ok", "echo": message.body["echo"]}));
    });
    node.on("generate", |context, store, message| {
        store.generated += 1;
        let id = match IS_FIXED {
            true => json!(format!("{}-{:x}-{}", context.id(), store.incarnation, store.generated)),
            false => json!(store.generated),
        };
        context.reply(message, json!({"type": "generate_ok", "id": id}));
    });
    node.on("topology", |context, store, message| {
        store.is_broadcast = true;
        context.reply(message, json!({"type": "topology_ok"}));
    });
    node.on("broadcast", |context, store, message| {
        store.learn(context, &[message.body["message"].clone()]);
        context.reply(message, json!({"type": "broadcast_ok"}));
    });
    node.on("add", |context, store, message| store.add(context, message));
    node.on("read", |context, store, message| match message.body.get("key") {
        Some(_) => forward(context, message),
        None => store.read(context, message),
    });
    node.on("write", |context, _, message| forward(context, message));
    node.on("cas", |context, _, message| forward(context, message));
    node.on("gossip", |context, store, message| store.hear_gossip(context, &message.body));
    node.on("txn", move |context, _, message| match is_keywise {
        true => transaction::execute_keywise(context, message),
        false => change(context, message),
    });
    for kind in ["send", "poll", "commit_offsets", "list_committed_offsets"] {
        node.on(kind, |context, _, message| change(context, message));
    }
    node.run(Store { is_counter: argument == "counter", ..Store::default() })
}
