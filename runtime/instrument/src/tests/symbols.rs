//! Source lines from DWARF that is written here by hand, so that no toolchain is needed.

use super::wrap;
use crate::names::readable;
use crate::source::{DebugSymbols, LineInfo};
use crate::{ModuleOrdinal, OriginalOffset};
use wasm_encoder::{CustomSection, Section};
use wasmparser::{Parser, Payload};

/// DWARF 4 for a function `inner` inlined at a.rs:20 into `outer`, both of whose code is
/// the addresses 2 to 6; `inner` is at lines 10 (from 2) and 11 (from 4).
fn dwarf() -> Vec<(&'static str, Vec<u8>)> {
    let abbreviations = vec![
        1, 0x11, 1, 0x10, 0x17, 0x11, 0x01, 0x12, 0x06, 0, 0, // unit: stmt_list, low_pc, high_pc
        2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0, // subprogram: name, low_pc, high_pc
        3, 0x2e, 0, 0x03, 0x08, 0x20, 0x0b, 0, 0, // subprogram: name, inline
        // inlined_subroutine: abstract_origin, low_pc, high_pc, call_file, call_line
        4, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x58, 0x0b, 0x59, 0x0b, 0, 0, 0,
    ];
    let mut unit = vec![4, 0, 0, 0, 0, 0, 4]; // version, abbreviations, address size
    unit.extend([1, 0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0]);
    let inner = u8::try_from(unit.len() + 4).expect("small");
    unit.push(3);
    unit.extend(b"_ZN1a5inner17h0123456789abcdefE\0");
    unit.push(1);
    unit.push(2);
    unit.extend(b"outer\0");
    unit.extend([2, 0, 0, 0, 4, 0, 0, 0]);
    unit.extend([4, inner, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 20, 0, 0]);

    // Instruction length, operations, default_is_stmt, line base, line range, opcode base.
    let mut header = vec![1, 1, 1, 0xfb, 14, 13];
    header.extend([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]); // lengths of the standard opcodes
    header.push(0); // no directories
    header.extend(b"a.rs\0\0\0\0\0");
    let mut lines = vec![4, 0];
    lines.extend(u32::try_from(header.len()).expect("small").to_le_bytes());
    lines.extend(header);
    lines.extend([0, 5, 2, 2, 0, 0, 0]); // address 2
    lines.extend([3, 9, 5, 7, 1]); // line 10, column 7, row
    lines.extend([2, 2, 3, 1, 1]); // address 4, line 11, row
    lines.extend([2, 2, 0, 1, 1]); // address 6, end

    let sized = |contents: Vec<u8>| {
        let mut bytes = u32::try_from(contents.len()).expect("small").to_le_bytes().to_vec();
        bytes.extend(contents);
        bytes
    };
    vec![(".debug_abbrev", abbreviations), (".debug_info", sized(unit)), (".debug_line", sized(lines))]
}

fn module_with(dwarf: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    let text = "(module $m (import \"\" \"\" (func)) (func $named nop nop nop) (func nop))";
    let mut module = wat::parse_str(text).expect("parses");
    for (name, data) in dwarf {
        CustomSection { name: (*name).into(), data: data.into() }.append_to(&mut module);
    }
    module
}

/// The code section's contents in a component.
fn code_start(component: &[u8]) -> u32 {
    let start = Parser::new(0).parse_all(component).find_map(|payload| match payload {
        Ok(Payload::CodeSectionStart { range, .. }) => Some(range.start),
        _ => None,
    });
    u32::try_from(start.expect("there is code")).expect("small")
}

/// The frames of the operator at DWARF address `address`, innermost first. The place of the first one is told without them, too.
fn frames(component: &[u8], address: u32) -> Vec<String> {
    let offset = OriginalOffset(code_start(component) + address);
    let symbols = DebugSymbols::new(component);
    let frames = symbols.frames(ModuleOrdinal(0), offset);
    let first = frames.first().and_then(|frame| Some((frame.file.clone()?, frame.line.filter(|line| *line > 0)?)));
    assert_eq!(symbols.place(ModuleOrdinal(0), offset), first);
    // Nor does it need them to have been asked for.
    assert_eq!(DebugSymbols::new(component).place(ModuleOrdinal(0), offset), first);
    frames.iter().map(ToString::to_string).collect()
}

#[test]
fn inlined_frames_come_first() {
    let component = wrap(&[module_with(&dwarf())]);
    assert_eq!(frames(&component, 3), ["a::inner at a.rs:10:7", "outer at a.rs:20"]);
    assert_eq!(frames(&component, 5), ["a::inner at a.rs:11:7", "outer at a.rs:20"]);
    let inner = OriginalOffset(code_start(&component) + 5);
    assert_eq!(DebugSymbols::new(&component).place(ModuleOrdinal(0), inner), Some(("a.rs".to_owned(), 11)));
    // The second function is not covered.
    assert_eq!(frames(&component, 9), ["wasm-function[2] + 0x1"]);
}

#[test]
fn without_dwarf_the_name_section_answers() {
    let component = wrap(&[module_with(&[])]);
    assert_eq!(frames(&component, 3), ["named + 0x1"]);
    assert_eq!(frames(&component, 9), ["wasm-function[2] + 0x1"]);
    assert_eq!(frames(&component, 0), [""; 0]);
    assert_eq!(frames(&component, 60), [""; 0]);
    assert_eq!(DebugSymbols::new(&component).frames(ModuleOrdinal(7), OriginalOffset(40)), []);
    assert_eq!(DebugSymbols::new(&component).place(ModuleOrdinal(7), OriginalOffset(40)), None);
    assert_eq!(DebugSymbols::new(b"nonsense").frames(ModuleOrdinal(0), OriginalOffset(0)), []);
}

#[test]
fn damaged_dwarf_gives_fewer_lines_and_no_panic() {
    let sound = dwarf();
    for (section, (_, bytes)) in sound.iter().enumerate() {
        for position in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = sound.clone();
                damaged[section].1[position] ^= 1 << bit;
                assert!(!frames(&wrap(&[module_with(&damaged)]), 3).is_empty());
            }
            let mut damaged = sound.clone();
            damaged[section].1.truncate(position);
            assert!(!frames(&wrap(&[module_with(&damaged)]), 3).is_empty());
        }
    }
}

#[test]
fn debug_sections_without_rows_are_told_from_none() {
    let info = |sections: &[(&'static str, Vec<u8>)]| {
        DebugSymbols::new(&wrap(&[module_with(sections)])).line_info(ModuleOrdinal(0))
    };
    assert_eq!(info(&dwarf()), LineInfo::Present);
    assert_eq!(info(&[]), LineInfo::Absent);
    // What is left when a tool moves code and keeps the sections: nothing, something unreadable, units without rows.
    let without_rows: Vec<_> = dwarf()
        .into_iter()
        .map(|(name, bytes)| (name, if name == ".debug_line" { Vec::new() } else { bytes }))
        .collect();
    let all: Vec<_> = dwarf().into_iter().map(|(name, _)| (name, Vec::new())).collect();
    let unreadable: Vec<_> = dwarf().into_iter().map(|(name, _)| (name, vec![0xff; 9])).collect();
    for sections in [all, unreadable, without_rows] {
        assert_eq!(info(&sections), LineInfo::Empty, "{sections:?}");
    }
    assert_eq!([LineInfo::Present.remedy(), LineInfo::Absent.remedy()], [None, None]);
    assert!(LineInfo::Empty.remedy().is_some_and(|remedy| remedy.contains("--no-wasm-opt")));
}

#[test]
fn names_lose_their_hash() {
    let cases = [
        ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
        ("core::fmt::write::h0123456789abcdef", "core::fmt::write"),
        ("core::fmt::write::helper", "core::fmt::write::helper"),
        ("_RNvC6_123foo3bar", "123foo::bar"),
        ("main", "main"),
        ("", ""),
    ];
    for (symbol, expected) in cases {
        assert_eq!(readable(symbol), expected);
    }
    assert!(readable(&"é".repeat(5000)).len() <= 4096);
}
