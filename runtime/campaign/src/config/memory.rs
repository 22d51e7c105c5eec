//! What allocations are held to, in the keys that version 1 had in `fozzy.toml`.
//!
//! ```text
//! fail_on_leak, leak_budget                                    ─▶ every program
//! profile_heap_alloc_budget, profile_heap_in_use_budget        ─▶ programs, of their own heap
//! mem_limit_mb, mem_fail_after, mem_fragmentation_seed, mem_pressure_wave    ─▶ scenario files, as only their steps heed them
//! mem_track, mem_artifacts                                     ─▶ nothing: it is always counted
//! ```

use fozzy_plan::ByteSize;
use serde::Deserialize;

/// Factors that are written as `"1,2,4"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Wave(pub Vec<u64>);

/// A limit of linear memory: a number of MiB, as in version 1, or a size such as "64MiB".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "MemoryNumber")]
pub struct LinearMemory(pub ByteSize);

#[derive(Deserialize)]
#[serde(untagged)]
enum MemoryNumber {
    Mib(u64),
    Size(String),
}

impl TryFrom<MemoryNumber> for LinearMemory {
    type Error = String;

    fn try_from(number: MemoryNumber) -> Result<LinearMemory, String> {
        let size = match number {
            MemoryNumber::Mib(mib) => ByteSize(mib.saturating_mul(1 << 20)),
            MemoryNumber::Size(text) => ByteSize::parse(&text)?,
        };
        (size.0 > 0).then_some(LinearMemory(size)).ok_or_else(|| "expected more than 0 bytes".to_owned())
    }
}

impl TryFrom<String> for Wave {
    type Error = String;

    fn try_from(text: String) -> Result<Wave, String> {
        let factors = fozzy_scenario_file::Step::wave(&text);
        factors.map(Wave).ok_or_else(|| format!("expected factors above 0 such as \"1,2,4\", found {text:?}"))
    }
}
