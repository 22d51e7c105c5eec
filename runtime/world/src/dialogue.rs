//! What is connected to the standard streams of machines: scripts, pipes from machine to machine, simulated peers.
//!
//! ```text
//! a writes ──▶ its own script     "after this output" is found
//!          ──▶ pipe a → b         the same bytes, after the latency of the pipe; the end when a's program has ended
//!          ──▶ peers              each line; a peer answers with bytes for standard inputs, at moments from now on
//! ```
//!
//! A router of a protocol over standard streams is a [`StdioPeer`]: it receives each line that a machine prints,
//! chooses by the run's decisions what becomes of it, and delivers lines to standard inputs.
//!
//! Invariants: outputs are those of the plan's machines, not of processes that they start; what is delivered is in the order of the
//! deliveries to each machine.
//! Not here: queues of inputs (`channel`).

mod line_router;
mod peer;

pub use peer::{StdinDelivery, StdioPeer};

use crate::channel::{UNREAD_BYTES_MAX, UnmetExpectation, WRITE_BYTES, jitter};
use crate::clock::CLOCK_TICK;
use crate::{OpContext, OutputKind, World, share};
use fozzy_trace::plan::{Edition, Plan, StdinPipe};
use fozzy_trace::{Instant, NodeId};
use line_router::LineRouter;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a line that peers get at once. They get a longer one in pieces.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// Who is connected to whom.
#[derive(Debug, Default)]
pub struct Dialogues {
    /// From, to, how.
    pipes: Arc<[(NodeId, NodeId, StdinPipe)]>,
    peers: Vec<Box<dyn StdioPeer>>,
    /// What machines have printed of a line that has not ended.
    lines: BTreeMap<NodeId, Vec<u8>>,
}

impl Clone for Dialogues {
    fn clone(&self) -> Dialogues {
        let peers = self.peers.iter().map(|peer| peer.fork()).collect();
        Dialogues { pipes: Arc::clone(&self.pipes), peers, lines: self.lines.clone() }
    }

    /// What both share stays as it is.
    fn clone_from(&mut self, source: &Dialogues) {
        let Dialogues { pipes, peers, lines } = source;
        share(&mut self.pipes, pipes);
        self.peers.clear();
        self.peers.extend(peers.iter().map(|peer| peer.fork()));
        self.lines.clone_from(lines);
    }
}

/// An input is full: its machine does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadInput {
    /// The machine.
    pub node: String,
}

impl Dialogues {
    /// The pipes of a plan.
    #[must_use]
    pub(crate) fn of(plan: &Plan) -> Dialogues {
        let machines = std::iter::once(&plan.main).chain(plan.nodes.iter().map(|node| &node.program.machine));
        let pipe = |(node, machine): (u32, &fozzy_trace::plan::MachinePlan)| {
            let pipe = machine.stdin.channel.as_ref()?.from.clone()?;
            Some((pipe.node, NodeId(node), pipe))
        };
        let router = LineRouter::of(plan).map(|router| Box::new(router) as Box<dyn StdioPeer>);
        let pipes = (0..).zip(machines).filter_map(pipe).collect();
        Dialogues { pipes, peers: router.into_iter().collect(), ..Dialogues::default() }
    }

    /// Whose output is the standard input of `node`.
    pub(crate) fn writer(&self, node: NodeId) -> Option<NodeId> {
        self.pipes.iter().find(|(_, to, _)| *to == node).map(|(from, ..)| *from)
    }
}

impl World {
    /// Connects a peer to the standard streams of these machines. It begins at once.
    pub fn connect(&mut self, mut peer: Box<dyn StdioPeer>, nodes: &[NodeId], context: &mut OpContext<'_>) {
        for node in nodes {
            self.node_mut(*node).stdin.open();
        }
        let deliveries = peer.begin(context);
        self.dialogues.peers.push(peer);
        self.deliver(deliveries, context.now);
    }

    /// Whether anybody wants to know what `node` writes.
    #[must_use]
    #[inline]
    pub fn is_heard(&self, node: NodeId, kind: OutputKind) -> bool {
        let Dialogues { pipes, peers, .. } = &self.dialogues;
        let is_piped = || kind == OutputKind::Stdout && (!peers.is_empty() || pipes.iter().any(|pipe| pipe.0 == node));
        self.node(node).stdin.channel().is_some_and(|channel| channel.expects()) || is_piped()
    }

    /// The machine of the context has written something. Says how many bytes were looked at.
    ///
    /// # Errors
    /// When it was for a machine that does not read.
    pub fn hear(&mut self, kind: OutputKind, bytes: &[u8], context: &mut OpContext<'_>) -> Result<u64, UnreadInput> {
        let node = context.node;
        let mut work = 0;
        if let Some(channel) = self.node_mut(node).stdin.channel_mut().filter(|channel| channel.expects()) {
            work += channel.told(bytes, context);
        }
        if kind == OutputKind::Stderr {
            return Ok(work);
        }
        let pipes = Arc::clone(&self.dialogues.pipes);
        for (_, to, pipe) in pipes.iter().filter(|(from, ..)| *from == node) {
            let at = context.now.after(pipe.latency).after(jitter(pipe.jitter, "pipe", context));
            work += bytes.len() as u64;
            self.send_to(*to, bytes.into(), at)?;
        }
        if !self.dialogues.peers.is_empty() {
            work += bytes.len() as u64;
            self.tell_lines(bytes, context);
        }
        Ok(work)
    }

    fn send_to(&mut self, to: NodeId, bytes: Arc<[u8]>, at: Instant) -> Result<(), UnreadInput> {
        let reader = self.node_mut(to);
        // Who has ended reads no more.
        if reader.exit.is_some() {
            return Ok(());
        }
        let Some(channel) = reader.stdin.channel_mut() else { return Ok(()) };
        if channel.unread() + bytes.len() as u64 + WRITE_BYTES > UNREAD_BYTES_MAX {
            return Err(UnreadInput { node: reader.name.clone() });
        }
        channel.send(bytes, at);
        Ok(())
    }

    fn tell_lines(&mut self, bytes: &[u8], context: &mut OpContext<'_>) {
        let mut held = self.dialogues.lines.remove(&context.node).unwrap_or_default();
        // Most writes are one line.
        if let (true, Some((b'\n', line))) = (held.is_empty(), bytes.split_last())
            && !line.contains(&b'\n')
        {
            return self.tell_line(line, context);
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            held.extend_from_slice(piece);
            let is_whole = held.last() == Some(&b'\n');
            if is_whole || held.len() >= LINE_BYTES_MAX {
                let line = if is_whole { &held[..held.len() - 1] } else { &held[..] };
                self.tell_line(line, context);
                held.clear();
            }
        }
        if !held.is_empty() {
            self.dialogues.lines.insert(context.node, held);
        }
    }

    /// The machine of the context has printed a line, or as much of one as peers get at once.
    fn tell_line(&mut self, line: &[u8], context: &mut OpContext<'_>) {
        self.ask_peers(context, |peer, context| peer.line(context.node, line, context));
        let orders = self.dialogues.peers.iter().filter_map(|peer| peer.order(context.node, line));
        for (node, order) in orders.collect::<Vec<_>>() {
            if let Some(words) = self.obey_and_report(node, order) {
                // A name of a file may have a line break, and begins no line of another machine.
                let words = words.replace(char::is_control, "\u{fffd}");
                let bytes = Some(format!("! {words}\n").into_bytes().into());
                self.deliver(vec![StdinDelivery { to: context.node, bytes, at: context.now }], context.now);
            }
        }
    }

    fn ask_peers(
        &mut self,
        context: &mut OpContext<'_>,
        mut ask: impl FnMut(&mut dyn StdioPeer, &mut OpContext<'_>) -> Vec<StdinDelivery>,
    ) {
        let mut peers = std::mem::take(&mut self.dialogues.peers);
        for peer in &mut peers {
            let deliveries = ask(&mut **peer, context);
            self.deliver(deliveries, context.now);
        }
        self.dialogues.peers = peers;
    }

    /// Puts deliveries into the inputs. A peer knows what it has sent, so that an input that is not read is no failure
    /// of the machine that printed last: what exceeds the bound is lost, as on a network.
    fn deliver(&mut self, deliveries: Vec<StdinDelivery>, now: Instant) {
        for StdinDelivery { to, bytes, at } in deliveries {
            let at = at.max(now);
            match bytes {
                Some(bytes) => {
                    // Who routes is no receiver of its own.
                    if to != NodeId(0) {
                        self.network.note_line(to, &bytes);
                    }
                    drop(self.send_to(to, bytes, at));
                }
                None => drop(self.node_mut(to).stdin.channel_mut().map(|channel| channel.close(at))),
            }
        }
    }

    /// The program of a machine has ended: its output has, too.
    pub(crate) fn output_ended(&mut self, node: NodeId, context: &mut OpContext<'_>) {
        // A last line without a line end is a line too, and what answers it comes before the end.
        let last = self.dialogues.lines.remove(&node).filter(|_| self.plan.edition >= Edition::THIRD);
        if let Some(line) = last {
            self.ask_peers(context, |peer, context| peer.line(node, &line, context));
        }
        let pipes = Arc::clone(&self.dialogues.pipes);
        for (_, to, pipe) in pipes.iter().filter(|(from, ..)| *from == node) {
            if let Some(channel) = self.node_mut(*to).stdin.channel_mut() {
                channel.close(context.now.after(pipe.latency));
            }
        }
        if !self.dialogues.peers.is_empty() {
            self.ask_peers(context, |peer, context| peer.ended(node, context));
        }
    }

    /// The program of the context's machine is gone and starts again: the line that it has not finished is lost, and so is what was routed
    /// to it and not read.
    pub(crate) fn program_gone(&mut self, context: &mut OpContext<'_>) {
        if self.dialogues.peers.is_empty() {
            return;
        }
        let node = context.node;
        self.dialogues.lines.remove(&node);
        self.node_mut(node).stdin.channel_mut().into_iter().for_each(crate::Channel::lose_unread);
        self.ask_peers(context, |peer, context| peer.ended(node, context));
    }

    /// Fixes when the scripted input of the context's machine comes, where that is known.
    pub fn arm_stdin(&mut self, context: &mut OpContext<'_>) {
        if let Some(channel) = self.node_mut(context.node).stdin.channel_mut() {
            channel.arm(context);
        }
    }

    /// The program of `node` looks whether its standard input has come. Looking again and again takes some time.
    pub fn look_at_stdin(&mut self, node: NodeId) {
        if self.plan.edition < Edition::THIRD {
            return;
        }
        let now = self.clock.now();
        let Some(channel) = self.node(node).stdin.channel() else { return };
        if !channel.is_ready(now)
            && self.node_mut(node).stdin.channel_mut().is_some_and(|channel| channel.is_looked_at_in_vain(now))
        {
            self.clock.advance_to(now.after(CLOCK_TICK));
        }
    }

    /// The scripts of standard inputs that wait for output: the machine's name, and what for.
    #[must_use]
    pub fn unmet_expectations(&self) -> Vec<(String, UnmetExpectation)> {
        let unmet = |node: &crate::Node| Some((node.name.clone(), node.stdin.channel()?.unmet()?));
        self.nodes.iter().flatten().filter_map(|node| unmet(node)).collect()
    }
}

#[cfg(test)]
mod tests;
