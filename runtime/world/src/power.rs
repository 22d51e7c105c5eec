//! A machine loses power: its guest is gone, and its disk keeps what was durable.
//!
//! ```text
//! guest ─ write, write, ✗      handles gone, input rewound, disk crashed      ─▶ starts again, after a while
//! ```
//!
//! What was written to the standard outputs stays written, and what the guest writes next follows it: somebody saw it.
//! Virtual time goes on for everybody.
//!
//! Invariant: nothing holds a node of the disk afterwards, so what had no name is gone.
//! Not here: starting the guest again (`fozzy-engine`), ends of its connections (`network`).

use crate::files::{Act, Strike, strike};
use crate::table::{Handle, InputStream, OutputStream};
use crate::{Chance, Moment, World};
use fozzy_trace::NodeId;

impl World {
    /// The machine loses power.
    pub fn power_loss(&mut self, node: NodeId, chance: &mut dyn Chance) {
        let (now, faults) = (self.clock.now(), &mut self.faults);
        let machine = &mut self.nodes[node.0 as usize];
        for handle in machine.table.clear() {
            match handle {
                Handle::Descriptor(file)
                | Handle::InputStream(InputStream::File { file, .. })
                | Handle::OutputStream(OutputStream::File { file, .. }) => machine.disk.closed(file.node),
                _ => {}
            }
        }
        machine.stdin.rewind();
        machine.waiting.clear();
        machine.disk.crash(&mut Moment { now, node, faults, chance });
    }

    /// Asks what goes wrong with an operation on a file of `node`. The path is looked up only when something is
    /// planned at all.
    pub fn strike_file(
        &mut self,
        node: NodeId,
        act: Act,
        path: impl FnOnce(&World) -> String,
        chance: &mut dyn Chance,
    ) -> Strike {
        if self.faults.is_empty() {
            return Strike::default();
        }
        let path = path(self);
        let (now, faults) = (self.clock.now(), &mut self.faults);
        let machine = &self.nodes[node.0 as usize];
        strike(act, &machine.name, &path, &mut Moment { now, node, faults, chance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wait;
    use crate::chance::tests::SeededChance;
    use fozzy_trace::plan::{FaultPlan, Inputs, Machine, Plan, Stdin};
    use fozzy_trace::source::Seeded;
    use fozzy_trace::{Duration, Seed};
    use std::sync::Arc;

    fn chance() -> SeededChance {
        SeededChance(Seeded::new(Seed(1)))
    }

    const ME: NodeId = NodeId(0);

    fn world(faults: Vec<FaultPlan>) -> World {
        let mut inputs = Inputs::default();
        let stdin = Stdin { bytes: inputs.add(b"ab".to_vec()), stays_open: false };
        let plan = Plan { main: Machine { stdin, ..Machine::default() }, faults, ..Plan::default() };
        World::new(Arc::new(plan), &inputs).expect("a plain plan")
    }

    fn always(kind: &str) -> FaultPlan {
        let (kind, target) = (kind.to_owned(), "*".to_owned());
        let start = Duration(0);
        FaultPlan { kind, target, rate_ppm: 1_000_000, start, length: None, strength: None, times: None }
    }

    #[test]
    fn a_machine_starts_again_with_what_was_durable() {
        let mut world = world(vec![always("power-loss"), always("lost-write")]);
        let machine = world.node_mut(ME);
        let root = machine.disk.open_root(true);
        let create = crate::files::OpenFlags { create: true, ..Default::default() };
        let flags = crate::files::DescriptorFlags { write: true, ..Default::default() };
        let file = machine.disk.open_at(&root, Default::default(), "log", create, flags, 0).expect("new");
        machine.disk.write(&file, 0, b"synced", 0).expect("room");
        machine.disk.sync(&file).expect("no fault asked here");
        machine.disk.append(&file, b", and not", 0).expect("room");
        machine.table.insert(Handle::Descriptor(root)).expect("room");
        machine.table.insert(Handle::OutputStream(OutputStream::File { file, offset: None })).expect("room");
        machine.stdin.read(1);
        machine.stdout.write(b"seen");
        machine.waiting.push(Wait::Stdin);

        world.power_loss(ME, &mut chance());
        let machine = world.node_mut(ME);
        assert_eq!(machine.table.insert(Handle::Pollable(Wait::Nothing)), Ok(0), "no handle is open");
        assert_eq!(machine.stdin.read(9), b"ab");
        assert!(machine.waiting.is_empty());
        let root = machine.disk.open_root(true);
        let stat = machine.disk.stat_at(&root, Default::default(), "log").expect("names are kept");
        assert_eq!(stat.size, 6);
    }

    #[test]
    fn without_planned_faults_no_path_is_looked_up() {
        let strike = world(Vec::new()).strike_file(ME, Act::Read, |_| unreachable!("nobody asks"), &mut chance());
        assert_eq!(strike, Strike::default());
        let mut world = world(vec![always("power-loss")]);
        let strike = world.strike_file(ME, Act::Read, |_| "/a".to_owned(), &mut chance());
        assert_eq!(strike.power_loss, Some(Duration(1_000_000_000)));
    }
}
