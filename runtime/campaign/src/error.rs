//! Errors as people and scripts see them: what, where, expected, found, and the next command.

use fozzy_report::document::ErrorDocument;
use std::fmt;

/// An error that ends a command with exit code 2.
#[derive(Clone, Debug)]
pub(crate) struct CliError {
    /// A stable word for scripts.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl CliError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> CliError {
        CliError { code, message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> CliError {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn document(&self) -> ErrorDocument {
        ErrorDocument {
            status: "error".to_owned(),
            code: self.code.to_owned(),
            message: self.message.clone(),
            hint: self.hint.clone(),
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One error is one line with what belongs to it below, indented: each problem of a plan, for example.
        f.write_str(&self.message.replace('\n', "\n  "))?;
        match &self.hint {
            Some(hint) => write!(f, "\n  {hint}"),
            None => Ok(()),
        }
    }
}

impl From<fozzy_trace::HarnessError> for CliError {
    fn from(error: fozzy_trace::HarnessError) -> CliError {
        CliError::new("harness", error.what)
    }
}

/// An error about a path, in the operating system's words.
pub(crate) fn at_path(code: &'static str, doing: &str, path: &std::path::Path, error: &std::io::Error) -> CliError {
    CliError::new(code, format!("{doing} {}: {error}", path.display()))
}
