//! The real computer behind the same words: captured once, replayed ever after.
//!
//! ```text
//! --dir ./data::/in ──capture_directory──▶ Mount (paths, digests) ──▶ Plan ──▶ trace
//!                              └─────────▶ Inputs (the bytes, once each) ─────────┘
//! --fs-backend host, …        Ask ──Live──▶ Answer ──▶ Observation ──▶ trace
//! ```
//!
//! Invariants: what is captured is the same for the same directory on every machine (sorted, by content,
//! without times, owners and modes); nothing outside the directory is read, not even through a symbolic
//! link; what cannot be captured faithfully is refused by name, never left out. Live requests go through
//! [`LiveComputer`] only, reach nothing that was not switched on, and never hold a secret.
//! The feature `computer` has [`LiveComputer`], with TLS and all; a plan is read without it.
//! Not here: the disk that the capture is copied onto (`fozzy-world`), standard input (`fozzy`), recording.

mod directory;
#[cfg(all(test, target_os = "linux"))]
mod disk_oracle;
mod guest_path;
#[cfg_attr(not(feature = "computer"), allow(dead_code, reason = "answers of the real computer are searched, too"))]
mod secrets;

#[cfg(feature = "computer")]
mod deadline;
#[cfg(feature = "computer")]
mod files;
#[cfg(feature = "computer")]
mod http;
#[cfg(feature = "computer")]
mod live;
#[cfg(feature = "computer")]
mod process;

pub use directory::{CAPTURE_BYTES_MAX, CAPTURE_ENTRIES_MAX, CaptureError, capture_directory};
pub use guest_path::{GuestPathError, normalise_guest_path};
pub use secrets::{SECRET_BYTES_MIN, SECRETS_LEARNED_MAX, SecretHider};

#[cfg(feature = "computer")]
pub use files::{DIRECTORY_ENTRIES_MAX, OPEN_FILES_MAX};
#[cfg(feature = "computer")]
pub use http::{HTTP_BODY_BYTES_MAX, HTTP_HEAD_BYTES_MAX, HTTP_HEAD_TIME_MAX, HTTP_HEADERS_MAX, HTTP_TIME_MAX};
#[cfg(feature = "computer")]
pub use live::{LiveComputer, LiveError, LiveOptions};
#[cfg(feature = "computer")]
pub use process::{PROCESS_LINGER_MAX, PROCESS_OUTPUT_BYTES_MAX, PROCESS_TIME_MAX};
