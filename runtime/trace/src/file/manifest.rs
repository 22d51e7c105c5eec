//! The shape of the entries: names, bounds, and the JSON in them.
//!
//! One place for both directions, so that what is written is what is read.
//!
//! Invariant: names of keys are part of version 5 and never change; a new key is a new version.

use super::error::{TraceError, quote, quote_bytes};
use super::{EngineId, RecordedOutcome, RecordedTarget};
use crate::execution::OUTPUT_KEPT_BYTES_MAX;
use crate::source::Override;
use crate::{Digest, DigestMark, Seed};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The word by which a manifest is known.
pub(super) const FORMAT: &str = "fozzy";
/// The first entry.
pub(super) const MANIFEST: &str = "manifest.json";
/// The second entry.
pub(super) const PLAN: &str = "plan.json";
/// Explicit answers, then marks.
pub(super) const DECISIONS: &str = "decisions.jsonl.zst";
/// What the real computer was asked and answered.
pub(super) const OBSERVATIONS: &str = "observations.jsonl.zst";
/// Kept entries of the history.
pub(super) const EVENTS: &str = "events.jsonl.zst";
/// The component.
pub(super) const COMPONENT: &str = "component.wasm.zst";
/// Beginning of standard output.
pub(super) const STDOUT: &str = "stdout.zst";
/// Beginning of standard error.
pub(super) const STDERR: &str = "stderr.zst";
/// The entries that every trace has, in their order; inputs follow, by digest.
pub(super) const FIXED: [&str; 8] = [MANIFEST, PLAN, DECISIONS, OBSERVATIONS, EVENTS, COMPONENT, STDOUT, STDERR];

/// Manifest in bytes: one row for each of the most entries fits twice.
const MANIFEST_BYTES_MAX: u64 = 32 << 20;
/// Plan, decisions, observations and events in bytes, each: a full virtual disk's names fit, and what they are parsed
/// into stays within a few gigabytes.
const TEXT_BYTES_MAX: u64 = 256 << 20;
/// Component in bytes: larger ones take minutes to compile, and none is known.
const COMPONENT_BYTES_MAX: u64 = 512 << 20;
/// One input in bytes: a whole default disk.
const INPUT_BYTES_MAX: u64 = 1 << 30;

/// The first entry: everything about the trace but its contents.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) engine: EngineId,
    pub(super) target: RecordedTarget,
    pub(super) seed: Seed,
    pub(super) mode: String,
    pub(super) outcome: RecordedOutcome,
    pub(super) entries: Vec<ManifestEntry>,
}

/// One other entry.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ManifestEntry {
    pub(super) name: String,
    /// Bytes in the file.
    pub(super) stored_bytes: u64,
    /// Bytes when unpacked.
    pub(super) bytes: u64,
    /// Of the bytes in the file.
    pub(super) sha256: Digest,
}

/// As much of any version's manifest as tells which version it is.
#[derive(Debug, Deserialize)]
pub(super) struct VersionProbe {
    pub(super) format: String,
    pub(super) version: u64,
}

/// One line of `decisions.jsonl`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) enum DecisionLine {
    /// An answer that the seed does not give.
    Explicit {
        /// Number of the question, from zero.
        question: u64,
        /// What was answered.
        answer: Override,
    },
    /// The running digest at one moment.
    Mark(DigestMark),
}

/// Name of an input's entry.
pub(super) fn input_name(digest: &Digest) -> String {
    format!("inputs/{digest}.zst")
}

/// The digest in the name of an input's entry.
pub(super) fn input_digest(name: &str) -> Option<Digest> {
    Digest::parse(name.strip_prefix("inputs/")?.strip_suffix(".zst")?)
}

/// Most bytes that the entry may unpack to.
pub(super) fn bytes_max(name: &str) -> u64 {
    match name {
        MANIFEST => MANIFEST_BYTES_MAX,
        PLAN | DECISIONS | OBSERVATIONS | EVENTS => TEXT_BYTES_MAX,
        COMPONENT => COMPONENT_BYTES_MAX,
        STDOUT | STDERR => OUTPUT_KEPT_BYTES_MAX as u64,
        _ => INPUT_BYTES_MAX,
    }
}

/// Whether the entry is compressed.
pub(super) fn compressed(name: &str) -> bool {
    name.ends_with(".zst")
}

/// A document for people: two blanks a level, and a newline at the end.
pub(super) fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    let mut out = serde_json::to_vec_pretty(value).expect("our own types are JSON");
    out.push(b'\n');
    out
}

/// One line.
pub(super) fn line<T: Serialize>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(&mut *out, value).expect("our own types are JSON, and a vector takes all bytes");
    out.push(b'\n');
}

/// Reads one document.
pub(super) fn parse<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, TraceError> {
    serde_json::from_slice(bytes).map_err(|plain| {
        // Parsed again only to name the key: keeping track of it costs on every line that is right.
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let located = serde_path_to_error::deserialize::<_, T>(&mut deserializer).err();
        let (key, error) = located.map_or((".".to_owned(), plain), |e| (e.path().to_string(), e.into_inner()));
        TraceError::Json { name: name.to_owned(), key: quote(&key), problem: quote(&error.to_string()) }
    })
}

/// Reads one document a line; each line, the last too, ends with a newline.
pub(super) fn parse_lines<T: DeserializeOwned>(
    name: &str,
    bytes: &[u8],
    mut each: impl FnMut(u64, T) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let mut rest = bytes;
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let Some(end) = rest.iter().position(|b| *b == b'\n') else {
            let (name, expected) = (at_line(name, number), "a newline at its end".to_owned());
            return Err(TraceError::Entry { name, expected, found: format!("`{}`", quote_bytes(rest)) });
        };
        let value = serde_json::from_slice(&rest[..end]);
        let value = match value {
            Ok(value) => value,
            Err(_) => parse(&at_line(name, number), &rest[..end])?,
        };
        each(number, value)?;
        rest = &rest[end + 1..];
    }
    Ok(())
}

/// How a line of an entry is named in messages.
pub(super) fn at_line(name: &str, line: u64) -> String {
    format!("{name} line {line}")
}
