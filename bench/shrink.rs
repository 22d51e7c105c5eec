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
use fozzy_campaign::Remarks;
use fozzy_campaign::pipeline::{PreparedProgram, RunPlan, load};
use fozzy_campaign::shrink::ProgramReplayTarget;
use fozzy_report::RunMode;
use fozzy_search::shrink::{Options, ShrinkResult, shrink as shrunk};
use fozzy_trace::file::Recording;
use fozzy_trace::plan::{Inputs, MachinePlan, ScenarioPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionSource, Executor, Origin, Plan, Purpose, Question, Seed};
use std::path::Path;

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
struct PlantedSource(SeededSource);

impl DecisionSource for PlantedSource {
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
        Box::new(PlantedSource(self.0.clone()))
    }
}

fn recorded(prepared: &PreparedProgram) -> Recording {
    let mut session = prepared.session().expect("a plain plan");
    let execution =
        session.execute(Box::new(PlantedSource(SeededSource::new(Seed(0)))), 0..0).expect("the machine is well");
    let at = execution.facts.scenario.as_ref().and_then(|scenario| scenario.position.step);
    let recording = prepared.record(&execution, Seed(0), RunMode::Run);
    assert_eq!(at, Some(STEPS - 1), "it fails at its last step: {:?}", recording.outcome.verdict);
    recording
}

fn timed(recording: &Recording, ours: &mut ProgramReplayTarget, last: &mut Option<ShrinkResult>) -> f64 {
    let options = Options { only: None, aggressive: false, keeps_stdin: false, shortest: false };
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
    let loaded = load(&guests::scenario_with(&folder, "puzzles", true), &Remarks::none()).expect("it was just built");
    let main = MachinePlan { env: vec![("PUZZLE".to_owned(), "bomb".to_owned())], ..MachinePlan::default() };
    let plan = Plan { main, scenario: Some(ScenarioPlan::all(1, STEPS)), ..Plan::default() };
    let prepared = PreparedProgram::compile(loaded, RunPlan::of(plan, Inputs::default())).expect("it compiles");
    let recording = recorded(&prepared);
    let mut walked = ProgramReplayTarget::several(&recording, 1).expect("it can be replayed").remove(0);
    let mut whole = ProgramReplayTarget::whole(&recording, &prepared).expect("it can be replayed");
    let (mut one, mut other) = (None, None);
    let pair =
        Pair::of(ROUNDS, || timed(&recording, &mut walked, &mut one), || timed(&recording, &mut whole, &mut other));
    let name = "400 steps shrunk to 8, walked beside whole";
    let mut rows = vec![Row::times(name, &pair, Unit::Milliseconds, Bound::Seconds(SECONDS_MAX))];
    if let (Some(one), Some(other)) = (one, other) {
        let tries = [one.tries.to_string(), other.tries.to_string(), format!("executions; <= {EXECUTIONS_MAX}")];
        rows.push(Row::words("", tries));
    }
    rows
}
