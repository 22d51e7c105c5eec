//! Which way is tried next.
//!
//! ```text
//! coverage_guided  fresh, or from a place where something new was seen      random   always fresh
//! pct              fresh, tasks run on but for a few changes                 fifo     fresh, tasks take turns
//! dfs, bfs         every answer of every step in turn, from every new state, the latest or the earliest first
//! ```
//!
//! Invariant: a strategy only chooses; what it is told depends on its choices alone.

mod coverage_guided;
mod fresh;
mod systematic;

use super::bandit::Earned;
use super::frontier::Pool;
use super::guided_source::{Answers, Manner, Order};
use super::options::Options;
use super::stateful_target::PlaceId;
use crate::rng::Chance;
use coverage_guided::CoverageGuided;
use fozzy_trace::source::Explicit;
use fresh::Fresh;
use std::sync::Arc;
use systematic::Systematic;

/// Where a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// At the start.
    Start,
    /// At this place of the pool.
    Kept(usize),
}

/// One way to try.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) origin: Origin,
    /// Steps at most; none of them is the beginning.
    pub(crate) steps: u32,
    /// The first answers.
    pub(crate) script: Arc<[Explicit]>,
    pub(crate) manner: Manner,
    pub(crate) keeps: Keeps,
}

/// Which places are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// None.
    Nothing,
    /// Those where something new was seen.
    New,
    /// Those with a new state; all of them when the scenario says nothing of its state.
    States,
}

/// Chooses ways.
pub(crate) trait Strategy {
    /// The next one; `None` when there are none left.
    fn next(&mut self, pool: &mut Pool, chance: &mut Chance) -> Option<Attempt>;

    /// What came of it: how much was new, in how many steps, and what was asked and answered.
    fn learn(&mut self, fresh: u32, steps: u32, answers: &Answers);

    /// What each of the things that it divides its effort between has earned, by dial and name.
    fn earned(&self) -> Vec<(&'static str, &'static str, Earned)> {
        Vec::new()
    }

    /// A place was kept on the last way.
    fn kept(&mut self, _place: PlaceId) {}
}

/// A strategy, by its name.
pub struct StrategyRow {
    /// As `--schedule` has it.
    pub name: &'static str,
    /// What it does.
    pub says: &'static str,
    pub(crate) make: fn(&Options) -> Box<dyn Strategy>,
}

/// All of them.
pub const STRATEGIES: &[StrategyRow] = &[
    StrategyRow {
        name: "fifo",
        says: "always from the start; tasks take turns in the order in which they could go on",
        make: |options| Box::new(Fresh::new(options, Order::First)),
    },
    StrategyRow {
        name: "bfs",
        says: "every answer of every step, the earliest places first",
        make: |options| Box::new(Systematic::new(options, false)),
    },
    StrategyRow {
        name: "dfs",
        says: "every answer of every step, the latest places first",
        make: |options| Box::new(Systematic::new(options, true)),
    },
    StrategyRow {
        name: "random",
        says: "always from the start; everything is drawn",
        make: |options| Box::new(Fresh::new(options, Order::Any)),
    },
    StrategyRow {
        name: "pct",
        says: "always from the start; a task runs on, but for a few changes at random moments of each step",
        make: |options| Box::new(Fresh::new(options, Order::Changes { most: PCT_CHANGES, among: 1 })),
    },
    StrategyRow {
        name: "coverage_guided",
        says: "from the start, or from places where something new was seen",
        make: |options| Box::new(CoverageGuided::new(options)),
    },
];

/// Changes of the running task in one step of `pct`, at most: most faults of order need one or two.
const PCT_CHANGES: u32 = 3;

/// The strategy of this name.
#[must_use]
pub fn strategy(name: &str) -> Option<&'static StrategyRow> {
    STRATEGIES.iter().find(|row| row.name == name)
}
