//! Strategies of exploration: which path is executed next. [`STRATEGIES`] is the one table of them; flags and settings read it.
//!
//! ```text
//! coverage_guided  fresh, or from a place where something new was seen      random   always fresh
//! pct, pos, urw    fresh, tasks by a policy (`fozzy_trace::scheduler`)        fifo     fresh, tasks take turns
//! faults                  fresh, each chance of a fault strikes in turn
//! dfs, bfs         every way in turn by how far it is from the simplest one, the latest or the earliest places first
//! ```
//!
//! Invariant: a strategy only chooses; what it learns depends on its choices alone.

mod coverage_guided;
mod fault_choices;
mod fault_focused;
mod fresh;
mod systematic;

use super::bandit::Reward;
use super::decision_path::{PathNode, PathNodeId};
use super::frontier::Frontier;
use super::guided_source::{AnswerLog, AnswerPolicy, TaskOrder};
use super::novelty::NewCoverage;
use super::options::Options;
use crate::rng::Rng;
use coverage_guided::CoverageGuidedSearch;
use fault_focused::FaultFocusedSearch;
use fozzy_trace::SchedulePolicy;
use fozzy_trace::source::Override;
use fresh::FreshStart;
use std::fmt;
use std::sync::Arc;
use systematic::SystematicSearch;
pub(crate) use systematic::alternatives;

/// Where a run begins.
#[derive(Clone, Debug)]
pub(crate) enum RunOrigin {
    /// At the start.
    Start,
    /// At the place that this way leads to.
    Place(Arc<PathNode>),
}

/// One way to try.
#[derive(Clone, Debug)]
pub(crate) struct RunSpec {
    pub(crate) origin: RunOrigin,
    /// Steps at most; none of them is the beginning.
    pub(crate) steps: u32,
    /// The first answers.
    pub(crate) script: Arc<[Override]>,
    pub(crate) policy: AnswerPolicy,
    pub(crate) capture: CapturePolicy,
    /// Whether it looks at what is compared.
    pub(crate) compares: bool,
}

/// Which places are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CapturePolicy {
    /// None.
    Nothing,
    /// Those where something new was seen.
    New,
    /// Those with a new state; all of them when the scenario says nothing of its state.
    States,
    /// Each.
    All,
}

impl CapturePolicy {
    /// Whether what comes of a step is continued in runs of its own.
    pub(crate) fn is_by_steps(self) -> bool {
        matches!(self, CapturePolicy::States | CapturePolicy::All)
    }
}

/// Chooses ways.
pub(crate) trait ExplorationStrategy {
    /// The next one; `None` when there are none left.
    fn next(&mut self, frontier: &mut Frontier, rng: &mut Rng) -> Option<RunSpec>;

    /// What came of it: how much was new, in how many steps, and what was asked and answered.
    fn learn(&mut self, fresh: NewCoverage, steps: u32, answers: &AnswerLog);

    /// What each of the things that it divides its effort between has earned, by dial and name.
    fn rewards(&self) -> Vec<(&'static str, &'static str, Reward)> {
        Vec::new()
    }

    /// A place was kept on the last way.
    fn on_captured(&mut self, _place: PathNodeId) {}

    /// A place of the exploration that is continued is kept.
    fn on_restored(&mut self, _place: &Arc<PathNode>) {}

    /// Whether no way was left out, once there are none left.
    fn is_exhaustive(&self) -> bool {
        true
    }
}

/// A strategy, by its name.
pub struct StrategyRow {
    /// As `--schedule` and `fozzy.toml` have it.
    pub name: &'static str,
    /// What it does, for `--help`.
    pub says: &'static str,
    pub(crate) make: fn(&Options) -> Box<dyn ExplorationStrategy>,
}

impl PartialEq for StrategyRow {
    fn eq(&self, other: &StrategyRow) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for StrategyRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The strategy of an exploration for which none is named.
pub const DEFAULT_STRATEGY: &str = "coverage_guided";

/// All of them.
pub static STRATEGIES: &[StrategyRow] = &[
    StrategyRow {
        name: "fifo",
        says: "Always from the start; tasks take turns in the order in which they became ready",
        make: |options| Box::new(FreshStart::new(options, TaskOrder::First)),
    },
    StrategyRow {
        name: "bfs",
        says: "Every answer of every step, few deviations from the simplest first, the earliest places first",
        make: |options| Box::new(SystematicSearch::new(options, false)),
    },
    StrategyRow {
        name: "dfs",
        says: "Every answer of every step, few deviations from the simplest first, the latest places first",
        make: |options| Box::new(SystematicSearch::new(options, true)),
    },
    StrategyRow {
        name: "random",
        says: "Always from the start; everything is drawn",
        make: |options| Box::new(FreshStart::new(options, TaskOrder::Any)),
    },
    StrategyRow {
        name: "pct",
        says: "Always from the start; the task of the highest random priority runs on, but for up to 2 changes \
               (probabilistic concurrency testing, depth 1 to 3)",
        make: |options| Box::new(FreshStart::new(options, TaskOrder::by(SchedulePolicy::Pct { depth: 1 }))),
    },
    StrategyRow {
        name: "pos",
        says: "Always from the start; each pending step of a task has a random priority (partial order sampling)",
        make: |options| Box::new(FreshStart::new(options, TaskOrder::by(SchedulePolicy::Pos))),
    },
    StrategyRow {
        name: "urw",
        says: "Always from the start; every interleaving of tasks is as likely as the next (uniform random walk)",
        make: |options| Box::new(FreshStart::new(options, TaskOrder::by(SchedulePolicy::Urw))),
    },
    StrategyRow {
        name: "faults",
        says: "Always from the start; each chance of a planned fault strikes alone, in turn, and then up to three together",
        make: |options| Box::new(FaultFocusedSearch::new(options)),
    },
    StrategyRow {
        name: DEFAULT_STRATEGY,
        says: "From the start, or from places where something new was seen",
        make: |options| Box::new(CoverageGuidedSearch::new(options)),
    },
];

/// Depths of faults that probabilistic concurrency testing looks for, each in as many runs: nearly all known faults of order need
/// at most three ordered pairs of steps, and each more costs a factor of the length.
const PCT_DEPTHS: usize = 3;

/// The policy for the next run: where it has a depth, any of those that are looked for.
fn of_any_depth(policy: SchedulePolicy, chance: &mut Rng) -> SchedulePolicy {
    match policy {
        SchedulePolicy::Pct { .. } => SchedulePolicy::Pct { depth: chance.between(1, PCT_DEPTHS) as u32 },
        other => other,
    }
}

/// The strategy of this name.
#[must_use]
pub fn strategy(name: &str) -> Option<&'static StrategyRow> {
    STRATEGIES.iter().find(|row| row.name == name)
}
