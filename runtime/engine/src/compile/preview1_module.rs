//! Core modules of WASI preview 1 as modules of a component: their imports get names of ours, and `_start` an interface.
//!
//! ```text
//! import wasi_snapshot_preview1.fd_write ─▶ import fozzy:preview1/snapshot@0.1.0 fd-write    the same core type
//! import wasi_unstable.fd_seek           ─▶ import fozzy:preview1/unstable@0.1.0 fd-seek     where it differs
//! export _start                          ◀─ a module of one function beside it, which is wasi:cli/run@0.2.12
//! ```
//!
//! Lowered functions of numbers alone need neither shim nor adapter, so the module is instantiated as it is, and nothing of ours is in
//! its memory.
//!
//! Invariant: nothing but the names of imports is changed in the module. Not here: answering the calls (`fozzy-host`), the declaration
//! (`untyped_imports`).

use crate::compile::componentize::ComponentizeError;
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{
    CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection, Module, NameMap,
    NameSection, RawSection, TypeSection, ValType,
};
use wasmparser::{
    CompositeInnerType, ExternalKind, FuncType, Import, MemoryType, Parser, Payload, TypeRef, ValType as Parsed,
};
use wit_component::StringEncoding;
use wit_parser::{Resolve, UnresolvedPackageGroup};

/// The names of the two versions that there were.
pub(crate) const PREVIEW1: &str = "wasi_snapshot_preview1";
pub(crate) const UNSTABLE: &str = "wasi_unstable";
/// What their functions are imported as.
const SNAPSHOT_INTERFACE: &str = "fozzy:preview1/snapshot@0.1.0";
const UNSTABLE_INTERFACE: &str = "fozzy:preview1/unstable@0.1.0";
/// How the names of both begin.
const INTERFACES: &str = "fozzy:preview1/";
/// What opens a socket there.
const SOCK_OPEN: &str = "sock-open";
/// What a command exports.
const RUN: &str = "wasi:cli/run@0.2.12#run";
const RUN_WIT: &str = "
    package fozzy:run;
    world command { export wasi:cli/run@0.2.12; }
    package wasi:cli@0.2.12 { interface run { run: func() -> result; } }";

/// The functions with their parameters: `i` is `i32`, `I` is `i64`. All answer with an `i32`, but `proc_exit`.
const FUNCTIONS: &[(&str, &str)] = &[
    ("args_get", "ii"),
    ("args_sizes_get", "ii"),
    ("environ_get", "ii"),
    ("environ_sizes_get", "ii"),
    ("clock_res_get", "ii"),
    ("clock_time_get", "iIi"),
    ("fd_advise", "iIIi"),
    ("fd_allocate", "iII"),
    ("fd_close", "i"),
    ("fd_datasync", "i"),
    ("fd_fdstat_get", "ii"),
    ("fd_fdstat_set_flags", "ii"),
    ("fd_fdstat_set_rights", "iII"),
    ("fd_filestat_get", "ii"),
    ("fd_filestat_set_size", "iI"),
    ("fd_filestat_set_times", "iIIi"),
    ("fd_pread", "iiiIi"),
    ("fd_prestat_get", "ii"),
    ("fd_prestat_dir_name", "iii"),
    ("fd_pwrite", "iiiIi"),
    ("fd_read", "iiii"),
    ("fd_readdir", "iiiIi"),
    ("fd_renumber", "ii"),
    ("fd_seek", "iIii"),
    ("fd_sync", "i"),
    ("fd_tell", "ii"),
    ("fd_write", "iiii"),
    ("path_create_directory", "iii"),
    ("path_filestat_get", "iiiii"),
    ("path_filestat_set_times", "iiiiIIi"),
    ("path_link", "iiiiiii"),
    ("path_open", "iiiiiIIii"),
    ("path_readlink", "iiiiii"),
    ("path_remove_directory", "iii"),
    ("path_rename", "iiiiii"),
    ("path_symlink", "iiiii"),
    ("path_unlink_file", "iii"),
    ("poll_oneoff", "iiii"),
    ("proc_exit", "i"),
    ("proc_raise", "i"),
    ("random_get", "ii"),
    ("sched_yield", ""),
    ("sock_accept", "iii"),
    ("sock_recv", "iiiiii"),
    ("sock_send", "iiiii"),
    ("sock_shutdown", "ii"),
];

/// The functions of the sockets extension of WasmEdge, by which sockets are opened: the name in the module, the parameters, and the name
/// here. In its first version some have other parameters under the same names; names in `_v2` are those of the second one. A module is
/// told apart by the types of its imports.
const SOCKETS: &[(&str, &str, &str)] = &[
    ("sock_open", "iii", "sock-open"),
    ("sock_open_v2", "iii", "sock-open"),
    ("sock_bind", "iii", "sock-bind"),
    ("sock_bind_v2", "iii", "sock-bind"),
    ("sock_listen", "ii", "sock-listen"),
    ("sock_listen_v2", "ii", "sock-listen"),
    ("sock_accept", "ii", "sock-accept-v1"),
    ("sock_accept_v2", "iii", "sock-accept"),
    ("sock_connect", "iii", "sock-connect"),
    ("sock_connect_v2", "iii", "sock-connect"),
    ("sock_recv_v2", "iiiiii", "sock-recv"),
    ("sock_recv_from", "iiiiiiii", "sock-recv-from"),
    ("sock_recv_from", "iiiiiii", "sock-recv-from-v1"),
    ("sock_recv_from_v2", "iiiiiiii", "sock-recv-from"),
    ("sock_send_v2", "iiiii", "sock-send"),
    ("sock_send_to", "iiiiiii", "sock-send-to"),
    ("sock_send_to_v2", "iiiiiii", "sock-send-to"),
    ("sock_getsockopt", "iiiii", "sock-getsockopt"),
    ("sock_setsockopt", "iiiii", "sock-setsockopt"),
    ("sock_getlocaladdr", "iii", "sock-getlocaladdr"),
    ("sock_getlocaladdr", "iiii", "sock-getlocaladdr-v1"),
    ("sock_getlocaladdr_v2", "iii", "sock-getlocaladdr"),
    ("sock_getpeeraddr", "iii", "sock-getpeeraddr"),
    ("sock_getpeeraddr", "iiii", "sock-getpeeraddr-v1"),
    ("sock_getpeeraddr_v2", "iii", "sock-getpeeraddr"),
    ("sock_getaddrinfo", "iiiiiiii", "sock-getaddrinfo"),
];

/// Functions whose answers lie otherwise in `wasi_unstable`.
const DIFFERING: &[&str] = &["fd_fdstat_get", "fd_filestat_get", "fd_seek", "path_filestat_get", "poll_oneoff"];

/// Functions that reach no memory.
const WITHOUT_MEMORY: &[&str] = &[
    "fd_advise",
    "fd_allocate",
    "fd_close",
    "fd_datasync",
    "fd_fdstat_set_flags",
    "fd_fdstat_set_rights",
    "fd_filestat_set_size",
    "fd_filestat_set_times",
    "fd_renumber",
    "fd_sync",
    "proc_exit",
    "proc_raise",
    "sched_yield",
    "sock_listen",
    "sock_listen_v2",
    "sock_shutdown",
];

/// The parts of a module that decide what becomes of it.
#[derive(Default)]
pub(crate) struct Preview1Module {
    types: Vec<Option<FuncType>>,
    /// The names here of the functions that it imports, in their order.
    functions: Vec<String>,
    needs_memory: bool,
    has_memory: bool,
}

fn refused(why: impl Into<String>) -> ComponentizeError {
    ComponentizeError::Unsupported(why.into())
}

impl Preview1Module {
    /// Reads a module, and refuses what it asks for in vain.
    pub(crate) fn read(module: &[u8]) -> Result<Preview1Module, ComponentizeError> {
        let mut found = Preview1Module::default();
        // What does not parse is the validator's to refuse.
        for payload in Parser::new(0).parse_all(module).map_while(Result::ok) {
            match payload {
                Payload::TypeSection(section) => {
                    for group in section.into_iter().flatten() {
                        found.types.extend(group.into_types().map(|ty| match ty.composite_type.inner {
                            CompositeInnerType::Func(ty) => Some(ty),
                            _ => None,
                        }));
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports().flatten() {
                        found.import(&import)?;
                    }
                }
                Payload::MemorySection(section) => section.into_iter().flatten().try_for_each(|ty| memory(&ty))?,
                Payload::ExportSection(section) => {
                    for export in section.into_iter().flatten() {
                        found.has_memory |= (export.name, export.kind) == ("memory", ExternalKind::Memory);
                    }
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn import(&mut self, import: &Import<'_>) -> Result<(), ComponentizeError> {
        if let TypeRef::Memory(ty) = import.ty {
            memory(&ty)?;
        }
        if (import.module, import.name) == ("wasi", "thread-spawn") {
            return Err(refused(
                "the core module imports `wasi.thread-spawn`: threads are not supported yet; build it for wasm32-wasip1 or \
                 wasm32-wasip2 instead of wasm32-wasip1-threads",
            ));
        }
        if import.module != PREVIEW1 && import.module != UNSTABLE {
            return Ok(());
        }
        let full = format!("`{}.{}`", import.module, import.name);
        let known = functions(import.module, import.name);
        if known.is_empty() {
            return Err(refused(format!("the core module imports {full}, which is no function of WASI preview 1")));
        }
        let no_function = || refused(format!("the core module imports {full} as something else than a function"));
        let (TypeRef::Func(index) | TypeRef::FuncExact(index)) = import.ty else { return Err(no_function()) };
        let ty = self.types.get(index as usize).and_then(Option::as_ref).ok_or_else(no_function)?;
        match known.iter().find(|(expected, _)| expected == ty) {
            Some((_, function)) => self.functions.push(function.clone()),
            None => {
                let expected: Vec<String> = known.iter().map(|(expected, _)| expected.to_string()).collect();
                return Err(refused(format!(
                    "the core module imports {full} with the type {ty}; it is {}",
                    expected.join(" or ")
                )));
            }
        }
        self.needs_memory |= !WITHOUT_MEMORY.contains(&import.name);
        Ok(())
    }

    /// The validated module with names of ours.
    pub(crate) fn renamed(&self, module: &[u8]) -> Result<Vec<u8>, ComponentizeError> {
        if self.needs_memory && !self.has_memory {
            return Err(refused(
                "the core module exports no memory named `memory`, in which WASI would find its arguments (wasm-ld exports it \
                 unless told otherwise)",
            ));
        }
        if self.functions.is_empty() { Ok(module.to_vec()) } else { renamed(module, &self.functions) }
    }
}

/// The name of [`run_module`] among the modules of a component: it is no code of the program.
pub(crate) const RUN_MODULE: &str = "fozzy-run";

/// A module that is run as a command, and calls `_start` of the main one.
pub(crate) fn run_module() -> Vec<u8> {
    let (mut types, mut imports, mut functions) = (TypeSection::new(), ImportSection::new(), FunctionSection::new());
    types.ty().function([], []);
    types.ty().function([], [ValType::I32]);
    imports.import("__main_module__", "_start", EntityType::Function(0));
    functions.function(1);
    let mut exports = ExportSection::new();
    exports.export(RUN, ExportKind::Func, 1);
    let mut run = Function::new([]);
    run.instructions().call(0).i32_const(0).end();
    let mut code = CodeSection::new();
    code.function(&run);
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
    // By its name, stacks tell it from the program's own functions.
    let (mut names, mut function_names) = (NameSection::new(), NameMap::new());
    function_names.append(1, RUN);
    names.functions(&function_names);
    module.section(&names);
    let mut bytes = module.finish();
    let mut resolve = Resolve::default();
    let group = UnresolvedPackageGroup::parse("run.wit", RUN_WIT).expect("a constant that tests parse");
    let package = resolve.push_group(group).expect("a constant that tests parse");
    let world = resolve.select_world(&[package], None).expect("it has one world");
    wit_component::embed_component_metadata(&mut bytes, &resolve, world, StringEncoding::UTF8)
        .expect("a constant that tests embed");
    bytes
}

/// Refuses a memory that the sandbox has not.
fn memory(ty: &MemoryType) -> Result<(), ComponentizeError> {
    if ty.shared {
        return Err(refused(
            "the core module has a shared memory: threads are not supported yet; build it for wasm32-wasip1 or wasm32-wasip2 \
             instead of wasm32-wasip1-threads",
        ));
    }
    if ty.memory64 {
        return Err(refused(
            "the core module has a memory of 64-bit addresses, and WASI is of 32-bit ones; build it for a wasm32 target",
        ));
    }
    Ok(())
}

/// The types that a function of that name may have, each with the name here; none of a name that is not known.
fn functions(module: &str, name: &str) -> Vec<(FuncType, String)> {
    let of_wasi = FUNCTIONS.iter().filter(|(known, _)| *known == name);
    let of_wasi = of_wasi.filter(|(known, _)| module == PREVIEW1 || *known != "sock_accept");
    let sockets = SOCKETS.iter().filter(|(known, ..)| module == PREVIEW1 && *known == name);
    let of_wasi = of_wasi.map(|(known, parameters)| (signature(known, parameters), known.replace('_', "-")));
    let sockets = sockets.map(|(known, parameters, function)| (signature(known, parameters), (*function).to_owned()));
    of_wasi.chain(sockets).collect()
}

fn signature(name: &str, parameters: &str) -> FuncType {
    let of = |letter| if letter == 'I' { Parsed::I64 } else { Parsed::I32 };
    let results: &[Parsed] = if name == "proc_exit" { &[] } else { &[Parsed::I32] };
    FuncType::new(parameters.chars().map(of), results.iter().copied())
}

/// The same module, its imports under names of ours: `functions`, in their order.
fn renamed(module: &[u8], functions: &[String]) -> Result<Vec<u8>, ComponentizeError> {
    let mut renamed = Module::new();
    let mut functions = functions.iter();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload.map_err(|error| refused(error.to_string()))?;
        match &payload {
            Payload::ImportSection(imports) => {
                let mut section = ImportSection::new();
                for import in imports.clone().into_imports() {
                    let import = import.map_err(|error| refused(error.to_string()))?;
                    let ty = RoundtripReencoder.entity_type(import.ty).map_err(|error| refused(error.to_string()))?;
                    match import.module {
                        module @ (PREVIEW1 | UNSTABLE) => {
                            let function = functions.next().expect("the same imports were read before");
                            let is_differing = module == UNSTABLE && DIFFERING.contains(&import.name);
                            let interface = if is_differing { UNSTABLE_INTERFACE } else { SNAPSHOT_INTERFACE };
                            section.import(interface, function, ty)
                        }
                        other => section.import(other, import.name, ty),
                    };
                }
                renamed.section(&section);
            }
            other => {
                if let Some((id, range)) = other.as_section() {
                    renamed.section(&RawSection { id, data: &module[range] });
                }
            }
        }
    }
    Ok(renamed.finish())
}

/// Whether a component was made of a module of WASI preview 1, or of what came before.
#[must_use]
pub fn is_preview1(component: &[u8]) -> bool {
    memory_place(component).is_some()
}

/// Whether a component was made of a module of WASI preview 1 that opens sockets.
#[must_use]
pub fn opens_preview1_sockets(component: &[u8]) -> bool {
    Parser::new(0).parse_all(component).any(|payload| match payload {
        Ok(Payload::ImportSection(section)) => {
            let mut imports = section.into_imports().flatten();
            imports.any(|import| import.module.starts_with(INTERFACES) && import.name == SOCK_OPEN)
        }
        _ => false,
    })
}

/// Which of the memories of an instance functions of preview 1 reach: that which the first core module exports that imports them.
/// Other core modules of such a component, which the encoder makes, have no memories.
pub(crate) fn memory_place(component: &[u8]) -> Option<u32> {
    let (mut depth, mut imports, mut imported_memories) = (0_u32, false, 0);
    for payload in Parser::new(0).parse_all(component) {
        match payload.ok()? {
            Payload::ModuleSection { .. } => (depth, imports, imported_memories) = (depth + 1, false, 0),
            Payload::ComponentSection { .. } => depth += 1,
            Payload::ImportSection(section) => {
                for import in section.into_imports().flatten() {
                    imports |= import.module.starts_with(INTERFACES);
                    imported_memories += u32::from(matches!(import.ty, TypeRef::Memory(_)));
                }
            }
            Payload::ExportSection(section) if imports => {
                let memory = section
                    .into_iter()
                    .flatten()
                    .find(|export| export.name == "memory" && export.kind == ExternalKind::Memory);
                return memory?.index.checked_sub(imported_memories);
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::load::load;

    fn refusal(text: &str) -> String {
        load(text.as_bytes(), None).expect_err("refused").to_string()
    }

    #[test]
    fn what_is_not_supported_is_said_by_name() {
        let imports =
            |import: &str| format!("(module {import} (memory (export \"memory\") 1) (func (export \"_start\")))");
        let function =
            |name: &str, ty: &str| imports(&format!("(import \"wasi_snapshot_preview1\" \"{name}\" (func {ty}))"));
        for (text, words) in [
            (function("proc_exit", "(param i64)"), "`wasi_snapshot_preview1.proc_exit` with the type"),
            (function("robot", ""), "`wasi_snapshot_preview1.robot`, which is no function of WASI preview 1"),
            (
                imports("(import \"wasi\" \"thread-spawn\" (func (param i32) (result i32)))"),
                "threads are not supported",
            ),
            (
                imports("(import \"wasi_unstable\" \"sock_accept\" (func (param i32 i32 i32) (result i32)))"),
                "sock_accept",
            ),
            (
                imports("(import \"wasi_unstable\" \"sock_open\" (func (param i32 i32 i32) (result i32)))"),
                "`wasi_unstable.sock_open`, which is no function",
            ),
            (function("sock_accept", "(param i32) (result i32)"), "`wasi_snapshot_preview1.sock_accept` with the type"),
            (imports("(import \"wasi_snapshot_preview1\" \"fd_read\" (global i32))"), "something else than a function"),
            ("(module (memory (export \"memory\") 1 2 shared) (func (export \"_start\")))".to_owned(), "shared memory"),
            ("(module (memory (export \"memory\") i64 1) (func (export \"_start\")))".to_owned(), "64-bit addresses"),
            (
                "(module (import \"wasi_snapshot_preview1\" \"random_get\" (func (param i32 i32) (result i32)))
                 (memory 1) (func (export \"_start\")))"
                    .to_owned(),
                "exports no memory named `memory`",
            ),
        ] {
            let said = refusal(&text);
            assert!(said.contains(words), "{said}\n  expected {words}");
        }
    }

    #[test]
    fn functions_of_the_same_name_are_told_apart_by_their_types() {
        let text = "(module
            (import \"wasi_snapshot_preview1\" \"sock_accept\" (func (param i32 i32) (result i32)))
            (import \"wasi_snapshot_preview1\" \"sock_accept\" (func (param i32 i32 i32) (result i32)))
            (import \"wasi_snapshot_preview1\" \"sock_getpeeraddr\" (func (param i32 i32 i32 i32) (result i32)))
            (import \"wasi_snapshot_preview1\" \"sock_bind_v2\" (func (param i32 i32 i32) (result i32)))
            (memory (export \"memory\") 1) (func (export \"_start\")))";
        let module = wat::parse_str(text).expect("text");
        let found = Preview1Module::read(&module).expect("known functions");
        assert_eq!(found.functions, ["sock-accept-v1", "sock-accept", "sock-getpeeraddr-v1", "sock-bind"]);
        let component = load(text.as_bytes(), None).expect("a command").component;
        assert!(is_preview1(&component) && !opens_preview1_sockets(&component));
        let opens = text.replace("sock_bind_v2", "sock_open");
        assert!(opens_preview1_sockets(&load(opens.as_bytes(), None).expect("a command").component));
    }

    #[test]
    fn each_function_of_the_extension_is_declared() {
        let declared = include_str!("../../wit/deps/fozzy-preview1.wit");
        for (_, parameters, function) in SOCKETS {
            let line = declared.lines().find_map(|line| line.trim().strip_prefix(&format!("{function}: func(")));
            let line = line.unwrap_or_else(|| panic!("{function} is not declared"));
            assert_eq!(line.matches(": u32").count(), parameters.len(), "{function}");
        }
    }

    #[test]
    fn the_component_has_the_module_alone_and_its_memory_is_found() {
        let text = "(module
            (import \"wasi_snapshot_preview1\" \"fd_write\" (func (param i32 i32 i32 i32) (result i32)))
            (import \"wasi_unstable\" \"fd_seek\" (func (param i32 i64 i32 i32) (result i32)))
            (memory 1) (memory (export \"memory\") 1) (func (export \"_start\")))";
        let component = load(text.as_bytes(), None).expect("a command").component;
        let modules = Parser::new(0).parse_all(&component).flatten();
        // The module, and the one of one function that runs it.
        assert_eq!(modules.filter(|payload| matches!(payload, Payload::ModuleSection { .. })).count(), 2);
        assert_eq!(memory_place(&component), Some(1));
        assert_eq!(memory_place(&wat::parse_str("(component)").expect("text")), None);
        // A program that asks for nothing in memory needs none.
        load(b"(module (import \"wasi_snapshot_preview1\" \"sched_yield\" (func (result i32))) (func (export \"_start\")))", None)
            .expect("a command");
    }
}
