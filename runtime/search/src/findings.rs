//! Failures, each once.
//!
//! Invariant: two findings never have the same signature.

use fozzy_trace::{FailureSignature, Verdict};
use std::collections::BTreeMap;

/// One failure.
#[derive(Clone, Debug)]
pub struct FailureRecord<I = Vec<u8>> {
    /// What showed it first: an input, or a path.
    pub input: I,
    /// The execution, or run, that found it, counted from 1.
    pub found_at: u64,
    /// How often it was seen.
    pub times: u64,
    /// The verdict of the run that has confirmed it, and that can be recorded; if none has, of the execution that found it.
    pub verdict: Verdict,
    /// Whether a run has confirmed it. `false` when the search was over before that run was at its end.
    pub is_confirmed: bool,
}

/// All failures, by the order in which they were found.
#[derive(Clone, Debug)]
pub struct Findings<I = Vec<u8>> {
    all: Vec<FailureRecord<I>>,
    by_signature: BTreeMap<Option<FailureSignature>, usize>,
    times: u64,
}

impl<I> Default for Findings<I> {
    fn default() -> Self {
        Findings { all: Vec::new(), by_signature: BTreeMap::new(), times: 0 }
    }
}

impl<I> Findings<I> {
    /// The findings, in the order in which they were found.
    #[must_use]
    pub fn all(&self) -> &[FailureRecord<I>] {
        &self.all
    }

    /// Executions that failed.
    #[must_use]
    pub fn times(&self) -> u64 {
        self.times
    }

    /// The finding of a failure that was seen before; it is counted then.
    pub(crate) fn seen(&mut self, signature: Option<&FailureSignature>) -> Option<&FailureRecord<I>> {
        self.times += 1;
        let found = &mut self.all[*self.by_signature.get(&signature.cloned())?];
        found.times += 1;
        Some(found)
    }

    /// Adds a failure that the search knows by `signature`. `None` when its verdict is that of a known one.
    pub(crate) fn add(
        &mut self,
        signature: Option<FailureSignature>,
        found: FailureRecord<I>,
    ) -> Option<&FailureRecord<I>> {
        let verdict = found.verdict.signature.clone();
        if let Some(place) = self.by_signature.get(&verdict).copied() {
            self.all[place].times += 1;
            self.by_signature.insert(signature, place);
            return None;
        }
        self.by_signature.insert(signature, self.all.len());
        self.by_signature.insert(verdict, self.all.len());
        self.all.push(found);
        self.all.last()
    }
}
