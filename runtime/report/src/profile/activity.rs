//! What the machines of a run did with their virtual time, and which bytes they moved: collected during a replay.
//!
//! ```text
//! calls, turns, waits, bytes ─▶ ActivityCollector ─▶ RunActivity ─┬─▶ latency: calls, waits, the critical path
//!                                                                 ├─▶ io: bytes by file, connection, process
//!                                                                 ├─▶ sched: turns by machine and task
//!                                                                 └─▶ timeline
//! ```
//!
//! A guest computes in no virtual time: what passes between two of its calls, the second one has waited for, or its own reading of
//! a clock has moved the clock on. So the calls of a guest divide its time among them, and their sum is its time.
//!
//! Invariants: equal runs give equal values; memory is bounded, and what a bound has left out stands among the remarks.
//! Not here: who watches a replay (`fozzy-campaign`).

use super::critical_path::{CriticalPath, Sender, WaitSpan, critical_path};
use crate::show::MachineNames;
use fozzy_trace::facts::Operation;
use fozzy_trace::{
    Activity, Aside, AwaitedEvent, DatagramStep, HistoryEntry, Instant, IoChannel, IoKind, NodeId, WaitKind, cut,
};
use std::collections::{BTreeMap, VecDeque};

/// Waits that are kept for the critical path and the timeline, over all machines. A run with more has no critical path.
const WAITS_MAX: usize = 1 << 20;
/// Waits that a timeline shows.
pub(super) const WAITS_SHOWN_MAX: usize = 50_000;
/// Bytes of each text that a timeline shows.
const TEXT_BYTES_MAX: usize = 200;
/// Bytes of a line of output that a timeline shows.
const LINE_BYTES_MAX: usize = 1 << 10;
/// Calls, messages, datagrams, turns and notes, each, that are kept for a timeline.
const EVENTS_MAX: usize = 1 << 16;
/// Writes to streams that were not read yet. In a run with more nothing tells any more who was waited for.
const UNREAD_MAX: usize = 1 << 18;
/// Channels, things that are waited for, and tasks that are told apart, over all machines. Further ones are counted as [`OTHERS`].
const ROWS_MAX: usize = 1 << 16;
/// Durations that are told apart, over all calls and waits. Further ones are counted as the next shorter one.
const DURATIONS_MAX: usize = 1 << 20;

/// What is counted together, where there is too much to tell apart.
pub(super) const OTHERS: &str = "[others]";
/// The same for tasks, which have numbers.
pub(super) const OTHER_TASKS: u64 = u64::MAX;

/// How durations of one kind are distributed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurationCounts {
    counts: BTreeMap<u64, u64>,
    /// How many.
    pub count: u64,
    /// Their sum, in ns.
    pub total_ns: u64,
}

impl DurationCounts {
    /// One more. Where there is no `room` for durations that were not met so far, it is counted as the next shorter one, or as the
    /// shortest; the sum is exact in any case.
    fn add(&mut self, ns: u64, room: &mut RemainingRoom) {
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(ns);
        let known = match self.counts.contains_key(&ns) {
            true => ns,
            false if self.counts.is_empty() || room.take() => ns,
            false => {
                let next = self.counts.range(..ns).next_back().or(self.counts.first_key_value());
                next.map_or(ns, |(known, _)| *known)
            }
        };
        *self.counts.entry(known).or_default() += 1;
    }

    /// The smallest duration that at least this share of a hundred is not longer than: the nearest rank.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> u64 {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let found = self.counts.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        found.map_or(0, |(ns, _)| *ns)
    }
}

/// All calls of one import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTimes {
    /// Their durations.
    pub durations: DurationCounts,
    /// The longest one: its duration in ns, its number and its machine.
    pub worst: Option<(u64, u64, NodeId)>,
}

/// Waits of one machine for one thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitKey {
    /// Who waited.
    pub node: NodeId,
    /// For what kind of event.
    pub kind: WaitKind,
    /// For what, in words.
    pub what: String,
    /// For whom.
    pub of: Option<NodeId>,
}

/// What went through one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCost {
    /// Calls that read.
    pub reads: u64,
    /// What they got.
    pub read_bytes: u64,
    /// Calls that wrote.
    pub writes: u64,
    /// What they wrote.
    pub written_bytes: u64,
}

/// What the scheduler did with one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineTimes {
    /// Its first turn.
    pub started: Option<Instant>,
    /// Its end, if that came before the end of the run.
    pub ended: Option<Instant>,
    /// Turns that it got.
    pub turns: u64,
    /// Turns after which another machine had the next one.
    pub switches: u64,
    /// Its calls, those of a target that it calls included.
    pub calls: u64,
    /// Times that it waited.
    pub waits: u64,
    /// How long.
    pub waited_ns: u64,
    /// How long it could have run while others had their turns.
    pub ready_ns: u64,
    /// How long it had no power, or was killed.
    pub down_ns: u64,
    /// What its calls took in all, up to the end of the run.
    pub calls_ns: u64,
    /// Turns of its tasks, by their numbers, where its program asked which one is next.
    pub tasks: BTreeMap<u64, u64>,
}

/// A call, as a timeline shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSpan {
    /// When it began.
    pub since: Instant,
    /// The call.
    pub entry: HistoryEntry,
    /// The task of the program that made it, where the program asks which one is next.
    pub task: Option<u64>,
}

/// A stretch in which a machine, or one of its tasks, was on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnSpan {
    /// The machine.
    pub node: NodeId,
    /// Its task; `None` for a turn of the machine.
    pub task: Option<u64>,
    /// From when.
    pub since: Instant,
    /// Until when.
    pub until: Instant,
}

/// Something that was said, or happened, at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunNote {
    /// The machine.
    pub node: NodeId,
    /// When.
    pub at: Instant,
    /// What it is.
    pub kind: NoteKind,
    /// It, in words.
    pub text: String,
}

/// Kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// A line of standard output.
    Output,
    /// A line of standard error.
    Errors,
    /// A strike of a planned fault.
    Fault,
    /// What was found wrong.
    Finding,
}

impl NoteKind {
    /// In one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            NoteKind::Output => "stdout",
            NoteKind::Errors => "stderr",
            NoteKind::Fault => "fault",
            NoteKind::Finding => "finding",
        }
    }
}

/// Bytes that one machine sent and another read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFlow {
    /// Who sent them.
    pub from: NodeId,
    /// When.
    pub sent: Instant,
    /// Who read them.
    pub to: NodeId,
    /// When.
    pub read: Instant,
    /// How many.
    pub bytes: u64,
    /// The tasks that sent and read them, where it is known.
    pub tasks: (Option<u64>, Option<u64>),
}

/// A datagram that one machine sent to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatagramFlow {
    /// Who sent it.
    pub from: NodeId,
    /// When.
    pub sent: Instant,
    /// For whom it was.
    pub to: NodeId,
    /// How many bytes it had.
    pub bytes: u64,
    /// How often it was on its way: not at all if it was lost, twice if it was doubled.
    pub copies: u32,
    /// Whether it was held back, so that others overtook it.
    pub is_late: bool,
    /// When it was received, as often as it was.
    pub received: Vec<Instant>,
}

/// What happened in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunActivity {
    /// What the run is called.
    pub run: String,
    /// By which it is told from others: equal runs have equal ones.
    pub identity: u128,
    /// The wall clock at its start, in ns since 1970.
    pub wall_start_ns: u64,
    /// When it ended.
    pub end: Instant,
    /// Names of machines by their numbers; the first one is always there.
    pub names: BTreeMap<NodeId, String>,
    /// By import.
    pub calls: BTreeMap<String, CallTimes>,
    /// By who waited for what.
    pub waits: BTreeMap<WaitKey, DurationCounts>,
    /// By machine and channel.
    pub io: BTreeMap<(NodeId, IoKind, String), IoCost>,
    /// By machine.
    pub machines: BTreeMap<NodeId, MachineTimes>,
    /// What the length of the run is made of; `None` when there were too many waits.
    pub path: Option<CriticalPath>,
    /// Calls, the first of them.
    pub events: Vec<CallSpan>,
    /// Waits, the first of them.
    pub spans: Vec<WaitSpan>,
    /// Messages, the first of them.
    pub flows: Vec<MessageFlow>,
    /// Datagrams, the first of them, in the order in which they were sent.
    pub datagrams: Vec<DatagramFlow>,
    /// Turns of machines and of their tasks, the first of them, by their ends.
    pub turns: Vec<TurnSpan>,
    /// What was said and what happened, the first of it.
    pub notes: Vec<RunNote>,
    /// Calls, messages, datagrams, turns and notes that are not among them.
    pub left_out: u64,
    /// Operations of clients that the run has recorded.
    pub operations: Vec<Operation>,
    /// Whether lines of the other machines go by way of the main one, whose program is their network.
    pub is_routed: bool,
    /// What a reader has to know.
    pub remarks: Vec<String>,
}

/// How much more can be told apart.
#[derive(Clone, Copy, Debug)]
struct RemainingRoom {
    left: usize,
    was_missed: bool,
}

impl RemainingRoom {
    fn of(left: usize) -> RemainingRoom {
        RemainingRoom { left, was_missed: false }
    }

    /// Room for one more, if there is any.
    fn take(&mut self) -> bool {
        let fits = self.left > 0;
        self.left -= usize::from(fits);
        self.was_missed |= !fits;
        fits
    }
}

/// Bytes on their way.
#[derive(Clone, Copy, Debug)]
struct UnreadBytes {
    sender: Sender,
    task: Option<u64>,
    bytes: u64,
}

/// A wait that goes on.
#[derive(Clone, Debug)]
struct OpenWait {
    /// The machine whose code waits: the guest's, or that of a target that it calls.
    node: NodeId,
    since: Instant,
    awaited: AwaitedEvent,
}

/// Builds a [`RunActivity`] from events, in the order in which they happen.
#[derive(Debug)]
pub struct ActivityCollector {
    found: RunActivity,
    /// Whose turn it is.
    running: NodeId,
    /// When that turn began, and until when it is known to have lasted.
    turn: Option<(Instant, Instant)>,
    /// By guest, its task and since when that is on.
    tasks: BTreeMap<NodeId, (u64, Instant)>,
    /// The task that the call in progress has chosen.
    chosen: Option<u64>,
    /// Lines that were begun, by machine and stream.
    lines: BTreeMap<(NodeId, NoteKind), Vec<u8>>,
    /// Notes from here on were made during the call in progress, at whose end their output is written.
    noted: usize,
    /// By guest, when its last call was over.
    last: BTreeMap<NodeId, Instant>,
    /// Guests that have no power, and since when.
    down: BTreeMap<NodeId, Instant>,
    /// Guests that could run, and since when.
    ready: BTreeMap<NodeId, Instant>,
    /// By guest, the wait that has begun and not ended.
    open: BTreeMap<NodeId, OpenWait>,
    /// By the number of a datagram that may still be received, its place among those that are kept.
    on_their_way: BTreeMap<u64, usize>,
    unread: BTreeMap<(IoKind, u64), VecDeque<UnreadBytes>>,
    unread_count: usize,
    /// By guest, when and as which event it ended.
    ends: BTreeMap<NodeId, Sender>,
    /// Events so far.
    events: u64,
    has_all_waits: bool,
    /// Whether it is known of all bytes who sent them.
    has_all_senders: bool,
    rows: RemainingRoom,
    durations: RemainingRoom,
}

impl Default for ActivityCollector {
    fn default() -> Self {
        ActivityCollector::within(ROWS_MAX, DURATIONS_MAX)
    }
}

impl ActivityCollector {
    /// Nothing so far.
    #[must_use]
    pub fn new() -> ActivityCollector {
        ActivityCollector::default()
    }

    fn within(rows: usize, durations: usize) -> ActivityCollector {
        ActivityCollector {
            found: RunActivity::default(),
            running: NodeId(0),
            turn: None,
            tasks: BTreeMap::new(),
            chosen: None,
            lines: BTreeMap::new(),
            noted: 0,
            last: BTreeMap::new(),
            down: BTreeMap::new(),
            ready: BTreeMap::new(),
            open: BTreeMap::new(),
            on_their_way: BTreeMap::new(),
            unread: BTreeMap::new(),
            unread_count: 0,
            ends: BTreeMap::new(),
            events: 0,
            has_all_waits: true,
            has_all_senders: true,
            rows: RemainingRoom::of(rows),
            durations: RemainingRoom::of(durations),
        }
    }

    /// A call was answered.
    pub fn call(&mut self, entry: HistoryEntry) {
        if let Some(aside) = Aside::of(&entry) {
            if aside == Aside::Fault {
                let text =
                    if entry.answer.is_empty() { entry.asked } else { format!("{}: {}", entry.asked, entry.answer) };
                self.note(RunNote { node: entry.node, at: entry.at, kind: NoteKind::Fault, text });
            }
            return;
        }
        self.events += 1;
        let guest = self.running;
        let since = self.last.insert(guest, entry.at).unwrap_or(entry.at);
        let is_output = |note: &&mut RunNote| matches!(note.kind, NoteKind::Output | NoteKind::Errors);
        self.found.notes[self.noted..].iter_mut().filter(is_output).for_each(|note| note.at = entry.at);
        self.noted = self.found.notes.len();
        if let Some((_, until)) = &mut self.turn {
            *until = entry.at;
        }
        let task = match self.chosen.take() {
            None => self.tasks.get(&guest).map(|(task, _)| *task),
            Some(next) => {
                self.end_task(guest, since);
                self.tasks.insert(guest, (next, entry.at));
                None
            }
        };
        let ns = entry.at.since(since).0;
        if !self.found.calls.contains_key(&entry.call) {
            self.found.calls.insert(entry.call.clone(), CallTimes::default());
        }
        let times = self.found.calls.get_mut(&entry.call).expect("it was just put there");
        times.durations.add(ns, &mut self.durations);
        if times.worst.is_none_or(|(worst, ..)| ns > worst) {
            times.worst = Some((ns, entry.index, entry.node));
        }
        let machine = self.found.machines.entry(guest).or_default();
        machine.calls += 1;
        machine.calls_ns += ns;
        if is_outage(&entry.answer) {
            self.last.remove(&guest);
            self.down.insert(guest, entry.at);
            self.end_task(guest, entry.at);
        }
        match self.found.events.len() < EVENTS_MAX {
            true => self.found.events.push(CallSpan { since, entry, task }),
            false => self.found.left_out += 1,
        }
    }

    /// A machine wrote to a standard stream. The call that wrote is told later.
    pub fn output(&mut self, node: NodeId, is_error: bool, bytes: &[u8]) {
        let kind = if is_error { NoteKind::Errors } else { NoteKind::Output };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line = self.lines.entry((node, kind)).or_default();
            let room = LINE_BYTES_MAX.saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.end_line(node, kind, Instant::START);
            }
        }
    }

    fn end_line(&mut self, node: NodeId, kind: NoteKind, at: Instant) {
        let line = self.lines.remove(&(node, kind)).unwrap_or_default();
        let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
        if !text.is_empty() {
            self.note(RunNote { node, at, kind, text });
        }
    }

    fn note(&mut self, note: RunNote) {
        match self.found.notes.len() < EVENTS_MAX {
            true => self.found.notes.push(note),
            false => self.found.left_out += 1,
        }
    }

    fn end_task(&mut self, node: NodeId, until: Instant) {
        if let Some((task, since)) = self.tasks.remove(&node) {
            self.end_turn(TurnSpan { node, task: Some(task), since, until: until.max(since) });
        }
    }

    fn end_turn(&mut self, turn: TurnSpan) {
        match self.found.turns.len() < EVENTS_MAX {
            true => self.found.turns.push(turn),
            false => self.found.left_out += 1,
        }
    }

    /// Something else happened.
    pub fn activity(&mut self, activity: Activity) {
        self.events += 1;
        match activity {
            Activity::Turn { node, at, ready } => self.turn(node, at, ready),
            Activity::Task { node, task } => {
                self.chosen = Some(task);
                let tasks = &mut self.found.machines.entry(node).or_default().tasks;
                let task = if tasks.contains_key(&task) || self.rows.take() { task } else { OTHER_TASKS };
                *tasks.entry(task).or_default() += 1;
            }
            Activity::Ended { node, at } => {
                self.cut_off(node, at);
                self.found.machines.entry(node).or_default().ended = Some(at);
                self.end_task(node, at);
                // If it starts again, it has been down until then, and its first call begins there.
                self.last.remove(&node);
                self.down.entry(node).or_insert(at);
                self.ends.insert(node, Sender { node, at, event: self.events });
            }
            Activity::WaitBegins { node, at, awaited } => {
                self.open.insert(self.running, OpenWait { node, since: at, awaited });
            }
            Activity::Wait { node, since, until, awaited } => {
                self.open.remove(&self.running);
                self.wait(self.running, until, OpenWait { node, since, awaited });
            }
            Activity::Io { node, at, channel, is_write, bytes } => self.io(node, at, channel, is_write, bytes),
            Activity::Datagram { node, at, step } => self.datagram(node, at, step),
        }
    }

    fn datagram(&mut self, node: NodeId, at: Instant, step: DatagramStep) {
        let kept = &mut self.found.datagrams;
        match step {
            DatagramStep::Sent { .. } if kept.len() == EVENTS_MAX => self.found.left_out += 1,
            DatagramStep::Sent { number, to, bytes, copies, is_late } => {
                if copies > 0 {
                    self.on_their_way.insert(number, kept.len());
                }
                kept.push(DatagramFlow { from: node, sent: at, to, bytes, copies, is_late, received: Vec::new() });
            }
            DatagramStep::Received { number } => {
                let Some(datagram) = self.on_their_way.get(&number).map(|place| &mut kept[*place]) else { return };
                datagram.received.push(at);
                if datagram.received.len() == datagram.copies as usize {
                    self.on_their_way.remove(&number);
                }
            }
        }
    }

    fn turn(&mut self, node: NodeId, at: Instant, ready: Vec<NodeId>) {
        if let Some((since, until)) = self.turn.replace((at, at)) {
            self.end_turn(TurnSpan { node: self.running, task: None, since, until });
        }
        if let Some(before) = self.found.machines.get_mut(&self.running).filter(|_| self.running != node) {
            before.switches += u64::from(before.turns > 0);
        }
        for other in ready {
            self.ready.entry(other).or_insert(at);
        }
        let machine = self.found.machines.entry(node).or_default();
        machine.turns += 1;
        machine.started.get_or_insert(at);
        // After a restart it has not ended any more.
        machine.ended = None;
        if let Some(since) = self.ready.remove(&node) {
            machine.ready_ns += at.since(since).0;
        }
        if let Some(since) = self.down.remove(&node) {
            machine.down_ns += at.since(since).0;
            let (kind, what) = (WaitKind::Timer, "its restart".to_owned());
            self.span(WaitSpan { node, since, until: at, kind, what, of: None, sender: None, event: self.events });
        }
        self.last.entry(node).or_insert(at);
        self.running = node;
    }

    fn span(&mut self, span: WaitSpan) {
        match self.found.spans.len() < WAITS_MAX {
            true => self.found.spans.push(span),
            false => self.has_all_waits = false,
        }
    }

    /// A guest, or the run, ends while its call may wait.
    fn cut_off(&mut self, guest: NodeId, end: Instant) {
        let Some(wait) = self.open.remove(&guest) else { return };
        let call = end.since(self.last.get(&guest).copied().unwrap_or(wait.since)).0;
        self.found.machines.entry(guest).or_default().calls_ns += call;
        self.wait(guest, end, wait);
    }

    fn wait(&mut self, guest: NodeId, until: Instant, OpenWait { node, since, awaited }: OpenWait) {
        let ns = until.since(since).0;
        if ns == 0 {
            return;
        }
        let machine = self.found.machines.entry(guest).or_default();
        machine.waits += 1;
        machine.waited_ns += ns;
        let AwaitedEvent { kind, what, of, stream } = awaited;
        let io = match kind {
            WaitKind::Network => Some(IoKind::Connection),
            WaitKind::Pipe => Some(IoKind::Process),
            _ => None,
        };
        // What has ended the wait is what can be read first.
        let first = io.zip(stream).and_then(|key| self.unread.get(&key)?.front());
        let sender = match kind {
            WaitKind::Process => of.and_then(|of| self.ends.get(&of).copied()),
            _ => first.map(|unread| unread.sender),
        };
        let span = WaitSpan { node: guest, since, until, kind, what: what.clone(), of, sender, event: self.events };
        self.span(span);
        let mut key = WaitKey { node, kind, what, of };
        if !self.found.waits.contains_key(&key) && !self.rows.take() {
            (key.what, key.of) = (OTHERS.to_owned(), None);
        }
        self.found.waits.entry(key).or_default().add(ns, &mut self.durations);
    }

    fn io(&mut self, node: NodeId, at: Instant, channel: IoChannel, is_write: bool, bytes: u64) {
        let IoChannel { kind, name, stream } = channel;
        let mut key = (node, kind, name);
        if !self.found.io.contains_key(&key) && !self.rows.take() {
            key.2 = OTHERS.to_owned();
        }
        let cost = self.found.io.entry(key).or_default();
        match is_write {
            true => (cost.writes, cost.written_bytes) = (cost.writes + 1, cost.written_bytes + bytes),
            false => (cost.reads, cost.read_bytes) = (cost.reads + 1, cost.read_bytes + bytes),
        }
        let Some(stream) = stream.filter(|_| bytes > 0 && self.has_all_senders) else { return };
        let guest = self.running;
        if is_write {
            let sender = Sender { node: guest, at, event: self.events };
            let task = self.tasks.get(&guest).map(|(task, _)| *task);
            self.sent((kind, stream), UnreadBytes { sender, task, bytes });
            return;
        }
        let reader = self.tasks.get(&guest).map(|(task, _)| *task);
        let mut left = bytes;
        while left > 0 {
            let Some(queue) = self.unread.get_mut(&(kind, stream)) else { return };
            let Some(first) = queue.front_mut() else { return };
            let taken = left.min(first.bytes);
            let Sender { node: from, at: sent, .. } = first.sender;
            let tasks = (first.task, reader);
            (left, first.bytes) = (left - taken, first.bytes - taken);
            if first.bytes == 0 {
                queue.pop_front();
                self.unread_count -= 1;
            }
            match self.found.flows.len() < EVENTS_MAX {
                true => self.found.flows.push(MessageFlow { from, sent, to: guest, read: at, bytes: taken, tasks }),
                false => self.found.left_out += 1,
            }
        }
    }

    /// Bytes are on their way from here on.
    fn sent(&mut self, stream: (IoKind, u64), bytes: UnreadBytes) {
        if self.unread_count == UNREAD_MAX {
            self.has_all_senders = false;
            self.unread.clear();
            return;
        }
        self.unread_count += 1;
        self.unread.entry(stream).or_default().push_back(bytes);
    }

    /// What has happened in the run that ended at `end`.
    #[must_use]
    pub fn finish(mut self, run: String, end: Instant, names: &MachineNames) -> RunActivity {
        for (node, kind) in self.lines.keys().copied().collect::<Vec<_>>() {
            self.end_line(node, kind, end);
        }
        for node in self.tasks.keys().copied().collect::<Vec<_>>() {
            self.end_task(node, self.last.get(&node).copied().unwrap_or(end));
        }
        if let Some((since, until)) = self.turn.take() {
            self.end_turn(TurnSpan { node: self.running, task: None, since, until });
        }
        for guest in self.open.keys().copied().collect::<Vec<_>>() {
            self.cut_off(guest, end);
        }
        let found = &mut self.found;
        let nodes = found.machines.keys().chain(found.io.keys().map(|(node, ..)| node)).chain([&NodeId(0)]);
        found.names = nodes.map(|node| (*node, names.name(*node))).collect();
        let starts = found.machines.iter().filter_map(|(node, times)| Some((*node, times.started?))).collect();
        let is_traced = self.has_all_waits && self.has_all_senders;
        found.path = is_traced.then(|| critical_path(&found.spans, &starts, end));
        if !self.has_all_waits {
            found.remarks.push(format!("it waited more than {WAITS_MAX} times: there is no critical path"));
        }
        if !self.has_all_senders {
            let unread = "writes to streams were not read yet: there is no critical path, and no message from there on";
            found.remarks.push(format!("more than {UNREAD_MAX} {unread}"));
        }
        if self.rows.was_missed {
            let rows = "channels, waits and tasks that are told apart: the rest is counted as";
            found.remarks.push(format!("it has more than {ROWS_MAX} {rows} {OTHERS}"));
        }
        if self.durations.was_missed {
            let durations = "different durations: further ones are counted as the next shorter one, sums are exact";
            found.remarks.push(format!("its calls and waits have more than {DURATIONS_MAX} {durations}"));
        }
        (found.run, found.end) = (run, end);
        self.found
    }
}

/// A text, as far as a timeline shows it.
pub(super) fn short(text: &str) -> String {
    cut(text, TEXT_BYTES_MAX)
}

impl RunActivity {
    /// Machines in the order of their numbers.
    pub(crate) fn machines(&self) -> Vec<NodeId> {
        self.names.keys().copied().collect()
    }

    /// The name of a machine.
    #[must_use]
    pub fn name(&self, node: NodeId) -> String {
        self.names.get(&node).cloned().unwrap_or_else(|| node.to_string())
    }
}

/// Whether a call was answered by the end of its machine, which starts again.
fn is_outage(answer: &str) -> bool {
    answer.contains("the machine loses power, for") || answer.contains("the program is killed, and starts again")
}

#[cfg(test)]
mod tests {
    use super::super::critical_path::PathPart;
    use super::*;

    fn written(collector: &mut ActivityCollector, kind: IoKind, name: String, stream: Option<u64>) {
        let channel = IoChannel { kind, name, stream };
        collector.activity(Activity::Io { node: NodeId(0), at: Instant(1), channel, is_write: true, bytes: 3 });
    }

    fn finished(collector: ActivityCollector) -> RunActivity {
        collector.finish("a".to_owned(), Instant(10), &MachineNames::default())
    }

    #[test]
    fn what_is_too_much_to_be_told_apart_is_counted_together() {
        let mut collector = ActivityCollector::within(3, 2);
        for number in 0..100 {
            written(&mut collector, IoKind::File, format!("/{number}"), None);
        }
        for ns in 1..=100 {
            let awaited = AwaitedEvent { kind: WaitKind::Timer, what: format!("{ns}"), of: None, stream: None };
            let (since, until) = (Instant(0), Instant(ns));
            collector.activity(Activity::Wait { node: NodeId(0), since, until, awaited });
        }
        collector.activity(Activity::Task { node: NodeId(0), task: 7 });
        let found = finished(collector);
        assert_eq!(found.io.len(), 4, "{:?}", found.io);
        let others = &found.io[&(NodeId(0), IoKind::File, OTHERS.to_owned())];
        assert_eq!((others.writes, others.written_bytes), (97, 291));
        let (key, durations) = found.waits.first_key_value().expect("it waited");
        assert_eq!((found.waits.len(), key.what.as_str()), (1, OTHERS));
        assert_eq!((durations.count, durations.total_ns, durations.counts.len()), (100, 5050, 3));
        assert_eq!(found.machines[&NodeId(0)].tasks, BTreeMap::from([(OTHER_TASKS, 1)]));
        assert_eq!(found.remarks.len(), 2, "{:?}", found.remarks);
    }

    #[test]
    fn a_machine_that_ends_and_starts_again_was_down_between() {
        let mut collector = ActivityCollector::new();
        let node = NodeId(0);
        let call = |at| HistoryEntry {
            index: at,
            at: Instant(at),
            node,
            call: "poll".to_owned(),
            asked: String::new(),
            answer: String::new(),
            decision: false,
        };
        for life in 0..3 {
            let begin = life * 1_500;
            collector.activity(Activity::Turn { node, at: Instant(begin), ready: Vec::new() });
            collector.call(call(begin + 500));
            collector.activity(Activity::Ended { node, at: Instant(begin + 500) });
        }
        let found = collector.finish("a".to_owned(), Instant(3_500), &MachineNames::default());
        let path = found.path.as_ref().expect("it has one");
        let restarts = path.sums[&PathPart::Waits(node, WaitKind::Timer, "its restart".to_owned())];
        assert_eq!((path.total_ns(), restarts), (3_500, (2_000, 2)), "{path:?}");
        let machine = &found.machines[&node];
        assert_eq!((machine.down_ns, machine.calls_ns, machine.ended), (2_000, 1_500, Some(Instant(3_500))));
        assert_eq!(found.calls["poll"].durations.total_ns, 1_500);
    }

    #[test]
    fn a_machine_that_waits_at_the_end_of_the_run_has_waited_until_then() {
        let mut collector = ActivityCollector::new();
        let turn = |node, at| Activity::Turn { node: NodeId(node), at: Instant(at), ready: Vec::new() };
        let awaited = |kind| AwaitedEvent { kind, what: "it".to_owned(), of: None, stream: None };
        let begins = |node, at| Activity::WaitBegins {
            node: NodeId(node),
            at: Instant(at),
            awaited: awaited(WaitKind::Network),
        };
        let timer = |node, since, until| Activity::Wait {
            node: NodeId(node),
            since: Instant(since),
            until: Instant(until),
            awaited: awaited(WaitKind::Timer),
        };
        collector.activity(turn(0, 0));
        collector.activity(begins(0, 0));
        collector.activity(turn(1, 0));
        collector.activity(begins(1, 0));
        collector.activity(turn(1, 2));
        collector.activity(timer(1, 0, 2));
        collector.activity(begins(1, 3));
        collector.activity(turn(2, 3));
        collector.activity(begins(2, 3));
        collector.activity(turn(0, 10));
        collector.activity(timer(0, 0, 10));
        // The third is killed, the run ends while the second one waits.
        collector.activity(Activity::Ended { node: NodeId(2), at: Instant(7) });
        let found = finished(collector);
        let waited = |node| (found.machines[&NodeId(node)].waits, found.machines[&NodeId(node)].waited_ns);
        assert_eq!([waited(0), waited(1), waited(2)], [(1, 10), (2, 9), (1, 4)]);
        let key = WaitKey { node: NodeId(1), kind: WaitKind::Network, what: "it".to_owned(), of: None };
        assert_eq!((found.waits[&key].total_ns, found.spans.len()), (7, 4));
    }

    #[test]
    fn a_run_with_too_many_writes_that_nobody_reads_has_no_critical_path_and_says_so() {
        let mut collector = ActivityCollector::new();
        for _ in 0..=UNREAD_MAX {
            written(&mut collector, IoKind::Connection, "it".to_owned(), Some(1));
        }
        let found = finished(collector);
        assert!(found.path.is_none() && found.remarks[0].contains("there is no critical path"), "{:?}", found.remarks);
        assert_eq!(finished(ActivityCollector::new()).path.map(|path| path.total_ns()), Some(10));
    }
}
