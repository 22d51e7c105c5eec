//! Probe: a guest with one behaviour for each first argument, so that a test names exactly what it wants to see.
//!
//! ```text
//! probe exit 3            ends with code 3
//! probe sleep-hour        sleeps, then prints how many seconds the clock says have passed
//! ```
//!
//! Built unchanged for wasm32-wasip1 and wasm32-wasip2. It has no dependencies: what it asks of the system goes through `std`, or
//! through the C library that `std` links anyway. A name that is not in [`MODES`] ends with code 2 and the list of all names.

mod call;
mod clock;
mod end;
mod file;
mod volume;

use std::fmt::Display;
use std::str::FromStr;

/// What follows the mode on the command line.
type Arguments = [String];

/// One behaviour. It returns, or ends the program in a way of its own.
type Mode = fn(&Arguments);

/// Every behaviour: its name, and what it does with the arguments after the name.
const MODES: &[(&str, Mode)] = &[
    ("hello", call::hello),
    ("args", call::args),
    ("env", call::env),
    ("stdin", call::stdin),
    ("stderr", call::stderr),
    ("random", call::random),
    ("hashmap", call::hashmap),
    ("thread", call::thread),
    ("connect", call::connect),
    ("time", clock::time),
    ("sleep-hour", clock::sleep_hour),
    ("poll-loop", clock::poll_loop),
    ("panic", end::panic),
    ("exit", end::exit),
    ("abort", end::abort),
    ("unreachable", end::unreachable),
    ("oob", end::out_of_bounds),
    ("divzero", end::divide_by_zero),
    ("recurse", end::recurse),
    ("recurse-big", end::recurse_big),
    ("loop", end::endless_loop),
    ("files", file::files),
    ("read", file::read),
    ("write", file::write),
    ("ls", file::list),
    ("stat", file::stat),
    ("alloc", volume::alloc),
    ("calls", volume::calls),
    ("draws", volume::draws),
    ("writes", volume::writes),
    ("stdout-flood", volume::stdout_flood),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mode = arguments.first().map_or("", String::as_str);
    match MODES.iter().find(|(name, _)| *name == mode) {
        Some((_, run)) => run(&arguments[1..]),
        None => {
            let names: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
            eprintln!("probe: no mode {mode:?}; one of: {}", names.join(" "));
            std::process::exit(2);
        }
    }
}

/// The argument at `index` as a number or text; without it, or with one that does not parse, the program ends with code 2.
fn argument<T: FromStr>(arguments: &Arguments, index: usize, what: &str) -> T {
    arguments
        .get(index)
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| {
            eprintln!("probe: expected {what} as argument {}", index + 1);
            std::process::exit(2);
        })
}

/// The value, or the error on stderr and exit code 1.
fn or_exit<T, E: Display>(result: Result<T, E>, what: &str) -> T {
    result.unwrap_or_else(|error| {
        eprintln!("probe: {what}: {error}");
        std::process::exit(1);
    })
}

/// Fills `bytes` from the system's secure random source, as the `getrandom` crate and C programs do.
fn entropy(bytes: &mut [u8]) {
    unsafe extern "C" {
        fn getentropy(buffer: *mut u8, length: usize) -> i32;
    }
    /// POSIX refuses to fill more than this at once.
    const GETENTROPY_BYTES_MAX: usize = 256;
    for chunk in bytes.chunks_mut(GETENTROPY_BYTES_MAX) {
        // SAFETY: the pointer and the length describe `chunk`, which is writable for the whole call.
        let status = unsafe { getentropy(chunk.as_mut_ptr(), chunk.len()) };
        assert_eq!(status, 0, "getentropy is refused");
    }
}
