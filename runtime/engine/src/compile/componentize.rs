//! wasip1 core modules become components, with the adapter that the wasmtime project publishes.
//!
//! ```text
//! core module ─ proc_exit renamed ─▶ ComponentEncoder + adapter ─▶ component
//!             ─ LLVMFuzzerTestOneInput? fuzz_module adds fozzy:scenario/fuzz
//! ```
//!
//! The adapter turns every `proc_exit(n)` into `exit(err)`, which keeps only that n was not zero. So
//! that exit codes survive, the import of `proc_exit` is first renamed to WASI 0.2.12's own
//! `wasi:cli/exit.exit-with-code`, which has the same core signature.
//!
//! Invariant: nothing but the names of imports is changed in the module.
//! Not here: what is added to fuzz targets (`libfuzzer_module`).

use crate::compile::libfuzzer_module;
use crate::compile::load::one_line;
use crate::compile::untyped_imports::UntypedInterfaces;
use wasi_preview1_component_adapter_provider as adapter;
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{CustomSection, ImportSection, Module, RawSection};
use wasmparser::{Parser, Payload};
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::{Resolve, UnresolvedPackageGroup};

const PREVIEW1: &str = adapter::WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME;
/// Version of the adapter and of the encoder, for keys of componentized modules.
pub(crate) const ADAPTER_VERSION: &str = "adapter 48.0.8, encoder 0.254.2, contract 0.1.0, fuzz 1";
const PROC_EXIT: &str = "proc_exit";
const EXIT_INTERFACE: &str = "wasi:cli/exit@0.2.12";
const EXIT_WITH_CODE: &str = "exit-with-code";

/// The world of a module whose `proc_exit` was renamed.
const EXIT_WIT: &str = "
    package fozzy:exit;
    world exit { import wasi:cli/exit@0.2.12; }
    package wasi:cli@0.2.12 {
        interface exit { exit: func(status: result); exit-with-code: func(status-code: u8); }
    }";

/// Why a core module cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ComponentizeError {
    /// It imports what no adapter offers.
    #[error(
        "the core module imports {imports}, which nothing here offers (known: {PREVIEW1}, and interfaces of a component)"
    )]
    UnknownImports {
        /// `module.name`, comma-separated.
        imports: String,
    },
    /// It has no entry point.
    #[error(
        "the core module has no entry point: expected an export `_start` (command), `_initialize` (reactor) or `LLVMFuzzerTestOneInput` (fuzz target), found {found}"
    )]
    NoEntry {
        /// Its exports.
        found: String,
    },
    /// The encoder refused it.
    #[error("the core module cannot be made into a component: {0}")]
    Encoder(String),
}

/// Turns a validated core module into a component.
pub(crate) fn componentize(module: &[u8]) -> Result<Vec<u8>, ComponentizeError> {
    let shape = CoreModuleShape::read(module)?;
    let adapter = if shape.is_command && !shape.is_fuzz {
        adapter::WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER
    } else {
        adapter::WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER
    };
    let mut module = if shape.imports_proc_exit { rename_proc_exit(module)? } else { module.to_vec() };
    if !shape.undeclared.is_empty() {
        shape.undeclared.declare(&mut module).map_err(ComponentizeError::Encoder)?;
    }
    let module = if shape.is_fuzz { libfuzzer_module::with_interface(&module)? } else { module };
    ComponentEncoder::default()
        .validate(false)
        .module(&module)
        .and_then(|encoder| encoder.adapter(PREVIEW1, adapter))
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| ComponentizeError::Encoder(one_line(&format!("{error:#}"))))
}

/// The properties of a module that decide how it is componentized.
struct CoreModuleShape {
    is_command: bool,
    is_fuzz: bool,
    imports_proc_exit: bool,
    /// Our interfaces that it uses by name.
    undeclared: UntypedInterfaces,
}

impl CoreModuleShape {
    fn read(module: &[u8]) -> Result<CoreModuleShape, ComponentizeError> {
        let (mut unknown, mut exports, mut imports_proc_exit, mut has_metadata) =
            (Vec::new(), Vec::new(), false, false);
        for payload in Parser::new(0).parse_all(module) {
            let payload = payload.map_err(|error| ComponentizeError::Encoder(error.to_string()))?;
            match payload {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports().flatten() {
                        let interface = import.module.contains(':') || import.module.starts_with("cm32p2");
                        if import.module == PREVIEW1 {
                            imports_proc_exit |= import.name == PROC_EXIT;
                        } else if !interface && import.module != "__main_module__" {
                            unknown.push(format!("`{}.{}`", import.module, import.name));
                        }
                    }
                }
                Payload::ExportSection(section) => {
                    exports.extend(section.into_iter().flatten().map(|export| export.name.to_owned()));
                }
                Payload::CustomSection(section) => has_metadata |= section.name().starts_with("component-type"),
                _ => {}
            }
        }
        unknown.sort();
        unknown.dedup();
        if !unknown.is_empty() {
            let more = unknown.len().saturating_sub(5);
            unknown.truncate(5);
            let mut imports = unknown.join(", ");
            if more > 0 {
                imports.push_str(&format!(" and {more} more"));
            }
            return Err(ComponentizeError::UnknownImports { imports });
        }
        let has = |name: &str| exports.iter().any(|export| export == name);
        let undeclared = UntypedInterfaces::of(module);
        let is_fuzz = libfuzzer_module::is_fuzz_module(module);
        if !has("_start") && !has("_initialize") && !has_metadata && !undeclared.exports_any() && !is_fuzz {
            let found = if exports.is_empty() { "no exports".to_owned() } else { exports.join(", ") };
            return Err(ComponentizeError::NoEntry { found });
        }
        Ok(CoreModuleShape { is_command: has("_start"), is_fuzz, imports_proc_exit, undeclared })
    }
}

/// The same module with `proc_exit` imported as `exit-with-code`, and the metadata that declares it.
fn rename_proc_exit(module: &[u8]) -> Result<Vec<u8>, ComponentizeError> {
    let refused = |what: String| ComponentizeError::Encoder(one_line(&what));
    let mut renamed = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload.map_err(|error| refused(error.to_string()))?;
        match &payload {
            Payload::ImportSection(imports) => {
                let mut section = ImportSection::new();
                for import in imports.clone().into_imports() {
                    let import = import.map_err(|error| refused(error.to_string()))?;
                    let ty = RoundtripReencoder.entity_type(import.ty).map_err(|error| refused(error.to_string()))?;
                    if (import.module, import.name) == (PREVIEW1, PROC_EXIT) {
                        section.import(EXIT_INTERFACE, EXIT_WITH_CODE, ty);
                    } else {
                        section.import(import.module, import.name, ty);
                    }
                }
                renamed.section(&section);
            }
            Payload::CustomSection(custom) => {
                let data = custom.data().into();
                renamed.section(&CustomSection { name: custom.name().into(), data });
            }
            other => {
                if let Some((id, range)) = other.as_section() {
                    renamed.section(&RawSection { id, data: &module[range] });
                }
            }
        }
    }
    let mut bytes = renamed.finish();
    let mut resolve = Resolve::default();
    let group = UnresolvedPackageGroup::parse("exit.wit", EXIT_WIT).expect("a constant that tests parse");
    let package = resolve.push_group(group).expect("a constant that tests parse");
    let world = resolve.select_world(&[package], None).expect("it has one world");
    wit_component::embed_component_metadata(&mut bytes, &resolve, world, StringEncoding::UTF8)
        .map_err(|error| refused(format!("{error:#}")))?;
    Ok(bytes)
}
