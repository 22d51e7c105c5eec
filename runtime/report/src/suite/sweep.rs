//! One program with many seeds, for a person: a line for each new failure as it is met, then all that failed, each way once.
//!
//! ```text
//! fozzy run  till.wasm  seeds 1 to 1000
//! FAIL        seed 17  `the sum is kept` does not hold
//!
//! seed 17  FAIL  `the sum is kept` does not hold
//!   sum 12, expected 15
//! replay it: fozzy replay .fozzy/runs/…/seed-17.fozzy
//!   15 of 1,000 seeds fail so: 17, 40, 112, 113, 200, 207, 391, 400 and 7 more
//! ```

use super::pretty::{closing, failure, printable};
use super::{CaseResult, CaseSummary, SuiteSummary};
use crate::pretty::{Style, counted, grouped};
use crate::strikes::{overlap_row, total_rows};
use fozzy_trace::outcome::StackFrame;

/// Seeds that are listed for each failure; the document has all of them.
const SEEDS_SHOWN: usize = 8;

/// What is about to be run.
#[must_use]
pub fn sweep_heading(program: &str, seeds: &str, style: Style) -> String {
    let Style { faint, end, .. } = style;
    format!("{faint}fozzy run{end}  {}  seeds {seeds}\n", printable(program))
}

/// A seed that fails as none before it has.
#[must_use]
pub fn seed_line(case: &CaseSummary, style: Style) -> String {
    let Style { bad, end, .. } = style;
    format!("{bad}{:<10}{end}  {}  {}\n", case.word(), case.name, printable(&case.remark()))
}

/// What is left to say when each failure has had its line.
#[must_use]
pub fn sweep_details(summary: &SuiteSummary, style: Style, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let Style { faint, end, .. } = style;
    let failed = || summary.scenarios.iter().filter(|case| case.result == CaseResult::Failed);
    let mut text = String::new();
    for first in failed().filter(|case| case.run.is_some()) {
        let alike = failed().filter(|case| case.name == first.name || case.same_as.as_ref() == Some(&first.name));
        let seeds: Vec<&str> = alike.map(|case| case.name.trim_start_matches("seed ")).collect();
        let shown = seeds[..seeds.len().min(SEEDS_SHOWN)].join(", ");
        let more = match seeds.len().saturating_sub(SEEDS_SHOWN) {
            0 => String::new(),
            more => format!(" and {} more", grouped(more as u64)),
        };
        let all = counted(summary.scenarios.len() as u64, "seed");
        text.push('\n');
        text.push_str(&failure(first, &first.name, style, &is_own));
        text.push_str(&format!("  {faint}{} of {all} end so:{end} {shown}{more}\n", grouped(seeds.len() as u64)));
    }
    let rows = total_rows(&summary.faults, summary.scenarios.len() as u64);
    let rows: Vec<_> = rows.into_iter().chain(overlap_row(&summary.overlaps)).collect();
    let rows = rows.iter().map(|(key, line)| format!("  {faint}{key:<9}{end} {line}\n"));
    text + &closing(summary, "run", style) + &rows.collect::<String>()
}
