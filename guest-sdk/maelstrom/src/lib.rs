//! Nodes of the Maelstrom protocol: one JSON object a line, standard input in, standard output out.
//!
//! ```text
//! init ────────▶ MaelstromNode ─▶ handlers by type ─▶ NodeContext::reply, send, request ─▶ standard output
//! answers ─────▶      │        ─▶ what a request has left to do
//! virtual time ▶      │        ─▶ timers
//! ```
//!
//! The same source is a program for `fozzy maelstrom` (`wasm32-wasip2`, where it waits for input and timers together and needs no thread)
//! and, compiled natively, for Maelstrom itself.
//!
//! ```no_run
//! use fozzy_maelstrom::{MaelstromNode, json};
//!
//! let mut node = MaelstromNode::new();
//! node.on("echo", |context, _, message| context.reply(message, json!({"type": "echo_ok", "echo": message.body["echo"]})));
//! node.on("generate", |context, count: &mut u64, message| {
//!     *count += 1;
//!     let id = format!("{}-{count}", context.id());
//!     context.reply(message, json!({"type": "generate_ok", "id": id}));
//! });
//! node.run(0).expect("messages");
//! ```
//!
//! Invariants: handlers, answers and timers run one after the other, each to its end, so that state needs no lock; equal input at equal
//! moments gives equal output.
//! Not here: what nodes do, and how they are tested (`fozzy maelstrom`, and the page "Nodes of the Maelstrom protocol" of the book).

mod context;
mod input;
mod message;
#[cfg(test)]
mod tests;

pub use context::NodeContext;
pub use message::{ProtocolError, ProtocolMessage, error_code};
pub use serde_json::{Value, json};

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// What is done with messages of one type.
type Handler<S> = Box<dyn FnMut(&mut NodeContext<S>, &mut S, &ProtocolMessage)>;
/// What is done when the node knows its name.
type Start<S> = Box<dyn FnOnce(&mut NodeContext<S>, &mut S)>;

/// A node: what it does with messages, and its state `S`.
pub struct MaelstromNode<S> {
    handlers: BTreeMap<&'static str, Handler<S>>,
    starts: Vec<Start<S>>,
    context: NodeContext<S>,
}

impl<S> Default for MaelstromNode<S> {
    fn default() -> MaelstromNode<S> {
        MaelstromNode { handlers: BTreeMap::new(), starts: Vec::new(), context: NodeContext::new() }
    }
}

impl<S: 'static> MaelstromNode<S> {
    /// A node that knows `init` alone.
    #[must_use]
    pub fn new() -> MaelstromNode<S> {
        MaelstromNode::default()
    }

    /// What is done with messages of a type. A request of another type is answered by [`error_code::NOT_SUPPORTED`].
    pub fn on(
        &mut self,
        kind: &'static str,
        handler: impl FnMut(&mut NodeContext<S>, &mut S, &ProtocolMessage) + 'static,
    ) {
        self.handlers.insert(kind, Box::new(handler));
    }

    /// What is done when the node knows its name and the others', before `init` is answered.
    pub fn on_init(&mut self, start: impl FnOnce(&mut NodeContext<S>, &mut S) + 'static) {
        self.starts.push(Box::new(start));
    }

    /// Handles messages and timers until standard input ends.
    ///
    /// # Errors
    /// When a line is no message, or standard output is closed.
    pub fn run(mut self, mut state: S) -> io::Result<()> {
        let mut streams = input::LineStreams::open();
        let mut lines = Vec::new();
        loop {
            streams.write(&self.context.take_output())?;
            if !streams.wait(self.context.next_due(), &mut lines)? {
                return Ok(());
            }
            self.advance(&mut state, streams.now());
            for line in lines.drain(..) {
                self.hear(&mut state, &line)?;
            }
        }
    }

    /// Time has passed: what is due is called.
    fn advance(&mut self, state: &mut S, now: Duration) {
        self.context.set_now(now);
        while let Some(due) = self.context.take_due() {
            due.call(&mut self.context, state);
        }
    }

    /// A line has come.
    fn hear(&mut self, state: &mut S, line: &[u8]) -> io::Result<()> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let message = ProtocolMessage::read(line)?;
        if let Some(answered) = message.body["in_reply_to"].as_u64() {
            // An answer that comes too late is nothing to anybody.
            if let Some(pending) = self.context.take_request(answered) {
                let answer = ProtocolError::of(&message.body).map_or(Ok(message.body), Err);
                pending(&mut self.context, state, answer);
            }
            return Ok(());
        }
        if message.kind() == "init" {
            self.context.begin(&message);
            for start in std::mem::take(&mut self.starts) {
                start(&mut self.context, state);
            }
            self.context.reply(&message, json!({"type": "init_ok"}));
            return Ok(());
        }
        match self.handlers.get_mut(message.kind()) {
            Some(handler) => handler(&mut self.context, state, &message),
            None if message.body.get("msg_id").is_some() => {
                let text = format!("there is no handler for {}", message.kind());
                self.context.fail(&message, &ProtocolError::new(error_code::NOT_SUPPORTED, text));
            }
            None => {}
        }
        Ok(())
    }
}
