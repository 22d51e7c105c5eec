//! The same cluster with fewer machines, as far as its plan says what that is: nodes of Maelstrom, and machines with a `count`.
//!
//! ```text
//! [[node]] name = "server", count = 5      server1                    the smallest first
//!                                          server1, server2
//!                                          …
//! ```
//!
//! Machines that have names of their own stay: their programs are told to find each other by these names, so that without one another
//! failure would look like the same. For that reason, none of those goes that the plan names anywhere but in a list of all.

use crate::maelstrom::{self, sizes_below};
use fozzy_trace::nemesis::{NodeTargets, PartitionShape};
use fozzy_trace::plan::{FaultPlan, Inputs, MachinePlan, MountKind};
use fozzy_trace::{Digest, NodeId, Plan};
use fozzy_world::fault::{FaultTarget, NemesisAction, kind_of, machine_of};
use fozzy_world::glob::{matches, matches_any};
use fozzy_world::network::{AddressFamily, address_of};
use std::collections::BTreeSet;

/// The plan with fewer machines, or with fewer clients, the smallest first; none of a plan that is no such cluster.
pub(super) fn smaller_clusters(plan: &Plan, inputs: &Inputs) -> Vec<Plan> {
    let of_group = |(group, count): (&str, u32)| {
        let group = group.to_owned();
        // One machine less, too, so that none of those that are left could go.
        let last = count.saturating_sub(1);
        let sizes = sizes_below(count).chain((!sizes_below(count).any(|size| size == last)).then_some(last));
        sizes.filter_map(move |count| plan.with_counted(&group, count))
    };
    let counted = plan.counted_groups().into_iter().flat_map(of_group);
    maelstrom::smaller_clusters(plan)
        .into_iter()
        .chain(counted.filter(|smaller| is_whole(smaller, plan, inputs)))
        .collect()
}

/// Whether what the plan with fewer machines says of machines is about those that it has, under the addresses that they have.
fn is_whole(smaller: &Plan, plan: &Plan, inputs: &Inputs) -> bool {
    let names = |plan: &Plan| -> BTreeSet<String> { plan.nodes.iter().map(|node| node.name.clone()).collect() };
    let gone: BTreeSet<String> = names(plan).difference(&names(smaller)).cloned().collect();
    let is_other = |id: &NodeId| smaller.node_of(plan, *id) != Some(*id);
    let others = (1..=plan.nodes.len() as u32).map(NodeId).filter(is_other);
    let addresses =
        others.flat_map(|id| [AddressFamily::Ipv4, AddressFamily::Ipv6].map(|family| address_of(id, family)));
    let words: Vec<String> = gone.into_iter().chain(addresses.map(|address| address.to_string())).collect();
    let names_one = |text: &str| {
        let text = text.to_ascii_lowercase();
        words.iter().any(|word| has_word(&text, word))
    };
    let machines: Vec<&MachinePlan> =
        std::iter::once(&smaller.main).chain(smaller.programs().map(|program| &program.machine)).collect();
    let texts = |machine: &&MachinePlan| {
        machine.args.iter().chain(machine.env.iter().map(|(_, value)| value)).any(|text| names_one(text))
    };
    // Hundreds of machines may have the same files: each is read once.
    let files = machines.iter().flat_map(|machine| &machine.dirs).flat_map(|mount| &mount.entries);
    let files = files.filter_map(|entry| match entry.kind {
        MountKind::File(digest) => Some(digest),
        MountKind::Directory | MountKind::Link(_) => None,
    });
    let contents: BTreeSet<Digest> = files.chain(machines.iter().map(|machine| machine.stdin.bytes)).collect();
    let mut contents = contents.iter().filter_map(|digest| inputs.get(digest));
    let is_named = machines.iter().any(texts) || contents.any(|bytes| names_one(&String::from_utf8_lossy(&bytes)));
    // With fewer machines than may be hit, the bound would be none, and a plan file with it is refused.
    let bound = smaller.cluster.as_ref().and_then(|cluster| cluster.hit_max);
    let is_bounded = bound.is_none_or(|most| smaller.nodes.iter().filter(|node| !node.called).count() >= most as usize);
    is_bounded && !is_named && smaller.faults.iter().all(|fault| can_strike(fault, smaller, plan))
}

/// Whether a text in small letters has a host name or an address in it that is not a part of another.
fn has_word(text: &str, name: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_of_name) && !text[at + name.len()..].starts_with(is_of_name))
}

/// Whether a fault can still strike machines where it could before: as many as its shapes cut, if it is a partition, and more than
/// one if it is about what is between them, or about who belongs to them.
fn can_strike(fault: &FaultPlan, smaller: &Plan, plan: &Plan) -> bool {
    let struck = |pattern: &str, plan: &Plan| plan.nodes.iter().filter(|node| matches(pattern, &node.name)).count();
    if let Some(nemesis) = &fault.nemesis {
        let action = NemesisAction::of(&fault.kind);
        let has_shapes = action.is_some_and(NemesisAction::has_shapes);
        // As a plan must have them that names these shapes.
        let shapes = nemesis.hits.iter().filter_map(|word| PartitionShape::of(word));
        let least = if has_shapes { shapes.map(PartitionShape::nodes_min).max().unwrap_or(2) } else { 1 };
        let machines = smaller.nodes.iter().filter(|node| !node.called);
        // One that leaves the cluster must leave somebody.
        let is_among = |action: NemesisAction| action.is_between_machines() || action == NemesisAction::Membership;
        let is_linked = !action.is_some_and(is_among) || machines.clone().count() > 1;
        let left = machines.clone().filter(|node| matches_any(&fault.target, &node.name)).count();
        let most = smaller.cluster.as_ref().and_then(|cluster| cluster.hit_max).unwrap_or(u32::MAX) as usize;
        let is_all =
            |targets: NodeTargets| left == machines.clone().count() && most >= left && targets.can_be_all(left);
        let leaves_nobody = action == Some(NemesisAction::Membership) && nemesis.targets().into_iter().any(is_all);
        let mut parts = fault.target.split(',').map(str::trim);
        return is_linked && !leaves_nobody && left >= least && parts.all(|part| struck(part, smaller) > 0);
    }
    let patterns: Vec<&str> = match kind_of(&fault.kind).map(|kind| kind.target) {
        Some(FaultTarget::Node) => vec![&fault.target],
        Some(FaultTarget::Link) => fault.target.split("->").collect(),
        Some(FaultTarget::Path) => machine_of(&fault.target).map(|(machine, _)| machine).into_iter().collect(),
        Some(FaultTarget::Url | FaultTarget::Command | FaultTarget::Point) | None => Vec::new(),
    };
    patterns.into_iter().all(|pattern| struck(pattern, plan) == 0 || struck(pattern, smaller) > 0)
}

#[cfg(test)]
mod tests;
