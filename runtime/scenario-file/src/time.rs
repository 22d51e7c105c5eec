//! Spans of time as scenarios write them: a whole number and `ms`, `s`, `m` or `h`.

use serde::de::{Deserialize, Deserializer, Error};
use std::time::Duration;

/// A span of virtual time: `"250ms"`, `"2s"`, `"5m"`, `"1h"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String", extend("pattern" = "^[0-9]+(ms|s|m|h)$")))]
pub struct StepDuration(pub Duration);

impl StepDuration {
    /// Reads one.
    #[must_use]
    pub fn parse(text: &str) -> Option<StepDuration> {
        let unit = text.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = text[..unit].parse().ok()?;
        let times = match &text[unit..] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        // Virtual time is counted in nanoseconds.
        let ms = number.checked_mul(times).filter(|ms| *ms <= u64::MAX / 1_000_000)?;
        Some(StepDuration(Duration::from_millis(ms)))
    }
}

/// By this name the reader knows a span.
pub(crate) const SPAN: &str = "SpanText";

#[derive(serde::Deserialize)]
struct SpanText(String);

impl<'de> Deserialize<'de> for StepDuration {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<StepDuration, D::Error> {
        let text = SpanText::deserialize(from)?.0;
        StepDuration::parse(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "expected a span of time, a whole number with `ms`, `s`, `m` or `h` such as \"250ms\", found {}",
                crate::read::quoted(&text)
            ))
        })
    }
}
