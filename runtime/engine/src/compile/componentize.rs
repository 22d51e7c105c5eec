//! wasip1 core modules become components: their imports under names of ours, and nothing in between.
//!
//! ```text
//! core module ─ preview1_module: imports renamed ─▶ declared (untyped_imports) ─▶ ComponentEncoder ─▶ component
//!             ─ LLVMFuzzerTestOneInput? libfuzzer_module adds fozzy:scenario/fuzz
//! ```
//!
//! A command has a second module of one function, which calls `_start`.
//!
//! Invariant: no code runs between the module and the host, and nothing but the module's own data is in its memory.
//! Not here: what is added to fuzz targets (`libfuzzer_module`).

use crate::compile::libfuzzer_module;
use crate::compile::load::one_line;
use crate::compile::preview1_module::{PREVIEW1, Preview1Module, RUN_MODULE, UNSTABLE, run_module};
use crate::compile::untyped_imports::UntypedInterfaces;
use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

/// Version of the encoder and of what is put in, for keys of componentized modules.
pub(crate) const COMPONENTIZE_VERSION: &str = "preview1 3, encoder 0.254.2, contract 0.1.0, fuzz 1";

/// Why a core module cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ComponentizeError {
    /// It imports what is not offered.
    #[error(
        "the core module imports {imports}, which nothing here offers (known: {PREVIEW1}, {UNSTABLE}, and interfaces of a component)"
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
    /// It needs what the sandbox has not, or asks for something in a way that is not that of WASI.
    #[error("{0}")]
    Unsupported(String),
    /// The encoder refused it.
    #[error("the core module cannot be made into a component: {0}")]
    Encoder(String),
}

/// Turns a validated core module into a component.
pub(crate) fn componentize(module: &[u8]) -> Result<Vec<u8>, ComponentizeError> {
    let preview1 = Preview1Module::read(module)?;
    let shape = CoreModuleShape::read(module)?;
    let mut module = preview1.renamed(module)?;
    let undeclared = UntypedInterfaces::of(&module);
    if !undeclared.is_empty() {
        undeclared.declare(&mut module).map_err(ComponentizeError::Encoder)?;
    }
    let module = if shape.is_fuzz { libfuzzer_module::with_interface(&module)? } else { module };
    let is_command = shape.is_command && !shape.is_fuzz;
    ComponentEncoder::default()
        .validate(false)
        .module(&module)
        .and_then(|encoder| if is_command { encoder.adapter(RUN_MODULE, &run_module()) } else { Ok(encoder) })
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| ComponentizeError::Encoder(one_line(&format!("{error:#}"))))
}

/// The properties of a module that decide how it is componentized.
struct CoreModuleShape {
    is_command: bool,
    is_fuzz: bool,
}

impl CoreModuleShape {
    fn read(module: &[u8]) -> Result<CoreModuleShape, ComponentizeError> {
        let (mut unknown, mut exports, mut has_metadata) = (Vec::new(), Vec::new(), false);
        for payload in Parser::new(0).parse_all(module) {
            let payload = payload.map_err(|error| ComponentizeError::Encoder(error.to_string()))?;
            match payload {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports().flatten() {
                        let interface = import.module.contains(':') || import.module.starts_with("cm32p2");
                        let is_wasi = [PREVIEW1, UNSTABLE].contains(&import.module);
                        if !is_wasi && !interface && import.module != "__main_module__" {
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
        Ok(CoreModuleShape { is_command: has("_start"), is_fuzz })
    }
}
