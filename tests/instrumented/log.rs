//! The comparison log of a small program: what it compares, in order, each place a few times, and only while the switch is on.

use super::generated::{SIDE, rewritten};
use fozzy_instrument::{
    COMPARISONS_PER_SITE, ComparisonSites, HEADER_ENTRIES_AT, HEADER_SWITCH_AT, LoggedComparison, ModuleOrdinal,
    Options,
};
use fozzy_trace::ComparisonKind;
use wasm_encoder::RawSection;
use wasmtime::{Engine, Instance, Module, Store};

const PROGRAM: &str = r#"(module
    (memory (export "memory") 1)
    (data (i32.const 100) "the secret words")
    (data (i32.const 65533) "end")
    (func $memcmp (param i32 i32 i32) (result i32) i32.const 0)
    (func (export "run") (param i32 i64) (local i32)
        (drop (i32.eq (local.get 0) (i32.const 0x464c457f)))
        (drop (i64.lt_u (local.get 1) (i64.const 1000)))
        block block (br_table 0 1 0 (local.get 0)) end end
        (drop (call $memcmp (i32.const 100) (i32.const 104) (i32.const 12)))
        ;; Too near to the end of the memory to be read.
        (drop (call $memcmp (i32.const 65533) (i32.const 104) (i32.const 3)))
        loop
            (local.set 2 (i32.add (local.get 2) (i32.const 1)))
            (br_if 0 (i32.ne (local.get 2) (i32.const 100)))
        end))"#;

#[test]
fn a_program_shows_what_it_compares() {
    let module = wat::parse_str(PROGRAM).expect("it parses");
    let mut component = wasm_encoder::Component::new();
    component.section(&RawSection { id: 1, data: &module });
    let (output, bytes) = rewritten(&component.finish(), &Options { comparisons: true, ..Options::default() });
    let side = &output.side_memories[0];
    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let module = Module::new(&engine, bytes).expect("it is valid");
    let instance = Instance::new(&mut store, &module, &[]).expect("it has no imports");
    let memory = instance.get_memory(&mut store, SIDE).expect("it is exported");
    let run = instance.get_typed_func::<(u32, u64), ()>(&mut store, "run").expect("it is exported");

    run.call(&mut store, (7, 9)).expect("it does not trap");
    assert_eq!(ComparisonSites::read(side, memory.data(&store)).count(), 0, "the switch is off");

    memory.write(&mut store, HEADER_SWITCH_AT as usize, &[1]).expect("it is inside");
    run.call(&mut store, (7, 9)).expect("it does not trap");
    let found: Vec<LoggedComparison> = ComparisonSites::read(side, memory.data(&store)).collect();
    let sites = output.comparisons.of(ModuleOrdinal(0));
    let row =
        |entry: &LoggedComparison| (sites[entry.site as usize].kind, entry.left, entry.right, entry.at, entry.bytes);
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let first: Vec<_> = found.iter().take(5).map(row).collect();
    assert_eq!(
        first,
        [
            (ComparisonKind::Equal { bits: 32 }, 7, 0x464c_457f, 0, 8),
            (ComparisonKind::Order { bits: 64, signed: false }, 9, 1000, 0, 8),
            (ComparisonKind::Switch, 7, 2, 0, 8),
            (ComparisonKind::Bytes, word(b"the secr"), word(b"secret w"), 0, 8),
            (ComparisonKind::Bytes, word(b"et w\0\0\0\0"), word(b"ords\0\0\0\0"), 8, 4),
        ]
    );
    // The loop, which goes on much longer.
    assert_eq!(found.len(), 5 + COMPARISONS_PER_SITE as usize);
    assert!(found[5..].iter().zip(1..).all(|(entry, round)| (entry.left, entry.right) == (round, 100)));

    // Emptied, and run again: the counts say that everything was seen.
    memory.write(&mut store, HEADER_ENTRIES_AT as usize, &[0; 4]).expect("it is inside");
    let counts = side.comparison_counts.start as usize..side.comparison_counts.end as usize;
    memory.data_mut(&mut store)[counts].fill(0);
    run.call(&mut store, (7, 9)).expect("it does not trap");
    assert_eq!(ComparisonSites::read(side, memory.data(&store)).collect::<Vec<_>>(), found);
}
