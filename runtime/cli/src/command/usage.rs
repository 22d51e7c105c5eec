//! `fozzy usage`: which command is for what.
//!
//! Invariant: each command has a row, and each example is one that the command line takes.

use crate::args::Command;
use crate::context::Context;
use crate::error::CliError;
use clap::Subcommand;
use fozzy_report::document::{UsageDocument, UsageItem};
use std::process::ExitCode;

/// Commands that belong together: what they are for, and of each its name, when it is of use, and an example.
type Group = (&'static str, &'static [(&'static str, &'static str, &'static str)]);

/// All commands.
const USAGE: &[Group] = &[
    (
        "Find failures",
        &[
            (
                "run",
                "you want to see what a program does under one seed",
                "fozzy run app.wasm --seed 7 --record run.fozzy",
            ),
            (
                "test",
                "you want all scenarios of a project run and reported",
                "fozzy test --det --jobs 2 --reporter junit --out junit.xml",
            ),
            ("fuzz", "you look for inputs that make a program fail", "fozzy fuzz app.wasm --time 60s"),
            (
                "explore",
                "you look for steps, turns, faults and arrivals that make a program fail",
                "fozzy explore app.wasm --plan cluster.toml --time 60s",
            ),
            (
                "benchmark",
                "you want to know how many workers an exploration is worth",
                "fozzy benchmark app.wasm --time 10s",
            ),
        ],
    ),
    (
        "Understand a failure",
        &[
            ("replay", "you have a trace and want the very run again", "fozzy replay run.fozzy --dump-events"),
            ("shrink", "a failure takes more steps than you want to read", "fozzy shrink run.fozzy --out small.fozzy"),
            ("ablate", "you want to know which faults a failure needs", "fozzy ablate run.fozzy"),
            (
                "branch",
                "you want to know what else could have happened after a decision",
                "fozzy branch run.fozzy --at 12 --seed 3",
            ),
            (
                "causality",
                "you want to know which decision made a failure likely",
                "fozzy causality run.fozzy --moments 20",
            ),
            (
                "findability",
                "you want to know how many clean runs make a fix believable",
                "fozzy findability run.fozzy",
            ),
        ],
    ),
    (
        "Look into programs, traces and reports",
        &[
            (
                "check",
                "you have a history of a distributed system and want a verdict",
                "fozzy check history.edn --model cas-register",
            ),
            ("inspect", "you want to know what a program is and needs", "fozzy inspect app.wasm"),
            (
                "coverage",
                "you want to know what runs have not reached",
                "fozzy coverage run.fozzy --format html --out coverage.html",
            ),
            ("profile", "you want to know where a run spends its instructions", "fozzy profile top latest"),
            ("trace", "you want to check or read a trace", "fozzy trace verify run.fozzy"),
            (
                "report",
                "you want to see, ask or compare reports",
                "fozzy report show latest --format html --out report.html",
            ),
            (
                "artifacts",
                "you want the files of a run, or to hand them on",
                "fozzy artifacts bundle last-fail --out bundle.zip",
            ),
        ],
    ),
    (
        "Keep and check",
        &[
            ("seeds", "you want to know which saved failures are still reproduced", "fozzy seeds app.wasm"),
            ("corpus", "you look after the inputs of campaigns", "fozzy corpus minimize corpus --target app.wasm"),
            ("clean", "the run store has grown, or processes were killed", "fozzy clean --runs 50 --dry-run"),
            ("ci", "a build server has a trace to check", "fozzy ci run.fozzy"),
            ("gate", "you want the checks that gate a change", "fozzy gate --scope bank,cache"),
            ("full", "you want every command done once on a project", "fozzy full --fuzz-time 10s"),
        ],
    ),
    (
        "Begin, and ask for help",
        &[
            ("init", "you begin a project", "fozzy init app --template rust"),
            ("validate", "you have written a file and want to know what is wrong with it", "fozzy validate plan.toml"),
            ("schema", "you want an editor or a script to know a file or a document", "fozzy schema plan"),
            ("doctor", "results differ, or a machine is new", "fozzy doctor --deep --scenario app.wasm"),
            ("env", "you want to know what backs the clock, files and network of a guest", "fozzy env"),
            ("usage", "you want this list", "fozzy usage"),
            ("completions", "you want your shell to complete commands and flags", "fozzy completions bash"),
            ("man", "you want pages for `man`", "fozzy man share/man/man1"),
            ("version", "you report a fault", "fozzy version"),
        ],
    ),
];

pub(crate) fn usage(context: &Context) -> Result<ExitCode, CliError> {
    let title = "Fozzy runs programs in a sandbox where nothing is left to chance".to_owned();
    if context.printer.json {
        let item = |(command, when, how): &(&str, &str, &str)| UsageItem {
            command: (*command).to_owned(),
            when: (*when).to_owned(),
            how: (*how).to_owned(),
        };
        let items = USAGE.iter().flat_map(|(_, rows)| rows.iter().map(item)).collect();
        context.printer.document(&UsageDocument { title, items })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = title + "\n";
    for (purpose, rows) in USAGE {
        text.push_str(&format!("\n{purpose}\n"));
        let line =
            |(command, when, how): &(&str, &str, &str)| format!("  {command:<12}  when {when}\n{:16}{how}\n", "");
        text.extend(rows.iter().map(line));
    }
    context.printer.data(&text);
    Ok(ExitCode::SUCCESS)
}

/// The command that an unknown word is likely to mean: one that is written alike, or `run` for a file.
pub(crate) fn suggested(word: &str) -> Vec<String> {
    let names = USAGE.iter().flat_map(|(_, rows)| rows.iter().map(|(name, ..)| *name));
    let alike = fozzy_plan::nearest(word, names).map(str::to_owned);
    let file = || std::path::Path::new(word).exists().then(|| format!("run {word}"));
    alike.or_else(file).into_iter().collect()
}

/// Characters of a line of `--help` that no terminal cuts.
const HELP_WIDTH: usize = 80;

/// The commands in their groups, each with its sentence, for `--help`.
pub(crate) fn commands_by_purpose() -> String {
    let known = Command::augment_subcommands(clap::Command::new("fozzy"));
    let about = |name: &str| {
        let command = known.find_subcommand(name);
        command.and_then(|command| command.get_about()).map(ToString::to_string).unwrap_or_default()
    };
    let mut text = String::new();
    for (purpose, rows) in USAGE {
        text.push_str(&format!("{purpose}:\n"));
        for (name, ..) in *rows {
            text.push_str(&wrapped(&format!("  {name:<12} "), &about(name)));
        }
        text.push('\n');
    }
    text + "`fozzy help COMMAND` says more of each, `fozzy usage` has an example of each."
}

/// A text behind a word, in lines of the width of help.
fn wrapped(word: &str, text: &str) -> String {
    let (mut out, mut column) = (word.to_owned(), word.chars().count());
    let margin = column;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > margin && column + 1 + length > HELP_WIDTH {
            out.push_str(&format!("\n{:margin$}", ""));
            column = margin;
        } else if column > margin {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{CommandFactory, Parser};
    use std::collections::BTreeSet;

    #[test]
    fn help_fits_a_terminal() {
        let text = commands_by_purpose();
        assert!(text.lines().all(|line| line.chars().count() <= HELP_WIDTH), "{text}");
        assert!(text.contains("Find failures:\n  run          Run a program once"), "{text}");
    }

    #[test]
    fn each_command_has_a_row_and_each_example_is_taken() {
        let known: BTreeSet<String> =
            Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let rows = || USAGE.iter().flat_map(|(_, rows)| *rows);
        assert_eq!(rows().map(|(command, ..)| (*command).to_owned()).collect::<BTreeSet<String>>(), known);
        assert_eq!(rows().count(), known.len());
        for (command, _, how) in rows() {
            let words: Vec<&str> = how.split(' ').collect();
            assert_eq!(words[1], *command, "{how}");
            assert!(Cli::try_parse_from(&words).is_ok(), "{how}: {:?}", Cli::try_parse_from(&words).err());
        }
    }
}
