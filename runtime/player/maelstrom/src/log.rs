//! Clients of a log: what they send, where they are in each key's log, and what they commit.
//!
//! ```text
//! send   {"key":"1","msg":5}       ─▶ {"offset":7}                    [["send","1",5]]   ─▶ [["send","1",[7,5]]]
//! poll   {"offsets":{"1":7}}       ─▶ {"msgs":{"1":[[7,5],[9,6]]}}    [["poll"]]         ─▶ [["poll",{"1":[[7,5],[9,6]]}]]
//! assign {"keys":["1"]}            ─▶ {"offsets":{"1":7}}             ["1"]                 goes on from what was committed
//! ```
//!
//! Invariant: keys are texts, on the wire and in the history.

use crate::body::MessageBody;
use crate::protocol::{ReplyShape, ValueShape};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What answers a commit.
pub static COMMIT_OK: ReplyShape = ReplyShape { kind: "commit_offsets_ok", keys: &[] };
/// What answers operations.
pub const SEND_OK: ReplyShape = ReplyShape { kind: "send_ok", keys: &[("offset", ValueShape::Integer)] };
pub const POLL_OK: ReplyShape = ReplyShape { kind: "poll_ok", keys: &[("msgs", ValueShape::Logs)] };
pub const ASSIGN_OK: ReplyShape =
    ReplyShape { kind: "list_committed_offsets_ok", keys: &[("offsets", ValueShape::Offsets)] };

/// Where a client is.
#[derive(Default)]
pub struct LogClient {
    /// By key, the offset from which it polls.
    next: BTreeMap<String, i64>,
    /// By key, the highest offset that it has polled.
    polled: BTreeMap<String, i64>,
    has_uncommitted: bool,
    /// Whether the last poll, if there was one, had something.
    pub has_more: bool,
}

impl LogClient {
    /// The body of a request.
    pub fn request(&mut self, input: &Value, keys: &[i64]) -> Value {
        match input[0][0].as_str() {
            Some("send") => json!({"type": "send", "key": input[0][1], "msg": input[0][2]}),
            Some(_) => {
                if self.next.is_empty() {
                    self.next = keys.iter().map(|key| (key.to_string(), 0)).collect();
                }
                json!({"type": "poll", "offsets": self.next})
            }
            None => json!({"type": "list_committed_offsets", "keys": input}),
        }
    }

    /// The result of an operation that was answered.
    pub fn result(&mut self, input: &Value, reply: &MessageBody<'_>, from_start: bool) -> Value {
        match input[0][0].as_str() {
            Some("send") => json!([["send", input[0][1], [reply["offset"], input[0][2]]]]),
            Some(_) => {
                self.note_polled(&reply["msgs"]);
                json!([["poll", reply["msgs"]]])
            }
            None => {
                self.assign(input, &reply["offsets"], from_start);
                input.clone()
            }
        }
    }

    fn note_polled(&mut self, logs: &Value) {
        self.has_more = false;
        for (key, log) in logs.as_object().into_iter().flatten() {
            let Some(last) = log.as_array().into_iter().flatten().filter_map(|pair| pair[0].as_i64()).max() else {
                continue;
            };
            (self.has_more, self.has_uncommitted) = (true, true);
            self.next.insert(key.clone(), last.saturating_add(1));
            let polled = self.polled.entry(key.clone()).or_insert(last);
            *polled = (*polled).max(last);
        }
    }

    fn assign(&mut self, keys: &Value, committed: &Value, from_start: bool) {
        let before = std::mem::take(&mut self.next);
        for key in keys.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let from = match from_start {
                true => 0,
                false => before.get(key).copied().or_else(|| committed[key].as_i64()).unwrap_or(0),
            };
            self.next.insert(key.to_owned(), from);
        }
        self.has_more = true;
    }

    /// What is committed after an operation, if there is anything.
    pub fn commit(&mut self) -> Option<Value> {
        std::mem::take(&mut self.has_uncommitted).then(|| json!({"type": "commit_offsets", "offsets": self.polled}))
    }
}
