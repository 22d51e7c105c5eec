//! Damaged and hostile components: an error, or something valid, but never a panic.

use super::{component, refused, wrap};
use crate::source::DebugSymbols;
use crate::{
    COMPONENT_BYTES_MAX, Error, ModuleOrdinal, Options, OriginalOffset, RewrittenOffset, STACK_SLOTS_MAX, features,
    instrument,
};
use wasmparser::Validator;

fn sample() -> Vec<u8> {
    component(
        "(module $m (import \"\" \"i\" (func $i)) (tag $t (param i32)) (global (mut i32) (i32.const 1))
        (func $f (param f32) (result i32 i64) (local v128)
          block (result i32) try_table (catch $t 0) f32.const 0 call $f return end unreachable end
          drop f32.const 0 return_call $f))",
    )
}

/// Instruments `bytes` and asks the maps and symbols about everything.
fn survive(bytes: &[u8]) {
    let options = [Options::default(), Options { steps: true, ..Options::default() }];
    for output in options.iter().filter_map(|options| instrument(bytes, options).ok()) {
        let valid = Validator::new_with_features(features()).validate_all(&output.component);
        assert!(valid.is_ok(), "{bytes:?} gives {:?}", valid.err());
        for offset in 0..u32::try_from(output.component.len()).expect("small") {
            let _ = output.maps.find(RewrittenOffset(offset));
        }
    }
    let symbols = DebugSymbols::new(bytes);
    for offset in 0..u32::try_from(bytes.len()).expect("small") {
        let _ = symbols.frames(ModuleOrdinal(0), OriginalOffset(offset));
    }
}

#[test]
fn truncated() {
    let bytes = sample();
    for end in 0..bytes.len() {
        // A component without its last sections is a component, here the empty one.
        if end != 8 {
            assert!(matches!(refused(&bytes[..end]), Error::Invalid { .. }), "cut at {end}");
        }
        survive(&bytes[..end]);
    }
}

#[test]
fn flipped() {
    let bytes = sample();
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[position] ^= 1 << bit;
            survive(&flipped);
        }
    }
}

#[test]
fn messages_say_what_and_where() {
    let module = wat::parse_str("(module)").expect("parses");
    assert_eq!(refused(&module).to_string(), "expected a component, found a core module: componentize it first");
    assert_eq!(
        refused(&component("(module (memory 1 1 shared))")).to_string(),
        "invalid component at offset 0x15: threads must be enabled for shared memories"
    );
    assert_eq!(
        refused(&vec![0; COMPONENT_BYTES_MAX + 1]).to_string(),
        "the component has 268435457 bytes, more than the 268435456 that are accepted"
    );
    for stack_slots in [0, STACK_SLOTS_MAX + 1] {
        let error = instrument(&wrap(&[]), &Options { stack_slots, ..Options::default() });
        assert_eq!(error, Err(Error::StackSlots { found: stack_slots }));
    }
}

#[test]
fn nested_too_deep() {
    let mut component = wrap(&[]);
    for _ in 0..150 {
        let mut outer = wasm_encoder::Component::new();
        outer.section(&wasm_encoder::RawSection { id: 4, data: &component });
        component = outer.finish();
    }
    assert!(matches!(refused(&component), Error::NestedTooDeep { .. }));
    survive(&component);
}

#[test]
fn nested_past_its_parent() {
    let mut inner = wrap(&[]);
    // A core module of 100 bytes, in a component that ends after a few.
    inner.extend([1, 100]);
    inner.extend(b"\0asm\x01\0\0\0");
    let mut outer = wasm_encoder::Component::new();
    outer.section(&wasm_encoder::RawSection { id: 4, data: &inner });
    outer.section(&wasm_encoder::CustomSection { name: "x".into(), data: [0; 200][..].into() });
    let component = outer.finish();
    assert!(matches!(refused(&component), Error::Invalid { offset: 18, .. }));
    survive(&component);
}

#[test]
fn no_room_for_another_local() {
    let module = |locals: &str| format!("(module (func $f (local {locals}) call $f))");
    let error = refused(&component(&module(&"i32 ".repeat(50_000))));
    assert!(matches!(error, Error::NoRoom { what: "locals", found: 50_001, .. }), "{error}");
    super::instrumented_with(&component(&module(&"i32 ".repeat(49_999))), &Options::default());
}

/// A function whose body is made of `code`, in a module with a type of 300 values in and out.
fn wide(code: &str) -> Vec<u8> {
    let types = "i64 ".repeat(300);
    let pushed = "i64.const 0 ".repeat(300);
    let dropped = "drop ".repeat(300);
    component(&format!(
        "(module (memory 1) (type $wide (func (param {types}) (result {types}))) (func $same (type $wide) unreachable)
           (func {pushed} {code} {dropped}))"
    ))
}

#[test]
fn what_passes_on_far_more_values_than_it_has_bytes_is_refused() {
    for operator in [
        "(loop (type $wide))",
        "(block (type $wide))",
        "(if (type $wide) (i32.const 0) (then))",
        "call $same ",
        "(block (type $wide) i32.const 0 br_if 0 i32.const 0 br_if 0)",
        "(block (type $wide) i32.const 0 br_table 0 0 0 0 0)",
    ] {
        let some = instrument(&wide(&operator.repeat(20)), &Options::default());
        assert!(some.is_ok(), "{operator}: {:?}", some.err());
        let error = instrument(&wide(&operator.repeat(800)), &Options::default()).expect_err(operator);
        assert!(matches!(error, Error::TooCostly { .. }), "{operator}: {error}");
        assert!(error.to_string().contains("it would take gigabytes to compile"), "{error}");
    }
}

#[test]
fn a_high_operand_stack_costs_no_more_for_each_operator() {
    // With work for each operand at each block, this would be some ten thousand million steps.
    let blocks = "(block (type $none))".repeat(200_000);
    let pushed = "i64.const 0 ".repeat(50_000);
    let module = format!("(module (memory 1) (type $none (func)) (func {pushed} {blocks} unreachable))");
    let options = Options { marks: true, ..Options::default() };
    assert!(instrument(&component(&module), &options).is_ok());
}
