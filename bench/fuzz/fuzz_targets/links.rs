//! A text with links in brackets, read as many parsers do it: from each bracket on, the one that closes it is looked for. So what
//! has many brackets takes the square of its length.
#![no_main]

#[cfg(feature = "replay")]
#[path = "../replay.rs"]
mod replay;

use libfuzzer_sys::fuzz_target;

/// Where the bracket is closed behind which `text` begins.
fn closing(text: &[u8]) -> Option<usize> {
    let mut open = 0_u32;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'[' => open += 1,
            b']' if open == 0 => return Some(at),
            b']' => open -= 1,
            _ => {}
        }
    }
    None
}

fuzz_target!(|text: &[u8]| {
    let (mut links, mut words) = (Vec::new(), 0_u32);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'[' => links.extend(closing(&text[at + 1..]).map(|length| &text[at + 1..][..length])),
            b' ' | b'\n' => words += 1,
            _ => {}
        }
    }
    std::hint::black_box((links, words));
});
