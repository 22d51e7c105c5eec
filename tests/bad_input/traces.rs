//! Files that are no traces, or were some once.

use super::forge::{self, Entries};
use super::tiny_trace;
use crate::fozzy::{Fozzy, Ran};
use fozzy_trace::file::{Recording, verify};
use fozzy_trace::source::Override;
use fozzy_trace::{Digest, Status};
use serde_json::json;

/// Every command that reads a trace refuses this one, and says these words.
#[track_caller]
fn refused(fozzy: &Fozzy, trace: &[u8], words: &[&str]) -> Ran {
    fozzy.write("bad.fozzy", trace);
    fozzy.run(&["replay", "bad.fozzy"]).refuses(words);
    fozzy.run(&["trace", "show", "bad.fozzy"]).refuses(words);
    let document = fozzy.run(&["replay", "bad.fozzy", "--json"]).exits(2).json();
    assert_eq!(document["status"], "error", "{document}");
    let ran = fozzy.run(&["trace", "verify", "bad.fozzy", "--json"]).exits(2);
    let document = ran.json();
    assert_eq!(document["ok"], false, "{document}");
    let error = document["error"].as_str().expect("an error").to_owned();
    words.iter().for_each(|word| assert!(error.contains(word), "expected `{word}` in: {error}"));
    assert!(!error.contains('\n'), "one line: {error}");
    ran
}

#[test]
fn every_flipped_byte_of_a_trace_is_noticed() {
    let (fozzy, bytes) = tiny_trace();
    assert!(bytes.len() < 64 << 10, "small enough to flip each byte: {}", bytes.len());
    let original = Recording::read(&bytes).expect("just written");
    for at in 0..bytes.len() {
        for mask in [0x01, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[at] ^= mask;
            assert!(Recording::read(&damaged).is_err(), "byte {at} ^ {mask:#x} is not noticed");
            // With the checksum made right, either it is refused or it is another trace: never this one, never a panic.
            if mask == 0xFF && at < bytes.len() - 64 {
                let forged = forge::seal(damaged[..bytes.len() - 64].to_vec());
                assert!(Recording::read(&forged).ok().is_none_or(|read| read != original), "byte {at} does not count");
            }
        }
        assert!(!verify(&bytes[..at]).ok, "cut at {at}");
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        fozzy.write("flipped.fozzy", &damaged);
        assert_eq!(fozzy.run(&["trace", "verify", "flipped.fozzy", "--json"]).exits(2).json()["ok"], false);
        fozzy.run(&["replay", "flipped.fozzy"]).refuses(&["flipped.fozzy"]);
    }
}

#[test]
fn a_cut_trace_says_that_it_was_cut() {
    let (fozzy, bytes) = tiny_trace();
    for length in [bytes.len() - 1, bytes.len() / 2, 100] {
        refused(&fozzy, &bytes[..length], &["cut short"]);
    }
    refused(&fozzy, &bytes[..30], &["the first 30 bytes of a zip archive"]);
    refused(&fozzy, b"", &["not a Fozzy trace", "empty"]);
    refused(&fozzy, &[bytes.as_slice(), b"more"].concat(), &["rewritten by another tool"]);
}

#[test]
fn what_is_no_trace_is_named() {
    let (fozzy, _) = tiny_trace();
    refused(&fozzy, b"\0asm\x01\0\0\0", &["not a Fozzy trace", "WebAssembly"]);
    refused(&fozzy, b"some text\n", &["not a Fozzy trace", "some text"]);
    // The first Fozzy's traces were JSON; what is missing in them is a program.
    let original = json!({"format": "fozzy-trace", "version": 4, "decisions": [], "events": []});
    refused(&fozzy, original.to_string().as_bytes(), &["first Fozzy", "version 4", "fozzy trace migrate"]);
    fozzy.run(&["replay", "."]).refuses(&["holds no trace.fozzy"]);
    fozzy.run(&["replay", "/dev/zero"]).refuses(&["/dev/zero"]);
    fozzy.run(&["run", "tiny.fozzy"]).refuses(&["fozzy replay"]);
}

#[test]
fn a_newer_version_asks_for_an_update() {
    let (fozzy, bytes) = tiny_trace();
    let mut entries = forge::unpack(&bytes);
    forge::manifest(&mut entries, |manifest| manifest["version"] = json!(6));
    let ran = refused(&fozzy, &forge::pack(entries), &["version 6 is newer", "update fozzy"]);
    assert_eq!(ran.json()["version"], 6);
}

/// The trace with its entries changed.
fn forged(bytes: &[u8], change: impl FnOnce(&mut Entries)) -> Vec<u8> {
    let mut entries = forge::unpack(bytes);
    change(&mut entries);
    forge::pack(entries)
}

#[test]
fn our_forge_makes_the_very_file_when_nothing_is_changed() {
    let (_, bytes) = tiny_trace();
    let again = forged(&bytes, |_| {});
    assert!(Recording::read(&again).expect("sound") == Recording::read(&bytes).expect("sound"));
}

#[test]
fn entries_that_lead_out_of_the_folder_are_refused_by_name() {
    let (fozzy, bytes) = tiny_trace();
    for (name, word) in [
        ("../../etc/passwd", "leads out of the folder"),
        ("/etc/passwd", "absolute path"),
        ("inputs/../x", "leads out of the folder"),
        ("..\\x", "backslash"),
        ("surplus", "unknown entry `surplus`"),
        ("inputs/", "directory"),
    ] {
        let hostile = forged(&bytes, |entries| entries.push((name.to_owned(), b"root::0:0".to_vec())));
        refused(&fozzy, &hostile, &[word]);
    }
    let names: Vec<String> = forge::unpack(&bytes).into_iter().map(|(name, _)| name).collect();
    for name in names.iter().filter(|name| *name != forge::MANIFEST) {
        refused(&fozzy, &forged(&bytes, |entries| entries.retain(|(found, _)| found != name)), &[name, "missing"]);
        let twice = forged(&bytes, |entries| {
            let again = entries.iter().find(|(found, _)| found == name).expect("there").clone();
            entries.push(again);
        });
        refused(&fozzy, &twice, &["twice"]);
    }
}

/// Numbers of steps cost nothing to write down. Those that a run can have are followed in little memory, others are refused.
#[test]
fn forged_numbers_of_steps_cost_nothing() {
    /// Enough for each command, and far less than a number for each step takes.
    const DATA_KIB: u64 = 1 << 20;
    let fozzy = Fozzy::new();
    let text = |first: &str| {
        let read = r#"{"type": "get_kv_assert", "key": "a", "equals": "2"}"#;
        format!(
            r#"{{"version": 1, "name": "n", "steps": [{first}{{"type": "set_kv", "key": "a", "value": "1"}}, {read}]}}"#
        )
    };
    fozzy.write("n.fozzy.json", text(""));
    fozzy.run(&["run", "n.fozzy.json", "--record", "n.fozzy"]).exits(1);
    let bytes = fozzy.read("n.fozzy");
    fozzy.write("n.fozzy.json", text(r#"{"type": "sleep", "duration": "1s"}, "#));
    let with = |scenario: serde_json::Value| {
        forged(&bytes, |entries| {
            let plan = forge::entry(entries, "plan.json");
            let mut document: serde_json::Value = serde_json::from_slice(plan).expect("it is JSON");
            document["scenario"] = scenario;
            *plan = format!("{document:#}\n").into_bytes();
            let length = plan.len();
            forge::manifest(entries, |manifest| forge::row(manifest, "plan.json")["bytes"] = json!(length));
        })
    };
    let most = 1 << 30;
    let only = |to: u64| json!([{"kind": "stateful", "sequence": 0, "steps": [[0, to]]}]);
    for scenario in
        [json!({"sequences": most, "flows": most}), json!({"sequences": most, "flows": most, "only": only(most)})]
    {
        fozzy.write("forged.fozzy", with(scenario));
        for (command, code) in [
            ("shrink forged.fozzy --out small.fozzy", 1),
            ("causality forged.fozzy", 0),
            ("replay forged.fozzy --against n.fozzy.json", 2),
        ] {
            fozzy.shell(&format!("ulimit -d {DATA_KIB}; exec fozzy {command}")).exits(code);
        }
    }
    let beyond =
        [json!({"sequences": 1, "flows": u32::MAX}), json!({"sequences": 1, "flows": 9, "only": only(4_294_967_295)})];
    for scenario in beyond {
        refused(&fozzy, &with(scenario), &["scenario of plan.json", "1073741824", "4294967295"]);
    }
}

#[test]
fn a_zip_bomb_is_refused_in_little_memory() {
    /// Unpacks to a gigabyte and is some tens of kilobytes long.
    const BOMB_BYTES: u64 = 1 << 30;
    /// Address space that is enough to refuse it: far less than it unpacks to.
    const ADDRESS_SPACE_KIB: u64 = 700 << 10;
    let (fozzy, bytes) = tiny_trace();
    let bomb = zstd::stream::encode_all(std::io::Read::take(std::io::repeat(0), BOMB_BYTES), 3).expect("it compresses");
    assert!((bomb.len() as u64) < BOMB_BYTES / 1000);
    for (declared, word) in [(BOMB_BYTES, "stdout.zst"), (64 << 30, "too large"), (6, "stdout.zst")] {
        let hostile = forged(&bytes, |entries| {
            *forge::entry(entries, "stdout.zst") = bomb.clone();
            forge::manifest(entries, |manifest| forge::row(manifest, "stdout.zst")["bytes"] = json!(declared));
        });
        fozzy.write("bomb.fozzy", hostile);
        let script = format!("ulimit -v {ADDRESS_SPACE_KIB}; exec fozzy trace verify bomb.fozzy --json");
        let document = fozzy.shell(&script).exits(2).json();
        let error = document["error"].as_str().expect("an error").to_owned();
        assert!(error.contains(word), "declared {declared}: {error}");
    }
}

#[test]
fn entries_with_forged_content_are_refused() {
    let (fozzy, bytes) = tiny_trace();
    let packed = |content: &[u8]| zstd::bulk::compress(content, 3).expect("it compresses");
    let with = |name: &str, content: &[u8]| {
        forged(&bytes, |entries| {
            *forge::entry(entries, name) = if name.ends_with(".zst") { packed(content) } else { content.to_vec() };
            forge::manifest(entries, |manifest| forge::row(manifest, name)["bytes"] = json!(content.len()));
        })
    };
    refused(&fozzy, &with("plan.json", b"{}"), &["plan.json"]);
    refused(&fozzy, &with("plan.json", b"not JSON"), &["plan.json"]);
    refused(&fozzy, &with("decisions.jsonl.zst", b"{\"surprise\":1}\n"), &["decisions.jsonl.zst"]);
    refused(&fozzy, &with("events.jsonl.zst", b"[]\n"), &["events.jsonl.zst"]);
    // A sound file with a component that is none: the file verifies, and the run is refused.
    fozzy.write("odd.fozzy", with("component.wasm.zst", b"\0asm\x0d\0\x01\0garbage"));
    fozzy.run(&["replay", "odd.fozzy"]).refuses(&["tiny.wat"]);
    // Another output than the program's: sound, and its replay is another run.
    let recording = Recording::read(&bytes).expect("sound");
    let mut lying = recording.clone();
    lying.outcome.fuel_used += 1;
    fozzy.write("lying.fozzy", lying.to_bytes().expect("it fits"));
    let document = fozzy.run(&["replay", "lying.fozzy", "--json"]).exits(2).json();
    assert_eq!(
        (&document["replay"]["equal"], &document["replay"]["difference"]["what"]),
        (&json!(false), &json!("fuel"))
    );
}

/// Each claim of a file, changed by somebody who knows the format: the replay tells which one is not that of the run.
#[test]
fn every_forged_claim_of_a_trace_is_told_by_its_replay_and_fails_ci() {
    type Forgery = fn(&mut Recording);
    let forgeries: [(&str, Forgery); 14] = [
        ("verdict", |forged| {
            let verdict = &mut forged.outcome.verdict;
            (verdict.status, verdict.signature) = (Status::Pass, None);
            verdict.findings.clear();
        }),
        ("verdict", |forged| forged.outcome.verdict.signature.as_mut().expect("it failed").site.push('x')),
        ("finding", |forged| forged.outcome.verdict.findings[0].message.push_str(", in the other file")),
        ("finding", |forged| forged.outcome.verdict.findings[0].title.push('!')),
        ("finding", |forged| forged.outcome.verdict.findings.push(forged.outcome.verdict.findings[0].clone())),
        ("event", |forged| forged.entries[0].answer.push('x')),
        ("event", |forged| forged.entries[1].at.0 += 1),
        ("digest of the target", |forged| forged.target.source = Digest::of(b"another file")),
        ("decisions", |forged| forged.outcome.decisions += 1),
        ("virtual time", |forged| forged.outcome.ended_at.0 += 1),
        ("memory", |forged| forged.outcome.memory = Digest::of(b"another memory")),
        ("fuel", |forged| forged.outcome.fuel_used += 1),
        ("calls", |forged| forged.outcome.history ^= 1),
        ("answers", |forged| {
            // Too large for any question of this run, so that none takes it.
            forged.explicit.insert(0, Override::Number(u64::MAX));
        }),
    ];
    let fozzy = Fozzy::new();
    fozzy.write(
        "n.fozzy.json",
        r#"{"version": 1, "name": "n", "steps": [{"type": "rand_u64", "key": "r"}, {"type": "fail", "message": "no"}]}"#,
    );
    fozzy.run(&["run", "n.fozzy.json", "--record", "n.fozzy"]).exits(1);
    fozzy.run(&["ci", "n.fozzy"]).exits(0);
    let recording = Recording::read(&fozzy.read("n.fozzy")).expect("sound");
    for (what, forge) in forgeries {
        let mut forged = recording.clone();
        forge(&mut forged);
        fozzy.write("forged.fozzy", forged.to_bytes().expect("it fits"));
        assert_eq!(fozzy.run(&["trace", "verify", "forged.fozzy", "--json"]).exits(0).json()["ok"], true, "{what}");
        let replayed = fozzy.run(&["replay", "forged.fozzy", "--json"]).exits(2).json();
        assert_eq!(replayed["replay"]["difference"]["what"], what, "{replayed}");
        let checked = fozzy.run(&["ci", "forged.fozzy", "--json"]).exits(1).json();
        assert_eq!(checked["checks"][2]["ok"], false, "{checked}");
    }
    // No replay can tell what a file was called, so what is shown is said to be the file's word.
    let mut renamed = recording.clone();
    renamed.target.name = "theirs.fozzy.json".to_owned();
    fozzy.write("renamed.fozzy", renamed.to_bytes().expect("it fits"));
    let replayed = fozzy.run(&["replay", "renamed.fozzy"]).exits(1);
    let shown = replayed.out() + &replayed.err();
    assert!(shown.contains("theirs.fozzy.json (scenario), as the trace names it"), "{shown}");
    let replayed = fozzy.run(&["replay", "renamed.fozzy", "--json"]).exits(1).json();
    assert_eq!(replayed["replay"]["claimed"], json!(["target.name"]));
    // A report made of a file alone says so.
    let report = fozzy.run(&["report", "show", "forged.fozzy", "--format", "json"]).exits(0).json();
    assert!(report["warnings"][0].as_str().expect("a warning").contains("not compared with a run"), "{report}");
}
