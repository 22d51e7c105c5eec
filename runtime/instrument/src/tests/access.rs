//! The accessor, and what stands in its way.

use super::component;
use crate::{InstrumentedComponent, Obstacle, Options, features, instrument};
use wasmparser::Validator;

fn accessed(component: &[u8]) -> InstrumentedComponent {
    let options = Options { access: true, ..Options::default() };
    let output = instrument(component, &options).expect("the component is accepted");
    if let Err(error) = Validator::new_with_features(features()).validate_all(&output.component) {
        panic!("the output is invalid: {error}\n{}", wasmprint(&output.component));
    }
    assert_eq!(output.access.is_some(), output.obstacles.is_empty());
    output
}

/// The names of the sections, which is enough to see what is missing.
fn wasmprint(component: &[u8]) -> String {
    let payloads = wasmparser::Parser::new(0).parse_all(component).filter_map(Result::ok);
    payloads.filter_map(|payload| payload.as_section()).map(|(id, range)| format!("{id} {range:?}\n")).collect()
}

fn text(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("the test's component parses")
}

fn obstacles(component: &[u8]) -> Vec<String> {
    accessed(component).obstacles.iter().map(ToString::to_string).collect()
}

#[test]
fn globals_memories_and_imported_handles_are_reached() {
    let output = accessed(&text(
        r#"(component
            (import "wasi:io/poll@0.2.0" (instance $poll
                (export "pollable" (type (sub resource)))))
            (alias export $poll "pollable" (type $pollable))
            (import "again" (instance $again
                (alias outer 1 $pollable (type $outer))
                (export "pollable" (type (eq $outer)))))
            (core module $first
                (memory (export "memory") 1)
                (global (mut i64) (i64.const 7))
                (global i32 (i32.const 1))
                (global (export "g") (mut f32) (f32.const 7)))
            (core instance $one (instantiate $first))
            (core module $second
                (import "m" "g" (global (mut f32)))
                (import "m" "memory" (memory 1))
                (global (mut v128) (v128.const i64x2 1 2))
                (func (export "run") (global.set 1 (v128.const i64x2 3 4))))
            (core instance $two (instantiate $second (with "m" (instance $one))))
            (func (export "run") (canon lift (core func $two "run"))))"#,
    ));
    let access = output.access.expect("no obstacle");
    assert_eq!(access.globals, 3);
    let resources: Vec<(String, String)> = access.resources.iter().map(|r| (r.interface.clone(), r.make())).collect();
    assert_eq!(resources, [("wasi:io/poll@0.2.0".to_owned(), "fozzy-make-pollable".to_owned())]);
}

#[test]
fn a_component_without_state_is_reached_too() {
    assert_eq!(accessed(&text("(component)")).access.expect("no obstacle").globals, 0);
}

#[test]
fn the_tag_depends_on_the_component() {
    let tag = |text: &str| accessed(&component(text)).tag.expect("no obstacle");
    assert_ne!(tag("(module (memory 1))"), tag("(module (memory 2))"));
}

#[test]
fn each_obstacle_is_named() {
    let module = |text: &str| obstacles(&component(text));
    for (operator, word) in [
        ("(table.set (i32.const 0) (ref.null func))", "changes a table"),
        ("(drop (table.grow (ref.null func) (i32.const 1)))", "changes a table"),
        ("(table.fill (i32.const 0) (ref.null func) (i32.const 1))", "changes a table"),
        ("(table.copy (i32.const 0) (i32.const 0) (i32.const 0))", "changes a table"),
        ("(table.init $e (i32.const 0) (i32.const 0) (i32.const 0))", "changes a table"),
        ("(data.drop $d)", "drops a segment"),
        ("(elem.drop $e)", "drops a segment"),
        ("(drop (struct.new $s))", "garbage-collected"),
        ("(drop (array.new_fixed $a 0))", "garbage-collected"),
    ] {
        let text = format!(
            "(module (type $s (struct)) (type $a (array i32)) (memory 1) (table 1 funcref)
                (elem $e funcref (ref.null func)) (data $d \"x\") (func {operator}))"
        );
        let found = module(&text);
        assert!(found.len() == 1 && found[0].contains(word), "{operator}: {found:?}");
    }
    assert!(module("(module (global (mut funcref) (ref.null func)))")[0].contains("reference"));
    assert!(module("(module (func (export \"fozzy-g0\")))")[0].contains("`fozzy-g0`"));
    assert!(module("(module (table 1 funcref) (memory 1) (func (drop (memory.grow (i32.const 1)))))").is_empty());

    let whole = |inner: &str| obstacles(&text(&format!("(component {inner})")));
    assert!(
        whole("(core module $m) (core instance (instantiate $m)) (core instance (instantiate $m))")[0]
            .contains("more than once")
    );
    assert!(whole("(component (core module))")[0].contains("inside"));
    assert!(whole("(component (import \"f\" (func $f)) (core func (canon lower (func $f))))")[0].contains("inside"));
    assert!(whole("(import \"m\" (core module))")[0].contains("outside"));
    assert!(whole("(type (resource (rep i32)))")[0].contains("resource types"));
    assert!(whole("(import \"fozzy-mint-x\" (func))")[0].contains("reserved"));
    assert!(whole("(component (import \"f\" (func)) (export \"g\" (func 0)))").is_empty());
}

#[test]
fn obstacles_are_looked_for_only_when_asked() {
    let output = instrument(&text("(component (core module))"), &Options::default()).expect("accepted");
    assert_eq!((output.access, output.obstacles), (None, Vec::<Obstacle>::new()));
}

/// A component with a fuzz target: a module with `module` in it, and `component` beside it. The type of `realloc` is given by name.
fn targeted(module: &str, component: &str) -> InstrumentedComponent {
    accessed(&text(&format!(
        r#"(component
            (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock (export "now" (func (result u64)))))
            (core func $now (canon lower (func $clock "now")))
            (core module $m (import "host" "now" (func $now (result i64))) (memory (export "memory") 1)
                (type $realloc (func (param i32 i32 i32 i32) (result i32)))
                (func $grow (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
                {module})
            (core instance $i (instantiate $m (with "host" (instance (export "now" (func $now))))))
            {component})"#
    )))
}

const RUN: &str = r#"(func (export "run") (param i32 i32 i32) (drop (call $now)))"#;
const REALLOC: &str =
    r#"(func (export "realloc") (type $realloc) (if (call $grow (i32.const 0)) (then unreachable)) (i32.const 0))"#;
const POST: &str = r#"(func (export "post") (drop (call $grow (i32.const 1))))"#;
const LIFTED: &str = r#"(func (export "run") (param "target" u32) (param "data" (list u8))
    (canon lift (core func $i "run") (memory $i "memory") (realloc (func $i "realloc"))))"#;

/// Whether inputs go through the accessor; if so, there is room for the longest one.
fn takes_inputs(module: &str, component: &str) -> bool {
    let output = targeted(module, component);
    let is_exported = output.component.windows(crate::FUZZ.len()).any(|bytes| bytes == crate::FUZZ.as_bytes());
    let access = output.access.expect("no obstacle");
    let room = access.input_at.map(|at| access.memory_bytes() - u64::from(at) - crate::INPUT_BYTES_AT as u64);
    assert!(room.is_none_or(|room| room >= crate::INPUT_BYTES_MAX as u64), "{room:?}");
    assert_eq!(access.input_at.is_some(), is_exported);
    is_exported
}

#[test]
fn a_fuzz_target_is_called_through_the_accessor() {
    let plain = format!("{RUN} {REALLOC}");
    let with_post = LIFTED.replace("\"realloc\")", "\"realloc\")) (post-return (func $i \"post\")");
    assert!(takes_inputs(&plain, LIFTED));
    assert!(takes_inputs(&format!("{plain} {POST}"), &with_post));
    // By the names of its types, as generators of bindings write it, and out of an interface.
    let named = r#"(type $place u32) (type $byte u8) (type $bytes (list $byte))
        (type $run (func (param "target" $place) (param "data" $bytes)))
        (func $run (type $run) (canon lift (core func $i "run") (memory $i "memory") (realloc (func $i "realloc"))))
        (instance $fuzz (export "run" (func $run))) (export "fozzy:scenario/fuzz@0.1.0" (instance $fuzz))"#;
    assert!(takes_inputs(&plain, named));
    // Another one of the same type could be the one that is meant.
    assert!(!takes_inputs(&plain, &format!("{LIFTED} {}", LIFTED.replace("export \"run\"", "export \"other\""))));
    assert!(!takes_inputs(&plain, &LIFTED.replace("list u8", "list s8")));
    assert!(!takes_inputs(&plain, ""));
    assert!(!takes_inputs(&format!("{plain} (memory 1)"), LIFTED));
}

/// Whether each core module of a component has code, in the order of the bytes.
fn modules_with_code(component: &[u8]) -> Vec<bool> {
    let mut with_code = Vec::new();
    for payload in wasmparser::Parser::new(0).parse_all(component) {
        match payload.expect("the output parses") {
            wasmparser::Payload::ModuleSection { .. } => with_code.push(false),
            wasmparser::Payload::CodeSectionStart { .. } => *with_code.last_mut().expect("in a module") = true,
            _ => {}
        }
    }
    with_code
}

#[test]
fn what_takes_inputs_is_exported_by_a_module_that_has_imported_it() {
    let plain = format!("{RUN} {REALLOC}");
    // The program's, the accessor, and the relay.
    assert_eq!(modules_with_code(&targeted(&plain, LIFTED).component), [true, true, false]);
    assert_eq!(modules_with_code(&targeted(&plain, "").component), [true, true]);
}

#[test]
fn a_fuzz_target_whose_memory_functions_may_call_outside_is_not_called_through_the_accessor() {
    // Each would trap where the canonical ABI calls it.
    let called = r#"(func $outer (type $realloc) (drop (call $now)) (i32.const 0)) (table 1 funcref) (elem (i32.const 0) func $outer)
        (func (export "realloc") (type $realloc) (call $outer (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))"#;
    let through = |call: &str| called.replace("(call $outer", call);
    let at_end = |call: &str| {
        let before = "(i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)";
        called.replace(&format!("(call $outer {before})"), &format!("({call} {before} (i32.const 0))"))
    };
    for realloc in [
        called.to_owned(),
        through("(return_call $outer"),
        at_end("call_indirect (type $realloc)"),
        at_end("return_call_indirect (type $realloc)"),
    ] {
        assert!(!takes_inputs(&format!("{RUN} {realloc}"), LIFTED), "{realloc}");
    }
    let with_post = LIFTED.replace("\"realloc\")", "\"realloc\")) (post-return (func $i \"post\")");
    let calling = POST.replace("(call $grow (i32.const 1))", "(call $now)");
    assert!(!takes_inputs(&format!("{RUN} {REALLOC} {calling}"), &with_post));
    // A function of a type that an import cannot name.
    let together = "(rec (type $one (func (param i32 i32 i32 i32) (result i32))) (type $two (func)))";
    let realloc = REALLOC.replace("$realloc", "$one");
    assert!(!takes_inputs(&format!("{together} {RUN} {realloc}"), LIFTED));
}
