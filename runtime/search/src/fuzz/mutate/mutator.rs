//! A mutator, what it works with, and what several of them need.
//!
//! ```text
//! name, weight, apply: (input, context) ─▶ whether the input is another one
//! ```
//!
//! Not here: the table of all, and how one is drawn (`mutate`).

use crate::fuzz::dictionary::Dictionary;
use crate::fuzz::input_to_state::InputToStatePair;
use crate::rng::Rng;
use std::ops::Range;

/// What mutators work with.
pub(crate) struct MutationContext<'a> {
    pub(crate) rng: &'a mut Rng,
    pub(crate) dictionary: &'a Dictionary,
    /// What the testcase compared.
    pub(crate) pairs: &'a [InputToStatePair],
    /// Another testcase.
    pub(crate) other: &'a [u8],
    /// Bytes that an input can have.
    pub(crate) bytes_max: usize,
}

impl MutationContext<'_> {
    /// How much longer `input` can become.
    pub(crate) fn room(&self, input: &[u8]) -> usize {
        self.bytes_max.saturating_sub(input.len())
    }

    /// Puts `bytes` in the place of a part of `input`, unless it is too long then or the same.
    pub(crate) fn replace(&self, input: &mut Vec<u8>, part: Range<usize>, bytes: &[u8]) -> bool {
        let fits = input.len() - part.len() + bytes.len() <= self.bytes_max;
        let is_another = fits && input[part.clone()] != *bytes;
        if is_another {
            replace_part(input, part, bytes);
        }
        is_another
    }
}

/// A way to change an input.
pub struct Mutator {
    /// Its name, for `--mutator`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// How likely it is drawn, beside the others.
    pub(super) weight: u32,
    /// `false` when there was nothing to do.
    pub(super) apply: fn(&mut Vec<u8>, &mut MutationContext<'_>) -> bool,
}

impl std::fmt::Debug for Mutator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Makes a part of `input` as long as that: what stands behind it is moved, and what stands in it is to be written.
pub(crate) fn resize_part(input: &mut Vec<u8>, part: Range<usize>, bytes: usize) {
    let (len, end) = (input.len(), part.start + bytes);
    if end <= part.end {
        input.drain(end..part.end);
    } else {
        input.resize(len + (end - part.end), 0);
        input.copy_within(part.end..len, end);
    }
}

/// Puts `bytes` in the place of a part of `input`.
pub(crate) fn replace_part(input: &mut Vec<u8>, part: Range<usize>, bytes: &[u8]) {
    let start = part.start;
    resize_part(input, part, bytes.len());
    input[start..start + bytes.len()].copy_from_slice(bytes);
}

/// Inserts at `place` the beginning of `bytes` that fits in `room`.
pub(crate) fn insert(input: &mut Vec<u8>, place: usize, bytes: &[u8], room: usize) {
    replace_part(input, place..place, &bytes[..bytes.len().min(room)]);
}

/// Inserts at `place` what stands in a part of `input`.
pub(crate) fn insert_within(input: &mut Vec<u8>, place: usize, part: Range<usize>) {
    let bytes = part.len();
    let before = part.start.min(place)..part.end.min(place);
    // What stands behind the place is moved.
    let behind = part.start.max(place) + bytes..part.end.max(place) + bytes;
    resize_part(input, place..place, bytes);
    input.copy_within(behind, place + before.len());
    input.copy_within(before, place);
}

/// Repeats a block of `input`, which is not empty, behind itself: it is there `times` more.
pub(crate) fn repeat_block(input: &mut Vec<u8>, block: Range<usize>, times: usize) {
    let added = times * block.len();
    resize_part(input, block.end..block.end, added);
    let all = &mut input[block.start..block.end + added];
    // Each copy is of all that is there: a copy a block would take longer the shorter it is.
    let mut done = block.len();
    while done < all.len() {
        let more = done.min(all.len() - done);
        all.copy_within(..more, done);
        done += more;
    }
}

/// A part of something with `len` bytes, of `most` bytes at most. A mutator that takes its input apart does so with such a part: what
/// it costs does not grow with the input.
pub(crate) fn window(len: usize, most: usize, rng: &mut Rng) -> Range<usize> {
    let start = if len > most { rng.index(len - most + 1) } else { 0 };
    start..len.min(start + most)
}

/// Bytes of its beginning by which an input is taken for text or not: formats that are not text show it in their headers.
const BEGINNING_BYTES: usize = 64;

/// Whether an input begins as plain text does.
pub(crate) fn is_text(input: &[u8]) -> bool {
    strays(input) == 0
}

/// Whether an input begins as text does, but for a quarter of its bytes at the most.
pub(crate) fn is_mostly_text(input: &[u8]) -> bool {
    4 * strays(input) <= input.len().min(BEGINNING_BYTES)
}

/// How many bytes of its beginning are none of plain text.
fn strays(input: &[u8]) -> usize {
    let beginning = &input[..input.len().min(BEGINNING_BYTES)];
    usize::from(beginning.iter().map(|byte| u8::from(!is_plain(*byte))).sum::<u8>())
}

/// Whether a byte is one of plain text: a sign or white space. Without a branch, so that many are looked at in one instruction.
fn is_plain(byte: u8) -> bool {
    let is_in = |first: u8, last: u8| byte.wrapping_sub(first) <= last - first;
    is_in(b' ', b'~') | is_in(b'\t', b'\n') | is_in(b'\x0c', b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_signs_and_white_space() {
        for byte in 0..=u8::MAX {
            assert_eq!(is_plain(byte), byte.is_ascii_graphic() || byte.is_ascii_whitespace(), "{byte:#x}");
        }
        let none = [0u8; 2 * BEGINNING_BYTES];
        assert_eq!([strays(&none), strays(&none[..5]), strays(b"a b\x00"), strays(&[])], [BEGINNING_BYTES, 5, 1, 0]);
    }

    #[test]
    fn parts_become_longer_and_shorter_in_their_place() {
        let text = b"0123456789";
        for (start, end) in (0..=text.len()).flat_map(|start| (start..=text.len()).map(move |end| (start, end))) {
            let (before, part, behind) = (&text[..start], &text[start..end], &text[end..]);
            for bytes in [&b""[..], b"a", b"abc", b"abcdefgh"] {
                let mut changed = text.to_vec();
                replace_part(&mut changed, start..end, bytes);
                assert_eq!(changed, [before, bytes, behind].concat());
            }
            for place in 0..=text.len() {
                let mut changed = text.to_vec();
                insert_within(&mut changed, place, start..end);
                assert_eq!(changed, [&text[..place], part, &text[place..]].concat());
            }
            for times in (0..9).filter(|_| !part.is_empty()) {
                let mut changed = text.to_vec();
                repeat_block(&mut changed, start..end, times);
                assert_eq!(changed, [before, &part.repeat(times + 1)[..], behind].concat());
            }
        }
    }
}
