//! A recorded run in a terminal: variables of the source by name, forwards and back.
//!
//! ```text
//! (fozzy) break small.rs:26 ─ continue ─ print size * 2 ─ last list ─ reverse-continue
//! ```

use crate::corpus::DebugSample;
use crate::fozzy::Fozzy;

/// What each command printed, by the command.
fn said(fozzy: &Fozzy, commands: &[&str]) -> Vec<String> {
    fozzy.write("commands", commands.join("\n"));
    let echoed = fozzy.run(&["debug", "run.fozzy", "--commands", "commands"]).out();
    let mut parts = echoed.split("(fozzy) ").skip(1);
    let part = |command: &&str| {
        let part = parts.next().unwrap_or_else(|| panic!("nothing for {command}: {echoed}"));
        part.strip_prefix(*command).unwrap_or_else(|| panic!("{command}: {echoed}")).trim().to_owned()
    };
    commands.iter().map(part).collect()
}

#[test]
fn variables_are_printed_watched_and_traced_to_who_wrote_them_by_name() {
    let fozzy = Fozzy::new();
    let module = DebugSample::RustSmall.module().display().to_string();
    fozzy.run(&["run", &module, "--record", "run.fozzy"]).exits(0);
    let text = std::fs::read_to_string(DebugSample::RustSmall.source()).expect("it is there");
    let line = |words: &str| text.lines().position(|line| line.contains(words)).expect("it is there") + 1;
    let (sum, list) = (line("measure(&shape) + all.len()"), line("let list = "));
    let stop = format!("break small.rs:{sum} if kind == 2 && size > 4");
    let never = format!("break small.rs:{list} if size == 4");
    let found = said(
        &fozzy,
        &[
            &never,
            &stop,
            "continue",
            "print size * 2",
            "print list",
            "print shape.h",
            "info locals",
            "print nothing",
            "print $0 * 0",
            "watch size",
            "watch list",
            "last list[1]",
            "where",
            "goto end",
            "print size",
            "reverse-continue",
            "print list[2]",
        ],
    );
    assert!(found[2].starts_with("Breakpoint 2,"), "{found:#?}");
    assert!(found[3].starts_with("10 ("), "{found:#?}");
    assert!(found[4].starts_with("[5, 2, 3] ("), "{found:#?}");
    assert!(found[5].starts_with("3 ("), "{found:#?}");
    for name in ["kind = 2 (", "size = 5 (", "list = [5, 2, 3] (", "shape = Rect"] {
        assert!(found[6].lines().any(|line| line.starts_with(name)), "{name}: {found:#?}");
    }
    assert!(found[7].contains("`nothing` is no variable that is visible here"), "{found:#?}");
    assert_eq!(found[8], "0");
    assert!(found[10].contains("12 bytes") && found[10].contains(", instead of 4 bytes at"), "{found:#?}");
    assert!(found[11].starts_with("Written last by this instruction"), "{found:#?}");
    assert!(found[12].contains(&format!("small.rs:{list}")), "{found:#?}");
    assert!(found[14].contains("no function of the program is active"), "{found:#?}");
    assert!(found[15].starts_with("Breakpoint 2,"), "{found:#?}");
    assert!(found[16].starts_with("3 ("), "{found:#?}");
}

#[test]
fn a_run_without_an_end_ends_where_its_budget_is_used_up() {
    let fozzy = Fozzy::new();
    fozzy.write(
        "loops.wat",
        "(module (memory (export \"memory\") 1)
          (func $nothing)
          (func (export \"_start\") (call $nothing) (loop $ever (br $ever))))",
    );
    fozzy.run(&["run", "loops.wat", "--fuel", "10000", "--record", "run.fozzy"]).exits(3);
    let found = said(&fozzy, &["continue", "rsi", "goto 5000", "reverse-continue", "goto end"]);
    let end = "end of the run, position 10,000, 0s: it had used its budget of 10,000 instructions up by here";
    assert_eq!((found[0].as_str(), found[4].as_str()), (end, end), "{found:#?}");
    assert!(found[1].starts_with("position 9,999, 0s"), "{found:#?}");
    assert!(found[2].starts_with("position 5,000, 0s"), "{found:#?}");
    assert!(found[3].starts_with("start of the run, "), "{found:#?}");
}

#[test]
fn small_programs_stop_at_their_first_instruction_and_those_without_one_at_their_end() {
    let fozzy = Fozzy::new();
    let stops = |body: &str| {
        let text = format!(
            "(module (memory (export \"memory\") 1) (global $g (mut i32) (i32.const 0)) (func (export \"_start\") (local i32) {body}))"
        );
        fozzy.write("small.wat", text);
        fozzy.run(&["run", "small.wat", "--record", "run.fozzy", "--record-collision", "overwrite"]).exits(0);
        let found = said(&fozzy, &["where", "stepi", "stepi", "reverse-stepi", "where"]);
        found.iter().map(|words| words.lines().next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    for body in ["(global.set $g (i32.const 5))", "(nop) (loop (global.set $g (i32.const 5)))"] {
        let found = stops(body);
        assert!(found[0].starts_with("start of the run, position 0,"), "{body}: {found:#?}");
        assert!(found[1].starts_with("position 1,"), "{body}: {found:#?}");
        assert!(found[2].starts_with("end of the run, position 2,"), "{body}: {found:#?}");
        assert!(found[3].starts_with("position 1,"), "{body}: {found:#?}");
    }
    // A program that uses its stack up stops in front of the function that it has no room for.
    fozzy.write(
        "small.wat",
        "(module (memory (export \"memory\") 1) (func $r (export \"_start\") i32.const 1 drop call $r))",
    );
    fozzy.run(&["run", "small.wat", "--record", "run.fozzy", "--record-collision", "overwrite"]).exits(4);
    let found = said(&fozzy, &["continue", "goto end"]);
    let position = |words: &str| words.split("position ").nth(1)?.split(", 0s").next().map(str::to_owned);
    assert!(found[0].starts_with("trap: call stack exhausted, position "), "{found:#?}");
    assert!(found[1].contains("call stack exhausted") && position(&found[0]) == position(&found[1]), "{found:#?}");
    for body in ["", "(nop)"] {
        let found = stops(body);
        assert!(found.iter().all(|words| words.starts_with("end of the run, position 0,")), "{body}: {found:#?}");
    }
}

#[test]
fn another_answer_leads_into_a_loop_that_is_shown_and_bounded() {
    let fozzy = Fozzy::new();
    fozzy.write(
        "maybe.wat",
        r#"(module
        (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
        (memory (export "memory") 1)
        (func (export "_start")
          (drop (call $random (i32.const 0) (i32.const 1)))
          (if (i32.and (i32.load8_u (i32.const 0)) (i32.const 1)) (then (loop $forever (br $forever))))))"#,
    );
    fozzy.run(&["run", "maybe.wat", "--seed", "1", "--fuel", "50000", "--record", "run.fozzy"]).exits(0);
    let found = said(&fozzy, &["whatif 0 4", "goto decision 1", "where", "goto end", "rsi", "whatif 0 1", "goto end"]);
    assert!(found[0].starts_with("Another run: from decision 0 on, seed 4 answers.\nposition "), "{found:#?}");
    assert_eq!(found[1], "the run has no decision 1", "{found:#?}");
    assert!(found[0].ends_with(&found[2]), "{found:#?}");
    assert!(found[3].ends_with("it had used its budget of 50,000 instructions up by here"), "{found:#?}");
    assert!(found[4].starts_with("position 49,999, 0s"), "{found:#?}");
    assert!(found[6].ends_with("it exited with code 0"), "{found:#?}");
}

#[test]
fn a_function_that_is_inlined_with_another_one_at_its_beginning_has_breakpoints() {
    let fozzy = Fozzy::new();
    let module = DebugSample::RustInlined.module().display().to_string();
    fozzy.run(&["run", &module, "--record", "run.fozzy"]).exits(0);
    let found = said(&fozzy, &["break both", "continue", "bt", "goto end", "reverse-continue"]);
    assert!(found[0].starts_with("Breakpoint 1: "), "{found:#?}");
    assert!(found[2].contains("steps::both") && found[2].contains("steps::total"), "{found:#?}");
    assert!(found[1].starts_with("Breakpoint 1, ") && found[4] == found[1], "{found:#?}");
}

#[test]
fn log_points_print_on_the_way_forwards_and_hits_are_counted_there() {
    let fozzy = Fozzy::new();
    let module = DebugSample::RustInlined.module().display().to_string();
    fozzy.run(&["run", &module, "--record", "run.fozzy"]).exits(0);
    let found = said(
        &fozzy,
        &[
            "break fixed",
            "log steps.rs:30 \"{{n}} is {1 + 1} <{nothing}>\"",
            "continue",
            "continue",
            "reverse-continue",
            "info breakpoints",
            "finish",
            "goto end",
            "reverse-continue",
            "info breakpoints",
        ],
    );
    assert!(found[1].starts_with("Log point 2: "), "{found:#?}");
    assert!(!found[2].contains("{n}"), "{found:#?}");
    assert!(found[3].starts_with("{n} is 2 <<`nothing`"), "{found:#?}");
    assert!(found[3].contains("\nBreakpoint 1, "), "{found:#?}");
    assert!(found[4].starts_with("Breakpoint 1, "), "{found:#?}");
    assert!(found[5].contains("fixed, 2 hits") && found[5].contains("{nothing}>\", 1 hit"), "{found:#?}");
    assert!(found[6].starts_with("{n} is 2"), "{found:#?}");
    assert!(found[8].starts_with("Breakpoint 1, ") && found[9].contains("fixed, 2 hits"), "{found:#?}");
    let places = found.iter().filter(|text| !text.contains("nothing"));
    assert!(places.flat_map(|text| text.lines()).all(|line| line.chars().count() <= 80), "{found:#?}");
}

#[test]
fn what_cannot_be_done_is_said_with_its_reason() {
    let fozzy = Fozzy::new();
    fozzy.write(
        "traps.wat",
        "(module (memory (export \"memory\") 1)
          (func $never unreachable)
          (func $zero (param i32) (result i32) (i32.load (local.get 0)))
          (func (export \"_start\") (drop (call $zero (i32.const 64))) (call $never)))",
    );
    fozzy.run(&["run", "traps.wat", "--record", "run.fozzy"]).exits(4);
    fozzy.write(
        "commands",
        "break never\nbreak #0\nbreak zero\ncontinue\nlast 64\ngoto time 5\ngoto time 0\nnext\nreverse-next",
    );
    let found = fozzy.run(&["debug", "run.fozzy", "--commands", "commands"]).exits(2).out();
    for name in ["never", "#0"] {
        assert!(found.contains(&format!("cannot be stopped in `{name}`: it has nothing but `unreachable`")), "{found}");
    }
    assert!(found.contains("it is zero, as memory is at the beginning"), "{found}");
    assert!(found.contains("goto time 5: the unit is missing"), "{found}");
    let refused = fozzy.run(&["debug", "run.fozzy", "--json"]).exits(2).json();
    assert_eq!(refused["message"], "debug has no JSON document: it is a conversation");
}
