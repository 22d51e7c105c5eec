//! Flags of `fozzy mine`.

use super::{LimitArgs, SizeArgs, WorldArgs};
use clap::Args;
use std::path::PathBuf;

/// Executes a program with many seeds, and proposes properties that held in all runs that pass, as code: constants, bounds, order and relations of the
/// numbers that it reports in its output (`name=3`), in operations and in properties. Exit code: 0, 2 error, 130 interrupted.
#[derive(Debug, Args)]
pub(crate) struct MineArgs {
    /// The program: any target of `run`.
    pub(crate) target: PathBuf,
    /// The seeds of the runs: FROM..TO, both included, or A,B,C, or how many from 0 on; at most 10,000. Seeds with which the program fails do not count.
    #[arg(long, value_name = "N|FROM..TO|A,B", default_value = "100")]
    pub(crate) seeds: String,
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
