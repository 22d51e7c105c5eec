//! The simulated computer: what a guest can see of a machine, as plain values.
//!
//! ```text
//! World ─┬─ clock     virtual time; moves when every guest waits, and by a tick for each reading
//!        ├─ files     an in-memory disk; captured directories copied in
//!        ├─ stdio     standard input as a tape, output as digests with a kept beginning
//!        └─ table     what the guest's handles mean
//! ```
//!
//! Invariants: everything is deterministic and bounded; `clone` is cheap, because a checkpoint is a
//! clone; nothing here reaches a real clock, file, process or network.
//! Not here: WIT (`fozzy-host`), who answers questions (`fozzy-trace`), wasm (`fozzy-engine`).

pub mod clock;
pub mod files;
pub mod stdio;
pub mod table;
mod wait;

pub use clock::Clock;
pub use files::Disk;
pub use stdio::{OutputKind, Stdin};
pub use table::{Handle, Table, TableError};
pub use wait::{Blocked, Wait};

use fozzy_trace::{Instant, NodeId, Output, Plan, plan::Inputs};
use std::sync::Arc;

/// One simulated machine with everything that a guest on it can see.
#[derive(Clone, Debug)]
pub struct World {
    /// Which machine this is.
    pub node: NodeId,
    /// Arguments, environment and limits, as planned.
    pub plan: Arc<Plan>,
    /// Virtual time.
    pub clock: Clock,
    /// The disk.
    pub disk: Disk,
    /// Standard input.
    pub stdin: Stdin,
    /// Standard output so far.
    pub stdout: Output,
    /// Standard error so far.
    pub stderr: Output,
    /// The guest's open handles.
    pub table: Table,
}

/// The plan cannot be made into a computer.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The plan names bytes that do not come with it.
    #[error("the plan names an input with SHA-256 {0}, which is missing")]
    MissingInput(fozzy_trace::Digest),
    /// A directory of the plan does not fit the disk.
    #[error(transparent)]
    Mount(#[from] files::MountError),
}

impl World {
    /// The computer that `plan` describes, at time zero.
    ///
    /// # Errors
    /// When inputs are missing or a directory does not fit the disk.
    pub fn new(plan: Arc<Plan>, inputs: &Inputs) -> Result<World, WorldError> {
        let clock = Clock::new(plan.wall_start_s);
        let limits = files::DiskLimits { bytes: plan.limits.disk_bytes, nodes: plan.limits.disk_nodes };
        let mut disk = Disk::new(limits, clock.wall_ns());
        for mount in &plan.dirs {
            disk.mount(mount, inputs, clock.wall_ns())?;
        }
        let bytes = inputs.get(&plan.stdin.bytes).ok_or(WorldError::MissingInput(plan.stdin.bytes))?;
        let stdin = Stdin::new(bytes, plan.stdin.stays_open);
        Ok(World {
            node: NodeId(0),
            plan,
            clock,
            disk,
            stdin,
            stdout: Output::default(),
            stderr: Output::default(),
            table: Table::default(),
        })
    }

    /// Whether what `wait` waits for is there.
    #[must_use]
    pub fn is_ready(&self, wait: Wait) -> bool {
        match wait {
            Wait::Nothing => true,
            Wait::Until(deadline) => deadline <= self.clock.now(),
            Wait::Stdin => self.stdin.is_ready(),
        }
    }

    /// Lets virtual time pass until one of `waits` is over.
    ///
    /// # Errors
    /// [`Blocked`] when that will never happen: the guest hangs.
    pub fn block(&mut self, waits: &[Wait]) -> Result<(), Blocked> {
        if waits.iter().any(|wait| self.is_ready(*wait)) {
            return Ok(());
        }
        let deadline = waits.iter().filter_map(|wait| wait.deadline()).min();
        match deadline {
            Some(deadline) if deadline < Instant::NEVER => {
                self.clock.advance_to(deadline);
                Ok(())
            }
            _ => Err(Blocked { waiting: waits.iter().map(ToString::to_string).collect() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::{Duration, plan};

    fn world(stays_open: bool) -> World {
        let mut inputs = Inputs::default();
        let bytes = inputs.add(b"ab".to_vec());
        let plan = Plan { stdin: plan::Stdin { bytes, stays_open }, ..Plan::default() };
        World::new(Arc::new(plan), &inputs).expect("a plain plan")
    }

    #[test]
    fn time_jumps_to_the_earliest_deadline() {
        let mut world = world(false);
        let hour = Instant::START.after(Duration::from_millis(3_600_000));
        world.block(&[Wait::Until(Instant::NEVER), Wait::Until(hour)]).expect("a deadline");
        assert_eq!(world.clock.now(), hour);
        world.block(&[Wait::Until(Instant::START)]).expect("long over");
        assert_eq!(world.clock.now(), hour);
    }

    #[test]
    fn nothing_to_wait_for_is_a_hang_that_says_what_is_waited_for() {
        let mut world = world(true);
        world.block(&[Wait::Stdin]).expect("two bytes are there");
        assert_eq!(world.stdin.read(9), b"ab");
        let blocked = world.block(&[Wait::Stdin, Wait::Until(Instant::NEVER)]).expect_err("hangs");
        assert_eq!(blocked.waiting, ["standard input, which stays open and empty", "a deadline that never comes"]);
    }

    #[test]
    fn a_closed_input_is_always_ready() {
        let mut world = world(false);
        assert_eq!(world.stdin.read(1), b"a");
        assert_eq!(world.stdin.read(9), b"b");
        assert!(world.stdin.is_closed());
        assert!(world.is_ready(Wait::Stdin));
    }

    #[test]
    fn a_missing_input_is_an_error() {
        let missing = fozzy_trace::Digest::of(b"elsewhere");
        let plan = Plan { stdin: plan::Stdin { bytes: missing, stays_open: false }, ..Plan::default() };
        let error = World::new(Arc::new(plan), &Inputs::default()).expect_err("no bytes");
        assert!(error.to_string().contains(&missing.to_string()));
    }
}
