//! What a memory checker has found: an access that no block allows, or a block that is freed wrongly.
//!
//! ```text
//! heap-buffer-overflow: write of 4 bytes at 0x114f0, 0 bytes behind a block of 10 bytes at 0x114e0
//!      class            access             address              where, of which block
//! ```
//!
//! Invariant: addresses are those of the checked program, which are not those of the same program unchecked.
//! Not here: how a program is checked (`fozzy-instrument`), the stacks (`fozzy-campaign`).

use serde::{Deserialize, Serialize};
use std::fmt;

/// What kind of error.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryErrorClass {
    /// An access behind a block.
    HeapBufferOverflow,
    /// An access before a block.
    HeapBufferUnderflow,
    /// An access to a block that was freed.
    HeapUseAfterFree,
    /// An access to memory of the allocator that belongs to no block.
    WildAccess,
    /// An access behind the frame of a function.
    StackBufferOverflow,
    /// An access to the lowest addresses, where nothing is.
    NullDereference,
    /// A block is freed that was freed before.
    DoubleFree,
    /// Something is freed that is not the beginning of a block.
    InvalidFree,
    /// A block is freed with another size or alignment than it was allocated with.
    WrongLayout,
    /// `memcpy` of ranges that overlap.
    OverlappingCopy,
}

impl MemoryErrorClass {
    /// The word in reports and signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            MemoryErrorClass::HeapBufferOverflow => "heap-buffer-overflow",
            MemoryErrorClass::HeapBufferUnderflow => "heap-buffer-underflow",
            MemoryErrorClass::HeapUseAfterFree => "heap-use-after-free",
            MemoryErrorClass::WildAccess => "wild-access",
            MemoryErrorClass::StackBufferOverflow => "stack-buffer-overflow",
            MemoryErrorClass::NullDereference => "null-dereference",
            MemoryErrorClass::DoubleFree => "double-free",
            MemoryErrorClass::InvalidFree => "invalid-free",
            MemoryErrorClass::WrongLayout => "wrong-layout",
            MemoryErrorClass::OverlappingCopy => "overlapping-copy",
        }
    }
}

/// What was done.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryAccess {
    /// The program reads.
    Read,
    /// The program writes.
    Write,
    /// The host reads for the program.
    HostRead,
    /// The host writes for the program.
    HostWrite,
    /// A block is freed.
    Free,
    /// A range is copied.
    Copy,
}

/// A block of the heap. Allocations and frees of one instance of a program are counted from one.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryBlock {
    /// Its first byte.
    pub address: u32,
    /// Its size.
    pub bytes: u32,
    /// Its alignment, if it was allocated with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<u32>,
    /// Which event has allocated it.
    pub allocated: u32,
    /// Which event has freed it, if it was freed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freed: Option<u32>,
}

/// An error that a memory checker has found; it ends the program.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryError {
    /// Its kind.
    pub class: MemoryErrorClass,
    /// What was done.
    pub access: MemoryAccess,
    /// Where: the first byte; of a copy, its target.
    pub address: u32,
    /// How many bytes; of a block that is freed, the size that was said.
    pub bytes: u32,
    /// Of a copy, its source; of a block that is freed, the alignment that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<u32>,
    /// The block that it is about, or that is next to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<MemoryBlock>,
}

/// `1 byte`, `2 bytes`.
fn bytes(count: u32) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

impl MemoryError {
    /// Where the access is, as seen from the block.
    fn place(&self, block: &MemoryBlock) -> String {
        let end = block.address.saturating_add(block.bytes);
        let of = format!("a {}block of {} at {:#x}", self.state(block), bytes(block.bytes), block.address);
        match self.address {
            at if at < block.address => format!("{} before {of}", bytes(block.address - at)),
            at if at >= end => format!("{} behind {of}", bytes(at - end)),
            at => format!("{} into {of}", bytes(at - block.address)),
        }
    }

    fn state(&self, block: &MemoryBlock) -> &'static str {
        if block.freed.is_some() { "freed " } else { "" }
    }
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, length) = (self.address, bytes(self.bytes));
        write!(f, "{}: ", self.class.name())?;
        match self.access {
            MemoryAccess::Read => write!(f, "read of {length} at {at:#x}")?,
            MemoryAccess::Write => write!(f, "write of {length} at {at:#x}")?,
            MemoryAccess::HostRead => write!(f, "the host reads {length} at {at:#x} for the program")?,
            MemoryAccess::HostWrite => write!(f, "the host writes {length} at {at:#x} for the program")?,
            MemoryAccess::Free => write!(f, "free of {at:#x}")?,
            MemoryAccess::Copy => {
                let from = self.other.unwrap_or_default();
                write!(f, "memcpy of {length} from {from:#x} to {at:#x}, which overlap")?;
            }
        }
        let aligned = |align: Option<u32>| align.map_or_else(String::new, |align| format!(" aligned to {align}"));
        match (self.class, &self.block) {
            (MemoryErrorClass::OverlappingCopy, _) => Ok(()),
            (MemoryErrorClass::StackBufferOverflow, _) => {
                write!(f, ", between the frame of a function and that of its caller")
            }
            (MemoryErrorClass::NullDereference, _) => write!(f, ", below everything that the program has"),
            (MemoryErrorClass::WrongLayout, Some(block)) => {
                let (was, said) = (aligned(block.align), aligned(self.other));
                write!(f, ", a block of {}{was}, as one of {length}{said}", bytes(block.bytes))
            }
            (MemoryErrorClass::DoubleFree, Some(block)) => {
                write!(f, ", a block of {} that was freed before", bytes(block.bytes))
            }
            (_, Some(block)) => write!(f, ", {}", self.place(block)),
            (MemoryErrorClass::InvalidFree, None) => write!(f, ", which no allocation has returned"),
            (_, None) => write!(f, ", in no block"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_done_where_and_to_which_block() {
        let block = MemoryBlock { address: 0x100, bytes: 10, align: None, allocated: 1, freed: None };
        let of = |class, access, address, block| {
            MemoryError { class, access, address, bytes: 4, other: None, block }.to_string()
        };
        assert_eq!(
            of(MemoryErrorClass::HeapBufferOverflow, MemoryAccess::Write, 0x10a, Some(block)),
            "heap-buffer-overflow: write of 4 bytes at 0x10a, 0 bytes behind a block of 10 bytes at 0x100"
        );
        let freed = MemoryBlock { freed: Some(2), ..block };
        assert_eq!(
            of(MemoryErrorClass::HeapUseAfterFree, MemoryAccess::Read, 0x101, Some(freed)),
            "heap-use-after-free: read of 4 bytes at 0x101, 1 byte into a freed block of 10 bytes at 0x100"
        );
        assert_eq!(
            of(MemoryErrorClass::InvalidFree, MemoryAccess::Free, 0x77, None),
            "invalid-free: free of 0x77, which no allocation has returned"
        );
        let layout = MemoryError {
            class: MemoryErrorClass::WrongLayout,
            access: MemoryAccess::Free,
            address: 0x100,
            bytes: 12,
            other: Some(4),
            block: Some(MemoryBlock { align: Some(1), ..block }),
        };
        let expected = "wrong-layout: free of 0x100, a block of 10 bytes aligned to 1, as one of 12 bytes aligned to 4";
        assert_eq!(layout.to_string(), expected);
    }
}
