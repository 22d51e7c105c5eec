//! Recorded runs, and replays of them.

use crate::program::{Failure, Status};
use crate::{Error, Program};
use fozzy_campaign::pipeline::{MachinesOfToday, PreparedProgram, session_of};
use fozzy_campaign::selector;
use fozzy_trace::Verdict;
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::CollisionPolicy;
use std::path::{Path, PathBuf};

/// A recorded run: the program, its plan, and all that was decided. It can be replayed from itself alone.
///
/// ```
/// use fozzy::{Plan, Program, Trace};
///
/// let program = Program::from_bytes("trap.wat", br#"(module
///   (memory (export "memory") 1) (func (export "_start") unreachable))"#)?;
/// let run = program.run(&Plan::new(), 0)?;
/// let trace = Trace::from_bytes(&run.trace().to_bytes()?)?;
/// let replay = trace.replay()?;
/// assert!(replay.is_equal());
/// assert_eq!(replay.failure(), run.failure());
/// # Ok::<(), fozzy::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trace {
    recording: Recording,
}

impl Trace {
    pub(crate) fn of(recording: Recording) -> Trace {
        Trace { recording }
    }

    pub(crate) fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Reads a trace, or the one in a bundle of `fozzy artifacts bundle`, whole and verified.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or is of a version that is not known.
    pub fn read(path: &Path) -> Result<Trace, Error> {
        Ok(Trace { recording: selector::read(path).map_err(Error::of_campaign)? })
    }

    /// A trace from the bytes of its file.
    ///
    /// # Errors
    /// When they are damaged, or of a version that is not known.
    pub fn from_bytes(bytes: &[u8]) -> Result<Trace, Error> {
        let recording = Recording::read(bytes).map_err(|error| Error::Trace(error.to_string()))?;
        Ok(Trace { recording })
    }

    /// The bytes of its file.
    ///
    /// # Errors
    /// When it is larger than a trace may be.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.recording.to_bytes().map_err(|error| Error::Trace(error.to_string()))
    }

    /// Writes it, over what is there, and says where it is.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<PathBuf, Error> {
        fozzy_campaign::pipeline::write(&self.recording, path, CollisionPolicy::Overwrite).map_err(Error::of_campaign)
    }

    /// How the recorded run ended.
    pub fn status(&self) -> Status {
        Status::of(self.recording.outcome.verdict.status)
    }

    /// What failed in the recorded run.
    pub fn failure(&self) -> Option<Failure> {
        Failure::of(&self.recording.outcome.verdict)
    }

    /// Executes it once more, and compares in everything: calls, output, memory, instructions.
    ///
    /// # Errors
    /// When this machine fails. Another run than the recorded one is no error: see [`Replay::difference`].
    pub fn replay(&self) -> Result<Replay, Error> {
        let replayed =
            fozzy_search::replay(&self.recording, &mut session_of(&self.recording).map_err(Error::of_campaign)?, 0..0)
                .map_err(Error::of_harness)?;
        let difference =
            replayed.difference.map(|found| format!("{}: recorded {}, found {}", found.what, found.left, found.right));
        Ok(Replay { verdict: replayed.verdict, difference })
    }

    /// Replays its decisions on another program: is the failure still there?
    ///
    /// # Errors
    /// When the program cannot be run under the plan of the trace, or this machine fails.
    pub fn replay_against(&self, program: &Program) -> Result<Replay, Error> {
        let mut original = session_of(&self.recording).map_err(Error::of_campaign)?;
        let mut other = PreparedProgram::against(&self.recording, program.loaded(), &MachinesOfToday::default())
            .and_then(|prepared| prepared.session())
            .map_err(Error::of_campaign)?;
        let against =
            fozzy_search::replay_against(&self.recording, &mut original, &mut other).map_err(Error::of_harness)?;
        let difference = against.divergence.map(|divergence| {
            let recorded = divergence.recorded.map_or_else(|| "nothing".to_owned(), |entry| entry.call);
            let asked = divergence.asked.map_or_else(|| "nothing".to_owned(), |entry| entry.call);
            format!("call {}: recorded {recorded}, asked {asked}", divergence.index)
        });
        Ok(Replay { verdict: against.verdict, difference })
    }
}

/// A replay, beside what was recorded.
#[derive(Clone, Debug)]
pub struct Replay {
    verdict: Verdict,
    difference: Option<String>,
}

impl Replay {
    /// Whether it is the recorded run.
    pub fn is_equal(&self) -> bool {
        self.difference.is_none()
    }

    /// The first difference, in words.
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    /// How the replay ended.
    pub fn status(&self) -> Status {
        Status::of(self.verdict.status)
    }

    /// What failed in the replay.
    pub fn failure(&self) -> Option<Failure> {
        Failure::of(&self.verdict)
    }
}
