//! Whether bytes are all zero: what is asked of the marks of a whole memory at each restore.
//!
//! Not here: what is done with those that are not.

#![allow(unsafe_code, reason = "uses wider instructions where there are some; the block carries its argument")]

/// Bytes that are looked at before it is decided.
const BLOCK: usize = 256;

/// Whether `bytes` are all zero.
#[inline]
pub(crate) fn is_clear(bytes: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as was just seen.
        return unsafe { is_clear_avx2(bytes) };
    }
    blocks_are_clear(bytes)
}

/// The same code, for which the compiler may use the wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn is_clear_avx2(bytes: &[u8]) -> bool {
    blocks_are_clear(bytes)
}

#[inline(always)]
fn blocks_are_clear(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let seen = |block: &[u8; BLOCK]| {
        let (numbers, _) = block.as_chunks::<8>();
        numbers.iter().fold(0, |seen, number| seen | u64::from_ne_bytes(*number))
    };
    blocks.iter().all(|block| seen(block) == 0) && rest.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_is_seen_wherever_it_is() {
        for length in [0, 1, 63, 64, 255, 256, 257, 1024, 1500] {
            let mut bytes = vec![0; length];
            assert!(is_clear(&bytes));
            for at in 0..length {
                bytes[at] = 1;
                assert!(!is_clear(&bytes), "{at} of {length}");
                bytes[at] = 0;
            }
        }
    }
}
