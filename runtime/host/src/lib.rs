//! WIT glue: each imported function asks, is recorded, and answers, all on one path.
//!
//! ```text
//! guest ─import─▶ clocks.rs │ random.rs │ streams.rs │ filesystem.rs │ …
//!                     └────────── Host::call ──────────┘
//!                        budget → body over World → history
//! ```
//!
//! The behaviour of the computer is in `fozzy-world`; this crate translates between it and WIT, and
//! holds the only `bindgen!`.
//!
//! Invariants: no import reaches anything real; every call of a guest goes through `Host::call`, so
//! it is counted, bounded and recorded in the same way live and replayed.
//! Not here: compiling and running (`fozzy-engine`), live backends (`fozzy-live`).

mod allocations;
mod antithesis;
mod bindings;
mod call;
mod choices;
mod cli;
mod clocks;
mod disk_faults;
mod draws;
mod events;
mod faults;
mod filesystem;
mod handles;
mod http;
mod import_numbers;
mod input;
mod interrupt;
mod io;
mod limiter;
mod linker;
mod machine_faults;
mod memory_faults;
mod operations;
mod outgoing_call;
mod power;
mod preview1;
mod process;
mod properties;
mod random;
mod real_files;
mod record;
mod rules;
mod run;
mod scenario;
mod snapshots;
mod sockets;
mod stepping;
mod streams;
mod sync_linker;
mod time;
mod undefined;
mod values;
pub mod wave;

pub use bindings::{IncomingRequestResource, ResponseOutparamResource};
pub use call::{ComparisonLog, GuestStop, HOST_CALL_FUEL, Host, InstanceObserver};
pub use draws::{DecisionDraws, DrawSource};
pub use handles::{StaleHandle, TargetHandles};
pub use import_numbers::{history_name, number_collision};
pub use input::{FeedEvent, InputFeed, LazyInput, RecordedDialogue};
pub use interrupt::{INTERRUPT_FUEL, Interrupt, InterruptFlag};
pub use limiter::{MachineOutOfMemory, MemoryLimiter};
pub use linker::{ImportFault, add_to_linker, import_problem, known_interfaces, refused_imports};
pub use memory_faults::STOPPED_AT_REFUSAL;
pub use outgoing_call::{
    Answer, CallFuture, CallResult, CallerKind, NamedCall, RestartMode, TargetHost, link, link_resource,
    link_with_handles,
};
pub use preview1::GuestMemory;
pub use run::{FlowObserver, LongOutputObserver, OBSERVED_BYTES_MAX, OutputTee, Run, RunGuard, RunSlot};
pub use stepping::{CountedSteps, JudgedSteps, StepGate, StepLook, StepOverhead, StepReturn, SteppedCall};
pub use sync_linker::{add_alone_to_linker, resource_of};
