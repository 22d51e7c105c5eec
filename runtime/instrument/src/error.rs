//! Why a component was refused: one sentence each, saying what and where.
//!
//! All offsets are bytes from the start of the component, as `wasm-tools dump` shows them.

use crate::{COMPONENT_BYTES_MAX, STACK_SLOTS_MAX, nesting::NESTING_DEPTH_MAX};

/// A component that cannot be instrumented, or options that cannot be met.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes start like a core module, which has to be turned into a component first.
    #[error("expected a component, found a core module: componentize it first")]
    CoreModule,
    /// Malformed, invalid, or using a feature outside [`crate::features()`].
    #[error("invalid component at offset {offset:#x}: {reason}")]
    Invalid {
        /// Where, in bytes from the start of the component.
        offset: usize,
        /// The validator's reason.
        reason: String,
    },
    /// More than [`COMPONENT_BYTES_MAX`].
    #[error("the component has {bytes} bytes, more than the {COMPONENT_BYTES_MAX} that are accepted")]
    TooLarge {
        /// Size found.
        bytes: usize,
    },
    /// Components inside components, deeper than any toolchain nests them.
    #[error("components are nested deeper than {NESTING_DEPTH_MAX} levels at offset {offset:#x}")]
    NestedTooDeep {
        /// Where the level too many starts.
        offset: usize,
    },
    /// The module is so close to a limit of the format that nothing can be put into it.
    #[error(
        "no room to instrument the core module at offset {offset:#x}: it would have {found} {what}, more than the {limit} that engines accept"
    )]
    NoRoom {
        /// Where the function or module in question starts.
        offset: usize,
        /// What there would be too many of.
        what: &'static str,
        /// How many there would be.
        found: u64,
        /// How many engines accept.
        limit: u64,
    },
    /// Short operators that pass on hundreds of values each, so that compiling would take far more than the size says.
    #[error(
        "the program passes {found} values through blocks, branches and calls up to the function at offset {offset:#x}, and one of {bytes} bytes at most {limit}: it would take gigabytes to compile"
    )]
    TooCostly {
        /// Where the function starts with which it is too many.
        offset: usize,
        /// How many there are up to its end.
        found: u64,
        /// Size of the component.
        bytes: u64,
        /// How many may be.
        limit: u64,
    },
    /// [`crate::Options::stack_slots`] is zero or above [`STACK_SLOTS_MAX`].
    #[error("a stack of {found} slots was asked for, expected 1 to {STACK_SLOTS_MAX}")]
    StackSlots {
        /// What was asked for.
        found: u32,
    },
}

impl From<wasmparser::BinaryReaderError> for Error {
    fn from(error: wasmparser::BinaryReaderError) -> Self {
        Error::Invalid { offset: error.offset(), reason: error.message().to_owned() }
    }
}
