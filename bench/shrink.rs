//! Shrinking: a failure of 400 steps, of which eight are needed, brought down to these.
//!
//! ```text
//! planted    noise … a … a … a … a … a … b … b … c        the bomb of `scenarios/puzzles`, one needed move in fifty
//! walked     candidates go on from the last place that they share with the one before
//! whole      each candidate is run from its start
//! ```
//!
//! The time is that of one thread, from the recording to the smallest story, confirmed by a whole run; programs are compiled
//! before. What another tool takes for the same: `ordeal`, 218 executions and 126 ms.

use crate::guests;
use crate::measure::{Pair, thread_clock};
use crate::table::{Bound, Row, Unit};
use fozzy_campaign::walker::{Paths, WalkerFactory};
use fozzy_check::judge;
use fozzy_engine::{Program, Session, Switches};
use fozzy_search::shrink::{Options, ReplayTarget, SequenceTarget, ShrinkResult, shrink as shrunk};
use fozzy_trace::file::{EngineId, RecordedTarget, Recording};
use fozzy_trace::plan::{Inputs, MachinePlan, ScenarioPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{
    DecisionSource, Digest, Execution, Executor, HarnessError, HistoryWindow, Origin, Plan, Purpose, Question, Seed,
};
use std::path::Path;
use std::sync::Arc;

/// Steps of the failing run.
const STEPS: u32 = 400;
/// Moves that the bomb needs, in their order: one in every so many steps.
const NEEDED: [u64; 8] = [0, 0, 0, 0, 0, 1, 1, 2];
/// Moves that there are.
const MOVES: u64 = 6;
/// Executions that it may take.
const EXECUTIONS_MAX: u64 = 218;
/// CPU time that it may take, in seconds.
const SECONDS_MAX: f64 = 0.015;
const ROUNDS: usize = 11;

/// Answers so that the bomb explodes at the last step, and has no need of the others.
struct Planted(SeededSource);

impl DecisionSource for Planted {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        let (drawn, origin) = self.0.below(question, bound);
        let Purpose::Choice(part) = question.purpose else { return (drawn, origin) };
        let Some(step) = part.step_number().filter(|_| bound == MOVES) else { return (drawn, origin) };
        let every = STEPS / NEEDED.len() as u32;
        let needed = (step % every == every - 1).then(|| NEEDED[(step / every) as usize]);
        (needed.unwrap_or(3 + drawn % 3), Origin::Explicit)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        self.0.fill(question, out)
    }

    fn seed(&self) -> Seed {
        self.0.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        Box::new(Planted(self.0.clone()))
    }
}

/// Executes the puzzle, whole or walked.
struct Ours {
    session: Session,
    paths: Option<Paths>,
}

impl ReplayTarget for Ours {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let replanned = self.session.replan(Arc::new(plan.clone()), inputs);
        replanned.map_err(|error| HarnessError { what: error.to_string() })?;
        self.session.execute(source, keep)
    }

    fn sequences(&mut self) -> Option<&mut dyn SequenceTarget> {
        self.paths.as_mut().map(|paths| paths as &mut dyn SequenceTarget)
    }
}

fn recorded(session: &mut Session, plan: &Plan, component: &Arc<[u8]>) -> Recording {
    let execution = session.execute(Box::new(Planted(SeededSource::new(Seed(0)))), 0..0).expect("the machine is well");
    let verdict = judge(&execution);
    let at = execution.facts.scenario.as_ref().and_then(|scenario| scenario.position.step);
    assert_eq!(at, Some(STEPS - 1), "it fails at its last step: {verdict:?}");
    let target = RecordedTarget { name: "bomb".into(), source: Digest::of(b""), kind: "component".into() };
    let engine =
        EngineId { fozzy: String::new(), wasmtime: String::new(), rewriter: 1, configuration: Digest::of(b"") };
    let (component, inputs) = (Arc::clone(component), Inputs::default());
    Recording::of(target, component, plan.clone(), &inputs, engine, &execution, verdict, Seed(0), "run")
}

fn timed(recording: &Recording, ours: &mut Ours, last: &mut Option<ShrinkResult>) -> f64 {
    let options = Options { only: None, aggressive: false, keeps_stdin: false };
    let before = thread_clock();
    let found = shrunk(recording, &mut [ours], options, &mut |_| true).expect("it fails");
    let seconds = thread_clock() - before;
    assert_eq!(found.after.steps, NEEDED.len(), "{:?}", found.after);
    *last = Some(found);
    seconds
}

/// The bomb, walked and whole.
pub(crate) fn shrink() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/puzzles");
    let component: Arc<[u8]> =
        std::fs::read(guests::scenario_with(&folder, "puzzles", true)).expect("it was just built").into();
    let main = MachinePlan { env: vec![("PUZZLE".to_owned(), "bomb".to_owned())], ..MachinePlan::default() };
    let plan = Plan { main, scenario: Some(ScenarioPlan::all(1, STEPS)), ..Plan::default() };
    let program = Program::new(Arc::clone(&component), Switches::of(&plan), None).expect("it compiles");
    let session = || Session::new(program.clone(), Arc::new(plan.clone()), &Inputs::default()).expect("a plain plan");
    let recording = recorded(&mut session(), &plan, &component);
    let ground = WalkerFactory::new(Arc::clone(&component), None);
    let mut walked = Ours { session: session(), paths: Some(Paths::new(ground)) };
    let mut whole = Ours { session: session(), paths: None };
    let (mut one, mut other) = (None, None);
    let pair =
        Pair::of(ROUNDS, || timed(&recording, &mut walked, &mut one), || timed(&recording, &mut whole, &mut other));
    let name = "400 steps shrunk to 8, walked beside whole";
    let mut rows = vec![Row::times(name, &pair, Unit::Milliseconds, Bound::Seconds(SECONDS_MAX))];
    if let (Some(one), Some(other)) = (one, other) {
        assert_eq!(one.smallest, other.smallest, "both ways come to the same");
        let tries = [one.tries.to_string(), other.tries.to_string(), format!("executions; <= {EXECUTIONS_MAX}")];
        rows.push(Row::words("", tries));
    }
    rows
}
