//! The places of an exploration that is continued: all are kept from the beginning on, and gone to as far as there is time.
//!
//! ```text
//! paths of before      a b c │ a b d e │ a b d f     in the order of their answers
//! gone to              a b c │     d e │       f     a b and a b d are held until no path comes that begins so
//! not gone to          a place without a checkpoint, which the search goes to when it picks it
//! ```
//!
//! Invariants: a step that several paths have in common is taken once, unless more places are held than there are checkpoints; a place is in
//! what is saved next whether it was gone to or not, but for one to which its path does not lead.
//! Not here: paths to findings, which are runs to their ends (`explorer`), and how much time there is (`fozzy-campaign`).

use super::{Exploration, ExplorationEnd, ExplorationIo, RestoredPaths, RunProgress, Stats, replay_policy};
use crate::explore::decision_path::{DecisionPath, PathNode, PathNodeId};
use crate::explore::guided_source::GuidedSource;
use crate::explore::novelty::NewCoverage;
use crate::explore::state_feedback::StateScope;
use fozzy_check::judge_end;
use fozzy_trace::source::Override;
use fozzy_trace::{CheckpointId, HarnessError, StepId, StepOutcome};
use std::sync::Arc;

/// A place of before.
struct SavedPlace {
    /// Its answers, those of the start among them.
    answers: Vec<Override>,
    node: Arc<PathNode>,
    /// How many answers it has in common with the next one.
    shared: usize,
}

/// A place, or another one between two steps, from which ways go on that come next.
struct HeldPlace {
    checkpoint: CheckpointId,
    node: Arc<PathNode>,
}

impl Exploration {
    /// Keeps the places of before, and goes to them as long as there is time.
    pub(super) fn restore_places(
        &mut self,
        io: &mut ExplorationIo<'_>,
        paths: &mut RestoredPaths,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let places = self.adopt_places(io, std::mem::take(&mut paths.places).into());
        let (mut held, mut ended): (Vec<HeldPlace>, Option<ExplorationEnd>) = (Vec::new(), None);
        let mut shared = 0;
        for (at, place) in places.iter().enumerate() {
            // One at least shows which modules there are.
            if at > 0 && !io.observer.has_time_to_restore() {
                break;
            }
            let goes_on = |held: &HeldPlace| held.node.len() <= shared && held.node.steps <= place.node.steps;
            while let Some(last) = held.pop() {
                if goes_on(&last) {
                    held.push(last);
                    break;
                }
                self.let_go(io, last);
            }
            let from = held.last().map_or(self.start.len(), |held| held.node.len());
            ended = self.go_to(io, &mut held, place, &branches(&places[at..], from))?;
            self.begin_own_steps();
            shared = place.shared;
            if ended.is_some() {
                break;
            }
        }
        while let Some(last) = held.pop() {
            self.let_go(io, last);
        }
        if !places.is_empty() {
            self.feedback.begin_search();
        }
        Ok(ended)
    }

    /// Keeps the places of before, numbered in their order; the answer is the order in which they are gone to.
    fn adopt_places(&mut self, io: &mut ExplorationIo<'_>, saved: Vec<DecisionPath>) -> Vec<SavedPlace> {
        let first = self.places + 1;
        self.places += saved.len() as u64;
        let mut numbered: Vec<(u64, DecisionPath)> = (first..).zip(saved).collect();
        numbered.sort_by(|(number, path), (other_number, other)| {
            (&path.answers, path.steps, number).cmp(&(&other.answers, other.steps, other_number))
        });
        numbered.dedup_by(|(_, later), (_, earlier)| later == earlier);
        let mut places: Vec<SavedPlace> = Vec::with_capacity(numbered.len());
        // Those that the next one may go on from, by their numbers in the order.
        let mut above: Vec<usize> = Vec::new();
        for (number, DecisionPath { answers, steps }) in numbered {
            if let Some(last) = places.last_mut() {
                last.shared = last.answers.iter().zip(&answers).take_while(|(one, other)| one == other).count();
            }
            let goes_on = |place: &SavedPlace| place.node.steps <= steps && answers.starts_with(&place.answers);
            while above.last().is_some_and(|at| !goes_on(&places[*at])) {
                above.pop();
            }
            let before = above.last().map_or(&self.start, |at| &places[*at].node);
            let own = answers.get(before.len()..).unwrap_or_default();
            let node = PathNode::from(Some(before), own, steps, PathNodeId(number));
            above.push(places.len());
            places.push(SavedPlace { answers, node, shared: 0 });
        }
        let mut in_order: Vec<&Arc<PathNode>> = places.iter().map(|place| &place.node).collect();
        in_order.sort_unstable_by_key(|node| node.id);
        for node in in_order {
            let gone = self.frontier.add_unseen(Arc::clone(node));
            gone.into_iter().for_each(|gone| io.target.release(gone));
            self.strategy.on_restored(node);
        }
        self.stats.checkpoints = self.frontier.len() as u64;
        places
    }

    /// No way that comes next goes on from there: it is a place like others, or none.
    fn let_go(&mut self, io: &mut ExplorationIo<'_>, held: HeldPlace) {
        let gone = self.frontier.revive(held.node.id, held.checkpoint, self.options.checkpoints_max);
        gone.into_iter().for_each(|gone| io.target.release(gone));
    }

    /// Goes to a place of before. An interrupted run is not counted.
    fn go_to(
        &mut self,
        io: &mut ExplorationIo<'_>,
        held: &mut Vec<HeldPlace>,
        place: &SavedPlace,
        branches: &[usize],
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let (runs, steps) = (self.stats.runs, self.stats.steps);
        self.go_all_the_way(io, held, place, branches).inspect_err(|error| {
            if error.is_interruption() {
                (self.stats.runs, self.stats.steps) = (runs, steps);
            }
        })
    }

    /// Goes to a place from the nearest one that is held, and holds it, and those on the way after so many answers as `branches` has.
    fn go_all_the_way(
        &mut self,
        io: &mut ExplorationIo<'_>,
        held: &mut Vec<HeldPlace>,
        SavedPlace { answers, node, .. }: &SavedPlace,
        branches: &[usize],
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let live = match held.last() {
            Some(last) => Some((last.checkpoint, Arc::clone(&last.node))),
            None => self.frontier.nearest_live(node),
        };
        let (from, before) = match live {
            Some((checkpoint, before)) => (Some(checkpoint), before),
            None => (None, Arc::clone(&self.start)),
        };
        let log = self.logs.next();
        log.continue_behind(before.weight());
        let script: Arc<[Override]> = answers.get(before.len()..).unwrap_or_default().into();
        let rng = self.rng.stream(self.stats.runs - self.adopted);
        self.stats.runs += 1;
        let walk = GuidedSource::new(script, rng, replay_policy(), &log);
        io.target.restore(from.unwrap_or_else(|| io.target.start()), Box::new(walk))?;
        io.target.log_comparisons(false)?;
        self.feedback.begin_run(io.target);
        let nothing = NewCoverage::default();
        let mut run = RunProgress { before, answers: log, steps: 0, flow: None, fresh: nothing, kept: None };
        let (mut begins, mut shown) = (from.is_none(), nothing);
        // What was reached before the last step, as long as others may part from this way there.
        let mut last: Option<HeldPlace> = None;
        while begins || run.before.steps + run.steps < node.steps {
            let step = if begins { StepId::Begin } else { StepId::Step(run.before.steps + run.steps) };
            let outcome = io.target.step(step)?;
            run.steps += u32::from(!begins);
            self.stats.steps += u64::from(!begins);
            let StepOutcome::Returned { flow } = outcome else {
                last.into_iter().for_each(|last| io.target.release(last.checkpoint));
                let cut = self.stats.cut;
                let ended = self.judge_lost(io, &run, outcome)?;
                // A step that took too long, and comes to its end, leads there another time.
                if self.stats.cut == cut {
                    self.lose_place(io, node);
                }
                return Ok(ended);
            };
            let states = self.states(if begins { StateScope::Told } else { StateScope::All });
            shown = self.feedback.observe(io.target, (run.flow, flow), states, &self.options.novelty);
            run.flow = flow;
            let is_new = self.count(shown) > 0;
            run.answers.end_step(is_new);
            self.values.has_wide |= run.answers.has_wide();
            begins = false;
            let reached = run.before.len() + run.answers.len();
            if let Some(last) = last.take() {
                match branches.iter().any(|branch| (last.node.len()..reached).contains(branch)) {
                    true => self.hold(io, held, last),
                    false => io.target.release(last.checkpoint),
                }
            }
            if run.answers.is_truncated() {
                self.stats.cut += 1;
                self.lose_place(io, node);
                return Ok(None);
            }
            // A run without a step is not counted.
            let runs = self.stats.runs - u64::from(run.steps == 0);
            if !io.observer.on_step(&Stats { runs, ..self.stats }) {
                self.stats.runs = runs;
                return Ok(Some(ExplorationEnd::Stopped));
            }
            let steps = run.before.steps + run.steps;
            if steps < node.steps && branches.iter().any(|branch| *branch >= reached) {
                self.places += 1;
                let (place, answers) = (PathNodeId(self.places), run.answers.snapshot());
                let node = PathNode::from(Some(&run.before), &answers, steps, place);
                last = Some(HeldPlace { checkpoint: io.target.capture()?, node });
            }
        }
        self.frontier.tell(node.id, (shown.kind(), shown.sum().max(1)));
        // No other one is told: whoever continues the same has it.
        let checkpoint = io.target.capture()?;
        self.hold(io, held, HeldPlace { checkpoint, node: Arc::clone(node) });
        Ok(None)
    }

    /// Holds one more; the first one is let go where there are too many.
    fn hold(&mut self, io: &mut ExplorationIo<'_>, held: &mut Vec<HeldPlace>, place: HeldPlace) {
        held.push(place);
        if held.len() > self.options.checkpoints_max {
            let first = held.remove(0);
            self.let_go(io, first);
        }
    }

    /// A place to which its path does not lead.
    fn lose_place(&mut self, io: &mut ExplorationIo<'_>, node: &PathNode) {
        let gone = self.frontier.forget(node.id);
        gone.into_iter().for_each(|gone| io.target.release(gone));
        self.stats.checkpoints = self.frontier.len() as u64;
    }

    /// What it is that the way to a place has not come to it.
    fn judge_lost(
        &mut self,
        io: &mut ExplorationIo<'_>,
        run: &RunProgress,
        outcome: StepOutcome,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        match outcome {
            StepOutcome::Returned { .. } | StepOutcome::Finished => Ok(None),
            StepOutcome::Ended { end, backtrace, stderr } => {
                let verdict = judge_end(&end, &stderr, &backtrace);
                self.judge_failure(io, run, Some(&verdict))
            }
            StepOutcome::Cut => self.judge_failure(io, run, None),
        }
    }

    /// Repeats the runs of before of a program that is run whole as long as there is time, and keeps them all.
    pub(super) fn restore_runs(
        &mut self,
        io: &mut ExplorationIo<'_>,
        paths: &mut RestoredPaths,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let all = paths.places.len();
        while let Some(path) = paths.places.front().cloned() {
            if paths.places.len() < all && !io.observer.has_time_to_restore() {
                break;
            }
            let (kept, cut) = (self.kept_runs.len(), self.stats.cut);
            let ended = self.replay_path(io, &path)?;
            self.begin_own_steps();
            if ended == Some(ExplorationEnd::Stopped) {
                return Ok(ended);
            }
            paths.places.pop_front();
            // What was new of it is not new again where it comes with much else, or behind others.
            if self.kept_runs.len() == kept && self.stats.cut == cut {
                self.keep_run_of_before(io, &path);
            }
            if ended.is_some() {
                return Ok(ended);
            }
        }
        for path in std::mem::take(&mut paths.places) {
            self.keep_run_of_before(io, &path);
        }
        Ok(None)
    }

    /// Keeps a run as it is, for others to go on from beginnings of it.
    fn keep_run_of_before(&mut self, io: &mut ExplorationIo<'_>, path: &DecisionPath) {
        let answers = path.answers.get(self.start.len()..).unwrap_or_default();
        self.places += 1;
        let place = PathNodeId(self.places);
        let run = PathNode::from(Some(&self.start), answers, 1, place);
        self.kept_runs.keep(Arc::clone(&run));
        if self.options.checkpoints_max == 0 {
            return;
        }
        self.frontier.set_unseen_near();
        let gone = self.frontier.add_unseen(run);
        gone.into_iter().for_each(|gone| io.target.release(gone));
        self.stats.checkpoints = self.frontier.len() as u64;
    }
}

/// After how many answers places that come next part from the way to the first of these, behind its first `from` answers.
fn branches(places: &[SavedPlace], from: usize) -> Vec<usize> {
    let (mut branches, mut shared) = (Vec::new(), usize::MAX);
    let len = places.first().map_or(0, |place| place.answers.len());
    for place in places {
        shared = shared.min(place.shared);
        if shared <= from {
            break;
        }
        if shared < len && branches.last() != Some(&shared) {
            branches.push(shared);
        }
    }
    branches
}
