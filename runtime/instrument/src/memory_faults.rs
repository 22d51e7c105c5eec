//! Has a program ask whether it may have memory, so that planned faults can refuse it.
//!
//! ```text
//! malloc       none is open? ─▶ its wrapper ─▶ ask ─▶ no:  0
//!                                              └────▶ yes: malloc once more, which finds that one is open
//! memory.grow  ask ─▶ no: as if for 2^32 - 1 pages, which no memory has
//! ```
//!
//! How it asks is [`MemoryRequest`]: by growth of one more memory, which never grows. So the program needs no import, and there is no
//! state beside a global that says that an allocator is open.
//!
//! What may not say that it has no memory is left alone: `operator new`, `cabi_realloc`, allocators of collectors. They ask allocators of C or
//! Rust below them, or for pages.
//!
//! Invariants: a program that is never refused does what it does without. Blocks of no bytes and growth by no pages are not asked for.
//! Not here: allocators that are left by an exception, after which none asks any more; memories with addresses of 64 bits.

use crate::allocators::AllocatorRole;
use fozzy_trace::MemoryRequest;
use wasm_encoder::{BlockType, Function, InstructionSink, MemoryType, ValType};

/// `ENOMEM` of WASI.
const NO_MEMORY: i32 = 48;

/// Where code that asks finds things.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestPlaces {
    /// Index of the memory that it grows.
    pub(crate) memory: u32,
    /// Index of the global that says whether an allocator is open.
    pub(crate) open: u32,
}

/// The type of the memory.
pub(crate) fn memory() -> MemoryType {
    let maximum = Some(u64::from(MemoryRequest::MEMORY_BYTES_MAX));
    MemoryType { minimum: 0, maximum, memory64: false, shared: false, page_size_log2: Some(0) }
}

/// What a function of an allocator begins with: its wrapper, unless one is open.
pub(crate) fn divert(places: RequestPlaces, params: u32, wrapper: u32, code: &mut InstructionSink<'_>) {
    code.global_get(places.open).i32_eqz().if_(BlockType::Empty);
    for param in 0..params {
        code.local_get(param);
    }
    code.call(wrapper).return_().end();
}

/// `[request] -> [whether it is refused]`
fn ask(places: RequestPlaces, code: &mut InstructionSink<'_>) {
    code.memory_grow(places.memory).i32_const(-1).i32_eq();
}

/// The wrapper of a function of an allocator with these parameters.
pub(crate) fn wrapper(places: RequestPlaces, function: u32, params: u32, role: AllocatorRole) -> Function {
    let bytes = params;
    let mut body = Function::new([(1, ValType::I32)]);
    let mut code = body.instructions();
    let (size, count, refused) = match role {
        AllocatorRole::Allocate { size, count } => (size, count, 0),
        AllocatorRole::AllocateInto { size } => (size, None, NO_MEMORY),
        AllocatorRole::Reallocate { size, .. } => (size, None, 0),
        _ => unreachable!("it may not fail"),
    };
    code.local_get(size);
    if let Some(count) = count {
        code.local_get(count).i32_mul();
    }
    code.local_tee(bytes).if_(BlockType::Empty);
    let most = MemoryRequest::BYTES_MAX.cast_signed();
    code.local_get(bytes).i32_const(most).local_get(bytes).i32_const(most).i32_lt_u().select();
    code.i32_const(1).i32_add();
    ask(places, &mut code);
    code.if_(BlockType::Empty).i32_const(refused).return_().end().end();
    code.i32_const(1).global_set(places.open);
    for param in 0..params {
        code.local_get(param);
    }
    code.call(function).i32_const(0).global_set(places.open).end();
    body
}

/// `(pages) -> the same, or more than there can be`: in front of growth.
pub(crate) fn growth(places: RequestPlaces) -> Function {
    let mut body = Function::new([]);
    let mut code = body.instructions();
    code.local_get(0).i32_const(1).i32_sub().i32_const(MemoryRequest::PAGES_MAX.cast_signed()).i32_ge_u();
    code.if_(BlockType::Empty).local_get(0).return_().end();
    code.local_get(0).i32_const(MemoryRequest::GROWTH.cast_signed()).i32_or();
    ask(places, &mut code);
    code.if_(BlockType::Result(ValType::I32)).i32_const(-1).else_().local_get(0).end().end();
    body
}

#[cfg(test)]
mod tests {
    use crate::{Options, instrument};

    #[test]
    fn what_is_written_is_valid_with_whatever_else_is_put_in() {
        let text = r#"(component (core module (memory 1) (global $sp (mut i32) (i32.const 4096))
            (func $malloc (param i32) (result i32) i32.const 1 memory.grow if i32.const 1 return end i32.const 8)
            (func $calloc (param i32 i32) (result i32) local.get 0 return_call $malloc)
            (func $realloc (param i32 i32) (result i32) i32.const 1 call $malloc)
            (func $posix_memalign (param i32 i32 i32) (result i32) i32.const 0)
            (func $free (param i32))
            (func $_Znwm (param i32) (result i32) local.get 0 call $malloc)
            (func $cabi_realloc (param i32 i32 i32 i32) (result i32) local.get 3 call $malloc)
            (func (export "f") (param i32) (result i32) global.get 0 i32.const 16 i32.sub global.set 0 local.get 0 memory.grow)))"#;
        let component = wat::parse_str(text).expect("text");
        let plain = Options { memory_faults: true, ..Options::default() };
        let counts = crate::CoverageMode::Counters;
        for (options, side_memories) in [
            (plain.clone(), 0),
            (Options { depth: false, ..plain.clone() }, 0),
            (Options { memcheck: true, ..plain.clone() }, 0),
            (Options { access: true, coverage: counts, memcheck: true, ..plain.clone() }, 1),
            (Options { profile: true, heap: Some(Vec::new()), ..plain.clone() }, 1),
            (Options { positions: true, stores: true, ..plain.clone() }, 0),
        ] {
            let found = instrument(&component, &options).expect("it is a component");
            let features = crate::features() | wasmparser::WasmFeatures::CUSTOM_PAGE_SIZES;
            let mut validator = wasmparser::Validator::new_with_features(features);
            validator.validate_all(&found.component).expect("what is put in is valid");
            assert_eq!(found.side_memories.len(), side_memories, "{options:?}");
            assert!(
                found.component.len()
                    > instrument(&component, &Options { memory_faults: false, ..options })
                        .expect("it is one")
                        .component
                        .len()
            );
        }
    }
}
