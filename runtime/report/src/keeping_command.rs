//! The command that makes a run again and keeps its trace, for a failure that was not kept.
//!
//! ```text
//! fozzy run app.wasm --faults disk --no-store -- serve     seed 77
//! fozzy run --record run.fozzy --seed 77 app.wasm --faults disk -- serve
//! ```
//!
//! Invariant: what stands behind `--` is the program's, and stays.

use crate::pretty::shell_word;
use fozzy_trace::Seed;

/// That command, of the arguments of a command of this name; `None` where they are of another one.
#[must_use]
pub fn keeping_command(arguments: &[String], word: &str, seed: Seed) -> Option<String> {
    let own = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (own, of_program) = arguments.split_at(own);
    let has_seed = own.iter().any(|argument| argument == "--seed" || argument.starts_with("--seed="));
    let mut words = vec!["fozzy".to_owned()];
    let mut has_word = false;
    for argument in own.iter().filter(|argument| *argument != "--no-store") {
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
        check("--no-store run app.wasm --seed=5", "fozzy run --record run.fozzy app.wasm --seed=5");
        check("replay run.fozzy --no-store", "");
    }
}
