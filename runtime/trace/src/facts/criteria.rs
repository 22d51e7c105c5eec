//! What a run did not meet of what its plan holds it to.
//!
//! Invariant: bounded; equal executions have equal reports.
//! Not here: the criteria (`plan::criteria`), the verdict on a run (`fozzy-check`).

use super::cut;

/// Bytes of each text that are kept of an unmet criterion.
pub const UNMET_TEXT_BYTES_MAX: usize = 2048;

/// Bytes of a line that is shown whole, and characters of a longer one that are shown before the first difference.
const LINE_BYTES_WHOLE: usize = 160;
const CONTEXT_CHARS: u64 = 40;

/// The criteria of a run, with what a verdict needs of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriteriaReport {
    /// The codes with which the target may exit; only 0 when it is empty.
    pub exit_codes: Vec<u32>,
    /// What it did not meet.
    pub unmet: Vec<UnmetCriterion>,
}

/// A criterion that a run did not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnmetCriterion {
    /// A machine has written what it must not.
    ForbiddenOutput {
        /// The pattern that matches.
        pattern: String,
        /// The machine; `main` is the target's.
        machine: String,
        /// `stdout` or `stderr`.
        stream: &'static str,
        /// The first line that it matches in part.
        line: String,
    },
    /// It is unknown whether a machine has written what it must not, which is no verdict on the run.
    UnjudgedOutput {
        /// The pattern that matches nothing of what could be judged.
        pattern: String,
        /// The machine; `main` is the target's.
        machine: String,
        /// `stdout` or `stderr`.
        stream: &'static str,
        /// Bytes that a match may have there.
        match_max: u64,
    },
    /// Standard output is not what was expected.
    OtherOutput {
        /// The first line that differs, from one on.
        line: u64,
        /// The first character in which it does, from one on.
        column: u64,
        /// That line as it was expected; `None` beyond the last one. Of a long one, what is around the difference.
        expected: Option<String>,
        /// That line as it was written.
        found: Option<String>,
    },
    /// The checker says that the run failed.
    Rejected {
        /// The code that it exited with.
        code: u32,
        /// What it wrote.
        words: String,
    },
    /// The checker came to no verdict: that is no verdict on the run.
    Unjudged {
        /// Why: in the words of a harness.
        why: String,
        /// What it wrote.
        words: String,
    },
}

impl UnmetCriterion {
    /// Text of a program, cut to the bound.
    #[must_use]
    pub fn text(bytes: &[u8]) -> String {
        let most = bytes.len().min(4 * UNMET_TEXT_BYTES_MAX);
        cut(&String::from_utf8_lossy(&bytes[..most]), UNMET_TEXT_BYTES_MAX)
    }

    /// The first line that differs from what was expected, both as they are around the first difference.
    #[must_use]
    pub fn other_line(line: u64, expected: Option<&[u8]>, found: Option<&[u8]>) -> UnmetCriterion {
        let (one, other) = (expected.unwrap_or_default(), found.unwrap_or_default());
        let mut at = one.iter().zip(other).take_while(|(one, other)| one == other).count();
        // Not within a character, which has three bytes more at the most.
        let is_within =
            |at: usize| [one, other].iter().any(|text| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80));
        let back = (0..=at.min(3)).find(|back| !is_within(at - back));
        at -= back.unwrap_or(0);
        let before = String::from_utf8_lossy(&one[..at]);
        let column = before.chars().count() as u64 + 1;
        let is_long = one.len().max(other.len()) > LINE_BYTES_WHOLE;
        let context: String = match is_long && column > CONTEXT_CHARS {
            true => format!("…{}", before.chars().skip((column - 1 - CONTEXT_CHARS) as usize).collect::<String>()),
            false => before.into_owned(),
        };
        let around =
            |text: &[u8]| cut(&format!("{context}{}", UnmetCriterion::text(&text[at..])), UNMET_TEXT_BYTES_MAX);
        UnmetCriterion::OtherOutput { line, column, expected: expected.map(around), found: found.map(around) }
    }
}
