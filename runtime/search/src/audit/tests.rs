//! An executor in a few lines, pure or leaking, and what the audit says of it.

use super::*;
use crate::compare::{ReplaySide, locate};
use crate::replay::replay;
use fozzy_trace::file::{EngineId, RecordedTarget, Recording};
use fozzy_trace::observation::{FileOperation, FileRequest, FileResponse};
use fozzy_trace::plan::{Inputs, Plan};
use fozzy_trace::{BackendRequest, BackendResponse, NodeExecution, Observation, ObservationLookup, Status};
use fozzy_trace::{Execution, ExecutionEnd, Instant, NodeId, Origin, Purpose, Question, Recorder, StreamOutput};

/// An executor in three lines: asks for bytes `calls` times and writes them down. From the call
/// `odd` of its execution `spoilt` on, it answers from somewhere else, as a leaking clock would.
struct Fake {
    calls: u64,
    odd: u64,
    spoilt: Option<usize>,
    executions: usize,
}

impl Executor for Fake {
    fn execute(&mut self, mut source: Box<dyn DecisionSource>, keep: HistoryWindow) -> Result<Execution, HarnessError> {
        self.executions += 1;
        let leaks = self.spoilt.is_some_and(|spoilt| self.executions >= spoilt);
        let mut recorder = Recorder::new(keep);
        let question = Question { node: NodeId(0), purpose: Purpose::Random, site: "fake" };
        for call in 0..self.calls {
            let (mut answer, origin) = source.below(question, 1_000_000);
            assert_eq!(origin, Origin::Seed);
            if leaks && call >= self.odd {
                answer += self.executions as u64;
            }
            recorder.call(1, "fake.draw", NodeId(0), Instant(call), &(), &answer);
        }
        Ok(Execution {
            end: ExecutionEnd::Exited { code: 0 },
            ended_at: Instant(self.calls),
            history: recorder.finish(),
            stdout: StreamOutput::default(),
            stderr: StreamOutput::default(),
            fuel_used: 0,
            memory_bytes: 0,
            memory: Digest::of(b""),
            backtrace: Vec::new(),
            nodes: Vec::new(),
            unmatched: Vec::new(),
            unmatched_more: 0,
            facts: fozzy_trace::Facts::default(),
        })
    }
}

fn fake(calls: u64, odd: u64, spoilt: Option<usize>) -> Fake {
    Fake { calls, odd, spoilt, executions: 0 }
}

/// Asks the real computer for the file of this name, once.
struct Reader(&'static str);

impl Executor for Reader {
    fn execute(&mut self, mut source: Box<dyn DecisionSource>, keep: HistoryWindow) -> Result<Execution, HarnessError> {
        let mut execution = fake(3, 0, None).execute(Box::new(SeededSource::new(source.seed())), keep)?;
        let operation = FileOperation::ReadlinkAt { path: self.0.to_owned() };
        let ask = BackendRequest::File(FileRequest { on: 0, operation });
        let answer = match source.observe(&ask, &mut execution.history.observed) {
            ObservationLookup::Unknown => BackendResponse::File(Ok(FileResponse::Link("real".to_owned()))),
            ObservationLookup::Answer(answer, _) => answer,
            ObservationLookup::Diverged(recorded) => {
                execution.end = ExecutionEnd::diverged(recorded.as_deref(), &ask);
                return Ok(execution);
            }
        };
        let BackendResponse::File(Ok(FileResponse::Link(text))) = &answer else { unreachable!("it fits its ask") };
        execution.stdout.write(text.as_bytes());
        execution.history.observations.push(Observation { ask, answer, took: None });
        Ok(execution)
    }
}

/// A recording answers for the real computer, through the file, and for nothing that it was not asked.
#[test]
fn a_replay_asks_the_recording_instead_of_the_computer() {
    let execution = Reader("a").execute(Box::new(SeededSource::new(Seed(7))), 0..0).expect("executes");
    let target = RecordedTarget { name: "a".to_owned(), source: Digest::of(b""), kind: "component".to_owned() };
    let (fozzy, wasmtime, configuration) = (String::new(), String::new(), Digest::of(b""));
    let engine = EngineId { fozzy, wasmtime, rewriter: 1, configuration };
    let (plan, inputs, verdict) = (Plan::default(), Inputs::default(), judge(&execution));
    let recording = Recording::of(target, *b"", plan, &inputs, engine, &execution, verdict, Seed(7), "run");
    let bytes = recording.to_bytes().expect("small");
    let recording = Recording::read(&bytes).expect("what was written");

    let same = replay(&recording, &mut Reader("a"), 0..0).expect("executes");
    assert_eq!((same.difference, same.execution.stdout.kept()), (None, &b"real"[..]));
    let other = replay(&recording, &mut Reader("b"), 0..0).expect("executes");
    assert_eq!(other.verdict.status, Status::Error);
    let difference = other.difference.expect("differs");
    assert_eq!(difference.what, "request to the real computer");
    assert!(difference.left.contains(r#""path":"a""#) && difference.right.contains(r#""path":"b""#), "{difference:?}");
}

#[test]
fn another_machine_is_compared_too() {
    let mut execution = fake(1, 0, None).execute(Box::new(SeededSource::new(Seed(7))), 0..0).expect("executes");
    let outcome = |execution: &Execution| RecordedOutcome::of(execution, judge(execution));
    let node = NodeExecution {
        name: "db".to_owned(),
        end: None,
        stdout: StreamOutput::default(),
        stderr: StreamOutput::default(),
        memory: Digest::of(b""),
        backtrace: Vec::new(),
        ends: None,
        restarts: 0,
        is_down: false,
    };
    execution.nodes.push(node);
    let before = outcome(&execution);
    assert_eq!(compare(&before, &outcome(&execution)), None);
    execution.nodes[0].stdout.write(b"x");
    let difference = compare(&before, &outcome(&execution)).expect("differs");
    assert_eq!(difference.what, "another machine");
    assert!(difference.left.starts_with("`db`: still running, 0 bytes out"), "{difference:?}");
    execution.nodes.clear();
    assert_eq!(compare(&before, &outcome(&execution)).expect("differs").right, "no such machine");
}

#[test]
fn a_pure_executor_passes() {
    let audit = audit(&mut fake(5_000, 0, None), Seed(7), 5).expect("executes");
    assert!(audit.is_consistent());
    assert_eq!(audit.signatures.len(), 5);
    assert!(audit.signatures.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_leak_is_named_by_its_first_call() {
    let audit = audit(&mut fake(5_000, 3_210, Some(4)), Seed(7), 5).expect("executes");
    assert_eq!(audit.first_mismatch, Some(4));
    let divergence = audit.divergence.expect("calls differ");
    assert_eq!(divergence.index, 3_210);
    assert_ne!(divergence.recorded.expect("there").answer, divergence.asked.expect("there").answer);
    assert_eq!(audit.difference.expect("differs").what, "calls");
}

#[test]
fn a_divergence_deep_in_a_long_history_is_located() {
    let source = || Box::new(SeededSource::new(Seed(7))) as Box<dyn DecisionSource>;
    let (mut plain, mut odd) = (fake(300_000, 0, None), fake(300_000, 234_567, Some(0)));
    let mut left = ReplaySide { executor: &mut plain, source: &source };
    let mut right = ReplaySide { executor: &mut odd, source: &source };
    let divergence = locate(&mut left, &mut right).expect("executes").expect("differs");
    assert_eq!(divergence.index, 234_567);

    let mut shorter = fake(1_000, 0, None);
    let mut right = ReplaySide { executor: &mut shorter, source: &source };
    let divergence = locate(&mut left, &mut right).expect("executes").expect("differs");
    assert_eq!((divergence.index, divergence.asked), (1_000, None));
}
