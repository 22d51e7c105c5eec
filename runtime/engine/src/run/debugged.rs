//! A run from its beginning to its end, in a debugger.

use crate::run::debug::{self, Debugger, Position, Resume};
use crate::run::session::Session;
use fozzy_trace::{DecisionSource, Execution, Executor, HarnessError, HistoryWindow};

/// A run that was debugged to its end.
pub struct DebuggedRun {
    /// The execution.
    pub execution: Execution,
    /// How many instructions it has executed.
    pub end: Position,
}

impl Session {
    /// Executes, and stops as `first` says, and then as `debugger` does. The program was built for it ([`crate::Build::debug`]).
    ///
    /// # Errors
    /// When the execution fails for reasons of the machine.
    pub fn debug(
        &mut self,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
        first: Resume,
        debugger: Box<dyn Debugger>,
    ) -> Result<DebuggedRun, HarnessError> {
        assert!(self.program().how().positions, "a run is debugged in the build for it");
        debug::begin(first, debugger);
        let execution = self.execute(source, keep);
        let end = debug::end();
        Ok(DebuggedRun { execution: execution?, end })
    }
}
