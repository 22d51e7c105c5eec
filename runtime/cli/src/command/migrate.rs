//! `fozzy trace migrate`: a trace of version 1 as one of ours.

use crate::args::TraceMigrateArgs;
use crate::context::Context;
use crate::error::CliError;
use fozzy_campaign::migrate::{self, MigratedRun};
use fozzy_campaign::pipeline;
use fozzy_campaign::store::store_error;
use fozzy_report::document::MigrateDocument;
use fozzy_trace::file::store::{CollisionPolicy, check_target};
use std::process::ExitCode;

pub(crate) fn migrate(context: &Context, args: &TraceMigrateArgs) -> Result<ExitCode, CliError> {
    let out = args.out.clone().unwrap_or_else(|| args.trace.with_extension("migrated.fozzy"));
    let collision: CollisionPolicy = args.record_collision.into();
    check_target(&out, collision).map_err(store_error)?;
    let migrated = migrate::migrate(&context.project, &args.trace)?;
    let out = pipeline::write(&migrated.recording, &out, collision)?;
    let same = migrated.is_same();
    let MigratedRun { version, recorded_status, recording, notes } = migrated;
    context.printer.document(&MigrateDocument {
        schema_version: "fozzy.trace_migration.v1".to_owned(),
        from: args.trace.display().to_string(),
        from_version: version,
        out: out.display().to_string(),
        seed: recording.seed,
        recorded_status,
        status: recording.outcome.verdict.status,
        same,
        finding: recording.outcome.verdict.findings.first().map(|finding| finding.message.clone()),
        notes,
    })?;
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
