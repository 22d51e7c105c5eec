//! What a person sees: one folder for each case below `tests/cli`, and one test named after it.
//!
//! ```text
//! tests/cli/replay/command    a shell script; `fozzy` and the variables of `variable` are known in it. It ends with exit code 0
//!                             unless its first line says otherwise: `# exit 2`
//!                  stdout     what it prints, with everything volatile replaced (see `normalise`); no file if it prints nothing
//!                  stderr     the same
//!                  …          any other file is copied into the fresh folder in which the script runs
//! ```
//!
//! `cargo test -p fozzy-tests -- goldens::replay` runs one. `BLESS=1 cargo test -p fozzy-tests -- goldens` writes stdout, stderr and
//! exit codes anew. Look at the difference before committing it.

mod normalise;

use crate::corpus::{self, Target};
use crate::fozzy::{Fozzy, Ran, repository};
use crate::harness;
use crate::wait;
use libtest_mimic::Trial;
use normalise::normalise;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Files of a case that are not copied.
const OWN_FILES: [&str; 3] = ["command", "stdout", "stderr"];

/// Programs that a script may name.
const VARIABLES: [&str; 6] = ["PROBE_P1", "PROBE_P2", "TALLY", "PROGRAMS", "COUNTER", "DATA"];

fn variable(name: &str) -> PathBuf {
    match name {
        "PROBE_P1" => corpus::probe(Target::Wasip1),
        "PROBE_P2" => corpus::probe(Target::Wasip2),
        "TALLY" => corpus::c_program(),
        "PROGRAMS" => repository().join("tests/programs"),
        "COUNTER" => corpus::scenario("counter", true),
        "DATA" => corpus::data_folder().canonicalize().expect("it is committed"),
        other => unreachable!("{other} is not in VARIABLES"),
    }
}

/// A test for each case.
pub(crate) fn trials() -> Vec<Trial> {
    let folder = repository().join("tests/cli");
    let entries = fs::read_dir(&folder).expect("tests/cli is there");
    let cases: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    assert!(!cases.is_empty(), "no cases in {}", folder.display());
    let name = |case: &Path| case.file_name().expect("it has a name").to_string_lossy().into_owned();
    cases.into_iter().map(|case| harness::trial(format!("goldens::{}", name(&case)), move || check(&case))).collect()
}

fn check(case: &Path) {
    let script = read(&case.join("command")).unwrap_or_else(|| panic!("{} has no command", case.display()));
    let named = VARIABLES.iter().filter(|name| script.contains(&format!("${name}")));
    let variables: Vec<(&str, PathBuf)> = named.map(|name| (*name, variable(name))).collect();
    let fozzy = Fozzy::new();
    for entry in fs::read_dir(case).expect("it is a folder") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
        if !OWN_FILES.contains(&name.as_str()) {
            fozzy.write(&name, fs::read(&path).expect("readable"));
        }
    }
    let mut command = fozzy.command(Path::new("sh"));
    command.args(["-c", &script]).stdin(Stdio::null()).envs(variables.iter().map(|(name, path)| (name, path)));
    let ran = Ran::of(&[&script], wait::run(&mut command));

    let mut known: Vec<(String, String)> =
        variables.iter().map(|(name, path)| (path.display().to_string(), format!("${name}"))).collect();
    known.push((fozzy.path("").display().to_string().trim_end_matches('/').to_owned(), "$DIR".to_owned()));
    known.push((repository().display().to_string(), "$REPO".to_owned()));
    let found = [("stdout", normalise(&ran.out(), &known)), ("stderr", normalise(&ran.err(), &known))];
    if std::env::var_os("BLESS").is_some() {
        return bless(case, &script, &ran, &found);
    }
    for (name, text) in &found {
        let expected = read(&case.join(name)).unwrap_or_default();
        assert!(expected == *text, "{}/{name}\n{}", case.display(), difference(&expected, text));
    }
    assert_eq!(ran.code, Some(exit_code(&script)), "the exit code of {}\n{ran}", case.display());
}

/// The content, if there is such a file.
fn read(path: &Path) -> Option<String> {
    match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// The exit code that the first line of a script says.
fn exit_code(script: &str) -> i32 {
    let first = script.lines().next().unwrap_or_default();
    let said =
        first.strip_prefix("# exit ").map(|code| code.parse().unwrap_or_else(|_| panic!("no exit code: {first}")));
    said.unwrap_or(0)
}

/// Makes what was found what is expected.
fn bless(case: &Path, script: &str, ran: &Ran, found: &[(&str, String)]) {
    for (name, text) in found {
        let path = case.join(name);
        let written = if text.is_empty() { remove(&path) } else { fs::write(&path, text) };
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let code = ran.code.unwrap_or_else(|| panic!("a signal ended it\n{ran}"));
    if code == exit_code(script) {
        return;
    }
    let rest =
        if script.starts_with("# exit ") { script.split_once('\n').map_or("", |(_, rest)| rest) } else { script };
    let said = if code == 0 { String::new() } else { format!("# exit {code}\n") };
    fs::write(case.join("command"), said + rest).expect("the repository can be written");
}

fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The lines from the first one that differs.
fn difference(expected: &str, found: &str) -> String {
    let same = expected.lines().zip(found.lines()).take_while(|(expected, found)| expected == found).count();
    let rest = |text: &str| text.lines().skip(same).take(12).map(|line| format!("    {line}\n")).collect::<String>();
    format!("  from line {}, expected:\n{}  found:\n{}", same + 1, rest(expected), rest(found))
}
