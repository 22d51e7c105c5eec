//! Which kinds of messages machines have read, and after which others: for who searches.
//!
//! ```text
//! GET /orders/17                                    kind "GET /orders/#"   read by `bank` after "POST /charge"   one pair
//! {"src":"n2","dest":"n1","body":{"type":"gossip",  kind "gossip"          read by `n1` after "add"              one pair
//! ```
//!
//! The kind of the message before stands for the state of its receiver: what a program does with a message depends on what it was told.
//!
//! Invariants: bounded; nothing in the simulation depends on it.

use fozzy_trace::NodeId;
use fozzy_trace::RunningDigest;
use fozzy_trace::digest::kind_of_text;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes at the beginning of a message that tell its kind.
const KIND_BYTES: usize = 32;
/// Pairs that are kept of one run; further ones are not told apart.
const PAIRS_MAX: usize = 1 << 12;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageLog {
    /// By machine, the kind of the message that it read last.
    last: BTreeMap<NodeId, u64>,
    pairs: BTreeSet<u64>,
}

impl MessageLog {
    /// A machine has read a message, or a part of one.
    pub(crate) fn note(&mut self, node: NodeId, bytes: &[u8]) {
        if bytes.is_empty() || self.pairs.len() >= PAIRS_MAX {
            return;
        }
        let kind = kind_of_text(&bytes[..bytes.len().min(KIND_BYTES)]);
        let before = self.last.insert(node, kind);
        let mut pair = RunningDigest::default();
        pair.pair(u64::from(node.0), before.unwrap_or(0));
        pair.word(kind);
        self.pairs.insert(pair.value());
    }

    /// A line came to the standard input of a machine by way of another one's program: of a message in JSON its type is the kind.
    pub(crate) fn note_line(&mut self, node: NodeId, line: &[u8]) {
        const TYPE: &[u8] = b"\"type\":\"";
        let begin = line.windows(TYPE.len()).position(|part| part == TYPE).map_or(0, |at| at + TYPE.len());
        let kind = &line[begin..];
        let end = kind.iter().position(|byte| *byte == b'"').filter(|_| begin > 0).unwrap_or(kind.len());
        self.note(node, &kind[..end]);
    }

    /// The pairs, each as a number.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = u64> + '_ {
        self.pairs.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_do_not_tell_messages_apart_and_their_order_does() {
        let pairs = |messages: &[&str]| {
            let mut log = MessageLog::default();
            messages.iter().for_each(|message| log.note(NodeId(1), message.as_bytes()));
            log.pairs().collect::<Vec<u64>>()
        };
        assert_eq!(pairs(&["get 1", "set 17"]), pairs(&["get 999", "set 2"]));
        assert_ne!(pairs(&["get 1", "set 17"]), pairs(&["set 1", "get 17"]));
        assert_eq!(pairs(&["get 1", "", "get 2", "get 3"]).len(), 2, "after nothing, and after one of its kind");
    }

    #[test]
    fn the_type_of_a_line_is_its_kind() {
        let pairs = |lines: &[&str]| {
            let mut log = MessageLog::default();
            lines.iter().for_each(|line| log.note_line(NodeId(1), line.as_bytes()));
            log.pairs().collect::<Vec<u64>>()
        };
        let [add, tell] =
            ["add", "gossip"].map(|kind| format!(r#"{{"id":7,"src":"n0","body":{{"a":[1],"type":"{kind}","b":2}}}}"#));
        assert_eq!(pairs(&[&add, &tell]), pairs(&[r#"{"body":{"type":"add"}}"#, r#"{"body":{"type":"gossip"}}"#]));
        assert_ne!(pairs(&[&add, &tell]), pairs(&[&tell, &add]));
        assert_eq!(pairs(&["no message", "no message"]).len(), 2);
    }
}
