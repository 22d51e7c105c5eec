//! Where bytes are not all zero: what is asked of the marks of a whole memory at each restore.
//!
//! ```text
//! many clear blocks, looked at 256 bytes at once        a block with something in it, 8 bytes at once
//! ```
//!
//! Not here: what is done with those that are not.

#![allow(unsafe_code, reason = "uses wider instructions where there are some; the block carries its argument")]

/// Bytes that are looked at before it is decided.
const BLOCK: usize = 256;
/// Bytes of one number.
const NUMBER: usize = 8;

/// Calls `each` with the place of every byte that is not zero, in order.
#[inline]
pub(crate) fn each_set(bytes: &[u8], mut each: impl FnMut(usize)) {
    let mut start = 0;
    while let Some(block) = next_block(bytes, start) {
        start = bytes.len().min(block + BLOCK);
        let (numbers, rest) = bytes[block..start].as_chunks::<NUMBER>();
        for (position, number) in numbers.iter().enumerate() {
            let mut number = u64::from_le_bytes(*number);
            while number != 0 {
                let byte = number.trailing_zeros() as usize / 8;
                each(block + position * NUMBER + byte);
                number &= !(0xFF << (byte * 8));
            }
        }
        let beyond = start - rest.len();
        rest.iter().enumerate().filter(|(_, byte)| **byte != 0).for_each(|(position, _)| each(beyond + position));
    }
}

/// The first block from `start` on that is not all zero: 256 bytes, or those up to the end.
#[inline]
pub(crate) fn set_block(bytes: &[u8], start: usize) -> Option<std::ops::Range<usize>> {
    let block = next_block(bytes, start)?;
    Some(block..bytes.len().min(block + BLOCK))
}

/// Where the first block begins, from `start` on, that is not all zero. The last one may be shorter.
#[inline]
fn next_block(bytes: &[u8], start: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as was just seen.
        return unsafe { next_block_avx2(bytes, start) };
    }
    look_for_block(bytes, start)
}

/// The same code, for which the compiler may use the wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn next_block_avx2(bytes: &[u8], start: usize) -> Option<usize> {
    look_for_block(bytes, start)
}

#[inline(always)]
fn look_for_block(bytes: &[u8], start: usize) -> Option<usize> {
    let (blocks, rest) = bytes[start..].as_chunks::<BLOCK>();
    // Loops: what an iterator does with a closure the compiler may leave in a function of its own, which has no wider instructions.
    for (place, block) in blocks.iter().enumerate() {
        let (numbers, _) = block.as_chunks::<NUMBER>();
        let mut seen = 0;
        for number in numbers {
            seen |= u64::from_ne_bytes(*number);
        }
        if seen != 0 {
            return Some(start + place * BLOCK);
        }
    }
    let (numbers, last) = rest.as_chunks::<NUMBER>();
    let mut seen = 0;
    for number in numbers {
        seen |= u64::from_ne_bytes(*number);
    }
    for byte in last {
        seen |= u64::from(*byte);
    }
    (seen != 0).then_some(start + blocks.len() * BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(bytes: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        each_set(bytes, |at| found.push(at));
        found
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
        for length in [0, 1, 255, 256, 257, 1500] {
            let mut bytes = vec![0; length];
            for at in 0..length {
                bytes[at] = 1;
                let begin = at / BLOCK * BLOCK;
                let block = begin..length.min(begin + BLOCK);
                assert_eq!(set_block(&bytes, 0), Some(block.clone()), "{at} of {length}");
                assert_eq!(set_block(&bytes, block.end), None, "{at} of {length}");
                bytes[at] = 0;
            }
            assert_eq!(set_block(&bytes, 0), None);
        }
    }

    #[test]
    fn bytes_beside_each_other_are_all_seen_in_order() {
        for length in [7, 300, 1024, 1501] {
            let bytes: Vec<u8> = (0..length).map(|at| if at * 7 % 5 < 2 { 0x80 } else { 0 }).collect();
            let expected: Vec<usize> = (0..length).filter(|at| at * 7 % 5 < 2).collect();
            assert_eq!(set(&bytes), expected);
            assert_eq!(set(&vec![0xFF; length]), (0..length).collect::<Vec<_>>());
        }
    }
}
