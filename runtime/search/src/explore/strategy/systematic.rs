//! Every way in turn, by how far it is from the one that answers everything in the simplest manner: bounded search as that of CHESS
//! ("Iterative context bounding for systematic testing of multithreaded programs", 2007) and of delay bounding (2011).
//!
//! ```text
//! step      asked, answered: below 3 ─▶ 0, below 2 ─▶ 0      further ways: 1 │ 2 │ 0 1, each one deviation away
//! dfs       the latest places and questions first; one deviation in each step is free, more of them are levels
//! bfs       the earliest first; a deviation is a level, and so are some steps more
//! ```
//!
//! Half of the runs are of the lowest level that has some, a quarter of the next, and so on: no level waits for one that never ends.
//! A step that leads to a state that the scenario has named before is not continued. A finite space comes to its end. A search that is continued begins with
//! all places of before, and does not say that every way was gone.
//!
//! Not exhaustive: of a question with many answers [`ANSWERS_MAX`](alternatives::ANSWERS_MAX) are tried, and of bytes none but zeros. That is
//! told by `is_exhaustive`, as are ways that are dropped because [`OPEN_MAX`] wait.

pub(crate) mod alternatives;

use super::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec};
use crate::explore::decision_path::{PathNode, PathNodeId};
use crate::explore::frontier::Frontier;
use crate::explore::guided_source::{AnswerLog, AnswerPolicy, FaultChoice, TaskOrder};
use crate::explore::novelty::NewCoverage;
use crate::explore::options::Options;
use crate::explore::swarm::AnswerMask;
use crate::rng::Rng;
use alternatives::{AskedQuestion, COST_MAX};
use fozzy_trace::source::Override;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Questions of one step that are answered in other ways, too.
const QUESTIONS_MAX: usize = 4096;
/// Answers of all steps that are not done with, some tens of megabytes. Beyond, ways are dropped.
const OPEN_MAX: usize = 1 << 20;
/// What a place or a step that is not done with takes beside its answers, in answers.
const OPEN_WEIGHT: usize = 8;
/// What a deviation weighs against steps, when the earliest places come first.
const DEVIATION: u32 = 4;

/// The order of the search.
#[derive(Clone, Copy, Debug)]
struct SearchOrder {
    latest_first: bool,
    /// What a further step adds to a level.
    step: u32,
}

impl SearchOrder {
    /// The level of a step from `place` with deviations of this cost.
    fn level(self, place: u32, deviations: u32) -> u32 {
        let weighs =
            if self.latest_first { deviations.saturating_sub(1) } else { deviations.saturating_mul(DEVIATION) };
        place.saturating_add(weighs)
    }
}

/// The path that a step extends; `None` is the start, before the first step.
type StepOrigin = Option<Arc<PathNode>>;

/// What is left to search.
#[derive(Clone, Debug)]
enum OpenNode {
    /// A path that is not extended yet.
    Place { place: StepOrigin, level: u32 },
    /// A step with other answers.
    Step(StepVariants),
}

/// Variants of a step that deviate once more than the one that was executed.
#[derive(Clone, Debug)]
struct StepVariants {
    place: StepOrigin,
    /// The level of the place.
    level: u32,
    /// What the deviations so far cost.
    spent: u32,
    asked: Arc<[AskedQuestion]>,
    /// The first question that may be answered otherwise.
    from: usize,
    /// The costs of all their alternatives, a bit for each.
    costs: u16,
    /// The cost of those that it is at.
    cost: u32,
    /// How many questions are done with, at that cost, and the next alternative of the one that is not.
    done: usize,
    next: u64,
}

/// The step that is executed now.
struct PendingStep {
    place: StepOrigin,
    level: u32,
    spent: u32,
    from: usize,
}

pub(super) struct SystematicSearch {
    order: SearchOrder,
    capture: CapturePolicy,
    /// Steps of a way, at most.
    steps: u32,
    open: BTreeMap<u32, VecDeque<OpenNode>>,
    /// What they weigh.
    weight: usize,
    turns: u64,
    taken: Option<PendingStep>,
    /// The place that the last step has led to, and its level.
    found: Option<(PathNodeId, u32)>,
    leaves_out: bool,
}

impl SystematicSearch {
    pub(super) fn new(options: &Options, latest_first: bool) -> SystematicSearch {
        // The steps of a file are given, and what its branches say of their places is no state of all.
        let is_file = options.steps_max < u32::MAX;
        let mut search = SystematicSearch {
            order: SearchOrder { latest_first, step: u32::from(!latest_first && !is_file) },
            capture: if is_file { CapturePolicy::All } else { CapturePolicy::States },
            steps: options.steps_per_run.min(options.steps_max),
            open: BTreeMap::new(),
            weight: 0,
            turns: 0,
            taken: None,
            found: None,
            leaves_out: false,
        };
        search.add(OpenNode::Place { place: None, level: 0 });
        search
    }

    /// Opens what is not done with, if there is room.
    fn add(&mut self, node: OpenNode) {
        let weight = node.weight();
        if self.weight + weight > OPEN_MAX {
            self.leaves_out = true;
            return;
        }
        self.weight += weight;
        self.open.entry(node.level(self.order)).or_default().push_back(node);
    }

    /// One of a level: the lower, the more often.
    fn take(&mut self) -> Option<OpenNode> {
        self.turns += 1;
        let at = (self.turns.trailing_zeros() as usize).min(self.open.len().checked_sub(1)?);
        let (level, nodes) = self.open.iter_mut().nth(at)?;
        let level = *level;
        let node = if self.order.latest_first { nodes.pop_back() } else { nodes.pop_front() }?;
        if nodes.is_empty() {
            self.open.remove(&level);
        }
        self.weight -= node.weight();
        Some(node)
    }

    /// Puts back what was taken and is not done with: it is the first again.
    fn put_back(&mut self, step: StepVariants) {
        let node = OpenNode::Step(step);
        self.weight += node.weight();
        let nodes = self.open.entry(node.level(self.order)).or_default();
        if self.order.latest_first { nodes.push_back(node) } else { nodes.push_front(node) }
    }

    /// What is tried next: a step, and its first answers.
    fn choose(&mut self) -> Option<(PendingStep, Arc<[Override]>)> {
        loop {
            match self.take()? {
                OpenNode::Place { place, level } => {
                    return Some((PendingStep { place, level, spent: 0, from: 0 }, Arc::from([])));
                }
                OpenNode::Step(mut step) => match step.next(self.order.latest_first) {
                    Some((at, answer)) => {
                        let before = step.asked[..at].iter().map(|asked| asked.answer.clone());
                        let script = before.chain([Override::Number(answer)]).collect();
                        let (place, level, spent) = (step.place.clone(), step.level, step.spent + step.cost);
                        self.put_back(step);
                        return Some((PendingStep { place, level, spent, from: at + 1 }, script));
                    }
                    None => step.dearer().into_iter().for_each(|step| self.add(OpenNode::Step(step))),
                },
            }
        }
    }

    /// The place that the last step has led to is continued.
    fn open_found(&mut self, frontier: &Frontier) {
        let Some((place, level)) = self.found.take() else { return };
        match frontier.node(place) {
            Some(node) if node.steps < self.steps => {
                let (place, level) = (Some(Arc::clone(node)), level.saturating_add(self.order.step));
                self.add(OpenNode::Place { place, level });
            }
            Some(_) => {}
            None => self.leaves_out = true,
        }
    }
}

impl OpenNode {
    fn level(&self, order: SearchOrder) -> u32 {
        match self {
            OpenNode::Place { level, .. } => *level,
            OpenNode::Step(step) => order.level(step.level, step.spent + step.cost),
        }
    }

    fn weight(&self) -> usize {
        match self {
            OpenNode::Place { .. } => OPEN_WEIGHT,
            OpenNode::Step(step) => OPEN_WEIGHT + step.asked.iter().map(|asked| asked.answer.weight()).sum::<usize>(),
        }
    }
}

impl StepVariants {
    /// The variants of a step that was taken, if there are any.
    fn of(taken: PendingStep, asked: Vec<AskedQuestion>) -> Option<StepVariants> {
        let PendingStep { place, level, spent, from } = taken;
        let costs = asked.iter().skip(from).fold(0, |costs, asked| costs | asked.alternatives.costs());
        let (asked, cost, done, next) = (Arc::from(asked), 0, 0, 0);
        StepVariants { place, level, spent, asked, from, costs, cost, done, next }.dearer()
    }

    /// The alternatives of the next cost.
    fn dearer(self) -> Option<StepVariants> {
        let cost = (self.cost + 1..=COST_MAX).find(|cost| self.costs & 1 << cost != 0)?;
        Some(StepVariants { cost, done: 0, next: 1, ..self })
    }

    /// The next variant of this cost: which question, and what is answered.
    fn next(&mut self, latest_first: bool) -> Option<(usize, u64)> {
        let count = self.asked.len() - self.from;
        while self.done < count {
            let at = if latest_first { self.asked.len() - 1 - self.done } else { self.from + self.done };
            while let Some((answer, cost)) =
                self.asked[at].alternatives.get(self.next).filter(|(_, cost)| *cost <= self.cost)
            {
                self.next += 1;
                if cost == self.cost {
                    return Some((at, answer));
                }
            }
            (self.done, self.next) = (self.done + 1, 1);
        }
        None
    }
}

impl ExplorationStrategy for SystematicSearch {
    fn next(&mut self, frontier: &mut Frontier, _: &mut Rng) -> Option<RunSpec> {
        self.open_found(frontier);
        let (taken, script) = self.choose()?;
        let policy = AnswerPolicy {
            mask: AnswerMask::All,
            order: TaskOrder::First,
            simplest: true,
            toggle: 0.0,
            faults: FaultChoice::Chance,
        };
        let origin = taken.place.as_ref().map_or(RunOrigin::Start, |place| RunOrigin::Place(Arc::clone(place)));
        // At the start there is the beginning, and no step.
        let steps = u32::from(taken.place.is_some());
        self.taken = Some(taken);
        Some(RunSpec { origin, steps, script, policy, capture: self.capture, compares: false })
    }

    fn learn(&mut self, _: NewCoverage, _: u32, answers: &AnswerLog) {
        let Some(taken) = self.taken.take() else { return };
        let mut asked = answers.asked();
        self.leaves_out |= asked.len() > QUESTIONS_MAX || answers.is_truncated();
        asked.truncate(QUESTIONS_MAX);
        self.leaves_out |= asked.iter().any(|asked| asked.alternatives.is_sampled());
        let variants = StepVariants::of(taken, asked);
        variants.into_iter().for_each(|variants| self.add(OpenNode::Step(variants)));
    }

    fn on_captured(&mut self, place: PathNodeId) {
        let taken = self.taken.as_ref();
        self.found = taken.map(|taken| (place, self.order.level(taken.level, taken.spent)));
    }

    fn on_restored(&mut self, place: &Arc<PathNode>) {
        // Which ways were gone from there is not known, nor which were left out.
        self.leaves_out = true;
        if place.steps < self.steps {
            let level = place.steps.saturating_mul(self.order.step);
            self.add(OpenNode::Place { place: Some(Arc::clone(place)), level });
        }
    }

    fn is_exhaustive(&self) -> bool {
        !self.leaves_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alternatives::Alternatives;

    /// The ways of one step that asks for numbers below these bounds, in order.
    fn ways(bounds: &[u64], latest_first: bool) -> Vec<Vec<u64>> {
        let mut search = SystematicSearch::new(&Options::default(), latest_first);
        let mut ways = Vec::new();
        while let Some((taken, script)) = search.choose() {
            let number = |at: usize| match script.get(at) {
                Some(Override::Number(number)) => *number,
                _ => 0,
            };
            let asked = |(at, bound): (usize, &u64)| AskedQuestion {
                answer: Override::Number(number(at)),
                alternatives: Alternatives::Below(*bound),
            };
            ways.push((0..bounds.len()).map(number).collect());
            let asked = bounds.iter().enumerate().map(asked).collect();
            StepVariants::of(taken, asked).into_iter().for_each(|step| search.add(OpenNode::Step(step)));
        }
        assert_eq!((search.weight, search.open.len()), (0, 0));
        ways
    }

    #[test]
    fn every_combination_comes_once_and_few_deviations_come_first() {
        for latest_first in [false, true] {
            let ways = ways(&[3, 2, 2], latest_first);
            let all: BTreeMap<_, _> = ways.iter().map(|way| (way.clone(), ())).collect();
            assert_eq!((ways.len(), all.len()), (12, 12));
            assert_eq!(ways[0], [0, 0, 0]);
            let first = if latest_first { [0, 0, 1] } else { [1, 0, 0] };
            assert_eq!(ways[1], first);
        }
    }

    #[test]
    fn a_value_of_very_many_hinders_no_choice_of_two() {
        for latest_first in [false, true] {
            for bounds in [[u64::MAX, 2, 2], [2, 2, u64::MAX]] {
                let ways = ways(&bounds, latest_first);
                let mut small: Vec<_> = bounds.iter().map(|bound| u64::from(*bound == 2)).collect();
                assert!(ways.iter().position(|way| *way == small).is_some_and(|at| at < 10), "{bounds:?}");
                small.iter_mut().for_each(|one| *one = if *one == 0 { u64::MAX - 1 } else { 0 });
                assert!(ways.iter().position(|way| *way == small).is_some_and(|at| at < 10), "{bounds:?}");
                assert_eq!(ways.len(), 4 * 65);
            }
        }
    }
}
