//! Where bytes are not all zero: what is asked of the marks of a whole memory at each restore.
//!
//! ```text
//! 64 blocks of 256 bytes, a bit for each that is not clear        one that is not, 8 bytes at once
//! ```
//!
//! Not here: what is done with those that are not.

#![allow(unsafe_code, reason = "uses wider instructions where there are some; the block carries its argument")]

use std::ops::Range;

/// Bytes of a block.
const BLOCK: usize = 256;
/// Bytes of the blocks that are looked at before anything is done with one of them, a bit of a number for each.
pub(crate) const BLOCKS_BYTES: usize = u64::BITS as usize * BLOCK;
/// Bytes of one number.
const NUMBER: usize = 8;

/// Blocks that are not all zero. It does not borrow them.
pub(crate) struct SetBlocks {
    /// A bit for each that is still to come, that of the first block is the lowest.
    set: u64,
    /// Where the first block begins.
    start: usize,
    /// Where the last one ends at the latest.
    end: usize,
}

impl Iterator for SetBlocks {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        if self.set == 0 {
            return None;
        }
        let block = self.start + self.set.trailing_zeros() as usize * BLOCK;
        self.set &= self.set - 1;
        Some(block..self.end.min(block + BLOCK))
    }
}

/// Calls `each` with the place of every byte that is not zero, in order.
#[inline]
pub(crate) fn each_set(bytes: &[u8], mut each: impl FnMut(usize)) {
    for start in (0..bytes.len()).step_by(BLOCKS_BYTES) {
        for block in set_blocks(bytes, start) {
            let (numbers, rest) = bytes[block.clone()].as_chunks::<NUMBER>();
            for (position, number) in numbers.iter().enumerate() {
                let mut number = u64::from_le_bytes(*number);
                while number != 0 {
                    let byte = number.trailing_zeros() as usize / 8;
                    each(block.start + position * NUMBER + byte);
                    number &= !(0xFF << (byte * 8));
                }
            }
            let beyond = block.end - rest.len();
            rest.iter().enumerate().filter(|(_, byte)| **byte != 0).for_each(|(position, _)| each(beyond + position));
        }
    }
}

/// The blocks that are not all zero, in order, among the first 64 from `start` on, which are [`BLOCKS_BYTES`] or those up to the end. A
/// block is of 256 bytes; the last one may be shorter.
#[inline]
pub(crate) fn set_blocks(bytes: &[u8], start: usize) -> SetBlocks {
    let end = bytes.len().min(start + BLOCKS_BYTES);
    SetBlocks { set: set_bits(&bytes[start..end]), start, end }
}

/// A bit for each of up to 64 blocks that is not all zero.
#[inline]
fn set_bits(bytes: &[u8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as was just seen.
        return unsafe { set_bits_avx2(bytes) };
    }
    look_at_blocks(bytes)
}

/// The same code, for which the compiler may use the wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn set_bits_avx2(bytes: &[u8]) -> u64 {
    look_at_blocks(bytes)
}

#[inline(always)]
fn look_at_blocks(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut set = 0;
    // Loops: what an iterator does with a closure the compiler may leave in a function of its own, which has no wider instructions.
    for (place, block) in blocks.iter().enumerate() {
        let (numbers, _) = block.as_chunks::<NUMBER>();
        let mut seen = 0;
        for number in numbers {
            seen |= u64::from_ne_bytes(*number);
        }
        set |= u64::from(seen != 0) << place;
    }
    if rest.is_empty() {
        return set;
    }
    let (numbers, last) = rest.as_chunks::<NUMBER>();
    let mut seen = 0;
    for number in numbers {
        seen |= u64::from_ne_bytes(*number);
    }
    for byte in last {
        seen |= u64::from(*byte);
    }
    set | u64::from(seen != 0) << blocks.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(bytes: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        each_set(bytes, |at| found.push(at));
        found
    }

    /// All blocks with something in them.
    fn blocks(bytes: &[u8]) -> Vec<Range<usize>> {
        (0..bytes.len()).step_by(BLOCKS_BYTES).flat_map(|start| set_blocks(bytes, start)).collect()
    }

    #[test]
    fn one_byte_is_seen_wherever_it_is() {
        for length in [0, 1, 63, 64, 255, 256, 257, 263, 264, 1024, 1500] {
            let mut bytes = vec![0; length];
            assert!(set(&bytes).is_empty());
            for at in 0..length {
                bytes[at] = 1;
                assert_eq!(set(&bytes), [at], "of {length}");
                bytes[at] = 0;
            }
        }
    }

    #[test]
    fn blocks_hold_all_that_is_set_and_those_without_are_left_out() {
        for length in [0, 1, 255, 256, 257, 1500, BLOCKS_BYTES, BLOCKS_BYTES + 1, 2 * BLOCKS_BYTES + 300] {
            let mut bytes = vec![0; length];
            // All places of a short one, and some of a long one.
            for at in (0..length).step_by(1 + length / 2_000 * 7) {
                bytes[at] = 1;
                let begin = at / BLOCK * BLOCK;
                let block = begin..length.min(begin + BLOCK);
                assert_eq!(blocks(&bytes), [block], "{at} of {length}");
                assert_eq!(
                    look_at_blocks(&bytes[..length.min(BLOCKS_BYTES)]),
                    if at < BLOCKS_BYTES { 1 << (at / BLOCK) } else { 0 }
                );
                bytes[at] = 0;
            }
            assert!(blocks(&bytes).is_empty());
            // Every third block, and the last one.
            let is_set = |block: usize| block.is_multiple_of(3) || (block + 1) * BLOCK >= length;
            for (block, part) in bytes.chunks_mut(BLOCK).enumerate().filter(|(block, _)| is_set(*block)) {
                let at = block * 7 % part.len();
                part[at] = 0x80;
            }
            let starts = (0..length).step_by(BLOCK).filter(|start| is_set(start / BLOCK));
            let expected: Vec<Range<usize>> = starts.map(|start| start..length.min(start + BLOCK)).collect();
            assert_eq!(blocks(&bytes), expected, "{length}");
        }
    }

    #[test]
    fn bytes_beside_each_other_are_all_seen_in_order() {
        for length in [7, 300, 1024, 1501, BLOCKS_BYTES + 700] {
            let bytes: Vec<u8> = (0..length).map(|at| if at * 7 % 5 < 2 { 0x80 } else { 0 }).collect();
            let expected: Vec<usize> = (0..length).filter(|at| at * 7 % 5 < 2).collect();
            assert_eq!(set(&bytes), expected);
            assert_eq!(set(&vec![0xFF; length]), (0..length).collect::<Vec<_>>());
        }
    }
}
