//! The library as a user's test uses it: a failure of a program is found, shrunk, saved as a file, and tried again.

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
    assert!(matches!(endless.run(&Plan::new().faults("no-such-fault"), 0), Err(Error::Plan(_))));
    assert!(matches!(Trace::from_bytes(b"no trace"), Err(Error::Trace(_))));
    let passes = Program::from_bytes("pass.wat", br#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    let passes = passes.expect("a program");
    let nothing_varies = passes.explore(&Plan::new(), &ExploreOptions::new());
    assert!(matches!(nothing_varies, Err(Error::Program(_))), "all its runs are one");
    let run = passes.run(&Plan::new(), 0).expect("it is run");
    assert!(matches!(run.trace().shrink(10), Err(Error::Trace(_))), "nothing failed");
}

/// Reads a real file of the folder that the tests run in.
const READS: &[u8] = br#"(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "Cargo.toml")
  (func (export "_start")
    (call $exit (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 10)
      (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 64)))))"#;

#[test]
fn the_real_computer_is_asked_only_where_the_caller_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, "[backends]\nfiles = \"host\"\n").expect("it is written");
    let plan = Plan::new().file(&file);
    let reads = Program::from_bytes("reads.wat", READS).expect("a program");
    assert_eq!(reads.run(&Plan::new(), 0).expect("it is run").status(), Status::Fail, "the virtual disk is empty");
    assert!(matches!(reads.run(&plan, 0), Err(Error::Plan(_))), "nobody allowed it");
    #[cfg(feature = "live")]
    {
        let run = reads.run(&plan.ask_real_computer(), 0).expect("it is run");
        assert_eq!(run.status(), Status::Pass, "{:?}", run.failure());
        assert!(run.trace().replay().expect("it is replayed").is_equal(), "what was answered is in the trace");
    }
}

/// Prints what it reads.
const ECHO: &[u8] = br#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\40\00\00\00")
  (func (export "_start")
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
    (i32.store (i32.const 4) (i32.load (i32.const 8)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#;

#[test]
fn what_a_plan_expects_of_a_run_is_searched_for_too() {
    let echo = Program::from_bytes("echo.wat", ECHO).expect("a program");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, "[expect]\nfail-on = [\"n\"]\n").expect("it is written");
    let options = FuzzOptions::new().stdin().executions(2_000).first_only();
    let plain = echo.fuzz(&Plan::new(), &options).expect("it is fuzzed");
    assert!(plain.findings().is_empty(), "nothing fails by itself");
    let found = echo.fuzz(&Plan::new().file(&file), &options).expect("it is fuzzed");
    let finding = found.findings().first().expect("an input with the letter");
    assert!(finding.input().contains(&b'n'), "{:?}", finding.input());
    assert_eq!(finding.trace().status(), Status::Fail);
}

/// Fails on `note`, which no comparison shows.
const HASHED: &[u8] = br#"(module
  (memory (export "memory") 2)
  (func (export "LLVMFuzzerTestOneInput") (param $data i32) (param $size i32) (result i32)
    (if (i32.eq (local.get $size) (i32.const 4)) (then
      (if (i32.eq (i32.mul (i32.load (local.get $data)) (i32.const 0x9e3779b1)) (i32.const 0x02ce090e))
        (then unreachable))))
    (i32.const 0)))"#;

#[test]
fn a_campaign_begins_with_the_inputs_that_it_is_given() {
    let hashed = Program::from_bytes("hashed.wat", HASHED).expect("a program");
    let few = FuzzOptions::new().seed(3).executions(200).first_only();
    assert_eq!(hashed.fuzz(&Plan::new(), &few).expect("it is fuzzed").findings().len(), 0);
    let given = hashed.fuzz(&Plan::new(), &few.begin_with(b"yes").begin_with(b"note")).expect("it is fuzzed");
    assert_eq!(given.findings().first().map(|found| found.input()), Some(&b"note"[..]));
}
