//! What a run of several machines is held to while faults strike, and after them.
//!
//! ```text
//! 0 ── faults, at most f machines at once ── 30 s ── healed: all, or a majority ── 20 s ── no progress? a finding
//! ```
//!
//! Not here: what faults do (`fozzy-world`), the finding (`fozzy-engine`).

use crate::Duration;
use serde::{Deserialize, Serialize};

/// Phases of a run, and how many machines may be hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ClusterPlan {
    /// So many machines are hit by nemeses at once, at the most; `None` is no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_max: Option<u32>,
    /// When faults end; `None` is never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults_until: Option<Duration>,
    /// Who is healed then.
    #[serde(default, skip_serializing_if = "HealScope::is_all")]
    pub heals: HealScope,
    /// An operation must succeed within this time after the faults have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress_within: Option<Duration>,
}

/// Who is healed when faults end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HealScope {
    /// All machines.
    #[default]
    All,
    /// Just more than half of them, which are drawn; what has hit the others then lasts.
    Majority,
}

impl HealScope {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
    fn is_all(&self) -> bool {
        *self == HealScope::All
    }
}
