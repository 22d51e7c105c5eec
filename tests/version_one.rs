//! A folder of version 1, as its users have it: settings, scenario files, command lines and traces, with the verdicts that it gave.
//!
//! ```text
//! (file, command line)  ─▶ exit code of version 1      written anew, one for each file of its own scenario folder
//! trace of version 1    ─▶ fozzy trace migrate ─▶ a trace of ours
//! ```
//!
//! Not here: what its engine got wrong (`parity`), each kind of step by itself (goldens `steps-…`, `distributed-…`).

use crate::fozzy::Fozzy;
use serde_json::{Value, json};

/// A scenario file of steps.
fn steps(name: &str, steps: &Value) -> String {
    json!({"version": 1, "name": name, "steps": steps}).to_string()
}

/// A distributed one.
fn cluster(name: &str, nodes: &Value, steps: &Value, invariants: &Value) -> String {
    let mut distributed = json!({"steps": steps, "invariants": invariants});
    let key = if nodes.is_array() { "nodes" } else { "node_count" };
    distributed[key] = nodes.clone();
    json!({"version": 1, "name": name, "distributed": distributed}).to_string()
}

/// The files of its folder, the command that is given each, and the exit code that version 1 had.
fn folder() -> Vec<(&'static str, String, &'static str, i32)> {
    let put =
        |node: &str, key: &str, value: &str| json!({"type": "client_put", "node": node, "key": key, "value": value});
    let example = json!([
        {"type": "trace_event", "name": "begun", "fields": {"by": "hand"}},
        {"type": "rand_u64", "key": "ticket"}, {"type": "get_kv_assert", "key": "ticket"},
        {"type": "assert_ok", "value": true, "msg": "it holds"}]);
    let fails =
        json!([{"type": "set_kv", "key": "door", "value": "open"}, {"type": "fail", "message": "the door is open"}]);
    let assertions = json!([
        {"type": "assert_eq_int", "a": 3, "b": 3}, {"type": "assert_ne_int", "a": 3, "b": 4},
        {"type": "assert_eq_str", "a": "x", "b": "x"}, {"type": "assert_ne_str", "a": "x", "b": "y"},
        {"type": "assert_throws", "steps": [{"type": "fail", "message": "it must"}]},
        {"type": "assert_rejects", "steps": [{"type": "assert_ok", "value": false}]},
        {"type": "set_kv", "key": "state", "value": "ready"},
        {"type": "assert_eventually_kv", "key": "state", "equals": "ready", "within": "50ms", "poll": "5ms"},
        {"type": "assert_never_kv", "key": "state", "equals": "broken", "within": "50ms", "poll": "5ms"}]);
    let time = json!([
        {"type": "freeze", "at_ms": 100}, {"type": "advance", "duration": "2s"}, {"type": "unfreeze"},
        {"type": "sleep", "duration": "3h"}]);
    let files = json!([
        {"type": "fs_write", "path": "notes/a.txt", "data": "one"}, {"type": "fs_snapshot", "name": "before"},
        {"type": "fs_write", "path": "notes/a.txt", "data": "two"},
        {"type": "fs_read_assert", "path": "notes/a.txt", "equals": "two"}, {"type": "fs_restore", "name": "before"},
        {"type": "fs_read_assert", "path": "notes/a.txt", "equals": "one"}]);
    let http = json!([
        {"type": "http_when", "method": "GET", "path": "/stock", "status": 200, "json": {"pears": 4}, "times": 1},
        {"type": "http_request", "method": "GET", "path": "/stock", "expect_status": 200, "expect_json": {"pears": 4}, "save_body_as": "stock"},
        {"type": "get_kv_assert", "key": "stock"}]);
    let unmatched = json!([{"type": "http_request", "method": "GET", "path": "/nowhere", "expect_status": 200}]);
    let processes = json!([
        {"type": "proc_when", "cmd": "svn", "args": ["info"], "exit_code": 0, "stdout": "r42", "times": 1},
        {"type": "proc_spawn", "cmd": "svn", "args": ["info"], "expect_exit": 0, "expect_stdout": "r42", "save_stdout_as": "revision"},
        {"type": "get_kv_assert", "key": "revision", "equals": "r42"}]);
    let network = json!([
        {"type": "net_send", "from": "east", "to": "west", "payload": "hello"}, {"type": "net_deliver_one"},
        {"type": "net_recv_assert", "node": "west", "from": "east", "payload": "hello"},
        {"type": "net_partition", "a": "east", "b": "west"}, {"type": "net_send", "from": "east", "to": "west", "payload": "late"},
        {"type": "assert_throws", "steps": [{"type": "net_deliver_one"}]}, {"type": "net_heal", "a": "east", "b": "west"},
        {"type": "net_deliver_one"}, {"type": "net_recv_assert", "node": "west", "payload": "late"}]);
    let dropped = json!([
        {"type": "net_set_drop_rate", "rate": 1.0}, {"type": "net_send", "from": "a", "to": "b", "payload": "x"},
        {"type": "net_deliver_one"}, {"type": "net_recv_assert", "node": "b", "payload": "x"}]);
    let memory = json!([
        {"type": "memory_limit_mb", "mb": 8}, {"type": "memory_alloc", "bytes": 512, "key": "page"},
        {"type": "memory_assert_in_use_bytes", "equals": 512}, {"type": "memory_checkpoint", "name": "full"},
        {"type": "memory_free", "key": "page"}, {"type": "memory_assert_in_use_bytes", "equals": 0}]);
    let leak = json!([{"type": "memory_alloc", "bytes": 96, "key": "lost", "tag": "index"}]);
    let pressure = json!([
        {"type": "memory_limit_mb", "mb": 1}, {"type": "memory_pressure_wave", "pattern": "1,3"},
        {"type": "memory_alloc", "bytes": 300_000, "key": "a"},
        {"type": "assert_throws", "steps": [{"type": "memory_alloc", "bytes": 300_000, "key": "b"}]},
        {"type": "memory_free", "key": "a"}]);
    let host = json!([
        {"type": "fs_write", "path": "real/host.txt", "data": "written"}, {"type": "fs_read_assert", "path": "real/host.txt", "equals": "written"},
        {"type": "proc_spawn", "cmd": "/bin/echo", "args": ["said"], "expect_exit": 0, "expect_stdout": "said\n"}]);
    let healed = json!([
        put("n0", "cart", "1"), {"type": "partition", "a": "n0", "b": "n1"}, put("n0", "cart", "2"), {"type": "heal", "a": "n0", "b": "n1"}]);
    let restarted = json!([put("n0", "cart", "1"), {"type": "crash", "node": "n2"}, {"type": "restart", "node": "n2"}, {"type": "tick", "duration": "5ms"}]);
    let equal = json!([{"type": "kv_all_equal", "key": "cart"}]);
    let present = json!([{"type": "kv_present_on_all", "key": "cart"}, {"type": "kv_node_equals", "node": "n0", "key": "cart", "equals": "1"}]);
    let wrong = json!([{"type": "kv_node_equals", "node": "n1", "key": "cart", "equals": "9"}]);
    let host_flags = "run host.fozzy.json --fs-backend host --proc-backend host";
    vec![
        ("example.fozzy.json", steps("example", &example), "run example.fozzy.json --det --seed 7", 0),
        ("fail.fozzy.json", steps("fails", &fails), "run fail.fozzy.json --det", 1),
        (
            "panic.fozzy.json",
            steps("panics", &json!([{"type": "panic", "message": "over"}])),
            "run panic.fozzy.json --det",
            1,
        ),
        ("timeout.fozzy.json", steps("sleeps", &time), "run timeout.fozzy.json --det --timeout 5s", 3),
        ("time.fozzy.json", steps("time", &time), "run time.fozzy.json --det", 0),
        ("assertions.fozzy.json", steps("assertions", &assertions), "run assertions.fozzy.json --det", 0),
        ("fs.fozzy.json", steps("files", &files), "run fs.fozzy.json --det", 0),
        ("http.fozzy.json", steps("http", &http), "run http.fozzy.json --det", 0),
        ("unmatched.fozzy.json", steps("unmatched", &unmatched), "run unmatched.fozzy.json --det", 1),
        ("proc.fozzy.json", steps("processes", &processes), "run proc.fozzy.json --det", 0),
        ("net.fozzy.json", steps("network", &network), "run net.fozzy.json --det", 0),
        ("drop.fozzy.json", steps("dropped", &dropped), "run drop.fozzy.json --det", 1),
        (
            "memory.pass.fozzy.json",
            steps("memory", &memory),
            "run memory.pass.fozzy.json --mem-track --fail-on-leak",
            0,
        ),
        ("memory.leak.fozzy.json", steps("leak", &leak), "run memory.leak.fozzy.json --mem-track --fail-on-leak", 1),
        (
            "memory.budget.fozzy.json",
            steps("leak", &leak),
            "run memory.budget.fozzy.json --mem-track --leak-budget 96",
            0,
        ),
        ("memory.pressure.fozzy.json", steps("pressure", &pressure), "run memory.pressure.fozzy.json --det", 0),
        ("host.fozzy.json", steps("host", &host), host_flags, 0),
        (
            "kv.explore.fozzy.json",
            cluster("healed", &json!(["n0", "n1", "n2"]), &healed, &equal),
            "explore kv.explore.fozzy.json --seed 7 --steps 12 --faults none",
            0,
        ),
        (
            "kv.checkers.fozzy.json",
            cluster("checked", &json!(2), &json!([put("n0", "cart", "1")]), &present),
            "explore kv.checkers.fozzy.json",
            0,
        ),
        (
            "kv.restart.fozzy.json",
            cluster("restarted", &json!(3), &restarted, &equal),
            "explore kv.restart.fozzy.json",
            0,
        ),
        (
            "kv.fail.fozzy.json",
            cluster("wrong", &json!(2), &json!([put("n0", "cart", "1")]), &wrong),
            "explore kv.fail.fozzy.json",
            1,
        ),
        ("typo.fozzy.json", "{\"version\": 1, \"name\": \"cut".to_owned(), "run typo.fozzy.json", 2),
    ]
}

#[test]
fn each_file_has_the_verdict_of_version_1_and_its_trace_replays() {
    let fozzy = Fozzy::new();
    for (name, text, line, code) in folder() {
        fozzy.write(name, text);
        let mut words: Vec<&str> = line.split(' ').collect();
        words.extend(["--record", "run.fozzy", "--record-collision", "overwrite"]);
        let ran = fozzy.run(&words).exits(code);
        // An exploration that finds nothing leaves no trace.
        if code != 2 && (words[0] == "run" || code == 1) {
            fozzy.run(&["replay", "run.fozzy"]).exits(code);
            fozzy.run(&["trace", "verify", "run.fozzy"]).exits(0);
        }
        assert!(!ran.err().contains("still there"), "{ran}");
    }
}

/// The settings that version 1 knew, all of them.
const SETTINGS: &str = r#"base_dir = ".fozzy"
reporter = "pretty"
proc_backend = "scripted"
fs_backend = "virtual"
http_backend = "scripted"
mem_track = false
mem_limit_mb = 64
mem_fail_after = 100
fail_on_leak = false
leak_budget = 4096
mem_fragmentation_seed = 7
mem_pressure_wave = "1,2"
mem_artifacts = false
profile_heap_alloc_budget = 1000000
profile_heap_in_use_budget = 1000000
"#;

fn with_example() -> Fozzy {
    let fozzy = Fozzy::new();
    for (name, text, ..) in folder().into_iter().take(2) {
        fozzy.write(name, text);
    }
    fozzy
}

#[test]
fn its_settings_are_used_or_said_to_be_unused() {
    let fozzy = with_example();
    fozzy.write("fozzy.toml", SETTINGS);
    let ran = fozzy.run(&["run", "example.fozzy.json"]).exits(0);
    assert!(!ran.err().contains("is not used"), "{ran}");
    for (reporter, begins) in [("junit", "<?xml"), ("html", "<!doctype html>"), ("json", "{")] {
        fozzy.write("fozzy.toml", format!("reporter = \"{reporter}\"\n"));
        let out = fozzy.run(&["run", "example.fozzy.json"]).exits(0).out();
        assert!(out.to_lowercase().starts_with(begins), "{reporter}: {out}");
        assert!(fozzy.run(&["run", "example.fozzy.json", "--reporter", "pretty"]).exits(0).out().is_empty());
        fozzy.run(&["test", "example.fozzy.json", "--json"]).exits(0).json();
    }
    fozzy.write("fozzy.toml", "reporter = \"yaml\"\n");
    fozzy.run(&["run", "example.fozzy.json"]).refuses(&["reporter"]);
}

#[test]
fn commands_that_need_no_settings_do_not_read_them() {
    let fozzy = with_example();
    fozzy.write("fozzy.toml", "this is = no [ settings file");
    for line in
        ["version", "usage", "schema", "validate example.fozzy.json", "completions bash", "man pages", "init new"]
    {
        fozzy.run(&line.split(' ').collect::<Vec<_>>()).exits(0);
    }
    fozzy.run(&["run", "example.fozzy.json"]).refuses(&["fozzy.toml"]);
    // Settings go where --config says.
    fozzy.run(&["init", "other", "--config", "my.toml"]).exits(0);
    assert!(fozzy.path("other/my.toml").is_file() && !fozzy.path("other/fozzy.toml").exists());
    assert!(
        fozzy.path("other/.fozzy/corpora").is_dir() && fozzy.path("other/tests/distributed.pass.fozzy.json").is_file()
    );
}

#[test]
fn reports_have_the_formats_of_version_1_on_standard_output_and_in_the_runs_folder() {
    let fozzy = with_example();
    fozzy.run(&["run", "fail.fozzy.json", "--record", "f.fozzy"]).exits(1);
    let lines = [
        "run fail.fozzy.json",
        "replay f.fozzy",
        "fuzz scenario:fail.fozzy.json --mode coverage --runs 3 --seed 1",
        "explore fail.fozzy.json --no-seeds --no-shrink",
    ];
    for line in lines {
        for (format, file) in [("junit", "junit.xml"), ("html", "report.html")] {
            let mut words: Vec<&str> = line.split(' ').collect();
            words.extend(["--reporter", format]);
            let out = fozzy.run(&words).exits(1).out();
            let (run, _) = newest(&fozzy);
            assert_eq!(out.as_bytes(), fozzy.read(&format!(".fozzy/runs/{run}/{file}")), "{line}");
            if format == "junit" {
                let page = roxmltree::Document::parse(&out).expect("it is XML");
                let suite = page.descendants().find(|node| node.has_tag_name("testsuite")).expect("a suite");
                assert_eq!(
                    (suite.attribute("tests"), suite.attribute("failures")),
                    (Some("1"), Some("1")),
                    "{line}: {out}"
                );
            }
        }
    }
}

/// The id and the report of the newest run.
fn newest(fozzy: &Fozzy) -> (String, Value) {
    let report = fozzy.run(&["report", "show", "latest", "--format", "json"]).exits(0).json();
    (report["identity"]["runId"].as_str().expect("an id").to_owned(), report)
}

#[test]
fn its_command_lines_are_taken() {
    let fozzy = with_example();
    let seed = |words: &str| {
        fozzy
            .run(&[&["run", "example.fozzy.json", "--json"], &words.split(' ').collect::<Vec<_>>()[..]].concat())
            .exits(0)
            .json()["identity"]["seed"]
            .clone()
    };
    assert_eq!(seed("--seed 1 --seed 2"), 2);
    assert_eq!(seed("--seed c0dec0de"), 0xC0DE_C0DE_u32);
    assert_eq!((seed("--seed 0xff"), seed("--seed 10"), seed("--seed ff")), (json!(255), json!(10), json!(255)));
    fozzy.run(&["run", "example.fozzy.json", "--seed", "1ffffffffffffffff"]).exits(2);
    fozzy.run(&["run", "example.fozzy.json", "--profile-capture", "full", "--record", "a.fozzy"]).exits(0);
    fozzy
        .run(&["fuzz", "example.fozzy.json", "--mode", "property", "--runs", "3", "--profile-capture", "baseline"])
        .exits(0);
    fozzy.run(&["explore", "example.fozzy.json", "--profile-capture", "full"]).exits(0);
    let replayed = fozzy
        .run(&[
            "replay",
            "a.fozzy",
            "--profile-regen",
            "--profile-export-format",
            "pprof",
            "--profile-export-out",
            "p.json",
        ])
        .exits(0);
    assert!(replayed.err().contains("--profile-regen has no effect: `fozzy profile`"), "{replayed}");
    assert!(replayed.err().contains("wrote p.json"), "{replayed}");
    assert!(fozzy.read("p.json").starts_with(&[0x1f, 0x8b]), "it is what `fozzy profile export` writes");
    fozzy.run(&["replay", "a.fozzy", "--profile-export-format", "pprof"]).exits(2);
    // Full capture keeps the trace of a passing run.
    fozzy.run(&["run", "example.fozzy.json", "--profile-capture", "full"]).exits(0);
    fozzy.run(&["replay", "latest"]).exits(0);
    for line in ["replay a.fozzy --step", "replay --step a.fozzy"] {
        let stepped = fozzy.run(&line.split(' ').collect::<Vec<_>>()).exits(0);
        assert_eq!(stepped.out().lines().filter(|line| line.contains("  steps[")).count(), 4, "{stepped}");
    }
    fozzy.run(&["replay", "a.fozzy", "--step", "two"]).refuses(&["--step: expected a number"]);
    std::fs::create_dir(fozzy.path("corpus")).expect("a folder");
    fozzy.write("corpus/a", "one");
    fozzy.write("corpus/b", "one");
    let smaller = fozzy.run(&["corpus", "minimize", "corpus", "--budget", "5s", "--json"]).exits(0).json();
    assert_eq!(smaller["duplicatesRemoved"], 1);
    let shrunk = fozzy.run(&["shrink", "a.fozzy", "--minimize", "all", "--json"]).exits(0);
    assert_eq!(shrunk.json()["status"], "pass");
    assert_eq!(fozzy.read("a.min.fozzy"), fozzy.read("a.fozzy"), "a run that passed is as small as it gets");
}

#[test]
fn ci_holds_the_latency_of_steps_against_a_baseline() {
    let fozzy = Fozzy::new();
    for (name, sleep) in [("fast", "10ms"), ("slow", "12ms")] {
        let file = format!("{name}.fozzy.json");
        fozzy.write(
            &file,
            steps(name, &json!([{"type": "set_kv", "key": "a", "value": "b"}, {"type": "sleep", "duration": sleep}])),
        );
        fozzy.run(&["run", &file, "--record", &format!("{name}.fozzy")]).exits(0);
    }
    let check = |trace: &str, more: &[&str], code: i32| {
        let words = [&["ci", trace, "--json", "--perf-baseline", "fast.fozzy"], more].concat();
        let document = fozzy.run(&words).exits(code).json();
        let checks = document["checks"].as_array().expect("a list").clone();
        let found = checks.iter().find(|check| check["name"] == "perf_p99_budget").expect("it was asked for").clone();
        assert_eq!(found["ok"], code == 0, "{found}");
    };
    check("fast.fozzy", &[], 0);
    check("slow.fozzy", &[], 1);
    check("slow.fozzy", &["--max-p99-delta-pct", "19"], 1);
    check("slow.fozzy", &["--max-p99-delta-pct", "21"], 0);
    fozzy.run(&["ci", "slow.fozzy", "--max-p99-delta-pct", "5"]).exits(2);
    fozzy.run(&["ci", "slow.fozzy", "--perf-baseline", "fast.fozzy", "--max-p99-delta-pct", "nan"]).exits(2);
}

/// A trace as version 1 wrote it, of this version of its format, with these parts.
fn old(version: u64, status: &str, parts: &Value) -> String {
    let mut trace = json!({
        "format": "fozzy-trace", "version": version, "engine": {"version": "0.1.0"}, "mode": "run", "scenario_path": null, "scenario": null,
        "decisions": [], "events": [],
        "summary": {"status": status, "mode": "run", "identity": {"runId": "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "seed": 1337}, "durationMs": 1},
        "checksum": "0000000000000000000000000000000000000000000000000000000000000000",
    });
    for (key, value) in parts.as_object().expect("parts") {
        trace[key] = value.clone();
    }
    trace.to_string()
}

#[test]
fn its_traces_are_run_again_or_it_is_said_why_not() {
    let fozzy = Fozzy::new();
    let migrate = |text: &str, code: i32| {
        fozzy.write("old.fozzy", text);
        fozzy
            .run(&["trace", "migrate", "old.fozzy", "--out", "new.fozzy", "--record-collision", "overwrite", "--json"])
            .exits(code)
            .json()
    };
    let scenario = |steps: Value| json!({"version": 1, "name": "a/../b", "steps": steps});
    // Version 1 wrote what a step leaves open as null.
    let freed = json!([
        {"type": "memory_alloc", "bytes": 16, "key": "a", "tag": null}, {"type": "memory_free", "alloc_id": null, "key": "a"},
        {"type": "get_kv_assert", "key": "no", "equals": null, "is_null": true}]);
    for version in 1..=4 {
        let told = migrate(&old(version, "pass", &json!({"scenario": scenario(freed.clone())})), 0);
        assert_eq!(
            (&told["status"], &told["same"], &told["seed"]),
            (&json!("pass"), &json!(true), &json!(1337)),
            "{told:#}"
        );
        fozzy.run(&["replay", "new.fozzy"]).exits(0);
    }
    let fails = scenario(json!([{"type": "fail", "message": "it was wrong"}]));
    let told = migrate(&old(4, "fail", &json!({"scenario": fails})), 0);
    assert!(told["finding"].to_string().contains("it was wrong"), "{told:#}");
    fozzy.run(&["replay", "new.fozzy"]).exits(1);
    // What it says and what the run is are two things.
    let told = migrate(&old(4, "pass", &json!({"scenario": fails})), 1);
    assert_eq!(
        (&told["recordedStatus"], &told["status"], &told["same"]),
        (&json!("pass"), &json!("fail"), &json!(false))
    );
    // What the real computer answered is answered again.
    let host = scenario(json!([
        {"type": "fs_read_assert", "path": "real.txt", "equals": "there"},
        {"type": "proc_spawn", "cmd": "date", "args": [], "expect_exit": 0, "expect_stdout": "Tuesday", "expect_stderr": null, "save_stdout_as": null},
        {"type": "http_request", "method": "GET", "path": "http://a.test/x", "headers": null, "body": null, "expect_status": 200, "expect_body": "ok"}]));
    let answers = json!([
        {"kind": "scheduler_pick", "task_id": 1, "label": "fs_read_assert"},
        {"kind": "fs_read_assert", "path": "real.txt", "data_hex": "7468657265", "duration_ms": 1},
        {"kind": "proc_spawn", "cmd": "date", "args": [], "exit_code": 0, "stdout": "Tuesday", "stderr": ""},
        {"kind": "http_request", "method": "GET", "path": "http://a.test/x", "status_code": 200, "headers": {}, "body": "ok"}]);
    let event = |name: &str| json!({"time_ms": 0, "name": name, "fields": {"backend": "host"}});
    let events = json!([event("capability_fs"), event("proc_spawn"), event("http_request")]);
    let told = migrate(&old(4, "pass", &json!({"scenario": host, "decisions": answers, "events": events})), 0);
    assert!(told["notes"][0].to_string().contains("3 answers of the real computer"), "{told:#}");
    // An exploration has its scenario in another form; a campaign names it.
    let explored = json!({"scenario_path": "kv.fozzy.json", "schedule": "fifo", "scenario": {
        "version": 1, "name": "kv", "nodes": ["n0", "n1"], "invariants": [{"type": "kv_all_equal", "key": "x"}],
        "steps": [{"type": "client_put", "node": "n0", "key": "x", "value": "1"}]}});
    migrate(&old(3, "pass", &json!({"mode": "explore", "explore": explored})), 0);
    fozzy.write("named.fozzy.json", steps("named", &json!([{"type": "assert_ok", "value": true}])));
    let fuzzed = |path: &str| {
        old(4, "pass", &json!({"mode": "fuzz", "fuzz": {"target": format!("scenario:{path}"), "input_hex": "00ff"}}))
    };
    migrate(&fuzzed("named.fozzy.json"), 0);
    // Why not.
    let refused = |text: &str, why: &str| {
        fozzy.write("bad.fozzy", text);
        let ran = fozzy.run(&["trace", "migrate", "bad.fozzy"]).refuses(&["bad.fozzy", why]);
        assert!(!fozzy.path("bad.migrated.fozzy").exists(), "{ran}");
    };
    refused(&fuzzed("gone.fozzy.json"), "it holds no scenario, only a path");
    refused(&old(4, "pass", &json!({})), "it holds no scenario, and names none");
    refused(&old(5, "pass", &json!({})), "expected `fozzy-trace` of version 1 to 4");
    refused("not JSON", "it is no trace of version 1");
    refused("1", "it is no trace of version 1: invalid type: integer `1`, expected an object");
    refused(&"[".repeat(100_000), "it is no trace of version 1");
    refused(&old(4, "pass", &json!({"scenario": scenario(json!([{"type": "unheard_of"}]))})), "unheard_of");
    std::fs::copy(fozzy.path("new.fozzy"), fozzy.path("bad.fozzy")).expect("copied");
    fozzy.run(&["trace", "migrate", "bad.fozzy"]).refuses(&["it is a trace of this version already"]);
    fozzy.run(&["trace", "migrate", "old.fozzy", "--out", "new.fozzy"]).refuses(&["new.fozzy", "already exists"]);
    // Other commands say how it is done.
    let ran = fozzy.run(&["replay", "old.fozzy"]).exits(2);
    assert!(ran.err().contains("fozzy trace migrate"), "{ran}");
}
