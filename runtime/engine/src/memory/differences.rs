//! Which parts of a page do not hold what they held: what is asked of each written page at each step of an exploration.
//!
//! Not here: what is done with those that do not.

#![allow(unsafe_code, reason = "uses wider instructions where there are some; the block carries its argument")]

use super::PAGE_BYTES;

/// Numbers of eight bytes in a page.
pub(crate) const PAGE_NUMBERS: usize = PAGE_BYTES / NUMBER;
/// Numbers that are compared at once.
pub(crate) const GROUP_NUMBERS: usize = 32;
/// Bytes of one number.
const NUMBER: usize = 8;

/// A bit for each group of numbers in which `page` differs from `held`, that of the first group is the lowest.
#[inline]
pub(crate) fn differing_groups(held: &[u64; PAGE_NUMBERS], page: &[u8; PAGE_BYTES]) -> u16 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as was just seen.
        return unsafe { differing_groups_avx2(held, page) };
    }
    compare(held, page)
}

/// The same code, for which the compiler may use the wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn differing_groups_avx2(held: &[u64; PAGE_NUMBERS], page: &[u8; PAGE_BYTES]) -> u16 {
    compare(held, page)
}

#[inline(always)]
fn compare(held: &[u64; PAGE_NUMBERS], page: &[u8; PAGE_BYTES]) -> u16 {
    let (numbers, _) = page.as_chunks::<NUMBER>();
    let groups = held.as_chunks::<GROUP_NUMBERS>().0.iter().zip(numbers.as_chunks::<GROUP_NUMBERS>().0);
    let mut found = 0;
    for (group, (old, new)) in groups.enumerate() {
        let mut differ = 0_u64;
        for (old, new) in old.iter().zip(new) {
            differ |= *old ^ u64::from_le_bytes(*new);
        }
        found |= u16::from(differ != 0) << group;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_differs_is_found_in_its_group_wherever_it_is() {
        let mut page: [u8; PAGE_BYTES] = std::array::from_fn(|at| (at * 7 % 251) as u8);
        let mut held = [0; PAGE_NUMBERS];
        for (number, bytes) in held.iter_mut().zip(page.as_chunks::<NUMBER>().0) {
            *number = u64::from_le_bytes(*bytes);
        }
        assert_eq!(differing_groups(&held, &page), 0);
        for at in 0..PAGE_BYTES {
            page[at] ^= 1 << (at % 8);
            let group = at / (GROUP_NUMBERS * NUMBER);
            assert_eq!(differing_groups(&held, &page), 1 << group, "byte {at}");
            assert_eq!(compare(&held, &page), 1 << group, "byte {at}");
            page[at] ^= 1 << (at % 8);
        }
        page.iter_mut().for_each(|byte| *byte = !*byte);
        assert_eq!(differing_groups(&held, &page), u16::MAX);
    }
}
