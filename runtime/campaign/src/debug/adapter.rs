//! The debugger for editors: the Debug Adapter Protocol over a recorded run.
//!
//! ```text
//! editor ──Content-Length: n, JSON──▶ wire ──▶ server ──▶ DebugSession
//!        ◀──response, then events────         values: variables by the debug information
//! ```
//!
//! Requests are answered in their order; while the run goes on, `pause` and `disconnect` are looked for at intervals. What the
//! protocol has no words for are requests of ours, `fozzyGoTo`.
//!
//! Invariants: a response goes out before the event that a movement ends with; numbers of frames and variables are forgotten with each
//! movement; whatever a client sends, and whenever it leaves, the server ends, and its session with it.
//! Not here: where bytes come from and go to (`fozzy-cli`).

mod breakpoints;
mod server;
mod wire;

pub use server::DebugAdapter;
