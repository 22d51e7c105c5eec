//! The memories of one instance: what they held last, which pages were written since, and the way back.
//!
//! ```text
//! capture   written pages that differ ─▶ a new image, sharing the rest with the last one
//! restore   written pages + pages at which the images differ ─▶ copied from the image
//! ```
//!
//! When an instance has ended, the next one gets its memories as they are. Instantiation writes data segments, which no
//! tracker sees for certain: their pages are known from the first instance, and taken as written.
//!
//! Invariant: after both, memory and image are equal. Every [`CHECK_INTERVAL`]th time this is looked at for a
//! few pages, the next ones each time, and a difference is an error that says so: nothing is restored wrongly in silence for long.
//! Not here: globals and handles (`mod`).

use super::image::{Image, PAGE_BYTES, Page};
use super::tracker::{
    CompareTracker, MarkedPage, MarksTracker, PagemapTracker, Tracker, TrackerKind, WriteProtectTracker, thread_cpu_ns,
};
use crate::memory::Region;
use std::ops::Range;
use std::sync::Arc;

/// How often a capture or restore is checked, and how many pages of each memory are looked at then: so few that it costs a
/// hundredth of the smallest restore, in all memories alike.
const CHECK_INTERVAL: u64 = 128;
const CHECK_PAGES: usize = 4;

/// Restores by which the cost of a tracker is found, and the pages that are written for each.
const COST_TRIALS: usize = 4;
const COST_PAGES: usize = 8;

/// The largest tail whose pages a memory keeps when it becomes smaller.
const HIDDEN_BYTES_MAX: usize = 16 << 20;

/// Where marks are: a side memory, and its bytes for the pages of the memory in question.
pub(crate) type MarkSites = Vec<(Arc<Region>, Range<usize>)>;

/// One memory that is tracked.
struct TrackedMemory {
    region: Arc<Region>,
    /// What it held when it was captured or restored last.
    image: Arc<Image>,
    tracker: Box<dyn Tracker>,
    /// The page that is looked at next.
    next_check: usize,
    /// Pages that an instantiation writes.
    segments: Vec<u32>,
    /// Pages that were written unseen by the tracker.
    pending: Vec<u32>,
}

impl TrackedMemory {
    /// The pages at which the memory may differ from its image.
    fn written(&mut self, pages: &mut Vec<u32>) -> Result<(), String> {
        pages.clear();
        self.tracker.written(&self.region, &self.image, pages)?;
        if !self.pending.is_empty() {
            pages.append(&mut self.pending);
            pages.sort_unstable();
            pages.dedup();
            let count = (self.region.len() / PAGE_BYTES) as u32;
            pages.retain(|page| *page < count);
        }
        Ok(())
    }

    /// Resets it to the contents of a new memory.
    fn renew(&mut self, pages: &mut Vec<u32>) -> Result<(), String> {
        self.written(pages)?;
        pages.extend(self.image.held());
        self.region.resize(self.region.minimum())?;
        let count = (self.region.len() / PAGE_BYTES) as u32;
        pages.retain(|page| *page < count);
        for page in &*pages {
            let start = *page as usize * PAGE_BYTES;
            self.region.clear(start..start + PAGE_BYTES);
        }
        let mut image = Image::default();
        image.resize(self.region.len());
        self.image = Arc::new(image);
        self.tracker.settled(&self.region, &self.image, pages)
    }

    /// Compares the next few pages with the image.
    fn check_some(&mut self) -> Result<(), String> {
        let count = self.region.len() / PAGE_BYTES;
        let start = if self.next_check < count { self.next_check } else { 0 };
        let end = count.min(start + CHECK_PAGES);
        self.next_check = end;
        let (region, image, kind) = (&self.region, &self.image, self.tracker.kind());
        if kind != TrackerKind::Scanned {
            return check_equal(region, image, kind, start..end);
        }
        // Reading an untouched page maps it, and then each scan includes it. Its contents are still those of the file.
        let mut found = Ok(());
        region.touched_of(start * PAGE_BYTES..end * PAGE_BYTES, |run| {
            let pages = run.start / PAGE_BYTES..run.end / PAGE_BYTES;
            if found.is_ok() {
                found = check_equal(region, image, kind, pages);
            }
        });
        found
    }
}

/// All memories of one instance, in the order of instantiation.
pub(crate) struct GuestMemories {
    tracked: Vec<TrackedMemory>,
    pages: Vec<u32>,
    until_check: u64,
    /// Whether the last restore copied from the last page to the first.
    is_backwards: bool,
    /// Bytes of the memories when the way of tracking was chosen; `None` when the caller chose it.
    chosen_at: Option<u64>,
    /// Pages that were copied by restores.
    pub(crate) copied: u64,
}

impl GuestMemories {
    /// Tracks `regions` from now on with a tracker of the given kind; `marks` are for the only memory there is.
    pub(crate) fn new(
        regions: Vec<Arc<Region>>,
        kind: TrackerKind,
        marks: &MarkSites,
    ) -> Result<GuestMemories, String> {
        let mut tracked = Vec::with_capacity(regions.len());
        for region in regions {
            let mut segments = Vec::new();
            let image = Arc::new(image_of(&region, &mut segments));
            let tracker: Box<dyn Tracker> = match kind {
                TrackerKind::Marks => Box::new(MarksTracker::new(&region, marks.clone())),
                TrackerKind::Protected => Box::new(WriteProtectTracker::new(&region)?),
                TrackerKind::Scanned => Box::new(PagemapTracker::new(&region)?),
                TrackerKind::Compared => Box::new(CompareTracker),
            };
            tracked.push(TrackedMemory { region, image, tracker, next_check: 0, segments, pending: Vec::new() });
        }
        Ok(GuestMemories {
            tracked,
            pages: Vec::new(),
            until_check: CHECK_INTERVAL,
            is_backwards: false,
            chosen_at: Some(0),
            copied: 0,
        })
    }

    /// Changes the tracker. Earlier writes are captured first.
    pub(crate) fn track(&mut self, kind: TrackerKind, marks: &MarkSites) -> Result<(), String> {
        let images = self.capture()?;
        if self.kind() == Some(kind) {
            // A memory cannot be protected by two at once.
            self.chosen_at = None;
            return Ok(());
        }
        let kept = self.tracked.iter().map(|tracked| (Arc::clone(&tracked.region), tracked.segments.clone()));
        let (regions, segments): (_, Vec<_>) = kept.unzip();
        let copied = self.copied;
        // What this machine does not have leaves everything as it was.
        *self = GuestMemories::new(regions, kind, marks)?;
        (self.copied, self.chosen_at) = (copied, None);
        // The images that others share pages with.
        for ((tracked, image), segments) in self.tracked.iter_mut().zip(images).zip(segments) {
            (tracked.image, tracked.segments) = (image, segments);
        }
        Ok(())
    }

    /// Chooses the cheapest way of tracking by trying them, when the memories have become much larger since the last
    /// choice. Marks cost what they cost already, and are always kept.
    pub(crate) fn choose(&mut self) -> Result<(), String> {
        let bytes = self.bytes();
        let due = self.chosen_at.is_some_and(|at| bytes > 2 * at);
        if !due || self.kind().is_none_or(|kind| kind == TrackerKind::Marks) {
            return Ok(());
        }
        let mut costs = Vec::new();
        for kind in [TrackerKind::Compared, TrackerKind::Scanned, TrackerKind::Protected] {
            // What this machine does not have is not chosen.
            if self.track(kind, &MarkSites::new()).is_ok() {
                costs.push((self.cost()?, kind));
            }
        }
        let (_, cheapest) = costs.into_iter().min().ok_or("no way to find written pages")?;
        self.track(cheapest, &MarkSites::new())?;
        self.chosen_at = Some(bytes);
        Ok(())
    }

    /// CPU time of the cheapest of a few restores, in which some pages were written.
    fn cost(&mut self) -> Result<u64, String> {
        let images = self.images();
        let mut least = u64::MAX;
        for _ in 0..COST_TRIALS {
            let begin = thread_cpu_ns();
            for TrackedMemory { region, image, .. } in &self.tracked {
                for page in 0..(image.len() / PAGE_BYTES).min(COST_PAGES) {
                    // The same bytes: only the kernel sees a difference.
                    region.write(page * PAGE_BYTES, &image.page(page)[..1]);
                }
            }
            self.restore(&images)?;
            least = least.min(thread_cpu_ns() - begin);
        }
        Ok(least)
    }

    pub(crate) fn kind(&self) -> Option<TrackerKind> {
        self.tracked.first().map(|tracked| tracked.tracker.kind())
    }

    /// Bytes of all memories.
    pub(crate) fn bytes(&self) -> u64 {
        self.tracked.iter().map(|tracked| tracked.region.len() as u64).sum()
    }

    /// Code of the instance may run from here on, and write to them.
    #[inline]
    pub(crate) fn guest_goes_on(&mut self) {
        self.tracked.iter_mut().for_each(|tracked| tracked.tracker.guest_goes_on());
    }

    /// Pages that were written since the last capture or restore, where the guest's own code tells; 0 otherwise.
    pub(crate) fn marked(&mut self) -> u64 {
        self.tracked.iter_mut().map(|tracked| tracked.tracker.marked(&tracked.region)).sum()
    }

    /// Pages that were written since the last capture or restore, of the only memory that there is, where the guest's own code tells;
    /// `false` where it does not, or there are several.
    pub(crate) fn marked_pages(&mut self, pages: &mut Vec<MarkedPage>) -> bool {
        let [TrackedMemory { region, tracker, .. }] = &mut *self.tracked else { return false };
        pages.clear();
        tracker.marked_pages(region, pages)
    }

    /// Whether [`GuestMemories::marked_pages`] are known.
    pub(crate) fn is_marked(&self) -> bool {
        self.tracked.len() == 1 && self.kind() == Some(TrackerKind::Marks)
    }

    /// Prepares the memories for another instance. They are reset to new ones, unless they are taken `as_they_are`: then they
    /// are restored before guest code reads them.
    pub(crate) fn hand_on(&mut self, as_they_are: bool) -> Result<(), String> {
        self.guest_goes_on();
        for tracked in &mut self.tracked {
            if !as_they_are {
                tracked.renew(&mut self.pages)?;
            }
            tracked.pending.extend_from_slice(&tracked.segments);
        }
        Ok(())
    }

    /// What the memories hold now.
    pub(crate) fn capture(&mut self) -> Result<Vec<Arc<Image>>, String> {
        let check = self.is_check_due();
        for tracked in &mut self.tracked {
            tracked.written(&mut self.pages)?;
            let TrackedMemory { region, image, tracker, .. } = tracked;
            if !self.pages.is_empty() || image.len() != region.len() {
                let image = Arc::make_mut(image);
                image.resize(region.len());
                for page in &self.pages {
                    image.set(*page as usize, page_of(region, *page as usize));
                }
            }
            tracker.settled(region, image, &[])?;
            if check {
                tracked.check_some()?;
            }
        }
        Ok(self.images())
    }

    /// What the memories held when they were captured or restored last.
    pub(crate) fn images(&self) -> Vec<Arc<Image>> {
        self.tracked.iter().map(|tracked| Arc::clone(&tracked.image)).collect()
    }

    /// Restores `images`; `true` when a memory changed its size, which the engine has to read again.
    pub(crate) fn restore(&mut self, images: &[Arc<Image>]) -> Result<bool, String> {
        assert_eq!(images.len(), self.tracked.len(), "images of another program");
        let check = self.is_check_due();
        let mut resized = false;
        self.is_backwards = !self.is_backwards;
        for (tracked, target) in self.tracked.iter_mut().zip(images) {
            tracked.written(&mut self.pages)?;
            let TrackedMemory { region, image, tracker, .. } = tracked;
            // Going back to where it came from is what happens most.
            let elsewhere = !Arc::ptr_eq(image, target);
            if elsewhere {
                image.differing(target, |page| self.pages.push(page as u32));
            }
            if image.len() != target.len() {
                // Pages that only one of them has are not in question above.
                let both = image.len().min(target.len()) / PAGE_BYTES;
                self.pages.extend((both..target.len() / PAGE_BYTES).map(|page| page as u32));
            }
            let count = (target.len() / PAGE_BYTES) as u32;
            if region.len() != target.len() {
                // All that is not zero of what has grown since is known to the marks, to the byte.
                let grown = region.len().saturating_sub(target.len().max(image.len()));
                if image.len() <= target.len()
                    && (1..=HIDDEN_BYTES_MAX).contains(&grown)
                    && tracker.kind() == TrackerKind::Marks
                {
                    for start in
                        self.pages.iter().filter(|page| **page >= count).map(|page| *page as usize * PAGE_BYTES)
                    {
                        region.clear(start..start + PAGE_BYTES);
                    }
                    region.hide(target.len())?;
                } else {
                    region.resize(target.len())?;
                }
                resized = true;
            }
            self.pages.retain(|page| *page < count);
            each_page(&self.pages, self.is_backwards, |page| region.write_page(page * PAGE_BYTES, target.page(page)));
            self.copied += self.pages.len() as u64;
            tracker.settled(region, target, &self.pages)?;
            if elsewhere {
                *image = Arc::clone(target);
            }
            if check {
                tracked.check_some()?;
            }
        }
        Ok(resized)
    }

    /// The pages that the last restore wrote, of a computer with one memory.
    pub(crate) fn restored_pages(&self) -> &[u32] {
        &self.pages
    }

    fn is_check_due(&mut self) -> bool {
        self.until_check -= 1;
        if self.until_check == 0 {
            self.until_check = CHECK_INTERVAL;
        }
        self.until_check == CHECK_INTERVAL
    }

    /// Compares memories and images whole, after a capture or restore.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.tracked.iter().try_for_each(|TrackedMemory { region, image, tracker, .. }| {
            check_equal(region, image, tracker.kind(), 0..region.len() / PAGE_BYTES)
        })
    }
}

/// What a memory holds; the pages that were ever touched are added to `pages`.
fn image_of(region: &Region, pages: &mut Vec<u32>) -> Image {
    let mut image = Image::default();
    image.resize(region.len());
    region.touched(|run| {
        for page in run.start / PAGE_BYTES..run.end.div_ceil(PAGE_BYTES) {
            image.set(page, page_of(region, page));
            pages.push(page as u32);
        }
    });
    image
}

/// Calls `each` with every one of `pages`, from the first to the last or the other way.
///
/// One restore after the other copies mostly the same pages, which are somewhat more than the nearest cache holds. In the same direction
/// each time, every page would find that those before it have just taken its place there; in turns, the last ones of the restore before
/// come first, and are still there.
#[inline]
fn each_page(pages: &[u32], is_backwards: bool, mut each: impl FnMut(usize)) {
    let each = |page: &u32| each(*page as usize);
    match is_backwards {
        false => pages.iter().for_each(each),
        true => pages.iter().rev().for_each(each),
    }
}

fn page_of(region: &Region, page: usize) -> &Page {
    let start = page * PAGE_BYTES;
    region.bytes()[start..start + PAGE_BYTES].try_into().expect("a page")
}

fn check_equal(region: &Region, image: &Image, kind: TrackerKind, mut pages: Range<usize>) -> Result<(), String> {
    match pages.find(|page| image.page(*page) != page_of(region, *page)) {
        None => Ok(()),
        Some(page) => Err(format!(
            "the tracker `{}` did not see that page {page} was written; this is a fault of fozzy, please report it \
             with the program",
            kind.name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{self, HostMemories};
    use wasmtime::{MemoryCreator, MemoryType};

    const BYTES: usize = 64 << 10;

    fn region() -> Arc<Region> {
        drop(memory::collect());
        let memory = HostMemories.new_memory(MemoryType::new(1, None), BYTES, None, Some(1 << 20), 65_536);
        drop(memory.expect("address space"));
        memory::collect().pop().expect("it was just made")
    }

    #[test]
    fn pages_are_visited_once_each_in_both_directions() {
        for (is_backwards, expected) in [(false, [3, 7, 9]), (true, [9, 7, 3])] {
            let mut seen = Vec::new();
            each_page(&[3, 7, 9], is_backwards, |page| seen.push(page));
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn a_memory_is_what_it_was_in_whichever_direction_it_is_restored() {
        let region = region();
        let write = |page: usize, byte: u8| region.write(page * PAGE_BYTES + page, &[byte]);
        (0..9).for_each(|page| write(page, 1));
        let mut memories = GuestMemories::new(vec![Arc::clone(&region)], TrackerKind::Compared, &MarkSites::new())
            .expect("it is tracked");
        let mut kept = vec![(memories.capture().expect("it is read"), region.bytes().to_vec())];
        (4..12).for_each(|page| write(page, 2));
        kept.push((memories.capture().expect("it is read"), region.bytes().to_vec()));
        // Each state is restored in each direction, from itself and from the other one.
        for (turn, state) in [0, 0, 1, 1, 1, 0, 1, 0, 0, 1].into_iter().enumerate() {
            (turn..turn + 5).for_each(|page| write(page, 3 + turn as u8));
            let (images, bytes) = &kept[state];
            assert!(!memories.restore(images).expect("it is written"), "of the same size");
            assert!(region.bytes() == bytes.as_slice(), "restore {turn}");
            memories.check().expect("memory and image are equal");
            assert_eq!(memories.is_backwards, turn % 2 == 0, "in turns");
        }
    }
}
