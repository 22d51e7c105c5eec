//! The chain that both gates have: audit, suite, one run recorded, verified, replayed, checked.
//!
//! ```text
//! doctor --deep ─▶ test ─▶ test ONE --record run.fozzy ─▶ trace verify ─▶ replay ─▶ ci
//! ```
//!
//! Invariant: steps that need the trace are skipped when there is none.

use super::steps::{Outcome, Steps, advisory, failed, passed, skipped};
use super::subprocess::{CommandOutput, CommandRunner};
use crate::error::CampaignError;
use crate::suite::project::ProjectScenarios;
use fozzy_trace::{Seed, Status};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// The recorded run, among the files of the steps.
pub const RECORDED: &str = "run.fozzy";
/// Why steps about a trace are skipped.
pub const NO_TRACE: &str = "no run was recorded";

/// Whether everything is committed, if git can tell: worth knowing, but not a failure.
pub fn clean_tree(steps: &mut Steps<'_>, strict: bool) {
    steps.step("clean_tree", || {
        if !strict {
            return Ok(skipped("--unsafe"));
        }
        let asked = Command::new("git").args(["status", "--porcelain"]).stdin(Stdio::null()).output();
        Ok(match asked {
            Ok(output) if output.status.success() && output.stdout.is_empty() => passed("everything is committed"),
            Ok(output) if output.status.success() => {
                let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
                advisory(format!("{lines} paths are not as they were committed"))
            }
            Ok(_) => advisory("not in a git repository"),
            Err(error) => advisory(format!("git cannot be asked: {error}")),
        })
    });
}

/// Finds the scenarios. `None` when there are none, or none is in scope.
pub fn discover(
    steps: &mut Steps<'_>,
    name: &str,
    found: Result<ProjectScenarios, CampaignError>,
) -> Option<ProjectScenarios> {
    let mut project = None;
    steps.step(name, || {
        let found = found?;
        let detail = format!("scenarios in {}: {}; steps are about {}", found.root, found.all.len(), found.primary());
        project = Some(found);
        Ok(passed(detail))
    });
    project
}

/// What the suite and the recorded run said.
pub struct Chain {
    /// The document of the suite.
    pub suite: Option<CommandOutput>,
    /// Whether a run was recorded.
    pub recorded: bool,
    /// The ids of both runs.
    pub runs: Vec<String>,
}

/// How the chain is run.
pub struct Options<'a> {
    /// Of the suite and the recorded run.
    pub seed: Seed,
    /// Executions that are compared.
    pub doctor_runs: u32,
    /// What the step with the whole suite is called.
    pub suite_name: &'a str,
    /// Whether scenarios are held to what they expect.
    pub expect: bool,
}

/// Does the chain.
pub fn run(
    steps: &mut Steps<'_>,
    own: &CommandRunner,
    project: Option<&ProjectScenarios>,
    options: &Options<'_>,
) -> Chain {
    let seed = options.seed.to_string();
    let mut chain = Chain { suite: None, recorded: false, runs: Vec::new() };
    steps.step("doctor_deep", || {
        let Some(project) = project else { return Ok(skipped("no scenario")) };
        let runs = options.doctor_runs.to_string();
        let primary = project.primary();
        let mut words = vec!["doctor", "--deep", "--scenario", &primary, "--runs", &runs, "--seed", &seed];
        words.extend(project.flags.iter().map(String::as_str));
        let said = own.run(&words)?;
        Ok(match said.code {
            Some(0) => passed(format!("{runs} executions of {primary} are equal")),
            _ if said.text("/issues/0/message").is_empty() => failed(said.why()),
            _ => failed(format!("{}; {}", said.text("/issues/0/message"), said.command)),
        })
    });
    steps.step(options.suite_name, || {
        let Some(project) = project else { return Ok(skipped("no scenario")) };
        let paths = project.paths();
        let mut words = vec!["test", "--det", "--seed", &seed];
        words.extend(options.expect.then_some("--expect"));
        words.extend(paths.iter().map(String::as_str));
        let said = own.run(&words)?;
        chain.runs.push(said.text("/identity/runId").to_owned());
        let counts = said.document.pointer("/tests").map(ToString::to_string).unwrap_or_default();
        let outcome = if said.code == Some(0) { passed(counts) } else { failed(format!("{counts} {}", said.why())) };
        chain.suite = Some(said);
        Ok(outcome)
    });
    steps.step("run_record_trace", || {
        let Some(project) = project else { return Ok(skipped("no scenario")) };
        let (primary, trace) = (project.primary(), own.place(RECORDED));
        let said = own.run(&["test", &primary, "--seed", &seed, "--record", &trace])?;
        chain.recorded = own.has(RECORDED);
        chain.runs.push(said.text("/identity/runId").to_owned());
        Ok(match (chain.recorded, said.code) {
            (true, Some(0)) => passed(format!("{primary} passed")),
            (true, _) if options.expect => passed(format!("{primary} is recorded: {}", said.text("/status"))),
            _ => failed(said.why()),
        })
    });
    let trace = own.place(RECORDED);
    let recorded = chain.recorded;
    steps.step("trace_verify", || of_trace(recorded, own, &["trace", "verify", &trace], |said| said.is("/ok")));
    steps.step("replay", || of_trace(recorded, own, &["replay", &trace], |said| said.is("/replay/equal")));
    steps.step("ci", || of_trace(recorded, own, &["ci", &trace], |said| said.is("/ok")));
    chain
}

/// The map of the project. Gives its document if it could be made.
pub fn map_suites(own: &CommandRunner, flags: &[String]) -> Result<Result<CommandOutput, Outcome>, CampaignError> {
    let words = ["map", "suites", "--all"].into_iter().chain(flags.iter().map(String::as_str));
    let said = own.run(&words.collect::<Vec<&str>>())?;
    Ok(match said.code {
        Some(0) => Ok(said),
        // Nothing ran, or nothing is to be asked: said, and no failure of what is checked.
        Some(2) if ["selector", "suite"].contains(&said.text("/code")) => Err(skipped(said.why())),
        _ => Err(failed(said.why())),
    })
}

/// What a map says of its coverage: functions that are covered, and that are required to be.
pub fn map_counts(map: &CommandOutput) -> (u64, u64, String) {
    let number = |key: &str| map.document.pointer(key).and_then(Value::as_u64).unwrap_or_default();
    let (covered, required) = (number("/coveredHotspotCount"), number("/requiredHotspotCount"));
    let (risk, all) = (number("/effectiveMinRisk"), number("/totalSuites"));
    (
        covered,
        required,
        format!("{covered} of {required} functions of risk {risk} and more are covered, of {all} functions"),
    )
}

/// Profiles of the recorded run, and of the same run beside it.
pub fn profile(steps: &mut Steps<'_>, own: &CommandRunner, chain: &Chain) {
    let (trace, there) = (own.place(RECORDED), chain.recorded);
    let has = |pointer: &'static str| move |said: &CommandOutput| said.document.pointer(pointer).is_some();
    steps.step("profile_top", || of_trace(there, own, &["profile", "top", &trace], has("/run")));
    let is_same = |said: &CommandOutput| said.document.pointer("/summary/regressionCount") == Some(&Value::from(0));
    steps.step("profile_diff", || of_trace(there, own, &["profile", "diff", &trace, &trace], is_same));
    let words = ["profile", "explain", &trace];
    steps.step("profile_explain", || of_trace(there, own, &words, has("/regressionStatement")));
}

/// A step that is about the recorded run.
pub fn of_trace(
    recorded: bool,
    own: &CommandRunner,
    words: &[&str],
    is_right: impl Fn(&CommandOutput) -> bool,
) -> Result<Outcome, CampaignError> {
    if !recorded {
        return Ok(skipped(NO_TRACE));
    }
    let said = own.run(words)?;
    let code_fits = said.code.is_some_and(|code| code != i32::from(Status::Error.exit_code()));
    // Files of the steps have names that mean nothing to anybody.
    let plain: Vec<&str> = words.iter().copied().filter(|word| !Path::new(word).is_absolute()).collect();
    Ok(if code_fits && is_right(&said) { passed(plain.join(" ")) } else { failed(said.why()) })
}
