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
