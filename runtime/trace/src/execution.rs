//! One execution, and who can perform it.
//!
//! ```text
//! search ──▶ dyn Executor ──▶ Execution         (the engine implements it; search never sees wasmtime)
//! ```
//!
//! Invariant: `execute` is a pure function of what the executor was built from (component and plan)
//! and of the source's answers. An error of the harness is an `Err`, never an [`ExecutionEnd`].

use crate::digest::DigestWriter;
use crate::observation::{BackendRequest, Observation};
use crate::outcome::StackFrame;
use crate::plan::AllowedEnd;
use crate::{DecisionSource, Digest, History, HistoryWindow, Instant};
use serde::{Deserialize, Serialize};

/// Bytes of each output stream that are kept, from its beginning; the rest is counted and digested.
pub const OUTPUT_KEPT_BYTES_MAX: usize = 4 << 20;

/// Bytes of the end of a longer stream that are at hand: a program says last why it ends.
const OUTPUT_TAIL_BYTES: usize = 64 << 10;

/// The words of a trap for a stack that is used up, the counted one or the one in memory.
pub const STACK_EXHAUSTED: &str = "call stack exhausted";

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "end")]
pub enum ExecutionEnd {
    /// The program exited with this code; returning is code 0.
    Exited {
        /// As the program gave it: 0 to 255 of a component, any number of a core module.
        code: u32,
    },
    /// The program trapped.
    Trapped {
        /// The trap's standard words, such as `integer divide by zero`.
        trap: String,
    },
    /// Checks of memory have found an error.
    MemoryError {
        /// Which.
        error: crate::memory_error::MemoryError,
    },
    /// The instruction budget ran out.
    FuelExhausted {
        /// The budget.
        fuel: u64,
    },
    /// Virtual time went past its bound.
    TimeExhausted {
        /// The bound.
        limit: crate::Duration,
    },
    /// Every task is blocked and no deadline is left.
    Hang {
        /// What each waits for.
        waiting: Vec<String>,
    },
    /// The program judges itself, and has failed.
    Failed {
        /// Why.
        failure: crate::facts::ReportedFailure,
    },
    /// The component that it called came to its end, which stands with the machine of that one.
    CalledEnded,
    /// The program of another machine came to an end that the plan does not allow, which stands with that machine; the run ended
    /// soon after.
    PeerEnded {
        /// The machine.
        node: String,
    },
    /// A planned fault killed it, and it was not restarted: no failure of its own.
    Killed,
    /// A replay asked the real computer for something that was not recorded, so there is no answer.
    Diverged {
        /// What was recorded at this place, as JSON, or that nothing was.
        recorded: String,
        /// What was asked instead, as JSON.
        asked: String,
    },
}

/// Characters of each side of a divergence that are shown, around the first one that differs: both fit a
/// terminal's page. What is left out is marked by an ellipsis.
const DIVERGED_CHARS_MAX: usize = 800;

impl ExecutionEnd {
    /// In a few words: `exited with code 3`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            ExecutionEnd::Exited { code } => format!("exited with code {code}"),
            ExecutionEnd::Trapped { trap } => format!("trapped: {trap}"),
            ExecutionEnd::MemoryError { error } => error.to_string(),
            ExecutionEnd::FuelExhausted { .. } => "ran out of instructions".to_owned(),
            ExecutionEnd::TimeExhausted { .. } => "ran out of virtual time".to_owned(),
            ExecutionEnd::Hang { .. } => "hangs".to_owned(),
            ExecutionEnd::Failed { failure } => format!("failed: {}", failure.site.escape_debug()),
            ExecutionEnd::CalledEnded => "ended with the component that it called".to_owned(),
            ExecutionEnd::PeerEnded { node } => format!("ended after the machine `{}`", node.escape_debug()),
            ExecutionEnd::Killed => "killed by a planned fault".to_owned(),
            ExecutionEnd::Diverged { .. } => "left the recording".to_owned(),
        }
    }

    /// The end of a replay in which `asked` is not what was `recorded`; `None` when the recording has no more.
    #[must_use]
    pub fn diverged(recorded: Option<&Observation>, asked: &BackendRequest) -> ExecutionEnd {
        let text = |ask: &BackendRequest| serde_json::to_string(ask).expect("our own types are JSON").chars().collect();
        let asked: Vec<char> = text(asked);
        let Some(recorded) = recorded else {
            let recorded = "nothing: the recording has no more answers of the real computer".to_owned();
            return ExecutionEnd::Diverged { recorded, asked: stretch(&asked, 0) };
        };
        let recorded: Vec<char> = text(&recorded.ask);
        let equal = recorded.iter().zip(&asked).take_while(|(recorded, asked)| recorded == asked).count();
        let longer = recorded.len().max(asked.len());
        let from = if longer <= DIVERGED_CHARS_MAX { 0 } else { equal.saturating_sub(DIVERGED_CHARS_MAX / 2) };
        ExecutionEnd::Diverged { recorded: stretch(&recorded, from), asked: stretch(&asked, from) }
    }
}

/// So much of a text as is shown, safe for a terminal.
fn stretch(text: &[char], from: usize) -> String {
    let from = from.min(text.len());
    let to = text.len().min(from + DIVERGED_CHARS_MAX);
    let mut shown = String::new();
    shown.push_str(if from > 0 { "…" } else { "" });
    for character in &text[from..to] {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(*character);
        }
    }
    shown.push_str(if to < text.len() { "…" } else { "" });
    shown
}

/// Requests and commands without a rule that are kept: the first ones, each different one once. A plan that is short of
/// more is filled up in several runs; the finding of the last one says how many more there were.
pub const UNMATCHED_MAX: usize = 32;

/// A request that no rule of the plan answers. The guest was refused; the run does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchedRequest {
    /// What kind of request.
    pub kind: RequestKind,
    /// What was asked, in one line: `GET https://api.test/orders`, `git rev-parse HEAD`.
    pub asked: String,
    /// A rule that answers it, in the notation of a plan file, ready to paste.
    pub rule: String,
    /// If the real computer could answer, but may not be asked: the flag that allows it.
    pub allowed_by: Option<String>,
}

/// What can be asked of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// An HTTP request.
    Http,
    /// A process.
    Process,
}

/// What one of the other machines was. See [`Execution`] for the target's own.
#[derive(Clone, Debug)]
pub struct NodeExecution {
    /// Its name in the plan.
    pub name: String,
    /// How it ended; `None` when it was still running when the target ended.
    pub end: Option<ExecutionEnd>,
    /// Standard output.
    pub stdout: StreamOutput,
    /// Standard error.
    pub stderr: StreamOutput,
    /// Digest of all its linear memories at the end.
    pub memory: Digest,
    /// The stack where it trapped, innermost first, or where it waited when the run hung; empty otherwise.
    pub backtrace: Vec<StackFrame>,
    /// How it may end, as planned.
    pub ends: Option<AllowedEnd>,
    /// How often it started again after an end.
    pub restarts: u64,
    /// Whether it waited to start again when the target ended.
    pub is_down: bool,
}

/// What a guest wrote to one of its streams.
#[derive(Clone, Debug, Default)]
pub struct StreamOutput {
    kept: Vec<u8>,
    total: u64,
    /// Of all bytes, from the first one on that is not kept. Until then it is made from what is kept, when it
    /// is asked for: hashing every small write would cost more than the write.
    digest: Option<DigestWriter>,
    /// The end of it, and something before that, from the first byte on that is not kept.
    tail: Vec<u8>,
}

impl StreamOutput {
    /// Adds what was written next, and returns that part of it that is not kept.
    pub fn write<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        self.total += bytes.len() as u64;
        let room = OUTPUT_KEPT_BYTES_MAX - self.kept.len();
        if bytes.len() <= room && self.digest.is_none() {
            self.kept.extend_from_slice(bytes);
            return &[];
        }
        let kept = &self.kept;
        let digest = self.digest.get_or_insert_with(|| {
            let mut digest = DigestWriter::default();
            digest.update(kept);
            digest
        });
        digest.update(bytes);
        let (kept, beyond) = bytes.split_at(bytes.len().min(room));
        self.kept.extend_from_slice(kept);
        self.follow(beyond);
        beyond
    }

    /// Moves the tail on by what is not kept.
    fn follow(&mut self, beyond: &[u8]) {
        if self.tail.is_empty() {
            self.tail.extend_from_slice(&self.kept[self.kept.len() - OUTPUT_TAIL_BYTES..]);
        }
        let last = &beyond[beyond.len().saturating_sub(OUTPUT_TAIL_BYTES)..];
        // The buffer may have twice the length of the tail, so that bytes are moved only once per tail length.
        if self.tail.len() + last.len() > 2 * OUTPUT_TAIL_BYTES {
            let stays = OUTPUT_TAIL_BYTES - last.len();
            self.tail.drain(..self.tail.len() - stays);
        }
        self.tail.extend_from_slice(last);
    }

    /// The beginning of it, up to [`OUTPUT_KEPT_BYTES_MAX`].
    #[must_use]
    pub fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// What was written last: all that is kept, if that is all, else the end of it alone.
    #[must_use]
    pub fn last(&self) -> &[u8] {
        match self.tail.as_slice() {
            [] => &self.kept,
            tail => &tail[tail.len() - OUTPUT_TAIL_BYTES..],
        }
    }

    /// All bytes written.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// SHA-256 of all bytes written.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest.as_ref().map_or_else(|| Digest::of(&self.kept), DigestWriter::finish)
    }
}

impl PartialEq for StreamOutput {
    fn eq(&self, other: &StreamOutput) -> bool {
        // Equal totals: both are kept whole, or neither is.
        let beyond = || self.digest.is_none() || self.digest() == other.digest();
        self.total == other.total && self.kept == other.kept && beyond()
    }
}

/// Everything that one execution was.
#[derive(Clone, Debug)]
pub struct Execution {
    /// How it ended.
    pub end: ExecutionEnd,
    /// Virtual time at the end.
    pub ended_at: Instant,
    /// What happened.
    pub history: History,
    /// Standard output.
    pub stdout: StreamOutput,
    /// Standard error.
    pub stderr: StreamOutput,
    /// Instructions used, as wasmtime counts fuel (of the instrumented program).
    pub fuel_used: u64,
    /// Bytes of linear memory at the end, which never shrinks, over all memories.
    pub memory_bytes: u64,
    /// Digest of all linear memories at the end.
    pub memory: Digest,
    /// The stack where it trapped, innermost first; empty otherwise.
    pub backtrace: Vec<StackFrame>,
    /// The other machines, in the order of the plan.
    pub nodes: Vec<NodeExecution>,
    /// Requests that no rule answers, in their order; at the most [`UNMATCHED_MAX`].
    pub unmatched: Vec<UnmatchedRequest>,
    /// How often further ones were asked for.
    pub unmatched_more: u64,
    /// What the programs told about themselves.
    pub facts: crate::Facts,
}

/// There is no execution: never a verdict on the program.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct HarnessError {
    /// One sentence that says what happened and what to do.
    pub what: String,
    kind: HarnessErrorKind,
}

/// Why there is no execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HarnessErrorKind {
    /// The harness could not do its work.
    Failed,
    /// The execution was ended from outside before its end.
    Interrupted,
}

impl HarnessError {
    /// The harness could not do its work: one sentence that says what failed and what to do.
    #[must_use]
    pub fn new(what: impl Into<String>) -> HarnessError {
        HarnessError { what: what.into(), kind: HarnessErrorKind::Failed }
    }

    /// The execution was ended from outside before its end.
    #[must_use]
    pub fn interruption() -> HarnessError {
        let what = "the execution was interrupted, and is thrown away".to_owned();
        HarnessError { what, kind: HarnessErrorKind::Interrupted }
    }

    /// Why there is no execution.
    #[must_use]
    pub fn kind(&self) -> HarnessErrorKind {
        self.kind
    }

    /// Whether nothing failed, and the execution was ended from outside.
    #[must_use]
    pub fn is_interruption(&self) -> bool {
        self.kind == HarnessErrorKind::Interrupted
    }
}

/// Performs executions of one component under one plan.
pub trait Executor {
    /// Runs one execution to its end. Entries inside `keep` stand in the history in full.
    ///
    /// # Errors
    /// When the machine, not the program, failed: no memory, native stack too small.
    fn execute(&mut self, source: Box<dyn DecisionSource>, keep: HistoryWindow) -> Result<Execution, HarnessError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{BackendResponse, FileOperation, FileRequest, FileResponse};

    fn ask(path: &str) -> BackendRequest {
        BackendRequest::File(FileRequest { on: 0, operation: FileOperation::UnlinkFileAt { path: path.to_owned() } })
    }

    fn sides(recorded: &str, asked: &str) -> (String, String) {
        let recorded =
            Observation { ask: ask(recorded), answer: BackendResponse::File(Ok(FileResponse::Done)), took: None };
        match ExecutionEnd::diverged(Some(&recorded), &ask(asked)) {
            ExecutionEnd::Diverged { recorded, asked } => (recorded, asked),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn a_long_stream_has_its_beginning_and_its_end_at_hand() {
        let text: Vec<u8> = (0..OUTPUT_KEPT_BYTES_MAX + 3 * OUTPUT_TAIL_BYTES + 7).map(|at| (at % 251) as u8).collect();
        for piece in [1 << 10, 60_001, OUTPUT_TAIL_BYTES, 1 << 20, text.len()] {
            let mut stream = StreamOutput::default();
            let mut beyond = Vec::new();
            let mut written = 0;
            for bytes in text.chunks(piece) {
                beyond.extend_from_slice(stream.write(bytes));
                written += bytes.len();
                let from = if written > OUTPUT_KEPT_BYTES_MAX { written - OUTPUT_TAIL_BYTES } else { 0 };
                assert_eq!(stream.last(), &text[from..written], "after {written} bytes in pieces of {piece}");
            }
            assert_eq!([stream.kept(), &beyond].concat(), text);
        }
    }

    #[test]
    fn a_divergence_shows_both_sides_whole_when_they_are_short() {
        let (recorded, asked) = sides("a", "b\u{7f}\u{9b}31m");
        assert_eq!(recorded, r#"{"file":{"on":0,"operation":{"unlink-file-at":{"path":"a"}}}}"#);
        assert_eq!(asked, r#"{"file":{"on":0,"operation":{"unlink-file-at":{"path":"b\u{7f}\u{9b}31m"}}}}"#);
        let ExecutionEnd::Diverged { recorded, .. } = ExecutionEnd::diverged(None, &ask("a")) else {
            unreachable!("by its making")
        };
        assert!(recorded.starts_with("nothing: "));
    }

    #[test]
    fn a_long_divergence_shows_where_it_begins() {
        let long = "x".repeat(1 << 20);
        let (recorded, asked) = sides(&format!("{long}1{long}"), &format!("{long}2"));
        assert!(recorded.starts_with("…x") && recorded.contains("x1x") && recorded.ends_with("x…"), "{recorded}");
        assert!(asked.starts_with("…x") && asked.ends_with("x2\"}}}}"), "{asked}");
        assert!(recorded.chars().count() <= DIVERGED_CHARS_MAX + 2);
    }
}
