//! Stands for `libloading` where the Antithesis SDK depends on it, which looks for `libvoidstar.so` and asks it for random numbers.
//!
//! ```text
//! elsewhere     Library::new(path)                      libloading itself
//! WebAssembly   Library::new("…/libvoidstar.so")        a library of three functions, which is this file
//!               Library::new(anything else)             none is found
//! ```
//!
//! Without it the SDK draws from a generator of its own, which is seeded once: one decision, of which nothing can be changed without
//! changing all that follows. Here each of its numbers is drawn from the system when it is asked for.
//!
//! Invariant: lines go to the file of `ANTITHESIS_SDK_LOCAL_OUTPUT`, as they do without the library.

#[cfg(not(target_family = "wasm"))]
pub use real::*;

#[cfg(target_family = "wasm")]
mod voidstar;

#[cfg(target_family = "wasm")]
pub use voidstar::{Error, Library, Symbol};
