//! Where in the code what a person names is: lines, functions.

use fozzy_engine::{DebugPlace, Program};
use fozzy_instrument::source::DebugSymbols;
use fozzy_instrument::{ModuleOrdinal, OriginalOffset};
use fozzy_trace::Digest;
use fozzy_trace::outcome::StackFrame;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

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

/// Function, file and line of code: the outermost function first, then those that are inlined.
pub(super) type SourceChain = Rc<[(String, String, u32)]>;

/// Where a stretch of code begins that belongs to one line, in all functions that are inlined there.
#[derive(Clone, Debug)]
pub(super) struct StepPlace {
    pub(super) place: DebugPlace,
    pub(super) chain: SourceChain,
    /// Whether a function begins there.
    pub(super) is_entry: bool,
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
    /// Functions without an instruction at which a run can be stopped.
    trapping: Vec<(String, u32)>,
    by_place: BTreeMap<(Digest, ModuleOrdinal, u32), usize>,
    symbols: BTreeMap<Digest, DebugSymbols>,
    /// Of functions that were stepped in, by their number.
    steps: RefCell<BTreeMap<usize, Rc<Vec<StepPlace>>>>,
}

impl DebuggedCode {
    /// The code of these programs, which were built for a debugger.
    pub(super) fn new(programs: BTreeMap<Digest, Program>) -> DebuggedCode {
        let mut functions = Vec::new();
        let mut trapping = Vec::new();
        let mut all_symbols = BTreeMap::new();
        for (digest, program) in &programs {
            let symbols = DebugSymbols::new(program.component());
            for (module, positions) in program.position_sites().modules() {
                for (index, span) in positions.functions() {
                    let name = program.source_frames(module, span.start).pop().map(|frame| frame.function);
                    let name = name.unwrap_or_else(|| format!("wasm-function[{index}]"));
                    let Some(entry) = positions.next_counted(span.start) else {
                        trapping.push((name, index));
                        continue;
                    };
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
                    functions.push(FunctionCode { name, index, entry: place(entry), lines });
                }
            }
            all_symbols.insert(*digest, symbols);
        }
        let mut by_place = BTreeMap::new();
        for (number, function) in functions.iter().enumerate() {
            let DebugPlace { component, module, .. } = function.entry;
            by_place.insert((component, module, function.index), number);
        }
        DebuggedCode { programs, functions, trapping, by_place, symbols: all_symbols, steps: RefCell::default() }
    }

    /// Where stretches of code begin in the function with this index in the module of a place, in the order of the code; empty without lines.
    pub(super) fn step_places(&self, place: DebugPlace, index: u32) -> Rc<Vec<StepPlace>> {
        let Some(&number) = self.by_place.get(&(place.component, place.module, index)) else { return Rc::default() };
        let mut steps = self.steps.borrow_mut();
        Rc::clone(steps.entry(number).or_insert_with(|| Rc::new(self.stretches(&self.functions[number]))))
    }

    fn stretches(&self, function: &FunctionCode) -> Vec<StepPlace> {
        let DebugPlace { component, module, .. } = function.entry;
        let mut found: Vec<StepPlace> = Vec::new();
        let positions = self.programs.get(&component).and_then(|program| program.position_sites().module(module));
        let span = positions.and_then(|positions| positions.function(function.index));
        let (Some(positions), Some(span), Some(symbols)) = (positions, span, self.symbols.get(&component)) else {
            return found;
        };
        for row in symbols.lines(module, span.clone()) {
            let Some(offset) = positions.next_counted(row.offset).filter(|found| span.contains(found)) else {
                continue;
            };
            let place = DebugPlace { offset: offset.0, ..function.entry };
            if found.last().is_some_and(|last| last.place >= place) {
                continue;
            }
            let chain = self.chain(place);
            if found.last().is_none_or(|last| last.chain != chain) {
                found.push(StepPlace { place, chain, is_entry: place == function.entry });
            }
        }
        found
    }

    /// The functions and lines at a place.
    fn chain(&self, place: DebugPlace) -> SourceChain {
        let frames = self.source(place).into_iter().rev();
        let one = |frame: StackFrame| {
            (frame.function, frame.source.file.unwrap_or_default(), frame.source.line.unwrap_or_default())
        };
        frames.map(one).collect()
    }

    /// The stretch that begins at a place.
    pub(super) fn step_place(&self, place: DebugPlace) -> Option<StepPlace> {
        let index = self.function_index(place)?;
        let steps = self.step_places(place, index);
        // They stand in the order of the code.
        steps.binary_search_by_key(&place, |step| step.place).ok().map(|at| steps[at].clone())
    }

    /// The stretch that a place is in.
    pub(super) fn step_place_before(&self, place: DebugPlace, index: u32) -> Option<StepPlace> {
        self.step_places(place, index).iter().rev().find(|step| step.place <= place).cloned()
    }

    /// A call in a function without lines, as a stretch of its own.
    pub(super) fn call_place(&self, place: DebugPlace) -> Option<StepPlace> {
        let is_without = self.step_places(place, self.function_index(place)?).is_empty();
        is_without.then(|| StepPlace { place, chain: self.chain(place), is_entry: false })
    }

    fn function_index(&self, place: DebugPlace) -> Option<u32> {
        let positions = self.programs.get(&place.component)?.position_sites().module(place.module)?;
        Some(positions.function_at(OriginalOffset(place.offset))?.0)
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
    fn is_named(own: &str, index: u32, name: &str) -> bool {
        let bare = |text: &str| text.split('(').next().unwrap_or(text).to_owned();
        let is_last = |full: &str| full.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"));
        is_last(own) || is_last(&bare(own)) || name == format!("#{index}")
    }

    /// Where functions of this name begin: behind their prologues, if they have lines.
    #[must_use]
    pub fn functions_named(&self, name: &str) -> BTreeSet<DebugPlace> {
        let named =
            self.functions.iter().filter(|function| DebuggedCode::is_named(&function.name, function.index, name));
        let begin = |function: &FunctionCode| {
            let body = function.lines.iter().skip(1).find(|line| line.place.offset > function.entry.offset);
            // In optimised code the next line can be one of a function that is inlined.
            let body = body.filter(|line| self.chain(line.place).len() == 1);
            body.map_or(function.entry, |line| line.place)
        };
        named.map(begin).collect()
    }

    /// Whether the innermost function at a place has this name, or one that is inlined there, with others inlined where it begins.
    pub(super) fn is_inside(&self, place: DebugPlace, name: &str) -> bool {
        let is_main = |own: &str| name == "main" && own == "__main_argc_argv";
        let is_named = |own: &str| DebuggedCode::is_named(own, u32::MAX, name) || is_main(own);
        let frames = self.source(place);
        let is_inlined = |above: usize| above == 0 || above + 1 < frames.len();
        let mut named = frames.iter().enumerate().filter(|(above, _)| is_inlined(*above));
        frames.is_empty() || named.any(|(_, frame)| is_named(&frame.function))
    }

    /// Whether functions of this name have no instruction at which a run can be stopped: they trap at once.
    #[must_use]
    pub fn only_traps(&self, name: &str) -> bool {
        self.trapping.iter().any(|(own, index)| DebuggedCode::is_named(own, *index, name))
    }

    /// The first counted operator behind this offset, in the same function.
    pub(super) fn behind_offset(&self, offset: u64) -> Option<DebugPlace> {
        let offset = OriginalOffset(u32::try_from(offset).ok()?);
        self.programs.iter().find_map(|(component, program)| {
            program.position_sites().modules().find_map(|(module, positions)| {
                positions.function_at(offset)?;
                let next = positions.next_counted(offset)?;
                Some(DebugPlace { component: *component, module, offset: next.0 })
            })
        })
    }

    /// The first counted operator at a place or behind it, in the same function.
    pub(super) fn counted_from(&self, place: DebugPlace) -> Option<DebugPlace> {
        let positions = self.programs.get(&place.component)?.position_sites().module(place.module)?;
        let next = positions.next_counted(OriginalOffset(place.offset))?;
        Some(DebugPlace { offset: next.0, ..place })
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
