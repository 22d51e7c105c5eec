//! Component bytes in, instrumented bytes and maps out.
//!
//! ```text
//!  component ──► walk ──► validate every section ────────────────► copied byte for byte
//!                  └────► each core module ──► each function body
//!                                                 │ passes look at the operators and ask for edits
//!                                                 ▼
//!                                     edits applied to the original bytes ──► new body + map segments
//! ```
//!
//! What can be put in, each by a switch of its own in [`Options`]:
//! - The call depth limit (`depth.rs`): stack exhaustion happens at the same call on every machine, because it is
//!   counted in the guest's own code and does not depend on the frames that a compiler lays out. Functions that may call themselves
//!   (`recursion.rs`) also note how deep they are called.
//! - Edge coverage (`edges.rs`, `sites.rs`), a log of comparisons (`compare.rs`), and marks of written pages (`marks.rs`). All
//!   three write to a memory of their own beside the guest's (`side.rs`), which the host reads in place.
//! - Counts of instructions by call path (`profile.rs`), in such a memory too, and a log of allocations and frees (`heap.rs`) of
//!   the functions that `allocators.rs` recognises.
//! - A count of instructions by which a debugger finds its way (`positions.rs`).
//! - An accessor for the state of the guest (`access.rs`).
//! - A loop that takes steps of a scenario (`steps.rs`).
//! - Checks of accesses to memory (`memcheck.rs`), with a shadow memory that belongs to the guest's state.
//! - Questions of the program whether it may have memory (`memory_faults.rs`), for planned faults.
//!
//! And something is taken out: data segments, where there are thousands (`segments.rs`).
//!
//! Invariants:
//! - Nothing is renumbered. Types, globals and locals are only appended, so that every byte that no
//!   pass changes is copied as it stands, and an index in a name section or in an operator stays right.
//! - The output is a function of the input and the [`Options`]: same bytes in, same bytes out.
//!   A change of what the output does, or of the fuel that it takes, is a change of [`REWRITER_VERSION`].
//! - Hostile input is refused with an [`Error`]; it never panics. All bounds are named constants.
//!
//! Not done here: compiling, running, reading files, turning core modules into components.

mod access;
mod allocators;
mod body;
mod call_graph;
mod compare;
mod compile_cost;
mod data_words;
pub mod debug_info;
mod depth;
mod edges;
mod edit;
mod entries;
mod error;
mod features;
mod heap;
mod helpers;
mod languages;
mod map;
mod marks;
mod marks_soundness;
mod memcheck;
mod memory_faults;
mod module;
mod mutants;
mod names;
mod nesting;
mod options;
mod positions;
mod prescan;
mod profile;
mod recursion;
mod segments;
mod shape;
mod side;
mod sites;
pub mod source;
mod steps;
mod validate;
pub mod variables;
mod walk;

#[cfg(test)]
mod tests;

pub use access::{
    ACCESSOR_HEADER_BYTES, AccessorLayout, FUZZ, INPUT_BYTES_AT, INPUT_BYTES_MAX, INPUT_LENGTH_AT, INPUT_REFUSED_AT,
    INPUT_TARGET_AT, LOAD, MintedResource, SAVE, SLOT_BYTES,
};
pub use allocators::{AllocatorFunction, AllocatorRole, Allocators};
pub use call_graph::{CallGraph, CodeFunction, CodeSite, SiteKind};
pub use compare::{
    COMPARED_BYTES_MAX, COMPARISON_BYTES, COMPARISONS_MAX, COMPARISONS_PER_SITE, ComparisonSite, ComparisonSites,
    LoggedComparison,
};
pub use data_words::data_words;
pub use depth::NATIVE_STACK_BYTES_PER_SLOT;
pub use error::Error;
pub use features::{features, has_managed_objects};
pub use heap::{HeapEvent, HeapEventKind, HeapLog};
pub use languages::languages;
pub use map::{CodeLocation, CodeOrigin, ModuleMap, ModuleOrdinal, OffsetMaps, OriginalOffset, RewrittenOffset};
pub use marks::STRADDLE_BYTES;
pub use marks_soundness::{MarksReason, MarksVerdict};
pub use memcheck::{MemoryCheck, MemoryCheckReport};
pub use mutants::{CodeEdit, CodeMutation, CodeMutations, MUTATIONS_MAX, MutationKind, mutated, mutations};
pub use options::{CoverageMode, ModuleChoice, Options, hit_class};
pub use positions::{ModulePositions, POSITION_BYTES, PositionMemory, PositionSites, operator_end};
pub use profile::{
    ModuleProfile, ProfileCall, ProfileCallee, ProfileCounter, ProfileNode, ProfileSites, ProfiledFunction,
};
pub use shape::Obstacle;
pub use side::{
    ACCESSOR, HEADER_BYTES, HEADER_DEEPEST_AT, HEADER_ENTRIES_AT, HEADER_LOST_AT, HEADER_PENDING_AT, HEADER_SWITCH_AT,
    LAYOUT_VERSION, MARKED_PAGE_BYTES, MARKS, SideMemory, SideTag,
};
pub use sites::{CodeRange, EDGES_MAX, Edge, EdgeId, EdgeKind, Sites};
pub use steps::{STEP_OVER, STEP_TEXT, STEPS, StepLoop};
pub use validate::validate_module;

/// Version of what the rewriter emits. It belongs into every trace and every cache key: another
/// version counts depth or spends fuel differently, so that an execution may end elsewhere.
pub const REWRITER_VERSION: u32 = 1;

/// Largest component that is accepted, in bytes. Offsets are stored as `u32`, also after the code
/// has grown, and a hostile file should not cost gigabytes; larger ones get [`Error::TooLarge`].
pub const COMPONENT_BYTES_MAX: usize = 256 << 20;

/// Stack of one core instance when nothing else is asked for, in slots: ten thousand frames of a
/// hundred slots each, comparable to the eight megabytes of a native main thread.
pub const STACK_SLOTS_DEFAULT: u32 = 1 << 20;

/// Largest stack that can be asked for, in slots. At [`NATIVE_STACK_BYTES_PER_SLOT`] this is
/// already two gigabytes of native stack; more is refused with [`Error::StackSlots`].
pub const STACK_SLOTS_MAX: u32 = 1 << 26;

/// A rewritten component, and the way back from it to the original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstrumentedComponent {
    /// The component to compile and run.
    pub component: Vec<u8>,
    /// From offsets in [`InstrumentedComponent::component`] to offsets in the original.
    pub maps: OffsetMaps,
    /// The edges of the chosen modules; empty without coverage.
    pub sites: Sites,
    /// The comparisons of the chosen modules; empty unless asked for.
    pub comparisons: ComparisonSites,
    /// What is counted by call path; empty unless asked for.
    pub profile: ProfileSites,
    /// Where a debugger stops the program; empty unless asked for.
    pub positions: PositionSites,
    /// The side memory of each module that needs one, in the order of the modules' bytes.
    pub side_memories: Vec<SideMemory>,
    /// What each side memory starts with; `None` when nothing was asked for that needs one.
    pub tag: Option<SideTag>,
    /// Whether marks can be relied upon; `None` when they were not asked for.
    pub marks: Option<MarksVerdict>,
    /// How its state is reached, when [`Options::access`] was asked for and nothing stands in the way.
    pub access: Option<AccessorLayout>,
    /// What stands in the way of that; empty when it was not asked for.
    pub obstacles: Vec<Obstacle>,
    /// What takes its steps, when [`Options::steps`] was asked for and it can be told what a step is.
    pub steps: Option<StepLoop>,
    /// Fuel that an instantiation takes beyond the original's, to be given in addition.
    pub startup_fuel: i64,
    /// What the shadow of a checked memory begins with; `None` when no memory is checked.
    pub shadow: Option<SideTag>,
}

/// Validates `component` and rewrites every core module in it, nested components included.
///
/// # Errors
///
/// Everything that [`features()`] does not allow or that is no valid component, and the bounds named
/// in [`Error`].
pub fn instrument(component: &[u8], options: &Options) -> Result<InstrumentedComponent, Error> {
    if options.stack_slots == 0 || options.stack_slots > STACK_SLOTS_MAX {
        return Err(Error::StackSlots { found: options.stack_slots });
    }
    if component.len() > COMPONENT_BYTES_MAX {
        return Err(Error::TooLarge { bytes: component.len() });
    }
    walk::walk(component, options)
}
