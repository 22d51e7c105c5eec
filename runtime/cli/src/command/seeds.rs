//! `fozzy seeds`: the failures that explorations have kept, and how they stand today.

use super::Context;
use crate::args::SeedsArgs;
use crate::error::{CliError, at_path};
use fozzy_campaign::explore::saved_failures::{RegressionStatus, SavedFailures};
use fozzy_campaign::target;
use fozzy_report::SeedState;
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

/// The document.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeedsDocument {
    schema_version: &'static str,
    seeds: Vec<SeedState>,
    pruned: Vec<String>,
}

pub(crate) fn seeds(context: &Context, args: &SeedsArgs) -> Result<ExitCode, CliError> {
    let base_dir = &context.project.config.base_dir;
    let mut document = SeedsDocument { schema_version: "fozzy.seeds.v1", seeds: Vec::new(), pruned: Vec::new() };
    let folders = match &args.target {
        Some(target) => {
            let loaded = target::load(target)?;
            vec![(SavedFailures::of(base_dir, &loaded.target.name), loaded)]
        }
        None => {
            let load = |seeds: SavedFailures| Ok((target::load(&seeds.target()?)?, seeds));
            let loaded: Result<Vec<_>, CliError> = SavedFailures::all(base_dir).into_iter().map(load).collect();
            loaded?.into_iter().map(|(loaded, seeds)| (seeds, loaded)).collect()
        }
    };
    for (seeds, today) in folders {
        for standing in seeds.standings(&today)? {
            if args.prune_fixed && standing.state == RegressionStatus::Fixed {
                std::fs::remove_file(&standing.path)
                    .map_err(|error| at_path("seeds", "cannot remove", &standing.path, &error))?;
                document.pruned.push(standing.path.display().to_string());
            }
            document.seeds.push(standing.document());
        }
    }
    let still_there = document.seeds.iter().any(|seed| seed.state == RegressionStatus::StillThere.word());
    if context.printer.json {
        context.printer.document(&document)?;
    } else {
        for SeedState { path, signature, state, shrunk } in &document.seeds {
            let signature = signature.as_ref().map(ToString::to_string).unwrap_or_default();
            let size = if *shrunk { "shrunk" } else { "unshrunk" };
            context.printer.data(&format!("{state:<11}  {size:<8}  {signature}  {path}\n"));
        }
        if document.seeds.is_empty() {
            context.printer.remark("no failures are saved; `fozzy explore` saves those that it finds\n");
        }
        document.pruned.iter().for_each(|path| context.printer.remark(&format!("removed {path}\n")));
    }
    Ok(ExitCode::from(u8::from(still_there)))
}
