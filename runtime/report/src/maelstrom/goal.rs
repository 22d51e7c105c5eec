//! Goals of a test: bounds of what was measured.
//!
//! ```text
//! msgs-per-op<30,median<400ms,max<600ms
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can have a goal: its word, its unit, and what it is.
pub const MAELSTROM_GOALS: [(&str, &str, &str); 6] = [
    ("msgs-per-op", "", "messages between servers for each operation"),
    ("median", "ms", "stable latency of half the elements, at most"),
    ("p95", "ms", "the same of 95 of 100"),
    ("p99", "ms", "the same of 99 of 100"),
    ("max", "ms", "the same of all"),
    ("ok-fraction", "", "share of the operations that succeeded"),
];

/// A bound.
#[derive(Clone, Debug, PartialEq)]
pub struct MaelstromGoal {
    /// As it was written.
    words: String,
    /// What is measured.
    name: &'static str,
    is_below: bool,
    bound: f64,
}

/// Whether a goal was met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GoalResult {
    /// The goal.
    pub goal: String,
    /// What was measured; absent when the test has no such number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// Whether it was met. What was not measured meets no goal.
    pub is_met: bool,
}

impl MaelstromGoal {
    /// Reads a goal.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn parse(words: &str) -> Result<MaelstromGoal, String> {
        let names = || MAELSTROM_GOALS.map(|(name, ..)| name).join(", ");
        let wrong = || format!("expected a goal such as msgs-per-op<30 or max<600ms, of {}; found `{words}`", names());
        let at = words.find(['<', '>']).ok_or_else(wrong)?;
        let (name, bound) = (words[..at].trim(), words[at + 1..].trim());
        let (name, unit, _) = *MAELSTROM_GOALS.iter().find(|(known, ..)| *known == name).ok_or_else(wrong)?;
        let (number, factor) = match bound.strip_suffix("ms") {
            Some(number) if unit == "ms" => (number, 1.0),
            None if unit == "ms" => (bound.strip_suffix('s').ok_or_else(wrong)?, 1_000.0),
            None => (bound, 1.0),
            Some(_) => return Err(wrong()),
        };
        let number: f64 = number.trim().parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(wrong)?;
        Ok(MaelstromGoal {
            words: words.trim().to_owned(),
            name,
            is_below: words.as_bytes()[at] == b'<',
            bound: number * factor,
        })
    }

    /// Whether it is met by what was measured under its name.
    #[must_use]
    pub fn judge(&self, measured: impl Fn(&str) -> Option<f64>) -> GoalResult {
        let measured = measured(self.name);
        let meets = |measured: f64| if self.is_below { measured < self.bound } else { measured > self.bound };
        GoalResult { goal: self.words.clone(), measured, is_met: measured.is_some_and(meets) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_met_or_not() {
        let measured = |name: &str| match name {
            "msgs-per-op" => Some(29.5),
            "median" => Some(120.0),
            _ => None,
        };
        let judge = |words: &str| MaelstromGoal::parse(words).map(|goal| goal.judge(measured).is_met);
        assert_eq!(judge("msgs-per-op<30"), Ok(true));
        assert_eq!(judge("msgs-per-op > 30"), Ok(false));
        assert_eq!(judge("median<400ms"), Ok(true));
        assert_eq!(judge("median<0.1s"), Ok(false));
        assert_eq!(judge("max<600ms"), Ok(false), "it was not measured");
        for wrong in ["msgs-per-op", "speed<3", "median<400", "msgs-per-op<30ms", "max<NaNms", "ok-fraction>1s"] {
            assert!(judge(wrong).is_err_and(|why| why.contains("expected a goal such as")), "{wrong}");
        }
    }
}
