//! `fozzy usage`: the commands in their groups, each with an example.
//!
//! Invariant: each command has a row, and each example is one that the command line takes.

use crate::context::Context;
use crate::error::CliError;
use fozzy_report::document::UsageDocument;
use std::process::ExitCode;

pub(crate) fn usage(context: &Context) -> Result<ExitCode, CliError> {
    context.printer.document(&UsageDocument::of_all())?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use crate::args::Cli;
    use clap::{CommandFactory, Parser};
    use fozzy_report::usage::USAGE;
    use std::collections::BTreeSet;

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
