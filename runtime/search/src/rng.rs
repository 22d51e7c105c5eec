//! The one stream of random numbers of a campaign.
//!
//! ```text
//! key = SHA-256("fozzy campaign 1" ‖ seed ‖ worker)      ChaCha8
//! ```
//!
//! Invariant: value-stable across versions and machines.

use fozzy_trace::{Digest, Seed};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng};

/// Answers everything that a campaign leaves to chance.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream of a seed, for the worker of this number.
    #[must_use]
    pub fn new(seed: Seed, worker: u32) -> Rng {
        let key = [&b"fozzy campaign 1"[..], &seed.0.to_le_bytes(), &worker.to_le_bytes()].concat();
        Rng(ChaCha8Rng::from_seed(Digest::of(&key).0))
    }

    /// Another of its 2^64 streams, from its beginning.
    pub(crate) fn stream(&self, number: u64) -> Rng {
        let mut stream = self.0.clone();
        stream.set_stream(number);
        stream.set_word_pos(0);
        Rng(stream)
    }

    pub(crate) fn fill(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
    }

    /// A number from 0 to below 1.
    #[inline]
    pub fn share(&mut self) -> f64 {
        /// The resolution: that of a float between a half and one.
        const STEPS: u64 = 1 << 53;
        self.below(STEPS) as f64 / STEPS as f64
    }

    /// Whether something of this probability happens.
    #[inline]
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// Any number.
    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, which is not 0.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A place in something with `len` elements, which is not empty.
    #[inline]
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// A number from `least` to `most`.
    #[inline]
    pub(crate) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.index(most - least + 1)
    }

    /// Whether something happens that happens once in `times`.
    #[inline]
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }

    /// A length from 1 to `most` (not 0), short ones more likely: each power of two as likely as the next.
    #[inline]
    pub(crate) fn length(&mut self, most: usize) -> usize {
        let least = 1usize << self.between(0, most.ilog2() as usize);
        self.between(least, most.min(2 * least - 1))
    }
}
