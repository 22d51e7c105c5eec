//! `fozzy seeds`: the failures that explorations have kept, and how they stand today.

use crate::args::SeedsArgs;
use crate::context::Context;
use crate::error::{CliError, ErrorKind, at_path};
use fozzy_campaign::explore::saved_failures::{RegressionStatus, SavedFailures};
use fozzy_campaign::pipeline::load;
use fozzy_report::{SeedsDocument, seeds_lines};
use std::process::ExitCode;

pub(crate) fn seeds(context: &Context, args: &SeedsArgs) -> Result<ExitCode, CliError> {
    let (base_dir, remarks) = (&context.project.config.base_dir, &context.project.remarks);
    let mut document =
        SeedsDocument { schema_version: "fozzy.seeds.v1".to_owned(), seeds: Vec::new(), pruned: Vec::new() };
    let folders = match &args.target {
        Some(target) => {
            let loaded = load(target, remarks)?;
            vec![(SavedFailures::of(base_dir, &loaded.target.name), loaded)]
        }
        None => {
            let of_today = |seeds: SavedFailures| Ok((load(&seeds.target()?, remarks)?, seeds));
            let loaded: Result<Vec<_>, CliError> = SavedFailures::all(base_dir).into_iter().map(of_today).collect();
            loaded?.into_iter().map(|(loaded, seeds)| (seeds, loaded)).collect()
        }
    };
    for (seeds, today) in folders {
        for standing in seeds.standings(&today, None)? {
            if args.prune_fixed && standing.state == RegressionStatus::Fixed {
                std::fs::remove_file(&standing.path)
                    .map_err(|error| at_path(ErrorKind::Seeds, "cannot remove", &standing.path, &error))?;
                document.pruned.push(standing.path.display().to_string());
            }
            document.seeds.push(standing.document());
        }
    }
    let still_there = document.seeds.iter().any(|seed| seed.state == RegressionStatus::StillThere.word());
    if context.printer.json {
        context.printer.document(&document)?;
    } else {
        context.printer.data(&seeds_lines(&document));
        if document.seeds.is_empty() {
            context.printer.remark("no failures are saved; `fozzy explore` saves those that it finds\n");
        }
        document.pruned.iter().for_each(|path| context.printer.remark(&format!("removed {path}\n")));
    }
    Ok(ExitCode::from(u8::from(still_there)))
}
