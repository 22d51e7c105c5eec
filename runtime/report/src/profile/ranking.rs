//! Functions and lines by what they cost.

use super::CallTree;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileTopFunction {
    /// Its name.
    pub function: String,
    /// The core module that it is in.
    pub module: String,
    /// The source file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Instructions of its own.
    pub own: u64,
    /// Instructions of its own and of those that it calls.
    pub inclusive: u64,
    /// How often it was called, other than where it is inlined.
    pub calls: u64,
    /// Bytes that its bulk operations have moved.
    pub bulk_bytes: u64,
}

/// One line of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineCount {
    /// The source file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The function, the innermost one that is inlined there.
    pub function: String,
    /// Instructions.
    pub instructions: u64,
}

/// All functions that have code, the most expensive first.
pub(crate) fn by_function(tree: &CallTree) -> Vec<ProfileTopFunction> {
    let mut found: BTreeMap<usize, ProfileTopFunction> = BTreeMap::new();
    for ((position, node), inclusive) in tree.nodes.iter().enumerate().zip(tree.inclusive()) {
        let function = &tree.functions[node.function];
        if function.module.is_empty() {
            continue;
        }
        let row = found.entry(node.function).or_insert_with(|| ProfileTopFunction {
            function: function.name.clone(),
            module: function.module.clone(),
            file: function.file.clone(),
            own: 0,
            inclusive: 0,
            calls: 0,
            bulk_bytes: 0,
        });
        let own = node.own();
        row.own += own.instructions;
        row.bulk_bytes += own.bulk_bytes;
        row.calls += node.calls;
        if tree.is_first_of_function(position) {
            row.inclusive += inclusive.instructions;
        }
    }
    let mut rows: Vec<ProfileTopFunction> = found.into_values().collect();
    // Functions are in the order of their names, which decides between equals.
    rows.sort_by_key(|row| std::cmp::Reverse((row.own, row.inclusive)));
    rows
}

pub(super) fn by_line(tree: &CallTree) -> Vec<LineCount> {
    let mut found: BTreeMap<(&str, u32, usize), u64> = BTreeMap::new();
    for node in &tree.nodes {
        let Some(file) = &tree.functions[node.function].file else { continue };
        for (line, cost) in node.lines.iter().filter(|(line, cost)| **line > 0 && cost.instructions > 0) {
            *found.entry((file, *line, node.function)).or_default() += cost.instructions;
        }
    }
    let row = |((file, line, function), instructions): ((&str, u32, usize), u64)| LineCount {
        file: file.to_owned(),
        line,
        function: tree.functions[function].name.clone(),
        instructions,
    };
    let mut rows: Vec<LineCount> = found.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.instructions));
    rows
}
