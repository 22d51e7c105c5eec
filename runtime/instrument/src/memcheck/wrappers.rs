//! Functions that stand for those of an allocator while none is open.
//!
//! ```text
//! malloc(n)   ─▶ wrapper: base = malloc(n + header + red zone), which finds that an allocator is open
//!                         none is left? free what is kept, and ask again
//!                         the block in it
//! ```
//!
//! Invariant: what a wrapper returns and takes is what the function that it stands for does.
//! Not here: what becomes of a block (`helpers`).

use super::allocators::{CheckedFunction, CheckedModule, CheckedRole};
use super::helpers::{Shadow, UNDEFINES};
use super::{DEPTH_AT, HEADER_BYTES, SHADOW_AT, header, shade};
use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, ValType};

/// Bytes of the largest block: half of it is the end of memory in any case.
const BLOCK_BYTES_MAX: i32 = 1 << 30;
/// The alignment that is asked for at least. An allocator of C has its own, and a header keeps it.
const ALIGN_MIN: i32 = super::ALIGN_MIN.cast_signed();

/// Helpers that wrappers call.
pub(crate) struct WrapperCalls {
    pub(crate) place: u32,
    pub(crate) free: u32,
    pub(crate) flush: u32,
    pub(crate) valid: u32,
    pub(crate) layout: u32,
    pub(crate) reuse: u32,
}

/// What a function of an allocator begins with: its wrapper, which `call` calls with the parameters, unless it is called by one.
pub(crate) fn divert(shadow: Shadow, code: &mut InstructionSink<'_>, call: impl FnOnce(&mut InstructionSink<'_>)) {
    shadow.load(code, DEPTH_AT);
    code.i32_eqz().if_(BlockType::Empty);
    call(code);
    code.return_().end();
}

/// Writes one wrapper.
struct Wrapper<'c> {
    shadow: Shadow,
    calls: &'c WrapperCalls,
    function: u32,
    params: u32,
    known: CheckedFunction,
}

impl Wrapper<'_> {
    /// Locals behind the parameters.
    const LOCALS: u32 = 5;

    fn bytes(&self) -> u32 {
        self.params
    }

    fn align(&self) -> u32 {
        self.params + 1
    }

    fn total(&self) -> u32 {
        self.params + 2
    }

    fn base(&self) -> u32 {
        self.params + 3
    }

    fn block(&self) -> u32 {
        self.params + 4
    }

    /// Computes how much is asked for, of bytes and alignment. Too much ends in `none`.
    fn size(&self, code: &mut InstructionSink<'_>, none: impl FnOnce(&mut InstructionSink<'_>)) {
        code.local_get(self.bytes()).i32_const(BLOCK_BYTES_MAX).i32_gt_u();
        code.local_get(self.align()).i32_const(BLOCK_BYTES_MAX >> 4).i32_gt_u().i32_or().if_(BlockType::Empty);
        none(code);
        code.return_().end();
        // A red zone that is wider behind larger blocks, up to half a kilobyte.
        code.local_get(self.bytes()).i32_const(3).i32_shr_u().i32_const(512);
        code.local_get(self.bytes()).i32_const(4096).i32_lt_u().select();
        code.local_get(self.bytes()).i32_add().local_get(self.align()).i32_add();
        code.i32_const(HEADER_BYTES.cast_signed() + 16 + 7).i32_add().i32_const(-8).i32_and().local_set(self.total());
    }

    /// Calls an allocator with these arguments: `[] -> [result]`.
    fn call(&self, code: &mut InstructionSink<'_>, function: u32, arguments: impl Fn(&mut InstructionSink<'_>)) {
        self.shadow.set_depth(code, 1);
        arguments(code);
        code.call(function);
        self.shadow.set_depth(code, 0);
    }

    /// Sets `base` to what a function returns; once more, if there was something to free before.
    fn obtain(&self, code: &mut InstructionSink<'_>, function: u32, arguments: impl Fn(&mut InstructionSink<'_>)) {
        self.call(code, function, &arguments);
        code.local_tee(self.base()).i32_eqz().if_(BlockType::Empty);
        code.call(self.calls.flush).if_(BlockType::Empty);
        self.call(code, function, &arguments);
        code.local_set(self.base()).end().end();
    }

    /// Gives back blocks that were freed long ago.
    fn give_back(&self, code: &mut InstructionSink<'_>) {
        code.i32_const(0).i32_const(0).i32_const(0).call(self.calls.reuse).drop();
    }

    /// `[] -> [address]`
    fn place(&self, code: &mut InstructionSink<'_>, keeps_align: Option<u32>) {
        code.local_get(self.base()).local_get(self.total()).local_get(self.bytes()).local_get(self.align());
        match keeps_align {
            Some(said) => code.local_get(said),
            None => code.i32_const(0),
        };
        let undefines = if self.known.clears { 0 } else { UNDEFINES };
        code.i32_const((self.known.family << 16 | undefines).cast_signed());
        code.call(self.calls.place);
    }

    /// Sets `align` to that of a parameter, if there is one, and at least to the smallest.
    fn set_align(&self, code: &mut InstructionSink<'_>, said: Option<u32>) {
        match said {
            Some(said) => {
                code.local_get(said).i32_const(ALIGN_MIN).local_get(said).i32_const(ALIGN_MIN).i32_gt_u().select()
            }
            None => code.i32_const(ALIGN_MIN),
        };
        code.local_set(self.align());
    }

    fn none(code: &mut InstructionSink<'_>) {
        code.i32_const(0);
    }

    fn allocate(
        &self,
        size: u32,
        count: Option<u32>,
        align: Option<u32>,
        keeps_align: bool,
        code: &mut InstructionSink<'_>,
    ) {
        code.local_get(size);
        if let Some(count) = count {
            // What does not fit into 32 bits is too much.
            code.i64_extend_i32_u().local_get(count).i64_extend_i32_u().i64_mul().i64_const(i64::from(BLOCK_BYTES_MAX));
            code.i64_gt_u().if_(BlockType::Empty).i32_const(0).return_().end();
            code.local_get(size).local_get(count).i32_mul();
        }
        code.local_set(self.bytes());
        self.set_align(code, align);
        self.size(code, Self::none);
        let params = self.params;
        // An allocator that clears does more than to hand out a block.
        let reuses = !self.known.clears && self.known.family > 0;
        if reuses {
            code.local_get(self.total());
            match align.filter(|_| keeps_align) {
                Some(said) => code.local_get(said),
                None => code.i32_const(0),
            };
            code.i32_const((self.known.family << 16).cast_signed()).call(self.calls.reuse);
            code.local_tee(self.base()).i32_eqz().if_(BlockType::Empty);
        } else {
            self.give_back(code);
        }
        self.obtain(code, self.function, |code| {
            for param in 0..params {
                match param {
                    _ if param == size => code.local_get(self.total()),
                    _ if Some(param) == count => code.i32_const(1),
                    _ if Some(param) == align => code.local_get(self.align()),
                    _ => code.local_get(param),
                };
            }
        });
        if reuses {
            code.end();
        }
        self.place(code, align.filter(|_| keeps_align));
    }

    fn allocate_into(&self, code: &mut InstructionSink<'_>) {
        let written = MemArg { offset: 0, align: 0, memory_index: 0 };
        code.local_get(2).local_set(self.bytes());
        self.set_align(code, Some(1));
        /// `ENOMEM` of WASI.
        const NO_MEMORY: i32 = 48;
        self.size(code, |code| {
            code.i32_const(NO_MEMORY);
        });
        self.give_back(code);
        self.call(code, self.function, |code| {
            code.local_get(0).local_get(self.align()).local_get(self.total());
        });
        code.local_tee(self.block()).if_(BlockType::Empty).local_get(self.block()).return_().end();
        code.local_get(0).i32_load(written).local_set(self.base());
        code.local_get(0);
        self.place(code, None);
        code.i32_store(written).i32_const(0);
    }

    /// Copies the block of parameter 0 into `block`, and frees it.
    fn move_block(&self, by: u32, code: &mut InstructionSink<'_>) {
        let before = MemArg { offset: header::BYTES.into(), align: 2, memory_index: 0 };
        code.local_tee(self.block()).i32_eqz().if_(BlockType::Empty).i32_const(0).return_().end();
        let size = |code: &mut InstructionSink<'_>| {
            code.local_get(0).i32_const(HEADER_BYTES.cast_signed()).i32_sub().i32_load(before);
        };
        code.local_get(self.block()).local_get(0);
        code.local_get(self.bytes());
        size(code);
        code.local_get(self.bytes());
        size(code);
        code.i32_lt_u().select().memory_copy(0, 0);
        code.local_get(0).i32_const(by.cast_signed()).call(self.calls.free);
        code.local_get(self.block());
    }

    fn reallocate(&self, by: u32, code: &mut InstructionSink<'_>) {
        code.local_get(1).local_set(self.bytes());
        self.set_align(code, None);
        code.local_get(0).if_(BlockType::Empty).local_get(0).call(self.calls.valid).end();
        self.size(code, Self::none);
        self.give_back(code);
        self.obtain(code, self.function, |code| {
            code.i32_const(0).local_get(self.total());
        });
        self.place(code, None);
        // With nothing before, that is the result.
        code.local_set(self.block());
        code.local_get(0).i32_eqz().if_(BlockType::Empty).local_get(self.block()).return_().end();
        code.local_get(self.block());
        self.move_block(by, code);
    }

    /// Has the allocator itself take a block that is not known, where such blocks may be.
    fn pass_unknown(&self, code: &mut InstructionSink<'_>) {
        let is_header = |code: &mut InstructionSink<'_>, shade: u8| {
            code.local_get(0).i32_const(HEADER_BYTES.cast_signed()).i32_sub().i32_const(3).i32_shr_u();
            code.i32_load(self.shadow.at(SHADOW_AT, 0)).i32_const(i32::from_le_bytes([shade; 4])).i32_eq();
        };
        is_header(code, shade::LIVE_HEADER);
        is_header(code, shade::FREED_HEADER);
        code.i32_or().i32_eqz().if_(BlockType::Empty);
        let params = self.params;
        self.call(code, self.function, |code| {
            for param in 0..params {
                code.local_get(param);
            }
        });
        code.return_().end();
    }

    fn reallocate_aligned(&self, allocate: u32, by: u32, code: &mut InstructionSink<'_>) {
        code.local_get(0).local_get(1).local_get(2).call(self.calls.layout);
        code.local_get(3).local_set(self.bytes());
        self.set_align(code, Some(2));
        self.size(code, Self::none);
        self.give_back(code);
        self.obtain(code, allocate, |code| {
            code.local_get(self.total()).local_get(self.align());
        });
        self.place(code, Some(2));
        self.move_block(by, code);
    }

    fn free(&self, has_layout: bool, by: u32, code: &mut InstructionSink<'_>) {
        code.local_get(0).i32_eqz().if_(BlockType::Empty).return_().end();
        if has_layout {
            code.local_get(0).local_get(1).local_get(2).call(self.calls.layout);
        }
        code.local_get(0).i32_const(by.cast_signed()).call(self.calls.free);
    }

    fn usable_size(&self, code: &mut InstructionSink<'_>) {
        let bytes = MemArg { offset: header::BYTES.into(), align: 2, memory_index: 0 };
        code.local_get(0).i32_eqz().if_(BlockType::Empty).i32_const(0).return_().end();
        code.local_get(0).call(self.calls.valid);
        code.local_get(0).i32_const(HEADER_BYTES.cast_signed()).i32_sub().i32_load(bytes);
    }
}

/// The wrapper of a function.
pub(crate) fn wrapper(shadow: Shadow, checked: &CheckedModule, function: u32, calls: &WrapperCalls) -> Function {
    let known = checked.functions[&function];
    let it = Wrapper { shadow, calls, function, params: known.params, known };
    let mut body = Function::new([(Wrapper::LOCALS, ValType::I32)]);
    let mut code = body.instructions();
    let may_be_unknown = matches!(known.role, CheckedRole::Free { .. } | CheckedRole::ReallocateAligned { .. });
    if may_be_unknown && !checked.has_layer_of_c {
        it.pass_unknown(&mut code);
    }
    match known.role {
        CheckedRole::Allocate { size, count, align, keeps_align } => {
            it.allocate(size, count, align, keeps_align, &mut code);
        }
        CheckedRole::AllocateInto => it.allocate_into(&mut code),
        CheckedRole::Reallocate => it.reallocate(known.freed_by(), &mut code),
        CheckedRole::ReallocateAligned { allocate } => it.reallocate_aligned(allocate, known.freed_by(), &mut code),
        CheckedRole::Free { has_layout } => it.free(has_layout, known.freed_by(), &mut code),
        CheckedRole::UsableSize => it.usable_size(&mut code),
    }
    code.end();
    body
}
