//! What goes wrong: each kind begins at a step, and ends at another one. What damages files has no end.
//!
//! ```text
//! partition … heal       kill … start       pause … resume       loss … end of loss       clock … reset clocks       file-flip
//! ```
//!
//! Kinds are independent of each other. At the end of a test all of them end.
//! Not here: what a fault does to messages (`network`, `packet_faults`), to machines (`fozzy-world`).

use crate::network::MessageNetwork;
use crate::partition::{Partition, shuffled};
use crate::wire::NodeWire;
use fozzy_scenario_file::NemesisKind;
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use std::collections::BTreeSet;

/// Nanoseconds by which a wall clock jumps: forward and back, from what is hardly noticed to minutes.
const CLOCK_STEPS: [i64; 8] = [
    100_000_000,
    1_000_000_000,
    10_000_000_000,
    262_000_000_000,
    -100_000_000,
    -1_000_000_000,
    -10_000_000_000,
    -262_000_000_000,
];
/// Millionths by which clocks run fast or slow.
const CLOCK_DRIFTS: [i64; 6] = [500, 50_000, 1_000_000, -500, -50_000, -500_000];

/// What is wrong now.
#[derive(Default)]
pub struct Nemesis {
    active: BTreeSet<NemesisKind>,
    /// Nodes that stand still, whose clocks have jumped, and whose clocks drift.
    paused: Vec<String>,
    stepped: Vec<(String, i64)>,
    drifting: Vec<String>,
    killed: Vec<String>,
    unpowered: Vec<String>,
}

/// Places on a disk: which file, which sector, which bit.
const PLACES: u64 = 1 << 40;

/// What a kind's beginning and end are called; what damages files has no end.
pub fn names(kind: NemesisKind) -> Vec<&'static str> {
    let both = match kind {
        NemesisKind::Partition => ["partition", "heal"],
        NemesisKind::OneWay => ["one-way", "end of one-way"],
        NemesisKind::Delay => ["delay", "end of delay"],
        NemesisKind::Loss => ["loss", "end of loss"],
        NemesisKind::Duplicate => ["duplicate", "end of duplicate"],
        NemesisKind::Reorder => ["reorder", "end of reorder"],
        NemesisKind::Slow => ["slow", "end of slow"],
        NemesisKind::Jam => ["jam", "end of jam"],
        NemesisKind::Swizzle => ["swizzle", "end of swizzle"],
        NemesisKind::SlowNode => ["slow-node", "end of slow-node"],
        NemesisKind::Kill => ["kill", "start"],
        NemesisKind::PowerLoss => ["power-loss", "power is back"],
        NemesisKind::Pause => ["pause", "resume"],
        NemesisKind::Clock => ["clock", "reset clocks"],
        NemesisKind::Drift => ["drift", "end of drift"],
        NemesisKind::FileFlip
        | NemesisKind::FileLost
        | NemesisKind::FileTorn
        | NemesisKind::FileMisdirect
        | NemesisKind::FileTruncate => return vec![kind.word()],
    };
    both.to_vec()
}

impl Nemesis {
    pub fn is_active(&self, kind: NemesisKind) -> bool {
        self.active.contains(&kind)
    }

    /// Whether a node stands still.
    pub fn is_paused(&self, node: &str) -> bool {
        self.paused.iter().any(|paused| paused == node)
    }

    /// A kind begins. What it does, for people.
    pub fn begin(
        &mut self,
        kind: NemesisKind,
        now: u64,
        nodes: &[String],
        network: &mut MessageNetwork,
        wire: &mut NodeWire,
    ) -> String {
        if !NemesisKind::OF_FILES.contains(&kind) {
            self.active.insert(kind);
        }
        match kind {
            NemesisKind::FileFlip
            | NemesisKind::FileLost
            | NemesisKind::FileTorn
            | NemesisKind::FileMisdirect
            | NemesisKind::FileTruncate => {
                let node = &nodes[draws::choose("target", nodes.len() as u64) as usize];
                wire.order(kind.word(), node, Some(draws::choose("place", PLACES).cast_signed()));
                node.clone()
            }
            NemesisKind::Partition => {
                network.partition = Partition::draw(nodes);
                network.partition.words()
            }
            NemesisKind::OneWay => {
                network.one_way = Partition::draw_one_way(nodes);
                network.one_way.words()
            }
            NemesisKind::Delay | NemesisKind::Loss | NemesisKind::Duplicate | NemesisKind::Reorder => {
                network.faults.begin(kind)
            }
            NemesisKind::Slow => {
                network.faults.slow = targets(nodes).into_iter().collect();
                listed(&network.faults.slow)
            }
            NemesisKind::Jam => {
                network.faults.jammed = targets(nodes).into_iter().collect();
                listed(&network.faults.jammed)
            }
            NemesisKind::Swizzle => {
                let targets = targets(nodes);
                let words = listed(&targets);
                network.swizzle.begin(now, targets);
                words
            }
            NemesisKind::SlowNode => {
                network.slow_nodes = targets(nodes).into_iter().map(|node| (node, now)).collect();
                listed(network.slow_nodes.keys())
            }
            NemesisKind::Kill | NemesisKind::PowerLoss => {
                let up: Vec<String> = nodes.iter().filter(|node| !network.down.contains(*node)).cloned().collect();
                let targets = targets(&up);
                for node in &targets {
                    wire.order(if kind == NemesisKind::Kill { "kill" } else { "power-loss" }, node, None);
                    network.down.insert(node.clone());
                }
                let words = listed(&targets);
                *if kind == NemesisKind::Kill { &mut self.killed } else { &mut self.unpowered } = targets;
                words
            }
            NemesisKind::Pause => {
                self.paused = targets(nodes);
                self.paused.iter().for_each(|node| wire.order("pause", node, None));
                listed(&self.paused)
            }
            NemesisKind::Clock => {
                let step = CLOCK_STEPS[draws::choose("clock step", CLOCK_STEPS.len() as u64) as usize];
                self.stepped = targets(nodes).into_iter().map(|node| (node, step)).collect();
                self.stepped.iter().for_each(|(node, ns)| wire.order("step-clock", node, Some(*ns)));
                format!("{} by {} ms", listed(self.stepped.iter().map(|one| &one.0)), step / 1_000_000)
            }
            NemesisKind::Drift => {
                let ppm = CLOCK_DRIFTS[draws::choose("clock drift", CLOCK_DRIFTS.len() as u64) as usize];
                self.drifting = targets(nodes);
                self.drifting.iter().for_each(|node| wire.order("drift-clock", node, Some(ppm)));
                format!("{} by {ppm} millionths", listed(&self.drifting))
            }
        }
    }

    /// A kind ends. The nodes whose programs start again.
    pub fn end(
        &mut self,
        kind: NemesisKind,
        now: u64,
        network: &mut MessageNetwork,
        wire: &mut NodeWire,
    ) -> Vec<String> {
        self.active.remove(&kind);
        match kind {
            NemesisKind::Partition => network.partition = Partition::default(),
            NemesisKind::OneWay => network.one_way = Partition::default(),
            NemesisKind::Delay | NemesisKind::Loss | NemesisKind::Duplicate | NemesisKind::Reorder => {
                network.faults.end(kind);
            }
            NemesisKind::Slow => network.faults.slow.clear(),
            NemesisKind::Jam => network.release(now),
            NemesisKind::Swizzle => network.swizzle.end(now),
            NemesisKind::SlowNode => network.slow_nodes.clear(),
            NemesisKind::Kill | NemesisKind::PowerLoss => {
                let ended = if kind == NemesisKind::Kill { &mut self.killed } else { &mut self.unpowered };
                for node in ended.iter() {
                    network.down.remove(node);
                    wire.order("start", node, None);
                }
                return std::mem::take(ended);
            }
            NemesisKind::FileFlip
            | NemesisKind::FileLost
            | NemesisKind::FileTorn
            | NemesisKind::FileMisdirect
            | NemesisKind::FileTruncate => {}
            NemesisKind::Pause => {
                std::mem::take(&mut self.paused).iter().for_each(|node| wire.order("resume", node, None))
            }
            NemesisKind::Clock => {
                for (node, ns) in std::mem::take(&mut self.stepped) {
                    wire.order("step-clock", &node, Some(-ns));
                }
            }
            NemesisKind::Drift => {
                for node in std::mem::take(&mut self.drifting) {
                    wire.order("drift-clock", &node, Some(0));
                }
            }
        }
        Vec::new()
    }
}

/// Nodes that a fault hits: one, fewer than half, more than half, or all.
fn targets(nodes: &[String]) -> Vec<String> {
    let count = match draws::choose("targets", 4) {
        0 => 1,
        1 => (nodes.len().saturating_sub(1) / 2).max(1),
        2 => nodes.len() / 2 + 1,
        _ => nodes.len(),
    };
    let mut targets = shuffled(nodes);
    targets.truncate(count);
    targets
}

fn listed<'a>(nodes: impl IntoIterator<Item = &'a String>) -> String {
    nodes.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
