//! Values that a program draws: all of a step at once towards the simplest, then each by halving.
//!
//! What decides which flow runs is left alone: another flow is another candidate.

use super::schedule::is_turn;
use super::steps::FLOW;
use super::{ShrinkCandidate, ShrinkHalt, Shrinker};
use crate::keyed_source::{AnswerDomain, Decision, DecisionKey};
use fozzy_trace::plan::ARRIVAL_SITE;
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;
use fozzy_trace::source::Override;
use fozzy_trace::{DecisionPart, Purpose};
use std::collections::BTreeSet;

/// Bounds from here on are those of probabilities, where only "does not happen" is simpler.
const PROBABILITIES: u64 = 1 << 53;

/// Whether no answer to the question is simpler.
pub(super) fn is_simplest(decision: &Decision) -> bool {
    match &decision.answer {
        Override::Number(number) => *number == 0,
        Override::Bytes(digits) => digits.bytes().all(|digit| digit == b'0'),
    }
}

/// Whether it is a value that the program draws, which answer a rule gave it, or how much later its input came.
fn is_value(decision: &Decision) -> bool {
    match decision.key.purpose {
        Purpose::Choice(_) => decision.site != FLOW && !is_turn(decision),
        Purpose::Reply => true,
        Purpose::Arrival => decision.site == ARRIVAL_SITE,
        Purpose::Nemesis(_) => decision.domain != AnswerDomain::Below(RATE_ALWAYS_PPM.into()),
        _ => false,
    }
}

/// Whether the question is for a value, and not for a probability.
pub(super) const fn is_drawn(domain: AnswerDomain) -> bool {
    !matches!(domain, AnswerDomain::Below(PROBABILITIES..))
}

/// The simplest answer of a question.
fn simplest(domain: AnswerDomain) -> Override {
    match domain {
        AnswerDomain::Below(_) => Override::Number(0),
        AnswerDomain::Bytes(length) => Override::Bytes("00".repeat(length)),
    }
}

/// All values of a part at once.
pub(super) fn parts(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let part = |decision: &Decision| match decision.key.purpose {
        Purpose::Choice(part) => Some(part),
        _ => None,
    };
    let parts: BTreeSet<DecisionPart> =
        shrinker.log.iter().filter(|decision| is_value(decision) && !is_simplest(decision)).filter_map(part).collect();
    for wanted in parts {
        let values = shrinker.log.iter().filter(|decision| is_value(decision) && part(decision) == Some(wanted));
        let mut candidate = shrinker.smallest.clone();
        candidate.answers.extend(values.map(|decision| (decision.key, simplest(decision.domain))));
        shrinker.attempt(candidate)?;
    }
    Ok(())
}

/// Makes each value simpler, one at a time.
pub(super) fn each(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    // By place in the log, which changes with each success; what stands before it stays.
    let mut place = 0;
    while let Some(decision) = shrinker.log.get(place).cloned() {
        place += 1;
        if !is_value(&decision) || is_simplest(&decision) {
            continue;
        }
        let done = shrinker.attempt(with(&shrinker.smallest, decision.key, simplest(decision.domain)))?;
        match (&decision.answer, decision.domain) {
            (Override::Number(number), AnswerDomain::Below(bound)) if !done && bound < PROBABILITIES => {
                halve(shrinker, decision.key, *number)?;
            }
            (Override::Bytes(digits), _) if !done => bytes(shrinker, decision.key, digits)?,
            _ => {}
        }
    }
    Ok(())
}

/// The smallest number that still fails, if all above one do.
fn halve(shrinker: &mut Shrinker<'_>, key: DecisionKey, number: u64) -> Result<(), ShrinkHalt> {
    let (mut bad, mut good) = (0, number);
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        if shrinker.attempt(with(&shrinker.smallest, key, Override::Number(middle)))? {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Ok(())
}

/// Bytes to zero, in runs.
fn bytes(shrinker: &mut Shrinker<'_>, key: DecisionKey, digits: &str) -> Result<(), ShrinkHalt> {
    let length = digits.len() / 2;
    let odd: Vec<usize> = (0..length).filter(|at| &digits[at * 2..at * 2 + 2] != "00").collect();
    shrinker.remove_chunks(&odd, |smallest, rest| {
        let kept: BTreeSet<usize> = rest.iter().copied().collect();
        let bytes = (0..length).map(|at| if kept.contains(&at) { &digits[at * 2..at * 2 + 2] } else { "00" });
        with(smallest, key, Override::Bytes(bytes.collect()))
    })?;
    Ok(())
}

fn with(smallest: &ShrinkCandidate, key: DecisionKey, answer: Override) -> ShrinkCandidate {
    let mut smallest = smallest.clone();
    smallest.answers.insert(key, answer);
    smallest
}
