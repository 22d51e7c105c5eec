//! Guests whose state is out of reach: each is told apart by what it is, and called again instead.
//!
//! ```text
//! a table that changes · a dropped segment · a reference in a global · objects · resources of its own
//! a module twice · a component inside · a reserved name        ─▶ the sentence, and Restored::Repeated
//! several memories, 64-bit memories, globals of all types, modules that share them    ─▶ in reach, and brought back
//! ```
//!
//! Invariant: no guest is ever restored to something else than what it was.

use super::guests::{Guest, Source, number_steps};
use super::walk::{AFTER_TRAPS, CHOSEN, EVICTED, EXACT, Way, program, start, walk, walks};
use fozzy_engine::{Build, Program, ProgramError, RestoreMethod, Switches};
use std::borrow::Cow;

/// A component around one module that exports `step`.
fn around(module: &str) -> String {
    format!(
        r#"(component (core module $m {module}) (core instance $i (instantiate $m))
            (func (export "step") (param "kind" u32) (param "value" u32) (result u64)
                (canon lift (core func $i "step"))))"#
    )
}

/// The type of a core `step`, under that name.
const STEP: &str = r#"(func (export "step") (param $kind i32) (param $value i32) (result i64)"#;

fn guest(name: &'static str, text: String) -> Guest {
    let component = Source::Text(Cow::Owned(text));
    Guest { name, component, open: number_steps, kinds: 4, endings: 0, ends_by_itself: false }
}

/// A table of three places, and a step that calls all of them after `change`.
fn table(name: &'static str, change: &str) -> Guest {
    guest(
        name,
        around(&format!(
            r#"(type $f (func (result i64))) (table $t 3 8 funcref) (table $u 3 funcref)
            (elem (table $t) (i32.const 0) func $a $b $a) (elem (table $u) (i32.const 0) func $b $b $a)
            (elem $e func $b $a)
            (func $a (result i64) (i64.const 1)) (func $b (result i64) (i64.const 2))
            (func $at (param i32) (result i32) (i32.rem_u (local.get 0) (i32.const 2)))
            {STEP}
                {change}
                (i64.add (i64.mul (i64.extend_i32_u (table.size $t)) (i64.const 1000))
                (i64.add (call_indirect $t (type $f) (i32.const 0))
                (i64.add (i64.mul (call_indirect $t (type $f) (i32.const 1)) (i64.const 10))
                    (i64.mul (call_indirect $t (type $f) (i32.const 2)) (i64.const 100))))))"#
        )),
    )
}

/// Each with the words of its obstacle.
fn unreached() -> Vec<(&'static str, Guest)> {
    let at = "(call $at (local.get $kind))";
    let table_changes = "changes a table";
    let resource = format!(
        r#"(component (type $r (resource (rep i32)))
            (core func $new (canon resource.new $r)) (core func $drop (canon resource.drop $r))
            (core module $m (import "r" "new" (func $new (param i32) (result i32)))
                (import "r" "drop" (func $drop (param i32)))
                {STEP}
                    (local $made i32)
                    (local.set $made (call $new (local.get $value)))
                    (if (i32.eqz (local.get $kind)) (then (call $drop (local.get $made))))
                    (i64.extend_i32_u (local.get $made))))
            (core instance $i (instantiate $m (with "r" (instance (export "new" (func $new)) (export "drop" (func $drop))))))
            (func (export "step") (param "kind" u32) (param "value" u32) (result u64) (canon lift (core func $i "step"))))"#
    );
    let counts = format!(
        r#"(global $n (mut i64) (i64.const 0))
        {STEP} (global.set $n (i64.add (global.get $n) (i64.extend_i32_u (local.get $value)))) (global.get $n))"#
    );
    let twice = around(&counts).replace(
        "(func (export \"step\") (param \"kind\"",
        "(core instance (instantiate $m)) (func (export \"step\") (param \"kind\"",
    );
    let inside = format!(
        "(component (component $c {}) (instance $i (instantiate $c)) (alias export $i \"step\" (func $s)) (export \"step\" (func $s)))",
        around(&counts).strip_prefix("(component").and_then(|text| text.strip_suffix(')')).expect("a component")
    );
    vec![
        (
            table_changes,
            table("table.set", &format!("(table.set $t {at} (table.get $u (call $at (local.get $value))))")),
        ),
        (
            table_changes,
            table("table.grow", "(drop (table.grow $t (ref.null func) (i32.and (local.get $value) (i32.const 1))))"),
        ),
        (table_changes, table("table.fill", &format!("(table.fill $t {at} (ref.func $b) (i32.const 1))"))),
        (
            table_changes,
            table("table.copy", &format!("(table.copy $t $u {at} (call $at (local.get $value)) (i32.const 1))")),
        ),
        (
            table_changes,
            table("table.init", &format!("(table.init $t $e {at} (call $at (local.get $value)) (i32.const 1))")),
        ),
        (
            "drops a segment",
            guest(
                "data.drop",
                around(&format!(
                    r#"(memory 1) (data $d "x") (global $n (mut i64) (i64.const 0))
                    {STEP} (data.drop $d) (global.set $n (i64.add (global.get $n) (i64.const 1))) (global.get $n))"#
                )),
            ),
        ),
        (
            "drops a segment",
            guest(
                "elem.drop",
                around(&format!(
                    r#"(elem $e func $f) (func $f) (memory 1)
                    {STEP} (elem.drop $e) (i32.store8 (local.get $kind) (local.get $value)) (i64.load (i32.const 0)))"#
                )),
            ),
        ),
        (
            "keeps a reference in a mutable global",
            guest(
                "reference",
                around(&format!(
                    r#"(global $g (mut funcref) (ref.null func)) (elem declare func $f) (func $f)
                    {STEP}
                        (local $was i32)
                        (local.set $was (ref.is_null (global.get $g)))
                        (global.set $g (select (result funcref) (ref.func $f) (ref.null func)
                            (i32.and (local.get $value) (i32.const 1))))
                        (i64.extend_i32_u (local.get $was)))"#
                )),
            ),
        ),
        (
            "makes garbage-collected objects",
            guest(
                "objects",
                around(&format!(
                    r#"(type $cell (struct (field $n (mut i64))))
                    (global $g (ref $cell) (struct.new $cell (i64.const 5)))
                    {STEP}
                        (struct.set $cell $n (global.get $g) (i64.add (i64.extend_i32_u (local.get $value))
                            (struct.get $cell $n (struct.new $cell (struct.get $cell $n (global.get $g))))))
                        (struct.get $cell $n (global.get $g)))"#
                )),
            ),
        ),
        ("resource types of its own", guest("resources", resource)),
        ("more than once", guest("a module twice", twice)),
        ("a component inside has code", guest("a component inside", inside)),
        (
            "the reserved name `fozzy-global-0`",
            guest("a reserved name", around(&format!(r#"{counts} (func (export "fozzy-global-0"))"#))),
        ),
    ]
}

#[test]
fn what_cannot_be_reached_is_said_and_called_again() {
    for (why, guest) in unreached() {
        for way in [AFTER_TRAPS, EXACT] {
            let reactor = start(program(&guest, &(way.build)()), 1);
            let obstacles = reactor.obstacles();
            assert!(obstacles.iter().any(|obstacle| obstacle.contains(why)), "{}: {obstacles:?}", guest.name);
            assert_eq!(reactor.tracker(), None, "{}", guest.name);
            let restored = walk(&guest, &way, walks(5).min(1_000));
            let again = restored.iter().all(|restored| matches!(restored, RestoreMethod::Repeated { .. }));
            assert!(again, "{} {}: {restored:?}", guest.name, way.name);
        }
    }
}

/// State in odd places that is in reach all the same.
fn reached() -> Vec<Guest> {
    let memories = around(&format!(
        r#"(memory $a 1 4) (memory $b i64 1 4)
        (global $i (mut i64) (i64.const 1)) (global $n (mut i32) (i32.const 2)) (global $s (mut f32) (f32.const 0.5))
        (global $f (mut f64) (f64.const 0.25)) (global $v (mut v128) (v128.const i32x4 1 2 3 4))
        (func $at (param i32) (result i32) (i32.and (local.get 0) (i32.const 0xfff8)))
        {STEP}
            (local $at i32)
            (local.set $at (call $at (local.get $value)))
            (if (i32.eqz (local.get $kind)) (then
                (drop (memory.grow $a (i32.const 1))) (drop (memory.grow $b (i64.const 1)))))
            (if (i32.eq (local.get $kind) (i32.const 1)) (then
                (i32.store $a (local.get $at) (local.get $value))
                (i64.store $b (i64.extend_i32_u (local.get $at)) (i64.extend_i32_u (local.get $value)))))
            (if (i32.eq (local.get $kind) (i32.const 2)) (then
                (memory.copy $b $a (i64.const 4090) (i32.const 0) (i32.const 8200))
                (memory.fill $a (i32.and (local.get $value) (i32.const 0x7fff)) (local.get $value) (i32.const 9000))))
            (global.set $i (i64.add (global.get $i) (i64.extend_i32_u (local.get $value))))
            (global.set $n (i32.xor (global.get $n) (local.get $value)))
            (global.set $s (f32.add (global.get $s) (f32.const 1.5)))
            (global.set $f (f64.add (global.get $f) (f64.const 1.25)))
            (global.set $v (i32x4.add (global.get $v) (i32x4.splat (local.get $value))))
            (i64.xor (i64.xor (i64.load $a (local.get $at)) (i64.load $b (i64.extend_i32_u (local.get $at))))
            (i64.xor (i64.xor (global.get $i) (i64.extend_i32_u (global.get $n)))
            (i64.xor (i64.xor (i64x2.extract_lane 1 (global.get $v)) (i64.reinterpret_f64 (global.get $f)))
                (i64.xor (i64.extend_i32_u (i32.reinterpret_f32 (global.get $s)))
                    (i64.add (i64.extend_i32_u (memory.size $a)) (memory.size $b)))))))"#
    ));
    let shared = r#"(component
        (core module $owner (memory (export "memory") 1) (table (export "table") 2 funcref)
            (global (export "count") (mut i64) (i64.const 0))
            (func (export "grow") (result i32) (memory.grow (i32.const 1))))
        (core module $user (import "o" "memory" (memory 1)) (import "o" "table" (table $t 2 funcref))
            (import "o" "count" (global $n (mut i64))) (import "o" "grow" (func $grow (result i32)))
            (type $f (func (param i32) (result i64))) (elem (table $t) (i32.const 0) func $low $high)
            (func $low (param i32) (result i64) (i64.load (i32.and (local.get 0) (i32.const 0xfff0))))
            (func $high (param i32) (result i64) (i64.store (i32.and (local.get 0) (i32.const 0xfff0)) (global.get $n)) (i64.const 7))
            (func (export "step") (param $kind i32) (param $value i32) (result i64)
                (if (i32.eqz (local.get $kind)) (then (drop (call $grow))))
                (global.set $n (i64.add (global.get $n) (i64.extend_i32_u (local.get $value))))
                (i64.add (i64.extend_i32_u (memory.size))
                    (call_indirect $t (type $f) (local.get $value) (i32.and (local.get $kind) (i32.const 1))))))
        (core instance $o (instantiate $owner)) (core instance $u (instantiate $user (with "o" (instance $o))))
        (func (export "step") (param "kind" u32) (param "value" u32) (result u64) (canon lift (core func $u "step"))))"#;
    vec![guest("memories and globals", memories), guest("shared memory and table", shared.to_owned())]
}

#[test]
fn state_in_odd_places_is_in_reach() {
    for guest in reached() {
        let short = |way: Way| {
            let reactor = start(program(&guest, &(way.build)()), 1);
            assert_eq!(reactor.obstacles(), [] as [&str; 0], "{}", guest.name);
            walk(&guest, &way, walks(20))
        };
        for way in [AFTER_TRAPS, CHOSEN, EXACT] {
            let restored = short(way);
            let in_place = restored.iter().all(|restored| *restored == RestoreMethod::InPlace);
            assert!(in_place, "{} {}: {restored:?}", guest.name, way.name);
        }
        short(EVICTED);
    }
}

#[test]
fn what_the_engine_does_not_have_is_refused_before_anything_runs() {
    let build = |text: &str| {
        let loaded = fozzy_engine::load(text.as_bytes(), None).expect("it assembles");
        Program::build(loaded.component.into(), Switches::default(), &Build::fast(), None).map(drop)
    };
    let foreign = r#"(component (import "m" (core module $m (export "f" (func)))) (core instance (instantiate $m)))"#;
    assert!(matches!(build(foreign), Err(ProgramError::UnknownImports(why)) if why.contains("`m`")));
    let tasks = r#"(component (core module $m (func (export "f"))) (core instance $i (instantiate $m))
        (func (export "f") async (canon lift (core func $i "f") async)))"#;
    let error = build(tasks).expect_err("no asynchronous functions here").to_string();
    assert!(error.contains("async"), "{error}");
}
