//! Comparison of every page: works on every machine, and costs what memory costs.
//!
//! Not here: comparing one page at a time (`memories` does that for what a tracker names).

use super::{Tracker, TrackerKind, touched_from};
use crate::memory::Region;
use crate::reactor::image::{Image, PAGE_BYTES};

/// Names the pages that differ.
pub(crate) struct CompareTracker;

impl Tracker for CompareTracker {
    fn written(&mut self, region: &Region, image: &Image, pages: &mut Vec<u32>) -> Result<(), String> {
        let both = region.len().min(image.len());
        let live = region.bytes()[..both].chunks_exact(PAGE_BYTES).enumerate();
        pages.extend(live.filter(|(index, bytes)| image.page(*index)[..] != **bytes).map(|(index, _)| index as u32));
        touched_from(region, both, pages);
        Ok(())
    }

    fn settled(&mut self, _: &Region, _: &Image, _: &[u32]) -> Result<(), String> {
        Ok(())
    }

    fn kind(&self) -> TrackerKind {
        TrackerKind::Compared
    }
}
