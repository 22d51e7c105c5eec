//! The simulated computer: what guests can see of machines and of the network between them, as plain values.
//!
//! ```text
//! World ─┬─ clock      virtual time; moves when every guest waits, and by a tick for each reading
//!        ├─ nodes ─┬─ files     an in-memory disk; captured directories copied in
//!        │         ├─ stdio     standard input as a tape or a channel, output as digests with a kept beginning
//!        │         └─ table     what the guest's handles mean
//!        ├─ network    sockets and packets
//!        └─ faults     what is planned to go wrong
//! ```
//!
//! Invariants: everything is deterministic and bounded; `clone` is cheap, because a checkpoint is a
//! clone; nothing here reaches a real clock, file, process or network.
//! Not here: WIT (`fozzy-host`), who answers questions (`fozzy-trace`), wasm (`fozzy-engine`).

pub mod channel;
pub mod clock;
pub mod decide;
pub mod dialogue;
pub mod fault;
pub mod files;
pub mod glob;
pub mod http;
pub mod latency_model;
pub mod live_bounds;
mod machine_control;
pub mod machine_order;
mod nemesis_strike;
pub mod network;
pub mod node;
mod observed;
pub mod pipe;
mod power;
pub mod preview1;
pub mod process;
mod restart;
pub mod signal;
pub mod snapshots;
pub mod spans;
pub mod stdio;
pub mod table;
pub mod unmatched;
mod wait;

pub use channel::Channel;
pub use clock::Clock;
pub use decide::{Decider, FaultStrike, OpContext};
pub use dialogue::{Dialogues, StdinDelivery, StdioPeer};
pub use fault::{FaultSlot, Faults};
pub use files::Disk;
pub use http::Http;
pub use machine_order::MachineOrder;
pub use network::Network;
pub use node::{GuestExit, Node};
pub use pipe::{PipeEnd, PipeId, Pipes};
pub use preview1::{OpenFile, Preview1Descriptor, Preview1Table};
pub use process::{Pid, Processes};
pub use signal::{SignalId, Signals};
pub use spans::Spans;
pub use stdio::{OutputKind, Stdin};
pub use table::{Handle, HandleTable, TableError};
pub use unmatched::UnmatchedRequests;
pub use wait::{Deadlock, Timer, Wait};

use fozzy_trace::facts::{HeldPart, OperationEnd, Refusal};
use fozzy_trace::plan::{Edition, HealScope, HostLimits, Inputs, ProgramPlan};
use fozzy_trace::{CopyOnWrite, Digest, Duration, Facts, Instant, NodeId, Plan};
use std::sync::Arc;

/// Machines that a run may have at once, children included; one more is refused as the operating system
/// refuses a process.
pub const NODES_MAX: usize = 1_000;
/// Machines that a run may start in all: of each that has gone, its name and its place remain. One more is refused like
/// one too many at once.
pub const NODES_STARTED_MAX: usize = 100_000;

/// Rules that a target may add for the answers to its commands, and as many for those to its requests.
pub const RULES_MAX: usize = 1024;

/// Everything that the guests of one run can see.
#[derive(Debug)]
pub struct World {
    /// As planned.
    pub plan: Arc<Plan>,
    /// The bytes that the plan names.
    pub inputs: Arc<Inputs>,
    /// Virtual time.
    pub clock: Clock,
    /// The machines, by their ids. The first runs the target, and those of the plan follow: they stay. Those that were
    /// launched go with their guests.
    pub nodes: Vec<Option<CopyOnWrite<Node>>>,
    /// How many of them are there.
    pub living: usize,
    /// What connects them.
    pub network: CopyOnWrite<Network>,
    /// Events that happen once.
    pub signals: Signals,
    /// HTTP exchanges.
    pub http: Http,
    /// Processes that guests started.
    pub processes: Processes,
    /// Bytes between processes.
    pub pipes: Pipes,
    /// What is connected to standard streams.
    pub dialogues: Dialogues,
    /// What no rule answered.
    pub unmatched: UnmatchedRequests,
    /// What is planned to go wrong.
    pub faults: FaultSlot,
    /// Open files of the real computer, when it answers.
    pub live: files::LiveFiles,
    /// Guests that the engine is to start, in this order.
    pub launches: Vec<Launch>,
    /// What guests told about themselves.
    pub facts: Facts,
    /// Stretches of time that guests have begun and not ended.
    pub spans: Spans,
    /// Time does not pass beyond this moment while guests wait, so that an inspection at it shows who waits for what.
    pub until: Option<Instant>,
}

impl Clone for World {
    fn clone(&self) -> World {
        World {
            plan: self.plan.clone(),
            inputs: self.inputs.clone(),
            clock: self.clock.clone(),
            nodes: self.nodes.clone(),
            living: self.living,
            network: self.network.clone(),
            signals: self.signals.clone(),
            http: self.http.clone(),
            processes: self.processes.clone(),
            pipes: self.pipes.clone(),
            dialogues: self.dialogues.clone(),
            unmatched: self.unmatched.clone(),
            faults: self.faults.clone(),
            live: self.live.clone(),
            launches: self.launches.clone(),
            facts: self.facts.clone(),
            spans: self.spans.clone(),
            until: self.until,
        }
    }

    /// Into the allocations that are there: a search goes from one place to another all the time.
    fn clone_from(&mut self, source: &World) {
        let World {
            plan,
            inputs,
            clock,
            nodes,
            living,
            network,
            signals,
            http,
            processes,
            pipes,
            dialogues,
            unmatched,
            faults,
            live,
            launches,
            facts,
            spans,
            until,
        } = source;
        share(&mut self.plan, plan);
        share(&mut self.inputs, inputs);
        self.clock.clone_from(clock);
        self.nodes.clone_from(nodes);
        self.living = *living;
        self.network.clone_from(network);
        self.signals.clone_from(signals);
        self.http.clone_from(http);
        self.processes.clone_from(processes);
        self.pipes.clone_from(pipes);
        self.dialogues.clone_from(dialogues);
        self.unmatched.clone_from(unmatched);
        self.faults.clone_from(faults);
        self.live.clone_from(live);
        self.launches.clone_from(launches);
        self.facts.clone_from(facts);
        self.spans.clone_from(spans);
        self.until = *until;
    }
}

/// Has `own` be what `source` is. Where both are of one run they share it already, and then nothing is done: not even the count of who
/// has it changes.
fn share<T: ?Sized>(own: &mut Arc<T>, source: &Arc<T>) {
    if !Arc::ptr_eq(own, source) {
        *own = Arc::clone(source);
    }
}

/// A guest that is to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The machine that it runs on.
    pub node: NodeId,
    /// Its component; `None` is the target.
    pub component: Option<Digest>,
    /// How it is called.
    pub entry: GuestEntry,
}

/// How a guest is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestEntry {
    /// `wasi:cli/run`.
    Run,
    /// `wasi:http/incoming-handler`, with the handles of request and response-outparam in the node's table.
    Handle {
        /// The incoming request.
        request: u32,
        /// Where the response goes.
        outparam: u32,
    },
}

/// The plan cannot be made into a computer.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The plan names bytes that do not come with it.
    #[error("the plan names an input with SHA-256 {0}, which is missing")]
    MissingInput(Digest),
    /// Standard input cannot come as planned.
    #[error(transparent)]
    Stdin(#[from] channel::ChannelError),
    /// A directory of the plan does not fit the disk.
    #[error(transparent)]
    Mount(#[from] files::MountError),
    /// A directory that the plan preopens, protects or starts in is not on the disk.
    #[error("there is no directory `{path}` on the virtual disk, which the plan preopens, protects or starts in")]
    Directory {
        /// Its path.
        path: String,
    },
    /// A fault of the plan is of no kind that there is.
    #[error(transparent)]
    Fault(#[from] fault::UnknownFault),
    /// There are [`NODES_MAX`] machines, or there were [`NODES_STARTED_MAX`].
    #[error("more than {NODES_MAX} machines at once, or {NODES_STARTED_MAX} in all")]
    TooManyNodes,
}

/// The name of the machine that runs the target.
pub const MAIN: &str = "main";

impl World {
    /// The computer that `plan` describes, at time zero.
    ///
    /// # Errors
    /// When inputs are missing or a directory does not fit the disk.
    pub fn new(plan: Arc<Plan>, inputs: &Inputs) -> Result<World, WorldError> {
        let clock = Clock::new(plan.wall_start_s);
        let machines = std::iter::once(MAIN.to_owned()).chain(plan.nodes.iter().map(|node| node.name.clone()));
        let mut world = World {
            inputs: Arc::new(inputs.clone()),
            clock,
            nodes: Vec::new(),
            living: 0,
            network: CopyOnWrite::new(Network::new(&plan.network, Vec::new())),
            signals: Signals::default(),
            http: Http::default(),
            processes: Processes::new(&plan.processes),
            pipes: Pipes::default(),
            dialogues: Dialogues::of(&plan),
            unmatched: UnmatchedRequests::default(),
            faults: Faults::new(&plan.faults)?.on(machines).with_nemeses(&plan).into(),
            live: files::LiveFiles::default(),
            launches: Vec::new(),
            facts: Facts::default(),
            spans: Spans::default(),
            until: None,
            plan: Arc::clone(&plan),
        };
        world.facts.allocations.leak_budget_bytes = plan.memory.as_ref().and_then(|memory| memory.leak_budget_bytes);
        world.facts.allows_error_exit = plan.allow_error_exit;
        world.facts.interrupted = plan.limits.interrupted;
        if !plan.history.is_empty() {
            world.facts.operations.criteria = plan.history.clone();
        }
        // The target comes first in everything that has an order.
        world.start(MAIN.to_owned(), Arc::new(plan.main.clone()), None, GuestEntry::Run)?;
        for node in &plan.nodes {
            let machine = Arc::new(node.program.machine.clone());
            let id = world.start(node.name.clone(), machine, Some(node.program.component), GuestEntry::Run)?;
            if node.called {
                // It is not started: the scenario calls it, and may cut its power.
                world.launches.pop();
                world.node_mut(id).disk.track_durability(true);
            }
        }
        Ok(world)
    }

    /// One more machine, which joins during the run: a child process, a server of a rule. The engine
    /// starts its guest. A machine that is refused leaves nothing behind: no host name, no signal, no address.
    ///
    /// # Errors
    /// When inputs are missing, a directory does not fit the disk, or there are too many machines.
    pub fn launch(&mut self, name: String, program: &ProgramPlan, entry: GuestEntry) -> Result<NodeId, WorldError> {
        self.start(name, Arc::new(program.machine.clone()), Some(program.component), entry)
    }

    fn start(
        &mut self,
        name: String,
        machine: Arc<fozzy_trace::plan::MachinePlan>,
        component: Option<Digest>,
        entry: GuestEntry,
    ) -> Result<NodeId, WorldError> {
        if self.living == NODES_MAX || self.nodes.len() == NODES_STARTED_MAX {
            return Err(WorldError::TooManyNodes);
        }
        let id = NodeId(self.nodes.len() as u32);
        let wall_ns = self.clock.wall_ns();
        let end = self.signals.next();
        let mut node = Node::new(id, name.clone(), machine, &self.plan, &self.inputs, wall_ns, end)?;
        node.disk.keep_names(self.plan.names);
        // From here on nothing is refused. Names and addresses are found by the machine's number.
        assert_eq!(self.signals.create(), end, "nobody else has made a signal meanwhile");
        self.network.join(id, name);
        self.nodes.push(Some(CopyOnWrite::new(node)));
        self.living += 1;
        let is_ordered = self.plan.edition >= Edition::SEVENTH && self.plan.is_routed();
        // What strikes a machine strikes those of the plan. Others are started by calls, which have the faults.
        let may_strike = |faults: &FaultSlot| {
            !faults.is_lent() && (faults.plans(&fault::POWER_LOSS) || faults.plans_power_loss_nemesis())
        };
        if is_ordered || may_strike(&self.faults) {
            self.node_mut(id).disk.track_durability(true);
        }
        self.launches.push(Launch { node: id, component, entry });
        Ok(id)
    }

    /// The guest of `node` ended. Guests that wait for it are ready; a machine that was launched for it is removed.
    pub fn guest_ended(&mut self, node: NodeId, exit: GuestExit, context: &mut OpContext<'_>) {
        let now = self.clock.now();
        let ended = self.node_mut(node);
        ended.exit = Some(exit);
        ended.waiting.clear();
        let signal = ended.end;
        self.signals.fire(signal, now);
        self.http_guest_ended(node);
        self.process_ended(node, exit);
        self.network.close_node(node, context);
        self.output_ended(node, context);
        self.leave(node);
    }

    /// The machine `node` goes, unless it is one of the plan.
    pub(crate) fn leave(&mut self, node: NodeId) {
        if node.0 as usize > self.plan.nodes.len() {
            self.nodes[node.0 as usize] = None;
            self.living -= 1;
            self.network.leave(node);
        }
    }

    /// A machine.
    ///
    /// # Panics
    /// When it has gone: only its guest, and what acts for that, names it.
    #[inline]
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        self.nodes[id.0 as usize].as_ref().expect("the machine has not gone")
    }

    /// A machine, to be changed.
    ///
    /// # Panics
    /// When it has gone.
    #[inline]
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        self.nodes[id.0 as usize].as_mut().expect("the machine has not gone")
    }

    /// What the wall clock of a machine shows, in nanoseconds since 1970. Does not move time.
    #[must_use]
    pub fn wall_ns(&self, id: NodeId) -> u64 {
        self.node(id).drift.wall_ns(&self.clock)
    }

    /// Whether what `wait` waits for is there.
    #[must_use]
    pub fn is_ready(&self, wait: Wait) -> bool {
        match wait {
            Wait::Nothing => true,
            Wait::Until(deadline) => deadline <= self.clock.now(),
            Wait::OwnClock { .. } => self.deadline(wait).is_some_and(|deadline| deadline <= self.clock.now()),
            Wait::Stdin(node) => match &self.node(node).process {
                Some(process) => self.pipes.is_ready(process.stdin, PipeEnd::Read, self.clock.now()),
                None => self.node(node).stdin.is_ready(self.clock.now()),
            },
            Wait::Signal(signal) => self.signals.at(signal).is_some_and(|context| context <= self.clock.now()),
            Wait::Socket(readiness) => self.network.is_ready(readiness),
            Wait::Pipe(pipe, end) => self.pipes.is_ready(pipe, end, self.clock.now()),
            Wait::Process(pid) => self.processes.is_over(pid, self.clock.now()),
        }
    }

    /// Whether the guest of `node` is ready.
    #[must_use]
    pub fn can_go_on(&self, node: NodeId) -> bool {
        let node = self.acting(node);
        let machine = self.node(node);
        if machine.stands_still() || machine.doomed.is_some() {
            return machine.doomed.is_some();
        }
        machine.waiting.is_empty() || machine.waiting.iter().any(|wait| self.is_ready(*wait))
    }

    /// The machine that runs when the guest of `node` does: its own, or that of the program that it calls.
    #[must_use]
    pub fn acting(&self, node: NodeId) -> NodeId {
        self.node(node).calling.unwrap_or(node)
    }

    /// When `wait` will be over, if that is known.
    fn deadline(&self, wait: Wait) -> Option<Instant> {
        match wait {
            Wait::Until(deadline) => Some(deadline).filter(|deadline| *deadline < Instant::NEVER),
            Wait::OwnClock { node, monotonic_ns } => {
                let deadline = self.node(node).drift.deadline(monotonic_ns, self.clock.now());
                Some(deadline).filter(|deadline| *deadline < Instant::NEVER)
            }
            Wait::Signal(signal) => self.signals.at(signal),
            Wait::Pipe(pipe, end) => self.pipes.deadline(pipe, end),
            Wait::Process(pid) => self.processes.over_at(pid),
            Wait::Stdin(node) if self.node(node).process.is_none() => self.node(node).stdin.deadline(),
            Wait::Nothing | Wait::Stdin(_) | Wait::Socket(_) => None,
        }
    }

    /// What a guest waits for, in words. They are part of the history: in the first edition without names of machines.
    #[must_use]
    pub fn wait_words(&self, wait: Wait) -> String {
        match wait {
            Wait::Stdin(node) => self.stdin_words(node),
            Wait::Socket(readiness) if self.plan.edition > Edition::FIRST => self.network.peer_words(readiness),
            wait => wait.to_string(),
        }
    }

    /// What a guest waits for at this moment, in words: of standard input, what is still to come.
    #[must_use]
    pub fn present_wait_words(&self, wait: Wait) -> String {
        let Wait::Stdin(node) = wait else { return self.wait_words(wait) };
        match (self.deadline(wait), self.node(node).stdin.channel().and_then(Channel::unmet)) {
            (Some(at), _) => format!("standard input, of which more comes at {at}"),
            (None, Some(unmet)) => format!("standard input: its {unmet}, which is not written yet"),
            (None, None) => self.wait_words(wait),
        }
    }

    /// A channel may say what it waits for itself.
    fn stdin_words(&self, node: NodeId) -> String {
        let Some(channel) = self.node(node).stdin.channel() else { return Wait::Stdin(node).to_string() };
        let writer = self.dialogues.writer(node).filter(|_| self.plan.edition >= Edition::FOURTH);
        match (channel.unmet(), writer) {
            (Some(unmet), _) => format!("standard input that never comes: its {unmet}, which is never written"),
            (None, Some(writer)) => format!("standard input that never comes from `{}`", self.node(writer).name),
            (None, None) => "standard input that never comes".to_owned(),
        }
    }

    /// An operation of this number has ended, perhaps while nemeses are at work.
    pub fn note_operation_end(&mut self, number: u64) {
        if self.faults.has_nemeses()
            && let Some(operation) = self.facts.operations.all().get(number as usize)
        {
            self.faults.note_operation(&operation.operation);
        }
    }

    /// When an operation must have succeeded since faults have ended, if the plan says so, and when they end.
    #[must_use]
    pub fn progress_due(&self) -> Option<(Instant, Instant)> {
        let cluster = self.plan.cluster.as_ref()?;
        let quiet = Instant::START.after(cluster.faults_until?);
        Some((quiet, quiet.after(cluster.progress_within?)))
    }

    /// How long a fault that begins now holds up a machine, of `span`: no longer than until all machines are healed, if the plan says when.
    #[must_use]
    pub fn held_up_for(&self, span: Duration) -> Duration {
        let cluster = self.plan.cluster.as_ref().filter(|cluster| cluster.heals == HealScope::All);
        let healed = cluster.and_then(|cluster| cluster.faults_until).map(|until| Instant::START.after(until));
        let now = self.clock.now();
        healed.filter(|healed| *healed > now).map_or(span, |healed| span.min(healed.since(now)))
    }

    /// Whether an operation has succeeded since `quiet`; in a run without operations, which only ends, none has.
    #[must_use]
    pub fn has_progressed(&self, quiet: Instant) -> bool {
        let is_done = |end: &Option<(OperationEnd, u64, Instant)>| matches!(end, Some((OperationEnd::Ok(_), _, at)) if *at >= quiet);
        self.facts.operations.all().iter().rev().any(|operation| is_done(&operation.end))
    }

    /// What each machine waits for, in words; those that nobody can wait for are left out.
    #[must_use]
    pub fn who_waits(&self) -> Vec<String> {
        let nodes = self.nodes.iter().flatten().filter(|node| node.exit.is_none());
        let words = |node: &CopyOnWrite<Node>| {
            let what: Vec<String> = match node.waiting.as_slice() {
                _ if node.stands_still() => vec!["nothing: it stands still".to_owned()],
                [] => vec!["nothing: it runs".to_owned()],
                waits => waits.iter().map(|wait| self.present_wait_words(*wait)).collect(),
            };
            format!("{} waits for {}", node.name, what.join(", or "))
        };
        nodes.map(words).collect()
    }

    /// Whether time has come to the moment at which it stands still.
    #[must_use]
    pub fn is_at_its_end(&self) -> bool {
        self.until.is_some_and(|until| self.clock.now() >= until)
    }

    /// What disks had no room for, as bounds of the plan: their own, or what memories and tables have left them.
    pub fn disk_refusals(&self) -> impl Iterator<Item = Refusal> {
        let limits = &self.plan.limits;
        let refusal = |node: &Node| {
            let (asked, bound) = (node.disk.refused()?, node.disk.limits().bytes);
            Some(match limits.host.filter(|_| bound < limits.disk_bytes) {
                Some(HostLimits { total_bytes, .. }) => {
                    let beside = total_bytes.saturating_sub(bound);
                    Refusal { part: HeldPart::Total, asked: asked.saturating_add(beside), bound: total_bytes }
                }
                None => Refusal { part: HeldPart::Disk, asked, bound },
            })
        };
        self.nodes.iter().flatten().filter_map(move |node| refusal(node))
    }

    /// The next deadlines, in order: what guests wait for, and what the computer does.
    #[must_use]
    pub fn timers(&self) -> Vec<Timer> {
        let nodes = self.nodes.iter().flatten();
        let waits = nodes.flat_map(|node| node.waiting.iter().map(move |wait| (node, *wait)));
        let mut timers: Vec<Timer> = waits
            .filter_map(|(node, wait)| {
                let what = if let Wait::Stdin(_) = wait { "standard input".to_owned() } else { wait.to_string() };
                Some(Timer { at: self.deadline(wait)?, node: Some(node.id), what })
            })
            .collect();
        let machine = |at, what: &str| Timer { at, node: None, what: what.to_owned() };
        timers.extend(self.network.next_event().map(|at| machine(at, "the network")));
        timers.extend(self.processes.next_deadline().map(|at| machine(at, "the deadline of a process")));
        timers.sort_by_key(|timer| (timer.at, timer.node));
        timers
    }

    /// When the next thing happens that anybody could wait for, if anything will.
    #[must_use]
    pub fn next_moment(&self, waits: impl IntoIterator<Item = Wait>) -> Option<Instant> {
        let deadline = waits.into_iter().filter_map(|wait| self.deadline(wait)).min();
        let events = self.network.next_event().into_iter().chain(self.processes.next_deadline());
        let events = events.chain(self.faults.next_nemesis_at());
        deadline.into_iter().chain(events).min()
    }

    /// Lets virtual time pass until the next thing happens that anybody could wait for: the earliest deadline of
    /// `waits`, or an event of the network. `false` when nothing will ever happen.
    pub fn pass_time(&mut self, waits: impl IntoIterator<Item = Wait>) -> bool {
        self.pass_time_to(self.next_moment(waits))
    }

    /// Lets virtual time pass until the moment that [`World::next_moment`] has said. `false` when there is none, or the run stands still
    /// before it.
    pub fn pass_time_to(&mut self, next: Option<Instant>) -> bool {
        if let Some(until) = self.until
            && next.is_none_or(|next| next > until)
        {
            self.clock.advance_to(until);
            return false;
        }
        let Some(next) = next else { return false };
        self.clock.advance_to(next);
        self.end_overdue();
        self.network.advance(self.clock.now());
        true
    }

    /// Lets virtual time pass until one of `waits` of the only guest is over.
    ///
    /// # Errors
    /// [`Deadlock`] when that will never happen: the guest hangs.
    pub fn block(&mut self, waits: &[Wait]) -> Result<(), Deadlock> {
        self.network.advance(self.clock.now());
        self.end_overdue();
        while !waits.iter().any(|wait| self.is_ready(*wait)) {
            if !self.pass_time(waits.iter().copied()) {
                return Err(Deadlock { waiting: waits.iter().map(|wait| self.wait_words(*wait)).collect() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::{Duration, plan};

    const ME: NodeId = NodeId(0);

    fn world(stays_open: bool) -> World {
        let mut inputs = Inputs::default();
        let bytes = inputs.add(b"ab".to_vec());
        let main = plan::MachinePlan {
            stdin: plan::StdinPlan { bytes, stays_open, channel: None },
            ..plan::MachinePlan::default()
        };
        let plan = Plan { main, ..Plan::default() };
        World::new(Arc::new(plan), &inputs).expect("a plain plan")
    }

    #[test]
    fn time_jumps_to_the_earliest_deadline() {
        let mut world = world(false);
        let hour = Instant::START.after(Duration::from_millis(3_600_000));
        world.block(&[Wait::Until(Instant::NEVER), Wait::Until(hour)]).expect("a deadline");
        assert_eq!(world.clock.now(), hour);
        world.block(&[Wait::Until(Instant::START)]).expect("long over");
        assert_eq!(world.clock.now(), hour);
    }

    #[test]
    fn to_clone_into_a_computer_is_to_clone() {
        let plain = world(false);
        let mut used = world(true);
        used.signals.create();
        used.node_mut(ME).waiting = vec![Wait::Until(Instant::NEVER)];
        used.facts.states.note("state", 3).expect("a fit name");
        used.facts.scenario = Some(fozzy_trace::facts::ScenarioStats { begun: 2, ..Default::default() });
        used.launches.clear();
        used.until = Some(Instant::START);
        let mut other = used.clone();
        other.clock.advance_to(Instant::START.after(Duration::from_millis(7)));
        other.facts.states.note("state", 4).expect("a fit name");
        other.facts.interrupted = true;
        let all = [plain, used, other];
        for (from, to) in all.iter().flat_map(|from| all.iter().map(move |to| (from, to))) {
            let mut world = from.clone();
            world.clone_from(to);
            assert_eq!(format!("{world:?}"), format!("{to:?}"));
        }
    }

    #[test]
    fn nothing_to_wait_for_is_a_hang_that_says_what_is_waited_for() {
        let mut world = world(true);
        world.block(&[Wait::Stdin(ME)]).expect("two bytes are there");
        assert_eq!(world.node_mut(ME).stdin.read(9, Instant::START), b"ab");
        let blocked = world.block(&[Wait::Stdin(ME), Wait::Until(Instant::NEVER)]).expect_err("hangs");
        assert_eq!(blocked.waiting, ["standard input, which stays open and empty", "a deadline that never comes"]);
    }

    #[test]
    fn a_closed_input_is_always_ready() {
        let mut world = world(false);
        assert_eq!(world.node_mut(ME).stdin.read(1, Instant::START), b"a");
        assert_eq!(world.node_mut(ME).stdin.read(9, Instant::START), b"b");
        assert!(world.node_mut(ME).stdin.is_closed(Instant::START));
        assert!(world.is_ready(Wait::Stdin(ME)));
    }

    #[test]
    fn a_missing_input_is_an_error() {
        let missing = fozzy_trace::Digest::of(b"elsewhere");
        let stdin = plan::StdinPlan { bytes: missing, stays_open: false, channel: None };
        let plan = Plan { main: plan::MachinePlan { stdin, ..plan::MachinePlan::default() }, ..Plan::default() };
        let error = World::new(Arc::new(plan), &Inputs::default()).expect_err("no bytes");
        assert!(error.to_string().contains(&missing.to_string()));
    }
}
