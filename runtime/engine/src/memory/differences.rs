//! Which parts of a page do not hold what they held: what is asked of each written page at each step of an exploration.
//!
//! Not here: what is done with those that do not.

#![allow(unsafe_code, reason = "uses wider instructions where there are some; the block carries its argument")]

use super::PAGE_BYTES;

/// Numbers of eight bytes in a page.
pub(crate) const PAGE_NUMBERS: usize = PAGE_BYTES / NUMBER;
/// Numbers that are compared at once.
pub(crate) const GROUP_NUMBERS: usize = 32;
/// Groups of a page.
pub(crate) const PAGE_GROUPS: usize = PAGE_NUMBERS / GROUP_NUMBERS;
/// Bytes of one number.
const NUMBER: usize = 8;

/// A bit for each group of numbers in which `page` differs from `held`, that of the first group is the lowest. For each of these groups
/// there is a bit in `numbers` for each number that differs, likewise; what is there for other groups stays.
#[inline]
pub(crate) fn differing_numbers(
    held: &[u64; PAGE_NUMBERS],
    page: &[u8; PAGE_BYTES],
    numbers: &mut [u32; PAGE_GROUPS],
) -> u16 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as was just seen.
        return unsafe { differing_numbers_avx2(held, page, numbers) };
    }
    differing_numbers_plain(held, page, numbers)
}

/// The same code for groups, for which the compiler may use the wider registers, and four numbers of a group at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn differing_numbers_avx2(
    held: &[u64; PAGE_NUMBERS],
    page: &[u8; PAGE_BYTES],
    numbers: &mut [u32; PAGE_GROUPS],
) -> u16 {
    use std::arch::x86_64::{_mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_movemask_pd, _mm256_set_epi64x};
    const AT_ONCE: usize = 4;
    let found = compare(held, page);
    let mut left = found;
    while left != 0 {
        let group = left.trailing_zeros() as usize;
        left &= left - 1;
        let old = held.as_chunks::<GROUP_NUMBERS>().0[group].as_chunks::<AT_ONCE>().0;
        let new = page.as_chunks::<NUMBER>().0.as_chunks::<GROUP_NUMBERS>().0[group].as_chunks::<AT_ONCE>().0;
        let mut equal = 0;
        // A loop, as the closures of an iterator may be functions of their own, without wider instructions.
        for (place, (old, new)) in old.iter().zip(new).enumerate() {
            let [first, second, third, fourth] = [old[0], old[1], old[2], old[3]].map(u64::cast_signed);
            let old = _mm256_set_epi64x(fourth, third, second, first);
            let [first, second, third, fourth] = [new[0], new[1], new[2], new[3]].map(i64::from_le_bytes);
            let new = _mm256_set_epi64x(fourth, third, second, first);
            let same = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(old, new)));
            equal |= same.cast_unsigned() << (place * AT_ONCE);
        }
        numbers[group] = !equal;
    }
    found
}

fn differing_numbers_plain(
    held: &[u64; PAGE_NUMBERS],
    page: &[u8; PAGE_BYTES],
    numbers: &mut [u32; PAGE_GROUPS],
) -> u16 {
    let found = compare(held, page);
    let groups = held.as_chunks::<GROUP_NUMBERS>().0.iter();
    let groups = groups.zip(page.as_chunks::<NUMBER>().0.as_chunks::<GROUP_NUMBERS>().0).zip(numbers);
    for (group, ((old, new), numbers)) in groups.enumerate() {
        if found >> group & 1 == 1 {
            *numbers = changed_numbers(old, new);
        }
    }
    found
}

/// A bit for each of the numbers of a group that differs; of a group that was written that is one or two, mostly. So eight are compared at
/// a time, and each by itself only where these differ.
fn changed_numbers(held: &[u64; GROUP_NUMBERS], group: &[[u8; NUMBER]; GROUP_NUMBERS]) -> u32 {
    const PART_NUMBERS: usize = 8;
    let mut changed = 0;
    let parts = held.as_chunks::<PART_NUMBERS>().0.iter().zip(group.as_chunks::<PART_NUMBERS>().0);
    for (part, (held, new)) in parts.enumerate() {
        let pairs = || held.iter().zip(new).map(|(held, new)| held ^ u64::from_le_bytes(*new));
        if pairs().fold(0_u64, |sum, differing| sum | differing) != 0 {
            for (at, differing) in pairs().enumerate() {
                changed |= u32::from(differing != 0) << (part * PART_NUMBERS + at);
            }
        }
    }
    changed
}

/// A bit for each group that differs.
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

    type Page = ([u64; PAGE_NUMBERS], [u8; PAGE_BYTES]);

    /// A page that holds what it held.
    fn page() -> Page {
        let page: [u8; PAGE_BYTES] = std::array::from_fn(|at| (at * 7 % 251) as u8);
        let mut held = [0; PAGE_NUMBERS];
        for (number, bytes) in held.iter_mut().zip(page.as_chunks::<NUMBER>().0) {
            *number = u64::from_le_bytes(*bytes);
        }
        (held, page)
    }

    /// What both ways find, which is what each number by itself tells.
    fn found((held, page): &Page) -> (u16, [u32; PAGE_GROUPS]) {
        let (mut groups, mut expected) = (0, [0; PAGE_GROUPS]);
        for (at, (old, new)) in held.iter().zip(page.as_chunks::<NUMBER>().0).enumerate() {
            if *old != u64::from_le_bytes(*new) {
                groups |= 1 << (at / GROUP_NUMBERS);
                expected[at / GROUP_NUMBERS] |= 1 << (at % GROUP_NUMBERS);
            }
        }
        for way in [differing_numbers, differing_numbers_plain] {
            let mut numbers = [0; PAGE_GROUPS];
            assert_eq!(way(held, page, &mut numbers), groups);
            assert_eq!(numbers, expected);
        }
        (groups, expected)
    }

    #[test]
    fn a_byte_that_differs_is_found_in_its_number_wherever_it_is() {
        let mut both = page();
        assert_eq!(found(&both), (0, [0; PAGE_GROUPS]));
        for at in 0..PAGE_BYTES {
            both.1[at] ^= 1 << (at % 8);
            let (group, number) = (at / (GROUP_NUMBERS * NUMBER), at / NUMBER % GROUP_NUMBERS);
            let (groups, numbers) = found(&both);
            assert_eq!((groups, numbers[group]), (1 << group, 1 << number), "byte {at}");
            both.1[at] ^= 1 << (at % 8);
        }
        both.1.iter_mut().for_each(|byte| *byte = !*byte);
        assert_eq!(found(&both), (u16::MAX, [u32::MAX; PAGE_GROUPS]));
    }

    #[test]
    fn each_number_that_differs_is_found_among_few_and_many() {
        let mut state = 5_u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for step in 0..2_000 {
            let mut both = page();
            for _ in 0..below(if step % 2 == 0 { 4 } else { 600 }) {
                both.1[below(PAGE_BYTES as u64) as usize] = below(256) as u8;
            }
            found(&both);
        }
    }
}
