//! Events that happen once: a child ended, a response arrived.
//!
//! Invariant: what has happened stays so; a signal is named by its number for the whole run.

use fozzy_trace::Instant;

/// The name of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignalId(u32);

/// All signals of a run.
#[derive(Debug, Default)]
pub struct Signals {
    /// When each happens; `None` is not known yet.
    at: Vec<Option<Instant>>,
}

impl Clone for Signals {
    fn clone(&self) -> Signals {
        Signals { at: self.at.clone() }
    }

    fn clone_from(&mut self, source: &Signals) {
        self.at.clone_from(&source.at);
    }
}

impl Signals {
    /// A signal that was not fired.
    pub fn create(&mut self) -> SignalId {
        let signal = self.next();
        self.at.push(None);
        signal
    }

    /// The signal that the next [`Signals::create`] makes.
    #[must_use]
    pub fn next(&self) -> SignalId {
        SignalId(self.at.len() as u32)
    }

    /// It happens at `moment`. The first word counts.
    pub fn fire(&mut self, signal: SignalId, moment: Instant) {
        self.at[signal.0 as usize].get_or_insert(moment);
    }

    /// It happens at `moment`, unless it happens before. A moment that was still to come may move closer: an answer that
    /// arrives before the deadline.
    pub fn hasten(&mut self, signal: SignalId, moment: Instant) {
        let at = &mut self.at[signal.0 as usize];
        *at = Some(at.map_or(moment, |at| at.min(moment)));
    }

    /// When it happens, if that is known.
    #[must_use]
    pub fn at(&self, signal: SignalId) -> Option<Instant> {
        self.at[signal.0 as usize]
    }
}
