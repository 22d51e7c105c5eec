//! Memory checks: the program itself looks at each of its accesses, and finds those that no block of its heap allows.
//!
//! ```text
//! guest memory    … │ header 32 │ block of 10 bytes     │ red zone │ …
//! shadow          …   f1 f1 f1 f1 00 02                   f3 f3 f3   …        one byte for eight: 0 all may be used, 1 to 7 the
//!                                                                             first ones, from 0xf0 on none, and why
//! load            shadow of the address is not 0 ─▶ `access` looks closer ─▶ report │ unreachable
//! malloc(10)      outermost ─▶ malloc(10 + header + red zone) ─▶ header, shadow, pattern ─▶ address behind the header
//! free(p)         outermost ─▶ header must be there ─▶ shadow says freed ─▶ queue ─▶ the oldest ones are freed really, or are next blocks
//! ```
//!
//! The result is another program: its blocks have other addresses. It is a component like any other, with one more memory, so
//! that whatever else is put into programs is put into it afterwards; checkpoints have its shadow as they have its memory.
//!
//! Which call of an allocator has made a block is no more than a number in its header. Whoever wants the stacks executes once more with
//! [`STOP_AT`] set to that number: then the program traps there.
//!
//! Invariants: code of an allocator, and all that it calls, is never looked at: the word at [`DEPTH_AT`] says that one is open. A correct
//! program does what it does without checks, but for its addresses. Modules that do not define their memory, or have a collector,
//! are left as they are.
//!
//! A new block that its allocator does not clear holds a pattern with the number of its allocation, which copies carry with them:
//! whoever lets it out has never written it ([`fozzy_trace::UndefinedBytes`]).
//!
//! Not found: what stays inside of a block or of a frame; globals; what is done with bytes that were never written, but for letting them out;
//! what is further away than red zones are wide, if it is in another block.

pub(crate) mod access;
pub(crate) mod allocators;
pub(crate) mod helpers;
pub(crate) mod wrappers;

use fozzy_trace::memory_error::{MemoryAccess, MemoryBlock, MemoryError, MemoryErrorClass};

/// How many allocators are open (u32).
pub(crate) const DEPTH_AT: u32 = 64;
/// Allocations and frees so far (u32).
pub(crate) const EVENTS_AT: u32 = 68;
/// The allocation or free at which the program is to stop (u32); 0 is none.
pub(crate) const STOP_AT: u32 = 72;
/// Freed blocks that are kept from being used again: the first, the last, and their bytes (u32).
pub(crate) const FIRST_AT: u32 = 76;
pub(crate) const LAST_AT: u32 = 80;
pub(crate) const QUEUED_AT: u32 = 84;
/// How many those are (u32).
pub(crate) const BLOCKS_AT: u32 = 88;
/// What was found: kind, address, bytes, and something else (u32 each).
pub(crate) const REPORT_AT: u32 = 128;
/// One byte for eight of memory 0.
pub(crate) const SHADOW_AT: u32 = 4096;

/// Most bytes of freed blocks that are kept from being used again.
pub(crate) const QUARANTINE_BYTES: u32 = 16 << 20;
/// With more bytes and more blocks than these, an allocation takes the oldest one away, or is it: what is kept longer is in no cache of the
/// processor any more, which costs a program that mostly allocates more than all checks.
pub(crate) const QUARANTINE_KEPT_BYTES: u32 = 512 << 10;
pub(crate) const QUARANTINE_KEPT_BLOCKS: u32 = 1024;
/// The most bytes of a new block that say that nobody has written them, as [`fozzy_trace::UndefinedBytes`] knows them.
pub(crate) const UNDEFINED_BYTES_MAX: u32 = 4096;
/// Bytes before each block: its header, which is its red zone too.
pub(crate) const HEADER_BYTES: u32 = 32;
/// The least alignment of blocks: each has units of the shadow for itself.
pub(crate) const ALIGN_MIN: u32 = 8;
/// Bytes between the frames of functions.
pub(crate) const STACK_ZONE_BYTES: u32 = 32;
/// Nothing of a program of LLVM lies below, unless it was linked so.
pub(crate) const LOW_BYTES: u32 = 1024;

/// Fields of a header, from its start.
pub(crate) mod header {
    pub(crate) const BYTES: u32 = 0;
    pub(crate) const ALLOCATED: u32 = 4;
    pub(crate) const FREED: u32 = 8;
    pub(crate) const NEXT: u32 = 12;
    pub(crate) const BASE: u32 = 16;
    pub(crate) const TOTAL: u32 = 20;
    pub(crate) const ALIGN: u32 = 24;
    /// By which function it is freed (low half), and of which family of functions it is (high half).
    pub(crate) const FREE_BY: u32 = 28;
}

/// Why memory may not be used, in the shadow.
pub(crate) mod shade {
    pub(crate) const LOW: u8 = 0xf0;
    pub(crate) const LIVE_HEADER: u8 = 0xf1;
    pub(crate) const FREED_HEADER: u8 = 0xf2;
    pub(crate) const BEHIND: u8 = 0xf3;
    pub(crate) const PADDING: u8 = 0xf4;
    pub(crate) const STACK: u8 = 0xf5;
    pub(crate) const UNALLOCATED: u8 = 0xf6;
    pub(crate) const FREED: u8 = 0xfd;
}

/// Kinds of reports.
pub(crate) mod report {
    pub(crate) const READ: u32 = 1;
    pub(crate) const WRITE: u32 = 2;
    pub(crate) const FREE: u32 = 3;
    pub(crate) const LAYOUT: u32 = 4;
    pub(crate) const OVERLAP: u32 = 5;
    pub(crate) const STOPPED: u32 = 6;
    pub(crate) const HOST_READ: u32 = 7;
    pub(crate) const HOST_WRITE: u32 = 8;
}

/// What a checked program has left in its shadow memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryCheckReport {
    /// An error.
    Error(MemoryError),
    /// It has come to the allocation or free at which it was to stop.
    Stopped {
        /// The block that it is about.
        address: u32,
    },
}

/// The shadow memory of an instance, beside the guest's own.
#[derive(Clone, Copy, Debug)]
pub struct MemoryCheck<'m> {
    shadow: &'m [u8],
    memory: &'m [u8],
}

impl<'m> MemoryCheck<'m> {
    /// `shadow`, which begins with the tag of shadows, is that of `memory`.
    #[must_use]
    pub fn of(shadow: &'m [u8], memory: &'m [u8]) -> Option<MemoryCheck<'m>> {
        (shadow.len() >= SHADOW_AT as usize).then_some(MemoryCheck { shadow, memory })
    }

    /// Where the host writes the number of an allocation or free at which the program is to stop, as a u32.
    pub const STOP_AT: usize = STOP_AT as usize;

    /// What the host writes to have the program end with such an error, and where.
    #[must_use]
    pub fn report_of_host(address: u32, bytes: u32, is_write: bool) -> (usize, Vec<u8>) {
        let kind = if is_write { report::HOST_WRITE } else { report::HOST_READ };
        (REPORT_AT as usize, [kind, address, bytes, 0].into_iter().flat_map(u32::to_le_bytes).collect())
    }

    fn word(bytes: &[u8], at: u32) -> u32 {
        let at = at as usize;
        bytes.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
    }

    fn shade(&self, address: u32) -> u8 {
        self.shadow.get(SHADOW_AT as usize + (address as usize >> 3)).copied().unwrap_or_default()
    }

    /// The first byte of a range that may not be used.
    fn first_bad(&self, address: u32, bytes: u32) -> Option<u32> {
        let end = u64::from(address) + u64::from(bytes);
        let mut at = u64::from(address);
        while at < end {
            let (granule, next) = (at as u32, (at | 7) + 1);
            match self.shade(granule) {
                0 => {}
                valid @ 1..=7 => {
                    let limit = (at & !7) + u64::from(valid);
                    if end.min(next) > limit {
                        return Some(limit.max(at) as u32);
                    }
                }
                _ => return Some(granule),
            }
            at = next;
        }
        None
    }

    /// Whether the host may use a range for the program.
    #[must_use]
    pub fn allows(&self, address: u32, bytes: u32) -> bool {
        self.first_bad(address, bytes).is_none()
    }

    /// What the program has reported, if it did.
    #[must_use]
    pub fn report(&self) -> Option<MemoryCheckReport> {
        let [kind, address, bytes, other] = [0, 4, 8, 12].map(|field| Self::word(self.shadow, REPORT_AT + field));
        let error = match kind {
            report::READ => self.of_access(MemoryAccess::Read, address, bytes),
            report::WRITE => self.of_access(MemoryAccess::Write, address, bytes),
            report::HOST_READ => self.of_access(MemoryAccess::HostRead, address, bytes),
            report::HOST_WRITE => self.of_access(MemoryAccess::HostWrite, address, bytes),
            report::FREE => self.of_free(address),
            report::LAYOUT => MemoryError {
                class: MemoryErrorClass::WrongLayout,
                access: MemoryAccess::Free,
                address,
                bytes,
                other: Some(other),
                block: self.block_at(address),
            },
            report::OVERLAP => MemoryError {
                class: MemoryErrorClass::OverlappingCopy,
                access: MemoryAccess::Copy,
                address,
                bytes,
                other: Some(other),
                block: None,
            },
            report::STOPPED => return Some(MemoryCheckReport::Stopped { address }),
            _ => return None,
        };
        Some(MemoryCheckReport::Error(error))
    }

    fn of_access(&self, access: MemoryAccess, address: u32, bytes: u32) -> MemoryError {
        let bad = self.first_bad(address, bytes).unwrap_or(address);
        let (class, block) = match self.shade(bad) {
            shade::LOW => (MemoryErrorClass::NullDereference, None),
            shade::STACK => (MemoryErrorClass::StackBufferOverflow, None),
            shade::FREED | shade::FREED_HEADER => (MemoryErrorClass::HeapUseAfterFree, self.block_around(bad)),
            shade::LIVE_HEADER | shade::PADDING => match self.block_behind(bad) {
                block @ Some(_) => (MemoryErrorClass::HeapBufferUnderflow, block),
                None => (MemoryErrorClass::WildAccess, None),
            },
            shade::BEHIND | 0..=7 => match self.block_around(bad) {
                Some(block) if block.freed.is_some() => (MemoryErrorClass::HeapUseAfterFree, Some(block)),
                block => (MemoryErrorClass::HeapBufferOverflow, block),
            },
            _ => (MemoryErrorClass::WildAccess, None),
        };
        // What begins inside of a block is said to be where it leaves it.
        let begins_inside = block.is_some_and(|block| block.freed.is_none() && address < bad);
        let address = if begins_inside && bytes > 16 { bad } else { address };
        MemoryError { class, access, address, bytes, other: None, block }
    }

    fn of_free(&self, address: u32) -> MemoryError {
        let block = self.block_at(address);
        let is_again = block.is_some_and(|block| block.freed.is_some());
        let class = if is_again { MemoryErrorClass::DoubleFree } else { MemoryErrorClass::InvalidFree };
        let block = block.or_else(|| self.block_around(address));
        MemoryError { class, access: MemoryAccess::Free, address, bytes: 0, other: None, block }
    }

    fn is_header(&self, at: u32) -> bool {
        let shades = [0, 8, 16, 24].map(|more| self.shade(at.wrapping_add(more)));
        matches!(shades, [shade::LIVE_HEADER, ..] | [shade::FREED_HEADER, ..])
            && shades.iter().all(|shade| *shade == shades[0])
            && (at < 8 || self.shade(at - 8) != shades[0])
    }

    /// The block that begins at an address.
    fn block_at(&self, address: u32) -> Option<MemoryBlock> {
        let at = address.checked_sub(HEADER_BYTES).filter(|at| at.is_multiple_of(8) && self.is_header(*at))?;
        let field = |field: u32| Self::word(self.memory, at + field);
        Some(MemoryBlock {
            address,
            bytes: field(header::BYTES),
            align: Some(field(header::ALIGN)).filter(|align| *align > 0),
            allocated: field(header::ALLOCATED),
            freed: Some(field(header::FREED)).filter(|event| *event > 0),
        })
    }

    /// The block whose header is the last one before an address, if nothing but its own is between.
    fn block_around(&self, address: u32) -> Option<MemoryBlock> {
        let mut at = address & !7;
        // In a header, it is that block.
        while matches!(self.shade(at), shade::LIVE_HEADER | shade::FREED_HEADER) {
            if self.is_header(at) {
                return self.block_at(at + HEADER_BYTES);
            }
            at = at.checked_sub(8)?;
        }
        loop {
            if self.is_header(at) {
                return self.block_at(at + HEADER_BYTES);
            }
            if matches!(self.shade(at), shade::UNALLOCATED | shade::LOW | shade::PADDING | shade::STACK) {
                return None;
            }
            at = at.checked_sub(8)?;
        }
    }

    /// The block whose header is at an address, or the first one behind it.
    fn block_behind(&self, address: u32) -> Option<MemoryBlock> {
        let mut at = address & !7;
        while at > 0 && self.shade(at) == shade::LIVE_HEADER && !self.is_header(at) {
            at -= 8;
        }
        while self.shade(at) == shade::PADDING {
            at = at.checked_add(8)?;
        }
        self.is_header(at).then(|| self.block_at(at + HEADER_BYTES)).flatten()
    }
}

#[cfg(test)]
mod tests;
