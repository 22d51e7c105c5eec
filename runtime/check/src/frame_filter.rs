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
    "guest-sdk/antithesis/",
    "/fozzy-sdk-",
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
    "operator new",
];

/// Functions of C's library and of WASI's bindings that wait, read or write, as programs without debug information name them.
const LIBRARY_CALLS: &[&str] = &[
    "clock_nanosleep",
    "nanosleep",
    "usleep",
    "sleep",
    "poll",
    "ppoll",
    "select",
    "pselect",
    "read",
    "readv",
    "write",
    "writev",
    "fread",
    "fwrite",
    "fflush",
    "fgets",
    "fputs",
    "getline",
    "getdelim",
    "fgetc",
    "getc",
    "puts",
    "printf",
    "fprintf",
    "vfprintf",
    "poll_poll",
    "exit",
];

/// Beginnings of such names: WASI's own functions, their bindings, and the lower half of stdio.
const LIBRARY_CALL_PREFIXES: &[&str] = &[
    "args_",
    "environ_",
    "clock_res_get",
    "clock_time_get",
    "fd_",
    "path_",
    "poll_oneoff",
    "proc_exit",
    "random_get",
    "sched_yield",
    "sock_",
    "wasi::",
    "wasi_snapshot_preview1",
    "monotonic_clock_",
    "wall_clock_",
    "poll_method_pollable_",
    "streams_method_",
    "__stdio_",
    "__stdout_write",
    "__fwritex",
    "__uflow",
    "__toread",
    "__towrite",
    "__clock_nanosleep",
];

/// Where crates of a registry are unpacked.
const REGISTRY_PATH: &str = "/registry/src/";

/// Where Go's runtime is.
const GO_RUNTIME_PATH: &str = "/src/runtime/";

/// Whether a path of a source is the project's own: not of a toolchain, and not of a crate that it depends on.
pub(crate) fn is_project_path(path: &str) -> bool {
    let of_go = path.contains(GO_RUNTIME_PATH) && path.ends_with(".go");
    !of_go && !path.contains(REGISTRY_PATH) && !LIBRARY_PATHS.iter().any(|part| path.contains(part))
}

/// Parts of the names of functions that end a program because there is no memory for it: Rust's handlers, the allocation that
/// the component model asks of a guest, C++'s `operator new`.
const ALLOCATION_FAILURES: &[&str] =
    &["handle_alloc_error", "alloc_error_handler", "rust_oom", "rdl_oom", "cabi_realloc", "operator new", "bad_alloc"];

/// What a function without a name is called.
const UNNAMED: &str = "wasm-function[";

/// Whether the function has a name. Those that linkers and adapters put between have none.
pub(crate) fn is_named(frame: &StackFrame) -> bool {
    !frame.function.starts_with(UNNAMED)
}

/// Whether a frame is the target's own code, as people are shown it: neither of a library nor of a crate that it depends on.
#[must_use]
pub fn is_own(frame: &StackFrame) -> bool {
    let name = frame.function.as_str();
    if frame.source.file.as_deref().is_some_and(|path| !is_project_path(path)) {
        return false;
    }
    let is_call = || LIBRARY_CALLS.contains(&name) || LIBRARY_CALL_PREFIXES.iter().any(|start| name.starts_with(start));
    names_failure(frame) && !(frame.source.file.is_none() && is_call())
}

/// Whether a failure can be named after a frame. Names of failures stand in traces, so this rule is that of the first version: which
/// functions only wait, `is_own` knows better.
pub(crate) fn names_failure(frame: &StackFrame) -> bool {
    let library_path = |file: &String| LIBRARY_PATHS.iter().any(|part| file.contains(part));
    let library_function = LIBRARY_FUNCTIONS.iter().any(|start| frame.function.starts_with(start));
    is_named(frame) && !library_function && !frame.source.file.as_ref().is_some_and(library_path)
}

/// Which frames of a stack, innermost first, an attribute of the SDK has generated around the target's code: those at the
/// position of the export that was called, and what lies between them.
///
/// ```text
/// power_fails   src/lib.rs:103:13
/// run           src/lib.rs:74:1      generated: `#[scenario]` stands there
/// step<Cache>   guest-sdk/…
/// step          src/lib.rs:74:1      generated
/// fozzy:scenario/stateful#step  74:1 generated
/// ```
#[must_use]
pub fn generated_frames(backtrace: &[StackFrame]) -> Vec<bool> {
    let mut generated = vec![false; backtrace.len()];
    let is_export =
        |frame: &StackFrame| frame.function.starts_with("fozzy:scenario/") || frame.function.starts_with("export_");
    let Some(export) = backtrace.iter().rposition(is_export) else { return generated };
    let attribute = &backtrace[export].source;
    for index in (0..backtrace.len()).rev() {
        let frame = &backtrace[index];
        let is_attribute = frame.source == *attribute || index >= export;
        // A function of several has an attribute of its own, whose closure calls it.
        let is_closure = frame.function.starts_with("{closure#") && generated.get(index + 1) == Some(&true);
        if !is_attribute && !is_closure && names_failure(frame) {
            break;
        }
        generated[index] = true;
    }
    generated
}

/// Whether the library function that ended the program did so because an allocation was refused.
pub(crate) fn is_refused_allocation(backtrace: &[StackFrame]) -> bool {
    let mut library = backtrace.iter().take_while(|frame| !names_failure(frame));
    library.any(|frame| ALLOCATION_FAILURES.iter().any(|part| frame.function.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::outcome::SourceLocation;

    fn frame(function: &str, file: &str, line: u32) -> StackFrame {
        let source = SourceLocation { file: Some(file.to_owned()), line: Some(line), col: Some(1) };
        StackFrame { module: "m".to_owned(), function: function.to_owned(), offset: 0, source }
    }

    #[test]
    fn frames_of_attributes_are_told_from_the_programs_own() {
        let scenario = [
            frame("check", "/p/src/lib.rs", 31),
            frame("power_fails", "/p/src/lib.rs", 103),
            frame("run", "/p/src/lib.rs", 74),
            frame("step<Cache>", "/x/guest-sdk/src/scenario.rs", 180),
            frame("{closure#0}", "/p/src/lib.rs", 74),
            frame("map", "/rustc/5/library/core/src/option.rs", 9),
            frame("step", "/p/src/lib.rs", 74),
            frame("fozzy:scenario/stateful@0.1.0#step", "/p/src/lib.rs", 74),
        ];
        assert_eq!(generated_frames(&scenario), [false, false, true, true, true, true, true, true]);
        let fuzz = [
            frame("parse", "/p/src/lib.rs", 23),
            frame("{closure#0}", "/p/src/lib.rs", 53),
            frame("run", "/p/src/lib.rs", 40),
            frame("export_run", "/p/src/lib.rs", 40),
        ];
        assert_eq!(generated_frames(&fuzz), [false, true, true, true]);
        let plain = [frame("serve", "/p/src/main.rs", 3), frame("main", "/p/src/main.rs", 9)];
        assert_eq!(generated_frames(&plain), [false, false]);
    }

    #[test]
    fn what_waits_for_a_program_without_debug_information_is_none_of_its_own_functions() {
        let bare = |function: &str| StackFrame { source: SourceLocation::default(), ..frame(function, "", 1) };
        for function in
            ["poll_oneoff", "clock_nanosleep", "sleep", "fd_read", "wasi::lib_generated::poll_oneoff", "read"]
        {
            assert!(!is_own(&bare(function)), "{function}");
        }
        for function in ["wait_long", "reader", "app::poll", "sleeper", "main"] {
            assert!(is_own(&bare(function)), "{function}");
        }
        assert!(is_own(&frame("read", "/p/src/main.rs", 3)), "a project may name its functions so");
        let of_tokio = frame("block_on", "/home/me/.cargo/registry/src/index-1949/tokio-1.48.0/src/runtime.rs", 3);
        assert!(!is_own(&of_tokio) && names_failure(&of_tokio), "{of_tokio:?}");
        assert!(names_failure(&bare("poll_oneoff")), "names of failures stay what they are");
    }

    #[test]
    fn the_projects_paths_are_neither_the_toolchains_nor_those_of_its_dependencies() {
        assert!(is_project_path("/home/me/kv/src/lib.rs"));
        assert!(!is_project_path("/home/me/.cargo/registry/src/index-1949cf8c6b5b557f/bytes-1.9.0/src/lib.rs"));
        assert!(!is_project_path("/rustc/5/library/core/src/option.rs"));
    }
}
