//! What allocations are held to.

use clap::Args;
use fozzy_plan::{ByteSize, MemoryFile};

/// Limits of allocations: those of the program's own allocator, or those that it reports by `fozzy:memory`, or those of the steps of a
/// scenario file.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct MemoryArgs {
    /// Bytes that may have leaked at the end; more is a failure. Of the program's own heap; of scenario files, and of programs that report
    /// their allocations, what is in use then.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) leak_budget: Option<ByteSize>,
    /// Treat leaked memory as a failure; --leak-budget sets a limit.
    #[arg(long)]
    pub(crate) fail_on_leak: bool,
    /// Scenario files: the number of allocations that succeed; all later ones are refused.
    #[arg(long, value_name = "N")]
    pub(crate) mem_fail_after: Option<u64>,
    /// Scenario files: enlarge each allocation by up to 30 %, derived from this number.
    #[arg(long, value_name = "N")]
    pub(crate) mem_fragmentation_seed: Option<u64>,
    /// Scenario files: factors by which allocations are enlarged, in turn, such as `1,2,4`.
    #[arg(long, value_name = "FACTORS", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) mem_pressure_wave: Vec<u64>,
    /// Accepted for compatibility: every run counts allocations.
    #[arg(long)]
    pub(crate) mem_track: bool,
    /// Accepted for compatibility: the report of every run has the counts.
    #[arg(long)]
    pub(crate) mem_artifacts: bool,
}

/// A size; a number alone is in MiB, as in version 1.
pub(crate) fn memory_size(text: &str) -> Result<ByteSize, String> {
    match text.parse::<u64>() {
        Ok(mib) => Ok(ByteSize(mib.saturating_mul(1 << 20))),
        Err(_) => ByteSize::parse(text),
    }
}

/// `5` or `5%`.
pub(crate) fn percentage(text: &str) -> Result<u8, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok();
    number
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| format!("expected a percentage from 0 to 100, such as 5 or 5%, found `{text}`"))
}

/// A size; a number alone is in bytes.
pub(super) fn bytes(text: &str) -> Result<ByteSize, String> {
    ByteSize::parse(text)
}

impl MemoryArgs {
    /// The same, as a plan says it.
    pub(crate) fn file(&self) -> MemoryFile {
        MemoryFile {
            leak_budget: self.leak_budget.or_else(|| self.fail_on_leak.then_some(ByteSize(0))),
            heap_alloc_budget: None,
            heap_in_use_budget: None,
            fail_after: self.mem_fail_after,
            fragmentation_seed: self.mem_fragmentation_seed,
            pressure_wave: (!self.mem_pressure_wave.is_empty()).then(|| self.mem_pressure_wave.clone()),
        }
    }
}
