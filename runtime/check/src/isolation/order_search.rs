//! Search for an order of all transactions in which each read returns what stood there.
//!
//! ```text
//! executed {T1, T3} · versions {x: 4, y: initial}     next: T2, if it reads x = 4 and no other still needs x = 4
//! ```
//!
//! Each value is written to a key once, so a version that is overwritten never comes back: a transaction may write a key only when all
//! other readers of its version have had their turn. That alone leaves few dead ends, and sets of executed transactions with the versions
//! after them are remembered where one ends.
//!
//! Under snapshot isolation a transaction is two: its begin, which reads, and its commit, which writes (`split`). A key that is written
//! without being read is locked between both.
//!
//! Invariants: `Valid` and `Invalid` are exact; what the bounds cut off is `Unknown`. Finding such an order is NP-complete (Papadimitriou,
//! 1979). Not here: which orders must hold beside (`graph`).

use super::graph::{DependencyGraph, PASS};
use crate::hash_index::{HashIndex, fold};
use crate::linearizability::{CheckLimits, Validity};
use std::collections::BTreeSet;

/// Steps between two looks at whether time is over.
const LOOK_EVERY: u64 = 1 << 10;

/// What a transaction needs and leaves of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyAccess {
    pub(super) key: u32,
    /// The version that it reads first, if it does.
    pub(super) reads: Option<u32>,
    /// The version that it leaves, if it writes.
    pub(super) writes: Option<u32>,
    /// Whether it takes the exclusive right to write the key, releases it, or neither.
    pub(super) lock: KeyLock,
}

/// What becomes of the right to write a key: of two transactions under snapshot isolation that write one, one begins after the other's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyLock {
    Untouched,
    Taken,
    Released,
}

/// A transaction of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedTransaction {
    /// Whether it took effect; others have no place in the order.
    pub(super) takes_part: bool,
    pub(super) accesses: Vec<KeyAccess>,
}

/// The version of a key before all writes.
pub(super) const INITIAL_VERSION: u32 = u32::MAX;

/// A transaction that was executed, and what undoes it.
struct SearchFrame {
    transaction: u32,
    /// Versions before it, by its accesses.
    before: Vec<u32>,
    /// Whether others may be tried in its place.
    is_choice: bool,
}

/// Begins and commits of transactions, for snapshot isolation: those of number n are n and n + their count.
pub(super) fn split(transactions: &[OrderedTransaction]) -> Vec<OrderedTransaction> {
    let half = |is_begin: bool| {
        transactions.iter().map(move |one| {
            let writes = |access: &&KeyAccess| is_begin && access.reads.is_some() || access.writes.is_some();
            let accesses = one.accesses.iter().filter(writes).map(|access| KeyAccess {
                key: access.key,
                reads: access.reads.filter(|_| is_begin),
                writes: access.writes.filter(|_| !is_begin),
                lock: match access.writes {
                    None => KeyLock::Untouched,
                    Some(_) if is_begin => KeyLock::Taken,
                    Some(_) => KeyLock::Released,
                },
            });
            OrderedTransaction { takes_part: one.takes_part, accesses: accesses.collect() }
        })
    };
    half(true).chain(half(false)).collect()
}

/// Whether transactions that take part have an order that respects the edges of some kinds.
pub(super) fn find_order(
    transactions: &[OrderedTransaction],
    graph: &DependencyGraph,
    kinds: u8,
    keys: u32,
    limits: &CheckLimits<'_>,
) -> Validity {
    OrderSearch::new(transactions, graph, kinds, keys).run(limits)
}

struct OrderSearch<'a> {
    transactions: &'a [OrderedTransaction],
    graph: &'a DependencyGraph,
    kinds: u8,
    /// Nodes of the graph that must still come before each node.
    waits: Vec<u32>,
    /// The current version of each key.
    versions: Vec<u32>,
    /// Keys whose exclusive right to write is taken.
    is_locked: Vec<bool>,
    /// Readers that each version still has: those of initial versions by key, then those of versions that were written.
    readers: Vec<u32>,
    ready: BTreeSet<u32>,
    /// A bit for each transaction that was executed, or takes no part; and what it was at the beginning.
    executed: Vec<u64>,
    initial: Vec<u64>,
    /// Words of `executed` that are not as they were at the beginning.
    touched: BTreeSet<usize>,
    /// Words of `executed` before this one are full.
    full: usize,
    left: u32,
    /// Accesses of each key by transactions that are left, and by those that were executed.
    accesses: Vec<[u32; 2]>,
    /// Keys with both: what they hold now is of use, and not what they held first.
    live: BTreeSet<u32>,
    index: HashIndex,
    /// Dead ends: what tells the state, in a row, and where each ends.
    dead_ends: Vec<u64>,
    ends: Vec<usize>,
}

impl<'a> OrderSearch<'a> {
    fn new(
        transactions: &'a [OrderedTransaction],
        graph: &'a DependencyGraph,
        kinds: u8,
        keys: u32,
    ) -> OrderSearch<'a> {
        let all = || transactions.iter().flat_map(|one| &one.accesses);
        let last = all().flat_map(|one| [one.reads, one.writes]).flatten().filter(|one| *one != INITIAL_VERSION).max();
        let mut search = OrderSearch {
            transactions,
            graph,
            kinds: kinds | PASS,
            waits: vec![0; graph.len() as usize],
            versions: vec![INITIAL_VERSION; keys as usize],
            is_locked: vec![false; keys as usize],
            readers: vec![0; keys as usize + last.map_or(0, |last| last as usize + 1)],
            ready: BTreeSet::new(),
            executed: vec![u64::MAX; transactions.len().div_ceil(64)],
            initial: Vec::new(),
            touched: BTreeSet::new(),
            full: 0,
            left: 0,
            accesses: vec![[0; 2]; keys as usize],
            live: BTreeSet::new(),
            index: HashIndex::default(),
            dead_ends: Vec::new(),
            ends: Vec::new(),
        };
        for (key, version) in all().filter_map(|one| Some((one.key, one.reads?))) {
            let place = search.place(key, version);
            search.readers[place] += 1;
        }
        for (to, _) in (0..graph.len()).flat_map(|node| graph.edges(node)).filter(|(_, kind)| kind & search.kinds != 0)
        {
            search.waits[to as usize] += 1;
        }
        for id in (0..transactions.len() as u32).filter(|id| transactions[*id as usize].takes_part) {
            search.left += 1;
            search.executed[id as usize / 64] &= !(1 << (id % 64));
            for one in &transactions[id as usize].accesses {
                search.accesses[one.key as usize][0] += 1;
            }
            if search.waits[id as usize] == 0 {
                search.ready.insert(id);
            }
        }
        search.initial.clone_from(&search.executed);
        // Auxiliary nodes between transactions that wait for none.
        let free: Vec<u32> =
            (graph.transactions..graph.len()).filter(|node| search.waits[*node as usize] == 0).collect();
        free.into_iter().for_each(|node| search.release(node));
        search
    }

    /// Where the readers of a version are counted.
    fn place(&self, key: u32, version: u32) -> usize {
        if version == INITIAL_VERSION { key as usize } else { self.versions.len() + version as usize }
    }

    fn run(mut self, limits: &CheckLimits<'_>) -> Validity {
        let mut frames: Vec<SearchFrame> = Vec::new();
        let (mut from, mut steps) = (0, 0u64);
        loop {
            if self.left == 0 {
                return Validity::Valid;
            }
            steps += 1;
            if steps.is_multiple_of(LOOK_EVERY) && (limits.is_over)() {
                return Validity::Unknown;
            }
            // What cannot be wrong goes first; else the next choice.
            let certain = if from == 0 {
                self.ready.iter().copied().find(|id| self.can_execute(*id) && self.is_certain(*id))
            } else {
                None
            };
            let choice = certain.or_else(|| self.ready.range(from..).copied().find(|id| self.can_execute(*id)));
            if let Some(id) = choice {
                let before = self.execute(id);
                frames.push(SearchFrame { transaction: id, before, is_choice: certain.is_none() });
                from = 0;
                if certain.is_none() && !self.ends.is_empty() && self.is_dead_end() {
                    let Some(frame) = frames.pop() else { return Validity::Invalid };
                    from = frame.transaction + 1;
                    self.undo(frame);
                }
                continue;
            }
            // A dead end: back to the last choice.
            loop {
                let Some(frame) = frames.pop() else { return Validity::Invalid };
                let is_choice = frame.is_choice;
                if is_choice {
                    self.note_dead_end();
                    if (self.dead_ends.capacity() + self.ends.capacity()) * 8 + self.index.bytes()
                        > limits.memory_bytes_max
                    {
                        return Validity::Unknown;
                    }
                }
                let next = frame.transaction + 1;
                self.undo(frame);
                if is_choice {
                    from = next;
                    break;
                }
            }
        }
    }

    /// Whether a transaction reads what stands there, and overwrites nothing that others need.
    fn can_execute(&self, id: u32) -> bool {
        self.transactions[id as usize].accesses.iter().all(|one| {
            let version = self.versions[one.key as usize];
            let own = u32::from(one.reads.is_some());
            one.reads.is_none_or(|read| read == version)
                && !(one.lock == KeyLock::Taken && self.is_locked[one.key as usize])
                && (one.writes.is_none() || self.readers[self.place(one.key, version)] == own)
        })
    }

    /// Whether a transaction overwrites only what it reads, or what no other may write: nothing can come between its
    /// versions, so that it can be executed now without a choice.
    fn is_certain(&self, id: u32) -> bool {
        self.transactions[id as usize].accesses.iter().all(|one| match one.lock {
            KeyLock::Untouched => one.writes.is_none() || one.reads.is_some(),
            KeyLock::Taken => one.reads.is_some(),
            KeyLock::Released => true,
        })
    }

    fn turn_locks(&mut self, id: u32, taken: KeyLock) {
        let transactions = self.transactions;
        for one in transactions[id as usize].accesses.iter().filter(|one| one.lock != KeyLock::Untouched) {
            self.is_locked[one.key as usize] = one.lock == taken;
        }
    }

    fn execute(&mut self, id: u32) -> Vec<u32> {
        let transactions = self.transactions;
        let mut before = Vec::new();
        for one in &transactions[id as usize].accesses {
            before.push(self.versions[one.key as usize]);
            if let Some(read) = one.reads {
                let place = self.place(one.key, read);
                self.readers[place] -= 1;
            }
            if let Some(write) = one.writes {
                self.versions[one.key as usize] = write;
            }
        }
        self.turn_locks(id, KeyLock::Taken);
        let word = id as usize / 64;
        self.executed[word] |= 1 << (id % 64);
        self.touched.insert(word);
        self.count_accesses(id, [0, 1]);
        self.left -= 1;
        self.ready.remove(&id);
        self.release(id);
        before
    }

    fn undo(&mut self, frame: SearchFrame) {
        let id = frame.transaction;
        let transactions = self.transactions;
        self.withdraw(id);
        self.ready.insert(id);
        self.left += 1;
        self.turn_locks(id, KeyLock::Released);
        let word = id as usize / 64;
        self.executed[word] &= !(1 << (id % 64));
        self.full = self.full.min(word);
        if self.executed[word] == self.initial[word] {
            self.touched.remove(&word);
        }
        self.count_accesses(id, [1, 0]);
        for (one, before) in transactions[id as usize].accesses.iter().zip(frame.before) {
            self.versions[one.key as usize] = before;
            if let Some(read) = one.reads {
                let place = self.place(one.key, read);
                self.readers[place] += 1;
            }
        }
    }

    /// What waited for a node waits no more.
    fn release(&mut self, node: u32) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            for (to, _) in self.graph.edges(node).filter(|(_, kind)| kind & self.kinds != 0) {
                self.waits[to as usize] -= 1;
                if self.waits[to as usize] > 0 {
                    continue;
                }
                match self.transactions.get(to as usize) {
                    None => open.push(to),
                    Some(one) if !one.takes_part => {}
                    Some(_) => _ = self.ready.insert(to),
                }
            }
        }
    }

    /// The opposite of `release`.
    fn withdraw(&mut self, node: u32) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            for (to, _) in self.graph.edges(node).filter(|(_, kind)| kind & self.kinds != 0) {
                if self.waits[to as usize] == 0 {
                    if to < self.graph.transactions { _ = self.ready.remove(&to) } else { open.push(to) }
                }
                self.waits[to as usize] += 1;
            }
        }
    }

    /// Moves the accesses of a transaction from one side to the other.
    fn count_accesses(&mut self, id: u32, [from, to]: [usize; 2]) {
        let transactions = self.transactions;
        for one in &transactions[id as usize].accesses {
            let counts = &mut self.accesses[one.key as usize];
            counts[from] -= 1;
            counts[to] += 1;
            match counts {
                [0, _] | [_, 0] => self.live.remove(&one.key),
                _ => self.live.insert(one.key),
            };
        }
    }

    /// What is left depends on what was executed, and on the versions of keys that are still needed; that tells the locks. A state has the
    /// words that are neither behind all that is left, nor untouched.
    fn state(&mut self) -> Vec<u64> {
        while self.executed.get(self.full).is_some_and(|word| *word == u64::MAX) {
            self.full += 1;
        }
        let mut state = vec![self.full as u64, self.live.len() as u64];
        state.extend(self.touched.range(self.full..).flat_map(|word| [*word as u64, self.executed[*word]]));
        state.extend(self.live.iter().map(|key| u64::from(*key) << 32 | u64::from(self.versions[*key as usize])));
        state
    }

    fn is_dead_end(&mut self) -> bool {
        let state = self.state();
        self.index.find(hash(&state), |at| self.entry(at) == state).is_some()
    }

    fn note_dead_end(&mut self) {
        let state = self.state();
        let new = self.ends.len() as u32;
        let OrderSearch { index, dead_ends, ends, .. } = self;
        let is_equal = |at: u32| dead_ends[start(ends, at)..ends[at as usize]] == state;
        if index.find_or_insert(hash(&state), new, is_equal).is_none() {
            dead_ends.extend_from_slice(&state);
            ends.push(dead_ends.len());
        }
    }

    fn entry(&self, at: u32) -> &[u64] {
        &self.dead_ends[start(&self.ends, at)..self.ends[at as usize]]
    }
}

fn start(ends: &[usize], at: u32) -> usize {
    if at == 0 { 0 } else { ends[at as usize - 1] }
}

fn hash(state: &[u64]) -> u64 {
    state.iter().fold(state.len() as u64, |hash, word| fold(hash, *word))
}
