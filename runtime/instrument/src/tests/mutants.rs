//! Mutations: which there are of a small program, and that what compilers put in has none.

use super::component;
use crate::mutants::mutations_up_to;
use crate::{MutationKind, mutations};
use std::collections::BTreeMap;

fn changes(module: &str) -> Vec<(MutationKind, String)> {
    let found = mutations(&component(module), &|_, _| true).expect("a component");
    found.all.into_iter().map(|mutation| (mutation.kind, mutation.change)).collect()
}

fn of(module: &str, kind: MutationKind) -> Vec<String> {
    changes(module).into_iter().filter(|(of, _)| *of == kind).map(|(_, change)| change).collect()
}

#[test]
fn each_operator_has_its_changes() {
    let module = r#"(module
        (import "a" "b" (func $noted (param i32)))
        (memory 1)
        (func (param i32) (result i32)
            (if (i32.lt_s (local.get 0) (i32.const 7)) (then (call $noted (local.get 0))))
            (if (local.get 0) (then (i32.store (i32.const 8) (i32.const 1))))
            (i32.mul (local.get 0) (i32.const 3))))"#;
    let words = |kind| of(module, kind);
    assert_eq!(words(MutationKind::Comparison), ["< became <=", "< became >="]);
    assert_eq!(words(MutationKind::Condition), ["the condition is always true", "the condition is never true"]);
    assert_eq!(words(MutationKind::Arithmetic), ["* became +"]);
    assert_eq!(words(MutationKind::Constant), ["7 became 0", "8 became 0", "1 became 0", "1 became -1", "3 became 0"]);
    assert_eq!(words(MutationKind::Store), ["nothing is stored"]);
    assert_eq!(words(MutationKind::Call), ["the call is left out"]);
    assert_eq!(words(MutationKind::Body), ["the function returns 0", "the function returns 1"]);
}

#[test]
fn mutations_beyond_the_bound_are_counted_by_what_they_change() {
    let module = component("(module (func (param i32) (result i32) (i32.add (local.get 0) (i32.const 7))))");
    let all = mutations(&module, &|_, _| true).expect("a component");
    let some = mutations_up_to(&module, &|_, _| true, 1).expect("a component");
    assert_eq!((&some.all[..], all.left_out.len()), (&all.all[..1], 0));
    let mut others: BTreeMap<MutationKind, u64> = BTreeMap::new();
    all.all[1..].iter().for_each(|mutation| *others.entry(mutation.kind).or_default() += 1);
    assert!(others.len() >= 2 && some.left_out == others, "{:?}", some.left_out);
}

#[test]
fn what_is_the_same_either_way_is_none() {
    let arithmetic = |code: &str| {
        let module = format!("(module (func (param i32) (result i32) {code}))");
        of(&module, MutationKind::Arithmetic)
    };
    assert_eq!(arithmetic("(i32.add (local.get 0) (i32.const 0))"), [""; 0]);
    assert_eq!(arithmetic("(i32.mul (local.get 0) (i32.const 1))"), [""; 0]);
    assert_eq!(arithmetic("(i32.add (local.get 0) (i32.const 2))"), ["+ became -"]);
    assert_eq!(of("(module (func (nop)))", MutationKind::Body), [""; 0]);
}

#[test]
fn the_frame_on_the_shadow_stack_is_left_alone() {
    // As rustc without optimisation has it: the frame is made, a local is spilled for a debugger only, another is stored and read.
    let module = r#"(module
        (memory 1) (global $sp (mut i32) (i32.const 65536))
        (func (param i32) (result i32) (local $frame i32)
            (local.set $frame (i32.sub (global.get $sp) (i32.const 16)))
            (global.set $sp (local.get $frame))
            (i32.store offset=4 (local.get $frame) (local.get 0))
            (i32.store offset=12 (local.get $frame) (i32.const 5))
            (i32.load offset=12 (local.get $frame))
            (global.set $sp (i32.add (local.get $frame) (i32.const 16)))))"#;
    assert_eq!(of(module, MutationKind::Arithmetic), [""; 0]);
    assert_eq!(of(module, MutationKind::Constant), ["5 became 0"]);
    assert_eq!(of(module, MutationKind::Store), ["nothing is stored"]);
}
