//! What commands print under `--json` is what `fozzy schema` says, checked by a validator that is not ours.
//!
//! ```text
//! fozzy schema NAME ─▶ closed: no key that it does not name ─┐
//! fozzy … --json ────────────────────────────────────────────┴─▶ jsonschema
//! ```
//!
//! Invariant: every document of `fozzy schema` is printed by a case here.

use crate::corpus::{self, Target};
use crate::fozzy::{Fozzy, repository};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Programs and traces that the commands are about.
fn prepared() -> Fozzy {
    let fozzy = Fozzy::new();
    for name in ["pass.wat", "fails.wat", "recorded.wat", "letters.wat"] {
        let from = repository().join("tests/programs").join(name);
        fozzy.write(name, std::fs::read(from).expect("it is committed"));
    }
    let (counter, probe) = (corpus::scenario("counter", false), corpus::probe(Target::Wasip2));
    std::fs::copy(corpus::scenario("maelstrom-node", false), fozzy.path("node.wasm")).expect("it is built");
    std::fs::copy(counter, fozzy.path("counter.wasm")).expect("it is built");
    std::fs::copy(probe, fozzy.path("probe.wasm")).expect("it is built");
    std::fs::create_dir(fozzy.path("corpus")).expect("a folder");
    fozzy.write("corpus/a", "a");
    fozzy.write("plan.toml", "");
    fozzy.write(
        "old.fozzy",
        r#"{"format": "fozzy-trace", "version": 4, "fuzz": {"target": "scenario:fails.fozzy.json"},
            "summary": {"status": "fail", "identity": {"seed": 1}}}"#,
    );
    fozzy.write(
        "fails.fozzy.json",
        r#"{"version": 1, "name": "f", "steps": [{"type": "fail", "message": "as it should"}]}"#,
    );
    fozzy.run(&["run", "fails.wat", "--seed", "1", "--record", "a.fozzy"]).exits(4);
    fozzy.run(&["run", "recorded.wat", "--seed", "2", "--record", "b.fozzy"]).exits(0);
    let write =
        ["run", "probe.wasm", "--faults", "disk-full:100%", "--record", "f.fozzy", "--", "write", "/a.txt", "x"];
    fozzy.run(&write);
    fozzy
}

/// Documents, and commands that print them.
const CASES: &[(&str, &str)] = &[
    ("run", "fozzy run fails.wat --json"),
    ("run", "fozzy run counter.wasm --json"),
    ("run", "fozzy replay a.fozzy --json"),
    ("run", "fozzy replay a.fozzy --against recorded.wat --json"),
    ("run", "fozzy branch b.fozzy --at 1 --json"),
    ("run", "fozzy shrink a.fozzy --json"),
    ("run", "fozzy fuzz letters.wat --det --runs 500 --minimize --json"),
    ("run", "fozzy explore counter.wasm --runs 30 --steps 40 --json"),
    ("run", "cat .fozzy/runs/*/report.json | head -c 0; fozzy report show a.fozzy --format json"),
    ("suite", "fozzy test pass.wat fails.wat plan.toml --json"),
    ("manifest", "cat $(ls -d .fozzy/runs/*-* | head -1)/manifest.json"),
    (
        "fuzz-coverage",
        "fozzy fuzz letters.wat --runs 5 >/dev/null 2>&1; cat $(ls .fozzy/runs/*/coverage.json | head -1)",
    ),
    ("state", "fozzy replay b.fozzy --call 1 --json"),
    ("state", "fozzy replay b.fozzy --call 2 --events 2 --memory 1024:16 --json"),
    ("causality", "fozzy causality f.fozzy --moments 2 --runs 2 --json"),
    ("findability", "fozzy findability f.fozzy --runs 2 --json"),
    ("benchmark", "fozzy benchmark counter.wasm --max-workers 1 --time 100ms --json"),
    ("profile-top", "fozzy profile top a.fozzy --json"),
    ("profile-flame", "fozzy profile flame a.fozzy --json"),
    ("profile-timeline", "fozzy profile timeline a.fozzy --json"),
    ("profile-diff", "fozzy profile diff a.fozzy b.fozzy --json"),
    ("profile-explain", "fozzy profile explain a.fozzy --diff-with b.fozzy --json"),
    ("profile-env", "fozzy profile env --json"),
    ("profile-shrink", "fozzy profile shrink a.fozzy --metric cpu_time --budget 2s --out s.fozzy --json"),
    ("profile-doctor", "fozzy profile doctor a.fozzy --deep --json"),
    ("profile-export", "fozzy profile export a.fozzy --format pprof --out p --json"),
    ("map-hotspots", "fozzy map hotspots --scenario-root letters.wat --run a.fozzy --json"),
    ("map-services", "fozzy map services --scenario-root letters.wat --json"),
    ("map-suites", "fozzy map suites --scenario-root letters.wat --json"),
    ("memory-top", "fozzy memory top a.fozzy --json"),
    ("memory-graph", "fozzy memory graph a.fozzy --json"),
    ("memory-diff", "fozzy memory diff a.fozzy b.fozzy --json"),
    ("seeds", "fozzy seeds --json"),
    (
        "history-check",
        "echo '{:type :invoke, :process 0, :f :read} {:type :ok, :process 0, :f :read, :value 3}' > h.edn; fozzy check h.edn --json",
    ),
    (
        "history-check",
        "echo '{:type :invoke, :process 0, :f :write, :value 1}' > h.edn; fozzy check h.edn --time 0s --json",
    ),
    (
        "history-check",
        "echo '{:type :ok, :f :add, :value 1} {:type :ok, :f :read, :value []}' > h.edn; fozzy check h.edn --checker set --json",
    ),
    ("ablation", "fozzy ablate f.fozzy --json"),
    ("diff", "fozzy diff recorded.wat fails.wat --json"),
    ("diff", "fozzy diff recorded.wat recorded.wat --json"),
    ("mutants", "fozzy mutants counter.wasm --sequences 1 --flows 3 --limit 4 --json"),
    ("mine", "fozzy mine recorded.wat --seeds 6 --json"),
    ("suspects", "fozzy suspects counter.wasm --seeds 20 --sequences 1 --flows 20 --json"),
    ("fleet", "fozzy fleet fails.wat --time 1s --json"),
    (
        "dashboard",
        "echo '[[fault]]\nkind = \"clock-step\"' >fails.plan.toml; fozzy fleet fails.wat --time 1s >/dev/null; \
         fozzy dashboard fails.wat --export site --execute --json",
    ),
    ("fault-map", "rm fails.plan.toml; cat site/api/targets/*/faults.json"),
    ("store-copy", "fozzy store copy .fozzy/fleet moved --json"),
    (
        "store-dismiss",
        "fozzy store dismiss $(grep -h trace moved/values/failures/*/*/*.json | grep -oE '[0-9a-f]{64}' | head -1) \
         --store moved --json",
    ),
    ("fleet-target", "cat site/api/targets/*.json"),
    ("verification", "fozzy trace verify a.fozzy --json"),
    ("verification", "fozzy trace verify plan.toml --json"),
    ("migration", "fozzy trace migrate old.fozzy --json"),
    ("history", "fozzy trace show b.fozzy --json"),
    ("inspection", "fozzy inspect counter.wasm --json"),
    ("coverage", "fozzy coverage b.fozzy --json"),
    ("corpus-list", "fozzy corpus list corpus --json"),
    ("corpus-added", "fozzy corpus add corpus plan.toml --json"),
    ("corpus-minimized", "fozzy corpus minimize corpus --target letters.wat --json"),
    ("clean", "fozzy clean --runs 1000 --dry-run --json"),
    ("corpus-exported", "fozzy corpus export corpus --out c.zip --json"),
    ("corpus-imported", "fozzy corpus export corpus --out c.zip >/dev/null; fozzy corpus import c.zip --out d --json"),
    ("artifacts", "fozzy artifacts ls a.fozzy --json"),
    ("artifacts", "fozzy artifacts export a.fozzy --out out --json"),
    ("artifacts", "fozzy artifacts diff a.fozzy b.fozzy --json"),
    ("bundle", "fozzy artifacts bundle a.fozzy --out bundle >/dev/null; cat bundle/bundle.json"),
    ("ci", "fozzy ci a.fozzy --json"),
    ("gate", "fozzy gate --scenario-root pass.wat --doctor-runs 2 --json"),
    ("full", "fozzy full --scenario-root letters.wat --fuzz-time 10ms --doctor-runs 2 --json 2>progress"),
    ("progress", "fozzy full --skip-steps init --scenario-root gone --json 2>&1 >/dev/null | head -1"),
    ("progress", "fozzy full --skip-steps init --scenario-root gone --json 2>&1 >/dev/null | tail -1"),
    ("report", "fozzy report show a.fozzy --format html --json"),
    ("maelstrom", "fozzy maelstrom test -w echo --bin node.wasm --time-limit 2 --json"),
    ("maelstrom", "fozzy maelstrom test -w unique-ids --bin node.wasm --node-count 3 --time-limit 2 --json"),
    ("paths", "fozzy report query a.fozzy --list-paths --json"),
    ("flakiness", "fozzy report flaky a.fozzy b.fozzy --json"),
    ("validation", "fozzy validate plan.toml --json"),
    ("validation", "echo 'x = 1' > wrong.toml; fozzy validate wrong.toml --json"),
    (
        "scenario-validation",
        "echo '{\"version\":1,\"name\":\"s\",\"steps\":[]}' > s.fozzy.json; fozzy validate s.fozzy.json --json",
    ),
    ("examination", "fozzy doctor --json"),
    ("examination", "fozzy doctor --deep --scenario recorded.wat --runs 2 --json"),
    ("init", "fozzy init app --json"),
    ("usage", "fozzy usage --json"),
    ("man", "fozzy man pages --json"),
    ("env", "fozzy env --json"),
    ("version", "fozzy version --json"),
    ("error", "fozzy run gone.wat --json"),
    ("error", "fozzy --json nonsense"),
];

#[test]
fn every_document_is_as_its_schema_says_and_has_no_other_key() {
    let fozzy = prepared();
    let all = fozzy.run(&["schema", "--json"]).exits(0).json();
    let documents = all["documents"].as_object().expect("schemas by name");
    let shown: BTreeSet<&str> = CASES.iter().map(|(name, _)| *name).collect();
    let known: BTreeSet<&str> = documents.keys().map(String::as_str).collect();
    assert_eq!(shown, known, "each document has a case");
    for (name, script) in CASES {
        let mut schema = documents[*name]["schema"].clone();
        close(&mut schema);
        let validator = jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        let ran = fozzy.shell(script);
        let document = ran.json();
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| format!("{} at {}", error, error.instance_path)).collect();
        assert!(errors.is_empty(), "{script} is no `{name}`:\n{}\n{document:#}", errors.join("\n"));
    }
}

#[test]
fn every_kind_of_step_has_a_name_and_a_schema() {
    let all = Fozzy::new().run(&["schema"]).exits(0).json();
    let count = |key: &str| all[key].as_array().map_or(0, Vec::len);
    assert_eq!((count("stepTypes"), count("distributedInvariantTypes")), (42, 3), "{}", all["stepTypes"]);
    for (names, schemas) in [("stepTypes", "stepSchemas"), ("distributedStepTypes", "distributedStepSchemas")] {
        for name in all[names].as_array().expect("a list") {
            let schema = &all[schemas][name.as_str().expect("a word")];
            assert!(schema["properties"].as_object().is_some_and(|keys| keys.contains_key("type")), "{name}: {schema}");
        }
    }
}

/// Scenario files of the repository.
fn scenario_files() -> Vec<PathBuf> {
    let folders = ["tests/cli", "scenarios"].map(|name| std::fs::read_dir(repository().join(name)).expect("a folder"));
    let files = folders.into_iter().flatten().flatten().filter_map(|folder| std::fs::read_dir(folder.path()).ok());
    let mut files: Vec<PathBuf> = files.flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_str().is_some_and(|path| path.ends_with(".fozzy.json")));
    files.sort();
    files
}

#[test]
fn a_scenario_file_that_is_read_is_as_the_schema_of_its_version_says() {
    let fozzy = Fozzy::new();
    let schema = |name: &str| {
        let schema = fozzy.run(&["schema", name]).exits(0).json();
        jsonschema::validator_for(&schema).expect("a schema")
    };
    let validators = [schema("scenario"), schema("scenario-v2")];
    let mut checked = [0; 2];
    for path in scenario_files() {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let Ok(document) = serde_json::from_str::<Value>(&text) else { continue };
        let Some(version @ 1..=2) = document["version"].as_u64() else { continue };
        let place = version as usize - 1;
        let is_valid = validators[place].is_valid(&document);
        // The schema knows less than the reader: what it refuses is refused there too.
        if !is_valid {
            let read = fozzy.run(&["validate", path.to_str().expect("a name")]).code == Some(0);
            assert!(is_valid || !read, "{} is read, and is no scenario by the schema", path.display());
        }
        checked[place] += usize::from(is_valid);
    }
    assert!(checked[0] > 40 && checked[1] > 20, "files of both versions: {checked:?}");
    // And it refuses what is not so.
    for wrong in [
        r#"{"version": 2, "name": "a", "steps": [{"type": "set_kv", "key": "a", "vlaue": "1"}]}"#,
        r#"{"version": 2, "name": "a", "steps": [{"type": "if", "when": {"qe": [1, 1]}, "then": [{"type": "unfreeze"}]}]}"#,
        r#"{"version": 2, "name": "a", "steps": [{"type": "assert_eq_int", "a": "one", "b": 1}]}"#,
        r#"{"version": 2, "name": "a", "steps": [{"type": "fs_write", "path": "a", "data": {"base46": ""}}]}"#,
    ] {
        let wrong: Value = serde_json::from_str(wrong).expect("JSON");
        assert!(!validators[1].is_valid(&wrong), "{wrong}");
    }
}

#[test]
fn a_schema_refuses_what_is_no_such_document() {
    let fozzy = Fozzy::new();
    let mut schema = fozzy.run(&["schema", "ci"]).exits(0).json();
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let right = serde_json::json!({"schemaVersion": "fozzy.ci_report.v1", "ok": true, "checks": []});
    assert!(validator.is_valid(&right));
    for (key, value) in [("ok", Value::from("yes")), ("checks", Value::Null), ("more", Value::from(1))] {
        let mut wrong = right.clone();
        wrong[key] = value;
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}

/// Objects have the keys that the schema names, and no others: what is written and not described is noticed.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let is_open = !fields.contains_key("additionalProperties") && !fields.contains_key("unevaluatedProperties");
            fields.values_mut().for_each(close);
            if fields.contains_key("properties") && fields.get("type").is_some_and(|it| it == "object") && is_open {
                fields.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
