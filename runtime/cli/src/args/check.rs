//! What a history is judged by.

use super::memory_size;
use clap::Args;
use fozzy_plan::ByteSize;
use fozzy_trace::Duration;
use std::path::PathBuf;

/// Judges whether recorded histories are linearizable, which isolation their transactions can have, or what a checker holds them to. A history is what Jepsen writes (`history.edn`, JSON as one array or a line each, a folder of its
/// store), or what Porcupine reads. Exit code: 0 valid, 1 invalid, 2 error or usage, 3 not decided within --time and --mem.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Files or folders of histories.
    #[arg(required = true, value_name = "HISTORY")]
    pub(crate) histories: Vec<PathBuf>,
    /// The sequential model, such as register, cas-register, set, fifo-queue, mutex, kv; or the isolation level of transactions, such as
    /// strict-serializable, serializable, snapshot-isolation, read-committed; or a component that is a model, ./model.wasm [default: what the functions of the history plainly say]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// A checker instead of linearizability: stats, availability, set, set-full, queue, total-queue, unique-ids, counter, g-counter, pn-counter, bank, long-fork, causal, causal-reverse, adya-g2, monotonic, kafka, unhandled-exceptions
    #[arg(long, value_name = "NAME", conflicts_with = "model")]
    pub(crate) checker: Option<String>,
    /// Of --checker bank: the accounts there are, in EDN, such as 0,1,2 [default: those of the first read]
    #[arg(long, value_name = "EDN", requires = "checker", value_delimiter = ',')]
    pub(crate) accounts: Option<Vec<String>>,
    /// Of --checker bank: what the accounts have together [default: that of the first read]
    #[arg(long, value_name = "N", requires = "checker", allow_negative_numbers = true)]
    pub(crate) total: Option<i64>,
    /// Sequential consistency instead of linearizability: the order counts within each process, not that in time.
    #[arg(long, conflicts_with = "checker")]
    pub(crate) sequential: bool,
    /// Write a page of the judged histories: calls on lanes, what contradicts each other, cycles of transactions, faults as bands.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the cycles of transactions for Graphviz.
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,
    /// Write the cycles of transactions as a drawing.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write the history, in the notation that FILE's ending means (.edn, .json, .jsonl, .log, .txt of Plume) or that of --notation.
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// The notation of --write: edn, json, json-lines, jepsen-log, porcupine-kv, plume, dbcop, cobra (a folder)
    #[arg(long, value_name = "NAME", requires = "write")]
    pub(crate) notation: Option<String>,
    /// The budget of real time for each history.
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = Duration::parse)]
    pub(crate) time: Duration,
    /// Memory for the search of one part of a history; a number alone is in MiB.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = memory_size)]
    pub(crate) mem: ByteSize,
}
