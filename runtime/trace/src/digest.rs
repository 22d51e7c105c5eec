//! Digests: SHA-256 for what a user can check, a 64-bit fold for what is compared millions of times.
//!
//! ```text
//! file bytes ──Digest::of──▶ 9f86d0…          (the same as `sha256sum`)
//! call, args, answer ──Fold──▶ state' = mix(state, words)
//! ```
//!
//! Invariant: both are the same on every machine; the fold depends on the order of its input.
//! Not here: protection against a guest that builds collisions of the fold on purpose. It would only
//! hide its own divergence from itself.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// SHA-256 of some bytes, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// Reads 64 lower-case hexadecimal digits; anything else is `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Digest> {
        let bytes = unhex(text)?;
        Some(Digest(bytes.try_into().ok()?))
    }

    /// The first twelve digits, enough for people.
    #[must_use]
    pub fn short(&self) -> String {
        hex(&self.0[..6])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Digest::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("expected 64 lower-case hexadecimal digits, found `{text}`"))
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Digest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
    }
}

/// SHA-256 of bytes that come in pieces.
#[derive(Clone, Default)]
pub struct DigestWriter(Sha256);

impl DigestWriter {
    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything so far.
    #[must_use]
    pub fn finish(&self) -> Digest {
        Digest(self.0.clone().finalize().into())
    }
}

impl fmt::Debug for DigestWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestWriter")
    }
}

/// A running 64-bit digest of what happened so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningDigest(u64);

/// An odd multiplier without structure (the fractional digits of the golden ratio).
const FOLD_MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl Default for RunningDigest {
    fn default() -> RunningDigest {
        RunningDigest(0x243F_6A88_85A3_08D3)
    }
}

impl RunningDigest {
    /// Folds one word in.
    #[inline]
    pub fn word(&mut self, word: u64) {
        self.pair(word, 0);
    }

    /// Folds two words in, for the price of one: a full 128-bit product, its halves added. Neither factor can
    /// be zero, and both words enter a second time, so that what a factor's fixed bit hides is not lost.
    #[inline]
    pub fn pair(&mut self, first: u64, second: u64) {
        let product = u128::from((self.0 ^ first) | 1 << 63) * u128::from((second ^ FOLD_MULTIPLIER) | 1);
        let halves = (product as u64) ^ ((product >> 64) as u64);
        self.0 = halves ^ self.0.rotate_left(29) ^ first.rotate_left(7) ^ second.rotate_left(41);
    }

    /// Folds bytes in, with their length, so that `ab, c` and `a, bc` differ.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.pair(bytes.len() as u64, xxhash_rust::xxh3::xxh3_64(bytes));
    }

    /// The digest so far.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }
}

/// A digest of a text in which each number stands for all numbers: what a line or a message is of, without its values.
#[must_use]
pub fn kind_of_text(bytes: &[u8]) -> u64 {
    let mut kind = RunningDigest::default();
    let mut was_digit = false;
    for byte in bytes {
        let is_digit = byte.is_ascii_digit();
        if !(is_digit && was_digit) {
            kind.word(if is_digit { u64::from(b'#') } else { u64::from(*byte) });
        }
        was_digit = is_digit;
    }
    kind.value()
}

/// Lower-case hexadecimal digits of `bytes`.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)] as char, DIGITS[usize::from(b & 15)] as char]).collect()
}

/// The bytes of lower-case hexadecimal digits; `None` for anything else.
#[must_use]
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let text = text.as_bytes();
    if text.len() % 2 != 0 {
        return None;
    }
    text.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_what_sha256sum_prints() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse("BA"), None);
        let mut pieces = DigestWriter::default();
        pieces.update(b"a");
        pieces.update(b"bc");
        assert_eq!(pieces.finish(), digest);
    }

    #[test]
    fn the_fold_depends_on_order_and_length() {
        let fold = |words: &[u64]| {
            let mut fold = RunningDigest::default();
            words.iter().for_each(|w| fold.word(*w));
            fold.value()
        };
        assert_ne!(fold(&[1, 2]), fold(&[2, 1]));
        assert_ne!(fold(&[0]), fold(&[0, 0]));
        let distinct: std::collections::BTreeSet<u64> = (0..100_000).map(|n| fold(&[n])).collect();
        assert_eq!(distinct.len(), 100_000);
        // The value is part of the trace format: it never changes.
        assert_eq!(fold(&[1, 2, 3]), 4_903_438_657_335_502_131);
    }

    #[test]
    fn both_words_of_a_pair_count_in_every_bit() {
        let fold = |first: u64, second: u64| {
            let mut fold = RunningDigest::default();
            fold.pair(first, second);
            fold.value()
        };
        let one_bit = |n: u32| 1u64 << n;
        let near: Vec<u64> =
            (0..64).flat_map(|n| [fold(one_bit(n), 0), fold(0, one_bit(n)), fold(one_bit(n), one_bit(n))]).collect();
        let distinct: std::collections::BTreeSet<u64> = near.iter().copied().chain([fold(0, 0)]).collect();
        assert_eq!(distinct.len(), near.len() + 1);
    }

    #[test]
    fn hexadecimal_round_trips_and_refuses() {
        assert_eq!(unhex(&hex(&[0, 255, 16])), Some(vec![0, 255, 16]));
        assert_eq!(unhex("0"), None);
        assert_eq!(unhex("AB"), None);
    }
}
