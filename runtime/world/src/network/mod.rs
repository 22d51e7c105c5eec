//! The simulated network between the machines of a run.

use fozzy_trace::Instant;
use fozzy_trace::plan::NetworkPlan;

/// What a guest waits for at a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {}

/// Sockets and packets of all machines.
#[derive(Clone, Debug)]
pub struct Network {}

impl Network {
    /// A network of machines with these names, in the order of their ids. The first runs the target.
    #[must_use]
    pub fn new(_plan: &NetworkPlan, _names: Vec<String>) -> Network {
        Network {}
    }

    /// One more machine, which joins while the run goes on.
    pub fn join(&mut self, _name: String) {}

    /// When the next packet arrives or timer expires; `None` when nothing is on its way.
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        None
    }

    /// Performs every arrival and timer that is due at `now`.
    pub fn advance(&mut self, _now: Instant) {}

    /// Whether what is waited for is there.
    #[must_use]
    pub fn is_ready(&self, readiness: Readiness) -> bool {
        match readiness {}
    }
}
