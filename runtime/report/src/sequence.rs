//! The steps of a run, as they are told to people: what each did with which values, what struck it, and what it came to.
//!
//! ```text
//!     1  put(key=1, ttl=None)
//!     2  advance(1s)
//!          fault: io-error on /data/log
//!   ✗ 3  get(key=1) -> None
//! ```
//!
//! Invariants: steps are numbered from 1, among those that were run; a line fits the width.

use crate::pretty::{Style, counted, fit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps that are shown to people; the document has more.
const STEPS_SHOWN: usize = 30;
/// Lines that are shown beneath one step.
const EVENTS_SHOWN: usize = 8;
/// Characters of one value that are shown to people.
const VALUE_SHOWN: usize = 60;

/// The sequence of steps that ended with a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepSequence {
    /// Which of the run's sequences it is, from 1.
    pub number: u64,
    /// Steps before those that are listed.
    #[serde(default, skip_serializing_if = "crate::pretty::is_zero")]
    pub omitted: u64,
    /// Its steps, in order.
    pub steps: Vec<ExecutedStep>,
}

/// One step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutedStep {
    /// Its number among those that were run, from 1.
    pub number: u64,
    /// Where it stands in the scenario file: `steps[6]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its flow, property or kind.
    pub flow: String,
    /// Its values, in the order in which they were drawn or stand in the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<StepValue>,
    /// What it came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why it found nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// What happened in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<StepEvent>,
    /// Whether the run ended in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// A value of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepValue {
    /// The name of the argument or of the draw; absent when it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The value, as its language writes it.
    pub value: String,
}

/// Something that happened in a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepEvent {
    /// `fault`, `call` of the target, `operation` of a client, or `event`.
    pub kind: String,
    /// What.
    pub text: String,
    /// How often, when it happened several times in a row.
    #[serde(default, skip_serializing_if = "crate::pretty::is_zero")]
    pub times: u64,
    /// Virtual time, in nanoseconds.
    pub virtual_time_ns: u64,
}

impl ExecutedStep {
    /// `get(key=1) -> None`, each value cut to that many characters.
    pub(crate) fn call(&self, characters: usize) -> String {
        let value = |value: &StepValue| {
            let text = cut(&printable(&value.value), characters);
            if value.name.is_empty() { text } else { format!("{}={text}", printable(&value.name)) }
        };
        let values: Vec<String> = self.values.iter().map(value).collect();
        let place = self.place.iter().map(|place| format!("{place} ")).collect::<String>();
        let mut text = format!("{place}{}({})", printable(&self.flow), values.join(", "));
        if let Some(result) = &self.result {
            text.push_str(&format!(" -> {}", cut(&printable(result), characters)));
        }
        if let Some(why) = &self.skipped {
            text.push_str(&format!("  skipped: {}", printable(why)));
        }
        text
    }
}

/// All steps that are known of a sequence, as lines.
#[must_use]
pub fn step_lines(sequence: &StepSequence, style: Style) -> String {
    lines_of(sequence, style, usize::MAX).iter().map(|line| format!("{line}\n")).collect()
}

/// The lines of the last steps of a sequence, without what stands before each of them.
pub(crate) fn sequence_lines(sequence: &StepSequence, style: Style) -> Vec<String> {
    lines_of(sequence, style, STEPS_SHOWN)
}

fn lines_of(sequence: &StepSequence, style: Style, shown: usize) -> Vec<String> {
    let Style { bad, faint, end, .. } = style;
    let hidden = sequence.steps.len().saturating_sub(shown);
    let before = sequence.omitted + hidden as u64;
    let mut lines = Vec::new();
    if before > 0 {
        lines.push(format!("{faint}… {} before{end}", counted(before, "step")));
    }
    let digits = sequence.steps.last().map_or(1, |step| step.number.to_string().len());
    for step in &sequence.steps[hidden..] {
        let (mark, colour) = if step.failed { ("✗", bad) } else { (" ", "") };
        let room = style.room(MARGIN + digits + 4);
        let text = fit(&step.call(VALUE_SHOWN), room);
        let end = if step.failed { end } else { "" };
        lines.push(format!("{colour}{mark} {:>digits$}  {text}{end}", step.number));
        for event in step.events.iter().take(EVENTS_SHOWN) {
            let times = if event.times > 1 { format!(" ({} times)", event.times) } else { String::new() };
            let text = format!("{}: {}{times}", event.kind, printable(&event.text));
            let text = fit(&text, style.room(MARGIN + digits + 6));
            let (colour, end) = if event.kind == "fault" { (bad, style.end) } else { (faint, style.end) };
            lines.push(format!("  {:>digits$}    {colour}{text}{end}", ""));
        }
        if step.events.len() > EVENTS_SHOWN {
            let more = step.events.len() - EVENTS_SHOWN;
            lines.push(format!("  {:>digits$}    {faint}… {more} more{}", "", style.end));
        }
    }
    lines
}

/// Characters that stand before each line of a sequence: the name of the row.
const MARGIN: usize = 12;

/// A program's own words in one line that does nothing to a terminal.
fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: u64, flow: &str, values: &[(&str, &str)]) -> ExecutedStep {
        let value = |(name, value): &(&str, &str)| StepValue { name: (*name).to_owned(), value: (*value).to_owned() };
        let values = values.iter().map(value).collect();
        ExecutedStep { number, flow: flow.to_owned(), values, ..ExecutedStep::default() }
    }

    #[test]
    fn a_sequence_reads_as_calls_with_faults_between() {
        let fault = |times| StepEvent {
            kind: "fault".to_owned(),
            text: "io-error on /data/log".to_owned(),
            times,
            virtual_time_ns: 7,
        };
        let steps = vec![
            step(1, "put", &[("key", "1"), ("ttl", "None")]),
            ExecutedStep { events: vec![fault(0), fault(3)], ..step(2, "advance", &[("", "1s")]) },
            ExecutedStep { skipped: Some("no key".to_owned()), ..step(3, "remove", &[]) },
            ExecutedStep { result: Some("None".to_owned()), failed: true, ..step(4, "get", &[("key", "1")]) },
        ];
        let sequence = StepSequence { number: 1, omitted: 0, steps };
        let expected = [
            "  1  put(key=1, ttl=None)",
            "  2  advance(1s)",
            "       fault: io-error on /data/log",
            "       fault: io-error on /data/log (3 times)",
            "  3  remove()  skipped: no key",
            "✗ 4  get(key=1) -> None",
        ];
        assert_eq!(sequence_lines(&sequence, Style::PLAIN), expected);
    }

    #[test]
    fn long_sequences_and_values_are_cut_and_said_so() {
        let long = "x".repeat(200);
        let mut steps: Vec<ExecutedStep> = (1..=100).map(|number| step(number, "put", &[("value", &long)])).collect();
        steps[99].values[0].value = "a\u{1b}[2J".to_owned();
        let lines = sequence_lines(&StepSequence { number: 1, omitted: 5, steps }, Style { width: 60, ..Style::PLAIN });
        assert_eq!(lines[0], "… 75 steps before");
        assert!(lines[1..].iter().all(|line| line.chars().count() + MARGIN <= 60), "{lines:?}");
        assert!(lines.last().is_some_and(|line| line.ends_with("put(value=a\\u{1b}[2J)")), "{lines:?}");
    }
}
