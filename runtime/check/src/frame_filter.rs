//! Which frames of a stack belong to the target's own code.
//!
//! A failure is identified by where the target's code was, not by the library function that noticed it:
//! ten callers of `unwrap` are ten failures.

use fozzy_trace::outcome::StackFrame;

/// Paths in debug information that are a toolchain's own sources.
const LIBRARY_PATHS: &[&str] = &[
    "/rustc/",
    "library/core/",
    "library/std/",
    "library/alloc/",
    "wasi-libc",
    "libc-top-half",
    "libc-bottom-half",
    "/dlmalloc",
    "guest-sdk/src/",
];

/// Beginnings of function names that belong to a runtime, for programs without debug information.
const LIBRARY_FUNCTIONS: &[&str] = &[
    "core::",
    "std::",
    "alloc::",
    "<core::",
    "<std::",
    "<alloc::",
    "__rust",
    "rust_",
    "_start",
    "__main_",
    "__wasm_call_ctors",
    "__wasi",
    "__original_main",
    "wasi:",
    "abort",
    "__assert_fail",
    "dlmalloc",
    "malloc",
    "free",
    "realloc",
    "calloc",
    "memcpy",
    "memmove",
    "memset",
    "runtime.",
    "cabi_realloc",
];

/// What a function without a name is called.
const UNNAMED: &str = "wasm-function[";

/// Whether the function has a name. Those that linkers and adapters put between have none.
pub(crate) fn is_named(frame: &StackFrame) -> bool {
    !frame.function.starts_with(UNNAMED)
}

/// Whether a frame is the target's own code.
#[must_use]
pub fn is_own(frame: &StackFrame) -> bool {
    let library_path = |file: &String| LIBRARY_PATHS.iter().any(|part| file.contains(part));
    let library_function = LIBRARY_FUNCTIONS.iter().any(|start| frame.function.starts_with(start));
    is_named(frame) && !library_function && !frame.source.file.as_ref().is_some_and(library_path)
}
