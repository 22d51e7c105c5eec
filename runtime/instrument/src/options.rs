//! What to put in: one switch for each pass, all off but the depth limit.
//!
//! Invariant: with the defaults the output is what it was before there were switches, so that traces
//! and caches of plain runs stay valid.

use crate::STACK_SLOTS_DEFAULT;
use fozzy_trace::plan::AllocatorChoice;

/// What to put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Stack of each core instance, in slots of one wasm value (a vector counts twice). A call
    /// that needs more traps in its prologue, at [`crate::CodeOrigin::DepthCheck`]. Between 1 and
    /// [`crate::STACK_SLOTS_MAX`].
    pub stack_slots: u32,
    /// Limit the depth of calls. Without it, how deep a program can call depends on compiled code, so that what overflows
    /// the stack has to be repeated with it.
    pub depth: bool,
    /// How edges are counted.
    pub coverage: CoverageMode,
    /// With coverage and the limit of the depth, note the deepest call of functions that may call themselves: see
    /// [`crate::HEADER_DEEPEST_AT`].
    pub recursion: bool,
    /// Log the operands of comparisons. They are written only while the host has set
    /// [`crate::HEADER_SWITCH_AT`]; asking still takes a call for each comparison, so that this is
    /// meant for a second build of the same component.
    pub comparisons: bool,
    /// Mark each page of memory 0 that is written.
    pub marks: bool,
    /// Which modules get coverage and comparisons. Depth and marks are always for all of them.
    pub modules: ModuleChoice,
    /// Look for obstacles to checkpoints, and append an accessor if there are none.
    pub access: bool,
    /// Append what takes the steps of a scenario in one call, if it is one and nothing stands in the way: see [`crate::STEPS`]. With
    /// [`Options::access`], it tells what searches want to know, and otherwise what runs do.
    pub steps: bool,
    /// Count instructions by call path, in all modules but the one by which we call programs of preview 1. This
    /// excludes all other side memories: of the other switches, only the depth is used.
    pub profile: bool,
    /// Functions that are those of allocators, beside those that are recognised.
    pub allocators: Vec<AllocatorChoice>,
    /// With [`Options::profile`], log allocations and frees: of all these, and of the functions that are named here.
    pub heap: Option<Vec<AllocatorChoice>>,
    /// Check accesses to memory.
    pub memcheck: bool,
    /// Have the program ask whether it may have memory: see [`fozzy_trace::MemoryRequest`].
    pub memory_faults: bool,
    /// Have the program count down its instructions, for a debugger: see [`crate::PositionSites`]. Like [`Options::profile`], it
    /// excludes all side memories.
    pub positions: bool,
    /// With that, look at each store for what a debugger watches.
    pub stores: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            stack_slots: STACK_SLOTS_DEFAULT,
            depth: true,
            coverage: CoverageMode::None,
            recursion: false,
            comparisons: false,
            marks: false,
            modules: ModuleChoice::Own,
            access: false,
            steps: false,
            profile: false,
            allocators: Vec::new(),
            heap: None,
            memcheck: false,
            memory_faults: false,
            positions: false,
            stores: false,
        }
    }
}

impl Options {
    /// Whether something is put into a memory beside the guest's.
    pub(crate) fn beside(&self) -> bool {
        self.coverage != CoverageMode::None || self.comparisons || self.marks || self.profile
    }
}

/// How edges are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CoverageMode {
    /// Not at all.
    #[default]
    None,
    /// A byte for each kept edge is set to 1: one store of a constant to a constant address.
    SetOnce,
    /// Like [`CoverageMode::SetOnce`], with a byte also for each edge that follows from others. It is what the
    /// kept edges are compared with, in tests and measures.
    Every,
    /// A byte for each kept edge counts up to 255 and stays there; [`crate::hit_class`] sorts counts
    /// as libFuzzer does.
    Counters,
}

/// Which modules get coverage and comparisons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ModuleChoice {
    /// All that a program's author has written: not the shims, fixups and adapters that wit-component puts in.
    #[default]
    Own,
    /// Those of one of these names, by their own name section or the component's.
    Named(Vec<String>),
    /// All of them.
    All,
}

/// How the names of modules begin that wit-component generates, in the module itself or in the component around it.
/// <https://github.com/bytecodealliance/wasm-tools/blob/main/crates/wit-component/src/encoding.rs>
const GENERATED: [&str; 4] = ["wit-component:", "wit-component-", "start-shim-module", "init-task-wrappers"];

/// The module that componentizing puts beside a program of preview 1, to call it: no program's code.
pub(crate) const RUN_ADAPTER: &str = "wit-component:adapter:fozzy-run";

impl ModuleChoice {
    /// Whether a module of these names is chosen: its own, and what the component calls it.
    pub fn includes<'a>(&self, mut names: impl Iterator<Item = &'a str>) -> bool {
        match self {
            ModuleChoice::Own => !names.any(|name| GENERATED.iter().any(|generated| name.starts_with(generated))),
            ModuleChoice::Named(chosen) => names.any(|name| chosen.iter().any(|chosen| chosen == name)),
            ModuleChoice::All => true,
        }
    }
}

/// Class of a counter's value, from 0 for "not hit" to 8: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more, as in libFuzzer.
/// <https://github.com/llvm/llvm-project/blob/main/compiler-rt/lib/fuzzer/FuzzerTracePC.h> (`CounterToFeature`)
#[must_use]
pub fn hit_class(count: u8) -> u8 {
    match count {
        0..=3 => count,
        4..=7 => 4,
        8..=15 => 5,
        16..=31 => 6,
        32..=127 => 7,
        128..=255 => 8,
    }
}
