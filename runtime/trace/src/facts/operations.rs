//! Operations of clients: the history that checkers judge.
//!
//! Invariants: an operation ends once at the most; moments are the order in which things were told, and virtual time. What they are
//! held to counts for all of them, whenever that was said.
//! Not here: judging a whole history (`fozzy-check`).

mod monitor;

use super::ReportedFailure;
use crate::Instant;
use crate::ModelPrograms;
use crate::plan::HistoryCriterion;
use crate::plan::criteria::{CHECKER_NAME_BYTES_MAX, HISTORY_CRITERIA_MAX};
use monitor::HistoryMonitor;

/// Operations that a run keeps. One more ends the program: half a history must not be judged.
pub const OPERATIONS_MAX: usize = 1 << 16;
/// Bytes of an operation's name, input or output; longer ones are refused, as a cut value is another value. A read of a set may have tens
/// of thousands of elements.
const VALUE_BYTES_MAX: usize = 1 << 20;
/// Bytes of all of them together; an operation beyond is refused, since the host holds them until the run has been judged.
const TOTAL_BYTES_MAX: usize = 256 << 20;

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Who did it.
    pub client: u32,
    /// What.
    pub operation: String,
    /// With what.
    pub input: String,
    /// When it began: its place in the order of beginnings and ends, and virtual time.
    pub invoked: (u64, Instant),
    /// How and when it ended.
    pub end: Option<(OperationEnd, u64, Instant)>,
}

/// How an operation ended, and with what words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationEnd {
    /// Done.
    Ok(String),
    /// Certainly not done.
    Fail(String),
    /// Not known.
    Info(String),
}

/// An operation that cannot be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// There are [`OPERATIONS_MAX`].
    #[error("more than {OPERATIONS_MAX} operations")]
    TooMany,
    /// A value is too long.
    #[error("{0} bytes as the name, input or output of an operation, at most {VALUE_BYTES_MAX} can be kept")]
    TooLong(usize),
    /// All values together are too long.
    #[error("the operations of the run have more than {TOTAL_BYTES_MAX} bytes of names, inputs and outputs")]
    TooMuch,
    /// There is none of that number.
    #[error("there is no operation {0}")]
    Unknown(u64),
    /// It has ended.
    #[error("the operation {0} has ended before")]
    Ended(u64),
    /// There are [`HISTORY_CRITERIA_MAX`] checkers.
    #[error("more than {HISTORY_CRITERIA_MAX} checkers of operations")]
    TooManyCheckers,
    /// The name of a checker, model or level is too long.
    #[error("{0} bytes as the name of a checker, model or level, at most {CHECKER_NAME_BYTES_MAX} are allowed")]
    LongChecker(usize),
}

/// All operations, in the order of their beginnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    all: Vec<Operation>,
    /// Beginnings and ends so far.
    moments: u64,
    /// Bytes of names, inputs and outputs.
    bytes: usize,
    /// What they are held to.
    pub criteria: Vec<HistoryCriterion>,
    /// The programs that are models of some of these.
    pub models: ModelPrograms,
    monitor: HistoryMonitor,
    /// What was begun or ended last, and that is which.
    latest: Option<(usize, bool)>,
}

impl Operations {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Operation] {
        &self.all
    }

    /// One begins; the answer is its number.
    ///
    /// # Errors
    /// When there are too many, or the words are too long.
    pub fn invoke(&mut self, client: u32, operation: &str, input: &str, at: Instant) -> Result<u64, OperationError> {
        if self.all.len() == OPERATIONS_MAX {
            return Err(OperationError::TooMany);
        }
        self.make_room(operation)?;
        self.make_room(input)?;
        let (operation, input) = (operation.to_owned(), input.to_owned());
        let invoked = (self.moment(), at);
        self.all.push(Operation { client, operation, input, invoked, end: None });
        self.latest = Some((self.all.len() - 1, false));
        Ok(self.all.len() as u64 - 1)
    }

    /// One ends.
    ///
    /// # Errors
    /// When there is none of that number, it has ended before, or the words are too long.
    pub fn end(&mut self, number: u64, end: OperationEnd, at: Instant) -> Result<(), OperationError> {
        let (OperationEnd::Ok(words) | OperationEnd::Fail(words) | OperationEnd::Info(words)) = &end;
        self.make_room(words)?;
        let moment = self.moments;
        let found = usize::try_from(number).ok().and_then(|number| self.all.get_mut(number));
        let operation = found.ok_or(OperationError::Unknown(number))?;
        if operation.end.is_some() {
            return Err(OperationError::Ended(number));
        }
        operation.end = Some((end, moment, at));
        self.latest = usize::try_from(number).ok().map(|number| (number, true));
        self.moments += 1;
        Ok(())
    }

    /// Holds all of them to one more checker.
    ///
    /// # Errors
    /// When there are too many, or a name is too long.
    pub fn hold_to(&mut self, criterion: HistoryCriterion) -> Result<(), OperationError> {
        let longest = criterion.checker.len().max(criterion.model.len());
        if longest > CHECKER_NAME_BYTES_MAX {
            return Err(OperationError::LongChecker(longest));
        }
        if self.criteria.contains(&criterion) {
            return Ok(());
        }
        if self.criteria.len() == HISTORY_CRITERIA_MAX {
            return Err(OperationError::TooManyCheckers);
        }
        self.criteria.push(criterion);
        Ok(())
    }

    /// The first anomaly that is certain already, whatever comes; asked after each beginning and end.
    pub fn anomaly(&mut self) -> Option<ReportedFailure> {
        if self.criteria.is_empty() {
            return None;
        }
        self.monitor.observe(&self.all, &self.criteria, self.latest.take())
    }

    /// Counts the bytes of a value that is kept.
    fn make_room(&mut self, words: &str) -> Result<(), OperationError> {
        if words.len() > VALUE_BYTES_MAX {
            return Err(OperationError::TooLong(words.len()));
        }
        self.bytes += words.len();
        if self.bytes > TOTAL_BYTES_MAX { Err(OperationError::TooMuch) } else { Ok(()) }
    }

    fn moment(&mut self) -> u64 {
        self.moments += 1;
        self.moments - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_ends_once() {
        let mut operations = Operations::default();
        let ok = || OperationEnd::Ok("3".to_owned());
        assert_eq!(operations.invoke(1, "read", "x", Instant(5)), Ok(0));
        assert_eq!(operations.invoke(2, "write", "x", Instant(6)), Ok(1));
        assert_eq!(operations.end(0, ok(), Instant(7)), Ok(()));
        assert_eq!(operations.end(0, ok(), Instant(8)), Err(OperationError::Ended(0)));
        assert_eq!(operations.end(2, ok(), Instant(8)), Err(OperationError::Unknown(2)));
        assert_eq!(operations.all()[0].end, Some((ok(), 2, Instant(7))));
        assert_eq!(operations.all()[1].invoked, (1, Instant(6)));
        let long = "x".repeat(VALUE_BYTES_MAX + 1);
        assert_eq!(operations.invoke(1, &long, "", Instant(9)), Err(OperationError::TooLong(long.len())));
    }

    #[test]
    fn there_is_a_last_one() {
        let mut operations = Operations::default();
        for _ in 0..OPERATIONS_MAX {
            operations.invoke(0, "read", "", Instant(0)).expect("room");
        }
        assert_eq!(operations.invoke(0, "read", "", Instant(0)), Err(OperationError::TooMany));
    }
}
