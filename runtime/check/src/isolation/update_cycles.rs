//! Cycles of transactions that write, with one at most that only reads: what update serializability (PL-3U) forbids.
//!
//! ```text
//! T1 ─rw─▶ T2 ─rw─▶ T1        both write                      G-update
//! T1 ─wr─▶ Q ─rw─▶ T2 ─ww─▶ T1        Q only reads            G-update
//! T1 ─wr─▶ Q ─rw─▶ T2 ─wr─▶ R ─rw─▶ T1        two only read: they see the writes in different orders, which PL-3U allows
//! ```
//!
//! First the components of what writes; then, of each reader that is on any cycle, the way back to it through what writes.
//! Invariant: exact, unless the steps were used up. Source: Adya (1999), section 4.3.

use super::components::{NONE, Successors, components};
use super::cycles::CycleEdge;
use super::graph::{DependencyGraph, PASS, RW, WR, WW};

/// Steps of the search; after it, whether there is such a cycle is not known.
const STEPS_MAX: u64 = 20_000_000;
/// How many steps pass between two looks whether judging should end.
const STEPS_PER_LOOK: u64 = 1 << 16;

/// What a graph has of such cycles.
pub(super) enum UpdateCycle {
    Found(Vec<CycleEdge>),
    None,
    /// The steps were used up.
    Unknown,
}

/// Edges of data, between nodes that are kept.
struct DataGraph<'a> {
    graph: &'a DependencyGraph,
    is_kept: &'a dyn Fn(u32) -> bool,
}

impl Successors for DataGraph<'_> {
    fn nodes(&self) -> u32 {
        self.graph.len()
    }

    fn positions(&self, node: u32) -> (u32, u32) {
        let range = self.graph.range(node);
        (range.start as u32, range.end as u32)
    }

    fn successor(&self, node: u32, position: u32) -> Option<u32> {
        let (target, kind) = self.graph.edge(position as usize);
        (kind & (WW | WR | RW | PASS) != 0 && (self.is_kept)(node) && (self.is_kept)(target)).then_some(target)
    }
}

/// Looks for a cycle with a step from a reader to who overwrites what it read, of transactions that write, and one other at most.
pub(super) fn update_cycle(
    graph: &DependencyGraph,
    is_update: &dyn Fn(u32) -> bool,
    is_over: &dyn Fn() -> bool,
) -> UpdateCycle {
    // Points of time are no data; junctions stand between readers and writers.
    let is_data = |node: u32| node < graph.first_time;
    let (labels, count) = components(&DataGraph { graph, is_kept: &is_data });
    if count == 0 {
        return UpdateCycle::None;
    }
    let is_cyclic = |node: u32| is_data(node) && labels[node as usize] != NONE;
    let is_kept = |node: u32| is_cyclic(node) && (node >= graph.transactions || is_update(node));
    let (among_updates, _) = components(&DataGraph { graph, is_kept: &is_kept });
    let mut search = WaySearch { graph, is_kept: &is_kept, is_over, visits: Vec::new(), epoch: 0, steps: 0 };
    for from in (0..graph.transactions).filter(|node| is_kept(*node)) {
        let label = among_updates[from as usize];
        let is_within = |(to, kind): &(u32, u8)| *kind == RW && label != NONE && among_updates[*to as usize] == label;
        if let Some((to, _)) = graph.edges(from).find(is_within) {
            match search.way(from, &[(to, RW)]) {
                UpdateCycle::None => {}
                found => return found,
            }
        }
    }
    for reader in (0..graph.transactions).filter(|node| is_cyclic(*node) && !is_update(*node)) {
        let starts: Vec<(u32, u8)> = graph.edges(reader).filter(|(to, kind)| *kind == RW && is_kept(*to)).collect();
        match search.way(reader, &starts) {
            UpdateCycle::None => {}
            found => return found,
        }
    }
    UpdateCycle::None
}

struct WaySearch<'a> {
    graph: &'a DependencyGraph,
    is_kept: &'a dyn Fn(u32) -> bool,
    is_over: &'a dyn Fn() -> bool,
    /// Of each node, in which search it was seen, from where, and by which step.
    visits: Vec<(u32, u32, u8)>,
    epoch: u32,
    steps: u64,
}

impl WaySearch<'_> {
    /// A way from some first steps of a transaction back to it, with as few nodes as there are.
    fn way(&mut self, home: u32, starts: &[(u32, u8)]) -> UpdateCycle {
        let graph = self.graph;
        self.visits.resize(graph.len() as usize, (0, NONE, 0));
        self.epoch += 1;
        let mut queue: Vec<u32> = Vec::new();
        for (to, kind) in starts {
            self.visits[*to as usize] = (self.epoch, NONE, *kind);
            queue.push(*to);
        }
        let mut at = 0;
        while let Some(node) = queue.get(at).copied() {
            at += 1;
            for (to, kind) in graph.edges(node).filter(|(_, kind)| kind & (WW | WR | RW | PASS) != 0) {
                self.steps += 1;
                if self.steps > STEPS_MAX || self.steps.is_multiple_of(STEPS_PER_LOOK) && (self.is_over)() {
                    return UpdateCycle::Unknown;
                }
                if to == home {
                    return UpdateCycle::Found(self.cycle(home, node, kind));
                }
                if (self.is_kept)(to) && self.visits[to as usize].0 != self.epoch {
                    self.visits[to as usize] = (self.epoch, node, kind);
                    queue.push(to);
                }
            }
        }
        UpdateCycle::None
    }

    /// The cycle that ends with a step home, without junctions.
    fn cycle(&self, home: u32, last: u32, kind: u8) -> Vec<CycleEdge> {
        let mut steps = vec![(home, kind)];
        let mut node = last;
        while node != NONE {
            let (_, before, kind) = self.visits[node as usize];
            steps.push((node, kind));
            node = before;
        }
        steps.reverse();
        let (mut edges, mut from, mut through) = (Vec::new(), home, PASS);
        for (node, kind) in steps {
            if kind != PASS {
                through = kind;
            }
            if node < self.graph.transactions {
                edges.push(CycleEdge { from, to: node, kind: through });
                from = node;
            }
        }
        edges
    }
}
