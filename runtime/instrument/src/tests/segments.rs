//! Data segments are merged where that changes nothing, and only there.

use super::{instrumented, instrumented_with};
use crate::{CoverageMode, InstrumentedComponent, ModuleChoice, Options};
use std::fmt::Write;
use wasmparser::{DataKind, Operator, Parser, Payload};

/// More than are left alone.
const MANY: u32 = 100;

/// A component with one module and this many instances of it.
fn program(module: &str, instances: u32) -> Vec<u8> {
    let instances: String = (0..instances).map(|_| "(core instance (instantiate $m))").collect();
    wat::parse_str(format!("(component (core module $m {module}) {instances})")).expect("the test's module parses")
}

/// A memory of `pages`, and segments of three bytes at these offsets.
fn module(pages: u32, offsets: impl IntoIterator<Item = u32>) -> String {
    offsets.into_iter().fold(format!("(memory {pages})"), |mut text, at| {
        let _ = write!(text, r#"(data (i32.const {at}) "a{:02}")"#, at % 100);
        text
    })
}

/// Memory, offset and bytes of each active segment.
fn segments(component: &[u8]) -> Vec<(u32, u32, Vec<u8>)> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        let Payload::DataSection(reader) = payload.expect("the component parses") else { continue };
        for segment in reader {
            let segment = segment.expect("it parses");
            let DataKind::Active { memory_index, offset_expr } = segment.kind else { continue };
            let Ok(Operator::I32Const { value }) = offset_expr.get_operators_reader().read() else { continue };
            found.push((memory_index, value.cast_unsigned(), segment.data.to_vec()));
        }
    }
    found
}

/// What memory 0 holds when all segments were copied in turn, and the fuel that takes.
fn started(component: &[u8]) -> (Vec<u8>, i64) {
    let mut memory = vec![0; 4 << 16];
    let mut fuel = 0;
    for (index, at, data) in segments(component) {
        fuel += 1 + i64::try_from(data.len()).expect("small");
        if index == 0 {
            memory[at as usize..at as usize + data.len()].copy_from_slice(&data);
        }
    }
    (memory, fuel)
}

/// Merges, and checks that a start leaves the same memory and the same fuel.
fn merged(component: &[u8]) -> (InstrumentedComponent, usize) {
    let output = instrumented(component);
    let ((before, fuel_before), (after, fuel_after)) = (started(component), started(&output.component));
    assert!(before == after, "memory differs after the start");
    assert_eq!(output.startup_fuel, fuel_after - fuel_before);
    let count = segments(&output.component).len();
    (output, count)
}

fn untouched(component: &[u8]) {
    let (output, count) = merged(component);
    assert_eq!(count, segments(component).len());
    assert_eq!(output.startup_fuel, 0);
}

#[test]
fn many_small_segments_become_one() {
    let (output, count) = merged(&program(&module(1, (0..MANY).map(|i| i * 16)), 1));
    assert_eq!(count, 1);
    // Thirteen zeros in each gap, and one segment instead of a hundred.
    assert_eq!(output.startup_fuel, i64::from((MANY - 1) * 13) - i64::from(MANY - 1));
}

#[test]
fn few_segments_stay_as_they_are() {
    untouched(&program(&module(1, (0..64).map(|i| i * 16)), 1));
}

#[test]
fn empty_segments_go_and_cover_nothing() {
    let mut text = module(1, (0..MANY).map(|i| i * 16));
    for at in [0, 8, 1_000, 65_536] {
        let _ = write!(text, r#"(data (i32.const {at}) "")"#);
    }
    assert_eq!(merged(&program(&text, 1)).1, 1);
    // One beyond the end traps, as ever.
    untouched(&program(&format!(r#"{text} (data (i32.const 65537) "")"#), 1));
}

#[test]
fn what_zeros_make_of_a_hostile_module_is_bounded() {
    let scattered = program(&module(640, (0..40_000).map(|i| i * 1_000)), 1);
    let written: usize = segments(&instrumented(&scattered).component).iter().map(|(_, _, data)| data.len()).sum();
    assert!((32 << 20..33 << 20).contains(&written), "{written}");
}

#[test]
fn gaps_that_reach_over_a_page_are_kept() {
    let apart = (0..MANY).map(|i| i / 50 * 40_000 + i % 50 * 16);
    assert_eq!(merged(&program(&module(2, apart), 1)).1, 2);
}

#[test]
fn zeros_never_cover_an_earlier_segment() {
    // The second half lies in the gaps of the first, written before and after it.
    let offsets = (0..MANY).map(|i| i * 64).chain((0..MANY).map(|i| i * 64 + 32)).chain((0..MANY).map(|i| i * 64 + 1));
    let (_, count) = merged(&program(&module(1, offsets), 1));
    assert!(count > 1 && count < 3 * MANY as usize, "{count}");
    let descending = (0..MANY).rev().map(|i| i * 16);
    untouched(&program(&module(1, descending), 1));
}

#[test]
fn memories_are_not_mixed_up() {
    let several = (0..MANY).fold("(memory 1) (memory 1)".to_owned(), |mut text, i| {
        let _ = write!(text, r#"(data (memory {}) (i32.const {}) "xyz")"#, i / 50, i % 50 * 8);
        text
    });
    assert_eq!(merged(&program(&several, 1)).1, 2);
}

#[test]
fn what_may_not_be_as_new_or_may_trap_is_left_alone() {
    let offsets = || (0..MANY).map(|i| i * 16);
    let own = module(1, offsets());
    // If it is instantiated never, twice, or elsewhere, its fuel would be unknown.
    untouched(&program(&own, 0));
    untouched(&program(&own, 2));
    let exported =
        format!("(component (core module $m {own}) (core instance (instantiate $m)) (export \"m\" (core module $m)))");
    untouched(&wat::parse_str(exported).expect("it parses"));
    let memory = r#"(core module $own (memory (export "m") 1)) (core instance $own (instantiate $own))"#;
    let imported = own.replace("(memory 1)", r#"(import "own" "m" (memory 1))"#);
    let imported = format!(
        r#"(component {memory} (core module $m {imported}) (core instance (instantiate $m (with "own" (instance $own)))))"#
    );
    untouched(&wat::parse_str(imported).expect("it parses"));
    // One of them does not fit.
    untouched(&program(&module(1, offsets().chain([65_534])).replace("\"a34\"", "\"abcdef\""), 1));
    // Code names them, or one has to be kept for it.
    untouched(&program(&format!("{own} (func (data.drop 3))"), 1));
    untouched(&program(&format!(r#"{own} (data "passive")"#), 1));
    untouched(&program(&format!(r#"(global $at i32 (i32.const 7)) {own} (data (global.get $at) "g")"#), 1));
}

#[test]
fn side_memories_find_room_where_the_original_had_none() {
    let full = program(&module(4, (0..100_000).map(|i| i / 2 * 5)), 1);
    let all =
        Options { coverage: CoverageMode::SetOnce, marks: true, modules: ModuleChoice::All, ..Options::default() };
    let output = instrumented_with(&full, &all);
    assert!(segments(&output.component).len() < 100_000);
}
