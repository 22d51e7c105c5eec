//! What rewriting costs: the same guest, plain and with each pass, measured in turn.
//!
//! ```text
//! core module ──────────────► wasmtime ─┐
//!             └─ instrument ─► wasmtime ─┴─► thread CPU time, best of nine rounds in turn
//! ```
//!
//! The guest is a core module, run alone with its imports as traps, so that nothing but its own code is
//! measured. All builds have the memory settings of the engine (`settings.rs` there), and fuel only where it says so.

#![allow(clippy::print_stdout, reason = "the table is the result")]

use crate::measure::thread_seconds;
use crate::table::{Bound, Row};
use crate::{classic, guests};
use fozzy_instrument::{CoverageMode, Options, instrument};
use wasmtime::{Config, Engine, Linker, Module, Store, TypedFunc};

/// Rounds; the best of each build counts.
const ROUNDS: usize = 9;
/// Bytes of the document that is parsed.
const DOCUMENT_BYTES: u32 = 1 << 20;
/// The exports that are measured.
const WORKLOADS: [&str; 2] = ["json", "regex"];

/// What is put into the guest.
enum Code {
    Plain,
    Classic,
    Rewritten(Options),
}

/// A build of the guest.
struct Build {
    name: &'static str,
    code: Code,
    fuel: bool,
    /// Seconds that it may take, over those of the plain build.
    bound: Option<f64>,
}

fn builds() -> Vec<Build> {
    let none = Options { depth: false, ..Options::default() };
    let covered = |coverage| Options { coverage, ..none.clone() };
    let set_once = covered(CoverageMode::SetOnce);
    let build = |name, code, fuel, bound| Build { name, code, fuel, bound };
    vec![
        build("plain", Code::Plain, false, None),
        build("set-once edges", Code::Rewritten(set_once.clone()), false, Some(1.2)),
        build("a byte for every edge", Code::Rewritten(covered(CoverageMode::Every)), false, None),
        build("counters", Code::Rewritten(covered(CoverageMode::Counters)), false, None),
        build("classic edges: prev ^ cur", Code::Classic, false, None),
        build("marks", Code::Rewritten(Options { marks: true, ..none.clone() }), false, Some(1.25)),
        build(
            "fast: set-once edges, marks",
            Code::Rewritten(Options { marks: true, ..set_once.clone() }),
            false,
            Some(1.5),
        ),
        build("depth", Code::Rewritten(Options::default()), false, None),
        build("fuel", Code::Plain, true, None),
        build(
            "exact: edges, depth, fuel",
            Code::Rewritten(Options { depth: true, ..set_once.clone() }),
            true,
            Some(1.6),
        ),
        build("comparisons, off", Code::Rewritten(Options { comparisons: true, ..none }), false, None),
    ]
}

/// A build that is ready to run.
struct InstrumentedRun {
    store: Store<()>,
    workloads: Vec<TypedFunc<(), u32>>,
}

impl InstrumentedRun {
    fn new(module: &[u8], build: &Build) -> InstrumentedRun {
        let bytes = match &build.code {
            Code::Plain => module.to_vec(),
            Code::Classic => classic::rewritten(module),
            Code::Rewritten(options) => rewritten(module, options),
        };
        let mut config = Config::new();
        config.consume_fuel(build.fuel);
        config.memory_init_cow(false).memory_reservation(4 << 30).memory_guard_size(32 << 20).memory_may_move(false);
        let engine = Engine::new(&config).expect("a plain configuration");
        let module = Module::new(&engine, bytes).expect("the guest is valid");
        let mut linker = Linker::new(&engine);
        // The keys of a hash map, the same each time.
        let random = |_: u32, _: u32| 0u32;
        linker.func_wrap("wasi_snapshot_preview1", "random_get", random).expect("an empty linker takes it");
        linker.define_unknown_imports_as_traps(&module).expect("an empty linker takes all");
        let mut store = Store::new(&engine, ());
        if build.fuel {
            store.set_fuel(u64::MAX).expect("fuel is on");
        }
        let instance = linker.instantiate(&mut store, &module).expect("the guest has no start");
        if let Ok(initialize) = instance.get_typed_func::<(), ()>(&mut store, "_initialize") {
            initialize.call(&mut store, ()).expect("it initializes");
        }
        let prepare = instance.get_typed_func::<u32, ()>(&mut store, "prepare").expect("it is exported");
        prepare.call(&mut store, DOCUMENT_BYTES).expect("the document can be made");
        let workloads = WORKLOADS.map(|name| instance.get_typed_func(&mut store, name).expect("it is exported"));
        InstrumentedRun { store, workloads: workloads.into() }
    }
}

/// The core module in a component that consists of it, rewritten.
fn rewritten(module: &[u8], options: &Options) -> Vec<u8> {
    let output = instrument(&wrapped(module), options).expect("the guest is valid");
    let range = output.maps.modules()[0].rewritten();
    output.component[range.start.0 as usize..range.end.0 as usize].to_vec()
}

/// A component with this core module and nothing else: header, then a section with its size.
pub(crate) fn wrapped(module: &[u8]) -> Vec<u8> {
    component_of(module, 1)
}

/// A component with so many copies of this core module and nothing else.
pub(crate) fn component_of(module: &[u8], copies: usize) -> Vec<u8> {
    const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";
    const CORE_MODULE: u8 = 1;
    let mut component = HEADER.to_vec();
    for _ in 0..copies {
        component.push(CORE_MODULE);
        let mut size = module.len();
        while size >= 0x80 {
            component.push(size as u8 | 0x80);
            size >>= 7;
        }
        component.push(size as u8);
        component.extend_from_slice(module);
    }
    component
}

/// The rows of the group.
pub(crate) fn coverage() -> Vec<Row> {
    let module = std::fs::read(guests::parsers()).expect("it was just built");
    let component = wrapped(&module);
    let all = Options { coverage: CoverageMode::SetOnce, marks: true, ..Options::default() };
    let output = instrument(&component, &all).expect("the guest is valid");
    let kept: u32 = output.side_memories.iter().map(|side| side.coverage.len() as u32).sum();
    println!("parsers: {} bytes, {} edges, of which {kept} are kept", module.len(), output.sites.len());
    let fastest = (0..ROUNDS).map(|_| thread_seconds(|| drop(instrument(&component, &all)))).fold(f64::MAX, f64::min);

    let builds = builds();
    let mut running: Vec<InstrumentedRun> = builds.iter().map(|build| InstrumentedRun::new(&module, build)).collect();
    let mut best = vec![[f64::MAX; WORKLOADS.len()]; builds.len()];
    let mut sums = [None; WORKLOADS.len()];
    for _ in 0..ROUNDS {
        for (running, best) in running.iter_mut().zip(&mut best) {
            for ((workload, best), sum) in running.workloads.iter().zip(best).zip(&mut sums) {
                let mut found = 0;
                let seconds = thread_seconds(|| found = workload.call(&mut running.store, ()).expect("it succeeds"));
                assert_eq!(*sum.get_or_insert(found), found, "all builds compute the same");
                *best = best.min(seconds);
            }
        }
    }
    let speed = component.len() as f64 / 1e6 / fastest;
    let mut rows = vec![Row::speed("rewriting with edges, marks and depth", speed, 25.0)];
    for (workload, name) in WORKLOADS.iter().enumerate() {
        for (build, seconds) in builds.iter().zip(&best).skip(1) {
            let bound = build.bound.map_or(Bound::None, Bound::Ratio);
            rows.push(Row::best(&format!("{name}, {}", build.name), seconds[workload], best[0][workload], bound));
        }
    }
    rows
}
