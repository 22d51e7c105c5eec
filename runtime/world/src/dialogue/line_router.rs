//! Lines by way of the main machine: its program is the network of the others, which talk over their standard streams.
//!
//! ```text
//! n1 prints {"dest":"n2"}    ──▶ main reads n1 {"dest":"n2"}
//! main prints n2 {"src":"n1"} ─▶ n2 reads {"src":"n1"}
//! the program of n1 is gone  ──▶ main reads n1
//! main prints !kill n1       ──▶ an order (`crate::machine_order`)
//! main prints !file-flip n1 7 ─▶ main reads ! n1:/data/log: bit 3 of byte 0
//! ```
//!
//! All of this takes no time: how long a line is on its way, and whether it arrives, is for the program to say.
//!
//! Invariants: each line that the program gets begins with the name of a machine; what it prints for nobody goes nowhere.
//! Not here: what the lines are (`runtime/player/maelstrom`).

use super::{StdinDelivery, StdioPeer};
use crate::OpContext;
use crate::machine_order::MachineOrder;
use fozzy_trace::NodeId;
use fozzy_trace::plan::{MachinePlan, Plan};
use std::sync::Arc;

/// The machine whose program routes.
const ROUTER: NodeId = NodeId(0);

/// Between the program that routes and the machines whose lines it routes.
#[derive(Clone, Debug)]
pub(super) struct LineRouter {
    machines: Arc<[(NodeId, String)]>,
}

impl LineRouter {
    /// The machines of a plan whose input is routed; `None` when the main machine does not route.
    pub(super) fn of(plan: &Plan) -> Option<LineRouter> {
        let is_routed = |machine: &MachinePlan| machine.stdin.channel.as_ref().is_some_and(|channel| channel.routed);
        let numbered = (1..).map(NodeId).zip(&plan.nodes);
        let routed = numbered.filter(|(_, node)| is_routed(&node.program.machine));
        let machines = || routed.map(|(number, node)| (number, node.name.clone())).collect();
        plan.is_routed().then(|| LineRouter { machines: machines() })
    }

    fn name(&self, node: NodeId) -> Option<&str> {
        self.machines.iter().find(|(number, _)| *number == node).map(|(_, name)| name.as_str())
    }

    /// What the program prints is for the machine whose name stands first.
    fn sent(&self, line: &[u8]) -> Option<(NodeId, Vec<u8>)> {
        let blank = line.iter().position(|byte| *byte == b' ')?;
        let (to, _) = self.machines.iter().find(|(_, name)| name.as_bytes() == &line[..blank])?;
        Some((*to, [&line[blank + 1..], b"\n"].concat()))
    }
}

impl StdioPeer for LineRouter {
    fn line(&mut self, from: NodeId, line: &[u8], context: &mut OpContext<'_>) -> Vec<StdinDelivery> {
        let sent = match self.name(from) {
            Some(name) => Some((ROUTER, [name.as_bytes(), b" ", line, b"\n"].concat())),
            None if from == ROUTER => self.sent(line),
            None => None,
        };
        let deliver = |(to, bytes): (NodeId, Vec<u8>)| StdinDelivery { to, bytes: Some(bytes.into()), at: context.now };
        sent.map(deliver).into_iter().collect()
    }

    fn order(&self, from: NodeId, line: &[u8]) -> Option<(NodeId, MachineOrder)> {
        let words = line.strip_prefix(b"!").filter(|_| from == ROUTER)?;
        let mut words = std::str::from_utf8(words).ok()?.split(' ');
        let (order, name, amount) = (words.next()?, words.next()?, words.next());
        let (node, _) = self.machines.iter().find(|(_, machine)| machine == name)?;
        Some((*node, MachineOrder::parse(order, amount)?))
    }

    fn ended(&mut self, node: NodeId, context: &mut OpContext<'_>) -> Vec<StdinDelivery> {
        let Some(name) = self.name(node) else { return Vec::new() };
        vec![StdinDelivery { to: ROUTER, bytes: Some(format!("{name}\n").into_bytes().into()), at: context.now }]
    }

    fn fork(&self) -> Box<dyn StdioPeer> {
        Box::new(self.clone())
    }
}
