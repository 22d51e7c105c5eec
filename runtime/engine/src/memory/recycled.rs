//! Mappings of memories that are gone, kept for the next ones of their thread.
//!
//! ```text
//! memory of sequence 7 ──dropped──▶ set to zero, as small as at first ──▶ kept ──▶ memory of sequence 8
//! ```
//!
//! Mapping address space, and the fault of each page that is touched for the first time, are most of what the beginning of an instance
//! costs; setting the pages that were touched to zero takes a tenth of that.
//!
//! Invariants: who takes a mapping cannot tell it from a fresh one, but by the kernel's account of touched pages; what is kept is bounded.
//! Not here: which memories are fit for it (`memory`).

#![allow(unsafe_code, reason = "unmaps memory; the block carries its argument")]

use std::cell::RefCell;
use std::ptr::NonNull;

/// Mappings that a thread keeps: more than the memories of a program and of those that it calls. The longest kept goes first.
pub(super) const MAPPINGS_MAX: usize = 16;
/// Accessible bytes of a memory whose mapping is kept: setting more to zero is no gain, and a thread holds no more than a few of these.
pub(super) const MAPPING_BYTES_MAX: usize = 4 << 20;

/// Sizes of a memory and its mapping, in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct MappingSizes {
    /// What is accessible at first.
    pub(super) minimum: usize,
    /// What it may grow to.
    pub(super) reserved: usize,
    /// All, with the guard.
    pub(super) mapped: usize,
}

/// A mapping that nobody uses.
struct KeptMapping {
    base: NonNull<u8>,
    sizes: MappingSizes,
}

impl Drop for KeptMapping {
    fn drop(&mut self) {
        unmap(self.base, self.sizes.mapped);
    }
}

thread_local! {
    static KEPT: RefCell<Vec<KeptMapping>> = const { RefCell::new(Vec::new()) };
}

/// A mapping of these sizes that was kept, which is the caller's from now on.
pub(super) fn take(sizes: MappingSizes) -> Option<NonNull<u8>> {
    let taken = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        let at = kept.iter().rposition(|mapping| mapping.sizes == sizes)?;
        Some(std::mem::ManuallyDrop::new(kept.remove(at)).base)
    });
    taken.ok().flatten()
}

/// Keeps a mapping that is as a fresh one; `false` at the end of the thread, when it stays the caller's.
pub(super) fn keep(base: NonNull<u8>, sizes: MappingSizes) -> bool {
    let kept = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() == MAPPINGS_MAX {
            kept.remove(0);
        }
        kept.push(KeptMapping { base, sizes });
    });
    kept.is_ok()
}

/// Gives all that this thread keeps back to the system: whether it was anything.
pub(super) fn give_back() -> bool {
    let kept = KEPT.try_with(|kept| std::mem::take(&mut *kept.borrow_mut()));
    kept.is_ok_and(|kept| !kept.is_empty())
}

/// Gives a mapping back to the system.
pub(super) fn unmap(base: NonNull<u8>, mapped: usize) {
    // SAFETY: the mapping is ours, of this size, and no owner is left: callers are the destructors of who owns one.
    unsafe {
        libc::munmap(base.as_ptr().cast(), mapped);
    }
}
