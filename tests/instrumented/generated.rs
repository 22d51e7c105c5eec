//! Generated modules before and after: equal results, traps, memories and globals; edges and marks that tell the truth.
//!
//! Both are bounded by fuel: the original gets little, the rewritten one so much that it never runs out first. A module is
//! left where the original runs out. `FOZZY_LONG=1` makes many more modules.

use super::writers;
use arbitrary::Unstructured;
use fozzy_instrument::{
    CodeOrigin, CoverageMode, InstrumentedComponent, MARKED_PAGE_BYTES, ModuleChoice, ModuleOrdinal, Options,
    OriginalOffset, ProfileCounter, ProfileNode, RewrittenOffset, STRADDLE_BYTES, instrument,
};
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{ExportKind, ExportSection, RawSection};
use wasmparser::{Parser, Payload};
use wasmtime::{
    Config, Engine, Instance, Memory, Module, OperatorCost, OptLevel, RegallocAlgorithm, Store, Trap, Val,
    VariableOperatorCost, WasmBacktrace,
};

/// Modules that are generated, and with `FOZZY_LONG`.
const MODULES: u64 = 100;
const MODULES_LONG: u64 = 20_000;
/// Bytes of randomness for each.
const BYTES: u64 = 8192;
/// Fuel of a call: so little that the native stack is never exhausted.
const FUEL: u64 = 20_000;
/// What the rewritten module gets: marking a whole memory takes a million rounds of a loop.
const FUEL_AFTER: u64 = 1 << 40;
/// The name under which the side memory is exported for the test.
pub(super) const SIDE: &str = "side memory of the test";
/// The name under which the global that counts depth is exported for the test.
const DEPTH: &str = "depth of the test";

/// SplitMix64. <https://prng.di.unimi.it/splitmix64.c>
fn random_bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    };
    (0..BYTES / 8).flat_map(|_| next().to_le_bytes()).collect()
}

fn generate(seed: u64) -> Vec<u8> {
    let bytes = random_bytes(seed);
    if seed.is_multiple_of(2) {
        return writers::module(&bytes);
    }
    let config = wasm_smith::Config {
        min_funcs: 2,
        max_imports: 0,
        // One half has what real programs have, the other one everything.
        min_memories: 1,
        max_memories: if seed % 4 == 1 { 2 } else { 1 },
        memory64_enabled: seed % 4 == 1,
        gc_enabled: seed % 4 == 1,
        threads_enabled: false,
        max_instructions: 400,
        // Without traps, stores get to where they go.
        disallow_traps: !seed.is_multiple_of(3),
        export_everything: true,
        canonicalize_nans: true,
        max_memory32_bytes: 1 << 20,
        max_memory64_bytes: 1 << 20,
        memory_max_size_required: true,
        ..wasm_smith::Config::default()
    };
    let module = wasm_smith::Module::new(config, &mut Unstructured::new(&bytes)).expect("there are enough bytes");
    module.to_bytes()
}

fn engine() -> Engine {
    let mut config = Config::new();
    config.consume_fuel(true).max_wasm_stack(16 << 20).async_stack_size(32 << 20);
    // Code that is called three times: what it does is compared, and most of the time of the test is its compiler's.
    config.cranelift_opt_level(OptLevel::None).cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass);
    let features = fozzy_instrument::features();
    config.wasm_features(wasmtime::WasmFeatures::all(), false);
    config.wasm_features(features, true);
    config.relaxed_simd_deterministic(true);
    // An instruction costs one, whatever it moves: so fuel is what counts by call path are compared with.
    let mut cost = OperatorCost::new();
    cost.variable = VariableOperatorCost {
        memory_copy_per_byte: 0,
        memory_fill_per_byte: 0,
        memory_init_per_byte: 0,
        memory_grow_per_page: 0,
        table_copy_per_element: 0,
        table_fill_per_element: 0,
        table_init_per_element: 0,
        table_grow_per_element: 0,
        array_copy_per_element: 0,
        array_fill_per_element: 0,
        array_new_data_per_element: 0,
        array_init_data_per_element: 0,
        array_new_elem_per_element: 0,
        array_init_elem_per_element: 0,
        array_new_default_per_element: 0,
        array_new_per_element: 0,
    };
    config.operator_cost(cost);
    Engine::new(&config).expect("a plain configuration")
}

/// The core module in a component that consists of it, with its side memory exported.
pub(super) fn rewritten(component: &[u8], options: &Options) -> (InstrumentedComponent, Vec<u8>) {
    let output = instrument(component, options).expect("a valid component");
    let range = output.maps.modules()[0].rewritten();
    let bytes = &output.component[range.start.0 as usize..range.end.0 as usize];
    let mut module = wasm_encoder::Module::new();
    let (mut memories, mut globals) = (0, 0);
    let counts_depth = globals_of(bytes) > globals_of(module_in(component));
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.expect("it was just written");
        match &payload {
            Payload::MemorySection(reader) => memories += reader.count(),
            Payload::GlobalSection(reader) => globals += reader.count(),
            Payload::CodeSectionEntry(_) | Payload::CustomSection(_) => continue,
            _ => {}
        }
        if let Payload::ExportSection(reader) = &payload {
            let mut exports = ExportSection::new();
            RoundtripReencoder.parse_export_section(&mut exports, reader.clone()).expect("it was just written");
            if !output.side_memories.is_empty() {
                exports.export(SIDE, ExportKind::Memory, memories - 1);
            }
            if counts_depth {
                exports.export(DEPTH, ExportKind::Global, globals - 1);
            }
            module.section(&exports);
        } else if let Some((id, range)) = payload.as_section() {
            module.section(&RawSection { id, data: &bytes[range] });
        }
    }
    (output, module.finish())
}

/// The only core module in a component.
fn module_in(component: &[u8]) -> &[u8] {
    let modules = Parser::new(0).parse_all(component).filter_map(|payload| match payload.expect("it is valid") {
        Payload::ModuleSection { unchecked_range, .. } => Some(unchecked_range),
        _ => None,
    });
    &component[modules.last().expect("it has one")]
}

fn globals_of(module: &[u8]) -> u32 {
    let sections = Parser::new(0).parse_all(module).map(|payload| match payload.expect("it is valid") {
        Payload::GlobalSection(reader) => reader.count(),
        _ => 0,
    });
    sections.sum()
}

/// A module that runs, and what is known of its rewriting.
struct InstrumentedRun {
    store: Store<()>,
    instance: Instance,
    output: Option<InstrumentedComponent>,
    /// Where the code stands in the module that runs, less where it stands in the rewritten component.
    moved: i64,
}

/// What can be seen of a call.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    end: Result<Vec<String>, Trap>,
    memories: Vec<Vec<u8>>,
    globals: Vec<String>,
}

impl InstrumentedRun {
    fn new(engine: &Engine, bytes: &[u8], output: Option<InstrumentedComponent>) -> Option<InstrumentedRun> {
        let module = Module::new(engine, bytes).expect("it is valid");
        let mut store = Store::new(engine, ());
        store.set_fuel(if output.is_some() { FUEL_AFTER } else { FUEL }).expect("fuel is on");
        let instance = Instance::new(&mut store, &module, &[]).ok()?;
        let code = |bytes: &[u8]| {
            let payloads = Parser::new(0).parse_all(bytes).map(|payload| payload.expect("it is valid"));
            let mut starts = payloads.filter_map(|payload| match payload {
                Payload::CodeSectionStart { range, .. } => Some(range.start),
                _ => None,
            });
            starts.next().map_or(0, |start| i64::try_from(start).expect("small"))
        };
        let moved = output.as_ref().map_or(0, |output| {
            let range = output.maps.modules()[0].rewritten();
            let inside = &output.component[range.start.0 as usize..range.end.0 as usize];
            code(bytes) - code(inside) - i64::from(range.start.0)
        });
        Some(InstrumentedRun { store, instance, output, moved })
    }

    fn side(&mut self) -> Option<Memory> {
        self.instance.get_memory(&mut self.store, SIDE)
    }

    /// Calls an export, on arguments that are all the same.
    fn call(&mut self, name: &str, argument: i32) -> (Seen, Option<OriginalOffset>) {
        if let Some(side) = self.side() {
            let output = self.output.as_ref().expect("it has one");
            let memory = &output.side_memories[0];
            for range in [&memory.coverage, &memory.marks] {
                side.data_mut(&mut self.store)[range.start as usize..range.end as usize].fill(0);
            }
        }
        let fuel = if self.output.is_some() { FUEL_AFTER } else { FUEL };
        self.store.set_fuel(fuel).expect("fuel is on");
        let function = self.instance.get_func(&mut self.store, name).expect("it is exported");
        let ty = function.ty(&self.store);
        let arguments: Vec<Val> = ty.params().map(|ty| value(&ty, argument).expect("checked before")).collect();
        let mut results = vec![Val::I32(0); ty.results().len()];
        let depth = self.depth();
        let ended = function.call(&mut self.store, &arguments, &mut results);
        let mut at = None;
        let end = match ended {
            Ok(()) => {
                // Whatever way it has left by.
                assert_eq!(self.depth(), depth, "{name}({argument}): the depth is not restored");
                Ok(results.iter().map(shown).collect())
            }
            Err(error) => {
                let frame =
                    error.downcast_ref::<WasmBacktrace>().and_then(|trace| trace.frames().first()?.module_offset());
                at = frame.and_then(|offset| self.original(offset));
                Err(error.downcast_ref::<Trap>().copied().unwrap_or(Trap::NullReference))
            }
        };
        (Seen { end, memories: self.memories(), globals: self.globals() }, at)
    }

    /// The slots that are left. A trap leaves them as they were inside.
    fn depth(&mut self) -> Option<i32> {
        let depth = self.instance.get_global(&mut self.store, DEPTH)?;
        depth.get(&mut self.store).i32()
    }

    /// Where the original has what stands at an offset here; nothing in a function that is not entered yet.
    fn original(&self, offset: usize) -> Option<OriginalOffset> {
        let output = self.output.as_ref()?;
        let offset = u32::try_from(i64::try_from(offset).ok()? - self.moved).ok()?;
        let location = output.maps.locate(ModuleOrdinal(0), RewrittenOffset(offset))?;
        (location.kind != CodeOrigin::DepthCheck).then_some(location.original)
    }

    fn memories(&mut self) -> Vec<Vec<u8>> {
        let exports: Vec<_> = self
            .instance
            .exports(&mut self.store)
            .map(|export| (export.name() == SIDE, export.into_memory()))
            .collect();
        let memories = exports.into_iter().filter(|(side, _)| !side).filter_map(|(_, memory)| memory);
        memories.map(|memory| memory.data(&self.store).to_vec()).collect()
    }

    fn globals(&mut self) -> Vec<String> {
        let exports = self.instance.exports(&mut self.store).filter(|export| export.name() != DEPTH);
        let globals: Vec<_> = exports.filter_map(wasmtime::Export::into_global).collect();
        globals.into_iter().map(|global| shown(&global.get(&mut self.store))).collect()
    }

    /// The fuel of what was counted so far: an instruction costs one, and so does each call of a function.
    fn counted(&mut self) -> u64 {
        let Some(side) = self.side() else { return 0 };
        let sites = &self.output.as_ref().expect("it has one").profile;
        let found = sites.read(ModuleOrdinal(0), side.data(&self.store));
        let of_node = |node: &ProfileNode| {
            let counted = sites.function(ModuleOrdinal(0), node.function).expect("it was counted");
            let of = |(value, counter): (&u64, &ProfileCounter)| match counter {
                ProfileCounter::Segment(operators) => value * operators.len() as u64,
                ProfileCounter::Bytes(_) => 0,
            };
            node.counters[0] + node.counters.iter().zip(&counted.counters).map(of).sum::<u64>()
        };
        found.nodes.iter().map(of_node).sum()
    }

    fn hits(&mut self, at: Option<OriginalOffset>) -> Vec<bool> {
        let Some(side) = self.side() else { return Vec::new() };
        let output = self.output.as_ref().expect("it has one");
        let range = &output.side_memories[0].coverage;
        let bytes = &side.data(&self.store)[range.start as usize..range.end as usize];
        output.sites.hits(|_| bytes, at)
    }

    /// Checks that each page of memory 0 that differs from `before` is marked.
    fn check_marks(&mut self, before: &[u8], after: &[u8], what: &str) {
        let Some(side) = self.side() else {
            let (kept, grown) = after.split_at(before.len().min(after.len()));
            let same = before == kept && grown.iter().all(|byte| *byte == 0);
            assert!(same, "{what}: written, and nothing to mark it with");
            return;
        };
        let output = self.output.as_ref().expect("it has one");
        let range = &output.side_memories[0].marks;
        let marks = &side.data(&self.store)[range.start as usize..range.end as usize];
        let page_bytes = MARKED_PAGE_BYTES as usize;
        for (page, new) in after.chunks(page_bytes).enumerate() {
            let old = before.get(page * page_bytes..page * page_bytes + new.len());
            let same =
                |from: usize| old.map_or(new[from..].iter().all(|byte| *byte == 0), |old| old[from..] == new[from..]);
            let straddled = page > 0 && marks[page - 1] != 0 && same(STRADDLE_BYTES as usize);
            assert!(marks[page] != 0 || same(0) || straddled, "{what}: page {page} was written and is not marked");
        }
    }
}

fn value(ty: &wasmtime::ValType, argument: i32) -> Option<Val> {
    Some(match ty {
        wasmtime::ValType::I32 => Val::I32(argument),
        wasmtime::ValType::I64 => Val::I64(argument.into()),
        wasmtime::ValType::F32 => Val::F32(argument.cast_unsigned()),
        wasmtime::ValType::F64 => Val::F64(u64::from(argument.cast_unsigned())),
        wasmtime::ValType::V128 => Val::V128(u128::from(argument.cast_unsigned()).into()),
        wasmtime::ValType::Ref(ty) if ty.is_nullable() => Val::null_ref(ty.heap_type()),
        wasmtime::ValType::Ref(_) => return None,
    })
}

/// Numbers exactly; of references whether they are null.
fn shown(value: &Val) -> String {
    match value {
        Val::I32(_) | Val::I64(_) | Val::F32(_) | Val::F64(_) | Val::V128(_) => format!("{value:?}"),
        reference => format!("null: {:?}", reference.ref_().map(|reference| reference.is_null())),
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "how much was compared, for a reader of the log")]
fn generated_modules_run_as_before() {
    let modules = if std::env::var_os("FOZZY_LONG").is_some() { MODULES_LONG } else { MODULES };
    let engine = engine();
    let all = Options { modules: ModuleChoice::All, ..Options::default() };
    let ways = [
        Options { coverage: CoverageMode::Every, ..all.clone() },
        Options { coverage: CoverageMode::SetOnce, ..all.clone() },
        Options { coverage: CoverageMode::Counters, recursion: true, marks: true, comparisons: true, ..all.clone() },
        Options { marks: true, ..all.clone() },
        Options { profile: true, ..all },
    ];
    let (mut calls, mut traps, mut taken, mut written, mut counted) = (0, 0, 0, 0, 0);
    for seed in 0..modules {
        let module = generate(seed);
        let mut component = wasm_encoder::Component::new();
        component.section(&RawSection { id: 1, data: &module });
        let component = component.finish();
        let valid = wasmparser::Validator::new_with_features(fozzy_instrument::features()).validate_all(&component);
        if let Err(error) = valid {
            assert!(!seed.is_multiple_of(2), "our own modules are valid: {error}");
            continue;
        }
        let Some(mut before) = InstrumentedRun::new(&engine, &module, None) else { continue };
        let afters = ways.iter().map(|way| {
            let (output, bytes) = rewritten(&component, way);
            InstrumentedRun::new(&engine, &bytes, Some(output)).expect("the original could be instantiated")
        });
        let mut afters: Vec<InstrumentedRun> = afters.collect();
        let names: Vec<String> = before
            .instance
            .exports(&mut before.store)
            .filter_map(|export| Some((export.name().to_owned(), export.into_func()?)))
            .map(|(name, _)| name)
            .collect();
        'module: for (name, argument) in names.iter().flat_map(|name| [(name, 0), (name, 7), (name, -3)]) {
            let function = before.instance.get_func(&mut before.store, name).expect("it is exported");
            if function.ty(&before.store).params().any(|ty| value(&ty, 0).is_none()) {
                continue;
            }
            let pages_before = before.memories();
            let (expected, _) = before.call(name, argument);
            if matches!(expected.end, Err(Trap::OutOfFuel | Trap::StackOverflow)) {
                break 'module;
            }
            calls += 1;
            traps += u64::from(expected.end.is_err());
            written += u64::from(pages_before != expected.memories);
            let mut hits: Vec<Vec<bool>> = Vec::new();
            for (after, way) in afters.iter_mut().zip(&ways) {
                let what = format!("seed {seed}, {name}({argument}), {way:?}");
                let counted_before = after.counted();
                let (found, at) = after.call(name, argument);
                assert_eq!(found.end, expected.end, "{what}");
                if way.profile && expected.end.is_ok() {
                    let used = FUEL - before.store.get_fuel().expect("fuel is on");
                    assert_eq!(after.counted() - counted_before, used, "{what}: instructions");
                    counted += used;
                }
                assert!(found == expected, "{what}: memories or globals differ");
                if way.coverage != CoverageMode::None {
                    hits.push(after.hits(at));
                }
                let sound = after
                    .output
                    .as_ref()
                    .and_then(|output| output.marks.as_ref())
                    .is_some_and(|verdict| verdict.sound());
                if sound && let ([old, ..], [new, ..]) = (&pages_before[..], &found.memories[..]) {
                    after.check_marks(old, new, &what);
                }
            }
            taken += hits[0].iter().filter(|hit| **hit).count();
            assert_eq!(hits[0], hits[1], "seed {seed}, {name}({argument}): kept edges tell something else");
            assert_eq!(hits[0], hits[2], "seed {seed}, {name}({argument}): counters tell something else");
        }
    }
    println!("generated: {calls} calls, {traps} traps, {written} wrote, {taken} edges, {counted} instructions");
    assert!(
        calls > modules && traps > 0 && counted > calls && written > modules / 10 && taken as u64 > calls,
        "too little was compared"
    );
}
