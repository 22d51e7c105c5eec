//! Every answer of every step in turn, from every new state: `dfs` continues from the latest place, `bfs` from the earliest.
//!
//! ```text
//! asked, answered   below 3 ─▶ 0, below 2 ─▶ 1          next script: 1, then the simplest
//!                   below 3 ─▶ 1, below 2 ─▶ 0                       1 1, …
//! ```
//!
//! Of a question with many answers, [`ANSWERS_MAX`] are tried, evenly spread: a bound on the search, not a claim about the rest.

use super::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec};
use crate::explore::decision_path::PlaceId;
use crate::explore::frontier::Frontier;
use crate::explore::guided_source::{AnswerLog, AnswerPolicy, FaultChoice, TaskOrder};
use crate::explore::novelty::NewCoverage;
use crate::explore::options::Options;
use crate::explore::swarm::AnswerMask;
use crate::rng::Rng;
use fozzy_trace::source::Override;
use std::collections::VecDeque;
use std::sync::Arc;

/// Answers of one question that are tried.
const ANSWERS_MAX: u64 = 64;
/// Questions of one step whose answers are tried in turn; the later ones get the simplest.
const QUESTIONS_MAX: usize = 16;

/// A place whose next step is not done with.
struct OpenNode {
    /// `None` is the start.
    place: Option<PlaceId>,
    script: Arc<[Override]>,
}

pub(super) struct SystematicSearch {
    latest_first: bool,
    open: VecDeque<OpenNode>,
    /// The one that was tried last.
    tried: Option<OpenNode>,
}

impl SystematicSearch {
    pub(super) fn new(_: &Options, latest_first: bool) -> SystematicSearch {
        let start = OpenNode { place: None, script: Arc::from([]) };
        SystematicSearch { latest_first, open: VecDeque::from([start]), tried: None }
    }
}

impl ExplorationStrategy for SystematicSearch {
    fn next(&mut self, frontier: &mut Frontier, _: &mut Rng) -> Option<RunSpec> {
        let (open, origin) = loop {
            let open = if self.latest_first { self.open.pop_back() } else { self.open.pop_front() }?;
            match open.place.map(|place| frontier.node(place)) {
                None => break (open, RunOrigin::Start),
                Some(Some(node)) => break (open, RunOrigin::Place(Arc::clone(node))),
                // It had to go for others.
                Some(None) => {}
            }
        };
        let policy = AnswerPolicy {
            mask: AnswerMask::All,
            order: TaskOrder::First,
            simplest: true,
            toggle: 0.0,
            faults: FaultChoice::Chance,
        };
        // At the start there is the beginning, and no step.
        let steps = u32::from(open.place.is_some());
        let script = Arc::clone(&open.script);
        self.tried = Some(open);
        Some(RunSpec { origin, steps, script, policy, capture: CapturePolicy::States, compares: false })
    }

    fn learn(&mut self, _: NewCoverage, _: u32, answers: &AnswerLog) {
        let Some(OpenNode { place, .. }) = self.tried.take() else { return };
        let Some(script) = following(answers.numbers()) else { return };
        let again = OpenNode { place, script };
        // Below the places that were found by it, from which `dfs` continues first.
        if self.latest_first {
            let found = self.open.iter().rev().take_while(|open| open.place > place).count();
            self.open.insert(self.open.len() - found, again);
        } else {
            self.open.push_front(again);
        }
    }

    fn on_captured(&mut self, place: PlaceId) {
        self.open.push_back(OpenNode { place: Some(place), script: Arc::from([]) });
    }
}

/// The script after the one that led to these answers; `None` after the last.
fn following(mut answers: Vec<(u64, u64)>) -> Option<Arc<[Override]>> {
    answers.truncate(QUESTIONS_MAX);
    while let Some((answer, bound)) = answers.pop() {
        let stride = bound.div_ceil(ANSWERS_MAX);
        if let Some(next) = answer.checked_add(stride).filter(|next| *next < bound) {
            let before = answers.into_iter().map(|(answer, _)| answer);
            return Some(before.chain([next]).map(Override::Number).collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_comes_once() {
        let bounds = [3u64, 2, 2];
        let mut script: Option<Arc<[Override]>> = Some(Arc::from([]));
        let mut seen = Vec::new();
        while let Some(given) = script {
            let number = |at: usize| match given.get(at) {
                Some(Override::Number(number)) => *number,
                _ => 0,
            };
            let answers: Vec<(u64, u64)> = bounds.iter().enumerate().map(|(at, bound)| (number(at), *bound)).collect();
            seen.push(answers.iter().map(|(answer, _)| *answer).collect::<Vec<_>>());
            script = following(answers);
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!((count, seen.len()), (12, 12));
    }
}
