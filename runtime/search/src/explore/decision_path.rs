//! A way through a scenario: all answers from time zero, shared with the ways that begin in the same way.
//!
//! ```text
//! start [a a] ◀── [b c d] ◀── [e]       path of [e]: a a b c d e, and the number of steps
//!                    ▲─────── [f g]
//! a whole run, and the run that goes on from a beginning of it:      [h i j k l] ◀─ 2 ── [] ◀── [m n]       path: h i m n
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

impl PathNodeId {
    /// Of a beginning of a whole run, which is no place of its own.
    const BEGINNING: PathNodeId = PathNodeId(u64::MAX);
}

/// The path to a checkpoint, as a tree of common prefixes.
#[derive(Debug, Default)]
pub(crate) struct PathNode {
    before: Option<Arc<PathNode>>,
    /// How many of the answers that are the own ones of `before` it continues, if not all.
    cut: Option<usize>,
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
        let answers = CompactAnswers::of(answers);
        Arc::new(PathNode { before: before.cloned(), cut: None, answers, len, weight, steps, id })
    }

    /// The path of a whole run up to some of its own answers. No step leads there: a run from there is one step again. Up to none of them
    /// it is the path that the run itself goes on from, so that runs do not stand behind others of which they have nothing.
    pub(crate) fn beginning_of(run: &Arc<PathNode>, own: usize) -> Arc<PathNode> {
        if let (0, Some(before)) = (own, &run.before) {
            return Arc::clone(before);
        }
        let (len, weight) = run.before.as_ref().map_or((0, 0), |before| (before.len, before.weight));
        let weight = weight + run.answers.iter().take(own).map(|answer| answer.weight()).sum::<usize>();
        let (len, id) = (len + own, PathNodeId::BEGINNING);
        let answers = CompactAnswers::default();
        Arc::new(PathNode { before: Some(Arc::clone(run)), cut: Some(own), answers, len, weight, steps: 0, id })
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

    /// How many these are.
    pub(crate) fn own_len(&self) -> usize {
        self.len - self.before.as_ref().map_or(0, |before| before.len)
    }

    /// The way that it continues.
    pub(crate) fn before(&self) -> Option<&Arc<PathNode>> {
        self.before.as_ref()
    }

    /// The path of going this way, and then on by `answers` for some steps.
    pub(crate) fn path(&self, answers: &[Override], steps: u32) -> DecisionPath {
        let mut path = self.answers_since(None, answers.len());
        path.extend_from_slice(answers);
        DecisionPath { answers: path, steps: self.steps + steps }
    }

    /// The answers from a place on this way to here.
    pub(crate) fn answers_behind(&self, place: PathNodeId) -> Vec<Override> {
        self.answers_since(Some(place), 0)
    }

    /// The same, with room for some more; all of them, if no place is named.
    fn answers_since(&self, place: Option<PathNodeId>, room: usize) -> Vec<Override> {
        let (mut parts, mut at, mut most) = (Vec::new(), Some(self), usize::MAX);
        while let Some(node) = at.filter(|node| place != Some(node.id)) {
            parts.push((&node.answers, most));
            (at, most) = (node.before.as_deref(), node.cut.unwrap_or(usize::MAX));
        }
        // There are a million answers in the paths of an exploration, so that each takes the room that it needs, once.
        let behind = self.len.saturating_sub(at.map_or(0, |node| node.len));
        let mut all: Vec<Override> = Vec::with_capacity(behind + room);
        parts.into_iter().rev().for_each(|(answers, most)| all.extend(answers.iter().take(most)));
        all
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

    #[test]
    fn a_run_from_a_beginning_of_another_one_has_its_first_answers_only() {
        let numbers = |numbers: &[u64]| numbers.iter().copied().map(Override::Number).collect::<Vec<_>>();
        let start = PathNode::from(None, &numbers(&[9]), 0, PathNodeId(0));
        let run = PathNode::from(Some(&start), &numbers(&[1, 2, 3, 4]), 1, PathNodeId(1));
        let beginning = PathNode::beginning_of(&run, 2);
        let next = PathNode::from(Some(&beginning), &numbers(&[5, 6, 7]), 1, PathNodeId(2));
        let again = PathNode::beginning_of(&next, 1);
        assert_eq!(again.path(&numbers(&[8]), 1), DecisionPath { answers: numbers(&[9, 1, 2, 5, 8]), steps: 1 });
        assert_eq!(again.answers_behind(PathNodeId(0)), numbers(&[1, 2, 5]));
        assert_eq!((run.own_len(), next.own_len(), next.len(), again.len()), (4, 3, 6, 4));
        let [none_of_run, none_of_next] = [&run, &next].map(|run| PathNode::beginning_of(run, 0));
        assert!(Arc::ptr_eq(&none_of_run, &start) && Arc::ptr_eq(&none_of_next, &beginning), "no answer of theirs");
        assert_eq!(again.weight(), PathNode::from(None, &numbers(&[9, 1, 2, 5]), 1, PathNodeId(3)).weight());
    }
}
