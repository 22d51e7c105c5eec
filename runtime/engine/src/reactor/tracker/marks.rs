//! Marks that the guest's own code sets: one byte for each page, in a memory that the guest cannot reach. Pages that functions of
//! preview 1 write are noted beside the memory itself.
//!
//! The rewriter marks the page where a store begins, or the first of several that are near each other. What it writes may reach
//! into the next page, so that the first bytes of each page behind a marked one are compared.
//!
//! Invariant: the rewriter's verdict says that every write of a guest, and of the host on its behalf, is marked.
//! Not here: putting the marks in (`fozzy-instrument`).

use super::{MarkedPage, Tracker, TrackerKind};
use crate::memory::{Region, each_set};
use crate::reactor::image::{Image, PAGE_BYTES};
use std::ops::Range;
use std::sync::Arc;

/// How far what one mark stands for may reach into the next page.
pub(crate) const STRADDLE_BYTES: usize = fozzy_instrument::STRADDLE_BYTES as usize;

/// Where the marks of one memory are; several modules may write to it, each with marks of its own.
pub(crate) struct MarksTracker {
    /// Side memories, and where in each the marks are.
    marks: Vec<(Arc<Region>, Range<usize>)>,
    /// Marks that were found and are not cleared yet: the index in `marks`, and the offset in the side memory.
    found: Vec<(usize, usize)>,
}

impl MarksTracker {
    /// Nothing is marked.
    pub(crate) fn new(region: &Region, marks: Vec<(Arc<Region>, Range<usize>)>) -> MarksTracker {
        region.note_written();
        region.forget_noted();
        for (side, range) in &marks {
            side.touched(|run| {
                let run = run.start.max(range.start)..run.end.min(range.end);
                if !run.is_empty() {
                    side.clear(run);
                }
            });
        }
        MarksTracker { marks, found: Vec::new() }
    }
}

impl Tracker for MarksTracker {
    fn written(&mut self, region: &Region, image: &Image, pages: &mut Vec<u32>) -> Result<(), String> {
        let count = region.len() / PAGE_BYTES;
        let first = pages.len();
        let found = &mut self.found;
        for (position, (side, range)) in self.marks.iter().enumerate() {
            each_set(of_pages(side, range, count), |page| {
                pages.push(page as u32);
                found.push((position, range.start + page));
            });
        }
        let live = region.bytes();
        for position in first..pages.len() {
            let next = pages[position] as usize + 1;
            // Marked ones are named already; what follows the last one of a run is looked at.
            if next < count && pages.get(position + 1) != Some(&(next as u32)) {
                let start = next * PAGE_BYTES;
                if live[start..start + STRADDLE_BYTES] != image.page(next)[..STRADDLE_BYTES] {
                    pages.push(next as u32);
                }
            }
        }
        region.each_noted(|page| pages.push(page));
        Ok(())
    }

    fn settled(&mut self, region: &Region, _: &Image, _: &[u32]) -> Result<(), String> {
        region.forget_noted();
        for (position, mark) in self.found.drain(..) {
            self.marks[position].0.write(mark, &[0]);
        }
        Ok(())
    }

    fn marked(&self, region: &Region) -> u64 {
        let (mut marked, count) = (0, region.len() / PAGE_BYTES);
        for (side, range) in &self.marks {
            each_set(of_pages(side, range, count), |_| marked += 1);
        }
        region.each_noted(|_| marked += 1);
        marked
    }

    fn marked_pages(&self, region: &Region, pages: &mut Vec<MarkedPage>) -> bool {
        add_marked(self.marks.iter().map(|(side, range)| (&**side, range.clone())), region, pages);
        true
    }

    fn kind(&self) -> TrackerKind {
        TrackerKind::Marks
    }
}

/// Adds to `pages` those of `region` that are marked, in these side memories and places there, and those that a marked one may reach into.
pub(crate) fn add_marked<'a>(
    marks: impl Iterator<Item = (&'a Region, Range<usize>)>,
    region: &Region,
    pages: &mut Vec<MarkedPage>,
) {
    let count = region.len() / PAGE_BYTES;
    for (side, range) in marks {
        each_set(of_pages(side, &range, count), |page| {
            let number = page as u32;
            match pages.last_mut().filter(|last| last.number == number) {
                Some(last) => last.is_next = false,
                None => pages.push(MarkedPage { number, is_next: false }),
            }
            pages.push(MarkedPage { number: number + 1, is_next: true });
        });
    }
    region.each_noted(|number| pages.push(MarkedPage { number, is_next: false }));
}

/// The marks of the first `count` pages.
fn of_pages<'a>(side: &'a Region, range: &Range<usize>, count: usize) -> &'a [u8] {
    let marks = &side.bytes()[range.clone()];
    &marks[..count.min(marks.len())]
}
