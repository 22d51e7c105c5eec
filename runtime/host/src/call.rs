//! The one path that every call of a guest takes.
//!
//! ```text
//! budget left?  ──▶  body(world, source)  ──▶  fold + keep in the history  ──▶  answer
//!      │ no                │ Stop  ▲ │ has to wait
//!      └──────────┬────────┘       └─┘ the other guests run
//!                 ▼
//!        the guest ends here (exit, hang, budget, misuse)
//! ```
//!
//! Invariant: a call is recorded exactly once, when it is answered, also when that ends the guest.
//! Not here: what the guests of a run share (`run`).

use crate::outgoing_call::TargetHost;
use crate::preview1::GuestMemory;
use crate::run::RunGuard;
use crate::stepping::SteppedCall;
use fozzy_trace::facts::{FailureKind, HeldPart, Refusal, ReportedFailure};
use fozzy_trace::plan::Edition;
use fozzy_trace::source::Override;
use fozzy_trace::{
    Activity, Aside, AwaitedEvent, BackendRequest, DecisionPart, Duration, HarnessError, IoChannel, NodeId,
    Observation, Purpose, Question, Record, WaitKind, digest,
};
use fozzy_world::channel::{UNREAD_BYTES_MAX, WRITE_BYTES};
use fozzy_world::dialogue::UnreadInput;
use fozzy_world::machine_order::Doom;
use fozzy_world::{Deadlock, Node, OpContext, OutputKind, Stdin, TableError, Wait, World};
use std::fmt;
use std::sync::Arc;

/// Cost of one host call in the instruction budget; each byte that it moves costs one more. A
/// guest that only calls would otherwise use real time without using fuel. Host work is bounded by the
/// whole budget, beside the guest's own instructions.
pub const HOST_CALL_FUEL: u64 = 100;

/// The site of the failure of a program that writes more than it may.
const OUTPUT_LIMIT: &str = "the limit of output";
/// The property that a machine breaks which writes what another one does not read.
const UNREAD_INPUT: &str = "the limit of unread input";

/// One imported function, by its name in WIT without version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Import {
    pub(crate) name: &'static str,
    id: u32,
}

impl Import {
    /// The number of an import is derived from its name (FNV-1a), so that adding one changes no other.
    pub(crate) const fn new(name: &'static str) -> Import {
        Import { name, id: Import::number(name) }
    }

    /// The number.
    pub(crate) const fn id(self) -> u32 {
        self.id
    }

    /// See [`Import::new`].
    pub(crate) const fn number(name: &str) -> u32 {
        let bytes = name.as_bytes();
        let mut id = 0x811C_9DC5_u32;
        let mut i = 0;
        while i < bytes.len() {
            id = (id ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
            i += 1;
        }
        id
    }
}

/// Why a host call ended the execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuestStop {
    /// The guest asked to end with this code.
    Exit {
        /// The whole code; a component's is below 256.
        code: u32,
    },
    /// Deadlock: every guest waits, and nothing can wake one.
    Hang(Deadlock),
    /// A replay asked the real computer for something else than was recorded.
    Diverged {
        /// What was recorded; `None` when the recording has no more.
        recorded: Option<Box<Observation>>,
        /// What was asked.
        asked: Box<BackendRequest>,
    },
    /// The machine lost power at this call, and starts again after a while.
    PowerLoss {
        /// Virtual time from the loss to the start.
        up_after: Duration,
    },
    /// The guest was killed by a planned fault; it starts again after a while, if that is given.
    Killed {
        /// Virtual time from the end to the start.
        up_after: Option<Duration>,
    },
    /// The guest judges itself, and has failed.
    Failed(Box<ReportedFailure>),
    /// The component that the guest called has ended, and the guest does not outlive that.
    CalledEnded,
    /// The program of another machine came to an end that the plan does not allow, and the time that is left to the others is over.
    PeerEnded {
        /// The machine.
        node: Arc<str>,
    },
    /// The run has reached the moment that was asked for.
    Looked,
    /// The execution is thrown away.
    Interrupted,
    /// Virtual time went past its bound.
    TimeExhausted,
    /// The guest called the host more often than its instruction budget allows.
    FuelExhausted,
    /// The real machine could not give what the plan promised: no outcome of the guest.
    Machine {
        /// One sentence.
        what: String,
    },
    /// The guest used an import against its contract, which WASI answers with a trap.
    Misuse {
        /// The import.
        import: &'static str,
        /// What was wrong.
        what: String,
    },
}

impl GuestStop {
    /// Whether the guest ended by its own action, and was not stopped.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, GuestStop::Exit { .. } | GuestStop::Misuse { .. })
    }
}

impl fmt::Display for GuestStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GuestStop::Exit { code } => write!(f, "exit with code {code}"),
            GuestStop::Hang(blocked) => write!(f, "hang: waits for {}", blocked.waiting.join(", ")),
            GuestStop::Diverged { .. } => f.write_str("left the recording"),
            GuestStop::PowerLoss { up_after } => write!(f, "the machine loses power, for {up_after}"),
            GuestStop::Killed { up_after: None } => f.write_str("the program is killed"),
            GuestStop::Killed { up_after: Some(up_after) } => {
                write!(f, "the program is killed, and starts again after {up_after}")
            }
            GuestStop::Failed(failure) => write!(f, "failed: {}", failure.message),
            GuestStop::CalledEnded => f.write_str("the target came to its end"),
            GuestStop::PeerEnded { node } => write!(f, "the machine `{node}` came to its end"),
            GuestStop::Looked => f.write_str("stopped to be looked at"),
            GuestStop::Interrupted => write!(f, "{}", HarnessError::interruption()),
            GuestStop::TimeExhausted => f.write_str("virtual time exhausted"),
            GuestStop::FuelExhausted => f.write_str("instruction budget exhausted"),
            GuestStop::Machine { what } => f.write_str(what),
            GuestStop::Misuse { import, what } => write!(f, "{import}: {what}"),
        }
    }
}

impl std::error::Error for GuestStop {}

impl From<Deadlock> for GuestStop {
    fn from(blocked: Deadlock) -> GuestStop {
        GuestStop::Hang(blocked)
    }
}

/// Until another machine orders it to start again, or a nemesis ends.
impl From<Doom> for GuestStop {
    fn from(doom: Doom) -> GuestStop {
        let up_after = Duration(u64::MAX);
        match doom {
            Doom::Killed => GuestStop::Killed { up_after: Some(up_after) },
            Doom::PowerLoss => GuestStop::PowerLoss { up_after },
        }
    }
}

/// The result of one attempt at a call.
pub(crate) enum CallProgress<R> {
    /// This is the answer.
    Done(R),
    /// The attempt is made again once one of these is over.
    Wait(Vec<Wait>),
}

/// The log of what a guest compares.
pub trait ComparisonLog: Send + Sync {
    /// An instance of the guest was made on this thread, with the memories that were created last: the log begins.
    fn begin(&self);
    /// Reads out what was compared until now, so that the log has room. The guest waits in a call.
    fn read_out(&self);
}

/// Is told when an instance of a guest was made, on the thread on which it was.
pub trait InstanceObserver: Send + Sync {
    /// Its memories are those that were created last.
    fn instance_made(&self);
}

/// The host of one guest: its turn at the run, and which machine is its own.
pub struct Host {
    /// What all guests of the run share, while it is this guest's turn.
    pub run: RunGuard,
    /// The guest's machine.
    pub node: NodeId,
    /// Which part of the guest's run this is, for its choices.
    pub part: DecisionPart,
    /// Bounds the guest's memories.
    pub limiter: crate::MemoryLimiter,
    /// Whether the guest's handles are being rebuilt: dropping one has no meaning then.
    pub rebuilding: bool,
    /// The instances of the component whose exports the guest imports.
    pub called: Vec<Box<dyn TargetHost>>,
    /// The one that calls are of.
    pub(crate) selected: usize,
    /// The memory that functions of preview 1 reach; `None` for a guest that has none of them.
    pub memory: Option<Box<dyn GuestMemory>>,
    /// What the guest compares, if that is logged.
    pub comparisons: Option<Arc<dyn ComparisonLog>>,
    /// Whom to tell of instances, if anyone.
    pub observer: Option<Box<dyn InstanceObserver>>,
    /// Whether the guest continues when one of them ends.
    pub(crate) outlives: bool,
    /// Where the text of a call is read to, and where its numbers are: kept from call to call.
    pub(crate) text: String,
    pub(crate) numbers: Vec<u32>,
    /// The steps that the call in progress takes, if it takes several.
    pub(crate) stepped: Option<Box<SteppedCall>>,
}

/// Performs one call, as [`Host::call`] does. `$answer` may wait for the disk of its machine, and for nothing else.
macro_rules! disk_call {
    ($host:ident, $import:expr, $asked:expr, $answer:expr) => {{
        let asked = $asked;
        let outcome = match $host.begin(&asked) {
            Ok(()) => $answer,
            Err(stop) => Err(stop),
        };
        $host.end($import, &asked, outcome)
    }};
}

/// Performs one call that may have to wait: `$attempt`, which may itself wait for the disk, is made, and again after each wait.
macro_rules! patient_call {
    ($host:ident, $import:expr, $asked:expr, $attempt:expr) => {{
        let asked = $asked;
        let mut begun = $host.begin(&asked);
        if begun.is_ok() {
            begun = $host.inject_machine().await;
        }
        let outcome = loop {
            let attempt = match begun {
                Ok(()) => $attempt,
                Err(stop) => Err(stop),
            };
            match attempt {
                Ok($crate::call::CallProgress::Done(answer)) => break Ok(answer),
                Ok($crate::call::CallProgress::Wait(waits)) => begun = $host.await_one(&waits).await,
                Err(stop) => break Err(stop),
            }
        };
        $host.end($import, &asked, outcome)
    }};
}

pub(crate) use {disk_call, patient_call};

impl Host {
    /// The host of a guest on the machine `node`, which may use `memory_bytes`.
    #[must_use]
    pub fn new(run: RunGuard, node: NodeId, memory_bytes: u64) -> Host {
        let limiter = crate::MemoryLimiter::new(memory_bytes);
        let (called, part) = (Vec::new(), DecisionPart::WHOLE);
        Host {
            run,
            node,
            part,
            limiter,
            rebuilding: false,
            called,
            selected: 0,
            memory: None,
            comparisons: None,
            observer: None,
            outlives: false,
            text: String::new(),
            numbers: Vec::new(),
            stepped: None,
        }
    }

    /// The whole computer.
    #[inline]
    pub(crate) fn world(&mut self) -> &mut World {
        &mut self.run.world
    }

    /// The guest's machine.
    #[inline]
    pub(crate) fn node(&self) -> &Node {
        self.run.world.node(self.node)
    }

    /// The guest's machine, to be changed.
    #[inline]
    pub(crate) fn node_mut(&mut self) -> &mut Node {
        let node = self.node;
        self.run.world.node_mut(node)
    }

    /// An instance of the guest was made: its memories are there.
    pub fn instance_made(&self) {
        self.settle_memory();
        if let Some(comparisons) = &self.comparisons {
            comparisons.begin();
        }
        if let Some(observer) = &self.observer {
            observer.instance_made();
        }
    }

    /// The guest is given what it may compare.
    #[inline]
    pub(crate) fn before_input(&self) {
        if let Some(comparisons) = &self.comparisons {
            comparisons.read_out();
        }
    }

    /// The memories of the guest's instance are there, and may not be told any more later.
    pub fn settle_memory(&self) {
        if let Some(memory) = &self.memory {
            memory.settle();
        }
    }

    /// Performs one call: bounds it, lets `body` answer, records it.
    #[inline]
    pub(crate) fn call<A: Record, R: Record>(
        &mut self,
        import: Import,
        asked: A,
        body: impl FnOnce(&mut Host) -> Result<R, GuestStop>,
    ) -> wasmtime::Result<R> {
        let outcome = match self.begin(&asked) {
            Ok(()) => body(self),
            Err(stop) => Err(stop),
        };
        self.end(import, &asked, outcome)
    }

    /// Performs one call that may have to wait: `attempt` is made, and again after each wait.
    pub(crate) async fn call_waiting<A: Record, R: Record>(
        &mut self,
        import: Import,
        asked: A,
        mut attempt: impl FnMut(&mut Host) -> Result<CallProgress<R>, GuestStop>,
    ) -> wasmtime::Result<R> {
        patient_call!(self, import, asked, attempt(self))
    }

    #[inline]
    pub(crate) fn begin(&mut self, asked: &dyn Record) -> Result<(), GuestStop> {
        if self.run.is_looked_at() {
            return Err(GuestStop::Looked);
        }
        if let Some(node) = self.run.over() {
            return Err(GuestStop::PeerEnded { node });
        }
        self.run.work += HOST_CALL_FUEL + asked.payload_bytes();
        if self.run.work <= self.run.work_until_look { Ok(()) } else { self.run.look_for_interruption() }
    }

    #[inline]
    pub(crate) fn end<R: Record>(
        &mut self,
        import: Import,
        asked: &dyn Record,
        outcome: Result<R, GuestStop>,
    ) -> wasmtime::Result<R> {
        self.end_as(import.id, import.name, asked, outcome)
    }

    /// Ends a call of the import of that number and name.
    #[inline]
    pub(crate) fn end_as<R: Record>(
        &mut self,
        id: u32,
        name: &str,
        asked: &dyn Record,
        outcome: Result<R, GuestStop>,
    ) -> wasmtime::Result<R> {
        let outcome = match outcome {
            Ok(answer) if !self.is_overtime() => Ok(answer),
            Ok(_) => Err(self.end_of_time()),
            Err(stop) => Err(stop),
        };
        let node = self.node;
        let run = &mut *self.run;
        let at = run.world.clock.now();
        match outcome {
            Ok(answer) => {
                run.work += answer.payload_bytes();
                run.recorder.call(id, name, node, at, asked, &answer);
                Ok(answer)
            }
            // It has not happened.
            Err(stop @ (GuestStop::Looked | GuestStop::Interrupted)) => Err(wasmtime::Error::new(stop)),
            Err(stop) => {
                run.recorder.call(id, name, node, at, asked, &stop.to_string());
                Err(wasmtime::Error::new(stop))
            }
        }
    }

    /// Shows something that is no call to the reader of a narrated run.
    #[inline]
    pub fn aside(&mut self, kind: Aside, what: impl FnOnce() -> (String, String)) {
        let node = self.node;
        let run = &mut *self.run;
        run.recorder.aside(kind, node, run.world.clock.now(), what);
    }

    /// Shows the flow of the step to the reader of a narrated run.
    #[inline]
    pub(crate) fn tell_flow(&mut self, flow: u32) {
        if !self.run.recorder.is_narrated() {
            return;
        }
        let flows = self.run.world.facts.scenario.as_ref().map_or(&[][..], |scenario| &scenario.flows);
        if let Some(name) = flows.get(flow as usize).map(|flow| flow.name.clone()) {
            self.aside(Aside::Flow, || (name.to_string(), String::new()));
        }
    }

    /// Counts bytes that a call moves although neither its arguments nor its answer carry them.
    pub(crate) fn moved(&mut self, bytes: u64) {
        self.run.work = self.run.work.saturating_add(bytes);
    }

    /// Asks the source for bytes; the answer belongs to the call in progress.
    #[inline]
    pub(crate) fn draw(&mut self, purpose: Purpose, site: &str, out: &mut [u8]) {
        self.before_input();
        let question = Question { node: self.node, purpose, site };
        let run = &mut *self.run;
        let origin = run.source.fill(question, out);
        run.recorder.decision(origin, || Override::Bytes(digest::hex(out)));
    }

    /// Asks the source for a number; the answer belongs to the call in progress.
    #[inline]
    pub(crate) fn below(&mut self, purpose: Purpose, site: &str, bound: u64) -> u64 {
        let question = Question { node: self.node, purpose, site };
        let run = &mut *self.run;
        let (answer, origin) = run.source.below(question, bound);
        run.recorder.decision(origin, || Override::Number(answer));
        answer
    }

    /// Tells the source of how likely the answers of the next question are.
    #[inline]
    pub(crate) fn weigh(&mut self, weights: &[u32]) {
        self.run.source.weigh(weights);
    }

    /// Lets a part of the computer do something that may ask for chance or meet a fault.
    pub(crate) fn with_context<R>(&mut self, body: impl FnOnce(&mut World, &mut OpContext<'_>) -> R) -> R {
        let node = self.node;
        self.run.with_context(node, body)
    }

    /// Stands still for a while; the other guests continue.
    pub(crate) async fn stand_still(&mut self, span: Duration) -> Result<(), GuestStop> {
        let over = self.run.world.clock.now().after(span);
        while self.run.world.clock.now() < over {
            self.await_one(&[Wait::Until(over)]).await?;
        }
        Ok(())
    }

    /// Tells an observer that a call has moved bytes through what `channel` names.
    pub(crate) fn tell_io(
        &mut self,
        is_write: bool,
        bytes: u64,
        channel: impl FnOnce(&World, NodeId) -> Option<IoChannel>,
    ) {
        if !self.run.is_told() {
            return;
        }
        let node = self.node;
        let Some(channel) = channel(&self.run.world, node) else { return };
        self.run.tell(|world| Activity::Io { node, at: world.clock.now(), channel, is_write, bytes });
    }

    /// Waits until one of `waits` is over, and tells an observer of it.
    pub(crate) async fn await_one(&mut self, waits: &[Wait]) -> Result<(), GuestStop> {
        if !self.run.is_told() {
            return self.wait_for(waits).await;
        }
        let (node, since) = (self.node, self.run.world.clock.now());
        // Afterwards, a process may be forgotten.
        let awaited: Vec<AwaitedEvent> = waits.iter().map(|wait| self.run.world.awaited(node, *wait)).collect();
        let is_timer = |awaited: &AwaitedEvent| awaited.kind == WaitKind::Timer;
        if let Some(awaited) = awaited.iter().find(|awaited| !is_timer(awaited)).or(awaited.first()).cloned() {
            self.run.tell(|_| Activity::WaitBegins { node, at: since, awaited });
        }
        let outcome = self.wait_for(waits).await;
        if self.run.unwinds {
            // It still waits, and it is the turn of nobody.
            return outcome;
        }
        let over = |wait: &Wait| !matches!(wait, Wait::Nothing) && self.run.world.is_ready(*wait);
        let ready: Vec<usize> = (0..waits.len()).filter(|at| over(&waits[*at])).collect();
        let first = ready.iter().find(|at| !is_timer(&awaited[**at])).or(ready.first()).copied().unwrap_or(0);
        if let Some(awaited) = awaited.into_iter().nth(first) {
            self.run.tell(|world| Activity::Wait { node, since, until: world.clock.now(), awaited });
        }
        outcome
    }

    /// Waits until one of `waits` is over, within the bound of virtual time.
    async fn wait_for(&mut self, waits: &[Wait]) -> Result<(), GuestStop> {
        self.run.heed_stop();
        if waits.iter().any(|wait| matches!(wait, Wait::Stdin(_))) {
            self.look_at_stdin()?;
        }
        for wait in waits {
            self.run_if_awaited(*wait)?;
        }
        if waits.iter().any(|wait| self.run.world.is_ready(*wait)) {
            return Ok(());
        }
        if self.run.is_alone() {
            let blocked = self.run.block(waits);
            if self.run.world.is_at_its_end() {
                self.node_mut().waiting = waits.to_vec();
                self.run.look();
                return Err(GuestStop::Looked);
            }
            return blocked.map_err(|blocked| self.end_of_waiting(blocked));
        }
        let waiting = &mut self.node_mut().waiting;
        waiting.clear();
        waiting.extend_from_slice(waits);
        self.settle_memory();
        self.run.pass_on().await;
        if self.run.looked.is_some() || self.run.unwinds {
            return Err(GuestStop::Looked);
        }
        // It says what this one waits for, too.
        if self.node == NodeId(0)
            && self.run.is_stalled()
            && let Some(stall) = self.run.stall()
        {
            return Err(GuestStop::Failed(Box::new(stall)));
        }
        self.node_mut().waiting.clear();
        if let Some(doom) = self.node_mut().doomed.take() {
            return Err(GuestStop::from(doom));
        }
        if let Some(blocked) = self.run.blocked.take() {
            return Err(self.end_of_waiting(blocked));
        }
        match self.run.over() {
            Some(node) => Err(GuestStop::PeerEnded { node }),
            None if self.run.is_spent() => Err(GuestStop::FuelExhausted),
            None => Ok(()),
        }
    }

    /// What everybody waits for never comes: the run hangs, unless a person stopped it meanwhile. Before [`Edition::FIFTH`] it hung.
    fn end_of_waiting(&mut self, blocked: Deadlock) -> GuestStop {
        let plan = &self.run.world.plan;
        match plan.limits.interrupted && plan.edition >= Edition::FIFTH {
            true => self.end_of_time(),
            false => GuestStop::Hang(blocked),
        }
    }

    /// Whether what `wait` waits for is there.
    pub(crate) fn is_ready(&mut self, wait: Wait) -> Result<bool, GuestStop> {
        if matches!(wait, Wait::Stdin(_)) {
            self.look_at_stdin()?;
        }
        self.run_if_awaited(wait)?;
        let world = self.world();
        world.network.advance(world.clock.now());
        world.end_overdue();
        let is_ready = world.is_ready(wait);
        if let (true, Wait::OwnClock { monotonic_ns, .. }) = (is_ready, wait) {
            self.node_mut().drift.rings(monotonic_ns);
        }
        Ok(is_ready)
    }

    /// What a guest waits for that waits for its input.
    pub(crate) fn stdin_wait(&self) -> Wait {
        Wait::Stdin(self.node)
    }

    /// The guest reads its input: it is fetched now, or when it comes is fixed.
    pub(crate) fn look_at_stdin(&mut self) -> Result<(), GuestStop> {
        if self.node == NodeId(0)
            && let Some(input) = self.run.stdin.take()
        {
            let bytes = input.get().map_err(|what| GuestStop::Machine { what })?;
            let node = self.node_mut();
            let planned = Stdin::planned(bytes, &node.machine.stdin);
            node.stdin = planned.map_err(|error| GuestStop::Machine { what: error.to_string() })?;
        }
        let Some(channel) = self.node().stdin.channel() else { return Ok(()) };
        if channel.needs_arming() {
            self.with_context(|world, context| world.arm_stdin(context));
        }
        if self.node == NodeId(0) {
            self.run.look_at_feed();
        }
        let node = self.node;
        self.world().look_at_stdin(node);
        Ok(())
    }

    /// Adds to an output, and shows it to the observer. More output than the plan allows is a failure.
    pub(crate) fn output(&mut self, kind: OutputKind, bytes: &[u8]) -> Result<(), GuestStop> {
        let node = self.node;
        let run = &mut *self.run;
        let (limit, machine) = (run.world.plan.limits.host.map(|host| host.output_bytes), run.world.node(node));
        let written = machine.stdout.total() + machine.stderr.total() + bytes.len() as u64;
        if let Some(limit) = limit.filter(|limit| written > *limit) {
            let message =
                format!("standard output and standard error have more than {limit} bytes: --output-limit allows more");
            if node != NodeId(0) {
                // What ends a machine may be allowed, and is known all the same.
                run.world.facts.refusals.note(Refusal { part: HeldPart::Output, asked: written, bound: limit });
            }
            let failure = ReportedFailure::new(FailureKind::Assertion, OUTPUT_LIMIT, &message);
            return Err(GuestStop::Failed(Box::new(failure)));
        }
        let machine = run.world.node_mut(node);
        let stream = match kind {
            OutputKind::Stdout => &mut machine.stdout,
            OutputKind::Stderr => &mut machine.stderr,
        };
        let beyond = stream.write(bytes);
        if let (Some(observer), false) = (&mut run.long_output, beyond.is_empty()) {
            observer(node, kind, stream.kept(), beyond);
        }
        if let Some(tee) = &mut run.tee {
            tee(node, kind, bytes);
        }
        if run.world.is_heard(node, kind) {
            let heard = self.with_context(|world, context| world.hear(kind, bytes, context));
            self.moved(heard.map_err(|unread| unread_input(&unread))?);
        }
        Ok(())
    }

    fn is_overtime(&self) -> bool {
        let limits = &self.run.world.plan.limits;
        let is_last = || limits.calls.is_some_and(|calls| self.run.recorder.calls() >= calls);
        limits.time.is_some_and(|limit| self.run.world.clock.now().0 > limit.0 || is_last())
    }

    /// The execution ends at the bound, not at the far deadline it jumped to.
    fn end_of_time(&mut self) -> GuestStop {
        let limit = self.run.world.plan.limits.time.expect("overtime needs a bound");
        self.run.world.clock.cut_at(fozzy_trace::Instant::START.after(limit));
        GuestStop::TimeExhausted
    }
}

/// The machine that should read what this one writes does not.
fn unread_input(unread: &UnreadInput) -> GuestStop {
    let UnreadInput { node } = unread;
    let message = format!(
        "the machine `{node}` has not read what waits in its standard input, which may be {UNREAD_BYTES_MAX} bytes, each write counted as {WRITE_BYTES} more"
    );
    GuestStop::Failed(Box::new(ReportedFailure::new(FailureKind::Assertion, UNREAD_INPUT, &message)))
}

/// A full table or a handle of another kind is the guest's doing, and a trap.
pub(crate) fn misuse(import: Import) -> impl Fn(TableError) -> GuestStop {
    move |error| GuestStop::Misuse { import: import.name, what: error.to_string() }
}
