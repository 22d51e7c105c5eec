//! Is a trace whole, and is it the run that happens here?

use crate::{Error, Trace};
use fozzy_campaign::trace_check::check_trace;
use fozzy_trace::file;

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    name: String,
    ok: bool,
    detail: String,
}

impl Check {
    /// A stable word, as `fozzy ci` prints it: `trace_verify`, `replay_outcome_class`, …
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is as it should be.
    pub fn is_ok(&self) -> bool {
        self.ok
    }

    /// What was seen.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

/// What was checked of a trace.
#[derive(Clone, Debug)]
pub struct CheckReport {
    checks: Vec<Check>,
}

impl CheckReport {
    /// Whether all is as it should be.
    pub fn is_ok(&self) -> bool {
        self.checks.iter().all(Check::is_ok)
    }

    /// The checks, in their order.
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }
}

impl Trace {
    /// Checks the bytes of a trace, as `fozzy ci` does: that they are whole, and that the replay is the same run in everything.
    ///
    /// # Errors
    /// When this machine fails. A damaged trace is no error: its first check says so.
    ///
    /// ```
    /// use fozzy::{Plan, Program, Trace};
    ///
    /// let program = Program::from_bytes("pass.wat", br#"(module
    ///   (memory (export "memory") 1) (func (export "_start")))"#)?;
    /// let bytes = program.run(&Plan::new(), 0)?.trace().to_bytes()?;
    /// assert!(Trace::check(&bytes)?.is_ok());
    /// assert!(!Trace::check(&bytes[..bytes.len() / 2])?.is_ok());
    /// # Ok::<(), fozzy::Error>(())
    /// ```
    pub fn check(bytes: &[u8]) -> Result<CheckReport, Error> {
        let (checks, _) = check_trace(bytes, &file::verify(bytes)).map_err(Error::of_campaign)?;
        let checks = checks.into_iter().map(|check| Check {
            name: check.name,
            ok: check.ok,
            detail: check.detail.unwrap_or_default(),
        });
        Ok(CheckReport { checks: checks.collect() })
    }
}
