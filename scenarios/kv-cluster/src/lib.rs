//! A cluster of key-value nodes: several instances of one component, and this scenario is all that is between them.
//!
//! ```text
//! client ─ put ─▶ n0 ─ messages ─▶ wire ─ one of them, any ─▶ n1, n2     cut: what is between two nodes waits
//!                  └ crash: its memory is gone, and so is what was on its way to it; start: it reads its disk
//! ```
//!
//! Which flow comes next and which message arrives are decisions: drawn, recorded, explored and shrunk.

mod wire;

use example::cluster::node::{self as kv_node, Message};
use fozzy_sdk::prelude::*;
use fozzy_sdk::target;
use std::collections::BTreeMap;
use wire::Wire;

wit_bindgen::generate!({ path: "../kv-node/wit", world: "kv-cluster" });

/// Few keys, so that writes meet.
const KEYS: [&str; 2] = ["a", "b"];
/// Messages that one step delivers at most, until all have arrived: each is answered by few, and those by none.
const MESSAGES_MAX: usize = 10_000;

struct Cluster {
    wire: Wire,
    up: Vec<bool>,
    /// The latest version of each key that a node has told anybody of.
    told: Vec<BTreeMap<&'static str, u64>>,
    writes: u32,
}

impl Default for Cluster {
    fn default() -> Cluster {
        let nodes = target::instances() as usize;
        let (up, told) = (vec![false; nodes], vec![BTreeMap::new(); nodes]);
        let mut cluster = Cluster { wire: Wire::default(), up, told, writes: 0 };
        (0..nodes as u32).for_each(|node| cluster.bring_up(node));
        cluster
    }
}

impl Cluster {
    fn nodes(&self) -> std::ops::Range<u32> {
        0..self.up.len() as u32
    }

    fn is_up(&self, node: u32) -> bool {
        self.up[node as usize]
    }

    fn any_node(&self) -> u32 {
        draw::range_at("node", 0..=self.up.len() as u32 - 1)
    }

    /// What a node has answered: its messages are on their way.
    #[track_caller]
    fn answered(&mut self, node: u32, answer: Result<Vec<Message>, String>) {
        always!(answer.is_ok(), "a node answers", "n{node}: {answer:?}");
        for Message { to, body } in answer.into_iter().flatten() {
            self.wire.send(node, to, body);
        }
    }

    fn bring_up(&mut self, node: u32) {
        self.up[node as usize] = true;
        let answer = target::on(node, || kv_node::start(node, target::instances()));
        self.answered(node, answer);
    }

    fn deliver(&mut self, place: usize) {
        let (from, to, body) = self.wire.take(place);
        // Nobody is there to hear it.
        if self.is_up(to) {
            let answer = target::on(to, || kv_node::receive(from, &body));
            self.answered(to, answer);
        }
    }

    fn versions(&self, node: u32) -> BTreeMap<&'static str, u64> {
        target::on(node, || KEYS.iter().filter_map(|key| Some((*key, kv_node::get(key)?.version))).collect())
    }
}

#[scenario]
impl Cluster {
    #[flow(weight = 30)]
    fn put(&mut self) -> Result<(), Skip> {
        let node = self.any_node();
        if !self.is_up(node) {
            return Err(Skip::new("the node is down"));
        }
        let key = KEYS[draw::range_at("key", 0..=KEYS.len() - 1)];
        self.writes += 1;
        let answer = target::on(node, || kv_node::put(key, &format!("{} by n{node}", self.writes)));
        self.answered(node, answer);
        self.told[node as usize] = self.versions(node);
        Ok(())
    }

    #[flow(weight = 60, precondition = |cluster| cluster.wire.deliverable() > 0)]
    fn a_message_arrives(&mut self) {
        let place = draw::range_at("message", 0..=self.wire.deliverable() - 1);
        self.deliver(place);
    }

    #[flow(weight = 6)]
    fn cut(&mut self) {
        let (one, other) = (self.any_node(), self.any_node());
        self.wire.cut(one, other);
    }

    #[flow(weight = 6)]
    fn heal(&mut self) {
        let (one, other) = (self.any_node(), self.any_node());
        self.wire.heal(one, other);
    }

    /// The machine loses power: its disk keeps what was synced.
    #[flow(weight = 6)]
    fn crash(&mut self) {
        let node = self.any_node();
        self.up[node as usize] = false;
        self.wire.lose(node);
        target::on(node, target::lose_power);
    }

    #[flow(weight = 12, precondition = |cluster| cluster.up.contains(&false))]
    fn start(&mut self) {
        let node = self.nodes().find(|node| !self.is_up(*node)).expect("one is down");
        self.bring_up(node);
    }

    /// All are up, all are connected, all has arrived: now they must be of one opinion.
    #[flow(weight = 6)]
    fn settle(&mut self) {
        self.wire.heal_all();
        for node in self.nodes() {
            if !self.is_up(node) {
                self.bring_up(node);
            }
        }
        for _ in 0..MESSAGES_MAX {
            if self.wire.deliverable() == 0 {
                break;
            }
            self.deliver(0);
        }
        always!(self.wire.deliverable() == 0, "messages come to an end");
        for key in KEYS {
            let has = |node| target::on(node, || kv_node::get(key)).map(|entry| (entry.version, entry.value));
            let found: Vec<_> = self.nodes().map(has).collect();
            let equal = found.iter().all(|entry| *entry == found[0]);
            always!(equal, "all nodes have the same when all has arrived", "{key}: {found:?}");
        }
    }

    #[invariant]
    fn what_was_told_is_not_forgotten(&self) {
        for node in self.nodes().filter(|node| self.is_up(*node)) {
            let (told, has) = (&self.told[node as usize], self.versions(node));
            let kept = told.iter().all(|(key, version)| has.get(key) >= Some(version));
            always!(kept, "a node has what it has told", "n{node}: told {told:?}, has {has:?}");
        }
    }
}
