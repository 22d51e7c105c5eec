//! Blocks and their lengths beside a plain version, which changes a copy of the input.

use super::*;
use crate::fuzz::mutate::tests::{check_plain, replace_all};

fn read(encoding: Encoding, input: &[u8], start: usize) -> Option<(u64, usize)> {
    let raw = match encoding {
        Encoding::Varint => {
            let last = input.get(start..)?.iter().take(VARINT_BYTES_MAX).position(|byte| *byte < 0x80)?;
            let varint = &input[start..=start + last];
            return Some((varint.iter().rev().fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f)), last + 1));
        }
        Encoding::Fixed { bytes, .. } => input.get(start..start + bytes)?,
    };
    let mut wide = raw.to_vec();
    if matches!(encoding, Encoding::Fixed { is_big_endian: true, .. }) {
        wide.reverse();
    }
    Some((wide.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte)), raw.len()))
}

#[test]
fn an_integer_is_read_as_byte_by_byte_and_written_as_it_is_read() {
    let mut rng = Rng::new(fozzy_trace::Seed(8), 0);
    for _ in 0..4000 {
        let (encoding, mut input) = (Encoding::draw(&mut rng), [0u8; 12]);
        rng.fill(&mut input);
        let start = rng.index(input.len() + 2);
        let field = encoding.read(&input, start);
        assert_eq!(field.map(|field| (field.value, field.end - start)), read(encoding, &input, start));
        let value = rng.number() >> rng.below(64);
        match encoding.write(value) {
            Some(raw) => assert_eq!(read(encoding, raw.as_slice(), 0), Some((value, raw.len))),
            None => assert!(matches!(encoding, Encoding::Fixed { bytes, .. } if value >= 1 << (8 * bytes))),
        }
    }
}

fn resized(input: &[u8], fields: &[Field], replaced: Range<usize>, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut changed = [&input[..replaced.start], bytes, &input[replaced.end..]].concat();
    let mut difference = bytes.len() as i64 - replaced.len() as i64;
    for field in fields.iter().rev().filter(|field| field.end <= replaced.start) {
        let length = field.encoding.write(field.value.checked_add_signed(difference)?)?.as_slice().to_vec();
        difference += length.len() as i64 - (field.end - field.start) as i64;
        changed.splice(field.start..field.end, length);
    }
    Some(changed)
}

fn changed(input: &[u8], material: &mut MutationContext<'_>) -> Option<Vec<u8>> {
    let place = material.rng.index(input.len());
    let mut fields = if material.rng.one_in(2) { message_fields(input, place) } else { Vec::new() };
    if fields.is_empty() {
        fields = drawn_fields(input, place, material.rng);
    }
    fields.truncate(1 + material.rng.index(fields.len().max(1)));
    let field = fields.last()?;
    let (replaced, bytes) = match field.block_end(input.len()) {
        Some(end) => edit(input, field, end, material)?,
        None => (field.start..field.end, fitting(input, field, material.rng)?.as_slice().to_vec().into()),
    };
    resized(input, &fields, replaced, &bytes)
}

#[test]
fn blocks_and_their_lengths_change_as_in_a_copy_of_the_input() {
    check_plain(&MUTATOR, |input, material| {
        if input.is_empty() || (is_text(input) && !material.rng.one_in(TEXT_ONE_IN)) {
            return false;
        }
        changed(input, material).is_some_and(|changed| replace_all(input, changed, material))
    });
}
