//! Counts of instructions: exact for every way a run can end, equal each time, and in every format.
//!
//! ```text
//! program ─▶ run with counts ─▶ instructions and calls by path = what is counted by hand
//! trace ─▶ fozzy profile, in two folders ─▶ equal bytes, whose numbers sum up to the run's
//! ```
//!
//! Generated modules are compared with fuel in `instrumented/generated.rs`.

use crate::corpus;
use crate::fozzy::Fozzy;
use crate::wait;
use fozzy_engine::{Build, Program, ProgramProfile, Session, Switches};
use fozzy_instrument::ProfileCounter;
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{ExecutionEnd, Executor, Plan, Seed};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a run has counted.
struct CountedRun {
    end: ExecutionEnd,
    instructions: u64,
    calls: u64,
    bulk_bytes: u64,
    paths: usize,
    plain: ExecutionEnd,
}

fn execute(program: &str, build: &Build) -> (ExecutionEnd, Session) {
    let text = format!(
        "(module (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))
           (memory (export \"memory\") 1) {program})"
    );
    let module = wat::parse_str(text).expect("the test's module parses");
    let component = fozzy_engine::load(&module, None).expect("a program").component;
    let program = Program::new_as(component.into(), Switches::of(&Plan::default()), build, None).expect("it compiles");
    let mut session = Session::new(program, Arc::new(Plan::default()), &Inputs::default()).expect("a plan of ours");
    let execution = session.execute(Box::new(SeededSource::new(Seed(3))), 0..0).expect("this machine is fit");
    (execution.end, session)
}

fn count(program: &str) -> CountedRun {
    let (plain, _) = execute(program, &Build::default());
    let (end, session) = execute(program, &Build::profile());
    let profiles: Vec<&ProgramProfile> = session.profiles().values().collect();
    assert_eq!(profiles.len(), 1, "{program}");
    let sites = session.program().profile_sites();
    let mut counted =
        CountedRun { end, plain, instructions: 0, calls: 0, bulk_bytes: 0, paths: profiles[0].paths().len() };
    for path in profiles[0].paths() {
        let function = sites.function(path.step.module, path.step.function).expect("it is counted");
        counted.calls += path.counters[0];
        for (value, counter) in path.counters.iter().zip(&function.counters) {
            match counter {
                ProfileCounter::Segment(operators) => counted.instructions += value * operators.len() as u64,
                ProfileCounter::Bytes(_) => counted.bulk_bytes += value,
            }
        }
        counted.instructions -= path.cuts.iter().map(|((_, last), times)| *last as u64 * times).sum::<u64>();
    }
    counted
}

/// Programs, how they end, and how many instructions and calls that takes.
const ENDINGS: &[(&str, &str, u64, u64)] = &[
    ("exit with code 0", "(func (export \"_start\") i32.const 1 drop nop)", 1, 1),
    (
        "a function with a result",
        "(func $f (result i32) i32.const 2 i32.const 3 i32.add) (func (export \"_start\") call $f drop)",
        4,
        2,
    ),
    (
        "a trap between others",
        "(func $f i32.const 1 drop i32.const -1 i32.load drop i32.const 5 drop) (func (export \"_start\") call $f i32.const 1 drop)",
        4,
        2,
    ),
    (
        "a trap behind a call",
        "(func $n) (func (export \"_start\") call $n i32.const 1 i32.const 0 i32.div_s drop i32.const 1 drop)",
        4,
        2,
    ),
    ("unreachable", "(func $f i32.const 1 drop unreachable) (func (export \"_start\") call $f i32.const 1 drop)", 2, 2),
    (
        "exit in a nested call",
        "(func $f i32.const 3 call $exit i32.const 9 drop) (func (export \"_start\") call $f i32.const 1 drop)",
        3,
        2,
    ),
    (
        "tail calls",
        "(func $f (param i32) (result i32) local.get 0 i32.eqz if (result i32) i32.const 7 else
           local.get 0 i32.const 1 i32.sub return_call $f end)
         (func (export \"_start\") i32.const 10 call $f drop)",
        2 + 11 * 3 + 10 * 4 + 1,
        12,
    ),
    (
        "a loop",
        "(func (export \"_start\") (local i32) loop local.get 0 i32.const 1 i32.add local.tee 0 i32.const 10 i32.lt_u br_if 0 end)",
        70,
        1,
    ),
    (
        "a branch over others",
        "(func (export \"_start\") block i32.const 1 br_if 0 i32.const 2 drop end i32.const 3 drop)",
        3,
        1,
    ),
    (
        "an exception that is caught",
        "(tag $t) (func $f throw $t) (func (export \"_start\") block try_table (catch $t 0) call $f end
           i32.const 1 drop end i32.const 2 drop call $g) (func $g)",
        5,
        3,
    ),
    (
        "an exception through frames, thrown again, and behind a tail call",
        "(tag $t (param i32))
         (func $deep (param i32) local.get 0 i32.eqz if i32.const 7 throw $t end local.get 0 i32.const 1 i32.sub call $deep)
         (func $again (param i32) (local exnref)
           block $h (result exnref) try_table (catch_all_ref $h) local.get 0 call $deep end return end local.set 1
           local.get 1 throw_ref)
         (func $tail (param i32) local.get 0 return_call $deep)
         (func (export \"_start\")
           block try_table (catch_all 0) i32.const 2 call $again end end
           block try_table (catch_all 0) i32.const 0 call $tail end end i32.const 1 drop)",
        // The first block, what it calls and throws again, three calls of `deep`; the second block, its call, `deep`, and the rest.
        3 + (3 + 1 + 2) + (2 * 7 + 5) + 3 + 2 + 5 + 1,
        7,
    ),
    (
        "two ways of recursion",
        "(func $f (param i32) (result i32) local.get 0 i32.const 2 i32.lt_u if (result i32) local.get 0 else
           local.get 0 i32.const 1 i32.sub call $f local.get 0 i32.const 2 i32.sub call $f i32.add end)
         (func (export \"_start\") i32.const 10 call $f drop)",
        // 177 calls, 88 of which call twice.
        2 + 177 * 4 + 89 + 88 * 9,
        178,
    ),
    (
        "calls through a table",
        "(table funcref (elem $a $b)) (func $a (result i32) i32.const 1) (func $b (result i32) i32.const 0 i32.const 2 i32.add)
         (func (export \"_start\") (local i32) loop local.get 0 i32.const 1 i32.and call_indirect (result i32) drop
           local.get 0 i32.const 1 i32.add local.tee 0 i32.const 6 i32.lt_u br_if 0 end)",
        6 * 11 + 3 + 3 * 3,
        7,
    ),
];

#[test]
fn every_ending_has_exactly_its_instructions() {
    for (what, program, instructions, calls) in ENDINGS {
        let found = count(program);
        assert_eq!(found.end, found.plain, "{what}: it ends as without counts");
        assert_eq!((found.instructions, found.calls), (*instructions, *calls), "{what}: instructions and calls");
    }
}

#[test]
fn a_stack_that_is_used_up_has_counted_each_call() {
    let found = count("(func $f call $f) (func (export \"_start\") call $f)");
    assert_eq!(found.end, found.plain);
    assert!(matches!(&found.end, ExecutionEnd::Trapped { trap } if trap == "call stack exhausted"), "{:?}", found.end);
    // The last call was begun and found no room.
    assert_eq!(found.instructions, found.calls);
    assert!(found.calls > 1_000, "{}", found.calls);
    assert_eq!(found.paths, 3, "recursion is folded");
}

#[test]
fn what_bulk_operations_move_is_counted_apart() {
    let filled = count("(func (export \"_start\") i32.const 0 i32.const 1 i32.const 1000 memory.fill)");
    assert_eq!((filled.instructions, filled.bulk_bytes), (4, 1000));
    // One that traps moves nothing.
    let refused = count("(func (export \"_start\") i32.const 0 i32.const 1 i32.const -1 memory.fill i32.const 1 drop)");
    assert_eq!((refused.instructions, refused.bulk_bytes), (4, 0));
}

#[test]
fn a_profile_names_functions_and_lines_and_balances_in_every_format() {
    let formats = [
        "folded",
        "svg",
        "speedscope",
        "pprof",
        "callgrind",
        "massif",
        "dhat",
        "chrome",
        "firefox",
        "otlp",
        "otlp-protobuf",
    ];
    let [first, again] = [(), ()].map(|()| {
        let fozzy = Fozzy::new();
        std::fs::copy(corpus::scenario("parser", false), fozzy.path("parser.wasm")).expect("it is built");
        fozzy.run(&["run", "parser.wasm", "--seed", "0", "--record", "a.fozzy"]).exits(4);
        let mut outputs = vec![fozzy.run(&["profile", "top", "a.fozzy", "--json"]).exits(0).stdout];
        for format in formats {
            fozzy.run(&["profile", "export", "a.fozzy", "--format", format, "--out", format]).exits(0);
            outputs.push(fozzy.read(format));
        }
        outputs
    });
    assert!(first == again, "the same run, in two folders and at two times, has equal bytes");
    let top: serde_json::Value = serde_json::from_slice(&first[0]).expect("it is JSON");
    let total = top["cpu"]["instructions"].as_u64().expect("a number");
    let functions = top["cpu"]["functions"].as_array().expect("a list");
    let parse = functions.iter().find(|row| row["function"] == "parse").expect("it is among the first ten");
    assert!(parse["file"].as_str().is_some_and(|file| file.ends_with("parser/src/lib.rs")), "{parse}");
    assert!(parse["inclusive"].as_u64() <= Some(total) && parse["own"].as_u64() < parse["inclusive"].as_u64());
    let text = |position: usize| String::from_utf8(first[position].clone()).expect("it is text");
    let last = |line: &str| line.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok()).expect("a number");
    assert_eq!(text(1).lines().map(last).sum::<u64>(), total, "folded stacks");
    assert!(text(1).lines().collect::<BTreeSet<_>>().len() == text(1).lines().count(), "each stack stands once");
    let svg = text(2);
    let drawing = roxmltree::Document::parse(&svg).expect("it is XML");
    let root = drawing.root_element();
    assert_eq!(root.attribute("data-total").and_then(|total| total.parse().ok()), Some(total));
    let frames = root.children().filter(|node| node.attribute("class") == Some("f"));
    assert!(frames.count() > 20, "it has frames");
    let speedscope: serde_json::Value = serde_json::from_slice(&first[3]).expect("it is JSON");
    let weights = speedscope["profiles"][0]["weights"].as_array().expect("a list").iter();
    assert_eq!(weights.filter_map(serde_json::Value::as_u64).sum::<u64>(), total);
    let callgrind = text(5);
    assert_eq!(own_of_callgrind(&callgrind), total);
    assert!(callgrind.contains(&format!("\ntotals: {total} ")), "it says so itself");
}

/// The sum of all costs that are not of a call.
fn own_of_callgrind(text: &str) -> u64 {
    let mut is_call = false;
    let mut sum = 0;
    for line in text.lines() {
        if line.starts_with(|c: char| c.is_ascii_digit()) && !std::mem::take(&mut is_call) {
            sum += line.split(' ').nth(1).and_then(|word| word.parse::<u64>().ok()).expect("a number");
        }
        is_call |= line.starts_with("calls=");
    }
    sum
}

#[test]
fn programs_that_catch_exceptions_are_counted_covered_and_debugged() {
    let fozzy = Fozzy::new();
    // Exceptions are objects of the engine, whose memory has other contents in each build.
    fozzy.write(
        "catches.wat",
        "(module (memory (export \"memory\") 1) (tag $t (param i32))
          (func $throws (param i32) (throw $t (local.get 0)))
          (func $catches (param i32) (result i32)
            (block $h (result i32) (try_table (catch $t $h) (call $throws (local.get 0))) (i32.const 0)))
          (func (export \"_start\") (drop (call $catches (i32.const 7))) (drop (call $catches (i32.const 8)))))",
    );
    fozzy.run(&["run", "catches.wat", "--record", "c.fozzy"]).exits(0);
    let top = fozzy.run(&["profile", "top", "c.fozzy", "--cpu", "--json"]).exits(0).json();
    assert_eq!((&top["cpu"]["instructions"], &top["cpu"]["calls"]), (&14.into(), &5.into()), "{top:#}");
    fozzy.run(&["profile", "doctor", "c.fozzy", "--deep"]).exits(0);
    assert!(!fozzy.run(&["coverage", "c.fozzy"]).exits(0).err().contains("not the recorded run"));
    let ended = fozzy.run_with_stdin(&["debug", "c.fozzy"], b"goto end\n").exits(0).out();
    assert!(ended.contains("end of the run, position 14,") && !ended.contains("not the recorded run"), "{ended}");
}

/// A program of six functions that call each other in three layers; function `more` does a little more work than in the others.
fn layered(program: u32, more: Option<u32>) -> String {
    let rounds = |function: u32| {
        5 + (program * 7 + function * 3) % 11 + if more == Some(function) { 1 + program % 3 } else { 0 }
    };
    let body = |function: u32, calls: &str| {
        format!(
            "(func $f{function} (local i32) {calls} (local.set 0 (i32.const {}))
               (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))",
            rounds(function)
        )
    };
    let calls = [
        "(call $f2) (call $f3)",
        "(call $f3) (call $f4) (call $f4)",
        "(call $f5)",
        "(call $f5) (call $f5)",
        "(call $f5)",
        "",
    ];
    let functions: String = (0..6).zip(calls).map(|(function, calls)| body(function, calls)).collect();
    format!("(module (memory (export \"memory\") 1) {functions} (func (export \"_start\") (call $f0) (call $f1)))")
}

#[test]
fn a_function_that_does_more_is_named_in_twenty_programs_and_equal_runs_differ_in_nothing() {
    let fozzy = Fozzy::new();
    let record = |name: &str, text: String| {
        fozzy.write("p.wat", text);
        fozzy.run(&["run", "p.wat", "--record", name, "--no-store"]).exits(0);
    };
    let mut named = 0;
    for program in 0..20 {
        let planted = program % 6;
        let [before, again, after] = ["b", "a", "c"].map(|side| format!("{side}{program}.fozzy"));
        record(&before, layered(program, None));
        record(&again, layered(program, None));
        record(&after, layered(program, Some(planted)));
        let diff = |left: &str, right: &str| fozzy.run(&["profile", "diff", left, right, "--json"]).exits(0).json();
        let equal = diff(&before, &again);
        assert_eq!((&equal["summary"]["verdict"], &equal["regressions"]), (&"equal".into(), &serde_json::json!([])));
        let found = diff(&before, &after);
        let rows = found["regressions"].as_array().expect("a list");
        let mut metrics = rows.iter().filter_map(|row| row["metric"].as_str());
        let first = metrics.find(|metric| metric.starts_with("function ")).unwrap_or_default();
        named += u32::from(first == format!("function f{planted}"));
        let explained = fozzy.run(&["profile", "explain", &after, "--diff-with", &before, "--json"]).exits(0).json();
        let path = explained["topShiftedPath"].to_string();
        assert!(path.ends_with(&format!("\"f{planted}\"]")), "{explained:#}");
    }
    assert!(named >= 19, "{named} of 20");
}

/// A client and a server over the network, recorded as `n.fozzy`.
fn two_machines() -> Fozzy {
    let fozzy = Fozzy::new();
    for name in ["net-client", "net-server"] {
        std::fs::copy(corpus::component(name), fozzy.path(&format!("{name}.wasm"))).expect("it is built");
    }
    let plan = "args = [\"http://server:8080\", \"--requests\", \"3\"]\n[network]\nlatency = \"2ms\"\n[[node]]\nname = \"server\"\n\
                component = \"net-server.wasm\"\nargs = [\"0.0.0.0:8080\"]\n";
    fozzy.write("plan.toml", plan);
    fozzy.run(&["run", "net-client.wasm", "--plan", "plan.toml", "--seed", "3", "--record", "n.fozzy"]).exits(0);
    fozzy
}

fn sum(rows: &serde_json::Value, key: &str) -> u64 {
    rows.as_array().expect("a list").iter().filter_map(|row| row[key].as_u64()).sum()
}

#[test]
fn the_time_of_two_machines_is_who_waited_for_whom() {
    let fozzy = two_machines();
    let top = fozzy.run(&["profile", "top", "n.fozzy", "--limit", "1000", "--json"]).exits(0).json();
    let [latency, io, sched] = ["latency", "io", "sched"].map(|domain| &top[domain]);
    let length = latency["durationNs"].as_u64().expect("a number");
    assert!(length > 8_000_000, "a connection and an answer take two round trips: {latency:#}");
    assert_eq!(sum(&latency["criticalPath"], "totalNs"), length, "{latency:#}");
    let from_server = |row: &serde_json::Value| row["doing"] == "travels" && row["what"] == "server";
    let path = latency["criticalPath"].as_array().expect("a list");
    assert!(path.iter().any(|row| from_server(row) && row["totalNs"].as_u64() >= Some(2_000_000)), "{latency:#}");
    let waits = latency["waits"].as_array().expect("a list");
    assert!(waits.iter().any(|row| row["machine"] == "main" && row["of"] == "server"), "{latency:#}");
    // What the machines did divides their time, up to the end of the run, at which the server still waits.
    let machines = sched["machines"].as_array().expect("a list");
    for machine in machines {
        let at = |key: &str| machine[key].as_u64();
        let life = at("endedNs").unwrap_or(length) - at("startedNs").expect("it ran");
        assert_eq!(at("waitedNs").zip(at("runningNs")).map(|(waited, ran)| waited + ran), Some(life), "{sched:#}");
    }
    let spent = sum(&sched["machines"], "waitedNs") + sum(&sched["machines"], "runningNs");
    assert!(sum(&latency["calls"], "totalNs") < spent, "the last wait is of no call that was answered: {latency:#}");
    assert_eq!((machines.len(), sched["turns"].as_u64()), (2, Some(sum(&sched["machines"], "turns"))));
    // What one wrote the other read.
    let bytes = |machine: &str, key: &str| -> u64 {
        let rows = io["channels"].as_array().expect("a list").iter();
        rows.filter(|row| row["machine"] == machine && row["kind"] == "connection")
            .filter_map(|row| row[key].as_u64())
            .sum()
    };
    assert_eq!(bytes("main", "writtenBytes"), bytes("server", "readBytes"), "{io:#}");
    assert_eq!(bytes("server", "writtenBytes"), bytes("main", "readBytes"), "{io:#}");
    assert!(bytes("main", "readBytes") > 100);
    // The instructions of both machines are the total.
    let folded = fozzy.run(&["profile", "flame", "n.fozzy"]).exits(0).out();
    let own = |machine: &str| -> u64 {
        let lines = folded.lines().filter(|line| line.starts_with(machine));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
    };
    assert_eq!(own("[main]") + own("[server]"), top["cpu"]["instructions"].as_u64().expect("a number"));
    assert!(own("[main]") > 0 && own("[server]") > 0);
    let (used, sandbox) = (top["cpu"]["used"].as_u64(), top["cpu"]["sandbox"].as_u64());
    assert_eq!(used, sandbox.map(|sandbox| sandbox + own("[main]")), "what the first machine used");
}

#[test]
fn a_timeline_has_slices_that_nest_and_messages_that_arrive() {
    let fozzy = two_machines();
    fozzy.run(&["profile", "timeline", "n.fozzy", "--format", "chrome", "--out", "t.json"]).exits(0);
    let trace: serde_json::Value = serde_json::from_slice(&fozzy.read("t.json")).expect("it is JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).collect::<Vec<_>>();
    let number = |event: &serde_json::Value, key: &str| event[key].as_f64().expect("a number");
    let mut tracks: std::collections::BTreeMap<(u64, u64), Vec<(f64, f64)>> = std::collections::BTreeMap::new();
    for slice in of("X") {
        let track = (slice["pid"].as_u64().expect("a process"), slice["tid"].as_u64().expect("a track"));
        let from = number(slice, "ts");
        tracks.entry(track).or_default().push((from, from + number(slice, "dur")));
    }
    assert_eq!(tracks.len(), 6, "calls, waits and turns of two machines");
    for slices in tracks.values_mut() {
        slices.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut open: Vec<f64> = Vec::new();
        for (from, to) in slices {
            open.retain(|end| *end > *from);
            assert!(open.iter().all(|end| *to <= *end + 1e-6), "slices of a track nest");
            open.push(*to);
        }
    }
    let (sent, read) = (of("s"), of("f"));
    assert!(sent.len() > 5, "{} messages", sent.len());
    let ids =
        |flows: &[&serde_json::Value]| flows.iter().filter_map(|flow| flow["id"].as_u64()).collect::<BTreeSet<u64>>();
    assert_eq!(ids(&sent), ids(&read));
    assert!(sent.iter().zip(&read).all(|(sent, read)| number(sent, "ts") <= number(read, "ts")));
    let said = |event: &&&serde_json::Value| event["name"] == "listening on 0.0.0.0:8080" && event["cat"] == "stdout";
    assert_eq!(of("i").iter().filter(said).count(), 1, "a line of output");
    fozzy.run(&["profile", "export", "n.fozzy", "--format", "chrome", "--out", "e.json"]).exits(0);
    assert!(fozzy.read("e.json") == fozzy.read("t.json"), "one writer");
    // The same run for another viewer, with the instructions of each machine.
    fozzy.run(&["profile", "export", "n.fozzy", "--format", "firefox", "--out", "f.json"]).exits(0);
    let profile: serde_json::Value = serde_json::from_slice(&fozzy.read("f.json")).expect("it is JSON");
    let folded = fozzy.run(&["profile", "flame", "n.fozzy"]).exits(0).out();
    for thread in profile["threads"].as_array().expect("a list") {
        let machine = thread["processName"].as_str().expect("a name");
        let own = folded.lines().filter(|line| line.starts_with(&format!("[{machine}]")));
        let own: u64 = own.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum();
        let weights = thread["samples"]["weight"].as_array().expect("a list").iter();
        assert_eq!(weights.filter_map(serde_json::Value::as_u64).sum::<u64>(), own, "{machine}");
        assert!(own > 0 && thread["markers"]["length"].as_u64() > Some(50), "{machine}");
    }
    let heap = ["profile", "export", "n.fozzy", "--heap", "--format", "chrome", "--out", "h.json"];
    fozzy.run(&heap).refuses(&["chrome shows no heap"]);
    // The page is one, and stands alone.
    let page = fozzy.run(&["profile", "timeline", "n.fozzy", "--format", "html"]).exits(0).out();
    assert!(page.starts_with("<!doctype html>") && page.contains("server"), "{page}");
    assert!(!page.contains("src=") && !page.contains("href="), "it asks for nothing");
    fozzy.run(&["profile", "doctor", "n.fozzy", "--deep"]).exits(0);
}

#[test]
fn runs_of_which_there_is_little_to_show_are_exported_and_say_so() {
    let fozzy = Fozzy::new();
    fozzy.write("empty.wat", "(module (func (export \"_start\")))");
    // The name of a function is what a hostile program wants it to be.
    fozzy.write(
        "hostile.wat",
        r#"(module (func $"\"}]<script>\00\ff" (export "_start") (local i32) loop local.get 0 i32.const 1 i32.add
            local.tee 0 i32.const 9 i32.lt_u br_if 0 end))"#
            .replace(r"\00\ff", ""),
    );
    for name in ["empty", "hostile"] {
        fozzy.run(&["run", &format!("{name}.wat"), "--record", "a.fozzy", "--no-store"]).exits(0);
        for format in ["chrome", "firefox", "otlp", "otlp-protobuf"] {
            let written = fozzy.run(&["profile", "export", "a.fozzy", "--format", format, "--out", format]).exits(0);
            assert!(written.out().contains("took no virtual time"), "{name}: {}", written.out());
        }
        for format in ["chrome", "firefox", "otlp"] {
            let document: serde_json::Value = serde_json::from_slice(&fozzy.read(format)).expect("it is JSON");
            assert!(document.to_string().contains("main"), "the machine is there");
        }
    }
    let cut = fozzy.read("a.fozzy");
    fozzy.write("cut.fozzy", &cut[..cut.len() / 2]);
    fozzy.run(&["profile", "export", "cut.fozzy", "--format", "otlp", "--out", "none"]).exits(2);
    assert!(!fozzy.path("none").exists());
}

/// Functions of the program in which regressions are planted.
const FUNCTIONS: usize = 20;

/// A program that calls each of its functions, whose loops have as many turns as `turns` says.
fn looping(turns: impl Fn(usize) -> u32) -> String {
    let function = |n: usize| {
        format!(
            "(func $f{n} (local i32) loop local.get 0 i32.const 1 i32.add local.tee 0 i32.const {} i32.lt_u br_if 0 end)",
            turns(n)
        )
    };
    let functions: String = (0..FUNCTIONS).map(function).collect();
    let calls: String = (0..FUNCTIONS).map(|n| format!("call $f{n} ")).collect();
    format!("(module (memory (export \"memory\") 1) {functions} (func (export \"_start\") {calls}))")
}

#[test]
fn a_planted_regression_is_named() {
    let fozzy = Fozzy::new();
    let record = |name: &str, program: String| {
        fozzy.write(&format!("{name}.wat"), program);
        let trace = format!("{name}.fozzy");
        fozzy.run(&["run", &format!("{name}.wat"), "--record", &trace, "--no-store"]).exits(0);
        trace
    };
    let usual = |n: usize| 50 + 10 * n as u32;
    let before = record("before", looping(usual));
    let diff = |after: &str| fozzy.run(&["profile", "diff", &before, after, "--cpu", "--json"]).exits(0).json();
    assert_eq!(diff(&before)["summary"]["verdict"], "equal");
    let found = (0..FUNCTIONS).filter(|planted| {
        let after = record("after", looping(|n| usual(n) + u32::from(n == *planted) * 3));
        std::fs::rename(fozzy.path(&after), fozzy.path("planted.fozzy")).expect("it was recorded");
        diff("planted.fozzy")["summary"]["topRegressionMetric"] == format!("cpu: function f{planted}")
    });
    assert_eq!(found.count(), FUNCTIONS);
    let explained =
        fozzy.run(&["profile", "explain", "planted.fozzy", "--diff-with", &before, "--json"]).exits(0).json();
    assert_eq!(
        explained["topShiftedPath"].as_array().and_then(|path| path.last()),
        Some(&"f19".into()),
        "{explained:#}"
    );
}

#[test]
fn readers_of_other_tools_accept_what_is_exported() {
    let schema = corpus::speedscope_schema();
    let fozzy = two_machines();
    let export = |format: &str| {
        fozzy.run(&["profile", "export", "n.fozzy", "--format", format, "--out", format]).exits(0);
        fozzy.path(format)
    };
    let top = fozzy.run(&["profile", "top", "n.fozzy", "--cpu", "--json"]).exits(0).json();
    let total = top["cpu"]["instructions"].as_u64().expect("a number");
    // speedscope, by the schema in its own package.
    let schema: serde_json::Value =
        serde_json::from_slice(&std::fs::read(schema).expect("it is installed")).expect("it is JSON");
    let profile: serde_json::Value =
        serde_json::from_slice(&std::fs::read(export("speedscope")).expect("it is there")).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors: Vec<String> = validator.iter_errors(&profile).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    // callgrind, by its reader; without sources, where it stumbles over files of which no line is known.
    let mut callgrind = fozzy.command(&corpus::callgrind_annotate());
    let read = wait::run(callgrind.arg("--auto=no").arg(export("callgrind")));
    let text = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(read.status.success() && read.stderr.is_empty(), "{text}{}", String::from_utf8_lossy(&read.stderr));
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let totals = text.lines().find(|line| line.contains("PROGRAM TOTALS")).expect("it has totals");
    assert!(digits(totals.split_whitespace().next().expect("a number")) == total.to_string(), "{totals}");
    // pprof, by Go's.
    let (go, cache) = corpus::go();
    let mut pprof = fozzy.command(&go);
    pprof.args(["tool", "pprof", "-top", "-sample_index=instructions"]).arg(export("pprof")).env("GOCACHE", cache);
    let read = wait::run(&mut pprof);
    let text = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(read.status.success(), "{text}{}", String::from_utf8_lossy(&read.stderr));
    assert!(text.contains(&format!("of {total} total")), "{text}");
    // OTLP, by the messages of OpenTelemetry: both encodings are the same, and all references are there.
    let (json, protobuf) = (export("otlp"), export("otlp-protobuf"));
    let mut reader = fozzy.command(std::path::Path::new("python3"));
    reader.args(["-c", READ_OTLP]).args([&json, &protobuf]).env("PYTHONPATH", corpus::open_telemetry());
    let read = wait::run(&mut reader);
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let said = String::from_utf8_lossy(&read.stdout).into_owned();
    assert_eq!(said, "main server\nstdout listening on 0.0.0.0:8080\n");
}

/// Reads a trace of OpenTelemetry in both encodings.
const READ_OTLP: &str = r#"
import base64, json, sys
from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

def ids_as_bytes(value):  # the one exception of OTLP from the usual encoding
    if isinstance(value, list):
        return [ids_as_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in ids else ids_as_bytes(v) for k, v in value.items()}

of_json = json_format.ParseDict(ids_as_bytes(json.load(open(sys.argv[1]))), TracesData())
traces = TracesData()
traces.ParseFromString(open(sys.argv[2], "rb").read())
assert of_json == traces
machines = [(r.resource.attributes[0].value.string_value, s) for r in traces.resource_spans for s in r.scope_spans]
spans = [span for _, scope in machines for span in scope.spans]
known = {span.span_id for span in spans}
assert len(known) == len(spans) > 150 and len({span.trace_id for span in spans}) == 1
for span in spans:
    assert len(span.span_id) == 8 and len(span.trace_id) == 16 and any(span.trace_id)
    assert span.start_time_unix_nano <= span.end_time_unix_nano and span.start_time_unix_nano > 1735689600 * 10**9 - 1
    assert not span.parent_span_id or span.parent_span_id in known
    assert all(link.span_id in known for link in span.links)
assert sum(len(span.links) for span in spans) > 5
print(*[name for name, _ in machines])
event = machines[1][1].spans[0].events[0]
print(event.name, event.attributes[0].value.string_value)
"#;
