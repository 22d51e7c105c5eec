//! A request of `httparse`.
#![no_main]

#[cfg(feature = "replay")]
#[path = "../replay.rs"]
mod replay;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let _ = httparse::Request::new(&mut headers).parse(data);
});
