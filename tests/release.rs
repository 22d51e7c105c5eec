//! What a release on GitHub has, and the action that installs and runs it: the scripts themselves, with the command of this build.
//!
//! ```text
//! .ci/release --binary fozzy ─▶ archive, SHA256SUMS ─ file:// ─▶ .github/action/{prepare, install, test, fuzz, verdict}
//! action.yml                    its steps call scripts that are there, with inputs that it has
//! ```
//!
//! Not here: the actions of others that it uses, and the build with optimisation.

use crate::fozzy::{Fozzy, binary, repository};
use std::collections::BTreeSet;
use std::fs;
use yaml_rust2::{Yaml, YamlLoader};

/// Archives of the command as it is built for these tests, and the name of the one that has it.
fn release(fozzy: &Fozzy) -> String {
    // Fast instead of small; an option of gzip.
    let script = repository().join(".ci/release");
    let line =
        format!("FOZZY_GZIP=-1 SOURCE_DATE_EPOCH=1 '{}' --binary '{}' --out v0", script.display(), binary().display());
    fozzy.shell(&line).exits(0);
    let sums = String::from_utf8(fozzy.read("v0/SHA256SUMS")).expect("text");
    let name = sums.lines().find_map(|line| line.split_once("  ")).expect("an archive with its checksum").1.to_owned();
    name.strip_suffix(".tar.gz").expect("an archive").to_owned()
}

#[test]
fn a_release_has_the_command_its_completions_and_its_manual() {
    let fozzy = Fozzy::new();
    let name = release(&fozzy);
    let version = env!("CARGO_PKG_VERSION");
    assert!(name.starts_with(&format!("fozzy-{version}-")), "{name}");
    fozzy.shell("cd v0 && sha256sum --check --strict SHA256SUMS").exits(0);
    fozzy.shell(&format!("tar -xzf v0/{name}.tar.gz && mv {name} unpacked")).exits(0);
    for file in
        ["README.md", "CHANGELOG.md", "LICENSE", "THIRD-PARTY-LICENSES", "man/man1/fozzy.1", "man/man1/fozzy-run.1"]
    {
        assert!(fozzy.path("unpacked").join(file).is_file(), "{file} is missing");
    }
    for (file, shell) in [("fozzy.bash", "bash"), ("_fozzy", "zsh"), ("fozzy.fish", "fish")] {
        let printed = fozzy.run(&["completions", shell]).exits(0).out();
        assert_eq!(fozzy.read(&format!("unpacked/completions/{file}")), printed.as_bytes(), "{file}");
    }
    fozzy.shell("cd unpacked && ./fozzy version").exits(0);

    let first = fozzy.read(&format!("v0/{name}.tar.gz"));
    release(&fozzy);
    assert!(first == fozzy.read(&format!("v0/{name}.tar.gz")), "the same command gives the same archive");
    fozzy.shell(&format!("'{}' --nonsense", repository().join(".ci/release").display())).exits(2);
}

/// A job of GitHub's, as far as scripts see it.
const RUNNER: &str = r#"
set -eu
export GITHUB_ACTION_PATH='REPOSITORY' RUNNER_TEMP="$PWD/temp" RUNNER_OS=Linux RUNNER_ARCH=X64 GITHUB_ACTIONS=true
export GITHUB_OUTPUT="$PWD/output" GITHUB_PATH="$PWD/path" GITHUB_STEP_SUMMARY="$PWD/summary"
action="$GITHUB_ACTION_PATH/.github/action"
mkdir -p temp
export FOZZY_REPORTS="$RUNNER_TEMP/fozzy-reports" FOZZY_TOOLS="$RUNNER_TEMP/fozzy-tools" FOZZY_RELEASES="file://$PWD"
"#;

/// A core module whose fuzz target traps when its input begins with an `A`.
const PARSER: &str = r#"(module
  (memory (export "memory") 1)
  (global $next (mut i32) (i32.const 1024))
  (func (export "malloc") (param $size i32) (result i32)
    (global.get $next)
    (global.set $next (i32.add (global.get $next) (local.get $size))))
  (func (export "LLVMFuzzerTestOneInput") (param $data i32) (param $size i32) (result i32)
    (if (i32.gt_u (local.get $size) (i32.const 0))
      (then (if (i32.eq (i32.load8_u (local.get $data)) (i32.const 65)) (then unreachable))))
    (i32.const 0)))"#;

#[test]
fn the_action_installs_a_release_runs_scenarios_and_reports() {
    let fozzy = Fozzy::new();
    let archive = release(&fozzy);
    let version = format!("v{}", env!("CARGO_PKG_VERSION"));
    fs::rename(fozzy.path("v0"), fozzy.path(&version)).expect("a folder");
    let runner = RUNNER.replace("REPOSITORY", &repository().display().to_string());
    let step = |script: &str| fozzy.shell(&format!("{runner}\n{script}"));
    let said = |name: &str| String::from_utf8(fozzy.read(name)).expect("text");

    // A tag of the action is the release; what is no release is built from its sources.
    let prepare = |asked: &str, tag: &str| {
        let line = format!("rm -f output; FOZZY_VERSION='{asked}' FOZZY_ACTION_REF='{tag}' $action/prepare");
        (step(&line), if fozzy.path("output").exists() { said("output") } else { String::new() })
    };
    assert!(prepare("", &version).1.contains(&format!("version={version}\n")));
    assert!(prepare("", "main").1.contains("version=source\n"));
    prepare("../../v1", "").0.exits(2);

    // What has another checksum is not installed.
    let install = format!("FOZZY_VERSION={version} $action/install");
    let good = fozzy.read(&format!("{version}/SHA256SUMS"));
    fozzy.write(&format!("{version}/SHA256SUMS"), format!("{}  {archive}.tar.gz\n", "0".repeat(64)));
    assert!(step(&install).exits(2).out().contains("::error title=fozzy::"), "a wrong checksum is said");
    assert!(!fozzy.path("temp/fozzy-tools/bin/fozzy").exists());
    fozzy.write(&format!("{version}/SHA256SUMS"), good);
    step(&install).exits(0);
    assert!(said("path").contains("temp/fozzy-tools/bin"), "the command is on the path");
    assert!(said("output").contains(&format!("version={}\n", env!("CARGO_PKG_VERSION"))));

    // In a project with a scenario that fails, and a target with a fault.
    fozzy.shell("fozzy init project").exits(0);
    let in_project =
        |line: &str| step(&format!("PATH=\"$(tail -n 1 path):$PATH\"; rm -f output summary; cd project; {line}"));
    in_project("FOZZY_SCENARIOS= FOZZY_ARGUMENTS='--jobs 2' $action/test").exits(0);
    assert!(said("output").contains("code=0\nfailed=false\n"), "{}", said("output"));
    let failing = r#"{"version":1,"name":"bad","steps":[{"type":"assert_eq_int","a":1,"b":2}]}"#;
    fozzy.write("project/tests/bad.fozzy.json", failing);
    let tested = in_project("FOZZY_SCENARIOS='tests/bad.fozzy.json' FOZZY_ARGUMENTS= $action/test").exits(0);
    assert!(tested.err().contains("::error file=tests/bad.fozzy.json"), "annotations: {}", tested.err());
    assert!(said("output").contains("code=1\nfailed=true\n"), "{}", said("output"));
    assert!(said("summary").contains("1 scenarios, 1 failed"), "{}", said("summary"));
    assert!(said("temp/fozzy-reports/junit.xml").contains("failures=\"1\""));
    step("ls temp/fozzy-reports/traces/*/bad.fozzy").exits(0);

    fozzy.write("project/parser.wat", PARSER);
    let fuzz = "FOZZY_TARGETS='parser.wat --runs 20000\n\n' FOZZY_TIME=30s $action/fuzz";
    in_project(fuzz).exits(0);
    assert!(said("output").contains("failed=true\n") && said("output").contains("sarif=true\n"), "{}", said("output"));
    let sarif: serde_json::Value =
        serde_json::from_slice(&fozzy.read("temp/fozzy-reports/sarif/1.sarif")).expect("SARIF is JSON");
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"].as_array().expect("a list").len(), 1, "{sarif:#}");

    step("FOZZY_TEST=1 FOZZY_FUZZ=4 $action/verdict").exits(4);
    step("FOZZY_TEST= FOZZY_FUZZ=0 $action/verdict").exits(0);
}

/// Expressions of a text: `inputs.x`, `steps.y.outputs.z`.
fn expressions(text: &str) -> BTreeSet<String> {
    let is_word = |character: char| character.is_alphanumeric() || "._-".contains(character);
    let words = text.split(|character| !is_word(character));
    words.filter(|word| word.starts_with("inputs.") || word.starts_with("steps.")).map(str::to_owned).collect()
}

#[test]
fn the_actions_file_is_what_github_reads() {
    let path = repository().join("action.yml");
    let text = fs::read_to_string(&path).expect("action.yml");
    let documents = YamlLoader::load_from_str(&text).expect("YAML");
    let action = &documents[0];
    let keys = |of: &Yaml| -> BTreeSet<String> {
        of.as_hash().into_iter().flatten().filter_map(|(key, _)| key.as_str().map(str::to_owned)).collect()
    };
    let set = |words: &[&str]| -> BTreeSet<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    assert_eq!(keys(action), set(&["name", "description", "branding", "inputs", "outputs", "runs"]));
    assert!(action["description"].as_str().is_some_and(|words| words.len() <= 125), "a longer one is refused");
    for (name, input) in action["inputs"].as_hash().expect("inputs") {
        assert_eq!(keys(input), set(&["description", "default"]), "{name:?}");
        assert!(input["default"].as_str().is_some(), "{name:?}: GitHub's inputs are texts");
    }
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    let (inputs, mut written) = (keys(&action["inputs"]), BTreeSet::new());
    let mut scripts = BTreeSet::new();
    for step in action["runs"]["steps"].as_vec().expect("steps") {
        let allowed = set(&["id", "if", "shell", "run", "env", "uses", "with", "working-directory"]);
        assert!(keys(step).is_subset(&allowed), "{step:?}");
        assert!(step["run"].is_badvalue() != step["uses"].is_badvalue(), "a step runs or uses: {step:?}");
        if let Some(uses) = step["uses"].as_str() {
            assert!(uses.split_once('@').is_some_and(|(_, version)| version.starts_with('v')), "{uses}");
            continue;
        }
        assert_eq!(step["shell"].as_str(), Some("bash"), "a script of a composite action has a shell: {step:?}");
        let run = step["run"].as_str().expect("text");
        let script = run.trim_matches('"').strip_prefix("$GITHUB_ACTION_PATH/").expect("a script of ours, quoted");
        let source = fs::read_to_string(repository().join(script)).unwrap_or_else(|error| panic!("{script}: {error}"));
        scripts.insert(script.rsplit('/').next().expect("a name").to_owned());
        // What a user writes comes by the environment, never into the text of a script.
        assert!(!run.contains("${{"), "{run}");
        for variable in keys(&step["env"]) {
            assert!(source.contains(&variable), "{script} does not read {variable}");
        }
        let id = step["id"].as_str().expect("a step of ours has a name");
        for output in ["version", "tools", "key", "reports", "code", "failed", "sarif", "passed"] {
            let is_written = source.contains(&format!("echo \"{output}="));
            written.extend(is_written.then(|| format!("steps.{id}.outputs.{output}")));
        }
    }
    for used in expressions(&text) {
        match used.strip_prefix("inputs.") {
            Some(input) => assert!(inputs.contains(input), "{used} is no input"),
            None => assert!(written.contains(&used), "no script writes {used}"),
        }
    }
    let there = fs::read_dir(repository().join(".github/action")).expect("scripts").flatten();
    let there: BTreeSet<String> = there.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(there, scripts, "each script is a step");
    let workflow = fs::read_to_string(repository().join(".github/workflows/release.yml")).expect("the workflow");
    let workflow = &YamlLoader::load_from_str(&workflow).expect("YAML")[0];
    assert!(workflow["jobs"]["archives"]["steps"].as_vec().is_some_and(|steps| steps.len() > 3));
}
