//! The bytes of a file: chunks over an immutable base, with holes.
//!
//! ```text
//! size 20000   base (shared with the inputs)  |aaaaaaaaaaaaaa|            first 9000 bytes
//!              chunks (ours)                       |bb|          |c|
//!              read                           |aaaabbaaaaaaaa0000c000|
//! ```
//!
//! Invariants: a chunk that is present hides the base and holds at least the base's bytes at its place;
//! neither base nor chunk reaches beyond the size; what neither covers is zero and costs nothing.
//! Not here: limits (the disk decides from [`FileContent::growth`] before it writes).

use super::radix::RadixTree;
use std::sync::Arc;

/// Bytes of a chunk: what a first write after a clone copies. A page, so that small files stay small
/// and a checkpoint's price follows what was really written.
pub(super) const CHUNK_BYTES: u64 = 4096;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct FileContent {
    size: u64,
    base: Option<Arc<[u8]>>,
    /// How much of `base` still shows; a truncation lowers it for good.
    base_bytes: u64,
    chunks: RadixTree<Arc<Vec<u8>>>,
    usage: ContentUsage,
}

/// What a content takes of the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContentUsage {
    /// Bytes held, holes not counted.
    pub(super) bytes: u64,
    /// Chunks of our own.
    pub(super) chunks: u64,
}

impl FileContent {
    /// A content that is `base` until it is written to.
    pub(super) fn over(base: Arc<[u8]>) -> FileContent {
        let size = base.len() as u64;
        let usage = ContentUsage { bytes: size, chunks: 0 };
        FileContent { size, base: Some(base), base_bytes: size, chunks: RadixTree::default(), usage }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn usage(&self) -> ContentUsage {
        self.usage
    }

    /// The bytes that are stored for a chunk; what follows them up to the next chunk is zero.
    fn chunk(&self, index: u64) -> &[u8] {
        match self.chunks.get(index) {
            Some(chunk) => chunk,
            None => self.base_chunk(index),
        }
    }

    fn base_chunk(&self, index: u64) -> &[u8] {
        let start = index * CHUNK_BYTES;
        match &self.base {
            Some(base) if start < self.base_bytes => {
                &base[start as usize..self.base_bytes.min(start + CHUNK_BYTES) as usize]
            }
            _ => &[],
        }
    }

    /// Fills `buffer` from `offset` on; returns how many bytes there were.
    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let length = (self.size.saturating_sub(offset)).min(buffer.len() as u64) as usize;
        let mut done = 0;
        while done < length {
            let position = offset + done as u64;
            let within = (position % CHUNK_BYTES) as usize;
            let step = (CHUNK_BYTES as usize - within).min(length - done);
            let stored = self.chunk(position / CHUNK_BYTES).get(within..).unwrap_or(&[]);
            let copied = stored.len().min(step);
            let target = &mut buffer[done..done + step];
            target[..copied].copy_from_slice(&stored[..copied]);
            target[copied..].fill(0);
            done += step;
        }
        length
    }

    /// What writing `length` bytes at `offset`, all in one chunk, would add to the usage.
    #[inline]
    pub(super) fn growth(&self, offset: u64, length: u64) -> ContentUsage {
        let (index, end) = (offset / CHUNK_BYTES, offset % CHUNK_BYTES + length);
        assert!(end <= CHUNK_BYTES, "a step of a write stays in its chunk");
        let (held, chunks) = match self.chunks.get(index) {
            Some(chunk) => (chunk.len(), 0),
            None => (self.base_chunk(index).len(), 1),
        };
        ContentUsage { bytes: end.saturating_sub(held as u64), chunks }
    }

    /// Writes bytes that all lie in one chunk; returns what that added to the usage.
    #[inline]
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> ContentUsage {
        let growth = self.growth(offset, bytes.len() as u64);
        let (index, within) = (offset / CHUNK_BYTES, (offset % CHUNK_BYTES) as usize);
        if growth.chunks == 1 {
            let mut own = Vec::with_capacity(self.base_chunk(index).len().max(within + bytes.len()));
            own.extend_from_slice(self.base_chunk(index));
            self.chunks.insert(index, Arc::new(own));
        }
        let chunk = Arc::make_mut(self.chunks.get_mut(index).expect("made above"));
        if chunk.len() == within {
            chunk.extend_from_slice(bytes);
        } else {
            if chunk.len() < within + bytes.len() {
                chunk.resize(within + bytes.len(), 0);
            }
            chunk[within..within + bytes.len()].copy_from_slice(bytes);
        }
        self.size = self.size.max(offset + bytes.len() as u64);
        self.usage.bytes += growth.bytes;
        self.usage.chunks += growth.chunks;
        growth
    }

    /// Cuts or extends; an extension is a hole.
    pub(super) fn set_size(&mut self, size: u64) {
        if size == 0 {
            *self = FileContent::default();
            return;
        }
        if size < self.size {
            self.cut(size);
        }
        self.size = size;
    }

    fn cut(&mut self, size: u64) {
        let (boundary, kept) = (size / CHUNK_BYTES, (size % CHUNK_BYTES) as usize);
        let first_gone = size.div_ceil(CHUNK_BYTES);
        let (base_bytes, mut freed) = (self.base_bytes, ContentUsage::default());
        let base_at = |index: u64| base_bytes.saturating_sub(index * CHUNK_BYTES).min(CHUNK_BYTES);
        self.chunks.truncate(first_gone, &mut |index, chunk| {
            freed.bytes += chunk.len() as u64 - base_at(index);
            freed.chunks += 1;
        });
        if kept > 0
            && let Some(chunk) = self.chunks.get_mut(boundary)
            && chunk.len() > kept
        {
            // The base's part of this chunk is counted with the base, below.
            let beyond_base = |bytes: usize| (bytes as u64).saturating_sub(base_at(boundary));
            freed.bytes += beyond_base(chunk.len()) - beyond_base(kept);
            Arc::make_mut(chunk).truncate(kept);
        }
        self.base_bytes = base_bytes.min(size);
        freed.bytes += base_bytes - self.base_bytes;
        self.usage.bytes -= freed.bytes;
        self.usage.chunks -= freed.chunks;
    }

    /// Shows what differs from zero, in order: position of the chunk, its bytes without trailing zeros.
    /// Equal contents show the same, however they came to be.
    pub(super) fn for_each_piece(&self, visit: &mut dyn FnMut(u64, &[u8])) {
        let mut show = |index: u64, bytes: &[u8]| {
            let end = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
            if end > 0 {
                visit(index, &bytes[..end]);
            }
        };
        // Own chunks come in order; the base's chunks before each of them are shown first.
        let base_chunks = self.base_bytes.div_ceil(CHUNK_BYTES);
        let mut next = 0;
        self.chunks.for_each(&mut |index, chunk| {
            for base in next..index.min(base_chunks) {
                show(base, self.base_chunk(base));
            }
            show(index, chunk);
            next = index + 1;
        });
        for base in next..base_chunks {
            show(base, self.base_chunk(base));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Lcg;
    use super::*;

    fn bytes(content: &FileContent) -> Vec<u8> {
        let mut all = vec![0xEE; content.size() as usize];
        assert_eq!(content.read(0, &mut all), all.len());
        all
    }

    fn write(content: &mut FileContent, mut offset: u64, mut data: &[u8]) {
        while !data.is_empty() {
            let step = ((CHUNK_BYTES - offset % CHUNK_BYTES) as usize).min(data.len());
            content.write(offset, &data[..step]);
            offset += step as u64;
            data = &data[step..];
        }
    }

    /// Usage counted anew, from nothing but what is stored.
    fn recount(content: &FileContent) -> ContentUsage {
        let (mut usage, mut hidden) = (ContentUsage::default(), 0);
        content.chunks.for_each(&mut |index, chunk| {
            usage.bytes += chunk.len() as u64;
            usage.chunks += 1;
            hidden += content.base_chunk(index).len() as u64;
        });
        usage.bytes += content.base_bytes - hidden;
        usage
    }

    #[test]
    fn random_writes_and_cuts_equal_a_vector() {
        let mut random = Lcg(3);
        for round in 0..60 {
            let base: Vec<u8> = (0..random.below(20_000)).map(|n| n as u8 | 1).collect();
            let (mut content, mut model) = (FileContent::over(base.clone().into()), base);
            for _ in 0..60 {
                let offset = random.below(30_000);
                if random.below(4) == 0 {
                    content.set_size(offset);
                    model.resize(offset as usize, 0);
                } else {
                    let data = vec![random.below(255) as u8; random.below(9_000) as usize];
                    let end = offset as usize + data.len();
                    if !data.is_empty() && model.len() < end {
                        model.resize(end, 0);
                    }
                    if !data.is_empty() {
                        model[offset as usize..end].copy_from_slice(&data);
                    }
                    let before = content.clone();
                    let old = bytes(&before);
                    write(&mut content, offset, &data);
                    assert_eq!(bytes(&before), old, "a clone saw the change");
                }
                assert_eq!(bytes(&content), model, "round {round}");
                assert_eq!(content.usage(), recount(&content), "round {round}");
            }
            let mut shown = vec![0; model.len()];
            let mut last = None;
            content.for_each_piece(&mut |index, piece| {
                assert!(last < Some(index) && piece.last() != Some(&0));
                last = Some(index);
                let start = (index * CHUNK_BYTES) as usize;
                shown[start..start + piece.len()].copy_from_slice(piece);
            });
            assert_eq!(shown, model);
        }
    }

    #[test]
    fn a_hole_costs_nothing() {
        let mut content = FileContent::default();
        content.set_size(1 << 40);
        assert_eq!(content.usage(), ContentUsage::default());
        content.write(1 << 39, b"x");
        assert_eq!(content.usage(), ContentUsage { bytes: 1, chunks: 1 });
        let mut buffer = [9; 3];
        assert_eq!(content.read((1 << 39) - 1, &mut buffer), 3);
        assert_eq!(buffer, [0, b'x', 0]);
    }
}
