//! What libfuzzer-sys links in place of libFuzzer, for the sandbox; compiled with each cargo-fuzz target, and no module of this one.
//!
//! It has the `main` that the target has not, and makes the heap as large as that of a process that has run for a while: a
//! memory that grows and shrinks again is the dearest part of an execution.

#![no_std]
#![allow(unsafe_code, reason = "the allocator of C is called")]

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut u8;
    fn free(allocated: *mut u8);
}

#[used]
#[unsafe(link_section = ".init_array")]
static MAKE_ROOM: extern "C" fn() = make_room;

extern "C" fn make_room() {
    // SAFETY: what was allocated, or nothing, is freed once.
    unsafe { free(core::hint::black_box(malloc(4 << 20))) }
}

/// Not called: the target is entered by its function.
#[unsafe(no_mangle)]
pub extern "C" fn main(_: i32, _: *const *const u8) -> i32 {
    0
}
