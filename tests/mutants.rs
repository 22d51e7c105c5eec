//! `fozzy mutants`: which small changes of a program no run notices.
//!
//! ```text
//! low(5), !low(15)      < became <=   nobody asks for low(10)
//! a loop to 100         + became -    ten times as long: noticed
//! ```
//!
//! Not here: that each mutant is a valid program (`fozzy-instrument`), how it is laid out (`fozzy-report`).

use crate::fozzy::Fozzy;
use serde_json::{Value, json};

/// Is small below 10, and checks that for 5 and 15; counts to 100, and checks that.
const LOW: &str = r#"(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func $low (param i32) (result i32) (i32.lt_s (local.get 0) (i32.const 10)))
  (func $check (export "_start") (local $n i32)
    (loop $again
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.lt_s (local.get $n) (i32.const 100))))
    (if (i32.ne (local.get $n) (i32.const 100)) (then (call $exit (i32.const 3))))
    (if (i32.eqz (call $low (i32.const 5))) (then (call $exit (i32.const 1))))
    (if (call $low (i32.const 15)) (then (call $exit (i32.const 2))))))"#;

fn mutants(fozzy: &Fozzy, more: &[&str], code: i32) -> Value {
    fozzy.run(&[&["mutants", "low.wat", "--json"], more].concat()).exits(code).json()
}

fn changes<'v>(found: &'v Value, result: &str) -> Vec<(&'v str, &'v str)> {
    let all = found["all"].as_array().expect("a list").iter().filter(|it| it["result"] == result);
    all.map(|it| (it["function"].as_str().expect("a name"), it["change"].as_str().expect("words"))).collect()
}

#[test]
fn those_that_survive_are_the_ones_that_no_check_looks_at() {
    let fozzy = Fozzy::new();
    fozzy.write("low.wat", LOW);
    let found = mutants(&fozzy, &["--jobs", "2"], 0);
    let mut missed = changes(&found, "missed");
    missed.sort_unstable();
    assert_eq!(
        missed,
        [("check", "5 became 0"), ("check", "the function does nothing"), ("low", "< became <=")],
        "{found:#}"
    );
    let noticed = changes(&found, "noticed");
    for change in [("low", "< became >="), ("low", "10 became 0"), ("low", "the function returns 1")] {
        assert!(noticed.contains(&change), "{change:?} of {noticed:?}");
    }
    let endless = found["all"].as_array().expect("a list").iter().find(|it| it["change"] == "+ became -");
    assert!(
        endless.is_some_and(|it| it["how"].as_str().is_some_and(|how| how.contains("instructions"))),
        "{endless:#?}"
    );
    assert_eq!((&found["made"], &found["mutants"], &found["noticed"]), (&json!(17), &json!(17), &json!(14)));
    // How many there are at a time is nobody's business, and the same seed chooses the same ones.
    assert_eq!(mutants(&fozzy, &[], 0), found);
    let some = mutants(&fozzy, &["--limit", "5", "--choice", "3"], 0);
    assert_eq!((&some["mutants"], &some["choice"]), (&json!(5), &json!(3)));
    let all = found["all"].as_array().expect("a list");
    assert!(some["all"].as_array().expect("a list").iter().all(|it| all.contains(it)), "{some:#}");
    mutants(&fozzy, &["--min-score", "82"], 0);
    let said = fozzy.run(&["mutants", "low.wat", "--min-score", "83"]).exits(1);
    assert!(said.out().starts_with("fozzy mutants 82.3 %  14 of 17 mutants noticed\n"), "{}", said.out());
    assert!(said.out().contains("the score is to be 83.0 % at least"), "{}", said.out());
}

#[test]
fn a_program_that_passes_no_run_has_nothing_to_hold_mutants_against() {
    let fozzy = Fozzy::new();
    fozzy.write("low.wat", LOW.replace("(i32.const 15)", "(i32.const 9)"));
    let said = fozzy.run(&["mutants", "low.wat", "--seeds", "3"]).exits(2);
    assert!(said.err().contains("passes with none of the seeds 0 to 2"), "{}", said.err());
    // The program is where it was named, under the plan and with the arguments that it has here.
    std::fs::create_dir(fozzy.path("a b")).expect("a folder");
    std::fs::copy(fozzy.path("low.wat"), fozzy.path("a b/low.wat")).expect("it is there");
    fozzy.write("p.toml", "");
    let said = fozzy.run(&["mutants", "a b/low.wat", "--plan", "p.toml", "--seeds", "3..5", "--", "x y"]).exits(2);
    let hint = "fozzy run 'a b/low.wat' --plan p.toml --seed 3 -- 'x y'";
    assert!(said.err().contains(hint), "{}", said.err());
    let said = fozzy.run(&["mutants", "low.wat", "--seeds", "1001"]).exits(2);
    assert!(said.err().contains("1000 seeds at the most"), "{}", said.err());
}
