//! Bytes that a program has never written, known by what checks of memory have put there: which allocation they are of.
//!
//! ```text
//! malloc, the 23rd    low word 23, masked │ high word the tag │ the same again …        in each block that its allocator does not clear
//! copied, let out     … 9c e3 d7 b8 86 …                          eight bytes of it in a row, beginning anywhere
//! ```
//!
//! So copies carry where they come from, and nothing has to be kept beside memory. Whoever lets out such bytes has not written them: that
//! others are such by chance happens once in 2^41 bytes.
//!
//! Not here: who puts them there (`fozzy-instrument`), and who looks (`fozzy-host`).

/// The high word of each pattern.
pub const UNDEFINED_TAG: u32 = 0xf5a1_9ce3;
/// What the low word is masked with: as an address, neither is anywhere.
pub const UNDEFINED_MASK: u32 = 0xd7b8_86c9;

/// Calls that are kept, the first ones; further ones are counted.
const CALLS_KEPT_MAX: usize = 4;
/// Allocations that eight bytes are enough for. Of others, twelve have to be equal.
const FEW_ALLOCATIONS: u32 = 1 << 20;

/// Bytes that were never written, in what a program lets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndefinedBytes {
    /// Where they begin.
    pub offset: u64,
    /// How many there are.
    pub bytes: u64,
    /// The allocation, by its number.
    pub allocation: u32,
}

impl UndefinedBytes {
    /// The first ones among `bytes`, eight and more in a row.
    ///
    /// Seven of them behind a byte of another kind can look like eight of another allocation: of what overlaps, the longest is taken.
    #[must_use]
    pub fn find(bytes: &[u8]) -> Option<UndefinedBytes> {
        let first = (0..bytes.len()).find_map(|offset| Self::at(bytes, offset))?;
        let overlapping =
            (first.offset as usize + 1..first.offset as usize + 8).filter_map(|offset| Self::at(bytes, offset));
        Some(overlapping.fold(first, |longest, next| if next.bytes > longest.bytes { next } else { longest }))
    }

    /// Those that begin at a byte.
    fn at(bytes: &[u8], offset: usize) -> Option<UndefinedBytes> {
        let word = u64::from_le_bytes(*bytes[offset.min(bytes.len())..].first_chunk()?);
        let allocation = (0..8).find_map(|turn| {
            let turned = word.rotate_right(8 * turn);
            (turned >> 32 == u64::from(UNDEFINED_TAG)).then_some(turned as u32 ^ UNDEFINED_MASK)
        })?;
        let more = bytes[offset + 8..].iter().zip(&bytes[offset..]).take_while(|(next, before)| next == before);
        let found = 8 + more.count() as u64;
        let is_sure = allocation > 0 && (allocation < FEW_ALLOCATIONS || found >= 12);
        is_sure.then_some(UndefinedBytes { offset: offset as u64, bytes: found, allocation })
    }
}

/// A call that has let out bytes that were never written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedOutput {
    /// Calls before it.
    pub call: u64,
    /// The function of the host.
    pub import: &'static str,
    /// How many bytes it has let out.
    pub length: u64,
    /// Those of them.
    pub found: UndefinedBytes,
}

/// All such calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndefinedOutputs {
    /// How many there were.
    pub calls: u64,
    /// The first ones.
    pub first: Vec<UndefinedOutput>,
}

impl UndefinedOutputs {
    /// Notes a call.
    pub fn note(&mut self, output: UndefinedOutput) {
        self.calls += 1;
        if self.first.len() < CALLS_KEPT_MAX {
            self.first.push(output);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_found_wherever_it_begins_and_nothing_else_is() {
        let pattern = (u64::from(UNDEFINED_TAG) << 32 | u64::from(7 ^ UNDEFINED_MASK)).to_le_bytes();
        let block: Vec<u8> = pattern.iter().copied().cycle().take(40).collect();
        for from in 0..8 {
            // Where seven or eight begin within the number, the byte before them can pass for what is missing.
            let is_within_number = (1..4).contains(&from);
            for length in if is_within_number { 9..24 } else { 8..24 } {
                let text = [b"head ", &block[from..from + length], b" and the rest"].concat();
                let found = UndefinedBytes { offset: 5, bytes: length as u64, allocation: 7 };
                assert_eq!(UndefinedBytes::find(&text), Some(found));
            }
            let seven = UndefinedBytes::find(&[b"head ", &block[from..from + 7], b" and"].concat());
            assert!(seven.is_none() || is_within_number, "{seven:?}");
        }
        let many: Vec<u8> =
            (0_u32..1 << 16).flat_map(|number| (number.wrapping_mul(0x9e37_79b9)).to_le_bytes()).collect();
        assert_eq!(UndefinedBytes::find(&many), None);
        assert_eq!(UndefinedBytes::find(b"short"), None);
    }
}
