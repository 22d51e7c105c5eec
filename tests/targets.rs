//! A scenario and its target: two components, each in a store and on a machine of its own.
//!
//! ```text
//! guests/caller ── every type of value, handles, restarts, calls that trap ──▶ guests/peer
//! text of components ─── what does not fit ──▶ refused, with both sides in the message
//! ```
//!
//! Not here: the example scenario with a target (`scenarios.rs`), files that name one (`fozzy-plan`).

use crate::corpus;
use fozzy_check::judge;
use fozzy_engine::{Build, Cache, CoverageMode, Program, Session, SessionError, Switches};
use fozzy_trace::plan::{self, Edition, FaultPlan, Inputs, Limits, MachinePlan, NodePlan};
use fozzy_trace::source::{RecordedSource, SeededSource};
use fozzy_trace::{Digest, Duration, Execution, ExecutionEnd, Executor, Plan, Seed, Status};
use std::path::Path;
use std::sync::Arc;

/// A session of a scenario with so many instances of its target.
pub(crate) fn session(scenario: &Path, target: &Path, instances: usize, plan: Plan) -> Result<Session, SessionError> {
    let read = |path: &Path| std::fs::read(path).expect("it is built");
    link_with(&read(scenario), &read(target), instances, plan, &Build::default())
}

fn link(scenario: &[u8], target: &[u8], plan: Plan, build: &Build) -> Result<Session, SessionError> {
    link_with(scenario, target, 1, plan, build)
}

fn link_with(
    scenario: &[u8],
    target: &[u8],
    instances: usize,
    plan: Plan,
    build: &Build,
) -> Result<Session, SessionError> {
    let component = |bytes: &[u8]| fozzy_engine::load(bytes, None).expect("a component").component;
    let cache = Cache::open(&crate::fozzy::cache_folder()).expect("the target folder can be written");
    let switches = Switches::of(&Plan::default());
    let program = Program::judge_as(component(scenario).into(), switches, build, Some(&cache)).expect("it compiles");
    let mut inputs = Inputs::default();
    let program_of = |component| plan::ProgramPlan { component, machine: MachinePlan::default() };
    let mut plan = plan;
    let target = program_of(inputs.add(component(target)));
    for node in &plan.nodes {
        let probe = std::fs::read(corpus::probe(corpus::Target::Wasip2)).expect("it is built");
        assert_eq!(node.program.component, inputs.add(probe));
    }
    let names: Vec<String> = match instances {
        1 => vec!["target".to_owned()],
        several => (0..several).map(|number| format!("n{number}")).collect(),
    };
    plan.nodes.extend(names.into_iter().map(|name| NodePlan {
        name,
        program: target.clone(),
        called: true,
        ends: None,
        restart: None,
        counted: None,
    }));
    Session::new(program, Arc::new(plan), &inputs)
}

fn main_with(args: &[&str]) -> MachinePlan {
    let args = ["caller"].iter().chain(args).map(|arg| (*arg).to_owned()).collect();
    MachinePlan { args, ..MachinePlan::default() }
}

fn calling(how: &str, limits: Limits) -> Session {
    let plan = Plan { main: main_with(&[how]), limits, ..Plan::default() };
    session(&corpus::component("caller"), &corpus::component("peer"), 1, plan).expect("they fit")
}

fn run(session: &mut Session) -> Execution {
    session.execute(Box::new(SeededSource::new(Seed(7))), 0..10_000).expect("the machine is fit")
}

fn said(execution: &Execution) -> String {
    String::from_utf8_lossy(execution.stdout.kept()).into_owned()
}

#[test]
fn values_of_every_type_go_there_and_back_and_stand_in_the_history() {
    let execution = run(&mut calling("echo", Limits::default()));
    assert_eq!(said(&execution), "true\ntrue\n");
    let call = execution.history.entries.iter().find(|entry| entry.call == "test:pair/peer.echo").expect("recorded");
    for part in ["{yes: true", "18446744073709551615", "-2.25", "… #"] {
        assert!(call.asked.contains(part) && call.answer.contains(part), "{part} is not in {call:?}");
    }
}

#[test]
fn a_restarted_target_keeps_its_disk_and_nothing_else() {
    let execution = run(&mut calling("restart", Limits::default()));
    assert_eq!(said(&execution), "2 5\n4 8\n4 8\n5 true\nmine: false\n");
    assert_eq!(judge(&execution).status, Status::Pass);
}

#[test]
fn a_target_waits_for_its_slow_disk_in_the_middle_of_a_call() {
    let slow = |edition| {
        let (kind, target, start) = ("slow-disk".to_owned(), "target:*".to_owned(), Duration(0));
        let (rate_ppm, strength) = (1_000_000, Some(50_000_000));
        let fault = FaultPlan { kind, target, rate_ppm, start, length: None, strength, times: None, nemesis: None };
        let plan = Plan { main: main_with(&["restart"]), faults: vec![fault], edition, ..Plan::default() };
        run(&mut session(&corpus::component("caller"), &corpus::component("peer"), 1, plan).expect("they fit"))
    };
    let (before, now) = (slow(Edition::NINTH), slow(Edition::TENTH));
    assert_eq!(said(&now), "2 5\n4 8\n4 8\n5 true\nmine: false\n");
    assert!(now.ended_at.0 >= 200_000_000, "{:?}", now.ended_at);
    assert_eq!((now.ended_at, now.history.digest), (before.ended_at, before.history.digest));
}

#[test]
fn instances_of_a_target_have_memories_files_handles_and_ends_of_their_own() {
    let several = |how: &str| {
        let plan = Plan { main: main_with(&[how]), ..Plan::default() };
        session(&corpus::component("caller"), &corpus::component("peer"), 3, plan).expect("they fit")
    };
    let mut session = several("instances");
    let execution = run(&mut session);
    let lines = [
        "1 1, 2 2, 3 3",
        // The last one was struck: its memory is gone, and it had not synced.
        "1 true, 2 true, 0 true",
        "1 1, 0 2, 0 ",
        "8",
        "0, 1, 0",
        "Err(\"\")",
        "false, true, false",
    ];
    let said = said(&execution);
    assert_eq!(said.lines().count(), lines.len(), "{said}");
    assert!(said.lines().zip(lines).all(|(said, line)| said.starts_with(line)), "{said}");
    let ended: Vec<(&str, bool)> =
        execution.nodes.iter().map(|node| (node.name.as_str(), node.end.is_some())).collect();
    assert_eq!(ended, [("n0", false), ("n1", true), ("n2", false)]);
    assert!(judge(&execution).findings[0].title.contains("node `n1`"), "{:?}", judge(&execution));
    let source = RecordedSource::new(Seed(7), execution.history.explicit.clone());
    let again = session.execute(Box::new(source), 0..0).expect("the machine is fit");
    let memories = |execution: &Execution| execution.nodes.iter().map(|node| node.memory).collect::<Vec<_>>();
    assert_eq!((again.history.digest, memories(&again)), (execution.history.digest, memories(&execution)));

    let verdict = judge(&run(&mut several("no-instance")));
    assert!(verdict.findings[0].message.contains("there is no instance 3: the run has 3"), "{verdict:?}");
}

#[test]
fn a_trap_of_the_target_is_a_finding_of_its_machine() {
    let check = |how, status, title: &str, end: fn(&ExecutionEnd) -> bool| {
        let limits = Limits { fuel: 20_000_000, ..Limits::default() };
        let execution = run(&mut calling(how, limits));
        let verdict = judge(&execution);
        let finding = verdict.findings.first().expect("a finding");
        assert!(verdict.status == status && finding.title.contains(title), "{how}: {verdict:?}");
        assert_eq!((execution.end, verdict.findings.len()), (ExecutionEnd::CalledEnded, 1), "{how}");
        let node = &execution.nodes[0];
        assert!(node.end.as_ref().is_some_and(end), "{how}: {:?}", node.end);
        finding.clone()
    };
    let trapped = |end: &ExecutionEnd| matches!(end, ExecutionEnd::Trapped { .. });
    let finding = check("panic", Status::Crash, "node `target`: panic at peer/src/lib.rs", trapped);
    assert!(finding.message.contains("the peer panics"), "{finding:?}");
    assert!(finding.backtrace.iter().any(|frame| frame.function.contains("behave")), "{finding:?}");
    check("exit", Status::Crash, "exited with code 1 instead of answering", trapped);
    check("recurse", Status::Crash, "call stack exhausted", trapped);
    check("for-ever", Status::Timeout, "instruction budget", |end| matches!(end, ExecutionEnd::FuelExhausted { .. }));
}

#[test]
fn a_scenario_that_outlives_its_target_goes_on_and_the_trap_is_found_all_the_same() {
    for (how, why) in [
        ("survive-panic", "trapped: wasm `unreachable` instruction executed"),
        ("survive-exit", "trapped: it exited with code 1 instead of answering"),
        ("survive-recurse", "trapped: call stack exhausted"),
    ] {
        let execution = run(&mut calling(how, Limits::default()));
        let lines = format!("Err(\"\"), down: Some({why:?})\n0, 0, down: true\nOk(7), 1, down: None\n");
        assert_eq!((said(&execution), &execution.end), (lines, &ExecutionEnd::Exited { code: 0 }), "{how}");
        let verdict = judge(&execution);
        assert_eq!((verdict.status, verdict.findings.len()), (Status::Crash, 1), "{how}: {verdict:?}");
    }
    // Who used up the instructions cannot go on.
    let limits = Limits { fuel: 20_000_000, ..Limits::default() };
    assert_eq!(judge(&run(&mut calling("survive-for-ever", limits))).status, Status::Timeout);
}

#[test]
fn resources_of_the_target_are_used_by_handles_and_dropped() {
    let mut session = calling("handles", Limits::default());
    let execution = run(&mut session);
    let lines = "6 7, there are 2\n8 9, there are 1\n[2, 3, 4], there are 3\nthere are 0\n";
    assert_eq!(said(&execution), lines, "{:?}", judge(&execution));
    let history: Vec<String> = execution
        .history
        .entries
        .iter()
        .filter_map(|entry| {
            Some(format!("{}({}) {}", entry.call.strip_prefix("test:pair/peer.")?, entry.asked, entry.answer))
        })
        .collect();
    let expected = [
        "[constructor]tally(5) 0",
        "[constructor]tally(1) 1",
        "[method]tally.more(0) 6",
        "[method]tally.more(0) 7",
        "tallies() 2",
        "[static]tally.merge(0, 1) 8",
        "[method]tally.more(1) 9",
        "tallies() 1",
        "[drop]tally(1) ",
        "several([1, 2, 3]) [2, 3, 4]",
    ];
    assert_eq!(history[..expected.len()], expected);
    let source = RecordedSource::new(Seed(7), execution.history.explicit.clone());
    let again = session.execute(Box::new(source), 0..0).expect("the machine is fit");
    assert_eq!((again.history.digest, again.memory), (execution.history.digest, execution.memory));
}

#[test]
fn a_handle_of_an_instance_that_is_gone_traps_with_words() {
    let check = |how, lines: &str, words: &str| {
        let execution = run(&mut calling(how, Limits::default()));
        let verdict = judge(&execution);
        let found: Vec<&str> = verdict.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert!(said(&execution) == lines && verdict.status == Status::Crash, "{how}: {execution:?}");
        assert!(found.iter().any(|found| found.contains(words)), "{how}: {found:?}");
    };
    let gone =
        "the target: the handle 0 is of an instance of the target that is gone, as it was restarted or has ended";
    check("old-handle", "there are 0\n", gone);
    // What needs no resource for its answer has the simplest; nothing can stand for a resource.
    let nothing = "the target: it is down, and nothing can stand for a resource";
    check("handle-when-down", "Err(\"\"), 0\n0\n", nothing);
}

#[test]
fn the_caller_waits_while_its_target_does_and_others_go_on() {
    let alone = run(&mut calling("sleep", Limits::default()));
    assert_eq!((said(&alone).as_str(), alone.ended_at.0 / 1_000_000_000), ("Ok(3600)\n", 3600));

    let probe = std::fs::read(corpus::probe(corpus::Target::Wasip2)).expect("it is built");
    let machine = MachinePlan { args: ["probe", "hello"].map(str::to_owned).to_vec(), ..MachinePlan::default() };
    let program = plan::ProgramPlan { component: Digest::of(&probe), machine };
    let nodes =
        vec![NodePlan { name: "other".to_owned(), program, called: false, ends: None, restart: None, counted: None }];
    let plan = Plan { main: main_with(&["sleep"]), nodes, ..Plan::default() };
    let mut session = session(&corpus::component("caller"), &corpus::component("peer"), 1, plan).expect("they fit");
    let together = run(&mut session);
    assert_eq!(said(&together), said(&alone));
    assert!(matches!(together.nodes[0].end, Some(ExecutionEnd::Exited { .. })), "{:?}", together.nodes[0].end);
    let source = RecordedSource::new(Seed(7), together.history.explicit.clone());
    let again = session.execute(Box::new(source), 0..0).expect("the machine is fit");
    assert_eq!((again.history.digest, again.memory), (together.history.digest, together.memory));

    let main = MachinePlan {
        stdin: plan::StdinPlan { bytes: Digest::of(b""), stays_open: true, channel: None },
        ..main_with(&["wait"])
    };
    let plan = Plan { main, ..Plan::default() };
    let mut session =
        self::session(&corpus::component("caller"), &corpus::component("peer"), 1, plan).expect("they fit");
    // The input that stays open is the caller's; the target has one of its own.
    assert_eq!(said(&run(&mut session)), "Ok(0)\n");
}

#[test]
fn both_are_covered_and_ten_thousand_calls_are_one_after_the_other() {
    let build = Build { coverage: CoverageMode::SetOnce, ..Build::default() };
    let read = |name| std::fs::read(corpus::component(name)).expect("it is built");
    let plan = Plan { main: main_with(&["many"]), ..Plan::default() };
    let mut session = link(&read("caller"), &read("peer"), plan, &build).expect("they fit");
    session.fuel_times(2);
    assert_eq!(said(&run(&mut session)), "10000\n");
    for name in ["caller", "peer"] {
        let covered = &session.coverage()[&Digest::of(&read(name))];
        assert!(covered.edges.iter().any(|count| *count > 0), "{name} is not covered");
    }
}

/// A component that exports functions of `test:pair/NAME@VERSION`.
fn exporting(interface: &str, functions: &[(&str, &str)]) -> String {
    let mut text = String::from(
        r#"(component
        (core module $m (func (export "f") (param i32) (result i32) local.get 0) (func (export "g") (result i32) i32.const 0))
        (core instance $i (instantiate $m))"#,
    );
    for (name, of) in functions {
        let core = if of.contains("param") { "f" } else { "g" };
        text.push_str(&format!("(func ${name} {of} (canon lift (core func $i \"{core}\")))"));
    }
    let exports: String = functions.iter().map(|(name, _)| format!("(export \"{name}\" (func ${name}))")).collect();
    text + &format!("(instance $e {exports}) (export \"{interface}\" (instance $e)))")
}

/// A program that imports an interface, and does nothing with it.
fn importing(import: &str) -> String {
    format!(
        r#"(component {import}
        (core module $m (func (export "run") (result i32) i32.const 0))
        (core instance $i (instantiate $m))
        (func $run (result (result)) (canon lift (core func $i "run")))
        (instance $r (export "run" (func $run)))
        (export "wasi:cli/run@0.2.12" (instance $r)))"#
    )
}

#[test]
fn what_does_not_fit_is_refused_with_both_sides() {
    let adds = r#"(import "test:pair/peer@0.1.0" (instance (export "add" (func (param "number" u32) (result u32)))))"#;
    let fits = |import: &str, export: String| {
        let linked = link(importing(import).as_bytes(), export.as_bytes(), Plan::default(), &Build::default());
        linked.map(|mut session| run(&mut session).end).map_err(|error| error.to_string())
    };
    let add = &[("add", r#"(param "number" u32) (result u32)"#)];
    for interface in ["test:pair/peer@0.1.0", "test:pair/peer@0.1.9"] {
        assert_eq!(fits(adds, exporting(interface, add)), Ok(ExecutionEnd::Exited { code: 0 }), "{interface}");
    }
    let check = |import: &str, export: String, parts: &[&str]| {
        let message = fits(import, export).expect_err("they do not fit");
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    let both = ["imports `test:pair/peer@0.1.0`", "the target exports `test:pair/pear@0.1.0`"];
    check(adds, exporting("test:pair/pear@0.1.0", add), &both);
    check(adds, exporting("test:pair/peer@0.2.0", add), &["exports `test:pair/peer@0.2.0`"]);
    let other = &[("ad", r#"(param "number" u32) (result u32)"#)];
    check(adds, exporting("test:pair/peer@0.1.0", other), &["imports `add` of `test:pair/peer@0.1.0`", "exports `ad`"]);
    let types = ["imports `func(number: u32) -> u32`", "exports `func(number: u32) -> s32`"];
    let signed = &[("add", r#"(param "number" u32) (result s32)"#)];
    check(adds, exporting("test:pair/peer@0.1.0", signed), &types);
    let none = &[("add", "(result u32)")];
    check(adds, exporting("test:pair/peer@0.1.0", none), &["exports `func() -> u32`"]);
    let thing = r#"(import "test:pair/peer@0.1.0" (instance (export "thing" (type (sub resource)))))"#;
    let missing = ["the resource `thing` of `test:pair/peer@0.1.0`", "which its target does not export"];
    check(thing, exporting("test:pair/peer@0.1.0", add), &missing);
    let bare = r#"(import "add" (func (param "number" u32) (result u32)))"#;
    check(bare, exporting("test:pair/peer@0.1.0", add), &["`add` outside any interface"]);
}
