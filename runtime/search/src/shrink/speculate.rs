//! Executes candidates, and some of them speculatively while workers would be idle.
//!
//! ```text
//! first player     candidate n        n in vain ─▶ n+1 is known already      n fails so too ─▶ n+1 is forgotten
//! second player    candidate n+1
//! ```
//!
//! Invariant: what is told of a candidate depends on it alone, so that it does not matter who tells it, and when.

use super::incremental_replay::IncrementalReplay;
use super::{
    CandidateResult, NextCandidates, ReplayTarget, ShrinkCandidate, ShrinkHalt, Shrinker, digest, source, steps,
};
use crate::keyed_source::take;
use fozzy_trace::{HarnessError, HistoryWindow, Observation, Seed};
use std::sync::Arc;

/// Stack of a player beside the first: guests have one of their own, for the host's part of a call this is plenty.
const STACK_BYTES: usize = 16 << 20;

/// A worker that executes candidates.
pub(super) struct ReplayWorker<'a> {
    target: &'a mut (dyn ReplayTarget + Send),
    /// `None` when it runs everything whole.
    incremental: Option<IncrementalReplay>,
}

impl<'a> ReplayWorker<'a> {
    pub(super) fn new(target: &'a mut (dyn ReplayTarget + Send), is_incremental: bool) -> ReplayWorker<'a> {
        ReplayWorker { target, incremental: is_incremental.then(IncrementalReplay::default) }
    }

    pub(super) fn target(&mut self) -> &mut dyn ReplayTarget {
        self.target
    }

    /// The smallest candidate is this one now.
    pub(super) fn set_baseline(&mut self, candidate: &ShrinkCandidate) {
        self.incremental.iter_mut().for_each(|incremental| incremental.set_baseline(candidate));
    }

    /// Whether not all was run whole.
    pub(super) fn has_replayed(&self) -> bool {
        self.incremental.as_ref().is_some_and(IncrementalReplay::has_replayed)
    }

    /// The result of a candidate, executed in the cheapest way.
    fn replay(
        &mut self,
        candidate: &ShrinkCandidate,
        seed: Seed,
        observations: &Arc<[Observation]>,
    ) -> Result<CandidateResult, HarnessError> {
        let incremental = match &mut self.incremental {
            Some(incremental) if observations.is_empty() => incremental.replay(self.target, candidate, seed)?,
            _ => None,
        };
        incremental.map_or_else(|| self.execute(candidate, seed, observations, 0..0), Ok)
    }

    /// The result of a candidate in a whole run.
    pub(super) fn execute(
        &mut self,
        candidate: &ShrinkCandidate,
        seed: Seed,
        observations: &Arc<[Observation]>,
        keep: HistoryWindow,
    ) -> Result<CandidateResult, HarnessError> {
        let (source, log) = source(candidate, seed, observations);
        let execution = self.target.execute(&candidate.plan, &candidate.inputs, source, keep)?;
        Ok(CandidateResult::of(execution, vec![take(&log).into()]))
    }
}

impl Shrinker<'_> {
    /// Executes a candidate whole and changes nothing.
    pub(super) fn replay(
        &mut self,
        candidate: &ShrinkCandidate,
        keep: HistoryWindow,
    ) -> Result<CandidateResult, ShrinkHalt> {
        Ok(self.workers[0].execute(candidate, self.seed, &self.observations, keep)?)
    }

    /// Executes a candidate, and those that `next` expects after it with whoever else there is.
    pub(super) fn replay_speculatively(
        &mut self,
        candidate: &ShrinkCandidate,
        next: &NextCandidates<'_>,
    ) -> Result<CandidateResult, ShrinkHalt> {
        let (seed, observations) = (self.seed, &self.observations);
        let Some((worker, others)) = self.workers.split_first_mut() else { unreachable!("there is a player") };
        let expected = (1..=others.len()).map_while(|further| next(&self.smallest, further)).map(steps::relevant);
        let expected: Vec<ShrinkCandidate> = expected
            .filter(|other| *other != self.smallest && other != candidate)
            .filter(|candidate| {
                !self.rejected.contains(&digest(candidate)) && !self.speculated.contains_key(&digest(candidate))
            })
            .collect();
        let (result, speculated) = std::thread::scope(|scope| {
            let mut begun = Vec::new();
            for (worker, candidate) in others.iter_mut().zip(expected) {
                let work = move || (digest(&candidate), worker.replay(&candidate, seed, observations));
                // Without a thread it is executed when its turn comes.
                begun.extend(std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).ok());
            }
            let result = worker.replay(candidate, seed, observations);
            let speculated: Vec<_> = begun.into_iter().map(|thread| thread.join()).collect();
            (result, speculated)
        });
        for one in speculated {
            // What failed fails again when its turn comes, and is then an error.
            if let Ok((digest, Ok(result))) = one {
                self.speculated.insert(digest, result);
            }
        }
        Ok(result?)
    }
}
