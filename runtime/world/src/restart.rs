//! A machine as it was at the start, for the next sequence of a scenario.
//!
//! ```text
//! sequence 0: files, handles, connections ─▶ begin_again ─▶ sequence 1 on the disk of the start
//! ```
//!
//! Virtual time continues, and what was written to the standard outputs stays written. Rules that the guest added are gone.
//!
//! Invariant: what the guest of one sequence did to its machine, the next one does not see.
//! Not here: starting the guest (`fozzy-engine`), other machines, which are as they have become.

use crate::{Node, OpContext, World};

impl World {
    /// The machine of the moment is again what `start` was, before any guest ran on it.
    pub fn begin_again(&mut self, start: &Node, context: &mut OpContext<'_>) {
        self.network.close_node(context.node, context);
        self.network.forget_lingering(context.node);
        self.http_guest_ended(context.node);
        self.http.rules.clear();
        self.processes.rules.clear();
        let machine = self.node_mut(context.node);
        machine.disk = start.disk.clone();
        machine.table = start.table.clone();
        machine.preview1 = start.preview1.clone();
        machine.snapshots = start.snapshots.clone();
        machine.drift = start.drift;
        machine.stdin.rewind();
        machine.waiting.clear();
        self.clock.freeze(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::tests::SeededDecider;
    use crate::files::{DescriptorFlags, OpenFlags, PathFlags};
    use fozzy_trace::plan::{Inputs, Plan};
    use fozzy_trace::source::SeededSource;
    use fozzy_trace::{NodeId, Seed};
    use std::sync::Arc;

    #[test]
    fn the_disk_is_that_of_the_start() {
        let me = NodeId(0);
        let mut world = World::new(Arc::new(Plan::default()), &Inputs::default()).expect("a plain plan");
        let start = world.node(me).clone();
        let disk = &mut world.node_mut(me).disk;
        let root = disk.open_root(true);
        let create = OpenFlags { create: true, directory: false, exclusive: false, truncate: false };
        let flags = DescriptorFlags { read: true, write: true, ..DescriptorFlags::default() };
        disk.open_at(&root, PathFlags::default(), "file", create, flags, 0).expect("room");
        let used = disk.usage();
        let mut faults = std::mem::take(&mut world.faults);
        let mut decider = SeededDecider(SeededSource::new(Seed(7)));
        let mut context = OpContext { now: world.clock.now(), node: me, faults: &mut faults, decider: &mut decider };
        world.begin_again(&start, &mut context);
        assert_ne!(world.node(me).disk.usage(), used);
        assert_eq!(world.node(me).disk.usage(), start.disk.usage());
    }
}
