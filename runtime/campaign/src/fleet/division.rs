//! How the time of a fleet is divided between its targets: by what each CPU second has found of late.
//!
//! ```text
//! a slice of 10 s found something new    news × DECAY + 1                        cpu_s × DECAY + 10
//! next target                            one draw of each rate ~ Gamma(PRIOR_NEWS + news) / (PRIOR_CPU_S + cpu_s); the largest
//!                                        but first what was never tried, and what has had less than its floor
//! ```
//!
//! Thompson sampling: a target is chosen as often as it is the best one by what is known, so that what is hardly known is tried, too. Slices
//! that found something are counted, not how much: so a program with a hundred times the edges earns nothing by that. What is old counts
//! less, since discovery slows down. In simulations, logarithms and roots of how much was found did no better.
//!
//! Invariants: the same seed and the same estimates give the same choices; each target that can be worked on gets at least
//! [`FLOOR`] of an even share.
//! Not here: clocks, and what a slice is.

use fozzy_search::Rng;
use fozzy_trace::Seed;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What of an estimate is left after one more slice of its target.
const DECAY: f64 = 0.95;
/// Slices with discoveries that a target is believed to have had before its first one, and CPU seconds that they took: few and short, so
/// that the first slices decide.
const PRIOR_NEWS: f64 = 0.05;
const PRIOR_CPU_S: f64 = 5.0;
/// The part of an even share that each target gets whatever it finds: what is found late would never be found otherwise.
pub const FLOOR: f64 = 0.1;

/// What the slices of one target have found, the latest counting most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DiscoveryEstimate {
    /// Slices that found something new.
    pub news: f64,
    /// CPU seconds that they took.
    pub cpu_s: f64,
    /// CPU seconds of all slices.
    pub total_cpu_s: f64,
    /// Slices.
    pub slices: u64,
}

impl DiscoveryEstimate {
    /// One more slice, which has found so many new behaviours.
    pub fn observe(&mut self, discoveries: u64, cpu: Duration) {
        let cpu_s = cpu.as_secs_f64();
        self.news = self.news * DECAY + f64::from(u8::from(discoveries > 0));
        self.cpu_s = self.cpu_s * DECAY + cpu_s;
        self.total_cpu_s += cpu_s;
        self.slices += 1;
    }

    /// Slices with discoveries per CPU second, as far as they are known.
    #[must_use]
    pub fn rate(&self) -> f64 {
        (PRIOR_NEWS + self.news) / (PRIOR_CPU_S + self.cpu_s)
    }

    /// The same, as if nothing were known where the stored numbers are none.
    #[must_use]
    pub fn sound(self) -> DiscoveryEstimate {
        let numbers = [self.news, self.cpu_s, self.total_cpu_s];
        let is_sound = numbers.iter().all(|number| number.is_finite() && *number >= 0.0);
        if is_sound { self } else { DiscoveryEstimate::default() }
    }
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
        self.gamma(PRIOR_NEWS + estimate.news) / (PRIOR_CPU_S + estimate.cpu_s)
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
