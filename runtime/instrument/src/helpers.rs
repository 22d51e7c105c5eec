//! Functions that are appended to a module, because what they do is too long to stand wherever it is needed.
//!
//! ```text
//! functions     imports, the module's own, helpers in the order of their first use, wrappers
//! ```
//!
//! Invariants: a helper is only there when something calls it. None of them can trap. They call nothing of the original,
//! so that the depth limit need not count them: one more small frame on top of a counted one. A wrapper calls the function that it
//! stands for, and nothing but the canonical ABI and that function calls a wrapper.

use crate::access::{self, SLOT_BYTES};
use crate::allocators::AllocatorRole;
use crate::compare::{
    COMPARED_BYTES_MAX, COMPARISON_BYTES, COMPARISONS_MAX, COMPARISONS_PER_SITE, KIND_BYTES, KIND_SEARCH,
};
use crate::heap;
use crate::map::{STOP_MARK, WATCHED_MARK};
use crate::memcheck::allocators::CheckedModule;
use crate::memcheck::helpers::Shadow;
use crate::memcheck::wrappers::{self, WrapperCalls};
use crate::memory_faults::{self, RequestPlaces};
use crate::positions;
use crate::profile;
use crate::side::{
    HEADER_ENTRIES_AT, HEADER_LOST_AT, HEADER_PENDING_AT, HEADER_SWITCH_AT, MARKED_PAGE_BITS, SideLayout,
};
use wasm_encoder::{BlockType, Function, MemArg, ValType as Encoded};
use wasmparser::ValType;

/// What is appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Helper {
    /// `(start, bytes)`: marks all pages of the range.
    Range,
    /// `(start, anything, bytes) -> the same`: marks all pages of the range, in front of a bulk operation.
    Bulk,
    /// Stands for a `realloc` with this index: marks the pages of what it returns.
    Realloc(u32),
    /// `(left, right, site) -> (left, right)`: logs two integers.
    Log32,
    /// The same for 64 bits.
    Log64,
    /// `(left address, right address, bytes, site)`: logs the beginnings of two strings.
    LogBytes,
    /// `(address, byte, site)`: logs the beginning of a string and a byte.
    LogSearch,
    /// `(site) -> whether to log`: counts a comparison.
    Counts,
    /// `(left, right, site, kind)`: writes an entry.
    Entry,
    /// `()`: sets the globals as the host has left them, once.
    Globals,
    /// `(function, bytes, spare) -> node`: see [`profile::enter_node`].
    EnterNode,
    /// `(kind, address, bytes, address before)`: see [`heap::heap_event`].
    HeapEvent,
    /// `(address, value, offset) -> (address, value)`: see [`heap::note_store`].
    NoteStore {
        /// The value has 64 bits.
        is_long: bool,
        /// Where the stack begins.
        stack: i32,
    },
    /// `(address, what)`: see [`Shadow::access`].
    CheckAccess,
    /// `(target, source, bytes) -> the same`: see [`Shadow::bulk`].
    CheckCopy,
    /// `(target, anything, bytes) -> the same`: see [`Shadow::bulk`].
    CheckFill,
    /// `(target, source, bytes)`: see [`Shadow::overlap`].
    CheckOverlap,
    /// `(pages) -> pages before`: see [`Shadow::grow`].
    CheckedGrow,
    /// See [`Shadow::fill`].
    Shade,
    /// See [`Shadow::place`].
    PlaceBlock,
    /// See [`Shadow::valid`].
    ValidBlock,
    /// See [`Shadow::layout`].
    CheckLayout,
    /// See [`Shadow::free`].
    FreeBlock,
    /// See [`Shadow::release`].
    ReleaseBlock,
    /// See [`Shadow::flush`].
    FlushBlocks,
    /// See [`Shadow::reuse`].
    ReuseBlock,
    /// `(segment)`: where a debugger stops a program: see [`crate::PositionSites`].
    Stop,
    /// `()`: where a debugger stops a program that is about to write what is watched.
    Watched,
    /// `(pages) -> pages`: see [`memory_faults::growth`].
    AskGrowth,
    /// Stands for a function of an allocator that may fail: see [`memory_faults::wrapper`].
    Fallible {
        /// Its index.
        function: u32,
        /// How many words it takes.
        params: u32,
        /// What it does.
        role: AllocatorRole,
    },
    /// Stands for a function of an allocator: see [`wrappers::wrapper`].
    Wrapper {
        /// Its index.
        function: u32,
        /// How many words it takes.
        params: u32,
        /// How many it returns.
        results: u32,
    },
}

/// Where helpers find things.
pub(crate) struct HelperContext<'s> {
    /// Index of the side memory.
    pub(crate) memory: u32,
    pub(crate) layout: &'s SideLayout,
    /// Where the counts of the comparisons start.
    pub(crate) counts: u32,
    /// The globals that the host sets, and where they start.
    pub(crate) globals: &'s [(u32, ValType)],
    pub(crate) globals_start: u32,
    /// Indices of the helpers that are used by the one that is written, in the order of [`Helper::uses`].
    pub(crate) used: Vec<u32>,
    /// What is checked here, where memory is.
    pub(crate) checked: Option<&'s CheckedModule>,
    /// The shadow of its memory.
    pub(crate) shadow: u32,
    /// Where code that asks for memory finds things.
    pub(crate) requests: RequestPlaces,
}

impl Helper {
    /// Its parameters and results.
    pub(crate) fn signature(self) -> (&'static [ValType], &'static [ValType]) {
        const WORDS: [ValType; 6] = [ValType::I32; 6];
        const LONGS: [ValType; 4] = [ValType::I64, ValType::I64, ValType::I32, ValType::I32];
        const STORED: [ValType; 3] = [ValType::I32, ValType::I64, ValType::I32];
        match self {
            Helper::Range => (&WORDS[..2], &[]),
            Helper::Bulk => (&WORDS[..3], &WORDS[..3]),
            Helper::Realloc(_) => (&WORDS[..4], &WORDS[..1]),
            Helper::Log32 => (&WORDS[..3], &WORDS[..2]),
            Helper::Log64 => (&LONGS[..3], &LONGS[..2]),
            Helper::LogBytes => (&WORDS[..4], &[]),
            Helper::LogSearch => (&WORDS[..3], &[]),
            Helper::Counts => (&WORDS[..1], &WORDS[..1]),
            Helper::Entry => (&LONGS[..4], &[]),
            Helper::Globals => (&[], &[]),
            Helper::EnterNode => (&WORDS[..3], &WORDS[..1]),
            Helper::HeapEvent => (&WORDS[..4], &[]),
            Helper::NoteStore { is_long: false, .. } => (&WORDS[..3], &WORDS[..2]),
            Helper::NoteStore { is_long: true, .. } => (&STORED, &STORED[..2]),
            Helper::CheckAccess | Helper::FreeBlock => (&WORDS[..2], &[]),
            Helper::CheckCopy | Helper::CheckFill => (&WORDS[..3], &WORDS[..3]),
            Helper::CheckOverlap | Helper::Shade | Helper::CheckLayout => (&WORDS[..3], &[]),
            Helper::CheckedGrow | Helper::AskGrowth => (&WORDS[..1], &WORDS[..1]),
            Helper::Fallible { params, .. } => (&WORDS[..params as usize], &WORDS[..1]),
            Helper::PlaceBlock => (&WORDS[..6], &WORDS[..1]),
            Helper::ReuseBlock => (&WORDS[..3], &WORDS[..1]),
            Helper::ValidBlock | Helper::Stop => (&WORDS[..1], &[]),
            Helper::ReleaseBlock | Helper::Watched => (&[], &[]),
            Helper::FlushBlocks => (&[], &WORDS[..1]),
            Helper::Wrapper { params, results, .. } => (&WORDS[..params as usize], &WORDS[..results as usize]),
        }
    }

    /// By which the map tells those apart at which a debugger stops.
    pub(crate) fn mark(self) -> u32 {
        match self {
            Helper::Stop => STOP_MARK,
            Helper::Watched => WATCHED_MARK,
            _ => 0,
        }
    }

    /// The helpers that this one calls.
    pub(crate) fn uses(self) -> &'static [Helper] {
        match self {
            Helper::Range
            | Helper::Counts
            | Helper::Entry
            | Helper::Globals
            | Helper::EnterNode
            | Helper::HeapEvent
            | Helper::NoteStore { .. }
            | Helper::CheckAccess
            | Helper::CheckOverlap
            | Helper::Shade
            | Helper::Stop
            | Helper::Watched
            | Helper::AskGrowth
            | Helper::Fallible { .. }
            | Helper::ValidBlock => &[],
            Helper::CheckCopy | Helper::CheckFill => &[Helper::CheckAccess],
            Helper::CheckedGrow | Helper::PlaceBlock | Helper::ReleaseBlock => &[Helper::Shade],
            Helper::CheckLayout => &[Helper::ValidBlock],
            Helper::FreeBlock => &[Helper::ValidBlock, Helper::Shade, Helper::ReleaseBlock],
            Helper::FlushBlocks | Helper::ReuseBlock => &[Helper::ReleaseBlock],
            Helper::Wrapper { .. } => &[
                Helper::PlaceBlock,
                Helper::FreeBlock,
                Helper::FlushBlocks,
                Helper::ValidBlock,
                Helper::CheckLayout,
                Helper::ReuseBlock,
            ],
            Helper::Bulk | Helper::Realloc(_) => &[Helper::Range],
            Helper::Log32 | Helper::Log64 => &[Helper::Entry],
            Helper::LogBytes | Helper::LogSearch => &[Helper::Counts, Helper::Entry],
        }
    }

    /// Its body.
    pub(crate) fn body(self, around: &HelperContext<'_>) -> Function {
        match self {
            Helper::Range => mark_range(around.memory, around.layout),
            Helper::Bulk => {
                let mut function = Function::new([]);
                let mut code = function.instructions();
                code.local_get(0).local_get(2).call(around.used[0]);
                code.local_get(0).local_get(1).local_get(2).end();
                function
            }
            Helper::Realloc(original) => {
                let mut function = Function::new([]);
                let mut code = function.instructions();
                code.local_get(0).local_get(1).local_get(2).local_get(3).call(original).local_tee(0);
                code.local_get(3).call(around.used[0]).local_get(0).end();
                function
            }
            Helper::Log32 | Helper::Log64 => log_integers(self == Helper::Log32, around),
            Helper::LogBytes => log_bytes(around),
            Helper::LogSearch => log_search(around),
            Helper::Counts => count_comparison(around),
            Helper::Entry => write_entry(around),
            Helper::Globals => set_globals(around),
            Helper::EnterNode => profile::enter_node(around.memory),
            Helper::HeapEvent => heap::heap_event(around.memory, profile::CURRENT_AT),
            Helper::NoteStore { is_long, stack } => heap::note_store(around.memory, is_long, stack),
            Helper::Stop | Helper::Watched => positions::stop(),
            Helper::AskGrowth => memory_faults::growth(around.requests),
            Helper::Fallible { function, params, role } => {
                memory_faults::wrapper(around.requests, function, params, role)
            }
            check => check.checking(around),
        }
    }
}

impl Helper {
    /// The body of one that checks memory.
    fn checking(self, around: &HelperContext<'_>) -> Function {
        let shadow = Shadow { memory: around.shadow };
        let used = |position: usize| around.used[position];
        let checked = || around.checked.expect("only a checked module has it");
        match self {
            Helper::CheckAccess => shadow.access(),
            Helper::CheckCopy => shadow.bulk(used(0), true),
            Helper::CheckFill => shadow.bulk(used(0), false),
            Helper::CheckOverlap => shadow.overlap(),
            Helper::CheckedGrow => shadow.grow(used(0)),
            Helper::Shade => shadow.fill(),
            Helper::PlaceBlock => shadow.place(used(0)),
            Helper::ValidBlock => shadow.valid(),
            Helper::CheckLayout => shadow.layout(used(0)),
            Helper::FreeBlock => shadow.free([used(0), used(1), used(2)]),
            Helper::ReleaseBlock => shadow.release(checked(), used(0)),
            Helper::FlushBlocks => shadow.flush(used(0)),
            Helper::ReuseBlock => shadow.reuse(used(0)),
            Helper::Wrapper { function, .. } => {
                let [place, free, flush, valid, layout, reuse] = [0, 1, 2, 3, 4, 5].map(used);
                let calls = WrapperCalls { place, free, flush, valid, layout, reuse };
                wrappers::wrapper(shadow, checked(), function, &calls)
            }
            _ => unreachable!("it has a body of its own"),
        }
    }
}

/// What reaches past the end of a 32-bit memory is left out; the operation traps then.
fn mark_range(memory: u32, layout: &SideLayout) -> Function {
    const START: u32 = 0;
    const BYTES: u32 = 1;
    /// The last byte, and then the last page.
    const LAST: u32 = 2;
    let mut function = Function::new([(1, Encoded::I32)]);
    let mut code = function.instructions();
    code.local_get(BYTES).i32_eqz().if_(BlockType::Empty).return_().end();
    // The last byte, or the last one of all when that is further on.
    code.local_get(START).local_get(BYTES).i32_add().i32_const(1).i32_sub().local_tee(LAST);
    code.i32_const(-1).local_get(LAST).local_get(START).i32_ge_u().select();
    code.i32_const(MARKED_PAGE_BITS.cast_signed()).i32_shr_u().local_set(LAST);
    code.local_get(START).i32_const(MARKED_PAGE_BITS.cast_signed()).i32_shr_u().local_set(START);
    code.loop_(BlockType::Empty);
    code.local_get(START).i32_const(1);
    code.i32_store8(MemArg { offset: u64::from(layout.marks.start), align: 0, memory_index: memory });
    code.local_get(START).i32_const(1).i32_add().local_tee(START);
    code.local_get(LAST).i32_le_u().br_if(0);
    code.end().end();
    function
}

/// `[left, right, site] -> [left, right]`: counts as [`count_comparison`] does, without a call. Loops compare what was logged often enough: that
/// is seen first.
fn log_integers(short: bool, around: &HelperContext<'_>) -> Function {
    const SITE: u32 = 2;
    const COUNT: u32 = 3;
    let mut function = Function::new([(1, Encoded::I32)]);
    let mut code = function.instructions();
    let count = around.at(around.counts, 0);
    code.local_get(SITE).i32_load8_u(count).local_tee(COUNT);
    code.i32_const(COMPARISONS_PER_SITE.cast_signed()).i32_lt_u().if_(BlockType::Empty);
    code.i32_const(0).i32_load(around.at(HEADER_SWITCH_AT, 2)).if_(BlockType::Empty);
    code.local_get(SITE).local_get(COUNT).i32_const(1).i32_add().i32_store8(count);
    for operand in [0, 1] {
        code.local_get(operand);
        if short {
            code.i64_extend_i32_u();
        }
    }
    code.local_get(SITE).i32_const(0).call(around.used[0]).end().end();
    code.local_get(0).local_get(1).end();
    function
}

/// `[site] -> [whether to log]`: only while the switch is on, and only the first few times.
fn count_comparison(around: &HelperContext<'_>) -> Function {
    const SITE: u32 = 0;
    const COUNT: u32 = 1;
    let mut function = Function::new([(1, Encoded::I32)]);
    let mut code = function.instructions();
    let count = around.at(around.counts, 0);
    code.i32_const(0).i32_load(around.at(HEADER_SWITCH_AT, 2)).i32_eqz();
    code.if_(BlockType::Empty).i32_const(0).return_().end();
    code.local_get(SITE).i32_load8_u(count).local_tee(COUNT);
    code.i32_const(COMPARISONS_PER_SITE.cast_signed()).i32_ge_u();
    code.if_(BlockType::Empty).i32_const(0).return_().end();
    code.local_get(SITE).local_get(COUNT).i32_const(1).i32_add().i32_store8(count);
    code.i32_const(1).end();
    function
}

/// `[left, right, site, kind] -> []`
fn write_entry(around: &HelperContext<'_>) -> Function {
    const ENTRIES: u32 = 4;
    const AT: u32 = 5;
    let mut function = Function::new([(2, Encoded::I32)]);
    let mut code = function.instructions();
    let (entries, lost) = (around.at(HEADER_ENTRIES_AT, 2), around.at(HEADER_LOST_AT, 2));
    let log = |field: u32, align| around.at(around.layout.comparisons.start + field, align);
    code.i32_const(0).i32_load(entries).local_tee(ENTRIES).i32_const(COMPARISONS_MAX.cast_signed()).i32_ge_u();
    code.if_(BlockType::Empty);
    code.i32_const(0).i32_const(0).i32_load(lost).i32_const(1).i32_add().i32_store(lost).return_();
    code.end();
    code.local_get(ENTRIES).i32_const(COMPARISON_BYTES.cast_signed()).i32_mul().local_set(AT);
    code.local_get(AT).local_get(2).i32_store(log(0, 2));
    code.local_get(AT).local_get(3).i32_store(log(4, 2));
    code.local_get(AT).local_get(0).i64_store(log(8, 3));
    code.local_get(AT).local_get(1).i64_store(log(16, 3));
    code.i32_const(0).local_get(ENTRIES).i32_const(1).i32_add().i32_store(entries).end();
    function
}

/// `[left, right, bytes, site] -> []`: entries of eight bytes, as long as both can be read.
fn log_bytes(around: &HelperContext<'_>) -> Function {
    const LEFT: u32 = 0;
    const RIGHT: u32 = 1;
    const BYTES: u32 = 2;
    const SITE: u32 = 3;
    /// How far from the start of the strings.
    const AT: u32 = 4;
    /// How many bytes count there, up to eight.
    const HERE: u32 = 5;
    /// Which bits of eight bytes those are.
    const MASK: u32 = 6;
    let mut function = Function::new([(2, Encoded::I32), (1, Encoded::I64)]);
    let mut code = function.instructions();
    let eight = MemArg { offset: 0, align: 0, memory_index: 0 };
    code.local_get(SITE).call(around.used[0]).i32_eqz().if_(BlockType::Empty).return_().end();
    code.block(BlockType::Empty).loop_(BlockType::Empty);
    // Done, at the end of the strings or of what is logged of them.
    code.local_get(AT).local_get(BYTES).i32_ge_u().br_if(1);
    code.local_get(AT).i32_const(COMPARED_BYTES_MAX.cast_signed()).i32_ge_u().br_if(1);
    for start in [LEFT, RIGHT] {
        code.local_get(start).i64_extend_i32_u().local_get(AT).i64_extend_i32_u().i64_add().i64_const(8).i64_add();
        code.memory_size(0).i64_extend_i32_u().i64_const(16).i64_shl().i64_gt_u().br_if(1);
    }
    code.local_get(BYTES).local_get(AT).i32_sub().local_tee(HERE);
    code.i32_const(8).local_get(HERE).i32_const(8).i32_lt_u().select().local_set(HERE);
    // All ones, without those of the bytes that do not count.
    code.i64_const(-1).i32_const(8).local_get(HERE).i32_sub().i32_const(3).i32_shl().i64_extend_i32_u().i64_shr_u();
    code.local_set(MASK);
    for start in [LEFT, RIGHT] {
        code.local_get(start).local_get(AT).i32_add().i64_load(eight).local_get(MASK).i64_and();
    }
    code.local_get(SITE);
    // Which eight, and how many of them.
    code.local_get(AT).i32_const(3).i32_shr_u().i32_const(8).i32_shl();
    code.local_get(HERE).i32_const(16).i32_shl().i32_or().i32_const(KIND_BYTES.cast_signed()).i32_or();
    code.call(around.used[1]);
    code.local_get(AT).i32_const(8).i32_add().local_set(AT).br(0);
    code.end().end().end();
    function
}

/// `[] -> []`
fn set_globals(around: &HelperContext<'_>) -> Function {
    let mut function = Function::new([]);
    let mut code = function.instructions();
    code.i32_const(0).i32_const(0).i32_store(around.at(HEADER_PENDING_AT, 2));
    for ((global, ty), position) in around.globals.iter().zip(0..) {
        let slot = around.at(around.globals_start + position * SLOT_BYTES as u32, 0);
        code.i32_const(0);
        access::load(&mut code, *ty, slot);
        code.global_set(*global);
    }
    code.end();
    function
}

/// `[address, byte, site] -> []`
fn log_search(around: &HelperContext<'_>) -> Function {
    let mut function = Function::new([]);
    let mut code = function.instructions();
    code.local_get(0).i64_extend_i32_u().i64_const(8).i64_add();
    code.memory_size(0).i64_extend_i32_u().i64_const(16).i64_shl().i64_gt_u();
    code.if_(BlockType::Empty).return_().end();
    code.local_get(2).call(around.used[0]).i32_eqz().if_(BlockType::Empty).return_().end();
    code.local_get(0).i64_load(MemArg { offset: 0, align: 0, memory_index: 0 });
    code.local_get(1).i64_extend_i32_u().i64_const(0xff).i64_and();
    code.local_get(2).i32_const(KIND_SEARCH.cast_signed()).call(around.used[1]).end();
    function
}

impl HelperContext<'_> {
    /// An address in the side memory.
    fn at(&self, offset: u32, align: u32) -> MemArg {
        MemArg { offset: u64::from(offset), align, memory_index: self.memory }
    }
}
