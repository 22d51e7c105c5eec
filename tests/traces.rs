//! Every format version ever written stays readable: `tests/traces/` keeps one of each.

use fozzy_engine::{Program, Session, Switches};
use fozzy_trace::ExecutionEnd;
use fozzy_trace::file::{Recording, verify};
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

    let plan = Arc::new(recording.plan.clone());
    let switches = Switches::of(&plan);
    let program = Program::new(Arc::clone(&recording.component), switches, None).expect("its component runs");
    let mut session = Session::new(program, plan, &recording.inputs).expect("its plan");
    let replayed = fozzy_search::replay(&recording, &mut session, 0..0).expect("the machine is fit");
    // What the engine decides (fuel, memory layout) may change with the engine; the story may not.
    assert_eq!(replayed.execution.end, recording.outcome.end);
    assert_eq!(replayed.execution.stdout.kept(), recording.stdout);
    assert_eq!(replayed.execution.history.digest, recording.outcome.history);
    if recording.engine.configuration == switches.configuration() {
        assert_eq!(replayed.difference, None);
    }
}
