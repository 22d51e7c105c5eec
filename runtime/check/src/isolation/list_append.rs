//! Inference from lists that transactions append to and read.
//!
//! ```text
//! read of key 1: [4 7 9]     ──▶   versions [4] < [4 7] < [4 7 9]     ww: writer of 4 -> of 7 -> of 9
//! wr: writer of the last element of a read -> reader        rw: reader -> writer of the element after the last
//! ```
//!
//! Each element is appended once, so a read shows all versions before it, and the longest read of a key shows the order
//! of its appends. Appends that no transaction read come after all that were read, without an order among each other:
//! any order of them gives the same reads, so a history without anomalies is proved to be strictly serializable.
//!
//! Invariants: transactions that failed take no part, nor do those with an unknown end, until one of their appends was seen by one that
//! completed. Source: Alvaro, Kingsbury, "Elle" (2020). Not here: cycles.

use super::graph::{GraphBuilder, RW, WR, WW};
use super::inference::{AnomalyList, EdgeNames, HistoryWords};
use super::saturation::{BEFORE_ALL, OrderEdge, OrderReason, ReadsFrom};
use super::transaction::{MicroAction, MicroOperation, TransactionSet, WriteTable};
use crate::history::{DatumId, HistoryError, OperationHistory, OperationType};
use std::collections::BTreeMap;

/// What stands in place of a write where there is none.
const NO_WRITE: u32 = u32::MAX;

/// Appends to a key that no transaction read, of which all orders are tried; and most transactions of all orders together.
const UNSEEN_MAX: usize = 6;
const ORDERS_SIZE_MAX: usize = 1 << 16;

/// What is known of a key.
#[derive(Clone, Debug, Default)]
struct KeyOrder {
    /// The writes of the longest read, in its order; `NO_WRITE` for an element that no transaction wrote.
    writes: Vec<u32>,
    /// For each length of a read, the next write that takes part.
    next: Vec<u32>,
    /// Writes that take part, and that no transaction read.
    unseen: Vec<u32>,
    /// Whether reads contradict each other, so that there is no order.
    is_broken: bool,
    longest: DatumIdOrNil,
}

/// `nil` by default.
#[derive(Clone, Copy, Debug)]
struct DatumIdOrNil(DatumId);

impl Default for DatumIdOrNil {
    fn default() -> Self {
        DatumIdOrNil(DatumId::NIL)
    }
}

/// The inference.
#[derive(Clone)]
pub(super) struct ListAppend<'a> {
    words: HistoryWords<'a>,
    table: WriteTable,
    keys: Vec<KeyOrder>,
    takes_part: Vec<bool>,
    pub(super) anomalies: AnomalyList,
}

impl<'a> ListAppend<'a> {
    /// Infers what a history tells.
    pub(super) fn new(history: &'a OperationHistory, set: &'a TransactionSet) -> Result<ListAppend<'a>, HistoryError> {
        check_reads(history, set)?;
        let table = WriteTable::new(history, set)?;
        let mut inference = ListAppend {
            words: HistoryWords { history, set },
            table,
            keys: vec![KeyOrder::default(); set.keys.len()],
            takes_part: set.ids().map(|id| set.outcome(id) == OperationType::Ok).collect(),
            anomalies: AnomalyList::default(),
        };
        inference.admit_seen();
        inference.order_keys();
        inference.check_transactions();
        inference.find_lost_updates();
        Ok(inference)
    }

    /// Whether a transaction is known to have taken effect.
    pub(super) fn takes_part(&self, transaction: u32) -> bool {
        self.takes_part[transaction as usize]
    }

    /// Whether the order of all writes that took effect is known.
    pub(super) fn has_whole_orders(&self) -> bool {
        (0..).zip(&self.keys).all(|(key, order)| !order.is_broken && self.unseen_writers(key).len() <= 1)
    }

    /// What transactions read of each other, and the order of versions, for saturation.
    pub(super) fn reads_from(&self) -> ReadsFrom {
        let source = |_: u32, _: usize, one: &MicroOperation| match self.elements(one.value) {
            [] => Some(BEFORE_ALL),
            _ => Some(self.table.writer(self.last_write(one)?)),
        };
        let mut all = ReadsFrom::new(self.words.set, |id| self.takes_part(id), source);
        self.each_version(|from, to| {
            if from != to {
                all.versions.push(OrderEdge { from, to, reason: OrderReason::Version });
            }
        });
        all
    }

    /// Writers of versions of a key that follow each other.
    fn each_version(&self, mut visit: impl FnMut(u32, u32)) {
        for (key, order) in (0..).zip(&self.keys) {
            let writers =
                order.writes.iter().filter(|write| **write != NO_WRITE).map(|write| self.table.writer(*write));
            let mut last = None;
            if !order.is_broken {
                for writer in writers.filter(|writer| self.takes_part(*writer)) {
                    last.into_iter().for_each(|before| visit(before, writer));
                    last = Some(writer);
                }
            }
            for (before, writer) in
                last.iter().flat_map(|last| self.unseen_writers(key).into_iter().map(|one| (*last, one)))
            {
                visit(before, writer);
            }
        }
    }

    /// The same with each order of the appends that no transaction read; `None` if there are too many, or reads contradict each other.
    pub(super) fn whole_orders(&self) -> Option<Vec<ListAppend<'a>>> {
        let mut orders: Vec<Vec<Vec<u32>>> = vec![Vec::new()];
        for (key, order) in (0..).zip(&self.keys) {
            let writers = self.unseen_writers(key);
            let ways = if writers.len() > 1 { permutations(writers)? } else { vec![writers] };
            let size = orders.len().saturating_mul(ways.len()).saturating_mul(self.takes_part.len());
            if order.is_broken || size > ORDERS_SIZE_MAX {
                return None;
            }
            let with = |before: &Vec<Vec<u32>>, way: &Vec<u32>| [before.as_slice(), std::slice::from_ref(way)].concat();
            orders = orders.iter().flat_map(|before| ways.iter().map(move |way| with(before, way))).collect();
        }
        Some(orders.iter().map(|order| self.with_order(order)).collect())
    }

    /// The same, with appends that no transaction read by an order of their writers, for each key.
    fn with_order(&self, writers: &[Vec<u32>]) -> ListAppend<'a> {
        let mut whole = self.clone();
        for (key, writers) in writers.iter().enumerate() {
            let order = &mut whole.keys[key];
            let unseen = std::mem::take(&mut order.unseen);
            for writer in writers {
                order.writes.extend(unseen.iter().filter(|write| self.table.writer(**write) == *writer));
            }
            whole.note_next(key);
        }
        whole
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let of_key = |key: &KeyOrder| {
            size_of::<KeyOrder>() + 4 * (key.writes.capacity() + key.next.capacity() + key.unseen.capacity())
        };
        self.table.bytes() + self.keys.iter().map(of_key).sum::<usize>() + self.takes_part.capacity()
    }

    /// Why one transaction comes before another.
    pub(super) fn because(&self, from: u32, to: u32, kind: u8, names: EdgeNames<'_>) -> Option<String> {
        let (words, set) = (self.words, self.words.set);
        let EdgeNames { from: first, to: second } = names;
        let is_by = |write: u32, transaction: u32| write != NO_WRITE && self.table.writer(write) == transaction;
        let value = |write: u32| words.value(self.table.writes[write as usize].value);
        match kind {
            WR => set.steps(to).iter().filter(|one| one.action == MicroAction::Read).find_map(|one| {
                let last = *self.elements(one.value).last()?;
                let write = self.table.find(one.key, last).filter(|write| is_by(*write, from))?;
                Some(format!("{second} read {first}'s append of {} to key {}", value(write), words.key(one.key)))
            }),
            RW => set.steps(from).iter().filter(|one| one.action == MicroAction::Read).find_map(|one| {
                let write = self.successors(one).into_iter().find(|write| is_by(*write, to))?;
                let (key, list) = (words.key(one.key), words.list(one.value));
                Some(format!("{first} read {list} of key {key}, without {second}'s append of {}", value(write)))
            }),
            WW => set.steps(from).iter().filter(|one| one.action == MicroAction::Append).find_map(|one| {
                let own = self.table.find(one.key, one.value)?;
                let order = &self.keys[one.key as usize];
                let place = order.writes.iter().position(|write| *write == own)? + 1;
                let write = self.following(one.key, place).into_iter().find(|write| is_by(*write, to))?;
                let key = words.key(one.key);
                Some(format!("{first} appended {} to key {key} before {second} appended {}", value(own), value(write)))
            }),
            _ => None,
        }
    }

    fn elements(&self, value: DatumId) -> &'a [DatumId] {
        self.words.history.pool.elements(value).unwrap_or_default()
    }

    /// The write of the last element of what a transaction that takes part read.
    fn last_write(&self, read: &MicroOperation) -> Option<u32> {
        let (elements, order) = (self.elements(read.value), &self.keys[read.key as usize]);
        if order.is_broken {
            return self.table.find(read.key, *elements.last()?);
        }
        // It is a beginning of the longest read.
        let write = *order.writes.get(elements.len().checked_sub(1)?)?;
        (write != NO_WRITE).then_some(write)
    }

    /// Whether a read agrees with the order of its key.
    fn is_compatible(&self, read: &MicroOperation) -> bool {
        let order = &self.keys[read.key as usize];
        !order.is_broken || self.elements(order.longest.0).starts_with(self.elements(read.value))
    }

    /// Writes that directly follow the version that was read.
    fn successors(&self, read: &MicroOperation) -> Vec<u32> {
        if !self.is_compatible(read) {
            return Vec::new();
        }
        self.following(read.key, self.elements(read.value).len())
    }

    /// Writes that directly follow a version of a key, by its length.
    fn following(&self, key: u32, length: usize) -> Vec<u32> {
        let order = &self.keys[key as usize];
        match order.next.get(length) {
            Some(write) if *write != NO_WRITE => vec![*write],
            _ => order.unseen.clone(),
        }
    }

    /// Lets transactions with an unknown end take part as soon as one of their appends was seen.
    fn admit_seen(&mut self) {
        let set = self.words.set;
        if set.ids().all(|id| set.outcome(id) != OperationType::Info) {
            return;
        }
        // Reads of those that are let in may let in others.
        let mut open: Vec<u32> = set.ids().filter(|id| self.takes_part(*id)).collect();
        let mut last_seen: Vec<(u32, DatumId)> = Vec::new();
        while let Some(transaction) = open.pop() {
            for one in set.steps(transaction).iter().filter(|one| one.action == MicroAction::Read) {
                last_seen.push((one.key, one.value));
            }
            if !open.is_empty() {
                continue;
            }
            last_seen.sort_unstable();
            last_seen.dedup();
            for (key, value) in std::mem::take(&mut last_seen) {
                for element in self.elements(value).iter().rev() {
                    let Some(write) = self.table.find(key, *element) else { continue };
                    let writer = self.table.writer(write);
                    if set.outcome(writer) == OperationType::Info && !self.takes_part(writer) {
                        self.takes_part[writer as usize] = true;
                        open.push(writer);
                    }
                }
            }
        }
    }

    /// Reads of transactions that take part.
    fn reads(&self) -> impl Iterator<Item = (u32, &'a MicroOperation)> + '_ {
        let set = self.words.set;
        let all = set.ids().filter(|id| self.takes_part(*id));
        all.flat_map(|id| set.steps(id).iter().map(move |one| (id, one)))
            .filter(|(_, one)| one.action == MicroAction::Read)
    }

    /// The order of the appends to each key, from its reads.
    fn order_keys(&mut self) {
        let reads = || self.reads().map(|(_, one)| one).filter(|one| !one.value.is_nil());
        // By key, the longest read, and the one that was looked at last.
        let mut longest: Vec<(Option<DatumId>, DatumId)> = vec![(None, DatumId::NIL); self.keys.len()];
        let rank = |value: DatumId| (self.elements(value).len(), value.0);
        for read in reads() {
            let known = &mut longest[read.key as usize].0;
            if known.is_none_or(|known| known != read.value && rank(known) < rank(read.value)) {
                *known = Some(read.value);
            }
        }
        let mut is_single = vec![true; self.keys.len()];
        for read in reads() {
            let (known, last) = &mut longest[read.key as usize];
            let known = known.unwrap_or(DatumId::NIL);
            // Equal reads have equal values.
            if read.value != known && read.value != *last {
                *last = read.value;
                is_single[read.key as usize] &= self.elements(known).starts_with(self.elements(read.value));
            }
        }
        // Of a key whose reads contradict each other, all of them are looked at.
        let mut others: Vec<(u32, DatumId)> = Vec::new();
        if is_single.contains(&false) {
            others.extend(reads().filter(|one| !is_single[one.key as usize]).map(|one| (one.key, one.value)));
            others.sort_unstable();
            others.dedup();
        }
        let mut positions = vec![NO_WRITE; self.table.writes.len()];
        for (key, (known, _)) in (0..).zip(longest) {
            let Some(known) = known else { continue };
            match is_single[key as usize] {
                true => self.order_key(&[(key, known)], &mut positions),
                false => {
                    let from = others.partition_point(|one| one.0 < key);
                    let to = others.partition_point(|one| one.0 <= key);
                    self.order_key(&others[from..to], &mut positions);
                }
            }
        }
        for write in 0..self.table.writes.len() as u32 {
            let record = &self.table.writes[write as usize];
            if positions[write as usize] == NO_WRITE && self.takes_part(record.transaction) {
                self.keys[record.key as usize].unseen.push(write);
            }
        }
        for key in 0..self.keys.len() {
            self.note_next(key);
        }
    }

    fn order_key(&mut self, reads: &[(u32, DatumId)], positions: &mut [u32]) {
        let key = reads[0].0;
        let longest = reads.iter().map(|(_, value)| *value).max_by_key(|value| (self.elements(*value).len(), value.0));
        let longest = longest.unwrap_or(DatumId::NIL);
        let all = self.elements(longest);
        let mut order = KeyOrder { longest: DatumIdOrNil(longest), ..KeyOrder::default() };
        for (place, element) in all.iter().enumerate() {
            let write = self.table.find(key, *element);
            order.writes.push(write.unwrap_or(NO_WRITE));
            let Some(write) = write else { continue };
            if positions[write as usize] != NO_WRITE {
                order.is_broken = true;
            }
            positions[write as usize] = place as u32;
        }
        let mut places: BTreeMap<u32, u32> = BTreeMap::new();
        self.check_own_order(key, longest, &order.writes, &|write| positions[write as usize]);
        let other = reads.iter().find(|(_, value)| !all.starts_with(self.elements(*value)));
        if let Some((_, other)) = other {
            let others: Vec<DatumId> =
                reads.iter().map(|read| read.1).filter(|one| !all.starts_with(self.elements(*one))).collect();
            for value in others {
                let found = self.elements(value).iter().map(|element| self.table.find(key, *element));
                let writes: Vec<u32> = found.map(|write| write.unwrap_or(NO_WRITE)).collect();
                places.clear();
                places.extend(writes.iter().copied().zip(0..).filter(|(write, _)| *write != NO_WRITE));
                let place_of = |write: u32| places.get(&write).copied().unwrap_or(NO_WRITE);
                self.check_own_order(key, value, &writes, &place_of);
            }
            order.is_broken = true;
            self.note_incompatible(key, longest, *other);
            // What only other reads saw was seen all the same.
            for element in reads.iter().flat_map(|(_, value)| self.elements(*value)) {
                if let Some(write) = self.table.find(key, *element) {
                    positions[write as usize] = positions[write as usize].min(NO_WRITE - 1);
                }
            }
        }
        self.keys[key as usize] = order;
    }

    /// Of what one transaction appended to a key, a version has what comes first before what comes later: no order of writes makes another.
    fn check_own_order(&mut self, key: u32, version: DatumId, writes: &[u32], place_of: &dyn Fn(u32) -> u32) {
        let words = self.words;
        for (place, write) in (0..).zip(writes).filter(|(_, write)| **write != NO_WRITE) {
            let record = self.table.writes[*write as usize];
            let steps = &words.set.steps(record.transaction)[..record.step as usize];
            let is_own = |one: &&MicroOperation| one.key == key && one.action == MicroAction::Append;
            let Some(first) = steps.iter().rfind(is_own) else { continue };
            let is_before = self.table.find(key, first.value).is_some_and(|first| place_of(first) < place);
            if is_before {
                continue;
            }
            let reader = self.reads().find(|(_, one)| (one.key, one.value) == (key, version)).map(|found| found.0);
            let transactions: Vec<u32> = [Some(record.transaction), reader].into_iter().flatten().collect();
            self.anomalies.note("cyclic-versions", &transactions, || {
                let (list, key) = (words.list(version), words.key(key));
                let (first, later) = (words.value(first.value), words.value(record.value));
                format!("{list} of key {key} has {later} without {first} before it, which the same transaction appended first")
            });
        }
    }

    fn note_incompatible(&mut self, key: u32, longest: DatumId, other: DatumId) {
        let reader =
            |value: DatumId| self.reads().find(|(_, one)| (one.key, one.value) == (key, value)).map(|found| found.0);
        let readers: Vec<u32> = [reader(longest), reader(other)].into_iter().flatten().collect();
        let words = self.words;
        self.anomalies.note("incompatible-order", &readers, || {
            let (key, first, second) = (words.key(key), words.list(longest), words.list(other));
            format!("key {key} was read as {first} and as {second}: neither is a beginning of the other")
        });
    }

    /// For each length of a read, the next write that takes part.
    fn note_next(&mut self, key: usize) {
        let takes_part = |write: u32| write != NO_WRITE && self.takes_part(self.table.writer(write));
        let order = &self.keys[key];
        let mut next = vec![NO_WRITE; order.writes.len()];
        let mut later = NO_WRITE;
        for (place, write) in order.writes.iter().enumerate().rev() {
            if takes_part(*write) {
                later = *write;
            }
            next[place] = later;
        }
        self.keys[key].next = next;
    }

    /// Checks each transaction alone, and against the writers of what it read.
    fn check_transactions(&mut self) {
        let set = self.words.set;
        let mut own: Vec<DatumId> = Vec::new();
        // By key, the first element that a failed transaction wrote, or none did: most keys have no such element.
        let failed: Vec<usize> = self.keys.iter().map(|order| self.first_bad(order)).collect();
        for (key, first) in failed.iter().enumerate().filter(|(_, first)| **first != usize::MAX) {
            self.note_dirty_update(key, *first);
        }
        for id in set.ids() {
            if !self.takes_part(id) {
                continue;
            }
            let steps = set.steps(id);
            for (at, read) in steps.iter().enumerate().filter(|(_, one)| one.action == MicroAction::Read) {
                let elements = self.elements(read.value);
                self.check_internal(id, at, &mut own);
                let is_checked = self.keys[read.key as usize].is_broken || elements.len() > failed[read.key as usize];
                if is_checked {
                    self.check_elements(id, read);
                }
                self.check_last(id, read);
            }
        }
    }

    /// The position of the first element of an order that a failed transaction wrote, or none did.
    fn first_bad(&self, order: &KeyOrder) -> usize {
        let is_bad = |write: &u32| {
            *write == NO_WRITE || self.words.set.outcome(self.table.writer(*write)) == OperationType::Fail
        };
        order.writes.iter().position(is_bad).unwrap_or(usize::MAX)
    }

    fn note_dirty_update(&mut self, key: usize, first: usize) {
        let words = self.words;
        let order = &self.keys[key];
        let write = order.writes[first];
        let next = order.next.get(first + 1).copied().unwrap_or(NO_WRITE);
        if write == NO_WRITE || next == NO_WRITE || order.is_broken {
            return;
        }
        let (failed, later) = (self.table.writes[write as usize], self.table.writes[next as usize]);
        let transactions = [failed.transaction, later.transaction];
        self.anomalies.note("dirty-update", &transactions, || {
            let (key, lost, kept) = (words.key(failed.key), words.value(failed.value), words.value(later.value));
            format!("{kept} was appended to key {key} after {lost}, whose transaction failed")
        });
    }

    /// A read must continue what the transaction has read and appended itself.
    fn check_internal(&mut self, id: u32, at: usize, own: &mut Vec<DatumId>) {
        let (words, steps) = (self.words, self.words.set.steps(id));
        let read = &steps[at];
        let before = steps[..at].iter().rposition(|one| one.key == read.key && one.action == MicroAction::Read);
        let start = before.map_or(0, |place| place + 1);
        let is_append = |one: &&MicroOperation| one.key == read.key && one.action == MicroAction::Append;
        own.clear();
        own.extend(steps[start..at].iter().filter(is_append).map(|one| one.value));
        let elements = self.elements(read.value);
        let known = before.map(|place| self.elements(steps[place].value));
        let is_consistent = match known {
            Some(known) => elements.len() == known.len() + own.len() && elements.starts_with(known),
            None => true,
        };
        let later = |one: &&MicroOperation| is_append(one) && elements.contains(&one.value);
        if let Some(future) = steps[at + 1..].iter().find(later) {
            self.anomalies.note("future-read", &[id], || {
                format!("it read {} of key {} before it appended it", words.value(future.value), words.key(read.key))
            });
        }
        if is_consistent && elements.ends_with(own) {
            return;
        }
        let expected: Vec<String> =
            known.unwrap_or_default().iter().chain(&*own).map(|value| words.value(*value)).collect();
        let open = if known.is_none() { "… " } else { "" };
        self.anomalies.note("internal", &[id], || {
            let (key, found) = (words.key(read.key), words.list(read.value));
            format!(
                "it read {found} of key {key}, and must have read [{open}{}] after its own steps",
                expected.join(" ")
            )
        });
        own.clear();
        own.extend(steps[..at].iter().filter(is_append).map(|one| one.value));
        if !elements.ends_with(own) {
            self.anomalies.note("own-write-unseen", &[id], || {
                format!("it read {} of key {} after its own append", words.list(read.value), words.key(read.key))
            });
        }
    }

    /// Looks at each element of a read.
    fn check_elements(&mut self, id: u32, read: &MicroOperation) {
        let words = self.words;
        let elements = self.elements(read.value);
        for (place, element) in elements.iter().enumerate() {
            let Some(write) = self.table.find(read.key, *element) else {
                self.anomalies.note("unwritten-read", &[id], || {
                    format!("{} of key {} was read, and nobody appended it", words.value(*element), words.key(read.key))
                });
                continue;
            };
            let writer = self.table.writer(write);
            if words.set.outcome(writer) == OperationType::Fail {
                self.anomalies.note("G1a", &[writer, id], || {
                    let (key, value) = (words.key(read.key), words.value(*element));
                    format!("{value} of key {key} was read, and the transaction that appended it failed")
                });
            }
            if elements[..place].contains(element) {
                self.anomalies.note("duplicate-elements", &[id], || {
                    let (key, list) = (words.key(read.key), words.list(read.value));
                    format!("{list} of key {key} has {} twice, which was appended once", words.value(*element))
                });
            }
        }
    }

    /// The last element of a read must be the last append of its transaction to that key.
    fn check_last(&mut self, id: u32, read: &MicroOperation) {
        let words = self.words;
        let Some(write) = self.last_write(read) else { return };
        let record = self.table.writes[write as usize];
        let later = &words.set.steps(record.transaction)[record.step as usize + 1..];
        let again = later.iter().find(|one| one.key == read.key && one.action == MicroAction::Append);
        // One that was read, too, is out of order, which is said elsewhere.
        let is_read = |one: &MicroOperation| self.elements(read.value).contains(&one.value);
        if let Some(again) = again.filter(|again| record.transaction != id && !is_read(again)) {
            self.anomalies.note("G1b", &[record.transaction, id], || {
                let (key, seen) = (words.key(read.key), words.value(record.value));
                let value = words.value(again.value);
                format!("key {key} was read up to {seen}, after which the same transaction appended {value}")
            });
        }
    }

    /// Transactions that read the same version of a key first, and then both append to it.
    fn find_lost_updates(&mut self) {
        let (words, set) = (self.words, self.words.set);
        let mut updates: Vec<(u32, DatumId, u32)> = Vec::new();
        for id in set.ids().filter(|id| self.takes_part(*id)) {
            let steps = set.steps(id);
            for (at, one) in steps.iter().enumerate().filter(|(_, one)| one.action == MicroAction::Read) {
                let is_first = !steps[..at].iter().any(|before| before.key == one.key);
                let appends = |later: &MicroOperation| later.key == one.key && later.action == MicroAction::Append;
                if is_first && steps[at + 1..].iter().any(appends) {
                    let value = if self.elements(one.value).is_empty() { DatumId::NIL } else { one.value };
                    updates.push((one.key, value, id));
                }
            }
        }
        updates.sort_unstable();
        for group in updates.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|group| group.len() > 1) {
            let transactions: Vec<u32> = group.iter().map(|(.., id)| *id).collect();
            self.anomalies.note("lost-update", &transactions, || {
                let (key, value) = (words.key(group[0].0), words.list(group[0].1));
                format!("{} transactions read {value} of key {key} and then appended to it", transactions.len())
            });
        }
    }

    /// Adds what is known of the order of transactions to a graph.
    pub(super) fn add_edges(&self, builder: &mut GraphBuilder) {
        // Readers of the last version of a key come before all appends that no transaction read.
        let mut last_readers: Vec<(u32, u32)> = Vec::new();
        for (id, read) in self.reads() {
            if !self.is_compatible(read) {
                continue;
            }
            let elements = self.elements(read.value);
            let writer = self.last_write(read).map(|write| self.table.writer(write));
            if let Some(writer) = writer.filter(|writer| self.takes_part(*writer)) {
                builder.edge(writer, id, WR);
            }
            let order = &self.keys[read.key as usize];
            match order.next.get(elements.len()) {
                Some(write) if *write != NO_WRITE => builder.edge(id, self.table.writer(*write), RW),
                _ if order.unseen.is_empty() => {}
                _ => last_readers.push((read.key, id)),
            }
        }
        last_readers.sort_unstable();
        last_readers.dedup();
        for group in last_readers.chunk_by(|a, b| a.0 == b.0) {
            let readers: Vec<u32> = group.iter().map(|(_, id)| *id).collect();
            builder.all_before_all(&readers, &self.unseen_writers(group[0].0), RW);
        }
        self.each_version(|before, writer| builder.edge(before, writer, WW));
    }

    /// Transactions with appends to a key that no transaction read, each once.
    fn unseen_writers(&self, key: u32) -> Vec<u32> {
        let mut writers: Vec<u32> =
            self.keys[key as usize].unseen.iter().map(|write| self.table.writer(*write)).collect();
        writers.sort_unstable();
        writers.dedup();
        writers
    }
}

/// All orders of a few numbers; `None` if they are more.
fn permutations(numbers: Vec<u32>) -> Option<Vec<Vec<u32>>> {
    if numbers.len() > UNSEEN_MAX {
        return None;
    }
    let mut all = vec![Vec::new()];
    for number in numbers {
        let inserted = |order: &Vec<u32>, at: usize| {
            let mut order = order.clone();
            order.insert(at, number);
            order
        };
        all = all.iter().flat_map(|order| (0..=order.len()).map(move |at| inserted(order, at))).collect();
    }
    Some(all)
}

/// Reads of transactions that completed return lists.
fn check_reads(history: &OperationHistory, set: &TransactionSet) -> Result<(), HistoryError> {
    for id in set.ids() {
        for one in set.steps(id).iter().filter(|one| one.action == MicroAction::Read && !one.value.is_nil()) {
            if history.pool.elements(one.value).is_none() {
                let call = &set.transactions[id as usize].call;
                let line = history.operations[call.completion.unwrap_or(call.invocation) as usize].line;
                let words = HistoryWords { history, set };
                let found = format!("a read of {} from key {}", words.value(one.value), words.key(one.key));
                return Err(HistoryError::at_line(line, found, "a list, because elements are appended to keys"));
            }
        }
    }
    Ok(())
}
