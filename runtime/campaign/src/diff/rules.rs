//! In what two executions differ, apart from what is declared.
//!
//! ```text
//! ends, streams by lines, properties  ─masks─▶ first difference of each
//! ```
//!
//! Invariants: executions are compared whole, also beyond the output that is kept; where both were cut by their budget of instructions, which
//! another program uses up elsewhere, what one of them has not come to is no difference.
//! Not here: calls, which are located by executing again (`diff`).

use crate::error::{CampaignError, ErrorKind};
use fozzy_check::judge;
use fozzy_report::diff::{AspectDifference, RunAspect};
use fozzy_search::end_words;
use fozzy_trace::plan::criteria::{PATTERN_BYTES_MAX, PATTERNS_MAX};
use fozzy_trace::{Execution, ExecutionEnd, HistoryEntry, NodeExecution, StreamOutput};
use fozzy_world::channel::output_regex;
use regex_lite::Regex;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Characters of a text that are shown, from some before the difference on.
const SHOWN_CHARS_MAX: usize = 400;
/// Characters before the difference.
const BEFORE_CHARS: usize = 40;
/// What stands in the place of a masked text.
const MASKED: &str = "…";

/// What two runs may differ in.
#[derive(Clone, Debug, Default)]
pub struct DiffRules {
    /// What is not compared.
    pub ignored: Vec<RunAspect>,
    /// Texts that are equal to each other.
    masks: Vec<Regex>,
}

impl DiffRules {
    /// Of aspects that are not compared, and of patterns of texts that are equal to each other.
    ///
    /// # Errors
    /// When a pattern is none, or there are too many.
    pub fn new(ignored: &[RunAspect], masks: &[String]) -> Result<DiffRules, CampaignError> {
        let refused = |why: String| CampaignError::new(ErrorKind::Usage, format!("--mask: {why}"));
        if masks.len() > PATTERNS_MAX {
            return Err(refused(format!("expected {PATTERNS_MAX} patterns at the most, found {}", masks.len())));
        }
        let compiled = |mask: &String| match mask.len() {
            0..=PATTERN_BYTES_MAX => output_regex(mask).map_err(|why| refused(format!("`{mask}`: {why}"))),
            more => Err(refused(format!("expected {PATTERN_BYTES_MAX} bytes at the most, found {more}"))),
        };
        let masks = masks.iter().map(compiled).collect::<Result<_, _>>()?;
        let mut ignored = ignored.to_vec();
        ignored.sort_unstable();
        ignored.dedup();
        Ok(DiffRules { ignored, masks })
    }

    /// Whether something is compared.
    pub fn counts(&self, what: RunAspect) -> bool {
        !self.ignored.contains(&what)
    }

    /// Whether texts are changed before they are compared.
    pub fn has_masks(&self) -> bool {
        !self.masks.is_empty()
    }

    /// The patterns, as they were given.
    pub fn masks(&self) -> Vec<String> {
        self.masks.iter().map(|mask| mask.as_str().to_owned()).collect()
    }

    /// A text with what is masked left out.
    fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mask = |text: Cow<'a, str>, mask: &Regex| match mask.replace_all(&text, MASKED) {
            Cow::Borrowed(_) => text,
            Cow::Owned(changed) => Cow::Owned(changed),
        };
        self.masks.iter().fold(Cow::Borrowed(text), mask)
    }

    /// Whether two calls are equal.
    pub fn same_call(&self, old: &HistoryEntry, new: &HistoryEntry) -> bool {
        let rest = |entry: &HistoryEntry| (entry.index, entry.at, entry.node, entry.decision);
        let is_same = (&old.asked, &old.answer) == (&new.asked, &new.answer);
        rest(old) == rest(new)
            && old.call == new.call
            && (is_same || self.has_masks() && self.masked_call(old) == self.masked_call(new))
    }

    /// What a call asks and is answered, with what is masked left out, and with it the sizes of these texts: a match of another length makes
    /// others.
    fn masked_call(&self, entry: &HistoryEntry) -> (String, String) {
        let asked = self.masked(&entry.asked);
        // A write is answered with how much it has written.
        let written = match asked {
            Cow::Owned(_) => Some(sizes_and_rest(&entry.asked).0.to_string()),
            Cow::Borrowed(_) => None,
        };
        let of = |text: Cow<'_, str>| match text {
            Cow::Owned(text) => sizes_and_rest(&text).1,
            Cow::Borrowed(text) => text.to_owned(),
        };
        let answer =
            if written.as_deref() == Some(&*entry.answer) { MASKED.to_owned() } else { of(self.masked(&entry.answer)) };
        (of(asked), answer)
    }

    /// Everything in which they differ but their calls: the first difference of each aspect of each machine.
    pub fn differences(&self, old: &Execution, new: &Execution) -> Vec<AspectDifference> {
        let is_cut = are_cut(old, new);
        let mut found = Vec::new();
        if self.counts(RunAspect::Exit) {
            found.extend(self.text(RunAspect::Exit, Some(&verdict(old)), Some(&verdict(new))));
        }
        let streams =
            |found: &mut Vec<_>, machine: Option<&str>, rows: [(RunAspect, &StreamOutput, &StreamOutput); 2]| {
                for (what, old, new) in rows.into_iter().filter(|row| self.counts(row.0)) {
                    let difference = self.stream(what, old, new, is_cut);
                    found.extend(difference.map(|it| AspectDifference { machine: machine.map(str::to_owned), ..it }));
                }
            };
        let rows = [(RunAspect::Stdout, &old.stdout, &new.stdout), (RunAspect::Stderr, &old.stderr, &new.stderr)];
        streams(&mut found, None, rows);
        // The machines are those of the plan, which both have; what was started during a run has its place behind them.
        for at in 0..old.nodes.len().max(new.nodes.len()) {
            let (old, new) = (old.nodes.get(at), new.nodes.get(at));
            let name = old.or(new).map(|node| node.name.clone());
            if self.counts(RunAspect::Exit) && !is_cut {
                let (old, new) = (old.map(node_end), new.map(node_end));
                let difference = self.text(RunAspect::Exit, old.as_deref(), new.as_deref());
                found.extend(difference.map(|it| AspectDifference { machine: name.clone(), ..it }));
            }
            if let (Some(old), Some(new)) = (old, new) {
                let rows =
                    [(RunAspect::Stdout, &old.stdout, &new.stdout), (RunAspect::Stderr, &old.stderr, &new.stderr)];
                streams(&mut found, name.as_deref(), rows);
            }
        }
        if self.counts(RunAspect::Properties) && !is_cut {
            found.extend(self.properties(old, new));
        }
        found
    }

    /// The first property that is not on both sides, or stands otherwise.
    fn properties(&self, old: &Execution, new: &Execution) -> Option<AspectDifference> {
        let states = |of: &Execution| -> BTreeMap<String, String> {
            let state = |(name, property): (&str, &fozzy_trace::facts::Property)| {
                let words = format!("{}: {}", property.kind.name(), property.state().name());
                (self.masked(name).into_owned(), words)
            };
            of.facts.properties.iter().map(state).collect()
        };
        let (old, new) = (states(old), states(new));
        let name = old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name)).min()?;
        Some(AspectDifference {
            property: Some(name.clone()),
            old: old.get(name).cloned(),
            new: new.get(name).cloned(),
            ..plain(RunAspect::Properties)
        })
    }

    fn text(&self, what: RunAspect, old: Option<&str>, new: Option<&str>) -> Option<AspectDifference> {
        let masked = |text: Option<&str>| text.map(|text| self.masked(text).into_owned());
        let (left, right) = (masked(old), masked(new));
        (left != right).then(|| AspectDifference {
            old: old.map(|text| excerpt(text, 0)),
            new: new.map(|text| excerpt(text, 0)),
            ..plain(what)
        })
    }

    /// The first line of a stream that differs.
    fn stream(
        &self,
        what: RunAspect,
        old: &StreamOutput,
        new: &StreamOutput,
        is_cut: bool,
    ) -> Option<AspectDifference> {
        if old == new {
            return None;
        }
        let (left, right) = (old.kept(), new.kept());
        let (left, right) = match is_cut {
            true => (&left[..left.len().min(right.len())], &right[..right.len().min(left.len())]),
            false => (left, right),
        };
        let (mut lefts, mut rights) = (left.split(|byte| *byte == b'\n'), right.split(|byte| *byte == b'\n'));
        for line in 1.. {
            let (left, right) = match (lefts.next(), rights.next()) {
                (None, None) => break,
                (left, right) if left == right => continue,
                (left, right) => (left.map(String::from_utf8_lossy), right.map(String::from_utf8_lossy)),
            };
            let masked = |text: &Option<Cow<'_, str>>| text.as_ref().map(|text| self.masked(text).into_owned());
            if self.has_masks() && masked(&left) == masked(&right) {
                continue;
            }
            let common = match (&left, &right) {
                (Some(left), Some(right)) => left.chars().zip(right.chars()).take_while(|(l, r)| l == r).count(),
                _ => 0,
            };
            return Some(AspectDifference {
                line: Some(line),
                column: (left.is_some() && right.is_some()).then_some(common as u64 + 1),
                old: left.map(|text| excerpt(&text, common)),
                new: right.map(|text| excerpt(&text, common)),
                ..plain(what)
            });
        }
        let is_whole = |stream: &StreamOutput| stream.total() == stream.kept().len() as u64;
        if is_cut || (self.has_masks() && (is_whole(old) == is_whole(new) || old.total() == new.total())) {
            return None;
        }
        let all = |stream: &StreamOutput| Some(format!("{} bytes with SHA-256 {}", stream.total(), stream.digest()));
        Some(AspectDifference { old: all(old), new: all(new), ..plain(what) })
    }

    /// What of two runs could not be compared.
    pub fn warnings(&self, old: &Execution, new: &Execution) -> Vec<&'static str> {
        let outputs = [&old.stdout, &new.stdout, &old.stderr, &new.stderr];
        let is_long = outputs.iter().any(|stream| stream.total() > stream.kept().len() as u64);
        let long = "with --mask, output is compared up to its first 4 MiB";
        let cut = "both programs ran out of instructions: what one of them did not come to is not compared";
        [(is_long && self.has_masks()).then_some(long), are_cut(old, new).then_some(cut)]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Whether both were cut by their budget of instructions.
pub(super) fn are_cut(old: &Execution, new: &Execution) -> bool {
    let is_cut = |of: &Execution| matches!(of.end, ExecutionEnd::FuelExhausted { .. });
    is_cut(old) && is_cut(new)
}

fn plain(what: RunAspect) -> AspectDifference {
    AspectDifference { what, machine: None, property: None, line: None, column: None, old: None, new: None }
}

/// The verdict, and how it ended, in one line.
fn verdict(execution: &Execution) -> String {
    let verdict = judge(execution);
    let end = end_words(&execution.end);
    match &verdict.signature {
        Some(signature) => format!("{}: {end} ({signature})", verdict.status.name()),
        None => format!("{}: {end}", verdict.status.name()),
    }
}

fn node_end(node: &NodeExecution) -> String {
    let unended = if node.is_down { "down" } else { "still running" };
    node.end.as_ref().map_or_else(|| unended.to_owned(), end_words)
}

/// A text from a little before this character on.
fn excerpt(text: &str, from: usize) -> String {
    let skipped = from.saturating_sub(BEFORE_CHARS);
    let begin = if skipped > 0 { "…" } else { "" };
    let mut rest = text.chars().skip(skipped);
    let shown: String = rest.by_ref().take(SHOWN_CHARS_MAX).collect();
    let end = if rest.next().is_some() { "…" } else { "" };
    format!("{begin}{shown}{end}")
}

/// Before the size of a text in what a call asks and is answered: `"hi" (2 bytes)`.
const BEFORE_SIZE: &str = "\" (";
/// Behind it.
const BEHIND_SIZE: &str = " bytes)";

/// The sum of the sizes of texts, and what is left without them.
fn sizes_and_rest(shown: &str) -> (u64, String) {
    let (mut sum, mut kept, mut rest) = (0_u64, String::new(), shown);
    while let Some((before, behind)) = rest.split_once(BEFORE_SIZE) {
        kept.push_str(before);
        kept.push_str(BEFORE_SIZE);
        rest = behind;
        if let Some((digits, _)) = behind.split_once(BEHIND_SIZE)
            && let Ok(size) = digits.parse::<u64>()
        {
            sum = sum.saturating_add(size);
            rest = &behind[digits.len()..];
        }
    }
    kept.push_str(rest);
    (sum, kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::{Instant, NodeId};

    #[test]
    fn the_sizes_of_a_masked_text_are_masked_with_it_and_no_others() {
        let call = |asked: &str, answer: &str| HistoryEntry {
            index: 7,
            at: Instant(9),
            node: NodeId(0),
            call: "fd_write".to_owned(),
            asked: asked.to_owned(),
            answer: answer.to_owned(),
            decision: false,
        };
        let is_same = |masks: &[&str], old: (&str, &str), new: (&str, &str)| {
            let masks: Vec<String> = masks.iter().map(ToString::to_string).collect();
            let rules = DiffRules::new(&[], &masks).expect("patterns");
            rules.same_call(&call(old.0, old.1), &call(new.0, new.1))
        };
        let (long, short) = ((r#"1, "dice=24" (7 bytes)"#, "7"), (r#"1, "die=24" (6 bytes)"#, "6"));
        assert!(is_same(&[], long, long) && !is_same(&[], long, short));
        assert!(is_same(&["dic?e="], long, short));
        assert!(!is_same(&["dic?e"], long, (r#"1, "die=25" (6 bytes)"#, "6")), "what is not masked counts");
        assert!(!is_same(&["other"], long, short));
        assert!(!is_same(&["dic?e="], long, (short.0, "5")), "less was written");
        // Of several texts, and in an answer.
        let two = (r#"["a1" (2 bytes), "b" (1 bytes)]"#, "3");
        assert!(is_same(&["a[0-9]+"], two, (r#"["a123" (4 bytes), "b" (1 bytes)]"#, "5")));
        assert!(is_same(&["a[0-9]+"], ("4", r#"ok("a1" (2 bytes))"#), ("4", r#"ok("a123" (4 bytes))"#)));
        assert!(!is_same(&["a[0-9]+"], ("4", "2"), ("4", "3")));
    }

    fn output(text: &str) -> StreamOutput {
        let mut stream = StreamOutput::default();
        stream.write(text.as_bytes());
        stream
    }

    /// Line, column, and the texts from there on.
    type FirstDifference = (u64, Option<u64>, Option<String>, Option<String>);

    fn first(masks: &[&str], old: &str, new: &str, is_cut: bool) -> Option<FirstDifference> {
        let masks: Vec<String> = masks.iter().map(ToString::to_string).collect();
        let rules = DiffRules::new(&[], &masks).expect("patterns");
        let found = rules.stream(RunAspect::Stdout, &output(old), &output(new), is_cut)?;
        Some((found.line.unwrap_or(0), found.column, found.old, found.new))
    }

    #[test]
    fn streams_differ_at_a_line_and_a_character() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(first(&[], "a\nb\n", "a\nb\n", false), None);
        assert_eq!(first(&[], "a\nbc\n", "a\nbd\n", false), Some((2, Some(2), text("bc"), text("bd"))));
        assert_eq!(first(&[], "a\n", "a", false), Some((2, None, text(""), None)), "the end of a line counts");
        assert_eq!(first(&[], "", "a", false), Some((1, Some(1), text(""), text("a"))));
        let long = |end: &str| "x".repeat(1000) + end;
        let (_, column, old, _) = first(&[], &long("1"), &long("2"), false).expect("they differ");
        assert_eq!((column, old), (Some(1001), Some(format!("…{}1", "x".repeat(BEFORE_CHARS)))));
    }

    #[test]
    fn what_is_masked_is_equal_and_nothing_else() {
        assert_eq!(first(&["[0-9]+ms"], "in 3ms\nok\n", "in 14ms\nok\n", false), None);
        assert_eq!(first(&["[0-9]+ms"], "in 3ms\nok\n", "in 14ms\nno\n", false).map(|found| found.0), Some(2));
        assert_eq!(first(&["^# .*"], "# a\n1\n", "# b\n1\n", false), None, "`^` begins a line");
        assert!(first(&[".*"], "a\n", "a\nb\n", false).is_some(), "a line more is no masked text");
        assert!(DiffRules::new(&[], &["(".to_owned()]).is_err_and(|error| error.message.contains("`(`")));
    }

    #[test]
    fn a_cut_run_has_the_beginning_of_the_other() {
        assert_eq!(first(&[], "a\nb\nc", "a\nb", true), None);
        assert!(first(&[], "a\nb\nc", "a\nx", true).is_some());
        assert!(first(&[], "a\nb\nc", "a\nb", false).is_some());
    }

    #[test]
    fn output_beyond_what_is_kept_counts() {
        let long = |end: &str| output(&("x".repeat(5 << 20) + end));
        let rules = DiffRules::default();
        let found = rules.stream(RunAspect::Stdout, &long("1"), &long("2"), false).expect("their ends differ");
        assert!(found.line.is_none() && found.old != found.new, "{found:?}");
        assert_eq!(rules.stream(RunAspect::Stdout, &long("1"), &long("1"), false), None);
    }
}
