//! `fozzy env` and `fozzy version`: what runs here, and on what.

use crate::args::VersionArgs;
use crate::context::Context;
use crate::error::CliError;
use fozzy_plan::{FilesBackend, ScriptBackend};
use fozzy_report::document::{Capabilities, Capability, EnvDocument, FaultGroup, FormattedDocument, VersionDocument};
use std::process::ExitCode;

/// The licence of Fozzy, and those of what its binary contains of others.
const LICENSES: [&str; 2] = [include_str!("../../LICENSE"), include_str!("../../THIRD-PARTY-LICENSES")];

pub(crate) fn version(context: &Context, args: &VersionArgs) -> Result<ExitCode, CliError> {
    let printer = context.printer;
    match (args.licenses, printer.json) {
        (false, _) => printer.document(&version_document())?,
        (true, false) => printer.data(&LICENSES.join("\n")),
        (true, true) => {
            printer.document(&FormattedDocument { format: "text".to_owned(), content: LICENSES.join("\n") })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn env(context: &Context) -> Result<ExitCode, CliError> {
    context.printer.document(&env_document(context))?;
    Ok(ExitCode::SUCCESS)
}

/// What each capability is backed by, as flags and configuration say.
pub(super) fn env_document(context: &Context) -> EnvDocument {
    let deterministic = |backend: &str| Capability { backend: backend.to_owned(), deterministic: true };
    // A live answer is recorded, and so the same in every replay; the next run may get another one.
    let host = || Capability { backend: "host".to_owned(), deterministic: false };
    let (given, config) = (&context.project.backends, &context.project.config);
    let scripted = |flag: Option<ScriptBackend>, setting| match flag.or(setting) {
        Some(ScriptBackend::Host) => host(),
        Some(ScriptBackend::Scripted) | None => deterministic("scripted"),
    };
    EnvDocument {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        fozzy: version_document(),
        capabilities: Capabilities {
            time: deterministic("virtual"),
            rng: deterministic("seeded"),
            fs: match given.files.or(config.fs_backend) {
                Some(FilesBackend::Host) => host(),
                Some(FilesBackend::Virtual) | None => deterministic("virtual"),
            },
            http: scripted(given.http, config.http_backend),
            net: deterministic("simulated"),
            proc: scripted(given.processes, config.proc_backend),
            memory: deterministic("virtual"),
        },
        faults: fozzy_plan::fault_groups()
            .into_iter()
            .map(|(group, kinds)| FaultGroup {
                group: group.to_owned(),
                kinds: kinds.iter().map(|kind| kind.name.to_owned()).collect(),
            })
            .collect(),
    }
}

/// Commit and date are told to the build, never asked of the repository in which the user stands.
pub(super) fn version_document() -> VersionDocument {
    VersionDocument {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("FOZZY_COMMIT").map(str::to_owned),
        build_date: option_env!("FOZZY_BUILD_DATE").map(str::to_owned),
        wasmtime: fozzy_engine::WASMTIME_VERSION.to_owned(),
        rewriter: fozzy_instrument::REWRITER_VERSION,
        trace_format: fozzy_trace::file::VERSION,
    }
}
