//! Coverage as an lcov tracefile, which genhtml, editors and services read.
//!
//! ```text
//! TN:                     name of the test
//! SF:/p/src/a.rs          a file begins
//! FN:3,a::f               function: line, name        FNDA:1,a::f   how often
//! BRDA:4,12,0,1           branch: line, block, branch, how often; `-` when the block was never reached
//! DA:3,1                  line, how often
//! end_of_record
//! ```
//!
//! <https://github.com/linux-test-project/lcov/blob/master/man/geninfo.1> (section FILES).
//!
//! Invariant: every file is one record, and every name one function of it. Code without a source file
//! has no lines and is left out: the format has no word for it.

use super::{CoverageDocument, CoverageFormat, CoverageRatio, CoverageView, EdgeCoverage, FileCoverage, LineCoverage};
use std::collections::BTreeMap;

pub(super) const LCOV: CoverageFormat = CoverageFormat { name: "lcov", shows_sources: false, write };

/// What several components say of one file.
#[derive(Default)]
struct Record<'d> {
    functions: BTreeMap<(u32, &'d str), u64>,
    lines: BTreeMap<u32, u64>,
    branches: Vec<(u32, &'d EdgeCoverage)>,
}

fn write(document: &CoverageDocument, view: &CoverageView) -> String {
    let mut records: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    for (_, file) in document.shown(view.all).filter(|(_, file)| file.has_source) {
        records.entry(&file.path).or_default().add(file);
    }
    let mut text = String::from("TN:fozzy\n");
    for (path, record) in records {
        text.push_str(&format!("SF:{}\n", one_line(path)));
        record.write(&mut text);
        text.push_str("end_of_record\n");
    }
    text
}

impl<'d> Record<'d> {
    fn add(&mut self, file: &'d FileCoverage) {
        for function in &file.functions {
            let hits = self.functions.entry((function.line.unwrap_or(1), &function.name)).or_default();
            *hits = hits.saturating_add(function.hits);
        }
        for LineCoverage { line, hits } in &file.lines {
            let sum = self.lines.entry(*line).or_default();
            *sum = sum.saturating_add(*hits);
        }
        let branches = file.edges.iter().filter(|edge| edge.is_branch());
        self.branches.extend(branches.filter_map(|edge| Some((edge.line.filter(|line| *line > 0)?, edge))));
    }

    fn write(mut self, text: &mut String) {
        // One name is one function for readers of the format: the copies at other lines get theirs.
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        let mut named = Vec::new();
        for (&(line, name), &hits) in &self.functions {
            let copies = seen.entry(name).or_default();
            *copies += 1;
            let name = if *copies > 1 { format!("{} #{copies}", one_line(name)) } else { one_line(name) };
            named.push((line, name, hits));
        }
        for (line, name, _) in &named {
            text.push_str(&format!("FN:{line},{name}\n"));
        }
        for (_, name, hits) in &named {
            text.push_str(&format!("FNDA:{hits},{name}\n"));
        }
        ratio(text, "FN", CoverageRatio::count(named.iter().map(|(_, _, hits)| *hits)));
        // A block is an operator that branches, numbered by where it stands; its branches are counted from 0.
        self.branches.sort_by_key(|(line, edge)| (*line, edge.offset, edge.id));
        let mut last = (0, 0);
        let mut branch = 0;
        for (line, edge) in &self.branches {
            branch = if last == (*line, edge.offset) { branch + 1 } else { 0 };
            last = (*line, edge.offset);
            let taken = if edge.reached { edge.hits.to_string() } else { "-".to_owned() };
            text.push_str(&format!("BRDA:{line},{},{branch},{taken}\n", edge.offset));
        }
        ratio(text, "BR", CoverageRatio::count(self.branches.iter().map(|(_, edge)| edge.hits)));
        for (line, hits) in &self.lines {
            text.push_str(&format!("DA:{line},{hits}\n"));
        }
        ratio(text, "L", CoverageRatio::count(self.lines.values().copied()));
    }
}

/// Found and hit: `FNF` and `FNH`, `BRF` and `BRH`, `LF` and `LH`.
fn ratio(text: &mut String, of: &str, CoverageRatio { hit, total }: CoverageRatio) {
    text.push_str(&format!("{of}F:{total}\n{of}H:{hit}\n"));
}

/// A line is a record here, whatever a hostile name has in it.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
