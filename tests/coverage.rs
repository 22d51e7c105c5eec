//! Coverage of recorded runs: the same run as without, the same numbers each time, in C, Rust and JavaScript.
//!
//! ```text
//! record ─▶ trace ─▶ fozzy coverage ─▶ compares itself with the recorded run, or refuses
//! ```
//!
//! What is expected of lines is looked up in the sources by their words, so that the sources may change.

use crate::corpus::{self, Target};
use crate::fozzy::{Fozzy, cache_folder, repository};
use crate::recorded::RecordedRun;
use fozzy_engine::{Build, Cache, Program, Session, Switches};
use fozzy_instrument::source::DebugSymbols;
use fozzy_instrument::{CoverageMode, Options};
use fozzy_trace::plan::{Inputs, MachinePlan, ScenarioPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Executor, Plan, Seed};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// Records a run of a program as `trace`.
#[track_caller]
fn record(fozzy: &Fozzy, trace: &str, program: PathBuf, args: &[&str], code: i32) {
    let program = program.display().to_string();
    let mut words = vec!["run", &program, "--record", trace];
    words.extend(args);
    fozzy.run(&words).exits(code);
}

#[track_caller]
fn coverage(fozzy: &Fozzy, args: &[&str]) -> Value {
    let words: Vec<&str> = ["coverage", "--format", "json"].iter().chain(args).copied().collect();
    let (first, again) = (fozzy.run(&words).exits(0), fozzy.run(&words).exits(0));
    assert!(first.stdout == again.stdout, "the same execution covers the same, bit for bit");
    first.json()
}

/// The file of that name, the only one.
#[track_caller]
fn file<'d>(document: &'d Value, ending: &str) -> &'d Value {
    let components = document["components"].as_array().expect("components").iter();
    let files = components.flat_map(|component| component["files"].as_array().expect("files"));
    let found: Vec<&Value> =
        files.filter(|file| file["path"].as_str().is_some_and(|path| path.ends_with(ending))).collect();
    assert_eq!(found.len(), 1, "one file ends with {ending}");
    found[0]
}

/// How often each line of `source` that holds `words` was hit.
fn hits(file: &Value, source: &str, words: &str) -> Vec<u64> {
    let numbers: BTreeSet<u64> =
        (1..).zip(source.lines()).filter(|(_, line)| line.contains(words)).map(|(number, _)| number).collect();
    let lines = file["lines"].as_array().expect("lines").iter();
    let lines = lines.filter(|line| line["line"].as_u64().is_some_and(|number| numbers.contains(&number)));
    lines.map(|line| line["hits"].as_u64().expect("a number")).collect()
}

fn function(file: &Value, name: &str) -> Option<u64> {
    let functions = file["functions"].as_array().expect("functions");
    functions.iter().find(|function| function["name"] == name)?["hits"].as_u64()
}

/// Whether each edge of a document was taken, in order.
fn taken(document: &Value) -> Vec<(u64, bool)> {
    let files = document["components"][0]["files"].as_array().expect("files").iter();
    let edges = files.flat_map(|file| file["edges"].as_array().expect("edges"));
    let number = |edge: &Value, key: &str| edge[key].as_u64().expect("a number");
    let mut taken: Vec<(u64, bool)> = edges.map(|edge| (number(edge, "id"), number(edge, "hits") > 0)).collect();
    taken.sort_unstable();
    taken
}

#[test]
fn lines_and_functions_of_c() {
    let fozzy = Fozzy::new();
    let data = corpus::data_folder().join("text").canonicalize().expect("it is committed");
    let mount = format!("{}::/data", data.display());
    record(&fozzy, "c.fozzy", corpus::c_program(), &["--dir", &mount, "--", "/data"], 0);
    let document = coverage(&fozzy, &["c.fozzy"]);
    let source = include_str!("guests/c/tally.c");
    let tally = file(&document, "/tally.c");
    assert_eq!(function(tally, "fail"), Some(0));
    assert_eq!(function(tally, "count_word"), Some(1));
    assert_eq!(hits(tally, source, "exit(1);"), [0], "in `fail`, and in a full table");
    assert_eq!(hits(tally, source, "if (++used == SLOTS_MAX)"), [1]);
    assert_eq!(tally["own"], true);
    assert_eq!(document["totals"], tally["totals"], "only own files count");

    let counted = coverage(&fozzy, &["c.fozzy", "--counters"]);
    assert_eq!(counted["counting"], "counts");
    assert_eq!(taken(&document), taken(&counted), "both modes see the same edges");
    let files = fs::read_dir(&data).expect("it is there").count() as u64;
    assert_eq!(hits(file(&counted, "/tally.c"), source, "if (fclose(file) != 0)"), [files], "once for each file");
}

#[test]
fn a_folder_of_traces_is_their_union_also_after_traps() {
    let fozzy = Fozzy::new();
    fs::create_dir_all(fozzy.path("corpus/deep")).expect("a fresh folder");
    let probe = || corpus::probe(Target::Wasip2);
    record(&fozzy, "corpus/hello.fozzy", probe(), &["--", "hello"], 0);
    record(&fozzy, "corpus/deep/crash.fozzy", probe(), &["--", "oob"], 4);
    let (hello, crash) = (coverage(&fozzy, &["corpus/hello.fozzy"]), coverage(&fozzy, &["corpus/deep/crash.fozzy"]));
    let both = coverage(&fozzy, &["corpus"]);
    let union: Vec<(u64, bool)> = taken(&hello)
        .into_iter()
        .zip(taken(&crash))
        .map(|((id, hello), (other, crash))| {
            assert_eq!(id, other);
            (id, hello || crash)
        })
        .collect();
    assert!(taken(&hello) != union && taken(&crash) != union, "each has reached something of its own");
    assert_eq!(taken(&both), union);
    assert_eq!(both["traces"].as_array().map(Vec::len), Some(2));
    assert!(file(&both, "probe/src/main.rs")["totals"]["lines"]["hit"].as_u64() > Some(0));
    fozzy.run(&["coverage", "corpus/deep", "--instrument", "nothing"]).refuses(&["no core module is called nothing"]);
    fozzy.run(&["coverage", "missing"]).refuses(&["missing"]);
}

/// A tracefile, read as strictly as `lcov` does.
fn check_lcov(text: &str) -> usize {
    let (mut records, mut inside) = (0, false);
    let (mut names, mut called, mut lines) = (BTreeSet::new(), BTreeSet::new(), (0_u64, 0_u64));
    for line in text.lines() {
        if line == "end_of_record" {
            assert!(inside && names == called, "each function has its calls: {names:?} {called:?}");
            (names, called, lines, inside) = (BTreeSet::new(), BTreeSet::new(), (0, 0), false);
            records += 1;
            continue;
        }
        let (key, value) = line.split_once(':').expect("KEY:VALUE");
        let fields: Vec<&str> = value.split(',').collect();
        let number = |field: usize| fields[field].parse::<u64>().expect("a number");
        assert!(inside || matches!(key, "TN" | "SF"), "{line}");
        match key {
            "TN" => {}
            "SF" => inside = true,
            "FN" => assert!(number(0) > 0 && names.insert(value.split_once(',').expect("a name").1.to_owned())),
            "FNDA" => drop((number(0), called.insert(value.split_once(',').expect("a name").1.to_owned()))),
            "BRDA" => assert!(fields.len() == 4 && number(0) > 0 && (fields[3] == "-" || number(3) < u64::MAX)),
            "DA" => {
                assert!(fields.len() == 2 && number(0) > 0);
                lines = (lines.0 + 1, lines.1 + u64::from(number(1) > 0));
            }
            "LF" => assert_eq!(number(0), lines.0),
            "LH" => assert_eq!(number(0), lines.1),
            "FNF" | "FNH" | "BRF" | "BRH" => drop(number(0)),
            _ => panic!("no key of the format: {line}"),
        }
    }
    assert!(!inside, "the last record ends");
    records
}

/// A scenario that goes another way in its first sequence than in all others.
const FIRST_SEQUENCE: &str = r#"(module
  (memory (export "memory") 1)
  ;; The name, the flows (one), the invariants (none).
  (data (i32.const 0) "\40\00\00\00\01\00\00\00\20\00\00\00\01\00\00\00")
  ;; Its name, and its weight.
  (data (i32.const 32) "\40\00\00\00\01\00\00\00\01")
  (data (i32.const 64) "f")
  (func (export "fozzy:scenario/stateful@0.1.0#describe") (result i32) i32.const 0)
  (func (export "fozzy:scenario/stateful@0.1.0#begin-sequence") (param i32)
    (if (i32.eqz (local.get 0)) (then nop) (else nop)))
  (func (export "fozzy:scenario/stateful@0.1.0#step") (param i32) (result i32) i32.const 128)
  (func (export "fozzy:scenario/stateful@0.1.0#end-sequence") (param i32)))"#;

#[test]
fn a_scenario_has_covered_what_any_of_its_sequences_has() {
    let fozzy = Fozzy::new();
    let program = fozzy.write("first.wat", FIRST_SEQUENCE);
    record(&fozzy, "three.fozzy", program, &["--sequences", "3", "--flows", "5"], 0);
    let hits = |document: &Value, kind: &str| -> Vec<u64> {
        let files = document["components"][0]["files"].as_array().expect("files").iter();
        let edges = files.flat_map(|file| file["edges"].as_array().expect("edges"));
        edges.filter(|edge| edge["kind"] == kind).map(|edge| edge["hits"].as_u64().expect("a number")).collect()
    };
    let (set, counted) = (coverage(&fozzy, &["three.fozzy"]), coverage(&fozzy, &["three.fozzy", "--counters"]));
    assert_eq!((hits(&set, "then"), hits(&set, "else")), (vec![1], vec![1]), "{set:#}");
    assert_eq!((hits(&counted, "then"), hits(&counted, "else")), (vec![1], vec![2]), "{counted:#}");
    // Described once, begun and ended three times, stepped fifteen times.
    let mut entries = hits(&counted, "entry");
    entries.sort_unstable();
    assert_eq!(entries, [1, 3, 3, 15], "{counted:#}");
}

#[test]
fn tracefiles_and_pages_are_whole() {
    let fozzy = Fozzy::new();
    record(&fozzy, "run.fozzy", corpus::probe(Target::Wasip1), &["--", "args"], 0);
    let lcov = |all: &[&str]| {
        let words: Vec<&str> = ["coverage", "run.fozzy", "--format", "lcov"].iter().chain(all).copied().collect();
        check_lcov(&fozzy.run(&words).exits(0).out())
    };
    let (own, all) = (lcov(&[]), lcov(&["--all"]));
    assert!(own > 0 && all > own, "{own} own files, {all} with those of the toolchain");

    // From below a folder that was named sources are shown; from elsewhere they are not.
    fs::create_dir_all(fozzy.path("copy/src")).expect("a fresh folder");
    fozzy.write("copy/src/secret.rs", "not of this program");
    let out = fozzy.run(&["coverage", "run.fozzy", "--format", "html", "--sources", "copy", "--out", "page.html"]);
    assert!(out.exits(0).out().is_empty(), "it was written to the file");
    let page = String::from_utf8(fozzy.read("page.html")).expect("text");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("The source is not readable here") && !page.contains("not of this program"));
    for loaded in ["http://", "https://", "src=\"", "<link", "@import", "url("] {
        assert!(!page.contains(loaded), "the page loads nothing: {loaded}");
    }
}

#[test]
fn a_run_that_used_up_its_fuel_is_shown_as_far_as_it_goes() {
    let fozzy = Fozzy::new();
    let endless = r#"(module (memory (export "memory") 1) (func (export "_start") (loop br 0)))"#;
    let program = fozzy.write("endless.wat", endless);
    record(&fozzy, "endless.fozzy", program, &["--fuel", "100000"], 3);
    let document = coverage(&fozzy, &["endless.fozzy"]);
    assert!(document["remarks"][0].as_str().is_some_and(|remark| remark.contains("fuel was used up")), "{document:#}");
    let edges: Vec<(String, bool)> = document["components"][0]["files"][0]["edges"]
        .as_array()
        .expect("edges")
        .iter()
        .map(|edge| (edge["kind"].as_str().expect("a word").to_owned(), edge["hits"] == 1))
        .collect();
    assert_eq!(edges, [("entry".to_owned(), true), ("back".to_owned(), true)]);
}

/// The same execution in everything but fuel, with the bytes of both modes beside the guest's memories.
#[test]
fn executions_with_coverage_are_those_without() {
    let component: Arc<[u8]> = {
        let bytes = fs::read(corpus::probe(Target::Wasip2)).expect("it was built");
        fozzy_engine::load(&bytes, None).expect("a component").component.into()
    };
    let cache = Cache::open(&cache_folder()).expect("the target folder can be written");
    for mode in ["hashmap", "panic", "alloc", "recurse", "draws"] {
        let main = MachinePlan { args: vec!["probe".to_owned(), mode.to_owned()], ..MachinePlan::default() };
        let plan = Arc::new(Plan { main, ..Plan::default() });
        let run = |coverage| {
            let build = Build { coverage, ..Build::default() };
            let program = Program::new_as(Arc::clone(&component), Switches::of(&plan), &build, Some(&cache));
            let mut session =
                Session::new(program.expect("compiles"), Arc::clone(&plan), &Inputs::default()).expect("runs");
            session.fuel_times(16);
            let execution =
                session.execute(Box::new(SeededSource::new(Seed(7))), 0..u64::MAX).expect("no harness error");
            (execution, session.coverage().clone())
        };
        let (plain, nothing) = run(CoverageMode::None);
        assert!(nothing.is_empty(), "a plain build covers nothing");
        for coverage in [CoverageMode::SetOnce, CoverageMode::Counters] {
            let (mut execution, covered) = run(coverage);
            assert!(covered.values().all(|covered| covered.edges.iter().any(|hits| *hits > 0)), "{mode}");
            assert!(execution.fuel_used > plain.fuel_used, "counting costs something");
            execution.fuel_used = plain.fuel_used;
            let same = format!("{execution:?}") == format!("{plain:?}");
            assert!(same, "{mode} under {coverage:?}: another end, history, output or memory");
        }
    }
}

/// Which branches an exploration has missed is looked up without the names of their frames.
#[test]
fn the_place_of_an_operator_is_that_of_its_first_frame() {
    let bytes = fs::read(corpus::probe(Target::Wasip2)).expect("it was built");
    let component = fozzy_engine::load(&bytes, None).expect("a component").component;
    let options = Options { coverage: CoverageMode::SetOnce, ..Options::default() };
    let sites = fozzy_instrument::instrument(&component, &options).expect("a sound component").sites;
    let (symbols, places) = (DebugSymbols::new(&component), DebugSymbols::new(&component));
    let (mut known, mut inlined) = (0, 0);
    for edge in sites.iter() {
        let frames = symbols.frames(edge.module, edge.offset);
        let first = frames.first().and_then(|frame| Some((frame.file.clone()?, frame.line.filter(|line| *line > 0)?)));
        known += usize::from(first.is_some());
        inlined += usize::from(frames.len() > 1);
        assert_eq!(places.place(edge.module, edge.offset), first, "{edge:?}");
    }
    assert!(known > 1_000 && inlined > 100, "{known} of {}, {inlined} inlined", sites.len());
}

#[test]
fn javascript_is_covered_by_function_and_offset() {
    let fozzy = Fozzy::new();
    let component = fs::read(corpus::scenario("js-scores", false)).expect("it was built");
    let build = Build { coverage: CoverageMode::SetOnce, ..Build::default() };
    // Recorded in the build that the command uses, so that the engine inside is compiled once.
    let plan = Plan { scenario: Some(ScenarioPlan::all(1, 10)), ..Plan::default() };
    let trace = RecordedRun::of("scores.wasm", component, plan, &build).trace(1);
    fozzy.write("js.fozzy", trace);
    let document = coverage(&fozzy, &["js.fozzy"]);
    let totals = &document["totals"];
    let hit = |of: &str| totals[of]["hit"].as_u64().expect("a number");
    assert!(hit("functions") > 100 && hit("edges") > 1000, "{totals}");
    assert!(totals["functions"]["total"].as_u64() > Some(1000), "SpiderMonkey is inside: {totals}");
    assert_eq!(totals["lines"]["total"], 0, "it comes without debug information");
    fozzy.run(&["coverage", "js.fozzy", "--uncovered", "0"]).exits(0);
}

#[test]
fn inputs_of_a_corpus_are_executed_as_recorded_runs_are() {
    let fozzy = Fozzy::new();
    let program = corpus::probe(Target::Wasip2);
    let target = program.display().to_string();
    for folder in ["inputs/deep", "traces", "files"] {
        fs::create_dir_all(fozzy.path(folder)).expect("a fresh folder");
    }
    fozzy.write("inputs/one", "hello");
    fozzy.write("inputs/deep/two", "oob");
    fozzy.write("inputs/.hidden", "divzero");
    record(&fozzy, "traces/one.fozzy", program.clone(), &["--", "hello"], 0);
    record(&fozzy, "traces/two.fozzy", program.clone(), &["--", "oob"], 4);
    let inputs = coverage(&fozzy, &["inputs", "--target", &target, "--input-arg"]);
    assert_eq!(taken(&inputs), taken(&coverage(&fozzy, &["traces"])), "the same executions cover the same");
    assert_eq!(inputs["traces"].as_array().map(Vec::len), Some(2), "what begins with a dot is none");
    let remark = inputs["remarks"][0].as_str().expect("a sentence");
    assert!(remark.contains("1 of 2 inputs did not pass") && remark.contains("two"), "{remark}");

    // Traces among the inputs say themselves what was executed.
    fs::rename(fozzy.path("inputs/deep/two"), fozzy.path("traces/three")).expect("moved");
    fs::remove_file(fozzy.path("traces/two.fozzy")).expect("removed");
    let mixed = coverage(&fozzy, &["traces", "--target", &target, "--input-arg"]);
    assert_eq!(taken(&mixed), taken(&inputs));

    fozzy.write("files/x", "some text");
    for arguments in [&["--input-file", "/in/it", "--", "read", "/in/it"][..], &["--", "stdin"]] {
        let words = [&["files", "--target", &target][..], arguments].concat();
        let document = coverage(&fozzy, &words);
        let remarks = document["remarks"].as_array().expect("a list");
        assert!(
            remarks.len() == 1 && remarks[0].as_str().is_some_and(|said| said.contains("is optimised")),
            "{remarks:?}"
        );
        assert!(document["totals"]["lines"]["hit"].as_u64() > Some(0));
    }
    let words = ["coverage", "files", "--target", &target, "--input-file", "relative"];
    fozzy.run(&words).refuses(&["--input-file", "absolute path", "`relative`"]);
    fozzy.run(&["coverage", "inputs/deep", "--target", &target]).refuses(&["holds no input"]);

    // The paths that an exploration has kept go both ways.
    fozzy.write("coin.wat", fs::read(repository().join("tests/programs/coin.wat")).expect("it is committed"));
    fozzy.run(&["explore", "coin.wat", "--runs", "20", "--save-state", "explored.json", "--no-store"]).exits(4);
    let explored = coverage(&fozzy, &["explored.json", "--target", "coin.wat"]);
    let edges = &explored["totals"]["edges"];
    assert!(edges["total"].as_u64() >= Some(3) && edges["hit"] == edges["total"], "{explored:#}");
}

#[test]
fn inputs_of_a_fuzz_target_are_what_it_is_called_with() {
    let fozzy = Fozzy::new();
    let target = corpus::scenario("parser", false).display().to_string();
    let source = include_str!("../scenarios/parser/src/lib.rs");
    fs::create_dir_all(fozzy.path("corpus")).expect("a fresh folder");
    fozzy.write("corpus/setting", "name=value\n");
    let document = coverage(&fozzy, &["corpus", "--target", &target]);
    let parser = file(&document, "parser/src/lib.rs");
    assert_eq!(hits(parser, source, "b'=' if name.is_none()"), [1]);
    assert_eq!(hits(parser, source, "current.push(text[at]);"), [0], "there is no backslash yet");
    assert_eq!(document["remarks"], Value::Null);
    // Beyond its end, which is the planted fault: what it has reached until then counts.
    fozzy.write("corpus/backslash", "\\");
    let document = coverage(&fozzy, &["corpus", "--target", &target, "--function", "parse_anything"]);
    let parser = file(&document, "parser/src/lib.rs");
    assert_eq!(hits(parser, source, "current.push(text[at]);"), [1]);
    assert!(document["remarks"][0].as_str().is_some_and(|remark| remark.contains("1 of 2")), "{document:#}");
    fozzy.run(&["coverage", "corpus", "--target", &target, "--function", "no"]).refuses(&["`no`", "`parse_anything`"]);
}

#[test]
fn a_campaign_counts_the_edges_that_are_kept_and_coverage_all_of_them() {
    let fozzy = Fozzy::new();
    fozzy.write(
        "parse.wat",
        r#"(module
          (memory (export "memory") 1)
          (func (export "LLVMFuzzerTestOneInput") (param $at i32) (param $len i32) (result i32)
            (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 102)) (then (i32.store8 (i32.const 0) (i32.const 1))))
            (i32.const 0)))"#,
    );
    let inspected = fozzy.run(&["inspect", "parse.wat", "--json"]).exits(0).json();
    let module = &inspected["modules"][0];
    assert!(module["kept"].as_u64() < module["edges"].as_u64(), "they differ: {inspected:#}");
    let ran = fozzy.run(&["fuzz", "parse.wat", "--runs", "200", "--corpus", "corpus", "--json"]).exits(0).json();
    assert_eq!(ran["fuzz"]["coverage"]["total_edges"], module["kept"], "{ran:#}");
    let said = fozzy.run(&["fuzz", "parse.wat", "--runs", "200", "--corpus", "corpus"]).exits(0);
    assert!(said.err().contains(&format!(" of {} kept edges", module["kept"])), "{said}");
    let document = coverage(&fozzy, &["corpus", "--target", "parse.wat"]);
    assert_eq!(document["components"][0]["modules"][0]["edges"]["total"], module["edges"], "{document:#}");
}
