//! How much larger an allocation is with fragmentation: the formula of version 1, as files assert its numbers.
//!
//! ```text
//! percent = BLAKE3(seed, number of the allocation, bytes asked for; 64 bits each, little-endian)[0] mod 31
//! ```
//!
//! The input is 24 bytes, so that BLAKE3 is one call of its compression function; the whole of it is below, since the library
//! would travel in each trace with the player. Source: O'Connor, Aumasson, Neves, Wilcox-O'Hearn, "BLAKE3" (2020), section 2.

/// Allocations are up to this much larger, in percent.
const PERCENT_MAX: u64 = 30;

/// The initial state of SHA-256, as of BLAKE3.
const IV: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
/// The order in which a round takes the words of the one before it.
const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const ROUNDS: usize = 7;
/// CHUNK_START, CHUNK_END and ROOT: the block is all there is.
const FLAGS: u32 = 1 | 2 | 8;

/// What is added to an allocation, in percent of what it takes without.
pub(super) fn percent(seed: u64, number: u64, bytes: u64) -> u64 {
    let mut input = [0; 24];
    for (part, word) in input.chunks_exact_mut(8).zip([seed, number, bytes]) {
        part.copy_from_slice(&word.to_le_bytes());
    }
    u64::from(first_word(&input) as u8) % (PERCENT_MAX + 1)
}

/// The first word of the digest of some bytes, which fit one block.
fn first_word(input: &[u8; 24]) -> u32 {
    let mut block = [0; 16];
    for (word, bytes) in block.iter_mut().zip(input.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut state = [0; 16];
    state[..8].copy_from_slice(&IV);
    state[8..12].copy_from_slice(&IV[..4]);
    // A counter of 0 in two words, the length, the flags.
    state[14] = input.len() as u32;
    state[15] = FLAGS;
    for _ in 0..ROUNDS {
        round(&mut state, &block);
        block = PERMUTATION.map(|from| block[from]);
    }
    state[0] ^ state[8]
}

fn round(state: &mut [u32; 16], block: &[u32; 16]) {
    const COLUMNS_AND_DIAGONALS: [[usize; 4]; 8] = [
        [0, 4, 8, 12],
        [1, 5, 9, 13],
        [2, 6, 10, 14],
        [3, 7, 11, 15],
        [0, 5, 10, 15],
        [1, 6, 11, 12],
        [2, 7, 8, 13],
        [3, 4, 9, 14],
    ];
    for (places, words) in COLUMNS_AND_DIAGONALS.into_iter().zip(block.chunks_exact(2)) {
        mix(state, places, words[0], words[1]);
    }
}

fn mix(state: &mut [u32; 16], [a, b, c, d]: [usize; 4], one: u32, other: u32) {
    for (word, by_d, by_b) in [(one, 16, 12), (other, 8, 7)] {
        state[a] = state[a].wrapping_add(state[b]).wrapping_add(word);
        state[d] = (state[d] ^ state[a]).rotate_right(by_d);
        state[c] = state[c].wrapping_add(state[d]);
        state[b] = (state[b] ^ state[c]).rotate_right(by_b);
    }
}
