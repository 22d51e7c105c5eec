//! Marks of written pages: what is written for a store, and which components they are sound for.

use super::{bodies, component, instrumented_with};
use crate::{InstrumentedComponent, MarksReason, ModuleOrdinal, Options};

fn marked(component: &[u8]) -> InstrumentedComponent {
    instrumented_with(component, &Options { marks: true, depth: false, ..Options::default() })
}

/// How many marks each body of a module has, those of helpers last. The memory is index 0, so that marks go to 1.
fn marks(module: &str) -> Vec<usize> {
    let output = marked(&component(module));
    let stores = |body: &Vec<(u32, wasmparser::Operator<'_>)>| {
        let side = |operator: &wasmparser::Operator<'_>| matches!(operator, wasmparser::Operator::I32Store8 { memarg } if memarg.memory == 1);
        body.iter().filter(|(_, operator)| side(operator)).count()
    };
    bodies(&output.component).iter().map(stores).collect()
}

#[test]
fn stores_near_each_other_share_a_mark() {
    let count = |body: &str| marks(&format!("(module (memory 1) (global (mut i32) (i32.const 0)) (func {body}))"))[0];
    let store = |offset: u32| format!("local.get 0 i32.const 1 i32.store offset={offset} ");
    assert_eq!(count(&format!("(param i32) {}", store(0))), 1);
    assert_eq!(count(&format!("(param i32) {}{}", store(0), store(60))), 1);
    assert_eq!(count(&format!("(param i32) {}{}", store(0), store(61))), 2);
    assert_eq!(count(&format!("(param i32) {}{}{}", store(0), store(2000), store(4000))), 2);
    assert_eq!(count(&format!("(param i32) {}{}", store(0), store(5000))), 2);
    // Another value of the local is another address.
    let changed = format!("(param i32) {}i32.const 9 local.set 0 {}", store(0), store(0));
    assert_eq!(count(&changed), 2);
    // What a branch may leave out is no cover for what follows.
    assert_eq!(count(&format!("(param i32) block local.get 0 br_if 0 {} end {}", store(0), store(0))), 2);
    // A frame is marked where it is made: its first and its last page.
    let frame = "(local i32) global.get 0 i32.const 4096 i32.sub local.tee 0 global.set 0";
    assert_eq!(count(&format!("{frame} {}{}{}", store(0), store(1000), store(4092))), 2);
    assert_eq!(count("i32.const 8 i32.const 1 i32.store"), 1);
    assert_eq!(count("nop"), 0);
}

#[test]
fn bulk_operations_are_marked_by_a_helper() {
    let fill = "(module (memory 1) (func i32.const 0 i32.const 0 i32.const 9 memory.fill))";
    // The function calls; the range helper has the only mark.
    assert_eq!(marks(fill), [0, 1, 0]);
}

/// Why marks are unsound for a component, given as text.
fn reasons(component: &str) -> Vec<MarksReason> {
    let bytes = wat::parse_str(component).expect("the test's component parses");
    marked(&bytes).marks.expect("marks were asked for").reasons
}

const MODULE: ModuleOrdinal = ModuleOrdinal(0);

#[test]
fn a_plain_component_is_sound_and_its_realloc_is_wrapped() {
    let text = r#"(component
        (core module $m
            (memory (export "memory") 1)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 8)
            (func (export "take") (param i32 i32)))
        (core instance $i (instantiate $m))
        (func (export "take") (param "text" string)
            (canon lift (core func $i "take") (memory $i "memory") (realloc (func $i "realloc")))))"#;
    assert_eq!(reasons(text), []);
    let output = marked(&wat::parse_str(text).expect("parses"));
    // Two functions, the helper for ranges, and the wrapper.
    assert_eq!(bodies(&output.component).len(), 4);
}

#[test]
fn what_could_write_unseen_is_named() {
    let alone = |module: &str| format!("(component (core module $m {module}) (core instance (instantiate $m)))");
    assert_eq!(reasons(&alone("(memory 1) (memory 1)")), [MarksReason::SeveralMemories(MODULE)]);
    assert_eq!(reasons(&alone("(memory i64 1)")), [MarksReason::Memory64(MODULE)]);
    let twice =
        "(component (core module $m (memory 1)) (core instance (instantiate $m)) (core instance (instantiate $m)))";
    assert_eq!(reasons(twice), [MarksReason::MemoryTwice(MODULE)]);
    assert_eq!(reasons("(component (component (core module)))"), [MarksReason::Nested]);
    assert_eq!(reasons("(component (import \"m\" (core module)))"), [MarksReason::ImportedModule]);

    let imports = "(import \"\" \"f\" (func $f (param i32)))";
    let escapes = |body: &str| reasons(&format!("(component (core module {imports} {body}))"));
    let named = [MarksReason::ImportEscapes(MODULE)];
    assert_eq!(escapes("(memory 1) (table 1 funcref) (elem (i32.const 0) func $f)"), named);
    assert_eq!(escapes("(memory 1) (export \"f\" (func $f)) (func ref.func $f drop)"), named);
    assert_eq!(escapes("(memory 1) (global funcref (ref.func $f))"), named);
    assert_eq!(escapes("(memory 1) (func i32.const 0 call $f)"), []);
    // What wit-component writes: one module fills the table, another one passes on.
    assert_eq!(escapes("(import \"\" \"t\" (table 1 funcref)) (elem (i32.const 0) func $f)"), []);
    let shim = "(table 1 funcref) (type $t (func (param i32 i32)))";
    assert_eq!(
        escapes(&format!("{shim} (func (type $t) local.get 0 local.get 1 i32.const 0 call_indirect (type $t))")),
        []
    );
    let computes = format!("{shim} (func (type $t) i32.const 8 i32.const 9 i32.const 0 call_indirect (type $t) nop)");
    assert_eq!(escapes(&computes), named);

    let unknown = r#"(component
        (core module $m (memory (export "memory") 1)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 8))
        (core module $n (import "m" "realloc" (func $f (param i32 i32 i32 i32) (result i32)))
            (export "realloc" (func $f)) (func (export "take") (param i32 i32)))
        (core instance $i (instantiate $m))
        (core instance $j (instantiate $n (with "m" (instance $i))))
        (func (export "take") (param "text" string)
            (canon lift (core func $j "take") (memory $i "memory") (realloc (func $j "realloc")))))"#;
    assert_eq!(reasons(unknown), [MarksReason::ReallocUnknown]);
    for reason in [MarksReason::Nested, MarksReason::ImportEscapes(MODULE), MarksReason::ReallocUnknown] {
        assert!(!reason.to_string().is_empty());
    }
}
