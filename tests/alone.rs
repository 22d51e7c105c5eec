//! A test in a process of its own: one that may be killed, or whose memory is to be measured.
//!
//! ```text
//! run("purity::child", "open") ─▶ this very binary, `--exact purity::child`, with the role in its environment
//! ```
//!
//! A test that is only meant as a child does nothing when [`role`] says `None`: when it is run with all the others.

use crate::wait;
use std::process::{Command, Output};

/// Names the role in the child's environment.
const ROLE: &str = "FOZZY_TEST_ROLE";

/// What this process was started for; `None` in the process that the user started.
pub(crate) fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// Runs one test of this binary in a process of its own. The environment is changed by `prepare`.
pub(crate) fn run(test: &str, role: &str, prepare: impl FnOnce(&mut Command)) -> Output {
    // The very file that runs, also when a build has put another one in its place.
    let mut child = Command::new("/proc/self/exe");
    child.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(ROLE, role);
    prepare(&mut child);
    wait::run(&mut child)
}

/// What a child said, for messages.
pub(crate) fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))
}
