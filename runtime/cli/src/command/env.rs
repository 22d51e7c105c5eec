//! `fozzy env` and `fozzy version`: what runs here, and on what.

use super::Context;
use crate::error::CliError;
use fozzy_report::document::{Capabilities, Capability, EnvDocument, VersionDocument};
use std::process::ExitCode;

pub(crate) fn version(context: &Context) -> Result<ExitCode, CliError> {
    context.printer.document(&version_document())?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn env(context: &Context) -> Result<ExitCode, CliError> {
    let deterministic = |backend: &str| Capability { backend: backend.to_owned(), deterministic: true };
    let document = EnvDocument {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        fozzy: version_document(),
        capabilities: Capabilities {
            time: deterministic("virtual"),
            rng: deterministic("seeded"),
            fs: deterministic("virtual"),
            http: deterministic("unsupported"),
            net: deterministic("unsupported"),
            proc: deterministic("unsupported"),
            memory: deterministic("virtual"),
        },
    };
    context.printer.document(&document)?;
    Ok(ExitCode::SUCCESS)
}

/// Commit and date are told to the build, never asked of the repository in which the user stands.
fn version_document() -> VersionDocument {
    VersionDocument {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("FOZZY_COMMIT").map(str::to_owned),
        build_date: option_env!("FOZZY_BUILD_DATE").map(str::to_owned),
        wasmtime: fozzy_engine::WASMTIME_VERSION.to_owned(),
        rewriter: fozzy_instrument::REWRITER_VERSION,
        trace_format: fozzy_trace::file::VERSION,
    }
}
