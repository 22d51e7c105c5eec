//! Plan files: strict TOML in, a plan and its inputs out.
//!
//! ```text
//! defaults < fozzy.toml [target."app.wasm"] < plan.toml < flags
//!     └───────── PlanFile::parse ──── over ──────┘
//!                                      │ resolve: files, directories and components are read
//!                                      ▼
//!                               Plan + Inputs          from here on nothing real is looked at
//! ```
//!
//! A plan that says something about most things:
//!
//! ```
//! let text = r#"
//! args = ["--verbose"]
//! env = { RUST_LOG = "info" }
//! stdin = "three\nlines\nof text\n"             # or { file = "input.txt" }, { base64 = "…" }, { json = … }, [[stdin]] for a dialogue
//! wall-start = 2025-06-01T12:00:00Z
//!
//! [limits]
//! timeout = "5s"
//! memory = "256MiB"
//!
//! [dirs]                                       # path in the guest = real directory, from the plan's folder
//! "/data" = "testdata"
//!
//! [files]                                      # path in the guest = content
//! "/etc/app.toml" = "port = 8080\n"
//!
//! [[http]]
//! method = "POST"
//! url = "https://api.test/orders"
//! headers = { accept = "*json*" }
//! times = 2
//! delay = "20ms"
//! status = 201
//! json = { id = 7 }
//!
//! [[http]]                                     # the third one and all after it
//! url = "https://api.test/*"
//! fail = "timeout"
//!
//! [[process]]
//! command = "git"
//! args = ["rev-parse", "*"]
//! stdout = "9c41f2\n"
//!
//! [[node]]
//! name = "server"
//! component = "server.wasm"
//! env = { PORT = "80" }
//!
//! [network]
//! latency = "1ms"
//! bandwidth = "10MB/s"
//!
//! [redact]
//! env = ["API_TOKEN"]
//! "#;
//! let plan = fozzy_plan::PlanFile::parse(text, "plan.toml".as_ref()).expect("the plan is sound");
//! assert_eq!(plan.http.len(), 2);
//! assert_eq!(plan.machine.args.as_deref(), Some(&["--verbose".to_owned()][..]));
//!
//! let wrong = fozzy_plan::PlanFile::parse("[network]\nlatensy = '1ms'", "plan.toml".as_ref());
//! let message = "plan.toml:2:1: `network.latensy`: unknown key; did you mean `latency`?";
//! assert_eq!(wrong.expect_err("an unknown key").to_string(), message);
//! ```
//!
//! Invariants: no text makes it panic, and none within [`PLAN_BYTES_MAX`] takes long; a key that is not known is
//! an error; the schema and the reader cannot differ, because the reader walks the schema ([`schema()`]).
//! Not here: the flags of the command line (`fozzy`), recognising and converting components (`fozzy-engine`).

mod base64;
mod check;
mod cluster;
mod document;
mod fault_words;
mod file;
mod merge;
mod named;
mod nearest;
mod nemesis;
mod notation;
mod preopen;
mod problem;
mod read;
mod resolve;
mod schema;
mod stdin;
#[cfg(test)]
mod tests;
mod walk;

pub use check::{RULES_MAX, check_regex};
pub use cluster::is_plan_name;
pub use fault_words::{FAULT_GROUPS, FaultWordsError, fault_groups, group_of, parse_fault_words};
pub use file::{
    BackendsFile, ComponentFile, ComponentTable, ContentFile, ContentTable, DiskFile, DiskNames, ExpectFile, FaultFile,
    FilesBackend, HeaderValue, HttpFailureFile, HttpFile, LimitsFile, LiveDurations, MachineFile, MemoryFile,
    NetworkFile, NodeFile, PlanFile, ProcessFailureFile, ProcessFile, RedactionFile, ScriptBackend,
};
pub use fozzy_world::live_bounds::{HostPattern, check_command};
pub use named::NamedValues;
pub use nearest::nearest;
pub use notation::{Bandwidth, ByteSize, FaultRate, NamedAllocator, Strength, TimeSpan, WallStart};
pub use preopen::{parse_preopen, split_mode};
pub use problem::{PROBLEMS_MAX, PlanError, Problem, TextPosition};
pub use read::{PLAN_BYTES_MAX, read_text, validate, validate_deep};
pub use resolve::{ComponentLoader, FILE_BYTES_MAX, ResolvedPlan};
pub use schema::schema;
pub use stdin::{StdinEntry, StdinFile, StdinTable};
