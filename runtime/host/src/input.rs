//! Standard input that is read when the guest first looks at it.
//!
//! ```text
//! guest never looks   nothing is read; the plan's input is empty, and so says the trace
//! guest looks         all of it is read, once; every execution and the trace have these bytes
//! ```
//!
//! A program that does not read must not wait for a pipe that is never closed. It is still an input by
//! content: when it is read cannot be seen by the guest, only what it holds.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type InputReader = Box<dyn FnOnce() -> Result<Vec<u8>, String> + Send>;

/// Bytes that are read when they are first asked for.
pub struct LazyInput {
    read: Mutex<Option<InputReader>>,
    bytes: OnceLock<Result<Arc<[u8]>, String>>,
}

impl LazyInput {
    /// An input that `read` gives in full, or one sentence why it cannot.
    pub fn new(read: impl FnOnce() -> Result<Vec<u8>, String> + Send + 'static) -> LazyInput {
        LazyInput { read: Mutex::new(Some(Box::new(read))), bytes: OnceLock::new() }
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
