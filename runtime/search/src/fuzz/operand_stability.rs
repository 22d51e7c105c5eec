//! Which comparisons are of two values that both depend on the input: sums and lengths, and not words.
//!
//! ```text
//! site 4   12 == 3e     9b == 3e     07 == 3e        one side stands still: a word of the language
//! site 9   6f01 == 0    220a == 51   9c7e == 1b40    both move: meeting it again is worth executions
//! ```
//!
//! Invariant: a site is taken for a moving one until it was seen often enough.

use fozzy_trace::{CmpLogEntry, ComparisonKind};
use rustc_hash::FxHashMap;

/// Sightings of a site after which it is known.
const KNOWN: u32 = 8;

#[derive(Clone, Copy, Debug)]
struct OperandHistory {
    left: u64,
    right: u64,
    left_moved: bool,
    right_moved: bool,
    seen: u32,
}

/// What was seen of each site of integers.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperandStability(FxHashMap<u64, OperandHistory>);

impl OperandStability {
    /// Looks at what an execution compared.
    pub(crate) fn observe(&mut self, log: &[CmpLogEntry]) {
        for CmpLogEntry { site, kind, left, right, .. } in log.iter().copied() {
            if !matches!(kind, ComparisonKind::Equal { .. }) {
                continue;
            }
            let fresh = OperandHistory { left, right, left_moved: false, right_moved: false, seen: 0 };
            let site = self.0.entry(site).or_insert(fresh);
            site.left_moved |= site.left != left;
            site.right_moved |= site.right != right;
            site.seen = site.seen.saturating_add(1);
        }
    }

    /// Whether one side of a site never moved. Strings have sites in common, and are words most often.
    pub(crate) fn is_constant(&self, site: u64) -> bool {
        self.0.get(&site).is_none_or(|site| site.seen >= KNOWN && !(site.left_moved && site.right_moved))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_still_and_sums_move() {
        let mut stability = OperandStability::default();
        let equal = |site, left, right| CmpLogEntry {
            site,
            kind: ComparisonKind::Equal { bits: 32 },
            left,
            right,
            at: 0,
            bytes: 8,
        };
        for n in 0..KNOWN.into() {
            assert!(!(n > 0 && stability.is_constant(1)), "not known yet");
            stability.observe(&[equal(1, n, 0x3e), equal(2, n, n * 7)]);
        }
        assert!(stability.is_constant(1) && !stability.is_constant(2) && stability.is_constant(3));
    }
}
