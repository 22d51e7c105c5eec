//! wasmtime lives here: load, instrument, compile, link, run.
//!
//! ```text
//! bytes ─load─▶ component ─instrument─▶ ─compile (cached)─▶ Program
//!                                                             │ with a Plan
//!                                                             ▼
//!                                    Session: Executor ──▶ Execution
//! ```
//!
//! # Example
//!
//! A component that is called from outside, brought back from checkpoints, and covered:
//!
//! ```
//! use fozzy_engine::{Build, CallError, Program, Reactor, RestoreMethod, Switches, load};
//! use fozzy_trace::plan::Inputs;
//! use fozzy_trace::source::SeededSource;
//! use fozzy_trace::{ExecutionEnd, Plan, Seed};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Load: a component, a core module, or the text of one. Here is an account that must not go below zero.
//! let loaded = load(
//!     br#"(component
//!         (core module $account
//!             (memory 1)
//!             (func (export "pay") (param i32) (result i32)
//!                 (i32.store (i32.const 0) (i32.sub (i32.load (i32.const 0)) (local.get 0)))
//!                 (if (i32.lt_s (i32.load (i32.const 0)) (i32.const 0)) (then unreachable))
//!                 (i32.load (i32.const 0)))
//!             (data (i32.const 0) "\64"))
//!         (core instance $it (instantiate $account))
//!         (func (export "pay") (param "amount" u32) (result u32) (canon lift (core func $it "pay"))))"#,
//!     None,
//! )?;
//!
//! // Compile: instrumented, as search wants it. With a cache it is compiled once.
//! let program = Program::build(loaded.component.into(), Switches::default(), &Build::fast(), None)?;
//!
//! // Instantiate on a simulated computer, whose open questions a seed answers.
//! let source = Box::new(SeededSource::new(Seed(7)));
//! let mut reactor = Reactor::start(program, Arc::new(Plan::default()), &Inputs::default(), source)?;
//!
//! // Call an exported function, by its type.
//! let mut pay = reactor.function::<(u32,), (u32,)>("pay")?;
//! assert_eq!(reactor.call(&mut pay, (30,))?, (70,));
//!
//! // Keep the state, continue, and return to it.
//! let rich = reactor.checkpoint()?;
//! assert_eq!(reactor.call(&mut pay, (60,))?, (10,));
//! assert_eq!(reactor.restore(rich)?, RestoreMethod::InPlace);
//!
//! // A trap ends the guest, until a checkpoint is restored: then a fresh instance gets its state.
//! reactor.clear_coverage();
//! let error = reactor.call(&mut pay, (71,)).expect_err("below zero");
//! assert!(matches!(error, CallError::Ended { end: ExecutionEnd::Trapped { .. }, .. }));
//!
//! // Coverage: one byte for each kept edge, read in place; `sites` says what they stand for.
//! let bytes: Vec<Vec<u8>> = reactor.coverage().map(|(_, bytes)| bytes.to_vec()).collect();
//! let sites = reactor.program().sites();
//! let hits = sites.hits(|module| &bytes[module.0 as usize], None);
//! assert_eq!((hits.len(), hits.iter().filter(|hit| **hit).count()), (3, 2), "entry, then, else");
//!
//! assert_eq!(reactor.restore(rich)?, RestoreMethod::Fresh);
//! assert_eq!(reactor.call(&mut pay, (70,))?, (0,));
//!
//! // Decisions: everything that was asked, and answered by the source, stands in the history.
//! assert_eq!(reactor.history().decisions, 0);
//! # Ok(())
//! # }
//! ```
//!
//! Invariants: the settings that make executions deterministic are in one function (`settings`);
//! `unsafe` is confined to `memory` and `cache`; an error of wasmtime never crosses this crate's border.
//! Not here: who searches (`fozzy-search`), verdicts (`fozzy-check`), files and processes of the real
//! machine (`fozzy-cli`).

mod compile;
mod entry;
mod memory;
mod reactor;
mod run;

pub use compile::build::Build;
pub use compile::cache::{Cache, CacheError, FileLook};
pub use compile::catalogue::Catalogue;
pub use compile::compiler::{CompileFailure, CompileJob, IsolatedCompiler, run_job};
pub use compile::link::{LinkError, stands_for};
pub use compile::load::{LoadError, LoadedProgram, PROGRAM_BYTES_MAX, SourceKind, load, load_shared};
pub use compile::ports::{Port, Ports};
pub use compile::preview1_module::{is_preview1, opens_preview1_sockets};
pub use compile::program::{Program, ProgramError};
pub use compile::settings::{STACK_BYTES, Switches, WASMTIME_VERSION, with_stack_for_guests};
pub use entry::entry_point::{EntryPoint, FirstInputs, InputDelivery, InputUse, STATEFUL};
pub use entry::single_call::written;
/// Standard input that is read when a guest looks at it.
pub use fozzy_host::{FeedEvent, InputFeed, Interrupt, InterruptFlag, LazyInput, OutputTee, RecordedDialogue};
/// Edges of a program, and how they are counted; see [`Reactor::coverage`].
pub use fozzy_instrument::{CoverageMode, ModuleChoice, Sites};
/// Which output a guest writes to, for those who watch it.
pub use fozzy_world::OutputKind;
pub use reactor::fuzz_executor::{
    CallOutcome, ExecutorError, ExportedFunctions, FuzzExecutor, functions, functions_at_rest,
};
/// A model of a user's own, to judge histories by.
pub use reactor::model_component::{MODEL_INTERFACE, ModelComponent};
pub use reactor::walker::{Walker, WalkerError};
pub use reactor::{
    CHECKPOINT_BYTES_DEFAULT, CallError, CheckpointUsage, Reactor, ReactorError, ReactorFunction, RestoreMethod,
    TrackerKind,
};
pub use run::coverage::{ModuleBytes, ProgramCoverage};
pub use run::debug::{DebugFrame, DebugMoment, DebugPlace, DebugValue, Debugger, Position, Resume, Stop, StopReason};
pub use run::debugged::DebuggedRun;
pub use run::heap::{HeapProfile, HeapSnapshot};
pub use run::inspect_at::{ExecutionView, GuestView};
pub use run::profile::{PathCounts, PathStep, ProgramProfile};
pub use run::session::{HeapObserver, Session, SessionError};
pub use run::trap::{STOPPED_AT_BLOCK, stopped_at_block};
