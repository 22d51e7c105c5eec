//! What the programs of a run print, shown as they print it: the target's as its own, that of other machines line by line after their names.

use crate::output::{self, ProgramOutput};
use fozzy_engine::{OutputKind, OutputTee};
use fozzy_report::MachineLine;
use fozzy_trace::{NodeId, Plan};
use std::collections::BTreeMap;

/// Passes on what the programs write while they run: the target's own words as they are, those of other machines
/// on stderr, each line after the machine's name.
pub(super) fn show_output(plan: &Plan, is_dialogue: bool) -> OutputTee {
    let names: Vec<String> = plan.nodes.iter().map(|node| node.name.clone()).collect();
    let mut lines = BTreeMap::new();
    let (mut out, mut errors) = (ProgramOutput::to_stdout(is_dialogue), ProgramOutput::to_stderr(is_dialogue));
    Box::new(move |node, kind, bytes| match (node, kind) {
        (NodeId(0), OutputKind::Stdout) => out.write(bytes),
        (NodeId(0), OutputKind::Stderr) => errors.write(bytes),
        (NodeId(number), _) => {
            let Some(name) = names.get(number as usize - 1) else { return };
            let line = lines.entry(node).or_insert_with(|| MachineLine::new(name, output::notice));
            line.write(bytes);
        }
    })
}
