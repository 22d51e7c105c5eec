//! Arguments of `fozzy gate` and `fozzy full`.

use super::{SeedArg, ShrinkPolicyArg, TopologyProfileArg};
use clap::{Args, ValueEnum};
use fozzy_trace::Duration;
use std::path::PathBuf;

/// Which scenarios a gate checks.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum GateProfileArg {
    /// Those in scope.
    Targeted,
}

/// Exit code: 0 when no step failed, 1 when one did, 2 error or usage.
#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// Which scenarios are checked.
    #[arg(long, value_name = "PROFILE", default_value = "targeted")]
    pub(crate) profile: GateProfileArg,
    /// The folder with the scenarios [default: what `fozzy test` takes, and all below `tests`]
    #[arg(long, value_name = "DIR")]
    pub(crate) scenario_root: Option<PathBuf>,
    /// Only scenarios whose name or path contains one of these texts [default: all]
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    pub(crate) scope: Vec<String>,
    /// Of these, only the scenarios that a change needs, as `fozzy map suites` finds them: what differs from this revision of git. Where none
    /// reaches the change, all are checked.
    #[arg(long, value_name = "REV", num_args = 0..=1, default_missing_value = "HEAD")]
    pub(crate) since: Option<String>,
    /// Scenarios pass if they fail as their `expect.toml` expects.
    #[arg(long)]
    pub(crate) allow_expected_failures: bool,
    /// The seed of every run.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: SeedArg,
    /// Executions of the determinism audit.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) doctor_runs: u32,
}

/// Exit code: 0 when no step failed, 1 when one did, 2 error or usage.
#[derive(Debug, Args)]
pub(crate) struct FullArgs {
    /// The folder with the scenarios [default: what `fozzy test` takes, and all below `tests`]
    #[arg(long, value_name = "DIR")]
    pub(crate) scenario_root: Option<PathBuf>,
    /// The seed of every run.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: SeedArg,
    /// Executions of the determinism audit.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) doctor_runs: u32,
    /// The budget of real time of the campaign.
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = Duration::parse)]
    pub(crate) fuzz_time: Duration,
    /// Maximum number of steps in each run of the exploration.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) explore_steps: u32,
    /// Nodes of a distributed JSON scenario, when one is explored.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) explore_nodes: u32,
    /// Scenarios pass if they fail as their `expect.toml` expects.
    #[arg(long)]
    pub(crate) allow_expected_failures: bool,
    /// Only scenarios whose name or path contains this text.
    #[arg(long, value_name = "PART")]
    pub(crate) scenario_filter: Option<String>,
    /// Steps to skip.
    #[arg(long, value_name = "STEPS", value_delimiter = ',')]
    pub(crate) skip_steps: Vec<String>,
    /// Steps that must not be skipped: a skip is a failure.
    #[arg(long, value_name = "STEPS", value_delimiter = ',')]
    pub(crate) required_steps: Vec<String>,
    /// Require that scenarios reach the hotspots of this source tree, as `fozzy map suites` finds them.
    #[arg(long, value_name = "DIR")]
    pub(crate) require_topology_coverage: Option<PathBuf>,
    /// The risk from which a location is a hotspot.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u8).range(0..=100), requires = "require_topology_coverage")]
    pub(crate) topology_min_risk: u8,
    /// How strict the topology is.
    #[arg(long, value_name = "PROFILE", default_value = "pedantic", requires = "require_topology_coverage")]
    pub(crate) topology_profile: TopologyProfileArg,
    /// When shrinking counts as exercised.
    #[arg(long, value_name = "POLICY", default_value = "no-known-failures", requires = "require_topology_coverage")]
    pub(crate) topology_shrink_policy: ShrinkPolicyArg,
}
