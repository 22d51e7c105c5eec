//! An executor in a few lines, pure or leaking, and what the audit says of it.

use super::*;
use crate::compare::{Side, locate};
use fozzy_trace::{End, Execution, Instant, NodeId, Origin, Output, Purpose, Question, Recorder};

/// An executor in three lines: asks for bytes `calls` times and writes them down. From the call
/// `odd` of its execution `spoilt` on, it answers from somewhere else, as a leaking clock would.
struct Fake {
    calls: u64,
    odd: u64,
    spoilt: Option<usize>,
    executions: usize,
}

impl Executor for Fake {
    fn execute(&mut self, mut source: Box<dyn DecisionSource>, keep: Keep) -> Result<Execution, HarnessError> {
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
            end: End::Exited { code: 0 },
            ended_at: Instant(self.calls),
            history: recorder.finish(),
            stdout: Output::default(),
            stderr: Output::default(),
            fuel_used: 0,
            memory_bytes: 0,
            memory: Digest::of(b""),
            backtrace: Vec::new(),
        })
    }
}

fn fake(calls: u64, odd: u64, spoilt: Option<usize>) -> Fake {
    Fake { calls, odd, spoilt, executions: 0 }
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
    let source = || Box::new(Seeded::new(Seed(7))) as Box<dyn DecisionSource>;
    let (mut plain, mut odd) = (fake(300_000, 0, None), fake(300_000, 234_567, Some(0)));
    let mut left = Side { executor: &mut plain, source: &source };
    let mut right = Side { executor: &mut odd, source: &source };
    let divergence = locate(&mut left, &mut right).expect("executes").expect("differs");
    assert_eq!(divergence.index, 234_567);

    let mut shorter = fake(1_000, 0, None);
    let mut right = Side { executor: &mut shorter, source: &source };
    let divergence = locate(&mut left, &mut right).expect("executes").expect("differs");
    assert_eq!((divergence.index, divergence.asked), (1_000, None));
}
