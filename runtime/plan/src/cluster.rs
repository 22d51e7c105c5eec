//! `[cluster]` of a plan file: the program that calls the machines, and the phases of a run.
//!
//! ```text
//! [cluster]
//! clients = "../store-clients"     the file is a target: `fozzy run plan.toml` runs the clients under it
//! faults-until = "20s"             phases, which `nemesis.rs` makes a part of the plan
//! ```
//!
//! Invariant: `clients` is no part of the plan that a run has; it names only which program is run under it, when no other is named.
//! Not here: who reads it (`campaign/src/cluster_plan.rs`).

use crate::nemesis::PhasesFile;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The machines of `[[node]]` as a cluster: who calls them, and the phases of a run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct ClusterTable {
    /// The program that calls the machines: any target of `run` but a plan file. With it this file is a target itself, as in `fozzy run
    /// plan.toml`; a program that is named beside `--plan` takes its place. Default: none.
    pub clients: Option<PathBuf>,
    /// The phases of a run.
    #[serde(flatten)]
    pub phases: PhasesFile,
}

impl ClusterTable {
    /// This table, and below it what it leaves open.
    pub(crate) fn over(self, lower: ClusterTable) -> ClusterTable {
        ClusterTable { clients: self.clients.or(lower.clients), phases: self.phases.over(lower.phases) }
    }
}

/// Whether a target of this name is a plan file.
#[must_use]
pub fn is_plan_name(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml")
}
