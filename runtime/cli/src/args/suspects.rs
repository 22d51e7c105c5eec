//! Flags of `fozzy suspects`.

use super::{LimitArgs, WorldArgs};
use clap::Args;
use fozzy_trace::plan::{FLOWS_MAX, SEQUENCES_MAX};
use std::path::PathBuf;

/// Executes a program with many seeds, and ranks what goes with its failure: lines and branches of its own code, faults, flows, properties, calls and
/// lines of output, by how many failing and passing runs have them. Exit code: 0, 2 error - also when no run fails, or none passes.
#[derive(Debug, Args)]
pub(crate) struct SuspectsArgs {
    /// The program: any target of `run`. Lines need debug information.
    pub(crate) target: PathBuf,
    /// The seeds of the runs: FROM..TO, both included, or how many from 0 on; at most 10,000.
    #[arg(long, value_name = "N|FROM..TO", default_value = "100")]
    pub(crate) seeds: String,
    /// The failure that is looked into, by a part of its signature [default: the most frequent one]
    #[arg(long, value_name = "TEXT")]
    pub(crate) failure: Option<String>,
    /// Code that is the project's own, by paths of sources or names of functions; repeatable [default: what is neither a toolchain's nor a
    /// dependency's]
    #[arg(long, value_name = "PATTERN")]
    pub(crate) own: Vec<String>,
    /// Suspects that are shown, up to 100.
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) limit: usize,
    /// Runs that are executed in parallel. The results do not depend on it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Sequences of a scenario [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(SEQUENCES_MAX)))]
    pub(crate) sequences: Option<u32>,
    /// Flows in each sequence of a scenario [default: 100]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=i64::from(FLOWS_MAX)))]
    pub(crate) flows: Option<u32>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}
