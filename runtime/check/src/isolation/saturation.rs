//! Weak levels: whether some order of commits explains what was read, found by saturation.
//!
//! ```text
//! T3 read x from T1 · T2 wrote x, and T3 had seen T2     ──▶   T2 must come before T1
//!
//! (committed)                                 sessions, and what was read from whom, have no cycle; nothing else is asked
//! seen by the time of that read (monotonic)   T3 read something of T2 earlier
//! seen at all (atomic)                        T3 read something of T2, or T2 stands before T3 in its session
//! seen by those that were seen (causal)       a path of such steps leads from T2 to T3
//! ```
//!
//! Each level asks for an order of commits that has all such pairs. There is one if the pairs, with sessions and what was read from whom,
//! have no cycle; lists add the order of their versions, which commits must have too. Of the transactions of a session that wrote a key, the last one that was seen is enough. Without sessions, each
//! transaction is a session of its own.
//!
//! Invariant: exact, if each value is written to a key once and each read names its writer. Sources: Biswas, Enea, "On the Complexity of
//! Checking Transactional Consistency" (2019), for the levels; Møldrup et al., "AWDIT" (2025), for the least pairs that suffice.
//! Not here: what a single transaction shows (`rw_register`).

use super::components::{NONE, Successors, components};
use super::transaction::{MicroAction, MicroOperation, TransactionSet};
use crate::history::OperationType;
use crate::linearizability::CheckLimits;
use std::collections::BTreeMap;

/// Bytes of the clocks of a history; with more, the causal level is not decided.
const CLOCK_BYTES_MAX: usize = 1 << 29;
/// How many steps pass between two looks whether judging should end.
const STEPS_PER_LOOK: u32 = 1 << 10;
/// Edges that the search for a shortest cycle looks at before it takes what it has, if the history has no more.
const LOOKS_MIN: usize = 1 << 12;
/// Transactions of the shortest cycle that there can be.
const CYCLE_MIN: usize = 2;
/// The source of a read of what was there before all writes.
pub(super) const BEFORE_ALL: u32 = u32::MAX;

/// A level that saturation decides. The larger one is the stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WeakLevel {
    Committed,
    Monotonic,
    Atomic,
    Causal,
}

/// What transactions read of each other, and which keys they write.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadsFrom {
    /// The session of each transaction; `NONE` if it takes no part.
    pub(super) sessions: Vec<u32>,
    pub(super) session_count: u32,
    /// Transactions that stand behind a session without being of it: nobody knows when they ended.
    pub(super) loose: BTreeMap<u32, u32>,
    /// Reads of others, in the order of the transaction: key and source.
    pub(super) reads: Rows<(u32, u32)>,
    /// Keys that each writes, sorted.
    pub(super) writes: Rows<u32>,
    /// What is known beside: the order of the versions of lists.
    pub(super) versions: Vec<OrderEdge>,
}

/// Rows of several lengths.
#[derive(Clone, Debug)]
pub(super) struct Rows<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows { starts: vec![0], items: Vec::new() }
    }
}

impl<T> Rows<T> {
    /// Adds a row.
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        self.starts.push(self.items.len() as u32);
    }

    /// The row at a position.
    fn row(&self, at: u32) -> &[T] {
        &self.items[self.starts[at as usize] as usize..self.starts[at as usize + 1] as usize]
    }

    fn bounds(&self, at: u32) -> (u32, u32) {
        (self.starts[at as usize], self.starts[at as usize + 1])
    }
}

/// Why one transaction commits before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderReason {
    /// It stands before it in its session.
    Session,
    /// The other one read what it wrote to a key.
    Read(u32),
    /// It wrote the version of a key before that of the other one.
    Version,
    /// A reader had seen it, and read the other one's value of a key that both wrote.
    Seen { reader: u32, key: u32 },
}

/// One transaction before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OrderEdge {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) reason: OrderReason,
}

/// What saturation says of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SaturationVerdict {
    Holds,
    /// A transaction read a key before all writes, and had seen one that wrote it.
    Initial {
        writer: u32,
        reader: u32,
        key: u32,
    },
    /// A cycle of transactions in which each must come before the next; whether there is no shorter one.
    Cycle(Vec<OrderEdge>, bool),
    /// Time or memory was used up.
    Unknown,
}

/// The known pairs of transactions of which one comes before the other; bounded.
struct EdgeList<'a> {
    edges: Vec<OrderEdge>,
    limits: &'a CheckLimits<'a>,
    steps: u32,
}

impl EdgeList<'_> {
    /// One step more, of those whose number the history does not bound by its own length; that it is enough, if it is.
    fn step(&mut self) -> Option<SaturationVerdict> {
        self.steps = self.steps.wrapping_add(1);
        let is_late = self.steps.is_multiple_of(STEPS_PER_LOOK) && (self.limits.is_over)();
        let is_full = self.edges.len().saturating_mul(size_of::<OrderEdge>()) > self.limits.memory_bytes_max;
        (is_late || is_full).then_some(SaturationVerdict::Unknown)
    }

    /// `seen` comes before the source of a read.
    fn note(&mut self, seen: u32, reader: u32, (key, source): (u32, u32)) -> Option<SaturationVerdict> {
        if source == BEFORE_ALL {
            return Some(SaturationVerdict::Initial { writer: seen, reader, key });
        }
        if seen != source {
            self.edges.push(OrderEdge { from: seen, to: source, reason: OrderReason::Seen { reader, key } });
        }
        self.step()
    }
}

impl ReadsFrom {
    /// What the transactions that take part read: `source` says from whom a step reads what its own transaction has not written,
    /// `BEFORE_ALL` if from nobody, and none if that says nothing.
    pub(super) fn new(
        set: &TransactionSet,
        takes_part: impl Fn(u32) -> bool,
        source: impl Fn(u32, usize, &MicroOperation) -> Option<u32>,
    ) -> ReadsFrom {
        let mut all = ReadsFrom { session_count: set.processes(), ..ReadsFrom::default() };
        let (mut keys, last_of): (Vec<u32>, Vec<u32>) = (Vec::new(), set.last_of_processes());
        for id in set.ids() {
            let steps: &[MicroOperation] = if takes_part(id) { set.steps(id) } else { &[] };
            let session = all.session_of(set, id, &last_of);
            keys.clear();
            keys.extend(steps.iter().filter(|one| one.action != MicroAction::Read).map(|one| one.key));
            keys.sort_unstable();
            keys.dedup();
            let is_own = |at: usize, key: u32| {
                keys.binary_search(&key).is_ok()
                    && steps[..at].iter().any(|before| before.action != MicroAction::Read && before.key == key)
            };
            let reads = steps.iter().enumerate().filter_map(|(at, one)| {
                if one.action != MicroAction::Read || is_own(at, one.key) {
                    return None;
                }
                let from = source(id, at, one)?;
                (from == BEFORE_ALL || from != id && takes_part(from)).then_some((one.key, from))
            });
            all.push(Some(session).filter(|_| takes_part(id)), reads, keys.iter().copied());
        }
        all
    }

    /// The same without sessions.
    pub(super) fn without_sessions(&self) -> ReadsFrom {
        let mut next = 0;
        let own = |session: &u32| {
            if *session == NONE {
                return NONE;
            }
            next += 1;
            next - 1
        };
        let sessions = self.sessions.iter().map(own).collect();
        ReadsFrom { sessions, session_count: next, loose: BTreeMap::new(), ..self.clone() }
    }

    /// Whether a level holds.
    pub(super) fn saturate(&self, level: WeakLevel, limits: &CheckLimits<'_>) -> SaturationVerdict {
        let table = SessionTable::new(self, level == WeakLevel::Causal);
        let mut edges = EdgeList { edges: self.known_edges(&table), limits, steps: 0 };
        let verdict = match level {
            WeakLevel::Committed => None,
            WeakLevel::Monotonic => self.add_monotonic(&mut edges),
            WeakLevel::Atomic => self.add_atomic(&mut edges),
            WeakLevel::Causal => self.add_causal(&table, &mut edges),
        };
        match verdict {
            None => find_cycle(self.sessions.len() as u32, edges.edges),
            Some(verdict) => verdict,
        }
    }

    /// The session of a transaction: that of its process, or one of its own where it has none, or its end is unknown and its process
    /// goes on, as `last_of` says.
    fn session_of(&mut self, set: &TransactionSet, id: u32, last_of: &[u32]) -> u32 {
        let process = set.transactions[id as usize].process();
        let goes_on = |process: &u32| set.outcome(id) == OperationType::Info && last_of[*process as usize] != id;
        if let Some(process) = process.filter(|process| !goes_on(process)) {
            return process;
        }
        self.loose.extend(process.map(|process| (id, process)));
        self.session_count += 1;
        self.session_count - 1
    }

    /// Adds a transaction: its session if it takes part, and its reads of others and the keys that it writes.
    fn push(
        &mut self,
        session: Option<u32>,
        reads: impl IntoIterator<Item = (u32, u32)>,
        writes: impl IntoIterator<Item = u32>,
    ) {
        self.sessions.push(session.unwrap_or(NONE));
        self.reads.push(reads);
        self.writes.push(writes);
    }

    fn transactions(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.sessions.len() as u32).filter(|id| self.sessions[*id as usize] != NONE)
    }

    /// Transactions, those of a session in its order and after each other.
    fn by_session(&self) -> Vec<u32> {
        let mut starts = vec![0u32; self.session_count as usize + 1];
        self.transactions().for_each(|id| starts[self.sessions[id as usize] as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut all = vec![0; starts[self.session_count as usize] as usize];
        for id in self.transactions() {
            let place = &mut starts[self.sessions[id as usize] as usize];
            all[*place as usize] = id;
            *place += 1;
        }
        all
    }

    fn known_edges(&self, table: &SessionTable) -> Vec<OrderEdge> {
        let mut edges = self.versions.clone();
        for to in self.transactions() {
            let before = table.before[to as usize];
            if before != NONE {
                edges.push(OrderEdge { from: before, to, reason: OrderReason::Session });
            }
            for (key, from) in self.reads.row(to).iter().copied().filter(|(_, from)| *from != BEFORE_ALL) {
                edges.push(OrderEdge { from, to, reason: OrderReason::Read(key) });
            }
        }
        edges
    }

    fn add_monotonic(&self, edges: &mut EdgeList<'_>) -> Option<SaturationVerdict> {
        let mut first = Vec::<(u32, usize)>::new();
        let mut by_key = Vec::<(u32, usize)>::new();
        for reader in self.transactions() {
            let reads = self.reads.row(reader);
            by_key.clear();
            by_key.extend(reads.iter().enumerate().map(|(at, read)| (read.0, at)));
            by_key.sort_unstable();
            let read_after = |key: u32, at: usize| {
                let from = by_key.partition_point(|one| *one <= (key, at));
                by_key[from..].iter().take_while(move |one| one.0 == key).map(|one| reads[one.1])
            };
            first.clear();
            first.extend(
                reads.iter().enumerate().filter(|(_, read)| read.1 != BEFORE_ALL).map(|(at, read)| (read.1, at)),
            );
            first.sort_unstable();
            first.dedup_by_key(|one| one.0);
            for (seen, at) in &first {
                let (writes, later) = (self.writes.row(*seen), &reads[at + 1..]);
                // The fewer of both are looked up among the others.
                if writes.len() < later.len() {
                    for read in writes.iter().flat_map(|key| read_after(*key, *at)) {
                        if let Some(verdict) = edges.note(*seen, reader, read) {
                            return Some(verdict);
                        }
                    }
                } else {
                    for read in later.iter().filter(|read| writes.binary_search(&read.0).is_ok()) {
                        if let Some(verdict) = edges.note(*seen, reader, *read) {
                            return Some(verdict);
                        }
                    }
                }
                if let Some(verdict) = edges.step() {
                    return Some(verdict);
                }
            }
        }
        None
    }

    fn add_atomic(&self, edges: &mut EdgeList<'_>) -> Option<SaturationVerdict> {
        // Of each key, the last transaction of the session that wrote it, with the session.
        let keys = self.writes.items.iter().chain(self.reads.items.iter().map(|read| &read.0)).max();
        let mut last: Vec<(u32, u32)> = vec![(NONE, NONE); keys.map_or(0, |last| *last as usize + 1)];
        let (mut sources, mut reads): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
        for reader in self.by_session() {
            reads.clear();
            reads.extend_from_slice(self.reads.row(reader));
            reads.sort_unstable();
            sources.clear();
            sources.extend(reads.iter().map(|read| read.1).filter(|source| *source != BEFORE_ALL));
            sources.sort_unstable();
            sources.dedup();
            let is_read = |key: u32| {
                let from = reads.partition_point(|read| read.0 < key);
                reads[from..].iter().copied().take_while(move |read| read.0 == key)
            };
            for seen in &sources {
                let writes = self.writes.row(*seen);
                // The fewer of both are looked up among the others.
                if writes.len() < reads.len() {
                    for read in writes.iter().flat_map(|key| is_read(*key)) {
                        if let Some(verdict) = edges.note(*seen, reader, read) {
                            return Some(verdict);
                        }
                    }
                } else {
                    for read in reads.iter().filter(|read| writes.binary_search(&read.0).is_ok()) {
                        if let Some(verdict) = edges.note(*seen, reader, *read) {
                            return Some(verdict);
                        }
                    }
                }
            }
            if let Some(verdict) = edges.step() {
                return Some(verdict);
            }
            let session = self.sessions[reader as usize];
            for read in reads.iter().filter(|read| last[read.0 as usize].0 == session) {
                if let Some(verdict) = edges.note(last[read.0 as usize].1, reader, *read) {
                    return Some(verdict);
                }
            }
            self.writes.row(reader).iter().for_each(|key| last[*key as usize] = (session, reader));
        }
        None
    }

    fn add_causal(&self, table: &SessionTable, edges: &mut EdgeList<'_>) -> Option<SaturationVerdict> {
        let (count, width) = (self.sessions.len(), self.session_count as usize);
        let bytes_max = edges.limits.memory_bytes_max.min(CLOCK_BYTES_MAX);
        if count.saturating_mul(width).saturating_mul(size_of::<u32>()) > bytes_max {
            return Some(SaturationVerdict::Unknown);
        }
        let graph = OrderGraph::new(count as u32, &edges.edges);
        let Some(order) = graph.topological() else { return find_cycle_of(&graph, &edges.edges) };
        // Of each session, how many transactions each transaction has seen.
        let mut clocks = vec![0u32; count * width];
        let mut seen: Vec<u32> = Vec::new();
        for to in order {
            seen.clear();
            seen.extend(self.reads.row(to).iter().map(|read| read.1).chain([table.before[to as usize]]));
            seen.sort_unstable();
            seen.dedup();
            let to = to as usize;
            for from in seen.iter().filter(|from| **from != BEFORE_ALL).map(|from| *from as usize) {
                let (session, place) = (self.sessions[from] as usize, table.place[from] + 1);
                // What has seen it has seen all that it saw.
                if clocks[to * width + session] >= place {
                    continue;
                }
                let (before, behind) = clocks.split_at_mut(from.max(to) * width);
                let (source, own) = match from < to {
                    true => (&before[from * width..][..width], &mut behind[..width]),
                    false => (&behind[..width], &mut before[to * width..][..width]),
                };
                own.iter_mut().zip(source).for_each(|(own, source)| *own = (*own).max(*source));
                own[session] = place;
            }
        }
        for reader in self.transactions() {
            let clock = &clocks[reader as usize * width..][..width];
            for read in self.reads.row(reader) {
                for (session, seen) in table.writers(read.0).filter(|(session, _)| clock[*session as usize] > 0) {
                    let Some(seen) = seen.last_before(clock[session as usize]) else { continue };
                    if let Some(verdict) = edges.note(seen, reader, *read) {
                        return Some(verdict);
                    }
                }
            }
        }
        None
    }
}

/// Places of transactions in their sessions, and who writes a key in each.
struct SessionTable {
    /// The transaction before each in its session, or `NONE`.
    before: Vec<u32>,
    place: Vec<u32>,
    /// Writers, if they are needed: key, session, place, transaction; sorted.
    writers: Vec<(u32, u32, u32, u32)>,
}

/// Writers of a key in a session.
#[derive(Clone, Copy)]
struct SessionWriters<'a>(&'a [(u32, u32, u32, u32)]);

impl SessionWriters<'_> {
    /// The last one before a place.
    fn last_before(self, place: u32) -> Option<u32> {
        let end = self.0.partition_point(|one| one.2 < place);
        end.checked_sub(1).map(|at| self.0[at].3)
    }
}

impl SessionTable {
    fn new(all: &ReadsFrom, has_writers: bool) -> SessionTable {
        let count = all.sessions.len();
        let mut last = vec![NONE; all.session_count as usize];
        let mut table = SessionTable { before: vec![NONE; count], place: vec![0; count], writers: Vec::new() };
        for id in all.transactions() {
            let session = all.sessions[id as usize];
            let mut before = std::mem::replace(&mut last[session as usize], id);
            if let Some(session) = all.loose.get(&id) {
                before = last[*session as usize];
            }
            table.before[id as usize] = before;
            if before != NONE && !all.loose.contains_key(&id) {
                table.place[id as usize] = table.place[before as usize] + 1;
            }
            let place = table.place[id as usize];
            if !has_writers {
                continue;
            }
            table.writers.extend(all.writes.row(id).iter().map(|key| (*key, session, place, id)));
        }
        table.writers.sort_unstable();
        table
    }

    /// Writers of a key, by session.
    fn writers(&self, key: u32) -> impl Iterator<Item = (u32, SessionWriters<'_>)> {
        let from = self.writers.partition_point(|one| one.0 < key);
        let to = from + self.writers[from..].partition_point(|one| one.0 == key);
        self.writers[from..to].chunk_by(|a, b| a.1 == b.1).map(|group| (group[0].1, SessionWriters(group)))
    }
}

/// Edges by where they begin.
struct OrderGraph {
    starts: Rows<u32>,
    targets: Vec<u32>,
}

impl OrderGraph {
    /// Positions of the edges that leave each node, and where they lead.
    fn new(nodes: u32, edges: &[OrderEdge]) -> OrderGraph {
        // Sorted by counting: how many edges leave each node, then where those of each begin.
        let mut starts = vec![0u32; nodes as usize + 2];
        edges.iter().for_each(|edge| starts[edge.from as usize + 2] += 1);
        for at in 2..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut targets, mut items) = (vec![0; edges.len()], vec![0; edges.len()]);
        for (edge, at) in edges.iter().zip(0..) {
            let place = &mut starts[edge.from as usize + 1];
            targets[*place as usize] = edge.to;
            items[*place as usize] = at;
            *place += 1;
        }
        starts.pop();
        OrderGraph { starts: Rows { starts, items }, targets }
    }

    /// Nodes, each after all that lead to it; `None` if there is a cycle.
    fn topological(&self) -> Option<Vec<u32>> {
        let mut waits = vec![0u32; self.nodes() as usize];
        self.targets.iter().for_each(|to| waits[*to as usize] += 1);
        let mut order: Vec<u32> = (0..self.nodes()).filter(|node| waits[*node as usize] == 0).collect();
        let mut at = 0;
        while let Some(node) = order.get(at).copied() {
            at += 1;
            let (from, to) = self.positions(node);
            for target in &self.targets[from as usize..to as usize] {
                waits[*target as usize] -= 1;
                if waits[*target as usize] == 0 {
                    order.push(*target);
                }
            }
        }
        (order.len() == self.nodes() as usize).then_some(order)
    }
}

impl Successors for OrderGraph {
    fn nodes(&self) -> u32 {
        self.starts.starts.len() as u32 - 1
    }

    fn positions(&self, node: u32) -> (u32, u32) {
        self.starts.bounds(node)
    }

    fn successor(&self, _: u32, position: u32) -> Option<u32> {
        Some(self.targets[position as usize])
    }
}

/// A short cycle of edges; that they hold if there is none.
pub(super) fn find_cycle(nodes: u32, edges: Vec<OrderEdge>) -> SaturationVerdict {
    find_cycle_of(&OrderGraph::new(nodes, &edges), &edges).unwrap_or(SaturationVerdict::Holds)
}

/// A short cycle, if there is one.
fn find_cycle_of(graph: &OrderGraph, edges: &[OrderEdge]) -> Option<SaturationVerdict> {
    let (labels, count) = components(graph);
    if count == 0 {
        return None;
    }
    let members: Vec<u32> = (0..graph.nodes()).filter(|node| labels[*node as usize] == 0).collect();
    // By which edge a node was reached first, in the search from a start.
    let mut reached: Vec<(u32, u32)> = vec![(NONE, NONE); graph.nodes() as usize];
    let mut best: Vec<OrderEdge> = Vec::new();
    let (mut looks, mut is_shortest) = (0, true);
    for start in &members {
        if looks > edges.len().max(LOOKS_MIN) || best.len() == CYCLE_MIN {
            is_shortest = best.len() == CYCLE_MIN;
            break;
        }
        let mut queue = vec![(*start, 0)];
        let mut at = 0;
        'search: while let Some((node, steps)) = queue.get(at).copied() {
            at += 1;
            if !best.is_empty() && steps + 1 >= best.len() {
                break;
            }
            let (from, to) = graph.positions(node);
            looks += (to - from) as usize;
            for position in from..to {
                let target = graph.targets[position as usize];
                let edge = graph.starts.items[position as usize];
                if target == *start {
                    let mut cycle = vec![edges[edge as usize]];
                    while cycle[cycle.len() - 1].from != *start {
                        let (_, edge) = reached[cycle[cycle.len() - 1].from as usize];
                        cycle.push(edges[edge as usize]);
                    }
                    cycle.reverse();
                    best = cycle;
                    break 'search;
                }
                if labels[target as usize] == 0 && reached[target as usize].0 != *start {
                    reached[target as usize] = (*start, edge);
                    queue.push((target, steps + 1));
                }
            }
        }
    }
    Some(SaturationVerdict::Cycle(best, is_shortest))
}
