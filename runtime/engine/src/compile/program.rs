//! A program, instrumented and compiled.
//!
//! ```text
//! component ─┬─▶ in the cache? ── yes ─▶ code
//!            └─ no ─▶ instrument ─▶ compile ─▶ code, kept in the cache
//! ```
//!
//! Maps and symbols are made only when a backtrace is asked for: a warm start reads code and nothing else.
//!
//! Invariant: imports that the sandbox does not offer are refused here, by name, before anything runs; those of a scenario, when it is
//! linked with its target (`link`).

use crate::compile::build::{Build, CompiledMetadata};
use crate::compile::cache::Cache;
use crate::compile::catalogue::Catalogue;
use crate::compile::compiler::CompileFailure;
use crate::compile::link::{self, LinkError, LinkedTarget};
use crate::compile::settings::{self, Switches};
use crate::compile::symbolizer::Symbolizer;
use crate::run::scenario::ScenarioInterfaces;
use fozzy_host::{CallerKind, Host, ImportFault};
use fozzy_instrument::{
    ComparisonSites, LoggedComparison, ModuleOrdinal, OffsetMaps, OriginalOffset, PositionSites, ProfileSites, Sites,
};
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::{CmpLogEntry, CmpLogSites, Digest};
use std::sync::{Arc, OnceLock};
use wasmtime::Engine;
use wasmtime::component::{Component, InstancePre, Linker};

/// Version of the rule by which modules are chosen: what was compiled under another one has other edges.
const MODULES_VERSION: u32 = 2;
/// Version of the rule by which data segments are merged: it decides what is compiled, and nothing that a program does.
const SEGMENTS_VERSION: u32 = 1;

/// A component that is ready to run under one set of switches.
#[derive(Clone)]
pub struct Program {
    inner: Arc<ProgramInner>,
    /// A scenario that was linked with its target.
    linked: Option<Arc<LinkedTarget>>,
}

struct ProgramInner {
    original: Arc<[u8]>,
    switches: Switches,
    build: Build,
    engine: Engine,
    compiled: Component,
    facts: CompiledMetadata,
    instance: OnceLock<InstancePre<Host>>,
    alone: OnceLock<InstancePre<Host>>,
    entries: EntryInterfaces,
    /// Imports that the sandbox does not offer.
    unoffered: Vec<ImportFault>,
    symbols: OnceLock<Arc<Symbolizer>>,
    cache: Option<Cache>,
}

/// The full names of the exported interfaces by which a program can be called.
#[derive(Clone, Debug)]
pub(crate) struct EntryInterfaces {
    /// `wasi:cli/run`.
    pub(crate) run: Option<String>,
    /// `wasi:http/incoming-handler`.
    pub(crate) handler: Option<String>,
    /// `fozzy:scenario/…`.
    pub(crate) scenario: ScenarioInterfaces,
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
    /// It was not compiled by the process that compiles.
    #[error(transparent)]
    Compile(#[from] CompileFailure),
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
    /// Instruments and compiles a validated component to be run, or takes it from the cache.
    ///
    /// # Errors
    /// When it imports what is not offered, exports nothing to run, or cannot be compiled.
    pub fn new(component: Arc<[u8]>, switches: Switches, cache: Option<&Cache>) -> Result<Program, ProgramError> {
        Program::new_as(component, switches, &Build::default(), cache)
    }

    /// As [`Program::new`], in another build: with coverage, for example.
    ///
    /// # Errors
    /// As of [`Program::new`].
    pub fn new_as(
        component: Arc<[u8]>,
        switches: Switches,
        build: &Build,
        cache: Option<&Cache>,
    ) -> Result<Program, ProgramError> {
        let program = Program::build(component, switches, build, cache)?;
        program.runnable()?;
        // As it is called most of the time; the other way is linked when a plan asks for it.
        let linked = if program.is_scenario() { program.alone() } else { program.instance() };
        linked.map_err(|error| refused("linking the program", &error))?;
        Ok(program)
    }

    /// As [`Program::new_as`], for a scenario that is going to be linked with its target: it may import what the sandbox
    /// does not offer.
    ///
    /// # Errors
    /// When it exports nothing to run, or cannot be compiled.
    pub fn judge_as(
        component: Arc<[u8]>,
        switches: Switches,
        build: &Build,
        cache: Option<&Cache>,
    ) -> Result<Program, ProgramError> {
        let engine = settings::engine(&switches, build).map_err(|error| refused("starting wasmtime", &error))?;
        let program = Program::on(engine, component, switches, build, cache)?;
        program.runnable()?;
        Ok(program)
    }

    fn runnable(&self) -> Result<(), ProgramError> {
        let entries = &self.inner.entries;
        if entries.run.is_none() && entries.handler.is_none() && !entries.scenario.is_any() {
            let names: Vec<String> = self.exports().collect();
            let found = if names.is_empty() { "no exports".to_owned() } else { names.join(", ") };
            return Err(ProgramError::NoEntry(found));
        }
        Ok(())
    }

    /// Instruments and compiles a validated component as `build` says, whatever it exports.
    ///
    /// # Errors
    /// When it imports what is not offered, or cannot be compiled.
    pub fn build(
        component: Arc<[u8]>,
        switches: Switches,
        build: &Build,
        cache: Option<&Cache>,
    ) -> Result<Program, ProgramError> {
        let engine = settings::engine(&switches, build).map_err(|error| refused("starting wasmtime", &error))?;
        Program::on(engine, component, switches, build, cache)?.offered()
    }

    /// Compiles another program for the same run; the same component is this program once more.
    ///
    /// # Errors
    /// As of [`Program::build`].
    pub fn beside(&self, component: Arc<[u8]>) -> Result<Program, ProgramError> {
        let ProgramInner { engine, switches, build, cache, original, .. } = &*self.inner;
        if component == *original {
            return Program { inner: Arc::clone(&self.inner), linked: None }.offered();
        }
        Program::on(engine.clone(), component, switches.clone(), build, cache.as_ref())?.offered()
    }

    /// The same program under other switches. If it was linked with a target, it is to be linked again.
    ///
    /// # Errors
    /// When it cannot be compiled.
    pub(crate) fn under(&self, switches: Switches) -> Result<Program, ProgramError> {
        let ProgramInner { original, build, cache, .. } = &*self.inner;
        let engine = settings::engine(&switches, build).map_err(|error| refused("starting wasmtime", &error))?;
        Program::on(engine, Arc::clone(original), switches, build, cache.as_ref())
    }

    /// The same program, unless it imports what the sandbox does not offer.
    pub(crate) fn offered(self) -> Result<Program, ProgramError> {
        let ProgramInner { unoffered, entries, .. } = &*self.inner;
        if unoffered.is_empty() {
            return Ok(self);
        }
        let names: Vec<String> = unoffered.iter().map(|fault| format!("`{}` ({})", fault.import, fault.why)).collect();
        let advice = match entries.scenario.is_any() {
            true => "; name the component that exports it with --target, if the scenario is to judge one",
            false => "",
        };
        Err(ProgramError::UnknownImports(names.join(", ") + advice))
    }

    /// The same program, linked with the component that exports what it imports.
    pub(crate) fn linked_to(&self, target: &Program, caller: CallerKind) -> Result<Program, LinkError> {
        let linked = Some(Arc::new(link::link(self, target, caller)?));
        Ok(Program { inner: Arc::clone(&self.inner), linked })
    }

    /// The imports that the sandbox does not offer.
    pub(crate) fn unoffered(&self) -> impl Iterator<Item = &str> {
        self.inner.unoffered.iter().map(|fault| fault.import.as_str())
    }

    pub(crate) fn compiled(&self) -> &Component {
        &self.inner.compiled
    }

    /// Its target, if it is linked.
    pub(crate) fn linked(&self) -> Option<&LinkedTarget> {
        self.linked.as_deref()
    }

    fn on(
        engine: Engine,
        component: Arc<[u8]>,
        switches: Switches,
        build: &Build,
        cache: Option<&Cache>,
    ) -> Result<Program, ProgramError> {
        let (compiled, facts) = compiled(&engine, &component, &switches, build, cache)?;
        let unoffered =
            fozzy_host::refused_imports(&engine, &compiled, facts.access.is_some() || facts.steps.is_some());
        let entries = entry_points(&engine, &compiled);
        let inner = ProgramInner {
            original: component,
            switches,
            build: build.clone(),
            engine,
            compiled,
            facts,
            instance: OnceLock::new(),
            alone: OnceLock::new(),
            entries,
            unoffered,
            symbols: OnceLock::new(),
            cache: cache.cloned(),
        };
        Ok(Program { inner: Arc::new(inner), linked: None })
    }

    /// The names that the component exports.
    pub fn exports(&self) -> impl Iterator<Item = String> {
        let engine = self.inner.engine.clone();
        let names: Vec<String> =
            self.inner.compiled.component_type().exports(&engine).map(|(name, _)| name.to_owned()).collect();
        names.into_iter().filter(|name| !name.starts_with("fozzy-"))
    }

    /// Whether its properties are known before it runs.
    #[must_use]
    pub fn catalogue(&self) -> Catalogue {
        let ty = self.inner.compiled.component_type();
        let names: Vec<&str> = ty.imports(&self.inner.engine).map(|(name, _)| name).collect();
        Catalogue::of(&self.inner.original, names.into_iter())
    }

    /// The component as it was before instrumentation.
    #[must_use]
    pub fn component(&self) -> &Arc<[u8]> {
        &self.inner.original
    }

    /// The switches that it was compiled under.
    #[must_use]
    pub fn switches(&self) -> &Switches {
        &self.inner.switches
    }

    /// Digest of everything of the engine that results depend on.
    #[must_use]
    pub fn configuration(&self) -> Digest {
        self.inner.switches.configuration()
    }

    /// Where what is compiled is kept.
    pub(crate) fn cache(&self) -> Option<&Cache> {
        self.inner.cache.as_ref()
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Metadata cached beside the compiled code.
    pub(crate) fn facts(&self) -> &CompiledMetadata {
        &self.inner.facts
    }

    /// The edges that coverage bytes stand for; empty in a build without coverage.
    #[must_use]
    pub fn sites(&self) -> &Sites {
        self.symbols().sites()
    }

    /// What is counted by call path; empty in another build than that for profiles.
    #[must_use]
    pub fn profile_sites(&self) -> &ProfileSites {
        self.symbols().profile()
    }

    /// Where a debugger stops it; empty in another build than that for it.
    #[must_use]
    pub fn position_sites(&self) -> &PositionSites {
        self.symbols().positions()
    }

    /// The functions around an operator in words of the source, innermost first; what the debug information does not know, by index.
    #[must_use]
    pub fn source_frames(&self, module: ModuleOrdinal, offset: OriginalOffset) -> Vec<StackFrame> {
        self.symbols().frames_at(module, offset)
    }

    /// The source file and the line, from 1, of an operator: those of the first of its frames, without any name.
    #[must_use]
    pub fn source_place(&self, module: ModuleOrdinal, offset: OriginalOffset) -> Option<(String, u32)> {
        self.symbols().place_at(module, offset)
    }

    /// The comparisons that are logged, in a build that does so.
    pub(crate) fn comparisons(&self) -> &ComparisonSites {
        self.symbols().comparisons()
    }

    /// Adds entries of the log to `log`, each with what its place in the program compares, of the places that are asked for.
    pub(crate) fn resolve_comparisons(
        &self,
        entries: impl Iterator<Item = (ModuleOrdinal, LoggedComparison)>,
        asked: CmpLogSites<'_>,
        log: &mut Vec<CmpLogEntry>,
    ) {
        let maps = self.comparisons();
        // They come module by module, and finding a module's sites takes longer than reading an entry.
        let mut sites = (None, &[][..]);
        // A few are asked for: most others differ from all of them in their lowest bits.
        let lowest = match asked {
            CmpLogSites::All => u64::MAX,
            CmpLogSites::Only(sites) => sites.iter().fold(0_u64, |lowest, site| lowest | 1_u64 << (site % 64)),
        };
        for (module, comparison) in entries {
            let site = u64::from(module.0) << 32 | u64::from(comparison.site);
            if lowest >> (site % 64) & 1 == 0 || !asked.includes(site) {
                continue;
            }
            if sites.0 != Some(module) {
                sites = (Some(module), maps.of(module));
            }
            if let Some(found) = sites.1.get(comparison.site as usize) {
                let (left, right, at, bytes) = (comparison.left, comparison.right, comparison.at, comparison.bytes);
                log.push(CmpLogEntry { site, kind: found.kind, left, right, at, bytes });
            }
        }
    }

    /// How it was compiled.
    #[must_use]
    pub fn how(&self) -> &Build {
        &self.inner.build
    }

    /// The core modules.
    #[must_use]
    pub fn maps(&self) -> &OffsetMaps {
        self.symbols().maps()
    }

    /// Linked for guests that take turns.
    pub(crate) fn instance(&self) -> Result<&InstancePre<Host>, wasmtime::Error> {
        match &self.linked {
            Some(linked) => Ok(&linked.instance),
            None => linked(&self.inner, &self.inner.instance, fozzy_host::add_to_linker),
        }
    }

    /// Linked for a guest that is alone and called from outside.
    pub(crate) fn alone(&self) -> Result<&InstancePre<Host>, wasmtime::Error> {
        match &self.linked {
            Some(linked) => Ok(&linked.instance),
            None => linked(&self.inner, &self.inner.alone, fozzy_host::add_alone_to_linker),
        }
    }

    /// Why `frames` of this program have no lines of source, if a tool has emptied its debug information: a sentence with
    /// what to do; `None` when they have lines, or never had any.
    #[must_use]
    pub fn missing_lines(&self, frames: &[StackFrame]) -> Option<String> {
        self.symbols().missing_lines(frames)
    }

    pub(crate) fn entries(&self) -> &EntryInterfaces {
        &self.inner.entries
    }

    /// Whether it can be run; otherwise it handles HTTP requests only.
    #[must_use]
    pub fn is_command(&self) -> bool {
        self.inner.entries.run.is_some() || self.is_scenario()
    }

    /// Whether it is driven step by step: it exports interfaces of `fozzy:scenario`, and not `wasi:cli/run`.
    #[must_use]
    pub fn is_scenario(&self) -> bool {
        self.inner.entries.run.is_none() && self.inner.entries.scenario.is_any()
    }

    /// Maps and symbols, made at the first use.
    pub(crate) fn symbols(&self) -> &Symbolizer {
        let ProgramInner { symbols, original, build, switches, .. } = &*self.inner;
        symbols.get_or_init(|| Arc::new(Symbolizer::new(original, build, switches)))
    }

    /// The same, to be kept.
    pub(crate) fn shared_symbols(&self) -> Arc<Symbolizer> {
        let _ = self.symbols();
        Arc::clone(self.inner.symbols.get().expect("it was just made"))
    }
}

fn refused(what: &'static str, error: &wasmtime::Error) -> ProgramError {
    ProgramError::Engine { what, why: crate::compile::load::one_line(&format!("{error:#}")) }
}

fn linked<'a>(
    inner: &ProgramInner,
    place: &'a OnceLock<InstancePre<Host>>,
    define: impl FnOnce(&mut Linker<Host>) -> wasmtime::Result<()>,
) -> wasmtime::Result<&'a InstancePre<Host>> {
    if place.get().is_none() {
        let mut linker: Linker<Host> = Linker::new(&inner.engine);
        define(&mut linker)?;
        let instance = linker.instantiate_pre(&inner.compiled)?;
        // Another thread that was quicker linked the same.
        let _ = place.set(instance);
    }
    Ok(place.get().expect("was just set"))
}

fn compiled(
    engine: &Engine,
    component: &Arc<[u8]>,
    switches: &Switches,
    build: &Build,
    cache: Option<&Cache>,
) -> Result<(Component, CompiledMetadata), ProgramError> {
    // What is logged as a comparison has changed since that was cached first.
    let logged = if build.comparisons { "\ncomparisons 2" } else { "" };
    // So has where the log of allocations is.
    let logged = if build.heap.is_some() { "\nheap 2" } else { logged };
    // And an accessor takes inputs, through a relay.
    let accessor = if build.access { "\naccessor 6" } else { "" };
    // And steps of a scenario are taken in one call.
    let steps = if build.takes_steps(switches) { "\nsteps 2" } else { "" };
    let versions = format!("modules {MODULES_VERSION}\nsegments {SEGMENTS_VERSION}{accessor}{steps}");
    let chosen = switches.allocators.iter().filter(|_| build.heap.is_some()).map(|it| format!("\nallocator {it}"));
    let chosen: String = chosen.collect();
    let configuration = format!("{}\n{versions}\n{build:?}{logged}{chosen}", switches.configuration());
    let cached = cache.map(|cache| (cache, Cache::code_key(component, configuration.as_bytes(), engine)));
    let facts_key = |key: &str| format!("{key}-facts");
    let kept = || {
        let (cache, key) = cached.as_ref()?;
        let facts = CompiledMetadata::read(&cache.bytes(&facts_key(key))?)?;
        Some((cache.code(engine, key)?, facts))
    };
    if let Some(found) = kept() {
        return Ok(found);
    }
    // Workers, and commands side by side, want the same code at the same time: one of them makes it.
    let _making = cached.as_ref().map(|(cache, key)| cache.making(key));
    if let Some(found) = kept() {
        return Ok(found);
    }
    tracing::info!(key = cached.as_ref().map(|(_, key)| key), bytes = component.len(), "compiling a program");
    let instrumented = fozzy_instrument::instrument(component, &build.options(switches))?;
    let facts = CompiledMetadata::of(&instrumented, component);
    let isolated = match &cached {
        Some((cache, key)) => cache.compile(engine, key, (switches, build), &instrumented.component)?,
        None => None,
    };
    let was_kept = isolated.is_some();
    let compiled = match isolated {
        Some(compiled) => compiled,
        None => Component::from_binary(engine, &instrumented.component)
            .map_err(|error| refused("compiling the program", &error))?,
    };
    if let Some((cache, key)) = &cached {
        cache.keep(&facts_key(key), &facts.write());
        if !was_kept {
            cache.keep_code(key, &compiled);
        }
    }
    Ok((compiled, facts))
}

fn entry_points(engine: &Engine, component: &Component) -> EntryInterfaces {
    let names: Vec<String> = component.component_type().exports(engine).map(|(name, _)| name.to_owned()).collect();
    let find = |prefix: &str| names.iter().find(|name| name.starts_with(prefix)).cloned();
    let scenario = ScenarioInterfaces {
        stateful: find("fozzy:scenario/stateful@0.1."),
        fuzz: find("fozzy:scenario/fuzz@0.1."),
        property: find("fozzy:scenario/property@0.1."),
    };
    let (run, handler) = (find("wasi:cli/run@0.2."), find("wasi:http/incoming-handler@0.2."));
    EntryInterfaces { run, handler, scenario }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_the_same_component_is_not_compiled_again() {
        let component =
            |text: &str| -> Arc<[u8]> { crate::load(text.as_bytes(), None).expect("a program").component.into() };
        let passes = || component(r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
        let other = component(r#"(module (memory (export "memory") 1) (func (export "_start") nop))"#);
        let program = Program::new(passes(), Switches::of(&fozzy_trace::Plan::default()), None).expect("it compiles");
        let beside = |component| program.beside(component).expect("it compiles").inner;
        assert!(Arc::ptr_eq(&beside(passes()), &program.inner));
        assert!(!Arc::ptr_eq(&beside(other), &program.inner));
    }
}
