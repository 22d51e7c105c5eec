//! Distributed scenarios: nodes of a replicated store, each an instance of a component, and what happens to them.
//!
//! ```text
//! step(n):  messages that arrive first ─▶ the n-th step of the file      which of them is next: asked, or as they were sent
//! end:      drawn faults are over ─▶ the rest arrives ─▶ what must hold at the end
//! ```
//!
//! Between two steps of the file, any message that is not cut off may arrive, and a fault may begin or end. A node that crashes
//! loses its memory; its files keep what was synced, and what is sent to it waits until it starts again.
//!
//! A node's value is judged when all messages of the steps so far have arrived and no later step writes its key, and at the end.
//!
//! Invariants: a step does the same whichever others are left out; a fault that was drawn is over before what must hold at the
//! end is looked at, so that what is found then is not repaired by waiting.
//! Not here: what a node does (the target: `scenarios/kv-node`, or whatever exports its interface).

mod bindings;
mod nodes;
mod wire;

use fozzy_scenario_file::{
    Cluster, ClusterFault, ClusterFile, ClusterInvariant, ClusterOptions, ClusterStep, ParsedScenario, ScenarioProblem,
};
use fozzy_sdk::bindings::tools::fozzy::choices::draws::{self, ReadyTask, Schedule, SchedulingPoint};
use fozzy_sdk::tools;
use nodes::Nodes;
use player::ScenarioPlayer;
use player::failure::{self, StepFailure};
use wire::{DeliverableMessage, NodePair};

/// Messages that arrive in one sequence, at most: a cluster whose nodes answer each other for ever comes to an end here.
const DELIVERIES_MAX: u32 = 100_000;
/// How likely a fault begins or ends where one may, in parts of one.
const FAULT_PROBABILITY: f64 = 0.1;
/// What the order of messages is to schedulers, which count the tasks of programs from others.
const KIND: u64 = u64::from_be_bytes(*b"messages");
/// What the arguments of the player call its options.
const OPTIONS: &str = "--cluster=";

/// A cluster on its way.
struct ClusterPlayer {
    cluster: Cluster,
    options: ClusterOptions,
    /// The names of all kinds of steps.
    kinds: Vec<String>,
    nodes: Nodes,
    delivered: u32,
    /// The node that got the last message.
    touched: Option<usize>,
    /// Steps of the file that were taken.
    stepped: u64,
    /// Number of the first step of the file that has not been executed.
    next_step: usize,
}

fn play(text: &[u8]) -> Result<Box<dyn ScenarioPlayer>, ScenarioProblem> {
    match ParsedScenario::parse(text)? {
        ParsedScenario::Cluster(file) => Ok(begin(file)),
        _ => failure::invalid("the scenario is not played", "this player is for clusters"),
    }
}

player::export_player!(play);

/// A cluster, before its first step.
fn begin(file: ClusterFile) -> Box<dyn ScenarioPlayer> {
    let wrong = |why: String| -> ! { failure::invalid("the cluster cannot be played", &why) };
    let options = match player::told(OPTIONS).as_str() {
        "" => Ok(ClusterOptions::default()),
        text => serde_json::from_str(text),
    };
    let options: ClusterOptions = options.unwrap_or_else(|why| wrong(why.to_string()));
    let cluster = options.apply(file.distributed).unwrap_or_else(|why| wrong(why));
    let nodes = Nodes::new(cluster.names());
    Box::new(ClusterPlayer {
        cluster,
        options,
        kinds: player::kinds(),
        nodes,
        delivered: 0,
        touched: None,
        stepped: 0,
        next_step: 0,
    })
}

impl ScenarioPlayer for ClusterPlayer {
    fn begin(&mut self) -> Result<(), StepFailure> {
        self.nodes.start_all()
    }

    fn step(&mut self, number: u32) -> Result<Option<u32>, StepFailure> {
        let Some(step) = self.cluster.steps.get(number as usize).cloned() else { return Ok(None) };
        self.arrive(true)?;
        self.next_step = number as usize + 1;
        self.stepped += 1;
        self.act(&step).map_err(|failure| failure.at(|| format!("steps[{number}]: {}", step.kind())))?;
        Ok(self.kinds.iter().position(|kind| *kind == step.kind()).map(|place| place as u32))
    }

    fn end(&mut self) -> Result<(), StepFailure> {
        // Steps that were left out write nothing any more.
        self.next_step = self.cluster.steps.len();
        self.arrive(true)?;
        self.nodes.repair()?;
        self.arrive(false)?;
        self.check(true)
    }
}

impl ClusterPlayer {
    /// Lets messages arrive: all that can, or, where that is asked, until the next step is to come.
    fn arrive(&mut self, others_are_next: bool) -> Result<(), StepFailure> {
        loop {
            if others_are_next && self.options.asks {
                self.maybe_fail()?;
            }
            let deliverable = self.nodes.deliverable();
            let waiting = deliverable.len();
            // What comes after the messages, which have waited longer.
            let others = usize::from(others_are_next && self.options.asks);
            if waiting == 0 {
                return Ok(());
            }
            let next =
                if self.options.asks && waiting + others > 1 { self.next(&deliverable, others_are_next) } else { 0 };
            if next >= waiting {
                return Ok(());
            }
            self.touched = deliverable.get(next).map(|message| message.to);
            self.delivered += 1;
            if self.delivered > DELIVERIES_MAX {
                let what = format!("more than {DELIVERIES_MAX} messages have arrived, and there are others");
                return Err(StepFailure::new(what).at(|| "messages come to an end".to_owned()));
            }
            self.nodes.deliver(next)?;
            if self.nodes.is_settled() {
                self.check(false)?;
            }
        }
    }

    /// The place of the message that arrives next; one more is the next step of the file. Each message is a task of one step, and
    /// the file is one of many. Messages to one node are in a race.
    fn next(&mut self, deliverable: &[DeliverableMessage], others_are_next: bool) -> usize {
        let object = |node: usize| node as u64 + 1;
        let message = |message: &DeliverableMessage| ReadyTask {
            number: message.number + 1,
            steps: 0,
            object: object(message.to),
        };
        let file = others_are_next.then_some(ReadyTask { number: 0, steps: self.stepped, object: 0 });
        let point = SchedulingPoint {
            kind: KIND,
            run: 0,
            policy: Schedule::Random,
            touched: self.touched.take().map(object).into_iter().collect(),
            ready: deliverable.iter().map(message).chain(file).collect(),
        };
        draws::next_task(&point) as usize
    }

    /// A fault begins or ends, perhaps.
    fn maybe_fail(&mut self) -> Result<(), StepFailure> {
        if self.options.faults.is_empty() || !draws::bool("a fault begins or ends", FAULT_PROBABILITY) {
            return Ok(());
        }
        let (nodes, mut places): (usize, Vec<(ClusterFault, NodePair)>) = (self.nodes.count(), Vec::new());
        for fault in &self.options.faults {
            for one in 0..nodes {
                match fault {
                    ClusterFault::Crash => places.push((*fault, NodePair::of(one, one))),
                    ClusterFault::Partition => {
                        places.extend((one + 1..nodes).map(|other| (*fault, NodePair::of(one, other))));
                    }
                }
            }
        }
        if places.is_empty() {
            return Ok(());
        }
        match places[draws::choose("which fault", places.len() as u64) as usize] {
            (ClusterFault::Partition, pair) => {
                self.nodes.toggle_partition(pair);
                Ok(())
            }
            (ClusterFault::Crash, NodePair(node, _)) => self.nodes.toggle_crash(node),
        }
    }

    fn act(&mut self, step: &ClusterStep) -> Result<(), StepFailure> {
        match step {
            ClusterStep::ClientPut { node, key, value } => self.nodes.put(self.nodes.number(node), key, value),
            ClusterStep::ClientGetAssert { node, key, equals, is_null } => {
                let Some(found) = self.nodes.read_for_client(self.nodes.number(node), key)? else { return Ok(()) };
                let found = found.map(|entry| entry.value);
                let shown = |value: Option<&str>| value.map_or("nothing".to_owned(), |value| format!("{value:?}"));
                let expected = match (equals, is_null) {
                    (Some(equals), _) if found.as_ref() != Some(equals) => shown(Some(equals)),
                    (None, Some(true)) if found.is_some() => shown(None),
                    (None, Some(false) | None) if found.is_none() => "a value".to_owned(),
                    _ => return Ok(()),
                };
                let found = shown(found.as_deref());
                Err(StepFailure::new(format!("{node} has {found} under {key:?}; expected {expected}")))
            }
            ClusterStep::Partition { a, b } => {
                self.nodes.partition(NodePair::of(self.nodes.number(a), self.nodes.number(b)));
                Ok(())
            }
            ClusterStep::Heal { a, b } => {
                self.nodes.heal(NodePair::of(self.nodes.number(a), self.nodes.number(b)));
                Ok(())
            }
            ClusterStep::Crash { node } => {
                self.nodes.crash(self.nodes.number(node));
                Ok(())
            }
            ClusterStep::Restart { node } => self.nodes.restart(self.nodes.number(node)),
            ClusterStep::Tick { duration } => {
                tools::advance(duration.0);
                Ok(())
            }
        }
    }

    /// What must hold now, of the nodes that are up.
    fn check(&mut self, at_the_end: bool) -> Result<(), StepFailure> {
        for (number, invariant) in self.cluster.invariants.iter().enumerate() {
            let wrong = match invariant {
                ClusterInvariant::KvAllEqual { .. } if !at_the_end => None,
                _ if !at_the_end && self.is_written_later(invariant.key()) => None,
                ClusterInvariant::KvAllEqual { key } => self.nodes.unequal(key),
                ClusterInvariant::KvPresentOnAll { key } => self.nodes.absent(key),
                ClusterInvariant::KvNodeEquals { node, key, equals } => {
                    self.nodes.other_than(self.nodes.number(node), key, equals)
                }
            };
            if let Some(what) = wrong {
                return Err(StepFailure::new(what).at(|| format!("invariants[{number}]: {}", invariant.kind())));
            }
        }
        Ok(())
    }

    /// Whether a step that has not been executed yet writes a key.
    fn is_written_later(&self, key: &str) -> bool {
        let writes = |step: &ClusterStep| matches!(step, ClusterStep::ClientPut { key: written, .. } if written == key);
        self.cluster.steps[self.next_step..].iter().any(writes)
    }
}
