//! The smallest run with the same failure.

use crate::{Error, Trace};
use fozzy_campaign::shrink::{self, ProgramReplayTarget, keeps_stdin};
use fozzy_search::shrink::{CandidateSize, Options, ShrinkError, ShrinkProgress};

/// How large a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    steps: usize,
    decisions: usize,
    input_bytes: usize,
}

impl Size {
    /// Steps of a scenario; 0 for a program that is no scenario.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Decisions that do not follow from the seed.
    pub fn decisions(&self) -> usize {
        self.decisions
    }

    /// Bytes of standard input.
    pub fn input_bytes(&self) -> usize {
        self.input_bytes
    }

    fn of(size: CandidateSize) -> Size {
        Size { steps: size.steps, decisions: size.decisions, input_bytes: size.input_bytes }
    }
}

/// A failure that was made smaller.
#[derive(Clone, Debug)]
pub struct ShrinkReport {
    trace: Trace,
    before: Size,
    after: Size,
    executions: u64,
}

impl ShrinkReport {
    /// The smallest run, confirmed.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The size of what went in.
    pub fn before(&self) -> Size {
        self.before
    }

    /// The size of what came out.
    pub fn after(&self) -> Size {
        self.after
    }

    /// Executions that it took.
    pub fn executions(&self) -> u64 {
        self.executions
    }
}

impl Trace {
    /// Makes the recorded failure smaller, with at most this many executions.
    ///
    /// # Errors
    /// When the recorded run passed, or does not fail again.
    ///
    /// ```
    /// use fozzy::{Plan, Program};
    ///
    /// // A scenario that fails at its fourth step.
    /// let program = Program::from_bytes("steps.wat", br#"(module
    ///   (memory (export "memory") 1)
    ///   (data (i32.const 0) "\40\00\00\00\01\00\00\00\20\00\00\00\01\00\00\00")
    ///   (data (i32.const 32) "\40\00\00\00\01\00\00\00\01")
    ///   (data (i32.const 64) "f")
    ///   (global $done (mut i32) (i32.const 0))
    ///   (func (export "fozzy:scenario/stateful@0.1.0#describe") (result i32) i32.const 0)
    ///   (func (export "fozzy:scenario/stateful@0.1.0#begin-sequence") (param i32)
    ///     (global.set $done (i32.const 0)))
    ///   (func (export "fozzy:scenario/stateful@0.1.0#step") (param i32) (result i32)
    ///     (global.set $done (i32.add (global.get $done) (i32.const 1)))
    ///     (if (i32.ge_u (global.get $done) (i32.const 4)) (then unreachable))
    ///     i32.const 128)
    ///   (func (export "fozzy:scenario/stateful@0.1.0#end-sequence") (param i32)))"#)?;
    /// let failed = program.run(&Plan::new().sequences(1, 50), 1)?;
    /// let shrunk = failed.trace().shrink(1_000)?;
    /// assert_eq!(shrunk.after().steps(), 4);
    /// assert_eq!(shrunk.trace().failure(), failed.failure());
    /// # Ok::<(), fozzy::Error>(())
    /// ```
    pub fn shrink(&self, executions_max: u64) -> Result<ShrinkReport, Error> {
        let recording = self.recording();
        let mut targets = ProgramReplayTarget::several(recording, 1).map_err(Error::of_campaign)?;
        let options = Options { only: None, aggressive: false, keeps_stdin: keeps_stdin(recording), shortest: false };
        let go_on = &mut |progress: &ShrinkProgress| progress.tries < executions_max;
        let shrunk = shrink::shrink(recording, &mut targets, options, None, go_on);
        let shrunk = shrunk.map_err(|error| match error {
            ShrinkError::Harness(why) => Error::Harness(why.to_string()),
            refused => Error::Trace(refused.to_string()),
        })?;
        let (smallest, _) = targets[0].record(recording, &shrunk.smallest).map_err(Error::of_campaign)?;
        let (before, after) = (Size::of(shrunk.before), Size::of(shrunk.after));
        Ok(ShrinkReport { trace: Trace::of(smallest), before, after, executions: shrunk.tries })
    }
}
