//! What a campaign asks of its target.
//!
//! Invariant of every implementation: an execution begins in the same state each time, and its answer depends on the
//! input alone. What takes long is no exception: if it ends, it has ended in the same way everywhere.

use fozzy_trace::{CmpLogEntry, CmpLogSites, HarnessError, Verdict};

/// Executes inputs.
pub trait FuzzTarget {
    /// Executes one input from the start state.
    ///
    /// # Errors
    /// When the machine, not the target, fails.
    fn execute(&mut self, input: &[u8]) -> Result<FuzzOutcome, HarnessError>;

    /// Shows the coverage bytes of the last execution, module after module, always the same modules of the same sizes.
    /// They are one byte for each edge: 0 when it was not taken, else how often, 255 for all that is more.
    fn coverage(&self, see: &mut dyn FnMut(&[u8]));

    /// Whether an execution is a whole run of several machines, so that it pays to know what to put where before it is tried.
    fn is_slow(&self) -> bool {
        false
    }

    /// Executes one input, and adds what it compared to `log`, in order, at the places that are asked for. The answer is what that
    /// costs, in instructions, those of the logging among them: the same for equal inputs on every machine.
    ///
    /// # Errors
    /// When the machine, not the target, fails.
    fn compare(
        &mut self,
        input: &[u8],
        sites: CmpLogSites<'_>,
        log: &mut Vec<CmpLogEntry>,
    ) -> Result<u64, HarnessError>;

    /// Executes one input as a run that can be recorded is executed. The verdict is the one that counts.
    ///
    /// # Errors
    /// When the machine, not the target, fails.
    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError>;
}

/// What came of an execution.
#[derive(Clone, Debug)]
pub struct FuzzOutcome {
    /// The failure; `None` when the target returned.
    pub failed: Option<Box<Verdict>>,
    /// What it needed of memory.
    pub memory: MemoryUse,
}

/// What an execution needed of memory: its stack is a part of that, so that endless recursion is led to as exhaustion is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Linear memory at the end, in bytes.
    pub bytes: u64,
    /// Pages of it that were written beside those of the input; 0 when that is not known.
    pub written_pages: u64,
    /// Slots of the stack that were in use at the deepest call of a recursive function; 0 when there was none, or that is not known.
    pub stack_slots: u32,
}

impl MemoryUse {
    /// `written_pages` are all that were written, also to hold an input of that length. Of the stack nothing is known.
    #[must_use]
    pub fn of(bytes: u64, written_pages: u64, input_bytes: usize) -> MemoryUse {
        const PAGE_BYTES: u64 = 4096;
        // It begins anywhere in a page, and what is read of it is noted in another.
        let of_input = input_bytes as u64 / PAGE_BYTES + 2;
        MemoryUse { bytes, written_pages: written_pages.saturating_sub(of_input), stack_slots: 0 }
    }
}
