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

use crate::guests;
use crate::measure::thread_seconds;
use crate::table::{Bound, Row};
use fozzy_instrument::{Coverage, Options, instrument};
use wasmtime::{Config, Engine, Linker, Module, Store, TypedFunc};

/// Rounds; the best of each build counts.
const ROUNDS: usize = 9;
/// Bytes of the document that is parsed.
const DOCUMENT_BYTES: u32 = 1 << 20;
/// The exports that are measured.
const WORKLOADS: [&str; 2] = ["json", "regex"];

/// A build of the guest.
struct Build {
    name: &'static str,
    /// `None` is the guest as it is.
    options: Option<Options>,
    fuel: bool,
    /// Seconds that it may take, over those of the plain build.
    bound: Option<f64>,
}

fn builds() -> Vec<Build> {
    let none = Options { depth: false, ..Options::default() };
    let covered = |coverage| Options { coverage, ..none.clone() };
    let set_once = covered(Coverage::SetOnce);
    let build = |name, options, fuel, bound| Build { name, options, fuel, bound };
    vec![
        build("plain", None, false, None),
        build("set-once edges", Some(set_once.clone()), false, Some(1.2)),
        build("a byte for every edge", Some(covered(Coverage::Every)), false, None),
        build("counters", Some(covered(Coverage::Counters)), false, None),
        build("marks", Some(Options { marks: true, ..none.clone() }), false, Some(1.25)),
        build("fast: set-once edges, marks", Some(Options { marks: true, ..set_once.clone() }), false, Some(1.5)),
        build("depth", Some(Options::default()), false, None),
        build("fuel", None, true, None),
        build("exact: edges, depth, fuel", Some(Options { depth: true, ..set_once.clone() }), true, Some(1.6)),
        build("comparisons, off", Some(Options { comparisons: true, ..none }), false, None),
    ]
}

/// A build that is ready to run.
struct Running {
    store: Store<()>,
    workloads: Vec<TypedFunc<(), u32>>,
}

impl Running {
    fn new(module: &[u8], build: &Build) -> Running {
        let bytes = build.options.as_ref().map_or_else(|| module.to_vec(), |options| rewritten(module, options));
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
        Running { store, workloads: workloads.into() }
    }
}

/// The core module in a component that consists of it, rewritten.
fn rewritten(module: &[u8], options: &Options) -> Vec<u8> {
    let output = instrument(&wrapped(module), options).expect("the guest is valid");
    let range = output.maps.modules()[0].rewritten();
    output.component[range.start.0 as usize..range.end.0 as usize].to_vec()
}

/// A component with this core module and nothing else: header, then a section with its size.
fn wrapped(module: &[u8]) -> Vec<u8> {
    const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";
    const CORE_MODULE: u8 = 1;
    let mut component = [HEADER, &[CORE_MODULE]].concat();
    let mut size = module.len();
    while size >= 0x80 {
        component.push(size as u8 | 0x80);
        size >>= 7;
    }
    component.push(size as u8);
    component.extend_from_slice(module);
    component
}

/// The rows of the group.
pub(crate) fn coverage() -> Vec<Row> {
    let module = std::fs::read(guests::parsers()).expect("it was just built");
    let component = wrapped(&module);
    let all = Options { coverage: Coverage::SetOnce, marks: true, ..Options::default() };
    let output = instrument(&component, &all).expect("the guest is valid");
    let kept: u32 = output.side_memories.iter().map(|side| side.coverage.len() as u32).sum();
    println!("parsers: {} bytes, {} edges, of which {kept} are kept", module.len(), output.sites.len());
    let best = (0..ROUNDS).map(|_| thread_seconds(|| drop(instrument(&component, &all)))).fold(f64::MAX, f64::min);
    println!("rewriting with edges, marks and depth: {:.1} MB/s", component.len() as f64 / 1e6 / best);

    let builds = builds();
    let mut running: Vec<Running> = builds.iter().map(|build| Running::new(&module, build)).collect();
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
    let mut rows = Vec::new();
    for (workload, name) in WORKLOADS.iter().enumerate() {
        for (build, seconds) in builds.iter().zip(&best).skip(1) {
            let bound = build.bound.map_or(Bound::None, Bound::Ratio);
            rows.push(Row::best(&format!("{name}, {}", build.name), seconds[workload], best[0][workload], bound));
        }
    }
    rows
}
