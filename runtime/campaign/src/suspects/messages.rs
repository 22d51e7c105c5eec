//! Which messages between machines a run has.
//!
//! ```text
//! n1 writes "PUT x=1" to the connection with n2   n1 -> n2: PUT
//! n2 reads it 2 s later                           n1 -> n2: PUT is not read within 1 s
//! n2 receives a datagram "ping" twice             n2: datagram ping is received more often than it is sent
//! ```
//!
//! What is written at once is a message, by its first word, or by its length where it is no text; of JSON it is its type.
//! A message that the end of the run leaves unread counts by how long it was on its way until then, since what a failure has cut off
//! was not lost. Bytes of a connection are read in their order; a datagram is the same one where it has the same number.
//!
//! Invariants: an observer answers nothing, so that runs stay what they are; what is kept is bounded.
//! Not here: lines that a router hands on, which are lines of output.

use super::words::numberless;
use fozzy_report::MachineNames;
use fozzy_report::suspects::{SuspectKind, SuspectThing};
use fozzy_trace::{Activity, DatagramStep, HistoryEntry, Instant, IoChannel, IoKind, NodeId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Different messages of a run that count.
const MESSAGES_MAX: usize = 1_000;
/// Moves of bytes that are followed: later ones do not count.
const MOVED_MAX: usize = 20_000;
/// Characters of a word.
const WORD_CHARS_MAX: usize = 24;
/// Where the type of a message in JSON stands, as a call shows it.
const JSON_TYPE: &str = r#"\"type\":\""#;
/// From when on a message is late.
const LATE: [(u64, &str); 3] = [(100_000_000, "100 ms"), (1_000_000_000, "1 s"), (10_000_000_000, "10 s")];

/// A message on its way.
struct SentMessage {
    /// Whose it is and what it says, for people.
    words: String,
    sent: Instant,
    bytes: u64,
}

/// A datagram that was sent.
struct SentDatagram {
    label: String,
    /// `None` once it was received.
    message: Option<SentMessage>,
}

/// Bytes that a call of a machine has moved to or from another one.
struct MovedBytes {
    node: NodeId,
    at: Instant,
    channel: IoChannel,
    is_write: bool,
    bytes: u64,
    /// The datagrams that these bytes are.
    datagrams: Vec<DatagramStep>,
}

/// What moves between the machines of a run, in its order.
#[derive(Default)]
pub(super) struct NotedMessages {
    moved: Vec<MovedBytes>,
    is_cut: bool,
}

impl NotedMessages {
    /// Something has happened.
    pub(super) fn activity(&mut self, activity: Activity) {
        match activity {
            Activity::Io { node, at, channel, is_write, bytes }
                if matches!(channel.kind, IoKind::Connection | IoKind::Datagrams) && bytes > 0 =>
            {
                match self.moved.len() < MOVED_MAX {
                    true => {
                        self.moved.push(MovedBytes { node, at, channel, is_write, bytes, datagrams: Vec::new() });
                    }
                    false => self.is_cut = true,
                }
            }
            // It is told right behind its bytes, unless it has none.
            Activity::Datagram { node, at, step }
                if !self.is_cut && !matches!(step, DatagramStep::Sent { bytes: 0, .. }) =>
            {
                let is_sent = matches!(step, DatagramStep::Sent { .. });
                if let Some(moved) = self.moved.last_mut()
                    && (moved.node, moved.at, moved.is_write) == (node, at, is_sent)
                    && moved.channel.kind == IoKind::Datagrams
                {
                    moved.datagrams.push(step);
                }
            }
            _ => {}
        }
    }

    /// All of them, of a run with these calls that ended then; whether these are all: what no call is kept of does not count.
    pub(super) fn things(
        &self,
        names: &MachineNames,
        calls: &[HistoryEntry],
        end: Instant,
    ) -> (Vec<SuspectThing>, bool) {
        let (words, streams, datagrams) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let mut found = FoundMessages { names, words, streams, datagrams, is_cut: self.is_cut };
        let mut by_machine: BTreeMap<NodeId, Vec<&HistoryEntry>> = BTreeMap::new();
        for call in calls {
            by_machine.entry(call.node).or_default().push(call);
        }
        // Those before these places are of earlier messages.
        let mut places: BTreeMap<NodeId, usize> = BTreeMap::new();
        for moved in &self.moved {
            let calls = by_machine.get(&moved.node).map_or(&[][..], Vec::as_slice);
            let place = places.entry(moved.node).or_default();
            // Earlier calls are of no later move, also where this one has none.
            *place += calls[*place..].iter().take_while(|call| call.at < moved.at).count();
            let is_it = |call: &&HistoryEntry| has_moved(&call.call, moved.is_write);
            let next = calls[*place..].iter().take_while(|call| call.at == moved.at).position(is_it);
            let Some(next) = next else {
                found.is_cut = true;
                continue;
            };
            *place += next + 1;
            found.moved(moved, calls[*place - 1]);
        }
        // What has read them may be among what is not known.
        if !found.is_cut {
            let written = std::mem::take(&mut found.streams).into_values().flatten();
            let sent = std::mem::take(&mut found.datagrams).into_values().filter_map(|datagram| datagram.message);
            for message in written.chain(sent) {
                found.arrived(&message, end);
            }
        }
        let things = found.words.into_iter().map(|words| SuspectThing::new(SuspectKind::Message, words)).collect();
        (things, !found.is_cut)
    }
}

/// Whether a call is one that moves bytes in this direction, by its name.
fn has_moved(call: &str, is_write: bool) -> bool {
    let name = call.rsplit('.').next().unwrap_or_default();
    let verbs: &[&str] = if is_write { &["write", "send"] } else { &["read", "receive", "recv"] };
    !name.starts_with("check-") && verbs.iter().any(|verb| name.contains(verb))
}

/// What was found so far.
struct FoundMessages<'a> {
    names: &'a MachineNames,
    words: BTreeSet<String>,
    /// What was written to connections, by their streams.
    streams: BTreeMap<u64, VecDeque<SentMessage>>,
    /// What was sent, by its number.
    datagrams: BTreeMap<u64, SentDatagram>,
    is_cut: bool,
}

impl FoundMessages<'_> {
    fn moved(&mut self, moved: &MovedBytes, call: &HistoryEntry) {
        let MovedBytes { node, at, channel, is_write, bytes, datagrams } = moved;
        let label = label(if *is_write { &call.asked } else { &call.answer }, *bytes);
        let (sent, bytes) = (*at, *bytes);
        match (channel.kind, channel.stream, *is_write) {
            (IoKind::Connection, Some(stream), true) => {
                // Ports of clients are drawn.
                let to = channel.name.rsplit_once(':').map_or(channel.name.as_str(), |(machine, _)| machine);
                let words = format!("{} -> {to}: {label}", self.names.name(*node));
                self.find(words.clone());
                self.streams.entry(stream).or_default().push_back(SentMessage { words, sent, bytes });
            }
            (IoKind::Connection, Some(stream), false) => self.read(stream, bytes, *at),
            (_, _, true) => {
                let words = format!("{}: datagram {label}", self.names.name(*node));
                self.find(words.clone());
                for step in datagrams {
                    if let DatagramStep::Sent { number, .. } = step {
                        let message = Some(SentMessage { words: words.clone(), sent, bytes });
                        self.datagrams.insert(*number, SentDatagram { label: label.clone(), message });
                    }
                }
            }
            (_, _, false) => self.receive(&label, datagrams, *node, *at),
        }
    }

    fn find(&mut self, words: String) {
        match self.words.len() < MESSAGES_MAX || self.words.contains(&words) {
            true => _ = self.words.insert(words),
            false => self.is_cut = true,
        }
    }

    /// Bytes of a connection are read, of one message or of several.
    fn read(&mut self, stream: u64, bytes: u64, at: Instant) {
        let mut left = bytes;
        let mut whole = Vec::new();
        let Some(queue) = self.streams.get_mut(&stream) else { return };
        while left > 0
            && let Some(first) = queue.front_mut()
        {
            let taken = left.min(first.bytes);
            (left, first.bytes) = (left - taken, first.bytes - taken);
            if first.bytes == 0
                && let Some(read) = queue.pop_front()
            {
                whole.push(read);
            }
        }
        whole.iter().for_each(|read| self.arrived(read, at));
    }

    fn receive(&mut self, label: &str, steps: &[DatagramStep], node: NodeId, at: Instant) {
        let name = self.names.name(node);
        self.find(format!("{name}: datagram {label} is received"));
        for step in steps {
            let DatagramStep::Received { number } = step else { continue };
            // One of the machine to itself is none of those that were sent.
            let Some(datagram) = self.datagrams.get_mut(number) else { continue };
            match datagram.message.take() {
                Some(message) => self.arrived(&message, at),
                None => {
                    let label = datagram.label.clone();
                    self.find(format!("{name}: datagram {label} is received more often than it is sent"));
                }
            }
        }
    }

    /// How long a message was on its way at the least.
    fn arrived(&mut self, message: &SentMessage, at: Instant) {
        let took = at.since(message.sent).0;
        for (_, late) in LATE.iter().filter(|(late, _)| took >= *late) {
            self.find(format!("{} is not read within {late}", message.words));
        }
    }
}

/// The first word of what a call shows of a message; what is no text by the power of two of its length.
fn label(shown: &str, bytes: u64) -> String {
    let text = shown.split_once('"').map_or("", |(_, text)| text);
    let text = text.split_once(JSON_TYPE).map_or(text, |(_, kind)| kind);
    let is_end = |character: char| character.is_whitespace() || matches!(character, '"' | '\\');
    let word: String = text.chars().take_while(|character| !is_end(*character)).take(WORD_CHARS_MAX).collect();
    if word.chars().any(char::is_alphanumeric) {
        return numberless(&word);
    }
    let power = 1_u64 << bytes.max(1).ilog2();
    match power {
        1 => "1 byte".to_owned(),
        _ => format!("{power} to {} bytes", power + (power - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::plan::Plan;

    /// Calls of machines, each with the bytes that it moves; those of a datagram end with its number.
    fn noted(moves: &[(u32, u64, IoKind, bool, &str)], end: u64) -> Vec<String> {
        let (mut noted, mut calls) = (NotedMessages::default(), Vec::new());
        for (node, at, kind, is_write, text) in moves {
            let (node, at, bytes) = (NodeId(*node), Instant(*at * 1_000_000), text.len() as u64);
            let stream = (*kind == IoKind::Connection).then_some(4);
            let channel = IoChannel { kind: *kind, name: "n2:49152".to_owned(), stream };
            noted.activity(Activity::Io { node, at, channel, is_write: *is_write, bytes });
            if let (IoKind::Datagrams, Some(Ok(number))) = (*kind, text.rsplit(' ').next().map(str::parse)) {
                let sent = DatagramStep::Sent { number, to: NodeId(2), bytes, copies: 1, is_late: false };
                let step = if *is_write { sent } else { DatagramStep::Received { number } };
                noted.activity(Activity::Datagram { node, at, step });
            }
            let shown = format!("6, {text:?} ({bytes} bytes)");
            for call in ["streams.check-write", if *is_write { "streams.write" } else { "streams.blocking-read" }] {
                let (asked, answer) = (shown.clone(), shown.clone());
                calls.push(HistoryEntry { index: 0, at, node, call: call.into(), asked, answer, decision: false });
            }
        }
        let names = MachineNames::of(&Plan::default());
        let (things, is_whole) = noted.things(&names, &calls, Instant(end * 1_000_000));
        assert!(is_whole && noted.things(&names, &[], Instant(0)).0.is_empty(), "without calls, nothing counts");
        things.into_iter().map(|thing| thing.what).collect()
    }

    #[test]
    fn a_message_is_late_once_it_was_on_its_way_for_so_long_and_not_because_the_run_ends() {
        let (connection, put) = (IoKind::Connection, "PUT /17 x");
        let sent = [(1, 0, connection, true, put)];
        assert_eq!(noted(&sent, 50), ["n1 -> n2: PUT"]);
        let (early, late) = ("n1 -> n2: PUT is not read within 100 ms", "n1 -> n2: PUT is not read within 1 s");
        assert_eq!(noted(&sent, 5_000), ["n1 -> n2: PUT", late, early], "lost");
        let read = [sent[0], (2, 200, connection, false, "PUT "), (2, 200, connection, false, "/17 x")];
        assert_eq!(noted(&read, 5_000), ["n1 -> n2: PUT", early]);
    }

    #[test]
    fn a_datagram_may_come_twice() {
        let datagrams = IoKind::Datagrams;
        let sent = [(1, 0, datagrams, true, "ping 7"), (2, 1, datagrams, false, "ping 7")];
        assert_eq!(noted(&sent, 5_000), ["n1: datagram ping", "n2: datagram ping is received"]);
        let twice = [sent[0], sent[1], (2, 2, datagrams, false, "ping 7")];
        let found = noted(&twice, 5_000);
        assert_eq!(found[2], "n2: datagram ping is received more often than it is sent");
    }

    #[test]
    fn a_datagram_is_the_one_with_its_number_among_those_that_look_the_same() {
        let datagrams = IoKind::Datagrams;
        let sent = [(1, 0, datagrams, true, "ping 1"), (3, 0, datagrams, true, "ping 2")];
        let (late, early) = ("n1: datagram ping is not read within 1 s", "n1: datagram ping is not read within 100 ms");
        let expected = ["n1: datagram ping", late, early, "n2: datagram ping is received", "n3: datagram ping"];
        assert_eq!(noted(&[sent[0], sent[1], (2, 1, datagrams, false, "ping 2")], 5_000), expected);
        // What none has sent, as far as is known, is received and nothing else.
        assert_eq!(noted(&[(2, 1, datagrams, false, "ping 9")], 5_000), ["n2: datagram ping is received"]);
    }

    #[test]
    fn calls_of_all_interfaces_are_found_by_their_names() {
        for (call, is_write) in [
            ("wasi:io/streams.output-stream.blocking-write-and-flush", true),
            ("wasi:sockets/udp.outgoing-datagram-stream.send", true),
            ("wasi:sockets/udp.incoming-datagram-stream.receive", false),
            ("wasi_snapshot_preview1.sock_send_to", true),
            ("wasi_snapshot_preview1.sock_recv", false),
            ("wasi_snapshot_preview1.sock_recv_from", false),
            ("wasi_snapshot_preview1.fd_read", false),
        ] {
            assert!(has_moved(call, is_write) && !has_moved(call, !is_write), "{call}");
        }
    }

    #[test]
    fn a_message_is_called_by_its_type_its_first_word_or_its_length() {
        assert_eq!(label(r#"6, "{\"src\":\"n0\",\"body\":{\"type\":\"gossip\",\"id\":1" (90 bytes)"#, 90), "gossip");
        assert_eq!(label("6, \"get17 now\" (9 bytes)", 9), "get#");
        assert_eq!(label("6, 00ff01 (3 bytes)", 3), "2 to 3 bytes");
        assert_eq!(label("", 1), "1 byte");
        assert_eq!(label("", u64::MAX), format!("{} to {} bytes", 1_u64 << 63, u64::MAX));
    }
}
