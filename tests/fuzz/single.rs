//! Inputs that are run once each, and how findings are shown.

use super::{campaign, module, replays_alone};
use crate::corpus;
use crate::fozzy::Fozzy;

const CODE: &str = r#"(if (i32.gt_u (local.get $len) (i32.const 2)) (then
    (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 33)) (then unreachable))))"#;

#[test]
fn files_behind_the_target_are_run_once_each_and_no_campaign_is() {
    let fozzy = Fozzy::new();
    fozzy.write("target.wat", module(CODE));
    fozzy.write("good", "fine");
    fozzy.write("bad", "!aa\"\\");
    let ran = fozzy.run(&["fuzz", "target.wat", "good", "bad", "--json"]).exits(4);
    assert!(ran.err().contains("good: 4 bytes, pass\nbad: 5 bytes, crash (trap at "), "{}", ran.err());
    let summary = ran.json();
    let fuzz = &summary["fuzz"];
    assert_eq!((&fuzz["executions"], &fuzz["failures"], &fuzz["ended"]), (&2.into(), &1.into(), &"inputs".into()));
    assert_eq!(fuzz["findings"][0]["inputPath"], "bad");
    assert_eq!(fuzz["findings"][0]["input"]["hex"], "216161225c");
    replays_alone(&fozzy, &fuzz["findings"][0]["tracePath"], 4);
    assert!(!fozzy.path(".fozzy/corpora").exists(), "there was no campaign");
    fozzy.run(&["fuzz", "target.wat", "good"]).exits(0);
    // A function that the program has goes before a file of that name.
    let parser = corpus::scenario("parser", false).display().to_string();
    fozzy.write("parse_anything", "\\");
    fozzy.run(&["fuzz", &parser, "parse_anything", "--det", "--runs", "1"]).exits(0);
    fozzy.run(&["fuzz", &parser, "parse_anything", "parse_anything"]).exits(4);
    let said = fozzy.run(&["fuzz", "target.wat", "good", "absent"]).exits(2).err();
    assert!(said.contains("cannot read absent"), "{said}");
    let said = fozzy.run(&["fuzz", "target.wat", "absent"]).exits(2).err();
    assert!(said.contains("has no function `absent`"), "{said}");
}

#[test]
fn a_folder_behind_the_target_is_the_corpus() {
    let fozzy = Fozzy::new();
    let target = fozzy.write("target.wat", module(CODE));
    std::fs::create_dir_all(fozzy.path("inputs")).expect("the temporary folder can be written");
    fozzy.write("inputs/one", "one");
    let summary = campaign(&fozzy, &target, 0, 2, &["inputs"]).exits(0).json();
    assert_eq!(summary["fuzz"]["corpusDir"], "inputs");
}

#[test]
fn a_finding_shows_its_smallest_input_and_the_figures_of_its_run() {
    let fozzy = Fozzy::new();
    let parser = corpus::scenario("parser", false);
    let ran = campaign(&fozzy, &parser, 0, 800, &["parse_anything"]).exits(4);
    let summary = ran.json();
    let finding = &summary["fuzz"]["findings"][0];
    let input = &finding["input"];
    assert_eq!((&input["hex"], &input["text"], &input["literal"]), (&"5c".into(), &r"\\".into(), &r#"b"\\""#.into()));
    assert_eq!(summary["fuzz"]["executions"], 800, "what makes it smaller is none of them");
    // The figures are those of the run that fails, which is replayed from the trace that is named.
    let trace = summary["identity"]["tracePath"].as_str().expect("a path");
    let replayed = fozzy.run(&["replay", trace, "--json"]).exits(4).json();
    for figure in ["calls", "decisions", "fuelUsed", "memoryBytes", "memoryDigest", "historyDigest"] {
        assert_eq!(summary[figure], replayed[figure], "{figure}");
    }
    let (target, fozzy) = (parser.display().to_string(), Fozzy::new());
    let shown = fozzy.run(&["fuzz", &target, "parse_anything", "--det", "--runs", "800"]).exits(4).err();
    for line in ["  hex      5c\n", "  text     \\\\\n", "  literal  b\"\\\\\"\n", ".input\n"] {
        assert!(shown.contains(line), "`{line}` is missing: {shown}");
    }
    let kept = campaign(&Fozzy::new(), &parser, 0, 800, &["parse_anything", "--no-minimize"]).exits(4).json();
    assert!(kept["fuzz"]["findings"][0]["minimizedTracePath"].is_null(), "{kept}");
}

#[test]
fn a_long_collection_is_drawn_in_a_campaign_and_in_a_run() {
    let fozzy = Fozzy::new();
    let sizes = corpus::component("sizes");
    let found = campaign(&fozzy, &sizes, 1, 20_000, &["length_fits_a_byte", "--crash-only"]).exits(1).json();
    assert_eq!(super::signatures(&found), ["assertion at a length has one byte"]);
    replays_alone(&fozzy, &found["fuzz"]["findings"][0]["tracePath"], 1);
    campaign(&fozzy, &sizes, 3, 300, &["bounds_hold"]).exits(0);
    // As many cases as a run has by default, three hundred of each property and so on.
    let target = sizes.display().to_string();
    let run =
        fozzy.run(&["run", &target, "--sequences", "10", "--flows", "90", "--seed", "1", "--json"]).exits(1).json();
    assert_eq!(run["signature"]["site"], "a length has one byte");
}

/// A run and a campaign take a property's result for what it says; what it fails with is shrunk and replayed as any other failure.
#[test]
fn a_property_that_returns_false_or_an_error_fails() {
    let sizes = corpus::component("sizes");
    let target = sizes.display().to_string();
    for (verdict, property, message) in
        [("false", "`told_verdict` returns false", ""), ("error", "`told_verdict` returns an error", " is too many")]
    {
        let fozzy = Fozzy::new();
        let env = format!("VERDICT={verdict}");
        let more = ["told_verdict", "--crash-only", "--minimize", "--env", &env];
        let found = campaign(&fozzy, &sizes, 3, 100, &more).exits(1).json();
        assert_eq!(super::signatures(&found), [format!("assertion at {property}")]);
        let words = found["findings"][0]["message"].as_str().unwrap_or_default();
        assert!(words.contains(message), "{found:#}");
        let run = ["run", &target, "--sequences", "1", "--flows", "100", "--env", &env, "--json"];
        assert_eq!(fozzy.run(&run).exits(1).json()["signature"]["site"], property);
    }
    campaign(&Fozzy::new(), &sizes, 3, 100, &["told_verdict"]).exits(0);
}

#[test]
fn a_property_that_skips_nearly_everything_is_warned_of() {
    let fozzy = Fozzy::new();
    let sizes = corpus::component("sizes").display().to_string();
    let ran = fozzy.run(&["fuzz", &sizes, "nearly_never", "--det", "--runs", "400"]).exits(0).err();
    assert!(ran.contains("warning: `nearly_never` skipped ") && ran.contains(" of 400 cases"), "{ran}");
    let ran =
        fozzy.run(&["run", &sizes, "--sequences", "1", "--flows", "100", "--seed", "3", "--json"]).exits(0).json();
    let warnings = ran["warnings"].as_array().expect("a list");
    assert!(
        warnings.len() == 1 && warnings[0].as_str().is_some_and(|said| said.starts_with("`nearly_never` skipped "))
    );
    let fine = fozzy.run(&["fuzz", &sizes, "bounds_hold", "--det", "--runs", "100", "--json"]).exits(0).json();
    assert!(fine["fuzz"]["skipped"].is_null() && fine["warnings"].is_null(), "{fine}");
}
