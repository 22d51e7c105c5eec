//! Partitions: which nodes refuse messages of which others.
//!
//! ```text
//! one              one node and the rest                     minority-third    fewer than a third of them, and the rest
//! majority         just more than half, and the rest         majorities-ring   each hears a majority, each another one
//! ```

use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use std::collections::{BTreeMap, BTreeSet};

/// Shapes of partitions, all equally likely.
const SHAPES: [fn(&[String]) -> Grudge; 4] = [one, minority_third, majority, majorities_ring];

/// Nanoseconds between one node that is cut off, or comes back, and the next.
const SWIZZLE_GAP: u64 = 200_000_000;

/// By receiver, whom it refuses.
type Grudge = BTreeMap<String, BTreeSet<String>>;

/// The partition of the moment.
#[derive(Default)]
pub struct Partition(Grudge);

impl Partition {
    /// Draws one.
    pub fn draw(nodes: &[String]) -> Partition {
        let shape = SHAPES[draws::choose("partition", SHAPES.len() as u64) as usize];
        Partition(shape(&shuffled(nodes)))
    }

    /// Draws one in which some nodes do not hear the others, who hear them.
    pub fn draw_one_way(nodes: &[String]) -> Partition {
        let shape = [one, minority_third, majority][draws::choose("partition", 3) as usize];
        let nodes = shuffled(nodes);
        let (first, is_first_deaf) = (nodes.first(), draws::choose("direction", 2) == 0);
        let mut grudge = shape(&nodes);
        let side: BTreeSet<String> = first.and_then(|first| grudge.get(first)).cloned().unwrap_or_default();
        grudge.retain(|node, _| side.contains(node) != is_first_deaf);
        Partition(grudge)
    }

    /// Whether a message does not arrive.
    pub fn cuts(&self, src: &str, dest: &str) -> bool {
        self.0.get(dest).is_some_and(|refused| refused.contains(src))
    }

    /// Who does not hear whom, for people.
    pub fn words(&self) -> String {
        let words = |(node, refused): (&String, &BTreeSet<String>)| {
            let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
            format!("{node} does not hear {}", refused.join(", "))
        };
        self.0.iter().map(words).collect::<Vec<_>>().join("; ")
    }
}

/// Nodes that are cut off one after the other, and come back in another order.
#[derive(Default)]
pub struct Swizzle {
    /// It is this moment.
    pub now: u64,
    /// By node, from when until when it hears nobody and nobody hears it.
    cut: BTreeMap<String, (u64, u64)>,
}

impl Swizzle {
    /// Some nodes are cut off, the first one now.
    pub fn begin(&mut self, now: u64, nodes: Vec<String>) {
        let each = |(place, node): (u64, String)| (node, (now.saturating_add(place * SWIZZLE_GAP), u64::MAX));
        self.cut = (0..).zip(nodes).map(each).collect();
    }

    /// They come back, the first one now.
    pub fn end(&mut self, now: u64) {
        let names: Vec<String> = self.cut.keys().cloned().collect();
        for (place, node) in (0..).zip(shuffled(&names)) {
            if let Some((_, until)) = self.cut.get_mut(&node) {
                *until = now.saturating_add(place * SWIZZLE_GAP);
            }
        }
    }

    /// Whether a message does not arrive.
    pub fn cuts(&self, src: &str, dest: &str) -> bool {
        let is_cut = |node: &str| self.cut.get(node).is_some_and(|(from, until)| (*from..*until).contains(&self.now));
        is_cut(src) != is_cut(dest) || is_cut(src) && src != dest
    }
}

/// The nodes in another order.
pub fn shuffled(nodes: &[String]) -> Vec<String> {
    let mut nodes = nodes.to_vec();
    for at in 0..nodes.len().saturating_sub(1) {
        let others = (nodes.len() - at) as u64;
        nodes.swap(at, at + draws::choose("order of nodes", others) as usize);
    }
    nodes
}

fn one(nodes: &[String]) -> Grudge {
    split(nodes, 1)
}

fn minority_third(nodes: &[String]) -> Grudge {
    // The largest number below a third.
    split(nodes, nodes.len().saturating_sub(1) / 3)
}

fn majority(nodes: &[String]) -> Grudge {
    split(nodes, nodes.len() / 2 + 1)
}

/// The first ones and the rest refuse each other.
fn split(nodes: &[String], first: usize) -> Grudge {
    let (some, others) = nodes.split_at(first.min(nodes.len()));
    let refuse = |some: &[String], others: &[String]| -> Grudge {
        some.iter().map(|node| (node.clone(), others.iter().cloned().collect())).collect()
    };
    let mut grudge = refuse(some, others);
    grudge.extend(refuse(others, some));
    grudge.retain(|_, refused| !refused.is_empty());
    grudge
}

/// The node in the middle of each stretch of a ring that is a majority hears that stretch only.
fn majorities_ring(nodes: &[String]) -> Grudge {
    let majority = nodes.len() / 2 + 1;
    let stretch = |from: usize| -> Vec<&String> { nodes.iter().cycle().skip(from).take(majority).collect() };
    let refused = |from: usize| {
        let heard = stretch(from);
        let refused: BTreeSet<String> = nodes.iter().filter(|node| !heard.contains(node)).cloned().collect();
        (heard[majority / 2].clone(), refused)
    };
    (0..nodes.len()).map(refused).filter(|(_, refused)| !refused.is_empty()).collect()
}
