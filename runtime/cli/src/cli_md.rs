//! `CLI.md`, generated from the same source as `--help`. `BLESS=1 cargo test -p fozzy` rewrites it.

use crate::args::Cli;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;
use std::path::Path;

/// What stands before the commands: what all of them share.
const PREAMBLE: &str = "\
# The command line

Generated from the source of `--help`; `BLESS=1 cargo test -p fozzy` writes it anew.

Data goes to stdout, everything else to stderr. What a program writes is passed on as it writes it, except under `--json`, where \
stdout carries exactly one document. `NO_COLOR`, non-terminals and closed pipes are respected.

## Exit codes

| code | status | when |
|---|---|---|
| 0 | `pass` | the program ended with code 0; a query succeeded |
| 1 | `fail` | the program ended by itself with another code, or asked for something that no rule of the plan answers |
| 2 | `error` | usage, unreadable input, a refused trace, a replay that is not the recorded run, a program that uses what the sandbox does not support, a suite without a scenario or with one that cannot be run |
| 3 | `timeout` | a budget of instructions (`--fuel`) or virtual time (`--timeout`) ran out, or the program hangs |
| 4 | `crash` | trap, panic, abort, out of memory |
| 130 | | interrupted by Ctrl-C; no half-written file is left |

## Naming a run or trace

An existing file, also a bundle; an existing folder with a `trace.fozzy`; `latest`, `last-pass`, `last-fail` (by the order in which runs finished); a run id \
or the beginning of exactly one.

## JSON documents

| document | printed by | keys |
|---|---|---|
| run summary | `run`, `replay`, `report.json` | `status` `mode` `identity{runId,seed,tracePath?,reportPath?,artifactsDir?}` `startedAt` `finishedAt` `durationMs` `durationNs` `findings?[]{kind,title,message,location?{file?,line?,col?},backtrace?[]{module,function,offset,file?,line?,col?}}` `signature?{kind,site}` `target{name,digest,kind}` `exitCode?` `virtualTimeNs` `calls` `decisions` `fuelUsed` `memoryBytes` `memoryDigest` `historyDigest` `output{stdout,stderr → {bytes,sha256,text?}}` `nodes?[]{name,state,exitCode?,memoryDigest,output}` `scenario?{name,sequences,flows[]{name,run,skipped?{label → times},fuelUsed,virtualTimeNs}}` `properties?[]{name,kind,state,evaluated,held,closest?,place?}` `memory?{allocCount,freeCount,failedAllocCount,inUseBytes,peakBytes,leakedBytes,leakedAllocs}` `replay?{equal,against?,difference?{what,recorded,found},divergence?{index,virtualTimeNs,recorded?,asked?}}` |
| suite summary | `test`, `report.json` | `status` `mode` `identity` `startedAt` `finishedAt` `durationMs` `durationNs` `tests{passed,failed,skipped}` `memory?` `findings?` as above, of all failed cases; `regressions?[]`, `scenarios[] → {name,path,result (passed, failed, skipped),status?,regression? (regression, fixed, stale),against?,note?,error?{status,code,message,hint?},expected?{status,signatures?},command?,durationMs,durationNs,run? (run summary)}` |
| manifest | `manifest.json` of a run (`fozzy.run_manifest.v1`) | `schemaVersion` `runId` `sequence` `mode` `status` `seed` `startedAt` `finishedAt` `durationMs` `durationNs` `tracePath?` `reportPath?` `artifactsDir?` `findingsCount` |
| verification | `trace verify` | `ok` `path` `version` `checksumPresent` `checksumValid` `warnings?` `error?` |
| history | `trace show` | `path` `seed` `calls` `decisions` `entries[]{index,at,node,call,asked,answer,decision}` |
| examination | `doctor` | `ok` `issues[]{code,message,hint?}` `nondeterminism_signals?[]{source,detail}` `determinism_audit?{scenario,runs,seed,consistent,signatures[],first_mismatch_run?,difference?,divergence?}` |
| coverage | `coverage --format json` (`fozzy.coverage.v1`) | `schemaVersion` `counting` (`hits`: 0 or 1; `counts`) `traces[]` `remarks?[]` `totals{functions,lines,edges → {hit,total}}` `components[]{name,digest,modules[]{module,name,edges{hit,total}},files[]{path,hasSource,own,totals,functions[]{name,line?,offset,hits},lines[]{line,hits},edges[]{id,kind,function,offset,line?,column?,hits,reached}}}` |
| inspection | `inspect` | `path` `kind` `bytes` `digest` `fits[]` `capabilities[]` `imports[]`, `exports[]{name,functions[],problem?,nearest?}` `modules[]{module,name?,bytes,covered,edges,kept,hasNames,hasLines}` `checkpoints{class,obstacles[]}` `remarks?[]` |
| files of a run | `artifacts` | `type`: `list` with `entries[]{kind,path,sizeBytes?}`; `exported` with `out` `files[]`; `diff` with `diff{left,right,files[]{key,leftPath?,rightPath?,leftSizeBytes?,rightSizeBytes?,changed},report?{leftStatus,rightStatus,leftMode,rightMode,leftFindings,rightFindings,leftDurationMs,rightDurationMs,findingTitlesChanged},trace?{leftMode,rightMode,leftDecisions,rightDecisions,leftEvents,rightEvents,firstDecisionDiffIndex?,firstEventDiffIndex?,divergence?}}` |
| bundle | `bundle.json` in what `artifacts bundle` writes (`fozzy.bundle_report.v1`) | `schemaVersion` `source` `trace` `ciOk` |
| checks | `ci` (`fozzy.ci_report.v1`) | `schemaVersion` `ok` `checks[]{name,ok,detail?}` |
| report in another format | `report show --json` | `format` `content` |
| paths of a report | `report query --list-paths` | `paths[]` |
| flakiness | `report flaky` (`fozzy.flaky_report.v1`) | `schemaVersion` `runCount` `statusCounts{status → number}` `findingTitleSets[]` `isFlaky` `flakeRatePct` |
| environment | `env` | `os` `arch` `fozzy{…}` `capabilities{time,rng,fs,http,net,proc,memory → {backend,deterministic}}` |
| version | `version` | `version` `commit?` `build_date?` `wasmtime` `rewriter` `trace_format` |
| beginning | `init` | `folder` `template` `files[]` `next[]` |
| error | all, with exit code 2 | `status` `code` `message` `hint?` |

Environment: `FOZZY_CONFIG`, `FOZZY_LOG`; `FOZZY_CACHE_DIR` (compiled programs; default: `fozzy` in the user's cache folder).

A scenario's own files, for `test`: `expect.toml` in its crate, or `bank.expect.toml` beside `bank.wasm` (`sequences`, `flows`: how far it is driven; `target`: the component beside it that it judges; `status`, \
`signatures`: what `--expect` holds it to); `plan.toml` or `bank.plan.toml` at the same place, its plan unless `--plan` names one; `regressions/*.fozzy` in its \
crate or beside the suite, failures that were kept. Under `GITHUB_ACTIONS=true`, failures are told on stderr as GitHub's annotations too.

Configuration (`fozzy.toml`, found upwards from the working directory, unknown keys are errors): `base_dir` (where runs are kept, default `.fozzy`).

";

fn render() -> String {
    let mut out = PREAMBLE.to_owned();
    let mut root = Cli::command();
    root.build();
    out.push_str("## Flags of every command\n\n");
    arguments(&mut out, root.get_arguments().filter(|argument| argument.is_global_set()));
    for command in root.get_subcommands() {
        section(&mut out, command);
    }
    out.trim_end().to_owned() + "\n"
}

fn section(out: &mut String, command: &Command) {
    let nested: Vec<&Command> = command.get_subcommands().collect();
    if !nested.is_empty() {
        nested.into_iter().for_each(|command| section(out, command));
        return;
    }
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let _ = writeln!(out, "## `{name}`\n");
    for text in [command.get_about(), command.get_long_about()].into_iter().flatten() {
        let _ = writeln!(out, "{}\n", text.to_string().trim_end_matches('.').to_owned() + ".");
    }
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(out, "`{}`\n", usage.trim_start_matches("Usage: ").trim());
    arguments(out, command.get_arguments().filter(|argument| !argument.is_global_set()));
}

fn arguments<'a>(out: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    let rows: Vec<&Arg> = arguments.filter(|argument| !argument.is_hide_set() && argument.get_id() != "help").collect();
    if rows.is_empty() {
        return;
    }
    out.push_str("| argument | default | meaning |\n|---|---|---|\n");
    for argument in rows {
        let value = argument.get_value_names().filter(|_| argument.get_action().takes_values());
        let value = value.and_then(|names| names.first()).map(|name| format!(" <{name}>")).unwrap_or_default();
        let name = match (argument.get_long(), argument.is_last_set()) {
            (Some(long), _) => format!("--{long}{value}"),
            (None, true) => format!("-- {}…", value.trim()),
            (None, false) => value.trim().to_owned(),
        };
        let default: Vec<String> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        let default = if argument.get_action().takes_values() { default.join(" ") } else { String::new() };
        let choices: Vec<String> =
            argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let choices = if choices.is_empty() || !argument.get_action().takes_values() {
            String::new()
        } else {
            format!(" One of {}.", choices.join(", "))
        };
        let _ =
            writeln!(out, "| `{}` | {default} | {}.{choices} |", name.replace('|', "\\|"), help.trim_end_matches('.'));
    }
    out.push('\n');
}

#[test]
fn cli_md_is_what_clap_generates() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CLI.md");
    let expected = render();
    if bless() {
        std::fs::write(&path, &expected).expect("CLI.md can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "CLI.md is not what --help says; write it anew with BLESS=1 cargo test -p fozzy");
}

#[allow(clippy::disallowed_methods, reason = "whether goldens are rewritten")]
fn bless() -> bool {
    std::env::var_os("BLESS").is_some()
}

#[test]
fn the_command_line_is_sound() {
    Cli::command().debug_assert();
}
