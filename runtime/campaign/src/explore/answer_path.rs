//! The answers from the start of a run up to a place, shared with the places that are behind it.
//!
//! ```text
//! start ◀── [a b c] ◀── [d e]        answers of [d e]: a b c d e
//!              ▲─────── [f g]
//! ```
//!
//! Invariants: a path never changes; a place of many thousand answers takes room for those only that no place before it has.

use fozzy_search::explore::CompactAnswers;
use fozzy_trace::source::Override;
use std::sync::Arc;

/// The way to a place.
#[derive(Debug, Default)]
pub(super) struct AnswerPath {
    before: Option<Arc<AnswerPath>>,
    own: CompactAnswers,
    /// Answers from the start.
    len: usize,
}

impl AnswerPath {
    /// The path of the first answers of a run that has continued `before`.
    pub(super) fn of(before: &Arc<AnswerPath>, answers: &[Override]) -> Arc<AnswerPath> {
        let len = answers.len();
        let (before, own) = match answers.get(before.len..) {
            Some([]) => return Arc::clone(before),
            Some(own) => (Some(Arc::clone(before)), own),
            None => (None, answers),
        };
        Arc::new(AnswerPath { before, own: CompactAnswers::of(own), len })
    }

    /// All of its answers.
    pub(super) fn answers(&self) -> Arc<[Override]> {
        let (mut parts, mut at) = (Vec::new(), Some(self));
        while let Some(path) = at {
            parts.push(&path.own);
            at = path.before.as_deref();
        }
        let mut all: Vec<Override> = Vec::with_capacity(self.len);
        parts.into_iter().rev().for_each(|part| all.extend(part.iter()));
        all.into()
    }
}

impl Drop for AnswerPath {
    /// One after the other: a long way would need as deep a stack.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(mut path) = before.and_then(Arc::into_inner) {
            before = path.before.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_share_what_they_begin_with() {
        /// Places, and answers that each adds to the one before it.
        const PLACES: usize = 2_000;
        const ADDED: usize = 5;
        let answers: Vec<Override> = (0..PLACES * ADDED).map(|number| Override::Number(number as u64 % 32)).collect();
        let mut path = Arc::new(AnswerPath::default());
        let mut bytes = 0;
        for place in 1..=PLACES {
            path = AnswerPath::of(&path, &answers[..place * ADDED]);
            bytes += path.own.bytes();
        }
        // All of them take what the longest would take alone.
        assert_eq!((bytes, path.len), (PLACES * ADDED, PLACES * ADDED));
        assert_eq!(*path.answers(), *answers);
        assert!(Arc::ptr_eq(&path, &AnswerPath::of(&path, &answers)), "nothing is behind it");
        assert_eq!(*AnswerPath::of(&path, &answers[..7]).answers(), answers[..7], "a place before it");
    }
}
