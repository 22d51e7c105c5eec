//! What players share: a player is a scenario that does what a `*.fozzy.json` file says.
//!
//! ```text
//! standard input ─parse─▶ the file ─┬─ steps/    step(n) does the n-th step of the file
//!                                   ├─ program/  the same in version 2: variables, loops, branches
//!                                   └─ cluster/  a distributed scenario, whose nodes are instances of the target
//! ```
//!
//! Each of the three is a guest like any other, and travels in the traces of its files: so each has only what its files need.
//! Files are those of WASI, requests go through `wasi:http`, commands through `fozzy:process`, chance through `fozzy:choices`.
//! So a scenario file has faults, replay, checkpoints and shrinking without any code for them. A step keeps its number when
//! others are left out, and each has a stream of choices of its own: leaving one out changes no value of another.
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

pub mod failure;
pub mod steps;

use failure::StepFailure;
use fozzy_scenario_file::ScenarioProblem;
use fozzy_sdk::bindings::stateful::exports::fozzy::scenario::stateful::{Flow, Info, StepResult};
use std::cell::RefCell;
use std::io::Read;

/// A scenario that is being played.
pub trait ScenarioPlayer {
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
pub fn told(start: &str) -> String {
    std::env::args().find_map(|word| word.strip_prefix(start).map(str::to_owned)).unwrap_or_default()
}

/// The kinds of steps of the scenario; each is a flow. The command passes them, so that a file is read once.
pub fn kinds() -> Vec<String> {
    told("--kinds=").split(',').map(str::to_owned).collect()
}

/// The scenario that stands on standard input, and who plays it. The command has read it before, so it can be read.
fn scenario(play: impl FnOnce(&[u8]) -> Result<Box<dyn ScenarioPlayer>, ScenarioProblem>) -> Box<dyn ScenarioPlayer> {
    // Room for a common file, so that it comes at once.
    let mut text = Vec::with_capacity(TEXT_BYTES);
    let read = std::io::stdin().read_to_end(&mut text).map_err(|error| error.to_string());
    let played = read.and_then(|_| play(&text).map_err(|problem| problem.to_string()));
    played.unwrap_or_else(|why| failure::invalid("the scenario cannot be read", &why))
}

/// What the host calls, in the order of the interface. For `export_player!`.
pub fn describe() -> Info {
    let flow = |name: String| Flow { name, weight: 1, max_times: None };
    Info { name: told("--name="), flows: kinds().into_iter().map(flow).collect(), invariants: Vec::new() }
}

/// See [`describe`].
pub fn begin_sequence(play: impl FnOnce(&[u8]) -> Result<Box<dyn ScenarioPlayer>, ScenarioProblem>) {
    let mut played = scenario(play);
    if let Err(failure) = played.begin() {
        failure.tell();
    }
    PLAYED.set(Some(played));
}

/// See [`describe`].
pub fn step(step: u32) -> StepResult {
    PLAYED.with_borrow_mut(|played| {
        let Some(played) = played else { return StepResult::Stuck("the sequence was not begun".to_owned()) };
        match played.step(step) {
            Ok(Some(flow)) => StepResult::Ran(flow),
            Ok(None) => StepResult::Stuck(format!("the scenario has no step {step}")),
            Err(failure) => failure.tell(),
        }
    })
}

/// See [`describe`].
pub fn end_sequence() {
    if let Some(Err(failure)) = PLAYED.take().map(|mut played| played.end()) {
        failure.tell();
    }
}

/// Exports a player: `play` makes one of the text of a file.
#[macro_export]
macro_rules! export_player {
    ($play:path) => {
        struct Player;

        impl ::fozzy_sdk::bindings::stateful::exports::fozzy::scenario::stateful::Guest for Player {
            fn describe() -> ::fozzy_sdk::bindings::stateful::exports::fozzy::scenario::stateful::Info {
                $crate::describe()
            }

            fn begin_sequence(_: u32) {
                $crate::begin_sequence($play);
            }

            fn step(step: u32) -> ::fozzy_sdk::bindings::stateful::exports::fozzy::scenario::stateful::StepResult {
                $crate::step(step)
            }

            fn end_sequence(_: u32) {
                $crate::end_sequence();
            }
        }

        ::fozzy_sdk::bindings::stateful::export_stateful!(Player with_types_in ::fozzy_sdk::bindings::stateful);
    };
}
