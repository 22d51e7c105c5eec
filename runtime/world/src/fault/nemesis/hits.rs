//! Which machines are hit, and whether more may be.
//!
//! ```text
//! n1 n2 | n4 n5, and n3 hears all      each hears a majority: none is hit
//! and n3 is killed                     each of the others hears one other that is not hit: no majority, so that all are hit
//! ```
//!
//! All partitions count together. A machine that one of them parts from others is hit unless it hears a majority of the partition's
//! machines, itself included, that are neither hit nor gone: who is hit need not answer.
//!
//! Invariant: with more faults, no fewer machines are hit, so that what is allowed at a strike keeps the bound when other faults end. Where
//! there are no partitions, only those are hit whom nemeses have chosen.
//! Under plans before [`Edition::EIGHTH`] each partition counts alone, when it is to begin, as if all others were heard.

use super::Nemeses;
use fozzy_trace::NodeId;
use fozzy_trace::nemesis::Grudge;
use fozzy_trace::plan::Edition;
use std::collections::BTreeSet;

/// Whom a partition parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartitionCut<'a> {
    /// Who refuses whom.
    pub(crate) grudge: &'a Grudge,
    /// The machines whose majority is asked for.
    pub(crate) among: &'a [NodeId],
}

/// All partitions that count, and whom they are among.
struct CountedPartitions<'a> {
    cuts: Vec<PartitionCut<'a>>,
    members: Vec<BTreeSet<NodeId>>,
    /// Machines whose programs are gone.
    gone: &'a BTreeSet<NodeId>,
    /// Whether who is hit or gone is not heard.
    counts_together: bool,
}

/// A machine that is parted from others of a partition, and how many of its machines it hears.
#[derive(Clone, Copy)]
struct PartedMachine {
    node: NodeId,
    partition: usize,
    heard: usize,
}

/// Machines that are hit, and what the others hear then.
#[derive(Clone)]
struct HitMachines {
    hits: BTreeSet<NodeId>,
    parted: Vec<PartedMachine>,
}

impl CountedPartitions<'_> {
    fn refuses(&self, to: NodeId, from: NodeId) -> bool {
        self.cuts.iter().any(|parted| parted.grudge.cuts(from.0 as usize, to.0 as usize))
    }

    /// Whom a machine must hear more of than this many, itself included.
    fn half(&self, parted: &PartedMachine) -> usize {
        self.cuts[parted.partition].among.len() / 2
    }

    /// These are hit, and those that hear no majority then.
    fn hit(&self, chosen: BTreeSet<NodeId>) -> HitMachines {
        let mut all = HitMachines { hits: BTreeSet::new(), parted: Vec::new() };
        for (partition, cut) in self.cuts.iter().enumerate() {
            for node in cut.among.iter().copied() {
                if cut.among.iter().any(|from| self.refuses(node, *from)) {
                    let is_heard = |from: &&NodeId| {
                        let is_away = self.counts_together && self.gone.contains(*from);
                        **from == node || !is_away && !self.refuses(node, **from)
                    };
                    let heard = cut.among.iter().filter(is_heard).count();
                    all.parted.push(PartedMachine { node, partition, heard });
                }
            }
        }
        let unheard = all.parted.iter().filter(|parted| parted.heard <= self.half(parted)).map(|parted| parted.node);
        let first: Vec<NodeId> = chosen.into_iter().chain(unheard).collect();
        first.into_iter().for_each(|node| self.hit_more(&mut all, node));
        all
    }

    /// One more is hit: who hears it no longer may be hit, too. Each machine is looked at once, whatever else is hit.
    fn hit_more(&self, all: &mut HitMachines, node: NodeId) {
        let mut next = vec![node];
        while let Some(node) = next.pop() {
            // Who is gone was not heard before.
            if !all.hits.insert(node) || !self.counts_together || self.gone.contains(&node) {
                continue;
            }
            for parted in &mut all.parted {
                let is_other = parted.node != node && self.members[parted.partition].contains(&node);
                if is_other && !self.refuses(parted.node, node) {
                    parted.heard -= 1;
                    if parted.heard <= self.half(parted) {
                        next.push(parted.node);
                    }
                }
            }
        }
    }
}

impl Nemeses {
    /// Machines that are hit now; `gone` are those whose programs are gone, whatever the reason.
    #[cfg(test)]
    pub(crate) fn hits(&self, gone: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        self.partitions(None, gone).hit(self.chosen()).hits
    }

    /// Of some machines, in their order, those that may be hit, too.
    pub(crate) fn allowed(&self, targets: Vec<NodeId>, gone: &BTreeSet<NodeId>) -> Vec<NodeId> {
        let Some(most) = self.cluster.hit_max else { return targets };
        let partitions = self.partitions(None, gone);
        let mut now = partitions.hit(self.chosen());
        let is_allowed = |node: &NodeId| {
            if now.hits.contains(node) {
                return true;
            }
            // Who comes is one more, whatever else follows from it.
            if now.hits.len() >= most as usize {
                return false;
            }
            let mut then = now.clone();
            partitions.hit_more(&mut then, *node);
            let is_within = then.hits.len() <= most as usize;
            if is_within {
                now = then;
            }
            is_within
        };
        targets.into_iter().filter(is_allowed).collect()
    }

    /// Whether a partition may come, too.
    pub(crate) fn allows(&self, parted: PartitionCut<'_>, gone: &BTreeSet<NodeId>) -> bool {
        let Some(most) = self.cluster.hit_max else { return true };
        self.partitions(Some(parted), gone).hit(self.chosen()).hits.len() <= most as usize
    }

    /// Machines that are hit by themselves.
    fn chosen(&self) -> BTreeSet<NodeId> {
        let active = self.active.iter().flat_map(|active| active.hits.iter().copied());
        active.chain(self.damaged.iter().copied()).chain(self.absent.iter().flatten().copied()).collect()
    }

    /// Those at work, and a new one.
    fn partitions<'a>(&'a self, new: Option<PartitionCut<'a>>, gone: &'a BTreeSet<NodeId>) -> CountedPartitions<'a> {
        let counts_together = self.edition >= Edition::EIGHTH;
        let active = self.active.iter().filter(|active| counts_together && !active.grudge.0.is_empty());
        let active =
            active.map(|active| PartitionCut { grudge: &active.grudge, among: &self.rules[active.rule].nodes });
        let cuts: Vec<PartitionCut<'a>> = active.chain(new).collect();
        let members = cuts.iter().map(|cut| cut.among.iter().copied().collect()).collect();
        CountedPartitions { cuts, members, gone, counts_together }
    }
}
