//! Clients: one request at a time, each to the node that the client belongs to.

use crate::body::MessageBody;
use crate::generator::Input;
use crate::log::LogClient;
use crate::protocol::{ReplyShape, json_text, shown};
use crate::transaction;
use crate::workload::OperationRow;
use fozzy_sdk::tools::Operation;
use serde_json::Value;

/// A client.
pub struct Client {
    /// Its name on the network. An operation whose end is not known may retire it: then another client goes on in its place.
    pub name: String,
    /// Its number in the history.
    pub process: u32,
    /// The node that it talks to.
    pub node: String,
    next_msg_id: u64,
    pub request: Option<NodeRequest>,
    /// What has come since the request and does not answer it: how many messages, and the first one.
    strays: (u64, String),
    /// Where it is, if what it talks to are logs.
    pub log: LogClient,
}

/// A request that has not been answered.
pub struct NodeRequest {
    /// The number of its message among all.
    pub message: u64,
    /// The client's own number of it.
    pub msg_id: u64,
    /// What it says, in JSON.
    pub body: String,
    /// When nobody waits for the answer any more.
    pub due: u64,
    pub purpose: RequestPurpose,
}

/// What a request is for.
pub enum RequestPurpose {
    /// To set a node up: what answers it.
    SetUp(&'static ReplyShape),
    /// The same of a node whose program was started again.
    SetUpAgain(&'static ReplyShape),
    /// To say how far the client has come; nothing else depends on it.
    Commit(&'static ReplyShape),
    /// An operation of the workload, with its input, and whether it is one of the last.
    Operation(&'static OperationRow, Value, Operation, bool),
}

impl RequestPurpose {
    /// What answers it.
    pub fn reply(&self) -> &'static ReplyShape {
        match self {
            RequestPurpose::SetUp(reply) | RequestPurpose::SetUpAgain(reply) | RequestPurpose::Commit(reply) => reply,
            RequestPurpose::Operation(row, ..) => &row.reply,
        }
    }

    /// Whether it sets a node up that was started again.
    pub fn is_again(&self) -> bool {
        matches!(self, RequestPurpose::SetUpAgain(_))
    }

    /// The first thing that is wrong with a reply: in words without a value, and with it.
    pub fn problem(&self, reply: &MessageBody<'_>) -> Option<(String, String)> {
        self.reply().problem(reply).or_else(|| {
            let (write, asked) = self.transaction()?;
            transaction::problem(write, asked, reply.get("txn")?)
        })
    }

    /// The reply that is expected, in words.
    pub fn expected(&self, in_reply_to: u64) -> String {
        let operations = self.transaction().map(|(write, asked)| transaction::expected(write, asked));
        self.reply().example(in_reply_to, operations.as_deref())
    }

    /// What writes are called, and what was asked, if it is a transaction.
    fn transaction(&self) -> Option<(&'static str, &Value)> {
        match self {
            RequestPurpose::Operation(OperationRow { input: Input::Transaction(write), .. }, asked, ..) => {
                Some((*write, asked))
            }
            _ => None,
        }
    }
}

impl Client {
    pub fn new(name: String, process: u32, node: String) -> Client {
        Client {
            name,
            process,
            node,
            next_msg_id: 0,
            request: None,
            strays: (0, String::new()),
            log: LogClient::default(),
        }
    }

    pub fn is_free(&self) -> bool {
        self.request.is_none()
    }

    /// Sends a request, as far as it is the client's.
    pub fn begin(&mut self, request: NodeRequest) {
        self.strays = (0, String::new());
        self.request = Some(request);
    }

    /// A message has come that does not answer the open request.
    pub fn note_stray(&mut self, body: &str) {
        if self.strays.0 == 0 {
            self.strays.1 = shown(body);
        }
        self.strays.0 += 1;
    }

    /// What has come instead of an answer, as the end of a sentence; nothing when nothing has.
    pub fn stray_words(&self) -> String {
        let (count, first) = &self.strays;
        match count {
            0 => String::new(),
            1 => format!("; a message has come whose `in_reply_to` names no open request: {first}"),
            _ => format!("; {count} messages have come whose `in_reply_to` names no open request, the first: {first}"),
        }
    }

    /// Numbers a request: its number, and its text.
    pub fn number(&mut self, mut body: MessageBody<'_>) -> (u64, String) {
        self.next_msg_id += 1;
        body.add("msg_id", self.next_msg_id.into());
        (self.next_msg_id, json_text(&body))
    }

    /// Goes on as another client.
    pub fn rename(&mut self, name: String) {
        (self.name, self.next_msg_id, self.log) = (name, 0, LogClient::default());
    }
}
