//! Report: what was seen, as lines and as one digest.

use std::fmt::Debug;
use std::io::{self, ErrorKind, Write};

/// FNV-1a, 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Everything seen so far.
pub(crate) struct Report {
    digest: u64,
    seen: u64,
    errors: u64,
    /// Writes to stdout or stderr that failed. They are not in the digest: it is what would have been printed.
    unwritten: u64,
}

impl Default for Report {
    fn default() -> Report {
        Report { digest: OFFSET, seen: 0, errors: 0, unwritten: 0 }
    }
}

impl Report {
    /// Something that is part of the digest.
    pub(crate) fn see(&mut self, what: &str, value: impl Debug) {
        let line = format!("{what}: {value:?}\n");
        self.digest = line.bytes().fold(self.digest, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(PRIME));
        self.seen += 1;
        let mut stdout = io::stdout().lock();
        self.unwritten += u64::from(stdout.write_all(line.as_bytes()).is_err());
    }

    /// The value of something that should succeed; a failure is counted, and goes to stderr with its words.
    pub(crate) fn attempt<T>(&mut self, what: &str, result: io::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.errors += 1;
                self.see(what, error.kind());
                self.unwritten += u64::from(writeln!(io::stderr(), "everything: {what}: {error}").is_err());
                None
            }
        }
    }

    /// Like [`Report::attempt`], and shows the value too.
    pub(crate) fn look<T: Debug>(&mut self, what: &str, result: io::Result<T>) -> Option<T> {
        let value = self.attempt(what, result)?;
        self.see(what, &value);
        Some(value)
    }

    /// Something that must fail; the kind of failure is part of the digest.
    pub(crate) fn refused<T>(&mut self, what: &str, result: io::Result<T>) {
        match result {
            Ok(_) => self.see(what, "succeeded"),
            Err(error) => self.see(what, error.kind()),
        }
    }

    /// Looks again and again until it does not block, and gives up with `TimedOut`.
    pub(crate) fn patiently<T>(&mut self, what: &str, mut look: impl FnMut() -> io::Result<T>) -> Option<T> {
        let mut waited = std::time::Duration::ZERO;
        let result = loop {
            match look() {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    if waited >= crate::PATIENCE {
                        break Err(ErrorKind::TimedOut.into());
                    }
                    std::thread::sleep(crate::PAUSE);
                    waited += crate::PAUSE;
                }
                result => break result,
            }
        };
        self.attempt(what, result)
    }

    /// The last line.
    pub(crate) fn end(mut self) {
        let Report { digest, seen, errors, .. } = self;
        let mut stdout = io::stdout().lock();
        let written = writeln!(stdout, "digest {digest:016x}, {seen} things seen, {errors} errors");
        self.unwritten += u64::from(written.and_then(|()| stdout.flush()).is_err());
        if self.unwritten > 0 {
            // If this fails as well, there is nobody left to tell.
            let _ = writeln!(io::stderr(), "everything: {} lines could not be written", self.unwritten);
        }
    }
}
