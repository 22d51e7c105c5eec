//! Is a trace whole, and is it the run that happens here?

use crate::{Error, Trace};
use fozzy_trace::file;

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    name: &'static str,
    ok: bool,
    detail: String,
}

impl Check {
    /// A stable word: `verify`, `verdict`, `replay`.
    pub fn name(&self) -> &str {
        self.name
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
    /// Checks the bytes of a trace, as `fozzy ci` does: that they are whole, that the replay has the same verdict, and that it is
    /// the same run in everything.
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
        let found = file::verify(bytes);
        let verify = |ok, detail| Check { name: "verify", ok, detail };
        if let Some(error) = found.error {
            return Ok(CheckReport { checks: vec![verify(false, error.to_string())] });
        }
        let trace = Trace::from_bytes(bytes)?;
        let replay = trace.replay()?;
        let same = (trace.status(), trace.failure().map(|failure| failure.signature().to_owned()))
            == (replay.status(), replay.failure().map(|failure| failure.signature().to_owned()));
        let verdict = format!("recorded {:?}, replayed {:?}", trace.status(), replay.status());
        let equal = replay.difference().unwrap_or("the same run").to_owned();
        Ok(CheckReport {
            checks: vec![
                verify(found.ok, "whole and sound".to_owned()),
                Check { name: "verdict", ok: same, detail: verdict },
                Check { name: "replay", ok: replay.is_equal(), detail: equal },
            ],
        })
    }
}
