//! Functions that may call themselves, directly or through others: a program's stack gets as deep there as its input says.
//!
//! ```text
//! value ─▶ array ─▶ value      both are in a ring of calls
//!   └────▶ number              is in none
//! ```
//!
//! Invariants: a function is named if, and only if, direct calls lead from it back to it. The search keeps its own stack.
//! Source: R. Tarjan, Depth-first search and linear graph algorithms (1972).
//! Not here: calls through tables and references, whose candidates would put most functions of a program into one ring; what is put
//! into these functions (`depth`).

use crate::ModuleOrdinal;
use crate::call_graph::{CallGraph, SiteKind};
use std::collections::BTreeSet;

/// The functions that are in a ring of direct calls, by module and index.
pub(crate) fn recursive_functions(graph: &CallGraph) -> BTreeSet<(ModuleOrdinal, u32)> {
    let functions = &graph.functions;
    let callees = functions.iter().map(|function| {
        let direct = function.sites.iter().filter_map(|site| match site.kind {
            // A call of a function that is not there is refused later.
            SiteKind::Call(callee) => (callee < functions.len()).then_some(callee),
            _ => None,
        });
        direct.collect()
    });
    let callees: Vec<Vec<usize>> = callees.collect();
    in_rings(&callees).into_iter().map(|position| (functions[position].module, functions[position].index)).collect()
}

/// The positions from which a way leads back, where `next` has those that follow on each.
fn in_rings(next: &[Vec<usize>]) -> Vec<usize> {
    let mut found = Vec::new();
    // When a position was met, from 1, and the earliest one of those that are open to which ways lead from it.
    let (mut met, mut earliest) = (vec![0usize; next.len()], vec![0usize; next.len()]);
    let (mut open, mut is_open): (Vec<usize>, Vec<bool>) = (Vec::new(), vec![false; next.len()]);
    // The way to the current position, and how many of those that follow on each were looked at.
    let mut way: Vec<(usize, usize)> = Vec::new();
    let mut count = 0;
    for start in 0..next.len() {
        if met[start] == 0 {
            way.push((start, 0));
        }
        while let Some((current, looked)) = way.last_mut() {
            let current = *current;
            if met[current] == 0 {
                count += 1;
                (met[current], earliest[current], is_open[current]) = (count, count, true);
                open.push(current);
            }
            if let Some(following) = next[current].get(*looked).copied() {
                *looked += 1;
                if met[following] == 0 {
                    way.push((following, 0));
                } else if is_open[following] {
                    earliest[current] = earliest[current].min(met[following]);
                }
                continue;
            }
            way.pop();
            if let Some((before, _)) = way.last() {
                earliest[*before] = earliest[*before].min(earliest[current]);
            }
            if earliest[current] == met[current] {
                let first = open.iter().rposition(|position| *position == current).expect("it is open until now");
                let ring = open.split_off(first);
                ring.iter().for_each(|position| is_open[*position] = false);
                if ring.len() > 1 || next[current].contains(&current) {
                    found.extend(ring);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recursive(module: &str) -> Vec<u32> {
        let component = wat::parse_str(format!("(component (core module {module}))")).expect("text");
        let graph = CallGraph::of(&component).expect("it is a component");
        recursive_functions(&graph).into_iter().map(|(_, index)| index).collect()
    }

    #[test]
    fn functions_in_a_ring_of_direct_calls_are_recursive() {
        let found = recursive(
            "(import \"\" \"f\" (func $outside)) (table 1 funcref) (elem (i32.const 0) $indirect)
             (func $main call $value call $number)
             (func $value call $array call $number)
             (func $array call $outside call $skip)
             (func $skip call $value)
             (func $number call $digit call $digit)
             (func $digit)
             (func $itself call $digit call $itself)
             (func $indirect i32.const 0 call_indirect)
             (func $tail return_call $tail)",
        );
        assert_eq!(found, [2, 3, 4, 7, 9]);
    }

    #[test]
    fn rings_are_what_every_way_tells() {
        // Which of four positions follows on which are the bits of a number. All ways are found step by step.
        const POSITIONS: usize = 4;
        for bits in (0u32..1 << (POSITIONS * POSITIONS)).step_by(37) {
            let follows = |from: usize, to: usize| (bits >> (from * POSITIONS + to)) & 1 == 1;
            let next: Vec<Vec<usize>> =
                (0..POSITIONS).map(|from| (0..POSITIONS).filter(|to| follows(from, *to)).collect()).collect();
            let mut leads = [[false; POSITIONS]; POSITIONS];
            for (from, next) in next.iter().enumerate() {
                next.iter().for_each(|to| leads[from][*to] = true);
            }
            for (over, from, to) in (0..64).map(|n| (n / 16, n / 4 % 4, n % 4)) {
                leads[from][to] |= leads[from][over] && leads[over][to];
            }
            let mut found = in_rings(&next);
            found.sort_unstable();
            let expected: Vec<usize> = (0..POSITIONS).filter(|position| leads[*position][*position]).collect();
            assert_eq!(found, expected, "{next:?}");
        }
    }
}
