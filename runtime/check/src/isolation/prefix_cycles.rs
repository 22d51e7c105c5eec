//! Cycles that prefix consistency forbids: no order of commits has, for each transaction, a beginning that is what it saw.
//!
//! ```text
//! T1 ─wr─▶ Q ─rw─▶ T2 ─wr─▶ R ─rw─▶ T1     Q saw T1 without T2, and R saw T2 without T1: a long fork
//! T1 ─rw─▶ T2 ─ww─▶ T1                     a lost update: T1 may have seen any beginning, so it is no such cycle
//! ```
//!
//! Who is seen commits before what is not seen, since a beginning has the one and not the other; so a step by rw counts after one by wr
//! alone. Writes of a key commit in the order of its versions. If wr, wr with rw after it, and ww have no cycle, any order of commits that
//! has them will do: what a transaction saw is the least beginning with all that it read from. Source: Cerone, Gotsman, Yang, "Algebraic
//! Laws for Weak Consistency" (2017).
//!
//! Invariant: whether there is such a cycle is exact; the one that is shown may not be the shortest.

use super::components::{NONE, Successors, components};
use super::cycles::CycleEdge;
use super::graph::{DependencyGraph, PASS, RW, WR, WW};

/// Steps of the search for a cycle to show.
const STEPS_MAX: u64 = 2_000_000;

/// Pairs of a node and whether the last step was a wr (1), after which alone a rw counts.
struct PrefixGraph<'a>(&'a DependencyGraph);

/// The state after a step.
fn after(state: u32, kind: u8) -> Option<u32> {
    match kind {
        PASS => Some(state),
        RW => (state == 1).then_some(0),
        WR => Some(1),
        WW => Some(0),
        _ => None,
    }
}

impl Successors for PrefixGraph<'_> {
    fn nodes(&self) -> u32 {
        // Points of time are no data.
        self.0.first_time * 2
    }

    fn positions(&self, node: u32) -> (u32, u32) {
        let range = self.0.range(node / 2);
        (range.start as u32, range.end as u32)
    }

    fn successor(&self, node: u32, position: u32) -> Option<u32> {
        let (target, kind) = self.0.edge(position as usize);
        after(node & 1, kind).filter(|_| target < self.0.first_time).map(|state| target * 2 + state)
    }
}

/// A cycle of that kind, if there is one; without steps if it takes too long to find one to show.
pub(super) fn prefix_cycle(graph: &DependencyGraph) -> Option<Vec<CycleEdge>> {
    let pairs = PrefixGraph(graph);
    let (labels, count) = components(&pairs);
    if count == 0 {
        return None;
    }
    // Where each was reached from first, and by which step.
    let mut reached: Vec<(u32, u32, u8)> = vec![(NONE, NONE, 0); labels.len()];
    let mut best: Vec<CycleEdge> = Vec::new();
    let mut steps = 0u64;
    let is_home = |node: u32| labels[node as usize] != NONE && node / 2 < graph.transactions;
    for start in (0..pairs.nodes()).filter(|node| is_home(*node)) {
        let mut queue = vec![start];
        let mut at = 0;
        'search: while let Some(node) = queue.get(at).copied() {
            at += 1;
            for (to, kind) in graph.edges(node / 2).filter(|(to, _)| *to < graph.first_time) {
                steps += 1;
                let Some(state) = after(node & 1, kind) else { continue };
                let target = to * 2 + state;
                if target == start {
                    let cycle = way(graph, &reached, start, (node, kind));
                    if best.is_empty() || cycle.len() < best.len() {
                        best = cycle;
                    }
                    break 'search;
                }
                if labels[target as usize] == labels[start as usize] && reached[target as usize].0 != start {
                    reached[target as usize] = (start, node, kind);
                    queue.push(target);
                }
            }
        }
        if steps > STEPS_MAX || best.len() == 2 {
            break;
        }
    }
    Some(best)
}

/// The cycle that a last step closes, without junctions.
fn way(graph: &DependencyGraph, reached: &[(u32, u32, u8)], start: u32, last: (u32, u8)) -> Vec<CycleEdge> {
    let mut steps = vec![(start / 2, last.1)];
    let mut node = last.0;
    while node != start {
        let (_, before, kind) = reached[node as usize];
        steps.push((node / 2, kind));
        node = before;
    }
    steps.reverse();
    let (mut edges, mut from, mut through) = (Vec::new(), start / 2, PASS);
    for (node, kind) in steps {
        if kind != PASS {
            through = kind;
        }
        if node < graph.transactions {
            edges.push(CycleEdge { from, to: node, kind: through });
            from = node;
        }
    }
    edges
}
