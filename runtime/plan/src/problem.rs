//! What is wrong with a plan file, and where.
//!
//! Example: ``plan.toml:2:1: `network.latensy`: unknown key; did you mean `latency`?``
//!
//! Invariant: problems stand in the order of the file.

use std::fmt;
use std::path::PathBuf;

/// Most problems that are reported of one plan. A file of another kind would give thousands; beyond it the last
/// problem says that there are more.
pub const PROBLEMS_MAX: usize = 100;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the text; `None` when it is in no one place of it, or the plan was merged from several files;
    /// [`validate_deep`](crate::validate_deep) of one of these says the place there.
    pub place: Option<TextPosition>,
    /// The key in question, such as `http[0].status`, counted from zero; empty for the whole file.
    pub key: String,
    /// What was expected, what was found, and often what to write.
    pub message: String,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

impl TextPosition {
    /// The place of a byte offset. An offset within a character is that character.
    pub(crate) fn of(text: &str, offset: usize) -> TextPosition {
        let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX - 1) + 1;
        TextPosition {
            line: count(before.bytes().filter(|byte| *byte == b'\n').count()),
            column: count(before[line_start..].chars().count()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(TextPosition { line, column }) = self.place {
            write!(f, "{line}:{column}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// A plan that cannot be used; every problem that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// The file; `None` for a plan that was merged from several.
    pub path: Option<PathBuf>,
    /// At least one.
    pub problems: Vec<Problem>,
}

impl std::error::Error for PlanError {}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            match (&self.path, problem.place) {
                (Some(path), Some(_)) => write!(f, "{}:{problem}", path.display())?,
                (Some(path), None) => write!(f, "{}: {problem}", path.display())?,
                (None, _) => write!(f, "{problem}")?,
            }
        }
        Ok(())
    }
}

/// A step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DocumentStep {
    Key(String),
    Index(usize),
}

impl From<&str> for DocumentStep {
    fn from(key: &str) -> DocumentStep {
        DocumentStep::Key(key.to_owned())
    }
}

impl From<usize> for DocumentStep {
    fn from(index: usize) -> DocumentStep {
        DocumentStep::Index(index)
    }
}

/// Longest piece of a user's text that a message repeats, in characters.
const QUOTED_CHARS_MAX: usize = 80;

/// A piece of the user's text for a message: not too long, without line ends and other control characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(QUOTED_CHARS_MAX) {
        match c {
            // As it was given: a regular expression is full of them.
            '\\' | '"' | '\'' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// `http[0].response-headers."x y"`.
pub(crate) fn render(path: &[DocumentStep]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            DocumentStep::Index(index) => text.push_str(&format!("[{index}]")),
            DocumentStep::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                match !key.is_empty() && key.chars().all(bare) && key.len() <= QUOTED_CHARS_MAX {
                    true => text.push_str(key),
                    false => text.push_str(&quoted(key).replace('`', "\"")),
                }
            }
        }
    }
    text
}

/// Problems while they are found.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    /// Where the value is from which paths are counted.
    within: Vec<DocumentStep>,
    found: Vec<(Vec<DocumentStep>, String)>,
    more: bool,
}

impl Problems {
    /// No problems yet; paths are counted from the value at `within`.
    pub(crate) fn within(within: &[DocumentStep]) -> Problems {
        Problems { within: within.to_vec(), ..Problems::default() }
    }

    pub(crate) fn add(&mut self, path: &[DocumentStep], message: impl Into<String>) {
        match self.found.len() < PROBLEMS_MAX {
            true => self.found.push((self.within.iter().chain(path).cloned().collect(), message.into())),
            false => self.more = true,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether the value at this path was found wrong, and is therefore not in the file that is looked at next.
    pub(crate) fn is_wrong(&self, path: &[DocumentStep]) -> bool {
        self.found.iter().any(|(wrong, _)| wrong.iter().eq(self.within.iter().chain(path)))
    }

    /// Adds those of `later` that are not mere consequences of ours: what is wrong with a table is not said when
    /// something in the table was wrong already.
    pub(crate) fn extend_independent(&mut self, later: Problems) {
        let ours = self.found.len();
        for (path, message) in later.found {
            let consequence = self.found[..ours].iter().any(|(wrong, _)| wrong.starts_with(&path));
            if !consequence && self.found.len() < PROBLEMS_MAX {
                self.found.push((path, message));
            } else {
                self.more |= !consequence;
            }
        }
        self.more |= later.more;
    }

    /// The problems in the order of the text, with their places as `locate` finds them.
    pub(crate) fn finish(self, locate: impl Fn(&[DocumentStep]) -> Option<TextPosition>) -> Vec<Problem> {
        let place = |(path, message): (Vec<DocumentStep>, String)| Problem {
            place: locate(&path),
            key: render(&path),
            message,
        };
        let mut problems: Vec<Problem> = self.found.into_iter().map(place).collect();
        problems.sort_by_key(|problem| problem.place);
        if self.more {
            let message = format!("there are more than {PROBLEMS_MAX} problems; the others are not shown");
            problems.push(Problem { place: None, key: String::new(), message });
        }
        problems
    }
}
