//! Every scenario under `scenarios/` finds what was planted in it, and nothing when that is mended.
//!
//! ```text
//! scenarios/bank ─┬─ as it is         20 seeds ─▶ each fails as expect.toml says, within its budget
//!                 └─ feature `fixed`  20 seeds ─▶ each passes
//! guests/draws   ─┬─ sandbox  ─▶ lines ─┐
//!                 └─ native   ─▶ lines ─┴─ equal, for the same seed
//! guests/misfits ─── scenarios that are wrong ─▶ each with its own words and status
//! ```
//!
//! Not here: draws by themselves (`guest-sdk/tests`), what `fozzy run` prints (`tests/cli/`).

#[path = "guests/draws/src/lib.rs"]
#[allow(
    unreachable_pub,
    clippy::disallowed_methods,
    reason = "it is a crate of its own in the sandbox, whose time is virtual"
)]
mod draws;

use crate::corpus;
use crate::fozzy::Fozzy;
use fozzy_check::judge;
use fozzy_engine::{Cache, Catalogue, Program, Session, Switches};
use fozzy_sdk::native::{self, Settings};
use fozzy_trace::facts::PropertyState;
use fozzy_trace::plan::{Edition, FaultPlan, Inputs, Limits, MachinePlan, ScenarioPlan};
use fozzy_trace::source::{RecordedSource, SeededSource};
use fozzy_trace::{Execution, Executor, Plan, Seed, Status, Verdict};
use std::path::Path;
use std::sync::Arc;

/// Seeds that each scenario is run with.
const SEEDS: u64 = 20;

fn compiled(file: &Path) -> Program {
    let bytes = std::fs::read(file).expect("the scenario is built");
    let component = fozzy_engine::load(&bytes, None).expect("a component").component;
    let cache = Cache::open(&crate::fozzy::cache_folder()).expect("the target folder can be written");
    Program::new(component.into(), Switches::of(&Plan::default()), Some(&cache)).expect("it compiles")
}

fn session(program: &Program, plan: Plan) -> Session {
    Session::new(program.clone(), Arc::new(plan), &Inputs::default()).expect("a plain plan")
}

/// Scenarios that are mended by `FIXED=1` in their environment, and not when they are built: an engine of a megabyte or more is
/// compiled once then.
const FIXED_BY_ENV: &[&str] = &["js-scores"];

/// A scenario with what it judges, if that is another component.
fn prepared(name: &str, target: Option<&str>, fixed: bool, plan: Plan) -> Session {
    let scenario = corpus::scenario(name, fixed);
    match target {
        None => session(&compiled(&scenario), plan),
        Some(target) => {
            let target = corpus::scenario(target, fixed);
            crate::targets::session(&scenario, &target, instances(name), plan).expect("they fit")
        }
    }
}

fn steps(sequences: u32, flows: u32) -> Plan {
    Plan { scenario: Some(ScenarioPlan::all(sequences, flows)), ..Plan::default() }
}

fn run(session: &mut Session, seed: u64) -> (Execution, Verdict) {
    let execution = session.execute(Box::new(SeededSource::new(Seed(seed))), 0..0).expect("the machine is fit");
    let verdict = judge(&execution);
    (execution, verdict)
}

/// What `expect.toml` says.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioExpectation {
    sequences: u32,
    flows: u32,
    status: Status,
    signatures: Vec<String>,
    /// The folder of the component that it judges, which has the planted fault then.
    target: Option<String>,
    /// How a suite makes it; the corpus has its own ways.
    #[serde(rename = "build")]
    _build: Option<String>,
    #[serde(rename = "program")]
    _program: Option<String>,
}

/// How many instances of its target the scenario's plan has.
fn instances(name: &str) -> usize {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    struct PlannedInstances {
        target_instances: usize,
    }
    let file = crate::fozzy::repository().join("scenarios").join(name).join("plan.toml");
    let Ok(text) = std::fs::read_to_string(file) else { return 1 };
    toml::from_str::<PlannedInstances>(&text).expect("a plan of nothing else").target_instances
}

fn expected(name: &str) -> ScenarioExpectation {
    let file = crate::fozzy::repository().join("scenarios").join(name).join("expect.toml");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[track_caller]
fn check(name: &'static str) {
    let ScenarioExpectation { sequences, flows, status, signatures, target, .. } = expected(name);
    let of_run = |fixed| {
        let env = (fixed && FIXED_BY_ENV.contains(&name)).then(|| ("FIXED".to_owned(), "1".to_owned()));
        let main = MachinePlan { env: env.into_iter().collect(), ..MachinePlan::default() };
        prepared(name, target.as_deref(), fixed, Plan { main, ..steps(sequences, flows) })
    };
    let mut planted = of_run(false);
    for seed in 0..SEEDS {
        let (_, verdict) = run(&mut planted, seed);
        let signature = verdict.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(
            verdict.status == status && signatures.contains(&signature),
            "{name} with seed {seed}: expected {status:?} and one of {signatures:?}, found {:?} {signature}\n{:?}",
            verdict.status,
            verdict.findings
        );
    }
    let mut fixed = of_run(true);
    for seed in 0..SEEDS {
        let (execution, verdict) = run(&mut fixed, seed);
        assert_eq!(verdict.status, Status::Pass, "{name}, fixed, with seed {seed}: {:?}", verdict.findings);
        let flows: u64 = execution.facts.scenario.expect("it is a scenario").flows.iter().map(|flow| flow.run).sum();
        assert!(flows > 0, "{name}, fixed, with seed {seed} ran no flow");
    }
}

macro_rules! scenarios {
    ($($test:ident $name:literal;)*) => {
        pub(crate) const TESTED: &[&str] = &[$($name),*];
        $(
            #[test]
            fn $test() {
                check($name);
            }
        )*
    };
}
scenarios! {
    the_counter_loses_a_carry "counter";
    the_bank_lets_a_customer_owe "bank";
    the_queue_loses_a_wake_up "queue";
    the_cache_loses_what_was_not_synced "cache";
    the_client_submits_twice "retry";
    the_runner_takes_a_crash_for_success "jobs";
    the_parser_reads_beyond_its_input "parser";
    the_store_forgets_what_was_deleted "kv-judge";
    the_cluster_disagrees_on_what_two_have_written "kv-cluster";
    the_ring_in_c_looks_empty_when_it_is_full "c-ring";
    the_timer_in_go_fires_late "go-timers";
    the_bomb_goes_off "puzzles";
    the_scores_in_javascript_are_sorted_as_texts "js-scores";
}

#[test]
fn every_scenario_is_tested() {
    let folder = crate::fozzy::repository().join("scenarios");
    let entries = std::fs::read_dir(folder).expect("scenarios/").flatten();
    let folders = entries.filter(|entry| entry.path().join("expect.toml").is_file());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let mut tested: Vec<&str> = TESTED.to_vec();
    tested.sort_unstable();
    assert_eq!(names, tested);
}

#[test]
fn the_same_seed_draws_the_same_natively_and_in_the_sandbox() {
    let mut session = session(&compiled(&corpus::component("draws")), steps(3, 60));
    for seed in [0, 7, u64::MAX] {
        let (execution, verdict) = run(&mut session, seed);
        assert_eq!(verdict.status, Status::Pass, "{:?}", verdict.findings);
        let sandbox = String::from_utf8(execution.stdout.kept().to_vec()).expect("it writes text");
        draws::SAID.take();
        let report = native::run::<draws::Everything>(Settings { seed, sequences: 3, flows: 60 });
        let native = draws::SAID.take();
        assert!(native.len() > 180, "every step says something");
        assert_eq!(sandbox.lines().collect::<Vec<_>>(), native, "seed {seed}");
        let run = execution.facts.scenario.expect("it is a scenario").flows.iter().map(|flow| flow.run).sum::<u64>();
        assert_eq!(run as usize, report.steps.iter().filter(|(_, skipped)| skipped.is_none()).count());
    }
}

#[test]
fn a_sequence_does_not_depend_on_how_many_there_are_and_a_recording_repeats_it() {
    let program = compiled(&corpus::component("draws"));
    let lines = |plan| {
        let (execution, _) = run(&mut session(&program, plan), 7);
        String::from_utf8(execution.stdout.kept().to_vec()).expect("it writes text")
    };
    let (few, many) = (lines(steps(2, 30)), lines(steps(4, 30)));
    assert!(many.starts_with(&few), "two sequences are the first two of four");
    // A step draws from a stream of its own: the first steps are the same, however many follow.
    let of_first_sequence = |text: &str| {
        let second = text.find("sequence 1").expect("there is a second sequence");
        // What is drawn after the last step comes after another one.
        text[..second].lines().filter(|line| !line.starts_with("at the end")).collect::<Vec<_>>().join("\n")
    };
    let (short, long) = (of_first_sequence(&lines(steps(2, 10))), of_first_sequence(&few));
    assert!(long.starts_with(&short));
    let mut session = session(&program, steps(2, 30));
    let (first, _) = run(&mut session, 7);
    let source = RecordedSource::new(Seed(7), first.history.explicit.clone());
    let again = session.execute(Box::new(source), 0..0).expect("the machine is fit");
    assert_eq!(
        (again.history.digest, again.memory, again.ended_at),
        (first.history.digest, first.memory, first.ended_at)
    );
    assert!(first.memory_bytes > 0, "the memory of the last sequence is part of the execution");
}

/// What becomes of a scenario that is wrong in this way.
fn misfit(program: &Program, how: &str, status: Status, expected: &str) {
    let main = MachinePlan { args: vec!["misfits".to_owned(), how.to_owned()], ..MachinePlan::default() };
    let limits = Limits { fuel: 50_000_000, memory_bytes: 64 << 20, ..Limits::default() };
    let mut session = session(program, Plan { main, limits, ..steps(2, 5) });
    let (_, verdict) = run(&mut session, 7);
    let said = verdict.findings.iter().map(|finding| format!("{}: {}\n", finding.kind.name(), finding.message));
    let said: String = said.collect();
    assert!(
        verdict.status == status && said.contains(expected),
        "{how}: expected {status:?} `{expected}`, found {:?}\n{said}",
        verdict.status
    );
}

#[test]
fn a_scenario_that_is_wrong_is_told_how() {
    let program = compiled(&corpus::component("misfits"));
    let misfit = |how, status, expected| misfit(&program, how, status, expected);
    misfit("fine", Status::Pass, "");
    misfit("period-0", Status::Error, "the invariant `i` has the period 0");
    misfit("weights-0", Status::Error, "no flow can ever be drawn");
    misfit("no-flow", Status::Error, "the scenario has no flow");
    misfit("two-names", Status::Error, "two of the flows are called `f`");
    misfit("no-name", Status::Error, "a name has 0 bytes");
    misfit("stuck", Status::Error, "no flow is valid in sequence 0 at step 0: whatever");
    misfit("wrong-flow", Status::Error, "ran the flow 9, and there are 1");
    misfit("two-kinds", Status::Error, "two properties are called `p`");
    misfit("choose-0", Status::Crash, "there is nothing to choose from");
    misfit("min-max", Status::Crash, "the minimum 2 is above the maximum 1");
    misfit("weighted-0", Status::Crash, "all of the 2 weights are 0");
    misfit("probability", Status::Crash, "2 is no probability");
    misfit("empty-alphabet", Status::Error, "the alphabet is empty");
    misfit("never-true", Status::Error, "none of 1000 values satisfies the predicate");
    misfit("panic", Status::Crash, "the flow panics");
    misfit("for-ever", Status::Timeout, "the instruction budget ran out");
    misfit("recursion", Status::Crash, "call stack exhausted");
    misfit("allocation", Status::Crash, "out of memory");
    misfit("deadlock", Status::Fail, "`main` waits for a notification");
    misfit("operation-twice", Status::Crash, "the operation 0 has ended before");
    misfit("free-twice", Status::Fail, "frees what is not allocated");
    misfit("span-twice", Status::Crash, "there is no open span 0");
    misfit("http-status", Status::Crash, "99 is no status of a response: expected 100..=999");
    misfit("http-1025", Status::Crash, "fozzy:http/rules.add: more than 1024 rules");
    misfit("http-unknown", Status::Crash, "fozzy:http/rules.answered: there is no rule 7");
    misfit("process-1025", Status::Crash, "fozzy:process/rules.add: more than 1024 rules");
    misfit("process-unknown", Status::Crash, "fozzy:process/rules.answered: there is no rule 0");
    misfit("skips", Status::Error, "no flow ran: the 10 that were drawn found nothing to do (`f`: nothing to do 10)");
    misfit("always", Status::Fail, "`p` does not hold\nexpected 3 <= 2");
}

#[test]
fn everything_of_the_header_for_c_does_what_it_says() {
    let mut session = session(&compiled(&corpus::c_tools()), steps(1, 60));
    let execution = session.execute(Box::new(SeededSource::new(Seed(7))), 0..1000).expect("the machine is fit");
    let verdict = judge(&execution);
    assert_eq!(verdict.status, Status::Pass, "{:?}", verdict.findings);
    let stats = execution.facts.scenario.expect("it is a scenario");
    let run: Vec<u64> = stats.flows.iter().map(|flow| flow.run).collect();
    assert_eq!(run, [1, 1, 1, 1, 1, 1, 0], "each ran as often as it may, and one skips");
    let history = &execution.history.entries;
    let asked = |call: &str| -> Vec<&str> {
        history.iter().filter(|entry| entry.call == call).map(|entry| entry.asked.as_str()).collect()
    };
    let commands = asked("fozzy:process/rules.add");
    assert_eq!(
        commands[0],
        r#""resize", (some(["-w", "*.png"]), some(2), ok(code(4)), 3000), "out" (3 bytes), "wrong" (5 bytes)"#
    );
    assert!(commands[1].contains("signal(9)") && commands[2].contains("not permitted"), "{commands:?}");
    let requests = asked("fozzy:http/rules.add");
    assert_eq!(
        requests[0],
        r#""/orders", (some("POST"), [("accept", "text/*")], some(5), ok((201, [("x-one", "1"), ("x-two", "2")], some(2))), 6000), "body" (4 bytes)"#
    );
    assert!(requests[1].contains("timeout"), "{requests:?}");
    let told = |call: &str| asked(&format!("fozzy:{call}")).join("; ");
    assert_eq!(told("properties/assertions.again"), r#""reached", 4, 0"#);
    assert_eq!(told("events/journal.event"), r#""event", "details"; "event", ""; "end", "0 after 59""#);
    assert_eq!(told("history/operations.fail"), r#"1, "full""#);
    assert_eq!(told("time/control.advance"), "1000");
    assert_eq!(told("files/snapshots.forget"), r#""start""#);
}

#[test]
fn a_scenario_needs_no_std() {
    let mut session = session(&compiled(&corpus::component("bare")), steps(3, 60));
    let (execution, verdict) = run(&mut session, 7);
    assert_eq!(verdict.status, Status::Pass, "{:?}", verdict.findings);
    let stats = execution.facts.scenario.expect("it is a scenario");
    assert!(stats.flows.iter().all(|flow| flow.run > 0) && stats.flows[0].skipped.contains_key("broken"), "{stats:?}");
    let told: Vec<(&str, u64)> = execution.facts.properties.iter().map(|(name, seen)| (name, seen.evaluated)).collect();
    assert_eq!(told, [("as many as the model has", 180), ("several are kept", 180)], "they are counted in the guest");
}

#[test]
fn a_loss_of_power_ends_its_sequence_and_no_other() {
    let program = compiled(&corpus::scenario("cache", true));
    let (kind, target, start) = ("power-loss".to_owned(), "*".to_owned(), fozzy_trace::Duration(0));
    let fault =
        FaultPlan { kind, target, rate_ppm: 20_000, start, length: None, strength: None, times: None, nemesis: None };
    let mut session = session(&program, Plan { faults: vec![fault], ..steps(8, 40) });
    let (execution, verdict) = run(&mut session, 7);
    assert_eq!(verdict.status, Status::Pass, "{:?}", verdict.findings);
    let stats = execution.facts.scenario.expect("it is a scenario");
    let flows: u64 = stats.flows.iter().map(|flow| flow.run).sum();
    assert!(stats.sequences == 8 && (8..8 * 40).contains(&flows), "{} sequences, {flows} flows", stats.sequences);
}

#[test]
fn steps_wait_for_a_slow_disk_without_a_stack_of_their_own() {
    let program = compiled(&corpus::scenario("cache", true));
    let slow = |edition| {
        let (kind, target, start) = ("slow-disk".to_owned(), "/cache*".to_owned(), fozzy_trace::Duration(0));
        let (rate_ppm, strength) = (1_000_000, Some(50_000_000));
        let fault = FaultPlan { kind, target, rate_ppm, start, length: None, strength, times: None, nemesis: None };
        run(&mut session(&program, Plan { faults: vec![fault], edition, ..steps(2, 20) }), 7)
    };
    let ((before, _), (now, verdict)) = (slow(Edition::NINTH), slow(Edition::TENTH));
    assert_eq!(verdict.status, Status::Pass, "{:?}", verdict.findings);
    assert!(now.ended_at.0 > 1_000_000_000, "{:?}", now.ended_at);
    assert_eq!((now.ended_at, now.history.digest), (before.ended_at, before.history.digest));
}

#[test]
fn functions_stand_in_the_order_of_the_source() {
    let program = compiled(&corpus::scenario("parser", true));
    let (execution, _) = run(&mut session(&program, steps(1, 6)), 7);
    let flows = execution.facts.scenario.expect("it is a scenario").flows;
    let flows: Vec<(&str, u64)> = flows.iter().map(|flow| (&*flow.name, flow.run)).collect();
    assert_eq!(flows, [("parse_anything", 6), ("round_trip", 3), ("a_line_without_a_sign_is_no_setting", 3)]);
}

#[test]
fn what_is_counted_in_the_guest_is_told_in_the_end() {
    let program = compiled(&corpus::scenario("counter", true));
    let (execution, verdict) = run(&mut session(&program, steps(3, 50)), 7);
    assert_eq!(verdict.status, Status::Pass, "{:?}", verdict.findings);
    let told: Vec<(&str, u64, u64)> =
        execution.facts.properties.iter().map(|(name, seen)| (name, seen.evaluated, seen.held)).collect();
    let always = told.iter().filter(|(_, evaluated, _)| *evaluated >= 150).count();
    assert!(always > 0, "an invariant of each step is evaluated as often as there are steps: {told:?}");
    assert!(execution.history.calls < 150 * 3, "{} calls", execution.history.calls);
}

#[test]
fn properties_are_known_before_they_are_reached() {
    let program = compiled(&corpus::scenario("bank", true));
    let (execution, _) = run(&mut session(&program, steps(1, 1)), 7);
    let states: Vec<(&str, PropertyState)> =
        execution.facts.properties.iter().map(|(name, property)| (name, property.state())).collect();
    assert!(states.contains(&("total is constant", PropertyState::NeverReached)), "{states:?}");
    assert!(states.contains(&("no customer owes", PropertyState::Passed)), "{states:?}");
}

/// What happened is told in steps, with the values that the SDK's macros know, before and after shrinking.
#[test]
fn a_failing_scenario_shows_its_steps_with_their_values() {
    let fozzy = Fozzy::new();
    let bank = corpus::scenario("bank", false).display().to_string();
    let failed = fozzy.run(&["run", &bank, "--seed", "7", "--json"]).exits(1).json();
    let steps = failed["sequence"]["steps"].as_array().expect("it failed in a step").clone();
    let last = steps.last().expect("there is one");
    assert_eq!((&last["flow"], &last["failed"]), (&"withdraw".into(), &true.into()), "{last:#}");
    assert_eq!(last["number"].as_u64(), Some(steps.len() as u64));
    let named = |step: &serde_json::Value, name: &str| {
        let values = step["values"].as_array().into_iter().flatten();
        values
            .filter(|value| value["name"] == name)
            .filter_map(|value| value["value"].as_str().map(str::to_owned))
            .next()
    };
    let customer = named(last, "customer").expect("the argument has its name");
    assert!(customer.parse::<u64>().is_ok(), "{last:#}");
    assert!(steps.iter().filter(|step| step["failed"] == true).count() == 1);

    let shrunk = fozzy.run(&["shrink", "last-fail", "--out", "min.fozzy", "--json"]).exits(1).json();
    let fewer = shrunk["sequence"]["steps"].as_array().expect("it fails still").len();
    assert_eq!(Some(fewer as u64), shrunk["shrink"]["after"]["steps"].as_u64());
    let replayed = fozzy.run(&["replay", "min.fozzy"]).exits(1).err();
    let line = format!("✗ {fewer}  withdraw(customer=");
    assert!(replayed.contains(&line) && replayed.contains(&format!("in step {fewer} (withdraw)")), "{replayed}");
    assert!(!replayed.contains("__Exported") && !replayed.contains("stateful@0.1.0#step"), "{replayed}");
}

#[test]
fn a_catalogue_that_was_stripped_is_said_to_be_absent() {
    let file = corpus::scenario("bank", true);
    assert!(matches!(compiled(&file).catalogue(), Catalogue::Declared(2..)));
    let mut bytes = std::fs::read(&file).expect("the scenario is built");
    let (section, gone) = (b"\x10fozzy.properties", b"\x10stripped.section");
    while let Some(at) = bytes.windows(section.len()).position(|found| found == section) {
        bytes[at..at + section.len()].copy_from_slice(gone);
    }
    let fozzy = Fozzy::new();
    let plain = fozzy.write("plain.wat", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    assert_eq!(compiled(&plain).catalogue(), Catalogue::Unneeded);
    let stripped = fozzy.write("stripped.wasm", bytes);
    assert_eq!(compiled(&stripped).catalogue(), Catalogue::Absent { stripped: false });
    let words = ["run", "stripped.wasm", "--sequences", "1", "--flows", "1"];
    let ran = fozzy.run(&words).exits(0);
    assert!(ran.err().contains("does not list its properties"), "{}", ran.err());
    let document = fozzy.run(&[&words[..], &["--json"]].concat()).exits(0).json();
    assert!(document["catalogue"].as_str().is_some_and(|said| said.contains("does not list")), "{document:#}");
    let names: Vec<&str> =
        document["properties"].as_array().expect("a list").iter().filter_map(|row| row["name"].as_str()).collect();
    assert!(names.contains(&"no customer owes") && !names.contains(&"total is constant"), "{names:?}");
    assert!(fozzy.run(&["inspect", "stripped.wasm"]).exits(0).out().contains("the catalogue is absent"));
    let whole = fozzy.run(&["inspect".as_ref(), file.as_os_str()]).exits(0).out();
    assert!(whole.contains(" declared\n") && whole.contains("fits         scenario\n"), "{whole}");
}
