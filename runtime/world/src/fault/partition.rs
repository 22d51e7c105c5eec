//! Partition: nothing arrives from one machine at the other, for a while.
//!
//! ```text
//! drawn    a->b             a packet begins a cut of 3.2 s ─▶ what is sent in it is lost ─▶ then packets arrive again
//! planned  a->b from 2s for 10s ─▶ sent at 3 s, again at 4, 6, 10, 18 ─▶ arrives at 18 s
//! ```
//!
//! When the plan names neither start nor length, cuts are drawn: each packet begins one with the rate of the fault, and how long it
//! lasts is drawn up to the strength. What was on its way when it began arrives. One direction is one fault: `a->b` and `b->a` cut
//! both, `*->*` isolates everybody, for ever with a rate of 100%. Not inside a machine.
//!
//! Invariant: a plan whose partition has no strength has no drawn cuts: each packet is lost with the rate of the fault. So are the
//! plans of older traces.

use super::{FaultKind, FaultTarget};
use crate::OpContext;
use fozzy_trace::{Duration, Instant};
use std::collections::BTreeMap;

/// The row of this kind.
pub const PARTITION: FaultKind = FaultKind {
    name: "partition",
    summary: "nothing arrives for a while",
    target: FaultTarget::Link,
    unit: "ns",
    strength: 0,
    rate_ppm: 10_000,
};

/// The longest cut that is drawn, unless the plan has another one: longer than what programs wait for commonly, shorter than what
/// they take to give up a connection.
pub const CUT_MAX: Duration = Duration::from_millis(12_800);

/// Cuts of one link that are remembered. More are never open at once: each packet and its repetitions begin some, and what is before
/// the present is forgotten first.
const CUTS_MAX: usize = 64;

/// The drawn cuts of links, by their names.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkCuts(BTreeMap<String, Vec<(Instant, Instant)>>);

impl LinkCuts {
    pub(super) fn contain(&self, link: &str, at: Instant) -> bool {
        self.0.get(link).is_some_and(|cuts| cuts.iter().any(|(from, to)| *from <= at && at < *to))
    }

    pub(super) fn begin(&mut self, link: &str, at: Instant, length: Duration) {
        let cuts = self.0.entry(link.to_owned()).or_default();
        if cuts.len() == CUTS_MAX {
            let first = (0..cuts.len()).min_by_key(|cut| cuts[*cut].1).expect("there are some");
            cuts.swap_remove(first);
        }
        cuts.push((at, at.after(length)));
    }
}

impl OpContext<'_> {
    /// Whether a packet on `link` is lost to a partition: one that is drawn and lasts, or one that strikes now.
    pub(crate) fn is_cut(&mut self, link: &str) -> bool {
        self.faults.is_in_cut(link, self.now) || self.injects(&PARTITION, link).is_some()
    }
}
