//! Scripted processes: which command gets which end.
//!
//! ```text
//! git rev-parse HEAD ──first rule that matches and is not used up──▶ exit 0, stdout "9c41…\n"
//! ```
//!
//! Rules are tried in their order. A command that none matches is a finding.

use super::{OtherReplies, ProgramPlan};
use crate::{Digest, Duration};
use serde::{Deserialize, Serialize};

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ProcessRule {
    /// The command as the guest names it; `*` stands for any characters.
    pub command: String,
    /// The arguments, each with `*`; `None` is any number of any.
    pub args: Option<Vec<String>>,
    /// How many commands it answers; `None` is all.
    pub times: Option<u64>,
    /// Virtual time from start to end.
    pub delay: Duration,
    /// How it goes.
    pub answer: ProcessReply,
    /// Further answers, one of which may be given instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Box<OtherReplies<ProcessReply>>>,
}

impl ProcessRule {
    /// All answers, the first one first.
    pub fn answers(&self) -> impl Iterator<Item = &ProcessReply> {
        let others = self.others.iter().flat_map(|others| &others.replies);
        std::iter::once(&self.answer).chain(others.map(|reply| &reply.answer))
    }

    /// The same, to be changed.
    pub fn answers_mut(&mut self) -> impl Iterator<Item = &mut ProcessReply> {
        let others = self.others.iter_mut().flat_map(|others| &mut others.replies);
        std::iter::once(&mut self.answer).chain(others.map(|reply| &mut reply.answer))
    }
}

/// How a scripted process goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub enum ProcessReply {
    /// It writes and ends.
    Output {
        /// How it ends.
        exit: ProcessExit,
        /// What it writes to standard output.
        stdout: Digest,
        /// What it writes to standard error.
        stderr: Digest,
    },
    /// There is no such command.
    NotFound,
    /// There is one, and it may not be run.
    NotPermitted,
    /// Another component is the process: it has its own disk, clock readings and entropy.
    Component(ProgramPlan),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessExit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}
