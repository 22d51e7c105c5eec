//! Flags of `fozzy mutants`.

use super::{LimitArgs, SizeArgs, WorldArgs};
use clap::Args;
use std::path::PathBuf;

/// Changes a program's own code in one small thing after the other, in any language, and executes each of these mutants under the runs that the
/// program passes: what no run notices is not tested. Exit code: 0, 1 when the score is below --min-score, 2 error, 130 interrupted.
#[derive(Debug, Args)]
pub(crate) struct MutantsArgs {
    /// The program: any target of `run`. Lines need debug information; without it, mutants are named by function and place.
    pub(crate) target: PathBuf,
    /// The seeds of the runs: FROM..TO, both included, or A,B,C, or how many from 0 on; at most 1,000. Seeds with which the program fails do not count.
    #[arg(long, value_name = "N|FROM..TO|A,B", default_value = "1")]
    pub(crate) seeds: String,
    /// Mutants that are executed at the most; which ones of all, --choice says. 0 is all.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) limit: u64,
    /// The seed by which mutants are chosen where there are more than --limit.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) choice: u64,
    /// The lowest share of mutants that is to be noticed, in percent.
    #[arg(long, value_name = "PERCENT", value_parser = super::percentage)]
    pub(crate) min_score: Option<u8>,
    /// Code that is the project's own, by paths of sources or names of functions; repeatable [default: what is neither a toolchain's nor a
    /// dependency's]
    #[arg(long, value_name = "PATTERN")]
    pub(crate) own: Vec<String>,
    /// Mutants that are executed in parallel. The results do not depend on it.
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
