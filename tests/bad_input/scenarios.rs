//! Scenarios that are wrong, as who writes one meets them: the exit code of `fozzy run`, and the words.
//!
//! Not here: which finding it is, in every case that there is (`scenarios`), and suites of such (`suite`).

use crate::corpus;
use crate::fozzy::Fozzy;

/// What is wrong, the exit code, the status, and what is said.
const WRONG: &[(&str, i32, &str, &str)] = &[
    ("panic", 4, "crash", "the flow panics"),
    ("for-ever", 3, "timeout", "the instruction budget ran out"),
    ("recursion", 4, "crash", "call stack exhausted"),
    ("allocation", 4, "crash", "out of memory"),
    ("deadlock", 1, "fail", "`main` waits for a notification"),
    ("always", 1, "fail", "`p` does not hold"),
    ("period-0", 2, "error", "the invariant `i` has the period 0; 1 checks it after every step"),
    ("weights-0", 2, "error", "no flow can ever be drawn: each has the weight 0"),
    ("no-flow", 2, "error", "the scenario has no flow"),
    ("stuck", 2, "error", "no flow is valid in sequence 0 at step 0: whatever"),
    ("skips", 2, "error", "no flow ran: the 10 that were drawn found nothing to do (`f`: nothing to do 10)"),
    ("two-names", 2, "error", "two of the flows are called `f`"),
    ("two-kinds", 2, "error", "two properties are called `p`"),
    ("http-status", 4, "crash", "fozzy:http/rules.add: 99 is no status of a response: expected 100..=999"),
    ("http-1025", 4, "crash", "fozzy:http/rules.add: more than 1024 rules"),
    ("process-unknown", 4, "crash", "fozzy:process/rules.answered: there is no rule 0"),
];

#[test]
fn a_wrong_scenario_has_the_exit_code_of_the_contract() {
    let fozzy = Fozzy::new();
    let program = corpus::component("misfits").display().to_string();
    let limits = ["--fuel", "20000000", "--mem-limit-mb", "64", "--sequences", "2", "--flows", "5", "--json"];
    let run = |how, code| fozzy.run(&[&["run", &program][..], &limits, &["--", how]].concat()).exits(code).json();
    assert_eq!(run("fine", 0)["status"], "pass");
    for (how, code, status, words) in WRONG {
        let document = run(how, *code);
        let found = document["findings"][0]["message"].as_str().unwrap_or_default();
        assert!(document["status"] == *status && found.contains(words), "{how}: expected `{words}` in {document:#}");
    }
}

#[test]
fn two_properties_with_one_name_are_refused_before_the_run() {
    let fozzy = Fozzy::new();
    let section = r#"(@custom "fozzy.properties" "always\09p\09a.rs:1\0asometimes\09p\09a.rs:2\0a")"#;
    fozzy.write("two.wat", format!(r#"(module {section} (memory (export "memory") 1) (func (export "_start")))"#));
    fozzy.run(&["run", "two.wat"]).refuses(&["two properties are called `p`: at a.rs:1 and at a.rs:2"]);
}
