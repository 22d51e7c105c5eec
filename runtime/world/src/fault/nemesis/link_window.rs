//! What nemeses do to packets: on which links, from when until when.
//!
//! Invariant: a packet is judged by the moment at which it is sent; each repetition is judged by its own.

use fozzy_trace::nemesis::Grudge;
use fozzy_trace::{Duration, Instant, NodeId};
use std::collections::BTreeSet;

/// An effect on some links for some time.
#[derive(Clone, Debug)]
pub(crate) struct LinkWindow {
    pub(crate) from: Instant,
    pub(crate) until: Instant,
    links: LinkSet,
    effect: LinkEffect,
    /// Machines that reach each other in spite of it.
    healed: BTreeSet<NodeId>,
}

/// Some links between machines.
#[derive(Clone, Debug)]
pub(crate) enum LinkSet {
    /// Those to each receiver from whom it refuses.
    Grudge(Grudge),
    /// Those from and to these machines, whoever is at the other end.
    Touching(BTreeSet<NodeId>),
    /// Those to the first ones from the second ones.
    Into(BTreeSet<NodeId>, BTreeSet<NodeId>),
    /// Those between one and the others, in both directions.
    Around(NodeId, BTreeSet<NodeId>),
    /// Those between two of these.
    Among(BTreeSet<NodeId>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkEffect {
    Cut,
    /// Up to so much longer.
    Delay(Duration),
    /// So much longer.
    Slow(Duration),
    /// So many millionths are lost.
    Loss(u64),
    Duplicate,
    Reorder,
    /// Arrives at the end.
    Hold,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinkHarm {
    /// It does not arrive.
    pub(crate) is_cut: bool,
    /// It takes up to so much longer, which is drawn.
    pub(crate) delay_max: Duration,
    /// It takes so much longer.
    pub(crate) slower: Duration,
    /// It is lost with this probability, in millionths.
    pub(crate) loss_ppm: u64,
    /// It may come twice.
    pub(crate) may_double: bool,
    /// Others may overtake it.
    pub(crate) may_be_late: bool,
    /// It does not arrive before.
    pub(crate) held_until: Instant,
}

impl LinkWindow {
    pub(crate) fn new(from: Instant, until: Instant, links: LinkSet, effect: LinkEffect) -> LinkWindow {
        LinkWindow { from, until, links, effect, healed: BTreeSet::new() }
    }

    /// Whether it is about no link at all.
    pub(crate) fn is_empty(&self) -> bool {
        let has_other = |node: &NodeId, others: &BTreeSet<NodeId>| others.iter().any(|other| other != node);
        match &self.links {
            LinkSet::Grudge(grudge) => grudge.0.is_empty(),
            LinkSet::Touching(nodes) => nodes.is_empty(),
            LinkSet::Into(nodes, senders) => !nodes.iter().any(|node| has_other(node, senders)),
            LinkSet::Around(node, others) => !has_other(node, others),
            LinkSet::Among(nodes) => nodes.len() < 2,
        }
    }

    /// Whether it is about a packet that is sent at this moment.
    pub(crate) fn holds(&self, from: NodeId, to: NodeId, at: Instant) -> bool {
        let is_of = |set: &BTreeSet<NodeId>, node: NodeId| set.contains(&node);
        let is_on = match &self.links {
            _ if at < self.from || at >= self.until => return false,
            LinkSet::Grudge(grudge) => grudge.cuts(from.0 as usize, to.0 as usize),
            LinkSet::Touching(nodes) => is_of(nodes, from) || is_of(nodes, to),
            LinkSet::Into(nodes, senders) => is_of(nodes, to) && is_of(senders, from),
            LinkSet::Around(node, others) => from == *node && is_of(others, to) || to == *node && is_of(others, from),
            LinkSet::Among(nodes) => is_of(nodes, from) && is_of(nodes, to),
        };
        is_on
            && !(is_of(&self.healed, from) && (is_of(&self.healed, to) || to == NodeId(0)))
            && !(from == NodeId(0) && is_of(&self.healed, to))
    }

    pub(crate) fn add_to(&self, harm: &mut LinkHarm) {
        match self.effect {
            LinkEffect::Cut => harm.is_cut = true,
            LinkEffect::Delay(most) => harm.delay_max = Duration(harm.delay_max.0.saturating_add(most.0)),
            LinkEffect::Slow(by) => harm.slower = Duration(harm.slower.0.saturating_add(by.0)),
            LinkEffect::Loss(ppm) => harm.loss_ppm = harm.loss_ppm.max(ppm),
            LinkEffect::Duplicate => harm.may_double = true,
            LinkEffect::Reorder => harm.may_be_late = true,
            LinkEffect::Hold => harm.held_until = harm.held_until.max(self.until),
        }
    }

    /// Ends it between machines that are healed; it lasts for the others. Whether it can still have an effect.
    pub(crate) fn heal(&mut self, healed: &BTreeSet<NodeId>) -> bool {
        self.healed.clone_from(healed);
        // What is held would arrive only at the end, which does not come.
        if matches!(self.effect, LinkEffect::Hold) {
            return false;
        }
        self.until = Instant::NEVER;
        true
    }
}
