//! Replay: the recorded decisions once more, compared with what was recorded.
//!
//! ```text
//! replay    same component      must be equal in calls, output, end, time, memory, fuel, and in whatever else the file claims
//! against   changed component   the same decisions; where does it first ask something else?
//! ```
//!
//! A file that was rewritten can claim anything. What a replay can tell is compared: the outcome, the verdict with the words of its
//! findings, the calls that were kept, the digest's marks, the answers, the beginnings of the output, the digest of the program's file.
//! What it cannot tell is named ([`ReplayResult::claimed`]), so that readers are shown it as what the file says.

use crate::compare::{CallDivergence, OutcomeDifference, ReplaySide, compare, locate};
use fozzy_check::{judge, judge_by_exit_code, judge_by_open_operations};
use fozzy_trace::file::{RecordedOutcome, Recording};
use fozzy_trace::history::first_difference;
use fozzy_trace::outcome::{SourceLocation, StackFrame};
use fozzy_trace::source::RecordedSource;
use fozzy_trace::{
    DecisionSource, Digest, Execution, Executor, Finding, HarnessError, History, HistoryEntry, HistoryWindow, Verdict,
};
use std::ops::Range;

/// A replay of a recording.
#[derive(Clone, Debug)]
pub struct ReplayResult {
    /// The execution.
    pub execution: Execution,
    /// Its own verdict.
    pub verdict: Verdict,
    /// In what it differs from the recording; `None` when it is the same run.
    pub difference: Option<OutcomeDifference>,
    /// The range of calls with the first difference, as narrow as the recording's digests allow.
    pub stretch: Option<Range<u64>>,
    /// What the file says and no replay can tell, by the names of reports.
    pub claimed: Vec<&'static str>,
}

/// The recorded decisions replayed against another program.
#[derive(Clone, Debug)]
pub struct CrossReplay {
    /// The execution of the other program.
    pub execution: Execution,
    /// Its verdict.
    pub verdict: Verdict,
    /// The first call in which it went another way; `None` when it made the same calls.
    pub divergence: Option<CallDivergence>,
}

/// The decisions of a recording and what the real computer answered, as a source.
#[must_use]
pub fn source_of(recording: &Recording) -> Box<dyn DecisionSource> {
    let source = RecordedSource::new(recording.seed, recording.explicit.clone());
    Box::new(source.observing(recording.observations.clone(), recording.inputs.clone()))
}

/// Replays `recording` on an executor of its own component and plan. Calls that the file has kept are compared if `keep` is empty;
/// otherwise they are the caller's.
///
/// # Errors
/// When the execution fails for reasons of the machine.
pub fn replay(
    recording: &Recording,
    executor: &mut dyn Executor,
    keep: HistoryWindow,
) -> Result<ReplayResult, HarnessError> {
    // What the file has kept of the history is compared too, so it is made again, unless calls are requested anyway.
    let kept = recording.entries.first().map_or(0, |entry| entry.index)..end_of(&recording.entries);
    let kept = if keep.is_empty() { kept } else { 0..0 };
    let mut execution =
        executor.execute(source_of(recording), if keep.is_empty() { kept.clone() } else { keep.clone() })?;
    let verdict = judged_as(&recording.outcome.verdict, &execution);
    let outcome = RecordedOutcome::of(&execution, verdict.clone());
    let stretch = first_difference(&recorded_history(recording), &execution.history);
    let difference = compare(&recording.outcome, &outcome)
        .or_else(|| different_history(recording, &execution, stretch.as_ref(), &kept))
        .or_else(|| different_answers(recording, &execution))
        .or_else(|| different_output(recording, &execution))
        .or_else(|| different_verdict(recording, &verdict))
        .or_else(|| different_source(recording));
    execution.history.entries.retain(|entry| keep.contains(&entry.index));
    Ok(ReplayResult { execution, verdict, difference, stretch, claimed: claimed(recording) })
}

/// The verdict, by the rules of exit codes and of open operations that the recording was made under.
fn judged_as(recorded: &Verdict, execution: &Execution) -> Verdict {
    let verdict = judge(execution);
    if verdict == *recorded {
        return verdict;
    }
    let former: [fn(&Execution) -> Verdict; 2] = [judge_by_exit_code, judge_by_open_operations];
    former.into_iter().map(|judged| judged(execution)).find(|before| before == recorded).unwrap_or(verdict)
}

fn end_of(entries: &[HistoryEntry]) -> u64 {
    entries.last().map_or(0, |entry| entry.index + 1)
}

/// The digest of the file that was run: of a component and of a scenario file, the trace has that file. A component that was
/// written as text is in it as bytes.
fn source_of_target(recording: &Recording) -> Option<Digest> {
    match recording.target.kind.as_str() {
        "component" if !recording.target.name.ends_with(".wat") => Some(Digest::of(&recording.component)),
        "scenario" => Some(recording.plan.main.stdin.bytes),
        _ => None,
    }
}

/// Verdicts are compared word by word where the same version has judged.
fn same_judge(recording: &Recording) -> bool {
    recording.engine.fozzy == env!("CARGO_PKG_VERSION")
}

fn claimed(recording: &Recording) -> Vec<&'static str> {
    // A digest that was compared proves the kind too: what was run is that very file.
    let source = source_of_target(recording).is_none().then_some(["target.digest", "target.kind"]);
    let words = (!same_judge(recording)).then_some("findings");
    ["target.name"].into_iter().chain(source.into_iter().flatten()).chain(words).collect()
}

fn different_history(
    recording: &Recording,
    execution: &Execution,
    stretch: Option<&Range<u64>>,
    kept: &Range<u64>,
) -> Option<OutcomeDifference> {
    if let Some(Range { start, end }) = stretch {
        let left = format!("another digest between the calls {start} and {end}");
        return Some(OutcomeDifference { what: "marks of the history", left, right: "that of the outcome".to_owned() });
    }
    if kept.is_empty() {
        return None;
    }
    let (recorded, found) = (&recording.entries, &execution.history.entries);
    let longer = recorded.len().max(found.len());
    let at = (0..longer).find(|at| !is_same_call(recorded.get(*at), found.get(*at)))?;
    let words = |entry: Option<&HistoryEntry>| match entry {
        Some(HistoryEntry { index, call, asked, answer, .. }) => format!("call {index} {call}({asked}) -> {answer}"),
        None => "no such call".to_owned(),
    };
    let (left, right) = (words(recorded.get(at)), words(found.get(at)));
    Some(OutcomeDifference { what: "event", left, right })
}

/// Whether two kept calls say the same. Their digests are equal by now; their words may be of different notations, because values were
/// shown as Rust writes them before they were shown as WAVE does.
fn is_same_call(recorded: Option<&HistoryEntry>, found: Option<&HistoryEntry>) -> bool {
    let plain = |entry: &HistoryEntry| HistoryEntry {
        asked: without_notation(&entry.asked),
        answer: without_notation(&entry.answer),
        ..entry.clone()
    };
    recorded == found || recorded.map(plain) == found.map(plain)
}

/// A text in which errors of files and sockets have their names only, and no numbers and descriptions.
fn without_descriptions(mut text: &str) -> String {
    const BEGIN: &str = "ErrorCode { code: ";
    let mut named = String::new();
    while let Some((before, error)) = text.split_once(BEGIN) {
        named.push_str(before);
        let name = error.split_once("name: \"").and_then(|(_, rest)| rest.split_once("\", message: \""));
        let Some((name, (_, rest))) = name.and_then(|(name, rest)| Some((name, rest.split_once("\" }")?))) else {
            text = error;
            continue;
        };
        named.push_str(name);
        text = rest;
    }
    named + text
}

/// A value without what notations differ in: `error ErrorCode::NoEntry` and `err(no-entry)` are both `errnoentry`.
fn without_notation(text: &str) -> String {
    let text = without_descriptions(text);
    let mut plain = String::new();
    let mut from = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_path = c == ':' && rest.peek() == Some(&':');
        let is_record = c == ' ' && rest.peek() == Some(&'{');
        if is_path || is_record {
            // The name of a type.
            plain.truncate(from);
        }
        if c.is_alphanumeric() {
            plain.extend(c.to_lowercase());
        } else if c != '-' && c != '_' {
            if &plain[from..] == "error" {
                plain.truncate(from + "err".len());
            }
            from = plain.len();
        }
    }
    plain
}

/// Answers that no question took are in no run, so the file cannot claim them either.
fn different_answers(recording: &Recording, execution: &Execution) -> Option<OutcomeDifference> {
    let taken = &execution.history;
    let surplus = recording.explicit.keys().find(|question| !taken.explicit.contains_key(question));
    let (observed, recorded) = (taken.observations.len(), recording.observations.len());
    let (left, right) = match surplus {
        Some(question) => (format!("one to question {question}"), "that question did not take it".to_owned()),
        None if observed < recorded => {
            (format!("{recorded} of the real computer"), format!("{observed} that the program asked for"))
        }
        None => return None,
    };
    Some(OutcomeDifference { what: "answers", left, right })
}

fn different_output(recording: &Recording, execution: &Execution) -> Option<OutcomeDifference> {
    let digest = |bytes: &[u8]| format!("a beginning of {} bytes with SHA-256 {}", bytes.len(), Digest::of(bytes));
    let rows = [
        ("standard output", &recording.stdout, execution.stdout.kept()),
        ("standard error", &recording.stderr, execution.stderr.kept()),
    ];
    let (what, recorded, found) = rows.into_iter().find(|(_, recorded, found)| recorded != found)?;
    Some(OutcomeDifference { what, left: digest(recorded), right: digest(found) })
}

fn different_verdict(recording: &Recording, found: &Verdict) -> Option<OutcomeDifference> {
    let recorded = &recording.outcome.verdict;
    let signature = |verdict: &Verdict| match &verdict.signature {
        Some(signature) => format!("{} ({signature})", verdict.status.name()),
        None => verdict.status.name().to_owned(),
    };
    let all = recorded.findings.len().max(found.findings.len());
    let at = (0..all).find(|at| recorded.findings.get(*at) != found.findings.get(*at));
    let finding = |verdict: &Verdict| at.map_or_else(String::new, |at| words(verdict.findings.get(at)));
    let status = |verdict: &Verdict| verdict.status.name().to_owned();
    let rows = match same_judge(recording) {
        true => {
            let same = ("verdict", signature(recorded), signature(found));
            vec![same, ("finding", finding(recorded), finding(found))]
        }
        false => vec![("verdict", status(recorded), status(found))],
    };
    let (what, left, right) = rows.into_iter().find(|(_, left, right)| left != right)?;
    Some(OutcomeDifference { what, left, right })
}

/// All that a finding says, on one line.
fn words(finding: Option<&Finding>) -> String {
    let Some(Finding { kind, title, message, location, backtrace, peers, related: _ }) = finding else {
        return "none".to_owned();
    };
    let stack = |frames: &[StackFrame]| frames.iter().map(frame).collect::<Vec<_>>().join(", ");
    let at = location.as_ref().map_or_else(String::new, |at| format!(" at {}", place(at)));
    let peers: Vec<String> =
        peers.iter().map(|peer| format!("; {} waits in {}", peer.node, stack(&peer.backtrace))).collect();
    let stack = if backtrace.is_empty() { String::new() } else { format!(", in {}", stack(backtrace)) };
    format!("{} `{title}`: \"{}\"{at}{stack}{}", kind.name(), message.escape_debug(), peers.concat())
}

/// A frame with all that is known of it: `add (main+0x2a, src/lib.rs:3:9)`.
fn frame(frame: &StackFrame) -> String {
    let StackFrame { module, function, offset, source } = frame;
    let place = if *source == SourceLocation::default() { String::new() } else { format!(", {}", place(source)) };
    format!("{function} ({module}+{offset:#x}{place})")
}

/// `src/lib.rs:3:9`, as far as it is known.
fn place(at: &SourceLocation) -> String {
    let numbers = [at.line, at.col].into_iter().flatten().map(|number| format!(":{number}"));
    std::iter::once(at.file.clone().unwrap_or_else(|| "?".to_owned())).chain(numbers).collect()
}

fn different_source(recording: &Recording) -> Option<OutcomeDifference> {
    let found = source_of_target(recording).filter(|found| *found != recording.target.source)?;
    let (left, right) = (recording.target.source.to_string(), found.to_string());
    Some(OutcomeDifference { what: "digest of the target", left, right })
}

/// Replays the decisions of `recording` on `changed`, and names where it leaves the way of `original`.
///
/// # Errors
/// When an execution fails for reasons of the machine.
pub fn replay_against(
    recording: &Recording,
    original: &mut dyn Executor,
    changed: &mut dyn Executor,
) -> Result<CrossReplay, HarnessError> {
    let source = || source_of(recording);
    let execution = changed.execute(source(), 0..0)?;
    let verdict = judge(&execution);
    let mut recorded = ReplaySide { executor: original, source: &source };
    let mut asked = ReplaySide { executor: changed, source: &source };
    let divergence = locate(&mut recorded, &mut asked)?;
    Ok(CrossReplay { execution, verdict, divergence })
}

/// What a recording tells of its history without being executed.
fn recorded_history(recording: &Recording) -> History {
    History {
        calls: recording.outcome.calls,
        decisions: recording.outcome.decisions,
        digest: recording.outcome.history,
        marks: recording.marks.clone(),
        ..History::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_both_notations_are_the_same_and_other_values_are_not() {
        for (before, now) in [
            ("error noent", "err(noent)"),
            ("error ErrorCode::NoEntry", "err(no-entry)"),
            (
                "error ErrorCode { code: 20, name: \"no-entry\", message: \"No such file or directory, similar to `ENOENT`.\" }",
                "err(no-entry)",
            ),
            ("(READ|MUTATE_DIRECTORY)", "{read, mutate-directory}"),
            ("Datetime { seconds: 3, nanoseconds: 5 }", "{seconds: 3, nanoseconds: 5}"),
            (
                "error ErrorCode::DnsError(DnsErrorPayload { rcode: None, info-code: Some(3) })",
                "err(DNS-error({rcode: none, info-code: some(3)}))",
            ),
        ] {
            assert_eq!(without_notation(before), without_notation(now));
        }
        assert_ne!(without_notation("error noent"), without_notation("err(perm)"));
        assert_ne!(without_notation("{seconds: 3}"), without_notation("{seconds: 4}"));
    }
}
