//! The accessor: what is appended to a component so that its state can be saved and set from outside.
//!
//! ```text
//! core module 0 ─ exports fozzy-g1, fozzy-m0 ─┐
//! core module 1 ─ exports fozzy-g0 ───────────┤
//!                                             ▼
//!                 accessor module   [header │ one slot a global │ an input]  its own memory
//!                        │ save   globals ─▶ slots
//!                        │ load   slots ─▶ globals, and every memory looks up its size again
//!                        │ mint   a number ─▶ a handle of an imported resource type (through an import)
//!                        │ drop   a handle away
//!                        └ fuzz   an input that lies in its memory ─▶ the fuzz target's `run`, as a call with that list makes it
//!                        ▼
//!                 relay module   imports fuzz, and exports it
//! lifted and exported:  fozzy-save  fozzy-load  fozzy-mint-pollable  fozzy-drop-pollable …  fozzy-fuzz
//! ```
//!
//! All of it stands behind everything else, so that no index of the component changes.
//!
//! A module that has its globals for itself takes them from its side memory too, when code of it is entered the next time after
//! the host said so: then `load` need not be called, which takes longer than copying pages.
//!
//! Why a relay: at each call of a lifted function, wasmtime looks up where the code of that function is, in all code of the process,
//! unless the instance that exports it has imported it: then it knows. `fuzz` is called once for each execution of a campaign.
//!
//! Why a `memory.grow` by nothing: an engine keeps the size of a memory beside its code and reads it again
//! when the memory grows, so that this is how it learns that the memory was cut from outside.
//!
//! Invariants: appended names begin with [`shape::RESERVED`], which the component does not use itself. Slots are in
//! the order of modules and of their globals.
//! Not here: whether a component may be given one (`shape`).

use crate::edit::offset_u32;
use crate::entries::{CoreExport, FuzzEntry};
use crate::map::ModuleOrdinal;
use crate::shape::{self, ComponentShape, ImportedResource, IndexCounts, ModuleShape};
use crate::side::{ACCESSOR, HEADER_BYTES, SideTag, WASM_PAGE_BYTES};
use serde::{Deserialize, Serialize};
use wasm_encoder as to;
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasmparser::ValType;

/// Bytes at the start of the accessor's memory: as of every side memory.
pub const ACCESSOR_HEADER_BYTES: usize = HEADER_BYTES as usize;

/// Bytes of one global's slot in the accessor's memory, after the header.
pub const SLOT_BYTES: usize = 16;

/// Names of the appended exports.
pub const SAVE: &str = "fozzy-save";
/// See [`SAVE`].
pub const LOAD: &str = "fozzy-load";
/// The export that calls the function `run` of a component's fuzz targets with the input at [`AccessorLayout::input_at`]. It makes the same
/// calls of core functions, in the same order, as a call of `run` through the component's interface. When memory for the input
/// is returned that reaches beyond the end of the component's memory, it only says so, at [`INPUT_REFUSED_AT`].
pub const FUZZ: &str = "fozzy-fuzz";
/// Where in the place of an input the host puts the number of the fuzz target (u32).
pub const INPUT_TARGET_AT: usize = 0;
/// Where in the place of an input the host puts its length (u32), at most [`INPUT_BYTES_MAX`].
pub const INPUT_LENGTH_AT: usize = 4;
/// Where in the place of an input the host puts 0, and finds 1 (u32) if there was no memory for the input.
pub const INPUT_REFUSED_AT: usize = 8;
/// Where in the place of an input the host puts its bytes.
pub const INPUT_BYTES_AT: usize = 16;
/// The longest input for which there is room, in bytes. Longer ones have to be passed through the component's interface.
pub const INPUT_BYTES_MAX: usize = 1 << 16;

/// How the state of an instrumented component is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessorLayout {
    /// Mutable globals, each with a slot.
    pub globals: usize,
    /// How many of them each module has, in the order of the slots.
    pub globals_of: Vec<(ModuleOrdinal, usize)>,
    /// Resource types whose handles can be minted and dropped.
    pub resources: Vec<MintedResource>,
    /// Whether code of the component runs while it is instantiated. Otherwise only data segments are written then.
    pub starts: bool,
    /// Where the place of an input is in the accessor's memory, in bytes; `None` when it has no [`FUZZ`].
    pub input_at: Option<u32>,
}

impl AccessorLayout {
    /// Bytes of the accessor's memory.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        memory_pages(self.globals, self.input_at.is_some()) * u64::from(WASM_PAGE_BYTES)
    }
}

/// Where an input is, behind the slots of so many globals.
fn input_at(globals: usize) -> usize {
    ACCESSOR_HEADER_BYTES + globals * SLOT_BYTES
}

/// Pages of wasm of the accessor's memory.
fn memory_pages(globals: usize, has_input: bool) -> u64 {
    let input = if has_input { INPUT_BYTES_AT + INPUT_BYTES_MAX } else { 0 };
    (input_at(globals) + input).div_ceil(WASM_PAGE_BYTES as usize) as u64
}

/// A resource type of an import, and the exports that mint and drop its handles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MintedResource {
    /// The interface that it comes from, with its version.
    pub interface: String,
    /// Its name there, such as `pollable`.
    pub name: String,
}

impl MintedResource {
    /// The name of the import that makes a handle from a number.
    #[must_use]
    pub fn mint(&self) -> String {
        format!("fozzy-mint-{}", self.name)
    }

    /// The name of the export that calls [`MintedResource::mint`].
    #[must_use]
    pub fn make(&self) -> String {
        format!("fozzy-make-{}", self.name)
    }

    /// The name of the export that drops a handle.
    #[must_use]
    pub fn drop(&self) -> String {
        format!("fozzy-drop-{}", self.name)
    }
}

/// The name under which a module exports its global to the accessor.
pub(crate) fn global_name(index: u32) -> String {
    format!("{}g{index}", shape::RESERVED)
}

/// The name under which a module exports its memory to the accessor.
pub(crate) fn memory_name(index: u32) -> String {
    format!("{}m{index}", shape::RESERVED)
}

/// The name by which the relay module knows the accessor's instance.
const RELAYED: &str = "accessor";

/// Core function types of the accessor module, in this order; component function types likewise.
const NOTHING: u32 = 0;
const MINT: u32 = 1;
const DROP: u32 = 2;

/// Appends the accessor of the component of `shape` to `out`, whose indices then go on from `shape.counts`. Its memory begins as a side
/// memory does.
pub(crate) fn append(tag: &SideTag, shape: &mut ComponentShape, out: &mut Vec<u8>) -> AccessorLayout {
    let module = accessor_module(shape, tag);
    let resources: Vec<MintedResource> = shape
        .resources
        .iter()
        .map(|r| MintedResource { interface: r.interface.clone(), name: r.name.clone() })
        .collect();
    shape.counts = append_sections(shape, &module.bytes, &resources, out);
    let globals_of = shape.modules.iter().filter(|(_, module)| module.instance.is_some() && !module.globals.is_empty());
    let globals_of = globals_of.map(|(ordinal, module)| (ModuleOrdinal(*ordinal), module.globals.len())).collect();
    let input_at = shape.fuzz.as_ref().map(|_| offset_u32(input_at(module.globals)));
    AccessorLayout { globals: module.globals, globals_of, resources, starts: shape.starts, input_at }
}

/// Core modules that have something to reach, with their instances.
fn reached(shape: &ComponentShape) -> impl Iterator<Item = (u32, &ModuleShape)> {
    let reached = shape.modules.values().filter(|module| module.has_state());
    reached.filter_map(|module| Some((module.instance?, module)))
}

fn instance_name(instance: u32) -> String {
    format!("i{instance}")
}

struct AccessorModule {
    bytes: Vec<u8>,
    globals: usize,
}

fn accessor_module(shape: &ComponentShape, tag: &SideTag) -> AccessorModule {
    let mut types = to::TypeSection::new();
    types.ty().function([], []);
    types.ty().function([to::ValType::I32], [to::ValType::I32]);
    types.ty().function([to::ValType::I32], []);

    let mut imports = to::ImportSection::new();
    let mut globals: Vec<ValType> = Vec::new();
    let mut memories: Vec<bool> = Vec::new();
    for (instance, module) in reached(shape) {
        let from = instance_name(instance);
        for (index, ty) in &module.globals {
            let val_type = RoundtripReencoder.val_type(*ty).expect("numbers have no index");
            let ty_of = to::GlobalType { val_type, mutable: true, shared: false };
            imports.import(&from, &global_name(*index), to::EntityType::Global(ty_of));
            globals.push(*ty);
        }
        for (index, wide) in &module.memories {
            let ty = to::MemoryType { minimum: 0, maximum: None, memory64: *wide, shared: false, page_size_log2: None };
            imports.import(&from, &memory_name(*index), to::EntityType::Memory(ty));
            memories.push(*wide);
        }
    }
    for resource in &shape.resources {
        imports.import("resources", &format!("mint-{}", resource.name), to::EntityType::Function(MINT));
        imports.import("resources", &format!("drop-{}", resource.name), to::EntityType::Function(DROP));
    }
    let mut next = 2 * shape.resources.len() as u32;
    let own = memories.len() as u32;
    let input = shape.fuzz.as_ref().map(|FuzzEntry { run, realloc, post_return }| {
        let i32s = |count: usize| [to::ValType::I32; 4].into_iter().take(count);
        let (run_type, realloc_type) = (types.len(), types.len() + 1);
        types.ty().function(i32s(3), []);
        types.ty().function(i32s(4), i32s(1));
        let mut import = |function: &CoreExport, ty: u32| {
            imports.import(&instance_name(function.instance), &function.name, to::EntityType::Function(ty));
            next += 1;
            next - 1
        };
        let (run, realloc) = (import(run, run_type), import(realloc, realloc_type));
        let post_return = post_return.as_ref().map(|function| import(function, NOTHING));
        assert_eq!(memories, [false], "inputs are put into the only memory that there is");
        input_function(own, input_at(globals.len()), run, realloc, post_return)
    });
    let mut own_memory = to::MemorySection::new();
    let pages = memory_pages(globals.len(), input.is_some());
    own_memory.memory(to::MemoryType {
        minimum: pages,
        maximum: Some(pages),
        memory64: false,
        shared: false,
        page_size_log2: None,
    });

    let slot = |position: usize| to::MemArg {
        offset: (ACCESSOR_HEADER_BYTES + position * SLOT_BYTES) as u64,
        align: 0,
        memory_index: own,
    };
    let mut save = to::Function::new([]);
    let mut load = to::Function::new([]);
    for (memory, wide) in memories.iter().enumerate() {
        let mut sink = load.instructions();
        if *wide {
            sink.i64_const(0)
        } else {
            sink.i32_const(0)
        };
        sink.memory_grow(memory as u32).drop();
    }
    for (position, ty) in globals.iter().enumerate() {
        let (global, at) = (position as u32, slot(position));
        let mut sink = save.instructions();
        sink.i32_const(0).global_get(global);
        match ty {
            ValType::I32 => sink.i32_store(at),
            ValType::I64 => sink.i64_store(at),
            ValType::F32 => sink.f32_store(at),
            ValType::F64 => sink.f64_store(at),
            ValType::V128 => sink.v128_store(at),
            ValType::Ref(_) => unreachable!("references are an obstacle"),
        };
        let mut sink = load.instructions();
        sink.i32_const(0);
        self::load(&mut sink, *ty, at);
        sink.global_set(global);
    }
    save.instructions().end();
    load.instructions().end();

    let (mut functions, mut code) = (to::FunctionSection::new(), to::CodeSection::new());
    let mut exports = to::ExportSection::new();
    let mut define = |name: &str, ty: u32, body: &to::Function| {
        functions.function(ty);
        code.function(body);
        exports.export(name, to::ExportKind::Func, next);
        next += 1;
    };
    define(SAVE, NOTHING, &save);
    define(LOAD, NOTHING, &load);
    for (position, resource) in shape.resources.iter().enumerate() {
        let position = position as u32;
        for (name, ty, callee) in [("make", MINT, 2 * position), ("drop", DROP, 2 * position + 1)] {
            let mut body = to::Function::new([]);
            body.instructions().local_get(0).call(callee).end();
            define(&format!("fozzy-{name}-{}", resource.name), ty, &body);
        }
    }
    if let Some(input) = &input {
        define(FUZZ, NOTHING, input);
    }

    let mut data = to::DataSection::new();
    data.active(own, &to::ConstExpr::i32_const(0), tag.header(ACCESSOR));
    let mut module = to::Module::new();
    module.section(&types).section(&imports).section(&functions).section(&own_memory);
    module.section(&exports).section(&code).section(&data);
    AccessorModule { bytes: module.finish(), globals: globals.len() }
}

/// The module that exports the accessor's [`FUZZ`], which it imports, and has nothing else.
fn relay_module() -> Vec<u8> {
    let mut types = to::TypeSection::new();
    types.ty().function([], []);
    let mut imports = to::ImportSection::new();
    imports.import(RELAYED, FUZZ, to::EntityType::Function(NOTHING));
    let mut exports = to::ExportSection::new();
    exports.export(FUZZ, to::ExportKind::Func, 0);
    let mut module = to::Module::new();
    module.section(&types).section(&imports).section(&exports);
    module.finish()
}

/// The body of [`FUZZ`], with an input at `at` of the memory `own` and the component's memory at index 0. Memory is asked for by
/// `realloc` however short the input is, as wasmtime does, and what it returns may end where the component's memory ends.
fn input_function(own: u32, at: usize, run: u32, realloc: u32, post_return: Option<u32>) -> to::Function {
    const GUEST: u32 = 0;
    let word = |offset: usize| to::MemArg { offset: (at + offset) as u64, align: 0, memory_index: own };
    let (length, place) = (0, 1);
    let mut body = to::Function::new([(2, to::ValType::I32)]);
    let mut code = body.instructions();
    code.i32_const(0).i32_load(word(INPUT_LENGTH_AT)).local_set(length);
    code.i32_const(0).i32_const(0).i32_const(1).local_get(length).call(realloc).local_set(place);
    code.local_get(place).i64_extend_i32_u().local_get(length).i64_extend_i32_u().i64_add();
    code.memory_size(GUEST).i64_extend_i32_u().i64_const(i64::from(WASM_PAGE_BYTES)).i64_mul().i64_gt_u();
    code.if_(to::BlockType::Empty);
    code.i32_const(0).i32_const(1).i32_store(word(INPUT_REFUSED_AT)).return_().end();
    code.local_get(place).i32_const(offset_u32(at + INPUT_BYTES_AT).cast_signed()).local_get(length);
    code.memory_copy(GUEST, own);
    code.i32_const(0).i32_load(word(INPUT_TARGET_AT)).local_get(place).local_get(length).call(run);
    if let Some(post_return) = post_return {
        code.call(post_return);
    }
    code.end();
    body
}

/// Loads a number from a slot.
pub(crate) fn load(code: &mut to::InstructionSink<'_>, ty: ValType, slot: to::MemArg) {
    match ty {
        ValType::I32 => code.i32_load(slot),
        ValType::I64 => code.i64_load(slot),
        ValType::F32 => code.f32_load(slot),
        ValType::F64 => code.f64_load(slot),
        ValType::V128 => code.v128_load(slot),
        ValType::Ref(_) => unreachable!("references are an obstacle"),
    };
}

/// Writes the component's part: imports that mint, the accessor's instance and that of the relay, their functions lifted and exported. The
/// answer is how many of each kind the component has with it.
fn append_sections(
    shape: &ComponentShape,
    module: &[u8],
    resources: &[MintedResource],
    out: &mut Vec<u8>,
) -> IndexCounts {
    let counts = shape.counts;
    let (mut next_type, mut next_function, mut next_core) = (counts.types, counts.functions, counts.core_functions);
    let (mut aliases, mut types) = (to::ComponentAliasSection::new(), to::ComponentTypeSection::new());
    let (mut imports, mut lowered) = (to::ComponentImportSection::new(), to::CanonicalFunctionSection::new());
    let u32_type = to::ComponentValType::Primitive(to::PrimitiveValType::U32);

    // Aliases come first, so that each resource has the type index `counts.types + position`.
    for ImportedResource { instance, name, .. } in &shape.resources {
        aliases.alias(to::Alias::InstanceExport { instance: *instance, kind: to::ComponentExportKind::Type, name });
        next_type += 1;
    }
    let mut items = Vec::new();
    for (position, resource) in resources.iter().enumerate() {
        let resource_type = counts.types + position as u32;
        types.defined_type().own(resource_type);
        let own = to::ComponentValType::Type(next_type);
        types.function().params([("rep", u32_type)]).result(Some(own));
        imports.import(resource.mint(), to::ComponentTypeRef::Func(next_type + 1));
        next_type += 2;
        lowered.lower(next_function, []);
        next_function += 1;
        lowered.resource_drop(resource_type);
        items.push((format!("mint-{}", resource.name), next_core));
        items.push((format!("drop-{}", resource.name), next_core + 1));
        next_core += 2;
    }
    let lifted_types = next_type;
    types.function().params::<_, to::ComponentValType>([]).result(None);
    types.function().params([("rep", u32_type)]).result(Some(u32_type));
    types.function().params([("handle", u32_type)]).result(None);

    let mut instances = to::InstanceSection::new();
    let mut arguments: Vec<(String, to::ModuleArg)> =
        reached(shape).map(|(instance, _)| (instance_name(instance), to::ModuleArg::Instance(instance))).collect();
    let mut next_instance = counts.core_instances;
    if !items.is_empty() {
        instances.export_items(items.iter().map(|(name, index)| (name.as_str(), to::ExportKind::Func, *index)));
        arguments.push(("resources".to_owned(), to::ModuleArg::Instance(next_instance)));
        next_instance += 1;
    }
    instances.instantiate(counts.core_modules, arguments.iter().map(|(name, argument)| (name.as_str(), *argument)));
    let accessor = next_instance;
    let relay = shape.fuzz.as_ref().map(|_| relay_module());
    if relay.is_some() {
        instances.instantiate(counts.core_modules + 1, [(RELAYED, to::ModuleArg::Instance(accessor))]);
    }

    let names = [SAVE, LOAD].map(|name| (name.to_owned(), NOTHING)).into_iter();
    let names = names.chain(resources.iter().flat_map(|resource| [(resource.make(), MINT), (resource.drop(), DROP)]));
    let names = names.chain(shape.fuzz.is_some().then(|| (FUZZ.to_owned(), NOTHING)));
    let (mut functions, mut lifted) = (to::ComponentAliasSection::new(), to::CanonicalFunctionSection::new());
    let mut exports = to::ComponentExportSection::new();
    for (name, ty) in names {
        functions.alias(to::Alias::CoreInstanceExport {
            instance: if name == FUZZ { accessor + 1 } else { accessor },
            kind: to::ExportKind::Func,
            name: &name,
        });
        lifted.lift(next_core, lifted_types + ty, []);
        next_core += 1;
        // Exports become functions of the index space too, behind all that are lifted here.
        exports.export(name.as_str(), to::ComponentExportKind::Func, next_function, None);
        next_function += 1;
    }

    let mut append = |section: &dyn to::ComponentSection| section.append_to_component(out);
    if !resources.is_empty() {
        append(&aliases);
    }
    append(&types);
    if !items.is_empty() {
        append(&imports);
        append(&lowered);
    }
    for data in [Some(module), relay.as_deref()].into_iter().flatten() {
        append(&to::RawSection { id: crate::nesting::CORE_MODULE_SECTION, data });
    }
    append(&instances);
    append(&functions);
    append(&lifted);
    append(&exports);
    IndexCounts {
        core_modules: counts.core_modules + 1 + u32::from(relay.is_some()),
        core_instances: accessor + 1 + u32::from(relay.is_some()),
        core_functions: next_core,
        types: lifted_types + 3,
        functions: next_function + lifted.len(),
    }
}
