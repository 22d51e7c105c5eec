//! A simulated partner of machines that talk over their standard streams.
//!
//! Invariant: what a peer delivers is a function of what it was told and of the decisions of the run.
//! Not here: who is connected to whom (`dialogue`).

use crate::OpContext;
use crate::machine_order::MachineOrder;
use fozzy_trace::{Instant, NodeId};
use std::fmt;
use std::sync::Arc;

/// Bytes for the standard input of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StdinDelivery {
    /// The machine.
    pub to: NodeId,
    /// The bytes; `None` is the end.
    pub bytes: Option<Arc<[u8]>>,
    /// When they come; not before now, and not before what was delivered earlier.
    pub at: Instant,
}

/// A simulated partner of machines that talk over their standard streams.
pub trait StdioPeer: fmt::Debug + Send + Sync {
    /// The run begins: what machines are told before they say anything.
    fn begin(&mut self, context: &mut OpContext<'_>) -> Vec<StdinDelivery> {
        let _ = context;
        Vec::new()
    }

    /// A machine has printed a line, without its end.
    fn line(&mut self, from: NodeId, line: &[u8], context: &mut OpContext<'_>) -> Vec<StdinDelivery>;

    /// What a line of a machine orders to become of another one.
    fn order(&self, from: NodeId, line: &[u8]) -> Option<(NodeId, MachineOrder)> {
        let _ = (from, line);
        None
    }

    /// The program of a machine has ended.
    fn ended(&mut self, node: NodeId, context: &mut OpContext<'_>) -> Vec<StdinDelivery> {
        let _ = (node, context);
        Vec::new()
    }

    /// The same peer, as it is now: a clone of the world has its own.
    fn fork(&self) -> Box<dyn StdioPeer>;
}
