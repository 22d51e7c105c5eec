//! The map, against both components read independently.

use super::{bodies, component, instrumented, instrumented_with, ways, wrap};
use crate::{CodeOrigin, ModuleOrdinal, OriginalOffset, RewrittenOffset};
use std::collections::BTreeSet;
use wasmparser::Operator;

/// Checks the map of a component: each operator of the output is either ours or does what the
/// original one at its place does, and each original operator is reached by exactly one.
pub(super) fn check_map(input: &[u8]) {
    let output = instrumented(input);
    let (originals, rewrittens) = (bodies(input), bodies(&output.component));
    assert_eq!(originals.len(), rewrittens.len());
    for (original, rewritten) in originals.iter().zip(&rewrittens) {
        let first = original[0].0;
        let mut reached = BTreeSet::new();
        let mut traps = 0;
        for (offset, operator) in rewritten {
            let found = output.maps.find(RewrittenOffset(*offset));
            let (ordinal, location) = found.expect("each operator has a location");
            let module = &output.maps.modules()[ordinal.0 as usize];
            assert!(module.original().contains(&location.original));
            assert!(module.rewritten().contains(&RewrittenOffset(*offset)));
            assert_eq!(output.maps.locate(ordinal, RewrittenOffset(*offset)), Some(location));
            let position = original.binary_search_by_key(&location.original, |(at, _)| OriginalOffset(*at));
            let was = &original[position.expect("locations are starts of operators")].1;
            match location.kind {
                CodeOrigin::Original => {
                    assert!(reached.insert(location.original), "{was:?} is there twice");
                    let same = format!("{was:?}") == format!("{operator:?}");
                    let returns = matches!((was, operator), (Operator::Return, Operator::Br { .. }));
                    assert!(same || returns, "{was:?} became {operator:?}");
                }
                CodeOrigin::DepthCheck => {
                    assert_eq!(location.original, OriginalOffset(first));
                    traps += usize::from(*operator == Operator::Unreachable);
                }
                CodeOrigin::Injected => {
                    assert_ne!(*operator, Operator::Unreachable, "only the depth check may trap");
                }
            }
        }
        assert!(original.iter().all(|(at, _)| reached.contains(&OriginalOffset(*at))));
        let grown = rewritten.len() != original.len();
        assert_eq!(traps, usize::from(grown), "a counted function has one check");
    }
}

/// Checks the map of a component with all instrumentation: each original operator is reached, directly or by its
/// replacement, and appended functions map to nothing.
pub(super) fn check_map_of_all_ways(input: &[u8]) {
    for options in ways() {
        let output = instrumented_with(input, &options);
        let (originals, mut rewrittens) = (bodies(input), bodies(&output.component));
        rewrittens.retain(|body| {
            let located: Vec<_> = body.iter().map(|(at, _)| output.maps.find(RewrittenOffset(*at))).collect();
            assert!(located.iter().all(Option::is_some) || located.iter().all(Option::is_none));
            located[0].is_some()
        });
        assert_eq!(originals.len(), rewrittens.len());
        for (original, rewritten) in originals.iter().zip(&rewrittens) {
            let mut reached = BTreeSet::new();
            for (offset, operator) in rewritten {
                let (_, location) = output.maps.find(RewrittenOffset(*offset)).expect("checked above");
                let position = original.binary_search_by_key(&location.original, |(at, _)| OriginalOffset(*at));
                let was = &original[position.expect("locations are starts of operators")].1;
                if location.kind == CodeOrigin::Original {
                    let same = format!("{was:?}") == format!("{operator:?}");
                    // These are written in other words, each standing for the one operator.
                    let replaced = matches!(
                        was,
                        Operator::Return
                            | Operator::BrIf { .. }
                            | Operator::BrTable { .. }
                            | Operator::BrOnNull { .. }
                            | Operator::BrOnNonNull { .. }
                            | Operator::BrOnCast { .. }
                            | Operator::BrOnCastFail { .. }
                    );
                    let first = reached.insert(location.original);
                    assert!(replaced || same && first, "{was:?} became {operator:?}");
                }
                let traps = *operator == Operator::Unreachable && location.kind == CodeOrigin::Injected;
                assert!(!traps, "only the depth check may trap");
            }
            assert!(original.iter().all(|(at, _)| reached.contains(&OriginalOffset(*at))));
        }
    }
}

#[test]
fn every_operator_maps_back() {
    let counted = "(module (func $f (param i32) (result i32)
        block loop local.get 0 return end end i32.const 0 call $f call $f))";
    let leaf = "(module (func (result i32) i32.const 0 return))";
    let tail = "(module (tag $t) (func $f block try_table (catch $t 0) call $f end end return_call $f))";
    let branches = "(module (memory 1) (func (param i32)
        block block local.get 0 br_table 0 1 0 end local.get 0 br_if 0 local.get 0 local.get 0 i32.store end))";
    for module in [counted, leaf, tail, branches] {
        check_map(&component(module));
        check_map_of_all_ways(&component(module));
    }
    let parse = |module| wat::parse_str(module).expect("parses");
    check_map(&wrap(&[parse(leaf), parse(counted), parse("(module)"), parse(tail), parse(leaf)]));
}

#[test]
fn offsets_outside_of_code_have_no_location() {
    let output = instrumented(&component("(module (func $f call $f) (data \"x\"))"));
    let end = u32::try_from(output.component.len()).expect("small");
    for offset in [0, 8, end - 1, end, u32::MAX] {
        assert_eq!(output.maps.find(RewrittenOffset(offset)), None);
        assert_eq!(output.maps.locate(ModuleOrdinal(0), RewrittenOffset(offset)), None);
    }
    assert_eq!(output.maps.locate(ModuleOrdinal(1), RewrittenOffset(40)), None);
}
