//! Variables that stay where they are in memory, by their names in the source.
//!
//! ```text
//! DW_TAG_namespace bank  DW_TAG_variable TOTAL  DW_AT_location DW_OP_addr 0x10040  DW_AT_type i64
//!   ─▶ Variable { path: "bank::TOTAL", address: 0x10040, bytes: 8 }
//! ```
//!
//! A linker for WebAssembly resolves the addresses of data in the DWARF to those in the linear memory, so that they hold as
//! long as the program is not linked again.
//!
//! Invariants: whatever a component's DWARF says, the answer is a list; what cannot be read is left out. Looking through it is
//! bounded.
//! Not here: variables on the stack, which are elsewhere at each call; lines of code (`source`).

use crate::{COMPONENT_BYTES_MAX, nesting};
use gimli::{AttributeValue, Dwarf, DwarfSections, EndianSlice, LittleEndian, Operation, SectionId, Unit, UnitOffset};
use std::collections::BTreeMap;
use wasmparser::{Encoding, Parser, Payload};

/// Entries of the DWARF that are looked at. A program of ten million lines has about as many.
const ENTRIES_MAX: u64 = 1 << 25;
/// Types that are followed from a variable to its size: what is longer goes in circles.
const TYPES_MAX: usize = 32;
/// Variables that are handed out.
const FOUND_MAX: usize = 64;

/// The section of a module whose data is put somewhere when it is loaded.
const LIBRARY: &str = "dylink.0";

type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// A variable with a place of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name with those of the modules around it.
    pub path: String,
    /// Its address in the memory of its module.
    pub address: u64,
    /// Its size in bytes; `None` where the DWARF does not say.
    pub bytes: Option<u64>,
}

/// The variables of this name, or whose path ends with it, in the first module of a component that has any.
#[must_use]
pub fn variables(component: &[u8], name: &str) -> Vec<Variable> {
    if component.len() > COMPONENT_BYTES_MAX || nesting::check(component).is_err() {
        return Vec::new();
    }
    let mut parser = Parser::new(0);
    parser.set_features(crate::features());
    let mut sections: BTreeMap<String, &[u8]> = BTreeMap::new();
    let mut open = Vec::new();
    for payload in parser.parse_all(component).map_while(Result::ok) {
        match payload {
            Payload::Version { encoding, .. } => {
                open.push(encoding);
                sections.clear();
            }
            Payload::CustomSection(custom) if custom.name().starts_with(".debug_") || custom.name() == LIBRARY => {
                sections.insert(custom.name().to_owned(), custom.data());
            }
            Payload::End(_) => {
                if open.pop() == Some(Encoding::Module) {
                    let found = of_module(&sections, name);
                    if !found.is_empty() {
                        return found;
                    }
                }
                sections.clear();
            }
            _ => {}
        }
    }
    Vec::new()
}

fn of_module(sections: &BTreeMap<String, &[u8]>, name: &str) -> Vec<Variable> {
    let section = |id: SectionId| -> Result<Reader<'_>, gimli::Error> {
        Ok(Reader::new(sections.get(id.name()).copied().unwrap_or_default(), LittleEndian))
    };
    let is_library = sections.contains_key(LIBRARY);
    let mut found = Vec::new();
    let Ok(loaded) = DwarfSections::load(section) else { return found };
    let dwarf = loaded.borrow(|section| *section);
    let mut left = ENTRIES_MAX;
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if let Ok(unit) = dwarf.unit(header) {
            // A unit that cannot be read to its end has told what stands before.
            let _ = of_unit(&dwarf, &unit, (name, is_library), &mut left, &mut found);
        }
        if left == 0 || found.len() == FOUND_MAX {
            break;
        }
    }
    found.sort_by(|one: &Variable, other| (&one.path, one.address).cmp(&(&other.path, other.address)));
    found.dedup();
    found
}

fn of_unit(
    dwarf: &Dwarf<Reader<'_>>,
    unit: &Unit<Reader<'_>>,
    (name, is_library): (&str, bool),
    left: &mut u64,
    found: &mut Vec<Variable>,
) -> Result<(), gimli::Error> {
    // Names of the entries around the one that is looked at, each with its depth.
    let mut around: Vec<(isize, String)> = Vec::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        *left = left.saturating_sub(1);
        if *left == 0 || found.len() == FOUND_MAX {
            break;
        }
        let depth = entry.depth();
        around.retain(|(outer, _)| *outer < depth);
        let text = |value: AttributeValue<Reader<'_>>| {
            let text = dwarf.attr_string(unit, value).ok()?;
            Some(String::from_utf8_lossy(&text).into_owned())
        };
        let own = entry.attr_value(gimli::DW_AT_name).and_then(text);
        match entry.tag() {
            gimli::DW_TAG_variable => {}
            gimli::DW_TAG_compile_unit => continue,
            _ => {
                around.extend(own.map(|own| (depth, own)));
                continue;
            }
        }
        let Some(AttributeValue::Exprloc(place)) = entry.attr_value(gimli::DW_AT_location) else { continue };
        let mut operations = place.operations(unit.encoding());
        let address = match (operations.next()?, operations.next()?, operations.next()?, operations.next()?) {
            (Some(Operation::Address { address }), None, ..) => address,
            // Counted from where the module's data begins: at 0, unless it is a library.
            (Some(Operation::WasmGlobal { .. }), Some(Operation::Address { address }), Some(Operation::Plus), None)
                if !is_library =>
            {
                address
            }
            _ => continue,
        };
        let Some(own) = own else { continue };
        let names = around.iter().map(|(_, name)| name.as_str()).chain([own.as_str()]);
        let path = names.collect::<Vec<_>>().join("::");
        if path == name || path.strip_suffix(name).is_some_and(|before| before.ends_with("::")) {
            let bytes = entry.attr_value(gimli::DW_AT_type).and_then(|of| size(unit, of));
            found.push(Variable { path, address, bytes });
        }
    }
    Ok(())
}

/// The size of a type in bytes.
fn size(unit: &Unit<Reader<'_>>, of: AttributeValue<Reader<'_>>) -> Option<u64> {
    let mut of = of;
    let mut times = 1u64;
    for _ in 0..TYPES_MAX {
        let AttributeValue::UnitRef(offset) = of else { return None };
        let entry = unit.entry(offset).ok()?;
        if let Some(bytes) = entry.attr_value(gimli::DW_AT_byte_size).and_then(|value| value.udata_value()) {
            return bytes.checked_mul(times);
        }
        match entry.tag() {
            gimli::DW_TAG_pointer_type => return u64::from(unit.encoding().address_size).checked_mul(times),
            gimli::DW_TAG_array_type => times = times.checked_mul(elements(unit, offset)?)?,
            _ => {}
        }
        of = entry.attr_value(gimli::DW_AT_type)?;
    }
    None
}

/// How many elements an array has, over all of its dimensions.
fn elements(unit: &Unit<Reader<'_>>, array: UnitOffset) -> Option<u64> {
    let mut tree = unit.entries_tree(Some(array)).ok()?;
    let mut dimensions = tree.root().ok()?.children();
    let mut times = 1u64;
    while let Some(dimension) = dimensions.next().ok()? {
        let entry = dimension.entry();
        if entry.tag() == gimli::DW_TAG_subrange_type {
            let number = |name| entry.attr_value(name).and_then(|value| value.udata_value());
            let above = || number(gimli::DW_AT_upper_bound)?.checked_add(1);
            times = times.checked_mul(number(gimli::DW_AT_count).or_else(above)?)?;
        }
    }
    Some(times)
}
