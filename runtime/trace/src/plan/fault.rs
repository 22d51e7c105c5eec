//! Planned misbehaviour of the computer, as data.
//!
//! ```text
//! io-error on /data/* from 2s for 500ms, in one of 50 operations
//! ```
//!
//! Each time an operation could be struck, the fault's rate is a question: the decision to inject is recorded,
//! replayed and shrunk like any other.
//! Not here: which kinds exist and what they do (`fozzy-world`).

use crate::Duration;
use crate::nemesis::{NodeTargets, PartitionShape};
use serde::{Deserialize, Serialize};

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FaultPlan {
    /// The name of its kind, a row of the table of faults.
    pub kind: String,
    /// What it strikes, with `*` for any characters: a path, a URL, a command, `node` or `node->node`, or the
    /// name of a point; which of them, the kind says.
    pub target: String,
    /// How often, in millionths of the operations that it could strike.
    pub rate_ppm: u32,
    /// From when on, in virtual time.
    pub start: Duration,
    /// For how long; `None` is to the end.
    pub length: Option<Duration>,
    /// How hard, in the kind's own unit; `None` is the kind's default.
    pub strength: Option<u64>,
    /// How many times at the most; `None` is no bound.
    pub times: Option<u64>,
    /// When it may begin and whom it hits, if it is a nemesis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nemesis: Option<Box<NemesisPlan>>,
}

/// A fault that begins at moments of the plan instead of at operations, hits machines, and ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NemesisPlan {
    /// It may begin once in each stretch of this length.
    pub interval: Duration,
    /// How long it lasts, at least and at most; `None` draws from a menu, in which the nodes' own timers are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<(Duration, Duration)>,
    /// How many machines it hits, one of these; of partitions, which shape they have. All that there are when it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<String>,
    /// The files that it damages, with `*` for any characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl NemesisPlan {
    /// The shapes that its partitions have.
    #[must_use]
    pub fn shapes(&self) -> Vec<PartitionShape> {
        match self.hits.is_empty() {
            true => PartitionShape::ALL.to_vec(),
            false => self.hits.iter().filter_map(|word| PartitionShape::of(word)).collect(),
        }
    }

    /// How many machines it hits.
    #[must_use]
    pub fn targets(&self) -> Vec<NodeTargets> {
        match self.hits.is_empty() {
            true => NodeTargets::USUAL.to_vec(),
            false => self.hits.iter().filter_map(|word| NodeTargets::of(word)).collect(),
        }
    }
}

/// The whole of a rate: every operation.
pub const RATE_ALWAYS_PPM: u32 = 1_000_000;
