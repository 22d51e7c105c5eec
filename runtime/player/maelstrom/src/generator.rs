//! What clients ask: elements, numbers, registers by key, transactions.
//!
//! ```text
//! lin-kv   groups of 2n clients, each on a key: one half reads, the other half writes and swaps, so that each node is asked for both;
//!          of the rest, which are fewer, each does all of it
//! txn      a pool of keys, the later ones likelier; a key that was written often enough makes room for a new one
//! ```

use crate::protocol::write_json;
use fozzy_scenario_file::MaelstromOptions;
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Processes that work on one register: who has to judge it would not come to an end with many whose operations never ended.
const PROCESSES_OF_A_REGISTER: usize = 20;
/// The largest value of a register.
const REGISTER_MAX: i64 = 4;
/// Bytes that the words of most values have.
const WORDS_BYTES: usize = 32;
/// The last keys of a pool are equally likely.
const DOUBLINGS_MAX: u32 = 20;

/// Where the input of an operation comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// There is none.
    None,
    /// A text to repeat.
    Text,
    /// 0, 1, 2, …
    Next,
    /// A number, both ends included.
    Number(i64, i64),
    /// A key, and nothing: what it has is asked.
    RegisterRead,
    /// A key, and a value.
    RegisterWrite,
    /// A key, and what its value was and becomes.
    RegisterSwap,
    /// Reads, and writes that are called so.
    Transaction(&'static str),
    /// A key, and a message for its log.
    Message,
    /// What is new in logs.
    Poll,
    /// Keys.
    Keys,
    /// Nothing is asked: the client is gone.
    Crash,
}

pub struct Generator {
    next_element: i64,
    clients: usize,
    /// Clients of a group that is whole: two of each node.
    group: usize,
    /// By group: the key, and the processes that have worked on it.
    registers: Vec<(i64, BTreeSet<u32>)>,
    next_register: i64,
    /// Keys of transactions, and how often they were written.
    pool: Vec<(i64, u32)>,
    next_key: i64,
    max_txn_length: u32,
    max_writes: u32,
}

impl Generator {
    pub fn new(options: &MaelstromOptions) -> Generator {
        let clients = options.concurrency as usize;
        let group = (2 * options.nodes.len()).max(1);
        let groups = clients.div_ceil(group);
        let keys = i64::from(options.key_count);
        Generator {
            next_element: 0,
            clients,
            group,
            registers: (0..groups as i64).map(|key| (key, BTreeSet::new())).collect(),
            next_register: groups as i64,
            pool: (0..keys).map(|key| (key, 0)).collect(),
            next_key: keys,
            max_txn_length: options.max_txn_length,
            max_writes: options.max_writes_per_key,
        }
    }

    /// Whether a client does operations with this input.
    pub fn does(&self, client: usize, input: Input) -> bool {
        let place = client % self.group;
        let is_whole = client - place + self.group <= self.clients;
        let reads = place < self.group / 2;
        match input {
            _ if !is_whole => true,
            Input::RegisterRead => reads,
            Input::RegisterWrite | Input::RegisterSwap => !reads,
            _ => true,
        }
    }

    /// Draws the input of an operation.
    pub fn draw(&mut self, input: Input, client: usize, process: u32) -> Value {
        let register = || draws::int("value", 0, REGISTER_MAX);
        match input {
            Input::None | Input::Crash => Value::Null,
            Input::Message => self.message(),
            Input::Poll => json!([["poll"]]),
            Input::Keys => self.some_keys(),
            Input::Text => format!("Please echo {}", draws::int("text", 0, 127)).into(),
            Input::Number(least, most) => draws::int("number", least, most).into(),
            Input::Next => {
                self.next_element += 1;
                (self.next_element - 1).into()
            }
            Input::RegisterRead => json!([self.register(client, process), null]),
            Input::RegisterWrite => json!([self.register(client, process), register()]),
            Input::RegisterSwap => json!([self.register(client, process), [register(), register()]]),
            Input::Transaction(write) => self.transaction(write),
        }
    }

    fn register(&mut self, client: usize, process: u32) -> i64 {
        let (key, processes) = &mut self.registers[client / self.group];
        if processes.len() >= PROCESSES_OF_A_REGISTER && !processes.contains(&process) {
            (*key, *processes) = (self.next_register, BTreeSet::new());
            self.next_register += 1;
        }
        processes.insert(process);
        *key
    }

    /// The keys of the moment.
    pub fn keys(&self) -> Vec<i64> {
        self.pool.iter().map(|(key, _)| *key).collect()
    }

    /// All keys that there have been.
    pub fn all_keys(&self) -> Value {
        (0..self.next_key).map(|key| Value::from(key.to_string())).collect()
    }

    /// Some keys of the moment, and one at least.
    fn some_keys(&self) -> Value {
        let sure = draws::choose("key", self.pool.len() as u64) as usize;
        let is_taken = |at: usize| at == sure || draws::choose("whether a key is assigned", 2) == 0;
        let taken = self.pool.iter().enumerate().filter(|(at, _)| is_taken(*at));
        taken.map(|(_, (key, _))| Value::from(key.to_string())).collect()
    }

    fn message(&mut self) -> Value {
        let (key, value) = self.write();
        json!([["send", key.to_string(), value]])
    }

    /// A key, and the next value that is written there.
    fn write(&mut self) -> (i64, u32) {
        let place = self.place();
        self.write_at(place)
    }

    fn place(&self) -> usize {
        let weights: Vec<u32> = (0..self.pool.len() as u32).map(|place| 1 << place.min(DOUBLINGS_MAX)).collect();
        draws::weighted("key", &weights) as usize
    }

    fn write_at(&mut self, place: usize) -> (i64, u32) {
        let (key, written) = &mut self.pool[place];
        *written += 1;
        let write = (*key, *written);
        if *written >= self.max_writes {
            (*key, *written) = (self.next_key, 0);
            self.next_key += 1;
        }
        write
    }

    fn transaction(&mut self, write: &str) -> Value {
        let length = draws::int("operations", 1, i64::from(self.max_txn_length));
        let mut all = Vec::new();
        for _ in 0..length {
            let place = self.place();
            if draws::choose("read or write", 2) == 0 {
                all.push(json!(["r", self.pool[place].0, null]));
                continue;
            }
            let (key, written) = self.write_at(place);
            all.push(json!([write, key, written]));
        }
        all.into()
    }
}

/// A value as histories have it: EDN, where nothing is `nil`.
pub fn words(value: &Value) -> String {
    let mut words = Vec::with_capacity(WORDS_BYTES);
    write_words(value, &mut words);
    String::from_utf8(words).expect("values are text")
}

fn write_words(value: &Value, words: &mut Vec<u8>) {
    match value {
        Value::Null => words.extend_from_slice(b"nil"),
        Value::Array(items) => {
            words.push(b'[');
            for (place, item) in items.iter().enumerate() {
                words.extend_from_slice(if place == 0 { b"" } else { b" " });
                write_words(item, words);
            }
            words.push(b']');
        }
        Value::Object(entries) => {
            words.push(b'{');
            for (place, (key, value)) in entries.iter().enumerate() {
                words.extend_from_slice(if place == 0 { b"" } else { b", " });
                write_json(words, key);
                words.push(b' ');
                write_words(value, words);
            }
            words.push(b'}');
        }
        other => write_json(words, other),
    }
}

/// The value under a key of an object, as histories have it, with integers as they were written: no 64 bits need to hold them.
pub fn exact_words(object: &str, key: &str) -> Option<String> {
    let entries: BTreeMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    entries.get(key).map(|value| exact(value))
}

fn exact(value: &RawValue) -> String {
    let text = value.get();
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) {
        return format!("[{}]", items.into_iter().map(exact).collect::<Vec<_>>().join(" "));
    }
    if let Ok(entries) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text) {
        let entries = entries.into_iter().map(|(key, value)| format!("{} {}", Value::from(key), exact(value)));
        return format!("{{{}}}", entries.collect::<Vec<_>>().join(", "));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    match digits != "0" && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.to_owned(),
        false => serde_json::from_str(text).map_or_else(|_| text.to_owned(), |value: Value| words(&value)),
    }
}
