//! `fozzy usage`: which command is for what.
//!
//! Invariant: each command has a row, and each example is one that the command line takes.

use crate::context::Context;
use crate::error::CliError;
use fozzy_report::document::{UsageDocument, UsageItem};
use std::process::ExitCode;

/// Command, when it is of use, and an example.
const USAGE: &[(&str, &str, &str)] = &[
    ("init", "you begin a project", "fozzy init app --template rust"),
    ("run", "you want to see what a program does under one seed", "fozzy run app.wasm --seed 7 --record run.fozzy"),
    (
        "test",
        "you want all scenarios of a project run and reported",
        "fozzy test --det --jobs 2 --reporter junit --out junit.xml",
    ),
    ("fuzz", "you look for inputs that make a program fail", "fozzy fuzz app.wasm --time 60s --minimize"),
    ("explore", "you look for an order of steps that makes a scenario fail", "fozzy explore app.wasm --runs 1000"),
    ("seeds", "you want to know which saved failures are still reproduced", "fozzy seeds app.wasm"),
    ("replay", "you have a trace and want the very run again", "fozzy replay run.fozzy --dump-events"),
    (
        "branch",
        "you want to know what else could have happened after a decision",
        "fozzy branch run.fozzy --at 12 --seed 3",
    ),
    ("causality", "you want to know which decision made a failure likely", "fozzy causality run.fozzy --moments 20"),
    ("findability", "you want to know how many clean runs make a fix believable", "fozzy findability run.fozzy"),
    ("benchmark", "you want to know how many workers an exploration is worth", "fozzy benchmark app.wasm --time 10s"),
    ("shrink", "a failure takes more steps than you want to read", "fozzy shrink run.fozzy --out small.fozzy"),
    ("ablate", "you want to know which faults a failure needs", "fozzy ablate run.fozzy"),
    ("inspect", "you want to know what a program is and needs", "fozzy inspect app.wasm"),
    (
        "coverage",
        "you want to know what runs have not reached",
        "fozzy coverage run.fozzy --format html --out coverage.html",
    ),
    ("trace", "you want to check or read a trace", "fozzy trace verify run.fozzy"),
    ("corpus", "you look after the inputs of campaigns", "fozzy corpus minimize corpus --target app.wasm"),
    (
        "artifacts",
        "you want the files of a run, or to hand them on",
        "fozzy artifacts bundle last-fail --out bundle.zip",
    ),
    ("ci", "a build server has a trace to check", "fozzy ci run.fozzy"),
    ("gate", "you want the checks that gate a change", "fozzy gate --scope bank,cache"),
    ("full", "you want every command done once on a project", "fozzy full --fuzz-time 10s"),
    ("report", "you want to see, ask or compare reports", "fozzy report show latest --format html --out report.html"),
    ("validate", "you have written a file and want to know what is wrong with it", "fozzy validate plan.toml"),
    ("schema", "you want an editor or a script to know a file or a document", "fozzy schema plan"),
    ("doctor", "results differ, or a machine is new", "fozzy doctor --deep --scenario app.wasm"),
    ("usage", "you want this list", "fozzy usage"),
    ("completions", "you want your shell to complete commands and flags", "fozzy completions bash"),
    ("man", "you want pages for `man`", "fozzy man share/man/man1"),
    ("env", "you want to know what backs the clock, files and network of a guest", "fozzy env"),
    ("version", "you report a fault", "fozzy version"),
];

pub(crate) fn usage(context: &Context) -> Result<ExitCode, CliError> {
    let item = |(command, when, how): &(&str, &str, &str)| UsageItem {
        command: (*command).to_owned(),
        when: (*when).to_owned(),
        how: (*how).to_owned(),
    };
    let title = "Fozzy runs programs in a sandbox where nothing is left to chance".to_owned();
    let document = UsageDocument { title, items: USAGE.iter().map(item).collect() };
    if context.printer.json {
        context.printer.document(&document)?;
    } else {
        let lines = document
            .items
            .iter()
            .map(|item| format!("{:<12}  when {}\n{:14}{}\n", item.command, item.when, "", item.how));
        context.printer.data(&format!("{}\n\n{}", document.title, lines.collect::<String>()));
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn each_command_has_a_row_and_each_example_is_taken() {
        let known: Vec<String> =
            Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let rows: Vec<&str> = USAGE.iter().map(|(command, ..)| *command).collect();
        assert_eq!(rows, known);
        for (command, _, how) in USAGE {
            let words: Vec<&str> = how.split(' ').collect();
            assert_eq!(words[1], *command, "{how}");
            assert!(Cli::try_parse_from(&words).is_ok(), "{how}: {:?}", Cli::try_parse_from(&words).err());
        }
    }
}
