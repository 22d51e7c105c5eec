//! A request of `httparse`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let _ = httparse::Request::new(&mut headers).parse(data);
});
