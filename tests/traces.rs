//! Every format version ever written stays readable: `tests/traces/` keeps one of each.

use fozzy_engine::{Program, Session, Switches};
use fozzy_trace::file::{Recording, verify};
use fozzy_trace::plan::Edition;
use fozzy_trace::{ExecutionEnd, Instant};
use std::path::Path;
use std::sync::Arc;

fn kept(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn version_5_is_read_and_replayed() {
    let bytes = kept("v5-draws.fozzy");
    let verified = verify(&bytes);
    assert!(verified.ok, "{:?}", verified.error);
    assert_eq!(verified.version, Some(5));
    let recording = Recording::read(&bytes).expect("a trace of version 5");
    assert_eq!(recording.outcome.end, ExecutionEnd::Exited { code: 3 });
    assert_eq!(recording.outcome.decisions, 3);
    assert_eq!(recording.stdout.len(), 24);

    replays(&recording);
}

#[test]
fn a_trace_of_the_first_edition_replays_as_it_was_recorded() {
    let recording = Recording::read(&kept("v5-drift.fozzy")).expect("a trace of version 5");
    assert_eq!(recording.plan.edition, Edition::FIRST);
    assert_eq!(recording.outcome.ended_at, Instant(2_000_003_000), "waits took virtual time");
    replays(&recording);
}

#[test]
fn a_trace_of_the_third_edition_replays_as_it_was_recorded() {
    let recording = Recording::read(&kept("v5-polls.fozzy")).expect("a trace of version 5");
    assert_eq!(recording.plan.edition, Edition::THIRD);
    assert_eq!(recording.outcome.ended_at, Instant(21_000), "time passed for a program that polls");
    replays(&recording);
}

#[test]
fn a_trace_of_the_fourth_edition_replays_as_it_was_recorded() {
    let recording = Recording::read(&kept("v5-yield.fozzy")).expect("a trace of version 5");
    assert_eq!(recording.plan.edition, Edition::FOURTH);
    assert_eq!(
        recording.outcome.end,
        ExecutionEnd::Exited { code: 256 },
        "its file has its name after the loss of power"
    );
    replays(&recording);
}

#[test]
fn sockets_of_preview_1_replay_as_they_were_before_they_followed_linux() {
    let recording = Recording::read(&kept("v5-sockets.fozzy")).expect("a trace of version 5");
    assert_eq!(recording.plan.edition, Edition::FOURTH);
    assert_eq!(
        recording.outcome.end,
        ExecutionEnd::Exited { code: 67 },
        "two sockets have one address, no poll hangs up, no listener is shut down, and a connection is refused at once"
    );
    replays(&recording);
}

#[test]
fn a_trace_of_the_fifth_edition_replays_as_it_was_recorded() {
    let recording = Recording::read(&kept("v5-lives.fozzy")).expect("a trace of version 5");
    assert_eq!(recording.plan.edition, Edition::FIFTH);
    assert!(recording.outcome.fuel_used < 10_000, "that of one life: {}", recording.outcome.fuel_used);
    replays(&recording);
}

/// The same story as was recorded; what the engine decides (fuel, memory layout) may change with the engine.
fn replays(recording: &Recording) {
    let plan = Arc::new(recording.plan.clone());
    let switches = Switches::of(&plan);
    let program = Program::new(Arc::clone(&recording.component), switches.clone(), None).expect("its component runs");
    let mut session = Session::new(program, plan, &recording.inputs).expect("its plan");
    let replayed = fozzy_search::replay(recording, &mut session, 0..0).expect("the machine is fit");
    assert_eq!(replayed.execution.end, recording.outcome.end);
    assert_eq!(replayed.execution.stdout.kept(), recording.stdout);
    assert_eq!(replayed.execution.history.digest, recording.outcome.history);
    if recording.engine.configuration == switches.configuration() {
        assert_eq!(replayed.difference, None);
    }
}
