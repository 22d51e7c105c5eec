//! The nodes: instances of the target, by their numbers, and what is on its way between them.
//!
//! Invariant: a node that is down is not called.

use super::bindings::example::cluster::node::{self, Entry, Message};
use super::wire::{DeliverableMessage, NodePair, SentMessage, Wire};
use fozzy_sdk::{target, tools};
use player::failure::{self, StepFailure};
use std::collections::BTreeSet;

pub(super) struct Nodes {
    names: Vec<String>,
    up: Vec<bool>,
    wire: Wire,
    /// Those that are down because that was drawn, and what was cut so.
    drawn_down: BTreeSet<usize>,
    drawn_cuts: BTreeSet<NodePair>,
}

impl Nodes {
    pub(super) fn new(names: Vec<String>) -> Nodes {
        let up = vec![false; names.len()];
        let (drawn_down, drawn_cuts) = (BTreeSet::new(), BTreeSet::new());
        Nodes { names, up, wire: Wire::default(), drawn_down, drawn_cuts }
    }

    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    /// The number of a node; the reader of the file has seen that there is one.
    pub(super) fn number(&self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_default()
    }

    pub(super) fn start_all(&mut self) -> Result<(), StepFailure> {
        let (there, expected) = (target::instances() as usize, self.count());
        if there != expected {
            failure::invalid(
                "the cluster cannot be played",
                &format!("it has {expected} nodes, and the run {there} instances"),
            );
        }
        (0..expected).try_for_each(|number| self.start(number))
    }

    fn start(&mut self, number: usize) -> Result<(), StepFailure> {
        self.up[number] = true;
        let nodes = self.count() as u32;
        let answer = target::on(number as u32, || node::start(number as u32, nodes));
        self.answered(number, answer)
    }

    /// What it has answered is on its way.
    fn answered(&mut self, from: usize, answer: Result<Vec<Message>, String>) -> Result<(), StepFailure> {
        let refused =
            |why: String| StepFailure::new(format!("{}: {why}", self.names[from])).at(|| "a node answers".to_owned());
        for Message { to, body } in answer.map_err(refused)? {
            if to as usize >= self.count() {
                let what = format!("{} sends to a node of the number {to}, and there is none", self.names[from]);
                return Err(StepFailure::new(what).at(|| "a node answers".to_owned()));
            }
            self.wire.send(SentMessage { from, to: to as usize, body });
        }
        Ok(())
    }

    pub(super) fn deliverable(&self) -> Vec<DeliverableMessage> {
        self.wire.deliverable(|number| self.up[number])
    }

    /// Whether every message has arrived, and no fault that was drawn lasts.
    pub(super) fn is_settled(&self) -> bool {
        self.wire.is_empty() && self.drawn_down.is_empty() && self.drawn_cuts.is_empty()
    }

    pub(super) fn deliver(&mut self, of_deliverable: usize) -> Result<(), StepFailure> {
        let up = &self.up;
        let Some(SentMessage { from, to, body }) = self.wire.take(of_deliverable, |number| up[number]) else {
            return Ok(());
        };
        tools::event("deliver", &format!("{} -> {}", self.names[from], self.names[to]));
        let answer = target::on(to as u32, || node::receive(from as u32, &body));
        self.answered(to, answer)
    }

    pub(super) fn put(&mut self, number: usize, key: &str, value: &str) -> Result<(), StepFailure> {
        let name = &self.names[number];
        if !self.up[number] {
            tools::event("client_put", &format!("{name} is down"));
            return Ok(());
        }
        tools::event("client_put", &format!("{name}: {key} = {value}"));
        let answer = target::on(number as u32, || node::put(key, value));
        self.answered(number, answer)
    }

    /// The answer to a client; `None` when a drawn fault prevents it.
    pub(super) fn read_for_client(&self, number: usize, key: &str) -> Result<Option<Option<Entry>>, StepFailure> {
        match (self.up[number], self.drawn_down.contains(&number)) {
            (true, _) => Ok(Some(self.read(number, key))),
            (false, true) => Ok(None),
            (false, false) => Err(StepFailure::new(format!("{} is down", self.names[number]))),
        }
    }

    fn read(&self, number: usize, key: &str) -> Option<Entry> {
        target::on(number as u32, || node::get(key))
    }

    pub(super) fn partition(&mut self, pair: NodePair) {
        tools::event("partition", &self.both(pair));
        self.wire.cuts.insert(pair);
    }

    pub(super) fn heal(&mut self, pair: NodePair) {
        tools::event("heal", &self.both(pair));
        self.wire.cuts.remove(&pair);
        self.drawn_cuts.remove(&pair);
    }

    fn both(&self, NodePair(one, other): NodePair) -> String {
        format!("{} {}", self.names[one], self.names[other])
    }

    pub(super) fn crash(&mut self, number: usize) {
        tools::event("crash", &self.names[number]);
        self.up[number] = false;
        self.drawn_down.remove(&number);
        target::on(number as u32, target::lose_power);
    }

    /// One that is up loses its memory, too.
    pub(super) fn restart(&mut self, number: usize) -> Result<(), StepFailure> {
        if self.up[number] {
            self.crash(number);
        }
        tools::event("restart", &self.names[number]);
        self.drawn_down.remove(&number);
        self.start(number)
    }

    pub(super) fn toggle_partition(&mut self, pair: NodePair) {
        if self.drawn_cuts.contains(&pair) {
            self.heal(pair);
        } else if !self.wire.cuts.contains(&pair) {
            self.partition(pair);
            self.drawn_cuts.insert(pair);
        }
    }

    pub(super) fn toggle_crash(&mut self, number: usize) -> Result<(), StepFailure> {
        if self.drawn_down.contains(&number) {
            return self.restart(number);
        }
        if self.up[number] {
            self.crash(number);
            self.drawn_down.insert(number);
        }
        Ok(())
    }

    /// All faults that were drawn are over.
    pub(super) fn repair(&mut self) -> Result<(), StepFailure> {
        for pair in std::mem::take(&mut self.drawn_cuts) {
            self.heal(pair);
        }
        std::mem::take(&mut self.drawn_down).into_iter().try_for_each(|number| self.restart(number))
    }

    /// What the nodes that are up have under a key.
    fn all(&self, key: &str) -> Vec<(&str, Option<String>)> {
        let has = |number: usize| (self.names[number].as_str(), self.read(number, key).map(|entry| entry.value));
        (0..self.count()).filter(|number| self.up[*number]).map(has).collect()
    }

    pub(super) fn unequal(&self, key: &str) -> Option<String> {
        let all = self.all(key);
        let equal = all.iter().all(|(_, value)| *value == all[0].1);
        (!equal).then(|| format!("the nodes have different values under {key:?}: {}", shown(&all)))
    }

    pub(super) fn absent(&self, key: &str) -> Option<String> {
        let all = self.all(key);
        let absent = all.iter().any(|(_, value)| value.is_none());
        absent.then(|| format!("not all nodes have a value under {key:?}: {}", shown(&all)))
    }

    pub(super) fn other_than(&self, number: usize, key: &str, equals: &str) -> Option<String> {
        if !self.up[number] {
            return None;
        }
        let found = self.read(number, key).map(|entry| entry.value);
        let differs = found.as_deref() != Some(equals);
        differs.then(|| format!("expected {equals:?} under {key:?}: {}", shown(&[(&self.names[number], found)])))
    }
}

fn shown(all: &[(&str, Option<String>)]) -> String {
    let one = |(name, value): &(&str, Option<String>)| match value {
        Some(value) => format!("{name} {value:?}"),
        None => format!("{name} nothing"),
    };
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}
