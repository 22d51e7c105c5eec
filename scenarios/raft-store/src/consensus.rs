//! The raft crate, with the disk below it and the values on top.

use crate::PlantedFault;
use crate::disk_log::{DiskLog, RestoredLog};
use raft::eraftpb::{Entry, Message};
use raft::storage::MemStorage;
use raft::{Config, RawNode, ReadOnlyOption, StateRole};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::io;

/// What is to be done for the others.
pub(crate) enum Effect {
    /// To a node.
    Send(Message),
    /// To the client of a connection.
    Answer(usize, String),
}

/// A request of a client: the start of the node that was asked, and a number. It is done once, however often it is proposed.
type Ticket = (u64, u64);

/// A change that has no answer.
struct Change {
    connection: usize,
    /// In ticks.
    waited: u32,
}

/// A read that has no answer.
struct Read {
    connection: usize,
    key: String,
    /// In ticks.
    waited: u32,
}

/// After how many ticks a leader is asked again for a read, and when a client is told that nobody answers.
const ASKED_AGAIN: u32 = 10;
const GIVEN_UP: u32 = 35;

pub(crate) struct Consensus {
    node: RawNode<MemStorage>,
    disk: DiskLog,
    planted: PlantedFault,
    /// A number that no other start of a node has.
    start: u64,
    asked: u64,
    /// Changes that clients wait for.
    changes: BTreeMap<Ticket, Change>,
    reads: BTreeMap<Ticket, Read>,
    /// Reads that may be answered once so much is applied.
    confirmed: Vec<(u64, Ticket)>,
    values: BTreeMap<String, String>,
    applied: u64,
    done: BTreeSet<Ticket>,
    effects: Vec<Effect>,
}

impl Consensus {
    /// The node of a number, of `count`, with what its disk knows.
    pub(crate) fn begin(id: u64, count: u64, planted: PlantedFault) -> io::Result<Consensus> {
        let (disk, restored) = DiskLog::open(planted != PlantedFault::NoFsync)?;
        let RestoredLog { entries, mut state } = restored;
        if planted == PlantedFault::LostVote {
            (state.term, state.vote) = (0, 0);
        }
        let storage = MemStorage::new_with_conf_state(((1..=count).collect::<Vec<u64>>(), vec![]));
        storage.wl().append(&entries).map_err(io::Error::other)?;
        state.commit = state.commit.min(entries.last().map_or(0, |entry| entry.index));
        storage.wl().set_hardstate(state);
        let config = Config {
            id,
            election_tick: 10,
            heartbeat_tick: 2,
            max_size_per_msg: 1 << 16,
            max_inflight_msgs: 64,
            // A leader that nobody confirms steps down, so that one that answers by itself is wrong for a while only.
            check_quorum: planted != PlantedFault::StaleRead,
            read_only_option: ReadOnlyOption::Safe,
            ..Config::default()
        };
        let logger = slog::Logger::root(slog::Discard, slog::o!());
        Ok(Consensus {
            node: RawNode::new(&config, storage, &logger).map_err(io::Error::other)?,
            disk,
            planted,
            start: RandomState::new().hash_one(id),
            asked: 0,
            changes: BTreeMap::new(),
            reads: BTreeMap::new(),
            confirmed: Vec::new(),
            values: BTreeMap::new(),
            applied: 0,
            done: BTreeSet::new(),
            effects: Vec::new(),
        })
    }

    pub(crate) fn tick(&mut self) {
        self.node.tick();
        for (ticket, read) in &mut self.reads {
            read.waited += 1;
            if read.waited == GIVEN_UP {
                self.effects.push(Effect::Answer(read.connection, "fail no leader has confirmed it".to_owned()));
            } else if read.waited.is_multiple_of(ASKED_AGAIN) {
                self.node.read_index(context_of(*ticket));
            }
        }
        self.reads.retain(|_, read| read.waited < GIVEN_UP);
        for change in self.changes.values_mut() {
            change.waited += 1;
            if change.waited == GIVEN_UP {
                // It may be in the log of a leader that will be heard again.
                self.effects.push(Effect::Answer(change.connection, "info no majority has confirmed it".to_owned()));
            }
        }
        self.changes.retain(|_, change| change.waited < GIVEN_UP);
    }

    /// Takes a message of another node. One that makes no sense is refused, and that is all.
    pub(crate) fn step(&mut self, message: Message) {
        let _ = self.node.step(message);
    }

    fn ticket(&mut self) -> Ticket {
        self.asked += 1;
        (self.start, self.asked)
    }

    pub(crate) fn put(&mut self, connection: usize, key: &str, value: &str) {
        let ticket = self.ticket();
        let change = format!("{} {} {key} {value}", ticket.0, ticket.1);
        match self.node.propose(Vec::new(), change.into_bytes()) {
            Ok(()) => drop(self.changes.insert(ticket, Change { connection, waited: 0 })),
            Err(error) => self.effects.push(Effect::Answer(connection, format!("fail {error}"))),
        }
    }

    pub(crate) fn get(&mut self, connection: usize, key: &str) {
        let read = Read { connection, key: key.to_owned(), waited: 0 };
        if self.planted == PlantedFault::StaleRead && self.node.raft.state == StateRole::Leader {
            return self.answer_read(&read);
        }
        let ticket = self.ticket();
        self.reads.insert(ticket, read);
        self.node.read_index(context_of(ticket));
    }

    fn answer_read(&mut self, read: &Read) {
        let value = self.values.get(&read.key).map_or("nil", String::as_str);
        self.effects.push(Effect::Answer(read.connection, format!("ok {value}")));
    }

    /// Does all that is ready: keeps it on the disk, applies it, and says what to send.
    pub(crate) fn advance(&mut self) -> io::Result<Vec<Effect>> {
        while self.node.has_ready() {
            let mut ready = self.node.ready();
            self.send(ready.take_messages());
            let known = |state: raft::ReadState| Some((state.index, ticket_of(&state.request_ctx)?.0));
            self.confirmed.extend(ready.take_read_states().into_iter().filter_map(known));
            self.apply(ready.take_committed_entries());
            let entries = ready.take_entries();
            self.disk.append(&entries, ready.hs())?;
            let store = self.node.store().clone();
            store.wl().append(&entries).map_err(io::Error::other)?;
            if let Some(state) = ready.hs() {
                store.wl().set_hardstate(state.clone());
            }
            self.send(ready.take_persisted_messages());
            let mut light = self.node.advance(ready);
            if let Some(commit) = light.commit_index() {
                store.wl().mut_hard_state().commit = commit;
            }
            self.send(light.take_messages());
            self.apply(light.take_committed_entries());
            self.node.advance_apply();
        }
        let applied = self.applied;
        for (_, ticket) in self.confirmed.extract_if(.., |(index, _)| *index <= applied).collect::<Vec<_>>() {
            if let Some(read) = self.reads.remove(&ticket) {
                self.answer_read(&read);
            }
        }
        Ok(std::mem::take(&mut self.effects))
    }

    fn send(&mut self, messages: Vec<Message>) {
        self.effects.extend(messages.into_iter().map(Effect::Send));
    }

    fn apply(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            self.applied = entry.index;
            // A leader begins its term with an entry of nothing.
            let Some((ticket, change)) = ticket_of(&entry.data) else { continue };
            if !self.done.insert(ticket) {
                continue;
            }
            let (key, value) = change.split_once(' ').unwrap_or((change, ""));
            self.values.insert(key.to_owned(), value.to_owned());
            if let Some(change) = self.changes.remove(&ticket) {
                self.effects.push(Effect::Answer(change.connection, "ok".to_owned()));
            }
        }
    }
}

fn context_of(ticket: Ticket) -> Vec<u8> {
    format!("{} {}", ticket.0, ticket.1).into_bytes()
}

/// The ticket at the beginning of bytes, and what follows it.
fn ticket_of(bytes: &[u8]) -> Option<(Ticket, &str)> {
    let mut words = std::str::from_utf8(bytes).ok()?.splitn(3, ' ');
    let ticket = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((ticket, words.next().unwrap_or_default()))
}
