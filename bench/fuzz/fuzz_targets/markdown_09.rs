//! A text of `pulldown-cmark`, as HTML.
#![no_main]

#[cfg(feature = "replay")]
#[path = "../replay.rs"]
mod replay;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut html = String::new();
    markdown_09::html::push_html(&mut html, markdown_09::Parser::new_ext(text, markdown_09::Options::all()));
});
