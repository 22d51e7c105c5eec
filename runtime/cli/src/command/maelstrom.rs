//! `fozzy maelstrom`: a cluster of nodes on a simulated network, tested and judged.

use super::run::{say_other_name, seed};
use super::run_seeds::{self, SweepRequest};
use crate::args::MaelstromTestArgs;
use crate::context::{Context, exit};
use crate::error::{CliError, ErrorKind};
use crate::{output, progress};
use fozzy_campaign::error::{DeferredError, at_path};
use fozzy_campaign::maelstrom::{DriverOutput, MaelstromOutput, MaelstromRequest, check_command, page, prepare};
use fozzy_campaign::pipeline::{ENTRIES_KEPT, PreparedProgram, RecordPolicy, identity, kept};
use fozzy_campaign::sequence::failing_sequence;
use fozzy_campaign::store::{store_error, write_output};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::is_own;
use fozzy_engine::{OutputKind, OutputTee};
use fozzy_report::maelstrom::{
    DIAGRAM_EVENTS, MaelstromDocument, MaelstromValidity, MessageEvent, MessageEventKind, lamport_svg,
};
use fozzy_report::{MachineLine, RunMode, RunSummary, pretty};
use fozzy_trace::file::store::{CollisionPolicy, check_target};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Execution, Executor, NodeId};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

/// The exit code of a test that was not decided, as Maelstrom has it.
const EXIT_UNKNOWN: u8 = 2;
/// How long the calls that contradict each other are looked for, for a page.
const PAGE_NS_MAX: u64 = 5_000_000_000;

pub(super) fn test(context: &Context, args: &MaelstromTestArgs) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let seed = seed(context, args.seed);
    let seeds = run_seeds::range(args.seeds.as_deref(), seed)?;
    let collision: CollisionPolicy = args.record_collision.into();
    if let Some(path) = &args.record {
        check_target(path, collision).map_err(store_error)?;
    }
    let options = args.options().map_err(|why| CliError::new(ErrorKind::Usage, why))?;
    let tested = options.clone();
    let request = MaelstromRequest {
        options,
        bin: args.bin.clone(),
        args: args.args.clone(),
        fuel: args.fuel,
        output_bytes: args.output_limit.map(|size| size.0),
    };
    let prepared = prepare(&context.project, &request)?;
    if let Some(seeds) = seeds {
        let request = SweepRequest {
            jobs: args.jobs as usize,
            until_failure: args.until_failure,
            record: args.record.as_deref(),
            collision,
            reporter: args.reporter,
            logs: None,
            passive: false,
            ask: false,
            exit_undecided: Some(EXIT_UNKNOWN),
        };
        return run_seeds::sweep(context, &request, &prepared, seeds, watch);
    }
    let mut session = prepared.session()?;
    let heard = Arc::new(Mutex::new(DriverOutput::default()));
    session.watch(watcher(&prepared, args, &heard));
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
    let mut summary = summary.telling(&execution.facts).with_steps(failing_sequence(&recording));
    let status = summary.status;
    let heard = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
    let found: Vec<String> = summary.findings.iter().map(|finding| finding.title.clone()).collect();
    let results = MaelstromOutput::of(&tested, &execution, &heard, (status, &found));
    summary.warnings.extend(results.warnings());
    if let Some(out) = &args.out {
        lost.note(write_files(out, &results, &heard, &execution));
    }
    let shown = results.results.clone();
    let index = args.out.as_ref().map(|out| out.join("index.html"));
    let pages: Vec<&Path> = index.as_deref().into_iter().chain(args.html.as_deref()).collect();
    if !pages.is_empty() {
        let pages_begun = Stopwatch::start();
        let is_over = || pages_begun.elapsed_ns() >= PAGE_NS_MAX;
        let page = lost.note(page(results, &execution, &recording, &is_over, &context.project.remarks));
        for (path, page) in pages.iter().zip(std::iter::repeat(page.as_ref())) {
            page.map(|page| lost.note(write_output(path, page.as_bytes())));
        }
    }
    if lost.is_set() {
        folder.discard();
    } else {
        lost.note(context.runs.finish(&folder, &summary));
    }
    let is_unknown = shown.valid == MaelstromValidity::UNKNOWN;
    if context.printer.json {
        let document =
            MaelstromDocument { schema_version: "fozzy.maelstrom.v1".to_owned(), results: shown, run: summary };
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| CliError::new(ErrorKind::Internal, error.to_string()))?;
        context.printer.data(&format!("{text}\n"));
    } else {
        context.printer.remark(&pretty(&summary, context.printer.style(), is_own));
        context.printer.data(&shown.edn());
        if let Some(command) = check_command(&tested, &found, args.out.as_deref()) {
            context.printer.remark(&format!("{command}\n"));
        }
    }
    lost.settle()?;
    say_other_name(context, args.record.as_deref(), trace.as_deref());
    if is_unknown {
        return Ok(ExitCode::from(EXIT_UNKNOWN));
    }
    Ok(exit(status))
}

/// Reads what the driver prints, and shows what is asked for: what nodes write to standard error, and messages.
fn watcher(prepared: &PreparedProgram, args: &MaelstromTestArgs, heard: &Arc<Mutex<DriverOutput>>) -> OutputTee {
    let names: Vec<String> = prepared.planned.plan.nodes.iter().map(|node| node.name.clone()).collect();
    let mut lines = BTreeMap::new();
    let heard = Arc::clone(heard);
    let (logs, sends, receives) = (args.log_stderr, args.log_net_send, args.log_net_recv);
    Box::new(move |node: NodeId, kind, bytes| {
        if kind != OutputKind::Stderr {
            return;
        }
        let Some(number) = (node.0 as usize).checked_sub(1) else {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            let before = heard.events.len();
            heard.write(bytes);
            let is_shown = |event: &&MessageEvent| match event.kind {
                MessageEventKind::Send => sends,
                MessageEventKind::Receive => receives,
                MessageEventKind::Lost => false,
            };
            heard.events[before..]
                .iter()
                .filter(is_shown)
                .for_each(|event| output::notice(event_line(event).as_bytes()));
            return;
        };
        if let Some(name) = names.get(number).filter(|_| logs) {
            lines.entry(node).or_insert_with(|| MachineLine::new(name, output::notice)).write(bytes);
        }
    })
}

fn event_line(event: &MessageEvent) -> String {
    let MessageEvent { at, kind, id, src, dest, label } = event;
    let word = if *kind == MessageEventKind::Send { "send" } else { "recv" };
    format!("{:>12.6} s  {word}  message {id}: {src} -> {dest}  {label}\n", *at as f64 / 1e9)
}

/// Writes results, history and logs of nodes to a folder.
fn write_files(
    out: &Path,
    output: &MaelstromOutput,
    heard: &DriverOutput,
    execution: &Execution,
) -> Result<(), fozzy_campaign::CampaignError> {
    let MaelstromOutput { results, history } = output;
    let logs = out.join("node-logs");
    std::fs::create_dir_all(&logs)
        .map_err(|error| at_path(fozzy_campaign::ErrorKind::Store, "cannot create", &logs, &error))?;
    let json = serde_json::to_string_pretty(results).unwrap_or_default();
    let files = [
        ("results.edn", results.edn()),
        ("results.json", format!("{json}\n")),
        ("history.edn", history.to_edn()),
        ("history.jsonl", history.to_json_lines()),
        ("history.txt", output.history_text()),
    ];
    for (name, text) in files {
        write_output(&out.join(name), text.as_bytes())?;
    }
    for (number, events) in (1..).zip(heard.events.chunks(DIAGRAM_EVENTS)) {
        let name = if number == 1 { "messages.svg".to_owned() } else { format!("messages-{number}.svg") };
        write_output(&out.join(name), lamport_svg(events).as_bytes())?;
    }
    for node in &execution.nodes {
        write_output(&logs.join(format!("{}.log", node.name)), node.stderr.kept())?;
    }
    Ok(())
}
