//! Whom a nemesis hits: shapes of partitions, and how many nodes. Pure functions over numbers of nodes, for the simulated computer and
//! for programs that are the network of others.
//!
//! ```text
//! one              one node and the rest                   majorities-ring  each hears a majority, each another one
//! minority-third   fewer than a third of them, and the rest  halves         two halves
//! majority         just more than half, and the rest         bridge         two halves, and one node that hears both
//! primaries        the nodes that lead, each alone
//! ```
//!
//! Invariant: all chance comes from the caller, as numbers below a bound whose simplest answer is zero.
//! Not here: when a nemesis begins and ends, what it does (`fozzy-world`, `runtime/player/maelstrom`).

use std::collections::{BTreeMap, BTreeSet};

/// Who answers: what is asked, and how many answers there are; the answer is below that.
pub type Chooser<'a> = dyn FnMut(&str, u64) -> u64 + 'a;

/// A shape of partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartitionShape {
    /// One node and the rest.
    One,
    /// The largest number of nodes below a third, and the rest.
    MinorityThird,
    /// Just more than half, and the rest.
    Majority,
    /// Each node hears a majority, each another one.
    MajoritiesRing,
    /// Two halves.
    Halves,
    /// Two halves, and one node that hears both.
    Bridge,
    /// The nodes that lead, each alone.
    Primaries,
}

impl PartitionShape {
    /// All of them.
    pub const ALL: [PartitionShape; 7] = [
        PartitionShape::One,
        PartitionShape::MinorityThird,
        PartitionShape::Majority,
        PartitionShape::MajoritiesRing,
        PartitionShape::Halves,
        PartitionShape::Bridge,
        PartitionShape::Primaries,
    ];

    /// Its word in plans.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            PartitionShape::One => "one",
            PartitionShape::MinorityThird => "minority-third",
            PartitionShape::Majority => "majority",
            PartitionShape::MajoritiesRing => "majorities-ring",
            PartitionShape::Halves => "halves",
            PartitionShape::Bridge => "bridge",
            PartitionShape::Primaries => "primaries",
        }
    }

    /// The shape of that word.
    #[must_use]
    pub fn of(word: &str) -> Option<PartitionShape> {
        PartitionShape::ALL.into_iter().find(|shape| shape.word() == word)
    }

    /// The fewest nodes that it cuts.
    #[must_use]
    pub const fn nodes_min(self) -> usize {
        match self {
            PartitionShape::One | PartitionShape::Halves | PartitionShape::Majority | PartitionShape::Primaries => 2,
            PartitionShape::MajoritiesRing | PartitionShape::Bridge => 3,
            PartitionShape::MinorityThird => 4,
        }
    }

    /// Who refuses whom, of nodes in this order; `primaries` are those that lead.
    #[must_use]
    pub fn grudge(self, nodes: &[usize], primaries: &[usize]) -> Grudge {
        match self {
            PartitionShape::One => Grudge::split(nodes, 1),
            // The largest number below a third.
            PartitionShape::MinorityThird => Grudge::split(nodes, nodes.len().saturating_sub(1) / 3),
            PartitionShape::Majority => Grudge::split(nodes, nodes.len() / 2 + 1),
            PartitionShape::Halves => Grudge::split(nodes, nodes.len() / 2),
            PartitionShape::MajoritiesRing => Grudge::ring(nodes),
            PartitionShape::Bridge => {
                let mut grudge = Grudge::split(nodes.get(1..).unwrap_or_default(), nodes.len().saturating_sub(1) / 2);
                grudge.0.retain(|_, refused| !refused.is_empty());
                grudge
            }
            PartitionShape::Primaries => {
                let mut grudge = Grudge::default();
                for primary in primaries {
                    let others: Vec<usize> = nodes.iter().copied().filter(|node| node != primary).collect();
                    grudge.refuse(&[*primary], &others);
                    grudge.refuse(&others, &[*primary]);
                }
                grudge
            }
        }
    }
}

/// By receiver, whom it refuses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grudge(pub BTreeMap<usize, BTreeSet<usize>>);

impl Grudge {
    /// The first ones and the rest refuse each other.
    #[must_use]
    pub fn split(nodes: &[usize], first: usize) -> Grudge {
        let (some, others) = nodes.split_at(first.min(nodes.len()));
        let mut grudge = Grudge::default();
        grudge.refuse(some, others);
        grudge.refuse(others, some);
        grudge
    }

    /// The node in the middle of each stretch of a ring that is a majority hears that stretch only.
    #[must_use]
    pub fn ring(nodes: &[usize]) -> Grudge {
        let majority = nodes.len() / 2 + 1;
        let stretch = |from: usize| -> Vec<usize> { nodes.iter().cycle().skip(from).take(majority).copied().collect() };
        let refused = |from: usize| {
            let heard = stretch(from);
            let refused: BTreeSet<usize> = nodes.iter().filter(|node| !heard.contains(node)).copied().collect();
            (heard[majority / 2], refused)
        };
        Grudge((0..nodes.len()).map(refused).filter(|(_, refused)| !refused.is_empty()).collect())
    }

    /// Each of `receivers` refuses all of `senders`.
    pub fn refuse(&mut self, receivers: &[usize], senders: &[usize]) {
        for receiver in receivers.iter().filter(|_| !senders.is_empty()) {
            self.0.entry(*receiver).or_default().extend(senders);
        }
    }

    /// One direction of it only: of those who refuse or are refused by the side of `first`, those of that side, or the others.
    #[must_use]
    pub fn one_way(mut self, first: usize, is_first_deaf: bool) -> Grudge {
        let other: BTreeSet<usize> = self.0.get(&first).cloned().unwrap_or_default();
        self.0.retain(|node, _| other.contains(node) != is_first_deaf);
        self
    }

    /// Whether a message does not arrive.
    #[must_use]
    pub fn cuts(&self, from: usize, to: usize) -> bool {
        self.0.get(&to).is_some_and(|refused| refused.contains(&from))
    }

    /// The nodes that hear no majority of them all, themselves included.
    #[must_use]
    pub fn without_majority(&self, nodes: &[usize]) -> BTreeSet<usize> {
        let heard = |node: usize| nodes.len() - self.0.get(&node).map_or(0, BTreeSet::len);
        nodes.iter().copied().filter(|node| heard(*node) <= nodes.len() / 2).collect()
    }

    /// Who does not hear whom, for people.
    #[must_use]
    pub fn words(&self, name: &dyn Fn(usize) -> String) -> String {
        let mut groups: BTreeMap<&BTreeSet<usize>, Vec<String>> = BTreeMap::new();
        for (node, refused) in &self.0 {
            groups.entry(refused).or_default().push(name(*node));
        }
        let mut groups: Vec<(Vec<String>, &BTreeSet<usize>)> =
            groups.into_iter().map(|(refused, nodes)| (nodes, refused)).collect();
        groups.sort();
        let words = |(nodes, refused): (Vec<String>, &BTreeSet<usize>)| {
            let refused: Vec<String> = refused.iter().map(|node| name(*node)).collect();
            let verb = if nodes.len() == 1 { "does" } else { "do" };
            format!("{} {verb} not hear {}", nodes.join(", "), refused.join(", "))
        };
        groups.into_iter().map(words).collect::<Vec<_>>().join("; ")
    }
}

/// How many nodes a nemesis hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeTargets {
    /// One.
    One,
    /// Fewer than half, and one at least.
    Minority,
    /// Just more than half.
    Majority,
    /// All.
    All,
    /// Any number but none.
    Some,
    /// Those that lead.
    Primaries,
}

impl NodeTargets {
    /// All of them.
    pub const ALL: [NodeTargets; 6] = [
        NodeTargets::One,
        NodeTargets::Minority,
        NodeTargets::Majority,
        NodeTargets::All,
        NodeTargets::Some,
        NodeTargets::Primaries,
    ];

    /// What is drawn from when nothing is said.
    pub const USUAL: [NodeTargets; 4] =
        [NodeTargets::One, NodeTargets::Minority, NodeTargets::Majority, NodeTargets::All];

    /// Its word in plans.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            NodeTargets::One => "one",
            NodeTargets::Minority => "minority",
            NodeTargets::Majority => "majority",
            NodeTargets::All => "all",
            NodeTargets::Some => "some",
            NodeTargets::Primaries => "primaries",
        }
    }

    /// The targets of that word.
    #[must_use]
    pub fn of(word: &str) -> Option<NodeTargets> {
        NodeTargets::ALL.into_iter().find(|targets| targets.word() == word)
    }

    /// Whether it can be all of so many nodes. Those that lead are not all.
    #[must_use]
    pub fn can_be_all(self, nodes: usize) -> bool {
        match self {
            NodeTargets::One => nodes <= 1,
            NodeTargets::Minority => minority(nodes) >= nodes,
            NodeTargets::Majority => majority(nodes) >= nodes,
            NodeTargets::All | NodeTargets::Some => true,
            NodeTargets::Primaries => false,
        }
    }

    /// Draws which of the nodes 0, 1, … they are; `primaries` are those that lead.
    pub fn draw(self, nodes: usize, primaries: &[usize], choose: &mut Chooser<'_>) -> Vec<usize> {
        let count = match self {
            _ if nodes == 0 => 0,
            NodeTargets::One => 1,
            NodeTargets::Minority => minority(nodes),
            NodeTargets::Majority => majority(nodes),
            NodeTargets::All => nodes,
            NodeTargets::Some => 1 + choose("number of nodes", nodes as u64) as usize,
            NodeTargets::Primaries => return primaries.to_vec(),
        };
        let mut targets = shuffled(nodes, choose);
        targets.truncate(count.min(nodes));
        targets
    }
}

/// Fewer than half of so many, and one at least.
fn minority(nodes: usize) -> usize {
    (nodes.saturating_sub(1) / 2).max(1)
}

/// Just more than half of so many.
const fn majority(nodes: usize) -> usize {
    nodes / 2 + 1
}

/// The numbers 0, 1, … in another order.
pub fn shuffled(count: usize, choose: &mut Chooser<'_>) -> Vec<usize> {
    let mut nodes: Vec<usize> = (0..count).collect();
    for at in 0..count.saturating_sub(1) {
        nodes.swap(at, at + choose("order of nodes", (count - at) as u64) as usize);
    }
    nodes
}

/// Nanoseconds by which a wall clock jumps: forward and back, from what is hardly noticed to minutes.
pub const CLOCK_STEPS_NS: [i64; 8] = [
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
pub const CLOCK_DRIFTS_PPM: [i64; 6] = [500, 50_000, 1_000_000, -500, -50_000, -500_000];

/// Milliseconds that messages take longer, at most.
pub const DELAYS_MS: [u64; 4] = [20, 100, 500, 2_000];

/// Hundredths of messages that are lost.
pub const LOSSES_PERCENT: [u64; 4] = [10, 30, 60, 90];

/// Hundredths of messages that come twice, or late.
pub const SHARE_PERCENT: u64 = 20;

/// Milliseconds that a message is late which others overtake, at most.
pub const REORDER_MS: u64 = 200;

/// Milliseconds that messages of slow nodes take longer.
pub const SLOW_MS: u64 = 500;

#[cfg(test)]
mod tests {
    use super::*;

    fn grudge(shape: PartitionShape, nodes: usize) -> String {
        let nodes: Vec<usize> = (0..nodes).collect();
        shape.grudge(&nodes, &[1]).words(&|node| format!("n{node}"))
    }

    #[test]
    fn shapes_cut_what_their_names_say() {
        assert_eq!(grudge(PartitionShape::One, 3), "n0 does not hear n1, n2; n1, n2 do not hear n0");
        assert_eq!(grudge(PartitionShape::MinorityThird, 3), "", "no number of nodes is below a third of three");
        assert_eq!(grudge(PartitionShape::MinorityThird, 4), "n0 does not hear n1, n2, n3; n1, n2, n3 do not hear n0");
        assert_eq!(grudge(PartitionShape::Majority, 3), "n0, n1 do not hear n2; n2 does not hear n0, n1");
        assert_eq!(grudge(PartitionShape::Halves, 5), "n0, n1 do not hear n2, n3, n4; n2, n3, n4 do not hear n0, n1");
        assert_eq!(grudge(PartitionShape::Bridge, 3), "n1 does not hear n2; n2 does not hear n1");
        assert_eq!(grudge(PartitionShape::Primaries, 3), "n0, n2 do not hear n1; n1 does not hear n0, n2");
        assert_eq!(grudge(PartitionShape::One, 1), "");
    }

    #[test]
    fn each_node_of_a_ring_hears_a_majority_and_no_two_the_same() {
        for count in 3..10 {
            let nodes: Vec<usize> = (0..count).collect();
            let ring = PartitionShape::MajoritiesRing.grudge(&nodes, &[]);
            let heard: BTreeSet<Vec<usize>> =
                nodes.iter().map(|to| nodes.iter().copied().filter(|from| !ring.cuts(*from, *to)).collect()).collect();
            assert_eq!(heard.len(), count);
            assert!(heard.iter().all(|heard| heard.len() == count / 2 + 1), "{heard:?}");
            assert!(ring.without_majority(&nodes).is_empty());
        }
    }

    #[test]
    fn who_hears_no_majority_is_hit() {
        let nodes: Vec<usize> = (0..5).collect();
        let hit = |shape: PartitionShape| shape.grudge(&nodes, &[4]).without_majority(&nodes);
        assert_eq!(hit(PartitionShape::One), BTreeSet::from([0]));
        assert_eq!(hit(PartitionShape::Majority), BTreeSet::from([3, 4]));
        assert_eq!(hit(PartitionShape::Bridge), BTreeSet::new());
        assert_eq!(hit(PartitionShape::Primaries), BTreeSet::from([4]));
    }

    #[test]
    fn targets_are_different_nodes_and_zeros_draw_the_first() {
        for targets in NodeTargets::ALL {
            for nodes in 0..6 {
                let drawn = targets.draw(nodes, &[], &mut |_, bound| bound - 1);
                let distinct: BTreeSet<usize> = drawn.iter().copied().collect();
                assert!(distinct.len() == drawn.len() && drawn.iter().all(|node| *node < nodes), "{drawn:?}");
            }
        }
        assert_eq!(NodeTargets::Minority.draw(5, &[], &mut |_, _| 0), [0, 1]);
        assert_eq!(NodeTargets::Primaries.draw(5, &[3], &mut |_, _| 0), [3]);
    }

    #[test]
    fn a_partition_in_one_direction_leaves_the_other() {
        let nodes = [2, 0, 1];
        let both = PartitionShape::One.grudge(&nodes, &[]);
        let deaf = both.clone().one_way(2, true);
        assert!(deaf.cuts(0, 2) && !deaf.cuts(2, 0));
        let mute = both.one_way(2, false);
        assert!(mute.cuts(2, 0) && mute.cuts(2, 1) && !mute.cuts(0, 2));
    }
}
