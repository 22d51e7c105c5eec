//! What handlers do: answer, send, ask, and be called later.

use crate::message::{ProtocolError, ProtocolMessage, error_code};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// What is done with the answer to a request.
pub(crate) type Continuation<S> = Box<dyn FnOnce(&mut NodeContext<S>, &mut S, Result<Value, ProtocolError>)>;
type DelayedCall<S> = Box<dyn FnOnce(&mut NodeContext<S>, &mut S)>;
type PeriodicCall<S> = Box<dyn FnMut(&mut NodeContext<S>, &mut S)>;

/// What is called at a moment.
enum Timer<S> {
    Once(DelayedCall<S>),
    Every(Duration, PeriodicCall<S>),
    /// A request that nobody has answered.
    Expire(u64, String),
}

/// What is called now.
pub(crate) struct DueCall<S>(Timer<S>);

/// The node, as its handlers see it.
pub struct NodeContext<S> {
    id: String,
    nodes: Vec<String>,
    last_msg_id: u64,
    requests: BTreeMap<u64, Continuation<S>>,
    /// By moment, and by the order in which they were set.
    timers: BTreeMap<(Duration, u64), Timer<S>>,
    last_timer: u64,
    now: Duration,
    output: Vec<u8>,
}

impl<S> NodeContext<S> {
    pub(crate) fn new() -> NodeContext<S> {
        NodeContext {
            id: String::new(),
            nodes: Vec::new(),
            last_msg_id: 0,
            requests: BTreeMap::new(),
            timers: BTreeMap::new(),
            last_timer: 0,
            now: Duration::ZERO,
            output: Vec::new(),
        }
    }

    /// The node's name; empty before `init`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// All nodes, this one among them.
    #[must_use]
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// All nodes but this one.
    #[must_use]
    pub fn others(&self) -> Vec<String> {
        self.nodes.iter().filter(|node| **node != self.id).cloned().collect()
    }

    /// Time since the start of the program.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Sends a body that expects no answer.
    pub fn send(&mut self, dest: &str, body: &Value) {
        let NodeContext { id, output, .. } = self;
        let text = |output: &mut Vec<u8>, text: &str| serde_json::to_writer(output, text).expect("memory takes it");
        output.extend_from_slice(b"{\"src\":");
        text(output, id);
        output.extend_from_slice(b",\"dest\":");
        text(output, dest);
        output.extend_from_slice(b",\"body\":");
        serde_json::to_writer(&mut *output, body).expect("memory takes it");
        output.extend_from_slice(b"}\n");
    }

    /// Answers a message.
    pub fn reply(&mut self, message: &ProtocolMessage, mut body: Value) {
        body["in_reply_to"] = message.body["msg_id"].clone();
        self.send(&message.src, &body);
    }

    /// Answers a message with an error.
    pub fn fail(&mut self, message: &ProtocolMessage, error: &ProtocolError) {
        self.reply(message, json!({"type": "error", "code": error.code, "text": error.text}));
    }

    /// Sends a request. `then` is called once: with the body of the answer, or with an error, which is one of type
    /// [`error_code::TIMEOUT`] when no answer has come in time.
    pub fn request(
        &mut self,
        dest: &str,
        mut body: Value,
        timeout: Duration,
        then: impl FnOnce(&mut NodeContext<S>, &mut S, Result<Value, ProtocolError>) + 'static,
    ) {
        self.last_msg_id += 1;
        let msg_id = self.last_msg_id;
        body["msg_id"] = msg_id.into();
        self.requests.insert(msg_id, Box::new(then));
        self.set(timeout, Timer::Expire(msg_id, dest.to_owned()));
        self.send(dest, &body);
    }

    /// Calls something once, later.
    pub fn after(&mut self, delay: Duration, then: impl FnOnce(&mut NodeContext<S>, &mut S) + 'static) {
        self.set(delay, Timer::Once(Box::new(then)));
    }

    /// Calls something again and again.
    pub fn every(&mut self, period: Duration, then: impl FnMut(&mut NodeContext<S>, &mut S) + 'static) {
        self.set(period, Timer::Every(period, Box::new(then)));
    }

    fn set(&mut self, delay: Duration, timer: Timer<S>) {
        self.last_timer += 1;
        self.timers.insert((self.now.saturating_add(delay), self.last_timer), timer);
    }

    pub(crate) fn begin(&mut self, init: &ProtocolMessage) {
        let names = init.body["node_ids"].as_array().into_iter().flatten().filter_map(Value::as_str);
        self.nodes = names.map(str::to_owned).collect();
        self.id = init.body["node_id"].as_str().unwrap_or_default().to_owned();
    }

    pub(crate) fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    pub(crate) fn set_now(&mut self, now: Duration) {
        self.now = now;
    }

    /// When something is due next.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.timers.first_key_value().map(|((due, _), _)| *due)
    }

    /// Takes what is due first, if anything is due.
    pub(crate) fn take_due(&mut self) -> Option<DueCall<S>> {
        let entry = self.timers.first_entry().filter(|entry| entry.key().0 <= self.now)?;
        Some(DueCall(entry.remove()))
    }

    pub(crate) fn take_request(&mut self, msg_id: u64) -> Option<Continuation<S>> {
        self.requests.remove(&msg_id)
    }
}

impl<S> DueCall<S> {
    pub(crate) fn call(self, context: &mut NodeContext<S>, state: &mut S) {
        match self.0 {
            Timer::Once(then) => then(context, state),
            Timer::Every(period, mut then) => {
                then(context, state);
                // Of a period of nothing, time passes all the same.
                context.set(period.max(Duration::from_nanos(1)), Timer::Every(period, then));
            }
            Timer::Expire(msg_id, dest) => {
                if let Some(then) = context.take_request(msg_id) {
                    let error = ProtocolError::new(error_code::TIMEOUT, format!("no answer of {dest}"));
                    then(context, state, Err(error));
                }
            }
        }
    }
}
