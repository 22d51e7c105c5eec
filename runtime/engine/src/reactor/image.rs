//! The contents of a memory at one moment, sharing what did not change with the images before and after.
//!
//! ```text
//! Image ─▶ [chunk 0 │ chunk 1 │ –]          a chunk stands for 64 pages; none of them: all zero
//!             │ shared by images
//!             ▼
//!          [page 0 │ – │ page 2 …]          a page stands for 4096 bytes; none: zero
//! ```
//!
//! Invariants: pages never change once they are in an image. Two images differ at a page only if their
//! pointers to it differ; equal pages may still have different pointers.
//! Not here: which pages of a live memory changed (`tracker`).

use std::sync::Arc;

pub(crate) use crate::memory::PAGE_BYTES;

/// Pages of one chunk.
const CHUNK_PAGES: usize = 64;

/// The bytes of one page.
pub(crate) type Page = [u8; PAGE_BYTES];

static ZERO: Page = [0; PAGE_BYTES];

#[derive(Clone, Debug)]
struct Chunk([Option<Arc<Page>>; CHUNK_PAGES]);

impl Default for Chunk {
    fn default() -> Self {
        Chunk([const { None }; CHUNK_PAGES])
    }
}

/// The contents of a memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    bytes: usize,
    chunks: Vec<Option<Arc<Chunk>>>,
}

impl Image {
    /// Size of the memory, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Sets the size. What is cut off is gone; what is added is zero.
    pub(crate) fn resize(&mut self, bytes: usize) {
        let (pages, shrinks) = (bytes / PAGE_BYTES, bytes < self.bytes);
        self.bytes = bytes;
        self.chunks.resize(pages.div_ceil(CHUNK_PAGES), None);
        let beyond = pages % CHUNK_PAGES;
        if shrinks
            && beyond > 0
            && let Some(Some(chunk)) = self.chunks.last_mut()
        {
            Arc::make_mut(chunk).0[beyond..].fill(None);
        }
    }

    /// The bytes of a page.
    #[inline]
    pub(crate) fn page(&self, index: usize) -> &Page {
        self.shared(index).map_or(&ZERO, |page| page)
    }

    #[inline]
    fn shared(&self, index: usize) -> Option<&Arc<Page>> {
        self.chunks.get(index / CHUNK_PAGES)?.as_ref()?.0[index % CHUNK_PAGES].as_ref()
    }

    /// Has `bytes` at a page; `false` when it had them already. The page lies inside the memory.
    pub(crate) fn set(&mut self, index: usize, bytes: &Page) -> bool {
        if self.page(index) == bytes {
            return false;
        }
        let page = (*bytes != ZERO).then(|| Arc::new(*bytes));
        let chunk = self.chunks[index / CHUNK_PAGES].get_or_insert_default();
        Arc::make_mut(chunk).0[index % CHUNK_PAGES] = page;
        true
    }

    /// The pages that may be other than zero.
    pub(crate) fn held(&self) -> impl Iterator<Item = u32> {
        let chunks = self.chunks.iter().enumerate().filter_map(|(position, chunk)| Some((position, chunk.as_ref()?)));
        chunks.flat_map(|(position, chunk)| {
            let held = chunk.0.iter().enumerate().filter(|(_, page)| page.is_some());
            held.map(move |(index, _)| (position * CHUNK_PAGES + index) as u32)
        })
    }

    /// Calls `each` for the pages at which two images may differ, of those that both have.
    pub(crate) fn differing(&self, other: &Image, mut each: impl FnMut(usize)) {
        for (position, (one, two)) in self.chunks.iter().zip(&other.chunks).enumerate() {
            if pointer(one) == pointer(two) {
                continue;
            }
            for index in position * CHUNK_PAGES..(position + 1) * CHUNK_PAGES {
                if self.shared(index).map(Arc::as_ptr) != other.shared(index).map(Arc::as_ptr) {
                    each(index);
                }
            }
        }
    }

    /// Bytes that are held for this image and not for `other`: its own pages and tables.
    pub(crate) fn bytes_beside(&self, other: &Image) -> u64 {
        let mut held = size_of_val(self.chunks.as_slice()) as u64;
        for (position, chunk) in self.chunks.iter().enumerate() {
            let beside = other.chunks.get(position).unwrap_or(&None);
            let Some(own) = chunk.as_ref().filter(|_| pointer(chunk) != pointer(beside)) else { continue };
            held += size_of::<Chunk>() as u64;
            let others = |index: usize| beside.as_ref().and_then(|chunk| chunk.0[index].as_ref()).map(Arc::as_ptr);
            let own = own.0.iter().enumerate().filter_map(|(index, page)| Some((index, Arc::as_ptr(page.as_ref()?))));
            held += own.filter(|(index, page)| others(*index) != Some(*page)).count() as u64 * PAGE_BYTES as u64;
        }
        held
    }

    /// A digest of size and contents.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        hasher.update(&(self.bytes as u64).to_le_bytes());
        for index in 0..self.bytes / PAGE_BYTES {
            if let Some(page) = self.shared(index).filter(|page| ***page != ZERO) {
                hasher.update(&(index as u64).to_le_bytes());
                hasher.update(&page[..]);
            }
        }
        hasher.digest()
    }
}

fn pointer(chunk: &Option<Arc<Chunk>>) -> Option<*const Chunk> {
    chunk.as_ref().map(Arc::as_ptr)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn page(byte: u8) -> Page {
        [byte; PAGE_BYTES]
    }

    fn differing(one: &Image, two: &Image) -> Vec<usize> {
        let mut found = Vec::new();
        one.differing(two, |index| found.push(index));
        found
    }

    #[test]
    fn an_image_shares_what_did_not_change() {
        let mut first = Image::default();
        first.resize(2 * MIB);
        assert!(first.set(3, &page(1)) && first.set(300, &page(2)) && !first.set(300, &page(2)));
        let mut second = first.clone();
        assert!(second.set(300, &page(3)) && !second.set(5, &page(0)));
        assert_eq!(differing(&first, &second), [300]);
        assert_eq!((first.page(300)[0], second.page(300)[9], second.page(3)[1], second.page(4)[0]), (2, 3, 1, 0));
        assert_ne!(first.digest(), second.digest());
        let table = size_of_val(second.chunks.as_slice()) as u64;
        assert_eq!(second.bytes_beside(&first), table + size_of::<Chunk>() as u64 + PAGE_BYTES as u64);
        second.set(300, &page(2));
        assert_eq!(first.digest(), second.digest(), "by contents, not by pointers");
    }

    #[test]
    fn what_is_cut_off_comes_back_as_zero() {
        let mut image = Image::default();
        image.resize(MIB);
        for index in [0, 15, 16, 17, 200] {
            image.set(index, &page(7));
        }
        image.resize(16 * PAGE_BYTES);
        assert_eq!(image.len(), 16 * PAGE_BYTES);
        image.resize(MIB);
        let bytes: Vec<u8> = [0, 15, 16, 17, 200].map(|index| image.page(index)[0]).to_vec();
        assert_eq!(bytes, [7, 7, 0, 0, 0]);
    }

    #[test]
    fn a_page_of_zeros_holds_nothing() {
        let mut image = Image::default();
        image.resize(MIB);
        image.set(1, &page(1));
        let mut zero = image.clone();
        zero.set(1, &page(0));
        assert_eq!(differing(&image, &zero), [1]);
        assert_eq!(zero.page(1), &ZERO);
    }
}
