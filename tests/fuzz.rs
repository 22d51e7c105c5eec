//! `fozzy fuzz`: planted faults are found within a number of executions, campaigns repeat, findings replay alone.
//!
//! ```text
//! SDK: #[fuzz], #[property] ─┐
//! C, text: LLVMFuzzerTest… ──┴─ campaign, fixed seed ─▶ finding ─▶ replay elsewhere: the same run
//! SIGKILL ─▶ the corpus is there ─▶ the next campaign begins with it
//! ```
//!
//! Not here: mutators and the loop by themselves (`fozzy-search`), targets that misbehave (`fuzz/odd.rs`).

pub(crate) mod jobs;
mod kinds;
mod odd;
mod single;
mod verdicts;

use crate::corpus::{self, Target};
use crate::fozzy::{Fozzy, Ran};
use crate::wait;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A core module with libFuzzer's entry point around `code`, which has the address and the length of its input.
pub(crate) fn module(code: &str) -> String {
    format!(
        r#"(module
            (memory (export "memory") 2)
            (global $sp (mut i32) (i32.const 65536))
            (func $fuzz (export "LLVMFuzzerTestOneInput") (param $at i32) (param $len i32) (result i32)
                (local $n i32) (local $sum i32)
                {code}
                (i32.const 0)))"#
    )
}

/// Runs a campaign.
pub(crate) fn campaign(fozzy: &Fozzy, target: &Path, seed: u64, runs: u64, more: &[&str]) -> Ran {
    let (seed, runs) = (seed.to_string(), runs.to_string());
    let target = target.display().to_string();
    let mut args = vec!["fuzz", &target, "--det", "--seed", &seed, "--runs", &runs, "--json"];
    args.extend(more);
    fozzy.run(&args)
}

/// The signatures of the findings of a campaign, in their order.
pub(crate) fn signatures(summary: &Value) -> Vec<String> {
    let findings = summary["fuzz"]["findings"].as_array().expect("a list");
    let text = |finding: &Value, key: &str| finding["signature"][key].as_str().expect("a word").to_owned();
    findings.iter().map(|finding| format!("{} at {}", text(finding, "kind"), text(finding, "site"))).collect()
}

/// Replays a trace in an empty folder.
fn replays_alone(fozzy: &Fozzy, trace: &Value, code: i32) {
    let elsewhere = Fozzy::new();
    let from = fozzy.path(trace.as_str().expect("a path"));
    fs::copy(from, elsewhere.path("find.fozzy")).expect("the trace was written");
    let replayed = elsewhere.run(&["replay", "find.fozzy", "--json"]).exits(code).json();
    assert_eq!(replayed["replay"]["equal"], true, "{replayed}");
}

#[test]
fn a_fuzz_target_of_the_sdk_panics_and_the_finding_replays_alone() {
    let fozzy = Fozzy::new();
    let parser = corpus::scenario("parser", false);
    let found = campaign(&fozzy, &parser, 0, 800, &["--minimize", "--crash-only"]).exits(4).json();
    assert_eq!(signatures(&found), ["panic at parser/src/lib.rs:23:30"]);
    let finding = &found["fuzz"]["findings"][0];
    replays_alone(&fozzy, &finding["tracePath"], 4);
    // One that was found as small as it can be is not made smaller.
    let smaller = !finding["minimizedTracePath"].is_null();
    let input = &finding[if smaller { "minimizedInputPath" } else { "inputPath" }];
    if smaller {
        replays_alone(&fozzy, &finding["minimizedTracePath"], 4);
    }
    assert_eq!(fozzy.read(input.as_str().expect("a path")), b"\\");

    let fixed = corpus::scenario("parser", true);
    let passed = campaign(&fozzy, &fixed, 0, 400, &[]).exits(0).json();
    assert_eq!((signatures(&passed).len(), &passed["status"]), (0, &"pass".into()));
}

#[test]
fn a_property_of_the_sdk_is_broken_by_drawn_values() {
    let fozzy = Fozzy::new();
    let parser = corpus::scenario("parser", false);
    let more = ["round_trip", "--mode", "property", "--crash-only", "--minimize", "--record", "find.fozzy"];
    let found = campaign(&fozzy, &parser, 1, 800, &more).exits(1).json();
    assert_eq!(signatures(&found), ["assertion at what is written is read"]);
    assert_eq!(found["fuzz"]["findings"][0]["tracePath"], "find.fozzy");
    replays_alone(&fozzy, &"find.fozzy".into(), 1);
}

/// Behind each other: four bytes, eight of them the other way round, sixteen, a length, a sum over all before it.
pub(crate) const MAGIC: &str = r#"
    (if (i32.lt_u (local.get $len) (i32.const 6)) (then (return (i32.const 0))))
    (if (i32.ne (i32.load (local.get $at)) (i32.const 0x4b4e4843)) (then (return (i32.const 0))))
    (if (i32.ne (i32.or (i32.shl (i32.load8_u offset=4 (local.get $at)) (i32.const 8))
                        (i32.load8_u offset=5 (local.get $at)))
                (local.get $len)) (then (return (i32.const 0))))
    (if (i32.lt_u (local.get $len) (i32.const 26)) (then (return (i32.const 0))))
    (if (i64.ne (i64.load offset=6 (local.get $at)) (i64.const 0x1122334455667788)) (then (return (i32.const 0))))
    (if (i32.eqz (i32.and
            (i64.eq (i64.load offset=6 (local.get $at)) (i64.const 0x1122334455667788))
            (i64.eq (i64.load offset=14 (local.get $at)) (i64.const 0x0102030405060708))))
        (then (return (i32.const 0))))
    (loop $each
        (local.set $sum (i32.add (i32.rotl (local.get $sum) (i32.const 5))
            (i32.load8_u (i32.add (local.get $at) (local.get $n)))))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $each (i32.lt_u (local.get $n) (i32.const 22))))
    (if (i32.eq (local.get $sum) (i32.load offset=22 (local.get $at))) (then unreachable))"#;

#[test]
fn magic_values_a_length_and_a_sum_are_met_by_comparisons() {
    for seed in 0..3 {
        let fozzy = Fozzy::new();
        let target = fozzy.write("magic.wat", module(MAGIC));
        let found = campaign(&fozzy, &target, seed, 6_000, &["--crash-only"]).exits(4).json();
        let finding = &found["fuzz"]["findings"][0];
        let at = finding["foundAt"].as_u64().expect("a number");
        assert!(at <= 6_000, "seed {seed}: {at}");
        let input = fozzy.read(finding["inputPath"].as_str().expect("a path"));
        assert!(input.starts_with(b"CHNK") && input.len() >= 26, "{input:x?}");
    }
}

#[test]
fn a_word_in_the_data_of_a_program_is_put_into_inputs() {
    // A sum over nine bytes: no comparison shows the word.
    let code = r#"
        (if (i32.lt_u (local.get $len) (i32.const 9)) (then (return (i32.const 0))))
        (loop $each
            (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31))
                (i32.load8_u (i32.add (local.get $at) (local.get $n)))))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $each (i32.lt_u (local.get $n) (i32.const 9))))
        (if (i32.eq (local.get $sum) (i32.const 0xecd3d373)) (then unreachable))"#;
    let data = r#"(module (data (i32.const 1024) "\00[section]\00")"#;
    let fozzy = Fozzy::new();
    let target = fozzy.write("words.wat", module(code).replacen("(module", data, 1));
    let found = campaign(&fozzy, &target, 0, 500, &["--crash-only", "--mutator", "word"]).exits(4).json();
    let input = fozzy.read(found["fuzz"]["findings"][0]["inputPath"].as_str().expect("a path"));
    assert!(input.starts_with(b"[section]"), "{input:x?}");
}

#[test]
fn inputs_that_recurse_deeper_are_new_where_hits_are_counted_no_further() {
    // As deep as the input is long. Its edges are taken as often as is counted in the shortest of these already.
    let deep = r#"(module (func $deep (param $left i32)
        (if (local.get $left) (then (call $deep (i32.sub (local.get $left) (i32.const 1))))))"#;
    let wat = module("(call $deep (local.get $len))").replacen("(module", deep, 1);
    let features = |lengths: &[usize]| {
        let fozzy = Fozzy::new();
        let target = fozzy.write("deep.wat", &wat);
        fs::create_dir(fozzy.path("corpus")).expect("the temporary folder can be written");
        for length in lengths {
            fozzy.write(&format!("corpus/{length}"), "a".repeat(*length));
        }
        // Bits alone change, and no length.
        let found = campaign(&fozzy, &target, 0, 100, &["--mutator", "bit", "--corpus", "corpus"]).exits(0).json();
        found["fuzz"]["coverage"]["features"].as_u64().expect("a number")
    };
    let (one, four) = (features(&[300]), features(&[300, 600, 1200, 2400]));
    assert!(four >= one + 3, "{one} features, then {four}");
}

#[test]
fn a_checksum_behind_a_parser_in_c_is_no_obstacle() {
    let fozzy = Fozzy::new();
    let target = corpus::c_fuzz_target();
    let found = campaign(&fozzy, &target, 1, 16_000, &["--crash-only"]);
    let summary = found.json();
    let edges = summary["fuzz"]["coverage"]["unique_edges"].as_u64().expect("a number");
    // Those of the loop over chunks are taken only by chunks whose sum is right.
    assert!(edges >= 56, "{summary}");
    if let [finding, ..] = summary["fuzz"]["findings"].as_array().expect("a list").as_slice() {
        replays_alone(&fozzy, &finding["tracePath"], 4);
    }
}

/// One chunk of the C target's format.
fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let body = [kind, data].concat();
    let crc = !body.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ (0xEDB8_8320 & 0_u32.wrapping_sub(crc & 1)))
    });
    [&kind[..], &(data.len() as u32).to_le_bytes(), data, &crc.to_le_bytes()].concat()
}

#[test]
fn a_fault_behind_a_checksum_in_c_is_found_from_a_sample_within_16_000_executions() {
    let fozzy = Fozzy::new();
    let fill = [&16_u32.to_le_bytes()[..], b"."].concat();
    let chunks = [
        chunk(b"SIZE", &[3, 0, 0, 0, 120, 0, 0, 0]),
        chunk(b"LOCK", b"0123456789abcdef"),
        chunk(b"NEST", b"[a[b]]"),
        chunk(b"FILL", &fill),
    ];
    std::fs::create_dir_all(fozzy.path("corpus")).expect("the temporary folder can be written");
    fozzy.write("corpus/sample", [b"CHNK\x02\x03".to_vec(), chunks.concat()].concat());
    let more = ["--crash-only", "--corpus", "corpus"];
    let summary = campaign(&fozzy, &corpus::c_fuzz_target(), 1, 16_000, &more).exits(4).json();
    assert!(signatures(&summary)[0].starts_with("trap at "), "{summary}");
    replays_alone(&fozzy, &summary["fuzz"]["findings"][0]["tracePath"], 4);
}

#[test]
fn a_cargo_fuzz_folder_is_fuzzed_as_it_is() {
    // The command would add it.
    corpus::need_target(Target::Wasip1);
    let fozzy = Fozzy::new();
    let guest = crate::fozzy::repository().join("tests/guests/cargo-fuzz");
    for folder in ["fuzz/fuzz_targets", "fuzz/corpus/decode"] {
        fs::create_dir_all(fozzy.path(folder)).expect("the temporary folder can be written");
    }
    for file in ["Cargo.toml", "Cargo.lock", "fuzz_targets/decode.rs"] {
        fs::copy(guest.join(file), fozzy.path("fuzz").join(file)).expect("it is committed");
    }
    fozzy.write("fuzz/corpus/decode/seed", b"rec\x02ab");
    fozzy.write("fuzz/decode.dict", "word=\"rec\"\n");
    let ran = campaign(&fozzy, Path::new("decode"), 0, 600, &["--cargo-fuzz", "fuzz", "--crash-only"]).exits(4);
    let summary = ran.json();
    assert!(signatures(&summary)[0].starts_with("panic at fuzz_targets/decode.rs:8"), "{summary}");
    assert!(ran.err().contains("with 1 to begin with") && ran.err().contains("cargo fuzz tmin"), "{}", ran.err());
    // What is built is not built again.
    let again = campaign(&fozzy, Path::new("decode"), 0, 10, &["--cargo-fuzz", "fuzz", "--crash-only"]);
    let compiles = |ran: &Ran| ran.err().contains("Compiling libfuzzer-sys");
    assert!(compiles(&ran) && !compiles(&again), "{ran}\n{again}");
    let trace = &summary["fuzz"]["findings"][0]["tracePath"];
    let artifact = trace.as_str().and_then(|trace| trace.strip_suffix(".fozzy")).expect("a trace");
    assert!(artifact.starts_with("fuzz/artifacts/decode/crash-"), "{artifact}");
    assert!(fozzy.read(artifact).starts_with(b"rec"), "the raw input stands beside it");
    replays_alone(&fozzy, trace, 4);
    let said = fozzy.run(&["fuzz", "--cargo-fuzz", "fuzz", "other"]).exits(2).err();
    assert!(said.contains("does not build"), "{said}");
    let said = fozzy.run(&["fuzz", "--cargo-fuzz", "nowhere", "decode"]).exits(2).err();
    assert!(said.contains("no cargo-fuzz folder"), "{said}");
}

#[test]
fn the_same_campaign_is_the_same_byte_for_byte() {
    let run = |seed| {
        let fozzy = Fozzy::new();
        let target = fozzy.write("magic.wat", module(MAGIC));
        let more = ["--minimize", "--corpus", "corpus", "--record", "find.fozzy"];
        let mut summary = campaign(&fozzy, &target, seed, 3_000, &more).json();
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for name in fs::read_dir(fozzy.path("corpus")).expect("it was made").flatten() {
            let name = name.file_name().to_string_lossy().into_owned();
            files.push((name.clone(), fozzy.read(&format!("corpus/{name}"))));
        }
        files.sort();
        let traces = fozzy.names().into_iter().filter(|name| name.starts_with("find"));
        let traces: Vec<(String, Vec<u8>)> = traces.map(|name| (name.clone(), fozzy.read(&name))).collect();
        (summary["fuzz"].take(), files, traces)
    };
    let first = run(5);
    assert!(first == run(5), "equal campaigns differ");
    assert!(first.1 != run(6).1, "another seed gives another campaign");
    assert!(first.1.len() > 2, "{:?}", first.0);
}

#[test]
fn slow_inputs_are_kept_as_files() {
    // 20,000 turns for what begins with `L`.
    let code = "(if (i32.and (i32.gt_u (local.get $len) (i32.const 0))
                             (i32.eq (i32.load8_u (local.get $at)) (i32.const 76)))
                    (then (loop $long (local.set $n (i32.add (local.get $n) (i32.const 1)))
                        (br_if $long (i32.lt_u (local.get $n) (i32.const 20000))))))";
    for jobs in ["1", "2"] {
        let fozzy = Fozzy::new();
        fozzy.write("slow.wat", module(code));
        fs::create_dir(fozzy.path("corpus")).expect("the temporary folder can be written");
        for input in ["a", "b", "Long"] {
            fozzy.write(&format!("corpus/{input}"), input);
        }
        let args = ["fuzz", "slow.wat", "--seed", "0", "--runs", "600", "--corpus", "corpus", "--jobs", jobs, "--json"];
        let summary = fozzy.run(&args).exits(0).json();
        let fuzz = &summary["fuzz"];
        let slow = fuzz["slowUnits"].as_array().expect("a list");
        assert!(!slow.is_empty() && slow.len() <= 16 && slow[0]["path"] == fuzz["slowest"]["path"], "{fuzz}");
        for unit in slow {
            let path = unit["path"].as_str().expect("a path");
            assert!(path.contains("slow-unit-") && fozzy.read(path).starts_with(b"L"), "{unit}");
        }
        let path = fuzz["slowest"]["path"].as_str().expect("a path");
        let shown = fozzy.run(&["report", "show", "latest"]).exits(0).out();
        assert!(shown.contains("times the instructions") && shown.contains(path), "{shown}");
    }
}

/// Goes round once for each byte.
const ROUNDS: &str = "(block $end (loop $bytes
    (br_if $end (i32.ge_u (local.get $n) (local.get $len)))
    (local.set $n (i32.add (local.get $n) (i32.const 1)))
    (br $bytes)))";

#[test]
fn a_corpus_that_is_made_small_keeps_what_goes_round_more_often() {
    let fozzy = Fozzy::new();
    fozzy.write("rounds.wat", module(ROUNDS));
    fs::create_dir(fozzy.path("corpus")).expect("a folder");
    for (name, bytes) in [("one", 1), ("many", 33), ("more", 40)] {
        fozzy.write(&format!("corpus/{name}"), "x".repeat(bytes));
    }
    let found = fozzy.run(&["corpus", "minimize", "corpus", "--target", "rounds.wat", "--json"]).exits(0).json();
    assert_eq!((&found["filesAfter"], &found["redundantRemoved"]), (&2.into(), &1.into()), "{found:#}");
    let left = fozzy.run(&["corpus", "list", "corpus", "--json"]).exits(0).json();
    assert_eq!(left, serde_json::json!(["corpus/many", "corpus/one"]), "the same edges, and not the same counts");
}

#[test]
fn what_was_found_before_a_kill_is_there_afterwards() {
    let fozzy = Fozzy::new();
    fozzy.write("magic.wat", module(MAGIC));
    let mut child = fozzy.start(&["fuzz", "magic.wat", "--corpus", "corpus"]);
    // One that was being written at the kill is under a name of its own still, and belongs to nothing.
    let is_whole = |entry: &fs::DirEntry| !entry.file_name().to_string_lossy().starts_with('.');
    let files = || fs::read_dir(fozzy.path("corpus")).map_or(0, |entries| entries.flatten().filter(is_whole).count());
    wait::while_running(&mut child, "three files in the corpus", || files() >= 3);
    child.kill().expect("it runs");
    wait::exit(&mut child);
    let kept = files();
    let ran = fozzy.run(&["fuzz", "magic.wat", "--corpus", "corpus", "--det", "--runs", "40", "--json"]);
    let said = format!("corpus corpus with {kept} to begin with");
    assert!(ran.err().contains(&said), "expected `{said}` in {}", ran.err());
    assert!(ran.json()["fuzz"]["corpus"].as_u64() >= Some(3), "{}", ran.err());
}
