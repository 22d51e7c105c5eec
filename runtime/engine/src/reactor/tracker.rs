//! Finds the pages of a memory that were written since the last query.
//!
//! ```text
//! Marks      bytes that the guest's own code sets at its stores      cost: a scan of one byte a page
//! Protected  userfaultfd write-protection, asynchronous (Linux 6.7)   cost: a fault at each first write
//! Scanned    PAGEMAP_SCAN of pages that left a private file mapping   cost: a scan, and a set that only grows
//! Compared   every page is compared                                   cost: 30 us a MiB; works everywhere
//! ```
//!
//! Invariant: a tracker names every page that differs from the image, and may name more.
//! Not here: what is done with them (`memories`).

mod compare;
mod kernel;
mod marks;
mod pagemap_scan;
mod write_protect;

pub(crate) use compare::CompareTracker;
pub(crate) use kernel::thread_cpu_ns;
pub(crate) use marks::{MarksTracker, STRADDLE_BYTES, add_marked};
pub(crate) use pagemap_scan::PagemapTracker;
pub(crate) use write_protect::WriteProtectTracker;

use super::image::{Image, PAGE_BYTES};
use crate::memory::Region;

/// Finds written pages. `image` is what the memory held when it was last [`Tracker::settled`].
pub(crate) trait Tracker: Send {
    /// Adds to `pages` all pages at which the memory may differ from `image`, of those that both have or only the
    /// memory has. A page may be named twice.
    fn written(&mut self, region: &Region, image: &Image, pages: &mut Vec<u32>) -> Result<(), String>;

    /// The memory holds `image` now; `copied` are the pages that were written to bring that about.
    fn settled(&mut self, region: &Region, image: &Image, copied: &[u32]) -> Result<(), String>;

    /// How many pages are marked now, for those that are told by the guest's own code; 0 otherwise.
    fn marked(&mut self, _: &Region) -> u64 {
        0
    }

    /// Adds to `pages` those that are marked now and those that a marked one may reach into; `false` where writes are not marked.
    fn marked_pages(&mut self, _: &Region, _: &mut Vec<MarkedPage>) -> bool {
        false
    }

    /// Code of the instance may run from here on: what was found in the memory is not all any more.
    fn guest_goes_on(&mut self) {}

    /// Which one it is.
    fn kind(&self) -> TrackerKind;
}

/// A page that was written, or the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MarkedPage {
    pub(crate) number: u32,
    /// Whether only its first [`STRADDLE_BYTES`] can have been written, from the page before it.
    pub(crate) is_next: bool,
}

/// A way to find written pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrackerKind {
    /// Marks set by the guest's own code.
    Marks,
    /// Write-protection by userfaultfd.
    Protected,
    /// Pages that left a private file mapping, by PAGEMAP_SCAN.
    Scanned,
    /// Comparison of every page.
    Compared,
}

impl TrackerKind {
    /// All of them, the cheapest for short executions first.
    pub const ALL: [TrackerKind; 4] =
        [TrackerKind::Marks, TrackerKind::Protected, TrackerKind::Scanned, TrackerKind::Compared];

    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            TrackerKind::Marks => "marks",
            TrackerKind::Protected => "userfaultfd",
            TrackerKind::Scanned => "pagemap",
            TrackerKind::Compared => "comparison",
        }
    }
}

/// Adds the pages from byte `start` of the memory on that anybody ever touched.
fn touched_from(region: &Region, start: usize, pages: &mut Vec<u32>) {
    if start >= region.len() {
        return;
    }
    region.touched(|run| {
        let run = run.start.max(start)..run.end;
        pages.extend(
            (run.start / PAGE_BYTES..run.end.div_ceil(PAGE_BYTES).max(run.start / PAGE_BYTES)).map(|page| page as u32),
        );
    });
}
