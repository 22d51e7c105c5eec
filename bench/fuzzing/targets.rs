//! The targets of `bench/fuzz`, built for each of the engines that are compared.
//!
//! ```text
//! component    wasm32-wasip1, as `fozzy fuzz --cargo-fuzz` builds it
//! native       libFuzzer, without a sanitizer; stable compiler
//! sanitized    libFuzzer, AddressSanitizer: what `cargo fuzz run` does by default; nightly compiler
//! replaying    either of them with the feature `replay`
//! ```
//!
//! All have debug assertions, as cargo-fuzz sets them.

#![allow(clippy::disallowed_methods, reason = "asks cargo which cargo runs this bench")]

use crate::guests::target_folder;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Parsers that are sound: for speed and coverage.
pub(super) const SOUND: [&str; 3] = ["http", "json", "png"];
/// Parsers with faults, as published.
pub(super) const FAULTY: [&str; 4] = ["tinytemplate", "hjson", "markdown-08", "markdown-09"];

const NATIVE: &str = "x86_64-unknown-linux-gnu";
const WASM: &str = "wasm32-wasip1";
/// The flags of cargo-fuzz.
const NATIVE_FLAGS: &str = "--cfg fuzzing -Cdebug-assertions -Ccodegen-units=1 -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";
/// Those of `fozzy fuzz --cargo-fuzz`.
const WASM_FLAGS: &str = "--cfg fuzzing -Cdebug-assertions -Cdebuginfo=line-tables-only -Cstrip=none \
    -Clink-arg=--export=LLVMFuzzerTestOneInput -Clink-arg=--export=LLVMFuzzerInitialize -Clink-arg=--export=__wasm_call_ctors";
/// What libfuzzer-sys links in place of libFuzzer.
const DRIVER: &str = include_str!("../../runtime/campaign/src/fuzz/driver.rs");

/// How a native target is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Native {
    Plain,
    Sanitized,
}

impl Native {
    pub(super) const ALL: [Native; 2] = [Native::Plain, Native::Sanitized];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Native::Plain => "libFuzzer",
            Native::Sanitized => "cargo-fuzz",
        }
    }

    const fn folder(self) -> &'static str {
        match self {
            Native::Plain => "plain",
            Native::Sanitized => "sanitized",
        }
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn built() -> PathBuf {
    target_folder().join("bench-fuzz")
}

/// Builds all targets as core modules, and says where they are.
pub(super) fn components() -> PathBuf {
    let folder = built().join("wasm");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let (driver, library) = (folder.join("driver.rs"), folder.join("libfozzydriver.a"));
    std::fs::write(&driver, DRIVER).expect("the target folder can be written");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "--crate-type", "rlib", "--target", WASM, "-O", "-o"]).arg(&library).arg(&driver);
    assert!(succeeds(&mut rustc), "{rustc:?}: the driver does not compile");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--locked", "--bins", "--target", WASM]).current_dir(source());
    cargo.env("CARGO_TARGET_DIR", &folder).env("CUSTOM_LIBFUZZER_PATH", &library);
    cargo.env("CUSTOM_LIBFUZZER_STD_CXX", "none").env("RUSTFLAGS", WASM_FLAGS);
    assert!(succeeds(&mut cargo), "{cargo:?}");
    folder.join(WASM).join("release")
}

/// Builds all targets natively, and says where they are; `None`, with a line that says why, when that cannot be done here.
pub(super) fn natives(native: Native, replaying: bool) -> Option<PathBuf> {
    let folder = built().join(format!("{}{}", native.folder(), if replaying { "-replaying" } else { "" }));
    let mut cargo = match native {
        Native::Plain => Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
        Native::Sanitized => {
            let mut rustup = Command::new("rustup");
            rustup.args(["run", "nightly", "cargo"]);
            rustup
        }
    };
    let sanitizer = if native == Native::Sanitized { " -Zsanitizer=address" } else { "" };
    cargo.args(["build", "--release", "--locked", "--bins", "--target", NATIVE]).current_dir(source());
    if replaying {
        cargo.args(["--features", "replay"]);
    }
    cargo.env("CARGO_TARGET_DIR", &folder).env("RUSTFLAGS", format!("{NATIVE_FLAGS}{sanitizer}"));
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        cargo.env_remove(name);
    }
    if !succeeds(&mut cargo) {
        println!("left out: {} cannot be built here ({cargo:?})", native.name());
        return None;
    }
    Some(folder.join(NATIVE).join("release"))
}

fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).status().is_ok_and(|status| status.success())
}
