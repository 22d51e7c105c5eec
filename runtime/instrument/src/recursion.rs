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

use crate::edit::offset_u32;
use crate::{Error, ModuleOrdinal, features};
use std::collections::{BTreeMap, BTreeSet};
use wasmparser::{Encoding, Operator, Parser, Payload, TypeRef};

/// Of each module, the indices of the functions that are in a ring of direct calls. Nothing of the component need be valid.
pub(crate) fn recursive_functions(component: &[u8]) -> Result<BTreeMap<ModuleOrdinal, BTreeSet<u32>>, Error> {
    let mut parser = Parser::new(0);
    parser.set_features(features());
    let (mut found, mut open, mut modules) = (BTreeMap::new(), None, 0);
    for payload in parser.parse_all(component) {
        match payload? {
            Payload::Version { encoding: Encoding::Module, .. } => open = Some(DirectCalls::default()),
            // Nothing is nested in a module: the first end behind its beginning is its own.
            Payload::End(_) => {
                if let Some(module) = open.take() {
                    found.insert(ModuleOrdinal(modules), module.recursive());
                    modules += 1;
                }
            }
            payload => {
                if let Some(module) = &mut open {
                    module.section(&payload)?;
                }
            }
        }
    }
    Ok(found)
}

/// Which function of a module calls which directly. That is all that is kept of its code: a call graph has the names of imports at each
/// call of one, and these are as long as whoever made the program wants.
#[derive(Default)]
struct DirectCalls {
    imported: usize,
    /// Of each function with code, those that it calls, each once: by their position among these.
    callees: Vec<Vec<usize>>,
}

impl DirectCalls {
    fn section(&mut self, payload: &Payload<'_>) -> Result<(), Error> {
        match payload {
            Payload::ImportSection(reader) => {
                for import in reader.clone().into_imports() {
                    self.imported += usize::from(matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                }
            }
            Payload::CodeSectionEntry(body) => {
                let mut callees = Vec::new();
                for operator in body.get_operators_reader()? {
                    if let Operator::Call { function_index } | Operator::ReturnCall { function_index } = operator? {
                        callees.extend((function_index as usize).checked_sub(self.imported));
                    }
                }
                callees.sort_unstable();
                callees.dedup();
                callees.shrink_to_fit();
                self.callees.push(callees);
            }
            _ => {}
        }
        Ok(())
    }

    /// The functions that are in a ring.
    fn recursive(mut self) -> BTreeSet<u32> {
        let count = self.callees.len();
        // A call of a function that is not there is refused later.
        self.callees.iter_mut().for_each(|callees| callees.retain(|callee| *callee < count));
        in_rings(&self.callees).into_iter().map(|position| offset_u32(self.imported + position)).collect()
    }
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

    fn recursive(modules: &str) -> Vec<Vec<u32>> {
        let component = wat::parse_str(format!("(component {modules})")).expect("text");
        let found = recursive_functions(&component).expect("it can be read");
        assert!(found.keys().map(|ordinal| ordinal.0).eq(0..found.len() as u32));
        found.into_values().map(|functions| functions.into_iter().collect()).collect()
    }

    #[test]
    fn functions_in_a_ring_of_direct_calls_are_recursive() {
        let found = recursive(
            "(component (core module (func $f call $f)))
             (core module (import \"\" \"f\" (func $outside)) (table 1 funcref) (elem (i32.const 0) $indirect)
             (func $main call $value call $number)
             (func $value call $array call $number)
             (func $array call $outside call $skip)
             (func $skip call $value)
             (func $number call $digit call $digit)
             (func $digit)
             (func $itself call $digit call $itself)
             (func $indirect i32.const 0 call_indirect)
             (func $tail return_call $tail)
             (func $lost call 99))
             (core module)",
        );
        assert_eq!(found, [vec![0], vec![2, 3, 4, 7, 9], vec![]]);
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
