//! Branches that ran but never went one of their ways, each with an SDK call that makes every report say so.
//!
//! ```text
//! if sum > 3 {      ran, and was never true: it went one way only
//! match word {      ran, and one of its arms was not taken
//! ```
//!
//! Only these are looked up in the debug information, and their places alone: a program has many times as many.
//!
//! Invariant: what was not reached is never called unreachable.

use crate::coverage::{each_operator, own, plain};
use fozzy_engine::{Catalogue, Program, ProgramCoverage};
use fozzy_instrument::{Edge, EdgeKind, Sites};
use fozzy_report::UnreachedBranch;
use fozzy_report::coverage::is_macro_line;
use std::collections::BTreeMap;

/// Locations that are listed at most.
const LISTED_MAX: usize = 12;

/// The first of them, by file and line.
pub fn unreached(program: &Program, covered: &ProgramCoverage) -> Vec<UnreachedBranch> {
    let has_sdk = program.catalogue() != Catalogue::Unneeded;
    // By a file as the compiler saw it: its path, and its lines. `None` is of a file that others have written.
    let mut files: BTreeMap<String, Option<(String, SourceLines)>> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for missed in missed_edges(program.sites(), &covered.edges) {
        let Some((file, line)) = program.source_place(missed.module, missed.offset) else { continue };
        let file = files.entry(file).or_insert_with_key(|file| {
            let path = plain(file);
            own(&path).then(|| {
                let lines = SourceLines::read(&path);
                (path, lines)
            })
        });
        let Some((path, lines)) = file.as_ref() else { continue };
        if !lines.is_generated(line) && lines.branches(line) {
            // The last one of a line tells what is missing there.
            places.insert((path.clone(), line), (lines.text(line), missed_way(missed.kind)));
        }
    }
    let shown = places.into_iter().take(LISTED_MAX).map(|((path, line), (text, missed))| {
        let short = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let own = if has_sdk { format!("reachable!(\"{short}:{line}\");") } else { String::new() };
        let place = format!("{path}:{line}");
        UnreachedBranch { place, text, missed: missed.to_owned(), line: own }
    });
    shown.collect()
}

/// The edges that were never taken out of branches that ran, in order.
fn missed_edges(sites: &Sites, counts: &[u64]) -> Vec<Edge> {
    let is_taken = |edge: &&Edge| counts.get(edge.id.0 as usize).is_some_and(|count| *count > 0);
    let mut missed = Vec::new();
    each_operator(sites, &mut |edges| {
        if edges.iter().any(|edge| is_taken(&edge)) {
            let branches = edges.iter().filter(|edge| edge.kind != EdgeKind::Entry);
            missed.extend(branches.filter(|edge| !is_taken(edge)).copied());
        }
    });
    missed
}

/// What is missing where an edge of this kind was not taken. The line itself has run, as an edge's line is that of its operator.
fn missed_way(kind: EdgeKind) -> &'static str {
    if let EdgeKind::Arm(_) = kind { "an arm was not taken" } else { "went one way only" }
}

/// The lines of a source file, if it is here.
struct SourceLines(Vec<String>);

impl SourceLines {
    fn read(path: &str) -> SourceLines {
        let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        SourceLines(text.lines().map(|line| line.trim().to_owned()).collect())
    }

    /// The line of this number, from 1.
    fn text(&self, line: u32) -> Option<String> {
        self.0.get(line.checked_sub(1)? as usize).filter(|text| !text.is_empty()).cloned()
    }

    /// Whether the source line has a branch. If not, the compiler has inserted the branch as a check of a bound or an
    /// overflow: the line has run, and only its panic was not reached. A line without source counts as a branch.
    fn branches(&self, line: u32) -> bool {
        self.text(line).is_none_or(|text| is_branch(&text))
    }

    /// Whether what is compiled of the line is a macro's, whose branches are generated.
    fn is_generated(&self, line: u32) -> bool {
        self.text(line).is_some_and(|text| is_macro_line(&text))
    }
}

/// Words and signs of branches, of the languages that coverage knows lines of.
const BRANCH_WORDS: [&str; 12] =
    ["if", "else", "match", "while", "for", "loop", "switch", "case", "default", "select", "catch", "matches"];
const BRANCH_SIGNS: [&str; 4] = ["?", "&&", "||", "=>"];

fn is_branch(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| BRANCH_WORDS.contains(&word)) || BRANCH_SIGNS.iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_macros_are_no_branches_of_the_author() {
        let text =
            ["#[scenario]", "always!(a < b, \"c\");", "if !ready(x) {", "fozzy_sdk::sometimes!(x);", "match x {"];
        let lines = SourceLines(text.iter().map(|line| (*line).to_owned()).collect());
        let generated: Vec<bool> = (1..=5).map(|line| lines.is_generated(line)).collect();
        assert_eq!(generated, [true, true, false, true, false]);
        let branches =
            ["let sum = values[at] + 1;", "if sum > 3 {", "Some(x) => x,", "let y = read()?;", "notify(iffy);"];
        assert_eq!(branches.map(is_branch), [false, true, true, true, false]);
        assert_eq!(
            [EdgeKind::Then, EdgeKind::Taken, EdgeKind::Arm(3)].map(missed_way),
            ["went one way only", "went one way only", "an arm was not taken"]
        );
        assert_eq!((lines.text(3).as_deref(), lines.text(6)), (Some("if !ready(x) {"), None));
    }
}
