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

use crate::allocators::role::SpecialFunction;
use crate::allocators::{AllocatorRole, Allocators};
use crate::compare::{LOG_BYTES, MemoryComparison, fits};
use crate::edit::offset_u32;
use crate::helpers::{Helper, HelperContext};
use crate::map::{ModuleMap, ModuleOrdinal, SegmentKind, Segments};
use crate::memcheck::allocators::{CheckedFunction, CheckedModule};
use crate::memory_faults::RequestPlaces;
use crate::options::{CoverageMode, RUN_ADAPTER};
use crate::positions;
use crate::prescan::{ModulePrescan, may_return_through_memory};
use crate::profile::{self, PROFILE_BYTES};
use crate::segments::{self, MergedSegments};
use crate::side::{SideLayout, SideMemory, SideTag, WASM_PAGE_BYTES};
use crate::{Error, Options, body, memcheck, memory_faults, names};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{
    BlockType, ConstExpr, Encode, ExportKind, ExportSection, GlobalType, Module as Binary, SectionId, TypeSection,
};
use wasmparser::types::{CoreTypeId, TypesRef};
use wasmparser::{
    CompositeInnerType, DataSectionReader, ExportSectionReader, ExternalKind, FromReader, FunctionSectionReader,
    ImportSectionReader, MemorySectionReader, MemoryType, SectionLimited, TypeRef, TypeSectionReader, UnpackedIndex,
    ValType,
};

/// Entries that a module's index space may have (wasmparser's `MAX_WASM_TYPES`, `MAX_WASM_GLOBALS`).
/// A module that has no room for what is appended is refused.
const INDEX_MAX: u32 = 1_000_000;

/// The same for memories and data segments (`MAX_WASM_MEMORIES`, `MAX_WASM_DATA_SEGMENTS`).
const MEMORIES_MAX: u32 = 100;
const DATA_SEGMENTS_MAX: u32 = 100_000;

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
pub(crate) struct FunctionSignature {
    pub(crate) params_slots: u32,
    pub(crate) vectors_in_params: bool,
    params: Vec<ValType>,
    results: Vec<ValType>,
    writes: bool,
}

impl FunctionSignature {
    /// Whether a lowered function of this type may write its result through its last parameter.
    pub(crate) fn may_return_through_memory(&self) -> bool {
        self.writes
    }

    pub(crate) fn params_count(&self) -> u32 {
        offset_u32(self.params.len())
    }

    pub(crate) fn results_count(&self) -> u32 {
        offset_u32(self.results.len())
    }
}

/// Contents of a section that is a list, so that entries can be appended to it.
#[derive(Clone, Debug)]
struct SectionList {
    count: u32,
    entries: Range<usize>,
}

impl SectionList {
    fn of<'a, T: FromReader<'a>>(reader: &SectionLimited<'a, T>) -> SectionList {
        SectionList { count: reader.count(), entries: reader.original_position()..reader.range().end }
    }
}

/// Parameters and results.
type FunctionType = (Vec<wasm_encoder::ValType>, Vec<wasm_encoder::ValType>);

/// A rewritten module, encoded.
pub(crate) struct EncodedModule {
    pub(crate) bytes: Vec<u8>,
    /// Counts from the start of the bytes.
    pub(crate) map: ModuleMap,
    pub(crate) side: Option<SideMemory>,
    /// Fuel that its instantiation takes beyond the original's.
    pub(crate) startup_fuel: i64,
}

/// A core module while the walk is inside it.
pub(crate) struct ModuleRewriter<'a> {
    pub(crate) ordinal: ModuleOrdinal,
    start: usize,
    pub(crate) stack_slots: u32,
    /// Whether calls are counted.
    pub(crate) depth: bool,
    /// Functions whose deepest call is noted, where edges are counted.
    pub(crate) recursive: BTreeSet<u32>,
    /// What this module gets, whatever others get.
    pub(crate) coverage: CoverageMode,
    sections: Vec<(u8, Range<usize>)>,
    names: Option<&'a [u8]>,

    types: Option<SectionList>,
    /// One for each type index; types other than functions have none.
    signatures: Vec<Option<FunctionSignature>>,
    vectors_in_results: bool,
    /// Function types that are appended, and which of them each is.
    added_types: BTreeMap<FunctionType, u32>,
    /// Indices of types by what the validator calls them.
    type_indices: BTreeMap<CoreTypeId, u32>,

    globals: Option<SectionList>,
    /// All globals of the original, imported ones included.
    globals_count: u32,
    globals_imported: u32,
    depth_used: bool,

    /// Types of all functions of the original, imported ones first.
    function_types: Vec<u32>,
    functions_imported: u32,
    functions: Option<SectionList>,
    exports: Option<ExportSectionReader<'a>>,
    /// What is appended behind the functions.
    helpers: Vec<Helper>,

    /// Whether written pages are marked here, and whether there was anything to mark.
    pub(crate) marks: bool,
    pub(crate) marks_used: bool,
    /// An import that may write is called through a reference.
    pub(crate) import_escapes: bool,
    surveyed: ModulePrescan,

    /// Whether the host may set globals through the side memory, where that can be done.
    takes_globals: bool,
    /// The globals that it sets so: index and type.
    taken: Vec<(u32, ValType)>,
    /// Functions at whose beginning that is looked at.
    entered: BTreeSet<u32>,

    /// What is exported beyond the original's exports.
    pub(crate) added_exports: Vec<(String, ExportKind, u32)>,
    /// Memory 0 is there and has 32-bit addresses.
    memory32: bool,
    memories: Option<SectionList>,
    /// Index of the side memory: behind all memories of the original, imported ones included.
    pub(crate) side_memory: u32,
    pub(crate) layout: SideLayout,
    /// Edges that have a byte so far.
    pub(crate) kept: u32,
    /// Whether comparisons are logged here, and how many there are so far.
    pub(crate) comparisons: bool,
    pub(crate) compared: u32,
    /// Whether instructions are counted by call path, and how many bytes the spare nodes of its functions have so far.
    pub(crate) profile: bool,
    pub(crate) spares: u32,
    /// Whether a debugger is to find its way by the instructions that were executed, and whether it looks at stores.
    pub(crate) positions: bool,
    pub(crate) stores: bool,
    /// Functions of its allocator, where their calls are logged.
    pub(crate) allocators: Option<BTreeMap<u32, AllocatorRole>>,
    /// Functions whose stores are the allocator's own.
    pub(crate) inner: BTreeSet<u32>,
    /// Functions of its allocator that may say that they have no memory, where the program asks whether it may have some.
    pub(crate) fallible: Option<BTreeMap<u32, AllocatorRole>>,
    /// Index of the memory by which it asks: behind the shadow.
    request_memory: u32,
    /// What the shadow of its memory begins with, where accesses to it are to be checked.
    pub(crate) shadow: Option<SideTag>,
    /// What is checked, where accesses to memory are.
    pub(crate) checked: Option<CheckedModule>,
    /// Index of the shadow: behind all memories of the original.
    pub(crate) shadow_memory: u32,
    /// What the first global starts with, if it is the module's own and a constant of 32 bits.
    first_global: Option<i32>,
    /// For each global, whether it is an i32 that can be set; known where allocations are logged.
    words: Vec<bool>,
    data: Option<SectionList>,
    segments_read: Option<DataSectionReader<'a>>,
    /// Bytes of each memory that it defines itself; `None` for others.
    memory_bytes: Vec<Option<u64>>,
    /// Whether its data segments may become fewer: it is instantiated once, and no code of it names them.
    pub(crate) merges: bool,
    merged: Option<MergedSegments>,

    /// How many function bodies the original has.
    bodies: u32,
    /// The new function bodies.
    pub(crate) code: Vec<u8>,
    pub(crate) segments: Segments,
}

impl<'a> ModuleRewriter<'a> {
    /// A module whose header is at `start`.
    pub(crate) fn new(
        ordinal: ModuleOrdinal,
        start: usize,
        options: &Options,
        surveyed: ModulePrescan,
    ) -> ModuleRewriter<'a> {
        let chosen = options.modules.includes(surveyed.names()) && !options.profile && !options.positions;
        let comparisons = options.comparisons && chosen;
        let profile = options.profile && !surveyed.names().any(|name| name == RUN_ADAPTER);
        let positions = options.positions && !options.profile && !surveyed.names().any(|name| name == RUN_ADAPTER);
        let marks = options.marks && !options.profile && !options.positions;
        ModuleRewriter {
            ordinal,
            start,
            stack_slots: options.stack_slots,
            depth: options.depth,
            recursive: BTreeSet::new(),
            coverage: if chosen { options.coverage } else { CoverageMode::None },
            sections: Vec::new(),
            names: None,
            types: None,
            signatures: Vec::new(),
            vectors_in_results: false,
            added_types: BTreeMap::new(),
            type_indices: BTreeMap::new(),
            globals: None,
            globals_count: 0,
            globals_imported: 0,
            depth_used: false,
            function_types: Vec::new(),
            functions_imported: 0,
            functions: None,
            exports: None,
            helpers: Vec::new(),
            marks,
            marks_used: false,
            import_escapes: false,
            takes_globals: options.access && options.beside() && !options.profile,
            taken: Vec::new(),
            entered: BTreeSet::new(),
            surveyed,
            memory32: false,
            added_exports: Vec::new(),
            memories: None,
            side_memory: 0,
            layout: SideLayout::new(if comparisons { LOG_BYTES } else { 0 }, marks),
            comparisons,
            compared: 0,
            profile,
            spares: 0,
            positions,
            stores: positions && options.stores,
            allocators: None,
            inner: BTreeSet::new(),
            fallible: None,
            request_memory: 0,
            shadow: None,
            checked: None,
            shadow_memory: 0,
            first_global: None,
            words: Vec::new(),
            kept: 0,
            data: None,
            segments_read: None,
            memory_bytes: Vec::new(),
            merges: false,
            merged: None,
            bodies: 0,
            code: Vec::new(),
            segments: Segments::default(),
        }
    }

    /// The names that it is chosen by.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.surveyed.names()
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
        self.types = Some(SectionList::of(reader));
        for group in reader.clone() {
            for ty in group?.into_types() {
                let CompositeInnerType::Func(function) = ty.composite_type.inner else {
                    self.signatures.push(None);
                    continue;
                };
                let results = function.results();
                self.vectors_in_results |= results.len() > 1 && results.contains(&ValType::V128);
                self.signatures.push(Some(FunctionSignature {
                    params_slots: function.params().iter().copied().map(body::slots).sum(),
                    vectors_in_params: function.params().contains(&ValType::V128),
                    params: function.params().to_vec(),
                    writes: may_return_through_memory(function.params(), function.results()),
                    results: results.to_vec(),
                }));
            }
        }
        Ok(())
    }

    /// Takes note of the globals that the module defines.
    pub(crate) fn global_section(&mut self, reader: &SectionLimited<'a, wasmparser::Global<'a>>) {
        self.globals = Some(SectionList::of(reader));
        if self.globals_imported == 0
            && let Some(Ok(first)) = reader.clone().into_iter().next()
        {
            let value = match first.init_expr.get_operators_reader().read() {
                Ok(wasmparser::Operator::I32Const { value }) => Some(value),
                _ => None,
            };
            self.first_global = value.filter(|_| first.ty.mutable && first.ty.content_type == ValType::I32);
        }
    }

    /// Takes note of the imports.
    pub(crate) fn import_section(&mut self, reader: &ImportSectionReader<'a>) -> Result<(), Error> {
        for import in reader.clone().into_imports() {
            match import?.ty {
                TypeRef::Func(ty) | TypeRef::FuncExact(ty) => self.function_types.push(ty),
                TypeRef::Global(_) => self.globals_imported += 1,
                TypeRef::Memory(_) => self.memory_bytes.push(None),
                _ => {}
            }
        }
        self.functions_imported = offset_u32(self.function_types.len());
        Ok(())
    }

    /// Takes note of the functions that the module defines.
    pub(crate) fn function_section(&mut self, reader: &FunctionSectionReader<'a>) -> Result<(), Error> {
        self.functions = Some(SectionList::of(reader));
        for ty in reader.clone() {
            self.function_types.push(ty?);
        }
        Ok(())
    }

    /// Takes note of the exports.
    pub(crate) fn export_section(&mut self, reader: &ExportSectionReader<'a>) {
        self.exports = Some(reader.clone());
    }

    /// Index of the type of a function.
    pub(crate) fn type_of(&self, function: u32) -> u32 {
        self.function_types[function as usize]
    }

    /// A reference to a function is taken in code.
    pub(crate) fn note_reference(&mut self, function: u32) {
        let writes = self.signature(self.type_of(function)).may_return_through_memory();
        self.import_escapes |= writes && self.imports_function(function);
    }

    /// Whether a function is imported.
    pub(crate) fn imports_function(&self, function: u32) -> bool {
        function < self.functions_imported
    }

    /// Takes note of the memories that the module defines.
    pub(crate) fn memory_section(&mut self, reader: &MemorySectionReader<'a>) -> Result<(), Error> {
        self.memories = Some(SectionList::of(reader));
        for memory in reader.clone() {
            self.memory_bytes.push(match memory? {
                MemoryType { memory64: false, page_size_log2: None, initial, .. } => {
                    Some(initial.saturating_mul(u64::from(WASM_PAGE_BYTES)))
                }
                _ => None,
            });
        }
        Ok(())
    }

    /// Takes note of the data segments.
    pub(crate) fn data_section(&mut self, reader: &DataSectionReader<'a>) {
        self.data = Some(SectionList::of(reader));
        self.segments_read = Some(reader.clone());
    }

    /// How many data segments are written, but for its own.
    fn data_count(&self) -> u32 {
        match &self.merged {
            Some(merged) => merged.count,
            None => self.data.as_ref().map_or(0, |data| data.count),
        }
    }

    /// The code section starts, and `types` says what stands before it.
    pub(crate) fn code_section(&mut self, bodies: u32, types: TypesRef<'_>, known: Option<&Allocators>) {
        self.globals_count = types.global_count();
        self.side_memory = types.memory_count();
        if self.coverage != CoverageMode::None {
            let indices = 0..types.core_type_count_in_module();
            self.type_indices = indices.map(|index| (types.core_type_at_in_module(index), index)).collect();
        }
        // Marks of 64-bit memories are not even tried.
        self.memory32 = self.side_memory > 0 && !types.memory_at(0).memory64;
        self.marks &= self.memory32 || self.side_memory == 0;
        if let Some(known) = known.filter(|_| self.shadow.is_some()) {
            self.check_memory(known);
            self.shadow_memory = self.side_memory;
            self.side_memory += u32::from(self.checked.is_some());
        }
        if let Some(mut fallible) = self.fallible.take().filter(|_| self.memory32) {
            fallible.retain(|function, _| self.takes_words(*function));
            self.fallible = Some(fallible);
            self.request_memory = self.side_memory;
            self.side_memory += 1;
        }
        self.bodies = bodies;
        if let Some(allocators) = &mut self.allocators {
            let is_word = |ty: wasmparser::GlobalType| ty.mutable && ty.content_type == ValType::I32;
            self.words = (0..self.globals_count).map(|index| is_word(types.global_at(index))).collect();
            let has_stack = self.words.first() == Some(&true);
            allocators.retain(|_, role| self.memory32 && (*role != AllocatorRole::GoAllocate || has_stack));
        }
        if self.takes_globals {
            self.take_globals(types);
        }
    }

    /// The host can leave the globals in the side memory when no other module has them, and all of its code is
    /// entered through its exports: no function of it is in a table of others, or handed over as a reference.
    fn take_globals(&mut self, types: TypesRef<'_>) {
        let is_reference = |ty: &ValType| matches!(ty, ValType::Ref(_));
        let signatures = self.signatures.iter().flatten();
        let mut shared = self.surveyed.shares_table
            || signatures.flat_map(|signature| signature.params.iter().chain(&signature.results)).any(is_reference);
        shared |= (0..self.globals_imported).any(|index| {
            let ty = types.global_at(index);
            ty.mutable && is_reference(&ty.content_type)
        });
        for export in self.exports.clone().into_iter().flatten().flatten() {
            match export.kind {
                ExternalKind::Func | ExternalKind::FuncExact => {
                    self.entered.insert(export.index);
                }
                ExternalKind::Global => {
                    let ty = types.global_at(export.index);
                    shared |= ty.mutable || is_reference(&ty.content_type);
                }
                _ => {}
            }
        }
        let defined = (self.globals_imported..self.globals_count).map(|index| (index, types.global_at(index)));
        let mutable: Vec<_> =
            defined.filter(|(_, ty)| ty.mutable).map(|(index, ty)| (index, ty.content_type)).collect();
        if !shared && !self.entered.is_empty() && !mutable.iter().any(|(_, ty)| is_reference(ty)) {
            self.taken = mutable;
        }
    }

    /// The function that takes over globals from the host, to be called at the beginning of `function` when the word at
    /// [`HEADER_PENDING_AT`] says so; `None` when it need not.
    pub(crate) fn taking_globals(&mut self, function: u32) -> Result<Option<u32>, Error> {
        let takes = !self.taken.is_empty() && self.entered.contains(&function);
        takes.then(|| self.helper(Helper::Globals)).transpose()
    }

    /// Whether a global is an i32 that can be set.
    pub(crate) fn is_word(&self, global: u32) -> bool {
        self.words.get(global as usize).copied().unwrap_or(false)
    }

    /// What a function does for the allocator, where that is logged.
    pub(crate) fn allocator_role(&self, function: u32) -> Option<AllocatorRole> {
        self.allocators.as_ref()?.get(&function).copied()
    }

    /// Where the stack begins, for a function whose stores are to be noted as the allocator's own. That is not done where it is not known
    /// which stores go to the stack.
    pub(crate) fn noted_stores(&self, function: u32) -> Option<i32> {
        self.first_global.filter(|_| self.memory32 && self.inner.contains(&function))
    }

    /// Has its accesses to memory checked, if that can be done.
    fn check_memory(&mut self, allocators: &Allocators) {
        let &[Some(bytes)] = &self.memory_bytes[..] else { return };
        if !self.memory32 {
            return;
        }
        let own = allocators.iter().filter(|(module, ..)| *module == self.ordinal);
        let named: Vec<_> = own.map(|(_, index, function)| (index, function.name.as_str(), function.role)).collect();
        let mut checked = CheckedModule::of(&named, allocators.special(self.ordinal), |function| {
            let signature = self.signature(self.type_of(function));
            (&signature.params, &signature.results)
        });
        let low = memcheck::LOW_BYTES;
        checked.has_stack = self.first_global.is_some_and(|start| start.cast_unsigned() >= low);
        checked.pages = u32::try_from(bytes / u64::from(WASM_PAGE_BYTES)).unwrap_or(u32::MAX);
        self.checked = Some(checked);
    }

    /// The function of an allocator with this index.
    pub(crate) fn checked_function(&self, function: u32) -> Option<CheckedFunction> {
        self.checked.as_ref()?.functions.get(&function).copied()
    }

    /// What is special about a function, where memory is checked.
    pub(crate) fn special(&self, function: u32) -> Option<SpecialFunction> {
        self.checked.as_ref()?.special(function)
    }

    /// Whether a function takes so many words.
    pub(crate) fn has_words(&self, function: u32, count: usize) -> bool {
        self.signature(self.type_of(function)).params == vec![ValType::I32; count]
    }

    /// Whether a function takes only words, no more than helpers do, and returns one.
    fn takes_words(&self, function: u32) -> bool {
        let FunctionSignature { params, results, .. } = self.signature(self.type_of(function));
        params.len() <= 4 && params.iter().all(|ty| *ty == ValType::I32) && results[..] == [ValType::I32]
    }

    /// What a function of an allocator does that may say that it has no memory, and how many parameters it has.
    pub(crate) fn fallible_function(&self, function: u32) -> Option<(AllocatorRole, u32)> {
        let role = *self.fallible.as_ref()?.get(&function)?;
        Some((role, self.signature(self.type_of(function)).params_count()))
    }

    /// Where code that asks for memory finds things.
    pub(crate) fn request_places(&mut self) -> Result<RequestPlaces, Error> {
        let open = self.depth_global()? + 1;
        self.room("globals", open + 1)?;
        Ok(RequestPlaces { memory: self.request_memory, open })
    }

    /// Bytes of the lowest addresses that nothing is at, in a program of LLVM.
    fn low_bytes(&self) -> u32 {
        if !self.checked.as_ref().is_some_and(|checked| checked.has_stack) {
            return 0;
        }
        let lowest =
            self.segments_read.clone().into_iter().flatten().flatten().filter_map(|segment| match segment.kind {
                wasmparser::DataKind::Active { memory_index: 0, offset_expr } => {
                    match offset_expr.get_operators_reader().read() {
                        Ok(wasmparser::Operator::I32Const { value }) => Some(value.cast_unsigned()),
                        _ => Some(0),
                    }
                }
                _ => None,
            });
        lowest.min().unwrap_or(u32::MAX).min(memcheck::LOW_BYTES) & !7
    }

    /// Makes room for the spare node of a function.
    pub(crate) fn add_spare(&mut self, bytes: u32) -> Result<(), Error> {
        self.spares += bytes;
        self.room_below("bytes for counts", self.spares, PROFILE_BYTES / 2)
    }

    /// The complete layout of the side memory.
    fn complete(&self) -> SideMemory {
        if self.profile {
            return SideMemory::of_profile(self.ordinal, self.allocators.is_some());
        }
        self.layout.complete(self.ordinal, self.kept, self.compared, offset_u32(self.taken.len()))
    }

    /// Whether memory 0 is there and has addresses of 32 bits.
    pub(crate) fn has_memory32(&self) -> bool {
        self.memory32
    }

    /// What a function compares, going by its name.
    pub(crate) fn compares(&self, function: u32) -> Option<MemoryComparison> {
        let compares = *self.surveyed.compares.get(&function)?;
        let signature = self.signature(self.type_of(function));
        (self.memory32 && fits(compares, &signature.params)).then_some(compares)
    }

    /// Index of an appended function.
    pub(crate) fn helper(&mut self, helper: Helper) -> Result<u32, Error> {
        for used in helper.uses() {
            self.helper(*used)?;
        }
        let known = self.helpers.iter().position(|found| *found == helper);
        let position = known.unwrap_or(self.helpers.len());
        let index = offset_u32(self.function_types.len() + position);
        if known.is_none() {
            self.room("functions", index + 1)?;
            let (params, results) = helper.signature();
            self.function_type(params, results)?;
            self.helpers.push(helper);
        }
        Ok(index)
    }

    /// The function type with this index.
    pub(crate) fn signature(&self, ty: u32) -> &FunctionSignature {
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
            [_, _, ..] if signature.params.is_empty() => Ok(BlockType::FunctionType(ty)),
            _ => {
                let results = signature.results.clone();
                self.block(&[], &results)
            }
        }
    }

    /// Type of a block.
    pub(crate) fn block(&mut self, params: &[ValType], results: &[ValType]) -> Result<BlockType, Error> {
        Ok(match (params, results) {
            ([], []) => BlockType::Empty,
            ([], [result]) => BlockType::Result(self.encoded(*result)),
            _ => BlockType::FunctionType(self.function_type(params, results)?),
        })
    }

    /// Index of a function type, which is appended when it is not there yet.
    fn function_type(&mut self, params: &[ValType], results: &[ValType]) -> Result<u32, Error> {
        let [params, results] = [params, results].map(|types| types.iter().map(|ty| self.encoded(*ty)).collect());
        let added = offset_u32(self.added_types.len());
        let position = *self.added_types.entry((params, results)).or_insert(added);
        let index = offset_u32(self.signatures.len()) + position;
        self.room("types", index + 1)?;
        Ok(index)
    }

    /// A value type as the parser or the validator gives it, with the module's own type indices.
    fn encoded(&self, ty: ValType) -> wasm_encoder::ValType {
        struct TypeIndices<'m>(&'m BTreeMap<CoreTypeId, u32>);
        impl Reencode for TypeIndices<'_> {
            type Error = std::convert::Infallible;
            fn type_index_unpacked(
                &mut self,
                index: UnpackedIndex,
            ) -> Result<u32, wasm_encoder::reencode::Error<Self::Error>> {
                match index {
                    UnpackedIndex::Id(id) => Ok(*self.0.get(&id).expect("the type is one of this module")),
                    index => RoundtripReencoder.type_index_unpacked(index),
                }
            }
        }
        TypeIndices(&self.type_indices).val_type(ty).expect("types that were just read have module indices")
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
        self.room_below(what, found, INDEX_MAX)
    }

    fn room_below(&self, what: &'static str, found: u32, limit: u32) -> Result<(), Error> {
        if found > limit {
            let (found, limit) = (u64::from(found), u64::from(limit));
            return Err(Error::NoRoom { offset: self.start, what, found, limit });
        }
        Ok(())
    }

    /// Writes the module, which ended at `end` in the original. `tag` is what its side memory starts
    /// with.
    pub(crate) fn finish(
        mut self,
        component: &[u8],
        end: usize,
        tag: Option<&SideTag>,
    ) -> Result<EncodedModule, Error> {
        if let Some(segments) = self.segments_read.take().filter(|_| self.merges) {
            self.merged = segments::merge(&segments, &self.memory_bytes)?;
        }
        let exports = self.exports()?;
        let types = self.write_helpers()?;
        let side = self.side()?;
        let tag = tag.filter(|_| side.is_some());
        let mut out = Vec::with_capacity(end - self.start + self.code.len());
        out.extend_from_slice(&Binary::HEADER);
        let mut code = 0..0;
        for id in SECTION_ORDER {
            let original = self.sections.iter().find(|(found, _)| *found == id as u8);
            let original = original.map(|(_, range)| &component[range.clone()]);
            match (id, original) {
                (SectionId::Type, _) if !self.added_types.is_empty() => {
                    self.write_types(component, &mut out);
                }
                (SectionId::Global, _) if self.depth_used => self.write_globals(component, &mut out),
                (SectionId::Memory, _) if side.is_some() || self.adds_memories() => {
                    self.write_memories(side.as_ref(), component, &mut out);
                }
                (SectionId::DataCount, Some(_)) => self.write_data_count(tag, &mut out),
                (SectionId::Data, _) if tag.is_some() || self.merged.is_some() || self.checked.is_some() => {
                    self.write_data(tag, component, &mut out);
                }
                (SectionId::Function, Some(_)) if !types.is_empty() => {
                    self.write_functions(&types, component, &mut out)
                }
                (SectionId::Export, _) if let Some(exports) = &exports => {
                    write_section(id as u8, &[&body_with_count(exports)], &mut out);
                }
                (SectionId::Code, Some(_)) => {
                    let mut count = Vec::new();
                    (self.bodies + offset_u32(types.len())).encode(&mut count);
                    write_section(id as u8, &[&count, &self.code], &mut out);
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
            alias: self.surveyed.alias.take(),
            original: offset_u32(self.start)..offset_u32(end),
            rewritten: 0..offset_u32(out.len()),
            code: offset_u32(code.start)..offset_u32(code.end),
            segments: self.segments,
        };
        let startup_fuel = self.merged.map_or(0, |merged| merged.fuel);
        Ok(EncodedModule { bytes: out, map, side, startup_fuel })
    }

    /// The exports, with wrappers for what is used as `realloc` and with those that are added; `None` when they stay as
    /// they are.
    fn exports(&mut self) -> Result<Option<ExportSection>, Error> {
        let wraps = self.marks && !self.surveyed.reallocs.is_empty();
        if !wraps && self.added_exports.is_empty() {
            return Ok(None);
        }
        let mut exports = ExportSection::new();
        for export in self.exports.take().into_iter().flatten() {
            let export = export?;
            let function = matches!(export.kind, ExternalKind::Func | ExternalKind::FuncExact);
            let is_realloc = wraps && function && self.surveyed.reallocs.contains(export.name);
            let index = if is_realloc && !self.imports_function(export.index) {
                self.marks_used = true;
                self.helper(Helper::Realloc(export.index))?
            } else {
                export.index
            };
            let kind = RoundtripReencoder.export_kind(export.kind).expect("kinds that were just read can be written");
            exports.export(export.name, kind, index);
        }
        for (name, kind, index) in &self.added_exports {
            exports.export(name, *kind, *index);
        }
        Ok(Some(exports))
    }

    /// Writes the bodies of the helpers, and returns the index of each one's type.
    fn write_helpers(&mut self) -> Result<Vec<u32>, Error> {
        let mut types = Vec::new();
        for helper in self.helpers.clone() {
            let (params, results) = helper.signature();
            types.push(self.function_type(params, results)?);
            let used = helper.uses().iter().map(|used| self.helper(*used)).collect::<Result<_, _>>()?;
            let complete = self.complete();
            let around = HelperContext {
                memory: self.side_memory,
                layout: &self.layout,
                counts: complete.comparison_counts.start,
                globals: &self.taken,
                globals_start: complete.globals.start,
                used,
                checked: self.checked.as_ref(),
                shadow: self.shadow_memory,
                requests: RequestPlaces { memory: self.request_memory, open: self.globals_count + 1 },
            };
            self.segments.push(offset_u32(self.code.len()), helper.mark(), SegmentKind::Helper);
            helper.body(&around).encode(&mut self.code);
        }
        Ok(types)
    }

    fn write_functions(&self, types: &[u32], component: &[u8], out: &mut Vec<u8>) {
        let mut added = wasm_encoder::FunctionSection::new();
        for ty in types {
            added.function(*ty);
        }
        write_list(SectionId::Function, self.functions.as_ref(), component, added.len(), &body_of(&added), out);
    }

    /// The side memory, when anything is put into it.
    fn side(&self) -> Result<Option<SideMemory>, Error> {
        if self.kept == 0 && self.compared == 0 && !self.marks_used && self.taken.is_empty() && self.spares == 0 {
            return Ok(None);
        }
        self.room_below("memories", self.side_memory + 1, MEMORIES_MAX)?;
        self.room_below("data segments", self.data_count() + 1, DATA_SEGMENTS_MAX)?;
        Ok(Some(self.complete()))
    }

    /// Whether it has memories beside its own, but for the side memory.
    fn adds_memories(&self) -> bool {
        self.checked.is_some() || self.fallible.is_some() || self.positions
    }

    fn write_memories(&self, side: Option<&SideMemory>, component: &[u8], out: &mut Vec<u8>) {
        let mut added = wasm_encoder::MemorySection::new();
        let add = |added: &mut wasm_encoder::MemorySection, minimum: u64, maximum: Option<u64>| {
            let (memory64, shared, page_size_log2) = (false, false, None);
            added.memory(wasm_encoder::MemoryType { minimum, maximum, memory64, shared, page_size_log2 });
        };
        // A shadow grows with what it is the shadow of.
        if let Some(checked) = &self.checked {
            add(&mut added, u64::from(checked.pages / 8 + 2), None);
        }
        if self.fallible.is_some() {
            added.memory(memory_faults::memory());
        }
        if self.positions {
            added.memory(positions::memory());
        }
        if let Some(side) = side {
            let pages = u64::from(side.bytes / WASM_PAGE_BYTES);
            add(&mut added, pages, Some(pages));
        }
        write_list(SectionId::Memory, self.memories.as_ref(), component, added.len(), &body_of(&added), out);
    }

    /// Data segments that are put in.
    fn added_segments(&self, tag: Option<&SideTag>) -> u32 {
        u32::from(tag.is_some()) + u32::from(self.checked.is_some())
    }

    fn write_data_count(&self, tag: Option<&SideTag>, out: &mut Vec<u8>) {
        let mut count = Vec::new();
        (self.data_count() + self.added_segments(tag)).encode(&mut count);
        write_section(SectionId::DataCount as u8, &[&count], out);
    }

    fn write_data(&self, tag: Option<&SideTag>, component: &[u8], out: &mut Vec<u8>) {
        let mut added = wasm_encoder::DataSection::new();
        if let (Some(tag), Some(_)) = (self.shadow, &self.checked) {
            let mut header = tag.header(self.ordinal);
            let (start, low) = (memcheck::SHADOW_AT as usize, self.low_bytes() as usize / 8);
            header.resize(start, 0);
            header.resize(start + low, memcheck::shade::LOW);
            added.active(self.shadow_memory, &ConstExpr::i32_const(0), header);
        }
        if let Some(tag) = tag {
            let mut header = tag.header(self.ordinal);
            if self.profile {
                header.resize(profile::HEADER_AT as usize, 0);
                header.extend(profile::header(self.spares));
            }
            added.active(self.side_memory, &ConstExpr::i32_const(0), header);
        }
        let entries = body_of(&added);
        let Some(merged) = &self.merged else {
            write_list(SectionId::Data, self.data.as_ref(), component, added.len(), &entries, out);
            return;
        };
        let mut count = Vec::new();
        (merged.count + added.len()).encode(&mut count);
        write_section(SectionId::Data as u8, &[&count, &merged.entries, &entries], out);
    }

    fn write_types(&self, component: &[u8], out: &mut Vec<u8>) {
        let mut added = TypeSection::new();
        let mut types: Vec<_> = self.added_types.iter().collect();
        types.sort_by_key(|(_, position)| **position);
        for ((params, results), _) in types {
            added.ty().function(params.iter().copied(), results.iter().copied());
        }
        let list = self.types.as_ref().expect("functions have types");
        write_list(SectionId::Type, Some(list), component, added.len(), &body_of(&added), out);
    }

    fn write_globals(&self, component: &[u8], out: &mut Vec<u8>) {
        let mut added = wasm_encoder::GlobalSection::new();
        let ty = GlobalType { val_type: wasm_encoder::ValType::I32, mutable: true, shared: false };
        let start = i32::try_from(self.stack_slots).expect("checked against STACK_SLOTS_MAX");
        added.global(ty, &ConstExpr::i32_const(start));
        if self.fallible.is_some() {
            added.global(ty, &ConstExpr::i32_const(0));
        }
        let list = self.globals.as_ref();
        write_list(SectionId::Global, list, component, added.len(), &body_of(&added), out);
    }
}

/// The entries of a list section, without its size and count.
fn body_of(section: &impl Encode) -> Vec<u8> {
    let mut bytes = body_with_count(section);
    let mut reader = wasmparser::BinaryReader::new(&bytes, 0);
    reader.read_var_u32().expect("a list starts with its count");
    let start = reader.original_position();
    bytes.split_off(start)
}

/// The contents of a section, without its size.
fn body_with_count(section: &impl Encode) -> Vec<u8> {
    let mut bytes = Vec::new();
    section.encode(&mut bytes);
    let mut reader = wasmparser::BinaryReader::new(&bytes, 0);
    reader.read_var_u32().expect("a section starts with its size");
    let start = reader.original_position();
    bytes.split_off(start)
}

/// Writes a list section: the original's entries, then `added` further ones.
fn write_list(
    id: SectionId,
    original: Option<&SectionList>,
    component: &[u8],
    added: u32,
    entries: &[u8],
    out: &mut Vec<u8>,
) {
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
