//! What an order does to a machine.
//!
//! Example: a machine that is ordered to pause has no turns until it is ordered to go on.

use crate::World;
use crate::machine_order::MachineOrder;
use fozzy_trace::NodeId;

impl World {
    /// Does what the program that routes has ordered, or a nemesis.
    pub(crate) fn obey(&mut self, node: NodeId, order: MachineOrder) {
        let now = self.clock.now();
        let machine = self.node_mut(node);
        match order {
            MachineOrder::End(doom) => (machine.doomed, machine.is_paused) = (Some(doom), false),
            MachineOrder::Start => {
                // It waits for nothing else.
                machine.doomed = None;
                machine.waiting.clear();
            }
            MachineOrder::Pause => machine.is_paused = true,
            MachineOrder::Resume => machine.is_paused = false,
            MachineOrder::StepClock(ns) => {
                machine.drift.wall_offset_ns = machine.drift.wall_offset_ns.saturating_add(ns);
            }
            MachineOrder::DriftClock(ppm) => machine.drift.order_speed(ppm, now),
        }
    }
}
