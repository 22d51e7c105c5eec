//! What a debugger asks the debug information of a program: code places of a line or a function, variables at a place, their
//! values, and expressions over them.
//!
//! ```text
//! main.rs:12, "shop::pay"  ──► DebugInfo ──► CodePlace { module, offset of the original }
//! CodePlace                ──► scopes of the function and of what is inlined there ──► variables
//! variable + FrameValues   ──► Value ──► text, children, one level at a time
//! "cart.items[2].price > 3" + scope + FrameValues ──► Value
//! ```
//!
//! All offsets and indices are those of the original program: whoever looks at a rewritten one maps locals, globals and code
//! before it answers [`FrameValues`].
//!
//! Invariants: whatever the bytes say, nothing panics and everything ends; each step has a bound. What is not known at a place is
//! said to be so ([`Unavailable`]); a neighbour's value is never shown in its place.
//!
//! Not here: stacks (`source` has the frames of a place), running programs, reading files of source.

mod evaluate;
mod expression;
mod functions;
mod lines;
mod location;
mod module;
mod render;
mod scopes;
mod types;
mod value;
mod views;

pub use expression::{Expression, ExpressionError};
pub use lines::LinePlaces;
pub use location::{FrameValues, Unavailable};
pub use module::{CodePlace, DebugInfo, SourceFile};
pub use render::ValueText;
pub use scopes::{FunctionScope, ScopeVariable, VariableKind};
pub use value::Value;
