//! wasmtime lives here: load, instrument, compile, link, run.
//!
//! ```text
//! bytes ─load─▶ component ─instrument─▶ ─compile (cached)─▶ Program
//!                                                             │ with a Plan
//!                                                             ▼
//!                                    Session: Executor ──▶ Execution
//! ```
//!
//! Invariants: the settings that make executions deterministic are in one function (`settings`);
//! `unsafe` is confined to `memory` and `cache`; an error of wasmtime never crosses this crate's border.
//! Not here: who searches (`fozzy-search`), verdicts (`fozzy-check`), files and processes of the real
//! machine (`fozzy-cli`).

mod backtrace;
mod build;
mod cache;
mod componentize;
mod coverage;
mod ending;
mod load;
mod memory;
mod ports;
mod program;
mod reactor;
mod schedule;
mod session;
mod settings;
mod sides;

pub use build::Build;
pub use cache::{Cache, CacheError};
pub use coverage::Covered;
/// Standard input that is read when a guest looks at it.
pub use fozzy_host::{LazyInput, Tee};
/// Which output a guest writes to, for those who watch it.
pub use fozzy_world::OutputKind;
pub use load::{LoadError, Loaded, PROGRAM_BYTES_MAX, SourceKind, load};
pub use ports::{Port, Ports};
pub use program::{Program, ProgramError};
pub use reactor::{
    CHECKPOINT_BYTES_DEFAULT, CallError, CheckpointId, Function, Holdings, Reactor, ReactorError, Restored, TrackerKind,
};
pub use session::{Session, SessionError};
pub use settings::{Switches, WASMTIME_VERSION};
