//! Core modules of preview 1, and of what came before, are recorded, looked at and searched as components are.
//!
//! ```text
//! run ─▶ replay, at a call, --against another, branch, coverage      fuzz ─▶ the four bytes      explore ─▶ each call that can fail
//! ```
//!
//! Not here: what the calls answer (`conformance`), whether memory holds (`holds`).

use crate::fozzy::{Fozzy, repository};
use serde_json::Value;

/// A folder with the program, its imports of that name.
fn keeper(wasi: &str) -> Fozzy {
    let fozzy = Fozzy::new();
    let text = std::fs::read_to_string(repository().join("tests/programs/keeper.wat")).expect("the program is there");
    fozzy.write("keeper.wat", text.replace("wasi_snapshot_preview1", wasi));
    fozzy
}

const NAMES: [&str; 2] = ["wasi_snapshot_preview1", "wasi_unstable"];

fn titles(document: &Value) -> Vec<&str> {
    let findings = document["findings"].as_array().expect("findings");
    findings.iter().filter_map(|finding| finding["title"].as_str()).collect()
}

#[test]
fn a_run_of_a_core_module_is_replayed_and_looked_at() {
    for wasi in NAMES {
        let fozzy = keeper(wasi);
        fozzy.run_with_stdin(&["run", "keeper.wat", "--record", "a.fozzy"], b"hi\n").exits(0);
        let replayed = fozzy.run(&["replay", "a.fozzy", "--json"]).exits(0).json();
        assert_eq!(replayed["replay"]["equal"], true, "{replayed}");
        // Between the write and the sync of the file.
        let looked = fozzy.run(&["replay", "a.fozzy", "--call", "4"]).exits(0).out();
        assert!(looked.contains("/kept  file  3 bytes") && looked.contains("fd_write(4, \"hi\\n\""), "{looked}");
        let covered = fozzy.run(&["coverage", "a.fozzy"]).exits(0).out();
        assert!(covered.contains("never went there  2 branches"), "{covered}");
        // From the draw of the random bytes on with another seed.
        fozzy.run(&["branch", "a.fozzy", "--at", "0", "--seed", "7"]).exits(0);
        let text = String::from_utf8(fozzy.read("keeper.wat")).expect("text");
        fozzy.write("other.wat", text.replace("\"kept\"", "\"keep\""));
        let other = fozzy.run(&["replay", "a.fozzy", "--against", "other.wat"]).exits(2).err();
        assert!(other.contains("first divergence at call 2") && other.contains("\"keep\""), "{other}");
    }
}

#[test]
fn input_of_a_core_module_is_searched() {
    for wasi in NAMES {
        let fozzy = keeper(wasi);
        let fuzzed = fozzy.run(&["fuzz", "keeper.wat", "--stdin", "--runs", "2000", "--seed", "1", "--json"]).exits(4);
        let document = fuzzed.json();
        assert_eq!(titles(&document), ["wasm `unreachable` instruction executed"], "{fuzzed}");
    }
}

#[test]
fn faults_of_a_core_module_are_searched_and_shrunk() {
    for wasi in NAMES {
        let fozzy = keeper(wasi);
        let words = ["explore", "keeper.wat", "--faults", "disk", "--runs", "400", "--seed", "1", "--json"];
        let explored = fozzy.run(&words).exits(1);
        let document = explored.json();
        let mut found = titles(&document);
        found.sort_unstable();
        let expected = [5, 6, 7, 8].map(|code| format!("the program exited with code {code}"));
        assert_eq!(found, expected, "{explored}");
        fozzy.run_with_stdin(
            &["run", "keeper.wat", "--faults", "sync-error:100%,short-write:0%", "--record", "f.fozzy"],
            b"hi\n",
        );
        let shrunk = fozzy.run(&["shrink", "f.fozzy", "--json"]).json();
        assert_eq!(shrunk["findings"][0]["title"], "the program exited with code 7", "{shrunk}");
    }
}

/// A folder with a program of `tests/programs`.
fn with_program(name: &str) -> Fozzy {
    let fozzy = Fozzy::new();
    fozzy.write(name, std::fs::read(repository().join("tests/programs").join(name)).expect("the program is there"));
    fozzy
}

#[test]
fn a_synced_directory_keeps_its_names_when_power_is_lost() {
    let fozzy = with_program("bootlog.wat");
    let loss = "[disk]\nnames = \"posix\"\n\n[[fault]]\nkind = \"power-loss\"\ntarget = \"main\"\nrate = \"100%\"\nstart = \"1s\"\ntimes = 1\n";
    fozzy.write("loss.toml", loss);
    let exits = |input: &[u8]| {
        let args = |seed: &str| {
            let run =
                fozzy.run_with_stdin(&["run", "bootlog.wat", "--plan", "loss.toml", "--seed", seed, "--json"], input);
            run.json()["status"] == "pass"
        };
        ["1", "2", "3", "4", "5", "6", "7", "8"].map(args)
    };
    assert_eq!(exits(b"yes"), [true; 8], "the directory was synced");
    assert!(exits(b"no").contains(&false), "it was not, and the file is synced without its name");
}

#[test]
fn who_spins_and_gives_way_waits_for_another_machine() {
    let fozzy = with_program("spins.wat");
    fozzy.write("late.wat", std::fs::read(repository().join("tests/programs/late.wat")).expect("the program is there"));
    fozzy.write("plan.toml", "stdin = { from = \"late\" }\n\n[[node]]\nname = \"late\"\ncomponent = \"late.wat\"\n");
    let args = ["run", "spins.wat", "--plan", "plan.toml", "--fuel", "100000000", "--record", "spins.fozzy"];
    fozzy.run(&args).exits(0);
    fozzy.run(&["replay", "spins.fozzy"]).exits(0);
}

#[test]
fn what_links_make_of_a_path_is_counted() {
    let fozzy = with_program("links.wat");
    fozzy.run(&["run", "links.wat"]).exits(0);
    let ended = fozzy.run(&["run", "links.wat", "--fuel", "20000000"]).exits(3).err();
    assert!(ended.contains("the instruction budget ran out"), "{ended}");
}

#[test]
fn the_fault_that_decides_is_named_as_the_cause() {
    let fozzy = keeper(NAMES[0]);
    let run = ["run", "keeper.wat", "--seeds", "1..40", "--faults", "sync-error@/kept:10%", "--until-failure"];
    let found = fozzy.run_with_stdin(&run, b"hi\n").exits(1);
    let told = fozzy.run(&["causality", "last-fail"]).exits(0).out();
    assert!(told.contains("the fault sync-error on /kept struck there"), "{told}\n{found}");
}
