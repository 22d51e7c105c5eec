//! From edges that were taken to lines, functions and files of the source.
//!
//! ```text
//! Covered: counts by edge and block ─┐
//! Sites: where each of them is ──────┼─▶ ComponentCoverage: files with lines, functions, edges
//! Symbols: DWARF and names ──────────┘
//! ```
//!
//! Invariants: a piece of code belongs to the innermost function and line that the debug information names; code that it does
//! not name belongs to its core module, by function name and offset.
//! Not here: formats (`fozzy-report`).

mod union;

pub(crate) use union::name_of;
pub use union::{CoverageUnion, FUEL_TIMES};

use fozzy_check::is_own;
use fozzy_engine::{Program, ProgramCoverage};
use fozzy_instrument::source::{DebugSymbols, LineInfo, SourceFrame};
use fozzy_instrument::{CodeRange, Edge, EdgeKind, ModuleChoice, ModuleOrdinal, OriginalOffset, Sites};
use fozzy_report::coverage::{
    ComponentCoverage, EdgeCoverage, FileCoverage, FunctionCoverage, LineCoverage, ModuleCoverage,
};
use fozzy_trace::Digest;
use fozzy_trace::outcome::{SourceLocation, StackFrame};
use std::collections::{BTreeMap, BTreeSet};

/// Parts of paths under which package managers and toolchains keep what others have written.
const DEPENDENCIES: &[&str] = &[
    "/.cargo/",
    "/registry/src/",
    "/git/checkouts/",
    "/rust/deps/",
    "/node_modules/",
    "/pkg/mod/",
    "/site-packages/",
    "/vendor/",
    "dlmalloc/src/",
    "/compiler-rt/",
    "/llvm-toolchain",
    "wasisdk://",
];

/// A file while it is put together.
#[derive(Default)]
struct Draft {
    has_source: bool,
    lines: BTreeMap<u32, u64>,
    /// By name; without source also by offset, since names need not be unique there.
    functions: BTreeMap<(String, u32), FunctionCoverage>,
    edges: Vec<EdgeCoverage>,
}

struct Builder<'p> {
    program: &'p Program,
    covered: &'p ProgramCoverage,
    symbols: DebugSymbols,
    files: BTreeMap<String, Draft>,
    /// The function that was last looked at, in a module without debug information: all of it has one frame.
    plain: Option<((ModuleOrdinal, u32), OriginalOffset, SourceFrame)>,
    /// Whether an own function was found that is inlined into another one.
    inlines: bool,
}

/// What was covered of `program`, which reports call `name`; and whether its own functions are inlined into each other, which compilers do
/// when they optimise.
pub fn component(program: &Program, name: &str, covered: &ProgramCoverage) -> (ComponentCoverage, bool) {
    let symbols = DebugSymbols::new(program.component());
    let mut builder = Builder { program, covered, symbols, files: BTreeMap::new(), plain: None, inlines: false };
    let sites = program.sites();
    for stretch in sites.stretches() {
        builder.stretch(&stretch);
    }
    each_operator(sites, &mut |edges| builder.operator(edges));
    let modules = builder.modules();
    let inlines = builder.inlines;
    let any_source = builder.files.values().any(|draft| draft.has_source);
    // Without debug information a file is a module. Adapters that were asked for are still other people's code.
    let generated = |name: &String| !ModuleChoice::Own.includes(std::iter::once(name.as_str()));
    let files = builder.files.into_iter().map(|(path, draft)| {
        let own_module = !any_source && !generated(&path);
        file(path, draft, own_module)
    });
    let digest = Digest::of(program.component()).to_string();
    (ComponentCoverage { name: name.to_owned(), digest, modules, files: files.collect() }, inlines)
}

/// Shows the edges out of each operator, and the entry of each function alone, in order.
pub(crate) fn each_operator(sites: &Sites, see: &mut dyn FnMut(&[Edge])) {
    let mut edges: Vec<Edge> = Vec::new();
    for edge in sites.iter() {
        // The edges of one operator follow each other.
        let same = |last: &Edge| (last.function, last.offset, last.module) == (edge.function, edge.offset, edge.module);
        let entry = edge.kind == EdgeKind::Entry;
        if entry || edges.last().is_some_and(|last| !same(last) || last.kind == EdgeKind::Entry) {
            see(&edges);
            edges.clear();
        }
        edges.push(edge);
    }
    see(&edges);
}

/// Whether code of that source file is the project's own.
pub(crate) fn own(path: &str) -> bool {
    let source = SourceLocation { file: Some(path.to_owned()), line: None, col: None };
    let frame = StackFrame { module: String::new(), function: "f".to_owned(), offset: 0, source };
    let dependency = DEPENDENCIES.iter().any(|part| path.contains(part));
    is_own(&frame) && !dependency
}

fn file(path: String, draft: Draft, own_module: bool) -> FileCoverage {
    let lines = draft.lines.into_iter().map(|(line, hits)| LineCoverage { line, hits });
    FileCoverage {
        own: if draft.has_source { own(&path) } else { own_module },
        has_source: draft.has_source,
        path,
        lines: lines.collect(),
        functions: draft.functions.into_values().collect(),
        edges: draft.edges,
        ..FileCoverage::default()
    }
}

impl Builder<'_> {
    /// Lines and functions of code between two edges.
    fn stretch(&mut self, stretch: &CodeRange) {
        let Some(block) = stretch.block else { return };
        let hits = self.covered.blocks.get(block as usize).copied().unwrap_or(0);
        let rows = self.symbols.lines(stretch.module, stretch.range.clone());
        let mut places = BTreeSet::from([stretch.range.start]);
        for row in rows {
            places.insert(row.offset);
            let draft = self.source(&plain(&row.file));
            let line = draft.lines.entry(row.line).or_default();
            *line = (*line).max(hits);
        }
        for place in places {
            for frame in self.frames(stretch.module, stretch.function, place) {
                self.function(stretch.module, place, frame, hits.min(1));
            }
        }
    }

    /// Notes that code of a function is at `place`, and that it was called `hits` times at least.
    fn function(&mut self, module: ModuleOrdinal, place: OriginalOffset, frame: SourceFrame, hits: u64) {
        let line = frame.line.filter(|line| *line > 0);
        // Code that the compiler made belongs to no line, and the names around it are a guess.
        if frame.file.is_some() && line.is_none() {
            return;
        }
        let start = place.0.saturating_sub(frame.function_offset);
        let (draft, key) = match &frame.file {
            Some(file) => (self.source(&plain(file)), (frame.function.clone(), 0)),
            None => {
                let name = self.module_name(module);
                (self.files.entry(name).or_default(), (frame.function.clone(), start))
            }
        };
        let new = || FunctionCoverage { name: frame.function, line, offset: start, hits: 0 };
        let function = draft.functions.entry(key).or_insert_with(new);
        function.hits = function.hits.max(hits);
        function.line = match (function.line, line) {
            (Some(known), Some(line)) => Some(known.min(line)),
            (known, line) => known.or(line),
        };
    }

    /// The edges out of one operator, or the entry of a function.
    fn operator(&mut self, edges: &[Edge]) {
        let Some(first) = edges.first() else { return };
        let count = |edge: &Edge| self.covered.edges.get(edge.id.0 as usize).copied().unwrap_or(0);
        let counts: Vec<u64> = edges.iter().map(count).collect();
        let reached = counts.iter().any(|count| *count > 0);
        let frames = self.frames(first.module, first.function, first.offset);
        let is_own = |frame: &SourceFrame| frame.file.as_ref().is_some_and(|file| own(&plain(file)));
        self.inlines |= frames.len() > 1 && !self.inlines && is_own(&frames[0]) && frames.last().is_some_and(is_own);
        // A function is entered where it is written; it branches where the branch is, inlined or not.
        let frame = if first.kind == EdgeKind::Entry { frames.last() } else { frames.first() };
        let Some(frame) = frame.cloned() else { return };
        let module = self.module_name(first.module);
        let draft = match &frame.file {
            Some(file) => self.source(&plain(file)),
            None => self.files.entry(module).or_default(),
        };
        for (edge, hits) in edges.iter().zip(&counts) {
            draft.edges.push(EdgeCoverage {
                id: edge.id.0,
                kind: kind(edge.kind),
                function: frame.function.clone(),
                offset: edge.offset.0,
                line: frame.line.filter(|line| *line > 0),
                column: frame.column.filter(|column| *column > 0),
                hits: *hits,
                reached,
            });
        }
        if first.kind == EdgeKind::Entry {
            self.called(first, frame, counts[0]);
        }
    }

    /// Adds calls of a function; the copies of a generic one add up.
    fn called(&mut self, edge: &Edge, frame: SourceFrame, calls: u64) {
        let key_of = |offset| (frame.function.clone(), offset);
        let start = edge.offset.0.saturating_sub(frame.function_offset);
        let function = match &frame.file {
            Some(file) => self.files.get_mut(&plain(file)).and_then(|draft| draft.functions.get_mut(&key_of(0))),
            None => {
                let name = self.module_name(edge.module);
                self.files.get_mut(&name).and_then(|draft| draft.functions.get_mut(&key_of(start)))
            }
        };
        if let Some(function) = function {
            function.hits = function.hits.max(calls);
        }
    }

    /// The frames of an operator. Looking up a name goes through all names, so it is done once a function.
    fn frames(&mut self, module: ModuleOrdinal, function: u32, offset: OriginalOffset) -> Vec<SourceFrame> {
        if let Some((known, start, frame)) = &self.plain
            && *known == (module, function)
        {
            let function_offset = frame.function_offset + offset.0.saturating_sub(start.0);
            return vec![SourceFrame { function_offset, ..frame.clone() }];
        }
        let frames = self.symbols.frames(module, offset);
        self.plain = match frames.as_slice() {
            [frame] if frame.file.is_none() && self.symbols.line_info(module) != LineInfo::Present => {
                Some(((module, function), offset, frame.clone()))
            }
            _ => None,
        };
        frames
    }

    fn source(&mut self, file: &str) -> &mut Draft {
        // Most rows are of a file that is known already.
        if !self.files.contains_key(file) {
            self.files.insert(file.to_owned(), Draft { has_source: true, ..Draft::default() });
        }
        self.files.get_mut(file).expect("was just put there")
    }

    fn module_name(&self, module: ModuleOrdinal) -> String {
        module_name(self.program, module)
    }

    fn modules(&self) -> Vec<ModuleCoverage> {
        let mut modules: BTreeMap<ModuleOrdinal, ModuleCoverage> = BTreeMap::new();
        for edge in self.program.sites().iter() {
            let new = || ModuleCoverage {
                module: edge.module.0,
                name: module_name(self.program, edge.module),
                ..ModuleCoverage::default()
            };
            let module = modules.entry(edge.module).or_insert_with(new);
            module.edges.total += 1;
            module.edges.hit += u64::from(self.covered.edges.get(edge.id.0 as usize).is_some_and(|hits| *hits > 0));
        }
        modules.into_values().collect()
    }
}

/// The path with `.` and `..` removed lexically, without a look at the file system.
pub(crate) fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The name of a core module, or its position.
pub fn module_name(program: &Program, module: ModuleOrdinal) -> String {
    let map = program.maps().modules().get(module.0 as usize);
    map.and_then(|map| map.names().next()).map_or_else(|| format!("module {}", module.0), str::to_owned)
}

fn kind(kind: EdgeKind) -> String {
    let name = match kind {
        EdgeKind::Entry => "entry",
        EdgeKind::Then => "then",
        EdgeKind::Else => "else",
        EdgeKind::Taken => "taken",
        EdgeKind::FallThrough => "fall-through",
        EdgeKind::Back => "back",
        EdgeKind::Landing => "landing",
        EdgeKind::Arm(arm) => return format!("arm {arm}"),
    };
    name.to_owned()
}
