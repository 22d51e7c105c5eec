//! `#[test]` for the harness of fozzy-tests: registers the function instead of leaving it to libtest.
//!
//! ```text
//! #[test]                fn opens() { … }
//! fn opens() { … }  ─▶   inventory::submit! { crate::harness::Test { name: "all::bad_input::opens", run: opens } }
//! ```
//!
//! `#[macro_use] extern crate` in `tests/main.rs` puts it before the attribute of the standard library, in every module, so that no
//! test can be written that nobody runs. Not here: how tests are run, which is `tests/harness.rs`.

use proc_macro::{TokenStream, TokenTree};

/// Registers a function without arguments as a test.
#[proc_macro_attribute]
pub fn test(_: TokenStream, function: TokenStream) -> TokenStream {
    let mut tokens = function.clone().into_iter();
    let mut is_keyword = |token: TokenTree| matches!(token, TokenTree::Ident(word) if word.to_string() == "fn");
    let is_function = tokens.by_ref().any(&mut is_keyword);
    let Some(TokenTree::Ident(name)) = tokens.next().filter(|_| is_function) else {
        return "compile_error!(\"expected a function\");".parse().expect("it is Rust");
    };
    let registered = format!(
        "::inventory::submit! {{ crate::harness::Test {{ name: concat!(module_path!(), \"::{name}\"), run: {name} }} }}"
    );
    let registered: TokenStream = registered.parse().expect("it is Rust");
    function.into_iter().chain(registered).collect()
}
