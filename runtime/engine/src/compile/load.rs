//! What the user gave, recognised by its content and turned into a component.
//!
//! ```text
//! \0asm, layer 1          component     as it is
//! \0asm, version 1        core module   componentized, WASI preview 1 under names of ours
//! ( or ;;                 text          assembled, then one of the above
//! anything else           one line that says what was found
//! ```
//!
//! Invariant: core modules are validated before they are componentized. A component is validated when it
//! is instrumented, so that a program from the cache is not validated again at each start.
//! Not here: folders with a Cargo.toml (the command line builds them and gives us the file).

use crate::compile::cache::Cache;
use crate::compile::componentize::{self, ComponentizeError};
use crate::compile::preview1_module::Preview1Module;
use std::sync::Arc;
use wasmparser::{Encoding, Parser, Payload};

/// Largest program that is read, in bytes. Larger ones are refused: real programs are far smaller.
pub const PROGRAM_BYTES_MAX: usize = fozzy_instrument::COMPONENT_BYTES_MAX;
/// Characters of a line of the assembler's message. Source that machines write has lines of megabytes; the marker of a place stands in the
/// first 500 columns, or there is no picture.
const LINE_CHARS_MAX: usize = 600;

/// In which form a program was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A component.
    Component,
    /// A core module that was componentized.
    CoreModule,
}

impl SourceKind {
    /// The word in traces and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SourceKind::Component => "component",
            SourceKind::CoreModule => "core-module",
        }
    }
}

/// A program as a component.
#[derive(Clone, Debug)]
pub struct LoadedProgram {
    /// The component, not yet instrumented.
    pub component: Vec<u8>,
    /// In which form it was given.
    pub kind: SourceKind,
}

/// The bytes are not a program that can be run here.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Neither wasm nor its text.
    #[error("expected a WebAssembly component, a core module or their text format, found {found}")]
    NotWasm {
        /// What was found.
        found: String,
    },
    /// The text does not assemble: why, with a picture of the place in the lines below.
    #[error("the text does not assemble: {0}")]
    Text(String),
    /// The wasm does not validate.
    #[error("the {kind} does not validate: {why} (at offset {offset:#x})")]
    Invalid {
        /// `component` or `core module`.
        kind: &'static str,
        /// The validator's words.
        why: String,
        /// Offset in the file.
        offset: usize,
    },
    /// A core module cannot be made into a component.
    #[error(transparent)]
    Componentize(#[from] ComponentizeError),
    /// Larger than [`PROGRAM_BYTES_MAX`].
    #[error("the program has {0} bytes, more than the {PROGRAM_BYTES_MAX} that are read")]
    TooLarge(usize),
}

impl LoadError {
    /// Whether it is a sound core module that has nothing to run: a library of others.
    #[must_use]
    pub fn is_of_library(&self) -> bool {
        matches!(self, LoadError::Componentize(ComponentizeError::NoEntry { .. }))
    }
}

/// Recognises `bytes` by content and returns a component; a module that was componentized before comes from
/// the cache.
///
/// # Errors
/// One line that says what was found, and where.
pub fn load(bytes: &[u8], cache: Option<&Cache>) -> Result<LoadedProgram, LoadError> {
    if bytes.len() > PROGRAM_BYTES_MAX {
        return Err(LoadError::TooLarge(bytes.len()));
    }
    if bytes.starts_with(b"\0asm") {
        return load_binary(bytes, cache);
    }
    if looks_like_text(bytes) {
        let text = std::str::from_utf8(bytes).expect("checked to be UTF-8");
        let binary = wat::parse_str(text).map_err(|error| LoadError::Text(bounded(&error.to_string())))?;
        return load_binary(&binary, cache);
    }
    Err(LoadError::NotWasm { found: describe(bytes) })
}

/// As [`load`], of bytes that others have too: a component is these bytes, and nothing is copied.
///
/// # Errors
/// As of [`load`].
pub fn load_shared(bytes: &Arc<[u8]>, cache: Option<&Cache>) -> Result<(Arc<[u8]>, SourceKind), LoadError> {
    if bytes.len() <= PROGRAM_BYTES_MAX && bytes.starts_with(b"\0asm") && encoding(bytes)? == Encoding::Component {
        return Ok((Arc::clone(bytes), SourceKind::Component));
    }
    let LoadedProgram { component, kind } = load(bytes, cache)?;
    Ok((component.into(), kind))
}

/// What kind of binary it is.
fn encoding(bytes: &[u8]) -> Result<Encoding, LoadError> {
    match Parser::new(0).parse_all(bytes).next() {
        Some(Ok(Payload::Version { encoding, .. })) => Ok(encoding),
        Some(Err(error)) => Err(invalid("file", &error)),
        _ => Err(LoadError::NotWasm { found: "a file that is cut after the wasm magic".to_owned() }),
    }
}

fn load_binary(bytes: &[u8], cache: Option<&Cache>) -> Result<LoadedProgram, LoadError> {
    match encoding(bytes)? {
        Encoding::Component => Ok(LoadedProgram { component: bytes.to_vec(), kind: SourceKind::Component }),
        Encoding::Module => {
            let kept =
                cache.map(|cache| (cache, Cache::component_key(bytes, componentize::COMPONENTIZE_VERSION.as_bytes())));
            if let Some(component) = kept.as_ref().and_then(|(cache, key)| cache.bytes(key)) {
                return Ok(LoadedProgram { component, kind: SourceKind::CoreModule });
            }
            // What is not supported is said by its own name, and not as a feature of wasm that is missing.
            Preview1Module::read(bytes)?;
            fozzy_instrument::validate_module(bytes).map_err(|error| match error {
                fozzy_instrument::Error::Invalid { offset, reason } => {
                    LoadError::Invalid { kind: "core module", why: one_line(&reason), offset }
                }
                error => LoadError::Invalid { kind: "core module", why: error.to_string(), offset: 0 },
            })?;
            let component = componentize::componentize(bytes)?;
            if let Some((cache, key)) = kept {
                cache.keep(&key, &component);
            }
            Ok(LoadedProgram { component, kind: SourceKind::CoreModule })
        }
    }
}

fn invalid(kind: &'static str, error: &wasmparser::BinaryReaderError) -> LoadError {
    LoadError::Invalid { kind, why: one_line(error.message()), offset: error.offset() }
}

/// Text begins, after white space and comments, with a parenthesis.
fn looks_like_text(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let start = text.trim_start_matches('\u{feff}').trim_start();
    start.starts_with("(module")
        || start.starts_with("(component")
        || start.starts_with(";;")
        || start.starts_with("(;")
}

/// Describes bytes that are no program, by their beginning.
fn describe(bytes: &[u8]) -> String {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    let known = if bytes.is_empty() {
        "an empty file"
    } else if starts(b"PK\x03\x04") {
        "a zip file (a recorded trace is replayed with `fozzy replay`)"
    } else if starts(b"\x7fELF") {
        "a native program (build it for wasm32-wasip2)"
    } else if starts(b"MZ") {
        "a Windows program (build it for wasm32-wasip2)"
    } else if starts(b"\x1f\x8b") || starts(b"\x28\xb5\x2f\xfd") {
        "a compressed file (unpack it first)"
    } else if starts(b"#!") {
        "a script"
    } else if starts(b"\0as") {
        "a file that is cut inside the wasm magic"
    } else {
        ""
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_start().starts_with('{') => "JSON".to_owned(),
        Ok(text) => {
            let line: String = text.lines().next().unwrap_or("").chars().take(40).collect();
            format!("text that begins with {line:?}")
        }
        Err(_) => {
            let head: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            format!("bytes that begin with {}", head.join(" "))
        }
    }
}

/// What the assembler says, in a line, and its picture of the place, of which each line is cut.
fn bounded(message: &str) -> String {
    // What it says may have a name of the source in it, with any character.
    let (what, picture) = message.rfind("\n     --> ").map_or((message, ""), |at| message.split_at(at));
    let what = one_line(what);
    let cut = |line: &str| match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    let lines = std::iter::once(what.as_str()).chain(picture.lines().skip(1));
    lines.map(cut).collect::<Vec<_>>().join("\n")
}

/// Messages of validators and compilers span lines; an error of ours is one.
pub(crate) fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        load(bytes, None).expect_err("refused").to_string()
    }

    #[test]
    fn what_is_not_wasm_is_named() {
        assert!(refusal(b"").contains("an empty file"));
        assert!(refusal(b"PK\x03\x04...").contains("fozzy replay"));
        assert!(refusal(b"\x7fELF").contains("native program"));
        assert!(refusal(b"fn main() {}\n").contains("fn main()"));
        assert!(refusal(b"{\"version\":1}").contains("JSON"));
        assert!(refusal(&[0xff, 0xfe, 0]).contains("ff fe 00"));
        assert!(refusal(b"\0asm").contains("not validate") || refusal(b"\0asm").contains("cut"));
    }

    #[test]
    fn a_component_that_others_have_too_is_not_copied() {
        let component: Arc<[u8]> = wat::parse_str("(component)").expect("text").into();
        let (loaded, kind) = load_shared(&component, None).expect("a component");
        assert!(Arc::ptr_eq(&loaded, &component) && kind == SourceKind::Component);
        let module: Arc<[u8]> =
            wat::parse_str(r#"(module (memory (export "memory") 1) (func (export "_start")))"#).expect("text").into();
        let (loaded, kind) = load_shared(&module, None).expect("a module");
        assert_eq!((&*loaded, kind), (&*load(&module, None).expect("a module").component, SourceKind::CoreModule));
        for wrong in [&b""[..], b"\0asm", b"\0asm\x01"] {
            let message = load_shared(&Arc::from(wrong), None).expect_err("refused").to_string();
            assert_eq!(message, refusal(wrong));
        }
    }

    #[test]
    fn text_is_assembled_and_its_errors_show_the_place() {
        assert_eq!(load(b"(component)", None).expect("empty component").kind, SourceKind::Component);
        assert!(refusal(b"(component (core module $m (func (result i32))").contains("does not assemble"));
        let message = refusal(b"(module\n\t(func (export 1)))\n");
        let lines: Vec<&str> = message.lines().collect();
        assert!(lines[0].contains("does not assemble") && lines[1].trim_start().starts_with("-->"), "{message}");
        assert!(lines.len() == 5 && lines[3].contains("(func (export 1))") && lines[4].ends_with(" ^"), "{message}");
        let long = "x".repeat(100_000);
        let message = refusal(format!("(module (func (export 1))) ;; {long}").as_bytes());
        assert!(message.len() < 2_000 && message.lines().count() == 5 && message.ends_with(" ^"), "{message}");
        let message = refusal(format!("(module (func call ${long}))").as_bytes());
        assert!(message.len() < 2_000 && message.contains("…") && message.ends_with(" ^"), "{message}");
        let message = refusal(b"(module (func (result i32)))");
        assert!(message.contains("does not validate") && message.contains("offset"), "{message}");
    }
}
