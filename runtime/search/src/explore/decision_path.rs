//! A way through a scenario: all answers from time zero, shared with the ways that begin in the same way.
//!
//! ```text
//! start [a a] ◀── [b c d] ◀── [e]       path of [e]: a a b c d e, and the number of steps
//!                    ▲─────── [f g]
//! ```
//!
//! Invariant: a way never changes.

use fozzy_trace::source::Override;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All that a run needs to go the same way: its answers, by the number of their question, and how far it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// The way to a place.
#[derive(Debug, Default)]
pub(crate) struct PathNode {
    before: Option<Arc<PathNode>>,
    answers: Box<[Override]>,
    /// Steps from the start; none before the beginning.
    pub(crate) steps: u32,
}

impl PathNode {
    /// The way that goes on from `before` by these answers.
    pub(crate) fn from(before: Option<&Arc<PathNode>>, answers: &[Override], steps: u32) -> Arc<PathNode> {
        Arc::new(PathNode { before: before.cloned(), answers: answers.into(), steps })
    }

    /// Its answers.
    pub(crate) fn len(&self) -> usize {
        self.answers.len() + self.before.as_ref().map_or(0, |before| before.len())
    }

    /// The path of going this way, and then on by `answers` for some steps.
    pub(crate) fn path(&self, answers: &[Override], steps: u32) -> DecisionPath {
        let mut parts = vec![answers];
        let mut at = Some(self);
        while let Some(node) = at {
            parts.push(&node.answers);
            at = node.before.as_deref();
        }
        let answers = parts.into_iter().rev().flatten().cloned().collect();
        DecisionPath { answers, steps: self.steps + steps }
    }
}
