//! Lines from and to the machines of the nodes, over the standard streams of this program; and virtual time.
//!
//! ```text
//! read    n1 {"src":"n1","dest":"n2",…}     n1 has printed a line
//!         n1                                the program of n1 is gone
//!         ! n1:/log: sector 0 is lost       what an order has damaged
//! write   n2 {"id":7,"src":"n1",…}          n2 reads a line
//!         !kill n2                          an order, as `fozzy-world` has them
//! ```

use std::collections::BTreeSet;
use std::io::Write;
use wasip2::cli::stdin::get_stdin;
use wasip2::clocks::monotonic_clock::{now, subscribe_instant};
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::InputStream;

/// Bytes that are read at once.
const READ_BYTES: u64 = 1 << 16;

/// The connection to all machines.
pub struct NodeWire {
    // Before the stream that it is of: it is dropped first.
    readable: Pollable,
    input: InputStream,
    /// What was read of a line that has not ended, and lines that were not taken.
    read: Vec<u8>,
    written: Vec<u8>,
    /// Nodes whose programs were ordered to end, and have not ended.
    ending: BTreeSet<String>,
    /// Whether damage was ordered that nothing was reported of, and the last report.
    awaits_damage: bool,
    damaged: String,
    start: u64,
}

/// What has come from a machine.
pub enum Heard {
    /// A line of the node of this name.
    Line(String, String),
    /// The program of this node is gone.
    Gone(String),
    /// An order has damaged this.
    Damaged(String),
}

impl NodeWire {
    pub fn new() -> NodeWire {
        let input = get_stdin();
        NodeWire {
            readable: input.subscribe(),
            input,
            read: Vec::new(),
            written: Vec::new(),
            ending: BTreeSet::new(),
            awaits_damage: false,
            damaged: String::new(),
            start: now(),
        }
    }

    /// Nanoseconds since the start of the test.
    pub fn now(&self) -> u64 {
        now() - self.start
    }

    /// Has a node read a line. It is sent by [`NodeWire::wait`].
    pub fn send(&mut self, node: &str, line: &str) {
        for part in [node, " ", line, "\n"] {
            self.written.extend_from_slice(part.as_bytes());
        }
    }

    /// Orders what becomes of a node.
    pub fn order(&mut self, order: &str, node: &str, amount: Option<i64>) {
        let amount = amount.map_or_else(String::new, |amount| format!(" {amount}"));
        self.written.extend_from_slice(format!("!{order} {node}{amount}\n").as_bytes());
        if order == "kill" || order == "power-loss" {
            self.ending.insert(node.to_owned());
        }
        self.awaits_damage |= order.starts_with("file-");
    }

    /// Whether an order was not obeyed yet: programs have not ended, or it is not known what was damaged.
    pub fn has_open_orders(&self) -> bool {
        !self.ending.is_empty() || self.awaits_damage
    }

    /// It is known what was damaged.
    pub fn note_damage(&mut self, words: String) {
        (self.awaits_damage, self.damaged) = (false, words);
    }

    /// What was damaged last.
    pub fn damaged(&self) -> &str {
        &self.damaged
    }

    /// The program of a node is gone.
    pub fn note_end(&mut self, node: &str) {
        self.ending.remove(node);
    }

    /// Sends what there is, and waits until something comes, or until a moment. What has come.
    pub fn wait(&mut self, until: u64) -> Vec<Heard> {
        self.flush();
        let timer = subscribe_instant(self.start.saturating_add(until));
        // The input is the first of them.
        match poll(&[&self.readable, &timer]).contains(&0) {
            true => self.hear(),
            false => Vec::new(),
        }
    }

    fn flush(&mut self) {
        if !self.written.is_empty() {
            let mut output = std::io::stdout().lock();
            let sent = output.write_all(&self.written).and_then(|()| output.flush());
            sent.expect("the streams of the main machine stay open");
            self.written.clear();
        }
    }

    fn hear(&mut self) -> Vec<Heard> {
        // The input has no end.
        self.read.extend(self.input.read(READ_BYTES).unwrap_or_default());
        let Some(last) = self.read.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let rest = self.read.split_off(last + 1);
        let lines = std::mem::replace(&mut self.read, rest);
        let lines = lines[..last].split(|byte| *byte == b'\n').map(String::from_utf8_lossy);
        let heard = |line: std::borrow::Cow<'_, str>| match line.split_once(' ') {
            Some(("!", words)) => Heard::Damaged(words.to_owned()),
            Some((node, line)) => Heard::Line(node.to_owned(), line.to_owned()),
            None => Heard::Gone(line.into_owned()),
        };
        lines.map(heard).collect()
    }
}
