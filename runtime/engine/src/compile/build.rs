//! How a program is compiled: what is added to its own code.
//!
//! ```text
//! exact   fuel and depth                                   verdicts and traces
//! fast    depth, coverage, marks, an accessor; no fuel     search; what runs away is repeated in the exact one
//! profile depth, counts by call path; no fuel              a replay, which is known to end
//! debug   depth, a count of instructions; no fuel          a replay that is stopped anywhere
//! ```
//!
//! To the first two, a loop is added that takes the steps of a scenario.
//!
//! Invariant: what a program does is the same in all builds, as long as it ends.
//! Not here: the rewriting (`fozzy-instrument`), the settings of wasmtime (`settings`).

use crate::compile::preview1_module;
use crate::compile::settings::{STACK_SLOTS, Switches};
use fozzy_instrument::{
    AccessorLayout, CoverageMode, InstrumentedComponent, MarksVerdict, ModuleChoice, Options, POSITION_BYTES,
    SideMemory, SideTag, StepLoop,
};
use fozzy_trace::plan::AllocatorChoice;
use serde::{Deserialize, Serialize};

/// What the rewriter puts into a program, and how it is metered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// Count instructions, so that endless loops end at the same one everywhere.
    pub fuel: bool,
    /// Let its state be reached from outside, for checkpoints.
    pub access: bool,
    /// Mark written pages, so that restores need not look for them.
    pub marks: bool,
    /// Log what is compared, while the log is switched on: see [`crate::Reactor::log_comparisons`].
    pub comparisons: bool,
    /// How edges are counted.
    pub coverage: CoverageMode,
    /// With that, note how deep functions are called that may call themselves: see [`crate::Reactor::deepest_call`].
    pub recursion: bool,
    /// Which modules get coverage.
    pub modules: ModuleChoice,
    /// Count instructions by call path; excludes all other side memories.
    pub profile: bool,
    /// With that, log allocations and frees: of the allocators that are recognised, of those of [`Switches`], and of these.
    pub heap: Option<Vec<AllocatorChoice>>,
    /// Have the program stop where a debugger wants it to, with all of its values; excludes all side memories.
    pub positions: bool,
    /// With that, stop before what is watched is written.
    pub stores: bool,
}

impl Default for Build {
    /// For a run from beginning to end.
    fn default() -> Self {
        Build {
            fuel: true,
            access: false,
            marks: false,
            comparisons: false,
            coverage: CoverageMode::None,
            recursion: false,
            modules: ModuleChoice::Own,
            profile: false,
            heap: None,
            positions: false,
            stores: false,
        }
    }
}

impl Build {
    /// For search: calls from outside, checkpoints, and no fuel.
    #[must_use]
    pub fn fast() -> Build {
        Build { fuel: false, access: true, marks: true, coverage: CoverageMode::SetOnce, ..Build::default() }
    }

    /// For verdicts on what search has found: as [`Build::fast`], with fuel.
    #[must_use]
    pub fn exact() -> Build {
        Build { fuel: true, ..Build::fast() }
    }

    /// For a replay that counts instructions by call path.
    #[must_use]
    pub fn profile() -> Build {
        Build { fuel: false, profile: true, ..Build::default() }
    }

    /// For a replay that logs allocations and frees, too: of the allocators that are recognised, and of these.
    #[must_use]
    pub fn heap(allocators: Vec<AllocatorChoice>) -> Build {
        Build { heap: Some(allocators), ..Build::profile() }
    }

    /// The same for a run that ends only because its budget is used up: it is to be given one, by [`crate::Session::give_fuel`].
    #[must_use]
    pub fn profile_with_fuel() -> Build {
        Build { fuel: true, ..Build::profile() }
    }

    /// For a debugger. With `stores`, memory can be watched.
    #[must_use]
    pub fn debug(stores: bool) -> Build {
        Build { fuel: false, positions: true, stores, ..Build::default() }
    }

    /// Whether steps of a scenario can be taken in one call: in searches, and in what is only run and whose memories are its own.
    pub(crate) fn takes_steps(&self, switches: &Switches) -> bool {
        self.access || (*self == Build::default() && !switches.memcheck && !switches.memory_faults)
    }

    /// Whether the guest leaves something in memories beside its own that is read when it has ended.
    pub(crate) fn observes(&self) -> bool {
        self.coverage != CoverageMode::None || self.profile
    }

    /// What the rewriter is asked for; the symbolizer asks for the same to get the same maps.
    pub(crate) fn options(&self, switches: &Switches) -> Options {
        Options {
            memcheck: switches.memcheck,
            memory_faults: switches.memory_faults,
            stack_slots: STACK_SLOTS,
            access: self.access,
            steps: self.takes_steps(switches),
            // What is written to a shadow is not marked.
            marks: self.marks && !switches.memcheck,
            comparisons: self.comparisons,
            coverage: self.coverage,
            recursion: self.recursion,
            modules: self.modules.clone(),
            profile: self.profile,
            allocators: switches.allocators.clone(),
            heap: self.heap.clone(),
            positions: self.positions,
            stores: self.stores,
            ..Options::default()
        }
    }
}

/// Metadata cached beside the compiled code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CompiledMetadata {
    /// What the memories begin with that were put in.
    pub(crate) tag: Option<SideTag>,
    /// What is in them, but for the accessor's.
    pub(crate) side_memories: Vec<SideMemory>,
    /// How its state is reached.
    pub(crate) access: Option<AccessorLayout>,
    /// Why it cannot be, one sentence each.
    pub(crate) obstacles: Vec<String>,
    /// What takes its steps, if it is a scenario.
    #[serde(default)]
    pub(crate) steps: Option<StepLoop>,
    /// Whether every written page is marked. A contract of the rewriter's is met by our imports: what they return
    /// through memory has less than a page, `wasi:filesystem`'s `descriptor-stat` with 96 bytes being the longest.
    pub(crate) marks_are_sound: bool,
    /// Which of the guest's memories functions of preview 1 reach.
    #[serde(default)]
    pub(crate) preview1_memory: Option<u32>,
    /// Fuel that an instantiation takes beyond the original's.
    #[serde(default)]
    startup_fuel: i64,
    /// What shadows of memories begin with, where accesses are checked.
    #[serde(default)]
    pub(crate) shadow: Option<SideTag>,
    /// Modules that have a memory for the debugger.
    #[serde(default)]
    positions: u32,
}

impl CompiledMetadata {
    /// What takes its steps in a run, where they are counted.
    pub(crate) fn counted_steps(&self) -> Option<StepLoop> {
        self.steps.filter(|_| self.access.is_none())
    }

    pub(crate) fn of(instrumented: &InstrumentedComponent, original: &[u8]) -> CompiledMetadata {
        CompiledMetadata {
            preview1_memory: preview1_module::memory_place(original),
            startup_fuel: instrumented.startup_fuel,
            shadow: instrumented.shadow,
            positions: u32::try_from(instrumented.positions.modules().count()).unwrap_or(u32::MAX),
            tag: instrumented.tag,
            side_memories: instrumented.side_memories.clone(),
            access: instrumented.access.clone(),
            steps: instrumented.steps,
            marks_are_sound: instrumented.marks.as_ref().is_some_and(MarksVerdict::sound),
            obstacles: instrumented.obstacles.iter().map(ToString::to_string).collect(),
        }
    }

    /// Bytes of the memories that were put in, when each module is instantiated once, for a guest that may have `allowed`. The guest's own
    /// bound does not count them.
    pub(crate) fn appended_bytes(&self, allowed: u64) -> u64 {
        /// What the shadow of each memory has beyond an eighth of it.
        const SHADOW_BYTES: u64 = 1 << 20;
        let shadow = self.shadow.map_or(0, |_| allowed / 8 + SHADOW_BYTES);
        let accessor = self.access.as_ref().map_or(0, AccessorLayout::memory_bytes);
        let positions = u64::from(self.positions) * POSITION_BYTES as u64;
        shadow + positions + accessor + self.side_memories.iter().map(|side| u64::from(side.bytes)).sum::<u64>()
    }

    /// The fuel that an instance gets instead of `fuel`, so that after its start as much is left as the original would
    /// have left.
    pub(crate) fn fuel_before_start(&self, fuel: u64) -> u64 {
        fuel.saturating_add_signed(self.startup_fuel)
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<CompiledMetadata> {
        serde_json::from_slice(bytes).ok()
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data")
    }
}
