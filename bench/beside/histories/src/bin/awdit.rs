//! Verdicts on weak levels beside the algorithms of AWDIT (Møldrup, Pavlogiannis, PLDI 2025), written here from the paper: CPU time of each
//! on large histories, and whether any verdict differs on many small ones.
//!
//! ```text
//! beside-awdit [ROUNDS [SMALL_HISTORIES]]
//! ```
//!
//! AWDIT itself, a program in Rust, is in no registry. So this is not its time, but that of a plain implementation of what it does: dense
//! numbers, vectors, no explanation. Ours is timed from the history in memory to the verdict; theirs from the sessions in memory.
//! Read committed, read atomic and causal consistency are `session-read-committed`, `session-read-atomic` and `session-causal` here.

use beside_histories::sessions::{DrawnSessions, SessionShape, history, sessions};
use beside_histories::{DrawStream, cpu, median};
use fozzy_check::{CheckLimits, Validity, check_isolation_level, isolation_level};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq)]
enum AwditLevel {
    ReadCommitted,
    ReadAtomic,
    Causal,
}

const LEVELS: [(AwditLevel, &str); 3] = [
    (AwditLevel::ReadCommitted, "session-read-committed"),
    (AwditLevel::ReadAtomic, "session-read-atomic"),
    (AwditLevel::Causal, "session-causal"),
];

/// No transaction.
const NONE: u32 = u32::MAX;

/// A history with dense numbers: of each transaction its session and place, its external reads (key, writer) and the keys that it writes.
struct AwditOracle {
    session: Vec<u32>,
    place: Vec<u32>,
    sessions: Vec<Vec<u32>>,
    reads: Vec<Vec<(u32, u32)>>,
    writes: Vec<Vec<u32>>,
    keys: u32,
}

/// Reads that are wrong at every level: of nobody's value, of an intermediate one, of other than the own last write.
fn oracle(all: &DrawnSessions) -> Option<AwditOracle> {
    let mut writers: HashMap<(u32, u32), (u32, bool)> = HashMap::new();
    let mut o = AwditOracle {
        session: vec![],
        place: vec![],
        sessions: vec![vec![]; all.len()],
        reads: vec![],
        writes: vec![],
        keys: 0,
    };
    for (session, transactions) in all.iter().enumerate() {
        for steps in transactions {
            let id = o.session.len() as u32;
            o.place.push(o.sessions[session].len() as u32);
            o.sessions[session].push(id);
            o.session.push(session as u32);
            for (at, (is_write, key, value)) in steps.iter().enumerate() {
                o.keys = o.keys.max(key + 1);
                if *is_write {
                    let is_last = !steps[at + 1..].iter().any(|later| later.0 && later.1 == *key);
                    writers.insert((*key, *value), (id, is_last));
                }
            }
        }
    }
    for steps in all.iter().flatten() {
        let id = o.reads.len() as u32;
        let (mut reads, mut writes): (Vec<(u32, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
        for (at, (is_write, key, value)) in steps.iter().enumerate() {
            if *is_write {
                writes.push(*key);
                continue;
            }
            if let Some(own) = steps[..at].iter().rev().find(|step| step.0 && step.1 == *key) {
                if own.2 != *value {
                    return None;
                }
                continue;
            }
            if *value == 0 {
                reads.push((*key, NONE));
                continue;
            }
            let (writer, is_last) = *writers.get(&(*key, *value))?;
            if writer == id || !is_last {
                return None;
            }
            reads.push((*key, writer));
        }
        writes.sort_unstable();
        writes.dedup();
        o.reads.push(reads);
        o.writes.push(writes);
    }
    Some(o)
}

impl AwditOracle {
    fn is_consistent(&self, level: AwditLevel) -> bool {
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for session in &self.sessions {
            edges.extend(session.windows(2).map(|pair| (pair[0], pair[1])));
        }
        for (id, reads) in (0..).zip(&self.reads) {
            edges.extend(reads.iter().filter(|read| read.1 != NONE).map(|read| (read.1, id)));
        }
        let fits = match level {
            AwditLevel::ReadCommitted => self.read_committed(&mut edges),
            AwditLevel::ReadAtomic => self.read_atomic(&mut edges),
            AwditLevel::Causal => self.causal(&mut edges),
        };
        fits && topological(self.session.len(), &edges).is_some()
    }

    /// Who was seen comes before whose value is read, if it wrote the key.
    fn edge(&self, seen: u32, source: u32, edges: &mut Vec<(u32, u32)>) -> bool {
        if source == NONE {
            return false;
        }
        if seen != source {
            edges.push((seen, source));
        }
        true
    }

    /// Each transaction that a reader had read from before a read of a key, and that wrote the key.
    fn read_committed(&self, edges: &mut Vec<(u32, u32)>) -> bool {
        // For each key, the reads of it that come later in the transaction, the last first.
        let mut later: Vec<Vec<u32>> = vec![Vec::new(); self.keys as usize];
        let mut first_place: HashMap<u32, usize> = HashMap::new();
        for reads in &self.reads {
            first_place.clear();
            for (at, (_, source)) in reads.iter().enumerate() {
                first_place.entry(*source).or_insert(at);
            }
            let mut keys: Vec<u32> = Vec::new();
            let mut is_wrong = false;
            for (at, (key, source)) in reads.iter().enumerate().rev() {
                if *source != NONE && first_place[source] == at {
                    let writes = &self.writes[*source as usize];
                    let mut visit = |key: u32| {
                        for other in &later[key as usize] {
                            is_wrong |= !self.edge(*source, *other, edges);
                        }
                    };
                    if writes.len() <= keys.len() {
                        writes.iter().for_each(|key| visit(*key));
                    } else {
                        keys.iter().filter(|key| writes.binary_search(key).is_ok()).for_each(|key| visit(*key));
                    }
                }
                if later[*key as usize].is_empty() {
                    keys.push(*key);
                }
                if later[*key as usize].last() != Some(source) {
                    later[*key as usize].push(*source);
                }
            }
            keys.iter().for_each(|key| later[*key as usize].clear());
            if is_wrong {
                return false;
            }
        }
        true
    }

    /// Each transaction that a reader reads from, and the last one of its session before it, that wrote the key.
    fn read_atomic(&self, edges: &mut Vec<(u32, u32)>) -> bool {
        let mut last: Vec<u32> = vec![NONE; self.keys as usize];
        for session in &self.sessions {
            for id in session {
                let reads = &self.reads[*id as usize];
                let mut by_key: Vec<(u32, u32)> = reads.clone();
                by_key.sort_unstable();
                by_key.dedup();
                let mut sources: Vec<u32> = reads.iter().map(|read| read.1).filter(|source| *source != NONE).collect();
                sources.sort_unstable();
                sources.dedup();
                for (key, source) in &by_key {
                    let seen = last[*key as usize];
                    if seen != NONE && !self.edge(seen, *source, edges) {
                        return false;
                    }
                }
                for seen in sources {
                    let writes = &self.writes[seen as usize];
                    if writes.len() <= by_key.len() {
                        for key in writes {
                            let from = by_key.partition_point(|read| read.0 < *key);
                            for read in by_key[from..].iter().take_while(|read| read.0 == *key) {
                                if !self.edge(seen, read.1, edges) {
                                    return false;
                                }
                            }
                        }
                    } else {
                        for read in by_key.iter().filter(|read| writes.binary_search(&read.0).is_ok()) {
                            if !self.edge(seen, read.1, edges) {
                                return false;
                            }
                        }
                    }
                }
                self.writes[*id as usize].iter().for_each(|key| last[*key as usize] = *id);
            }
            for id in session {
                self.writes[*id as usize].iter().for_each(|key| last[*key as usize] = NONE);
            }
        }
        true
    }

    /// Of each session, the last transaction that happened before a reader and wrote the key.
    fn causal(&self, edges: &mut Vec<(u32, u32)>) -> bool {
        let (count, width) = (self.session.len(), self.sessions.len());
        let Some(order) = topological(count, edges) else { return false };
        // Of each session, how many transactions happened before each.
        let mut clocks = vec![0u32; count * width];
        for id in &order {
            let mut own: Vec<u32> = vec![0; width];
            let mut join = |from: u32| {
                let from = from as usize;
                for (own, other) in own.iter_mut().zip(&clocks[from * width..][..width]) {
                    *own = (*own).max(*other);
                }
                let session = self.session[from] as usize;
                own[session] = own[session].max(self.place[from] + 1);
            };
            let place = self.place[*id as usize];
            if place > 0 {
                join(self.sessions[self.session[*id as usize] as usize][place as usize - 1]);
            }
            self.reads[*id as usize].iter().filter(|read| read.1 != NONE).for_each(|read| join(read.1));
            clocks[*id as usize * width..][..width].copy_from_slice(&own);
        }
        // Of each session, the places of the writers of each key; pointers move on with a reader's session.
        let mut writers: Vec<HashMap<u32, Vec<u32>>> = vec![HashMap::new(); width];
        for id in 0..count {
            for key in &self.writes[id] {
                writers[self.session[id] as usize].entry(*key).or_default().push(self.place[id]);
            }
        }
        for session in &self.sessions {
            let mut pointers: HashMap<(u32, u32), usize> = HashMap::new();
            for id in session {
                for (key, source) in &self.reads[*id as usize] {
                    for other in 0..width as u32 {
                        let bound = clocks[*id as usize * width + other as usize];
                        let Some(places) = writers[other as usize].get(key).filter(|_| bound > 0) else { continue };
                        let at = pointers.entry((other, *key)).or_insert(0);
                        while *at < places.len() && places[*at] < bound {
                            *at += 1;
                        }
                        if *at > 0 {
                            let seen = self.sessions[other as usize][places[*at - 1] as usize];
                            if !self.edge(seen, *source, edges) {
                                return false;
                            }
                        }
                    }
                }
            }
        }
        true
    }
}

/// Nodes, each after all that lead to it; `None` if there is a cycle.
fn topological(nodes: usize, edges: &[(u32, u32)]) -> Option<Vec<u32>> {
    let mut starts = vec![0u32; nodes + 2];
    edges.iter().for_each(|(from, _)| starts[*from as usize + 2] += 1);
    (2..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
    let mut targets = vec![0u32; edges.len()];
    let mut waits = vec![0u32; nodes];
    for (from, to) in edges {
        let place = &mut starts[*from as usize + 1];
        targets[*place as usize] = *to;
        *place += 1;
        waits[*to as usize] += 1;
    }
    let mut order: Vec<u32> = (0..nodes as u32).filter(|node| waits[*node as usize] == 0).collect();
    let mut at = 0;
    while let Some(node) = order.get(at).copied() {
        at += 1;
        for target in &targets[starts[node as usize] as usize..starts[node as usize + 1] as usize] {
            waits[*target as usize] -= 1;
            if waits[*target as usize] == 0 {
                order.push(*target);
            }
        }
    }
    (order.len() == nodes).then_some(order)
}

fn main() {
    let mut words = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let (rounds, small) = (words.next().unwrap_or(5), words.next().unwrap_or(100_000));
    let mut counts = [[0u64; 3]; 3];
    let mut differ = 0;
    for seed in 0..small {
        let mut stream = DrawStream(seed);
        let shape = SessionShape {
            sessions: 2 + stream.below(4) as u32,
            transactions: 4 + stream.below(16) as u32,
            steps: 1 + stream.below(4) as u32,
            keys: 1 + stream.below(4) as u32,
            lag_percent: [0, 20, 60][stream.below(3) as usize],
            is_whole: stream.chance(50),
            lag: 1 + stream.below(6),
        };
        let all = sessions(shape, &mut stream);
        let ours = history(&all);
        let theirs = oracle(&all);
        for ((level, name), count) in LEVELS.into_iter().zip(&mut counts) {
            let row = isolation_level(name).expect("a level");
            let found = check_isolation_level(&ours, row, &CheckLimits::default()).expect("transactions").validity(row);
            let expected = theirs.as_ref().is_some_and(|one| one.is_consistent(level));
            count[found as usize] += 1;
            if (found == Validity::Valid) != expected {
                differ += 1;
                println!("{name} of seed {seed}: {found:?} here, {expected} by the oracle");
            }
        }
    }
    println!("{small} small histories: {differ} verdicts differ; valid, unknown, invalid of each level: {counts:?}");
    for (name, shape) in [
        (
            "1,000,000 steps, 20 sessions, 1000 keys, serial",
            SessionShape {
                sessions: 20,
                transactions: 125_000,
                steps: 8,
                keys: 1000,
                lag_percent: 0,
                is_whole: true,
                lag: 1,
            },
        ),
        (
            "1,000,000 steps, 100 sessions, 100 keys, serial",
            SessionShape {
                sessions: 100,
                transactions: 125_000,
                steps: 8,
                keys: 100,
                lag_percent: 0,
                is_whole: true,
                lag: 1,
            },
        ),
        (
            "1,000,000 steps, 50 sessions, 40 a transaction",
            SessionShape {
                sessions: 50,
                transactions: 25_000,
                steps: 40,
                keys: 5000,
                lag_percent: 0,
                is_whole: true,
                lag: 1,
            },
        ),
        (
            "200,000 steps, 20 sessions, reads lag",
            SessionShape {
                sessions: 20,
                transactions: 25_000,
                steps: 8,
                keys: 1000,
                lag_percent: 1,
                is_whole: true,
                lag: 50,
            },
        ),
    ] {
        let all = sessions(shape, &mut DrawStream(7));
        let ours = history(&all);
        for (level, label) in LEVELS {
            let row = isolation_level(label).expect("a level");
            let (mut mine, mut other) = (Vec::new(), Vec::new());
            let mut verdicts = (Validity::Unknown, false);
            for _ in 0..rounds {
                let start = cpu();
                let verdict = check_isolation_level(&ours, row, &CheckLimits::default()).expect("transactions");
                let middle = cpu();
                let expected = oracle(&all).is_some_and(|one| one.is_consistent(level));
                (mine, other) = ([mine, vec![middle - start]].concat(), [other, vec![cpu() - middle]].concat());
                verdicts = (verdict.validity(row), expected);
            }
            let (mine, other) = (median(mine), median(other));
            println!(
                "{name:<48} {label:<24} ours {:>8.1} ms  oracle {:>8.1} ms  {:>5.2} of it  {:?}{}",
                mine * 1e3,
                other * 1e3,
                mine / other,
                verdicts.0,
                if (verdicts.0 == Validity::Valid) == verdicts.1 { "" } else { "  DIFFERS" },
            );
        }
    }
}
