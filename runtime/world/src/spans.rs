//! Stretches of time that guests name: who begins one gets its number, and ends it by that.
//!
//! Invariant: a number is given once, and ended once.

use rpds::HashTrieSetSync;

/// Spans that can be open at once; one more is refused.
pub const SPANS_MAX: usize = 1 << 16;

/// The spans of a run.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    open: HashTrieSetSync<u64>,
    next: u64,
}

/// A span that cannot be begun or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// There are [`SPANS_MAX`].
    #[error("more than {SPANS_MAX} spans at once")]
    TooMany,
    /// It was never begun, or ended before.
    #[error("there is no open span {0}")]
    Unknown(u64),
}

impl Spans {
    /// A span begins.
    ///
    /// # Errors
    /// When too many are open.
    pub fn enter(&mut self) -> Result<u64, SpanError> {
        if self.open.size() == SPANS_MAX {
            return Err(SpanError::TooMany);
        }
        self.open.insert_mut(self.next);
        self.next += 1;
        Ok(self.next - 1)
    }

    /// A span ends.
    ///
    /// # Errors
    /// When it is not open.
    pub fn leave(&mut self, span: u64) -> Result<(), SpanError> {
        if self.open.remove_mut(&span) { Ok(()) } else { Err(SpanError::Unknown(span)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_once() {
        let mut spans = Spans::default();
        assert_eq!((spans.enter(), spans.enter()), (Ok(0), Ok(1)));
        assert_eq!((spans.leave(0), spans.leave(0)), (Ok(()), Err(SpanError::Unknown(0))));
        assert_eq!((spans.enter(), spans.leave(7)), (Ok(2), Err(SpanError::Unknown(7))));
        (2..SPANS_MAX).for_each(|_| assert!(spans.enter().is_ok()));
        assert_eq!(spans.enter(), Err(SpanError::TooMany));
    }
}
