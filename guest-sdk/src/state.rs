//! The state of a program, reported so that a search can tell states apart.
//!
//! ```text
//! state!(self.position, "position")   ─▶ a position that was not seen before is worth going on from
//! ```
//!
//! Invariant: equal values have equal numbers, in every build of every program.

use crate::host;
use core::hash::{Hash, Hasher};

/// Reports the state of `name` to the run. Use [`state!`](crate::state!).
///
/// ```
/// fozzy_sdk::state::state("position", &(3, 4));
/// ```
pub fn state<T: Hash + ?Sized>(name: &'static str, value: &T) {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    value.hash(&mut hasher);
    host::state(name, hasher.finish());
}

/// FNV-1a, 64 bits: <http://www.isthe.com/chongo/tech/comp/fnv/>. The hasher of the standard library may change.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    // As long natively as in the sandbox, where it has four bytes.
    fn write_usize(&mut self, number: usize) {
        self.write(&(number as u64).to_le_bytes());
    }

    fn write_isize(&mut self, number: isize) {
        self.write(&(number as i64).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_page() {
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        hasher.write(b"foobar");
        assert_eq!(hasher.finish(), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_length_has_eight_bytes_everywhere() {
        let (mut length, mut number) = (Fnv(1), Fnv(1));
        (7_usize, -1_isize).hash(&mut length);
        (7_u64, -1_i64).hash(&mut number);
        assert_eq!(length.finish(), number.finish());
    }
}
