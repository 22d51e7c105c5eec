//! What it takes until a program is ready to run: from its bytes, and from the cache.
//!
//! ```text
//! cold   instrument ─▶ compile ─▶ program          once, as it takes seconds; wall time, on all processors
//! warm   digest ─▶ code of the cache ─▶ program    best of many; CPU time
//! first  instrument ─▶ compile                  CPU time of all threads, beside wasmtime's own compile with fuel
//! ```
//!
//! The component is the parsers' core module so often that it has seven megabytes. `FOZZY_BENCH_PROGRAMS=go.wasm:python.wasm` measures
//! first compiles of other programs too.

#![allow(clippy::disallowed_methods, reason = "a bench reads real clocks")]

use crate::guests;
use crate::instrumented::component_of;
use crate::measure::{Pair, process_clock, thread_seconds};
use crate::table::{Bound, Row, Unit};
use fozzy_engine::{Build, Cache, Program, Switches};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::component::Component;
use wasmtime::{Config, Engine, Module};

/// Bytes of the component, at the most.
const COMPONENT_BYTES: usize = 7_000_000;
/// Rounds of what is in the cache.
const ROUNDS: usize = 21;
/// Rounds of a first compile.
const FIRST_ROUNDS: usize = 3;

/// The rows of the group.
pub(crate) fn compile() -> Vec<Row> {
    let module = std::fs::read(guests::parsers()).expect("it was just built");
    let component: Arc<[u8]> = component_of(&module, (COMPONENT_BYTES / module.len()).max(1)).into();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cache = Cache::open(&folder.path().join("cache")).expect("the folder is ours");
    let size = component.len() as f64 / 1e6;
    let builds = [("a run", Build::default()), ("search", Build::fast())];
    let rows = builds.iter().map(|(name, how)| {
        let build = || Program::build(Arc::clone(&component), Switches::default(), how, Some(&cache));
        let begin = Instant::now();
        drop(build().expect("it compiles"));
        let cold = begin.elapsed().as_secs_f64();
        // Seen once by another process, some time after it was kept; from then on a file that nobody touched is as it was.
        std::thread::sleep(Duration::from_secs(3));
        let warm = (0..ROUNDS).map(|_| thread_seconds(|| drop(build().expect("it is in the cache"))));
        let warm = warm.fold(f64::MAX, f64::min);
        let name = format!("{size:.1} MB from the cache, build for {name} (compiled, wall time)");
        Row::best(&name, warm, cold, Bound::Seconds(2e-3))
    });
    let first = first(&format!("{size:.1} MB"), &component);
    rows.chain(std::iter::once(first)).chain(named()).collect()
}

/// Programs of the caller's choice.
fn named() -> Vec<Row> {
    let paths = std::env::var_os("FOZZY_BENCH_PROGRAMS").unwrap_or_default();
    let paths = std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty());
    paths.map(|path| first(&path.display().to_string(), &std::fs::read(&path).expect("a program is there"))).collect()
}

/// A first compile for a run, beside wasmtime's own.
fn first(name: &str, program: &[u8]) -> Row {
    let loaded = fozzy_engine::load(program, None).expect("it is a program");
    let component: Arc<[u8]> = loaded.component.into();
    let ours = || {
        drop(Program::build(Arc::clone(&component), Switches::default(), &Build::default(), None).expect("it compiles"))
    };
    let engine = Engine::new(Config::new().consume_fuel(true)).expect("the default configuration");
    let theirs = || match wasmparser::Parser::is_component(program) {
        true => drop(Component::from_binary(&engine, program).expect("it compiles")),
        false => drop(Module::from_binary(&engine, program).expect("it compiles")),
    };
    let pair = Pair::of(FIRST_ROUNDS, || process_seconds(ours), || process_seconds(theirs));
    Row::times(
        &format!("{name}, first compile beside wasmtime's with fuel"),
        &pair,
        Unit::Milliseconds,
        Bound::Ratio(1.5),
    )
}

/// CPU seconds of all threads of this process.
fn process_seconds(work: impl FnOnce()) -> f64 {
    let before = process_clock();
    work();
    process_clock() - before
}
