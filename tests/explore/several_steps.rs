//! Steps that are taken in one call of the guest: an exploration with them is one without, in all that it finds, keeps and counts.
//!
//! Not here: which steps are (`fozzy-search`).

use crate::corpus;
use fozzy_check::{SearchVerdict, judge_end, judge_facts};
use fozzy_engine::{Program, Walker};
use fozzy_search::FailureRecord;
use fozzy_search::explore::{
    AnswerLog, ConfirmReason, CoverageStretch, DecisionPath, Exploration, ExplorationObserver, FirstPaths,
    GuidedSource, Options, StatefulTarget, Stats, strategy,
};
use fozzy_trace::facts::Property;
use fozzy_trace::plan::{Inputs, MachinePlan, ScenarioPlan};
use fozzy_trace::source::{Override, RecordedSource};
use fozzy_trace::{
    CheckpointId, DecisionSource, ExecutionEnd, HarnessError, Plan, Seed, SharedStepJudge, StepId, StepJudge,
    StepOutcome, StepTarget, StepView, Verdict,
};
use std::sync::{Arc, Mutex, PoisonError};

/// A scenario that is walked through, and whose failures are confirmed by walking there again.
struct WalkedScenario {
    walker: Walker,
    /// Answers before the beginning.
    before: usize,
    /// Steps in the same call as the next one.
    dull: u64,
}

impl StepTarget for WalkedScenario {
    fn start(&self) -> CheckpointId {
        self.walker.start()
    }

    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.walker.restore(checkpoint, source)
    }

    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        self.walker.step(step)
    }

    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.walker.capture()
    }

    fn release(&mut self, checkpoint: CheckpointId) {
        self.walker.release(checkpoint);
    }
}

impl StatefulTarget for WalkedScenario {
    fn judge_end(&self) -> Option<SearchVerdict> {
        Some(judge_facts(self.walker.facts()))
    }

    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        self.walker.take_coverage(&mut |module, len, at, bytes| see(CoverageStretch { module, len, at, bytes }));
    }

    fn takes_several_steps(&self) -> bool {
        self.walker.takes_several_steps()
    }

    fn steps(&mut self, first: u32, last: u32, judge: &SharedStepJudge) -> Result<(StepOutcome, u32), HarnessError> {
        let (outcome, dull) = self.walker.steps(first, last, judge)?;
        self.dull += u64::from(dull);
        Ok((outcome, dull))
    }

    fn properties(&self, see: &mut dyn FnMut(&str, &Property)) {
        self.walker.facts().properties.iter().for_each(|(name, property)| see(name, property));
    }

    fn properties_version(&self) -> Option<u64> {
        Some(self.walker.facts().properties.version())
    }

    fn state(&self) -> Option<u64> {
        self.walker.facts().states.digest()
    }

    fn memory_state(&mut self) -> Option<u64> {
        self.walker.memory_state()
    }

    fn confirm(&mut self, path: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
        let answers = DecisionPath { answers: path.answers[self.before..].to_vec(), steps: path.steps };
        let start = self.walker.start();
        self.walker.restore(start, Box::new(RecordedSource::new(Seed(0), answers.overrides())))?;
        let steps = (0..path.steps).map(StepId::Step);
        for step in [StepId::Begin].into_iter().chain(steps).chain([StepId::End]) {
            if let StepOutcome::Ended { end, backtrace, stderr } = self.walker.step(step)? {
                return Ok(judge_end(&end, &stderr, &backtrace));
            }
        }
        self.walker.take_coverage(&mut |_, _, _, _| ());
        Ok(judge_facts(self.walker.facts()).verdict)
    }
}

/// Ends after this many steps.
struct StepsAtMost(u64);

impl ExplorationObserver for StepsAtMost {
    fn on_step(&mut self, stats: &Stats) -> bool {
        stats.steps < self.0
    }

    fn on_failure(&mut self, _: &FailureRecord<DecisionPath>) {}
}

/// All that an exploration has to say, and how many steps were taken in the same call as the next one.
fn explored(program: &Program, env: &[(String, String)], (name, seed): (&str, u64), several: bool) -> (String, u64) {
    let main = MachinePlan { env: env.to_vec(), ..MachinePlan::default() };
    let plan = Plan { main, scenario: Some(ScenarioPlan::all(1, 1)), ..Plan::default() };
    let start = AnswerLog::default();
    let first = Box::new(GuidedSource::first(Seed(seed), &start));
    let walker = Walker::of(program.clone(), &plan, &Inputs::default(), 0, first).expect("it has flows");
    let mut target = WalkedScenario { walker, before: start.snapshot().len(), dull: 0 };
    let options = Options { seed: Seed(seed), several_steps: several, ..Options::default() };
    let mut exploration = Exploration::new(options, strategy(name).expect("there is one"), &start);
    let ended = exploration
        .run(&mut target, FirstPaths::Found(&mut std::iter::empty()), &mut StepsAtMost(8_001))
        .expect("the machine is well");
    let paths: Vec<DecisionPath> = exploration.paths().collect();
    let (stats, findings) = (exploration.stats(), exploration.findings().all());
    let (taken, table, rewards) = (exploration.all_taken(), exploration.property_table(), exploration.rewards());
    let said = format!("{ended:?}\n{stats:?}\n{findings:?}\n{paths:?}\n{taken:?}\n{table:?}\n{rewards:?}");
    (said, target.dull)
}

/// A scenario whose steps come to every end there is: a place and a number of rounds that are drawn, a skip, no
/// flow, a trap, a label that is not in memory.
const ENDS: &str = r#"(module
  (import "fozzy:choices/draws@0.1.0" "choose" (func $choose (param i32 i32 i64) (result i64)))
  (import "fozzy:properties/assertions@0.1.0" "state" (func $state (param i32 i32 i64)))
  (memory (export "memory") 1)
  ;; The name, the flows (one), the invariants (none); its name, and its weight; the letters of all texts.
  (data (i32.const 0) "\40\00\00\00\01\00\00\00\20\00\00\00\01\00\00\00")
  (data (i32.const 32) "\40\00\00\00\01\00\00\00\01")
  (data (i32.const 64) "full")
  (global $place (mut i32) (i32.const 0))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
  (func (export "fozzy:scenario/stateful@0.1.0#describe") (result i32) i32.const 0)
  (func (export "fozzy:scenario/stateful@0.1.0#begin-sequence") (param i32))
  (func (export "fozzy:scenario/stateful@0.1.0#step") (param $step i32) (result i32)
    (local $drawn i32)
    (local.set $drawn (i32.wrap_i64 (call $choose (i32.const 64) (i32.const 1) (i64.const 256))))
    (i64.store (i32.const 128) (i64.const 0))
    (if (i32.eq (local.get $drawn) (i32.const 255)) (then unreachable))
    (if (i32.eq (local.get $drawn) (i32.const 254))
      (then
        (i32.store8 (i32.const 128) (i32.const 2))
        (i32.store (i32.const 132) (i32.const 64))
        (i32.store (i32.const 136) (i32.const 4))
        (return (i32.const 128))))
    (if (i32.gt_u (local.get $drawn) (i32.const 240))
      (then
        (i32.store8 (i32.const 128) (i32.const 1))
        (i32.store (i32.const 136) (select (i32.const -1) (i32.const 64) (i32.eq (local.get $drawn) (i32.const 253))))
        (i32.store (i32.const 140) (i32.const 1))
        (return (i32.const 128))))
    (global.set $place (i32.rem_u (i32.add (global.get $place) (local.get $drawn)) (i32.const 24)))
    (local.set $drawn (i32.and (local.get $drawn) (i32.const 15)))
    (loop $again
      (if (local.get $drawn)
        (then (local.set $drawn (i32.sub (local.get $drawn) (i32.const 1))) (br $again))))
    (call $state (i32.const 64) (i32.const 1) (i64.extend_i32_u (global.get $place)))
    i32.const 128)
  (func (export "fozzy:scenario/stateful@0.1.0#end-sequence") (param i32)))"#;

fn loaded(bytes: &[u8]) -> Program {
    let component = fozzy_engine::load(bytes, None).expect("a component").component.into();
    Walker::program_of(component, &Plan::default(), &Inputs::default(), None).expect("it compiles")
}

fn built(scenario: &'static str, fixed: bool) -> Program {
    loaded(&std::fs::read(corpus::scenario(scenario, fixed)).expect("it was built"))
}

/// Explores a scenario in both ways, each puzzle by its name and variables that are set beside it, and says what came of it.
#[track_caller]
fn compare(program: &Program, puzzles: &[&str]) -> String {
    let (mut dull, mut all) = (0, String::new());
    for puzzle in puzzles {
        let (name, variables) = puzzle.split_once(' ').unwrap_or((*puzzle, ""));
        let set = variables.split_whitespace().map(|name| (name.to_owned(), "1".to_owned()));
        let env: Vec<_> = std::iter::once(("PUZZLE".to_owned(), name.to_owned())).chain(set).collect();
        for way in [("coverage_guided", 1), ("random", 2), ("pct", 3), ("dfs", 4)] {
            let (alone, none) = explored(program, &env, way, false);
            let (together, more) = explored(program, &env, way, true);
            assert!(together == alone, "{puzzle} {way:?}\ntogether: {together}\nalone: {alone}");
            assert_eq!(none, 0);
            dull += more;
            all += &together;
        }
    }
    assert!(dull > 3_000, "{puzzles:?}: {dull}");
    all
}

#[test]
fn puzzles_are_explored_in_the_same_way_with_several_steps_in_a_call() {
    // One after the other, by tasks, with failures at every end, with values that are compared, and with nothing new for long.
    compare(&built("puzzles", false), &["maze-8", "lock", "lost-update", "stairs", "password", "bomb"]);
}

#[test]
fn so_are_those_of_which_only_the_memory_tells_the_state() {
    compare(&built("puzzles", false), &["maze-8 SILENT", "lock SILENT", "password SILENT"]);
}

#[test]
fn so_is_the_bank_with_its_fault_and_without() {
    compare(&built("bank", false), &[""]);
    compare(&built("bank", true), &[""]);
}

#[test]
fn so_is_a_module_of_another_language_whose_steps_come_to_every_end() {
    let all = compare(&loaded(ENDS.as_bytes()), &[""]);
    assert!(all.contains("no flow is valid in sequence 0 at step") && all.contains(": full"), "{all}");
    assert!(all.contains("unreachable"), "{all}");
    assert!(all.contains("string pointer/length out of bounds"), "{all}");
}

/// Finds every step dull, and notes its flow and its coverage bytes that are not zero.
#[derive(Default)]
struct NotedSteps(Vec<(u32, usize)>);

impl StepJudge for NotedSteps {
    fn is_dull(&mut self, step: &StepView<'_>) -> bool {
        let mut taken = 0;
        (step.coverage)(&mut |_, _, _, bytes| taken += bytes.iter().filter(|byte| **byte > 0).count());
        self.0.push((step.flow, taken));
        true
    }
}

#[test]
fn steps_in_one_call_leave_the_history_and_the_coverage_of_single_ones() {
    let (program, plan) =
        (loaded(ENDS.as_bytes()), Plan { scenario: Some(ScenarioPlan::all(1, 1)), ..Plan::default() });
    let first = Box::new(GuidedSource::first(Seed(0), &AnswerLog::default()));
    let mut walker = Walker::of(program, &plan, &Inputs::default(), 0, first).expect("it has flows");
    assert!(walker.takes_several_steps());
    let begin = |walker: &mut Walker, answers: &[u64]| {
        let answers = (0..).zip(answers.iter().copied().map(Override::Number)).collect();
        let start = walker.start();
        walker.restore(start, Box::new(RecordedSource::new(Seed(0), answers))).expect("it was kept");
        walker.step(StepId::Begin).expect("the machine is well");
        walker.take_coverage(&mut |_, _, _, _| ());
    };
    let seen = |walker: &Walker| -> (String, Vec<Vec<u8>>) {
        let coverage = walker.coverage().map(|(_, bytes)| bytes.to_vec()).collect();
        (format!("{:?} {:?}", walker.history(), walker.facts().states.digest()), coverage)
    };
    let noted = Arc::new(Mutex::new(NotedSteps::default()));
    let judge = Arc::clone(&noted) as SharedStepJudge;
    let answers = [3, 250, 0, 17];
    begin(&mut walker, &answers);
    let together = walker.steps(0, 3, &judge).expect("the machine is well");
    assert!(matches!(together, (StepOutcome::Returned { flow: Some(0) }, 3)), "{together:?}");
    let together = seen(&walker);
    begin(&mut walker, &answers);
    let mut taken = Vec::new();
    for step in 0..4 {
        walker.take_coverage(&mut |_, _, _, _| ());
        let alone = walker.step(StepId::Step(step)).expect("the machine is well");
        assert!(matches!(alone, StepOutcome::Returned { flow: Some(0) }), "{alone:?}");
        taken.push((0, seen(&walker).1.iter().flatten().filter(|byte| **byte > 0).count()));
    }
    assert_eq!(together, seen(&walker));
    taken.pop();
    assert_eq!(noted.lock().unwrap_or_else(PoisonError::into_inner).0, taken, "the last one is left to who called");

    // No flow is valid, and a trap: the steps before them are over.
    begin(&mut walker, &[1, 254, 2]);
    let (end, dull) = walker.steps(0, 9, &judge).expect("the machine is well");
    let StepOutcome::Ended { end: ExecutionEnd::Failed { failure }, .. } = end else { panic!("{end:?}") };
    assert!(failure.message.ends_with("no flow is valid in sequence 0 at step 1: full"), "{failure:?}");
    assert_eq!(dull, 1);
    begin(&mut walker, &[1, 2, 255]);
    let (end, dull) = walker.steps(0, 9, &judge).expect("the machine is well");
    assert!(matches!(end, StepOutcome::Ended { end: ExecutionEnd::Trapped { .. }, .. }), "{end:?}");
    assert_eq!(dull, 2);
}
