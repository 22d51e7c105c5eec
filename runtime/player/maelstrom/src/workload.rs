//! Workloads: what clients ask, what they are answered, and what judges it.
//!
//! A workload is a row of data; what its operations do is the same for all.

use crate::body::MessageBody;
use crate::generator::Input;
use crate::log::{ASSIGN_OK, POLL_OK, SEND_OK};
use crate::protocol::ReplyShape;
use crate::protocol::ValueShape::{Any, Integer, Integers, List};
use fozzy_scenario_file::MaelstromWorkload;
use serde_json::{Value, json};

/// A workload.
pub struct Workload {
    pub operations: &'static [OperationRow],
    /// What is done by each client at the end, by its place among the operations.
    pub final_operation: Option<usize>,
    /// Checkers of the whole history, and their models.
    pub checkers: &'static [(&'static str, &'static str)],
    /// Whether its operations are transactions, which are held to consistency models.
    pub is_transactional: bool,
    /// Whether an error that says that nothing was done is believed; otherwise it is never known.
    pub believes_errors: bool,
    /// Whether a client stays the same after an operation whose end is not known.
    pub keeps_clients: bool,
    /// Whether nodes are told their neighbours.
    pub has_topology: bool,
    /// Whether nodes have logs, which clients read to their ends when the test ends.
    pub is_log: bool,
}

/// One of its operations.
pub struct OperationRow {
    /// In the history, and the type of its request.
    pub name: &'static str,
    /// How likely it is, beside the others.
    pub weight: u32,
    /// What it is given.
    pub input: Input,
    /// The key of its request that has it.
    pub key: &'static str,
    /// What answers it.
    pub reply: ReplyShape,
    /// The key of the reply that has its result.
    pub output: Option<&'static str>,
    /// Whether it changes nothing, so that one whose end is not known counts as not done.
    pub is_idempotent: bool,
    /// Whether its result must be what it was given.
    pub repeats_input: bool,
}

/// Each kind of operation succeeds at some time.
const STATS: (&str, &str) = ("stats", "");

const OPERATION: OperationRow = OperationRow {
    name: "",
    weight: 1,
    input: Input::None,
    key: "",
    reply: ReplyShape { kind: "", keys: &[] },
    output: None,
    is_idempotent: false,
    repeats_input: false,
};

const WORKLOAD: Workload = Workload {
    operations: &[],
    final_operation: None,
    checkers: &[STATS],
    is_transactional: false,
    believes_errors: true,
    keeps_clients: false,
    has_topology: false,
    is_log: false,
};

static ECHO: Workload = Workload {
    operations: &[OperationRow {
        name: "echo",
        input: Input::Text,
        key: "echo",
        reply: ReplyShape { kind: "echo_ok", keys: &[("echo", Any)] },
        output: Some("echo"),
        repeats_input: true,
        ..OPERATION
    }],
    ..WORKLOAD
};

static UNIQUE_IDS: Workload = Workload {
    operations: &[OperationRow {
        name: "generate",
        reply: ReplyShape { kind: "generate_ok", keys: &[("id", Any)] },
        output: Some("id"),
        ..OPERATION
    }],
    checkers: &[("unique-ids", ""), STATS],
    keeps_clients: true,
    ..WORKLOAD
};

static BROADCAST: Workload = Workload {
    operations: &[
        OperationRow {
            name: "broadcast",
            input: Input::Next,
            key: "message",
            reply: ReplyShape { kind: "broadcast_ok", keys: &[] },
            ..OPERATION
        },
        OperationRow {
            name: "read",
            reply: ReplyShape { kind: "read_ok", keys: &[("messages", Integers)] },
            output: Some("messages"),
            is_idempotent: true,
            ..OPERATION
        },
    ],
    final_operation: Some(1),
    checkers: &[("set-full", ""), STATS],
    has_topology: true,
    ..WORKLOAD
};

static G_SET: Workload = Workload {
    operations: &[
        OperationRow {
            name: "add",
            input: Input::Next,
            key: "element",
            reply: ReplyShape { kind: "add_ok", keys: &[] },
            ..OPERATION
        },
        OperationRow {
            name: "read",
            reply: ReplyShape { kind: "read_ok", keys: &[("value", List)] },
            output: Some("value"),
            ..OPERATION
        },
    ],
    final_operation: Some(1),
    checkers: &[("set-full", ""), STATS],
    believes_errors: false,
    ..WORKLOAD
};

/// An operation that adds a number to a counter.
const fn add(input: Input) -> OperationRow {
    let reply = ReplyShape { kind: "add_ok", keys: &[] };
    OperationRow { name: "add", input, key: "delta", reply, ..OPERATION }
}

const READ_COUNTER: OperationRow = OperationRow {
    name: "read",
    reply: ReplyShape { kind: "read_ok", keys: &[("value", Integer)] },
    output: Some("value"),
    ..OPERATION
};

/// What both counters have.
const COUNTER: Workload = Workload { final_operation: Some(1), believes_errors: false, ..WORKLOAD };

static G_COUNTER: Workload = Workload {
    operations: &[add(Input::Number(0, 4)), READ_COUNTER],
    checkers: &[("g-counter", ""), STATS],
    ..COUNTER
};

static PN_COUNTER: Workload = Workload {
    operations: &[add(Input::Number(-5, 4)), READ_COUNTER],
    checkers: &[("pn-counter", ""), STATS],
    ..COUNTER
};

/// An operation on a register.
const fn register(name: &'static str, weight: u32, input: Input, reply: ReplyShape) -> OperationRow {
    OperationRow { name, weight, input, reply, ..OPERATION }
}

static LIN_KV: Workload = Workload {
    operations: &[
        OperationRow {
            output: Some("value"),
            is_idempotent: true,
            ..register("read", 3, Input::RegisterRead, ReplyShape { kind: "read_ok", keys: &[("value", Any)] })
        },
        register("write", 1, Input::RegisterWrite, ReplyShape { kind: "write_ok", keys: &[] }),
        register("cas", 2, Input::RegisterSwap, ReplyShape { kind: "cas_ok", keys: &[] }),
    ],
    checkers: &[("linearizable", "cas-register"), STATS],
    keeps_clients: true,
    ..WORKLOAD
};

/// A transaction, whose writes are called so.
const fn transaction(write: &'static str) -> OperationRow {
    OperationRow {
        name: "txn",
        input: Input::Transaction(write),
        key: "txn",
        reply: ReplyShape { kind: "txn_ok", keys: &[("txn", List)] },
        output: Some("txn"),
        ..OPERATION
    }
}

/// What both workloads of transactions have.
const TRANSACTIONS: Workload = Workload { is_transactional: true, keeps_clients: true, ..WORKLOAD };

static LIST_APPEND: Workload = Workload { operations: &[transaction("append")], ..TRANSACTIONS };

static RW_REGISTER: Workload = Workload { operations: &[transaction("w")], ..TRANSACTIONS };

/// An operation on logs. Its request and its result are its client's (`log`).
const fn log(name: &'static str, weight: u32, input: Input, reply: ReplyShape) -> OperationRow {
    OperationRow { name, weight, input, reply, ..OPERATION }
}

/// Places of the operations on logs that are done at the end.
pub const POLL: usize = 1;
pub const ASSIGN: usize = 2;

static KAFKA: Workload = Workload {
    operations: &[
        log("send", 64, Input::Message, SEND_OK),
        log("poll", 64, Input::Poll, POLL_OK),
        OperationRow { is_idempotent: true, ..log("assign", 2, Input::Keys, ASSIGN_OK) },
        log("crash", 1, Input::Crash, ASSIGN_OK),
    ],
    checkers: &[("kafka", ""), STATS],
    is_log: true,
    ..WORKLOAD
};

impl Workload {
    pub fn of(workload: MaelstromWorkload) -> &'static Workload {
        match workload {
            MaelstromWorkload::Echo => &ECHO,
            MaelstromWorkload::UniqueIds => &UNIQUE_IDS,
            MaelstromWorkload::Broadcast => &BROADCAST,
            MaelstromWorkload::GSet => &G_SET,
            MaelstromWorkload::GCounter => &G_COUNTER,
            MaelstromWorkload::PnCounter => &PN_COUNTER,
            MaelstromWorkload::LinKv => &LIN_KV,
            MaelstromWorkload::TxnListAppend => &LIST_APPEND,
            MaelstromWorkload::TxnRwRegister => &RW_REGISTER,
            MaelstromWorkload::Kafka => &KAFKA,
        }
    }
}

impl OperationRow {
    /// Its request, but for the number of the message.
    pub fn request(&self, input: &Value) -> MessageBody<'static> {
        let mut body = MessageBody::default();
        let mut put = |key: &'static str, value: &Value| body.add(key, value.clone());
        put("type", &self.name.into());
        match self.input {
            Input::None => {}
            Input::RegisterRead => put("key", &input[0]),
            Input::RegisterWrite => {
                put("key", &input[0]);
                put("value", &input[1]);
            }
            Input::RegisterSwap => {
                put("key", &input[0]);
                put("from", &input[1][0]);
                put("to", &input[1][1]);
            }
            _ => put(self.key, input),
        }
        body
    }

    /// Its result, if it has one beside that it was done.
    pub fn result(&self, input: &Value, reply: &MessageBody<'_>) -> Option<Value> {
        let output = reply.get(self.output?).cloned()?;
        Some(if self.input == Input::RegisterRead { json!([input[0], output]) } else { output })
    }
}
