//! Names of keys, files and variables, with the parts that a file leaves open.
//!
//! ```text
//! "deposit/${i}"    begins with `deposit/`, ends with anything
//! ```

use crate::template::{TemplatePiece, pieces};

/// A name with parts that may be unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NamePattern {
    begin: String,
    /// What it ends with, if something unknown stands between; `None` for a name that is known.
    end: Option<String>,
}

impl NamePattern {
    /// A name that is known.
    pub(super) fn known(name: &str) -> NamePattern {
        NamePattern { begin: name.to_owned(), end: None }
    }

    /// Any name.
    pub(super) fn any() -> NamePattern {
        NamePattern { begin: String::new(), end: Some(String::new()) }
    }

    /// A name with variables in it.
    pub(super) fn of_template(text: &str) -> NamePattern {
        let Ok(pieces) = pieces(text) else { return NamePattern::any() };
        let plain = |piece: Option<&TemplatePiece>| match piece {
            Some(TemplatePiece::Text(text)) => text.clone(),
            _ => String::new(),
        };
        match &pieces[..] {
            [TemplatePiece::Text(text)] => NamePattern::known(text),
            pieces => NamePattern { begin: plain(pieces.first()), end: Some(plain(pieces.last())) },
        }
    }

    /// Whether both may be the same name.
    pub(super) fn may_be(&self, other: &NamePattern) -> bool {
        match (&self.end, &other.end) {
            (None, None) => self.begin == other.begin,
            (None, Some(_)) => other.may_be(self),
            (Some(end), None) => {
                let name = &other.begin;
                name.len() >= self.begin.len() + end.len()
                    && name.starts_with(&self.begin)
                    && name.ends_with(end.as_str())
            }
            (Some(end), Some(other_end)) => {
                let begins = self.begin.starts_with(&other.begin) || other.begin.starts_with(&self.begin);
                begins && (end.ends_with(other_end.as_str()) || other_end.ends_with(end.as_str()))
            }
        }
    }

    /// Whether both are the same name for sure.
    pub(super) fn is(&self, other: &NamePattern) -> bool {
        self.end.is_none() && self == other
    }
}
