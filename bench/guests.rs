//! The guests of the measures, and the programs that are compared.
//!
//! ```text
//! guests/*.wat     one import in a loop; COUNT is replaced by how often, and of preview 1, CALL by which
//! guests/hello     a Rust program, built for wasm32-wasip2
//! guests/parsers   a JSON parser and a regular expression, a core module
//! ```

#![allow(clippy::disallowed_methods, reason = "asks cargo which cargo runs this bench")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A guest that reads the clock `count` times.
pub(crate) fn clock(count: u32) -> String {
    include_str!("guests/clock.wat").replace("COUNT", &count.to_string())
}

/// A guest that draws `count` random numbers.
pub(crate) fn random(count: u32) -> String {
    include_str!("guests/random.wat").replace("COUNT", &count.to_string())
}

/// A guest that asks whether it may write 64 bytes and does, `count` times: two calls each.
pub(crate) fn write(count: u32) -> String {
    writer(count, "write", true)
}

/// A guest that writes and flushes 64 bytes `count` times: one call each, as Rust's standard library does it.
pub(crate) fn blocking_write(count: u32) -> String {
    writer(count, "blocking-write-and-flush", false)
}

/// A module of preview 1 that makes `call`, an expression that leaves an errno, `count` times.
pub(crate) fn preview1(call: &str, count: u32) -> String {
    include_str!("guests/preview1.wat").replace("COUNT", &count.to_string()).replace("CALL", call)
}

fn writer(count: u32, function: &str, checked: bool) -> String {
    let text = include_str!("guests/write.wat").replace("COUNT", &count.to_string());
    text.replace("FUNCTION", function).replace("CHECKED", if checked { "1" } else { "0" })
}

/// The Rust program that prints one line.
pub(crate) fn hello() -> PathBuf {
    hello_for("wasm32-wasip2")
}

/// The same, a module of preview 1.
pub(crate) fn preview1_hello() -> PathBuf {
    hello_for("wasm32-wasip1")
}

fn hello_for(triple: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/hello");
    let target = target_folder().join("bench-guests");
    cargo(&["build", "--release", "--target", triple], &folder, Some(&target));
    target.join(triple).join("release/hello.wasm")
}

/// The parsers, a core module.
pub(crate) fn parsers() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/parsers");
    let target = target_folder().join("bench-guests");
    cargo(&["build", "--release", "--locked", "--target", "wasm32-wasip1"], &folder, Some(&target));
    target.join("wasm32-wasip1/release/parsers.wasm")
}

/// The component whose functions are called from outside.
pub(crate) fn walker() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/guests/walker");
    let target = target_folder().join("bench-guests");
    cargo(&["build", "--release", "--locked", "--target", "wasm32-wasip2"], &folder, Some(&target));
    target.join("wasm32-wasip2/release/walker.wasm")
}

/// A scenario, which is a component, without its planted fault if it has one.
pub(crate) fn scenario(folder: &Path, name: &str) -> PathBuf {
    scenario_with(folder, name, !folder.join("expect.toml").is_file())
}

/// A scenario, with its planted fault or without.
pub(crate) fn scenario_with(folder: &Path, name: &str, fault: bool) -> PathBuf {
    let target = target_folder().join("bench-guests");
    let mut words = vec!["build", "--release", "--locked", "--target", "wasm32-wasip2"];
    if !fault {
        words.push("--features=fixed");
    }
    cargo(&words, folder, Some(&target));
    target.join(format!("wasm32-wasip2/release/{name}.wasm"))
}

/// The web server or client of that name under `tests/guests`: for this machine, and as a component.
///
/// The client is built as one is shipped. The server cannot be: across crates the optimiser would see that `fcntl` is variadic where
/// it is called and not where its `src/wasi_fcntl.rs` defines it.
pub(crate) fn networked(name: &str) -> (PathBuf, PathBuf) {
    let profile = if name == "net-client" { "shipped" } else { "release" };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/guests").join(name);
    let target = target_folder().join("bench-guests");
    cargo(&["build", "--profile", profile, "--locked"], &folder, Some(&target));
    cargo(&["build", "--profile", profile, "--locked", "--target", "wasm32-wasip2"], &folder, Some(&target));
    let component = target.join("wasm32-wasip2").join(profile).join(format!("{name}.wasm"));
    (target.join(profile).join(name), component)
}

/// The command line tool, as a user builds it.
pub(crate) fn fozzy() -> PathBuf {
    cargo(&["build", "--release", "-p", "fozzy-cli"], Path::new(env!("CARGO_MANIFEST_DIR")), None);
    target_folder().join("release/fozzy")
}

/// The smallest embedding, `embedding.rs`.
pub(crate) fn embedding() -> PathBuf {
    let words = ["build", "--release", "-p", "fozzy-bench", "--example", "embedding"];
    cargo(&words, Path::new(env!("CARGO_MANIFEST_DIR")), None);
    target_folder().join("release/examples/embedding")
}

/// Where cargo builds: this program stands in `<target>/release/deps`.
pub(crate) fn target_folder() -> PathBuf {
    let here = std::env::current_exe().expect("a program knows where it is");
    let folder = here.ancestors().nth(3).expect("cargo put the bench below its target folder");
    folder.to_owned()
}

fn cargo(words: &[&str], folder: &Path, target: Option<&Path>) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(words).current_dir(folder);
    if let Some(target) = target {
        command.env("CARGO_TARGET_DIR", target);
    }
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
