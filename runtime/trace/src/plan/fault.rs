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
}

/// The whole of a rate: every operation.
pub const RATE_ALWAYS_PPM: u32 = 1_000_000;
