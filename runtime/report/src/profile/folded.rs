//! Folded stacks: a line for each path that costs something, `root;caller;callee 123`.
//!
//! Invariant: lines are in the order of their bytes, and no name breaks a line or a stack.

use super::CallTree;
use std::collections::BTreeMap;

pub(super) fn write(tree: &CallTree) -> Vec<u8> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    let mut paths: Vec<String> = Vec::with_capacity(tree.nodes.len());
    for (position, node) in tree.nodes.iter().enumerate() {
        let name: String =
            tree.name(position).chars().map(|c| if c == ';' || c.is_control() { '_' } else { c }).collect();
        let path = match node.parent {
            Some(parent) => format!("{};{name}", paths[parent]),
            None => name,
        };
        let own = node.own().instructions;
        if own > 0 {
            *lines.entry(path.clone()).or_default() += own;
        }
        paths.push(path);
    }
    let text: String = lines.iter().map(|(path, own)| format!("{path} {own}\n")).collect();
    text.into_bytes()
}
