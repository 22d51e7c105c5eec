//! What must come before what: transactions, and the reasons for the order of two of them.
//!
//! ```text
//! T0 ─ww─▶ T1 ─rw─▶ T2          T1 ─realtime─▶ (t3) ─▶ (t4) ─▶ T2     completed before T2 was invoked
//! ```
//!
//! Realtime order has a quadratic number of pairs. Instead, points of time stand between transactions: a transaction points to the first
//! point after its completion, each point to the next one, and the last point before an invocation to its transaction. Junctions
//! do the same for many readers of a version and many writers after it. Steps that leave either have the kind `PASS` and cost nothing.
//!
//! Invariants: nodes below `transactions` are transactions; the others are junctions, then points of time in their order; no
//! transaction reaches itself by the steps of one reason alone.
//! Not here: cycles (`cycles`).

use super::transaction::TransactionSet;

/// The writer of a version, then the writer of the next one.
pub(super) const WW: u8 = 1;
/// The writer of a version, then its reader.
pub(super) const WR: u8 = 2;
/// The reader of a version, then the writer of the next one.
pub(super) const RW: u8 = 4;
/// One process did one after the other.
pub(super) const PROCESS: u8 = 8;
/// One completed before the other was invoked.
pub(super) const REALTIME: u8 = 16;
/// From a junction or a point of time.
pub(super) const PASS: u8 = 32;

/// Edges, from node to node.
#[derive(Clone, Debug, Default)]
pub(super) struct DependencyGraph {
    /// Nodes below are transactions.
    pub(super) transactions: u32,
    /// Nodes from here on are points of time.
    pub(super) first_time: u32,
    starts: Vec<u32>,
    targets: Vec<u32>,
    kinds: Vec<u8>,
}

impl DependencyGraph {
    /// How many nodes there are.
    pub(super) fn len(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Edges that leave a node: where they lead, and their kinds.
    #[inline]
    pub(super) fn edges(&self, node: u32) -> impl Iterator<Item = (u32, u8)> + '_ {
        let range = self.range(node);
        self.targets[range.clone()].iter().copied().zip(self.kinds[range].iter().copied())
    }

    /// Positions of the edges that leave a node.
    #[inline]
    pub(super) fn range(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// The edge at a position.
    #[inline]
    pub(super) fn edge(&self, position: usize) -> (u32, u8) {
        (self.targets[position], self.kinds[position])
    }

    /// The part that has some nodes only, numbered anew in their order, with the old numbers.
    pub(super) fn part(&self, is_kept: impl Fn(u32) -> bool) -> (DependencyGraph, Vec<u32>) {
        let kept: Vec<u32> = (0..self.len()).filter(|node| is_kept(*node)).collect();
        let mut numbers = vec![u32::MAX; self.len() as usize];
        kept.iter().zip(0..).for_each(|(node, number)| numbers[*node as usize] = number);
        let before = |bound: u32| kept.partition_point(|node| *node < bound) as u32;
        let mut part = DependencyGraph {
            transactions: before(self.transactions),
            first_time: before(self.first_time),
            starts: vec![0],
            ..DependencyGraph::default()
        };
        for node in &kept {
            for (target, kind) in self.edges(*node).filter(|(target, _)| numbers[*target as usize] != u32::MAX) {
                part.targets.push(numbers[target as usize]);
                part.kinds.push(kind);
            }
            part.starts.push(part.targets.len() as u32);
        }
        (part, kept)
    }

    /// The graph of begins and commits: a transaction of number n begins as n and commits as n + their count. Who reads a version begins
    /// before the next one is committed; all else orders a commit before a begin.
    pub(super) fn split(&self) -> DependencyGraph {
        let count = self.transactions;
        let commit = |node: u32| node + count;
        let mut builder = GraphBuilder::new(2 * count);
        builder.nodes = self.len() + count;
        for from in 0..self.len() {
            if from < count {
                builder.edges.push((from, commit(from), PASS));
            }
            // Junctions stand between readers and writers of the next version.
            let is_junction = (count..self.first_time).contains(&from);
            for (to, kind) in self.edges(from) {
                let source = if from < count && kind == RW { from } else { commit(from) };
                let target = if to < count && kind != RW && !is_junction { to } else { commit(to) };
                builder.edges.push((source, target, kind));
            }
        }
        let first_time = self.first_time + count;
        builder.sorted(first_time)
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.starts.capacity() * 4 + self.targets.capacity() * 4 + self.kinds.capacity()
    }
}

/// Edges in one block of memory: what has been sorted is given back block by block.
const BLOCK_EDGES: usize = 1 << 16;

/// Edges before they are sorted.
pub(super) struct GraphBuilder {
    transactions: u32,
    nodes: u32,
    edges: EdgeBlocks,
}

/// Edges in blocks of equal size, so that there is never a copy of all of them.
#[derive(Default)]
struct EdgeBlocks(Vec<Vec<(u32, u32, u8)>>);

impl EdgeBlocks {
    fn push(&mut self, edge: (u32, u32, u8)) {
        match self.0.last_mut().filter(|block| block.len() < BLOCK_EDGES) {
            Some(block) => block.push(edge),
            None => {
                let mut block = Vec::with_capacity(if self.0.is_empty() { 0 } else { BLOCK_EDGES });
                block.push(edge);
                self.0.push(block);
            }
        }
    }

    fn extend(&mut self, edges: impl IntoIterator<Item = (u32, u32, u8)>) {
        edges.into_iter().for_each(|edge| self.push(edge));
    }

    fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }
}

impl GraphBuilder {
    pub(super) fn new(transactions: u32) -> GraphBuilder {
        GraphBuilder { transactions, nodes: transactions, edges: EdgeBlocks::default() }
    }

    /// One transaction before another; nothing if they are the same.
    pub(super) fn edge(&mut self, from: u32, to: u32, kind: u8) {
        if from != to {
            self.edges.push((from, to, kind));
        }
    }

    /// Each of some transactions before each of others, by one reason, but none before itself.
    pub(super) fn all_before_all(&mut self, from: &[u32], to: &[u32], kind: u8) {
        if from.len() * to.len() <= 4 * (from.len() + to.len()) {
            for (one, other) in from.iter().flat_map(|one| to.iter().map(move |other| (*one, *other))) {
                self.edge(one, other, kind);
            }
            return;
        }
        // Chains of junctions over all that stand before, and over all that stand behind.
        let count = to.len() as u32;
        let (before, behind) = (self.nodes, self.nodes + count);
        self.nodes += 2 * count;
        for (at, target) in (0..count).zip(to) {
            self.edges.push((before + at, *target, PASS));
            self.edges.push((behind + at, *target, PASS));
            if at > 0 {
                self.edges.push((before + at, before + at - 1, PASS));
                self.edges.push((behind + at - 1, behind + at, PASS));
            }
        }
        let mut places: Vec<(u32, u32)> = to.iter().copied().zip(0..).collect();
        places.sort_unstable();
        for one in from {
            match places.binary_search_by_key(one, |(target, _)| *target) {
                Err(_) => self.edges.push((*one, behind, kind)),
                Ok(found) => {
                    let at = places[found].1;
                    if at > 0 {
                        self.edges.push((*one, before + at - 1, kind));
                    }
                    if at + 1 < count {
                        self.edges.push((*one, behind + at + 1, kind));
                    }
                }
            }
        }
    }

    /// The graph, with the order of processes and of time among the transactions that take part.
    pub(super) fn finish(mut self, set: &TransactionSet, takes_part: &dyn Fn(u32) -> bool) -> DependencyGraph {
        self.add_processes(set, takes_part);
        let first_time = self.nodes;
        self.add_time(set, takes_part);
        self.sorted(first_time)
    }

    fn sorted(self, first_time: u32) -> DependencyGraph {
        let mut starts = vec![0u32; self.nodes as usize + 2];
        self.edges.0.iter().flatten().for_each(|(from, ..)| starts[*from as usize + 2] += 1);
        for at in 2..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut targets, mut kinds) = (vec![0; self.edges.len()], vec![0; self.edges.len()]);
        for (from, to, kind) in self.edges.0.into_iter().flatten() {
            let place = &mut starts[from as usize + 1];
            targets[*place as usize] = to;
            kinds[*place as usize] = kind;
            *place += 1;
        }
        starts.pop();
        DependencyGraph { transactions: self.transactions, first_time, starts, targets, kinds }
    }

    fn add_processes(&mut self, set: &TransactionSet, takes_part: &dyn Fn(u32) -> bool) {
        let own = |id: &u32| set.transactions[*id as usize].process;
        let mut order: Vec<u32> = set.ids().filter(|id| own(id).is_some() && takes_part(*id)).collect();
        order.sort_by_key(own);
        for pair in order.windows(2) {
            if own(&pair[0]) == own(&pair[1]) {
                self.edge(pair[0], pair[1], PROCESS);
            }
        }
    }

    fn add_time(&mut self, set: &TransactionSet, takes_part: &dyn Fn(u32) -> bool) {
        let mut events: Vec<(u32, bool, u32)> = Vec::new();
        for id in set.ids().filter(|id| set.is_timed(*id) && takes_part(*id)) {
            let call = &set.transactions[id as usize].call;
            events.push((call.invocation, false, id));
            if call.outcome == crate::history::OperationType::Ok {
                events.extend(call.completion.map(|at| (at, true, id)));
            }
        }
        events.sort_unstable();
        let mut point: Option<u32> = None;
        let mut is_entered = true;
        for (_, is_completion, id) in events {
            if is_completion {
                // Completions without an invocation between them share a point.
                if is_entered {
                    let new = self.nodes;
                    self.nodes += 1;
                    self.edges.extend(point.map(|before| (before, new, PASS)));
                    point = Some(new);
                    is_entered = false;
                }
                self.edges.extend(point.map(|point| (id, point, REALTIME)));
            } else if let Some(point) = point {
                self.edges.push((point, id, PASS));
                is_entered = true;
            }
        }
    }
}
