//! Functions that a checked module gets: the closer look at an access, and what becomes of blocks.
//!
//! Invariant: they use memory as it is and are not looked at themselves. One traps only when it has written a report, or where the
//! access that it looks at would.
//! Not here: functions that stand for those of an allocator (`wrappers`).

use super::{
    ALIGN_MIN, BLOCKS_AT, DEPTH_AT, EVENTS_AT, FIRST_AT, HEADER_BYTES, LAST_AT, QUARANTINE_BYTES,
    QUARANTINE_KEPT_BLOCKS, QUARANTINE_KEPT_BYTES, QUEUED_AT, REPORT_AT, SHADOW_AT, STOP_AT, UNDEFINED_BYTES_MAX,
    header, report, shade,
};
use crate::memcheck::allocators::CheckedModule;
use fozzy_trace::{UNDEFINED_MASK, UNDEFINED_TAG};
use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, ValType};

/// In what is asked of `access`: it writes.
pub(crate) const WRITES: u32 = 1 << 31;

/// In what is said of a family to `place`: what was allocated is not cleared.
pub(crate) const UNDEFINES: u32 = 1;

/// A word of a header that begins the block at an address, relative to that address.
fn field(code: &mut InstructionSink<'_>, block: u32, field: u32) {
    code.local_get(block).i32_const(HEADER_BYTES.cast_signed()).i32_sub();
    code.i32_load(guest(field));
}

/// `[value] -> []` is expected on top of what this pushes: use [`set_field`].
fn set_field(code: &mut InstructionSink<'_>, block: u32, field: u32, value: impl FnOnce(&mut InstructionSink<'_>)) {
    code.local_get(block).i32_const(HEADER_BYTES.cast_signed()).i32_sub();
    value(code);
    code.i32_store(guest(field));
}

fn guest(offset: u32) -> MemArg {
    MemArg { offset: offset.into(), align: 2, memory_index: 0 }
}

/// What code of helpers works with.
#[derive(Clone, Copy)]
pub(crate) struct Shadow {
    /// Its memory.
    pub(crate) memory: u32,
}

impl Shadow {
    pub(crate) fn at(self, offset: u32, align: u32) -> MemArg {
        MemArg { offset: offset.into(), align, memory_index: self.memory }
    }

    pub(crate) fn load(self, code: &mut InstructionSink<'_>, at: u32) {
        code.i32_const(0).i32_load(self.at(at, 2));
    }

    pub(crate) fn store(self, code: &mut InstructionSink<'_>, at: u32, value: impl FnOnce(&mut InstructionSink<'_>)) {
        code.i32_const(0);
        value(code);
        code.i32_store(self.at(at, 2));
    }

    /// Adds to a word.
    fn add(self, code: &mut InstructionSink<'_>, at: u32, number: i32) {
        self.store(code, at, |code| {
            self.load(code, at);
            code.i32_const(number).i32_add();
        });
    }

    /// `[] -> [whether no more blocks are kept than have to be]`
    fn is_short(self, code: &mut InstructionSink<'_>) {
        self.load(code, QUEUED_AT);
        code.i32_const(QUARANTINE_KEPT_BYTES.cast_signed()).i32_le_u();
        self.load(code, BLOCKS_AT);
        code.i32_const(QUARANTINE_KEPT_BLOCKS.cast_signed()).i32_le_u().i32_or();
    }

    pub(crate) fn set_depth(self, code: &mut InstructionSink<'_>, depth: i32) {
        self.store(code, DEPTH_AT, |code| {
            code.i32_const(depth);
        });
    }

    /// Writes a report of these locals and traps.
    fn report(self, code: &mut InstructionSink<'_>, kind: u32, [address, bytes, other]: [Option<u32>; 3]) {
        self.store(code, REPORT_AT, |code| {
            code.i32_const(kind.cast_signed());
        });
        for (at, local) in [(4, address), (8, bytes), (12, other)] {
            if let Some(local) = local {
                self.store(code, REPORT_AT + at, |code| {
                    code.local_get(local);
                });
            }
        }
        code.unreachable();
    }

    /// `(address, what)`: reports an access to what may not be used. `what` is bytes, and [`WRITES`].
    pub(crate) fn access(self) -> Function {
        const ADDRESS: u32 = 0;
        const WHAT: u32 = 1;
        const GRANULE: u32 = 2;
        const LAST: u32 = 3;
        const VALUE: u32 = 4;
        const BYTES: u32 = 5;
        let mut function = Function::new([(4, ValType::I32)]);
        let mut code = function.instructions();
        self.load(&mut code, DEPTH_AT);
        code.if_(BlockType::Empty).return_().end();
        code.local_get(WHAT).i32_const((!WRITES).cast_signed()).i32_and().local_tee(BYTES);
        code.i32_eqz().if_(BlockType::Empty).return_().end();
        code.local_get(ADDRESS).local_get(BYTES).i32_add().i32_const(1).i32_sub().local_tee(LAST);
        // What wraps around traps by itself.
        code.local_get(ADDRESS).i32_lt_u().if_(BlockType::Empty).return_().end();
        code.local_get(ADDRESS).i32_const(3).i32_shr_u().local_set(GRANULE);
        code.loop_(BlockType::Empty);
        {
            // Eight at once.
            code.local_get(LAST).i32_const(3).i32_shr_u().local_get(GRANULE).i32_sub().i32_const(8).i32_ge_u();
            code.if_(BlockType::Empty);
            code.local_get(GRANULE).i64_load(self.at(SHADOW_AT, 0)).i64_eqz().if_(BlockType::Empty);
            code.local_get(GRANULE).i32_const(8).i32_add().local_set(GRANULE).br(2);
            code.end().end();
            code.local_get(GRANULE).i32_load8_u(self.at(SHADOW_AT, 0)).local_tee(VALUE).if_(BlockType::Empty);
            // The first bytes of the last eight may be used.
            code.local_get(VALUE).i32_const(7).i32_gt_u();
            code.local_get(GRANULE).local_get(LAST).i32_const(3).i32_shr_u().i32_ne().i32_or();
            code.local_get(LAST).i32_const(7).i32_and().local_get(VALUE).i32_ge_u().i32_or();
            code.if_(BlockType::Empty);
            code.local_get(WHAT).i32_const(0).i32_lt_s().if_(BlockType::Empty);
            self.report(&mut code, report::WRITE, [Some(ADDRESS), Some(BYTES), None]);
            code.end();
            self.report(&mut code, report::READ, [Some(ADDRESS), Some(BYTES), None]);
            code.end().end();
            code.local_get(GRANULE).local_get(LAST).i32_const(3).i32_shr_u().i32_ge_u();
            code.if_(BlockType::Empty).return_().end();
            code.local_get(GRANULE).i32_const(1).i32_add().local_set(GRANULE).br(0);
        }
        code.end().end();
        function
    }

    /// `(target, source, bytes) -> the same`, in front of a copy; without a source, in front of a fill.
    pub(crate) fn bulk(self, access: u32, reads: bool) -> Function {
        let mut function = Function::new([]);
        let mut code = function.instructions();
        let too_long = |code: &mut InstructionSink<'_>| {
            code.local_get(2).i32_const(0).i32_lt_s();
        };
        // Half of all memory is looked at by nobody; it hardly fits.
        too_long(&mut code);
        code.i32_eqz().if_(BlockType::Empty);
        if reads {
            code.local_get(1).local_get(2).call(access);
        }
        code.local_get(0).local_get(2).i32_const(WRITES.cast_signed()).i32_or().call(access);
        code.end();
        code.local_get(0).local_get(1).local_get(2).end();
        function
    }

    /// `(target, source, bytes)`: reports a `memcpy` of ranges that overlap. The same range twice is what compilers ask for.
    pub(crate) fn overlap(self) -> Function {
        let mut function = Function::new([(1, ValType::I32)]);
        let mut code = function.instructions();
        self.load(&mut code, DEPTH_AT);
        code.local_get(0).local_get(1).i32_eq().i32_or().local_get(2).i32_eqz().i32_or();
        code.if_(BlockType::Empty).return_().end();
        // The distance between both is shorter than the range.
        code.local_get(0).local_get(1).i32_sub().local_get(1).local_get(0).i32_sub();
        code.local_get(0).local_get(1).i32_gt_u().select().local_get(2).i32_lt_u();
        code.if_(BlockType::Empty);
        self.report(&mut code, report::OVERLAP, [Some(0), Some(2), Some(1)]);
        code.end().end();
        function
    }

    /// `(pages) -> pages before, or -1`: what `memory.grow` does, and for its shadow too. What an allocator gets belongs to no
    /// block.
    pub(crate) fn grow(self, fill: u32) -> Function {
        const PAGES: u32 = 0;
        const BEFORE: u32 = 1;
        const NEEDED: u32 = 2;
        let mut function = Function::new([(2, ValType::I32)]);
        let mut code = function.instructions();
        code.local_get(PAGES).i32_const(1 << 16).i32_gt_u().if_(BlockType::Empty).i32_const(-1).return_().end();
        code.memory_size(0).local_get(PAGES).i32_add().i32_const(3).i32_shr_u().i32_const(2).i32_add();
        code.memory_size(self.memory).i32_sub().local_tee(NEEDED).i32_const(0).i32_gt_s().if_(BlockType::Empty);
        code.local_get(NEEDED).memory_grow(self.memory).i32_const(-1).i32_eq();
        code.if_(BlockType::Empty).i32_const(-1).return_().end().end();
        code.local_get(PAGES).memory_grow(0).local_tee(BEFORE).i32_const(-1).i32_ne();
        self.load(&mut code, DEPTH_AT);
        code.i32_const(0).i32_ne().i32_and().if_(BlockType::Empty);
        // From one of eight bytes to another, of which a page has 8192.
        code.local_get(BEFORE).i32_const(13).i32_shl().local_get(PAGES).i32_const(13).i32_shl();
        code.i32_const(shade::UNALLOCATED.into()).call(fill).end();
        code.local_get(BEFORE).end();
        function
    }

    /// `(first, count, value)`: shades memory, in units of eight bytes. Nothing for a negative count.
    pub(crate) fn fill(self) -> Function {
        const SHORT: i32 = 128;
        const LAST: u32 = 3;
        const EIGHT: u32 = 4;
        let mut function = Function::new([(1, ValType::I32), (1, ValType::I64)]);
        let mut code = function.instructions();
        let at = |offset: u32| self.at(SHADOW_AT + offset, 0);
        code.local_get(1).i32_const(2).i32_lt_s().if_(BlockType::Empty);
        code.local_get(1).i32_const(0).i32_le_s().if_(BlockType::Empty).return_().end();
        code.local_get(0).local_get(2).i32_store8(at(0)).return_().end();
        code.local_get(1).i32_const(SHORT).i32_gt_s().if_(BlockType::Empty);
        code.local_get(0).i32_const(SHADOW_AT.cast_signed()).i32_add().local_get(2).local_get(1);
        code.memory_fill(self.memory).return_().end();
        code.local_get(2).i64_extend_i32_u().i64_const(0x0101_0101_0101_0101).i64_mul().local_set(EIGHT);
        // The first and the last ones, which overlap.
        code.local_get(0).local_get(1).i32_add().local_set(LAST);
        code.local_get(1).i32_const(4).i32_lt_u().if_(BlockType::Empty);
        code.local_get(0).local_get(EIGHT).i64_store16(at(0));
        code.local_get(LAST).i32_const(2).i32_sub().local_get(EIGHT).i64_store16(at(0)).return_().end();
        code.local_get(1).i32_const(8).i32_lt_u().if_(BlockType::Empty);
        code.local_get(0).local_get(EIGHT).i64_store32(at(0));
        code.local_get(LAST).i32_const(4).i32_sub().local_get(EIGHT).i64_store32(at(0)).return_().end();
        code.local_get(LAST).i32_const(8).i32_sub().local_set(LAST);
        code.loop_(BlockType::Empty);
        code.local_get(0).local_get(EIGHT).i64_store(at(0));
        code.local_get(0).i32_const(8).i32_add().local_tee(0).local_get(LAST).i32_lt_u().br_if(0).end();
        code.local_get(LAST).local_get(EIGHT).i64_store(at(0)).end();
        function
    }

    /// Counts an allocation or free, and stops the program at the one that was asked for. `block` and `event` are locals.
    fn count_event(self, code: &mut InstructionSink<'_>, [block, event]: [u32; 2], of: u32) {
        self.store(code, EVENTS_AT, |code| {
            self.load(code, EVENTS_AT);
            code.i32_const(1).i32_add().local_tee(event);
        });
        set_field(code, block, of, |code| {
            code.local_get(event);
        });
        self.load(code, STOP_AT);
        code.local_get(event).i32_eq().if_(BlockType::Empty);
        self.report(code, report::STOPPED, [Some(block), None, None]);
        code.end();
    }

    /// `(base, total, bytes, alignment, alignment that was said, family) -> address`: makes a block of what an allocator has returned.
    /// With [`UNDEFINES`], nobody has cleared it.
    pub(crate) fn place(self, fill: u32) -> Function {
        const BASE: u32 = 0;
        const TOTAL: u32 = 1;
        const BYTES: u32 = 2;
        const ALIGN: u32 = 3;
        const SAID: u32 = 4;
        const FAMILY: u32 = 5;
        const HEADER: u32 = 6;
        const BLOCK: u32 = 7;
        const END: u32 = 8;
        const EVENT: u32 = 9;
        const PATTERN: u32 = 10;
        let mut function = Function::new([(4, ValType::I32), (1, ValType::I64)]);
        let mut code = function.instructions();
        let header_bytes = HEADER_BYTES.cast_signed();
        code.local_get(BASE).i32_eqz().if_(BlockType::Empty).i32_const(0).return_().end();
        code.local_get(BASE).local_get(ALIGN).i32_add().i32_const(header_bytes - 1).i32_add();
        code.i32_const(0).local_get(ALIGN).i32_sub().i32_and().local_tee(BLOCK);
        code.i32_const(header_bytes).i32_sub().local_set(HEADER);
        for (at, local) in [(header::BYTES, BYTES), (header::BASE, BASE), (header::TOTAL, TOTAL), (header::ALIGN, SAID)]
        {
            code.local_get(HEADER).local_get(local).i32_store(guest(at));
        }
        // Two words at once.
        const _: () = assert!(header::NEXT == header::FREED + 4);
        code.local_get(HEADER).i64_const(0).i64_store(guest(header::FREED));
        code.local_get(HEADER).local_get(FAMILY).i32_const(!0xffff).i32_and().i32_store(guest(header::FREE_BY));
        let granule = |code: &mut InstructionSink<'_>, local: u32, more: u32| {
            code.local_get(local);
            if more > 0 {
                code.i32_const(more.cast_signed()).i32_add();
            }
            code.i32_const(3).i32_shr_u();
        };
        // Before the header, if there is something.
        code.local_get(HEADER).local_get(BASE).i32_sub().i32_const(8).i32_ge_u().if_(BlockType::Empty);
        granule(&mut code, BASE, 7);
        granule(&mut code, HEADER, 0);
        granule(&mut code, BASE, 7);
        code.i32_sub().i32_const(shade::PADDING.into()).call(fill).end();
        granule(&mut code, HEADER, 0);
        code.i32_const(i32::from_le_bytes([shade::LIVE_HEADER; 4])).i32_store(self.at(SHADOW_AT, 0));
        granule(&mut code, BLOCK, 0);
        code.local_get(BYTES).i32_const(3).i32_shr_u().i32_const(0).call(fill);
        // Behind the last byte.
        code.local_get(BLOCK).local_get(BYTES).i32_add().local_set(END);
        granule(&mut code, END, 0);
        code.local_get(BASE).local_get(TOTAL).i32_add().i32_const(3).i32_shr_u();
        granule(&mut code, END, 0);
        code.i32_sub().i32_const(shade::BEHIND.into()).call(fill);
        code.local_get(BYTES).i32_const(7).i32_and().if_(BlockType::Empty);
        granule(&mut code, END, 0);
        code.local_get(BYTES).i32_const(7).i32_and().i32_store8(self.at(SHADOW_AT, 0)).end();
        self.count_event(&mut code, [BLOCK, EVENT], header::ALLOCATED);
        // Up to seven bytes further than the block, which are of its red zone.
        code.local_get(FAMILY).i32_const(UNDEFINES.cast_signed()).i32_and().i32_const(0).local_get(BYTES);
        code.i32_const(0).i32_ne().i32_sub().i32_and().if_(BlockType::Empty);
        code.local_get(BLOCK).local_get(BYTES).i32_const(UNDEFINED_BYTES_MAX.cast_signed()).local_get(BYTES);
        code.i32_const(UNDEFINED_BYTES_MAX.cast_signed()).i32_lt_u().select().i32_add().local_set(END);
        code.local_get(EVENT).i32_const(UNDEFINED_MASK.cast_signed()).i32_xor().i64_extend_i32_u();
        code.i64_const((u64::from(UNDEFINED_TAG) << 32).cast_signed()).i64_or().local_set(PATTERN);
        code.local_get(BLOCK).local_set(HEADER).loop_(BlockType::Empty);
        code.local_get(HEADER).local_get(PATTERN).i64_store(guest(0));
        code.local_get(HEADER).i32_const(8).i32_add().local_tee(HEADER).local_get(END).i32_lt_u().br_if(0);
        code.end().end();
        code.local_get(BLOCK).end();
        function
    }

    /// `(total, alignment that was said, family) -> base`: the block that was freed longest ago, if enough were freed since and it is such a one; 0 is
    /// none, and then some that were freed long ago are given back. A total of 0 is of no block.
    pub(crate) fn reuse(self, release: u32) -> Function {
        const TOTAL: u32 = 0;
        const SAID: u32 = 1;
        const FAMILY: u32 = 2;
        const HEADER: u32 = 3;
        const NEXT: u32 = 4;
        let mut function = Function::new([(2, ValType::I32)]);
        let mut code = function.instructions();
        self.is_short(&mut code);
        code.if_(BlockType::Empty).i32_const(0).return_().end();
        self.load(&mut code, FIRST_AT);
        code.i32_const(HEADER_BYTES.cast_signed()).i32_sub().local_tee(HEADER).i32_load(guest(header::TOTAL));
        code.local_get(TOTAL).i32_ne();
        code.local_get(HEADER).i32_load(guest(header::ALIGN)).local_get(SAID).i32_ne().i32_or();
        code.local_get(HEADER).i32_load(guest(header::FREE_BY)).local_get(FAMILY).i32_xor().i32_const(16).i32_shr_u();
        code.i32_or().if_(BlockType::Empty).call(release);
        // Once more, so that the queue becomes shorter.
        self.is_short(&mut code);
        code.i32_eqz().if_(BlockType::Empty).call(release).end();
        code.i32_const(0).return_().end();
        self.store(&mut code, FIRST_AT, |code| {
            code.local_get(HEADER).i32_load(guest(header::NEXT)).local_tee(NEXT);
        });
        code.local_get(NEXT).i32_eqz().if_(BlockType::Empty);
        self.store(&mut code, LAST_AT, |code| {
            code.i32_const(0);
        });
        code.end();
        self.store(&mut code, QUEUED_AT, |code| {
            self.load(code, QUEUED_AT);
            code.local_get(TOTAL).i32_sub();
        });
        self.add(&mut code, BLOCKS_AT, -1);
        code.local_get(HEADER).i32_load(guest(header::BASE)).end();
        function
    }

    fn mark_header(self, code: &mut InstructionSink<'_>, block: u32, value: u8) {
        code.local_get(block).i32_const(HEADER_BYTES.cast_signed()).i32_sub().i32_const(3).i32_shr_u();
        code.i32_const(i32::from_le_bytes([value; 4])).i32_store(self.at(SHADOW_AT, 0));
    }

    /// `(address)`: reports what is no block that is in use.
    pub(crate) fn valid(self) -> Function {
        const ADDRESS: u32 = 0;
        let mut function = Function::new([]);
        let mut code = function.instructions();
        // Below a header nothing is, and no address behind the end has one.
        code.local_get(ADDRESS).i32_const(HEADER_BYTES.cast_signed()).i32_sub().i32_const(16).i32_shr_u();
        code.memory_size(0).i32_ge_u().local_get(ADDRESS).i32_const(7).i32_and().i32_or();
        code.if_(BlockType::Empty);
        self.report(&mut code, report::FREE, [Some(ADDRESS), None, None]);
        code.end();
        code.local_get(ADDRESS).i32_const(HEADER_BYTES.cast_signed()).i32_sub().i32_const(3).i32_shr_u();
        code.i32_load(self.at(SHADOW_AT, 0)).i32_const(i32::from_le_bytes([shade::LIVE_HEADER; 4])).i32_ne();
        code.if_(BlockType::Empty);
        self.report(&mut code, report::FREE, [Some(ADDRESS), None, None]);
        code.end().end();
        function
    }

    /// `(address, bytes, alignment)`: reports a block that is freed as another one than it is. Blocks of C have no alignment.
    pub(crate) fn layout(self, valid: u32) -> Function {
        let mut function = Function::new([]);
        let mut code = function.instructions();
        code.local_get(0).call(valid);
        field(&mut code, 0, header::ALIGN);
        code.i32_const(0).i32_ne();
        field(&mut code, 0, header::BYTES);
        code.local_get(1).i32_ne();
        field(&mut code, 0, header::ALIGN);
        code.local_get(2).i32_ne().i32_or().i32_and().if_(BlockType::Empty);
        self.report(&mut code, report::LAYOUT, [Some(0), Some(1), Some(2)]);
        code.end().end();
        function
    }

    /// `(address, by)`: puts a block into the queue of those that are to be freed; `by` is the function that does so.
    pub(crate) fn free(self, [valid, fill, release]: [u32; 3]) -> Function {
        const BLOCK: u32 = 0;
        const BY: u32 = 1;
        const EVENT: u32 = 2;
        let mut function = Function::new([(1, ValType::I32)]);
        let mut code = function.instructions();
        code.local_get(BLOCK).call(valid);
        self.mark_header(&mut code, BLOCK, shade::FREED_HEADER);
        code.local_get(BLOCK).i32_const(3).i32_shr_u();
        field(&mut code, BLOCK, header::BYTES);
        code.i32_const(7).i32_add().i32_const(3).i32_shr_u().i32_const(shade::FREED.into()).call(fill);
        // Of no family, if it was allocated by another one.
        set_field(&mut code, BLOCK, header::FREE_BY, |code| {
            code.local_get(BY).i32_const(0xffff).local_get(BY).i32_and();
            field(code, BLOCK, header::FREE_BY);
            code.local_get(BY).i32_xor().i32_const(16).i32_shr_u().i32_eqz().select();
        });
        self.load(&mut code, LAST_AT);
        code.if_(BlockType::Empty);
        code.i32_const(0).i32_load(self.at(LAST_AT, 2)).i32_const(HEADER_BYTES.cast_signed()).i32_sub();
        code.local_get(BLOCK).i32_store(guest(header::NEXT));
        code.else_();
        self.store(&mut code, FIRST_AT, |code| {
            code.local_get(BLOCK);
        });
        code.end();
        self.store(&mut code, LAST_AT, |code| {
            code.local_get(BLOCK);
        });
        self.store(&mut code, QUEUED_AT, |code| {
            self.load(code, QUEUED_AT);
            field(code, BLOCK, header::TOTAL);
            code.i32_add();
        });
        self.add(&mut code, BLOCKS_AT, 1);
        self.count_event(&mut code, [BLOCK, EVENT], header::FREED);
        code.block(BlockType::Empty).loop_(BlockType::Empty);
        self.load(&mut code, QUEUED_AT);
        code.i32_const(QUARANTINE_BYTES.cast_signed()).i32_le_u().br_if(1).call(release).br(0);
        code.end().end().end();
        function
    }

    /// `()`: frees the block that was freed longest ago.
    pub(crate) fn release(self, checked: &CheckedModule, fill: u32) -> Function {
        const BLOCK: u32 = 0;
        const BASE: u32 = 1;
        const TOTAL: u32 = 2;
        const ALIGN: u32 = 3;
        let mut function = Function::new([(4, ValType::I32)]);
        let mut code = function.instructions();
        self.load(&mut code, FIRST_AT);
        code.local_tee(BLOCK).i32_eqz().if_(BlockType::Empty).return_().end();
        self.store(&mut code, FIRST_AT, |code| field(code, BLOCK, header::NEXT));
        self.load(&mut code, FIRST_AT);
        code.i32_eqz().if_(BlockType::Empty);
        self.store(&mut code, LAST_AT, |code| {
            code.i32_const(0);
        });
        code.end();
        for (local, of) in [(BASE, header::BASE), (TOTAL, header::TOTAL), (ALIGN, header::ALIGN)] {
            field(&mut code, BLOCK, of);
            code.local_set(local);
        }
        self.store(&mut code, QUEUED_AT, |code| {
            self.load(code, QUEUED_AT);
            code.local_get(TOTAL).i32_sub();
        });
        self.add(&mut code, BLOCKS_AT, -1);
        code.local_get(BASE).i32_const(7).i32_add().i32_const(3).i32_shr_u();
        code.local_get(BASE).local_get(TOTAL).i32_add().i32_const(3).i32_shr_u();
        code.local_get(BASE).i32_const(7).i32_add().i32_const(3).i32_shr_u().i32_sub();
        code.i32_const(shade::UNALLOCATED.into()).call(fill);
        // The alignment that was asked of the allocator.
        let least = ALIGN_MIN.cast_signed();
        code.local_get(ALIGN).i32_const(least).local_get(ALIGN).i32_const(least).i32_gt_u().select().local_set(ALIGN);
        self.set_depth(&mut code, 1);
        for ((free, params), by) in checked.frees.iter().zip(1..) {
            field(&mut code, BLOCK, header::FREE_BY);
            code.i32_const(0xffff).i32_and().i32_const(by).i32_eq().if_(BlockType::Empty);
            for argument in [BASE, TOTAL, ALIGN].into_iter().take(*params as usize) {
                code.local_get(argument);
            }
            // Whatever else it may want is nothing.
            for _ in 3..*params {
                code.i32_const(0);
            }
            code.call(*free);
            self.set_depth(&mut code, 0);
            code.return_().end();
        }
        self.set_depth(&mut code, 0);
        code.end();
        function
    }

    /// `() -> whether there was any`: frees all blocks that are kept from being used again, as the allocator has no memory left.
    pub(crate) fn flush(self, release: u32) -> Function {
        let mut function = Function::new([]);
        let mut code = function.instructions();
        self.load(&mut code, FIRST_AT);
        code.i32_eqz().if_(BlockType::Empty).i32_const(0).return_().end();
        code.loop_(BlockType::Empty).call(release);
        self.load(&mut code, FIRST_AT);
        code.br_if(0).end();
        code.i32_const(1).end();
        function
    }
}
