//! Whether what is nested in a component really lies inside of it, before a parser relies on it.
//!
//! ```text
//! component [0, 90)    section 1 [20, 40) module        inside: fine
//!                      section 4 [42, 120) component    reaches past 90: refused
//! ```
//!
//! wasmparser takes the size of a nested module or component on trust (it calls the range "unchecked"):
//! past the end of the file it would report a module that is not there, and past the end of the
//! parent it would subtract below zero, which panics in a build with overflow checks.
//!
//! Not checked here: everything else. The validator sees each byte again.

use crate::Error;
use std::ops::Range;
use wasmparser::BinaryReader;

/// Deepest nesting of components, in levels. Each level copies what is inside it once more;
/// toolchains nest a handful.
pub(crate) const NESTING_DEPTH_MAX: usize = 100;

/// Section numbers of the component format.
/// <https://github.com/WebAssembly/component-model/blob/main/design/mvp/Binary.md>
pub(crate) const CORE_MODULE_SECTION: u8 = 1;
pub(crate) const COMPONENT_SECTION: u8 = 4;

/// Magic number, version and layer.
const HEADER_BYTES: usize = 8;

/// Where in the header the layer is, and what it is for a component.
const LAYER: Range<usize> = 6..8;
const LAYER_COMPONENT: [u8; 2] = [1, 0];

/// Checks that sections lie inside of what contains them.
pub(crate) fn check(component: &[u8]) -> Result<(), Error> {
    let mut reader = BinaryReader::new(component, 0);
    // Ends of the components that are open.
    let mut open = Vec::new();
    if enters(&mut reader)? {
        open.push(component.len());
    }
    while let Some(&end) = open.last() {
        if reader.original_position() == end {
            open.pop();
            continue;
        }
        let start = reader.original_position();
        let id = reader.read_u8()?;
        let size = reader.read_var_u32()? as usize;
        let section_start = reader.original_position();
        if section_start > end || size > end - section_start {
            let reason = format!("a section ends at {:#x}, its component at {end:#x}", section_start + size);
            return Err(Error::Invalid { offset: start, reason });
        }
        let nested = id == CORE_MODULE_SECTION || id == COMPONENT_SECTION;
        if nested && size >= HEADER_BYTES && enters(&mut reader)? {
            if open.len() >= NESTING_DEPTH_MAX {
                return Err(Error::NestedTooDeep { offset: section_start });
            }
            open.push(section_start + size);
        } else {
            reader.read_bytes(section_start + size - reader.original_position())?;
        }
    }
    Ok(())
}

/// Reads a header, and says whether sections of a component follow.
fn enters(reader: &mut BinaryReader<'_>) -> Result<bool, Error> {
    Ok(reader.read_bytes(HEADER_BYTES)?[LAYER] == LAYER_COMPONENT)
}
