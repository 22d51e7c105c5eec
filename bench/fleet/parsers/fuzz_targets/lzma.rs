//! A stream of `lzma-rs`, in the format xz.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = data;
    let _ = lzma_rs::xz_decompress(&mut input, &mut Vec::new());
});
