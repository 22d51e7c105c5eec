//! Distributed scenarios: nodes of a replicated store, and what happens to them.

use crate::{Play, failure};
use player_model::ClusterFile;

/// A cluster, before its first step.
pub(crate) fn play(file: ClusterFile) -> Box<dyn Play> {
    failure::invalid("a cluster without nodes", &format!("{}: no nodes were started for it", file.name))
}
