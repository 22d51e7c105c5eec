//! `fozzy usage`, and the commands in their groups for `--help`.
//!
//! Invariant: each command has a row, and each example is one that the command line takes.

use crate::args::Command;
use crate::context::Context;
use crate::error::CliError;
use clap::Subcommand;
use fozzy_report::document::UsageDocument;
use fozzy_report::usage::USAGE;
use std::process::ExitCode;

pub(crate) fn usage(context: &Context) -> Result<ExitCode, CliError> {
    context.printer.document(&UsageDocument::of_all())?;
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
