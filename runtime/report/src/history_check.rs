//! `fozzy check`: verdicts on histories, as a document and as lines.
//!
//! ```text
//! fozzy check INVALID  history.edn is not linearizable
//!   model    register, guessed from the functions of the history
//!   history  51 calls of 2 processes, EDN
//!
//!   2 of 51 calls contradict each other, whichever of the 49 others took effect:
//!     line  process  call           time
//!       97        0  write 7        ├──┤
//!       99        1  read → 3           ├──┤
//! ```
//!
//! Invariant: nothing stands in the lines that the document does not say.

mod isolation;

use crate::layout::Layout;
use crate::pretty::{Style, counted, fit, wrapped};
use fozzy_trace::grouped;
pub(crate) use isolation::cycle_words;
use isolation::isolation_lines;
pub use isolation::{DependencyReport, IsolationReport, TransactionAnomalyReport};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryCheckDocument {
    /// `fozzy.history_check.v1`.
    pub schema_version: String,
    /// The worst of all histories: `valid`, `unknown` or `invalid`; `error` if one of several could not be judged.
    pub validity: String,
    /// One for each history.
    pub histories: Vec<HistoryCheck>,
}

/// The verdict on a history.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryCheck {
    /// Its file.
    pub file: String,
    /// `valid`, `unknown` or `invalid`; `error` if it could not be judged, and is one of several.
    pub validity: String,
    /// The notation that it has.
    pub format: String,
    /// Calls of clients.
    pub calls: u64,
    /// Clients that made them.
    pub processes: u64,
    /// The model that it was judged by; absent for an empty history, which every model allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `sequential` where only the order within each process counted; absent where that in time did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistency: Option<String>,
    /// Whether the model was guessed from the history.
    pub model_guessed: bool,
    /// The checker that it was judged by instead of a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checker: Option<String>,
    /// What the checker counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<CheckerCount>,
    /// What the checker found; the first of each kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anomalies: Vec<CheckerAnomaly>,
    /// What transactions show of their isolation, where `model` is a level of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationReport>,
    /// Parts that were judged by themselves: one for each key.
    pub partitions: u64,
    /// `key`, `element` of a set or a bag, or `part` of a component's own; absent if there is one part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parted_by: Option<String>,
    /// Parts that are not linearizable; the first ones.
    pub violations: Vec<HistoryViolation>,
    /// Parts that were not decided; the first ones.
    pub undecided: Vec<UndecidedPartition>,
    /// What is strange about the history, though it was judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Why it could not be judged, where `validity` is `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Something that a checker counted.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckerCount {
    /// What, such as `lost-count`.
    pub name: String,
    /// How many.
    pub number: i64,
}

/// Something that a checker found.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckerAnomaly {
    /// Its kind, such as `lost`.
    pub kind: String,
    /// What it is, in a sentence.
    pub message: String,
    /// Indices of operations that show it.
    pub operations: Vec<u64>,
}

/// A part of a history that is not linearizable.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryViolation {
    /// Its key; absent if the history is not parted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its calls.
    pub calls: u64,
    /// Calls that contradict each other, whichever of the others took effect; empty where the search for them ended early.
    pub minimal: Vec<HistoryCall>,
    /// Calls of the longest legal sequence that was found, by their indices.
    pub longest: Vec<u64>,
    /// Whether no legal sequence gets further; else the search for one ended early.
    pub is_longest: bool,
    /// The state after it.
    pub state: String,
    /// The call by whose return no sequence is legal; absent if that was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck: Option<HistoryCall>,
}

/// A part of a history that was not decided.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UndecidedPartition {
    /// Its key; absent if the history is not parted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its calls.
    pub calls: u64,
    /// `memory`, `time`, `width`, or `not-needed` where another part was found to be invalid first.
    pub reason: String,
    /// Returns that the longest legal sequence has behind it.
    pub returns: u64,
    /// Returns of all calls.
    pub of_returns: u64,
}

/// A call of a client.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryCall {
    /// The index of its invocation.
    pub index: u64,
    /// The index of its completion; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<u64>,
    /// The line of its invocation, if it was read from lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Who called.
    pub process: String,
    /// The function.
    pub function: String,
    /// What it was asked, in EDN; absent if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// What it answered, in EDN; absent if that is not known, or what was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// `ok`, `fail` or `info`.
    pub outcome: String,
}

/// Characters of a line, and of what a call is called in a table.
const LINE_CHARS: usize = 80;
const CALL_CHARS_MAX: usize = 32;
/// Columns that stretches of time take before calls are cut.
const BARS_CHARS_MAX: usize = 16;
/// Most calls for which a table is drawn.
const TABLE_CALLS_MAX: usize = 24;

impl HistoryCall {
    /// The call in words: `write 3`, `read → 4`, `cas [1 2] failed`.
    pub(crate) fn words(&self) -> String {
        let mut text = self.function.clone();
        if let Some(argument) = &self.argument {
            text.push_str(&format!(" {argument}"));
        }
        if let Some(result) = &self.result {
            text.push_str(&format!(" → {result}"));
        }
        match self.outcome.as_str() {
            "fail" => text.push_str(" failed"),
            "info" => text.push_str(" (unknown)"),
            _ => {}
        }
        text
    }

    /// Where it stands, and who asked for it.
    pub(crate) fn place(&self) -> String {
        let line = self.line.map_or(format!("operation {}", self.index), |line| format!("line {line}"));
        format!("{line}, process {}", self.process)
    }
}

impl Layout for HistoryCheckDocument {
    fn lay_out(&self, style: Style) -> String {
        self.histories.iter().map(|history| lines(history, style)).collect::<Vec<_>>().join("\n")
    }
}

/// A verdict in a word, and what it says of its history.
pub(crate) fn verdict_words(history: &HistoryCheck) -> (&'static str, String) {
    let level = history.model.as_deref().filter(|_| history.isolation.is_some()).unwrap_or_default();
    let (word, what) = match history.validity.as_str() {
        _ if history.calls == 0 => {
            return ("VALID", "is empty: it has no operations, so nothing was judged".to_owned());
        }
        "valid" if history.checker.is_some() => ("VALID", "is as it should be"),
        "invalid" if history.checker.is_some() => ("INVALID", "is not as it should be"),
        "valid" if !level.is_empty() => return ("VALID", format!("is {level}")),
        "invalid" if !level.is_empty() => return ("INVALID", format!("is not {level}")),
        _ if !level.is_empty() => ("UNKNOWN", "was not proved, and nothing was found against it"),
        "valid" if history.consistency.is_some() => ("VALID", "is sequentially consistent"),
        "invalid" if history.consistency.is_some() => ("INVALID", "is not sequentially consistent"),
        "valid" => ("VALID", "is linearizable"),
        "invalid" => ("INVALID", "is not linearizable"),
        _ => ("UNKNOWN", "was not decided"),
    };
    (word, what.to_owned())
}

/// The lines of a history.
fn lines(history: &HistoryCheck, style: Style) -> String {
    let Style { good, bad, faint, end, .. } = style;
    if let Some(error) = &history.error {
        return format!("fozzy check {bad}ERROR{end}  {error}\n");
    }
    let (word, what) = verdict_words(history);
    let colour = if history.validity == "valid" { good } else { bad };
    let mut text = format!("fozzy check {colour}{word}{end}  {} {what}\n", history.file);
    if let Some(model) = &history.model {
        let guess = match (history.model_guessed, &history.isolation) {
            (false, _) => "",
            (true, None) => ", guessed from the functions of the history",
            (true, Some(_)) => ", the strongest that its order allows",
        };
        text.push_str(&format!("  {faint}model{end}    {model}{guess}\n"));
    }
    if let Some(checker) = &history.checker {
        text.push_str(&format!("  {faint}checker{end}  {checker}\n"));
    }
    let (calls, processes) = (counted(history.calls, "call"), counted(history.processes, "process"));
    let parts = parts_words(history);
    text.push_str(&format!("  {faint}history{end}  {calls} of {processes}{parts}, {}\n", history.format));
    if let Some(report) = &history.isolation {
        let IsolationReport { workload, committed, failed, unknown, keys, .. } = report;
        let [committed, failed, unknown] = [committed, failed, unknown].map(|n| grouped(*n));
        let ends = format!("{committed} committed, {failed} failed, {unknown} unknown");
        text.push_str(&format!("  {faint}txns{end}     {workload}, {}, {ends}\n", counted(*keys, "key")));
        text.push_str(&isolation_lines(report, style));
    }
    for remark in &history.remarks {
        text.push_str(&format!("  {faint}remark{end}   {remark}\n"));
    }
    text.push_str(&checker_lines(history));
    for violation in &history.violations {
        text.push_str(&violation_lines(violation, part_name(history), style));
    }
    for one in history.undecided.iter().filter(|one| one.reason != "not-needed") {
        let name = part_name(history);
        let key = one.key.as_ref().map_or(String::new(), |key| format!("{name} {}: ", fit(key, CALL_CHARS_MAX)));
        let why = match one.reason.as_str() {
            "memory" => "memory was used up; --mem gives more",
            "time" => "time was over; --time gives more",
            _ => "too many calls are pending at once",
        };
        text.push_str(&format!("\n  {key}{why}\n  It came past {} of {} returns.\n", one.returns, one.of_returns));
    }
    text
}

/// What a part of a history is called.
pub(crate) fn part_name(history: &HistoryCheck) -> &str {
    history.parted_by.as_deref().unwrap_or("key")
}

/// How many parts there are, if there are several.
pub(crate) fn parts_words(history: &HistoryCheck) -> String {
    match history.partitions {
        0 | 1 => String::new(),
        several => format!(", {}", counted(several, part_name(history))),
    }
}

/// What a checker counted and found.
fn checker_lines(history: &HistoryCheck) -> String {
    let width = history.counts.iter().map(|count| count.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for count in &history.counts {
        text.push_str(&format!("    {:<width$}  {}\n", count.name, count.number));
    }
    if !history.anomalies.is_empty() {
        text.push('\n');
    }
    for anomaly in &history.anomalies {
        let operations: Vec<String> = anomaly.operations.iter().map(u64::to_string).collect();
        let shown =
            if operations.is_empty() { String::new() } else { format!(" (operation {})", operations.join(", ")) };
        let lines = wrapped(&format!("{}: {}{shown}", anomaly.kind, anomaly.message), LINE_CHARS - 4);
        for (at, line) in lines.iter().enumerate() {
            text.push_str(&format!("  {}{line}\n", if at == 0 { "" } else { "  " }));
        }
    }
    text
}

fn violation_lines(violation: &HistoryViolation, part: &str, style: Style) -> String {
    let key = violation.key.as_ref().map_or(String::new(), |key| format!("{part} {}: ", fit(key, CALL_CHARS_MAX)));
    let mut text = String::from("\n");
    let (kept, all) = (violation.minimal.len() as u64, violation.calls);
    match kept {
        0 => text.push_str(&format!("  {key}no order of its {} is legal.\n", counted(all, "call"))),
        1 => {
            text.push_str(&format!("  {key}one of {} is wrong, whichever others took effect:\n", counted(all, "call")))
        }
        _ => {
            text.push_str(&format!("  {key}{kept} of {} contradict each other,\n", counted(all, "call")));
            text.push_str("  whichever of the others took effect:\n");
        }
    }
    text.push_str(&table(&violation.minimal, style));
    let after = counted(violation.longest.len() as u64, "call");
    let state = format!("    {}\n", middle(&violation.state, LINE_CHARS - 4));
    // A long call has a line of its own, where more of it can be seen.
    let stuck = violation.stuck.as_ref().map(|stuck| match stuck.words() {
        call if call.chars().count() <= LINE_CHARS - 44 => format!(" {call} of process {}", stuck.process),
        call => format!("\n    {}\n  of process {}", middle(&call, LINE_CHARS - 4), stuck.process),
    });
    match stuck {
        Some(call) if violation.is_longest => {
            text.push_str(&format!("\n  The longest legal order has {after}; after it the state is\n{state}"));
            text.push_str(&format!("  and{call} cannot take effect.\n"));
        }
        Some(call) => text.push_str(&format!("\n  No order is legal when{call} has returned.\n")),
        None => {}
    }
    if !violation.is_longest && !violation.longest.is_empty() {
        text.push_str(&format!(
            "\n  A legal order of {after} was found, perhaps not the longest; after it the state is\n{state}"
        ));
    }
    text
}

/// Text of at most `room` characters, cut in the middle: long values often differ at their ends.
pub(crate) fn middle(text: &str, room: usize) -> String {
    let count = text.chars().count();
    if count <= room {
        return text.to_owned();
    }
    let (head, tail) = (room / 2, room - room / 2 - 1);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

/// Calls under each other, each with its stretch of time.
fn table(calls: &[HistoryCall], style: Style) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let shown = &calls[..calls.len().min(TABLE_CALLS_MAX)];
    let width = |of: fn(&HistoryCall) -> usize, heading: &str, room: usize| {
        shown.iter().map(of).max().unwrap_or(0).max(heading.len()).min(room)
    };
    let lines = width(|call| call.line.map_or(0, |line| line.to_string().len()), "line", CALL_CHARS_MAX);
    let processes = width(|call| call.process.chars().count(), "process", CALL_CHARS_MAX);
    // Calls get what their stretches leave, which need a column for each end at least.
    let stretches = (2 * shown.len() + 2).min(BARS_CHARS_MAX);
    let room = LINE_CHARS - 4 - lines.min(CALL_CHARS_MAX / 2) - 2 - processes.min(CALL_CHARS_MAX / 2) - 4 - stretches;
    let words = width(|call| call.words().chars().count(), "call", room.max(CALL_CHARS_MAX));
    let Style { faint, end, .. } = style;
    let heading = format!("{:>lines$}  {:>processes$}  {:<words$}  time", "line", "process", "call");
    let mut text = format!("    {faint}{heading}{end}\n");
    let used = 4 + lines + 2 + processes + 2 + words + 2;
    let bars = bars(shown, LINE_CHARS.saturating_sub(used));
    for (call, bar) in shown.iter().zip(bars) {
        let line = call.line.map_or("-".to_owned(), |line| line.to_string());
        let (process, what) = (fit(&call.process, processes), middle(&call.words(), words));
        text.push_str(&format!("    {line:>lines$}  {process:>processes$}  {what:<words$}  {bar}\n"));
    }
    if shown.len() < calls.len() {
        text.push_str(&format!("    and {} more\n", calls.len() - shown.len()));
    }
    text
}

/// Each call's stretch: ends of calls stand in the order of time, evenly apart.
fn bars(calls: &[HistoryCall], room: usize) -> Vec<String> {
    let ends: BTreeSet<u64> = calls.iter().flat_map(|call| [Some(call.index), call.completion]).flatten().collect();
    let gap = (room / (ends.len() + 1)).clamp(1, 3);
    let column = |index: u64| ends.range(..index).count() * gap;
    let last = ends.len() * gap;
    calls
        .iter()
        .map(|call| {
            let from = column(call.index);
            let to = call.completion.map_or(last, column);
            let close = if call.completion.is_some() { "┤" } else { "…" };
            let bar = format!("{}├{}{close}", " ".repeat(from), "─".repeat((to - from).saturating_sub(1)));
            fit(&bar, room.max(4))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(
        index: u64,
        completion: Option<u64>,
        function: &str,
        argument: Option<&str>,
        result: Option<&str>,
    ) -> HistoryCall {
        HistoryCall {
            index,
            completion,
            line: Some(index + 1),
            process: (index % 3).to_string(),
            function: function.to_owned(),
            argument: argument.map(str::to_owned),
            result: result.map(str::to_owned),
            outcome: if completion.is_some() { "ok" } else { "info" }.to_owned(),
        }
    }

    #[test]
    fn a_violation_is_a_table_of_stretches_within_eighty_columns() {
        let minimal = vec![
            call(3, Some(9), "write", Some("7"), None),
            call(8, None, "cas", Some("[1 2]"), None),
            call(11, Some(14), "read", None, Some("3")),
        ];
        let stuck = Some(minimal[2].clone());
        let violation = HistoryViolation {
            key: Some("\"x\"".to_owned()),
            calls: 51,
            minimal,
            longest: vec![3, 8],
            is_longest: true,
            state: "7".to_owned(),
            stuck,
        };
        let history = HistoryCheck {
            file: "history.edn".to_owned(),
            validity: "invalid".to_owned(),
            format: "EDN".to_owned(),
            calls: 51,
            processes: 3,
            model: Some("register".to_owned()),
            consistency: None,
            model_guessed: true,
            checker: None,
            counts: Vec::new(),
            anomalies: Vec::new(),
            isolation: None,
            partitions: 1,
            parted_by: None,
            violations: vec![violation],
            undecided: Vec::new(),
            remarks: vec!["times go back".to_owned()],
            error: None,
        };
        let document = HistoryCheckDocument {
            schema_version: String::new(),
            validity: "invalid".to_owned(),
            histories: vec![history],
        };
        let expected = "\
fozzy check INVALID  history.edn is not linearizable
  model    register, guessed from the functions of the history
  history  51 calls of 3 processes, EDN
  remark   times go back

  key \"x\": 3 of 51 calls contradict each other,
  whichever of the others took effect:
    line  process  call                 time
       4        0  write 7              ├─────┤
       9        2  cas [1 2] (unknown)     ├───────────…
      12        2  read → 3                      ├──┤

  The longest legal order has 2 calls; after it the state is
    7
  and read → 3 of process 2 cannot take effect.
";
        let text = document.lay_out(Style::PLAIN);
        assert_eq!(text, expected);
        assert!(text.lines().all(|line| line.chars().count() <= LINE_CHARS));
    }
}
