//! What matters in a candidate: tells answers and bytes that may be anything from those on which the failure depends.
//!
//! ```text
//! draws.int("amount") below 1000 -> 80       others tried: 0, 1, 999, 412, 77     passes with 0: it matters
//! draws.int("payer")  below 8    -> 0        others tried: 1, 7, 3, 5             fails so with each: it may be any
//! standard input, byte 0          -> 21       others tried: 00                    passes with 0: it matters
//! ```
//!
//! Invariants: the candidate stays as it is. An answer that is called free was tried with several others, which is no
//! proof for all.

use super::{ReplayTarget, ShrinkCandidate, ShrinkError, source};
use crate::keyed_source::{AnswerDomain, Decision, DecisionKey, take};
use fozzy_check::{FailureIdentity, identify};
use fozzy_trace::digest::{hex, unhex};
use fozzy_trace::file::Recording;
use fozzy_trace::source::Override;
use fozzy_trace::{HarnessError, RunningDigest};
use std::sync::Arc;

/// Decisions that are varied: candidates that are worth reading have fewer.
const EXPLAINED_MAX: usize = 64;
/// Bytes of standard input, and of the answer to one question, that are varied one by one.
const BYTES_MAX: usize = 64;
/// Other answers that each is tried with.
const OTHERS_MAX: usize = 5;

/// What is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariedPart {
    /// The answer to a question.
    Decision(Decision),
    /// One byte of such an answer.
    Byte {
        /// The question, and the whole answer.
        decision: Decision,
        /// Which byte of it.
        at: usize,
        /// What it is.
        byte: u8,
    },
    /// One byte of standard input.
    Stdin {
        /// Which one.
        at: usize,
        /// What it is.
        byte: u8,
    },
}

/// Part of a candidate, and whether it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What was varied.
    pub subject: VariedPart,
    /// The number of its decision in the run, from 0; `None` for standard input.
    pub number: Option<u64>,
    /// Others that were tried in its place; none when there are none.
    pub tried: usize,
    /// Whether the failure was the same with each of them.
    pub is_free: bool,
}

/// Tries other answers to each decision of a failing candidate, and other bytes of its standard input unless
/// `keeps_stdin`, as long as `may_continue` gives time. Bytes that matter together are then tried one by one. An
/// interrupted variation ends the search.
///
/// # Errors
/// When the machine fails.
pub fn explain(
    recording: &Recording,
    target: &mut dyn ReplayTarget,
    candidate: &ShrinkCandidate,
    keeps_stdin: bool,
    may_continue: &mut dyn FnMut() -> bool,
) -> Result<Vec<Explanation>, ShrinkError> {
    let mut replay = |candidate: &ShrinkCandidate| -> Result<(Vec<Decision>, Option<FailureIdentity>), HarnessError> {
        let (source, log) = source(candidate, recording.seed, &recording.observations);
        let execution = target.execute(&candidate.plan, &candidate.inputs, source, 0..0)?;
        Ok((take(&log), identify(&execution)))
    };
    let (log, identity) = match replay(candidate) {
        Err(error) if error.is_interruption() => return Ok(Vec::new()),
        replayed => replayed?,
    };
    let mut explained = Vec::new();
    // The last one is looked at next; what is found to matter may put its bytes there.
    let decisions = log.into_iter().take(EXPLAINED_MAX).map(VariedPart::Decision);
    let decisions = decisions.enumerate().map(|(number, part)| (Some(number as u64), part));
    let stdin = stdin_of(candidate).filter(|_| !keeps_stdin).map(|bytes| bytes.to_vec()).unwrap_or_default();
    let stdin = stdin.into_iter().enumerate().take(BYTES_MAX).map(|(at, byte)| (None, VariedPart::Stdin { at, byte }));
    let mut waiting: Vec<(Option<u64>, VariedPart)> = decisions.chain(stdin).collect();
    waiting.reverse();
    while let Some((number, subject)) = waiting.pop() {
        let others = others(candidate, &subject);
        let (mut tried, mut is_free) = (0, !others.is_empty());
        for other in others {
            if !may_continue() {
                return Ok(explained);
            }
            let replayed = match replay(&other) {
                Err(error) if error.is_interruption() => return Ok(explained),
                replayed => replayed?,
            };
            tried += 1;
            if replayed.1 != identity {
                is_free = false;
                break;
            }
        }
        if let (VariedPart::Decision(decision), false) = (&subject, is_free) {
            waiting.extend(bytes_of(decision).into_iter().rev().map(|part| (number, part)));
        }
        explained.push(Explanation { subject, number, tried, is_free });
    }
    Ok(explained)
}

fn stdin_of(candidate: &ShrinkCandidate) -> Option<Arc<[u8]>> {
    candidate.inputs.get(&candidate.plan.main.stdin.bytes)
}

/// The bytes of an answer that has several.
fn bytes_of(decision: &Decision) -> Vec<VariedPart> {
    let Override::Bytes(digits) = &decision.answer else { return Vec::new() };
    let bytes = unhex(digits).unwrap_or_default();
    let of = |(at, byte)| VariedPart::Byte { decision: decision.clone(), at, byte };
    if bytes.len() < 2 { Vec::new() } else { bytes.into_iter().enumerate().take(BYTES_MAX).map(of).collect() }
}

/// The candidate with others in the place of the subject: the ends of what there is, and some between.
fn others(candidate: &ShrinkCandidate, subject: &VariedPart) -> Vec<ShrinkCandidate> {
    let answered = |decision: &Decision, answer| {
        let mut candidate = candidate.clone();
        candidate.answers.insert(decision.key, answer);
        candidate
    };
    match subject {
        VariedPart::Decision(decision) => {
            answers(decision).into_iter().map(|answer| answered(decision, answer)).collect()
        }
        VariedPart::Byte { decision, at, byte } => {
            let Override::Bytes(digits) = &decision.answer else { return Vec::new() };
            let mut bytes = unhex(digits).unwrap_or_default();
            let with = |other| {
                bytes[*at] = other;
                answered(decision, Override::Bytes(hex(&bytes)))
            };
            other_bytes(*byte, *at).map(with).collect()
        }
        VariedPart::Stdin { at, byte } => {
            let mut bytes = stdin_of(candidate).map(|bytes| bytes.to_vec()).unwrap_or_default();
            let with = |other| {
                bytes[*at] = other;
                let mut candidate = candidate.clone();
                candidate.plan.main.stdin.bytes = candidate.inputs.add(bytes.clone());
                candidate
            };
            other_bytes(*byte, *at).map(with).collect()
        }
    }
}

/// Other bytes: the ends, a blank, a letter, the neighbour, and one that depends on the place.
fn other_bytes(byte: u8, at: usize) -> impl Iterator<Item = u8> {
    let mut fold = RunningDigest::default();
    fold.word(at as u64);
    let all = [0, 0xff, b' ', b'a', byte.wrapping_add(1), fold.value() as u8];
    let first = move |at: usize| !all[..at].contains(&all[at]) && all[at] != byte;
    (0..all.len()).filter(move |at| first(*at)).map(move |at| all[at]).take(OTHERS_MAX)
}

/// Other answers to the same question.
fn answers(decision: &Decision) -> Vec<Override> {
    let drawn = |number: u64| drawn(decision.key, number);
    let all: Vec<Override> = match decision.domain {
        AnswerDomain::Below(bound) => {
            let ends = [0, 1, bound - 1];
            let between = (0..8).map(|number| drawn(number) % bound);
            ends.into_iter().chain(between).filter(|answer| *answer < bound).map(Override::Number).collect()
        }
        AnswerDomain::Bytes(length) => {
            let bytes = |number: u64| (0..length as u64).map(|at| drawn(number << 32 | at) as u8).collect::<Vec<u8>>();
            let ends = [vec![0; length], vec![0xff; length]];
            ends.into_iter().chain((0..3).map(bytes)).map(|bytes| Override::Bytes(hex(&bytes))).collect()
        }
    };
    let mut seen = Vec::new();
    for answer in all {
        if answer != decision.answer && !seen.contains(&answer) && seen.len() < OTHERS_MAX {
            seen.push(answer);
        }
    }
    seen
}

/// A number that depends on the place and nothing else.
fn drawn(key: DecisionKey, number: u64) -> u64 {
    let mut fold = RunningDigest::default();
    fold.bytes(format!("{key:?}").as_bytes());
    fold.word(number);
    fold.value()
}
