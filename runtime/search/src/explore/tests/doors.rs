//! A door with three flows, which is open and locked after three of the right ones; its steps may draw a value out of very many, too.
//!
//! Depth first and breadth first must find that, whatever the values, and come to an end where there are few ways.

use super::*;

const OPEN: u64 = 0;
const CLOSE: u64 = 1;

/// Open, locked, and whether it was ever closed.
type DoorState = (bool, bool, bool);

struct Door {
    state: DoorState,
    source: Box<dyn DecisionSource>,
    captured: BTreeMap<CheckpointId, DoorState>,
    next: u64,
    /// Answers of a question that each step asks first, and that nothing depends on.
    values: u64,
}

fn door(values: u64) -> Door {
    let captured = BTreeMap::from([(CheckpointId(0), DoorState::default())]);
    Door { state: DoorState::default(), source: Box::new(SeededSource::new(Seed(0))), captured, next: 1, values }
}

impl Door {
    /// Whether it is open and locked after a step.
    fn step_fails(&mut self, number: u32) -> bool {
        let purpose = Purpose::Choice(DecisionPart::step(0, number));
        let question = |site| Question { node: NodeId(0), purpose, site };
        if self.values > 1 {
            self.source.below(question("value"), self.values);
        }
        let (open, locked, was_closed) = &mut self.state;
        match self.source.below(question("flow"), 3).0 {
            OPEN => *open |= !*locked,
            CLOSE => (*open, *was_closed) = (false, true),
            // The fault that was planted: it is locked as it stands.
            _ => *locked |= *was_closed && *open,
        }
        *open && *locked
    }
}

impl StepTarget for Door {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }
    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        (self.state, self.source) = (self.captured[&checkpoint], source);
        Ok(())
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        let StepId::Step(number) = step else { return Ok(StepOutcome::Returned { flow: None }) };
        Ok(match self.step_fails(number) {
            true => StepOutcome::Ended {
                end: ExecutionEnd::Failed { failure: failure() },
                backtrace: Vec::new(),
                stderr: Vec::new(),
            },
            false => StepOutcome::Returned { flow: Some(0) },
        })
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.captured.insert(CheckpointId(self.next), self.state);
        self.next += 1;
        Ok(CheckpointId(self.next - 1))
    }
    fn release(&mut self, checkpoint: CheckpointId) {
        self.captured.remove(&checkpoint);
    }
}

impl StatefulTarget for Door {
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        see(CoverageStretch::whole(0, &[1]));
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        None
    }
    fn confirm(&mut self, path: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
        let mut alone = door(self.values);
        alone.source = Box::new(RecordedSource::new(Seed(0), path.overrides()));
        let failed = (0..path.steps).any(|number| alone.step_fails(number));
        Ok(if failed { opened() } else { Verdict { status: Status::Pass, findings: Vec::new(), signature: None } })
    }
}

fn explored(name: &str, values: u64, options: Options) -> (ExplorationEnd, Stats) {
    let row = strategy(name).expect("there is one");
    let mut exploration = Exploration::new(options, row, &AnswerLog::default());
    let nothing = FirstPaths::Found(&mut std::iter::empty());
    let ended = exploration.run(&mut door(values), nothing, &mut Patience(u64::MAX)).expect("no machine");
    (ended, *exploration.stats())
}

#[test]
fn systematic_searches_go_deep_and_wide_whatever_values_are_drawn() {
    for (name, most) in [("dfs", 400), ("bfs", 800)] {
        for values in [1, 2, 1000, u64::MAX] {
            let stop = StopCondition::FirstFinding;
            let (ended, stats) = explored(name, values, Options { runs_max: 5_000, stop, ..Options::default() });
            assert_eq!(ended, ExplorationEnd::FirstFailure, "{name} with {values}: {stats:?}");
            assert!(stats.runs <= most, "{name} with {values} took {} runs", stats.runs);
        }
    }
}

#[test]
fn a_finite_space_is_gone_through_and_a_sampled_one_is_told_from_it() {
    let few = |steps| Options { steps_per_run: steps, runs_max: 100_000, ..Options::default() };
    for name in ["dfs", "bfs"] {
        let (ended, stats) = explored(name, 1, few(4));
        // The beginning, and each step that a way can begin with once: those behind a failure are none.
        assert_eq!((ended, stats.findings), (ExplorationEnd::Exhausted, 1), "{name}: {stats:?}");
        let failing = explored(name, 1, few(3)).1;
        assert_eq!((failing.runs, failing.failures), (1 + 3 + 9 + 27, 1), "{name}: {failing:?}");
        let (ended, _) = explored(name, 1000, few(1));
        assert_eq!(ended, ExplorationEnd::Sampled, "{name}");
    }
}
