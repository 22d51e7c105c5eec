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
use crate::history::OperationType;

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
    /// The graph of what is added to it, with the order of processes and of time among the transactions that take part.
    pub(super) fn new(
        set: &TransactionSet,
        takes_part: &dyn Fn(u32) -> bool,
        add: &dyn Fn(&mut GraphBuilder),
    ) -> DependencyGraph {
        DependencyGraph::build(set.transactions.len() as u32, &|builder| {
            add(builder);
            builder.add_processes(set, takes_part);
            let first_time = builder.nodes;
            builder.add_time(set, takes_part);
            first_time
        })
    }

    /// The graph of what is added, which is asked for twice and says where points of time begin.
    fn build(transactions: u32, add: &dyn Fn(&mut GraphBuilder) -> u32) -> DependencyGraph {
        let (starts, targets, kinds) = (Vec::new(), Vec::new(), Vec::new());
        let mut builder = GraphBuilder { nodes: transactions, starts, targets, kinds, is_counting: true };
        add(&mut builder);
        builder.lay_out();
        let nodes = std::mem::replace(&mut builder.nodes, transactions);
        let first_time = add(&mut builder);
        assert_eq!(builder.nodes, nodes, "the same edges were added twice");
        let GraphBuilder { mut starts, targets, kinds, .. } = builder;
        starts.pop();
        DependencyGraph { transactions, first_time, starts, targets, kinds }
    }

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
        DependencyGraph::build(2 * count, &|builder| {
            builder.nodes = self.len() + count;
            for from in 0..self.len() {
                if from < count {
                    builder.push(from, commit(from), PASS);
                }
                // Junctions stand between readers and writers of the next version.
                let is_junction = (count..self.first_time).contains(&from);
                for (to, kind) in self.edges(from) {
                    let source = if from < count && kind == RW { from } else { commit(from) };
                    let target = if to < count && kind != RW && !is_junction { to } else { commit(to) };
                    builder.push(source, target, kind);
                }
            }
            self.first_time + count
        })
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.starts.capacity() * 4 + self.targets.capacity() * 4 + self.kinds.capacity()
    }
}

/// Counts edges, then puts them in their places: whoever adds them does so twice, so that there is never a list of all of them.
pub(super) struct GraphBuilder {
    nodes: u32,
    /// While edges are counted, how many leave each node, two places on; then where the next one of a node goes, one place on.
    starts: Vec<u32>,
    targets: Vec<u32>,
    kinds: Vec<u8>,
    is_counting: bool,
}

impl GraphBuilder {
    /// One transaction before another; nothing if they are the same.
    pub(super) fn edge(&mut self, from: u32, to: u32, kind: u8) {
        if from != to {
            self.push(from, to, kind);
        }
    }

    fn push(&mut self, from: u32, to: u32, kind: u8) {
        if self.is_counting {
            let place = from as usize + 2;
            if self.starts.len() <= place {
                self.starts.resize(place.max(self.nodes as usize + 1) + 1, 0);
            }
            self.starts[place] += 1;
            return;
        }
        let place = &mut self.starts[from as usize + 1];
        self.targets[*place as usize] = to;
        self.kinds[*place as usize] = kind;
        *place += 1;
    }

    /// All edges were counted: gives each node its place.
    fn lay_out(&mut self) {
        self.starts.resize(self.nodes as usize + 2, 0);
        for at in 2..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        let count = self.starts[self.nodes as usize + 1] as usize;
        (self.targets, self.kinds) = (vec![0; count], vec![0; count]);
        self.is_counting = false;
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
            self.push(before + at, *target, PASS);
            self.push(behind + at, *target, PASS);
            if at > 0 {
                self.push(before + at, before + at - 1, PASS);
                self.push(behind + at - 1, behind + at, PASS);
            }
        }
        let mut places: Vec<(u32, u32)> = to.iter().copied().zip(0..).collect();
        places.sort_unstable();
        for one in from {
            match places.binary_search_by_key(one, |(target, _)| *target) {
                Err(_) => self.push(*one, behind, kind),
                Ok(found) => {
                    let at = places[found].1;
                    if at > 0 {
                        self.push(*one, before + at - 1, kind);
                    }
                    if at + 1 < count {
                        self.push(*one, behind + at + 1, kind);
                    }
                }
            }
        }
    }

    fn add_processes(&mut self, set: &TransactionSet, takes_part: &dyn Fn(u32) -> bool) {
        let mut last: Vec<Option<u32>> = Vec::new();
        for id in set.ids().filter(|id| takes_part(*id)) {
            let Some(process) = set.transactions[id as usize].process() else { continue };
            if last.len() <= process as usize {
                last.resize(process as usize + 1, None);
            }
            if let Some(before) = last[process as usize] {
                self.edge(before, id, PROCESS);
            }
            // It may take effect at any later time, also after what its process did next.
            if set.outcome(id) != OperationType::Info {
                last[process as usize] = Some(id);
            }
        }
    }

    fn add_time(&mut self, set: &TransactionSet, takes_part: &dyn Fn(u32) -> bool) {
        let timed = || set.ids().filter(|id| set.is_timed(*id) && takes_part(*id));
        let completion = |id: u32| {
            let call = &set.transactions[id as usize].call;
            call.completion.filter(|_| call.outcome == OperationType::Ok).map(|at| (at, id))
        };
        let mut completions: Vec<(u32, u32)> = timed().filter_map(completion).collect();
        completions.sort_unstable();
        let mut completions = completions.into_iter().peekable();
        let mut point: Option<u32> = None;
        // What completes after the last invocation comes before nothing.
        for id in timed() {
            let invocation = set.transactions[id as usize].call.invocation;
            let mut is_new = true;
            while let Some((_, completed)) = completions.next_if(|(at, _)| *at < invocation) {
                // Completions without an invocation between them share a point.
                if is_new {
                    let new = self.nodes;
                    self.nodes += 1;
                    if let Some(before) = point {
                        self.push(before, new, PASS);
                    }
                    point = Some(new);
                    is_new = false;
                }
                if let Some(point) = point {
                    self.push(completed, point, REALTIME);
                }
            }
            if let Some(point) = point {
                self.push(point, id, PASS);
            }
        }
    }
}
