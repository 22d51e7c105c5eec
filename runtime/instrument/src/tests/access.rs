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

/// A component whose one module exports `exports`, and is instantiated.
fn stepping(memory: &str, exports: &str) -> InstrumentedComponent {
    accessed(&text(&format!("(component (core module $m {memory} {exports}) (core instance (instantiate $m)))")))
}

#[test]
fn the_step_of_a_scenario_is_taken_again_and_again() {
    const ONE: &str = "(memory 1)";
    const STEP: &str = r#"(func (export "fozzy:scenario/stateful@0.1.0#step") (param i32) (result i32) i32.const 8)"#;
    const POST: &str = r#"(func (export "cabi_post_fozzy:scenario/stateful@0.1.0#step") (param i32))"#;
    let takes_steps = |memory: &str, exports: &str| {
        let output = stepping(memory, exports);
        let has = |name: &str| output.component.windows(name.len()).any(|bytes| bytes == name.as_bytes());
        let steps = output.access.expect("no obstacle").steps;
        assert_eq!((has(crate::STEPS), has(crate::STEP_OVER)), (steps, steps), "{memory} {exports}");
        steps
    };
    assert!(takes_steps(ONE, &format!("{STEP} {POST}")) && takes_steps(ONE, STEP));
    let wide = STEP.replace("(result i32) i32.const", "(result i64) i64.const");
    let wrong_post = POST.replace("(param i32)", "(param i64)");
    for (memory, exports) in [
        (ONE, String::new()),
        (ONE, STEP.replace("@0.1.0", "@0.2.0")),
        (ONE, wide),
        (ONE, format!("{STEP} {wrong_post}")),
        (ONE, format!("{STEP} {}", STEP.replace("@0.1.0", "@0.1.1"))),
        ("(memory 1) (memory 1)", STEP.to_owned()),
        ("(memory i64 1)", STEP.to_owned()),
        ("", STEP.to_owned()),
    ] {
        assert!(!takes_steps(memory, &exports), "{memory} {exports}");
    }
}
