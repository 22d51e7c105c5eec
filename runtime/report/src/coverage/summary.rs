//! Coverage for a person: a table of files, and the branches that only ever went one way.
//!
//! ```text
//! file              lines            functions        edges
//! src/main.rs        81.2%  13/16    100.0%  4/4       62.5%  10/16
//!
//! never went there
//!   src/main.rs:41:9    parse    if: never false     if header.len() > 4 {
//! ```
//!
//! Invariant: a line fits what is in it, and colours are marks only: without them the text is the same.

use super::{
    ComponentCoverage, CoverageDocument, CoverageFormat, CoverageRatio, CoverageTotals, CoverageView, EdgeCoverage,
    FileCoverage,
};
use crate::Style;
use fozzy_trace::counted;

pub(super) const SUMMARY: CoverageFormat = CoverageFormat { name: "summary", shows_sources: true, write };

/// Widest path that keeps a column aligned; of longer ones the end is shown.
const PATH_CHARS_MAX: usize = 60;
/// Widest function name in a list of branches.
const NAME_CHARS_MAX: usize = 36;
/// Widest piece of source in a list of branches.
const SOURCE_CHARS_MAX: usize = 60;
/// From here on the share is good, below the other bad, in tenths of a percent.
const GOOD: u64 = 800;
const BAD: u64 = 500;

fn write(document: &CoverageDocument, view: &CoverageView) -> String {
    let Style { faint, end, .. } = view.style;
    let mut text = String::new();
    let prefix = common_folder(document);
    let several = document.components.len() > 1;
    for component in &document.components {
        let runs = document.traces.len();
        let head = format!("coverage of {}", clean(&component.name));
        let traces = counted(runs as u64, "execution");
        text.push_str(&if several { head } else { format!("{head}  {faint}{traces}{end}") });
        text.push_str("\n\n");
        component_table(&mut text, component, view, &prefix);
        text.push('\n');
    }
    if several {
        text.push_str(&format!("all own files  {}\n\n", cells(document.totals, view.style)));
    }
    not_taken(&mut text, document, view, &prefix);
    for remark in &document.remarks {
        text.push_str(&format!("note: {}\n", clean(remark)));
    }
    text
}

fn component_table(text: &mut String, component: &ComponentCoverage, view: &CoverageView, prefix: &str) {
    let Style { faint, end, .. } = view.style;
    let any_own = component.files.iter().any(|file| file.own);
    let is_shown = |file: &&FileCoverage| view.all || file.own || !any_own;
    let shown: Vec<&FileCoverage> = component.files.iter().filter(is_shown).collect();
    let folded: Vec<&FileCoverage> = component.files.iter().filter(|file| !is_shown(file)).collect();
    let names: Vec<String> = shown
        .iter()
        .map(|file| short(&clean(file.path.strip_prefix(prefix).unwrap_or(&file.path)), PATH_CHARS_MAX))
        .collect();
    let folded_name = counted(folded.len() as u64, "file of dependencies and toolchain");
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let width = widest.max(12).max(if folded.is_empty() { 0 } else { folded_name.len() });
    let head = format!("{:<width$}  {:>6} {:<13}  {:>6} {:<13}  {:>6}", "file", "lines", "", "functions", "", "edges");
    text.push_str(&format!("  {faint}{head}{end}\n"));
    for (name, file) in names.iter().zip(&shown) {
        text.push_str(&format!("  {name:<width$}  {}\n", cells(file.totals, view.style)));
    }
    if shown.len() > 1 {
        let sum = CoverageTotals::of(shown.iter().copied());
        text.push_str(&format!("  {:<width$}  {}\n", "all of these", cells(sum, view.style)));
    }
    if !folded.is_empty() {
        let sum = CoverageTotals::of(folded.into_iter());
        text.push_str(&format!(
            "  {faint}{folded_name:<width$}{end}  {}  {faint}--all shows them{end}\n",
            cells(sum, view.style)
        ));
    }
}

/// Functions that were never called, and branches that only ever went one way.
fn not_taken(text: &mut String, document: &CoverageDocument, view: &CoverageView, prefix: &str) {
    let place = |file: &FileCoverage, line: Option<u32>, column: Option<u32>, offset: u32| {
        let path = clean(file.path.strip_prefix(prefix).unwrap_or(&file.path));
        match (line, column) {
            (Some(line), Some(column)) => format!("{path}:{line}:{column}"),
            (Some(line), None) => format!("{path}:{line}"),
            _ => format!("{path} at {offset:#x}"),
        }
    };
    let functions: Vec<[String; 3]> = document
        .shown(view.all)
        .flat_map(|(_, file)| {
            file.functions.iter().filter(|function| function.hits == 0).map(move |found| (file, found))
        })
        .filter(|(file, found)| !is_generated(view, file, found.line))
        .map(|(file, found)| [place(file, found.line, None, found.offset), clean(&found.name), String::new()])
        .collect();
    let branches =
        document.shown(view.all).flat_map(|(_, file)| one_way(file).into_iter().map(move |edge| (file, edge)));
    let branches = branches.filter(|(file, edge)| !is_generated(view, file, edge.line));
    let branches: Vec<[String; 3]> = branches
        .map(|(file, edge)| {
            let source = edge.line.and_then(|line| source_line(view, &file.path, line)).unwrap_or_default();
            let function = short(&clean(&edge.function), NAME_CHARS_MAX);
            let what = if source.is_empty() { what(edge).to_owned() } else { format!("{:<22}  {source}", what(edge)) };
            [place(file, edge.line, edge.column, edge.offset), function, what]
        })
        .collect();
    list(text, "never called", "functions", &functions, view);
    list(text, "never went there", "branches", &branches, view);
}

fn list(text: &mut String, title: &str, of: &str, rows: &[[String; 3]], view: &CoverageView) {
    let Style { bad, faint, end, .. } = view.style;
    if rows.is_empty() || view.uncovered == 0 {
        return;
    }
    text.push_str(&format!("{bad}{title}{end}  {faint}{} {of}{end}\n", rows.len()));
    let rows_shown = &rows[..rows.len().min(view.uncovered)];
    let width = |column: usize| rows_shown.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (places, names) = (width(0), width(1));
    for [place, name, what] in rows_shown {
        text.push_str(format!("  {place:<places$}  {name:<names$}  {what}").trim_end());
        text.push('\n');
    }
    let more = rows.len() - rows_shown.len();
    if more > 0 {
        text.push_str(&format!("  {faint}and {more} more: --uncovered {}{end}\n", rows.len()));
    }
    text.push('\n');
}

/// The ways out of branches that were reached and never left by them, one for each place of the source.
pub(super) fn one_way(file: &FileCoverage) -> Vec<&EdgeCoverage> {
    let mut found: Vec<&EdgeCoverage> =
        file.edges.iter().filter(|edge| edge.is_branch() && edge.reached && edge.hits == 0).collect();
    found.sort_by_key(|edge| (edge.line, edge.column, edge.id));
    found.dedup_by(|next, last| {
        next.line.is_some() && (next.line, next.column, what(next)) == (last.line, last.column, what(last))
    });
    found
}

/// What was not seen. Compilers turn conditions around, so it is not said which side of one.
pub(super) fn what(edge: &EdgeCoverage) -> &'static str {
    match edge.kind.as_str() {
        "back" => "loop never repeated",
        "landing" => "exception never caught",
        "entry" => "never called",
        kind if kind.starts_with("arm") => "a case never taken",
        _ => "went one way only",
    }
}

/// Whether the code of a line is generated by a macro; `--all` lists it.
fn is_generated(view: &CoverageView, file: &FileCoverage, line: Option<u32>) -> bool {
    let text = line.filter(|_| !view.all).and_then(|line| source_line(view, &file.path, line));
    text.is_some_and(|text| is_macro_line(&text))
}

/// Whether what is compiled of a line of Rust is a macro's: an attribute's, or that of `always!(a < b, "…")`, also of a path: a word, an
/// exclamation mark and a bracket, at the beginning of the line.
#[must_use]
pub fn is_macro_line(text: &str) -> bool {
    let calls = |(path, rest): (&str, &str)| {
        let is_path = !path.is_empty() && path.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
        is_path && rest.starts_with(['(', '[', '{'])
    };
    text.starts_with("#[") || text.split_once('!').is_some_and(calls)
}

fn source_line(view: &CoverageView, path: &str, line: u32) -> Option<String> {
    let line = view.sources.get(path)?.lines().nth(line.checked_sub(1)? as usize)?;
    let text: String = clean(line.trim()).chars().take(SOURCE_CHARS_MAX).collect();
    Some(text)
}

fn cells(totals: CoverageTotals, style: Style) -> String {
    let cell = |ratio: CoverageRatio| {
        let Style { good, bad, end, .. } = style;
        let colour = match ratio.per_mille() {
            Some(GOOD..) => good,
            Some(..BAD) => bad,
            _ => "",
        };
        let close = if colour.is_empty() { "" } else { end };
        format!("{colour}{:>6}{close} {:<13}", percent(ratio), of(ratio))
    };
    let row = [totals.lines, totals.functions, totals.edges].map(cell).join("  ");
    row.trim_end().to_owned()
}

/// `81.2%`, or a dash when there is nothing to hit.
pub(super) fn percent(ratio: CoverageRatio) -> String {
    ratio.per_mille().map_or_else(|| "-".to_owned(), |share| format!("{}.{}%", share / 10, share % 10))
}

fn of(CoverageRatio { hit, total }: CoverageRatio) -> String {
    if total == 0 { String::new() } else { format!("{hit}/{total}") }
}

/// The folder that all own sources are in, with its slash: it is left out of what a person reads.
pub(super) fn common_folder(document: &CoverageDocument) -> String {
    let own = document.files().filter(|(_, file)| file.own && file.has_source).map(|(_, file)| file.path.as_str());
    let common = own.map(|path| path.rfind('/').map_or("", |end| &path[..=end])).reduce(|left, right| {
        let same = left.split_inclusive('/').zip(right.split_inclusive('/')).take_while(|(left, right)| left == right);
        &left[..same.map(|(part, _)| part.len()).sum()]
    });
    common.unwrap_or_default().to_owned()
}

/// The end of a text that is too long, which tells most of a path.
fn short(text: &str, chars_max: usize) -> String {
    let chars = text.chars().count();
    if chars <= chars_max {
        return text.to_owned();
    }
    format!("…{}", text.chars().skip(chars - chars_max + 1).collect::<String>())
}

/// Names come from the component and may hold anything: nothing of them reaches the terminal's controls.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
