//! Suites: `fozzy test`, on scenarios that are wrong in every way, with failures that were kept, in every format.
//!
//! ```text
//! scenarios/<how>.wasm        the guest `misfits`, copied      scenarios/<how>.plan.toml   args = ["<how>"]
//! scenarios/<any>.wat         small programs below
//! ```
//!
//! Not here: what a person sees (`tests/cli/test*`), what is planted in `scenarios/` (`scenarios`).

use crate::corpus;
use crate::fozzy::{Fozzy, Ran};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A program that ends at once, well or by a trap.
fn program(body: &str) -> String {
    format!(
        r#"(component
  (core module $m (func (export "run") (result i32) {body}))
  (core instance $i (instantiate $m))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance $cli (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $cli)))"#
    )
}

const GOOD: &str = "(i32.const 0)";
const FAILS: &str = "(i32.const 1)";
const TRAPS: &str = "unreachable";
const ENDLESS: &str = "(loop $l (br $l)) (i32.const 0)";

/// A folder with a suite.
struct Suite(Fozzy);

impl Suite {
    fn new() -> Suite {
        let fozzy = Fozzy::new();
        fs::create_dir(fozzy.path("scenarios")).expect("a fresh folder");
        Suite(fozzy)
    }

    fn with(self, name: &str, content: impl AsRef<[u8]>) -> Suite {
        self.put(name, content);
        self
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.0.path(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the temporary folder can be written");
        fs::write(path, content).expect("the temporary folder can be written");
    }

    /// The scenario that is wrong in this way.
    fn misfit(self, how: &str) -> Suite {
        let suite = self.with(&format!("scenarios/{how}.wasm"), wasm(corpus::component("misfits")));
        suite.with(&format!("scenarios/{how}.plan.toml"), format!("args = [\"{how}\"]"))
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.0.run(&[&["test"], args].concat())
    }
}

fn wasm(path: PathBuf) -> Vec<u8> {
    fs::read(path).expect("the guest is built")
}

/// The document without wall facts: when it was, how long it took, and the run's id.
fn without_wall_facts(ran: &Ran) -> Value {
    let document = ran.json();
    let id = document["identity"]["runId"].as_str().expect("an id").to_owned();
    let text = document.to_string().replace(&id, "<run>");
    let mut document: Value = serde_json::from_str(&text).expect("it was JSON");
    forget(&mut document, &["startedAt", "finishedAt", "durationMs", "durationNs"]);
    document
}

fn forget(value: &mut Value, keys: &[&str]) {
    match value {
        Value::Object(fields) => {
            keys.iter().for_each(|key| drop(fields.remove(*key)));
            fields.values_mut().for_each(|value| forget(value, keys));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| forget(value, keys)),
        _ => {}
    }
}

/// Name, status and the words of what was found, of each scenario.
fn told(document: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let row = |case: &Value| {
        let found = text(&case["error"]["message"]) + &text(&case["run"]["findings"][0]["message"]);
        (text(&case["name"]), text(&case["status"]), found)
    };
    document["scenarios"].as_array().expect("scenarios").iter().map(row).collect()
}

#[test]
fn whatever_is_wrong_with_one_the_others_run_and_jobs_change_nothing() {
    let two_names = r#"(@custom "fozzy.properties" "always\09p\09a.rs:1\0asometimes\09p\09a.rs:2\0a") (func (export "run") (result i32) (i32.const 0))"#;
    let two_names = program("").replace(r#"(func (export "run") (result i32) )"#, two_names);
    let rows = [
        ("allocation", "crash", "out of memory"),
        ("broken", "error", "expected a WebAssembly component"),
        ("fine", "pass", ""),
        ("for-ever", "timeout", "the instruction budget ran out"),
        ("json", "error", "one of `steps`, `distributed` and `suites` is missing"),
        ("no-flow", "error", "the scenario has no flow"),
        ("panic", "crash", "the flow panics"),
        ("period-0", "error", "the invariant `i` has the period 0"),
        ("recursion", "crash", "call stack exhausted"),
        ("stuck", "error", "no flow is valid in sequence 0 at step 0: whatever"),
        ("two-kinds", "error", "two properties are called `p`"),
        ("two-properties", "error", "two properties are called `p`: at a.rs:1 and at a.rs:2"),
        ("weights-0", "error", "no flow can ever be drawn"),
    ];
    let ours = ["broken", "json", "two-properties"];
    let suite = rows
        .iter()
        .filter(|(name, ..)| !ours.contains(name))
        .fold(Suite::new(), |suite, (name, ..)| suite.misfit(name));
    suite.put("scenarios/broken.wasm", "no program");
    suite.put("scenarios/json.fozzy.json", "{\"version\": 1}");
    suite.put("scenarios/two-properties.wat", two_names);
    let limits = ["--fuel", "20000000", "--mem-limit-mb", "64", "--sequences", "2", "--flows", "5", "--json"];
    let one = suite.run(&limits).exits(2);
    let document = without_wall_facts(&one);
    let found = told(&document);
    assert_eq!(found.len(), rows.len(), "{one}");
    for ((name, status, words), (found_name, found_status, found_words)) in rows.iter().zip(&found) {
        assert_eq!((name, status), (&found_name.as_str(), &found_status.as_str()), "{one}");
        assert!(found_words.contains(words), "{name}: expected `{words}` in `{found_words}`");
    }
    assert_eq!(document["tests"], serde_json::json!({"passed": 1, "failed": 12, "skipped": 0}));
    let three = suite.run(&[&limits[..], &["--jobs", "3"]].concat()).exits(2);
    assert_eq!(without_wall_facts(&three), document);

    // Each that ran and failed left a trace that replays alone.
    let elsewhere = Fozzy::new();
    let mut replayed = 0;
    for case in one.json()["scenarios"].as_array().expect("scenarios") {
        let (Some(trace), status) = (case["run"]["identity"]["tracePath"].as_str(), &case["status"]) else { continue };
        let summary = elsewhere.run(&["replay", &suite.0.path(trace).display().to_string(), "--json"]).json();
        assert_eq!((&summary["status"], &summary["replay"]["equal"]), (status, &Value::Bool(true)));
        assert_eq!(case["command"], format!("fozzy replay {trace}"));
        replayed += 1;
    }
    assert_eq!(replayed, 9);
    assert_eq!(suite.0.run(&["replay", "last-fail", "--json"]).exits(4).json()["target"]["name"], "allocation.wasm");
}

#[test]
fn the_worst_case_is_the_exit_code() {
    let suite = Suite::new().with("scenarios/a.wat", program(GOOD));
    suite.run(&[]).exits(0);
    suite.put("scenarios/b.wat", program(FAILS));
    suite.run(&[]).exits(1);
    suite.put("scenarios/c.wat", program(ENDLESS));
    suite.run(&["--fuel", "1000000"]).exits(3);
    suite.put("scenarios/d.wat", program(TRAPS));
    suite.run(&["--fuel", "1000000", "--jobs", "2"]).exits(4);
    suite.put("scenarios/e.wat", "(component");
    suite.run(&["--fuel", "1000000"]).exits(2);
    // Without the last three, by name, by pattern, and by filter.
    suite.run(&["scenarios/a.wat", "scenarios/b.wat"]).exits(1);
    suite.run(&["scenarios/[ab].*"]).exits(1);
    suite.run(&["--filter", "scenarios/a"]).exits(0);
    let skipped = suite.run(&["--fail-fast", "--json", "--jobs", "4"]).exits(1).json();
    assert_eq!(skipped["tests"], serde_json::json!({"passed": 1, "failed": 1, "skipped": 3}));
    assert_eq!(skipped["scenarios"][4]["result"], "skipped");
}

#[test]
fn a_suite_of_nothing_is_an_error() {
    let suite = Suite::new();
    suite.run(&[]).refuses(&["no scenario is here"]);
    suite.run(&["scenarios"]).refuses(&["no scenario is below scenarios"]);
    suite.run(&["*.wat"]).refuses(&["*.wat: no scenario fits"]);
    suite.run(&["[.wat"]).refuses(&["[.wat"]);
    suite.put("scenarios/a.wat", program(GOOD));
    suite.run(&["scenarios/b.wat"]).refuses(&["scenarios/b.wat is neither a file nor a folder"]);
    suite.run(&["scenarios/a.wat", "scenarios/b.wat"]).refuses(&["scenarios/b.wat"]);
    suite.run(&["--filter", "bank"]).refuses(&["--filter bank: of 1 scenario, none has this"]);
    suite.put("a.fozzy", "");
    suite.run(&["a.fozzy"]).refuses(&["a.fozzy is a trace"]);
    suite.run(&["--record", "none/a.fozzy"]).refuses(&["none"]);
    suite.run(&["--jobs", "0"]).exits(2);
    assert!(!suite.0.path(".fozzy/runs").exists(), "nothing was run");
    let error = suite.run(&["--filter", "bank", "--json"]).exits(2).json();
    assert_eq!((&error["status"], &error["code"]), (&"error".into(), &"suite".into()));
}

#[test]
fn the_seed_of_a_scenario_is_its_own() {
    let counter = || wasm(corpus::scenario("counter", true));
    let suite = Suite::new().with("scenarios/counter.wasm", counter()).with("scenarios/a.wat", program(GOOD));
    suite.put("elsewhere/deep/counter.wasm", counter());
    let facts = |args: &[&str]| {
        let document = suite.run(&[&["--json", "--sequences", "2", "--flows", "20"], args].concat()).exits(0).json();
        let cases = document["scenarios"].as_array().expect("scenarios").clone();
        let case = cases.into_iter().find(|case| case["name"] == "counter").expect("it is in the suite");
        (case["run"]["identity"]["seed"].clone(), case["run"]["historyDigest"].clone())
    };
    let alone = facts(&["scenarios/counter.wasm"]);
    assert_eq!(alone, facts(&[]), "with another one");
    assert_eq!(alone, facts(&["scenarios/counter.wasm", "scenarios/a.wat"]), "in another order");
    assert_eq!(alone, facts(&["elsewhere"]), "at another place");
    let other = facts(&["scenarios/counter.wasm", "--seed", "1"]);
    assert!(other.0 != alone.0 && other.1 != alone.1, "of another suite seed");
    // A run of its own with that seed is the same run.
    let seed = alone.0.to_string();
    let run = ["run", "scenarios/counter.wasm", "--seed", &seed, "--sequences", "2", "--flows", "20", "--json"];
    assert_eq!(suite.0.run(&run).exits(0).json()["historyDigest"], alone.1);
}

#[test]
fn a_kept_failure_is_a_regression_fixed_or_stale() {
    let suite = Suite::new().with("scenarios/bank.wasm", wasm(corpus::scenario("bank", false)));
    suite.put("scenarios/bank.expect.toml", "sequences = 10\nflows = 150");
    suite.put("regressions/.keep", "");
    suite.run(&["--record", "regressions/owes.fozzy"]).exits(1);
    let state = |args: &[&str], code| {
        let document = suite.run(&[&["--json"], args].concat()).exits(code).json();
        let case = &document["regressions"][0];
        assert!(case.is_null() || case["name"] == "owes", "{case}");
        let note = case["note"].as_str().unwrap_or_default().to_owned();
        (case["regression"].as_str().unwrap_or_default().to_owned(), note, document["tests"].clone())
    };
    let (still, note, tests) = state(&[], 1);
    assert_eq!((&*still, &*note), ("regression", ""));
    assert_eq!(tests, serde_json::json!({"passed": 0, "failed": 2, "skipped": 0}));
    // The program of today is another one, which fails in another way.
    suite.put("scenarios/bank.wasm", wasm(corpus::scenario("counter", false)));
    let (other, note, _) = state(&[], 1);
    assert_eq!(
        (&*other, &*note),
        ("regression", "assertion at the counter counts; recorded was assertion at no customer owes")
    );
    // It is repaired.
    suite.put("scenarios/bank.wasm", wasm(corpus::scenario("bank", true)));
    let (fixed, note, tests) = state(&[], 0);
    assert_eq!((&*fixed, &*note), ("fixed", "scenarios/bank.wasm passes, by the same decisions"));
    assert_eq!(tests, serde_json::json!({"passed": 2, "failed": 0, "skipped": 0}));
    // It passes because it is another one.
    suite.put("scenarios/bank.wasm", wasm(corpus::scenario("counter", true)));
    let (stale, note, tests) = state(&[], 0);
    assert!(stale == "stale" && note.contains("from decision"), "{stale} {note}");
    assert_eq!(tests, serde_json::json!({"passed": 1, "failed": 0, "skipped": 1}));
    // It is gone; who asks for others only is not told.
    suite.put("scenarios/other.wat", program(GOOD));
    assert_eq!(state(&["scenarios/other.wat"], 0).0, "");
    fs::remove_file(suite.0.path("scenarios/bank.wasm")).expect("it was put there");
    let (stale, note, _) = state(&[], 0);
    assert_eq!((&*stale, &*note), ("stale", "no scenario of the suite is called `bank.wasm`"));
    // A file that is no trace is one failed case.
    suite.put("regressions/owes.fozzy", "no trace");
    let document = suite.run(&["--json"]).exits(2).json();
    assert_eq!((&document["regressions"][0]["status"], &document["tests"]["passed"]), (&"error".into(), &1.into()));
}

#[test]
fn the_command_of_a_regression_quotes_each_of_its_paths() {
    let trap = r#"(module (memory (export "memory") 1) (func (export "_start") unreachable))"#;
    let suite = Suite::new().with("scenarios/a b;c.wat", trap);
    suite.put("regressions/.keep", "");
    suite.run(&["--record", "regressions/my rec.fozzy"]).exits(4);
    let document = suite.run(&["--json"]).exits(4).json();
    let command = "fozzy replay 'regressions/my rec.fozzy' --against 'scenarios/a b;c.wat'";
    assert_eq!(document["regressions"][0]["command"], command, "{document:#}");
    // A name on the command line is quoted in what is advised, too.
    let said = suite.run(&["regressions/my rec.fozzy"]).exits(2).err();
    assert!(said.contains("fozzy replay 'regressions/my rec.fozzy'; kept"), "{said}");
}

#[test]
fn a_component_that_is_judged_is_no_scenario_and_its_repair_is_seen() {
    let suite = Suite::new().with("scenarios/judge.wasm", wasm(corpus::scenario("kv-judge", false)));
    suite.put("scenarios/judge.expect.toml", "target = \"store.wasm\"");
    suite.put("scenarios/store.wasm", wasm(corpus::scenario("kv-store", false)));
    suite.put("regressions/.keep", "");
    let document = suite.run(&["--json", "--record", "regressions/lost.fozzy"]).exits(1).json();
    assert_eq!(
        (document["scenarios"].as_array().map(Vec::len), &document["scenarios"][0]["name"]),
        (Some(1), &"judge".into())
    );
    let state = |code| suite.run(&["--json"]).exits(code).json()["regressions"][0]["regression"].clone();
    assert_eq!(state(1), "regression");
    suite.put("scenarios/store.wasm", wasm(corpus::scenario("kv-store", true)));
    assert_eq!(state(0), "fixed");
    // Alone, it is something that nobody runs.
    suite.run(&["scenarios/store.wasm"]).exits(2);
}

#[test]
fn a_checker_that_a_plan_names_is_no_scenario() {
    let suite = Suite::new();
    suite.put("app.wat", "(module (memory (export \"memory\") 1) (func (export \"_start\")))");
    suite.put("judge.wat", "(module (memory (export \"memory\") 1) (func (export \"_start\") unreachable))");
    suite.put("app.plan.toml", "[expect]\ncheck = \"judge.wat\"\n");
    suite.put("tests/.keep", "");
    let document = suite.run(&["--json"]).json();
    let names: Vec<_> = document["scenarios"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["app"], "{document:#}");
}

#[test]
fn an_expected_failure_passes_under_expect_only() {
    let suite = Suite::new();
    for name in ["bank", "cache", "counter", "kv-judge", "parser", "queue", "retry"] {
        let expect = crate::fozzy::repository().join("scenarios").join(name).join("expect.toml");
        suite.put(&format!("scenarios/{name}.wasm"), wasm(corpus::scenario(name, false)));
        suite.put(&format!("scenarios/{name}.expect.toml"), fs::read(expect).expect("it is there"));
    }
    suite.put("scenarios/kv-store", wasm(corpus::scenario("kv-store", false)));
    // The example scenarios fail, since that is what they show; held to what was planted, they pass.
    suite.run(&["--jobs", "2"]).exits(4);
    let document = suite.run(&["--expect", "--json", "--jobs", "2"]).exits(0).json();
    let case = &document["scenarios"][0];
    assert_eq!((&case["result"], &case["status"]), (&"passed".into(), &"fail".into()));
    assert_eq!(case["note"], "as expected: fail assertion at no customer owes");
    // What passes where a failure is planted does not.
    suite.put("scenarios/bank.wasm", wasm(corpus::scenario("bank", true)));
    suite.run(&["scenarios/bank.wasm"]).exits(0);
    let document = suite.run(&["scenarios/bank.wasm", "--expect", "--json"]).exits(1).json();
    assert_eq!(document["scenarios"][0]["note"], "expected fail assertion at no customer owes, found pass");
    suite.put("scenarios/bank.expect.toml", "flows = 0");
    let document = suite.run(&["scenarios/bank.wasm", "--json"]).exits(2).json();
    assert!(
        document["scenarios"][0]["error"]["message"].as_str().expect("an error").contains("`flows` must be from 1")
    );
}

/// Small ones, in C, alone, and with a target.
const QUICK: [&str; 3] = ["c-ring", "counter", "kv-judge"];

/// The budget of each `expect.toml` finds what is planted, and what is mended passes: with 20 seeds of a suite in a long test;
/// else with one, and small scenarios only. `scenarios` always has 20 seeds of each, without suites.
#[test]
fn what_is_planted_is_found_with_every_seed_of_a_suite() {
    let suite = Suite::new();
    let is_long = std::env::var_os("FOZZY_LONG").is_some();
    let names: Vec<&str> =
        crate::scenarios::TESTED.iter().copied().filter(|name| is_long || QUICK.contains(name)).collect();
    for name in &names {
        let expect = crate::fozzy::repository().join("scenarios").join(name).join("expect.toml");
        let text = fs::read_to_string(expect).expect("it is there");
        let budget: toml::Table = text.parse().expect("it is TOML");
        suite.put(&format!("scenarios/{name}.wasm"), wasm(corpus::scenario(name, false)));
        suite.put(&format!("scenarios/{name}.expect.toml"), text);
        let steps = |key: &str| budget[key].as_integer().expect("a number");
        let mut fixed = format!("sequences = {}\nflows = {}\n", steps("sequences"), steps("flows"));
        if *name == "kv-judge" {
            fixed += "target = \"kv-store-fixed\"\n";
        }
        suite.put(&format!("scenarios/{name}-fixed.wasm"), wasm(corpus::scenario(name, true)));
        suite.put(&format!("scenarios/{name}-fixed.expect.toml"), fixed);
    }
    suite.put("scenarios/kv-store", wasm(corpus::scenario("kv-store", false)));
    suite.put("scenarios/kv-store-fixed", wasm(corpus::scenario("kv-store", true)));
    suite.put("scenarios/js-scores-fixed.plan.toml", "env = { FIXED = \"1\" }");
    for seed in 1..=if is_long { 20 } else { 1 } {
        let ran = suite.run(&["--expect", "--jobs", "2", "--json", "--seed", &seed.to_string()]).exits(0);
        let both = 2 * names.len();
        assert_eq!(ran.json()["tests"], serde_json::json!({"passed": both, "failed": 0, "skipped": 0}), "seed {seed}");
    }
}

#[test]
fn junit_has_a_testcase_for_each_scenario() {
    let suite = Suite::new().with("scenarios/a.wat", program(GOOD)).with("scenarios/b.wat", program(FAILS));
    suite.put("scenarios/c.wat", program(ENDLESS));
    suite.put("scenarios/d & <e>.wat", program(TRAPS));
    suite.put("scenarios/f.wat", "(component");
    let ran = suite.run(&["--fuel", "1000000", "--reporter", "junit", "--out", "junit.xml"]).exits(2);
    assert!(ran.out().starts_with("fozzy test  5 scenarios"), "{ran}");
    let xml = String::from_utf8(suite.0.read("junit.xml")).expect("UTF-8");
    let document = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    let root = document.root_element();
    let counts =
        ["tests", "failures", "errors", "skipped"].map(|key| root.attribute(key).unwrap_or_default().to_owned());
    assert_eq!(counts, ["5", "3", "1", "0"], "{xml}");
    let cases = root.descendants().filter(|node| node.has_tag_name("testcase"));
    let row = |case: roxmltree::Node<'_, '_>| {
        let result =
            case.children().find(|node| ["failure", "error", "skipped"].iter().any(|name| node.has_tag_name(*name)));
        let kind =
            result.map(|node| format!("{} {}", node.tag_name().name(), node.attribute("type").unwrap_or_default()));
        (case.attribute("name").unwrap_or_default().to_owned(), kind.unwrap_or_default())
    };
    let found: Vec<(String, String)> = cases.map(row).collect();
    let expected = [
        ("a", ""),
        ("b", "failure fail"),
        ("c", "failure timeout"),
        ("d & <e>", "failure crash"),
        ("f", "error error"),
    ];
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind.to_owned())));
    assert!(xml.contains("replay it: fozzy replay"), "{xml}");
}

#[test]
fn traces_are_numbered_by_path_and_a_page_is_whole() {
    let suite = Suite::new().with("scenarios/b.wat", program(FAILS)).with("scenarios/a.wat", program(GOOD));
    suite.run(&["--record", "all.fozzy"]).exits(1);
    assert_eq!(suite.0.names(), ["all.1.fozzy", "all.2.fozzy", "scenarios"]);
    suite.0.run(&["replay", "all.1.fozzy"]).exits(0);
    suite.0.run(&["replay", "all.2.fozzy"]).exits(1);
    suite.run(&["--record", "all.fozzy", "--record-collision", "error"]).refuses(&["all.1.fozzy"]);
    let page = suite.run(&["--reporter", "html"]).exits(1).out();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"), "{page}");
    assert!(
        page.contains("<code>scenarios/b.wat</code>") && !page.contains("src=\"") && !page.contains("http"),
        "{page}"
    );
    let annotated = suite.0.shell("GITHUB_ACTIONS=true fozzy test --json").exits(1);
    assert!(
        annotated.err().contains("::error file=scenarios/b.wat,title=scenarios/b.wat%3A FAIL::the program exited"),
        "{annotated}"
    );
    assert_eq!(annotated.json()["mode"], "test");
}

#[test]
fn crates_are_built_and_one_that_does_not_build_is_one_case() {
    let suite = Suite::new();
    for (name, main) in [("fine", "fn main() {}"), ("wrong", "fn main() { nothing }")] {
        let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n");
        suite.put(&format!("scenarios/{name}/Cargo.toml"), manifest);
        suite.put(&format!("scenarios/{name}/src/main.rs"), main);
    }
    let ran = suite.run(&["--json"]).exits(2);
    let found = told(&ran.json());
    assert_eq!((&*found[0].0, &*found[0].1), ("fine", "pass"), "{ran}");
    assert_eq!((&*found[1].0, &*found[1].1), ("wrong", "error"), "{ran}");
    assert!(found[1].2.contains("does not build") && ran.err().contains("nothing"), "{ran}");
}

#[test]
fn the_page_of_a_run_has_its_profile_its_memory_and_its_machines() {
    let fozzy = Fozzy::new();
    let steps = r#"{"version":1,"name":"d","distributed":{"nodes":["a","b"],
        "steps":[{"type":"client_put","node":"a","key":"k","value":"<b>v</b>"},{"type":"tick","duration":"5ms"}],"invariants":[]}}"#;
    fozzy.write("d.fozzy.json", steps);
    fozzy.run(&["run", "d.fozzy.json", "--record", "d.fozzy"]).exits(0);
    let page = fozzy.run(&["report", "show", "d.fozzy", "--format", "html"]).exits(0).out();
    for part in ["<summary>profile</summary>", "<summary>memory</summary>", "sandbox=\"allow-scripts\" srcdoc=\""] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<b>v") && !page.contains("http://") && !page.contains("https://"), "{page}");
}
