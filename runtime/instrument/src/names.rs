//! The name section, read with patience and written with a name that leads back here.
//!
//! Names are for people: the format lets engines ignore a malformed name section, so that nothing in
//! here is an error. What cannot be read is left out.
//!
//! Invariant: function indices do not change in a rewrite, so that the names of functions, types, globals
//! and the like are copied as they stand. Names of labels are dropped, since labels are put in.

use crate::map::ModuleOrdinal;
use wasm_encoder::Section;
use wasmparser::{BinaryReader, ComponentName, ComponentNameSectionReader, Name, NameSectionReader};

/// Subsections of the name section that are not copied.
const MODULE_NAME: u8 = 0;
const LABEL_NAMES: u8 = 3;

/// Longest function name that is handed out, in bytes. Longer ones, which only generated or hostile
/// programs have, are cut.
const FUNCTION_NAME_BYTES_MAX: usize = 4096;

/// Appends a name section to `module` that names it after its ordinal and otherwise says what
/// `original`, the contents of the original section, says.
pub(crate) fn write_section(ordinal: ModuleOrdinal, original: Option<&[u8]>, module: &mut Vec<u8>) {
    let mut names = wasm_encoder::NameSection::new();
    names.module(&ordinal.to_string());
    if let Some(original) = original {
        let mut reader = BinaryReader::new(original, 0);
        while let Ok((id, contents)) = read_subsection(&mut reader) {
            if id != MODULE_NAME && id != LABEL_NAMES {
                names.raw(id, contents);
            }
        }
    }
    names.append_to(module);
}

/// Reads the next subsection; fails at the end as well as in the middle of nonsense.
fn read_subsection<'a>(reader: &mut BinaryReader<'a>) -> wasmparser::Result<(u8, &'a [u8])> {
    let id = reader.read_u8()?;
    let size = reader.read_var_u32()? as usize;
    Ok((id, reader.read_bytes(size)?))
}

/// The module's own name.
pub(crate) fn module_name(section: &[u8]) -> Option<String> {
    NameSectionReader::new(BinaryReader::new(section, 0)).map_while(Result::ok).find_map(|name| match name {
        Name::Module { name, .. } => Some(name.to_owned()),
        _ => None,
    })
}

/// The core modules that a component's own name section names, by index.
pub(crate) fn component_modules(section: &[u8]) -> impl Iterator<Item = (u32, &str)> {
    let names = ComponentNameSectionReader::new(BinaryReader::new(section, 0)).map_while(Result::ok);
    let maps = names.filter_map(|name| match name {
        ComponentName::CoreModules(map) => Some(map.into_iter().map_while(Result::ok)),
        _ => None,
    });
    maps.flatten().map(|naming| (naming.index, naming.name))
}

/// All functions that have a name, as the section gives it.
pub(crate) fn functions(section: &[u8]) -> impl Iterator<Item = (u32, &str)> {
    let names = NameSectionReader::new(BinaryReader::new(section, 0)).map_while(Result::ok);
    let maps = names.filter_map(|name| match name {
        Name::Function(map) => Some(map.into_iter().map_while(Result::ok)),
        _ => None,
    });
    maps.flatten().map(|naming| (naming.index, naming.name))
}

/// Turns the symbol of a Rust function into the path that its author wrote, without the hash, which
/// changes with every build, and that of a C++ function into its declaration. Other names stay as they are.
pub(crate) fn readable(symbol: &str) -> String {
    let demangled = match rustc_demangle::try_demangle(symbol) {
        Ok(path) => format!("{path:#}"),
        // The linker writes Rust's old symbols already demangled into the name section, but keeps
        // the hash as a last path segment.
        Err(_) => cplusplus(symbol).unwrap_or_else(|| without_hash(symbol).to_owned()),
    };
    let mut end = demangled.len().min(FUNCTION_NAME_BYTES_MAX);
    while !demangled.is_char_boundary(end) {
        end -= 1;
    }
    demangled[..end].to_owned()
}

/// `parser::next(char)` of the symbol of a C++ function.
fn cplusplus(symbol: &str) -> Option<String> {
    /// Nesting of a symbol that is looked into; deeper ones stay as they are.
    const NESTING_MAX: u32 = 64;
    if !symbol.starts_with("_Z") {
        return None;
    }
    let options = cpp_demangle::ParseOptions::default().recursion_limit(NESTING_MAX);
    let parsed = cpp_demangle::Symbol::new_with_options(symbol, &options).ok()?;
    let shown = cpp_demangle::DemangleOptions::default().recursion_limit(NESTING_MAX);
    parsed.demangle_with_options(&shown).ok()
}

/// `core::fmt::write` of `core::fmt::write::h0123456789abcdef`.
fn without_hash(path: &str) -> &str {
    /// Digits of the hash.
    const HASH_DIGITS: usize = 16;
    match path.rsplit_once("::h") {
        Some((front, hash)) if hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            front
        }
        _ => path,
    }
}
