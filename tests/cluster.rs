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

/// A store holds under the nemeses of its plan with so many seeds, and each planted fault is found within some, at one of its sites.
fn holds_and_is_found(store: &str, seeds: u64, planted: &[(&str, &[&str])]) {
    let run = |planted: &str, words: &str| run(&with(store, store, planted), &format!("--no-store {words}"));
    let sound = run("", &format!("--seeds 1..{seeds}")).exits(0).json();
    let faults = sound["faults"].as_array().expect("nemeses are planned");
    assert!(faults.len() == 10 && faults.iter().all(|fault| fault["strikes"].as_u64() > Some(seeds / 4)), "{faults:?}");
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
    let explore =
        ["explore", "store-clients.wasm", "--plan", "plan.toml", "--steps", "10", "--runs", "2", "--no-shrink"];
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
