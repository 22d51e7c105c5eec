//! Planned faults of memory: an allocation of the program fails, or a memory does not grow.
//!
//! ```text
//! malloc ─▶ code that was put in asks ─▶ memory_growing ─▶ begin ─▶ a planned fault strikes? ─▶ a call of the history, NULL
//! ```
//!
//! A request is no call of the history unless it is refused: a program makes millions of them. Each has its cost in the budget of calls.
//!
//! Invariant: without such a fault in the plan no program asks.
//! Not here: how a program asks ([`MemoryRequest`]).

use crate::call::{GuestStop, Host, Import};
use fozzy_trace::MemoryRequest;
use fozzy_world::fault::{ALLOCATION_FAILURE, MEMORY_FULL};

const ALLOCATION: Import = Import::new("fozzy:memory/faults.allocation");
const GROWTH: Import = Import::new("fozzy:memory/faults.growth");

/// What the trap of a run says that was to stop at a refusal.
pub const STOPPED_AT_REFUSAL: &str = "memory was refused here";

impl Host {
    /// Whether the program has what it asks for.
    pub(crate) fn grants(&mut self, request: MemoryRequest) -> wasmtime::Result<bool> {
        let (kind, import, asked) = match request {
            MemoryRequest::Allocation { bytes } => (&ALLOCATION_FAILURE, ALLOCATION, bytes),
            MemoryRequest::Growth { pages } => (&MEMORY_FULL, GROWTH, pages),
        };
        if !self.run.world.faults.plans(kind) {
            return Ok(true);
        }
        if let Err(stop) = self.begin(&asked) {
            return self.end::<bool>(import, &asked, Err(stop));
        }
        let name = self.node().name.clone();
        if self.with_context(|_, context| context.injects(kind, &name)).is_none() {
            return Ok(true);
        }
        if self.run.stops_at_refusal() {
            let stop = GuestStop::Misuse { import: import.name, what: STOPPED_AT_REFUSAL.to_owned() };
            return self.end::<bool>(import, &asked, Err(stop));
        }
        self.end(import, &asked, Ok(false))
    }
}
