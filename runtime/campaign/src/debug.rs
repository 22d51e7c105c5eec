//! The debugger that goes backwards: a recorded run that is stopped anywhere, forwards and back.
//!
//! ```text
//! DebugSession ──socket──▶ debuggee at position 41 812        the run, executed once more, stopped
//!      │       ──socket──▶ checkpoint at 40 000 ─fork─▶ …     the same process at an earlier position: never resumed, only forked
//!      └─ going back: fork the nearest checkpoint before the target, run it up to the target
//! ```
//!
//! A debuggee is a process of one thread that executes the recording in the build for debuggers, and does at each stop what its session asks
//! for. `fork` copies it with all of its guests, their stacks and the virtual computer, and the kernel shares what does not change.
//!
//! Invariants: a position is the same in every execution of a recording; what was executed to the end is compared with the recording,
//! as by `replay`. A session that ends, or dies, leaves no process behind.
//! Not here: printing (`fozzy-cli`).

mod adapter;
mod breakpoints;
mod code;
mod console;
mod debuggee;
mod expression;
mod fork;
mod gdb;
mod log_text;
mod names;
mod protocol;
mod session;
mod stepping;
mod values;
mod words;

pub use adapter::DebugAdapter;
pub use code::{DebuggedCode, LineStart};
pub use console::{Console, ConsoleReply};
pub use debuggee::{is_debuggee, serve};
pub use gdb::GdbServer;
pub use protocol::{EndReport, MachineState};
pub use session::{DebugSession, Inspector, Moment, MomentKind, RunPoint, StackEntry, StopFilter};
pub use stepping::StepKind;
