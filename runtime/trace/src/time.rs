//! Virtual time: nanoseconds since the execution began, and nothing else.
//!
//! Invariant: arithmetic saturates; `Instant::NEVER` is later than every instant that can be reached,
//! so a deadline that overflows is no deadline.
//!
//! Not here: wall time. It exists only in reports (`fozzy-report`), outside everything that is hashed.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A moment of virtual time, in nanoseconds since the execution began.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(pub u64);

/// A span of virtual time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Duration(pub u64);

impl Instant {
    /// The beginning of the execution.
    pub const START: Instant = Instant(0);
    /// A moment that never comes (about 584 years after the start).
    pub const NEVER: Instant = Instant(u64::MAX);

    /// This moment, `span` later; saturates at [`Instant::NEVER`].
    #[must_use]
    pub const fn after(self, span: Duration) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }

    /// The time from `earlier` to this moment; zero when `earlier` is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// `n` milliseconds, saturating.
    #[must_use]
    pub const fn from_millis(n: u64) -> Duration {
        Duration(n.saturating_mul(1_000_000))
    }

    /// Whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Reads the notation of the command line: an integer followed by `ns`, `us`, `ms`, `s`, `m` or `h`.
    /// A fraction is allowed (`12.5s`), as it is what we print.
    ///
    /// # Errors
    /// A sentence that says what was expected and what was found.
    pub fn parse(text: &str) -> Result<Duration, String> {
        let refuse = || format!("expected a duration such as `250ms`, `10s`, `5m` or `2h`, found `{text}`");
        let digits = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(refuse)?;
        let (number, unit) = text.split_at(digits);
        let scale: u64 = match unit {
            "ns" => 1,
            "us" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return Err(refuse()),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || fraction.len() > 12 {
            return Err(refuse());
        }
        let too_long = || format!("`{text}` is longer than virtual time can be (about 584 years)");
        let whole: u64 = whole.parse().map_err(|_| too_long())?;
        let mut total = whole.checked_mul(scale).ok_or_else(too_long)?;
        if !fraction.is_empty() {
            let numerator: u128 = fraction.parse().map_err(|_| refuse())?;
            let part = numerator * u128::from(scale) / 10u128.pow(fraction.len() as u32);
            total = total.checked_add(part as u64).ok_or_else(too_long)?;
        }
        Ok(Duration(total))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scale, unit) = match self.0 {
            0 => return f.write_str("0s"),
            n if n >= 1_000_000_000 => (1_000_000_000, "s"),
            n if n >= 1_000_000 => (1_000_000, "ms"),
            n if n >= 1_000 => (1_000, "us"),
            _ => (1, "ns"),
        };
        let (whole, rest) = (self.0 / scale, self.0 % scale);
        if rest == 0 {
            return write!(f, "{whole}{unit}");
        }
        let width = scale.ilog10() as usize;
        let fraction = format!("{rest:0width$}");
        write!(f, "{whole}.{}{unit}", fraction.trim_end_matches('0'))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Instant::NEVER => f.write_str("never"),
            Instant(ns) => Duration(ns).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_they_are_printed() {
        for ns in [0, 1, 999, 1_000, 1_500, 12_500_000_000, 3_600_000_000_000, u64::MAX] {
            let text = Duration(ns).to_string();
            assert_eq!(Duration::parse(&text), Ok(Duration(ns)), "{text}");
        }
        assert_eq!(Duration::parse("2h"), Ok(Duration(7_200_000_000_000)));
    }

    #[test]
    fn a_wrong_duration_says_what_was_expected() {
        for text in ["", "5", "s", "-1s", "1 s", "1d", "99999999999999999999s", "1.2.3s", "9999999999h"] {
            let message = Duration::parse(text).expect_err(text);
            assert!(message.contains(text), "{message}");
        }
    }

    #[test]
    fn overflow_is_never() {
        assert_eq!(Instant(5).after(Duration(u64::MAX)), Instant::NEVER);
        assert_eq!(Instant::NEVER.to_string(), "never");
        assert_eq!(Instant(5).since(Instant(9)), Duration(0));
    }
}
