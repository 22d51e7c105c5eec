//! Runs other programs through `fozzy:process`, and is the program that others run.
//!
//! ```text
//! commands run git status        what became of it, in one line
//! commands talk CHILD …          writes to a child and reads its answers, line by line
//! commands upper                 a child: answers each line in capitals
//! ```
//!
//! Without arguments it lists what it can do.

mod children;
mod parents;
mod sandbox;

wit_bindgen::generate!({
    inline: "
        package fozzy:guest;
        world commands {
            import fozzy:process/run@0.1.0;
            import fozzy:faults/points@0.1.0;
            import fozzy:files/snapshots@0.1.0;
        }
    ",
    path: "../../../wit",
    generate_all,
});

use std::process::ExitCode;

/// One thing it can do, with the arguments after its name.
type Behaviour = fn(&[String]) -> ExitCode;

const TABLES: &[&[(&str, Behaviour)]] = &[parents::TABLE, children::TABLE, sandbox::TABLE];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let behaviours = || TABLES.iter().copied().flatten();
    let chosen = args.get(1).and_then(|name| behaviours().find(|(known, _)| known == name));
    match chosen {
        Some((_, behaviour)) => behaviour(&args[2..]),
        None => {
            behaviours().for_each(|(name, _)| println!("{name}"));
            ExitCode::from(2)
        }
    }
}
