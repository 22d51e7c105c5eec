//! The smallest functions, and exactly what becomes of them.

use super::{bodies, component, instrumented, instrumented_with};
use crate::{CoverageMode, HEADER_DEEPEST_AT, ModuleChoice, Options};

/// Rewrites a module and compares the operators of its last function, one a line.
fn check(module: &str, expected: &[&str]) {
    let output = instrumented(&component(module));
    let bodies = bodies(&output.component);
    let last = bodies.last().expect("the module has a function");
    let found: Vec<String> = last.iter().map(|(_, operator)| format!("{operator:?}")).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_small_leaf_is_left_alone() {
    check("(module (func (result i32) i32.const 1 return))", &["I32Const { value: 1 }", "Return", "End"]);
}

#[test]
fn a_function_that_calls_is_counted() {
    // Eight slots for the frame, one for the parameter, one for the highest operand stack.
    check(
        "(module (func $f (param i32) local.get 0 call $f))",
        &[
            "GlobalGet { global_index: 0 }",
            "LocalTee { local_index: 1 }",
            "I32Const { value: 10 }",
            "I32LtU",
            "If { blockty: Empty }",
            "Unreachable",
            "End",
            "LocalGet { local_index: 1 }",
            "I32Const { value: 10 }",
            "I32Sub",
            "GlobalSet { global_index: 0 }",
            "Block { blockty: Empty }",
            "LocalGet { local_index: 0 }",
            "Call { function_index: 0 }",
            "End",
            "LocalGet { local_index: 1 }",
            "GlobalSet { global_index: 0 }",
            "End",
        ],
    );
}

#[test]
fn a_return_becomes_a_branch_and_a_tail_call_restores_first() {
    check(
        "(module (import \"\" \"g\" (global i32)) (global i64 (i64.const 1))
           (func $f (result i64)
             block
               call $f
               return
             end
             return_call $f))",
        &[
            "GlobalGet { global_index: 2 }",
            "LocalTee { local_index: 0 }",
            "I32Const { value: 9 }",
            "I32LtU",
            "If { blockty: Empty }",
            "Unreachable",
            "End",
            "LocalGet { local_index: 0 }",
            "I32Const { value: 9 }",
            "I32Sub",
            "GlobalSet { global_index: 2 }",
            "Block { blockty: Type(I64) }",
            "Block { blockty: Empty }",
            "Call { function_index: 0 }",
            "Br { relative_depth: 1 }",
            "End",
            "LocalGet { local_index: 0 }",
            "GlobalSet { global_index: 2 }",
            "ReturnCall { function_index: 0 }",
            "End",
            "LocalGet { local_index: 0 }",
            "GlobalSet { global_index: 2 }",
            "End",
        ],
    );
}

#[test]
fn a_caught_loop_restores_at_its_head_and_a_caught_block_behind_its_end() {
    check(
        "(module (tag $t)
           (func $f
             block $b
               loop $l
                 try_table (catch $t $l) (catch_all $b) call $f end
               end
             end))",
        &[
            "GlobalGet { global_index: 0 }",
            "LocalTee { local_index: 0 }",
            "I32Const { value: 8 }",
            "I32LtU",
            "If { blockty: Empty }",
            "Unreachable",
            "End",
            "LocalGet { local_index: 0 }",
            "I32Const { value: 8 }",
            "I32Sub",
            "GlobalSet { global_index: 0 }",
            "Block { blockty: Empty }",
            "Block { blockty: Empty }",
            "Loop { blockty: Empty }",
            "LocalGet { local_index: 0 }",
            "I32Const { value: 8 }",
            "I32Sub",
            "GlobalSet { global_index: 0 }",
            "TryTable { try_table: TryTable { ty: Empty, catches: [One { tag: 0, label: 0 }, All { label: 1 }] } }",
            "Call { function_index: 0 }",
            "End",
            "End",
            "End",
            "LocalGet { local_index: 0 }",
            "I32Const { value: 8 }",
            "I32Sub",
            "GlobalSet { global_index: 0 }",
            "End",
            "LocalGet { local_index: 0 }",
            "GlobalSet { global_index: 0 }",
            "End",
        ],
    );
}

#[test]
fn recursive_functions_note_how_deep_they_are_called_and_all_else_stays_as_it_is() {
    let covered = Options { coverage: CoverageMode::SetOnce, modules: ModuleChoice::All, ..Options::default() };
    let noting = Options { recursion: true, ..covered.clone() };
    let recursive = component("(module (memory 1) (func $f call $f))");
    let output = instrumented_with(&recursive, &noting);
    let body = bodies(&output.component).remove(0);
    let found: Vec<String> = body.iter().map(|(_, operator)| format!("{operator:?}")).collect();
    let place = format!("memarg: MemArg {{ align: 2, max_align: 2, offset: {HEADER_DEEPEST_AT}, memory: 1 }}");
    let (load, store) = (format!("I32Load {{ {place} }}"), format!("I32Store {{ {place} }}"));
    let used = ["I32Const { value: 1048576 }", "LocalGet { local_index: 0 }", "I32Sub"];
    let is_more = ["I32Const { value: 0 }", &*load, "I32GtU", "If { blockty: Empty }", "I32Const { value: 0 }"];
    // Behind the check of the depth, and before the block.
    let noted = [&used[..], &is_more[..], &used[..], &[&*store, "End"][..]].concat();
    assert_eq!(found[11..24], noted[..]);
    for (module, with, without) in [
        ("(module (func call $g) (func $g))", &noting, &covered),
        ("(module (table 1 funcref) (func i32.const 0 call_indirect))", &noting, &covered),
        ("(module (func $f call $f))", &Options { recursion: true, ..Options::default() }, &Options::default()),
    ] {
        let module = component(module);
        assert_eq!(instrumented_with(&module, with), instrumented_with(&module, without));
    }
}

#[test]
fn frames_are_weighed_by_their_size() {
    let cost = |function: &str| {
        let output = instrumented(&component(&format!("(module (func $f {function}))")));
        match bodies(&output.component)[0][2].1 {
            wasmparser::Operator::I32Const { value } => value,
            ref other => panic!("expected the cost, found {other:?}"),
        }
    };
    assert_eq!(cost("call $f"), 8);
    assert_eq!(cost("(local i64 f32) call $f"), 10);
    assert_eq!(cost("(local v128) call $f"), 10);
    // The stack holds three values at its highest, each counted as a vector once there is one.
    assert_eq!(cost("v128.const i64x2 0 0 i32.const 1 i32.const 2 drop drop drop call $f"), 14);
    // Four operators compute something, on a stack of two.
    assert_eq!(cost(&format!("i32.const 1 {} drop call $f", "i32.const 2 i32.mul ".repeat(4))), 12);
    // A leaf is counted when it is large.
    assert_eq!(cost("(local i64 i64) local.get 0 drop call $f"), 11);
    let large = format!("(local {})", "i64 ".repeat(300));
    assert_eq!(cost(&large), 308);
}
