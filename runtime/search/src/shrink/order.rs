//! The order of shrinking: which of two candidates that fail alike is the smaller one.
//!
//! ```text
//! planned faults │ steps │ strikes │ decisions │ answers, in order │ input         the first that differs decides
//! 1              │ 3     │ 1       │ 6         │ 1 40 5 17 2 80    │ ""
//! 1              │ 3     │ 1       │ 6         │ 1 40 5 17 2 0     │ ""            smaller, by its last answer
//! 1              │ 3     │ 1       │ 7         │ 1 0 0 5 17 2 0    │ ""            larger, by its decisions
//! 1              │ 3     │ 0       │ 9         │ 1 0 0 5 17 2 0 …  │ ""            smaller, since no fault strikes
//! ```
//!
//! Before all of them, a cluster of fewer machines is smaller, and then one whose program has shorter arguments: they say how many clients there are.
//!
//! Over decisions the order is shortlex, as in Hypothesis: fewer decisions first, then simpler answers from the first decision
//! on. A number is simpler than a larger one, bytes are simpler than longer ones.
//!
//! Invariant: it is a total preorder over what was executed: candidates that are equal in it are two notations of one execution.

use super::ShrinkCandidate;
use super::faults::strikes_at;
use super::input::planned;
use crate::keyed_source::{Decision, LOGGED_MAX};
use fozzy_trace::source::Override;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Compares two candidates, each with what its execution decided.
pub(super) fn compare(one: (&ShrinkCandidate, &[Decision]), other: (&ShrinkCandidate, &[Decision])) -> Ordering {
    let ((one, log), (other, other_log)) = (one, other);
    let faults = one.plan.faults.len().cmp(&other.plan.faults.len());
    let sizes = cluster(one).cmp(&cluster(other)).then(faults);
    sizes.then_with(|| by_decisions((one, log), (other, other_log))).then_with(|| by_input(one, other))
}

/// Machines, and the arguments of the main program, unless one of them is an input, which is compared as such.
fn cluster(of: &ShrinkCandidate) -> (usize, usize, &[String]) {
    let args = if of.plan.input.is_none() { of.plan.main.args.as_slice() } else { &[] };
    (of.plan.nodes.len(), args.iter().map(String::len).sum(), args)
}

/// Of two executions that decide more than is logged, it is not known which is smaller.
fn by_decisions(one: (&ShrinkCandidate, &[Decision]), other: (&ShrinkCandidate, &[Decision])) -> Ordering {
    if one.1.len().min(other.1.len()) == LOGGED_MAX {
        return Ordering::Equal;
    }
    let size = |(of, log): (&ShrinkCandidate, &[Decision])| {
        let strikes = log.iter().filter(|decision| strikes_at(&of.plan, decision)).count();
        (steps(log), strikes, log.len())
    };
    size(one).cmp(&size(other)).then_with(|| one.1.iter().map(rank).cmp(other.1.iter().map(rank)))
}

/// Standard input, then the input of a campaign.
fn by_input(one: &ShrinkCandidate, other: &ShrinkCandidate) -> Ordering {
    let [one, other] = [planned(one), planned(other)].map(|given| given.map(Option::unwrap_or_default));
    let of = |given: &[Arc<[u8]>; 2]| given.each_ref().map(|bytes| (bytes.len(), Arc::clone(bytes)));
    of(&one).cmp(&of(&other))
}

/// Steps of a scenario that decided anything; each decides about its flow.
fn steps(log: &[Decision]) -> usize {
    let parts = log.iter().map(|decision| decision.key.part).filter(|part| part.step_number().is_some());
    parts.collect::<BTreeSet<_>>().len()
}

/// How simple an answer is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum AnswerRank<'a> {
    Number(u64),
    /// Bytes, as the number of their digits and the digits.
    Bytes(usize, &'a [u8]),
}

fn rank(decision: &Decision) -> AnswerRank<'_> {
    match &decision.answer {
        Override::Number(number) => AnswerRank::Number(*number),
        Override::Bytes(digits) => {
            let (length, digits) = shortlex(digits.as_bytes());
            AnswerRank::Bytes(length, digits)
        }
    }
}

fn shortlex(bytes: &[u8]) -> (usize, &[u8]) {
    (bytes.len(), bytes)
}
