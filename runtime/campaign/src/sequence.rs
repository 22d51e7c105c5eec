//! The steps of a recorded failure, as people are told them: the recording is executed once more, and told.
//!
//! ```text
//! Recording ─▶ Session::narrate ─▶ calls, values that the guest says only then, strikes ─▶ StepSequence
//!    └─ text of a scenario file ─▶ place and values of each step
//! ```
//!
//! Invariants: an execution is shown only if it ended as the recording did, otherwise one without the guest's words, or
//! none; memory is bounded, however long the run.
//! Not here: how steps look (`fozzy-report`).

use crate::pipeline::session_of;
use crate::scenario;
use crate::scenario_steps::FileSteps;
use fozzy_report::{ExecutedStep, StepEvent, StepSequence, StepValue};
use fozzy_search::source_of;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::{MachinePlan, PlannedCall, ScenarioKind};
use fozzy_trace::{Aside, Execution, Executor, Facts, HistoryEntry, Plan, Status};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Steps that are kept, the last ones.
const STEPS_MAX: usize = 1_000;
/// Values and events that are kept of a step.
const PARTS_MAX: usize = 64;
/// Bytes of text after which the first half of the steps is let go: with few of them, each with parts of [`TEXT_BYTES_MAX`], there
/// are twice as many at the most.
const BYTES_MAX: usize = 8 << 20;
/// Bytes of each text that are kept.
const TEXT_BYTES_MAX: usize = fozzy_trace::ASIDE_BYTES_MAX;
/// Instructions of a recording beyond which it is not executed once more: that would take as long as the run itself.
const FUEL_MAX: u64 = 5_000_000_000;

/// The steps of a recording that failed; `None` when it passed, has no steps, or they cannot be told.
pub fn failing_sequence(recording: &Recording) -> Option<StepSequence> {
    has_failed(recording).then(|| last_sequence(recording)).flatten()
}

/// The same, with what the program told of the run, and what its planned faults did; those also of a run without steps.
pub fn failing_run(recording: &Recording) -> Option<(Option<StepSequence>, Facts)> {
    if !has_failed(recording) {
        return None;
    }
    match told_run(recording) {
        Some((sequence, facts)) => Some((Some(sequence), facts)),
        None if !is_varied(&recording.plan) || recording.outcome.fuel_used > FUEL_MAX => None,
        None => tell(recording, false).map(|(execution, _)| (None, execution.facts)),
    }
}

/// Whether faults or moments of input are varied.
fn is_varied(plan: &Plan) -> bool {
    let machines = std::iter::once(&plan.main).chain(plan.nodes.iter().map(|node| &node.program.machine));
    let varies = |machine: &MachinePlan| machine.stdin.channel.as_ref().is_some_and(|channel| channel.varies);
    !plan.faults.is_empty() || machines.into_iter().any(varies)
}

fn has_failed(recording: &Recording) -> bool {
    recording.outcome.verdict.status != Status::Pass
}

/// The steps of a recording's last sequence, however it ended.
pub fn last_sequence(recording: &Recording) -> Option<StepSequence> {
    told_run(recording).map(|(sequence, _)| sequence)
}

fn told_run(recording: &Recording) -> Option<(StepSequence, Facts)> {
    let outcome = &recording.outcome;
    let has_steps = match &recording.plan.call {
        Some(call) => matches!(call, PlannedCall::Property(_)),
        None => recording.plan.scenario.is_some(),
    };
    if !has_steps || outcome.fuel_used > FUEL_MAX {
        return None;
    }
    let (execution, sequence) = [true, false]
        .into_iter()
        .find_map(|is_narrated| tell(recording, is_narrated))
        .filter(|(_, told)| !told.steps.is_empty())?;
    let sequence = finish(recording, &execution, sequence);
    Some((sequence, execution.facts))
}

/// Executes a recording and collects its steps; `None` when it ends in another way.
fn tell(recording: &Recording, is_narrated: bool) -> Option<(Execution, StepSequence)> {
    let mut session = session_of(recording).ok()?;
    let collector = Arc::new(Mutex::new(SequenceCollector::default()));
    let told = Arc::clone(&collector);
    let sink = Box::new(move |entry: HistoryEntry| told.lock().unwrap_or_else(PoisonError::into_inner).hear(&entry));
    match is_narrated {
        true => session.narrate(sink),
        false => session.follow(sink),
    }
    let execution = session.execute(source_of(recording), 0..u64::MAX).ok()?;
    let told = std::mem::take(&mut *collector.lock().unwrap_or_else(PoisonError::into_inner));
    let is_same = execution.end == recording.outcome.end && execution.ended_at == recording.outcome.ended_at;
    is_same.then(|| (execution, told.finish()))
}

/// Adds what the recording knows: the steps of its file, and which one failed.
fn finish(recording: &Recording, execution: &Execution, mut sequence: StepSequence) -> StepSequence {
    let scenario = execution.facts.scenario.as_ref();
    let is_within = recording.plan.call.is_some() || scenario.is_some_and(|scenario| scenario.position.step.is_some());
    let passed = execution.end == (fozzy_trace::ExecutionEnd::Exited { code: 0 });
    if let Some(last) = sequence.steps.last_mut() {
        last.failed = is_within && !passed;
    }
    let file = (recording.target.kind == scenario::KIND).then(|| FileSteps::of(recording)).flatten();
    let kept = recording.plan.scenario.as_ref().and_then(|plan| plan.stretches(ScenarioKind::Stateful, 0));
    if let (Some(file), Some(kept)) = (file, kept) {
        for step in &mut sequence.steps {
            if let Some(number) = nth_step(&kept, step.number - 1) {
                file.describe(number, step);
            }
        }
    }
    sequence
}

/// The number of the `n`-th step of these stretches, from 0.
fn nth_step(stretches: &[(u32, u32)], mut n: u64) -> Option<u32> {
    for (from, to) in stretches {
        let length = u64::from(to.saturating_sub(*from));
        if n < length {
            return Some(from + n as u32);
        }
        n -= length;
    }
    None
}

/// Builds steps from the entries of a history.
#[derive(Default)]
struct SequenceCollector {
    sequences: u64,
    begun: u64,
    steps: VecDeque<ExecutedStep>,
    /// Draws of this step that no name was given to yet.
    drawn: Vec<StepValue>,
    /// Bytes of text that were kept since steps were let go for their text.
    bytes: usize,
}

impl SequenceCollector {
    fn hear(&mut self, entry: &HistoryEntry) {
        match Aside::of(entry) {
            Some(Aside::Fault) => {
                let how = if entry.answer.is_empty() { String::new() } else { format!(", {}", entry.answer) };
                return self.event("fault", format!("{}{how}", entry.asked), entry);
            }
            Some(Aside::Sequence) => return self.sequence(),
            Some(Aside::Flow) => {
                let flow = self.kept(&entry.asked);
                self.step_now().flow = flow;
                return;
            }
            Some(Aside::Drew) => {
                self.drawn.clear();
                let value = StepValue { name: entry.asked.clone(), value: entry.answer.clone() };
                return self.value(value);
            }
            Some(Aside::Returned) => {
                let result = self.kept(&entry.asked);
                self.step_now().result = Some(result);
                return;
            }
            Some(Aside::Skipped) => {
                let why = self.kept(&entry.asked);
                self.step_now().skipped = Some(why);
                return;
            }
            None => {}
        }
        match entry.call.as_str() {
            "fozzy:scenario/stateful.begin-sequence" => self.sequence(),
            "fozzy:scenario/stateful.step" | "fozzy:scenario/property.check" | "fozzy:scenario/property.check-only" => {
                self.step()
            }
            "fozzy:scenario/fuzz.run" => {
                self.step();
                self.value(StepValue { name: "input".to_owned(), value: entry.answer.clone() });
            }
            "fozzy:scenario/stateful.end-sequence" => self.settle(),
            call => self.call(call, entry),
        }
    }

    fn sequence(&mut self) {
        *self = SequenceCollector { sequences: self.sequences + 1, ..SequenceCollector::default() };
    }

    fn step(&mut self) {
        self.settle();
        self.begun += 1;
        self.steps.push_back(ExecutedStep { number: self.begun, ..ExecutedStep::default() });
        if self.steps.len() > STEPS_MAX {
            self.steps.pop_front();
        }
    }

    /// A text that is kept with the current step. The first steps are dropped when there is too much text, or when
    /// there are too many steps.
    fn kept(&mut self, text: &str) -> String {
        let text = fozzy_trace::cut(text, TEXT_BYTES_MAX);
        self.bytes += text.len();
        if self.bytes > BYTES_MAX {
            self.bytes = 0;
            self.steps.drain(..self.steps.len() / 2);
        }
        text
    }

    /// The current step.
    fn step_now(&mut self) -> &mut ExecutedStep {
        if self.steps.is_empty() {
            self.step();
        }
        self.steps.back_mut().expect("one was added")
    }

    /// Draws that stayed without a name are shown as they were asked.
    fn settle(&mut self) {
        for value in std::mem::take(&mut self.drawn) {
            self.value(value);
        }
    }

    fn value(&mut self, value: StepValue) {
        if self.step_now().values.len() < PARTS_MAX {
            let value = StepValue { name: self.kept(&value.name), value: self.kept(&value.value) };
            self.step_now().values.push(value);
        }
    }

    fn event(&mut self, kind: &str, text: String, entry: &HistoryEntry) {
        let text = fozzy_trace::cut(&text, TEXT_BYTES_MAX);
        // What happens before the first step is not shown with it.
        let Some(step) = self.steps.back_mut() else { return };
        if let Some(last) = step.events.last_mut().filter(|last| last.kind == kind && last.text == text) {
            last.times = last.times.max(1) + 1;
        } else if step.events.len() < PARTS_MAX {
            let text = self.kept(&text);
            self.step_now().events.push(StepEvent {
                kind: kind.to_owned(),
                text,
                times: 0,
                virtual_time_ns: entry.at.0,
            });
        }
    }

    fn call(&mut self, call: &str, entry: &HistoryEntry) {
        if self.steps.is_empty() {
            return;
        }
        let HistoryEntry { asked, answer, .. } = entry;
        match call.split_once('.') {
            Some(("fozzy:choices/draws", "choose" | "int" | "bool" | "bytes" | "weighted")) => {
                let Some(site) = site(asked) else { return };
                // The flow of a step is its name.
                if site != "flow" && self.drawn.len() < PARTS_MAX {
                    self.drawn.push(StepValue { name: site, value: answer.clone() });
                }
            }
            Some(("fozzy:events/journal", "event")) => self.event("event", unquoted(asked), entry),
            Some(("fozzy:history/operations", "invoke")) => self.event("operation", unquoted(asked), entry),
            Some(("fozzy:history/operations", how @ ("ok" | "fail" | "info"))) => {
                self.event("operation", format!("{how} {}", unquoted(asked)), entry);
            }
            Some(("wasi_snapshot_preview1", _)) => {}
            _ if call.starts_with("wasi:") || call.starts_with("fozzy:") => {}
            // What is left is the target.
            _ => self.event("call", format!("{call}({asked}) -> {answer}"), entry),
        }
    }

    fn finish(mut self) -> StepSequence {
        self.settle();
        let omitted = self.begun - self.steps.len() as u64;
        StepSequence { number: self.sequences.max(1), omitted, steps: self.steps.into() }
    }
}

/// The site of a draw, which stands first; one that is a place in a source has no name that says anything.
fn site(asked: &str) -> Option<String> {
    let (site, _) = asked.strip_prefix('"')?.split_once('"')?;
    let is_place =
        site.rsplit(':').next().is_some_and(|line| !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()));
    Some(if is_place { String::new() } else { site.to_owned() })
}

/// `"debit", "[\"r\", 17]"` as `debit, ["r", 17]`: texts without the quotes around them.
fn unquoted(asked: &str) -> String {
    let (mut parts, mut part, mut rest) = (Vec::new(), String::new(), asked.chars().peekable());
    let mut is_quoted = false;
    while let Some(c) = rest.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted && matches!(rest.peek(), Some('"' | '\\')) => part.extend(rest.next()),
            ',' if !is_quoted && rest.next_if_eq(&' ').is_some() => parts.push(std::mem::take(&mut part)),
            c => part.push(c),
        }
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::{Instant, NodeId};

    #[test]
    fn texts_stand_without_the_quotes_around_them() {
        assert_eq!(unquoted(r#"1, "debit", "17""#), "1, debit, 17");
        assert_eq!(unquoted(r#"0, "echo", "\"Please, echo\"""#), r#"0, echo, "Please, echo""#);
        assert_eq!(unquoted(r#"2, "txn", "[[\"r\" 1 nil]]", """#), r#"2, txn, [["r" 1 nil]]"#);
    }

    fn told(entries: &[(&str, &str, &str)]) -> StepSequence {
        let mut collector = SequenceCollector::default();
        for (call, asked, answer) in entries {
            let [call, asked, answer] = [call, asked, answer].map(|text| (*text).to_owned());
            collector.hear(&HistoryEntry {
                index: 0,
                at: Instant(7),
                node: NodeId(0),
                call,
                asked,
                answer,
                decision: false,
            });
        }
        collector.finish()
    }

    #[test]
    fn values_that_the_guest_tells_stand_for_its_draws_and_others_for_themselves() {
        let sequence = told(&[
            ("fozzy:scenario/stateful.begin-sequence", "0", ""),
            ("fozzy:scenario/stateful.step", "17", ""),
            ("fozzy:choices/draws.weighted", "\"flow\", [1, 1]", "1"),
            (Aside::Flow.name(), "put", ""),
            ("fozzy:choices/draws.weighted", "\"key\", [4, 3, 1]", "0"),
            ("fozzy:choices/draws.choose", "\"key\", 256", "3"),
            (Aside::Drew.name(), "key", "3"),
            ("fozzy:choices/draws.choose", "\"src/lib.rs:31\", 9", "5"),
            ("fozzy:choices/draws.choose", "\"account\", 9", "4"),
            (Aside::Fault.name(), "io-error on /a", ""),
            (Aside::Fault.name(), "io-error on /a", ""),
            (Aside::Returned.name(), "None", ""),
        ]);
        let [step] = &sequence.steps[..] else { panic!("{sequence:?}") };
        let values: Vec<(&str, &str)> = step.values.iter().map(|value| (&*value.name, &*value.value)).collect();
        assert_eq!(values, [("key", "3"), ("", "5"), ("account", "4")]);
        assert_eq!((step.number, &*step.flow, step.result.as_deref()), (1, "put", Some("None")));
        assert_eq!((&*step.events[0].kind, step.events[0].times), ("fault", 2));
    }

    #[test]
    fn the_last_sequence_and_its_last_steps_are_kept() {
        let mut entries =
            vec![("fozzy:scenario/stateful.begin-sequence", "0", ""), ("fozzy:scenario/stateful.step", "0", "")];
        entries.push(("fozzy:scenario/stateful.begin-sequence", "1", ""));
        entries.extend((0..STEPS_MAX + 3).map(|_| ("fozzy:scenario/stateful.step", "0", "")));
        let sequence = told(&entries);
        assert_eq!((sequence.number, sequence.omitted, sequence.steps.len()), (2, 3, STEPS_MAX));
        assert_eq!(sequence.steps[0].number, 4);
    }

    #[test]
    fn what_a_guest_says_in_its_steps_is_bounded() {
        let long = "x".repeat(1 << 20);
        let step = [
            ("fozzy:scenario/stateful.step", "0", ""),
            ("example:target/store.get", &long, &long),
            (Aside::Drew.name(), "key", &long),
            (Aside::Returned.name(), &long, ""),
        ];
        let parts = [(Aside::Drew.name(), "key", &*long); PARTS_MAX];
        let entries: Vec<(&str, &str, &str)> = (0..200).flat_map(|_| step.into_iter().chain(parts)).collect();
        let sequence = told(&entries);
        let of = |step: &ExecutedStep| {
            let values = step.values.iter().map(|value| value.value.len()).sum::<usize>();
            values + step.events.iter().map(|event| event.text.len()).sum::<usize>()
        };
        let bytes: usize = sequence.steps.iter().map(of).sum();
        assert!(bytes <= 2 * BYTES_MAX, "{bytes}");
        let last = sequence.steps.last().expect("the last ones are kept");
        assert_eq!((last.number, last.values.len()), (200, PARTS_MAX));
        assert_eq!(sequence.omitted + sequence.steps.len() as u64, 200);
    }
}
