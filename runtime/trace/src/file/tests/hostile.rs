//! Files whose checksum is right and whose content is not: each is refused for its own reason.

use super::*;
use serde_json::{Value, json};

/// Names and stored bytes of a file's entries.
type Entries = Vec<(String, Vec<u8>)>;

fn entries_of(bytes: &[u8]) -> Entries {
    let stored = container::read(bytes).expect("a file of ours");
    stored.iter().map(|entry| (entry.name.to_owned(), entry.bytes.to_vec())).collect()
}

fn assemble(entries: &Entries) -> Vec<u8> {
    let mut bytes = container::write(entries);
    seal::close(&mut bytes);
    bytes
}

/// The sample with its entries changed, digests and sizes of the stored bytes made right again.
pub(super) fn with_entries(change: impl FnOnce(&mut Entries)) -> Vec<u8> {
    let mut entries = entries_of(&sample_bytes());
    change(&mut entries);
    let mut manifest: Value = serde_json::from_slice(&entries[0].1).expect("JSON");
    for row in manifest["entries"].as_array_mut().expect("rows") {
        if let Some((_, stored)) = entries.iter().find(|(name, _)| *name == row["name"]) {
            row["storedBytes"] = json!(stored.len());
            row["sha256"] = json!(Digest::of(stored));
        }
    }
    entries[0].1 = manifest::pretty(&manifest);
    assemble(&entries)
}

/// The sample with other content in one entry, everything about it made right.
pub(super) fn with_content(name: &str, content: &[u8]) -> Vec<u8> {
    let stored = if manifest::compressed(name) { pack(content) } else { content.to_vec() };
    let bytes = with_entries(|entries| entry(entries, name).1 = stored);
    declare(&bytes, name, content.len() as u64)
}

/// The file with its manifest changed.
fn with_manifest(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut entries = entries_of(bytes);
    let mut manifest: Value = serde_json::from_slice(&entries[0].1).expect("JSON");
    change(&mut manifest);
    entries[0].1 = manifest::pretty(&manifest);
    assemble(&entries)
}

/// The file with another unpacked size declared for one entry.
fn declare(bytes: &[u8], name: &str, size: u64) -> Vec<u8> {
    with_manifest(bytes, |manifest| {
        let rows = manifest["entries"].as_array_mut().expect("rows");
        rows.iter_mut().find(|row| row["name"] == name).expect("a row")["bytes"] = json!(size);
    })
}

fn entry<'a>(entries: &'a mut Entries, name: &str) -> &'a mut (String, Vec<u8>) {
    entries.iter_mut().find(|(found, _)| found == name).expect("an entry")
}

fn pack(content: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(content, 3).expect("packs")
}

/// The sample's bytes changed in place, and the checksum made right.
fn patched(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = sample_bytes();
    change(&mut bytes);
    reseal(&mut bytes);
    bytes
}

/// Offsets of the n-th directory record and of the end record.
fn directory(bytes: &[u8], n: usize) -> (usize, usize) {
    let end = bytes.len() - 22 - 77;
    let field = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("four bytes")) as usize;
    let mut at = field(end + 16);
    for _ in 0..n {
        at += 46 + usize::from(bytes[at + 28]);
    }
    (at, end)
}

fn check(bytes: &[u8], expected: &str) {
    let verification = verify(bytes);
    assert!(verification.checksum_present && verification.checksum_valid, "{verification:?}");
    let message = refusal(bytes);
    assert!(message.contains(expected), "expected `{expected}`, found `{message}`");
}

#[test]
fn the_helpers_rebuild_what_they_take_apart() {
    let plain = with_entries(|_| ());
    assert_eq!(Recording::read(&plain), Ok(sample()));
    assert!(Recording::read(&with_content("stdout.zst", b"out\n")).is_ok());
}

#[test]
fn names_with_tricks_are_refused_by_name() {
    let extra = |name: &str| with_entries(|entries| entries.push((name.to_owned(), b"x".to_vec())));
    check(&extra("../evil"), "unknown entry `../evil`: its name leads out of the folder");
    check(&extra("inputs/../../evil"), "its name leads out of the folder");
    check(&extra("/etc/passwd"), "unknown entry `/etc/passwd`: its name is an absolute path");
    check(&extra("C:evil"), "unknown entry `C:evil`: its name has a backslash or a colon");
    check(&extra("..\\evil"), "unknown entry `..\\evil`: its name has a backslash");
    check(&extra("inputs/"), "unknown entry `inputs/`: it is a directory");
    check(&extra("\u{1b}[31mred"), "unknown entry `\\u{1b}[31mred`: its name has blanks, control characters");
    check(&extra(""), "unknown entry ``");
    check(&extra("notes.txt"), "unknown entry `notes.txt`");
    check(&extra("component.wasm.zst2"), "unknown entry `component.wasm.zst2`");
    check(&extra(&"n".repeat(60_000)), "unknown entry `nnnn");
    check(&extra(&format!("inputs/{}.zst", "A".repeat(64))), "unknown entry `inputs/AAAA");
    check(
        &patched(|bytes| {
            let at = directory(bytes, 1).0 + 46;
            bytes[at] = 0xFF;
        }),
        "its name is not text",
    );
}

#[test]
fn entries_twice_missing_or_in_another_order_are_refused_by_name() {
    let twice = with_entries(|entries| entries.push(("stdout.zst".to_owned(), pack(b"other"))));
    check(&twice, "entry `stdout.zst` stands in it twice");
    let missing = with_entries(|entries| entries.retain(|(name, _)| name != "events.jsonl.zst"));
    check(&missing, "entry `events.jsonl.zst` is missing");
    let swapped = with_entries(|entries| entries.swap(6, 7));
    check(&swapped, "expected `stdout.zst` in its place");
    let mut late = entries_of(&sample_bytes());
    late.swap(0, 1);
    check(&assemble(&late), "entry `manifest.json`: expected the first entry, stored");
    check(&assemble(&Vec::new()), "expected the first entry, stored");
    check(
        &with_manifest(&sample_bytes(), |manifest| {
            manifest["entries"].as_array_mut().expect("rows").pop();
        }),
        "expected a row for each of 15 entries, found 14 rows",
    );
    check(
        &with_manifest(&sample_bytes(), |manifest| {
            manifest["entries"].as_array_mut().expect("rows").swap(0, 1);
        }),
        "entry `plan.json`: expected a row of the manifest in its place, found one for `decisions.jsonl.zst`",
    );
}

#[test]
fn inputs_are_exactly_what_the_plan_names() {
    let unnamed = with_entries(|entries| {
        let content = b"nobody names this";
        let name = manifest::input_name(&Digest::of(content));
        entries.push((name, pack(content)));
        let inputs = &mut entries[8..];
        inputs.sort();
    });
    let name = manifest::input_name(&Digest::of(b"nobody names this"));
    let unnamed = with_manifest(&unnamed, |manifest| {
        let stored = pack(b"nobody names this");
        let row = json!({"name": name, "storedBytes": stored.len(), "bytes": 17, "sha256": Digest::of(&stored)});
        let rows = manifest["entries"].as_array_mut().expect("rows");
        rows.push(row);
        rows[7..].sort_by_key(|row| row["name"].to_string());
    });
    check(&unnamed, &format!("unknown entry `{name}`: neither the plan nor an observation names it"));
    let typed = manifest::input_name(&Digest::of(b"typed\n"));
    check(&with_content(&typed, b"TYPED\n"), &format!("entry `{typed}`: expected the content that its name is"));
    let mut plan = sample().plan;
    plan.main.stdin.bytes = Digest::of(b"elsewhere");
    // Both the old input, which is unused now, and the new one are wrong; either may be reported first.
    check(&with_content("plan.json", &manifest::pretty(&plan)), "malformed trace: ");
    plan = sample().plan;
    plan.main.dirs[0]
        .entries
        .push(MountEntry { path: "z".to_owned(), kind: MountKind::File(Digest::of(b"elsewhere")) });
    let absent = manifest::input_name(&Digest::of(b"elsewhere"));
    check(&with_content("plan.json", &manifest::pretty(&plan)), &format!("entry `{absent}` is missing"));
}

#[test]
fn bombs_stop_at_what_they_declare() {
    let bomb = pack(&vec![0; 64 << 20]);
    assert!(bomb.len() < 10_000, "a bomb is small");
    let small = with_entries(|entries| entry(entries, "component.wasm.zst").1 = bomb.clone());
    check(&small, "entry `component.wasm.zst`: expected 8 bytes when unpacked, found more");
    check(&declare(&small, "component.wasm.zst", (64 << 20) + 1), "bytes when unpacked, found 67108864");
    check(&declare(&small, "component.wasm.zst", 1 << 40), "component.wasm.zst is too large for a trace");
    check(&declare(&small, "stdout.zst", u64::MAX), "stdout.zst is too large for a trace");
    check(&declare(&small, "stdout.zst", 5 << 20), "at most 4194304");
    let more = with_entries(|entries| entry(entries, "stdout.zst").1.extend(pack(b"")));
    check(&more, "entry `stdout.zst`: expected one zstd frame, found 9 bytes after it");
    let none = with_entries(|entries| entry(entries, "stdout.zst").1.clear());
    check(&none, "entry `stdout.zst`: expected ");
    let none = with_entries(|entries| entry(entries, "events.jsonl.zst").1.clear());
    check(&declare(&none, "events.jsonl.zst", 0), "entry `events.jsonl.zst`: expected ");
    let cut = with_entries(|entries| {
        entry(entries, "stdout.zst").1.pop();
    });
    check(&cut, "entry `stdout.zst`: expected one zstd frame");
    let skippable = [&[0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0][..], &pack(b"out\n")].concat();
    check(&with_entries(|entries| entry(entries, "stdout.zst").1 = skippable), "entry `stdout.zst`: expected ");
    // A frame that wants a window of two gigabytes: magic, descriptor 0, window descriptor, an empty last block.
    let wide = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 21 << 3, 1, 0, 0];
    check(
        &with_entries(|entries| entry(entries, "stdout.zst").1 = wide),
        "entry `stdout.zst`: expected one zstd frame",
    );
    // The sum of what is declared is bounded too: within each bound, and too much together.
    let declared = with_manifest(&sample_bytes(), |manifest| {
        for row in manifest["entries"].as_array_mut().expect("rows") {
            let name = row["name"].as_str().expect("a name").to_owned();
            if manifest::compressed(&name) {
                row["bytes"] = json!(manifest::bytes_max(&name));
            }
        }
    });
    check(&declared, "the unpacked content is too large for a trace");
}

#[test]
fn a_zip_that_is_not_plain_is_refused() {
    let field = |n: usize, at: usize, value: u16| {
        patched(|bytes| {
            let record = directory(bytes, n).0;
            bytes[record + at..record + at + 2].copy_from_slice(&value.to_le_bytes());
        })
    };
    check(&field(2, 10, 8), "entry `decisions.jsonl.zst`: expected zip method 0 (stored), found method 8 (deflate)");
    check(&field(2, 10, 99), "found method 99");
    check(&field(2, 8, 1), "entry `decisions.jsonl.zst`: expected plain bytes, found encryption");
    check(&field(2, 8, 8), "expected zip flags 0, found 0x0008");
    check(&field(2, 30, 4), "expected no extra field and no comment, found 4 and 0 bytes");
    check(&field(2, 32, 4), "expected no extra field and no comment, found 0 and 4 bytes");
    check(&field(2, 12, 1), "the plain directory record of `decisions.jsonl.zst`");
    check(&field(2, 28, u16::MAX), "expected a directory record");
    check(&field(2, 42, 0), "the plain directory record of `decisions.jsonl.zst`");
    check(&field(2, 20, u16::MAX), "the plain directory record of `decisions.jsonl.zst`");
    // The 64-bit extension: escape values in the sizes, in the offset, in the count.
    check(
        &patched(|bytes| {
            let record = directory(bytes, 1).0;
            bytes[record + 20..record + 28].fill(0xFF);
        }),
        "expected the local header of `plan.json`",
    );
    check(
        &patched(|bytes| {
            let end = directory(bytes, 0).1;
            bytes[end + 8..end + 12].fill(0xFF);
        }),
        "expected a zip without the 64-bit extension, found 65535 entries",
    );
    check(
        &patched(|bytes| {
            let end = directory(bytes, 0).1;
            bytes[end + 12..end + 20].fill(0xFF);
        }),
        "expected a directory that ends at",
    );
    for count in [0u16, 1, 15, 17, 40_000, 0xFFFE] {
        let counted = patched(|bytes| {
            let end = directory(bytes, 0).1;
            bytes[end + 8..end + 10].copy_from_slice(&count.to_le_bytes());
            bytes[end + 10..end + 12].copy_from_slice(&count.to_le_bytes());
        });
        check(&counted, "malformed trace: byte ");
    }
    check(
        &patched(|bytes| {
            let end = directory(bytes, 0).1;
            bytes[end + 4] = 1;
        }),
        "expected the end record of a plain zip",
    );
    check(&patched(|bytes| bytes[8] = 8), "expected the first entry, stored");
    check(&patched(|bytes| bytes[10] = 8), "expected the local header of `manifest.json`");
    // One letter of the manifest (`"version"` becomes `"wersion"`), and one byte of other data.
    let letter = sample_bytes().windows(7).position(|w| w == b"version").expect("the key");
    check(&patched(|bytes| bytes[letter] ^= 1), "entry `manifest.json`: at `.`: missing field `version`");
    let magic = sample_bytes().windows(4).position(|w| w == [0x28, 0xB5, 0x2F, 0xFD]).expect("a frame");
    check(&patched(|bytes| bytes[magic] ^= 1), "entry `decisions.jsonl.zst`: expected CRC-32");
}

#[test]
fn no_byte_hides_between_the_parts() {
    // Before the directory, with the offset in the end record moved along.
    check(
        &patched(|bytes| {
            let (at, end) = directory(bytes, 0);
            bytes[end + 16..end + 20].copy_from_slice(&(at as u32 + 4).to_le_bytes());
            bytes.splice(at..at, *b"evil");
        }),
        "expected the directory right after the last entry",
    );
    // Between the directory and the end record, as part of the directory.
    check(
        &patched(|bytes| {
            let (at, end) = directory(bytes, 0);
            let size = (end - at + 4) as u32;
            bytes[end + 12..end + 16].copy_from_slice(&size.to_le_bytes());
            bytes.splice(end..end, *b"evil");
        }),
        "expected the end record right after the directory",
    );
    check(
        &patched(|bytes| {
            let end = directory(bytes, 0).1;
            bytes.splice(end..end, *b"evil");
        }),
        "expected a directory that ends at",
    );
    check(
        &patched(|bytes| {
            bytes.splice(0..0, *b"evil");
        }),
        "expected the first entry, stored",
    );
    // Nothing but a checksum.
    let mut alone = seal::MARKER.to_vec();
    seal::close(&mut alone);
    check(&alone, "expected the first entry, stored");
}

#[test]
fn fields_and_values_that_no_trace_has_are_refused_by_key() {
    let manifest = |change: fn(&mut Value)| with_manifest(&sample_bytes(), change);
    check(&manifest(|m| m["extra"] = json!(1)), "entry `manifest.json`: at `extra`: unknown field `extra`");
    check(&manifest(|m| m["engine"]["extra"] = json!(1)), "at `engine.extra`: unknown field");
    check(&manifest(|m| m["outcome"]["end"]["extra"] = json!(1)), "at `outcome.end");
    check(
        &manifest(|m| {
            let finding = &mut m["outcome"]["verdict"]["findings"][0];
            finding["backtrace"][0]["extra"] = json!(1);
        }),
        "unknown field `extra`",
    );
    check(&manifest(|m| m["seed"] = json!(-1)), "at `seed`");
    check(&manifest(|m| m["outcome"]["history"] = json!("00")), "expected 16 hexadecimal digits, found `00`");
    check(&manifest(|m| m["outcome"]["memory"] = json!("00")), "at `outcome.memory`");
    check(&manifest(|m| drop(m.as_object_mut().map(|m| m.remove("mode")))), "missing field `mode`");
    check(&manifest(|m| m["format"] = json!("zebra")), "found a zip archive of format `zebra`");
    check(
        &manifest(|m| m["entries"][1]["sha256"] = json!(Digest::of(b""))),
        "`decisions.jsonl.zst`: expected SHA-256 e3b0",
    );
    check(&manifest(|m| m["entries"][1]["storedBytes"] = json!(1)), "`decisions.jsonl.zst`: expected 1 stored bytes");
    check(&manifest(|m| m["entries"][0]["bytes"] = json!(1)), "entry `plan.json`: expected 1 bytes");
    check(&manifest(|m| *m = json!({})), "entry `manifest.json`: at `.`: missing field `format`");
    check(&manifest(|m| *m = json!([1, 2])), "entry `manifest.json`: at ");
    check(&with_content("plan.json", b"{}"), "entry `plan.json`: at `.`: missing field `main`");
    check(&with_content("plan.json", &[b"[".repeat(100_000), b"]".repeat(100_000)].concat()), "entry `plan.json`");
    let mut plan = serde_json::to_value(sample().plan).expect("JSON");
    plan["limits"]["color"] = json!("red");
    check(&with_content("plan.json", &manifest::pretty(&plan)), "entry `plan.json`: at `limits.color`");
}

#[test]
fn versions_that_this_one_does_not_read_are_named() {
    let version = |version: u64| with_manifest(&sample_bytes(), |m| m["version"] = json!(version));
    check(&version(6), "version 6 is newer than this fozzy reads (5)");
    check(&version(u64::MAX), "version 18446744073709551615 is newer");
    check(&version(4), "version 4 was never written as a zip: expected 5");
    assert_eq!(verify(&version(6)).version, Some(6));
    // The version is said even where everything else of that version is unknown.
    let unknown = assemble(&vec![
        ("manifest.json".to_owned(), br#"{"format":"fozzy","version":7,"new":{}}"#.to_vec()),
        ("new.bin".to_owned(), Vec::new()),
    ]);
    check(&unknown, "version 7 is newer");
}

#[test]
fn lines_that_contradict_the_outcome_are_refused_by_number() {
    let decisions = |text: &str| with_content("decisions.jsonl.zst", text.as_bytes());
    let explicit =
        |question: u64| format!("{{\"explicit\":{{\"question\":{question},\"answer\":{{\"number\":1}}}}}}\n");
    let mark = |calls: u64| format!("{{\"mark\":{{\"calls\":{calls},\"at\":0,\"digest\":\"{calls:016x}\"}}}}\n");
    assert!(Recording::read(&decisions(&(explicit(1) + &mark(3000)))).is_ok());
    check(&decisions(&explicit(4)), "entry `decisions.jsonl.zst line 1`: expected a question from 0 below 4, found 4");
    check(&decisions(&(explicit(1) + &explicit(1))), "line 2`: expected a question from 2 below 4, found 1");
    check(&decisions(&explicit(u64::MAX)), "found 18446744073709551615");
    check(&decisions(&(mark(1) + &explicit(1))), "line 2`: expected a mark after the first mark");
    check(&decisions(&(mark(7) + &mark(7))), "line 2`: expected a mark from 8 to 3000 calls, found 7");
    check(&decisions(&mark(3001)), "found 3001");
    check(&decisions(&(1..=1025).map(mark).collect::<String>()), "line 1025`: expected at most 1024 marks");
    check(&decisions(explicit(1).trim_end()), "line 1`: expected a newline at its end");
    check(&decisions("\n"), "entry `decisions.jsonl.zst line 1`: at `.`");
    check(
        &decisions("{\"explicit\":{\"question\":1,\"answer\":{\"bytes\":\"0G\"}}}\n"),
        "expected pairs of lower-case",
    );
    check(&decisions("{\"explicit\":{\"question\":1,\"answer\":{\"number\":1},\"x\":1}}\n"), "unknown field `x`");
    check(&decisions("{\"fault\":{}}\n"), "unknown variant `fault`");
    let mut event = sample().entries[0].clone();
    event.index = 3000;
    let mut line = Vec::new();
    manifest::line(&mut line, &event);
    check(&with_content("events.jsonl.zst", &line), "expected an index from 0 below 3000, found 3000");
    check(&with_content("stdout.zst", b"out"), "entry `stdout.zst`: expected 4 bytes, as the outcome says, found 3");
    check(&with_content("stdout.zst", b"owt\n"), "entry `stdout.zst`: expected SHA-256");
}

/// The sample's observations, one a line, changed as text.
fn with_observations(change: impl FnOnce(String) -> String) -> Vec<u8> {
    let mut text = Vec::new();
    sample().observations.iter().for_each(|observation| manifest::line(&mut text, observation));
    let text = change(String::from_utf8(text).expect("text"));
    with_content("observations.jsonl.zst", text.as_bytes())
}

#[test]
fn observations_are_exchanges_that_could_have_been() {
    let replaced = |from: &str, to: &str| {
        with_observations(|text| {
            assert!(text.contains(from), "{from} is to stand in {text}");
            text.replacen(from, to, 1)
        })
    };
    assert_eq!(Recording::read(&with_observations(|text| text)), Ok(sample()));
    let line = |n: u64| format!("entry `observations.jsonl.zst line {n}`: expected an answer to");
    // Another kind, another operation's answer, more bytes than were asked for or given.
    check(&replaced(r#""answer":{"file":{"Err":"io"}}"#, r#""answer":{"http":{"Err":"reset"}}"#), &line(3));
    check(&replaced(r#""operation":"sync""#, r#""operation":"close""#), &line(3));
    check(&replaced(r#""operation":"sync""#, r#""operation":"unsync""#), "unknown variant `unsync`");
    check(&replaced(r#"{"Ok":{"written":7}}"#, r#"{"Ok":"done"}"#), &line(2));
    check(&replaced(r#"{"written":7}"#, r#"{"written":8}"#), &line(2));
    check(&replaced(r#""length":100"#, r#""length":5"#), &line(1));
    check(&replaced(r#""status":201"#, r#""status":42"#), &line(4));
    check(&replaced(r#""status":201"#, r#""status":70000"#), "line 4`: at `answer.http");
    check(&replaced(r#""*/*""#, "\"\u{100}\""), "a character above U+00FF");
    check(&replaced(r#""offset":0"#, r#""offset":-1"#), "line 1`: at `ask.file");
    check(&replaced(r#""cut":true"#, r#""cut":true,"extra":1"#), "unknown field `extra`");
    check(&replaced(r#"{"ask""#, r#"{"at":1,"ask""#), "unknown field `at`");
    check(&with_observations(|text| text.trim_end().to_owned()), "line 7`: expected a newline at its end");
    check(&with_observations(|text| format!("\n{text}")), "line 1`: at `.`");
    check(&with_observations(|text| format!("{text}{}", "[".repeat(100_000))), "line 8`: expected a newline");
    check(&with_observations(|text| format!("{text}{}\n", "[".repeat(100_000))), "line 8`: at");
}

#[test]
fn the_bytes_of_observations_are_exactly_there() {
    // Without observations their bytes are unused; with one more, its bytes are missing.
    check(&with_observations(|_| String::new()), ": neither the plan nor an observation names it");
    let absent = Digest::of(b"elsewhere");
    let file = FileRequest { on: 0, operation: FileOperation::Append { bytes: absent } };
    let answer = BackendResponse::File(Ok(FileResponse::Written(0)));
    let mut more = Vec::new();
    manifest::line(&mut more, &Observation { ask: BackendRequest::File(file), answer, took: None });
    let more = String::from_utf8(more).expect("text");
    let missing = format!("entry `{}` is missing", manifest::input_name(&absent));
    check(&with_observations(|text| text + &more), &missing);
    // What only an observation names is checked against its name too.
    let request = manifest::input_name(&Digest::of(b"request"));
    check(&with_content(&request, b"REQUEST"), &format!("entry `{request}`: expected the content that its name is"));
}

#[test]
fn nodes_are_read_as_strictly() {
    let manifest = |change: fn(&mut Value)| with_manifest(&sample_bytes(), change);
    check(&manifest(|m| m["outcome"]["nodes"][0]["extra"] = json!(1)), "unknown field `extra`");
    check(&manifest(|m| m["outcome"]["nodes"] = json!(7)), "at `outcome.nodes`");
    check(&manifest(|m| drop(m["outcome"].as_object_mut().map(|m| m.remove("nodes")))), "missing field `nodes`");
    check(&manifest(|m| m["outcome"]["nodes"][0]["end"] = json!({"end": "diverged"})), "missing field `recorded`");
    let mut plan = sample().plan;
    plan.nodes[0].program.component = Digest::of(b"elsewhere");
    // Both the old component, which is unused now, and the new one are wrong; either may be reported first.
    check(&with_content("plan.json", &manifest::pretty(&plan)), "malformed trace: ");
}

#[test]
fn numbers_of_steps_that_no_run_can_have_are_refused() {
    let with_scenario = |scenario: Value| {
        let plan = entries_of(&sample_bytes()).into_iter().find(|(name, _)| name == manifest::PLAN).expect("a plan").1;
        let mut plan: Value = serde_json::from_slice(&plan).expect("JSON");
        plan["scenario"] = scenario;
        Recording::read(&with_content(manifest::PLAN, &manifest::pretty(&plan)))
    };
    let kept = |sequence: u64, steps: Value| json!([{"kind": "property", "sequence": sequence, "steps": steps}]);
    let of = |only: Value| json!({"sequences": 1, "flows": 100, "only": only});
    for sound in [json!({"sequences": 1 << 30, "flows": 1 << 30}), of(kept(0, json!([[0, 0], [2, 5], [5, 1 << 30]])))] {
        assert!(with_scenario(sound.clone()).is_ok(), "{sound}");
    }
    for (hostile, words) in [
        (json!({"sequences": u32::MAX, "flows": 1}), ["at most 1073741824 sequences", "found 4294967295"]),
        (json!({"sequences": 1, "flows": u32::MAX}), ["at most 1073741824 steps", "found 4294967295"]),
        (of(kept(0, json!([[0, u32::MAX]]))), ["from 0 to 1073741824", "[0, 4294967295] in sequence 0"]),
        (of(kept(0, json!([[5, 6], [4, 5]]))), ["from 6 to", "[4, 5]"]),
        (of(kept(0, json!([[5, 4]]))), ["from 0 to", "[5, 4]"]),
        (of(kept(1 << 30, json!([]))), ["at most 1073741823", "found 1073741824"]),
    ] {
        let error = with_scenario(hostile).expect_err("no run has that").to_string();
        assert!(error.contains("scenario of plan.json"), "{error}");
        words.iter().for_each(|word| assert!(error.contains(word), "expected `{word}` in {error}"));
    }
}
