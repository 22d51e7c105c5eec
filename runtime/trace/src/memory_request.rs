//! What a program asks for of memory, as code that the rewriter has put in says it to the host: whether it may have it.
//!
//! ```text
//! malloc(24)       memory.grow of a memory that nothing is in, by 25       the host says that it may ─▶ 0, or -1
//! memory.grow(3)   memory.grow of that memory, by 2^31 + 3                 the same
//! ```
//!
//! Such a memory has pages of one byte and a largest size that is no multiple of 64 KiB, which no program can have: by that the host knows
//! it. It never grows, so that there is no state; growth of it is a call of the host that needs no import.
//!
//! Not here: the code (`fozzy-instrument`), the answer (`fozzy-host`), the memory (`fozzy-engine`).

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryRequest {
    /// A block of an allocator.
    Allocation {
        /// Its size; more than [`MemoryRequest::BYTES_MAX`] is that.
        bytes: u32,
    },
    /// More pages of a memory.
    Growth {
        /// Of 64 KiB each.
        pages: u32,
    },
}

impl MemoryRequest {
    /// The largest size of a memory by which programs ask, in its pages of one byte. (A memory with such pages cannot have 2^32 - 1.)
    pub const MEMORY_BYTES_MAX: u32 = 0xffff_fff0;
    /// The largest block that is told apart.
    pub const BYTES_MAX: u32 = 0x7fff_fff0;
    /// What is added to pages.
    pub const GROWTH: u32 = 1 << 31;
    /// The most pages that a memory grows by.
    pub const PAGES_MAX: u32 = 1 << 16;

    /// What is asked for by growth from `current` to `desired` bytes of a memory whose largest size is `maximum`; `None` if that is not
    /// a memory by which programs ask.
    #[must_use]
    pub fn of(current: u64, desired: u64, maximum: Option<u64>) -> Option<MemoryRequest> {
        if maximum != Some(u64::from(MemoryRequest::MEMORY_BYTES_MAX)) {
            return None;
        }
        let delta = u32::try_from(desired.saturating_sub(current)).unwrap_or(u32::MAX);
        Some(match delta.checked_sub(MemoryRequest::GROWTH) {
            Some(pages) => MemoryRequest::Growth { pages },
            None => MemoryRequest::Allocation { bytes: delta.saturating_sub(1) },
        })
    }
}

const _: () = assert!(
    MemoryRequest::MEMORY_BYTES_MAX % (1 << 16) != 0
        && MemoryRequest::BYTES_MAX < MemoryRequest::GROWTH
        && MemoryRequest::GROWTH + MemoryRequest::PAGES_MAX < MemoryRequest::MEMORY_BYTES_MAX
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_from_the_growth_of_a_program() {
        let of = |delta: u32| MemoryRequest::of(0, delta.into(), Some(MemoryRequest::MEMORY_BYTES_MAX.into()));
        assert_eq!(of(25), Some(MemoryRequest::Allocation { bytes: 24 }));
        assert_eq!(
            of(MemoryRequest::BYTES_MAX + 1),
            Some(MemoryRequest::Allocation { bytes: MemoryRequest::BYTES_MAX })
        );
        assert_eq!(of(MemoryRequest::GROWTH | 3), Some(MemoryRequest::Growth { pages: 3 }));
        for maximum in [None, Some(1 << 16), Some(1 << 32)] {
            assert_eq!(MemoryRequest::of(0, 1 << 16, maximum), None);
        }
    }
}
