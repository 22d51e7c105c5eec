//! A decoder of a record, `rec` and a length, that believes the length.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some([length, content @ ..]) = data.strip_prefix(b"rec") {
        let record = &content[..usize::from(*length)];
        assert!(record.len() <= content.len());
    }
});
