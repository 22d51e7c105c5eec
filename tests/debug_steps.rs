//! Steps forwards and back: over inlined functions, and at random.
//!
//! ```text
//! step, step, step ─▶ the same stops ◀─ reverse-step, reverse-step, reverse-step
//! goto P, look, anything, goto P, look ─▶ the same
//! ```

use crate::corpus::DebugSample;
use crate::fozzy::Fozzy;
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

/// Random commands over one session: what is seen at a position does not depend on how it was come to.
fn same_everywhere(returns: usize) {
    let fozzy = recorded();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).expect("below")
    };
    let moves = [
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
    let setup = ["break fixed", "break steps.rs:21 if $0 * 0 == 0", "watch 4080:16", "goto end"];
    let mut commands = words(&setup);
    let end = stop(&said(&fozzy, &commands)[3]);
    let end = end.split([',', ' ']).next().and_then(|end| end.parse().ok()).expect("a number");
    for _ in 0..returns {
        commands.extend((0..=random(2)).map(|_| moves[random(moves.len())].to_owned()));
        commands.push(format!("goto {}", random(end)));
        commands.extend(words(&["where", "bt", "info wasm", "info stack", "info globals 0", "info memory"]));
    }
    fozzy.write("commands", commands.join("\n"));
    // Some of them are refused, as `last` of what was never written.
    let output = fozzy.run(&["debug", "run.fozzy", "--commands", "commands"]).out();
    let parts: Vec<&str> = output.split("(fozzy) ").skip(1).collect();
    assert_eq!(parts.len(), commands.len(), "{output}");
    let mut seen: BTreeMap<&str, String> = BTreeMap::new();
    let mut again = 0;
    for group in parts.windows(7).filter(|group| group[0].starts_with("goto ") && group[1].starts_with("where")) {
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

#[test]
fn what_is_seen_at_a_position_does_not_depend_on_the_way_to_it() {
    same_everywhere(if tier::is_two() { 10_000 } else { 300 });
}
