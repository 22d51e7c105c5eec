//! Open-addressing index: from hashes to positions in a table that its owner keeps.
//!
//! ```text
//! hash ──▶ slot { tag: upper half of the hash, position + 1 } ──▶ owner's table[position]
//! ```
//!
//! Slots are in the order of the upper half of hashes, so that any number of them will do.
//!
//! Invariants: the same insertions give the same index on every machine; at most seven eighths of the slots are in use.
//! Not here: the entries themselves, and how they are compared.

/// Slots of the smallest index.
const SLOTS_MIN: usize = 16;
/// An odd multiplier without structure (the fractional digits of the golden ratio).
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Folds a word into a hash: the halves of a full product, added.
#[inline]
pub(crate) fn fold(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ 0x243F_6A88_85A3_08D3) * u128::from(MULTIPLIER);
    ((product as u64) ^ ((product >> 64) as u64)).rotate_left(23) ^ word
}

/// The hash of some bytes.
pub(crate) fn fold_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = fold(seed, bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = fold(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(hash, u64::from_le_bytes(last))
}

/// An index of a table by hash.
#[derive(Clone, Debug, Default)]
pub(crate) struct HashIndex {
    slots: Vec<u64>,
    used: usize,
}

impl HashIndex {
    /// An index with room for some entries: three of four slots are in use then.
    pub(crate) fn with_capacity(entries: usize) -> HashIndex {
        HashIndex { slots: vec![0; (entries + entries / 3 + 1).max(SLOTS_MIN)], used: 0 }
    }

    /// The position whose entry `is_equal`; if there is none, notes `new` under this hash and returns `None`.
    #[inline]
    pub(crate) fn find_or_insert(&mut self, hash: u64, new: u32, is_equal: impl FnMut(u32) -> bool) -> Option<u32> {
        if (self.used + 1) * 8 > self.slots.len() * 7 {
            self.grow();
        }
        match self.probe(hash, is_equal) {
            Ok(position) => Some(position),
            Err(slot) => {
                self.slots[slot] = (hash & !0xFFFF_FFFF) | (u64::from(new) + 1);
                self.used += 1;
                None
            }
        }
    }

    /// The position whose entry `is_equal`.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_equal: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.probe(hash, is_equal).ok()
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }

    /// The position, or the free slot where the search ended.
    #[inline]
    fn probe(&self, hash: u64, mut is_equal: impl FnMut(u32) -> bool) -> Result<u32, usize> {
        let mut slot = self.first_slot(hash);
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                return Err(slot);
            }
            let position = (entry as u32).wrapping_sub(1);
            if entry >> 32 == hash >> 32 && is_equal(position) {
                return Ok(position);
            }
            slot = if slot + 1 == self.slots.len() { 0 } else { slot + 1 };
        }
    }

    /// The slot where the search for a hash begins.
    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(SLOTS_MIN);
        let old = std::mem::replace(&mut self.slots, vec![0; count]);
        for entry in old.into_iter().filter(|entry| *entry != 0) {
            let mut slot = self.first_slot(entry);
            while self.slots[slot] != 0 {
                slot = if slot + 1 == count { 0 } else { slot + 1 };
            }
            self.slots[slot] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_found_again() {
        let mut index = HashIndex::default();
        for number in 0..10_000u32 {
            let hash = fold(1, u64::from(number % 100) << 3);
            assert_eq!(index.find_or_insert(hash, number, |found| found == number), None);
        }
        for number in 0..10_000u32 {
            let hash = fold(1, u64::from(number % 100) << 3);
            assert_eq!(index.find_or_insert(hash, 0, |found| found == number), Some(number));
        }
    }

    #[test]
    fn an_index_with_room_grows_beyond_it() {
        let mut index = HashIndex::with_capacity(1000);
        let bytes = index.bytes();
        for number in 0..1000u32 {
            assert_eq!(index.find_or_insert(fold(0, u64::from(number)), number, |found| found == number), None);
        }
        assert_eq!(index.bytes(), bytes, "there was room");
        for number in 0..3000u32 {
            let found = index.find_or_insert(fold(0, u64::from(number)), number, |found| found == number);
            assert_eq!(found, Some(number).filter(|number| *number < 1000));
        }
        assert!(index.bytes() > bytes);
    }

    #[test]
    fn bytes_of_other_lengths_have_other_hashes() {
        let all: Vec<u64> = (0..40).map(|length| fold_bytes(0, &vec![0; length])).collect();
        for (at, hash) in all.iter().enumerate() {
            assert!(!all[..at].contains(hash));
        }
    }
}
