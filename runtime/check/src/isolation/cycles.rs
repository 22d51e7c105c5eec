//! Cycles of dependencies: which kinds there are, and the shortest of each.
//!
//! ```text
//! G0             ww only                              G-nonadjacent  ≥ 2 rw, none next to another
//! G1c            ww, wr, with a wr                    G2-item        ≥ 2 rw, some next to each other
//! G-single       exactly one rw                       …-process, …-realtime: with a step of that order
//! ```
//!
//! First one pass over the whole graph: without a component there is no cycle of any kind. Only what is on a cycle is looked at again,
//! kind by kind, the strongest first, and one that is implied by what was found is left out. Each kind begins with components of the
//! graph that it may use, so most kinds need no search. A cycle without two neighbouring `rw` is a component of pairs
//! (transaction, was the last step `rw`?).
//!
//! Invariants: a cycle visits no transaction twice; whether a kind exists is exact, unless `undecided` names it (beside G0 or G1c, which
//! rule out the same levels, a G-nonadjacent may be missed); all bounds are counts of steps, never time. Sources: Adya (1999); Alvaro, Kingsbury, "Elle" (2020); Cerone, Gotsman, "Analysing Snapshot Isolation" (2018).

use super::components::{NONE, Successors, components};
use super::graph::{DependencyGraph, PASS, PROCESS, REALTIME, RW, WR, WW};

/// Steps of the search for the shortest cycle of a kind. After it, any cycle will do.
const STEPS_MAX: u64 = 20_000_000;
/// Cycles of one kind that are shown, each of another component.
const WITNESSES_MAX: usize = 4;

/// A kind of cycle, without its suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CycleKind {
    G0,
    G1c,
    GSingle,
    GNonadjacent,
    G2Item,
}

/// What beside data may order transactions of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CycleOrder {
    Data,
    Process,
    Realtime,
}

impl CycleOrder {
    const fn kinds(self) -> u8 {
        match self {
            CycleOrder::Data => 0,
            CycleOrder::Process => PROCESS,
            CycleOrder::Realtime => PROCESS | REALTIME,
        }
    }
}

/// A step of a cycle, from one transaction to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CycleEdge {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) kind: u8,
}

/// A cycle that was found.
#[derive(Clone, Debug)]
pub(super) struct CycleWitness {
    pub(super) kind: CycleKind,
    pub(super) order: CycleOrder,
    pub(super) edges: Vec<CycleEdge>,
    /// Whether its component has no shorter one of its kind.
    pub(super) is_shortest: bool,
}

/// What a graph has of cycles.
#[derive(Debug, Default)]
pub(super) struct CycleReport {
    pub(super) cycles: Vec<CycleWitness>,
    /// Kinds that were neither found nor ruled out.
    pub(super) undecided: Vec<(CycleKind, CycleOrder)>,
    /// Whether there is no cycle of any kind.
    pub(super) is_acyclic: bool,
}

/// The cycles of a graph.
pub(super) fn cycles(graph: &DependencyGraph, is_over: &dyn Fn() -> bool) -> CycleReport {
    let all = WW | WR | RW | PROCESS | REALTIME | PASS;
    let (labels, count) = components(&MaskedGraph { graph, mask: all });
    let mut report = CycleReport::default();
    if count == 0 {
        return CycleReport { is_acyclic: true, ..report };
    }
    let is_cyclic = |node: u32| labels[node as usize] != NONE;
    // A copy of most of a graph would only take memory.
    let is_most = (0..graph.len()).filter(|node| is_cyclic(*node)).count() > graph.len() as usize / 2;
    let part = (!is_most).then(|| graph.part(is_cyclic));
    drop(labels);
    let mut search = CycleSearch::new(part.as_ref().map_or(graph, |part| &part.0), is_over);
    for order in [CycleOrder::Data, CycleOrder::Process, CycleOrder::Realtime] {
        for kind in [CycleKind::G0, CycleKind::G1c, CycleKind::GSingle, CycleKind::GNonadjacent, CycleKind::G2Item] {
            let is_implied = report.cycles.iter().any(|one| implies(one.kind, kind) && one.order <= order);
            if !is_implied {
                search.kind(kind, order, &mut report);
            }
        }
    }
    let number = |node: u32| part.as_ref().map_or(node, |part| part.1[node as usize]);
    for edge in report.cycles.iter_mut().flat_map(|one| &mut one.edges) {
        *edge = CycleEdge { from: number(edge.from), to: number(edge.to), kind: edge.kind };
    }
    report
}

/// Whether a cycle of one kind makes another kind no news.
const fn implies(found: CycleKind, other: CycleKind) -> bool {
    use CycleKind::{G0, G1c, G2Item, GNonadjacent, GSingle};
    matches!(
        (found, other),
        (G0, G0 | G1c)
            | (G1c, G1c)
            | (GSingle, GSingle | GNonadjacent | G2Item)
            | (GNonadjacent, GNonadjacent | G2Item)
            | (G2Item, G2Item)
    )
}

/// Edges of some kinds.
struct MaskedGraph<'a> {
    graph: &'a DependencyGraph,
    mask: u8,
}

impl Successors for MaskedGraph<'_> {
    fn nodes(&self) -> u32 {
        self.graph.len()
    }

    #[inline]
    fn positions(&self, node: u32) -> (u32, u32) {
        let range = self.graph.range(node);
        (range.start as u32, range.end as u32)
    }

    #[inline]
    fn successor(&self, _node: u32, position: u32) -> Option<u32> {
        let (target, kind) = self.graph.edge(position as usize);
        (kind & self.mask != 0).then_some(target)
    }
}

/// Pairs of a node and whether the last step was no `rw` (1) or was one (0), in which case the next must not be.
struct SnapshotGraph<'a> {
    graph: &'a DependencyGraph,
    /// Kinds of the steps that are no `rw`.
    mask: u8,
}

impl Successors for SnapshotGraph<'_> {
    fn nodes(&self) -> u32 {
        self.graph.len() * 2
    }

    fn positions(&self, node: u32) -> (u32, u32) {
        let range = self.graph.range(node / 2);
        (range.start as u32, range.end as u32)
    }

    fn successor(&self, node: u32, position: u32) -> Option<u32> {
        let (target, kind) = self.graph.edge(position as usize);
        snapshot_state(node & 1, kind, self.mask).map(|state| target * 2 + state)
    }
}

/// The state after a step of a cycle without neighbouring `rw`.
fn snapshot_state(state: u32, kind: u8, mask: u8) -> Option<u32> {
    match kind {
        PASS => Some(state),
        RW => (state == 1).then_some(0),
        _ => (kind & mask != 0).then_some(1),
    }
}

/// What a search is for.
struct SearchShape<'a> {
    /// Kinds of the steps after the first.
    rest: u8,
    /// Whether no two `rw` may be neighbours.
    is_nonadjacent: bool,
    /// Both ends of a first step, as nodes of the graph that `labels` are for, have the same label.
    labels: &'a [u32],
}

/// Where a visited state was reached from.
#[derive(Clone, Copy, Default)]
struct Visit {
    epoch: u32,
    depth: u32,
    /// The state before, and the kind of the step.
    parent: u32,
    kind: u8,
}

/// How a search from one first step ended.
enum SearchOutcome {
    Found(Vec<CycleEdge>),
    /// All that can be reached was seen.
    Exhausted,
    /// There is more behind the depth.
    Cut,
    /// The steps were used up.
    Over,
}

struct CycleSearch<'a> {
    graph: &'a DependencyGraph,
    is_over: &'a dyn Fn() -> bool,
    /// The point of time before each transaction.
    entry: Vec<u32>,
    visits: Vec<Visit>,
    epoch: u32,
    steps: u64,
}

impl<'a> CycleSearch<'a> {
    fn new(graph: &'a DependencyGraph, is_over: &'a dyn Fn() -> bool) -> CycleSearch<'a> {
        let mut entry = vec![NONE; graph.transactions as usize];
        for point in graph.first_time..graph.len() {
            for (target, _) in graph.edges(point).filter(|(target, _)| *target < graph.transactions) {
                entry[target as usize] = point;
            }
        }
        let visits = vec![Visit::default(); graph.len() as usize * 2];
        CycleSearch { graph, is_over, entry, visits, epoch: 0, steps: 0 }
    }

    /// Looks for cycles of a kind.
    fn kind(&mut self, kind: CycleKind, order: CycleOrder, report: &mut CycleReport) {
        let (graph, extra) = (self.graph, order.kinds());
        let plain = |mask: u8| components(&MaskedGraph { graph, mask: mask | extra | PASS }).0;
        let snapshot = || components(&SnapshotGraph { graph, mask: WW | WR | extra }).0;
        let (labels, first, rest) = match kind {
            CycleKind::G0 => (plain(WW), WW, WW),
            CycleKind::G1c => (plain(WW | WR), WR, WW | WR),
            CycleKind::GSingle => (snapshot(), RW, WW | WR),
            CycleKind::GNonadjacent => (snapshot(), RW, WW | WR),
            CycleKind::G2Item => (plain(WW | WR | RW), RW, WW | WR | RW),
        };
        let is_paired = matches!(kind, CycleKind::GSingle | CycleKind::GNonadjacent);
        let label = |node: u32, state: u32| labels[if is_paired { node * 2 + state } else { node } as usize];
        let mut starts = Vec::new();
        for from in 0..graph.transactions {
            for (to, step) in graph.edges(from).filter(|(_, step)| step & first != 0) {
                if label(from, 1) != NONE && label(from, 1) == label(to, 0) {
                    starts.push(CycleEdge { from, to, kind: step });
                }
            }
        }
        if starts.is_empty() {
            return;
        }
        let is_nonadjacent = kind == CycleKind::GNonadjacent;
        let shape = SearchShape { rest: rest | extra | PASS, is_nonadjacent, labels: &labels };
        let components: Vec<u32> = starts.iter().map(|start| label(start.from, 1)).collect();
        let (found, is_decided) = self.shortest(&shape, &starts, &components);
        if found.is_empty() && !is_decided {
            report.undecided.push((kind, order));
        }
        for (edges, is_shortest) in found {
            // The name is that of what was found: bounds may have hidden a stronger kind before.
            let kind = name(&edges);
            let order = if edges.iter().any(|edge| edge.kind == REALTIME) {
                CycleOrder::Realtime
            } else if edges.iter().any(|edge| edge.kind == PROCESS) {
                CycleOrder::Process
            } else {
                CycleOrder::Data
            };
            report.cycles.push(CycleWitness { kind, order, edges, is_shortest });
        }
    }

    /// A shortest cycle of each component, within the budget of steps. The second value is `false` if the budget ended
    /// before any cycle was found.
    fn shortest(
        &mut self,
        shape: &SearchShape<'_>,
        starts: &[CycleEdge],
        components: &[u32],
    ) -> (Vec<(Vec<CycleEdge>, bool)>, bool) {
        self.steps = 0;
        let mut found: Vec<(Vec<CycleEdge>, bool)> = Vec::new();
        let mut done: Vec<u32> = Vec::new();
        // First edges behind which the depth cut the search off.
        let mut open: Vec<u32> = (0..starts.len() as u32).collect();
        let mut depth = 1;
        while !open.is_empty() && found.len() < WITNESSES_MAX {
            let mut deeper = Vec::new();
            for at in open {
                let (start, component) = (starts[at as usize], components[at as usize]);
                if done.contains(&component) || found.len() == WITNESSES_MAX {
                    continue;
                }
                match self.from(shape, start, depth, STEPS_MAX) {
                    // Such a walk contains a cycle of a stronger kind, which is reported.
                    SearchOutcome::Found(edges) if !is_simple(&edges) => {}
                    SearchOutcome::Found(edges) => {
                        found.push((edges, true));
                        done.push(component);
                    }
                    SearchOutcome::Exhausted => {}
                    SearchOutcome::Cut => deeper.push(at),
                    SearchOutcome::Over if found.is_empty() => return self.any(shape, starts),
                    SearchOutcome::Over => return (found, true),
                }
            }
            open = deeper;
            depth += 1;
        }
        (found, true)
    }

    /// Some cycle, where the shortest one is too far.
    fn any(&mut self, shape: &SearchShape<'_>, starts: &[CycleEdge]) -> (Vec<(Vec<CycleEdge>, bool)>, bool) {
        self.steps = 0;
        for start in starts {
            match self.from(shape, *start, u32::MAX, STEPS_MAX) {
                SearchOutcome::Found(edges) if is_simple(&edges) => return (vec![(edges, false)], true),
                SearchOutcome::Found(_) | SearchOutcome::Exhausted | SearchOutcome::Cut => {}
                SearchOutcome::Over => return (Vec::new(), false),
            }
        }
        (Vec::new(), true)
    }

    /// The shortest way back to the beginning of `start`, at most `depth_max` deep; `steps_max` bounds the search.
    fn from(&mut self, shape: &SearchShape<'_>, start: CycleEdge, depth_max: u32, steps_max: u64) -> SearchOutcome {
        let graph = self.graph;
        self.epoch += 1;
        let epoch = self.epoch;
        let label = |labels: &[u32], node: u32, state: u32| {
            labels[if labels.len() > graph.len() as usize { node * 2 + state } else { node } as usize]
        };
        let home = label(shape.labels, start.from, 1);
        let first_state = start.to * 2;
        self.visits[first_state as usize] = Visit { epoch, depth: 0, parent: NONE, kind: start.kind };
        let (mut level, mut next) = (vec![first_state], Vec::new());
        let (mut depth, mut is_cut) = (0, false);
        while !level.is_empty() {
            // Steps that cost nothing stay on the level.
            let mut at = 0;
            while at < level.len() {
                let visited = level[at];
                at += 1;
                let (node, state) = (visited / 2, visited & 1);
                // It was reached by a shorter way.
                if self.visits[visited as usize].depth < depth {
                    continue;
                }
                self.steps += graph.range(node).len() as u64 + 1;
                if self.steps > steps_max || self.steps & 0xFFFF == 0 && (self.is_over)() {
                    return SearchOutcome::Over;
                }
                for (to, kind) in graph.edges(node) {
                    let after = if shape.is_nonadjacent {
                        snapshot_state(state, kind, shape.rest)
                    } else {
                        (kind & shape.rest != 0).then_some(0)
                    };
                    let Some(after) = after else { continue };
                    let cost = u32::from(kind != PASS);
                    if depth + cost > depth_max {
                        is_cut = true;
                        continue;
                    }
                    if to == start.from {
                        if shape.is_nonadjacent && after == 0 {
                            continue;
                        }
                        return SearchOutcome::Found(self.path(start, visited, kind));
                    }
                    // The last step by time needs no walk along the points between.
                    let entry = self.entry[start.from as usize];
                    if kind == REALTIME && entry != NONE && to <= entry {
                        return SearchOutcome::Found(self.path(start, visited, kind));
                    }
                    if depth + cost == depth_max && kind == REALTIME {
                        is_cut = true;
                        continue;
                    }
                    // Another component has no way back. In a search without pairs of states, either may be the one.
                    let is_home = label(shape.labels, to, after) == home || label(shape.labels, to, 1) == home;
                    let seen = &mut self.visits[(to * 2 + after) as usize];
                    if !is_home || seen.epoch == epoch && seen.depth <= depth + cost {
                        continue;
                    }
                    *seen = Visit { epoch, depth: depth + cost, parent: visited, kind };
                    if cost == 0 { level.push(to * 2 + after) } else { next.push(to * 2 + after) }
                }
            }
            level.clear();
            std::mem::swap(&mut level, &mut next);
            depth += 1;
        }
        if is_cut { SearchOutcome::Cut } else { SearchOutcome::Exhausted }
    }

    /// The cycle of a first step, a way to a state, and a last step home; without junctions and points of time.
    fn path(&self, start: CycleEdge, last: u32, kind: u8) -> Vec<CycleEdge> {
        // Nodes with the kind of the step that leads to them, from the end.
        let mut steps = vec![(start.from, kind)];
        let mut state = last;
        while state != NONE {
            let visit = self.visits[state as usize];
            steps.push((state / 2, visit.kind));
            state = visit.parent;
        }
        steps.reverse();
        let mut edges = Vec::new();
        let (mut from, mut through) = (start.from, PASS);
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

/// Whether a walk visits no transaction twice.
fn is_simple(edges: &[CycleEdge]) -> bool {
    let mut visited: Vec<u32> = edges.iter().map(|edge| edge.from).collect();
    visited.sort_unstable();
    visited.windows(2).all(|pair| pair[0] != pair[1])
}

/// The kind of a cycle, from its steps.
fn name(edges: &[CycleEdge]) -> CycleKind {
    let count = |kind: u8| edges.iter().filter(|edge| edge.kind == kind).count();
    let is_rw = |at: usize| edges[at % edges.len()].kind == RW;
    match count(RW) {
        0 if count(WR) == 0 => CycleKind::G0,
        0 => CycleKind::G1c,
        1 => CycleKind::GSingle,
        _ if (0..edges.len()).any(|at| is_rw(at) && is_rw(at + 1)) => CycleKind::G2Item,
        _ => CycleKind::GNonadjacent,
    }
}
