//! Which of several tasks runs next: the one place that has the algorithms, for programs and for searches alike.
//!
//! ```text
//! task or machine ─ next-task(ready: 2 4 7) ─▶ Scheduler { policy, what it has learned } ─ one draw ─▶ place in `ready`
//!
//! random   any, all equally likely
//! pct      random priorities, the highest runs; at depth - 1 distinct steps of the run, the one that would run is lowered
//! pos      a random priority for each pending step; drawn again when what the step is about to touch was touched
//! urw      each as likely as its share of the steps that are left
//! ```
//!
//! Sources: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding
//! Bugs" (ASPLOS 2010); Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling" (CAV 2018); Zhao and others, "Selectively
//! Uniform Concurrency Testing" (ASPLOS 2025), whose plain algorithm is the uniform random walk.
//!
//! A run of tasks is a group: it has a kind, by which what was learned of earlier runs is found, and a number. Only steps at
//! which several tasks are ready count: at the others there is nothing to choose, and a change of priority there does what it
//! does at the next one.
//!
//! Invariants: a pick is a function of the points so far and of one draw a point; what a run has shown is used by the
//! next run of its kind, never by that run.
//! Not here: who asks (`fozzy-host`, `fozzy-engine`), where the draw comes from (`source`).

mod draws;
mod lengths;
mod pct;
mod pos;
mod urw;

pub use lengths::RunLengths;
pub use pct::DEPTH_MAX;

use crate::{NodeId, Purpose, Question};
use draws::Draws;
use pct::Pct;
use pos::Pos;
use std::collections::BTreeMap;

/// The site of the question which task runs next; old programs ask by it for a number.
pub const NEXT_TASK: &str = "next task";
/// The kind of the group that the guests of a run are, which take turns.
pub const MACHINES: u64 = 0;
/// Groups of tasks that are remembered at once; at the bound all are forgotten, and begin anew. A group is some hundred bytes.
const GROUPS_MAX: usize = 4096;

/// How the task that runs next is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchedulePolicy {
    /// Any of them, all equally likely.
    #[default]
    Random,
    /// Probabilistic concurrency testing: a fault that needs `depth` ordered pairs of steps is found with a probability of at
    /// least `1 / (n k^(depth-1))` in a run of `n` tasks and `k` steps, once the length of such runs is learned.
    Pct {
        /// 1 to [`DEPTH_MAX`].
        depth: u32,
    },
    /// Partial order sampling.
    Pos,
    /// Uniform random walk over interleavings.
    Urw,
}

/// A task that is ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyTask {
    /// Which one of its group.
    pub number: u64,
    /// Steps that it has taken.
    pub steps: u64,
    /// What its next step is about to touch; 0 when that is not known.
    pub object: u64,
}

/// A moment at which several tasks are ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulingPoint<'a> {
    /// What runs: groups of one kind are alike, as those of one function. [`MACHINES`] are no program's.
    pub kind: u64,
    /// Which group of that kind this is: another number, another run.
    pub run: u64,
    /// How the program wants it chosen. A search may choose in another way.
    pub policy: SchedulePolicy,
    /// What was touched by the steps since the last point of the group.
    pub touched: &'a [u64],
    /// The tasks, in the order in which they became ready. There is at least one.
    pub ready: &'a [ReadyTask],
}

/// Chooses tasks, and learns how long runs are.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    /// What runs of each kind have shown, this one too.
    lengths: RunLengths,
    groups: BTreeMap<(NodeId, u64), Group>,
}

/// A run of tasks.
#[derive(Clone, Debug)]
struct Group {
    /// In which sequence, and which one there.
    run: (Option<u32>, u64),
    policy: SchedulePolicy,
    /// Points so far.
    points: u64,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Random,
    Pct(Pct),
    Pos(Pos),
    /// Steps that the tasks of the run before it took, by their numbers.
    Urw(BTreeMap<u64, u64>),
}

impl Scheduler {
    /// A scheduler that knows how long earlier runs were.
    #[must_use]
    pub fn new(lengths: RunLengths) -> Scheduler {
        Scheduler { lengths, groups: BTreeMap::new() }
    }

    /// What it has learned.
    #[must_use]
    pub fn lengths(&self) -> &RunLengths {
        &self.lengths
    }

    /// Adds what `point`, at which it has picked last, shows of the length of runs.
    pub fn teach(&self, question: Question<'_>, point: &SchedulingPoint<'_>, lengths: &mut RunLengths) {
        let points = self.groups.get(&key(question.node, point.kind)).map_or(0, |group| group.points);
        lengths.learn(point.kind, points, point.ready);
    }

    /// The place in `point.ready` of the task that runs next, by `policy`, with `draw` as all the chance there is.
    pub fn pick(
        &mut self,
        Question { node, purpose, .. }: Question<'_>,
        point: &SchedulingPoint<'_>,
        policy: SchedulePolicy,
        draw: u64,
    ) -> usize {
        let (ready, mut draws) = (point.ready, Draws::new(draw));
        assert!(!ready.is_empty(), "somebody can go on");
        if self.groups.len() == GROUPS_MAX {
            self.groups.clear();
        }
        let key = key(node, point.kind);
        // Programs count their runs; a sequence begins with a new instance, which counts from the beginning.
        let sequence = match purpose {
            Purpose::Choice(part) => part.sequence(),
            _ => None,
        };
        let run = (sequence, point.run);
        let is_new = self.groups.get(&key).is_none_or(|group| group.run != run || group.policy != policy);
        if is_new {
            let state = State::new(policy, &self.lengths, point.kind, &mut draws);
            self.groups.insert(key, Group { run, policy, points: 0, state });
        }
        let group = self.groups.get_mut(&key).expect("just looked at");
        let place = match &mut group.state {
            State::Random => draws.below(ready.len() as u64) as usize,
            State::Pct(pct) => pct.pick(ready, &mut draws),
            State::Pos(pos) => pos.pick(point.touched, ready, &mut draws),
            State::Urw(steps) => urw::pick(steps, ready, &mut draws),
        };
        group.points += 1;
        self.lengths.learn(point.kind, group.points, ready);
        place
    }
}

/// The machines are one group, whichever of them the question stands with.
fn key(node: NodeId, kind: u64) -> (NodeId, u64) {
    (if kind == MACHINES { NodeId(0) } else { node }, kind)
}

impl State {
    fn new(policy: SchedulePolicy, lengths: &RunLengths, kind: u64, draws: &mut Draws) -> State {
        match policy {
            SchedulePolicy::Random => State::Random,
            SchedulePolicy::Pct { depth } => State::Pct(Pct::new(depth, lengths.points(kind), draws)),
            SchedulePolicy::Pos => State::Pos(Pos::default()),
            SchedulePolicy::Urw => State::Urw(lengths.steps(kind)),
        }
    }
}

#[cfg(test)]
mod tests;
