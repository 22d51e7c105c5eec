//! Programs that a nemesis ends before a call that they are to make, so that it comes between two calls in a row, too.
//!
//! ```text
//! begins   n1: before its 3rd call ─▶ n1 goes on: receives, answers, ✗ writes
//!          n2: before its 8th call ─▶ n2 goes on: receives, answers, waits
//! halfway                             ✗ n2, where it waits
//! ```
//!
//! Only those calls count that others can see, that may wait, or that are about files: what a program does between them is the same
//! whenever it ends. Programs are killed one by one. Machines that lose power lose it at one moment, as if they hung on one wire: one of
//! them is drawn, and before one of its calls the others are off, too.
//!
//! Invariant: when a nemesis ends none of its orders is left, as they come halfway at the latest.
//! Not here: who gets such an order (`nemesis_strike.rs`), what becomes of the machine (`nemesis_strike/before_call.rs`).

use super::Nemeses;
use crate::machine_order::Doom;
use fozzy_trace::{Instant, NodeId};

/// A program is to be gone before one of the next calls that it makes, or that another one makes.
#[derive(Clone, Debug)]
pub(crate) struct CallOrder {
    pub(crate) node: NodeId,
    pub(crate) doom: Doom,
    /// Before which call, from one on; `None` for one that goes when another one of the same nemesis does.
    nth: Option<u32>,
    /// Calls that it has begun meanwhile.
    begun: u32,
    /// How many calls of all machines were over when it began the last of them.
    last: Option<u64>,
}

impl CallOrder {
    pub(crate) fn new(node: NodeId, doom: Doom, nth: Option<u32>) -> CallOrder {
        CallOrder { node, doom, nth, begun: 0, last: None }
    }

    /// The program is about to do something while so many calls of all machines are over: whether this is the call. What belongs to
    /// a call that has begun is no other one.
    fn count(&mut self, calls: u64) -> bool {
        if self.last != Some(calls) {
            (self.last, self.begun) = (Some(calls), self.begun + 1);
        }
        self.nth.is_some_and(|nth| self.begun >= nth)
    }

    /// Whether it waits for a call of this machine.
    fn awaits(&self, node: NodeId) -> bool {
        self.node == node && self.nth.is_some()
    }
}

impl Nemeses {
    /// Whether a nemesis waits for a call of any machine.
    pub(crate) fn has_call_orders(&self) -> bool {
        self.active.iter().any(|active| !active.calls.is_empty())
    }

    /// Whether one waits for a call of this machine. After half of it, it ends programs without one, when machines switch.
    pub(crate) fn awaits_call(&self, node: NodeId, now: Instant) -> bool {
        self.active.iter().any(|active| now < active.halfway && active.calls.iter().any(|order| order.awaits(node)))
    }

    /// A machine that is waited for begins a call, while so many of all machines are over. If its order is due: how its program ends, and
    /// the number of the nemesis.
    pub(crate) fn take_call_order(&mut self, node: NodeId, calls: u64) -> Option<(Doom, u64)> {
        let active = self.active.iter_mut().find(|active| active.calls.iter().any(|order| order.awaits(node)))?;
        let place = active.calls.iter().position(|order| order.awaits(node))?;
        if !active.calls[place].count(calls) {
            return None;
        }
        Some((active.calls.swap_remove(place).doom, active.id))
    }
}
