//! Remarks for a person during long work: what is being built, what a campaign has found so far.
//!
//! ```text
//! command   Remarks::to(stderr) ─▶ Project, SinkConfig, … ─▶ remarks.text("found panic …")
//! library   Remarks::none()                                  nothing is shown
//! ```
//!
//! Invariant: nothing depends on a remark being seen; results are in what functions return.

use std::fmt;
use std::sync::Arc;

/// Who hears remarks; copies are heard by the same.
#[derive(Clone, Default)]
pub struct Remarks {
    show: Option<Arc<dyn Fn(&[u8]) + Send + Sync>>,
}

impl fmt::Debug for Remarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remarks").field("heard", &self.show.is_some()).finish()
    }
}

impl Remarks {
    /// They are dropped.
    pub fn none() -> Remarks {
        Remarks::default()
    }

    /// Each is given to `show`, from any thread.
    pub fn to(show: impl Fn(&[u8]) + Send + Sync + 'static) -> Remarks {
        Remarks { show: Some(Arc::new(show)) }
    }

    /// A remark in words.
    pub fn text(&self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// What another program has printed, as it is.
    pub fn bytes(&self, bytes: &[u8]) {
        if let Some(show) = &self.show {
            show(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn copies_are_heard_by_the_same() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&heard);
        let remarks = Remarks::to(move |bytes| into.lock().expect("nobody panicked").extend_from_slice(bytes));
        remarks.text("one ");
        remarks.clone().bytes(b"two");
        Remarks::none().text("nobody");
        assert_eq!(*heard.lock().expect("nobody panicked"), b"one two");
    }
}
