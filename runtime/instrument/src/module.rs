//! One core module on its way from the original to the rewritten component.
//!
//! ```text
//! original sections   type import function table memory tag global export ... code data custom
//! written             type import function table memory tag global export ... code data name
//!                       + block types                     + depth            rewritten
//! ```
//!
//! Sections are remembered where they are and written together at the end, since what the function
//! bodies need (a global, a block type) only turns out while they are rewritten, behind the sections
//! where it belongs.
//!
//! Invariants: entries are only appended to a section; each other byte of it is the original's. Of the
//! custom sections only the names are kept: all others that tools know hold offsets that are wrong now
//! (DWARF, branch hints, source maps) or are not read after linking.

use crate::edit::offset_u32;
use crate::map::{ModuleMap, ModuleOrdinal, Segments};
use crate::{Error, Options, body, names};
use std::ops::Range;
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{BlockType, ConstExpr, Encode, ExportKind, GlobalType, Module as Binary, SectionId, TypeSection};
use wasmparser::{CompositeInnerType, FromReader, SectionLimited, TypeSectionReader, ValType};

/// Entries that a module's index space may have (wasmparser's `MAX_WASM_TYPES`, `MAX_WASM_GLOBALS`).
/// A module that has no room for what is appended is refused.
const INDEX_MAX: u32 = 1_000_000;

/// Most segments that one module's map may have. Programs stay far below; a hostile one could make
/// the map many times larger than itself, and is refused.
const SEGMENTS_MAX: usize = 1 << 25;

/// Order of the sections of a core module.
/// <https://webassembly.github.io/spec/core/binary/modules.html#binary-module>
const SECTION_ORDER: [SectionId; 13] = [
    SectionId::Type,
    SectionId::Import,
    SectionId::Function,
    SectionId::Table,
    SectionId::Memory,
    SectionId::Tag,
    SectionId::Global,
    SectionId::Export,
    SectionId::Start,
    SectionId::Element,
    SectionId::DataCount,
    SectionId::Code,
    SectionId::Data,
];

/// What the passes need to know of a function type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signature {
    pub(crate) params_slots: u32,
    pub(crate) vectors_in_params: bool,
    params: bool,
    results: Vec<ValType>,
}

/// Contents of a section that is a list, so that entries can be appended to it.
#[derive(Clone, Debug)]
struct List {
    count: u32,
    entries: Range<usize>,
}

impl List {
    fn of<'a, T: FromReader<'a>>(reader: &SectionLimited<'a, T>) -> List {
        List { count: reader.count(), entries: reader.original_position()..reader.range().end }
    }
}

/// A core module while the walk is inside it.
pub(crate) struct Module<'a> {
    ordinal: ModuleOrdinal,
    start: usize,
    stack_slots: u32,
    sections: Vec<(u8, Range<usize>)>,
    names: Option<&'a [u8]>,

    types: Option<List>,
    /// One for each type index; types other than functions have none.
    signatures: Vec<Option<Signature>>,
    vectors_in_results: bool,
    /// Results of the function types that are appended, each without parameters.
    block_types: Vec<Vec<ValType>>,

    globals: Option<List>,
    /// All globals of the original, imported ones included.
    globals_count: u32,
    depth_used: bool,

    exports: Option<List>,
    /// What is exported beyond the original's exports.
    pub(crate) added_exports: Vec<(String, ExportKind, u32)>,

    /// Contents of the new code section.
    pub(crate) code: Vec<u8>,
    pub(crate) segments: Segments,
}

impl<'a> Module<'a> {
    /// A module whose header is at `start`.
    pub(crate) fn new(ordinal: ModuleOrdinal, start: usize, options: &Options) -> Module<'a> {
        Module {
            ordinal,
            start,
            stack_slots: options.stack_slots,
            sections: Vec::new(),
            names: None,
            types: None,
            signatures: Vec::new(),
            vectors_in_results: false,
            block_types: Vec::new(),
            globals: None,
            globals_count: 0,
            depth_used: false,
            exports: None,
            added_exports: Vec::new(),
            code: Vec::new(),
            segments: Segments::default(),
        }
    }

    pub(crate) fn ordinal(&self) -> ModuleOrdinal {
        self.ordinal
    }

    /// Takes note of a section that will be copied or extended.
    pub(crate) fn section(&mut self, id: u8, contents: Range<usize>) {
        self.sections.push((id, contents));
    }

    /// Takes note of the contents of the name section. There should be one; others are left out.
    pub(crate) fn name_section(&mut self, contents: &'a [u8]) {
        self.names.get_or_insert(contents);
    }

    /// Takes note of the types, which the validator has accepted.
    pub(crate) fn type_section(&mut self, reader: &TypeSectionReader<'a>) -> Result<(), Error> {
        self.types = Some(List::of(reader));
        for group in reader.clone() {
            for ty in group?.into_types() {
                let CompositeInnerType::Func(function) = ty.composite_type.inner else {
                    self.signatures.push(None);
                    continue;
                };
                let results = function.results();
                self.vectors_in_results |= results.len() > 1 && results.contains(&ValType::V128);
                self.signatures.push(Some(Signature {
                    params_slots: function.params().iter().copied().map(body::slots).sum(),
                    vectors_in_params: function.params().contains(&ValType::V128),
                    params: !function.params().is_empty(),
                    results: results.to_vec(),
                }));
            }
        }
        Ok(())
    }

    /// Takes note of the globals that the module defines.
    pub(crate) fn global_section<T: FromReader<'a>>(&mut self, reader: &SectionLimited<'a, T>) {
        self.globals = Some(List::of(reader));
    }

    /// Takes note of the exports.
    pub(crate) fn export_section<T: FromReader<'a>>(&mut self, reader: &SectionLimited<'a, T>) {
        self.exports = Some(List::of(reader));
    }

    /// The code section starts; the module has `globals_count` globals, imported ones included.
    pub(crate) fn code_section(&mut self, bodies: u32, globals_count: u32) {
        self.globals_count = globals_count;
        bodies.encode(&mut self.code);
    }

    /// The function type with this index.
    pub(crate) fn signature(&self, ty: u32) -> &Signature {
        self.signatures[ty as usize].as_ref().expect("the validator wants a function type here")
    }

    /// Whether a call or a block may push a vector together with other values.
    pub(crate) fn vectors_in_results(&self) -> bool {
        self.vectors_in_results
    }

    /// Index of the global that counts depth.
    pub(crate) fn depth_global(&mut self) -> Result<u32, Error> {
        self.room("globals", self.globals_count + 1)?;
        self.depth_used = true;
        Ok(self.globals_count)
    }

    /// Type of a block without parameters that has the results of the function type `ty`.
    pub(crate) fn block_type(&mut self, ty: u32) -> Result<BlockType, Error> {
        let signature = self.signature(ty);
        match signature.results[..] {
            [] => return Ok(BlockType::Empty),
            [result] => return Ok(BlockType::Result(encoded(result))),
            _ if !signature.params => return Ok(BlockType::FunctionType(ty)),
            _ => {}
        }
        let known = self.block_types.iter().position(|results| *results == signature.results);
        let position = known.unwrap_or(self.block_types.len());
        if known.is_none() {
            self.block_types.push(signature.results.clone());
        }
        let index = self.signatures.len() + position;
        self.room("types", offset_u32(index + 1))?;
        Ok(BlockType::FunctionType(offset_u32(index)))
    }

    /// Refuses a map that has grown too large, at the function that starts at `offset`.
    pub(crate) fn check_segments(&self, offset: usize) -> Result<(), Error> {
        let (found, limit) = (self.segments.len() as u64, SEGMENTS_MAX as u64);
        if found > limit {
            return Err(Error::NoRoom { offset, what: "map segments", found, limit });
        }
        Ok(())
    }

    fn room(&self, what: &'static str, found: u32) -> Result<(), Error> {
        if found > INDEX_MAX {
            let (found, limit) = (u64::from(found), u64::from(INDEX_MAX));
            return Err(Error::NoRoom { offset: self.start, what, found, limit });
        }
        Ok(())
    }

    /// Writes the module, which ended at `end` in the original. The map counts from the start of
    /// the returned bytes.
    pub(crate) fn finish(self, component: &[u8], end: usize) -> (Vec<u8>, ModuleMap) {
        let mut out = Vec::with_capacity(end - self.start + self.code.len());
        out.extend_from_slice(&Binary::HEADER);
        let mut code = 0..0;
        for id in SECTION_ORDER {
            let original = self.sections.iter().find(|(found, _)| *found == id as u8);
            let original = original.map(|(_, range)| &component[range.clone()]);
            match (id, original) {
                (SectionId::Type, _) if !self.block_types.is_empty() => {
                    self.write_types(component, &mut out);
                }
                (SectionId::Global, _) if self.depth_used => self.write_globals(component, &mut out),
                (SectionId::Export, _) if !self.added_exports.is_empty() => self.write_exports(component, &mut out),
                (SectionId::Code, Some(_)) => {
                    write_section(id as u8, &[&self.code], &mut out);
                    code = out.len() - self.code.len()..out.len();
                }
                (_, Some(original)) => write_section(id as u8, &[original], &mut out),
                (_, None) => {}
            }
        }
        names::write_section(self.ordinal, self.names, &mut out);
        let map = ModuleMap {
            ordinal: self.ordinal,
            name: self.names.and_then(names::module_name),
            original: offset_u32(self.start)..offset_u32(end),
            rewritten: 0..offset_u32(out.len()),
            code: offset_u32(code.start)..offset_u32(code.end),
            segments: self.segments,
        };
        (out, map)
    }

    fn write_types(&self, component: &[u8], out: &mut Vec<u8>) {
        let mut added = TypeSection::new();
        for results in &self.block_types {
            added.ty().function([], results.iter().copied().map(encoded));
        }
        let list = self.types.as_ref().expect("functions have types");
        write_list(SectionId::Type, Some(list), component, added.len(), &body_of(&added), out);
    }

    fn write_exports(&self, component: &[u8], out: &mut Vec<u8>) {
        let mut added = wasm_encoder::ExportSection::new();
        for (name, kind, index) in &self.added_exports {
            added.export(name, *kind, *index);
        }
        write_list(SectionId::Export, self.exports.as_ref(), component, added.len(), &body_of(&added), out);
    }

    fn write_globals(&self, component: &[u8], out: &mut Vec<u8>) {
        let mut added = wasm_encoder::GlobalSection::new();
        let ty = GlobalType { val_type: wasm_encoder::ValType::I32, mutable: true, shared: false };
        let start = i32::try_from(self.stack_slots).expect("checked against STACK_SLOTS_MAX");
        added.global(ty, &ConstExpr::i32_const(start));
        let list = self.globals.as_ref();
        write_list(SectionId::Global, list, component, added.len(), &body_of(&added), out);
    }
}

/// The entries of a list section, without its size and count.
fn body_of(section: &impl Encode) -> Vec<u8> {
    let mut bytes = Vec::new();
    section.encode(&mut bytes);
    let mut reader = wasmparser::BinaryReader::new(&bytes, 0);
    reader.read_var_u32().expect("a section starts with its size");
    reader.read_var_u32().expect("a list starts with its count");
    let start = reader.original_position();
    bytes.split_off(start)
}

/// Writes a list section: the original's entries, then `added` further ones.
fn write_list(id: SectionId, original: Option<&List>, component: &[u8], added: u32, entries: &[u8], out: &mut Vec<u8>) {
    let mut count = Vec::new();
    (original.map_or(0, |list| list.count) + added).encode(&mut count);
    let before = original.map_or(&[][..], |list| &component[list.entries.clone()]);
    write_section(id as u8, &[&count, before, entries], out);
}

/// Writes a section with the given parts as its contents.
pub(crate) fn write_section(id: u8, parts: &[&[u8]], out: &mut Vec<u8>) {
    out.push(id);
    offset_u32(parts.iter().map(|part| part.len()).sum()).encode(out);
    for part in parts {
        out.extend_from_slice(part);
    }
}

/// A value type as the parser gives it, with the module's own type indices.
fn encoded(ty: ValType) -> wasm_encoder::ValType {
    RoundtripReencoder.val_type(ty).expect("types that were just read have module indices")
}
