//! The real computer behind the same words: captured once, replayed ever after.
//!
//! ```text
//! --dir ./data::/in ──capture_directory──▶ Mount (paths, digests) ──▶ Plan ──▶ trace
//!                              └─────────▶ Inputs (the bytes, once each) ─────────┘
//! ```
//!
//! Invariants: what is captured is the same for the same directory on every machine (sorted, by content,
//! without times, owners and modes); nothing outside the directory is read, not even through a symbolic
//! link; what cannot be captured faithfully is refused by name, never left out.
//! Not here: the disk that the capture is copied onto (`fozzy-world`), standard input (`fozzy`).

mod directory;
#[cfg(all(test, target_os = "linux"))]
mod disk_oracle;
mod guest_path;

pub use directory::{CAPTURE_BYTES_MAX, CAPTURE_ENTRIES_MAX, CaptureError, capture_directory};
pub use guest_path::{GuestPathError, normalise_guest_path};
