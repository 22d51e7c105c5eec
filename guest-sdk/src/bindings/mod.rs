//! The sandbox side of the SDK's interfaces, as generated from `wit/`. Not for direct use.

pub use wit_bindgen::rt;

pub mod fuzz;
pub mod membership;
pub mod model;
pub mod net;
pub mod property;
pub mod stateful;
pub mod target;
pub mod tools;
