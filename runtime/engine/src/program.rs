//! A program, instrumented and compiled.
//!
//! ```text
//! component ─┬─▶ in the cache? ── yes ─▶ code
//!            └─ no ─▶ instrument ─▶ compile ─▶ code, kept in the cache
//! ```
//!
//! Maps and symbols are made only when a backtrace is asked for: a warm start reads code and nothing else.
//!
//! Invariant: imports that nobody offers are refused here, by name, before anything runs.

use crate::backtrace::Symbolizer;
use crate::cache::Cache;
use crate::scenario::Scenarios;
use crate::settings::{self, STACK_SLOTS, Switches};
use fozzy_host::Host;
use fozzy_trace::Digest;
use std::sync::{Arc, OnceLock};
use wasmtime::Engine;
use wasmtime::component::{Component, InstancePre, Linker};

/// A component that is ready to run under one set of switches.
#[derive(Clone)]
pub struct Program {
    inner: Arc<Inner>,
}

struct Inner {
    original: Arc<[u8]>,
    switches: Switches,
    engine: Engine,
    instance: InstancePre<Host>,
    entries: Entries,
    symbols: OnceLock<Symbolizer>,
    cache: Option<Cache>,
}

/// The full names of the exported interfaces by which a program can be called.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    /// `wasi:cli/run`.
    pub(crate) run: Option<String>,
    /// `wasi:http/incoming-handler`.
    pub(crate) handler: Option<String>,
    /// `fozzy:scenario/…`.
    pub(crate) scenario: Scenarios,
}

/// The component cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It imports what the sandbox does not offer.
    #[error("the program imports what the sandbox does not offer: {0}")]
    UnknownImports(String),
    /// It exports nothing to run.
    #[error(
        "the program has no entry point: expected an export `wasi:cli/run@0.2`, `wasi:http/incoming-handler@0.2` or one of `fozzy:scenario@0.1`, found {0}; a library or reactor has nothing to run"
    )]
    NoEntry(String),
    /// The rewriter refused it.
    #[error(transparent)]
    Instrument(#[from] fozzy_instrument::Error),
    /// wasmtime refused it.
    #[error("{what}: {why}")]
    Engine {
        /// What was being done.
        what: &'static str,
        /// wasmtime's words, in one line.
        why: String,
    },
}

impl Program {
    /// Instruments and compiles a validated component, or takes it from the cache.
    ///
    /// # Errors
    /// When it imports what is not offered, exports nothing to run, or cannot be compiled.
    pub fn new(component: Arc<[u8]>, switches: Switches, cache: Option<&Cache>) -> Result<Program, ProgramError> {
        let engine = settings::engine(switches).map_err(|error| refused("starting wasmtime", &error))?;
        Program::on(engine, component, switches, cache)
    }

    /// Another program for the same run.
    ///
    /// # Errors
    /// As of [`Program::new`].
    pub fn beside(&self, component: Arc<[u8]>) -> Result<Program, ProgramError> {
        Program::on(self.inner.engine.clone(), component, self.inner.switches, self.inner.cache.as_ref())
    }

    fn on(
        engine: Engine,
        component: Arc<[u8]>,
        switches: Switches,
        cache: Option<&Cache>,
    ) -> Result<Program, ProgramError> {
        let compiled = compiled(&engine, &component, switches, cache)?;
        let faults = fozzy_host::refused_imports(&engine, &compiled);
        if !faults.is_empty() {
            let names: Vec<String> = faults.iter().map(|fault| format!("`{}` ({})", fault.import, fault.why)).collect();
            return Err(ProgramError::UnknownImports(names.join(", ")));
        }
        let entries = entry_points(&engine, &compiled)?;
        let mut linker: Linker<Host> = Linker::new(&engine);
        fozzy_host::add_to_linker(&mut linker).map_err(|error| refused("defining the host", &error))?;
        let instance = linker.instantiate_pre(&compiled).map_err(|error| refused("linking the program", &error))?;
        let symbols = OnceLock::new();
        let cache = cache.cloned();
        let inner = Inner { original: component, switches, engine, instance, entries, symbols, cache };
        Ok(Program { inner: Arc::new(inner) })
    }

    /// The component as it was before instrumentation.
    #[must_use]
    pub fn component(&self) -> &Arc<[u8]> {
        &self.inner.original
    }

    /// The switches that it was compiled under.
    #[must_use]
    pub fn switches(&self) -> Switches {
        self.inner.switches
    }

    /// Digest of everything of the engine that results depend on.
    #[must_use]
    pub fn configuration(&self) -> Digest {
        self.inner.switches.configuration()
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    pub(crate) fn instance(&self) -> &InstancePre<Host> {
        &self.inner.instance
    }

    pub(crate) fn entries(&self) -> &Entries {
        &self.inner.entries
    }

    /// Whether it can be run by itself; otherwise it handles HTTP requests only.
    #[must_use]
    pub fn is_command(&self) -> bool {
        self.inner.entries.run.is_some() || self.is_scenario()
    }

    /// Whether it is driven step by step: it exports interfaces of `fozzy:scenario`, and does not run by itself.
    #[must_use]
    pub fn is_scenario(&self) -> bool {
        self.inner.entries.run.is_none() && self.inner.entries.scenario.is_any()
    }

    /// Maps and symbols, made at the first use.
    pub(crate) fn symbols(&self) -> &Symbolizer {
        self.inner.symbols.get_or_init(|| Symbolizer::new(&self.inner.original))
    }
}

fn refused(what: &'static str, error: &wasmtime::Error) -> ProgramError {
    ProgramError::Engine { what, why: crate::load::one_line(&format!("{error:#}")) }
}

fn compiled(
    engine: &Engine,
    component: &[u8],
    switches: Switches,
    cache: Option<&Cache>,
) -> Result<Component, ProgramError> {
    let configuration = switches.configuration();
    let cached = cache.map(|cache| (cache, Cache::code_key(component, &configuration.0, engine)));
    if let Some((cache, key)) = &cached
        && let Some(found) = cache.code(engine, key)
    {
        return Ok(found);
    }
    let instrumented = fozzy_instrument::instrument(component, &options())?;
    let compiled = Component::from_binary(engine, &instrumented.component)
        .map_err(|error| refused("compiling the program", &error))?;
    if let Some((cache, key)) = &cached {
        cache.keep_code(key, &compiled);
    }
    Ok(compiled)
}

/// What the rewriter is asked for; the symbolizer asks for the same to get the same maps.
pub(crate) fn options() -> fozzy_instrument::Options {
    fozzy_instrument::Options { stack_slots: STACK_SLOTS }
}

fn entry_points(engine: &Engine, component: &Component) -> Result<Entries, ProgramError> {
    let names: Vec<String> = component.component_type().exports(engine).map(|(name, _)| name.to_owned()).collect();
    let find = |prefix: &str| names.iter().find(|name| name.starts_with(prefix)).cloned();
    let scenario = Scenarios {
        stateful: find("fozzy:scenario/stateful@0.1."),
        fuzz: find("fozzy:scenario/fuzz@0.1."),
        property: find("fozzy:scenario/property@0.1."),
    };
    let (run, handler) = (find("wasi:cli/run@0.2."), find("wasi:http/incoming-handler@0.2."));
    let entries = Entries { run, handler, scenario };
    if entries.run.is_none() && entries.handler.is_none() && !entries.scenario.is_any() {
        return Err(ProgramError::NoEntry(if names.is_empty() { "no exports".to_owned() } else { names.join(", ") }));
    }
    Ok(entries)
}
