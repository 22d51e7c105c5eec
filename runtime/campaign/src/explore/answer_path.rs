//! The answers from the start of a run up to a place, shared with the places that are behind it.
//!
//! ```text
//! start ◀── [a b c] ◀── [d e]        answers of [d e]: a b c d e
//!              ▲─────── [f g]
//! a beginning, and who continues it:    [h i j k l] ◀─ 2 ── [] ◀── [m n]       answers of [m n]: h i m n
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
    /// How many of the answers that are the own ones of `before` it continues, if not all.
    cut: Option<usize>,
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
        Arc::new(AnswerPath { before, cut: None, own: CompactAnswers::of(own), len })
    }

    /// The path of the first `answers` of this one: itself where it has no more, and one before it where that has as many, so that nothing
    /// stands behind a path of which it has nothing.
    pub(super) fn beginning(path: &Arc<AnswerPath>, answers: usize) -> Arc<AnswerPath> {
        let mut whole = path;
        while let Some(before) = whole.before.as_ref().filter(|before| answers <= before.len) {
            whole = before;
        }
        if answers >= whole.len {
            return Arc::clone(whole);
        }
        let cut = Some(answers - whole.before.as_ref().map_or(0, |before| before.len));
        Arc::new(AnswerPath { before: Some(Arc::clone(whole)), cut, own: CompactAnswers::default(), len: answers })
    }

    /// All of its answers.
    pub(super) fn answers(&self) -> Arc<[Override]> {
        let (mut parts, mut at, mut most) = (Vec::new(), Some(self), usize::MAX);
        while let Some(path) = at {
            parts.push((&path.own, most));
            (at, most) = (path.before.as_deref(), path.cut.unwrap_or(usize::MAX));
        }
        let mut all: Vec<Override> = Vec::with_capacity(self.len);
        parts.into_iter().rev().for_each(|(own, most)| all.extend(own.iter().take(most)));
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
        for len in [0, 1, 4, 5, 7, PLACES * ADDED - 1, PLACES * ADDED, usize::MAX] {
            let beginning = AnswerPath::beginning(&path, len);
            assert_eq!(beginning.answers().len(), beginning.len);
            assert_eq!(*beginning.answers(), answers[..len.min(answers.len())], "a beginning of {len}");
            let is_place = len >= answers.len() || len > 0 && len % ADDED == 0;
            assert_eq!(beginning.own.bytes() > 0, is_place, "nothing is kept twice");
        }
    }

    #[test]
    fn who_continues_a_beginning_has_its_answers_and_no_others() {
        let numbers = |numbers: &[u64]| numbers.iter().copied().map(Override::Number).collect::<Vec<_>>();
        let run = AnswerPath::of(&Arc::default(), &numbers(&[1, 2, 3, 4, 5]));
        let next = AnswerPath::of(&AnswerPath::beginning(&run, 2), &numbers(&[1, 2, 6, 7, 8]));
        assert_eq!(*next.answers(), numbers(&[1, 2, 6, 7, 8]));
        for len in 0..=5 {
            assert_eq!(*AnswerPath::beginning(&next, len).answers(), next.answers()[..len], "{len}");
        }
        let last = AnswerPath::of(&AnswerPath::beginning(&next, 3), &numbers(&[1, 2, 6, 9]));
        assert_eq!(*AnswerPath::beginning(&last, 1).answers(), numbers(&[1]));
        assert_eq!(*last.answers(), numbers(&[1, 2, 6, 9]));
    }

    #[test]
    fn who_continues_one_beginning_after_the_other_stands_behind_those_only_of_which_it_has_answers() {
        let numbers = |last| [1, 2, last].map(Override::Number);
        let mut path = AnswerPath::of(&Arc::default(), &numbers(0));
        for last in 1..=100 {
            path = AnswerPath::of(&AnswerPath::beginning(&path, 2), &numbers(last));
            assert_eq!(*path.answers(), numbers(last));
        }
        // Itself, the beginning, the first one and the start.
        assert_eq!(std::iter::successors(Some(&path), |path| path.before.as_ref()).count(), 4);
    }
}
