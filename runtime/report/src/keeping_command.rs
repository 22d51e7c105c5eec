//! The command that makes a run again and keeps its trace, for a failure that was not kept.
//!
//! ```text
//! fozzy run app.wasm --faults disk --no-store -- serve     seed 77
//! fozzy run --record run.fozzy --seed 77 app.wasm --faults disk -- serve
//! ```
//!
//! Of many seeds, it is one run with the seed that failed. Invariant: what stands behind `--` is the program's, and stays.

use crate::pretty::shell_word;
use fozzy_trace::Seed;

/// That command, of the arguments of a command of this name; `None` where they are of another one.
#[must_use]
pub fn keeping_command(arguments: &[String], word: &str, seed: Seed) -> Option<String> {
    let own = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (own, of_program) = arguments.split_at(own);
    let names_many = |argument: &String| {
        ["--seeds", "--runs"].iter().any(|name| argument == name || argument.starts_with(&format!("{name}=")))
    };
    let is_of_many = word == "run" && own.iter().any(names_many);
    // Of many runs, it is one of them; and its trace has one name.
    let others = if is_of_many { &["--record", "--seeds", "--runs", "--seed", "--jobs"][..] } else { &["--record"] };
    let has_seed = !is_of_many && own.iter().any(|argument| argument == "--seed" || argument.starts_with("--seed="));
    let mut words = vec!["fozzy".to_owned()];
    let (mut has_word, mut is_value) = (false, false);
    for argument in own {
        let is_other =
            std::mem::replace(&mut is_value, false) || ["--no-store", "--until-failure"].contains(&argument.as_str());
        is_value |= !is_other && others.contains(&argument.as_str());
        if is_other || is_value || others.iter().any(|name| argument.starts_with(&format!("{name}="))) {
            continue;
        }
        words.push(shell_word(argument));
        if argument == word && !has_word {
            has_word = true;
            words.extend(["--record", "run.fozzy"].map(str::to_owned));
            words.extend((!has_seed).then(|| format!("--seed {}", seed.0)));
        }
    }
    words.extend(of_program.iter().map(|argument| shell_word(argument)));
    has_word.then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_not_kept_is_made_again_with_its_seed() {
        let check = |arguments: &str, expected: &str| {
            let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
            assert_eq!(keeping_command(&arguments, "run", Seed(77)).unwrap_or_default(), expected);
        };
        check(
            "run app.wasm --no-store --faults disk -- run --no-store",
            "fozzy run --record run.fozzy --seed 77 app.wasm --faults disk -- run --no-store",
        );
        check(
            "run app.wasm --seed 1 --seeds 9 --jobs=4 --until-failure --record a.fozzy --record-collision append",
            "fozzy run --record run.fozzy --seed 77 app.wasm --record-collision append",
        );
        check("--no-store run app.wasm --seed=5", "fozzy run --record run.fozzy app.wasm --seed=5");
        check("replay run.fozzy --no-store", "");
    }
}
