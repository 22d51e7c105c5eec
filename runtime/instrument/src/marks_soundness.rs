//! Soundness of the marks of written pages: finds everything that could write to a guest's memory unmarked.
//!
//! Marks say which pages of *the* memory were written, so that there must be one, of 32 bits, and everything that
//! writes must be code that is rewritten, or the host at a place that rewritten code can see: through the return pointer of an import
//! that it calls itself, or through a `realloc` of its own.
//!
//! Invariant: what is not understood is unsound. Another way to find written pages is always there.

use crate::ModuleOrdinal;
use std::fmt;

/// Whether the marks of a component are sound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarksVerdict {
    /// Why not; none when they are.
    pub reasons: Vec<MarksReason>,
}

impl MarksVerdict {
    /// Whether every written page is marked, or is the first [`crate::STRADDLE_BYTES`] behind a marked one.
    #[must_use]
    pub fn sound(&self) -> bool {
        self.reasons.is_empty()
    }

    pub(crate) fn because(&mut self, reason: MarksReason) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }
}

/// What makes marks unsound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarksReason {
    /// The module has more than one memory, its own or imported.
    SeveralMemories(ModuleOrdinal),
    /// The module's memory has 64-bit addresses.
    Memory64(ModuleOrdinal),
    /// Two modules have a memory of their own, or one that has is instantiated more than once.
    MemoryTwice(ModuleOrdinal),
    /// A component inside has core modules of its own, or imports some.
    Nested,
    /// The component imports a core module.
    ImportedModule,
    /// An imported function that may write through a pointer can be called through a table or a reference.
    ImportEscapes(ModuleOrdinal),
    /// A `realloc` of the canonical ABI is not a function that a module defines and exports.
    ReallocUnknown,
}

impl fmt::Display for MarksReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MarksReason::SeveralMemories(module) => write!(f, "core module {module} has several memories"),
            MarksReason::Memory64(module) => write!(f, "core module {module} has a 64-bit memory"),
            MarksReason::MemoryTwice(module) => write!(f, "core module {module} makes a second memory"),
            MarksReason::Nested => f.write_str("a component inside has core modules"),
            MarksReason::ImportedModule => f.write_str("a core module is imported"),
            MarksReason::ImportEscapes(module) => {
                write!(
                    f,
                    "core module {module} has an import that writes memory and is called through a table or a reference"
                )
            }
            MarksReason::ReallocUnknown => {
                f.write_str("a `realloc` option names no exported function of a core module")
            }
        }
    }
}
