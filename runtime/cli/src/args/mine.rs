//! Flags of `fozzy mine`.

use super::{LimitArgs, WorldArgs};
use clap::Args;
use fozzy_trace::plan::{FLOWS_MAX, SEQUENCES_MAX};
use std::path::PathBuf;

/// Executes a program with many seeds, and proposes properties that held in all runs that pass, as code: constants, bounds, order and relations of the
/// numbers that it reports in its output (`name=3`), in operations and in properties. Exit code: 0, 2 error.
#[derive(Debug, Args)]
pub(crate) struct MineArgs {
    /// The program: any target of `run`.
    pub(crate) target: PathBuf,
    /// The seeds of the runs: FROM..TO, both included, or how many from 0 on; at most 10,000. Seeds with which the program fails do not count.
    #[arg(long, value_name = "N|FROM..TO", default_value = "100")]
    pub(crate) seeds: String,
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
