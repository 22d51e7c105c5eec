//! Searches for the input of a program that costs most, by a metric that is a function of the run.
//!
//! ```text
//! drawn anew ─┐                                        ┌─ costs more than all ─────────────▶ best
//! a kept one, ┴─▶ run, measured: its cost, and how ────┼─ more than all of its size ───────▶ kept
//! varied            often each part of the code ran    └─ some part ran more often than ever ▶ kept
//! ```
//!
//! What is kept by parts of the code and by size, beside the best one, is what leads out of local maxima.
//!
//! Sources: PerfFuzz (Lemieux, Padhye, Sen, Song; ISSTA 2018) for the maxima by part of the code, SlowFuzz (Petsios, Zhao, Keromytis,
//! Jana; CCS 2017) for the cost as the fitness, Hypothesis' `target` for inputs that are sequences of answers.
//!
//! Invariants: what is found depends on space, seed and target; the observer only ends it. A cost is what the target has measured.
//! Not here: how a run is measured (`fozzy-campaign`).

mod answers;
mod bytes;
mod growth;

#[cfg(test)]
mod tests;

pub use answers::{AnswerSequence, AnswerSpace};
pub use bytes::ByteSpace;
pub use growth::{Growth, GrowthPoint};

use crate::rng::Rng;
use fozzy_trace::{HarnessError, Seed};
use std::collections::BTreeMap;

/// Runs at the beginning whose inputs are drawn: what is usual is known from them.
const DRAWN_FIRST: u64 = 32;
/// Later, one run in this many is drawn.
const DRAWN_ONE_IN: u64 = 16;
/// Costs of drawn runs that are kept for the median.
const COSTS_MAX: usize = 1 << 14;
/// By which share of the count of before a part of the code must run more often for its input to be kept: one in this many.
const MORE_OFTEN: u64 = 4;
/// The stream of chance from which inputs are varied; a run's own answers come from the stream of its number.
const VARYING: u64 = u64::MAX - 2;

/// The inputs of a program, and how one becomes another.
pub trait InputSpace {
    /// One of them.
    type Input: Clone;

    /// An input as chance has it.
    fn draw(&self, rng: &mut SearchRng<'_>) -> Self::Input;

    /// Changes an input; `other` is one that was kept, too.
    fn vary(&self, input: &mut Self::Input, other: &Self::Input, rng: &mut SearchRng<'_>);

    /// How large an input is.
    fn size(&self, input: &Self::Input) -> u64;
}

/// The search's own chance.
pub struct SearchRng<'a>(pub(crate) &'a mut Rng);

/// A run that was measured.
#[derive(Clone, Debug)]
pub struct MeasuredRun<I> {
    /// The input as it was used: a run that asks for more than it is given draws the rest.
    pub input: I,
    /// What it costs.
    pub cost: u64,
    /// How often each part of the code ran, by number.
    pub parts: Vec<u64>,
    /// Nothing can cost more, as the run was ended by its budget.
    pub is_limit: bool,
}

/// Runs inputs and measures them.
pub trait MeasuredTarget<I> {
    /// Runs an input; `run` is the number of the run, by which what the input does not say is drawn. `None` for a run that does not
    /// count.
    ///
    /// # Errors
    /// When the machine, not the program, fails, or the run is interrupted.
    fn measure(&mut self, input: &I, run: u64) -> Result<Option<MeasuredRun<I>>, HarnessError>;
}

/// Bounds of a search.
#[derive(Clone, Copy, Debug)]
pub struct MaximizeOptions {
    /// Where its chance comes from.
    pub seed: Seed,
    /// Runs after which it ends; `u64::MAX` for no bound.
    pub runs_max: u64,
}

/// Numbers of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaximizeStats {
    /// Runs.
    pub runs: u64,
    /// The highest cost.
    pub best: u64,
    /// The run that had it first, counted from 1.
    pub best_at: u64,
    /// How often a run cost more than all before it.
    pub improvements: u64,
}

/// Why a search has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaximizeEnd {
    /// All its runs were made.
    Runs,
    /// The observer ended it.
    Stopped,
    /// A run has used up its budget of instructions.
    Limit,
}

struct KeptInput<I> {
    input: I,
    cost: u64,
    size: u64,
    /// How many maxima it holds.
    holds: usize,
}

/// A search for the input that costs most.
pub struct Maximizer<S: InputSpace> {
    space: S,
    options: MaximizeOptions,
    varying: Rng,
    kept: BTreeMap<u64, KeptInput<S::Input>>,
    next: u64,
    best: Option<u64>,
    /// By class of size.
    by_size: BTreeMap<u32, u64>,
    /// How often each part of the code ran at most, and in the run of which input.
    by_part: Vec<(u64, u64)>,
    /// Costs of inputs that were drawn.
    usual: Vec<u64>,
    stats: MaximizeStats,
}

impl<S: InputSpace> Maximizer<S> {
    /// A search that has not begun.
    pub fn new(space: S, options: MaximizeOptions) -> Maximizer<S> {
        Maximizer {
            space,
            varying: Rng::new(options.seed, 0).stream(VARYING),
            options,
            kept: BTreeMap::new(),
            next: 0,
            best: None,
            by_size: BTreeMap::new(),
            by_part: Vec::new(),
            usual: Vec::new(),
            stats: MaximizeStats::default(),
        }
    }

    /// Searches; `first` are inputs that are run before others. A run that is interrupted ends it.
    ///
    /// # Errors
    /// When the machine, not the program, fails.
    pub fn run(
        &mut self,
        target: &mut dyn MeasuredTarget<S::Input>,
        first: &mut dyn Iterator<Item = S::Input>,
        on_run: &mut dyn FnMut(&MaximizeStats) -> bool,
    ) -> Result<MaximizeEnd, HarnessError> {
        loop {
            if self.stats.runs >= self.options.runs_max {
                return Ok(MaximizeEnd::Runs);
            }
            let (input, is_drawn) = match first.next() {
                Some(input) => (input, false),
                None => self.next_input(),
            };
            let measured = match target.measure(&input, self.stats.runs) {
                Err(error) if error.is_interruption() => return Ok(MaximizeEnd::Stopped),
                measured => measured?,
            };
            self.stats.runs += 1;
            if let Some(measured) = measured {
                if is_drawn && self.usual.len() < COSTS_MAX {
                    self.usual.push(measured.cost);
                }
                let is_limit = measured.is_limit;
                self.learn(measured);
                if is_limit {
                    return Ok(MaximizeEnd::Limit);
                }
            }
            if !on_run(&self.stats) {
                return Ok(MaximizeEnd::Stopped);
            }
        }
    }

    /// Its numbers.
    pub fn stats(&self) -> &MaximizeStats {
        &self.stats
    }

    /// The input that costs most, and its size.
    pub fn best(&self) -> Option<(&S::Input, u64)> {
        let best = self.kept.get(&self.best?)?;
        Some((&best.input, best.size))
    }

    /// What an input costs that chance draws: the median. `None` when none was drawn.
    pub fn usual(&self) -> Option<u64> {
        let mut sorted = self.usual.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len().checked_sub(1)? / 2).copied()
    }

    /// How the highest cost grows with the size of the input.
    pub fn growth(&self) -> Growth {
        let kept = self.by_size.values().filter_map(|kept| self.kept.get(kept));
        Growth::of(kept.map(|kept| GrowthPoint { size: kept.size, cost: kept.cost }).collect())
    }

    /// The next input, and whether chance has drawn all of it.
    fn next_input(&mut self) -> (S::Input, bool) {
        let is_drawn = self.stats.runs < DRAWN_FIRST || self.kept.is_empty() || self.varying.one_in(DRAWN_ONE_IN);
        if is_drawn {
            return (self.space.draw(&mut SearchRng(&mut self.varying)), true);
        }
        let (one, other) = (self.pick(), self.pick());
        let mut input = self.kept[&one].input.clone();
        self.space.vary(&mut input, &self.kept[&other].input, &mut SearchRng(&mut self.varying));
        (input, false)
    }

    /// One of those that are kept: mostly the best, or the best of a size; else one that had some part of the code run most often.
    fn pick(&mut self) -> u64 {
        let best = self.best.expect("something is kept");
        match self.varying.below(8) {
            0..=3 => best,
            4 | 5 => {
                let at = self.varying.index(self.by_size.len());
                self.by_size.values().nth(at).copied().unwrap_or(best)
            }
            _ => {
                let at = self.varying.index(self.by_part.len().max(1));
                let held = self.by_part.iter().skip(at).find(|(count, _)| *count > 0);
                held.map_or(best, |(_, kept)| *kept)
            }
        }
    }

    fn learn(&mut self, measured: MeasuredRun<S::Input>) {
        let MeasuredRun { input, cost, parts, .. } = measured;
        let (size, number) = (self.space.size(&input), self.next);
        let is_more = |kept: &KeptInput<S::Input>| (cost, u64::MAX - size) > (kept.cost, u64::MAX - kept.size);
        let beats = |held: Option<&u64>| held.and_then(|held| self.kept.get(held)).is_none_or(is_more);
        let class = size_class(size);
        let (is_best, is_of_size) = (beats(self.best.as_ref()), beats(self.by_size.get(&class)));
        self.by_part.resize(self.by_part.len().max(parts.len()), (0, 0));
        let more = |(count, (before, _)): (&u64, &(u64, u64))| *count > before + before / MORE_OFTEN;
        let often: Vec<usize> =
            (0..).zip(parts.iter().zip(&self.by_part)).filter(|(_, pair)| more(*pair)).map(|(part, _)| part).collect();
        let holds = usize::from(is_best) + usize::from(is_of_size) + often.len();
        if holds == 0 {
            return;
        }
        self.next += 1;
        self.kept.insert(number, KeptInput { input, cost, size, holds });
        if is_best {
            let is_higher = self.stats.runs == 0 || cost > self.stats.best;
            self.stats.improvements += u64::from(is_higher);
            (self.stats.best, self.stats.best_at) =
                (cost, if is_higher { self.stats.runs } else { self.stats.best_at });
            let before = self.best.replace(number);
            before.into_iter().for_each(|before| self.let_go(before));
        }
        if is_of_size {
            let before = self.by_size.insert(class, number);
            before.into_iter().for_each(|before| self.let_go(before));
        }
        for part in often {
            let (count, before) = std::mem::replace(&mut self.by_part[part], (parts[part], number));
            if count > 0 {
                self.let_go(before);
            }
        }
    }

    /// An input holds one maximum less, and is forgotten with the last one.
    fn let_go(&mut self, number: u64) {
        let Some(kept) = self.kept.get_mut(&number) else { return };
        kept.holds -= 1;
        if kept.holds == 0 {
            self.kept.remove(&number);
        }
    }
}

/// Two classes for each power of two.
fn size_class(size: u64) -> u32 {
    let power = size.max(1).ilog2();
    let half = if power == 0 { 0 } else { (size >> (power - 1)) & 1 };
    2 * power + half as u32
}
