//! Services that nodes may use: three stores of keys, and a clock that counts.
//!
//! ```text
//! lin-kv    one store                                    each sees what was written before
//! seq-kv    the last states of one store                 a client sees a state, and later never an older one
//! lww-kv    two replicas, merged before each request     of two writes the later one stays, by the replicas' own clocks
//! lin-tso   0, 1, 2, …
//! ```
//!
//! They are behind the same network as nodes, and no partition cuts them off. What a service leaves open is a choice of the run.

use crate::protocol::json_text;
use fozzy_scenario_file::MAELSTROM_SERVICES;
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// States that `seq-kv` remembers.
const STATES_MAX: usize = 32;

/// Whether a service has this name.
pub fn is_service(name: &str) -> bool {
    MAELSTROM_SERVICES.contains(&name)
}

/// A store: by the text of its key, each value.
type Store = BTreeMap<String, Value>;

/// All services.
#[derive(Default)]
pub struct Services {
    linear: Store,
    sequential: SequentialStore,
    replicas: [Replica; 2],
    timestamps: u64,
}

/// States of a store, the oldest first.
struct SequentialStore {
    states: VecDeque<Rc<Store>>,
    /// The number of the oldest.
    first: u64,
    /// By client, the number of the state that it has seen last.
    seen: BTreeMap<String, u64>,
}

impl Default for SequentialStore {
    fn default() -> SequentialStore {
        SequentialStore { states: VecDeque::from([Rc::default()]), first: 0, seen: BTreeMap::new() }
    }
}

/// A replica: by key, when it was written, and the value.
#[derive(Clone, Default)]
struct Replica {
    clock: u64,
    values: BTreeMap<String, (u64, Value)>,
}

impl Services {
    /// The answer of a service, but for what it answers.
    pub fn answer(&mut self, service: &str, client: &str, body: &Map<String, Value>) -> Value {
        match service {
            "lin-kv" => apply(&mut self.linear, body),
            "seq-kv" => self.sequential.answer(client, body),
            "lww-kv" => self.last_write(body),
            _ if body.get("type").is_some_and(|kind| kind == "ts") => {
                self.timestamps += 1;
                json!({"type": "ts_ok", "ts": self.timestamps - 1})
            }
            _ => not_supported(body),
        }
    }

    fn last_write(&mut self, body: &Map<String, Value>) -> Value {
        let from = draws::choose("replica that is merged", 2) as usize;
        let merged = self.replicas[from].clone();
        self.replicas[1 - from].merge(merged);
        let replica = &mut self.replicas[draws::choose("replica that answers", 2) as usize];
        let mut store: Store = replica.values.iter().map(|(key, (_, value))| (key.clone(), value.clone())).collect();
        let mut body = body.clone();
        body.remove("create_if_not_exists");
        let answer = apply(&mut store, &body);
        let key = key_of(&body);
        if let Some(value) = store.remove(&key).filter(|_| is_write(&answer)) {
            replica.values.insert(key, (replica.clock, value));
            replica.clock += 1;
        }
        answer
    }
}

impl SequentialStore {
    fn answer(&mut self, client: &str, body: &Map<String, Value>) -> Value {
        let newest = self.first + self.states.len() as u64 - 1;
        let oldest = self.seen.get(client).copied().unwrap_or(0).max(self.first);
        // The simplest answer is the newest.
        let back = if newest > oldest { draws::choose("older state", newest - oldest + 1) } else { 0 };
        let at = newest - back;
        let mut state = (*self.states[(at - self.first) as usize]).clone();
        let answer = apply(&mut state, body);
        if !is_write(&answer) {
            self.seen.insert(client.to_owned(), at);
            return answer;
        }
        // What changes the state changes the newest one.
        let mut state = (**self.states.back().expect("there is one")).clone();
        let answer = apply(&mut state, body);
        if is_write(&answer) {
            self.states.push_back(Rc::new(state));
        }
        if self.states.len() > STATES_MAX {
            self.states.pop_front();
            self.first += 1;
        }
        self.seen.insert(client.to_owned(), self.first + self.states.len() as u64 - 1);
        answer
    }
}

impl Replica {
    /// Takes what the other one has that is newer.
    fn merge(&mut self, other: Replica) {
        self.clock = self.clock.max(other.clock);
        for (key, (at, value)) in other.values {
            if self.values.get(&key).is_none_or(|(own, _)| *own < at) {
                self.values.insert(key, (at, value));
            }
        }
    }
}

fn is_write(answer: &Value) -> bool {
    answer["type"] == "write_ok" || answer["type"] == "cas_ok"
}

/// Does what a request says to a store, and answers it.
fn apply(store: &mut Store, body: &Map<String, Value>) -> Value {
    let key = key_of(body);
    let part = |name: &str| body.get(name).cloned().unwrap_or_default();
    let missing = || error(20, "key does not exist");
    match body.get("type").and_then(Value::as_str) {
        Some("read") => store.get(&key).map_or_else(missing, |value| json!({"type": "read_ok", "value": value})),
        Some("write") => {
            store.insert(key, part("value"));
            json!({"type": "write_ok"})
        }
        Some("cas") => match store.get(&key) {
            None if part("create_if_not_exists") != true => missing(),
            Some(value) if *value != part("from") => {
                error(22, &format!("current value {value} is not {}", part("from")))
            }
            _ => {
                store.insert(key, part("to"));
                json!({"type": "cas_ok"})
            }
        },
        _ => not_supported(body),
    }
}

fn not_supported(body: &Map<String, Value>) -> Value {
    error(10, &format!("{} is not supported", body.get("type").cloned().unwrap_or_default()))
}

fn error(code: u32, text: &str) -> Value {
    json!({"type": "error", "code": code, "text": text})
}

/// The key of a request, as a text that equal values share.
fn key_of(body: &Map<String, Value>) -> String {
    json_text(&canonical(body.get("key").unwrap_or(&Value::Null)))
}

/// The same value, with the keys of its objects in order.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let sorted: BTreeMap<&String, Value> = entries.iter().map(|(key, value)| (key, canonical(value))).collect();
            sorted.into_iter().map(|(key, value)| (key.clone(), value)).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(canonical).collect(),
        other => other.clone(),
    }
}
