//! Programs that a nemesis ends between two calls that they make in a row.
//!
//! ```text
//! n1 begins a call ─▶ is it the one?   yes ─▶ the program is gone, and the call was not made
//!                      and of a loss of power: the others are gone where they wait, at the same moment
//! halfway          ─▶ who has made fewer calls until then is gone where it waits
//! ```
//!
//! Invariant: a nemesis has struck from the first machine on that it strikes; one that finds nobody any more never has.
//! Not here: counting calls (`fault/nemesis/call_order.rs`), which calls count (`machine_faults.rs` of `fozzy-host`).

use super::{StrikeNotice, tell_strike};
use crate::fault::{ActiveNemesis, CallOrder, Nemeses};
use crate::machine_order::{Doom, MachineOrder};
use crate::{OpContext, World};
use fozzy_trace::{CopyOnWrite, Instant, NodeId};
use std::collections::BTreeSet;

impl World {
    /// The program of the moment's machine begins a call: how it ends before that, if a nemesis has waited for this one.
    pub fn doom_before_call(&mut self, context: &mut OpContext<'_>) -> Option<Doom> {
        let (node, now, calls) = (context.node, context.now, context.decider.calls());
        let is_awaited = context.faults.nemeses.as_ref().is_some_and(|nemeses| nemeses.awaits_call(node, now));
        if !is_awaited {
            return None;
        }
        let mut nemeses = context.faults.nemeses.take()?.into_inner();
        let taken = nemeses.take_call_order(node, calls);
        if let Some((doom, id)) = taken {
            let of_power = nemeses.active.iter_mut().find(|active| active.id == id && doom == Doom::PowerLoss);
            if let Some(active) = of_power {
                self.end_rest(active, false);
            }
            self.strike_late(&mut nemeses, (id, node), now, context);
        }
        context.faults.nemeses = Some(CopyOnWrite::new(nemeses));
        context.faults.heed_call_orders();
        taken.map(|(doom, _)| doom)
    }

    /// Half of a nemesis is over: programs that have not come to their calls end where they wait.
    pub(super) fn pass_halfway(&mut self, nemeses: &mut Nemeses, id: u64, at: Instant, context: &mut OpContext<'_>) {
        let Some(place) = nemeses.active.iter().position(|active| active.id == id) else { return };
        let active = &mut nemeses.active[place];
        // Time may have gone on without any machine, to the end: then nobody sees it.
        let is_over = active.until <= context.now;
        match self.end_rest(active, is_over) {
            Some(first) => self.strike_late(nemeses, (id, first), at, context),
            None if nemeses.active[place].has_struck => {}
            None => drop(nemeses.active.remove(place)),
        }
    }

    /// Programs of a nemesis that have not come to their calls end where they wait: which the first one is. Those that have ended by
    /// themselves are not hit any more, and none is when all is over.
    fn end_rest(&mut self, active: &mut ActiveNemesis, is_over: bool) -> Option<NodeId> {
        let can_strike = |order: &CallOrder| !is_over && self.node(order.node).exit.is_none();
        let (orders, missed): (Vec<_>, Vec<_>) = std::mem::take(&mut active.calls).into_iter().partition(can_strike);
        let missed: BTreeSet<NodeId> = missed.into_iter().map(|order| order.node).collect();
        active.hits.retain(|node| !missed.contains(node));
        active.undo.retain(|(node, _)| !missed.contains(node));
        for order in &orders {
            self.obey(order.node, MachineOrder::End(order.doom));
        }
        orders.first().map(|order| order.node)
    }

    /// A nemesis that has waited for calls strikes a machine. It has struck from the first one on.
    fn strike_late(&self, nemeses: &mut Nemeses, (id, node): (u64, NodeId), at: Instant, context: &mut OpContext<'_>) {
        let Some(active) = nemeses.active.iter_mut().find(|active| active.id == id && !active.has_struck) else {
            return;
        };
        active.has_struck = true;
        let hits: Vec<NodeId> = active.hits.iter().copied().collect();
        let (rule, until, machine) = (active.rule, active.until, self.node(node).name.clone());
        let words = self.names_of(&hits);
        tell_strike(nemeses, StrikeNotice { rule, at, until, machine, words, strength: 0 }, context);
    }
}
