//! Random damage with the checksum made right: reading never panics, and what it accepts, it can write again.

use super::hostile::with_content;
use super::*;

/// Xorshift (Marsaglia 2003): small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// Changes some bytes: replaced, flipped, removed, doubled, or made an extreme number.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len().max(1));
            if at >= bytes.len() {
                bytes.push(self.below(256) as u8);
                continue;
            }
            let end = (at + 1 + self.below(8)).min(bytes.len());
            match self.below(6) {
                0 => bytes[at] = self.below(256) as u8,
                1 => bytes[at] ^= 1 << self.below(8),
                2 => drop(bytes.drain(at..end)),
                3 => {
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
                4 => bytes[at..end].fill(0xFF),
                _ => bytes[at..end].fill(0),
            }
        }
    }
}

/// Reads it, and writes again what was accepted.
fn survives(bytes: &[u8]) -> bool {
    let verification = verify(bytes);
    let Ok(recording) = Recording::read(bytes) else {
        assert!(!verification.ok);
        return false;
    };
    assert!(verification.ok);
    assert_eq!(Recording::read(&bytes_of(&recording)), Ok(recording));
    true
}

#[test]
fn damage_anywhere_never_panics() {
    let plain = sample_bytes();
    let mut random = Random(0x0005_DEEC_E66D);
    for _ in 0..4_000 {
        let mut bytes = plain.clone();
        random.damage(&mut bytes);
        let _ = survives(&bytes);
        if bytes.len() > 64 && bytes[..bytes.len() - 64].ends_with(seal::MARKER) {
            reseal(&mut bytes);
            let _ = survives(&bytes);
        }
    }
}

/// Digests, sizes and CRCs made right as well, so that the damage reaches the parsers.
#[test]
fn damage_inside_an_entry_never_panics() {
    let stored = sample_bytes();
    let contents: Vec<(String, Vec<u8>)> = container::read(&stored)
        .expect("ours")
        .iter()
        .filter(|entry| entry.name != manifest::MANIFEST)
        .map(|entry| {
            let content = if manifest::compressed(entry.name) {
                zstd::bulk::decompress(entry.bytes, 1 << 20).expect("a frame")
            } else {
                entry.bytes.to_vec()
            };
            (entry.name.to_owned(), content)
        })
        .collect();
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut accepted = 0;
    for round in 0..2_000 {
        let (name, content) = &contents[round % contents.len()];
        let mut content = content.clone();
        random.damage(&mut content);
        accepted += u32::from(survives(&with_content(name, &content)));
    }
    assert!(accepted > 100, "the damage is to reach past the refusals: {accepted} accepted");
}

/// Packed bytes damaged, everything around them made right.
#[test]
fn damage_inside_a_frame_never_panics() {
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    for round in 0..1_500 {
        let at = 2 + round % 14;
        let bytes = super::hostile::with_entries(|entries| random.damage(&mut entries[at].1));
        let _ = survives(&bytes);
    }
}
