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
//! A scenario is a crate of its own. It drives something and judges it:
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
//! test` of the same crate draws the same flows and the same values.
//!
//! Without the feature `std`, which is on by default, it is for programs that have an allocator and no std:
//!
//! ```toml
//! fozzy-sdk = { path = "…/guest-sdk", default-features = false }
//! ```
//!
//! Left out then are draws of `HashMap` and `HashSet`, and [`task`] with what builds on it: `async` flows and properties. All
//! else is there: `#[scenario]`, draws, `random_*`, properties, tools, rules. The features `arbitrary` and `regex` bring crates
//! that have std. Natively std is there in any case, as the answers come by it.
//!
//! Invariants: nothing here has chance or time from anywhere but the run; natively both come from the seed.
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
pub mod draw;
mod host;
pub mod http;
mod local;
mod macros;
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

pub use fozzy_sdk_macros::{Draw, fuzz, property, scenario};
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
        ArgumentValue, DebugReturn, DebugText, FallibleReturn, FlowReturn, PlainReturn, SkippableReturn, TypeText,
        argument, begin as begin_narration, drew_as, is_narrated,
    };
    pub use crate::property_return::{
        FallibleCheck, OpaqueErrorCheck, OtherValue, PropertyReturn, PropertyValue, ShownValue, SkippableCheck,
        ValueCheck, VerdictValue,
    };
    pub use crate::registry::{FUZZ, PROPERTY, SourceSite};
    pub use crate::scenario::{IntoOutcome, Outcome, Runner, StepResult};
    pub use alloc::format;
    pub use alloc::string::String;
    pub use alloc::vec::Vec;
    #[cfg(any(feature = "std", not(target_arch = "wasm32")))]
    pub use std::thread_local;
}
