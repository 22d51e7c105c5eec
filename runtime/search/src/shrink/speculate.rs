//! Executes candidates, and some of them speculatively while workers would be idle.
//!
//! ```text
//! first player     candidate n        n in vain ─▶ n+1 is known already      n fails so too ─▶ n+1 is forgotten
//! second player    candidate n+1
//! ```
//!
//! Invariant: the result of a candidate depends on it alone, so that it does not matter which worker gets it, and when.

use super::incremental_replay::{IncrementalReplay, SequenceTarget};
use super::{CandidateResult, NextCandidates, ReplayTarget, ShrinkCandidate, ShrinkHalt, Shrinker, digest, source};
use crate::keyed_source::take;
use fozzy_trace::{HarnessError, HistoryWindow, Observation, Seed};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Stack of a player beside the first: guests have one of their own, for the host's part of a call this is plenty.
const STACK_BYTES: usize = 16 << 20;
/// Candidates that are looked at for each other worker: completed, several of them may be one, or one that is known.
const LOOK_AHEAD: usize = 4;

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

    /// The target, to be walked through otherwise: what was walked is walked again when it is needed.
    pub(super) fn lend_sequences(&mut self) -> Option<&mut dyn SequenceTarget> {
        self.incremental.iter_mut().for_each(IncrementalReplay::forget);
        self.target.sequences()
    }

    /// The smallest candidate is this one now.
    pub(super) fn set_baseline(&mut self, candidate: &ShrinkCandidate) {
        self.incremental.iter_mut().for_each(|incremental| incremental.set_baseline(candidate));
    }

    /// Whether candidates may have been walked through. It follows from the candidates and the program alone: whether one was
    /// is a matter of the clock too, and of who had it.
    pub(super) fn may_have_walked(&mut self) -> bool {
        self.incremental.as_ref().is_some_and(IncrementalReplay::has_baseline) && self.target.sequences().is_some()
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
        let identity = self.target.identify(&execution);
        Ok(CandidateResult::identified(execution, identity, vec![take(&log).into()]))
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

    /// Executes a candidate, and on the idle targets the candidates that `next` expects after it.
    pub(super) fn replay_speculatively(
        &mut self,
        candidate: &ShrinkCandidate,
        next: &NextCandidates<'_>,
    ) -> Result<CandidateResult, ShrinkHalt> {
        let expected = self.expected(candidate, next);
        // What the search has gone past is not asked for again.
        let digests: BTreeSet<u64> = expected.iter().map(digest).collect();
        self.speculated.retain(|digest, _| digests.contains(digest));
        let unknown = |candidate: &ShrinkCandidate| !self.speculated.contains_key(&digest(candidate));
        let expected: Vec<ShrinkCandidate> = expected.into_iter().filter(unknown).collect();
        let (seed, observations) = (self.seed, &self.observations);
        let Some((worker, others)) = self.workers.split_first_mut() else { unreachable!("there is a player") };
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

    /// What will be attempted next if this candidate and those after it are in vain, as many as there are other workers: each
    /// completed as an attempt of it is.
    fn expected(&self, candidate: &ShrinkCandidate, next: &NextCandidates<'_>) -> Vec<ShrinkCandidate> {
        let others = self.workers.len() - 1;
        let mut expected: Vec<ShrinkCandidate> = Vec::new();
        for further in 1..=others * LOOK_AHEAD {
            if expected.len() == others {
                break;
            }
            let Some(next) = next(&self.smallest, further) else { break };
            let next = self.completed(next);
            let is_new = next != self.smallest && next != *candidate && !expected.contains(&next);
            if is_new && !self.rejected.contains(&digest(&next)) {
                expected.push(next);
            }
        }
        expected
    }
}
