//! The pipeline: from what the user named to a recorded run.
//!
//! ```text
//! load ─▶ plan ─▶ compile ─▶ session ─▶ execute ─▶ judge ─▶ record
//!  load.rs  plan.rs  prepare.rs          the engine          record.rs
//! ```
//!
//! Invariant: every command and every campaign goes this way, and no other.

mod antithesis;
mod feed;
mod heap_watch;
mod load;
mod plan;
mod prepare;
mod real_computer;
mod record;
mod runtime;
mod secrets;
mod today;

pub use load::{LoadedTarget, cache, load, load_built};
pub(crate) use plan::unknown_allocator;
pub use plan::{RunPlan, component, component_built, plan, plan_error};
pub use prepare::{PreparedProgram, session_of};
pub use record::{ENTRIES_KEPT, RecordPolicy, RecordingOrigin, engine_id, identity, kept, write};
pub(crate) use runtime::is_go;
pub use today::{MachinesOfToday, PlanOfToday};
