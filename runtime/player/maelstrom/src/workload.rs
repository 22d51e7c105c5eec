//! Workloads: what clients ask, what they are answered, and what judges it.
//!
//! A workload is a row of data; what its operations do is the same for all.

use crate::protocol::ReplyShape;
use crate::protocol::ValueShape::{Any, Integer, Integers, List};
use fozzy_scenario_file::MaelstromWorkload;
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use serde_json::{Map, Value};

/// A workload.
pub struct Workload {
    pub operations: &'static [OperationRow],
    /// What is done by each client at the end, by its place among the operations.
    pub final_operation: Option<usize>,
    /// Checkers of the whole history.
    pub checkers: &'static [&'static str],
    /// Whether an error that says that nothing was done is believed; otherwise it is never known.
    pub believes_errors: bool,
    /// Whether a client stays the same after an operation whose end is not known.
    pub keeps_clients: bool,
    /// Whether nodes are told their neighbours.
    pub has_topology: bool,
}

/// One of its operations.
pub struct OperationRow {
    /// In the history, and the type of its request.
    pub name: &'static str,
    /// How likely it is, beside the others.
    pub weight: u32,
    /// What it is given, and under which key of its request.
    pub input: Option<(&'static str, Input)>,
    /// What answers it.
    pub reply: ReplyShape,
    /// The key of the reply that has its result.
    pub output: Option<&'static str>,
    /// Whether it changes nothing, so that one whose end is not known counts as not done.
    pub is_idempotent: bool,
    /// Whether its result must be what it was given.
    pub repeats_input: bool,
}

/// Where the input of an operation comes from.
#[derive(Clone, Copy)]
pub enum Input {
    /// A text to repeat.
    Text,
    /// 0, 1, 2, …
    Next,
    /// A number, both ends included.
    Number(i64, i64),
}

const OPERATION: OperationRow = OperationRow {
    name: "",
    weight: 1,
    input: None,
    reply: ReplyShape { kind: "", keys: &[] },
    output: None,
    is_idempotent: false,
    repeats_input: false,
};

const WORKLOAD: Workload = Workload {
    operations: &[],
    final_operation: None,
    checkers: &[],
    believes_errors: true,
    keeps_clients: false,
    has_topology: false,
};

static ECHO: Workload = Workload {
    operations: &[OperationRow {
        name: "echo",
        input: Some(("echo", Input::Text)),
        reply: ReplyShape { kind: "echo_ok", keys: &[("echo", Any)] },
        output: Some("echo"),
        repeats_input: true,
        ..OPERATION
    }],
    checkers: &["stats"],
    ..WORKLOAD
};

static UNIQUE_IDS: Workload = Workload {
    operations: &[OperationRow {
        name: "generate",
        reply: ReplyShape { kind: "generate_ok", keys: &[("id", Any)] },
        output: Some("id"),
        ..OPERATION
    }],
    checkers: &["unique-ids", "stats"],
    keeps_clients: true,
    ..WORKLOAD
};

static BROADCAST: Workload = Workload {
    operations: &[
        OperationRow {
            name: "broadcast",
            input: Some(("message", Input::Next)),
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
    checkers: &["set-full", "stats"],
    has_topology: true,
    ..WORKLOAD
};

static G_SET: Workload = Workload {
    operations: &[
        OperationRow {
            name: "add",
            input: Some(("element", Input::Next)),
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
    checkers: &["set-full", "stats"],
    believes_errors: false,
    ..WORKLOAD
};

/// An operation that adds a number to a counter.
const fn add(input: Input) -> OperationRow {
    let reply = ReplyShape { kind: "add_ok", keys: &[] };
    OperationRow { name: "add", input: Some(("delta", input)), reply, ..OPERATION }
}

const READ_COUNTER: OperationRow = OperationRow {
    name: "read",
    reply: ReplyShape { kind: "read_ok", keys: &[("value", Integer)] },
    output: Some("value"),
    ..OPERATION
};

/// What both counters have.
const COUNTER: Workload = Workload {
    final_operation: Some(1),
    checkers: &["pn-counter", "stats"],
    believes_errors: false,
    ..WORKLOAD
};

static G_COUNTER: Workload = Workload { operations: &[add(Input::Number(0, 4)), READ_COUNTER], ..COUNTER };

static PN_COUNTER: Workload = Workload { operations: &[add(Input::Number(-5, 4)), READ_COUNTER], ..COUNTER };

impl Workload {
    pub fn of(workload: MaelstromWorkload) -> &'static Workload {
        match workload {
            MaelstromWorkload::Echo => &ECHO,
            MaelstromWorkload::UniqueIds => &UNIQUE_IDS,
            MaelstromWorkload::Broadcast => &BROADCAST,
            MaelstromWorkload::GSet => &G_SET,
            MaelstromWorkload::GCounter => &G_COUNTER,
            MaelstromWorkload::PnCounter => &PN_COUNTER,
        }
    }
}

impl OperationRow {
    /// Draws what it is given.
    pub fn draw(&self, next: &mut i64) -> Value {
        match self.input {
            None => Value::Null,
            Some((_, Input::Text)) => format!("Please echo {}", draws::int("text", 0, 127)).into(),
            Some((_, Input::Number(least, most))) => draws::int("number", least, most).into(),
            Some((_, Input::Next)) => {
                *next += 1;
                (*next - 1).into()
            }
        }
    }

    /// Its request, but for the number of the message.
    pub fn request(&self, input: &Value) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("type".to_owned(), self.name.into());
        if let Some((key, _)) = self.input {
            body.insert(key.to_owned(), input.clone());
        }
        body
    }
}
