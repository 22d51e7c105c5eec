//! Compiling somewhere else: in a process that has bounds of time and memory.
//!
//! ```text
//! compile ─▶ cache miss ─▶ IsolatedCompiler ──CompileJob + component──▶ another process ─▶ run_job ─▶ cache
//!               ▲                                                                                      │
//!               └───────────────────────────── code, by its key ◀──────────────────────────────────────┘
//! ```
//!
//! A compiler can take minutes and gigabytes for some kilobytes of an untrusted program: register allocation of nested
//! loops with many live values is cubic. In a process of its own, this ends with an error, and neither exhausts the
//! memory of the machine nor crashes the command.
//!
//! Invariant: what is compiled is the same, wherever it is; the code goes through the cache with its checksums.
//! Not here: which process, and its bounds (`fozzy-campaign`).

use crate::compile::build::Build;
use crate::compile::cache::Cache;
use crate::compile::settings::{self, Switches};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use wasmtime::component::Component;

/// How an instrumented component is compiled, and where its code goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompileJob {
    /// See [`Switches::canonical_nans`].
    pub canonical_nans: bool,
    /// See [`Switches::memory_faults`].
    pub memory_faults: bool,
    /// See [`Build::fuel`].
    pub fuel: bool,
    /// See [`Build::positions`].
    pub positions: bool,
    /// The folder of the cache.
    pub cache: PathBuf,
    /// Under which key the code is kept.
    pub key: String,
}

/// Why a component was not compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileFailure {
    /// The compiler refused it; in its words.
    #[error("compiling the program: {0}")]
    Refused(String),
    /// It reached a bound, which a program of its size has no reason to reach.
    #[error("compiling the program takes more than {0}, far more than programs of its size do")]
    Bound(String),
    /// The system ended the compiler, which has no bound that does.
    #[error(
        "the process that compiles the program was killed (SIGKILL), as the system does when the memory of the machine or container is used \
         up: the program was not refused; compile with more memory, or with RAYON_NUM_THREADS=1"
    )]
    Killed,
    /// The compiler ended by a fault of its own.
    #[error("the compiler of this program ended early: {0}")]
    Crashed(String),
    /// No process could be had for it.
    #[error("cannot compile in a process of its own: {0}")]
    Unavailable(String),
}

/// Compiles a component in another process.
pub trait IsolatedCompiler: std::fmt::Debug + Send + Sync {
    /// Compiles the instrumented `component` into the cache.
    ///
    /// # Errors
    /// When it cannot be compiled within the bounds.
    fn compile(&self, job: &CompileJob, component: &[u8]) -> Result<(), CompileFailure>;
}

/// Does such a job in this process: what the other process calls.
///
/// # Errors
/// When the component cannot be compiled.
pub fn run_job(job: &CompileJob, component: &[u8]) -> Result<(), CompileFailure> {
    let refused =
        |error: &wasmtime::Error| CompileFailure::Refused(crate::compile::load::one_line(&format!("{error:#}")));
    let build = Build { fuel: job.fuel, positions: job.positions, ..Build::default() };
    let CompileJob { canonical_nans, memory_faults, .. } = *job;
    let switches = Switches { canonical_nans, memory_faults, ..Switches::default() };
    let engine = settings::engine(&switches, &build).map_err(|error| refused(&error))?;
    let compiled = Component::from_binary(&engine, component).map_err(|error| refused(&error))?;
    let cache = Cache::open(&job.cache).map_err(|error| CompileFailure::Unavailable(error.to_string()))?;
    // Code that cannot be cached is compiled again by the caller, now that its cost is known to be bounded.
    cache.keep_code(&job.key, &compiled);
    Ok(())
}
