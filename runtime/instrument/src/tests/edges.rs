//! The smallest functions with each kind of branch: their edges, which of them are kept, and what is written for them.

use super::{bodies, component, instrumented_with};
use crate::{CoverageMode, EdgeKind, InstrumentedComponent, ModuleOrdinal, Options, OriginalOffset};

fn covered(module: &str) -> InstrumentedComponent {
    instrumented_with(&component(module), &Options { coverage: CoverageMode::SetOnce, ..Options::default() })
}

/// Compares the edges of a module, each with its byte.
fn check(module: &str, expected: &[(EdgeKind, Option<u32>)]) -> InstrumentedComponent {
    let output = covered(module);
    let found: Vec<_> = output.sites.iter().map(|edge| (edge.kind, edge.kept)).collect();
    assert_eq!(found, expected, "{module}");
    for (position, edge) in output.sites.iter().enumerate() {
        assert_eq!(edge.id.0 as usize, position);
        assert_eq!(output.sites.get(edge.id), Some(edge));
    }
    output
}

use EdgeKind::{Arm, Back, Else, Entry, FallThrough, Landing, Taken, Then};

#[test]
fn an_entry_is_one_store() {
    let output = check("(module (func))", &[(Entry, Some(0))]);
    let body: Vec<String> = bodies(&output.component)[0].iter().map(|(_, operator)| format!("{operator:?}")).collect();
    let store = "I32Store8 { memarg: MemArg { align: 0, max_align: 0, offset: 64, memory: 0 } }";
    assert_eq!(body, ["I32Const { value: 0 }", "I32Const { value: 1 }", store, "End"]);
    let side = &output.side_memories[0];
    assert_eq!((side.coverage.clone(), side.bytes), (64..65, 1 << 16));
}

#[test]
fn both_ways_of_an_if_tell_the_entry() {
    let ways = [(Entry, None), (Then, Some(0)), (Else, Some(1))];
    check("(module (func (param i32) local.get 0 if nop end))", &ways);
    check("(module (func (param i32) local.get 0 if nop else nop end))", &ways);
    check("(module (func (param i32) (result i32) local.get 0 local.get 0 if (param i32) (result i32) end))", &ways);
    // A call may not come back, and then neither way was taken.
    let kept = [(Entry, Some(0)), (Then, Some(1)), (Else, Some(2))];
    check("(module (func (param i32) i32.const 0 call 0 local.get 0 if nop end))", &kept);
}

#[test]
fn a_chain_of_branches_keeps_its_ends() {
    check(
        "(module (func (param i32) block block local.get 0 br_if 0 local.get 0 br_if 1 nop end end))",
        &[(Entry, None), (Taken, Some(0)), (FallThrough, None), (Taken, Some(1)), (FallThrough, Some(2))],
    );
}

#[test]
fn loops_keep_their_way_back() {
    check(
        "(module (func (param i32) loop local.get 0 br_if 0 end))",
        &[(Entry, Some(0)), (Taken, Some(1)), (FallThrough, Some(2))],
    );
    check(
        "(module (func (param i32) block loop local.get 0 br_if 1 br 0 end end))",
        &[(Entry, Some(0)), (Taken, Some(1)), (FallThrough, None), (Back, Some(2))],
    );
}

#[test]
fn a_table_has_an_edge_for_each_target() {
    let arms = [(Entry, None), (Arm(0), Some(0)), (Arm(1), Some(1)), (Arm(2), Some(2))];
    check(
        "(module (func (param i32) block block block local.get 0 br_table 1 0 1 2 end end end))",
        &[(Entry, None), (Arm(0), Some(0)), (Arm(1), Some(1)), (Arm(2), Some(2))],
    );
    let carried = "(module (func (param i32) (result i32)
        block (result i32) block (result i32) i32.const 7 local.get 0 br_table 1 0 2 end drop i32.const 1 end))";
    check(carried, &arms);
    // One target is no choice.
    check("(module (func (param i32) block local.get 0 br_table 0 0 end))", &[(Entry, Some(0))]);
}

#[test]
fn references_and_exceptions_have_edges() {
    check(
        "(module (func (param funcref) block local.get 0 br_on_null 0 drop end))",
        &[(Entry, None), (Taken, Some(0)), (FallThrough, Some(1))],
    );
    check(
        "(module (tag $t) (func block try_table (catch $t 0) throw $t end end))",
        &[(Entry, Some(0)), (Landing, Some(1))],
    );
}

#[test]
fn dead_code_has_no_edges() {
    check("(module (func unreachable i32.const 1 if nop end block br 0 end loop br 0 end))", &[(Entry, Some(0))]);
    check("(module (func block br 0 i32.const 1 br_if 0 end))", &[(Entry, Some(0))]);
}

#[test]
fn hits_follow_from_bytes_and_from_where_it_trapped() {
    let output = covered("(module (memory 1) (func (param i32) local.get 0 i32.load if nop end))");
    let hits = |bytes: &[u8], trap| output.sites.hits(|_| bytes, trap);
    assert_eq!(hits(&[0, 0], None), [false, false, false]);
    assert_eq!(hits(&[1, 0], None), [true, true, false]);
    assert_eq!(hits(&[0, 1], None), [true, false, true]);
    // The load trapped: the function was entered, and no byte says so.
    let load = output.sites.get(crate::EdgeId(0)).expect("the entry").offset.0 + 2;
    assert_eq!(hits(&[0, 0], Some(OriginalOffset(load))), [true, false, false]);
    let hits = hits(&[0, 1], None);
    assert_eq!(output.sites.blocks_hit(&hits, None), [true, false, true]);
    assert_eq!(output.sites.kept(ModuleOrdinal(0)), 2);
}

#[test]
fn generated_modules_are_left_out_unless_asked_for() {
    let shim = component("(module $wit-component:shim (func))");
    for (modules, edges) in [
        (crate::ModuleChoice::Own, 0),
        (crate::ModuleChoice::All, 1),
        (crate::ModuleChoice::Named(vec!["wit-component:shim".to_owned()]), 1),
        (crate::ModuleChoice::Named(vec!["main".to_owned()]), 0),
    ] {
        let output =
            instrumented_with(&shim, &Options { coverage: CoverageMode::SetOnce, modules, ..Options::default() });
        assert_eq!(output.sites.len(), edges);
        assert_eq!(output.side_memories.len(), edges);
    }
}

#[test]
fn a_module_is_known_by_what_the_component_calls_it() {
    // As wit-component writes an adapter: nothing in the module says what it is.
    let text = r#"(component
        (component (import "m" (core module $foreign)) (core module $inner (func)))
        (core module $main (func)) (core module $wit-component:adapter:wasi_snapshot_preview1 (func)))"#;
    let mut named = wat::parse_str(text).expect("assembles");
    strip_module_names(&mut named);
    let edges = |modules| {
        let options = Options { coverage: CoverageMode::SetOnce, modules, ..Options::default() };
        let output = instrumented_with(&named, &options);
        let names: Vec<Vec<String>> =
            output.maps.modules().iter().map(|map| map.names().map(str::to_owned).collect()).collect();
        assert_eq!(names, [["inner"], ["main"], ["wit-component:adapter:wasi_snapshot_preview1"]]);
        output.sites.iter().map(|edge| edge.module.0).collect::<Vec<_>>()
    };
    assert_eq!(edges(crate::ModuleChoice::Own), [0, 1]);
    assert_eq!(edges(crate::ModuleChoice::All), [0, 1, 2]);
    assert_eq!(edges(crate::ModuleChoice::Named(vec!["main".to_owned()])), [1]);
    let adapter = "wit-component:adapter:wasi_snapshot_preview1".to_owned();
    assert_eq!(edges(crate::ModuleChoice::Named(vec![adapter])), [2]);
}

/// Renames the name sections of core modules, so that only the components' are left.
fn strip_module_names(component: &mut [u8]) {
    while let Some(at) = component.windows(5).position(|bytes| bytes == b"\x04name") {
        component[at + 1..at + 5].copy_from_slice(b"gone");
    }
}
