//! Passwords: values that chance never meets, and that comparisons give away.

use super::*;
use fozzy_trace::{CmpLogEntry, ComparisonKind};

const VALUES: [u64; 8] =
    [0x5eed_1234, 901_771_313, 70_000, 3_141_592_653, 0xdead_0042, 1_618_033_988, 271_828_182, 0xcafe_f00d];

/// Values one by one, drawn as the SDK draws them: small ones, any, or from the edge.
struct Password {
    right: usize,
    steps: u32,
    source: Box<dyn DecisionSource>,
    captured: BTreeMap<CheckpointId, (usize, u32)>,
    begins_again: bool,
    /// Whether comparisons are logged, and the last one.
    logs: bool,
    compared: Option<CmpLogEntry>,
}

fn password(begins_again: bool) -> Password {
    let captured = BTreeMap::from([(CheckpointId(0), (0, 0))]);
    let source = Box::new(SeededSource::new(Seed(0)));
    Password { right: 0, steps: 0, source, captured, begins_again, logs: true, compared: None }
}

impl Password {
    fn enter(&mut self) -> bool {
        let purpose = Purpose::Choice(DecisionPart::step(0, self.steps));
        self.steps += 1;
        let question = Question { node: NodeId(0), purpose, site: "value" };
        let value = match self.source.below(question, 8).0 {
            0..4 => self.source.below(question, 256).0,
            4..7 => self.source.below(question, 1 << 32).0,
            _ => [0, 1, u32::MAX, 7][self.source.below(question, 4).0 as usize].into(),
        };
        let (left, right) = (VALUES[self.right], value);
        let kind = ComparisonKind::Equal { bits: 32 };
        self.compared = Some(CmpLogEntry { site: 1, kind, left, right, at: 0, bytes: 8 });
        self.right = match (left == right, self.begins_again) {
            (true, _) => self.right + 1,
            (false, true) => 0,
            (false, false) => self.right,
        };
        self.right == VALUES.len()
    }
}

impl StepTarget for Password {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }
    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        (self.right, self.steps) = self.captured[&checkpoint];
        self.source = source;
        Ok(())
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        let StepId::Step(number) = step else { return Ok(StepOutcome::Returned { flow: None }) };
        assert_eq!(number, self.steps, "steps are taken in their order");
        Ok(match self.enter() {
            true => StepOutcome::Ended {
                end: ExecutionEnd::Failed { failure: failure() },
                backtrace: Vec::new(),
                stderr: Vec::new(),
            },
            false => StepOutcome::Returned { flow: Some(0) },
        })
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        let id = CheckpointId(self.captured.len() as u64 + 1_000 * u64::from(self.steps));
        self.captured.insert(id, (self.right, self.steps));
        Ok(id)
    }
    fn release(&mut self, checkpoint: CheckpointId) {
        self.captured.remove(&checkpoint);
    }
}

impl StatefulTarget for Password {
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        see(CoverageStretch::whole(0, &[1]));
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        Some(self.right as u64)
    }
    fn log_comparisons(&mut self, on: bool) -> Result<(), HarnessError> {
        self.compared = self.compared.filter(|_| on);
        Ok(())
    }
    fn comparisons(&mut self, log: &mut Vec<CmpLogEntry>) {
        log.extend(self.compared.filter(|_| self.logs));
    }
    fn confirm(&mut self, path: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
        let mut alone = password(self.begins_again);
        alone.source = Box::new(RecordedSource::new(Seed(0), path.overrides()));
        let failed = (0..path.steps).any(|_| alone.enter());
        Ok(if failed { opened() } else { Verdict { status: Status::Pass, findings: Vec::new(), signature: None } })
    }
}

/// Steps until it is open; `None` when that takes more than `most`.
fn open(mut target: Password, seed: u64, most: u64) -> Option<u64> {
    let options = Options { seed: Seed(seed), stop: StopCondition::FirstFinding, ..Options::default() };
    let row = strategy("coverage_guided").expect("there is one");
    let mut exploration = Exploration::new(options, row, &AnswerLog::default());
    let ended = exploration
        .run(&mut target, FirstPaths::Found(&mut std::iter::empty()), &mut Patience(most))
        .expect("no machine");
    assert_eq!(exploration.stats().lost, 0);
    (ended == ExplorationEnd::FirstFailure).then(|| exploration.stats().steps)
}

#[test]
fn a_password_of_eight_values_is_opened_by_what_it_compares() {
    for seed in 0..20 {
        for begins_again in [false, true] {
            let steps = open(password(begins_again), seed, 20_000);
            assert!(steps.is_some(), "seed {seed}, again {begins_again}");
        }
    }
    let silent = Password { logs: false, ..password(false) };
    assert_eq!(open(silent, 1, 20_000), None, "chance does not");
}
