//! Deterministic runs of WebAssembly programs, as a library.
//!
//! Fozzy runs a program - any that compiles to WebAssembly - in a simulated computer: every clock, random number, file and
//! connection is answered by the simulation. The same program, the same [`Plan`] and the same seed give the same bytes, on every
//! machine. So a run can be recorded as a [`Trace`], replayed, made smaller and handed on.
//!
//! ```text
//! Program ─run(plan, seed)─▶ Run ─trace─▶ Trace ─┬─ replay   the same run once more, compared
//!    ├─ fuzz(plan, options)     inputs that fail │─ check    is it whole, and the run that happens here?
//!    └─ explore(plan, options)  ways that fail  ─┴─ shrink   the smallest run with the same failure
//! ```
//!
//! # Run a program
//!
//! ```
//! use fozzy::{Plan, Program, Status};
//!
//! let program = Program::from_bytes("letters.wat", br#"(module
//!   (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
//!   (memory (export "memory") 1)
//!   (func (export "_start") (drop (call $random (i32.const 8) (i32.const 8)))))"#)?;
//! let first = program.run(&Plan::new(), 7)?;
//! let again = program.run(&Plan::new(), 7)?;
//! assert_eq!(first.status(), Status::Pass);
//! assert_eq!(first.trace().to_bytes()?, again.trace().to_bytes()?);
//! # Ok::<(), fozzy::Error>(())
//! ```
//!
//! Histories of other systems - of Jepsen, of Porcupine, of one's own tests - are judged by [`history`].
//!
//! The library asks nothing of the machine except the compile cache of the command (`FOZZY_CACHE_DIR`), and reads and
//! writes only the files that its caller names. With the feature `live`, a run may ask the real computer too, if its
//! plan and its caller both allow it (`Plan::ask_real_computer`).

mod check;
mod error;
mod explore;
mod fuzz;
pub mod history;
mod plan;
mod program;
mod shrink;
mod trace;

pub use check::{Check, CheckReport};
pub use error::Error;
pub use explore::{ExploreOptions, ExploreReport};
pub use fuzz::{Finding, FuzzOptions, FuzzReport};
pub use plan::Plan;
pub use program::{Failure, Program, Run, Status};
pub use shrink::{ShrinkReport, Size};
pub use trace::{Replay, Trace};
