//! The library as somebody else's test uses it: a program with a fault, found, made smaller, kept as a file, and tried again.

use fozzy::{Error, ExploreOptions, FuzzOptions, Plan, Program, Status, Trace};

/// Fails on inputs that begin with `no`.
const PARSER: &[u8] = br#"(module
  (memory (export "memory") 2)
  (func (export "LLVMFuzzerTestOneInput") (param $data i32) (param $size i32) (result i32)
    (if (i32.ge_u (local.get $size) (i32.const 2)) (then
      (if (i32.eq (i32.load16_u (local.get $data)) (i32.const 0x6f6e)) (then unreachable))))
    (i32.const 0)))"#;

/// The same, repaired.
const REPAIRED: &[u8] = br#"(module
  (memory (export "memory") 2)
  (func (export "LLVMFuzzerTestOneInput") (param $data i32) (param $size i32) (result i32) (i32.const 0)))"#;

#[test]
fn a_fault_is_found_kept_as_a_file_and_gone_when_it_is_repaired() {
    let parser = Program::from_bytes("parser.wat", PARSER).expect("a program");
    let options = FuzzOptions::new().seed(3).executions(20_000).first_only();
    let found = parser.fuzz(&Plan::new(), &options).expect("it is fuzzed");
    let again = parser.fuzz(&Plan::new(), &options).expect("it is fuzzed");
    assert_eq!(found.executions(), again.executions(), "equal calls find equal things");
    let finding = &found.findings()[0];
    assert!(finding.input().starts_with(b"no"), "{:?}", finding.input());

    let folder = tempfile::tempdir().expect("a folder");
    let path = finding.trace().write(&folder.path().join("found.fozzy")).expect("it is written");
    let trace = Trace::read(&path).expect("it is read");
    assert_eq!(trace.failure().as_ref(), Some(finding.failure()));
    assert!(Trace::check(&std::fs::read(&path).expect("it is there")).expect("the machine is well").is_ok());

    let repaired = Program::from_bytes("parser.wat", REPAIRED).expect("a program");
    assert_eq!(trace.replay_against(&repaired).expect("it is replayed").status(), Status::Pass);
    assert_eq!(trace.replay_against(&parser).expect("it is replayed").status(), Status::Crash);
}

#[test]
fn a_run_is_bounded_by_its_plan_and_errors_say_whose_fault_it_is() {
    let endless = br#"(module (memory (export "memory") 1) (func (export "_start") (loop $again (br $again))))"#;
    let endless = Program::from_bytes("endless.wat", endless).expect("a program");
    let run = endless.run(&Plan::new().fuel(10_000), 0).expect("it is run");
    assert_eq!(run.status(), Status::Timeout);
    assert!(matches!(endless.explore(&Plan::new(), &ExploreOptions::new()), Err(Error::Program(_))));
    assert!(matches!(endless.run(&Plan::new().faults("no-such-fault"), 0), Err(Error::Plan(_))));
    assert!(matches!(Trace::from_bytes(b"no trace"), Err(Error::Trace(_))));
    let passes = Program::from_bytes("pass.wat", br#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    let run = passes.expect("a program").run(&Plan::new(), 0).expect("it is run");
    assert!(matches!(run.trace().shrink(10), Err(Error::Trace(_))), "nothing failed");
}
