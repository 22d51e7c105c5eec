//! The player: a scenario that does what a `*.fozzy.json` file says.
//!
//! ```text
//! standard input ─parse─▶ Scenario ─┬─ steps         step(n) does the n-th step of the file
//!                                   ├─ program       the same in version 2: variables, loops, branches (`program`)
//!                                   └─ distributed   see `distributed.rs`
//! ```
//!
//! It is a guest like any other: files are those of WASI, requests go through `wasi:http`, commands through `fozzy:process`,
//! chance through `fozzy:choices`. So a scenario file has faults, replay, checkpoints and shrinking without any code for them.
//! A step keeps its number when others are left out, and each has a stream of choices of its own: leaving one out changes no
//! value of another.
//!
//! ```text
//! describe()           flows are the kinds of steps that the file has, as the command tells them: --name, --kinds
//! begin-sequence(k)    everything empty
//! step(n)              passes, or the run ends with `steps[n]: kind` as the property that does not hold
//! ```
//!
//! Invariants: what the file does not ask for is not asked of the host; arguments say who answers requests and
//! commands that no step answers: `--http=nobody`, `--http=plan`, `--http=host`, and the same with `--proc`.
//! Not here: the notation of files (`runtime/scenario-file`), suites, which the command unfolds.

#![cfg_attr(not(feature = "program"), allow(dead_code, reason = "what steps yield is for version 2"))]

#[cfg(feature = "distributed")]
mod distributed;
mod failure;
#[cfg(feature = "program")]
mod program;
mod steps;

use failure::StepFailure;
use fozzy_sdk::bindings::stateful::exports::fozzy::scenario::stateful::{Flow, Guest, Info, StepResult};
use fozzy_scenario_file::ParsedScenario;
use std::cell::RefCell;
use std::io::Read;

/// A scenario that is being played.
pub(crate) trait ScenarioPlayer {
    /// The sequence begins.
    fn begin(&mut self) -> Result<(), StepFailure> {
        Ok(())
    }

    /// Does the step of this number; the answer is the place of its kind. `None` after the last one.
    fn step(&mut self, number: u32) -> Result<Option<u32>, StepFailure>;

    /// The sequence ends.
    fn end(&mut self) -> Result<(), StepFailure>;
}

/// Bytes of a file for which there is room from the start.
const TEXT_BYTES: usize = 64 << 10;

thread_local! {
    static PLAYED: RefCell<Option<Box<dyn ScenarioPlayer>>> = const { RefCell::new(None) };
}

/// What the command has told by an argument that begins so.
pub(crate) fn told(start: &str) -> String {
    std::env::args().find_map(|word| word.strip_prefix(start).map(str::to_owned)).unwrap_or_default()
}

/// The kinds of steps of the scenario; each is a flow. The command passes them, so that a file is read once.
pub(crate) fn kinds() -> Vec<String> {
    told("--kinds=").split(',').map(str::to_owned).collect()
}

/// The scenario that stands on standard input. The command has read it before, so it can be read.
fn scenario() -> ParsedScenario {
    // Room for a common file, so that it comes at once.
    let mut text = Vec::with_capacity(TEXT_BYTES);
    let read = std::io::stdin().read_to_end(&mut text);
    let parsed = read
        .map_err(|error| error.to_string())
        .and_then(|_| ParsedScenario::parse(&text).map_err(|problem| problem.to_string()));
    parsed.unwrap_or_else(|why| failure::invalid("the scenario cannot be read", &why))
}

fn play(scenario: ParsedScenario) -> Box<dyn ScenarioPlayer> {
    match scenario {
        ParsedScenario::Steps(file) => Box::new(steps::StepsPlayer::new(file)),
        #[cfg(feature = "program")]
        ParsedScenario::Program(file) => Box::new(program::ProgramPlayer::new(file)),
        #[cfg(not(feature = "program"))]
        ParsedScenario::Program(_) => {
            failure::invalid("version 2 is not played", "this build of the player is for version 1")
        }
        #[cfg(feature = "distributed")]
        ParsedScenario::Cluster(file) => distributed::play(file),
        #[cfg(not(feature = "distributed"))]
        ParsedScenario::Cluster(_) => failure::invalid("clusters are not played", "this build of the player has no target"),
        ParsedScenario::Suites(_) => failure::invalid("suites are not played", "the command runs the scenarios of suites"),
    }
}

struct Player;

impl Guest for Player {
    fn describe() -> Info {
        let flow = |name: String| Flow { name, weight: 1, max_times: None };
        Info { name: told("--name="), flows: kinds().into_iter().map(flow).collect(), invariants: Vec::new() }
    }

    fn begin_sequence(_: u32) {
        let mut played = play(scenario());
        if let Err(failure) = played.begin() {
            failure.tell();
        }
        PLAYED.set(Some(played));
    }

    fn step(step: u32) -> StepResult {
        PLAYED.with_borrow_mut(|played| {
            let Some(played) = played else { return StepResult::Stuck("the sequence was not begun".to_owned()) };
            match played.step(step) {
                Ok(Some(flow)) => StepResult::Ran(flow),
                Ok(None) => StepResult::Stuck(format!("the scenario has no step {step}")),
                Err(failure) => failure.tell(),
            }
        })
    }

    fn end_sequence(_: u32) {
        if let Some(Err(failure)) = PLAYED.take().map(|mut played| played.end()) {
            failure.tell();
        }
    }
}

fozzy_sdk::bindings::stateful::export_stateful!(Player with_types_in fozzy_sdk::bindings::stateful);
