//! What goes wrong with messages between nodes, and services, while such a fault is on.
//!
//! ```text
//! delay      each takes up to so much longer            duplicate   one in five comes twice
//! loss       a share of them is lost                    reorder     one in five is overtaken
//! slow       some nodes' messages take half a second    jam         some nodes hear nothing, and everything afterwards
//! ```
//!
//! Where nodes are named to which something goes wrong, a message is delayed, lost, doubled or overtaken only if it is from or to one of them.

use fozzy_scenario_file::NemesisKind;
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use std::collections::BTreeSet;

/// Milliseconds.
const DELAYS: [u64; 4] = [20, 100, 500, 2_000];
/// Hundredths.
const LOSSES: [u64; 4] = [10, 30, 60, 90];
/// The share of messages that come twice, or late.
const SHARE: f64 = 0.2;
/// Milliseconds that a message is late which others overtake, at most.
const REORDER: u64 = 200;
/// Milliseconds that messages of slow nodes take longer.
const SLOW: u64 = 500;

pub struct PacketFaults {
    /// The nodes whose messages may be delayed, lost, doubled and overtaken; those of all, if none is named.
    targets: BTreeSet<String>,
    /// Milliseconds, at most.
    delay: Option<u64>,
    /// Hundredths.
    loss: Option<u64>,
    duplicates: bool,
    reorders: bool,
    pub slow: BTreeSet<String>,
    pub jammed: BTreeSet<String>,
}

impl PacketFaults {
    pub fn new(targets: &[String]) -> PacketFaults {
        PacketFaults {
            targets: targets.iter().cloned().collect(),
            delay: None,
            loss: None,
            duplicates: false,
            reorders: false,
            slow: BTreeSet::new(),
            jammed: BTreeSet::new(),
        }
    }

    /// A kind begins: how strong, and of whose messages if nodes are named, for people.
    pub fn begin(&mut self, kind: NemesisKind) -> String {
        let strength = self.switch_on(kind);
        let targets: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        if targets.is_empty() { strength } else { format!("{strength}, from and to {}", targets.join(", ")) }
    }

    fn switch_on(&mut self, kind: NemesisKind) -> String {
        let strength = |name: &str, menu: &[u64]| menu[draws::choose(name, menu.len() as u64) as usize];
        match kind {
            NemesisKind::Delay => format!("up to {} ms", self.delay.insert(strength("delay", &DELAYS))),
            NemesisKind::Loss => format!("{} of 100", self.loss.insert(strength("loss", &LOSSES))),
            NemesisKind::Duplicate => {
                self.duplicates = true;
                "one in five".to_owned()
            }
            _ => {
                self.reorders = true;
                "one in five".to_owned()
            }
        }
    }

    pub fn end(&mut self, kind: NemesisKind) {
        match kind {
            NemesisKind::Delay => self.delay = None,
            NemesisKind::Loss => self.loss = None,
            NemesisKind::Duplicate => self.duplicates = false,
            _ => self.reorders = false,
        }
    }

    /// Whether the faults reach a message.
    fn reach(&self, src: &str, dest: &str) -> bool {
        self.targets.is_empty() || self.targets.contains(src) || self.targets.contains(dest)
    }

    /// Whether a message is lost.
    pub fn loses(&self, src: &str, dest: &str) -> bool {
        let loss = self.loss.filter(|_| self.reach(src, dest));
        loss.is_some_and(|share| draws::bool("loss", share as f64 / 100.0))
    }

    /// Whether a message comes twice.
    pub fn doubles(&self, src: &str, dest: &str) -> bool {
        self.duplicates && self.reach(src, dest) && draws::bool("duplicate", SHARE)
    }

    /// Milliseconds that a message takes longer.
    pub fn lateness(&self, src: &str, dest: &str) -> u64 {
        let up_to = |name: &str, most: u64| draws::int(name, 0, most as i64).unsigned_abs();
        let delay = self.delay.filter(|_| self.reach(src, dest));
        let mut late = delay.map_or(0, |most| up_to("delay", most));
        if self.reorders && self.reach(src, dest) && draws::bool("reorder", SHARE) {
            late += up_to("reorder", REORDER);
        }
        if self.slow.contains(src) || self.slow.contains(dest) {
            late += SLOW;
        }
        late
    }
}
