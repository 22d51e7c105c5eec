//! A picture of `png`, up to a bound of its pixels.
#![no_main]

#[cfg(feature = "replay")]
#[path = "../replay.rs"]
mod replay;

use libfuzzer_sys::fuzz_target;

/// Larger pictures measure the zeroing of memory.
const PIXELS_BYTES_MAX: usize = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let Ok(mut reader) = png::Decoder::new(data).read_info() else { return };
    let size = reader.output_buffer_size();
    if size <= PIXELS_BYTES_MAX {
        let _ = reader.next_frame(&mut vec![0; size]);
    }
});
