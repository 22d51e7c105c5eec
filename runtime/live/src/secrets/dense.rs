//! Base64 and hexadecimal: notations that write a text as a whole.
//!
//! ```text
//! "dXNlcjpzM2NyM3Q="   run of the alphabet   read from its 1st, 2nd, 3rd and 4th character on
//!  └ user:s3cr3t                             bytes 5..11 ─▶ characters 4..16, whole groups of four
//! ```
//!
//! Where a text begins in a run is not known (`/path/dXNlcg` is one run), so that each alignment is read. Both alphabets of
//! Base64 (RFC 4648, sections 4 and 5) count as one, and line ends inside are passed over.
//!
//! Invariant: linear time; what replaces a stretch of Base64 keeps the alignment of what follows.

use std::ops::Range;

/// A run of one of the alphabets: where each of its characters stands in the text.
struct Alphabet {
    /// Bits of a character.
    bits: u32,
    /// Characters that make up whole bytes.
    group: usize,
    value: fn(u8) -> Option<u8>,
}

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dense {
    Base64,
    Hexadecimal,
}

/// One reading of a run.
pub(super) struct DenseText<'a> {
    kind: Dense,
    /// What it means.
    pub(super) bytes: Vec<u8>,
    /// Where its characters stand; the first of them begins the first byte.
    places: &'a [usize],
    /// Whether the characters of another alphabet than the usual one stand in it.
    variant: bool,
}

impl Dense {
    fn alphabet(self) -> Alphabet {
        match self {
            Dense::Base64 => Alphabet { bits: 6, group: 4, value: sextet },
            Dense::Hexadecimal => Alphabet { bits: 4, group: 2, value: digit },
        }
    }

    /// Every reading of every run in `text` that can hold `least` bytes.
    pub(super) fn each(self, text: &[u8], least: usize, mut found: impl FnMut(DenseText<'_>)) {
        let alphabet = self.alphabet();
        let characters_min = (least * 8).div_ceil(alphabet.bits as usize);
        let (mut at, mut places) = (0, Vec::new());
        while at < text.len() {
            places.clear();
            while let Some(byte) = text.get(at) {
                if (alphabet.value)(*byte).is_some() {
                    places.push(at);
                } else if places.is_empty() || !matches!(byte, b'\r' | b'\n') {
                    break;
                }
                at += 1;
            }
            for skipped in 0..alphabet.group {
                if places.len() >= characters_min + skipped {
                    found(self.read(text, &places[skipped..]));
                }
            }
            at += 1;
        }
    }

    fn read<'a>(self, text: &[u8], places: &'a [usize]) -> DenseText<'a> {
        let alphabet = self.alphabet();
        let (mut bytes, mut bits, mut held) = (Vec::with_capacity(places.len()), 0_u32, 0_u32);
        let mut variant = false;
        for place in places {
            let character = text[*place];
            variant |= match self {
                Dense::Base64 => matches!(character, b'-' | b'_'),
                Dense::Hexadecimal => character.is_ascii_uppercase(),
            };
            bits = (bits << alphabet.bits) | u32::from((alphabet.value)(character).expect("of the alphabet"));
            held += alphabet.bits;
            if held >= 8 {
                held -= 8;
                bytes.push((bits >> held) as u8);
                bits &= (1 << held) - 1;
            }
        }
        DenseText { kind: self, bytes, places, variant }
    }
}

impl DenseText<'_> {
    /// Where in `text` the bytes `range` are written, in whole groups, and what is written there when `cover` takes their
    /// place. Line ends stay if the cover has their length.
    pub(super) fn covered(&self, text: &[u8], range: Range<usize>, cover: &[u8]) -> (Range<usize>, Vec<u8>) {
        let (bytes_of_group, group) = match self.kind {
            Dense::Base64 => (3, 4),
            Dense::Hexadecimal => (1, 2),
        };
        let first = range.start / bytes_of_group;
        let end = (range.end.div_ceil(bytes_of_group) * bytes_of_group).min(self.bytes.len());
        let mut bytes = self.bytes[first * bytes_of_group..range.start].to_vec();
        bytes.extend_from_slice(cover);
        bytes.extend_from_slice(&self.bytes[range.end..end]);
        let last = (end.div_ceil(bytes_of_group) * group).min(self.places.len());
        let places = &self.places[first * group..last];
        let within = places[0]..places[places.len() - 1] + 1;
        let written = match self.kind {
            Dense::Base64 => base64(&bytes, self.variant),
            Dense::Hexadecimal if self.variant => {
                bytes.iter().flat_map(|byte| format!("{byte:02X}").into_bytes()).collect()
            }
            Dense::Hexadecimal => bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect(),
        };
        if written.len() != places.len() {
            return (within, written);
        }
        let mut covered = text[within.clone()].to_vec();
        places.iter().zip(written).for_each(|(place, character)| covered[place - within.start] = character);
        (within, covered)
    }

    /// What follows a cover keeps its alignment if it is longer than what it covers by a multiple of this.
    pub(super) fn alignment(&self) -> usize {
        if self.kind == Dense::Base64 { 3 } else { 1 }
    }
}

fn sextet(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Without padding.
fn base64(bytes: &[u8], url_safe: bool) -> Vec<u8> {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let last: &[u8; 2] = if url_safe { b"-_" } else { b"+/" };
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - group.len()));
        for index in 0..=group.len() {
            let value = ((bits >> (18 - 6 * index)) & 63) as usize;
            out.push(LETTERS.get(value).copied().unwrap_or_else(|| last[value - LETTERS.len()]));
        }
    }
    out
}

/// The bytes of a Base64 text in either alphabet, padded or not; `None` if it is none.
pub(super) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at + 1);
    let plain = text.len() - end <= 2 && end % 4 != 1 && text[..end].iter().all(|byte| sextet(*byte).is_some());
    plain.then(|| Dense::Base64.read(text, &(0..end).collect::<Vec<_>>()).bytes)
}

/// A Base64 text with padding, in the usual alphabet.
pub(super) fn encode_base64(bytes: &[u8]) -> Vec<u8> {
    let mut text = base64(bytes, false);
    text.resize(text.len().next_multiple_of(4), b'=');
    text
}
