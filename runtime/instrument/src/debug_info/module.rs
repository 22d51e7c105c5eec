//! The debug sections of one core module, and how entries in them are reached.
//!
//! An entry is known by its position in `.debug_info` ([`EntryId`]), so that what others hold is small and needs no lifetime.
//! Not here: what entries mean.

use crate::edit::offset_u32;
use crate::map::{ModuleOrdinal, OriginalOffset};
use crate::{COMPONENT_BYTES_MAX, nesting};
use gimli::{
    AbbreviationsCacheStrategy, AttributeValue, DebugInfoOffset, DebuggingInformationEntry, Dwarf, DwarfSections,
    EndianArcSlice, LittleEndian, SectionId, Unit, UnitOffset,
};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use wasmparser::{Encoding, Parser, Payload, TypeRef};

/// Most units that are read. Programs of ten million lines have fewer; the others are left out.
const UNITS_MAX: usize = 1 << 16;
/// Most work for reading the abbreviations of all units, in bytes: hostile units may each point into one large table.
const ABBREVIATION_WORK_MAX: u64 = 1 << 34;
/// Most ranges of addresses that are read of one list. The others are left out.
const RANGES_MAX: usize = 1 << 12;
/// Most ranges of addresses of all units together. Programs of a million functions have fewer.
const UNIT_RANGES_MAX: usize = 1 << 21;
/// Most entries that one name or type is followed through.
const HOPS_MAX: usize = 16;
/// Longest name that is handed out, in bytes. Longer ones are cut.
const NAME_BYTES_MAX: usize = 4096;

pub(super) type Reader = EndianArcSlice<LittleEndian>;
pub(super) type Entry = DebuggingInformationEntry<Reader>;

/// An operator of the original program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodePlace {
    /// The core module.
    pub module: ModuleOrdinal,
    /// The operator, in bytes from the start of the component or module.
    pub offset: OriginalOffset,
}

/// The debug information of all core modules of a program.
pub struct DebugInfo {
    pub(super) modules: Vec<DebugModule>,
}

impl fmt::Debug for DebugInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DebugInfo").field("modules", &self.modules.len()).finish_non_exhaustive()
    }
}

impl DebugInfo {
    /// Finds the core modules of a component, or the one of a core module. What cannot be read is left out.
    ///
    /// The sections are copied; they are read when the first question about their module is asked.
    #[must_use]
    pub fn new(program: &[u8]) -> DebugInfo {
        let mut info = DebugInfo { modules: Vec::new() };
        if program.len() > COMPONENT_BYTES_MAX || nesting::check(program).is_err() {
            return info;
        }
        // Positions of the modules that are open; `None` for components.
        let mut open: Vec<Option<usize>> = Vec::new();
        let mut parser = Parser::new(0);
        parser.set_features(crate::features());
        for payload in parser.parse_all(program).map_while(Result::ok) {
            match payload {
                Payload::Version { encoding: Encoding::Component, .. } => open.push(None),
                Payload::Version { encoding: Encoding::Module, .. } => {
                    open.push(Some(info.modules.len()));
                    let ordinal = ModuleOrdinal(u32::try_from(info.modules.len()).unwrap_or(u32::MAX));
                    info.modules.push(DebugModule::new(ordinal));
                }
                Payload::End(_) => {
                    open.pop();
                }
                payload => {
                    if let Some(&Some(module)) = open.last() {
                        info.modules[module].section(payload);
                    }
                }
            }
        }
        info
    }

    /// Whether any module has debug sections from which units can be read.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.modules.iter().any(|module| module.loaded().is_some_and(|loaded| !loaded.units.is_empty()))
    }

    pub(super) fn module(&self, ordinal: ModuleOrdinal) -> Option<&DebugModule> {
        self.modules.get(usize::try_from(ordinal.0).ok()?)
    }
}

/// An entry of a module's `.debug_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryId {
    pub(super) module: ModuleOrdinal,
    /// From the start of the section.
    pub(super) offset: usize,
}

/// One core module.
pub(super) struct DebugModule {
    pub(super) ordinal: ModuleOrdinal,
    /// Start of the code section's contents: address zero of the debug information.
    code_start: u32,
    pub(super) functions_imported: u32,
    pub(super) bodies: Vec<FunctionBody>,
    pub(super) names: Vec<u8>,
    sections: BTreeMap<String, Arc<[u8]>>,
    loaded: OnceLock<Option<DebugSections>>,
    pub(super) lines: OnceLock<LineTable>,
}

/// Code of one function.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionBody {
    /// Its declarations of locals, where the debug information has the function begin.
    pub(super) start: u32,
    /// Its first operator.
    pub(super) first_operator: u32,
    pub(super) end: u32,
}

/// The sections, opened.
pub(super) struct DebugSections {
    pub(super) dwarf: Dwarf<Reader>,
    /// In the order of their bytes.
    pub(super) units: Vec<DebugUnit>,
    /// Addresses, and the unit that says that it has them.
    ranges: Vec<(Range<u64>, usize)>,
}

/// One unit, and what was found out about it.
pub(super) struct DebugUnit {
    pub(super) unit: Unit<Reader>,
    /// Its bytes in `.debug_info`.
    bytes: Range<usize>,
    pub(super) is_rust: bool,
    pub(super) index: OnceLock<UnitIndex>,
}

impl DebugModule {
    pub(super) fn new(ordinal: ModuleOrdinal) -> DebugModule {
        DebugModule {
            ordinal,
            code_start: 0,
            functions_imported: 0,
            bodies: Vec::new(),
            names: Vec::new(),
            sections: BTreeMap::new(),
            loaded: OnceLock::new(),
            lines: OnceLock::new(),
        }
    }

    pub(super) fn section(&mut self, payload: Payload<'_>) {
        match payload {
            Payload::ImportSection(imports) => {
                let imports = imports.into_imports().map_while(Result::ok);
                let functions = imports.filter(|import| matches!(import.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                self.functions_imported = offset_u32(functions.count());
            }
            Payload::CodeSectionStart { range, .. } => self.code_start = offset_u32(range.start),
            Payload::CodeSectionEntry(body) => {
                let Range { start, end } = body.range();
                let first = body.get_operators_reader().map_or(start, |reader| reader.original_position());
                let (start, first_operator, end) = (offset_u32(start), offset_u32(first), offset_u32(end));
                self.bodies.push(FunctionBody { start, first_operator, end });
            }
            Payload::CustomSection(custom) if custom.name() == "name" && self.names.is_empty() => {
                self.names = custom.data().to_vec();
            }
            Payload::CustomSection(custom) if custom.name().starts_with(".debug_") => {
                self.sections.entry(custom.name().to_owned()).or_insert_with(|| custom.data().into());
            }
            _ => {}
        }
    }

    /// The address by which the debug information knows an operator.
    pub(super) fn address(&self, offset: OriginalOffset) -> Option<u32> {
        self.body(offset)?;
        offset.0.checked_sub(self.code_start)
    }

    /// The function body that an operator is in.
    pub(super) fn body(&self, offset: OriginalOffset) -> Option<usize> {
        let after = self.bodies.partition_point(|body| body.start <= offset.0);
        let position = after.checked_sub(1)?;
        (offset.0 < self.bodies[position].end).then_some(position)
    }

    /// The operator at an address: of a function's declarations of locals its first one. `None` of addresses outside all
    /// functions, such as those that a linker gives to code that it has dropped.
    pub(super) fn operator(&self, address: u32) -> Option<OriginalOffset> {
        let offset = OriginalOffset(address.checked_add(self.code_start)?);
        let body = self.bodies[self.body(offset)?];
        Some(OriginalOffset(offset.0.max(body.first_operator)))
    }

    pub(super) fn loaded(&self) -> Option<&DebugSections> {
        self.loaded.get_or_init(|| DebugSections::new(&self.sections)).as_ref()
    }
}

impl DebugSections {
    fn new(sections: &BTreeMap<String, Arc<[u8]>>) -> Option<DebugSections> {
        if sections.is_empty() {
            return None;
        }
        let section = |id: SectionId| -> Result<Reader, gimli::Error> {
            let bytes = sections.get(id.name()).cloned().unwrap_or_else(|| Arc::new([]));
            Ok(Reader::new(bytes, LittleEndian))
        };
        let mut dwarf = DwarfSections::load(section).ok()?.borrow(Clone::clone);
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        let table_bytes = sections.get(SectionId::DebugAbbrev.name()).map_or(0, |table| table.len() as u64);
        let mut work = 0u64;
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            work = work.saturating_add(table_bytes);
            if units.len() == UNITS_MAX || work > ABBREVIATION_WORK_MAX {
                break;
            }
            let Some(start) = header.debug_info_offset() else { continue };
            let bytes = start.0..start.0.saturating_add(header.length_including_self());
            if let Ok(unit) = dwarf.unit(header) {
                units.push(DebugUnit { is_rust: is_rust(&unit), unit, bytes, index: OnceLock::new() });
            }
        }
        let mut loaded = DebugSections { dwarf, units, ranges: Vec::new() };
        loaded.ranges = loaded.unit_ranges();
        Some(loaded)
    }

    /// The ranges that units give. One that gives none may have any address.
    fn unit_ranges(&self) -> Vec<(Range<u64>, usize)> {
        let mut found = Vec::new();
        for (position, unit) in self.units.iter().enumerate() {
            let mut any = false;
            let ranges = self.dwarf.unit_ranges(&unit.unit);
            if let Ok(mut ranges) = ranges {
                while found.len() < UNIT_RANGES_MAX
                    && let Ok(Some(range)) = ranges.next()
                {
                    any = true;
                    found.push((range.begin..range.end, position));
                }
            }
            if !any {
                found.push((0..u64::MAX, position));
            }
        }
        found
    }

    /// The units that may have an address.
    pub(super) fn units_at(&self, address: u32) -> impl Iterator<Item = &DebugUnit> {
        let address = u64::from(address);
        let has = self.ranges.iter().filter(move |(range, _)| range.contains(&address));
        has.map(|(_, position)| &self.units[*position])
    }

    /// The unit that has an entry, and its position in it.
    pub(super) fn locate(&self, offset: usize) -> Option<(&DebugUnit, UnitOffset)> {
        let after = self.units.partition_point(|unit| unit.bytes.start <= offset);
        let unit = self.units.get(after.checked_sub(1)?)?;
        let position = DebugInfoOffset(offset).to_unit_offset(&unit.unit.header)?;
        unit.bytes.contains(&offset).then_some((unit, position))
    }

    pub(super) fn entry(&self, offset: usize) -> Option<(&DebugUnit, Entry)> {
        let (unit, position) = self.locate(offset)?;
        Some((unit, unit.unit.entry(position).ok()?))
    }

    /// The text of an attribute.
    pub(super) fn text(&self, unit: &DebugUnit, entry: &Entry, name: gimli::DwAt) -> Option<String> {
        let value = entry.attr_value(name)?;
        let text = self.dwarf.attr_string(&unit.unit, value).ok()?;
        let bytes = text.bytes();
        Some(String::from_utf8_lossy(&bytes[..bytes.len().min(NAME_BYTES_MAX)]).into_owned())
    }

    /// The entry that an attribute refers to.
    pub(super) fn reference(&self, unit: &DebugUnit, entry: &Entry, name: gimli::DwAt) -> Option<usize> {
        match entry.attr_value(name)? {
            AttributeValue::UnitRef(offset) => unit.bytes.start.checked_add(offset.0),
            AttributeValue::DebugInfoRef(offset) => Some(offset.0),
            _ => None,
        }
    }

    /// An attribute of an entry, or of what it is an instance of.
    pub(super) fn inherited<T>(
        &self,
        offset: usize,
        mut ask: impl FnMut(&DebugUnit, &Entry) -> Option<T>,
    ) -> Option<T> {
        let mut offset = offset;
        for _ in 0..HOPS_MAX {
            let (unit, entry) = self.entry(offset)?;
            if let Some(found) = ask(unit, &entry) {
                return Some(found);
            }
            let origin = self.reference(unit, &entry, gimli::DW_AT_abstract_origin);
            offset = origin.or_else(|| self.reference(unit, &entry, gimli::DW_AT_specification))?;
        }
        None
    }

    /// The addresses of an entry.
    pub(super) fn ranges(&self, unit: &DebugUnit, entry: &Entry) -> Vec<Range<u32>> {
        let Ok(mut ranges) = self.dwarf.die_ranges(&unit.unit, entry) else { return Vec::new() };
        let mut found = Vec::new();
        while found.len() < RANGES_MAX
            && let Ok(Some(range)) = ranges.next()
        {
            // A linker that drops code leaves its ranges empty, at zero or at the end of the address space.
            if let (Ok(begin), Ok(end)) = (u32::try_from(range.begin), u32::try_from(range.end))
                && begin < end
                && begin > 0
            {
                found.push(begin..end);
            }
        }
        found
    }
}

impl DebugUnit {
    /// Where an entry of this unit stands in the section.
    pub(super) fn position(&self, entry: &Entry) -> usize {
        self.bytes.start.saturating_add(entry.offset().0)
    }
}

fn is_rust(unit: &Unit<Reader>) -> bool {
    let mut entries = unit.entries();
    let language = match entries.next_dfs() {
        Ok(Some(root)) => root.attr_value(gimli::DW_AT_language),
        _ => None,
    };
    language == Some(AttributeValue::Language(gimli::DW_LANG_Rust))
}

/// A number that an attribute gives.
pub(super) fn number(entry: &Entry, name: gimli::DwAt) -> Option<u64> {
    entry.attr_value(name)?.udata_value()
}

/// A file of source that code was made from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    /// Its path as the compiler saw it.
    pub path: String,
    /// The MD5 of its contents, where the debug information has it.
    pub md5: Option<[u8; 16]>,
}

/// The rows of a module.
#[derive(Default)]
pub(super) struct LineTable {
    /// By address.
    pub(super) rows: Vec<LineRow>,
    pub(super) files: Vec<SourceFile>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineRow {
    pub(super) address: u32,
    pub(super) file: u32,
    pub(super) line: u32,
    pub(super) statement: bool,
    pub(super) prologue_end: bool,
    pub(super) end: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    Function,
    Inlined,
    Block,
}

/// An entry that has code.
pub(super) struct ScopeEntry {
    pub(super) entry: usize,
    pub(super) kind: ScopeKind,
    pub(super) ranges: Vec<Range<u32>>,
    /// What an inlined copy is a copy of.
    pub(super) origin: Option<usize>,
    /// The first entry behind its children, in the list.
    pub(super) end: usize,
}

/// What a unit has.
#[derive(Default)]
pub(super) struct UnitIndex {
    /// In the order of the bytes: children follow their parents.
    pub(super) scopes: Vec<ScopeEntry>,
    /// Statics with their paths.
    pub(super) statics: Vec<(String, usize)>,
}
