//! When parts of standard input came, where a search varied that.
//!
//! ```text
//! input     main: "a\n" at 1ms
//! input     main: "b\n" at 22.8ms, planned for 2ms
//! ```

use fozzy_trace::facts::VariedInput;
use fozzy_trace::{Duration, Facts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parts that are shown to people.
const SHOWN: usize = 8;

/// When a part of standard input came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InputArrival {
    /// The machine.
    pub machine: String,
    /// What came, its first bytes as text.
    pub text: String,
    /// Virtual time at which it came, in nanoseconds.
    pub virtual_time_ns: u64,
    /// Virtual time at which it comes where nothing varies it, in nanoseconds.
    pub planned_ns: u64,
}

impl InputArrival {
    pub(crate) fn all(facts: &Facts) -> Vec<InputArrival> {
        facts.varied_input.iter().map(InputArrival::of).collect()
    }

    fn of(input: &VariedInput) -> InputArrival {
        InputArrival {
            machine: input.node.clone(),
            text: String::from_utf8_lossy(&input.bytes).into_owned(),
            virtual_time_ns: input.at.0,
            planned_ns: input.planned.0,
        }
    }

    fn line(&self) -> String {
        let InputArrival { machine, text, virtual_time_ns: at, planned_ns } = self;
        let came = format!("{}: \"{}\" at {}", machine.escape_debug(), text.escape_debug(), Duration(*at));
        if at == planned_ns { came } else { format!("{came}, planned for {}", Duration(*planned_ns)) }
    }
}

/// The lines of them for people.
pub(crate) fn input_lines(moments: &[InputArrival]) -> Vec<String> {
    let more = moments.len().saturating_sub(SHOWN);
    let shown = moments.iter().take(SHOWN).map(InputArrival::line);
    shown.chain((more > 0).then(|| format!("… {more} more"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Instant;

    #[test]
    fn what_came_later_than_planned_says_so() {
        let part = |bytes: &[u8], planned, at| VariedInput {
            node: "main".to_owned(),
            bytes: bytes.to_vec(),
            planned: Instant(planned),
            at: Instant(at),
        };
        let varied_input = vec![part(b"a\n", 1_000_000, 1_000_000), part(b"b\x1b", 2_000_000, 22_800_000)];
        let moments = InputArrival::all(&Facts { varied_input, ..Facts::default() });
        let lines = ["main: \"a\\n\" at 1ms", "main: \"b\\u{1b}\" at 22.8ms, planned for 2ms"];
        assert_eq!(input_lines(&moments), lines);
        assert_eq!(input_lines(&vec![moments[0].clone(); 10]).last().map(String::as_str), Some("… 2 more"));
    }
}
