//! The simulated network between the machines of a run.

use crate::Duration;
use serde::{Deserialize, Serialize};

/// How long bytes take from one machine to another. Loopback inside a machine takes no time.
///
/// What goes wrong on the way (loss, duplication, reordering, partitions) is planned as faults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NetworkPlan {
    /// Least time of a packet on its way.
    pub latency: Duration,
    /// The most that a packet takes beyond `latency`, drawn for each packet from the seed.
    pub jitter: Duration,
    /// Bytes a second in each direction between two machines; `None` is no bound.
    pub bandwidth_bytes_per_s: Option<u64>,
}

/// A tenth of a millisecond: two machines on one switch.
pub const NETWORK_LATENCY_DEFAULT: Duration = Duration(100_000);

impl Default for NetworkPlan {
    fn default() -> NetworkPlan {
        NetworkPlan { latency: NETWORK_LATENCY_DEFAULT, jitter: Duration(0), bandwidth_bytes_per_s: None }
    }
}
