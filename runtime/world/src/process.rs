//! Processes as the guest sees them: commands, the rules that answer, and how they end.
//!
//! ```text
//! command ─▶ fault? ─▶ first rule that matches ─┬─▶ scripted    output at once, the end after a delay
//!                      │                        ├─▶ component   a machine of its own, pipes between
//!                      │                        └─▶ refused
//!                      └─ no rule ─▶ real computer, if the plan says so; else unknown, and remembered
//! ```
//!
//! Rules come before the real computer: an explicit rule takes precedence.
//!
//! Invariants: numbers of processes are given in the order of starts; the first end of a process counts, except
//! that an end that lies ahead gives way to an earlier one; everything is bounded.
//! Not here: WIT and who asks the real computer (`fozzy-host`), running a component (`fozzy-engine`).

mod child;
mod command;
mod host;
mod rules;
mod start;
#[cfg(test)]
mod tests;

pub use child::{Pid, ProcessNode, Processes, StandardStream};
pub use command::{ARGUMENT_BYTES_MAX, ProcessCommand, ProcessEnd, ProcessError, ProcessOutput};
pub use host::HostProcessResult;
pub use start::{PROCESSES_MAX, StdioMode};

/// `SIGKILL`: how a process ends at its deadline.
pub const SIGNAL_KILL: i32 = 9;
/// `SIGABRT`: how a component ends that traps.
pub const SIGNAL_ABORT: i32 = 6;
/// The highest signal of Linux (`signal(7)`).
pub const SIGNAL_MAX: i32 = 64;
