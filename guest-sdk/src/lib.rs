//! Scenarios, properties, typed draws and deterministic tasks, for programs that Fozzy runs.
//!
//! ```text
//!            #[scenario] #[fuzz] #[property]              always!  sometimes!  reachable! …
//!                         │                                             │
//!   Runner ── which flow? ┼── Draw, random_int … ── host ── questions, properties
//!                         │                          ├─ sandbox: `fozzy:choices`, `fozzy:properties` of the run
//!   task ─── who is next? ┘                          └─ native:  the same answers from the same seed, by `cargo test`
//! ```
//!
//! A scenario is a crate of its own. `fozzy init NAME --template rust` writes one; by hand, this is its `Cargo.toml`, and `fozzy init .
//! --sdk-only` writes the SDK beside it, at the version of the command:
//!
//! ```toml
//! [package]
//! name = "counter"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [lib]
//! crate-type = ["cdylib", "rlib"]   # the component, and what `cargo test` links
//!
//! [dependencies]
//! fozzy-sdk = { path = "vendor/fozzy/guest-sdk" }
//!
//! [profile.release]
//! debug = "line-tables-only"        # failures are shown with their source lines
//!
//! [workspace]
//! exclude = ["vendor"]
//! ```
//!
//! `src/lib.rs` drives something and judges it:
//!
//! ```
//! use fozzy_sdk::prelude::*;
//!
//! #[derive(Default)]
//! struct Counter { real: u32, model: u32 }
//!
//! #[scenario]
//! impl Counter {
//!     #[flow]
//!     fn increment(&mut self) {
//!         self.real += 1;
//!         self.model += 1;
//!     }
//!
//!     #[flow(weight = 50, max_times = 20, precondition = |c| c.model > 0)]
//!     fn decrement(&mut self, by: Draw1to3) {
//!         let by = by.0.min(self.model);
//!         self.real -= by;
//!         self.model -= by;
//!     }
//!
//!     #[invariant(period = 10)]
//!     fn counts_agree(&self) {
//!         always!(self.real == self.model, "the counts agree", "{} and {}", self.real, self.model);
//!     }
//! }
//!
//! struct Draw1to3(u32);
//! impl Draw for Draw1to3 {
//!     fn draw(site: &str) -> Draw1to3 { Draw1to3(draw::range_at(site, 1..=3)) }
//! }
//!
//! let report = fozzy_sdk::native::run::<Counter>(fozzy_sdk::native::Settings { seed: 7, sequences: 3, flows: 50 });
//! assert_eq!(report.steps.len(), 150);
//! ```
//!
//! In the sandbox it is run by `fozzy run scenarios/counter --sequences 10 --flows 100 --seed 7`; with the same seed, `cargo
//! test` of the same crate draws the same flows and the same values, and sleeps in virtual time too: [`native`] says which functions do.
//!
//! Without the feature `std`, which is on by default, it is for programs that have an allocator and no std:
//!
//! ```toml
//! fozzy-sdk = { path = "vendor/fozzy/guest-sdk", default-features = false }
//! ```
//!
//! Left out then are draws of `HashMap` and `HashSet`, and [`task`] with what builds on it: `async` flows and properties. All
//! else is there: `#[scenario]`, draws, `random_*`, properties, tools, rules. The features `arbitrary` and `regex` bring crates
//! that have std. Natively std is there in any case, as the answers come by it.
//!
//! Invariants: nothing here has chance or time from anywhere but the run; natively both come from the seed.
//! The crate needs Rust 1.85, and for the sandbox the target `wasm32-wasip2`, which `fozzy` adds when it is missing.
//!
//! Not here: files, network and clocks, which are those of `std`.

#![cfg_attr(not(feature = "std"), no_std)]

// `format!` and `vec!`, which are not in the prelude of core.
#[macro_use]
extern crate alloc;
#[cfg(any(feature = "std", not(target_arch = "wasm32")))]
extern crate std;

extern crate self as fozzy_sdk;

#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
#[allow(missing_docs, unsafe_code, unused, unreachable_pub, reason = "generated from WIT, where the documentation is")]
pub mod bindings;
#[cfg(feature = "std")]
pub mod cluster;
pub mod draw;
mod host;
pub mod http;
mod local;
mod macros;
pub mod model;
mod narration;
#[cfg(not(target_arch = "wasm32"))]
pub mod native;
pub mod process;
pub mod properties;
mod property_return;
pub mod random;
mod registry;
pub mod scenario;
mod site;
pub mod state;
pub mod target;
#[cfg(feature = "std")]
pub mod task;
pub mod tools;

/// ```
/// use fozzy_sdk::prelude::*;
///
/// #[derive(Debug, Draw)]
/// enum Order {
///     Cancel,
///     #[draw(weight = 3)]
///     Buy { #[draw(range = 1..=10)] amount: u8, #[draw(length = 0..=4)] note: String },
/// }
///
/// match draw::any::<Order>() {
///     Order::Buy { amount, note } => assert!((1..=10).contains(&amount) && note.chars().count() <= 4),
///     Order::Cancel => {}
/// }
/// ```
pub use fozzy_sdk_macros::Draw;
/// ```
/// use fozzy_sdk::prelude::*;
///
/// #[fuzz]
/// fn header(data: &[u8]) {
///     if let Some((length, rest)) = data.split_first() {
///         always!(rest.get(..usize::from(*length)).is_none_or(|body| body.len() <= 255), "a body is short");
///     }
/// }
/// # fn main() {}
/// ```
pub use fozzy_sdk_macros::fuzz;
/// ```
/// use fozzy_sdk::prelude::*;
///
/// #[property]
/// fn sorting_keeps_the_length(list: Vec<u8>, #[draw(range = 1..=10)] times: u8) -> Result<(), Skip> {
///     if list.is_empty() {
///         skip!("nothing to sort");
///     }
///     let mut sorted = list.clone();
///     (0..times).for_each(|_| sorted.sort());
///     always!(sorted.len() == list.len(), "sorting keeps the length");
///     Ok(())
/// }
/// # fn main() {}
/// ```
pub use fozzy_sdk_macros::property;
/// ```
/// use fozzy_sdk::prelude::*;
///
/// #[derive(Default)]
/// struct Shelf { books: Vec<u8> }
///
/// #[scenario]
/// impl Shelf {
///     #[flow(weight = 100)]
///     fn put(&mut self, #[draw(range = 1..=9)] book: u8) { self.books.push(book); }
///
///     #[flow(max_times = 20, precondition = |shelf| !shelf.books.is_empty())]
///     fn take(&mut self) -> Option<u8> { self.books.pop() }
///
///     #[invariant(period = 5)]
///     fn all_are_books(&self) { always!(self.books.iter().all(|book| *book > 0), "all are books"); }
/// }
/// # fn main() { fozzy_sdk::native::run::<Shelf>(fozzy_sdk::native::Settings::default()); }
/// ```
pub use fozzy_sdk_macros::scenario;
pub use scenario::{flow_num, sequence_num};

/// What a scenario uses, in one line.
pub mod prelude {
    pub use crate::draw::{self, Draw};
    pub use crate::random::{random_bool, random_bytes, random_int, random_string};
    pub use crate::scenario::{Flow, Invariant, Skip, flow_num, sequence_num};
    #[cfg(feature = "std")]
    pub use crate::task;
    pub use crate::{Draw, fuzz, http, process, property, scenario};
    pub use crate::{
        always, always_at_least, always_at_most, always_greater, always_less, always_or_unreachable, reachable, skip,
        sometimes, sometimes_at_least, sometimes_at_most, sometimes_greater, sometimes_less, state, tools, unreachable,
    };
}

/// For the macros only.
#[doc(hidden)]
pub mod private {
    pub use crate::host::{Comparison, invalid};
    #[cfg(not(any(feature = "std", not(target_arch = "wasm32"))))]
    pub use crate::local::Local;
    pub use crate::narration::{
        ArgumentValue, DebugReturn, DebugText, FallibleReturn, FallibleVerdict, FlowReturn, PlainReturn,
        SkippableReturn, TypeText, VerdictReturn, argument, begin as begin_narration, drew_as, is_narrated,
    };
    pub use crate::property_return::{
        FallibleCheck, OpaqueErrorCheck, OtherValue, PropertyReturn, PropertyValue, ShownValue, SkippableCheck,
        ValueCheck, VerdictValue, invariant_fails, property_fails,
    };
    pub use crate::registry::{FUZZ, PROPERTY, SourceSite};
    pub use crate::scenario::{IntoOutcome, Outcome, Runner, StepResult};
    pub use alloc::format;
    pub use alloc::string::String;
    pub use alloc::vec::Vec;
    #[cfg(any(feature = "std", not(target_arch = "wasm32")))]
    pub use std::thread_local;
}
