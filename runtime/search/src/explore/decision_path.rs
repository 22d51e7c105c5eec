//! A way through a scenario: all answers from time zero, shared with the ways that begin in the same way.
//!
//! ```text
//! start [a a] ◀── [b c d] ◀── [e]       path of [e]: a a b c d e, and the number of steps
//!                    ▲─────── [f g]
//! ```
//!
//! Invariant: a way never changes.

use super::compact_answers::CompactAnswers;
use fozzy_trace::source::Override;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All that a run needs to go the same way: its answers, by the number of their question, and how far it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionPath {
    /// The answers, in the order of the questions.
    pub answers: Vec<Override>,
    /// Steps.
    pub steps: u32,
}

impl DecisionPath {
    /// The answers by the numbers of their questions, as a recording has them.
    #[must_use]
    pub fn overrides(&self) -> BTreeMap<u64, Override> {
        (0..).zip(self.answers.iter().cloned()).collect()
    }
}

/// Identifies a path of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PathNodeId(pub(crate) u64);

/// The path to a checkpoint, as a tree of common prefixes.
#[derive(Debug, Default)]
pub(crate) struct PathNode {
    before: Option<Arc<PathNode>>,
    answers: CompactAnswers,
    /// Answers from the start, and what they weigh.
    len: usize,
    weight: usize,
    /// Steps from the start; none before the beginning.
    pub(crate) steps: u32,
    /// Its number; the start is the first.
    pub(crate) id: PathNodeId,
}

impl PathNode {
    /// The path that extends `before` by these answers.
    pub(crate) fn from(
        before: Option<&Arc<PathNode>>,
        answers: &[Override],
        steps: u32,
        id: PathNodeId,
    ) -> Arc<PathNode> {
        let (len, weight) = before.map_or((0, 0), |before| (before.len, before.weight));
        let (len, weight) = (len + answers.len(), weight + answers.iter().map(Override::weight).sum::<usize>());
        Arc::new(PathNode { before: before.cloned(), answers: CompactAnswers::of(answers), len, weight, steps, id })
    }

    /// Its answers.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// What its answers weigh.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// Its own answers, without those of the way that it continues.
    pub(crate) fn own_answers(&self) -> &CompactAnswers {
        &self.answers
    }

    /// The way that it continues.
    pub(crate) fn before(&self) -> Option<&Arc<PathNode>> {
        self.before.as_ref()
    }

    /// The path of going this way, and then on by `answers` for some steps.
    pub(crate) fn path(&self, answers: &[Override], steps: u32) -> DecisionPath {
        let (mut parts, mut at) = (Vec::new(), Some(self));
        while let Some(node) = at {
            parts.push(&node.answers);
            at = node.before.as_deref();
        }
        // There are a million answers in the paths of an exploration, so that each takes the room that it needs, once.
        let mut all: Vec<Override> = Vec::with_capacity(self.len + answers.len());
        parts.into_iter().rev().for_each(|part| all.extend(part.iter()));
        all.extend_from_slice(answers);
        DecisionPath { answers: all, steps: self.steps + steps }
    }
}

impl Drop for PathNode {
    /// One after the other: a long way would need as deep a stack.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(node) = before.and_then(Arc::into_inner) {
            let mut node = node;
            before = node.before.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_of_many_stretches_is_dropped_and_told_without_a_deep_stack() {
        const STRETCHES: u32 = 200_000;
        let mut node = PathNode::from(None, &[], 0, PathNodeId(0));
        for steps in 1..=STRETCHES {
            node = PathNode::from(Some(&node), &[Override::Number(steps.into())], steps, PathNodeId(steps.into()));
        }
        assert_eq!((node.len(), node.path(&[], 1).steps), (STRETCHES as usize, STRETCHES + 1));
        let path = node.path(&[Override::Number(0)], 1);
        assert_eq!((&path.answers[1], path.answers.last()), (&Override::Number(2), Some(&Override::Number(0))));
        assert_eq!((path.answers.len(), path.answers.capacity()), (STRETCHES as usize + 1, STRETCHES as usize + 1));
    }
}
