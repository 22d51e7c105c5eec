//! Standard input of the real computer: read when the guest first looks at it, or as it comes.
//!
//! ```text
//! guest never looks   nothing is read; the plan's input is empty, and so says the trace
//! guest looks         all of it is read, once; every execution and the trace have these bytes
//! a feed              what comes while the guest waits or looks, with the moment in virtual time: the trace has both, and a replay
//!                     is given both by its plan
//! ```
//!
//! A program that does not read must not wait for a pipe that is never closed. It is still an input by
//! content: when it is read cannot be seen by the guest, only what it holds.
//!
//! Invariant: what a feed brings comes later than the moment at which it is noticed, so that nothing that was decided at this moment
//! is decided otherwise in a replay.

use fozzy_trace::plan::{ArrivalPlan, ArrivalTime};
use fozzy_trace::{Duration, Instant};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type InputReader = Box<dyn FnOnce() -> Result<Vec<u8>, String> + Send>;

/// Bytes that are read when they are first asked for.
pub struct LazyInput {
    read: Mutex<Option<InputReader>>,
    bytes: OnceLock<Result<Arc<[u8]>, String>>,
    feed: Option<Mutex<Box<dyn InputFeed>>>,
    dialogue: Mutex<RecordedDialogue>,
}

/// A source of input during the run: a person, or a pipe.
pub trait InputFeed: Send {
    /// Waits up to this time for the next input; without a bound, until there is one.
    fn next(&mut self, at_most: Option<Duration>) -> FeedEvent;

    /// Whether the run has to stop.
    fn is_stopped(&self) -> bool;
}

/// What a feed says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedEvent {
    /// These bytes have come, after so long.
    Bytes(Vec<u8>, Duration),
    /// Nothing comes any more, after so long.
    End(Duration),
    /// Nothing has come.
    Nothing,
    /// The run is to come to its end.
    Stopped,
}

/// What came of a feed, as a plan has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedDialogue {
    /// All bytes.
    pub bytes: Vec<u8>,
    /// When they came.
    pub arrivals: Vec<ArrivalPlan>,
    /// When the run was stopped from outside, if it was.
    pub stopped_at: Option<Instant>,
    /// Before which host call, if its program did not wait then.
    pub stopped_before: Option<u64>,
}

impl RecordedDialogue {
    pub(crate) fn note(&mut self, bytes: &[u8], at: Instant, end: bool) {
        self.bytes.extend_from_slice(bytes);
        let (bytes, jitter) = (bytes.len() as u64, Duration(0));
        self.arrivals.push(ArrivalPlan { bytes, when: ArrivalTime::At(at), jitter, end, vary: None });
    }
}

impl LazyInput {
    /// An input that `read` gives in full, or one sentence why it cannot.
    pub fn new(read: impl FnOnce() -> Result<Vec<u8>, String> + Send + 'static) -> LazyInput {
        let read: InputReader = Box::new(read);
        LazyInput { read: Mutex::new(Some(read)), bytes: OnceLock::new(), feed: None, dialogue: Mutex::default() }
    }

    /// An input that comes during a run, which is the only one that has it.
    pub fn live(feed: Box<dyn InputFeed>) -> LazyInput {
        let feed = Some(Mutex::new(feed));
        LazyInput { read: Mutex::default(), bytes: OnceLock::new(), feed, dialogue: Mutex::default() }
    }

    /// Whether it comes during the run, which is the only one that has it.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.feed.is_some()
    }

    /// Its source, if it comes during the run.
    pub(crate) fn feed(&self) -> Option<std::sync::MutexGuard<'_, Box<dyn InputFeed>>> {
        self.feed.as_ref().map(|feed| feed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes what is known of the feed.
    pub(crate) fn record(&self, change: impl FnOnce(&mut RecordedDialogue)) {
        change(&mut self.dialogue.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What came of the feed; `None` if there is none.
    #[must_use]
    pub fn dialogue(&self) -> Option<RecordedDialogue> {
        let dialogue = || self.dialogue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.feed.is_some().then(dialogue)
    }

    /// The bytes; read now if they were not yet.
    ///
    /// # Errors
    /// Why they cannot be read, in one sentence, each time the same.
    pub fn get(&self) -> Result<Arc<[u8]>, String> {
        let read = || {
            let read = self.read.lock().unwrap_or_else(PoisonError::into_inner).take();
            read.map_or_else(|| Err("standard input was read before".to_owned()), |read| read()).map(Arc::from)
        };
        self.bytes.get_or_init(read).clone()
    }

    /// The bytes, if they were read.
    #[must_use]
    pub fn taken(&self) -> Option<Arc<[u8]>> {
        self.bytes.get().and_then(|bytes| bytes.as_ref().ok()).cloned()
    }
}

impl fmt::Debug for LazyInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyInput").field("taken", &self.bytes.get().is_some()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_once_and_only_when_asked_for() {
        let mut times = 0;
        let input = LazyInput::new(move || {
            times += 1;
            Ok(vec![times])
        });
        assert_eq!(input.taken(), None);
        assert_eq!(input.get().as_deref(), Ok(&[1u8][..]));
        assert_eq!(input.get().as_deref(), Ok(&[1u8][..]));
        assert_eq!(input.taken().as_deref(), Some(&[1u8][..]));
    }

    #[test]
    fn a_failure_stays_the_same() {
        let input = LazyInput::new(|| Err("no input".to_owned()));
        assert_eq!(input.get(), Err("no input".to_owned()));
        assert_eq!(input.get(), Err("no input".to_owned()));
        assert_eq!(input.taken(), None);
    }
}
