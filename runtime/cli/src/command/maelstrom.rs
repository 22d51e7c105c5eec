//! `fozzy maelstrom`: a cluster of nodes on a simulated network, tested and judged.

use super::run::{say_other_name, seed};
use super::run_seeds::{self, SweepRequest};
use crate::args::MaelstromTestArgs;
use crate::context::{Context, exit};
use crate::error::{CliError, ErrorKind};
use crate::{output, progress};
use fozzy_campaign::error::{DeferredError, at_path};
use fozzy_campaign::maelstrom::{MaelstromOutput, MaelstromRequest, prepare};
use fozzy_campaign::pipeline::{ENTRIES_KEPT, PreparedProgram, RecordPolicy, identity, kept};
use fozzy_campaign::sequence::failing_sequence;
use fozzy_campaign::store::{store_error, write_output};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::is_own;
use fozzy_engine::{OutputKind, OutputTee};
use fozzy_report::maelstrom::MaelstromDocument;
use fozzy_report::{MachineLine, RunMode, RunSummary, pretty};
use fozzy_trace::file::store::{CollisionPolicy, check_target};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Execution, Executor, NodeId};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn test(context: &Context, args: &MaelstromTestArgs) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let seed = seed(context, args.seed);
    let seeds = run_seeds::range(args.seeds.as_deref(), seed)?;
    let collision: CollisionPolicy = args.record_collision.into();
    if let Some(path) = &args.record {
        check_target(path, collision).map_err(store_error)?;
    }
    let options = args.options().map_err(|why| CliError::new(ErrorKind::Usage, why))?;
    let request = MaelstromRequest { options, bin: args.bin.clone(), args: args.args.clone(), fuel: args.fuel };
    let prepared = prepare(&context.project, &request)?;
    if let Some(seeds) = seeds {
        let request = SweepRequest {
            jobs: args.jobs as usize,
            until_failure: args.until_failure,
            record: args.record.as_deref(),
            collision,
            reporter: args.reporter,
        };
        return run_seeds::sweep(context, &request, &prepared, seeds, watch);
    }
    let mut session = prepared.session()?;
    if args.log_stderr {
        session.watch(node_logs(&prepared));
    }
    let at_work = progress::of_run(prepared.planned.plan.limits.fuel);
    let execution = session.execute(Box::new(SeededSource::new(seed)), 0..ENTRIES_KEPT);
    drop(at_work);
    let execution = execution?;
    let recording = prepared.record(&execution, seed, RunMode::Run);
    let folder = context.runs.begin()?;
    let keep_passing = context.project.keep_passing;
    let policy = RecordPolicy { path: args.record.as_deref(), collision, keep_passing };
    let mut lost = DeferredError::default();
    let trace = lost.note(policy.write(&recording, &folder)).flatten();
    let identity = identity(&folder, seed, trace.as_deref());
    let target = prepared.loaded.summary();
    let summary = RunSummary::of(RunMode::Run, identity, target, &recording.outcome, kept(&execution), watch.facts());
    let summary = summary.telling(&execution.facts).with_steps(failing_sequence(&recording));
    let status = summary.status;
    let results = MaelstromOutput::of(&args.workload, &execution, status);
    if let Some(out) = &args.out {
        lost.note(write_files(out, &results, &execution));
    }
    if lost.is_set() {
        folder.discard();
    } else {
        lost.note(context.runs.finish(&folder, &summary));
    }
    if context.printer.json {
        let document = MaelstromDocument {
            schema_version: "fozzy.maelstrom.v1".to_owned(),
            results: results.results,
            run: summary,
        };
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| CliError::new(ErrorKind::Internal, error.to_string()))?;
        context.printer.data(&format!("{text}\n"));
    } else {
        context.printer.remark(&pretty(&summary, context.printer.style(), is_own));
        context.printer.data(&results.results.edn());
    }
    lost.settle()?;
    say_other_name(context, args.record.as_deref(), trace.as_deref());
    Ok(exit(status))
}

/// Shows what nodes write to standard error.
fn node_logs(prepared: &PreparedProgram) -> OutputTee {
    let names: Vec<String> = prepared.planned.plan.nodes.iter().map(|node| node.name.clone()).collect();
    let mut lines = BTreeMap::new();
    Box::new(move |node: NodeId, kind, bytes| {
        let name = (node.0 as usize).checked_sub(1).and_then(|number| names.get(number));
        if let (Some(name), OutputKind::Stderr) = (name, kind) {
            lines.entry(node).or_insert_with(|| MachineLine::new(name, output::notice)).write(bytes);
        }
    })
}

/// Writes results, history and logs of nodes to a folder.
fn write_files(
    out: &Path,
    MaelstromOutput { results, history }: &MaelstromOutput,
    execution: &Execution,
) -> Result<(), fozzy_campaign::CampaignError> {
    let logs = out.join("node-logs");
    std::fs::create_dir_all(&logs)
        .map_err(|error| at_path(fozzy_campaign::ErrorKind::Store, "cannot create", &logs, &error))?;
    let json = serde_json::to_string_pretty(results).unwrap_or_default();
    let files = [
        ("results.edn", results.edn()),
        ("results.json", format!("{json}\n")),
        ("history.edn", history.to_edn()),
        ("history.jsonl", history.to_json_lines()),
    ];
    for (name, text) in files {
        write_output(&out.join(name), text.as_bytes())?;
    }
    for node in &execution.nodes {
        write_output(&logs.join(format!("{}.log", node.name)), node.stderr.kept())?;
    }
    Ok(())
}
