//! Machines that come and go: a run has a thousand at once at the most, and starts as many as it likes one after another.
//!
//! ```text
//! main ─run─▶ child 2, over ─run─▶ child 3, over ─ …        each on a machine of its own
//! main ─GET─▶ handler, over ─GET─▶ handler, over ─ …
//! server, over ─ restart ─▶ server, over ─ …                 one machine, ten thousand times; so do sequences and targets
//! ```
//!
//! Not here: the bound at once, and in all (`fozzy-world`, `process/tests.rs`).

use crate::corpus;
use crate::fozzy::Fozzy;
use crate::recorded::{RecordedRun, component, machine};
use fozzy_trace::plan::{self, HttpReply, HttpRule, Inputs, ProcessReply, ProcessRule};
use fozzy_trace::{Duration, Execution, ExecutionEnd, Plan};

/// Three times as many as there may be at once.
const MACHINES: usize = 3 * fozzy_world::NODES_MAX;

fn stdout(execution: &Execution) -> String {
    assert_eq!(execution.end, ExecutionEnd::Exited { code: 0 }, "{}", String::from_utf8_lossy(execution.stderr.kept()));
    String::from_utf8_lossy(execution.stdout.kept()).into_owned()
}

#[test]
fn thousands_of_children_one_after_another() {
    let mut inputs = Inputs::default();
    let child = inputs.add(component("commands"));
    let answer = ProcessReply::Component(plan::ProgramPlan { component: child, machine: machine("commands") });
    let rule =
        ProcessRule { command: "self".to_owned(), args: None, times: None, delay: Duration(0), answer, others: None };
    let main = machine(&format!("commands run-many {MACHINES} self trap"));
    let plan = Plan { main, processes: vec![rule], ..Plan::default() };
    let execution = RecordedRun::new("commands", plan, inputs, 0..0).check(7);
    assert_eq!(stdout(&execution), format!("{MACHINES} of signal 6 \"before\\n\"\n"));
    assert!(execution.nodes.is_empty(), "machines of the plan only");
}

#[test]
fn thousands_of_handled_requests_one_after_another() {
    let mut inputs = Inputs::default();
    let handler = inputs.add(component("http-handler"));
    let answer = HttpReply::Component(plan::ProgramPlan { component: handler, machine: machine("handler") });
    let rule = HttpRule {
        method: None,
        url: "*".to_owned(),
        headers: Vec::new(),
        times: None,
        delay: Duration(0),
        answer,
        others: None,
    };
    let main = machine(&format!("http-client{}", " http://api.test/hello".repeat(MACHINES)));
    let plan = Plan { main, http: vec![rule], ..Plan::default() };
    let shown = stdout(&RecordedRun::new("http-client", plan, inputs, 0..0).check(7));
    assert_eq!(shown.matches("200 OK").count(), MACHINES, "{}", &shown[shown.len() - 200..]);
}

/// Lives that a sequence, a machine or a target has one after the other.
const LIVES: &str = "10000";

/// Runs it with room for one instance's memory and no more than some: each life takes 60 MiB, all of them 600 GB.
fn in_little_memory(fozzy: &Fozzy, command: &str) -> serde_json::Value {
    const DATA_KIB: u64 = 1 << 20;
    fozzy.shell(&format!("ulimit -d {DATA_KIB}; exec fozzy run --no-store --json {command}")).exits(0).json()
}

#[test]
fn ten_thousand_sequences_have_the_memory_of_one_and_beside_machines_there_is_one() {
    let fozzy = Fozzy::new();
    // `step` traps if it does not get its 60 MiB.
    fozzy.write(
        "grower.wat",
        r#"(module
          (memory (export "memory") 1)
          (data (i32.const 0) "\40\00\00\00\01\00\00\00\20\00\00\00\01\00\00\00")
          (data (i32.const 32) "\40\00\00\00\01\00\00\00\01")
          (data (i32.const 64) "f")
          (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
          (func (export "fozzy:scenario/stateful@0.1.0#describe") (result i32) i32.const 0)
          (func (export "fozzy:scenario/stateful@0.1.0#begin-sequence") (param i32))
          (func (export "fozzy:scenario/stateful@0.1.0#step") (param i32) (result i32)
            (if (i32.eq (memory.grow (i32.const 960)) (i32.const -1)) (then unreachable))
            (i32.store (i32.const 60000000) (i32.const 7))
            i32.const 128)
          (func (export "fozzy:scenario/stateful@0.1.0#end-sequence") (param i32)))"#,
    );
    let ran = in_little_memory(&fozzy, &format!("grower.wat --sequences {LIVES} --flows 1"));
    assert_eq!((&ran["status"], &ran["scenario"]["sequences"]), (&"pass".into(), &10_000.into()), "{ran}");
    assert_eq!(ran["memoryBytes"], 961 << 16);
    // Beside a machine that goes on through all of them, there is one.
    fozzy.write("idle.wat", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    fozzy.write("plan.toml", "[[node]]\nname = 'idle'\ncomponent = 'idle.wat'\nends = 'any'\n");
    for (plan, sequences) in [("", 10), ("--plan plan.toml", 1), ("--plan plan.toml --sequences 2", 2)] {
        let ran = in_little_memory(&fozzy, &format!("grower.wat {plan} --flows 1"));
        assert_eq!(ran["scenario"]["sequences"], sequences, "{plan}: {ran}");
    }
}

#[test]
fn ten_thousand_restarts_of_a_machine_have_the_memory_of_one() {
    let fozzy = Fozzy::new();
    fozzy.write(
        "server.wat",
        r#"(module
          (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
          (memory (export "memory") 1)
          (func (export "_start")
            (if (i32.eq (memory.grow (i32.const 960)) (i32.const -1)) (then unreachable))
            (i32.store (i32.const 60000000) (i32.const 7))
            (call $exit (i32.const 3))))"#,
    );
    // Waits for 10,000 s of virtual time.
    fozzy.write(
        "main.wat",
        r#"(module
          (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 1)
          (func (export "_start")
            (i32.store (i32.const 16) (i32.const 1))
            (i64.store (i32.const 24) (i64.const 10000000000000))
            (if (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 256)) (then unreachable))))"#,
    );
    fozzy.write(
        "plan.toml",
        "[[node]]\nname = \"server\"\ncomponent = \"server.wat\"\nends = \"any\"\nrestart = \"1s\"\n",
    );
    let ran = in_little_memory(&fozzy, "main.wat --plan plan.toml");
    assert_eq!((&ran["status"], &ran["nodes"][0]["restarts"]), (&"pass".into(), &9_999.into()), "{ran}");
}

/// Waits for five seconds.
const SLEEPER: &str = r#"(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 16) (i32.const 1))
    (i64.store (i32.const 24) (i64.const 5000000000))
    (drop (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 128)))))"#;

#[test]
fn a_machine_that_starts_again_at_once_and_for_ever_uses_up_the_budget() {
    let fozzy = Fozzy::new();
    fozzy.write("main.wat", SLEEPER);
    fozzy.write("none.wat", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    let machine = |restart: &str| {
        format!(
            "[limits]\nfuel = 5_000_000\n\n[[node]]\nname = \"w\"\ncomponent = \"none.wat\"\nrestart = \"{restart}\"\n"
        )
    };
    fozzy.write("plan.toml", machine("0s"));
    let ran = fozzy.run(&["run", "main.wat", "--plan", "plan.toml", "--record", "run.fozzy", "--json"]).exits(3).json();
    assert_eq!((&ran["status"], &ran["nodes"][0]["restarts"]), (&"timeout".into(), &50.into()), "{ran:#}");
    assert!(ran["findings"][0]["message"].to_string().contains("instruction budget ran out"), "{ran:#}");
    fozzy.run(&["replay", "run.fozzy"]).exits(3);
    fozzy.write("plan.toml", machine("1s"));
    fozzy.run(&["run", "main.wat", "--plan", "plan.toml"]).exits(0);
}

/// Writes once after 1,000,000 turns of a loop.
const WORKER: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\05\00\00\00")
  (data (i32.const 16) "done\0a")
  (func (export "_start") (local i32)
    (loop $on
      (local.set 0 (i32.add (local.get 0) (i32.const 1)))
      (br_if $on (i32.lt_u (local.get 0) (i32.const 1000000))))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#;

#[test]
fn all_lives_of_a_program_have_one_instruction_budget() {
    let fozzy = Fozzy::new();
    fozzy.write("main.wat", WORKER);
    let lives = |run: &serde_json::Value| 1 + run["faults"][0]["strikes"].as_u64().expect("a number");
    let once = fozzy.run(&["run", "main.wat", "--json"]).exits(0).json()["fuelUsed"].as_u64().expect("a number");
    let faults = ["--faults", "restart@main:100%", "--fuel"];
    let spent = fozzy.run(&[&["run", "main.wat", "--json"][..], &faults, &["30000000"]].concat()).exits(3).json();
    assert_eq!((&spent["fuelUsed"], lives(&spent)), (&30_000_000.into(), 30_000_000 / once + 1), "{spent:#}");
    let half = ["run", "main.wat", "--json", "--faults", "restart@main:80%", "--seed", "2", "--record", "run.fozzy"];
    let ran = fozzy.run(&half).exits(0).json();
    assert!(lives(&ran) > 2, "{ran:#}");
    // What stands behind the write is executed in the last life only.
    assert_eq!(ran["fuelUsed"], once * lives(&ran) - 5 * (lives(&ran) - 1), "{ran:#}");
    fozzy.run(&["replay", "run.fozzy"]).exits(0);
    let doctor = fozzy.run(&["profile", "doctor", "run.fozzy", "--json"]).exits(0).json();
    assert!(!doctor.to_string().contains("\"ok\":false"), "{doctor:#}");
}

#[test]
fn a_machine_that_waits_to_start_again_is_down() {
    let fozzy = Fozzy::new();
    fozzy.write("main.wat", SLEEPER);
    fozzy.write("none.wat", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    fozzy.write("plan.toml", "[[node]]\nname = \"w\"\ncomponent = \"none.wat\"\nrestart = \"2s\"\n");
    let ran = fozzy.run(&["run", "main.wat", "--plan", "plan.toml", "--record", "run.fozzy", "--json"]).exits(0).json();
    let node = &ran["nodes"][0];
    assert_eq!((&node["state"], &node["restarts"]), (&"down".into(), &2.into()), "{ran:#}");
    fozzy.run(&["replay", "run.fozzy"]).exits(0);
}

#[test]
fn a_machine_that_is_killed_while_it_waits_to_start_again_does_not_start() {
    let fozzy = Fozzy::new();
    fozzy.write("main.wat", SLEEPER);
    fozzy.write("none.wat", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    let nemesis =
        "[[nemesis]]\nkind = \"kill\"\nhits = [\"one\"]\ninterval = \"1s\"\nlasts = [\"3s\"]\nrate = 1.0\ntimes = 1\n";
    let plan = format!("[[node]]\nname = \"w\"\ncomponent = \"none.wat\"\nrestart = \"2s\"\n{nemesis}");
    fozzy.write("plan.toml", plan);
    // At once or halfway: it makes no call.
    for seed in 1..=8 {
        let words = format!(
            "run main.wat --plan plan.toml --seed {seed} --record run.fozzy --record-collision overwrite --json"
        );
        let ran = fozzy.run(&words.split(' ').collect::<Vec<_>>()).exits(0).json();
        let restarts = ran["nodes"][0]["restarts"].as_u64().expect("it restarts");
        assert_eq!((&ran["status"], &ran["faults"][0]["strikes"]), (&"pass".into(), &1.into()), "{ran:#}");
        assert!((1..=2).contains(&restarts), "seed {seed}: {restarts}");
        fozzy.run(&["replay", "run.fozzy"]).exits(0);
    }
}

/// Waits a hundred times for ten milliseconds.
const NAPPER: &str = r#"(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $nap i32)
    (i32.store (i32.const 16) (i32.const 1))
    (i64.store (i32.const 24) (i64.const 10000000))
    (loop $again
      (drop (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 128)))
      (br_if $again (i32.lt_u (local.tee $nap (i32.add (local.get $nap) (i32.const 1))) (i32.const 100))))))"#;

#[test]
fn a_slow_machine_gets_less_done() {
    let fozzy = Fozzy::new();
    fozzy.write("main.wat", SLEEPER);
    fozzy.write("naps.wat", NAPPER);
    let nemesis = "[[nemesis]]\nkind = \"slow-node\"\ninterval = \"1ms\"\nlasts = [\"10s\"]\nrate = 1.0\ntimes = 1\n";
    for (nemesis, state) in [("", "exited with code 0"), (nemesis, "running")] {
        let plan = format!("[[node]]\nname = \"naps\"\ncomponent = \"naps.wat\"\nends = \"any\"\n{nemesis}");
        fozzy.write("plan.toml", plan);
        let args =
            ["run", "main.wat", "--plan", "plan.toml", "--record", "run.fozzy", "--record-collision", "overwrite"];
        let ran = fozzy.run(&[&args[..], &["--json"]].concat()).exits(0).json();
        assert_eq!(ran["nodes"][0]["state"], state, "{ran:#}");
        if !nemesis.is_empty() {
            let fault = &ran["faults"][0];
            assert_eq!(
                (&fault["strikes"], &fault["first"][0]["strength"]),
                (&1.into(), &"900000 ppm".into()),
                "{ran:#}"
            );
        }
        fozzy.run(&["replay", "run.fozzy"]).exits(0);
    }
}

#[test]
fn a_machine_that_starts_again_and_prints_too_much_is_told() {
    let fozzy = Fozzy::new();
    fozzy.write("main.wat", SLEEPER);
    fozzy.write(
        "says.wat",
        r#"(module
          (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 1)
          (data (i32.const 0) "\10\00\00\00\10\00\00\00")
          (data (i32.const 16) "again and again\0a")
          (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#,
    );
    let plan =
        "[limits]\noutput = 32\n\n[[node]]\nname = \"w\"\ncomponent = \"says.wat\"\nends = \"any\"\nrestart = \"1s\"\n";
    fozzy.write("plan.toml", plan);
    let ran = fozzy.run(&["run", "main.wat", "--plan", "plan.toml", "--json"]).exits(0).json();
    let warnings = ran["warnings"].to_string();
    assert!(warnings.contains("output of a machine of 48 bytes, and 32 bytes may be (--output-limit"), "{ran:#}");
}

#[test]
fn ten_thousand_restarts_of_a_target_have_the_memory_of_one() {
    let (caller, peer) = (corpus::component("caller"), corpus::component("peer"));
    let line = format!("{} --target {} -- restart-many", caller.display(), peer.display());
    let ran = in_little_memory(&Fozzy::new(), &line);
    assert_eq!((&ran["status"], &ran["output"]["stdout"]["text"]), (&"pass".into(), &format!("{LIVES}\n").into()));
}
