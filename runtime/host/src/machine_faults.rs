//! Planned faults of a whole machine: its program is killed or restarted, or it stands still. And nemeses that end it between two calls.
//!
//! ```text
//! poll, blocking-read, write, send ─▶ nemesis? kill? restart? pause? ─▶ the guest ends, or waits as if for a deadline
//! file operation                   ─▶ nemesis? kill? restart?
//! ```
//!
//! What a machine does between these calls no other machine can see, so to strike there would be to strike here.
//!
//! Invariants: without such a fault in the plan, and while no nemesis waits for a call, nothing is asked; only machines of the plan are
//! struck, and the main one is never killed for good, since the run ends with it.
//! Not here: starting the guest again (`fozzy-engine`), losses of power (`disk_faults`), which call a nemesis waits for (`fozzy-world`).

use crate::call::{GuestStop, Host, Import};
use fozzy_trace::{Duration, NodeId, Record};
use fozzy_world::fault::{KILL, PAUSE, RESTART};

impl Host {
    /// Whether whole machines may be struck now, and this is one of them.
    #[inline]
    fn may_be_struck(&self) -> bool {
        let world = &self.run.world;
        world.faults.strikes_machines() && self.node.0 as usize <= world.plan.nodes.len()
    }

    /// Asks whether the program is killed before what it is about to do.
    #[inline]
    pub(crate) fn inject_kill(&mut self) -> Result<(), GuestStop> {
        if self.may_be_struck() { self.ask_kill() } else { Ok(()) }
    }

    fn ask_kill(&mut self) -> Result<(), GuestStop> {
        if let Some(doom) = self.with_context(|world, context| world.doom_before_call(context)) {
            return Err(GuestStop::from(doom));
        }
        let name = self.node().name.clone();
        let is_main = self.node == NodeId(0);
        if !is_main && self.with_context(|_, context| context.injects(&KILL, &name)).is_some() {
            return Err(GuestStop::Killed { up_after: None });
        }
        match self.with_context(|_, context| context.injects(&RESTART, &name)) {
            Some(ns) => Err(GuestStop::Killed { up_after: Some(Duration(ns)) }),
            None => Ok(()),
        }
    }

    /// The same before what others could see or what may wait; the machine may also stand still first.
    #[inline]
    pub(crate) async fn inject_machine(&mut self) -> Result<(), GuestStop> {
        if self.may_be_struck() { self.ask_machine().await } else { Ok(()) }
    }

    async fn ask_machine(&mut self) -> Result<(), GuestStop> {
        self.ask_kill()?;
        let name = self.node().name.clone();
        match self.with_context(|_, context| context.injects(&PAUSE, &name)) {
            Some(ns) => self.stand_still(Duration(ns)).await,
            None => Ok(()),
        }
    }

    /// A call that does not wait, and that others can see.
    pub(crate) async fn call_seen<A: Record, R: Record>(
        &mut self,
        import: Import,
        asked: A,
        body: impl FnOnce(&mut Host) -> Result<R, GuestStop>,
    ) -> wasmtime::Result<R> {
        let mut outcome = self.begin(&asked);
        if outcome.is_ok() {
            outcome = self.inject_machine().await;
        }
        let outcome = outcome.and_then(|()| body(self));
        self.end(import, &asked, outcome)
    }
}
