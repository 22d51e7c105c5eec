//! Inference from registers that transactions write and read.
//!
//! ```text
//! T1 wrote x = 1      T2 read x = 1, wrote x = 2      T3 read x = 1     ──▶   T1 -wr-> T2, T1 -wr-> T3, T3 -rw-> T2
//! ```
//!
//! Each value is written to a key once, so a read names its writer. Of the order of versions it is known that the initial one is the
//! first, and that a transaction which reads a version and writes the key writes a later one: if it did not, it would have to come
//! before the transaction that it read from. Versions that nothing orders stay unordered: what cannot be told is left to the search.
//!
//! Invariants: as in `list_append`. Source: Alvaro, Kingsbury, "Elle" (2020). Not here: cycles.

use super::graph::{GraphBuilder, RW, WR};
use super::inference::{AnomalyList, EdgeNames, HistoryWords};
use super::order_search::{INITIAL_VERSION, KeyAccess, KeyLock, OrderedTransaction};
use super::saturation::{BEFORE_ALL, ReadsFrom};
use super::transaction::{MicroAction, MicroOperation, TransactionSet, WriteTable};
use crate::history::{DatumId, HistoryError, OperationHistory, OperationType};

/// The version before all writes.
const INITIAL: u32 = u32::MAX;

/// Whether it is noted who uses which version: dependencies need it, saturation does not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum VersionUses {
    Kept,
    Unneeded,
}

/// A transaction that uses a version of a key: the key, the write (`INITIAL` for none), and who.
type VersionUse = (u32, u32, u32);

/// The inference.
pub(super) struct RwRegister<'a> {
    words: HistoryWords<'a>,
    table: WriteTable,
    /// Of each step of all transactions, the write of its value; `INITIAL` if there is none.
    versions: Vec<u32>,
    takes_part: Vec<bool>,
    /// Of each write, whether it is the last one of its transaction to the key, and that did not fail.
    is_plain: Vec<bool>,
    /// Who reads a version first of all it does to the key.
    readers: Vec<VersionUse>,
    /// Who reads a version so, and then writes the key.
    updaters: Vec<VersionUse>,
    /// Who writes a key, with `INITIAL`.
    writers: Vec<VersionUse>,
    pub(super) anomalies: AnomalyList,
}

impl<'a> RwRegister<'a> {
    /// Infers what single transactions tell, and those that they read from.
    pub(super) fn new(
        history: &'a OperationHistory,
        set: &'a TransactionSet,
        uses: VersionUses,
    ) -> Result<RwRegister<'a>, HistoryError> {
        let table = WriteTable::new(history, set)?;
        let versions = set.ids().flat_map(|id| set.steps(id));
        let mut inference = RwRegister {
            words: HistoryWords { history, set },
            versions: versions.map(|one| table.find(one.key, one.value).unwrap_or(INITIAL)).collect(),
            table,
            takes_part: set.ids().map(|id| set.outcome(id) == OperationType::Ok).collect(),
            is_plain: Vec::new(),
            readers: Vec::new(),
            updaters: Vec::new(),
            writers: Vec::new(),
            anomalies: AnomalyList::default(),
        };
        inference.admit_seen();
        inference.is_plain = inference.plain_writes();
        for id in set.ids() {
            if inference.takes_part(id) {
                inference.check_transaction(id, uses == VersionUses::Kept);
            }
        }
        Ok(inference)
    }

    /// Whether a transaction is known to have taken effect.
    pub(super) fn takes_part(&self, transaction: u32) -> bool {
        self.takes_part[transaction as usize]
    }

    /// What each transaction needs and leaves, for the search of an order.
    pub(super) fn ordered(&self) -> Vec<OrderedTransaction> {
        let set = self.words.set;
        let describe = |id: u32| {
            let mut accesses: Vec<KeyAccess> = Vec::new();
            for (one, version) in set.steps(id).iter().zip(self.versions(id)) {
                let version = if *version == INITIAL { INITIAL_VERSION } else { *version };
                let at = accesses.iter().position(|access| access.key == one.key);
                let (reads, writes) = match one.action {
                    MicroAction::Read => (Some(version), None),
                    _ => (None, Some(version)),
                };
                match at {
                    None => accesses.push(KeyAccess { key: one.key, reads, writes, lock: KeyLock::Untouched }),
                    Some(at) => accesses[at].writes = writes.or(accesses[at].writes),
                }
            }
            accesses
        };
        let all = set.ids().map(|id| (id, self.takes_part(id)));
        all.map(|(id, takes_part)| OrderedTransaction {
            takes_part,
            accesses: if takes_part { describe(id) } else { Vec::new() },
        })
        .collect()
    }

    /// What transactions read of each other, for saturation.
    pub(super) fn reads_from(&self) -> ReadsFrom {
        let source = |id: u32, at: usize, one: &MicroOperation| match self.versions(id)[at] {
            _ if one.value.is_nil() => Some(BEFORE_ALL),
            INITIAL => None,
            version => Some(self.table.writer(version)),
        };
        ReadsFrom::new(self.words.set, |id| self.takes_part(id), source)
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let uses = self.readers.capacity() + self.updaters.capacity() + self.writers.capacity();
        let bytes = uses * size_of::<VersionUse>() + 4 * self.versions.capacity();
        self.table.bytes() + bytes + self.takes_part.capacity()
    }

    /// Why one transaction comes before another.
    pub(super) fn because(&self, from: u32, to: u32, kind: u8, names: EdgeNames<'_>) -> Option<String> {
        let (words, set) = (self.words, self.words.set);
        let EdgeNames { from: first, to: second } = names;
        let is_read = |one: &&MicroOperation| one.action == MicroAction::Read;
        if kind == WR {
            return set.steps(to).iter().filter(is_read).find_map(|one| {
                let write = self.table.find(one.key, one.value)?;
                let is_own = self.table.writer(write) == from;
                is_own.then(|| {
                    format!("{second} read {first}'s {} of key {}", words.value(one.value), words.key(one.key))
                })
            });
        }
        set.steps(from).iter().filter(is_read).find_map(|one| {
            let later =
                set.steps(to).iter().rev().find(|other| other.key == one.key && other.action == MicroAction::Write)?;
            let (key, value, next) = (words.key(one.key), words.value(one.value), words.value(later.value));
            if one.value.is_nil() {
                return Some(format!("{first} read key {key} before any write, and {second} wrote {next}"));
            }
            let write = self.table.find(one.key, one.value)?;
            let is_update = self.updaters.binary_search(&(one.key, write, to)).is_ok();
            is_update
                .then(|| format!("{first} read {value} of key {key}, which {second} read and overwrote with {next}"))
        })
    }

    /// Of each step of a transaction, the write of its value.
    fn versions(&self, id: u32) -> &[u32] {
        &self.versions[self.words.set.places(id)]
    }

    fn plain_writes(&self) -> Vec<bool> {
        let set = self.words.set;
        let mut plain = Vec::with_capacity(self.table.writes.len());
        // Writes stand in the order of their transactions and steps.
        for id in set.ids() {
            let (steps, is_good) = (set.steps(id), set.outcome(id) != OperationType::Fail);
            for (at, one) in steps.iter().enumerate().filter(|(_, one)| one.action == MicroAction::Write) {
                let is_again = |later: &MicroOperation| later.key == one.key && later.action == MicroAction::Write;
                plain.push(is_good && !steps[at + 1..].iter().any(is_again));
            }
        }
        plain
    }

    /// Lets transactions with an unknown end take part as soon as one of their writes was read.
    fn admit_seen(&mut self) {
        let set = self.words.set;
        if set.ids().all(|id| set.outcome(id) != OperationType::Info) {
            return;
        }
        let mut open: Vec<u32> = set.ids().filter(|id| self.takes_part[*id as usize]).collect();
        while let Some(transaction) = open.pop() {
            for version in &self.versions[set.places(transaction)] {
                if *version == INITIAL {
                    continue;
                }
                let writer = self.table.writer(*version);
                if set.outcome(writer) == OperationType::Info && !self.takes_part[writer as usize] {
                    self.takes_part[writer as usize] = true;
                    open.push(writer);
                }
            }
        }
    }

    /// Checks a transaction alone, and against the writers of what it read; notes which versions it uses.
    fn check_transaction(&mut self, id: u32, keeps_uses: bool) {
        let words = self.words;
        let steps = words.set.steps(id);
        for (at, one) in steps.iter().enumerate() {
            let before = steps[..at].iter().rfind(|before| before.key == one.key);
            if one.action == MicroAction::Write {
                if keeps_uses
                    && !steps[..at].iter().any(|before| before.key == one.key && before.action == MicroAction::Write)
                {
                    self.writers.push((one.key, INITIAL, id));
                }
                continue;
            }
            if let Some(before) = before {
                if before.value != one.value {
                    let is_later = |later: &MicroOperation| {
                        later.action == MicroAction::Write && (later.key, later.value) == (one.key, one.value)
                    };
                    let kind = if steps[at + 1..].iter().any(is_later) { "future-read" } else { "internal" };
                    self.anomalies.note(kind, &[id], || {
                        let (key, found, expected) =
                            (words.key(one.key), words.value(one.value), words.value(before.value));
                        format!("it read {found} of key {key}, and must have read {expected} after its own steps")
                    });
                    if before.action == MicroAction::Write {
                        self.anomalies.note("own-write-unseen", &[id], || {
                            format!(
                                "it read {} of key {} after its own write",
                                words.value(one.value),
                                words.key(one.key)
                            )
                        });
                    }
                    self.check_source(id, at);
                }
                continue;
            }
            let Some(version) = self.check_source(id, at) else { continue };
            if version != INITIAL && self.table.writer(version) == id {
                self.anomalies.note("future-read", &[id], || {
                    format!("it read {} of key {} before it wrote it", words.value(one.value), words.key(one.key))
                });
                continue;
            }
            if !keeps_uses {
                continue;
            }
            self.readers.push((one.key, version, id));
            if steps[at + 1..].iter().any(|later| later.key == one.key && later.action == MicroAction::Write) {
                self.updaters.push((one.key, version, id));
            }
        }
    }

    /// The version that a step read, if a transaction may have read it.
    fn check_source(&mut self, id: u32, at: usize) -> Option<u32> {
        let words = self.words;
        let (read, write) = (&words.set.steps(id)[at], self.versions(id)[at]);
        if read.value.is_nil() {
            return Some(INITIAL);
        }
        if write == INITIAL {
            self.anomalies.note("unwritten-read", &[id], || {
                format!("{} of key {} was read, and nobody wrote it", words.value(read.value), words.key(read.key))
            });
            return None;
        }
        if self.is_plain[write as usize] {
            return Some(write);
        }
        let record = self.table.writes[write as usize];
        if words.set.outcome(record.transaction) == OperationType::Fail {
            self.anomalies.note("G1a", &[record.transaction, id], || {
                let (key, value) = (words.key(read.key), words.value(read.value));
                format!("{value} of key {key} was read, and the transaction that wrote it failed")
            });
            return None;
        }
        let later = &words.set.steps(record.transaction)[record.step as usize + 1..];
        let again = later.iter().find(|one| one.key == read.key && one.action == MicroAction::Write);
        if let Some(again) = again.filter(|_| record.transaction != id) {
            self.anomalies.note("G1b", &[record.transaction, id], || {
                let (key, value, last) = (words.key(read.key), words.value(read.value), words.value(again.value));
                format!("{value} of key {key} was read, after which the same transaction wrote {last}")
            });
        }
        Some(write)
    }

    /// Sorts who uses a version, and notes transactions that read the same one of a key first, and then both write it.
    pub(super) fn find_lost_updates(&mut self) {
        self.readers.sort_unstable();
        self.updaters.sort_unstable();
        self.writers.sort_unstable();
        let words = self.words;
        for group in self.updaters.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|group| group.len() > 1) {
            let transactions: Vec<u32> = group.iter().map(|(.., id)| *id).collect();
            let value = if group[0].1 == INITIAL { DatumId::NIL } else { self.table.writes[group[0].1 as usize].value };
            self.anomalies.note("lost-update", &transactions, || {
                let (key, value, count) = (words.key(group[0].0), words.value(value), transactions.len());
                format!("{count} transactions read {value} of key {key} and then wrote it")
            });
        }
    }

    /// Adds what is known of the order of transactions to a graph, after `find_lost_updates`.
    pub(super) fn add_edges(&self, builder: &mut GraphBuilder) {
        let ids = |group: &[VersionUse]| -> Vec<u32> { group.iter().map(|(.., id)| *id).collect() };
        for group in self.readers.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (key, version, _) = group[0];
            if version == INITIAL {
                builder.all_before_all(&ids(group), &ids(of(&self.writers, key, INITIAL)), RW);
                continue;
            }
            let writer = self.table.writer(version);
            group.iter().for_each(|(.., reader)| builder.edge(writer, *reader, WR));
            builder.all_before_all(&ids(group), &ids(of(&self.updaters, key, version)), RW);
        }
    }
}

/// The uses of a version.
fn of(uses: &[VersionUse], key: u32, version: u32) -> &[VersionUse] {
    let start = uses.partition_point(|one| (one.0, one.1) < (key, version));
    let end = uses.partition_point(|one| (one.0, one.1) <= (key, version));
    &uses[start..end]
}
