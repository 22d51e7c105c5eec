//! Orders of the program that routes lines: what becomes of a machine that it has talk.
//!
//! ```text
//! !kill n1          its program is gone; the disk has everything        !pause n1          it stands still
//! !power-loss n1    the same, and what was not durable is gone          !resume n1         it goes on
//! !start n1         its program starts again                            !step-clock n1 -5  its wall clock jumps by so many ns
//!                                                                       !drift-clock n1 5  its clocks run fast by so many millionths
//! ```
//!
//! Orders take no time. A program that is killed ends at the call in which it waits.
//! Not here: which machines may be ordered (`line_router`), starting a program again (`fozzy-engine`).

use crate::World;
use crate::node::Doom;
use fozzy_trace::NodeId;

/// What becomes of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineOrder {
    /// Its program is gone, until it is started.
    End(Doom),
    /// Its program starts again, if it is gone.
    Start,
    /// It stands still.
    Pause,
    /// It goes on.
    Resume,
    /// Its wall clock jumps by so many nanoseconds.
    StepClock(i64),
    /// Both its clocks run fast by so many millionths, or slow.
    DriftClock(i64),
}

impl MachineOrder {
    /// An order by its words, without the machine's name; `None` for words that are no order.
    pub(super) fn parse(name: &str, amount: Option<&str>) -> Option<MachineOrder> {
        match (name, amount) {
            ("kill", None) => Some(MachineOrder::End(Doom::Killed)),
            ("power-loss", None) => Some(MachineOrder::End(Doom::PowerLoss)),
            ("start", None) => Some(MachineOrder::Start),
            ("pause", None) => Some(MachineOrder::Pause),
            ("resume", None) => Some(MachineOrder::Resume),
            ("step-clock", Some(ns)) => ns.parse().ok().map(MachineOrder::StepClock),
            ("drift-clock", Some(ppm)) => ppm.parse().ok().map(MachineOrder::DriftClock),
            _ => None,
        }
    }
}

impl World {
    /// Does what the program that routes has ordered.
    pub(super) fn obey(&mut self, node: NodeId, order: MachineOrder) {
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
