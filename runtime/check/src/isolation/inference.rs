//! What an inference says of a history: anomalies that are no cycles, and the words for a dependency.
//!
//! Each kind of anomaly is counted; of the first ones it is kept what they are.

use super::saturation::{OrderEdge, OrderReason};
use super::transaction::TransactionSet;
use crate::history::{DatumId, OperationHistory};
use std::collections::BTreeMap;

/// Anomalies of one kind that are described; further ones are counted.
const ANOMALIES_MAX: usize = 16;
/// Characters of a value in words.
const VALUE_CHARS_MAX: usize = 40;

/// An anomaly of some transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TransactionAnomaly {
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) transactions: Vec<u32>,
}

/// Anomalies, counted.
#[derive(Clone, Debug, Default)]
pub(super) struct AnomalyList {
    pub(super) described: Vec<TransactionAnomaly>,
    pub(super) counts: BTreeMap<&'static str, u64>,
}

impl AnomalyList {
    /// Notes an anomaly; its words are made only if they are kept.
    pub(super) fn note(&mut self, kind: &'static str, transactions: &[u32], message: impl FnOnce() -> String) {
        let count = self.counts.entry(kind).or_insert(0);
        *count += 1;
        if *count as usize <= ANOMALIES_MAX {
            self.described.push(TransactionAnomaly { kind, message: message(), transactions: transactions.to_vec() });
        }
    }
}

/// Words for what a history has.
#[derive(Clone, Copy)]
pub(super) struct HistoryWords<'a> {
    pub(super) history: &'a OperationHistory,
    pub(super) set: &'a TransactionSet,
}

impl HistoryWords<'_> {
    /// A value, cut in its middle: lists differ at their ends.
    pub(super) fn value(&self, value: DatumId) -> String {
        let text = self.history.pool.edn(value);
        let count = text.chars().count();
        if count <= VALUE_CHARS_MAX {
            return text;
        }
        let half = VALUE_CHARS_MAX / 2;
        text.chars().take(half).chain(['…']).chain(text.chars().skip(count - half)).collect()
    }

    /// A list, where `nil` is an empty one.
    pub(super) fn list(&self, value: DatumId) -> String {
        if value.is_nil() { "[]".to_owned() } else { self.value(value) }
    }

    pub(super) fn key(&self, key: u32) -> String {
        self.value(self.set.keys[key as usize])
    }

    /// Why one transaction commits before another, where that is what was read; `reader` had seen the first one.
    pub(super) fn order_because(&self, edge: &OrderEdge, names: EdgeNames<'_>, reader: &str) -> Option<String> {
        let EdgeNames { from, to } = names;
        match edge.reason {
            OrderReason::Session | OrderReason::Version => None,
            OrderReason::Read(key) => Some(format!("{to} read what {from} wrote to key {}", self.key(key))),
            OrderReason::Seen { key, .. } => {
                let key = self.key(key);
                Some(format!("{reader} had seen {from}, which wrote key {key}, and read {to}'s value of it"))
            }
        }
    }

    /// A transaction that read a key before all writes and had seen one.
    pub(super) fn initial_words(&self, key: u32) -> String {
        let key = self.key(key);
        format!("the first wrote key {key}; the second had seen it, and read the key as before all writes")
    }
}

/// How a dependency is put into words: the names of both transactions.
#[derive(Clone, Copy)]
pub(super) struct EdgeNames<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a str,
}
