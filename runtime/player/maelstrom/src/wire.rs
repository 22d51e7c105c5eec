//! Lines from and to the machines of the nodes, over the standard streams of this program; and virtual time.
//!
//! ```text
//! read    n1 {"src":"n1","dest":"n2",…}     n1 has printed a line
//!         n1                                the program of n1 is gone
//!         ! n1:/log: sector 0 is lost       what an order has damaged
//! write   n2 {"id":7,"src":"n1",…}          n2 reads a line
//!         !kill n2                          an order, as `fozzy-world` has them
//! ```

use crate::network::NodeMessage;
use std::collections::BTreeSet;
use wasip2::cli::stdin::get_stdin;
use wasip2::cli::stdout::get_stdout;
use wasip2::clocks::monotonic_clock::{now, subscribe_instant};
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::{InputStream, OutputStream, StreamError};

/// Bytes that are read at once.
const READ_BYTES: u64 = 1 << 16;
/// Bytes that one call writes, as WASI has it.
const WRITE_BYTES: usize = 4096;

/// The connection to all machines.
pub struct NodeWire {
    // Before the stream that it is of: it is dropped first.
    readable: Pollable,
    input: InputStream,
    output: OutputStream,
    /// The moment that was waited for last: mostly it is waited for again.
    timer: Option<(u64, Pollable)>,
    /// What was read of a line that has not ended.
    read: Vec<u8>,
    written: Vec<u8>,
    /// Nodes whose programs were ordered to end, and have not ended.
    ending: BTreeSet<String>,
    /// Whether damage was ordered that nothing was reported of, and the last report.
    awaits_damage: bool,
    damaged: String,
    start: u64,
    /// Nanoseconds since then: time passes where this program waits, and nowhere else.
    now: u64,
}

/// What has come from a machine.
pub enum Heard<'a> {
    /// A line of the node of this name.
    Line(&'a str, &'a str),
    /// The same of bytes that are no text: what is none is replaced.
    Garbled(&'a str, &'a str),
    /// The program of this node is gone.
    Gone(&'a str),
    /// An order has damaged this.
    Damaged(&'a str),
}

impl<'a> Heard<'a> {
    /// What a line says.
    fn of(line: &'a str) -> Heard<'a> {
        match line.split_once(' ') {
            Some(("!", words)) => Heard::Damaged(words),
            Some((node, line)) => Heard::Line(node, line),
            None => Heard::Gone(line),
        }
    }
}

/// Whole lines that have come.
pub struct HeardLines(Vec<u8>);

impl HeardLines {
    /// Does something with each.
    pub fn each(&self, mut hear: impl FnMut(Heard<'_>)) {
        for line in self.0.split_inclusive(|byte| *byte == b'\n') {
            let line = &line[..line.len() - 1];
            // Nearly all lines are text, which is seen several bytes at a time.
            match std::str::from_utf8(line) {
                Ok(line) => hear(Heard::of(line)),
                Err(_) => hear(match Heard::of(&String::from_utf8_lossy(line)) {
                    Heard::Line(node, line) => Heard::Garbled(node, line),
                    other => other,
                }),
            }
        }
    }
}

impl NodeWire {
    pub fn new() -> NodeWire {
        let input = get_stdin();
        NodeWire {
            readable: input.subscribe(),
            input,
            output: get_stdout(),
            timer: None,
            read: Vec::new(),
            written: Vec::new(),
            ending: BTreeSet::new(),
            awaits_damage: false,
            damaged: String::new(),
            start: now(),
            now: 0,
        }
    }

    /// Nanoseconds since the start of the test.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Has a node read a message. It is sent by [`NodeWire::wait`].
    pub fn send(&mut self, node: &str, message: &NodeMessage) {
        self.written.extend_from_slice(node.as_bytes());
        self.written.push(b' ');
        message.write(&mut self.written);
        self.written.push(b'\n');
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
    pub fn wait(&mut self, until: u64) -> HeardLines {
        self.flush();
        let until = self.start.saturating_add(until);
        let timer = match self.timer.take() {
            Some(timer) if timer.0 == until => timer,
            _ => (until, subscribe_instant(until)),
        };
        // The input is the first of them.
        let has_come = poll(&[&self.readable, &timer.1]).contains(&0);
        self.timer = Some(timer);
        self.now = now() - self.start;
        HeardLines(if has_come { self.hear() } else { Vec::new() })
    }

    fn flush(&mut self) {
        let written = std::mem::take(&mut self.written);
        let sent: Result<(), StreamError> =
            written.chunks(WRITE_BYTES).try_for_each(|part| self.output.blocking_write_and_flush(part));
        sent.expect("the streams of the main machine stay open");
        self.written = written;
        self.written.clear();
    }

    fn hear(&mut self) -> Vec<u8> {
        // The input has no end.
        let mut come = self.input.read(READ_BYTES).unwrap_or_default();
        let Some(last) = come.iter().rposition(|byte| *byte == b'\n') else {
            self.read.append(&mut come);
            return Vec::new();
        };
        let rest = come.split_off(last + 1);
        let mut read = std::mem::replace(&mut self.read, rest);
        if read.is_empty() {
            return come;
        }
        read.append(&mut come);
        read
    }
}
