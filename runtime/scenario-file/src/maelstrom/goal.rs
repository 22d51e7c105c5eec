//! Goals of a test: bounds of what is measured.
//!
//! ```text
//! msgs-per-op<30,median<400ms,max<600ms
//! ```
//!
//! Not here: measuring, which the driver and the checker `set-full` do.

/// What can have a goal: its word, its unit, and what it is. Those with a unit are stable latencies.
const GOALS: [(&str, &str, &str); 6] = [
    (MaelstromGoal::MESSAGES, "", "messages between servers for each operation"),
    ("median", "ms", "stable latency of half the elements, at most"),
    ("p95", "ms", "the same of 95 of 100"),
    ("p99", "ms", "the same of 99 of 100"),
    ("max", "ms", "the same of all"),
    (MaelstromGoal::SUCCEEDED, "", "share of the operations that succeeded"),
];

/// A bound.
#[derive(Clone, Debug, PartialEq)]
pub struct MaelstromGoal {
    /// As it was written.
    pub words: String,
    /// What is measured.
    pub name: &'static str,
    unit: &'static str,
    is_below: bool,
    bound: f64,
}

impl MaelstromGoal {
    /// The name of the number of messages between servers for each operation.
    pub const MESSAGES: &'static str = "msgs-per-op";
    /// The name of the share of operations that succeeded.
    pub const SUCCEEDED: &'static str = "ok-fraction";

    /// Reads a goal.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn parse(words: &str) -> Result<MaelstromGoal, String> {
        let names = || GOALS.map(|(name, ..)| name).join(", ");
        let wrong = || {
            format!(
                "expected a goal such as msgs-per-op<30, ok-fraction>0.9 or max<600ms: < or >, and milliseconds (ms) or seconds (s) for latencies; \
                 of {}; found `{words}`",
                names()
            )
        };
        let at = words.find(['<', '>']).ok_or_else(wrong)?;
        let (name, bound) = (words[..at].trim(), words[at + 1..].trim());
        let (name, unit, _) = *GOALS.iter().find(|(known, ..)| *known == name).ok_or_else(wrong)?;
        let (number, factor) = match bound.strip_suffix("ms") {
            Some(number) if unit == "ms" => (number, 1.0),
            None if unit == "ms" => (bound.strip_suffix('s').ok_or_else(wrong)?, 1_000.0),
            None => (bound, 1.0),
            Some(_) => return Err(wrong()),
        };
        let number: f64 = number.trim().parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(wrong)?;
        let is_below = words.as_bytes()[at] == b'<';
        let goal = MaelstromGoal { words: words.trim().to_owned(), name, unit, is_below, bound: number * factor };
        // All that is measured is 0 or more, and a share at most 1.
        let is_open = if is_below { goal.bound > 0.0 } else { name != MaelstromGoal::SUCCEEDED || goal.bound < 1.0 };
        if is_open { Ok(goal) } else { Err(format!("nothing meets the goal `{}`", goal.words)) }
    }

    /// Whether a number meets it.
    #[must_use]
    pub fn is_met(&self, measured: f64) -> bool {
        if self.is_below { measured < self.bound } else { measured > self.bound }
    }

    /// As a bound of the checker `set-full`, if it is one of a stable latency: `max<600ms`.
    #[must_use]
    pub fn latency_bound(&self) -> Option<String> {
        let relation = if self.is_below { '<' } else { '>' };
        (self.unit == "ms").then(|| format!("{}{relation}{}ms", self.name, self.bound))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_met_or_not() {
        let judge = |words: &str, measured: f64| MaelstromGoal::parse(words).map(|goal| goal.is_met(measured));
        assert_eq!(judge("msgs-per-op<30", 29.5), Ok(true));
        assert_eq!(judge("msgs-per-op > 30", 29.5), Ok(false));
        assert_eq!(judge("median<400ms", 120.0), Ok(true));
        assert_eq!(judge("median<0.1s", 120.0), Ok(false));
        let bound = |words: &str| MaelstromGoal::parse(words).map(|goal| goal.latency_bound());
        assert_eq!(bound("max < 0.6s"), Ok(Some("max<600ms".to_owned())));
        assert_eq!(bound("ok-fraction>0.5"), Ok(None));
        for never in ["median<0ms", "max<-4ms", "ok-fraction>1", "ok-fraction<0"] {
            assert_eq!(judge(never, 1.0), Err(format!("nothing meets the goal `{never}`")));
        }
        for wrong in ["msgs-per-op", "speed<3", "median<400", "msgs-per-op<30ms", "max<NaNms", "ok-fraction>1s"] {
            assert!(judge(wrong, 1.0).is_err_and(|why| why.contains("expected a goal such as")), "{wrong}");
        }
    }
}
