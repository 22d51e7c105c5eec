//! The program's own heap: exact blocks and bytes for every way a run can end, and leaks by site.
//!
//! ```text
//! planted programs, and the same mended ─▶ fozzy memory top ─▶ leaks to the byte, and none
//! trace ─▶ fozzy profile --heap, in two folders ─▶ equal bytes, whose numbers sum up to the totals
//! ```

use crate::corpus;
use crate::fozzy::Fozzy;
use crate::wait;
use serde_json::Value;
use std::path::Path;

/// An allocator that hands out one block behind the other: each 64 bytes further.
const BUMP: &str = "(global $next (mut i32) (i32.const 65536))
    (func $malloc (param i32) (result i32) (local i32)
      global.get $next local.set 1 global.get $next i32.const 64 i32.add global.set $next local.get 1)
    (func $calloc (param i32 i32) (result i32) local.get 0 local.get 1 i32.mul call $malloc)
    (func $free (param i32))";

fn recorded(program: &str) -> Fozzy {
    let fozzy = Fozzy::new();
    let text = format!(
        "(module (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))
           (memory (export \"memory\") 2) (global $sp (mut i32) (i32.const 1024)) {BUMP} {program})"
    );
    fozzy.write("program.wat", text);
    let ran = fozzy.run(&["run", "program.wat", "--record", "a.fozzy", "--no-store"]);
    assert!(fozzy.path("a.fozzy").exists(), "{}{}", ran.out(), ran.err());
    fozzy
}

fn heap(fozzy: &Fozzy) -> Value {
    fozzy.run(&["profile", "top", "a.fozzy", "--heap", "--limit", "1000", "--json"]).exits(0).json()["heap"].clone()
}

fn numbers(heap: &Value, keys: [&str; 6]) -> [u64; 6] {
    keys.map(|key| heap[key].as_u64().unwrap_or_else(|| panic!("{key} in {heap:#}")))
}

const KEYS: [&str; 6] = ["allocCount", "allocBytes", "freeCount", "inUseBytes", "peakBytes", "leakedBytes"];

#[test]
fn every_ending_has_exactly_its_blocks() {
    let stored = "i32.const 16 i32.const 10 call $malloc i32.store";
    let lost = "i32.const 20 call $malloc drop";
    let freed = "i32.const 30 call $malloc call $free";
    let body = format!("{stored} {lost} {freed} i32.const 3 i32.const 4 call $calloc drop");
    // One block of 10 bytes that memory points to; 20 and 12 that nothing does; 30 that were freed.
    let all = [4, 72, 1, 42, 60];
    let leaked = |bytes| [all[0], all[1], all[2], all[3], all[4], bytes];
    for (what, program, expected) in [
        ("end", format!("(func (export \"_start\") {body})"), leaked(32)),
        ("exit", format!("(func (export \"_start\") {body} i32.const 3 call $exit)"), leaked(32)),
        (
            "exit in a nested call",
            format!("(func $f {body} i32.const 3 call $exit) (func (export \"_start\") call $f)"),
            leaked(0),
        ),
        ("trap", format!("(func $f {body} unreachable) (func (export \"_start\") call $f)"), leaked(0)),
    ] {
        let fozzy = recorded(&program);
        let found = heap(&fozzy);
        assert_eq!(numbers(&found, KEYS), expected, "{what}");
        let own: u64 =
            found["functions"].as_array().expect("a list").iter().filter_map(|row| row["own"].as_u64()).sum();
        assert_eq!(own, 72, "{what}: functions sum up to the total");
        let possible = found["possiblyLeakedBytes"].as_u64().expect("a number");
        assert_eq!(possible, if expected[5] == 0 { 32 } else { 0 }, "{what}");
        fozzy.run(&["profile", "doctor", "a.fozzy", "--deep"]).exits(0);
    }
}

#[test]
fn a_machine_that_still_runs_leaves_the_leaks_of_others_certain() {
    let fozzy = Fozzy::new();
    // Each allocates, and sleeps: the first for a millisecond, the other for an hour, in which the run ends.
    let program = |bytes: u32, nanoseconds: u64| {
        format!(
            "(module (import \"wasi_snapshot_preview1\" \"poll_oneoff\" (func $poll (param i32 i32 i32 i32) (result i32)))
              (memory (export \"memory\") 2) {BUMP}
              (func $sleep
                (drop (call $malloc (i32.const {bytes})))
                (i32.store (i32.const 16) (i32.const 1))
                (i64.store (i32.const 24) (i64.const {nanoseconds}))
                (drop (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 256))))
              (func (export \"_start\") call $sleep))"
        )
    };
    fozzy.write("leaks.wat", program(20, 1_000_000));
    fozzy.write("sleeps.wat", program(7, 3_600_000_000_000));
    fozzy.write("plan.toml", "[[node]]\nname = \"server\"\ncomponent = \"sleeps.wat\"\n");
    fozzy.run(&["run", "leaks.wat", "--plan", "plan.toml", "--record", "a.fozzy", "--no-store"]).exits(0);
    let top = fozzy.run(&["memory", "top", "a.fozzy", "--fail-on-leak", "--json"]).exits(1).json();
    assert_eq!((&top["leakedAllocs"], &top["leakedBytes"]), (&1.into(), &20.into()), "{top:#}");
    assert_eq!(of_kind(&top, "possible_leak").len(), 1, "{top:#}");
}

#[test]
fn blocks_of_a_life_that_a_restart_ended_are_not_in_use_at_the_end() {
    let fozzy = Fozzy::new();
    let program = format!(
        "(module
           (import \"wasi_snapshot_preview1\" \"fd_write\" (func $write (param i32 i32 i32 i32) (result i32)))
           (memory (export \"memory\") 2) (global $sp (mut i32) (i32.const 1024)) {BUMP}
           (data (i32.const 0) \"\\10\\00\\00\\00\\02\\00\\00\\00\")
           (func (export \"_start\")
             i32.const 32 i32.const 10 call $malloc i32.store
             i32.const 1 i32.const 0 i32.const 1 i32.const 8 call $write drop))"
    );
    fozzy.write("program.wat", program);
    let run = ["run", "program.wat", "--faults", "restart@main:80%", "--seed", "2", "--record", "a.fozzy", "--json"];
    let lives = 1 + fozzy.run(&run).exits(0).json()["faults"][0]["strikes"].as_u64().expect("a number");
    assert!(lives > 2);
    assert_eq!(numbers(&heap(&fozzy), KEYS), [lives, 10 * lives, lives - 1, 10, 10, 0]);
}

#[test]
fn only_the_outermost_allocator_is_counted_and_a_stripped_one_can_be_named() {
    let program = "(func $__rust_alloc (param i32 i32) (result i32) local.get 0 call $malloc)
        (func (export \"_start\") i32.const 9 i32.const 1 call $__rust_alloc drop)";
    assert_eq!(numbers(&heap(&recorded(program)), KEYS), [1, 9, 0, 9, 9, 9]);

    let fozzy = Fozzy::new();
    let module = "(module (memory (export \"memory\") 2) (func (param i32) (result i32) i32.const 4096)
        (func (export \"_start\") i32.const 7 call 0 drop))";
    fozzy.write("program.wat", module);
    fozzy.run(&["run", "program.wat", "--record", "a.fozzy", "--no-store"]).exits(0);
    let without = fozzy.run(&["memory", "top", "a.fozzy", "--json"]).exits(0).json();
    let warned = without["warnings"].as_array().expect("a list").iter().filter_map(Value::as_str);
    assert!(warned.clone().any(|line| line.contains("no allocator was recognised")), "{without:#}");
    // What is not known is no pass.
    for budget in ["--fail-on-leak", "--leak-budget=10"] {
        fozzy.run(&["memory", "top", "a.fozzy", budget]).refuses(&["no allocator was recognised"]);
    }
    let named = fozzy.run(&["memory", "top", "a.fozzy", "--allocator", "malloc=func[0]", "--json"]).exits(0).json();
    assert_eq!((&named["leakedBytes"], &named["leakedAllocs"]), (&7.into(), &1.into()), "{named:#}");
    let wrong = fozzy.run(&["memory", "top", "a.fozzy", "--allocator", "free=func[0]"]).exits(2);
    assert!(wrong.err().contains("no function of the program has this name and these parameters"), "{}", wrong.err());
}

#[test]
fn a_run_fails_by_what_its_own_heap_leaks_or_allocates() {
    let program = |freed: &str| {
        format!(
            "(module (memory (export \"memory\") 2) (global $sp (mut i32) (i32.const 1024)) {BUMP}
              (func $forgets i32.const 40 call $malloc {freed}) (func (export \"_start\") call $forgets call $forgets))"
        )
    };
    let fozzy = Fozzy::new();
    fozzy.write("leaks.wat", program("drop"));
    fozzy.write("frees.wat", program("call $free"));
    let run = |args: &[&str]| fozzy.run(&[&["run", "--json", "--no-store"], args].concat());
    let found = run(&["leaks.wat", "--fail-on-leak", "--record", "a.fozzy"]).exits(1).json();
    assert_eq!(
        (&found["findings"][0]["kind"], &found["memory"]["leakedBytes"]),
        (&"leak".into(), &80.into()),
        "{found:#}"
    );
    assert_eq!(found["signature"]["site"], "forgets", "{found:#}");
    // It is the run's own verdict: found again in a replay, and no obstacle for what counts it.
    let again = fozzy.run(&["replay", "a.fozzy", "--json", "--no-store"]).exits(1).json();
    assert_eq!((&again["findings"], &again["replay"]["equal"]), (&found["findings"], &true.into()), "{again:#}");
    assert_eq!(heap(&fozzy)["leakedBytes"], 80);
    fozzy.run(&["profile", "top", "a.fozzy"]).exits(0);
    fozzy.run(&["test", "leaks.wat", "--fail-on-leak"]).exits(1);
    for args in [&["leaks.wat"][..], &["leaks.wat", "--leak-budget", "80"], &["frees.wat", "--fail-on-leak"]] {
        run(args).exits(0);
    }
    for (key, budget, code) in [("alloc", 79, 1), ("alloc", 80, 0), ("in_use", 79, 1), ("in_use", 80, 0)] {
        fozzy.write("fozzy.toml", format!("profile_heap_{key}_budget = {budget}\n"));
        let found = run(&["leaks.wat"]).exits(code).json();
        let title = if code == 0 { Value::Null } else { format!("heap_{key}_budget").into() };
        assert_eq!(found["findings"][0]["title"], title, "{found:#}");
    }
    // What was stripped of its names is not known to be free of leaks.
    fozzy.write("fozzy.toml", "");
    fozzy.write("bare.wat", "(module (memory (export \"memory\") 1) (func (result i32) i32.const 64) (func (export \"_start\") call 0 drop))");
    let bare = run(&["bare.wat", "--fail-on-leak"]).exits(2).json();
    assert_eq!(bare["findings"][0]["title"], "nothing is known of the program's heap", "{bare:#}");
    fozzy.write("bare.wat", "(module (memory (export \"memory\") 1) (func (param i32) (result i32) i32.const 4096) (func (export \"_start\") i32.const 7 call 0 drop))");
    // Once its functions are named, it is: in the run, in its recording, in a plan, and in what `test` selects.
    let named = ["bare.wat", "--fail-on-leak", "--allocator", "malloc=func[0]"];
    let found = run(&[&named[..], &["--record", "bare.fozzy"]].concat()).exits(1).json();
    assert_eq!(
        (&found["memory"]["leakedAllocs"], &found["findings"][0]["kind"]),
        (&1.into(), &"leak".into()),
        "{found:#}"
    );
    let again = fozzy.run(&["replay", "bare.fozzy", "--json", "--no-store"]).exits(1).json();
    assert_eq!(again["replay"]["equal"], true, "{again:#}");
    let top = fozzy.run(&["memory", "top", "bare.fozzy", "--json"]).exits(0).json();
    assert_eq!(top["leakedAllocs"], 1, "{top:#}");
    fozzy.write("plan.toml", "allocators = [\"malloc=func[0]\"]\n[memory]\nleak-budget = 0\n");
    run(&["bare.wat", "--plan", "plan.toml"]).exits(1);
    fozzy.run(&[&["test"], &named[..]].concat()).exits(1);
    for wrong in ["malloc=func[1]", "malloc=func[7]", "free=func[0]", "malloc=pool_get"] {
        let refused = ["no function of the program has this name and these parameters", wrong];
        fozzy.run(&["run", "bare.wat", "--allocator", wrong]).refuses(&refused);
    }
    run(&["bare.wat", "--allocator", "new=func[0]"]).exits(2);
}

#[test]
fn what_an_allocator_or_the_c_library_holds_for_itself_is_no_pointer_and_no_leak_of_the_program() {
    // A static word, two of them, and one in front of the second block point into blocks of `malloc`; that of `posix_memalign` is its
    // caller's, and so is what lies on the stack.
    let allocator = "(func $note (i32.store (i32.const 2000) (i32.const 65640)))
        (func $malloc (param i32) (result i32) (local i32)
          (call $note)
          (i64.store (i32.const 2008) (i64.const 0x1001000010010))
          (i32.store offset=4 (i32.const 65720) (i32.const 65544))
          (i32.store (i32.const 1008) (i32.const 65600))
          (local.set 1 (i32.load (i32.const 3000)))
          (i32.store (i32.const 3000) (i32.const 192))
          (i32.add (i32.const 65536) (local.get 1)))
        (func $posix_memalign (param i32 i32 i32) (result i32)
          (i32.store (local.get 0) (i32.const 66000)) (i32.const 0))";
    let leaked = |program: &str| {
        let fozzy = Fozzy::new();
        let text = format!(
            "(module (memory (export \"memory\") 2) (global $sp (mut i32) (i32.const 1024)) {allocator}
              (func $twice (drop (call $malloc (i32.const 100))) (drop (call $malloc (i32.const 7))))
              (func $__wasilibc_populate_preopens call $twice) {program})"
        );
        fozzy.write("program.wat", text);
        let found = fozzy.run(&["run", "program.wat", "--leak-budget", "1000", "--json", "--no-store"]).exits(0).json();
        found["memory"]["leakedBytes"].clone()
    };
    let asked = "(drop (call $posix_memalign (i32.const 2016) (i32.const 8) (i32.const 50)))";
    assert_eq!(leaked(&format!("(func (export \"_start\") call $twice {asked})")), 107);
    let held = "(func (export \"_start\") (global.set $sp (i32.const 1000)) call $twice)";
    assert_eq!(leaked(held), 7, "the stack points into the first block");
    assert_eq!(leaked("(func (export \"_start\") call $__wasilibc_populate_preopens)"), 0);
}

/// Records a program with its arguments, and says what leaked.
fn leaks(program: &Path, args: &[&str], code: i32) -> (Fozzy, Value) {
    let fozzy = Fozzy::new();
    std::fs::copy(program, fozzy.path("program.wasm")).expect("it is built");
    fozzy.write("plan.toml", format!("args = {args:?}\n"));
    fozzy.run(&["run", "program.wasm", "--plan", "plan.toml", "--record", "a.fozzy", "--no-store"]).exits(code);
    let top = fozzy.run(&["memory", "top", "a.fozzy", "--limit", "100", "--json"]).exits(0).json();
    (fozzy, top)
}

fn of_kind(top: &Value, kind: &str) -> Vec<(String, u64, u64)> {
    let entries = top["entries"].as_array().expect("a list").iter().filter(|entry| entry["kind"] == kind);
    let row = |entry: &Value| {
        let label = entry["label"].as_str().expect("a label").to_owned();
        Some((label, entry["bytes"].as_u64()?, entry["fields"]["blocks"].as_u64()?))
    };
    entries.filter_map(row).collect()
}

#[test]
fn planted_leaks_in_rust_are_found_to_the_byte_and_mended_ones_are_not() {
    let program = corpus::component("leaks");
    let (fozzy, top) = leaks(&program, &["planted"], 0);
    let found = of_kind(&top, "leak");
    assert_eq!((&top["leakedBytes"], &top["leakedAllocs"]), (&3116.into(), &4.into()), "{top:#}");
    let at =
        |name: &str| found.iter().find(|(label, ..)| label.contains(name)).map(|(_, bytes, blocks)| (*bytes, *blocks));
    assert_eq!((at("forgotten"), at("cycle")), (Some((3000, 3)), Some((116, 1))), "{top:#}");
    assert!(found.iter().all(|(label, ..)| label.contains("main.rs:")), "{top:#}");
    fozzy.run(&["memory", "top", "a.fozzy", "--fail-on-leak"]).exits(1);
    fozzy.run(&["memory", "top", "a.fozzy", "--leak-budget", "3116"]).exits(0);
    fozzy.run(&["memory", "top", "a.fozzy", "--leak-budget", "3115"]).exits(1);

    let all = heap(&fozzy);
    let rows = all["functions"].as_array().expect("a list");
    let own = |row: &Value| row["own"].as_u64().expect("a number");
    assert_eq!(rows.iter().map(own).sum::<u64>(), all["allocBytes"].as_u64().expect("a number"), "{all:#}");
    let is_of_program = |row: &&Value| row["file"].as_str().is_some_and(|file| file.ends_with("main.rs"));
    let forgotten = rows
        .iter()
        .filter(is_of_program)
        .find(|row| row["function"].as_str().is_some_and(|name| name.contains("forgotten")));
    assert!(forgotten.is_some_and(|row| own(row) >= 3000), "blocks are the program's, not of `alloc::alloc`: {all:#}");

    let (mended, none) = leaks(&program, &["mended"], 0);
    assert_eq!((&none["leakedBytes"], &none["leakedAllocs"]), (&0.into(), &0.into()), "{none:#}");
    mended.run(&["memory", "top", "a.fozzy", "--fail-on-leak"]).exits(0);
    std::fs::copy(mended.path("a.fozzy"), fozzy.path("mended.fozzy")).expect("it was recorded");
    let diff = fozzy.run(&["memory", "diff", "mended.fozzy", "a.fozzy", "--json"]).exits(0).json();
    assert_eq!((&diff["deltaLeakedBytes"], &diff["deltaLeakedAllocs"]), (&3116.into(), &4.into()), "{diff:#}");
    let shown = fozzy.run(&["memory", "diff", "mended.fozzy", "a.fozzy"]).exits(0).out();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = shown.lines().map(words).collect();
    assert!(lines.iter().any(|line| line == "leaked 0 bytes 3.0 KiB 3.0 KiB more"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");

    // What a run holds when it ends in the middle is no certain leak.
    for (how, code) in [("exit", 1), ("panic", 4), ("trap", 4)] {
        let (_, top) = leaks(&program, &["mended", how], code);
        assert_eq!((top["leakedBytes"].as_u64(), of_kind(&top, "leak").len()), (Some(0), 0), "{how}: {top:#}");
    }
}

#[test]
fn growth_is_told_by_flow_and_sums_up_to_the_heap_of_the_run() {
    let fozzy = Fozzy::new();
    std::fs::copy(corpus::component("books"), fozzy.path("books.wasm")).expect("it is built");
    fozzy.run(&["run", "books.wasm", "--seed", "1", "--record", "a.fozzy", "--no-store"]).exits(0);
    let top = fozzy.run(&["memory", "top", "a.fozzy", "--json"]).exits(0).json();
    let rows = top["flows"].as_array().unwrap_or_else(|| panic!("{top:#}"));
    let sum = |key: &str| rows.iter().map(|row| row[key].as_i64().expect("a number")).sum::<i64>();
    let all = heap(&fozzy);
    let of_run = |key: &str| all[key].as_i64().expect("a number");
    for (of_flows, of_all) in [("allocBytes", "allocBytes"), ("allocCount", "allocCount"), ("freeCount", "freeCount")] {
        assert_eq!(sum(of_flows), of_run(of_all), "{of_flows}: {top:#}");
    }
    for (of_flows, of_all) in
        [("growthBytes", "inUseBytes"), ("inUseBytes", "inUseBytes"), ("leakedBytes", "leakedBytes")]
    {
        assert_eq!(sum(of_flows), of_run(of_all), "{of_flows}: {top:#}");
    }
    let of = |flow: &str, key: &str| {
        let row = rows.iter().find(|row| row["flow"] == flow).unwrap_or_else(|| panic!("{flow}: {top:#}"));
        row[key].as_i64().expect("a number")
    };
    assert!(of("lose", "leakedBytes") > 0 && of("lose", "leakedBytes") % 700 == 0, "{top:#}");
    assert_eq!(of("lose", "growthBytes"), of("lose", "leakedBytes"), "{top:#}");
    assert!(of("give_back", "growthBytes") < 0 && of("give_back", "allocBytes") == 0, "{top:#}");
    assert!(of("lend", "growthBytes") > -of("give_back", "growthBytes"), "{top:#}");
    // What holds a property's place is made when the first flow of a sequence asks for it.
    assert!(of("copy", "growthBytes") * 20 < of("copy", "allocBytes"), "{top:#}");
    let text = fozzy.run(&["memory", "top", "a.fozzy"]).exits(0).out();
    assert!(text.lines().any(|line| line == "by flow") && text.lines().any(|line| line.ends_with("  lose")), "{text}");
}

#[test]
fn planted_leaks_in_c_are_found_to_the_byte_and_mended_ones_are_not() {
    let program = corpus::program_in_c("leaks");
    let (fozzy, top) = leaks(&program, &["planted"], 0);
    assert_eq!((&top["leakedBytes"], &top["leakedAllocs"]), (&320.into(), &6.into()), "{top:#}");
    let found = of_kind(&top, "leak");
    let at = |name: &str| {
        found.iter().find(|(label, ..)| label.starts_with(name)).map(|(_, bytes, blocks)| (*bytes, *blocks))
    };
    assert_eq!((at("leak"), at("zeroed")), (Some((200, 5)), Some((120, 1))), "{top:#}");
    let graph = fozzy.run(&["memory", "graph", "a.fozzy", "--format", "dot"]).exits(0).out();
    assert!(graph.starts_with("digraph memory {") && graph.contains("moved"), "{graph}");
    let (_, none) = leaks(&program, &["mended"], 0);
    assert_eq!((&none["leakedBytes"], &none["leakedAllocs"]), (&0.into(), &0.into()), "{none:#}");
}

#[test]
fn heaps_of_two_folders_have_equal_bytes_and_balance_in_every_format() {
    let program = corpus::component("leaks");
    let formats = ["folded", "svg", "speedscope", "pprof", "massif", "dhat"];
    let [first, again] = [(), ()].map(|()| {
        let (fozzy, _) = leaks(&program, &["planted"], 0);
        let mut outputs = vec![fozzy.run(&["profile", "top", "a.fozzy", "--heap", "--json"]).exits(0).stdout];
        for format in formats {
            fozzy.run(&["profile", "export", "a.fozzy", "--heap", "--format", format, "--out", format]).exits(0);
            outputs.push(fozzy.read(format));
        }
        outputs
    });
    assert!(first == again, "the same run, in two folders and at two times, has equal bytes");
    let top: Value = serde_json::from_slice(&first[0]).expect("it is JSON");
    let [total, live] = ["allocBytes", "inUseBytes"].map(|key| top["heap"][key].as_u64().expect("a number"));
    let text = |position: usize| String::from_utf8(first[position].clone()).expect("it is text");
    let last = |line: &str| line.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok()).expect("a number");
    assert_eq!(text(1).lines().map(last).sum::<u64>(), total, "folded stacks");
    let speedscope: Value = serde_json::from_slice(&first[3]).expect("it is JSON");
    let weights = speedscope["profiles"][0]["weights"].as_array().expect("a list").iter();
    assert_eq!(weights.filter_map(Value::as_u64).sum::<u64>(), total);
    let dhat: Value = serde_json::from_slice(&first[6]).expect("it is JSON");
    let points = dhat["pps"].as_array().expect("a list");
    let sum = |key: &str| points.iter().filter_map(|point| point[key].as_u64()).sum::<u64>();
    assert_eq!((sum("tb"), sum("eb")), (total, live));
    let massif = text(5);
    let end = massif.lines().filter_map(|line| line.strip_prefix("mem_heap_B=")).next_back();
    assert_eq!(end.and_then(|bytes| bytes.parse().ok()), Some(live), "the last snapshot is the end");
}

#[test]
fn massif_and_pprof_are_read_by_their_own_readers() {
    let annotate = corpus::callgrind_annotate();
    let (go, cache) = corpus::go();
    let (fozzy, _) = leaks(&corpus::component("leaks"), &["planted"], 0);
    for format in ["massif", "pprof"] {
        fozzy.run(&["profile", "export", "a.fozzy", "--heap", "--format", format, "--out", format]).exits(0);
    }
    let read = wait::run(fozzy.command(&annotate.with_file_name("ms_print")).arg("massif"));
    let text = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(read.status.success() && read.stderr.is_empty(), "{text}{}", String::from_utf8_lossy(&read.stderr));
    assert!(text.contains("(heap allocation functions)") && text.contains("forgotten"), "{text}");
    let mut pprof = fozzy.command(&go);
    pprof.args(["tool", "pprof", "-top", "-sample_index=inuse_space", "pprof"]).env("GOCACHE", cache);
    let read = wait::run(&mut pprof);
    let text = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(read.status.success(), "{text}{}", String::from_utf8_lossy(&read.stderr));
    assert!(text.contains("Type: inuse_space") && text.contains("forgotten"), "{text}");
}
