//! What an order does to a machine.
//!
//! Example: a machine that is ordered to pause has no turns until it is ordered to go on.

use crate::World;
use crate::machine_order::MachineOrder;
use fozzy_trace::NodeId;

impl World {
    /// Does what the program that routes has ordered, or a nemesis.
    pub(crate) fn obey(&mut self, node: NodeId, order: MachineOrder) {
        let _ = self.obey_and_report(node, order);
    }

    /// The same. What was damaged, if files are.
    pub(crate) fn obey_and_report(&mut self, node: NodeId, order: MachineOrder) -> Option<String> {
        let now = self.clock.now();
        let machine = self.node_mut(node);
        match order {
            MachineOrder::End(doom) => {
                (machine.doomed, machine.is_paused, machine.is_halted) = (Some(doom), false, false);
            }
            MachineOrder::Start => {
                // It waits for nothing else.
                machine.doomed = None;
                machine.waiting.clear();
            }
            MachineOrder::Pause => machine.is_paused = true,
            MachineOrder::Resume => machine.is_paused = false,
            MachineOrder::Halt => machine.is_halted = machine.doomed.is_none(),
            MachineOrder::EndHalt => machine.is_halted = false,
            MachineOrder::StepClock(ns) => {
                machine.drift.wall_offset_ns = machine.drift.wall_offset_ns.saturating_add(ns);
            }
            MachineOrder::DriftClock(ppm) => machine.drift.order_speed(ppm, now),
            MachineOrder::DamageFile(damage, place) => {
                // The digits of the number answer one question after the other.
                let mut rest = place;
                let mut digit = |_: &str, bound: u64| {
                    let digit = rest % bound;
                    rest /= bound;
                    digit
                };
                let damaged = machine.disk.damage_file(damage, "*", &mut digit);
                let words = damaged.unwrap_or_else(|| " no file has bytes".to_owned());
                return Some(format!("{}:{words}", machine.name));
            }
        }
        None
    }
}
