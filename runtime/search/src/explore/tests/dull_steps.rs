//! Steps that are taken in one call: what is said of them is so, and an exploration with them is one without.

use super::*;
use crate::explore::run_signs::NoveltyDimension;
use crate::explore::state_feedback::{StateFeedback, StateScope};
use fozzy_trace::facts::{Facts, PropertyEvaluation, PropertyKind};
use fozzy_trace::{SharedStepJudge, StepView, StretchLook};
use std::cell::Cell;
use std::sync::PoisonError;

/// The lock, which tells its progress as a scenario does, and takes several turns in a call.
struct Turns {
    lock: Lock,
    /// Turns after which nobody had to look.
    dull: u64,
    /// Those of the last call.
    last_dull: u64,
    memory: LookedMemory,
}

/// A memory whose states depend on how often it was looked at, as those do that are learned.
#[derive(Default)]
struct LookedMemory {
    looks: Cell<u64>,
    /// What was found of a turn that is still to be looked at.
    found: Cell<Option<u64>>,
}

impl LookedMemory {
    /// Looks at it after a turn that came to this place.
    fn look(&self, place: u64) -> u64 {
        self.looks.set(self.looks.get() + 1);
        // Now and then there is a state that was not there before.
        place + self.looks.get() / 100 * 8
    }
}

/// What a scenario says that is at this place.
fn at(place: u64) -> Facts {
    let mut facts = Facts::default();
    facts.states.note("right", place).expect("a fit name");
    facts
}

/// What the lock shows of its last turn.
fn shown_of(lock: &Lock) -> (Facts, [u8; 2]) {
    let facts = if lock.tells { at(lock.right as u64) } else { Facts::default() };
    (facts, [1, u8::from(lock.right > 0)])
}

/// Takes several steps of a target, of which `shown` tells what the last one has shown, and `memory` what its memory says.
fn take<T: StepTarget>(
    target: &mut T,
    (first, last): (u32, u32),
    judge: &SharedStepJudge,
    shown: fn(&T) -> (Facts, [u8; 2]),
    memory: &dyn Fn(&T) -> Option<u64>,
) -> Result<(StepOutcome, u32), HarnessError> {
    let mut dull = 0;
    loop {
        let outcome = target.step(StepId::Step(first + dull))?;
        let StepOutcome::Returned { flow: Some(flow) } = outcome else { return Ok((outcome, dull)) };
        let (facts, bytes) = shown(&*target);
        let coverage = |see: &mut StretchLook<'_>| see(0, bytes.len(), 0, &bytes);
        let memory_state = || memory(&*target);
        let view = StepView { flow, facts: &facts, coverage: &coverage, memory_state: &memory_state };
        let is_last = first + dull == last;
        if is_last || !judge.lock().unwrap_or_else(PoisonError::into_inner).is_dull(&view) {
            return Ok((outcome, dull));
        }
        dull += 1;
    }
}

impl StepTarget for Turns {
    fn start(&self) -> CheckpointId {
        self.lock.start()
    }
    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.lock.restore(checkpoint, source)
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        self.lock.step(step)
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.lock.capture()
    }
    fn release(&mut self, checkpoint: CheckpointId) {
        self.lock.release(checkpoint);
    }
}

impl StatefulTarget for Turns {
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        see(CoverageStretch::whole(0, &shown_of(&self.lock).1));
    }
    fn takes_several_steps(&self) -> bool {
        true
    }
    fn steps(&mut self, first: u32, last: u32, judge: &SharedStepJudge) -> Result<(StepOutcome, u32), HarnessError> {
        self.memory.found.set(None);
        let (memory, asked) = (&self.memory, Cell::new(0));
        let look = |lock: &Lock| {
            let found = memory.look(lock.right as u64);
            asked.set(lock.steps);
            memory.found.set(Some(found));
            Some(found)
        };
        let (outcome, dull) = take(&mut self.lock, (first, last), judge, shown_of, &look)?;
        if asked.get() != self.lock.steps {
            // That was of a turn before.
            self.memory.found.set(None);
        }
        self.last_dull = dull.into();
        self.dull += self.last_dull;
        Ok((outcome, dull))
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        shown_of(&self.lock).0.states.digest()
    }
    fn memory_state(&mut self) -> Option<u64> {
        let look = || self.memory.look(self.lock.right as u64);
        Some(self.memory.found.take().unwrap_or_else(look))
    }
    fn confirm(&mut self, path: &DecisionPath, reason: ConfirmReason) -> Result<Verdict, HarnessError> {
        self.lock.confirm(path, reason)
    }
}

/// All that an exploration has to say of a lock that tells its progress or does not, and the target as it left it.
fn explored((name, tells): (&str, bool), seed: u64, several_steps: bool) -> (String, Turns) {
    let options = Options { seed: Seed(seed), several_steps, ..Options::default() };
    let row = strategy(name).expect("there is one");
    let mut exploration = Exploration::new(options, row, &AnswerLog::default());
    let mut turns = Turns { lock: lock(tells), dull: 0, last_dull: 0, memory: LookedMemory::default() };
    let ended = exploration
        .run(&mut turns, FirstPaths::Found(&mut std::iter::empty()), &mut Patience(9_001))
        .expect("no machine");
    let paths: Vec<DecisionPath> = exploration.paths().collect();
    let (stats, findings) = (exploration.stats(), exploration.findings().all());
    let (taken, rewards) = (exploration.all_taken(), exploration.rewards());
    (format!("{ended:?} {stats:?} {findings:?} {paths:?} {taken:?} {rewards:?}"), turns)
}

#[test]
fn an_exploration_that_takes_several_steps_in_a_call_is_one_that_takes_each_alone() {
    for row in STRATEGIES {
        for seed in 0..5 {
            for tells in [true, false] {
                let (alone, none) = explored((row.name, tells), seed, false);
                let (together, dull) = explored((row.name, tells), seed, true);
                assert_eq!(together, alone, "{} with seed {seed}, {tells}", row.name);
                // It was stopped in the middle of the last call, which had looked further.
                let further = dull.memory.looks.get() - none.memory.looks.get();
                assert!(further <= dull.last_dull, "{} with seed {seed}, {tells}: {further}", row.name);
                assert_eq!(none.dull, 0);
                let looks_at_each = ["bfs", "dfs"].contains(&row.name);
                assert_eq!(dull.dull > 500, !looks_at_each, "{} with seed {seed}, {tells}: {}", row.name, dull.dull);
            }
        }
    }
}

/// Draws a value out of many in a step that shows nothing new, and never comes back from a later one.
struct Drawer {
    source: Box<dyn DecisionSource>,
    steps: u32,
    /// At how many steps each checkpoint is.
    captured: Vec<u32>,
    dull: u64,
}

impl StepTarget for Drawer {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }
    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        (self.steps, self.source) = (self.captured[checkpoint.0 as usize], source);
        Ok(())
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        let StepId::Step(number) = step else { return Ok(StepOutcome::Returned { flow: None }) };
        assert_eq!(number, self.steps, "steps are taken in their order");
        self.steps += 1;
        let purpose = Purpose::Choice(DecisionPart::step(0, number));
        let bound = if number == 6 { u64::MAX } else { 4 };
        self.source.below(Question { node: NodeId(0), purpose, site: "drawn" }, bound);
        Ok(if number == 8 { StepOutcome::Cut } else { StepOutcome::Returned { flow: Some(0) } })
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.captured.push(self.steps);
        Ok(CheckpointId(self.captured.len() as u64 - 1))
    }
    fn release(&mut self, _: CheckpointId) {}
}

impl StatefulTarget for Drawer {
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        see(CoverageStretch::whole(0, &[1, 0]));
    }
    fn takes_several_steps(&self) -> bool {
        true
    }
    fn steps(&mut self, first: u32, last: u32, judge: &SharedStepJudge) -> Result<(StepOutcome, u32), HarnessError> {
        let (outcome, dull) = take(self, (first, last), judge, |_| (at(0), [1, 0]), &|_| None)?;
        self.dull += u64::from(dull);
        Ok((outcome, dull))
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        at(0).states.digest()
    }
    fn confirm(&mut self, _: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
        Ok(Verdict { status: Status::Pass, findings: Vec::new(), signature: None })
    }
}

#[test]
fn what_was_drawn_in_a_dull_step_counts_also_where_a_later_one_is_cut() {
    let explored = |several_steps| {
        let options = Options { runs_max: 60, several_steps, ..Options::default() };
        let row = strategy("coverage_guided").expect("there is one");
        let mut exploration = Exploration::new(options, row, &AnswerLog::default());
        let mut drawer = Drawer { source: Box::new(SeededSource::new(Seed(0))), steps: 0, captured: vec![0], dull: 0 };
        let ended = exploration
            .run(&mut drawer, FirstPaths::Found(&mut std::iter::empty()), &mut Patience(10_000))
            .expect("no machine");
        let stats = *exploration.stats();
        // Runs that compare what is drawn are short.
        assert!(stats.cut > 0 && stats.passed > 0, "{stats:?}");
        (format!("{ended:?} {stats:?}"), drawer.dull)
    };
    let ((alone, none), (together, dull)) = (explored(false), explored(true));
    assert_eq!((together, none), (alone, 0));
    assert!(dull > 10, "{dull}");
}

/// A step that has shown this.
#[derive(Default)]
struct ShownStep {
    facts: Facts,
    bytes: Vec<u8>,
    /// What its memory says.
    memory: Option<u64>,
}

impl StepTarget for ShownStep {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }
    fn restore(&mut self, _: CheckpointId, _: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        Ok(())
    }
    fn step(&mut self, _: StepId) -> Result<StepOutcome, HarnessError> {
        Ok(StepOutcome::Finished)
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        Ok(CheckpointId(1))
    }
    fn release(&mut self, _: CheckpointId) {}
}

impl StatefulTarget for ShownStep {
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        see(CoverageStretch::whole(0, &self.bytes));
    }
    fn properties(&self, see: &mut dyn FnMut(&str, &Property)) {
        self.facts.properties.iter().for_each(|(name, property)| see(name, property));
    }
    fn state(&self) -> Option<u64> {
        self.facts.states.digest()
    }
    fn memory_state(&mut self) -> Option<u64> {
        self.memory
    }
    fn confirm(&mut self, _: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
        Err(HarnessError::new("nobody asks"))
    }
}

/// Whether a step is dull.
fn is_dull(feedback: &mut StateFeedback, step: &ShownStep, of: (Option<u32>, u32), states: StateScope) -> bool {
    let coverage = |see: &mut StretchLook<'_>| see(0, step.bytes.len(), 0, &step.bytes);
    let view = StepView { flow: of.1, facts: &step.facts, coverage: &coverage, memory_state: &|| step.memory };
    feedback.is_dull(&view, of.0, states) && feedback.knows_properties(&step.facts)
}

#[test]
fn to_look_at_a_dull_step_finds_nothing_and_changes_nothing() {
    let (mut feedback, mut number) = (StateFeedback::default(), 1_u64);
    let mut below = |bound: u64| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) % bound
    };
    let (mut before, mut dull) = (None, 0);
    let mut step = ShownStep::default();
    for count in 0..12_000 {
        if count % 16 == 0 {
            (before, step.facts) = (None, Facts::default());
        }
        let flow = below(4) as u32;
        step.bytes = (0..20).map(|_| if below(4) == 0 { below(3) as u8 * 4 } else { 1 }).collect();
        // Named states become too coarse; a state of a scenario that has named none is that of its memory.
        if count < 3_000 || below(2) == 0 {
            step.facts.states.note("place", below(6)).expect("a fit name");
        }
        step.memory = (below(3) > 0).then(|| below(2 + count / 200));
        let (holds, distance) = (below(40) == 0, Some(1_000.0 - below(1_000) as f64));
        let kind = if below(2) == 0 { PropertyKind::Sometimes } else { PropertyKind::Always };
        let holds = holds || kind == PropertyKind::Always;
        let seen = PropertyEvaluation { kind, name: kind.name(), holds, distance, details: None };
        step.facts.properties.see(seen).expect("a fit name");
        let said = is_dull(&mut feedback, &step, (before, flow), StateScope::All);
        let mut counted = feedback.clone();
        counted.count_dull();
        let fresh = feedback.observe(&mut step, (before, Some(flow)), StateScope::All, &NoveltyDimension::ALL);
        if said {
            dull += 1;
            assert_eq!(fresh.sum(), 0, "step {count}");
            assert_eq!(feedback.totals(), counted.totals(), "step {count}");
            assert_eq!(feedback.property_table(), counted.property_table(), "step {count}");
            assert_eq!(feedback.fine(), counted.fine(), "step {count}");
        }
        before = Some(flow);
    }
    assert!(dull > 1_000, "{dull}");
    // What the memory says counts where nothing is named, and only where all states do.
    (step.facts, step.memory) = (Facts::default(), Some(u64::MAX));
    let of = (None, 0);
    assert!(!is_dull(&mut feedback, &step, of, StateScope::All) && is_dull(&mut feedback, &step, of, StateScope::Told));
    feedback.observe(&mut step, (None, Some(0)), StateScope::All, &NoveltyDimension::ALL);
    assert!(is_dull(&mut feedback, &step, of, StateScope::All));
}
