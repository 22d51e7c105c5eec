//! A folder with a Cargo.toml is built for wasm32-wasip2 with the user's own cargo.
//!
//! ```text
//! cargo build --target wasm32-wasip2 --release --message-format=json-render-diagnostics
//!    └─▶ the compiler's messages go to stderr as they are; the artifact's path comes as JSON
//! ```
//!
//! Cargo itself decides what is fresh. A missing standard library for the target is added with rustup, as
//! the README promises that a fresh machine needs no further command.

use crate::error::CliError;
use crate::output;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TARGET: &str = "wasm32-wasip2";

/// A line of cargo's JSON messages, as far as we read it.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    #[serde(default)]
    executable: Option<PathBuf>,
    #[serde(default)]
    manifest_path: Option<PathBuf>,
}

/// Builds the package in `folder` and returns its wasm file.
pub(crate) fn build(folder: &Path) -> Result<PathBuf, CliError> {
    add_target(folder)?;
    let built = Command::new("cargo")
        .args(["build", "--release", "--target", TARGET, "--message-format=json-render-diagnostics"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| {
            CliError::new("build", format!("cannot start cargo to build {}: {error}", folder.display()))
        })?;
    if !built.status.success() {
        let message = format!("{} does not build for {TARGET}; the compiler's messages are above", folder.display());
        return Err(
            CliError::new("build", message).hint(format!("cd {} && cargo build --target {TARGET}", folder.display()))
        );
    }
    let manifest = folder.join("Cargo.toml").canonicalize().ok();
    let mut files: Vec<PathBuf> = Vec::new();
    for line in built.stdout.split(|byte| *byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Message>(line) else { continue };
        if message.reason != "compiler-artifact" || message.manifest_path != manifest {
            continue;
        }
        let is_wasm = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "wasm");
        files.extend(message.executable.into_iter().chain(message.filenames).filter(is_wasm));
    }
    files.sort();
    files.dedup();
    match files.as_slice() {
        [file] => Ok(file.clone()),
        [] => Err(CliError::new(
            "build",
            format!("{} builds no program: expected one binary or cdylib", folder.display()),
        )),
        several => {
            let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
            let message = format!("{} builds several programs: {}", folder.display(), names.join(", "));
            Err(CliError::new("build", message).hint(format!("name one: fozzy run {}", names[0])))
        }
    }
}

/// Adds the target's standard library when the toolchain in force has none.
fn add_target(folder: &Path) -> Result<(), CliError> {
    let rustc = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .current_dir(folder)
        .stderr(Stdio::null())
        .output();
    let rustc = rustc.map_err(|error| {
        CliError::new("build", format!("cannot start rustc to build {}: {error}", folder.display()))
            .hint("install Rust with rustup")
    })?;
    let library = PathBuf::from(String::from_utf8_lossy(&rustc.stdout).trim());
    if rustc.status.success() && library.is_dir() {
        return Ok(());
    }
    output::stderr(format!("adding the standard library of {TARGET}: rustup target add {TARGET}\n").as_bytes());
    let added = Command::new("rustup")
        .args(["target", "add", TARGET])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match added {
        Ok(status) if status.success() => Ok(()),
        _ => Err(CliError::new("build", format!("the standard library of {TARGET} is missing and could not be added"))
            .hint(format!("rustup target add {TARGET}"))),
    }
}
