//! One execution, and who can perform it.
//!
//! ```text
//! search ──▶ dyn Executor ──▶ Execution         (the engine implements it; search never sees wasmtime)
//! ```
//!
//! Invariant: `execute` is a pure function of what the executor was built from (component and plan)
//! and of the source's answers. An error of the harness is an `Err`, never an [`End`].

use crate::digest::DigestWriter;
use crate::outcome::Frame;
use crate::{DecisionSource, Digest, History, Instant, Keep};
use serde::{Deserialize, Serialize};

/// Bytes of each output stream that are kept, from its beginning; the rest is counted and digested.
pub const OUTPUT_KEPT_BYTES_MAX: usize = 4 << 20;

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "end")]
pub enum End {
    /// The program ended by itself with this code; returning is code 0.
    Exited {
        /// 0 to 255.
        code: u8,
    },
    /// The program trapped.
    Trapped {
        /// The trap's standard words, such as `integer divide by zero`.
        trap: String,
    },
    /// The program called what the sandbox does not offer.
    Unsupported {
        /// The import's name.
        import: String,
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
}

/// What a guest wrote to one of its streams.
#[derive(Clone, Debug, Default)]
pub struct Output {
    kept: Vec<u8>,
    total: u64,
    /// Of all bytes, from the first one on that is not kept. Until then it is made from what is kept, when it
    /// is asked for: hashing every small write would cost more than the write.
    digest: Option<DigestWriter>,
}

impl Output {
    /// Adds what was written next.
    pub fn write(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = OUTPUT_KEPT_BYTES_MAX - self.kept.len();
        if bytes.len() <= room && self.digest.is_none() {
            self.kept.extend_from_slice(bytes);
            return;
        }
        let kept = &self.kept;
        let digest = self.digest.get_or_insert_with(|| {
            let mut digest = DigestWriter::default();
            digest.update(kept);
            digest
        });
        digest.update(bytes);
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The beginning of it, up to [`OUTPUT_KEPT_BYTES_MAX`].
    #[must_use]
    pub fn kept(&self) -> &[u8] {
        &self.kept
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

impl PartialEq for Output {
    fn eq(&self, other: &Output) -> bool {
        // Equal totals: both are kept whole, or neither is.
        let beyond = || self.digest.is_none() || self.digest() == other.digest();
        self.total == other.total && self.kept == other.kept && beyond()
    }
}

/// Everything that one execution was.
#[derive(Clone, Debug)]
pub struct Execution {
    /// How it ended.
    pub end: End,
    /// Virtual time at the end.
    pub ended_at: Instant,
    /// What happened.
    pub history: History,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
    /// Instructions used, as wasmtime counts fuel (of the instrumented program).
    pub fuel_used: u64,
    /// Bytes of linear memory at the end, which never shrinks, over all memories.
    pub memory_bytes: u64,
    /// Digest of all linear memories at the end.
    pub memory: Digest,
    /// The stack where it trapped, innermost first; empty otherwise.
    pub backtrace: Vec<Frame>,
}

/// The harness itself could not do its work: never a verdict on the program.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct HarnessError {
    /// One sentence that says what failed and what to do.
    pub what: String,
}

/// Performs executions of one component under one plan.
pub trait Executor {
    /// Runs one execution to its end. Entries inside `keep` stand in the history in full.
    ///
    /// # Errors
    /// When the machine, not the program, failed: no memory, native stack too small.
    fn execute(&mut self, source: Box<dyn DecisionSource>, keep: Keep) -> Result<Execution, HarnessError>;
}
