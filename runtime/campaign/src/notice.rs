//! Remarks for a person, on their way to the program that shows them.
//!
//! Invariant: without a program that shows them they are dropped; nothing depends on them.

use std::sync::OnceLock;

/// Shows bytes to a person.
pub type Show = fn(&[u8]);

static SHOW: OnceLock<Show> = OnceLock::new();

/// Sets who shows remarks; the first one stays.
pub fn show_with(show: Show) {
    let _ = SHOW.set(show);
}

/// A remark in words.
pub fn remark(text: &str) {
    notice(text.as_bytes());
}

/// A remark.
pub fn notice(bytes: &[u8]) {
    if let Some(show) = SHOW.get() {
        show(bytes);
    }
}
