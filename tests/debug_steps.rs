//! Steps forwards and back: over inlined functions, and at random.
//!
//! ```text
//! step, step, step ─▶ the same stops ◀─ reverse-step, reverse-step, reverse-step
//! goto P, look, anything, goto P, look ─▶ the same
//! ```

use crate::corpus::{self, DebugSample};
use crate::debug_machines;
use crate::fozzy::{Fozzy, repository};
use crate::tier;
use std::collections::BTreeMap;

/// What each command printed.
fn said(fozzy: &Fozzy, commands: &[String]) -> Vec<String> {
    fozzy.write("commands", commands.join("\n"));
    let output = fozzy.run(&["debug", "run.fozzy", "--commands", "commands"]).out();
    let parts: Vec<String> = output.split("(fozzy) ").skip(1).map(str::to_owned).collect();
    assert_eq!(parts.len(), commands.len(), "{output}");
    parts.iter().zip(commands).map(|(part, command)| part[command.len()..].trim().to_owned()).collect()
}

fn recorded() -> Fozzy {
    let fozzy = Fozzy::new();
    let module = DebugSample::RustInlined.module().display().to_string();
    fozzy.run(&["run", &module, "--record", "run.fozzy"]).exits(0);
    fozzy
}

/// Position, function and line of a stop.
fn stop(text: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.contains("position "));
    let position = lines.next().unwrap_or_else(|| panic!("{text}")).split("position ").last().expect("it is there");
    let place = lines.next().unwrap_or_default();
    let line = place.rsplit(':').nth(1).unwrap_or_default();
    format!(
        "{} {} {line}",
        position.split(", 0s").next().unwrap_or_default(),
        place.split(" at ").next().unwrap_or_default()
    )
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn next_does_not_enter_inlined_functions_and_steps_back_are_the_opposite() {
    let fozzy = recorded();
    for (forwards, backwards, count) in [("next", "reverse-next", 6), ("step", "reverse-step", 40)] {
        let mut commands = words(&["break total", "continue", "delete"]);
        commands.push(forwards.to_owned());
        let first = commands.len() - 1;
        commands.extend(vec![forwards.to_owned(); count]);
        commands.extend(vec![backwards.to_owned(); count]);
        let found: Vec<String> = said(&fozzy, &commands)[first..].iter().map(|text| stop(text)).collect();
        let (there, back) = found.split_at(count + 1);
        let expected: Vec<&String> = there.iter().rev().skip(1).collect();
        assert_eq!(back.iter().collect::<Vec<_>>(), expected, "{there:#?}");
        if forwards == "next" {
            assert!(there.iter().all(|stop| stop.contains("steps::total")), "{there:#?}");
            continue;
        }
        for function in ["steps::both 15", "steps::square 8", "steps::square 9", "steps::fixed 30", "steps::total 22"] {
            assert!(there.iter().any(|stop| stop.ends_with(function)), "{function}: {there:#?}");
        }
    }
}

#[test]
fn calls_in_the_arguments_of_a_call_are_met_backwards_too() {
    let fozzy = recorded();
    let count = 6;
    let mut commands = words(&["break plain", "continue", "delete"]);
    let first = commands.len();
    commands.extend(vec!["step".to_owned(); count]);
    commands.extend(vec!["reverse-step".to_owned(); count]);
    let found: Vec<String> = said(&fozzy, &commands)[first..].iter().map(|text| stop(text)).collect();
    let (there, back) = found.split_at(count);
    let expected: Vec<&String> = there.iter().rev().skip(1).collect();
    assert_eq!(back[..count - 1].iter().collect::<Vec<_>>(), expected, "{there:#?}");
    assert_eq!(there.iter().filter(|stop| stop.ends_with("steps::plain 43")).count(), 2, "{there:#?}");
}

/// A recorded run, and what random commands do in it.
struct RandomRun {
    fozzy: Fozzy,
    setup: &'static [&'static str],
    /// Looks at its state.
    looks: &'static [&'static str],
}

const MOVES: [&str; 16] = [
    "step",
    "next",
    "finish",
    "stepi",
    "reverse-step",
    "reverse-next",
    "reverse-finish",
    "reverse-stepi",
    "continue",
    "reverse-continue",
    "stepi 7",
    "rsi 5",
    "next 2",
    "goto start",
    "goto end",
    "last 4000:8",
];

fn random_runs() -> [RandomRun; 3] {
    let traps = Fozzy::new();
    let stepped = repository().join("tests/programs/stepped.wat").display().to_string();
    traps.run(&["run", &stepped, "--seed", "1", "--record", "run.fozzy", "--no-store"]);
    [
        RandomRun {
            fozzy: recorded(),
            setup: &["break fixed", "break steps.rs:21 if $0 * 0 == 0", "watch 4080:16", "goto end"],
            looks: &["where", "bt", "info wasm", "info stack", "info globals 0", "info memory"],
        },
        RandomRun {
            fozzy: traps,
            setup: &["break square", "watch 8:4", "goto end"],
            looks: &["where", "bt", "info wasm", "info stack", "info memory", "x 0:64"],
        },
        RandomRun {
            fozzy: debug_machines::recorded(),
            setup: &["break work if $0 != 3", "break nap", "watch 512:4", "goto end"],
            looks: &["where", "bt", "info wasm", "info memory", "info machines", "machine server"],
        },
    ]
}

/// Random commands over one session: what is seen at a position does not depend on how it was come to.
fn same_everywhere(run: &RandomRun, returns: usize) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).expect("below")
    };
    let mut commands = words(run.setup);
    let end = stop(said(&run.fozzy, &commands).last().expect("some"));
    // Thousands of it stand apart by commas.
    let end: String = end.chars().take_while(|letter| *letter != ' ').filter(char::is_ascii_digit).collect();
    let end: usize = end.parse().expect("a number");
    // Each of these is come to some times.
    let positions: Vec<usize> = (0..=returns / 3).map(|_| random(end)).collect();
    for _ in 0..returns {
        commands.extend((0..=random(2)).map(|_| MOVES[random(MOVES.len())].to_owned()));
        commands.push(format!("goto {}", positions[random(positions.len())]));
        commands.extend(words(run.looks));
    }
    run.fozzy.write("commands", commands.join("\n"));
    // Some of them are refused, as `last` of what was never written.
    let output = run.fozzy.run(&["debug", "run.fozzy", "--commands", "commands"]).out();
    let parts: Vec<&str> = output.split("(fozzy) ").skip(1).collect();
    assert_eq!(parts.len(), commands.len(), "{output}");
    let mut seen: BTreeMap<&str, String> = BTreeMap::new();
    let mut again = 0;
    let groups = parts.windows(run.looks.len() + 1);
    for group in groups.filter(|group| group[0].starts_with("goto ") && group[1].starts_with("where")) {
        let looks = group[1..].concat();
        match seen.get(group[0]) {
            Some(before) => {
                again += 1;
                assert_eq!(*before, looks);
            }
            None => {
                seen.insert(group[0], looks);
            }
        }
    }
    assert!(again * 2 > returns, "{again}");
}

/// The environment variable that asks for more returns than the suite has time for, of each run.
const RETURNS: &str = "FOZZY_DEBUG_RETURNS";

/// How often positions are returned to, unless it is said.
fn returns(usual: usize) -> usize {
    std::env::var(RETURNS).map_or(usual, |text| text.parse().expect("FOZZY_DEBUG_RETURNS is a number"))
}

#[test]
fn what_is_seen_at_a_position_does_not_depend_on_the_way_to_it() {
    let returns = returns(if tier::is_two() { 120 } else { 60 });
    for run in random_runs() {
        same_everywhere(&run, returns);
    }
}

/// A store and its two buyers: a small program in Rust on three machines, which talk over the network.
fn store_and_buyers() -> Fozzy {
    let fozzy = Fozzy::new();
    std::fs::copy(corpus::component("stock"), fozzy.path("stock.wasm")).expect("it is built");
    let node = |name: &str, ends: &str, args: &str| {
        format!("[[node]]\nname = '{name}'\ncomponent = 'stock.wasm'\nends = '{ends}'\nargs = [{args}]\n")
    };
    let nodes = node("store", "never", "'serve'") + &node("other", "ok", "'buy', '1', '20', 'mended'");
    fozzy.write("plan.toml", format!("args = ['buy', '0', '20', 'mended']\n{nodes}"));
    let args = ["run", "stock.wasm", "--plan", "plan.toml", "--seed", "3", "--record", "run.fozzy"];
    fozzy.run(&args).exits(0);
    fozzy
}

/// Real programs, with the variables of their source: C, and machines of Rust that talk over the network.
#[test]
fn variables_of_real_programs_do_not_depend_on_the_way_to_them() {
    let looks = &["where", "bt", "info locals", "info wasm", "info memory", "info machines"];
    let in_c = Fozzy::new();
    let module = DebugSample::CDebug.module().display().to_string();
    in_c.run(&["run", &module, "--record", "run.fozzy", "--no-store"]).exits(0);
    for run in [
        RandomRun {
            fozzy: in_c,
            setup: &["break work", "break values.c:22 if i == 2", "watch total", "goto end"],
            looks,
        },
        RandomRun { fozzy: store_and_buyers(), setup: &["break main", "goto end"], looks },
    ] {
        same_everywhere(&run, returns(15));
    }
}
