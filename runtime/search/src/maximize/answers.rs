//! Inputs that are the answers to the questions of a run: what a program draws, whose turn it is, which faults strike.
//!
//! ```text
//! answers   12 │ 7 3 9 1 …          varied   63 │ 7 3 9 1 …   larger      12 │ 9 7 3 1 …   in order
//!           of 64  of 256 each               12 │ 7 7 7 7 …   the same    12 │ 0 8 16 24 … in steps    12 │ 7 3 │ drawn anew
//! ```
//!
//! Invariant: answers that do not fit their question are drawn instead, so that every sequence is a run.

use super::{InputSpace, SearchRng};
use crate::explore::{AnswerLog, DecisionPath, GuidedSource, LoggedAnswer};
use crate::rng::Rng;
use fozzy_trace::Seed;
use fozzy_trace::digest::{hex, unhex};
use fozzy_trace::source::Override;
use std::sync::Arc;

/// Answers that a sequence can have.
const ANSWERS_MAX: usize = 1 << 16;
/// Most changes of one variation, as a power of two.
const STACK_BITS_MAX: usize = 3;
/// Answers beyond which a sequence is long, and of so many changes seven are of more than one answer.
const LONG: usize = 32;
const LONG_OTHERS: u64 = 9;
const SHORT_OTHERS: u64 = 13;
/// The largest step by which a number changes.
const STEP_MAX: usize = 16;

/// The answers of a run, in the order of the questions.
#[derive(Clone, Debug, Default)]
pub struct AnswerSequence(Vec<LoggedAnswer>);

impl AnswerSequence {
    /// A source that gives these answers, and draws what is asked beyond them from the stream of `run`; `log` gets all of them. Faults
    /// begin or end at a step with the probability `toggle`.
    #[must_use]
    pub fn source(&self, seed: Seed, run: u64, toggle: f64, log: &AnswerLog) -> GuidedSource {
        let script: Arc<[Override]> = self.0.iter().map(|logged| logged.answer.clone()).collect();
        GuidedSource::continuing(script, Rng::new(seed, 0).stream(run), toggle, log)
    }

    /// What was logged of a run; `None` when it asked for more than is logged.
    #[must_use]
    pub fn of(log: &AnswerLog) -> Option<AnswerSequence> {
        (!log.is_truncated()).then(|| AnswerSequence(log.since(0)))
    }

    /// The same as the path of a run of so many steps.
    #[must_use]
    pub fn path(&self, steps: u32) -> DecisionPath {
        DecisionPath { answers: self.0.iter().map(|logged| logged.answer.clone()).collect(), steps }
    }
}

/// All sequences of answers.
pub struct AnswerSpace;

impl InputSpace for AnswerSpace {
    type Input = AnswerSequence;

    fn draw(&self, _: &mut SearchRng<'_>) -> AnswerSequence {
        AnswerSequence::default()
    }

    fn vary(&self, input: &mut AnswerSequence, other: &AnswerSequence, rng: &mut SearchRng<'_>) {
        let (answers, rng) = (&mut input.0, &mut *rng.0);
        let most = rng.between(0, STACK_BITS_MAX);
        for _ in 0..rng.between(1, 1 << most) {
            if answers.is_empty() {
                return;
            }
            vary_once(answers, &other.0, rng);
        }
        answers.truncate(ANSWERS_MAX);
    }

    /// What the program draws: a number counts as one, bytes by their length.
    fn size(&self, input: &AnswerSequence) -> u64 {
        let size = |logged: &LoggedAnswer| match &logged.answer {
            Override::Number(_) => 1,
            Override::Bytes(digits) => digits.len() as u64 / 2,
        };
        input.0.iter().filter(|logged| logged.is_drawn).map(size).sum()
    }
}

fn vary_once(answers: &mut Vec<LoggedAnswer>, other: &[LoggedAnswer], rng: &mut Rng) {
    let len = answers.len();
    let at = rng.index(len);
    let block = at..at + block_length(len - at, rng);
    // One answer of many hardly matters.
    let others = if len > LONG { LONG_OTHERS } else { SHORT_OTHERS };
    match rng.below(others) {
        0 => answers.truncate(at),
        1 => {
            answers.drain(block);
        }
        2 => {
            let copy = answers[block].to_vec();
            let to = rng.between(0, len);
            answers.splice(to..to, copy);
        }
        3 => {
            // The other's, from the same place on.
            if at < other.len() {
                let end = (at + rng.length(other.len() - at)).min(other.len());
                answers.splice(at..end.min(len), other[at..end].iter().cloned());
            }
        }
        4 => {
            let alike = alike(answers, at);
            let chosen = answers[alike[rng.index(alike.len())]].answer.clone();
            let from = block_begin(alike.len(), rng);
            let number = block_length(alike.len() - from, rng);
            alike.iter().skip(from).take(number).for_each(|place| answers[*place].answer = chosen.clone());
        }
        5 | 6 => put_in_order(answers, at, rng),
        _ => change(&mut answers[at], rng),
    }
}

/// Where a block begins: as often as not, at the beginning.
fn block_begin(len: usize, rng: &mut Rng) -> usize {
    if rng.one_in(2) { 0 } else { rng.index(len) }
}

/// How long a block is of at most so many: as often as not, as long as it can be.
fn block_length(most: usize, rng: &mut Rng) -> usize {
    if rng.one_in(2) { most } else { rng.length(most) }
}

/// The places of answers to questions as that at a place: of the same bound, or as many bytes.
fn alike(answers: &[LoggedAnswer], at: usize) -> Vec<usize> {
    let key = |logged: &LoggedAnswer| {
        let bytes = match &logged.answer {
            Override::Bytes(digits) => Some(digits.len()),
            Override::Number(_) => None,
        };
        (logged.bound, logged.is_drawn, bytes)
    };
    let wanted = key(&answers[at]);
    (0..answers.len()).filter(|place| key(&answers[*place]) == wanted).collect()
}

/// Sorts numbers of one kind, up or down, or has them rise or fall evenly.
fn put_in_order(answers: &mut [LoggedAnswer], at: usize, rng: &mut Rng) {
    let alike = alike(answers, at);
    let from = block_begin(alike.len(), rng);
    let places = &alike[from..from + block_length(alike.len() - from, rng)];
    let number = |place: &usize| match answers[*place].answer {
        Override::Number(number) => Some(number),
        Override::Bytes(_) => None,
    };
    let Some(mut numbers) = places.iter().map(number).collect::<Option<Vec<u64>>>() else { return };
    if rng.one_in(2) {
        let bound = answers[at].bound.max(1);
        // Steps of powers of two are what tables with as many buckets tell apart least.
        let step =
            if rng.one_in(2) { rng.length(STEP_MAX) as u64 } else { 1 << rng.below(u64::from(bound.ilog2()) + 1) };
        let first = numbers[0];
        let nth = |count: u64| ((u128::from(first) + u128::from(count) * u128::from(step)) % u128::from(bound)) as u64;
        (0..).zip(&mut numbers).for_each(|(count, number)| *number = nth(count));
    } else {
        numbers.sort_unstable();
    }
    if rng.one_in(2) {
        numbers.reverse();
    }
    for (place, number) in places.iter().zip(numbers) {
        answers[*place].answer = Override::Number(number);
    }
}

/// Changes one answer.
fn change(logged: &mut LoggedAnswer, rng: &mut Rng) {
    let bound = logged.bound.max(1);
    match &mut logged.answer {
        Override::Number(number) => {
            let step = rng.length(STEP_MAX) as u64;
            *number = match rng.below(6) {
                0 => 0,
                1 => bound - 1,
                2 => number.saturating_sub(step),
                3 => (*number + step).min(bound - 1),
                4 => number.saturating_mul(2).min(bound - 1),
                _ => rng.below(bound),
            };
        }
        Override::Bytes(digits) => {
            let mut bytes = unhex(digits).unwrap_or_default();
            if bytes.is_empty() {
                return;
            }
            let from = rng.index(bytes.len());
            let most = bytes.len() - from;
            let to = from + rng.length(most);
            match rng.below(4) {
                0 => bytes[from] = rng.byte(),
                1 => {
                    let byte = bytes[rng.index(bytes.len())];
                    bytes[from..to].fill(byte);
                }
                2 => {
                    let source = rng.index(bytes.len() - (to - from) + 1);
                    bytes.copy_within(source..source + (to - from), from);
                }
                _ => rng.fill(&mut bytes[from..to]),
            }
            *digits = hex(&bytes);
        }
    }
}
