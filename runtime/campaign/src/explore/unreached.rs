//! Branches that ran but never went one of their ways, each with an SDK call that makes every report say so.
//!
//! ```text
//! if sum > 3 {      ran, and was never true: it went one way only
//! match word {      ran, and one of its arms was not taken
//! ```
//!
//! Invariant: what was not reached is never called unreachable.

use crate::coverage::component;
use fozzy_engine::{Catalogue, Program, ProgramCoverage};
use fozzy_report::UnreachedBranch;
use fozzy_report::coverage::is_macro_line;
use std::collections::BTreeMap;

/// Locations that are listed at most.
const LISTED_MAX: usize = 12;

/// The first of them, by file and line.
pub fn unreached(program: &Program, covered: &ProgramCoverage, name: &str) -> Vec<UnreachedBranch> {
    let (found, _) = component(program, name, covered);
    let has_sdk = program.catalogue() != Catalogue::Unneeded;
    let mut places = BTreeMap::new();
    for file in found.files.iter().filter(|file| file.own && file.has_source) {
        // Branches that ran, and never took this edge.
        let missed = file.edges.iter().filter(|edge| edge.reached && edge.hits == 0 && edge.is_branch());
        let lines = SourceLines::read(&file.path);
        let missed = missed.filter_map(|edge| Some((edge.line?, missed_way(&edge.kind))));
        let missed = missed.filter(|(line, _)| !lines.is_generated(*line) && lines.branches(*line));
        places.extend(missed.map(|(line, way)| ((file.path.clone(), line), (lines.text(line), way))));
    }
    let shown = places.into_iter().take(LISTED_MAX).map(|((path, line), (text, missed))| {
        let short = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let own = if has_sdk { format!("reachable!(\"{short}:{line}\");") } else { String::new() };
        let place = format!("{path}:{line}");
        UnreachedBranch { place, text, missed: missed.to_owned(), line: own }
    });
    shown.collect()
}

/// What is missing where an edge of this kind was not taken. The line itself has run, as an edge's line is that of its operator.
fn missed_way(kind: &str) -> &'static str {
    if kind.starts_with("arm") { "an arm was not taken" } else { "went one way only" }
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
            ["then", "taken", "arm 3"].map(missed_way),
            ["went one way only", "went one way only", "an arm was not taken"]
        );
        assert_eq!((lines.text(3).as_deref(), lines.text(6)), (Some("if !ready(x) {"), None));
    }
}
