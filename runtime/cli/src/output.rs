//! What is printed where.
//!
//! Data goes to stdout, everything else to stderr. A reader that closes our stdout early (`| head`) has
//! seen enough: writing stops, the command continues, and its exit code is the run's. Any other failure to
//! write there (a full disk) loses data: the command ends with an error.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the place that prints")]

use crate::error::{CliError, ErrorKind};
use crate::progress::{self, stderr};
use fozzy_report::{Layout, Style, dialogue_bytes, folded_lines, printable, printable_bytes};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Exit code of errors and usage.
pub(crate) const EXIT_ERROR: u8 = 2;

/// How this invocation prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    pub(crate) json: bool,
    colour: bool,
    colour_stdout: bool,
}

impl Printer {
    /// Prints documents as JSON if asked to, and no colours if asked not to.
    pub(crate) fn new(json: bool, no_color: bool) -> Printer {
        let coloured = |choice| !no_color && choice != anstream::ColorChoice::Never;
        let colour = coloured(anstream::AutoStream::choice(&io::stderr()));
        let colour_stdout = coloured(anstream::AutoStream::choice(&io::stdout()));
        Printer { json, colour, colour_stdout }
    }

    /// Marks for what goes to stderr.
    pub(crate) fn style(self) -> Style {
        let marks = if self.colour { Style::COLOUR } else { Style::PLAIN };
        marks.on(width(terminal_size::terminal_size_of(io::stderr())), here())
    }

    /// Marks for what goes to stdout.
    pub(crate) fn stdout_style(self) -> Style {
        let marks = if self.colour_stdout { Style::COLOUR } else { Style::PLAIN };
        marks.on(width(terminal_size::terminal_size_of(io::stdout())), here())
    }

    /// Prints a document: JSON, or as people read it.
    pub(crate) fn document(self, document: &impl Layout) -> Result<(), CliError> {
        let value =
            serde_json::to_value(document).map_err(|error| CliError::new(ErrorKind::Internal, error.to_string()))?;
        let text = if self.json { format!("{value:#}\n") } else { document.lay_out(self.stdout_style()) };
        self.data(&text);
        Ok(())
    }

    /// Prints data for people or pipes.
    pub(crate) fn data(self, text: &str) {
        stdout(printable(text, self.colour_stdout).as_bytes());
    }

    /// Prints lines for people, folded at the terminal's width.
    pub(crate) fn lines(self, text: &str) {
        self.data(&folded_lines(text, self.stdout_style()));
    }

    /// Prints a remark on stderr.
    pub(crate) fn remark(self, text: &str) {
        stderr(printable(text, self.colour).as_bytes());
    }

    /// Prints an error, in the form that was asked for, and returns its exit code.
    pub(crate) fn error(self, error: &CliError) -> ExitCode {
        crate::interrupt::yield_to_handler();
        if self.json {
            let text = serde_json::to_string_pretty(&error.document()).unwrap_or_default();
            self.data(&format!("{text}\n"));
        } else {
            let Style { bad, end, .. } = self.style();
            self.remark(&format!("{bad}error:{end} {error}\n"));
        }
        ExitCode::from(EXIT_ERROR)
    }
}

/// Characters of a line of a terminal; 0 where there is none.
fn width(size: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    size.map_or(0, |(width, _)| usize::from(width.0))
}

/// The folder of this invocation.
fn here() -> &'static str {
    static HERE: OnceLock<String> = OnceLock::new();
    HERE.get_or_init(|| std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default())
}

/// Why stdout does not hold all that was written to it.
static STDOUT_LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes to stdout and says whether anyone reads it; a closed pipe is silently accepted, any other failure
/// is reported by [`settle`].
pub(crate) fn stdout(bytes: &[u8]) -> bool {
    progress::clear();
    progress::writes(bytes);
    let mut out = io::stdout().lock();
    let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) else { return true };
    if error.kind() != io::ErrorKind::BrokenPipe {
        let _ = STDOUT_LOST.set(error);
    }
    false
}

/// The exit code of a command that had `code`: an error when its output was lost.
pub(crate) fn settle(code: ExitCode) -> ExitCode {
    crate::interrupt::yield_to_handler();
    let Some(error) = STDOUT_LOST.get() else { return code };
    say(&format!("error: cannot write to standard output: {error}\n"));
    ExitCode::from(EXIT_ERROR)
}

/// Prints text on stdout, without what a terminal would obey; whether anyone reads it.
pub(crate) fn show(text: &str) -> bool {
    stdout(printable(text, false).as_bytes())
}

/// Prints text on stderr, without what a terminal would obey.
pub(crate) fn say(text: &str) {
    stderr(printable(text, false).as_bytes());
}

/// Prints a remark of the library.
pub(crate) fn notice(bytes: &[u8]) {
    say(&String::from_utf8_lossy(bytes));
}

/// Passes on what a program has written: to a terminal without what that would obey, elsewhere as it is.
pub(crate) struct ProgramOutput {
    is_terminal: bool,
    /// How it is shown there: in a dialogue with its colours.
    shown: fn(&[u8], &mut Vec<u8>) -> Vec<u8>,
    held: Vec<u8>,
    write: fn(&[u8]),
}

impl ProgramOutput {
    pub(crate) fn to_stdout(is_dialogue: bool) -> ProgramOutput {
        ProgramOutput::new(io::stdout().is_terminal(), is_dialogue, |bytes| _ = stdout(bytes))
    }

    pub(crate) fn to_stderr(is_dialogue: bool) -> ProgramOutput {
        ProgramOutput::new(io::stderr().is_terminal(), is_dialogue, stderr)
    }

    fn new(is_terminal: bool, is_dialogue: bool, write: fn(&[u8])) -> ProgramOutput {
        let shown = if is_dialogue { dialogue_bytes } else { printable_bytes };
        ProgramOutput { is_terminal, shown, held: Vec::new(), write }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        match self.is_terminal {
            true => (self.write)(&(self.shown)(bytes, &mut self.held)),
            false => (self.write)(bytes),
        }
    }
}
