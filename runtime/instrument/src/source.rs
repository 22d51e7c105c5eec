//! From offsets in the original component to lines of source.
//!
//! ```text
//! OriginalOffset ── minus start of the code section's contents ──► DWARF address
//!   addr2line ──► inlined frames, innermost first, and the function itself
//!   no DWARF  ──► the name section's function name, and the offset inside the function
//! ```
//!
//! DWARF of WebAssembly counts addresses from the first byte of the code section's contents, which is
//! the count of functions
//! (<https://yurydelendik.github.io/webassembly-dwarf/>, "Code Addresses").
//!
//! Invariants: whatever a component's DWARF says, the answer is a list of frames that is not empty for
//! any offset inside a function body; what cannot be read is left out. DWARF is parsed when the first
//! frame of its module is asked for.
//!
//! Not done: DWARF in separate files, `sourceMappingURL`, names of variables.

use crate::map::{ModuleOrdinal, OriginalOffset};
use crate::{COMPONENT_BYTES_MAX, edit::offset_u32, names, nesting};
use addr2line::Context;
use gimli::{DwarfSections, EndianArcSlice, LittleEndian, SectionId};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use wasmparser::{Encoding, Parser, Payload, TypeRef};

/// Most frames that one offset may stand for, that is, the deepest inlining. Further ones, the
/// outermost, are left out.
const FRAMES_MAX: usize = 256;

/// Most work that the index of a module's DWARF may take, in units times bytes of range lists: each
/// unit may point at the same list, so that a small hostile file could keep us busy for hours.
/// A program of a thousand units with five megabytes of ranges needs a tenth of this. Beyond it, the
/// DWARF is ignored.
const DWARF_WORK_MAX: u64 = 1 << 36;

/// Longest path that is handed out, in bytes. A longer one is left out.
const FILE_BYTES_MAX: usize = 4096;

type Reader = EndianArcSlice<LittleEndian>;

/// One level of a (possibly inlined) call, in the words of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFrame {
    /// The function's path without a hash, or its name in the name section, or `wasm-function[3]`
    /// with its index.
    pub function: String,
    /// Distance from the start of the WebAssembly function, in bytes. The same for all inlined frames.
    pub function_offset: u32,
    /// Source file as the compiler saw it.
    pub file: Option<String>,
    /// Line in the file, from 1.
    pub line: Option<u32>,
    /// Column in the line, from 1.
    pub column: Option<u32>,
}

impl fmt::Display for SourceFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.function)?;
        match (&self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => write!(f, " at {file}:{line}:{column}"),
            (Some(file), Some(line), None) => write!(f, " at {file}:{line}"),
            (Some(file), None, _) => write!(f, " at {file}"),
            (None, ..) => write!(f, " + {:#x}", self.function_offset),
        }
    }
}

/// What a component knows about its source.
#[derive(Debug, Default)]
pub struct DebugSymbols {
    modules: Vec<ModuleSymbols>,
}

/// What one core module knows.
#[derive(Default)]
struct ModuleSymbols {
    /// Start of the code section's contents in the component: address zero of the DWARF.
    code_start: u32,
    functions_imported: u32,
    /// Function bodies, without their sizes, in ascending order.
    bodies: Vec<Range<u32>>,
    /// Contents of the name section.
    names: Vec<u8>,
    /// The functions in it, read at the first question.
    functions: OnceLock<BTreeMap<u32, String>>,
    /// Whether it has sections of DWARF, readable or not.
    has_debug_sections: bool,
    dwarf: Mutex<Dwarf>,
}

/// A module's DWARF, before and after the first question.
#[derive(Default)]
enum Dwarf {
    #[default]
    None,
    Sections(BTreeMap<String, Arc<[u8]>>),
    Ready(Box<Context<Reader>>),
}

impl DebugSymbols {
    /// Finds the core modules of the original component, their names and their DWARF.
    ///
    /// This is for components that [`crate::instrument`] has accepted; others give what was found up
    /// to the first mistake, or nothing.
    #[must_use]
    pub fn new(component: &[u8]) -> DebugSymbols {
        let mut symbols = DebugSymbols::default();
        // Positions in `symbols.modules` of the modules that are open; `None` for components.
        let mut open = Vec::new();
        if component.len() > COMPONENT_BYTES_MAX || nesting::check(component).is_err() {
            return symbols;
        }
        let mut parser = Parser::new(0);
        parser.set_features(crate::features());
        for payload in parser.parse_all(component).map_while(Result::ok) {
            match payload {
                Payload::Version { encoding: Encoding::Component, .. } => open.push(None),
                Payload::Version { encoding: Encoding::Module, .. } => {
                    open.push(Some(symbols.modules.len()));
                    symbols.modules.push(ModuleSymbols::default());
                }
                Payload::End(_) => {
                    open.pop();
                }
                payload => {
                    if let Some(&Some(module)) = open.last() {
                        symbols.modules[module].section(payload);
                    }
                }
            }
        }
        symbols
    }

    /// The frames that stand for one operator, innermost first; empty when the offset is in no
    /// function body of that module.
    #[must_use]
    pub fn frames(&self, module: ModuleOrdinal, offset: OriginalOffset) -> Vec<SourceFrame> {
        let module = usize::try_from(module.0).ok().and_then(|module| self.modules.get(module));
        module.map_or_else(Vec::new, |module| module.frames(offset))
    }

    /// The source file, as the compiler saw it, and the line, from 1, of the first of these frames; `None` where it lacks one of them.
    /// No names are told, which is most of the work.
    #[must_use]
    pub fn place(&self, module: ModuleOrdinal, offset: OriginalOffset) -> Option<(String, u32)> {
        let module = usize::try_from(module.0).ok().and_then(|module| self.modules.get(module));
        module.and_then(|module| module.place(offset))
    }
}

/// A stretch of code that one line of source stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Its first operator.
    pub offset: OriginalOffset,
    /// Source file as the compiler saw it.
    pub file: String,
    /// Line in the file, from 1.
    pub line: u32,
}

/// Which lines of source the debug information of a module has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineInfo {
    /// It has no debug sections.
    Absent,
    /// It has debug sections, and no row in them stands for its code.
    Empty,
    /// There are rows for its code.
    Present,
}

impl LineInfo {
    /// What a user can do about a module whose debug sections are empty; `None` of any other.
    #[must_use]
    pub fn remedy(self) -> Option<&'static str> {
        (self == LineInfo::Empty).then_some(EMPTY_LINES)
    }
}

/// See [`LineInfo::remedy`].
const EMPTY_LINES: &str = "has debug sections without a single row of source lines: a tool that ran after the compiler has dropped \
                           them, as `wasm-opt` does, which clang calls by itself when it compiles and links in one step; compile \
                           and link in two steps, or pass `--no-wasm-opt` to clang";

impl DebugSymbols {
    /// Whether the module has a name section.
    #[must_use]
    pub fn has_names(&self, module: ModuleOrdinal) -> bool {
        let module = usize::try_from(module.0).ok().and_then(|module| self.modules.get(module));
        module.is_some_and(|module| !module.names.is_empty())
    }

    /// The name that the name section has for a function, readable: with its whole path, which debug information often lacks.
    #[must_use]
    pub fn function_name(&self, module: ModuleOrdinal, index: u32) -> Option<String> {
        let module = usize::try_from(module.0).ok().and_then(|module| self.modules.get(module));
        module.and_then(|module| module.function(index))
    }

    /// Which lines of source the module's debug information has.
    #[must_use]
    pub fn line_info(&self, module: ModuleOrdinal) -> LineInfo {
        let module = usize::try_from(module.0).ok().and_then(|module| self.modules.get(module));
        module.map_or(LineInfo::Absent, ModuleSymbols::line_info)
    }

    /// The lines that stand for the operators of a range, in their order; empty without DWARF.
    #[must_use]
    pub fn lines(&self, module: ModuleOrdinal, range: Range<OriginalOffset>) -> Vec<SourceLine> {
        let module = usize::try_from(module.0).ok().and_then(|module| self.modules.get(module));
        module.map_or_else(Vec::new, |module| module.lines(range, usize::MAX))
    }
}

impl ModuleSymbols {
    fn line_info(&self) -> LineInfo {
        let (Some(first), Some(last)) = (self.bodies.first(), self.bodies.last()) else { return LineInfo::Absent };
        let code = OriginalOffset(first.start)..OriginalOffset(last.end);
        match self.has_debug_sections {
            false => LineInfo::Absent,
            true if self.lines(code, 1).is_empty() => LineInfo::Empty,
            true => LineInfo::Present,
        }
    }

    /// The first lines of a range, at most `count`.
    fn lines(&self, range: Range<OriginalOffset>, count: usize) -> Vec<SourceLine> {
        let mut dwarf = self.dwarf.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(context), Some(start)) = (dwarf.context(), range.start.0.checked_sub(self.code_start)) else {
            return Vec::new();
        };
        let low = u64::from(start);
        let high = low + u64::from(range.end.0.saturating_sub(range.start.0));
        let Ok(rows) = context.find_location_range(low, high) else { return Vec::new() };
        let rows = rows.filter_map(|(address, _, location)| {
            let (file, line) = (location.file?, location.line?);
            let offset = u32::try_from(address.max(low)).ok()?.checked_add(self.code_start)?;
            let sound = line > 0 && file.len() <= FILE_BYTES_MAX;
            sound.then(|| SourceLine { offset: OriginalOffset(offset), file: file.to_owned(), line })
        });
        rows.take(count).collect()
    }

    fn section(&mut self, payload: Payload<'_>) {
        match payload {
            Payload::ImportSection(imports) => {
                let imports = imports.into_imports().map_while(Result::ok);
                let functions = imports.filter(|import| matches!(import.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                self.functions_imported = offset_u32(functions.count());
            }
            Payload::CodeSectionStart { range, .. } => self.code_start = offset_u32(range.start),
            Payload::CodeSectionEntry(body) => {
                let Range { start, end } = body.range();
                self.bodies.push(offset_u32(start)..offset_u32(end));
            }
            Payload::CustomSection(custom) if custom.name() == "name" && self.names.is_empty() => {
                self.names = custom.data().to_vec();
            }
            Payload::CustomSection(custom) if custom.name().starts_with(".debug_") => {
                let dwarf = self.dwarf.get_mut().unwrap_or_else(PoisonError::into_inner);
                self.has_debug_sections = true;
                if let Dwarf::None = dwarf {
                    *dwarf = Dwarf::Sections(BTreeMap::new());
                }
                if let Dwarf::Sections(sections) = dwarf {
                    sections.insert(custom.name().to_owned(), custom.data().into());
                }
            }
            _ => {}
        }
    }

    /// The position of the function body that has this operator.
    fn body_of(&self, offset: OriginalOffset) -> Option<usize> {
        let position = self.bodies.partition_point(|body| body.start <= offset.0).checked_sub(1)?;
        self.bodies[position].contains(&offset.0).then_some(position)
    }

    fn place(&self, offset: OriginalOffset) -> Option<(String, u32)> {
        self.body_of(offset)?;
        let mut dwarf = self.dwarf.lock().unwrap_or_else(PoisonError::into_inner);
        let context = dwarf.context()?;
        let mut frames = context.find_frames(u64::from(offset.0 - self.code_start)).skip_all_loads().ok()?;
        let location = frames.next().ok()??.location?;
        let file = location.file.filter(|file| file.len() <= FILE_BYTES_MAX)?;
        Some((file.to_owned(), location.line.filter(|line| *line > 0)?))
    }

    fn frames(&self, offset: OriginalOffset) -> Vec<SourceFrame> {
        let Some(position) = self.body_of(offset) else {
            return Vec::new();
        };
        let body = &self.bodies[position];
        let index = self.functions_imported + offset_u32(position);
        let function = self.function(index).unwrap_or_else(|| format!("wasm-function[{index}]"));
        let fallback =
            SourceFrame { function, function_offset: offset.0 - body.start, file: None, line: None, column: None };
        let address = u64::from(offset.0 - self.code_start);
        let frames = self.dwarf_frames(address, &fallback);
        if frames.is_empty() { vec![fallback] } else { frames }
    }

    /// The name of a function, readable. Of several that are the first counts.
    fn function(&self, index: u32) -> Option<String> {
        let functions = self.functions.get_or_init(|| {
            let mut functions = BTreeMap::new();
            for (index, name) in names::functions(&self.names) {
                functions.entry(index).or_insert_with(|| name.to_owned());
            }
            functions
        });
        functions.get(&index).map(|name| names::readable(name))
    }

    /// Frames that the DWARF knows for `address`; what it leaves open comes from `fallback`.
    fn dwarf_frames(&self, address: u64, fallback: &SourceFrame) -> Vec<SourceFrame> {
        let mut dwarf = self.dwarf.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(context) = dwarf.context() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let Ok(mut frames) = context.find_frames(address).skip_all_loads() else {
            return found;
        };
        while found.len() < FRAMES_MAX
            && let Ok(Some(frame)) = frames.next()
        {
            let name = frame
                .function
                .as_ref()
                .and_then(|function| function.raw_name().ok().map(|name| names::readable(&name)));
            let location = frame.location.as_ref();
            let file = location.and_then(|location| location.file);
            found.push(SourceFrame {
                function: name.unwrap_or_else(|| fallback.function.clone()),
                function_offset: fallback.function_offset,
                file: file.filter(|file| file.len() <= FILE_BYTES_MAX).map(str::to_owned),
                line: location.and_then(|location| location.line),
                column: location.and_then(|location| location.column),
            });
        }
        found
    }
}

impl Dwarf {
    /// The index, made now if this is the first question.
    fn context(&mut self) -> Option<&Context<Reader>> {
        if let Dwarf::Sections(sections) = self {
            let context = index(sections);
            *self = context.map_or(Dwarf::None, |context| Dwarf::Ready(Box::new(context)));
        }
        match self {
            Dwarf::Ready(context) => Some(context),
            _ => None,
        }
    }
}

/// Makes the index of a module's DWARF, unless it is malformed or costs too much.
fn index(sections: &BTreeMap<String, Arc<[u8]>>) -> Option<Context<Reader>> {
    let section = |id: SectionId| -> Result<Reader, gimli::Error> {
        let bytes = sections.get(id.name()).cloned().unwrap_or_else(|| Arc::new([]));
        Ok(Reader::new(bytes, LittleEndian))
    };
    let loaded = DwarfSections::load(section).ok()?;
    let dwarf = loaded.borrow(Clone::clone);
    let mut units = dwarf.units();
    let mut units_count = 0u64;
    while let Ok(Some(_)) = units.next() {
        units_count += 1;
    }
    let ranges = [SectionId::DebugRanges, SectionId::DebugRngLists].into_iter();
    let ranges_bytes = ranges.filter_map(|id| sections.get(id.name())).map(|s| s.len() as u64);
    if units_count.saturating_mul(ranges_bytes.sum()) > DWARF_WORK_MAX {
        return None;
    }
    Context::from_dwarf(dwarf).ok()
}

impl fmt::Debug for ModuleSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModuleSymbols").field("functions", &self.bodies.len()).finish_non_exhaustive()
    }
}
