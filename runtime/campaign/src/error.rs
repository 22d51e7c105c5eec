//! Errors as people and scripts see them: what, where, expected, found, and the next command.
//!
//! ```text
//! kind      Plan           a stable word for scripts, and the answer to "whose fault is it?"
//! message   fuel = 0 …     one error a line, with what belongs to it below
//! hint      `fozzy schema plan` describes every key
//! ```

use fozzy_report::document::ErrorDocument;
use fozzy_trace::{HarnessError, HarnessErrorKind};
use std::fmt;

/// An error of a command or a campaign; it ends a command with exit code 2. A program that fails is none.
#[derive(Clone, Debug)]
pub struct CampaignError {
    /// What it is about.
    pub kind: ErrorKind,
    /// What is wrong, in sentences.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Errors of writing on the way to a verdict. The verdict is reported first, whatever the disk takes; then the first
/// error ends the command.
#[derive(Clone, Debug, Default)]
pub struct DeferredError(Option<CampaignError>);

impl DeferredError {
    /// What came of it; `None` when it failed, which is remembered.
    pub fn note<T>(&mut self, result: Result<T, CampaignError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.0.get_or_insert(error);
                None
            }
        }
    }

    /// The first of what failed, if anything did.
    pub fn first(&self) -> Option<&CampaignError> {
        self.0.as_ref()
    }

    /// Whether anything failed.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// The first of what failed.
    ///
    /// # Errors
    /// That.
    pub fn settle(self) -> Result<(), CampaignError> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Kinds, each with its word in JSON and what it means.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident = $word:literal,)+) => {
        /// What an error is about. Each kind has one word, which scripts can rely on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorKind {
            $($(#[$doc])+ $kind,)+
        }

        impl ErrorKind {
            /// The word in JSON documents.
            pub fn word(self) -> &'static str {
                match self { $(ErrorKind::$kind => $word,)+ }
            }

            #[cfg(test)]
            const ALL: &[ErrorKind] = &[$(ErrorKind::$kind,)+];
        }
    };
}

kinds! {
    /// A program: it cannot be read, is none, or cannot be run in this way.
    Target = "target",
    /// A program whose source does not build.
    Build = "build",
    /// A scenario file.
    Scenario = "scenario",
    /// A plan, or what it names.
    Plan = "plan",
    /// What a command or a caller asks for contradicts itself.
    Usage = "usage",
    /// The settings in `fozzy.toml`.
    Config = "config",
    /// A directory that is to be captured.
    Dir = "dir",
    /// A dictionary of a campaign.
    Dictionary = "dictionary",
    /// Standard input.
    Stdin = "stdin",
    /// An input of a fuzz target.
    Input = "input",
    /// A corpus.
    Corpus = "corpus",
    /// A selector that names no run, or several.
    Selector = "selector",
    /// A trace.
    Trace = "trace",
    /// A bundle of a run.
    Bundle = "bundle",
    /// A recorded run does not come again.
    Replay = "replay",
    /// Two runs that should be compared have no place where they part.
    Divergence = "divergence",
    /// A campaign that is continued is another one.
    Identity = "identity",
    /// The saved state of an exploration.
    State = "state",
    /// Failures that are saved.
    Seeds = "seeds",
    /// What a case of a suite expects.
    Expect = "expect",
    /// A suite.
    Suite = "suite",
    /// Sources that coverage is shown beside.
    Sources = "sources",
    /// The run store.
    Store = "store",
    /// Files of a run.
    Artifacts = "artifacts",
    /// A report, or where it is written.
    Report = "report",
    /// A query of reports.
    Query = "query",
    /// The SARIF file.
    Sarif = "sarif",
    /// Too few runs to judge whether a test is flaky.
    Flaky = "flaky",
    /// The folder of worker processes.
    Jobs = "jobs",
    /// Worker processes.
    Workers = "workers",
    /// A benchmark.
    Benchmark = "benchmark",
    /// A gate.
    Gate = "gate",
    /// A history of operations that is to be judged.
    History = "history",
    /// A new project.
    Init = "init",
    /// Pages for `man`.
    Man = "man",
    /// The engine does not reproduce its own run.
    Engine = "engine",
    /// This machine failed: memory, disk, processes.
    Harness = "harness",
    /// An execution was ended from outside before its end.
    Interrupted = "interrupted",
    /// A fault of fozzy.
    Internal = "internal",
}

impl CampaignError {
    /// An error without a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> CampaignError {
        CampaignError { kind, message: message.into(), hint: None }
    }

    /// The same, with what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> CampaignError {
        self.hint = Some(hint.into());
        self
    }

    /// Whether a disk has no room for what was to be written.
    pub fn is_full_disk(&self) -> bool {
        says_full_disk(&self.message)
    }

    /// The error and its hint in one line, for a note.
    pub fn one_line(&self) -> String {
        let text = self.to_string();
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// The error as a JSON document.
    pub fn document(&self) -> ErrorDocument {
        ErrorDocument {
            status: "error".to_owned(),
            code: self.kind.word().to_owned(),
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

impl std::error::Error for CampaignError {}

impl From<HarnessError> for CampaignError {
    fn from(error: HarnessError) -> CampaignError {
        let kind = match error.kind() {
            HarnessErrorKind::Failed => ErrorKind::Harness,
            HarnessErrorKind::Interrupted => ErrorKind::Interrupted,
        };
        CampaignError::new(kind, error.what)
    }
}

impl From<CampaignError> for HarnessError {
    fn from(error: CampaignError) -> HarnessError {
        match error.kind {
            ErrorKind::Interrupted => HarnessError::interruption(),
            _ => HarnessError::new(error.to_string()),
        }
    }
}

/// Whether a text, which may be that of another process, says in the words of an operating system that a disk has no room.
pub fn says_full_disk(text: &str) -> bool {
    ["No space left on device", "Disk quota exceeded", "Disc quota exceeded"].iter().any(|words| text.contains(words))
}

/// An error about a path, in the operating system's words.
pub fn at_path(kind: ErrorKind, doing: &str, path: &std::path::Path, error: &std::io::Error) -> CampaignError {
    CampaignError::new(kind, format!("{doing} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_kind_has_a_word_of_its_own() {
        let words: BTreeSet<&str> = ErrorKind::ALL.iter().map(|kind| kind.word()).collect();
        assert_eq!(words.len(), ErrorKind::ALL.len());
        let error = CampaignError::new(ErrorKind::Plan, "one\ntwo").hint("three");
        assert_eq!(error.to_string(), "one\n  two\n  three");
        assert_eq!(error.one_line(), "one; two; three");
        assert_eq!(error.document().code, "plan");
    }

    #[test]
    fn a_full_disk_is_known_by_the_words_of_the_system() {
        let full = std::io::Error::from_raw_os_error(28);
        let told = at_path(ErrorKind::Store, "cannot write", std::path::Path::new("a"), &full);
        assert!(told.is_full_disk(), "{told}");
        assert!(says_full_disk("Disc quota exceeded (os error 69)"), "as macOS writes it");
        assert!(!CampaignError::new(ErrorKind::Store, "cannot write a: Permission denied").is_full_disk());
    }

    #[test]
    fn an_interruption_stays_one_and_a_sentence_is_none() {
        let crossed = HarnessError::from(CampaignError::from(HarnessError::interruption()));
        assert!(crossed.is_interruption());
        let same_words = HarnessError::new(crossed.what);
        assert!(!HarnessError::from(CampaignError::from(same_words)).is_interruption());
    }
}
