//! What a person sees: one folder for each case below `tests/cli`.
//!
//! ```text
//! tests/cli/replay/command    a shell script; `fozzy` and the variables of `VARIABLES` are known in it
//!                  stdout     what it must print, with everything volatile replaced (see `normalise`)
//!                  stderr
//!                  exit       its exit code
//!                  …          any other file is copied into the fresh folder in which the script runs
//! ```
//!
//! `BLESS=1 cargo test -p fozzy-tests goldens` writes stdout, stderr and exit anew. Look at the difference before committing it.

mod normalise;

use crate::corpus::{self, Target};
use crate::fozzy::{Fozzy, Ran, repository};
use normalise::normalise;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Files of a case that are not copied.
const OWN_FILES: [&str; 4] = ["command", "stdout", "stderr", "exit"];

/// Programs that a script may name.
fn variables() -> [(&'static str, PathBuf); 6] {
    [
        ("PROBE_P1", corpus::probe(Target::Wasip1)),
        ("PROBE_P2", corpus::probe(Target::Wasip2)),
        ("TALLY", corpus::c_program()),
        ("PROGRAMS", repository().join("tests/programs")),
        ("COUNTER", corpus::scenario("counter", true)),
        ("DATA", corpus::data_folder().canonicalize().expect("it is committed")),
    ]
}

#[test]
fn every_command_prints_what_it_always_printed() {
    let folder = repository().join("tests/cli");
    let entries = fs::read_dir(&folder).expect("tests/cli is there");
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "no cases in {}", folder.display());
    let bless = std::env::var_os("BLESS").is_some();
    let variables = variables();
    let failures: Vec<String> = cases.iter().filter_map(|case| run_case(case, &variables, bless).err()).collect();
    assert!(failures.is_empty(), "{} of {} cases differ:\n\n{}", failures.len(), cases.len(), failures.join("\n"));
}

fn run_case(case: &Path, variables: &[(&str, PathBuf)], bless: bool) -> Result<(), String> {
    let script = fs::read_to_string(case.join("command")).map_err(|error| format!("{}: {error}", case.display()))?;
    let fozzy = Fozzy::new();
    for entry in fs::read_dir(case).expect("it is a folder") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
        if !OWN_FILES.contains(&name.as_str()) {
            fozzy.write(&name, fs::read(&path).expect("readable"));
        }
    }
    let mut command = fozzy.command(Path::new("sh"));
    command.args(["-c", &script]).stdin(Stdio::null());
    command.envs(variables.iter().map(|(name, path)| (name, path)));
    let ran = Ran::of(&[&script], command.output().expect("there is a shell"));

    let mut known: Vec<(String, String)> =
        variables.iter().map(|(name, path)| (path.display().to_string(), format!("${name}"))).collect();
    known.push((fozzy.path("").display().to_string().trim_end_matches('/').to_owned(), "$DIR".to_owned()));
    known.push((repository().display().to_string(), "$REPO".to_owned()));
    let exit = ran.code.map_or_else(|| "signal\n".to_owned(), |code| format!("{code}\n"));
    let found = [("stdout", normalise(&ran.out(), &known)), ("stderr", normalise(&ran.err(), &known)), ("exit", exit)];
    if bless {
        for (name, text) in &found {
            fs::write(case.join(name), text).expect("the repository can be written");
        }
        return Ok(());
    }
    for (name, text) in &found {
        let expected = fs::read_to_string(case.join(name)).unwrap_or_default();
        if expected != *text {
            let case = case.strip_prefix(repository()).unwrap_or(case).display();
            return Err(format!("{case}/{name}\n{}", difference(&expected, text)));
        }
    }
    Ok(())
}

/// The lines from the first one that differs.
fn difference(expected: &str, found: &str) -> String {
    let same = expected.lines().zip(found.lines()).take_while(|(expected, found)| expected == found).count();
    let rest = |text: &str| text.lines().skip(same).take(12).map(|line| format!("    {line}\n")).collect::<String>();
    format!("  from line {}, expected:\n{}  found:\n{}", same + 1, rest(expected), rest(found))
}
