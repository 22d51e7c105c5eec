//! The history, one line a call.
//!
//! ```text
//!    3      2us main ? wasi:random/insecure-seed.insecure-seed() -> 8123…, 991…
//!    4      2us main   wasi:io/streams.output-stream.write(1, "hi\n" (3 bytes)) -> ok
//!    5      2us main ! write-error on /data/log
//! ```
//!
//! A question mark marks a decision; everything else followed from the state of the computer. An exclamation mark is a fault that
//! strikes the call whose number stands there.

use crate::document::DivergenceDocument;
use crate::pretty::Style;
use fozzy_trace::{Aside, Duration, HistoryEntry, NodeId, Plan};
use std::borrow::Cow;

/// The names of the machines of a run, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct MachineNames(Vec<String>);

impl MachineNames {
    /// The machines of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> MachineNames {
        MachineNames::after_main(plan.nodes.iter().map(|node| node.name.clone()))
    }

    /// The main machine, and these.
    pub(crate) fn after_main(others: impl IntoIterator<Item = String>) -> MachineNames {
        MachineNames(others.into_iter().collect())
    }

    /// All of them, in the order of their numbers.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        std::iter::once(MAIN.to_owned()).chain(self.0.iter().cloned()).collect()
    }

    /// The machines by the list of a document: all of them, or none where there is the main one alone.
    pub(crate) fn listed(all: &[String]) -> MachineNames {
        MachineNames::after_main(all.iter().skip(1).cloned())
    }

    /// That list.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        if self.0.is_empty() { Vec::new() } else { self.all() }
    }

    /// The name of a machine; of one that was started during the run, its number.
    #[must_use]
    pub fn name(&self, node: NodeId) -> String {
        match node.0 {
            0 => MAIN.to_owned(),
            number => self.0.get(number as usize - 1).cloned().unwrap_or_else(|| node.to_string()),
        }
    }

    /// Characters of the longest one that is no longer than others commonly are.
    fn width(&self) -> usize {
        self.0.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(MAIN.len(), NAME_WIDTH_MAX)
    }
}

/// The name of the machine that runs the target.
const MAIN: &str = "main";
/// Column of names; longer ones push their own line aside.
const NAME_WIDTH_MAX: usize = 12;

/// One call, or a strike of a fault, in one line.
#[must_use]
pub fn entry_line(entry: &HistoryEntry, names: &MachineNames) -> String {
    let at = entry.at.to_string();
    let (name, width) = (names.name(entry.node), names.width());
    let start = format!("{:>8} {at:>14} {name:<width$}", entry.index);
    if Aside::of(entry) == Some(Aside::Fault) {
        let how = if entry.answer.is_empty() { String::new() } else { format!(" ({})", entry.answer) };
        return format!("{start} ! {}{how}", entry.asked);
    }
    let mark = if entry.decision { '?' } else { ' ' };
    let call = entry.call.strip_prefix("wasi:").unwrap_or(&entry.call);
    let mut line = format!("{start} {mark} {call}({})", in_singular(&entry.asked));
    if !entry.answer.is_empty() {
        line.push_str(" -> ");
        line.push_str(&in_singular(&answer_words(&entry.answer)));
    }
    line
}

/// Traces have `(1 bytes)` behind a value of one byte. What stands between quotes is the program's own.
fn in_singular(recorded: &str) -> String {
    let (mut text, mut rest, mut is_quoted) = (String::new(), recorded, false);
    while let Some(at) = rest.find(['"', '\\', '(']) {
        let end = match rest.as_bytes()[at] {
            b'\\' => rest[at + 1..].chars().next().map_or(at + 1, |escaped| at + 1 + escaped.len_utf8()),
            _ => at + 1,
        };
        text.push_str(&rest[..end]);
        is_quoted ^= rest.as_bytes()[at] == b'"';
        rest = &rest[end..];
        if let (false, Some(behind)) = (is_quoted || !text.ends_with('('), rest.strip_prefix("1 bytes)")) {
            text.push_str("1 byte)");
            rest = behind;
        }
    }
    text + rest
}

/// An answer as it is shown: of an error, its name and the first line of its message. Documents have the whole answer.
fn answer_words(answer: &str) -> Cow<'_, str> {
    let part = |begin: &str, rest: &'_ str| rest.find(begin).map(|at| at + begin.len());
    let named = || {
        let rest = answer.strip_prefix("error ErrorCode {")?;
        let rest = &rest[part("name: \"", rest)?..];
        let (name, rest) = rest.split_once('"')?;
        let said = rest[part("message: \"", rest)?..].split(['"', '\\', '\n']).next()?;
        Some(Cow::Owned(format!("error {name} ({})", said.trim_end_matches('.'))))
    };
    named().unwrap_or(Cow::Borrowed(answer))
}

/// The same in as many lines as the terminal needs, each with its end.
#[must_use]
pub fn entry_lines(entry: &HistoryEntry, names: &MachineNames, style: Style) -> String {
    folded(&entry_line(entry, names), style)
}

/// What the lines that continue another one begin with.
const CONTINUED: &str = "            ";

/// A line in as many as fit the terminal, cut between words where there are some. Each with its end.
pub(crate) fn folded(line: &str, style: Style) -> String {
    let (mut text, mut rest, mut start) = (String::new(), line, "");
    loop {
        let room = style.room(start.len());
        let Some((end, _)) = rest.char_indices().nth(room) else {
            return format!("{text}{start}{rest}\n");
        };
        // A word that fills most of a line is cut as it is.
        let cut = rest[..end].rfind(' ').filter(|at| *at > end / 2).map_or(end, |at| at + 1);
        text.push_str(&format!("{start}{}\n", rest[..cut].trim_end()));
        (rest, start) = (&rest[cut..], CONTINUED);
    }
}

/// A text of several lines, each in as many as fit the terminal.
#[must_use]
pub fn folded_lines(text: &str, style: Style) -> String {
    text.lines().map(|line| folded(line, style)).collect()
}

/// A divergence, recorded and asked under each other.
#[must_use]
pub fn divergence_lines(divergence: &DivergenceDocument) -> String {
    let names = MachineNames::listed(&divergence.machines);
    let side = |entry: &Option<HistoryEntry>, ended: &str| {
        entry.as_ref().map_or_else(|| ended.to_owned(), |entry| entry_line(entry, &names))
    };
    format!(
        "first divergence at call {}, virtual time {}\n  recorded {}\n  asked    {}\n",
        divergence.index,
        Duration(divergence.virtual_time_ns),
        side(&divergence.recorded, "nothing: the recording had ended"),
        side(&divergence.asked, "nothing: the program had ended"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Instant;

    fn entry(node: u64, asked: &str) -> HistoryEntry {
        let call = "wasi:io/streams.output-stream.write".to_owned();
        let (asked, answer) = (asked.to_owned(), "ok".to_owned());
        HistoryEntry { index: 4, at: Instant(2000), node: NodeId(node as u32), call, asked, answer, decision: false }
    }

    #[test]
    fn lines_fit_the_terminal_and_lose_nothing() {
        let names = MachineNames::default();
        for asked in ["1, \"hi\"".to_owned(), "1, some words ".repeat(20), "x".repeat(300), "ü".repeat(300)] {
            let entry = entry(0, &asked);
            let (one, several) = (entry_line(&entry, &names), entry_lines(&entry, &names, Style::PLAIN.on(80, "")));
            assert_eq!(entry_lines(&entry, &names, Style::PLAIN), format!("{one}\n"), "no terminal, no bound");
            assert!(several.lines().all(|line| line.chars().count() <= 80), "{several}");
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&one), letters(&several));
        }
    }

    #[test]
    fn an_error_is_its_name_and_the_first_line_of_its_words() {
        let long = "error ErrorCode { code: 8, name: \"would-block\", message: \"It could not be completed.\\n        \\n  Note: x\" }";
        assert_eq!(answer_words(long), "error would-block (It could not be completed)");
        for other in ["ok", "error ErrorCode {", "error ErrorCode { name: \"a", "error timeout"] {
            assert_eq!(answer_words(other), other);
        }
    }

    #[test]
    fn one_byte_is_one_byte() {
        for (recorded, shown) in [
            ("1, \"x\" (1 bytes)", "1, \"x\" (1 byte)"),
            ("00 (1 bytes), \"\\\"\" (1 bytes)", "00 (1 byte), \"\\\"\" (1 byte)"),
            ("\"(1 bytes)\" (9 bytes)", "\"(1 bytes)\" (9 bytes)"),
            ("\"\\\" (1 bytes)\" (11 bytes)", "\"\\\" (1 bytes)\" (11 bytes)"),
            ("(11 bytes) (", "(11 bytes) ("),
        ] {
            assert_eq!(in_singular(recorded), shown);
        }
    }

    #[test]
    fn a_divergence_names_its_machines() {
        let names = MachineNames::after_main(["server".to_owned()]);
        let divergence = DivergenceDocument {
            index: 4,
            virtual_time_ns: 2000,
            machines: names.list(),
            recorded: Some(entry(1, "1")),
            asked: None,
        };
        assert!(divergence_lines(&divergence).contains(" server "), "{}", divergence_lines(&divergence));
        assert!(MachineNames::default().list().is_empty(), "of one machine, nothing is said");
    }

    #[test]
    fn a_text_is_folded_line_by_line() {
        let text = format!(
            "still there  shrunk    assertion at {}  .fozzy/seeds/app/seed-5e1f.fozzy\nshort\n",
            "x ".repeat(40)
        );
        let folded = folded_lines(&text, Style::PLAIN.on(80, ""));
        assert!(folded.lines().all(|line| line.chars().count() <= 80), "{folded}");
        assert!(folded.ends_with("\nshort\n"), "{folded}");
        assert_eq!(folded_lines(&text, Style::PLAIN), text, "no terminal, no bound");
    }
}
