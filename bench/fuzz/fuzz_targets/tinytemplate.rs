//! A template of `tinytemplate`, compiled and rendered.
#![no_main]

#[cfg(feature = "replay")]
#[path = "../replay.rs"]
mod replay;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut templates = tinytemplate::TinyTemplate::new();
    if templates.add_template("t", text).is_ok() {
        let _ = templates.render("t", &serde_json::json!({ "a": [1, 2], "b": "c" }));
    }
});
