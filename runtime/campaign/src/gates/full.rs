//! The steps of `fozzy full`: every command once, on the scenarios of a project.
//!
//! ```text
//! tool itself ─▶ scenarios ─▶ chain ─▶ shrink ─▶ artifacts ─▶ report ─▶ memory, profile ─▶ fuzz, explore ─▶ corpus ─▶ host
//! ```
//!
//! Invariant: the steps are those of [`STEPS`], in that order.
//! Not here: how a step is run (`subprocess`), and how it is reported (`steps`).

use super::chain::{self, Chain, NO_TRACE, RECORDED, of_trace};
use super::steps::{Outcome, Steps, failed, passed, skipped};
use super::subprocess::{CommandOutput, CommandRunner};
use crate::error::CampaignError;
use crate::suite::project::ProjectScenarios;
use fozzy_report::document::StepStatus;
use fozzy_trace::{Duration, Seed, counted};
use serde_json::Value;

/// All steps.
pub const STEPS: [&str; 38] = [
    "policy_conflict",
    "clean_tree",
    "usage",
    "version",
    "init",
    "discover_scenarios",
    "topology_coverage",
    "doctor_deep",
    "test_det",
    "run_record_trace",
    "trace_verify",
    "replay",
    "ci",
    "shrink",
    "replay_shrunk",
    "artifacts_ls",
    "artifacts_export",
    "artifacts_pack",
    "artifacts_diff",
    "report_show",
    "report_query",
    "report_query_paths",
    "report_flaky",
    "memory_top",
    "memory_graph",
    "memory_diff",
    "profile_top",
    "profile_diff",
    "profile_explain",
    "fuzz",
    "explore",
    "corpus_add",
    "corpus_list",
    "corpus_minimize",
    "corpus_export",
    "corpus_import",
    "host_backends_run",
    "env",
];

/// Runs of the exploration.
const EXPLORE_RUNS: &str = "10";
/// The shrunk failure, among the files of the steps.
const SHRUNK: &str = "shrunk.fozzy";

/// A command that could not do its work ends with it.
const EXIT_ERROR: i32 = 2;

/// What the steps are told.
#[derive(Clone, Debug)]
pub struct FullOptions {
    /// Of every command that has one.
    pub seed: Seed,
    /// Whether what is odd is a failure.
    pub strict: bool,
    /// Runs of the audit.
    pub doctor_runs: u32,
    /// Whether failures that a scenario expects are let through.
    pub expect: bool,
    /// Whether scenarios must reach the functions that a map of the project requires.
    pub needs_topology: bool,
    /// How that map is made: flags of `map suites`.
    pub topology: Vec<String>,
    /// Time of the campaign.
    pub fuzz_time: Duration,
    /// Flows of each explored run.
    pub explore_steps: u32,
    /// Machines of a distributed scenario.
    pub explore_nodes: u32,
}

/// Takes all steps with the scenarios that were found. Gives them back, and says how a shrunk failure compares.
pub fn run(
    steps: &mut Steps<'_>,
    own: &CommandRunner,
    found: Result<ProjectScenarios, CampaignError>,
    options: &FullOptions,
) -> (Option<ProjectScenarios>, Option<String>) {
    tool(steps, own, options.strict);
    let project = chain::discover(steps, "discover_scenarios", found);
    steps.step("topology_coverage", || match project {
        Some(_) => topology(own, options),
        None if options.needs_topology => Ok(failed("no scenario reaches anything: there is none")),
        None => Ok(skipped("no scenario")),
    });
    let &FullOptions { seed, doctor_runs, expect, .. } = options;
    let chain_options = chain::Options { seed, doctor_runs, suite_name: "test_det", expect };
    let chain = chain::run(steps, own, project.as_ref(), &chain_options);
    let shrink_classification = shrink(steps, own, &chain);
    artifacts(steps, own, &chain);
    memory(steps, own, &chain);
    chain::profile(steps, own, &chain);
    search(steps, own, project.as_ref(), options);
    corpus(steps, own);
    host(steps, own, project.as_ref(), seed);
    steps.step("env", || plain(own, &["env"]));
    (project, shrink_classification)
}

/// What the map of the project says of what its scenarios reach.
fn topology(own: &CommandRunner, options: &FullOptions) -> Result<Outcome, CampaignError> {
    let map = match chain::map_suites(own, &options.topology)? {
        Ok(map) => map,
        Err((_, why)) if options.needs_topology => return Ok(failed(why)),
        Err(outcome) => return Ok(outcome),
    };
    let (covered, required, counts) = chain::map_counts(&map);
    let is_empty = map.document.pointer("/totalSuites") == Some(&Value::from(0));
    Ok(match options.needs_topology {
        true if is_empty => failed("no code of the project ran, so that nothing is known of it"),
        true if covered < required => failed(format!("{counts}; {}", map.command)),
        _ if is_empty => skipped("no code of the project ran: steps are played by fozzy's own player"),
        _ => passed(counts),
    })
}

/// What needs no scenario.
fn tool(steps: &mut Steps<'_>, own: &CommandRunner, strict: bool) {
    chain::clean_tree(steps, strict);
    steps.step("usage", || plain(own, &["usage"]));
    steps.step("version", || plain(own, &["version"]));
    steps.step("init", || {
        let place = own.place("project");
        let written = own.run(&["init", &place])?;
        let Some(0) = written.code else { return Ok(failed(written.why())) };
        let suite = own.run(&["test", "--cwd", &place])?;
        Ok(match suite.code {
            Some(0) => passed("what it writes passes"),
            _ => failed(suite.why()),
        })
    });
}

/// A command that has only to succeed.
fn plain(own: &CommandRunner, words: &[&str]) -> Result<Outcome, CampaignError> {
    let said = own.run(words)?;
    Ok(if said.code == Some(0) && said.document != Value::Null { passed(words.join(" ")) } else { failed(said.why()) })
}

/// Makes the first failure of the suite smaller. Says how it compares.
fn shrink(steps: &mut Steps<'_>, own: &CommandRunner, chain: &Chain) -> Option<String> {
    let cases = chain.suite.as_ref().and_then(|said| said.document.pointer("/scenarios")).and_then(Value::as_array);
    let failure = cases.into_iter().flatten().find(|case| {
        let status = case.pointer("/run/status").and_then(Value::as_str);
        status.is_some_and(|status| status != "pass")
    });
    let trace = failure.and_then(|case| case.pointer("/run/identity/tracePath")).and_then(Value::as_str);
    let (shrunk, mut class) = (own.place(SHRUNK), None);
    steps.step("shrink", || {
        let Some(trace) = trace else { return Ok(skipped("no scenario failed, so there is nothing to shrink")) };
        let said = own.run(&["shrink", trace, "--out", &shrunk, "--budget", "10s"])?;
        let before = failure.and_then(|case| case.pointer("/run/signature"));
        let word = classify(own.has(SHRUNK), before, &said);
        class = Some(word.to_owned());
        Ok(if word == PRESERVED { passed(word) } else { failed(format!("{word}: {}", said.why())) })
    });
    let is_there = own.has(SHRUNK);
    steps.step("replay_shrunk", || {
        if !is_there {
            return Ok(skipped("nothing was shrunk"));
        }
        of_trace(true, own, &["replay", &shrunk], |said| said.is("/replay/equal"))
    });
    class
}

/// The failure is the same one.
const PRESERVED: &str = "expected_fail_class_preserved";

fn classify(is_there: bool, before: Option<&Value>, said: &CommandOutput) -> &'static str {
    if said.code.is_none_or(|code| code == EXIT_ERROR) {
        "tooling_failure"
    } else if !is_there {
        "out_trace_missing"
    } else if said.text("/identity/runId").is_empty() {
        "run_identity_missing"
    } else if before.is_some() && said.document.pointer("/signature") == before {
        PRESERVED
    } else {
        "expected_fail_class_mismatch"
    }
}

/// Files and reports of the recorded run.
fn artifacts(steps: &mut Steps<'_>, own: &CommandRunner, chain: &Chain) {
    let (trace, folder, zip) = (own.place(RECORDED), own.place("exported"), own.place("packed.zip"));
    let there = chain.recorded;
    let is_type = |word: &'static str| move |said: &CommandOutput| said.text("/type") == word;
    steps.step("artifacts_ls", || of_trace(there, own, &["artifacts", "ls", &trace], is_type("list")));
    let words = ["artifacts", "export", &trace, "--out", &folder];
    steps.step("artifacts_export", || of_trace(there, own, &words, is_type("exported")));
    let words = ["artifacts", "pack", &trace, "--out", &zip];
    steps.step("artifacts_pack", || of_trace(there, own, &words, is_type("exported")));
    // What was exported is what was recorded.
    let copy = own.place(&format!("exported/{}", crate::store::TRACE_NAME));
    let is_same = |said: &CommandOutput| said.document.pointer("/diff/files/0/changed") == Some(&Value::Bool(false));
    steps.step("artifacts_diff", || of_trace(there, own, &["artifacts", "diff", &trace, &copy], is_same));
    let words = ["report", "show", &trace, "--format", "html"];
    steps.step("report_show", || of_trace(there, own, &words, |said| !said.text("/content").is_empty()));
    let words = ["report", "query", &trace, "--path", ".status"];
    steps.step("report_query", || of_trace(there, own, &words, |said| said.document.is_string()));
    let words = ["report", "query", &trace, "--list-paths"];
    steps.step("report_query_paths", || of_trace(there, own, &words, |said| said.document.get("paths").is_some()));
    steps.step("report_flaky", || match chain.runs.as_slice() {
        [suite, one] if !suite.is_empty() && !one.is_empty() => {
            let said = own.run(&["report", "flaky", suite, one])?;
            let rate = said.document.pointer("/flakeRatePct").map(ToString::to_string).unwrap_or_default();
            Ok(if said.code == Some(0) { passed(format!("{rate} % of 2 runs differ")) } else { failed(said.why()) })
        }
        _ => Ok(skipped(NO_TRACE)),
    });
}

/// Memory of the recorded run, and of the same run beside it.
fn memory(steps: &mut Steps<'_>, own: &CommandRunner, chain: &Chain) {
    let (trace, there) = (own.place(RECORDED), chain.recorded);
    let has = |pointer: &'static str| move |said: &CommandOutput| said.document.pointer(pointer).is_some();
    steps.step("memory_top", || of_trace(there, own, &["memory", "top", &trace], has("/entries")));
    steps.step("memory_graph", || of_trace(there, own, &["memory", "graph", &trace], has("/graph/nodes")));
    let is_same = |said: &CommandOutput| said.document.pointer("/deltaPeakBytes") == Some(&Value::from(0));
    steps.step("memory_diff", || of_trace(there, own, &["memory", "diff", &trace, &trace], is_same));
}

/// A campaign and an exploration, of what the scenario can be used as.
fn search(steps: &mut Steps<'_>, own: &CommandRunner, project: Option<&ProjectScenarios>, options: &FullOptions) {
    let seed = options.seed.to_string();
    let mut fits = Err("no scenario".to_owned());
    if let Some(project) = project {
        fits = match own.run(&["inspect", &project.primary()]) {
            Ok(said) if said.code == Some(0) => Ok(said),
            Ok(said) => Err(said.why()),
            Err(error) => Err(error.message),
        };
    }
    let is = |said: &CommandOutput, role: &str| {
        let roles = said.document.pointer("/fits").and_then(Value::as_array);
        roles.into_iter().flatten().any(|found| found == role)
    };
    let seed_file = own.write("seed.input", b"seed\n");
    steps.step("fuzz", || {
        let said = match &fits {
            Ok(said) => said,
            Err(why) => return Ok(skipped(why.clone())),
        };
        let Some(project) = project else { return Ok(skipped("no scenario")) };
        if project.is_distributed() {
            return Ok(skipped("the only scenario is a distributed one, which is explored and not fuzzed"));
        }
        let (primary, time) = (project.primary(), format!("{}ms", options.fuzz_time.0 / 1_000_000));
        let corpus = own.folder("corpus")?;
        let mut words = vec!["fuzz", &primary];
        if is(said, "scenario") {
            words.push("stateful");
        } else if !is(said, "fuzz target") && !is(said, "properties") {
            words.push(if is(said, "http handler") { "--http" } else { "--stdin=-" });
        }
        words.extend(["--time", &time, "--seed", &seed, "--corpus", &corpus]);
        words.extend(project.flags.iter().map(String::as_str));
        let said = own.run(&words)?;
        let executions = said.document.pointer("/fuzz/executions").and_then(Value::as_u64).unwrap_or_default();
        Ok(match said.code {
            Some(0) => passed(format!("{}, nothing found", counted(executions, "execution"))),
            Some(2) if said.text("/code") == "target" => skipped(said.text("/message").to_owned()),
            _ => failed(said.why()),
        })
    });
    steps.step("explore", || {
        let said = match &fits {
            Ok(said) => said,
            Err(why) => return Ok(skipped(why.clone())),
        };
        let Some(project) = project.filter(|_| is(said, "scenario")) else {
            return Ok(skipped("the scenario has no flows: it does not export `fozzy:scenario/stateful`"));
        };
        let (primary, flows, nodes) =
            (project.primary(), options.explore_steps.to_string(), options.explore_nodes.to_string());
        let state = own.place("explored.json");
        let mut words = vec!["explore", &primary, "--runs", EXPLORE_RUNS, "--steps", &flows, "--seed", &seed];
        words.extend(["--no-seeds", "--save-state", &state]);
        if project.is_distributed() {
            words.extend(["--nodes", &nodes]);
        }
        words.extend(project.flags.iter().map(String::as_str));
        let said = own.run(&words)?;
        Ok(if said.code == Some(0) {
            passed(format!("{EXPLORE_RUNS} runs, nothing found"))
        } else {
            failed(said.why())
        })
    });
    steps.step("corpus_add", || {
        let file = seed_file?;
        let said = own.run(&["corpus", "add", &own.place("corpus"), &file])?;
        Ok(if said.code == Some(0) { passed("an input") } else { failed(said.why()) })
    });
}

/// The corpus that the campaign has left.
fn corpus(steps: &mut Steps<'_>, own: &CommandRunner) {
    let (corpus, zip, back) = (own.place("corpus"), own.place("corpus.zip"), own.place("imported"));
    let number = |said: &CommandOutput| said.document.as_array().map_or(0, Vec::len);
    let list = |dir: &str| own.run(&["corpus", "list", dir]);
    let is_there = own.has("corpus");
    let step = |words: &[&str]| {
        if !is_there {
            return Ok(skipped("there is no corpus"));
        }
        let said = own.run(words)?;
        Ok(if said.code == Some(0) { passed(words[..2].join(" ")) } else { failed(said.why()) })
    };
    steps.step("corpus_list", || step(&["corpus", "list", &corpus]));
    steps.step("corpus_minimize", || step(&["corpus", "minimize", &corpus]));
    steps.step("corpus_export", || step(&["corpus", "export", &corpus, "--out", &zip]));
    steps.step("corpus_import", || {
        let outcome = step(&["corpus", "import", &zip, "--out", &back])?;
        if outcome.0 != StepStatus::Passed {
            return Ok(outcome);
        }
        let (before, after) = (number(&list(&corpus)?), number(&list(&back)?));
        Ok(if before == after {
            passed(counted(after as u64, "input"))
        } else {
            failed(format!("{after} of {}", counted(before as u64, "input")))
        })
    });
}

/// The scenario on the real computer, in an empty folder: one whose name says that it is for that, or the primary one if it
/// asks no real servers and starts no real programs there.
fn host(steps: &mut Steps<'_>, own: &CommandRunner, project: Option<&ProjectScenarios>, seed: Seed) {
    steps.step("host_backends_run", || {
        let Some(project) = project else { return Ok(skipped("no scenario")) };
        if !project.flags.is_empty() {
            return Ok(skipped("the scenario has a plan or a target, which say what it runs on"));
        }
        let meant = project.meant_for_hosts();
        if meant.is_none() {
            let seen = own.run(&["inspect", &project.primary()])?;
            let asks = seen.document.pointer("/capabilities").and_then(Value::as_array).into_iter().flatten();
            if let Some(what) = asks.filter_map(Value::as_str).find(|what| ["http", "processes"].contains(what)) {
                return Ok(skipped(format!("the scenario uses {what}, and real ones might be changed by it")));
            }
        }
        let (place, primary) = (own.folder("host")?, meant.unwrap_or_else(|| project.primary_absolute()));
        let backends = ["--fs-backend", "host", "--http-backend", "host", "--proc-backend", "host"];
        let seed = seed.to_string();
        let mut words = vec!["run", &primary, "--seed", &seed, "--cwd", &place];
        words.extend(backends);
        let said = own.run(&words)?;
        Ok(if said.code == Some(0) { passed("it passes on the real computer too") } else { failed(said.why()) })
    });
}

/// What to do next. Keeps the files of the steps if one failed.
pub fn guidance(steps: &Steps<'_>, own: CommandRunner) -> Vec<String> {
    let of = |status: StepStatus| {
        let rows = steps.rows.iter().filter(move |row| row.status == status);
        rows.map(|row| row.name.as_str()).collect::<Vec<&str>>().join(", ")
    };
    let mut lines = Vec::new();
    let (bad, left_out) = (of(StepStatus::Failed), of(StepStatus::Skipped));
    if !bad.is_empty() {
        lines.push(format!("failed: {bad}; the details name the command that repeats each"));
        lines.push(format!("the files of the steps are in {}", own.keep().display()));
    }
    if !left_out.is_empty() {
        lines.push(format!("not checked: {left_out}; --required-steps makes a skipped step a failure"));
    }
    lines
}
