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

use crate::maelstrom;
use fozzy_trace::Plan;
use fozzy_trace::nemesis::PartitionShape;
use fozzy_trace::plan::FaultPlan;
use fozzy_world::fault::{FaultTarget, NEMESES, NemesisAction, kind_of, machine_of};
use fozzy_world::glob::matches;
use std::collections::BTreeSet;

/// The plan with fewer machines, or with fewer clients, the smallest first; none of a plan that is no such cluster.
pub(super) fn smaller_clusters(plan: &Plan) -> Vec<Plan> {
    let of_group = |(group, count): (&str, u32)| {
        let group = group.to_owned();
        sizes_below(count).filter_map(move |count| plan.with_counted(&group, count))
    };
    let counted = plan.counted_groups().into_iter().flat_map(of_group).filter(|smaller| is_whole(smaller, plan));
    maelstrom::smaller_clusters(plan).into_iter().chain(counted).collect()
}

/// 1, 2, 3, 4, 8, 16, … as far as they are below a number.
pub(crate) fn sizes_below(all: u32) -> impl Iterator<Item = u32> {
    let next = |size: &u32| Some(if *size < 4 { size + 1 } else { size.checked_mul(2)? });
    std::iter::successors(Some(1), next).take_while(move |size| *size < all)
}

/// Whether what the plan with fewer machines says of machines is about those that it has.
fn is_whole(smaller: &Plan, plan: &Plan) -> bool {
    let names = |plan: &Plan| plan.nodes.iter().map(|node| node.name.clone()).collect::<BTreeSet<String>>();
    let (here, there) = (names(smaller), names(plan));
    let gone: Vec<&String> = there.difference(&here).collect();
    let machines = std::iter::once(&smaller.main).chain(smaller.nodes.iter().map(|node| &node.program.machine));
    let mut texts = machines.flat_map(|machine| machine.args.iter().chain(machine.env.iter().map(|(_, value)| value)));
    let is_named = texts.any(|text| gone.iter().any(|name| has_word(text, name)));
    !is_named && smaller.faults.iter().all(|fault| can_strike(fault, &here, &there))
}

/// Whether a text has a host name in it that is not a part of another.
fn has_word(text: &str, name: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let text = text.to_ascii_lowercase();
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_of_name) && !text[at + name.len()..].starts_with(is_of_name))
}

/// Whether a fault can still strike machines where it could before: as many as its shapes cut, if it is a partition.
fn can_strike(fault: &FaultPlan, here: &BTreeSet<String>, there: &BTreeSet<String>) -> bool {
    let struck = |pattern: &str, names: &BTreeSet<String>| names.iter().filter(|name| matches(pattern, name)).count();
    if let Some(nemesis) = &fault.nemesis {
        let kinds = NemesisAction::ALL.iter().zip(NEMESES);
        let has_shapes = kinds.into_iter().any(|(action, kind)| kind.name == fault.kind && action.has_shapes());
        // As a plan must have them that names these shapes.
        let shapes = nemesis.hits.iter().filter_map(|word| PartitionShape::of(word));
        let least = if has_shapes { shapes.map(PartitionShape::nodes_min).max().unwrap_or(2) } else { 1 };
        return struck(&fault.target, here) >= least;
    }
    let patterns: Vec<&str> = match kind_of(&fault.kind).map(|kind| kind.target) {
        Some(FaultTarget::Node) => vec![&fault.target],
        Some(FaultTarget::Link) => fault.target.split("->").collect(),
        Some(FaultTarget::Path) => machine_of(&fault.target).map(|(machine, _)| machine).into_iter().collect(),
        Some(FaultTarget::Url | FaultTarget::Command | FaultTarget::Point) | None => Vec::new(),
    };
    patterns.into_iter().all(|pattern| struck(pattern, there) == 0 || struck(pattern, here) > 0)
}

#[cfg(test)]
mod tests;
