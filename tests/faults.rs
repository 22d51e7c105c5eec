//! Faults of files and clocks: for each kind a run that passes, and fails only with it.
//!
//! ```text
//! faults read                       exit 0
//! faults read, bit-flip on /tmp/*   exit 1, `other bytes`, the same each time, and in a replay
//! ```
//!
//! Not here: what each kind does to each operation (`fozzy-world`), faults of the network, HTTP and processes.

use crate::corpus;
use crate::fozzy::Fozzy;
use crate::recorded::{RecordedRun, component, machine};
use fozzy_engine::{Program, Session, Switches};
use fozzy_trace::plan::{
    AllowedEnd, ClusterPlan, Edition, FaultPlan, HealScope, Inputs, MachinePlan, NemesisPlan, NodePlan, ProgramPlan,
};
use fozzy_trace::source::{RecordedSource, SeededSource};
use fozzy_trace::{Duration, Execution, ExecutionEnd, Executor, Plan, Seed};
use std::sync::{Arc, OnceLock};

const SECOND: Duration = Duration(1_000_000_000);

fn program() -> Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    let compile = || {
        let bytes = std::fs::read(corpus::component("faults")).expect("the guest is built");
        let component = fozzy_engine::load(&bytes, None).expect("the guest is a program").component;
        Program::new(component.into(), Switches::of(&Plan::default()), None).expect("the guest compiles")
    };
    PROGRAM.get_or_init(compile).clone()
}

/// A fault that always strikes.
fn always(kind: &str, target: &str) -> FaultPlan {
    FaultPlan {
        kind: kind.to_owned(),
        target: target.to_owned(),
        rate_ppm: 1_000_000,
        start: Duration(0),
        length: None,
        strength: None,
        times: None,
        nemesis: None,
    }
}

/// One loss of power, at the first operation after the guest has slept.
fn one_loss() -> FaultPlan {
    FaultPlan { start: SECOND, times: Some(1), ..always("power-loss", "main") }
}

/// Runs a mode of the guest, and asserts that another run and the replay of the recorded answers are the same run.
fn run(mode: &str, faults: &[FaultPlan], seed: u64) -> Execution {
    let main = MachinePlan { args: vec!["faults".to_owned(), mode.to_owned()], ..MachinePlan::default() };
    let plan = Arc::new(Plan { main, faults: faults.to_vec(), ..Plan::default() });
    let mut session = Session::new(program(), plan, &Inputs::default()).expect("a plain plan");
    let first = session.execute(Box::new(SeededSource::new(Seed(seed))), 0..0).expect("the machine is fit");
    let explicit = first.history.explicit.clone();
    let again = session.execute(Box::new(RecordedSource::new(Seed(seed), explicit)), 0..0).expect("the machine is fit");
    assert_eq!(again.history.digest, first.history.digest, "{mode} is the same run again");
    assert_eq!((&again.end, again.ended_at, again.memory), (&first.end, first.ended_at, first.memory));
    first
}

fn words(execution: &Execution) -> String {
    String::from_utf8_lossy(execution.stderr.kept()).trim().to_owned()
}

/// The mode passes by itself, and fails with these words with the faults.
#[track_caller]
fn check(mode: &str, faults: &[FaultPlan], expected: &str) {
    let passed = run(mode, &[], 7);
    assert_eq!(passed.end, ExecutionEnd::Exited { code: 0 }, "{mode} without faults: {}", words(&passed));
    let failed = run(mode, faults, 7);
    assert_eq!(failed.end, ExecutionEnd::Exited { code: 1 }, "{mode} with faults");
    let said = words(&failed);
    assert!(said.contains(expected), "{mode}: expected `{expected}`, said `{said}`");
}

#[test]
fn each_kind_makes_a_run_fail_that_passes_without_it() {
    let on_files = |kind| always(kind, "/tmp/*");
    check("write", &[on_files("io-error")], "faults: ");
    check("write", &[on_files("write-error")], "faults: ");
    check("write", &[on_files("disk-full")], "faults: ");
    check("make", &[on_files("disk-full")], "faults: ");
    check("read", &[on_files("read-error")], "faults: ");
    check("read", &[on_files("bit-flip")], "other bytes");
    check("read-once", &[on_files("short-read")], "a short read");
    check("write-once", &[on_files("short-write")], "faults: ");
    check("sync", &[on_files("sync-error")], "faults: ");
    check("quick", &[on_files("slow-disk")], "a slow disk");
    let on_main = |kind| always(kind, "main");
    check(
        "wall",
        &[FaultPlan { times: Some(1), start: Duration(1500), ..on_main("clock-step") }],
        "another time of day",
    );
    check("sleep", &[FaultPlan { strength: Some(100_000), ..on_main("clock-drift") }], "a second of another length");
    check("moving", &[on_main("clock-freeze")], "the clock stands still");
    check("restart", &[one_loss(), always("lost-write", "/tmp/*")], "half of what was saved");
    check("restart", &[one_loss(), always("torn-write", "/tmp/*")], "half of what was saved");
}

/// Two machines, each with a mode of the guest.
#[track_caller]
fn side_by_side(edition: Edition, modes: [&str; 2], faults: &[FaultPlan]) -> Execution {
    in_cluster(edition, modes, faults, None)
}

/// The same, with what the plan says of all machines.
#[track_caller]
fn in_cluster(
    edition: Edition,
    [main, other]: [&str; 2],
    faults: &[FaultPlan],
    cluster: Option<ClusterPlan>,
) -> Execution {
    let mut inputs = Inputs::default();
    let program =
        ProgramPlan { component: inputs.add(component("faults")), machine: machine(&format!("faults {other}")) };
    let other = NodePlan {
        name: "other".to_owned(),
        program,
        called: false,
        ends: Some(AllowedEnd::Ok),
        restart: None,
        counted: None,
    };
    let main = machine(&format!("faults {main}"));
    let plan = Plan { main, nodes: vec![other], faults: faults.to_vec(), edition, cluster, ..Plan::default() };
    RecordedRun::new("faults", plan, inputs, 0..0).check(7)
}

#[test]
fn a_slow_disk_holds_up_its_own_machine_only() {
    let slow =
        |machine: &str| FaultPlan { strength: Some(SECOND.0 / 4), ..always("slow-disk", &format!("{machine}:/tmp/*")) };
    let passed = ExecutionEnd::Exited { code: 0 };
    let others = side_by_side(Edition::TENTH, ["ticks", "writes"], &[slow("other")]);
    assert_eq!(others.end, passed, "{}", words(&others));
    assert_eq!(others.ended_at.0 * 10 / SECOND.0, 20, "{:?}", others.ended_at);
    assert_eq!((&others.nodes[0].end, others.nodes[0].stdout.kept()), (&None, &b"started\n"[..]));
    let mains = side_by_side(Edition::TENTH, ["writes", "ticks"], &[slow("main")]);
    let ticked = &mains.nodes[0];
    assert_eq!(mains.end, passed, "{}", words(&mains));
    assert_eq!(ticked.end, Some(passed.clone()), "{}", String::from_utf8_lossy(ticked.stderr.kept()));
    // Each of twenty files is opened and written.
    assert!(mains.ended_at.0 >= 10 * SECOND.0, "{:?}", mains.ended_at);
    // In plans of before, time passed for all.
    let others = side_by_side(Edition::NINTH, ["ticks", "writes"], &[slow("other")]);
    assert_eq!((&others.end, &*words(&others)), (&ExecutionEnd::Exited { code: 1 }, "faults: a late tick"));
    assert_eq!(others.nodes[0].end, Some(passed.clone()));
    let mains = side_by_side(Edition::NINTH, ["writes", "ticks"], &[slow("main")]);
    assert_eq!((mains.end, &mains.nodes[0].end), (passed, &None), "it kept its turn");
}

#[test]
fn nobody_waits_for_a_slow_disk_when_all_are_healed() {
    let slow = FaultPlan { strength: Some(10 * SECOND.0), times: Some(1), ..always("slow-disk", "other:/tmp/*") };
    let healed =
        |heals| ClusterPlan { hit_max: None, faults_until: Some(Duration(SECOND.0)), heals, progress_within: None };
    for (heals, written) in [(HealScope::All, "started\nwritten\n"), (HealScope::Majority, "started\n")] {
        let ended = in_cluster(Edition::TENTH, ["ticks", "writes"], std::slice::from_ref(&slow), Some(healed(heals)));
        assert_eq!(ended.end, ExecutionEnd::Exited { code: 0 }, "{}", words(&ended));
        // The other one ticks for two seconds.
        assert_eq!(String::from_utf8_lossy(ended.nodes[0].stdout.kept()), written);
    }
}

#[test]
fn who_waits_for_a_slow_disk_can_be_killed_and_can_lose_power() {
    for word in ["kill", "power-loss"] {
        let nemesis = NemesisPlan {
            interval: Duration(SECOND.0 / 2),
            lasts: Some((Duration(SECOND.0 / 10), Duration(SECOND.0 / 10))),
            hits: vec!["one".to_owned()],
            path: None,
        };
        let nemesis = FaultPlan {
            start: Duration(SECOND.0 / 10),
            times: Some(1),
            nemesis: Some(Box::new(nemesis)),
            ..always(&format!("nemesis-{word}"), "other")
        };
        // It would wait for longer than the other one ticks.
        let slow = FaultPlan { strength: Some(10 * SECOND.0), times: Some(1), ..always("slow-disk", "other:/tmp/*") };
        let ended = side_by_side(Edition::TENTH, ["ticks", "writes"], &[slow, nemesis]);
        assert_eq!(ended.end, ExecutionEnd::Exited { code: 0 }, "{word}: {}", words(&ended));
        let struck = &ended.nodes[0];
        let told = String::from_utf8_lossy(struck.stdout.kept());
        assert_eq!(told, "started\nstarted\nwritten\n", "{word}: {:?}", struck.end);
        assert_eq!(struck.end, Some(ExecutionEnd::Exited { code: 0 }), "{word}");
    }
}

#[test]
fn a_slow_disk_is_the_same_to_a_machine_that_is_alone_in_all_editions() {
    for mode in ["write", "read", "make", "sync", "restart-synced"] {
        let slow = |edition| {
            let (main, faults) = (machine(&format!("faults {mode}")), vec![always("slow-disk", "/tmp*")]);
            let plan = Plan { main, faults, edition, ..Plan::default() };
            RecordedRun::new("faults", plan, Inputs::default(), 0..0).check(7)
        };
        let (before, now) = (slow(Edition::NINTH), slow(Edition::TENTH));
        assert!(now.ended_at.0 >= 10_000_000, "{mode}: {:?}", now.ended_at);
        assert_eq!((&now.end, now.ended_at), (&before.end, before.ended_at), "{mode}");
        assert_eq!(now.history.digest, before.history.digest, "{mode}");
    }
}

#[test]
fn faults_elsewhere_change_nothing() {
    for kind in ["io-error", "read-error", "write-error", "disk-full", "bit-flip", "slow-disk"] {
        let passed = run("read", &[always(kind, "/elsewhere/*")], 7);
        assert_eq!(
            (passed.end, passed.history.decisions),
            (ExecutionEnd::Exited { code: 0 }, run("read", &[], 7).history.decisions)
        );
    }
}

#[test]
fn after_a_loss_of_power_the_program_starts_again() {
    let restarted = run("restart-synced", &[one_loss()], 7);
    assert_eq!(restarted.end, ExecutionEnd::Exited { code: 0 }, "{}", words(&restarted));
    assert_eq!(restarted.stdout.kept(), b"started\nstarted\n");
    assert!(restarted.ended_at.0 >= 2 * SECOND.0, "the machine was down for a second");
}

#[test]
fn what_was_synced_is_there_for_every_seed_and_the_rest_is_not() {
    let ends = |mode| (0..30).map(|seed| run(mode, &[one_loss()], seed).end).collect::<Vec<_>>();
    assert!(ends("restart-synced").iter().all(|end| *end == ExecutionEnd::Exited { code: 0 }));
    let unsynced = ends("restart");
    let found = unsynced.iter().filter(|end| **end == ExecutionEnd::Exited { code: 1 }).count();
    assert!((3..28).contains(&found), "{found} of 30 seeds find the missing sync");
}

#[test]
fn a_machine_that_always_loses_power_comes_to_an_end() {
    let ended = run("write", &[FaultPlan { strength: Some(1), ..always("power-loss", "main") }], 7);
    assert!(matches!(ended.end, ExecutionEnd::FuelExhausted { .. }), "{:?}", ended.end);
}

/// The book's table of faults says what the code does: every kind in its group, its rate and strength, and an example that is one.
#[test]
fn the_book_has_every_kind() {
    let path = crate::fozzy::repository().join("book/src/faults.md");
    let page = std::fs::read_to_string(path).expect("it is committed");
    let mut missing = Vec::new();
    for (group, kinds) in fozzy_plan::fault_groups() {
        let (_, section) = page.split_once(&format!("| **{group}** |")).expect(group);
        let section = section.split("| **").next().unwrap_or_default();
        for kind in kinds {
            let row = section.lines().find(|line| line.starts_with(&format!("| `{}` |", kind.name)));
            let cells: Vec<&str> = row.unwrap_or_default().split('|').map(str::trim).collect();
            let rate = fozzy_plan::FaultRate(kind.rate_ppm).to_string();
            let strength = kind.strength_words(kind.strength).unwrap_or_default();
            let strength = match kind.name {
                "partition" | "pause" => format!("up to {}", fozzy_world::fault::CUT_MAX),
                _ => strength,
            };
            let is_true = cells.len() == 9 && cells[4] == rate && cells[5] == strength;
            let example = cells.get(7).and_then(|cell| cell.split('`').nth(1)).unwrap_or_default();
            let planned = fozzy_plan::parse_fault_words(example).unwrap_or_default();
            if !is_true || !planned.iter().any(|fault| fault.kind == kind.name) {
                missing.push(format!("{}: {rate}, {strength}, found {cells:?}", kind.name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn a_clock_that_stands_still_at_times_does_not_hide_its_steps() {
    let fozzy = Fozzy::new();
    // Ends with 7 when the wall clock goes back.
    fozzy.write(
        "back.wat",
        "(module (import \"wasi_snapshot_preview1\" \"clock_time_get\" (func $now (param i32 i64 i32) (result i32)))
           (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))
           (memory (export \"memory\") 1)
           (func (export \"_start\") (local $left i32) (local $last i64)
             i32.const 300 local.set $left
             loop $again
               (drop (call $now (i32.const 0) (i64.const 1) (i32.const 0)))
               (if (i64.lt_u (i64.load (i32.const 0)) (local.get $last)) (then (call $exit (i32.const 7))))
               (local.set $last (i64.load (i32.const 0)))
               (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1))))
             end))",
    );
    let ran = fozzy.run(&["run", "back.wat", "--faults", "clock", "--seeds", "0..20", "--no-store"]);
    let ran = ran.exits(1);
    assert!(
        format!("{}{}", ran.out(), ran.err()).contains("code 7"),
        "a step back is seen under the whole group: {ran}"
    );
}
