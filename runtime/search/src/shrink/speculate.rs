//! Who tells candidates; and those that are told ahead, while somebody else would have nothing to do.
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

/// Somebody who executes candidates.
pub(super) struct ReplayWorker<'a> {
    stage: &'a mut (dyn ReplayTarget + Send),
    /// `None` when it runs everything whole.
    walked: Option<IncrementalReplay>,
}

impl<'a> ReplayWorker<'a> {
    pub(super) fn new(stage: &'a mut (dyn ReplayTarget + Send), walks: bool) -> ReplayWorker<'a> {
        ReplayWorker { stage, walked: walks.then(IncrementalReplay::default) }
    }

    pub(super) fn stage(&mut self) -> &mut dyn ReplayTarget {
        self.stage
    }

    /// The story is this one now.
    pub(super) fn aim(&mut self, story: &ShrinkCandidate) {
        self.walked.iter_mut().for_each(|walked| walked.aim(story));
    }

    /// Whether not all was run whole.
    pub(super) fn has_walked(&self) -> bool {
        self.walked.as_ref().is_some_and(IncrementalReplay::has_walked)
    }

    /// What comes of a story, told in the cheapest way.
    fn tell(
        &mut self,
        story: &ShrinkCandidate,
        seed: Seed,
        observations: &Arc<[Observation]>,
    ) -> Result<CandidateResult, HarnessError> {
        let walked = match &mut self.walked {
            Some(walked) if observations.is_empty() => walked.tell(self.stage, story, seed)?,
            _ => None,
        };
        walked.map_or_else(|| self.perform(story, seed, observations, 0..0), Ok)
    }

    /// What comes of a story in a whole run.
    pub(super) fn perform(
        &mut self,
        story: &ShrinkCandidate,
        seed: Seed,
        observations: &Arc<[Observation]>,
        keep: HistoryWindow,
    ) -> Result<CandidateResult, HarnessError> {
        let (source, log) = source(story, seed, observations);
        let execution = self.stage.perform(&story.plan, &story.inputs, source, keep)?;
        Ok(CandidateResult::of(execution, vec![take(&log).into()]))
    }
}

impl Shrinker<'_> {
    /// Executes a candidate whole and changes nothing.
    pub(super) fn tell(
        &mut self,
        candidate: &ShrinkCandidate,
        keep: HistoryWindow,
    ) -> Result<CandidateResult, ShrinkHalt> {
        Ok(self.players[0].perform(candidate, self.seed, &self.observations, keep)?)
    }

    /// Executes a candidate, and those that `next` expects after it with whoever else there is.
    pub(super) fn tell_ahead(
        &mut self,
        candidate: &ShrinkCandidate,
        next: &NextCandidates<'_>,
    ) -> Result<CandidateResult, ShrinkHalt> {
        let (seed, observations) = (self.seed, &self.observations);
        let Some((player, others)) = self.players.split_first_mut() else { unreachable!("there is a player") };
        let expected = (1..=others.len()).map_while(|further| next(&self.story, further)).map(steps::relevant);
        let expected: Vec<ShrinkCandidate> = expected
            .filter(|story| *story != self.story && story != candidate)
            .filter(|story| !self.vain.contains(&digest(story)) && !self.ahead.contains_key(&digest(story)))
            .collect();
        let (told, ahead) = std::thread::scope(|scope| {
            let mut begun = Vec::new();
            for (player, story) in others.iter_mut().zip(expected) {
                let work = move || (digest(&story), player.tell(&story, seed, observations));
                // Without a thread it is told when its turn comes.
                begun.extend(std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).ok());
            }
            let told = player.tell(candidate, seed, observations);
            let ahead: Vec<_> = begun.into_iter().map(|thread| thread.join()).collect();
            (told, ahead)
        });
        for one in ahead {
            // What failed fails again when its turn comes, and is then an error.
            if let Ok((digest, Ok(told))) = one {
                self.ahead.insert(digest, told);
            }
        }
        Ok(told?)
    }
}
