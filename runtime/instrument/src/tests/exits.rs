//! Every way out of a function, in modules with every kind of import and section.

use super::{component, instrumented, wrap};
use crate::{ModuleOrdinal, Options, instrument};
use wasmparser::{KnownCustom, Name, Parser, Payload};

/// Operators that leave a function, each in a function `$f` of the given type that calls.
#[test]
fn all_exits_of_all_result_types() {
    let bodies = [
        ("", "call $f br 0"),
        ("", "call $f block br 1 end"),
        ("", "call $f i32.const 1 br_if 0"),
        ("", "call $f i32.const 1 br_table 0 0"),
        ("", "call $f loop block i32.const 0 br_table 0 1 2 2 end end"),
        ("", "call $f return return return"),
        ("", "call $f unreachable"),
        ("", "call $f unreachable return_call $f"),
        ("", "block loop block call $f return end end end"),
        ("(result i32)", "call $f br 0"),
        ("(result i32)", "block (result i32) call $f br 1 end"),
        ("(result i32)", "call $f i32.const 1 br_if 0"),
        ("(result i32)", "i32.const 1 if (result i32) call $f return else call $f br 1 end"),
        ("(result i32)", "return_call $f"),
        ("(result v128)", "call $f return"),
        ("(result funcref)", "call $f br 0"),
        ("(result i32 i64)", "call $f return"),
        ("(result i32 i64)", "block call $f br 1 end unreachable"),
        ("(param f32) (result i32 i64)", "f32.const 0 call $f br 0"),
        ("(param f32) (result i32 i64)", "loop f32.const 0 call $f return end unreachable"),
        ("(param f32) (result v128 i64 v128)", "f32.const 0 call $f i32.const 0 br_if 0"),
        ("(param i32) (result i32 i64)", "local.get 0 local.get 0 return_call_indirect (param i32) (result i32 i64)"),
        ("(result i32)", "ref.func $f return_call_ref $r"),
    ];
    for (ty, body) in bodies {
        let module = format!(
            "(module (type $r (func (result i32))) (table 1 funcref) (elem declare func $f)
               (func $f (export \"f\") {ty} {body}))"
        );
        instrumented(&component(&module));
    }
}

#[test]
fn exceptions_land_on_every_kind_of_label() {
    let bodies = [
        // By the function's own label.
        "try_table (catch $t 0) call $g end i32.const 0 br 0",
        "block try_table (catch $t 1) call $g end end i32.const 0",
        // By a block, a loop, an if, a try_table.
        "block (result i32) try_table (catch $t 0) call $g end i32.const 0 end",
        "loop try_table (catch_all 0) call $g end end i32.const 0",
        "i32.const 1 if (result i32) try_table (catch $t 0) call $g end i32.const 1 else i32.const 2 end",
        "try_table (result i32) try_table (catch $t 0) call $g end i32.const 1 end",
        "block (result exnref) try_table (catch_all_ref 0) call $g end unreachable end throw_ref",
        "block (result i32 exnref) try_table (catch_ref $t 0) call $g end unreachable end drop",
        // Tail calls and returns out of a try_table.
        "try_table (catch $t 0) return_call $f end unreachable",
        "loop try_table (catch_all 0) (catch_all 0) i32.const 3 call $g return end end unreachable",
        "i32.const 0 throw $t",
    ];
    for body in bodies {
        let module =
            format!("(module (import \"\" \"\" (func $g)) (tag $t (param i32)) (func $f (result i32) {body}))");
        instrumented(&component(&module));
    }
}

#[test]
fn modules_with_everything() {
    instrumented(&component(
        "(module
           (rec (type $a (struct (field (ref null $b)))) (type $b (array (mut (ref null $a)))))
           (type $h (sub (func (param (ref $a)) (result (ref $a) (ref null $b)))))
           (import \"m\" \"m\" (memory i64 1))
           (import \"m\" \"t\" (table 1 funcref))
           (import \"m\" \"g\" (global $g (mut i32)))
           (import \"m\" \"f\" (func $i (param i32)))
           (memory 1)
           (global $h (mut (ref null $a)) (ref.null $a))
           (tag $t (param i32))
           (export \"h\" (func $h))
           (start $s)
           (elem (i32.const 0) func $i $s)
           (data (memory 1) (i32.const 0) \"x\")
           (func $s i32.const 1 call $i)
           (func $h (type $h)
             local.get 0
             struct.get $a 0
             drop
             local.get 0
             call $h
             (i64.store 0 (i64.const 8) (i64.const 1))
             br 0))",
    ));
    // No section that the depth global could follow.
    instrumented(&component("(module (func $f call $f))"));
    instrumented(&component("(module (memory 1) (func $f call $f) (data (i32.const 0) \"x\"))"));
    instrumented(&component("(module)"));
    instrumented(&component("(module (global i32 (i32.const 1)) (export \"g\" (global 0)))"));
}

/// Name and custom sections of each core module in a component.
fn custom_sections(component: &[u8]) -> Vec<String> {
    let payloads = Parser::new(0).parse_all(component).map(|payload| payload.expect("parses"));
    let sections = payloads.filter_map(|payload| match payload {
        Payload::CustomSection(custom) => Some(match custom.as_known() {
            KnownCustom::Name(names) => {
                let names = names.map(|name| match name.expect("parses") {
                    Name::Module { name, .. } => format!("module {name}"),
                    Name::Function(map) => {
                        let names = map.into_iter().map(|naming| naming.expect("parses").name);
                        format!("functions {}", names.collect::<Vec<_>>().join(" "))
                    }
                    _ => "something else".to_owned(),
                });
                names.collect::<Vec<_>>().join(", ")
            }
            _ => custom.name().to_owned(),
        }),
        _ => None,
    });
    sections.collect()
}

#[test]
fn names_are_kept_and_lead_back() {
    let module = wat::parse_str("(module $orig (@custom \".debug_info\" \"x\") (func $one) (func $two))");
    let module = module.expect("parses");
    let inner = wat::parse_str("(component (component $c (core module (func))) (core module $second))");
    let mut input = wasm_encoder::Component::new();
    input.section(&wasm_encoder::RawSection { id: 1, data: &module });
    input.section(&wasm_encoder::RawSection { id: 4, data: &inner.expect("parses") });
    input.section(&wasm_encoder::CustomSection { name: "x".into(), data: [][..].into() });
    let output = instrumented(&input.finish());
    assert_eq!(
        custom_sections(&output.component),
        [
            "module fozzy:0, functions one two",
            "module fozzy:1",
            // Of the component that is nested, then of the one around it.
            "component-name",
            "module fozzy:2",
            "component-name",
        ]
    );
    let names: Vec<_> = output.maps.modules().iter().map(|module| module.name()).collect();
    assert_eq!(names, [Some("orig"), None, Some("second")]);
    assert_eq!(ModuleOrdinal::from_name("fozzy:2"), Some(ModuleOrdinal(2)));
    for name in ["fozzy:", "fozzy:+2", "fozzy:02", "fozzy:4294967296", "2", "orig"] {
        assert_eq!(ModuleOrdinal::from_name(name), None);
    }
}

#[test]
fn the_stack_is_as_large_as_asked_for() {
    let input = wrap(&[wat::parse_str("(module (func $f call $f))").expect("parses")]);
    let output = instrument(&input, &Options { stack_slots: 1234, ..Options::default() }).expect("accepted");
    let payloads = Parser::new(0).parse_all(&output.component).map(|payload| payload.expect("parses"));
    let globals = payloads.filter_map(|payload| match payload {
        Payload::GlobalSection(globals) => Some(globals),
        _ => None,
    });
    let global = globals.flatten().next().expect("there is a global").expect("it parses");
    assert!(global.ty.mutable);
    let mut start = global.init_expr.get_operators_reader();
    assert!(matches!(start.read(), Ok(wasmparser::Operator::I32Const { value: 1234 })));
}
