//! What a scenario says about itself: `expect.toml` in its folder, `bank.expect.toml` beside `bank.wasm`.
//!
//! ```toml
//! sequences = 10                                       # how far it is driven, unless flags say otherwise
//! flows = 150
//! target = "kv-store"                                  # the component that it judges, beside it, unless `--target` names one
//! status = "fail"                                      # what `--expect` holds it to
//! signatures = ["assertion at no customer owes"]
//!
//! build = "make"                                       # how it is made, where that is not cargo's work: a line for `sh`
//! program = "ring.wasm"                                # and what that leaves, or what is there without it
//! ```
//!
//! A `plan.toml` (`bank.plan.toml`) at the same place is its plan, unless `--plan` names another. Of a cluster, that is the scenario itself.

use super::entry::{Kind, SuiteEntry};
use crate::error::{CampaignError, ErrorKind, at_path};
use fozzy_report::suite::Expectation;
use fozzy_trace::Status;
use fozzy_trace::plan::{FLOWS_MAX, SEQUENCES_MAX};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// `expect.toml`.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// Sequences to run.
    pub sequences: Option<u32>,
    /// Steps of each sequence.
    pub flows: Option<u32>,
    target: Option<PathBuf>,
    /// How the example scenarios' own tests mend it; nothing to a suite.
    #[serde(rename = "fixed_by_env")]
    _fixed_by_env: bool,
    status: Option<Status>,
    signatures: Vec<String>,
    build: Option<String>,
    program: Option<PathBuf>,
}

/// How a folder that is no crate becomes a program.
#[derive(Debug, PartialEq)]
pub struct Recipe {
    /// A line for `sh`, run in the folder. `None` when the program is there as it is.
    pub build: Option<String>,
    /// What it leaves, from where we are.
    pub program: PathBuf,
}

/// The recipe in a folder's `expect.toml`. A folder with neither that file nor a recipe in it has none.
pub fn recipe(folder: &Path) -> Result<Option<Recipe>, CampaignError> {
    let Expect { build, program, .. } = Expect::of(folder, Kind::Folder)?;
    Ok(program.map(|program| Recipe { build, program: folder.join(program) }))
}

impl Expect {
    /// Reads it, if it is there.
    pub fn of(scenario: &Path, kind: Kind) -> Result<Expect, CampaignError> {
        let path = beside(scenario, kind, "expect.toml");
        // Asked before it is opened: opening a pipe would wait for a writer.
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let message = format!("cannot read {}: expected a file, found something else", path.display());
            return Err(CampaignError::new(ErrorKind::Expect, message));
        }
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Expect::default()),
            Err(error) => return Err(at_path(ErrorKind::Expect, "cannot read", &path, &error)),
        };
        let refused = |why| CampaignError::new(ErrorKind::Expect, format!("{}: {why}", path.display()));
        let expect = Expect::parse(&text).map_err(refused)?;
        // Of a cluster, its plan says what is judged; beside the target stands how a folder of the same name is tested.
        Ok(if kind == Kind::Cluster { Expect { target: None, ..expect } } else { expect })
    }

    fn parse(text: &str) -> Result<Expect, String> {
        let document = toml::Deserializer::parse(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let expect: Expect =
            serde_path_to_error::deserialize(document).map_err(|error| error.to_string().trim_end().to_owned())?;
        for (key, value, most) in [("sequences", expect.sequences, SEQUENCES_MAX), ("flows", expect.flows, FLOWS_MAX)] {
            if value.is_some_and(|value| value == 0 || value > most) {
                return Err(format!("`{key}` must be from 1 to {most}"));
            }
        }
        if expect.build.is_some() && expect.program.is_none() {
            return Err("`build` says how something is made, and `program` must name what that is".to_owned());
        }
        if expect.status.unwrap_or(Status::Pass) == Status::Pass && !expect.signatures.is_empty() {
            return Err("`signatures` identify failures, and no `status` of one is expected".to_owned());
        }
        Ok(expect)
    }

    /// The component that the scenario judges, from where we are.
    pub fn judged(&self, scenario: &Path) -> Option<PathBuf> {
        let target = self.target.as_ref()?;
        let folder = if scenario.file_name().is_some() { scenario.parent().map(Path::to_owned) } else { None };
        Some(folder.unwrap_or_else(|| scenario.join("..")).join(target))
    }

    /// What it is held to. Who says nothing must pass.
    pub fn expectation(&self) -> Expectation {
        let status = self.status.unwrap_or(Status::Pass);
        Expectation { status, signatures: self.signatures.clone() }
    }
}

/// The scenario's own plan, if it has one.
pub fn own_plan(scenario: &Path, kind: Kind) -> Option<PathBuf> {
    if kind == Kind::Cluster {
        return Some(scenario.to_owned());
    }
    Some(beside(scenario, kind, "plan.toml")).filter(|path| path.is_file())
}

/// Its plan and its target, as flags of any command that runs it.
pub fn flags(selected: &SuiteEntry) -> Result<Vec<String>, CampaignError> {
    let SuiteEntry { path, kind, .. } = selected;
    let flag = |name: &str, path: PathBuf| [name.to_owned(), path.display().to_string()];
    let plan = own_plan(path, *kind).map(|plan| flag("--plan", plan));
    let judged = Expect::of(path, *kind)?.judged(path).map(|target| flag("--target", target));
    Ok(plan.into_iter().chain(judged).flatten().collect())
}

/// In a folder, or beside a file under its name.
fn beside(scenario: &Path, kind: Kind, what: &str) -> PathBuf {
    match kind {
        Kind::Crate | Kind::Folder => scenario.join(what),
        Kind::Program | Kind::Json => scenario.with_extension(what),
        Kind::Cluster => {
            let name = scenario.file_name().unwrap_or_default().to_string_lossy();
            let before = name.strip_suffix("plan.toml").filter(|before| before.is_empty() || before.ends_with('.'));
            before.map_or_else(
                || scenario.with_extension(what),
                |before| scenario.with_file_name(format!("{before}{what}")),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_read_strictly() {
        let expect = Expect::parse("sequences = 2\nstatus = \"crash\"\nsignatures = [\"panic\"]").expect("sound");
        assert_eq!((expect.sequences, expect.flows), (Some(2), None));
        let expected = Expectation { status: Status::Crash, signatures: vec!["panic".to_owned()] };
        assert_eq!(expect.expectation(), expected);
        let none = Expect::parse("").expect("sound");
        assert_eq!((none.expectation().status, none.judged(Path::new("s/judge"))), (Status::Pass, None));
        let judge = Expect::parse("target = \"store\"").expect("sound");
        let judged = |scenario: &str| judge.judged(Path::new(scenario));
        assert_eq!(judged("s/judge"), Some(PathBuf::from("s/store")));
        assert_eq!((judged("judge.wasm"), judged(".")), (Some("store".into()), Some("./../store".into())));
        for (text, said) in [
            ("flow = 3", "unknown field `flow`"),
            ("flows = 0", "`flows` must be from 1"),
            ("sequences = -1", "sequences"),
            ("status = \"fails\"", "unknown variant `fails`"),
            ("signatures = [\"a\"]", "no `status` of one"),
            ("flows = ", "flows"),
            ("build = \"make\"", "`program` must name what that is"),
        ] {
            let why = Expect::parse(text).expect_err("refused");
            assert!(why.contains(said), "{text}: {why}");
        }
    }

    #[test]
    fn a_recipe_names_what_it_makes() {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = || recipe(folder.path());
        assert_eq!(recipe().expect("no file"), None);
        let write = |text: &str| std::fs::write(folder.path().join("expect.toml"), text).expect("written");
        write("flows = 3");
        assert_eq!(recipe().expect("sound"), None);
        write("build = \"make\"\nprogram = \"ring.wasm\"");
        let made = Recipe { build: Some("make".to_owned()), program: folder.path().join("ring.wasm") };
        assert_eq!(recipe().expect("sound"), Some(made));
        write("flow = 3");
        assert!(recipe().expect_err("refused").message.contains("unknown field `flow`"));
    }

    #[test]
    fn it_stands_in_the_crate_or_beside_the_file() {
        assert_eq!(beside(Path::new("s/ring"), Kind::Folder, "plan.toml"), Path::new("s/ring/plan.toml"));
        assert_eq!(beside(Path::new("s/bank"), Kind::Crate, "plan.toml"), Path::new("s/bank/plan.toml"));
        assert_eq!(beside(Path::new("s/bank.wasm"), Kind::Program, "plan.toml"), Path::new("s/bank.plan.toml"));
        let of_cluster = |file: &str| beside(Path::new(file), Kind::Cluster, "expect.toml");
        assert_eq!(of_cluster("s/ring/plan.toml"), Path::new("s/ring/expect.toml"));
        assert_eq!(of_cluster("s/bank.plan.toml"), Path::new("s/bank.expect.toml"));
        assert_eq!(of_cluster("s/floorplan.toml"), Path::new("s/floorplan.expect.toml"));
    }
}
