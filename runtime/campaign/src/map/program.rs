//! The functions of a program as its source names them: who calls whom, how they branch, what they ask of the computer.
//!
//! ```text
//! CallGraph: sites by offset ─┐
//! Sites: edges and blocks ────┼─▶ SourceFunction { calls, decisions, host calls, traps, blocks, edges, lines }
//! DWARF: frames of an offset ─┘
//! ```
//!
//! Invariants: code belongs to the innermost function that the debug information names there, so that inlined functions are functions, and
//! the copies of a generic one are one; branches count once for each place of the source. Without debug information a function is one of
//! the compiled code.
//! Not here: what ran (`evidence`).

use super::host_calls::{HostCallKind, is_panic};
use crate::coverage::{module_name, own, plain};
use crate::error::{CampaignError, ErrorKind};
use fozzy_check::is_own;
use fozzy_engine::Program;
use fozzy_instrument::source::{DebugSymbols, LineInfo, SourceFrame};
use fozzy_instrument::{CallGraph, EdgeKind, ModuleChoice, ModuleOrdinal, OriginalOffset, SiteKind};
use fozzy_trace::Digest;
use fozzy_trace::outcome::{SourceLocation, StackFrame};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A program and its functions.
pub(super) struct ProgramMap {
    /// As the first run calls it.
    pub name: String,
    /// SHA-256 of the component.
    pub digest: Digest,
    /// The program, with coverage.
    pub program: Program,
    /// Its functions.
    pub functions: Vec<SourceFunction>,
    /// Entries of core functions that are exported: name, edge.
    pub exports: Vec<(String, u32)>,
    /// Calls of imports: interface or module and name, blocks with such calls.
    pub imports: BTreeMap<String, BTreeSet<u32>>,
    /// Branches: the edges out of one operator, by offset.
    pub branches: Vec<BranchSite>,
    /// What is missing in it, one sentence each.
    pub remarks: Vec<String>,
}

/// An operator with several ways.
#[derive(Clone, Debug)]
pub(super) struct BranchSite {
    /// The core module and the function there.
    pub place: (ModuleOrdinal, u32),
    /// The operator.
    pub offset: OriginalOffset,
    /// The function of the source.
    pub function: usize,
    /// Its line, if that is known.
    pub line: Option<u32>,
    /// The innermost own code that it stands in, where it stands in a library's that is inlined.
    pub written: Option<(usize, u32)>,
    /// The edges out of it, and what each is called.
    pub edges: Vec<(u32, &'static str)>,
}

/// A function of the source.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceFunction {
    /// Its path, without a hash.
    pub name: String,
    /// Its file, or its core module.
    pub file: String,
    /// Whether `file` is one of the source.
    pub has_source: bool,
    /// Whether it is the project's.
    pub own: bool,
    /// Lines with code of it, and the blocks with code of each.
    pub lines: BTreeMap<u32, BTreeSet<u32>>,
    /// Blocks with code of it.
    pub blocks: BTreeSet<u32>,
    /// Ways out of its branches.
    pub edges: BTreeSet<u32>,
    /// Decisions by place of the source.
    decisions: BTreeMap<(u32, u32), u32>,
    /// Places that trap or call what panics.
    pub failure_sites: BTreeSet<(u32, u32)>,
    /// Places with atomic accesses.
    pub atomic_sites: BTreeSet<(u32, u32)>,
    /// Places that ask for memory: `memory.grow`, and calls of allocators.
    pub memory_sites: BTreeSet<(u32, u32)>,
    /// Places that ask the host, directly or through library code that is called directly.
    pub host_sites: BTreeMap<HostCallKind, BTreeSet<(u32, u32)>>,
    /// Names by which it is exported.
    pub exports: BTreeSet<String>,
    /// Whom it calls.
    pub calls: BTreeMap<usize, CallSites>,
}

/// Calls of one function by another.
#[derive(Clone, Debug, Default)]
pub(super) struct CallSites {
    /// Whether some call names its callee, or was inlined; else it is a candidate of an indirect call.
    pub direct: bool,
    /// Blocks with such calls.
    pub blocks: BTreeSet<u32>,
    /// The first such call.
    pub first: Option<(ModuleOrdinal, u32, OriginalOffset)>,
}

impl SourceFunction {
    /// McCabe's number: decisions, and one.
    pub(super) fn complexity(&self) -> u32 {
        self.decisions.values().fold(1, |sum: u32, ways| sum.saturating_add(*ways))
    }

    /// Its first line.
    pub(super) fn line(&self) -> Option<u32> {
        self.lines.keys().next().copied()
    }
}

/// What is known of the module that a function without a source is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModuleOrigin {
    /// A compiler's, with names.
    Named,
    /// A compiler's, without names.
    Nameless,
    /// Made by a linker or an encoder.
    Generated,
}

/// Which code is the project's own.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnCode {
    patterns: Vec<glob::Pattern>,
    /// The folder that paths are shown from.
    root: PathBuf,
}

impl OwnCode {
    /// Paths of sources or names of functions that fit one of these; without any, what is neither a toolchain's nor a dependency's.
    pub(super) fn of(patterns: &[String], root: &Path) -> Result<OwnCode, CampaignError> {
        let compiled = patterns.iter().map(|text| {
            glob::Pattern::new(text)
                .map_err(|error| CampaignError::new(ErrorKind::Usage, format!("--own {text}: {error}")))
        });
        Ok(OwnCode { patterns: compiled.collect::<Result<_, _>>()?, root: root.to_owned() })
    }

    /// Whether a pattern fits a path as the debug information has it or as it is shown, or a name.
    fn is_named(&self, file: &str, function: &str) -> bool {
        let shown = Path::new(file).strip_prefix(&self.root).ok().map(|path| path.display().to_string());
        let fits = |own: &glob::Pattern| {
            own.matches(file) || own.matches(function) || shown.as_ref().is_some_and(|shown| own.matches(shown))
        };
        self.patterns.iter().any(fits)
    }

    /// Code of modules that linkers and encoders make is nobody's; of a module without names, all is the project's, since nothing tells it apart.
    fn includes(&self, function: &SourceFunction, module: ModuleOrigin) -> bool {
        if module == ModuleOrigin::Generated {
            return false;
        }
        if !self.patterns.is_empty() {
            return self.is_named(&function.file, &function.name);
        }
        let source = SourceLocation { file: function.has_source.then(|| function.file.clone()), line: None, col: None };
        let frame = StackFrame { module: String::new(), function: function.name.clone(), offset: 0, source };
        let is_main = MAIN.contains(&function.name.as_str());
        let is_written = || !GENERATED.iter().any(|start| function.name.starts_with(start));
        match function.has_source {
            true => own(&function.file) && (is_main || is_own(&frame) && is_written()),
            false => module == ModuleOrigin::Nameless || is_own(&frame) && is_written(),
        }
    }
}

/// Beginnings of names of functions that attributes and generators of bindings write.
const GENERATED: &[&str] =
    &["fozzy:", "wasi:", "cabi_", "_export_", "export_", "__", "wit_bindgen", "exports::", "_::", "drop_in_place<"];
/// What compilers of C call `main`.
const MAIN: &[&str] = &["__main_argc_argv", "__main_void", "__original_main"];
/// Beginnings of names of functions that allocate, as calls of them count.
const ALLOCATORS: &[&str] = &[
    "__rust_alloc",
    "__rust_realloc",
    "__rustc::__rust_alloc",
    "alloc::alloc::",
    "malloc",
    "calloc",
    "realloc",
    "operator new",
    "runtime.mallocgc",
    "runtime.alloc",
    "alloc::raw_vec::",
];

/// A core module, and the index of a function there.
type CoreFunction = (ModuleOrdinal, u32);

struct Builder<'p> {
    program: &'p Program,
    symbols: DebugSymbols,
    functions: Vec<SourceFunction>,
    known: BTreeMap<(String, String, u32), usize>,
    /// Functions that are entered, by file and the name that debug information has for them.
    by_short: BTreeMap<(String, String), Vec<usize>>,
    /// Whole names of core functions.
    names: BTreeMap<CoreFunction, Option<String>>,
    /// Where stretches begin and end, with their blocks, by offset.
    blocks: Vec<(u32, u32, u32)>,
    modules: BTreeMap<ModuleOrdinal, (String, bool)>,
}

impl ProgramMap {
    /// The functions of a program that was compiled with coverage.
    pub(super) fn of(name: &str, program: &Program, is_own: &OwnCode) -> Result<ProgramMap, CampaignError> {
        let component = program.component();
        let graph = CallGraph::of(component)
            .map_err(|error| CampaignError::new(ErrorKind::Target, format!("{name}: {error}")))?;
        let mut builder = Builder::new(program);
        builder.stretches();
        let branches = builder.branches();
        let (mut exports, mut imports) = (Vec::new(), BTreeMap::new());
        builder.sites(&graph, &mut imports);
        builder.entries(&graph, &mut exports);
        builder.host_through_libraries();
        builder.settle(is_own);
        let remarks = builder.remarks(name);
        let (digest, functions) = (Digest::of(component), builder.functions);
        let (name, program) = (name.to_owned(), program.clone());
        Ok(ProgramMap { name, digest, program, functions, exports, imports, branches, remarks })
    }

    /// Its own functions, with their positions.
    pub(super) fn own(&self) -> impl Iterator<Item = (usize, &SourceFunction)> {
        self.functions.iter().enumerate().filter(|(_, function)| function.own)
    }
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program) -> Builder<'p> {
        let symbols = DebugSymbols::new(program.component());
        let blocks = program
            .sites()
            .stretches()
            .filter_map(|stretch| Some((stretch.range.start.0, stretch.range.end.0, stretch.block?)));
        let modules = program.maps().modules().iter().map(|map| {
            let own = ModuleChoice::Own.includes(map.names());
            (map.ordinal(), (module_name(program, map.ordinal()), own))
        });
        let mut blocks: Vec<(u32, u32, u32)> = blocks.collect();
        blocks.sort_unstable();
        let modules = modules.collect();
        let (known, by_short, names) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Builder { program, symbols, functions: Vec::new(), known, by_short, names, blocks, modules }
    }

    fn covers(&self, module: ModuleOrdinal) -> bool {
        self.modules.get(&module).is_some_and(|(_, own)| *own)
    }

    fn block(&self, offset: OriginalOffset) -> Option<u32> {
        let after = self.blocks.partition_point(|(start, _, _)| *start <= offset.0);
        let (_, end, block) = *self.blocks.get(after.checked_sub(1)?)?;
        (offset.0 < end).then_some(block)
    }

    /// The function of the outermost frame, by its whole name; `None` for code that the compiler made.
    fn entered(&mut self, core: CoreFunction, offset: OriginalOffset, frame: &SourceFrame) -> Option<usize> {
        let Some(file) = &frame.file else {
            // Names of the compiled code need not be unique.
            let file = self.modules.get(&core.0).map_or_else(String::new, |(name, _)| name.clone());
            let start = offset.0.saturating_sub(frame.function_offset);
            return Some(self.known((file, frame.function.clone(), start), false));
        };
        frame.line.filter(|line| *line > 0)?;
        let symbols = &self.symbols;
        let whole =
            self.names.entry(core).or_insert_with(|| symbols.function_name(core.0, core.1).map(without_arguments));
        // A name of another function would be a guess.
        let short = frame.function.clone();
        let is_same = |whole: &String| whole.ends_with(&short) || short.starts_with('{');
        let whole = whole.clone().filter(is_same).unwrap_or_else(|| short.clone());
        let file = plain(file);
        let at = self.known((file.clone(), whole, 0), true);
        let known = self.by_short.entry((file, short)).or_default();
        if !known.contains(&at) {
            known.push(at);
        }
        Some(at)
    }

    /// The function of an inlined frame: one that is known of that name with that line, or one that is inlined everywhere. A closure has its
    /// name from the function around it, the next of `outer` in its file.
    fn inlined(&mut self, frame: &SourceFrame, outer: &[(usize, SourceFrame)]) -> Option<usize> {
        let (file, line) = (plain(frame.file.as_ref()?), frame.line.filter(|line| *line > 0)?);
        let named = self.by_short.get(&(file.clone(), frame.function.clone())).into_iter().flatten();
        let mut fits = named.filter(|at| self.functions[**at].lines.contains_key(&line));
        if let Some(at) = fits.next() {
            return Some(*at);
        }
        let around = outer.iter().rev().map(|(at, _)| &self.functions[*at]).find(|around| around.file == file);
        let name = match around.filter(|_| frame.function.starts_with('{')) {
            Some(around) => format!("{}::{}", around.name, frame.function),
            None => frame.function.clone(),
        };
        Some(self.known((file, name, 0), true))
    }

    /// The functions of an operator, innermost first, with their frames.
    fn at(&mut self, core: CoreFunction, offset: OriginalOffset) -> Vec<(usize, SourceFrame)> {
        let mut frames = self.symbols.frames(core.0, offset);
        let outer = frames.pop();
        let mut found: Vec<(usize, SourceFrame)> = Vec::with_capacity(frames.len() + 1);
        found.extend(outer.and_then(|frame| Some((self.entered(core, offset, &frame)?, frame))));
        for frame in frames.into_iter().rev() {
            if let Some(at) = self.inlined(&frame, &found) {
                found.push((at, frame));
            }
        }
        found.reverse();
        found
    }

    fn known(&mut self, (file, name, start): (String, String, u32), has_source: bool) -> usize {
        let next = self.functions.len();
        let at = *self.known.entry((file.clone(), name.clone(), start)).or_insert(next);
        if at == next {
            self.functions.push(SourceFunction { name, file, has_source, ..SourceFunction::default() });
        }
        at
    }

    /// Lines and blocks: of functions that are entered first, so that those that are inlined are told by their lines.
    fn stretches(&mut self) {
        let program = self.program;
        for is_inlined in [false, true] {
            for stretch in program.sites().stretches() {
                let Some(block) = stretch.block else { continue };
                let mut places = BTreeSet::from([stretch.range.start]);
                places.extend(self.symbols.lines(stretch.module, stretch.range.clone()).iter().map(|row| row.offset));
                for place in places {
                    self.stretch((stretch.module, stretch.function), place, block, is_inlined);
                }
            }
        }
    }

    /// Code of a block: of the function that was entered, and then also of those that are inlined there.
    fn stretch(&mut self, core: CoreFunction, place: OriginalOffset, block: u32, is_inlined: bool) {
        let found = match is_inlined {
            true => self.at(core, place),
            false => {
                let outer = self.symbols.frames(core.0, place).pop();
                outer.and_then(|frame| Some((self.entered(core, place, &frame)?, frame))).into_iter().collect()
            }
        };
        for (at, frame) in found {
            self.functions[at].blocks.insert(block);
            if let (Some(line), true) = (frame.line, frame.file.is_some()) {
                self.functions[at].lines.entry(line).or_default().insert(block);
            }
        }
    }

    /// Branches with their edges.
    fn branches(&mut self) -> Vec<BranchSite> {
        let program = self.program;
        let mut branches: Vec<BranchSite> = Vec::new();
        for edge in program.sites().iter().filter(|edge| edge.kind != EdgeKind::Entry) {
            let (place, way) = ((edge.module, edge.function), (edge.id.0, way(edge.kind)));
            if let Some(last) = branches.last_mut().filter(|last| (last.place, last.offset) == (place, edge.offset)) {
                last.edges.push(way);
                self.functions[last.function].edges.insert(way.0);
                continue;
            }
            let chain = self.at(place, edge.offset);
            let Some((function, line)) = chain.first().map(|(function, frame)| (*function, frame.line)) else {
                continue;
            };
            let is_ours = |frame: &SourceFrame| frame.file.as_ref().is_some_and(|file| own(&plain(file)));
            let written = chain.iter().find(|(_, frame)| is_ours(frame));
            let written = written.and_then(|(at, frame)| Some((*at, frame.line?)));
            self.functions[function].edges.insert(way.0);
            branches.push(BranchSite { place, offset: edge.offset, function, line, written, edges: vec![way] });
        }
        branches
    }

    /// Calls, decisions and the rest, by the function of the source that they stand in.
    fn sites(&mut self, graph: &CallGraph, imports: &mut BTreeMap<String, BTreeSet<u32>>) {
        let entries: Vec<Option<usize>> = graph
            .functions
            .iter()
            .map(|function| self.outermost((function.module, function.index), function.code.start))
            .collect();
        let covered: Vec<bool> = graph.functions.iter().map(|function| self.covers(function.module)).collect();
        for (function, _) in graph.functions.iter().zip(covered).filter(|(_, covered)| *covered) {
            for site in &function.sites {
                let chain = self.chain((function.module, function.index), site.offset);
                let Some((at, place)) = chain.first().copied() else { continue };
                let (block, from) = (self.block(site.offset), (function.module, function.index, site.offset));
                for pair in chain.windows(2) {
                    self.call(pair[1].0, pair[0].0, true, block, from);
                }
                match &site.kind {
                    SiteKind::Branch(ways) => {
                        let known = self.functions[at].decisions.entry(place).or_default();
                        *known = (*known).max(*ways);
                    }
                    SiteKind::Trap => drop(self.functions[at].failure_sites.insert(place)),
                    SiteKind::Atomic => drop(self.functions[at].atomic_sites.insert(place)),
                    SiteKind::MemoryGrow => drop(self.functions[at].memory_sites.insert(place)),
                    SiteKind::Loop => {}
                    SiteKind::Call(callee) => {
                        let Some(callee) = entries[*callee] else { continue };
                        self.call(at, callee, true, block, from);
                        self.named_call(&chain, callee);
                    }
                    SiteKind::Indirect(ty) => {
                        for callee in graph.candidates(function.module, *ty) {
                            if let Some(callee) = entries[*callee] {
                                self.call(at, callee, false, block, from);
                            }
                        }
                    }
                    SiteKind::Import(module, name) => {
                        imports.entry(format!("{module}#{name}")).or_default().extend(block);
                        if let Some(kind) = HostCallKind::of(module, name) {
                            self.functions[at].host_sites.entry(kind).or_default().insert(place);
                        }
                    }
                }
            }
        }
    }

    /// The function that a call of a core function enters.
    fn outermost(&mut self, core: CoreFunction, offset: OriginalOffset) -> Option<usize> {
        self.at(core, offset).last().map(|(at, _)| *at)
    }

    /// The functions that an operator belongs to, the innermost first, each with the place in its source.
    fn chain(&mut self, core: CoreFunction, offset: OriginalOffset) -> Vec<(usize, (u32, u32))> {
        let place = |frame: &SourceFrame| frame.line.map_or((0, offset.0), |line| (line, frame.column.unwrap_or(0)));
        self.at(core, offset).into_iter().map(|(at, frame)| (at, place(&frame))).collect()
    }

    /// What the name of a callee says: that it allocates, or panics. A call in library code that is inlined counts where it is inlined.
    fn named_call(&mut self, chain: &[(usize, (u32, u32))], callee: usize) {
        let name = self.functions[callee].name.clone();
        let (panics, allocates) = (is_panic(&name), ALLOCATORS.iter().any(|start| name.starts_with(start)));
        if !panics && !allocates {
            return;
        }
        for (at, place) in chain {
            let sites =
                if panics { &mut self.functions[*at].failure_sites } else { &mut self.functions[*at].memory_sites };
            sites.insert(*place);
        }
    }

    fn call(
        &mut self,
        from: usize,
        to: usize,
        direct: bool,
        block: Option<u32>,
        site: (ModuleOrdinal, u32, OriginalOffset),
    ) {
        if from == to && !direct {
            return;
        }
        let sites = self.functions[from].calls.entry(to).or_default();
        sites.direct |= direct;
        sites.blocks.extend(block);
        sites.first.get_or_insert(site);
    }

    /// Exports, and where they are entered.
    fn entries(&mut self, graph: &CallGraph, exports: &mut Vec<(String, u32)>) {
        let program = self.program;
        let entries = program.sites().iter().filter(|edge| edge.kind == EdgeKind::Entry);
        let entries: BTreeMap<(ModuleOrdinal, u32), u32> =
            entries.map(|edge| ((edge.module, edge.function), edge.id.0)).collect();
        for function in graph.functions.iter().filter(|function| !function.exports.is_empty()) {
            let Some(edge) = entries.get(&(function.module, function.index)) else { continue };
            exports.extend(function.exports.iter().map(|name| (name.clone(), *edge)));
            if let Some(at) = self.outermost((function.module, function.index), function.code.start) {
                self.functions[at].exports.extend(function.exports.iter().cloned());
            }
        }
    }

    /// Own code asks the computer through libraries: what these ask by direct calls counts where own code calls them. Not what a panic does.
    fn host_through_libraries(&mut self) {
        let is_library =
            |function: &SourceFunction| function.has_source && !own(&function.file) && !is_panic(&function.name);
        let library: Vec<bool> = self.functions.iter().map(is_library).collect();
        let kinds_of =
            |function: &SourceFunction| function.host_sites.keys().copied().collect::<BTreeSet<HostCallKind>>();
        let mut kinds: Vec<BTreeSet<HostCallKind>> = self.functions.iter().map(kinds_of).collect();
        // Up from the callees, until nothing new comes: a kind enters each set once.
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..self.functions.len()).filter(|at| library[*at]) {
                for (callee, sites) in &self.functions[at].calls {
                    if sites.direct && library[*callee] && *callee != at && !kinds[*callee].is_subset(&kinds[at]) {
                        let more = kinds[*callee].clone();
                        kinds[at].extend(more);
                        changed = true;
                    }
                }
            }
        }
        for at in (0..self.functions.len()).filter(|at| !library[*at]) {
            let function = &self.functions[at];
            let calls = function.calls.iter().filter(|(callee, sites)| sites.direct && library[**callee]);
            let found: Vec<(HostCallKind, u32)> =
                calls.flat_map(|(callee, _)| kinds[*callee].iter().map(|kind| (*kind, *callee as u32))).collect();
            for (kind, callee) in found {
                // No line of ours: told apart by the callee.
                self.functions[at].host_sites.entry(kind).or_default().insert((0, callee));
            }
        }
    }

    fn settle(&mut self, is_own: &OwnCode) {
        let origin = |(module, (_, own)): (&ModuleOrdinal, &(String, bool))| match own {
            false => ModuleOrigin::Generated,
            true if self.symbols.has_names(*module) => ModuleOrigin::Named,
            true => ModuleOrigin::Nameless,
        };
        let origins: BTreeMap<String, ModuleOrigin> =
            self.modules.iter().map(|(at, known)| (known.0.clone(), origin((at, known)))).collect();
        // What an attribute expands to stands at the line of the attribute, beside the export that it makes.
        let is_export =
            |function: &&SourceFunction| function.has_source && function.name.starts_with("fozzy:scenario/");
        let exports = self.functions.iter().filter(is_export);
        let attributes: BTreeSet<(String, u32)> =
            exports.flat_map(|function| function.lines.keys().map(|line| (function.file.clone(), *line))).collect();
        for function in &mut self.functions {
            let of_attribute = !function.lines.is_empty()
                && function.lines.keys().all(|line| attributes.contains(&(function.file.clone(), *line)));
            let origin = origins.get(&function.file).copied().unwrap_or(ModuleOrigin::Named);
            function.own = !of_attribute && is_own.includes(function, origin);
        }
    }

    fn remarks(&self, name: &str) -> Vec<String> {
        let mut remarks = Vec::new();
        for (module, (module_name, _)) in self.modules.iter().filter(|(_, (_, own))| *own) {
            let lines = self.symbols.line_info(*module);
            if let Some(remedy) = lines.remedy() {
                remarks.push(format!("{name}: `{module_name}` {remedy}"));
            } else if lines == LineInfo::Absent {
                let names = if self.symbols.has_names(*module) {
                    "functions have the names of its name section and no lines"
                } else {
                    "and no names: functions are numbers, and libraries count as own code"
                };
                remarks.push(format!("{name}: `{module_name}` has no debug information: {names}"));
            }
        }
        remarks
    }
}

/// A name without the arguments of a generic function, so that its copies are one: `app::read::<u8>` is `app::read`.
fn without_arguments(name: String) -> String {
    match (name.strip_suffix('>'), name.rfind("::<")) {
        (Some(_), Some(_)) => {
            let mut depth = 0_usize;
            let start = name.char_indices().rev().find_map(|(at, c)| {
                depth = match c {
                    '>' if !name[..at].ends_with('-') => depth + 1,
                    '<' => depth.saturating_sub(1),
                    _ => depth,
                };
                (depth == 0).then_some(at)
            });
            let head = start.and_then(|start| name[..start].strip_suffix("::"));
            head.map_or_else(|| name.clone(), str::to_owned)
        }
        _ => name,
    }
}

fn way(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Entry => "entered",
        EdgeKind::Then => "true",
        EdgeKind::Else => "false",
        EdgeKind::Taken => "taken",
        EdgeKind::FallThrough => "not taken",
        EdgeKind::Arm(_) => "sent to one of its arms",
        EdgeKind::Back => "sent back to the loop's head",
        EdgeKind::Landing => "caught",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_code_is_named_by_paths_as_they_are_shown_and_main_is_own() {
        let function = |file: &str, name: &str| SourceFunction {
            name: name.to_owned(),
            file: file.to_owned(),
            has_source: true,
            ..SourceFunction::default()
        };
        let own = |patterns: &[&str], file: &str, name: &str| {
            let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
            let own = OwnCode::of(&patterns, Path::new("/home/me/app")).expect("patterns");
            own.includes(&function(file, name), ModuleOrigin::Named)
        };
        assert!(own(&["src/**"], "/home/me/app/src/a.c", "price"));
        assert!(own(&["src/a.c"], "/home/me/app/src/a.c", "price"));
        assert!(!own(&["src/**"], "/usr/share/src/a.c", "price"));
        assert!(own(&[], "/home/me/app/src/a.c", "__main_argc_argv"));
        assert!(!own(&[], "/home/me/app/src/a.c", "__wasm_export_price"));
    }

    #[test]
    fn copies_of_a_generic_function_have_one_name() {
        for (name, whole) in [
            ("app::read::<u8>", "app::read"),
            ("app::read::<alloc::vec::Vec<u8>, fn(u8) -> u8>", "app::read"),
            ("<app::Bank as app::Teller>::pay", "<app::Bank as app::Teller>::pay"),
            ("app::pay", "app::pay"),
            ("<app::Bank<u8>>", "<app::Bank<u8>>"),
        ] {
            assert_eq!(without_arguments(name.to_owned()), whole);
        }
    }
}
