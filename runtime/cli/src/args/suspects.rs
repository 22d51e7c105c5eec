//! Flags of `fozzy suspects`.

use super::{LimitArgs, SizeArgs, WorldArgs};
use clap::Args;
use std::path::PathBuf;

/// Executes a program with many seeds, and ranks what goes with its failure: lines and branches of its own code, faults, flows, properties, calls and
/// lines of output, by how many failing and passing runs have them. Exit code: 0, 2 error - also when no run fails, or none passes -, 130 interrupted.
#[derive(Debug, Args)]
pub(crate) struct SuspectsArgs {
    /// The program: any target of `run`. Lines need debug information.
    pub(crate) target: PathBuf,
    /// The seeds of the runs: FROM..TO, both included, or A,B,C, or how many from 0 on; at most 10,000.
    #[arg(long, value_name = "N|FROM..TO|A,B", default_value = "100")]
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
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}
