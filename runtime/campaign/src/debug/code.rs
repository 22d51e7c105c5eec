//! Where in the code what a person names is: lines, functions.

use fozzy_engine::{DebugPlace, Program};
use fozzy_instrument::source::DebugSymbols;
use fozzy_instrument::{ModuleOrdinal, OriginalOffset};
use fozzy_trace::Digest;
use fozzy_trace::outcome::StackFrame;
use std::collections::{BTreeMap, BTreeSet};

/// The first operator of a line of source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineStart {
    /// The operator.
    pub place: DebugPlace,
    /// The file, as the compiler saw it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A function of the program.
#[derive(Clone, Debug)]
pub(super) struct FunctionCode {
    pub(super) name: String,
    pub(super) index: u32,
    pub(super) entry: DebugPlace,
    /// Starts of its lines, in the order of the code: the first row of each stretch of one line.
    pub(super) lines: Vec<LineStart>,
}

/// The code of the programs of a run.
pub struct DebuggedCode {
    programs: BTreeMap<Digest, Program>,
    functions: Vec<FunctionCode>,
    by_place: BTreeMap<(Digest, ModuleOrdinal, u32), usize>,
}

impl DebuggedCode {
    /// The code of these programs, which were built for a debugger.
    pub(super) fn new(programs: BTreeMap<Digest, Program>) -> DebuggedCode {
        let mut functions = Vec::new();
        for (digest, program) in &programs {
            let symbols = DebugSymbols::new(program.component());
            for (module, positions) in program.position_sites().modules() {
                for (index, span) in positions.functions() {
                    let Some(entry) = positions.next_counted(span.start) else { continue };
                    let place = |offset: OriginalOffset| DebugPlace { component: *digest, module, offset: offset.0 };
                    let mut lines: Vec<LineStart> = Vec::new();
                    for row in symbols.lines(module, span.clone()) {
                        let is_same = |last: &LineStart| last.line == row.line && last.file == row.file;
                        if lines.last().is_some_and(is_same) {
                            continue;
                        }
                        if let Some(offset) = positions.next_counted(row.offset).filter(|found| span.contains(found)) {
                            lines.push(LineStart { place: place(offset), file: row.file, line: row.line });
                        }
                    }
                    let name = program.source_frames(module, span.start).pop().map(|frame| frame.function);
                    let name = name.unwrap_or_else(|| format!("wasm-function[{index}]"));
                    functions.push(FunctionCode { name, index, entry: place(entry), lines });
                }
            }
        }
        let mut by_place = BTreeMap::new();
        for (number, function) in functions.iter().enumerate() {
            let DebugPlace { component, module, .. } = function.entry;
            by_place.insert((component, module, function.index), number);
        }
        DebuggedCode { programs, functions, by_place }
    }

    /// The function with this index in the module of a place.
    pub(super) fn function(&self, place: DebugPlace, index: u32) -> Option<&FunctionCode> {
        self.functions.get(*self.by_place.get(&(place.component, place.module, index))?)
    }

    /// The programs, by component.
    #[must_use]
    pub fn programs(&self) -> &BTreeMap<Digest, Program> {
        &self.programs
    }

    /// The functions around an operator in words of the source, innermost first.
    #[must_use]
    pub fn source(&self, place: DebugPlace) -> Vec<StackFrame> {
        let program = self.programs.get(&place.component);
        program.map_or_else(Vec::new, |program| program.source_frames(place.module, OriginalOffset(place.offset)))
    }

    /// The operator that is executed after the one at `place`, if that neither branches nor returns.
    pub(super) fn behind(&self, place: DebugPlace) -> Option<DebugPlace> {
        let positions = self.programs.get(&place.component)?.position_sites().module(place.module)?;
        let next = positions.next_counted(OriginalOffset(place.offset + 1))?;
        Some(DebugPlace { offset: next.0, ..place })
    }

    /// The file and line that the code at a place belongs to.
    pub(super) fn line_at(&self, place: DebugPlace) -> Option<(String, u32)> {
        let positions = self.programs.get(&place.component)?.position_sites().module(place.module)?;
        let (index, _) = positions.function_at(OriginalOffset(place.offset))?;
        let lines = &self.function(place, index)?.lines;
        let start = lines.iter().rev().find(|start| start.place <= place)?;
        Some((start.file.clone(), start.line))
    }

    /// Where functions that have lines begin.
    pub(super) fn entries(&self) -> impl Iterator<Item = DebugPlace> {
        self.functions.iter().filter(|function| !function.lines.is_empty()).map(|function| function.entry)
    }

    /// Whether any function has lines.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.functions.iter().any(|function| !function.lines.is_empty())
    }

    /// Whether the name is one of a function: all of it, its last parts, or an index as `#12`.
    fn is_named(function: &FunctionCode, name: &str) -> bool {
        let bare = |text: &str| text.split('(').next().unwrap_or(text).to_owned();
        let is_last = |full: &str| full.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"));
        is_last(&function.name) || is_last(&bare(&function.name)) || name == format!("#{}", function.index)
    }

    /// Where functions of this name begin: behind their prologues, if they have lines.
    #[must_use]
    pub fn functions_named(&self, name: &str) -> BTreeSet<DebugPlace> {
        let named = self.functions.iter().filter(|function| DebuggedCode::is_named(function, name));
        let begin = |function: &FunctionCode| {
            let body = function.lines.iter().skip(1).find(|line| line.place.offset > function.entry.offset);
            body.filter(|_| function.lines.len() > 1).map_or(function.entry, |line| line.place)
        };
        named.map(begin).collect()
    }

    /// The counted operator at this offset of a program.
    pub(super) fn at_offset(&self, offset: u64) -> Option<DebugPlace> {
        let offset = OriginalOffset(u32::try_from(offset).ok()?);
        self.programs.iter().find_map(|(component, program)| {
            let mut modules = program.position_sites().modules();
            let (module, _) = modules.find(|(_, positions)| positions.is_counted(offset))?;
            Some(DebugPlace { component: *component, module, offset: offset.0 })
        })
    }

    /// Names of functions that are near a name.
    #[must_use]
    pub fn near(&self, name: &str) -> Option<String> {
        let last = |full: &str| full.rsplit("::").next().unwrap_or(full).to_owned();
        let names: Vec<String> = self.functions.iter().map(|function| last(&function.name)).collect();
        fozzy_plan::nearest(name, names.iter().map(String::as_str)).map(str::to_owned)
    }

    /// The first operators of a line, or of the next one that has code; with the line. `file` is a path or the end of one.
    #[must_use]
    pub fn line(&self, file: &str, line: u32) -> Option<(u32, BTreeSet<DebugPlace>)> {
        let is_of = |found: &str| {
            found == file || found.strip_suffix(file).is_some_and(|rest| rest.ends_with('/') || rest.ends_with('\\'))
        };
        let starts = || self.functions.iter().flat_map(|function| &function.lines).filter(|start| is_of(&start.file));
        let next = starts().map(|start| start.line).filter(|found| *found >= line).min()?;
        let mut places = BTreeSet::new();
        for function in &self.functions {
            // A line of a loop has several stretches: the first of each function is enough.
            let mut found = function.lines.iter().filter(|start| start.line == next && is_of(&start.file));
            places.extend(found.next().map(|start| start.place));
        }
        Some((next, places))
    }

    /// Files of the source.
    #[must_use]
    pub fn files(&self) -> BTreeSet<&str> {
        self.functions.iter().flat_map(|function| &function.lines).map(|line| line.file.as_str()).collect()
    }
}
