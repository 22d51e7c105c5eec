//! What executions have covered, in the words of the source, and its formats.
//!
//! ```text
//! traces ─▶ CoverageDocument ─┬─▶ summary   a table for a person, and the branches that went one way only
//!                             ├─▶ lcov      for genhtml and editors
//!                             ├─▶ html      one page that shows the source
//!                             └─▶ json      the document itself
//! ```
//!
//! Words, as LLVM and JaCoCo use them:
//! - An **edge** is a way that control can take in the compiled code: into a function, to either side of a condition, to one of
//!   the targets of a switch, back to the head of a loop. All but the first kind are **branches**.
//! - A **line** counts when the compiler has left code of it. It was hit when a stretch of code between two edges that holds
//!   some of its code was entered; what a trap or an exit cut off in the middle of a stretch counts as hit.
//! - A **function** is one that the source names, inlined ones and all copies of generic ones together. It was hit when any code
//!   of it was. Without debug information it is a function of the compiled code.
//!
//! Invariant: the document is a function of programs and executions; its keys are never renamed.
//! Not here: where hits and lines come from (`fozzy-cli`), reading sources.

mod html;
mod json;
mod lcov;
mod summary;

pub use summary::is_macro_line;

use crate::Style;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the document.
pub const COVERAGE_SCHEMA: &str = "fozzy.coverage.v1";

/// What executions have covered: `coverage.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoverageDocument {
    /// [`COVERAGE_SCHEMA`].
    pub schema_version: String,
    /// `hits`: each number is 0 or 1; `counts`: how often.
    pub counting: String,
    /// Traces that were executed.
    pub traces: Vec<String>,
    /// What is worth knowing of them, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Sums over all own files, or over all files when none is the program's own.
    pub totals: CoverageTotals,
    /// Each component that ran, the target of the first trace first.
    pub components: Vec<ComponentCoverage>,
}

/// One component.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentCoverage {
    /// As the trace calls it.
    pub name: String,
    /// SHA-256 of the component.
    pub digest: String,
    /// Core modules in it that were looked at.
    pub modules: Vec<ModuleCoverage>,
    /// Its files, own ones first, then by path.
    pub files: Vec<FileCoverage>,
}

/// One core module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModuleCoverage {
    /// Position in the component.
    pub module: u32,
    /// From its name section.
    pub name: String,
    /// Its edges.
    pub edges: CoverageRatio,
}

/// One source file, or the code of a core module whose source is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileCoverage {
    /// Path as the compiler saw it; for code without one the name of the core module.
    pub path: String,
    /// Whether the path is one of a source file.
    pub has_source: bool,
    /// Whether it is the project's own, not a dependency's or a toolchain's.
    pub own: bool,
    /// Sums.
    pub totals: CoverageTotals,
    /// By line, then by name.
    pub functions: Vec<FunctionCoverage>,
    /// Lines with code, in order; a line that is not here has none.
    pub lines: Vec<LineCoverage>,
    /// Edges whose branching operator stands in the file, in the order of their ids.
    pub edges: Vec<EdgeCoverage>,
}

/// One function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FunctionCoverage {
    /// Its path, without a hash.
    pub name: String,
    /// The first line with code of it; absent without debug information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Where its code begins, in bytes from the start of the component.
    pub offset: u32,
    /// How often it was called; at least 1 when inlined code of it ran.
    pub hits: u64,
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineCoverage {
    /// From 1.
    pub line: u32,
    /// How often the stretch of its code was entered that was entered most often.
    pub hits: u64,
}

/// One edge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeCoverage {
    /// Its position among all edges of the component: the same on every machine, for the same choice of modules.
    pub id: u32,
    /// `entry`, `then`, `else`, `taken`, `fall-through`, `arm N`, `back` or `landing`.
    pub kind: String,
    /// The function of the source.
    pub function: String,
    /// The operator that branches, in bytes from the start of the component.
    pub offset: u32,
    /// Its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// How often it was taken.
    pub hits: u64,
    /// Whether the operator was executed at all, that is, whether any edge out of it was taken.
    pub reached: bool,
}

impl EdgeCoverage {
    /// Whether it is a way out of a branch, not the entry of a function.
    #[must_use]
    pub fn is_branch(&self) -> bool {
        self.kind != "entry"
    }
}

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageRatio {
    /// Hit.
    pub hit: u64,
    /// There are.
    pub total: u64,
}

impl CoverageRatio {
    fn count(hits: impl Iterator<Item = u64>) -> CoverageRatio {
        hits.fold(CoverageRatio::default(), |sum, hits| CoverageRatio {
            hit: sum.hit + u64::from(hits > 0),
            total: sum.total + 1,
        })
    }

    fn plus(self, other: CoverageRatio) -> CoverageRatio {
        CoverageRatio { hit: self.hit + other.hit, total: self.total + other.total }
    }

    /// In tenths of a percent, rounded down, so that only all of them are 100 %; `None` of nothing.
    #[must_use]
    pub fn per_mille(self) -> Option<u64> {
        self.hit.saturating_mul(1000).checked_div(self.total)
    }
}

/// Sums of a file or of everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageTotals {
    /// Functions.
    pub functions: CoverageRatio,
    /// Lines.
    pub lines: CoverageRatio,
    /// Edges.
    pub edges: CoverageRatio,
}

impl CoverageTotals {
    fn plus(self, other: CoverageTotals) -> CoverageTotals {
        CoverageTotals {
            functions: self.functions.plus(other.functions),
            lines: self.lines.plus(other.lines),
            edges: self.edges.plus(other.edges),
        }
    }

    fn of<'f>(files: impl Iterator<Item = &'f FileCoverage>) -> CoverageTotals {
        files.fold(CoverageTotals::default(), |sum, file| sum.plus(file.totals))
    }
}

impl CoverageDocument {
    /// Orders files and computes all sums. Call it when everything else is there.
    pub fn settle(&mut self) {
        for file in self.components.iter_mut().flat_map(|component| &mut component.files) {
            file.functions.sort_by(|a, b| (a.line, &a.name, a.offset).cmp(&(b.line, &b.name, b.offset)));
            file.totals = CoverageTotals {
                functions: CoverageRatio::count(file.functions.iter().map(|function| function.hits)),
                lines: CoverageRatio::count(file.lines.iter().map(|line| line.hits)),
                edges: CoverageRatio::count(file.edges.iter().map(|edge| edge.hits)),
            };
        }
        for component in &mut self.components {
            component.files.sort_by(|a, b| (!a.own, !a.has_source, &a.path).cmp(&(!b.own, !b.has_source, &b.path)));
        }
        let any_own = self.files().any(|(_, file)| file.own);
        self.totals = CoverageTotals::of(self.files().map(|(_, file)| file).filter(|file| file.own || !any_own));
    }

    /// All files, with their components.
    pub fn files(&self) -> impl Iterator<Item = (&ComponentCoverage, &FileCoverage)> {
        self.components.iter().flat_map(|component| component.files.iter().map(move |file| (component, file)))
    }

    /// The files that are shown: own ones, or all when that is asked for or none is the program's own.
    fn shown(&self, all: bool) -> impl Iterator<Item = (&ComponentCoverage, &FileCoverage)> {
        let all = all || !self.files().any(|(_, file)| file.own);
        self.files().filter(move |(_, file)| all || file.own)
    }
}

/// How a document is shown.
#[derive(Clone, Debug)]
pub struct CoverageView {
    /// Dependencies and toolchain in full, too.
    pub all: bool,
    /// The number of branches not taken that are listed at most.
    pub uncovered: usize,
    /// Marks for the terminal.
    pub style: Style,
    /// Texts of source files that can be read, by path.
    pub sources: BTreeMap<String, String>,
}

/// A format of coverage.
pub struct CoverageFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// Whether it shows texts of sources.
    pub shows_sources: bool,
    /// Writes it.
    pub write: fn(&CoverageDocument, &CoverageView) -> String,
}

/// All formats.
pub const COVERAGE_FORMATS: &[CoverageFormat] = &[summary::SUMMARY, lcov::LCOV, html::HTML, json::JSON];
