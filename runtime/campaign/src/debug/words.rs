//! Values and places as text.

use crate::error::{CampaignError, ErrorKind};
use fozzy_engine::{DebugPlace, DebugValue};
use fozzy_trace::outcome::StackFrame;
use std::fmt::Write;

/// Bytes of a line of a dump.
const DUMP_BYTES: usize = 16;

/// A number as it is typed: decimal, or hexadecimal behind `0x`; `_` between digits.
pub(super) fn number(text: &str) -> Result<u64, CampaignError> {
    let digits = text.trim().replace('_', "");
    let parsed = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    };
    parsed.ok_or_else(|| CampaignError::new(ErrorKind::Usage, format!("expected a number, found `{}`", text.trim())))
}

/// A frame: function and line, or offset; in a second line where that is, if there is no room behind what is `used`.
pub(super) fn frame(frame: &StackFrame, place: DebugPlace, used: usize) -> String {
    let (source, function) = (&frame.source, shortened(&frame.function, COLUMNS - INDENT));
    let at = match (&source.file, source.line) {
        (Some(file), Some(line)) => {
            let behind = source.col.map_or_else(|| format!(":{line}"), |column| format!(":{line}:{column}"));
            shortened(short_path(file), COLUMNS - INDENT - "at ".len() - behind.len()) + &behind
        }
        _ => format!("*{:#x} of {}", place.offset, frame.module),
    };
    let one = format!("{function} at {at}");
    if used + one.chars().count() <= COLUMNS {
        return one;
    }
    format!("{function}\n{:INDENT$}at {at}", "")
}

/// A text and what belongs behind its last line: in a line of its own, if there is no room.
pub(super) fn joined(text: &str, behind: &str) -> String {
    let last = text.lines().last().unwrap_or_default().chars().count();
    if last + behind.chars().count() <= COLUMNS {
        return format!("{text}{behind}\n");
    }
    format!("{text}\n{:INDENT$}{}\n", "", behind.trim_start_matches([',', ' ']))
}

/// Columns of a terminal.
const COLUMNS: usize = 80;
/// Blanks before a line that goes on.
const INDENT: usize = 4;

/// A path of the toolchain or the registry from where it is the same everywhere.
fn short_path(path: &str) -> &str {
    let toolchain = || path.strip_prefix("/rustc/")?.split_once('/').map(|(_, rest)| rest);
    let sources = || path.split_once("/lib/rustlib/src/rust/").map(|(_, rest)| rest);
    let registry = || path.split_once("/registry/src/")?.1.split_once('/').map(|(_, rest)| rest);
    toolchain().or_else(sources).or_else(registry).unwrap_or(path)
}

/// The end of a text that is too long.
fn shortened(text: &str, most: usize) -> String {
    let letters = text.chars().count();
    if letters <= most {
        return text.to_owned();
    }
    let end: String = text.chars().skip(letters - (most - 1)).collect();
    format!("…{end}")
}

/// The innermost function at a place.
pub(super) fn place(frames: &[StackFrame], place: DebugPlace, used: usize) -> String {
    frames.first().map_or_else(|| format!("*{:#x}", place.offset), |first| frame(first, place, used))
}

/// A value of the program.
pub(super) fn value(value: DebugValue) -> String {
    match value {
        DebugValue::I32(value) if !(0..10).contains(&value) => format!("{value} ({:#x})", value.cast_unsigned()),
        DebugValue::I32(value) => value.to_string(),
        DebugValue::I64(value) if !(0..10).contains(&value) => format!("{value} ({:#x})", value.cast_unsigned()),
        DebugValue::I64(value) => value.to_string(),
        DebugValue::F32(bits) => f32::from_bits(bits).to_string(),
        DebugValue::F64(bits) => f64::from_bits(bits).to_string(),
        DebugValue::V128(bits) => format!("{bits:#034x}"),
        DebugValue::Reference { is_null: true } => "null".to_owned(),
        DebugValue::Reference { is_null: false } => "a reference".to_owned(),
    }
}

/// Bytes with their address, as numbers and characters.
pub(super) fn dump(address: u64, bytes: &[u8]) -> String {
    let mut text = String::new();
    for (start, line) in (address..).step_by(DUMP_BYTES).zip(bytes.chunks(DUMP_BYTES)) {
        let _ = write!(text, "{start:#010x} ");
        for byte in line {
            let _ = write!(text, " {byte:02x}");
        }
        let shown = line.iter().map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { *byte as char } else { '.' });
        let blank = 3 * (DUMP_BYTES - line.len());
        let _ = writeln!(text, "{:blank$}  {}", "", shown.collect::<String>());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::outcome::SourceLocation;

    #[test]
    fn frames_fit_into_eighty_columns() {
        let hash = "59807616e1fa2540724bfbac14d7976d7e4a3860";
        let long = format!("/rustc/{hash}/library/core/src/iter/traits/iterator.rs");
        assert_eq!(short_path(&long), "library/core/src/iter/traits/iterator.rs");
        assert_eq!(short_path("/home/me/.cargo/registry/src/index-1/abc-1.0/src/lib.rs"), "abc-1.0/src/lib.rs");
        assert_eq!(short_path("/home/me/main.rs"), "/home/me/main.rs");
        let place = DebugPlace {
            component: fozzy_trace::Digest::of(b""),
            module: fozzy_instrument::ModuleOrdinal(0),
            offset: 1,
        };
        for (function, file) in
            [("main", "a.rs"), ("<T as Iterator>::next", &long), (&"deep::".repeat(30), &"folder/".repeat(30))]
        {
            let source = SourceLocation { file: Some((*file).to_owned()), line: Some(1234), col: None };
            let shown = StackFrame { module: String::new(), function: (*function).to_owned(), offset: 0, source };
            let text = frame(&shown, place, 6);
            assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
            assert!(text.contains(".rs:1234") || text.ends_with("folder/:1234"), "{text}");
        }
    }
}
