//! The attributes and the derive of `fozzy-sdk`, where they are documented by example.
//!
//! ```text
//! #[scenario] impl Bank { … }   ─▶ the impl, without our attributes; impl Scenario for Bank; in the sandbox the export of
//!                                  fozzy:scenario/stateful, natively a test
//! #[fuzz] #[property]           ─▶ the functions; the export of fozzy:scenario/fuzz or property; natively a test
//! #[derive(Draw)]               ─▶ fields in their order; of an enum, the variant first
//! ```
//!
//! Invariant: what is not understood is an error at its place in the source.

mod derive;
mod functions;
mod scenario;

use proc_macro::TokenStream;

/// Makes a scenario of an `impl` block: functions with `#[flow]` are its flows, with `#[invariant]` its invariants, and those
/// with the name of a hook its hooks. The type implements `Default`.
///
/// - `#[flow(weight = 100, max_times = 20, precondition = |b| b.accounts.len() > 1)]`: all three may be left out. Arguments
///   are drawn by `Draw`, each at the site of its name, within `#[draw(range = …)]` or `#[draw(length = …)]`. The function may be `async`, and may return `Result<(), Skip>`;
///   `false` and any other error are failures.
/// - `#[invariant(period = 10)]`: checked after every ten steps; default: 1. One that returns `false` or an error fails, as a property does.
/// - Hooks: `pre_sequence`, `post_sequence`, `pre_flow`, `post_flow`, `pre_invariants`, `post_invariants`, `pre_invariant`,
///   `post_invariant`. Those of one flow or invariant may take it: `fn pre_flow(&mut self, flow: &Flow)`.
///
/// A crate has one scenario.
#[proc_macro_attribute]
pub fn scenario(attribute: TokenStream, item: TokenStream) -> TokenStream {
    finish(scenario::expand(attribute.into(), item.into()))
}

/// Makes a fuzz target of a function that takes `&[u8]`, or of all public functions of an inline module. There may be any
/// number in a crate; they are called in the order of the source. One that returns `false` or an error fails; `Err(Skip)` only says that
/// there was nothing to check.
#[proc_macro_attribute]
pub fn fuzz(attribute: TokenStream, item: TokenStream) -> TokenStream {
    finish(functions::expand(functions::FunctionKind::Fuzz, &crate_name(), attribute.into(), item.into()))
}

/// Makes a property of a function whose arguments are drawn, or of all public functions of an inline module. There may be
/// any number in a crate; they are called in the order of the source. `#[draw(range = 1..=10)]` of an argument bounds a number,
/// `#[draw(length = 0..=100)]` a collection or string.
///
/// A property fails when something in it does, when it returns `false`, and when it returns an error; `Ok(false)` is `false`. One
/// that returns `Result<(), Skip>` may skip values with `skip!`; one that skips nearly all of them is warned of.
#[proc_macro_attribute]
pub fn property(attribute: TokenStream, item: TokenStream) -> TokenStream {
    finish(functions::expand(functions::FunctionKind::Property, &crate_name(), attribute.into(), item.into()))
}

/// Draws the fields in their order; of an enum, the variant first, the first one being the simplest. `#[draw(weight = 3)]`
/// makes a variant more likely; `#[draw(range = 1..=10)]` bounds a number, `#[draw(length = 0..=100)]` a collection or string.
#[proc_macro_derive(Draw, attributes(draw))]
pub fn draw(item: TokenStream) -> TokenStream {
    finish(derive::expand(item.into()))
}

/// The crate that is compiled, as cargo names it.
#[allow(clippy::disallowed_methods, reason = "nobody but cargo says which crate it is")]
fn crate_name() -> String {
    let names = ["CARGO_MANIFEST_DIR", "CARGO_CRATE_NAME", "CARGO_BIN_NAME"];
    names.map(|name| std::env::var(name).unwrap_or_default()).join(" ")
}

fn finish(expanded: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    expanded.unwrap_or_else(|error| error.into_compile_error()).into()
}
