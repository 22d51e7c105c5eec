//! What `fozzy init` writes: it builds by the words of its own README, and passes.
//!
//! ```text
//! fozzy init app --template T ─▶ files ─▶ the commands that it prints ─▶ fozzy run, fozzy test ─▶ pass
//! ```
//!
//! Invariant: no template is left out. That of JavaScript takes half a minute to build, so it is built with FOZZY_LONG=1;
//! `scenarios/js-scores`, which is built the same way, always is.

use crate::corpus;
use crate::fozzy::{Fozzy, repository};

/// Writes the template, prepares its folder as the test's machine needs it, and does what `fozzy init` says is next.
fn passes(template: &str, prepare: &str, environment: &str, property: &str) {
    let fozzy = Fozzy::new();
    let written = fozzy.run(&["init", "app", "--template", template, "--json"]).exits(0).json();
    let files: Vec<&str> =
        written["files"].as_array().expect("a list").iter().filter_map(|file| file.as_str()).collect();
    assert!(files.contains(&"README.md") && files.contains(&"fozzy.toml"), "{files:?}");
    for file in &files {
        assert!(fozzy.path("app").join(file).is_file(), "{file} was not written");
        let text = String::from_utf8(fozzy.read(&format!("app/{file}"))).expect("text");
        assert!(!text.contains("@SDK@"), "{file}");
    }
    if !prepare.is_empty() {
        fozzy.shell(&format!("cd app && {prepare}")).exits(0);
    }
    let next: Vec<&str> = written["next"].as_array().expect("a list").iter().filter_map(|line| line.as_str()).collect();
    assert!(next.contains(&"fozzy test"), "{next:?}");
    let run = next.iter().find(|line| line.starts_with("fozzy run ")).expect("it is to be run");
    let ran = fozzy.shell(&format!("cd app && {environment} {run} --json")).exits(0).json();
    assert_eq!(ran["status"], "pass", "{ran}");
    let suite = fozzy.shell(&format!("cd app && {environment} fozzy test --json")).exits(0).json();
    assert_eq!(suite["tests"], serde_json::json!({"passed": 6, "failed": 0, "skipped": 0}), "{suite}");
    let properties = ran["properties"].to_string();
    assert!(properties.contains(property), "{template}: `{property}` is not in {properties}");
    for plan in files.iter().filter(|file| file.starts_with("plans/")) {
        fozzy.run(&["validate", "--cwd", "app", plan]).exits(0);
    }
}

#[test]
fn the_minimal_template_passes_as_it_is() {
    passes("minimal", "", "", "a square is not negative");
}

#[test]
fn the_rust_template_is_built_and_passes() {
    passes("rust", "", "", "the counter shows the sum");
}

#[test]
fn the_c_template_is_built_by_its_makefile_and_passes() {
    corpus::c_toolchain();
    passes("c", "", "", "the counter shows the sum");
}

#[test]
fn the_go_template_is_built_by_its_makefile_and_passes() {
    let (go, cache) = corpus::go();
    let environment = format!("GOTOOLCHAIN=local GOCACHE={} GO={}", cache.display(), go.display());
    passes("go", "", &environment, "the counter shows the sum");
}

/// Writes the template of a node, and tests the node as `fozzy init` says.
fn is_a_node(template: &str, environment: &str) {
    let fozzy = Fozzy::new();
    let written = fozzy.run(&["init", "app", "--template", template, "--json"]).exits(0).json();
    let next: Vec<&str> = written["next"].as_array().expect("a list").iter().filter_map(|line| line.as_str()).collect();
    assert!(next.len() == 3 && !fozzy.path("app/tests").exists(), "{written}");
    let readme = String::from_utf8(fozzy.read("app/README.md")).expect("text");
    for line in next {
        assert!(readme.contains(line), "{line}");
        let ran = fozzy.shell(&format!("cd app && {environment} {line} --time-limit 10 --json")).exits(0).json();
        assert_eq!(ran["results"]["valid?"], true, "{line}: {ran}");
    }
}

#[test]
fn the_node_in_rust_is_built_and_passes() {
    is_a_node("maelstrom-rust", "");
}

#[test]
fn the_node_in_go_is_built_and_passes() {
    let (go, cache) = corpus::go();
    let bin = go.parent().expect("a folder");
    is_a_node("maelstrom-go", &format!("GOTOOLCHAIN=local GOCACHE={} PATH={}:$PATH", cache.display(), bin.display()));
}

#[test]
fn the_javascript_template_is_written_and_in_a_long_test_built() {
    let fozzy = Fozzy::new();
    let listed = fozzy.run(&["init", "app", "--template", "js", "--json"]).exits(0).json();
    assert!(listed["files"].to_string().contains("wit/deps/fozzy-scenario.wit"), "{listed}");
    if std::env::var_os("FOZZY_LONG").is_some() {
        let script = corpus::componentizer();
        let modules = script.ancestors().nth(4).expect("it is in node_modules");
        let link = format!("ln -s {} node_modules", modules.display());
        passes("js", &link, "", "the counter shows the sum");
    }
}

#[test]
fn the_scenario_files_run_by_the_words_of_the_first_readme() {
    let fozzy = Fozzy::new();
    fozzy.shell("fozzy init --force").exits(0);
    for line in [
        "fozzy run tests/example.fozzy.json --det --json",
        "fozzy run tests/example.fozzy.json --det --record run.fozzy --json",
        "fozzy trace verify run.fozzy --strict --json",
        "fozzy replay run.fozzy --json",
        "fozzy ci run.fozzy --json",
        "fozzy doctor --deep --scenario tests/example.fozzy.json --runs 5 --seed 12345 --json",
        "fozzy test --det --strict tests/example.fozzy.json tests/memory.pass.fozzy.json --json",
        "fozzy run tests/host.pass.fozzy.json --det --proc-backend host --fs-backend host --http-backend host --json",
        "fozzy validate tests/run.pass.fozzy.json --json",
    ] {
        fozzy.shell(line).exits(0).json();
    }
    assert_eq!(fozzy.read(".fozzy-host-example.txt"), b"hello\n");
}

#[test]
fn what_is_there_already_is_named_and_left_alone() {
    let fozzy = Fozzy::new();
    fozzy.write("notes.txt", "mine");
    std::fs::create_dir(fozzy.path("src")).expect("room");
    let said = fozzy.run(&["init"]).exits(0).err();
    assert!(said.contains("notes.txt, src were there already and stay as they are"), "{said}");
    assert_eq!(fozzy.read("notes.txt"), b"mine");
    assert!(!Fozzy::new().run(&["init"]).exits(0).err().contains("already"));
}

#[test]
fn nothing_is_written_over_unless_it_is_forced() {
    let fozzy = Fozzy::new();
    fozzy.run(&["init"]).exits(0);
    fozzy.write("scenario.wat", "mine");
    fozzy.run(&["init", "--template", "minimal"]).refuses(&["fozzy.toml is there already, and nothing was written"]);
    assert_eq!(fozzy.read("scenario.wat"), b"mine");
    fozzy.run(&["init", "--force"]).exits(0);
    assert_ne!(fozzy.read("scenario.wat"), b"mine");

    let listed = fozzy.run(&["init", "few", "--with", "run,memory", "--json"]).exits(0).json();
    assert!(fozzy.path("few/plans/run.toml").is_file() && !fozzy.path("few/plans/host.toml").exists(), "{listed}");
    fozzy.run(&["init", "all", "--with", "run", "--all-tests"]).exits(0);
    assert!(fozzy.path("all/plans/host.toml").is_file() && fozzy.path("all/corpus/seed.txt").is_file());
    let rust = ["init", "rust", "--template", "rust", "--sdk", "nowhere"];
    fozzy.run(&rust).refuses(&["cannot find the SDK"]);
    assert!(!fozzy.path("rust").exists());
}

/// A machine with Binaryen has a `wasm-opt`, which a clang that is told to optimise runs on what it links.
#[test]
fn programs_in_c_keep_names_and_lines_on_a_machine_with_wasm_opt() {
    corpus::c_toolchain();
    let fozzy = Fozzy::new();
    let tree = "mkdir -p bin guest-sdk scenarios/c-ring && cp -r $REPOSITORY/guest-sdk/c guest-sdk/ && \
                cp $REPOSITORY/scenarios/c-ring/ring.c $REPOSITORY/scenarios/c-ring/expect.toml scenarios/c-ring/";
    fozzy.shell(&format!("REPOSITORY='{}'; {tree}", repository().display())).exits(0);
    fozzy.write("bin/wasm-opt", "#!/bin/sh\necho called >>\"$CALLED\"\n");
    fozzy.shell("chmod +x bin/wasm-opt").exits(0);
    let is_called = |script: &str| {
        fozzy.shell(&format!("export CALLED=$PWD/called PATH=$PWD/bin:$PATH; {script}")).exits(0);
        fozzy.path("called").exists()
    };

    let of_the_recipe = "fozzy run scenarios/c-ring --seed 7 >/dev/null 2>&1; test -s scenarios/c-ring/ring.wasm";
    assert!(!is_called(of_the_recipe), "the recipe of scenarios/c-ring");
    assert!(!is_called("fozzy init app --template c && make -C app"), "the Makefile of the template");
    let header = String::from_utf8(fozzy.read("guest-sdk/c/fozzy.h")).expect("text");
    let lines = header.lines().filter_map(|line| line.strip_prefix(" *     "));
    let lines: Vec<&str> = lines.filter(|line| line.starts_with("clang-19 ") && line.contains(" ring.")).collect();
    assert_eq!(lines.len(), 2, "fozzy.h says how it is compiled, and how linked: {lines:?}");
    for line in lines {
        let line = line.split("   ").next().expect("a command, and what it is for");
        assert!(!is_called(&format!("cd scenarios/c-ring && {line}")), "{line}");
    }

    // What all of this guards against.
    let at_once = "clang-19 --target=wasm32-wasi -mexec-model=reactor -O2 -g -o ring.wasm ring.c";
    assert!(is_called(&format!("cd scenarios/c-ring && {at_once}")), "clang does not run wasm-opt any more");
}
