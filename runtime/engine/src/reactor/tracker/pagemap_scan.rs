//! PAGEMAP_SCAN over a private mapping of a file: pages that were written are no longer the file's.
//!
//! It names every page that was written since the memory was mapped, whether or not it was restored since, so
//! that the set only grows; when it has become large, the memory is mapped anew.
//!
//! Not here: the system calls (`kernel`).

use super::kernel::{Pagemap, map_from_file};
use super::{Tracker, TrackerKind, touched_from};
use crate::memory::Region;
use crate::reactor::image::{Image, PAGE_BYTES};

/// Pages that may be named in vain before the memory is mapped anew, as a multiple of those that were written.
const VAIN_FACTOR: usize = 8;

/// Below this many pages, naming them in vain costs less than mapping.
const VAIN_PAGES: usize = 256;

/// Maps a memory from a file, and asks which pages are not the file's any more.
pub(crate) struct PagemapTracker {
    pagemap: Pagemap,
    /// Bytes from the start that are mapped from the file.
    mapped: usize,
    named: usize,
}

impl PagemapTracker {
    /// A tracker of `region`, all of whose pages count as not written.
    pub(crate) fn new(region: &Region) -> Result<PagemapTracker, String> {
        let mut tracker = PagemapTracker { pagemap: Pagemap::open()?, mapped: 0, named: 0 };
        tracker.map(region)?;
        // A kernel without the call says so now.
        tracker.pagemap.private(region, 0..region.len(), &mut Vec::new())?;
        Ok(tracker)
    }

    fn map(&mut self, region: &Region) -> Result<(), String> {
        map_from_file(region, region.len())?;
        self.mapped = region.len();
        Ok(())
    }
}

impl Tracker for PagemapTracker {
    fn written(&mut self, region: &Region, _: &Image, pages: &mut Vec<u32>) -> Result<(), String> {
        let before = pages.len();
        self.mapped = self.mapped.min(region.len());
        self.pagemap.private(region, 0..self.mapped, pages)?;
        touched_from(region, self.mapped, pages);
        self.named = pages.len() - before;
        Ok(())
    }

    fn settled(&mut self, region: &Region, _: &Image, copied: &[u32]) -> Result<(), String> {
        // A memory that was cut lost the mapping of its tail.
        self.mapped = self.mapped.min(region.len());
        let grown = (region.len() - self.mapped) / PAGE_BYTES;
        if self.named.max(grown) > VAIN_PAGES && self.named.max(grown) > VAIN_FACTOR * copied.len() {
            self.map(region)?;
        }
        Ok(())
    }

    fn kind(&self) -> TrackerKind {
        TrackerKind::Scanned
    }
}
