//! Programs with debug information, at several levels of optimisation.
//!
//! ```text
//! guests/debugged/values.{rs,c} ─▶ rustc, clang-19 ─▶ guests/wasm32-wasip1/values-<how>.wasm
//! ```

use super::Target;
use super::workshop::{Toolchain, Workshop, guests_folder, install_c, must, need_target, run};
use crate::tier::{self, Requirement};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A program that a debugger looks into.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DebugSample {
    RustDebug,
    RustRelease,
    /// Without a standard library, so that its debug information is small.
    RustSmall,
    /// Optimised, with functions that are inlined, and one page of memory.
    RustInlined,
    CDebug,
    COptimised,
}

impl DebugSample {
    /// Its source.
    pub(crate) fn source(self) -> PathBuf {
        guests_folder().join(match self {
            DebugSample::RustDebug | DebugSample::RustRelease => "debugged/values.rs",
            DebugSample::RustSmall => "debugged/small.rs",
            DebugSample::RustInlined => "debugged/steps.rs",
            DebugSample::CDebug | DebugSample::COptimised => "debugged/values.c",
        })
    }

    /// The program, built with debug information.
    pub(crate) fn module(self) -> PathBuf {
        let source = self.source();
        let text = must(fs::read_to_string(&source), "read", &source);
        let (name, flags): (&str, &[&str]) = match self {
            DebugSample::RustDebug => ("values-debug", &[]),
            DebugSample::RustRelease => ("values-release", &["-O"]),
            DebugSample::RustSmall => ("values-small", &["--crate-type=cdylib", "-Cpanic=abort"]),
            DebugSample::RustInlined => {
                ("steps-inlined", &["-O", "--crate-type=cdylib", "-Cpanic=abort", "-Clink-arg=-zstack-size=4096"])
            }
            DebugSample::CDebug => ("values-c-debug", &["-O0"]),
            DebugSample::COptimised => ("values-c-optimised", &["-O2"]),
        };
        if matches!(self, DebugSample::CDebug | DebugSample::COptimised) {
            tier::require(Requirement::C);
            let workshop = Workshop::open(Toolchain::C);
            return workshop.make(Target::Wasip1, name, &text, |module| {
                install_c();
                let object = module.with_extension("o");
                let clang = || {
                    let mut clang = Command::new("clang-19");
                    clang.arg("--target=wasm32-wasi");
                    clang
                };
                run(clang().args(flags).args(["-g", "-c", "-o"]).arg(&object).arg(&source));
                run(clang().arg("-o").arg(module).arg(&object));
            });
        }
        need_target(Target::Wasip1);
        let workshop = Workshop::open(Toolchain::Rust);
        let inputs = format!("{text}\n{}", workshop.rustc);
        workshop.make(Target::Wasip1, name, &inputs, |module| {
            let mut rustc = workshop.rustc_command();
            run(rustc
                .args(["--edition=2024", "--target=wasm32-wasip1", "-g"])
                .args(flags)
                .arg("-o")
                .arg(module)
                .arg(&source));
        })
    }
}
