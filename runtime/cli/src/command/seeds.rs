//! `fozzy seeds`: the failures that explorations have kept, and how they stand today.

use crate::args::SeedsArgs;
use crate::context::Context;
use crate::error::CliError;
use fozzy_campaign::explore::regression_status::RegressionStatus;
use fozzy_campaign::explore::saved_failures::SavedFailures;
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
            vec![(SavedFailures::of_loaded(base_dir, &loaded), Ok(loaded))]
        }
        None => {
            let mut kept = SavedFailures::all(base_dir);
            kept.retain(|seeds| !seeds.traces().is_empty());
            let of_today = |seeds: &SavedFailures| load(&seeds.target()?, remarks);
            kept.into_iter()
                .map(|seeds| {
                    let today = of_today(&seeds);
                    (seeds, today)
                })
                .collect()
        }
    };
    let (mut fails, mut damaged) = (false, Vec::new());
    for (seeds, today) in folders {
        let list = seeds.listed(&context.project, today.as_ref());
        damaged.extend(list.damaged);
        for standing in list.failures {
            if args.prune_fixed && standing.state == RegressionStatus::Fixed {
                standing.remove()?;
                document.pruned.push(standing.path.display().to_string());
            }
            fails |= standing.state.is_failure();
            document.seeds.push(standing.document());
        }
    }
    let is_damaged = !damaged.is_empty();
    document.seeds.extend(damaged);
    if context.printer.json {
        context.printer.document(&document)?;
    } else {
        context.printer.lines(&seeds_lines(&document));
        if document.seeds.is_empty() {
            context.printer.remark("no failures are saved; `fozzy explore` saves those that it finds\n");
        }
        if !document.seeds.is_empty() && document.seeds.iter().all(|seed| seed.state == RegressionStatus::Stale.word())
        {
            context.printer.remark(
                "all of them are stale, so that nothing was judged: record the failures anew, or delete them\n",
            );
        }
        document.pruned.iter().for_each(|path| context.printer.remark(&format!("removed {path}\n")));
    }
    Ok(ExitCode::from(if is_damaged { 2 } else { u8::from(fails) }))
}
