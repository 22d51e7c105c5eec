//! A cluster of unmodified programs: std sockets and files, nemeses of the plan, clients of the SDK.
//!
//! ```text
//! scenarios/replicated-store × 3 ─┬─ a fault planted by an argument   found within some seeds, replayed, shrunk
//! scenarios/store-clients ────────┴─ as it is                         passes under all nemeses of its plan
//! scenarios/raft-store × 3          the same, on a published Raft, mio and std
//! scenarios/raft-go × 3             the same in Go, on another one, with sockets of net
//! ```

use crate::corpus;
use crate::fozzy::{Fozzy, repository};
use serde_json::Value;
use std::fs;

fn with_store(planted: &str) -> Fozzy {
    with("replicated-store", "store-clients", planted)
}

/// A folder with a store and its clients, and the plan of that scenario with one more argument for the nodes.
fn with(store: &str, plan: &str, planted: &str) -> Fozzy {
    let fozzy = Fozzy::new();
    let built = if store == "raft-go" { corpus::raft_store_in_go() } else { corpus::scenario(store, false) };
    for (name, module) in [(store, built), ("store-clients", corpus::scenario("store-clients", false))] {
        fs::copy(module, fozzy.path(&format!("{name}.wasm"))).expect("it is built");
    }
    let plan = fs::read_to_string(repository().join(format!("scenarios/{plan}/plan.toml"))).expect("it is there");
    let plan = plan.replace(&format!("\"../{store}\""), &format!("\"{store}.wasm\""));
    let clients = if plan.contains("clients = \".\"") { "\".\"" } else { "\"../store-clients\"" };
    let plan = plan.replace(&format!("clients = {clients}"), "clients = \"store-clients.wasm\"");
    assert!(plan.contains("clients = \"store-clients.wasm\""), "{plan}");
    let plan = match planted {
        "" => plan,
        planted => plan.replace("\"{nodes}\"]\nends", &format!("\"{{nodes}}\", \"{planted}\"]\nends")),
    };
    assert_eq!(plan.contains(&format!("\"{planted}\"]\nends")), !planted.is_empty(), "{plan}");
    fozzy.write("plan.toml", &plan);
    fozzy
}

const RUN: &str = "run store-clients.wasm --plan plan.toml --sequences 1 --flows 100 --json";

fn run(fozzy: &Fozzy, words: &str) -> crate::fozzy::Ran {
    fozzy.run(&format!("{RUN} {words}").split(' ').collect::<Vec<_>>())
}

#[test]
fn a_sound_store_passes_and_replays_without_its_programs() {
    let fozzy = with_store("");
    let swept = run(&fozzy, "--no-store --seeds 1..12").exits(0).json();
    let faults = swept["suite"]["faults"].as_array().or(swept["faults"].as_array()).expect("nemeses are planned");
    assert!(faults.iter().all(|fault| fault["strikes"].as_u64() > Some(3)), "{faults:?}");
    let text = swept.to_string();
    assert!(text.contains("\"overlaps\"") && text.contains("\"isOperation\":true"), "{text}");
    run(&fozzy, "--seed 3 --record one.fozzy").exits(0);
    run(&fozzy, "--seed 3 --record two.fozzy").exits(0);
    assert!(fozzy.read("one.fozzy") == fozzy.read("two.fozzy"), "two runs with one seed, two traces");
    let target = "run plan.toml --sequences 1 --flows 100 --seed 3 --record target.fozzy";
    fozzy.run(&target.split(' ').collect::<Vec<_>>()).exits(0);
    assert!(fozzy.read("one.fozzy") == fozzy.read("target.fozzy"), "the plan as the target is clients and plan");
    fs::remove_file(fozzy.path("replicated-store.wasm")).expect("it was copied");
    let replayed = fozzy.run(&["replay", "one.fozzy", "--json"]).exits(0).json();
    assert_eq!(replayed["replay"]["equal"], true, "{replayed}");
}

#[test]
fn planted_faults_of_a_cluster_are_found() {
    for (planted, site) in [
        ("stale-reads", "linearizable kv: not-linearizable of key k#"),
        ("no-sync", "linearizable kv: not-linearizable of key k#"),
        ("gives-up", "the store takes writes again"),
    ] {
        let fozzy = with_store(planted);
        let words = "--seeds 1..60 --until-failure --no-store --record lost.fozzy";
        let swept = run(&fozzy, words).exits(1).json();
        assert!(swept.to_string().contains(site), "{planted}: {swept}");
    }
}

#[test]
fn machines_leave_a_cluster_and_join_it_again() {
    let fozzy = with_store("");
    let plan = String::from_utf8(fozzy.read("plan.toml")).expect("text");
    let leaving = "[[nemesis]]\nkind = \"membership\"\ntarget = \"n2,n3\"\ninterval = \"4s\"\nlasts = [\"1s\", \"3s\"]\nrate = \"100%\"\n";
    fozzy.write("plan.toml", format!("{plan}\n{leaving}"));
    let swept = run(&fozzy, "--no-store --seeds 1..8").exits(0).json();
    let faults = swept["faults"].as_array().expect("nemeses are planned");
    let strikes = faults.iter().find(|fault| fault["kind"] == "nemesis-membership").map(|fault| &fault["strikes"]);
    assert!(strikes.and_then(Value::as_u64) > Some(8), "{faults:?}");
    let overlaps = swept["overlaps"].as_array().expect("nemeses are planned");
    let is_met = |key: &str, is_operation: bool| {
        let mut cells = overlaps.iter().filter(|cell| cell[key] == "membership on n2,n3");
        cells.any(|cell| cell["isOperation"] == is_operation && cell["times"].as_u64() > Some(0))
    };
    assert!(is_met("with", false) && is_met("nemesis", true), "{overlaps:?}");
    run(&fozzy, "--seed 3 --record one.fozzy").exits(0);
    let shown = fozzy.run(&["trace", "show", "one.fozzy"]).exits(0).out();
    for change in ["has left: ", "has joined: n1,"] {
        assert!(
            shown.lines().any(|line| line.contains("journal.event(\"members\"") && line.contains(change)),
            "{change}"
        );
    }
    fs::remove_file(fozzy.path("replicated-store.wasm")).expect("it was copied");
    let replayed = fozzy.run(&["replay", "one.fozzy", "--json"]).exits(0).json();
    assert_eq!(replayed["replay"]["equal"], true, "{replayed}");
}

#[test]
fn no_machine_is_struck_that_may_not_leave() {
    // Two are the least of these clients.
    let fozzy = with_store("");
    let plan = String::from_utf8(fozzy.read("plan.toml")).expect("text");
    let (machines, rest) = plan.split_once("[[nemesis]]").expect("nemeses are planned");
    let (_, cluster) = rest.rsplit_once("[cluster]").expect("faults end");
    let machines = machines.replace("count = 3", "count = 2");
    let leaving = "[[nemesis]]\nkind = \"membership\"\nhits = [\"one\"]\ninterval = \"4s\"\nlasts = [\"1s\", \"3s\"]\nrate = \"100%\"\n";
    fozzy.write("plan.toml", format!("{machines}{leaving}\n[cluster]{cluster}"));
    let swept = run(&fozzy, "--no-store --seeds 1..2").exits(0).json();
    let faults = swept["faults"].as_array().expect("a nemesis is planned");
    assert!(faults.iter().all(|fault| fault["strikes"] == 0), "{faults:?}");
    assert!(swept.to_string().contains("of more machines than LEAST"), "{swept}");
}

/// Nobody sees that moment but a nemesis that comes between two calls in a row: the program does not wait there.
#[test]
fn a_store_that_acknowledges_before_it_writes_is_found_by_nemeses_alone() {
    let with_ends = |planted: &str| {
        let fozzy = with_store(planted);
        let plan = String::from_utf8(fozzy.read("plan.toml")).expect("text");
        let (machines, rest) = plan.split_once("[[nemesis]]").expect("nemeses are planned");
        let (_, cluster) = rest.rsplit_once("[cluster]").expect("faults end");
        let nemesis = |kind: &str| {
            format!("[[nemesis]]\nkind = \"{kind}\"\ntarget = \"n1\"\ninterval = \"2s\"\nlasts = [\"200ms\", \"1s\"]\n")
        };
        fozzy.write("plan.toml", format!("{machines}{}{}\n[cluster]{cluster}", nemesis("kill"), nemesis("power-loss")));
        fozzy
    };
    let fozzy = with_ends("answers-first");
    let words = "--seeds 1..50 --until-failure --no-store --record lost.fozzy";
    let swept = run(&fozzy, words).exits(1).json();
    assert!(swept.to_string().contains("linearizable kv: not-linearizable of key k#"), "{swept}");
    let replayed = fozzy.run(&["replay", "lost.fozzy", "--json"]).json();
    assert_eq!(replayed["replay"]["equal"], true, "{replayed}");
    // In the right order, nothing is lost with the same seeds. Both end the leader's program: they can never meet.
    let sound = run(&with_ends(""), "--seeds 1..50 --no-store").exits(0).json();
    let faults = sound["faults"].as_array().expect("nemeses are planned");
    assert!(faults.len() == 2 && faults.iter().all(|fault| fault["strikes"].as_u64() > Some(25)), "{faults:?}");
    let overlaps = sound["overlaps"].as_array().expect("nemeses are planned");
    assert!(overlaps.iter().all(|cell| cell["isOperation"] == true), "{overlaps:?}");
}

#[test]
fn members_that_are_no_machines_are_an_error_of_the_clients() {
    let fozzy = Fozzy::new();
    fs::copy(corpus::scenario("store-clients", false), fozzy.path("store-clients.wasm")).expect("it is built");
    fs::create_dir_all(fozzy.path("odd/src")).expect("a folder");
    fozzy.write("odd/Cargo.toml", "[package]\nname = \"odd\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    fozzy.write(
        "odd/src/main.rs",
        "use std::io::{BufRead, BufReader, Write};\nfn main() {\n    \
         let listener = std::net::TcpListener::bind(\"0.0.0.0:7000\").unwrap();\n    loop {\n        let (stream, _) = listener.accept().unwrap();\n        let mut line = String::new();\n        \
         let _ = BufReader::new(&stream).read_line(&mut line);\n        let answer = match line.split(' ').next() {\n            \
         Some(\"get\") => \"ok nil\",\n            Some(\"leave\") => \"ok n1,n3,zz\",\n            _ => \"info no\",\n        };\n        \
         let _ = writeln!(&stream, \"{answer}\");\n    }\n}\n",
    );
    fozzy.write(
        "plan.toml",
        "[[node]]\nname = \"n\"\ncount = 3\ncomponent = \"odd\"\n[[nemesis]]\nkind = \"membership\"\ntarget = \"n2,n3\"\n\
         interval = \"1s\"\nrate = \"100%\"\n[cluster]\nfaults-until = \"10s\"\n",
    );
    let ran = run(&fozzy, "--no-store").exits(2).json();
    assert_eq!(ran["status"], "error", "{ran:#}");
    let said = "has answered that `zz` is a member: the machines are n1, n2, n3";
    assert!(ran.to_string().contains(said), "{ran:#}");
}

/// A store holds under the nemeses of its plan with so many seeds, and each planted fault is found within some, at one of its sites.
fn holds_and_is_found(store: &str, seeds: u64, planted: &[(&str, &[&str])]) {
    let run = |planted: &str, words: &str| run(&with(store, store, planted), &format!("--no-store {words}"));
    let sound = run("", &format!("--seeds 1..{seeds}")).exits(0).json();
    let faults = sound["faults"].as_array().expect("nemeses are planned");
    assert!(faults.len() == 15 && faults.iter().all(|fault| fault["strikes"].as_u64() > Some(seeds / 4)), "{faults:?}");
    for &(planted, sites) in planted {
        let swept = run(planted, "--seeds 1..80 --until-failure").json().to_string();
        assert!(sites.iter().any(|site| swept.contains(site)), "{planted}: {swept}");
    }
}

#[test]
fn a_published_raft_holds_and_what_is_planted_into_its_use_is_found() {
    let stale = "linearizable kv: not-linearizable of key k#";
    let planted: [(&str, &[&str]); 3] = [
        ("stale-read", &[stale]),
        ("no-fsync", &["is out of range [last_index", stale]),
        ("lost-vote", &["the store takes writes again", stale]),
    ];
    holds_and_is_found("raft-store", 20, &planted);
}

#[test]
fn a_published_raft_in_go_holds_and_what_is_planted_into_its_use_is_found() {
    let (stuck, stale) = ("the store takes writes again", "linearizable kv: not-linearizable of key k#");
    let planted: [(&str, &[&str]); 3] = [
        ("stale-read", &[stale]),
        ("no-fsync", &["is out of range [lastIndex(", stuck, stale]),
        ("lost-vote", &[stuck, stale]),
    ];
    holds_and_is_found("raft-go", 8, &planted);
}

#[test]
fn an_exploration_of_a_cluster_judges_as_its_plan_says() {
    let fozzy = with_store("");
    let rejects = repository().join("tests/programs/exits.wat").display().to_string();
    let explore = ["explore", "plan.toml", "--steps", "10", "--runs", "2", "--no-shrink"];
    let explore = |more: &[&str]| fozzy.run(&[&explore[..], &["--no-store", "--no-seeds", "--json"], more].concat());
    explore(&[]).exits(0);
    let rejected = explore(&["--check", &rejects]).exits(1).json();
    assert_eq!(rejected["signature"]["site"], "checker", "{rejected}");
}

#[test]
fn a_failure_of_a_cluster_shrinks_to_one_strike() {
    let fozzy = with_store("no-sync");
    run(&fozzy, "--seed 7 --record lost.fozzy").exits(1);
    let shrunk = fozzy.run(&["shrink", "lost.fozzy", "--budget", "60s", "--json"]).exits(1).json();
    let after = &shrunk["shrink"]["after"];
    assert!(after["strikes"].as_u64() == Some(1), "{after}");
    assert!(after["machines"].as_u64() < Some(3), "{after}");
    assert!(after["steps"].as_u64() < Some(20), "{after}");
}

#[test]
fn a_cluster_that_does_not_get_on_says_who_waits_for_whom() {
    let fozzy = Fozzy::new();
    fs::create_dir_all(fozzy.path("client/src")).expect("a folder");
    fozzy.write("client/Cargo.toml", "[package]\nname = \"client\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    fozzy.write(
        "client/src/main.rs",
        "use std::io::Read;\nfn main() {\n    let listener = std::net::TcpListener::bind(\"0.0.0.0:9\").unwrap();\n    \
         if std::env::args().len() > 1 { let (mut open, _) = listener.accept().unwrap(); open.read(&mut [0]).unwrap(); return; }\n    \
         let mut stream = loop { if let Ok(stream) = std::net::TcpStream::connect(\"n1:9\") { break stream; } };\n    \
         stream.read(&mut [0]).unwrap();\n}\n",
    );
    fozzy.write(
        "plan.toml",
        "[[node]]\nname = \"n\"\ncount = 2\ncomponent = \"client\"\nargs = [\"node\"]\n[cluster]\nfaults-until = \"5s\"\nprogress-within = \"10s\"\n",
    );
    let found: Value = fozzy.run(&["run", "client", "--plan", "plan.toml", "--no-store", "--json"]).exits(1).json();
    let text = found.to_string();
    assert!(text.contains("no progress: clients have recorded no operation, and the program has not ended, in the 10s since faults ended at 5s"), "{text}");
    assert!(text.contains("main waits for bytes from the connection with n1:9"), "{text}");
}

#[test]
fn a_plan_file_is_a_target_by_the_clients_that_it_names() {
    let fozzy = Fozzy::new();
    let program = |name: &str| fs::read(repository().join("tests/programs").join(name)).expect("it is committed");
    for name in ["pass.wat", "fails.wat"] {
        fozzy.write(name, program(name));
    }
    let machines = "[[node]]\nname = \"n\"\ncount = 2\ncomponent = \"pass.wat\"\n";
    let plan = |clients: &str| format!("{machines}[cluster]\nclients = \"{clients}\"\n");
    fs::create_dir(fozzy.path("plans")).expect("a folder");
    fozzy.write("plans/nodes.toml", plan("../pass.wat").replace("\"pass.wat\"", "\"../pass.wat\""));
    fozzy.run(&["validate", "plans/nodes.toml"]).exits(0);
    let swept = fozzy.run(&["run", "plans/nodes.toml", "--seeds", "1..3", "--no-store", "--json"]).exits(0).json();
    assert!(swept.to_string().contains("pass.wat"), "{swept}");
    fozzy.run(&["run", "plans/nodes.toml", "--plan", "plans/../plans/nodes.toml", "--no-store"]).exits(0);
    fozzy.run(&["inspect", "plans/nodes.toml"]).exits(0);
    fozzy.run(&["doctor", "--deep", "--scenario", "plans/nodes.toml"]).exits(0);
    // What was saved under one plan of these clients is not tried under another one.
    for name in ["one.toml", "two.toml"] {
        fozzy.write(name, plan("fails.wat"));
    }
    fozzy.run(&["explore", "one.toml", "--runs", "3", "--no-shrink"]).exits(4);
    let suite = fozzy.run(&["test", "one.toml", "two.toml", "--json"]).exits(4).json();
    let against: Vec<&Value> =
        suite["regressions"].as_array().expect("a list").iter().map(|one| &one["against"]).collect();
    assert_eq!(against, ["one.toml"], "{suite:#}");
    let other = fozzy.run(&["test", "two.toml", "--json"]).exits(4).json();
    assert_eq!(other["regressions"].as_array().map_or(0, Vec::len), 0, "{other:#}");
    for name in ["one.toml", "two.toml"] {
        fs::remove_file(fozzy.path(name)).expect("it was written");
    }
    // The trace needs neither of them, and another target goes before the clients.
    fozzy.write("fails.toml", plan("fails.wat"));
    fozzy.run(&["run", "fails.toml", "--record", "fails.fozzy", "--no-store"]).exits(4);
    fozzy.run(&["run", "pass.wat", "--plan", "fails.toml", "--no-store"]).exits(0);
    fozzy.run(&["replay", "fails.fozzy", "--against", "plans/nodes.toml", "--no-store"]).exits(2);
    fs::remove_file(fozzy.path("fails.toml")).expect("it was written");
    fs::remove_file(fozzy.path("fails.wat")).expect("it was copied");
    fozzy.run(&["replay", "fails.fozzy", "--no-store"]).exits(4);
    // Suites find it, and what it is made of is no test of its own.
    fozzy.write("nodes.toml", plan("pass.wat"));
    for args in [&["test", "--json"][..], &["test", "nodes.toml", "--json"]] {
        let suite = fozzy.run(args).exits(0).json();
        let names: Vec<&Value> =
            suite["scenarios"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["nodes"], "{suite:#}");
    }
    let fleet = fozzy.run(&["fleet", "--collect", "--json"]).exits(2).json();
    let names: Vec<&Value> = fleet["targets"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert_eq!((names, &fleet["notCollected"]), (vec![&Value::from("nodes.toml")], &Value::Array(Vec::new())));
    fozzy.write("bare.toml", machines);
    fozzy.write("nowhere.toml", plan("nowhere.wat"));
    fozzy.write("nested.toml", plan("nodes.toml"));
    fozzy.write("missing.toml", plan("pass.wat").replace("component = \"pass.wat\"", "component = \"none.wasm\""));
    fozzy.write("many.toml", format!("{}hit-at-most = 4\n", plan("pass.wat")));
    for command in ["run", "explore", "fuzz", "mine", "suspects", "mutants"] {
        fozzy.run(&[command, "bare.toml"]).refuses(&["bare.toml: `cluster.clients`: this key is missing"]);
    }
    for (args, said) in [
        ("run nowhere.toml", "nowhere.toml:6:1: `cluster.clients`: there is no file or folder `nowhere.wat`"),
        ("fuzz nodes.toml", "pass.wat runs beside other machines, so that a campaign runs them all"),
        ("run missing.toml --faults io-error", "missing.toml:4:1: `node[0].component`: "),
        (
            "run many.toml",
            "many.toml:7:1: `cluster.hit-at-most`: expected at most 2, as many as there are machines, found 4",
        ),
        (
            "run nested.toml",
            "nested.toml:6:1: `cluster.clients`: expected the program of the clients, found a plan file",
        ),
        (
            "run nodes.toml --plan bare.toml",
            "nodes.toml is a plan file, and so the plan of its clients; --plan names another one",
        ),
        ("diff pass.wat nodes.toml", "nodes.toml: expected a WebAssembly component"),
    ] {
        fozzy.run(&args.split(' ').collect::<Vec<_>>()).refuses(&[said]);
    }
    let fuzzed = fozzy.run(&["fuzz", "nodes.toml"]).exits(2).err();
    assert!(fuzzed.contains("fozzy explore nodes.toml searches"), "{fuzzed}");
    let refused = fozzy.run(&["test", "nodes.toml", "--plan", "bare.toml", "--json"]).exits(2).json();
    let why = refused["scenarios"][0]["error"]["message"].as_str().expect("an error");
    assert!(why.contains("--plan names another one: bare.toml"), "{refused:#}");
}
