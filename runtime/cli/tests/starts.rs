//! The command as a program of its own: it starts, and says which one it is.
//!
//! That there is a test beside the program makes cargo build the program together with the tests of the workspace, on all cores, so
//! that `tests/`, which runs it hundreds of times, finds it there. Not here: what the command does.

use std::process::Command;

#[test]
fn the_command_says_its_version() {
    let output = Command::new(env!("CARGO_BIN_EXE_fozzy")).arg("--version").output().expect("it starts");
    let said = String::from_utf8(output.stdout).expect("it is text");
    assert!(output.status.success() && said.starts_with(concat!("fozzy ", env!("CARGO_PKG_VERSION"))), "{said}");
}
