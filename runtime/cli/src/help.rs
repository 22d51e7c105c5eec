//! The commands of `--help`, in their groups.
//!
//! Not here: an example of each (`fozzy usage`).

use fozzy_report::usage::USAGE;

/// Characters of a line of `--help` that no terminal cuts.
const HELP_WIDTH: usize = 80;

/// The commands in their groups, each with its sentence, for `--help`.
pub(crate) fn commands_by_purpose(known: &clap::Command) -> String {
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
    use super::HELP_WIDTH;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn help_fits_a_terminal() {
        let text = Cli::command().get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(text.lines().all(|line| line.chars().count() <= HELP_WIDTH), "{text}");
        assert!(text.contains("Find failures:\n  run          Run a program once"), "{text}");
    }
}
