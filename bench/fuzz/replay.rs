//! Has libFuzzer execute given inputs, one after the other, in place of those that it would make: its whole loop runs, over
//! the same work as another engine's.
//!
//! ```text
//! file of FOZZY_REPLAY     length (four bytes, little end first) | bytes | length | bytes | ...
//! ```

use std::sync::{LazyLock, Mutex};

struct Inputs {
    all: Vec<Vec<u8>>,
    next: usize,
}

static INPUTS: LazyLock<Mutex<Inputs>> = LazyLock::new(|| {
    let path = std::env::var_os("FOZZY_REPLAY").expect("FOZZY_REPLAY names the file of inputs");
    let file = std::fs::read(path).expect("the file of inputs can be read");
    let (mut all, mut rest) = (Vec::new(), &file[..]);
    while let Some((length, tail)) = rest.split_first_chunk() {
        let (input, tail) = tail.split_at(u32::from_le_bytes(*length) as usize);
        all.push(input.to_vec());
        rest = tail;
    }
    assert!(!all.is_empty(), "the file of inputs has none");
    Mutex::new(Inputs { all, next: 0 })
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], _size: usize, max_size: usize, _seed: u32| {
    let mut inputs = INPUTS.lock().expect("nobody panics with it");
    let next = inputs.next;
    inputs.next = (next + 1) % inputs.all.len();
    let input = &inputs.all[next];
    let length = input.len().min(max_size);
    data[..length].copy_from_slice(&input[..length]);
    length
});
