//! Errors as people and scripts see them: what, where, expected, found, and the next command.

use fozzy_report::document::ErrorDocument;
use std::fmt;

/// An error that ends a command with exit code 2.
#[derive(Clone, Debug)]
pub struct CampaignError {
    /// A stable word for scripts.
    pub code: &'static str,
    pub message: String,
    pub hint: Option<String>,
}

impl CampaignError {
    pub fn new(code: &'static str, message: impl Into<String>) -> CampaignError {
        CampaignError { code, message: message.into(), hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> CampaignError {
        self.hint = Some(hint.into());
        self
    }

    pub fn document(&self) -> ErrorDocument {
        ErrorDocument {
            status: "error".to_owned(),
            code: self.code.to_owned(),
            message: self.message.clone(),
            hint: self.hint.clone(),
        }
    }
}

impl fmt::Display for CampaignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One error is one line with what belongs to it below, indented: each problem of a plan, for example.
        f.write_str(&self.message.replace('\n', "\n  "))?;
        match &self.hint {
            Some(hint) => write!(f, "\n  {hint}"),
            None => Ok(()),
        }
    }
}

impl From<fozzy_trace::HarnessError> for CampaignError {
    fn from(error: fozzy_trace::HarnessError) -> CampaignError {
        CampaignError::new("harness", error.what)
    }
}

/// An error about a path, in the operating system's words.
pub fn at_path(code: &'static str, doing: &str, path: &std::path::Path, error: &std::io::Error) -> CampaignError {
    CampaignError::new(code, format!("{doing} {}: {error}", path.display()))
}
