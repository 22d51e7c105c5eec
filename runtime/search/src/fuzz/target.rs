//! What a campaign asks of its target.
//!
//! Invariant of every implementation: an execution begins in the same state each time, and its answer depends on the
//! input alone. What takes long is no exception: if it ends, it has ended in the same way everywhere.

use fozzy_trace::{HarnessError, Verdict};

/// Executes inputs.
pub trait Target {
    /// Executes one input from the start state.
    ///
    /// # Errors
    /// When the machine, not the target, fails.
    fn execute(&mut self, input: &[u8]) -> Result<Outcome, HarnessError>;

    /// Shows the coverage bytes of the last execution, module after module, always the same modules of the same sizes.
    /// They are one byte for each edge: 0 when it was not taken, else how often, 255 for all that is more.
    fn coverage(&self, see: &mut dyn FnMut(&[u8]));

    /// Executes one input, and adds what it compared to `log`, in order.
    ///
    /// # Errors
    /// When the machine, not the target, fails.
    fn compare(&mut self, input: &[u8], log: &mut Vec<Compared>) -> Result<(), HarnessError>;

    /// Executes one input as a run that can be recorded is executed. The verdict is the one that counts.
    ///
    /// # Errors
    /// When the machine, not the target, fails.
    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError>;
}

/// What came of an execution.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The failure; `None` when the target returned.
    pub failed: Option<Box<Verdict>>,
    /// Linear memory at the end, in bytes.
    pub memory_bytes: u64,
}

/// Two values that the target compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Where: equal for the same place in the code.
    pub site: u64,
    /// What kind of comparison.
    pub kind: ComparedKind,
    /// The left value; 32 bits are extended with zeros, bytes stand in the order of memory.
    pub left: u64,
    /// The right value.
    pub right: u64,
    /// Of strings: which bytes these are, in eights.
    pub at: u32,
    /// Of strings: how many bytes count.
    pub bytes: u32,
}

/// Kinds of comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedKind {
    /// Two integers of so many bytes, for being equal.
    Equal(u8),
    /// Two integers of so many bytes, for their order.
    Order(u8),
    /// Two integers of so many bytes, whose difference (or bitwise difference) is compared next.
    Mixed(u8),
    /// Which of so many cases.
    Switch,
    /// Two strings.
    Bytes,
    /// A byte (right) that is searched in a string.
    Search,
}
