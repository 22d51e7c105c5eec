//! Blocks with a length before them grow and shrink, and their lengths say so, with those of the blocks around them.
//!
//! ```text
//! 0a 07 12 03 a b c 08 01      ─▶  0a 09 12 05 a b c b c 08 01      both lengths are two more
//! 00 00 00 ff a b c            ─▶  00 00 00 03 a b c                one that is too large is made to fit
//! ```
//!
//! Lengths of Protocol Buffers are found from the beginning of the message; others by their values alone: a drawn integer, and
//! those before it that reach over its block.
//!
//! Invariant: an input is left as it is when a length has no room for its new value.

use super::{MutationContext, Mutator, is_text, replace_part};
use crate::rng::Rng;
use std::borrow::Cow;
use std::ops::Range;

pub(super) const MUTATOR: Mutator = Mutator {
    name: "sized",
    about: "grows or shrinks a block, and the lengths before it and around it",
    weight: 5,
    apply,
};

/// Bytes of a varint: in Protocol Buffers, negative numbers have as many.
const VARINT_BYTES_MAX: usize = 10;
/// Items of a message that are looked at on the way to a place.
const ITEMS_MAX: usize = 1 << 10;
/// How far before a drawn integer others are looked for.
const LOOK_BACK_BYTES: usize = 32;
/// Random bytes that are inserted at once.
const RANDOM_BYTES_MAX: usize = 16;
/// One text in this many is changed all the same: a message that begins with words looks like one.
const TEXT_ONE_IN: u64 = 8;
/// One integer in this many that reaches over a block is no length: it is a tag, or something else.
const COINCIDENCE_ONE_IN: u64 = 4;

/// How an integer is written.
#[derive(Clone, Copy)]
enum Encoding {
    /// Seven bits a byte, the lowest first (LEB128).
    Varint,
    Fixed {
        bytes: usize,
        is_big_endian: bool,
    },
}

/// An integer of an input.
#[derive(Clone, Copy)]
struct Field {
    /// Where its tag begins; without one, the field itself.
    item: usize,
    start: usize,
    end: usize,
    value: u64,
    encoding: Encoding,
}

impl Field {
    /// Where the block behind it ends, if it is its length.
    fn block_end(&self, len: usize) -> Option<usize> {
        let end = self.value.saturating_add(self.end as u64);
        (end <= len as u64).then_some(end as usize)
    }
}

impl Encoding {
    fn draw(rng: &mut Rng) -> Encoding {
        let is_big_endian = rng.one_in(2);
        match rng.below(5) {
            0 | 1 => Encoding::Varint,
            power => Encoding::Fixed { bytes: 1usize << (power - 2), is_big_endian },
        }
    }

    fn read(self, input: &[u8], start: usize) -> Option<Field> {
        // Most varints are of one byte.
        if let (Encoding::Varint, byte @ 0..0x80) = (self, *input.get(start)?) {
            return Some(Field { item: start, start, end: start + 1, value: byte.into(), encoding: self });
        }
        let bytes = match self {
            Encoding::Varint => 1 + input.get(start..)?.iter().take(VARINT_BYTES_MAX).position(|byte| *byte < 0x80)?,
            Encoding::Fixed { bytes, .. } => bytes,
        };
        let raw = input.get(start..start + bytes)?;
        let byte_by_byte = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        let value = match self {
            Encoding::Varint => raw.iter().rev().fold(0u64, |value, byte| (value << 7) | u64::from(*byte & 0x7f)),
            Encoding::Fixed { is_big_endian: true, .. } => raw.iter().fold(0u64, byte_by_byte),
            Encoding::Fixed { .. } => raw.iter().rev().fold(0u64, byte_by_byte),
        };
        Some(Field { item: start, start, end: start + bytes, value, encoding: self })
    }

    /// The bytes of `value`, if there are enough.
    fn write(self, value: u64) -> Option<FieldBytes> {
        let mut raw = FieldBytes { bytes: [0; VARINT_BYTES_MAX], len: 0 };
        match self {
            Encoding::Varint => {
                raw.len = 1 + value.max(1).ilog2() as usize / 7;
                let groups = raw.bytes[..raw.len].iter_mut().enumerate();
                groups.for_each(|(group, byte)| *byte = (value >> (7 * group)) as u8 | 0x80);
                raw.bytes[raw.len - 1] &= 0x7f;
            }
            Encoding::Fixed { bytes, .. } if value >> (8 * bytes) != 0 => return None,
            Encoding::Fixed { bytes, is_big_endian } => {
                raw.len = bytes;
                raw.bytes[..bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
                if is_big_endian {
                    raw.bytes[..bytes].reverse();
                }
            }
        }
        Some(raw)
    }
}

/// An integer as it is written.
struct FieldBytes {
    bytes: [u8; VARINT_BYTES_MAX],
    len: usize,
}

impl FieldBytes {
    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.is_empty() || (is_text(input) && !material.rng.one_in(TEXT_ONE_IN)) {
        return false;
    }
    let place = material.rng.index(input.len());
    let mut fields = if material.rng.one_in(2) { message_fields(input, place) } else { Vec::new() };
    if fields.is_empty() {
        fields = drawn_fields(input, place, material.rng);
    }
    // Each depth is as likely as the next.
    fields.truncate(1 + material.rng.index(fields.len().max(1)));
    change(input, fields, material).unwrap_or(false)
}

/// Changes the block of the last field, or that field if it has none.
fn change(input: &mut Vec<u8>, fields: Vec<Field>, material: &mut MutationContext<'_>) -> Option<bool> {
    let field = fields.last()?;
    let (replaced, bytes) = match field.block_end(input.len()) {
        Some(end) => edit(input, field, end, material)?,
        None => (field.start..field.end, Cow::Owned(fitting(input, field, material.rng)?.as_slice().to_vec())),
    };
    resize(input, fields, replaced, &bytes, material.bytes_max)
}

/// The lengths of the items that a place is in, from the outermost, if the input is a message of Protocol Buffers up to there.
fn message_fields(input: &[u8], place: usize) -> Vec<Field> {
    let (mut fields, mut at, mut end) = (Vec::new(), 0, input.len());
    for _ in 0..ITEMS_MAX {
        let item = if at > place { None } else { message_item(&input[..end], at) };
        let Some((next, length)) = item else { break };
        at = next;
        if let Some(length) = length
            && place < next
        {
            fields.push(length);
            (at, end) = (length.end, next);
        }
    }
    fields
}

/// Where the item of a message that begins at `item` ends, and its length if it has one.
fn message_item(message: &[u8], item: usize) -> Option<(usize, Option<Field>)> {
    let tag = Encoding::Varint.read(message, item)?;
    let (end, length) = match tag.value & 7 {
        0 => (Encoding::Varint.read(message, tag.end)?.end, None),
        1 => (tag.end + 8, None),
        2 => {
            let length = Field { item, ..Encoding::Varint.read(message, tag.end)? };
            (length.block_end(message.len())?, Some(length))
        }
        5 => (tag.end + 4, None),
        _ => return None,
    };
    // There is no field 0.
    (tag.value > 7 && end <= message.len()).then_some((end, length))
}

/// The integer at a place, read as drawn; if it can be a length, after those before it that reach over its block.
fn drawn_fields(input: &[u8], place: usize, rng: &mut Rng) -> Vec<Field> {
    let encoding = Encoding::draw(rng);
    let Some(drawn) = encoding.read(input, place) else { return Vec::new() };
    let mut fields = vec![drawn];
    let Some(block_end) = drawn.block_end(input.len()) else { return fields };
    let (mut start, mut reach) = (place, block_end);
    for before in (place.saturating_sub(LOOK_BACK_BYTES)..place).rev() {
        let Some(field) = encoding.read(input, before).filter(|field| field.end <= start) else { continue };
        let Some(end) = field.block_end(input.len()).filter(|end| *end >= reach) else { continue };
        if !rng.one_in(COINCIDENCE_ONE_IN) {
            (start, reach) = (field.start, end);
            fields.push(field);
        }
    }
    fields.reverse();
    fields
}

/// What is replaced in a block that ends at `end`, or with its length and tag, and by what.
fn edit<'a>(
    input: &[u8],
    field: &Field,
    end: usize,
    material: &mut MutationContext<'a>,
) -> Option<(Range<usize>, Cow<'a, [u8]>)> {
    let (rng, other) = (&mut *material.rng, material.other);
    let block = field.end..end;
    let place = rng.between(block.start, block.end);
    Some(match rng.below(6) {
        0 => {
            let mut random = vec![0u8; rng.length(RANDOM_BYTES_MAX)];
            rng.fill(&mut random);
            (place..place, random.into())
        }
        1 => (place..place, Cow::Borrowed(&other[part(0..other.len(), rng)?])),
        2 => (place..place, input[part(block, rng)?].to_vec().into()),
        3 => (part(block, rng)?, Cow::Borrowed(&[])),
        4 => (field.item..field.item, input[field.item..end].to_vec().into()),
        _ => (field.item..end, Cow::Borrowed(&[])),
    })
}

/// A part of something that is not empty.
fn part(of: Range<usize>, rng: &mut Rng) -> Option<Range<usize>> {
    let length = (!of.is_empty()).then(|| rng.length(of.len()))?;
    let start = rng.between(of.start, of.end - length);
    Some(start..start + length)
}

/// A value for a length that is too large: one at the end of the input, or a power of two.
fn fitting(input: &[u8], field: &Field, rng: &mut Rng) -> Option<FieldBytes> {
    let rest = (input.len() - field.end) as u64;
    let bits = match field.encoding {
        Encoding::Varint => 32,
        Encoding::Fixed { bytes, .. } => 8 * bytes as u64,
    };
    field.encoding.write(match rng.below(4) {
        0 => rest,
        1 => rest + 1,
        2 => rest.saturating_sub(1),
        _ => 1u64 << rng.below(bits),
    })
}

/// Puts `bytes` in the place of a part, and changes the lengths before it, whose blocks it is in, by the difference. `None`, and nothing is
/// changed, if a length has no room for its new value, or the input would be too long. The answer is whether it is another one.
fn resize(
    input: &mut Vec<u8>,
    mut fields: Vec<Field>,
    replaced: Range<usize>,
    bytes: &[u8],
    bytes_max: usize,
) -> Option<bool> {
    fields.retain(|field| field.end <= replaced.start);
    let mut lengths = Vec::with_capacity(fields.len());
    let mut difference = bytes.len() as i64 - replaced.len() as i64;
    // From the innermost, as a length that gets longer itself is a part of the blocks around it.
    for field in fields.iter().rev() {
        let length = field.encoding.write(field.value.checked_add_signed(difference)?)?;
        difference += length.len as i64 - (field.end - field.start) as i64;
        lengths.push(length);
    }
    if input.len() as i64 + difference > bytes_max as i64 {
        return None;
    }
    // Only one that is as long may be the same.
    let before = (difference == 0).then(|| input.clone());
    replace_part(input, replaced, bytes);
    for (field, length) in fields.iter().rev().zip(&lengths) {
        replace_part(input, field.start..field.end, length.as_slice());
    }
    Some(before.is_none_or(|before| before != *input))
}

#[cfg(test)]
mod tests;
