//! One node of a replicated key-value store: a map in memory, a log on the disk, a message to each peer for each write.
//!
//! ```text
//! client ─ put k v ─▶ version + 1 ─▶ log, synced ─▶ kv_repl k v version ─▶ each peer
//! peer ── kv_repl ──▶ kept, if its version is the current one or later
//! a new start reads the log; its memory is all that was lost
//! ```
//!
//! The planted fault is that rule of the peers: two nodes that write the same key at the same time give both values one
//! version, tell each other, and have exchanged their values. Also, a node that was down never hears of what it has missed. With
//! the feature `fixed` the larger of two values of one version stays, and a node that starts tells its
//! peers all it has, and asks for all they have.
//!
//! Nothing here knows that it is tested: it exports an interface and uses `std::fs`.

mod log;

use exports::example::cluster::node::{Entry, Guest, Message};
use log::{Log, Record};
use std::cell::RefCell;
use std::collections::BTreeMap;

#[cfg(feature = "generate")]
wit_bindgen::generate!({ world: "kv-node" });
#[cfg(not(feature = "generate"))]
include!("bindings.rs");

/// Whether the faults are mended.
const FIXED: bool = cfg!(feature = "fixed");

/// The body of the message by which a node asks for all that a peer has. Any other is a record.
const ASK: &[u8] = b"?";

struct Node {
    me: u32,
    nodes: u32,
    log: Log,
    map: BTreeMap<String, Entry>,
}

impl Node {
    fn start(me: u32, nodes: u32) -> Result<Node, String> {
        let (log, records) = Log::open()?;
        let map = records.into_iter().map(|Record { key, value, version }| (key, Entry { value, version })).collect();
        Ok(Node { me, nodes, log, map })
    }

    /// The same for each peer.
    fn tell(&self, body: &[u8]) -> Vec<Message> {
        let peers = (0..self.nodes).filter(|peer| *peer != self.me);
        peers.map(|to| Message { to, body: body.to_vec() }).collect()
    }

    /// All that it has, for one peer.
    fn tell_all(&self, to: u32) -> Vec<Message> {
        let record = |(key, entry): (&String, &Entry)| {
            Record { key: key.clone(), value: entry.value.clone(), version: entry.version }.bytes()
        };
        self.map.iter().map(|each| Message { to, body: record(each) }).collect()
    }

    /// Peers may have missed what it has, as it may what they have.
    fn catch_up(&self) -> Vec<Message> {
        let mut told = self.tell(ASK);
        (0..self.nodes).filter(|peer| *peer != self.me).for_each(|peer| told.extend(self.tell_all(peer)));
        told
    }

    /// Writes it to the disk first.
    fn keep(&mut self, record: Record) -> Result<(), String> {
        self.log.append(&record)?;
        self.map.insert(record.key, Entry { value: record.value, version: record.version });
        Ok(())
    }

    fn put(&mut self, key: String, value: String) -> Result<Vec<Message>, String> {
        let version = self.map.get(&key).map_or(0, |entry| entry.version) + 1;
        let record = Record { key, value, version };
        let told = self.tell(&record.bytes());
        self.keep(record)?;
        Ok(told)
    }

    fn receive(&mut self, sender: u32, body: &[u8]) -> Result<Vec<Message>, String> {
        if body == ASK {
            return Ok(self.tell_all(sender));
        }
        let (record, rest) = Record::read(body).ok_or_else(|| format!("{} bytes are no message", body.len()))?;
        if !rest.is_empty() {
            return Err(format!("{} bytes follow a message", rest.len()));
        }
        let is_later = self.map.get(&record.key).is_none_or(|current| {
            let (new, old) = ((record.version, &record.value), (current.version, &current.value));
            if FIXED { new > old } else { new.0 >= old.0 }
        });
        if is_later {
            self.keep(record)?;
        }
        Ok(Vec::new())
    }
}

thread_local! {
    /// `None` until it is started.
    static NODE: RefCell<Option<Node>> = const { RefCell::new(None) };
}

fn with<R>(body: impl FnOnce(&mut Node) -> Result<R, String>) -> Result<R, String> {
    NODE.with_borrow_mut(|node| body(node.as_mut().ok_or("the node was not started")?))
}

struct Kv;
export!(Kv);

impl Guest for Kv {
    fn start(me: u32, nodes: u32) -> Result<Vec<Message>, String> {
        let node = Node::start(me, nodes)?;
        let told = if FIXED { node.catch_up() } else { Vec::new() };
        NODE.set(Some(node));
        Ok(told)
    }

    fn put(key: String, value: String) -> Result<Vec<Message>, String> {
        with(|node| node.put(key, value))
    }

    fn receive(sender: u32, body: Vec<u8>) -> Result<Vec<Message>, String> {
        with(|node| node.receive(sender, &body))
    }

    fn get(key: String) -> Option<Entry> {
        with(|node| Ok(node.map.get(&key).cloned())).ok().flatten()
    }
}
