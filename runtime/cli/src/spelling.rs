//! Errors of the command line: how they are printed, what was meant, and flags named as they were given, while clap names the
//! first of their spellings.
//!
//! ```text
//! explore app.wasm --no-shrink --minimize     `--minimize` cannot be used with …, and not `--shrink`, its alias
//! ```

use crate::error::{CliError, ErrorKind as KindOfError};
use crate::output::{EXIT_ERROR, say, show, stdout};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use fozzy_report::usage::USAGE;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

/// What clap has to say: help and version are data, everything else is an error.
pub(crate) fn usage_error(mut error: clap::Error, json: bool) -> ExitCode {
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word)), None) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::SuggestedSubcommand))
    {
        let suggested = suggested(word);
        // An empty list would be a tip without words.
        if !suggested.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(suggested));
        }
    }
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let plain = error.render();
        let text = if io::stdout().is_terminal() { plain.ansi().to_string() } else { plain.to_string() };
        stdout(text.as_bytes());
        return ExitCode::SUCCESS;
    }
    let rendered = error.render().to_string();
    if json {
        let message = rendered.trim_end().trim_start_matches("error: ").to_owned();
        let document = CliError::new(KindOfError::Usage, message).document();
        let text = serde_json::to_string_pretty(&document).unwrap_or_default();
        show(&format!("{text}\n"));
    } else {
        say(&rendered);
    }
    ExitCode::from(EXIT_ERROR)
}

/// The command that an unknown word is likely to mean: one that is written alike, or `run` for a file.
fn suggested(word: &str) -> Vec<String> {
    let names = USAGE.iter().flat_map(|(_, rows)| rows.iter().map(|(name, ..)| *name));
    let alike = fozzy_plan::nearest(word, names).map(str::to_owned);
    let file = || Path::new(word).exists().then(|| format!("run {word}"));
    alike.or_else(file).into_iter().collect()
}

/// Puts the spellings that `words` have into the error.
pub(crate) fn as_given(error: &mut clap::Error, command: &clap::Command, words: &[OsString]) {
    let words: Vec<&str> = words.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str()).collect();
    for kind in [ContextKind::InvalidArg, ContextKind::PriorArg] {
        let respelled = match error.get(kind) {
            Some(ContextValue::String(flag)) => ContextValue::String(spelled(flag, command, &words)),
            Some(ContextValue::Strings(flags)) => {
                ContextValue::Strings(flags.iter().map(|flag| spelled(flag, command, &words)).collect())
            }
            _ => continue,
        };
        error.insert(kind, respelled);
    }
}

/// A flag and its value, such as `--workers <N>`, by the name under which it was given.
fn spelled(flag: &str, command: &clap::Command, words: &[&str]) -> String {
    let (name, value) = flag.split_at(flag.find([' ', '=']).unwrap_or(flag.len()));
    let is_given = |name: &str| words.iter().any(|word| word.split('=').next() == Some(name));
    let Some(arg) = name.strip_prefix("--").filter(|_| !is_given(name)).and_then(|long| find(command, words, long))
    else {
        return flag.to_owned();
    };
    let aliases = arg.get_all_aliases().into_iter().flatten().map(|alias| format!("--{alias}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    let short = short.filter(|short| words.iter().any(|word| word.starts_with(short.as_str())));
    let given = aliases.into_iter().find(|alias| is_given(alias)).or(short);
    given.map_or_else(|| flag.to_owned(), |given| given + value)
}

/// The flag of that long name, of the command that the words name or of those above it.
fn find<'a>(command: &'a clap::Command, words: &[&str], long: &str) -> Option<&'a clap::Arg> {
    let path = words.iter().skip(1).scan(command, |here, word| {
        *here = here.find_subcommand(word).unwrap_or(*here);
        Some(*here)
    });
    let commands: Vec<&clap::Command> = std::iter::once(command).chain(path).collect();
    commands.iter().rev().flat_map(|command| command.get_arguments()).find(|arg| arg.get_long() == Some(long))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{CommandFactory, Parser};

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let mut error = Cli::try_parse_from(&words).expect_err("it is refused");
        as_given(&mut error, &Cli::command(), &words);
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn flags_of_a_neighbouring_command_are_understood() {
        for line in ["fozzy run a.wasm --runs 10", "fozzy explore a.wasm --until-failure"] {
            Cli::try_parse_from(line.split(' ')).expect("it is understood");
        }
        check("fozzy explore a.wasm --until-failure --stop saturated", "--until-failure");
    }

    #[test]
    fn a_flag_is_named_as_it_was_given() {
        check("fozzy explore a.wasm --no-shrink --minimize", "'--minimize'");
        check("fozzy explore a.wasm --no-shrink --shrink", "'--shrink'");
        check("fozzy fuzz a.wasm --no-shrink --shrink", "'--no-shrink'");
        check("fozzy explore a.wasm -w 0", "'-w <N>'");
        check("fozzy explore a.wasm --workers=0", "'--workers <N>'");
        check("fozzy --strict-verify --unsafe version", "'--strict-verify'");
        check("fozzy version --unsafe --strict", "'--strict'");
    }
}
