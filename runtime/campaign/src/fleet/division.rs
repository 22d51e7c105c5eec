//! How the time of a fleet is divided between its targets: by what each CPU second has found of late.
//!
//! ```text
//! a slice of 10 s made what is known 20 % more    news × age before / age now + 2        cpu_s × the same + 10
//! next target    one draw of each rate ~ Gamma(PRIOR_NEWS + news) / (PRIOR_CPU_S + cpu_s), a quarter of it where a failure stands;
//!                the largest. But first what was never tried, and what has had less than its floor
//! ```
//!
//! Thompson sampling: a target is chosen as often as it is the best one by what is known, so that what is hardly known is tried, too.
//! What counts is by which part slices have made what is known of a target more, in steps of a tenth, and the last half of its time
//! counts most, however long that is: a failure is as likely behind the next tenth of a small target as behind that of a large one, and
//! what shows a few more new states for ever grows less and less. `PRIOR_NEWS` is the same for all, and worth less the more time a
//! target has had: so one that shows nothing new keeps some time, beside one that grows without an end. Of recorded targets
//! (`bench/fleet/curves.py`) many failures come long after their slices have become silent.
//!
//! A target with a failure that stands gets less: somebody has to look at that first, executions end in it, and a first failure
//! elsewhere is worth more than one more here. When it is fixed, or dismissed, that ends.
//!
//! Invariants: the same seed and the same estimates give the same choices; each target that can be worked on gets at least
//! [`FLOOR`] of an even share.
//! Not here: clocks, and what a slice is.

use fozzy_search::Rng;
use fozzy_trace::Seed;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Growth by so much is one piece of news: of what grows by more, the natural logarithm counts.
const NEWS_GROWTH: f64 = 0.1;
/// The most news of one slice: before the first one nothing is known.
const NEWS_MAX: f64 = 10.0;
/// News that each target is believed to have in any stretch of its time, and CPU seconds before its first slice.
const PRIOR_NEWS: f64 = 1.0;
const PRIOR_CPU_S: f64 = 1.0;
/// What news are worth of a target with a failure that stands.
const FAILED: f64 = 0.25;
/// The part of an even share that each target gets whatever it finds: what is found late would never be found otherwise.
pub const FLOOR: f64 = 0.1;
/// The shortest first slice: in less, an exploration on a busy machine comes to its first run alone, and to no verdict.
const FIRST_SLICE_MIN: Duration = Duration::from_millis(100);
/// Real time that a slice takes beside its own, at the least: a process is started.
const OVERHEAD_MIN: Duration = Duration::from_millis(50);

/// What the slices of one target have found, the latest counting most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DiscoveryEstimate {
    /// How much was new, in tenths of what was known before.
    pub news: f64,
    /// CPU seconds that this took.
    pub cpu_s: f64,
    /// CPU seconds of all slices.
    pub total_cpu_s: f64,
    /// Slices.
    pub slices: u64,
    /// New behaviours of all slices.
    pub known: u64,
    /// Failures that stand.
    pub failures: u64,
}

impl DiscoveryEstimate {
    /// So many behaviours of the target are known. It is told where slices were counted by a version that does not sum up theirs, and
    /// without it everything would be new again to the next one.
    pub fn remember(&mut self, behaviours: u64) {
        if self.slices > 0 && self.known == 0 {
            self.known = behaviours;
        }
    }

    /// One more slice, which has found so many new behaviours.
    pub fn observe(&mut self, discoveries: u64, cpu: Duration) {
        let cpu_s = cpu.as_secs_f64();
        // The share of the past is that of the time which it took, so that what counts is of the last half, at any age.
        let age = self.total_cpu_s + cpu_s;
        let past = if age > 0.0 { self.total_cpu_s / age } else { 0.0 };
        let known = self.known.saturating_add(discoveries);
        let growth = ((known as f64 + 1.0) / (self.known as f64 + 1.0)).ln();
        self.news = self.news * past + (growth / NEWS_GROWTH).min(NEWS_MAX);
        self.cpu_s = self.cpu_s * past + cpu_s;
        self.total_cpu_s = age;
        self.slices += 1;
        self.known = known;
    }

    /// News per CPU second, as far as they are known; less where a failure stands.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.worth() * (PRIOR_NEWS + self.news) / (PRIOR_CPU_S + self.cpu_s)
    }

    /// What its news are worth.
    fn worth(&self) -> f64 {
        if self.failures > 0 { FAILED } else { 1.0 }
    }

    /// The same, as if nothing were known where the stored numbers are none.
    #[must_use]
    pub fn sound(self) -> DiscoveryEstimate {
        let numbers = [self.news, self.cpu_s, self.total_cpu_s];
        let is_sound = numbers.iter().all(|number| number.is_finite() && *number >= 0.0);
        if is_sound { self } else { DiscoveryEstimate::default() }
    }
}

/// The longest first slice of a target with which all of those that wait for theirs, itself included, have one in the time that is left: a fair
/// share, less what slices take beside their own time, if that is no more than half of it.
#[must_use]
pub fn first_slice_max(left: Duration, jobs: u32, waiting: usize, overhead: Duration) -> Duration {
    let waiting = u32::try_from(waiting.max(1)).unwrap_or(u32::MAX);
    let share = left * jobs.min(waiting) / waiting;
    (share - overhead.max(OVERHEAD_MIN).min(share / 2)).max(FIRST_SLICE_MIN)
}

/// Chooses whose turn it is.
#[derive(Clone, Debug)]
pub struct TimeDivision(Rng);

impl TimeDivision {
    /// Choices by this seed.
    #[must_use]
    pub fn new(seed: Seed) -> TimeDivision {
        TimeDivision(Rng::new(seed, 0))
    }

    /// The place of the target whose turn it is; `None` when there is none. Those that are worked on already are left out by the caller, with
    /// `all` being the CPU seconds of all targets, and `targets` their number.
    pub fn next(&mut self, free: &[DiscoveryEstimate], (all, targets): (f64, usize)) -> Option<usize> {
        if let Some(fresh) = free.iter().position(|estimate| estimate.slices == 0) {
            return Some(fresh);
        }
        let by = |left: &(usize, f64), right: &(usize, f64)| left.1.total_cmp(&right.1);
        let starved = free.iter().map(|estimate| estimate.total_cpu_s).enumerate().min_by(by)?;
        if starved.1 < FLOOR * all / targets.max(1) as f64 {
            return Some(starved.0);
        }
        let draws: Vec<f64> = free.iter().map(|estimate| self.rate(estimate)).collect();
        draws.into_iter().enumerate().max_by(by).map(|(place, _)| place)
    }

    /// One draw of what the rate of a target may be.
    fn rate(&mut self, estimate: &DiscoveryEstimate) -> f64 {
        estimate.worth() * self.gamma(PRIOR_NEWS + estimate.news) / (PRIOR_CPU_S + estimate.cpu_s)
    }

    /// From a gamma distribution of that shape and scale 1 (Marsaglia and Tsang, 2000).
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let share = self.share();
            return self.gamma(shape + 1.0) * share.powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let normal = self.normal();
            let v = (1.0 + c * normal).powi(3);
            if v > 0.0 && self.share().ln() < 0.5 * normal * normal + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// From a normal distribution (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.share().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
    }

    /// From above 0 to 1.
    fn share(&mut self) -> f64 {
        1.0 - self.0.share()
    }
}

#[cfg(test)]
mod tests;
