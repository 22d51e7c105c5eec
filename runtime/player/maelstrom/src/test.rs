//! A test: its steps, and the loop in which messages come and go.

use crate::body::MessageBody;
use crate::client::{Client, NodeRequest, RequestPurpose};
use crate::fail;
use crate::generator::{Generator, Input, exact_words, words};
use crate::log::COMMIT_OK;
use crate::nemesis::{self, Nemesis};
use crate::network::{MessageNetwork, NodeMessage, is_client};
use crate::protocol::{PrintedMessage, ReplyShape, ValueShape, error_code, json_text, shown};
use crate::services::{Services, is_service};
use crate::topology::neighbours;
use crate::wire::{Heard, NodeWire};
use crate::workload::{ASSIGN, OperationRow, POLL, Workload};
use fozzy_scenario_file::{MaelstromGoal, MaelstromOptions, MaelstromWorkload, NemesisKind};
use fozzy_sdk::bindings::stateful::exports::fozzy::scenario::stateful::{Flow, Info, Skip, StepResult};
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use fozzy_sdk::tools;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;
/// How long a client waits for an answer.
const REQUEST_TIMEOUT: u64 = 5_000_000_000;
/// How long a node may take to answer `init`.
const INIT_TIMEOUT: u64 = 10_000_000_000;
/// How long nodes have to recover before the final operations.
const RECOVERY: u64 = 10_000_000_000;
/// How long clients of logs read them at the end, and how often, at most.
const FINAL_POLLS: u64 = 10_000_000_000;
const FINAL_POLLS_MAX: u32 = 1_000;

static INIT_OK: ReplyShape = ReplyShape { kind: "init_ok", keys: &[] };
/// An answer that says that something went wrong.
static ERROR: ReplyShape = ReplyShape { kind: "error", keys: &[("code", ValueShape::Integer)] };
static TOPOLOGY_OK: ReplyShape = ReplyShape { kind: "topology_ok", keys: &[] };

/// Bytes of a line at the most; a longer one comes in parts, unless it is written at once.
const LINE_BYTES_MAX: usize = 1 << 20;
/// Bytes of a value that a history keeps, as it writes them; and of a reply, whose texts may have six bytes for one of these.
const VALUE_BYTES_MAX: usize = 1 << 20;
const REPLY_BYTES_MAX: usize = 8 << 20;

/// Lines that a node may print within a second of virtual time: hundreds of clients, each of whose operations all nodes tell each other, need
/// fewer.
const LINES_A_SECOND_MAX: u32 = 50_000;

/// The checker that measures stable latencies, and can hold them to bounds.
const BOUNDED: &str = "set-full";

/// What a test without operations and faults does.
const WAIT: &str = "wait";

/// How histories mark the operations at the end.
const FINAL: &str = " :final? true";
/// The same of assignments, after which all is polled again.
const FROM_START: &str = " :final? true :seek-to-beginning? true";

/// The flows of a test: its operations, and what goes wrong.
pub fn describe(options: &MaelstromOptions) -> Info {
    let flow = |(name, weight): (&str, u32)| Flow { name: name.to_owned(), weight: weight.max(1), max_times: None };
    Info {
        name: options.workload.word().to_owned(),
        flows: flows(options).into_iter().map(flow).collect(),
        invariants: Vec::new(),
    }
}

/// Names and weights; the weight is 0 without operations. Behind the operations, each kind of fault has its beginning and its end.
fn flows(options: &MaelstromOptions) -> Vec<(&'static str, u32)> {
    let operations = Workload::of(options.workload).operations;
    let all: u32 = operations.iter().map(|row| row.weight).sum();
    let rate = |row: &OperationRow| options.rate * f64::from(row.weight) / f64::from(all);
    let operation = |row: &OperationRow| (row.name, MaelstromOptions::operation_weight(rate(row)));
    let mut flows: Vec<(&str, u32)> = operations.iter().map(operation).collect();
    if options.is_idle() {
        flows.push((WAIT, 1));
    }
    let fault = options.fault_weight();
    flows.extend(
        fault_flows(options).into_iter().map(|(kind, is_end)| (nemesis::names(kind)[usize::from(is_end)], fault)),
    );
    flows
}

/// The kinds of faults, each with its beginning and its end if it has one, in the order of their flows.
fn fault_flows(options: &MaelstromOptions) -> Vec<(NemesisKind, bool)> {
    let of = |kind: &NemesisKind| (0..nemesis::names(*kind).len()).map(|place| (*kind, place == 1)).collect::<Vec<_>>();
    options.nemesis.iter().flat_map(of).collect()
}

/// A test on its way.
pub struct Test {
    options: MaelstromOptions,
    workload: &'static Workload,
    flows: Vec<(&'static str, u32)>,
    /// Those of the flows that are faults: the kind, and whether it ends.
    faults: Vec<(NemesisKind, bool)>,
    wire: NodeWire,
    network: MessageNetwork,
    services: Services,
    nemesis: Nemesis,
    /// Those that do operations, and behind them those that set up nodes that were started again.
    clients: Vec<Client>,
    /// By name, which client.
    names: BTreeMap<String, usize>,
    /// The number of the next client, as names have it.
    next_client: usize,
    generator: Generator,
    /// When operations begin, and when the last one may.
    start: u64,
    limit: u64,
    /// Lines that nodes have printed within this second.
    heard: (u64, BTreeMap<String, u32>),
    /// When the first request was due of those that were open when time passed last.
    expires: u64,
    /// Operations that were begun, and that succeeded.
    begun: u64,
    succeeded: u64,
}

impl Test {
    pub fn new(options: MaelstromOptions) -> Test {
        Test {
            workload: Workload::of(options.workload),
            flows: flows(&options),
            faults: fault_flows(&options),
            wire: NodeWire::new(),
            network: MessageNetwork::new(&options),
            services: Services::default(),
            nemesis: Nemesis::default(),
            clients: Vec::new(),
            names: BTreeMap::new(),
            next_client: 0,
            generator: Generator::new(&options),
            start: 0,
            limit: 0,
            heard: (0, BTreeMap::new()),
            expires: 0,
            begun: 0,
            succeeded: 0,
            options,
        }
    }

    /// Sets the nodes up.
    pub fn begin(&mut self) {
        let goals = self.goals();
        let bounds = goals.iter().filter_map(MaelstromGoal::latency_bound).collect::<Vec<_>>().join(",");
        for (checker, model) in self.workload.checkers {
            let is_bounded = *checker == BOUNDED && !bounds.is_empty();
            tools::check_history(checker, if is_bounded { &bounds } else { model });
        }
        for model in self.options.consistency_models.iter().filter(|_| self.workload.is_transactional) {
            tools::check_history("isolation", model);
        }
        let nodes = self.options.nodes.clone();
        for (number, node) in nodes.iter().enumerate() {
            self.open(number as u32, node.clone());
            let init = json!({"type": "init", "node_id": node, "node_ids": nodes});
            self.set_up(number, init, &INIT_OK, INIT_TIMEOUT);
        }
        self.settle();
        if self.workload.has_topology {
            let topology = json!({"type": "topology", "topology": neighbours(&nodes, self.options.topology)});
            for number in 0..nodes.len() {
                self.set_up(number, topology.clone(), &TOPOLOGY_OK, REQUEST_TIMEOUT);
            }
            self.settle();
        }
        self.clients.clear();
        self.names.clear();
        for process in 0..self.options.concurrency {
            self.open(process, nodes[process as usize % nodes.len()].clone());
        }
        self.start = self.wire.now();
        self.limit = self.start.saturating_add((self.options.time_limit * SECOND) as u64);
    }

    /// One operation, or one thing that goes wrong or is repaired, at a moment of the stretch of time that the number of the step has.
    pub fn step(&mut self, step: u32) -> StepResult {
        if self.options.is_idle() {
            self.run(self.limit, |_| false);
            return StepResult::Ran(self.flows.len() as u32 - 1);
        }
        let stretch = SECOND / self.options.step_rate();
        let begin = self.start.saturating_add((stretch * f64::from(step)) as u64);
        let end = self.start.saturating_add((stretch * (f64::from(step) + 1.0)) as u64).min(self.limit);
        let last = i64::try_from(end.saturating_sub(begin).saturating_sub(1)).unwrap_or(i64::MAX);
        let at = begin.saturating_add(draws::int("moment", 0, last).unsigned_abs());
        self.run(at, |_| false);
        let weights = (0..self.flows.len()).map(|flow| match self.fault(flow) {
            Some((kind, is_end)) if self.nemesis.is_active(kind) != is_end => 0,
            _ => self.flows[flow].1,
        });
        let weights: Vec<u32> = weights.collect();
        let flow = draws::weighted("flow", &weights);
        match self.fault(flow as usize) {
            None => return self.operate(flow, end),
            Some((kind, false)) => self.begin_fault(kind),
            Some((kind, true)) => self.end_fault(kind),
        }
        StepResult::Ran(flow)
    }

    /// The kind of fault that a flow begins or ends.
    fn fault(&self, flow: usize) -> Option<(NemesisKind, bool)> {
        Some(self.faults[flow.checked_sub(self.workload.operations.len())?])
    }

    fn begin_fault(&mut self, kind: NemesisKind) {
        let (now, nodes) = (self.wire.now(), self.options.nemesis_nodes());
        let words = self.nemesis.begin(kind, now, nodes, &mut self.network, &mut self.wire);
        let is_damage = NemesisKind::OF_FILES.contains(&kind);
        if !is_damage {
            tools::event(nemesis::names(kind)[0], &words);
        }
        // Programs that were killed are gone before anything else happens, and it is known what was damaged.
        self.run(u64::MAX, |test| !test.wire.has_open_orders());
        if is_damage {
            tools::event(nemesis::names(kind)[0], self.wire.damaged());
        }
        // Who is gone answers no `init`.
        let Test { clients, network, options, .. } = self;
        let starters = clients.iter_mut().skip(options.concurrency as usize);
        starters.filter(|client| network.down.contains(&client.node)).for_each(|client| client.request = None);
    }

    fn end_fault(&mut self, kind: NemesisKind) {
        let now = self.wire.now();
        let started = self.nemesis.end(kind, now, &mut self.network, &mut self.wire);
        tools::event(nemesis::names(kind)[1], "");
        started.iter().for_each(|node| self.start_again(now, node));
        // Who stood still has the whole time.
        for at in self.workers().end..self.clients.len() {
            self.renew(at, now);
        }
    }

    /// Sets a node up whose program has started again: as in Maelstrom, it gets `init`, and nothing else. It is the first thing that it reads.
    fn start_again(&mut self, now: u64, node: &str) {
        let known = (self.workers().end..self.clients.len()).find(|at| self.clients[*at].node == node);
        let at = known.unwrap_or(self.clients.len());
        let name = self.new_name();
        match known {
            Some(at) => {
                self.names.remove(&self.clients[at].name);
                self.clients[at].rename(name.clone());
            }
            None => self.clients.push(Client::new(name.clone(), 0, node.to_owned())),
        }
        self.names.insert(name, at);
        let init = json!({"type": "init", "node_id": node, "node_ids": self.options.nodes});
        let (msg_id, body) = self.clients[at].number(object(init));
        let client = &mut self.clients[at];
        let message = self.network.hand_over(now, &client.name, node, body.clone());
        self.wire.send(node, &message);
        let (due, purpose) = (now.saturating_add(INIT_TIMEOUT), RequestPurpose::SetUpAgain(&INIT_OK));
        client.begin(NodeRequest { message: message.id, msg_id, body, due, purpose });
    }

    /// Has a node that was started again have its whole time for `init` from now on, if it is still to answer.
    fn renew(&mut self, at: usize, now: u64) {
        if let Some(request) = &mut self.clients[at].request {
            request.due = now.saturating_add(INIT_TIMEOUT);
        }
    }

    /// The clients that do operations.
    fn workers(&self) -> Range<usize> {
        0..self.clients.len().min(self.options.concurrency as usize)
    }

    /// A client that is free begins an operation, or the first one that is until the stretch of the step is over.
    fn operate(&mut self, flow: u32, end: u64) -> StepResult {
        let input = self.workload.operations[flow as usize].input;
        if input == Input::Crash {
            return self.crash(flow);
        }
        let is_free = |test: &Test, at: usize| test.clients[at].is_free() && test.generator.does(at, input);
        self.run(end, |test| test.workers().any(|at| is_free(test, at)));
        let free: Vec<usize> = self.workers().filter(|at| is_free(self, *at)).collect();
        if free.is_empty() {
            return skipped("no client is free");
        }
        let client = if free.len() > 1 { free[draws::choose("client", free.len() as u64) as usize] } else { free[0] };
        self.invoke(client, flow as usize, "");
        StepResult::Ran(flow)
    }

    /// A client forgets where it was, and another one goes on in its place.
    fn crash(&mut self, flow: u32) -> StepResult {
        let free: Vec<usize> = self.workers().filter(|at| self.clients[*at].is_free()).collect();
        if free.is_empty() {
            return skipped("no client is free");
        }
        let at = free[draws::choose("client", free.len() as u64) as usize];
        tools::invoke(self.clients[at].process, self.workload.operations[flow as usize].name, "").info("crashed");
        self.retire(at);
        StepResult::Ran(flow)
    }

    /// What is open comes to its end, nodes recover, and each client does what is done at the end.
    pub fn end(&mut self) {
        self.run(self.limit, |_| false);
        self.finish();
        for kind in self.options.nemesis.clone() {
            if self.nemesis.is_active(kind) {
                self.end_fault(kind);
            }
        }
        self.finish();
        if self.workload.is_log {
            self.run(self.wire.now().saturating_add(RECOVERY), |_| false);
            self.poll_all();
        }
        if let Some(operation) = self.workload.final_operation {
            self.run(self.wire.now().saturating_add(RECOVERY), |_| false);
            for client in self.workers() {
                self.invoke(client, operation, FINAL);
            }
            self.finish();
        }
        let net = self.network.report(self.begun);
        eprintln!("{}", json!({"net": &net, "invoked": self.begun, "ok": self.succeeded}));
        self.check_availability();
        self.check_goals(net["servers"]["msgs-per-op"].as_f64().unwrap_or_default());
    }

    /// Each client reads all logs from their beginnings, while something comes.
    fn poll_all(&mut self) {
        let until = self.wire.now().saturating_add(FINAL_POLLS);
        for client in self.workers() {
            self.invoke(client, ASSIGN, FROM_START);
        }
        self.finish();
        for _ in 0..FINAL_POLLS_MAX {
            let reading: Vec<usize> = self.workers().filter(|at| self.clients[*at].log.has_more).collect();
            if reading.is_empty() || self.wire.now() >= until {
                return;
            }
            for client in reading {
                self.invoke(client, POLL, "");
            }
            self.finish();
        }
    }

    fn goals(&self) -> Vec<MaelstromGoal> {
        self.options.goals.iter().filter_map(|words| MaelstromGoal::parse(words).ok()).collect()
    }

    /// The share of operations that succeeded.
    fn share(&self) -> f64 {
        if self.begun == 0 { 1.0 } else { self.succeeded as f64 / self.begun as f64 }
    }

    /// Ends the run if it misses a goal. Bounds of latencies are the checker's.
    fn check_goals(&self, messages: f64) {
        for goal in self.goals() {
            let (measured, what) = match goal.name {
                MaelstromGoal::MESSAGES => (messages, "messages between nodes for each operation"),
                MaelstromGoal::SUCCEEDED => (self.share(), "of the operations succeeded"),
                _ => continue,
            };
            if !goal.is_met(measured) {
                let words = &goal.words;
                fail(&format!("goal {words}"), &format!("the goal {words} is missed: {measured:.4} {what}"));
            }
        }
    }

    fn check_availability(&self) {
        let Some(least) = self.options.availability else { return };
        let share = self.share();
        if share < least {
            let (succeeded, begun) = (self.succeeded, self.begun);
            fail(
                "availability",
                &format!(
                    "{succeeded} of {begun} operations succeeded, a share of {share:.4}; expected at least {least}"
                ),
            );
        }
    }

    /// Opens a client.
    fn open(&mut self, process: u32, node: String) {
        let name = self.new_name();
        self.names.insert(name.clone(), self.clients.len());
        self.clients.push(Client::new(name, process, node));
    }

    fn new_name(&mut self) -> String {
        self.next_client += 1;
        format!("c{}", self.next_client - 1)
    }

    /// Sends a request that sets a node up.
    fn set_up(&mut self, client: usize, body: Value, reply: &'static ReplyShape, timeout: u64) {
        self.request(client, object(body), timeout, RequestPurpose::SetUp(reply));
    }

    /// Waits for the answers of nodes that are set up.
    fn settle(&mut self) {
        self.run(u64::MAX, |test| test.clients.iter().all(Client::is_free));
    }

    /// Waits until no operation is open, and all nodes are set up that do not stand still: those that do answer when they go on.
    fn finish(&mut self) {
        self.run(u64::MAX, |test| {
            (0..test.clients.len()).all(|at| test.clients[at].is_free() || test.is_suspended(at))
        });
    }

    /// Whether a client sets up a node that stands still.
    fn is_suspended(&self, at: usize) -> bool {
        at >= self.workers().end && self.nemesis.is_paused(&self.clients[at].node)
    }

    /// Begins an operation.
    fn invoke(&mut self, client: usize, operation: usize, mark: &str) {
        let row = &self.workload.operations[operation];
        let process = self.clients[client].process;
        let is_final = mark.starts_with(FINAL);
        let input = match row.input {
            Input::Keys if is_final => self.generator.all_keys(),
            input => self.generator.draw(input, client, process),
        };
        let shown = if input.is_null() { String::new() } else { words(&input) };
        let name = if mark.is_empty() { Cow::from(row.name) } else { Cow::from(format!("{}{mark}", row.name)) };
        let begun = tools::invoke(process, &name, &shown);
        self.begun += 1;
        let body = match self.workload.is_log {
            true => object(self.clients[client].log.request(&input, &self.generator.keys())),
            false => row.request(&input),
        };
        self.request(client, body, self.timeout(), RequestPurpose::Operation(row, input, begun, is_final));
    }

    /// How long a client waits for an answer; a register is judged sooner when it does not wait long.
    fn timeout(&self) -> u64 {
        match self.options.workload {
            MaelstromWorkload::LinKv => self.options.latency.saturating_mul(10 * 1_000_000).max(1_000_000_000),
            _ => REQUEST_TIMEOUT,
        }
    }

    fn request(&mut self, client: usize, body: MessageBody<'_>, timeout: u64, purpose: RequestPurpose) {
        let now = self.wire.now();
        let client = &mut self.clients[client];
        let (msg_id, body) = client.number(body);
        let message = self.network.send(now, &client.name, &client.node, body.clone());
        client.begin(NodeRequest { message, msg_id, body, due: now.saturating_add(timeout), purpose });
    }

    /// Lets messages come and go until a moment, or until something is so.
    fn run(&mut self, until: u64, is_over: impl Fn(&Test) -> bool) {
        loop {
            let now = self.wire.now();
            self.network.advance(now);
            self.deliver(now);
            self.expire(now);
            if is_over(self) || now >= until {
                return;
            }
            let requests = self.clients.iter().filter_map(|client| Some(client.request.as_ref()?.due));
            self.expires = requests.min().unwrap_or(u64::MAX);
            let next = self.network.next_due().map_or(until, |due| due.min(until)).min(self.expires);
            self.wire.wait(next).each(|heard| match heard {
                Heard::Line(node, line) => self.hear(node, line),
                // One that is cut off may end within a character.
                Heard::Garbled(node, line) if line.len() >= LINE_BYTES_MAX => self.hear(node, line),
                Heard::Garbled(node, line) => refuse(node, line, "it is not UTF-8"),
                // The engine reports the end of a program that must not end.
                Heard::Gone(node) => self.wire.note_end(node),
                Heard::Damaged(words) => self.wire.note_damage(words.to_owned()),
            });
        }
    }

    /// A node has printed a line.
    fn hear(&mut self, node: &str, line: &str) {
        self.count_line(node);
        let message: PrintedMessage<'_> = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(_) if line.len() >= LINE_BYTES_MAX => refuse(node, line, "it is longer than 1 MiB"),
            Err(why) => refuse(node, line, &why.to_string()),
        };
        if !message.body.get().starts_with('{') {
            refuse(node, line, "`body` is not an object");
        }
        if message.src != node {
            refuse(node, line, &format!("`src` is not {node}, the node that has printed it"));
        }
        let now = self.wire.now();
        let is_known = is_client(&message.dest)
            || self.names.contains_key(&*message.dest)
            || is_service(&message.dest)
            || self.options.nodes.iter().any(|name| *name == message.dest);
        if !is_known {
            return self.answer_for_nobody(node, &message);
        }
        self.network.send(now, &message.src, &message.dest, message.body.get().to_owned());
    }

    /// Counts a line of a node, which ends the run if it is one of too many within a second.
    fn count_line(&mut self, node: &str) {
        let second = self.wire.now() / SECOND as u64;
        if self.heard.0 != second {
            self.heard = (second, BTreeMap::new());
        }
        let Some(lines) = self.heard.1.get_mut(node) else {
            self.heard.1.insert(node.to_owned(), 1);
            return;
        };
        *lines += 1;
        if *lines > LINES_A_SECOND_MAX {
            fail("a node floods the network", &format!("{node} has printed {lines} messages within a second"));
        }
    }

    /// Nobody has the name that a message is for: who expects an answer gets an error.
    fn answer_for_nobody(&mut self, node: &str, message: &PrintedMessage<'_>) {
        let body: Value = serde_json::from_str(message.body.get()).unwrap_or_default();
        let Some(msg_id) = body.get("msg_id") else { return };
        let text = format!("there is no node {}", message.dest);
        let body = json!({"type": "error", "code": 1, "text": text, "in_reply_to": msg_id});
        let answer = NodeMessage {
            id: 0,
            src: message.dest.to_string(),
            dest: node.to_owned(),
            body: json_text(&body),
            waited_for: None,
        };
        self.wire.send(node, &answer);
    }

    /// Delivers what is due.
    fn deliver(&mut self, now: u64) {
        while let Some(message) = self.network.receive(now) {
            if is_client(&message.dest) {
                self.answer(&message);
            } else if is_service(&message.dest) {
                self.serve(now, &message);
            } else {
                self.wire.send(&message.dest, &message);
            }
        }
    }

    /// A service answers a request.
    fn serve(&mut self, now: u64, message: &NodeMessage) {
        let Ok(Value::Object(request)) = serde_json::from_str(&message.body) else { return };
        let mut answer = self.services.answer(&message.dest, &message.src, &request);
        answer["in_reply_to"] = request.get("msg_id").cloned().unwrap_or_default();
        self.network.send(now, &message.dest, &message.src, json_text(&answer));
    }

    /// A client gets an answer. Those to requests that are over are counted; those to clients that have gone on are dropped.
    fn answer(&mut self, message: &NodeMessage) {
        let Some(at) = self.names.get(&message.dest).copied() else { return };
        let Some(msg_id) = self.clients[at].request.as_ref().map(|request| request.msg_id) else { return };
        if message.body.len() > REPLY_BYTES_MAX {
            too_long(&self.clients[at], message.body.len());
        }
        let Ok(reply) = serde_json::from_str::<MessageBody<'_>>(&message.body) else {
            return self.clients[at].note_stray(&message.body);
        };
        let answered = reply.get("in_reply_to");
        if answered.is_some_and(|number| number.is_u64() && number.as_u64() != Some(msg_id)) {
            // It comes too late.
            return self.clients[at].note_stray(&message.body);
        }
        let Some(request) = self.clients[at].request.take() else { return };
        let unmatched = match answered {
            None => Some("`in_reply_to` is missing"),
            Some(number) => (!number.is_u64()).then_some("`in_reply_to` is not the integer of a request"),
        };
        if let Some(what) = unmatched {
            let (shape, expected) = (request.purpose.reply(), request.purpose.expected(msg_id));
            malformed((shape, &expected), &self.clients[at], &request, message, (what.to_owned(), what.to_owned()));
        }
        if reply.get("type").is_some_and(|kind| kind == "error") {
            return self.fail_request(at, request, &reply, message);
        }
        if let Some(problem) = request.purpose.problem(&reply) {
            let (shape, expected) = (request.purpose.reply(), request.purpose.expected(msg_id));
            malformed((shape, &expected), &self.clients[at], &request, message, problem);
        }
        self.complete(at, request, &reply, &message.body);
    }

    /// A request was answered as it should be.
    fn complete(&mut self, at: usize, request: NodeRequest, reply: &MessageBody<'_>, body: &str) {
        let RequestPurpose::Operation(row, input, operation, is_final) = request.purpose else { return };
        let output = match self.workload.is_log {
            true => Some(self.clients[at].log.result(&input, reply, is_final)),
            false => row.result(&input, reply),
        };
        let exact = row.output.filter(|_| self.options.workload == MaelstromWorkload::UniqueIds);
        let exact = exact.and_then(|key| exact_words(body, key));
        let answered = exact.or_else(|| output.as_ref().map(words)).unwrap_or_default();
        if answered.len() > VALUE_BYTES_MAX {
            too_long(&self.clients[at], answered.len());
        }
        operation.ok(&answered);
        self.succeeded += 1;
        if row.repeats_input && output.as_ref() != Some(&input) {
            let output = output.unwrap_or_default();
            fail(
                &format!("{} answers with something else", row.name),
                &format!("{input} was sent, and {output} came back"),
            );
        }
        if let Some(commit) = self.clients[at].log.commit() {
            self.request(at, object(commit), REQUEST_TIMEOUT, RequestPurpose::Commit(&COMMIT_OK));
        }
    }

    /// A request was answered with an error.
    fn fail_request(&mut self, at: usize, request: NodeRequest, reply: &MessageBody<'_>, message: &NodeMessage) {
        let code = reply.get("code").and_then(Value::as_i64);
        let text = reply.get("text").and_then(Value::as_str).unwrap_or_default();
        let Some(code) = code else {
            let what = match reply.contains_key("code") {
                true => "`code` of the error is not an integer".to_owned(),
                false => "`code` of the error is missing".to_owned(),
            };
            let expected = ERROR.example(request.msg_id, None);
            malformed((&ERROR, &expected), &self.clients[at], &request, message, (what.clone(), what));
        };
        let error = error_code(code);
        self.unanswered(at, request, &format!("{} {text}", error.name), error.is_definite);
    }

    /// A request has failed, or has no answer in time.
    fn unanswered(&mut self, at: usize, request: NodeRequest, why: &str, is_definite: bool) {
        let client = &self.clients[at];
        let strays = if is_definite { String::new() } else { client.stray_words() };
        let why = &format!("{why}{strays}");
        let (row, operation) = match request.purpose {
            RequestPurpose::Operation(row, _, operation, _) => (row, operation),
            // What was sent or polled is known.
            RequestPurpose::Commit(_) => return,
            RequestPurpose::SetUp(reply) | RequestPurpose::SetUpAgain(reply) => {
                let node = &client.node;
                let body = shown(&request.body);
                let when = if request.purpose.is_again() { " after a restart" } else { "" };
                fail(
                    &format!("no {}{when}", reply.kind),
                    &format!("{node} does not answer {body}{when} with {}: {why}", reply.kind),
                )
            }
        };
        if self.workload.believes_errors && (is_definite || row.is_idempotent) {
            return operation.fail(why);
        }
        operation.info(why);
        // Whoever waits for that operation waits for ever: another process goes on.
        self.retire(at);
    }

    /// Another process goes on in place of a client's.
    fn retire(&mut self, at: usize) {
        self.clients[at].process += self.options.concurrency;
        if !self.workload.keeps_clients {
            let name = self.new_name();
            self.names.remove(&self.clients[at].name);
            self.names.insert(name.clone(), at);
            self.clients[at].rename(name);
        }
    }

    /// Ends requests that nobody has answered in time.
    fn expire(&mut self, now: u64) {
        // What was asked since then is due later than now. Those that set up nodes may be given more time.
        if now < self.expires && self.workers().end == self.clients.len() {
            return;
        }
        for at in 0..self.clients.len() {
            if self.is_suspended(at) {
                self.renew(at, now);
            }
            if self.clients[at].request.as_ref().is_some_and(|request| request.due <= now)
                && let Some(request) = self.clients[at].request.take()
            {
                self.unanswered(at, request, "timeout", false);
            }
        }
    }
}

fn object(body: Value) -> MessageBody<'static> {
    let Value::Object(body) = body else { unreachable!("requests are objects") };
    body.into()
}

fn skipped(why: &str) -> StepResult {
    StepResult::Skipped(Skip { flow: 0, label: why.to_owned() })
}

/// A node has printed something that is no message.
fn refuse(node: &str, line: &str, why: &str) -> ! {
    let line = shown(line);
    fail(
        "a line that is no message",
        &format!(
            "{node} printed a line that is no message: {why}\n  printed   {line}\n  expected  {{\"src\":\"{node}\",\"dest\":…,\"body\":{{\"type\":…}}}}"
        ),
    )
}

/// A node has answered with more than a history keeps.
fn too_long(client: &Client, bytes: usize) -> ! {
    let (node, name) = (&client.node, &client.name);
    fail(
        "a reply that is too long",
        &format!("{node} answers {name} with {bytes} bytes; at most {VALUE_BYTES_MAX} can be kept of a value"),
    )
}

/// A node has answered with something else than a reply of this kind, which looks so.
fn malformed(
    (shape, expected): (&ReplyShape, &str),
    client: &Client,
    request: &NodeRequest,
    reply: &NodeMessage,
    (what, found): (String, String),
) -> ! {
    let when = if request.purpose.is_again() { " after a restart" } else { "" };
    let (node, name) = (&client.node, &client.name);
    let (asked, body) = (shown(&request.body), shown(&reply.body));
    let (sent, answered) = (request.message, reply.id);
    fail(
        &format!("malformed {}{when}: {what}", shape.kind),
        &format!(
            "{node} answers {name}{when} with a malformed {}: {found}\n  request   message {sent}: {asked}\n  reply     message {answered}: {body}\n  expected  {expected}",
            shape.kind
        ),
    )
}
