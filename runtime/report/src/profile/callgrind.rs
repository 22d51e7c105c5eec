//! The format of callgrind: instructions by function and line, and each call with its number and what it cost.
//! <https://valgrind.org/docs/manual/cl-format.html>
//!
//! ```text
//! fl=(1) src/main.rs      fn=(1) main
//! 12 40 0                 12 has 40 instructions
//! cfn=(2) parse           calls=3 30
//! 13 900 0                three calls in line 13, 900 instructions altogether
//! ```
//!
//! Inlined code belongs to the function that it stands in, with its own file and line: so calls are calls, and their numbers exact.

use super::{CallNode, CallTree, CodeCost};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What callgrind calls a file that is not known.
const UNKNOWN: &str = "???";

/// A line in a file.
type Place<'t> = (&'t str, u32);

/// All that one function does, over all paths.
#[derive(Default)]
struct FunctionRecord<'t> {
    own: BTreeMap<Place<'t>, CodeCost>,
    /// By place and callee: calls, and what they cost.
    calls: BTreeMap<(Place<'t>, usize), (u64, CodeCost)>,
}

pub(super) fn write(tree: &CallTree) -> Vec<u8> {
    let inclusive = tree.inclusive();
    let mut records: BTreeMap<usize, FunctionRecord<'_>> = BTreeMap::new();
    // The node that has the code of each node.
    let mut holders: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    for (position, node) in tree.nodes.iter().enumerate() {
        let holder = match node.parent.filter(|_| node.is_inlined) {
            Some(parent) => holders[parent],
            None => position,
        };
        holders.push(holder);
        let record = records.entry(tree.nodes[holder].function).or_default();
        for (line, cost) in &node.lines {
            record.own.entry((file(tree, node), *line)).or_default().add(*cost);
        }
        if let Some(parent) = node.parent.filter(|_| !node.is_inlined) {
            let caller = tree.nodes[holders[parent]].function;
            let place = (file(tree, &tree.nodes[parent]), node.call_line);
            let call = records.entry(caller).or_default().calls.entry((place, node.function)).or_default();
            call.0 += node.calls;
            call.1.add(inclusive[position]);
        }
    }
    let mut text = Names::default().write(tree, &records);
    let CodeCost { instructions, bulk_bytes } = tree.total();
    let _ = writeln!(text, "\ntotals: {instructions} {bulk_bytes}");
    text.into_bytes()
}

fn file<'t>(tree: &'t CallTree, node: &CallNode) -> &'t str {
    tree.functions[node.function].file.as_deref().unwrap_or(UNKNOWN)
}

/// Numbers by which names are written that were written before.
#[derive(Default)]
struct Names {
    files: BTreeMap<String, usize>,
    functions: BTreeMap<usize, usize>,
}

impl Names {
    fn write(&mut self, tree: &CallTree, records: &BTreeMap<usize, FunctionRecord<'_>>) -> String {
        let mut text = format!(
            "# callgrind format\nversion: 1\ncreator: fozzy\ncmd: {}\npositions: line\nevents: Ir Bulk\n",
            line_of(&tree.run)
        );
        for (function, record) in records {
            let home = tree.functions[*function].file.as_deref().unwrap_or(UNKNOWN);
            let _ = write!(text, "\nfl={}\nfn={}\n", self.file(home), self.function(tree, *function));
            let mut here = home;
            for ((file, line), cost) in &record.own {
                if *file != here {
                    let word = if *file == home { "fe" } else { "fi" };
                    let _ = writeln!(text, "{word}={}", self.file(file));
                    here = file;
                }
                let _ = writeln!(text, "{line} {} {}", cost.instructions, cost.bulk_bytes);
            }
            for (((file, line), callee), (calls, cost)) in &record.calls {
                if *file != here {
                    let word = if *file == home { "fe" } else { "fi" };
                    let _ = writeln!(text, "{word}={}", self.file(file));
                    here = file;
                }
                let theirs = tree.functions[*callee].file.as_deref().unwrap_or(UNKNOWN);
                let first = records.get(callee).and_then(|record| record.own.keys().find(|place| place.0 == theirs));
                let _ = write!(text, "cfi={}\ncfn={}\n", self.file(theirs), self.function(tree, *callee));
                let _ = writeln!(text, "calls={calls} {}", first.map_or(0, |place| place.1));
                let _ = writeln!(text, "{line} {} {}", cost.instructions, cost.bulk_bytes);
            }
        }
        text
    }

    fn file(&mut self, name: &str) -> String {
        let next = self.files.len() + 1;
        let number = *self.files.entry(name.to_owned()).or_insert(next);
        if number == next { format!("({number}) {}", line_of(name)) } else { format!("({number})") }
    }

    fn function(&mut self, tree: &CallTree, function: usize) -> String {
        let next = self.functions.len() + 1;
        let number = *self.functions.entry(function).or_insert(next);
        let name = || line_of(&tree.functions[function].name);
        if number == next { format!("({number}) {}", name()) } else { format!("({number})") }
    }
}

fn line_of(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '_' } else { c }).collect()
}
