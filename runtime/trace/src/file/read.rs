//! Bytes to a recording, trusting none of them.
//!
//! ```text
//! size ─▶ checksum ─▶ version ─▶ zip structure ─▶ names ─▶ rows of the manifest ─▶ unpack ─▶ parse ─▶ agree
//! ```
//!
//! Each step refuses before the next one looks. The checksum only finds accidents; every later step
//! holds against someone who recomputed it.
//!
//! Invariant: memory is bounded by what the manifest declares, and that by constants, checked before
//! anything is unpacked; unpacking stops one byte past the declared size.

use super::container::{self, ContainerEntry};
use super::error::{TraceError, quote};
use super::manifest::{self, DecisionLine, Manifest, ManifestEntry, VersionProbe};
use super::{
    RecordedOutcome, Recording, StreamDigest, TRACE_BYTES_MAX, UNPACKED_BYTES_MAX, VERSION, digests_named, recognise,
    seal,
};
use crate::execution::OUTPUT_KEPT_BYTES_MAX;
use crate::history::MARKS_MAX;
use crate::plan::{Inputs, Plan, ScenarioPlan};
use crate::source::Override;
use crate::{Digest, DigestMark, HistoryEntry, Observation};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// Largest window that a packed entry may ask for, as a power of two in bytes: what level 3 uses at its
/// most, and two steps of room. A frame that wants more is refused before it gets memory.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

impl Recording {
    /// Reads a trace of any version that was ever written.
    ///
    /// # Errors
    /// What the bytes are instead, or what is wrong with them and where.
    pub fn read(bytes: &[u8]) -> Result<Recording, TraceError> {
        if bytes.len() as u64 > TRACE_BYTES_MAX {
            let (what, found) = ("the file".to_owned(), bytes.len() as u64);
            return Err(TraceError::TooLarge { what, found, max: TRACE_BYTES_MAX, unit: "bytes" });
        }
        if !seal::present(bytes) {
            return Err(recognise::without_checksum(bytes));
        }
        seal::check(bytes)?;
        let Some(manifest) = container::first(bytes, manifest::MANIFEST) else {
            let (name, expected) = (manifest::MANIFEST.to_owned(), "the first entry, stored".to_owned());
            return Err(TraceError::Entry { name, expected, found: "another first entry".to_owned() });
        };
        if manifest.len() as u64 > manifest::bytes_max(manifest::MANIFEST) {
            let (what, max) = (manifest::MANIFEST.to_owned(), manifest::bytes_max(manifest::MANIFEST));
            return Err(TraceError::TooLarge { what, found: manifest.len() as u64, max, unit: "bytes" });
        }
        let probe: VersionProbe = manifest::parse(manifest::MANIFEST, manifest)?;
        if probe.format != manifest::FORMAT {
            let found = format!("a zip archive of format `{}`", quote(&probe.format));
            return Err(TraceError::NotATrace { found });
        }
        match probe.version {
            5 => read_5(bytes),
            version if version > u64::from(VERSION) => Err(TraceError::Newer { version }),
            version => Err(TraceError::NeverWritten { version }),
        }
    }
}

fn read_5(bytes: &[u8]) -> Result<Recording, TraceError> {
    let stored = container::read(bytes)?;
    check_names(&stored)?;
    let manifest: Manifest = manifest::parse(manifest::MANIFEST, stored[0].bytes)?;
    check_rows(&manifest.entries, &stored[1..])?;
    let mut contents = BTreeMap::new();
    for (row, entry) in manifest.entries.iter().zip(&stored[1..]) {
        contents.insert(entry.name, unpack(row, entry)?);
    }
    let mut take = |name: &'static str| contents.remove(name).expect("check_names found every fixed entry");

    let plan: Plan = manifest::parse(manifest::PLAN, &take(manifest::PLAN))?;
    check_scenario(&plan)?;
    let (explicit, marks) = decisions(&take(manifest::DECISIONS), &manifest.outcome)?;
    let observations = observations(&take(manifest::OBSERVATIONS))?;
    let entries = events(&take(manifest::EVENTS), &manifest.outcome)?;
    let component = take(manifest::COMPONENT).into();
    let (stdout, stderr) = (take(manifest::STDOUT), take(manifest::STDERR));
    check_stream(manifest::STDOUT, &stdout, &manifest.outcome.stdout)?;
    check_stream(manifest::STDERR, &stderr, &manifest.outcome.stderr)?;
    let inputs = inputs(contents, &plan, &observations)?;
    check_observations(&observations, &inputs)?;
    check_nodes(&manifest.outcome, &plan)?;
    let Manifest { engine, target, seed, mode, outcome, .. } = manifest;
    Ok(Recording {
        target,
        component,
        plan,
        inputs,
        engine,
        seed,
        mode,
        outcome,
        explicit,
        marks,
        observations: observations.into(),
        entries,
        stdout,
        stderr,
    })
}

/// Exactly the known entries, in their order. (That none is there twice is the container's part.)
fn check_names(stored: &[ContainerEntry<'_>]) -> Result<(), TraceError> {
    let names: Vec<&str> = stored.iter().map(|entry| entry.name).collect();
    let known = |name: &str| manifest::FIXED.contains(&name) || manifest::input_digest(name).is_some();
    if let Some(name) = names.iter().find(|name| !known(name)) {
        return Err(TraceError::UnknownEntry { name: quote(name), why: "" });
    }
    if let Some(name) = manifest::FIXED.iter().find(|name| !names.contains(name)) {
        return Err(TraceError::MissingEntry { name: (*name).to_owned() });
    }
    let inputs: BTreeSet<&str> = names.iter().copied().filter(|name| !manifest::FIXED.contains(name)).collect();
    let ordered = manifest::FIXED.into_iter().chain(inputs);
    if let Some((found, expected)) = names.iter().zip(ordered).find(|(found, expected)| *found != expected) {
        let expected = format!("`{expected}` in its place");
        return Err(TraceError::Entry { name: (*found).to_owned(), expected, found: "another order".to_owned() });
    }
    Ok(())
}

/// One row for each entry, in order; sizes and digests as they are; declared sizes within their bounds.
fn check_rows(rows: &[ManifestEntry], stored: &[ContainerEntry<'_>]) -> Result<(), TraceError> {
    if rows.len() != stored.len() {
        let (name, found) = (manifest::MANIFEST.to_owned(), format!("{} rows", rows.len()));
        return Err(TraceError::Entry { name, expected: format!("a row for each of {} entries", stored.len()), found });
    }
    let mut total = 0u64;
    for (row, entry) in rows.iter().zip(stored) {
        let differs =
            |expected: String, found: String| Err(TraceError::Entry { name: entry.name.to_owned(), expected, found });
        if row.name != entry.name {
            return differs("a row of the manifest in its place".to_owned(), format!("one for `{}`", quote(&row.name)));
        }
        let size = entry.bytes.len() as u64;
        if row.stored_bytes != size {
            return differs(format!("{} stored bytes", row.stored_bytes), size.to_string());
        }
        let digest = Digest::of(entry.bytes);
        if row.sha256 != digest {
            return differs(format!("SHA-256 {}", row.sha256), digest.to_string());
        }
        if !manifest::compressed(entry.name) && row.bytes != size {
            return differs(format!("{} bytes", row.bytes), size.to_string());
        }
        let max = manifest::bytes_max(entry.name);
        total = total.saturating_add(row.bytes);
        let past = [(row.bytes, max, entry.name), (total, UNPACKED_BYTES_MAX, "the unpacked content")];
        if let Some((found, max, what)) = past.into_iter().find(|(found, max, _)| found > max) {
            return Err(TraceError::TooLarge { what: what.to_owned(), found, max, unit: "bytes" });
        }
    }
    Ok(())
}

/// The content of an entry whose row was checked.
fn unpack(row: &ManifestEntry, entry: &ContainerEntry<'_>) -> Result<Vec<u8>, TraceError> {
    if !manifest::compressed(entry.name) {
        return Ok(entry.bytes.to_vec());
    }
    let refuse = |expected: String, found: String| TraceError::Entry { name: entry.name.to_owned(), expected, found };
    let broken = |error: std::io::Error| refuse("one zstd frame".to_owned(), quote(&error.to_string()));
    let decoder = zstd::stream::read::Decoder::with_buffer(entry.bytes).map_err(broken)?;
    let mut decoder = decoder.single_frame();
    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(broken)?;
    // Grows with what really comes, and asks for one byte more than declared: that byte is a bomb.
    let mut content = Vec::new();
    decoder.by_ref().take(row.bytes + 1).read_to_end(&mut content).map_err(broken)?;
    if content.len() as u64 != row.bytes {
        let found = if content.len() as u64 > row.bytes { "more".to_owned() } else { content.len().to_string() };
        return Err(refuse(format!("{} bytes when unpacked", row.bytes), found));
    }
    let rest = decoder.finish();
    if !rest.is_empty() {
        return Err(refuse("one zstd frame".to_owned(), format!("{} bytes after it", rest.len())));
    }
    Ok(content)
}

/// Explicit answers in the order of their questions, then marks in the order of their calls.
fn decisions(
    content: &[u8],
    outcome: &RecordedOutcome,
) -> Result<(BTreeMap<u64, Override>, Vec<DigestMark>), TraceError> {
    let mut explicit: BTreeMap<u64, Override> = BTreeMap::new();
    let mut marks: Vec<DigestMark> = Vec::new();
    manifest::parse_lines(manifest::DECISIONS, content, |line, decision| {
        let refuse = |expected: String, found: String| {
            Err(TraceError::Entry { name: manifest::at_line(manifest::DECISIONS, line), expected, found })
        };
        match decision {
            DecisionLine::Explicit { question, answer } => {
                let from = explicit.last_key_value().map_or(0, |(last, _)| last + 1);
                if !marks.is_empty() {
                    return refuse("a mark after the first mark".to_owned(), "an answer".to_owned());
                }
                if !(from..outcome.decisions).contains(&question) {
                    return refuse(format!("a question from {from} below {}", outcome.decisions), question.to_string());
                }
                match &answer {
                    Override::Bytes(text) if crate::digest::unhex(text).is_none() => {
                        let expected = "pairs of lower-case hexadecimal digits".to_owned();
                        return refuse(expected, format!("`{}`", quote(text)));
                    }
                    _ => {}
                }
                explicit.insert(question, answer);
            }
            DecisionLine::Mark(mark) => {
                let from = marks.last().map_or(1, |last| last.calls.saturating_add(1));
                if mark.calls < from || mark.calls > outcome.calls {
                    return refuse(format!("a mark from {from} to {} calls", outcome.calls), mark.calls.to_string());
                }
                if marks.len() == MARKS_MAX {
                    return refuse(format!("at most {MARKS_MAX} marks"), "one more".to_owned());
                }
                marks.push(mark);
            }
        }
        Ok(())
    })?;
    Ok((explicit, marks))
}

/// Observations in their order.
fn observations(content: &[u8]) -> Result<Vec<Observation>, TraceError> {
    let mut observations = Vec::new();
    manifest::parse_lines(manifest::OBSERVATIONS, content, |_, observation| {
        observations.push(observation);
        Ok(())
    })?;
    Ok(observations)
}

/// Each answer is one to its question: what a replay hands to the guest's computer is never of another kind.
fn check_observations(observations: &[Observation], inputs: &Inputs) -> Result<(), TraceError> {
    let Some(at) = observations.iter().position(|observation| !observation.is_sound(inputs)) else { return Ok(()) };
    let show = |json: serde_json::Result<String>| quote(&json.unwrap_or_default());
    Err(TraceError::Entry {
        name: manifest::at_line(manifest::OBSERVATIONS, at as u64 + 1),
        expected: format!("an answer to {}", show(serde_json::to_string(&observations[at].ask))),
        found: show(serde_json::to_string(&observations[at].answer)),
    })
}

/// What a run of the plan goes through is no more than a run can have.
fn check_scenario(plan: &Plan) -> Result<(), TraceError> {
    plan.scenario.iter().try_for_each(ScenarioPlan::check).map_err(|(expected, found)| TraceError::Entry {
        name: format!("scenario of {}", manifest::PLAN),
        expected,
        found,
    })
}

/// The other machines are those of the plan, in its order.
fn check_nodes(outcome: &RecordedOutcome, plan: &Plan) -> Result<(), TraceError> {
    let planned: Vec<&str> = plan.nodes.iter().map(|node| &*node.name).collect();
    let found: Vec<&str> = outcome.nodes.iter().map(|node| &*node.name).collect();
    if planned == found {
        return Ok(());
    }
    let (expected, found) = (format!("nodes {}", quote(&planned.join(", "))), quote(&found.join(", ")));
    Err(TraceError::Entry { name: manifest::MANIFEST.to_owned(), expected, found })
}

/// Entries of the history in their order.
fn events(content: &[u8], outcome: &RecordedOutcome) -> Result<Vec<HistoryEntry>, TraceError> {
    let mut entries: Vec<HistoryEntry> = Vec::new();
    manifest::parse_lines(manifest::EVENTS, content, |line, entry: HistoryEntry| {
        let from = entries.last().map_or(0, |last| last.index + 1);
        if !(from..outcome.calls).contains(&entry.index) {
            let (name, found) = (manifest::at_line(manifest::EVENTS, line), entry.index.to_string());
            return Err(TraceError::Entry {
                name,
                expected: format!("an index from {from} below {}", outcome.calls),
                found,
            });
        }
        entries.push(entry);
        Ok(())
    })?;
    Ok(entries)
}

/// The kept beginning against what the outcome says of the whole.
fn check_stream(name: &str, kept: &[u8], stream: &StreamDigest) -> Result<(), TraceError> {
    let refuse = |expected: String, found: String| Err(TraceError::Entry { name: name.to_owned(), expected, found });
    let expected = stream.bytes.min(OUTPUT_KEPT_BYTES_MAX as u64);
    if kept.len() as u64 != expected {
        return refuse(format!("{expected} bytes, as the outcome says"), kept.len().to_string());
    }
    let digest = Digest::of(kept);
    if stream.bytes == expected && digest != stream.sha256 {
        return refuse(format!("SHA-256 {}, as the outcome says", stream.sha256), digest.to_string());
    }
    Ok(())
}

/// Exactly the inputs that the plan and the observations name, each with the content of its name.
fn inputs(contents: BTreeMap<&str, Vec<u8>>, plan: &Plan, observations: &[Observation]) -> Result<Inputs, TraceError> {
    let named = digests_named(plan, observations);
    let mut inputs = Inputs::default();
    for (name, content) in contents {
        let digest = manifest::input_digest(name).expect("check_names knows every entry");
        if !named.contains(&digest) {
            let why = ": neither the plan nor an observation names it";
            return Err(TraceError::UnknownEntry { name: name.to_owned(), why });
        }
        let found = inputs.add(content);
        if found != digest {
            let (name, expected) = (name.to_owned(), "the content that its name is the SHA-256 of".to_owned());
            return Err(TraceError::Entry { name, expected, found: found.to_string() });
        }
    }
    let missing = named.iter().find(|digest| inputs.get(digest).is_none());
    match missing {
        Some(digest) => Err(TraceError::MissingEntry { name: manifest::input_name(digest) }),
        None => Ok(inputs),
    }
}
