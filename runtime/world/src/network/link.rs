//! How long packets are on their way from one machine to another, and which are lost.
//!
//! ```text
//! sent ─▶ waits for the line ─▶ bytes / bandwidth ─▶ latency + jitter ─▶ arrives      (or is lost)
//! lost ─▶ 1 s ─▶ again, lost ─▶ 2 s ─▶ again ─▶ …                                     (TCP only)
//! late ─▶ 1 s ─▶ again, sooner                                                         (TCP under nemeses only)
//! ```
//!
//! Invariants: everything is decided when the packet is sent, its repetitions too: whether a fault strikes at a later
//! moment is asked for that moment. Inside a machine nothing takes time and nothing is lost.
//! Not modelled: lost acknowledgements, congestion windows.

use crate::OpContext;
use crate::fault::{BANDWIDTH, LATENCY, PACKET_LOSS};
use fozzy_trace::plan::NetworkPlan;
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;
use fozzy_trace::{Duration, Instant, NodeId, Purpose};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Headers of IP and TCP, which the line carries with each packet.
const HEADER_BYTES: u64 = 40;
/// After so long without an answer a packet is sent again: the initial timeout of RFC 6298, section 2.1, which is also
/// the least one that section 2.4 allows.
const RETRANSMISSION: Duration = Duration::from_millis(1_000);
/// It doubles up to this (Linux, `TCP_RTO_MAX`; RFC 6298, section 2.5, wants a minute at the least).
const RETRANSMISSION_MAX: Duration = Duration::from_millis(120_000);
/// How often a request for a connection is repeated (Linux, `tcp_syn_retries`). Then `timeout`, after 127 s.
pub(super) const CONNECT_RETRIES: u32 = 6;
/// How often bytes are repeated (Linux, `tcp_retries2`). Then `timeout`, after some twenty minutes.
pub(super) const SEND_RETRIES: u32 = 15;

/// Sites of the questions whether a nemesis loses a packet, and how late it makes it.
const NEMESIS_LOSS: &str = "nemesis-loss of a packet";
const NEMESIS_DELAY: &str = "nemesis-delay of a packet";

/// From which machine to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinkPath {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
}

#[derive(Clone, Debug)]
pub(super) struct Links {
    plan: NetworkPlan,
    links: BTreeMap<LinkPath, Link>,
}

#[derive(Clone, Debug)]
struct Link {
    /// `client->server`
    name: Arc<str>,
    /// When the line has carried what was sent before.
    free: Instant,
}

impl LinkPath {
    pub(super) fn back(self) -> LinkPath {
        LinkPath { from: self.to, to: self.from }
    }

    pub(super) fn is_inside(self) -> bool {
        self.from == self.to
    }
}

impl Links {
    pub(super) fn new(plan: &NetworkPlan) -> Links {
        Links { plan: plan.clone(), links: BTreeMap::new() }
    }

    /// A machine that has gone sends nothing more.
    pub(super) fn forget(&mut self, node: NodeId) {
        self.links.retain(|path, _| path.from != node && path.to != node);
    }

    /// The name of a link as faults say it.
    pub(super) fn name(&mut self, path: LinkPath, machines: &[Arc<str>]) -> Arc<str> {
        Arc::clone(&self.link(path, machines).name)
    }

    fn link(&mut self, path: LinkPath, machines: &[Arc<str>]) -> &mut Link {
        self.links.entry(path).or_insert_with(|| {
            let [from, to] = [path.from, path.to].map(|node| &machines[node.0 as usize]);
            Link { name: format!("{from}->{to}").into(), free: Instant::START }
        })
    }

    /// When a packet of `bytes` arrives that is sent now; `None` when it never does.
    pub(super) fn attempt(
        &mut self,
        path: LinkPath,
        machines: &[Arc<str>],
        bytes: usize,
        context: &mut OpContext<'_>,
    ) -> Option<Instant> {
        self.send(path, machines, bytes, true, context)
    }

    /// When a packet arrives that is repeated until it does, or when its sender gives up.
    pub(super) fn insist(
        &mut self,
        path: LinkPath,
        machines: &[Arc<str>],
        bytes: usize,
        retries: u32,
        context: &mut OpContext<'_>,
    ) -> Result<Instant, Instant> {
        let repeats_late = context.faults.repeats_late_packets();
        let (mut now, mut timeout) = (context.now, RETRANSMISSION);
        let mut soonest = Instant::NEVER;
        for attempt in 0..=retries {
            let mut then = later(context, now);
            // A repetition goes between other packets and makes none of them wait.
            if let Some(arrival) = self.send(path, machines, bytes, attempt == 0, &mut then) {
                if !repeats_late {
                    return Ok(arrival);
                }
                soonest = soonest.min(arrival);
            }
            now = now.after(timeout);
            // What arrives before anything is repeated is the one that counts.
            if soonest <= now {
                break;
            }
            timeout = Duration(timeout.0 * 2).min(RETRANSMISSION_MAX);
        }
        if soonest == Instant::NEVER { Err(now) } else { Ok(soonest) }
    }

    fn send(
        &mut self,
        path: LinkPath,
        machines: &[Arc<str>],
        bytes: usize,
        in_line: bool,
        context: &mut OpContext<'_>,
    ) -> Option<Instant> {
        if path.is_inside() {
            return Some(context.now);
        }
        let NetworkPlan { latency, jitter, bandwidth_bytes_per_s } = self.plan;
        let link = self.link(path, machines);
        let (mut latency, mut bandwidth) = (latency, bandwidth_bytes_per_s);
        let mut lost = false;
        if !context.faults.is_empty() {
            lost = context.is_cut(&link.name) || context.injects(&PACKET_LOSS, &link.name).is_some();
            let extra = context.injects(&LATENCY, &link.name).unwrap_or(0);
            latency = Duration(latency.0.saturating_add(extra));
            let narrow = context.injects(&BANDWIDTH, &link.name);
            bandwidth = bandwidth.into_iter().chain(narrow).min();
        }
        let harm = context.faults.harm(path.from, path.to, context.now);
        lost |= harm.is_cut;
        if harm.loss_ppm > 0 && !lost {
            let whole = u64::from(RATE_ALWAYS_PPM);
            lost = context.below(Purpose::Network, NEMESIS_LOSS, whole) + harm.loss_ppm >= whole;
        }
        let mut late = harm.slower;
        if harm.delay_max > Duration(0) && !lost {
            let drawn = context.below(Purpose::Network, NEMESIS_DELAY, harm.delay_max.0.saturating_add(1));
            late = Duration(late.0.saturating_add(drawn));
        }
        latency = Duration(latency.0.saturating_add(late.0));
        let mut sent = context.now;
        if let Some(bandwidth) = bandwidth {
            sent = if in_line { sent.max(link.free) } else { sent };
            sent = sent.after(serialization(bytes as u64 + HEADER_BYTES, bandwidth));
            link.free = if in_line { sent } else { link.free };
        }
        let jitter = match jitter {
            Duration(0) => 0,
            Duration(jitter) => context.below(Purpose::Network, &link.name, jitter.saturating_add(1)),
        };
        (!lost).then(|| sent.after(latency).after(Duration(jitter)).max(harm.held_until))
    }
}

/// How long a line of that bandwidth carries a number of bytes. No bandwidth at all is taken for one byte a second.
fn serialization(bytes: u64, bytes_per_s: u64) -> Duration {
    let ns = u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_s.max(1));
    Duration(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// How long the next repetition is put off after `ignored` of them.
pub(super) fn retransmission(ignored: u32) -> Duration {
    Duration(RETRANSMISSION.0 << ignored.min(30)).min(RETRANSMISSION_MAX)
}

/// The same asker at another moment.
pub(super) fn later<'a>(context: &'a mut OpContext<'_>, now: Instant) -> OpContext<'a> {
    OpContext { now, node: context.node, faults: &mut *context.faults, decider: &mut *context.decider }
}
