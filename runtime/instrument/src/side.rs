//! The side memory: one further memory of a core module, where put-in code leaves what the host reads in place.
//!
//! ```text
//! 0        64                 LOG_END          4096            4096 + 1 MiB
//! │ header │ comparison log   │ free │ marks   │ coverage bytes │ counts of the log │ globals │ end
//!            if asked for              if asked for
//! ```
//!
//! What has a fixed size stands first, since the addresses of everything else must be known while functions are
//! still being rewritten. The header, written by a data segment, is
//! `tag (16 bytes), module ordinal (u32), layout version (u32), switch (u32), entries (u32), lost (u32), pending (u32),
//! deepest call (u32)`, little-endian.
//!
//! Invariants: the memory is defined in the module, behind all of its own memories; it is not exported; its smallest size is
//! its largest. The tag is the beginning of the SHA-256 of the original component, which no guest
//! can contain, so that a memory that starts with it is ours.
//!
//! Not here: who creates the memory, and finds it again among all that an instance creates.

use crate::ModuleOrdinal;
use crate::access::SLOT_BYTES;
use crate::heap::HEAP_BYTES;
use crate::profile::PROFILE_BYTES;
use fozzy_trace::Digest;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What stands in the header of the accessor's memory where others have the ordinal of their module.
pub const ACCESSOR: ModuleOrdinal = ModuleOrdinal(u32::MAX);

/// Bytes of the header.
pub const HEADER_BYTES: u32 = 64;

/// Where in the header the host switches the comparison log on (a u32 other than zero) and off.
pub const HEADER_SWITCH_AT: u32 = 24;

/// Where in the header the number of entries of the comparison log stands (u32). The host sets it to zero to start again.
pub const HEADER_ENTRIES_AT: u32 = 28;

/// Where in the header it stands how many entries did not fit (u32, wrapping). The host sets it to zero.
pub const HEADER_LOST_AT: u32 = 32;

/// Where in the header the host says (a u32 other than zero) that the module's globals are to be set from
/// [`SideMemory::globals`] before any of its code runs. The module does that itself, and sets it to zero.
pub const HEADER_PENDING_AT: u32 = 36;

/// Where in the header it stands how much of the stack was in use at the deepest call of a function that may call itself, in slots (u32).
/// The host sets it to zero together with the coverage.
pub const HEADER_DEEPEST_AT: u32 = 40;

/// Version of the layout. Another one reads nothing of this one.
pub const LAYOUT_VERSION: u32 = 1;

/// Bytes of a page of wasm.
pub(crate) const WASM_PAGE_BYTES: u32 = 1 << 16;

/// Pages that marks stand for: those of a host, not those of wasm.
pub const MARKED_PAGE_BYTES: u32 = 1 << MARKED_PAGE_BITS;
pub(crate) const MARKED_PAGE_BITS: u32 = 12;

/// One mark for each page of a 32-bit memory.
pub const MARKS: u32 = 1 << (32 - MARKED_PAGE_BITS);

/// Parts other than the marks start at multiples of this, which is a cache line.
const ALIGNMENT: u32 = 64;

/// First bytes of each side memory of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SideTag(pub [u8; 16]);

impl SideTag {
    /// The tag of an original component.
    #[must_use]
    pub fn of(component: &[u8]) -> SideTag {
        let digest = Digest::of(component).0;
        let mut tag = [0; 16];
        tag.copy_from_slice(&digest[..16]);
        SideTag(tag)
    }

    /// What the shadow of a memory of an original component begins with: another tag than that of its side memories, since it
    /// belongs to the state of the guest.
    #[must_use]
    pub fn of_shadow(component: &[u8]) -> SideTag {
        SideTag::of(&[&Digest::of(component).0[..], b"shadow"].concat())
    }

    /// Which module's side memory starts with `bytes`; `None` when it is none of this component, or of another layout.
    #[must_use]
    pub fn recognise(&self, bytes: &[u8]) -> Option<ModuleOrdinal> {
        let (tag, rest) = bytes.split_at_checked(self.0.len())?;
        let (ordinal, rest) = rest.split_first_chunk()?;
        let (version, _) = rest.split_first_chunk()?;
        let ours = tag == self.0 && u32::from_le_bytes(*version) == LAYOUT_VERSION;
        ours.then_some(ModuleOrdinal(u32::from_le_bytes(*ordinal)))
    }

    /// The beginning of the header.
    pub(crate) fn header(&self, ordinal: ModuleOrdinal) -> Vec<u8> {
        [&self.0[..], &ordinal.0.to_le_bytes(), &LAYOUT_VERSION.to_le_bytes()].concat()
    }
}

/// The layout of the side memory of one module. All ranges are bytes from the start of that memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideMemory {
    /// Whose it is.
    pub module: ModuleOrdinal,
    /// Size of the memory.
    pub bytes: u32,
    /// One byte for each kept edge; empty without coverage. The host clears it.
    pub coverage: Range<u32>,
    /// Entries of the comparison log, [`crate::COMPARISON_BYTES`] each; empty without it.
    pub comparisons: Range<u32>,
    /// How often each comparison was logged; the host clears it together with the log, or sets it to
    /// [`crate::COMPARISONS_PER_SITE`] for a comparison that is not to be logged.
    pub comparison_counts: Range<u32>,
    /// One byte for each page of memory 0, 1 when it was written to; empty without marks. The host clears it, and
    /// only while no function of the guest is active, since a function may mark pages before it writes to them.
    pub marks: Range<u32>,
    /// The mutable globals of the module, [`crate::SLOT_BYTES`] each. Its code loads them when [`HEADER_PENDING_AT`] is
    /// set; empty when it has no such code.
    pub globals: Range<u32>,
}

impl SideMemory {
    /// For counts by call path, with a log of allocations or without.
    pub(crate) fn of_profile(module: ModuleOrdinal, has_heap: bool) -> SideMemory {
        let none = HEADER_BYTES..HEADER_BYTES;
        SideMemory {
            module,
            bytes: if has_heap { HEAP_BYTES } else { PROFILE_BYTES },
            coverage: none.clone(),
            comparisons: none.clone(),
            comparison_counts: none.clone(),
            marks: none.clone(),
            globals: none,
        }
    }
}

/// The part of the layout that is known before functions are rewritten.
#[derive(Clone, Debug)]
pub(crate) struct SideLayout {
    pub(crate) comparisons: Range<u32>,
    pub(crate) marks: Range<u32>,
    /// Where coverage bytes start.
    pub(crate) coverage: u32,
}

impl SideLayout {
    pub(crate) fn new(comparisons_bytes: u32, marks: bool) -> SideLayout {
        let comparisons = HEADER_BYTES..HEADER_BYTES + comparisons_bytes;
        let marks = if marks {
            let start = comparisons.end.next_multiple_of(MARKED_PAGE_BYTES);
            start..start + MARKS
        } else {
            comparisons.end..comparisons.end
        };
        let coverage = marks.end.next_multiple_of(ALIGNMENT);
        SideLayout { comparisons, marks, coverage }
    }

    /// The whole of it, once it is known how many edges and comparisons there are.
    pub(crate) fn complete(&self, module: ModuleOrdinal, kept: u32, comparisons: u32, globals: u32) -> SideMemory {
        let coverage = self.coverage..self.coverage + kept;
        let counts = coverage.end.next_multiple_of(ALIGNMENT);
        let comparison_counts = counts..counts + comparisons;
        let slots = comparison_counts.end.next_multiple_of(ALIGNMENT);
        let globals = slots..slots + globals * SLOT_BYTES as u32;
        SideMemory {
            module,
            bytes: globals.end.next_multiple_of(WASM_PAGE_BYTES),
            coverage,
            comparisons: self.comparisons.clone(),
            comparison_counts,
            marks: self.marks.clone(),
            globals,
        }
    }
}
