//! Answers in few bytes: most are small numbers, and a frontier keeps many millions of them.
//!
//! ```text
//! Number(5), Bytes("00ff")    0x14 │ 0x09 00 ff        the two lowest bits of the first number say what it is
//! ```
//!
//! Invariant: what comes out is what went in.

use fozzy_trace::digest::{hex, unhex};
use fozzy_trace::source::Override;

/// What follows is the text of bytes as it is: it is no text that [`hex`] writes.
const TEXT: u64 = 3;
/// What follows is that number of bytes.
const BYTES: u64 = 1;
/// An even number is twice the answer, where that has room.
const WIDE: u64 = 2;

/// Answers in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactAnswers {
    bytes: Box<[u8]>,
}

impl CompactAnswers {
    /// These answers.
    #[must_use]
    pub fn of(answers: &[Override]) -> CompactAnswers {
        let mut bytes = Vec::with_capacity(answers.len() * 2);
        for answer in answers {
            match answer {
                Override::Number(number) if *number >> 62 == 0 => write(&mut bytes, number << 2),
                Override::Number(number) => {
                    write(&mut bytes, WIDE);
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
                Override::Bytes(text) => match unhex(text).filter(|raw| hex(raw) == *text) {
                    Some(raw) => stretch(&mut bytes, BYTES, &raw),
                    None => stretch(&mut bytes, TEXT, text.as_bytes()),
                },
            }
        }
        CompactAnswers { bytes: bytes.into() }
    }

    /// Bytes that they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The answers.
    pub fn iter(&self) -> impl Iterator<Item = Override> + '_ {
        let mut rest = &*self.bytes;
        std::iter::from_fn(move || next(&mut rest))
    }
}

fn stretch(bytes: &mut Vec<u8>, kind: u64, content: &[u8]) {
    write(bytes, (content.len() as u64) << 2 | kind);
    bytes.extend_from_slice(content);
}

/// Seven bits a byte, the lowest first.
fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn next(rest: &mut &[u8]) -> Option<Override> {
    if rest.is_empty() {
        return None;
    }
    let (mut head, mut shift) = (0, 0);
    while let Some((byte, more)) = rest.split_first() {
        *rest = more;
        head |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    let mut take = |bytes: usize| {
        let (taken, more) = rest.split_at(bytes);
        *rest = more;
        taken
    };
    Some(match head & 3 {
        0 => Override::Number(head >> 2),
        WIDE => Override::Number(u64::from_le_bytes(take(8).try_into().expect("eight bytes"))),
        BYTES => Override::Bytes(hex(take((head >> 2) as usize))),
        _ => Override::Bytes(String::from_utf8_lossy(take((head >> 2) as usize)).into_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_is_what_went_in_and_small_numbers_take_a_byte() {
        let text = |text: &str| Override::Bytes(text.to_owned());
        let answers = vec![
            Override::Number(0),
            Override::Number(31),
            Override::Number(32),
            text(""),
            text("00ff"),
            text("00FF"),
            text("no hex"),
            text("0"),
            Override::Number(u64::MAX),
            Override::Number(u64::MAX >> 2),
            Override::Number((u64::MAX >> 2) + 1),
            text(&"ab".repeat(1000)),
        ];
        let compact = CompactAnswers::of(&answers);
        assert_eq!(compact.iter().collect::<Vec<_>>(), answers);
        let small: Vec<Override> = (0..10_000).map(|number| Override::Number(number % 32)).collect();
        assert_eq!(CompactAnswers::of(&small).bytes(), small.len());
        assert!(CompactAnswers::of(&[]).iter().next().is_none() && CompactAnswers::default().iter().next().is_none());
    }
}
