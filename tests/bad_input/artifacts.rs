//! Bundles, corpora and the files of runs that are not what they should be, and disks that do not take what is made of them.
//!
//! Invariant: one error, exit code 2, and what was there before is there as it was.

use super::{TINY, tiny_trace};
use crate::fozzy::Fozzy;
use crate::wait;
use serde_json::json;
use std::fs;
use std::process::Child;

/// A folder with one failed run, whose files are in its store.
fn failed_run() -> (Fozzy, String) {
    let fozzy = Fozzy::new();
    fozzy.write("trap.wat", TINY.replace("(drop (call $random (i32.const 8) (i32.const 8)))", "unreachable"));
    let summary = fozzy.run(&["run", "trap.wat", "--json"]).exits(4).json();
    let folder = summary["identity"]["artifactsDir"].as_str().expect("a folder").to_owned();
    (fozzy, folder)
}

/// The bytes of a bundle of that run.
fn bundle(fozzy: &Fozzy) -> Vec<u8> {
    fozzy.run(&["artifacts", "bundle", "latest", "--out", "whole.zip"]).exits(0);
    fozzy.read("whole.zip")
}

/// Every command that reads a trace refuses this file in one line.
#[track_caller]
fn refused(fozzy: &Fozzy, name: &str, word: &str) {
    for command in [&["replay"][..], &["ci"], &["trace", "show"], &["shrink"], &["report", "show"]] {
        let args = [command, &[name]].concat();
        let ran = fozzy.run(&args);
        // A damaged trace is a failed check of `ci`, told in its document.
        if ran.code == Some(1) {
            assert_eq!(command, ["ci"], "\n{ran}");
            continue;
        }
        ran.refuses(&[word]);
        assert_eq!(fozzy.run(&[&args[..], &["--json"]].concat()).exits(2).json()["status"], "error");
    }
}

#[test]
fn a_cut_bundle_is_refused_at_every_length_tried() {
    let (fozzy, _) = failed_run();
    let whole = bundle(&fozzy);
    for length in [0, 1, 30, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        fozzy.write("cut.zip", &whole[..length]);
        refused(&fozzy, "cut.zip", "cut.zip");
    }
    fozzy.write("text.zip", "a text");
    refused(&fozzy, "text.zip", "not a Fozzy trace");
    fs::create_dir(fozzy.path("folder.zip")).expect("a folder");
    fozzy.run(&["replay", "folder.zip"]).refuses(&["holds no trace.fozzy"]);
}

#[test]
fn flipped_bytes_of_a_bundle_are_noticed_or_mean_nothing() {
    let (fozzy, _) = failed_run();
    let whole = bundle(&fozzy);
    let trace = whole.windows(4).position(|window| window == b"PK\x03\x04").expect("the first entry");
    for at in (trace..whole.len()).step_by(whole.len() / 23) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        fozzy.write("flipped.zip", &flipped);
        // What is damaged is a report beside the trace, or it is refused: never another run.
        let ran = fozzy.run(&["replay", "flipped.zip", "--json"]);
        let document = ran.json();
        match ran.code {
            Some(2) => assert_eq!(document["status"], "error", "{at}: {document:#}"),
            _ => assert_eq!(document["replay"]["equal"], true, "{at}: {document:#}"),
        }
    }
}

#[test]
fn a_report_that_is_not_one_is_refused_by_name() {
    let (fozzy, folder) = failed_run();
    let report = format!("{folder}/report.json");
    let right = String::from_utf8(fozzy.read(&report)).expect("text");
    let twice = right.replacen("\"status\"", "\"status\": \"pass\", \"status\"", 1);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let wrong: [&[u8]; 7] =
        [b"", b"{", b"\xff\xfe{}", b"[]", b"{\"status\": \"pass\"}", twice.as_bytes(), deep.as_bytes()];
    for bytes in wrong {
        fozzy.write(&report, bytes);
        for command in [&["report", "show"][..], &["report", "query", "--list-paths"], &["artifacts", "ls"], &["ci"]] {
            fozzy.run(&[command, &[&folder]].concat()).refuses(&["report.json"]);
        }
        // An alias passes over what cannot be believed.
        fozzy.run(&["report", "show", "latest"]).refuses(&["names no run"]);
        assert_eq!(fozzy.read(&report), bytes, "nothing is mended");
    }
    // Larger than any: told without being read. The file is a hole, and takes no place.
    fs::File::create(fozzy.path(&report)).and_then(|file| file.set_len(1 << 30)).expect("a hole");
    fozzy.run(&["report", "show", &folder]).refuses(&["report.json has more than"]);
    fs::remove_file(fozzy.path(&report)).expect("it is there");
    fs::create_dir(fozzy.path(&report)).expect("a folder");
    fozzy.run(&["report", "show", &folder]).refuses(&["report.json", "irectory"]);
}

#[test]
fn a_manifest_that_is_not_one_is_no_run() {
    let (fozzy, folder) = failed_run();
    let manifest = format!("{folder}/manifest.json");
    let right = String::from_utf8(fozzy.read(&manifest)).expect("text");
    let newer = right.replace("run_manifest.v1", "run_manifest.v9");
    for bytes in [&b""[..], b"{", b"\xff", b"[1]", newer.as_bytes()] {
        fozzy.write(&manifest, bytes);
        fozzy.run(&["report", "show", &folder]).refuses(&["no manifest.json of format fozzy.run_manifest.v1"]);
        fozzy.run(&["report", "show", "latest"]).refuses(&["names no run"]);
    }
    let other = right.replacen("\"crash\"", "\"pass\"", 1);
    fozzy.write(&manifest, other);
    fozzy.run(&["artifacts", "pack", &folder, "--out", "p.zip"]).refuses(&["different runs", "status"]);
    assert!(!fozzy.path("p.zip").exists());
}

#[test]
fn files_of_the_first_fozzy_are_recognised_and_refused_by_name() {
    let fozzy = Fozzy::new();
    let old = json!({"format": "fozzy-trace", "version": 4, "decisions": [], "events": [], "summary": {}});
    fozzy.write("old.fozzy", old.to_string());
    for command in [&["artifacts", "pack", "--out", "p.zip"][..], &["artifacts", "bundle", "--out", "b.zip"]] {
        let ran = fozzy.run(&[command, &["old.fozzy"]].concat());
        assert!(ran.code == Some(2) || command[1] == "pack", "{ran}");
    }
    refused(&fozzy, "old.fozzy", "first Fozzy");
    assert!(!fozzy.path("b.zip").exists());
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let (fozzy, folder) = failed_run();
    fs::create_dir(fozzy.path("corpus")).expect("a folder");
    fozzy.write("corpus/a", "small");
    fozzy.write("corpus/b", "x".repeat(20_000));
    fozzy.run(&["corpus", "export", "corpus", "--out", "inputs.zip"]).exits(0);
    fs::create_dir(fozzy.path("there")).expect("a folder");
    fozzy.write("there/mine.txt", "mine");
    let before = fozzy.names();
    let commands = [
        format!("artifacts export {folder} --out out"),
        format!("artifacts pack {folder} --out out.zip"),
        format!("artifacts pack {folder} --out there"),
        format!("artifacts bundle {folder} --out out.zip"),
        "corpus export corpus --out out.zip".to_owned(),
        "corpus import inputs.zip --out there".to_owned(),
    ];
    for command in &commands {
        // So many blocks of 512 bytes: nothing fits, then the first files, then all.
        for blocks in [0, 1, 3, 5, 8] {
            let ran = fozzy.shell(&format!("ulimit -f {blocks}; exec fozzy {command}"));
            let left = || fs::read_dir(fozzy.path("out")).map_or(0, Iterator::count);
            if ran.code == Some(0) {
                fozzy.shell("rm -rf out out.zip; find there -type f ! -name mine.txt -delete").exits(0);
                continue;
            }
            ran.refuses(&["cannot write"]);
            assert_eq!(left(), 0, "{command}, {blocks} blocks");
            fozzy.shell("rm -rf out").exits(0);
            assert_eq!(fozzy.names(), before, "{command}, {blocks} blocks");
            assert_eq!(fs::read_dir(fozzy.path("there")).expect("it is there").count(), 1, "{command}");
        }
    }
}

#[test]
fn a_corpus_is_removed_from_only_when_all_of_it_was_executed() {
    let fozzy = Fozzy::new();
    fs::create_dir(fozzy.path("corpus")).expect("a folder");
    for name in ["a", "b", "c"] {
        fozzy.write(&format!("corpus/{name}"), "same");
    }
    let args = ["corpus", "minimize", "corpus"];
    fozzy.run(&[&args[..], &["--target", "gone.wat"]].concat()).refuses(&["gone.wat"]);
    fozzy.write("text.wasm", "no program");
    fozzy.run(&[&args[..], &["--target", "text.wasm"]].concat()).refuses(&["text.wasm"]);
    fs::File::create(fozzy.path("corpus/huge")).and_then(|file| file.set_len(1 << 30)).expect("a hole");
    fozzy.run(&args).refuses(&["corpus/huge", "has more than"]);
    assert_eq!(fs::read_dir(fozzy.path("corpus")).expect("it is there").count(), 4);
}

#[test]
fn two_processes_that_pack_to_one_place_leave_one_whole_zip() {
    let (fozzy, folder) = failed_run();
    let start = || -> Child { fozzy.start(&["artifacts", "export", &folder, "--out", "a.zip"]) };
    let children: Vec<Child> = (0..4).map(|_| start()).collect();
    for child in children {
        assert!(wait::output(child).status.success());
    }
    let zip = fozzy.read("a.zip");
    assert!(zip::ZipArchive::new(std::io::Cursor::new(zip)).is_ok_and(|zip| zip.len() == 3));
}

#[test]
fn a_bundle_replays_where_nothing_else_is() {
    let (fozzy, trace) = tiny_trace();
    fozzy.write("b.fozzy", trace);
    fozzy.run(&["artifacts", "bundle", "b.fozzy", "--out", "bundle.zip"]).exits(0);
    let elsewhere = Fozzy::new();
    elsewhere.write("bundle.zip", fozzy.read("bundle.zip"));
    assert_eq!(elsewhere.run(&["replay", "bundle.zip", "--json"]).exits(0).json()["replay"]["equal"], true);
}

/// A run folder as somebody could send it: its report and manifest name a file of whoever looks at it as the trace.
fn forged_run(secret: &str) -> (Fozzy, String) {
    let (fozzy, folder) = failed_run();
    for name in ["report.json", "manifest.json"] {
        let path = format!("{folder}/{name}");
        let text = String::from_utf8(fozzy.read(&path)).expect("text");
        let mut document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let facts = if name == "manifest.json" { &mut document } else { &mut document["identity"] };
        facts["tracePath"] = json!(fozzy.path(secret));
        fozzy.write(&path, document.to_string());
    }
    fs::remove_file(fozzy.path(&format!("{folder}/trace.fozzy"))).expect("it is there");
    (fozzy, folder)
}

#[test]
fn a_forged_run_folder_hands_on_nothing_from_outside_of_it() {
    let (fozzy, folder) = forged_run("password");
    fozzy.write("password", "root:secret words");
    assert!(!fozzy.run(&["artifacts", "ls", &folder]).exits(0).out().contains("password"));
    for command in ["export", "pack"] {
        fozzy.run(&["artifacts", command, &folder, "--out", "out.zip"]).exits(0);
        let zip = fozzy.read("out.zip");
        assert!(!zip.windows(12).any(|window| window == b"secret words"), "{command}");
    }
    fozzy.run(&["artifacts", "bundle", &folder, "--out", "bundle.zip"]).refuses(&["kept no trace"]);
    // A trace of somebody else is not handed on by it either.
    let (_, trace) = tiny_trace();
    fozzy.write("password", trace);
    fozzy.run(&["artifacts", "bundle", &folder, "--out", "bundle.zip"]).refuses(&["kept no trace"]);
    fozzy.run(&["ci", &folder]).refuses(&["kept no trace"]);
}

#[test]
fn what_is_called_a_trace_and_is_none_is_not_handed_on() {
    for name in ["trace.fozzy", "small.min.fozzy"] {
        let (fozzy, folder) = failed_run();
        fozzy.write(&format!("{folder}/{name}"), "root:secret words");
        for command in [&["ls"][..], &["export", "--out", "out.zip"], &["pack", "--out", "out.zip"]] {
            fozzy.run(&[&["artifacts"], command, &[&folder]].concat()).refuses(&[name, "not a Fozzy trace"]);
        }
        assert!(!fozzy.path("out.zip").exists());
    }
}

#[test]
fn links_in_a_run_folder_are_not_followed() {
    let (fozzy, folder) = failed_run();
    fozzy.write("password", "root:secret words");
    for name in ["coverage.json", "notes.txt"] {
        let link = fozzy.path(&format!("{folder}/{name}"));
        std::os::unix::fs::symlink(fozzy.path("password"), link).expect("a link");
    }
    fozzy.run(&["artifacts", "pack", &folder, "--out", "out.zip"]).exits(0);
    assert!(!fozzy.read("out.zip").windows(12).any(|window| window == b"secret words"));
    let report = fozzy.path(&format!("{folder}/report.json"));
    fs::rename(&report, fozzy.path("elsewhere.json")).expect("it moves");
    std::os::unix::fs::symlink(fozzy.path("elsewhere.json"), report).expect("a link");
    fozzy.run(&["artifacts", "ls", &folder]).refuses(&["report.json is a link"]);
}

#[test]
fn a_run_that_was_recorded_by_name_is_handed_on_whole() {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", TINY);
    fozzy.run(&["run", "tiny.wat", "--record", "mine.fozzy"]).exits(0);
    let recorded = fozzy.read("mine.fozzy");
    // What happens to the file by that name later is nothing to the run.
    fozzy
        .run(&["run", "tiny.wat", "--seed", "9", "--record", "mine.fozzy", "--record-collision", "overwrite"])
        .exits(0);
    fozzy.run(&["artifacts", "bundle", "last-pass", "--out", "bundle.zip"]).exits(0);
    assert_ne!(fozzy.read("mine.fozzy"), recorded);
    fs::remove_file(fozzy.path("mine.fozzy")).expect("it is there");
    assert_eq!(fozzy.run(&["replay", "last-pass", "--json"]).exits(0).json()["replay"]["equal"], true);
}

#[test]
fn a_bundle_with_an_entry_twice_is_refused() {
    let (fozzy, _) = failed_run();
    let entries = super::forge::unpack(&bundle(&fozzy));
    for name in ["trace.fozzy", "bundle.json", "report.json"] {
        let mut twice = entries.clone();
        let second = entries.iter().find(|(found, _)| found == name).expect("it is in a bundle").clone();
        twice.push(second);
        fozzy.write("twice.zip", super::forge::seal(super::forge::zip(&twice)));
        refused(&fozzy, "twice.zip", "twice");
    }
}

#[test]
fn links_in_a_corpus_are_not_followed() {
    let fozzy = Fozzy::new();
    fozzy.write("password", "root:secret words");
    fs::create_dir(fozzy.path("corpus")).expect("a folder");
    fozzy.write("corpus/a", "an input");
    std::os::unix::fs::symlink(fozzy.path("password"), fozzy.path("corpus/b")).expect("a link");
    assert_eq!(fozzy.run(&["corpus", "list", "corpus"]).exits(0).out(), "corpus/a\n");
    fozzy.run(&["corpus", "export", "corpus", "--out", "corpus.zip"]).exits(0);
    assert!(!fozzy.read("corpus.zip").windows(12).any(|window| window == b"secret words"));
    let module = r#"(module (memory (export "memory") 1)
        (func (export "LLVMFuzzerTestOneInput") (param i32 i32) (result i32) (i32.const 0)))"#;
    fozzy.write("target.wat", module);
    let ran = fozzy.run(&["fuzz", "target.wat", "--corpus", "corpus", "--runs", "10"]).exits(0);
    assert!(ran.err().contains("left out of the corpus, as links, which are not followed: 1"), "{ran}");
    assert!(ran.err().contains("with 1 to begin with"), "{ran}");
}
