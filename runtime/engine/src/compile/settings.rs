//! The settings that make wasmtime deterministic, in one function, each with its reason.
//!
//! Not here: what the host answers (`fozzy-host`), the call depth (`fozzy-instrument`).

use crate::compile::build::Build;
use crate::memory::HostMemories;
use fozzy_trace::Digest;
use fozzy_trace::plan::AllocatorChoice;
use fozzy_world::fault::strikes_memory;
use std::num::NonZeroUsize;
use std::sync::Arc;
use wasmtime::{Config, Engine, OptLevel, WasmBacktraceDetails, WasmFeatures};

/// The version that results depend on; it stands in every trace.
pub const WASMTIME_VERSION: &str = "48.0.8";

/// Slots that the calls of one core instance may use. Beyond it the guest traps with "call stack
/// exhausted", at the same call on every machine.
pub(crate) const STACK_SLOTS: u32 = fozzy_instrument::STACK_SLOTS_DEFAULT;
/// Native stack for wasm frames, in bytes: large enough that the counter of the rewriter always fires first.
/// Only touched pages cost memory.
const NATIVE_STACK_BYTES: usize = fozzy_instrument::NATIVE_STACK_BYTES_PER_SLOT as usize * STACK_SLOTS as usize;
/// Native stack left for the host's own frames above the guest's.
const HOST_STACK_BYTES: usize = 2 << 20;
/// All of the native stack of a guest. Where a thread has as much left, guests that are called alone run on it;
/// elsewhere each call gets a stack of its own, which costs some microseconds.
pub const STACK_BYTES: usize = NATIVE_STACK_BYTES + HOST_STACK_BYTES;
/// What a stack has beyond that, for the frames between its beginning and the guest's.
const STACK_MARGIN_BYTES: usize = 1 << 20;

/// Calls a guest where there is stack enough for its deepest recursion: the counter of the rewriter ends that, and
/// never the end of the stack.
#[inline]
pub(crate) fn with_stack<R>(call: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(STACK_BYTES, STACK_BYTES + STACK_MARGIN_BYTES, call)
}

/// Native stack for everything between the beginning of a search and its calls of guests.
const SEARCH_STACK_BYTES: usize = 8 << 20;

/// Does work that calls guests again and again where all of them find stack enough. On a thread with less, each call would be given
/// a stack of its own, which costs more than most calls.
pub fn with_stack_for_guests<R>(work: impl FnOnce() -> R) -> R {
    let bytes = STACK_BYTES + SEARCH_STACK_BYTES;
    stacker::maybe_grow(bytes, bytes + STACK_MARGIN_BYTES, work)
}

/// Address space of one memory: with four gigabytes reserved, 32-bit addresses need no bounds checks.
const MEMORY_RESERVATION_BYTES: u64 = 4 << 30;
/// Inaccessible bytes behind each memory, for accesses with a constant offset.
const MEMORY_GUARD_BYTES: u64 = 32 << 20;
/// Frames of a backtrace; deeper ones are cut.
pub(crate) const BACKTRACE_FRAMES_MAX: usize = 64;
/// What the canonical ABI may copy in one host call, in bytes: hostile lengths end as a trap.
pub(crate) const HOSTCALL_FUEL: usize = 128 << 20;

/// Settings that a user may change, because they have a price. They stand in the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switches {
    /// See [`fozzy_trace::Plan::canonical_nans`].
    pub canonical_nans: bool,
    /// See [`fozzy_trace::Plan::memcheck`].
    pub memcheck: bool,
    /// Programs ask whether they may have memory, as the plan has faults of memory.
    pub memory_faults: bool,
    /// See [`fozzy_trace::Plan::allocators`].
    pub allocators: Vec<AllocatorChoice>,
}

impl Default for Switches {
    /// Those of a plan that says nothing.
    fn default() -> Switches {
        Switches { canonical_nans: true, memcheck: false, memory_faults: false, allocators: Vec::new() }
    }
}

impl Switches {
    /// The switches that a plan asks for.
    #[must_use]
    pub fn of(plan: &fozzy_trace::Plan) -> Switches {
        let memory_faults = plan.faults.iter().any(|fault| strikes_memory(&fault.kind));
        Switches {
            canonical_nans: plan.canonical_nans,
            memcheck: plan.memcheck,
            memory_faults,
            allocators: plan.allocators.clone(),
        }
    }

    /// A digest of everything that decides what a program does here, besides component, plan and
    /// decisions.
    #[must_use]
    pub fn configuration(&self) -> Digest {
        let asks = self.memcheck || self.memory_faults;
        let allocators: Vec<_> =
            self.allocators.iter().filter(|_| asks).map(|it| format!("; allocator {it}")).collect();
        let text = format!(
            "wasmtime {WASMTIME_VERSION}; rewriter {}; memory digest 2; stack slots {STACK_SLOTS}; canonical NaNs {}; \
             relaxed SIMD deterministic; fuel; host call {}; clock tick {}; hostcall fuel {HOSTCALL_FUEL}; handles {}{}{}{}",
            fozzy_instrument::REWRITER_VERSION,
            self.canonical_nans,
            fozzy_host::HOST_CALL_FUEL,
            fozzy_world::clock::CLOCK_TICK,
            fozzy_world::table::HANDLES_MAX,
            if self.memcheck { "; memory checks 2" } else { "" },
            if self.memory_faults { "; memory faults 1" } else { "" },
            allocators.concat(),
        );
        Digest::of(text.as_bytes())
    }
}

/// wasmtime, with every source of nondeterminism closed.
pub(crate) fn deterministic(switches: &Switches, build: &Build) -> Config {
    let mut config = Config::new();

    // Floats: one bit pattern for every NaN that a computation produces; without it the payload depends
    // on the processor.
    config.cranelift_nan_canonicalization(switches.canonical_nans);
    // Relaxed SIMD: the proposal lets processors differ; this picks one answer.
    config.relaxed_simd_deterministic(true);
    // Threads: compiled out of wasmtime here, and no memory can be shared between stores either.
    config.shared_memory(false);
    // Endless loops: instructions are counted and end at the same one everywhere. Epochs would end
    // them by wall time. A build for search has neither: what runs away there is repeated.
    config.consume_fuel(build.fuel);
    config.epoch_interruption(false);
    // Stack depth: bounded by the rewriter's counter; the native stack is so large that it never decides.
    config.max_wasm_stack(NATIVE_STACK_BYTES);
    config.async_stack_size(STACK_BYTES);
    // Memories: ours, so that they can be hashed and restored; one layout, so that one compiled form fits.
    config.with_host_memory(Arc::new(HostMemories));
    config.memory_init_cow(false);
    config.memory_reservation(MEMORY_RESERVATION_BYTES);
    config.memory_guard_size(MEMORY_GUARD_BYTES);
    config.memory_may_move(false);
    // Features: fixed by us and shared with the rewriter, not by what this version turns on by default.
    // Component-model async stays off: its scheduling is not ours to decide yet.
    let features = fozzy_instrument::features();
    config.wasm_features(WasmFeatures::all(), false);
    config.wasm_features(features, true);
    config.concurrency_support(false);

    // From here on: nothing that a guest can see.
    config.cranelift_opt_level(OptLevel::Speed);
    config.wasm_backtrace_details(WasmBacktraceDetails::Disable);
    config.wasm_backtrace_max_frames(NonZeroUsize::new(BACKTRACE_FRAMES_MAX));
    config.generate_address_map(true);
    // A debugger reads values of locals and operands, and stops anywhere.
    if build.positions {
        config.guest_debug(true);
    }
    // The memory by which it does so has pages of one byte, and so has that by which programs ask whether they may have memory.
    if build.positions || switches.memory_faults {
        config.wasm_features(WasmFeatures::CUSTOM_PAGE_SIZES, true);
    }
    config
}

/// An engine with these settings.
pub(crate) fn engine(switches: &Switches, build: &Build) -> Result<Engine, wasmtime::Error> {
    Engine::new(&deterministic(switches, build))
}
