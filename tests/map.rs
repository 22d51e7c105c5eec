//! Maps: what is covered is what ran, and what a change needs is what reaches it.
//!
//! ```text
//! programs without and with debug information ─▶ fozzy map hotspots|services|suites ─▶ functions, branches, runs
//! a repository ─▶ one line changed ─▶ the scenarios that reach it
//! ```

use crate::corpus;
use crate::fozzy::{Fozzy, repository};
use serde_json::Value;
use std::fs;

/// `choose` has two ways, of which only one is ever taken; behind the other are two functions.
const APP: &str = r#"(module $app
    (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
    (memory (export "memory") 1)
    (type $op (func (result i32)))
    (table 2 funcref)
    (elem (i32.const 0) $seven $other)
    (func $seven (result i32) i32.const 7)
    (func $other (result i32) (call $clock (i32.const 0) (i64.const 1) (i32.const 8)))
    (func $deeper (result i32) i32.const 1)
    (func $never (result i32) (call $deeper))
    (func $choose (param i32) (result i32)
      (if (result i32) (local.get 0) (then (call $never)) (else (call_indirect (type $op) (i32.const 0)))))
    (func (export "_start") (drop (call $random (i32.const 0) (i32.const 8))) (drop (call $choose (i32.const 0)))))"#;

fn map(fozzy: &Fozzy, words: &[&str]) -> Value {
    let words: Vec<&str> = ["map"].iter().chain(words).copied().chain(["--json"]).collect();
    let (first, again) = (fozzy.run(&words).exits(0), fozzy.run(&words).exits(0));
    assert!(first.stdout == again.stdout, "the same map, byte for byte");
    first.json()
}

#[track_caller]
fn row<'d>(rows: &'d Value, key: &str, name: &str) -> &'d Value {
    let rows = rows.as_array().expect("a list");
    rows.iter().find(|row| row[key] == name).unwrap_or_else(|| panic!("no {name} in {rows:#?}"))
}

#[test]
fn hotspots_and_frontier_are_by_what_ran() {
    let fozzy = Fozzy::new();
    // Names of files that a map by names would take for coverage.
    fozzy.write("never.deeper.wat", APP);
    let hotspots = map(&fozzy, &["hotspots"]);
    assert_eq!(hotspots["schemaVersion"], "fozzy.map_hotspots.v2");
    let choose = row(&hotspots["hotspots"], "function", "choose");
    assert_eq!((&choose["complexity"], &choose["covered"]["hit"]), (&Value::from(2), &Value::from(1)), "{choose:#}");
    assert_eq!(choose["indirectCandidates"], 2, "by their type, of the functions in the table: {choose:#}");
    assert_eq!(choose["executedBy"], serde_json::json!(["never.deeper"]));
    assert_eq!(row(&hotspots["hotspots"], "function", "never")["executedBy"], serde_json::json!([]));
    assert_eq!(row(&hotspots["hotspots"], "function", "other")["hostCalls"]["clock"], 1);
    assert_eq!(map(&fozzy, &["hotspots", "--min-risk", "100"])["hotspots"], serde_json::json!([]));
    let own = map(&fozzy, &["hotspots", "--own", "cho*"]);
    assert_eq!((&own["functionCount"], &own["hotspots"][0]["function"]), (&Value::from(1), &Value::from("choose")));

    let suites = map(&fozzy, &["suites"]);
    assert_eq!(row(&suites["suites"], "function", "seven")["covered"], true);
    assert_eq!(row(&suites["suites"], "function", "deeper")["covered"], false, "its name is that of the file");
    let never = row(&suites["frontier"], "function", "never");
    assert_eq!((&never["caller"], &never["call"], &never["behind"]), (&"choose".into(), &"direct".into(), &1.into()));
    assert_eq!(never["blockedBy"]["what"], "the branch in choose was never true");
    let other = row(&suites["frontier"], "function", "other");
    assert_eq!((&other["call"], &other["nearest"]), (&"candidate".into(), &"never.deeper".into()));
}

#[test]
fn a_corpus_is_a_scenario_of_all_its_inputs() {
    let fozzy = Fozzy::new();
    // `yes` runs for inputs with a y, which is what no run without input has.
    fozzy.write(
        "reads.wat",
        r#"(module $reads
          (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 1) (data (i32.const 0) "\20\00\00\00\10\00\00\00")
          (func $yes (if (i32.eq (i32.load8_u (i32.const 33)) (i32.const 33)) (then unreachable)))
          (func $never)
          (func (export "_start") (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
            (if (i32.eq (i32.load8_u (i32.const 32)) (i32.const 121)) (then (call $yes)))
            (if (i32.eq (i32.load8_u (i32.const 32)) (i32.const 122)) (then (call $never)))))"#,
    );
    fs::create_dir_all(fozzy.path("corpus")).expect("a folder");
    for (name, input) in [("1", "no"), ("2", "y"), ("3", "y!")] {
        fozzy.write(&format!("corpus/{name}"), input);
    }
    let covered =
        |suites: &Value, function: &str| row(&suites["suites"], "function", function)["coveredSuites"].clone();
    let without = map(&fozzy, &["suites"]);
    assert_eq!(covered(&without, "yes"), serde_json::json!([]));
    let with = map(&fozzy, &["suites", "--corpus", "corpus=reads.wat"]);
    assert_eq!(covered(&with, "yes"), serde_json::json!(["fuzz_inputs", "test_det"]));
    assert_eq!(covered(&with, "never"), serde_json::json!([]));
    let corpus = row(&with["scenarios"], "name", "corpus");
    assert_eq!(
        (&corpus["kind"], &corpus["status"], &corpus["onlyHere"]),
        (&"corpus".into(), &"crash".into(), &1.into())
    );
    assert!(
        with["warnings"].to_string().contains("corpus: 1 of 3 inputs did not pass, the first is corpus/3"),
        "{with:#}"
    );
    let hotspots = map(&fozzy, &["hotspots", "--corpus", "corpus=reads.wat"]);
    assert_eq!(row(&hotspots["hotspots"], "function", "yes")["executedBy"], serde_json::json!(["corpus"]));
    let shown = fozzy.run(&["map", "suites", "--corpus", "corpus=reads.wat"]).exits(0).out();
    assert!(shown.contains("by 1 scenario and a corpus"), "{shown}");
    fozzy.run(&["map", "suites", "--corpus", "corpus"]).exits(2);
    fozzy.run(&["map", "suites", "--corpus", "nothing=reads.wat"]).refuses(&["nothing"]);
    fozzy.run(&["map", "suites", "--corpus", "corpus=reads.wat#parse"]).exits(2);
}

#[test]
fn services_say_what_of_imports_and_exports_ran() {
    let fozzy = Fozzy::new();
    fozzy.write("app.wat", APP);
    let services = map(&fozzy, &["services"]);
    let app = row(&services["services"], "name", "app.wat");
    assert_eq!((&app["kind"], &app["machines"]), (&"command".into(), &serde_json::json!(["main"])));
    assert_eq!(app["exports"][0]["ran"], true, "{app:#}");
    assert_eq!(app["functions"]["hit"], 2, "choose and seven: {app:#}");
    let start = serde_json::json!([{"name": "_start", "ran": true}]);
    assert_eq!(app["exports"], start, "as the module has it, not as our adapter has it");
    let ran = |name: &str| row(&app["imports"], "name", name)["ran"].as_bool();
    assert_eq!(ran("wasi_snapshot_preview1.random_get"), Some(true));
    assert_eq!(ran("wasi_snapshot_preview1.clock_time_get"), Some(false), "{app:#}");
}

/// Code is compiled with an older version of an interface than the one that the linker writes down.
#[test]
fn imports_of_a_component_ran_by_whatever_version_its_code_has() {
    let fozzy = Fozzy::new();
    fs::copy(corpus::component("stock"), fozzy.path("app.wasm")).expect("built");
    let services = map(&fozzy, &["services"]);
    let imports = &services["services"][0]["imports"];
    let ran = |start: &str| {
        let rows = imports.as_array().expect("a list").iter();
        rows.filter(|row| row["name"].as_str().is_some_and(|name| name.starts_with(start)))
            .all(|row| row["ran"] == true)
    };
    assert!(ran("wasi:cli/environment@"), "it reads its arguments: {imports:#}");
    assert!(!ran("wasi:sockets/tcp@"), "and ends without its role: {imports:#}");
}

#[test]
fn what_is_missing_is_said() {
    let fozzy = Fozzy::new();
    fozzy.run(&["map", "hotspots"]).refuses(&["nothing ran", "no run is recorded"]);
    let bytes = wat::parse_str(APP).expect("a module");
    fozzy.write("app.wasm", without_custom_sections(&bytes));
    fozzy.run(&["run", "app.wasm", "--record", "run.fozzy"]).exits(0);
    // A store in which a trace is cut short, and another is none.
    fs::create_dir_all(fozzy.path(".fozzy/seeds/app")).expect("a folder");
    let trace = fozzy.read("run.fozzy");
    fozzy.write(".fozzy/seeds/app/cut.fozzy", &trace[..trace.len() / 2]);
    fozzy.write(".fozzy/seeds/app/none.fozzy", b"none");
    let hotspots = map(&fozzy, &["hotspots", "--run", "run.fozzy"]);
    let warnings = hotspots["warnings"].to_string();
    for words in ["and no names", "cut.fozzy", "none.fozzy", "changes do not count"] {
        assert!(warnings.contains(words), "{words}: {warnings}");
    }
    assert_eq!(hotspots["runCount"], 2, "the scenario and the named run");
    assert_eq!(hotspots["functionCount"], 6, "without names, all is the project's: {hotspots:#}");
    let all = map(&fozzy, &["hotspots", "--own", "*"]);
    assert_eq!(all["functionCount"], 6, "and nothing of our adapter's: {all:#}");
}

/// A function is what its source calls one, in however many programs it is.
#[test]
fn a_function_that_is_in_two_programs_counts_once() {
    let fozzy = Fozzy::new();
    let program = fs::read(corpus::component("leaks")).expect("built");
    fozzy.write("leaks.wasm", &program);
    let hotspots = || fozzy.run(&["map", "hotspots", "--json"]).exits(0).json();
    let alone = hotspots();
    // Another program of the same source: one more custom section.
    fozzy.write("same.wasm", [&program[..], &[0, 2, 1, b'x']].concat());
    let both = hotspots();
    assert_eq!(both["functionCount"], alone["functionCount"], "{both:#}");
    let numbers = |map: &Value| {
        let rows = map["hotspots"].as_array().expect("a list").iter();
        rows.map(|row| (row["function"].clone(), row["covered"].clone(), row["riskScore"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&both), numbers(&alone), "the same ran");
    let first = &both["hotspots"][0];
    assert_eq!((&first["component"], &first["alsoIn"]), (&"leaks.wasm".into(), &serde_json::json!(["same.wasm"])));
    let services = fozzy.run(&["map", "services", "--json"]).exits(0).json();
    let functions = |at: usize| services["services"][at]["functions"].clone();
    assert_eq!(functions(0), functions(1), "each program has all of its own: {services:#}");
}

/// A module without names and debug information.
pub(crate) fn without_custom_sections(module: &[u8]) -> Vec<u8> {
    let mut out = wasm_encoder::Module::new();
    for payload in wasmparser::Parser::new(0).parse_all(module) {
        let payload = payload.expect("a module");
        if let Some((id, range)) = payload.as_section().filter(|(id, _)| *id != 0) {
            out.section(&wasm_encoder::RawSection { id, data: &module[range] });
        }
    }
    out.finish()
}

#[test]
fn a_change_needs_the_scenarios_that_reach_it() {
    let fozzy = Fozzy::new();
    let program = corpus::scenario("bank", false);
    fs::copy(program, fozzy.path("bank.wasm")).expect("built");
    fozzy.write("app.wat", APP);
    let source = fs::read_to_string(repository().join("scenarios/bank/src/lib.rs")).expect("a source");
    fs::create_dir_all(fozzy.path("src")).expect("a folder");
    fozzy.write("src/lib.rs", &source);
    let git = "git -c user.name=a -c user.email=a@example.com -c commit.gpgsign=false";
    fozzy.shell(&format!("echo .fozzy > .gitignore; git init -q && git add . && {git} commit -qm one")).exits(0);
    let changed = source.replacen("fn transfer(", "fn transfer( ", 1);
    assert_ne!(changed, source);
    fozzy.write("src/lib.rs", changed);
    let suites = map(&fozzy, &["suites", "--since"]);
    let change = &suites["change"];
    assert_eq!(change["since"], "HEAD");
    let functions: Vec<&str> =
        change["functions"].as_array().expect("a list").iter().filter_map(|row| row["function"].as_str()).collect();
    assert!(functions.iter().any(|name| name.ends_with("transfer")), "{functions:?}");
    let needed: Vec<&str> =
        change["scenarios"].as_array().expect("a list").iter().filter_map(|row| row["path"].as_str()).collect();
    assert_eq!(needed, ["bank.wasm"], "and not the other program");
    // What builds write and comments change nothing; a last statement that is gone belongs to its function, whatever follows.
    fozzy.write("Cargo.lock", "");
    fozzy.write("src/lib.rs", format!("{source}\n// More.\n"));
    let commented = map(&fozzy, &["suites", "--since"]);
    assert_eq!(commented["change"]["files"], serde_json::json!(["src/lib.rs"]));
    assert_eq!(commented["change"]["functions"], serde_json::json!([]), "{commented:#}");
    let shown = fozzy.run(&["map", "suites", "--since"]).exits(0).out();
    assert!(shown.contains("needs no scenario: it changes no code of the programs that ran"), "{shown}");
    fozzy.write("src/lib.rs", source.replacen("        covered\n", "", 1));
    let gone = map(&fozzy, &["suites", "--since"]);
    let mut functions = gone["change"]["functions"].as_array().expect("a list").iter();
    let withdraws =
        functions.any(|row| row["function"].as_str().is_some_and(|name| name.ends_with("Transaction::withdraw")));
    assert!(withdraws, "{:#}", gone["change"]);
    let hotspots = map(&fozzy, &["hotspots"]);
    let transfer = hotspots["hotspots"].as_array().expect("a list").iter();
    let churned = transfer.filter(|row| row["churn"]["commits"] == 1).count();
    assert!(churned > 0, "{hotspots:#}");
    fozzy.run(&["map", "suites", "--since", "nothing"]).refuses(&["--since nothing"]);
}
