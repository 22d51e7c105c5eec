//! The functions that do an allocator's work: those of the allocator itself, and those that only they call.
//!
//! ```text
//! malloc ─▶ dlmalloc ─▶ sys_alloc      are all of them
//!              └──────▶ memset         is not, as the program calls it too
//! ```
//!
//! Not here: what is called indirectly, or from outside, since it is not known by whom.

use super::{AllocatorRole, Allocators};
use crate::ModuleOrdinal;
use crate::call_graph::{CallGraph, SiteKind};
use std::collections::BTreeSet;

/// The functions whose stores are the allocator's own. A function that returns an address through memory of its caller is none.
pub(crate) fn inner_functions(graph: &CallGraph, allocators: &Allocators) -> BTreeSet<(ModuleOrdinal, u32)> {
    let role = |position: usize| {
        let function = &graph.functions[position];
        allocators.function(function.module, function.index).map(|it| it.role)
    };
    let mut callers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); graph.functions.len()];
    for (position, function) in graph.functions.iter().enumerate() {
        for site in &function.sites {
            if let SiteKind::Call(callee) = site.kind
                && callee != position
            {
                callers[callee].insert(position);
            }
        }
    }
    let mut is_inner: Vec<bool> = (0..graph.functions.len()).map(|position| role(position).is_some()).collect();
    let is_hidden = |position: usize| {
        let function = &graph.functions[position];
        function.exports.is_empty() && !function.is_taken && !callers[position].is_empty()
    };
    // Until nothing is added: each round goes one call deeper.
    loop {
        let joins = |position: &usize| {
            !is_inner[*position] && is_hidden(*position) && callers[*position].iter().all(|caller| is_inner[*caller])
        };
        let joining: Vec<usize> = (0..is_inner.len()).filter(joins).collect();
        if joining.is_empty() {
            break;
        }
        joining.into_iter().for_each(|position| is_inner[position] = true);
    }
    let writes_to_caller = |position: usize| matches!(role(position), Some(AllocatorRole::AllocateInto { .. }));
    let found = (0..is_inner.len()).filter(|position| is_inner[*position] && !writes_to_caller(*position));
    found.map(|position| (graph.functions[position].module, graph.functions[position].index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_allocators_call_is_theirs() {
        let text = r#"(component (core module (memory 1) (table 1 funcref) (elem (i32.const 0) $hook)
            (func $malloc (param i32) (result i32) call $grow call $shared call $hook i32.const 0)
            (func $grow call $deeper call $outside call $grow)
            (func $deeper)
            (func $outside (export "outside"))
            (func $shared)
            (func $hook)
            (func $posix_memalign (param i32 i32 i32) (result i32) call $aligned i32.const 0)
            (func $aligned)
            (func $main call $shared call $unused)
            (func $unused)))"#;
        let component = wat::parse_str(text).expect("text");
        let allocators = Allocators::of(&component, &[]).expect("it is a component");
        let found = inner_functions(&CallGraph::of(&component).expect("it is one"), &allocators);
        assert_eq!(found.into_iter().map(|(_, index)| index).collect::<Vec<_>>(), [0, 1, 2, 7]);
    }
}
