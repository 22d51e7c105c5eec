//! The debugger for LLDB: the remote protocol of gdb over a recorded run, with its reverse packets and LLDB's extensions for WebAssembly.
//!
//! ```text
//! lldb ──$qWasmCallStack:1#…──▶ packets ──▶ server ──▶ DebugSession
//!      ──$bc#…  (reverse-continue)
//! 0x4000_0001_0000_01a4       core module 1, byte 0x1a4 of it        0x0000_0000_0010_0008       memory at 0x100008
//! ```
//!
//! Addresses are those of LLDB's process plugin `wasm`: two bits for code or memory, thirty for the module, 32 for the offset in its file. A breakpoint slips
//! to the next instruction at which a run can be stopped, and a stop there is told with the address that was asked for.
//!
//! Invariants: whatever a client sends, and whenever it leaves, the server ends, and its session with it. At both ends of the run the client stays,
//! and hears `replaylog`. Not here: where bytes come from and go to (`fozzy-cli`); variables, which the client reads by the debug information.

mod packets;
mod server;

pub use server::GdbServer;
