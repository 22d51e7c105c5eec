//! Variables from DWARF that is written here by hand, so that no toolchain is needed.

use super::wrap;
use crate::variables::variables;
use wasm_encoder::{CustomSection, Section};

/// DWARF 4 for `bank::TOTAL`, eight bytes at 0x40, and `bank::ROWS`, three times four bytes at 0x80.
fn dwarf() -> Vec<(&'static str, Vec<u8>)> {
    let abbreviations = vec![
        1, 0x11, 1, 0, 0, // unit
        2, 0x39, 1, 0x03, 0x08, 0, 0, // namespace: name
        3, 0x34, 0, 0x03, 0x08, 0x02, 0x18, 0x49, 0x13, 0, 0, // variable: name, location, type
        4, 0x24, 0, 0x0b, 0x0b, 0, 0, // base type: size
        5, 0x01, 1, 0x49, 0x13, 0, 0, // array: type
        6, 0x21, 0, 0x37, 0x0b, 0, 0, 0, // subrange: count
    ];
    let mut unit = vec![4, 0, 0, 0, 0, 0, 4]; // version, abbreviations, address size
    unit.push(1);
    let place = |unit: &Vec<u8>| u8::try_from(unit.len() + 4).expect("small");
    let eight = place(&unit);
    unit.extend([4, 8]);
    let four = place(&unit);
    unit.extend([4, 4]);
    let rows = place(&unit);
    unit.extend([5, four, 0, 0, 0, 6, 3, 0]);
    unit.extend(b"\x02bank\0");
    unit.extend(b"\x03TOTAL\0");
    unit.extend([5, 0x03, 0x40, 0, 0, 0, eight, 0, 0, 0]);
    unit.extend(b"\x03ROWS\0");
    unit.extend([5, 0x03, 0x80, 0, 0, 0, rows, 0, 0, 0]);
    unit.extend([0, 0]);
    let mut sized = u32::try_from(unit.len()).expect("small").to_le_bytes().to_vec();
    sized.extend(unit);
    vec![(".debug_abbrev", abbreviations), (".debug_info", sized)]
}

fn component(dwarf: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    let mut module = wat::parse_str("(module (memory 1))").expect("parses");
    for (name, data) in dwarf {
        CustomSection { name: (*name).into(), data: data.into() }.append_to(&mut module);
    }
    wrap(&[module])
}

/// What is found, as `path address bytes`.
fn found(name: &str) -> Vec<String> {
    let found = variables(&component(&dwarf()), name);
    let line = |found: &crate::variables::Variable| format!("{} {:#x} {:?}", found.path, found.address, found.bytes);
    found.iter().map(line).collect()
}

#[test]
fn variables_are_found_by_name_and_by_path() {
    assert_eq!(found("TOTAL"), ["bank::TOTAL 0x40 Some(8)"]);
    assert_eq!(found("bank::ROWS"), ["bank::ROWS 0x80 Some(12)"]);
    assert_eq!(found("OTAL"), [""; 0]);
    assert_eq!(found("k::TOTAL"), [""; 0]);
    assert_eq!(variables(b"nonsense", "TOTAL"), []);
}

#[test]
fn damaged_dwarf_gives_less_and_no_panic() {
    let sound = dwarf();
    for (section, (_, bytes)) in sound.iter().enumerate() {
        for position in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = sound.clone();
                damaged[section].1[position] ^= 1 << bit;
                assert!(variables(&component(&damaged), "TOTAL").len() <= 1);
            }
            let mut damaged = sound.clone();
            damaged[section].1.truncate(position);
            assert!(variables(&component(&damaged), "TOTAL").len() <= 1);
        }
    }
}
