//! Marks that the guest's own code sets: one byte for each page, in a memory that the guest cannot reach. Pages that functions of
//! preview 1 write are noted beside the memory itself.
//!
//! The rewriter marks the page where a store begins, or the first of several that are near each other. What it writes may reach
//! into the next page, so that the first bytes of each page behind a marked one are compared.
//!
//! The marks are looked at once between two calls, whoever asks: how many pages an execution wrote, and which of them a restore
//! brings back. What the host writes in between is noted, and not marked.
//!
//! Invariants: the rewriter's verdict says that every write of a guest, and of the host on its behalf, is marked; marks that were found
//! are all that there are until code of the instance runs again ([`Tracker::guest_goes_on`]).
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
    /// Marks that were found and are not cleared yet: the index in `marks`, and the page.
    found: Vec<(usize, usize)>,
    /// Whether these are all.
    are_all_found: bool,
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
        MarksTracker { marks, found: Vec::new(), are_all_found: false }
    }

    /// Finds the marks of all pages, unless they are known.
    fn find(&mut self, region: &Region) {
        if self.are_all_found {
            return;
        }
        let (count, found) = (region.len() / PAGE_BYTES, &mut self.found);
        found.clear();
        for (position, (side, range)) in self.marks.iter().enumerate() {
            each_set(of_pages(side, range, count), |page| found.push((position, page)));
        }
        self.are_all_found = true;
    }
}

impl Tracker for MarksTracker {
    fn written(&mut self, region: &Region, image: &Image, pages: &mut Vec<u32>) -> Result<(), String> {
        self.find(region);
        let (first, count) = (pages.len(), region.len() / PAGE_BYTES);
        pages.extend(self.found.iter().map(|(_, page)| *page as u32));
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
        for (position, page) in self.found.drain(..) {
            let (side, range) = &self.marks[position];
            side.write(range.start + page, &[0]);
        }
        self.are_all_found = false;
        Ok(())
    }

    fn marked(&mut self, region: &Region) -> u64 {
        self.find(region);
        let mut marked = self.found.len() as u64;
        region.each_noted(|_| marked += 1);
        marked
    }

    fn marked_pages(&mut self, region: &Region, pages: &mut Vec<MarkedPage>) -> bool {
        self.find(region);
        self.found.iter().for_each(|(_, page)| push_marked(pages, *page as u32));
        push_noted(pages, region);
        true
    }

    fn guest_goes_on(&mut self) {
        self.are_all_found = false;
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
        each_set(of_pages(side, &range, count), |page| push_marked(pages, page as u32));
    }
    push_noted(pages, region);
}

/// Adds a page that is marked, and the one that it may reach into.
#[inline]
fn push_marked(pages: &mut Vec<MarkedPage>, number: u32) {
    match pages.last_mut().filter(|last| last.number == number) {
        Some(last) => last.is_next = false,
        None => pages.push(MarkedPage { number, is_next: false }),
    }
    pages.push(MarkedPage { number: number + 1, is_next: true });
}

/// Adds the pages that the host has written.
fn push_noted(pages: &mut Vec<MarkedPage>, region: &Region) {
    region.each_noted(|number| pages.push(MarkedPage { number, is_next: false }));
}

/// The marks of the first `count` pages.
fn of_pages<'a>(side: &'a Region, range: &Range<usize>, count: usize) -> &'a [u8] {
    let marks = &side.bytes()[range.clone()];
    &marks[..count.min(marks.len())]
}
