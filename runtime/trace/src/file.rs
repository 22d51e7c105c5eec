//! The `.fozzy` file: one execution, whole, in one checksummed zip.
//!
//! ```text
//! $ unzip -l run.fozzy
//!   manifest.json          format, version, engine, target, seed, mode, outcome;
//!                          for every other entry: name, sizes, SHA-256 of its stored bytes
//!   plan.json              machines (arguments, environment, mounts), limits, rules, faults
//!   decisions.jsonl.zst    answers that the seed does not give, then marks of the running digest
//!   observations.jsonl.zst what the real computer was asked and answered, in order
//!   events.jsonl.zst       history entries of the window that was kept
//!   component.wasm.zst     the component as it was given, before instrumentation
//!   stdout.zst stderr.zst  the beginning of what the program wrote
//!   inputs/<sha256>.zst    bytes that the plan and the observations name, each once: files, bodies,
//!                          further components
//!   comment                fozzy-sha256:<64 digits> over every byte of the file before these digits
//! ```
//!
//! The checksum covers the zip's own structure too, and needs nothing of ours to be checked:
//!
//! ```text
//! $ head -c -64 run.fozzy | sha256sum          prints what
//! $ tail -c 64 run.fozzy                       prints
//! ```
//!
//! Invariants:
//! - Equal recordings give equal bytes: fixed order, times (1980-01-01), modes and compression level;
//!   a map is written in the order of its keys.
//! - [`Recording::read`] accepts only what [`Recording::to_bytes`] can have written: the zip
//!   structure is compared byte for byte, unknown entries and fields are refused by name.
//! - No input, however hostile, makes reading panic, or allocate past [`UNPACKED_BYTES_MAX`] and the
//!   structures that their bytes can encode.
//! - A trace reads the same after it was moved to another machine: the component and all inputs are inside.
//!
//! Not in it: wall times, run ids, host names, paths of the machine, compiled code. They would make two
//! equal executions differ, and belong to the run's report.
//! Not promised: authenticity. The checksum finds damage, not forgery; who rewrites a trace can
//! recompute it, which is why reading distrusts a file whose checksum is right.

mod container;
mod error;
mod manifest;
mod read;
mod recognise;
mod seal;
pub mod store;
mod verify;
mod write;

pub use error::TraceError;
pub use verify::{Verification, verify};

use crate::history::digest_hex;
use crate::plan::{Inputs, Plan};
use crate::source::Override;
use crate::{
    Digest, DigestMark, Execution, ExecutionEnd, HistoryEntry, Instant, NodeExecution, Observation, Seed, StreamOutput,
    Verdict,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The version that is written. 1 to 4 were the JSON traces of the first Fozzy, which had no component.
pub const VERSION: u32 = 5;
/// Largest trace file, in bytes: a reader holds it in memory. Larger ones are neither written nor read.
pub const TRACE_BYTES_MAX: u64 = 1 << 30;
/// Most entries in the file: what a zip can count without its 64-bit extension, less its escape value.
/// At the bound, a run with more distinct inputs and answers cannot be recorded.
pub const ENTRIES_MAX: usize = 0xFFFE;
/// Bytes that all entries together may unpack to: the largest disk and a component fit twice. Beyond it
/// a file is taken for a zip bomb, and a recording is refused.
pub const UNPACKED_BYTES_MAX: u64 = 4 << 30;

/// What a trace carries: everything that one execution depended on, and everything that it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// What was run, as the user named it.
    pub target: RecordedTarget,
    /// The component that was run, before instrumentation: wasm, never compiled code.
    pub component: Arc<[u8]>,
    /// Machines, limits, rules, faults.
    pub plan: Plan,
    /// The bytes that the plan and the observations name, and no others.
    pub inputs: Inputs,
    /// What ran it.
    pub engine: EngineId,
    /// The seed of all answers that are not explicit.
    pub seed: Seed,
    /// What was done: `run`.
    pub mode: String,
    /// How it went.
    pub outcome: RecordedOutcome,
    /// Answers that the seed does not give, by number of the question.
    pub explicit: BTreeMap<u64, Override>,
    /// The running digest at intervals.
    pub marks: Vec<DigestMark>,
    /// What the real computer answered, in order.
    pub observations: Arc<[Observation]>,
    /// History entries of the window that was kept.
    pub entries: Vec<HistoryEntry>,
    /// The beginning of standard output, up to [`OUTPUT_KEPT_BYTES_MAX`](crate::execution::OUTPUT_KEPT_BYTES_MAX).
    pub stdout: Vec<u8>,
    /// The beginning of standard error, under the same bound.
    pub stderr: Vec<u8>,
}

/// What was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RecordedTarget {
    /// Name for people: the file's name without its folders.
    pub name: String,
    /// Digest of the file that the user gave.
    pub source: Digest,
    /// What that file was: `component`, `core-module`, `text`.
    pub kind: String,
}

/// What ran it: an execution is only promised to repeat under an equal engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct EngineId {
    /// Version of Fozzy.
    pub fozzy: String,
    /// Version of wasmtime.
    pub wasmtime: String,
    /// Version of the instrumentation.
    pub rewriter: u32,
    /// Digest of the settings that decide about behaviour.
    pub configuration: Digest,
}

/// The outcome of the execution, with what a replay is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RecordedOutcome {
    /// What it means.
    pub verdict: Verdict,
    /// How it ended.
    pub end: ExecutionEnd,
    /// Virtual time at the end.
    pub ended_at: Instant,
    /// Calls of the guest to the computer.
    pub calls: u64,
    /// Questions that were answered by the source.
    pub decisions: u64,
    /// Digest of all calls, arguments and answers.
    #[serde(with = "digest_hex")]
    pub history: u64,
    /// Instructions used, as wasmtime counts fuel.
    pub fuel_used: u64,
    /// Bytes of linear memory at the end.
    pub memory_bytes: u64,
    /// Digest of all linear memories at the end.
    pub memory: Digest,
    /// Standard output, all of it.
    pub stdout: StreamDigest,
    /// Standard error, all of it.
    pub stderr: StreamDigest,
    /// The other machines, in the order of the plan.
    pub nodes: Vec<NodeOutcome>,
}

/// The outcome of another machine, with what a replay is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NodeOutcome {
    /// Its name in the plan.
    pub name: String,
    /// How it ended; `null` when it was still running when the target ended.
    pub end: Option<ExecutionEnd>,
    /// Standard output, all of it.
    pub stdout: StreamDigest,
    /// Standard error, all of it.
    pub stderr: StreamDigest,
    /// Digest of all its linear memories at the end.
    pub memory: Digest,
    /// How often its program started again after an end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u64,
    /// Whether it waited to start again when the target ended. Before [`crate::plan::Edition::SIXTH`] that was running, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_down: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl NodeOutcome {
    fn of(node: &NodeExecution) -> NodeOutcome {
        NodeOutcome {
            name: node.name.clone(),
            end: node.end.clone(),
            stdout: StreamDigest::of(&node.stdout),
            stderr: StreamDigest::of(&node.stderr),
            memory: node.memory,
            restarts: node.restarts,
            is_down: node.is_down,
        }
    }
}

/// All that a program wrote to one stream, by length and digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StreamDigest {
    /// Bytes written.
    pub bytes: u64,
    /// SHA-256 of them.
    pub sha256: Digest,
}

impl StreamDigest {
    fn of(output: &StreamOutput) -> StreamDigest {
        StreamDigest { bytes: output.total(), sha256: output.digest() }
    }
}

impl RecordedOutcome {
    /// The outcome of an execution that was judged.
    #[must_use]
    pub fn of(execution: &Execution, verdict: Verdict) -> RecordedOutcome {
        let history = &execution.history;
        RecordedOutcome {
            verdict,
            end: execution.end.clone(),
            ended_at: execution.ended_at,
            calls: history.calls,
            decisions: history.decisions,
            history: history.digest,
            fuel_used: execution.fuel_used,
            memory_bytes: execution.memory_bytes,
            memory: execution.memory,
            stdout: StreamDigest::of(&execution.stdout),
            stderr: StreamDigest::of(&execution.stderr),
            nodes: execution.nodes.iter().map(NodeOutcome::of).collect(),
        }
    }
}

impl Recording {
    /// The recording of an execution. Of `inputs`, only what `plan` names is taken; the bytes of the
    /// observations are in the history.
    ///
    /// # Panics
    /// When the plan names bytes that `inputs` does not hold, or an observation bytes that the history does
    /// not hold: it could not have been executed.
    #[allow(clippy::too_many_arguments, reason = "each is one field, and a builder would let one be forgotten")]
    #[must_use]
    pub fn of(
        target: RecordedTarget,
        component: impl Into<Arc<[u8]>>,
        plan: Plan,
        inputs: &Inputs,
        engine: EngineId,
        execution: &Execution,
        verdict: Verdict,
        seed: Seed,
        mode: &str,
    ) -> Recording {
        let history = &execution.history;
        let outcome = RecordedOutcome::of(execution, verdict);
        let mut named = Inputs::default();
        for digest in digests_named(&plan, &history.observations) {
            let bytes = inputs.get(&digest).or_else(|| history.observed.get(&digest));
            named.add(bytes.expect("what was executed has all its inputs, and what was observed its bytes"));
        }
        Recording {
            target,
            component: component.into(),
            plan,
            inputs: named,
            engine,
            seed,
            mode: mode.to_owned(),
            outcome,
            explicit: history.explicit.clone(),
            marks: history.marks.clone(),
            observations: Arc::from(&*history.observations),
            entries: history.entries.clone(),
            stdout: execution.stdout.kept().to_vec(),
            stderr: execution.stderr.kept().to_vec(),
        }
    }
}

/// The bytes that a plan and observations name, in the order of the file. The empty input is everywhere, so
/// never stored.
fn digests_named(plan: &Plan, observations: &[Observation]) -> BTreeSet<Digest> {
    let mut named = plan.digests();
    for observation in observations {
        named.extend(observation.ask.digests());
        named.extend(observation.answer.digests());
    }
    named.remove(&Digest::of(b""));
    named
}

#[cfg(test)]
mod tests;
