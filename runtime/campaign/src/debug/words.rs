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

/// A frame: function and line, or offset.
pub(super) fn frame(frame: &StackFrame, place: DebugPlace) -> String {
    let (source, function) = (&frame.source, &frame.function);
    match (&source.file, source.line) {
        (Some(file), Some(line)) => {
            let column = source.col.map(|column| format!(":{column}")).unwrap_or_default();
            format!("{function} at {file}:{line}{column}")
        }
        _ => format!("{function} at *{:#x} of {}", place.offset, frame.module),
    }
}

/// The innermost function at a place.
pub(super) fn place(frames: &[StackFrame], place: DebugPlace) -> String {
    frames.first().map_or_else(|| format!("*{:#x}", place.offset), |first| frame(first, place))
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
