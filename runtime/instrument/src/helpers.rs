//! Functions that are appended to a module, because what they do is too long to stand wherever it is needed.
//!
//! ```text
//! functions     imports, the module's own, helpers in the order of their first use, wrappers
//! ```
//!
//! Invariants: a helper is only there when something calls it. None of them can trap. They call nothing of the original,
//! so that the depth limit need not count them: one more small frame on top of a counted one. A wrapper calls the function that it
//! stands for, and nothing but the canonical ABI calls a wrapper.

use crate::side::{Layout, MARKED_PAGE_BITS};
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
}

impl Helper {
    /// Its parameters and results.
    pub(crate) fn signature(self) -> (&'static [ValType], &'static [ValType]) {
        const WORDS: [ValType; 4] = [ValType::I32; 4];
        match self {
            Helper::Range => (&WORDS[..2], &[]),
            Helper::Bulk => (&WORDS[..3], &WORDS[..3]),
            Helper::Realloc(_) => (&WORDS[..4], &WORDS[..1]),
        }
    }

    /// Its body. `range` is the index of [`Helper::Range`].
    pub(crate) fn body(self, memory: u32, layout: &Layout, range: u32) -> Function {
        match self {
            Helper::Range => mark_range(memory, layout),
            Helper::Bulk => {
                let mut function = Function::new([]);
                let mut code = function.instructions();
                code.local_get(0).local_get(2).call(range);
                code.local_get(0).local_get(1).local_get(2).end();
                function
            }
            Helper::Realloc(original) => {
                let mut function = Function::new([]);
                let mut code = function.instructions();
                code.local_get(0).local_get(1).local_get(2).local_get(3).call(original).local_tee(0);
                code.local_get(3).call(range).local_get(0).end();
                function
            }
        }
    }

    /// The helper that this one calls.
    pub(crate) fn uses(self) -> Option<Helper> {
        match self {
            Helper::Range => None,
            Helper::Bulk | Helper::Realloc(_) => Some(Helper::Range),
        }
    }
}

/// What reaches past the end of a 32-bit memory is left out; the operation traps then.
fn mark_range(memory: u32, layout: &Layout) -> Function {
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
