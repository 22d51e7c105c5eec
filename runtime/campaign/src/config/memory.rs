//! What allocations are held to, in the keys that version 1 had in `fozzy.toml`.
//!
//! ```text
//! fail_on_leak, leak_budget                                    ─▶ every program
//! mem_limit_mb, mem_fail_after, mem_fragmentation_seed, mem_pressure_wave    ─▶ scenario files, as only their steps heed them
//! mem_track, mem_artifacts                                     ─▶ nothing: it is always counted
//! ```

use super::Config;
use fozzy_plan::{ByteSize, LimitsFile, MemoryFile, PlanFile};
use serde::Deserialize;

/// Factors that are written as `"1,2,4"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Wave(Vec<u64>);

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

impl Config {
    /// The plan of these keys, for a scenario file or for a program.
    pub fn memory(&self, has_steps: bool) -> PlanFile {
        // Of a program it would be a limit of linear memory, which a runtime alone may exceed: that has a flag and a plan's key.
        let limit = self.mem_limit_mb.filter(|_| has_steps).map(|LinearMemory(size)| size);
        let limits = LimitsFile { memory: limit, ..LimitsFile::default() };
        let budget = self.leak_budget.or_else(|| self.fail_on_leak.then_some(ByteSize(0)));
        let memory = MemoryFile { leak_budget: budget, ..MemoryFile::default() };
        let memory = match has_steps {
            false => memory,
            true => MemoryFile {
                fail_after: self.mem_fail_after,
                fragmentation_seed: self.mem_fragmentation_seed,
                pressure_wave: self.mem_pressure_wave.clone().map(|Wave(factors)| factors),
                ..memory
            },
        };
        PlanFile { limits, memory, ..PlanFile::default() }
    }
}
