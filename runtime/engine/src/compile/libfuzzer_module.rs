//! Core modules with libFuzzer's entry point get the interface of fuzz targets, so that from here on there is one kind.
//!
//! ```text
//! exports   memory, LLVMFuzzerTestOneInput, LLVMFuzzerInitialize?
//! added     fozzy:scenario/fuzz#targets   constructors, LLVMFuzzerInitialize; one name
//!           fozzy:scenario/fuzz#run       LLVMFuzzerTestOneInput(bytes, length)
//!           cabi_realloc                  from an area of its own behind the module's memory
//! ```
//!
//! The area is made by `targets`, which is called once, before the state is kept: no input is given memory by growing it.
//! Functions are added behind the module's own, so that its indices and the addresses of its debug information stay;
//! only where their number then takes a byte more are those addresses off by that one byte.
//!
//! Invariant: nothing of the module is changed. Not here: WASI (`componentize`).

use crate::compile::componentize::ComponentizeError;
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, CustomSection, ExportKind, ExportSection, Function, FunctionSection,
    GlobalSection, GlobalType, InstructionSink, MemArg, Module, RawSection, SectionId, TypeSection, ValType,
};
use wasmparser::{CompositeInnerType, ExternalKind, FuncType, Parser, Payload, TypeRef};
use wit_component::StringEncoding;
use wit_parser::{Resolve, UnresolvedPackageGroup};

/// libFuzzer's entry point.
pub(crate) const TEST_ONE_INPUT: &str = "LLVMFuzzerTestOneInput";
const INITIALIZE: &str = "LLVMFuzzerInitialize";
const CONSTRUCTORS: &str = "__wasm_call_ctors";
const REALLOC: &str = "cabi_realloc";

const WIT: &str = "
    package fozzy:libfuzzer;
    world target { export fozzy:scenario/fuzz@0.1.0; }
    package fozzy:scenario@0.1.0 {
        interface fuzz { targets: func() -> list<string>; run: func(target: u32, data: list<u8>); }
    }";

/// Pages of the area for inputs: the longest that can be asked for, and a little more.
const AREA_PAGES: i32 = 17;
/// Bytes that `targets` writes.
const TOLD_BYTES: i32 = 72;

/// The parts of a module that decide what is added.
#[derive(Default)]
struct LibFuzzerShape {
    types: Vec<Option<FuncType>>,
    /// The type of each function, imported ones first.
    functions: Vec<u32>,
    globals: u32,
    memory: bool,
    test: Option<u32>,
    initialize: Option<u32>,
    constructors: Option<u32>,
    realloc: Option<u32>,
    is_reactor: bool,
}

fn refused(why: impl Into<String>) -> ComponentizeError {
    ComponentizeError::Encoder(crate::compile::load::one_line(&why.into()))
}

impl LibFuzzerShape {
    fn read(module: &[u8]) -> wasmparser::Result<LibFuzzerShape> {
        let mut shape = LibFuzzerShape::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::TypeSection(section) => {
                    for group in section {
                        shape.types.extend(group?.into_types().map(|ty| match ty.composite_type.inner {
                            CompositeInnerType::Func(ty) => Some(ty),
                            _ => None,
                        }));
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        match import?.ty {
                            TypeRef::Func(ty) | TypeRef::FuncExact(ty) => shape.functions.push(ty),
                            TypeRef::Global(_) => shape.globals += 1,
                            _ => {}
                        }
                    }
                }
                Payload::FunctionSection(section) => {
                    for ty in section {
                        shape.functions.push(ty?);
                    }
                }
                Payload::GlobalSection(section) => shape.globals += section.count(),
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        let index = Some(export.index);
                        match (export.name, export.kind) {
                            ("memory", ExternalKind::Memory) => shape.memory = true,
                            ("_initialize", ExternalKind::Func) => shape.is_reactor = true,
                            (TEST_ONE_INPUT, ExternalKind::Func) => shape.test = index,
                            (INITIALIZE, ExternalKind::Func) => shape.initialize = index,
                            (CONSTRUCTORS, ExternalKind::Func) => shape.constructors = index,
                            (REALLOC, ExternalKind::Func) => shape.realloc = index,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(shape)
    }

    /// Whether a function takes two integers, and how many results it has.
    fn results_of_two(&self, function: u32, name: &str) -> Result<usize, ComponentizeError> {
        use wasmparser::ValType::I32;
        let ty = self.functions.get(function as usize).and_then(|ty| self.types.get(*ty as usize)?.as_ref());
        match ty {
            Some(ty) if ty.params() == [I32, I32] && (ty.results().is_empty() || ty.results() == [I32]) => {
                Ok(ty.results().len())
            }
            Some(ty) => Err(refused(format!("`{name}` is of type {ty}, expected (param i32 i32) (result i32)"))),
            None => Err(refused(format!("`{name}` is no function of this module"))),
        }
    }
}

/// Whether a module has libFuzzer's entry point.
pub(crate) fn is_fuzz_module(module: &[u8]) -> bool {
    LibFuzzerShape::read(module).is_ok_and(|shape| shape.test.is_some())
}

/// Adds the interface to a validated module with the entry point.
pub(crate) fn with_interface(module: &[u8]) -> Result<Vec<u8>, ComponentizeError> {
    let shape = LibFuzzerShape::read(module).map_err(|error| refused(error.to_string()))?;
    let test = shape.test.ok_or_else(|| refused(format!("there is no `{TEST_ONE_INPUT}`")))?;
    if !shape.memory {
        return Err(refused(format!(
            "the module exports `{TEST_ONE_INPUT}` and no `memory`, where its input would be put (wasm-ld exports it unless \
             told otherwise)"
        )));
    }
    let added = InterfaceAdditions::new(&shape, test)?;
    let mut bytes = added.write(module)?;
    let mut resolve = Resolve::default();
    let group = UnresolvedPackageGroup::parse("fuzz.wit", WIT).expect("a constant that tests parse");
    let package = resolve.push_group(group).expect("a constant that tests parse");
    let world = resolve.select_world(&[package], None).expect("it has one world");
    wit_component::embed_component_metadata(&mut bytes, &resolve, world, StringEncoding::UTF8)
        .map_err(|error| refused(format!("{error:#}")))?;
    Ok(bytes)
}

/// The code that is added to a module.
struct InterfaceAdditions<'a> {
    shape: &'a LibFuzzerShape,
    test: u32,
    test_results: usize,
    initialize: Option<(u32, usize)>,
    constructors: Option<u32>,
    /// Index of `cabi_realloc`, there or added.
    realloc: u32,
}

impl InterfaceAdditions<'_> {
    fn new(shape: &LibFuzzerShape, test: u32) -> Result<InterfaceAdditions<'_>, ComponentizeError> {
        let initialize = match shape.initialize {
            Some(function) => Some((function, shape.results_of_two(function, INITIALIZE)?)),
            None => None,
        };
        Ok(InterfaceAdditions {
            shape,
            test,
            test_results: shape.results_of_two(test, TEST_ONE_INPUT)?,
            initialize,
            // A reactor's are called when it is instantiated.
            constructors: shape.constructors.filter(|_| !shape.is_reactor),
            realloc: shape.realloc.unwrap_or(shape.functions.len() as u32 + 2),
        })
    }

    /// The functions: type, name, code.
    fn functions(&self) -> Vec<(u32, &'static str, Function)> {
        let types = self.shape.types.len() as u32;
        let mut functions = vec![
            (types, "fozzy:scenario/fuzz@0.1.0#targets", self.targets()),
            (types + 1, "fozzy:scenario/fuzz@0.1.0#run", self.run()),
        ];
        if self.shape.realloc.is_none() {
            functions.push((types + 2, REALLOC, self.reallocate()));
        }
        functions
    }

    fn write(&self, module: &[u8]) -> Result<Vec<u8>, ComponentizeError> {
        let failed = |error: wasmparser::BinaryReaderError| refused(error.to_string());
        let odd = |error: wasm_encoder::reencode::Error| refused(error.to_string());
        let reencoder = &mut RoundtripReencoder;
        let (mut types, mut functions, mut globals) =
            (TypeSection::new(), FunctionSection::new(), GlobalSection::new());
        let (mut exports, mut code) = (ExportSection::new(), CodeSection::new());
        let mut others: Vec<(u8, std::ops::Range<usize>)> = Vec::new();
        let mut customs = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            let payload = payload.map_err(failed)?;
            match payload {
                Payload::TypeSection(section) => reencoder.parse_type_section(&mut types, section).map_err(odd)?,
                Payload::FunctionSection(section) => {
                    reencoder.parse_function_section(&mut functions, section).map_err(odd)?
                }
                Payload::GlobalSection(section) => {
                    reencoder.parse_global_section(&mut globals, section).map_err(odd)?
                }
                Payload::ExportSection(section) => {
                    reencoder.parse_export_section(&mut exports, section).map_err(odd)?
                }
                Payload::CodeSectionEntry(body) => {
                    code.raw(&module[body.range()]);
                }
                Payload::CodeSectionStart { .. } => {}
                Payload::CustomSection(custom) => customs.push((custom.name().to_owned(), custom.data())),
                other => others.extend(other.as_section()),
            }
        }
        let (i32, start) = (ValType::I32, self.shape.functions.len() as u32);
        types.ty().function([], [i32]);
        types.ty().function([i32; 3], []);
        types.ty().function([i32; 4], [i32]);
        for (number, (ty, name, body)) in self.functions().into_iter().enumerate() {
            functions.function(ty);
            exports.export(name, ExportKind::Func, start + number as u32);
            code.function(&body);
        }
        for _ in 0..2 {
            let ty = GlobalType { val_type: i32, mutable: true, shared: false };
            globals.global(ty, &ConstExpr::i32_const(0));
        }
        let mut written = Module::new();
        let other = |written: &mut Module, ids: &[SectionId]| {
            for id in ids {
                for (_, range) in others.iter().filter(|(found, _)| *found == *id as u8) {
                    written.section(&RawSection { id: *id as u8, data: &module[range.clone()] });
                }
            }
        };
        written.section(&types);
        other(&mut written, &[SectionId::Import]);
        written.section(&functions);
        other(&mut written, &[SectionId::Table, SectionId::Memory, SectionId::Tag]);
        written.section(&globals).section(&exports);
        other(&mut written, &[SectionId::Start, SectionId::Element, SectionId::DataCount]);
        written.section(&code);
        other(&mut written, &[SectionId::Data]);
        for (name, data) in customs {
            written.section(&CustomSection { name: name.into(), data: data.into() });
        }
        Ok(written.finish())
    }

    /// `() -> i32`: the address of a list of one string.
    fn targets(&self) -> Function {
        let mut function = Function::new([(1, ValType::I32)]);
        let mut code = function.instructions();
        code.i32_const(0).i32_const(0).i32_const(8).i32_const(TOLD_BYTES).call(self.realloc).local_set(0);
        // The list, the string, its bytes; argc, argv, the array of arguments, the one there is.
        let pointer = |code: &mut InstructionSink<'_>, at: u64, to: i32| {
            code.local_get(0).local_get(0).i32_const(to).i32_add().i32_store(word(at));
        };
        let number = |code: &mut InstructionSink<'_>, at: u64, number: i32| {
            code.local_get(0).i32_const(number).i32_store(word(at));
        };
        pointer(&mut code, 0, 8);
        number(&mut code, 4, 1);
        pointer(&mut code, 8, 16);
        number(&mut code, 12, TEST_ONE_INPUT.len() as i32);
        for (place, eight) in TEST_ONE_INPUT.as_bytes().chunks(8).enumerate() {
            text(&mut code, 16 + place as u64 * 8, eight);
        }
        if let Some(constructors) = self.constructors {
            code.call(constructors);
        }
        if let Some((initialize, results)) = self.initialize {
            number(&mut code, 40, 1);
            pointer(&mut code, 44, 48);
            pointer(&mut code, 48, 56);
            number(&mut code, 52, 0);
            text(&mut code, 56, b"fuzz");
            for at in [40, 44] {
                code.local_get(0).i32_const(at).i32_add();
            }
            code.call(initialize);
            (0..results).for_each(|_| {
                code.drop();
            });
        }
        code.local_get(0).end();
        function
    }

    /// `(target, address, length)`.
    fn run(&self) -> Function {
        let mut function = Function::new([]);
        let mut code = function.instructions();
        code.local_get(1).local_get(2).call(self.test);
        (0..self.test_results).for_each(|_| {
            code.drop();
        });
        code.end();
        function
    }

    /// `(old, old size, alignment, new size) -> address`, for what is new only: nothing else is asked for.
    fn reallocate(&self) -> Function {
        let (next, end) = (self.shape.globals, self.shape.globals + 1);
        let (alignment, size, address, pages) = (2, 3, 4, 5);
        let mut function = Function::new([(2, ValType::I32)]);
        let mut code = function.instructions();
        code.local_get(0).if_(BlockType::Empty).unreachable().end();
        code.global_get(next).local_get(alignment).i32_add().i32_const(1).i32_sub();
        code.i32_const(0).local_get(alignment).i32_sub().i32_and().local_set(address);
        // Is there room behind it?
        code.global_get(next).i32_eqz();
        code.local_get(address).local_get(size).i32_add().global_get(end).i32_gt_u();
        code.i32_or().if_(BlockType::Empty);
        code.local_get(size).i32_const(16).i32_shr_u().i32_const(AREA_PAGES).i32_add().local_tee(pages);
        code.memory_grow(0).local_tee(address).i32_const(-1).i32_eq().if_(BlockType::Empty).unreachable().end();
        code.local_get(address).i32_const(16).i32_shl().local_tee(address);
        code.local_get(pages).i32_const(16).i32_shl().i32_add().global_set(end).end();
        code.local_get(address).local_get(size).i32_add().global_set(next).local_get(address).end();
        function
    }
}

fn word(offset: u64) -> MemArg {
    MemArg { offset, align: 2, memory_index: 0 }
}

/// Stores up to eight characters, and zeros behind them.
fn text(code: &mut InstructionSink<'_>, at: u64, characters: &[u8]) {
    let mut eight = [0; 8];
    eight[..characters.len()].copy_from_slice(characters);
    code.local_get(0).i64_const(i64::from_le_bytes(eight));
    code.i64_store(MemArg { offset: at, align: 3, memory_index: 0 });
}
