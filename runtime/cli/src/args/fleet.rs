//! Flags of `fozzy fleet`.

use super::SeedArg;
use clap::{Args, Subcommand};
use fozzy_campaign::RiskBound;
use fozzy_trace::Duration;
use std::path::PathBuf;

/// Finds every test of a project - scenarios, fuzz targets, properties, cargo-fuzz folders, programs with plans, clusters, scenario files - and searches
/// all of them, dividing the time by what each finds. Exit code: 0 no failure stands, 1 one does, 2 error, 130 interrupted before any.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// The folder or file [default: what `fozzy test` takes, and cargo-fuzz folders below this one]
    pub(crate) dir: Option<PathBuf>,
    /// The budget of real time, such as 30s, 5m, 2h [default: until it is stopped]
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse)]
    pub(crate) time: Option<Duration>,
    /// End when the chance that one more CPU minute finds something new has fallen to this, such as 5%, for every target that is worked on: those
    /// without a result are not. It never falls below 1 % within the first hour of a target's CPU time, or below 5 % within the first ten minutes.
    #[arg(long, value_name = "SHARE", value_parser = RiskBound::parse)]
    pub(crate) until_risk: Option<RiskBound>,
    /// Slices at a time, each of them a process. With more than there are targets, each slice has several workers.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Only targets whose names have this text, or fit this pattern with * and ?; repeatable.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Vec<String>,
    /// No targets whose names have this text, or fit this pattern; repeatable.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// Run nothing: list what is collected, what is not and why, and what the store knows of it.
    #[arg(long)]
    pub(crate) collect: bool,
    /// Serve no pages meanwhile.
    #[arg(long)]
    pub(crate) no_dashboard: bool,
    /// Search nothing: serve the pages of what other fleets find in the store, until it is stopped or the time is over.
    #[arg(long, conflicts_with_all = ["no_dashboard", "collect", "jobs", "seed", "until_risk"])]
    pub(crate) dashboard_only: bool,
    /// The port of the pages on 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "N", conflicts_with = "no_dashboard")]
    pub(crate) dashboard_port: Option<u16>,
    /// Where estimates, failures and counts are: a folder, or a Redis server, as redis://HOST/0?prefix=NAME, which fleets on any machines
    /// share [default: the environment variable FOZZY_STORE, or `fleet` in the run store's folder]
    #[arg(long, value_name = "DIR|ADDRESS")]
    pub(crate) store: Option<String>,
    /// The name of the project in the store [default: that of the folder]
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// The seed of all slices: a number, or `random` for a fresh one, which is printed first.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: SeedArg,
}

/// `fozzy store`.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy everything that fleets have kept - estimates, failures, traces, corpora, counts - from one store to another
    Copy(StoreCopyArgs),
    /// Take failures out of a store that are mended, and of which no trace can show it any more
    Dismiss(StoreDismissArgs),
}

/// Copies a store. What only the other store has stays; what both have is counted once, however often and in whichever direction it is
/// copied, and a note says where that is not known.
#[derive(Debug, Args)]
pub(crate) struct StoreCopyArgs {
    /// The store: a folder, or an address as redis://HOST/0?prefix=NAME.
    pub(crate) from: String,
    /// The other one, which is made where there is none.
    pub(crate) to: String,
    /// Copy into a store that is not empty: what only one of them has counted is added, and a note says where that is not known.
    #[arg(long)]
    pub(crate) merge: bool,
}

/// Takes failures out of the store of a project's fleets, with their traces. One that is met again is found anew. Exit code: 0; 2 when one
/// of them is not there, and then nothing is taken.
#[derive(Debug, Args)]
pub(crate) struct StoreDismissArgs {
    /// The failures: each by its trace, as in `fozzy replay fozzy://DIGEST`, or by the key of its record, as in notes:
    /// failures/STATE/TARGET/NAME.
    #[arg(required = true, value_name = "FAILURE")]
    pub(crate) failures: Vec<String>,
    /// The store: a folder, or an address as redis://HOST/0?prefix=NAME [default: the environment variable FOZZY_STORE, or `fleet` in the
    /// run store's folder]
    #[arg(long, value_name = "DIR|ADDRESS")]
    pub(crate) store: Option<String>,
}
