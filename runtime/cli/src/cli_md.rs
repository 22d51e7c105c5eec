//! `CLI.md`, generated from the same source as `--help`. `BLESS=1 cargo test -p fozzy-cli` rewrites it.

use crate::args::Cli;
use crate::documents::DOCUMENTS;
use clap::{Arg, Command, CommandFactory};
use fozzy_report::schema_keys::keys_of;
use std::fmt::Write;
use std::path::Path;

/// What stands before the commands: what all of them share.
const PREAMBLE: &str = "\
# The command line

Generated from the source of `--help`; `BLESS=1 cargo test -p fozzy-cli` writes it anew.

Data goes to stdout, everything else to stderr. What a program writes is passed on as it writes it, except under `--json`, where \
stdout carries exactly one document. `NO_COLOR`, non-terminals and closed pipes are respected.

## Exit codes

| code | status | when |
|---|---|---|
| 0 | `pass` | the program ended with code 0; a query succeeded |
| 1 | `fail` | the program exited with another code, or asked for something that no rule of the plan answers; `ci` with a failed check; `gate`, `full` with a failed step; `seeds` with a failure that is still there; `check` of a history that is invalid |
| 2 | `error` | usage, unreadable input, a refused trace, a replay that is not the recorded run, a program that uses what the sandbox does not support, a suite without a scenario or with one that cannot be run; `validate` and `trace verify` of what is not sound, `doctor` with an issue, `store copy` with what could not be copied, `report flaky` over its budget; `maelstrom test` that did not decide |
| 3 | `timeout` | a budget of instructions (`--fuel`) or virtual time (`--timeout`) ran out, or the program hangs; `check` that did not decide within `--time` and `--mem` |
| 4 | `crash` | trap, panic, abort, out of memory |
| 70, 71, 77 | | `fuzz --exit-codes libfuzzer`: timeout, out of memory, other findings |
| 130 | | interrupted by Ctrl-C; no half-written file is left |

## Naming a run or trace

An existing file, also a bundle; an existing folder with a `trace.fozzy`; `latest`, `last-pass`, `last-fail` (by the order in which runs finished); a run id \
or the beginning of exactly one. Where no run has failed, `last-fail` is the failure that a fleet has found last, of those that stand in its store: that of `FOZZY_STORE`, or \
the project's own.

## JSON documents

`fozzy schema NAME` prints the JSON Schema of each; a key with `?` may be left out.

<DOCUMENTS>

Environment: `FOZZY_CONFIG`, `FOZZY_LOG` (`RUST_LOG` wins over it and over `--log`); `FOZZY_ARTIFACTS_FULL=1` keeps the traces of passing runs too; `FOZZY_TRACE_PRETTY` of the first Fozzy changes nothing, as a trace is no JSON document: `trace show` is for reading; `FOZZY_CACHE_DIR` (compiled programs; default: `fozzy` in the user's cache folder).

A scenario's own files, for `test`: `expect.toml` in its crate, or `bank.expect.toml` beside `bank.wasm` (`sequences`, `flows`: how far it is driven; `target`: the component beside it that it judges; `status`, \
`signatures`: what `--expect` holds it to); `plan.toml` or `bank.plan.toml` at the same place, its plan unless `--plan` names one; `regressions/*.fozzy` in its \
crate or beside the suite, failures that were kept. Under `GITHUB_ACTIONS=true`, failures are told on stderr as GitHub's annotations too.

Configuration (`fozzy.toml`, found upwards from the working directory, unknown keys are errors): `base_dir` (where runs are kept, default `.fozzy`).

";

fn render() -> String {
    let mut out = PREAMBLE.replace("<DOCUMENTS>\n", &documents());
    let mut root = Cli::command();
    root.build();
    out.push_str("## Flags of every command\n\n");
    arguments(&mut out, root.get_arguments().filter(|argument| argument.is_global_set()));
    for command in root.get_subcommands().filter(|command| command.get_name() != "help") {
        section(&mut out, command);
    }
    out.trim_end().to_owned() + "\n"
}

/// The table of documents.
fn documents() -> String {
    let row = |row: &crate::documents::DocumentRow| {
        let keys = keys_of((row.schema)().as_value());
        format!("| `{}` | {} | {keys} |\n", row.name, row.by)
    };
    let rows: String = DOCUMENTS.iter().map(row).collect();
    format!("| document | printed by | keys |\n|---|---|---|\n{rows}")
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
    assert!(found == expected, "CLI.md is not what --help says; write it anew with BLESS=1 cargo test -p fozzy-cli");
}

#[allow(clippy::disallowed_methods, reason = "whether goldens are rewritten")]
fn bless() -> bool {
    std::env::var_os("BLESS").is_some()
}

#[test]
fn the_command_line_is_sound() {
    Cli::command().debug_assert();
}
