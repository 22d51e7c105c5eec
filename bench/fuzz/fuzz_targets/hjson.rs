//! A value of `serde-hjson`.
#![no_main]

#[cfg(feature = "replay")]
#[path = "../replay.rs"]
mod replay;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = serde_hjson::from_slice::<serde_hjson::Value>(data);
});
