//! Remarks for a person during long work: what is being built, what a campaign has found so far.
//!
//! ```text
//! command   Remarks::to(stderr) ─▶ Project, SinkConfig, … ─▶ remarks.text("found panic …")
//! library   Remarks::none()                                  nothing is shown
//! ```
//!
//! Invariant: nothing depends on a remark being seen; results are in what functions return.

use std::fmt;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Shows bytes to a person.
type Show = dyn Fn(&[u8]) + Send + Sync;

/// Who hears remarks; copies are heard by the same.
#[derive(Clone, Default)]
pub struct Remarks {
    show: Option<Arc<Show>>,
    /// Who shows a line that takes the place of the last one.
    line: Option<fn(&str)>,
}

impl fmt::Debug for Remarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remarks").field("heard", &self.show.is_some()).field("live", &self.is_live()).finish()
    }
}

impl Remarks {
    /// They are dropped.
    pub fn none() -> Remarks {
        Remarks::default()
    }

    /// Each is given to `show`, from any thread.
    pub fn to(show: impl Fn(&[u8]) + Send + Sync + 'static) -> Remarks {
        Remarks { show: Some(Arc::new(show)), line: None }
    }

    /// The same, with who shows the line of a terminal that says what is being done; an empty text takes it away.
    #[must_use]
    pub fn with_line(self, line: Option<fn(&str)>) -> Remarks {
        Remarks { line, ..self }
    }

    /// Whether a terminal shows the line.
    pub fn is_live(&self) -> bool {
        self.line.is_some()
    }

    /// Says what is being done.
    pub fn live(&self, text: &str) {
        if let Some(line) = self.line {
            line(text);
        }
    }

    /// Does something that says nothing itself; meanwhile the line says what it is, and since when.
    #[allow(clippy::disallowed_methods, reason = "a line for a person, while no guest code runs")]
    pub fn while_busy<T>(&self, doing: &str, work: impl FnOnce() -> T) -> T {
        let Some(line) = self.line else { return work() };
        let (done, waiting) = mpsc::channel::<()>();
        let doing = doing.to_owned();
        let ticker = std::thread::spawn(move || {
            let mut seconds = 0;
            while waiting.recv_timeout(Duration::from_secs(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
                seconds += 1;
                line(&format!("{seconds}s  {doing}"));
            }
            line("");
        });
        let result = work();
        drop(done);
        // It has nothing left to do.
        let _ = ticker.join();
        result
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
    fn work_is_done_whether_or_not_somebody_looks() {
        assert_eq!(Remarks::none().while_busy("building", || 7), 7);
        assert_eq!(Remarks::none().with_line(Some(|_| ())).while_busy("building", || 7), 7);
    }

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
