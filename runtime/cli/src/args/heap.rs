//! Arguments about the program's own heap: which functions allocate, and `fozzy memory`.

use super::memory::bytes;
use clap::{Args, Subcommand};
use fozzy_plan::ByteSize;
use fozzy_report::memory::MEMORY_GRAPH_FORMATS;
use fozzy_trace::plan::AllocatorChoice;
use std::path::PathBuf;

/// Which functions allocate.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HeapArgs {
    /// A function of the allocator, beside those that are recognised by their names: one of malloc, calloc, realloc, free, aligned_alloc,
    /// posix_memalign, and the name of a function with the same parameters, or `func[INDEX]`. Can be repeated.
    #[arg(long, value_name = "ROLE=FUNCTION")]
    pub(crate) allocator: Vec<AllocatorChoice>,
}

/// What recorded runs allocate and leak.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List leaks, and what was in use at the end, by site.
    Top(MemoryTopArgs),
    /// Show who allocates what, and who frees it.
    Graph(MemoryGraphArgs),
    /// Compare leaks and peaks of two runs.
    Diff(MemoryDiffArgs),
}

/// Executes the recorded run once more and watches the program's own allocator. What a scenario file declares, or a program reports by
/// `fozzy:memory`, goes before that. Exit code: 0; 1 when more has leaked than may; 2 when what was executed is not the recorded run.
#[derive(Debug, Args)]
pub(crate) struct MemoryTopArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    /// Rows.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: u64,
    /// Exit with 1 when something has leaked.
    #[arg(long)]
    pub(crate) fail_on_leak: bool,
    /// Exit with 1 when more than this has leaked; a number alone is in bytes.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) leak_budget: Option<ByteSize>,
    #[command(flatten)]
    pub(crate) heap: HeapArgs,
}

/// Exit code: 0, or 2 when what was executed is not the recorded run.
#[derive(Debug, Args)]
pub(crate) struct MemoryGraphArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    /// `html` is a page that stands alone; `dot` is read by Graphviz.
    #[arg(long, value_name = "FORMAT", default_value = "json", value_parser = MEMORY_GRAPH_FORMATS)]
    pub(crate) format: String,
    /// Write it to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) heap: HeapArgs,
}

/// Exit code: 0, or 2 when one of them is not the recorded run any more.
#[derive(Debug, Args)]
pub(crate) struct MemoryDiffArgs {
    /// The run before.
    pub(crate) left: String,
    /// The run after.
    pub(crate) right: String,
    #[command(flatten)]
    pub(crate) heap: HeapArgs,
}
