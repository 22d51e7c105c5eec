//! Flags of `fozzy dashboard`.

use std::path::PathBuf;

/// Serves what a fleet's store says as pages on 127.0.0.1 until it is stopped, or writes them as files. `fozzy fleet` serves the same pages while
/// it works.
#[derive(Debug, clap::Args)]
pub(crate) struct DashboardArgs {
    /// The folder or file of the fleet [default: what `fozzy test` takes, and cargo-fuzz folders below this one]. Files that end with `.fozzy`
    /// are traces from elsewhere, which are listed among the runs.
    #[arg(value_name = "DIR|TRACE")]
    pub(crate) words: Vec<PathBuf>,
    /// Write the pages as files, and serve nothing: `index.html` needs no server.
    #[arg(long, value_name = "DIR", conflicts_with = "port")]
    pub(crate) export: Option<PathBuf>,
    /// Also execute programs for it: stories of failures and of the latest runs, causality, suspects, coverage by line, faults. Each takes two
    /// minutes at the most.
    #[arg(long, requires = "export")]
    pub(crate) execute: bool,
    /// The port on 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Only targets whose names have this text, or fit this pattern with * and ?; repeatable.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Vec<String>,
    /// No targets whose names have this text, or fit this pattern; repeatable.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// Where estimates, failures and counts are: a folder, or a Redis server, as redis://HOST/0?prefix=NAME, which fleets on any machines
    /// share [default: the environment variable FOZZY_STORE, or `fleet` in the run store's folder]
    #[arg(long, value_name = "DIR|ADDRESS")]
    pub(crate) store: Option<String>,
    /// The name of the project in the store [default: that of the folder]
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
}
