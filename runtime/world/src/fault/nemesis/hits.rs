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

impl Nemeses {
    /// Machines that are hit now; `gone` are those whose programs are gone, whatever the reason.
    pub(crate) fn hits(&self, gone: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        self.with_parted(self.chosen(), None, gone)
    }

    /// Of some machines, in their order, those that may be hit, too.
    pub(crate) fn allowed(&self, targets: Vec<NodeId>, gone: &BTreeSet<NodeId>) -> Vec<NodeId> {
        let Some(most) = self.cluster.hit_max else { return targets };
        let mut hits = self.hits(gone);
        let is_allowed = |node: &NodeId| {
            if hits.contains(node) {
                return true;
            }
            // Who comes is one more, whatever else follows from it.
            if hits.len() >= most as usize {
                return false;
            }
            let chosen = hits.iter().copied().chain([*node]).collect();
            let more = self.with_parted(chosen, None, gone);
            let is_within = more.len() <= most as usize;
            if is_within {
                hits = more;
            }
            is_within
        };
        targets.into_iter().filter(is_allowed).collect()
    }

    /// Whether a partition may come, too.
    pub(crate) fn allows(&self, parted: PartitionCut<'_>, gone: &BTreeSet<NodeId>) -> bool {
        let Some(most) = self.cluster.hit_max else { return true };
        self.with_parted(self.chosen(), Some(parted), gone).len() <= most as usize
    }

    /// Machines that are hit by themselves.
    fn chosen(&self) -> BTreeSet<NodeId> {
        let active = self.active.iter().flat_map(|active| active.hits.iter().copied());
        active.chain(self.damaged.iter().copied()).chain(self.absent.iter().flatten().copied()).collect()
    }

    /// These, and those that hear no majority then.
    fn with_parted(
        &self,
        mut hits: BTreeSet<NodeId>,
        new: Option<PartitionCut<'_>>,
        gone: &BTreeSet<NodeId>,
    ) -> BTreeSet<NodeId> {
        let counts_together = self.edition >= Edition::EIGHTH;
        let active = self.active.iter().filter(|active| counts_together && !active.grudge.0.is_empty());
        let active =
            active.map(|active| PartitionCut { grudge: &active.grudge, among: &self.rules[active.rule].nodes });
        let partitions: Vec<PartitionCut<'_>> = active.chain(new).collect();
        let refuses = |to: NodeId, from: NodeId| {
            partitions.iter().any(|parted| parted.grudge.cuts(from.0 as usize, to.0 as usize))
        };
        loop {
            let is_away = |node: &NodeId| counts_together && (hits.contains(node) || gone.contains(node));
            let hears = |to: NodeId, from: NodeId| !is_away(&from) && !refuses(to, from);
            let is_hit = |node: NodeId, among: &[NodeId]| {
                let heard = || among.iter().filter(|from| **from == node || hears(node, **from)).count();
                among.iter().any(|from| refuses(node, *from)) && heard() <= among.len() / 2
            };
            let all = partitions.iter().flat_map(|parted| parted.among.iter().map(move |node| (*node, parted.among)));
            let more = all.filter(|&(node, among)| !hits.contains(&node) && is_hit(node, among));
            let more: Vec<NodeId> = more.map(|(node, _)| node).collect();
            if more.is_empty() {
                return hits;
            }
            hits.extend(more);
        }
    }
}
