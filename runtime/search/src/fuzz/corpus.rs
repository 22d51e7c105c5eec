//! The inputs that each showed something new, and which of them is the best for what.
//!
//! ```text
//! feature 812  ─▶ best: testcase 3 (12 bytes, 140 edges)
//! feature 813  ─▶ best: testcase 9 ( 4 bytes,  90 edges)
//! ```
//!
//! Invariants: no two testcases have the same bytes; each feature that was seen has a best testcase.
//! Not here: files (`fozzy`).

use super::input_to_state::{InputToStatePair, OperandFixup};
use crate::feedback::Feature;
use fozzy_trace::Digest;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An input that showed something new.
#[derive(Clone, Debug)]
pub struct Testcase {
    /// Its bytes.
    pub input: Arc<[u8]>,
    /// SHA-256 of them, by which it is named.
    pub digest: Digest,
    /// The execution that found it, counted from 1.
    pub found_at: u64,
    /// The testcase that it was made from.
    pub parent: Option<u32>,
    /// Everything that it shows, in order.
    pub(crate) features: Box<[Feature]>,
    /// Features for which it is the best.
    pub(crate) best_for: u32,
    /// How often it was picked.
    pub(crate) picks: u32,
    /// What its execution costs, in instructions of the build that logs comparisons; `None` before it was picked.
    pub(crate) instructions: Option<u64>,
    /// How often an input that was made from it has used up its budget.
    pub(crate) timeouts: u32,
    /// Comparisons that were met by putting one side in the other's place, here and in what it was made from: checksums and
    /// lengths among them, which a change of anything else spoils.
    pub(crate) fixups: Arc<[OperandFixup]>,
    /// What it compared, of what could be put into it; `None` before it was looked at.
    pub(crate) pairs: Option<Arc<[InputToStatePair]>>,
}

impl Testcase {
    /// What it costs to execute it, in instructions.
    #[must_use]
    pub fn instructions(&self) -> Option<u64> {
        self.instructions
    }

    /// The same, as far as it is worth executions: what time out after it are many of those that are made from it.
    pub(crate) fn expected_instructions(&self) -> Option<u64> {
        let times = 1 << self.timeouts.min(TIMEOUT_DOUBLINGS_MAX);
        self.instructions.map(|instructions| instructions.max(1).saturating_mul(times))
    }

    /// What it costs to execute it, and to read it: small is better.
    fn cost(&self) -> u64 {
        (self.features.len() as u64 + 16) * (self.input.len() as u64 + 16)
    }
}

/// Timeouts after which a testcase is worth no less: it must be changed now and then.
const TIMEOUT_DOUBLINGS_MAX: u32 = 20;

/// All testcases.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    entries: Vec<Testcase>,
    /// The bytes of each: one is drawn for each execution, and these are near each other.
    inputs: Vec<Arc<[u8]>>,
    known: BTreeMap<Digest, u32>,
    /// The best testcase for each feature.
    best: Vec<u32>,
    bytes: u64,
}

/// No testcase is the best for this feature, as it was not seen.
const NOBODY: u32 = u32::MAX;

impl Corpus {
    /// The testcases, in the order in which they were found.
    #[must_use]
    pub fn testcases(&self) -> &[Testcase] {
        &self.entries
    }

    /// Bytes of all of them.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of the testcases, in the same order.
    pub(crate) fn inputs(&self) -> &[Arc<[u8]>] {
        &self.inputs
    }

    pub(crate) fn contains(&self, digest: &Digest) -> bool {
        self.known.contains_key(digest)
    }

    pub(crate) fn entry(&mut self, place: usize) -> &mut Testcase {
        &mut self.entries[place]
    }

    /// Adds a testcase that is not known; `features_max` bounds the numbers of features.
    pub(crate) fn add(&mut self, testcase: Testcase, features_max: usize) -> &Testcase {
        let place = self.entries.len() as u32;
        if self.best.len() < features_max {
            self.best.resize(features_max, NOBODY);
        }
        self.known.insert(testcase.digest, place);
        self.bytes += testcase.input.len() as u64;
        let cost = testcase.cost();
        self.inputs.push(Arc::clone(&testcase.input));
        self.entries.push(testcase);
        for feature in self.entries[place as usize].features.clone() {
            let best = self.best[feature as usize];
            if best != NOBODY {
                if self.entries[best as usize].cost() <= cost {
                    continue;
                }
                self.entries[best as usize].best_for -= 1;
            }
            self.best[feature as usize] = place;
            self.entries[place as usize].best_for += 1;
        }
        &self.entries[place as usize]
    }

    /// Those of `features` that no testcase shows.
    pub(crate) fn unknown<'a>(&'a self, features: &'a [Feature]) -> impl Iterator<Item = Feature> + 'a {
        let known = |feature: Feature| self.best.get(feature as usize).is_some_and(|best| *best != NOBODY);
        features.iter().copied().filter(move |feature| !known(*feature))
    }

    /// The features for which a testcase is the best.
    pub(crate) fn best_features(&self, place: usize) -> impl Iterator<Item = Feature> {
        let features = self.entries[place].features.iter().copied();
        features.filter(move |feature| self.best[*feature as usize] == place as u32)
    }
}
